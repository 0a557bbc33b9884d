"""The tree that is read back from the records of a search, against what the search itself has counted."""

import re
from pathlib import Path

import attrs
import numpy as np
import pytest

from icarus import *
from icarus.engine.inspect import search_tree
from icarus.kernel import EMPTY_HISTORY, TERMINAL, UNSEEN, in_python
from icarus.views.tree_page import tree_page
from tests.views.conftest import tree_data


def visits_of(tree, node: int) -> int:
    return int(tree.rows["visits"][tree.record[node]])


def moves_seen(tree, node: int, perspective: int) -> tuple[int, ...]:
    return tuple(
        int(tree.moves[step, perspective])
        for step in tree.path(node)
        if tree.moves[step, perspective] != UNSEEN
    )


def test_where_all_is_seen_every_record_that_was_visited_is_one_node_and_looks_up_to_the_same_numbers():
    result = search(games.load("othello").new_initial_state(), BASELINE, iterations=800, seed=2)
    tree, records = search_tree(result), result.records["BASELINE"]
    visited = records.rows[records.rows["visits"] > 0]
    assert len(tree) == len(visited) == len(np.unique(tree.record))
    for node in range(len(tree)):
        moves = tuple(int(tree.action[step]) for step in tree.path(node))
        row = records[(int(tree.player[node]), moves)] if moves else records[EMPTY_HISTORY]
        assert visits_of(tree, node) == row["visits"]
        assert tree.rows["reward"][tree.record[node]].tolist() == row["reward"].tolist()


@pytest.mark.parametrize("moves", [0, 1])
def test_the_tree_of_a_search_that_goes_on_from_records_is_that_of_all_its_visits(moves):
    state = games.load("othello").new_initial_state()
    first = search(state, BASELINE, iterations=300, seed=2)
    if moves:
        state.apply_action(first.action)
    result = search(state, BASELINE, iterations=5, seed=2, records=first)
    tree = search_tree(result)
    assert len(tree) == tree.visits[0] > 100
    assert len(tree.principal_variation()) >= len(search_tree(first).principal_variation()) - moves


@pytest.mark.parametrize("game", ["hearts", "knockout-whist", "phantom-mnk", "goofspiel"])
def test_where_something_is_hidden_a_node_has_the_record_of_what_its_player_saw(game):
    result = search(games.load(game).new_initial_state(seed=3), BASELINE, iterations=120, seed=2)
    tree, records = search_tree(result), result.records["BASELINE"]
    assert len(tree) > 50
    for node in range(1, len(tree)):
        player = int(tree.player[node])
        row = records[player, moves_seen(tree, node, result.state.game.perspective(player))]
        assert visits_of(tree, node) == row["visits"]


