"""Engine against naive twin in every scheme: the same draws must give the same records and information."""

import random
from typing import Any

import numpy as np
import pytest

import icarus
from icarus import Enhancement, Game, games, linear, maxilinear
from icarus.algebra import gibbs, ucb1
from icarus.engine.scheme import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
    Scheme,
)
from icarus.kernel import CHANCE, TERMINAL, below, helper
from icarus.specs import AMAF, BASELINE, EPIC, LGR, LGRF, MAST, NAST, TO_MAST
from tests import naive, toy
from tests.conftest import Toys
from tests.engine.test_twin import agree, composition, same_records, starts
from tests.marks import slow_after
from tests.toy import BLIND_STATES, CLASHES, PENNIES, THICKETS, WHISPERS

COMPOSITIONS = 6
ITERATIONS = {"toy": 30, "whole": 12, "exp3": 20, "tree": 20}
ONE_TREE = [SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(1)]
SEVERAL_TREES = [DeterminizedUCT(1), DeterminizedUCT(3), CheatingEnsembleUCT(3)]
REAL_GAMES = ["knockout-whist(players=3)", "phantom-mnk", "kuhn-poker", "goofspiel", "lotr-confrontation"]
by_scheme = pytest.mark.parametrize("scheme", ONE_TREE, ids=str)


def agree_in_all_trees(
    state: Any, strategy: Enhancement, twin: Any, iterations: int, seed: int, scheme: Scheme
) -> None:
    """At the end, tree by tree."""
    whole = naive.search(state, twin, iterations, seed, scheme)
    engine = toy.begun(state, strategy, seed, scheme=scheme)
    engine.run(iterations)
    trees = whole.trees or [whole]
    for i, (search, outcome) in enumerate(zip(engine.searches, trees, strict=True)):
        same_records(search.records(), strategy, twin, outcome, (str(state.game), str(scheme), i))
    result = engine.result()
    assert (dict(zip(whole.selections, result.visits.tolist(), strict=True)), result.action) == (
        whole.selections,
        whole.action,
    )


def compositions(seed: int) -> tuple[Enhancement, Any]:
    return composition(random.Random(seed), 3)


@by_scheme
@pytest.mark.parametrize("number", slow_after(1, range(COMPOSITIONS)))
def test_engine_and_twin_agree_in_every_toy_game(number: int, scheme: Scheme, toys: Toys) -> None:
    strategy, twin = compositions(2000 + number)
    for _, game in toys:
        agree(starts(game, number), strategy, twin, ITERATIONS["toy"], (number, 7), scheme)


UNIFORM = [  # compositions that come to the baseline in simulation, in several ways
    (maxilinear((0.5, BASELINE), (0.5, BASELINE)), naive.Maxilinear([(0.5, naive.baseline())] * 2)),
    (
        maxilinear((0.5, AMAF >> BASELINE), (0.5, BASELINE)),
        naive.Maxilinear([(0.5, naive.Sequential(naive.amaf(), naive.baseline())), (0.5, naive.baseline())]),
    ),
    (
        AMAF >> linear((0.5, BASELINE), (0.5, LGR)),
        naive.Sequential(naive.amaf(), naive.Linear([(0.5, naive.baseline()), (0.5, naive.lgr())])),
    ),
    (
        linear((0.25, maxilinear((0.5, AMAF), (0.5, BASELINE))), (0.75, AMAF >> BASELINE)),
        naive.Linear(
            [
                (0.25, naive.Maxilinear([(0.5, naive.amaf()), (0.5, naive.baseline())])),
                (0.75, naive.Sequential(naive.amaf(), naive.baseline())),
            ]
        ),
    ),
]


@pytest.mark.parametrize(
    ("strategy", "twin"), UNIFORM, ids=lambda part: str(part) if isinstance(part, Enhancement) else ""
)
def test_engine_and_twin_agree_on_what_is_uniform_by_definition(strategy: Enhancement, twin: Any) -> None:
    for game in (BLIND_STATES, WHISPERS, CLASHES):
        agree(starts(game, 1), strategy, twin, ITERATIONS["toy"], 3, SO_ISMCTS_POM)


SINGLE = [
    (BASELINE, naive.baseline()),
    (AMAF, naive.amaf()),
    (MAST(gibbs(1.0)), naive.mast()),
    (MAST(ucb1(0.7)), naive.mast(naive.ucb1())),
    (TO_MAST(gibbs(1.0)), naive.to_mast()),
    (LGR, naive.lgr()),
    (LGRF, naive.lgrf()),
    (EPIC(ucb1(0.7)), naive.epic()),
    *((NAST(n, ucb1(0.7)), naive.nast(n)) for n in (1, 2, 3)),
]


@pytest.mark.parametrize(
    ("strategy", "twin"), SINGLE, ids=lambda part: str(part) if isinstance(part, Enhancement) else ""
)
@pytest.mark.parametrize("game", slow_after(1, [THICKETS[0], WHISPERS, *THICKETS[1:]]), ids=str)
def test_engine_and_twin_agree_on_every_enhancement_where_moves_go_unnoticed(
    game: Game, strategy: Enhancement, twin: Any
) -> None:
    for scheme in (SO_ISMCTS, SO_ISMCTS_POM):
        agree(starts(game, 1), strategy, twin, ITERATIONS["toy"], 1, scheme)


