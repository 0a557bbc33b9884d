"""What a Python file imports is digested with it: no two agents in one cell."""

import json
import re
import sys

import pytest

from experiments.plan import definition as sources
from experiments.plan import loading
from experiments.plan.definition import Refusal, from_settings, imports_of
from experiments.play import matches, running
from experiments.play.matches import Match
from experiments.store import rows as store
from icarus import load_files
from tests.experiments.conftest import Command, a_row

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
    yield tmp_path
    for name in ("beside", "further", "often", "often.near", "often.deep"):
        sys.modules.pop(name, None)


class Invented:
    """Plays nothing, but checks the files as whoever plays does."""

    def play(self, games):
        for match in games:
            sources.refuse_if_edited(match.cell)
            yield a_row(match.cell, match.trial)


def test_what_a_file_imports_is_found_wherever_it_stands_and_through_others(folder):
    digests = dict(imports_of(str(folder / "own.py")))
    assert list(digests) == ["beside.py", "further.py", "often/__init__.py", "often/deep.py", "often/near.py"]
    assert digests["further.py"] == sources.digest_of(folder / "further.py")


def test_a_file_that_imports_nothing_of_ones_own_is_kept_as_before(folder):
    (folder / "alone.py").write_text(
        "import math\nEXPERIMENT = {'games': 'othello', 'iterations': 5, 'agents': ['RAVE']}\n"
    )
    (cell,) = loading.load(str(folder / "alone.py"), {}).cells
    assert cell.imports == () and cell.source and "imports" not in cell.settings()


def test_settings_keep_what_the_imported_files_held(folder):
    experiment = loading.load(str(folder / "own.py"), {})
    assert from_settings(json.loads(json.dumps(experiment.settings()))) == experiment
    assert experiment.settings()["cells"][0]["imports"].keys() >= {"beside.py", "further.py"}


def test_a_run_is_refused_after_an_edit_of_a_file_that_its_file_imports(folder, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    running.run(loading.load(str(folder / "own.py"), {}), directory, Invented())
    before = sources.digest_of(folder / "further.py")
    (folder / "further.py").write_text("TAU = 0.001\n")
    load_files._in_memory.clear()  # another process
    now = sources.digest_of(folder / "further.py")
    message = f"{folder / 'further.py'} was edited after the run in {directory} had started: its digest is {now}, "
    message += f"in that run {before}"
    with pytest.raises(Refusal, match=re.escape(message)):
        running.run(loading.load(str(folder / "own.py"), {}), directory, Invented())


def test_a_match_is_refused_after_an_edit_and_names_the_file_and_both_digests(folder):
    (cell,) = loading.load(str(folder / "own.py"), {}).cells
    before = sources.digest_of(folder / "beside.py")
    (folder / "beside.py").write_text("TAU = 2.0\n")
    with pytest.raises(Refusal, match="beside.py was edited after this process had imported it; start the command"):
        matches.play_match(Match(cell, 0, (1, 2)))
    load_files._in_memory.clear()
    now = sources.digest_of(folder / "beside.py")
    with pytest.raises(Refusal, match=f"beside.py was edited: its digest is {now}, in the games of this run {before}"):
        matches.play_match(Match(cell, 0, (1, 2)))


GAME = """
import attrs
from icarus import MAST, games
from further import TAU
MINE = attrs.evolve(games.load("kuhn-poker"), name="mine")
QUICK = attrs.evolve(MAST, name="QUICK")
"""
TOML = 'games = ["kuhn-poker", "game.py"]\niterations = 5\ntrials = 1\nagents = ["BASELINE >> QUICK"]\n'


def test_a_toml_file_names_the_file_of_a_game_which_is_digested(folder, call, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (folder / "game.py").write_text(GAME)
    (folder / "own.toml").write_text(TOML)
    code, _, errors = call("run", folder / "own.toml", "--workers", 1, "--out", "run")
    assert code == 0, errors
    cells = store.experiment_in(folder.parent / "run").cells
    assert [cell.column.game for cell in cells] == ["kuhn-poker", "mine"]
    for cell in cells:
        assert cell.module == str(folder / "game.py") and dict(cell.imports).keys() == {"further.py"}
        assert cell.source == sources.digest_of(folder / "game.py")
    assert call("verify", "run")[0] == 0
    (folder / "game.py").write_text(GAME + "# edited\n")
    done = Command(folder.parent)("verify", "run")
    assert done.returncode == 2 and f"{folder / 'game.py'} was edited: its digest is" in done.stderr


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
    with pytest.raises(Refusal, match=f"own.toml: .*{re.escape(message)}"):
        loading.load(str(folder / "own.toml"), {})


def test_verify_names_an_imported_file_that_was_edited(folder, call, monkeypatch):
    monkeypatch.chdir(folder)
    assert call("run", "own.py", "--workers", 1, "--out", "run")[0] == 0
    assert call("verify", "run")[0] == 0
    (folder / "further.py").write_text("TAU = 2.0\n")
    done = Command(folder)("verify", "run")
    assert done.returncode == 2 and f"{folder / 'further.py'} was edited: its digest is" in done.stderr
    (folder / "further.py").write_text("TAU = 1.0\n")
    assert Command(folder)("verify", "run").returncode == 0


def test_a_run_of_before_imports_were_kept_goes_on_where_its_games_come_out_the_same(folder, tmp_path_factory):
    directory = tmp_path_factory.mktemp("run")
    experiment = loading.load(str(folder / "own.py"), {})
    settings = experiment.settings()
    del settings["cells"][0]["imports"]
    (cell,) = experiment.cells
    with store.writer(directory, from_settings(settings)) as writer:
        writer.append(matches.row(Match(cell, 0, experiment.game_seed(cell, 0))))
    running.run(experiment, directory, Invented())
    assert store.experiment_in(directory) == experiment
