"""Definition 5: an information capture and reuse strategy as seven slots, and Specification 6: `>>`, `+ /`, `^` and `&` compose them.

    RAVE >> (MAST + NAST2) / 2
    rave_weight(k=500) * AMAF ^ (1 - rave_weight(k=500)) * BASELINE
    BASELINE >> (MAST & NAST2 & LGRF)

An operator gives an Enhancement where its operands are enhancements and the weights sum to 1; until then (`MAST + NAST2`) it
gives an `UnnormalizedMixture` that only asks to be completed.
"""

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs

from icarus.algebra.information import Information, Initial, Space, of_kind
from icarus.algebra.policy import Policy, Rule, check_rule
from icarus.algebra.slots import Backpropagation, Capture, check_names
from icarus.algebra.weights import PROBES, TOLERANCE, Weight, total_text, weight_from
from icarus.checks import exact_text, is_number, is_real

SLOTS = ("records", "information", "initial", "policy", "contexts", "capture", "backpropagation")
EXPLORATION = 0.7
_SYMBOLS = ("R", "Θ", "θ_initial", "α", "Ψ", "ξ", "ω")
# an Enhancement where the weights sum to 1, else an UnnormalizedMixture
MixtureLike: TypeAlias = Any
Terms: TypeAlias = "tuple[tuple[Weight, Enhancement], ...]"


class _Algebra:
    """The operators, for enhancements and for sums that are not complete yet."""

    def __rshift__(self, other: object) -> "Enhancement":
        return _composed(">>", self, other)

    def __add__(self, other: object) -> MixtureLike:
        return _composed("+", self, other)

    def __xor__(self, other: object) -> MixtureLike:
        return _composed("^", self, other)

    def __and__(self, other: object) -> "Enhancement":
        return _composed("&", self, other)

    def __mul__(self, factor: object) -> MixtureLike:
        return _scale(self, factor)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> MixtureLike:
        if not is_real(divisor) or divisor <= 0:
            raise TypeError(
                f"({self}) / {divisor!r}: an enhancement can be divided by a positive number only"
            )
        return _scale(self, 1 / divisor)

    def __bool__(self) -> bool:
        raise TypeError(
            f"({self}) is neither true nor false; the operators are >>, +, /, ^ and &, not and, or, not"
        )


