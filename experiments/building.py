"""Experiments from tables, in TOML or Python: every key is checked, and lists unfold to a grid of cells.

    name = "rave-k"
    games = ["othello", "knockout-whist(players=3)"]
    iterations = [1000, 5000]           # or seconds = 0.5
    trials = 500
    opponent = "BASELINE"               # in all other seats; a list plays against each in turn
    seats = "rotate"                    # or a seat, or a list of seats to take in turn; absent: section 8's
    seed = 0
    paired = false                      # true: the same deals and chance for all agents of a column
    sprt = false                        # true, or { margin = 0.05, alpha = 0.05, beta = 0.05 }: stop when the answer is there
    pictures = ["figure4"]

    [agents]                            # name = strategy, or a plain list: agents = ["RAVE", "BASELINE >> MAST"]
    rave = "RAVE"
    mast = "BASELINE >> MAST"
"""
import difflib
import itertools
from collections.abc import Mapping
from typing import Any

import attrs

from experiments.definition import Cell, Column, Experiment, Refusal, Sprt

ROLES = {"dou-di-zhu": (("Landlord", 0),), "lotr-confrontation": (("Light", 0), ("Dark", 1))}  # elsewhere the seat rotates
BASELINE = "BASELINE"
DEFAULTS = {"trials": 1000, "opponent": BASELINE, "seed": 0, "paired": False, "sprt": False, "pictures": ["figure4"]}
KEYS = ("name", "games", "agents", "iterations", "seconds", "trials", "opponent", "seats", "seed", "paired", "sprt", "pictures")
PICTURES = ("figure3", "figure4", "figure5", "reuse", "tree")
SEED_LIMIT = 1 << 63


def build(table: Mapping[str, Any], module: str = "") -> Experiment:
    """The experiment that a table describes (see the head of this file).

    Args:
        module: the path of a Python file; the compositions may use the names that it defines.

    Raises:
        Refusal: a key is unknown, missing or wrong; the message begins with its path.
    """
    for key in table:
        if key not in KEYS:
            raise Refusal(f"{key}: no such key{nearest(key, KEYS)}")
    table = {**DEFAULTS, **table}
    cells = tuple(Cell(column, agent, strategy, module)
                  for column in _columns(table, module) for agent, strategy in _agents(table, module).items())
    _all_different(cells)
    pictures = tuple(_one_of(f"pictures[{i}]", picture, PICTURES) for i, picture in enumerate(_listed("pictures", table)))
    name, trials = _text("name", _required(table, "name")), positive("trials", table["trials"])
    experiment = Experiment(name, cells, trials, _seed(table["seed"]), pictures, _truth("paired", table["paired"]),
                            _sprt(table["sprt"]))
    if experiment.sprt:
        _comparable(experiment)
    return experiment


def _sprt(value: Any) -> Sprt | None:
    if not isinstance(value, Mapping):
        return Sprt() if _truth("sprt", value) else None
    known = tuple(attribute.name for attribute in attrs.fields(Sprt))
    for key, number in value.items():
        _one_of(f"sprt.{key}", key, known)
        if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < 0.5:
            raise Refusal(f"sprt.{key}: {number!r} is not a number between 0 and 0.5")
    return Sprt(**value)


def _comparable(experiment: Experiment) -> None:
    """A sequential test needs the baseline's own games, and whole rounds of seats."""
    for column in experiment.columns:
        if not any(cell.is_opponent for cell in experiment.cells if cell.column == column):
            raise Refusal(f"sprt: the opponent {column.opponent} must be among the agents, for comparison in {column.game}")
        if experiment.trials % len(column.seats):
            raise Refusal(f"trials: {experiment.trials} is not a multiple of {len(column.seats)}, "
                          f"the seats to be taken in {column.game}")


def _columns(table: Mapping[str, Any], module: str) -> list[Column]:
    opponents = [_strategy(path, text, module) for path, text in _paths("opponent", table)]
    columns = []
    for path, name in _paths("games", table):
        game = known_game(_text(path, name), path)
        for (role, seats), opponent, budget in itertools.product(_seats(table, game), opponents, _budgets(table)):
            columns.append(Column(str(game), _variant(game), role, seats, opponent, *budget))
    return columns


def _agents(table: Mapping[str, Any], module: str) -> dict[str, str]:
    agents = _required(table, "agents")
    if isinstance(agents, Mapping) and agents:
        return {name: _strategy(f"agents.{name}", text, module) for name, text in agents.items()}
    return {_text(path, _written(value)): _strategy(path, value, module) for path, value in _paths("agents", table)}


