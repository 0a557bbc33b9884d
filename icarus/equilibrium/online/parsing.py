"""What a text means where strategies are named: a composition, or the settings of an algorithm that keeps the tree of a game."""

from collections.abc import Iterable, Mapping

from icarus.algebra import Enhancement
from icarus.algebra.parsing import Operand
from icarus.engine.algorithm import Algorithm
from icarus.engine.match import Agent
from icarus.engine.scheme import Scheme, parse_scheme
from icarus.equilibrium.online.ismcts import ISMCTS
from icarus.equilibrium.online.near_equilibrium import NearEquilibrium
from icarus.equilibrium.online.oos import OOS
from icarus.equilibrium.online.settings import read
from icarus.equilibrium.tree.tree import refuse_unless_walkable
from icarus.kernel.game import AnyGame
from icarus.specs import parse

TITLES: dict[type[Algorithm], str] = {
    OOS: "Online Outcome Sampling",
    ISMCTS: "ISMCTS over a whole game tree",
    NearEquilibrium: "a player near an equilibrium",
}
ALGORITHMS = {kind.__name__: kind for kind in TITLES}


def names_algorithm(text: str) -> bool:
    """Whether a text begins like the settings of an algorithm, such as "OOS(delta=0.5)"."""
    return isinstance(text, str) and _name(text) in ALGORITHMS


def parse_algorithm(text: str) -> Algorithm:
    """The settings written so: "OOS", "ISMCTS(selection='EXP3')"; `parse_algorithm(str(settings)) == settings`.

    Raises:
        ValueError: there are no such settings; the message names the valid ones.
    """
    if not names_algorithm(text):
        raise ValueError(
            f"{text!r} is not an algorithm; known algorithms: {', '.join(f'{name}()' for name in ALGORITHMS)}"
        )
    kind = ALGORITHMS[_name(text)]
    return read(text, kind, TITLES[kind])


def parse_strategy(text: str, enhancements: Mapping[str, Operand]) -> Enhancement | Algorithm:
    """The composition or the algorithm that a text describes.

    Args:
        enhancements: of one's own, by name.

    Raises:
        ValueError: it cannot be understood.
    """
    return parse_algorithm(text) if names_algorithm(text) else parse(text, **enhancements)


def read_scheme(text: str) -> Scheme:
    """The scheme written so.

    Raises:
        ValueError: there is no such scheme, or the text is an algorithm, which is given instead of a strategy.
    """
    if names_algorithm(text):
        raise ValueError(f"{text} is an algorithm, not a scheme; give it instead of a strategy, without a scheme")
    return parse_scheme(text)


def check_trees(game: AnyGame, players: Iterable[Agent]) -> None:
    """Refuse a game whose tree some player would keep and cannot.

    Args:
        players: with their `strategy`.

    Raises:
        ValueError: not two players, deals in secret, or too large.
    """
    if any(isinstance(player.strategy, Algorithm) for player in players):
        refuse_unless_walkable(game)


def _name(text: str) -> str:
    return text.split("(")[0].strip()
