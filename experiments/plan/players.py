"""Who plays in an experiment, as its table writes it: a strategy, or a table of a strategy, a scheme and an agent's own iterations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from experiments.plan.checks import nearest, paths, positive, required, text
from experiments.plan.definition import SCHEME, Refusal
from icarus import Enhancement, parse
from icarus.commands.own_files import load_files
from icarus.engine.scheme import Scheme, parse_scheme

BASELINE = "BASELINE"
AGENT_KEYS = ("strategy", "scheme", "iterations")
OPPONENT_KEYS = ("strategy", "scheme")
CHEATING = "cheating"


@attrs.frozen
class Player:
    """What a table says of an agent or an opponent: see `Cell`."""

    strategy: str
    scheme: str = SCHEME
    iterations: int | None = None


def agents(table: Mapping[str, Any], module: str) -> dict[str, Player]:
    """The agents of a table, by name.

    Raises:
        Refusal: there are none, or one cannot be understood.
    """
    given = required(table, "agents")
    if isinstance(given, Mapping) and given:
        named = {name: player(f"agents.{name}", value, module) for name, value in given.items()}
    else:
        named = {_name(path, value): player(path, value, module) for path, value in paths("agents", table)}
    honest = {_honest(name, player.scheme): player for name, player in named.items()}
    if len(honest) < len(named):
        raise Refusal(f'agents: two have the same name, with "({CHEATING})" added to what cheats')
    return honest


def player(path: str, value: Any, module: str, keys: Sequence[str] = AGENT_KEYS) -> Player:
    """A strategy, or a table of these keys.

    Raises:
        Refusal: it cannot be understood.
    """
    if not isinstance(value, Mapping):
        return Player(_strategy(path, value, module))
    for key in value:
        if key not in keys:
            raise Refusal(f"{path}.{key}: no such key{nearest(key, keys)}")
    if not value:
        raise Refusal(f"{path}: the table is empty; give at least one of {', '.join(keys)}")
    strategy = _strategy(f"{path}.strategy", value.get("strategy", BASELINE), module)
    scheme = _scheme(f"{path}.scheme", value.get("scheme", SCHEME))
    return Player(
        strategy, scheme, positive(f"{path}.iterations", value["iterations"]) if "iterations" in value else None
    )


def _name(path: str, value: Any) -> str:
    """The name of an agent that is given none."""
    if not isinstance(value, Mapping):
        return text(path, _written(value))
    return ", ".join(text(f"{path}.{key}", str(part)) for key, part in value.items())


def _scheme(path: str, value: Any) -> str:
    """A scheme in its canonical spelling."""
    try:
        return str(parse_scheme(text(path, str(value) if isinstance(value, Scheme) else value)))
    except ValueError as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"{path}: {error}") from None


def _honest(name: str, scheme: str) -> str:
    """The name of an agent; one that cheats says so."""
    return f"{name} ({CHEATING})" if parse_scheme(scheme).cheats and CHEATING not in name.lower() else name


def strategy(text: str, module: str) -> Enhancement:
    """The composition that a text describes, with the names that a Python file defines, if one is given.

    Raises:
        ValueError: the text cannot be understood, or see `load_file`.
    """
    return parse(text, **load_files([Path(module)] if module else []))


def _strategy(path: str, value: Any, module: str) -> str:
    """A strategy in its canonical spelling."""
    try:
        return str(strategy(text(path, _written(value)), module))
    except (ValueError, TypeError) as error:
        if isinstance(error, Refusal):
            raise
        raise Refusal(f"{path}: {error}") from None


def _written(value: Any) -> Any:
    """A composition as text; in Python files people also write the value itself."""
    return str(value) if isinstance(value, Enhancement) else value
