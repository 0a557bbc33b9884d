"""What people look at: one playout of a search with all that happened in it, and the tree of a search with its columns.

The search runs as far as one likes, compiled where it can be; the playout that comes next is made by plain Python, in which every
decision, every captured record and every updated row passes by and is noted. It is the playout that the search itself would have made.
"""

import heapq
import itertools
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import HISTORY, POSITION, RULE_UNIFORM, RULE_VOTE, Enhancement, FieldValue
from icarus.compiler import WORD_BYTES, PlainPython, interpret, memory, python_of, seeded
from icarus.compiler.plain_python import RecordArray, Structure
from icarus.engine import loop
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.loop import COMPONENT, IN_SIMULATION, SIMULTANEOUS, TERM, TREE, Workspace
from icarus.engine.lowering import Vote, components_of, storage_of, terms_of
from icarus.engine.result import Result, ReusedRecords, baseline_records, extend_key, tables_of
from icarus.engine.scheme import FRESH, MO_ISMCTS, ONCE, ROOT_PLAYER, Scheme
from icarus.engine.search import Search
from icarus.engine.tables import parts_of, parts_text
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, History, State, extended_key, mix
from icarus.kernel.history import PHASES, UNLIMITED, Playout, Step, history_at, new_root
from icarus.kernel.theta import row_index
from icarus.specs.at_once import EXP3

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
        states: those in which the decisions were made, the first drawn for the root, and the terminal one; they show what is hidden.
        choices: the decisions in order.
        rewards: of each player.
        updates: for each component, by name, what it captured and what became of it.
    """

    state: State
    strategy: Enhancement
    seed: int | Sequence[int]
    scheme: Scheme
    iteration: int
    states: tuple[State, ...]
    choices: tuple[Choice, ...]
    rewards: tuple[float, ...]
    updates: dict[str, tuple[Update, ...]]


def inspect_playout(
    state: State,
    strategy: Enhancement,
    seed: int | Sequence[int] = 0,
    after: int = 0,
    scheme: Scheme = MO_ISMCTS,
    iterations: int = UNLIMITED,
) -> InspectedPlayout:
    """The playout that a search makes after `after` others.

    Args:
        iterations: of the whole search, for slots that read `history.budget`.

    Raises:
        TypeError, ValueError: as `search` does; a scheme of several trees.
    """
    seed = checks.seed(seed)
    after = checks.integer("after", after, least=0)
    iterations = checks.integer("iterations", iterations, least=after + 1)
    Search(strategy, iterations=iterations, scheme=scheme).check(state)
    if scheme.tree_parameter:
        raise ValueError(
            f"scheme is {scheme}, which grows several trees; a playout is inspected in a search of one tree"
        )
    reuse = before = None
    if after:
        before = CompiledSearch(state, strategy, seed, scheme)
        before.expect(iterations)
        before.run(after)
        rows = tuple(table.rows[1:] for table in before.tables)
        reuse = ReusedRecords(rows, before.root_keys, after)
    search = CompiledSearch(state, strategy, seed, scheme, reuse, _NOTING)
    search.expect(iterations - after)
    if before is not None:
        search.rng[:] = before.rng
    search.record_simulation()
    notes = _Notes(search)
    token = _notes.set(notes)
    search.run(1)
    _notes.reset(token)
    return InspectedPlayout(
        state=search.state,
        strategy=strategy,
        seed=seed,
        scheme=scheme,
        iteration=after + 1,
        states=tuple(notes.worlds),
        choices=tuple(notes.choices),
        rewards=notes.rewards,
        updates={name: tuple(each) for name, each in notes.updates.items()},
    )


def _histories(history: History, keys: np.ndarray, text: Callable[[int], str]) -> dict[int, str]:
    """The text of each history that leaves a playout by one legal action, as who acts sees it, by the key of its record.

    Args:
        keys: those of the histories, or of positions-in-episode, which begin anew. [steps, perspectives]
    """
    texts: dict[int, str] = {}
    for perspective in range(keys.shape[1]):
        moves: list[int] = []
        for t, step in enumerate(history.steps[:-1]):
            if t > 0 and keys[t, perspective] != keys[t - 1, perspective]:
                moves.append(int(history.moves[t, perspective]))
                if keys[t, perspective] != mix(int(keys[t - 1, perspective]), moves[-1]):
                    moves = []  # a new episode
            if step.perspective == perspective:
                for action in history.legal[step.first : step.first + step.count].tolist():
                    key = extended_key(int(keys[t, perspective]), int(step.player), action)
                    texts[key] = f"⟨{', '.join(map(text, [*moves, action]))}⟩"
    return texts


class _Notes:
    """What is noted of the playout under way. Its methods stand in place of the loop's functions of the same names."""

    def __init__(self, search: CompiledSearch) -> None:
        self.search = search
        # The term that decides, its role, record and generator.
        self._drawn: tuple[int, int, int, np.ndarray] | None = None

    def begin(self, w: Workspace, rng: np.ndarray) -> None:
        _original(loop.begin)(w, rng)
        self.worlds, self.choices = list[State](), list[Choice]()
        # one action may have several names, such as bet and call
        self._actions: dict[int, dict[str, None]] = {}
        self.updates: dict[str, list[Update]] = {
            part.name: [] for part in self.search.program.components
        }

    def decide(
        self, w: Workspace, role: int, playout: Playout, step: Step, actions: int, rng: np.ndarray
    ) -> tuple[int, int]:
        world = self.search.world()
        texts = {action: world.action_to_string(action) for action in world.legal_actions()}
        self.worlds.append(world)
        self._drawn = None
        index, action = _original(loop.decide)(w, role, playout, step, actions, rng)
        self._actions.setdefault(int(step.action), {})[texts[int(action)]] = None
        details: dict[str, Any] = {"by": ENVIRONMENT if step.player == CHANCE else ONLY}
        if self._drawn is not None:
            edges = _POINTS.array_at(
                playout.legal + WORD_BYTES * step.first, step.count, _INT
            ).tolist()
            details = self._details(
                w, [texts.get(edge, str(edge)) for edge in edges], playout, step
            )
        self.choices.append(
            Choice(
                int(step.player), PHASES[step.phase], texts[int(action)], int(step.count), **details
            )
        )
        return index, action

    def draw_term(self, w: Workspace, role: int, record: int, rng: np.ndarray) -> int:
        j = _original(loop.draw_term)(w, role, record, rng)
        if self._drawn is None:  # those after it are of voters
            self._drawn = int(j), int(role), int(record), rng.copy()
        return j

    def _details(
        self, w: Workspace, edges: list[str], playout: Playout, step: Step
    ) -> dict[str, Any]:
        """How a decision was made, as fields of `Choice`: values are computed once more, with the same random numbers."""
        assert self._drawn is not None
        j, role, record, rng_before = self._drawn
        search = self.search
        term = _POINTS.array_at(w.composition.term, j + 1, TERM)[j]
        strategy = search.strategy
        if role == SIMULTANEOUS and search.scheme.uses_exp3(search.game):
            strategy = EXP3
        terms = list(terms_of(strategy, IN_SIMULATION if role == IN_SIMULATION else TREE))
        _, parts = terms[j - int(search.program.mixture[role]["first_term"])]
        by = str(parts) if isinstance(parts, Vote) else " ^ ".join(part.name for _, part in parts)
        values = np.zeros(0)
        if term.rule == RULE_VOTE:
            values = _numbers(w.buffers.votes + WORD_BYTES * j * w.game.max_legal, step.count)
        elif term.rule != RULE_UNIFORM:
            rng_after = search.rng.copy()
            search.rng[:] = rng_before
            _NOTING(loop.write_values)(
                w, term, playout.legal + WORD_BYTES * step.first, step.count, record
            )
            values = _numbers(w.buffers.values, step.count)
            search.rng[:] = rng_after
        return {
            "by": by,
            "weight": float(_NOTING(loop.weight_of)(w, term.first_weight, term.weights, record)),
            "uniform": term.rule == RULE_UNIFORM,
            "values": dict(zip(edges, values.tolist(), strict=False)),
        }

    def backpropagation(self, w: Workspace) -> None:
        """Line 17 of Algorithm 1, one update after the other; the playout is at its end."""
        self.worlds.append(self.search.world())
        self.rewards = tuple(_numbers(w.buffers.reward, w.game.players).tolist())
        records, contexts = self.search.updates()
        history = _NOTING(history_at)(w.buffers.playout)
        for c, component in enumerate(
            _POINTS.array_at(w.composition.component, w.composition.components, COMPONENT)
        ):
            part = self.search.program.components[c]
            first = int(component.first)
            count = int(component.count)
            texts = self._record_texts(part, history, records[first : first + count])
            for i in range(first, first + count):
                key = int(records[i])
                before = _information(self.search.tables[c].find(key))
                # the loop's own function, as if this were the component's only update
                component.first, component.count = i, 1
                _NOTING(loop.backpropagate)(w, component)
                after = _information(self.search.tables[c].find(key))
                assert after is not None
                text = texts.get(key, f"key {key}")
                self.updates[part.name].append(Update(text, key, int(contexts[i]), before, after))
            component.first, component.count = first, count

    def _record_texts(
        self, part: Enhancement, history: History, keys: np.ndarray
    ) -> dict[int, str]:
        """What the records with these keys are made of, as text: histories as their players saw them, or parts."""

        def text(action: int) -> str:
            if action in self._actions:
                return " or ".join(self._actions[action])
            return "unseen" if action == UNSEEN else f"move {action}"

        game = self.search.game
        root = history.steps[0]
        texts = dict[int, str]()
        if HISTORY in part.records.alternatives:
            texts |= {int(root.record): "⟨⟩"} | _histories(history, history.keys, text)
        if POSITION in part.records.alternatives:
            texts |= {int(root.episode): "⟨⟩"} | _histories(history, history.episodes, text)
        parts = parts_of(keys, part.records, game.players, history.legal.tolist())
        for key, each in parts.items():
            texts[key] = parts_text(each, part.records, game, text)
        return texts


