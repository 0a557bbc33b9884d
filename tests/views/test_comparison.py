"""Searches side by side: what a search finds does not depend on being looked at; the page's curves are its records."""

from pathlib import Path
from typing import Any

import pytest

from icarus import BASELINE, MAST, RAVE, games, search
from icarus.commands import cli
from icarus.engine.inspect.tree import tree_of
from icarus.views.tree_page import follow_search, write_comparison


def test_two_searches_of_a_position_stand_beside_each_other(tmp_path: Path, page: Any) -> None:
    state = games.load("knockout-whist").new_initial_state(3)
    courses = [follow_search(state, strategy, 300, 2) for strategy in (BASELINE, RAVE >> MAST)]
    whole = search(state, BASELINE, iterations=300, seed=2)
    assert (courses[0].result.visits == whole.visits).all() and courses[0].result.action == whole.action
    assert (courses[0].visits[-1] == whole.visits).all() and (courses[0].visits.sum(1) == courses[0].iterations).all()

    write_comparison(courses, tmp_path / "both.html")
    page.goto((tmp_path / "both.html").as_uri())
    page.wait_for_selector("body[data-ready]")
    assert page.locator(".chart").count() == 4 and page.locator(".chart polyline").count() == 4 * 5
    tree_frame = page.frame_locator("iframe").nth(1)
    tree_frame.locator(".row").nth(2).wait_for()
    tree = tree_of(courses[1].result)
    variation = " ".join(tree.label[node] for node in tree.principal_variation())
    assert variation in tree_frame.locator("header").inner_text()


def test_no_two_moves_of_a_chart_look_the_same(tmp_path: Path, page: Any) -> None:
    state = games.load("lotr-confrontation").new_initial_state(3)  # more moves are visited than there are colours
    courses = [follow_search(state, each, 80, 2) for each in (BASELINE, RAVE, RAVE >> MAST)]
    write_comparison(courses, tmp_path / "3.html")
    page.goto((tmp_path / "3.html").as_uri())
    page.wait_for_selector("body[data-ready]")
    for chart in page.locator(".chart").all():
        lines = chart.locator("polyline").all()
        looks = {(line.get_attribute("stroke"), line.get_attribute("stroke-dasharray")) for line in lines}
        assert len(looks) == len(lines) == 5


def test_what_does_not_go_side_by_side_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.run(["search", "othello", "--beside", "RAVE", "--seconds", "1"]) == 2
    assert "--beside shows whole searches" in capsys.readouterr().err
