"""The algebra of Specification 6: construction, refusal, equality, text."""

import copy
import functools
import operator
import pickle

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icarus import Enhancement, parse, weight
from icarus.algebra import argmax, capture, gibbs, rave_weight, ucb1, with_alias
from icarus.specs import AMAF, BASELINE, EPIC, LGR, LGRF, MAST, NAST, NAST2, NAST3, RAVE, SPECIFICATIONS


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
        st.lists(inner, min_size=2, max_size=4).map(lambda parts: functools.reduce(operator.add, parts) / len(parts)),
        st.lists(inner, min_size=2, max_size=4).map(lambda members: functools.reduce(operator.and_, members)),
        st.tuples(shares, inner, inner).map(lambda drawn: drawn[0] * drawn[1] + (1 - drawn[0]) * drawn[2]),
        st.tuples(inner, inner).map(lambda pair: rave_weight(k=3) * pair[0] + (1 - rave_weight(k=3)) * pair[1]),
    )


compositions = st.recursive(leaves, composed, max_leaves=8)


@given(compositions)
def test_the_text_of_a_composition_parses_back_to_it(strategy):
    assert parse(str(strategy)) == strategy
    assert str(parse(str(strategy))) == str(strategy)


@given(compositions)
def test_compositions_hash_copy_and_pickle_as_values(strategy):
    again = pickle.loads(pickle.dumps(strategy))
    assert again == strategy and hash(again) == hash(strategy)
    assert copy.copy(strategy) == strategy


def test_a_slot_that_another_process_would_not_find_is_not_pickled() -> None:
    @capture
    def of_a_function(history, updates):
        pass

    def capture_actions(history, updates):
        pass

    capture_actions.__module__ = MAST.capture.function.__module__
    redefined = capture(capture_actions)
    redefined.function.__qualname__ = "capture_actions"
    for slot in (of_a_function, redefined):
        with pytest.raises(pickle.PicklingError, match=f"{slot.name} cannot go to another process; define it once"):
            pickle.dumps(attrs.evolve(MAST, name="MINE", capture=slot))


@given(compositions, compositions, compositions)
def test_sequential_composition_is_associative(a, b, c):
    assert (a >> b) >> c == a >> (b >> c)


@given(compositions, compositions, compositions)
def test_a_majority_vote_is_associative_for_all_have_one_vote_each(a, b, c):
    assert (a & b) & c == a & (b & c)


def test_a_divisor_below_1_is_a_factor_above_1():
    assert (MAST / 4 / 0.5 + NAST2) / 2 == MAST / 4 + NAST2 / 2


def test_rave_is_the_maxilinear_combination_of_equation_14():
    assert RAVE == rave_weight(k=250) * AMAF ^ (1 - rave_weight(k=250)) * BASELINE
    assert RAVE(k=500) != RAVE
    assert str(RAVE) == "RAVE" and str(RAVE(k=500)) == "rave(k=500)"


