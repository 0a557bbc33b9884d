"""A game server: several games at once against agents, by JSON. It needs `pip install starlette uvicorn`.

python examples/service.py othello hearts        # compiles what these games need, then serves on port 8000
curl -X POST localhost:8000/games -d '{"game": "othello", "level": 3, "moves": ["d3", "c5"]}'
curl -X POST localhost:8000/games/0 -d '{"move": "d6", "seconds": 0.5}'
"""

import asyncio
import itertools
import sys
from typing import Any

import attrs
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
        budget = {} if seconds is None else {"iterations": None, "seconds": min(seconds, LONGEST)}
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


async def begin(request: Request) -> JSONResponse:
    """A new game, or a position that some moves lead to."""
    asked = await request.json()
    game = games.load(asked["game"])
    number = next(numbers)
    state = game.new_initial_state(seed=number)
    for move in asked.get("moves", []):
        state.apply_action(state.string_to_action(move))
    tables[number] = Table(state, asked.get("seat", 0), Agent.at_level(game, asked.get("level", 3)), number)
    return JSONResponse({"number": number, **await answered(tables[number])})


async def move(request: Request) -> JSONResponse:
    """A move of the person, and the answers of the agents."""
    table, asked = tables.get(request.path_params["number"]), await request.json()
    if table is None:
        raise HTTPException(404, "there is no such game")
    return JSONResponse(await answered(table, asked.get("seconds"), asked["move"]))


async def answered(table: Table, seconds: float | None = None, text: str | None = None) -> dict[str, Any]:
    """What the seat sees after a move and the answers, which a thread computes: searches run without Python's lock."""
    async with table.lock:  # of two moves at once the second waits
        if text is not None:
            table.state.apply_action(table.state.string_to_action(text))
        await asyncio.to_thread(table.answer, seconds)
        return table.view()


async def refused(request: Request, error: Exception) -> JSONResponse:
    """What cannot be done, in a sentence."""
    return JSONResponse({"error": f"the request lacks {error}" if isinstance(error, KeyError) else str(error)}, 400)


def warm(name: str) -> None:
    """Compile what the agents of a game need, ahead of the first request."""
    game = games.load(name)
    play(game, [attrs.evolve(Agent.at_level(game, 1), iterations=1)] * game.players, seed=0)


app = Starlette(
    routes=[Route("/games", begin, methods=["POST"]), Route("/games/{number:int}", move, methods=["POST"])],
    exception_handlers={ValueError: refused, KeyError: refused},
)

if __name__ == "__main__":
    import uvicorn

    for name in sys.argv[1:]:
        warm(name)
    uvicorn.run(app)
