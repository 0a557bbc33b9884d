"""Names for what Numba and LLVM hand to those who extend them: `Any`, since most versions that we run with have no types for it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

NumbaModule: TypeAlias = Any  # the module `numba`
NumbaType: TypeAlias = Any  # numba.core.types.Type: what the compiler takes a value for
Argument: TypeAlias = Any  # of an overload: a NumbaType outside, a value inside; Numba wants the two signatures alike
Signature: TypeAlias = Any  # numba.core.typing.templates.Signature: types of arguments and of the result
TypingContext: TypeAlias = Any  # numba.core.typing.context.BaseContext
TargetContext: TypeAlias = Any  # numba.core.base.BaseContext: how values lie in memory
Dispatcher: TypeAlias = Any  # numba.core.dispatcher.Dispatcher: a function with its compiled versions
CompileResult: TypeAlias = Any  # numba.core.compiler.CompileResult
CodeLibrary: TypeAlias = Any  # numba.core.codegen.CPUCodeLibrary: the code of a function with that of all it calls
# numba.core.annotations.type_annotations.TypeAnnotation: statements with the types of variables.
TypedFunction: TypeAlias = Any
Statement: TypeAlias = Any  # numba.core.ir.Stmt
Builder: TypeAlias = Any  # llvmlite.ir.IRBuilder: writes instructions
Target: TypeAlias = Any  # llvmlite.binding.Target: a processor
Value: TypeAlias = Any  # llvmlite.ir.Value: the result of an instruction
CodeGenerator: TypeAlias = Callable[[TargetContext, Builder, Signature, Sequence[Value]], Value]
Definition: TypeAlias = tuple[Signature, CodeGenerator]  # of an intrinsic
