"""Compilation: no stale machine code after any edit, a cache that survives everything, and errors in one sentence."""

import itertools
import json
import logging
import os
import re
import resource
import shutil
import stat
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from numba import njit
from numba import types as nb
from numba.extending import overload_attribute

from icarus import State, capture, search, values
from icarus.algebra import argmax, gibbs
from icarus.compiler import digest as digests
from icarus.compiler import kernel as kernels
from icarus.compiler import memory
from icarus.compiler.digest import PACKAGE_DIGEST, digest
from icarus.compiler.functions import CompilationError
from icarus.compiler.kernel import CompiledFunction
from icarus.specs import BASELINE, MAST
from tests import toy
from tests.conftest import ROOT, Python
from tests.test_toy import after

# --------------------------------------------------------------------------------- edits of what a function can reach, one by one


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of machine code for this test alone."""
    cache = tmp_path / "cache"
    cache.mkdir()
    monkeypatch.setattr(kernels, "cache_folder", lambda: cache)
    return cache


@pytest.fixture
def compilations() -> Iterator[list[str]]:
    """The names of what is compiled during the test."""
    names: list[str] = []
    end = kernels.on_compile(names.append)
    yield names
    end()


def kernel_of(source: str, monkeypatch: pytest.MonkeyPatch) -> CompiledFunction:
    """The kernel of f, of modules that are made from source, as a fresh process would find them in their files.

    Args:
        source: of the modules, each after a line "# module NAME" except for the last, which is m.
    """
    parts = re.split(r"# module (\S+)\n", source if source.startswith("# module") else f"# module m\n{source}")[1:]
    for name, text in zip(parts[::2], parts[1::2], strict=True):
        made = types.ModuleType(name)
        monkeypatch.setitem(sys.modules, name, made)
        exec(compile(text, f"/nowhere/{name}.py", "exec"), made.__dict__)
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, made)
    return CompiledFunction(made.f, 1, "f")


HELPER = "from icarus.kernel import helper\n@helper\ndef g(x):\n    return x * §\n"
IN_N = f"# module n\n{HELPER}# module m\n"
ENUM = "import enum\nclass K(enum.Enum):\n    A = 1\n    B = 2\n"
INTRINSIC = (
    "from numba import types\nfrom numba.extending import intrinsic\ndef make(k):\n    @intrinsic\n    def g(context, x):\n"
    "        def codegen(context, builder, signature, arguments):\n            return builder.%s(arguments[0], arguments[0].type(k))\n"
    "        return types.int64(types.int64), codegen\n    return g\ng = make(%s)\ndef f(x):\n    return g(x)"
)
OVERLOADED = (
    "from numba.extending import overload\ndef g(x):\n    pass\n@overload(g)\ndef _g(x):\n"
    "    def body(x):\n        return x * §\n    return body\ndef f(x):\n    return g(x)"
)
FLAGGED = (
    "from numba import njit\n@njit(error_model='§')\ndef g(x):\n    return 1.0 / (x - x)\n"
    "def f(x):\n    return 3 if g(x) > 1 else 4"
)
DIVIDED_BY_ZERO = -1
# What is edited: the source, what stands in place of § before and after, and f(10) before and after.
EDITS: dict[str, tuple[str, str, str, int, int]] = {
    "the function itself": ("def f(x):\n    return x § 1", "+", "-", 11, 9),
    "a literal": ("def f(x):\n    return x + §", "1", "2", 11, 12),
    "a constant": ("K = §\ndef f(x):\n    return x + K", "1", "2", 11, 12),
    "a tuple": ("K = (1, §)\ndef f(x):\n    return x + K[1]", "2", "3", 12, 13),
    "an array": ("import numpy as np\nK = np.array([1, §])\ndef f(x):\n    return x + K[1]", "2", "4", 12, 14),
    "a helper": (HELPER + "def f(x):\n    return g(x)", "2", "3", 20, 30),
    "a default": (HELPER.replace("g(x)", "g(x, k=§)").replace("* §", "+ k") + "def f(x):\n    return g(x)", "1", "8", 11, 18),
    "a helper in another module": (IN_N + "from n import g\ndef f(x):\n    return g(x)", "2", "5", 20, 50),
    "a helper by the name of its module": (IN_N + "import n\ndef f(x):\n    return n.g(x)", "2", "5", 20, 50),
    "a constant by the name of its module": (
        "# module n\nK = §\n# module m\nimport n\ndef f(x):\n    return x + n.K", "1", "2", 11, 12
    ),
    "what a closure holds": (
        "def make(k):\n    def f(x):\n        return x + k\n    return f\nf = make(§)", "1", "2", 11, 12
    ),
    "a function inside the function": (
        "def f(x):\n    def g(y):\n        return y + §\n    return g(x)", "1", "2", 11, 12
    ),
    "an enumeration": ("import enum\nclass K(enum.IntEnum):\n    A = §\ndef f(x):\n    return x + K.A", "1", "2", 11, 12),
    "a member of an enumeration": (
        ENUM + "C = K.§\ndef f(x):\n    return x + C.value", "A", "B", 11, 12
    ),
    "a tuple of helpers": (HELPER + "K = (g,)\ndef f(x):\n    return K[0](x)", "2", "5", 20, 50),
    "which function of numpy a name means": (
        "from numpy import § as k\ndef f(x):\n    return k(x, 2)", "add", "subtract", 12, 8
    ),
    "which module a name means": (
        f"# module n\n{HELPER.replace('§', '2')}# module o\n{HELPER.replace('§', '5')}"
        "# module m\nimport § as k\ndef f(x):\n    return k.g(x)", "n", "o", 20, 50
    ),
    "the body of an intrinsic": (INTRINSIC % ("§", 1), "add", "sub", 11, 9),
    "what an intrinsic holds": (INTRINSIC % ("add", "§"), "2", "3", 12, 13),
    "the body of an overload": (OVERLOADED, "2", "3", 20, 30),
    "the flags of a helper": (FLAGGED, "numpy", "python", 3, DIVIDED_BY_ZERO),
}  # fmt: skip


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_anything_that_a_function_reaches_compiles_anew_and_nothing_else_does(
    edit: str, folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    source, old, new, first, second = EDITS[edit]
    for _ in range(2):
        assert kernel_of(source.replace("§", old), monkeypatch)(10) == first
        assert compilations == ["f"]
    try:
        assert kernel_of(source.replace("§", new), monkeypatch)(10) == second
    except ZeroDivisionError:
        assert second == DIVIDED_BY_ZERO


DOUBLE = HELPER.replace("§", "2") + "def f(x):\n    return g(x)"


def test_an_extension_of_the_compiler_is_seen() -> None:
    def size(array: Any) -> Any:
        return array.size_of_mine

    before = digest(size)
    overload_attribute(nb.Array, "size_of_mine")(lambda array: lambda array: 3)
    assert digest(size) != before


def test_a_mistake_is_not_told_of_an_extension_of_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    overloaded = OVERLOADED.replace("§", "2").replace("def f(x):", "def unused(x):")
    kernel_of(f"{overloaded}\ndef f(x):\n    return x", monkeypatch)

    def broken(state: Any, actions: np.ndarray) -> None: ...

    with pytest.raises(CompilationError, match=r"it must return how many .*test_compiler\.py, line"):
        State(attrs.evolve(toy.CHAIN, legal=broken), after(toy.CHAIN).data).legal_actions()


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
        kernel_of(f"{imports}{decorator}\ndef f(x):\n    return {use}", monkeypatch)


# --------------------------------------------------------------------------------------------------------- the cache itself


LOADED_AT_ONCE = """
import sys, threading
from concurrent.futures import ThreadPoolExecutor
from icarus.compiler.functions import Lazy, compiler
sys.setswitchinterval(1e-5)
gate = threading.Barrier(4)
def work(load):
    gate.wait()
    load()
