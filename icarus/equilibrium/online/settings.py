"""Settings of searches as text, "OOS(delta=0.5)", and back."""

import ast
from typing import Any, TypeVar

import attrs

S = TypeVar("S")


def written(settings: Any) -> str:
    """Settings as a call with what differs from the defaults."""
    told = []
    for field in attrs.fields(type(settings)):
        value = getattr(settings, field.name)
        if value != field.default:
            told.append(f"{field.name}={str(value) if field.name == 'tail' else value!r}")
    return f"{type(settings).__name__}({', '.join(told)})"


def read(text: str, kind: type[S], what: str) -> S:
    """The settings that a call describes; the name alone has all the defaults.

    Args:
        kind: of settings.
        what: the search, as the message names it.

    Raises:
        ValueError: there are no such settings; the message says which there are.
    """
    names = [field.name for field in attrs.fields(kind)]  # type: ignore[arg-type]
    try:
        call = ast.parse(text.strip(), mode="eval").body
        if isinstance(call, ast.Name) and call.id == kind.__name__:
            return kind()
        assert isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == kind.__name__
        assert not call.args and all(keyword.arg in names for keyword in call.keywords)
        given = {str(keyword.arg): _value(keyword) for keyword in call.keywords}
    except (AssertionError, SyntaxError, TypeError, ValueError):
        example = f"{kind.__name__}({names[min(1, len(names) - 1)]}=…)"
        raise ValueError(
            f"{text!r} is no search; {what} is written {example} with any of {', '.join(names)}, or {kind.__name__}()"
        ) from None
    return kind(**given)


def _value(keyword: ast.keyword) -> Any:
    if keyword.arg == "tail" and not isinstance(keyword.value, ast.Constant):
        return ast.unparse(keyword.value)
    return ast.literal_eval(keyword.value)
