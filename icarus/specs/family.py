"""A family of enhancements: one with a choice for each slot, of which MAST, TO-MAST, NAST, EPIC and AMAF's table are points.

    family("moves", 1, counted="played", rule=ucb1(0.7))                   is NAST2, record by record
    family("opponent", counted="legal", rule=gibbs(0.1))                   is new: what the opponent cannot tell apart shares its records

What is kept is told by a *context* and an action:

    "moves"     the last `length` moves that the player observed (0: none, which is MAST's record)
    "own"       his own previous action since the root
    "position"  the position-in-episode, as he observed it (EPIC's record)
    "history"   the history in the tree, as he observed it (AMAF's record)
    "opponent"  the history as the next player observed it: section 9's "states that are distinguishable to a player but indistinguishable
                to their opponent"
    "feature"   the feature of that number, rounded down, at the state

It is captured from the "tree" or the whole "playout"; *counted* is what was "played", beside it all that was "legal" (for UCB1 by
availability), or every later action of the player "as_first" (AMAF).

Readings: those of MAST, NAST, EPIC and AMAF. The environment's actions are recorded where records are positions or histories, as there.
A context that does not exist yet (too few moves, no own action) has no record.
"""

import functools
import math
from collections.abc import Callable

from icarus.algebra import *
from icarus.checks import integer
from icarus.kernel import *
from icarus.specs.amaf import backpropagate as add_rewards
from icarus.specs.baseline import backpropagate as add_rewards_available
from icarus.specs.catalogue import previous_action
from icarus.specs.mast import ONLY_AVAILABLE
from icarus.specs.mast import backpropagate as add_reward
from icarus.specs.mast import backpropagate_available as add_reward_available

LONGEST = 1000
SOURCES = {"tree": EXPANSION, "playout": SIMULATION}
COUNTED = ("played", "legal", "as_first")


@helper
def after_moves(history: History, i: int, action: int, length: int) -> int:
    """(⟨…, a_i, a⟩~, ρ_i) with the last `length` moves; no record where there are fewer."""
    before = ngram(history, i, length)
    return NO_RECORD if before == UNSEEN else mix(mix(before, action), history.steps[i].player)


@helper
def after_own(history: History, i: int, action: int, length: int) -> int:
    """(b, a, ρ_i) with b the previous action of ρ_i; no record where there is none."""
    before = previous_action(history, i)
    return NO_RECORD if before == NO_ACTION else record(before, action, history.steps[i].player)


@helper
def in_position(history: History, i: int, action: int, length: int) -> int:
    """η([h_i # a]~)"""
    return child_in_episode(history, i, action)


@helper
def in_history(history: History, i: int, action: int, length: int) -> int:
    """[h_i # a]~"""
    return child(history, i, action)


@helper
def in_opponents_history(history: History, i: int, action: int, length: int) -> int:
    """([h_i]~ of the next player, a, ρ_i)"""
    player, perspectives = history.steps[i].player, history.keys.shape[1]
    opponent = (player + 1) % (perspectives - 1) if perspectives > 1 and player != CHANCE else 0
    return mix(mix(history.keys[i, opponent], action), player)


@helper
def by_feature(history: History, i: int, action: int, length: int) -> int:
    """(k, ⌊f_k⌋, a, ρ_i)"""
    return record(length, math.floor(history.features[i, length]), action, history.steps[i].player)


CONTEXTS: dict[str, tuple[Callable, Space, bool]] = {  # the record, R, and whether chance acts too
    "moves": (after_moves, MOVE * PLAYER, False),
    "own": (after_own, ACTION**2 * PLAYER, False),
    "position": (in_position, POSITION, True),
    "history": (in_history, HISTORY, True),
    "opponent": (in_opponents_history, HISTORY * ACTION * PLAYER, False),
    "feature": (by_feature, Space(("F", "ℤ")) * ACTION * PLAYER, False),
}
INDEPENDENT = ("moves", "own", "opponent", "feature")  # an action's record does not depend on what else is legal


