"""What was proven so far: a small table of the package, each line by a race whose rows are kept."""

import json
from importlib.resources import files

import attrs

from icarus.algebra import Enhancement
from icarus.discovery.configuration import Configuration
from icarus.specs import parse

TABLE = "proven.json"


@attrs.frozen
class ProvenConfiguration:
    """A configuration that was proven better than another.

    Attributes:
        configuration: who won; its agents play with `configuration.agent(iterations=…)`.
        iterations: of each decision, at which it was proven.
        reference: who was beaten.
        mean, low, high: the difference in mean reward, and its 99 % interval.
        units: paired units of games that the proof has.
        p: after Holm's correction.
        rate: its iterations per second as a share of the reference's.
    """

    game: str
    configuration: Configuration
    iterations: int
    reference: Configuration
    mean: float
    low: float
    high: float
    units: int
    p: float
    rate: float

    @property
    def strategy(self) -> Enhancement:
        """The composition, without what else the configuration says."""
        return parse(self.configuration.strategy)

    def __str__(self) -> str:
        return (
            f"{self.configuration}: better than {self.reference} by {self.mean:.3f} [{self.low:.3f}, {self.high:.3f}] in {self.game} "
            f"at {self.iterations} iterations"
        )


def proven_configurations() -> dict[str, ProvenConfiguration]:
    """The table, by game."""
    table = json.loads(files("icarus.discovery").joinpath(TABLE).read_text("utf-8"))
    for line in table.values():
        for name in ("configuration", "reference"):
            line[name] = Configuration(**line[name])
    return {game: ProvenConfiguration(game, **line) for game, line in table.items()}


def discovered(game: str) -> ProvenConfiguration:
    """The composition that was proven best for a game.

    Args:
        game: its name, such as "othello".

    Raises:
        ValueError: no race proved anything; the message names the games for which one did. TypeError: `game` is not a name.
    """
    if not isinstance(game, str):
        raise TypeError(f"discovered needs the name of a game, such as 'othello', not {game!r}")
    discoveries = proven_configurations()
    if game not in discoveries:
        raise ValueError(
            f"no race has proved anything for {game!r}; there are results for {', '.join(discoveries) or 'no game yet'}; "
            f"run icarus discover {game}"
        )
    return discoveries[game]
