"""The tree that is read back from the records of a search, against what the search itself has counted."""

import numpy as np
import pytest

from icarus import (
    BASELINE,
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingUCT,
    DeterminizedUCT,
    Scheme,
    games,
    parse,
    search,
)
from icarus.engine.inspect import lines_of, tree_of
from icarus.kernel import UNSEEN
from icarus.kernel.history import EMPTY_HISTORY
from icarus.kernel.python_game import in_python


def visits_of(tree, node: int) -> int:
    return int(tree.rows["visits"][tree.record[node]])


def moves_seen(tree, node: int, perspective: int) -> tuple[int, ...]:
    return tuple(
        int(tree.moves[step, perspective]) for step in tree.path(node) if tree.moves[step, perspective] != UNSEEN
    )


def test_where_all_is_seen_every_record_that_was_visited_is_one_node_and_looks_up_to_the_same_numbers() -> None:
    result = search(games.load("othello").new_initial_state(), BASELINE, iterations=800, seed=2)
    tree, records = tree_of(result), result.records["BASELINE"]
    visited = records.rows[records.rows["visits"] > 0]
    assert len(tree) == len(visited) == len(np.unique(tree.record))
    for node in range(len(tree)):
        moves = tuple(int(tree.action[step]) for step in tree.path(node))
        row = records[(int(tree.player[node]), moves)] if moves else records[EMPTY_HISTORY]
        assert visits_of(tree, node) == row["visits"]
        assert tree.rows["reward"][tree.record[node]].tolist() == row["reward"].tolist()


@pytest.mark.parametrize("game", ["hearts", "knockout-whist", "phantom-mnk", "goofspiel"])
def test_where_something_is_hidden_a_node_has_the_record_of_what_its_player_saw(game: str) -> None:
    result = search(games.load(game).new_initial_state(seed=3), BASELINE, iterations=120, seed=2)
    tree, records = tree_of(result), result.records["BASELINE"]
    assert len(tree) > 50
    for node in range(1, len(tree)):
        player = int(tree.player[node])
        row = records[player, moves_seen(tree, node, result.state.game.perspective(player))]
        assert visits_of(tree, node) == row["visits"]


@pytest.mark.parametrize("scheme", [SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(4)], ids=str)
def test_the_root_s_children_have_the_visits_that_each_scheme_counted(scheme: Scheme) -> None:
    result = search(
        games.load("hearts").new_initial_state(seed=3), parse("MAST"), iterations=150, seed=2, scheme=scheme
    )
    tree = tree_of(result)
    first = result.parts[0] if result.parts else result
    children = {int(tree.action[node]): visits_of(tree, node) for node in np.flatnonzero(tree.parent == 0)}
    # The very first playout expands the empty history: the move that it goes on with is simulated.
    missing = [visits - children.get(action, 0) for action, visits in zip(first.actions, first.visits, strict=True)]
    assert sorted(missing)[-1] == 1 and sum(missing) == 1


def test_a_limit_keeps_the_histories_of_most_visits() -> None:
    result = search(games.load("othello").new_initial_state(), BASELINE, iterations=800, seed=2)
    tree, whole = tree_of(result, limit=100), tree_of(result)
    assert 20 < len(tree) <= 100
    assert visits_of(tree, len(tree) - 1) >= tree.least > 1
    assert len(tree) == sum(visits_of(whole, node) >= tree.least for node in range(len(whole)))


def test_the_state_of_a_node_has_its_moves_as_its_last() -> None:
    result = search(games.load("hearts").new_initial_state(seed=3), BASELINE, iterations=300, seed=2)
    tree = tree_of(result)
    for node in range(0, len(tree), 37):
        path = tree.path(node)
        state = tree.state(node)
        assert [action for _, action in state.history] == [int(tree.action[step]) for step in path]


@pytest.mark.parametrize("scheme", [MO_ISMCTS, SO_ISMCTS], ids=str)
@pytest.mark.parametrize("game", ["hearts", "phantom-mnk"])
def test_a_line_plays_the_actions_visited_most_and_tells_nothing_of_what_is_hidden(game: str, scheme: Scheme) -> None:
    state = games.load(game).new_initial_state(seed=3)
    for _ in range(5):
        state.apply_action(state.legal_actions()[0])
    result = search(state, BASELINE, iterations=400, seed=2, scheme=scheme)
    lines = lines_of(result, 4)
    assert len({str(line.states[0]) for line in lines}) > 1
    for line in lines:
        assert (
            abs(line.visits[0] - result.visits.max()) <= 1 and min(line.visits) > 1
        )  # the first playout expands the root
        replayed = line.states[0].clone()
        for label, after in zip(line.labels, line.states[1:], strict=True):
            replayed.apply_action(next(a for a in replayed.legal_actions() if replayed.action_to_string(a) == label))
            assert str(replayed) == str(after)
    twin = state.determinize(state.current_player(), seed=99)
    assert str(twin) != str(state)
    same = lines_of(search(twin, BASELINE, iterations=400, seed=2, scheme=scheme), 4)
    assert [[*map(str, line.states)] for line in same] == [[*map(str, line.states)] for line in lines]


def test_there_are_no_lines_where_nothing_is_drawn_again() -> None:
    deal = games.load("hearts").new_initial_state(seed=3)
    assert lines_of(search(games.load("othello").new_initial_state(), BASELINE, iterations=50), 4) == []
    assert lines_of(search(deal, BASELINE, iterations=50, scheme=CheatingUCT), 4) == []
    assert len(lines_of(search(deal, BASELINE, iterations=50, scheme=DeterminizedUCT(4)), 4)) == 1


@pytest.mark.parametrize(
    ("game", "scheme"), [("goofspiel", MO_ISMCTS), ("hearts", SO_ISMCTS), ("othello", MO_ISMCTS)], ids=str
)
def test_the_tree_of_a_game_in_plain_python_is_that_of_the_compiled_one(game: str, scheme: Scheme) -> None:
    compiled, strategy = games.load(game), parse("RAVE >> NAST2")
    searched = {"iterations": 30, "seed": 2, "scheme": scheme}
    compiled_tree = tree_of(search(compiled.new_initial_state(seed=3), strategy, **searched))
    python_tree = tree_of(search(in_python(compiled).new_initial_state(seed=3), strategy, **searched))
    assert compiled_tree.label == python_tree.label
    for name in ("parent", "action", "player", "legal", "rows"):
        assert np.array_equal(getattr(compiled_tree, name), getattr(python_tree, name)), name