loads = [compiler, lambda: Lazy("numba.core.types").int64, lambda: Lazy("numba.core.errors").NumbaError,
         lambda: Lazy("icarus.compiler.pipeline").Callee]
assert "numba" not in sys.modules
with ThreadPoolExecutor(4) as pool:
    for f in [pool.submit(work, load) for load in loads]: f.result()
print("done")
"""


def test_threads_that_load_the_compiler_at_once_wait_for_each_other(python: Python, tmp_path: Path) -> None:
    done = python(LOADED_AT_ONCE, ICARUS_CACHE_DIR=str(tmp_path))
    assert done.stdout == "done\n", done.stderr


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "half": lambda data: data[: len(data) // 2],
    "a bit": lambda data: data[:-1] + bytes([data[-1] ^ 1]),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_torn_file_is_compiled_anew_and_repaired(
    damage: Callable[[bytes], bytes], folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    kernel_of(DOUBLE, monkeypatch)
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    for _ in range(2):
        assert kernel_of(DOUBLE, monkeypatch)(10) == 20
        assert compilations == ["f", "f"]
    assert list(folder.iterdir()) == [file]


def test_the_folder_is_private_and_one_that_others_may_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("ICARUS_CACHE_DIR", str(tmp_path / "cache"))
    folder = kernels.cache_folder.__wrapped__()
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(folder.parent.stat().st_mode) == 0o700
    folder.chmod(0o770)
    assert kernels.cache_folder.__wrapped__() is None and "other users may write to" in caplog.text
    folder.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: 12345)
    assert kernels.cache_folder.__wrapped__() is None
    assert "set ICARUS_CACHE_DIR to a directory of your own" in caplog.text
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert kernels.cache_folder.__wrapped__() is None


def test_a_folder_that_vanished_costs_the_file_and_not_the_result(
    folder: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(folder)
    with caplog.at_level(logging.WARNING):
        assert kernel_of(DOUBLE, monkeypatch)(10) == 20
    assert "is not kept" in caplog.text


def test_machine_code_of_versions_that_nobody_uses_is_deleted_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ICARUS_CACHE_DIR", str(tmp_path / "cache"))
    ages = {"cache/" + "0" * 16: 31, "cache/" + "f" * 16: 29, "cache/photographs": 31, "elsewhere": 31}
    for name, days in ages.items():
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "code.bin").write_bytes(b"old")
        os.utime(tmp_path / name, (time.time() - days * 86400,) * 2)
    (tmp_path / "cache" / ("1" * 16)).symlink_to(tmp_path / "elsewhere")
    current = kernels.cache_folder.__wrapped__()
    left = {path.name for path in (tmp_path / "cache").iterdir()}
    assert left == {"f" * 16, "1" * 16, "photographs", current.name}
    assert (tmp_path / "elsewhere" / "code.bin").exists()


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


def test_an_exception_of_machine_code_is_raised_with_the_line_that_raised_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(2):  # as compiled, and from the disk
        kernel = kernel_of(RAISING.format('ValueError("more than", 2)'), monkeypatch)
        assert kernel(2) == 3
        with pytest.raises(ValueError, match="more than") as raised:
            kernel(5)
        last = traceback.extract_tb(raised.tb)[-1]
        assert (raised.value.args, Path(last.filename).name, last.lineno) == (("more than", 2), "m.py", 6)


def test_an_exception_made_of_what_was_met_is_raised_too(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="more than") as raised:
        kernel_of(RAISING.format('ValueError("more than", x)'), monkeypatch)(5)
    assert raised.value.args == ("more than", 5)


RECURSION = """
from icarus.kernel import helper
@helper
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)
def f(x):
    return 2 * fibonacci(x)
