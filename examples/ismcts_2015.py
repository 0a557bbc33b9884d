"""Algorithms of one's own: ISMCTS and weighted Online Outcome Sampling, as Lanctot, Lisý and Bowling (2015) compare them.

`register` lets texts name them:

    icarus match liars-dice "OOS()" "ISMCTS()" --with examples/ismcts_2015.py --games 500 --iterations 10000

An iteration of this ISMCTS begins with a history drawn from the information set searched for, each as likely as chance makes it; goes
through the information sets in memory by their bandits; adds the first that is not there; and plays on uniformly. All bandits on the way
learn the reward of their players. What a player saw of the deal is part of his information sets, and what was learned is kept in a match.
(In MO-ISMCTS, as `BASELINE` runs, nodes of the other players do not tell their hands apart, and each decision begins anew.)
"""

import math
from typing import NamedTuple

import attrs
import numpy as np

from icarus import checks
from icarus.arena.player import AlgorithmSettings, register
from icarus.compiler import array_kernel, copy_items
from icarus.equilibrium import OOS, OOSSearch, sampling, walk
from icarus.equilibrium.beliefs import StoredPolicy, write_policy
from icarus.equilibrium.cfr import match_regrets
from icarus.equilibrium.sampling import Sampling
from icarus.kernel import CHANCE, TERMINAL, inlined, structure, uniform

UCB1, REGRET_MATCHING, EXP3 = SELECTIONS = ("UCB1", "regret matching", "EXP3")
EXPLORATION = 1.0, 0.2, 0.0  # the papers': C = 2 max u, where gains go from -max u to max u; γ = 0.2


# ---------------------------------------------------------------------------------------------- histories in a target


class TargetHistory:
    """A history on the way to a target, or the first in it."""

    position: int  # how many moves of the target are made
    is_inside: int
    chance: float  # the probability that chance does its part
    reach: float  # that all do theirs, by the average policy


HISTORY = structure(TargetHistory)


class Histories(NamedTuple):
    """Histories, their states, and the keys of what each player knows there."""

    entries: np.ndarray  # of HISTORY
    states: np.ndarray  # [entries, words]
    keys: np.ndarray  # [entries, players]


@array_kernel("histories in a target")
def follow(tree: Sampling, policy: StoredPolicy, found: Histories) -> int:
    """Find all histories that lead to the target, and the first ones in it; how many, or -1 where there is no room for them."""
    rules, goal, observer = tree.walk[0], tree.sampler[0].goal, tree.sampler[0].observer
    used = 0
    for k in range(len(tree.dealt)):
        if tree.deals[1, k] > 0.0:
            found.entries[used].chance = found.entries[used].reach = tree.deals[0, k]
            copy_items(found.states[used], tree.dealt[k])
            copy_items(found.keys[used], tree.deal_keys[k])
            used += 1
    i = 0
    while i < used:
        entry, state = found.entries[i], found.states[i]
        mover = walk.player_of(rules, state)
        can_search = observer == sampling.EVERYBODY or observer == mover
        entry.is_inside = entry.position == goal and can_search
        count = 0
        if not entry.is_inside and mover != TERMINAL:
            count = walk.write_legal(rules, state, tree.actions)
        if used + count >= len(found.entries):
            return -1
        if mover == CHANCE:
            walk.write_chance(rules, state, count, tree.sigma)
        elif mover != TERMINAL:
            write_policy(policy, found.keys[i, mover], count, tree.sigma)
        for k in range(count):
            action, child = tree.actions[k], found.entries[used]
            walk.play(rules, state, action, found.states[used], tree.moves)
            child.position = sampling.position_after(tree, mover, action, entry.position)
            if child.position != sampling.OUTSIDE:
                child.reach = entry.reach * tree.sigma[k]
                child.chance = entry.chance * (tree.sigma[k] if mover == CHANCE else 1.0)
                for player in range(walk.PLAYERS):
                    key = found.keys[i, player]
                    found.keys[used, player] = walk.key_after(key, player, mover, action, tree.moves)
                used += 1
        i += 1
    return used


def histories_of(search: OOSSearch) -> Histories:
    """The first histories in the target of a search."""
    deals = search._deals
    room, used = 4 * len(deals), -1
    while used < 0:
        room *= 4
        found = Histories(
            np.zeros(room, HISTORY),
            np.zeros((room, deals.words.shape[1]), np.int64),
            np.zeros((room, walk.PLAYERS), np.int64),
        )

        def loop(rules, found=found):
            return rules.call(follow, search.sampling(rules), search.stored_policy, found)

        used = walk.with_walk(search.game, deals, loop)
    inside = np.flatnonzero(found.entries["is_inside"][:used])
    return Histories(*(array[inside] for array in found))