_INT = np.dtype(np.int64)
_notes: ContextVar[_Notes] = ContextVar("notes")  # of the playout that this thread looks at


def _noted(function: Any) -> tuple[object, Callable]:
    """A function of the loop, and the method of the notes that is called in its place."""
    name = python_of(function).__name__
    return function, lambda *arguments: getattr(_notes.get(), name)(*arguments)


_NOTING = PlainPython(map(_noted, (loop.begin, loop.decide, loop.draw_term, loop.backpropagation)))
_POINTS = interpret(memory)


def _original(function: Any) -> Callable:
    """A function of the loop itself; calls within it are noted."""
    return _NOTING.inside(python_of(function))


def _numbers(address: int, count: int) -> np.ndarray:
    return _POINTS.array_at(address, count, np.dtype(np.float64)).copy()


def _information(row: np.void | None) -> dict[str, FieldValue] | None:
    """The fields of a row other than its key, as Python numbers and lists; None where there is no row."""
    if row is None:
        return None
    return {name: row[name].tolist() for name in row.dtype.names or () if name != "record"}


# --------------------------------------------------------------------------------------- slots of an author that do nothing

# A few more playouts in plain Python, with all that the search has learned, show which records a policy looks for. The library's own slots
# have tests, so only strategies with slots of others are looked at. Only the share of all its records that a policy finds tells something:
# one that looks for long n-grams, or for replies, rightly finds none of those that were never played, and a key, which is a hash, does
# not tell whether a capture could ever have written it.


