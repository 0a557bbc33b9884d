"""Full stitching and the aggregate method: what they add up, what they pass on, and what they find."""

import attrs
import numpy as np
import pytest

from icarus import Agent, exploitability, games
from icarus.equilibrium import OOS, Aggregate, stitch, tabulate
from icarus.equilibrium.arrays import NOTHING
from icarus.equilibrium.measures import own_predecessors
from icarus.equilibrium.tree import tree_of
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
    assert (stitch(KUHN, agent, seed=4).probabilities == tabulate(tree_of(KUHN), agent, 4).probabilities).all()


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
    nash_convs = [
        np.mean(
            [
                exploitability(KUHN, stitch(KUHN, Agent(OOS(delta=0.5), iterations=n), seed=s)).nash_conv
                for s in range(3)
            ]
        )
        for n in (100, 3000, 100_000)
    ]
    assert nash_convs[0] > nash_convs[1] > nash_convs[2] and nash_convs[2] < 0.05


def test_the_aggregate_method_adds_up_what_the_searches_of_matches_find():
    agent = Agent(OOS(delta=0.5), iterations=10_000)
    aggregate = Aggregate(KUHN, agent, seed=2)
    aggregate.play(3)
    early = aggregate.exploitability().nash_conv
    aggregate.play(60)
    through = Aggregate(KUHN, agent, seed=2)
    through.play(63)
    assert aggregate.matches == 63 and (aggregate.weights == through.weights).all()
    assert aggregate.exploitability().nash_conv < min(early, 0.06)


def test_of_agents_without_memory_visits_are_added_up():
    aggregate = Aggregate(KUHN, Agent(BASELINE, iterations=100), seed=3)
    aggregate.play(40)
    assert aggregate.weights.sum() % 100 == 0 and aggregate.exploitability().nash_conv < 1


class Watched:
    """A player in a match, with what he knew after each of his searches."""

    def __init__(self, seated):
        self.seated, self.memory, self.seen = seated, seated.memory, []

    def search(self, state, seed):
        result = self.seated.search(state, seed)
        self.seen.append((self.memory.tree.set_at(state), self.memory.sums.copy(), self.memory.updates.copy()))
        return result


def test_each_search_adds_all_that_is_known_of_its_information_set_and_those_that_follow(monkeypatch):
    agent = Agent(OOS(delta=0.5), iterations=200)
    matches, seated = [], Agent.seated
    monkeypatch.setattr(Agent, "seated", lambda self, game: matches.append(Watched(seated(self, game))) or matches[-1])
    aggregate = Aggregate(tree_of(LEDUC), agent, seed=5)
    aggregate.play(3)
    tree, expected = aggregate.tree, np.zeros(len(aggregate.tree.slots))
    states = dict(zip(tree.decisions.tolist(), tree.information_states(), strict=True))
    for number, sums, updates in (search for match in matches for search in match.seen):
        player, card, moves = states[number]
        for descendant, (his, dealt, his_moves) in states.items():
            if (his, dealt, his_moves[: len(moves)]) == (player, card, moves) and updates[descendant] >= 20:
                info_set = tree.sets[descendant]
                slots = slice(info_set["slot"], info_set["slot"] + info_set["count"])
                expected[slots] += sums[slots]
    assert [{states[number][0] for number, _, _ in match.seen} for match in matches] == [{0}, {1}] * 3
    assert aggregate.searches == sum(len(match.seen) for match in matches)
    assert (expected > 0).any() and aggregate.weights == pytest.approx(expected, rel=1e-12)


def test_what_was_hardly_sampled_is_left_out():
    aggregate = Aggregate(LEDUC, Agent(OOS(), iterations=5), seed=3)
    aggregate.play(1)
    assert aggregate.searches > 0 and not aggregate.weights.any()


def test_the_search_plays_what_it_finds():
    """Who always bets never comes to an information set of his where he has checked before."""

    class Bettor:
        def seated(self, game):
            return self

        def search(self, state, seed):
            count = len(state.legal_actions())
            policy = np.eye(count)[-1]
            return attrs.make_class("Found", ["policy", "visits"])(policy, 100 * policy)

    aggregate = Aggregate(KUHN, Bettor())
    aggregate.play(40)
    reached = {
        (state[0], state[2])
        for number, state in zip(aggregate.tree.decisions, aggregate.tree.information_states(), strict=True)
        if aggregate.policy.at(int(number)).tolist() == [0.0, 1.0]
    }
    assert reached == {(0, ()), (1, ((False, 0),)), (1, ((False, 1),))}
