"""Online Outcome Sampling: exact expectations over all samples, targets, convergence, memory in a match, refusals."""

import functools
import itertools
import os
import signal
import threading
import time

import attrs
import numpy as np
import pytest

from icarus import Agent, PythonGame, SearchInterrupted, games, in_python, play
from icarus.arena.player import parse_algorithm
from icarus.compiler import array_kernel
from icarus.compiler.functions import Helper
from icarus.equilibrium import CFR, OOS, CFRPlus, NearEquilibrium, OOSSearch, sampling
from icarus.equilibrium.deals import deal_observation, deals_of, dealt_state
from icarus.equilibrium.sampling import DEAD, Store, traverse
from icarus.equilibrium.walk import Walk
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, mix
from icarus.specs import BASELINE

IST, PST = "information set", "public subgame"
EPSILON, GAMMA = 0.4, 0.01
ROOM = 1 << 10  # information sets in a store


KUHN = games.load("kuhn-poker")

# Chance draws a card, which player 0 alone sees; then each makes an action that both see.
DRAWING = PythonGame(
    name="drawing",
    players=2,
    initial=lambda rng: [],
    player=lambda state: (CHANCE, 0, 1, TERMINAL)[len(state)],
    legal=lambda state: [0, 1] if state else [0, 1, 2],
    apply=lambda state, action: state.append(action),
    rewards=lambda state: [float(state[0] % 2 == state[2]), float(state[0] % 2 != state[2])],
    observe=lambda state, action: [action, action if state else UNSEEN],
    determinize=lambda state, observer, beliefs, rng: list(state),
    max_length=3,
)


def load(name):
    return DRAWING if name == DRAWING.name else games.load(name)


class History:
    """A history of a game in plain Python, and all that follow."""

    def __init__(self, state, probabilities, children, views, public, key):
        self.state, self.probabilities, self.children = state, probabilities, children
        # what each player has seen, what all have, its hash
        self.views = views
        self.public = public
        self.key = key
        self.mover = CHANCE if state is None else state.current_player()
        self.set = self.views[self.mover] if children and self.mover != CHANCE else None

    def everything(self):
        """This history and all after it."""
        yield self
        for child in self.children:
            yield from child.everything()


@functools.cache
def histories(name):
    """The history before the deal."""
    game = load(name)
    deals = deals_of(game)
    states = [dealt_state(game, deals, k) for k in range(len(deals))]
    dealt = [
        grown(s, [((p, deal_observation(s, p)),) for p in range(2)], (), k)
        for k, s in enumerate(states)
    ]
    return History(None, deals.probabilities, dealt, None, None, None)


def grown(state, views, public, key):
    """The tree of histories from a state on, before which each player has seen his view, and everyone `public`."""
    children, mover = [], state.current_player()
    for action in state.legal_actions():
        moves = state.observed(action)
        # of the players: one move is everyone's; else the environment's comes after theirs
        seen = moves * 2 if len(moves) == 1 else moves[:2]
        child = state.clone()
        child.apply_action(action)
        later = [
            (*view, (True, action)) if player == mover else view
            for player, view in enumerate(views)
        ]
        for player, move in enumerate(seen):
            if move != UNSEEN and (player != mover or move != action):
                later[player] = *later[player], (False, move)
        public_after = (*public, action) if seen == [action, action] else public
        children.append(grown(child, tuple(later), public_after, mix(key, action)))
    outcomes = (
        [probability for _, probability in state.chance_outcomes()] if mover == CHANCE else None
    )
    return History(state, outcomes, children, views, public, key)


