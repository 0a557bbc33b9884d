"""Exact best responses without a tree: a walk over what the responder sees, with his belief at each view.

A belief is every state that the game may be in, weighed by what the other player and chance did to come there (the vector of reach of
Johanson, Waugh, Bowling and Zinkevich, 2011, over states of any game instead of private hands of poker). Equal states in which the
other knows the same are one entry. Where the other's policy is stored no further he chooses uniformly, and nothing of what he knows
counts any more. Only the path is kept; a belief that comes again has its value from a table.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from icarus.checks import count_text
from icarus.compiler import array_kernel, copy_items, inlined_once, python_of
from icarus.equilibrium.deals import (
    Deals,
    InformationState,
    NotEnumerable,
    deals_of,
    information_state,
)
from icarus.equilibrium.walk import (
    COMPLETE,
    MORE_ROOM,
    NOTHING,
    UNEQUAL,
    Walk,
    is_shown,
    key_after,
    next_key,
    place_of,
    play,
    player_of,
    refuse_as_unsound,
    refuse_unless_two_players,
    write_chance,
    write_legal,
    write_rewards,
)
from icarus.kernel import CHANCE, TERMINAL, Game, Short, State, inlined, mix, structure

place_in_python, key_in_python = python_of(place_of), python_of(next_key)

BEYOND = 0  # in place of a key: the player's policy is uniform from here on
# An entry: to be looked at, the responder moves, he has seen something, all is told.
OPEN, DECIDES, OBSERVED, DONE = range(4)
LOOKING, OBSERVING = -2, -1  # in place of the action to be followed in a view
FINE = 2.0**44  # steps of a weight, as a part of all in a belief, that beliefs are told apart by
REMEMBERED = 1 << 18  # values of beliefs
ROOM, MOST = 1 << 12, 1 << 22  # entries on a path that there is room for, and can be
AT_ONCE = 1 << 16  # entries looked at between two chances for Ctrl-C
FIRST, LEAST = 1 << 24, 1e-4  # who has done less of his walk after so many is refused


class BeliefEntry:
    """A state that the game may be in."""

    kind: Short
    observed: int  # by the responder, of the move that led here; 0 but for OBSERVED
    key: int  # of what the other player knows, or BEYOND
    digest: int  # of the state and the key
    weight: float


class ViewFrame:
    """A view of the responder's on the path: what he has seen."""

    first: int  # of its entries; those of the next view follow
    next: int  # the entry to be looked at
    action: int  # to be followed; LOOKING or OBSERVING before
    decider: int  # the first entry in which the responder is to move, or NOTHING
    count: int  # of the actions
    actions: int  # a digest of them
    key: int  # of what the responder knows, or BEYOND
    belief: int  # a digest of the entries as they came
    weight: float  # of them all
    share: float  # of the whole walk: the probability of the responder's actions up to here, if he chooses uniformly
    value: float  # of what ends here or has been followed
    policy_value: float  # the same, if the responder follows his own policy
    best: float  # of the actions followed


class WalkStatus:
    """Where a walk stands."""

    responder: int
    depth: int  # of the view at work; -1 when all is done
    views: int  # come to so far
    used: int  # entries of all views on the path
    done: float  # the probability, if the responder chooses uniformly, of the ends come to: the share of the walk that is done


ENTRY, FRAME, STATUS = map(structure, (BeliefEntry, ViewFrame, WalkStatus))


def key_of(information: InformationState) -> int:
    """The key of an information set, by what the player to move knows."""
    player, observation, moves = information
    key = player + 1
    for move in ((False, observation), *moves):
        key = key_in_python(key, *move)
    return key


def keys_of(deals: Deals) -> np.ndarray:
    """The keys of what each player knows after each deal. [deals, players]"""
    rows = deals.observations.tolist()
    return np.array([[key_of((i, move, ())) for i, move in enumerate(row)] for row in rows])


def shares_of(weights: np.ndarray) -> np.ndarray:
    """Weights as probabilities; uniform where all are 0. [actions]"""
    total = weights.sum()
    return weights / total if total > 0 else np.full(len(weights), 1 / len(weights))


