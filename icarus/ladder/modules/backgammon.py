"""Backgammon by gnubg-nn: pubeval, and GNU Backgammon's networks at 0, 1 and 2 plies, at double match point: a gammon is a win.

A board is [the opponent's 25 points, own 25 points], each from its owner's side, the bar last. An engine decides a whole roll; the dice
are then played one by one in an order that the rules allow.
"""

from importlib.metadata import version

import gnubg_nn

from icarus.games.backgammon import BAR
from icarus.kernel import CHANCE, State
from icarus.ladder.engines import earlier_state

# points that either side lacks: what counts is who wins, as in our game
DOUBLE_MATCH_POINT = (1, 1)
CheckerStep = tuple[int, int]  # (point left, point reached), 1 … 24, BAR and 0


class GnuBackgammon:
    """An evaluation, and where it wants its checkers at the end of the roll."""

    def __init__(self, kind: str, ply: str = "0") -> None:
        name = "pubeval" if kind == "pubeval" else f"gnubg {ply}-ply DMP"
        self.version = f"{name} {version('gnubg-nn')}"
        self._pubeval = kind == "pubeval"
        self._ply = int(ply)
        self._rolled_at = 0
        self._target: tuple[int, ...] = ()
        gnubg_nn.set.score(*DOUBLE_MATCH_POINT)

    def new_game(self, state: State) -> None:
        self._rolled_at = 0

    def choose(self, state: State) -> int:
        """The next action of the roll; what of the roll was forced has been played without asking."""
        # how many actions there were when the dice had been rolled
        rolled_at = (
            max(number for number, (player, _) in enumerate(state.history) if player == CHANCE) + 1
        )
        if rolled_at != self._rolled_at:
            rolled = earlier_state(state, rolled_at)
            self._rolled_at, self._target = rolled_at, checkers_after(rolled, self._steps(rolled))
        mover = int(state.facts.player)
        path = path_to(state, mover, self._target)
        if not path:
            raise ValueError(f"no legal actions lead to {self._target} in {state}")
        return path[0]

    def _steps(self, state: State) -> list[CheckerStep]:
        board = board_of(state, int(state.facts.player))
        first, second = dice(state)
        if self._pubeval:
            flat = gnubg_nn.pub_best_move(board, first, second)
            return [(flat[i] + 1, flat[i + 1] + 1) for i in range(0, len(flat), 2)]
        return [
            (int(origin), int(target))
            for origin, target in gnubg_nn.best_move(board, first, second, n=self._ply)
        ]


def board_of(state: State, mover: int) -> list[list[int]]:
    """The position as gnubg-nn takes it."""
    return [
        [int(count) for count in state.facts.points[owner][1 : BAR + 1]]
        for owner in (1 - mover, mover)
    ]


def dice(state: State) -> tuple[int, int]:
    """The two dice of a roll of which nothing has been played."""
    first, second = (int(die) for die in state.facts.dice)
    return first, second or first


def checkers_after(state: State, steps: list[CheckerStep]) -> tuple[int, ...]:
    """The mover's checkers on 0 … BAR after the steps."""
    points = [int(count) for count in state.facts.points[state.facts.player]]
    for origin, target in steps:
        points[origin] -= 1
        points[max(target, 0)] += 1
    return tuple(points)


def path_to(state: State, mover: int, target: tuple[int, ...]) -> list[int] | None:
    """The legal actions of a player that end his turn with his checkers standing so; None where there are none."""
    if state.current_player() != mover:
        return [] if tuple(int(count) for count in state.facts.points[mover]) == target else None
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        if (rest := path_to(after, mover, target)) is not None:
            return [action, *rest]
    return None


ENGINE = GnuBackgammon
