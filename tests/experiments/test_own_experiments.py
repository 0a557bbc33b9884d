"""Experiments of one's own: their report has their own titles, and no statements of the paper."""

from pathlib import Path

import attrs
import pytest

from experiments.commands.main import main
from experiments.plan.building import KEYS, build
from experiments.plan.loading import load
from experiments.play import running
from experiments.report.report import write
from experiments.store import rows as store
from icarus import games
from tests.experiments.conftest import a_row, keep
from tests.experiments.test_growth import Pool

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
    pool = Pool()
    running.run(build({**N, "pictures": ["figure4"]}), run, pool)
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
