"""Definition 5: an information capture and reuse strategy as seven slots, and Specification 6: `>>`, `+ /`, `^` and `&` compose them.

    RAVE >> (MAST + NAST2) / 2
    rave_weight(k=500) * AMAF ^ (1 - rave_weight(k=500)) * BASELINE
    BASELINE >> (MAST & NAST2 & LGRF)

An operator gives an Enhancement where its operands are enhancements and the weights sum to 1; until then (`MAST + NAST2`) it
gives a `Sum` that only asks to be completed.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import attrs

from icarus.algebra.callable_slots import CallableSlots
from icarus.algebra.information import Information, Initial, Space
from icarus.algebra.policy import Policy, Rule, check_rule
from icarus.algebra.slots import Backpropagation, Capture, given_by_name
from icarus.algebra.texts import check_name, expression_text, policy_text, term_text, value_text
from icarus.algebra.unions import SLOTS, Mixture, Union, check_maximises, union_slots
from icarus.algebra.weights import PROBES, TOLERANCE, Weight, WeightFunction, pair_from, total_text, weight_from
from icarus.checks import is_real

_SYMBOLS = ("R", "Θ", "θ_initial", "α", "Ψ", "ξ", "ω")
Combination: TypeAlias = Any  # an Enhancement where the weights sum to 1, else a Sum
Terms: TypeAlias = "tuple[tuple[Weight, Enhancement], ...]"


class _Algebra:
    """The operators, for enhancements and for sums that are not complete yet."""

    def __rshift__(self, other: object) -> "Enhancement":
        return compose(">>", (self, other))

    def __rrshift__(self, other: object) -> "Enhancement":
        return compose(">>", (other, self))

    def __add__(self, other: object) -> Combination:
        return compose("+", (self, other))

    def __radd__(self, other: object) -> Combination:
        return compose("+", (other, self))

    def __xor__(self, other: object) -> Combination:
        return compose("^", (self, other))

    def __rxor__(self, other: object) -> Combination:
        return compose("^", (other, self))

    def __and__(self, other: object) -> "Enhancement":
        return compose("&", (self, other))

    def __rand__(self, other: object) -> "Enhancement":
        return compose("&", (other, self))

    def __mul__(self, factor: object) -> Combination:
        return _scale(self, factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Combination:
        if not is_real(divisor) or divisor <= 0:
            raise TypeError(f"({self}) / {divisor!r}: an enhancement can be divided by a positive number only")
        return _scale(self, 1 / divisor)

    def __bool__(self) -> bool:
        raise TypeError(
            f"({self}) is neither true nor false; compose enhancements with >>, +, /, ^ and &, not with and, or, not"
        )


def _slot(kind: type, example: str) -> Any:
    def check(instance: "Enhancement", attribute: attrs.Attribute, value: object) -> None:
        union = isinstance(value, Union) and all(isinstance(part, kind | Union) for part in value.parts)
        if not isinstance(value, kind) and not union and not isinstance(value, Mixture):
            label = getattr(value, "__name__", None) or getattr(value, "name", None) or repr(value)
            raise TypeError(f"{attribute.name} of {instance.name} is {label}; it must be {example}")

    return attrs.field(validator=check)


@attrs.frozen(eq=False, repr=False)
class Enhancement(_Algebra, CallableSlots):
    """An information capture and reuse strategy (Definition 5): a value with seven slots.

    Attributes:
        name: as printed and parsed.
        records: R, what information is kept about: a `Space` such as ACTION * PLAYER.
        information: Θ, what is kept: an `Information` such as RewardVisits.
        initial: θ_initial, the information of a record before its first update.
        policy: α, a `Policy`: how information turns into a distribution over the legal actions.
        contexts: Ψ, what a capture passes to the backpropagation: a `Space`.
        capture: ξ, a `@capture` function: which records a finished playout updates, with which contexts.
        backpropagation: ω, a `@backpropagation` function: the new information of one record.
        parameters: those that `str` of a variant tells by their place, others by name; by default all that the slots have.
        adjust: what else a call changes, such as the records of n-grams with n.

    Raises:
        TypeError: a slot of the wrong kind.
        ValueError: the policy reads information that is not kept.
    """

    name: str
    records: Space = _slot(Space, "a Space such as ACTION * PLAYER")
    information: Information = _slot(Information, "an Information such as information(reward=REWARD, visits=COUNT)")
    initial: Initial = _slot(Initial, "initial() or initial(field=value)")
    policy: Policy = _slot(Policy, "a rule over a @candidates or @values function, such as gibbs().over(actions)")
    contexts: Space = _slot(Space, "a Space such as PLAYER")
    capture: Capture = _slot(Capture, "a @capture function")
    backpropagation: Backpropagation = _slot(Backpropagation, "a @backpropagation function")
    parameters: tuple[str, ...] | None = None
    adjust: "Callable[[Enhancement], Enhancement] | None" = None

    def __call__(self, *arguments: float | str | Rule, **parameters: float | str | Rule) -> "Enhancement":
        """The same enhancement with another rule or other parameters: `MAST(gibbs(0.1))`, `PUCT(exploration=1.5)`.

        A parameter is bound in every slot that has it, also in the rule, where it has one. Numbers are at least 0, unless the slot says
        otherwise.

        Raises:
            TypeError: no such parameter, or not so many. ValueError: a value outside of its range; the message names the parameter.
        """
        family, present = self.name.partition("(")[0].lower(), self._own_parameters()
        listed = tuple(present) if self.parameters is None else self.parameters
        places = [name.rstrip("=") for name in listed]
        given = given_by_name(family, arguments, parameters, list(dict.fromkeys((*places, *present))))
        rule = check_rule(cast(Rule, given.get("rule", self.policy.rule))).rebound(given)
        if unknown := [name for name in given if name not in {"rule", *present, *dict(rule.parameters)}]:
            raise TypeError(
                f"{self} has no parameter {unknown[0]!r}; it has {', '.join(dict.fromkeys((*places, *present, 'rule')))}"
            )
        by_rule = dict(rule.parameters) if "rule" in (*places, *given) else {}
        new = [f"{name}=".replace("rule=", "rule") for name in given if name not in places and name not in by_rule]
        changed = attrs.evolve(
            self,
            policy=rule.over(self.policy.source.rebound(family, given)),
            capture=self.capture.rebound(family, given),
            backpropagation=self.backpropagation.rebound(family, given),
            parameters=(*listed, *new),
        )
        values = {"rule": rule, **changed._own_parameters()}
        names = [name for name in (*listed, *new) if name.rstrip("=") in values]
        texts = [name * name.endswith("=") + value_text(values[name.rstrip("=")]) for name in names]
        changed = attrs.evolve(changed, name=f"{family}({', '.join(texts)})")
        return self.adjust(changed) if self.adjust else changed

    def _own_parameters(self) -> dict[str, object]:
        """The parameters of the slots and of the rule, with their values."""
        slots = (self.backpropagation, self.capture, self.policy.source, self.policy.rule)
        return {name: value for slot in slots for name, value in slot.parameters}

    def __attrs_post_init__(self) -> None:
        if not isinstance(self, Composition):
            check_name(self.name)
        if isinstance(self.policy, Policy):
            self.policy.check(self.name, self.information)
            fields_set = [*self.initial.common, *(field for _, fields in self.initial.given for field in fields)]
            unknown = {name for name, _ in fields_set} - set(self.information.names)
            if unknown:
                raise ValueError(
                    f"initial of {self.name} sets {', '.join(sorted(unknown))}, but the information has "
                    f"{', '.join(self.information.names)}"
                )
            self.initial.check(self.name, self.records, self.information)
            self.initial.check_source(self.name, self.policy.source)

    @property
    def components(self) -> tuple["Enhancement", ...]:
        """The enhancements that this one is made of, each once, in order; itself where it is not a composition."""
        return (self,)

    def specification(self) -> str:
        """The seven slots, laid out as the paper's specifications are."""
        lines = [
            (f"{symbol} = {text}", f"({self._tag()}-{number})")
            for number, (symbol, text) in enumerate(zip(_SYMBOLS, self._texts(), strict=True), start=1)
        ]
        width = max(len(text) for text, _ in lines) + 3
        return "\n".join([self._title(), "", *(f"  {text:<{width}}{tag}" for text, tag in lines)])

    def _title(self) -> str:
        return f"Enhancement {self.name}"

    def _tag(self) -> str:
        return self.name

    def _texts(self) -> tuple[str, ...]:
        return (
            str(self.records),
            f"{self.information}   ({', '.join(self.information.names)})",
            str(self.initial),
            str(self.policy),
            str(self.contexts),
            self.capture.summary,
            self.backpropagation.summary,
        )

    def _identity(self) -> tuple[object, ...]:
        return (self.name, *(getattr(self, slot) for slot in SLOTS))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Enhancement) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


