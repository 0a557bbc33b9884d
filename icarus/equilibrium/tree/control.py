"""How far a compiled loop of iterations has come, and how Ctrl-C ends it: at the end of an iteration, with all that was learned."""

from collections.abc import Callable

import numpy as np

from icarus.compiler.interrupts import INTERRUPT_FLAG, listening
from icarus.compiler.kernels.atomic import atomic_load
from icarus.kernel import inlined
from icarus.kernel.contract import Fields

CONTROL = np.dtype(
    [
        ("iterations", np.int64),  # iterations, in all
        ("depth", np.int64),  # actions that the tree was gone through, at most
        ("interrupt_flag", np.int64),  # address of `interrupts.INTERRUPT_FLAG`
        ("flag_at_start", np.int64),  # what it was when the loop started; another value has the loop return
    ],
    align=True,
)


def new_control() -> np.ndarray:
    """[1] of CONTROL, of a loop that has made nothing yet."""
    control = np.zeros(1, CONTROL)
    control["interrupt_flag"] = INTERRUPT_FLAG.ctypes.data
    return control


@inlined
def is_interrupted(control: Fields) -> bool:
    """Whether the loop is to return."""
    return atomic_load(control.interrupt_flag) != control.flag_at_start


def run_interruptibly(control: np.ndarray, iterations: int, run: Callable[[int], object]) -> None:
    """Have a compiled loop make so many more iterations; Ctrl-C is raised after the one that it came in.

    Args:
        run: called with the iterations that are left; enters in `control` what it has made.
    """
    goal = int(control["iterations"][0]) + iterations
    with listening():
        while control["iterations"][0] < goal:
            control["flag_at_start"] = INTERRUPT_FLAG
            run(goal - int(control["iterations"][0]))
