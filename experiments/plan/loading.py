"""Experiments from tables, by name or from files, in TOML or Python: every key is checked, and lists unfold to a grid of cells.

The keys, and what they mean, are on a page: docs/experiments.md.
"""

import contextlib
import itertools
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import attrs
import msgspec

from experiments import papers
from experiments.papers import GROUPS, NAMES, PICTURES, ROLES
from experiments.plan.cells import Cell, Column, Experiment, Sprt, strategy_of
from experiments.plan.refusal import Refusal, nearest, one_of, paths, refusing
from experiments.plan.sources import imports_of, source_of
from icarus import Enhancement, checks, games
from icarus.arena.player import (
    Entrant,
    evaluation_of,
    names_algorithm,
    parse_algorithm,
    with_digest,
)
from icarus.engine.match import Agent
from icarus.engine.scheme import MO_ISMCTS, Scheme, parse_scheme
from icarus.engine.search import Algorithm, check_cutoff
from icarus.kernel import UNLIMITED, AnyGame
from icarus.load_files import game_of_file, load_file, load_files, sentence_of

BASELINE = "BASELINE"
CHEATING = "cheating"


TomlTable = Mapping[str, object]  # of an experiment, as a TOML or a Python file has it
# not where a list may stand instead: msgspec 0.22 crashes when such a union is freed
Text = Annotated[str, msgspec.Meta(pattern=r"\S")]
Positive = Annotated[int, msgspec.Meta(ge=1, le=UNLIMITED)]
Seconds = Annotated[float, msgspec.Meta(gt=0, lt=1e9)]
Seed = Annotated[int, msgspec.Meta(ge=0, le=(1 << 63) - 1)]
V = TypeVar("V")
Several = Annotated[list[V], msgspec.Meta(min_length=1)]


class PlayerTable(msgspec.Struct, forbid_unknown_fields=True):
    """Who plays; in Python files strategies and schemes may be values instead of texts."""

    strategy: Any = BASELINE
    scheme: Any = MO_ISMCTS
    evaluation: str = ""


class AgentTable(PlayerTable):
    iterations: Positive | None = None


class ExperimentTable(msgspec.Struct, forbid_unknown_fields=True):
    """The keys of an experiment, explained in docs/experiments.md."""

    name: Text
    games: str | Several[Text]
    agents: Annotated[dict[str, Any], msgspec.Meta(min_length=1)] | Several[Any]
    iterations: Positive | Several[Positive] | None = None
    seconds: Seconds | Several[Seconds] | None = None
    seats: int | str | Several[Any] | None = None
    roles: str | Several[Text] | None = None
    opponent: Any = BASELINE
    trials: Positive = 1000
    seed: Seed = 0
    paired: bool = False
    sprt: bool | Sprt = False
    pictures: Several[str] = msgspec.field(default_factory=lambda: ["agents"])


def converted(value: object, kind: type[V], path: str = "") -> V:
    """A value as what it must be.

    Raises:
        Refusal: it is something else.
    """
    with refusing(path):
        return msgspec.convert(value, kind)


def read_agents(agents: dict[str, Any] | list[Any], module: str) -> dict[str, Entrant]:
    """The agents of a table, by name, with iterations where they have their own.

    Raises:
        Refusal: one cannot be understood.
    """
    if isinstance(agents, dict):
        entries = {
            name: read_entry(f"agents.{name}", value, module) for name, value in agents.items()
        }
    else:
        entries = {}
        for path, value in paths("agents", agents):
            name = ", ".join(map(str, value.values())) if isinstance(value, Mapping) else str(value)
            if name in entries:
                raise Refusal(f"{path}: {name} is in the list twice")
            entries[name] = read_entry(path, value, module)
    honest = {_honest(name, each.search): each for name, each in entries.items()}
    if len(honest) < len(entries):
        raise Refusal(
            f'agents: two have the same name, after "({CHEATING})" was added to agents that cheat'
        )
    return honest