class Enumeration:
    """One traversal of OOS by the definition: over every path the probability of sampling it, in plain Python.

    σ comes from the regrets, uniform where a path has left the tree; targets are sets of histories.

    Args:
        regrets: of the information sets in memory, by what their player has seen.
    """

    def __init__(self, root, regrets, player, delta):
        self.root, self.regrets, self.player, self.delta = root, regrets, player, delta

    def aim(self, goal, target, dead):
        """At what agrees with a history so far: its observer's view of it, or what all have seen; not by keys of dead histories."""
        seen = (
            (lambda history: history.public)
            if target == PST
            else lambda history: history.views[goal.mover]
        )
        aim, owner = seen(goal), None if target == PST else goal.mover
        after = [history for history in self.root.everything() if history is not self.root]
        agreeing = [history for history in after if seen(history) == aim[: len(seen(history))]]
        self.fits = {
            id(h) for h in agreeing if h in self.root.children or dead[h.key & (DEAD - 1)] != h.key
        }
        self.begins = {id(h) for h in agreeing if seen(h) == aim and owner in (None, h.mover)}

    def sigma(self, history, in_tree):
        count = len(history.children)
        if history.mover == CHANCE:
            return np.array(history.probabilities)
        if not in_tree or history.set not in self.regrets:
            return np.full(count, 1 / count)
        positive = np.maximum(self.regrets[history.set], 0)
        matched = positive / positive.sum() if positive.sum() > 0 else np.full(count, 1 / count)
        return GAMMA / count + (1 - GAMMA) * matched

    def leaves(self, history):
        return history.mover != CHANCE and history.set not in self.regrets

    def paths(self):
        """(indices of the actions, probability of sampling them) of every path from the deal to an end."""

        def walk(history, indices, first, second, aims, outside):
            if not history.children:
                yield indices, self.delta * first + (1 - self.delta) * second
                return
            sigma = self.sigma(history, not outside)
            even = EPSILON * (history.mover == self.player and not outside)
            phi = even / len(sigma) + (1 - even) * sigma
            inside = np.array([id(child) in self.fits for child in history.children])
            aims = aims and not outside and id(history) not in self.begins and inside.any()
            narrowed = phi * inside if (phi * inside).any() else inside
            shares = narrowed / narrowed.sum() if aims else phi
            for k, child in enumerate(history.children):
                after = (
                    *(first * shares[k], second * phi[k]),
                    aims and inside[k],
                    outside or self.leaves(history),
                )
                yield from walk(child, (*indices, k), *after)

        return walk(self.root, (), 1.0, 1.0, True, False)

    def by_definition(self):
        """Counterfactual regrets of the player, where σ is uniform on paths that have left the tree, and what a traversal adds on average
        to the other's average policy: his reach and chance's, times σ. By information set."""
        regrets, sums = {}, {}

        def value(history, others, outside):
            if not history.children:
                low, high = history.state.game.utilities
                return low + (high - low) * history.state.returns()[self.player]
            mine, sigma = history.mover == self.player, self.sigma(history, not outside)
            below = [
                value(child, others * (1 if mine else probability), outside or self.leaves(history))
                for child, probability in zip(history.children, sigma, strict=True)
            ]
            if mine and not outside:
                regrets[history.set] = regrets.get(history.set, 0) + others * (
                    below - sigma @ below
                )
            elif history.mover != CHANCE and not outside:
                sums[history.set] = sums.get(history.set, 0) + others * sigma
            return sigma @ below

        value(self.root, 1.0, False)
        return regrets, sums


def key_of(view):
    (player, observation), *moves = view
    return functools.reduce(
        lambda key, move: mix(key, 2 * move[1] + move[0]), moves, mix(player + 1, 2 * observation)
    )


def information_sets(root):
    """The number of actions in each."""
    return {history.set: len(history.children) for history in root.everything() if history.set}


