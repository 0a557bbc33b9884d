"""Slips in files of one's own, made on purpose: each ends in a sentence with the function and the line, and never in a traceback."""

from pathlib import Path

import pytest

from icarus.commands.new import SKELETONS
from tests.commands.test_cli import Call, icarus, refused

__all__ = ["icarus"]

GAME = (SKELETONS / "perfect.py.txt").read_text("utf-8").replace("NAME", "stones")
PLAIN = """
from icarus import PythonGame

def legal(state):
    return {}[state[0]]

GAME = PythonGame(
    name="plain-stones", players=2, initial=lambda rng: [3, 0], player=lambda state: state[1], legal=legal,
    apply=lambda state, action: None, rewards=lambda state: (1.0, 0.0),
)
"""


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
    ("right", "wrong", "told"),
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
        ('return f"take {action}"', "return action % 1", "action_text of stones gives 0, which is no text"),
    ],
)
@pytest.mark.parametrize("command", [("search",), ("check",), ("play", "--watch", "--iterations", 5)])
def test_a_text_that_raises_an_error_is_told_with_its_line(
    here: Path, icarus: Call, right: str, wrong: str, told: str, command: tuple[object, ...]
) -> None:
    name, *options = command
    code, printed, errors = icarus(name, slipped((right, wrong)), *options)
    line = line_of(wrong if "raises" in told else "def action_text")
    assert code in (1, 2) and "Traceback" not in errors
    assert told in printed + errors and f"(mine.py, line {line})" in printed + errors


def test_an_error_in_a_function_of_a_game_in_plain_python_is_told_with_its_line(here: Path, icarus: Call) -> None:
    Path("mine.py").write_text(PLAIN)
    told = refused(icarus("search", "mine.py", "--iterations", 5))
    assert told == "KeyError: 3, in legal (mine.py, line 5)"
