"""MCTS-Solver and score bounds: their formulas by hand, against a naive twin, and what they prove against brute force."""

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from icarus import *
from icarus.engine.compiled_search import CompiledSearch
from icarus.kernel.contract import facts_of
from icarus.testing import Decision, HistoryExample
from tests import toy
from tests.engine.test_twin import agree, pair, starts
from tests.games.scenes import after_action
from tests.marks import is_put_together, slow_after, slow_if, slow_if_put_together, slow_variants
from tests.test_documents import example
from tests.tic_tac_toe import TIC_TAC_TOE

NIM = example("nim").NIM
OTHELLO = games.load("othello")

# Bounds are of histories and a player: (mover, moves, player).
THREE = HistoryExample([Decision(1, (8, 9), 8), Decision(0, (4, 5, 6))])
VISITED: dict[Any, Any] = {
    (0, (8, a)): {"reward": (2.0, 0.0), "visits": 4, "availability": 9} for a in (4, 5, 6)
}
UCB1 = 0.5 + 0.7 * math.sqrt(math.log(9) / 4)


def bounds(*pairs: tuple[float, float]) -> dict[Any, Any]:
    return {
        **VISITED,
        **{
            (0, (8, a), 0): {"lower": low, "upper": high}
            for a, (low, high) in zip((4, 5, 6), pairs, strict=True)
        },
    }


@pytest.mark.parametrize(
    ("pairs", "solver", "cut"),
    [
        (((0, 1), (0, 1), (0, 1)), (UCB1, UCB1, UCB1), (UCB1, UCB1, UCB1)),
        # a win: nothing can be better
        (((1, 1), (0, 1), (0, 1)), (math.inf, -1, -1), (math.inf, -1, -1)),
        (((0, 0), (0, 1), (0, 1)), (-1, UCB1, UCB1), (-1, UCB1, UCB1)),  # a loss
        # a draw; what is at most one is cut
        (((0.5, 0.5), (0, 1), (0, 0.5)), (-1, UCB1, UCB1), (-1, UCB1, -1)),
        (((0.5, 0.5), (0.5, 0.5), (0, 0.5)), (math.inf, math.inf, -1), (math.inf, math.inf, -1)),
        (((0, 0), (0, 0), (0, 0)), (math.inf,) * 3, (math.inf,) * 3),
        (((0.25, 1), (0, 0.25), (0, 1)), (UCB1, UCB1, UCB1), (UCB1, -1, UCB1)),
    ],
)
def test_sb_4_plays_what_is_proved_best_and_leaves_out_what_is_not(pairs, solver, cut):
    assert THREE.values(MCTS_SOLVER, bounds(*pairs)) == pytest.approx(list(solver))
    assert THREE.values(SCORE_BOUNDS, bounds(*pairs)) == pytest.approx(list(cut))


# --------------------------------------------------------------------------------------------------------- against the twin

TEXTS = [
    "MCTS_SOLVER",
    "SCORE_BOUNDS",
    "score_bounds(0.2, 0.1, 0.4)",
    "bounded_ucb1_tuned(0.6)",
    "bounded_progressive_history(3.0, 0.6)",
    "bounded_grave(4, 1e-5, 0.6)",
]
SCHEMES = [MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(1)]


@pytest.mark.parametrize(
    ("text", "scheme"),
    [
        pytest.param(text, scheme, marks=slow_if(i % len(SCHEMES) != j or is_put_together(text)))
        for i, text in enumerate(TEXTS)
        for j, scheme in enumerate(SCHEMES)
    ],
    ids=str,
)
def test_engine_and_twin_agree_in_every_toy_game_without_secrets(text, scheme):
    """Of two players; `test_catalogue.py` has one and three."""
    played = [game for game in toy.OPEN if game.players == 2]
    assert len(played) > 1
    for number, game in enumerate(played):
        agree(starts(game, number), *pair(text), 25, (number, 7), scheme)


@pytest.mark.parametrize("text", slow_if_put_together(slow_variants(TEXTS)))
@pytest.mark.parametrize("squares", [0b000010101, 0b100010101], ids=["late", "later"])
def test_engine_and_twin_agree_in_tic_tac_toe(text, squares):
    state = TIC_TAC_TOE.new_initial_state()
    facts_of(state.data).marks[0], facts_of(state.data).marks[1] = (
        squares & 0b001010001,
        squares & 0b110000100,
    )
    agree(state, *pair(text), 120, (1, 7), MO_ISMCTS)