"""


def test_functions_may_call_themselves(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):  # as compiled, and from the disk
        assert kernel_of(RECURSION, monkeypatch)(20) == 2 * 6765


ARRAYS = {
    "an array": "import numpy as np\ndef f(x):\n    return np.full(x, 3).sum()",
    "an array from a helper": "from icarus.kernel import helper\nimport numpy as np\n@helper\ndef g(x):\n"
    "    array = np.full(x, 3)\n    return array[1:], array\ndef f(x):\n    part, array = g(x)\n    return part.sum() + array[0]",
}


@pytest.mark.parametrize("body", ARRAYS.values(), ids=ARRAYS)
def test_an_array_made_on_the_way_needs_no_compiler_and_is_forgotten(
    body: str, folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    kernel, again = (kernel_of(body, monkeypatch) for _ in range(2))
    assert kernel(20) == again(20) == 60
    assert compilations == ["f"]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(50):
        kernel(1_000_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 50_000  # kB; each array has 8 MB


def test_what_needs_the_compiler_when_it_runs_has_it_in_each_process(
    folder: Path, monkeypatch: pytest.MonkeyPatch, compilations: list[str]
) -> None:
    body = 'def f(x):\n    print("twenty is", x)\n    return 3 * x'
    assert [kernel_of(body, monkeypatch)(20) for _ in range(2)] == [60, 60]
    assert compilations == ["f", "f"] and not list(folder.iterdir())


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
from icarus.compiler import kernel as kernels
from icarus.specs import BASELINE, LGR, MAST
from mine import MINE
names = []
kernels.on_compile(names.append)
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
        in_use = kernels.cache_folder()
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


def test_a_second_process_compiles_nothing_and_loads_no_compiler(before: dict[str, Any]) -> None:
    assert before["compiled"] == before["then"] == []  # nor does a new composition of known parts
    assert before["actions"] == [19, 26, 37, 44]
    assert before["mast"] == before["mine"] == before["steps"]
    assert before["lgr"] > 0 and not before["loaded"]


def test_importing_loads_no_compiler(python: Python) -> None:
    source = "import sys, icarus, icarus.commands.cli\nprint([name for name in ('numba', 'llvmlite') if name in sys.modules])"
    assert python(source).stdout == "[]\n"


@pytest.fixture(scope="module")
def edited(copy: Copy, before: dict[str, Any]) -> dict[str, Any]:
    """What is found after edits of a specification, of a helper in a game, and of a file of the user's."""
    copy.edit(
        "icarus/specs/mast.py",
        '(q + μ_ρ, n + 1)"""\n    stats.reward += rewards[player]\n    stats.visits += 1',
        '(q + μ_ρ, n + 1)"""\n    stats.reward += rewards[player]\n    stats.visits += 3',
    )
    copy.edit(
        "icarus/games/othello.py",
        "return reached & ~(mine | theirs)",
        "return reached & ~(mine | theirs) & np.uint64(0xFFFFFFFF)",
    )
    copy.edit("other.py", "return n", "return 10 * n")
    return copy.run(WHOLE)