def read_entry(
    path: str, value: object, module: str, kind: type[PlayerTable] = AgentTable
) -> Entrant:
    """Who plays, by a strategy or a table.

    Raises:
        Refusal: it cannot be understood.
    """
    if not isinstance(value, Mapping):
        return Entrant(str(_strategy(path, value, module)))
    table = converted(value, kind, path)
    strategy = _strategy(f"{path}.strategy", table.strategy, module)
    with refusing(f"{path}.scheme"):
        scheme = parse_scheme(str(table.scheme))
    if isinstance(strategy, Algorithm):
        with refusing():  # a scheme that an agent with an algorithm does not take
            Agent(strategy, iterations=1, scheme=scheme)
    try:
        evaluation = with_digest(table.evaluation)
    except (OSError, ValueError) as error:
        raise Refusal(f"{path}.evaluation: {sentence_of(error)}") from None
    iterations = table.iterations if isinstance(table, AgentTable) else None
    return Entrant(str(strategy), str(scheme), evaluation=evaluation, iterations=iterations)


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
        strategy = strategy_of(str(value), module)
    if isinstance(value, Enhancement | Algorithm) and strategy != value:
        raise Refusal(
            f'{path}: "{value}" names another strategy than the one that is given; give what was changed a name of its own, '
            'MINE = attrs.evolve(…, name="MINE"), at the top of the file'
        )
    in_library = strategy
    with contextlib.suppress(ValueError, TypeError):  # which the library does not have
        in_library = strategy_of(str(strategy), "")
    if str(in_library) == str(strategy) and in_library != strategy:
        raise Refusal(
            f'{path}: the library has another strategy "{strategy}"; rename what the file defines by that name'
        )
    return strategy


# -------------------- Experiments from tables, in TOML or Python: every key is checked, and lists unfold to a grid of cells.


OWN_GAME = 'for a game of your own, name its file in a TOML file, games = ["mygame.py"], or give its name and --with mygame.py'


def build_together(tables: Sequence[TomlTable], module: str = "") -> Experiment:
    """One experiment with the cells of several tables; whatever else it has is that of the first. `module` as of `build`.

    Raises:
        Refusal: see `build`, or the same cell is there twice.
    """
    parts = [build(table, module) for table in tables]
    cells = tuple(cell for part in parts for cell in part.cells)
    _all_different(cells)
    return attrs.evolve(parts[0], cells=cells)


def build(table: TomlTable, module: str = "") -> Experiment:
    """The experiment that a table describes (see docs/experiments.md).

    Args:
        module: the path of a Python file; the compositions may use the names that it defines.

    Raises:
        Refusal: a key is unknown, missing or wrong; the message begins with its path.
    """
    checked = converted(table, ExperimentTable)
    cells = _cells(checked, module)
    pictures = tuple(
        one_of(path, picture, tuple(PICTURES))
        for path, picture in paths("pictures", checked.pictures)
    )
    _for_two_players(pictures, cells)
    sprt = None
    if checked.sprt:
        sprt = checked.sprt if isinstance(checked.sprt, Sprt) else Sprt()
    experiment = Experiment(
        checked.name, cells, checked.trials, checked.seed, pictures, checked.paired, sprt
    )
    if experiment.sprt:
        _comparable(experiment)
    return experiment


def _cells(table: ExperimentTable, module: str) -> tuple[Cell, ...]:
    """All agents in all columns."""
    agents = read_agents(table.agents, module)
    source, imports = source_of(module), imports_of(module)
    columns = _columns(table, module)
    if table.seconds and any(agent.iterations for agent in agents.values()):
        raise Refusal(
            "agents: an agent can have iterations of its own only where the experiment's budget is in iterations"
        )
    cells = list[Cell]()
    for column in columns:
        for name, agent in agents.items():
            own_iterations = None if agent.iterations == column.iterations else agent.iterations
            spec = attrs.evolve(agent, iterations=None)
            cells.append(Cell(column, name, spec, module, own_iterations, source, imports))
    _all_different(cells)
    for cell in cells:
        _enough_iterations(cell)
        _playable(cell)
    return tuple(cells)


def _comparable(experiment: Experiment) -> None:
    """A sequential test needs the baseline's own games, and whole rounds of seats, no two of which are the same."""
    for column in experiment.columns:
        if not any(cell.is_opponent for cell in experiment.cells if cell.column == column):
            raise Refusal(
                f"sprt: the opponent {column.opponent.text} must be among the agents, for comparison in {column.game}"
            )
        seat, times = Counter(column.seats).most_common(1)[0]
        if times > 1:
            raise Refusal(
                f"seats: {seat} is there {times} times; a sequential test plays each deal once in every seat"
            )
        if experiment.trials % len(column.seats):
            raise Refusal(
                f"trials: {experiment.trials} is not a multiple of {len(column.seats)}, "
                f"the seats to be taken in {column.game}"
            )


