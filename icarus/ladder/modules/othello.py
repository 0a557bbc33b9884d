"""Othello by rust-reversi: alpha-beta by depth with one of two evaluations, and plain MCTS by playouts."""

from importlib.metadata import version
from typing import Any

import rust_reversi

from icarus.games.othello import PASS
from icarus.kernel.state import State

HALF = [
    [100, -20, 10, 5, 5, 10, -20, 100],
    [-20, -50, -2, -2, -2, -2, -50, -20],
    [10, -2, -1, -1, -1, -1, -2, 10],
    [5, -2, -1, -1, -1, -1, -2, 5],
]
MATRIX = [*HALF, *reversed(HALF)]  # of squares: the package's own example
WON = 1 << 10
EXPLORATION, VISITS_TO_EXPAND = 1.0, 10


class RustReversi:
    """A search of rust-reversi's; it is given the position anew for each move."""

    def __init__(self, kind: str, size: str) -> None:
        self.version = f"rust-reversi {kind} {size} {version('rust-reversi')}"
        if kind == "mcts":
            self._search: Any = rust_reversi.MctsSearch(int(size), EXPLORATION, VISITS_TO_EXPAND)
        else:  # "matrix" or "mobility"
            evaluator = (
                rust_reversi.MatrixEvaluator(MATRIX)
                if kind == "matrix"
                else rust_reversi.LegalNumEvaluator()
            )
            self._search = rust_reversi.AlphaBetaSearch(evaluator, int(size), WON)

    def new_game(self, state: State) -> None:
        """Nothing is kept from game to game."""

    def choose(self, state: State) -> int:
        """The search's square; PASS where there is none."""
        return (
            PASS if state.legal_actions() == [PASS] else int(self._search.get_move(board_of(state)))
        )


def board_of(state: State) -> rust_reversi.Board:
    """The position as a board of rust-reversi. Its squares have our numbers; in its sets of discs a1 is the highest bit, see `mirror`."""
    mover = int(state.facts.player)
    mover_discs, opponent_discs = (
        mirror(int(state.facts.discs[player])) for player in (mover, 1 - mover)
    )
    board = rust_reversi.Board()
    board.set_board(
        mover_discs,
        opponent_discs,
        rust_reversi.Turn.BLACK if mover == 0 else rust_reversi.Turn.WHITE,
    )
    return board


def mirror(discs: int) -> int:
    """A set of squares with a1 as its highest bit."""
    return int(f"{discs:064b}"[::-1], 2)


ENGINE = RustReversi
