"""Runs grow in trials, agents and games: rows of before stay, and nothing is played twice."""

import attrs
import pytest

from experiments.plan.definition import Refusal, difference, extends
from experiments.plan.loading import build
from experiments.play import running
from experiments.store import rows as store
from experiments.store.export import merge
from experiments.store.results import results_of
from tests.experiments.conftest import a_row


def experiment(**changes):
    table = {"games": ["othello"], "trials": 4, "iterations": 20, "agents": {"RAVE": "RAVE"}, **changes}
    return build({"name": "mine", **table})


GROWN = {
    "trials": {"trials": 6},
    "agents": {"agents": {"MAST": "BASELINE >> MAST", "RAVE": "RAVE"}},
    "games": {"games": ["knockout-whist", "othello"]},
    "all": {
        "trials": 6,
        "agents": {"MAST": "BASELINE >> MAST", "RAVE": "RAVE"},
        "games": ["knockout-whist", "othello"],
    },
}


class Pool:
    """Matches that take no time, and which they were."""

    def __init__(self):
        self.played = []

    def play(self, matches):
        for match in matches:
            self.played.append((match.cell.key, match.trial))
            yield a_row(match.cell, match.trial)


def run(directory, wanted):
    pool = Pool()
    running.run(wanted, directory, pool)
    return pool.played


@pytest.mark.parametrize("changes", GROWN.values(), ids=GROWN)
def test_a_run_that_grows_keeps_its_rows_and_plays_what_is_new(tmp_path, changes):
    small, grown = experiment(), experiment(**changes)
    before = run(tmp_path, small)
    rows = (tmp_path / store.RESULTS).read_bytes()
    added = run(tmp_path, grown)
    assert not set(before) & set(added)
    assert {*before, *added} == {(cell.key, trial) for cell, trial in grown.games()}
    assert (tmp_path / store.RESULTS).read_bytes().startswith(rows)
    assert store.experiment_in(tmp_path) == grown
    with results_of(tmp_path) as results:
        assert sum(tally.games for tally in results.tallies()) == len(before) + len(added)


def test_a_packed_run_grows(tmp_path):
    run(tmp_path, experiment())
    store.pack(tmp_path)
    assert len(run(tmp_path, experiment(trials=5))) == 1


def test_games_of_before_have_the_seeds_that_they_would_have_today():
    small, grown = experiment(), experiment(**GROWN["all"])
    assert all(small.game_seed(cell, trial) == grown.game_seed(cell, trial) for cell, trial in small.games())


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"trials": 3}, "trials is 4 there and 3 here"),
        ({"trials": 9, "seed": 1}, "seed is 0 there and 1 here"),
        ({"trials": 9, "paired": True}, "paired is False there and True here"),
        ({"games": ["knockout-whist"]}, "game is othello there and knockout-whist here"),
        ({"iterations": 21}, "iterations is 20 there and 21 here"),
        ({"agents": {"MAST": "BASELINE >> MAST"}, "trials": 9}, "its agents are different"),
    ],
)
def test_what_does_not_extend_a_run_is_refused_and_changes_nothing(tmp_path, changes, message):
    run(tmp_path, experiment())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(Refusal, match=f"belongs to another run: {message}; choose another directory"):
        run(tmp_path, experiment(**changes))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_sequential_test_has_its_trials_once_and_for_all():
    both = {"agents": {"RAVE": "RAVE", "even": "BASELINE"}, "sprt": True}
    small, grown = experiment(**both), experiment(**both, trials=8)
    assert not extends(grown, small)
    assert difference(small, grown) == "trials is 4 there and 8 here"
    more = {"agents": {**both["agents"], "MAST": "BASELINE >> MAST"}, "sprt": True}
    assert extends(experiment(**more), small)


def test_a_damaged_run_does_not_grow(tmp_path):
    run(tmp_path, experiment())
    path = tmp_path / store.RESULTS
    path.write_bytes(b"{}\n" + path.read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(store.Damage, match="line 1"):
        run(tmp_path, experiment(trials=6))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_parts_of_before_are_merged_with_what_has_grown(tmp_path):
    run(tmp_path / "old", experiment())
    run(tmp_path / "new", experiment(**GROWN["agents"]))
    assert merge(tmp_path / "out", [tmp_path / "old", tmp_path / "new"]) == (8, 8)
    run(tmp_path / "out", experiment(**GROWN["all"]))
    assert merge(tmp_path / "out", [tmp_path / "old"]) == (0, 24)
    other_seed = attrs.evolve(experiment(), seed=3)
    with store.writer(tmp_path / "other", other_seed):
        pass
    with pytest.raises(Refusal, match="seed is 3 in the first and 0 in the second"):
        merge(tmp_path / "out", [tmp_path / "old", tmp_path / "other"])
