"""The papers' ISMCTS, an example of an algorithm of one's own: near what its first implementation measured, ten seeds."""

import statistics

import pytest

from icarus import Agent, exploitability, games
from icarus.arena.player import parse_algorithm
from icarus.load_files import load_file
from tests.conftest import ROOT

KUHN = games.load("kuhn-poker")
EXAMPLE = ROOT / "examples" / "ismcts_2015.py"


@pytest.mark.parametrize(
    "text, half",
    [
        ("ISMCTS()", (0.11, 0.14)),
        ("ISMCTS(selection='regret matching')", (0.10, 0.22)),
        ("ISMCTS(selection='EXP3')", (0.18, 0.23)),
    ],
)
def test_bandits_from_the_deal_are_as_exploitable_as_their_first_implementation(text, half):
    load_file(EXAMPLE)
    assert str(parse_algorithm(text)) == text
    distances = []
    for seed in range(10):
        search = parse_algorithm(text).begin(KUHN, seed)
        search.make(1000)
        distances.append(exploitability(KUHN, search.average).nash_conv / 2)
    assert half[0] < statistics.fmean(distances) < half[1]


def test_weights_change_no_policy_but_that_of_the_next_search():
    load_file(EXAMPLE)
    state = KUHN.new_initial_state(seed=1)
    seated = Agent(parse_algorithm("WeightedOOS(delta=0.5)"), iterations=100).seated(KUHN)
    seated.search(state, 0)
    before = seated.policy_at(state)
    seated.aim(state)
    assert seated.policy_at(state) == pytest.approx(before)
    assert seated.scale > 1
