"""What an experiment is: cells (an agent in a seat of a game against baselines), each played for a number of trials."""

import functools
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from icarus.engine.scheme import parse_scheme

DIGITS = 16  # of the hexadecimal key of a cell
SCHEME = "MO_ISMCTS"  # of agents for which no other is given; it is named nowhere
_KEY_LIMIT = 1 << 32  # a part of a key of random numbers is below it
_OPTIONAL = ("scheme", "opponent_scheme", "own_iterations")  # written to settings only where they are given


class Refusal(ValueError):
    """Input that cannot be used, told in one sentence."""


def player_text(strategy: str, scheme: str) -> str:
    """A strategy and the scheme that searches with it, as rows and keys have them."""
    return strategy if scheme == SCHEME else f"{strategy} by {scheme}"


def player_told(strategy: str, scheme: str) -> str:
    """The same as people must read it: a scheme that looks at hidden things says so."""
    if scheme == SCHEME:
        return strategy
    return parse_scheme(scheme).by(strategy)


@attrs.frozen
class Column:
    """What the agents of one picture have in common.

    Attributes:
        game: its name, with the parameters that are not the usual ones.
        variant: those of its parameters that are not the usual ones, as people read them: "players = 3".
        role: where the seats of a game are told apart: "Landlord", "Light", "Dark"; else empty.
        seats: the agent's seat in trial t is seats[t % len(seats)].
        opponent: the strategy in all other seats.
        iterations, seconds: the budget of every decision of every player; one of the two is None.
        opponent_scheme: how the opponent searches, as `icarus.scheme.parse_scheme` reads it.
    """

    game: str
    variant: str
    role: str
    seats: tuple[int, ...]
    opponent: str
    iterations: int | None
    seconds: float | None
    opponent_scheme: str = SCHEME

    @property
    def opponent_text(self) -> str:
        """Who plays in all other seats."""
        return player_text(self.opponent, self.opponent_scheme)

    @property
    def opponent_told(self) -> str:
        return player_told(self.opponent, self.opponent_scheme)

    def key(self, *player: str) -> str:
        """A name that follows from what is played, whatever else is in the experiment: 16 hexadecimal digits."""
        parts = [self.game, *self.seats, *player, self.opponent_text, self.iterations, self.seconds]
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:DIGITS]


@attrs.frozen
class Cell:
    """One agent in one column.

    Attributes:
        agent: its name in tables and pictures.
        strategy: its composition, as `icarus.parse` reads it.
        module: the Python file that defines names in the compositions of this cell; empty if there is none.
        scheme: how it searches, as `icarus.scheme.parse_scheme` reads it.
        own_iterations: its budget where that is another than the column's.
    """

    column: Column
    agent: str
    strategy: str
    module: str = ""
    scheme: str = SCHEME
    own_iterations: int | None = None

    @property
    def text(self) -> str:
        """Who plays: the strategy, and the scheme where it is not the usual one."""
        return player_text(self.strategy, self.scheme)

    @property
    def told(self) -> str:
        return player_told(self.strategy, self.scheme)

    @property
    def iterations(self) -> int | None:
        """The budget of the agent's decisions."""
        return self.column.iterations if self.own_iterations is None else self.own_iterations

    @functools.cached_property
    def key(self) -> str:
        """A name that follows from what is played, whatever else is in the experiment."""
        own = () if self.own_iterations is None else (f"{self.own_iterations} iterations",)
        return self.column.key(self.text, *own)

    @property
    def is_opponent(self) -> bool:
        """Whether the agent is an opponent itself: the measure of evenly matched players."""
        return self.text == self.column.opponent_text and self.own_iterations is None

    def seat(self, trial: int) -> int:
        return self.column.seats[trial % len(self.column.seats)]


@attrs.frozen
class Sprt:
    """A sequential test that ends a cell's games when the question "better than the baseline?" is answered; see `sequential`.

    Attributes:
        margin: the hypotheses are that the agent wins no larger share of its games than the baseline in its place (H0), and that
            the share is larger by this margin (H1).
        alpha: the chance to find the agent better under H0.
        beta: the chance to find it not better under H1.
    """

    margin: float = 0.05
    alpha: float = 0.05
    beta: float = 0.05


@attrs.frozen
class Experiment:
    """Cells, each played `trials` times.

    Attributes:
        pictures: the figures after which the results are drawn.
        paired: common random numbers: in the same trial all agents of a column meet the same deal and the same chance.
        sprt: the test that may end a cell before all its trials are played. Its agents meet the same deals, and each deal is
            played once in every seat that the agent takes.
    """

    name: str
    cells: tuple[Cell, ...]
    trials: int
    seed: int
    pictures: tuple[str, ...]
    paired: bool = False
    sprt: Sprt | None = None

    def games(self) -> Iterator[tuple[Cell, int]]:
        """Every game as (cell, trial), all cells side by side so that an unfinished run is balanced."""
        return ((cell, trial) for trial in range(self.trials) for cell in self.cells)

    @property
    def columns(self) -> list[Column]:
        return list(dict.fromkeys(cell.column for cell in self.cells))

    @property
    def seeding(self) -> str:
        """What decides, besides cell and trial, which game is played."""
        return f"{self.seed} {'mirrored' if self.sprt else 'paired' if self.paired else 'single'}"

    def game_seed(self, cell: Cell, trial: int) -> tuple[int, ...]:
        """The key from which everything random in one game follows: (experiment, cell, trial).

        Common random numbers leave the composition out of the cell; a sequential test has one key for a deal in all seats.
        """
        key = int(cell.column.key() if self.paired or self.sprt else cell.key, 16)
        return self.seed, *divmod(key, _KEY_LIMIT), trial // len(cell.column.seats) if self.sprt else trial

    def settings(self) -> dict[str, Any]:
        """The experiment as JSON can hold it; `from_settings` reads it back."""

        def with_lists(instance: type, attribute: attrs.Attribute, value: Any) -> Any:
            return list(value) if isinstance(value, tuple) else value

        def written(attribute: attrs.Attribute, value: Any) -> bool:
            return attribute.name not in _OPTIONAL or value != attribute.default

        return attrs.asdict(self, filter=written, value_serializer=with_lists)


def from_settings(settings: Mapping[str, Any]) -> Experiment:
    """The experiment that `settings` was made from.

    Raises:
        KeyError, TypeError: it was made from none.
    """
    cells = tuple(Cell(**{**cell, "column": _column(cell["column"])}) for cell in settings["cells"])
    sprt = None if settings["sprt"] is None else Sprt(**settings["sprt"])
    return Experiment(
        str(settings["name"]),
        cells,
        int(settings["trials"]),
        int(settings["seed"]),
        tuple(settings["pictures"]),
        bool(settings["paired"]),
        sprt,
    )


def _column(settings: Mapping[str, Any]) -> Column:
    return Column(**{**settings, "seats": tuple(settings["seats"])})
