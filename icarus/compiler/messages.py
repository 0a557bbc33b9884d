"""What the compiler refuses, told in one sentence."""

import dis
import re
import traceback
import types as pytypes
from collections.abc import Callable, Iterable

from icarus.compiler.digest import reachable
from icarus.compiler.kernels.functions import plain
from icarus.compiler.location import location
from icarus.compiler.read_only import is_authors, places_in, places_of_authors


def home(function: Callable | None) -> str:
    """Where a function stands, as "in f (file, line n)"."""
    assert function is not None
    return f"in {plain(function).__code__.co_name}{defined_at(function)}"


def defined_at(function: Callable) -> str:
    """Where a function is defined, as " (file, line n)"; "" for one of C."""
    code = getattr(plain(function), "__code__", None)
    return "" if code is None else f" ({location(code.co_filename, code.co_firstlineno)})"


def raised_in(function: Callable, error: BaseException) -> str:
    """Where an error last came through the file of a function, as `defined_at` tells it."""
    file = getattr(getattr(plain(function), "__code__", None), "co_filename", None)
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
    return f" ({location(file, lines[-1])})" if file and lines else defined_at(function)


def mention(function: Callable, mentioned: str) -> str:
    """Where a name stands in the code that a function reaches, as " (file, line n)"; "" if nowhere."""
    for _, value, _ in reachable(function):
        if isinstance(value, pytypes.FunctionType):
            for instruction in dis.get_instructions(value):
                if instruction.argval == mentioned and instruction.opname in NAMING:
                    line = instruction.positions.lineno if instruction.positions else "?"
                    return f" ({location(value.__code__.co_filename, line)})"
    return ""


