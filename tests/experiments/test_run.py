"""Runs that are disturbed play the same games as runs that are not; files that have changed are told."""

import datetime
import itertools
import math
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from types import ModuleType

import attrs
import numpy as np
import pytest

from experiments import results as store, sequential
from experiments.plan import loading, sources
from experiments.plan.cells import Sprt
from experiments.plan.loading import build
from experiments.replay import compare, of_run
from experiments.report import state_of, write
from experiments.results import results_of
from experiments.run import match_of, part, run
from experiments.sequential import BETTER, NOT_BETTER, ROUND, decision, log_ratio
from icarus import games as games_by_name, load_files
from icarus.arena.player import Entrant
from icarus.arena.workers import LOCAL, GameFailed, Workers, connection, workers
from tests.experiments.conftest import (
    SMALL,
    TIMEOUT,
    TRIALS,
    Command,
    a_row,
    games,
    keep,
    play,
    row_of_match,
    small,
)

TOTAL = 3 * TRIALS


def processes_below(process: int) -> set[int]:
    """The processes that a process started, and theirs."""
    descendants = set()
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, task.read_text().split()):
            descendants |= {child} | processes_below(child)
    return descendants


def gone_soon(processes: set[int], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(Path(f"/proc/{process}").exists() and running(process) for process in processes):
            return True
        time.sleep(0.05)
    return False


def running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for_games(directory: Path, count: int) -> None:
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end:
        path = directory / store.RESULTS
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.01)
    raise AssertionError(f"no {count} games within {TIMEOUT} seconds")


def disturbed(command, out: Path, signal_number: int, to_group: bool) -> tuple[int, str, set[int]]:
    """Start a run, send it a signal in the middle: (exit code, standard error, the processes it had started)."""
    with command.start("run", *SMALL, "--workers", 2, "--out", out) as process:
        wait_for_games(out, 5)
        children = processes_below(process.pid)
        (os.killpg if to_group else os.kill)(process.pid, signal_number)
        _, errors = process.communicate(timeout=TIMEOUT)
    return process.returncode, errors, children


def table(text: str) -> str:
    return text[: text.rindex("NAST")]


def test_a_run_killed_in_the_middle_is_completed_by_the_same_command(
    command, call, played, tmp_path, no_pictures
):
    code, _, children = disturbed(command, tmp_path / "run", signal.SIGKILL, to_group=False)
    assert code == -signal.SIGKILL
    assert len(children) >= 2
    assert gone_soon(children)
    content = (tmp_path / "run" / store.RESULTS).read_bytes()
    whole = content[: content.rindex(b"\n") + 1]
    assert 5 <= whole.count(b"\n") < TOTAL
    code, again, _ = call("run", *SMALL, "--out", tmp_path / "run")
    assert code == 0
    assert (tmp_path / "run" / store.RESULTS).read_bytes().startswith(whole)
    assert games(tmp_path / "run") == games(played)
    code, undisturbed, _ = call("run", *SMALL, "--out", played)
    assert code == 0
    assert table(again) == table(undisturbed)


def test_ctrl_c_stops_at_once_keeps_what_is_finished_and_tells_how_to_go_on(
    command, call, played, tmp_path, no_pictures
):
    code, errors, children = disturbed(command, tmp_path / "run", signal.SIGINT, to_group=True)
    assert code == 130
    assert "Traceback" not in errors
    count = len(games(tmp_path / "run"))
    assert (
        f"Stopped; {count} of {TOTAL} games are kept in {tmp_path / 'run'}. Run the same command to continue."
        in errors
    )
    assert gone_soon(children)
    assert call("run", *SMALL, "--workers", 1, "--out", tmp_path / "run")[0] == 0
    assert games(tmp_path / "run") == games(played)


def test_a_complete_run_is_not_played_again(call, played, no_pictures):
    before = (played / store.RESULTS).read_bytes()
    assert call("run", *SMALL, "--out", played)[0] == 0
    assert (played / store.RESULTS).read_bytes() == before


@pytest.mark.slow
def test_two_machines_divide_an_experiment_and_merge_it(command, played, tmp_path):
    for number in (1, 2):
        done = command("run", *SMALL, "--part", f"{number}/2", "--out", tmp_path / str(number))
        assert done.returncode == 0, done.stderr
        assert len(games(tmp_path / str(number))) == TOTAL / 2
    merged = command("merge", tmp_path / "both", tmp_path / "1", tmp_path / "2", tmp_path / "1")
    assert merged.stderr.startswith(f"{TOTAL} games added")
    assert games(tmp_path / "both") == games(played)