@attrs.frozen(eq=False, repr=False)
class Composition(Enhancement):
    """Several enhancements composed (Specification 6).

    Attributes:
        operator: ">>", "+", "^" or "&".
        terms: (weight, enhancement) of each operand; of a sequence and of a majority vote, the weights are 1.
        alias: the name under which the expression is known, "RAVE"; no part of its identity.
    """

    operator: str = ""
    terms: tuple[tuple[Weight, Enhancement], ...] = ()
    alias: str | None = None

    def __attrs_post_init__(self) -> None:
        expression = self._expression()
        for slot, value in union_slots(self.operator, self.terms, self.components).items():
            if getattr(self, slot) != value:
                raise ValueError(
                    f"{slot} of a composition follows from its parts; evolve a part of {expression} and compose anew"
                )
        if self.name != expression:
            raise ValueError(
                f"the name of a composition is its expression; with_alias({expression}, …) gives it another"
            )
        if self.alias is not None:
            check_name(self.alias)
        super().__attrs_post_init__()

    def __call__(self, *arguments: float | str | Rule, **parameters: float | str | Rule) -> "Enhancement":
        """The same composition with other parameters of its weights: `RAVE(k=500)`; the name that it has tells them.

        Raises:
            TypeError: its weights have no such parameter. ValueError: a value outside of its range.
        """
        functions = dict.fromkeys(function for weight, _ in self.terms for function, _ in weight.functions)
        present = {name: value for function in functions for name, value in function.parameters}
        family = str(self).partition("(")[0].lower() if self.alias else f"({self})"
        given = given_by_name(family, arguments, parameters, list(present))
        if unknown := [name for name in given if name not in present]:
            raise TypeError(f"{self} has no parameter {unknown[0]!r}; it has {', '.join(present) or 'none'}")
        terms = tuple((weight.rebound(family, given), term) for weight, term in self.terms)
        if terms == self.terms:
            return self
        changed = _composition(self.operator, terms)
        text = ", ".join(f"{name}={value_text(given.get(name, value))}" for name, value in present.items())
        return with_alias(changed, f"{family}({text})") if self.alias else changed

    def _expression(self) -> str:
        return expression_text(self.operator, self.terms)

    @property
    def components(self) -> tuple[Enhancement, ...]:
        return tuple(dict.fromkeys(part for _, term in self.terms for part in term.components))

    def _title(self) -> str:
        return f"Composition {self} = {self.name}" if self.alias else f"Composition {self.name}"

    def _tag(self) -> str:
        return "COMB"

    def _texts(self) -> tuple[str, ...]:
        weighted = [(str(weight), str(term)) for weight, term in self.terms]
        policy = policy_text(self.operator, weighted)
        parts = self.components

        def union_text(symbol: str, operator: str) -> str:
            return f" {operator} ".join(f"{symbol}[{part}]" for part in parts)

        return (
            union_text("R", "⊔"),
            union_text("Θ", "⊔"),
            "θ_initial of the component that the record belongs to",
            policy,
            union_text("Ψ", "⊔"),
            union_text("ξ", "#"),
            "ω of the component that the record belongs to",
        )

    def specification(self) -> str:
        """The seven slots of the composition, then those of its components."""
        return "\n\n".join([super().specification(), *(part.specification() for part in self.components)])

    def _identity(self) -> tuple[object, ...]:
        return (self.operator, self.terms)

    def __str__(self) -> str:
        return self.alias or self.name

    __repr__ = __str__