# ------------------------------------------------------------------------------------------------------ against brute force


def worth(state: State, solutions: dict[bytes, tuple[float, ...]]) -> tuple[float, ...]:
    """What each player is sure to get, by looking at everything."""
    if state.is_terminal():
        return tuple(state.returns())
    key = state.data.tobytes()
    if key not in solutions:
        after = [worth(after_action(state, a), solutions) for a in state.legal_actions()]
        mover = state.current_player()
        solutions[key] = tuple(
            (max if player == mover else min)(values)
            for player, values in enumerate(zip(*after, strict=True))
        )
    return solutions[key]


def proof(
    state: State, strategy: Enhancement, solutions: dict[bytes, tuple[float, ...]], most: int
) -> None:
    """Search until the root is proved; what is proved must be right, of it and of all that follows, and the action be best."""
    running, mover = CompiledSearch(state, strategy, seed=1), state.current_player()
    lower, upper = 0.0, 1.0
    while lower < upper:
        assert running.iterations < most, (str(strategy), str(state))
        running.run(running.iterations + 500)
        stats = running.records()[str(strategy)].get((0, (), mover))
        lower, upper = (0.0, 1.0) if stats is None else (stats["lower"], stats["upper"])
    records = running.records()[str(strategy)]
    assert lower == upper == worth(state, solutions)[mover]
    after = {}
    for action in running.actions:
        values = worth(after_action(state, action), solutions)
        after[action] = values[mover]
        for player, value in enumerate(values):
            stats = records.get((mover, (action,), player))
            assert stats is None or stats["lower"] <= value <= stats["upper"]
    assert after[running.result().action] == lower


def every_nim() -> Iterator[State]:
    for heaps in np.ndindex(2, 4, 6):
        for player in (0, 1):
            state = NIM.new_initial_state()
            facts_of(state.data).heaps[:], facts_of(state.data).player = heaps, player
            if not state.is_terminal():
                yield state


def late_othello(empty: int, number: int) -> State:
    """An Othello position with at most so many empty squares, reached at random."""
    rng = random.Random(100 * empty + number)
    while True:
        state = OTHELLO.new_initial_state()
        while not state.is_terminal():
            if bin(int(state.facts.discs[0] | state.facts.discs[1])).count("1") >= 64 - empty:
                return state
            state.apply_action(rng.choice(state.legal_actions()))


@pytest.mark.parametrize(
    "strategy",
    slow_if_put_together(
        [MCTS_SOLVER, SCORE_BOUNDS, BOUNDED_UCB1_TUNED, BOUNDED_PROGRESSIVE_HISTORY, BOUNDED_GRAVE]
    ),
    ids=str,
)
def test_every_position_of_small_nim_is_proved_right(strategy):
    positions, solutions = list(every_nim()), {}
    assert len(positions) == 94
    for state in positions:
        proof(state, strategy, solutions, 200_000)


def test_positions_of_tic_tac_toe_are_proved_right(request):
    solutions = {}
    assert set(worth(TIC_TAC_TOE.new_initial_state(), solutions)) == {0.5}
    assert len(solutions) == 4520  # that can be reached and are not over, the opening last
    positions = [
        State(TIC_TAC_TOE, np.frombuffer(key, TIC_TAC_TOE.state).copy())
        for key in reversed(solutions)
    ]
    chosen = positions if request.config.getoption("--slow") else positions[:: 4520 // 4]
    assert chosen[0].legal_actions() == list(range(9))
    for state in chosen:
        for strategy in (MCTS_SOLVER, SCORE_BOUNDS):
            proof(state, strategy, solutions, 400_000)


@pytest.mark.parametrize("empty", slow_after(4, range(2, 9)))
def test_othello_with_at_most_eight_empty_squares_is_proved_right(empty):
    for number in range(16):
        proof(late_othello(empty, number), (MCTS_SOLVER, SCORE_BOUNDS)[number % 2], {}, 400_000)
