"""What an experiment is: cells (an agent in a seat of a game against baselines), each played for a number of trials."""
import functools
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

DIGITS = 16                     # of the hexadecimal key of a cell
_KEY_LIMIT = 1 << 32            # a part of a key of random numbers is below it


class Refusal(ValueError):
    """Input that cannot be used, told in one sentence."""


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
    """

    game: str
    variant: str
    role: str
    seats: tuple[int, ...]
    opponent: str
    iterations: int | None
    seconds: float | None

    def key(self, *strategy: str) -> str:
        """A name that follows from what is played, whatever else is in the experiment: 16 hexadecimal digits."""
        parts = [self.game, *self.seats, *strategy, self.opponent, self.iterations, self.seconds]
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:DIGITS]


@attrs.frozen
class Cell:
    """One agent in one column.

    Attributes:
        agent: its name in tables and pictures.
        strategy: its composition, as `icarus.parse` reads it.
        module: the Python file that defines names in the compositions of this cell; empty if there is none.
    """

    column: Column
    agent: str
    strategy: str
    module: str = ""

    @functools.cached_property
    def key(self) -> str:
        """A name that follows from what is played, whatever else is in the experiment."""
        return self.column.key(self.strategy)

    @property
    def is_opponent(self) -> bool:
        """Whether the agent is an opponent itself: the measure of evenly matched players."""
        return self.strategy == self.column.opponent

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
    def scheme(self) -> str:
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
        return attrs.asdict(self, value_serializer=with_lists)


def from_settings(settings: Mapping[str, Any]) -> Experiment:
    """The experiment that `settings` was made from.

    Raises:
        KeyError, TypeError: it was made from none.
    """
    cells = tuple(Cell(_column(cell["column"]), cell["agent"], cell["strategy"], cell["module"]) for cell in settings["cells"])
    sprt = None if settings["sprt"] is None else Sprt(**settings["sprt"])
    return Experiment(str(settings["name"]), cells, int(settings["trials"]), int(settings["seed"]), tuple(settings["pictures"]),
                      bool(settings["paired"]), sprt)


def _column(settings: Mapping[str, Any]) -> Column:
    return Column(**{**settings, "seats": tuple(settings["seats"])})
