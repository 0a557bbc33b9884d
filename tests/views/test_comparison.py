"""Searches side by side: a page with the tree of each."""

from pathlib import Path
from typing import Any

import pytest

from icarus import BASELINE, MAST, RAVE, games, search
from icarus.commands import cli
from icarus.engine.inspect import tree_of


def test_two_searches_of_a_position_stand_beside_each_other(
    tmp_path: Path, page: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    options = ["--seed", "3", "--iterations", "300", "--beside"]
    assert cli.run(["search", "knockout-whist", *options, "RAVE >> MAST", "--html", "both.html"]) == 0
    state = games.load("knockout-whist").new_initial_state(3)
    results = [search(state, strategy, iterations=300, seed=3) for strategy in (BASELINE, RAVE >> MAST)]
    printed = capsys.readouterr().out
    for result in results:
        assert all(line in printed for line in str(result).split("\n")[1:])
    page.goto((tmp_path / "both.html").as_uri())
    for number, result in enumerate(results):
        frame, tree = page.frame_locator("iframe").nth(number), tree_of(result)
        frame.locator(".row").nth(2).wait_for()
        variation = " ".join(tree.label[node] for node in tree.principal_variation())
        assert variation in frame.locator("header").inner_text()
