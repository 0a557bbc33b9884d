"""Compilation: no stale machine code after any edit, a cache that survives everything, and errors in one sentence."""

import gc
import inspect
import itertools
import json
import logging
import math
import multiprocessing
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from numba import njit
from numba import types as nb
from numba.core import config
from numba.core.bytecode import FunctionIdentity

from icarus import Enhancement, State, backpropagation, candidates, capture, search, values, weight
from icarus.algebra import argmax, gibbs
from icarus.compiler import digest
from icarus.compiler.cache import disk, symbols
from icarus.compiler.cache import lock as locks
from icarus.compiler.errors import CompilationError
from icarus.compiler.kernels import kernel as kernels
from icarus.compiler.kernels import pointers
from icarus.kernel import History, Theta, Updates, legal_at, record, update
from icarus.specs import BASELINE, MAST
from tests import toy
from tests.conftest import ROOT, Python
from tests.test_toy import after

pytestmark = pytest.mark.filterwarnings("ignore:First-class function type")


# --------------------------------------------------------------------------------- edits of what a function can reach, one by one


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of machine code for this test alone."""
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(disk, "cache_folder", lambda: cache)
    return cache


@pytest.fixture
def compilations() -> Iterator[list[str]]:
    """The names of what is compiled during the test."""
    names: list[str] = []
    end = disk.on_compile(names.append)
    yield names
    end()


def module(name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    """A module made from source, as a fresh process would find it in its file."""
    module_of_source = types.ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module_of_source)
    exec(compile(source, f"/nowhere/{name}.py", "exec"), module_of_source.__dict__)
    return module_of_source


def value_of(sources: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> int:
    """f(10) of the last module, compiled or loaded."""
    for name, source in sources.items():
        last_module = module(name, source, monkeypatch)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, last_module)
    return int(kernels.compiled(last_module.f, nb.int64(nb.int64), "f")(10))


HELPED = "from icarus.kernel import helper\n{}\n@helper\ndef g(x):\n    return {}\n"
FLAGGED = (
    "from numba import njit\n@njit(error_model={!r})\ndef g(x):\n    return 1.0 / (x - x)\n"
    "def f(x):\n    return 3 if g(x) > 1 else 4"
)
OVERLOADED = (
    "from numba.extending import overload\ndef g(x):\n    pass\n@overload(g)\ndef _g(x):\n"
    "    def body(x):\n        return {}\n    return body\ndef f(x):\n    return g(x)"
)
INTRINSIC = (
    "from numba import types\nfrom numba.extending import intrinsic\n@intrinsic\ndef g(context, x):\n"
    "    def codegen(context, builder, signature, arguments):\n        return builder.{}(arguments[0], arguments[0])\n"
    "    return types.int64(types.int64), codegen\ndef f(x):\n    return g(x)"
)
HOLDING = (
    "from numba import types\nfrom numba.extending import intrinsic\ndef make(k):\n    @intrinsic\n    def g(context, x):\n"
    "        def codegen(context, builder, signature, arguments):\n            return builder.add(arguments[0], arguments[0].type(k))\n"
    "        return types.int64(types.int64), codegen\n    return g\ng = make({})\ndef f(x):\n    return g(x)"
)
ALIASED = (
    "from icarus.kernel import helper\n@helper\ndef g(x):\n    return x + 1\n@helper\ndef h(x):\n    return x + 2\n"
)
DIVIDED_BY_ZERO = -1
# What is edited: the modules before, the modules after, and f(10) before and after.
EDITS: dict[str, tuple[dict[str, str], dict[str, str], int, int]] = {
    "the function itself": ({"m": "def f(x):\n    return x + 1"}, {"m": "def f(x):\n    return x - 1"}, 11, 9),
    "a literal": ({"m": "def f(x):\n    return x + 1"}, {"m": "def f(x):\n    return x + 2"}, 11, 12),
    "a constant": ({"m": "K = 1\ndef f(x):\n    return x + K"}, {"m": "K = 2\ndef f(x):\n    return x + K"}, 11, 12),
    "a tuple": (
        {"m": "K = (1, 2)\ndef f(x):\n    return x + K[1]"},
        {"m": "K = (1, 3)\ndef f(x):\n    return x + K[1]"},
        12,
        13,
    ),
    "an array": (
        {"m": "import numpy as np\nK = np.array([1, 2])\ndef f(x):\n    return x + K[1]"},
        {"m": "import numpy as np\nK = np.array([1, 4])\ndef f(x):\n    return x + K[1]"},
        12,
        14,
    ),
    "a helper": (
        {"m": HELPED.format("", "x * 2") + "def f(x):\n    return g(x)"},
        {"m": HELPED.format("", "x * 3") + "def f(x):\n    return g(x)"},
        20,
        30,
    ),
    "a constant of a helper": (
        {"m": HELPED.format("K = 5", "x + K") + "def f(x):\n    return g(x)"},
        {"m": HELPED.format("K = 6", "x + K") + "def f(x):\n    return g(x)"},
        15,
        16,
    ),
    "a helper of a helper": (
        {"m": HELPED.format("", "x + 1") + "@helper\ndef h(x):\n    return g(x)\ndef f(x):\n    return h(x)"},
        {"m": HELPED.format("", "x + 7") + "@helper\ndef h(x):\n    return g(x)\ndef f(x):\n    return h(x)"},
        11,
        17,
    ),
    "a default": (
        {"m": HELPED.format("", "x + k").replace("g(x)", "g(x, k=1)") + "def f(x):\n    return g(x)"},
        {"m": HELPED.format("", "x + k").replace("g(x)", "g(x, k=8)") + "def f(x):\n    return g(x)"},
        11,
        18,
    ),
    "a helper in another module": (
        {"n": HELPED.format("", "x * 2"), "m": "from n import g\ndef f(x):\n    return g(x)"},
        {"n": HELPED.format("", "x * 5"), "m": "from n import g\ndef f(x):\n    return g(x)"},
        20,
        50,
    ),
    "a helper by the name of its module": (
        {"n": HELPED.format("", "x * 2"), "m": "import n\ndef f(x):\n    return n.g(x)"},
        {"n": HELPED.format("", "x * 5"), "m": "import n\ndef f(x):\n    return n.g(x)"},
        20,
        50,
    ),
    "a constant by the name of its module": (
        {"n": "K = 1", "m": "import n\ndef f(x):\n    return x + n.K"},
        {"n": "K = 2", "m": "import n\ndef f(x):\n    return x + n.K"},
        11,
        12,
    ),
    "what a closure holds": (
        {"m": "def make(k):\n    def f(x):\n        return x + k\n    return f\nf = make(1)"},
        {"m": "def make(k):\n    def f(x):\n        return x + k\n    return f\nf = make(2)"},
        11,
        12,
    ),
    "a function inside the function": (
        {"m": "def f(x):\n    def g(y):\n        return y + 1\n    return g(x)"},
        {"m": "def f(x):\n    def g(y):\n        return y + 2\n    return g(x)"},
        11,
        12,
    ),
    "a folder of modules": (
        {"p": "", "p.n": HELPED.format("", "x * 2"), "m": "import p.n\ndef f(x):\n    return p.n.g(x)"},
        {"p": "", "p.n": HELPED.format("", "x * 5"), "m": "import p.n\ndef f(x):\n    return p.n.g(x)"},
        20,
        50,
    ),
    "an enumeration": (
        {"m": "import enum\nclass K(enum.IntEnum):\n    A = 1\ndef f(x):\n    return x + K.A"},
        {"m": "import enum\nclass K(enum.IntEnum):\n    A = 2\ndef f(x):\n    return x + K.A"},
        11,
        12,
    ),
    "a module whose name begins like numpy's": (
        {"numpy_of_mine": HELPED.format("", "x * 2"), "m": "from numpy_of_mine import g\ndef f(x):\n    return g(x)"},
        {"numpy_of_mine": HELPED.format("", "x * 5"), "m": "from numpy_of_mine import g\ndef f(x):\n    return g(x)"},
        20,
        50,
    ),
    "a tuple of helpers": (
        {"m": HELPED.format("", "x * 2") + "K = (g,)\ndef f(x):\n    return K[0](x)"},
        {"m": HELPED.format("", "x * 5") + "K = (g,)\ndef f(x):\n    return K[0](x)"},
        20,
        50,
    ),
    "a member of an enumeration": (
        {"m": "import enum\nclass C(enum.Enum):\n    A = 1\n    B = 2\nK = C.A\ndef f(x):\n    return x + K.value"},
        {"m": "import enum\nclass C(enum.Enum):\n    A = 1\n    B = 2\nK = C.B\ndef f(x):\n    return x + K.value"},
        11,
        12,
    ),
    "the value of a member": (
        {"m": "import enum\nclass C(enum.Enum):\n    A = 1\nK = C.A\ndef f(x):\n    return x + K.value"},
        {"m": "import enum\nclass C(enum.Enum):\n    A = 5\nK = C.A\ndef f(x):\n    return x + K.value"},
        11,
        15,
    ),
    "an enumeration that is not an integer": (
        {"m": "import enum\nclass C(enum.Enum):\n    A = 1\ndef f(x):\n    return x + C.A.value"},
        {"m": "import enum\nclass C(enum.Enum):\n    A = 5\ndef f(x):\n    return x + C.A.value"},
        11,
        15,
    ),
    "another name of a member": (
        {"m": "import enum\nclass C(enum.IntEnum):\n    A = 1\n    B = 2\n    N = 1\ndef f(x):\n    return x + C.N"},
        {"m": "import enum\nclass C(enum.IntEnum):\n    A = 1\n    B = 2\n    N = 2\ndef f(x):\n    return x + C.N"},
        11,
        12,
    ),
    "the body of an overload": ({"m": OVERLOADED.format("x * 2")}, {"m": OVERLOADED.format("x * 3")}, 20, 30),
    "the body of an intrinsic": ({"m": INTRINSIC.format("add")}, {"m": INTRINSIC.format("sub")}, 20, 0),
    "what an intrinsic holds": ({"m": HOLDING.format(2)}, {"m": HOLDING.format(3)}, 12, 13),
    "a helper in a tuple in a tuple": (
        {"m": HELPED.format("", "x * 2") + "K = ((g,),)\ndef f(x):\n    return K[0][0](x)"},
        {"m": HELPED.format("", "x * 5") + "K = ((g,),)\ndef f(x):\n    return K[0][0](x)"},
        20,
        50,
    ),
    "which helper a global name means": (
        {"m": ALIASED + "z = g\ndef f(x):\n    return g(x) + h(x) + z(x)"},
        {"m": ALIASED + "z = h\ndef f(x):\n    return g(x) + h(x) + z(x)"},
        34,
        35,
    ),
    "which function of numpy a name means": (
        {"m": "from numpy import add as k\ndef f(x):\n    return k(x, 2)"},
        {"m": "from numpy import subtract as k\ndef f(x):\n    return k(x, 2)"},
        12,
        8,
    ),
    "which module a name means": (
        {
            "n": HELPED.format("", "x * 2"),
            "o": HELPED.format("", "x * 5"),
            "m": "import n as k\ndef f(x):\n    return k.g(x)",
        },
        {
            "n": HELPED.format("", "x * 2"),
            "o": HELPED.format("", "x * 5"),
            "m": "import o as k\ndef f(x):\n    return k.g(x)",
        },
        20,
        50,
    ),
    "the flags of a helper": ({"m": FLAGGED.format("numpy")}, {"m": FLAGGED.format("python")}, 3, DIVIDED_BY_ZERO),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_anything_that_a_function_reaches_never_runs_stale_code(
    edit: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, after_it, first, second = EDITS[edit]
    assert value_of(before, monkeypatch) == first
    try:
        assert value_of(after_it, monkeypatch) == second
    except ZeroDivisionError:
        assert second == DIVIDED_BY_ZERO


@pytest.mark.parametrize(
    "edit",
    [  # every other one each time
        pytest.param(edit, marks=[pytest.mark.slow] * (i % 2))
        for i, edit in enumerate(EDITS)
        if edit != "the flags of a helper"
    ],
)
def test_what_was_not_edited_is_not_compiled_again(
    edit: str, folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    sources, _, first, _ = EDITS[edit]
    assert value_of(sources, monkeypatch) == first
    assert compilations == ["f"]
    assert value_of(sources, monkeypatch) == first
    assert compilations == ["f"]


ATTRIBUTE = """
import numpy as np
from numba import types
from numba.extending import overload_attribute
from icarus.compiler.digest import digest

