"""The experiments of section 8 as tables, and experiments from files, by name."""
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.combinations import COMBINATIONS
from experiments.definition import Experiment, Refusal, build, nearest

GAMES = ["dou-di-zhu", "hearts", "lotr-confrontation", "checkers", "othello", "backgammon"]     # section 7, in its order
ITERATIONS = 5000                                                                               # per decision, section 8
TABLE_1 = {combination.name: combination.strategy for combination in COMBINATIONS}
EPISODES = {"Baseline": "BASELINE", "EPIC": "BASELINE >> EPIC", "NAST": "BASELINE >> NAST2"}
SUITE: dict[str, dict[str, Any]] = {
    "figure3": {"agents": TABLE_1, "pictures": ["figure3"]},
    "figure4": {"agents": TABLE_1, "pictures": ["figure4"]},
    "figure5": {"agents": EPISODES, "pictures": ["figure5"]},
}


def load(name: str, changes: Mapping[str, Any]) -> Experiment:
    """An experiment of section 8 by its name, or one's own by the path of its TOML file.

    Args:
        changes: keys of the table to be replaced (games, trials, iterations, seed).

    Raises:
        Refusal: no such experiment, or a wrong table.
    """
    if name in SUITE:
        return build(_changed({"name": name, "games": GAMES, "iterations": ITERATIONS, **SUITE[name]}, changes))
    path = Path(name)
    if path.suffix != ".toml" and not path.is_file():
        raise Refusal(f"no experiment is called {name!r}{nearest(name, SUITE)} (one's own is given by the path of a .toml file)")
    try:
        return build(_changed({"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}, changes))
    except OSError as error:
        raise Refusal(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:                                   # tomllib's and codecs' own, and Refusal
        raise Refusal(f"{name}: {error}") from None


def _changed(table: dict[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    if "iterations" in changes:
        table.pop("seconds", None)
    return {**table, **changes}
