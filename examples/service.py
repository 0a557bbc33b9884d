"""A game server: several games at once against agents, by JSON. It needs `pip install starlette uvicorn`.

python examples/service.py othello hearts        # compiles what these games need, then serves on port 8000
curl -X POST localhost:8000/games -d '{"game": "othello", "level": 3, "moves": ["d3", "c5"]}'
curl -X POST localhost:8000/games/0 -d '{"line": "d6", "seconds": 0.5}'
"""

import asyncio
import sys
from collections import defaultdict
from typing import Any

import attrs
import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from icarus import Agent, games, play
from icarus.commands.server import LONGEST_BODY, Tables

tables = Tables()  # the same as behind the page of icarus play
locks = defaultdict[int, asyncio.Lock](asyncio.Lock)


async def begin(request: Request) -> JSONResponse:
    """A new game, or a position that some moves lead to."""
    number = await asyncio.to_thread(tables.begin, await body_of(request), dict.fromkeys(tables.games))
    return JSONResponse({"number": number, **await answered(number)})


async def move(request: Request) -> JSONResponse:
    """An action of the person, and those of the agents."""
    number = request.path_params["number"]
    if number not in tables.games:
        raise HTTPException(404, "there is no such game")
    return JSONResponse(await answered(number, await body_of(request)))


async def body_of(request: Request) -> bytes:
    """The body of a request, which is read only as far as it may be."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_BODY:
            raise HTTPException(413, f"a request has at most {LONGEST_BODY:,} bytes")
    return body


async def answered(number: int, body: bytes | None = None) -> dict[str, Any]:
    """What the seat sees after what was said and the answers, which a thread computes: searches run without Python's lock."""
    table = tables.games[number]
    async with locks[number]:  # of two moves at once the second waits
        said = {} if body is None else await asyncio.to_thread(tables.say, number, body, table.viewers[0])
        while await asyncio.to_thread(table.step):
            pass
        seen = table.contents[table.viewers[0]]
    state = table.session.state
    return {
        "text": seen["text"],
        "status": seen["status"],
        "said": said.get("said", ""),
        "seen": [int(each) for each in state.moves(table.viewers[0])],
        "moves": [each["name"] for each in seen["moves"]],
        "returns": state.returns() if state.is_terminal() else None,
    }


async def refused(request: Request, error: Exception) -> JSONResponse:
    """What cannot be done, in a sentence."""
    status = error.status_code if isinstance(error, HTTPException) else 400
    return JSONResponse({"error": error.detail if isinstance(error, HTTPException) else str(error)}, status)


def warm(name: str) -> None:
    """Compile what the agents of a game need, ahead of the first request."""
    game = games.load(name)
    play(game, [attrs.evolve(Agent.at_level(game, 1), iterations=1)] * game.players, seed=0)


app = Starlette(
    routes=[Route("/games", begin, methods=["POST"]), Route("/games/{number:int}", move, methods=["POST"])],
    exception_handlers=dict.fromkeys((ValueError, msgspec.MsgspecError, HTTPException), refused),
)

if __name__ == "__main__":
    import uvicorn

    for name in sys.argv[1:]:
        warm(name)
    uvicorn.run(app)
