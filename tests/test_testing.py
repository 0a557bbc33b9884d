"""Histories made by hand: what they refuse, and that they are what a search in plain Python gives to slots."""

import functools
import math
import operator

import attrs
import numpy as np
import pytest

from icarus import (
    BASELINE,
    MAST,
    argmax,
    capture,
    epsilon_greedy,
    gibbs,
    initial,
    reply,
    roulette,
    search,
    testing,
    values,
)
from icarus.kernel import CONTINUES, SIMULATION, TERMINAL, UNLABELLED, UNSEEN, update
from icarus.specs import AMAF, EPIC, LGR, NAST2, RAVE
from icarus.testing import Decision, HistoryExample, backpropagate
from tests import toy
from tests.test_toy import after

EXAMPLE = HistoryExample([Decision(0, (4, 5), 4), Decision(1, (5, 6), 5, phase=SIMULATION)])


@pytest.mark.parametrize(
    ("mistake", "pattern"),
    [
        (
            lambda: Decision(0, (4, 5), 6),
            r"the action 6 of a decision is not among the legal ones, \(4, 5\)",
        ),
        (
            lambda: HistoryExample([Decision(0, (4,)), Decision(0, (4,), 4)]),
            "only the last decision of a history can be open",
        ),
        (
            lambda: HistoryExample([Decision(2, (4,), 4)], players=2),
            "a player who decides or observes is 2; it must be an integer from -1 to 1",
        ),
        (
            lambda: HistoryExample([Decision(0, (4,), 4)], players=3, rewards=(1, 0)),
            r"the rewards of a history are \(1, 0\); a finished playout needs one for each player",
        ),
        (
            lambda: HistoryExample([], players=0),
            "^the number of players is 0; it must be an integer",
        ),
        (
            lambda: HistoryExample([Decision(0, (4,), 4, seen={9: UNSEEN})]),
            "^a player who decides or observes is 9; it must be an integer from -1 to 7$",
        ),
        (
            lambda: HistoryExample([Decision(0, (4,), 4)], rewards=(7.0,)),
            "^a reward of a history is 7.0; it must be a real number at least 0 and at most 1$",
        ),
        (
            lambda: HistoryExample([Decision(1, (4,), 4, lookahead={4: [0.5]})]),
            r"^lookahead of the action 4 is \[0.5\]; it must be 2 numbers, one for each player$",
        ),
        (
            lambda: HistoryExample([], label=0.5),
            "^the label of an episode is 0.5; it must be an in",
        ),
        (lambda: HistoryExample([], label=CONTINUES), "^the label of an episode is -1; it must be"),
        (lambda: Decision(0, (4,), label=CONTINUES), "^the label of an episode is -1; it must be"),
        (
            lambda: Decision(0, (4, 2.5)),
            "^a legal action of a decision is 2.5; it must be an integer",
        ),
        *(
            (
                functools.partial(Decision, 0, (4, 5), **{name: {6: []}}),
                rf"^{name} of a decision are of 6, not among the legal actions, \(4, 5\)",
            )
            for name in ("endings", "lookahead", "action_features")
        ),
        (
            lambda: HistoryExample([Decision(1, (4,), 4, endings={4: [5, 0]})]),
            "^a reward in endings is 5; it must be a real number",
        ),
        (lambda: HistoryExample([], iteration=-1), "^the iteration of a history is -1; it must be"),
        (lambda: HistoryExample([], seed=None), "^seed is None; it must be an integer of at least"),
        (lambda: Decision(0, (4, 4), 4), r"^the legal actions of a decision are \(4, 4\); each"),
        (lambda: Decision(0, None), "^the action None of a decision is not among the legal ones"),
        (lambda: backpropagate(MAST, 0, [7, 0]), "^a reward is 7; it must be a real number at"),
        (
            lambda: backpropagate(MAST, 2, [1, 0]),
            "^the context of MAST, a player, is 2; it must be",
        ),
        (lambda: backpropagate(MAST, 0, [1, 0], reward=math.nan), "mast.* wrote NaN to a record"),
        (lambda: backpropagate(MAST, 0, [1, 0], visits=-5), "mast.* wrote a negative number to a"),
        (
            lambda: backpropagate(MAST, 0, [1, 0], visits=np.iinfo(np.int32).max),
            "a count has reached 2147483647, the largest",
        ),
        (
            lambda: Decision(0, (4,), 4, phase=7),
            "^the phase of a decision is 7; it must be 0, 1 or 2",
        ),
        (lambda: Decision(0, (4,), 4, seen={0: UNSEEN}), "^seen of a decision of player 0 is"),
        (lambda: Decision(0, (4,), 4, seen={-1: 5}), "^seen of a decision of player 0 is"),
        (
            lambda: EXAMPLE.prefix(1).values(MAST, {(5, 1): {"rewards": 1}}),
            "the information of MAST has no 'rewards'; it has reward, visits",
        ),
        (lambda: EXAMPLE.key(MAST, 4), r"\(4,\) is not a record of A × {1, …, κ}"),
        (
            lambda: EXAMPLE.prefix(9),
            r"the number of actions of a prefix is 9; it must be an integer from 0 to \d",
        ),
        (
            lambda: EXAMPLE.prefix(1).values(MAST, {(5, 1): {"visits": 0.5}}),
            "visits is given the float 0.5, which would be trunc",
        ),
        (
            lambda: EXAMPLE.prefix(1).values(MAST, {(5, 1): {"reward": math.nan, "visits": 4}}),
            "the rule gibbs.* wrote NaN or no value for the legal action 5",
        ),
        (lambda: EXAMPLE.values(MAST), "give the last decision no action, or call prefix"),
        (lambda: EXAMPLE.prefix(1).capture(MAST), "the last decision of this one is open"),
        (lambda: EXAMPLE.capture(RAVE), "RAVE is not a single enhancement; use its components"),
        (
            lambda: EXAMPLE.prefix(0).candidates(LGR),
            "recorded_reply names no records; call values\\(\\) for its values",
        ),
    ],
)
def test_a_mistake_by_hand_gets_a_sentence(mistake, pattern):
    with pytest.raises((ValueError, TypeError, OverflowError), match=pattern):
        mistake()


