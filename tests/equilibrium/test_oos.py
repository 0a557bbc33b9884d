"""Online Outcome Sampling: exact expectations over all samples, targets, convergence, memory in a match, refusals."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from icarus import Agent, SearchInterrupted, games, play
from icarus.arena.player import parse_algorithm
from icarus.equilibrium import CFR, OOS, CFRPlus, NearEquilibrium, OOSSearch
from icarus.equilibrium.arrays import END_SET
from icarus.equilibrium.sampling import INSIDE, OUTSIDE, target_of
from icarus.equilibrium.tree import GameTree, tree_of
from icarus.kernel import CHANCE
from icarus.specs import BASELINE

IST, PST = "information set", "public subgame"
EPSILON, GAMMA = 0.4, 0.01


class Enumeration:
    """One traversal of OOS by the definition: over every path the probability of sampling it, in plain Python.

    σ comes from the regrets, uniform where a path has left the tree; targets are sets of ends.
    """

    def __init__(self, tree: GameTree, regrets: np.ndarray, in_memory: np.ndarray, player: int, delta: float) -> None:
        self.tree, self.regrets, self.in_memory, self.player, self.delta = tree, regrets, in_memory, player, delta
        self.nodes, self.sets = tree.nodes.tolist(), tree.sets.tolist()
        self.wanted: set[int] = set()

    def children(self, node: int) -> list[int]:
        number, first, _ = self.nodes[node]
        return [] if number == END_SET else list(range(first, first + self.sets[number][1]))

    def aim(self, begins: set[int]) -> None:
        """Z_sub: all that agrees with the histories in which the target begins. Filled with these, what precedes and what follows."""
        self.wanted = set()

        def below(node: int, inside: bool) -> bool:
            inside = inside or node in begins
            reached = [below(child, inside) for child in self.children(node)]
            if inside or any(reached):
                self.wanted.add(node)
            return node in self.wanted

        below(0, False)

    def sigma(self, node: int, in_tree: bool) -> np.ndarray:
        player, count, slot = self.sets[self.nodes[node][0]][:3]
        if player == CHANCE:
            return self.tree.slots["probability"][slot : slot + count]
        if not in_tree:
            return np.full(count, 1 / count)
        positive = np.maximum(self.regrets[slot : slot + count], 0)
        matched = positive / positive.sum() if positive.sum() > 0 else np.full(count, 1 / count)
        return GAMMA / count + (1 - GAMMA) * matched

    def phi(self, node: int) -> np.ndarray:
        sigma = self.sigma(node, True)
        if self.sets[self.nodes[node][0]][0] != self.player:
            return sigma
        return EPSILON / len(sigma) + (1 - EPSILON) * sigma

    def paths(self):
        """(indices of the actions, probability of sampling them) of every path from the deal to an end."""

        def walk(node, indices, first, second, outside):
            children = self.children(node)
            if not children:
                yield indices, self.delta * first + (1 - self.delta) * second
                return
            number = self.nodes[node][0]
            if outside:
                shares = (self.sigma(node, False),) * 2
            else:
                phi = self.phi(node)
                inside = np.array([child in self.wanted for child in children])
                narrowed = phi * inside
                shares = (narrowed / narrowed.sum() if inside.any() else narrowed), phi
            leaves = outside or (self.sets[number][0] != CHANCE and not self.in_memory[number])
            for k, child in enumerate(children):
                yield from walk(child, (*indices, k), first * shares[0][k], second * shares[1][k], leaves)

        return walk(0, (), 1.0, 1.0, False)

    def regrets_by_definition(self) -> np.ndarray:
        """Counterfactual regrets of the player, where σ is uniform on paths that have left the tree."""
        regrets = np.zeros(len(self.regrets))

        def value(node, others, outside):
            children, number = self.children(node), self.nodes[node][0]
            if not children:
                gain = self.tree.ends[self.nodes[node][1]]["utility"]
                return gain if self.player == 0 else -gain
            mover, count, slot = self.sets[number][:3]
            sigma = self.sigma(node, not outside)
            leaves = outside or (mover != CHANCE and not self.in_memory[number])
            worth = np.array(
                [
                    value(child, others * (1 if mover == self.player else sigma[k]), leaves)
                    for k, child in enumerate(children)
                ]
            )
            if mover == self.player and not outside:
                regrets[slot : slot + count] += others * (worth - sigma @ worth)
            return sigma @ worth

        value(0, 1.0, False)
        return regrets

    def averages_by_definition(self) -> np.ndarray:
        """What a traversal adds on average to the other's average policy: his reach and chance's, times σ."""
        sums = np.zeros(len(self.regrets))

        def walk(node, others):
            children, number = self.children(node), self.nodes[node][0]
            if not children:
                return
            mover, count, slot = self.sets[number][:3]
            sigma = self.sigma(node, True)
            if mover not in (self.player, CHANCE):
                sums[slot : slot + count] += others * sigma
            if mover == CHANCE or self.in_memory[number]:
                for k, child in enumerate(children):
                    walk(child, others * (1 if mover == self.player else sigma[k]))

        walk(0, 1.0)
        return sums


def learned(tree, number, scheme, all_known, seed):
    """A search aimed at an information set, with random regrets, and in memory all information sets or half of them."""
    draw = np.random.default_rng(seed)
    search = OOSSearch(tree, scheme)
    search.regrets[:] = draw.normal(size=len(search.regrets))
    search.sums[:] = draw.random(len(search.sums))
    search.in_memory[:] = 1 if all_known else draw.integers(2, size=len(search.in_memory))
    search.aim(number)
    return search


def expected(search, enumeration, player):
    """The mean over all samples of what the compiled traversal adds to the regrets and to the average."""
    regrets, sums, total = np.zeros(len(search.regrets)), np.zeros(len(search.sums)), 0.0
    before = search.memory()
    for indices, probability in enumeration.paths():
        if probability > 0:
            search.sample(player, indices)
            regrets += probability * (search.regrets - before[0])
            sums += probability * (search.sums - before[1])
            total += probability
            search.recall(before)
    assert total == pytest.approx(1, abs=1e-12)
    return regrets, sums


def begins(tree, number, target):
    """Where the target begins, by its definition."""
    if target == IST:
        return {node for node in range(len(tree.nodes)) if tree.nodes[node]["set"] == number}
    public = tree.nodes["public"]

    def sequence(node):
        return [int(tree.slots[slot]["action"]) for at, slot in tree.path_to(node) if public[at]]

    wanted = sequence(int(tree.sets[number]["node"]))
    return {node for node in range(len(tree.nodes)) if sequence(node) == wanted}


def deep_set(tree, player):
    """The information set of a player that most actions lead to."""
    numbers = [number for number in tree.decisions.tolist() if tree.sets[number]["player"] == player]
    return max(numbers, key=lambda number: len(tree.path_to(int(tree.sets[number]["node"]))))


by_target = pytest.mark.parametrize("target", [IST, PST])
SMALL = "generic-poker(ranks=2,copies=2,raises=1,sizes=1)"  # a public card in mid-game, in a tree small enough to try it all


@by_target
@pytest.mark.parametrize("delta", [0, 0.5, 0.9])
@pytest.mark.parametrize("all_known", [True, False])
@pytest.mark.parametrize("name", ["kuhn-poker", "goofspiel(cards=3)", SMALL])
def test_the_expected_regrets_of_a_traversal_are_the_counterfactual_regrets(name, target, delta, all_known):
    tree = tree_of(games.load(name))
    scheme = OOS(target=target, delta=delta)
    for player in range(2):
        number = deep_set(tree, 1 - player if name == SMALL else player)
        search = learned(tree, number, scheme, all_known, seed=player)
        enumeration = Enumeration(tree, search.regrets.copy(), search.in_memory.copy(), player, delta)
        enumeration.aim(begins(tree, number, target))
        regrets, sums = expected(search, enumeration, player)
        assert np.abs(regrets - enumeration.regrets_by_definition()).max() < 1e-12
        assert np.abs(sums - enumeration.averages_by_definition()).max() < 1e-12


@pytest.mark.parametrize(
    ("target", "all_known"),
    [(IST, False), (PST, True), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((IST, True), (PST, False)))],
)
def test_samples_are_drawn_as_their_weights_say(target, all_known):
    tree, samples = tree_of(games.load("kuhn-poker")), 20_000
    number = deep_set(tree, 0)
    search = learned(tree, number, OOS(target=target, delta=0.6), all_known, seed=1)
    enumeration = Enumeration(tree, search.regrets.copy(), search.in_memory.copy(), 0, 0.6)
    before = search.memory()
    drawn = np.zeros((samples, 2, len(tree.slots)))
    for i in range(samples):
        search.make(1)  # which updates the regrets of player 0, and the average of player 1, in its first traversal
        drawn[i] = search.regrets - before[0], search.sums - before[1]
        search.recall(before)
    owners = np.repeat(tree.sets["player"], tree.sets["count"])
    wanted = enumeration.regrets_by_definition(), enumeration.averages_by_definition()
    for sampled, exact, mine in zip(drawn.transpose(1, 0, 2), wanted, (owners == 0, owners == 1), strict=True):
        often = mine & ((sampled != 0).sum(0) > 500)
        deviations = (sampled.mean(0) - exact)[often] / (sampled.std(0)[often] / np.sqrt(samples))
        assert often.sum() >= 6 and np.abs(deviations).max() < 5


def test_targets_are_what_the_paper_says():
    tree = tree_of(games.load("liars-dice(faces=2)"))
    state = games.load("liars-dice(faces=2)").new_initial_state(seed=1)
    for action in state.legal_actions()[:2]:
        state.apply_action(action)
    number = tree.set_at(state)
    ends = tree.nodes["set"] == END_SET
    inside = {target: (target_of(tree, number, target) == INSIDE) & ends for target in (IST, PST)}
    # of four rolls of the dice, all agree with the bids, and the two in which he has his own roll with what he knows
    assert inside[PST].sum() == 2 * inside[IST].sum() and (inside[PST] | ~inside[IST]).all()
    goofspiel = tree_of(games.load("goofspiel(cards=3)"))
    assert not goofspiel.nodes["public"].any()
    last = deep_set(goofspiel, 1)
    assert (target_of(goofspiel, last, PST) == INSIDE).all()
    assert (target_of(goofspiel, last, IST) == OUTSIDE).any()


NEAR = {  # NashConv after so many iterations
    ("kuhn-poker", OOS(delta=0)): (100_000, 0.03),
    ("kuhn-poker", OOS(delta=0.6)): (300_000, 0.03),
    ("kuhn-poker", OOS(target=PST, delta=0.6)): (300_000, 0.03),
    ("leduc-poker", OOS(target=PST, delta=0.5)): (300_000, 1.0),
    ("goofspiel(cards=3)", OOS(delta=0.5)): (100_000, 0.06),
}


@pytest.mark.parametrize(("name", "scheme"), NEAR)
def test_the_average_policy_comes_near_an_equilibrium_and_nearer_with_more_iterations(name, scheme):
    most, near = NEAR[name, scheme]
    state = after_chance(games.load(name), 3)
    search, nash_convs = OOSSearch(state.game, scheme, seed=3), []
    for iterations in (most // 100, most // 10, most):
        search.run(state, iterations=iterations - search.iterations)
        nash_convs.append(search.exploitability().nash_conv)
    assert nash_convs[2] < nash_convs[1] < nash_convs[0] and nash_convs[2] < near


def test_aiming_at_an_information_set_alone_goes_wrong_where_the_public_subgame_does_not():
    """Non-locality, as in Figure 1: who never samples what else could have happened plays on as if all of it were as likely."""
    game = games.load("liars-dice(faces=3)")
    near, far = ({}, {})
    for target in (IST, PST):
        for delta, nash_convs in ((0.9, near), (1, far)):
            state = game.new_initial_state(seed=1)
            search = OOSSearch(game, OOS(target=target, delta=delta), seed=1)
            search.run(state, iterations=300_000)
            nash_convs[target] = search.exploitability().nash_conv
    assert far[PST] < 0.15 and near[IST] < 0.5
    assert far[IST] > 3 * far[PST] and far[IST] > near[IST]


def after_chance(game, seed):
    state = game.new_initial_state(seed=seed)
    while state.is_chance_node():
        state.apply_action(state.chance_outcomes()[0][0])
    return state


def test_the_seed_fixes_everything_and_memory_is_kept_in_a_match():
    state = games.load("leduc-poker").new_initial_state(seed=1)
    first, same, second = (OOSSearch(state.game, seed=seed) for seed in (7, 7, 8))
    first.run(state, iterations=500)
    for part in (1, 99, 400):
        same.run(state, iterations=part)
    second.run(state, iterations=500)
    assert (first.regrets != second.regrets).any()
    result = first.run(state, iterations=300, seed=4)
    assert first.iterations == 800 and result.iterations == 300 and result.visits.sum() > 0
    assert first.in_memory.sum() <= 1600
    again = OOSSearch(state.game, seed=7)
    again.run(state, iterations=500)
    assert again.run(state, iterations=300, seed=4).policy.tolist() == result.policy.tolist()


def test_settings_are_read_back_as_they_are_written():
    for scheme in (OOS(), OOS(target=PST, delta=0.5, regret_exploration=0)):
        assert parse_algorithm(str(scheme)) == scheme
    assert str(OOS()) == "OOS()" and parse_algorithm("OOS") == OOS()


# -------------------- Algorithms that keep the tree of a game have a search and a result of their own, and play where an agent does.


KUHN = games.load("kuhn-poker")
ALGORITHMS = [OOS(target="public subgame"), NearEquilibrium(epsilon=0.1)]
every = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)


@every
def test_one_decision_is_searched_with_an_empty_memory(algorithm):
    state = KUHN.new_initial_state(seed=4)
    result, again = (Agent(algorithm, iterations=200).search(state, 7) for _ in range(2))
    assert result.strategy == algorithm and result.actions == tuple(state.legal_actions())
    assert result.policy.sum() == pytest.approx(1) and (result.policy == again.policy).all()
    assert not any(array.flags.writeable for array in (result.policy, result.visits, result.values))
    text = str(result)
    result.state.apply_action(result.action)
    assert str(result) == text


@every
def test_an_agent_plays_by_it(algorithm):
    agent = Agent(algorithm, iterations=60)
    logs = [play(KUHN, [agent, Agent(BASELINE, iterations=60)], seed=3) for _ in range(2)]
    assert logs[0].actions == logs[1].actions
    assert str(agent) == f"{algorithm} (60 iterations)"


# -------------------- Ctrl-C during iterations: it ends them at once, and what was made until then is what as many iterations make.


NEVER = 10**12  # iterations that nobody waits for
SOON = 5.0  # seconds, on a machine with other work

BEGUN = {"CFR": lambda game: CFR(game), "CFR+": lambda game: CFRPlus(game), "OOS": lambda game: OOSSearch(game, seed=3)}


def pressed_after(seconds):
    """Ctrl-C in a while, from another thread."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("name", BEGUN)
def test_ctrl_c_ends_a_loop_and_loses_no_iteration(name):
    game = games.load("leduc-poker")
    solver, same = BEGUN[name](game), BEGUN[name](game)
    run = getattr(solver, "run" if name in ("CFR", "CFR+") else "make")
    run(1)  # compiled before Ctrl-C comes
    started, timer = time.perf_counter(), pressed_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        run(NEVER)
    assert time.perf_counter() - started < 0.1 + SOON
    timer.join()
    assert 1 < solver.iterations < NEVER
    again = getattr(same, run.__name__)
    again(1)
    again(solver.iterations - 1)
    assert (solver.sums == same.sums).all() and np.isfinite(solver.sums).all()
    run(10)  # and it goes on
    assert solver.iterations == same.iterations + 10


def test_an_interrupted_search_carries_what_it_found():
    state = games.load("leduc-poker").new_initial_state(seed=1)
    search = OOSSearch(state.game)
    search.run(state, iterations=1)
    timer = pressed_after(0.3)
    with pytest.raises(SearchInterrupted) as caught:
        search.run(state, iterations=NEVER)
    timer.join()
    result = caught.value.result
    assert result.iterations == search.iterations - 1 > 0 and result.policy.sum() == pytest.approx(1)
