"""Experiments of one's own: their report has their own titles, and no statements of the paper."""

from pathlib import Path

import attrs
import pytest

from experiments import results as store
from experiments.commands import main
from experiments.plan.loading import KEYS, build, load
from experiments.report import write
from icarus import games
from tests.experiments.conftest import Invented, a_row, keep, play

N = {
    "name": "mine",
    "games": "othello",
    "trials": 3,
    "iterations": 5,
    "agents": {"N": "BASELINE >> NAST2", "-": "BASELINE"},
}


@pytest.fixture
def run(tmp_path):
    """An agent called N in a game of the paper, against the baseline."""
    experiment = build(N)
    return keep(tmp_path, experiment, [a_row(cell, trial) for cell, trial in experiment.games()])


def test_its_report_begins_with_its_results(run, capsys):
    write(run)
    text = (run / "report.md").read_text()
    assert "Paper against ours" not in text and "Figure 4" not in text
    assert "![The agents of the experiment, by game.](figures/agents-othello.png)" in text
    assert main(["claims", str(run)]) == 0  # on request
    assert "Of 37 statements of section 8" in capsys.readouterr().out


def test_one_that_was_drawn_as_figure_4_is_not_called_so(tmp_path):
    experiment = build({**N, "pictures": ["figure4"]})
    keep(tmp_path, experiment, [a_row(cell, trial) for cell, trial in experiment.games()])
    write(tmp_path)
    assert (
        "![The agents of the experiment, by game.](figures/figure4-othello.png)" in (tmp_path / "report.md").read_text()
    )


def test_other_pictures_are_no_other_experiment(run):
    pool = Invented()
    play(build({**N, "pictures": ["figure4"]}), run, pool)
    assert pool.played == [] and store.experiment_in(run).pictures == ("figure4",)


def test_a_game_with_parameters_and_without_defaults_is_played_under_its_full_name(monkeypatch):
    game = attrs.evolve(games.load("knockout-whist"), name="mine", defaults={})
    monkeypatch.setitem(games.GAMES, "mine", game)
    cells = build({**N, "games": ["othello", "mine"]}).cells
    assert {cell.column.game for cell in cells} == {"othello", str(game)} and games.load(str(game)) is game


def test_the_report_of_searches_in_a_game_of_ones_own_loads_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(games, "GAMES", dict(games.GAMES))
    (file := tmp_path / "own.py").write_text(
        "import attrs\nfrom icarus import games\nMINE = attrs.evolve(games.load('othello'), name='mine')\n"
    )
    games.GAMES["mine"] = attrs.evolve(games.load("othello"), name="mine")
    built = build({**N, "games": "mine", "seats": 0, "agents": {"SO-ISMCTS": {"scheme": "SO_ISMCTS"}}})
    experiment = attrs.evolve(built, cells=tuple(attrs.evolve(cell, module=str(file)) for cell in built.cells))
    run = keep(tmp_path / "run", experiment, [a_row(cell, trial) for cell, trial in experiment.games()])
    del games.GAMES["mine"]  # as it is in another process
    write(run)
    assert "SO-ISMCTS" in (run / "report.md").read_text() and "mine" in games.GAMES


OWN = """
import attrs
from icarus import MAST, games, gibbs
SHARP = attrs.evolve(MAST(gibbs(0.1)), name="SHARP")
MINE = attrs.evolve(games.load("kuhn-poker"), name="mine")
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The file of an enhancement and a game, beside a TOML file that names them."""
    monkeypatch.setattr(games, "GAMES", dict(games.GAMES))
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN)
    Path("mine.toml").write_text(
        "games = ['mine', 'kuhn-poker']\niterations = 5\ntrials = 2\nagents = ['BASELINE >> SHARP']"
    )
    return tmp_path / "own.py"


def test_an_experiment_names_what_a_file_of_with_defines_and_is_continued_with_it(own, call):
    command = ["run", "mine.toml", "--workers", 1, "--with", "own.py", "--out", "run"]
    code, out, _ = call(*command)
    assert code == 0 and "Mine: 5 iterations" in out
    assert {cell.module for cell in store.experiment_in(Path("run")).cells} == {str(own)}
    assert call(*command, "--trials", 3)[0] == 0
    assert call("verify", "run")[0] == 0
    own.write_text(OWN.replace("0.1", "0.2"))
    code, _, errors = call(*command)
    assert code == 2 and "own.py was edited" in errors


def test_experiments_of_the_papers_take_a_file_too(own):
    for name in ("figure5", "temperature", "searches-phantom"):
        assert all(cell.module == str(own) for cell in load(name, {}, own).cells)
    assert {cell.column.game for cell in load("figure5", {"games": ["mine"]}, own).cells} == {"mine"}


@pytest.mark.parametrize(
    ("file", "experiment", "sentence"),
    [
        ("none.py", "mine.toml", "--with: there is no file 'none.py'"),
        ("mine.toml", "mine.toml", "--with: 'mine.toml' is not a Python file"),
        ("empty.py", "mine.toml", "--with: 'empty.py' defines no game, enhancement"),
        ("own.py", "empty.py", "a .py file imports what it uses; import own.py there"),
        ("own.py", "other.toml", "games: game.py is another file than that of --with; import it in own.py"),
    ],
)
def test_a_file_of_with_that_cannot_be_used_is_refused(own, call, file, experiment, sentence):
    Path("empty.py").write_text("")
    Path("game.py").write_text(OWN)
    Path("other.toml").write_text("games = 'game.py'\niterations = 5\nagents = ['BASELINE']")
    code, _, errors = call("run", experiment, "--with", file, "--out", "run")
    assert code == 2 and sentence in errors and not Path("run").exists()


def test_a_table_in_a_file_or_a_pipe_is_at_most_80_characters_wide(tmp_path, call):
    agents = {"RAVE and all": "RAVE >> (MAST + LGRF + NAST2)/3", "-": "BASELINE"}
    for name, table in (("named", agents), ("listed", list(agents.values()))):
        experiment = build({**N, "agents": table})
        rows = [a_row(cell, trial, reward=0.5, returns=[0.5, 0.5], win=False) for cell, trial in experiment.games()]
        code, out, _ = call("report", keep(tmp_path / name, experiment, rows))
        assert code == 0 and "50.0 %" in out and max(map(len, out.splitlines()[:12])) <= 80
        assert out.startswith("Othello: 5 iterations per decision, against BASELINE\n")
        assert ("Strategy" in out) == (name == "named")


PAGE = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()


@pytest.mark.parametrize("key", KEYS)
def test_every_key_of_a_table_has_a_line_on_its_page(key):
    assert f"\n| `{key}` | " in PAGE


def test_the_experiment_on_its_page_is_one(tmp_path):
    tables = PAGE.split("```toml\n")[1:]
    (tmp_path / "rave-k.toml").write_text("".join(text.partition("```")[0] for text in tables))
    experiment = load(str(tmp_path / "rave-k.toml"), {})
    assert experiment.name == "rave-k" and len(experiment.cells) == 2 * 5
    (tmp_path / "own.py").write_text(PAGE.split("```python\n")[1].partition("```")[0])
    assert [cell.agent for cell in load(str(tmp_path / "own.py"), {}).cells] == ["mast", "baseline"]
