"""How often games and slots are checked, and that slots only read the history (with ICARUS_DEBUG=1, in every playout)."""

from collections.abc import Callable

from icarus.compiler.kernels.functions import DEBUG
from icarus.kernel import History, helper, inlined, mix

KEYLESS = "a capture names the record 0, which is not a key; make keys with record(action, …), not from an action alone"

FIRST, INTERVAL = 100, 16  # a search checks in its first iterations, and in every 16th


@inlined
def is_checked(iteration: int) -> bool:
    """Whether what a game and slots give is checked in this iteration, at little cost in the mean."""
    return DEBUG or iteration < FIRST or iteration % INTERVAL == 0


@helper
def fingerprint(history: History) -> int:
    """A number that changes when anything in a history does that slots are given to read."""
    key = 0
    for step in history.steps:
        key = mix(mix(mix(mix(key, step.player), step.action), step.record), step.episode)
        key = mix(mix(mix(key, step.first), step.count), step.perspective)
    for array in (history.moves, history.keys, history.episodes):
        for row in range(array.shape[0]):
            for column in range(array.shape[1]):
                key = mix(key, array[row, column])
    for action in history.legal:
        key = mix(key, action)
    for reward in history.rewards:
        key = mix(key, int(reward * 1e15))
    return key


def with_history_guard(function: Callable, label: str) -> Callable:
    """A slot that is given a history first, which must not change it."""
    inner = helper(function)
    message = f"{label} writes to the history, which is read-only"

    @helper
    def guarded_slot(history: History, *arguments: object) -> None:
        before = fingerprint(history)
        inner(history, *arguments)
        if fingerprint(history) != before:
            raise ValueError(message)

    return guarded_slot
