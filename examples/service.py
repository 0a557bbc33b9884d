"""A game server: several games at once against agents, by JSON. It needs `pip install starlette uvicorn`.

python examples/service.py othello hearts        # compiles what these games need, then serves on port 8000
curl -X POST localhost:8000/games -d '{"game": "othello", "level": 3, "moves": ["d3", "c5"]}'
curl -X POST localhost:8000/games/0 -d '{"move": "d6", "seconds": 0.5}'
"""

import asyncio
import itertools
import sys
from typing import Annotated, Any

import attrs
import msgspec
import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from icarus import Agent, games, play
from icarus.kernel import CHANCE
from icarus.kernel.state import draw_outcome
from icarus.views.boards import drawing

LONGEST = 5.0  # seconds that a move may ask for
LONGEST_BODY = 100_000  # bytes of a request
numbers, tables = itertools.count(), dict[int, "Table"]()


@attrs.define
class Table:
    """A game under way: a person in one seat, an agent in the others."""

    state: Any
    seat: int
    agent: Agent
    seed: int
    lock: asyncio.Lock = attrs.Factory(asyncio.Lock)

    def answer(self, seconds: float | None = None) -> None:
        """Let chance and the agent act until the person's turn. An agent is given what its seat knows: all else is drawn anew."""
        budget = {} if seconds is None else {"iterations": None, "seconds": seconds}
        agent = attrs.evolve(self.agent, **budget)
        while not self.state.is_terminal() and (player := self.state.current_player()) != self.seat:
            key = (self.seed, len(self.state.history))
            known = None if player == CHANCE else self.state.determinize(player, key)
            action = agent.search(known, key).action if known else draw_outcome(self.state, np.random.default_rng(key))
            self.state.apply_action(action)

    def view(self) -> dict[str, Any]:
        """What the person's seat sees, in words and as data."""
        state, over = self.state, self.state.is_terminal()
        return {
            "text": drawing(state, self.seat).text(),
            "seen": [int(move) for move in state.moves(self.seat)],
            "moves": [] if over else [state.action_to_string(action) for action in state.legal_actions()],
            "returns": state.returns() if over else None,
        }


class Beginning(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked for a new game."""

    game: str
    seat: Annotated[int, msgspec.Meta(ge=0)] = 0
    level: int = 3
    moves: list[str] = []


class Move(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked for a move."""

    move: str
    seconds: Annotated[float, msgspec.Meta(gt=0, le=LONGEST)] | None = None


async def begin(request: Request) -> JSONResponse:
    """A new game, or a position that some moves lead to."""
    asked = msgspec.json.decode(await body_of(request), type=Beginning)
    game, number = games.load(asked.game), next(numbers)
    if asked.seat >= game.players:
        raise ValueError(f"{game} has {game.players} seats, from 0; there is no seat {asked.seat}")
    state = game.new_initial_state(seed=number)
    for text in asked.moves:
        state.apply_action(state.string_to_action(text))
    table = Table(state, asked.seat, Agent.at_level(game, asked.level), number)
    answer = await answered(table)
    tables[number] = table
    return JSONResponse({"number": number, **answer})


async def move(request: Request) -> JSONResponse:
    """A move of the person, and the answers of the agents."""
    table = tables.get(request.path_params["number"])
    if table is None:
        raise HTTPException(404, "there is no such game")
    asked = msgspec.json.decode(await body_of(request), type=Move)
    return JSONResponse(await answered(table, asked.seconds, asked.move))


async def body_of(request: Request) -> bytes:
    """All that was sent, if it is no more than a request needs."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise HTTPException(413, f"a request has at most {LONGEST_BODY:,} bytes")
    return body


async def answered(table: Table, seconds: float | None = None, text: str | None = None) -> dict[str, Any]:
    """What the seat sees after a move and the answers, which a thread computes: searches run without Python's lock."""
    async with table.lock:  # of two moves at once the second waits
        if text is not None:
            table.state.apply_action(table.state.string_to_action(text))
        await asyncio.to_thread(table.answer, seconds)
        return table.view()


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
    exception_handlers=dict.fromkeys((ValueError, HTTPException), refused),
)

if __name__ == "__main__":
    import uvicorn

    for name in sys.argv[1:]:
        warm(name)
    uvicorn.run(app)
