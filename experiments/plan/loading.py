"""Experiments from tables, by name or from files, in TOML or Python: every key is checked, and lists unfold to a grid of cells.

The keys, and what they mean, are on a page: docs/experiments.md.
"""

import contextlib
import itertools
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from experiments import papers
from experiments.papers import GROUPS, NAMES, ROLES
from experiments.plan.definition import (
    PICTURES,
    AgentSpec,
    Cell,
    Column,
    Experiment,
    Label,
    Refusal,
    Sprt,
    Table,
    imports_of,
    list_of,
    nearest,
    one_of,
    paths,
    positive,
    positive_real,
    read_agent,
    refusing,
    require,
    seed,
    source_of,
    strategy_of,
    text,
    truth,
)
from icarus import Enhancement, checks, games
from icarus.arena.player import read_scheme
from icarus.engine.match import Agent
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.engine.search import Algorithm
from icarus.equilibrium.tree import refuse_unless_walkable
from icarus.kernel.game import AnyGame
from icarus.load_files import game_of_file, load_file, load_files

BASELINE = "BASELINE"
AGENT_KEYS = ("strategy", "scheme", "iterations")
OPPONENT_KEYS = ("strategy", "scheme")
CHEATING = "cheating"


@attrs.frozen
class Entry:
    """What a table says of an agent or an opponent: who plays, and an agent's own iterations, if it has any."""

    spec: AgentSpec
    iterations: int | None = None


def read_agents(table: Table, module: str) -> dict[str, Entry]:
    """The agents of a table, by name.

    Raises:
        Refusal: there are none, or one cannot be understood.
    """
    by_name = require(table, "agents")
    if by_name == {}:
        raise Refusal('agents: the table is empty; write a line such as mast = "BASELINE >> MAST"')
    if isinstance(by_name, Mapping):
        entries = {name: read_entry(f"agents.{name}", value, module) for name, value in by_name.items()}
    else:
        entries = {}
        for path, value in paths("agents", table):
            if (name := _name(path, value)) in entries:
                raise Refusal(f"{path}: {name} is in the list twice")
            entries[name] = read_entry(path, value, module)
    honest = {_honest(name, each.spec.scheme): each for name, each in entries.items()}
    if len(honest) < len(entries):
        raise Refusal(f'agents: two have the same name, after "({CHEATING})" was added to agents that cheat')
    return honest


def read_entry(path: str, value: object, module: str, keys: Sequence[str] = AGENT_KEYS) -> Entry:
    """A strategy, or a table of these keys.

    Raises:
        Refusal: it cannot be understood.
    """
    if not isinstance(value, Mapping):
        return Entry(AgentSpec(_strategy(path, value, module)))
    for key in value:
        if key not in keys:
            raise Refusal(f"{path}.{key}: no such key{nearest(key, keys)}")
    if not value:
        raise Refusal(f"{path}: the table is empty; give at least one of {', '.join(keys)}")
    strategy = _strategy(f"{path}.strategy", value.get("strategy", BASELINE), module)
    scheme = _scheme(f"{path}.scheme", value["scheme"]) if "scheme" in value else MO_ISMCTS
    iterations = positive(f"{path}.iterations", value["iterations"]) if "iterations" in value else None
    if isinstance(strategy, Algorithm):
        with refusing():
            Agent(strategy, iterations=1, scheme=scheme)
    return Entry(AgentSpec(strategy, scheme), iterations)


def _name(path: str, value: object) -> str:
    """The name of an agent that is given none."""
    if not isinstance(value, Mapping):
        return text(path, _as_text(value))
    return ", ".join(text(f"{path}.{key}", str(part)) for key, part in value.items())


def _scheme(path: str, value: object) -> Scheme:
    """A scheme, or what its text describes."""
    if isinstance(value, Scheme):
        return value
    with refusing(path):
        return read_scheme(text(path, value))


def _honest(name: str, scheme: Scheme) -> str:
    """The name of an agent; one that cheats says so."""
    return f"{name} ({CHEATING})" if scheme.cheats and CHEATING not in name.lower() else name


def _strategy(path: str, value: object, module: str) -> Enhancement | Algorithm:
    """A strategy, or what its text describes.

    Rows, keys and workers know a strategy by its text alone: the text must name what a Python file gives, and nothing of the library.

    Raises:
        Refusal: the text cannot be understood, or it names something else.
    """
    with refusing(path, (TypeError, ValueError)):
        strategy = strategy_of(text(path, _as_text(value)), module)
    if isinstance(value, Enhancement | Algorithm) and strategy != value:
        raise Refusal(
            f'{path}: "{value}" names another strategy than the one that is given; give what was changed a name of its own, '
            'MINE = attrs.evolve(…, name="MINE"), at the top of the file'
        )
    in_library = read_agent(str(strategy)).strategy
    if not isinstance(in_library, Label) and strategy != in_library:
        raise Refusal(
            f'{path}: the library has another strategy "{strategy}"; rename what the file defines by that name'
        )
    return strategy


