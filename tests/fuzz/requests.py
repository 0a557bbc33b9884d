"""Requests to a served game that its page would never send: from other origins and hosts, without the token, one inside another."""

import functools
import socket
import threading
from typing import Any

import attrs
from hypothesis import strategies as st

from icarus import BASELINE, Agent, games
from icarus.commands.conversation import Conversation, Session
from icarus.commands.server import Server

SOON = 30.0  # seconds
_names = st.sampled_from(["say", "act", "new", "state", "tree", "", "?token=", "..", "%00"])
_bodies = st.sampled_from(
    [b"{}", b'{"line": "d3", "at": 0}', b'{"line": "resign", "at": 0}', b"[" * 9, b"\xff", b'"resign"', b""]
)


@attrs.frozen
class Request:
    """A request as bytes, and another in its body.

    Attributes:
        foreign: what is foreign about it; "nothing" knows the token and comes from the page.
        length: how the length of its body is given.
        inner: of the request in its body, if there is one: it knows the token and comes from the page.
    """

    method: str
    name: str
    foreign: str
    length: str
    body: bytes
    inner: "Request | None" = None

    def __bytes__(self) -> bytes:
        port, token = served().port, served().token
        hosts = {"host": "elsewhere.example", "no host": None, "port": "127.0.0.1:1"}
        host = hosts.get(self.foreign, f"127.0.0.1:{port}")
        origins = {"origin": "http://elsewhere.example", "null": "null", "localhost": f"http://localhost:{port}"}
        origin = origins.get(self.foreign, f"http://127.0.0.1:{port}")
        cookie = {"token": "wrong", "no token": None}.get(self.foreign, token)
        body = self.body + (bytes(self.inner) if self.inner else b"")
        headers = {
            "Host": host,
            "Origin": origin,
            "Cookie": cookie and f"icarus-{port}={cookie}",
            "Content-Type": "application/json" if self.foreign != "form" else "text/plain",
            **_framing(self.length, len(body)),
        }
        lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
        head = "\r\n".join([f"{self.method} /{self.name} HTTP/1.1", *lines, "", ""])
        return head.encode() + (b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if self.length == "chunked" else body)


def _framing(length: str, size: int) -> dict[str, Any]:
    if length == "chunked":
        return {"Transfer-Encoding": "chunked"}
    return {"Content-Length": {"right": size, "none": None, "zero": 0, "short": size // 2, "negative": -1}[length]}


FOREIGN = ("host", "no host", "port", "origin", "null", "localhost", "token", "no token")
_lengths = st.sampled_from(["right", "chunked"])
_inner = st.builds(
    Request,
    st.just("POST"),
    st.just("say"),
    st.just("nothing"),
    st.just("right"),
    st.sampled_from([b'{"line": "d3", "at": 0}', b'{"line": "resign", "at": 0}']),
)
foreign_requests = st.builds(
    Request, st.sampled_from(["GET", "POST", "PUT", "HEAD"]), _names, st.sampled_from(FOREIGN), _lengths, _bodies,
    st.one_of(st.none(), _inner),
)  # fmt: skip


@functools.cache
def served() -> Server:
    """A game that is served as long as this process lives; the person at the page is to move."""
    agents = [None, Agent(BASELINE, iterations=5)]
    server = Server(Conversation(Session(games.load("othello"), agents, 3), 0))
    threading.Thread(target=server.serve, daemon=True).start()
    return server


def answers(request: Request) -> list[int]:
    """The status of each answer to a request, until the server closes the connection."""
    content = b""
    with socket.create_connection(("127.0.0.1", served().port), timeout=SOON) as connection:
        connection.sendall(bytes(request))
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 16):
            content += piece
    heads = content.split(b"HTTP/1.1 ")[1:]
    return [int(head[:3]) for head in heads]