def _budgets(table: Mapping[str, Any]) -> list[tuple[int | None, float | None]]:
    if ("iterations" in table) == ("seconds" in table):
        raise Refusal("iterations: give either iterations or seconds for each decision, " +
                      ("not both" if "seconds" in table else "one of them is missing"))
    if "iterations" in table:
        return [(positive(path, value), None) for path, value in _paths("iterations", table)]
    return [(None, _positive_real(path, value)) for path, value in _paths("seconds", table)]


def _seats(table: Mapping[str, Any], game: Any) -> list[tuple[str, tuple[int, ...]]]:
    every = tuple(range(game.players))
    if table.get("seats", "rotate") == "rotate":
        roles = ROLES.get(game.name, ()) if "seats" not in table else ()
        return [(role, (seat,)) for role, seat in roles] or [("", every)]
    seats = []
    for path, seat in _paths("seats", table):
        if isinstance(seat, bool) or not isinstance(seat, int) or seat not in every:
            raise Refusal(f'{path}: {seat!r} is not "rotate" or a seat of {game}; its seats are 0 to {game.players - 1}')
        seats.append(seat)
    return [(" and ".join(f"seat {seat}" for seat in sorted(set(seats))), tuple(seats))]


def _all_different(cells: tuple[Cell, ...]) -> None:
    seen: dict[str, Cell] = {}
    for cell in cells:
        other = seen.setdefault(cell.key, cell)
        if other is not cell:
            where = f"agents.{cell.agent}" if other.agent != cell.agent else "games"
            raise Refusal(f"{where}: {cell.agent} ({cell.strategy}) in {cell.column.game} is in the experiment twice")


def known_game(name: str, path: str) -> Any:
    """The game of that name.

    Raises:
        Refusal: there is none; the nearest names are told.
    """
    from icarus import games
    try:
        return games.load(name)
    except ValueError as error:
        raise Refusal(f"{path}: {error}") from None


def _variant(game: Any) -> str:
    usual = known_game(game.name, "games").parameters
    return ", ".join(f"{key} = {value}" for key, value in game.parameters.items() if usual.get(key) != value)


def _strategy(path: str, value: Any, module: str) -> str:
    """A strategy in its canonical spelling."""
    from experiments.playing import strategy
    try:
        return str(strategy(_text(path, _written(value)), module))
    except (ValueError, TypeError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"{path}: {error}") from None


def _written(value: Any) -> Any:
    """A composition as text; in Python files people also write the value itself."""
    from icarus import Enhancement
    return str(value) if isinstance(value, Enhancement) else value


def nearest(name: str, known: Any) -> str:
    """The end of a message about an unknown name: those that look like it, or all."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else f"; known: {', '.join(known)}"


def _required(table: Mapping[str, Any], key: str) -> Any:
    if key not in table:
        raise Refusal(f"{key}: missing")
    return table[key]


def _listed(key: str, table: Mapping[str, Any]) -> list[Any]:
    value = _required(table, key)
    values = value if isinstance(value, list) else [value]
    if not values:
        raise Refusal(f"{key}: the list is empty")
    return values


def _paths(key: str, table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The values of a key that may hold a list, each with its path."""
    many = isinstance(table.get(key), list)
    return [(f"{key}[{i}]" if many else key, value) for i, value in enumerate(_listed(key, table))]


def _text(path: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise Refusal(f"{path}: {value!r} is not a text")
    return value


def _one_of(path: str, value: Any, known: tuple[str, ...]) -> str:
    if value not in known:
        raise Refusal(f"{path}: {value!r} is unknown{nearest(str(value), known)}")
    return value


def positive(path: str, value: Any) -> int:
    """A whole number of at least 1.

    Raises:
        Refusal: it is not.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise Refusal(f"{path}: {value!r} is not a whole number of at least 1")
    return value


def _positive_real(path: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < float("inf"):
        raise Refusal(f"{path}: {value!r} is not a number of seconds above 0")
    return float(value)


def _seed(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < SEED_LIMIT:
        raise Refusal(f"seed: {value!r} is not a whole number from 0 to {SEED_LIMIT - 1}")
    return value


def _truth(path: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise Refusal(f"{path}: {value!r} is neither true nor false")
    return value
