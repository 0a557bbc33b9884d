"""What people look at: one playout of a search with all that happened in it, and the tree of a search with its columns.

The search runs as far as one likes, compiled where it can be; the playout that comes next is made by plain Python, in which every
decision, every captured record and every updated row passes by and is noted. It is the playout that the search itself would have made.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.information import HISTORY, POSITION, FieldValue
from icarus.algebra.policy import RULE_GIBBS_OF_MEANS, RULE_UNIFORM, RULE_VOTE
from icarus.algebra.slots import Candidates
from icarus.compiler import memory
from icarus.compiler.functions import DISABLED, python_of
from icarus.compiler.memory import WORD_BYTES
from icarus.compiler.plain_python import PlainPython, as_compiled, interpret, plain_kernels
from icarus.compiler.rng import seeded
from icarus.engine import choice, loop
from icarus.engine.arena import COMPONENT, IN_SIMULATION, LEAF, LEAF_BYTES, SIMULTANEOUS, TERM, TREE, Arena
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.lowering import Vote, terms_of
from icarus.engine.python_games import ROOM, MoreActions
from icarus.engine.result import Result
from icarus.engine.scheme import FRESH, MO_ISMCTS, ONCE, TRUE, Scheme
from icarus.engine.search import Search
from icarus.engine.tables import Records, part_text
from icarus.kernel import CHANCE, SELECTION, TERMINAL, UNSEEN, History, Theta, extended, mix
from icarus.kernel.game import AnyGame
from icarus.kernel.history import PHASES, UNLIMITED, Playout, Step, history_at, new_root
from icarus.kernel.state import State
from icarus.specs.catalogue import EXP3

ONLY, ENVIRONMENT = "the only action", "the environment"


@attrs.frozen
class Choice:
    """A decision of a playout.

    Attributes:
        player: who acted; CHANCE for the environment.
        phase: selection, expansion or simulation.
        action: as players write it.
        legal: how many actions there were.
        by: the component, or the mixture of components, whose values decided; ENVIRONMENT, or ONLY where nothing had to be decided.
        weight: with which this alternative of a linear mixture was drawn; 1 where there is one term.
        uniform: whether the choice was uniform by definition.
        values: what the alternative said of each legal action, by its text; empty where nothing was asked.
    """

    player: int
    phase: str
    action: str
    legal: int
    by: str
    weight: float = 1.0
    uniform: bool = False
    values: dict[str, float] = attrs.field(factory=dict)


@attrs.frozen
class Update:
    """A record captured by one component, with its context, and its information before and after the backpropagation.

    Attributes:
        record: what the record is made of, as text.
        key: the key that looks it up in `result.records`.
        before: None where the record is new.
    """

    record: str
    key: int
    context: int
    before: dict[str, FieldValue] | None
    after: dict[str, FieldValue]


@attrs.frozen
class InspectedPlayout:
    """A playout with all that happened in it.

    Attributes:
        state, strategy, seed, scheme: what was searched, how.
        iteration: the number of the playout, counted from 1.
        start, end: the state that was drawn for the root, and the terminal state, as text; both may show what is hidden.
        states: those in which the decisions were made, and the terminal one; they show what is hidden.
        choices: the decisions in order.
        rewards: of each player.
        updates: for each component, by name, what it captured and what became of it.
    """

    state: State
    strategy: Enhancement
    seed: int | Sequence[int]
    scheme: Scheme
    iteration: int
    start: str
    end: str
    states: tuple[State, ...]
    choices: tuple[Choice, ...]
    rewards: tuple[float, ...]
    updates: dict[str, tuple[Update, ...]]


def inspect_playout(
    state: State, strategy: Enhancement, seed: int | Sequence[int] = 0, after: int = 0, scheme: Scheme = MO_ISMCTS
) -> InspectedPlayout:
    """The playout that a search makes after `after` others.

    Raises:
        TypeError, ValueError: as `search` does; a scheme of several trees.
    """
    checks.seed(seed)
    checks.integer("after", after, least=0)
    Search(strategy, iterations=UNLIMITED, scheme=scheme).check(state)
    if scheme.tree_parameter:
        raise ValueError(
            f"scheme is {scheme}, which grows several trees; a playout is inspected in a search of one tree"
        )
    search = CompiledSearch(state, strategy, seed, scheme, plain=_NOTING)
    if not DISABLED and after:
        compiled = CompiledSearch(state, strategy, seed, scheme)
        compiled.run(after)
        search.take_over(compiled)
    search.record_simulation()
    _notes[:] = [_Notes(search)]
    search.run(after + 1)
    return _notes.pop().playout()


class _RecordTexts:
    """What the records of a playout are made of, as text.

    Args:
        parts_of: for each key that was mixed, of which key and which part.

    Attributes:
        actions: the texts of those that were legal in the playout.
    """

    def __init__(self, game: AnyGame, parts_of: dict[int, tuple[int, int]]) -> None:
        self._game, self._parts_of = game, parts_of
        self.actions: dict[int, str] = {}
        self.histories: Callable[[], History] | None = None

    def name_action(self, action: int, text: str) -> None:
        """Note a text of an action; one action may have several names, such as bet and call."""
        names = self.actions.get(action, text)
        self.actions[action] = names if text in names.split(" or ") else f"{names} or {text}"

    def text_of(self, part: Enhancement, key: int) -> str:
        """What a record is made of: a history as its player saw it, or the parts of any other."""
        if key in (int(self._history.steps[0].record), int(self._history.steps[0].episode)):
            return "⟨⟩"
        if part.records in (HISTORY, POSITION):
            return self._history_text(key, part.records == POSITION)
        parts, factors = self._parts(key), part.records.factors
        if len(parts) != len(factors):
            factors = ("",) * len(parts)
        pairs = zip(parts, factors, strict=True)
        texts = [part_text(number, factor, self._game, self._action_text) for number, factor in pairs]
        return f"({', '.join(texts)})" if texts else f"key {key}"

    def _action_text(self, action: int) -> str:
        return self.actions.get(action, "unseen" if action == UNSEEN else f"move {action}")

    def _parts(self, key: int) -> list[int]:
        """The integers that `record` made a key of; none where the key was made otherwise."""
        parts: list[int] = []
        while key in self._parts_of:
            key, part = self._parts_of[key]
            parts.insert(0, part)
        return parts if key == 0 else []

    def _history_text(self, key: int, in_episode: bool) -> str:
        """The moves of a history, or of a position-in-episode, as the player who made the last one saw them."""
        t, perspective, action = self._histories[in_episode].get(key, (0, 0, None))
        if action is None:
            return f"key {key}"
        first = self._episode_begin(t, perspective) if in_episode else 0
        observed = self._history.moves[first + 1 : t + 1, perspective]
        moves = [*observed[observed != UNSEEN].tolist(), action]
        return f"⟨{', '.join(map(self._action_text, moves))}⟩"

    @functools.cached_property
    def _history(self) -> History:
        """The history of the whole playout, which has ended when records are updated."""
        assert self.histories is not None
        return self.histories()

    @functools.cached_property
    def _histories(self) -> tuple[dict[int, tuple[int, int, int]], ...]:
        """For the keys of all histories one action off the playout, and of their positions-in-episode: step, perspective and action."""
        history = self._history
        ends: tuple[dict[int, tuple[int, int, int]], ...] = {}, {}
        for t, step in enumerate(history.steps[:-1]):
            for action in history.legal[step.first : step.first + step.count].tolist():
                for by_key, keys in zip(ends, (history.keys, history.episodes), strict=True):
                    key = python_of(extended)(int(keys[t, step.perspective]), int(step.player), action)
                    by_key[key] = t, int(step.perspective), action
        return ends

    def _episode_begin(self, t: int, perspective: int) -> int:
        """The step at which the episode of step t began; its keys do not go on from those before."""
        moves, keys = self._history.moves[:, perspective], self._history.episodes[:, perspective]
        while t > 0:
            before = int(keys[t - 1])
            if int(keys[t]) != (before if moves[t] == UNSEEN else mix(before, int(moves[t]))):
                break
            t -= 1
        return t


class _Notes:
    """What is noted of the playout under way; the functions of the loop of the same names call these."""

    def __init__(self, search: CompiledSearch) -> None:
        self.search, self.parts_of = search, dict[int, tuple[int, int]]()
        self._drawn: tuple[int, int, int] | None = (
            None  # the alternative that decides: its number, its role and the record
        )
        self._values = np.zeros(0)

    def mix(self, key: int, part: int) -> int:
        mixed = mix(key, part)
        self.parts_of[mixed] = int(key), int(part)
        return mixed

    def begin(self, a: Arena, rng: np.ndarray) -> None:
        self.parts_of.clear()
        _original(loop.begin)(a, rng)
        search = self.search
        self.start, self.worlds, self.choices = search.game.text_of(search.world().facts), list[State](), list[Choice]()
        self.texts = _RecordTexts(search.game, self.parts_of)
        self.updates: dict[str, list[Update]] = {part.name: [] for part in search.program.components}

    def decide(
        self, a: Arena, role: int, playout: Playout, step: Step, actions: int, rng: np.ndarray
    ) -> tuple[int, int]:
        search, world = self.search, self.search.world()
        facts = world.facts
        texts = {action: search.game.action_text_of(facts, action) for action in world.legal_actions()}
        self.worlds.append(world)
        self._drawn = None
        index, action = _original(loop.decide)(a, role, playout, step, actions, rng)
        self.texts.name_action(int(step.action), texts[int(action)])
        details: dict[str, Any] = {"by": ENVIRONMENT if step.player == CHANCE else ONLY}
        if self._drawn is not None:
            edges = _POINTS.array_at(playout.legal + WORD_BYTES * step.first, step.count, np.dtype(np.int64)).tolist()
            details = self._details(a, [texts.get(edge, str(edge)) for edge in edges], playout, step)
        self.choices.append(
            Choice(int(step.player), PHASES[step.phase], texts[int(action)], int(step.count), **details)
        )
        return index, action

    def _details(self, a: Arena, edges: list[str], playout: Playout, step: Step) -> dict[str, Any]:
        """By what a decision was made."""
        assert self._drawn is not None
        j, role, record = self._drawn
        term = _POINTS.array_at(a.composition.term, j + 1, TERM)[j]
        first = int(self.search.program.mixture[role]["first_term"])
        uses_exp3 = role == SIMULTANEOUS and self.search.scheme.uses_exp3(self.search.game)
        strategy = EXP3 if uses_exp3 else self.search.strategy
        _, parts = list(terms_of(strategy, IN_SIMULATION if role == IN_SIMULATION else TREE))[j - first]
        by = (
            " & ".join(map(str, parts.members))
            if isinstance(parts, Vote)
            else " ^ ".join(part.name for _, part in parts)
        )
        if term.rule == RULE_GIBBS_OF_MEANS and not len(self._values):  # only a few actions were asked about
            rng = self.search.rng.copy()
            leaf = _POINTS.struct_at(a.composition.leaf + term.first_leaf * LEAF_BYTES, LEAF)
            _NOTING(choice.ask_policy)(a, leaf, playout.legal + WORD_BYTES * step.first, step.count)
            self._values, self.search.rng[:] = self._buffer(a.buffers.values, step.count), rng
        elif term.rule == RULE_VOTE:
            self._values = self._buffer(a.buffers.votes + WORD_BYTES * j * a.game.max_legal, step.count)
        return {
            "by": by,
            "weight": float(_NOTING(choice.weight_of)(a, term.first_weight, term.weights, record)),
            "uniform": term.rule == RULE_UNIFORM,
            "values": dict(zip(edges, self._values.tolist(), strict=False)),
        }

    def draw_term(self, a: Arena, role: int, record: int, rng: np.ndarray) -> int:
        j = _original(choice.draw_term)(a, role, record, rng)
        if self._drawn is None:  # those after it are of voters
            self._drawn, self._values = (int(j), int(role), int(record)), np.zeros(0)
        return j

    def write_values(self, a: Arena, term: Any, legal: int, count: int, record: int) -> None:
        _original(choice.write_values)(a, term, legal, count, record)
        self._values = self._buffer(a.buffers.values, count)

    @staticmethod
    def _buffer(address: int, count: int) -> np.ndarray:
        return _POINTS.array_at(address, count, np.dtype(np.float64)).copy()

    def backpropagation(self, a: Arena) -> None:
        """Line 17, update by update; the state is the last one."""
        last = self.search.world()
        self.worlds.append(last)
        self.end = self.search.game.text_of(last.facts)
        self.rewards = tuple(self._buffer(a.buffers.reward, a.game.players).tolist())
        self.texts.histories = lambda: _NOTING(history_at)(a.buffers.playout)
        records, contexts = self.search.updates()
        for c, component in enumerate(_POINTS.array_at(a.composition.component, a.composition.components, COMPONENT)):
            part, first, count = self.search.program.components[c], int(component.first), int(component.count)
            for i in range(first, first + count):
                key, context = int(records[i]), int(contexts[i])
                before = _information(self.search.tables[c].find(key))
                component.first, component.count = i, 1
                _NOTING(loop.backpropagate)(a, component)
                after = _information(self.search.tables[c].find(key))
                assert after is not None
                self.updates[part.name].append(Update(self.texts.text_of(part, key), key, context, before, after))
            component.first, component.count = first, count

    def playout(self) -> InspectedPlayout:
        """What happened."""
        search = self.search
        return InspectedPlayout(
            state=search.state,
            strategy=search.strategy,
            seed=search.seed,
            scheme=search.scheme,
            iteration=search.iterations,
            start=self.start,
            end=self.end,
            states=tuple(self.worlds),
            choices=tuple(self.choices),
            rewards=self.rewards,
            updates={name: tuple(updates) for name, updates in self.updates.items()},
        )


_notes: list[_Notes] = []  # of the playout that is being looked at


def _noted(function: Any) -> tuple[object, Callable]:
    """A function of the loop, and what notes its calls."""
    name = python_of(function).__name__
    return function, lambda *arguments: getattr(_notes[-1], name)(*arguments)


_NOTING = PlainPython(
    map(_noted, (mix, loop.begin, loop.decide, choice.draw_term, choice.write_values, loop.backpropagation))
)
_POINTS = interpret(memory)


def _original(function: Any) -> Callable:
    """A function of the loop itself, in which what it calls is noted."""
    return _NOTING.inside(python_of(function))


def _information(row: np.void | None) -> dict[str, FieldValue] | None:
    """The fields of a row other than its key, as Python numbers and lists; None where there is no row."""
    if row is None:
        return None
    return {name: row[name].tolist() for name in row.dtype.names or () if name != "record"}


# --------------------------------------------------------------------------------------- the tree, read back from its records

# Records are keys, which do not tell what history they stand for. So the histories are found again from the root: a child is in the tree
# where its baseline record has visits. Where information is hidden this is done in determinizations, one after the other, until they bring
# little that is new. A history that its player cannot tell from another shares its record with it; so that not all combinations of what
# players do behind each other's backs are listed, the visits of a node are handed down to its children in proportion to theirs, and the
# walk turns back where less than half a visit arrives. Where everybody sees every action nothing is lost by that.


_LOOP = interpret(loop)
T = TypeVar("T")
_INT = np.dtype(np.int64)
LIMIT = 100_000  # nodes
MOST_DETERMINIZATIONS, ENOUGH, PATIENCE = 500, 0.005, 5  # the walk ends where so many in a row bring so little
WORK = 2  # and after opening so many times `limit` nodes
LEAST_FLOW = 0.5


@attrs.frozen(eq=False)
class Tree:
    """The histories of a search's tree, node 0 the empty one; a parent comes before its children.

    Attributes:
        result: the search.
        parent: the node that a node continues; -1 at the root. [nodes]
        action: the last action of the history, or the move that the root player sees where the scheme observes by him. [nodes]
        player: who took it; CHANCE for the environment. [nodes]
        label: the last action as players write it. [nodes]
        legal: how many actions are legal after it; 0 where the node was not opened. [nodes]
        record: the row in `visits`, `availability` and `rewards`; histories that the player cannot tell apart share one. [nodes]
        keys, visits, availability: of the baseline's records. [rows]
        rewards: the total reward of each player. [rows, κ]
        moves: the move by which each perspective saw the last action; None where everyone sees every action. [nodes, perspectives]
        origin: the number of the determinization in which the history was found first. [nodes]
        components: the names of the components other than the baseline.
        values, counts: for each component the mean reward of its record for the last action, and of how many (where its information
            has no rewards: the value that its policy sees, and -1). nan where it knows nothing. [nodes, components]
        least: records of fewer visits were left out.
        all_records: how many the baseline has, those left out included.
    """

    result: Result
    parent: np.ndarray
    action: np.ndarray
    player: np.ndarray
    label: list[str]
    legal: np.ndarray
    record: np.ndarray
    keys: np.ndarray
    visits: np.ndarray
    availability: np.ndarray
    rewards: np.ndarray
    moves: np.ndarray | None
    origin: np.ndarray
    components: tuple[str, ...]
    values: np.ndarray
    counts: np.ndarray
    least: int
    all_records: int

    def __len__(self) -> int:
        return len(self.parent)

    def path(self, node: int) -> list[int]:
        """The nodes from the root's child to a node."""
        nodes = []
        while node > 0:
            nodes.append(node)
            node = int(self.parent[node])
        return nodes[::-1]

    def principal_variation(self) -> list[int]:
        """The nodes from the recommended action on, each visited most below the one before it, while they are visited twice or more."""
        visits, nodes = np.where(self.record >= 0, self.visits[self.record], 0), list[int]()
        below = np.flatnonzero((self.parent == 0) & (self.action == self.result.action))
        while len(below) and visits[below].max() > 1:
            nodes.append(int(below[np.argmax(visits[below])]))
            below = np.flatnonzero(self.parent == nodes[-1])
        return nodes

    def state(self, node: int) -> State:
        """A state in which the history of a node has been played: a determinization, where information is hidden."""
        origin = int(self.origin[node])
        state = root_state(self.result, origin)
        for step in self.path(node):
            action = int(self.action[step])
            if action not in state.legal_actions():  # a move as the root player sees it: any action that looks so
                action = _action_seen_as(state, action, self.result.state.current_player())
            state.apply_action(action)
        return state


