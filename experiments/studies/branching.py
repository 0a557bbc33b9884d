"""The branching of Dou Di Zhu as its landlord sees it (Cowling, Powley and Whitehouse 2012, section VII-C, Table II): no game is played.

For random deals the peasants' leading plays are counted, kickers together with the play that they go with: in the deal itself, on
average over determinizations of it, and those that at least one of so many determinizations offers. The plays of each peasant are
counted on their own, and the two counts added.

    python -m experiments.studies.branching --deals 5000
"""

import numpy as np
import typer

from experiments.commands import print_table
from icarus.compiler import address_of, array_kernel, call, helper, inlined, seeded
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
RULES = ("legal", "apply", "prepare", "determinize")  # whose addresses are called


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
def _leads(
    rules: np.ndarray,
    state: np.ndarray,
    after: np.ndarray,
    actions: np.ndarray,
    kickers: np.ndarray,
    plays_met: np.ndarray,
) -> tuple[int, int]:
    """How many plays the player to move may lead, and how many of them are new. Overwrites `after`."""
    total, new = 0, 0
    for i in range(call(rules[0], (address_of(state), address_of(actions)))):
        base = actions[i]
        after[0] = state[0]
        call(rules[1], (address_of(after), base))
        if after[0].kickers_due == 0:
            total += 1
            new += _add(plays_met, base)
            continue
        for k in range(call(rules[0], (address_of(after), address_of(kickers)))):
            total += 1
            new += _add(plays_met, base | (kickers[k] << BASE_BITS))
    return total, new


@helper
def _both(
    rules: np.ndarray,
    state: np.ndarray,
    after: np.ndarray,
    actions: np.ndarray,
    kickers: np.ndarray,
    plays_met: np.ndarray,
) -> tuple[int, int]:
    """The same for both peasants together, each with a set of his own."""
    total, new = 0, 0
    for i in range(len(PEASANTS)):
        state[0].player = PEASANTS[i]
        plays, unseen = _leads(rules, state, after, actions, kickers, plays_met[i])
        total += plays
        new += unseen
    return total, new


@array_kernel("leading plays of Dou Di Zhu")
def _count(
    rules: np.ndarray,
    deal: np.ndarray,
    state: np.ndarray,
    after: np.ndarray,
    beliefs: np.ndarray,
    rng: np.ndarray,
    actions: np.ndarray,
    kickers: np.ndarray,
    plays_met: np.ndarray,
    plays: np.ndarray,
) -> int:
    """Write into `plays` the MEASURES of a deal.

    `state` is where a peasant leads: in the deal first, then in each determinization. `_leads` overwrites `after`.
    """
    state[0] = deal[0]
    plays_met[:] = 0
    plays[0] = _both(rules, state, after, actions, kickers, plays_met)[0]
    call(rules[2], (address_of(deal), LANDLORD, address_of(beliefs)))
    plays_met[:] = 0
    total, unique, step = 0, 0, 0
    for done in range(1, DETERMINIZATIONS[-1] + 1):
        state[0] = deal[0]
        call(rules[3], (address_of(state), LANDLORD, address_of(beliefs), address_of(rng)))
        offered, new = _both(rules, state, after, actions, kickers, plays_met)
        unique += new
        if done <= AVERAGED:
            total += offered
        if done == DETERMINIZATIONS[step]:
            plays[2 + step] = unique
            step += 1
    plays[1] = total / AVERAGED
    return unique


def measure_deal(deal: np.ndarray, rng: np.ndarray) -> np.ndarray:
    """The leading plays of both peasants together in one deal, state data. [MEASURES]"""
    rules = np.array([DOU_DI_ZHU.address(name) for name in RULES])
    state, after = np.zeros((2, 1), DOU_DI_ZHU.state)
    actions, kickers = np.zeros((2, DOU_DI_ZHU.max_legal), np.int64)
    plays_met = np.zeros((len(PEASANTS), SLOTS), np.int64)
    plays = np.zeros(len(MEASURES))
    beliefs = np.zeros(1, DOU_DI_ZHU.beliefs)
    _count(rules, deal, state, after, beliefs, rng, actions, kickers, plays_met, plays)
    return plays


def measure_deals(deals: int, seed: int) -> np.ndarray:
    """The same in random deals. [deals, MEASURES]"""
    plays, rng = np.zeros((deals, len(MEASURES))), seeded(seed)
    initial = DOU_DI_ZHU.kernels().initial
    assert initial is not None
    for row in plays:
        deal = np.zeros(1, DOU_DI_ZHU.state)
        parameters = DOU_DI_ZHU.initial_arguments()
        initial(deal.ctypes.data, rng.ctypes.data, parameters.ctypes.data)
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
