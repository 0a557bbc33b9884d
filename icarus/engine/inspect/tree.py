"""The tree of a search, read back from its records: histories with what is known of them, for people to look at.

Records are keys, which do not tell what history they stand for. So the histories are found again from the root: a child is in the tree
where its baseline record has visits. Where information is hidden this is done in determinizations, one after the other, until they bring
little that is new. A history that its player cannot tell from another shares its record with it; so that not all combinations of what
players do behind each other's backs are listed, the visits of a node are handed down to its children in proportion to theirs, and the
walk turns back where less than half a visit arrives. Where everybody sees every action nothing is lost by that.
"""

from collections.abc import Iterator, Sequence

import attrs
import numpy as np

from icarus.compiler.rng import seeded
from icarus.engine.inspect.columns import Column
from icarus.engine.reference.history import Playout, extended
from icarus.engine.reference.search import ReferenceSearch
from icarus.engine.result import Result
from icarus.engine.scheme import FRESH, ONCE, TRUE
from icarus.engine.tables import Records
from icarus.kernel import CHANCE, SELECTION, TERMINAL, UNSEEN
from icarus.kernel.data import StateData
from icarus.kernel.python_game import PythonGame
from icarus.kernel.state import State

LIMIT = 100_000  # nodes
MOST_DETERMINIZATIONS, ENOUGH, PATIENCE = 500, 0.005, 5  # the walk ends where so many in a row bring so little
WORK = 2  # and after opening so many times `limit` nodes
LEAST_FLOW = 0.5


@attrs.frozen(eq=False)
class Tree:
    """The histories of a search's tree, node 0 the empty one; a parent comes before its children.

    Attributes:
        result: the search.
        game: in plain Python, as it was walked.
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
    game: PythonGame
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
        state = root_state(self.result, origin, self.game)
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
    walk = _Walk(first, _baseline(first), least=1, limit=LIMIT)
    with np.errstate(over="ignore"):  # compiled code wraps round
        return [walk.line(root_state(first, k, walk.game)) for k in range(count if first.scheme.root == FRESH else 1)]


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
    walk = _Walk(first, baseline, least, limit)
    walk.run()
    return walk.tree()


def _baseline(result: Result) -> Records:
    """The records of histories with visits and availability: the baseline's, which every search keeps."""
    return next(each for each in result.records.values() if each.enhancement.name.lower().startswith("baseline"))


def root_state(result: Result, number: int, game: PythonGame) -> State:
    """The root state of the scheme: the state itself, or its determinization of this number; `game` is in plain Python."""
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
    """A node to be opened: the states before its last action, and this action with its edge of the tree; none at the root."""

    node: int
    flow: float
    depth: int
    world: StateData
    edge: int = 0
    action: int = 0


_Node = tuple[int, int, int, str, int]  # parent, action, player, label and record, as `Tree` has them


