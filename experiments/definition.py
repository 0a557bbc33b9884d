"""What an experiment is: cells (an agent in a seat of a game against baselines), each played for a number of trials.

An experiment is written as a table, in TOML or by `suite`; `build` checks it and unfolds its lists to a grid of cells:

    name = "rave-k"
    games = ["othello", "knockout-whist(players=3)"]
    iterations = [1000, 5000]           # or seconds = 0.5
    trials = 500
    opponent = "BASELINE"               # in all other seats; a list plays against each in turn
    seats = "rotate"                    # or a seat, or a list of seats to take in turn; absent: section 8's
    seed = 0

    [agents]                            # name = strategy, or a plain list: agents = ["RAVE", "BASELINE >> MAST"]
    rave = "RAVE"
    mast = "BASELINE >> MAST"
"""
import difflib
import hashlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

ROLES = {"dou-di-zhu": (("Landlord", 0),), "lotr-confrontation": (("Light", 0), ("Dark", 1))}  # elsewhere the seat rotates
BASELINE = "BASELINE"
DEFAULTS = {"trials": 1000, "opponent": BASELINE, "seed": 0, "pictures": ["figure4"]}
KEYS = ("name", "games", "agents", "iterations", "seconds", "trials", "opponent", "seats", "seed", "pictures")
PICTURES = ("figure3", "figure4", "figure5")
SEED_LIMIT = 1 << 63


class Refusal(ValueError):
    """Input that cannot be used, told in one sentence."""


@attrs.frozen
class Column:
    """What the agents of one picture have in common.

    Attributes:
        game: its full name, parameters included.
        variant: those of its parameters that are not the usual ones, as people read them: "players = 3".
        role: where the seats of a game are told apart: "Landlord", "Light", "Dark"; else empty.
        seats: the agent's seat in trial t is seats[t % len(seats)].
        opponent: the strategy in all other seats.
        iterations, seconds: the budget of every decision of every player; one of the two is None.
    """

    game: str
    variant: str
    role: str
    seats: tuple[int, ...]
    opponent: str
    iterations: int | None
    seconds: float | None


@attrs.frozen
class Cell:
    """One agent in one column.

    Attributes:
        agent: its name in tables and pictures.
        strategy: its composition, as `icarus.parse` reads it.
    """

    column: Column
    agent: str
    strategy: str

    @property
    def key(self) -> str:
        """A name that follows from what is played, whatever else is in the experiment: 16 hexadecimal digits."""
        column = self.column
        parts = [column.game, *column.seats, self.strategy, column.opponent, column.iterations, column.seconds]
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]

    def seat(self, trial: int) -> int:
        return self.column.seats[trial % len(self.column.seats)]

    def seed(self, experiment_seed: int, trial: int) -> tuple[int, ...]:
        """The key (experiment, cell, trial) from which everything random in one game follows."""
        return experiment_seed, int(self.key[:8], 16), int(self.key[8:], 16), trial


@attrs.frozen
class Experiment:
    """Cells, each played `trials` times.

    Attributes:
        pictures: the figures of the paper after which the results are drawn.
    """

    name: str
    cells: tuple[Cell, ...]
    trials: int
    seed: int
    pictures: tuple[str, ...]

    def games(self) -> Iterator[tuple[Cell, int]]:
        """Every game as (cell, trial), all cells side by side so that an unfinished run is balanced."""
        return ((cell, trial) for trial in range(self.trials) for cell in self.cells)

    @property
    def columns(self) -> list[Column]:
        return list(dict.fromkeys(cell.column for cell in self.cells))

    def settings(self) -> dict[str, Any]:
        """The experiment as JSON can hold it; `from_settings` reads it back."""
        def with_lists(instance: type, attribute: attrs.Attribute, value: Any) -> Any:
            return list(value) if isinstance(value, tuple) else value
        return attrs.asdict(self, value_serializer=with_lists)


def from_settings(settings: Mapping[str, Any]) -> Experiment:
    """The experiment that `settings` was made from.

    Raises:
        KeyError, TypeError: it was made from none.
    """
    cells = tuple(Cell(_column(cell["column"]), cell["agent"], cell["strategy"]) for cell in settings["cells"])
    return Experiment(str(settings["name"]), cells, int(settings["trials"]), int(settings["seed"]), tuple(settings["pictures"]))


def _column(settings: Mapping[str, Any]) -> Column:
    return Column(**{**settings, "seats": tuple(settings["seats"])})


def build(table: Mapping[str, Any]) -> Experiment:
    """The experiment that a table describes (see the head of this file).

    Raises:
        Refusal: a key is unknown, missing or wrong; the message begins with its path.
    """
    for key in table:
        if key not in KEYS:
            raise Refusal(f"{key}: no such key{nearest(key, KEYS)}")
    table = {**DEFAULTS, **table}
    cells = tuple(Cell(column, agent, strategy)
                  for column in _columns(table) for agent, strategy in _agents(table).items())
    _all_different(cells)
    pictures = tuple(_one_of(f"pictures[{i}]", picture, PICTURES) for i, picture in enumerate(_listed("pictures", table)))
    name, trials = _text("name", _required(table, "name")), positive("trials", table["trials"])
    return Experiment(name, cells, trials, _seed(table["seed"]), pictures)


def _columns(table: Mapping[str, Any]) -> list[Column]:
    opponents = [_strategy(path, text) for path, text in _paths("opponent", table)]
    columns = []
    for path, name in _paths("games", table):
        game = known_game(_text(path, name), path)
        for (role, seats), opponent, budget in itertools.product(_seats(table, game), opponents, _budgets(table)):
            columns.append(Column(str(game), _variant(game), role, seats, opponent, *budget))
    return columns


def _agents(table: Mapping[str, Any]) -> dict[str, str]:
    agents = _required(table, "agents")
    if isinstance(agents, Mapping) and agents:
        return {name: _strategy(f"agents.{name}", text) for name, text in agents.items()}
    return {_text(path, text): _strategy(path, text) for path, text in _paths("agents", table)}


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


def _strategy(path: str, text: Any) -> str:
    """A strategy in its canonical spelling."""
    from icarus import parse
    try:
        return str(parse(_text(path, text)))
    except (ValueError, TypeError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"{path}: {error}") from None


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