@attrs.frozen(repr=False)
class Enhancement(_Algebra):
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
        parameters: those that `str` of a variant tells by their place; by default all that the slots have.
        keywords: those that `str` of a variant tells by name, since a call has given them.
        adjust: what else a call changes, such as the records of n-grams with n.

    Raises:
        TypeError: a slot of the wrong kind.
        ValueError: the policy reads information that is not kept.
    """

    name: str
    records: Space = attrs.field(validator=of_kind(Space))
    information: Information = attrs.field(validator=of_kind(Information))
    initial: Initial = attrs.field(validator=of_kind(Initial))
    policy: Policy = attrs.field(validator=of_kind(Policy))
    contexts: Space = attrs.field(validator=of_kind(Space))
    capture: Capture = attrs.field(validator=of_kind(Capture))
    backpropagation: Backpropagation = attrs.field(validator=of_kind(Backpropagation))
    parameters: tuple[str, ...] | None = attrs.field(default=None, eq=False)
    keywords: tuple[str, ...] = attrs.field(default=(), eq=False)
    adjust: "Callable[[Enhancement], Enhancement] | None" = attrs.field(default=None, eq=False)

    def __call__(
        self, *arguments: float | str | Rule, **parameters: float | str | Rule
    ) -> "Enhancement":
        """The same enhancement with another rule or other parameters: `MAST(gibbs(0.1))`, `PUCT(exploration=1.5)`.

        A parameter is set in every slot that has one of this name, and in the rule, if that has one. Numbers are at least 0, unless the
        slot says otherwise.

        Raises:
            TypeError: no such parameter, or not so many. ValueError: a value outside of its range; the message names the parameter.
        """
        family = self.name.partition("(")[0].lower()
        # The arguments are bound to the parameters of the slots and of the rule.
        present = self._own_parameters(self.policy.rule)
        places = tuple(present) if self.parameters is None else self.parameters
        names = (*places, *self.keywords)
        # A number behind those with a place is the rule's, where it can be nothing else.
        others = [name for name in present if name not in places]
        is_for_rule = {*others} <= {name for name, _ in self.policy.rule.parameters}
        by_place = (*places, *others) if is_for_rule else places
        given = _given_by_name(family, arguments, parameters, by_place, others)
        rule = check_rule(given.get("rule", self.policy.rule))
        # Another rule has other parameters.
        possible = {**self._own_parameters(rule), "rule": rule}
        owner = f"{family} with {rule.name}" if "rule" in given else family
        check_names(
            owner, given, [name for name in dict.fromkeys((*names, *possible)) if name in possible]
        )
        # A rule that is given keeps its own number of a name that a slot has, too.
        of_slots = dict(self._pairs_of_slots()) if "rule" in given else {}
        rule = rule.rebound({name: value for name, value in given.items() if name not in of_slots})
        # The call is printed in the new name: parameters of `places` without their names, those of `keywords` with them. A rule prints its
        # own, as in mast(gibbs(temperature=0.1)).
        by_rule = dict(rule.parameters) if "rule" in (*names, *given) else {}
        keywords = [*self.keywords, *(name for name in given if name not in (*names, *by_rule))]
        changed = attrs.evolve(
            self,
            policy=rule.over(self.policy.source.rebound(family, given)),
            capture=self.capture.rebound(family, given),
            backpropagation=self.backpropagation.rebound(family, given),
            parameters=places,
            keywords=tuple(keywords),
        )
        changed._refuse_two_values()
        values = {"rule": rule, **changed._own_parameters(rule)}
        texts = [_value_text(values[name]) for name in places if name in values]
        texts += [_argument_text(name, values[name]) for name in keywords if name in values]
        changed = attrs.evolve(changed, name=f"{family}({', '.join(texts)})")
        adjusted = self.adjust(changed) if self.adjust else changed
        if adjusted.policy.rule != rule and rule != self.policy.rule:
            raise TypeError(
                f"the rule of {self} follows from its {' and '.join(names)}; it can have no other"
            )
        return adjusted

    def _own_parameters(self, rule: Rule) -> dict[str, object]:
        """The parameters of the slots and of a rule, with their values; of one name that of the slots."""
        of_slots = dict(self._pairs_of_slots())
        return of_slots | {name: value for name, value in rule.parameters if name not in of_slots}

    def _pairs_of_slots(self) -> list[tuple[str, object]]:
        """The name and the value of each parameter of the slots; a name may stand in several."""
        slots = self.backpropagation, self.capture, self.policy.source
        return [pair for slot in slots for pair in slot.parameters]

    def _refuse_two_values(self) -> None:
        """Refuse a parameter of two slots with two values: the name of a variant tells one, and would be read as another strategy."""
        pairs = self._pairs_of_slots()
        last = dict(pairs)
        for name, value in pairs:
            if value != last[name]:
                raise ValueError(
                    f"two slots of {self.name} have the parameter {name}, as {value} and as {last[name]}; rename one"
                )

    def __attrs_post_init__(self) -> None:
        check_name(self.name)
        self.policy.check(self.name, self.information)
        self.initial.check(self.name, self.records, self.information, self.policy.source)

    @property
    def components(self) -> tuple["Enhancement", ...]:
        """The enhancements that this one is made of, each once, in order; itself where it is not a composition."""
        return (self,)

    def specification(self) -> str:
        """The seven slots, laid out as the paper's specifications are."""
        information = f"{self.information}   ({', '.join(self.information.names)})"
        texts = (self.records, information, self.initial, self.policy, self.contexts)
        return _laid_out(
            f"Enhancement {self.name}",
            self.name,
            *texts,
            self.capture.summary,
            self.backpropagation.summary,
        )

    def __repr__(self) -> str:
        return self.name


def _laid_out(title: str, tag: str, *slots: object) -> str:
    texts = [f"{symbol} = {slot}" for symbol, slot in zip(_SYMBOLS, slots, strict=True)]
    # A line of 80 letters holds all but the longest text and its tag.
    width = min(max(map(len, texts)) + 2, 73 - len(tag))
    return "\n".join(
        [title, "", *(f"  {text:<{width}} ({tag}-{i})" for i, text in enumerate(texts, start=1))]
    )


