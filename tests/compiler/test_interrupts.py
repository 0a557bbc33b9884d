"""Ctrl-C: bunches of it, and what it must not meet."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from icarus.compiler.kernel import presses_as_one, uninterrupted
from tests.conftest import Python, environment

SOON = 10.0  # seconds


@pytest.mark.parametrize("presses", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_bunches_of_ctrl_c_hang_no_search_and_lose_no_result(presses: int) -> None:
    call = [sys.executable, "-m", "tests.compiler.bunches", str(presses)]
    done = subprocess.run(call, env=environment(), text=True, capture_output=True, timeout=900, check=False)
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout.splitlines()[-1])
    assert row["presses"] == presses and len(row["kept"]) == 3
    assert all(saved == searches for saved, searches in row["kept"].values()), row


def test_presses_within_a_second_count_as_one() -> None:
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


def test_a_handler_of_the_user_s_hears_what_is_held_back_at_the_end_of_the_block() -> None:
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
    python: Python, tmp_path: Path, every: int
) -> None:
    """Raised between what LLVM has done and what Python knows of it, it had memory freed twice."""
    done = python(AFTER_EACH_FUNCTION, str(every), ICARUS_CACHE_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (0, "True True\n"), done.stderr[-2000:]
