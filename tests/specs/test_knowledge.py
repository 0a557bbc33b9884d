"""Enhancements that read what a game tells, against naive twins; by hand where the twins' games do not come."""

import math

import attrs
import pytest

from icarus import BASELINE, Enhancement, games, parse, search
from icarus.algebra import gibbs
from icarus.kernel import SIMULATION
from icarus.specs import (
    DECISIVE,
    FAST,
    IMPLICIT_MINIMAX,
    PAST,
    PROGRESSIVE_BIAS,
    PROGRESSIVE_UNPRUNING,
    PROGRESSIVE_WIDENING,
    PUCT,
)
from icarus.testing import Decision, HistoryExample
from tests import naive, toy
from tests import naive_knowledge as twins
from tests.conftest import Toys
from tests.engine.test_twin import ONE_TREE, agree, starts
from tests.marks import slow_after, slow_variants

ALL = [PROGRESSIVE_BIAS, PROGRESSIVE_UNPRUNING, PROGRESSIVE_WIDENING, PUCT, IMPLICIT_MINIMAX]
LOOKAHEAD = {4: (0.25, 0.75), 5: (0.5, 0.5), 6: (0.375, 0.625)}
OPEN = HistoryExample([Decision(0, (4, 5, 6), lookahead=LOOKAHEAD)], players=2)
FOUR, FIVE, SIX = ((0, (action,)) for action in (4, 5, 6))


@pytest.mark.parametrize("strategy", ALL, ids=str)
def test_simulation_is_uniform_where_the_enhancement_is_of_the_tree(strategy: Enhancement) -> None:
    simulated = HistoryExample([Decision(0, (4, 5, 6), phase=SIMULATION, lookahead=LOOKAHEAD)], players=2)
    assert simulated.values(strategy, {FOUR: {"reward": (1.0, 1.0), "visits": 2, "availability": 3}}) == [math.inf] * 3


@pytest.mark.parametrize(("visits", "width"), [(31, 1), (50, 1), (51, 2), (65, 2), (66, 3)])
def test_pu_4_opens_one_more_whenever_the_visits_exceed_a_b_to_the_power(visits: int, width: int) -> None:
    values = OPEN.values(PROGRESSIVE_UNPRUNING(30, 1, 50.0, 1.3), {(): {"visits": visits}})  # 50, 65, 84.5
    assert sum(value == math.inf for value in values) == width


@pytest.mark.parametrize(("visits", "width"), [(0, 1), (39, 1), (40, 2), (95, 2), (96, 3)])
def test_pw_4_opens_the_next_after_t_visits(visits: int, width: int) -> None:
    values = OPEN.values(PROGRESSIVE_WIDENING, {(): {"visits": visits}})  # t = 40, 40 + 56
    assert sum(value == math.inf for value in values) == width
    assert values[1] == math.inf  # the best prospect


def test_puct_4_does_not_overflow_at_low_temperatures() -> None:
    values = OPEN.values(PUCT(1.0, 1e-9), {FIVE: {"availability": 4}, FOUR: {"availability": 4}})
    assert values == pytest.approx([0.5, 0.5 + 2.0, 0.5])


def test_past_needs_features() -> None:
    with pytest.raises(ValueError, match="knockout-whist has no features"):
        search(games.load("knockout-whist").new_initial_state(), BASELINE >> PAST, iterations=5)


def test_fast_learns_that_a_corner_is_worth_more_than_a_square_beside_it() -> None:
    result = search(games.load("othello").new_initial_state(), BASELINE >> FAST, iterations=1000, seed=1)
    corner, x_square = ([result.records["FAST"][feature, player]["weight"] for player in (0, 1)] for feature in (0, 1))
    assert min(corner) > 0.1 and min(corner) > max(x_square)


def test_fast_needs_features_of_actions() -> None:
    with pytest.raises(ValueError, match="knockout-whist has no action_features"):
        search(games.load("knockout-whist").new_initial_state(), BASELINE >> FAST, iterations=5)


# -------------------------------------------------------------------------------------------------------- against the twins

PAIRS: list[tuple[Enhancement, naive.Leaf]] = [
    (PROGRESSIVE_BIAS, twins.progressive_bias()),
    (PROGRESSIVE_UNPRUNING(3, 2, 6.0, 1.2), twins.progressive_unpruning(3, 2, 6.0, 1.2)),
    (PROGRESSIVE_WIDENING(3.0, 1.25), twins.progressive_widening(3.0, 1.25)),
    (PUCT, twins.puct()),
    (IMPLICIT_MINIMAX, twins.implicit_minimax()),
    (DECISIVE, twins.decisive()),
    (PAST, twins.past()),
    (FAST, twins.fast()),
    (FAST(0.2, 0.5, gibbs(0.1)), twins.fast(0.2, 0.5, 0.1)),
]
TOYS_ONLY: list[tuple[Enhancement, naive.Leaf]] = [
    (DECISIVE(0.2), twins.decisive(0.2)),
    (PAST(1, gibbs(0.2)), twins.past(1, 0.2)),
]
every_pair = pytest.mark.parametrize(
    ("strategy", "twin"), slow_variants(PAIRS), ids=lambda x: str(x) if isinstance(x, Enhancement) else ""
)


@pytest.mark.parametrize(
    ("strategy", "twin"),
    slow_variants([*PAIRS, *TOYS_ONLY]),
    ids=lambda x: str(x) if isinstance(x, Enhancement) else "",
)
def test_engine_and_twin_agree_in_every_toy_game(strategy: Enhancement, twin: naive.Leaf, toys: Toys) -> None:
    for number, game in toys:
        agree(starts(game, number), strategy, twin, 25, seed=number)


@every_pair
@pytest.mark.parametrize("name", slow_after(1, ["leduc-poker", "othello", "backgammon"]))
def test_engine_and_twin_agree_in_whole_games(strategy: Enhancement, twin: naive.Leaf, name: str) -> None:
    agree(starts(games.load(name), 7), strategy, twin, 8 if name == "backgammon" else 25, seed=7)


@every_pair
@pytest.mark.parametrize("every", slow_after(1, [3, 1]))
def test_engine_and_twin_agree_in_every_scheme(strategy: Enhancement, twin: naive.Leaf, every: int, toys: Toys) -> None:
    """Every third toy, another third for the next scheme; or every one."""
    for i, scheme in enumerate(ONE_TREE):
        for number, game in toys[i % every :: every]:
            agree(starts(game, number), strategy, twin, 18, number, scheme)


@pytest.mark.parametrize("strategy", ALL, ids=str)
def test_a_game_without_a_heuristic_is_refused(strategy: Enhancement) -> None:
    with pytest.raises(ValueError, match=f"of {strategy} reads history.lookahead, but toy-branches.* has no heuristic"):
        search(attrs.evolve(toy.BRANCHES, heuristic=None).new_initial_state(), strategy, iterations=5)


def test_puct_starts_with_the_child_that_the_prior_prefers_where_it_is_asked_to() -> None:
    example = HistoryExample([Decision(0, (4, 5), lookahead={4: (0.2, 0.8), 5: (0.6, 0.4)})], players=2)
    first, second = example.values(PUCT, {})
    assert first == second == 0.5  # √0: drawn uniformly
    low, high = example.values(PUCT(least=1), {})
    assert 0.5 < low < high and parse(str(PUCT(least=1))) == PUCT(least=1) and str(PUCT()) == "puct(0.625, 0.1)"
