"""What an experiment is: cells (an agent in a seat of a game against baselines), each played for a number of trials."""

import functools
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import attrs
import msgspec

from experiments.papers import GAMES
from icarus import Enhancement
from icarus.arena.player import Entrant, parse_strategy
from icarus.checks import count_text
from icarus.engine.scheme import MO_ISMCTS, parse_scheme
from icarus.engine.search import Algorithm
from icarus.load_files import Imports, load_file, strategy_names

DIGITS = 16  # of the hexadecimal key of a cell
Settings: TypeAlias = Mapping[str, Any]  # of an experiment or a part of it, as JSON has them
_SLUG = 120  # letters of a file's name that are of a title
_KEY_LIMIT = 1 << 32  # a part of a key of random numbers is below it


def strategy_of(text: str, module: str) -> Enhancement | Algorithm:
    """The composition that a text describes, with the names that a Python file defines, if one is given; or a search of its own kind.

    Raises:
        ValueError: the text cannot be understood, or see `load_file`.
    """
    return parse_strategy(text, strategy_names(load_file(Path(module))) if module else {})


def read_entrant(strategy: str, scheme: str = str(MO_ISMCTS), evaluation: str = "") -> Entrant:
    """Who plays, by settings of a column or a cell; nobody's Python file is run for it.

    Raises:
        ValueError: no such scheme.
    """
    return Entrant(strategy, str(parse_scheme(scheme)), evaluation=evaluation)


OPPONENT = {  # of a column: the keys of its settings, by those of an agent's
    "strategy": "opponent",
    "scheme": "opponent_scheme",
    "evaluation": "opponent_evaluation",
}


@attrs.frozen
class Column:
    """What the agents of one picture have in common.

    Attributes:
        game: its name, with the parameters that are not the usual ones.
        variant: those of its parameters that are not the usual ones, as people read them: "players = 3".
        role: where the seats of a game are told apart: "Landlord", "Light", "Dark"; else empty.
        seats: the agent's seat in trial t is seats[t % len(seats)].
        opponent: who plays in all other seats.
        iterations, seconds: the budget of every decision of every player; one of the two is None.
    """

    game: str
    variant: str
    role: str
    seats: tuple[int, ...]
    opponent: Entrant
    iterations: int | None
    seconds: float | None

    def key(self, *player: str) -> str:
        """A name that follows from what is played, whatever else is in the experiment: 16 hexadecimal digits."""
        parts = [self.game, *self.seats, *player, self.opponent.text, self.iterations, self.seconds]
        return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:DIGITS]

    @property
    def counts_wins(self) -> bool:
        """Whether games won are what counts, as in section 8; in other games rewards are, a draw being one half."""
        return self.game.partition("(")[0] in GAMES

    def outcome(self, win: bool, reward: float) -> float:
        """What a sequential test compares of a game: 1 or 0 by whether it was won, or its reward (`counts_wins`)."""
        return win if self.counts_wins else reward

    def settings(self) -> dict[str, object]:
        """The column as JSON can hold it."""
        fields = attrs.asdict(self, recurse=False)
        opponent = {OPPONENT[key]: value for key, value in self.opponent.settings().items()}
        return {**fields, "seats": list(self.seats), **opponent}