def test_engine_and_twin_break_the_ties_of_all_trees_alike() -> None:
    tied = 0
    for seed in range(30):
        whole = naive.search(PENNIES.new_initial_state(), naive.baseline(), 4, seed, CheatingEnsembleUCT(2))
        result = icarus.search(
            PENNIES.new_initial_state(), BASELINE, iterations=4, seed=seed, scheme=CheatingEnsembleUCT(2)
        )
        assert result.action == whole.action
        tied += len(set(whole.selections.values())) == 1
    assert tied > 5


@pytest.mark.parametrize(
    ("scheme", "game"),
    [  # each scheme in one of the two, and in both with --slow
        pytest.param(scheme, game, marks=[pytest.mark.slow] * ((i + j) % 2))
        for i, scheme in enumerate([MO_ISMCTS, *ONE_TREE])
        for j, game in enumerate([PENNIES, CLASHES])
    ],
    ids=str,
)
@pytest.mark.parametrize("number", slow_after(1, range(COMPOSITIONS)))
def test_engine_and_twin_agree_by_exp3_in_toy_games(number: int, scheme: Scheme, game: Game) -> None:
    strategy, twin = compositions(3000 + number)
    for start in range(2):
        agree(starts(game, 10 * number + start), strategy, twin, ITERATIONS["toy"], number, scheme.with_exp3())


@pytest.mark.parametrize("scheme", SEVERAL_TREES, ids=str)
@pytest.mark.parametrize("number", slow_after(1, range(COMPOSITIONS)))
def test_engine_and_twin_agree_in_every_one_of_several_trees(number: int, scheme: Scheme, toys: Toys) -> None:
    strategy, twin = compositions(4000 + number)
    for _, game in toys:
        agree_in_all_trees(
            starts(game, number), strategy, twin, ITERATIONS["tree"] * scheme.trees + number % 3, number, scheme
        )
        exp3 = scheme.with_exp3()
        if game.simultaneous is not None:
            agree_in_all_trees(
                starts(game, number), strategy, twin, ITERATIONS["tree"] * scheme.trees + number % 3, number, exp3
            )


@by_scheme
@pytest.mark.parametrize("name", slow_after(4, REAL_GAMES))
@pytest.mark.parametrize("number", slow_after(1, range(2)))
def test_engine_and_twin_agree_in_whole_games(number: int, name: str, scheme: Scheme) -> None:
    strategy, twin = compositions(5000 + number)
    agree(starts(games.load(name), number), strategy, twin, ITERATIONS["whole"], number, scheme)


# ---------------------------------------------------------------------------------- who moves next is hidden, and all moves are seen


ORDERED = np.dtype([("order", np.int64), ("actions", np.int64, (5,)), ("count", np.int64)], align=True)


def shuffle_order(state: Any, rng: np.ndarray) -> None:
    state.order = below(rng, 4)


@helper
def mover_of(state: Any) -> int:
    """Player 0 makes the first, third and fifth move; a bit of the order says who makes each of the others."""
    if state.count == 5:
        return TERMINAL
    return state.order >> state.count // 2 & 1 if state.count % 2 == 1 else 0


def in_order(state: Any) -> int:
    return mover_of(state)


def redraw_order(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    mover = mover_of(state)
    if observer != CHANCE:
        state.order = below(rng, 4)
        while mover_of(state) != mover:
            state.order = below(rng, 4)


def three(state: Any, actions: np.ndarray) -> int:
    actions[0], actions[1], actions[2] = 0, 1, 2
    return 3


def write_down(state: Any, action: int) -> None:
    state.actions[state.count] = action
    state.count += 1


def winner(state: Any, out: np.ndarray) -> None:
    total = 0
    for i in range(5):
        total = 3 * total + state.actions[i] + state.order
    out[0] = 1.0 if total % 7 < 3 else 0.0
    out[1] = 1.0 - out[0]


SECRET_ORDER = Game(
    name="secret-order",
    players=2,
    state=ORDERED,
    initial=shuffle_order,
    player=in_order,
    legal=three,
    apply=write_down,
    rewards=winner,
    max_legal=3,
    determinize=redraw_order,
    text=lambda state: f"order {state.order}: {state.actions[: state.count]}",
    action_text=lambda state, action: str(action),
)


@pytest.mark.parametrize(
    ("game", "scheme"),
    [(SECRET_ORDER, MO_ISMCTS), (games.load("phantom-mnk(columns=3,rows=3,in_a_row=3)"), SO_ISMCTS)],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 1, 39])
def test_engine_and_twin_agree_where_the_same_moves_may_be_of_other_players(
    game: Game, scheme: Scheme, seed: int
) -> None:
    """A history beyond the tree, by who made its last move, may have the moves of one that is in it: AMAF has records of its children."""
    agree(starts(game, seed), AMAF, naive.amaf(), 60, seed, scheme)
