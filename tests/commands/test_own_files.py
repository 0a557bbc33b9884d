"""Python files of one's own: run once, under a name of their own, with all that they define."""

import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from icarus import games, parse
from icarus import load_files as own_files
from icarus.load_files import games_in, games_of_its_own, load_file, load_files
from tests.conftest import Python

EXAMPLES = Path(__file__).parents[2] / "examples"
OWN = """
import attrs
from icarus import weight
from icarus.games.knockout_whist import knockout_whist
from icarus.games.othello import OTHELLO
from icarus.kernel.game import Game
from icarus.specs import LGRF, MAST

KNOCKOUT = knockout_whist()
GREEDY = attrs.evolve(MAST, name="GREEDY")

@weight
def halfway(rewards, visits, availability):
    return 0.5

def greedy():
    return GREEDY

def text(state):
    return "a function with the name of a parameter of parse"
"""
MISERE = "import attrs\nfrom icarus.games.othello import OTHELLO\nfrom icarus import Game\n"


@pytest.fixture(autouse=True)
def only_shipped_games(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    shipped = {name: game for name, game in games.GAMES.items() if name not in own_files._own_games}
    monkeypatch.setattr(games, "GAMES", shipped)
    monkeypatch.setattr(own_files, "_own_games", set())
    monkeypatch.setattr(own_files, "_loaded", {})
    yield


def written(path: Path, source: str) -> Path:
    path.write_text(source)
    return path


def test_a_file_brings_enhancements_weights_and_functions_that_make_them(tmp_path: Path) -> None:
    names = load_files([written(tmp_path / "mine.py", OWN)])
    assert {"GREEDY", "halfway", "greedy"} <= set(names)
    assert str(parse("BASELINE >> halfway*GREEDY + (1 - halfway)*MAST", **names)) == (
        "BASELINE >> halfway*GREEDY + (1 - halfway)*MAST"
    )
    assert parse("BASELINE >> greedy()", **names) == parse("BASELINE >> GREEDY", **names)


def test_a_file_imports_those_beside_it_and_takes_nothing_from_what_is_installed(tmp_path: Path) -> None:
    written(tmp_path / "greedy_beside.py", OWN)
    written(tmp_path / "fractions.py", "raise SystemExit('another file of that name')\n")
    mine = written(tmp_path / "mine.py", "import fractions\nfrom greedy_beside import GREEDY, KNOCKOUT\n")
    try:
        assert set(load_files([mine, tmp_path / "greedy_beside.py"])) >= {"GREEDY"}
    finally:
        sys.modules.pop("greedy_beside", None)


def test_a_digest_is_of_all_that_a_file_imports(tmp_path: Path) -> None:
    stones = written(tmp_path / "stones_of_it.py", "STONES = 21\n")
    written(tmp_path / "rules_of_it.py", "import math, numpy\nfrom stones_of_it import STONES\n")
    mine = written(tmp_path / "mine.py", "from rules_of_it import STONES\n" + OWN)
    alone = written(tmp_path / "alone.py", OWN)
    assert own_files.digest_of(alone) == own_files.digest_of_content(alone)
    try:
        load_files([mine])
        before = own_files.digest_of(mine)
        stones.write_text("STONES = 9\n")
        with pytest.raises(
            ValueError, match="stones_of_it.py was edited after this process had imported it; start the"
        ):
            own_files.digest_of(mine)
        own_files._in_memory.clear()  # another process
        assert own_files.digest_of(mine) != before
        stones.write_text("STONES = 21\n")
        own_files._in_memory.clear()
        assert own_files.digest_of(mine) == before
    finally:
        for name in ("stones_of_it", "rules_of_it"):
            sys.modules.pop(name, None)


def test_the_game_of_a_file_is_none_that_it_imports_and_counts_once(tmp_path: Path) -> None:
    source = MISERE + "MINE = THE_SAME = attrs.evolve(OTHELLO, name='mine')\n"
    module = load_file(written(tmp_path / "mine.py", source))
    assert {game.name for game in games_in(module)} == {"othello", "mine"}
    assert [game.name for game in games_of_its_own(module)] == ["mine"]


def test_a_function_that_makes_a_game_registers_it_with_its_parameters(tmp_path: Path) -> None:
    source = (
        MISERE
        + "def misere(size: int = 8) -> Game:\n"
        + '    return attrs.evolve(OTHELLO, name="misere", defaults={"size": 8})\n'
        + "MISERE = misere()\n"
    )
    load_file(written(tmp_path / "mine.py", source))
    assert games.load("misere(size=8)").name == games.load("misere").name == "misere"


A = MISERE + 'A = attrs.evolve(OTHELLO, name="a")\n'
WRONG = {
    "import math\n_hidden = math.pi\n": "mine.py' defines no game, enhancement, weight or rule, and no function that",
    A + "B = attrs.evolve(OTHELLO, max_legal=63)\n": "mine.py' defines another game called 'othello'; give it a name",
    A + "B = attrs.evolve(A, max_legal=63)\n": "mine.py' defines another game called 'a'; give it a name of its own",
    "from icarus import Game\ndef mine() -> Game:\n    pass\n": "mine() is annotated to return a game but returns None",
    OWN.replace("GREEDY", "NAST2"): "mine.py' defines another NAST2, which is an enhancement of the library; give",
}


@pytest.mark.parametrize("source", WRONG)
def test_a_file_that_cannot_be_is_refused_and_nothing_is_registered(tmp_path: Path, source: str) -> None:
    with pytest.raises(ValueError, match=re.escape(WRONG[source])):
        load_files([str(written(tmp_path / "mine.py", source))])  # a text is a path too
    assert "a" not in games.GAMES and games.load("othello").max_legal != 63


@pytest.mark.parametrize(
    ("source", "change", "what"),
    [(A, ("OTHELLO,", "OTHELLO, max_legal=63,"), "a game called 'a'"), (OWN, ("(MAST, ", "(LGRF, "), "")],
)
def test_two_things_of_one_name_are_refused_in_two_files(
    tmp_path: Path, source: str, change: tuple[str, str], what: str
) -> None:
    """The last one would be searched with, and rows could not say which it was."""
    first, second = written(tmp_path / "first.py", source), written(tmp_path / "second.py", source.replace(*change))
    with pytest.raises(ValueError, match=f"first.py' and .*second.py' both define .*{what}"):
        load_files([first, second])


def test_a_game_may_come_from_two_files_of_which_one_imports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    nim = written(tmp_path / "nim_of_mine.py", (EXAMPLES / "nim.py").read_text())
    load_files([nim, written(tmp_path / "another.py", "from nim_of_mine import NIM\n")])


TOLD = """
import os
import numpy
print(os.environ["OPENBLAS_NUM_THREADS"], len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted on Linux")
def test_a_command_begins_no_threads_of_linear_algebra_unless_somebody_wants_them(
    tmp_path: Path, python: Python, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = written(tmp_path / "told.py", TOLD)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)  # which conftest.py sets

    def thread_counts(**variables: str) -> list[int]:
        done = python(None, "-m", "icarus", "specs", "--show", "MAST", "--with", str(file), **variables)
        return [int(number) for number in done.stdout.splitlines()[0].split()]

    (threads, tasks), (wanted, more) = thread_counts(), thread_counts(OPENBLAS_NUM_THREADS="4")
    assert (threads, wanted) == (1, 4)
    assert tasks < more or os.cpu_count() == 1


def test_a_file_is_run_once_and_again_when_it_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)  # which the environment may have forbidden
    path = written(tmp_path / "mine.py", "X = 1")
    first = load_file(path)
    assert load_file(path) is first
    assert vars(load_file(written(path, "X = 2")))["X"] == 2


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = 1\n1 / 0", "ZeroDivisionError in line 2: division by zero"),
        ("x = = 1", "SyntaxError in line 1: invalid syntax"),
        ("import sys\n\nsys.exit('enough')", "SystemExit in line 3: enough"),
        ("raise RuntimeError('first\\nsecond')", "RuntimeError in line 1: first second"),
        ("x = '\0'", "SyntaxError: source code string cannot contain null bytes"),
        ("from icarus import Game\ndef mine() -> Game:\n    raise KeyError('cards')\n", "KeyError in line 3: 'cards'"),
    ],
)
def test_an_error_in_a_file_is_told_with_its_line(tmp_path: Path, source: str, message: str) -> None:
    before = set(sys.modules)
    with pytest.raises(ValueError) as refusal:
        load_file(written(tmp_path / "mine.py", source))
    assert str(refusal.value) == f"{str(tmp_path / 'mine.py')!r} cannot be run: {message}"
    assert not [name for name in set(sys.modules) - before if name.startswith("own_")]
