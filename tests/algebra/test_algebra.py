"""The algebra of Specification 6: construction, refusal, equality, text."""

import copy
import functools
import itertools
import math
import operator
import pickle
from collections.abc import Callable, Sequence
from typing import Annotated

import attrs
import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import chisquare

from icarus import *
from icarus.algebra.policy import *
from icarus.compiler.rng import seeded
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.loop import follow_rule
from icarus.kernel import *
from icarus.kernel.theta import ENTRY
from tests import toy
from tests.test_toy import after


@weight
def constant_half(rewards, visits, availability):
    """½"""
    return 0.5


@weight
def too_much(rewards, visits, availability):
    """1.5 once visited"""
    return 1.5 if visits > 0 else 0.5


leaves = st.sampled_from([*SPECIFICATIONS.values(), MAST(ucb1(0.3)), NAST(4), RAVE(k=9)])
shares = st.integers(1, 9).map(lambda tenths: tenths / 10)


def composed(inner):
    return st.one_of(
        st.tuples(inner, inner).map(lambda pair: pair[0] >> pair[1]),
        st.lists(inner, min_size=2, max_size=4).map(
            lambda parts: functools.reduce(operator.add, parts) / len(parts)
        ),
        st.lists(inner, min_size=2, max_size=4).map(
            lambda members: functools.reduce(operator.and_, members)
        ),
        st.tuples(shares, inner, inner).map(
            lambda drawn: drawn[0] * drawn[1] + (1 - drawn[0]) * drawn[2]
        ),
        st.tuples(inner, inner).map(
            lambda pair: rave_weight(k=3) * pair[0] + (1 - rave_weight(k=3)) * pair[1]
        ),
    )


compositions = st.recursive(leaves, composed, max_leaves=8)


@given(compositions)
def test_a_composition_is_a_value_whose_text_parses_back_to_it(strategy):
    read, again = parse(str(strategy)), pickle.loads(pickle.dumps(strategy))
    assert read == again == copy.copy(strategy) == strategy
    assert hash(again) == hash(strategy)
    assert str(read) == str(strategy)


def test_a_slot_that_another_process_would_not_find_is_not_pickled():
    @capture
    def of_a_function(history, updates):
        pass

    def capture_actions(history, updates):
        pass

    capture_actions.__module__ = MAST.capture.function.__module__
    redefined = capture(capture_actions)
    redefined.function.__qualname__ = "capture_actions"
    for slot in (of_a_function, redefined):
        with pytest.raises(
            pickle.PicklingError, match=f"{slot.name} cannot go to another process; define it once"
        ):
            pickle.dumps(attrs.evolve(MAST, name="MINE", capture=slot))


@given(compositions, compositions, compositions)
def test_sequences_and_votes_are_associative_for_all_have_one_vote_each(a, b, c):
    assert (a >> b) >> c == a >> (b >> c)
    assert (a & b) & c == a & (b & c)


def test_a_divisor_below_1_is_a_factor_above_1():
    assert (MAST / 4 / 0.5 + NAST2) / 2 == MAST / 4 + NAST2 / 2


def test_rave_is_the_maxilinear_combination_of_equation_14():
    assert RAVE == rave_weight(k=250) * AMAF ^ (1 - rave_weight(k=250)) * BASELINE
    assert RAVE(k=500) != RAVE
    assert str(RAVE) == "RAVE"
    assert str(RAVE(k=500)) == "rave(k=500)"


@pytest.mark.parametrize(
    ("visits", "k", "expected"),
    [(0, 250, 1.0), (250, 250, 0.5), (83, 249, 0.7071), (1000, 1000, 0.5)],
)
def test_the_weight_of_rave_is_equation_15(visits, k, expected):
    assert rave_weight(k=k).at(0.5, visits, visits) == pytest.approx(expected, abs=1e-4)


def test_nested_linear_mixtures_flatten():
    assert ((MAST + NAST2) / 2 + LGRF) / 2 == 0.25 * MAST + 0.25 * NAST2 + 0.5 * LGRF


def test_a_named_composition_is_not_taken_apart():
    assert str(RAVE >> (RAVE + MAST) / 2) == "RAVE >> (RAVE + MAST)/2"


