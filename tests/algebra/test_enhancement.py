"""The algebra of Specification 6: construction, refusal, equality, text."""

import copy
import pickle
import time

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from icarus import Enhancement, linear, majority, maxilinear, parse, sequential, weight
from icarus.algebra import Sum, Weight, argmax, capture, gibbs, rave_weight, ucb1, with_alias
from icarus.specs import AMAF, BASELINE, EPIC, LGR, LGRF, MAST, NAST, NAST2, NAST3, RAVE, SPECIFICATIONS, TO_MAST


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
        st.lists(inner, min_size=2, max_size=4).map(lambda parts: linear(*((1 / len(parts), part) for part in parts))),
        st.lists(inner, min_size=2, max_size=4).map(lambda members: majority(*members)),
        st.tuples(shares, inner, inner).map(lambda drawn: linear((drawn[0], drawn[1]), (1 - drawn[0], drawn[2]))),
        st.tuples(inner, inner).map(lambda pair: linear((rave_weight(k=3), pair[0]), (1 - rave_weight(k=3), pair[1]))),
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
    with pytest.raises(
        pickle.PicklingError,
        match="<locals>.of_a_function cannot go to another process, which would not find it by this name",
    ):
        pickle.dumps(attrs.evolve(MAST, name="MINE", capture=of_a_function))
    redefined.function.__qualname__ = "capture_actions"
    with pytest.raises(pickle.PicklingError, match="icarus.specs.mast.capture_actions cannot go to another process"):
        pickle.dumps(attrs.evolve(MAST, name="MINE", capture=redefined))
    assert copy.deepcopy(redefined) is redefined


@given(compositions, compositions, compositions)
def test_sequential_composition_is_associative(a, b, c):
    assert (a >> b) >> c == a >> (b >> c)


@given(compositions, compositions, compositions)
def test_a_majority_vote_is_associative_for_all_have_one_vote_each(a, b, c):
    assert (a & b) & c == a & (b & c) == majority(a, b, c)


@given(compositions, compositions)
def test_a_majority_vote_is_told_in_order_and_a_member_named_twice_has_two_votes(a, b):
    assert (a & b == b & a) == (a == b or [m for _, m in (a & b).terms] == [m for _, m in (b & a).terms])
    assert len((a & a & b).terms) == len((a & b).terms) + len((a & a).terms) // 2
    assert set((a & b).components) == set((b & a).components)


@given(compositions, compositions)
def test_a_composition_keeps_equal_components_once_and_in_order(a, b):
    assert (a >> b).components == tuple(dict.fromkeys(a.components + b.components))


def test_operators_are_sugar_for_the_named_functions():
    assert RAVE >> MAST == sequential(RAVE, MAST)
    assert (MAST + NAST2) / 2 == linear((0.5, MAST), (0.5, NAST2))
    assert MAST & NAST2 & LGRF == majority(MAST, NAST2, LGRF)
    assert 0.3 * AMAF ^ 0.7 * BASELINE == maxilinear((0.3, AMAF), (0.7, BASELINE))


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
    nested = ((MAST + NAST2) / 2 + LGRF) / 2
    assert nested == linear((0.25, MAST), (0.25, NAST2), (0.5, LGRF))


def test_a_named_composition_is_not_taken_apart():
    assert str(RAVE >> (RAVE + MAST) / 2) == "RAVE >> (RAVE + MAST)/2"


def test_an_incomplete_sum_is_no_enhancement_but_says_what_it_lacks():
    assert isinstance(MAST + NAST2, Sum)
    with pytest.raises(ValueError, match=r"weights of \(MAST \+ NAST2\) sum to 2"):
        BASELINE >> (MAST + NAST2)


@pytest.mark.parametrize(
    "refused",
    [
        lambda: linear((0.5, MAST), (0.6, NAST2)),
        lambda: linear((1.5, MAST), (-0.5, NAST2)),
        lambda: linear((too_much, MAST), (1 - too_much, NAST2)),
        lambda: linear((constant_half, MAST), (0.4, NAST2)),
    ],
)
def test_weights_outside_the_unit_interval_or_not_summing_to_one_are_refused(refused):
    with pytest.raises(ValueError, match=r"sum to|must lie in \[0, 1\]"):
        refused()


