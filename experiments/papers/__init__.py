"""The papers' experiments: the tables beside this file, and what is computed of them."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

TomlTable = dict[str, Any]
HERE = Path(__file__).parent


def read_table(name: str) -> TomlTable:
    """A table beside this file."""
    return tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))


# -------------------- Section 8 of the paper of 2014.

# section 7, in its order
GAMES = ["dou-di-zhu", "hearts", "lotr-confrontation", "checkers", "othello", "backgammon"]
# a column each; elsewhere the seat rotates
ROLES = {"dou-di-zhu": ("Landlord",), "lotr-confrontation": ("Light", "Dark")}
ITERATIONS, TRIALS = 5000, 1000  # per decision; games per cell (Figure 5)
ENHANCEMENTS = ("NAST", "RAVE", "MAST", "LGRF")  # the bullets of Table 1, left to right: N, R, M, L
_OF_SECTION_8 = read_table("section8")
AGENTS = _OF_SECTION_8["agents"]
TABLE_1, EPISODES, REUSE = AGENTS.values()
RULES = {name: text for name, text in REUSE.items() if name != "Baseline"}
SECTION_8 = {
    **TABLE_1,
    "EPIC": EPISODES["EPIC"],
    **{name: RULES[name] for name in ("ε-greedy", "Roulette", "UCB1")},
}
AGENTS |= {
    "TREE": {name: TABLE_1[name] for name in ("-", "N", "R", "M", "L")},
    "SECTION_8": SECTION_8,
}
SUITE: dict[str, TomlTable] = {
    name: {**table, "agents": AGENTS[table["agents"]]}
    for name, table in _OF_SECTION_8["experiments"].items()
}


@attrs.frozen
class Combination:
    """A row of Table 1.

    Attributes:
        name: such as "NML"; "-" for the baseline.
        enhancements: those marked with a bullet, a subset of `ENHANCEMENTS`.
        strategy: the specification, as `icarus.parse` reads it.
    """

    name: str
    enhancements: frozenset[str]
    strategy: str


COMBINATIONS = tuple(
    Combination(name, frozenset(each for each in ENHANCEMENTS if each[0] in name), strategy)
    for name, strategy in TABLE_1.items()
)
BY_NAME = {combination.name: combination for combination in COMBINATIONS}

# -------------------- The two papers on which section 8's search rests (see earlier.toml): determinizations and iterations.

EARLIER_ITERATIONS = 10_000  # of a decision in both papers, shared by all trees of a search
TREES = 40  # of a determinized search in both papers, unless something else is said
LOTR, PHANTOM, DOU_DI_ZHU = "lotr-confrontation", "phantom-mnk", "dou-di-zhu"
FIRST = "First"  # who moves first in Phantom m,n,k
# determinizations in Fig. 6, whose axis the text does not give
BALANCE = (1, 2, 5, 10, 20, 40, 100)
# in Figs. 2 and 4 of 2011: "from 1 to 100"
DETERMINIZATIONS = (1, 2, 5, 10, 20, 30, 40, 50, 75, 100)
# iterations of a tree: Figs. 2 and 3
EACH_FIXED = (50, 100, 250, 500)
EACH = (25, 50, 100, 200, 300, 500, 750, 1000)
FIXED = (5, 10, 25, 40)  # determinizations in Fig. 3
TOTALS = (2500, 5000, 10_000, 15_000)  # iterations of all trees in Fig. 4


def scale(numbers: Iterable[int], iterations: int) -> list[int]:
    """Numbers of iterations given for decisions of 10,000, for decisions of another size."""
    return [max(1, number * iterations // EARLIER_ITERATIONS) for number in numbers]


def lines_of_2011(iterations: int) -> tuple[dict[int, dict[int, tuple[int, int]]], ...]:
    """The lines of Figs. 2, 3 and 4: by what is fixed in a line and by what varies along it, the trees and the iterations of each.

    Fixed are in Fig. 2 the iterations of a tree, in Fig. 3 the trees, in Fig. 4 the iterations of all; in Fig. 3 the iterations of a
    tree vary, in the others the trees.
    """
    figure_2, figure_3, figure_4 = {}, {}, {}
    for each in scale(EACH_FIXED, iterations):
        figure_2[each] = {number: (number, each) for number in DETERMINIZATIONS}
    for number in FIXED:
        figure_3[number] = {each: (number, each) for each in scale(EACH, iterations)}
    for total in scale(TOTALS, iterations):
        figure_4[total] = {number: (number, max(1, total // number)) for number in DETERMINIZATIONS}
    return figure_2, figure_3, figure_4


def _determinizations(name: str, iterations: int) -> TomlTable:
    """The agents of an experiment on the number of determinizations, under the names that the papers give them."""
    if name == "determinizations-lotr":
        return {
            f"{number} × {iterations // number}": {"scheme": f"DeterminizedUCT({number}) with EXP3"}
            for number in BALANCE
        }
    pairs = set[tuple[int, int]]()
    for lines in lines_of_2011(iterations):
        for line in lines.values():
            pairs.update(line.values())
    return {
        f"{number} × {each}": {"scheme": f"DeterminizedUCT({number})", "iterations": number * each}
        for number, each in sorted(pairs)
    }


# -------------------- The pictures that can be drawn of results: what each shows, and of whom.


@attrs.frozen
class PictureKind:
    """A kind of picture.

    Attributes:
        caption: what people read below it.
        agents: whom it shows, by the names that they have in it; empty if all agents of an experiment.
        of_two: whether it shows games of two players whose agents keep to their seats.
    """

    caption: str
    agents: Mapping[str, str]
    of_two: bool = False


PICTURES = {
    name: PictureKind(**{**table, "agents": AGENTS.get(table.get("agents"), {})})
    for name, table in read_table("pictures").items()
}

# -------------------- All of them, by their names.

GROUPS: dict[str, dict[str, list[TomlTable]]] = {
    "section8": {
        name: [{"games": GAMES, "iterations": ITERATIONS, **table}] for name, table in SUITE.items()
    },
    "earlier": read_table("earlier"),
    **{
        group: {name: [table] for name, table in read_table(group).items()}
        for group in ("sensitivity", "catalogue")
    },
}
USUAL: dict[str, TomlTable] = {  # where a table has nothing else
    "section8": {"trials": TRIALS},
    "earlier": {},
    "sensitivity": {"iterations": 1000, "trials": 150},
    "catalogue": {"iterations": 300, "trials": 400},
}
NAMES = tuple(name for tables in GROUPS.values() for name in tables)


def tables(name: str, iterations: int | None = None) -> list[TomlTable]:
    """An experiment as tables; its cells are those of all of them together.

    Args:
        iterations: per decision, where it is another number than the paper's; agents' own numbers keep their proportion to it.
    """
    group = next(group for group in GROUPS if name in GROUPS[group])
    groups = [{"name": name, **USUAL[group], **table} for table in GROUPS[group][name]]
    if name.startswith("determinizations"):
        iterations = iterations or EARLIER_ITERATIONS
        groups[0] |= {"agents": _determinizations(name, iterations), "iterations": iterations}
    return groups
