"""The page of a game, served to one person on this machine: a token in its address, as Jupyter serves a notebook."""

import asyncio
import hmac
import json
import secrets
import socket
from collections.abc import Awaitable, Callable

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
    from starlette.routing import Route
except ModuleNotFoundError as missing:
    raise ValueError(f"playing in a browser needs {missing.name}: pip install 'icarus-mcts[play]'") from None

from icarus.commands.play.sentences import failure_text
from icarus.commands.play.table import Answer, Table
from icarus.views.document import page
from icarus.views.tree_page import tree_page

HOST = "127.0.0.1"
NAMES = (HOST, "localhost")
LONGEST = 1 << 14  # bytes of a request's body
DEEPEST = 8  # brackets of a request's body
PATIENCE = 5.0  # seconds for a body to arrive
CONNECTIONS = 64  # at once
_HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Inline styles are those of SVG and of widths; scripts need the nonce of their page.
_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; connect-src 'self'; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)
Handler = Callable[[Request], Awaitable[Response]]


class _Uvicorn(uvicorn.Server):
    """A server that closes the table first when it ends: requests that wait for news are answered then."""

    def __init__(self, config: uvicorn.Config, table: Table) -> None:
        super().__init__(config)
        self._table = table

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End the server, after Ctrl-C or `Server.stop`."""
        await run_in_threadpool(self._table.close)
        await super().shutdown(sockets)


class Server:
    """A table's address on this machine.

    Attributes:
        token: what a request must know; it is in the address, and then in a cookie.

    Raises:
        ValueError: the port is in use, or may not be used.
    """

    def __init__(self, table: Table, port: int) -> None:
        self.table, self.token = table, secrets.token_urlsafe(16)
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((HOST, port))
            self._socket.listen()  # from now on who asks waits for `serve`, and is not refused
        except OSError as error:
            self._socket.close()
            raise ValueError(f"port {port} is not available ({error.strerror}); --port 0 takes any free port") from None
        self.port = int(self._socket.getsockname()[1])
        self._cookie = f"icarus-{self.port}"
        routes = [
            Route("/", self._guard(self._page)),
            Route("/state", self._guard(self._state)),
            Route("/live", self._guard(self._live)),
            Route("/tree/{name}", self._guard(self._tree)),
            Route("/{name}", self._guard(self._request), methods=["POST"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes, exception_handlers={404: _nothing, 405: _nothing}),
            log_level="critical",
            limit_concurrency=CONNECTIONS,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=1,
            server_header=False,
        )
        self._server = _Uvicorn(config, table)

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return f"http://{HOST}:{self.port}/?token={self.token}"

    def serve(self) -> None:
        """Serve until `stop` is called, or until Ctrl-C, which is raised as `KeyboardInterrupt`."""
        self.table.start()
        try:
            self._server.run(sockets=[self._socket])
        finally:
            self._socket.close()
            self.table.close()

    def stop(self) -> None:
        """End `serve`, which another thread runs."""
        self._server.should_exit = True

    # ------------------------------------------------------------------------------------------------- who may ask for what

    def _guard(self, handler: Handler) -> Handler:
        """A handler behind the checks of every request."""

        async def guarded(request: Request) -> Response:
            try:
                self._check(request)
                response = await handler(request)
            except HTTPException as refusal:
                response = JSONResponse({"error": refusal.detail}, refusal.status_code, {"Connection": "close"})
            except Exception as error:  # what cannot be done now, or a function of the user's own game has failed
                response = JSONResponse({"error": failure_text(error)}, 409)
            response.headers.update(_HEADERS)
            return response

        return guarded

    def _check(self, request: Request) -> None:
        """Refuse other hosts' names, other pages, and whoever does not know the token."""
        host = request.headers.get("host", "")
        if host not in [f"{name}:{self.port}" for name in NAMES]:
            raise HTTPException(403, "this game can be played only on the machine that it runs on")
        if request.headers.get("origin", f"http://{host}") != f"http://{host}":
            raise HTTPException(403, "this request comes from another page; only the page of the game may send it")
        # An address that was just opened is newer than the cookie, which may be of an earlier game on this port.
        token = request.query_params.get("token") or request.cookies.get(self._cookie, "")
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            raise HTTPException(403, "this address has no token; open the address that icarus play printed")

    async def _page(self, request: Request) -> Response:
        if "token" in request.query_params:  # from now on the cookie knows it, and no history or log of addresses
            response: Response = RedirectResponse("/", 303)
            response.set_cookie(self._cookie, self.token, httponly=True, samesite="strict")
            return response
        return _with_policy(page("play", "icarus play"), "'none'")

    async def _state(self, request: Request) -> Response:
        since, at = (_count(request.query_params.get(name, "")) for name in ("since", "at"))
        description = await run_in_threadpool(self.table.describe, -1 if since is None else since, at)
        return JSONResponse(description)

    async def _live(self, request: Request) -> Response:
        return JSONResponse(self.table.live)

    async def _tree(self, request: Request) -> Response:
        result = self.table.results.get(request.path_params["name"])
        if result is None:
            raise HTTPException(404, "there is no such search")
        return _with_policy(await run_in_threadpool(tree_page, result), "'self'")

    async def _request(self, request: Request) -> Response:
        arguments = _arguments(await _body(request))
        return JSONResponse(await run_in_threadpool(self.table.request, request.path_params["name"], arguments))


async def _nothing(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": f"there is no page {request.url.path}"}, 404, {"Connection": "close", **_HEADERS})


async def _body(request: Request) -> bytes:
    """A short body of JSON, which arrives soon."""
    if request.headers.get("content-type") != "application/json":
        raise HTTPException(415, "a short text of JSON is expected")
    body = b""
    try:
        async with asyncio.timeout(PATIENCE):
            async for piece in request.stream():
                body += piece
                if len(body) > LONGEST:
                    raise HTTPException(413, f"a text of at most {LONGEST:,} bytes is expected")
    except TimeoutError:
        raise HTTPException(408, f"the text did not arrive within {PATIENCE:g} seconds") from None
    return body


def _arguments(body: bytes) -> Answer:
    if body.count(b"[") + body.count(b"{") > DEEPEST:
        raise HTTPException(400, "a flat JSON object is expected")
    try:
        value = json.loads(body or b"{}")
    except ValueError as error:
        raise HTTPException(400, f"a JSON object is expected: {error}") from None
    if not isinstance(value, dict):
        raise HTTPException(400, "a JSON object is expected")
    return value


def _with_policy(text: str, ancestors: str) -> Response:
    """A page whose scripts, and no others, may run."""
    nonce = secrets.token_urlsafe(16)
    policy = _POLICY.format(nonce=nonce, ancestors=ancestors)
    headers = {"Content-Security-Policy": policy, "X-Frame-Options": "DENY" if ancestors == "'none'" else "SAMEORIGIN"}
    return HTMLResponse(text.replace("<script>", f'<script nonce="{nonce}">'), headers=headers)


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None