@attrs.frozen
class Cell:
    """One agent in one column.

    Attributes:
        agent: its name in tables and pictures.
        spec: its strategy, scheme and evaluation, without a budget.
        module: the Python file that defines names in the compositions of this cell; empty if there is none.
        own_iterations: its budget where that is another than the column's.
        source: a digest of what that file held when the experiment was begun.
        imports: the files that it imports, with digests.
    """

    column: Column
    agent: str
    spec: Entrant
    module: str = ""
    own_iterations: int | None = None
    source: str = ""
    imports: Imports = ()

    @property
    def iterations(self) -> int | None:
        """The budget of the agent's decisions."""
        return self.column.iterations if self.own_iterations is None else self.own_iterations

    @functools.cached_property
    def key(self) -> str:
        """A name that follows from what is played, whatever else is in the experiment."""
        budget = () if self.own_iterations is None else (f"{self.own_iterations} iterations",)
        return self.column.key(self.spec.text, *budget)

    @property
    def text(self) -> str:
        """The agent's strategy, and its iterations where they are its own: with others it is another agent."""
        return self.spec.text + self._own_budget

    @property
    def caption(self) -> str:
        """The same as people must read it."""
        return self.spec.caption + self._own_budget

    @property
    def _own_budget(self) -> str:
        return "" if self.own_iterations is None else f" ({self.own_iterations} iterations)"

    @property
    def is_opponent(self) -> bool:
        """Whether the agent is an opponent itself: the measure of evenly matched players."""
        return self.spec == self.column.opponent and self.own_iterations is None

    def seat(self, trial: int) -> int:
        return self.column.seats[trial % len(self.column.seats)]

    def settings(self) -> dict[str, object]:
        """The cell as JSON can hold it; `read_cell` reads it back."""
        optional = {
            "own_iterations": self.own_iterations,
            "source": self.source or None,
            "imports": dict(self.imports) or None,
        }
        spec = self.spec.settings()
        return {
            "column": self.column.settings(),
            "agent": self.agent,
            "strategy": spec.pop("strategy"),
            "module": self.module,
            **spec,
            **{name: value for name, value in optional.items() if value is not None},
        }


Share = Annotated[float, msgspec.Meta(gt=0, lt=0.5)]


