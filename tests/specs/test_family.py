"""The family of enhancements: at the points of known ones it is these, record by record and visit by visit."""

import numpy as np
import pytest

from icarus import AMAF, BASELINE, EPIC, MAST, TO_MAST, Enhancement, games, gibbs, nast, parse, search, ucb1
from icarus.algebra import epsilon_greedy
from icarus.discovery.space import load_space
from icarus.engine.result import Result
from icarus.specs import family, mast

GIBBS = gibbs(temperature=1)
POINTS = [
    (MAST, family("moves", 0, "playout", "played", rule=GIBBS)),
    (TO_MAST, family("moves", 0, "tree", "played", rule=GIBBS)),
    (mast(ucb1(0.7)), family("moves", 0, "playout", "legal")),
    (nast(1), family("moves", 0)),
    (nast(2), family("moves", 1)),
    (nast(3, epsilon_greedy(0.2)), family("moves", 2, rule=epsilon_greedy(0.2))),
    (EPIC, family("position", 0, "playout", "legal")),
    (AMAF, family("history", 0, "tree", "as_first")),
]


def found(strategy: Enhancement, name: str) -> Result:
    state = games.load(name).new_initial_state(3)
    while state.is_chance_node() or len(state.legal_actions()) == 1:
        state.apply_action(state.legal_actions()[0] if not state.is_chance_node() else state.chance_outcomes()[0][0])
    return search(state, strategy, iterations=150, seed=7)


@pytest.mark.parametrize(
    ("known", "point", "name"),
    [
        pytest.param(*pair, name, marks=pytest.mark.slow if (i + j) % 2 else [], id=f"{pair[0].name} {name}")
        for i, pair in enumerate(POINTS)
        for j, name in enumerate(["knockout-whist(players=2)", "phantom-mnk"])
    ],
)
def test_known_enhancements_are_points(known: Enhancement, point: Enhancement, name: str) -> None:
    one, other = found(BASELINE >> known, name), found(BASELINE >> point, name)
    assert list(one.visits) == list(other.visits) and one.depth == other.depth
    np.testing.assert_array_equal(one.records[known.name].rows, other.records[point.name].rows)


def test_amaf_s_table_decides_in_the_tree_too() -> None:
    one, other = found(AMAF, "phantom-mnk"), found(family("history", 0, "tree", "as_first"), "phantom-mnk")
    assert list(one.visits) == list(other.visits)


NEW = [
    family("opponent", 0, rule=gibbs(0.1)),
    family("own", 0, counted="legal"),
    family("moves", 2, discount=0.99, least=3, rule=epsilon_greedy(0.1)),
    family("position", 0, counted="as_first", rule=gibbs(0.1)),
]


@pytest.mark.parametrize("point", NEW, ids=str)
def test_new_points_search_alike_in_plain_python(point: Enhancement) -> None:
    state = games.load("phantom-mnk").new_initial_state(0)
    one = search(state, BASELINE >> point, iterations=40, seed=1)
    other = search(state, BASELINE >> point, iterations=40, seed=1, engine="python")
    assert list(one.visits) == list(other.visits)


def test_an_action_falls_back_on_what_is_known_of_it_anywhere() -> None:
    one = found(BASELINE >> mast(epsilon_greedy(0.2)), "phantom-mnk")
    other = found(BASELINE >> family("moves", 999, least=1, rule=epsilon_greedy(0.2)), "phantom-mnk")
    assert list(one.visits) == list(other.visits)


@pytest.mark.parametrize("point", [point for _, point in POINTS] + NEW, ids=str)
def test_a_point_prints_its_specification_and_reads_back(point: Enhancement) -> None:
    assert parse(str(point)) == point
    assert "ξ = " in point.specification() and f"({point.name}-7)" in point.specification()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"context": "luck"}, "context of a family is 'luck'"),
        ({"least": 3, "rule": gibbs(1)}, "nothing to fall back on"),
        ({"discount": 0.9}, "a discount or a fallback goes with gibbs"),
        ({"context": "position", "least": 2, "rule": gibbs(1)}, "in a context of one player"),
    ],
)
def test_choices_that_do_not_fit_are_refused(arguments: dict, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        family(**arguments)


def test_the_space_of_the_family_can_be_searched() -> None:
    space = load_space("family")
    space.check()
    assert space.count() > 1000