@pytest.mark.parametrize(
    ("visits", "k", "expected"), [(0, 250, 1.0), (250, 250, 0.5), (83, 249, 0.7071), (1000, 1000, 0.5)]
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


WRONG_SLOTS = {
    "records": "A",
    "information": dict,
    "initial": 0,
    "policy": gibbs(),
    "capture": print,
    "backpropagation": 1,
}


@pytest.mark.parametrize(("slot", "value"), WRONG_SLOTS.items())
def test_a_slot_of_the_wrong_kind_is_refused_by_name(slot, value):
    with pytest.raises(TypeError, match=f"^{slot} is .*; it must be a"):
        attrs.evolve(MAST, **{slot: value})


def test_a_policy_that_reads_what_is_not_kept_is_refused():
    with pytest.raises(ValueError, match="reads reward, a REWARD or REWARDS, and visits, a COUNT, not the A ∪"):
        attrs.evolve(MAST, information=LGR.information)


@pytest.mark.parametrize(
    ("name", "operators"), [("A >> B", ">>"), ("(A + B)/2", "/"), ("0.5*A", "*"), ("A ^ B", "^"), ("&", "&")]
)
def test_no_name_reads_as_a_composition(name: str, operators: str) -> None:
    message = f"the name of an enhancement is {name!r}, which reads as a composition by {operators}"
    for strategy in (MAST, RAVE >> MAST):
        with pytest.raises(ValueError) as refused:
            with_alias(strategy, name)
        assert str(refused.value) == message
    assert str(with_alias(MAST, f"mine({name}, -1)")) == f"mine({name}, -1)"


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("RAVE >> (MSAT + NAST2)/2", 10), ("MAST >>", 8), ("MAST and NAST2", 1), ("MAST >> nast(0)", 9),
        ("MAST >> mast(gibbs(0))", 14), ("__import__('os')", 1), ("RAVE >> MAST.capture", 9), ("RAVE >> [MAST]", 9),
        ("mast(3)", 1), ("", 1), ("MAST + 3", 1), ("rave(**{})", 1), ("mast(gibbs(), rule=gibbs())", 1),
        ("nast(n=2, n=3)", 1), ("MAST >> 'MAST'", 1), ("MAST(3)(4)", 1),
    ],
)  # fmt: skip
def test_what_cannot_be_parsed_is_refused_with_its_position(text, position):
    with pytest.raises(ValueError, match=f"position {position}"):
        parse(text)


def test_a_majority_vote_says_what_it_is():
    strategy = BASELINE >> (MAST & NAST2 & LGRF)
    assert str(strategy) == "BASELINE >> (MAST & NAST2 & LGRF)"
    assert str((MAST & NAST2) >> LGRF) == "(MAST & NAST2) >> LGRF"
    assert "one drawn from each of α[MAST], α[NAST2], α[LGRF]" in (MAST & NAST2 & LGRF).specification()
    with pytest.raises(
        ValueError, match=r"the weights of \(MAST \+ NAST2\) sum to 2, not to 1.*: it cannot be an operand of &"
    ):
        (MAST + NAST2) & LGRF


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mast", "'Mast'; did you mean MAST?"),
        ("MAST/2", "sum to 0.5, not to 1; did you mean (0.5*MAST)/0.5?"),
        ("0.3*MAST + 0.3*NAST2", "sum to 0.6, not to 1; did you mean (0.3*MAST + 0.3*NAST2)/0.6?"),
        ("rave_weight*AMAF + MAST", "sum to between 1.00913 and 2, not to 1"),
        ("BASELINE >> mast", "at position 13: no enhancement is called 'mast'; did you mean MAST?"),
        ("rave(x=3)", "at position 1: rave has no parameter 'x'; it has k"),
        ("MAST - NAST2", "- is for weights, as in 1 - rave_weight"),
    ],
)
def test_a_slip_in_a_strategy_is_told_with_what_would_be_right(text: str, message: str) -> None:
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
    assert "R = A × {1, …, κ}" in text and "Θ = ℝ × ℕ₀" in text and "τ = 1" in text


def test_a_composition_answers_the_same_seven_questions():
    strategy = RAVE >> (MAST + NAST3) / 2
    assert isinstance(strategy, Enhancement)
    assert "R[AMAF] ⊔ R[BASELINE] ⊔ R[MAST] ⊔ R[NAST3]" in strategy.specification()
    assert "COMB-4" in strategy.specification() and "NAST3-6" in strategy.specification()


def test_a_rule_goes_over_candidates_or_values_only():
    with pytest.raises(TypeError, match="argmax needs a @candidates or @values function"):
        argmax().over(print)
    with pytest.raises(TypeError, match="ucb1 needs a @candidates function, not recorded_reply"):
        ucb1().over(LGR.policy.source)
    with pytest.raises(ValueError, match="temperature of gibbs is 0"):
        gibbs(temperature=0)


@pytest.mark.parametrize("text", ["- " * 900 + "1", "MAST" + "[0]" * 600, "(" * 5000, " >> ".join(["MAST"] * 5000)])
def test_a_text_of_any_depth_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="^the strategy '"):
        parse(text)
