"""The page of a playout, opened in a browser: it shows what happened, alone and beside the tree."""

from pathlib import Path
from typing import Any

import pytest

from icarus import games, parse, search, show_playout
from icarus.views.playout import Shown
from icarus.views.tree_page import write_tree_page

STRATEGY = parse("BASELINE >> (MAST + LGRF)/2")


@pytest.fixture(scope="module")
def shown() -> Shown:
    return show_playout(games.load("phantom-mnk").new_initial_state(), STRATEGY, seed=3, after=60)


def opened(page: Any, file: Path) -> Any:
    page.goto(f"file://{file}")
    page.wait_for_selector("body[data-ready=yes]")
    return page


def test_each_decision_is_shown_with_who_decided_by_what_and_its_board(shown: Shown, tmp_path: Path, page: Any) -> None:
    shown.to_html(tmp_path / "playout.html")
    opened(page, tmp_path / "playout.html")
    playout = shown.playout
    rows = page.locator(".step")
    assert rows.count() == len(playout.choices) + 1  # and the end
    for t, choice in enumerate(playout.choices):
        rows.nth(t).click()
        text = rows.nth(t).inner_text()
        assert choice.phase in text and choice.action in text and choice.by in text
        marks = page.locator("#board svg text").filter(has_text="X").count()
        assert marks == int(playout.states[t].facts.marks[0]).bit_count() + ("X to" in str(playout.states[t]))
        shown_values = page.locator(".value").all_inner_texts()
        assert len(shown_values) == len(choice.values)
        if choice.values:
            assert page.locator(".value.chosen").count() == 1
            assert page.locator(".value.chosen").inner_text().startswith(choice.action)
    rows.last.click()
    assert page.inner_text("#what") == f"rewards: {', '.join(f'{reward:.4g}' for reward in playout.rewards)}"


def test_what_was_captured_is_listed_and_found(shown: Shown, tmp_path: Path, page: Any) -> None:
    shown.to_html(tmp_path / "playout.html")
    opened(page, tmp_path / "playout.html")
    for name, updates in shown.playout.updates.items():
        section = page.locator("details").filter(has=page.locator(f"summary:has-text('{name} ')"))
        assert f"{len(updates)} record" in section.locator("summary").inner_text()
    mast = page.locator("details").filter(has=page.locator("summary:has-text('MAST ')"))
    records = [row.split("\t")[0] for row in mast.locator("tbody tr").all_inner_texts()]
    assert records == [update.record for update in shown.playout.updates["MAST"]]
    if mast.locator("input").count():
        mast.locator("input").fill(records[0])
        assert set(mast.locator("tbody tr td:first-child").all_inner_texts()) == {records[0]}


def test_the_page_of_a_tree_shows_the_next_playout_when_asked(shown: Shown, tmp_path: Path, page: Any) -> None:
    result = search(shown.playout.state, STRATEGY, iterations=60, seed=3)
    write_tree_page(result, tmp_path / "tree.html", playout=shown.playout)
    opened(page, tmp_path / "tree.html")
    assert page.locator("#playout").is_hidden() and page.locator("#rows").is_visible()
    page.click("#to-playout")
    inside = page.frame_locator("#playout")
    inside.locator(".step").first.wait_for()
    assert page.locator("#rows").is_hidden()
    assert inside.locator("h1").inner_text() == "phantom-mnk: playout 61"
    page.click("#to-tree")
    assert page.locator("#rows").is_visible()


def test_a_file_that_exists_is_not_overwritten(shown: Shown, tmp_path: Path) -> None:
    (tmp_path / "kept.html").write_text("mine")
    with pytest.raises(ValueError, match="exists and is not overwritten"):
        shown.to_html(tmp_path / "kept.html")
    assert (tmp_path / "kept.html").read_text() == "mine"
