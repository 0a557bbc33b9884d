"""Trials in a process of its own, where an end by a signal, or no end, is what is looked for."""

import os
import signal
import traceback
from collections.abc import Callable


def survive(trials: int, trial: Callable[[int], object], seconds: int) -> None:
    """Fail if a trial ends its process, does not end within so many seconds, or raises; its number is told."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        failed = 1  # whatever is raised ends here, and does not go on with the other tests in this process too
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            for number in range(trials):
                signal.alarm(seconds)
                os.write(writing, number.to_bytes(2, "big"))
                trial(number)
            failed = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(failed)
    os.close(writing)
    numbers = b"".join(iter(lambda: os.read(reading, 1 << 16), b""))
    _, status = os.waitpid(child, 0)
    os.close(reading)
    assert status == 0, f"trial {int.from_bytes(numbers[-2:], 'big')}: {status}"
