"""The settings of Online Outcome Sampling (Lanctot, Lisý and Bowling, 2015)."""

from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.policy import RULE_ARGMAX, RULE_EPSILON_GREEDY, RULE_GIBBS, RULE_ROULETTE, RULE_UNIFORM
from icarus.equilibrium.arrays import NOTHING
from icarus.equilibrium.outcome import SETTINGS
from icarus.equilibrium.settings import read, written
from icarus.equilibrium.targets import INFORMATION_SET, TARGETS
from icarus.kernel.game import Game
from icarus.specs import MAST, TO_MAST, parse

AVERAGE, CURRENT = "average", "current"
_TAIL_RULES = (RULE_GIBBS, RULE_EPSILON_GREEDY, RULE_ROULETTE, RULE_ARGMAX)


def _tail(given: Any) -> Enhancement | None:
    """The policy of the playouts beyond the tree; text is parsed."""
    tail = parse(given) if isinstance(given, str) else given
    if tail is None:
        return None
    if isinstance(tail, Enhancement) and len(tail.components) == 1:
        alike = tail.policy.source == MAST.policy.source and tail.backpropagation == MAST.backpropagation
        if alike and tail.policy.rule.code in _TAIL_RULES and tail.capture in (MAST.capture, TO_MAST.capture):
            return tail
    raise ValueError(
        f"tail is {given!r}; it must be None for uniform choice, or MAST or TO_MAST with a rule other than UCB1, such as "
        "mast(epsilon_greedy(0.2))"
    )


@attrs.frozen(kw_only=True, repr=False)
class OOS:
    """How Online Outcome Sampling searches (Lanctot, Lisý and Bowling, 2015).

    Attributes:
        target: "information set" (IST): what agrees with all that the searching player knows; or "public subgame" (PST): what agrees
            with the actions that everybody saw.
        delta: δ, the probability that an iteration aims at the target. With 1 convergence is lost.
        exploration: ε of the sampling.
        regret_exploration: γ: how much of the uniform policy is mixed into regret matching.
        compensation: the factor w_T of the version of AAMAS 2015 on all updates of a search, so that samples made before the match came
            to the target do not outweigh those made since: w_T = (1 − δ) + δ / π̄(Z_sub), how much more often the target is reached by
            aiming than by the average policy (as the text defines it: the printed formula is 1 for IST).
        tail: who plays on beyond the tree: None for uniform choice, or MAST or TO_MAST by Gibbs, ε-greedy, roulette or argmax.
        play: the "average" policy, or the "current" one of the regrets.

    Raises:
        ValueError: a value that is none of these.
    """

    target: str = INFORMATION_SET
    delta: float = 0.9
    exploration: float = 0.4
    regret_exploration: float = 0.01
    compensation: bool = False
    tail: Enhancement | None = attrs.field(default=None, converter=_tail)
    play: str = AVERAGE

    def __attrs_post_init__(self) -> None:
        for name, known in (("target", TARGETS), ("play", (AVERAGE, CURRENT)), ("compensation", (True, False))):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} is {getattr(self, name)!r}; it must be {known[0]!r} or {known[1]!r}")
        checks.real("delta", self.delta, 0, 1)
        checks.real("exploration", self.exploration, 0, 1, above=True)
        checks.real("regret_exploration", self.regret_exploration, 0, 1)

    def __str__(self) -> str:
        return written(self)

    __repr__ = __str__

    def settings(self, game: Game) -> np.ndarray:
        """[1] of SETTINGS."""
        settings, (low, high) = np.zeros(1, SETTINGS), game.gains
        for name in ("delta", "exploration", "regret_exploration"):
            settings[name] = getattr(self, name)
        settings["aimed"] = NOTHING
        settings["weight"], settings["low"], settings["range"] = 1.0, low, high - low
        settings["rule"] = RULE_UNIFORM if self.tail is None else self.tail.policy.rule.code
        if self.tail is not None:
            settings["parameter"] = next((value for _, value in self.tail.policy.rule.parameters), 0.0)
            settings["beyond"] = self.tail.capture == MAST.capture
        return settings


def parse_oos(text: str) -> OOS:
    """The settings written so: "OOS", "OOS(target='public subgame', delta=0.5)"; `parse_oos(str(settings)) == settings`.

    Raises:
        ValueError: there are no such settings; the message says which there are.
    """
    return read(text, OOS, "Online Outcome Sampling")
