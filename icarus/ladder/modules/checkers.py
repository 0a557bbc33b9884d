"""Checkers by py-draughts' SimpleEngine, alpha-beta by depth. Its American board leaves captures free; here they are forced, as in ours."""

import itertools
from importlib.metadata import version
from typing import Any

from draughts.boards import american
from draughts.engines.simple import SimpleEngine
from draughts.models import Color

from icarus.kernel.state import State

SIZE = 8


class ForcedCaptures(american.Board):
    """American checkers with forced captures, mirrored: their White moves up and first, as our Black does."""

    @property
    def legal_moves(self) -> Any:
        """All legal moves; captures only, where there are any."""
        return self._legal_moves_from_core(
            american._CORE, max_capture=False, captures_optional=False
        )


class PyDraughts:
    """The engine, and the rest of a chain of jumps that it has decided."""

    def __init__(self, depth: str) -> None:
        self.version = f"py-draughts depth {depth} {version('py-draughts')}"
        self._engine, self._chain = SimpleEngine(depth_limit=int(depth)), list[int]()

    def new_game(self, state: State) -> None:
        self._chain = []

    def choose(self, state: State) -> int:
        """The next step or jump of the engine's move."""
        if not self._chain or self._chain[0] not in state.legal_actions():
            move = self._engine.get_best_move(board_of(state))
            squares = [from_draughts(square) for square in move.square_list]
            self._chain = [SIZE * SIZE * a + b for a, b in itertools.pairwise(squares)]
        return self._chain.pop(0)


def to_draughts(square: int) -> int:
    """Their number 0 … 31 of one of our dark squares: rows from the top, four in each."""
    return 4 * (SIZE - 1 - square // SIZE) + square % SIZE // 2


def from_draughts(square: int) -> int:
    """Our square of their number."""
    row = SIZE - 1 - square // 4
    return SIZE * row + 2 * (square % 4) + row % 2


def board_of(state: State) -> ForcedCaptures:
    """The position on their board."""
    board = ForcedCaptures()
    men, kings = [0, 0], [0, 0]
    for square in range(SIZE * SIZE):
        for player in range(2):
            if int(state.facts.pieces[player]) >> square & 1:
                pieces = kings if int(state.facts.kings) >> square & 1 else men
                pieces[player] |= 1 << to_draughts(square)
    (board.white_men, board.black_men), (board.white_kings, board.black_kings) = men, kings
    board.turn = Color.WHITE if int(state.facts.player) == 0 else Color.BLACK
    return board


ENGINE = PyDraughts