def test_a_game_that_raises_an_error_stops_the_run_and_names_itself(tmp_path):
    experiment = small()
    cells = tuple(
        attrs.evolve(cell, spec=Entrant(f"NOBODY{i}")) for i, cell in enumerate(experiment.cells)
    )
    with workers(2) as two, pytest.raises(GameFailed) as failed:
        play(attrs.evolve(experiment, cells=cells), tmp_path, two)
    message = str(failed.value)
    assert re.match(
        r".*NOBODY\d, 20 iterations.* in othello, seed \(0, \d+, \d+, \d\) failed: ", message
    )
    assert "NOBODY" in message.partition("failed: ")[2]
    assert "Traceback" not in message


@pytest.mark.slow
def test_a_cluster_of_which_processes_are_killed_plays_the_same_games(command, played, tmp_path):
    pytest.importorskip("distributed")
    arguments = ("run", *SMALL, "--cluster", "local", "--workers", 2, "--out", tmp_path / "run")
    with command.start(*arguments) as process:  # the coordinator is killed
        wait_for_games(tmp_path / "run", 5)
        children = processes_below(process.pid)
        process.kill()
        process.communicate(timeout=TIMEOUT)
    assert gone_soon(children, 30)
    done = command(*arguments)
    assert done.returncode == 0, done.stderr
    assert games(tmp_path / "run") == games(played)


def test_a_cluster_that_does_not_answer_is_refused(call, tmp_path):
    pytest.importorskip("distributed")
    code, _, errors = call(
        "run", *SMALL, "--cluster", "tcp://127.0.0.1:9", "--out", tmp_path / "run"
    )
    assert code == 2
    assert errors.startswith("experiments: no dask scheduler answers at 'tcp://127.0.0.1:9'")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("address", ["Local", "tls://127.0.0.1:9"])
def test_what_is_no_address_of_a_scheduler_is_told_what_would_be_one(address):
    pytest.importorskip("distributed")
    said = f"no dask scheduler answers at '{address}', which is to be local, or such as tcp://"
    with pytest.raises(ValueError, match=said), connection(address, 1):
        pytest.fail("there is none")


def test_a_worker_without_the_files_of_a_run_is_refused_with_what_it_lacks(monkeypatch):
    monkeypatch.setattr("icarus.arena.workers._SENT", {"icarus", "only_here"})
    monkeypatch.setitem(sys.modules, "only_here", ModuleType("only_here"))
    lacks = pytest.raises(ValueError, match=r"the dask worker at tcp://.* cannot import only_here")
    with lacks, connection(LOCAL, 1):
        pytest.fail("a worker was taken that lacks a file")


# ----------------------------------------------------------------------------------------------- games played again


def test_verify_compares_statistics_too(played):
    kept = next(of_run(played))
    assert compare(kept)[1]
    kept.row["depth of its searches"] += 1
    message, same = compare(kept)
    assert not same
    assert "depth of its searches was" in message


# -------------------------------------------- what a Python file imports is digested with it: no two agents in one cell