@pytest.mark.parametrize(
    "refused",
    [
        lambda: 0.5 * MAST + 0.6 * NAST2 >> LGR,
        lambda: 1.5 * MAST + -0.5 * NAST2,
        lambda: too_much * MAST + (1 - too_much) * NAST2,
        lambda: (constant_half * MAST + 0.4 * NAST2) & LGR,
    ],
)
def test_weights_outside_the_unit_interval_or_not_summing_to_one_are_refused(refused):
    with pytest.raises(ValueError, match=r"sum to|must lie in \[0, 1\]"):
        refused()


@pytest.mark.parametrize(
    ("combination", "offending"),
    [
        (lambda: (AMAF ^ MAST) / 2, "policy of MAST is not"),
        (lambda: 0.5 * BASELINE ^ 0.5 * LGR, "policy of LGR is not"),
        (lambda: (BASELINE ^ (AMAF + EPIC) / 2) / 2, r"policy of \(AMAF \+ EPIC\)/2 is not"),
        (lambda: (BASELINE ^ (AMAF & EPIC)) / 2, "policy of AMAF & EPIC is not"),
        (lambda: (BASELINE ^ (AMAF >> MAST)) / 2, "policy of MAST is not"),
    ],
)
def test_maxilinear_composition_refuses_policies_that_are_no_arg_max(combination, offending):
    with pytest.raises(ValueError, match=offending):
        combination()


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: MAST + 3, lambda: MAST >> "NAST2", lambda: None >> MAST, lambda: MAST ^ 1.0, lambda: "MAST" & NAST2,
        lambda: MAST / MAST, lambda: MAST / 0, lambda: MAST * "a", lambda: MAST * MAST, lambda: True * MAST,
        lambda: MAST and NAST2, lambda: not (MAST + NAST2), lambda: 1 - MAST, lambda: 2 - rave_weight(),
    ],
)  # fmt: skip
def test_every_misuse_of_an_operator_is_a_type_error(misuse):
    with pytest.raises(TypeError):
        misuse()


@pytest.mark.parametrize(
    ("slot", "value"), [("records", "A"), ("initial", 0), ("policy", gibbs()), ("capture", print)]
)
def test_a_slot_of_the_wrong_kind_is_refused_by_name(slot, value):
    with pytest.raises(TypeError, match=f"^{slot} is .*; it must be a"):
        attrs.evolve(MAST, **{slot: value})


def test_a_policy_that_reads_what_is_not_kept_is_refused():
    with pytest.raises(
        ValueError, match="reads reward, a REWARD or REWARDS, and visits, a COUNT, not the A ∪"
    ):
        attrs.evolve(MAST, information=LGR.information)


@pytest.mark.parametrize(
    ("name", "operators"),
    [
        ("A >> B", ">>"),
        ("(A + B)/2", "/"),
        ("0.5*A", "*"),
        ("A ^ B", "^"),
        ("&", "&"),
        ("A-B", "-"),
    ],
)
def test_no_name_reads_as_a_composition(name, operators):
    message = f"the name of an enhancement is {name!r}, which reads as a composition by {operators}"
    for strategy in (MAST, RAVE >> MAST):
        with pytest.raises(ValueError) as refused:
            with_alias(strategy, name)
        assert str(refused.value) == message
    assert str(with_alias(MAST, f"mine({name}, -1)")) == f"mine({name}, -1)"


@pytest.mark.parametrize("name", ["my MAST", "MAST.2", "2MAST", "mast(2", "mast)2(", "mast(2) "])
def test_no_name_is_one_that_no_strategy_could_be_read_by(name):
    for strategy in (MAST, RAVE >> MAST):
        with pytest.raises(ValueError, match=r"it must be like a name of Python's, such as"):
            with_alias(strategy, name)


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("RAVE >> (MSAT + NAST2)/2", 10), ("MAST >>", 8), ("MAST and NAST2", 1), ("MAST >> nast(0)", 9),
        ("MAST >> mast(gibbs(0))", 14), ("__import__('os')", 1), ("RAVE >> MAST.capture", 9), ("RAVE >> [MAST]", 9),
        ("mast(3)", 1), ("", 1), ("MAST + 3", 1), ("rave(**{})", 1), ("mast(gibbs(), rule=gibbs())", 1),
        ("nast(n=2, n=3)", 1), ("MAST >> 'MAST'", 1), ("MAST(3)(4)", 1), ("mast('É', Foo)", 11),
        ("(MAST >>\n Foo)", 11), ("(MAST >>\r\n Foo)", 12), ("  MAST >> Foo", 9),
        ("(RAVE >> MAST\n >> NAST2 )) >> MAST", 26),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_is_refused_with_its_position(text, position):
    with pytest.raises(ValueError, match=rf"position {position}\b"):
        parse(text)


