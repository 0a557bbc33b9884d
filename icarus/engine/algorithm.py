"""Searches that are schemes of their own, such as Online Outcome Sampling: settings that stand where a strategy does."""

from typing import Any, Protocol, runtime_checkable

from icarus.engine.scheme import MO_ISMCTS


@runtime_checkable
class OwnScheme(Protocol):
    """The settings of such a search, as `OOS(…)` and `ISMCTS(…)` of `icarus.equilibrium`."""

    def as_player(self, *, iterations: int | None = None, seconds: float | None = None) -> Any:
        """The player who searches so, for `play` and with `search(state, seed)`."""


def is_own_scheme(value: object) -> bool:
    """Whether a value is such settings, and not the class of them."""
    return isinstance(value, OwnScheme) and not isinstance(value, type)


USUAL = {
    "threads": 1,
    "scheme": MO_ISMCTS,
    "cutoff": None,
    "engine": None,
    "records": None,
    "move_decay": 0,
    "game_decay": 0,
}


def check_usual(strategy: OwnScheme, **given: Any) -> None:
    """Refuse settings of the loop that another search does without.

    Raises:
        ValueError: one of them is not as usual.
    """
    for name, value in given.items():
        if value != USUAL[name]:
            raise ValueError(
                f"{strategy} searches in one thread, and is a scheme of its own: it takes no {name}={value}"
            )
