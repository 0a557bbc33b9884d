"""What a search found, how it is read, and what a later search takes from it."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Number
from pathlib import Path
from typing import Any, ClassVar

import attrs
import numpy as np

from icarus.algebra import HISTORY, PLAYER, Enhancement, Kind
from icarus.checks import count_text, real, text_columns
from icarus.compiler import plain_below, python_of, seeded
from icarus.engine.lowering import components_of, storage_of
from icarus.engine.scheme import EVERY_ACTION, MO_ISMCTS, ONCE, ROOT_PLAYER, Scheme
from icarus.engine.tables import Records, RecordTable, address_in
from icarus.kernel import (
    SPARE_LEGAL,
    TERMINAL,
    UNSEEN,
    AnyGame,
    Game,
    Root,
    State,
    extended_key,
    mix,
    mix_arrays,
    new_root,
    read_only,
    seat_name,
    word_of,
)
from icarus.kernel.contract import copy_data
from icarus.kernel.evaluation import Evaluation, attributes_of, rules_of

DRAWS = 32  # determinizations in which it is seen what another observes


# ----------------------------------------------------------------------- What a search knows of the actions at its root


@attrs.frozen(eq=False, slots=False)
class RootStatistics:
    """The statistics of each legal action at the root; its arrays can be read only.

    Attributes:
        actions: in the game's order. [actions]
        visits: how often each was selected, by earlier searches too if their records are used. [actions]
        rewards: the total reward of the player to move after each, by the baseline's records. [actions]
        playouts: the number of playouts of these rewards. [actions]
        lower, upper: proven bounds of the reward of the player to move. [actions]
    """

    actions: tuple[int, ...]
    visits: np.ndarray = attrs.field(converter=read_only)
    rewards: np.ndarray = attrs.field(converter=read_only)
    playouts: np.ndarray = attrs.field(converter=read_only)
    lower: np.ndarray = attrs.field(converter=read_only)
    upper: np.ndarray = attrs.field(converter=read_only)

    @classmethod
    def of_tables(
        cls,
        player: int,
        actions: tuple[int, ...],
        visits: np.ndarray,
        tables: Sequence[RecordTable],
        key: int,
    ) -> "RootStatistics":
        """What the tables of a search say of the actions at its root; rewards and playouts are read when one asks for them.

        Args:
            player, actions: who is to move, and what is legal.
            visits: how often each action was selected. [actions]
            tables: of each component, the baseline's first.
            key: of the empty history in the perspective of the player.
        """
        lower = np.zeros(len(actions))
        upper = np.ones(len(actions))
        for table in tables:
            if table.component.capture.proves:
                keys = mix_arrays(_children(key, player, actions), np.array([player]))
                bounds = table.rows[table.places(keys)]
                lower = np.maximum(lower, bounds["lower"])
                upper = np.minimum(upper, bounds["upper"])
        root = object.__new__(cls)
        unread = (tables[0], key, player)
        vars(root).update(
            actions=actions,
            visits=read_only(visits),
            lower=read_only(lower),
            upper=read_only(upper),
            _unread=unread,
        )
        return root

    def __getattr__(self, name: str) -> Any:
        """Read the rewards and playouts that `of_tables` has left unread."""
        if name not in ("rewards", "playouts") or "_unread" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {name}")
        table, key, player = vars(self)["_unread"]
        rows = table.rows[table.places(_children(key, player, self.actions))]
        rewards, playouts = rows["reward"][:, player], rows["visits"].astype(float)
        vars(self).update(rewards=read_only(rewards), playouts=read_only(playouts))
        return vars(self)[name]

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
        bounds = list(zip(self.lower.tolist(), self.upper.tolist(), strict=True))
        best_lower, best_upper = max(bounds)  # of the action that is sure to get most
        return np.array([best_lower >= upper and best_upper > lower for lower, upper in bounds])


def _children(key: int, player: int, actions: tuple[int, ...]) -> np.ndarray:
    """The keys of the records of a history's children. [actions]"""
    return mix_arrays(np.array([key]), python_of(word_of)(player, np.array(actions)))