@functools.cache
def _candidates(context: str) -> Candidates:
    key = CONTEXTS[context][0]

    def records_in_context(history: History, legal: Array, records: Array, length: int = 0) -> None:
        """v(θ(r(h, a))) with r(h, a) the record of a in its context"""
        for i in range(len(legal)):
            records[i] = key(history, len(history.steps) - 1, legal[i], length)

    return candidates(records_in_context, independent=context in INDEPENDENT)


@functools.cache
def _capture(context: str, counted: str) -> Capture:
    """ξ"""
    key, _, chance = CONTEXTS[context]
    all_legal = counted == "legal"

    def capture_at_once(history: History, updates: Updates, last_phase: int = SIMULATION, length: int = 0) -> None:
        """⟨(r(h_i, a_{i+1}), ψ)⟩, of all that is legal # ⟨(r(h_i, a), ψ_avail) : a ≠ a_{i+1} legal⟩ for 0 ≤ i < t"""
        if chance:
            update(updates, history.steps[0].episode if context == "position" else history.steps[0].record, VISIT)
        for i in range(len(history.steps) - 1):
            step = history.steps[i]
            if step.phase <= last_phase and (chance or step.player != CHANCE):
                for action in legal_at(history, i):
                    is_played = action == step.action
                    if is_played or all_legal:
                        near = key(history, i, action, length)
                        of_played, of_rest = (VISIT, AVAILABLE) if chance else (step.player, ONLY_AVAILABLE)
                        if near != NO_RECORD:
                            update(updates, near, of_played if is_played else of_rest)

    def capture_as_first(history: History, updates: Updates, last_phase: int = SIMULATION, length: int = 0) -> None:
        """⟨(r(h_i, a_j), ψ) : 0 ≤ i < j ≤ t, a_j of the player at h_i and legal there⟩"""
        steps = history.steps
        for i in range(len(steps) - 1):
            if steps[i].phase <= last_phase and (chance or steps[i].player != CHANCE):
                legal = legal_at(history, i)
                for j in range(i, len(steps) - 1):
                    near = key(history, i, steps[j].action, length)
                    if steps[j].player == steps[i].player and steps[j].action in legal and near != NO_RECORD:
                        update(updates, near, VISIT if chance else steps[i].player)

    return capture(capture_as_first if counted == "as_first" else capture_at_once)


def family(
    context: str = "moves", length: int = 0, source: str = "playout", counted: str = "played", rule: Rule | None = None
) -> Enhancement:
    """The enhancement of the family with these choices; see the head of this file.

    Args:
        context: one of `CONTEXTS`.
        length: of a context of moves; the number of the feature.
        source: "tree" or "playout".
        counted: "played", "legal" or "as_first".
        rule: of reuse, UCB1 with 0.7 by default.

    Raises:
        ValueError: no such choice.
    """
    rule = ucb1() if rule is None else check_rule(rule)
    for value, choices in ((context, CONTEXTS), (source, SOURCES), (counted, COUNTED)):
        if value not in choices:
            raise ValueError(f"{value!r} is no choice of a family; it must be one of {', '.join(choices)}")
    length = integer("length of a family", length, 0, LONGEST)
    stored, update_row, contexts = _stored(context, counted)
    space = MOVE ** (length + 1) * PLAYER if context == "moves" else CONTEXTS[context][1]
    return Enhancement(
        name=f"family({context!r}, {length}, {source!r}, {counted!r}, {rule})",
        records=space,  # FAMILY-1
        information=stored,  # FAMILY-2
        initial=initial(),  # FAMILY-3
        policy=rule.over(_candidates(context)(length=length)),  # FAMILY-4
        contexts=contexts,  # FAMILY-5
        capture=_capture(context, counted)(last_phase=SOURCES[source], length=length),  # FAMILY-6
        backpropagation=update_row,  # FAMILY-7
    )


def _stored(context: str, counted: str) -> tuple[Information, Backpropagation, Space]:
    """Θ, ω and Ψ."""
    if CONTEXTS[context][2]:
        if counted == "legal":
            return RewardsVisitsAvailability, add_rewards_available, VISIT_OR_AVAILABLE
        return RewardsVisits, add_rewards, NOTHING
    if counted == "legal":
        return RewardVisitsAvailability, add_reward_available, PLAYER * Space(("{ψ_avail}",))
    return RewardVisits, add_reward, PLAYER