class Learned:
    """A search aimed at a history, with random regrets, and in memory all information sets or half of them.

    Attributes:
        in_memory: their regrets.
        sets: all, with the numbers of their actions; those in memory first.
        places: of their actions among all, by key.
    """

    def __init__(self, name, goal, scheme, all_known, seed):
        draw, self.search = np.random.default_rng(seed), OOSSearch(load(name), scheme)
        self.search.aim(goal.state)
        self.search.make(30)  # which finds some dead histories
        sets = information_sets(histories(name)).items()
        known = [(view, count) for view, count in sets if all_known or draw.integers(2)]
        self.sets, end = [*known, *(each for each in sets if each not in known)], 0
        self.places, keys, first = {}, *np.zeros((2, ROOM), np.int64)
        for number, (view, count) in enumerate(self.sets):
            key, end = key_of(view), end + count
            self.places[key] = slice(end - count, end)
            if number < len(known):
                place = next(
                    i % ROOM for i in itertools.count(key & (ROOM - 1)) if keys[i % ROOM] == 0
                )
                keys[place], first[place], used = key, end - count, end
        self.width = end
        slots = [
            np.concatenate([draw.normal(size=used) ** power, np.zeros(ROOM)]) for power in (1, 2)
        ]
        self.before = Store(keys, first, *slots, np.array([len(known), used]))
        self.in_memory = {view: slots[0][self.places[key_of(view)]] for view, _ in known}
        self.forget()

    def forget(self):
        """Learn anew from before; the samples go on."""
        self.search.recall((*self.search.memory()[:2], *self.before))

    def gained(self):
        """What the regrets and the average policy have gained, of all information sets. [2, actions]"""
        store, end, out = self.search.store, self.before.used[1], np.zeros((2, self.width))
        out[:, :end] = [
            new[:end] - old[:end] for new, old in zip(store[2:4], self.before[2:4], strict=True)
        ]
        for place in np.flatnonzero(store.first >= end):  # which was not in memory
            mine = self.places[int(store.keys[place])]
            for part, values in enumerate(store[2:4]):
                out[part, mine] = values[store.first[place] :][: mine.stop - mine.start]
        self.forget()
        return out

    def laid_out(self, by_set):
        """Numbers of the actions in information sets as `gained` has them."""
        out = np.zeros(self.width)
        for view, values in by_set.items():
            out[self.places[key_of(view)]] = values
        return out


@array_kernel("a traversal along a path")
def traverse_along(tree, player) -> int:
    return traverse(tree, player, False)


def deep_history(root, player):
    """A history after most actions in which a player is to move."""
    return max(
        (h for h in root.everything() if h.set and h.mover == player),
        key=lambda h: len(h.state.history),
    )


SMALL = "generic-poker(ranks=2,copies=2,raises=1,sizes=1)"  # a public card in mid-game, in a tree small enough to try it all


@pytest.mark.parametrize(
    ("target", "delta"), [(IST, 0), (IST, 0.5), (IST, 0.9), (PST, 0.5), (PST, 0.9)]
)
@pytest.mark.parametrize("all_known", [True, False])
@pytest.mark.parametrize("name", ["kuhn-poker", "goofspiel(cards=3)", SMALL, "drawing"])
def test_the_expected_regrets_of_a_traversal_are_the_counterfactual_regrets(
    name, target, delta, all_known
):
    root = histories(name)
    for player in range(2):
        goal = deep_history(root, 1 - player if name == SMALL else player)
        learned = Learned(name, goal, OOS(target=target, delta=delta), all_known, seed=player)
        enumeration = Enumeration(root, learned.in_memory, player, delta)
        dead, found, total = learned.search._dead.copy(), 0.0, 0.0
        enumeration.aim(goal, target, dead)
        deals = deals_of(learned.search.game)
        for indices, probability in enumeration.paths():
            if probability > 0:
                rules = Walk(learned.search.game, deals)
                rules.call(traverse_along, learned.search.sampling(rules, indices), player)
                found += probability * learned.gained()
                total += probability
                learned.search._dead[:] = dead
        assert total == pytest.approx(1, abs=1e-12)
        for part, exact in enumerate(enumeration.by_definition()):
            assert np.abs(found[part] - learned.laid_out(exact)).max() < 1e-12