def test_a_majority_vote_says_what_it_is():
    strategy = BASELINE >> (MAST & NAST2 & LGRF)
    assert str(strategy) == "BASELINE >> (MAST & NAST2 & LGRF)"
    assert str((MAST & NAST2) >> LGRF) == "(MAST & NAST2) >> LGRF"
    assert (
        "one drawn from each of α[MAST], α[NAST2], α[LGRF]" in (MAST & NAST2 & LGRF).specification()
    )
    with pytest.raises(
        ValueError,
        match=r"\(MAST \+ NAST2\) cannot be an operand of &: its weights sum to 2, not to 1; did you mean \(MAST \+ NAST2\)/2\?",
    ):
        (MAST + NAST2) & LGRF


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mast", "'Mast'; did you mean MAST?"),
        ("MAST/2", "sum to 0.5, not to 1; did you mean (0.5*MAST)/0.5?"),
        ("0.3*MAST + 0.3*NAST2", "sum to 0.6, not to 1; did you mean (0.3*MAST + 0.3*NAST2)/0.6?"),
        ("rave_weight*AMAF + MAST", "sum to between 1.00913 and 2, not to 1"),
        ("-1*MAST", "sum to -1, not to 1"),  # where no division makes it right, none is offered
        ("(MAST + NAST2)/3", "sum to 0.666667, not to 1"),
        ("0.5*MAST + 0.5000001*NAST2", "sum to almost 1, not to 1"),
        ("RAVE & MAST ^ NAST2", "sum to 2, not to 1"),
        ("BASELINE >> mast", "at position 13: no enhancement is called 'mast'; did you mean MAST?"),
        ("rave(x=3)", "at position 1: rave has no parameter 'x'; it has k"),
        ("MAST - NAST2", "- is for weights, as in 1 - rave_weight"),
        ("2 >> MAST", "at position 1: >> is for enhancements, as in RAVE >> MAST"),
        ("gibbs ^ MAST", "^ is for enhancements, as in (AMAF ^ BASELINE)/2"),
        ("'a' + MAST", "+ is for enhancements, as in (MAST + NAST2)/2"),
        ("rave_weight/2*AMAF", "at position 1: / is for enhancements, as in (MAST + NAST2)/2"),
        ("'a' * rave_weight", "* is for weights of enhancements, as in 0.5*MAST"),
        ("-'a' * MAST", "has >>, +, -, *, /, ^, &, names and numbers"),
    ],
)
def test_a_slip_in_a_strategy_is_told_with_what_would_be_right(text, message):
    with pytest.raises(ValueError) as refusal:
        parse(text)
    assert str(refusal.value).endswith(message)


def test_a_text_may_name_enhancements_of_ones_own():
    mine = attrs.evolve(MAST, name="MINE")
    assert parse("RAVE >> MINE", MINE=mine) == RAVE >> mine


def test_a_specification_prints_its_seven_slots_with_their_tags():
    text = MAST.specification()
    assert [line.rsplit("(", 1)[1] for line in text.splitlines() if line.endswith(")")][-7:] == [
        f"MAST-{i})" for i in range(1, 8)
    ]
    assert "R = A × {1, …, κ}" in text
    assert "Θ = ℝ × ℕ₀" in text
    assert "τ = 1" in text


def test_the_text_of_a_space_keeps_the_order_of_its_parts():
    assert str(ACTION**2 * MOVE * ACTION) == "A^2 × M × A"


def test_a_composition_answers_the_same_seven_questions():
    strategy = RAVE >> (MAST + NAST3) / 2
    assert isinstance(strategy, Enhancement)
    assert "R[AMAF] ⊔ R[BASELINE] ⊔ R[MAST] ⊔ R[NAST3]" in strategy.specification()
    assert "COMB-4" in strategy.specification()
    assert "NAST3-6" in strategy.specification()