@overload_attribute(types.Array, "size_of_mine")
def _size(array):
    def body(array):
        return {}
    return body

def f(x):
    return x + np.zeros(3).size_of_mine

print(digest(f))
"""


@pytest.mark.parametrize(
    ("decorator", "use"),
    [
        ("@vectorize\ndef g(x):\n    return x", "g(x)"),
        ("@guvectorize('void(i8[:], i8[:])', '(n)->(n)')\ndef g(a, b):\n    pass", "g(np.zeros(x, np.int64))[0]"),
        ("@stencil\ndef g(a):\n    return a[0]", "g(np.full(3, x))[1]"),
        ("@cfunc('i8(i8)')\ndef g(x):\n    return x", "g(x)"),
        ("@jitclass([('x', int64)])\nclass g:\n    def __init__(self, x):\n        self.x = x", "g(x).x"),
    ],
)
def test_what_the_digest_does_not_follow_is_refused(decorator: str, use: str, monkeypatch: pytest.MonkeyPatch) -> None:
    imports = "import numpy as np\nfrom numba import cfunc, guvectorize, int64, stencil, vectorize\n"
    imports += "from numba.experimental import jitclass\n"
    with pytest.raises(TypeError, match=f"g is made by {decorator.split('(')[0].split(chr(10))[0]}, which"):
        value_of({"m": f"{imports}{decorator}\ndef f(x):\n    return {use}"}, monkeypatch)


def one_more(x: int) -> int:
    return x + 1


def test_no_garbage_is_looked_for_while_the_compiler_works(folder: Path) -> None:
    looked: list[bool] = []
    end = disk.on_compile(lambda name: looked.append(gc.isenabled()))
    assert kernels.Kernel(one_more, 1, "one more")(2) == 3
    end()
    assert looked == [False] and gc.isenabled()


def test_an_edit_of_an_overloaded_attribute_is_seen(python: Python) -> None:
    two, again, three = (python(ATTRIBUTE.format(k)).stdout for k in (2, 2, 3))
    assert two == again != three != ""


INDEXING = "import numpy as np\nK = np.array([1, 2])\ndef f(x):\n    return K[x // 5]"


def test_code_without_bounds_checks_is_not_run_where_the_compiler_is_told_to_check(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    value_of({"m": INDEXING}, monkeypatch)
    monkeypatch.setattr(config, "BOUNDSCHECK", 1)
    with pytest.raises(IndexError):
        value_of({"m": INDEXING}, monkeypatch)
    assert compilations == ["f", "f"]


def test_a_comment_and_the_place_in_the_file_are_no_edit(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    value_of({"m": "def f(x):\n    return x + 1"}, monkeypatch)
    assert value_of({"m": "# a comment\n\n\ndef f(x):\n    # another\n    return x + 1"}, monkeypatch) == 11
    assert compilations == ["f"]


# --------------------------------------------------------------------------------------------------------- the cache itself


FORK = multiprocessing.get_context("fork")


def start_fork(work: Callable[[], Any]) -> Callable[[], Any]:
    """Begin some work in a copy of this process; what is returned waits for its outcome."""
    receiver, sender = FORK.Pipe(duplex=False)
    process = FORK.Process(target=lambda: sender.send(work()))
    process.start()
    sender.close()  # so that the end of a process that has failed is noticed

    def outcome() -> Any:
        try:
            return receiver.recv()
        finally:
            process.join()
            receiver.close()

    return outcome


FACTORY = """
from icarus.kernel import helper

