"""Who plays, as text: what a point of a space stands for, and what rows hold."""

import re

import attrs

from icarus.algebra.parsing import Operand
from icarus.engine.match import Agent
from icarus.engine.scheme import MO_ISMCTS, parse_scheme
from icarus.specs import parse


@attrs.frozen
class Configuration:
    """Who plays: a strategy, and how it searches; all as text, so that rows can hold it.

    Attributes:
        strategy: as `icarus.parse` reads it.
        scheme: as `icarus.parse_scheme` reads it, with its cut-off.
        move_decay: see `icarus.Agent`.
    """

    strategy: str
    scheme: str = str(MO_ISMCTS)
    move_decay: float = 0.0

    def agent(self, iterations: int | None = None, seconds: float | None = None, **names: Operand) -> Agent:
        """The player of a match.

        Args:
            names: enhancements that the strategy may name, see `icarus.parse`.

        Raises:
            ValueError: the strategy or the scheme cannot be read.
        """
        scheme, strategy = parse_scheme(self.scheme), parse(self.strategy, **names)
        return Agent(strategy, iterations=iterations, seconds=seconds, scheme=scheme, move_decay=self.move_decay)

    def __str__(self) -> str:
        usual = Configuration(self.strategy)
        changed = [f"{name} = {value}" for name, value in attrs.asdict(self).items() if value != getattr(usual, name)]
        return self.strategy + (f"   [{', '.join(changed)}]" if changed else "")


_TEXT = re.compile(
    r"(?P<strategy>.+?)(\s+\[(scheme = (?P<scheme>.+?))?(, )?(move_decay = (?P<decay>[0-9.]+(e-[0-9]+)?))?\])?"
)


def read_configuration(text: str) -> Configuration:
    """The configuration that a text of `str(configuration)` stands for.

    Raises:
        ValueError: `text` is not a configuration. TypeError: it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a configuration must be a Configuration or a str, such as 'RAVE >> MAST', not {text!r}")
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a configuration")
    return Configuration(match["strategy"], match["scheme"] or str(MO_ISMCTS), float(match["decay"] or 0))
