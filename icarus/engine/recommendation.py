"""Line 18 of Algorithm 1: which action a search recommends, by a rule on what it knows of the actions at its root."""

import functools
from collections.abc import Callable

import numpy as np

from icarus import checks
from icarus.compiler.rng import plain_below
from icarus.engine.root_statistics import RootStatistics

Recommendation = Callable[[RootStatistics], np.ndarray]  # a score of each action, the higher the better. [actions]


def most_visits(root: RootStatistics) -> np.ndarray:
    """The action selected most often: the paper's rule ("robust child")."""
    return root.visits


def greatest_value(root: RootStatistics) -> np.ndarray:
    """The action of the greatest mean reward ("max child"); one that was never played last."""
    return np.where(root.playouts > 0, root.values, -np.inf)


def secure_child(root: RootStatistics, margin: float = 1.0) -> np.ndarray:
    """The action of the greatest lower confidence bound, mean − margin / √n (Chaslot et al., 2008); one that was never played last.

    Args:
        margin: how much is lost by few playouts; `functools.partial(secure_child, margin=0.5)` is a rule with another one.
    """
    return np.where(root.playouts > 0, root.values - margin / np.sqrt(np.maximum(root.playouts, 1)), -np.inf)


RULES: dict[str, Recommendation] = {rule.__name__: rule for rule in (most_visits, greatest_value, secure_child)}


def read_recommendation(name: str) -> Recommendation:
    """The shipped rule of this name.

    Raises:
        ValueError: there is no recommendation of this name.
    """
    if name not in RULES:
        raise ValueError(
            f"{checks.excerpt(name, SHOWN)!r} is not a recommendation; known recommendations: {', '.join(RULES)}"
        )
    return RULES[name]


SHOWN = 100  # characters of what is refused


def recommend(root: RootStatistics, rule: Recommendation, rng: np.ndarray) -> int:
    """The action that a rule recommends, among those that no other action is proved to dominate.

    Args:
        rng: breaks ties uniformly; it is not advanced.

    Raises:
        ValueError: the rule gave no score for each action, or NaN.
    """
    answer = rule(root)
    try:
        scores = np.asarray(answer, float)
    except (TypeError, ValueError):
        scores = np.full(len(root.actions), np.nan)
    if scores.shape != (len(root.actions),) or np.isnan(scores).any():
        right = f"it must give a number for each of {checks.count_text(len(root.actions), 'action')}"
        raise ValueError(f"the recommendation {label(rule)} gave {np.asarray(answer).tolist()}; {right}")
    candidates = np.flatnonzero(~root.dominated)
    best = candidates[scores[candidates] == scores[candidates].max()]
    return root.actions[best[0] if len(best) == 1 else best[plain_below(rng.copy(), len(best))]]


def label(rule: object) -> str:
    """The name of a rule, with its parameters."""
    if isinstance(rule, functools.partial):
        parameters = ", ".join(f"{name}={value!r}" for name, value in rule.keywords.items())
        return f"{label(rule.func)}({parameters})"
    return str(getattr(rule, "__name__", rule))
