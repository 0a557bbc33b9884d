"""How a decision is made, in plain Python: the policies of a composition asked and combined as the compiled programs do."""

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.algebra import Enhancement, Weight, policy
from icarus.algebra.adaptive import member_of
from icarus.algebra.policy import RULE_ARGMAX, RULE_GIBBS, RULE_GIBBS_OF_MEANS, RULE_ROULETTE, RULE_UNIFORM, RULE_VOTE
from icarus.algebra.slots import Candidates, Slot, Values
from icarus.algebra.weights import TOLERANCE, Share
from icarus.compiler.reference import Interpreter, interpret
from icarus.engine import choice
from icarus.engine import slot_kernels as kernels
from icarus.engine.arena import ANY, IN_SIMULATION, SIMULTANEOUS, TREE
from icarus.engine.lowering import (
    Vote,
    components_of,
    is_unvisited_by_definition,
    refuse_hidden,
    refuse_unknown,
    rule_of,
    terms_of,
)
from icarus.engine.reference.history import Playout, ReferenceHistory
from icarus.engine.reference.table import ReferenceTable, ReferenceTheta
from icarus.kernel import NO_RECORD, SIMULATION, below, uniform
from icarus.kernel.python_game import PythonGame
from icarus.specs.trees import EXP3

SlotCall: TypeAlias = Callable[..., Any]  # of a slot, and what its function is given
below, uniform = interpret(below), interpret(uniform)
follow_rule, is_accepted = interpret(choice.follow_rule), interpret(choice.is_accepted)


@attrs.frozen(eq=False)
class Leaf:
    """A component whose policy is asked, with its weight, its θ, and whether all its values are +∞ by definition."""

    weight: Weight
    part: Enhancement
    theta: ReferenceTheta
    infinite: bool


@attrs.frozen(eq=False)
class Term:
    """One alternative of a linear mixture: a rule over the weighted values of its leaves."""

    weight: Weight
    leaves: list[Leaf]
    rule: int
    parameter: float
    voters: tuple[list["Term"], ...] = ()
    label: str = ""

    @property
    def by(self) -> str:
        """Whose values decide."""
        return self.label or " ^ ".join(leaf.part.name for leaf in self.leaves)


class Decision:
    """A decision to be made at the end of a playout.

    Attributes:
        legal: among what, int64 [actions].
        values: the values that the choice was made from, where it was made from values of all actions.
    """

    def __init__(self, playout: Playout, legal: Sequence[int]) -> None:
        self._playout, self._legal = playout, legal
        self.values = np.zeros(0)

    @functools.cached_property
    def history(self) -> ReferenceHistory:
        """The history up to it."""
        return self._playout.history()

    @functools.cached_property
    def legal(self) -> np.ndarray:
        legal = np.array(self._legal, np.int64)
        legal.flags.writeable = False
        return legal

    @property
    def record(self) -> int:
        """The baseline's record of the history."""
        return self._playout.record_at(self._playout.t)


