"""Slips in files of one's own, made on purpose: each ends in a sentence with the function and the line, and never in a traceback."""

from pathlib import Path

import pytest

from tests.commands.test_cli import Call, icarus, refused

__all__ = ["icarus"]

GAME = (
    Path(__file__).with_name("stones.txt").read_text("utf-8")
)  # a small game of perfect information, to be slipped in


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def slipped(*changes: tuple[str, str]) -> str:
    """The file of a game in which something stands in the place of something else; returns its name."""
    source = GAME
    for right, wrong in changes:
        assert right in source
        source = source.replace(right, wrong)
    Path("mine.py").write_text(source)
    return "mine.py"


def line_of(text: str) -> int:
    """The line of the file in which a text first stands."""
    return next(i for i, line in enumerate(Path("mine.py").read_text().splitlines(), 1) if text in line)


# ---------------------------------------------------------------------------------------------------------- plain Python


TEXT, ACTION = 'return f"{state.stones} stones', 'return f"take {action}"'


@pytest.mark.parametrize(
    ("command", "right", "wrong", "message"),
    [
        (("search",), TEXT, 'return "abc"[9] + f"{state.stones} stones', "text of stones raises IndexError: "),
        (("check",), TEXT, 'return state.stone + f"{state.stones}', "text of stones raises AttributeError: "),
        (("search",), ACTION, "return {}[action % 1]", "action_text of stones raises KeyError: 0"),
        (("play", "--watch", "--iterations", 5), ACTION, "return {}[action % 1]", "action_text of stones raises Key"),
        (("check",), ACTION, "return action % 1", "action_text of stones gives 0, which is not a str"),
    ],
)
def test_a_text_that_raises_an_error_is_told_with_its_line(
    here: Path, icarus: Call, command: tuple[object, ...], right: str, wrong: str, message: str
) -> None:
    name, *options = command
    code, printed, errors = icarus(name, slipped((right, wrong)), *options)
    line = line_of(wrong if "raises" in message else "def action_text")
    assert code in (1, 2) and "Traceback" not in errors
    assert message in printed + errors and f"(mine.py, line {line})" in printed + errors


# -------------------------------------------------------------------------------------------------------------- compiled

COUNT = "    count = min(MOST, state.stones)\n"
WRITE = "        actions[i] = i + 1"
TRY = f"    try:\n    {COUNT}    except ValueError:\n        pass\n"
CANNOT, NOT_KNOWN = "legal cannot be compiled: ", "compiled code does not support"


@pytest.mark.parametrize(
    ("right", "wrong", "at", "message"),
    [
        (
            "apply(state, action)",
            "apply(state)",
            "def apply",
            "apply of stones takes (state); it must take (state, action)",
        ),
        ("    return count\n", "", "def legal", f"{CANNOT}it must return how many actions"),
        (
            "    return count\n",
            "    yield count\n",
            "def legal",
            "legal of stones has a yield; it must be a plain function",
        ),
        (
            "return TERMINAL if state.stones == 0 else state.player",
            'return "x"',
            "def player",
            "player cannot be compiled: it must return a player, CHANCE or TERMINAL",
        ),
        (
            COUNT,
            COUNT + "    import random\n",
            "import random",
            f"{CANNOT}Use of unsupported opcode (IMPORT_NAME) found",
        ),
        (COUNT, '    with open("x"):\n    ' + COUNT, 'with open("', f"{CANNOT}Unsupported context manager in use"),
        (COUNT, TRY, "except Val", f"{CANNOT}{NOT_KNOWN} exception_match(none, ValueError)"),
        (WRITE, '        actions[i] = i + "a"', '"a"', f"{CANNOT}{NOT_KNOWN} add(int64, Literal[str](a))"),
    ],
)
def test_what_cannot_be_compiled_is_told_in_the_words_of_its_author(
    here: Path, icarus: Call, right: str, wrong: str, at: str, message: str
) -> None:
    sentence = refused(icarus("check", slipped((right, wrong))))
    assert message in sentence and sentence.endswith(f"(mine.py, line {line_of(at)})")
    assert len(sentence) < 200 and "own_" not in sentence


# ------------------------------------------------------------------------------------------------------ names and options

PAIRS = (Path(__file__).parents[2] / "examples" / "own_pairs.py").read_text("utf-8")


def test_an_enhancement_must_be_declared_by_the_name_of_its_variable(here: Path, icarus: Call) -> None:
    Path("pairs.py").write_text(PAIRS.replace('"OWN_PAIRS"', '"OWN_PARIS"'))
    message = refused(icarus("search", "kuhn-poker", "--strategy", "OWN_PAIRS", "--with", "pairs.py"))
    assert message.startswith("'pairs.py' declares OWN_PAIRS with the name 'OWN_PARIS'; the name and the variable")


def test_the_functions_of_a_game_are_no_enhancements(here: Path, icarus: Call) -> None:
    message = refused(icarus("search", slipped(), "--strategy", "legal"))
    assert "no enhancement is called" in message and "action_text" not in message and message.count("apply") == 0


def test_a_report_of_a_broken_game_promises_nothing_to_go_on_with(here: Path, icarus: Call) -> None:
    code, _, errors = icarus("describe", slipped(('return f"take {action}"', "return {}[action % 1]")), "--to", "page")
    assert code == 1 and errors == "page/report.html\n"