def sum_statistics(parts: Sequence[RootStatistics]) -> RootStatistics:
    """The statistics of several searches from one root: counts and rewards summed, the narrowest bounds."""
    summed = ("visits", "rewards", "playouts")
    visits, rewards, playouts = (
        np.sum([getattr(part, name) for part in parts], axis=0) for name in summed
    )
    lower = np.max([part.lower for part in parts], axis=0)
    upper = np.min([part.upper for part in parts], axis=0)
    return RootStatistics(parts[0].actions, visits, rewards, playouts, lower, upper)


# a score of each action, the higher the better. [actions]
Recommendation = Callable[[RootStatistics], np.ndarray]


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
    return np.where(
        root.playouts > 0, root.values - margin / np.sqrt(np.maximum(root.playouts, 1)), -np.inf
    )


def recommend(root: RootStatistics, rule: Recommendation, rng: np.ndarray) -> int:
    """The action that a rule recommends, among those that no other action is proved to dominate.

    Args:
        rng: breaks ties uniformly; it is not advanced.

    Raises:
        ValueError: the rule gave no score for each action, or NaN.
    """
    answer = rule(root)
    right = f"it must give a number for each of {count_text(len(root.actions), 'action')}"
    try:
        scores = np.asarray(answer, float)
    except (TypeError, ValueError):
        raise ValueError(f"the recommendation {label(rule)} gave {answer!r}; {right}") from None
    if scores.shape != (len(root.actions),) or np.isnan(scores).any():
        raise ValueError(f"the recommendation {label(rule)} gave {scores.tolist()}; {right}")
    choices = zip(scores.tolist(), root.actions, root.dominated.tolist(), strict=True)
    candidates = [(score, action) for score, action, is_worse in choices if not is_worse]
    most, _ = max(candidates)
    best = [action for score, action in candidates if score == most]
    return best[0] if len(best) == 1 else best[plain_below(rng.copy(), len(best))]


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