def test_an_edit_is_seen_wherever_it_is_and_only_what_it_reaches_is_compiled_again(edited: dict[str, Any]) -> None:
    assert edited["mast"] == 3 * edited["steps"]
    assert edited["actions"] == [19, 26]  # the upper half of the board
    assert edited["mine"] == 10 * edited["steps"]  # by a helper in a second file of the user's
    slots = {
        "the backpropagation function mine.backpropagate",
        "the backpropagation function icarus.specs.mast.backpropagate",
    }
    names = set(edited["compiled"] + edited["then"])
    assert names >= slots | {"icarus.games.othello.legal"}
    assert all(".othello." in name or "specs.mast." in name for name in names - slots)


def test_an_edit_of_a_source_below_the_engine_gives_machine_code_another_folder(
    copy: Copy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "PACKAGE", copy.root / "icarus")
    assert digests.package_digest() == PACKAGE_DIGEST
    copy.edit("icarus/kernel/history.py", "while i > 0:", "while i < 0:")
    assert digests.package_digest() != PACKAGE_DIGEST
    copy.edit("icarus/kernel/history.py", "while i < 0:", "while i > 0:")


# ------------------------------------------------------------------------------------------ where there is no file, or no disk


TYPED = """
from icarus.compiler import kernel
names = []
kernel.on_compile(names.append)
def f(x):
    return x + 1
print(kernel.CompiledFunction(f, 1, "f")(41), names)
"""


def test_functions_typed_in_are_compiled_and_cached_too(python: Python, tmp_path: Path) -> None:
    typed = [python(*call, stdin=TYPED, ICARUS_CACHE_DIR=str(tmp_path)) for call in ((None, "-"), (TYPED,))]
    assert [done.stdout for done in typed] == ["42 ['f']\n", "42 []\n"]


