"""The examples that the documentation builds step by step: they run, and the audit tells the right game from the wrong ones."""

import importlib.util
import re
import sys
from pathlib import Path

import attrs
import pytest

from icarus import BASELINE, MAST, audit, games, in_python, search
from icarus.audit.lockstep import compare
from icarus.kernel.state import State

FOLDER = Path(__file__).parent.parent / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


nest_egg, second_chance, staged = example("nest_egg"), example("second_chance"), example("staged")
PLAIN_PAGE = (FOLDER.parent / "docs" / "plain-python.md").read_text()


def test_points_are_those_of_the_tricks_and_the_card_laid_aside():
    state = nest_egg.NEST_EGG.new_initial_state(4)  # 4 5 6 8 against 1 2 7 9
    for worth in (8, 9, 6, 7, 1, 4, 5, 2):  # 8 and 9 are laid aside; 7 takes 6; 4 takes 1; 5 takes 2
        state.apply_action(worth - 1)
    assert state.facts.points.tolist() == [4 + 1 + 5 + 2, 6 + 7]
    assert state.returns() == [0.0, 1.0]  # 12 + 8 against 13 + 9


def test_the_audit_passes_nest_egg_and_misses_its_recall_where_it_is_taken_away():
    assert audit(nest_egg.NEST_EGG, games=2, determinizations=600).passed
    assert "recall" in audit(attrs.evolve(nest_egg.NEST_EGG, recall=None), games=2, determinizations=200).failed


def test_second_chance_is_played_by_its_rules_and_each_sees_his_own_card():
    state = second_chance.GAME.new_initial_state(1)
    first, second = state.data["cards"]
    state.apply_action(state.string_to_action("swap"))
    drawn = state.legal_actions()[0]
    assert state.is_chance_node() and first not in state.legal_actions() and len(state.legal_actions()) == 4
    state.apply_action(drawn)
    assert state.moves(0) == (second_chance.SWAP, drawn) and state.moves(1) == (second_chance.LAID + first,)
    assert {tuple(state.determinize(1, seed).data["cards"])[1] for seed in range(9)} == {second}
    state.apply_action(second_chance.KEEP)
    assert state.returns() == [float(drawn > second), float(second > drawn)]


def test_the_page_on_plain_python_shows_the_example_and_its_lines():
    assert "```{literalinclude} ../examples/second_chance.py" in PLAIN_PAGE
    game = attrs.evolve(second_chance.GAME, legal=lambda state: None)
    line = second_chance.legal.__code__.co_firstlineno
    assert (
        f"legal of second-chance (examples/second_chance.py, line {line}) returned None; it must be a list"
        in PLAIN_PAGE
    )
    with pytest.raises(ValueError, match="returned None; it must be a list of different integers"):
        game.new_initial_state().legal_actions()
    for command in re.findall(r"icarus (?:search|match|play|check|discover) (\S+\.py)", PLAIN_PAGE):
        assert command in ("mygame.py", "FILE.py") or (FOLDER.parent / command).exists(), command


def test_the_plain_game_on_the_page_is_searched():
    result = search(second_chance.GAME.new_initial_state(seed=1), BASELINE >> MAST, iterations=100, seed=1)
    assert result.iterations == 100


def test_a_plain_game_can_be_the_referee_of_a_compiled_one():
    nim = example("nim").NIM
    assert compare(nim, lambda state: State(in_python(nim), state.data.copy()), games=5).passed


def test_stages_are_records_of_their_own():
    state = games.load("othello").new_initial_state()
    single = search(state, BASELINE >> staged.staged_mast("STAGED", width=1000), iterations=30, seed=1)
    many = search(state, BASELINE >> staged.staged_mast("STAGED", width=1), iterations=30, seed=1)
    assert len(many.records["STAGED"]) > len(single.records["STAGED"])