def about_fields(error: BaseException) -> str:
    """The fields of the record that was asked for another one, as "; it has player, action"; "" where the compiler does not keep it."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    fields = getattr(frame and frame.tb_frame.f_locals.get("self"), "fields", None)
    return f"; it has {', '.join(fields)}" if fields else ""


def reason(function: Callable, error: Exception, returns: str = "") -> str:
    """What the compiler says, reduced to what is wrong and where.

    Args:
        returns: what the function must return, in words.
    """
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    sentence = _about_names(function, text) or _about_syntax(function, text) or _about_result(function, text, returns)
    return sentence or _about_types(function, text)


def _about_names(function: Callable, text: str) -> str:
    """That a name is not defined, or is that of a function which is not compiled."""
    if unknown := re.search(r"name '(\w+)' is not defined", text):
        return f"the name {unknown[1]!r} is not defined{mention(function, unknown[1])}"
    if unmarked := re.search(r"name '(\w+)':\s+Cannot determine Numba type of <class 'function'>", text):
        return f"{unmarked[1]} is a plain function; mark it @helper{mention(function, unmarked[1])}"
    outside = re.search(
        r"name '(?P<name>\w+)':\s+Cannot determine Numba type of <class '(?:\w+\.)*(?P<kind>\w+)'>", text
    )
    outside = outside or re.search(
        r"use of a reflected (?P<kind>\w+).*? type, assigned to variable '(?P<name>\w+)'", text
    )
    if outside:
        where = mention(function, outside["name"])
        return (
            f"{outside['name']} is a {outside['kind']}, which compiled code cannot read; use a tuple or an array{where}"
        )
    return ""


def _about_syntax(function: Callable, text: str) -> str:
    """Where a statement stands that compiled code cannot have."""
    if opcode := re.search(r"unsupported opcode \((\w+)\) found. Raised from (.+) \((\d+)\)", text):
        statement = STATEMENTS.get(opcode[1], f"the instruction {opcode[1]}")
        return f"it contains {statement}, which compiled code does not support ({location(opcode[2], opcode[3])})"
    if "use of yield in a closure" in text:
        where = "".join(f" ({location(*place)})" for place in places_of_authors(text)[:1])
        return (
            f"it contains a generator expression, which compiled code does not support; write a loop or a list{where}"
        )
    if "context manager" in text:
        return f"it contains a with block, which compiled code does not support{_place_of(function, 'BEFORE_WITH')}"
    caught = re.search(r"exception_match\(none, (\w+)\)", text)
    if caught or "exception handling" in text or "try .. except" in text:
        kind = f" of {caught[1]}" if caught else ""
        place = _place_of(function, "CHECK_EXC_MATCH" if caught else "PUSH_EXC_INFO")
        return f"it contains an except{kind}, which compiled code does not support{place}"
    return ""


def _about_result(function: Callable, text: str, returns: str) -> str:
    """That a function returns something else than it must."""
    result = re.search(r"No conversion from (.+) to \w+ for '\$[\w.]*return_value", text, re.DOTALL)
    if not result or not returns:
        return ""
    author = _author_of(function)
    return f"it returns {kind_of(result[1])}; it must return {returns}{defined_at(author)}"


def about_kinds(function: Callable, kinds: Iterable[object], returns: str) -> str:
    """That a function which must return something returns nothing on some of its ways, or a float for an integer; "" where it does not.

    Args:
        kinds: the compiler's types of all that is in the kernel `function`, which calls it.
    """
    named = [str(kind) for kind in kinds]
    result = next((kind for kind in named if kind.startswith("OptionalType(")), None)
    if result is not None:
        wrong = f"{kind_of(result.removeprefix('OptionalType('))} on some ways and nothing on others"
    elif "float64" in named and not returns.startswith("a probability"):
        wrong = "a float"
    else:
        return ""
    return f"it returns {wrong}; it must return {returns}{defined_at(_author_of(function))}"


def _about_types(function: Callable, text: str) -> str:
    """What the compiler says of types, with the author's line."""
    where = "".join(f" ({location(*place)})" for place in (places_of_authors(text) or places_in(text))[:1])
    lines = [line.strip().removeprefix("- ") for line in text.splitlines()]
    called = next((line.removeprefix(">>> ") for line in lines if line.startswith(">>> ")), "")
    # By what is called itself.
    if refused := re.search(r"TypingError: ((?:update|record)\(.+)", text) or re.search(r"uncallable: (.+)", text):
        return refused[1].strip().rstrip(":.") + where
    if written := re.match(r"setitem\((.+)\)$", called):
        target, *_, value = _arguments(written[1])
        return f"{kind_of(value)} cannot be written into {kind_of(target)}{where}"
    if unusable := _about_use(text):
        return unusable + where
    if unknown := re.search(r"Unknown attribute '(\w+)' of type (.+)", text):
        fields = _fields_of(function, unknown[2])
        return f"{kind_of(unknown[2])} has no {unknown[1]!r}{f'; it has {fields}' if fields else ''}{where}"
    operation = re.search(r"No implementation of function Function\(<(?:built-in )?function (\w+)", text)
    if operation and (operands := re.match(r"[\w.]+\((.*)\)$", called)):
        kinds = " and ".join(map(kind_of, _arguments(operands[1]))) or "nothing"
        return f"compiled code does not support {OPERATORS.get(operation[1], operation[1])} of {kinds}{where}"
    reasons = [line for line in lines if line and not line.startswith(SKIPPED) and not set(line) <= set("~^- ")]
    telling = next((line for line in reasons if any(word in line for word in TELLING)), "")
    telling = telling or next(iter(reasons), "its types cannot be inferred")
    return f"{telling.removesuffix(' found for signature:')} {called}".strip().rstrip(":.") + where


def _about_use(text: str) -> str:
    """That a function is called with other arguments, or that compiled code has no such function or expression."""
    bound = re.search(r"Cannot bind .* to signature '\((.*)\) -> .*due to \"TypeError: ([^\"]+)\"", text, re.DOTALL)
    if bound:
        names = ", ".join(re.findall(r"(\w+): ", bound[1]))
        return f"a function of ({names}) is called with other arguments: {bound[2]}"
    unknown = re.search(r"Unknown attribute '(\w+)' of type (.+)", text)
    if unknown and (module := re.match(r"Module\(<module '([\w.]+)'", unknown[2])):
        return f"compiled code has no {module[1]}.{unknown[1]}"
    if unknown and unknown[1] == "add" and unknown[2].startswith("iter("):
        return "it has a set comprehension, which compiled code cannot have"
    empty = re.search(r"type of variable '(\w+)', have imprecise type: list\(undefined\)", text)
    if empty:
        return f"the list {empty[1]} never gets an item, so that its type is not known; use np.empty(n, np.int64)"
    cast = re.search(r"Cannot cast (\S+) to (\w+)", text)
    return f"{kind_of(cast[1])} cannot be written in place of {kind_of(cast[2])}" if cast else ""