def make(k):
    @helper
    def large(x):  # too large to be copied into its caller
        total = 0
        for i in range(x):
            for j in range(i):
                if i * j % 7 == 3:
                    total += i ^ j
                elif i * j % 11 == 5:
                    total -= i | j
                else:
                    total += i * j % 13
        for i in range(x):
            total += total % (i + 2) if total % 3 == 0 else total // (i + 1)
        return total * 1000 + k

    def call(x):
        return large(x) + large(x + 1)

    return call
"""


def test_functions_of_one_factory_compiled_by_two_processes_stay_apart_in_a_third(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = module("factory", FACTORY, monkeypatch).make

    def outputs_of(*numbers: int) -> Any:
        return start_fork(lambda: [kernels.compiled(make(k), nb.int64(nb.int64), "call")(9) % 1000 for k in numbers])()

    assert outputs_of(11) == [22]
    assert outputs_of(22) == [44]
    assert outputs_of(22, 11, 33) == [44, 22, 66]


def test_of_processes_that_need_the_same_at_once_one_compiles(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    f, gate = module("m", EDITS["a helper"][0]["m"], monkeypatch).f, FORK.Barrier(2)

    def work() -> Any:
        gate.wait()
        return kernels.Kernel(f, 1, "f")(10), kernels.compiled(f, nb.int64(nb.int64), "g")(10), compilations

    answers = [outcome() for outcome in [start_fork(work) for _ in range(2)]]
    assert [values for *values, _ in answers] == [[20, 20]] * 2
    assert sorted(name for *_, names in answers for name in names) == ["f", "g"]
    assert not list(folder.glob("**/*.lock"))


def test_a_lock_is_freed_by_the_death_of_its_process_and_by_an_error(tmp_path: Path, python: Python) -> None:
    path = tmp_path / "f.lock"
    holding = (
        "import os, pathlib, sys\nfrom icarus.compiler.cache.lock import lock\n"
        "with lock(pathlib.Path(sys.argv[1])):\n    os.kill(os.getpid(), 9)"
    )
    assert python(holding, str(path)).returncode == -signal.SIGKILL and path.exists()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt), locks.lock(path):
        raise KeyboardInterrupt
    with locks.lock(path):
        assert path.exists()
    assert time.monotonic() - start < locks.PATIENCE / 2 and not path.exists()


def test_a_lock_that_somebody_holds_for_ever_delays_and_stops_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(locks, "PATIENCE", 0.2)
    path, before = tmp_path / "f.lock", time.monotonic()
    with locks.lock(path), locks.lock(path):
        assert 0.2 < time.monotonic() - before
    with locks.lock(tmp_path / "nowhere" / "f.lock"), locks.lock(None):
        pass


def test_a_forked_child_that_lives_on_holds_no_lock_of_its_parent(tmp_path: Path) -> None:
    path = tmp_path / "f.lock"
    with locks.lock(path):
        if (child := os.fork()) == 0:
            signal.pause()
            os._exit(0)
    try:
        start = time.monotonic()
        with locks.lock(path):
            assert time.monotonic() - start < locks.PATIENCE / 2
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


CELLS = '''
import json, sys
from numba import types
from icarus.compiler.kernels.kernel import compiled
from icarus.kernel import helper

CELL = """
@helper
def large(x):  # too large to be copied into its caller
    total = 0
    for i in range(x):
        for j in range(i):
            if i * j % 7 == 3:
                total += i ^ j
            elif i * j % 11 == 5:
                total -= i | j
            else:
                total += i * j % 13
    return total * 1000 + K

def call(x):
    return large(x) + large(x + 1)
