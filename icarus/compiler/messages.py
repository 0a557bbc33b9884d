"""What the compiler refuses, told in one sentence."""

import dis
import re
import traceback
import types as pytypes
from collections.abc import Callable
from pathlib import Path

from icarus.compiler.cache.dependencies import reachable
from icarus.compiler.cache.digest import PACKAGE
from icarus.compiler.kernels.functions import plain

ENGINE = ("compiler", "kernel", "engine")  # folders of the package in which no author's mistake lies


def home(function: Callable | None) -> str:
    """Where a function stands, as "in f (file, line n)"."""
    assert function is not None
    code = plain(function).__code__
    return f"in {code.co_name} ({code.co_filename}, line {code.co_firstlineno})"


def defined_at(function: Callable) -> str:
    """Where a function is defined, as " (file, line n)"; "" for one of C."""
    code = getattr(plain(function), "__code__", None)
    return "" if code is None else f" ({code.co_filename}, line {code.co_firstlineno})"


def raised_in(function: Callable, error: BaseException) -> str:
    """Where an error last came through the file of a function, as `defined_at` tells it."""
    code = getattr(plain(function), "__code__", None)
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if code and frame.filename == code.co_filename
    ]
    return f" ({code.co_filename}, line {lines[-1]})" if code and lines else defined_at(function)


def mention(function: Callable, mentioned: str) -> str:
    """Where a name stands in the code that a function reaches, as " (file, line n)"; "" if nowhere."""
    for _, value in reachable(function):
        if isinstance(value, pytypes.FunctionType):
            for instruction in dis.get_instructions(value):
                if instruction.argval == mentioned and instruction.opname in (
                    "LOAD_ATTR",
                    "STORE_ATTR",
                    "LOAD_GLOBAL",
                    "LOAD_METHOD",
                ):
                    line = instruction.positions.lineno if instruction.positions else "?"
                    return f" ({value.__code__.co_filename}, line {line})"
    return ""


def reason(function: Callable, error: Exception) -> str:
    """What the compiler says, reduced to what is wrong and where."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    unknown = re.search(r"name '(\w+)' is not defined", text)
    if unknown:
        return f"the name {unknown[1]!r} is not defined{mention(function, unknown[1])}"
    unmarked = re.search(r"name '(\w+)':\s+Cannot determine Numba type of <class 'function'>", text)
    if unmarked:
        return f"{unmarked[1]} is a plain function; mark it @helper{mention(function, unmarked[1])}"
    places = [(Path(path).resolve(), line) for path, line in re.findall(r'File "([^"]+)", line (\d+)', text)]
    authors = [
        place for place in places if place[0].parent.parent != PACKAGE or place[0].parent.name not in ENGINE
    ] or places
    lines = [line.strip().removeprefix("- ") for line in text.splitlines()]
    skipped = (
        "Failed in",
        "During:",
        "File ",
        "<source",
        "^",
        "This error",
        "There are",
        "raised from",
        "Overload",
        "In definition",
    )
    reasons = [line for line in lines if line and not line.startswith(skipped) and not set(line) <= set("~^- ")]
    telling = ("No implementation", "Unknown attribute", "Untyped", "Cannot", "Invalid use", "undefined", "not")
    reason = next(
        (line for line in reasons if any(word in line for word in telling)),
        reasons[0] if reasons else "it cannot be typed",
    )
    # By what is called itself.
    refused = re.search(r"TypingError: ((?:update|record)\(.+)", text) or re.search(r"uncallable: (.+)", text)
    if refused:
        reason = refused[1]
    call = "" if refused else next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), "")
    where = f" ({authors[0][0]}, line {authors[0][1]})" if authors else ""
    return f"{reason.removesuffix(' found for signature:')} {call}".strip().rstrip(":.") + where
