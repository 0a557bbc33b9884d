"""A first game is written and passes its check; a reference in lock-step finds the first difference."""

import re
import time
from functools import partial
from pathlib import Path

import attrs
import pytest

from icarus import games
from icarus.audit import AuditReport, audit
from icarus.audit.lockstep import compare
from icarus.audit.subjects import fingerprint
from icarus.bridges.seats import game_of, seen_by
from icarus.commands import cli, console, new
from icarus.commands.new import hints, reference_in
from icarus.kernel import TERMINAL, AnyGame, PythonGame
from icarus.load_files import game_classes, games_in, load_file
from tests.commands.test_cli import icarus, refused
from tests.conftest import games_forgotten
from tests.test_documents import example

second_chance = example("second_chance")
EXAMPLES = Path(__file__).parents[2] / "examples"
REFERENCE = '''
class TakeAway:
    """The game of the skeleton, once more."""

    def __init__(self):
        self.stones, self.player = 21, 0

    def is_terminal(self):
        return self.stones == 0

    def current_player(self):
        return -4 if self.stones == 0 else self.player

    def legal_actions(self):
        return list(range(1, min(3, self.stones) + 1))

    def apply_action(self, action):
        self.stones -= action
        self.player = 1 - self.player

    def returns(self):
        return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]
'''
ALWAYS = "list(range(1, min(3, self.stones) + 1))"
FAULTS = [
    ("min(3, self.stones)", "min(3, self.stones, 5 - self.player)", ""),
    (
        "min(3, self.stones)",
        "min(2, self.stones)",
        "in the reference [1, 2], which lacks 3 (take 3)",
    ),
    (
        "return self.stones == 0",
        "return self.stones <= 1",
        "the game continues and the reference has ended",
    ),
    ("1 - self.player", "int(action == 1)", "current_player() is 1, and in the reference 0"),
    (
        "[-1.0, 1.0] if",
        "[1.0, -1.0] if",
        "returns() is [0.0, 1.0], and in the reference [1.0, -1.0]",
    ),
    (
        "-4 if self.stones == 0 else self.player",
        "self.player",
        "current_player() is -4, and in the reference ",
    ),
    (ALWAYS, "None", "the reference raises TypeError: 'NoneType' object is not iterable"),
    (ALWAYS, "exit('oops')", "the reference raises SystemExit: oops"),
    (
        "1 - self.player",
        "__import__('random').randrange(2)",
        "the reference draws by luck of its own; give its file",
    ),
    (
        "self.stones -= action",
        "self.stones -= {1: 1, 2: 2}[action]",
        "the reference raises KeyError: 3",
    ),
]
STONES = Path(__file__).with_name("stones.txt").read_text("utf-8")


def written(folder: Path, monkeypatch: pytest.MonkeyPatch, *options: str) -> Path:
    """The file of the game that `icarus new` writes."""
    monkeypatch.chdir(folder)
    assert cli.run(["new", "my_game", *options]) == 0
    return folder / "my_game.py"


def game_in(path: Path) -> AnyGame:
    return games_in(load_file(path))[0]


@pytest.fixture(scope="module")
def stones(tmp_path_factory):
    """The game of the reference, compiled once."""
    path = tmp_path_factory.mktemp("stones") / "take_away.py"
    path.write_text(STONES.replace('name="stones"', 'name="take-away"'))
    with games_forgotten():
        yield game_in(path)


NAMES = {
    "icarus": "there is a module of that name; use my_icarus",
    "class": "it is a word of Python; use my_class",
    "_": "a letter first, such as mygame",
    "liars_dice": "there is a game of that name; use my_liars_dice",
    "3d": "a letter first, such as mygame",
    "My-Game": "a letter first, such as mygame",
}


def test_a_name_that_would_stand_in_the_way_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name, reason in NAMES.items():
        assert cli.run(["new", name]) == 2
        assert capsys.readouterr().err.endswith(f"{reason}\n")
        assert not list(tmp_path.iterdir())
    (tmp_path / "my_game").mkdir()  # which is no module
    written(tmp_path, monkeypatch)
    assert cli.run(["new", "my_game"]) == 2
    assert "exists and is not overwritten" in capsys.readouterr().err


def test_a_first_game_passes_the_audit_and_lacks_little(tmp_path, monkeypatch, capsys):
    game = game_in(written(tmp_path, monkeypatch))
    assert game.name == "my-game"
    assert "icarus check my_game.py" in capsys.readouterr().out
    report = audit(game, games=2, determinizations=100)
    assert report.passed, report
    assert all("episode" in hint or "indices" in hint for hint in hints(game))
    compile((tmp_path / "test_my_game.py").read_text(), "test", "exec")


