"""The tree of a search, read back from its records: histories with what is known of them, for people to look at.

Records are keys, which do not tell what history they stand for. So the histories are found again from the root: a child is in the tree
where its baseline record has visits. Where information is hidden this is done in determinizations, one after the other, until they bring
little that is new. A history that its player cannot tell from another shares its record with it; so that not all combinations of what
players do behind each other's backs are listed, the visits of a node are handed down to its children in proportion to theirs, and the
walk turns back where less than half a visit arrives. Where everybody sees every action nothing is lost by that.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import attrs
import numpy as np

from icarus.algebra.slots import Candidates
from icarus.compiler import memory as compiled_memory
from icarus.compiler.memory import WORD_BYTES
from icarus.compiler.plain_python import as_compiled, interpret, plain_kernels
from icarus.compiler.rng import seeded
from icarus.engine import loop as compiled_loop
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.python_games import ROOM, MoreActions
from icarus.engine.result import Result
from icarus.engine.scheme import FRESH, ONCE, TRUE
from icarus.engine.tables import Records
from icarus.kernel import CHANCE, SELECTION, TERMINAL, UNSEEN, Theta
from icarus.kernel import extended as compiled_extended
from icarus.kernel.history import history_at as compiled_history_at
from icarus.kernel.history import new_root
from icarus.kernel.state import State

memory, loop = interpret(compiled_memory), interpret(compiled_loop)
extended, history_at = interpret(compiled_extended), interpret(compiled_history_at)
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
        loop.begin(self.arena, self.search.rng)
        self.search.set_world(world)
        if self.arena.composition.episodes:
            loop.start_episodes(self.arena, self.playout)

    def decide(self, t: int, player: int) -> tuple[dict[int, int], int]:
        """Write down a decision after t actions; returns an action of each edge of the tree that is legal here, and the history's key."""
        a, playout = self.arena, self.playout
        playout.legal_length = 0 if t == 0 else loop.step_at(playout, t - 1).first + loop.step_at(playout, t - 1).count
        step = loop.step_at(playout, t)
        count = loop.open_step(a, playout, t, player)
        step.phase = SELECTION
        if a.composition.features_in_tree:
            loop.evaluate_step(a, playout, t, step, count, a.composition.features_in_tree)
        edges = memory.array_at(playout.legal + WORD_BYTES * step.first, step.count, _INT).tolist()
        key = int(memory.matrix_at(playout.keys, t + 1, a.game.perspectives, _INT)[t, step.perspective])
        if not loop.is_grouped(a, player):
            return dict(zip(edges, edges, strict=True)), key
        first: dict[int, int] = {}
        actions, places = (
            memory.array_at(each, count, _INT).tolist() for each in (a.buffers.actions, a.buffers.classes)
        )
        for action, place in zip(actions, places, strict=True):
            first.setdefault(edges[place], action)
        return first, key

    def play(self, t: int, edge: int, action: int) -> None:
        """Play an action, which is this edge of the tree, after t others."""
        a, step = self.arena, loop.step_at(self.playout, t)
        step.action = edge
        loop.append(a, self.playout, t, step, True)
        memory.call(a.game.apply, (a.buffers.state, action))
        loop.label_episode(a, self.playout, t + 1)

    def column(self, records: Records, legal: np.ndarray, player: int) -> list[tuple[float, int]]:
        """(value, count) of each legal action at the present decision by one component, as `Tree` has them."""
        part, table, source = records.enhancement, records._table, records.enhancement.policy.source
        history, parameters = history_at(self.arena.buffers.playout), source.values(self.search.game)
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
        return first, [self.row_of.get(extended(key, player, edge)) for edge in first]

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