def with_alias(composition: Enhancement, alias: str) -> Enhancement:
    """The same composition, or enhancement, under another name."""
    if isinstance(composition, Composition):
        return attrs.evolve(composition, alias=alias)
    return attrs.evolve(composition, name=alias)


def sequential(first: Enhancement, *others: Enhancement) -> Enhancement:
    """`first >> … >> last`: first's policy in selection and expansion, last's in simulation (COMB▷-4).

    Raises:
        TypeError: an operand is not an enhancement.
    """
    chain = [part for operand in (first, *others) for _, part in _inside(_operand(operand, ">>"), ">>")]
    return _composition(">>", tuple((Weight(), operand) for operand in chain))


def linear(*terms: tuple[float | Weight | WeightFunction, Enhancement]) -> Enhancement:
    """λ₁A₁ + λ₂A₂ + …: each decision is made by one of the policies, drawn with its weight (COMB⁺-4).

    Raises:
        TypeError: an operand is not an enhancement. ValueError: weights outside [0, 1], or not summing to 1.
    """
    return _complete("+", terms)


def maxilinear(*terms: tuple[float | Weight | WeightFunction, Enhancement]) -> Enhancement:
    """λ₁A₁ ⊕ λ₂A₂ ⊕ …: arg max of the weighted sum of the values (COMB⊕-4).

    Raises:
        TypeError: an operand is not an enhancement. ValueError: weights outside [0, 1], or not summing to 1, or a policy that is not
            of the form U[arg max v].
    """
    return _complete("^", terms)


def majority(*members: Enhancement) -> Enhancement:
    """A & B & …: each policy draws one action, its vote, and an action of most votes is played (section 9 names the idea).

    Ties are broken uniformly. A policy that is uniform over all legal actions here, as one that knows nothing is, has no vote; if none
    has, the choice is uniform. A vote by members of a vote is one vote of them all; a mixture inside has the vote of the part drawn.

    Raises:
        TypeError: an operand is not an enhancement. ValueError: an operand whose weights do not sum to 1, or fewer than two.
    """
    if len(members) < 2:
        raise ValueError(f"a majority vote is taken among at least 2 enhancements, not among {len(members)}")
    flat = [part for member in members for _, part in _inside(_operand(member, "&"), "&")]
    return _composition("&", tuple((Weight(), part) for part in flat))


