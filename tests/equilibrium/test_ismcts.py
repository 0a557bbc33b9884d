"""ISMCTS over a whole game tree: the same searches by plain Python, the engine's where information sets are the same, and play."""

import math

import numpy as np
import pytest

from experiments.studies.ismcts_2015 import EXP3, ISMCTS, REGRET_MATCHING, SELECTIONS, UCB1, ISMCTSSearch
from icarus import Agent, games, play
from icarus.compiler.rng import seeded, uniform
from icarus.equilibrium import OOS, NearEquilibrium, exploitability, parse_algorithm
from icarus.equilibrium.deals import deals_of, information_state
from icarus.equilibrium.tree import tree_of
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.state import State
from icarus.specs import BASELINE
from tests.marks import slow_after


class Twin:
    """ISMCTS by the definition, over states and dictionaries; it draws numbers in the same order as the compiled one."""

    def __init__(self, game, scheme, seed):
        self.game, self.rng, self.arms = game, seeded(seed), {}
        self.selection = scheme.selection
        default = {UCB1: 1.0, REGRET_MATCHING: 0.2, EXP3: None}[scheme.selection]
        self.exploration = default if scheme.exploration is None else scheme.exploration

    def draw(self, probabilities):
        point = uniform(self.rng)
        for k, probability in enumerate(probabilities[:-1]):
            point -= probability
            if point < 0:
                return k
        return len(probabilities) - 1

    def evenly(self, count):
        return int(uniform(self.rng) * count)

    def by_ucb1(self, arms):
        total = sum(arm["n"] for arm in arms)
        values = [
            math.inf
            if arm["n"] == 0
            else arm["q"] / arm["n"] + self.exploration * math.sqrt(math.log(total) / arm["n"])
            for arm in arms
        ]
        equal = [k for k, value in enumerate(values) if value == max(values)]
        # one draw for each new equal value met on the way, as a reservoir takes them
        best, chosen, met = -math.inf, 0, 0
        for k, value in enumerate(values):
            if value > best:
                best, chosen, met = value, k, 1
            elif value == best:
                met += 1
                if uniform(self.rng) * met < 1:
                    chosen = k
        assert chosen in equal
        return chosen

    def mixture(self, arms):
        """(the policy without exploration, γ)"""
        q = np.array([arm["q"] for arm in arms])
        if self.selection == REGRET_MATCHING:
            positive = np.maximum(q, 0)
            total = positive.sum()
            return (positive / total if total > 0 else np.full(len(q), 1 / len(q))), self.exploration
        n, count = sum(arm["n"] for arm in arms), len(arms)
        gamma = 1.0 if n == 0 else min(1.0, math.sqrt(count * math.log(count) / ((math.e - 1) * n)))
        weights = np.exp((q - q.max()) * gamma / count)
        return weights / weights.sum(), gamma

    def choose(self, arms, new):
        """(index, probability) of an action, with the average policy updated."""
        count = len(arms)
        if new:
            chosen, chance = self.evenly(count), 1 / count
            mixture = np.full(count, 1 / count)
        elif self.selection == UCB1:
            chosen, chance = self.by_ucb1(arms), 1.0
        else:
            mixture, gamma = self.mixture(arms)
            chosen = self.evenly(count) if uniform(self.rng) < gamma else self.draw(mixture)
            chance = gamma / count + (1 - gamma) * mixture[chosen]
        shares = np.eye(count)[chosen] if self.selection == UCB1 else mixture
        for arm, share in zip(arms, shares, strict=True):
            arm["w"] += share
        return chosen, chance

    def iterate(self, start):
        state, path, new = start(), [], False
        while (player := state.current_player()) != TERMINAL:
            legal = state.legal_actions()
            if player == CHANCE:
                k = self.draw([probability for _, probability in state.chance_outcomes()])
            elif new:
                k = self.evenly(len(legal))
            else:
                key = information_state(state)
                new = key not in self.arms
                arms = self.arms.setdefault(key, [dict.fromkeys("qnw", 0.0) for _ in legal])
                k, chance = self.choose(arms, new)
                path.append((arms, k, chance, player))
            state.apply_action(legal[k])
        low, high = self.game.utilities
        gain = low + (high - low) * state.returns()[0]
        first = (gain - low) / (high - low)  # rounded as the tree's gains are: ties of UCB1 hang on it
        for arms, k, chance, player in path:
            reward = first if player == 0 else 1 - first
            arms[k]["n"] += 1
            arms[k]["q"] += reward if self.selection == UCB1 else reward / chance
            if self.selection == REGRET_MATCHING:
                for arm in arms:
                    arm["q"] -= reward

    def from_the_deal(self):
        deals = deals_of(self.game)
        k = self.draw(deals.probabilities.tolist())
        return State(self.game, deals.states[k : k + 1].copy())


def compare(search, twin):
    tree = search.tree
    for key, number in zip(tree.information_states(), tree.decisions.tolist(), strict=True):
        assert (key in twin.arms) == bool(search.in_memory[number])
        if key in twin.arms:
            arms = search.arms[search.tree.slots_of(number)]
            for name, short in (("score", "q"), ("trials", "n"), ("weight", "w")):
                assert arms[name] == pytest.approx([arm[short] for arm in twin.arms[key]], abs=1e-9)


every_bandit = pytest.mark.parametrize("selection", SELECTIONS)


