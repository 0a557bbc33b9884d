"""Tables of records: what each was made of in the words of the game, and what is known of it."""

import base64
import re
import sys

import attrs
import numpy as np
import pytest

from icarus import *
from icarus.kernel import CHANCE, observed, record as key_of, update
from icarus.views.document import Table, html
from icarus.views.shown import number_text, playout_page
from icarus.views.tree_page import tree_page


@pytest.fixture(scope="module")
def kuhn():
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    return search(state, BASELINE >> MAST, iterations=300, seed=2)


def test_every_record_of_mast_is_shown_by_action_and_player(kuhn):
    shown = show_records(kuhn, "MAST")
    assert {record.text for record in shown.records} == {
        f"({action}, player {player})"
        for action in ("pass or fold", "bet or call")
        for player in (0, 1)
    }
    for record in shown.records:
        row = kuhn.records["MAST"][record.parts]
        assert record.key == row["record"]
        assert record.fields == {"reward": row["reward"], "visits": row["visits"]}


def test_the_records_with_the_most_updates_come_first(kuhn):
    shown = show_records(kuhn, "MAST", most=2)
    visits = sorted(kuhn.records["MAST"].rows["visits"], reverse=True)
    assert [record.fields["visits"] for record in shown.records] == visits[:2]
    assert str(shown).startswith("MAST: 2 of 4 records, A × {1, …, κ}\n")


@pytest.mark.parametrize(
    ("settings", "whose"),
    [
        ({}, "records,"),
        ({"scheme": DeterminizedUCT(1)}, "records,"),
        ({"threads": 2}, "records of the first of 2 trees,"),
        ({"scheme": DeterminizedUCT(3)}, "records of the first of 3 trees,"),
    ],
)
def test_of_several_trees_the_records_are_said_to_be_those_of_the_first(kuhn, settings, whose):
    result = search(kuhn.state, BASELINE >> MAST, iterations=30, **settings)
    shown = show_records(result, "MAST")
    assert str(shown).startswith(f"MAST: {len(shown.records)} of {len(shown.all)} {whose}")
    assert ("; the tree is the first of" in tree_page(result)) == ("first" in whose)


def test_histories_are_named_by_the_tree(kuhn):
    texts = [record.text for record in show_records(kuhn, "BASELINE", most=100).records]
    assert texts[0] == "⟨⟩"
    assert {"⟨pass⟩", "⟨bet⟩", "⟨bet, fold⟩", "⟨pass, bet, call⟩"} <= {*texts}


def test_moves_that_their_player_does_not_see_are_numbers():
    state = games.load("phantom-mnk").new_initial_state()
    result = search(state, BASELINE >> NAST2, iterations=200, seed=1)
    shown = show_records(result, "NAST2", most=5)
    assert all(record.parts is not None for record in shown.records)
    assert re.search(r"\(move \d+, ", str(shown))


def test_a_history_has_the_moves_that_its_player_has_seen():
    state = games.load("phantom-mnk").new_initial_state(seed=1)
    result = search(state, BASELINE, iterations=2000, seed=1)
    texts = {each.key: each.text for each in show_records(result, "BASELINE", most=10_000).records}
    updates = show_playout(state, BASELINE, seed=1, after=1999).playout.updates["BASELINE"]
    went = [each for each in updates if each.after["visits"] > each.before["visits"]]
    assert [texts[each.key] for each in went[:4]] == [each.record for each in went[:4]]
    # of a player who hides his stones the others see that he has moved
    assert "move 64" in texts[went[2].key]


def test_what_chance_does_is_named_where_players_see_it():
    state = games.load("backgammon").new_initial_state()
    state.apply_action(state.string_to_action("opening roll 61"))
    shown = show_records(search(state, BASELINE >> NAST2, iterations=25, seed=1), "NAST2")
    assert re.search(r"\(roll \d\d, ", str(shown))
    assert "move " not in str(shown)


@capture
def capture_answers(history, updates):
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, key_of(step.action, step.player, observed(history, i, 1)), step.player)


def test_of_a_player_who_has_seen_no_move_the_record_says_so():
    answers = attrs.evolve(
        MAST, name="ANSWERS", records=ACTION * PLAYER * MOVE, capture=capture_answers
    )
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    shown = show_records(
        search(state, BASELINE >> answers, iterations=60, seed=2), "ANSWERS", most=20
    )
    assert "(pass or fold, player 0, unseen)" in [entry.text for entry in shown.records]
    assert not any(entry.text.startswith("key") for entry in shown.records)