class _Walk:
    """Opens nodes from the root, with the histories and the policies of the reference engine."""

    def __init__(self, result: Result, baseline: Records, least: int, limit: int) -> None:
        self.result, self.least, self.limit = result, least, limit
        rows = baseline.rows
        self.all_records, self.rows = len(rows), rows[rows["visits"] >= least]
        self.row_of = dict(zip(self.rows["record"].tolist(), range(len(self.rows)), strict=True))
        self.visits = self.rows["visits"].tolist()
        self.columns = [
            Column(name, records) for name, records in result.records.items() if records._table is not baseline._table
        ]
        self.search = ReferenceSearch(result.state, result.strategy, 0, result.scheme)
        self.search.iterations = result.iterations
        self.search.root_keys = result.root or self.search.root_keys
        self.game = self.search.game
        self.nodes: list[tuple[int, int, int, str, int, int]] = []
        self.moves: list[Sequence[int]] = []
        self.children: dict[tuple[int, int, tuple[int, ...]], int] = {}  # by parent, action and what is seen of it
        self.legal_counts: dict[int, int] = {}
        self.columns_of: list[list[tuple[float, int]]] = []
        self.origin = self.opened = 0

    def run(self) -> None:
        """Walk determinization after determinization."""
        root = self.row_of.get(self.search.root_keys.record, -1)
        self.add((-1, 0, CHANCE, "", root), [UNSEEN] * self.game.perspectives, [(np.nan, 0)] * len(self.columns))
        idle = 0
        fresh = self.result.scheme.root == FRESH and self.result.state.game.determinize is not None
        for self.origin in range(MOST_DETERMINIZATIONS if fresh else 1):
            before = len(self.nodes)
            if root >= 0:
                with np.errstate(over="ignore"):  # compiled code wraps round
                    self.walk(root_state(self.result, self.origin, self.game).data)
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

    def walk(self, world: StateData) -> None:
        """Add all nodes that this root state leads to."""
        playout = self.search.empty_history(world)
        branches = [_Branch(0, float(self.result.iterations), 0, world)]
        while branches and len(self.nodes) < self.limit:
            branch = branches.pop()
            self.opened += 1
            world = branch.world
            if branch.depth > 0:
                world = self.game.copy(world)
                playout.truncate(branch.depth - 1)
                self.search.play(playout, world, branch.edge, branch.action)
            player = int(self.game.player(world))
            if player != TERMINAL:
                branches.extend(reversed(list(self.below(branch, playout, world, player))))

    def line(self, root: State) -> Line:
        """The actions visited most from a root state on, while they are visited twice or more."""
        game, world = type(root), root.data
        line, playout = Line([root], [], [], []), self.search.empty_history(world)
        while (player := int(self.game.player(world))) != TERMINAL:
            first, rows = self.decision(playout, world, player)
            counts = [0 if row is None else self.visits[row] for row in rows]
            visits, edge = max(zip(counts, first, strict=True), key=lambda pair: pair[0])
            if visits < 2:
                break
            line.players.append(player)
            line.labels.append(self.game.action_text_of(world, first[edge]))
            line.visits.append(visits)
            world = self.game.copy(world)
            self.search.play(playout, world, edge, first[edge])
            line.states.append(game(root.game, world))
        return line

    def decision(self, playout: Playout, world: StateData, player: int) -> tuple[dict[int, int], list[int | None]]:
        """An action of each edge of the tree that is legal here, and the row of each edge's record."""
        actions, edges, _ = self.search.begin_decision(playout, world, player)
        first: dict[int, int] = {}
        for edge, action in zip(edges, actions, strict=True):
            first.setdefault(edge, action)
        step = playout.steps[playout.t]
        step.write(phase=SELECTION)
        key = playout.keys_at(playout.t)[step.perspective]
        return first, [self.row_of.get(extended(key, player, edge)) for edge in first]

    def below(self, branch: _Branch, playout: Playout, world: StateData, player: int) -> Iterator[_Branch]:
        """The children of a node that are in the tree."""
        first, rows = self.decision(playout, world, player)
        legal = list(first)
        self.legal_counts[branch.node] = len(legal)
        if all(row is None for row in rows):
            return
        history = playout.history()
        components = self.columns if player != CHANCE else []
        columns = [each.read(self.search.program, history, np.array(legal), player) for each in components]
        visits = [0 if row is None else self.visits[row] for row in rows]
        share = branch.flow / max(1, sum(visits))
        for i, (edge, row) in enumerate(zip(legal, rows, strict=True)):
            if row is None or (flow := share * visits[i]) < LEAST_FLOW:
                continue
            moves = self.game.observed_moves(world, edge)
            node = self.children.get((branch.node, edge, tuple(moves)))
            if node is None:
                label = self.game.action_text_of(world, first[edge])
                cells = [column[i] for column in columns] or [(np.nan, 0)] * len(self.columns)
                node = self.add((branch.node, edge, player, label, row), moves, cells)
            if visits[i] > 1:  # the first visit of a history is the one that expanded it: nothing is below
                yield _Branch(node, flow, branch.depth + 1, world, edge, first[edge])

    def tree(self) -> Tree:
        """The nodes so far."""
        parent, action, player, label, row, origin = zip(*self.nodes, strict=True)
        columns = np.array(self.columns_of, float).reshape(len(parent), len(self.columns), 2)
        legal = np.zeros(len(parent), int)
        legal[list(self.legal_counts)] = list(self.legal_counts.values())
        return Tree(
            result=self.result,
            game=self.game,
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
            components=tuple(column.name for column in self.columns),
            values=columns[:, :, 0],
            counts=columns[:, :, 1].astype(int),
            least=self.least,
            all_records=self.all_records,
        )
