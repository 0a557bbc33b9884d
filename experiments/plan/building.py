"""Experiments from tables, in TOML or Python: every key is checked, and lists unfold to a grid of cells.

The keys, and what they mean, are on a page: docs/experiments.md.
"""

import contextlib
import itertools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import attrs

from experiments.papers.suite import ROLES
from experiments.plan.agents import BASELINE, OPPONENT_KEYS, Entry, read_agents, read_entry
from experiments.plan.checks import (
    Table,
    list_of,
    nearest,
    one_of,
    paths,
    positive,
    positive_real,
    refusing,
    require,
    seed,
    text,
    truth,
)
from experiments.plan.definition import Cell, Column, Experiment, Refusal, Sprt
from experiments.plan.pictures import PICTURES
from experiments.plan.sources import imports_of, source_of
from icarus import checks, games
from icarus.engine.algorithm import Algorithm
from icarus.equilibrium.tree import refuse_unless_walkable
from icarus.kernel.game import AnyGame
from icarus.load_files import load_file

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
