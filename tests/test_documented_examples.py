"""The examples that the documentation builds step by step: they run, and the audit tells the right game from the wrong ones."""

import importlib.util
import sys
from pathlib import Path

import attrs

from icarus import BASELINE, audit, games, search

FOLDER = Path(__file__).parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


nest_egg, staged = example("nest_egg"), example("staged")


def test_points_are_those_of_the_tricks_and_the_card_laid_aside():
    state = nest_egg.NEST_EGG.new_initial_state(4)  # 4 5 6 8 against 1 2 7 9
    for worth in (8, 9, 6, 7, 1, 4, 5, 2):  # 8 and 9 are laid aside; 7 takes 6; 4 takes 1; 5 takes 2
        state.apply_action(worth - 1)
    assert state.facts.points.tolist() == [4 + 1 + 5 + 2, 6 + 7]
    assert state.returns() == [0.0, 1.0]  # 12 + 8 against 13 + 9


def test_the_audit_passes_nest_egg_and_misses_its_recall_where_it_is_taken_away():
    assert audit(nest_egg.NEST_EGG, games=2, determinizations=600).passed
    assert "recall" in audit(attrs.evolve(nest_egg.NEST_EGG, recall=None), games=2, determinizations=200).failed


def test_stages_are_records_of_their_own():
    state = games.load("othello").new_initial_state()
    one = search(state, BASELINE >> staged.staged_mast("STAGED", width=1000), iterations=30, seed=1)
    many = search(state, BASELINE >> staged.staged_mast("STAGED", width=1), iterations=30, seed=1)
    assert len(many.records["STAGED"]) > len(one.records["STAGED"])