def _own_fields(_: type, fields: list[attrs.Attribute]) -> list[attrs.Attribute]:
    """The fields of a composition: those of its own, without the slots, which follow from its parts."""
    return [field for field in fields if field.name in ("operator", "terms", "alias")]


@attrs.frozen(repr=False, field_transformer=_own_fields)
class Composition(Enhancement):
    """Several enhancements composed (Specification 6). Its slots are disjoint unions of those of its components, but for the policy.

    Attributes:
        operator: ">>", "+", "^" or "&".
        terms: (weight, enhancement) of each operand; of a sequence and of a majority vote, the weights are 1.
        alias: the name under which the expression is known, "RAVE"; no part of its identity.

    Raises:
        ValueError: two different enhancements of one name.
    """

    operator: str = ""
    terms: Terms = ()
    alias: str | None = attrs.field(default=None, eq=False)

    def __attrs_post_init__(self) -> None:
        if self.alias is not None:
            check_name(self.alias)
        names = [part.name for part in self.components]
        if doubled := [name for name in names if names.count(name) > 1]:
            raise ValueError(
                f"two different enhancements of one composition are called {doubled[0]}; rename one"
            )

    @property
    def name(self) -> str:
        """The expression, whatever it is called."""
        return _expression(self.operator, self.terms)

    def __call__(
        self, *arguments: float | str | Rule, **parameters: float | str | Rule
    ) -> "Enhancement":
        """The same composition with other parameters of its weights: `RAVE(k=500)`; the name that it has tells them.

        Raises:
            TypeError: its weights have no such parameter. ValueError: a value outside of its range.
        """
        present = _weight_parameters(self.terms)
        family = str(self).partition("(")[0].lower() if self.alias else f"({self})"
        given = _given_by_name(family, arguments, parameters, tuple(present))
        check_names(family, given, present)
        terms = tuple((weight.rebound(family, given), term) for weight, term in self.terms)
        if terms == self.terms:
            return self
        changed = _composition(self.operator, terms)
        values = _weight_parameters(terms)
        text = ", ".join(f"{name}={_value_text(value)}" for name, value in values.items())
        return with_alias(changed, f"{family}({text})") if self.alias else changed

    @property
    def components(self) -> tuple[Enhancement, ...]:
        return tuple(dict.fromkeys(part for _, term in self.terms for part in term.components))

    def _joined(self, symbol: str, union: str = "⊔") -> str:
        """One slot of all components, as a union."""
        return f" {union} ".join(f"{symbol}[{part}]" for part in self.components)

    def specification(self) -> str:
        """The seven slots of the composition, then those of its components."""
        title = f"Composition {self} = {self.name}" if self.alias else f"Composition {self.name}"
        of_part = "of the component that the record belongs to"
        fields = (
            self._joined("R"),
            self._joined("Θ"),
            f"θ_initial {of_part}",
            _policy_text(self.operator, self.terms),
            self._joined("Ψ"),
            self._joined("ξ", "#"),
            f"ω {of_part}",
        )
        return "\n\n".join(
            [_laid_out(title, "COMB", *fields), *(part.specification() for part in self.components)]
        )

    def __repr__(self) -> str:
        return self.alias or self.name


def _weight_parameters(terms: Terms) -> dict[str, object]:
    """The parameters of all weights, with their values."""
    return {name: value for weight, _ in terms for name, value in weight.parameters.items()}


def with_alias(composition: Enhancement, alias: str) -> Enhancement:
    """The same composition, or enhancement, under another name."""
    if isinstance(composition, Composition):
        return attrs.evolve(composition, alias=alias)
    return attrs.evolve(composition, name=alias)


@attrs.frozen(repr=False)
class UnnormalizedMixture(_Algebra):
    """Weighted enhancements whose weights do not sum to 1 (yet): `MAST + NAST2`, to be divided by 2."""

    operator: str  # "+", "^", or "*" for a single weighted enhancement
    terms: Terms

    @property
    def refusal(self) -> str:
        """What the weights sum to, and the division that makes it 1, if one does."""
        total = total_text(self.terms)
        hint = ""
        # The sum may differ from state to state, or the composition is refused for another reason.
        with contextlib.suppress(TypeError, ValueError):
            if isinstance(self / float(total), Enhancement):
                hint = f"; did you mean ({self})/{total}?"
        # a sum that is rounded to 1 is not said to be "1, not 1"
        sum_text = "almost 1" if total == "1" else total
        return f"sum to {sum_text}, not to 1{hint}"

    def __repr__(self) -> str:
        return f" {self.operator} ".join(_term_text(weight, term) for weight, term in self.terms)