LOOKED_AT = 3  # playouts
# A policy that has looked for so many records has found at least such a share of them.
LEAST_ASKED = 20
LEAST_FOUND = 0.02


class _Watched(RecordArray):
    """An array that notes where an author's slot counts its items from the end by a computed index."""

    def __getitem__(self, index: Any) -> Any:
        _note_negative(self, index)
        item = super().__getitem__(index)
        return _watched_fields(item) if isinstance(item, Structure) else item

    def __setitem__(self, index: Any, value: Any) -> None:
        _note_negative(self, index)
        super().__setitem__(index, value)


def _note_negative(array: np.ndarray, index: Any) -> None:
    """Note a computed negative index. One that stands as a number in the code of a slot, or of its caller, is meant."""
    first = index[0] if isinstance(index, tuple) else index
    # Of two players, rewards[context - 1] is always the other one's.
    if isinstance(first, int | np.integer) and first < 0 and len(array) > 2:
        slot = sys._getframe(2)
        constants = slot.f_code.co_consts + (slot.f_back.f_code.co_consts if slot.f_back else ())
        if first not in constants and _is_foreign(slot.f_globals.get("__name__")):
            _watches[-1].wrapped.setdefault(
                f"{slot.f_code.co_name}, in line {slot.f_lineno}", int(first)
            )