def test_a_cache_that_cannot_be_written_still_works(python: Python, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    done = python(TYPED, ICARUS_CACHE_DIR=str(tmp_path / "file" / "below"))
    assert done.stdout == "42 ['f']\n"
    assert "machine code cannot be cached" in done.stderr and "Traceback" not in done.stderr


# --------------------------------------------------------------------------------------------------- errors of the compiler

HEADER = """
import math
from icarus import backpropagation, candidates, capture, values, weight
from icarus.kernel import legal_at, record, update
PLACES, NAMES = [4, 5], {"first": 4}
def twice(number):
    return 2 * number
"""
ARGUMENTS = {
    "capture": "history, updates",
    "backpropagation": "stats, context, rewards",
    "candidates": "history, legal, records",
    "values": "history, theta, legal, out",
    "weight": "rewards, visits, availability",
}
WRONG: list[tuple[str, str, str]] = [  # the kind of a slot, the wrong line in it, and what the sentence mentions
    ("capture", "update(updates, history.nothing, 0)", "nothing"),
    ("capture", "update(updates, undefined_here, 0)", "the name 'undefined_here' is not defined"),
    ("capture", "update(updates, history.steps[0].colour, 0)", "no record here has a field 'colour'"),
    ("capture", "update(updates, record(twice(1), 0), 0)", "twice is a plain function; mark it @helper"),
    ("capture", "update(updates, record(PLACES[0], 0), 0)", "PLACES is a list, which compiled code cannot read"),
    ("capture", 'update(updates, record(NAMES["first"], 0), 0)', "NAMES is a dict, which compiled code cannot read"),
    ("backpropagation", 'stats.visits = rewards[0] + "one"', "does not support add(float64, Literal[str](one))"),
    ("weight", "return math.fsum([0.25, 0.25])", "fsum"),
]


@pytest.mark.parametrize(("kind", "line", "mentioned"), WRONG, ids=[line for _, line, _ in WRONG])
def test_an_error_of_the_compiler_is_one_sentence_with_slot_function_and_line(
    kind: str, line: str, mentioned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = f"{HEADER}@{kind}\ndef slip({ARGUMENTS[kind]}):\n    {line}\n"
    made = types.ModuleType("slips")
    monkeypatch.setitem(sys.modules, "slips", made)
    exec(compile(source, "/nowhere/slips.py", "exec"), made.__dict__)
    policies = {"candidates": lambda: gibbs().over(made.slip), "values": lambda: argmax().over(made.slip)}
    changes = {"policy": policies[kind]()} if kind in policies else {kind: made.slip}
    mixed = (
        made.slip * MAST + (1 - made.slip) * BASELINE
        if kind == "weight"
        else attrs.evolve(MAST, name="CHANGED", **changes)
    )
    with pytest.raises(CompilationError) as caught:
        search(after(toy.BRANCHES), mixed, iterations=10)
    message = str(caught.value)
    assert message.startswith(f"the {kind} function slips.slip cannot be compiled: ") and mentioned in message
    assert message.endswith(f"nowhere/slips.py, line {source.count(chr(10))})")
    assert not re.search(r"\n|Traceback|TypingError|LoweringError|numba|During:", message)
    assert isinstance(caught.value, TypeError) and caught.value.__suppress_context__


# ------------------------------------------------------------------------------------------------------------------ slots


async def later(history: Any, updates: Any) -> None:
    """Nothing is done before it is awaited."""


@pytest.mark.parametrize(
    ("mark", "function", "message"),
    [
        (capture, lambda a: None, r"takes history, updates: write it as <lambda>\(history, updates, …\), not "),
        (
            capture,
            lambda history, updates, k=None: None,
            "parameter k of <lambda> needs a default that is an integer, a",
        ),
        (values, 3, "@values decorates a plain function, not 3"),
        (capture, later, "@capture decorates a plain function, not the async function later"),
    ],
)
def test_a_slot_function_takes_what_its_kind_is_given(mark: Any, function: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        mark(function)


# ------------------------------------------------------------------------------------------------------------------- bits


@pytest.mark.parametrize("word", [0, 1, 2, 3, 40, 1 << 63, (1 << 64) - 1, 0xF0F0])
def test_bits_are_counted_and_found(word: int) -> None:
    @njit
    def both(word: Any) -> Any:
        return memory.popcount(word), memory.lowest_bit(word)

    expected = bin(word).count("1"), next((i for i in itertools.count() if word >> i & 1), None) if word else 64
    assert both(np.uint64(word)) == expected
