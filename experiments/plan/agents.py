"""Who plays in an experiment, as its table writes it: a strategy, or a table of a strategy, a scheme and an agent's own iterations."""

from collections.abc import Mapping, Sequence

import attrs

from experiments.plan.checks import Table, nearest, paths, positive, refusing, require, text
from experiments.plan.definition import AgentSpec, Label, Refusal, read_agent, strategy_of
from icarus import Enhancement
from icarus.engine.algorithm import Algorithm, refuse_settings_of_search
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.equilibrium.search import read_scheme

BASELINE = "BASELINE"
AGENT_KEYS = ("strategy", "scheme", "iterations")
OPPONENT_KEYS = ("strategy", "scheme")
CHEATING = "cheating"


@attrs.frozen
class Entry:
    """What a table says of an agent or an opponent: who plays, and an agent's own iterations, if it has any."""

    spec: AgentSpec
    iterations: int | None = None


def read_agents(table: Table, module: str) -> dict[str, Entry]:
    """The agents of a table, by name.

    Raises:
        Refusal: there are none, or one cannot be understood.
    """
    by_name = require(table, "agents")
    if by_name == {}:
        raise Refusal('agents: the table is empty; write a line such as mast = "BASELINE >> MAST"')
    if isinstance(by_name, Mapping):
        entries = {name: read_entry(f"agents.{name}", value, module) for name, value in by_name.items()}
    else:
        entries = {}
        for path, value in paths("agents", table):
            if (name := _name(path, value)) in entries:
                raise Refusal(f"{path}: {name} is in the list twice")
            entries[name] = read_entry(path, value, module)
    honest = {_honest(name, each.spec.scheme): each for name, each in entries.items()}
    if len(honest) < len(entries):
        raise Refusal(f'agents: two have the same name, after "({CHEATING})" was added to agents that cheat')
    return honest


def read_entry(path: str, value: object, module: str, keys: Sequence[str] = AGENT_KEYS) -> Entry:
    """A strategy, or a table of these keys.

    Raises:
        Refusal: it cannot be understood.
    """
    if not isinstance(value, Mapping):
        return Entry(AgentSpec(_strategy(path, value, module)))
    for key in value:
        if key not in keys:
            raise Refusal(f"{path}.{key}: no such key{nearest(key, keys)}")
    if not value:
        raise Refusal(f"{path}: the table is empty; give at least one of {', '.join(keys)}")
    strategy = _strategy(f"{path}.strategy", value.get("strategy", BASELINE), module)
    scheme = _scheme(f"{path}.scheme", value["scheme"]) if "scheme" in value else MO_ISMCTS
    iterations = positive(f"{path}.iterations", value["iterations"]) if "iterations" in value else None
    if isinstance(strategy, Algorithm):
        with refusing():
            refuse_settings_of_search(strategy, scheme=scheme)
    return Entry(AgentSpec(strategy, scheme), iterations)


def _name(path: str, value: object) -> str:
    """The name of an agent that is given none."""
    if not isinstance(value, Mapping):
        return text(path, _as_text(value))
    return ", ".join(text(f"{path}.{key}", str(part)) for key, part in value.items())


def _scheme(path: str, value: object) -> Scheme:
    """A scheme, or what its text describes."""
    if isinstance(value, Scheme):
        return value
    with refusing(path):
        return read_scheme(text(path, value))


def _honest(name: str, scheme: Scheme) -> str:
    """The name of an agent; one that cheats says so."""
    return f"{name} ({CHEATING})" if scheme.cheats and CHEATING not in name.lower() else name


def _strategy(path: str, value: object, module: str) -> Enhancement | Algorithm:
    """A strategy, or what its text describes.

    Rows, keys and workers know a strategy by its text alone: the text must name what a Python file gives, and nothing of the library.

    Raises:
        Refusal: the text cannot be understood, or it names something else.
    """
    with refusing(path, (TypeError, ValueError)):
        strategy = strategy_of(text(path, _as_text(value)), module)
    if isinstance(value, Enhancement | Algorithm) and strategy != value:
        raise Refusal(
            f'{path}: "{value}" names another strategy than the one that is given; give what was changed a name of its own, '
            'MINE = attrs.evolve(…, name="MINE"), at the top of the file'
        )
    in_library = read_agent(str(strategy)).strategy
    if not isinstance(in_library, Label) and strategy != in_library:
        raise Refusal(
            f'{path}: the library has another strategy "{strategy}"; rename what the file defines by that name'
        )
    return strategy


def _as_text(value: object) -> object:
    """A composition as text; in Python files people also write the value itself."""
    return str(value) if isinstance(value, Enhancement | Algorithm) else value