def test_a_reply_is_an_action_and_a_forgotten_one_is_none():
    result = search(
        games.load("othello").new_initial_state(), BASELINE >> LGRF, iterations=30, seed=1
    )
    shown = show_records(result, "LGRF", most=len(result.records["LGRF"]))
    replies = [record.field_texts[0] for record in shown.records]
    assert replies.index("⊥") == len(replies) - replies.count("⊥")
    assert all(re.fullmatch(r"[a-h][1-8]|pass|⊥", reply) for reply in replies)


def test_a_page_of_a_long_playout_has_its_end_and_says_what_is_left_out(monkeypatch, kuhn):
    shown = show_playout(games.load("othello").new_initial_state(), BASELINE, seed=1)
    states = len(shown.playout.states)
    assert playout_page(shown.playout).count("<img") == states
    monkeypatch.setattr(sys.modules["icarus.views.shown"], "DRAWN", 5)
    page = playout_page(shown.playout)
    assert page.count("<img") == 5
    assert f"{states - 5} boards are not drawn" in page
    assert "the end" in page


def test_a_component_that_has_learned_nothing_shows_no_records():
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    for action in (0, 1):  # one more action ends the game: it follows no other in the playout
        state.apply_action(action)
    shown = show_records(search(state, BASELINE >> NAST2, iterations=10, seed=1), "NAST2")
    assert shown.records == ()
    assert str(shown).startswith("NAST2: 0 of 0 records, ")


# -------------------- The page of a playout: it shows what happened, alone and beside the tree.


STRATEGY = parse("BASELINE >> (MAST + LGRF)/2")


@pytest.fixture(scope="module")
def shown():
    return show_playout(
        games.load("phantom-mnk").new_initial_state(), STRATEGY, seed=3, after=np.int8(60)
    )


def test_each_decision_is_shown_with_who_decided_by_what_and_its_board(shown, tmp_path):
    shown.to_html(tmp_path / "playout.html")
    text, playout = (tmp_path / "playout.html").read_text(), shown.playout
    decisions, *captured = re.findall(r"<tbody>(.*?)</tbody>", text, re.DOTALL)
    rows = [
        re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", decisions)
    ]
    for t, (choice, row) in enumerate(zip(playout.choices, rows, strict=True)):
        assert (row[0], row[1], row[3]) == (str(t), choice.phase, choice.action)
        assert row[4].startswith(choice.by)
        assert all(
            f"{action} {number_text(value)}" in row[5] for action, value in choice.values.items()
        )
    boards = [
        base64.b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", text)
    ]
    for state, board in zip(playout.states, boards, strict=True):
        assert board.count(">X</text>") == int(state.facts.marks[0]).bit_count()
    for (name, updates), table in zip(playout.updates.items(), captured, strict=True):
        assert f"<h2>{name} captured {len(updates)} record" in text
        assert table.count("<tr>") == len(updates)
    assert f"rewards: {', '.join(f'{reward:.4g}' for reward in playout.rewards)}" in text
    # folded away
    assert text.count("<figure>") == 1
    assert text.count("<details>") == len(boards) - 1
    with pytest.raises(ValueError, match="exists and is not overwritten"):
        shown.to_html(tmp_path / "playout.html")


def test_a_table_shows_its_results_on_a_phone_and_a_wide_one_uses_the_whole_window(page):
    phone = (
        "BASELINE >> NAST2 >> LGRF, 128 iterations, of 12 actions",
        "search in all seats",
        "72% [57%, 84%]",
        "50%",
        "80",
    )
    header = ("who", "against", "gets of the points", "even", "units")
    wide = [f"the strategy number {i} of the band" for i in range(12)]
    values = ("0", "9♣ 1, A♦ 0.5, " * 20)  # which is no number, though it begins with one
    tables = (
        (400, header, phone),
        (1280, ["a column"] * 12, wide),
        (1280, ("t", "values"), values),
    )
    for width, head, row in tables:
        page.set_viewport_size({"width": width, "height": 800})
        page.set_content(html("widths", [Table("", head, [row])]))
        hidden = "element => element.scrollWidth - element.clientWidth"
        assert page.locator(".wide").evaluate(hidden) == 0, width
