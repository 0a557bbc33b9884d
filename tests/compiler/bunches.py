"""Searches that bunches of Ctrl-C end: `python -m tests.compiler.bunches 1000 [SEED]` sends so many, and prints what came of them.

A bunch is one to nine presses within a few milliseconds. It comes while a search runs alone or on threads, or while a slot
is compiled. No search may hang, and none may lose the playouts that it has reported.
"""

import itertools
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import attrs

from icarus import BASELINE, MAST, SearchInterrupted, capture, games, search
from icarus.kernel import record, update

LUCK = random.Random(22)


_numbers = itertools.count(random.SystemRandom().getrandbits(60))


def compiled_anew() -> Any:
    """MAST with a capture that nobody has compiled before."""
    number = next(_numbers)

    def capture_all(history: Any, updates: Any) -> None:
        for step in history.steps:
            update(updates, record(step.action, number & 1), step.player)

    return attrs.evolve(MAST, name="ANEW", capture=capture(capture_all))


KINDS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda progress: search(OTHELLO, BASELINE >> MAST, seconds=600, progress=progress),
    "two trees": lambda progress: search(OTHELLO, BASELINE >> MAST, seconds=600, threads=2, progress=progress),
    "compiling": lambda progress: search(OTHELLO, compiled_anew(), seconds=600, progress=progress),
}
OTHELLO = games.load("othello").new_initial_state()


def press(count: int, delay: float, done: threading.Event) -> None:
    """A bunch of Ctrl-C, after a delay."""
    time.sleep(delay)
    for _ in range(count):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(LUCK.choice([0.0, 0.0001, 0.003]))
    done.set()


def links(error: BaseException | None) -> Iterator[BaseException]:
    """An exception, and those that were being handled when it came."""
    while error is not None:
        yield error
        error = error.__context__


def interruption(kind: str, reported: list[int], done: threading.Event) -> BaseException:
    """What ended a search, when the last press of the bunch has come."""
    ended: BaseException | None = None
    while ended is None or not done.is_set():
        try:
            if ended is None:
                KINDS[kind](lambda iterations, _: reported.append(iterations))
            done.wait()
            time.sleep(0.01)
        except KeyboardInterrupt as error:  # the last presses of a bunch may come after the search
            ended = ended or error
    return ended


def interrupted(kind: str, count: int, delay: float) -> bool:
    """Whether a search that a bunch of Ctrl-C ended has handed over every playout that it had reported."""
    reported, done = [0], threading.Event()
    threading.Thread(target=press, args=(count, delay, done)).start()
    try:
        ended = interruption(kind, reported, done)
    except KeyboardInterrupt as late:  # a press while another was being handled
        ended = late
        done.wait()
    results = [error.result for error in links(ended) if isinstance(error, SearchInterrupted)]
    if not results:
        return reported[-1] == 0
    return bool(results[0].iterations == results[0].visits.sum() >= reported[-1])


def main(presses: int) -> None:
    """Send so many Ctrl-C, and print how many searches of each kind kept their results."""
    search(OTHELLO, BASELINE >> MAST, iterations=50)  # compiles what is not to be compiled under the presses
    sent, rows, began = 0, dict[str, list[bool]](), time.monotonic()
    for kind in itertools.cycle(KINDS):
        count = min(LUCK.randint(1, 9), presses - sent)
        if count == 0:
            break
        rows.setdefault(kind, []).append(interrupted(kind, count, LUCK.uniform(0.0, 0.4)))
        sent += count
    totals = {kind: [sum(flags), len(flags)] for kind, flags in rows.items()}
    print(json.dumps({"presses": sent, "kept": totals, "seconds": time.monotonic() - began}))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        LUCK.seed(int(sys.argv[2]))
    main(int(sys.argv[1]))