@pytest.mark.parametrize(
    ("target", "all_known"),
    [
        (IST, False),
        (PST, True),
        *(pytest.param(*case, marks=pytest.mark.slow) for case in ((IST, True), (PST, False))),
    ],
)
def test_samples_are_drawn_as_their_weights_say(target, all_known):
    root, samples = histories("kuhn-poker"), 8_000
    learned = Learned(
        "kuhn-poker", deep_history(root, 0), OOS(target=target, delta=0.6), all_known, seed=1
    )
    drawn = np.zeros((samples, 2, learned.width))
    for i in range(samples):
        # In the first traversal player 0's regrets are updated (part 0), and player 1's average policy (part 1).
        learned.search.make(1)
        drawn[i] = learned.gained()
    # of each action: a view begins with (player, observation of the deal)
    owners = np.repeat(
        [view[0][0] for view, _ in learned.sets], [count for _, count in learned.sets]
    )
    for part, exact in enumerate(Enumeration(root, learned.in_memory, 0, 0.6).by_definition()):
        sampled = drawn[:, part]
        # The standard error of a rarer one says little.
        is_tested = (owners == part) & ((sampled != 0).sum(0) > 200)
        errors = sampled.std(0)[is_tested] / np.sqrt(samples)
        deviations = (sampled.mean(0) - learned.laid_out(exact))[is_tested] / errors
        assert is_tested.sum() >= 6  # or next to nothing would be tested
        assert np.abs(deviations).max() < 5  # standard errors


