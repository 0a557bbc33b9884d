"""Table II of Cowling, Powley and Whitehouse (2012): leading plays counted by hand, and the published means."""

import numpy as np
import pytest

from experiments.studies.branching import MEASURES, PUBLISHED, Buffers, measure_deal, measure_deals, measurements
from icarus.compiler.rng import seeded
from icarus.games.dou_di_zhu import DOU_DI_ZHU, RANK_NAMES, hand_of


def deal(*hands):
    """A state in which the landlord, who leads, and the peasants hold these cards."""
    state = np.zeros(1, DOU_DI_ZHU.state)
    for seat, cards in enumerate(hands):
        state["hands"][0, seat] = hand_of([RANK_NAMES.index(card) for card in cards])
    return state[0]


@pytest.mark.parametrize(
    "cards, plays",
    [
        ("4", ["4"]),
        ("3334", ["3", "4", "33", "333", "333+4"]),
        ("BR33", ["3", "B", "R", "33", "BR"]),
        ("33344", ["3", "4", "33", "44", "333", "333+4", "333+44"]),
        ("34567", ["3", "4", "5", "6", "7", "34567"]),
        (
            "3333456",
            ["3", "4", "5", "6", "33", "333", "3333", "333+4", "333+5", "333+6", "3333+4+5", "3333+4+6", "3333+5+6"],
        ),
    ],
)
def test_leading_plays_count_each_choice_of_kickers(cards, plays):
    assert measure_deal(deal("T", cards, "J"), seeded(0), Buffers())[0] == len(plays) + 1


def test_unique_plays_are_counted_for_each_peasant_and_added():
    """Each peasant has the three or the four: one play each in any deal, two each that some determinization offers."""
    assert measure_deal(deal("T", "3", "4"), seeded(1), Buffers()).tolist() == [2, 2, 4, 4, 4]


def test_the_landlords_own_cards_and_the_cards_played_are_in_no_determinization():
    assert measure_deal(deal("34567", "3", "3"), seeded(1), Buffers()).tolist() == [2, 2, 2, 2, 2]


def test_random_deals_branch_as_published_within_five_percent():
    results = measurements(measure_deals(400, seed=2012))
    assert [each.published for each in results] == [87.7, 87.8, 754, 1230, 1500]
    for each in results:
        assert 0.95 < each.ratio < 1.05
        assert each.mean.low < each.mean.value < each.mean.high


def test_the_interval_is_students():
    """Of 1, 2, 3: mean 2, standard error 1/√3, and 4.3027 of these to either side."""
    results = measurements(np.array([[1.0], [2.0], [3.0]]).repeat(len(MEASURES), axis=1))
    assert (results[0].mean.low, results[0].mean.high) == pytest.approx(
        (2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4
    )
    assert results[0].ratio == pytest.approx(2 / PUBLISHED[0])


def test_the_same_seed_gives_the_same_deals_and_another_others():
    first, same, second = (measure_deals(4, seed) for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first[:, 0] != second[:, 0]).any()