def _columns(table: ExperimentTable, module: str) -> list[Column]:
    opponents = [
        read_entry(path, value, module, PlayerTable)
        for path, value in paths("opponent", table.opponent)
    ]
    if not opponents:
        raise Refusal("opponent: the list is empty; give one or more, or leave it out")
    columns = []
    for path, name in paths("games", table.games):
        game = known_game(name, path)
        _refuse_unless_named(game, path)
        for (role, seats), opponent, budget in itertools.product(
            _seats(table, game), opponents, _budgets(table)
        ):
            columns.append(Column(str(game), _variant(game), role, seats, opponent, *budget))
    return columns


def _budgets(table: ExperimentTable) -> list[tuple[int | None, float | None]]:
    if (table.iterations is None) == (table.seconds is None):
        reason = "not both" if table.seconds else "one of them is missing"
        raise Refusal(f"iterations: give either iterations or seconds for each decision, {reason}")
    if table.iterations is None:
        return [(None, value) for _, value in paths("seconds", table.seconds)]
    return [(value, None) for _, value in paths("iterations", table.iterations)]


def _seats(table: ExperimentTable, game: AnyGame) -> list[tuple[str, tuple[int, ...]]]:
    """The roles in which agents play, each with the seats that they take in turn."""
    if roles := _roles(table, game):
        return [(role, (game.seat_names.index(role),)) for role in roles]
    every = tuple(range(game.players))
    if table.seats in (None, "rotate"):
        return [("", every)]
    seats = []
    for path, seat in paths("seats", table.seats):
        if not checks.is_integer(seat) or seat not in every:
            raise Refusal(
                f'{path}: {seat!r} is not "rotate" or a seat of {game}; its seats are 0 to {game.players - 1}'
            )
        seats.append(int(seat))
    return [(" and ".join(f"seat {seat}" for seat in sorted(set(seats))), tuple(seats))]


def _roles(table: ExperimentTable, game: AnyGame) -> Sequence[str]:
    """The roles that a table names, or if it names no seats either, those of the paper."""
    if table.roles is None:
        return ROLES.get(game.name, ()) if table.seats is None else ()
    if table.seats is not None:
        raise Refusal("roles: give either roles or seats, not both")
    if not game.seat_names:
        raise Refusal(f"roles: the seats of {game} have no names")
    return [one_of(path, role, game.seat_names) for path, role in paths("roles", table.roles)]


def _for_two_players(pictures: Sequence[str], cells: Sequence[Cell]) -> None:
    """Pictures of games of two players need such games, and agents that keep to one seat; they name searches without their parameters."""
    for picture in pictures:
        if not PICTURES[picture].of_two:
            continue
        for column in {cell.column for cell in cells}:
            if known_game(column.game, "games").players != 2:
                raise Refusal(
                    f"pictures: {picture} shows games of two players, which {column.game} is not"
                )
            if len(column.seats) > 1:
                raise Refusal(
                    f"seats: {picture} needs agents that keep to one seat, such as seats = 0"
                )
        for seat in range(2):
            searches = {
                (cell.spec if seat in cell.column.seats else cell.column.opponent).search
                for cell in cells
            }
            for name, times in Counter(search.name for search in searches).items():
                if times > 1:
                    raise Refusal(
                        f"pictures: {picture} names searches without their parameters, and {times} in seat {seat} are {name}"
                    )


def _enough_iterations(cell: Cell) -> None:
    """Every tree of a search needs an iteration."""
    budget_path = "iterations" if cell.own_iterations is None else f"agents.{cell.agent}.iterations"
    for path, scheme, iterations in (
        (budget_path, cell.spec.search, cell.iterations),
        ("iterations", cell.column.opponent.search, cell.column.iterations),
    ):
        if iterations is not None and iterations < scheme.trees:
            raise Refusal(
                f"{path}: {iterations} are fewer than the {scheme.trees} trees of {scheme}, which each need one"
            )


def _playable(cell: Cell) -> None:
    """Refuse a search that cannot play the cell's game.

    A cut-off needs the game's heuristic; an algorithm needs a game whose deals it can list, or whose tree it can keep.
    """
    for spec in (cell.spec, cell.column.opponent):
        game = known_game(cell.column.game, "games")
        if evaluation := evaluation_of(spec.evaluation):
            with refusing("agents"):
                game = game.with_evaluation(evaluation)
        with refusing(f"games: {spec.text} cannot play here"):
            check_cutoff(game, spec.search)
            if names_algorithm(spec.strategy):
                parse_algorithm(spec.strategy).check_playable(game)