class ReferenceProgram:
    """A composition in plain Python: its components with their tables, and its policies in each phase.

    Attributes:
        components: what has a table of its own, the baseline first.
        table_of: the index of each enhancement's table.
        tables: one for each component.
    """

    _interpret: Interpreter = interpret  # a playout that is shown has one of its own

    def __init__(self, strategy: Enhancement, uses_exp3: bool, game: PythonGame, rng: np.ndarray) -> None:
        refuse_unknown(game, strategy)
        self.strategy, self.game, self.rng = strategy, game, rng
        self.components, self.table_of = components_of(strategy, uses_exp3)
        refuse_hidden(self.components, game)
        self.tables = [ReferenceTable(component, game) for component in self.components]
        programs = {TREE: strategy, IN_SIMULATION: strategy, **({SIMULTANEOUS: EXP3} if uses_exp3 else {})}
        self.programs = {stage: self._program(stage, program) for stage, program in programs.items()}

    def call_slot(self, slot: Slot, *arguments: object) -> Any:
        """Call a slot's function, its parameters appended."""
        result = self._interpret(slot.function)(*arguments, *slot.values(self.game))
        slot.refuse_result(result)
        return result

    def _program(self, stage: int, strategy: Enhancement, votes: bool = False) -> list[Term]:
        return [
            self._vote(stage, weight, parts) if isinstance(parts, Vote) else self._term(stage, weight, parts, votes)
            for weight, parts in terms_of(strategy, stage)
        ]

    def _vote(self, stage: int, weight: Weight, vote: Vote) -> Term:
        voters = tuple(self._program(stage, member, votes=True) for member in vote.members)
        all_uniform = all(term.rule == RULE_UNIFORM for voter in voters for term in voter)
        label = " & ".join(map(str, vote.members))
        return Term(weight, [], RULE_UNIFORM if all_uniform else RULE_VOTE, 0.0, voters, label)

    def _term(self, stage: int, weight: Weight, leaves: list[tuple[Weight, Enhancement]], votes: bool) -> Term:
        parts = [
            Leaf(share, part, self._theta(part), is_unvisited_by_definition(stage, part, self.table_of[part]))
            for share, part in leaves
        ]
        return Term(weight, parts, *rule_of(leaves, all(leaf.infinite for leaf in parts), votes))

    def _theta(self, part: Enhancement) -> ReferenceTheta:
        return self.tables[self.table_of[part]].theta

    def choose(self, stage: int, decision: Decision) -> int:
        """The index of the action that α chooses; ANY where it is uniform by definition."""
        term = self._draw_term(self.programs[stage], decision)
        if term.rule == RULE_UNIFORM:
            return ANY
        if term.rule == RULE_GIBBS_OF_MEANS:
            return self._choose_by_acceptance(term, decision)
        if term.rule == RULE_VOTE:
            index = self._choose_by_vote(term, decision)
            return int(below(self.rng, len(decision.legal))) if index == ANY else index
        decision.values = self._values(term, decision)
        return self._follow_rule(term, decision)

    def _values(self, term: Term, decision: Decision) -> np.ndarray:
        """The values that a term's rule chooses among."""
        if len(term.leaves) == 1:
            return self._values_of(term.leaves[0], decision.history, decision.legal)
        return self._sum_values(term, decision)

    def _follow_rule(self, term: Term, decision: Decision) -> int:
        """The index that a term's rule chooses."""
        if term.rule == RULE_ROULETTE and (decision.values < 0).any():
            raise ValueError(
                f"roulette() of {term.leaves[0].part} met the value {decision.values.min()}; none may be negative"
            )
        return int(follow_rule(term.rule, term.parameter, decision.values, len(decision.legal), self.rng))

    def _choose_by_vote(self, term: Term, decision: Decision) -> int:
        """The index that a majority vote chooses, ties broken uniformly; ANY where nobody has a vote."""
        votes = np.zeros(len(decision.legal))
        for voter in term.voters:
            index = self._vote_of(self._draw_by_weight(voter, decision), decision)
            if index != ANY:
                votes[index] += 1
        decision.values = votes.copy()
        return int(follow_rule(RULE_ARGMAX, 0.0, votes, len(votes), self.rng)) if votes.any() else ANY

    def _vote_of(self, term: Term, decision: Decision) -> int:
        """The index that a voter votes for; ANY where that is uniform over all legal actions."""
        if term.rule == RULE_UNIFORM:
            return ANY
        if term.rule == RULE_VOTE:
            return self._choose_by_vote(term, decision)
        decision.values = self._values(term, decision)
        if (decision.values == decision.values[0]).all():
            return ANY
        return self._follow_rule(term, decision)

    def _draw_term(self, terms: list[Term], decision: Decision) -> Term:
        """The alternative that decides."""
        return self._draw_by_weight(terms, decision)

    def _draw_by_weight(self, terms: list[Term], decision: Decision) -> Term:
        """One alternative of a linear terms_of, drawn with its weight (COMB⁺-4)."""
        if len(terms) == 1:
            return terms[0]
        point, upto, choice = uniform(self.rng), 0.0, None
        for term in terms:
            upto += self.share(term.weight, decision)
            if point < upto and choice is None:
                choice = term
        self._check_total(upto, "+")
        return choice or terms[-1]

    def _sum_values(self, term: Term, decision: Decision) -> np.ndarray:
        """The weighted sum of the values of several leaves (COMB⊕-4)."""
        total, weights = np.zeros(len(decision.legal)), 0.0
        for leaf in term.leaves:
            share = self.share(leaf.weight, decision)
            weights += share
            if share > 0.0 and leaf.infinite:
                total[:] = np.inf
            elif share > 0.0:  # 0 · ∞ is 0
                total += share * self._values_of(leaf, decision.history, decision.legal)
        self._check_total(weights, "^")
        return total

    def _check_total(self, total: float, operator: str) -> None:
        if abs(total - 1.0) > TOLERANCE:
            raise choice.WeightError(f"the weights of {operator} do not sum to 1 for the visits met in this search")

    def share(self, weight: Weight, decision: Decision) -> float:
        """The value of a weight at the history of a decision."""
        total = weight.constant
        for function, complement in weight.functions:
            if isinstance(function, Share):
                total *= self._is_chosen(function, int(decision.history.steps[-1].player))
                continue
            stats = self.tables[0].theta.find(decision.record)
            value = self.call_slot(function, stats.reward, stats.visits, stats.availability)
            if not 0.0 <= value <= 1.0:
                raise choice.WeightError(choice.WRONG_WEIGHT)
            total *= 1.0 - value if complement else value
        return total

    def _is_chosen(self, share: Share, player: int) -> bool:
        """Whether a player's bandit has chosen the member."""
        members, group, exploration, member = share.values()
        return bool(interpret(member_of)(self._theta(share.bandit), player, members, group, exploration) == member)

    def _choose_by_acceptance(self, term: Term, decision: Decision) -> int:
        """An index by Gibbs from mean rewards, as `icarus.engine.choice.choose_by_acceptance` draws it."""
        leaf, count = term.leaves[0], len(decision.legal)
        for _ in range(count):
            i = int(below(self.rng, count))
            value = self._values_of(leaf, decision.history, decision.legal[i : i + 1])[0]
            x, point = (value - policy.UNVISITED) / term.parameter, uniform(self.rng)
            if is_accepted(point, x):
                if x > 0.0:
                    raise choice.WeightError(choice.MEAN_ABOVE_ONE)
                return i
        decision.values = self._values_of(leaf, decision.history, decision.legal)
        return int(follow_rule(RULE_GIBBS, term.parameter, decision.values, count, self.rng))

    def _values_of(self, leaf: Leaf, history: ReferenceHistory, legal: np.ndarray) -> np.ndarray:
        """The values of one component for some legal actions."""
        prior = leaf.part.initial.function
        if prior is not None:
            self._enter_new(leaf.part, prior, history, legal)
        return values_of(leaf.part, leaf.theta, history, legal, self.call_slot)

    def _enter_new(self, part: Enhancement, prior: Slot, history: ReferenceHistory, legal: np.ndarray) -> None:
        """Enter the records that are asked about for the first time, with what is known of them by the state."""
        table, source = self.tables[self.table_of[part]], part.policy.source
        assert isinstance(source, Candidates)
        for i, key in enumerate(keys_of(source, history, legal, self.call_slot)):
            if key != NO_RECORD and not table.holds(key):
                row = table.open(key)
                self.call_slot(prior, history, i, row)
                table.close(row)