# ------------------------------------------------------------------------------------------------------------ ISMCTS

# Of what a `Store` has, `sums` is the weight of each action in the average policy, exploration left out: by UCB1 its trials. `regrets`
# has the sum of its rewards by UCB1, its regret by regret matching, the sum of its rewards over their probabilities by EXP3.


@inlined
def choose_by_ucb1(tree: Sampling, slot: int, count: int, c: float) -> int:
    """An action not tried yet, drawn uniformly; or the one with the highest q/n + c √(log N / n), equal ones drawn so."""
    total, best, equal, choice = 0.0, -math.inf, 0.0, 0
    for k in range(count):
        total += tree.store.sums[slot + k]
    for k in range(count):
        trials, value = tree.store.sums[slot + k], math.inf
        if trials > 0.0:
            value = tree.store.regrets[slot + k] / trials + c * math.sqrt(math.log(total) / trials)
        if value > best:
            best, equal, choice = value, 1.0, k
        elif value == best:
            equal += 1.0
            if uniform(tree.rng) * equal < 1.0:
                choice = k
    return choice


@inlined
def write_exp3(tree: Sampling, slot: int, count: int) -> float:
    """Into `sigma`: 1 / Σ_b e^{(s(b) - s(a)) η}; returns γ (Cowling, Powley and Whitehouse, 2012, eqs. 4-6)."""
    trials, most, total, gamma = 0.0, -math.inf, 0.0, 1.0
    for k in range(count):
        trials += tree.store.sums[slot + k]
        most = max(most, tree.store.regrets[slot + k])
    if trials > 0.0:
        gamma = min(1.0, math.sqrt(count * math.log(count) / ((math.e - 1.0) * trials)))
    for k in range(count):
        tree.sigma[k] = math.exp((tree.store.regrets[slot + k] - most) * gamma / count)
        total += tree.sigma[k]
    for k in range(count):
        tree.sigma[k] /= total
    return gamma


@inlined
def choose(tree: Sampling, selection: int, gamma: float, slot: int, count: int) -> tuple[int, float]:
    """The index of an action, and its probability; the average policy is updated. `selection` is a place in SELECTIONS."""
    if selection == 0:
        choice = choose_by_ucb1(tree, slot, count, gamma)
        tree.store.sums[slot + choice] += 1.0
        return choice, 1.0
    if selection == 1:
        match_regrets(tree.store.regrets[slot:], count, 0.0, tree.sigma)
    else:
        gamma = write_exp3(tree, slot, count)
    choice = sampling.draw_action(tree, count, gamma)
    for k in range(count):
        tree.store.sums[slot + k] += tree.sigma[k]
    return choice, gamma / count + (1.0 - gamma) * tree.sigma[choice]


@inlined
def go_down(tree: Sampling, selection: int, exploration: float) -> None:
    """From a history to the first information set that is new, with an action made in it."""
    used, sampler = tree.store.used[0], tree.sampler[0]
    depth = 0
    mover = walk.player_of(tree.walk[0], tree.state)
    while mover != TERMINAL and tree.store.used[0] == used and depth < sampler.max_length:
        count = walk.write_legal(tree.walk[0], tree.state, tree.actions)
        step = tree.path[depth]
        if mover == CHANCE:
            walk.write_chance(tree.walk[0], tree.state, count, tree.sigma)
            step.k = walk.draw(tree.sigma, count, uniform(tree.rng))
        else:
            step.slot = sampling.first_slot(tree.store, tree.keys[mover], count)
            step.k, step.probability = choose(tree, selection, exploration, step.slot, count)
            if tree.keys[mover] == sampler.target_set:
                tree.visits[step.k] += 1
        step.mover, step.count = mover, count
        depth += 1
        mover = sampling.make(tree, mover, tree.actions[step.k])
    sampler.head = depth


@inlined
def learn(tree: Sampling, selection: int) -> None:
    """Tell the bandits on the way what came of their choices."""
    for i in range(tree.sampler[0].head):
        step = tree.path[i]
        if step.mover != CHANCE:
            reward = tree.rewards[step.mover]
            tree.store.regrets[step.slot + step.k] += reward / step.probability
            if selection == 1:
                for k in range(step.count):
                    tree.store.regrets[step.slot + k] -= reward


