"""The tree of a search, read back from its records: histories with what is known of them, for people to look at.

Records are keys, which do not tell what history they stand for. So the histories are found again from the root: a child is in the tree
where its baseline record has visits. Where information is hidden this is done in determinizations, one after the other, until they bring
little that is new. A history that its player cannot tell from another shares its record with it; so that not all combinations of what
players do behind each other's backs are listed, the visits of a node are handed down to its children in proportion to theirs, and the
walk turns back where less than half a visit arrives. Where everybody sees every action nothing is lost by that.
"""

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from icarus.compiler.kernels.functions import plain
from icarus.compiler.kernels.rng import seeded
from icarus.engine.inspect.columns import Column, FeatureTables
from icarus.engine.loop.observation_classes import observation_classes
from icarus.engine.records.tables import Records
from icarus.engine.result import Result
from icarus.engine.scheme import EACH_PLAYER, FRESH, ONCE, ROOT_PLAYER
from icarus.kernel import CHANCE, SELECTION, TERMINAL, UNSEEN, extended, mix
from icarus.kernel.history import EMPTY_HISTORY, PLAYOUT, STEP, episode_key, episode_record, root_key
from icarus.kernel.state import State

LIMIT = 100_000  # nodes
MOST_DETERMINIZATIONS, ENOUGH, PATIENCE = 500, 0.005, 5  # the walk ends where so many in a row bring so little
WORK = 2  # and after looking into so many times `limit` nodes
LEAST_FLOW = 0.5
DEEPEST = 4096
_INT = np.dtype(np.int64)


@attrs.frozen(eq=False)
class Tree:
    """The histories of a search's tree, node 0 the empty one; a parent comes before its children.

    Attributes:
        result: the search.
        parent: the node that a node continues; -1 at the root. [nodes]
        action: the last action of the history, or the move that the root player sees where the scheme looks with his eyes. [nodes]
        player: who took it; CHANCE for the environment. [nodes]
        label: the last action as players write it. [nodes]
        legal: how many actions are legal after it; 0 where nobody looked. [nodes]
        record: the row in `visits`, `availability` and `rewards`; histories that look the same to the player share one. [nodes]
        visits, availability: of the baseline's records. [rows]
        rewards: the total reward of each player. [rows, κ]
        seen: what each perspective saw of the last action; None where everyone sees every action. [nodes, perspectives]
        origin: the number of the determinization in which the history was found first. [nodes]
        components: the names of the components other than the baseline.
        values, counts: for each component the mean reward of its record for the last action, and of how many (where its information
            has no rewards: the value that its policy sees, and -1). nan where it knows nothing. [nodes, components]
        least: records of fewer visits were left out.
        known: the records of the baseline, those left out included.
    """

    result: Result
    parent: np.ndarray
    action: np.ndarray
    player: np.ndarray
    label: list[str]
    legal: np.ndarray
    record: np.ndarray
    visits: np.ndarray
    availability: np.ndarray
    rewards: np.ndarray
    seen: np.ndarray | None
    origin: np.ndarray
    components: tuple[str, ...]
    values: np.ndarray
    counts: np.ndarray
    least: int
    known: int

    def __len__(self) -> int:
        return len(self.parent)

    def path(self, node: int) -> list[int]:
        """The nodes from the root's child to a node."""
        found = []
        while node > 0:
            found.append(node)
            node = int(self.parent[node])
        return found[::-1]

    def state(self, node: int) -> State:
        """A state in which the history of a node has been played: a determinization, where information is hidden."""
        state = root_state(self.result, int(self.origin[node]))
        for step in self.path(node):
            action = int(self.action[step])
            if action not in state.legal_actions():  # a move as the root player sees it: any action that looks so
                action = _behind(state, action, self.result.state.current_player())
            state.apply_action(action)
        return state


