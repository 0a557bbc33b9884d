"""The pictures are there, and show what they should."""

import random

import attrs
import numpy as np
import pytest
from matplotlib.image import imread

from experiments import figures, results as summary
from experiments.papers import PICTURES
from experiments.plan import loading
from experiments.report import write
from experiments.results import MILLION, STATISTICS, Moments
from icarus.arena.player import Entrant
from tests.experiments.conftest import a_row, built, keep


def results(name, games, rate, **changes):
    experiment = loading.load(name, {"games": ["othello"], **changes})
    columns = {
        column: [summary.Tally(cell=cell) for cell in experiment.cells if cell.column == column]
        for column in experiment.columns
    }
    for tally in (tally for tallies in columns.values() for tally in tallies):
        tally.games, tally.wins = games, rate(tally.cell, games)
    return columns


def invented(seed):
    generator = random.Random(seed)
    return lambda cell, games: generator.randrange(games // 3, 2 * games // 3)


def ink(path):
    """How much of an image is not white, and how many colours it has."""
    image = (imread(path)[:, :, :3] * 255).round().astype(np.int32)
    assert min(image.shape[:2]) > 300
    return float((image.min(axis=2) < 240).mean()), len(
        np.unique(image @ np.array([1 << 16, 1 << 8, 1], np.int32))
    )


def colour_is_shown(path, colour):
    image = (imread(path)[:, :, :3] * 255).round().astype(int)
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return bool((np.abs(image - wanted).max(axis=2) <= 2).sum() > 50)


def test_a_picture_is_drawn_as_png_and_svg_and_the_same_results_make_the_same(tmp_path):
    columns = results("figure4", 100, invented(1))
    drawn = figures.draw(columns, tmp_path, ["figure4", "figure3"])
    assert drawn == [tmp_path / "figure4-othello.png", tmp_path / "figure3.png"]
    for path in drawn:
        share, colours = ink(path)
        assert 0.01 < share < 0.6
        assert colours > 20
        assert path.with_suffix(".svg").read_text().rstrip().endswith("</svg>")
    (again,) = figures.draw(columns, tmp_path / "again", ["figure3"])
    assert again.with_suffix(".svg").read_bytes() == drawn[1].with_suffix(".svg").read_bytes()


def test_statements_are_drawn_of_games_that_are_complete_and_coloured_by_what_we_find(tmp_path):
    def rate(cell, games):
        return games * (3 if "NAST2" in cell.spec.text else 1) // 4

    columns = results("section8", 400, rate)
    (path,) = figures.draw(columns, tmp_path, ["statements"])
    assert colour_is_shown(path, figures.BETTER)
    assert not colour_is_shown(path, figures.WORSE)
    columns = results("section8", 400, lambda cell, games: games - rate(cell, games))  # NAST loses
    (path,) = figures.draw(columns, tmp_path, ["statements"])
    assert colour_is_shown(path, figures.WORSE)
    others = {
        attrs.evolve(column, opponent=Entrant("MAST")): each for column, each in columns.items()
    }
    assert figures.draw(others, tmp_path, ["statements"]) == []
    next(iter(columns.values()))[0].due = 401
    assert figures.draw(columns, tmp_path, ["statements"]) == []


def test_section_8_has_all_pictures_each_of_its_own_agents(tmp_path):
    columns = results("section8", 60, invented(5))
    experiment = loading.load("section8", {"games": ["othello"]})
    assert figures.fitting(experiment) == ["figure4", "figure3", "figure5", "reuse", "tree"]
    for picture, agents in (("figure4", 16), ("figure5", 3), ("reuse", 5), ("tree", 5)):
        (tallies,) = columns.values()
        shown = figures._shown_in(picture, tallies)
        assert [tally.cell.agent for tally in shown] == list(PICTURES[picture].agents)
        assert len(shown) == agents
    for column in columns.values():
        for tally in column:
            tally.moments = {
                name: Moments(60, 600 * MILLION, 6060 * MILLION**2) for name in STATISTICS
            }
    paths = figures.draw(columns, tmp_path, figures.fitting(experiment))
    names = [path.name for path in paths]
    assert names == ["figure4-othello.png", "figure3.png", "figure5.png", "reuse.png", "tree.png"]
    for path in paths[-2:]:
        assert 0.01 < ink(path)[0] < 0.6


def test_columns_whose_titles_differ_in_signs_alone_have_each_its_own_picture(
    tmp_path, blank_pictures
):
    experiment = built(opponent=["MAST >> NAST2", "MAST & NAST2"])
    write(keep(tmp_path, experiment, (a_row(cell, 0) for cell in experiment.cells)))
    _, first, second = (tmp_path / "report.md").read_text().split("\n## Othello, against ")
    assert "(figures/agents-othello-against-mast-nast2.png)" in first
    assert "(figures/agents-othello-against-mast-nast2-2.png)" in second
    assert first.count("figures/") == second.count("figures/") == 1
    assert (tmp_path / "figures/agents-othello-against-mast-nast2-2.png").exists()


def test_columns_with_long_titles_have_names_of_files_that_a_disk_takes(tmp_path, blank_pictures):
    long = "BASELINE >> (" + " + ".join(["MAST", "NAST2", "LGRF"] * 14) + ")/42"
    experiment = built(agents=["RAVE"], opponent=[long, long.replace("LGRF)", "MAST)")])
    directory = keep(tmp_path, experiment, [a_row(cell, 0) for cell in experiment.cells])
    names = [path.name for path in write(directory)[1] if path.suffix == ".png"]
    assert len(set(names)) == 3  # all columns, and each
    assert max(map(len, names)) < 140


@pytest.mark.parametrize("picture", ["figure5", "tree"])
def test_a_legend_has_names_with_underscores_and_dollar_signs(tmp_path, monkeypatch, picture):
    agents = {"base": "BASELINE", "_mine": "RAVE", "$5 to $10": "MAST", "$\\frac$": "LGRF"}
    experiment = built(agents=agents)
    directory = keep(tmp_path, experiment, (a_row(cell, 0) for cell in experiment.cells))
    labels = []
    monkeypatch.setattr(
        "matplotlib.figure.Figure.legend", lambda self, of, texts, **style: labels.extend(texts)
    )
    figures.draw(summary.results_of(directory).columns(), tmp_path, [picture, "agents"])
    assert [label.strip("\u200b") for label in labels][-3:] == [*agents][1:]


def test_no_two_series_of_a_picture_look_alike():
    styles = [figures.series_style(number, "") for number in range(12)]
    assert len({(style["color"], style["marker"]) for style in styles}) == 12


def test_the_interval_of_a_ratio_of_visits_is_that_of_the_delta_method():
    agent = Moments(100, 1200 * MILLION, 14800 * MILLION**2)
    opponent = Moments(100, 1000 * MILLION, 10100 * MILLION**2)
    change = figures._difference(agent, opponent, relative=True)
    assert change.value == pytest.approx(0.2)
    errors = np.sqrt((14800 / 100 - 144) / 99), np.sqrt((10100 / 100 - 100) / 99)
    assert change.half == pytest.approx(
        1.984217 * np.hypot(errors[0] / 10, 1.2 * errors[1] / 10), rel=1e-4
    )


@pytest.mark.parametrize("wins", [0, 5])
def test_rates_at_the_ends_of_the_scale_can_be_drawn(tmp_path, wins):
    columns = results("figure5", 5, lambda cell, games: wins)
    assert len(figures.draw(columns, tmp_path, ["figure4", "figure5"])) == 2
