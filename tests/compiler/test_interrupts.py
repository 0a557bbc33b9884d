"""Ctrl-C that Python itself would lose."""

import os
import signal
import sys
import time

import pytest

from icarus.compiler.interrupts import listening

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
    with listening(), pytest.raises(KeyboardInterrupt):
        _Finalized(signal.SIGINT)
        time.sleep(SOON)
    assert time.monotonic() - began < SOON
    assert "Traceback" not in capfd.readouterr().err


def test_another_exception_of_a_finalizer_is_told_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(number: int, frame: object) -> None:
        raise ValueError("this is no Ctrl-C")

    told: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(str(lost.exc_value)))
    before = signal.signal(signal.SIGUSR1, fail)
    try:
        with listening():
            _Finalized(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert told == ["this is no Ctrl-C"]
