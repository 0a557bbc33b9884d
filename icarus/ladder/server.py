"""Serves an engine that is a Python module by lines: `python -m icarus.ladder.server GAME SETTINGS…`.

Commands: `name`, `version`, `new_game DATA GAME` (the data that the game begins with, in hexadecimal digits), `play PLAYER ACTION`,
`genmove PLAYER` (which plays the move too), `quit`. The engine sees what its player sees: that is the duty of each file in `servers`.
"""

import importlib
import pkgutil
import sys
from typing import Protocol

import numpy as np

from icarus import games
from icarus.kernel.game import Game
from icarus.kernel.state import State
from icarus.ladder import servers
from icarus.ladder.engines import SERVER


class EngineModule(Protocol):
    """What a file of `servers` has as its `Engine`, made of the settings."""

    name: str
    version: str

    def new_game(self, state: State) -> None:
        """A game begins."""

    def choose(self, state: State) -> int:
        """An action of the player to move, by what he sees."""


def state_after(state: State, number: int) -> State:
    """The state in which the history had so many actions."""
    if number == len(state.history):
        return state
    earlier = State(state.game, state.start.copy())
    for _, action in state.history[:number]:
        earlier.apply_action(action)
    return earlier


class Server:
    """One engine and the game that it plays."""

    def __init__(self, engine: EngineModule) -> None:
        self.engine = engine
        self.state: State | None = None

    def answer(self, line: str) -> str:
        """What a command is answered with; "?" where it cannot be done."""
        command, *words = line.split()
        try:
            return f"= {getattr(self, f'_{command}')(*words)}"
        except Exception as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr, flush=True)
            return f"? {command}: {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"

    def _name(self) -> str:
        return self.engine.name

    def _version(self) -> str:
        return self.engine.version

    def _quit(self) -> str:
        raise SystemExit

    def _new_game(self, data: str, *game: str) -> str:
        loaded = games.load(" ".join(game))
        assert isinstance(loaded, Game)
        self.state = State(loaded, np.frombuffer(bytes.fromhex(data), loaded.state).copy())
        self.engine.new_game(self.state)
        return ""

    def _play(self, player: str, action: str) -> str:
        assert self.state is not None
        self.state.apply_action(int(action))
        return ""

    def _genmove(self, player: str) -> str:
        assert self.state is not None
        action = self.engine.choose(self.state)
        self.state.apply_action(action)
        return str(action)


def main(arguments: list[str]) -> None:
    """Answer lines until there are no more."""
    game, *settings = arguments or [""]
    game_names = sorted(name.replace("_", "-") for _, name, _ in pkgutil.iter_modules(servers.__path__))
    if game not in game_names:
        raise SystemExit(
            f"{SERVER}: no engine plays {game!r}; write GAME SETTINGS, with a game of {', '.join(game_names)}"
        )
    module = importlib.import_module(f"{servers.__name__}.{game.replace('-', '_')}")
    answers = sys.stdout
    sys.stdout = sys.stderr  # what an engine prints is not an answer
    server = Server(module.Engine(*settings))
    for line in sys.stdin:
        if line.strip():
            try:
                print(server.answer(line), end="\n\n", file=answers, flush=True)
            except SystemExit:
                return


if __name__ == "__main__":
    main(sys.argv[1:])
