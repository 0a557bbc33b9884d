"""Checks of numbers: one answer to each value, wherever it is given."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from icarus import Agent, checks, exploitability, games, play, search
from icarus.engine.scheme import DeterminizedUCT
from icarus.games.knockout_whist import knockout_whist
from icarus.specs import BASELINE, NAST
from icarus.views.boards import drawing
from tests import toy

NO_INTEGERS = (True, False, np.True_, 1.0, 2.5, "3", None, math.nan, math.inf, [1])
NO_REALS = (True, np.False_, "0.5", None, math.nan, math.inf, -math.inf, np.float64("inf"), 1j)


@pytest.mark.parametrize("value", (1, 7, np.int64(3), np.uint8(3)))
def test_python_s_and_numpy_s_integers_are_accepted_and_become_python_s(value):
    result = checks.integer("trials", value, least=1, most=9)
    assert type(result) is int
    assert result == value


REAL = "it must be a (real|finite) number"
REFUSED: list[tuple[Any, str]] = [  # a check, and what it says
    *(
        (partial(checks.integer, "n", value, 1), "^n is .*; it must be an integer of at least 1$")
        for value in NO_INTEGERS
    ),
    (partial(checks.integer, "n", 0, 1, 4), "^n is 0; it must be an integer from 1 to 4$"),
    (partial(checks.integer, "n", 5, None, 4), "^n is 5; it must be an integer of at most 4$"),
    (partial(checks.integer, "n", 1, 0, 0), "^n is 1; it must be 0$"),
    (
        partial(checks.integer, "n", 10**5000, 0, 5),
        "^n is an integer of thousands of digits; it must",
    ),
    (
        partial(checks.seed, -(10**5000)),
        "^seed is an integer of thousands of digits; it must be an",
    ),
    (
        partial(checks.real, "n", 10**5000),
        "^n is an integer of thousands of digits; it must be a fin",
    ),
    (
        partial(checks.one_of, "n", np.arange(2), ["a", "b"]),
        r"^n is array\(\[0, 1\]\); it must be 'a' or",
    ),
    *(
        (partial(checks.positive, "seconds", value), f"^seconds is .*; {REAL} above 0$")
        for value in NO_REALS
    ),
    *(
        (partial(checks.real, "r", r, 0, 1, True, True), f"^r is {r}; {REAL} above 0 and below 1$")
        for r in (0, 1)
    ),
    (partial(checks.real, "r", 5, 1234567, 1234567.25), "at least 1234567 and at most 1234567.25$"),
    *(
        (
            partial(checks.seed, seed),
            "^seed is .*; it must be an integer of at least 0, or a sequence",
        )
        for seed in (True, -1, 0.5, "1", (), (1, -1), (1, True), None)
    ),
]


@pytest.mark.parametrize(("check", "message"), REFUSED)
def test_what_is_no_such_number_is_refused_by_name(check, message):
    with pytest.raises(ValueError, match=message):
        check()


@pytest.mark.parametrize(
    ("texts", "is_same"),
    [
        (("c3xe5", "C3Xe5", "c3 x E5", "c3:e5", "c3-e5"), True),
        (("22x15", "22 X 15", "22-15"), True),
        (("exd5", "EXD5", "e d5"), True),
        (("3 × ★", "3×★", "3x★", "3 x ★"), True),
        (("♣ trumps", "♣Trumps"), True),
        (("exchange", "EXCHANGE"), True),
        (("axe", "ae"), False),
        (("-1", "1"), False),
        (("bet 2x", "bet 2"), False),
    ],
)
def test_names_are_compared_without_capitals_and_separators(texts, is_same):
    assert (len({*map(checks.bare, texts)}) == 1) == is_same


def test_of_one_seat_no_message_speaks_of_several():
    """In a game for one player: it needs 1 agent, not 1 agents."""
    alone = toy.CHAIN
    state = alone.new_initial_state()
    with pytest.raises(ValueError, match=r"has player 0, not 1$"):
        state.determinize(1, seed=0)
    with pytest.raises(ValueError, match="seat is 2; it must be 0$"):
        drawing(state, seat=2)
    with pytest.raises(ValueError, match=r"needs 1 agent, not 2$"):
        play(alone, [Agent(BASELINE, iterations=1)] * 2)
    with pytest.raises(ValueError, match=r"has 1 player: best responses"):
        exploitability(alone, BASELINE)
    assert repr(search(state, BASELINE, iterations=1)).endswith("after 1 iteration>")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", (1, 0.5, np.float32(0.5), np.int64(1)))
def test_python_s_and_numpy_s_reals_are_accepted(value):
    result = checks.real("rate", value, 0, 1)
    assert type(result) is float
    assert result == value


def test_a_seed_is_an_integer_or_a_key_of_integers():
    assert checks.seed(np.int64(5)) == 5
    assert checks.seed([1, np.int64(2)]) == (1, 2)


def test_true_is_no_number_anywhere():
    state = games.load("othello").new_initial_state(seed=1)
    for refused in (
        lambda: search(state, BASELINE, iterations=True),
        lambda: search(state, BASELINE, seconds=True),
        lambda: Agent(BASELINE, iterations=1, threads=True),
        lambda: DeterminizedUCT(True),
        lambda: NAST(True),
        lambda: knockout_whist(True),
        lambda: games.load("checkers(draw_after=True)"),
    ):
        with pytest.raises((ValueError, TypeError)):
            refused()


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("phantom-mnk", {"columns": 7, "rows": 8, "in_a_row": 4}),
        ("generic-poker", {"sizes": 4, "raises": 8}),
        ("goofspiel", {"cards": 13}),
    ],
)
def test_a_game_by_numpy_s_integers_is_the_one_by_python_s(name, parameters):
    game = games.load(name, **parameters)
    same = games.load(name, **{key: np.int8(value) for key, value in parameters.items()})
    for part in ("ranges", "utilities", "parameters"):
        assert getattr(same, part) == getattr(game, part)
    assert {*map(type, same.parameters.values())} == {int}


def test_numpy_s_integers_are_numbers_everywhere():
    three = np.int64(3)
    assert str(DeterminizedUCT(three)) == "DeterminizedUCT(determinizations=3)"
    assert NAST(three) == NAST(3)
    assert str(knockout_whist(three)) == str(knockout_whist(3))
    assert Agent(BASELINE, iterations=three).iterations == 3


def test_a_table_has_a_line_for_each_row_and_places_for_wide_letters():
    lines = checks.text_columns([("action", "visits"), ("a\nb", "10"), ("🟥", "2")], ">")
    assert lines == ["action  visits", "a b         10", "🟥           2"]