def test_a_rule_goes_over_candidates_or_values_only():
    with pytest.raises(TypeError, match="argmax needs a @candidates or @values function"):
        argmax().over(print)
    with pytest.raises(TypeError, match="ucb1 needs a @candidates function, not recorded_reply"):
        ucb1().over(LGR.policy.source)
    with pytest.raises(ValueError, match="temperature of gibbs is 0"):
        gibbs(temperature=0)


@pytest.mark.parametrize(
    "text", ["- " * 900 + "1", "MAST" + "[0]" * 600, "(" * 5000, " >> ".join(["MAST"] * 5000)]
)
def test_a_text_of_any_depth_is_refused_in_a_sentence(text):
    with pytest.raises(ValueError, match="^the strategy '"):
        parse(text)


# -------------------- Forms of α: the frequencies of each rule against its formula, the values that rules are made over, the weights.


DRAWS = 20_000
FALSE_ALARM = 1e-4
INFINITE = math.inf


def frequencies(
    rule: int, parameter: float, values_of_actions: Sequence[float], draws: int = DRAWS
) -> list[int]:
    rng, values = seeded(12), np.array(values_of_actions)
    followed = [follow_rule(rule, parameter, values.copy(), len(values), rng) for _ in range(draws)]
    return np.bincount(followed, minlength=len(values)).tolist()


def agrees(counts: Sequence[int], expected: Sequence[float]) -> bool:
    """Counts against a distribution: nothing where the probability is 0, chi-square elsewhere."""
    assert math.isclose(sum(expected), 1)
    if any(count and not share for count, share in zip(counts, expected, strict=True)):
        return False
    pairs = [
        (count, share * sum(counts)) for count, share in zip(counts, expected, strict=True) if share
    ]
    return (
        len(pairs) == 1
        or chisquare([count for count, _ in pairs], [share for _, share in pairs]).pvalue
        > FALSE_ALARM
    )


def normalised(weights: Sequence[float]) -> list[float]:
    return [weight / sum(weights) for weight in weights]


# ----------------------------------------------------------------------------------------------------------------- rules

EVEN, MIXED = [0.0, 1.0, 0.4, 0.4], [0.3, 0.8, 0.8, 0.1]
RULES: list[tuple] = [  # the parameter, the values, and how often each action is played
    (RULE_UNIFORM, 0, [5.0, 0.0, INFINITE], [1 / 3] * 3),
    (RULE_ARGMAX, 0, [0.2, 0.9, 0.9, 0.1, 0.9], [0, 1 / 3, 1 / 3, 0, 1 / 3]),
    (RULE_ARGMAX, 0, [INFINITE, 1.0, INFINITE], [0.5, 0, 0.5]),
    (RULE_ARGMAX, 0, [-2.0, -1.0, -1.0], [0, 0.5, 0.5]),
    (RULE_ARGMAX, 0, [3.0], [1]),
    *(
        (RULE_GIBBS, t, EVEN, normalised([math.exp(value / t) for value in EVEN]))
        for t in (0.25, 1.0, 5.0)
    ),
    (RULE_GIBBS, 0.001, [0.5, 1.0, 0.3], [0, 1, 0]),  # but for e^(-500)
    (RULE_GIBBS, 1.0, [INFINITE, 0.5, INFINITE, 0.0], [0.5, 0, 0.5, 0]),
    (RULE_GIBBS, 1.0, [-INFINITE] * 4, [0.25] * 4),
    (RULE_GIBBS, 1.0, [-INFINITE, 0.5], [0, 1]),
    *(
        (RULE_EPSILON_GREEDY, e, MIXED, [e / 4, 0.5 - e / 4, 0.5 - e / 4, e / 4])
        for e in (0.0, 0.2, 1.0)
    ),
    (RULE_ROULETTE, 0, [0.2, 0.0, 1.0, 0.3], normalised([0.2, 0.0, 1.0, 0.3])),
    (RULE_ROULETTE, 0, [0.0] * 5, [0.2] * 5),
    (RULE_ROULETTE, 0, [1.0, 0.0], [1, 0]),  # the last pocket is never skipped to
    (RULE_ROULETTE, 0, [INFINITE, 0.5, INFINITE, 0.0], [0.5, 0, 0.5, 0]),
    (RULE_REPLY, 0, [0.0, 0.0, 1.0], [0, 0, 1]),
    (RULE_REPLY, 0, [0.0, 0.0, 0.0], [1 / 3] * 3),
]