class Sprt(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sequential test that ends a cell's games when the question "better than the baseline?" is answered; see `sequential`.

    Attributes:
        margin: the hypotheses are that the agent wins no larger share of its games than the baseline in its place (H0), and that
            the share is larger by this margin (H1); or the same of mean rewards (`Column.counts_wins`).
        alpha: the chance to find the agent better under H0.
        beta: the chance to find it not better under H1.
    """

    margin: Share = 0.05
    alpha: Share = 0.05
    beta: Share = 0.05


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
        if self.sprt:
            return f"{self.seed} mirrored"
        return f"{self.seed} {'paired' if self.paired else 'single'}"

    def game_seed(self, cell: Cell, trial: int) -> tuple[int, ...]:
        """The key from which everything random in one game follows: (experiment, cell, trial).

        Common random numbers leave the composition out of the cell; a sequential test has one key for a deal in all seats.
        """
        key = cell.column.key() if self.paired or self.sprt else cell.key
        deal = trial // len(cell.column.seats) if self.sprt else trial
        return self.seed, *divmod(int(key, 16), _KEY_LIMIT), deal

    def settings(self) -> dict[str, object]:
        """The experiment as JSON can hold it; `from_settings` reads it back."""
        cells = [cell.settings() for cell in self.cells]
        sprt = None if self.sprt is None else msgspec.structs.asdict(self.sprt)
        return {
            **attrs.asdict(self, recurse=False),
            "cells": cells,
            "pictures": list(self.pictures),
            "sprt": sprt,
        }


def from_settings(settings: Settings) -> Experiment:
    """The experiment that `settings` was made from.

    Raises:
        KeyError, TypeError, ValueError: it was made from none.
    """
    cells = [read_cell(cell) for cell in settings["cells"]]
    return msgspec.convert({**settings, "cells": cells}, Experiment)


def read_cell(settings: Settings) -> Cell:
    """The cell that `settings` was made from.

    Raises:
        KeyError, TypeError, ValueError: it was made from none.
    """
    of_column = settings["column"]
    opponent = {key: of_column[name] for key, name in OPPONENT.items() if name in of_column}
    column = msgspec.convert({**of_column, "opponent": read_entrant(**opponent)}, Column)
    spec = read_entrant(**{key: settings[key] for key in OPPONENT if key in settings})
    imports = tuple(settings.get("imports", {}).items())
    return msgspec.convert({**settings, "column": column, "spec": spec, "imports": imports}, Cell)


# -------------------- When one experiment continues another: it is the same, or has more trials, agents or games besides.


_WHOLE = ("name", "seed", "trials", "paired", "sprt")  # settings of the whole experiment
_OF_COLUMNS = ("game", "seats", "role", *OPPONENT.values(), "iterations", "seconds")


def extends(larger: Experiment, smaller: Experiment) -> bool:
    """Whether an experiment is another one, or that with more trials, agents or games.

    Every game keeps its seed, so the games of the smaller one are games of the larger one. The number of trials of a sequential test
    cannot change: it is fixed before the first game. Pictures are not part of what is played, nor is where a Python file lies.
    """
    if larger.trials != smaller.trials and not _has_more_trials(larger, smaller):
        return False
    # the larger one without what it may have besides: names, seeds and tests are left to differ
    of_smaller = attrs.evolve(
        larger, trials=smaller.trials, cells=smaller.cells, pictures=smaller.pictures
    )
    cells = set(map(_without_places, larger.cells))
    return of_smaller == smaller and cells.issuperset(map(_without_places, smaller.cells))


def _without_places(cell: Cell) -> Cell:
    """A cell with the names of its Python files alone, which are told by their digests."""
    imports = tuple((Path(path).name, digest) for path, digest in cell.imports)
    return attrs.evolve(
        cell, module=Path(cell.module).name if cell.source else cell.module, imports=imports
    )


def _has_more_trials(larger: Experiment, smaller: Experiment) -> bool:
    return larger.trials > smaller.trials and larger.sprt is None


def difference(
    smaller: Experiment, larger: Experiment, places: tuple[str, str] = ("there", "here")
) -> str:
    """The first setting, in words, for which the one here does not extend the one there."""
    settings, others = smaller.settings(), larger.settings()
    may_differ = ["trials"] if _has_more_trials(larger, smaller) else []
    for key in _WHOLE:
        if settings[key] != others[key] and key not in may_differ:
            return _in_words(key, repr(settings[key]), repr(others[key]), places)
    for key in _OF_COLUMNS:
        values, other_values = _values(smaller, key), _values(larger, key)
        if not values.keys() <= other_values.keys():
            return _in_words(key, ", ".join(values), ", ".join(other_values), places)
    return "its agents are different"


def _in_words(key: str, there: str, here: str, places: tuple[str, str]) -> str:
    return f"{key} is {there} {places[0]} and {here} {places[1]}"


def _values(experiment: Experiment, key: str) -> dict[str, None]:
    """What the columns of an experiment have for a key, each once."""
    absent = MO_ISMCTS if key == "opponent_scheme" else "none"
    return dict.fromkeys(str(cell.column.settings().get(key, absent)) for cell in experiment.cells)


# -------------------- Games, columns, budgets and times in the words in which people read them.


NAMES = {  # of games in the papers, where they are others than ours
    "dou-di-zhu": "Dou Di Zhu",
    "lotr-confrontation": "LOTR:C",
    "phantom-mnk": "Phantom (4,4,4)",
}
VARIED = {"phantom-mnk": "Phantom m,n,k"}  # the same with other parameters


def game_title(game: str, variant: str = "") -> str:
    """A game's name as the papers write it, with those of its parameters that are not the usual ones."""
    name = game.partition("(")[0]
    usual = NAMES.get(name, name.replace("-", " ").title())
    return f"{VARIED.get(name, usual)} ({variant})" if variant else usual


def title(column: Column, among: Iterable[Column] = ()) -> str:
    """A column's name: the game, the role, and whatever else its fellows differ in."""
    text = game_title(column.game, column.variant) + (f" ({column.role})" if column.role else "")
    fellows = list(among)
    if len({(fellow.iterations, fellow.seconds) for fellow in fellows}) > 1:
        text += f", {budget(column)}"
    cheats = column.opponent.caption != column.opponent.text
    if cheats or len({fellow.opponent.text for fellow in fellows}) > 1:
        text += f", against {column.opponent.caption}"
    return text


def budget(column: Column) -> str:
    """What a decision may cost, in words."""
    if column.iterations is not None:
        return count_text(column.iterations, "iteration")
    return f"{column.seconds:g} s"


def slug(text: str) -> str:
    """A title as part of a file's name, which has no room for more than its beginning."""
    return "-".join(re.findall(r"[^\W_]+", text.lower()))[:_SLUG]


def slugs(titles: Iterable[str]) -> list[str]:
    """The same of several titles, no two of which are the same: one that is there already gets a number."""
    names = dict[str, None]()
    for text in titles:
        name, number = slug(text), 1
        while name in names:
            number += 1
            name = f"{slug(text)}-{number}"
        names[name] = None
    return [*names]


def duration(seconds: float) -> str:
    """A time in words: "3 h 5 min"."""
    whole = round(seconds)
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
