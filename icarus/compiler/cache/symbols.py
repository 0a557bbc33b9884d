"""Names of machine code that no two functions share, in whatever process they were compiled.

Numba ends the name of each compiled function with a number that counts within the process. Machine code that is kept on disk meets
that of other processes, and the linker takes the first function of a name for all of that name. So the number is drawn at random here:
96 bits, of the operating system, which differ in forked processes too. A name made from the source would be weaker: two functions of
one text may still differ in what they hold.
"""

import os
import re
import sys
from collections.abc import Iterator

from icarus.compiler.lazy import Lazy
from icarus.compiler.numba_types import CodeLibrary

BITS = 96
_NUMBER = re.compile(r"B(\d+)v(\d+)")  # as it stands in a name: the letter B, a length, the letter v and the number
_UNRESOLVED = ".numba.unresolved$"  # how the compiler begins the names of what it links later
_bytecode = Lazy("numba.core.bytecode")
_drawing: list[Iterator[int]] = []  # where numbers are drawn from, as soon as they are


def _draw() -> int:
    return 1 << BITS | int.from_bytes(os.urandom(BITS // 8))


def draw_numbers() -> None:
    """Have the compiler draw the numbers of its symbols."""
    if not _drawing:
        _drawing.append(iter(_draw, None))
        _bytecode.FunctionIdentity._unique_ids = _drawing[0]


if "numba" in sys.modules:
    draw_numbers()


def counted_names(library: CodeLibrary) -> Iterator[str]:
    """The names in a library whose numbers are not drawn: of functions that were compiled before this module was imported."""
    module = library._final_module
    for symbol in (*module.functions, *module.global_variables):
        for length, digits in _NUMBER.findall(symbol.name):
            if int(digits[: int(length) - 1]) >> BITS == 0:
                yield symbol.name


def unresolved_names(library: CodeLibrary) -> list[str]:
    """The names in a library of functions that call each other in a circle: the compiler links them later, and in memory only."""
    return [
        variable.name for variable in library._final_module.global_variables if variable.name.startswith(_UNRESOLVED)
    ]