def test_the_weight_of_a_users_own_function_is_checked_where_it_is_declared():
    with pytest.raises(ValueError, match=r"too_much.*is 1.5 at n = 1"):
        linear((too_much, MAST), (1 - too_much, NAST2))
    assert (constant_half * MAST + (1 - constant_half) * NAST2).components == (MAST, NAST2)


@pytest.mark.parametrize(
    ("combination", "offending"),
    [
        (lambda: (AMAF ^ MAST) / 2, "MAST is the rule gibbs"),
        (lambda: 0.5 * BASELINE ^ 0.5 * LGR, "LGR is the rule reply"),
        (lambda: (BASELINE ^ (AMAF + EPIC) / 2) / 2, "linear mixture"),
        (lambda: (BASELINE ^ (AMAF & EPIC)) / 2, "majority vote"),
        (lambda: (BASELINE ^ (AMAF >> MAST)) / 2, "MAST is the rule gibbs"),
    ],
)
def test_maxilinear_composition_refuses_policies_that_are_no_arg_max(combination, offending):
    with pytest.raises(ValueError, match=offending):
        combination()


@pytest.mark.parametrize(
    "misuse",
    [
        lambda: MAST + 3,
        lambda: 3 + MAST,
        lambda: MAST >> "NAST2",
        lambda: None >> MAST,
        lambda: MAST ^ 1.0,
        lambda: MAST & 1.0,
        lambda: "MAST" & NAST2,
        lambda: MAST / MAST,
        lambda: MAST / 0,
        lambda: MAST / -2,
        lambda: MAST * "a",
        lambda: MAST * MAST,
        lambda: True * MAST,
        lambda: bool(MAST),
        lambda: MAST and NAST2,
        lambda: not (MAST + NAST2),
        lambda: 1 - MAST,
        lambda: 2 - rave_weight(),
    ],
)
def test_every_misuse_of_an_operator_is_a_type_error(misuse):
    with pytest.raises(TypeError):
        misuse()


@pytest.mark.parametrize(
    ("slot", "value"),
    [
        ("records", "A"),
        ("information", dict),
        ("initial", 0),
        ("policy", gibbs()),
        ("contexts", None),
        ("capture", print),
        ("backpropagation", 1),
    ],
)
def test_a_slot_of_the_wrong_kind_is_refused_by_name(slot, value):
    with pytest.raises(TypeError, match=f"{slot} of MAST"):
        attrs.evolve(MAST, **{slot: value})


def test_a_policy_that_reads_what_is_not_kept_is_refused():
    with pytest.raises(ValueError, match="reads the fields reward and visits"):
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


@pytest.mark.parametrize("name", ["", 3, None])
def test_a_name_is_a_text(name: object) -> None:
    with pytest.raises(TypeError, match=f"the name of an enhancement is {name!r}; it must be a str"):
        attrs.evolve(MAST, name=name)


def test_variants_are_evolutions_of_one_slot():
    changed = [slot for slot in attrs.asdict(MAST, recurse=False) if getattr(MAST, slot) != getattr(TO_MAST, slot)]
    assert changed == ["name", "capture"]
    changed = [slot for slot in attrs.asdict(LGR, recurse=False) if getattr(LGR, slot) != getattr(LGRF, slot)]
    assert changed == ["name", "backpropagation"]


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("RAVE >> (MSAT + NAST2)/2", 10),
        ("MAST >>", 8),
        ("MAST and NAST2", 1),
        ("MAST >> nast(0)", 9),
        ("MAST >> mast(gibbs(0))", 14),
        ("__import__('os')", 1),
        ("RAVE >> MAST.capture", 9),
        ("RAVE >> [MAST]", 9),
        ("mast(3)", 1),
        ("MAST(3)", 1),
        ("", 1),
        ("MAST + 3", 1),
        ("rave(**{})", 1),
        ("MAST >> 'MAST'", 9),
        ("RAVE\n>> MAST >>", 1),
    ],
)
def test_what_cannot_be_parsed_is_refused_with_its_position(text, position):
    with pytest.raises(ValueError, match=f"position {position}" if text.count("\n") == 0 else "position"):
        parse(text)


