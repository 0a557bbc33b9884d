"""Full stitching and the aggregate method: what they add up, what they pass on, and what they find."""

import numpy as np
import pytest

from icarus import Agent, exploitability, games
from icarus.equilibrium import OOS, stitch, tabulate
from icarus.equilibrium.policies import own_predecessors
from icarus.equilibrium.tree import tree_of
from icarus.equilibrium.walk import NOTHING
from icarus.specs import BASELINE, MAST

KUHN, LEDUC = games.load("kuhn-poker"), games.load("leduc-poker")


def test_who_moved_before_is_told_by_the_moves_that_a_player_has_seen():
    tree = tree_of(LEDUC)
    states = dict(zip(tree.decisions.tolist(), tree.information_states(), strict=True))
    before = own_predecessors(tree)
    for number, (player, observation, moves) in states.items():
        earlier = [
            candidate
            for candidate, (his, card, his_moves) in states.items()
            if (his, card) == (player, observation)
            and len(his_moves) < len(moves)
            and moves[: len(his_moves)] == his_moves
        ]
        longest = max(earlier, key=lambda candidate: len(states[candidate][2]), default=NOTHING)
        assert before[number] == longest


def test_stitching_agents_without_memory_is_a_search_in_each_information_set():
    agent = Agent(BASELINE >> MAST, iterations=30)
    assert (
        stitch(KUHN, agent, seed=4).probabilities == tabulate(tree_of(KUHN), agent, 4).probabilities
    ).all()


@pytest.mark.parametrize("target", ["information set", "public subgame"])
def test_stitching_passes_memory_on_from_ancestors_alone(target):
    """Every information set is found as by a player who comes to it in a match."""
    tree, agent = tree_of(LEDUC), Agent(OOS(target=target), iterations=50)
    policy, before = stitch(tree, agent, seed=9), own_predecessors(tree)
    for number in tree.decisions.tolist()[::12]:
        way = [number]
        while before[way[0]] != NOTHING:
            way.insert(0, int(before[way[0]]))
        seated = agent.seated(LEDUC)
        for each in way:
            result = seated.search(tree.state_of(each), (9, each))
        assert result.policy.tolist() == policy.at(number).tolist()


def test_the_more_iterations_the_less_exploitable_is_online_outcome_sampling_stitched():
    def nash_conv(iterations, seed):
        return exploitability(
            KUHN, stitch(KUHN, Agent(OOS(delta=0.5), iterations=iterations), seed=seed)
        ).nash_conv

    nash_convs = [
        np.mean([nash_conv(n, seed) for seed in range(1, 4)]) for n in (100, 3000, 40_000)
    ]
    assert nash_convs[0] > nash_convs[1] > nash_convs[2]
    assert nash_convs[2] < 0.05
