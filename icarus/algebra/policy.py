"""Forms of the policy function α, and the weights of mixtures.

A *rule* turns values into a choice: `argmax` (eq. 13), `ucb1`, `gibbs`, `epsilon_greedy`, `roulette`, `reply`. A rule over a
`@values` function uses v as it is; over a `@candidates` function, v(a) is made from the information of the record that tells about a:
the mean reward q/n, or UCB1.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from icarus.algebra.information import COUNT, Information
from icarus.algebra.slots import Candidates, Values
from icarus.checks import real
from icarus.kernel import Theta, inlined, reward_of

RULE_UNIFORM, RULE_ARGMAX, RULE_GIBBS, RULE_ROULETTE = range(4)
RULE_EPSILON_GREEDY, RULE_REPLY, RULE_GIBBS_OF_MEANS, RULE_VOTE = range(4, 8)


@attrs.frozen
class Rule:
    """How values become a probability distribution over the legal actions.

    Attributes:
        name, formula: for printing.
        code: what the playout loop does.
        parameters: (name, value): the temperature τ, ε or the exploration constant c.
        bandit: whether values over records are UCB1's rather than means.
    """

    name: str
    code: int
    formula: str
    parameters: tuple[tuple[str, float], ...] = ()
    bandit: bool = False

    def over(self, source: Candidates | Values) -> "Policy":
        """The policy that applies this rule to a `@candidates` or a `@values` function."""
        return Policy(self, source)

    def rebound(self, parameters: Mapping[str, Any]) -> "Rule":
        """The same rule with other values of those parameters that it has."""
        given = {name: parameters[name] for name, _ in self.parameters if name in parameters}
        return RULES[self.name](**given) if given else self

    def __str__(self) -> str:
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in self.parameters)})"


def check_rule(rule: Rule) -> Rule:
    """The rule itself.

    Raises:
        TypeError: `rule` is not a rule of reuse.
    """
    if not isinstance(rule, Rule):
        raise TypeError(
            f"{rule!r} is not a rule of reuse; rules are ucb1(), gibbs(), epsilon_greedy(), roulette()"
        )
    return rule


def ucb1(exploration: float = 0.7) -> Rule:
    """U[arg max of UCB1]: counts trials by availability where the information has it, else by the visits of all legal actions."""
    value = real("exploration of ucb1", exploration, 0, 1e9)
    return Rule(
        "ucb1",
        RULE_ARGMAX,
        f"U[arg max v(a)], v UCB1, c = {value:g}",
        (("exploration", value),),
        bandit=True,
    )


def argmax() -> Rule:
    """U[arg max v(a)] (eq. 13)."""
    return Rule("argmax", RULE_ARGMAX, "U[arg max v(a)]")


def gibbs(temperature: float = 1.0) -> Rule:
    """P(a) ∝ exp(v(a)/τ) (MAST-4)."""
    value = real("temperature of gibbs", temperature, 0, 1e9, above=True)
    return Rule(
        "gibbs", RULE_GIBBS, f"P(a) ∝ e^{{v(a)/τ}}, τ = {value:g}", (("temperature", value),)
    )


def epsilon_greedy(epsilon: float = 0.2) -> Rule:
    """ε U[A] + (1 − ε) U[arg max v(a)] (MAST-ε-greedy-4)."""
    value = real("epsilon of epsilon_greedy", epsilon, 0, 1)
    formula = f"ε U[A_s] + (1 − ε) U[arg max v(a)], ε = {value:g}"
    return Rule("epsilon_greedy", RULE_EPSILON_GREEDY, formula, (("epsilon", value),))


def roulette() -> Rule:
    """P(a) ∝ v(a) (MAST-Roulette-4); uniform where all values are 0, and among those that are +∞."""
    return Rule("roulette", RULE_ROULETTE, "P(a) ∝ v(a)")


def reply() -> Rule:
    """Plays the action of positive value, if there is one, else uniformly (LGR-4)."""
    return Rule("reply", RULE_REPLY, "the recorded reply if it is legal, else U[A_s]")


RULES: Any = {
    rule.__name__: rule for rule in (ucb1, argmax, gibbs, epsilon_greedy, roulette, reply)
}


@attrs.frozen
class Policy:
    """α of one enhancement: a rule over values."""

    rule: Rule
    source: Candidates | Values

    def __attrs_post_init__(self) -> None:
        kinds = list[str]()
        # `reply` plays an action whose value is above 0. The means of rewards in records mostly are, which would make each of them a reply.
        if self.rule.code != RULE_REPLY:
            kinds.append("candidates")
        # UCB1 adds exploration to what records tell, not to finished values.
        if not self.rule.bandit:
            kinds.append("values")
        if getattr(self.source, "KIND", "") not in kinds:
            raise TypeError(
                f"{self.rule.name} needs a @{' or @'.join(kinds)} function, not {self.source!r}"
            )

    @property
    def maximises(self) -> bool:
        """Whether this policy is of the form U[arg max v] (eq. 13), as maxilinear composition demands."""
        return self.rule.code == RULE_ARGMAX

    def check(self, name: str, information: Information) -> None:
        """Refuse information of an enhancement that the rule cannot read."""
        if not isinstance(self.source, Candidates):
            return
        domains = dict(information.fields)
        reward = domains.get("reward")
        if domains.get("visits") != COUNT or reward is None or reward.type.shape:
            fields = f"{information} ({', '.join(information.names)}) of {name}"
            raise ValueError(
                f"{self.rule} reads reward, a REWARD or REWARDS, and visits, a COUNT, not the {fields}"
            )
        if self.rule.bandit and domains.get("availability", COUNT) != COUNT:
            raise ValueError(
                f"{self.rule} reads availability as a COUNT, and {name} keeps another; use a @values function"
            )

    def rule_parameters(self) -> tuple[float, ...]:
        """What the values from records take: c where they are UCB1's."""
        return tuple(value for _, value in self.rule.parameters) if self.rule.bandit else ()

    def __str__(self) -> str:
        return f"{self.rule.formula}; {self.source.summary}"