@attrs.frozen(eq=False)
class Line:
    """A determinization, and the actions visited most from there on.

    Attributes:
        states: the determinization, and the state after each action; they show what is hidden, as it was drawn. [actions + 1]
        players: who took each action; CHANCE for the environment. [actions]
        labels: each action as players write it. [actions]
        visits: of its baseline record. [actions]
    """

    states: list[State]
    players: list[int]
    labels: list[str]
    visits: list[int]


def lines_of(result: Result, count: int) -> list[Line]:
    """For each of `count` determinizations, drawn as the search draws them, the actions visited most.

    They follow from their numbers and from what the root player knows. There are none where nothing is hidden, or where the scheme
    searches the true state.
    """
    first = result.parts[0] if result.parts else result
    if first.state.game.determinize is None or first.scheme.root == TRUE:
        return []
    numbers = range(count if first.scheme.root == FRESH else 1)
    return _walked(first, 1, LIMIT, lambda walk: [walk.line(root_state(first, k)) for k in numbers])


def tree_of(result: Result, limit: int = LIMIT) -> Tree:
    """The tree of a search; where it has more than `limit` nodes, those of most visits.

    With several trees, or threads that share only their roots, it is the first one's.
    """
    first = result.parts[0] if result.parts else result
    baseline, least = _baseline(first), 1
    visits = baseline.rows["visits"]
    if len(visits) > limit:
        least = max(1, int(np.partition(visits, -limit)[-limit]))
        least += int(np.count_nonzero(visits >= least) > limit)
    return _walked(first, least, limit, _Walk.tree)