class StoredPolicy(NamedTuple):
    """A policy of both players, by the keys of what they know.

    Attributes:
        keys: a hash table of them, as `place_of` reads it. [a power of 2]
        first: where the weights of the actions of each key begin. [as many]
        weights: of the actions, in the game's order; uniform where all are 0.
    """

    keys: np.ndarray
    first: np.ndarray
    weights: np.ndarray

    def policy_at(self, state: State) -> np.ndarray:
        """The policy in the information set of a state; uniform where nothing is stored. [actions]"""
        place = place_in_python(self.keys, key_of(information_state(state)))
        count = len(state.legal_actions())
        weights = np.zeros(count)
        if self.keys[place] != BEYOND:
            first = self.first[place]
            weights = self.weights[first : first + count]
        return shares_of(weights)

    def __repr__(self) -> str:
        return (
            f"<stored policy in {count_text(int((self.keys != BEYOND).sum()), 'information set')}>"
        )


UNIFORM = StoredPolicy(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1))


class Responding(NamedTuple):
    """What a walk works with."""

    walk: np.ndarray  # [1] of WALK
    policy: StoredPolicy
    status: np.ndarray  # [1] of STATUS
    states: np.ndarray  # [entries, words]
    entries: np.ndarray
    frames: np.ndarray
    places: np.ndarray  # of the entries of the newest view, by digest: view << 32 | entry
    remembered: np.ndarray  # digests of beliefs
    # of a best response to them and of the policy, for a weight of 1. [REMEMBERED, 2]
    values: np.ndarray
    words: np.ndarray  # room for legal actions and what each player sees
    reals: np.ndarray  # room for probabilities and rewards


@inlined
def write_policy(policy: StoredPolicy, key: int, count: int, out: np.ndarray) -> bool:
    """The probabilities of the actions of a player by what he knows; returns whether that is stored."""
    i, total = place_of(policy.keys, key), 0.0
    is_stored = policy.keys[i] != BEYOND
    for k in range(count):
        out[k] = policy.weights[policy.first[i] + k] if is_stored else 0.0
        total += out[k]
    for k in range(count):
        out[k] = out[k] / total if total > 0.0 else 1.0 / count
    return is_stored


@inlined
def enter(tree: Responding, kind: int, observed: int, key: int, digest: int, weight: float) -> None:
    """Make the state behind the used ones an entry of the newest view, or add its weight to that of an equal one."""
    status, mask = tree.status[0], len(tree.places) - 1
    i = mix(digest, 4 * observed + kind) & mask
    # what an earlier view has left at a place counts as nothing
    while tree.places[i] >> 32 == status.views:
        entry = tree.entries[tree.places[i] & 0xFFFFFFFF]
        if entry.digest == digest and entry.kind == kind and entry.observed == observed:
            entry.weight += weight
            return
        i = (i + 1) & mask
    tree.places[i] = status.views << 32 | status.used
    entry = tree.entries[status.used]
    entry.kind = kind
    entry.observed = observed
    entry.key = key
    entry.digest = digest
    entry.weight = weight
    status.used += 1


@inlined
def push(tree: Responding, source: int, action: int, mover: int, key: int, weight: float) -> None:
    """Enter what an action makes of a state."""
    rules, status = tree.walk[0], tree.status[0]
    state, target = tree.states[source], tree.states[status.used]
    responder = status.responder
    opponent = 1 - status.responder
    moves = tree.words[rules.max_legal :]
    play(rules, state, action, target, moves)
    if key != BEYOND:
        key = key_after(key, opponent, mover, action, moves)
    digest = key
    for i in range(len(target)):
        digest = mix(digest, target[i])
    is_seen = is_shown(moves, responder, mover, action)
    kind, observed = (OBSERVED, moves[responder]) if is_seen else (OPEN, 0)
    enter(tree, kind, observed, key, digest, weight)


@inlined_once
def look_at(tree: Responding, frame: ViewFrame, i: int) -> int:
    """Follow what chance or the other may do in a state; tell what it is worth where it is an end."""
    rules = tree.walk[0]
    status = tree.status[0]
    entry = tree.entries[i]
    state = tree.states[i]
    actions = tree.words[: rules.max_legal]
    reals = tree.reals
    mover = player_of(rules, state)
    if mover == TERMINAL:
        ending = write_rewards(rules, state, reals)
        worth = entry.weight * (rules.low + rules.range * reals[status.responder])
        frame.value += worth
        frame.policy_value += worth
        status.done += entry.weight * frame.share
        entry.kind = DONE
        return ending
    count = write_legal(rules, state, actions)
    key = entry.key
    weight = entry.weight
    if mover == status.responder:
        # in all entries the same actions must be legal; the first one says which
        digest = count
        for k in range(count):
            digest = mix(digest, actions[k])
        if frame.decider == NOTHING:
            frame.decider = i
            frame.count = count
            frame.actions = digest
        entry.kind = DECIDES
        return COMPLETE if frame.actions == digest else UNEQUAL
    if mover == CHANCE:
        write_chance(rules, state, count, reals)
    elif not write_policy(tree.policy, key, count, reals):
        key = BEYOND
    entry.kind = DONE
    for k in range(count):
        if reals[k] > 0.0:
            push(tree, i, actions[k], mover, key, weight * reals[k])
    return COMPLETE


