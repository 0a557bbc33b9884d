"""What is refused when a function is compiled, told in one sentence with the author's line.

The compiler's own words are the rest of the sentence, except for what authors of slots and games meet most.
"""

import contextlib
import dis
import os
import re
import sys
import traceback
import types as pytypes
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from icarus.compiler.digest import PACKAGE, reachable
from icarus.compiler.functions import CompilationError, Lazy, is_helper, python_of, types
from icarus.compiler.memory import is_read_only

_errors = Lazy("numba.core.errors")
_annotations = Lazy("numba.core.annotations.type_annotations")
ir = Lazy("numba.core.ir")
# folders of the package in which no author's mistake lies, and modules whose helpers are no author's
ENGINE = ("compiler", "kernel", "engine")
OWN = ("icarus.kernel", "icarus.compiler")


# ------------------------------------------------------------------------------------------------------------------ where things stand


def location(file: str, line: int | str | None) -> str:
    """ "mine.py, line 3"; of a notebook's cell "Cell In[5], line 3", as its own tracebacks call it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = shell and shell.compile.format_code_name(os.path.abspath(file))
    if cell:
        file = " ".join(cell)
    return f"{file}, line {line}"


def defined_at(function: Callable) -> str:
    """Where a function is defined, as " (file, line n)"; "" for one of C."""
    code = getattr(python_of(function), "__code__", None)
    return "" if code is None else f" ({location(code.co_filename, code.co_firstlineno)})"


# a module of `load_file`, whose name nobody has written
_OF_A_FILE = re.compile(r"\bown_\w+_[0-9a-f]{12}\.")


def without_modules(text: str) -> str:
    """A text without the names of modules that stand for files."""
    return _OF_A_FILE.sub("", text)


def full_name(function: Callable) -> str:
    """The name of a function, after its module's."""
    return without_modules(f"{function.__module__}.{function.__qualname__}")


def raised_in(function: Callable, error: BaseException) -> str:
    """Where an error last came through the file of a function, as `defined_at` tells it."""
    file = getattr(getattr(python_of(function), "__code__", None), "co_filename", None)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == file
    ]
    return f" ({location(file, lines[-1])})" if file and lines else defined_at(function)


def _mention(function: Callable, mentioned: str) -> str:
    """Where a name stands in the code that a function reaches, as " (file, line n)"; "" if nowhere."""
    for code in _codes(function):
        for step in dis.get_instructions(code):
            if step.argval == mentioned and step.positions and step.positions.lineno:
                return f" ({location(code.co_filename, step.positions.lineno)})"
    return ""


def _codes(function: Callable) -> Iterator[pytypes.CodeType]:
    """The code of a function, and of those that it reaches."""
    return (
        part.value.__code__
        for part in reachable(function)
        if isinstance(part.value, pytypes.FunctionType)
    )


def _is_authors(file: str) -> bool:
    """Whether an author's mistake may lie in a file."""
    path = Path(file).resolve()
    if path.is_relative_to(PACKAGE):
        return path.relative_to(PACKAGE).parts[0] not in ENGINE
    return "numba" not in path.parts


def _of_author(function: Callable) -> str:
    """Where the first function of an author is defined that a function reaches, as " (file, line n)"."""
    codes = list(_codes(function))
    code = next((code for code in codes if _is_authors(code.co_filename)), codes[0])
    return f" ({location(code.co_filename, code.co_firstlineno)})"


# --------------------------------------------------------------------------------------------------------- what the compiler refuses


@contextlib.contextmanager
def compilation_errors(function: Callable, name: str, returns: str = "") -> Iterator[None]:
    """Within, what the compiler refuses is told in one sentence; arguments as of a `CompiledFunction`.

    Raises:
        CompilationError: the compiler refuses the function; the message names it and the line.
    """
    try:
        yield
    except Exception as error:
        sentence = _sentence_of(error, function, returns)
        if not sentence:
            raise
        raise CompilationError(f"{name} cannot be compiled: {sentence}") from None