SKIPPED = (
    "Failed in", "During:", "File ", "<source", "^", "This error", "There are", "raised from", "Overload", "In definition"
)  # fmt: skip
NAMING = ("LOAD_ATTR", "STORE_ATTR", "LOAD_GLOBAL", "LOAD_METHOD")  # instructions that have a name
TELLING = ("No implementation", "Unknown attribute", "Untyped", "Cannot", "Invalid use", "undefined", "not")
STATEMENTS = {
    "IMPORT_NAME": "an import inside a function",
    "LOAD_BUILD_CLASS": "a class inside a function",
    "STORE_GLOBAL": "an assignment to a global",
    "DELETE_GLOBAL": "the deletion of a global",
    "STORE_ATTR": "an assignment to an attribute",
}  # by the instruction of Python that the compiler does not know
OPERATORS = {
    "add": "+", "iadd": "+=", "sub": "-", "isub": "-=", "mul": "*", "imul": "*=", "truediv": "/", "floordiv": "//",
    "mod": "%", "pow": "**", "lshift": "<<", "rshift": ">>", "and_": "&", "or_": "|", "xor": "^", "eq": "==", "ne": "!=",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "contains": "in", "getitem": "indexing", "neg": "-", "truth": "the truth value",
}  # fmt: skip
KINDS = (
    (r"none\b", "nothing"),
    (r"\S+ generator", "a generator"),
    (r"History\(", "a history"),
    (r"(Literal\[str\]|unicode_type)", "a str"),
    (r"(Literal\[int\]|u?int\d+|intp)", "an integer"),
    (r"float\d+", "a float"),
    (r"(Literal\[bool\]|bool)", "True or False"),
    (r"array\(u?int", "an array of integers"),
    (r"(unaligned )?array\(float", "an array of floats"),
    (r"(Array|array|nestedarray|NestedArray|unaligned array)\(", "an array"),
    (r"(Record|unaligned Record)\(", "a record"),
    (r"(Uni)?Tuple\(", "a tuple"),
    (r"(reflected )?list\(|ListType", "a list"),
    (r"DictType|dict", "a dictionary"),
    (r"(reflected )?set\(", "a set"),
    (r"type\(CPUDispatcher|Function\(", "a function"),
)  # of the compiler's types, by how their names begin


def kind_of(named: str) -> str:
    """A type of the compiler's in words."""
    kind = next((words for pattern, words in KINDS if re.match(pattern, named.strip())), None)
    return kind or re.sub(r"[(\[].*", "", named.strip(), flags=re.DOTALL)


def _arguments(text: str) -> list[str]:
    """The arguments of a call as it is written, each by itself."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([{<") - (letter in ")]}>")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def _fields_of(function: Callable, named: str) -> str:
    """The fields of a named tuple, or of a record, that the compiler calls so; "" of anything else."""
    if re.match(r"(?:unaligned )?Record\((.+)", named):
        return ", ".join(re.findall(r"(\w+)\[type=", named))
    for _, value, _ in reachable(function):
        if isinstance(value, type) and named.startswith(f"{value.__name__}("):
            return ", ".join(getattr(value, "_fields", ()))
    return ""


def _functions_of(function: Callable) -> list[pytypes.FunctionType]:
    """The functions of authors that a function reaches."""
    reached = [value for _, value, _ in reachable(function) if isinstance(value, pytypes.FunctionType)]
    return [value for value in reached if is_authors(value.__code__.co_filename)]


def _author_of(function: Callable) -> Callable:
    return next(iter(_functions_of(function)), function)


def _place_of(function: Callable, opcode: str) -> str:
    """Where an instruction of Python first stands in the functions that a function reaches, as " (file, line n)"."""
    for value in _functions_of(function):
        line = value.__code__.co_firstlineno
        for instruction in dis.get_instructions(value):
            line = (instruction.positions and instruction.positions.lineno) or line
            if instruction.opname == opcode:
                return f" ({location(value.__code__.co_filename, line)})"
    return ""
