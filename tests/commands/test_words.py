"""What people type wrongly: strategies and names of games are read, or refused in a sentence that says what would be right."""

import re

import pytest

from icarus import games, parse
from icarus.algebra.parsing import LONGEST


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rave(k=0)", "at position 1: k of rave is 0; it must be an integer from 1 to"),
        ("rave(k=-1)", "k of rave is -1"),
        ("rave(k=1e400)", "k of rave is inf"),
        ("rave(k=1" + "0" * 400 + ")", "it must be an integer from 1 to"),
        ("nast(n=99999999999)", "is 99999999999; it must be an integer from 1 to 1000"),
        ("rave(k=1, k=2)", "the parameter k is given twice"),
        ("rave(250, k=3)", "the parameter k of rave is given twice"),
        ("1/0*MAST", "division by zero"),
        ("-'RAVE'", "at position 2: 'RAVE' is a str; write the names of enhancements without quotation marks"),
        ("(" * 5000 + "MAST" + ")" * 5000, "cannot be read at position"),
        ("-" * 9000 + "1*MAST", "has too many nested operators"),
        ("1" + "0" * 5000 + "*MAST", "cannot be read at position"),
        ("MAST\x00", "cannot be read at position"),
        ("MAST ^ " * 20_000 + "MAST", f"the strategy has 140,004 characters; at most {LONGEST:,} are allowed"),
    ],
    ids=lambda value: value[:20],
)
def test_a_strategy_that_cannot_be_is_refused_in_a_short_sentence(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        parse(text)
    assert len(str(refused.value)) < 2000


def test_a_strategy_too_deep_in_parentheses_is_refused_and_not_by_the_stack() -> None:
    text = "MAST"
    for _ in range(80):
        text = f"NAST2 >> ({text}) / 1"
    assert parse(text) is not None
    deep = "rave(k=" * 201 + "1" + ")" * 201
    with pytest.raises(ValueError, match="cannot be read at position|too many nested operators"):
        parse(deep)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("knockout-whist(players=3, players=4)", "the parameter players of knockout-whist is given twice"),
        ("knockout-whist(" + "(" * 5000 + ")", "is not a game's name; write it like knockout-whist(players=3)"),
        ("hearts(threshold=" + "-" * 150 + "3)", "is not a game's name"),
        ("hearts(threshold=" + "-" * 5000 + "3)", "is not a game's name"),
        ("hearts(threshold=9**9**9)", "is not a game's name"),
        ("hearts(**{'a': 1})", "is not a game's name"),
        ("hearts(3)", "is not a game's name"),
        ("hearts(threshold=1e400)", "the threshold of hearts is inf; it must be an integer from 1 to 10000"),
        ("hearts(threshold=True)", "the threshold of hearts is True"),
        ("hearts(limit=3)", "hearts has no parameter 'limit'; it takes threshold"),
        ("othello(size=6)", "othello has no parameter 'size'; it takes none"),
        ("heart", "no game is called 'heart'; did you mean hearts"),
    ],
    ids=lambda value: value[:20],
)
def test_a_name_that_no_game_has_is_refused_in_a_short_sentence(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)) as refused:
        games.load(name)
    assert len(str(refused.value)) < 500


def test_a_parameter_in_the_name_and_beside_it_is_refused() -> None:
    with pytest.raises(
        ValueError, match="the parameter threshold of hearts is given both in the name and as an argument"
    ):
        games.load("hearts(threshold=30)", threshold=40)