@attrs.frozen(repr=False)
class Sum(_Algebra):
    """Weighted enhancements whose weights do not sum to 1 (yet): `MAST + NAST2`, to be divided by 2."""

    operator: str  # "+", "^", or "*" for a single weighted enhancement
    terms: tuple[tuple[Weight, Enhancement], ...]

    @property
    def refusal(self) -> str:
        """What the weights sum to, and the division that makes it 1 where the sum is the same everywhere."""
        total = total_text(self.terms)
        hint = "" if total == "0" or " " in total else f"; did you mean ({self})/{total}?"
        return f"sum to {total}, not to 1{hint}"

    def __str__(self) -> str:
        return f" {self.operator} ".join(term_text(weight, term) for weight, term in self.terms)

    __repr__ = __str__


def _inside(operand: Enhancement, operator: str) -> Terms:
    """The terms of an unnamed composition by the same operator, to be flattened; otherwise the operand itself."""
    if isinstance(operand, Composition) and operand.operator == operator and operand.alias is None:
        return operand.terms
    return ((Weight(), operand),)


def checked_operand(value: object, otherwise: str) -> Enhancement:
    """An enhancement; of anything else the message says what it cannot be."""
    if isinstance(value, Sum):
        raise ValueError(f"the weights of ({value}) sum to {total_text(value.terms)}, not to 1: {otherwise}")
    if not isinstance(value, Enhancement):
        raise TypeError(f"{value!r} is not an enhancement: {otherwise}")
    return value


def _operand(value: object, operator: str) -> Enhancement:
    return checked_operand(value, f"it cannot be an operand of {operator}")


def _terms(value: object, operator: str) -> Terms:
    if isinstance(value, Sum) and value.operator in (operator, "*"):
        return value.terms
    return ((Weight(), _operand(value, operator)),)


def compose(operator: str, operands: Sequence[object]) -> Combination:
    """`first operator … operator last` for one of >>, &, + and ^, at once: as long a chain as one likes.

    Raises:
        TypeError, ValueError: as the operators do.
    """
    if operator in (">>", "&"):
        members = [_operand(operand, operator) for operand in operands]
        return sequential(*members) if operator == ">>" else majority(*members)
    return _normalise(operator, tuple(term for operand in operands for term in _terms(operand, operator)))


def _scale(value: Combination, factor: object) -> Combination:
    scale = weight_from(factor)
    operator, terms = (value.operator, value.terms) if isinstance(value, Sum) else ("*", ((Weight(), value),))
    return _normalise(operator, tuple((scale.times(weight), term) for weight, term in terms))


def _normalise(operator: str, terms: Terms) -> Combination:
    """The finished composition where the weights sum to 1, else the sum as it stands."""
    if operator == "*" and terms[0][0] == Weight():
        return terms[0][1]
    totals = [sum(weight.at(*probe) for weight, _ in terms) for probe in PROBES]
    if operator == "*" or any(abs(total - 1) > TOLERANCE for total in totals):
        return Sum(operator, terms)
    return _complete(operator, terms)


def _complete(operator: str, weighted: tuple[tuple[object, object], ...]) -> Enhancement:
    terms = tuple((weight_from(weight), _operand(term, operator)) for weight, term in map(pair_from, weighted))
    expression = Sum(operator, terms)
    for probe in PROBES:
        coefficients = [weight.at(*probe) for weight, _ in terms]
        for weight, value in zip((weight for weight, _ in terms), coefficients, strict=True):
            if not -TOLERANCE <= value <= 1 + TOLERANCE:
                raise ValueError(
                    f"the weight {weight} in ({expression}) is {value:g} at n = {probe[1]}; weights must lie in [0, 1]"
                )
        if abs(sum(coefficients) - 1) > TOLERANCE:
            raise ValueError(f"the weights of ({expression}) sum to {total_text(terms)}, not to 1")
    flat = [(weight.times(inner), part) for weight, term in terms for inner, part in _inside(term, operator)]
    if operator == "^":
        check_maximises(str(expression), flat)
    return _composition(operator, tuple(flat))


def _composition(operator: str, terms: Terms) -> Composition:
    parts = tuple(dict.fromkeys(part for _, term in terms for part in term.components))
    names = [part.name for part in parts]
    doubled = [name for name in names if names.count(name) > 1]
    if doubled:
        raise ValueError(
            f"two different enhancements of one composition are called {doubled[0]}; rename one: attrs.evolve(…, name=…)"
        )
    return Composition(
        name=expression_text(operator, terms), operator=operator, terms=terms, **union_slots(operator, terms, parts)
    )