def _all_different(cells: Iterable[Cell]) -> None:
    by_key: dict[str, Cell] = {}
    for cell in cells:
        previous = by_key.setdefault(cell.key, cell)
        if previous is not cell:
            where = f"agents.{cell.agent}" if previous.agent != cell.agent else "games"
            raise Refusal(
                f"{where}: {cell.agent} ({cell.spec.text}) in {cell.column.game} is in the experiment twice"
            )


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
        # where no name is near, `games.load` lists all
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
        is_named = games.load(str(game)).parameters == game.parameters
    except ValueError:
        is_named = False
    if not is_named:
        raise Refusal(
            f"{path}: {game} cannot be loaded by that name; give its Game(…) defaults={dict(game.parameters)}, "
            "or write a function that returns it for any parameters"
        )


def _variant(game: AnyGame) -> str:
    usual = known_game(game.name, "games").parameters
    return ", ".join(
        f"{key} = {value}" for key, value in game.parameters.items() if usual.get(key) != value
    )


# -------------------- Experiments by name: those of the papers, and one's own from files.


PYTHON_TABLE = "EXPERIMENT"  # the name of the table in a Python file


def load(name: str, changes: TomlTable, file: Path | None = None) -> Experiment:
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
        return _of_paper(name, changes, module)
    path = Path(name)
    if path.suffix not in (".toml", ".py") and not path.is_file():
        raise Refusal(
            f"no experiment is called {name!r}{nearest(name, NAMES)} (for your own experiment, give the path of a .toml or .py file)"
        )
    try:
        if path.suffix == ".py":
            return _of_python(path, changes, file)
        return _of_toml(path, changes, file, module)
    except OSError as error:
        raise Refusal(f"{name} cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:  # tomllib's and codecs' own, and Refusal
        raise Refusal(f"{name}: {error}") from None


def _of_paper(name: str, changes: TomlTable, module: str) -> Experiment:
    """An experiment of the papers. In those of the earlier papers agents' own iterations keep their proportion to those of all."""
    iterations = None
    if name in GROUPS["earlier"] and "iterations" in changes:
        iterations = converted(changes["iterations"], Positive, "iterations")
    tables = papers.tables(name, iterations)
    return build_together([_with_changes(table, changes) for table in tables], module)


def _of_python(path: Path, changes: TomlTable, file: Path | None) -> Experiment:
    if file is not None:
        raise Refusal(f"a .py file imports what it uses; import {file} there instead of --with")
    table = {"name": path.stem, **_python_table(path)}
    return build(_with_changes(table, changes), str(path.resolve()))


def _of_toml(path: Path, changes: TomlTable, file: Path | None, module: str) -> Experiment:
    table, game_file = _without_file(
        {"name": path.stem, **tomllib.loads(path.read_text(encoding="utf-8-sig"))}, path.parent
    )
    if module and game_file not in ("", module):
        raise Refusal(
            f"games: {Path(game_file).name} is another file than that of --with; import it in {file}, and give the name of its game"
        )
    return build(_with_changes(table, changes), module or game_file)


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
    names = [name for _, name in paths("games", table.get("games", []))]
    files = list(
        dict.fromkeys(name for name in names if isinstance(name, str) and name.endswith(".py"))
    )
    if not files:
        return table, ""
    if len(files) > 1:
        raise Refusal(
            f"games: {files[0]} and {files[1]} are two files; write the experiment as a .py file that imports both; "
            "what a function makes there is a game of that file if one of its own calls it"
        )
    path = folder / files[0]
    game = game_of_file(path, "and write the experiment as a .py file that imports it")
    names = [str(game) if name == files[0] else name for name in names]
    return {**table, "games": names}, str(path.resolve())


def _python_table(path: Path) -> TomlTable:
    table = vars(load_file(path)).get(PYTHON_TABLE)
    if not isinstance(table, Mapping):
        raise Refusal(
            f"the file has no dict {PYTHON_TABLE}, such as {PYTHON_TABLE} = {{'games': 'othello', …}}"
        )
    return table


def _with_changes(table: dict[str, object], changes: TomlTable) -> TomlTable:
    """A table with its keys replaced; a budget of either kind takes the place of one of the other kind."""
    for budget, replaced in (("iterations", "seconds"), ("seconds", "iterations")):
        if budget in changes:
            table.pop(replaced, None)
    return {**table, **changes}
