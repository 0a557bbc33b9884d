"""Specifications 4 and 5: replies to the last moves. LGR and LGRF (4), LGRF-2, NAST (5) and NST.

The move replied to is the last one that the replying player observed; the environment's replies have no record.
"""

import re
from typing import Annotated

import attrs

from icarus.algebra import *
from icarus.kernel import *
from icarus.specs.mast import backpropagate

# --------------------------------------------------- Specification 4: last good reply (LGR), and with forgetting (LGRF)


# Readings: a stored reply that is not legal now falls back to uniform. (LGR-7) is literal: μ_ρ > 0, so with rewards from 0 to 1 a draw
# keeps a reply. LGRF_SIGNED takes them from −1 to 1, as many papers do: a draw, or less than half of the points, forgets.


@values
def recorded_reply(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """1 for the reply θ([a_t]~ρ_t, ρ_t), 0 for other actions"""
    present = len(history.steps) - 1
    move = observed(history, present, 1)
    good = NO_ACTION
    if move != UNSEEN:
        good = find(theta, record(move, history.steps[present].player)).reply
    for i in range(len(legal)):
        out[i] = 1.0 if legal[i] == good else 0.0


MOST_REPLY = 1 << 60  # below it are the actions that a context has room for, beside their player


@inlined
def reply_of(action: int, player: int) -> int:
    """The context (a, ρ) of a reply, as one integer."""
    if action >= MOST_REPLY:
        raise ValueError(
            "a reply is an action of 2**60 or more; number the actions of the game below"
        )
    return action * MAX_PLAYERS + player


@capture
def capture_replies(history: History, updates: Updates) -> None:
    """⟨(([a_i]~ρ_i, ρ_i), (a_{i+1}, ρ_i)) : i = 1, …, t − 1⟩"""
    for i in range(1, len(history.steps) - 1):
        step = history.steps[i]
        move = observed(history, i, 1)
        if step.player != CHANCE and move != UNSEEN:
            update(updates, record(move, step.player), reply_of(step.action, step.player))


@backpropagation
def backpropagate_reply(stats: Row, context: int, rewards: Array) -> None:
    """a_new if μ_ρ > 0; a_old otherwise"""
    if rewards[context % MAX_PLAYERS] > 0:
        stats.reply = context // MAX_PLAYERS


LGR = Enhancement(
    name="LGR",
    records=MOVE * PLAYER,  # LGR-1
    information=LastReply,  # LGR-2
    initial=initial(reply=NO_ACTION),  # LGR-3
    policy=reply().over(recorded_reply),  # LGR-4
    contexts=ACTION * PLAYER,  # LGR-5
    capture=capture_replies,  # LGR-6
    backpropagation=backpropagate_reply,  # LGR-7
)


@backpropagation
def backpropagate_forgetting(stats: Row, context: int, rewards: Array) -> None:
    """a_new if μ_ρ > 0; ⊥ if a_old = a_new and μ_ρ ≤ 0; a_old otherwise"""
    if rewards[context % MAX_PLAYERS] > 0:
        stats.reply = context // MAX_PLAYERS
    elif stats.reply == context // MAX_PLAYERS:
        stats.reply = NO_ACTION


LGRF = attrs.evolve(LGR, name="LGRF", backpropagation=backpropagate_forgetting)  # LGRF-7


@backpropagation
def backpropagate_signed(stats: Row, context: int, rewards: Array) -> None:
    """a_new if 2μ_ρ − 1 > 0; ⊥ if a_old = a_new and 2μ_ρ − 1 ≤ 0; a_old otherwise"""
    if 2 * rewards[context % MAX_PLAYERS] - 1 > 0:
        stats.reply = context // MAX_PLAYERS
    elif stats.reply == context // MAX_PLAYERS:
        stats.reply = NO_ACTION


LGRF_SIGNED = attrs.evolve(LGR, name="LGRF_SIGNED", backpropagation=backpropagate_signed)


# --------------------------------------------------------------------------------------------------------------- LGRF-2


# LGRF-2 (Baier and Drake, 2010): the last good reply to the last two moves, else to the last one, with forgetting.
#
# Readings: those of LGRF. A reply to two moves that is not legal now falls back to the reply to one, and this to uniform; the moves are
# those that the replying player observed last.


@values
def recorded_reply_to_two(history: History, theta: Theta, legal: Array, out: Array) -> None:
    """1 for the reply θ([a_{t−1}]~ρ_t, [a_t]~ρ_t, ρ_t) if it is legal, else for θ([a_t]~ρ_t, ρ_t); 0 for other actions"""
    present = len(history.steps) - 1
    player = history.steps[present].player
    last = observed(history, present, 1)
    before = observed(history, present, 2)
    good = NO_ACTION
    if before != UNSEEN:
        good = find(theta, record(before, last, player)).reply
    if last != UNSEEN and good not in legal:
        good = find(theta, record(last, player)).reply
    for i in range(len(legal)):
        out[i] = 1.0 if legal[i] == good else 0.0


@capture
def capture_replies_to_two(history: History, updates: Updates) -> None:
    """⟨(([a_{i−1}]~ρ_i, [a_i]~ρ_i, ρ_i), (a_{i+1}, ρ_i)), (([a_i]~ρ_i, ρ_i), (a_{i+1}, ρ_i)) : i = 1, …, t − 1⟩"""
    for i in range(1, len(history.steps) - 1):
        step = history.steps[i]
        last, before = observed(history, i, 1), observed(history, i, 2)
        if step.player != CHANCE and before != UNSEEN:
            update(updates, record(before, last, step.player), reply_of(step.action, step.player))
        if step.player != CHANCE and last != UNSEEN:
            update(updates, record(last, step.player), reply_of(step.action, step.player))


LGRF2 = attrs.evolve(
    LGRF,
    name="LGRF2",
    records=MOVE**2 * PLAYER | MOVE * PLAYER,  # LGRF-2-1
    policy=reply().over(recorded_reply_to_two),  # LGRF-2-4
    capture=capture_replies_to_two,  # LGRF-2-6
)


# ------------------------------------------------------------ Specification 5: n-gram average sampling technique (NAST)


# Readings: the n-gram is made of the moves as the replying player observed them, his own action last; until n − 1 moves have been
# observed since the root there is no record, so the value is +∞. The environment's replies have no record. NAST with n = 1 is
# MAST with UCB1 by visits. (NAST-7) is (MAST-7).


LONGEST = 1000  # moves of an n-gram; playouts are rarely longer
Length = Annotated[int, Range(1, LONGEST)]


@candidates(independent=True)
def ngrams(history: History, legal: Array, records: Array, n: Length = 2) -> None:
    """v(θ(⟨a_{t−n+2}, …, a_t, a⟩~, ρ_t)) with v((q, n)) = q/n + c √(log Σ_b θ₂(⟨…, b⟩~) / n), +∞ if n = 0"""
    present = len(history.steps) - 1
    player = history.steps[present].player
    before = ngram(history, present, n - 1)
    for i in range(len(legal)):
        records[i] = NO_RECORD if before == UNSEEN else mix(mix(before, legal[i]), player)


@capture
def capture_ngrams(history: History, updates: Updates, n: Length = 2) -> None:
    """⟨((⟨a_i, …, a_{i+n−1}⟩, ρ), ρ) : i = 1, …, t − n + 1⟩ with ρ the player of a_{i+n−1}"""
    for i in range(n - 1, len(history.steps) - 1):
        step = history.steps[i]
        before = ngram(history, i, n - 1)
        if step.player != CHANCE and before != UNSEEN:
            update(updates, mix(mix(before, step.action), step.player), step.player)


def with_grams(nast: Enhancement) -> Enhancement:
    """NAST with the records of its n; with other parameters it is named nast(…), by itself NAST1, NAST2 or NAST3."""
    n = int(dict(nast.capture.parameters)["n"])
    name = re.sub(r"^nast\d\(", "nast(", nast.name)
    if n <= 3 and name == f"nast({n})":
        name = f"NAST{n}"
    return attrs.evolve(nast, records=MOVE**n * PLAYER, name=name)


NAST = NAST2 = Enhancement(
    name="NAST2",
    records=MOVE**2 * PLAYER,  # NAST-1
    information=RewardVisits,  # NAST-2
    initial=initial(),  # NAST-3
    policy=ucb1(0.7).over(ngrams),  # NAST-4
    contexts=PLAYER,  # NAST-5
    capture=capture_ngrams,  # NAST-6
    backpropagation=backpropagate,  # NAST-7
    parameters=("n",),
    adjust=with_grams,
)
NAST1, NAST3 = NAST(1), NAST(3)


# ------------------------------------------------------------------------------------- N-gram selection technique (NST)


# N-gram selection technique (NST; Tak, Winands and Björnsson, 2012): the average of what 1-, 2- and 3-grams say of an action.
#
# Readings: n-grams as in NAST: the moves as the replying player observed them, his own action last. Those of two and three moves count
# from k visits on (k = 7), that of one from the first; an action never played is worth 1. The rule is ε-greedy, ε = 0.2. k and ε are the
# authors' settings in general game playing; Ludii has k = 1 and ε = 0.1, `NST(1, epsilon_greedy(0.1))`.


@values
def mean_of_grams(
    history: History, theta: Theta, legal: Array, out: Array, least: Count = 7
) -> None:
    """the mean of q/n over θ(⟨…, a_t, a⟩~, ρ_t) = (q, n) for 1, 2 and 3 moves, n ≥ k for 2 and 3; 1 if a was never played"""
    present = len(history.steps) - 1
    player = history.steps[present].player
    for i in range(len(legal)):
        out[i] = 0.0
        grams = 0
        for length in range(1, 3 + 1):
            before = ngram(history, present, length - 1)
            if before != UNSEEN:
                stats = find(theta, mix(mix(before, legal[i]), player))
                if stats.visits >= (least if length > 1 else 1):
                    out[i] += stats.reward / stats.visits
                    grams += 1
        out[i] = out[i] / grams if grams > 0 else 1.0


@capture
def capture_grams(history: History, updates: Updates) -> None:
    """⟨((⟨a_{i−n+1}, …, a_i⟩, ρ), ρ) : i = 1, …, t, n = 1, 2, 3⟩ with ρ the player of a_i"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        for length in range(1, 3 + 1):
            before = ngram(history, i, length - 1)
            if step.player != CHANCE and before != UNSEEN:
                update(updates, mix(mix(before, step.action), step.player), step.player)


NST = attrs.evolve(
    NAST,
    name="NST",
    records=MOVE * PLAYER | MOVE**2 * PLAYER | MOVE**3 * PLAYER,  # NST-1
    policy=epsilon_greedy(0.2).over(mean_of_grams),  # NST-4
    capture=capture_grams,  # NST-6
    parameters=("least", "rule"),
    adjust=None,
)