def _sentence_of(error: Exception, function: Callable, returns: str) -> str:
    """What is wrong with a function, by the error that the compiler has raised; "" if the error is no refusal."""
    if isinstance(error, KeyError):  # how the compiler says that a record has no such field
        field = error.args[0]
        return f"no record here has a field {field!r}{_mention(function, field)}"
    if isinstance(error, AttributeError):
        if missing := re.fullmatch(r"module '.*' has no attribute '(\w+)'", str(error)):
            return f"{error}{_mention(function, missing[1])}"
        return f"{READ_ONLY}{_of_author(function)}" if str(error) == _OWN_MISTAKE else ""
    if isinstance(error, AssertionError):  # how the compiler meets an array for a field that is one
        return f"it writes a whole array to a field that is an array; write its items, as in state.cards[:] = cards{_of_author(function)}"
    if isinstance(error, NotImplementedError):
        where = _mention(function, "append") or _of_author(function)
        return f"it needs what compiled code lacks, such as a list of records{where}"
    # an UnsupportedBytecodeError is no NumbaError
    if isinstance(error, _errors.NumbaError | _errors.UnsupportedBytecodeError):
        return _reason(function, re.sub(r"\x1b\[[0-9;]*m", "", str(error)), returns)
    return ""


READ_ONLY = "it writes to what is read-only"
_OWN_MISTAKE = "'NoneType' object has no attribute 'args'"  # of the compiler, where a read-only array is met by +=


def _reason(function: Callable, text: str, returns: str) -> str:
    """What the compiler says, reduced to what is wrong and where."""
    # a name without a value, or with one of a kind that the compiler has no type for
    named = re.search(
        r"name '(\w+)'(?: is not defined|:\s+Cannot determine Numba type of <class '([\w.]+)'>)",
        text,
    )
    # a variable that gets a list or a set of Python's
    named = named or re.search(
        r"assigned to variable '(\w+)'.*?(reflected list|reflected set)", text, re.DOTALL
    )
    if named:
        return f"{_about_name(named[1], named[2] or '')}{_mention(function, named[1])}"
    # the first place in an author's file is told, if there is any
    places = re.findall(r'(?:File "|" at |Raised from )([^"]+?)(?:", line | \()(\d+)', text)
    places = [place for place in places if _is_authors(place[0])] or places
    where = f" ({location(*places[0])})" if places else ""
    if re.search(
        "Cannot modify readonly array|explicit output that is read-only| to readonly nestedarray",
        text,
    ):
        return f"{READ_ONLY}{where}"
    if empty := _EMPTY.search(text):
        what = empty[1] or "a list or dictionary"
        return f"nobody knows what {what} holds, as a list is empty; use an array, such as np.zeros{where}"
    if returns and re.search(r"for '\$[\w.]*return_value", text):
        return f"it must return {returns}{_of_author(function)}"
    # the library's own sentences, as of update() and record(), stand inside the compiler's
    ours = re.search(r"(?:TypingError: (?=update\(|record\()|uncallable: )(.+)", text)
    if ours:
        return f"{ours[1].strip().rstrip(':.')}{where}"
    return f"{_line_in(text)}{where}"


def _about_name(name: str, kind: str) -> str:
    """What is wrong with a name: it is not defined, or its value is of a kind that compiled code cannot read."""
    if not kind:
        return f"the name {name!r} is not defined"
    if kind == "function":
        return f"{name} is a plain function; mark it @helper"
    kind = kind.rpartition(".")[2].split()[-1]  # a "reflected list" is a list
    return f"{name} is a {kind}, which compiled code cannot read; use a tuple or an array"


def _line_in(text: str) -> str:
    """The compiler's line that tells most, with the call that it is about."""
    # the type of a record lists all its fields
    text = re.sub(r"Record\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)", "a record", text)
    lines = [line.strip().removeprefix("- ") for line in text.splitlines()]
    called = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), "")
    telling = (line for line in lines if not line.startswith(">>>") and _TELLING.search(line))
    line = next(telling, "its types cannot be inferred")
    if called and line.startswith("No implementation of function"):
        return f"compiled code does not support {called}"
    # without the parameters of a type, and without what else the compiler appends
    line = re.sub(r"(?<=of )type (\w+)\(.*\)|\. Raised from.*|: %.*", r"\1", line)
    return f"{line} {called}".strip().rstrip(":.")


_EMPTY = re.compile(
    r"(?:(?:variable|global name) '(?!closure)(\w+)'.*)?(?:Cannot type empty list|imprecise type: \w+[(\[]undefined|be determined)"
)
_TELLING = re.compile("not|No implementation|[Uu]nsupported|Unknown|Untyped|Invalid use|undefined")


