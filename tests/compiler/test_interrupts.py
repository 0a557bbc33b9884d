"""Ctrl-C: bunches of it, what Python itself would lose, and compiled code that does not return."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from icarus.compiler.interrupts import deferred_interrupts, polled_interrupts
from tests.conftest import Python, environment
from tests.marks import slow_after

SOON = 10.0  # seconds


class _Finalized:
    """A thing in whose finalizer a signal comes and is handled, if not there then nowhere."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __del__(self) -> None:
        os.kill(os.getpid(), self.number)
        for _ in range(1000):
            pass


def test_ctrl_c_in_a_finalizer_is_heard_after_it(capfd: pytest.CaptureFixture[str]) -> None:
    began = time.monotonic()
    with polled_interrupts(), pytest.raises(KeyboardInterrupt):
        _Finalized(signal.SIGINT)
        time.sleep(SOON)
    assert time.monotonic() - began < SOON
    assert "Traceback" not in capfd.readouterr().err


def test_another_exception_of_a_finalizer_is_told_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int, frame: object) -> None:
        raise ValueError("this is not a Ctrl-C")

    messages: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: messages.append(str(lost.exc_value)))
    before = signal.signal(signal.SIGUSR1, fail)
    try:
        with polled_interrupts():
            _Finalized(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert messages == ["this is not a Ctrl-C"]


@pytest.mark.parametrize("presses", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_bunches_of_ctrl_c_hang_no_search_and_lose_no_result(presses: int) -> None:
    call = [sys.executable, "-m", "tests.compiler.bunches", str(presses)]
    done = subprocess.run(call, env=environment(), text=True, capture_output=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout.splitlines()[-1])
    assert row["presses"] == presses and len(row["kept"]) == 4
    assert all(saved == searches for saved, searches in row["kept"].values()), row


def test_presses_within_a_second_count_as_one() -> None:
    with pytest.raises(KeyboardInterrupt), polled_interrupts():
        try:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(SOON)
        finally:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            ended = True
    assert ended
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_that_is_held_back_is_raised_at_the_end_of_the_block() -> None:
    ended = False
    with polled_interrupts(), pytest.raises(KeyboardInterrupt), deferred_interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
        ended = True
    assert ended


def test_a_handler_of_the_user_s_hears_what_is_held_back_at_the_end_of_the_block() -> None:
    signals: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: signals.append(number))
    try:
        with deferred_interrupts(), deferred_interrupts():
            os.kill(os.getpid(), signal.SIGINT)
            assert not signals
        assert signals == [signal.SIGINT]
    finally:
        signal.signal(signal.SIGINT, before)


AFTER_EACH_FUNCTION = """
import gc, itertools, os, signal, sys
import llvmlite.binding.ffi as ffi
from icarus.compiler.kernels.kernel import Kernel

table, numbers, counts = ffi.lib._fntab, itertools.count(5), {}

def compile_anew():
    number = next(numbers)
    return Kernel(lambda x: number * x, 1, "times")

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
    python: Python, tmp_path: Path, every: int
) -> None:
    """Raised between what LLVM has done and what Python knows of it, it had memory freed twice."""
    done = python(AFTER_EACH_FUNCTION, str(every), ICARUS_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr[-2000:]


STUCK = """
import os, signal, sys, threading, time
import attrs
from icarus import *
from tests.commands.test_contract import NIM

def apply(state, action):
    while state.left >= 0:
        state.mover = 1 - state.mover

def press():
    time.sleep(0.2)
    for _ in range(2):
        for _ in range(5):  # a bunch counts as one
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1.1)

state = attrs.evolve(NIM, name="stuck", apply=apply).new_initial_state(1)
search(NIM.new_initial_state(1), MAST, iterations=10)
state.game.kernels()
threading.Thread(target=press, daemon=True).start()
print("before", end="")
{call}
"""


@pytest.mark.parametrize(
    "call",
    slow_after(
        2,
        [
            "search(state, MAST, iterations=10)",
            "state.apply_action(1)",
            "search(state, MAST, iterations=10, threads=2)",
        ],
    ),
)
def test_the_second_ctrl_c_ends_the_process_where_a_function_does_not_return(python: Python, call: str) -> None:
    done = python(STUCK.format(call=call))
    assert (done.returncode, done.stdout) == (130, "before")
    assert done.stderr.splitlines() == [
        "icarus: still in compiled code; press Ctrl-C again to end the process",
        "icarus: ended by the second Ctrl-C: a function of a game or slot did not return",
    ]
