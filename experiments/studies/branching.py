"""The branching of Dou Di Zhu as its landlord sees it (Cowling, Powley and Whitehouse 2012, section VII-C, Table II): no game is played.

For random deals the peasants' leading plays are counted, kickers together with the play that they go with: in the deal itself, on
average over determinizations of it, and those that at least one of so many determinizations offers. The plays of each peasant are
counted on their own, and the two counts added.

    python -m experiments.studies.branching --deals 5000
"""

import numpy as np
import typer

from experiments.commands import print_table
from icarus.compiler import helper, inlined, seeded
from icarus.games.dou_di_zhu import DOU_DI_ZHU, LANDLORD, PLAYS
from icarus.statistics import mean_of
from icarus.views.document import Table

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
assert DOU_DI_ZHU.prepare is not None and DOU_DI_ZHU.determinize is not None
initial, legal, apply, prepare, determinize = map(
    helper,
    (
        DOU_DI_ZHU.initial,
        DOU_DI_ZHU.legal,
        DOU_DI_ZHU.apply,
        DOU_DI_ZHU.prepare,
        DOU_DI_ZHU.determinize,
    ),
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
    """Write into `plays` the MEASURES of the deal in states[2].

    states[0] is where a peasant leads: in the deal first, then in each determinization. `_leads` overwrites states[1].
    """
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


def measure_deal(deal: np.ndarray, rng: np.ndarray) -> np.ndarray:
    """The leading plays of both peasants together in one deal, state data. [MEASURES]"""
    states, beliefs = np.zeros(3, DOU_DI_ZHU.state), np.zeros(1, DOU_DI_ZHU.beliefs)
    actions = np.zeros((2, DOU_DI_ZHU.max_legal), np.int64)
    plays_met = np.zeros((len(PEASANTS), SLOTS), np.int64)
    plays = np.zeros(len(MEASURES))
    states[2] = deal
    _count(states, beliefs, rng, actions, plays_met, plays)
    return plays


def measure_deals(deals: int, seed: int) -> np.ndarray:
    """The same in random deals. [deals, MEASURES]"""
    plays, rng = np.zeros((deals, len(MEASURES))), seeded(seed)
    for row in plays:
        deal = np.zeros(1, DOU_DI_ZHU.state)[0]
        initial(deal, rng)
        row[:] = measure_deal(deal, rng)
    return plays


def table(plays: np.ndarray) -> Table:
    """Table II from the plays of single deals, with 95 % intervals, beside the published one. [deals, MEASURES]"""
    lines = []
    for measure, published, values in zip(MEASURES, PUBLISHED, plays.T, strict=True):
        mean = mean_of(values, 0.0, np.inf)
        interval = f"{mean.low:.1f} - {mean.high:.1f}"
        lines.append(
            [
                measure,
                f"{mean.value:.1f}",
                interval,
                f"{published:g}",
                f"{mean.value / published:.3f}",
            ]
        )
    return Table(
        f"Leading plays of the peasants of Dou Di Zhu, from {len(plays)} deals; published: Cowling, Powley, Whitehouse 2012, Table II.",
        ["Leading plays", "Measured", "95 % interval", "Published", "Ratio"],
        lines,
    )


def main(deals: int = 5000, seed: int = 0) -> None:
    """The leading plays of Dou Di Zhu's peasants as the landlord sees them."""
    print_table(table(measure_deals(deals, seed)))


if __name__ == "__main__":
    typer.run(main)
