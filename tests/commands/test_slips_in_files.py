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


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (
            'return f"{state.stones} stones',
            'return "abc"[9] + f"{state.stones} stones',
            "text of stones raises IndexError: ",
        ),
        (
            'return f"{state.stones} stones',
            'return state.stone + f"{state.stones} stones',
            "text of stones raises AttributeError: ",
        ),
        ('return f"take {action}"', "return {}[action % 1]", "action_text of stones raises KeyError: 0"),
        ('return f"take {action}"', "return action % 1", "action_text of stones gives 0, which is not a str"),
    ],
)
@pytest.mark.parametrize("command", [("search",), ("check",), ("play", "--watch", "--iterations", 5)])
def test_a_text_that_raises_an_error_is_told_with_its_line(
    here: Path, icarus: Call, right: str, wrong: str, message: str, command: tuple[object, ...]
) -> None:
    name, *options = command
    code, printed, errors = icarus(name, slipped((right, wrong)), *options)
    line = line_of(wrong if "raises" in message else "def action_text")
    assert code in (1, 2) and "Traceback" not in errors
    assert message in printed + errors and f"(mine.py, line {line})" in printed + errors


# -------------------------------------------------------------------------------------------------------------- compiled

COUNT = "    count = min(MOST, state.stones)\n"
WRITE = "        actions[i] = i + 1"
CANNOT = "legal cannot be compiled: "


@pytest.mark.parametrize(
    ("right", "wrong", "at", "message"),
    [
        (
            "apply(state, action)",
            "apply(state)",
            "def apply",
            "apply of stones takes (state); it must take (state, action)",
        ),
        ("action_text(state, action)", "action_text(state)", "def action_text", "it must take (state, action)"),
        ("    return count\n", "", "def legal", f"{CANNOT}it must return how many actions"),
        ("    return count\n", "    yield count\n", "def legal", f"{CANNOT}it must return how many"),
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
        (
            COUNT,
            f"    try:\n    {COUNT}    except ValueError:\n        pass\n",
            "except Val",
            f"{CANNOT}compiled code does not support exception_match(none, ValueError)",
        ),
        (
            WRITE,
            '        actions[i] = "a"',
            '"a"',
            f"{CANNOT}compiled code does not support setitem(array(int64, 1d, C), int64, Literal[str](a))",
        ),
        (
            WRITE,
            '        actions[i] = i + "a"',
            '"a"',
            f"{CANNOT}compiled code does not support add(int64, Literal[str](a))",
        ),
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


@pytest.mark.parametrize("name", ["OWN_PARIS", "MAST"])
def test_an_enhancement_must_be_declared_by_the_name_of_its_variable(here: Path, icarus: Call, name: str) -> None:
    Path("pairs.py").write_text(PAIRS.replace('"OWN_PAIRS"', f'"{name}"'))
    message = refused(
        icarus("search", "kuhn-poker", "--strategy", "OWN_PAIRS", "--with", "pairs.py", "--iterations", 5)
    )
    assert (
        message == f"'pairs.py' declares OWN_PAIRS with the name '{name}'; the name and the variable must be the same"
    )


@pytest.mark.parametrize("strategy", ["legal", "text(1)"])
def test_the_functions_of_a_game_are_no_enhancements(here: Path, icarus: Call, strategy: str) -> None:
    message = refused(icarus("search", slipped(), "--strategy", strategy))
    assert "no enhancement is called" in message and "action_text" not in message and message.count("apply") == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("search", "mine.py(stones=3)"),
            "a file takes no parameters; give the name of its game with the parameters, and the file by",
        ),
        (("search", "kuhn-poker", "--html", "."), "'.' is a directory; give a new file"),
        (("discover", "kuhn-poker", "--games", 500, "--space", "no.toml"), "there is no space and no file 'no.toml'; "),
        (("discover", "kuhn-poker", "--games", 200, "--finalists", 1), "for each of 1 finalist it could"),
        (("bench", "--games", "othello,nogame.py"), "there is no file 'nogame.py'"),
    ],
)
def test_a_command_that_cannot_be_is_refused(
    here: Path, icarus: Call, arguments: tuple[object, ...], message: str
) -> None:
    sentence = refused(icarus(*arguments))
    assert message in sentence


# ------------------------------------------------------------------------------------------------------- when it is called


def test_a_report_of_a_broken_game_promises_nothing_to_go_on_with(here: Path, icarus: Call) -> None:
    code, _, errors = icarus("describe", slipped(('return f"take {action}"', "return {}[action % 1]")), "--to", "page")
    assert code == 1 and errors == "page/report.html\n"
