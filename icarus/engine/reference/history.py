"""A playout under way in plain Python: the steps of a `History`, and what its perspectives saw, computed when it is read."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from icarus.compiler.functions import plain
from icarus.compiler.rng import seeded
from icarus.kernel import SIMULATION, UNSEEN, mix
from icarus.kernel import extended as compiled_extended
from icarus.kernel.data import read_only
from icarus.kernel.features import NAMES
from icarus.kernel.history import STEP, UNLIMITED, Root
from icarus.kernel.history import episode_key as compiled_episode_key

extended, episode_key = plain(compiled_extended), plain(compiled_episode_key)
Moves = Sequence[int] | Callable[[], Sequence[int]]
_FIELDS = STEP.names or ()
Index: TypeAlias = Any  # what an array takes between brackets


class Step:
    """A decision of a playout, with the fields of STEP; slots read it, the search alone writes it down."""

    _playout: "Playout"
    _t: int
    player: int
    action: int
    perspective: int
    first: int
    count: int
    phase: int
    choice: int
    probability: float

    def __init__(self, playout: "Playout", t: int) -> None:
        self.write(_playout=playout, _t=t, phase=SIMULATION, probability=0.0)
        self.write(player=0, action=0, perspective=0, first=0, count=0, choice=0)

    def write(self, **fields: object) -> None:
        """Write what is known of the decision by now."""
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError("the steps of a history are read-only; a slot writes to one of them")

    __setitem__ = __setattr__

    @property
    def record(self) -> int:
        return self._playout.record_at(self._t)

    @property
    def episode(self) -> int:
        return self._playout.position_at(self._t)

    def __getitem__(self, field: str) -> float:
        return getattr(self, field)

    def __repr__(self) -> str:
        return f"<step {self._t}: {', '.join(f'{name}={getattr(self, name)}' for name in _FIELDS)}>"


class Steps(list[Step]):
    """Steps in order; `steps.player` and `steps["player"]` are columns of them, as in an array of STEP."""

    def __getitem__(self, place: Index) -> Any:
        return getattr(self, place) if type(place) is str else list.__getitem__(self, place)

    def __getattr__(self, field: str) -> np.ndarray:
        if field not in _FIELDS:
            raise AttributeError(f"steps have no field {field!r}; they have {', '.join(_FIELDS)}")
        return read_only(np.array([getattr(step, field) for step in self], STEP[field]))


class View:
    """What perspectives saw, or the keys of it, [t + 1, perspectives]: row by row where one element is asked for, else an array."""

    __slots__ = ("_at", "_length")

    def __init__(self, at: Callable[[int], Sequence[int]], length: int) -> None:
        self._at, self._length = at, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, place: Index) -> Any:
        if type(place) is not tuple or not all(isinstance(number, int | np.integer) for number in place):
            return self.array()[place]
        i, perspective = place
        if not -self._length <= i < self._length:
            raise IndexError(f"there is no row {i}; there are {self._length}")
        return self._at(i if i >= 0 else i + self._length)[perspective]

    def __setitem__(self, place: Index, value: object) -> None:
        raise TypeError("moves, keys and episodes of a history are read-only; a slot writes to one of them")

    def __iter__(self) -> Iterator[np.ndarray]:
        return iter(self.array())

    def __array__(self, *arguments: Any, **keywords: Any) -> np.ndarray:
        return np.asarray(self.array(), *arguments, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.array(), name)

    def array(self) -> np.ndarray:
        """All of it."""
        return np.array([self._at(i) for i in range(self._length)], np.int64)


def _table(name: str) -> property:
    """A table of what the game tells, as an attribute of a history."""
    return property(lambda history: history._playout.table(name))


class ReferenceHistory:
    """What slots are given in plain Python, with the attributes of `History`."""

    __slots__ = ("_playout", "budget", "iteration", "rewards", "rng", "steps")

    def __init__(self, playout: "Playout") -> None:
        self._playout, self.steps = playout, Steps(playout.steps)
        self.rewards, self.rng = read_only(playout.rewards), playout.rng
        self.iteration, self.budget = playout.iteration, playout.budget

    @property
    def moves(self) -> View:
        return View(self._playout.moves_at, len(self.steps))

    @property
    def keys(self) -> View:
        return View(self._playout.keys_at, len(self.steps))

    @property
    def episodes(self) -> View:
        return View(self._playout.episodes_at, len(self.steps))

    @property
    def legal(self) -> np.ndarray:
        return self._playout.legal()

    features = _table("features")
    action_features = _table("action_features")
    lookahead = _table("lookahead")
    endings = _table("endings")


class Playout:
    """A playout under way.

    Args:
        root: where histories begin.
        episodes: of the empty history, for each perspective.
        position: the record of the root's position-in-episode.
        widths: how many numbers the tables of what the game tells have in a row, by their names.

    Attributes:
        features: features, action_features, lookahead and endings, by name: lists of rows.
        steps: one for each decision, the present one last.
        rewards, rng, iteration, budget: as in `History`.
        t: how many actions have been played.
    """

    def __init__(
        self, root: Root, episodes: Sequence[int], position: int, widths: Mapping[str, int] | None = None
    ) -> None:
        self._widths = widths or dict.fromkeys(NAMES, 0)
        self.features: dict[str, list[npt.ArrayLike]] = {name: [] for name in NAMES}
        self._tables: dict[str, tuple[int, np.ndarray]] = {}
        self.steps, self.t = [Step(self, 0)], 0
        self.rewards, self.rng = np.zeros(0), seeded(0)
        self.iteration, self.budget = 0, UNLIMITED
        self._moves: list[Moves] = [[UNSEEN] * len(root.keys)]
        self._keys, self._episodes = [list(root.keys)], [list(episodes)]
        self._records, self._positions = [root.record], [position]
        self._labels: dict[int, int] = {}
        self._legal: list[int] = []
        self._listed = np.zeros(0, np.int64)

    def history(self) -> ReferenceHistory:
        """What slots are given."""
        return ReferenceHistory(self)

    def decide(self, player: int, perspective: int, legal: Sequence[int]) -> None:
        """A player is about to choose among these."""
        step = self.steps[self.t]
        step.write(player=player, perspective=perspective, phase=SIMULATION, first=len(self._legal), count=len(legal))
        self._legal += legal

    def extend(self, action: int, moves: Moves) -> None:
        """Append an action to the history, as every perspective sees it, or what gives that when it is read."""
        self.steps[self.t].write(action=action)
        self._moves.append(moves)
        self.t += 1
        self.steps.append(Step(self, self.t))

    def begin_episode(self, label: int) -> None:
        """A new episode begins at the state reached."""
        self._labels[self.t] = label
        del self._episodes[max(1, self.t) :]
        if self.t == 0:
            self._episodes[0] = self._episode_keys(0)

    def truncate(self, t: int) -> None:
        """Forget all that came after the decision after t actions was written down."""
        self.t, step = t, self.steps[t]
        end = step.first + step.count
        for entries in (self.steps, self._moves, self._keys, self._episodes, self._records, self._positions):
            del entries[t + 1 :]
        for name, rows in self.features.items():
            del rows[t + 1 if name == "features" else end :]
        del self._legal[end:]
        self._listed, self._tables = np.zeros(0, np.int64), {}
        self._labels = {i: label for i, label in self._labels.items() if i <= t}

    def moves_at(self, i: int) -> Sequence[int]:
        """How each perspective saw a_i."""
        moves = self._moves[i]
        if callable(moves):
            moves = self._moves[i] = moves()
        return moves

    def keys_at(self, i: int) -> list[int]:
        """The key of the first i actions, for each perspective."""
        for t in range(len(self._keys), i + 1):
            self._keys.append(self._extend_keys(self._keys[-1], t))
        return self._keys[i]

    def episodes_at(self, i: int) -> list[int]:
        """The key of the position-in-episode after i actions, for each perspective."""
        for t in range(len(self._episodes), i + 1):
            self._episodes.append(
                self._episode_keys(t) if t in self._labels else self._extend_keys(self._episodes[-1], t)
            )
        return self._episodes[i]

    def record_at(self, i: int) -> int:
        """The record of the first i actions."""
        for t in range(len(self._records), i + 1):
            step = self.steps[t - 1]
            self._records.append(extended(self.keys_at(t - 1)[step.perspective], step.player, step.action))
        return self._records[i]

    def position_at(self, i: int) -> int:
        """The record of the position-in-episode after i actions."""
        for t in range(len(self._positions), i + 1):
            step = self.steps[t - 1]
            self._positions.append(extended(self.episodes_at(t - 1)[step.perspective], step.player, step.action))
        return self._positions[i]

    def legal(self) -> np.ndarray:
        """The legal actions of all steps."""
        if len(self._listed) < len(self._legal):
            self._listed = read_only(np.array(self._legal, np.int64))
        return self._listed

    def table(self, name: str) -> np.ndarray:
        """A table of what the game tells; rows that are not filled are 0."""
        count, rows = self.t + 1 if name == "features" else len(self._legal), self.features[name]
        filled, table = self._tables.get(name, (-1, np.zeros(0)))
        if filled != len(rows) or len(table) != count:
            table = np.zeros((count, self._widths[name]))
            if self._widths[name] > 0:
                table[: len(rows)] = np.asarray(rows)
            table = read_only(table)
            self._tables[name] = len(rows), table
        return table

    def _extend_keys(self, keys: Sequence[int], t: int) -> list[int]:
        moves = self.moves_at(t)
        return [key if move == UNSEEN else mix(key, move) for key, move in zip(keys, moves, strict=True)]

    def _episode_keys(self, t: int) -> list[int]:
        return [episode_key(self._labels[t], perspective) for perspective in range(len(self._keys[0]))]