"""

def run(k):
    exec(compile(CELL.replace("K", k), "<cell 1>", "exec"), globals())
    return compiled(call, types.int64(types.int64), "call")(9) % 1000

json.dump([run(k) for k in sys.argv[1:]], sys.stdout)
'''


@pytest.mark.slow
def test_a_cell_of_a_notebook_edited_and_undone_is_what_stands_there(python: Python, tmp_path: Path) -> None:
    for typed in (["11"], ["22", "33", "22", "11"]):  # each in a process of its own
        done = python(CELLS, *typed, ICARUS_CACHE_DIR=str(tmp_path))
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == [2 * int(k) for k in typed]


def test_the_number_in_a_symbol_is_drawn_and_differs_in_forked_processes() -> None:
    drawn = [next(FunctionIdentity._unique_ids) for _ in range(100)]
    assert len(set(drawn)) == 100 and min(drawn) >> symbols.BITS == 1
    parent, child = os.pipe()
    if (process := os.fork()) == 0:
        os.write(child, str(next(FunctionIdentity._unique_ids)).encode())
        os._exit(0)
    os.waitpid(process, 0)
    assert int(os.read(parent, 100)) != next(FunctionIdentity._unique_ids)


def test_code_that_holds_a_symbol_by_a_counter_is_not_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as before_the_import:
        before_the_import.setattr(FunctionIdentity, "_unique_ids", itertools.count(1))
        assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert list(folder.iterdir()) == []
    assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert len(list(folder.iterdir())) == 1


def test_each_of_eight_threads_gets_the_address_of_its_own_function(folder: Path) -> None:
    def adder(k: int) -> Callable[[int], int]:
        return lambda x: x + k

    @njit
    def called(address: int, x: int) -> Any:
        return pointers.call1(address, (x,))

    gate = threading.Barrier(8)

    def work(thread: int) -> list[tuple[int, kernels.Kernel]]:
        gate.wait()
        return [(k, kernels.Kernel(adder(k), 1, "made")) for k in range(100 * thread, 100 * thread + 6)]

    with ThreadPoolExecutor(8) as pool:
        pairs_of_all = [pair for pairs in pool.map(work, range(8)) for pair in pairs]
    assert [called(kernel.address, 1000) for _, kernel in pairs_of_all] == [1000 + k for k, _ in pairs_of_all]


LOADED_AT_ONCE = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from icarus import MAST
from icarus.compiler.digest import digest
from icarus.compiler.kernels.functions import compiler
from icarus.compiler.lazy import Lazy
sys.setswitchinterval(1e-5)
names = [
    ("numba.core.types", "int64"),
    ("numba.core.typing.templates", "signature"),
    ("numba.core.errors", "NumbaError"),
    ("icarus.compiler.kernels.pipeline", "Part"),
]
gate = threading.Barrier(6)
def work(k):
    gate.wait()
    if k < 4:
        getattr(Lazy(names[k][0]), names[k][1])
    elif k == 4:
        compiler()
    while k == 5 and not digest(MAST.capture.function) or k == 5 and "numba.core.typing" not in sys.modules:
        pass
assert "numba" not in sys.modules
with ThreadPoolExecutor(6) as pool:
    for f in [pool.submit(work, k) for k in range(6)]: f.result()
print("done")
"""


def test_threads_that_load_the_compiler_at_once_wait_for_each_other(python: Python, tmp_path: Path) -> None:
    done = python(LOADED_AT_ONCE, ICARUS_CACHE_DIR=str(tmp_path))
    assert done.stdout == "done\n", done.stderr


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: b"\x80\x05garbage",
        lambda data: b"None",
        lambda data: flipped(data, 3 * len(data) // 4),
    ],
    ids=["empty", "half", "noise", "None", "a bit"],
)
def test_a_torn_file_is_compiled_anew_and_repaired(
    damage: Callable[[bytes], bytes], folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    sources = EDITS["a helper"][0]
    value_of(sources, monkeypatch)
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert value_of(sources, monkeypatch) == 20
    assert compilations == ["f", "f"]
    assert value_of(sources, monkeypatch) == 20
    assert compilations == ["f", "f"]
    assert list(folder.iterdir()) == [file]


def flipped(data: bytes, place: int) -> bytes:
    """The same with one bit another."""
    return data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :]


def test_each_flipped_bit_is_noticed_before_anything_is_made_of_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    value_of(EDITS["a helper"][0], monkeypatch)
    (file,) = folder.iterdir()
    whole, key = file.read_bytes(), file.stem.rpartition("-")[2]
    cache = disk.File("f", key)
    for place in np.linspace(0, len(whole) - 1, 300).astype(int):
        file.write_bytes(flipped(whole, place))
        with pytest.raises(ValueError, match="is damaged"):
            cache._content(file)
    file.write_bytes(whole)
    assert cache._content(file) == whole[32:]


