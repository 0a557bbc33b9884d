"""The experiments of the two papers on which section 8's search rests, as tables.

Cowling, Powley and Whitehouse: Information Set Monte Carlo Tree Search (2012), Figs. 6-10, 14 and 15; Powley, Whitehouse and
Cowling: Determinization in Monte-Carlo Tree Search for the card game Dou Di Zhu (2011), Figs. 2-5 and Table 2.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

Table = dict[str, Any]

ITERATIONS = 10_000  # of a decision in both papers, shared by all trees of a search
TREES = 40  # of a determinized search in both papers, unless something else is said
LOTR, PHANTOM, DOU_DI_ZHU = "lotr-confrontation", "phantom-mnk", "dou-di-zhu"
FIRST = "First"  # who moves first in Phantom m,n,k
EXP3 = " with EXP3"  # at the simultaneous choice of cards in LOTR:C (section III-C1)
LOTR_TRIALS, PHANTOM_TRIALS, DEALS, TIMED_TRIALS = 750, 200, 1000, 500
LIGHT_TREES, DARK_TREES = 1, 10  # "chosen based on the results in Section V-B"
BALANCE = (1, 2, 5, 10, 20, 40, 100)  # determinizations in Fig. 6, whose axis the text does not give
DETERMINIZATIONS = (1, 2, 5, 10, 20, 30, 40, 50, 75, 100)  # in Figs. 2 and 4 of 2011: "from 1 to 100"
EACH_FIXED, EACH = (50, 100, 250, 500), (25, 50, 100, 200, 300, 500, 750, 1000)  # iterations of a tree: Figs. 2 and 3
FIXED = (5, 10, 25, 40)  # determinizations in Fig. 3
TOTALS = (2500, 5000, 10_000, 15_000)  # iterations of all trees in Fig. 4
# The papers' 1-30 s and 0.25-5 s in iterations: a decision of 10,000 took their determinized UCT a second, and takes ours less than 0.1 s.
LOTR_SECONDS, PHANTOM_SECONDS = [0.03, 0.1, 0.3, 1], [0.01, 0.03, 0.1, 0.3, 1]
TIMED = ("Determinized UCT", "SO-ISMCTS", "MO-ISMCTS")


def searches(determinizations: int = TREES, trees: int = TREES, exp3: bool = False) -> dict[str, Table]:
    """The six searches of 2012 as agents: section V-C."""
    schemes = {
        "Cheating UCT": "CheatingUCT",
        "Cheating ensemble UCT": f"CheatingEnsembleUCT({trees})",
        "Determinized UCT": f"DeterminizedUCT({determinizations})",
        "SO-ISMCTS": "SO_ISMCTS",
        "SO-ISMCTS + POM": "SO_ISMCTS_POM",
        "MO-ISMCTS": "MO_ISMCTS",
    }
    return {name: {"scheme": scheme + (EXP3 if exp3 else "")} for name, scheme in schemes.items()}


LIGHT, DARK = (searches(determinizations, DARK_TREES, exp3=True) for determinizations in (LIGHT_TREES, DARK_TREES))


def _searches_lotr(iterations: int) -> list[Table]:
    return [
        {
            "games": LOTR,
            "roles": "Light",
            "agents": LIGHT,
            "opponent": list(DARK.values()),
            "iterations": iterations,
            "trials": LOTR_TRIALS,
            "pictures": ["heat-map", "strength"],
        }
    ]


def _searches_phantom(iterations: int) -> list[Table]:
    agents = searches()
    return [
        {
            "games": PHANTOM,
            "roles": FIRST,
            "agents": agents,
            "opponent": list(agents.values()),
            "iterations": iterations,
            "trials": PHANTOM_TRIALS,
            "pictures": ["heat-map", "strength"],
        }
    ]


def trees(number: int, each: int) -> tuple[str, Table]:
    """Determinized UCT with so many determinizations of so many iterations each, under the name that the papers give it."""
    return f"{number} × {each}", {"scheme": f"DeterminizedUCT({number})", "iterations": number * each}


def _balance_lotr(iterations: int) -> list[Table]:
    agents = {
        f"{number} × {iterations // number}": {"scheme": f"DeterminizedUCT({number}){EXP3}"} for number in BALANCE
    }
    return [
        {
            "games": LOTR,
            "roles": ["Light", "Dark"],
            "agents": agents,
            "opponent": {"scheme": f"DeterminizedUCT({TREES}){EXP3}"},
            "iterations": iterations,
            "trials": LOTR_TRIALS,
            "pictures": ["balance"],
        }
    ]


def scale(numbers: Iterable[int], iterations: int) -> list[int]:
    """Numbers of iterations given for decisions of 10,000, for decisions of another size."""
    return [max(1, number * iterations // ITERATIONS) for number in numbers]


def lines_of_2011(iterations: int) -> tuple[dict[int, dict[int, tuple[int, int]]], ...]:
    """The lines of Figs. 2, 3 and 4: by what is fixed in a line and by what varies along it, the trees and the iterations of each.

    Fixed are in Fig. 2 the iterations of a tree, in Fig. 3 the trees, in Fig. 4 the iterations of all; in Fig. 3 the iterations of a
    tree vary, in the others the trees.
    """
    return (
        {each: {number: (number, each) for number in DETERMINIZATIONS} for each in scale(EACH_FIXED, iterations)},
        {number: {each: (number, each) for each in scale(EACH, iterations)} for number in FIXED},
        {
            total: {number: (number, max(1, total // number)) for number in DETERMINIZATIONS}
            for total in scale(TOTALS, iterations)
        },
    )


def _balance_dou_di_zhu(iterations: int) -> list[Table]:
    pairs = sorted({pair for lines in lines_of_2011(iterations) for line in lines.values() for pair in line.values()})
    return [
        {
            "games": DOU_DI_ZHU,
            "agents": dict(trees(*pair) for pair in pairs),
            "opponent": {"scheme": f"DeterminizedUCT({TREES})"},
            "iterations": iterations,
            "trials": DEALS,
            "paired": True,
            "pictures": ["determinizations"],
        }
    ]


def _hidden_cards(iterations: int) -> list[Table]:
    agents = {
        "Determinized UCT": {"scheme": f"DeterminizedUCT({TREES})"},
        "Cheating ensemble UCT": {"scheme": f"CheatingEnsembleUCT({TREES})"},
    }
    determinized, cheating = agents.values()
    shared = {
        "games": DOU_DI_ZHU,
        "agents": agents,
        "iterations": iterations,
        "trials": DEALS,
        "paired": True,
        "pictures": ["hidden-cards"],
    }
    return [
        {**shared, "roles": ["Landlord", "Peasant 1", "Peasant 2"], "opponent": determinized},
        {**shared, "roles": "Landlord", "opponent": cheating},
    ]


def _decision_time_lotr(_: int) -> list[Table]:
    shared = {"games": LOTR, "seconds": LOTR_SECONDS, "trials": TIMED_TRIALS, "pictures": ["decision-time"]}
    return [
        {
            **shared,
            "roles": role,
            "agents": {"MO-ISMCTS": role_agent["MO-ISMCTS"]},
            "opponent": others["Determinized UCT"],
        }
        for role, role_agent, others in (("Light", LIGHT, DARK), ("Dark", DARK, LIGHT))
    ]


def _decision_time_phantom(_: int) -> list[Table]:
    timed = {name: agent for name, agent in searches().items() if name in TIMED}
    return [
        {
            "games": PHANTOM,
            "roles": FIRST,
            "seconds": PHANTOM_SECONDS,
            "trials": TIMED_TRIALS,
            "pictures": ["decision-time"],
            "agents": {name: agent},
            "opponent": [opponent for rival, opponent in timed.items() if rival != name],
        }
        for name, agent in timed.items()
    ]


EARLIER: Mapping[str, Callable[[int], list[Table]]] = {
    "searches-lotr": _searches_lotr,
    "searches-phantom": _searches_phantom,
    "determinizations-lotr": _balance_lotr,
    "determinizations-dou-di-zhu": _balance_dou_di_zhu,
    "hidden-cards": _hidden_cards,
    "decision-time-lotr": _decision_time_lotr,
    "decision-time-phantom": _decision_time_phantom,
}


def tables(name: str, iterations: int = ITERATIONS) -> list[Table]:
    """An experiment of the earlier papers; its cells are those of all tables together.

    Args:
        iterations: per decision, where the budget is in iterations; own budgets of agents keep their proportion to it.
    """
    return [{"name": name, **table} for table in EARLIER[name](iterations)]
