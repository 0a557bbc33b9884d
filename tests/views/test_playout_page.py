"""The page of a playout: it shows what happened, alone and beside the tree."""

import base64
import re
from pathlib import Path
from typing import Any

import pytest

from icarus import games, parse, search, show_playout
from icarus.views.shown import Shown, number_text
from icarus.views.tree_page import write_tree_page

STRATEGY = parse("BASELINE >> (MAST + LGRF)/2")


@pytest.fixture(scope="module")
def shown() -> Shown:
    return show_playout(games.load("phantom-mnk").new_initial_state(), STRATEGY, seed=3, after=60)


def test_each_decision_is_shown_with_who_decided_by_what_and_its_board(shown: Shown, tmp_path: Path) -> None:
    shown.to_html(tmp_path / "playout.html")
    text, playout = (tmp_path / "playout.html").read_text(), shown.playout
    decisions, *captured = re.findall(r"<tbody>(.*?)</tbody>", text, re.DOTALL)
    rows = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", decisions)]
    for t, (choice, row) in enumerate(zip(playout.choices, rows, strict=True)):
        assert (row[0], row[1], row[3]) == (str(t), choice.phase, choice.action) and row[4].startswith(choice.by)
        assert all(f"{action} {number_text(value)}" in row[5] for action, value in choice.values.items())
    boards = [base64.b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", text)]
    for state, board in zip(playout.states, boards, strict=True):
        assert board.count(">X</text>") == int(state.facts.marks[0]).bit_count()
    for (name, updates), table in zip(playout.updates.items(), captured, strict=True):
        assert f"<h2>{name} captured {len(updates)} record" in text and table.count("<tr>") == len(updates)
    assert f"rewards: {', '.join(f'{reward:.4g}' for reward in playout.rewards)}" in text
    with pytest.raises(ValueError, match="exists and is not overwritten"):
        shown.to_html(tmp_path / "playout.html")


def test_the_page_of_a_tree_shows_the_next_playout_when_asked(shown: Shown, tmp_path: Path, page: Any) -> None:
    result = search(shown.playout.state, STRATEGY, iterations=60, seed=3)
    write_tree_page(result, tmp_path / "tree.html", playout=shown.playout)
    page.goto(f"file://{tmp_path / 'tree.html'}")
    page.wait_for_selector("body[data-ready=yes]")
    assert page.locator("#playout").is_hidden() and page.locator("#rows").is_visible()
    page.click("#to-playout")
    assert page.frame_locator("#playout").locator("h1").inner_text() == "phantom-mnk: playout 61"
    assert page.locator("#rows").is_hidden()
    page.click("#to-tree")
    assert page.locator("#rows").is_visible()
