"""Tables of records: what each was made of in the words of the game, and what is known of it."""

import re

import attrs
import pytest

from icarus import ACTION, BASELINE, LGRF, MAST, MOVE, NAST2, PLAYER, capture, games, parse, search, show_records
from icarus.kernel import CHANCE, observed, update
from icarus.kernel import record as key_of


@pytest.fixture(scope="module")
def kuhn():
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    return search(state, BASELINE >> MAST, iterations=300, seed=2)


def test_every_record_of_mast_is_shown_by_action_and_player(kuhn):
    shown = show_records(kuhn, "MAST")
    assert {record.text for record in shown.records} == {
        f"({action}, player {player})" for action in ("pass or fold", "bet or call") for player in (0, 1)
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


def test_a_text_has_a_column_for_each_field_and_for_the_mean_reward(kuhn):
    title, header, *rows = str(show_records(kuhn, "MAST")).split("\n")
    assert re.split(r"  +", header) == ["record", "reward", "visits", "mean reward"]
    reward, visits, mean = map(float, re.split(r"  +", rows[0])[1:])
    assert mean == pytest.approx(reward / visits, rel=1e-3)


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


@capture
def capture_answers(history, updates):
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            update(updates, key_of(step.action, step.player, observed(history, i, 1)), step.player)


def test_of_a_player_who_has_seen_no_move_the_record_says_so():
    answers = attrs.evolve(MAST, name="ANSWERS", records=ACTION * PLAYER * MOVE, capture=capture_answers)
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    shown = show_records(search(state, BASELINE >> answers, iterations=60, seed=2), "ANSWERS", most=20)
    assert "(pass or fold, player 0, unseen)" in [entry.text for entry in shown.records]
    assert not any(entry.text.startswith("key") for entry in shown.records)


def test_a_reply_is_an_action_and_a_forgotten_one_is_none():
    result = search(games.load("othello").new_initial_state(), BASELINE >> LGRF, iterations=30, seed=1)
    shown = show_records(result, "LGRF", most=len(result.records["LGRF"]))
    replies = [record.field_texts[0] for record in shown.records]
    assert replies.index("⊥") == len(replies) - replies.count("⊥")
    assert all(re.fullmatch(r"[a-h][1-8]|pass|⊥", reply) for reply in replies)


def test_weights_that_nothing_counts_are_in_the_order_of_their_size():
    state = games.load("kuhn-poker").new_initial_state(seed=1)
    result = search(state, parse("BASELINE >> PPA"), iterations=100, seed=2)
    sizes = [abs(record.fields["weight"]) for record in show_records(result, "PPA").records]
    assert sizes == sorted(sizes, reverse=True)


def test_a_record_without_a_visit_has_no_mean_reward(kuhn):
    few = search(kuhn.state, BASELINE, iterations=2, seed=1)
    unvisited = [line for line in str(show_records(few, "BASELINE")).split("\n") if re.search(r"\(0, 0\) +0 ", line)]
    assert unvisited and all(line.endswith("  -") for line in unvisited)


def test_a_wrong_name_or_number_is_refused(kuhn):
    with pytest.raises(KeyError, match="no component of the strategy is called MATS; its components: BASELINE, MAST"):
        show_records(kuhn, "MATS")
    with pytest.raises(ValueError, match="most is 0"):
        show_records(kuhn, "MAST", most=0)