def _watched_fields(row: Structure) -> Structure:
    """A row whose fields that are arrays, with an item for each player, are watched."""
    dtype, kind = row._data.dtype, type(row)
    fields = {
        name: getattr(kind, name).getter(lambda row, name=name: row._data[name].view(_Watched))
        for name in dtype.names or ()
        if dtype[name].shape
    }
    return type("Structure", (kind,), {"__slots__": (), **fields})(row._data)


class _Watch:
    """How many records each kernel has looked for, and found; and which slots have counted from the end."""

    def __init__(self, search: CompiledSearch) -> None:
        self.search = search
        self.asked = Counter[int]()
        self.found = Counter[int]()
        self.wrapped: dict[str, int] = {}


_watches: list[_Watch] = []


def _watched_row(index: np.ndarray, records: np.ndarray, key: int) -> int:
    row = interpret(row_index)(index, records, key)
    watch = _watches[-1]
    running = int(watch.search._workspace["running"][0])
    watch.asked[running] += 1
    watch.found[running] += row > 0
    return row


def _watching(view: Any) -> tuple[object, Callable]:
    """A function that views memory as an array, and one that watches the array too, unless it is one to write single numbers to."""

    def watched(*place: Any) -> np.ndarray:
        array = interpret(view)(*place)
        return array.view(_Watched) if place[-1].names or not array.flags.writeable else array

    return view, watched


_ARRAYS = memory.array_at, memory.read_only_array_at, memory.read_only_matrix_at
_WATCHING = PlainPython([(row_index, _watched_row), *map(_watching, _ARRAYS)])


def _is_foreign(module: str | None) -> bool:
    return not (module or "").startswith("icarus.")


def notes_of(result: Result) -> tuple[str, ...]:
    """A sentence for each slot of the author's own that seems to do nothing, or counts from the end (`Result.notes`)."""
    strategy, scheme, game = result.strategy, result.scheme, result.state.game
    if not isinstance(strategy, Enhancement):  # another algorithm has no slots
        return ()
    slots = [
        slot
        for part in strategy.components
        for slot in (part.policy.source, part.capture, part.backpropagation)
    ]
    if result.root is None or not any(_is_foreign(slot.function.__module__) for slot in slots):
        return ()
    tables = tables_of(result)
    components, _ = components_of(strategy, scheme.uses_exp3(game))
    rows = tuple(tables[storage_of(part)].rows[1:] for part in components)
    reuse = ReusedRecords(rows, result.root, result.earlier_iterations + result.iterations)
    search = CompiledSearch(result.state, strategy, 0, scheme, reuse, _WATCHING)
    search.expect(LOOKED_AT)
    watch = _Watch(search)
    _watches.append(watch)
    try:
        search.run(LOOKED_AT)
    except Exception as error:  # whatever a slot or the game stumbles over is what there is to tell
        return (f"a playout in plain Python, which looks at the slots, ends in {error!r}",)
    finally:
        _watches.pop()
    notes = []
    for c, part in enumerate(components):
        kernels = {int(leaf["kernel"]) for leaf in search.program.leaf if leaf["component"] == c}
        lookups = sum(watch.asked[kernel] for kernel in kernels)
        finds = sum(watch.found[kernel] for kernel in kernels)
        if len(rows[c]) == 0:
            notes.append(f"{part} has no records: its capture asks for none")
        elif all(
            (rows[c][name] == tables[storage_of(part)].rows[0][name]).all()
            for name in part.information.names
        ):
            notes.append(
                f"{part} has {len(rows[c]):,} records, and all are as at first: its backpropagation changes none"
            )
        elif lookups >= LEAST_ASKED and finds < LEAST_FOUND * lookups:
            share = f"found {finds or 'none'} of {lookups:,} that it looked for"
            notes.append(
                f"{part} has {len(rows[c]):,} records, and its policy {share}; its capture must name the same keys"
            )
    for where, index in watch.wrapped.items():
        notes.append(
            f"{where} has computed the negative index {index}: it counts from the end, where the last step is not yet played, and "
            "the last reward is another player's"
        )
    return tuple(notes)


