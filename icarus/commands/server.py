"""The page of a game, served to one person on this machine: a token in its address, as Jupyter serves a notebook."""

import contextlib
import hmac
import json
import secrets
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from icarus.commands.conversation import Conversation
from icarus.load_files import sentence_of
from icarus.views.document import page
from icarus.views.tree_page import tree_page

HOST = "127.0.0.1"
LONGEST_BODY, SHOWN = 10_000, 40  # bytes of a request; characters of what is refused
# Inline styles are those of SVG and of widths; scripts need the nonce of their page.
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)
HEADERS = {"Connection": "close", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
HEADERS |= {"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin"}


class Refused(Exception):
    """A request that is not answered: its status, and why."""


class Server(ThreadingHTTPServer):
    """A game's address on this machine.

    Attributes:
        port: any free one.
        token: what a request must know; it is in the address, and then in a cookie.
    """

    daemon_threads, request_queue_size = True, 64

    def __init__(self, conversation: Conversation) -> None:
        super().__init__((HOST, 0), Handler)  # from now on who asks waits for `serve`, and is not refused
        self.conversation, self.token = conversation, secrets.token_urlsafe(16)
        self.port = int(self.server_address[1])

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def serve(self) -> None:
        """Serve until `shutdown` is called, or until Ctrl-C."""
        threading.Thread(target=self.conversation.run, name="icarus-play", daemon=True).start()
        with contextlib.suppress(KeyboardInterrupt), self:
            self.serve_forever(poll_interval=0.1)
        self.conversation.close()  # requests that wait for news are answered then


class Handler(BaseHTTPRequestHandler):
    """A request and its answer. A connection carries one: what is left unread of a refused request is no request."""

    server: Server
    protocol_version, server_version, timeout = "HTTP/1.1", "icarus", 10.0

    def do_GET(self) -> None:
        """The page, how the game stands, or the tree of the last search shown."""
        self._answer({"/": self._page, "/state": self._state, "/tree": self._tree})

    def do_POST(self) -> None:
        """A line of the conversation."""
        self._answer({"/say": self._say})

    def log_message(self, *arguments: Any) -> None:
        """Nothing is logged."""

    def _answer(self, handlers: dict[str, Callable[[], None]]) -> None:
        try:
            path, self.query = urlsplit(self.path).path, dict(parse_qs(urlsplit(self.path).query))
            self._check()
            self.body = self.rfile.read(self._length())
            if path not in handlers:
                raise Refused(404, f"there is no page {path}")
            handlers[path]()
        except Refused as refusal:
            self._send_json({"error": refusal.args[1]}, refusal.args[0])
        except Exception as error:  # what cannot be done now, or a function of the user's own game has failed
            self._send_json({"error": sentence_of(error) or repr(error)}, 409)

    def _length(self) -> int:
        """Of the body, which is not read before it is known whose it is."""
        text = self.headers.get("Content-Length", "0")
        if not (text.isascii() and text.isdigit()):
            raise Refused(400, f"the length of a request must be a number, not {text[:SHOWN]!r}")
        if int(text) > LONGEST_BODY:
            raise Refused(413, f"this request has {int(text):,} bytes; a line of a game has at most {LONGEST_BODY:,}")
        return int(text)

    def _check(self) -> None:
        """Refuse other hosts' names, other pages, and whoever does not know the token."""
        host = self.headers.get("Host", "")
        if host not in (f"{HOST}:{self.server.port}", f"localhost:{self.server.port}"):
            raise Refused(403, "this game can be played only on the machine that it runs on")
        if self.headers.get("Origin", f"http://{host}") != f"http://{host}":
            raise Refused(403, "this request comes from another page; only the page of the game may send it")
        # An address that was just opened is newer than the cookie, which may be of an earlier game on this port.
        cookie = SimpleCookie(self.headers.get("Cookie", "")).get(f"icarus-{self.server.port}")
        token = self.query.get("token", [cookie.value if cookie else ""])[0]
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            raise Refused(403, "this address has no token; open the address that icarus play printed")

    def _page(self) -> None:
        if "token" in self.query:  # from now on the cookie knows it, and no history or log of addresses
            cookie = f"icarus-{self.server.port}={self.server.token}; HttpOnly; SameSite=strict; Path=/"
            self._send("", "text/plain", HTTPStatus.SEE_OTHER, {"Location": "/", "Set-Cookie": cookie})
        else:
            self._send_page(page("play", "icarus play"), "'none'")

    def _state(self) -> None:
        places = {name: int(values[0]) for name, values in self.query.items() if name in ("since", "at")}
        self._send_json(self.server.conversation.describe(**places))

    def _tree(self) -> None:
        result = self.server.conversation.shown
        if result is None or not result.records:
            raise Refused(404, "there is no such search")
        self._send_page(tree_page(result), "'self'")

    def _say(self) -> None:
        request = json.loads(self.body)
        self._send_json(self.server.conversation.say(str(request["line"]), int(request["at"])))

    def _send_json(self, answer: Any, status: int = 200) -> None:
        self._send(json.dumps(answer), "application/json", status)

    def _send_page(self, text: str, ancestors: str) -> None:
        """A page whose scripts, and no others, may run."""
        nonce = secrets.token_urlsafe(16)
        text = text.replace("<script>", f'<script nonce="{nonce}">')
        policy = {"Content-Security-Policy": POLICY.format(nonce=nonce, ancestors=ancestors)}
        self._send(text, "text/html; charset=utf-8", 200, policy)

    def _send(self, text: str, kind: str, status: int = 200, headers: dict[str, str] | None = None) -> None:
        content = text.encode()
        self.send_response(status)
        of_answer = {"Content-Type": kind, "Content-Length": str(len(content)), **(headers or {})}
        for name, value in (HEADERS | of_answer).items():
            self.send_header(name, value)
        with contextlib.suppress(OSError):  # nobody reads it any more
            self.end_headers()
            self.wfile.write(content)
