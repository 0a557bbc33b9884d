"""What icarus uses of numba and llvmlite beyond their documented interfaces: a new version is checked by this list first."""

import importlib
import importlib.metadata
import importlib.util
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT

INTERNALS = {  # by the module of icarus that uses them
    "digest": [
        "numba.core.config:BOUNDSCHECK",
        "numba.core.extending:_Intrinsic",
        "numba.core.imputils:builtin_registry.functions",
        "numba.core.typing.templates:builtin_registry.attributes",
        "numba.core.typing.templates:builtin_registry.globals",
        "numba.core.types:Dispatcher.dispatcher",
        "numba.core.ccallback:CFunc",
        "numba.np.ufunc.dufunc:DUFunc",
        "numba.np.ufunc.gufunc:GUFunc",
        "numba.experimental.jitclass.base:JitClassType",
        "numba.stencils.stencil:StencilFunc",
    ],
    "functions": ["numba.core.typing.templates:make_intrinsic_template"],
    "kernel": [
        "llvmlite.binding:create_mcjit_compiler",
        "llvmlite.binding:ObjectFileRef.from_data",
        "numba.core.compiler_lock:global_compiler_lock",
    ],
    "memory": ["numba.core.cgutils:if_unlikely", "numba.core.callconv:CPUCallConv.return_status_propagate"],
    "messages": ["numba.core.annotations.type_annotations:TypeAnnotation", "numba.core.ir:StaticSetItem"],
    "pipeline": [
        "llvmlite.binding:TargetMachine.emit_object",
        "numba.core.codegen:JITCodeLibrary._get_module_for_linking",
        "numba.core.codegen:JITCodeLibrary._optimize_final_module",
        "numba.core.codegen:JITCodeLibrary._raise_if_finalized",
        "numba.core.codegen:CPUCodeLibrary._finalize_dynamic_globals",
        "numba.core.compiler:Compiler",
        "numba.core.runtime:rtsys",
    ],
}


@pytest.mark.parametrize("internal", [internal for internals in INTERNALS.values() for internal in internals])
def test_this_version_of_the_compiler_has_what_icarus_uses(internal: str) -> None:
    module, _, path = internal.partition(":")
    value = importlib.import_module(module)
    for name in path.split("."):
        value = getattr(value, name)


def test_the_list_names_modules_of_the_compiler() -> None:
    assert all(importlib.util.find_spec(f"icarus.compiler.{module}") for module in INTERNALS)


def test_no_version_is_allowed_that_nobody_has_tried() -> None:
    (required,) = [
        requirement
        for requirement in map(
            Requirement, tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
        )
        if requirement.name == "numba"
    ]
    major, minor = (int(part) for part in importlib.metadata.version("numba").split(".")[:2])
    assert required.specifier.contains(f"{major}.{minor}.99")
    assert not required.specifier.contains(f"{major}.{minor + 1}.0")
