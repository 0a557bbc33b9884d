"""When one experiment continues another: it is the same, or has more trials, agents or games besides."""

import attrs

from experiments.plan.definition import Experiment
from icarus.engine.scheme import MO_ISMCTS

WHOLE = ("name", "seed", "paired", "sprt")  # settings of the whole experiment that cannot change
OF_COLUMNS = ("game", "seats", "role", "opponent", "opponent_scheme", "iterations", "seconds")


def extends(larger: Experiment, smaller: Experiment) -> bool:
    """Whether an experiment is another one, or that with more trials, agents or games.

    Every game keeps its seed, so the games of the smaller one are games of the larger one. The number of trials of a sequential test
    cannot change: it is fixed before the first game. Pictures are not part of what is played.
    """
    more_trials = larger.trials > smaller.trials and larger.sprt is None
    return (
        (larger.trials == smaller.trials or more_trials)
        and set(smaller.cells) <= set(larger.cells)
        and attrs.evolve(larger, trials=smaller.trials, cells=smaller.cells, pictures=smaller.pictures) == smaller
    )


def difference(smaller: Experiment, larger: Experiment, places: tuple[str, str] = ("there", "here")) -> str:
    """The first setting, in words, for which the one here does not extend the one there."""
    settings, others = smaller.settings(), larger.settings()
    keys = WHOLE if larger.trials > smaller.trials and larger.sprt is None else (*WHOLE[:2], "trials", *WHOLE[2:])
    for key in keys:
        if settings[key] != others[key]:
            return _in_words(key, settings[key], others[key], places)
    for key in OF_COLUMNS:
        values, other_values = _values(smaller, key), _values(larger, key)
        if not values.keys() <= other_values.keys():
            return _in_words(key, ", ".join(values), ", ".join(other_values), places, quoted=False)
    return "its agents are different"


def _in_words(key: str, value: object, value_here: object, places: tuple[str, str], quoted: bool = True) -> str:
    value, value_here = (repr(value), repr(value_here)) if quoted else (value, value_here)
    return f"{key} is {value} {places[0]} and {value_here} {places[1]}"


def _values(experiment: Experiment, key: str) -> dict[str, None]:
    """What the columns of an experiment have for a key, each once."""
    return dict.fromkeys(str(cell.column.settings().get(key, MO_ISMCTS)) for cell in experiment.cells)