def test_a_node_s_move_is_played_as_an_action_that_looks_so_and_not_as_the_action_of_that_number():
    """Player 1 has actions 0 to 3, of which player 0 sees half the number, and guesses it."""
    game = PythonGame(
        name="halves",
        players=2,
        initial=lambda rng: [],
        player=lambda state: TERMINAL if len(state) == 3 else [0, 1, 0][len(state)],
        legal=lambda state: [0, 1, 2, 3] if len(state) == 1 else [0, 1],
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [float(state[1] // 2 == state[2]), float(state[1] // 2 != state[2])],
        observe=lambda state, action: [action // 2 if len(state) == 1 else action, action],
        determinize=lambda state, observer, beliefs, rng: list(state),
    )
    state = game.new_initial_state(seed=1)
    tree = search_tree(search(state, BASELINE, iterations=60, seed=1, scheme=SO_ISMCTS_POM))
    moves = [node for node in range(len(tree)) if tree.player[node] == 1]
    assert len(moves) == 2 * 2
    for node in moves:
        assert tree.state(node).data[1] // 2 == tree.action[node]


@pytest.mark.parametrize(
    "scheme", [SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(4)], ids=str
)
def test_the_root_s_children_have_the_visits_that_each_scheme_counted(scheme):
    result = search(
        games.load("hearts").new_initial_state(seed=3),
        parse("MAST"),
        iterations=150,
        seed=2,
        scheme=scheme,
    )
    tree = search_tree(result)
    first = result.parts[0] if result.parts else result
    children = {
        int(tree.action[node]): visits_of(tree, node) for node in np.flatnonzero(tree.parent == 0)
    }
    # The very first playout expands the empty history: the move that it goes on with is simulated.
    missing = [
        visits - children.get(action, 0)
        for action, visits in zip(first.actions, first.visits, strict=True)
    ]
    assert sorted(missing)[-1] == 1
    assert sum(missing) == 1


@pytest.mark.parametrize(
    ("game", "scheme"),
    [("goofspiel", MO_ISMCTS), ("hearts", SO_ISMCTS), ("othello", MO_ISMCTS)],
    ids=str,
)
def test_the_tree_of_a_game_in_plain_python_is_that_of_the_compiled_one(game, scheme):
    compiled, strategy = games.load(game), parse("RAVE >> NAST2")
    searched = {"iterations": 30, "seed": 2, "scheme": scheme}
    compiled_tree = search_tree(search(compiled.new_initial_state(seed=3), strategy, **searched))
    python_tree = search_tree(
        search(in_python(compiled).new_initial_state(seed=3), strategy, **searched)
    )
    assert compiled_tree.label == python_tree.label
    for name in ("parent", "action", "player", "legal", "rows"):
        assert np.array_equal(getattr(compiled_tree, name), getattr(python_tree, name)), name


# -------------------- The page of a search's tree, opened in a browser: what it shows is what the search found.


@pytest.fixture(scope="module")
def othello():
    return search(
        games.load("othello").new_initial_state(),
        parse("RAVE >> (MAST + LGRF)/2"),
        iterations=300,
        seed=2,
    )


@pytest.fixture(scope="module")
def hearts():
    return search(
        games.load("hearts").new_initial_state(seed=3),
        parse("BASELINE >> MAST"),
        iterations=400,
        seed=2,
    )


@pytest.fixture(scope="module")
def othello_page(othello, tmp_path_factory):
    return written(othello, tmp_path_factory.mktemp("othello"))


@pytest.fixture(scope="module")
def hearts_page(hearts, tmp_path_factory):
    return written(hearts, tmp_path_factory.mktemp("hearts"))


def written(result: Result, folder: Path) -> Path:
    result.to_html(folder / "tree.html")
    return folder / "tree.html"


def opened(page, file: Path):
    page.goto(f"file://{file}")
    page.wait_for_selector("body[data-ready=yes]")
    return page


def rows(page, depth: int) -> list[list[str]]:
    """The cells of the rows at a depth, in order."""
    elements = page.query_selector_all(f".row[aria-level='{depth + 1}']")
    return [
        [cell.inner_text().strip() for cell in row.query_selector_all(":scope > span")]
        for row in elements
    ]


@pytest.mark.parametrize(("scheme", "guess"), [(MO_ISMCTS, True), (CheatingUCT, False)], ids=str)
def test_a_page_of_a_search_that_cheats_calls_the_truth_no_guess(scheme, guess, tmp_path):
    game = attrs.evolve(in_python(games.load("kuhn-poker")), board=None)
    state = game.new_initial_state(seed=1)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    result = search(state, BASELINE, iterations=9, seed=1, scheme=scheme)
    assert tree_data(written(result, tmp_path).read_text())["guess"] == guess


def test_a_page_asks_no_network_for_anything(othello_page, page):
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    opened(page, othello_page)
    assert [url for url in urls if not url.startswith(("file:", "blob:"))] == []


def test_a_move_opens_to_its_replies_and_shows_its_board(othello_page, page):
    opened(page, othello_page)
    assert page.locator("#board circle").count() == 4
    page.locator(".row[aria-level='2']").first.click()
    assert len(rows(page, 2)) == 3
    assert page.locator("#board circle").count() == 5
    page.keyboard.press("ArrowLeft")
    assert rows(page, 2) == []


def test_long_lists_are_cut_and_the_keyboard_goes_on_at_the_first_row_that_is_added(
    hearts_page, page
):
    opened(page, hearts_page)
    assert len(rows(page, 1)) == 12
    page.get_by_role("treeitem", name=re.compile("and 1 more")).focus()
    page.keyboard.press("Enter")
    assert len(rows(page, 1)) == 13
    assert page.evaluate(
        "document.activeElement === document.querySelectorAll(`.row[aria-level='2']`)[12]"
    )


def test_in_another_s_eyes_what_he_cannot_see_is_one_move(hearts, hearts_page, page):
    opened(page, hearts_page)
    page.select_option("#observer", "1")
    shown = rows(page, 1)
    assert len(shown) == 1
    assert "one of 13 actions, hidden" in shown[0][0]
    assert int(shown[0][2].replace(",", "")) == hearts.iterations - 1
    page.select_option("#observer", "4")
    assert len(rows(page, 1)) == 12


def test_where_there_is_no_room_for_all_the_moves_of_most_visits_are_opened():
    state = games.load("phantom-mnk").new_initial_state(seed=1)
    result = search(state, BASELINE, iterations=2000, seed=1)
    tree = search_tree(result, 300)
    at_root = np.flatnonzero(tree.parent == 0)
    first = at_root[np.argsort(-tree.visits[at_root])]
    is_opened = np.isin(first, tree.parent)
    assert is_opened[:3].all()
    histories = len(np.unique(tree.record[tree.record >= 0]))
    least = f"{len(tree.rows):,} histories of at least {tree.least} visits are shown"
    assert f"; {histories:,} of {least}" in tree_page(result, 300)


def test_a_file_that_exists_is_not_overwritten(othello, tmp_path):
    (tmp_path / "tree.html").write_text("mine")
    with pytest.raises(ValueError, match="exists and is not overwritten"):
        othello.to_html(tmp_path / "tree.html")
    with pytest.raises(ValueError, match="there is no directory"):
        othello.to_html(tmp_path / "nowhere" / "tree.html")


def test_a_notebook_shows_the_tree_in_a_frame_of_its_own(othello, page):
    page.set_content(f"<body>{othello._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    frame.locator("body[data-ready=yes]").wait_for()
    assert frame.locator(".row[aria-level='2']").count() == 4
