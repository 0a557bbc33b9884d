"""An enhancement's slots as functions that other slots may call: `MAST.capture(…)`, `BASELINE.values(history, theta, legal, out)`."""

import functools
from collections.abc import Callable
from typing import NamedTuple

import attrs
import numpy as np

from icarus.algebra.information import Information
from icarus.algebra.policy import Policy
from icarus.algebra.record_values import rule_values
from icarus.algebra.slots import Candidates, Values
from icarus.compiler.functions import Argument, CompiledCallable, Namespace, compiled_as
from icarus.kernel import History, Row, Theta, find, helper
from icarus.kernel.theta import row_index


class Rows(NamedTuple):
    """Rows in the order in which they were asked for."""

    rows: list[Row]


def rows_in(theta: Theta, records: np.ndarray) -> Theta | Rows:
    """θ by places: `records` are replaced by the places of their rows in what is returned."""
    rows = Rows([find(theta, int(record)) for record in records])
    records[:] = range(len(records))
    return rows


@compiled_as(rows_in)
def _compiled_rows_in(theta: Argument, records: Argument) -> Callable:
    def implementation(theta: Argument, records: Argument) -> Theta:
        for i in range(len(records)):
            records[i] = row_index(theta.entries, theta.rows["record"], records[i])
        return theta

    return implementation


@attrs.frozen
class ValuesOfRecords(CompiledCallable):
    """v of a policy over a @candidates function: what its rule makes of the records that the function names."""

    policy: Policy
    information: Information

    @property
    def compiled(self) -> Callable:
        return _values(self.policy, self.information)


@functools.cache
def values_of_records(policy: Policy, information: Information) -> ValuesOfRecords:
    """The function that a policy over records stands for, with the information that its own enhancement keeps."""
    return ValuesOfRecords(policy, information)


@functools.cache
def _values(policy: Policy, information: Information) -> Callable:
    source, rule, parameters = policy.source, rule_values(policy, information), policy.rule_parameters()

    @helper
    def values(history: History, theta: Theta, legal: np.ndarray, out: np.ndarray) -> None:
        records = np.empty(len(legal), np.int64)
        source(history, legal, records)
        rule(rows_in(theta, records), records, history.steps[-1].player, out, *parameters)

    return values


CALLABLE = ("capture", "backpropagation", "candidates", "values")  # what slots may call of another enhancement


class CallableSlots(Namespace):
    """An enhancement, as slots of others call its own."""

    policy: Policy
    information: Information

    @property
    def components(self) -> "tuple[CallableSlots, ...]":
        """The enhancements that this one is made of."""
        raise NotImplementedError

    @property
    def candidates(self) -> CompiledCallable:
        """Its @candidates function: `X.candidates(history, legal, records)`."""
        return self.member("candidates")

    @property
    def values(self) -> CompiledCallable:
        """v of its policy: `X.values(history, theta, legal, out)`, with θ of whoever calls."""
        return self.member("values")

    def member(self, name: str) -> CompiledCallable:
        """The capture, backpropagation, candidates or values function, for slots that call it.

        Raises:
            AttributeError: another name, a composition, or a policy that has no such function.
        """
        if hasattr(self, "operator"):
            component = self.components[0]
            raise AttributeError(
                f"{self} is a composition, whose components have slots of their own: call {component}.{name}"
            )
        if name not in CALLABLE:
            raise AttributeError(f"{self}.{name} cannot be called in a slot; {', '.join(CALLABLE)} can")
        if name in ("capture", "backpropagation"):
            return getattr(self, name)
        source = self.policy.source
        if isinstance(source, Values if name == "values" else Candidates):
            return source
        if name == "candidates":
            raise AttributeError(f"the policy of {self} names no candidates; call {self}.values")
        return values_of_records(self.policy, self.information)