@array_kernel("search by bandits")
def search_by_bandits(
    tree: Sampling, starts: Histories, sums: np.ndarray, counters: np.ndarray, selection: int, c: float, count: int
) -> int:
    """So many iterations from some histories, where `sums` has their probabilities up to each; COMPLETE, or what has ended it."""
    progress, store = counters[0], tree.store
    for _ in range(count):
        sets, slots = 2 * (store.used[0] + walk.PLAYERS), store.used[1] + 2 * len(tree.actions)
        if sets > len(store.keys) or slots > len(store.sums):
            return walk.MORE_ROOM
        start = np.searchsorted(sums, uniform(tree.rng), side="right")
        copy_items(tree.state, starts.states[start])
        copy_items(tree.keys, starts.keys[start])
        go_down(tree, selection, c)
        status = sampling.play_out(tree)
        if status != walk.COMPLETE:
            return status
        learn(tree, selection)
        progress.depth = max(progress.depth, tree.sampler[0].head)
        progress.iterations += 1
    return walk.COMPLETE


@attrs.frozen(kw_only=True, repr=False)
class ISMCTS(AlgorithmSettings):
    """ISMCTS over a whole game tree, with a bandit in every information set.

    Attributes:
        selection: the bandit: "UCB1", "regret matching" (from rewards over their probabilities) or "EXP3".
        exploration: c of UCB1, for rewards between 0 and 1, or γ of regret matching; None for 1.0 and 0.2. EXP3 computes its own.

    The policy to play from is the share of the visits, with regret matching and EXP3 the mean of the policies, exploration left out.
    """

    selection: str = UCB1
    exploration: float | None = None
    target = sampling.INFORMATION_SET

    def __attrs_post_init__(self) -> None:
        checks.one_of("selection", self.selection, SELECTIONS)
        if self.exploration is not None:
            checks.one_of("selection with an exploration", self.selection, SELECTIONS[:2])
            checks.real("exploration", self.exploration, 0, 1 if self.selection == REGRET_MATCHING else 1e9)

    def begin(self, game, seed=0) -> "ISMCTSSearch":
        """A search that has learned nothing yet."""
        return ISMCTSSearch(game, self, seed=seed)

    seated, check_playable = OOS.seated, OOS.check_playable


class ISMCTSSearch(OOSSearch):
    """ISMCTS over a whole game tree in one match: what was learned stays, and `make` without a `search` begins at the deal."""

    def __init__(self, game, algorithm: ISMCTS, *, seed=0) -> None:
        place = SELECTIONS.index(algorithm.selection)
        exploration = EXPLORATION[place] if algorithm.exploration is None else algorithm.exploration
        self._bandit = place, float(exploration)
        super().__init__(game, seed=seed)
        self.algorithm = algorithm

    def _aim_at(self, observer, moves, fits) -> None:
        super()._aim_at(observer, moves, fits)
        self._starts = histories_of(self)
        sums = np.cumsum(self._starts.entries["chance"])
        self._sums = sums / sums[-1]

    def iterate(self, walk, count: int) -> int:
        arrays = self.sampling(walk), self._starts, self._sums, self._progress
        return walk.call(search_by_bandits, *arrays, *self._bandit, count)


# -------------------------------------------------------------------------------- Online Outcome Sampling with weights


@attrs.frozen(kw_only=True, repr=False)
class WeightedOOS(OOS):
    """Online Outcome Sampling with the factor w_T of AAMAS 2015 on all updates of a search, so that samples made before the match came to
    the target do not outweigh those made since: w_T = (1 - δ) + δ / π̄(Z_sub), how much more often the target is reached by aiming than
    by the average policy, as the text defines it (the printed formula is 1 for IST)."""

    def begin(self, game, seed=0) -> "WeightedSearch":
        """A search that has learned nothing yet."""
        return WeightedSearch(game, self, seed=seed)


class WeightedSearch(OOSSearch):
    """Its search in a match: what was learned before is divided by w_T, which leaves the policies as they are. `scale` is the product of
    these factors, with which weights of several matches add up."""

    scale = 1.0

    def aim(self, state) -> None:
        super().aim(state)
        reach = float(histories_of(self).entries["reach"].sum())
        delta = self.algorithm.delta
        weight = 1 - delta + delta / reach if reach > 0 else 1.0
        self.scale *= weight
        for learned in (self.store.regrets, self.store.sums):
            learned /= weight


register(ISMCTS, "ISMCTS over a whole game tree")
register(WeightedOOS, "Online Outcome Sampling with the weights of AAMAS 2015")
