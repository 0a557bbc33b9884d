"""Algorithm 1 in plain Python: `search(…, engine="python")`, in which a breakpoint or a print in a slot or a game works.

The same draws from the same generator in the same order as the compiled loop makes, and so the same records and the same result for the
same seed; the same functions of slots, rules and games, by their Python source. Slow and without cleverness: nothing is left out because
nobody would look at it. Values, keys, contexts and rewards that make no sense are refused, which the compiled loop has no time for.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.weights import TOLERANCE
from icarus.compiler.interpreted import Interpreter
from icarus.compiler.rng import seeded
from icarus.engine.arena import ANY
from icarus.engine.choice import WeightError
from icarus.engine.choice import pick_outcome as compiled_pick_outcome
from icarus.engine.entries import COUNT_IS_FULL, FULL
from icarus.engine.lowering import AT_ONCE, SIMULATED, TREE
from icarus.engine.parallel import Roots
from icarus.engine.plain_choice import Composed, Decision, theta_of
from icarus.engine.plain_table import PlainTable, index_of
from icarus.engine.running import Search
from icarus.engine.scheme import FRESH, MO_ISMCTS, ONCE, ROOT, Scheme
from icarus.kernel import CHANCE, EXPANSION, NO_RECORD, SELECTION, SIMULATION, TERMINAL, UNSEEN, History, Updates, mix
from icarus.kernel import below as compiled_below
from icarus.kernel import extended as compiled_extended
from icarus.kernel.history import EMPTY_HISTORY, STEP, episode_key, episode_record, root_key
from icarus.kernel.python_game import in_python
from icarus.kernel.state import State
from icarus.kernel.theta import Written

_plain = Interpreter()
below, pick_outcome, extended = map(_plain, (compiled_below, compiled_pick_outcome, compiled_extended))
root_key, episode_key = map(_plain, (root_key, episode_key))
_ROOM = 64  # steps, and legal actions, to begin with
T = TypeVar("T")


class Playout:
    """A playout under way: the arrays of a `History`, which grow.

    Attributes:
        steps, moves, keys, episodes, legal: as in `History`, with room to spare.
        rewards, rng, iteration: as in `History`.
        t: how many actions have been played.
    """

    def __init__(self, viewers: int) -> None:
        self.steps = np.zeros(_ROOM, STEP).view(np.recarray)
        self.moves = np.full((_ROOM, viewers), UNSEEN)
        self.keys, self.episodes = np.zeros((_ROOM, viewers), np.int64), np.zeros((_ROOM, viewers), np.int64)
        self.legal, self._used, self.t = np.zeros(_ROOM, np.int64), 0, 0
        self.rewards, self.rng, self.iteration = np.zeros(0), seeded(0), 0

    def history(self) -> History:
        """What slots are given."""
        n = self.t + 1
        legal = self.legal[: self._used]
        arrays = self.steps[:n], self.moves[:n], self.keys[:n], self.episodes[:n], legal
        return History(*arrays, self.rewards, self.rng, self.iteration)

    def decide(self, player: int, viewer: int, legal: Sequence[int]) -> None:
        """A player is about to choose among these."""
        used = self._used + len(legal)
        while used > len(self.legal):
            self.legal = np.concatenate([self.legal, np.zeros_like(self.legal)])
        self.legal[self._used : used] = legal
        step = self.steps[self.t]
        step.player, step.viewer, step.first, step.count, step.phase = (
            player,
            viewer,
            self._used,
            len(legal),
            SIMULATION,
        )
        self._used = used

    def extend(self, action: int, seen: Sequence[int]) -> None:
        """Append an action to the history, as every viewer sees it."""
        t = self.t
        if t + 2 > len(self.steps):
            for name in ("steps", "moves", "keys", "episodes"):
                array = getattr(self, name)
                longer = np.zeros((2 * len(array), *array.shape[1:]), array.dtype)
                longer[: len(array)] = array
                setattr(self, name, longer.view(np.recarray) if name == "steps" else longer)
        step, after = self.steps[t], self.steps[t + 1]
        step.action, after.phase = action, SIMULATION
        after.record = extended(self.keys[t, step.viewer], step.player, action)
        after.episode = extended(self.episodes[t, step.viewer], step.player, action)
        self.moves[t + 1] = seen
        for viewer, move in enumerate(seen):
            for keys in (self.keys, self.episodes):
                keys[t + 1, viewer] = keys[t, viewer] if move == UNSEEN else mix(keys[t, viewer], move)
        self.t = t + 1

    def begin_episode(self, label: int) -> None:
        """A new episode begins at the state reached."""
        self.episodes[self.t] = [episode_key(label, viewer) for viewer in range(self.episodes.shape[1])]


class Seen:
    """A row of a table as ω changes it.

    Raises:
        TypeError: a real is written where only an integer has room; compiled code is refused for it.
    """

    def __init__(self, row: Any) -> None:
        object.__setattr__(self, "row", row)

    def __getattr__(self, field: str) -> Any:
        return getattr(self.row, field)

    def __setattr__(self, field: str, value: Any) -> None:
        if self.row.dtype[field].base.kind == "i" and np.asarray(value).dtype.kind == "f":
            raise TypeError(
                f"a backpropagation function writes the real {value} to {field}, which would cut it down to an integer"
            )
        setattr(self.row, field, value)

    def __getitem__(self, field: str) -> Any:
        return getattr(self, field)

    def __setitem__(self, field: str, value: Any) -> None:
        setattr(self, field, value)


class PlainSearch(Search):
    """A search under way, in plain Python; asked like a compiled one."""

    game: Any
    tables: Any
    composed: type[Composed] = Composed

    def __init__(
        self, state: State, strategy: Enhancement, seed: int | Sequence[int] = 0, scheme: Scheme = MO_ISMCTS
    ) -> None:
        self.state, self.strategy, self.seed, self.scheme = state.clone(), strategy, seed, scheme
        self.actions, self._observer = tuple(state.legal_actions()), state.current_player()
        self._draws, game = seeded(seed), in_python(state.game)
        self.game, self._looks = scheme.seen(game), game.seen
        self._at_once = scheme.exp3 and game.simultaneous is not None
        self.program: Any = self.composed(strategy, self._at_once, self.game, PlainTable, self.rng)
        self.tables = self.program.tables
        self._made, self._deepest, self._phase_steps = 0, 0, np.zeros(3, np.int64)
        self._root_visits = np.zeros(len(self.actions), np.int64)
        self._place_root()
        self._place_episodes()

    def _place_root(self) -> None:
        root, viewer = self.state.data, self._observer
        if self.scheme.root == ONCE:
            root = self.game.drawn(root, viewer, self.game.believed(root, viewer), self.rng)
        if self.scheme.root != FRESH:
            viewer = CHANCE
        self._root, self._viewer, self._beliefs = root, viewer, self.game.believed(root, viewer)

    def _place_episodes(self) -> None:
        """The position-in-episode of the root; the key of the root itself is as whoever acted last knew it."""
        position = self._position()
        self._label, self._moves = position.label, position.moves
        self._last = 0 if position.last is None else position.last
        self._last_recalled = self._last != self._observer
        label, moves = position.seen_before(self._observer)
        self._root_episode = episode_record(label, self.game.viewer(self._last), self._last, moves)

    @property
    def rng(self) -> np.ndarray:
        return self._draws

    @property
    def iterations(self) -> int:
        return self._made

    @property
    def depth(self) -> int:
        return self._deepest

    def phase_steps(self) -> np.ndarray:
        return self._phase_steps.copy()

    def root_visits(self) -> np.ndarray:
        return self._root_visits.copy()

    def most_visited(self, visits: np.ndarray) -> int:
        most = np.flatnonzero(visits == visits.max())
        return self.actions[most[0] if len(most) == 1 else most[below(self.rng.copy(), len(most))]]

    def run(self, iterations: int) -> None:
        while self._made < iterations:
            self.iterate()

    def iterate(self) -> None:
        """Lines 6-17: one iteration.

        Raises:
            ValueError: a slot or a game gave what makes no sense.
        """
        try:
            playout, world = self._played()
        except WeightError as error:
            raise ValueError(f"in {self.strategy}, {error}") from None
        rewards = playout.rewards = self._rewards(world)
        history, parts = playout.history(), self.program.components
        captured = [Updates(Written(), Written(), [0]) for _ in parts]
        for part, updates, table in zip(parts, captured, self.tables, strict=True):
            known = [theta_of(table)] if part.capture.reads_theta else []
            self.program.called(part.capture, history, *known, updates)  # line 16
        for part, updates, table in zip(parts, captured, self.tables, strict=True):
            for record, context in zip(updates.records.integers, updates.contexts.integers, strict=True):
                self._update(part, table, record, context, rewards)
        self._root_visits[self.actions.index(history.steps[0].action)] += 1
        self._made += 1

    def _update(self, part: Enhancement, table: PlainTable, record: int, context: int, rewards: np.ndarray) -> None:
        """Line 17, for one record."""
        row = table.entered(record)
        self.program.called(part.backpropagation, Seen(row), context, rewards)
        if any(row[name] == FULL for name in table.counts):
            raise OverflowError(COUNT_IS_FULL)

    def _rewards(self, world: Any) -> np.ndarray:
        rewards = np.array(self.game.rewards(world), float)
        if rewards.shape != (self.game.players,) or not ((rewards >= 0) & (rewards <= 1)).all():
            raise ValueError(f"the rewards of {self.game} are {rewards.tolist()}; each player's must be in [0, 1]")
        return rewards

    def _begin_playout(self) -> tuple[Playout, Any]:
        """Lines 7-9: the empty history, at a state drawn from the root's information set."""
        world = self.game.drawn(self._root, self._viewer, self._beliefs, self.rng)
        if self.game.determinize is not None and int(self.game.player(world)) != self._observer:
            raise ValueError("a determinization changed the player to move, or ended the game")
        playout = Playout(self.game.viewers)
        playout.rng, playout.iteration = self.rng, self._made
        playout.steps[0].record, playout.steps[0].episode = EMPTY_HISTORY, self._root_episode
        for viewer in range(self.game.viewers):
            playout.keys[0, viewer] = root_key(viewer)
            key, moves = episode_key(self._label, viewer), self._moves[viewer]
            if self.game.recall is not None:
                moves = self.game.recall(world, viewer)
                if self._last_recalled and viewer == self.game.viewer(self._last) and len(moves) > 0:
                    playout.steps[0].episode = episode_record(self._label, viewer, self._last, tuple(moves))
            for move in moves:
                key = mix(key, move)
            playout.episodes[0, viewer] = key
        return playout, world

    def _played(self) -> tuple[Playout, Any]:
        """Lines 7-14: one playout, and the state that it ends in."""
        playout, world = self._begin_playout()
        in_tree = self._visits(EMPTY_HISTORY) > 0  # the first playout of all expands the empty history
        while (player := self._player(world)) != TERMINAL:
            if playout.t >= self.game.max_length:
                raise ValueError(self._unending(playout.steps["action"][: playout.t].tolist()))
            edge, action, was_in_tree = *self._decided(playout, world, player, in_tree), in_tree
            if playout.t == 0 and edge not in self.actions:
                raise ValueError("a determinization changed the legal actions of the player to move")
            seen = self.game.seen(world, edge)
            self.game.apply(world, action)
            playout.extend(edge, seen)
            in_tree = in_tree and self._visits(playout.steps[playout.t].record) > 0
            if was_in_tree:
                self._deepest = max(self._deepest, playout.t)
            label = -1 if self.game.episode is None else int(self.game.episode(world))
            if label >= 0:
                playout.begin_episode(label)
        playout.steps[playout.t].player = TERMINAL
        return playout, world

    def _player(self, world: Any) -> int:
        """ρ(s)."""
        player = int(self.game.player(world))
        if player >= self.game.players or (player < CHANCE and player != TERMINAL):
            raise ValueError(
                "the player function of a game gave a number that is no player, neither CHANCE nor TERMINAL"
            )
        return player

    def _decided(self, playout: Playout, world: Any, player: int, in_tree: bool) -> tuple[int, int]:
        """Line 11: what is played in a state, as an edge of the tree and as an action."""
        actions = [int(action) for action in self.game.legal(world)]
        if not actions:
            raise ValueError("a game gave no legal action at a state that is not terminal")
        disguised = self.scheme.eyes == ROOT and player != self._observer
        edges = [self._looks(world, action)[self._observer] for action in actions] if disguised else actions
        legal = list(dict.fromkeys(edges))
        playout.decide(player, self.game.viewer(player), legal)
        step = playout.steps[playout.t]
        step.phase = self._phase(playout, legal) if in_tree else SIMULATION
        self._phase_steps[step.phase] += 1
        if in_tree and self._at_once:
            step.choice, step.probability = self.game.simultaneous(world), 1.0
        if player == CHANCE:
            i = self._outcome(world, len(actions))
            return edges[i], actions[i]
        index = self._chosen(playout, in_tree, legal) if len(legal) > 1 else 0
        alike = [i for i, edge in enumerate(edges) if index == ANY or edge == legal[index]]
        i = alike[below(self.rng, len(alike))] if len(alike) > 1 else alike[0]
        return edges[i], actions[i]

    def _phase(self, playout: Playout, legal: Sequence[int]) -> int:
        step, keys = playout.steps[playout.t], playout.keys[playout.t]
        children = [extended(keys[step.viewer], step.player, action) for action in legal]
        return EXPANSION if any(self._visits(child) == 0 for child in children) else SELECTION

    def _chosen(self, playout: Playout, in_tree: bool, legal: list[int]) -> int:
        """The index of what the policy chooses; ANY where it is uniform by definition."""
        step = playout.steps[playout.t]
        which = AT_ONCE if step.choice > 0 else TREE if in_tree else SIMULATED
        decision = Decision(playout.history(), np.array(legal), int(step.record))
        index = self.program.decided(which, decision)
        if which == AT_ONCE:
            step.probability = decision.values[index]
        return index

    def _outcome(self, world: Any, count: int) -> int:
        """The index of an outcome of a chance state."""
        if count == 1:
            return 0
        probabilities = [1.0 / count] * count if self.game.chance is None else self.game.chance(world)
        if not abs(sum(probabilities) - 1.0) <= TOLERANCE:
            raise ValueError("the probabilities of a game's chance outcomes do not sum to 1")
        return int(pick_outcome(probabilities, count, self.rng))

    def _visits(self, record: int) -> int:
        """n of a baseline record."""
        rows: Any = theta_of(self.tables[0]).rows
        row = rows[index_of(rows.record, record)]
        return int(row.visits) if row.record != NO_RECORD else int(self.tables[0].blank["visits"])


class InTurn(Roots):
    """Trees of their own, grown one after the other."""

    def side_by_side(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """Make the calls in this thread, where a debugger looks."""
        return [call() for call in calls]


def begin_search_in_python(
    state: State, strategy: Enhancement, seed: int | Sequence[int], scheme: Scheme
) -> "PlainSearch | InTurn":
    """A search in plain Python that has made no playout yet; arguments as in `search`."""
    if not scheme.counted:
        return PlainSearch(state, strategy, seed, scheme)
    key = tuple(seed) if isinstance(seed, Sequence) else (seed,)
    return InTurn([PlainSearch(state, strategy, (*key, i), scheme) for i in range(scheme.trees)], seed, 1)
