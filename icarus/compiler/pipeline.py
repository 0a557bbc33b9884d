"""How the compiler goes to work: what is called from compiled functions only is optimized there, once, and not by itself as well.

Numba makes machine code of every function that it meets, with all that this one calls in it, and then again as a part of each caller.
Here the parts are only linked; what a caller from Python sees, a kernel, is optimized as a whole and made into machine code.
"""

import ctypes
from collections.abc import Callable

import llvmlite.binding as llvm
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.runtime import rtsys

from icarus.compiler.functions import CodeLibrary, Dispatcher, TargetContext, TypingContext
from icarus.compiler.kernel import handle_pending

_UNRESOLVED = ".numba.unresolved$"  # how the names of functions begin that call each other in a circle, which are linked in memory only
FOREIGN = ("Py", "_Py", "numba_", "NRT_", "nrt_")  # how the names of functions begin that only the compiler can provide


class _NoEnvironments:
    """In place of a code generator: parts are nowhere in memory, so there is nothing to be set in them."""

    def set_env(self, *arguments: object) -> None:
        """Nothing to be done."""


class Callee(JITCodeLibrary):
    """The code of a function with that of all it calls, neither optimized nor made into machine code."""

    codegen = _NoEnvironments()

    def add_linking_library(self, library: CodeLibrary) -> None:
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
        self._final_module.link_in(llvm.parse_assembly(_MEMORY + (_COUNTED if makes_arrays else _UNCOUNTED)))
        self._optimize_final_module()
        self._final_module.verify()
        return self._codegen._tm.emit_object(self._final_module)

    def stands_alone(self) -> bool:
        """Whether it needs nothing of the compiler when it runs: no recursion, no objects of Python's, no exception made of values."""
        module, process = self._final_module, ctypes.CDLL(None)
        called = [function.name for function in module.functions if function.is_declaration]
        is_recursive = any(variable.name.startswith(_UNRESOLVED) for variable in module.global_variables)
        return not (self._dynamic_globals or is_recursive) and all(
            name.startswith("llvm.") or (not name.startswith(FOREIGN) and hasattr(process, name)) for name in called
        )


# What the compiler would provide: memory for a while, as where an array is assigned to a part of another.
_MEMORY = """
declare ptr @malloc(i64)
declare void @free(ptr)
define weak_odr ptr @NRT_Allocate(i64 %size) alwaysinline {
  %block = call ptr @malloc(i64 %size)
  ret ptr %block
}
define weak_odr void @NRT_Free(ptr %block) alwaysinline {
  call void @free(ptr %block)
  ret void
}
"""
_ALLOCATE = "NRT_MemInfo_alloc_aligned"

# What makes no array meets none that is counted.
_UNCOUNTED = """
define weak_odr void @NRT_incref(ptr %counted) alwaysinline { ret void }
define weak_odr void @NRT_decref(ptr %counted) alwaysinline { ret void }
"""

# Arrays that are made and forgotten within one call, so of one thread: a count, two fields of the compiler's, the address of the data.
_COUNTED = """
define weak_odr ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %alignment) {
  %aligned = zext i32 %alignment to i64
  %before = add i64 %aligned, 48
  %all = add i64 %size, %before
  %block = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %made
made:
  %start = ptrtoint ptr %block to i64
  %past = add i64 %start, %before
  %mask = sub i64 0, %aligned
  %place = and i64 %past, %mask
  %data = inttoptr i64 %place to ptr
  store i64 1, ptr %block
  %field = getelementptr i64, ptr %block, i64 3
  store ptr %data, ptr %field
  br label %end
end:
  ret ptr %block
}
define weak_odr ptr @NRT_MemInfo_data_fast(ptr %block) alwaysinline {
  %field = getelementptr i64, ptr %block, i64 3
  %data = load ptr, ptr %field
  ret ptr %data
}
define weak_odr void @NRT_incref(ptr %block) alwaysinline {
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %counted
counted:
  %count = load i64, ptr %block
  %more = add i64 %count, 1
  store i64 %more, ptr %block
  br label %end
end:
  ret void
}
define weak_odr void @NRT_decref(ptr %block) alwaysinline {
  %none = icmp eq ptr %block, null
  br i1 %none, label %end, label %counted
counted:
  %count = load i64, ptr %block
  %fewer = sub i64 %count, 1
  store i64 %fewer, ptr %block
  %last = icmp eq i64 %fewer, 0
  br i1 %last, label %unused, label %end
unused:
  call void @free(ptr %block)
  br label %end
end:
  ret void
}
"""


class _CalleeCompiler(Compiler):
    """The compiler's usual passes over one function, ending in a `Callee`."""

    ENDING_IN: type[Callee] = Callee

    def __init__(self, typingctx: TypingContext, targetctx: TargetContext, library: CodeLibrary, *rest: object) -> None:
        handle_pending()
        super().__init__(typingctx, targetctx, library or self.ENDING_IN(targetctx.codegen(), "part"), *rest)


class _KernelCompiler(_CalleeCompiler):
    ENDING_IN = Whole


_NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
WITHIN: dict[str, object] = {**_NO_WRAPPERS, "pipeline_class": _CalleeCompiler}


def kernel_dispatcher(function: Callable, **options: object) -> Dispatcher:
    """A function as machine code that other machine code enters by its address."""
    njit: Dispatcher = numba.njit  # what makes one
    return njit(**options, **_NO_WRAPPERS, pipeline_class=_KernelCompiler)(function)