def tree_of(result: Result, limit: int = LIMIT) -> Tree:
    """The tree of a search; where it has more than `limit` nodes, those of most visits.

    With several trees, or threads that share only their roots, it is the first one's.
    """
    first = result.parts[0] if result.parts else result
    baseline = next(iter(_baseline(first)))
    visits = baseline.rows["visits"]
    least = 1
    if len(visits) > limit:
        least = max(1, int(np.partition(visits, -limit)[-limit]))
        least += int(np.count_nonzero(visits >= least) > limit)
    walk = _Walk(first, baseline, least, limit)
    walk.run()
    return walk.tree()


def _baseline(result: Result) -> Iterator[Records]:
    """The records of histories with visits and availability: the baseline's, which every search keeps."""
    for records in result.records.values():
        if records.enhancement.name.lower().startswith("baseline"):
            yield records


def root_state(result: Result, number: int) -> State:
    """The root state of the scheme: the state itself, or its determinization of this number."""
    state, observer = result.state, result.state.current_player()
    if result.scheme.root == ONCE:
        return state.determinized(observer, seeded(result.seed))
    if result.scheme.root == FRESH:
        return state.determinize(observer, seed=number)
    return state.clone()


def _behind(state: State, move: int, perspective: int) -> int:
    """An action that a perspective sees as this move."""
    for action in state.legal_actions():
        if state.observed(action)[state.game.perspective(perspective)] == move:
            return action
    raise ValueError(f"no action here looks like {move} to player {perspective}")


@attrs.define
class _Place:
    """A node that is to be looked into: its state, and the history that led to it."""

    node: int
    flow: float
    depth: int
    used: int  # legal actions written for the history before
    state: State
    player: int  # of the last action
    action: int
    moves: list[int]
    keys: list[int]
    episodes: list[int]
    episode: int