@attrs.frozen(eq=False, repr=False, slots=False)
class Result:
    """The result of a search; its arrays and the rows of its records can be read only.

    Attributes:
        action: the recommended action (line 18), by default the one selected most often; ties are broken by the search's generator.
        actions: the legal actions at the root, in the game's order.
        visits: how often each was selected; if records of earlier searches are reused, also by those, but for the first playout of each
            of their trees, which expands the root. [actions]
        iterations: playouts made.
        records: for each component, by name, its `Records`; with several threads or trees those of the first.
        depth: actions from the root to the deepest history in the tree.
        phase_steps: decisions made in selection, expansion and simulation, by name.
        seconds: wall-clock time; the only field that differs between two searches with the same seed.
        memory: bytes of the tables at the capacity that their records need.
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
    _statistics: RootStatistics
    _state: State
    strategy: Enhancement
    seed: int | Sequence[int] = ()
    iterations: int = 0
    records: Mapping[str, Records] = attrs.field(default={}, converter=RecordsByName)
    depth: int = 0
    phase_steps: Mapping[str, int] = {}
    seconds: float = 0.0
    memory: int = 0
    threads: int = 1
    parts: tuple["Result", ...] = ()
    scheme: Scheme = MO_ISMCTS
    recommendation: Recommendation = most_visits
    earlier_iterations: int = 0
    root: Root | None = None
    _policy: np.ndarray | None = None
    # `icarus.views` and `inspect`, which build on results, put themselves here
    pages: ClassVar[Any]
    look_for_notes: ClassVar[Callable[["Result"], tuple[str, ...]]]

    def decayed(self, decay: float) -> "Result":
        """The same result with records of less weight: every count is multiplied by `decay` and rounded down, its sums likewise.

        Args:
            decay: from 0, which forgets everything, to 1, which keeps everything. Fields without a count, such as a reply, are kept
                unless it is 0. What an `@initial_information` function has given decays, too, as if it were learned.

        Raises:
            ValueError: a decay that is not a number from 0 to 1.
        """
        factor = real("decay", decay, 0, 1)
        return (
            self if factor == 1 else self._with_rows(lambda table, _: decayed_rows(table, factor))
        )

    def without_histories(self) -> "Result":
        """The same result without the records of histories: the others, such as those of MAST and NAST, fit any root of the game.

        Of a component with several kinds of records, what cannot be told from others stays; no later search meets it.
        """
        return self._with_rows(functools.partial(rows_that_fit, histories=False), root=None)

    def _with_rows(
        self, change: Callable[[RecordTable, RecordTable], np.ndarray], **fields: Any
    ) -> "Result":
        """The same result with other fields, and with other rows in each table.

        Args:
            change: what gives the rows, by the table and the baseline's.
        """
        # read now: what is left unread holds the whole table
        fields["statistics"] = sum_statistics([self._statistics])
        if self.parts:
            parts = tuple(part._with_rows(change, **fields) for part in self.parts)
            return self._changed(records=parts[0].records, parts=parts, **fields)
        baseline = baseline_records(self)._table
        tables = dict.fromkeys(part._table for part in self.records.values())
        copies = {table: table.with_rows(change(table, baseline)) for table in tables}
        records = {
            name: Records(part.enhancement, part.game, copies[part._table])
            for name, part in self.records.items()
        }
        return self._changed(records=records, **fields)

    def _changed(self, **fields: Any) -> "Result":
        """The same result with other fields; no slot is to blame for what its records are now."""
        result = attrs.evolve(self, **fields)
        vars(result)["notes"] = ()
        return result

    @functools.cached_property
    def values(self) -> np.ndarray:
        """The mean reward of the player to move after each, by the baseline's records; nan where there is none. [actions]"""
        return read_only(self._statistics.values)

    @functools.cached_property
    def policy(self) -> np.ndarray:
        """Visits as shares; of another algorithm what it would play. [actions]"""
        return read_only(self._statistics.policy if self._policy is None else self._policy)

    @functools.cached_property
    def notes(self) -> tuple[str, ...]:
        """What seems wrong with slots of your own that do nothing, or read a step that is not yet played; looked for when first asked."""
        return type(self).look_for_notes(self)

    @property
    def state(self) -> State:
        return self._state.clone()

    @property
    def value(self) -> float:
        """The mean reward after the chosen action."""
        return float(self.values[self.actions.index(self.action)])

    def __str__(self) -> str:
        rows = [("action", "visits", "share", "value")]
        for i in np.argsort(-self.visits, kind="stable"):
            mark = " *" if self.actions[i] == self.action else ""
            value = "-" if np.isnan(self.values[i]) else f"{self.values[i]:.3f}"
            action = self.state.action_to_string(self.actions[i]) + mark
            rows.append((action, str(self.visits[i]), f"{self.policy[i]:.1%}", value))
        return "\n".join([self.summary, *text_columns(rows, ">"), *self.notes])

    @property
    def summary(self) -> str:
        """What was searched, by what, and how much, in one line."""
        player = self.state.current_player()
        rate = self.iterations / self.seconds if self.seconds > 0 else 0.0
        threads = f", {self.threads} threads" if self.threads > 1 else ""
        rule = "" if self.recommendation is most_visits else f", by {label(self.recommendation)}"
        evaluation = Evaluation.of(self.state.game)
        learned = "" if evaluation is None else f", {evaluation}"
        what = f"{self.state.game}, {seat_name(self.state.game, player)}, {self.scheme.label(self.strategy)}{threads}{rule}{learned}"
        trees = self.parts or (self,)
        records = sum(table.used for part in trees for table in tables_of(part).values())
        spent = (
            f"{count_text(self.iterations, 'iteration')} in {self.seconds:.2f} s ({rate:,.0f}/s)"
        )
        text = f"{what}: {spent}, depth {self.depth}, {records} records"
        return " ".join(text.splitlines())

    def to_html(self, path: str | Path) -> None:
        """Write the tree into a new HTML file, one page that needs no network.

        Raises:
            ValueError: the file exists.
        """
        self.pages.write_tree_page(self, path)

    def _repr_html_(self) -> str | None:
        return self.pages.tree_frame(self) if self.records else None

    def __repr__(self) -> str:
        return f"<search result: {self.state.action_to_string(self.action)} after {count_text(self.iterations, 'iteration')}>"


