"""`adaptive(A, B, C)`: a linear mixture whose shares a bandit chooses as the search progresses (after Sironi, Liu and Winands, 2020).

Each player has a bandit of his own over the members. In a playout all his decisions are made by one member, that of the greatest
q/n + c √(log N / n), for n playouts with it and N in all; each member is tried once first, and the first of several greatest is taken. So
a member that does not help is switched off, and is looked at again from time to time: `adaptive(MAST, BASELINE)` is MAST that may switch
itself off in simulation. θ does not change within a playout, so the choice needs no memory but its records.
"""

import math
import zlib

import numpy as np

from icarus.algebra.enhancement import EXPLORATION, Composition, Enhancement, adaptive_text, checked_operand
from icarus.algebra.information import COUNT, PLAYER, REWARD, Space, information, initial
from icarus.algebra.policy import argmax
from icarus.algebra.slots import backpropagation, capture, values
from icarus.algebra.weights import Share, Weight
from icarus.checks import real
from icarus.kernel import History, Row, Theta, Updates, find, helper, record, update

MOST = 64  # members


@helper
def member_of(theta: Theta, player: int, members: int, group: int, exploration: float) -> int:
    """arg max of q/n + c √(log N / n) over the members, for θ(g, i, ρ) = (q, n); the first without a playout, if there is one."""
    total = 0
    for i in range(members):
        visits = find(theta, record(group, i, player)).visits
        if visits == 0:
            return i
        total += visits
    best, most = 0, -1.0
    for i in range(members):
        stats = find(theta, record(group, i, player))
        bound = stats.reward / stats.visits + exploration * math.sqrt(math.log(total) / stats.visits)
        if bound > most:
            best, most = i, bound
    return best


@capture(reads_simulation=False)
def capture_members(
    history: History, theta: Theta, updates: Updates, members: int = 2, group: int = 0, exploration: float = EXPLORATION
) -> None:
    """⟨((g, i_ρ, ρ), ρ) : ρ = 1, …, κ⟩ with i_ρ the member by which ρ has played"""
    for player in range(len(history.rewards)):
        update(updates, record(group, member_of(theta, player, members, group, exploration), player), player)


@backpropagation(averages=True)
def add_reward(stats: Row, player: int, rewards: np.ndarray) -> None:
    """(q + μ_ρ, n + 1)"""
    stats.reward += rewards[player]
    stats.visits += 1


@values
def nothing(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """+∞: it says which member decides, nothing of actions"""
    out[:] = np.inf


def adaptive(*members: Enhancement, exploration: float = EXPLORATION) -> Enhancement:
    """A mixture in which one member makes all decisions of a player in a playout, chosen by UCB1 over the rewards of playouts with it.

    Args:
        exploration: c of that UCB1.

    Raises:
        TypeError: a member is not an enhancement. ValueError: fewer than two, or too many; a member twice; an exploration below 0.
    """
    exploration = real("exploration of adaptive", exploration, 0, 1e9)
    if not 2 <= len(members) <= MOST:
        raise ValueError(f"adaptive chooses among 2 to {MOST} enhancements, not among {len(members)}")
    for member in members:
        checked_operand(member, "adaptive cannot choose it")
    if len(set(members)) < len(members):
        raise ValueError("adaptive chooses among different enhancements; one is given twice")
    bandit = _bandit(adaptive_text(members, exploration), len(members), exploration)
    terms = tuple((Weight(1.0, ((Share(bandit, i), False),)), member) for i, member in enumerate(members))
    return Composition(operator="adaptive", terms=terms)  # type: ignore[call-arg]


def _bandit(name: str, members: int, exploration: float) -> Enhancement:
    """Where the members' results are kept; the group tells the bandits of two expressions apart."""
    group = zlib.crc32(name.encode())
    return Enhancement(
        name=f"bandit of {name}",
        records=Space(("ℕ₀", "ℕ₀")) * PLAYER,  # ADAPTIVE-1
        information=information(reward=REWARD, visits=COUNT),  # ADAPTIVE-2
        initial=initial(),  # ADAPTIVE-3
        policy=argmax().over(nothing),  # ADAPTIVE-4
        contexts=PLAYER,  # ADAPTIVE-5
        capture=capture_members(members=members, group=group, exploration=exploration),  # ADAPTIVE-6
        backpropagation=add_reward,  # ADAPTIVE-7
    )