# --------------------------------------------------------------------------------------- the tree, read back from its records

# Records are keys, which do not tell what history they stand for. So the histories are found again from the root: a child is in the tree
# where its baseline record has visits. Where information is hidden this is done in determinizations, one after the other, until they bring
# little that is new. A history that its player cannot tell from another shares its record with it; so that not all combinations of what
# players do behind each other's backs are listed, the visits of a node are handed down to its children in proportion to theirs, and the
# walk turns back where less than half a visit arrives. Where everybody sees every action nothing is lost by that.


LIMIT = 100_000  # nodes
# the walk ends where so many in a row bring so little
MOST_DETERMINIZATIONS = 500
ENOUGH = 0.005
PATIENCE = 5
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
        record: its place in `rows`; histories that the player cannot tell apart share one. [nodes]
        rows: the baseline's records, with the fields record, visits, availability and reward.
        moves: the move by which each perspective saw the last action; None where everyone sees every action. [nodes, perspectives]
        origin: the number of the determinization in which the history was found first. [nodes]
        least: records of fewer visits were left out.
    """

    result: Result
    parent: np.ndarray
    action: np.ndarray
    player: np.ndarray
    label: list[str]
    legal: np.ndarray
    record: np.ndarray
    rows: np.ndarray
    moves: np.ndarray | None
    origin: np.ndarray
    least: int

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def visits(self) -> np.ndarray:
        """Those of each node; 0 without a record. [nodes]"""
        visits, has_record = np.zeros(len(self), np.int64), self.record >= 0
        visits[has_record] = self.rows["visits"][self.record[has_record]]
        return visits

    def path(self, node: int) -> list[int]:
        """The nodes from the root's child to a node."""
        nodes = []
        while node > 0:
            nodes.append(node)
            node = int(self.parent[node])
        return nodes[::-1]

    def principal_variation(self) -> list[int]:
        """The nodes from the recommended action on, each visited most below the one before it, while they are visited twice or more."""
        nodes, visits = list[int](), self.visits
        children = np.flatnonzero((self.parent == 0) & (self.action == self.result.action))
        while len(children) and visits[children].max() > 1:
            nodes.append(int(children[np.argmax(visits[children])]))
            children = np.flatnonzero(self.parent == nodes[-1])
        return nodes

    def state(self, node: int) -> State:
        """A state in which the history of a node has been played: a determinization, where information is hidden."""
        state = root_state(self.result, int(self.origin[node]))
        for step in self.path(node):
            state.apply_action(_edges(self.result, state)[int(self.action[step])])
        return state


def _edges(result: Result, state: State) -> dict[int, int]:
    """The action that each edge of the tree stands for: mostly itself.

    Where the root player's eyes see for all, an edge of another player is the move that he sees. It stands for the first action seen as it.
    """
    searcher, legal = result.state.current_player(), state.legal_actions()
    if result.scheme.observer != ROOT_PLAYER or state.current_player() == searcher:
        return {action: action for action in legal}
    column = state.game.perspective(searcher)
    edges: dict[int, int] = {}
    for action in legal:
        edges.setdefault(state.observed(action)[column], action)
    return edges


def search_tree(result: Result, limit: int = LIMIT) -> Tree:
    """The tree of a search; where it has more than `limit` nodes, those of most visits.

    With several trees, or threads that share only their roots, it is the first one's.

    Raises:
        ValueError: the result is that of another algorithm, which has no tree.
    """
    first = result.parts[0] if result.parts else result
    least = 1
    visits = baseline_records(first).rows["visits"]
    if len(visits) > limit:
        # the visits of the last record for which there is room
        least = max(1, int(np.partition(visits, -limit)[-limit]))
        # Of records with equally many visits, all are left out if there is no room for all.
        if np.count_nonzero(visits >= least) > limit:
            least += 1
    return _Walk(first, least, limit).tree()


def root_state(result: Result, number: int) -> State:
    """The root state of the scheme: the state itself, or its determinization of this number."""
    state = result.state
    observer = result.state.current_player()
    if result.scheme.root == ONCE:
        return state.determinized(observer, seeded(result.seed))
    return (
        state.determinize(observer, seed=number) if result.scheme.root == FRESH else state.clone()
    )