@pytest.mark.parametrize(("rule", "parameter", "worth", "expected"), RULES)
def test_a_rule_plays_each_action_as_often_as_its_formula_says(rule, parameter, worth, expected):
    assert agrees(frequencies(rule, parameter, worth), expected)


@pytest.mark.parametrize(
    ("rule", "value"),
    [(gibbs, 0), (gibbs, math.nan), (gibbs, True), (gibbs, "1"), (epsilon_greedy, -0.1), (epsilon_greedy, 1.01), (ucb1, INFINITE)],
)  # fmt: skip
def test_a_parameter_that_no_rule_can_have_is_refused(rule, value):
    with pytest.raises(ValueError, match="it must be a (real|finite) number"):
        rule(value)


# ---------------------------------------------------------------------------------------------- values made from records

PLAYER = 1
ABSENT = 0  # the row of records that are not in the table


def by_vectors(rows: dict[int, tuple]) -> Theta:
    return table(RewardsVisitsAvailability.row(2), rows, ((0.0, 0.0), 0, 0))


def by_numbers(rows: dict[int, tuple]) -> Theta:
    return table(RewardVisits.row(2), rows, (0.0, 0))


def table(kind: np.dtype, rows: dict[int, tuple], blank: tuple) -> Theta:
    """A table whose records are small numbers, each in the row of its number; the first row is the initial information."""
    held = np.zeros(8, kind)
    held[ABSENT] = (0, *blank)
    for key, row in rows.items():
        held[key] = (key, *row)
    return Theta(held, np.arange(8, dtype=ENTRY))


def valued(rule: Callable, theta: Theta, places: list[int], *parameters: float) -> list[float]:
    out = np.full(len(places), np.nan)
    rule(theta, np.array(places), PLAYER, out, *parameters)
    return out.tolist()


# Its annotations are texts, as `from __future__ import annotations` makes them.
ANNOTATED = """
@values
def v(history, theta, legal, out, share: "Fraction" = 0.5, n: "Annotated[int, Range(0.5, math.inf)]" = 2):
    pass
"""


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"share": 7.0}, "share of v is 7.0; it must be a real number at least 0 and at most 1"),
        ({"n": 0}, "n of v is 0; it must be an integer from 1 to 9007199254740992"),
    ],
)
def test_a_range_counts_also_where_annotations_are_texts(parameters, message):
    namespace = {"values": values, "Fraction": Fraction, "Range": Range, "Annotated": Annotated}
    exec(ANNOTATED, namespace | {"math": math}, namespace)
    with pytest.raises(ValueError, match=message):
        namespace["v"](**parameters)
    assert namespace["v"](n=3).values() == (0.5, 3)


def below_its_range(history, theta, legal, out, shift: float = -0.5):
    pass


def of_an_unknown_annotation(history, theta, legal, out, share: "Franction" = 0.5):
    pass


@pytest.mark.parametrize(
    "strategy",
    [
        PUCT(gibbs(0.5)),
        PUCT(gibbs(0.5))(temperature=0.2),
        PUCT(gibbs(0.5), temperature=0.2),
        MAST(gibbs(0.5), temperature=0.2),
        RAVE(k=np.int64(7)),
    ],
    ids=str,
)
def test_a_number_of_one_name_in_a_rule_and_in_a_slot_is_read_back(strategy):
    again = parse(str(strategy))
    assert again == strategy
    assert str(again) == str(strategy)


def test_two_slots_have_one_number_of_one_name():
    @values
    def of_two(history, theta, legal, out, n: int = 2):
        pass

    @capture
    def of_five(history, updates, n: int = 5):
        pass

    policy = argmax().over(of_two)
    two = attrs.evolve(MAST, name="X", policy=policy, capture=of_five)
    with pytest.raises(ValueError, match="two slots of X have the parameter n, as 5 and as 2"):
        two(argmax())
    assert two(n=3).capture.values() == two(n=3).policy.source.values() == (3,)