def _walked(result: Result, least: int, limit: int, read: "Callable[[_Walk], T]") -> T:
    """What is read on a walk, with room for as many legal actions as there are."""
    room = ROOM
    while True:
        with plain_kernels():
            walk = _Walk(result, _baseline(result), least, limit, room)
            try:
                return read(walk)
            except MoreActions:
                room *= 8


def _baseline(result: Result) -> Records:
    """The records of histories with visits and availability: the baseline's, which every search keeps."""
    return next(each for each in result.records.values() if each.enhancement.name.lower().startswith("baseline"))


def root_state(result: Result, number: int) -> State:
    """The root state of the scheme: the state itself, or its determinization of this number."""
    state, observer = result.state, result.state.current_player()
    if result.scheme.root == ONCE:
        return state.determinized(observer, seeded(result.seed))
    if result.scheme.root == FRESH:
        return state.determinize(observer, seed=number)
    return state.clone()


def _action_seen_as(state: State, move: int, observer: int) -> int:
    """An action that a player sees as this move."""
    for action in state.legal_actions():
        if state.observed(action)[state.game.perspective(observer)] == move:
            return action
    raise ValueError(f"player {observer} observes no legal action as the move {move}")


@attrs.frozen
class _Branch:
    """A node to be opened: the state before its last action, and this action with its edge of the tree; none at the root."""

    node: int
    flow: float
    depth: int
    world: State
    edge: int = 0
    action: int = 0


