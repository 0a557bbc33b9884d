"""Compilation: what Numba is asked for, machine code on disk, addresses and random numbers."""

from icarus.compiler.functions import *
from icarus.compiler.kernel import (
    UNPLACED,
    CompiledFunction,
    MachineCode,
    array_kernel,
    call_compiled,
    presses_as_one,
    uninterrupted,
)
from icarus.compiler.memory import *
from icarus.compiler.messages import *
from icarus.compiler.plain_python import *
from icarus.compiler.rng import *