def test_a_record_that_is_given_has_that_information_at_first():
    given = attrs.evolve(MAST, name="X", initial=initial({(5, 1): {"reward": 5}}, visits=3))
    assert EXAMPLE.prefix(1).priors(given) == [
        {"reward": 5.0, "visits": 3},
        {"reward": 0.0, "visits": 3},
    ]
    assert str(given.initial) == "visits = 3; 1 record given"


@capture
def capture_reals(history, updates):
    """A context that is not an integer."""
    update(updates, 1, 0.5)


@values
def half_written(history, theta, legal, out):
    """A value of the first action only."""
    out[0] = 1.0


def test_slips_inside_slots_are_found():
    with pytest.raises(TypeError, match="takes integers, not 0.5; a float would be truncated"):
        EXAMPLE.capture(attrs.evolve(MAST, capture=capture_reals))
    with pytest.raises(
        ValueError, match="half_written wrote NaN or no value for the legal action 6"
    ):
        EXAMPLE.prefix(1).values(attrs.evolve(MAST, policy=argmax().over(half_written)))


def test_a_playout_asks_for_as_many_updates_as_it_likes(monkeypatch):
    whole = EXAMPLE.capture(MAST)
    monkeypatch.setattr(testing, "MOST_UPDATES", 1)
    assert EXAMPLE.capture(MAST) == whole


def test_actions_and_keys_may_be_numpy_s():
    example = HistoryExample([Decision(1, np.array([5, 6]))])
    key = np.int64(example.key(MAST, 5, 1))
    assert example.values(MAST, {key: {"reward": 1, "visits": 4}}) == [0.25, 1.0]


def test_the_example_of_the_docstring_is_true():
    assert EXAMPLE.capture(MAST) == [(EXAMPLE.key(MAST, 4, 0), 0), (EXAMPLE.key(MAST, 5, 1), 1)]
    assert EXAMPLE.prefix(1).values(MAST, {(5, 1): {"reward": 1, "visits": 4}}) == [0.25, 1.0]
    assert EXAMPLE.prefix(1).values(
        MAST, {EXAMPLE.key(MAST, 5, 1): {"reward": 1, "visits": 4}}
    ) == [0.25, 1.0]
    shares = EXAMPLE.prefix(1).probabilities(MAST, {(5, 1): {"reward": 1, "visits": 4}})
    assert shares == pytest.approx([1 / (1 + np.exp(0.75)), 1 / (1 + np.exp(-0.75))])
    assert backpropagate(MAST, 1, rewards=[0, 1], reward=2, visits=4) == {
        "reward": 3.0,
        "visits": 5,
    }


@pytest.mark.parametrize(
    ("rule", "numbers", "shares"),
    [
        (argmax(), (0.2, 0.7, 0.7), (0, 1 / 2, 1 / 2)),
        (
            gibbs(0.5),
            (0, 0.5, 0.5),
            (1 / (1 + 2 * np.e), np.e / (1 + 2 * np.e), np.e / (1 + 2 * np.e)),
        ),
        (epsilon_greedy(0.3), (0, 1, 0), (0.1, 0.8, 0.1)),
        (roulette(), (1, 2, 5), (1 / 8, 2 / 8, 5 / 8)),
        (gibbs(0.5), (-np.inf, -np.inf, -np.inf), (1 / 3, 1 / 3, 1 / 3)),
        (roulette(), (np.inf, 0.5, np.inf), (1 / 2, 0, 1 / 2)),
        (reply(), (0, 1, 1), (0, 1, 0)),
        (reply(), (0, 0, 0), (1 / 3, 1 / 3, 1 / 3)),
    ],
    ids=str,
)
def test_a_policy_is_asked_for_its_probabilities(rule, numbers, shares, monkeypatch):
    """By hand; that a search follows a rule as often is tested in `tests/algebra`."""
    monkeypatch.setattr(HistoryExample, "values", lambda *_: list(numbers))
    strategy = attrs.evolve(MAST, policy=rule.over(half_written))
    assert HistoryExample([Decision(0, (4, 5, 6))]).probabilities(strategy) == pytest.approx(shares)


def test_a_history_by_hand_has_the_records_of_a_search_that_has_seen_all_of_the_game():
    """Secrets: actions that the other sees as SOMETHING or not at all, and two episodes."""
    decisions = [
        Decision(0, (0, 1), 0, seen={1: toy.SOMETHING}),
        Decision(1, (2, 3), 2, label=0),
        Decision(1, (4, 5), 5, seen={0: UNSEEN}),
        Decision(0, (6, 7), 6, seen={1: toy.SOMETHING}),
        Decision(1, (2, 3), 3),
        Decision(0, (2, 3), 2, label=0),
    ]
    by_hand = HistoryExample(decisions, players=2, label=UNLABELLED, rewards=(0, 1))
    assert by_hand.history.steps[-1].player == TERMINAL
    strategies = (BASELINE, AMAF, MAST, LGR, NAST2, EPIC)
    result = search(
        after(toy.SECRETS), functools.reduce(operator.add, strategies) / 6, iterations=3000, seed=1
    )
    for strategy in strategies:
        keys = {key for key, _ in by_hand.capture(strategy)}
        assert keys, strategy
        assert keys <= {*result.records[str(strategy)].rows["record"].tolist()}, strategy