@inlined
def leave(tree: Responding, value: float, policy_value: float) -> None:
    """Leave the newest view, and tell the one before what it is worth."""
    status = tree.status[0]
    status.used = tree.frames[status.depth].first
    status.depth -= 1
    if status.depth < 0:
        return
    frame = tree.frames[status.depth]
    if frame.action == OBSERVING:
        frame.value += value
        frame.policy_value += policy_value
        return
    # the probabilities of this view's actions, anew: the views below have used the same room
    write_policy(tree.policy, frame.key, frame.count, tree.reals)
    if frame.action == 0 or value > frame.best:  # the first action, or a better one
        frame.best = value
    frame.policy_value += tree.reals[frame.action] * policy_value
    frame.action += 1


@inlined
def recall(tree: Responding) -> None:
    """Leave the newest view again where its belief has been met, but for the weight of it all."""
    status = tree.status[0]
    frame = tree.frames[status.depth]
    total = 0.0
    for i in range(frame.first, status.used):
        total += tree.entries[i].weight
    # beliefs are the same whose entries have the same shares of the weight, in any order
    digest = frame.key
    for i in range(frame.first, status.used):
        entry = tree.entries[i]
        digest += mix(
            mix(entry.digest, 4 * entry.observed + entry.kind),
            int(entry.weight / total * FINE + 0.5),
        )
    frame.belief = digest
    frame.weight = total
    place = digest & (REMEMBERED - 1)
    if tree.remembered[place] == digest:
        status.done += total * frame.share
        leave(tree, total * tree.values[place, 0], total * tree.values[place, 1])


@inlined
def open_view(tree: Responding, key: int, share: float) -> None:
    """Open a view behind the newest, in which there is nothing yet."""
    status = tree.status[0]
    status.depth += 1
    status.views += 1
    view = tree.frames[status.depth]
    view.first = status.used
    view.next = status.used
    view.action = LOOKING
    view.decider = NOTHING
    view.count = 0
    view.key = key
    view.share = share
    view.value = 0.0
    view.policy_value = 0.0
    view.best = 0.0


@inlined_once
def follow_observation(tree: Responding, frame: ViewFrame) -> None:
    """Open the view after what the responder sees in the entry that is next."""
    end = tree.status[0].used
    move = tree.entries[frame.next].observed
    open_view(tree, BEYOND if frame.key == BEYOND else next_key(frame.key, 0, move), frame.share)
    for i in range(frame.next, end):
        entry = tree.entries[i]
        if entry.kind == OBSERVED and entry.observed == move:
            entry.kind = DONE
            copy_items(tree.states[tree.status[0].used], tree.states[i])
            enter(tree, OPEN, 0, entry.key, entry.digest, entry.weight)


@inlined_once
def follow_action(tree: Responding, frame: ViewFrame) -> None:
    """Open the view after the responder's action that is next."""
    end = tree.status[0].used
    responder = tree.status[0].responder
    # the legal actions anew: the views below have used the same room
    write_legal(tree.walk[0], tree.states[frame.decider], tree.words)
    action = tree.words[frame.action]
    key = BEYOND if frame.key == BEYOND else next_key(frame.key, 1, action)
    open_view(tree, key, frame.share / frame.count)
    for i in range(frame.first, end):
        entry = tree.entries[i]
        if entry.kind == DECIDES:
            push(tree, i, action, responder, entry.key, entry.weight)


