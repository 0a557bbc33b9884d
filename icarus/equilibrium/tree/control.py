"""How far a compiled loop of iterations has come, and how Ctrl-C ends it: at the end of an iteration, with all that was learned."""

from collections.abc import Callable

import numpy as np

from icarus.compiler.interrupts import INTERRUPT_FLAG, polled_interrupts
from icarus.kernel.structures import Address, structure


class Control:
    """How far a loop has come, and when it is to return."""

    iterations: int  # iterations, in all
    depth: int  # actions that the tree was gone through, at most
    interrupt_flag: Address  # of `interrupts.INTERRUPT_FLAG`
    flag_at_start: int  # what it was when the loop started; another value has the loop return


CONTROL = structure(Control)


def new_control() -> np.ndarray:
    """[1] of CONTROL, of a loop that has made nothing yet."""
    return np.zeros(1, CONTROL)


def run_interruptibly(control: np.ndarray, iterations: int, run: Callable[[int], object]) -> None:
    """Have a compiled loop make so many more iterations; Ctrl-C is raised after the one that it came in.

    Args:
        run: called with the iterations that are left; enters in `control` what it has made.
    """
    goal = int(control["iterations"][0]) + iterations
    control["interrupt_flag"] = INTERRUPT_FLAG.ctypes.data  # of this process; the control may come from another
    with polled_interrupts():
        while control["iterations"][0] < goal:
            control["flag_at_start"] = INTERRUPT_FLAG
            run(goal - int(control["iterations"][0]))