def _inside(operand: Enhancement, operator: str) -> Terms:
    """The terms of an unnamed composition by the same operator, to be flattened; otherwise the operand itself."""
    if isinstance(operand, Composition) and operand.operator == operator and operand.alias is None:
        return operand.terms
    return ((Weight(), operand),)


def _operand(value: object, operator: str) -> Enhancement:
    """An enhancement; anything else is refused."""
    if isinstance(value, UnnormalizedMixture):
        raise ValueError(
            f"({value}) cannot be an operand of {operator}: its weights {value.refusal}"
        )
    if not isinstance(value, Enhancement):
        raise TypeError(f"{value!r} is not an enhancement: it cannot be an operand of {operator}")
    return value


def _terms(value: object, operator: str) -> Terms:
    if isinstance(value, UnnormalizedMixture) and value.operator in (operator, "*"):
        return value.terms
    return ((Weight(), _operand(value, operator)),)


def _composed(operator: str, first: object, second: object) -> MixtureLike:
    if operator in (">>", "&"):
        operands = [_inside(_operand(operand, operator), operator) for operand in (first, second)]
        return _composition(
            operator, tuple((Weight(), part) for terms in operands for _, part in terms)
        )
    return _normalise(operator, (*_terms(first, operator), *_terms(second, operator)))


def _scale(value: MixtureLike, factor: object) -> MixtureLike:
    scale = weight_from(factor)
    mixture = (
        value
        if isinstance(value, UnnormalizedMixture)
        else UnnormalizedMixture("*", ((Weight(), value),))
    )
    return _normalise(
        mixture.operator, tuple((scale.times(weight), term) for weight, term in mixture.terms)
    )


def _normalise(operator: str, terms: Terms) -> MixtureLike:
    """The finished composition where the weights sum to 1, else the sum as it stands."""
    mixture = UnnormalizedMixture(operator, terms)
    # A weight may depend on the visits: its values for many a visit count are its shares.
    by_term = [[weight.at(*probe) for probe in PROBES] for weight, _ in terms]
    if operator == "*":
        weight, term = terms[0]
        return term if weight == Weight() else mixture
    if any(abs(sum(shares) - 1) > TOLERANCE for shares in zip(*by_term, strict=True)):
        return mixture
    for (weight, _), shares in zip(terms, by_term, strict=True):
        if wrong := [share for share in shares if not -TOLERANCE <= share <= 1 + TOLERANCE]:
            raise ValueError(
                f"the weight {weight} in ({mixture}) may be {exact_text(wrong[0])}; weights must lie in [0, 1]"
            )
    flat = tuple(
        (weight.times(inner), part)
        for weight, term in terms
        for inner, part in _inside(term, operator)
    )
    if operator == "^":
        _check_maximises(str(mixture), flat)
    return _composition(operator, flat)


def _composition(operator: str, terms: Terms) -> Composition:
    return Composition(operator=operator, terms=terms)  # type: ignore[call-arg]


def _check_maximises(expression: str, terms: Terms) -> None:
    """Refuse terms of a maxilinear composition with policies that are not of the form U[arg max v]."""
    for _, term in terms:
        for part in _policies(term):
            if isinstance(part, Composition) or not part.policy.maximises:
                raise ValueError(
                    f"the policy of {part} is not U[arg max v]: ^ cannot combine it in ({expression})"
                )


def _policies(term: Enhancement) -> Iterator[Enhancement]:
    """The enhancements whose values a maxilinear composition would read; a linear mixture, or a vote, stands for itself."""
    if not isinstance(term, Composition) or term.operator in ("+", "&"):
        yield term
    else:
        # A >> B >> C is A in the tree and C in simulation: no policy reads B
        operands = (term.terms[0], term.terms[-1]) if term.operator == ">>" else term.terms
        for _, part in operands:
            yield from _policies(part)


# ------------------------------------------------------------------------------------------------------------------ texts


