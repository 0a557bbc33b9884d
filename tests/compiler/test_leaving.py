"""Ctrl-C ends a compiled call that hears no bell: a loop in a function of a game or slot."""

import os
import signal
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from icarus.compiler.debug import leaving
from icarus.compiler.kernels.atomic import atomic_load
from icarus.compiler.kernels.kernel import Entry
from icarus.compiler.kernels.pointers import array_at, call1

SOON = 60.0  # seconds, on a busy machine
_INT = np.dtype(np.int64)

pytestmark = pytest.mark.skipif(not leaving.POSSIBLE, reason="calls cannot be left on this system")


def turn(address: int) -> int:
    """For ever where the word at the address is 0."""
    while atomic_load(address) == 0:
        pass
    return atomic_load(address)


def take_memory_and_turn(address: int) -> int:
    """As `turn`, mostly in the C library."""
    while atomic_load(address) == 0:
        array_at(address, 1, _INT)[0] = np.zeros(1 + atomic_load(address)).sum()
    return atomic_load(address)


def call(address: int) -> int:
    """The entry whose address is the second word, with the first."""
    return call1(array_at(address, 2, _INT)[1], (address,))


def interrupted(work: Callable[[], object]) -> float:
    """The seconds from Ctrl-C to the KeyboardInterrupt in which some work ends."""
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    began = time.monotonic()
    timer.start()
    with pytest.raises(leaving.Left, match="turn did not return"):
        work()
    timer.join()
    return time.monotonic() - began - 0.3


@pytest.mark.parametrize("function", [turn, take_memory_and_turn])
def test_a_loop_in_compiled_code_ends_at_ctrl_c_and_can_be_called_again(function: Callable) -> None:
    entry = Entry(function, 1, function.__name__)
    word = np.ones(1, np.int64)
    assert entry(word.ctypes.data) == 1
    for _ in range(3):
        word[0] = 0
        assert interrupted(lambda: entry(word.ctypes.data)) < SOON
        word[0] = 7
        assert entry(word.ctypes.data) == 7


def test_a_loop_below_another_call_ends_too() -> None:
    inner, outer = Entry(turn, 1, "turn"), Entry(call, 1, "what calls turn")
    words = np.array([0, inner.address], np.int64)
    assert interrupted(lambda: outer(words.ctypes.data)) < SOON
    words[0] = 3
    assert outer(words.ctypes.data) == 3


def test_only_the_thread_that_is_meant_is_taken_back() -> None:
    entry, found = Entry(turn, 1, "turn"), dict[int, int]()
    words = [np.zeros(1, np.int64), np.zeros(1, np.int64)]

    def run(i: int) -> None:
        try:
            found[i] = entry(words[i].ctypes.data)
        except leaving.Left:
            found[i] = -1

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(2)]
    for thread in threads:
        thread.start()
    while len(leaving.under_way()) < 2:
        time.sleep(0.01)
    meant = {calls.thread: (calls, number) for calls, number in leaving.under_way()}
    assert leaving.leave(*meant[threads[0].ident or 0])
    threads[0].join(SOON)
    assert found == {0: -1}
    words[1][0] = 5
    threads[1].join(SOON)
    assert found == {0: -1, 1: 5}


def test_a_call_that_has_ended_is_not_left() -> None:
    entry, word = Entry(turn, 1, "turn"), np.ones(1, np.int64)
    entry(word.ctypes.data)
    calls = leaving.calls_of_thread()
    assert leaving.leave(calls, int(calls.words[2]))
    assert entry(word.ctypes.data) == 1


def look_up(place: int, words: int) -> int:
    """As `turn`, for as long as the system says nothing: it is made to its end."""
    while atomic_load(place) == 0:
        pass
    return words


def test_a_call_that_is_to_be_made_to_its_end_is_not_left() -> None:
    entry, word = Entry(look_up, 2, "whole", whole=True), np.zeros(1, np.int64)
    open_later = threading.Timer(3.0, word.__setitem__, (0, 1))
    press = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    for timer in (open_later, press):
        timer.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        entry(word.ctypes.data, 5)
    assert not isinstance(caught.value, leaving.Left)
    assert word[0] == 1


def test_a_call_is_not_left_where_ctrl_c_means_something_else() -> None:
    entry, word, heard = Entry(turn, 1, "turn"), np.zeros(1, np.int64), list[int]()
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        open_later = threading.Timer(3.0, word.__setitem__, (0, 1))
        press = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        for timer in (open_later, press):
            timer.start()
        assert entry(word.ctypes.data) == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.SIGINT]


def test_errors_of_what_is_called_come_through() -> None:
    def divide(dividend: int, divisor: int) -> int:
        return dividend // divisor

    def refuse(number: int, more: int) -> int:
        if number > 3:
            raise ValueError("no number of mine", number, more)
        return number

    divided, refused = Entry(divide, 2, "divide"), Entry(refuse, 2, "refuse")
    assert divided(-7, 2) == -4
    with pytest.raises(ZeroDivisionError):
        divided(1, 0)
    assert refused(3, 1) == 3
    for made_of in (4, 5):
        with pytest.raises(ValueError, match="no number of mine") as caught:
            refused(made_of, 2)
        assert caught.value.args == ("no number of mine", made_of, 2)
