"""Settings of algorithms as text, "OOS(delta=0.5)", and back."""

import ast
from typing import TypeVar

import attrs

from icarus.engine.algorithm import Algorithm

S = TypeVar("S")


class Settings(Algorithm):
    """An algorithm whose text is a call with what differs from the defaults."""

    __slots__ = ()

    def __str__(self) -> str:
        texts = []
        for field in attrs.fields(type(self)):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                texts.append(f"{field.name}={str(value) if field.name == 'tail' else value!r}")
        return f"{type(self).__name__}({', '.join(texts)})"

    __repr__ = __str__


def read(text: str, kind: type[S], title: str) -> S:
    """The settings that a call describes; the name alone has all the defaults.

    Args:
        kind: of settings.
        title: of the algorithm, as the message names it.

    Raises:
        ValueError: there are no such settings; the message names the valid ones.
    """
    names = [field.name for field in attrs.fields(kind)]  # type: ignore[arg-type]
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Name) and call.id == kind.__name__:
            return kind()
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == kind.__name__
        assert not call.args and all(keyword.arg in names for keyword in call.keywords)
        values = {str(keyword.arg): _value(keyword) for keyword in call.keywords}
    except (AssertionError, SyntaxError, TypeError, ValueError):
        example = f"{kind.__name__}({names[min(1, len(names) - 1)]}=…)"
        raise ValueError(
            f"{text!r} is not a search; write {title} as {example} with any of {', '.join(names)}, or as {kind.__name__}()"
        ) from None
    return kind(**values)


def _value(keyword: ast.keyword) -> object:
    if keyword.arg == "tail" and not isinstance(keyword.value, ast.Constant):
        return ast.unparse(keyword.value)
    return ast.literal_eval(keyword.value)