EXPERIMENT = """
from icarus import BASELINE
from beside import TAU
EXPERIMENT = {"games": "othello", "iterations": 5, "trials": 1, "agents": ["BASELINE"]}
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A Python file that imports a file and a package, which import others; a process that has imported none of them."""
    (tmp_path / "own.py").write_text(EXPERIMENT + "def later():\n    import often.deep\n")
    (tmp_path / "beside.py").write_text("import json, numpy\nfrom further import TAU\n")
    (tmp_path / "further.py").write_text("TAU = 1.0\n")
    (tmp_path / "unused.py").write_text("TAU = 1.0\n")
    (tmp_path / "often").mkdir()
    (tmp_path / "often" / "__init__.py").write_text("from . import near\n")
    (tmp_path / "often" / "near.py").write_text("")
    (tmp_path / "often" / "deep.py").write_text("from .near import *\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(load_files, "_in_memory", {})
    monkeypatch.setattr(games_by_name, "GAMES", dict(games_by_name.GAMES))
    yield tmp_path
    for name in ("beside", "further", "often", "often.near", "often.deep"):
        sys.modules.pop(name, None)


def test_a_run_is_refused_after_an_edit_of_a_file_that_its_file_imports(folder, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    play(loading.load(str(folder / "own.py"), {}), directory)
    before = sources.digest_of(folder / "further.py")
    (folder / "further.py").write_text("TAU = 0.001\n")
    load_files._in_memory.clear()  # another process
    now = sources.digest_of(folder / "further.py")
    message = f"{folder / 'further.py'} was edited after the run in {directory} had started: its digest is {now}, "
    message += f"in that run {before}"
    with pytest.raises(ValueError, match=re.escape(message)):
        play(loading.load(str(folder / "own.py"), {}), directory)


def test_a_match_is_refused_after_an_edit_and_names_the_file_and_both_digests(folder):
    experiment = loading.load(str(folder / "own.py"), {})
    before = sources.digest_of(folder / "beside.py")
    (folder / "beside.py").write_text("TAU = 2.0\n")
    with pytest.raises(
        ValueError,
        match="beside.py was edited after this process had imported it; start the command",
    ):
        match_of(experiment, experiment.cells[0], 0)
    load_files._in_memory.clear()
    now = sources.digest_of(folder / "beside.py")
    with pytest.raises(
        ValueError,
        match=f"beside.py was edited: its digest is {now}, in the games of this run {before}",
    ):
        match_of(experiment, experiment.cells[0], 0)


GAME = """
import attrs
from icarus import MAST, games
from further import TAU
MINE = attrs.evolve(games.load("kuhn-poker"), name="mine")
QUICK = attrs.evolve(MAST, name="QUICK")
"""
TOML = 'games = ["kuhn-poker", "game.py"]\niterations = 5\ntrials = 1\nagents = ["BASELINE >> QUICK"]\n'


def test_a_toml_file_names_the_file_of_a_game_which_is_digested(
    folder, call, monkeypatch, no_pictures
):
    monkeypatch.chdir(folder.parent)
    (folder / "game.py").write_text(GAME)
    (folder / "own.toml").write_text(TOML)
    code, _, errors = call("run", folder / "own.toml", "--workers", 1, "--out", "run")
    assert code == 0, errors
    cells = store.experiment_in(folder.parent / "run").cells
    assert [cell.column.game for cell in cells] == ["kuhn-poker", "mine"]
    for cell in cells:
        assert cell.module == str(folder / "game.py")
        assert dict(cell.imports).keys() == {"further.py"}
        assert cell.source == sources.digest_of(folder / "game.py")
    assert call("verify", "run")[0] == 0
    (folder / "game.py").write_text(GAME + "# edited\n")
    done = Command(folder.parent)("verify", "run")
    assert done.returncode == 2
    assert f"{folder / 'game.py'} was edited: its digest is" in done.stderr


@pytest.mark.parametrize(
    ("games", "message"),
    [
        (
            '["game.py", "further.py"]',
            "games: game.py and further.py are two files; write the experiment as a .py file",
        ),
        (
            '"further.py"',
            "has no Game(…) or PythonGame(…); give a game that a function makes by its name, and write the",
        ),
        ('"none.py"', "none.py"),
    ],
)
def test_a_file_in_a_table_that_is_no_game_is_refused(folder, games, message):
    (folder / "own.toml").write_text(TOML.replace('["kuhn-poker", "game.py"]', games))
    with pytest.raises(ValueError, match=f"own.toml: .*{re.escape(message)}"):
        loading.load(str(folder / "own.toml"), {})


# -------------------- The sequential test: its likelihoods, its errors, and the games that it asks for.


PAIR = [-1.0, -0.5, 0.0, 0.5, 1.0]  # the scores of a pair of mirrored games
TABLE = {
    "name": "mine",
    "games": "othello",
    "iterations": 10,
    "trials": 400,
    "sprt": True,
    "agents": {"even": "BASELINE", "good": "RAVE", "bad": "BASELINE >> MAST"},
}


def test_the_ratio_agrees_with_the_normal_approximation_near_the_hypotheses():
    scores = Counter({0.0: 1000, 0.5: 800, -0.5: 700, 1.0: 50, -1.0: 40})
    games = scores.total()
    mean = sum(score * count for score, count in scores.items()) / games
    variance = sum((score - mean) ** 2 * count for score, count in scores.items()) / games
    assert log_ratio(scores, PAIR, 0.03) == pytest.approx(
        games * 0.03 * (2 * mean - 0.03) / (2 * variance), rel=0.02
    )


def test_the_ratio_of_wins_and_losses_is_that_of_the_binomial():
    """Where only two scores are seen, a mean fixes their chances: 1 with p = (1 + mean) / 2, else -1."""
    scores = Counter({1.0: 530, -1.0: 470})
    expected = 530 * math.log(0.55 / 0.5) + 470 * math.log(0.45 / 0.5)
    assert log_ratio(scores, [-1.0, 1.0], 0.1) == pytest.approx(expected, abs=1e-3)


RUNS = 80
SPREAD = math.sqrt(0.05 * 0.95 / RUNS)  # the standard error of a share of 5 %


def share_found_better(mean, runs=RUNS):
    """How often tests end with "better" if the scores of pairs have that mean."""
    generator, answers = np.random.default_rng(1), Counter()
    chances = [0.05, 0.25 - mean / 2, 0.4 - mean / 2, 0.25 + mean / 2, 0.05 + mean / 2]
    assert sum(chances) == pytest.approx(1)
    assert np.dot(chances, PAIR) == pytest.approx(mean)
    for _ in range(runs):
        scores = Counter()
        while (answer := decision(scores.elements(), 2, Sprt())) is None:
            scores.update(PAIR[i] for i in generator.choice(5, ROUND, p=chances))
        answers[answer] += 1
    return answers[BETTER] / runs


def test_an_agent_that_is_no_better_is_found_better_in_one_of_twenty_tests():
    assert share_found_better(0.0) < 0.05 + 2.3 * SPREAD


def test_an_agent_that_is_better_by_the_margin_is_missed_in_one_of_twenty_tests():
    assert share_found_better(0.05) > 0.95 - 2.3 * SPREAD


class Oracle(Workers):
    """Players whose games end as decided beforehand by cell, deal and seat, in an order of their own."""

    def __init__(self, seed, limit=10**9):
        super().__init__()
        self._order, self._limit, self.played = random.Random(seed), limit, 0

    def results(self, play, games):
        waiting = list(games)
        self._order.shuffle(waiting)
        for game in waiting:
            if self.played == self._limit:
                raise KeyboardInterrupt
            self.played += 1
            strength = {"even": 0.5, "good": 0.8, "bad": 0.35}[game.labels["agent"]]
            cell, trial = game.key
            yield row_of_match(game, win=random.Random(f"{cell} {trial}").random() < strength)


def wins_of(directory, experiment):
    return {(row["cell"], row["trial"]): row["win"] for row in store.rows(directory, experiment)}


def test_a_run_stopped_and_continued_comes_to_the_same_decisions_after_the_same_games(tmp_path):
    experiment = build(TABLE)
    play(experiment, tmp_path / "whole", Oracle(1))
    for seed, limit in enumerate((1, 17, 60, 3, 150)):
        with pytest.raises(KeyboardInterrupt):
            play(experiment, tmp_path / "parts", Oracle(seed, limit))
    play(experiment, tmp_path / "parts", Oracle(9))
    assert wins_of(tmp_path / "parts", experiment) == wins_of(tmp_path / "whole", experiment)
    again = Oracle(1)
    play(experiment, tmp_path / "whole", again)
    assert again.played == 0
    assert state_of(results_of(tmp_path / "whole"), running=False).endswith("\ncomplete")
    verdicts, complete = sequential.verdicts(experiment, wins_of(tmp_path / "whole", experiment))
    assert complete
    assert {cell.agent: answer for cell, (answer, _) in verdicts.items()} == {
        "good": BETTER,
        "bad": NOT_BETTER,
    }
    even, good, bad = (
        sum(key == cell.key for key, _ in wins_of(tmp_path / "whole", experiment))
        for cell in experiment.cells
    )
    assert even == max(good, bad) < 400
    assert {cell.agent: 2 * units for cell, (_, units) in verdicts.items()} == {
        "good": good,
        "bad": bad,
    }


class Purse(Workers):
    """Players who get money by cell and deal, never a reward of 1; who plays by RAVE gets 0.2 more in every game."""

    def results(self, play, games):
        for game in games:
            reward = 0.25 * random.Random(f"{game.seed} {game.key[1]}").randrange(3)
            reward += 0.2 if game.labels["agent"] == "good" else 0.0
            yield row_of_match(game, win=False, reward=reward, returns=[reward, 1 - reward])


def test_rewards_are_compared_where_nobody_wins(tmp_path):
    experiment = build(
        {
            **TABLE,
            "games": "kuhn-poker",
            "agents": {"even": "BASELINE", "good": "RAVE", "same": "MAST"},
        }
    )
    play(experiment, tmp_path, Purse())
    results = results_of(tmp_path)
    verdicts, complete = sequential.verdicts(experiment, results.outcomes())
    assert complete
    assert {cell.agent: answer for cell, (answer, _) in verdicts.items()} == {
        "good": BETTER,
        "same": NOT_BETTER,
    }


def test_the_time_left_of_a_sequential_test_is_of_agents_that_are_not_decided(tmp_path):
    """Of 400 games of 10 seconds each, one after the other, two of three agents have 272 left: 5440 seconds."""
    experiment = build(TABLE)
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    wins = {"even": (0,), "bad": (2,), "good": range(4)}
    games = itertools.product(range(128), experiment.cells)
    rows = [
        a_row(
            cell,
            trial,
            win=trial % 4 in wins[cell.agent],
            started=(start + datetime.timedelta(seconds=10 * place)).isoformat(),
            seconds=10.0,
        )
        for place, (trial, cell) in enumerate(games)
    ]
    results = results_of(keep(tmp_path, experiment, rows))
    answers, complete = sequential.verdicts(experiment, results.outcomes())
    assert [cell.agent for cell in answers] == ["good"]
    assert not complete
    assert "at most 1 h 30 min left at its last pace" in state_of(results, running=False)


def test_in_a_sequential_test_the_games_of_a_deal_count_as_one_in_the_report(tmp_path, no_pictures):
    """By hand: of four deals the shares won are twice 1/2 more, twice 1/2 less; of the fifth an agent has played one game of two.

    By t of three degrees of freedom, 3.182 (1 / 12)^(1/2) is 91.9 %.
    """
    experiment = build(TABLE)
    wins = {"even": [0, 0, 0, 1, 1, 1, 1, 0, 0, 0], "good": [1, 0, 1, 1, 0, 1, 0, 0, 1]}
    games = [
        a_row(cell, trial, win=bool(win))
        for cell in experiment.cells
        for trial, win in enumerate(wins.get(cell.agent, ()))
    ]
    write(keep(tmp_path, experiment, games))
    page = (tmp_path / "report.md").read_text()
    assert "the share of games won less the opponent's in its place" in page
    assert "| good | +0.0 % | −91.9 % to +91.9 % | 4 |" in page
    assert "McNemar" not in page


def test_a_pair_of_mirrored_games_has_the_same_deal_for_all_agents_and_seats():
    experiment = build(TABLE)
    seeds = {
        (trial, experiment.game_seed(cell, trial))
        for cell in experiment.cells
        for trial in range(4)
    }
    assert len(seeds) == 4
    assert experiment.game_seed(experiment.cells[0], 0) == experiment.game_seed(
        experiment.cells[2], 1
    )
    assert experiment.game_seed(experiment.cells[0], 0) != experiment.game_seed(
        experiment.cells[0], 2
    )
    assert [experiment.cells[0].seat(trial) for trial in (0, 1)] == [0, 1]


def test_paired_agents_meet_the_same_deals_and_others_do_not():
    paired, single = (build({**TABLE, "sprt": False, "paired": paired}) for paired in (True, False))
    assert len({paired.game_seed(cell, 5) for cell in paired.cells}) == 1
    assert len({paired.game_seed(paired.cells[0], trial) for trial in range(9)}) == 9
    assert len({single.game_seed(cell, 5) for cell in single.cells}) == 3
    two_budgets = build({**TABLE, "sprt": False, "paired": True, "iterations": [10, 20]})
    assert len({two_budgets.game_seed(cell, 5) for cell in two_budgets.cells}) == 2


def test_paired_games_have_the_same_chance_events():
    """Backgammon's dice do not depend on how it is played."""
    changes = {
        "games": "backgammon",
        "iterations": 2,
        "paired": True,
        "agents": ["BASELINE", "RAVE"],
    }
    experiment = build({**TABLE, "sprt": False, **changes})
    dice = [
        [action for player, action in match_of(experiment, cell, 0).play().actions if player < 0]
        for cell in experiment.cells
    ]
    shortest = min(map(len, dice))
    assert shortest > 20
    assert dice[0][:shortest] == dice[1][:shortest]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"agents": ["RAVE"]}, "sprt: the opponent BASELINE must be among the agents"),
        ({"trials": 401}, "trials: 401 is not a multiple of 2"),
        ({"seats": [0, 1, 0]}, "seats: 0 is there 2 times; a sequential test plays each deal once"),
        ({"sprt": {"margin": 0.6}}, "Expected `float` < 0.5 - at `$.sprt.margin`"),
    ],
)
def test_a_wrong_test_is_refused(changes, message):
    with pytest.raises(ValueError) as refused:
        build({**TABLE, **changes})
    assert message in str(refused.value)


def test_a_sequential_test_cannot_be_divided_between_machines(tmp_path):
    with pytest.raises(ValueError, match="cannot be divided"):
        next(run(build(TABLE), tmp_path / "run", Oracle(1), part("1/2")))
    assert not (tmp_path / "run").exists()