def values_of(
    leaf: Enhancement, theta: ReferenceTheta, history: ReferenceHistory, legal: np.ndarray, call_slot: SlotCall
) -> np.ndarray:
    """v of some legal actions, by the policy of one enhancement.

    Args:
        call_slot: calls a slot's function, its parameters appended: call_slot(slot, *arguments).

    Raises:
        ValueError: the function left a value unwritten, or wrote NaN.
    """
    source = leaf.policy.source
    out = np.full(len(legal), np.nan)
    if isinstance(source, Values) and source.uniform_in_simulation and history.steps[-1].phase == SIMULATION:
        out[:] = np.inf
    elif isinstance(source, Values):
        call_slot(source, history, theta, legal, out)
    else:
        rows: Any = SimpleNamespace(rows=[theta.find(record) for record in keys_of(source, history, legal, call_slot)])
        rule = interpret(policy.rule_values(leaf.policy, leaf.information))
        rule(rows, range(len(legal)), int(history.steps[-1].player), out, *leaf.policy.rule_parameters())
    _check_written(source, legal, np.isnan(out))
    return out


class _Keys(np.ndarray):
    """Where a candidates function writes: integers, as compiled code is refused that writes floats."""

    def __setitem__(self, where: Any, value: Any) -> None:
        if np.asarray(value).dtype.kind == "f":
            raise TypeError(f"records is given the float {value}, which would be truncated to an integer")
        super().__setitem__(where, value)


def keys_of(source: Candidates, history: ReferenceHistory, legal: np.ndarray, call_slot: SlotCall) -> list[int]:
    """The key of the record that stands for each legal action; arguments as of `values_of`.

    Raises:
        TypeError: a float is written. ValueError: a key is not written.
    """
    keys = np.full(len(legal), kernels.UNWRITTEN).view(_Keys)
    call_slot(source, history, legal, keys)
    _check_written(source, legal, keys == kernels.UNWRITTEN)
    return keys.tolist()


def _check_written(source: Slot, legal: np.ndarray, bad: np.ndarray) -> None:
    if bad.any():
        wrote = "NaN or no value" if isinstance(source, Values) else "nothing"
        raise ValueError(f"{source.label()} wrote {wrote} for the legal action {legal[int(np.argmax(bad))]}")