@every_bandit
@pytest.mark.parametrize(
    "name",
    slow_after(2, ["kuhn-poker", "goofspiel(cards=3)", "goofspiel(cards=4)", "leduc-poker", "liars-dice(faces=3)"]),
)
def test_a_search_from_the_deal_learns_what_plain_python_does(name, selection):
    game, scheme = games.load(name), ISMCTS(selection=selection)
    search, twin = ISMCTSSearch(game, scheme, seed=5), Twin(game, scheme, 5)
    search.make(200)
    for _ in range(200):
        twin.iterate(twin.from_the_deal)
    assert search.iterations == 200
    compare(search, twin)


@every_bandit
def test_a_search_for_an_information_set_begins_with_its_histories_as_chance_makes_them(selection):
    game, scheme = games.load("leduc-poker"), ISMCTS(selection=selection)
    tree, twin, search = tree_of(game), Twin(game, scheme, 3), ISMCTSSearch(game, scheme)
    number = max(tree.decisions.tolist(), key=lambda number: len(tree.path_to(int(tree.sets[number]["node"]))))
    histories = np.flatnonzero(tree.nodes["set"] == number).tolist()
    assert len(histories) > 1
    shares = []
    for node in histories:
        slots = [slot for _, slot in tree.path_to(node)]
        odds = [p for p in tree.slots["probability"][slots].tolist() if p > 0]
        shares.append(math.prod(odds))
    upto = np.cumsum(shares) / sum(shares)

    def start():
        node = histories[min(int(np.searchsorted(upto, uniform(twin.rng), side="right")), len(histories) - 1)]
        actions = [int(tree.slots[slot]["action"]) for _, slot in tree.path_to(node)]
        state = State(game, tree.deals.states[actions[0] : actions[0] + 1].copy())
        for action in actions[1:]:
            state.apply_action(action)
        return state

    result = search.run(tree.state_of(number), iterations=500, seed=3)
    for _ in range(500):
        twin.iterate(start)
    compare(search, twin)
    assert result.visits.sum() == 500 and result.policy == pytest.approx(search.policy_in(number))
    assert result.iterations == 500 and search.in_memory.sum() == len(twin.arms)


def test_where_nothing_is_dealt_it_visits_nearly_what_the_engines_search_does():
    """In Goofspiel the nodes of MO-ISMCTS are information sets. It leaves the tree with the first action not tried before, here with
    the first information set: a little more is tried there."""
    game, seeds = games.load("goofspiel(cards=3)"), 100
    state = game.new_initial_state()
    ours = [ISMCTSSearch(game, ISMCTS()).run(state, iterations=500, seed=seed).policy for seed in range(seeds)]
    agent = Agent(BASELINE(1.0), iterations=500)
    theirs = [agent.search(state, seed).policy for seed in range(seeds)]
    assert np.mean(ours, 0) == pytest.approx(np.mean(theirs, 0), abs=0.025)


def test_with_time_ucb1_turns_away_from_equilibrium_where_regret_matching_does_not():
    """AAMAS 2015, Figure 3, in a smaller Goofspiel."""
    nash_convs = {}
    for selection in (UCB1, REGRET_MATCHING):
        search = ISMCTSSearch(games.load("goofspiel(cards=4)"), ISMCTS(selection=selection), seed=1)
        for iterations in (10_000, 100_000, 1_000_000):
            search.make(iterations - search.iterations)
            nash_convs.setdefault(selection, []).append(search.exploitability().nash_conv)
    assert nash_convs[UCB1][-1] > 1.2 * min(nash_convs[UCB1])
    assert sorted(nash_convs[REGRET_MATCHING], reverse=True) == nash_convs[REGRET_MATCHING]
    assert nash_convs[REGRET_MATCHING][-1] < nash_convs[UCB1][-1] / 2


def test_the_tree_is_kept_in_a_match_and_not_between_matches():
    game = games.load("leduc-poker")
    player = Agent(ISMCTS(), iterations=100)
    seated, state = player.seated(game), games.load("leduc-poker").new_initial_state(seed=1)
    seated.search(state, 1)
    assert seated.search(state, 2).iterations == 100 and seated.memory.iterations == 200
    log = play(game, [player, Agent(OOS(), iterations=100)], seed=3)
    assert log.agents == ("ISMCTS() (100 iterations)", "OOS() (100 iterations)")
    assert log.actions == play(game, [player, Agent(OOS(), iterations=100)], seed=3).actions


def test_values_are_mean_rewards_where_ucb1_estimates_them():
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    result = ISMCTSSearch(state.game).run(state, iterations=1000)
    assert ((result.values >= 0) & (result.values <= 1)).all()
    exp3_result = ISMCTSSearch(state.game, ISMCTS(selection=EXP3)).run(state, iterations=10)
    assert np.isnan(exp3_result.values).all()


def test_a_player_near_an_equilibrium_draws_from_one():
    game, algorithm = games.load("kuhn-poker"), NearEquilibrium(epsilon=0.01)
    player = Agent(algorithm, iterations=1)
    assert exploitability(game, player).nash_conv <= 0.01
    assert parse_algorithm(str(algorithm)) == algorithm and str(NearEquilibrium()) == "NearEquilibrium()"
    state = game.new_initial_state(seed=2)
    drawn = [player.search(state, seed).action for seed in range(400)]
    assert np.mean(drawn) == pytest.approx(player.search(state, 0).policy[1], abs=0.1)
    rewards = [play(game, [player, Agent(OOS(), iterations=10)], seed=seed).returns[0] for seed in range(5)]
    assert len(rewards) == 5
    with pytest.raises(ValueError, match="epsilon is 0"):
        NearEquilibrium(0)
