"""The branching of Dou Di Zhu as its landlord sees it (Cowling, Powley and Whitehouse 2012, section VII-C, Table II): no game is played.

For random deals the peasants' leading plays are counted, kickers together with the play that they go with: in the deal itself, on
average over determinizations of it, and those that at least one of so many determinizations offers. The plays of each peasant are
counted on their own, and the two counts added. A directory keeps the counts of each deal; the table follows from them.
"""

import csv
from pathlib import Path

import attrs
import numpy as np

from experiments.papers.earlier import BRANCHING_ROWS
from experiments.plan.definition import Refusal
from experiments.store.csv_values import csv_of
from icarus.compiler.functions import helper, inlined
from icarus.compiler.rng import seeded
from icarus.games.dou_di_zhu import DOU_DI_ZHU, LANDLORD, PLAYS

DETERMINIZATIONS = np.array([40, 250, 1000])
AVERAGED = 200  # determinizations in Table II's average
MEASURES = (
    "in the deal",
    f"in a determinization (mean of {AVERAGED})",
    *(f"unique, from {number} determinizations" for number in DETERMINIZATIONS),
)
PUBLISHED = (87.7, 87.8, 754.0, 1230.0, 1500.0)  # of 5000 deals
PEASANTS = (1, 2)
SLOTS = 1 << 13  # of the set of plays seen of one peasant
SPREAD = 0x9E3779B1  # odd, without a pattern: plays that differ little get slots far apart
BASE_BITS = len(PLAYS).bit_length()  # kickers are written above the base play
FEWEST = 2  # deals that give an interval
assert DOU_DI_ZHU.prepare is not None and DOU_DI_ZHU.determinize is not None
initial, legal, apply, prepare, determinize = map(
    helper, (DOU_DI_ZHU.initial, DOU_DI_ZHU.legal, DOU_DI_ZHU.apply, DOU_DI_ZHU.prepare, DOU_DI_ZHU.determinize)
)


@inlined
def _add(plays: np.ndarray, play: int) -> int:
    """Add a play to a set; 1 if it is new."""
    slot = (play * SPREAD) & (SLOTS - 1)
    while plays[slot] != 0:
        if plays[slot] == play:
            return 0
        slot = (slot + 1) & (SLOTS - 1)
    plays[slot] = play
    return 1


@helper
def _leads(states: np.ndarray, actions: np.ndarray, plays_met: np.ndarray) -> tuple[int, int]:
    """How many plays the player to move in states[0] may lead, and how many of them are new. Overwrites states[1]."""
    total, new = 0, 0
    for i in range(legal(states[0], actions[0])):
        base = actions[0, i]
        states[1] = states[0]
        apply(states[1], base)
        if states[1].kickers_due == 0:
            total += 1
            new += _add(plays_met, base)
            continue
        for k in range(legal(states[1], actions[1])):
            total += 1
            new += _add(plays_met, base | (actions[1, k] << BASE_BITS))
    return total, new


@helper
def _both(states: np.ndarray, actions: np.ndarray, plays_met: np.ndarray) -> tuple[int, int]:
    """The same for both peasants together, each with a set of his own."""
    total, new = 0, 0
    for i in range(len(PEASANTS)):
        states[0].player = PEASANTS[i]
        plays, unseen = _leads(states, actions, plays_met[i])
        total += plays
        new += unseen
    return total, new


@helper
def _count(
    states: np.ndarray,
    beliefs: np.ndarray,
    rng: np.ndarray,
    actions: np.ndarray,
    plays_met: np.ndarray,
    plays: np.ndarray,
) -> None:
    """The plays of one deal, which states[2] holds. [MEASURES]"""
    states[0] = states[2]
    plays_met[:] = 0
    plays[0] = _both(states, actions, plays_met)[0]
    prepare(states[2], LANDLORD, beliefs[0])
    plays_met[:] = 0
    total, unique, step = 0, 0, 0
    for done in range(1, DETERMINIZATIONS[-1] + 1):
        states[0] = states[2]
        determinize(states[0], LANDLORD, beliefs[0], rng)
        offered, new = _both(states, actions, plays_met)
        unique += new
        if done <= AVERAGED:
            total += offered
        if done == DETERMINIZATIONS[step]:
            plays[2 + step] = unique
            step += 1
    plays[1] = total / AVERAGED


@attrs.frozen
class Buffers:
    """What is written while plays are counted: states, beliefs, legal actions, and the sets of plays met so far."""

    states: np.ndarray = attrs.field(factory=lambda: np.zeros(3, DOU_DI_ZHU.state))
    beliefs: np.ndarray = attrs.field(factory=lambda: np.zeros(1, DOU_DI_ZHU.beliefs))
    actions: np.ndarray = attrs.field(factory=lambda: np.zeros((2, DOU_DI_ZHU.max_legal), np.int64))
    plays_met: np.ndarray = attrs.field(factory=lambda: np.zeros((len(PEASANTS), SLOTS), np.int64))


def measure_deal(deal: np.ndarray, rng: np.ndarray, buffers: Buffers) -> np.ndarray:
    """The leading plays of both peasants together in one deal, state data. [MEASURES]"""
    plays = np.zeros(len(MEASURES))
    buffers.states[2] = deal
    _count(buffers.states, buffers.beliefs, rng, buffers.actions, buffers.plays_met, plays)
    return plays


def measure_deals(deals: int, seed: int) -> np.ndarray:
    """The same in random deals. [deals, MEASURES]"""
    plays, deal = np.zeros((deals, len(MEASURES))), np.zeros(1, DOU_DI_ZHU.state)
    rng, buffers = seeded(seed), Buffers()
    for row in plays:
        deal[:] = 0
        initial(deal[0], rng)
        row[:] = measure_deal(deal[0], rng, buffers)
    return plays


def keep(directory: Path, plays: np.ndarray) -> None:
    """Write the plays of each deal into a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    lines = ([deal, *(f"{number:g}" for number in row)] for deal, row in enumerate(plays))
    (directory / BRANCHING_ROWS).write_bytes(csv_of([["deal", *MEASURES], *lines]))


def load_plays(directory: Path) -> np.ndarray:
    """The plays that a directory holds. [deals, MEASURES]

    Raises:
        Refusal: it holds none, or something else.
    """
    path = directory / BRANCHING_ROWS
    try:
        with path.open(encoding="utf-8", newline="") as file:
            head, *lines = csv.reader(file)
        rows = np.array([[float(number) for number in line[1:]] for line in lines])
    except (OSError, ValueError) as error:
        raise Refusal(f"{path} cannot be read: {error}") from None
    if head != ["deal", *MEASURES] or rows.shape != (len(lines), len(MEASURES)) or len(lines) < FEWEST:
        raise Refusal(f"{path} does not have the leading plays of at least {FEWEST} deals")
    return rows