class _Walk:
    def __init__(self, result: Result, baseline: Records, least: int, limit: int) -> None:
        self.result, self.least, self.limit, self.game = result, least, limit, baseline.game
        rows = baseline.rows
        self.known, self.rows = len(rows), rows[rows["visits"] >= least]
        self.row_of = dict(zip(self.rows["record"].tolist(), range(len(self.rows)), strict=True))
        self.visits = self.rows["visits"].tolist()
        tables = {id(baseline._table)}
        self.columns = []
        for name, records in result.records.items():
            if id(records._table) not in tables:
                self.columns.append(Column(name, records))
        perspectives = self.game.perspectives
        self.extend, self.mix = plain(extended), plain(mix)
        self.nodes: list[tuple[Any, ...]] = []
        self.seen: list[list[int]] = []
        self.children: dict[tuple[int, int], int] = {}
        self.legal_of: dict[int, int] = {}
        self.values: list[list[float]] = []
        self.counts: list[list[int]] = []
        self.steps = np.zeros(DEEPEST + 1, STEP)
        self.legal = np.zeros(DEEPEST, _INT)
        shape = (DEEPEST + 1, perspectives)
        self.moves, self.keys, self.episodes = np.zeros(shape, _INT), np.zeros(shape, _INT), np.zeros(shape, _INT)
        self.playout, self.rng = (
            np.zeros(1, PLAYOUT),
            seeded(0),
        )  # for policies that draw: the search's own is not touched
        for name in ("steps", "moves", "keys", "episodes", "legal", "rng"):
            self.playout[name] = getattr(self, name).ctypes.data
        self.playout["perspectives"], self.playout["iteration"] = perspectives, self.result.iterations
        self.told = FeatureTables(self.game, self.result.strategy, self.playout, DEEPEST + 1, len(self.legal))
        self.origin = self.looked_into = 0

    def run(self) -> None:
        """Walk determinization after determinization."""
        self.enter(-1, 0, CHANCE, "", self.row_of.get(EMPTY_HISTORY, -1), [UNSEEN] * self.game.perspectives, [], [])
        idle = 0
        fresh = self.result.scheme.root == FRESH and self.result.state.game.determinize is not None
        for self.origin in range(MOST_DETERMINIZATIONS if fresh else 1):
            before = len(self.nodes)
            if self.row_of.get(EMPTY_HISTORY) is not None:
                self.walk(root_state(self.result, self.origin))
            idle = idle + 1 if len(self.nodes) - before <= ENOUGH * before else 0
            if idle == PATIENCE or self.looked_into > WORK * self.limit or len(self.nodes) >= self.limit:
                break

    def enter(
        self,
        parent: int,
        action: int,
        player: int,
        label: str,
        row: int,
        seen: list[int],
        values: list[float],
        counts: list[int],
    ) -> int:
        self.nodes.append((parent, action, player, label, row, self.origin))
        self.seen.append(seen)
        self.values.append(values)
        self.counts.append(counts)
        self.children[parent, action] = len(self.nodes) - 1
        return len(self.nodes) - 1

    def of(self, state: State, data: Any) -> State:
        """The state with the same data, or with what they become, in the game as the scheme sees it."""
        return type(state)(self.game, state._copied(data))

    def root(self, state: State) -> _Place:
        perspectives = range(self.game.perspectives)
        keys = [plain(root_key)(perspective) for perspective in perspectives]
        episodes, episode = self.root_episodes(state)
        moves = [UNSEEN] * len(keys)
        return _Place(
            0,
            float(self.result.iterations),
            0,
            0,
            self.of(state, state.data),
            CHANCE,
            0,
            moves,
            keys,
            episodes,
            episode,
        )

    def root_episodes(self, state: State) -> tuple[list[int], int]:
        """The keys of the root's position-in-episode for each perspective, and its record (section 5.1)."""
        true, observer = self.result.state, self.result.state.current_player()
        position, perspectives = true.position_in_episode(), range(self.game.perspectives)
        if self.result.scheme.observer != EACH_PLAYER and len(position.moves) > 1:
            own = position.moves[observer]
            previous = position.previous if position.last in (None, observer) else (position.label, own)
            position = attrs.evolve(position, moves=(own,), previous=previous)
        label, before = position.seen_before(observer)
        last = 0 if position.last is None else position.last
        episode = episode_record(label, self.game.perspective(last), last, before)
        keys = []
        for perspective in perspectives:
            moves = list(position.moves[perspective])
            if self.game.recall is not None:
                moves = list(state._recall(perspective))
                if last != observer and perspective == self.game.perspective(last) and moves:
                    episode = episode_record(position.label, perspective, last, tuple(moves))
            key = plain(episode_key)(position.label, perspective)
            for move in moves:
                key = self.mix(key, move)
            keys.append(key)
        return keys, episode

    def walk(self, state: State) -> None:
        """Enter all nodes that this root state leads to."""
        places = [self.root(state)]
        while places and len(self.nodes) < self.limit:
            place = places.pop()
            self.looked_into += 1
            self.place(place)
            player = place.state.current_player()
            if player != TERMINAL and place.depth < DEEPEST - 1:
                places.extend(reversed(list(self.below(place, player))))

    def place(self, place: _Place) -> None:
        """Write the history of a place; what is before its last action is there already."""
        t = place.depth
        self.moves[t], self.keys[t], self.episodes[t] = place.moves, place.keys, place.episodes
        if t > 0:
            self.steps[t - 1]["action"] = place.action
        self.steps[t]["episode"] = place.episode

    def write_legal(self, place: _Place, moves: list[int]) -> int:
        """Write what is legal at a place behind that of the places before; its address."""
        end = place.used + len(moves)
        if end > len(self.legal):
            self.legal = np.concatenate([self.legal, np.zeros(end, _INT)])
            self.playout["legal"] = self.legal.ctypes.data
            self.told.make_room(len(self.legal))
        self.legal[place.used : end] = moves
        return self.legal.ctypes.data + 8 * place.used

    def below(self, place: _Place, player: int) -> Iterator[_Place]:
        """The children of a place that are in the tree."""
        t, game, every = place.depth, self.game, place.state.legal_actions()
        actions, moves, edges = every, every, list(range(len(every)))
        if self.result.scheme.observer == ROOT_PLAYER and player != self.result.state.current_player():
            actions, moves, edges = self.grouped(place, every)
        legal, count = self.write_legal(place, moves), len(moves)
        self.legal_of[place.node] = count
        perspective = game.perspective(player)
        step = self.steps[t]
        step["player"], step["perspective"], step["phase"], step["record"] = player, perspective, SELECTION, 0
        step["first"], step["count"] = place.used, count
        self.playout["length"], self.playout["legal_length"] = t + 1, place.used + count
        rows = [self.row_of.get(self.extend(place.keys[perspective], player, move)) for move in moves]
        if not any(row is not None for row in rows):
            return
        playout = self.playout.ctypes.data
        self.told.write(t, place.used, place.state.data, player, every, edges)
        asked = self.columns if player != CHANCE else []
        read = [column.read(playout, legal, count, player) for column in asked]
        visits = [0 if row is None else int(self.visits[row]) for row in rows]
        share = place.flow / max(1, sum(visits))
        for i, row in enumerate(rows):
            if row is not None and (flow := share * visits[i]) >= LEAST_FLOW:
                said = [(v[i], n[i]) for v, n in read]
                found = self.child(place, flow, player, actions[i], moves[i], row, said)
                if visits[i] > 1:  # the first visit of a history is the one that expanded it: nothing is below
                    yield found

    def child(
        self, place: _Place, flow: float, player: int, action: int, move: int, row: int, said: list[tuple[float, int]]
    ) -> _Place:
        moves = [move] if self.game.observe is None else place.state.observed(action)
        node = self.children.get((place.node, move))
        if node is None:
            label = place.state._written(action)
            values, counts = [float(value) for value, _ in said], [int(number) for _, number in said]
            node = self.enter(place.node, move, player, label, row, moves, values, counts)
        perspective = self.game.perspective(player)
        keys = [key if seen == UNSEEN else self.mix(key, seen) for key, seen in zip(place.keys, moves, strict=True)]
        episode = self.extend(place.episodes[perspective], player, move)
        episodes = [
            key if seen == UNSEEN else self.mix(key, seen) for key, seen in zip(place.episodes, moves, strict=True)
        ]
        state = self.of(place.state, place.state.data)
        state._advance(state.data, action)
        if (beginning := state._label(state.data)) >= 0:
            episodes = [plain(episode_key)(beginning, perspective) for perspective in range(self.game.perspectives)]
        used = place.used + self.legal_of[place.node]
        return _Place(node, flow, place.depth + 1, used, state, player, move, moves, keys, episodes, episode)

    def grouped(self, place: _Place, actions: list[int]) -> tuple[list[int], list[int], list[int]]:
        """The first action of each look to the root player, the moves that he sees, each once, and the place of each action's."""
        true = self.result.state
        perspective, state = true.game.perspective(true.current_player()), type(true)(true.game, place.state.data)
        seen = [state.observed(action)[perspective] for action in actions]
        moves, classes = observation_classes(seen)
        return [actions[seen.index(move)] for move in moves], moves, classes

    def tree(self) -> Tree:
        parent, action, player, label, row, origin = zip(*self.nodes, strict=True)
        columns = len(self.columns)
        values = np.array([v or [np.nan] * columns for v in self.values]).reshape(len(parent), columns)
        counts = np.array([c or [0] * columns for c in self.counts], int).reshape(len(parent), columns)
        legal = np.zeros(len(parent), int)
        legal[list(self.legal_of)] = list(self.legal_of.values())
        return Tree(
            result=self.result,
            parent=np.array(parent),
            action=np.array(action),
            player=np.array(player),
            label=list(label),
            legal=legal,
            record=np.array(row),
            visits=self.rows["visits"],
            availability=self.rows["availability"],
            rewards=self.rows["reward"],
            seen=np.array(self.seen) if self.game.perspectives > 1 else None,
            origin=np.array(origin),
            components=tuple(column.name for column in self.columns),
            values=values,
            counts=counts,
            least=self.least,
            known=self.known,
        )
