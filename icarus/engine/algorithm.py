"""Algorithms other than Algorithm 1, such as Online Outcome Sampling: an agent's strategy may be the settings of one."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from icarus.engine.recommendation import label, most_visits
from icarus.engine.scheme import MO_ISMCTS
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State

DEFAULTS = {
    "threads": 1,
    "scheme": MO_ISMCTS,
    "move_decay": 0,
    "game_decay": 0,
    "recommendation": most_visits,
    "preference": None,
    "determinize": None,
}


# A `Result`, or what has `action`, `actions`, `policy`, `visits`, `values`, `iterations`, `depth` and `seconds` of one.
SearchResult: TypeAlias = Any


class SeatedPlayer(Protocol):
    """The player of one match, with what he may remember of it."""

    @property
    def preference(self) -> Callable[[State, int], float] | None:
        """What decides between actions that do equally well."""

    def search(self, state: State, seed: tuple[int, ...]) -> SearchResult:
        """The search for a decision."""


class SeatedAlgorithm(SeatedPlayer, Protocol):
    """The player of one match who plays by another algorithm than Algorithm 1."""

    def search(
        self, state: State, seed: int | Sequence[int], progress: Callable[[int, float], None] | None = None
    ) -> SearchResult:
        """As of every `SeatedPlayer`; calls progress(iterations made, seconds elapsed) about twenty times a second."""


class Algorithm(ABC):
    """The settings of another algorithm, as `OOS(…)` of `icarus.equilibrium`; its text is how they are written."""

    @abstractmethod
    def seated(self, game: AnyGame, *, iterations: int | None = None, seconds: float | None = None) -> SeatedAlgorithm:
        """The player of one match, who spends this budget on each decision and remembers what it has learned.

        Raises:
            ValueError: no positive budget.
        """


def refuse_settings_of_search(algorithm: Algorithm, **settings: object) -> None:
    """Refuse settings of `search` that another algorithm does without.

    Raises:
        ValueError: one of them differs from its default.
    """
    for name, value in settings.items():
        if value != DEFAULTS[name]:
            raise ValueError(
                f"{algorithm} is another algorithm, which searches in one thread: it takes no {name}={label(value)}"
            )