def check_name(name: object) -> None:
    """Refuse the name of an enhancement that no strategy could be read by, as rows have it.

    Raises:
        TypeError: it is no str, or empty. ValueError: it is no name of Python's, nor a call of one; or an operator stands in it, outside
            of brackets.
    """
    if not isinstance(name, str) or not name:
        raise TypeError(f"the name of an enhancement is {name!r}; it must be a str")
    if operators := re.search(r"[->+/^&*]+", re.sub(r"\(.*\)", "", name)):
        raise ValueError(
            f"the name of an enhancement is {name!r}, which reads as a composition by {operators[0]}"
        )
    if not re.fullmatch(r"[^\W\d]\w*(\(.*\))?", name):
        raise ValueError(
            f"the name of an enhancement is {name!r}; it must be like a name of Python's, such as MY_MAST or my_mast(2)"
        )


def _expression(operator: str, terms: Terms) -> str:
    """A composition of weighted terms by an operator."""
    if operator == ">>":
        # + binds closer than >>, the other operators do not: a sum alone stands beside it without brackets
        return " >> ".join(
            str(term) if _operator(term) == "+" else _in_brackets(term) for _, term in terms
        )
    if operator == "&":
        return " & ".join(_in_brackets(term) for _, term in terms)
    # equal shares, as in (A + B)/2
    if len({weight for weight, _ in terms}) == 1 and terms[0][0] == Weight(1 / len(terms)):
        return (
            "(" + f" {operator} ".join(_in_brackets(term) for _, term in terms) + f")/{len(terms)}"
        )
    return f" {operator} ".join(_term_text(weight, term) for weight, term in terms)


def _term_text(weight: Weight, term: Enhancement) -> str:
    """One term of a sum, with its weight."""
    return _in_brackets(term) if weight == Weight() else f"{weight}*{_in_brackets(term)}"


def _in_brackets(term: Enhancement) -> str:
    return str(term) if not _operator(term) else f"({term})"


def _operator(term: Enhancement) -> str:
    """The operator of a composition that is written out; "" for what has a name of its own."""
    return term.operator if isinstance(term, Composition) and term.alias is None else ""


def _policy_text(operator: str, terms: Terms) -> str:
    """The policy of a composition (COMB-4)."""
    names = [f"α[{term}]" for _, term in terms]
    if operator == ">>":
        return f"{names[0]} at selection and expansion nodes; {names[-1]} at simulation nodes"
    if operator == "+":
        return " + ".join(f"{weight} α[{term}]" for weight, term in terms)
    if operator == "&":
        return f"U[arg max of votes], one drawn from each of {', '.join(names)} that is not uniform"
    return f"U[arg max ({' + '.join(f'{weight} v[{term}]' for weight, term in terms)})]"


def _value_text(value: object) -> str:
    """A parameter as a strategy's text has it: a number or a text as Python writes it, a rule as it prints."""
    return repr(value) if isinstance(value, int | float | str) else str(value)


def _argument_text(name: str, value: object) -> str:
    """A parameter with its name; a rule has one of its own."""
    return str(value) if name == "rule" else f"{name}={_value_text(value)}"


def _given_by_name(
    owner: str,
    arguments: Sequence[object],
    named: Mapping[str, object],
    parameters: Sequence[str],
    others: Sequence[str] = (),
) -> dict[str, Any]:
    """The arguments of a call by the names of the parameters that they are for; what is no number or text is for the rule.

    Args:
        parameters: those that have a place, in order.
        others: those that are given by name only.

    Raises:
        TypeError: there are too many of them, or one is given twice.
    """
    values, rules = list[object](), list[object]()
    for each in arguments:
        if is_number(each) or isinstance(each, str):
            values.append(each)
        else:
            rules.append(each)
    places = [name for name in parameters if name != "rule"]
    if len(values) > len(places) or len(rules) > 1:
        hint = f"; by name it takes {', '.join(others)}" if others else ""
        raise TypeError(f"{owner}({', '.join(parameters)}) has no place for {arguments!r}{hint}")
    given = dict(zip(places, values, strict=False))
    if rules:
        given["rule"] = rules[0]
    if twice := [name for name in given if name in named]:
        raise TypeError(f"the parameter {twice[0]} of {owner} is given twice")
    return {**given, **named}
