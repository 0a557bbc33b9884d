"""Line 18 of Algorithm 1: which action a search recommends, by a rule on what it knows of the actions at its root."""

import functools
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from icarus import checks
from icarus.algebra.information import Parts
from icarus.compiler.rng import plain_below
from icarus.engine.tables import RecordTable

# ----------------------------------------------------------------------- What a search knows of the actions at its root


@attrs.frozen(eq=False)
class RootStatistics:
    """The statistics of each legal action at the root.

    Attributes:
        actions: in the game's order. [actions]
        visits: how often each was selected, by earlier searches too if their records are used. [actions]
        rewards: the total reward of the player to move after each, by the baseline's records. [actions]
        playouts: the number of playouts of these rewards. [actions]
        lower, upper: proven bounds of the reward of the player to move. [actions]
    """

    actions: tuple[int, ...]
    visits: np.ndarray
    rewards: np.ndarray
    playouts: np.ndarray
    lower: np.ndarray
    upper: np.ndarray

    @property
    def values(self) -> np.ndarray:
        """The mean reward after each action; nan without a playout. [actions]"""
        unknown = np.full(len(self.actions), np.nan)
        return np.divide(self.rewards, self.playouts, out=unknown, where=self.playouts > 0)

    @property
    def policy(self) -> np.ndarray:
        """The visits as shares. [actions]"""
        return self.visits / max(1, self.visits.sum())

    @property
    def dominated(self) -> np.ndarray:
        """Whether another action is proven to be at least as good, and may be better. [actions]"""
        certain = self.lower[None, :] >= self.upper[:, None]
        return np.any(certain & (self.upper[None, :] > self.lower[:, None]), axis=1)


def sum_statistics(parts: Sequence[RootStatistics]) -> RootStatistics:
    """The statistics of several searches from one root: counts and rewards summed, the narrowest bounds."""
    return RootStatistics(
        actions=parts[0].actions,
        visits=np.sum([part.visits for part in parts], axis=0),
        rewards=np.sum([part.rewards for part in parts], axis=0),
        playouts=np.sum([part.playouts for part in parts], axis=0),
        lower=np.max([part.lower for part in parts], axis=0),
        upper=np.min([part.upper for part in parts], axis=0),
    )


def root_statistics(
    player: int, actions: tuple[int, ...], visits: np.ndarray, tables: Sequence[RecordTable]
) -> RootStatistics:
    """What the tables of a search say of the actions at its root.

    Args:
        player, actions: who is to move, and what is legal.
        visits: how often each action was selected. [actions]
        tables: of each component, the baseline's first.
    """
    rewards, playouts = np.zeros((2, len(actions)))
    lower, upper = np.zeros(len(actions)), np.ones(len(actions))
    proofs = [table for table in tables if table.component.capture.proves]
    for i, action in enumerate(actions):
        row = _row(tables[0], (player, (action,)))
        if row is not None:
            rewards[i], playouts[i] = row["reward"][player], row["visits"]
        for table in proofs:
            bounds = _row(table, (player, (action,), player))
            if bounds is not None:
                lower[i], upper[i] = max(lower[i], bounds["lower"]), min(upper[i], bounds["upper"])
    return RootStatistics(actions, visits, rewards, playouts, lower, upper)


def _row(table: RecordTable, parts: Parts) -> np.void | None:
    return table.find(table.component.records.key(table.game, parts, table.root))


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
