"""The page of a search's tree, opened in a browser: what it shows is what the search found."""

import re
from pathlib import Path
from typing import Any

import pytest

from icarus import Result, games, parse, search
from icarus.engine.inspect import lines_of
from tests.toy import ALL_TOYS


@pytest.fixture(scope="module")
def othello() -> Result:
    return search(games.load("othello").new_initial_state(), parse("RAVE >> (MAST + LGRF)/2"), iterations=1000, seed=2)


@pytest.fixture(scope="module")
def hearts() -> Result:
    return search(games.load("hearts").new_initial_state(seed=3), parse("BASELINE >> MAST"), iterations=1500, seed=2)


@pytest.fixture(scope="module")
def othello_page(othello: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(othello, tmp_path_factory.mktemp("othello"))


@pytest.fixture(scope="module")
def hearts_page(hearts: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(hearts, tmp_path_factory.mktemp("hearts"))


def written(result: Result, folder: Path) -> Path:
    result.to_html(folder / "tree.html")
    return folder / "tree.html"


def opened(page: Any, file: Path) -> Any:
    page.goto(f"file://{file}")
    page.wait_for_selector("body[data-ready=yes]")
    return page


def rows(page: Any, depth: int) -> list[list[str]]:
    """The cells of the rows at a depth, in order."""
    elements = page.query_selector_all(f".row[aria-level='{depth + 1}']")
    return [[cell.inner_text().strip() for cell in row.query_selector_all(":scope > span")] for row in elements]


def test_a_page_asks_no_network_for_anything(othello_page: Path, page: Any) -> None:
    urls: list[str] = []
    page.on("request", lambda request: urls.append(request.url))
    opened(page, othello_page)
    assert [url for url in urls if not url.startswith(("file:", "blob:"))] == []


def test_the_moves_stand_in_the_order_of_their_visits(othello: Result, othello_page: Path, page: Any) -> None:
    opened(page, othello_page)
    shown = rows(page, 1)
    order = sorted(range(len(othello.actions)), key=lambda i: -othello.visits[i])
    assert [row[0].removeprefix("▸P0") for row in shown] == [
        othello.state.action_to_string(othello.actions[i]) for i in order
    ]
    for row, i in zip(shown, order, strict=True):
        assert abs(int(row[2].replace(",", "")) - othello.visits[i]) <= 1  # the first playout expands the root
        assert float(row[3]) == pytest.approx(othello.values[i], abs=6e-4)


def test_a_move_opens_to_its_replies_and_shows_its_board(othello_page: Path, page: Any) -> None:
    opened(page, othello_page)
    assert page.locator("#board circle").count() == 4
    page.locator(".row[aria-level='2']").first.click()
    assert len(rows(page, 2)) == 3 and page.locator("#board circle").count() == 5
    page.keyboard.press("ArrowLeft")
    assert rows(page, 2) == []


def test_long_lists_are_cut_and_the_keyboard_goes_on_at_the_first_row_that_is_added(hearts_page, page) -> None:
    opened(page, hearts_page)
    assert len(rows(page, 1)) == 12
    page.get_by_role("treeitem", name=re.compile("and 1 more")).focus()
    page.keyboard.press("Enter")
    assert len(rows(page, 1)) == 13
    assert page.evaluate("document.activeElement === document.querySelectorAll(`.row[aria-level='2']`)[12]")


def test_on_a_narrow_screen_no_move_is_cut_off(tmp_path: Path, page: Any) -> None:
    state = games.load("lotr-confrontation").new_initial_state(seed=3)
    page.set_viewport_size({"width": 400, "height": 800})
    opened(page, written(search(state, parse("BASELINE"), iterations=200, seed=2), tmp_path))
    assert page.evaluate(
        "[...document.querySelectorAll('.row > .name')].every(name => name.scrollWidth <= name.clientWidth)"
    )
    assert rows(page, 0)[0][0].endswith("root, Dark to move") and rows(page, 1)[0][0].startswith("▸Dark")
    assert page.locator("#value option").all_inner_texts()[-2:] == ["Light", "Dark"]


def test_a_determinization_in_words_is_called_a_guess(hearts_page: Path, tmp_path: Path, page: Any) -> None:
    opened(page, hearts_page)
    assert page.inner_text("#since") == ""  # what is hidden lies face down in the picture
    game = next(toy for toy in ALL_TOYS if toy.determinize is not None)  # it has no picture
    state = game.new_initial_state(seed=3)
    opened(page, written(search(state, parse("BASELINE"), iterations=100, seed=2), tmp_path))
    assert page.inner_text("#since").startswith("what player 0 does not know is drawn at random")


def test_in_another_s_eyes_what_he_cannot_see_is_one_move(hearts: Result, hearts_page: Path, page: Any) -> None:
    opened(page, hearts_page)
    page.select_option("#observer", "1")
    shown = rows(page, 1)
    assert len(shown) == 1 and "one of 13 actions, hidden" in shown[0][0]
    assert int(shown[0][2].replace(",", "")) == hearts.iterations - 1
    page.select_option("#observer", "4")
    assert len(rows(page, 1)) == 12


def test_a_determinization_is_followed_on_the_board(hearts: Result, hearts_page: Path, page: Any) -> None:
    opened(page, hearts_page)
    line = lines_of(hearts, 2)[1]
    seat, drawn = page.inner_html("#board"), set()
    page.select_option("#line", label="2")
    for moment in range(len(line.labels) + 1):
        drawn.add(page.inner_html("#board"))
        assert (
            page.inner_text("#path").split()
            == " ".join(line.labels[:moment] or ["a determinization of the position"]).split()
        )
        assert page.locator("#later").is_disabled() == (moment == len(line.labels))
        if moment < len(line.labels):
            page.click("#later")
    assert len(drawn) == len(line.states) and seat not in drawn
    page.select_option("#line", label="none")
    assert page.inner_html("#board") == seat and page.locator("#later").is_disabled()


def test_a_file_that_exists_is_not_overwritten(othello: Result, tmp_path: Path) -> None:
    (tmp_path / "tree.html").write_text("mine")
    with pytest.raises(ValueError, match="exists and is not overwritten"):
        othello.to_html(tmp_path / "tree.html")
    with pytest.raises(ValueError, match="there is no directory"):
        othello.to_html(tmp_path / "nowhere" / "tree.html")


def test_a_notebook_shows_the_tree_in_a_frame_of_its_own(othello: Result, page: Any) -> None:
    page.set_content(f"<body>{othello._repr_html_()}</body>")
    frame = page.frame_locator("iframe")
    frame.locator("body[data-ready=yes]").wait_for()
    assert frame.locator(".row[aria-level='2']").count() == 4