def _as_text(value: object) -> object:
    """A composition as text; in Python files people also write the value itself."""
    return str(value) if isinstance(value, Enhancement | Algorithm) else value


# -------------------- Experiments from tables, in TOML or Python: every key is checked, and lists unfold to a grid of cells.


DEFAULTS = {"trials": 1000, "opponent": BASELINE, "seed": 0, "paired": False, "sprt": False, "pictures": ["agents"]}
KEYS = ("name", "games", "agents", "iterations", "seconds", "seats", "roles", *DEFAULTS)
OWN_GAME = (
    'for a game of your own, name its file in a TOML file, games = ["mygame.py"], or give its name and --with mygame.py'
)


def build_together(tables: Sequence[Table], module: str = "") -> Experiment:
    """One experiment with the cells of several tables; whatever else it has is that of the first. `module` as of `build`.

    Raises:
        Refusal: see `build`, or the same cell is there twice.
    """
    parts = [build(table, module) for table in tables]
    cells = tuple(cell for part in parts for cell in part.cells)
    _all_different(cells)
    return attrs.evolve(parts[0], cells=cells)


def build(table: Table, module: str = "") -> Experiment:
    """The experiment that a table describes (see docs/experiments.md).

    Args:
        module: the path of a Python file; the compositions may use the names that it defines.

    Raises:
        Refusal: a key is unknown, missing or wrong; the message begins with its path.
    """
    for key in table:
        if key not in KEYS:
            raise Refusal(f"{key}: no such key{nearest(key, KEYS)}")
    table = {**DEFAULTS, **table}
    cells = _cells(table, module)
    names = enumerate(list_of("pictures", table))
    pictures = tuple(one_of(f"pictures[{i}]", picture, tuple(PICTURES)) for i, picture in names)
    _for_two_players(pictures, cells)
    name, trials = text("name", require(table, "name")), positive("trials", table["trials"])
    paired, sprt = truth("paired", table["paired"]), _sprt(table["sprt"])
    experiment = Experiment(name, cells, trials, seed(table["seed"]), pictures, paired, sprt)
    if experiment.sprt:
        _comparable(experiment)
    return experiment


def _cells(table: Table, module: str) -> tuple[Cell, ...]:
    """All agents in all columns."""
    agents, source, imports = read_agents(table, module), source_of(module), imports_of(module)
    cells = tuple(
        Cell(column, name, agent.spec, module, _own_iterations(agent, column), source, imports)
        for column in _columns(table, module)
        for name, agent in agents.items()
    )
    if "seconds" in table and any(agent.iterations for agent in agents.values()):
        raise Refusal(
            "agents: an agent can have iterations of its own only where the experiment's budget is in iterations"
        )
    _all_different(cells)
    for cell in cells:
        _enough_iterations(cell)
        _walkable(cell)
    return cells


def _own_iterations(agent: Entry, column: Column) -> int | None:
    """The budget of an agent, where that is another than the column's."""
    return None if agent.iterations == column.iterations else agent.iterations


def _sprt(value: object) -> Sprt | None:
    if not isinstance(value, Mapping):
        return Sprt() if truth("sprt", value) else None
    fields = tuple(attribute.name for attribute in attrs.fields(Sprt))
    for key, number in value.items():
        one_of(f"sprt.{key}", key, fields)
        with refusing():
            checks.real(f"sprt.{key}", number, 0, 0.5, above=True, below=True)
    return Sprt(**value)


def _comparable(experiment: Experiment) -> None:
    """A sequential test needs the baseline's own games, and whole rounds of seats."""
    for column in experiment.columns:
        if not any(cell.is_opponent for cell in experiment.cells if cell.column == column):
            raise Refusal(
                f"sprt: the opponent {column.opponent.text} must be among the agents, for comparison in {column.game}"
            )
        if experiment.trials % len(column.seats):
            raise Refusal(
                f"trials: {experiment.trials} is not a multiple of {len(column.seats)}, "
                f"the seats to be taken in {column.game}"
            )


def _columns(table: Table, module: str) -> list[Column]:
    opponents = [read_entry(path, value, module, OPPONENT_KEYS).spec for path, value in paths("opponent", table)]
    columns = []
    for path, name in paths("games", table):
        game = known_game(text(path, name), path)
        _refuse_unless_named(game, path)
        for (role, seats), opponent, budget in itertools.product(_seats(table, game), opponents, _budgets(table)):
            columns.append(Column(str(game), _variant(game), role, seats, opponent, *budget))
    return columns


def _budgets(table: Table) -> list[tuple[int | None, float | None]]:
    if ("iterations" in table) == ("seconds" in table):
        reason = "not both" if "seconds" in table else "one of them is missing"
        raise Refusal(f"iterations: give either iterations or seconds for each decision, {reason}")
    if "iterations" in table:
        return [(positive(path, value), None) for path, value in paths("iterations", table)]
    return [(None, positive_real(path, value)) for path, value in paths("seconds", table)]


