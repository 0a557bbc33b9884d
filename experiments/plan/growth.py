"""When one experiment continues another: it is the same, or has more trials, agents or games besides."""

import attrs

from experiments.plan.cells import OPPONENT, Experiment
from icarus.engine.scheme import MO_ISMCTS

_WHOLE = ("name", "seed", "trials", "paired", "sprt")  # settings of the whole experiment
_OF_COLUMNS = ("game", "seats", "role", *OPPONENT.values(), "iterations", "seconds")


def extends(larger: Experiment, smaller: Experiment) -> bool:
    """Whether an experiment is another one, or that with more trials, agents or games.

    Every game keeps its seed, so the games of the smaller one are games of the larger one. The number of trials of a sequential test
    cannot change: it is fixed before the first game. Pictures are not part of what is played.
    """
    return (
        (larger.trials == smaller.trials or _has_more_trials(larger, smaller))
        and set(smaller.cells) <= set(larger.cells)
        and attrs.evolve(
            larger, trials=smaller.trials, cells=smaller.cells, pictures=smaller.pictures
        )
        == smaller
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
