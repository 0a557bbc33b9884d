"""Python files of one's own: run once, under a name of their own, with all that they define."""

import os
import re
import sys
from pathlib import Path

import pytest

from icarus import PythonGame, games, load_files as own_files, parse
from icarus.commands.conversation import Conversation, Session
from icarus.load_files import games_in, games_of_its_own, load_file, load_files
from tests.commands.test_cli import icarus, refused

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

MAKING = """
from icarus import Game, PythonGame
def made(legal):
    rules = {name: lambda state: state for name in ("initial", "player", "rewards")}
    return PythonGame(name="a", players=2, legal=legal, apply=lambda state, action: None, **rules)
"""


def written(path: Path, source: str) -> Path:
    path.write_text(source)
    return path


def test_a_file_brings_enhancements_weights_and_functions_that_make_them(tmp_path):
    names = load_files([written(tmp_path / "mine.py", OWN)])
    assert {"GREEDY", "halfway", "greedy"} <= set(names)
    assert str(parse("BASELINE >> halfway*GREEDY + (1 - halfway)*MAST", **names)) == (
        "BASELINE >> halfway*GREEDY + (1 - halfway)*MAST"
    )
    assert parse("BASELINE >> greedy()", **names) == parse("BASELINE >> GREEDY", **names)


def test_a_file_imports_those_beside_it_and_takes_nothing_from_what_is_installed(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    written(tmp_path / "greedy_beside.py", OWN)
    written(tmp_path / "fractions.py", "raise SystemExit('another file of that name')\n")
    mine = written(
        tmp_path / "mine.py", "import fractions\nfrom greedy_beside import GREEDY, KNOCKOUT\n"
    )
    assert set(load_files([mine, tmp_path / "greedy_beside.py"])) >= {"GREEDY"}


def test_a_file_that_was_loaded_from_another_folder_is_found_again(tmp_path, monkeypatch):
    written(tmp_path / "mine.py", MISERE + "MINE = attrs.evolve(OTHELLO, name='misere')\n")
    monkeypatch.chdir(tmp_path)
    (game,) = games_of_its_own(load_file(Path("mine.py")))
    monkeypatch.chdir("/")
    assert own_files.file_of_game(game) == tmp_path / "mine.py"


@pytest.mark.filterwarnings("ignore:can't resolve package")
def test_a_digest_is_of_all_that_a_file_imports(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    stones = written(tmp_path / "stones_of_it.py", "STONES = 21\n")
    written(
        tmp_path / "rules_of_it.py",
        "import math, importlib as lib\nSTONES = lib.import_module('stones_of_it').STONES\n",
    )
    # a relative import that fails hides none of those behind it
    attempts = (
        "try:\n    from . import STONES\nexcept ImportError:\n    from rules_of_it import STONES\n"
    )
    mine = written(tmp_path / "mine.py", attempts + OWN)
    alone = written(tmp_path / "alone.py", OWN)
    assert own_files.digest_of(alone) == own_files.digest_of_content(alone)
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


@pytest.mark.parametrize("error", ("RuntimeError", "SystemExit"))
def test_a_package_that_cannot_be_imported_has_no_modules(error, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    (tmp_path / f"fails_by_{error}").mkdir()
    package = written(tmp_path / f"fails_by_{error}" / "__init__.py", f"raise {error}('no gpu')\n")
    attempt = f"try:\n    import fails_by_{error}.part\nexcept {error}:\n    pass\n"
    mine = written(tmp_path / "mine.py", attempt + OWN)
    assert "GREEDY" in load_files([mine])
    assert [name for name, _ in own_files.imports_of(mine)] == [str(package.relative_to(tmp_path))]


def test_a_module_of_another_folder_is_not_taken_for_the_one_beside(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "modules", dict(sys.modules))
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        written(tmp_path / folder / "rules_in_two.py", f"WHERE = '{folder}'\n")
        written(tmp_path / folder / "mine.py", "from rules_in_two import WHERE\n" + OWN)
    assert load_file(tmp_path / "one" / "mine.py").WHERE == "one"
    with pytest.raises(
        ValueError,
        match="other/mine.py would import .*one/rules_in_two.py, not .*; give one of the two",
    ):
        load_file(tmp_path / "other" / "mine.py")


def test_an_imported_file_is_never_taken_from_bytecode_of_another_content(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path_importer_cache", dict(sys.path_importer_cache))
    mine = written(tmp_path / "mine.py", "from package_of_it.numbers import MOST\n" + OWN)
    (tmp_path / "package_of_it").mkdir()
    written(tmp_path / "package_of_it" / "__init__.py", "")
    for most in (3, 7):  # of one length, saved in one second
        os.utime(written(tmp_path / "package_of_it" / "numbers.py", f"MOST = {most}\n"), (1e9, 1e9))
        monkeypatch.setattr(
            sys,
            "modules",
            {name: each for name, each in sys.modules.items() if "of_it" not in name},
        )
        for setting in ("_loaded", "_in_memory"):  # another process
            monkeypatch.setattr(own_files, setting, {})
        assert load_file(mine).MOST == most


def test_a_file_whose_edit_is_undone_has_its_former_game_again(tmp_path):
    source = MISERE + "MINE = attrs.evolve(OTHELLO, name='mine', max_length={})\n"
    for length in (61, 62, 61):
        load_file(written(tmp_path / "mine.py", source.format(length)))
        assert games.load("mine").max_length == length


def test_the_game_of_a_file_is_none_that_it_imports_and_counts_once(tmp_path):
    source = MISERE + "MINE = THE_SAME = attrs.evolve(OTHELLO, name='mine')\n"
    module = load_file(written(tmp_path / "mine.py", source))
    assert {game.name for game in games_in(module)} == {"othello", "mine"}
    assert [game.name for game in games_of_its_own(module)] == ["mine"]


def test_a_function_that_makes_a_game_registers_it_with_its_parameters(tmp_path):
    source = (
        MISERE
        + "def misere(size: int = 8) -> Game:\n"
        + '    return attrs.evolve(OTHELLO, name="misere", defaults={"size": 8})\n'
        + "MISERE = misere()\n"
    )
    load_file(written(tmp_path / "mine.py", source))
    assert games.load("misere(size=8)").name == games.load("misere").name == "misere"


WEIGHT = (
    "from icarus import weight\n@weight\ndef w(rewards, visits, availability):\n    return 0.9\n"
)
A = MISERE + 'A = attrs.evolve(OTHELLO, name="a")\n'
WRONG = {
    "import math\n_hidden = math.pi\n": "mine.py' defines no game, enhancement, weight or rule, and no function that",
    A
    + "B = attrs.evolve(OTHELLO, max_legal=63)\n": "mine.py' defines another game called 'othello'; give it a name",
    A
    + "B = attrs.evolve(A, max_legal=63)\n": "mine.py' defines another game called 'a'; give it a name of its own",
    # by their functions alone: of lambdas, of a factory, of two that make games
    MAKING
    + "A = made(lambda s: [0])\nB = made(lambda s: [1])\n": "defines another game called 'a'",
    MAKING
    + "def legal(n):\n    return lambda s: [n]\nA = made(legal(0))\nB = made(legal(1))\n": "another game called 'a'",
    MAKING
    + "def one() -> Game:\n    return made(lambda s: [0])\ndef two() -> Game:\n    return made(len)\n": "another game called 'a'",
    "from icarus import Game\ndef mine() -> Game:\n    pass\n": "mine() is annotated to return a game but returns None",
    OWN.replace(
        "GREEDY", "NAST2"
    ): "mine.py' defines another NAST2, which is an enhancement of the library; give",
    # what would be read back as another one
    "from icarus import *\nFOO = with_alias(BASELINE >> NAST2, 'RAVE')\n": "mine.py' declares FOO with the name 'RAVE'; the name and",
    "from icarus import *\nBAR = with_alias(BASELINE >> NAST2, 'X')\n": "mine.py' declares BAR with the name 'X'; the name and",
    WEIGHT + "W1 = w\ndel w\n": "mine.py' declares W1 with the name 'w'; the name and the variable",
    OWN.replace(
        "GREEDY", "Nast2"
    ): "declares NAST2 and Nast2, which differ in capital letters alone",
    WEIGHT.replace(
        "def w", "def rave_weight"
    ): "mine.py' defines another rave_weight, which is a weight or a rule of the library",
}


@pytest.mark.parametrize("source", WRONG)
def test_a_file_that_cannot_be_is_refused_and_nothing_is_registered(tmp_path, source):
    with pytest.raises(ValueError, match=re.escape(WRONG[source])):
        load_files([str(written(tmp_path / "mine.py", source))])  # a text is a path too
    assert "a" not in games.GAMES
    assert games.load("othello").max_legal != 63


@pytest.mark.parametrize(
    ("source", "change", "what"),
    [
        (A, ("OTHELLO,", "OTHELLO, max_legal=63,"), "a game called 'a'"),
        (OWN, ("(MAST, ", "(LGRF, "), ""),
        (WEIGHT, ("0.9", "0.1"), "a weight or a rule called 'w'"),
    ],
)
def test_two_things_of_one_name_are_refused_in_two_files(tmp_path, source, change, what):
    """The last one would be searched with, and rows could not say which it was."""
    first = written(tmp_path / "first.py", source)
    second = written(tmp_path / "second.py", source.replace(*change))
    with pytest.raises(ValueError, match=f"first.py' and .*second.py' both define .*{what}"):
        load_files([first, second])


def test_a_game_may_come_from_two_files_of_which_one_imports_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    nim = written(tmp_path / "nim_of_mine.py", (EXAMPLES / "nim.py").read_text())
    load_files([nim, written(tmp_path / "another.py", "from nim_of_mine import NIM\n")])


TOLD = """
import os
import numpy
print(os.environ["OPENBLAS_NUM_THREADS"], len(os.listdir("/proc/self/task")))
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted on Linux")
def test_a_command_begins_no_threads_of_linear_algebra(tmp_path, python, monkeypatch):
    file = written(tmp_path / "told.py", TOLD)
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)  # which conftest.py sets

    done = python(None, "-m", "icarus", "specs", "MAST", "--with", str(file))
    assert done.stdout.splitlines()[0] == "1 1"  # one thread of Python, and none of its own


def test_an_option_of_another_program_makes_it_no_command(python):
    source = "import icarus, signal; print(signal.getsignal(signal.SIGINT).__name__)"
    done = python(source, "-m", "experiments")
    assert done.stdout == "default_int_handler\n"


def test_a_file_is_run_once_and_again_when_it_has_changed(tmp_path, monkeypatch):
    # which the environment may have forbidden
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
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
        (
            MISERE
            + "attrs.evolve(OTHELLO, state=__import__('numpy').dtype([('disc', object)], align=True))",
            "TypeError in line 4: state of a game is dtype([('disc', 'O')], align=True); it must be np.dtype([...], align=True) with "
            "named fields of numbers",
        ),
        (
            "from icarus import Game\ndef mine() -> Game:\n    raise KeyError('cards')\n",
            "KeyError in line 3: 'cards'",
        ),
    ],
)
def test_an_error_in_a_file_is_told_with_its_line(tmp_path, source, message):
    before = set(sys.modules)
    with pytest.raises(ValueError) as refusal:
        load_file(written(tmp_path / "mine.py", source))
    assert str(refusal.value) == f"{str(tmp_path / 'mine.py')!r} cannot be run: {message}"
    assert not [name for name in set(sys.modules) - before if name.startswith("own_")]


# ---------------------------------------------------------------------------------------------------- games in plain Python

OTHERS = """
import attrs
from icarus import games, in_python

KUHN = attrs.evolve(in_python(games.load("kuhn-poker")), name="plain-kuhn", seat_names=("Ann", "Bob"))
BOTH = attrs.evolve(in_python(games.load("othello")), name="both")
COMPILED = attrs.evolve(games.load("othello"), name="both")
"""
RACE = """
from icarus import PythonGame

def race(goal: int = 5) -> PythonGame:
    return PythonGame(
        name="race", players=2, parameters={"goal": goal}, defaults={"goal": 5},
        initial=lambda rng, goal: [0, 0, goal],
        player=lambda state: -4 if state[0] >= state[2] else state[1],
        legal=lambda state: [1, 2],
        apply=lambda state, action: state.__setitem__(slice(0, 2), [state[0] + action, 1 - state[1]]),
        rewards=lambda state: [float(state[1] == 1), float(state[1] == 0)],
    )
"""
__all__ = ["icarus"]


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written(tmp_path / "plain.py", RACE + OTHERS)


def test_a_file_brings_games_in_plain_python_and_of_two_with_one_name_the_compiled(file):
    load_file(file)
    kuhn, both = games.load("plain-kuhn"), games.load("both")
    assert isinstance(kuhn, PythonGame)
    assert kuhn.seat_names == ("Ann", "Bob")
    assert not isinstance(both, PythonGame)
    assert str(games.load("race(goal=7)")) == "race(goal=7)"
    assert games.load("race").parameters == {"goal": 5}
    with pytest.raises(ValueError, match="race has no parameter 'end'; it takes goal"):
        games.load("race(end=3)")


COMMANDS = {
    "search plain-kuhn --iterations 50 --html tree.html": "plain-kuhn, Ann, BASELINE: 50 iterations",
    "search plain-kuhn --strategy OOS() --iterations 50": "OOS(): 50 iterations",
    "match race(goal=7) BASELINE MAST --games 2 --iterations 20": "MAST (20 iterations)",
    "exploitability plain-kuhn": "uniform choice: NashConv 0.916667",
    "exploitability plain-kuhn --depth 1 --matches 2 --strategy MAST --iterations 9": "9 iterations), most visited: NashConv at least ",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_plain_games_are_searched_played_and_measured(file, icarus, command):
    code, output, errors = icarus(*command.split(), "--with", file)
    assert code == 0, errors
    assert COMMANDS[command] in output, errors
    assert "plain-kuhn" in Path("tree.html").read_text() if "--html" in command else True


def test_a_rule_that_ends_the_program_is_told_with_its_line(tmp_path, icarus):
    path = tmp_path / "quits.py"
    rule = "apply=lambda state, action: sys.exit('oops')"
    path.write_text(
        "import sys\n" + SAME_TEXT.replace("apply=lambda state, action: state.append(action)", rule)
    )
    code, _, errors = icarus("search", str(path), "--iterations", "5")
    assert (code, errors) == (2, f"icarus: SystemExit: oops, in <lambda> ({path}, line 7)\n")


SAME_TEXT = """
from icarus import PythonGame

TREK = PythonGame(
    name="trek", players=2, initial=lambda rng: [], player=lambda state: -4 if len(state) == 3 else len(state) % 2,
    legal=lambda state: [0, 2, 3], apply=lambda state, action: state.append(action), rewards=lambda state: [0.5, 0.5],
    action_text=lambda state, action: "rest" if action > 1 else "go",
)
"""
TWO = "2 legal actions are called 'rest' here; action_text of trek must tell them apart"


def test_a_text_of_two_legal_actions_is_refused_and_not_guessed(file, icarus):
    file.write_text(SAME_TEXT)
    assert refused(icarus("search", file, "--iterations", 5, "--moves", "rest")).startswith(TWO)
    code, output, errors = icarus("search", file, "--iterations", 5, "--moves", "go")
    assert code == 0, errors
    session = Session(games.load("trek"), [None, None])
    typed = Conversation(session, None)
    with pytest.raises(ValueError, match=re.escape(TWO)):
        typed.say("rest")
    typed.say("go"), typed.say("2")  # by its place in the list
    assert [played.action for played in session.played] == [0, 2]
    session.save(file.with_name("game.txt"))
    with pytest.raises(ValueError, match=re.escape(f"cannot be resumed: {TWO}")):
        Session.resumed(file.with_name("game.txt").read_bytes())


POLICIES = """
def policy(state):
    return {state.legal_actions()[0]: 1.0}

def wrong(state):
    return [2.0]

number = 7
"""
NO_POLICIES = {
    "mine.py:wrong": "player 0 of kuhn-poker plays [2.0] after 'the deal'; it must be probabilities",
    "mine.py:number": "7 is not a policy; it must be ",
    "mine.py:none": "--policy: mine.py defines no 'none'",
    "mine.py": "--policy is 'mine.py'; it must be FILE.py:NAME, such as mine.py:policy",
    "gone.py:policy": "there is no file 'gone.py'",
    "mine.py:policy --strategy MAST": "--policy and --strategy name two policies; give one of them",
    "mine.py:policy --iterations 9": "these need a search, by --strategy: leave out --iterations",
}


def test_anybody_s_policy_is_measured(tmp_path, monkeypatch, icarus):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(POLICIES)
    code, output, errors = icarus("exploitability", "kuhn-poker", "--policy", "mine.py:policy")
    assert code == 0, errors
    assert output.startswith("policy: NashConv 2 (exploitability 1, its half)")


@pytest.mark.parametrize("wrong", NO_POLICIES)
def test_what_is_no_policy_is_refused_in_a_sentence(wrong, tmp_path, monkeypatch, icarus):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(POLICIES)
    code, _, errors = icarus("exploitability", "kuhn-poker", "--policy", *wrong.split())
    assert code == 2
    assert NO_POLICIES[wrong] in errors
    assert "Traceback" not in errors