def test_the_weights_of_a_named_composition_are_told_as_they_are():
    @weight
    def share(rewards, visits, availability, a: float = 0.5):
        return a

    mixed = with_alias(share * RAVE + (1 - share) * BASELINE, "MIXED")
    for number in (np.linspace(0, 1, 11)[3], np.float32(0.3), 1):
        assert parse(str(mixed(a=number)), MIXED=mixed) == mixed(a=number)
        assert "np." not in str(mixed(a=number))


def test_a_specification_tells_parameters_that_are_not_as_by_default():
    assert "; last_phase = 1 " in TO_MAST.specification()
    assert "; last_phase = 0 " in AMAF_STRICT.specification()
    assert "last_phase" not in MAST.specification() + AMAF.specification()


def test_a_default_that_a_parameter_cannot_have_is_refused_where_it_is_written():
    with pytest.raises(ValueError, match="shift of below_its_range by default is -0.5; it must be"):
        values(below_its_range)
    with pytest.raises(TypeError, match="the annotation of share of of_an_unk.*'Franction' is not"):
        values(of_an_unknown_annotation)


def test_ucb1_by_availability_is_the_formula_of_the_baseline():
    theta = by_vectors({1: ((1.0, 3.0), 4, 6), 2: ((2.0, 0.0), 2, 2), 3: ((0.0, 9.0), 9, 100_000)})
    expected = [
        0.75 + 0.7 * math.sqrt(math.log(6) / 4),
        0.7 * math.sqrt(math.log(2) / 2),
        1 + 0.7 * math.sqrt(math.log(100_000) / 9),
    ]
    assert valued(ucb1_by_availability, theta, [1, 2, 3], 0.7) == pytest.approx(expected)


def test_ucb1_by_availability_is_infinite_exactly_where_nothing_is_known():
    theta = by_vectors({1: ((1.0, 3.0), 4, 6), 3: ((0.0, 0.0), 0, 5), 5: ((0.0, 1.0), 1, 0)})
    results = valued(ucb1_by_availability, theta, [1, 3, ABSENT, 5], 0.7)
    assert [value == INFINITE for value in results] == [False, True, True, True]


def test_ucb1_by_visits_takes_the_sum_over_the_legal_actions_as_trials():
    theta = by_numbers({1: (1.0, 2), 2: (3.0, 3), 7: (50.0, 100)})  # 7 is not legal here: 5 trials
    expected = [1 / 2 + 1.5 * math.sqrt(math.log(5) / 2), 1 + 1.5 * math.sqrt(math.log(5) / 3)]
    assert valued(ucb1_by_visits, theta, [1, 2], 1.5) == pytest.approx(expected)


def test_ucb1_by_visits_is_infinite_exactly_where_nothing_is_known():
    theta = by_numbers({1: (1.0, 2), 2: (3.0, 3)})
    results = valued(ucb1_by_visits, theta, [ABSENT, 1, 2, ABSENT], 1.5)
    assert [value == INFINITE for value in results] == [True, False, False, True]


@pytest.mark.parametrize("trials", [2, 4095, 4096, 4097, 1_000_000])
def test_the_logarithm_of_any_number_of_trials_is_exact(trials):
    theta = by_vectors({1: ((0.0, 0.0), 1, trials)})
    assert valued(ucb1_by_availability, theta, [1], 1.0) == [math.sqrt(math.log(trials))]
    theta = by_numbers({1: (0.0, 1), 2: (0.0, trials - 1)})
    assert valued(ucb1_by_visits, theta, [1, 2], 1.0)[0] == math.sqrt(math.log(trials))


@pytest.mark.parametrize(
    "kept", [{"reward": REAL**2, "visits": COUNT}, {"reward": REAL, "visits": REAL}]
)
def test_a_policy_over_fields_of_other_kinds_is_refused(kept):
    """Of two numbers it would read the reward of player 2 beyond their end."""
    with pytest.raises(
        ValueError,
        match="reads reward, a REWARD or REWARDS, and visits, a COUNT, not the ℝ.* of ODD",
    ):
        attrs.evolve(MAST, name="ODD", information=information(**kept))


# --------------------------------------------------------------------------------------------- mixtures, in a whole search


@capture
def nothing(history, updates):
    """⟨⟩"""


@backpropagation
def unchanged(stats, context, rewards):
    """θ as it is"""