def baseline_records(result: Result) -> Records:
    """The records of the baseline, which every search by Algorithm 1 keeps; they come first.

    Raises:
        ValueError: the result is that of another algorithm.
    """
    for records in result.records.values():
        return records
    raise ValueError(f"{result.strategy} is another algorithm, whose results have no records")


# ------------------------------------------------------------------ what a later search begins with

# The keys of histories are counted from where the first of several searches began, so records stay as they are and where they are: a
# search from a later state begins at the key that its history has there. Where moves are hidden, the player who searches must know what was
# seen of them since. Players know it of their own perspective. Of another they know it where it is the same in many determinizations, each
# drawn before the action from what they knew then. Where it is not known, histories begin at a root below no other.


@attrs.frozen(eq=False)
class ReusedRecords:
    """What a search begins with.

    Attributes:
        rows: of each component's table.
        root: where the histories of the search begin.
        iterations: of the earlier searches, by which `history.iteration` goes on.
    """

    rows: tuple[np.ndarray, ...]
    root: Root
    iterations: int


def reused_records(
    records: Result | None, state: State, strategy: Enhancement, scheme: Scheme, searches: int
) -> list[ReusedRecords | None]:
    """What each of so many searches of a state begins with, by the `Result` of an earlier search; None without one.

    Raises:
        TypeError: `records` is not a Result. ValueError: they are of another game, scheme, number of trees or strategy, or of a
            search whose state does not lead to this state.
    """
    if records is None:
        return [None] * searches
    if not isinstance(records, Result):
        raise TypeError(f"records is {records!r}; it must be the Result of an earlier search")
    if wrong := why_another_game(records.state.game, state.game):
        raise ValueError(f"records are of the game {records.state.game}, and the state is {wrong}")
    if records.scheme != attrs.evolve(scheme, cutoff=records.scheme.cutoff):
        raise ValueError(
            f"records are of a search by {records.scheme}; its histories are not those of {scheme}"
        )
    parts = records.parts or (records,)
    if len(parts) != searches:
        raise ValueError(
            f"records are of {len(parts)} trees, each with records of its own; this search grows {searches}"
        )
    components, _ = components_of(strategy, scheme.uses_exp3(state.game))
    tables = tables_of(records)
    for part in components:
        if storage_of(part) not in tables:
            raise ValueError(
                f"records have none of {part} as it is in {strategy}; they are of {', '.join(records.records)}"
            )
    if wrong := why_other_histories(records, state, scheme):
        raise ValueError(wrong)
    return [_reused(part, state, scheme, components) for part in parts]


def why_another_game(before: AnyGame, now: AnyGame) -> str:
    """How the game now differs from that before: by its name, or by its rules under the same name; "" where they are the same."""
    if str(before) != str(now):
        return f"of {now}"
    same = before is now or rules_of(before) == rules_of(now)
    return "" if same else "of one by other rules, with the same name"


def tables_of(result: Result) -> dict[tuple[object, ...], RecordTable]:
    """The tables of a result of one tree, by what decides an enhancement's records."""
    return {storage_of(part.enhancement): part._table for part in result.records.values()}


def why_other_histories(records: Result, state: State, scheme: Scheme) -> str:
    """Why a search of a state cannot go on from the histories of records; "" where it can."""
    if records.root is None:
        return ""
    if not leads_to(records.state, state):
        return "records are of a search whose state does not lead to this state; records.without_histories() fits every state"
    before, now = records.state.current_player(), state.current_player()
    if scheme.observer == ROOT_PLAYER and before != now:
        return (
            f"records are of what player {before} saw, and under {scheme} player {now} is the only observer; "
            "records.without_histories() fits"
        )
    return ""


