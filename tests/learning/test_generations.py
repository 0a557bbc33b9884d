"""Learning: the same file for any number of workers and after Ctrl-C, targets by hand, and what is refused before the first game."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs
import numpy as np
import pytest
from sklearn.neural_network._multilayer_perceptron import BaseMultilayerPerceptron

from icarus import PythonGame, games, in_python, learn
from icarus.audit import AuditReport
from icarus.bridges.seats import game_of
from icarus.commands import new
from icarus.commands.cli import run
from icarus.compiler import python_of
from icarus.discovery.discover import plan_race
from icarus.kernel import CHANCE, TERMINAL, Evaluation, below, read_evaluation
from icarus.learning import generations
from icarus.learning.encoding import empty_evaluation
from icarus.learning.generations import LearningProgress
from icarus.learning.report import blocks_of, generations_of, lines_on
from icarus.learning.selfplay import (
    FORCED,
    GREEDY,
    LONGEST_GAME,
    RANDOM,
    games_played,
    write_targets,
)
from icarus.load_files import digest_of, load_file
from icarus.views.document import text_of
from tests.learning.conftest import JUDGE, KUHN, SMALL


def test_what_is_learned_is_kept_with_its_curve_and_rows(learned):
    out, evaluation = learned
    assert read_evaluation(out).digest == evaluation.digest
    assert [each.number for each in generations_of(evaluation)] == [1, 2]
    assert generations_of(evaluation)[0].is_taken
    assert generations_of(evaluation)[0].against_before is None
    directory = out.with_suffix(".learning")
    names = {path.name for path in directory.iterdir()}
    assert names == {
        "learning.json",
        "games.jsonl",
        "curve.html",
        "curve.svg",
        *(f"generation-{i}.npz" for i in range(3)),
    }
    # Of each deal both seats and a game of the opponent alone, against the reference twice and the generation before once.
    assert len((directory / "games.jsonl").read_text().splitlines()) == 3 * 2 * 3
    assert (
        f"@{read_evaluation(directory / 'generation-2.npz').digest}"
        in (directory / "games.jsonl").read_text()
    )
    assert "<circle" in (directory / "curve.svg").read_text()


def test_two_workers_learn_the_same(learned, tmp_path):
    assert (
        learn(KUHN, out=tmp_path / "kuhn.npz", workers=2, **SMALL).to_bytes()
        == learned[1].to_bytes()
    )


def test_after_ctrl_c_the_same_call_goes_on(learned, tmp_path):
    out = tmp_path / "kuhn.npz"

    def stop(report: LearningProgress) -> None:
        if report.generation == 2 and report.stage == "match" and report.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        learn(KUHN, out=out, report=stop, **SMALL)
    assert [each.number for each in generations_of(read_evaluation(out))] == [1]
    reports: list[LearningProgress] = []
    again = learn(KUHN, out=out, report=reports.append, **SMALL)
    assert again.to_bytes() == learned[1].to_bytes() == out.read_bytes()
    assert {each.stage for each in reports} == {"match"}
    # all games of the first generation are kept, and one of the second
    told = [(each.generation, each.done) for each in reports]
    assert told == [(1, 6), *((2, done) for done in [*range(1, 7), *range(7)])]
    assert {each.total for each in reports} == {6}


def test_ctrl_c_in_a_fit_ends_it_and_keeps_no_weights_of_it(learned, tmp_path, monkeypatch):
    out, calls = tmp_path / "kuhn.npz", list[int]()
    backprop = BaseMultilayerPerceptron._backprop

    def stop(*given):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return backprop(*given)

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(BaseMultilayerPerceptron, "_backprop", stop)
        learn(KUHN, out=out, **SMALL)
    assert learn(KUHN, out=out, **SMALL).to_bytes() == learned[1].to_bytes()


def test_numbers_of_numpy_learn_what_python_s_own_do(learned):
    of_numpy = {
        name: np.int64(value) if isinstance(value, int) else value for name, value in SMALL.items()
    }
    assert learn(KUHN, seed=np.int64(0), **of_numpy).to_bytes() == learned[1].to_bytes()


def test_a_directory_that_was_moved_or_is_named_otherwise_plays_nothing_again(
    learned, tmp_path, monkeypatch
):
    shutil.copytree(learned[0].parent, tmp_path, dirs_exist_ok=True)
    rows = tmp_path / "kuhn.learning" / "games.jsonl"
    before = rows.read_bytes()
    monkeypatch.chdir(tmp_path)
    for out in ("kuhn.npz", tmp_path / "kuhn.npz"):
        assert learn(KUHN, out=out, **SMALL).to_bytes() == learned[1].to_bytes()
        assert rows.read_bytes() == before


def test_a_call_without_time_reads_all_generations_that_are_kept(learned, tmp_path):
    shutil.copytree(learned[0].with_suffix(".learning"), tmp_path / "kuhn.learning")
    settings = SMALL | {"generations": None, "minutes": 1e-6}
    again = learn(KUHN, out=tmp_path / "kuhn.npz", report=None, **settings)
    assert again.to_bytes() == learned[1].to_bytes()


def test_a_seed_says_all_and_another_one_learns_something_else(learned):
    assert learn(KUHN, **SMALL).to_bytes() == learned[1].to_bytes()
    other = learn(KUHN, **{**SMALL, "generations": 1, "seed": 1})
    one = learn(KUHN, **{**SMALL, "generations": 1})
    assert (other.network.hidden.shape, other.network.hidden.tobytes()) != (
        one.network.hidden.shape,
        one.network.hidden.tobytes(),
    )


def test_a_disk_that_fills_loses_no_generation(tmp_path, capsys, monkeypatch):
    play_small(monkeypatch)
    monkeypatch.chdir(tmp_path)
    Path("kuhn-poker.npz.new").symlink_to("/dev/full")
    command = ["learn", KUHN, "--generations", "1"]
    assert run(command) == 2
    assert "cannot be used: no space left on device" in capsys.readouterr().err
    assert not Path("kuhn-poker.npz").exists()
    first = Path("kuhn-poker.learning/generation-1.npz")
    content, rows = first.read_bytes(), Path("kuhn-poker.learning/games.jsonl").read_bytes()
    Path("kuhn-poker.npz.new").unlink(missing_ok=True)
    monkeypatch.setattr("icarus.learning.generations.play_chunk", None)  # nothing is played again
    assert run(command) == 0
    assert (first.read_bytes(), Path("kuhn-poker.learning/games.jsonl").read_bytes()) == (
        content,
        rows,
    )
    assert read_evaluation("kuhn-poker.npz").about["generations"]


def test_ctrl_c_ends_the_command_with_what_there_is(tmp_path, capsys, monkeypatch):
    play_small(monkeypatch)
    monkeypatch.chdir(tmp_path)
    play = generations.Learning._play

    def interrupted_in(round_number: int) -> None:
        def stop(self, evaluation: Evaluation, number: int, *rest):
            if number == round_number:
                raise KeyboardInterrupt
            return play(self, evaluation, number, *rest)

        monkeypatch.setattr(generations.Learning, "_play", stop)

    interrupted_in(1)
    assert run(["learn", KUHN]) == 130
    assert not Path("kuhn-poker.npz").exists()
    interrupted_in(2)
    assert run(["learn", KUHN]) == 130
    told = capsys.readouterr()
    assert "The file has generation 1" in told.out
    assert "to continue" in told.err
    assert [each.number for each in generations_of(read_evaluation("kuhn-poker.npz"))] == [1]


def test_a_python_game_is_played_by_the_same_loop():
    game = in_python(games.load(KUHN))
    empty = empty_evaluation(game, 0)
    positions = games_played(game, empty, 5, (1,))
    compiled = games.load(KUHN)
    as_compiled = games_played(compiled, empty_evaluation(compiled, 0), 5, (1,))
    assert positions.rewards.tolist() == as_compiled.rewards.tolist()
    assert positions.targets.tolist() == positions.rewards.tolist()
    assert positions.branches.sum() >= 5


def test_targets_by_hand():
    after = np.array([[0.6, 0.4], [0.5, 0.5], [0.0, 0.0], [0.3, 0.7]])
    values = np.array([[9.0, 9.0], [9.0, 9.0], [9.0, 9.0], [0.2, 0.8]])
    how = np.array([GREEDY, RANDOM, FORCED, GREEDY])
    targets, rewards = np.zeros((4, 2)), np.zeros((4, 2))
    table = SimpleNamespace(
        usual=values,
        after=after,
        how=how,
        values=np.array([1.0, 0.0]),
        targets=targets,
        rewards=rewards,
    )
    python_of(write_targets)(table, 0, 4, 0.5)
    last = 0.5 * 0.3 + 0.5 * 1.0  # half the value after the best action, half the reward
    forced = 0.5 * 0.2 + 0.5 * last  # half the value of the next position, half its target
    assert targets[:, 0] == pytest.approx([0.5 * 0.6 + 0.5 * 0.5, 0.5, forced, last])
    assert rewards[:, 0].tolist() == [1.0] * 4


# ------------------------------------------------------------------------------------------------------------------- refused


def never_ends(state):
    return 0


def constant(rng) -> list[int]:
    return [0]


def end(state, action):
    state.clear()


def test_a_game_of_which_nothing_can_be_learned_is_refused():
    plain = in_python(games.load(KUHN))
    with pytest.raises(ValueError, match=f"did not end within {LONGEST_GAME} actions"):
        learn(
            attrs.evolve(
                plain,
                player=never_ends,
                legal=lambda state: [0],
                apply=lambda state, action: None,
                chance=None,
            )
        )
    one = attrs.evolve(
        plain, initial=constant, player=lambda state: 0 if state else -4, legal=lambda state: [0, 1], apply=end, copy=list,
        rewards=lambda state: [1.0, 0.0], observe=None, determinize=None, prepare=None, recall=None, episode=None, features=None,
    )  # fmt: skip
    with pytest.raises(ValueError, match="no fact of kuhn-poker varies"):
        learn(one)
    rare = PythonGame(
        name="rare",
        players=1,
        initial=lambda rng: [int(below(rng, 60) == 0)],
        player=lambda state: TERMINAL if len(state) == 2 else 0,
        legal=lambda state: [0, 1],
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [float(state[0] == state[1])],
        max_length=1,
    )
    # chance ends most of these games before anybody has to decide
    ended = attrs.evolve(
        rare,
        initial=lambda rng: [0, 0],
        player=lambda state: (CHANCE, TERMINAL, TERMINAL if state[1] == 4 else 0)[state[0]],
        legal=lambda state: [0, 1] if state[0] else [1, 2],
        apply=lambda state, action: state.__setitem__(*((1, state[1] + 1) if state[0] else (0, action))),
        chance=lambda state: [0.95, 0.05],
        rewards=lambda state: [state[0] / 2],
        max_length=6,
    )  # fmt: skip
    with pytest.raises(ValueError, match="a round of rare have too few positions to learn from"):
        learn(ended, games=40, rounds=1, iterations=2, deals=2, generations=1, seed=1)
    with pytest.raises(ValueError, match="no fact of rare varies in the games of its first round"):
        learn(rare, games=40, rounds=1, iterations=2, deals=2, generations=1, seed=1)


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"games": 7}, "games is 7"),
        ({"generations": 0}, "generations is 0"),
        ({"minutes": -1}, "minutes is -1"),
        ({"seed": -2}, "seed is -2"),
        ({"judge": "NOTHING"}, "NOTHING"),
        ({"judge": "RAVE   [scheme = DeterminizedUCT(40)]", "iterations": 39}, "iterations is 39"),
        *(
            ({"out": name}, f"out is '{name}', the name of a directory; it must be that of a file")
            for name in (".", "/", "x.learning")
        ),
    ],
)
def test_bad_settings_are_refused(settings, sentence):
    with pytest.raises(ValueError, match=sentence):
        learn(KUHN, **settings)


def test_a_game_that_other_processes_cannot_be_given_is_refused():
    game = attrs.evolve(in_python(games.load(KUHN)), text=lambda state: "cards")
    with pytest.raises(
        ValueError, match=r"other processes cannot be given kuhn-poker: .*workers=1"
    ):
        learn(game, workers=2, **SMALL)


def test_a_game_of_a_loaded_file_is_sent_by_its_name_alone(tmp_path):
    file = tmp_path / "coin.py"
    file.write_text(
        "class Coin:\n"
        "    thrown = ()\n"
        "    def num_players(self): return 1\n"
        "    def is_terminal(self): return bool(self.thrown)\n"
        "    def current_player(self): return 0\n"
        "    def legal_actions(self): return [0, 1]\n"
        "    def apply_action(self, action): self.thrown = (action,)\n"
        "    def returns(self): return self.thrown\n"
    )
    game = game_of(load_file(file).Coin)
    with pytest.raises(ValueError, match="given Coin: it is of a file that was loaded here; give"):
        learn(game, workers=2, **SMALL)


def test_the_name_of_one_file_is_no_list_of_files():
    with pytest.raises(TypeError, match="files is 'mine.py'; it must be a list"):
        learn(KUHN, files="mine.py")


def test_other_processes_find_the_files_wherever_they_have_begun(tmp_path, monkeypatch):
    def refuse(game, files, *arguments) -> None:
        raise LookupError(*files)

    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("from icarus import MAST as MINE\n")
    monkeypatch.setattr(generations, "Learning", refuse)
    with pytest.raises(LookupError) as stopped:
        learn("kuhn-poker", files=["mine.py"], out="learned.npz")
    assert stopped.value.args == ((str(tmp_path / "mine.py"), digest_of("mine.py")),)
    assert (
        json.loads(Path("learned.learning/learning.json").read_text())["files"][0][0] == "mine.py"
    )


def test_a_directory_of_another_learning_is_refused(learned):
    with pytest.raises(ValueError, match="has another learning: seed is 0 there and 1 here"):
        learn(KUHN, out=learned[0], seed=1, **SMALL)


def test_a_file_may_be_named_from_the_folder_or_without_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text("from icarus import RAVE\nOWN = RAVE")
    settings = SMALL | {"generations": 1, "games": 40}
    one, same = (
        learn(KUHN, out="kuhn.npz", files=[name], **settings) for name in ("own.py", "./own.py")
    )
    assert one.to_bytes() == same.to_bytes()
    one, same = (plan_race(KUHN, games=9000, files=[name]) for name in ("own.py", "./own.py"))
    assert one == same


def test_generations_without_the_settings_that_they_were_made_by_are_refused(learned, tmp_path):
    directory = tmp_path / "kuhn.learning"
    directory.mkdir()
    shutil.copy(learned[0].with_suffix(".learning") / "generation-0.npz", directory)
    with pytest.raises(ValueError, match=r"there is no learning\.json in it"):
        learn(KUHN, out=tmp_path / "kuhn.npz", **SMALL)


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"pip install 'icarus-mcts\[learn\]'"):
        learn(KUHN)


def test_commands_take_the_file(learned, capsys):
    text = "BASELINE [scheme = MO_ISMCTS with cutoff=0]"
    options = ["--iterations", "8", "--games", "2", "--evaluation", str(learned[0])]
    assert run(["match", KUHN, text, "BASELINE", *options]) == 0
    assert "cutoff=0" in capsys.readouterr().out
    assert run(["match", "leduc-poker", text, "BASELINE", *options]) == 2
    assert "is of the game kuhn-poker, not of leduc-poker" in capsys.readouterr().err
    assert run(["search", KUHN, "--evaluation", "kuhn.txt"]) == 2
    assert "--evaluation is 'kuhn.txt'" in capsys.readouterr().err


def test_an_evaluation_is_told_by_error_range_sum_and_rate(learned):
    told = "\n".join(lines_on(games.load(KUHN), learned[1], 0))
    assert "in 200 games against itself, where knowing nothing has" in told
    assert "and sum to 1.000 to 1.000" in told
    assert "µs" in told


def test_the_games_that_were_played_are_told(learned):
    evaluation = learned[1]
    asked = attrs.evolve(evaluation, about=evaluation.about | {"games": 41, "rounds": 3})
    assert "up to 144 games each" in text_of(list(blocks_of(asked)))


def test_values_no_better_than_the_mean_reward_are_told_to_need_more_games(learned):
    evaluation = learned[1]
    told = "no nearer to the rewards than the mean reward is"
    for error, is_told in [(0.3, True), (0.2, False)]:
        generations = [
            row | {"error": error, "variance": 0.25} for row in evaluation.about["generations"]
        ]
        asked = attrs.evolve(evaluation, about=evaluation.about | {"generations": generations})
        assert (told in text_of(list(blocks_of(asked)))) is is_told


def test_the_command_goes_on_and_tells_the_curve(learned, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    play_small(monkeypatch)
    assert run(["learn", KUHN, "--games", "80", "--generations", "1"]) == 0
    assert "kept in kuhn-poker.learning" in capsys.readouterr().err
    assert Path("kuhn-poker.npz").exists()
    assert run(["learn", KUHN, "--out", "x.txt"]) == 2
    assert "must end with .npz" in capsys.readouterr().err


def test_the_command_tells_at_once_that_a_generation_takes_longer(
    learned, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    play_small(monkeypatch, rounds=3)
    assert run(["learn", KUHN, "--games", "40", "--minutes", "0.0001"]) == 0
    errors = capsys.readouterr().err
    assert errors.count("more than --minutes 0.0001; this one goes on to its end") == 1
    assert run(["learn", KUHN, "--games", "40", "--generations", "2"]) == 0
    assert "more than" not in capsys.readouterr().err


def test_a_file_is_audited_once_for_all_commands(tmp_path, monkeypatch):
    made = list[str]()

    def counted(game, **how) -> AuditReport:
        made.append(str(game))
        return AuditReport(str(game), 1, 1, 1, False, (), 1.0)

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(new, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(new, "audit", counted)
    play_small(monkeypatch, besides="iterations")
    file = str(Path(__file__).parents[2] / "examples" / "second_chance.py")
    assert run(["learn", file, "--games", "40", "--generations", "1", "--out", "own.npz"]) == 0
    assert json.loads(Path("own.learning/learning.json").read_text())["iterations"] == 25
    proof = ["--candidate", JUDGE, "--against", "BASELINE", "--games", "70", "--iterations", "5"]
    assert run(["discover", file, *proof, "--evaluation", "own.npz"]) == 0
    assert made == ["second-chance"]


def play_small(monkeypatch: pytest.MonkeyPatch, besides: str = "", **others: Any) -> None:
    """What is not given is small, but for one setting."""
    small = {name: SMALL[name] for name in SMALL if name not in ("generations", besides)}
    for kind in ("COMPILED", "PLAIN"):
        usual = getattr(generations, kind) | small | others
        monkeypatch.setattr(generations, kind, usual)