@values
def favourite(history, theta, legal, out, action=0, value=1.0):
    """a fixed value for one action, 0 for the others"""
    for i in range(len(legal)):
        out[i] = value if legal[i] == action else 0.0


IDLE = Enhancement(
    "IDLE",
    ACTION,
    information(visits=COUNT),
    initial(),
    argmax().over(favourite),
    NOTHING,
    nothing,
    unchanged,
)


def test_initial_information_of_another_field_is_refused_with_those_that_there_are():
    with pytest.raises(ValueError, match=r"of IDLE sets visit, which .* has not; it has visits"):
        attrs.evolve(IDLE, initial=initial(visit=1))


def fond_of(action: int, value: float = 1.0, name: str = "FOND") -> Enhancement:
    """An enhancement that learns nothing and plays the arg max of a fixed value for one action."""
    return attrs.evolve(
        IDLE, name=f"{name}{action}", policy=argmax().over(favourite(action=action, value=value))
    )


@weight
def quarter_then_one(rewards, visits, availability):
    """¼ at histories visited never, 1 at others"""
    return 0.25 if visits == 0 else 1.0


def played_at_the_root(
    strategy: Enhancement, iterations: int = 4000, root: State | None = None
) -> dict[int, int]:
    search = CompiledSearch(root or after(toy.BRANCHES), strategy, 21)
    search.run(iterations)
    return dict(zip(search.actions, search.result().visits.tolist(), strict=True))


def test_a_linear_mixture_plays_each_policy_with_its_weight():
    visits = played_at_the_root(0.2 * fond_of(0) + 0.5 * fond_of(1) + 0.3 * fond_of(2))
    assert agrees([visits[action] for action in (0, 1, 2)], [0.2, 0.5, 0.3])


def test_a_weight_function_is_asked_at_the_history_of_the_decision():
    # The root is unvisited in the first playout only; from then on the weight of FOND0 is 1.
    visits = played_at_the_root(
        quarter_then_one * fond_of(0) + (1 - quarter_then_one) * fond_of(1), 500
    )
    assert visits[0] >= 499
    assert visits[2] == 0


def test_maxilinear_adds_the_weighted_values():
    # 0.6 · 1 for action 0 against 0.4 · 2 for action 1.
    both = 0.6 * fond_of(0, 1.0) ^ 0.4 * fond_of(1, 2.0)
    assert played_at_the_root(both, 50) == {0: 0, 1: 50, 2: 0}
    # 0.6 · 1 + 0.4 · 1 = 1 for action 0; the same in parts of two for action 1: a tie that is broken uniformly.
    tied = (fond_of(0) ^ fond_of(1) ^ fond_of(0, name="TOO") ^ fond_of(1, name="TOO")) / 4
    visits = played_at_the_root(tied)
    assert agrees([visits[action] for action in (0, 1, 2)], [0.5, 0.5, 0])


def test_zero_times_infinity_is_zero_and_any_positive_weight_on_infinity_is_infinite():
    slot = attrs.evolve(favourite(action=1), parameters=(("action", 1), ("value", INFINITE)))
    endless = attrs.evolve(IDLE, name="ENDLESS", policy=argmax().over(slot))
    assert played_at_the_root(1.0 * fond_of(0) ^ 0.0 * endless, 20) == {0: 20, 1: 0, 2: 0}
    assert played_at_the_root((1 - 1e-6) * fond_of(0, 1e6) ^ 1e-6 * endless, 20) == {
        0: 0,
        1: 20,
        2: 0,
    }


@pytest.mark.parametrize("rule", [gibbs(0.5), epsilon_greedy(0.3), roulette(), reply()])
def test_a_rule_in_a_search_plays_as_the_rule_alone_does(rule):
    strategy = attrs.evolve(IDLE, policy=rule.over(favourite(action=1, value=0.8)))
    expected = {
        "gibbs": normalised([1.0, math.exp(1.6), 1.0]),
        "epsilon_greedy": [0.1, 0.8, 0.1],
        "roulette": [0.0, 1.0, 0.0],
        "reply": [0.0, 1.0, 0.0],
    }[rule.name]
    visits = played_at_the_root(strategy)
    assert agrees([visits[action] for action in (0, 1, 2)], expected)


# --------------------------------------------------------------------------------------------------------------- weights


@weight
def halved(rewards, visits, availability):
    """1/n"""
    return 1 / visits