def test_a_majority_vote_says_what_it_is():
    strategy = BASELINE >> (MAST & NAST2 & LGRF)
    assert str(strategy) == "BASELINE >> (MAST & NAST2 & LGRF)"
    assert str((MAST & NAST2) >> LGRF) == "(MAST & NAST2) >> LGRF"
    assert "one drawn from each of α[MAST], α[NAST2], α[LGRF]" in (MAST & NAST2 & LGRF).specification()
    with pytest.raises(ValueError, match="at least 2 enhancements, not among 1"):
        majority(MAST)
    with pytest.raises(
        ValueError, match=r"the weights of \(MAST \+ NAST2\) sum to 2, not to 1: it cannot be an operand of &"
    ):
        (MAST + NAST2) & LGRF


def test_an_unknown_name_brings_the_nearest_known_ones():
    with pytest.raises(ValueError, match="did you mean MAST"):
        parse("MSAT")


def test_weights_that_do_not_sum_to_one_are_refused_with_the_completion():
    with pytest.raises(ValueError, match=r"did you mean \(MAST \+ NAST2\)/2"):
        parse("MAST + NAST2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Mast", "'Mast'; did you mean MAST?"),
        ("MAST/2", "sum to 0.5, not to 1; did you mean (0.5*MAST)/0.5?"),
        ("0.3*MAST + 0.3*NAST2", "sum to 0.6, not to 1; did you mean (0.3*MAST + 0.3*NAST2)/0.6?"),
        ("rave_weight*AMAF + MAST", "sum to between 1.00913 and 2, not to 1"),
        ("BASELINE >> mast", "at position 13: no enhancement is called 'mast'; did you mean MAST?"),
        ("rave(x=3)", "at position 1: RAVE has no parameter 'x'; it has k"),
        ("MAST - NAST2", "'MAST - NAST2' is not part of the algebra; - is for weights, as in 1 - rave_weight"),
    ],
)
def test_a_slip_in_a_strategy_is_told_with_what_would_be_right(text: str, message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parse(text)
    assert str(refusal.value).endswith(message)


@pytest.mark.parametrize("text", ("(0.5*MAST)/0.5", "(0.3*MAST + 0.3*NAST2)/0.6"))
def test_what_is_proposed_can_be_read(text: str) -> None:
    assert isinstance(parse(text), Enhancement)


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
    with pytest.raises(TypeError, match="argmax needs a"):
        argmax().over(print)
    with pytest.raises(TypeError, match="use argmax"):
        ucb1().over(LGR.policy.source)
    with pytest.raises(ValueError, match="temperature of gibbs is 0"):
        gibbs(temperature=0)


def test_weights_multiply_and_complement():
    product = Weight(0.5).times(Weight(1.0, ((rave_weight, True),)))
    assert product.at(0.5, 250, 250) == pytest.approx(0.25)
    assert str(product) == "0.5*(1 - rave_weight(k=250))"


DEEP = [
    "- " * 900 + "1",
    "not " * 999 + "MAST",
    "MAST" + "[0]" * 600,
    "(" * 5000,
    "- " * 40_000 + "1",
    "MAST" + ".x" * 9000,
]


@pytest.mark.parametrize("text", DEEP)
def test_a_text_of_any_depth_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match="^the strategy '"):
        parse(text)


@pytest.mark.parametrize("operator", [">>", "&", "+", "^"])
def test_a_chain_takes_time_in_proportion_to_its_length(operator: str) -> None:
    count, started = 1500, time.process_time()
    chain = f" {operator} ".join(["RAVE"] * count)
    strategy = parse(f"({chain})/{count}" if operator in "+^" else chain)
    assert len(strategy.terms) == count and parse(str(strategy)) == strategy
    assert time.process_time() - started < 10  # pairwise, one of >> takes 24 s