def leads_to(earlier: State, state: State) -> bool:
    """Whether a state is an earlier one, or one that play has led to from there."""
    before, now = earlier.start, state.start
    if isinstance(before, np.ndarray) and isinstance(now, np.ndarray):
        same = before.tobytes() == now.tobytes()
    else:
        try:
            same = before is now or _are_equal(before, now, set())
        except RecursionError:  # an object holds what holds it
            same = False
    return same and state.history[: len(earlier.history)] == earlier.history


def _are_equal(first: Any, second: Any, compared: set[tuple[int, int]]) -> bool:
    """Whether two states in plain Python are equal in all that they hold; an object without `__eq__` is what its attributes are.

    Args:
        compared: the addresses of pairs that have been opened: none is opened twice, also where objects hold one another.
    """
    has_equality: bool = type(first).__eq__ is not object.__eq__  # type: ignore[comparison-overlap]
    try:
        if first == second:
            return True
    except ValueError:  # arrays are equal in each place, not as one
        has_equality = False
    if type(first) is not type(second) or isinstance(first, str | bytes):
        return False
    if isinstance(first, np.ndarray):
        if (first.dtype, first.shape) != (second.dtype, second.shape):
            return False
        if first.dtype != object:
            return np.array_equal(first, second) or first.tobytes() == second.tobytes()
        first, second = first.ravel().tolist(), second.ravel().tolist()
    if isinstance(first, Number | np.generic):
        return bool(first != first and second != second)  # NaN
    pair = id(first), id(second)
    if pair in compared:
        return True
    compared.add(pair)
    if isinstance(first, Mapping):
        return first.keys() == second.keys() and all(
            _are_equal(value, second[key], compared) for key, value in first.items()
        )
    if isinstance(first, Sequence):
        return len(first) == len(second) and all(
            _are_equal(*items, compared) for items in zip(first, second, strict=True)
        )
    names = () if has_equality else attributes_of(first)
    return bool(names) and all(
        _are_equal(getattr(first, name, None), getattr(second, name, None), compared)
        for name in names
    )


def _reused(
    result: Result, state: State, scheme: Scheme, components: Sequence[Enhancement]
) -> ReusedRecords:
    """What one search begins with, by the result of another of one tree.

    A record of a history that the baseline does not have, as GRAVE makes them of actions that are not legal there, is left behind.
    """
    tables = tables_of(result)
    baseline = tables[storage_of(components[0])]
    root, histories = _root_of(result, state, scheme, baseline)
    rows = tuple(
        rows_that_fit(tables[storage_of(part)], baseline, histories) for part in components
    )
    return ReusedRecords(rows, root, result.earlier_iterations + result.iterations)


def rows_that_fit(table: RecordTable, baseline: RecordTable, histories: bool) -> np.ndarray:
    """The rows of a table that a later search may meet.

    Args:
        histories: whether its root is one of the histories of the baseline's table; if not, no record of a history fits. Where records of
            other kinds stand beside them, those of histories are told by their keys, as far as the baseline has them.
    """
    spaces = table.component.records.alternatives
    of_histories = [space for space in spaces if space.factors[:1] == HISTORY.factors]
    if not of_histories or (histories and table is baseline):
        return table.rows[1:]
    is_mixed = len(of_histories) < len(spaces)
    if not is_mixed and not histories:
        return table.rows[:0]
    # Of these, a key that the baseline does not have may be that of a record that fits.
    if histories and (is_mixed or not {*of_histories} <= {HISTORY, HISTORY * PLAYER}):
        return table.rows[1:]
    tree = baseline.rows[1:]["record"]
    is_in_tree = np.zeros(len(table.rows), np.bool_)
    is_in_tree[table.places(tree)] = True
    for player in range(table.game.players if HISTORY * PLAYER in of_histories else 0):
        is_in_tree[table.places(mix_arrays(tree, np.array([player])))] = True
    fits = is_in_tree if histories else ~is_in_tree
    return table.rows[1:][fits[1:]]


