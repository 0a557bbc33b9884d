"""Algorithms other than Algorithm 1, such as Online Outcome Sampling: an agent's strategy may be the settings of one."""

from abc import ABC, abstractmethod
from typing import Any

from icarus.engine.recommendation import label, most_visits
from icarus.engine.scheme import MO_ISMCTS
from icarus.kernel.game import Game

DEFAULTS = {
    "threads": 1,
    "scheme": MO_ISMCTS,
    "move_decay": 0,
    "game_decay": 0,
    "recommendation": most_visits,
    "preference": None,
    "determinize": None,
}


class Algorithm(ABC):
    """The settings of another algorithm, as `OOS(…)` and `ISMCTS(…)` of `icarus.equilibrium`; its text is how they are written."""

    @abstractmethod
    def seated(self, game: Game, *, iterations: int | None = None, seconds: float | None = None) -> Any:
        """The player of one match, who spends this budget on each decision and remembers what it has learned.

        Its `search(state, seed)` returns `action`, `actions`, `policy`, `visits`, `values`, `iterations`, `depth` and `seconds`, as of a
        `Result`; its `preference` is None.

        Raises:
            ValueError: no positive budget.
        """


def refuse_settings_of_search(algorithm: Algorithm, **settings: Any) -> None:
    """Refuse settings of `search` that another algorithm does without.

    Raises:
        ValueError: one of them differs from its default.
    """
    for name, value in settings.items():
        if value != DEFAULTS[name]:
            raise ValueError(
                f"{algorithm} is another algorithm, which searches in one thread: it takes no {name}={label(value)}"
            )