def test_the_file_of_another_function_under_this_ones_name_is_compiled_anew(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    value_of(EDITS["a helper"][0], monkeypatch)
    (file,) = folder.iterdir()
    content = file.read_bytes()
    file.unlink()
    value_of(EDITS["a helper"][1], monkeypatch)
    (file,) = folder.iterdir()
    file.write_bytes(content)
    assert value_of(EDITS["a helper"][1], monkeypatch) == 30
    assert compilations == ["f"] * 3


def test_what_another_user_could_have_written_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    value_of(EDITS["a helper"][0], monkeypatch)
    (file,) = folder.iterdir()
    file.chmod(0o666)
    assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert compilations == ["f", "f"] and f"other users may write to {file}" in caplog.text
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with monkeypatch.context() as somebody:
        somebody.setattr(os, "geteuid", lambda: 12345)
        assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert compilations == ["f", "f", "f"] and f"{file} belongs to user {os.getuid()}, not to user 12345" in caplog.text
    file.rename(folder / "elsewhere")
    file.symlink_to(folder / "elsewhere")
    assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert compilations == ["f"] * 4 and not file.is_symlink()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_root_reads_no_machine_code_of_other_users(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    value_of(EDITS["a helper"][0], monkeypatch)
    (file,) = folder.iterdir()
    os.chown(file, 12345, -1)
    assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert compilations == ["f", "f"] and f"{file} belongs to user 12345, not to user 0" in caplog.text
    assert file.stat().st_uid == 0


def test_the_folder_is_private_and_a_strangers_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ICARUS_CACHE_DIR", str(tmp_path / "cache"))
    cache_folder = disk.cache_folder.__wrapped__()
    assert stat.S_IMODE(cache_folder.stat().st_mode) == stat.S_IMODE(cache_folder.parent.stat().st_mode) == 0o700
    cache_folder.chmod(0o755)
    assert disk.cache_folder.__wrapped__() == cache_folder and stat.S_IMODE(cache_folder.stat().st_mode) == 0o700
    cache_folder.chmod(0o770)
    assert disk.cache_folder.__wrapped__() is None and "other users may write to" in caplog.text
    cache_folder.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert disk.cache_folder.__wrapped__() is None
    assert "belongs to user" in caplog.text and "set ICARUS_CACHE_DIR to a directory of your own" in caplog.text
    cache_folder.rmdir()
    cache_folder.symlink_to(tmp_path)
    assert disk.cache_folder.__wrapped__() is None and "is neither a file nor a directory" in caplog.text


def test_a_folder_that_vanished_costs_the_file_and_not_the_result(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(folder)
    with caplog.at_level(logging.WARNING):
        assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert "machine code of f is not kept" in caplog.text


def test_without_a_folder_everything_is_compiled_each_time(
    monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    monkeypatch.setattr(disk, "cache_folder", lambda: None)
    assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert value_of(EDITS["a helper"][0], monkeypatch) == 20
    assert compilations == ["f", "f"]


def test_the_folder_is_the_one_that_the_environment_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICARUS_CACHE_DIR", str(tmp_path / "named"))
    assert disk.cache_root() == tmp_path / "named"
    assert disk.cache_folder.__wrapped__() == tmp_path / "named" / digest.PACKAGE_DIGEST
    monkeypatch.delenv("ICARUS_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert disk.cache_root() == tmp_path / "xdg" / "icarus"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert disk.cache_root() == tmp_path / ".cache" / "icarus"


def aged(folder: Path, days: float) -> Path:
    folder.mkdir(parents=True)
    (folder / f"something-{'0' * 24}.bin").write_bytes(b"old")
    os.utime(folder, (time.time() - days * 86400,) * 2)
    return folder


def test_machine_code_of_versions_that_nobody_uses_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICARUS_CACHE_DIR", str(tmp_path))
    unused, recent = (
        aged(tmp_path / ("0" * 16), disk.UNUSED_DAYS + 1),
        aged(tmp_path / ("f" * 16), disk.UNUSED_DAYS - 1),
    )
    current = disk.cache_folder.__wrapped__()
    assert not unused.exists() and recent.exists() and current.exists()


def test_folders_that_hold_no_machine_code_are_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICARUS_CACHE_DIR", str(tmp_path))
    photographs = aged(tmp_path / "photographs", disk.UNUSED_DAYS + 1)
    disk.cache_folder.__wrapped__()
    assert photographs.exists()


def test_nothing_but_machine_code_of_our_own_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ICARUS_CACHE_DIR", str(tmp_path / "cache"))
    old = disk.UNUSED_DAYS + 1
    mixed, elsewhere = aged(tmp_path / "cache" / ("0" * 16), old), aged(tmp_path / "photographs", old)
    (mixed / "letter.txt").write_text("dear")
    (mixed / "below").mkdir()
    os.utime(mixed, (time.time() - old * 86400,) * 2)
    (tmp_path / "cache" / ("1" * 16)).symlink_to(elsewhere)
    (tmp_path / "cache" / ("2" * 16)).write_text("a file")
    disk.cache_folder.__wrapped__()
    assert sorted(file.name for file in mixed.iterdir()) == ["below", "letter.txt"]
    assert len(list(elsewhere.iterdir())) == 1
    assert (tmp_path / "cache" / ("1" * 16)).is_symlink() and (tmp_path / "cache" / ("2" * 16)).exists()
    strangers = aged(tmp_path / "cache" / ("3" * 16), old)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    disk._clean(strangers)
    assert len(list(strangers.iterdir())) == 1


def test_a_listener_is_told_until_it_ends(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []
    end = disk.on_compile(names.append)
    value_of(EDITS["a literal"][0], monkeypatch)
    end()
    value_of(EDITS["a literal"][1], monkeypatch)
    assert names == ["f"]


# ------------------------------------------------------------------------------------- kernels: machine code without the compiler

RAISING = """
from icarus.kernel import helper
@helper
def g(x):
    if x > 2:
        raise {}
    return x
def f(x):
    return g(x) + 1
"""


def entry_of(source: str, monkeypatch: pytest.MonkeyPatch) -> kernels.Kernel:
    return kernels.Kernel(module("m", source, monkeypatch).f, 1, "f")


def test_an_exception_of_machine_code_is_raised_with_the_line_that_raised_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):  # as compiled, and from the disk
        kernel = entry_of(RAISING.format('ValueError("more than", 2)'), monkeypatch)
        assert kernel(2) == 3
        with pytest.raises(ValueError, match="more than") as raised:
            kernel(5)
        last = traceback.extract_tb(raised.tb)[-1]
        assert (raised.value.args, Path(last.filename).name, last.lineno) == (("more than", 2), "m.py", 6)


def test_an_exception_made_of_what_was_met_is_raised_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="more than") as raised:
        entry_of(RAISING.format('ValueError("more than", x)'), monkeypatch)(5)
    assert raised.value.args == ("more than", 5)


RECURSION = """
from icarus.kernel import helper
@helper
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)
@helper
def is_even(n):
    return True if n == 0 else is_odd(n - 1)
@helper
def is_odd(n):
    return False if n == 0 else is_even(n - 1)
def f(x):
    return 2 * fibonacci(x) + (1 if is_even(x) else 0)
"""


def test_functions_may_call_themselves_and_each_other(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):  # as compiled, and from the disk
        assert entry_of(RECURSION, monkeypatch)(20) == 2 * 6765 + 1


@pytest.mark.slow
def test_mutual_recursion_is_called_right_in_the_next_process_too(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(RECURSION)
    call = "from icarus.compiler.kernels.kernel import Kernel; import m; print(Kernel(m.f, 1, 'f')(20))"
    changed = {
        **os.environ,
        "ICARUS_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)]),
    }
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", call], env=changed, text=True, capture_output=True, check=False)
        assert done.stdout.strip() == str(2 * 6765 + 1), done.stderr


ARRAYS = {
    "an array": "import numpy as np\ndef f(x):\n    return np.full(x, 3).sum()",
    "an array from a helper": "from icarus.kernel import helper\nimport numpy as np\n@helper\ndef g(x):\n"
    "    array = np.full(x, 3)\n    return array[1:], array\ndef f(x):\n    part, array = g(x)\n    return part.sum() + array[0]",
}


@pytest.mark.parametrize("body", ARRAYS.values(), ids=ARRAYS)
def test_an_array_made_on_the_way_needs_no_compiler_and_is_forgotten(
    body: str, folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    kernel, again = (entry_of(body, monkeypatch) for _ in range(2))
    assert kernel(20) == again(20) == 60
    assert compilations == ["f"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        kernel(1_000_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 50_000  # kB; each array has 8 MB


def test_what_needs_the_compiler_when_it_runs_has_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    body = 'def f(x):\n    print("twenty is", x)\n    return 3 * x'
    assert [entry_of(body, monkeypatch)(20) for _ in range(2)] == [60, 60]
    assert compilations == [
        "f",
        "f",
    ]  # as machine code that stands alone, which it cannot be, and as it can; then nothing


# --------------------------------------------------------------------------------------------- a whole copy of the package

MINE = '''
"""An enhancement of one's own, with a helper in another file."""
import attrs
from icarus import backpropagation, capture
from icarus.kernel import update
from icarus.specs import MAST
from other import bonus

@capture
def capture_everything(history, updates):
    """⟨(1, 0)⟩ for each action"""
    for i in range(len(history.steps) - 1):
        update(updates, 1, 0)

@backpropagation
def backpropagate(stats, context, rewards):
    """(q, n + bonus)"""
    stats.visits += bonus(1)

MINE = attrs.evolve(MAST, name="MINE", capture=capture_everything, backpropagation=backpropagate)
'''
OTHER = """
from icarus.kernel import helper

@helper
def bonus(n):
    return n
"""
WHOLE = """
import json, sys
from icarus import games, search
from icarus.compiler.cache import disk
from icarus.specs import BASELINE, LGR, MAST
from mine import MINE
names = []
disk.on_compile(names.append)
state = games.load("othello").new_initial_state()
result = search(state, BASELINE >> (MAST + LGR + MINE)/3, iterations=600, seed=3)  # tables grow
first = list(names)
search(state, LGR >> (BASELINE + MINE)/2 >> MAST, iterations=5, seed=3)
json.dump({"file": sys.modules["icarus"].__file__, "compiled": first, "then": names[len(first):], "actions": list(result.actions),
           "steps": sum(result.phase_steps.values()), "mast": int(result.records["MAST"].rows["visits"].sum()),
           "mine": int(result.records["MINE"].rows["visits"].sum()), "lgr": len(result.records["LGR"]),
           "visits": result.visits.tolist(), "loaded": "numba" in sys.modules}, sys.stdout)
"""


class Copy:
    """A copy of the package with a cache of its own, which begins as a copy of the one in use."""

    def __init__(self, root: Path, python: Python) -> None:
        self.root, self.cache, self._python = root, root / "cache", python
        shutil.copytree(ROOT / "icarus", root / "icarus", ignore=shutil.ignore_patterns("__pycache__"))
        in_use = disk.cache_folder()
        if in_use is not None and in_use.exists():
            shutil.copytree(in_use, self.cache / in_use.name, ignore=shutil.ignore_patterns("*.tmp"))
        (root / "mine.py").write_text(MINE)
        (root / "other.py").write_text(OTHER)

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.root / file
        source = path.read_text()
        assert source.count(old) == 1, f"{old!r} stands {source.count(old)} times in {file}"
        path.write_text(source.replace(old, new))

    def run(self, source: str, **changes: str) -> dict[str, Any]:
        # Two edits in one second leave files of one age, often of one length: bytecode of the first would be taken for the second's.
        changes |= {"ICARUS_CACHE_DIR": str(self.cache), "PYTHONDONTWRITEBYTECODE": "1"}
        done = self._python(source, package_root=self.root, cwd=self.root, **changes)
        assert done.returncode == 0, done.stderr
        report = json.loads(done.stdout)
        assert Path(report["file"]).is_relative_to(self.root)
        return report


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory, python: Python) -> Copy:
    return Copy(tmp_path_factory.mktemp("copy"), python)


@pytest.fixture(scope="module")
def before(copy: Copy) -> dict[str, Any]:
    """What the unedited copy finds, once everything has been compiled."""
    copy.run(WHOLE)
    return copy.run(WHOLE)


def test_a_second_process_compiles_nothing(before: dict[str, Any]) -> None:
    assert before["compiled"] == []
    assert before["actions"] == [19, 26, 37, 44]
    assert before["mast"] == before["mine"] == before["steps"]
    assert before["lgr"] > 0


def test_a_search_whose_machine_code_is_on_the_disk_loads_no_compiler(before: dict[str, Any]) -> None:
    assert not before["loaded"]


def test_importing_loads_no_compiler(python: Python) -> None:
    source = "import sys, icarus, icarus.commands.cli\nprint([name for name in ('numba', 'llvmlite') if name in sys.modules])"
    assert python(source).stdout == "[]\n"


def test_a_new_composition_of_known_parts_compiles_nothing(before: dict[str, Any]) -> None:
    assert before["then"] == []


@pytest.fixture(scope="module")
def edited(copy: Copy, before: dict[str, Any]) -> dict[str, Any]:
    """What is found after edits of a specification, of a helper in a game, and of a file of the user's."""
    copy.edit(
        "icarus/specs/mast.py",
        '(q + μ_ρ, n + 1)"""\n    stats.reward += rewards[player]\n    stats.visits += 1',
        '(q + μ_ρ, n + 1)"""\n    stats.reward += rewards[player]\n    stats.visits += 3',
    )
    copy.edit(
        "icarus/games/othello_board.py",
        "return reached & ~(mine | theirs)",
        "return reached & ~(mine | theirs) & np.uint64(0xFFFFFFFF)",
    )
    copy.edit("other.py", "return n", "return 10 * n")
    return copy.run(WHOLE)


def test_an_edit_in_a_specification_is_seen(edited: dict[str, Any]) -> None:
    assert edited["mast"] == 3 * edited["steps"]


def test_an_edit_of_a_helper_in_a_game_is_seen(edited: dict[str, Any]) -> None:
    assert edited["actions"] == [19, 26]  # the upper half of the board


def test_an_edit_of_a_helper_in_a_second_file_of_the_users_is_seen(edited: dict[str, Any]) -> None:
    assert edited["mine"] == 10 * edited["steps"]


def test_only_what_an_edit_reaches_is_compiled_again(edited: dict[str, Any]) -> None:
    names = edited["compiled"] + edited["then"]
    mine = "the backpropagation function mine.backpropagate"
    assert all(".othello." in name or "specs.mast." in name or name == mine for name in names)
    assert mine in names
    assert "the backpropagation function icarus.specs.mast.backpropagate" in names
    assert "icarus.games.othello.legal" in names


@pytest.mark.slow
def test_torn_files_are_compiled_anew_in_a_whole_search(copy: Copy, edited: dict[str, Any]) -> None:
    files = [
        max(copy.cache.glob(f"*/{pattern}"), key=os.path.getmtime)
        for pattern in (
            "icarus.games.othello.legal-*.bin",
            "*specs.lgr.backpropagate-*.bin",
            "*mine.backpropagate-*.bin",
        )
    ]
    for file, size in zip(files, (0, 100, file_half(files[2])), strict=True):
        file.write_bytes(file.read_bytes()[:size])
    report = copy.run(WHOLE)
    assert sorted(report["compiled"]) == [
        "icarus.games.othello.legal",
        "the backpropagation function icarus.specs.replies.backpropagate_reply",
        "the backpropagation function mine.backpropagate",
    ]
    assert {**report, "compiled": None} == {**edited, "compiled": None}
    assert all(file.stat().st_size > 1000 for file in files)


def file_half(file: Path) -> int:
    return file.stat().st_size // 2


SMALL = """
import json, sys
import numpy as np
from icarus import Game, search
from icarus.compiler.cache import disk
from icarus.kernel import TERMINAL
from icarus.specs import LGR
names = []
disk.on_compile(names.append)

STATE = np.dtype([("count", np.int8), ("player", np.int8)], align=True)

def initial(state, rng):
    state.count = 0

def player(state):
    return TERMINAL if state.count >= 9 else state.player

def legal(state, actions):
    actions[0], actions[1] = 1, 2
    return 2

def apply(state, action):
    state.count += action
    state.player = 1 - state.player

def rewards(state, out):
    out[0] = float(state.player)
    out[1] = 1.0 - out[0]

game = Game(name="nine", players=2, state=STATE, initial=initial, player=player, legal=legal, apply=apply, rewards=rewards,
            max_legal=2, text=lambda state: str(state.count), action_text=lambda state, action: str(action))
result = search(game.new_initial_state(), LGR, iterations=60, seed=3)
json.dump({"file": sys.modules["icarus"].__file__, "compiled": names, "lgr": len(result.records["LGR"]),
           "visits": result.visits.tolist()}, sys.stdout)
"""


FOLDER = """
import json, sys
import icarus
from icarus.compiler.cache.disk import cache_folder
json.dump({"file": icarus.__file__, "folder": str(cache_folder())}, sys.stdout)
"""


def test_an_edit_of_a_source_below_the_engine_gives_machine_code_another_folder(copy: Copy) -> None:
    edit = ("icarus/kernel/history.py", "while i > 0:", "while i < 0:")
    first = copy.run(FOLDER)["folder"]
    copy.edit(*edit)
    second = copy.run(FOLDER)["folder"]
    copy.edit(edit[0], edit[2], edit[1])
    assert Path(first).parent == Path(second).parent == copy.cache and first != second


@pytest.mark.slow
def test_an_edit_of_a_helper_of_the_engine_is_seen(copy: Copy, edited: dict[str, Any]) -> None:
    copy.edit(
        "icarus/kernel/history.py",
        "    perspective = history.steps[i].perspective\n    while i > 0:",
        "    perspective = history.steps[i].perspective\n    while i < 0:",
    )
    report = copy.run(SMALL)
    assert report["lgr"] == 0  # nobody has observed a move, so there is nothing to reply to
    assert "the playout loop" in report["compiled"]  # whatever is in the folder of other sources


EDITED_BETWEEN = """
import json, pathlib, sys
import icarus
from icarus import games, search
from icarus.specs import MAST
if len(sys.argv) > 1:
    file = pathlib.Path("icarus/specs/mast.py")
    file.write_text(file.read_text().replace("stats.visits += 3", "stats.visits += 7"))
result = search(games.load("othello").new_initial_state(), MAST, iterations=20, seed=3)
json.dump({"file": icarus.__file__,
           "ratio": int(result.records["MAST"].rows["visits"].sum()) / sum(result.phase_steps.values())}, sys.stdout)
"""


def test_an_edit_between_the_import_and_the_first_search_changes_the_next_process_only(
    copy: Copy, edited: dict[str, Any]
) -> None:
    while_running = copy.run("import sys\nsys.argv.append('edit')\n" + EDITED_BETWEEN)
    assert while_running["ratio"] == 3.0
    assert copy.run(EDITED_BETWEEN)["ratio"] == 7.0


# ------------------------------------------------------------------------------------------ where there is no file, or no disk


def test_functions_typed_in_are_compiled_and_cached_too(python: Python) -> None:
    typed = [python(None, "-", stdin=SMALL), python(SMALL)]
    assert [done.returncode for done in typed] == [0, 0], typed[0].stderr
    reports = [json.loads(done.stdout) for done in typed]
    assert reports[1]["compiled"] == []
    assert reports[0]["visits"] == reports[1]["visits"]
    assert reports[0]["lgr"] > 0


UNWRITABLE = """
import json, sys
from icarus import games
from icarus.compiler.cache import disk
names = []
disk.on_compile(names.append)
state = games.load("othello").new_initial_state()
json.dump({"folder": str(disk.cache_folder()), "legal": state.legal_actions(), "compiled": names}, sys.stdout)
"""


def test_a_cache_that_cannot_be_written_still_works(python: Python, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    done = python(UNWRITABLE, ICARUS_CACHE_DIR=str(tmp_path / "file" / "below"))
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert (report["folder"], report["legal"]) == ("None", [19, 26, 37, 44])
    assert "icarus.games.othello.legal" in report["compiled"]
    assert "machine code cannot be cached" in done.stderr and "Traceback" not in done.stderr


# --------------------------------------------------------------------------------------------------- errors of the compiler


@capture
def capture_unknown(history: History, updates: Updates) -> None:
    """asks for something that a history does not have"""
    update(updates, history.nothing, 0)


@capture
def capture_undefined(history: History, updates: Updates) -> None:
    """uses a name that is nowhere"""
    update(updates, undefined_here, 0)  # type: ignore[name-defined]  # noqa: F821


@capture
def capture_unknown_step(history: History, updates: Updates) -> None:
    """asks for a field that a step does not have"""
    update(updates, history.steps[0].colour, 0)


@capture
def capture_too_little(history: History, updates: Updates) -> None:
    """forgets the context"""
    update(updates, 1)  # type: ignore[call-arg]


@backpropagation
def backpropagate_misspelt(stats: Any, context: int, rewards: np.ndarray) -> None:
    """counts in a field that is not kept"""
    stats.vists += 1


def twice(number: int) -> int:
    return 2 * number


@capture
def capture_by_a_plain_function(history: History, updates: Updates) -> None:
    """calls what is not a helper"""
    update(updates, record(twice(history.steps[0].action), 0), 0)


@backpropagation
def backpropagate_text(stats: Any, context: int, rewards: np.ndarray) -> None:
    """adds a text to a number"""
    stats.visits = rewards[0] + "one"  # type: ignore[operator]


@candidates
def candidates_misspelt(history: History, legal: np.ndarray, records: np.ndarray) -> None:
    """compares what cannot be compared"""
    for i in range(len(legal)):
        records[i] = legal_at(history, i) < "five"  # type: ignore[operator]


PLACES, NAMES = [4, 5], {"first": 4}


@capture
def capture_by_a_list(history: History, updates: Updates) -> None:
    """reads a list from outside"""
    update(updates, record(PLACES[0], 0), 0)


@capture
def capture_by_a_dictionary(history: History, updates: Updates) -> None:
    """reads a dictionary from outside"""
    update(updates, record(NAMES["first"], 0), 0)


@capture
def capture_with_an_empty_list(history: History, updates: Updates) -> None:
    """makes a list of nothing"""
    kept: list[int] = []  # noqa: F841


@backpropagation
def backpropagate_a_letter(stats: Any, context: int, rewards: np.ndarray) -> None:
    """writes a text for a number"""
    stats.reward = "a"


@values
def values_undefined(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
    """calls what is nowhere"""
    out[0] = valuation(legal[0])  # type: ignore[name-defined]  # noqa: F821


@weight
def weight_unknown(rewards: Any, visits: int, availability: int) -> float:
    """½, in a way that the compiler does not know"""
    return math.fsum([0.25, 0.25])


def changed(**slots: Any) -> Enhancement:
    return attrs.evolve(MAST, name="CHANGED", **slots)


@pytest.mark.parametrize(
    ("strategy", "function", "kind", "mentioned"),
    [
        (changed(capture=capture_unknown), capture_unknown, "capture", "nothing"),
        (changed(capture=capture_undefined), capture_undefined, "capture", "the name 'undefined_here' is not defined"),
        (changed(capture=capture_unknown_step), capture_unknown_step, "capture", "colour"),
        (changed(capture=capture_too_little), capture_too_little, "capture", "update"),
        (
            changed(capture=capture_by_a_plain_function),
            capture_by_a_plain_function,
            "capture",
            "twice is a plain function; mark it @helper",
        ),
        (
            changed(capture=capture_by_a_list),
            capture_by_a_list,
            "capture",
            "PLACES is a list, which compiled code cannot read; use a tuple or an array",
        ),
        (
            changed(capture=capture_by_a_dictionary),
            capture_by_a_dictionary,
            "capture",
            "NAMES is a dict, which compiled code cannot read",
        ),
        (
            changed(capture=capture_with_an_empty_list),
            capture_with_an_empty_list,
            "capture",
            "the list kept never gets an item",
        ),
        (
            changed(backpropagation=backpropagate_a_letter),
            backpropagate_a_letter,
            "backpropagation",
            "a str cannot be written in place of a float",
        ),
        (changed(backpropagation=backpropagate_misspelt), backpropagate_misspelt, "backpropagation", "vists"),
        (changed(backpropagation=backpropagate_text), backpropagate_text, "backpropagation", "of a float and a str"),
        (changed(policy=gibbs().over(candidates_misspelt)), candidates_misspelt, "candidates", "lt"),
        (
            changed(policy=argmax().over(values_undefined)),
            values_undefined,
            "values",
            "the name 'valuation' is not defined",
        ),
        (weight_unknown * MAST + (1 - weight_unknown) * BASELINE, weight_unknown, "weight", "fsum"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_an_error_of_the_compiler_is_one_sentence_with_slot_function_and_line(
    strategy: Any, function: Any, kind: str, mentioned: str
) -> None:
    lines, start = inspect.getsourcelines(function.function)
    line = start + next(i for i, text in enumerate(lines) if '"""' in text) + 1
    with pytest.raises(CompilationError) as caught:
        search(after(toy.BRANCHES), strategy, iterations=10)
    message = str(caught.value)
    assert message.startswith(f"the {kind} function tests.compiler.test_compiler.{function.name} cannot be compiled: ")
    assert mentioned in message
    assert f"{Path(__file__).name}, line " in message
    assert int(re.findall(r"line (\d+)", message)[-1]) in (line, line + 1)
    assert "\n" not in message
    assert not re.search(r"Traceback|TypingError|LoweringError|numba|During:", message)
    assert isinstance(caught.value, TypeError) and caught.value.__suppress_context__


def test_an_error_in_a_function_of_a_game_names_it() -> None:
    def rewards(state: Any, out: np.ndarray) -> None:
        out[0] = state.score

    broken = attrs.evolve(toy.CHAIN, rewards=rewards)
    message = r"tests\.compiler\.test_compiler\.\S+rewards cannot be compiled: .*'score'.*test_compiler\.py, line"
    with pytest.raises(CompilationError, match=message):
        State(broken, after(toy.CHAIN).data).legal_actions()


def test_a_line_in_a_cell_of_a_notebook_is_told_as_the_notebook_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def rewards(state: Any, out: np.ndarray) -> None:
        out[0] = "a"  # type: ignore[call-overload]

    def label(file: str) -> tuple[str, str] | None:
        return ("Cell", "In[3]") if file == __file__ else None

    shell = types.SimpleNamespace(compile=types.SimpleNamespace(format_code_name=label))
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    line = rewards.__code__.co_firstlineno
    with pytest.raises(CompilationError, match=rf"into an array of floats \(Cell In\[3\], line {line + 1}\)$"):
        State(attrs.evolve(toy.CHAIN, rewards=rewards), after(toy.CHAIN).data).legal_actions()
    with pytest.raises(TypeError, match=rf"it must take \(state\) \(Cell In\[3\], line {line}\)$"):
        attrs.evolve(toy.CHAIN, player=rewards)


# ------------------------------------------------------------------------------------------------------------------ slots


def test_a_slot_function_takes_what_its_kind_is_given() -> None:
    with pytest.raises(TypeError, match=r"takes history, updates: write it as wrong\(history, updates, …\), not "):

        @capture
        def wrong(a: Any) -> None:
            """wrong"""

    with pytest.raises(
        TypeError, match="parameter k of unbound needs a default that is an integer, a float or the name of a feature"
    ):

        @capture
        def unbound(history: Any, updates: Any, k: Any = None) -> None:
            """wrong"""

    with pytest.raises(TypeError, match="@values decorates a plain function, not 3"):
        values(3)  # type: ignore[arg-type]

    async def later(history: Any, updates: Any) -> None:
        """Nothing is done before it is awaited."""

    with pytest.raises(TypeError, match="@capture decorates a plain function, not the async function later"):
        capture(later)  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------------------------- bits


@pytest.mark.parametrize("word", [0, 1, 2, 3, 40, 1 << 63, (1 << 64) - 1, 0xF0F0])
def test_bits_are_counted_and_found(word: int) -> None:
    @njit
    def both(word: Any) -> Any:
        return pointers.popcount(word), pointers.lowest_bit(word)

    expected = bin(word).count("1"), next((i for i in itertools.count() if word >> i & 1), None) if word else 64
    assert both(np.uint64(word)) == expected


def test_bits_are_counted_and_found_in_plain_python_too(python: Python) -> None:
    source = "from icarus.kernel import lowest_bit, popcount\nprint([(popcount(w), lowest_bit(w)) for w in (0, 1, 40, 1 << 63)])"
    done = python(source, NUMBA_DISABLE_JIT="1")
    assert done.stdout == "[(0, 64), (1, 0), (2, 3), (1, 63)]\n"


def test_a_game_is_compiled_once_for_all_games_of_the_same_functions() -> None:
    assert toy.BRANCHES.kernels() is toy.THREE.kernels() is not toy.CHAIN.kernels()


ROWS_OF_TWO_TABLES = """
import numpy as np
from icarus.compiler.kernels.functions import compiler, helper

@helper
def visits_of(row):
    return row.visits

@helper
def first(rows):
    return visits_of(rows[0])

narrow = np.zeros(1, [("visits", np.int64)])
wide = np.zeros(1, [("visits", np.int64), ("worth", np.float64)])
assert first(narrow) == first(wide) == 0
"""


def test_helpers_serve_the_rows_of_several_tables_without_a_warning(python: Python) -> None:
    done = python(ROWS_OF_TWO_TABLES)
    assert (done.returncode, done.stderr) == (0, "")
