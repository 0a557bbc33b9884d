"""The family of enhancements: at the points of known ones it is these, record by record and visit by visit."""

import numpy as np
import pytest

from icarus import *
from icarus.discovery.space import load_space
from icarus.engine.result import Result
from icarus.specs.mast import ONLY_AVAILABLE
from icarus.testing import Decision, HistoryExample
from tests.marks import slow_after

GIBBS = gibbs(temperature=1)
POINTS = [
    (MAST, family("moves", 0, "playout", "played", rule=GIBBS)),
    (TO_MAST, family("moves", 0, "tree", "played", rule=GIBBS)),
    (MAST(ucb1(0.7)), family("moves", 0, "playout", "legal")),
    (NAST(1), family("moves", 0)),
    (NAST(2), family("moves", 1)),
    (NAST(3, epsilon_greedy(0.2)), family("moves", 2, rule=epsilon_greedy(0.2))),
    (EPIC, family("position", 0, "playout", "legal")),
    (AMAF, family("history", 0, "tree", "as_first")),
]


def result_of(strategy: Enhancement, name: str, engine: str = "compiled") -> Result:
    state = games.load(name).new_initial_state(3)
    while state.is_chance_node() or len(state.legal_actions()) == 1:
        state.apply_action(state.legal_actions()[0] if not state.is_chance_node() else state.chance_outcomes()[0][0])
    return search(state, strategy, iterations=150 if engine == "compiled" else 10, seed=7, engine=engine)


@pytest.mark.parametrize(
    ("enhancement", "point", "name"),
    [
        pytest.param(*pair, name, marks=pytest.mark.slow if (i + j) % 2 else [], id=f"{pair[0].name} {name}")
        for i, pair in enumerate(POINTS)
        for j, name in enumerate(["knockout-whist(players=2)", "phantom-mnk"])
    ],
)
@pytest.mark.parametrize("engine", slow_after(1, ["python", "compiled"]))
def test_known_enhancements_are_points(enhancement: Enhancement, point: Enhancement, name: str, engine: str) -> None:
    result, result_of_point = (result_of(BASELINE >> each, name, engine) for each in (enhancement, point))
    assert list(result.visits) == list(result_of_point.visits) and result.depth == result_of_point.depth
    np.testing.assert_array_equal(result.records[enhancement.name].rows, result_of_point.records[point.name].rows)


NEW = [
    family("opponent", 0, rule=gibbs(0.1)),
    family("own", 0, counted="legal"),
    family("position", 0, counted="as_first", rule=gibbs(0.1)),
]


@pytest.mark.parametrize("point", slow_after(2, NEW), ids=str)
def test_new_points_search_alike_in_plain_python(point: Enhancement) -> None:
    state = games.load("phantom-mnk").new_initial_state(0)
    compiled = search(state, BASELINE >> point, iterations=20, seed=1)
    reference = search(state, BASELINE >> point, iterations=20, seed=1, engine="python")
    assert list(compiled.visits) == list(reference.visits)


TURNS = (Decision(0, (4, 5), 4), Decision(1, (5, 6), 5), Decision(0, (4, 7), 7), Decision(1, (6,), 6))
EXAMPLE = HistoryExample(TURNS)


def captured(point: Enhancement, *named: tuple) -> bool:
    """Whether a point captures these (parts of a record, context) pairs of `EXAMPLE`."""
    return EXAMPLE.capture(point) == [(EXAMPLE.key(point, *parts), context) for parts, context in named]


def test_a_record_of_the_own_previous_action_by_hand() -> None:
    assert captured(family("own", 0), ((4, 7, 0), 0), ((5, 6, 1), 1))
    by_legal = family("own", 0, counted="legal")
    assert captured(by_legal, ((4, 4, 0), ONLY_AVAILABLE), ((4, 7, 0), 0), ((5, 6, 1), 1))


def test_an_action_counts_as_first_where_it_is_legal_and_the_same_player_plays_it_later_by_hand() -> None:
    again = HistoryExample((*TURNS, Decision(0, (4, 5), 4)))
    point = family("moves", 0, counted="as_first")
    keys = [
        (4, 0),
        (4, 0),
        (5, 1),
        (6, 1),
        (7, 0),
        (4, 0),
        (6, 1),
        (4, 0),
    ]  # player 0's last 4 counts at 0, at 2 and at 4
    assert again.capture(point) == [(again.key(point, *key), key[-1]) for key in keys]


def test_a_feature_tells_records_apart_by_its_whole_part() -> None:
    point = family("feature", 0)
    low, same, high = (
        HistoryExample([Decision(0, (4,), 4, features={"f": f})]).capture(point) for f in (2.1, 2.9, 3.0)
    )
    assert low == same != high


def test_what_the_opponent_cannot_tell_apart_shares_a_record() -> None:
    """Player 0 plays 4 or 5, of which player 1 sees a 9, or not, and then 6."""
    seen_alike = [
        HistoryExample([Decision(0, (4, 5), a, seen={1: 9}), Decision(0, (6,), 6)], players=2) for a in (4, 5)
    ]
    distinct = [HistoryExample([Decision(0, (4, 5), a), Decision(0, (6,), 6)], players=2) for a in (4, 5)]
    for context, shared in (("opponent", True), ("history", False)):
        first, second = (example.capture(family(context, 0))[-1] for example in seen_alike)
        assert (first == second) == shared
        first, second = (example.capture(family(context, 0))[-1] for example in distinct)
        assert first != second


@pytest.mark.parametrize("point", [point for _, point in POINTS] + NEW, ids=str)
def test_a_point_prints_its_specification_and_reads_back(point: Enhancement) -> None:
    assert parse(str(point)) == point
    assert "ξ = " in point.specification() and f"({point.name}-7)" in point.specification()


def test_choices_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="'luck' is no choice of a family; it must be one of moves, own"):
        family("luck")


def test_the_space_of_the_family_can_be_searched() -> None:
    space = load_space("family")
    space.check()
    assert space.count() > 1000