@pytest.mark.parametrize(
    "name", ["liars-dice(first=2, second=2)", "goofspiel(cards=13)", "phantom-mnk"]
)
def test_nearly_all_samples_come_to_an_information_set_that_alone_is_aimed_at(name):
    """Though most hidden actions that agree with the player's first observations make the later ones impossible."""
    state, luck = games.load(name).new_initial_state(seed=3), np.random.default_rng(1)
    for _ in range(4):
        state.apply_action(int(luck.choice(state.legal_actions()[:3])))
    search = OOSSearch(state.game, OOS(delta=1))
    first, last = (search.search(state, iterations=6000).visits.sum() / 12_000 for _ in range(2))
    assert 0.9 < first <= last
    assert last > 0.98


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
    state = games.load(name).new_initial_state(seed=3)
    search, nash_convs = OOSSearch(state.game, scheme, seed=3), []
    for iterations in (most // 100, most // 10, most):
        search.search(state, iterations=iterations - search.iterations)
        nash_convs.append(search.exploitability().nash_conv)
    assert nash_convs[2] < nash_convs[1] < nash_convs[0]
    assert nash_convs[2] < near


@pytest.mark.parametrize("utilities", [(0.0, 4.0), (98.0, 102.0), (-1002.0, -998.0)])
def test_a_constant_in_the_utilities_changes_nothing(utilities):
    state = KUHN.new_initial_state(seed=1)
    shifted = attrs.evolve(KUHN, utilities=utilities).new_initial_state(seed=1)
    stores = []
    for each in (state, shifted):
        search = OOSSearch(each.game, seed=0)
        search.search(each, iterations=1000)
        stores.append(search.store)
    for plain, same in zip(*stores, strict=True):
        assert (plain == same).all()


def test_aiming_at_an_information_set_alone_goes_wrong_where_the_public_subgame_does_not():
    """Non-locality, as in Figure 1: who never samples what else could have happened plays on as if all of it were as likely."""
    game = games.load("liars-dice(faces=3)")
    near, far = ({}, {})
    for target in (IST, PST):
        for delta, nash_convs in ((0.9, near), (1, far)):
            state = game.new_initial_state(seed=1)
            search = OOSSearch(game, OOS(target=target, delta=delta), seed=1)
            search.search(state, iterations=300_000)
            nash_convs[target] = search.exploitability().nash_conv
    assert far[PST] < 0.15
    assert near[IST] < 0.5
    assert far[IST] > 3 * far[PST]
    assert far[IST] > near[IST]


def test_the_seed_fixes_everything_and_memory_is_kept_in_a_match():
    state = games.load("leduc-poker").new_initial_state(seed=1)
    first, same, second = (OOSSearch(state.game, seed=seed) for seed in (7, 7, 8))
    first.search(state, iterations=500)
    for part in (1, 99, 400):
        same.search(state, iterations=part)
    second.search(state, iterations=500)
    assert (first.average.probabilities != second.average.probabilities).any()
    result = first.search(state, iterations=300, seed=4)
    assert first.iterations == 800
    assert result.iterations == 300
    assert result.visits.sum() > 0
    assert first.store.used[0] <= 1600
    again = OOSSearch(state.game, seed=7)
    again.search(state, iterations=500)
    assert again.search(state, iterations=300, seed=4).policy.tolist() == result.policy.tolist()


@pytest.mark.parametrize("target", sampling.TARGETS)
def test_after_a_deal_that_never_comes_the_whole_game_is_sampled(target):
    plain = in_python(KUHN)

    def deal(index):
        dealt = plain.ask("deal", index)
        # of six deals the first player has the lowest card in the first two
        return dealt and (dealt[0], 0.0 if index < 2 else 1 / 4)

    game = attrs.evolve(plain, deal=deal)
    search = OOSSearch(game, OOS(target=target))
    with np.errstate(all="raise"):
        search.search(dealt_state(game, deals_of(game), 0), 1, iterations=50)
    assert np.isfinite(search.store.regrets).all()
    assert search.store.regrets.any()


def test_settings_are_read_back_as_they_are_written():
    for scheme in (OOS(), OOS(target=PST, delta=0.5, regret_exploration=0)):
        assert parse_algorithm(str(scheme)) == scheme
    assert str(OOS()) == "OOS()"
    assert parse_algorithm("OOS") == OOS()


# -------------------- Algorithms that keep the tree of a game have a search and a result of their own, and play where an agent does.


every = pytest.mark.parametrize(
    "algorithm", [OOS(target=PST), NearEquilibrium(epsilon=0.1)], ids=str
)


@every
def test_one_decision_is_searched_with_an_empty_memory(algorithm):
    state = KUHN.new_initial_state(seed=4)
    result, again = (Agent(algorithm, iterations=200).search(state, 7) for _ in range(2))
    assert result.strategy == algorithm
    assert result.actions == tuple(state.legal_actions())
    assert result.policy.sum() == pytest.approx(1)
    assert (result.policy == again.policy).all()
    assert not any(array.flags.writeable for array in (result.policy, result.visits, result.values))
    assert result._repr_html_() is None  # there is no tree to show
    text = str(result)
    result.state.apply_action(result.action)
    assert str(result) == text


@every
def test_an_agent_plays_by_it(algorithm):
    agent = Agent(algorithm, iterations=60)
    logs = [play(KUHN, [agent, Agent(BASELINE, iterations=60)], seed=3) for _ in range(2)]
    assert logs[0].actions == logs[1].actions
    assert str(agent) == f"{algorithm} (60 iterations)"


def test_an_action_is_drawn_without_the_compiler(monkeypatch):
    """To compile one random number, and to load what compiles it, took 3 s at the first decision of a process."""
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    monkeypatch.setattr(Helper, "__call__", lambda helper, *_: pytest.fail(f"{helper} is compiled"))
    assert Agent(OOS(), iterations=5).search(state, 1).action in state.legal_actions()


# -------------------- Ctrl-C during iterations: it ends them at once, and what was made until then is what as many iterations make.


NEVER = 10**12  # iterations that nobody waits for
SOON = 60.0  # seconds, on a machine with other work


def pressed_after(seconds):
    """Ctrl-C in a while, from another thread."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("kind", [CFR, CFRPlus, OOSSearch])
def test_ctrl_c_ends_a_loop_and_loses_no_iteration(kind):
    game = games.load("leduc-poker")
    solver, same = kind(game), kind(game)
    solver.make(1)  # compiled before Ctrl-C comes
    started, timer = time.perf_counter(), pressed_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        solver.make(NEVER)
    assert time.perf_counter() - started < 0.1 + SOON
    timer.join()
    assert 1 < solver.iterations < NEVER
    same.make(1)
    same.make(solver.iterations - 1)
    assert (solver.average.probabilities == same.average.probabilities).all()
    solver.make(10)  # and it goes on
    assert solver.iterations == same.iterations + 10


def test_an_interrupted_search_carries_what_it_found():
    state = games.load("leduc-poker").new_initial_state(seed=1)
    search = OOSSearch(state.game)
    search.search(state, iterations=1)
    timer = pressed_after(0.3)
    with pytest.raises(SearchInterrupted) as caught:
        search.search(state, iterations=NEVER)
    timer.join()
    result = caught.value.result
    assert result.iterations == search.iterations - 1 > 0
    assert result.policy.sum() == pytest.approx(1)
