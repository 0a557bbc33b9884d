"""What a command does before anything else is imported.

Ctrl-C ends one that only starts, without a word; there is nothing to lose yet. Numpy and scipy, which are asked for no linear algebra
worth a thread, begin no threads of OpenBLAS, one for each core in every process, which takes address space and numbers of processes.
"""

import os
import signal
import sys

COMMANDS = ("icarus", "experiments")


def is_command() -> bool:
    """Whether this process is `icarus`, `python -m icarus` or `python -m experiments`."""
    # What Python was given ends with sys.argv, whose first word now stands for the module or the script. A "-m" behind it is another's.
    interpreter_words = sys.orig_argv[: len(sys.orig_argv) - len(sys.argv) + 1]
    is_module = interpreter_words[-2:] in [["-m", name] for name in COMMANDS]
    return is_module or os.path.basename(sys.argv[0]) == COMMANDS[0]


def restore_interrupts() -> None:
    """Restore Python's handler of Ctrl-C, so that a command can save its work."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)


if is_command():
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
