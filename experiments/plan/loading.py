"""Experiments by name: those of the papers, and one's own from files."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from experiments.papers import catalogue, earlier, sensitivity
from experiments.papers.suite import GAMES, ITERATIONS, SUITE, TRIALS
from experiments.plan.building import build, build_together
from experiments.plan.checks import Table, list_of, nearest, positive, refusing
from experiments.plan.definition import Experiment, Refusal
from icarus.load_files import game_of_file, load_file, load_files

NAMES = (*SUITE, *sensitivity.SENSITIVITY, *catalogue.CATALOGUE, *earlier.EARLIER)
PYTHON_TABLE = "EXPERIMENT"  # the name of the table in a Python file


def load(name: str, changes: Table, file: Path | None = None) -> Experiment:
    """An experiment of the papers by its name, or one's own by the path of its TOML or Python file.

    A TOML file may name the file of a game of one's own, from the folder that it is in. A Python file holds the table as the dict
    `EXPERIMENT`; its agents may be compositions instead of texts. Both may use whatever enhancements the Python file defines.

    Args:
        changes: keys of the table to be replaced (games, trials, iterations, seconds, seed, paired, sprt).
        file: a Python file with enhancements and games that the experiment may name.

    Raises:
        Refusal: no such experiment, a wrong table, or a file that defines nothing.
    """
    module = "" if file is None else _module_of(file)
    if name in SUITE:
        usual = {"games": GAMES, "iterations": ITERATIONS, "trials": TRIALS}
        return build(_with_changes({"name": name, **usual, **SUITE[name]}, changes), module)
    for source, small in ((sensitivity, sensitivity.SENSITIVITY), (catalogue, catalogue.CATALOGUE)):
        if name in small:
            usual = {"iterations": source.ITERATIONS, "trials": source.TRIALS, "pictures": ["agents"]}
            return build(_with_changes({"name": name, **usual, **small[name]}, changes), module)
    if name in earlier.EARLIER:
        tables = earlier.tables(name, positive("iterations", changes.get("iterations", earlier.ITERATIONS)))
        return build_together([_with_changes(table, changes) for table in tables], module)
    path = Path(name)
    if path.suffix not in (".toml", ".py") and not path.is_file():
        raise Refusal(
            f"no experiment is called {name!r}{nearest(name, NAMES)} (for your own experiment, give the path of a .toml or .py file)"
        )
    try:
        if path.suffix == ".py":
            if module:
                raise Refusal(f"a .py file imports what it uses; import {file} there instead of --with")
            return build(_with_changes({"name": path.stem, **_python_table(path)}, changes), str(path.resolve()))
        table, game_file = _without_file(
            {"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8"))}, path.parent
        )
        if module and game_file not in ("", module):
            raise Refusal(
                f"games: {Path(game_file).name} is another file than that of --with; import it in {file}, and give the name of its game"
            )
        return build(_with_changes(table, changes), module or game_file)
    except OSError as error:
        raise Refusal(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:  # tomllib's and codecs' own, and Refusal
        raise Refusal(f"{name}: {error}") from None


def _module_of(file: Path) -> str:
    """The path of a file of enhancements and games, which are checked as those of `icarus match --with`."""
    with refusing("--with"):
        load_files([file])
    return str(file.resolve())


def _without_file(table: dict[str, object], folder: Path) -> tuple[dict[str, object], str]:
    """A table with the name of a game in place of the file that defines it, and the file; no file where the table names none.

    Raises:
        ValueError: the file has not just one game. Refusal: the table names two files.
    """
    names = list_of("games", table) if "games" in table else []
    files = list(dict.fromkeys(name for name in names if isinstance(name, str) and name.endswith(".py")))
    if not files:
        return table, ""
    if len(files) > 1:
        raise Refusal(
            f"games: {files[0]} and {files[1]} are two files; write the experiment as a .py file that imports both"
        )
    game = game_of_file(folder / files[0], "and write the experiment as a .py file that imports it")
    return {**table, "games": [str(game) if name == files[0] else name for name in names]}, str(
        (folder / files[0]).resolve()
    )


def published_size(experiment: Experiment) -> tuple[int, int | None]:
    """The paper's own size of an experiment, for others that of section 8: games per cell and iterations per decision; None instead
    of the latter if the experiment's budgets are in seconds."""
    timed = any(column.seconds is not None for column in experiment.columns)
    if experiment.name not in earlier.EARLIER:
        return TRIALS, None if timed else ITERATIONS
    return earlier.tables(experiment.name)[0]["trials"], None if timed else earlier.ITERATIONS


def _python_table(path: Path) -> Table:
    table = vars(load_file(path)).get(PYTHON_TABLE)
    if not isinstance(table, Mapping):
        raise Refusal(f"the file has no dict {PYTHON_TABLE}, such as {PYTHON_TABLE} = {{'games': 'othello', …}}")
    return table


def _with_changes(table: dict[str, object], changes: Table) -> Table:
    for budget, replaced in (("iterations", "seconds"), ("seconds", "iterations")):
        if budget in changes:
            table.pop(replaced, None)
    return {**table, **changes}
