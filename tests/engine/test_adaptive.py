"""Adaptive mixtures: engine against naive twin, algebra, printing and parsing, and that they find out what is better."""

import random
import zlib
from typing import Any

import pytest

from icarus import BASELINE, LGRF, MAST, NAST2, RAVE, Agent, Enhancement, adaptive, games, gibbs, linear, parse, search
from icarus.algebra import ucb1
from icarus.specs import NAST
from tests import naive, naive_catalogue
from tests.conftest import Toys
from tests.engine.test_twin import agree, starts
from tests.marks import slow_after

assert naive_catalogue.Bandit  # which tells the twin what a bandit is


def twin_of(strategy: Enhancement, parts: list[Any], c: float = 0.7) -> naive.Adaptive:
    return naive.Adaptive(parts, zlib.crc32(str(strategy).encode()), c)


MEMBERS = adaptive(MAST, NAST2, BASELINE)
FEW = adaptive(LGRF, NAST(3), exploration=0.1)
CASES = [
    (
        BASELINE >> MEMBERS,
        naive.Sequential(naive.baseline(), twin_of(MEMBERS, [naive.mast(), naive.nast(2), naive.baseline()])),
    ),
    (
        linear((0.25, FEW), (0.75, MAST(ucb1(0.7)))),
        naive.Linear([(0.25, twin_of(FEW, [naive.lgrf(), naive.nast(3)], 0.1)), (0.75, naive.mast(naive.ucb1()))]),
    ),
]
TREES = adaptive(RAVE >> MAST, BASELINE >> NAST2)
CASES.append(
    (
        TREES,
        twin_of(
            TREES, [naive.Sequential(naive.rave(), naive.mast()), naive.Sequential(naive.baseline(), naive.nast(2))]
        ),
    )
)


@pytest.mark.parametrize("number", slow_after(1, range(len(CASES))))
def test_engine_and_twin_hold_the_same_records(number: int, toys: Toys) -> None:
    strategy, twin = CASES[number]
    for _, game in toys:
        agree(starts(game, number), strategy, twin, 60, seed=number)
    agree(starts(games.load("knockout-whist(players=3)"), number), strategy, twin, 25, seed=number)


@pytest.mark.parametrize(
    "strategy", [strategy for strategy, _ in CASES] + [MEMBERS & RAVE, (MEMBERS + RAVE) / 2], ids=str
)
def test_it_prints_and_reads_back(strategy: Enhancement) -> None:
    assert parse(str(strategy)) == strategy and hash(parse(str(strategy))) == hash(strategy)
    assert "bandit of" in strategy.specification()


def test_two_bandits_of_one_strategy_keep_records_of_their_own() -> None:
    strategy = adaptive(BASELINE, RAVE) >> adaptive(MAST, BASELINE)
    result = search(games.load("phantom-mnk").new_initial_state(0), strategy, iterations=50, seed=0)
    bandits = [part for part in strategy.components if str(part).startswith("bandit")]
    assert len(bandits) == 2
    for bandit in bandits:
        assert sum(result.records[str(bandit)].rows["visits"]) == 50 * 2


def test_it_comes_to_prefer_what_wins() -> None:
    """Othello: simulations by MAST with a low temperature are worth other rewards than uniform ones; the visits follow the rewards."""
    rng, state = random.Random(1), games.load("othello").new_initial_state(0)
    for _ in range(20):
        state.apply_action(rng.choice(state.legal_actions()))
    strategy = BASELINE >> adaptive(MAST(gibbs(0.05)), BASELINE, exploration=0.1)
    rows = search(state, strategy, iterations=2000, seed=0).records[str(strategy.components[-1])].rows
    for player in range(2):
        keys = [search_key(strategy, member, player) for member in range(2)]
        (first,), (second,) = (rows[rows["record"] == key] for key in keys)
        means = [row["reward"] / row["visits"] for row in (first, second)]
        assert (first["visits"] > second["visits"]) == (means[0] > means[1])


def search_key(strategy: Enhancement, member: int, player: int) -> int:
    from_parts = strategy.components[-1]
    _, group, _ = from_parts.capture.values()
    return from_parts.records.key(games.load("othello"), (group, member, player))


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ((MAST,), "2 to 64"),
        ((MAST, MAST), "twice"),
        ((MAST, 3), "is not an enhancement"),
        ((MAST, MAST + NAST2), "sum to 2"),
    ],
)
def test_what_makes_no_mixture_is_refused(members: tuple, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        adaptive(*members)


def test_it_has_no_values_to_add_up_and_plays_games() -> None:
    with pytest.raises(ValueError, match="an adaptive mixture"):
        (MEMBERS ^ RAVE) / 2
    assert Agent(BASELINE >> MEMBERS, iterations=10)
