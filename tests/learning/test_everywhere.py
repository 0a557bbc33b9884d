"""What a stranger does with the file of an evaluation: every command that takes it, games that are kept, replays and levels."""

import json
import shlex
import shutil
from pathlib import Path

import attrs
import pytest

from experiments.commands import main as experiments
from icarus import Agent, games, learn
from icarus.arena.player import load_game
from icarus.audit import AuditReport
from icarus.commands.cli import run
from icarus.commands.conversation import Session
from icarus.commands.describe import Plan
from icarus.commands.new import audited
from icarus.commands.server import Tables, choice
from icarus.engine.match import conditions_of
from icarus.kernel import AnyGame, Evaluation, read_evaluation
from tests.learning.conftest import JUDGE, KUHN

Learned = tuple[Path, Evaluation]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch, learned):
    """A folder with the file."""
    (tmp_path / "kuhn.npz").write_bytes(learned[0].read_bytes())
    monkeypatch.chdir(tmp_path)


def said_to(
    lines: list[str],
    command: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> str:
    """What a command says to these lines of a person, and how it ends."""
    remaining = iter(lines)

    def ask(prompt: str) -> str:
        for line in remaining:
            return line
        raise EOFError

    monkeypatch.setattr("builtins.input", ask)
    assert run(command) == 0, capsys.readouterr().err
    return capsys.readouterr().out


OPTION = ["--evaluation", "kuhn.npz"]


def test_a_game_that_was_kept_goes_on_by_the_command_that_is_printed(monkeypatch, capsys):
    play = ["play", KUHN, "--against", JUDGE, *OPTION, "--iterations", "9"]
    said = said_to(["1"], play, monkeypatch, capsys)
    printed = said.split("stopped; ")[1].split(" continues from here")[0]
    assert printed == "icarus play --resume kuhn-poker-1.txt --evaluation kuhn.npz"
    assert "stopped" in said_to([], shlex.split(printed)[1:], monkeypatch, capsys)
    assert run(["play", "--resume", "kuhn-poker-1.txt"]) == 2
    assert "give --evaluation kuhn.npz" in capsys.readouterr().err
    own = JUDGE.replace("]", ", evaluation = kuhn.npz]")
    assert run(["play", KUHN, "--against", own]) == 2
    assert "give it by --evaluation" in capsys.readouterr().err


def test_levels_are_of_the_agent_that_reads_the_evaluation(capsys):
    plan = Plan(KUHN, ("kuhn.npz",), "", 32, (), 0)
    players = plan.entrants()[1:]
    assert {(each.strategy, each.search.cutoff) for each in players} == {("PUCT >> BASELINE", 0)}
    unread = attrs.evolve(plan, own_files=()).entrants()[1:]
    assert {(each.strategy, each.search.cutoff) for each in unread} == {("BASELINE", None)}
    level = {"level": 1, "elo": 0, "low": 0, "high": 0, "games": 2, "agent": players[0].settings()}
    Path("levels.json").write_text(json.dumps({"games": {KUHN: [level]}}))
    assert Agent.at_level(games.load(KUHN), 1, ".").scheme.cutoff == 0
    match = ["match", KUHN, "BASELINE", "--level", "1", "--levels", ".", "--games", "2"]
    assert run([*match, "--iterations", "5", *OPTION]) == 0
    assert "PUCT >> BASELINE by MO_ISMCTS with cutoff=0" in capsys.readouterr().out
    assert run([*match, "--iterations", "5"]) == 2
    assert "has no heuristic to end playouts with" in capsys.readouterr().err
    game = games.load(KUHN).with_evaluation("kuhn.npz")
    conditions = conditions_of(game)
    for changes, what in (
        ({}, ""),
        ({"evaluation": "0"}, "evaluation"),
        ({"set of rules": "0"}, "set of rules"),
    ):
        measured = {"games": {KUHN: [level]}, "measured_with": conditions | changes}
        Path("levels.json").write_text(json.dumps(measured))
        assert run([*match, "--iterations", "5", *OPTION]) == (2 if changes else 0)
        assert not what or f"were measured with another {what}; give" in capsys.readouterr().err
    # a page of games offers the levels of the game that is on its table, with its evaluation
    Path("levels.json").write_text(
        json.dumps({"games": {KUHN: [level]}, "measured_with": conditions})
    )
    tables = Tables(levels={KUHN: Path()})
    tables.add(Session(game, [None, Agent.at_level(game, 1, ".")], 0))
    assert choice(tables.game(KUHN), Path())["elo"] == [0]
    assert tables.game("othello") is games.load("othello")


def test_search_check_and_discover_take_the_file(capsys):
    assert run(["search", KUHN, "--strategy", JUDGE, "--iterations", "9", *OPTION]) == 0
    name = str(read_evaluation("kuhn.npz"))
    told = f"BASELINE by MO_ISMCTS with cutoff=0, {name}: 9 iterations"
    assert told in capsys.readouterr().out
    assert run(["check", KUHN, "--games", "1", *OPTION]) == 0
    assert "evaluation: mean squared error" in capsys.readouterr().out
    against = ["--against", "BASELINE", "--games", "100", "--iterations", "9", "--to", "race"]
    assert run(["discover", KUHN, "--candidate", JUDGE, *against, *OPTION]) == 0
    assert "0 to explore" in capsys.readouterr().out
    assert experiments(["verify", "race", "--sample", "4"]) == 0
    Path("kuhn.npz").write_bytes(Path("kuhn.npz").read_bytes() + b"\0")
    assert experiments(["verify", "race", "--sample", "4"]) != 0
    assert "kuhn.npz" in "".join(capsys.readouterr())


@pytest.mark.parametrize(
    ("strategies", "is_read"),
    [
        (["BASELINE"], False),
        (["OOS()"], False),
        (["RAVE >> NAST2", "BASELINE >> (MAST & LGRF)"], False),
        (["BASELINE", "PUCT >> BASELINE"], True),
        (["RAVE >> (MAST & PROGRESSIVE_BIAS)"], True),
        (["IMPLICIT_MINIMAX"], True),
        ([JUDGE], True),
    ],
)
def test_an_evaluation_that_nobody_reads_is_told(strategies, is_read):
    loaded = load_game(KUHN, ["kuhn.npz"])
    agents = [loaded.agent(text) for text in strategies]
    hints = list(loaded.hints(agents))
    assert len(hints) == (not is_read)
    assert all(f"read by {', '.join(map(str, strategies))};" in hint for hint in hints)
    assert not list(load_game(KUHN, []).hints(agents))


def test_commands_and_a_judge_tell_that_an_evaluation_is_not_read(capsys):
    budget = ["--iterations", "9", *OPTION]
    assert run(["search", KUHN, *budget]) == 0
    assert "the evaluation has no effect" in capsys.readouterr().err
    assert run(["match", KUHN, "BASELINE", "MAST", "--games", "1", *budget]) == 0
    assert "no heuristic is read by BASELINE, MAST" in capsys.readouterr().err
    assert run(["play", KUHN, "--against", "RAVE", "--watch", *budget]) == 0
    assert "no heuristic is read by RAVE" in capsys.readouterr().err
    with pytest.raises(ValueError, match="judge is 'RAVE', which reads no evaluation"):
        learn(KUHN, judge="RAVE", games=40, out="new.npz")
    own = JUDGE.replace("]", ", evaluation = kuhn.npz]")
    with pytest.raises(ValueError, match="of each generation; leave out its own"):
        learn(KUHN, judge=own, games=40, out="new.npz")
    assert not Path("new.learning").exists()


def test_an_audit_with_an_evaluation_is_not_kept_as_that_of_the_game_without_it(
    tmp_path, monkeypatch
):
    seen = list[AnyGame]()

    def noted(game: AnyGame, **how) -> AuditReport:
        seen.append(game)
        return AuditReport(str(game), 1, 1, 1, False, (), 1.0)

    monkeypatch.setattr("icarus.commands.new.cache_folder", lambda: tmp_path)
    monkeypatch.setattr("icarus.commands.new.audit", noted)
    assert run(["check", KUHN, *OPTION]) == 0
    for _ in range(2):
        audited(games.load(KUHN), [], 0)
    assert seen == [games.load(KUHN).with_evaluation("kuhn.npz"), games.load(KUHN)]


def test_an_experiment_names_the_file_and_is_replayed(capsys):
    Path("own.toml").write_text(
        'games = "kuhn-poker"\niterations = 9\ntrials = 2\n[agents]\n'
        'learned = { strategy = "BASELINE", scheme = "MO_ISMCTS with cutoff=0", evaluation = "kuhn.npz" }\n'
    )
    assert experiments(["run", "own.toml", "--out", "rows", "--workers", "1"]) == 0
    assert experiments(["verify", "rows"]) == 0
    assert "the same" in capsys.readouterr().out
    table = Path("own.toml").read_text()
    for old, new, sentence in (
        (
            "kuhn.npz",
            "absent.npz",
            "agents.learned.evaluation: 'absent.npz' cannot be used: no such",
        ),
        ("kuhn.npz", "own.toml", "agents.learned.evaluation: 'own.toml' is not an evaluation"),
        ('"kuhn-poker"', '"othello"', "the evaluation is of the game kuhn-poker, not of othello"),
    ):
        Path("wrong.toml").write_text(table.replace(old, new))
        assert experiments(["run", "wrong.toml", "--out", "other"]) == 2
        assert sentence in capsys.readouterr().err


def test_matches_of_generations_are_replayed(learned, capsys):
    directory = learned[0].with_suffix(".learning")
    assert experiments(["verify", str(directory), "--sample", "30"]) == 0
    assert capsys.readouterr().out.count("the same") == 18
    shutil.copytree(directory, "edited")
    assert experiments(["verify", "edited", "--sample", "30"]) == 0
    settings = (directory / "learning.json").read_text()
    Path("edited/learning.json").write_text(settings.replace('"iterations": 8', '"iterations": 1'))
    assert experiments(["verify", "edited", "--sample", "30"]) == 1