# ---------------------------------------------------------------------------------------------------- where the new root is


def _root_of(
    result: Result, state: State, scheme: Scheme, baseline: RecordTable
) -> tuple[Root, bool]:
    """Where the histories of a state begin, by the keys of an earlier search, and whether any of its histories lie below."""
    game, observer = scheme.view(state.game), state.current_player()
    new = new_root(game.perspectives, result.earlier_iterations + result.iterations)
    # Under ONCE the tree is that of one determinization; this search draws another.
    if result.root is None or scheme.root == ONCE:
        return new, False
    replay = result.state
    keys = list[int | None](result.root.keys)
    record: int | None = result.root.record
    for player, action in state.history[len(replay.history) :]:
        moves = observed_moves(replay, player, action, scheme, observer)
        perspective = game.perspective(player)
        key, move = keys[perspective], moves[perspective]
        # the record has the action, whatever else its player sees of it, except where one player's eyes see for all
        edge = move if scheme.observer == ROOT_PLAYER else action
        record = None if None in (key, move) else extended_key(key, player, edge)
        keys = [extend_key(key, move) for key, move in zip(keys, moves, strict=True)]
        replay.apply_action(action)
    if game.perspectives == 1 and scheme.observer != ROOT_PLAYER:
        row = None if record is None else baseline.find(record)
        if row is None or row["visits"] == 0:  # the root is not in the tree
            return new, False
    at_root = tuple(
        new_key if key is None else key for key, new_key in zip(keys, new.keys, strict=True)
    )
    return Root(at_root, new.record if record is None else record), True


def extend_key(key: Any, move: int | None) -> Any:
    """The key of a history after a move that is seen; None where either is not known."""
    if key is None or move is None:
        return None
    return key if move == UNSEEN else mix(key, move)


def observed_moves(
    state: State, player: int, action: int, scheme: Scheme, observer: int
) -> list[int | None]:
    """The move by which each perspective of a scheme sees an action about to be played, None where an observer cannot tell."""
    moves = state.observed(action)
    sees_all = scheme.observer == EVERY_ACTION
    hides_nothing = len(moves) == 1
    # his eyes see for all; what he does himself is the action in his tree
    if scheme.observer == ROOT_PLAYER:
        return [action if hides_nothing or player == observer else moves[observer]]
    if hides_nothing or scheme.cheats:  # all is known
        return [action] if sees_all else list(moves)
    return _moves_if_known(state, player, action, observer, sees_all)


def _moves_if_known(
    state: State, player: int, action: int, observer: int, of_actions: bool
) -> list[int | None]:
    """The move by which each perspective sees an action, None where the observer does not know it.

    Args:
        of_actions: whether there is one perspective, which sees the actions themselves.
    """
    moves = [action] if of_actions else state.observed(action)
    possible: list[set[int]] = [set() for _ in moves]  # the moves of each perspective
    others = possible if of_actions else possible[:observer] + possible[observer + 1 :]
    for actions in _possible_moves(state, player, action, observer):
        for each in actions:
            for options, move in zip(possible, each[-1:] if of_actions else each, strict=True):
                options.add(move)
        if all(len(options) > 1 for options in others):
            break
    certain = [options.pop() if len(options) == 1 else None for options in possible]
    if not of_actions:
        certain[observer] = moves[observer]
    return certain


def _possible_moves(
    state: State, player: int, action: int, observer: int
) -> Iterator[list[list[int]]]:
    """In each determinization for an observer, the moves of the actions that he cannot tell from this one. [actions, perspectives]"""
    move = state.observed(action)[observer]
    is_own = player == observer
    drawn_moves = _drawn_by_kernels if isinstance(state.game, Game) else _drawn_by_states
    for moves in drawn_moves(state, observer, action if is_own else None):
        yield [each for each in moves if is_own or each[observer] == move]


