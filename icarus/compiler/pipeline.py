"""How the compiler goes to work: what is called from compiled functions only is optimized there, once, and not by itself as well.

Numba makes machine code of every function that it meets, with all that this one calls in it, and then again as a part of each caller.
Here the parts are only linked; what a caller from Python sees, a kernel, is optimized as a whole and made into machine code.
"""

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime import rtsys

from icarus.compiler.kernel import handle_pending

_UNRESOLVED = ".numba.unresolved$"  # how the names of functions begin that call each other in a circle, which are linked in memory only
# How the names of functions begin that only the compiler can provide.
FOREIGN = ("Py", "_Py", "numba_", "NRT_", "nrt_")


class _NoEnvironments:
    """In place of a code generator: parts are nowhere in memory, so there is nothing to be set in them."""

    def set_env(self, *arguments: object) -> None:
        """Nothing to be done."""


class Callee(JITCodeLibrary):
    """The code of a function with that of all it calls, neither optimized nor made into machine code."""

    codegen = _NoEnvironments()

    def add_linking_library(self, library: Any) -> None:
        """Have the code of a function that is called linked; counting of references is left to the whole."""
        if library is not rtsys.library:
            super().add_linking_library(library)

    def finalize(self) -> None:
        """Link the code of all that is called."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: it is nowhere in memory."""
        return 0


class Whole(Callee):
    """The code of a kernel with that of all it calls, which becomes machine code."""

    def machine_code(self) -> bytes:
        """The whole, optimized, as an object file."""
        self._ensure_finalized()
        makes_arrays = _ALLOCATE in [function.name for function in self._final_module.functions]
        files = ("memory.ll", "counted.ll" if makes_arrays else "uncounted.ll")
        text = "".join(Path(__file__).with_name(name).read_text() for name in files)
        self._final_module.link_in(llvm.parse_assembly(text))
        self._optimize_final_module()
        self._final_module.verify()
        return self._codegen._tm.emit_object(self._final_module)

    def stands_alone(self) -> bool:
        """Whether it needs nothing of the compiler when it runs: no recursion, no objects of Python's, no exception made of values."""
        module, process = self._final_module, ctypes.CDLL(None)
        called = [function.name for function in module.functions if function.is_declaration]
        is_recursive = any(
            variable.name.startswith(_UNRESOLVED) for variable in module.global_variables
        )
        return not (self._dynamic_globals or is_recursive) and all(
            name.startswith("llvm.") or (not name.startswith(FOREIGN) and hasattr(process, name))
            for name in called
        )


_ALLOCATE = "NRT_MemInfo_alloc_aligned"


class _CalleeCompiler(Compiler):
    """The compiler's usual passes over one function, ending in a `Callee`."""

    ENDING_IN: type[Callee] = Callee

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: object) -> None:
        handle_pending()
        super().__init__(
            typingctx, targetctx, library or self.ENDING_IN(targetctx.codegen(), "part"), *rest
        )


class _KernelCompiler(_CalleeCompiler):
    ENDING_IN = Whole


_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
WITHIN: dict[str, object] = {**_NO_WRAPPERS, "pipeline_class": _CalleeCompiler}


def kernel_dispatcher(function: Callable, **options: object) -> Any:
    """A function as machine code that other machine code enters by its address."""
    njit: Any = numba.njit  # what makes one
    return njit(**options, **_NO_WRAPPERS, pipeline_class=_KernelCompiler)(function)
