"""Table II of Cowling, Powley and Whitehouse (2012): leading plays counted by hand, and the published means."""

import csv

import numpy as np
import pytest

from experiments.commands.main import main
from experiments.papers.earlier import BRANCHING_ROWS
from experiments.play.branching import MEASURES, PUBLISHED, Buffers, measure_deal, measure_deals
from experiments.report.branching import measurements
from icarus.compiler.rng import seeded
from icarus.games.dou_di_zhu import DOU_DI_ZHU, RANK_NAMES, hand_of


def deal(*hands):
    """A state in which the landlord, who leads, and the peasants hold these cards."""
    state = np.zeros(1, DOU_DI_ZHU.state)
    for seat, cards in enumerate(hands):
        state["hands"][0, seat] = hand_of([RANK_NAMES.index(card) for card in cards])
    return state[0]


@pytest.mark.parametrize(
    "cards, plays",
    [
        ("4", ["4"]),
        ("3334", ["3", "4", "33", "333", "333+4"]),
        ("BR33", ["3", "B", "R", "33", "BR"]),
        ("33344", ["3", "4", "33", "44", "333", "333+4", "333+44"]),
        ("34567", ["3", "4", "5", "6", "7", "34567"]),
        (
            "3333456",
            ["3", "4", "5", "6", "33", "333", "3333", "333+4", "333+5", "333+6", "3333+4+5", "3333+4+6", "3333+5+6"],
        ),
    ],
)
def test_leading_plays_count_each_choice_of_kickers(cards, plays):
    assert measure_deal(deal("T", cards, "J"), seeded(0), Buffers())[0] == len(plays) + 1


def test_unique_plays_are_counted_for_each_peasant_and_added():
    """Each peasant has the three or the four: one play each in any deal, two each that some determinization offers."""
    assert measure_deal(deal("T", "3", "4"), seeded(1), Buffers()).tolist() == [2, 2, 4, 4, 4]


def test_the_landlords_own_cards_and_the_cards_played_are_in_no_determinization():
    assert measure_deal(deal("34567", "3", "3"), seeded(1), Buffers()).tolist() == [2, 2, 2, 2, 2]


def test_random_deals_branch_as_published_within_five_percent():
    results = measurements(measure_deals(400, seed=2012))
    assert [each.published for each in results] == [87.7, 87.8, 754, 1230, 1500]
    for each in results:
        assert 0.95 < each.ratio < 1.05
        assert each.mean.low < each.mean.value < each.mean.high


def test_the_interval_is_students():
    """Of 1, 2, 3: mean 2, standard error 1/√3, and 4.3027 of these to either side."""
    results = measurements(np.array([[1.0], [2.0], [3.0]]).repeat(len(MEASURES), axis=1))
    assert (results[0].mean.low, results[0].mean.high) == pytest.approx(
        (2 - 4.30265 / 3**0.5, 2 + 4.30265 / 3**0.5), abs=1e-4
    )
    assert results[0].ratio == pytest.approx(2 / PUBLISHED[0])


def test_the_command_keeps_each_deal_and_the_report_follows_from_the_file_alone(tmp_path, capsys):
    out = tmp_path / "branching"
    assert main(["branching", "--deals", "60", "--seed", "3", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Published" in printed
    assert "1500" in printed
    lines = list(csv.reader((out / "branching.csv").read_text().splitlines()))
    assert len(lines) == 61
    report = (out / "report.md").read_bytes()
    for name in ("report.md", "report.html", "figures/branching.png", "figures/branching.svg"):
        (out / name).unlink()
    assert main(["report", str(out)]) == 0
    assert capsys.readouterr().out == printed
    assert (out / "report.md").read_bytes() == report
    assert (out / "figures" / "branching.png").stat().st_size > 5000
    mean = sum(float(line[1]) for line in lines[1:]) / 60
    assert f"{mean:.1f}" in printed


def test_the_same_seed_gives_the_same_deals_and_another_others():
    first, same, second = (measure_deals(4, seed) for seed in (1, 1, 2))
    assert (first == same).all()
    assert (first[:, 0] != second[:, 0]).any()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            ("run", "branching", "--out", "x"),
            "branching is a command, not an experiment; run python -m experiments branching",
        ),
        (("branching", "--deals", "0"), "deals is 0; it must be an integer of at least 2"),
        (("branching", "--deals", "1"), "deals is 1; it must be an integer of at least 2"),
        (("branching", "--seed", "-1"), "seed is -1; it must be an integer of at least 0"),
    ],
)
def test_bad_input_is_refused(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(list(arguments)) == 2
    assert message in capsys.readouterr().err


def test_a_directory_with_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["branching", "--deals", "2", "--out", str(tmp_path)]) == 2
    assert "has other files" in capsys.readouterr().err
    (tmp_path / BRANCHING_ROWS).write_text("deal,x\n0,1\n")
    assert main(["report", str(tmp_path)]) == 2
    assert "does not have the leading plays" in capsys.readouterr().err
