"""Playing in a browser: by requests, by what they carry, and in a real one without a window."""

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from icarus import BASELINE, Agent, games
from icarus.commands.play.browser import LATE, Server, Table
from icarus.commands.play.session import Session

QUICK = Agent(BASELINE, iterations=20)


@pytest.fixture
def served() -> Iterator[Any]:
    """A function that serves a game and returns its table and address."""
    running: list[Server] = []

    def serve(game: str, seat: int | None = 0, seed: int = 3) -> tuple[Table, str]:
        loaded = games.load(game)
        agents = [None if number == seat else QUICK for number in range(loaded.players)]
        server = Server(Table(Session(loaded, agents, seed), QUICK, seat), 0)
        running.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.table, server.address

    yield serve
    for server in running:
        server.shutdown()
        server.server_close()
        server.table.close()


def got(address: str, path: str = "state") -> Any:
    with urllib.request.urlopen(address + path) as answer:
        return json.loads(answer.read())


def sent(address: str, what: str, given: dict, **headers: str) -> tuple[int, dict]:
    asked = urllib.request.Request(
        address + what, json.dumps(given).encode(), {"Content-Type": "application/json", **headers}
    )
    try:
        with urllib.request.urlopen(asked) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read())


def my_turn(address: str) -> dict:
    """How the game stands when a person is asked, or it is over."""
    told = got(address)
    while not (told["moves"] or told["over"]):
        told = got(address, f"state?since={told['version']}")
    return told


@pytest.mark.parametrize(
    "game", ["kuhn-poker", "knockout-whist", "phantom-mnk(columns=3,rows=3,in_a_row=3)", "othello"]
)
def test_a_game_is_played_to_its_end_by_requests(served, game: str) -> None:
    table, address = served(game)
    while not (told := my_turn(address))["over"]:
        status, _ = sent(address, "act", {"action": told["moves"][0]["action"], "version": told["version"]})
        assert status == 200
    assert "; rewards of player 0: " in told["status"] and table.session.state.is_terminal()
    assert len(told["log"]) == told["total"] == len(table.session.played)


def test_a_late_click_and_a_wrong_one_change_nothing_and_are_told(served) -> None:
    table, address = served("othello")
    told = my_turn(address)
    before, action = len(table.session.played), told["moves"][0]["action"]
    assert sent(address, "act", {"action": action, "version": told["version"] - 1}) == (409, {"error": LATE})
    status, found = sent(address, "act", {"action": 0, "version": told["version"]})
    assert status == 409 and "action 0 is not legal here" in found["error"]
    assert sent(address, "act", {"action": "d3", "version": told["version"]})[1] == {"error": "'d3' is no action"}
    assert sent(address, "dance", {})[1] == {"error": "nobody can 'dance' here"}
    assert len(table.session.played) == before
    assert sent(address, "act", {"action": action, "version": told["version"]})[0] == 200
    assert sent(address, "act", {"action": action, "version": told["version"]})[0] == 409  # the second of two tabs


def test_only_this_machine_and_this_page_are_answered(served) -> None:
    _, address = served("othello")
    assert sent(address, "act", {}, Host="elsewhere.example")[0] == 403
    assert sent(address, "act", {}, **{"Content-Type": "text/plain"})[0] == 400


@pytest.mark.parametrize("game", ["kuhn-poker", "hearts", "knockout-whist", "goofspiel", "liars-dice"])
def test_nothing_that_the_seat_may_not_see_is_sent(served, game: str) -> None:
    """All answers stay as they are, byte by byte, where hidden facts are other ones: a determinization takes the place of the truth."""
    table, address = served(game, seed=5)
    told = my_turn(address)
    for _ in range(2 * (game == "goofspiel")):  # nothing is hidden before the first bids, or where only one card fits
        sent(address, "act", {"action": told["moves"][2]["action"], "version": told["version"]})
        told = my_turn(address)
    truth, told = table.session.state, got(address)
    shown = None
    for seed in range(30):
        other = truth.determinize(0, seed=seed)
        if (other.data == truth.data).all():
            continue
        table.session.at = lambda count, found=other: found  # type: ignore[method-assign]
        shown = got(address)
        assert {key: shown[key] for key in ("board", "text", "moves", "status")} == {
            key: told[key] for key in ("board", "text", "moves", "status")
        }
    assert shown is not None, "nothing was hidden"
    assert sent(address, "why", {})[0] == 409  # the search of one who knows other cards