def _seats(table: Table, game: AnyGame) -> list[tuple[str, tuple[int, ...]]]:
    every = tuple(range(game.players))
    if "roles" in table:
        return _roles(table, game)
    if table.get("seats", "rotate") == "rotate":
        roles = ROLES.get(game.name, ()) if "seats" not in table else ()
        return [(role, (game.seat_names.index(role),)) for role in roles] or [("", every)]
    seats = []
    for path, seat in paths("seats", table):
        if not checks.is_integer(seat) or seat not in every:
            raise Refusal(
                f'{path}: {seat!r} is not "rotate" or a seat of {game}; its seats are 0 to {game.players - 1}'
            )
        seats.append(int(seat))
    return [(" and ".join(f"seat {seat}" for seat in sorted(set(seats))), tuple(seats))]


def _roles(table: Table, game: AnyGame) -> list[tuple[str, tuple[int, ...]]]:
    if "seats" in table:
        raise Refusal("roles: give either roles or seats, not both")
    if not game.seat_names:
        raise Refusal(f"roles: the seats of {game} have no names")
    roles = [one_of(path, role, game.seat_names) for path, role in paths("roles", table)]
    return [(role, (game.seat_names.index(role),)) for role in roles]


def _for_two_players(pictures: Sequence[str], cells: Sequence[Cell]) -> None:
    for picture in (name for name in pictures if PICTURES[name].of_two):
        for column in {cell.column for cell in cells}:
            if known_game(column.game, "games").players != 2:
                raise Refusal(f"pictures: {picture} shows games of two players, which {column.game} is not")
            if len(column.seats) > 1:
                raise Refusal(f"seats: {picture} needs agents that keep to one seat, such as seats = 0")


def _enough_iterations(cell: Cell) -> None:
    """Every tree of a search needs an iteration."""
    budget_path = "iterations" if cell.own_iterations is None else f"agents.{cell.agent}.iterations"
    for path, scheme, iterations in (
        (budget_path, cell.spec.scheme, cell.iterations),
        ("iterations", cell.column.opponent.scheme, cell.column.iterations),
    ):
        if iterations is not None and iterations < scheme.trees:
            raise Refusal(
                f"{path}: {iterations} are fewer than the {scheme.trees} trees of {scheme}, which each need one"
            )


def _walkable(cell: Cell) -> None:
    """A search that keeps the tree of a game needs one that can be walked whole."""
    for spec in (cell.spec, cell.column.opponent):
        if isinstance(spec.strategy, Algorithm):
            with refusing(f"games: {spec.text} cannot play here"):
                refuse_unless_walkable(known_game(cell.column.game, "games"))


def _all_different(cells: tuple[Cell, ...]) -> None:
    by_key: dict[str, Cell] = {}
    for cell in cells:
        previous = by_key.setdefault(cell.key, cell)
        if previous is not cell:
            where = f"agents.{cell.agent}" if previous.agent != cell.agent else "games"
            raise Refusal(f"{where}: {cell.agent} ({cell.spec.text}) in {cell.column.game} is in the experiment twice")


def known_game(name: str, path: str) -> AnyGame:
    """The game of that name.

    Raises:
        Refusal: there is no such game; the message has the nearest names, or where none is near, what to do for a game of one's own.
    """
    if name.endswith(".py"):
        raise Refusal(f"{path}: no game is called {name!r}; {OWN_GAME}")
    try:
        return games.load(name)
    except ValueError as error:
        hint = f"; {OWN_GAME}" if "; known: " in str(error) else ""
        raise Refusal(f"{path}: {error}{hint}") from None


def game_of(column: Column, modules: Iterable[str]) -> AnyGame:
    """The game of a column; one that is not known yet is in a file of its cells.

    Raises:
        Refusal: it is in none of them, or one cannot be loaded.
    """
    with contextlib.suppress(ValueError):
        return games.load(column.game)
    for module in filter(None, modules):
        with refusing():
            load_file(Path(module))
    return known_game(column.game, "games")


def _refuse_unless_named(game: AnyGame, path: str) -> None:
    """Processes load a game by its full name, which must be the name of that game."""
    try:
        same = games.load(str(game)).parameters == game.parameters
    except ValueError:
        same = False
    if not same:
        raise Refusal(
            f"{path}: {game} cannot be loaded by that name; give its Game(…) defaults={dict(game.parameters)}, "
            "or write a function that returns it for any parameters"
        )


def _variant(game: AnyGame) -> str:
    usual = known_game(game.name, "games").parameters
    return ", ".join(f"{key} = {value}" for key, value in game.parameters.items() if usual.get(key) != value)


# -------------------- Experiments by name: those of the papers, and one's own from files.


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
    if name in NAMES:
        is_scaled = name in GROUPS["earlier"] and "iterations" in changes
        iterations = positive("iterations", changes["iterations"]) if is_scaled else None
        return build_together([_with_changes(table, changes) for table in papers.tables(name, iterations)], module)
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
