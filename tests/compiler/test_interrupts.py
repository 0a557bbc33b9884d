"""Ctrl-C: bunches of it, and what it must not meet."""

import functools
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import pytest

from icarus import BASELINE, MAST, SearchInterrupted, State, capture, games, search
from icarus.compiler.kernel import presses_as_one, uninterrupted
from icarus.kernel import record, update
from tests.conftest import environment

SOON = 10.0  # seconds


@pytest.mark.parametrize("presses", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_bunches_of_ctrl_c_hang_no_search_and_lose_no_result(presses):
    call = [sys.executable, "-m", "tests.compiler.test_interrupts", str(presses)]
    done = subprocess.run(
        call, env=environment(), text=True, capture_output=True, timeout=900, check=False
    )
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout.splitlines()[-1])
    assert row["presses"] == presses
    assert len(row["kept"]) == 3
    assert all(saved == searches for saved, searches in row["kept"].values()), row


def test_ctrl_c_while_threads_start_waits_for_all_of_them(monkeypatch):
    """A pool waits for the threads that it knows of: one that had just begun went on while its result was read."""
    start, started = threading.Thread.start, list[threading.Thread]()

    def start_and_press(thread):
        start(thread)
        if thread.name.startswith("icarus_"):
            started.append(thread)
        if len(started) == 9:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(threading.Thread, "start", start_and_press)
    with pytest.raises(SearchInterrupted) as interrupted:
        search(othello(), BASELINE, seconds=600, threads=2)
    assert len(started) >= 9
    assert not any(thread.is_alive() for thread in started)
    assert interrupted.value.result.iterations == interrupted.value.result.visits.sum()


def test_presses_within_a_second_count_as_one():
    with pytest.raises(KeyboardInterrupt), presses_as_one():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(SOON)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            ended = True
    assert ended
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_s_hears_what_is_held_back_at_the_end_of_the_block():
    signals: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: signals.append(number))
    try:
        with uninterrupted(), uninterrupted():
            os.kill(os.getpid(), signal.SIGINT)
            assert not signals
        assert signals == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


AFTER_EACH_FUNCTION = """
import gc, itertools, os, signal, sys
import llvmlite.binding.ffi as ffi
from icarus.compiler.kernel import CompiledFunction

table, numbers, counts = ffi.lib._fntab, itertools.count(5), {}

def compile_anew():
    number = next(numbers)
    return CompiledFunction(lambda x: number * x, 1, "times")

def pressing(name, function):
    def call(*arguments):
        result = function(*arguments)
        counts[name] = counts.get(name, 0) + 1
        if counts[name] == 1 and name == pressed:
            os.kill(os.getpid(), signal.SIGINT)
        return result
    return call

pressed = ""
compile_anew()  # finds which functions there are
table.update({name: pressing(name, function) for name, function in table.items()})
first = compile_anew()
called = sorted(counts)
for pressed in called[:: int(sys.argv[1])]:
    counts.clear()
    try:
        kernel = compile_anew()
        assert pressed.startswith("LLVMPY_Dispose") or pressed not in counts, pressed
    except KeyboardInterrupt:
        pass
    gc.collect()
pressed = ""
print(len(called) > 20, compile_anew()(2) > 10)
"""


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.slow)])
def test_ctrl_c_after_any_function_of_llvm_leaves_the_compiler_in_one_piece(
    python, tmp_path, every
):
    """Raised between what LLVM has done and what Python knows of it, it had memory freed twice."""
    done = python(AFTER_EACH_FUNCTION, str(every), ICARUS_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr[-2000:]


# -------------------- `python -m tests.compiler.test_interrupts 1000 [SEED]` sends so many Ctrl-C in bunches, and prints what came of them


LUCK = random.Random(22)


_numbers = itertools.count(random.SystemRandom().getrandbits(60))


def compiled_anew():
    """MAST with a capture that nobody has compiled before."""
    number = next(_numbers)

    def capture_all(history, updates) -> None:
        for i in range(len(history.steps) - 1):
            update(updates, record(history.steps[i].action, number & 1), history.steps[i].player)

    return attrs.evolve(MAST, name="ANEW", capture=capture(capture_all))


@functools.cache
def othello() -> State:
    return games.load("othello").new_initial_state()


KINDS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda progress: search(othello(), BASELINE >> MAST, seconds=600, progress=progress),
    "two trees": lambda progress: search(
        othello(), BASELINE >> MAST, seconds=600, threads=2, progress=progress
    ),
    "compiling": lambda progress: search(
        othello(), compiled_anew(), seconds=600, progress=progress
    ),
}


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
    try:
        threading.Thread(target=press, args=(count, delay, done)).start()
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
    # compiles what is not to be compiled under the presses
    search(othello(), BASELINE >> MAST, iterations=50)
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