_Node = tuple[int, int, int, str, int]  # parent, action, player, label and record, as `Tree` has them


class _StepByStep:
    """The playout of a search, step by step by the functions of its loop in plain Python, so that it may be taken back."""

    def __init__(self, result: Result, room: int) -> None:
        root = result.root or new_root(result.scheme.view(result.state.game).perspectives)
        self.search = CompiledSearch(
            result.state, result.strategy, 0, result.scheme, plain=interpret, root_keys=root, room=room
        )
        self.arena, self.playout = self.search.open(result.iterations, result.depth + 3)

    def begin(self, world: State) -> None:
        """Begin at a state of the root's information set."""
        _LOOP.begin(self.arena, self.search.rng)
        self.search.set_world(world)
        if self.arena.composition.episodes:
            _LOOP.start_episodes(self.arena, self.playout)

    def decide(self, t: int, player: int) -> tuple[dict[int, int], int]:
        """Write down a decision after t actions; returns an action of each edge of the tree that is legal here, and the history's key."""
        a, playout = self.arena, self.playout
        playout.legal_length = (
            0 if t == 0 else _LOOP.step_at(playout, t - 1).first + _LOOP.step_at(playout, t - 1).count
        )
        step = _LOOP.step_at(playout, t)
        count = _LOOP.open_step(a, playout, t, player)
        step.phase = SELECTION
        if a.composition.features_in_tree:
            _LOOP.evaluate_step(a, playout, t, step, count, a.composition.features_in_tree)
        edges = _POINTS.array_at(playout.legal + WORD_BYTES * step.first, step.count, _INT).tolist()
        key = int(_POINTS.matrix_at(playout.keys, t + 1, a.game.perspectives, _INT)[t, step.perspective])
        if not _LOOP.is_grouped(a, player):
            return dict(zip(edges, edges, strict=True)), key
        first: dict[int, int] = {}
        actions, places = (
            _POINTS.array_at(each, count, _INT).tolist() for each in (a.buffers.actions, a.buffers.classes)
        )
        for action, place in zip(actions, places, strict=True):
            first.setdefault(edges[place], action)
        return first, key

    def play(self, t: int, edge: int, action: int) -> None:
        """Play an action, which is this edge of the tree, after t others."""
        a, step = self.arena, _LOOP.step_at(self.playout, t)
        step.action = edge
        _LOOP.append(a, self.playout, t, step, True)
        _POINTS.call(a.game.apply, (a.buffers.state, action))
        _LOOP.label_episode(a, self.playout, t + 1)

    def column(self, records: Records, legal: np.ndarray, player: int) -> list[tuple[float, int]]:
        """(value, count) of each legal action at the present decision by one component, as `Tree` has them."""
        part, table, source = records.enhancement, records._table, records.enhancement.policy.source
        history, parameters = interpret(history_at)(self.arena.buffers.playout), source.values(self.search.game)
        if isinstance(source, Candidates):
            keys = np.zeros(len(legal), np.int64)
            interpret(source.function)(history, legal, keys, *parameters)
            return [_mean(table.find(key), player) for key in keys.tolist()]
        values = np.full(len(legal), np.nan)
        rows: Any = as_compiled(table.rows)
        theta = Theta(rows, table.entries)
        interpret(part.policy.source.function)(history, theta, legal, values, *parameters)
        return [(value, -1) for value in values.tolist()]