def test_the_past_is_looked_at_without_changing_the_present(served) -> None:
    table, address = served("othello", None)
    while not got(address)["over"]:
        pass
    told = got(address)
    boards = [got(address, f"state?at={at}")["board"] for at in range(told["total"] + 1)]
    assert boards[-1] == told["board"] and len(set(boards)) > told["total"] / 2
    assert got(address, "state?at=9999")["at"] == told["total"]
    status, found = sent(address, "why", {"at": 4})
    assert status == 200 and "iterations" in found["said"]
    with urllib.request.urlopen(address + "tree/why") as answer:
        assert b"<!DOCTYPE html>" in answer.read(40)


def test_undo_hint_and_resigning_work_by_requests(served) -> None:
    table, address = served("othello")
    told = my_turn(address)
    sent(address, "act", {"action": told["moves"][0]["action"], "version": told["version"]})
    told = my_turn(address)
    assert "iterations" in sent(address, "hint", {})[1]["said"]
    assert sent(address, "undo", {"version": told["version"]})[1] == {"said": "2 actions taken back"}
    told = my_turn(address)
    assert told["total"] == 0 and told["log"] == []
    assert sent(address, "resign", {"version": told["version"]})[0] == 200
    assert got(address)["status"] == "player 0 has resigned"


def test_a_game_saved_from_the_page_is_kept_where_it_is_served(served, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    table, address = served("kuhn-poker")
    my_turn(address)
    assert sent(address, "save", {})[1] == {
        "said": "saved; icarus play --resume kuhn-poker-1.json --browser goes on from here"
    }
    again = Session.resumed(tmp_path / "kuhn-poker-1.json")
    assert [one.action for one in again.played] == [one.action for one in table.session.played]


def test_a_port_in_use_is_told_in_a_sentence(served) -> None:
    table, address = served("kuhn-poker")
    with pytest.raises(ValueError, match="--port 0 takes any that is free"):
        Server(table, int(address.rsplit(":", 1)[1].strip("/")))


# ------------------------------------------------------------------------------------------------------- a real browser


def test_one_plays_by_clicking_on_the_board_and_sees_the_tree(served, page, expect) -> None:
    table, address = served("othello")
    page.goto(address)
    open_squares, status = page.locator("#board [data-part].open"), page.locator("#status")
    expect(open_squares.first).to_be_visible()
    page.click('#board [data-part="a1"]')
    expect(page.locator("#said")).to_contain_text("nothing can be done with a1")
    open_squares.first.click()
    expect(page.locator("#log li").nth(1)).to_be_attached()
    expect(open_squares.first).to_be_visible()
    page.click("#hint")
    page.frame_locator("#tree").locator(".row").nth(1).wait_for()
    page.click("#back")
    expect(status).to_contain_text("looking back")
    page.click("#last")
    expect(status).to_contain_text("your turn")


def test_in_hearts_one_sees_why_another_led_a_card_once_all_is_shown(served, page, expect) -> None:
    table, address = served("hearts", seed=5)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(address)
    for _ in range(3):  # passes three cards
        page.wait_for_selector("#moves button")
        count = len(table.session.played)
        page.locator("#board [data-part].open").first.click()
        page.wait_for_function(f"document.querySelectorAll('#log li').length > {count}")
    expect(page.locator("#status")).to_contain_text("your turn")
    expect(page.locator("#why")).to_be_disabled()
    expect(page.locator("#log")).to_contain_text("(hidden from you)")
    page.click("#open")
    expect(page.locator("#log")).not_to_contain_text("hidden from you")
    expect(page.locator("#open")).to_be_hidden()
    searched = [i for i, one in enumerate(table.session.played) if one.result is not None]
    page.locator("#log button").nth(searched[-1]).click()
    page.click("#why")
    last = table.session.played[searched[-1]]
    page.wait_for_function(
        f"document.getElementById('asked').textContent === 'why player {last.player} played {last.text}'"
    )
    rows = page.frame_locator("#tree").locator(".row.names ~ .row[aria-level='2']")
    expect(rows.first).to_contain_text(last.text)
    assert rows.first.evaluate("row => row.getBoundingClientRect().top") < 100  # the answer comes first


def test_a_second_tab_follows_the_first_and_a_closed_one_loses_nothing(served, page, browser, expect) -> None:
    table, address = served("goofspiel")
    second = browser.new_page()
    for tab in (page, second):
        tab.goto(address)
        expect(tab.locator("#moves button").first).to_be_visible()
    page.locator("#moves button").first.click()
    expect(second.locator("#log li").nth(1)).to_be_attached()
    second.close()
    expect(page.locator("#moves button").first).to_be_visible()
    page.locator("#moves button").first.click()
    expect(page.locator("#log li").nth(3)).to_be_attached()
