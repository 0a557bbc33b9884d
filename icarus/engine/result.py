"""What a search found, and how it is read."""

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.information import Parts
from icarus.checks import count_text, real
from icarus.compiler.rng import plain_below
from icarus.engine.reuse import decayed_records, records_without_histories
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.engine.tables import Records, Table
from icarus.kernel.contract import read_only
from icarus.kernel.game import seat_name
from icarus.kernel.history import Root
from icarus.kernel.state import State

# -------------------- Line 18 of Algorithm 1: which action a search recommends, by a rule on what it knows of the actions at its root.


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
    player: int, actions: tuple[int, ...], visits: np.ndarray, tables: Sequence[Table]
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


def _row(table: Table, parts: Parts) -> np.void | None:
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


class RecordsByName(dict[str, Records]):
    """The records of a strategy's components; a KeyError for another name says which there are."""

    def __missing__(self, name: str) -> Records:
        raise KeyError(unknown_component(name, self))


def unknown_component(name: str, names: Iterable[str]) -> str:
    """That a strategy has no component of this name, and which it has."""
    return f"no component of the strategy is called {name}; its components: {', '.join(names)}"


@attrs.frozen(eq=False, repr=False)
class Result:
    """The result of a search; its arrays and the rows of its records can be read only.

    Attributes:
        action: the recommended action (line 18), by default the one selected most often; ties are broken by the search's generator.
        actions: the legal actions at the root, in the game's order.
        visits: how often each was selected, including earlier searches if their records are reused. [actions]
        values: the mean reward of the player to move after each, by the baseline's records; nan where there is none. [actions]
        policy: visits as shares. [actions]
        iterations: playouts made.
        records: for each component, by name, its `Records`; with several threads or trees those of the first.
        depth: actions from the root to the deepest history in the tree.
        phase_steps: decisions made in selection, expansion and simulation, by name.
        seconds: wall-clock time; the only field that differs between two searches with the same seed.
        memory: bytes of the tables.
        state, strategy, seed: the arguments of the search; `state` is a copy each time, which may be played on.
        threads: the number of threads.
        parts: with several threads or trees the results of each, with its own records; otherwise empty.
        scheme: how root states were drawn and histories observed; some schemes cheat.
        recommendation: the rule of line 18.
        earlier_iterations: playouts of the earlier searches whose records this one reused.
        root: where the keys of histories begin, which a later search goes on from (`search(…, records=…)`); None without histories.
    """

    action: int
    actions: tuple[int, ...]
    visits: np.ndarray = attrs.field(converter=read_only)
    values: np.ndarray = attrs.field(converter=read_only)
    policy: np.ndarray = attrs.field(converter=read_only)
    iterations: int
    records: Mapping[str, Records] = attrs.field(converter=RecordsByName)
    depth: int
    phase_steps: Mapping[str, int]
    seconds: float
    memory: int
    _state: State
    strategy: Enhancement
    seed: int | Sequence[int]
    threads: int = 1
    parts: tuple["Result", ...] = ()
    scheme: Scheme = MO_ISMCTS
    recommendation: Recommendation = most_visits
    earlier_iterations: int = 0
    root: Root | None = None
    pages: ClassVar[Any]  # `icarus.views`, which builds on results, puts itself here

    def decayed(self, decay: float) -> "Result":
        """The same result with records of less weight: every count is multiplied by `decay` and rounded down, its sums likewise.

        Args:
            decay: from 0, which forgets everything, to 1, which keeps everything. Fields without a count, such as a reply, are kept
                unless it is 0.

        Raises:
            ValueError: a decay that is not a number from 0 to 1.
        """
        factor = real("decay", decay, 0, 1)
        if factor == 1:
            return self
        parts = tuple(part.decayed(factor) for part in self.parts)
        records = parts[0].records if parts else decayed_records(self.records, factor)
        return attrs.evolve(self, records=records, parts=parts)

    def without_histories(self) -> "Result":
        """The same result without the records of histories: the others, such as those of MAST and NAST, fit any root of the game.

        Of a component with several kinds of records all stay; those of histories are met by no later search.
        """
        parts = tuple(part.without_histories() for part in self.parts)
        remaining = parts[0].records if parts else records_without_histories(self.records)
        return attrs.evolve(self, records=remaining, parts=parts, root=None)

    @property
    def state(self) -> State:
        return self._state.clone()

    @property
    def value(self) -> float:
        """The mean reward after the chosen action."""
        return float(self.values[self.actions.index(self.action)])

    def __str__(self) -> str:
        player = self.state.current_player()
        rows = [("action", "visits", "share", "value")]
        for i in np.argsort(-self.visits, kind="stable"):
            mark = " *" if self.actions[i] == self.action else ""
            value = "-" if np.isnan(self.values[i]) else f"{self.values[i]:.3f}"
            action = self.state.action_to_string(self.actions[i]) + mark
            rows.append((action, str(self.visits[i]), f"{self.policy[i]:.1%}", value))
        widths = [max(len(row[k]) for row in rows) for k in range(4)]
        table = "\n".join(
            f"{row[0]:<{widths[0]}}  " + "  ".join(f"{text:>{w}}" for text, w in zip(row[1:], widths[1:], strict=True))
            for row in rows
        )
        rate = self.iterations / self.seconds if self.seconds > 0 else 0.0
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        rule = "" if self.recommendation is most_visits else f", by {label(self.recommendation)}"
        what = f"{self.state.game}, {seat_name(self.state.game, player)}, {self.scheme.label(self.strategy)}{threads}{rule}"
        records = sum(map(len, self.records.values()))
        spent = f"{count_text(self.iterations, 'iteration')} in {self.seconds:.2f} s ({rate:,.0f}/s)"
        return f"{what}: {spent}, depth {self.depth}, {records} records\n{table}"

    def to_html(self, path: str | Path) -> None:
        """Write the tree into a new HTML file, one page that needs no network.

        Raises:
            ValueError: the file exists.
        """
        self.pages.write(self, path)

    def _repr_html_(self) -> str:
        return self.pages.frame(self)

    def __repr__(self) -> str:
        return f"<search result: {self.state.action_to_string(self.action)} after {count_text(self.iterations, 'iteration')}>"


class SearchInterrupted(KeyboardInterrupt):
    """Ctrl-C during a search; `result` is what it had found by then."""

    def __init__(self, result: Result) -> None:
        super().__init__(f"search interrupted after {count_text(result.iterations, 'iteration')}")
        self.result = result


class SearchExhausted(RuntimeError):
    """A search that cannot go on, since memory has run out or a count is full; `result` is what it had found by then."""

    def __init__(self, result: Result, error: MemoryError | OverflowError) -> None:
        why = "memory has run out" if isinstance(error, MemoryError) else str(error)
        super().__init__(f"the search ended after {count_text(result.iterations, 'iteration')}: {why}")
        self.result = result