# ------------------------------------------------------------------------------------------- values from records

UNVISITED = 1.0  # v of an action without visits, in means (MAST-4)
SMALL = 1 << 12  # logarithms of counts below it are looked up
LOGARITHMS = np.array([-math.inf, *(math.log(count) for count in range(1, SMALL))])


@inlined
def log_of(count: int) -> float:
    """log m, for a count of at least 1."""
    return LOGARITHMS[count] if count < SMALL else math.log(count)


@inlined
def ucb1_by_availability(
    theta: Theta, places: np.ndarray, player: int, out: np.ndarray, exploration: float
) -> None:
    """q_ρ/n + c √(log m / n), with m the record's availability (Base-4, EPIC-4); +∞ where n = 0 or m = 0.

    Where one value is +∞ the finite ones cannot matter to an arg max, nor to one over a weighted sum, and are left at 0.
    """
    infinite = False
    for i in range(len(places)):
        stats = theta.rows[places[i]]
        out[i] = 0.0
        if stats.visits == 0 or stats.availability == 0:
            out[i], infinite = np.inf, True
    if not infinite:
        for i in range(len(places)):
            stats = theta.rows[places[i]]
            out[i] = reward_of(stats, player) / stats.visits + exploration * math.sqrt(
                log_of(stats.availability) / stats.visits
            )


@inlined
def ucb1_by_visits(
    theta: Theta, places: np.ndarray, player: int, out: np.ndarray, exploration: float
) -> None:
    """q_ρ/n + c √(log Σ / n), with Σ the visits of all legal actions (AMAF-4, NAST-4); +∞ where n = 0, and then 0 elsewhere.

    It is computed in vectors. From the second loop on `places` holds the visits.
    """
    infinite, total = False, 0
    for i in range(len(places)):
        stats = theta.rows[places[i]]
        out[i], places[i] = reward_of(stats, player), stats.visits
        total += stats.visits
        infinite |= stats.visits == 0
    if infinite:
        for i in range(len(places)):
            out[i] = np.inf if places[i] == 0 else 0.0
    else:
        trials = log_of(total)
        for i in range(len(places)):
            out[i] = out[i] / places[i] + exploration * math.sqrt(trials / places[i])


@inlined
def mean(theta: Theta, places: np.ndarray, player: int, out: np.ndarray) -> None:
    """q_ρ/n, and 1 where n = 0 (MAST-4)."""
    for i in range(len(places)):
        stats = theta.rows[places[i]]
        out[i] = reward_of(stats, player) / stats.visits if stats.visits > 0 else UNVISITED


def rule_values(policy: Policy, information: Information) -> Callable:
    """The function that makes a rule's values from records of this information."""
    if not policy.rule.bandit:
        return mean
    return ucb1_by_availability if "availability" in information.names else ucb1_by_visits
