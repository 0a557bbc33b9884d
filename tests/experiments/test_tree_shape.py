"""The depth of trees and the visits of chosen actions, in positions of a run."""

from pathlib import Path

import pytest

from experiments.studies import tree_shape
from experiments.studies.tree_shape import Shape, lines, shapes
from tests.conftest import ROOT


def test_three_agents_search_the_same_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree_shape, "ITERATIONS", (10, 40))
    measured = list(shapes(ROOT / "experiments" / "runs" / "campaign" / "othello", 2, 0))
    assert [(each.position, each.agent, each.iterations) for each in measured[:6]] == [
        (0, agent, iterations) for agent in ("-", "N", "R") for iterations in (10, 40)
    ]
    assert len(measured) == 12 and all(1 <= each.visits < each.iterations and each.depth >= 1 for each in measured)


def test_what_the_others_have_more_is_told_by_pairs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tree_shape, "ITERATIONS", (10,))
    depths, visits = {"-": (3, 5), "R": (4, 7), "N": (3, 5)}, {"-": (100, 50), "R": (100, 50), "N": (110, 60)}
    measured = [Shape("", k, agent, 10, depths[agent][k], visits[agent][k]) for agent in depths for k in (0, 1)]
    rave, nast = lines(measured)
    assert "R     10 iterations, 2 positions: depth 4.00 and +1.500" in rave and "visits +0.0%" in rave
    assert "depth 4.00 and +0.000" in nast and "visits +15.0%" in nast
