"""Strategies as they are typed: alone, or with the settings that a race prints behind its winner."""

from collections.abc import Mapping
from typing import Any

from icarus.discovery.configuration import Configuration, read_configuration
from icarus.engine.scheme import Scheme, parse_scheme
from icarus.equilibrium.online.parsing import parse_strategy


def agent_settings(text: str, names: Mapping[str, Any], scheme: Scheme, move_decay: float = 0.0) -> dict[str, Any]:
    """Strategy, scheme and decay for `Agent`. What a race prints behind its winner, "[scheme = …, move_decay = …]", goes before options.

    Args:
        names: enhancements of one's own, by name.
        scheme, move_decay: by the options.

    Raises:
        ValueError: the text cannot be understood.
    """
    player = read_configuration(text) if text.rstrip().endswith("]") else Configuration(text)
    strategy, usual = parse_strategy(player.strategy, names), Configuration(player.strategy)
    if player.scheme != usual.scheme:
        scheme = parse_scheme(player.scheme)
    return {"strategy": strategy, "scheme": scheme, "move_decay": player.move_decay or move_decay}