@array_kernel("best responses by beliefs")
def respond_to_beliefs(tree: Responding, steps: int) -> int:
    """Go on with the walk for so many entries and views, until it is done, or until room is missing."""
    status = tree.status[0]
    most = tree.walk[0].max_legal
    ending = COMPLETE
    for _ in range(steps):
        if status.depth < 0 or ending != COMPLETE:
            break
        frame, end = tree.frames[status.depth], status.used
        # each view has an entry at least, so that there is room for its frame, too
        if end + max(most, end - frame.first) > len(tree.entries):
            return MORE_ROOM
        # first each entry is looked at, to which entries may be added on the way
        if frame.action == LOOKING:
            if frame.next == end:
                frame.next, frame.action = frame.first, OBSERVING
                if frame.decider != NOTHING and not write_policy(
                    tree.policy, frame.key, frame.count, tree.reals
                ):
                    frame.key = BEYOND
                continue
            if tree.entries[frame.next].kind == OPEN:
                ending = look_at(tree, frame, frame.next)
            frame.next += 1
            continue
        # then all is followed that the responder may see, and last his actions
        while frame.next < end and tree.entries[frame.next].kind != OBSERVED:
            frame.next += 1
        if frame.action == OBSERVING and frame.next == end:
            frame.action = 0
        if frame.action == OBSERVING:
            follow_observation(tree, frame)
            recall(tree)
        elif frame.action < frame.count:
            follow_action(tree, frame)
            recall(tree)
        else:  # all has been followed
            value = frame.value + frame.best
            place = frame.belief & (REMEMBERED - 1)
            tree.remembered[place] = frame.belief
            tree.values[place, 0] = value / frame.weight
            tree.values[place, 1] = frame.policy_value / frame.weight
            leave(tree, value, frame.policy_value)
    return ending


class ResponseWalk:
    """The walk of a best response, which `run` goes on with until it is done. Ctrl-C is raised within it, and loses nothing.

    Args:
        responder: the player.
        policy: of both players; uniform where nothing is stored.

    Raises:
        ValueError: not two players, or hidden deals.
    """

    def __init__(self, game: Game, responder: int, policy: StoredPolicy = UNIFORM) -> None:
        refuse_unless_two_players(game)
        self.game = game
        deals = deals_of(game)
        rules = Walk(game, deals)
        possible = np.flatnonzero(deals.probabilities)
        used = len(possible)
        room = ROOM + 2 * len(deals) + rules.room
        states = np.zeros((room, rules.dealt.shape[1]), np.int64)
        states[:used] = rules.dealt[possible]
        entries = np.zeros(room, ENTRY)
        entries["kind"] = OBSERVED
        # Deals are never merged: each has a digest of its own, its number.
        entries["digest"] = np.arange(room)
        entries["observed"][:used] = deals.observations[possible, responder]
        entries["weight"][:used] = deals.probabilities[possible]
        # The first view is that before the deal: what he sees of his deal is followed like a move that he sees.
        frames = np.zeros(room, FRAME)
        frames["action"][0] = OBSERVING
        frames["decider"][0] = NOTHING
        frames["weight"][0] = frames["share"][0] = 1.0
        if policy is not UNIFORM:
            entries["key"][:used] = keys_of(deals)[possible, 1 - responder]
            # As `key_of` begins: the key of who has seen nothing yet.
            frames["key"][0] = responder + 1
        status = np.zeros(1, STATUS)
        status["responder"] = responder
        status["views"] = 1
        status["used"] = used
        places = np.zeros(1 << (2 * room).bit_length(), np.int64)
        growing = states, entries, frames, places
        remembered = np.zeros(REMEMBERED, np.int64), np.zeros((REMEMBERED, 2))
        self._tree = Responding(
            rules.settings, policy, status, *growing, *remembered, *rules.scratch()
        )
        self._looked_at = 0

    def run(self, progress: Callable[[float], None] | None = None) -> tuple[float, float]:
        """The responder's expected gains, by a best response and by his own policy.

        Args:
            progress: called with the share that is done.

        Raises:
            ValueError: the game is too large, not zero-sum, or does not show the responder his legal actions.
        """
        tree, status = self._tree, self._tree.status[0]
        growing = tree.states, tree.entries, tree.frames, tree.places
        while status["depth"] >= 0:
            ending = respond_to_beliefs(tree, AT_ONCE)
            self._looked_at += AT_ONCE
            if ending == MORE_ROOM:
                for array in growing:
                    array.resize((4 * len(array), *array.shape[1:]), refcheck=False)
            elif ending != COMPLETE:
                refuse_as_unsound(self.game, ending, int(status["responder"]))
            entries = len(tree.entries)
            done = float(status["done"])
            why = ""
            if entries > MOST:
                size = sum(array.nbytes for array in growing)
                why = f"a player must think of {entries:,} states at once, in {size:,} bytes; the limit is {MOST:,}"
            elif self._looked_at == FIRST and done < LEAST:
                why = f"{done:.0e} of a best response is done after {FIRST:,} states, and {LEAST:g} is the least"
            if why:
                raise NotEnumerable(f"{self.game} is too large: {why}")
            if progress is not None:
                progress(done)
        return float(tree.frames["value"][0]), float(tree.frames["policy_value"][0])