# A node to be opened, how many visits it is handed down, a state after its history, and the keys of that history.
_Branch: TypeAlias = tuple[int, float, State, tuple[int, ...]]


class _Walk:
    """Opens nodes from the root."""

    def __init__(self, result: Result, least: int, limit: int) -> None:
        self.result, self.least, self.limit = result, least, limit
        rows = baseline_records(result).rows
        self.rows = rows[rows["visits"] >= least]
        self.row_of = dict(zip(self.rows["record"].tolist(), range(len(self.rows)), strict=True))
        self.visits = self.rows["visits"].tolist()
        self.game = result.scheme.view(result.state.game)
        self.root = result.root or new_root(self.game.perspectives)
        # parent … record, and origin, as `Tree` has them
        self.nodes: list[tuple[int, int, int, str, int, int]] = []
        self.moves: list[Sequence[int]] = []
        # by parent, action and what is seen of it
        self.children: dict[tuple[int, int, tuple[int, ...]], int] = {}
        self.legal_counts: dict[int, int] = {}
        self.origin = self.opened = 0

    def add(
        self, parent: int, action: int, player: int, label: str, row: int, moves: Sequence[int]
    ) -> int:
        """A new node; returns its number."""
        self.children[parent, action, tuple(moves)] = number = len(self.nodes)
        self.nodes.append((parent, action, player, label, row, self.origin))
        self.moves.append(moves)
        return number

    def walk(self, world: State) -> None:
        """Add all nodes that this root state leads to, those to which most visits are handed down first: there may be no room for all."""
        first = 0, float(self.result.visits.sum()), world, self.root.keys
        order = itertools.count()  # of branches with equally many visits
        branches = [(-first[1], next(order), first)]
        while branches and len(self.nodes) < self.limit:
            self.opened += 1
            _, _, branch = heapq.heappop(branches)
            for each in self.below(*branch):
                heapq.heappush(branches, (-each[1], next(order), each))

    def below(
        self, opened: int, flow: float, world: State, keys: tuple[int, ...]
    ) -> Iterator[_Branch]:
        """The children of a node that are in the tree and are to be opened.

        Args:
            flow: the visits that the node is handed down; it hands them on to its children, in proportion to their own visits.
        """
        player = world.current_player()
        if player == TERMINAL:
            return
        edges = _edges(self.result, world)
        self.legal_counts[opened] = len(edges)
        key = keys[self.game.perspective(player)]
        rows = {edge: self.row_of.get(extended_key(key, player, edge)) for edge in edges}
        visited = [(edge, row, self.visits[row]) for edge, row in rows.items() if row is not None]
        flow_per_visit = flow / max(1, sum(visits for _, _, visits in visited))
        for edge, row, visits in visited:
            flow_down = flow_per_visit * visits
            if flow_down < LEAST_FLOW:
                continue
            action = edges[edge]
            moves = world.observed(action) if self.game.perspectives > 1 else [edge]
            node = self.children.get((opened, edge, tuple(moves)))
            if node is None:
                node = self.add(opened, edge, player, world.action_to_string(action), row, moves)
            # the first visit of a history is the one that expanded it: nothing is below
            if visits > 1:
                after = world.clone()
                after.apply_action(action)
                yield node, flow_down, after, tuple(map(extend_key, keys, moves))

    def tree(self) -> Tree:
        """All nodes, found on walks from the root in determinization after determinization."""
        root = self.row_of.get(self.root.record, -1)
        idle = 0
        self.add(-1, 0, CHANCE, "", root, [UNSEEN] * self.game.perspectives)
        is_drawn = (
            self.result.scheme.root == FRESH and self.result.state.game.determinize is not None
        )
        for number in range(MOST_DETERMINIZATIONS if is_drawn else 1):
            self.origin = number
            before = len(self.nodes)
            if root >= 0:
                self.walk(root_state(self.result, number))
            idle = idle + 1 if len(self.nodes) - before <= ENOUGH * before else 0
            if idle == PATIENCE or self.opened > WORK * self.limit or len(self.nodes) >= self.limit:
                break
        parent, action, player, label, row, origin = zip(*self.nodes, strict=True)
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
            rows=self.rows,
            moves=np.array(self.moves) if self.game.perspectives > 1 else None,
            origin=np.array(origin),
            least=self.least,
        )