def _drawn_by_states(state: State, observer: int, action: int | None) -> Iterator[list[list[int]]]:
    """In each determinization for an observer, the moves of an action, or of all that are legal there. [actions, perspectives]"""
    beliefs, rng = state.beliefs(observer), seeded(len(state.history))
    for _ in range(DRAWS):
        world = state.from_data(state.game, state.redraw(observer, beliefs, rng))
        actions = world.legal_actions() if action is None else [action]
        yield [world.observed(each) for each in actions]


def _drawn_by_kernels(state: State, observer: int, action: int | None) -> Iterator[list[list[int]]]:
    """`_drawn_by_states` by the kernels of a compiled game, in a tenth of the time: answers are not checked."""
    game, kernels = state.game, state.game.kernels()
    beliefs, rng = state.beliefs(observer), seeded(len(state.history))
    world = copy_data(state.data)
    legal = np.empty(game.max_legal + SPARE_LEGAL, np.int64)
    moves = np.empty(game.players, np.int64)
    at_world, at_legal, at_moves = map(address_in, (world, legal, moves))
    at_beliefs, at_rng = address_in(beliefs), address_in(rng)

    def observed(each: int) -> list[int]:
        moves.fill(each)
        kernels.observe(at_world, each, at_moves, game.players)
        return [*moves.tolist(), each]  # the environment sees the action itself

    for _ in range(DRAWS):
        world[:] = state.data
        if kernels.determinize is not None:
            kernels.determinize(at_world, observer, at_beliefs, at_rng)
        if action is not None:
            actions = [action]
        elif kernels.player(at_world) == TERMINAL:
            actions = []
        else:
            actions = legal[: kernels.legal(at_world, at_legal)].tolist()
        yield [observed(each) for each in actions]


# ------------------------------------------------------------------------------------------------------------ what is forgotten


def decayed_rows(table: RecordTable, decay: float) -> np.ndarray:
    """The rows of a table, every count c decayed to ⌊decay · c⌋ and every sum in proportion to its count.

    A sum goes with the next count that follows it in Θ, the last sums with the first count; by itself it is multiplied by `decay`. Means,
    bounds and labels stay. What a record has to begin with is not part of its counts, and stays. A row whose counts, sums and bounds are
    back there is left out.
    """
    rows = table.rows[1:]
    if decay == 0:
        return rows[:0]
    prior = _prior_rows(table, rows["record"])
    fields = table.component.information.fields
    counts = [name for name, domain in fields if domain.kind == Kind.COUNT]
    result = rows.copy()
    # of each count, how much each row had gained since it began, and how much of that is left
    gains: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name in counts:
        gained = rows[name].astype(float) - prior[name]
        left = decay * gained
        if rows[name].dtype.kind != "f":
            left = np.floor(left)
        result[name] = prior[name] + left
        gains[name] = gained, left
    gained, left = gains[counts[0]] if counts else np.zeros((2, len(rows)))
    for name, domain in reversed(fields):
        if domain.kind == Kind.COUNT:
            gained, left = gains[name]
        elif domain.kind == Kind.SUM:
            change = (rows[name] - prior[name]).T
            decayed = np.divide(change * left, gained, out=decay * change, where=gained != 0)
            result[name] = prior[name] + decayed.T
    changed = np.zeros(len(rows), np.bool_)
    for name, domain in fields:
        if domain.kind in (Kind.COUNT, Kind.SUM, Kind.BOUND) or not counts:
            differs = result[name] != prior[name]
            changed |= differs.any(axis=tuple(range(1, differs.ndim)))
    return result[changed]


def _prior_rows(table: RecordTable, keys: np.ndarray) -> np.ndarray:
    """The information that records with these keys begin with."""
    prior = np.repeat(table._blank, len(keys))
    for row in RecordTable(table.component, table.game, table.root).rows[1:]:
        prior[keys == row["record"]] = row
    return prior