def test_the_first_game_in_plain_python_is_checked(
    tmp_path, monkeypatch, capsys, few_ways, few_deals
):
    path = written(tmp_path, monkeypatch, "--python")
    assert cli.run(["check", "my_game.py", "--games", "1"]) == 0
    output = capsys.readouterr().out
    assert "audit of my-game: 1 game" in output
    assert "hint" not in output
    assert "player 0 sees at first:" in output
    path.write_text(
        path.read_text()
        .replace("    observation=observation,\n    text=text", "    text=text")
        .replace("    max_length", "    # max_length")
    )
    assert cli.run(["check", "my_game.py", "--games", "1"]) == 3
    output = capsys.readouterr().out
    assert "hint: max_length is not given" in output
    assert "write `observation`" in output
    path.write_text(path.read_text().replace('"swap"', '"keep"'))
    assert cli.run(["check", "my_game.py", "--games", "1"]) == 1
    assert "FAILED: notation" in capsys.readouterr().out


def test_rules_are_checked_beside_a_reference(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text(STONES)
    Path("reference.py").write_text(REFERENCE.replace(*FAULTS[1][:2]))
    assert cli.run(["check", "mine.py", "--against", "reference.py", "--games", "2"]) == 1
    output = capsys.readouterr().out  # the last line is what people read
    assert output.startswith("rules: ")
    assert output.endswith("the game and the reference differ (see rules)\n")


def test_a_class_is_checked_as_a_game(capsys):
    assert cli.run(["check", str(EXAMPLES / "adopted" / "kalah.py"), "--games", "3"]) == 0
    assert (
        "audit of Kalah: 3 games, no `determinize`: every player sees everything"
        in capsys.readouterr().out
    )


def test_a_class_may_have_the_words_of_openspiel_s_states_too(tmp_path):
    words = "    def information_state_string(self, player=0):\n        return str(self.stones)\n"
    path = tmp_path / "words.py"
    path.write_text(REFERENCE + words)
    (kind,) = game_classes(load_file(path))
    assert seen_by(game_of(kind).new_initial_state(), 0)


@pytest.mark.parametrize(("right", "wrong", "sentence"), FAULTS)
def test_the_first_difference_from_a_reference_is_told(right, wrong, sentence, tmp_path, stones):
    path = tmp_path / "reference.py"
    path.write_text(REFERENCE.replace(right, wrong))
    comparison = compare(stones, reference_in(path), games=12)
    assert sentence in str(comparison)
    assert comparison.passed == (not sentence)
    assert comparison.passed or str(comparison).startswith("game ")


def test_a_reference_of_a_dealt_state_reads_the_deal(tmp_path, monkeypatch):
    """By the example of the documentation; without its function, the class would deal cards of its own."""
    game, path = game_in(written(tmp_path, monkeypatch)), tmp_path / "swap.py"
    example = (
        (EXAMPLES.parent / "docs/plain-python.md")
        .read_text("utf-8")
        .split("```python\n")[1]
        .split("```")[0]
    )
    path.write_text(example)
    assert compare(game, reference_in(path), games=20).passed
    path.write_text(example[: example.index("def reference")])
    comparison = str(compare(game, reference_in(path), games=100))
    assert (
        "the reference draws by luck of its own; give its file a function reference(state)"
        in comparison
    )


def test_probabilities_of_chance_are_compared(tmp_path):
    path = tmp_path / "reference.py"
    for outcomes, message in (
        ("state.chance_outcomes()", "agree in 20 games"),
        ("[(a, p * 2) for a, p in state.chance_outcomes()]", "chance_outcomes() is [(1, 0.25), "),
        ("list(range(6))", "and in the reference [0, 1, 2, 3, 4, 5]"),
    ):
        path.write_text(MIRROR.format(outcomes=outcomes.replace("state", "self.state")))
        assert message in str(compare(second_chance.GAME, reference_in(path), games=20))


MIRROR = """
class Mirror:
    def __init__(self, state):
        self.state = state

    def __getattr__(self, name):
        return getattr(self.state, name)

    def chance_outcomes(self):
        return {outcomes}

def reference(state):
    return Mirror(state)
"""


LACKING = {
    "check slip.py": "has no Game, and no class with the methods is_terminal, current_player,",
    "check mine.py --against slip.py": "it must have one, or a function reference(state)",
    "check mine.py --against other.py": "has 0 classes with the methods",
    "check mine.py --against deals.py": "cannot be made: TakeAway.__init__() missing 1 required positional argument: 'rng'; give",
    "check empty.py": "give the game that a function makes by its name, and the file by --with empty.py; icarus new",
    "search right.py": "has a class and no game; make one by a line in a file: game = icarus.bridges.",
}


@pytest.mark.parametrize("line", LACKING)
def test_what_is_no_game_and_no_reference_is_told_what_it_lacks(
    line, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    Path("right.py").write_text(REFERENCE)
    Path("slip.py").write_text(REFERENCE.replace("def returns", "def return_"))
    Path("deals.py").write_text(REFERENCE.replace("__init__(self)", "__init__(self, rng)"))
    Path("empty.py").write_text("X = 1\n")
    for name in ("mine", "other"):
        Path(f"{name}.py").write_text(PLAIN_GAME.replace("NAME", name))
    assert cli.run(line.split()) == 2
    assert LACKING[line] in capsys.readouterr().err


PLAIN_GAME = """
from icarus import PythonGame

GAME = PythonGame(
    name="NAME", players=2, initial=lambda rng: [3], player=lambda state: -4, legal=lambda state: [0],
    apply=lambda state, action: None, rewards=lambda state: [0.0, 1.0],
)
"""


def test_an_error_of_the_game_is_not_the_reference_s():
    right = PythonGame(
        name="once",
        players=1,
        initial=lambda rng: [],
        player=lambda state: TERMINAL if state else 0,
        legal=lambda state: [0],
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [1.0],
    )
    for name, wrong in (("rewards", lambda state: [1.5]), ("legal", lambda state: [-1])):
        said = compare(
            attrs.evolve(right, **{name: wrong}), lambda state: right.new_initial_state(), games=1
        )
        assert f"the game raises ValueError: {name} of once" in str(said)


# ------------------------------------------------------------------------------------------- slips, told with function and line

__all__ = ["icarus"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def slipped(right: str, wrong: str) -> str:
    """The file of a game in which something stands in the place of something else; returns its name."""
    assert right in STONES
    Path("mine.py").write_text(STONES.replace(right, wrong))
    return "mine.py"


def line_of(text: str) -> int:
    """The line of the file in which a text first stands."""
    return next(
        i for i, line in enumerate(Path("mine.py").read_text().splitlines(), 1) if text in line
    )


TEXT, ACTION = 'return f"{state.stones} stones', 'return f"take {action}"'
ERRORS = [
    (
        "search",
        TEXT,
        'return "abc"[9] + f"{state.stones} stones',
        "text of stones raises IndexError: ",
    ),
    (
        "check",
        TEXT,
        'return state.stone + f"{state.stones}',
        "text of stones raises AttributeError: ",
    ),
    (
        "play --watch --iterations 5",
        ACTION,
        "return {}[action % 1]",
        "action_text of stones raises KeyError: 0",
    ),
    ("search", ACTION, "return action % 1", "action_text of stones gives 0, which is not a str"),
]


@pytest.mark.parametrize(("command", "right", "wrong", "message"), ERRORS)
def test_a_text_that_raises_an_error_is_told_with_its_line(
    here, icarus, command, right, wrong, message
):
    code, printed, errors = icarus(*command.split(), slipped(right, wrong))
    line = line_of(wrong if "raises" in message else "def action_text")
    assert code in (1, 2)
    assert "Traceback" not in errors
    assert message in printed + errors
    assert f"(mine.py, line {line})" in printed + errors


COUNT = "    count = min(MOST, state.stones)\n"
WRITE = "        actions[i] = i + 1"
CANNOT = "legal cannot be compiled: "
CANNOT_BE_COMPILED = [
    (
        "apply(state, action)",
        "apply(state)",
        "def apply",
        "stones takes (state); it must take (state, action)",
    ),
    (
        COUNT,
        COUNT + "    import random\n",
        "import random",
        f"{CANNOT}Use of unsupported opcode (IMPORT_NAME) found",
    ),
    (
        COUNT,
        '    with open("x"):\n    ' + COUNT,
        "with open(",
        f"{CANNOT}Unsupported context manager in use",
    ),
    (
        WRITE,
        '        actions[i] = i + "a"',
        '"a"',
        f"{CANNOT}compiled code does not support add(int64, ",
    ),
    (
        COUNT,
        COUNT + "    seen = []\n    if len(seen) > 9:\n        return 0\n",
        "seen = []",
        f"{CANNOT}nobody knows what seen holds, as a list is empty; use an array",
    ),
    (
        COUNT,
        COUNT
        + "    if len(EMPTY) > 9:\n        return 0\n\n\nEMPTY = []\n\n\ndef more(state, actions):\n    count = 0\n",
        "if len(EMPTY)",
        f"{CANNOT}nobody knows what EMPTY holds, as a list is empty; use an array",
    ),
]


@pytest.mark.parametrize(("right", "wrong", "at", "message"), CANNOT_BE_COMPILED)
def test_what_cannot_be_compiled_is_told_in_the_words_of_its_author(
    here, icarus, right, wrong, at, message
):
    sentence = refused(icarus("check", slipped(right, wrong)))
    assert message in sentence
    assert sentence.endswith(f"(mine.py, line {line_of(at)})")
    assert len(sentence) < 200
    assert "own_" not in sentence


def test_an_enhancement_must_be_declared_by_the_name_of_its_variable(here, icarus):
    Path("pairs.py").write_text(
        (EXAMPLES / "own_pairs.py").read_text().replace('"OWN_PAIRS"', '"OWN_PARIS"')
    )
    message = refused(
        icarus("search", "kuhn-poker", "--strategy", "OWN_PAIRS", "--with", "pairs.py")
    )
    assert message.startswith(
        "'pairs.py' declares OWN_PAIRS with the name 'OWN_PARIS'; the name and the variable"
    )


def test_a_report_of_a_broken_game_promises_nothing_to_go_on_with(here, icarus):
    code, _, errors = icarus("describe", slipped(ACTION, "return {}[action % 1]"), "--to", "page")
    assert code == 1
    assert re.fullmatch(r"the audit took \d+ s of the 5 minutes\npage/report.html\n", errors)


def test_a_long_work_writes_lines_into_a_pipe(monkeypatch, capsys):
    monkeypatch.setattr(console, "_SILENCE", 0.05)
    with console.progress_of("games", 10) as show:
        show(3, description="audit of mine: games")
        said, end = "", time.monotonic() + 60
        while "3 of 10" not in said and time.monotonic() < end:
            time.sleep(0.01)
            said += capsys.readouterr().err
    assert said.endswith("audit of mine: games 3 of 10\n")


def test_an_audit_is_made_once_of_what_the_files_hold_and_one_that_is_stopped_says_so(
    tmp_path, monkeypatch
):
    file, made = tmp_path / "own.py", list[int]()
    monkeypatch.setattr(new, "cache_folder", lambda: tmp_path)

    def counted(game: AnyGame, **how) -> AuditReport:
        made.append(1)
        return AuditReport(str(game), 1, 1, 1, False, (), 1.0)

    monkeypatch.setattr(new, "audit", counted)
    reports = []
    for text in ("", "", "# other rules"):
        file.write_text(text)
        reports.append(str(new.audited(second_chance.GAME, [file], 0)))
    assert len(made) == 2
    assert reports[0] == reports[1]
    new.audited(second_chance.GAME, [file], 0, once=False)
    assert len(made) == 3

    def stopped(game: AnyGame, **how) -> None:
        raise KeyboardInterrupt("in legal of second-chance")

    monkeypatch.setattr(new, "audit", stopped)
    message = (
        "the audit of second-chance was stopped after 0 of 40 games, in legal of second-chance; "
        "the same command begins anew"
    )
    with pytest.raises(KeyboardInterrupt, match=message):
        new.audited(second_chance.GAME, [file], 1)


@pytest.mark.parametrize("game", [second_chance.GAME, games.load("kuhn-poker")], ids=str)
def test_an_audit_that_is_stopped_goes_on_after_its_last_game_with_the_same_report(
    game, tmp_path, few_ways, few_deals
):
    make, file, calls = partial(audit, game, games=4, determinizations=60), tmp_path / "a", []

    def stop(games: int, draws: int) -> None:
        calls.append(games)
        if games == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make(progress=stop, file=file)
    report = make(progress=lambda games, _: calls.append(games), file=file)
    assert calls[:3] == [0, 1, 2]
    assert calls[3] >= 2  # those of the process that was stopped are not played again
    assert report == attrs.evolve(make(), seconds=report.seconds)
    assert not file.exists()


@pytest.mark.parametrize(
    ("changes", "arguments"),
    [
        ({"text": str}, {}),
        ({"legal": lambda state: second_chance.legal(state)}, {}),
        ({}, {"seed": 1}),
        ({}, {"determinizations": 59}),
        ({}, {"games": 2}),
        ({}, {"multiplicity": lambda state: 1.0}),
    ],
)
def test_an_audit_of_another_game_or_with_other_arguments_begins_anew(changes, arguments, tmp_path):
    def stop(games: int, draws: int) -> None:
        calls.append(games)
        if games == 1:
            raise KeyboardInterrupt

    kept, calls = tmp_path / "a", list[int]()
    for game, others in [
        (second_chance.GAME, {}),
        (attrs.evolve(second_chance.GAME, **changes), arguments),
    ]:
        how = {"games": 4, "determinizations": 60, "progress": stop, "file": kept} | others
        with pytest.raises(KeyboardInterrupt):
            audit(game, **how)
    assert calls == [0, 1, 0, 1]


def test_what_an_audit_remembers_of_states_has_the_same_key_in_every_process():
    assert fingerprint(("text", 1)).hex() == "c8d461e2bc1b3c25dafeb1b3"
