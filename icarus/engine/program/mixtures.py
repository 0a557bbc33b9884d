"""A composition taken apart for a phase: which policies decide, are drawn from, are added up, or vote."""

from collections.abc import Iterator

import attrs

from icarus.algebra import Adaptive, Composition, Enhancement, Weight
from icarus.algebra.policy import RULE_ARGMAX, RULE_GIBBS, RULE_GIBBS_OF_MEANS, RULE_UNIFORM
from icarus.algebra.slots import Candidates
from icarus.specs import AMAF, BASELINE

# The programs: of selection and expansion, of simulation, and of simultaneous decisions.
TREE, IN_SIMULATION, SIMULTANEOUS = range(3)


def is_bandit(part: Enhancement) -> bool:
    """Whether a policy is an arg max of UCB1's values."""
    return part.policy.rule.code == RULE_ARGMAX and part.policy.rule.bandit


def asks_children(part: Enhancement) -> bool:
    """Whether a policy is an arg max of UCB1's values over the records of the present history's children."""
    return is_bandit(part) and part.policy.source in (BASELINE.policy.source, AMAF.policy.source)


def is_infinite(stage: int, part: Enhancement, table: int) -> bool:
    """Whether the values of an arg max are +∞ by definition: the baseline's in simulation, which children beyond the tree have.

    Args:
        table: the index of its table; the baseline's is the first.
    """
    return stage == IN_SIMULATION and table == 0 and asks_children(part)


def rule_of(parts: list[tuple[Weight, Enhancement]], uniform: bool, votes: bool) -> tuple[int, float]:
    """The rule of an alternative, a RULE_… of `icarus.algebra.policy`, and its parameter.

    Args:
        uniform: whether all of its values are +∞.
        votes: whether it is of a voter.
    """
    rule = parts[0][1].policy.rule
    parameter = rule.parameters[0][1] if rule.parameters else 0.0
    if uniform:
        return RULE_UNIFORM, parameter
    # Who votes has looked at all values, whether they differ.
    return RULE_GIBBS_OF_MEANS if draws_from_means(parts) and not votes else rule.code, parameter


def draws_from_means(parts: list[tuple[Weight, Enhancement]]) -> bool:
    """Whether a term draws by Gibbs from mean rewards of single actions, none above 1: none may have been given to begin with."""
    part = parts[0][1]
    return (
        part.policy.rule.code == RULE_GIBBS
        and isinstance(part.policy.source, Candidates)
        and part.policy.source.independent
        and part.backpropagation.averages
        and not part.initial.says_something
    )


def _active(strategy: Enhancement, stage: int) -> Enhancement:
    """The operand of a sequence that is active in a phase (COMB▷-4)."""
    while isinstance(strategy, Composition) and strategy.operator == ">>":
        strategy = strategy.terms[0 if stage == TREE else -1][1]
    return strategy


@attrs.frozen
class Vote:
    """A majority vote, as a term of a program."""

    members: tuple[Enhancement, ...]


def mixture(strategy: Enhancement, stage: int) -> Iterator[tuple[Weight, Vote | list[tuple[Weight, Enhancement]]]]:
    """The terms of a program: nested linear mixtures flattened, left to right."""
    strategy = _active(strategy, stage)
    if isinstance(strategy, Composition) and strategy.operator == "+":
        for weight, part in strategy.terms:
            for inner, leaves in mixture(part, stage):
                yield weight.times(inner), leaves
    elif isinstance(strategy, Adaptive):
        for share, member in strategy.weighted_members():
            for inner, leaves in mixture(member, stage):
                yield share.times(inner), leaves
    elif isinstance(strategy, Composition) and strategy.operator == "&":
        yield Weight(), Vote(tuple(member for _, member in strategy.terms))
    else:
        yield Weight(), list(_leaves(strategy, stage))


def _leaves(strategy: Enhancement, stage: int) -> Iterator[tuple[Weight, Enhancement]]:
    """The leaves of an alternative: nested maxilinear mixtures flattened, left to right."""
    strategy = _active(strategy, stage)
    if isinstance(strategy, Composition):
        for weight, part in strategy.terms:
            for inner, leaf in _leaves(part, stage):
                yield weight.times(inner), leaf
    else:
        yield Weight(), strategy
