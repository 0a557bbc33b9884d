"""The draws of an audit: many determinizations for an observer, each with its faults."""

import functools
from collections.abc import Callable, Sequence

import numpy as np

from icarus.compiler.kernel import Kernel
from icarus.compiler.memory import array_at, call, struct_at
from icarus.kernel.constants import RECALLED
from icarus.kernel.data import in_words
from icarus.kernel.state import State
from icarus.kernel.structures import Address, structure

SHOWN = 20  # legal actions, told in an example
ROOM = 16  # times max_legal: a wrong state may have more legal actions than any right one

OTHER_PLAYER, OTHER_ACTIONS, OTHER_VIEW = 1, 2, 4  # faults of a determinization, a bit for each
FAULTS = {"player": OTHER_PLAYER, "actions": OTHER_ACTIONS, "view": OTHER_VIEW}


class Job:
    """What is drawn, and with what; functions by their addresses, 0 where the game has none."""

    determinize: Address
    player: Address
    legal: Address
    episode: Address
    recall: Address
    observer: int
    beliefs: Address
    rng: Address
    truth: Address  # of data, [words] of 8 bytes
    words: int
    mover: int  # what every determinization must have: the player about to act,
    label: int  # e(s),
    actions: Address  # his legal actions,
    action_count: int
    moves: Address  # the moves that the observer recalls
    move_count: int
    listed: Address  # room to write a determinization's own into
    recalled: Address
    count: int
    draws: Address  # the draws [count, words] and their faults [count]
    faults: Address


JOB = structure(Job)
_INT = np.dtype(np.int64)


def draw(job: int) -> int:
    """Draw the determinizations of a JOB and note the faults of each."""
    j = struct_at(job, JOB)
    truth, faults = array_at(j.truth, j.words, _INT), array_at(j.faults, j.count, _INT)
    actions, moves = array_at(j.actions, j.action_count, _INT), array_at(j.moves, j.move_count, _INT)
    listed, recalled = array_at(j.listed, j.action_count, _INT), array_at(j.recalled, j.move_count, _INT)
    for k in range(j.count):
        address = j.draws + 8 * k * j.words
        state = array_at(address, j.words, _INT)
        for i in range(j.words):
            state[i] = truth[i]
        call(j.determinize, (address, j.observer, j.beliefs, j.rng))
        if call(j.player, (address,)) != j.mover:
            faults[k] |= OTHER_PLAYER
        elif j.mover == j.observer:
            same = call(j.legal, (address, j.listed)) == j.action_count
            for i in range(j.action_count):
                same = same and listed[i] == actions[i]
            if not same:
                faults[k] |= OTHER_ACTIONS
        same = j.episode == 0 or call(j.episode, (address,)) == j.label
        if j.recall != 0:
            same = same and call(j.recall, (address, j.observer, j.recalled, RECALLED)) == j.move_count
            for i in range(j.move_count):
                same = same and recalled[i] == moves[i]
        if not same:
            faults[k] |= OTHER_VIEW
    return 0


class ObserverDraws:
    """The determinizations of a decision for an observer: what must be alike in all of them, and the draws themselves."""

    def __init__(self, state: State, observer: int) -> None:
        game, kernels = state.game, state.game.kernels()
        address = state.data.ctypes.data
        self.game, self._job = game, np.zeros(1, JOB)
        actions = np.array(state.legal_actions(), np.int64)
        moves, recalled = np.zeros(RECALLED, np.int64), np.zeros(RECALLED, np.int64)
        listed = np.zeros(ROOM * game.max_legal, np.int64)
        self._arrays = {"actions": actions, "moves": moves, "recalled": recalled, "listed": listed}
        for name in ("determinize", "player", "legal", "episode", "recall"):
            self._job[name] = kernels.address(name)
        for name, array in self._arrays.items():
            self._job[name] = array.ctypes.data
        self._job["observer"], self._job["words"] = observer, len(in_words(state.data))
        self._job["action_count"] = len(actions)
        self._job["mover"] = state.current_player()
        self._job["label"] = 0 if kernels.episode is None else kernels.episode(address)
        if kernels.recall is not None:
            self._job["move_count"] = kernels.recall(address, observer, moves.ctypes.data, RECALLED)

    def draw(self, data: np.ndarray, count: int, rng: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Determinizations of data, [count] of game.state, and the faults of each, [count]."""
        truth = in_words(data)
        draws, faults = np.zeros((count, len(truth)), np.int64), np.zeros(count, np.int64)
        beliefs = State.from_data(self.game, data).beliefs(int(self._job["observer"][0]))
        for name, array in (("truth", truth), ("draws", draws), ("faults", faults), ("beliefs", beliefs), ("rng", rng)):
            self._job[name] = array.ctypes.data
        self._job["count"] = count
        _draw()(self._job.ctypes.data)
        data = np.ascontiguousarray(draws.view(np.uint8)[:, : self.game.state.itemsize])
        return data.view(self.game.state)[:, 0], faults


@functools.cache
def _draw() -> Kernel:
    return Kernel(draw, 1, "the draws of an audit")


def differing(first: np.ndarray, second: np.ndarray, face: Callable[[np.ndarray], object]) -> list[int]:
    """The places of the draws that are not the same in both, as far as can be seen."""
    return [i for i in np.flatnonzero(first != second).tolist() if face(first[i : i + 1]) != face(second[i : i + 1])]


def fault_of(name: str, state: State, draw: State, actions: Sequence[int]) -> str:
    """What a determinization has otherwise than the truth, in words, by the name of its fault and its legal actions."""
    if name == "player":
        return f"player {draw.game.kernels().player(draw.data.ctypes.data)} is about to act in this one:"
    if name == "actions" and (legal := state.legal_actions()) != list(actions):
        return f"his legal actions are {legal[:SHOWN]}, and in this one {list(actions)[:SHOWN]}:"
    if name == "view":
        label, other_label = state._label(state.data), draw._label(draw.data)
        if label != other_label:
            return f"the episode label is {label}, and in this one {other_label}:"
        return "he has seen other moves of the episode in this one:"
    return "this does not hold for:"
