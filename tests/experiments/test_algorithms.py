"""Online Outcome Sampling and its like in experiments: who plays, and where they cannot."""

import pytest

from experiments.plan.definition import Refusal, from_settings
from experiments.plan.loading import build
from experiments.run import row, trial_of


def table(**changes):
    settings = {
        "name": "n",
        "games": ["kuhn-poker"],
        "iterations": 40,
        "seats": 0,
        "agents": {"oos": "OOS(delta=0.5)"},
        **changes,
    }
    return build(settings)


def test_experiments_have_it_for_an_agent_or_an_opponent():
    experiment = table(
        opponent="NearEquilibrium()", agents={"oos": "OOS(delta=0.5)", "own": {"strategy": "OOS"}, "r": "RAVE"}
    )
    assert [cell.spec.text for cell in experiment.cells] == ["OOS(delta=0.5)", "OOS()", "RAVE"]
    assert from_settings(experiment.settings()) == experiment
    for cell in experiment.cells:
        game = row(trial_of(experiment, cell, 0))
        assert (game["strategy"], game["opponent"]) == (cell.spec.text, "NearEquilibrium()")
        assert game["statistics"]["agent"]["iterations"] == 40


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        ({"games": ["hearts"]}, r"games: OOS\(delta=0.5\) cannot play here: hearts has 4 players"),
        ({"games": ["phantom-mnk"]}, "cannot play here: phantom-mnk is too large for a complete walk: it has about"),
        ({"agents": {"a": "OOS(depth=1)"}}, "agents.a: 'OOS\\(depth=1\\)' is not a search"),
        ({"agents": {"a": {"strategy": "OOS", "scheme": "SO_ISMCTS"}}}, "takes no scheme=SO_ISMCTS"),
        ({"agents": {"a": {"scheme": "OOS()"}}}, "OOS\\(\\) is an algorithm, not a scheme"),
        ({"agents": {"a": "RAVE"}, "opponent": "OOS", "games": ["othello"]}, "cannot play here: othello"),
    ],
)
def test_experiments_refuse_it_where_it_cannot_be(changes, pattern):
    with pytest.raises(Refusal, match=pattern):
        table(**changes)