def about_kinds(function: Callable, kinds: Iterable[object], returns: str) -> str:
    """What is wrong with the values that a game's function returns: nothing on some ways, or a float for an integer; "" if nothing is.

    Args:
        function: the kernel that calls it.
        kinds: the compiler's types of all values in the kernel.
        returns: what the game's function must return, in words.
    """
    named = [str(kind) for kind in kinds]
    if any(kind.startswith("OptionalType(") for kind in named):
        wrong = "nothing on some ways"
    elif "float64" in named and not returns.startswith("a probability"):
        wrong = "a float"
    else:
        return ""
    return f"it returns {wrong}; it must return {returns}{_of_author(function)}"


# --------------------------------------------------------------------------------------- what compiled code would do without a word


def refuse_slips(function: Callable, label: str, history: type, lost: str) -> None:
    """Refuse slips in a slot function that machine code would carry out without a word; the types that the compiler found show them.

    They are a returned value that nobody reads, a float that is cut to an integer, and what is written to something read-only.

    Args:
        history: the type of which no field may be taken by its place: what a slot reads is found by the names of fields.
        lost: what is said if it returns a value, which would be lost; "" where it may return one.

    Raises:
        CompilationError: there is such a slip.
    """
    for result in _versions(function):
        if lost and not isinstance(result.signature.return_type, types.NoneType):
            raise CompilationError(f"{lost}{defined_at(function)}")
    for value in [part.value for part in reachable(function)]:
        if is_helper(value) and not (python_of(value).__module__ or "").startswith(OWN):  # type: ignore[arg-type]
            for result in _versions(value):
                if isinstance(result.type_annotation, _annotations.TypeAnnotation):
                    _refuse_statements(result.type_annotation, label, history)


def _versions(function: Any) -> list[Any]:
    """What the compiler has made of a function, for each of the types that it was called with."""
    names = ("dispatcher", "_called_from_python")  # of a `Helper`, as far as it has been compiled
    dispatchers = [vars(function)[name] for name in names if name in vars(function)] or [function]
    versions = list[Any]()
    for dispatcher in dispatchers:
        versions += getattr(dispatcher, "overloads", {}).values()
    return versions


def _refuse_statements(typed: Any, label: str, history: type) -> None:
    """Refuse the statements of a function that `refuse_slips` refuses, by the compiler's types; arguments and errors as there."""
    statements = [statement for block in typed.blocks.values() for statement in block.body]
    # what each variable is assigned
    origins = {each.target.name: each.value for each in statements if isinstance(each, ir.Assign)}
    for statement in statements:
        wrong = ""
        if isinstance(statement, ir.SetAttr | ir.SetItem | ir.StaticSetItem):
            wrong = _wrong_write(typed, statement, origins)
        elif _takes_by_place(typed, getattr(statement, "value", None), history):
            wrong = "reads a field of the history by its index; read it by its name, as in history.moves"
        if wrong:
            place = location(statement.loc.filename, statement.loc.line)
            raise CompilationError(f"{label} {wrong} ({place})")


def _wrong_write(typed: Any, statement: Any, origins: dict[str, Any]) -> str:
    """What is wrong with a statement that writes to a field or an item; "" where nothing is."""
    target, value = typed.typemap[statement.target.name], typed.typemap[statement.value.name]
    if is_read_only(target):
        return "writes to what is read-only"
    is_row = isinstance(target, types.Record) and "record" in target.fields
    if is_row and _field_of(statement) == "record":
        return "writes to the key of a record, stats.record; it may change its other fields only"
    place = _type_of_place(target, statement, origins)
    is_real = isinstance(getattr(value, "dtype", value), types.Float)
    if is_real and isinstance(place, types.Integer):
        return "writes a float, which would be truncated to an integer"
    return ""


def _takes_by_place(typed: Any, value: Any, history: type) -> bool:
    """Whether a value is an item of the history by its place, or its fields are gone through in order."""
    if not isinstance(value, ir.Expr) or value.op not in _BY_PLACE:
        return False
    return getattr(typed.typemap[value.value.name], "instance_class", None) is history


_BY_PLACE = ("getitem", "static_getitem", "exhaust_iter", "getiter")


def _field_of(statement: Any) -> str:
    return statement.attr if isinstance(statement, ir.SetAttr) else str(statement.index)


def _type_of_place(target: Any, statement: Any, origins: dict[str, Any]) -> Any:
    """The type of the field or item that a statement writes to, in a row of θ, an array in such a row, or an argument; else None."""
    if isinstance(target, types.Record):
        return target.typeof(_field_of(statement)) if "record" in target.fields else None
    is_argument = isinstance(origins.get(statement.target.name), ir.Arg)
    return target.dtype if is_argument or isinstance(target, types.NestedArray) else None