def _mean(row: np.void | None, player: int) -> tuple[float, int]:
    if row is None or row["visits"] == 0:
        return np.nan, 0
    reward = row["reward"] if np.ndim(row["reward"]) == 0 else row["reward"][player]
    return float(reward) / int(row["visits"]), int(row["visits"])


class _Walk:
    """Opens nodes from the root."""

    def __init__(self, result: Result, baseline: Records, least: int, limit: int, room: int) -> None:
        self.result, self.least, self.limit = result, least, limit
        rows = baseline.rows
        self.all_records, self.rows = len(rows), rows[rows["visits"] >= least]
        self.row_of = dict(zip(self.rows["record"].tolist(), range(len(self.rows)), strict=True))
        self.visits = self.rows["visits"].tolist()
        self.columns = {
            name: records for name, records in result.records.items() if records._table is not baseline._table
        }
        self.steps = _StepByStep(result, room)
        self.game = self.steps.search.game
        self.nodes: list[tuple[int, int, int, str, int, int]] = []
        self.moves: list[Sequence[int]] = []
        self.children: dict[tuple[int, int, tuple[int, ...]], int] = {}  # by parent, action and what is seen of it
        self.legal_counts: dict[int, int] = {}
        self.columns_of: list[list[tuple[float, int]]] = []
        self.origin = self.opened = 0

    def run(self) -> None:
        """Walk determinization after determinization."""
        root = self.row_of.get(self.steps.search.root_keys.record, -1)
        self.add((-1, 0, CHANCE, "", root), [UNSEEN] * self.game.perspectives, [(np.nan, 0)] * len(self.columns))
        idle = 0
        fresh = self.result.scheme.root == FRESH and self.result.state.game.determinize is not None
        for self.origin in range(MOST_DETERMINIZATIONS if fresh else 1):
            before = len(self.nodes)
            if root >= 0:
                self.walk(root_state(self.result, self.origin))
            idle = idle + 1 if len(self.nodes) - before <= ENOUGH * before else 0
            if idle == PATIENCE or self.opened > WORK * self.limit or len(self.nodes) >= self.limit:
                break

    def add(self, node: _Node, moves: Sequence[int], columns: list[tuple[float, int]]) -> int:
        """A new node; returns its number."""
        parent, action, *_ = node
        self.children[parent, action, tuple(moves)] = number = len(self.nodes)
        self.nodes.append((*node, self.origin))
        self.moves.append(moves)
        self.columns_of.append(columns)
        return number

    def walk(self, world: State) -> None:
        """Add all nodes that this root state leads to."""
        self.steps.begin(world)
        branches = [_Branch(0, float(self.result.iterations), 0, world)]
        while branches and len(self.nodes) < self.limit:
            branch = branches.pop()
            self.opened += 1
            world = branch.world
            if branch.depth > 0:
                self.steps.search.set_world(world)
                self.steps.play(branch.depth - 1, branch.edge, branch.action)
                world = self.steps.search.world()
            player = world.current_player()
            if player != TERMINAL:
                branches.extend(reversed(list(self.below(branch, world, player))))

    def line(self, world: State) -> Line:
        """The actions visited most from a root state on, while they are visited twice or more."""
        line = Line([world], [], [], [])
        self.steps.begin(world)
        while (player := world.current_player()) != TERMINAL:
            first, rows = self.decision(len(line.players), player)
            counts = [0 if row is None else self.visits[row] for row in rows]
            visits, edge = max(zip(counts, first, strict=True), key=lambda pair: pair[0])
            if visits < 2:
                break
            line.labels.append(world.game.action_text_of(world.facts, first[edge]))
            line.visits.append(visits)
            self.steps.play(len(line.players), edge, first[edge])
            line.players.append(player)
            world = self.steps.search.world()
            line.states.append(world)
        return line

    def decision(self, t: int, player: int) -> tuple[dict[int, int], list[int | None]]:
        """An action of each edge of the tree that is legal here, and the row of each edge's record."""
        first, key = self.steps.decide(t, player)
        return first, [self.row_of.get(interpret(extended)(key, player, edge)) for edge in first]

    def below(self, branch: _Branch, world: State, player: int) -> Iterator[_Branch]:
        """The children of a node that are in the tree."""
        first, rows = self.decision(branch.depth, player)
        legal = list(first)
        self.legal_counts[branch.node] = len(legal)
        if all(row is None for row in rows):
            return
        components = self.columns.values() if player != CHANCE else ()
        columns = [self.steps.column(each, np.array(legal), player) for each in components]
        visits = [0 if row is None else self.visits[row] for row in rows]
        share = branch.flow / max(1, sum(visits))
        for i, (edge, row) in enumerate(zip(legal, rows, strict=True)):
            if row is None or (flow := share * visits[i]) < LEAST_FLOW:
                continue
            moves = world.observed(edge) if self.game.perspectives > 1 else (edge,)
            node = self.children.get((branch.node, edge, tuple(moves)))
            if node is None:
                label = world.game.action_text_of(world.facts, first[edge])
                cells = [column[i] for column in columns] or [(np.nan, 0)] * len(self.columns)
                node = self.add((branch.node, edge, player, label, row), moves, cells)
            if visits[i] > 1:  # the first visit of a history is the one that expanded it: nothing is below
                yield _Branch(node, flow, branch.depth + 1, world, edge, first[edge])

    def tree(self) -> Tree:
        """All nodes, found on a walk from the root."""
        self.run()
        parent, action, player, label, row, origin = zip(*self.nodes, strict=True)
        columns = np.array(self.columns_of, float).reshape(len(parent), len(self.columns), 2)
        legal = np.zeros(len(parent), int)
        legal[list(self.legal_counts)] = list(self.legal_counts.values())
        return Tree(
            result=self.result,
            parent=np.array(parent),
            action=np.array(action),
            player=np.array(player),
            label=list(label),
            legal=legal,
            record=np.array(row),
            keys=self.rows["record"],
            visits=self.rows["visits"],
            availability=self.rows["availability"],
            rewards=self.rows["reward"],
            moves=np.array(self.moves) if self.game.perspectives > 1 else None,
            origin=np.array(origin),
            components=tuple(self.columns),
            values=columns[:, :, 0],
            counts=columns[:, :, 1].astype(int),
            least=self.least,
            all_records=self.all_records,
        )