def test_a_weight_that_divides_by_no_visits_is_refused():
    with pytest.raises(ZeroDivisionError, match="by zero"):
        search(toy.KUHN.new_initial_state(), halved * AMAF ^ (1 - halved) * BASELINE, iterations=1)


# ------------------------------------------------------------------------------------------------------- majority votes


def fixed(name: str, *worth: float, rule=None) -> Enhancement:
    """An enhancement whose values of the first three legal actions never change."""
    first, second, third = worth

    @values
    def constants(history, theta, legal, out, a=first, b=second, c=third):
        """v(a) as given"""
        for i in range(len(legal)):
            out[i] = a if i == 0 else b if i == 1 else c

    return attrs.evolve(MAST, name=name, policy=(rule or argmax()).over(constants))


def votes_of(strategy: Enhancement, draws: int = 800) -> list[int]:
    """How often a strategy chooses each of three actions in the simulation, by the plain engine's own decisions."""
    return np.bincount(toy.choices_of(strategy, after(toy.BRANCHES), draws), minlength=3).tolist()


def softmax(*worth: float) -> list[float]:
    return normalised([math.exp(value) for value in worth])


def majority_of(*members: Sequence[float]) -> list[float]:
    """The distribution of a vote of independent members, by going through all votes."""
    shares = [0.0, 0.0, 0.0]
    for cast in itertools.product(range(3), repeat=len(members)):
        chance = math.prod(member[vote] for member, vote in zip(members, cast, strict=True))
        tied = [
            action for action in range(3) if cast.count(action) == max(map(cast.count, range(3)))
        ]
        for action in tied:
            shares[action] += chance / len(tied)
    return shares


# So far apart that 800 draws tell each vote from a mixture of its members, and from one in which who knows nothing votes too.
SOFT, HARD, OTHER = (2.0, 0.0, 1.0), (1.6, 1.5, 0.0), (2.0, 0.0, 0.5)
P, Q, R = softmax(*SOFT), softmax(*HARD), softmax(*OTHER)
A, B, C = (
    fixed(name, *worth, rule=gibbs(1.0))
    for name, worth in zip("ABC", (SOFT, HARD, OTHER), strict=True)
)
KNOWS_NOTHING = fixed("KNOWS_NOTHING", 0.3, 0.3, 0.3, rule=gibbs(1.0))
FIRST, SECOND = fixed("FIRST", 1, 0, 0), fixed("SECOND", 0, 1, 0)


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (A & B & C, majority_of(P, Q, R)),
        (A & A, P),  # idempotent for two, and a tie where they differ
        (A & B, [(p + q) / 2 for p, q in zip(P, Q, strict=True)]),  # as (A + B)/2
        (A & KNOWS_NOTHING & KNOWS_NOTHING, P),  # who knows nothing has no vote
        (A & BASELINE, P),  # the baseline knows nothing of the simulation
        (KNOWS_NOTHING & KNOWS_NOTHING, [1 / 3] * 3),
        (FIRST & FIRST & SECOND, [1, 0, 0]),
        (FIRST & with_alias(FIRST & SECOND, "PAIR"), [0.75, 0.25, 0]),  # the pair has one vote
        (FIRST & (A + SECOND) / 2, majority_of([1, 0, 0], [(P[0]) / 2, (P[1] + 1) / 2, P[2] / 2])),
    ],
    ids=str,
)
def test_a_majority_vote_has_the_distribution_of_its_definition(strategy, expected):
    assert agrees(votes_of(strategy), expected)


def test_a_majority_vote_distributes_over_sequence():
    state = after(toy.THICKETS[0])
    sequence_of_votes = CompiledSearch(state, (BASELINE >> A) & (AMAF >> B) & (BASELINE >> C), 3)
    vote_of_sequences = CompiledSearch(state, (BASELINE & AMAF & BASELINE) >> (A & B & C), 3)
    sequence_of_votes.run(60), vote_of_sequences.run(60)
    assert (sequence_of_votes.root().visits == vote_of_sequences.root().visits).all()
    assert (sequence_of_votes.rng == vote_of_sequences.rng).all()
    records, others = sequence_of_votes.records(), vote_of_sequences.records()
    assert all((table.rows == others[name].rows).all() for name, table in records.items())
