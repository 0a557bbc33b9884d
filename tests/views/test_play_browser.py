"""Playing in a browser: by requests, by what they carry, and in a real one without a window."""

import base64
import contextlib
import json
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import attrs
import httpx
import numpy as np
import pytest

from icarus import BASELINE, Agent, games
from icarus.commands.play import table
from icarus.commands.play.review import Review, loss_of
from icarus.commands.play.server import DEEPEST, LONGEST, Server
from icarus.commands.play.session import Session
from icarus.commands.play.table import ENDED, LATE, Table
from icarus.equilibrium import OOS
from icarus.views.boards import drawing
from icarus.views.tree_page import FOLLOWED
from tests.conftest import child_process, environment
from tests.marks import slow_after

QUICK = Agent(BASELINE, iterations=20)


def late_answers(part: str, until: str) -> str:
    """A script by which a page gets answers late whose path has this part: when `until` calls `go`."""
    return f"""(() => {{
        const answer_of = window.fetch;
        window.fetch = async (path, ...rest) => {{
            const answer = await answer_of(path, ...rest);
            if (String(path).includes("{part}")) await new Promise((go) => {{ {until} }});
            return answer;
        }};
    }})()"""


# A busy machine: a page hears of the game later than of the answer to its own request.
LATE_STATES = late_answers("/state", "setTimeout(go, 300)")
LATE_LOOK = late_answers("at=", "window.release = go")


def tree_data(text: str) -> dict[str, Any]:
    """What a page of a tree carries."""
    packed = re.search(r'id="data">([^<]*)<', text)
    assert packed is not None
    return json.loads(zlib.decompress(base64.b64decode(packed[1])))


class Page:
    """What the page asks of a server, without a browser."""

    def __init__(self, server: Server) -> None:
        self.table, self.address, self.port = server.table, server.address, server.port
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{server.port}", follow_redirects=True, timeout=60)
        self.client.get(server.address)

    def state(self, **query: int) -> dict[str, Any]:
        return self.client.get("/state", params=query).json()

    def send(self, name: str, arguments: Any, **headers: str) -> tuple[int, dict[str, Any]]:
        answer = self.client.post("/" + name, json=arguments, headers=headers)
        return answer.status_code, answer.json()

    def my_turn(self) -> dict[str, Any]:
        """How the game stands when a person is asked, or it is over, or the agents cannot go on."""
        state = self.state()
        while not (state["moves"] or state["over"] or self.table.problem):
            state = self.state(since=state["version"])
        return state

    def act(self, action: int, state: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return self.send("act", {"action": action, "version": state["version"]})


@pytest.fixture
def served() -> Iterator[Any]:
    """A function that serves a game to a `Page`."""
    running: list[tuple[Page, Server, threading.Thread]] = []

    def serve(game: str, seat: int | None = 0, seed: int = 3) -> Page:
        loaded = games.load(game)
        agents = [None if number == seat else QUICK for number in range(loaded.players)]
        server = Server(Table(Session(loaded, agents, seed), QUICK, seat), 0)
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        running.append((Page(server), server, thread))
        return running[-1][0]

    yield serve
    for page, server, thread in running:
        page.client.close()
        server.stop()
        server.table.close()
        thread.join()


@pytest.mark.parametrize(
    "game", slow_after(2, ["kuhn-poker", "phantom-mnk(columns=3,rows=3,in_a_row=3)", "knockout-whist", "othello"])
)
def test_a_game_is_played_to_its_end_by_requests(served, game: str) -> None:
    page = served(game)
    while not (state := page.my_turn())["over"]:
        assert page.act(state["moves"][0]["action"], state)[0] == 200
    assert (
        "; rewards of " in state["status"] or "; won or lost: " in state["status"]
    ) and page.table.session.state.is_terminal()
    assert len(state["log"]) == state["total"] == len(page.table.session.played)


def test_a_late_click_and_a_wrong_one_change_nothing_and_are_told(served) -> None:
    page = served("othello")
    state = page.my_turn()
    before, action = len(page.table.session.played), state["moves"][0]["action"]
    assert page.send("act", {"action": action, "version": state["version"] - 1}) == (409, {"error": LATE})
    status, answer = page.act(0, state)
    assert status == 409 and "action 0 is not legal here" in answer["error"]
    assert page.send("act", {"action": "d3", "version": state["version"]})[1] == {"error": "'d3' is not an action"}
    assert page.send("dance", {})[1] == {"error": "unknown request 'dance'"}
    assert len(page.table.session.played) == before
    assert page.send("strength", {"iterations": 30})[0] == 200 and page.state()["version"] > state["version"]
    assert page.act(action, state)[0] == 200  # another strength leaves the position as the page shows it
    assert page.act(action, state)[0] == 409  # the second of two tabs


def test_a_click_while_all_is_turned_up_is_not_late(served) -> None:
    page = served("kuhn-poker")
    state = page.my_turn()
    assert page.send("open", {})[0] == 200 and page.state()["version"] > state["version"]
    assert page.act(state["moves"][0]["action"], state)[0] == 200


def test_only_who_knows_the_token_is_answered_and_only_to_this_page(served) -> None:
    page = served("othello")
    address = f"http://127.0.0.1:{page.port}"
    for path in ("/", "/state", "/tree/hint", "/?token=wrong"):
        assert httpx.get(address + path).status_code == 403
    assert httpx.post(address + "/save", json={}).status_code == 403
    for headers in ({"Host": "elsewhere.example"}, {"Origin": "http://elsewhere.example"}, {"Origin": "null"}):
        assert page.send("resign", {}, **headers)[0] == 403
    assert page.send("resign", {}, Origin=f"http://localhost:{page.port}")[0] == 403  # another origin than the host's
    assert page.client.get("/").headers["content-security-policy"].startswith("default-src 'none'")
    assert page.client.get("/").headers["x-frame-options"] == "DENY"
    assert page.client.get("/nowhere/at/all").json() == {"error": "there is no page /nowhere/at/all"}


def test_the_token_leaves_the_address_and_stays_in_a_cookie_that_no_script_reads(served) -> None:
    page = served("othello")
    answer = httpx.get(page.address)
    assert answer.status_code == 303 and answer.headers["location"] == "/"
    assert "HttpOnly" in answer.headers["set-cookie"] and "SameSite=strict" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"[" * 5000, 400),
        (b'{"a": ' * (DEEPEST + 1) + b"1" + b"}" * (DEEPEST + 1), 400),
        (b'"act"', 400),
        (b"{", 400),
        (b" " * (LONGEST + 1), 413),
    ],
)
def test_a_body_that_is_no_short_flat_object_is_refused(served, body: bytes, status: int) -> None:
    page = served("kuhn-poker")
    answer = page.client.post("/act", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == status and answer.json()["error"]


def test_the_unread_body_of_a_refused_request_is_no_request(served) -> None:
    """A foreign page sends, as the body of a request that is refused, a second one that would be accepted."""
    page = served("othello")
    page.my_turn()
    cookie = "; ".join(f"{name}={value}" for name, value in page.client.cookies.items())
    host = f"127.0.0.1:{page.port}"
    inner = f"POST /open HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{{}}"
    for head in ("Host: elsewhere.example", f"Host: {host}\r\nOrigin: http://elsewhere.example", f"Host: {host}"):
        outer = (
            f"POST /act HTTP/1.1\r\n{head}\r\nContent-Type: text/plain\r\nContent-Length: {len(inner)}\r\n\r\n{inner}"
        )
        with socket.create_connection(("127.0.0.1", page.port), timeout=30) as connection:
            connection.sendall(outer.encode())
            answer = b"".join(iter(lambda: connection.recv(1 << 16), b""))  # ends as the server closes the connection
        assert answer.count(b"HTTP/1.1") == 1 and answer.startswith(b"HTTP/1.1 403")
    assert page.table.observer == 0


@pytest.mark.parametrize("game", ["kuhn-poker", "hearts", "knockout-whist", "goofspiel", "liars-dice"])
def test_nothing_that_the_seat_may_not_see_is_sent(served, game: str) -> None:
    """All answers stay as they are, byte by byte, where hidden facts are other ones: a determinization takes the place of the truth."""
    page = served(game, seed=5)
    state = page.my_turn()
    for _ in range(2 * (game == "goofspiel")):  # nothing is hidden before the first bids, or where only one card fits
        page.act(state["moves"][2]["action"], state)
        state = page.my_turn()
    table, shown = page.table, None
    truth = table.session.state
    for seed in range(30):
        determinization = truth.determinize(0, seed=seed)
        if (determinization.data == truth.data).all():
            continue
        table.session.at = lambda count, state=determinization: state  # type: ignore[method-assign]
        shown = page.state(at=state["total"])
        assert {key: shown[key] for key in ("board", "text", "moves", "status")} == {
            key: state[key] for key in ("board", "text", "moves", "status")
        }
    assert shown is not None, "nothing was hidden"
    for name in (
        "why",
        "record",
        "review",
    ):  # a search of one who knows other cards; the seed of the deal; what is to come
        assert page.send(name, {})[0] == 409


@pytest.mark.parametrize(("game", "shown"), [("othello", True), ("knockout-whist", False)])
def test_what_an_agent_thinks_is_shown_where_nothing_is_hidden(served, monkeypatch, game: str, shown: bool) -> None:
    lives, search = [], Agent.search

    def watched(
        self: Agent, state: Any, seed: Any, records: Any = None, watch: Any = None, progress: Any = None
    ) -> Any:
        result = search(self, state, seed, records, watch, progress)
        if threading.current_thread() is page.table._worker.thread:
            lives.append((page.table.live, page.client.get("/live").json()))
        return result

    monkeypatch.setattr(Agent, "search", watched)
    page = served(game)
    state = page.my_turn()
    page.act(state["moves"][0]["action"], state)
    page.my_turn()
    assert lives and all(live == sent and bool(live["moves"]) == shown for live, sent in lives)
    assert lives[-1][1]["said"] == "20 of 20 iterations"
    assert sum(visits for _, visits, _ in lives[-1][1]["moves"]) == 20 * shown
    assert page.client.get("/live").json() == {}


def test_a_game_is_reviewed_when_it_is_over(served) -> None:
    page, rng = served("kuhn-poker", seed=4), random.Random(0)
    while not (state := page.my_turn())["over"]:
        page.act(rng.choice(state["moves"])["action"], state)
    session = page.table.session
    assert page.send("review", {})[0] == 200
    while not (review := page.state()["review"])["done"]:
        pass
    decided = [i for i, played in enumerate(session.played) if played.player == 0 or played.result is not None]
    assert [entry["at"] for entry in review["entries"]] == decided and review["names"] == ["player 0", "player 1"]
    assert all(0 <= entry["value"] <= 1 for entry in review["entries"])
    assert "[Seed 4]" in page.send("record", {})[1]["said"]


def test_the_review_of_a_game_leaves_out_searches_that_give_no_value(served) -> None:
    page = served("goofspiel(cards=4)")
    page.table.session.agents[1] = Agent(BASELINE, iterations=1)  # most moves have no visit
    while not (state := page.my_turn())["over"]:
        page.act(state["moves"][0]["action"], state)
    searches = [played.result for played in page.table.session.played if played.result is not None]
    assert any(np.isnan(result.value) for result in searches)
    assert page.send("review", {})[0] == 200
    while not (review := page.state()["review"])["done"]:
        pass
    assert review["entries"]


def test_a_review_says_which_move_was_better_and_by_how_much() -> None:
    session = Session(games.load("othello"), [None, QUICK], 0)
    session.act(19)
    adviser = Agent(BASELINE, iterations=20)
    review = Review(session, adviser)
    result = adviser.search(session.at(0), 1)
    values, visits = np.array([0.6, 0.3, 0.58, np.nan]), np.array([900, 400, 400, 0])
    weighed = attrs.evolve(result, action=19, actions=(19, 26, 37, 44), values=values, visits=visits)
    assert [round(loss_of(weighed, action), 9) for action in (19, 26, 37, 44)] == [0, 0.3, 0, 0]
    assert loss_of(attrs.evolve(weighed, visits=np.array([900, 4, 400, 0])), 26) == 0  # four visits show nothing
    assert not review.done
    review.step()
    assert review.done and review.entries[0].value > 0


def test_a_move_that_a_seat_does_not_notice_is_neither_listed_nor_counted(served) -> None:
    hidden = 0
    for seed in range(2):  # in which an agent of 20 iterations often tries a square that is taken
        page = served("phantom-mnk", seed=seed)
        session = page.table.session
        while not (state := page.my_turn())["over"]:
            noticed = sum(session.notices(0, index) for index in range(len(session.played)))
            assert state["total"] == len(state["log"]) == noticed
            hidden += len(session.played) - noticed
            page.act(
                state["moves"][seed]["action"] if seed < len(state["moves"]) else state["moves"][0]["action"], state
            )
        assert state["total"] == len(session.played)  # all is open at the end
    assert hidden > 0


def test_undo_does_not_count_the_moves_that_a_seat_does_not_notice() -> None:
    session = Session(games.load("phantom-mnk(columns=3,rows=3,in_a_row=3)"), [None, QUICK], 0)
    for action in (4, 4, 0):  # the second player tries the middle, in vain, and then a corner
        session.apply(session.state.legal_actions()[action])
    table = Table(session, QUICK, 0)
    assert len(session.played) == 3 and len(table.describe(-1, None)["log"]) == 2
    assert table.request("undo", {"version": table.version})["said"] == "2 actions taken back"
    assert session.played == []


def test_an_only_legal_action_is_named_where_the_seat_knows_that_it_is_the_only_one() -> None:
    bids = Session(games.load("goofspiel(cards=4)"), [None, None], 0)
    while len(bids.played) < 7:  # each player has a card less after each bid; the last of player 0 is no choice
        bids.apply(bids.state.legal_actions()[-1 if bids.state.current_player() == 0 else 0])
    assert len(bids.at(6).legal_actions()) == 1 and bids.notices(1, 6)
    assert bids.visible_text(1, 6) is None and bids.visible_text(0, 6) == bids.played[6].text
    hearts = Session(games.load("hearts"), [None] * 4, 0)
    while not (hearts.played and hearts.played[-1].text == "exchange"):
        hearts.apply(hearts.state.legal_actions()[0])
    assert all(hearts.visible_text(seat, len(hearts.played) - 1) == "exchange" for seat in range(4))


def test_a_game_whose_cards_have_been_shown_is_not_taken_back(served) -> None:
    page = served("kuhn-poker")
    assert page.send("resign", {"version": page.my_turn()["version"]})[0] == 200
    assert page.send("undo", {"version": page.state()["version"]}) == (409, {"error": ENDED})


def test_the_past_is_looked_at_without_changing_the_present(served) -> None:
    page = served("othello", None)
    state = page.my_turn()
    boards = [page.state(at=at)["board"] for at in range(state["total"] + 1)]
    assert boards[-1] == state["board"] and len(set(boards)) > state["total"] / 2
    assert page.state(at=9999)["at"] == state["total"]
    status, answer = page.send("why", {"at": 4})
    assert status == 200 and "iterations" in answer["said"]
    assert page.client.get("/tree/why").text.startswith("<!DOCTYPE html>")


def test_a_hint_shows_determinizations_and_never_the_cards_of_others(served) -> None:
    page = served("knockout-whist")
    page.my_turn()
    assert page.send("hint", {})[0] == 200
    lines = tree_data(page.client.get("/tree/hint").text)["lines"]
    true = drawing(page.table.session.state).svg()
    assert len({line["boards"][0] for line in lines}) == len(lines) == FOLLOWED
    assert true not in [line["boards"][0] for line in lines]


def test_undo_hint_and_resigning_work_by_requests(served) -> None:
    page = served("othello")
    state = page.my_turn()
    page.act(state["moves"][0]["action"], state)
    state = page.my_turn()
    assert "iterations" in page.send("hint", {})[1]["said"]
    assert page.send("undo", {"version": state["version"]})[1]["said"] == "2 actions taken back"
    state = page.my_turn()
    assert state["total"] == 0 and state["log"] == []
    for _ in range(3):
        page.act(state["moves"][0]["action"], state)
        state = page.my_turn()
    log = state["log"]
    assert page.send("undo", {"version": state["version"], "at": 2})[1]["said"] == "4 actions taken back"
    state = page.my_turn()
    assert state["log"] == log[:2]
    levelled = page.send("strength", {"level": 2})[1]["said"]
    assert levelled == "you: player 0 (black); BASELINE (10 iterations): player 1 (white)"
    assert "BASELINE (2.5 s)" in page.send("strength", {"seconds": 2.5})[1]["said"]
    assert page.state()["strength"] == {"seconds": 2.5}
    assert "BASELINE (20 iterations)" in page.send("strength", {})[1]["said"]  # as at the start
    assert page.state()["strength"] == {}
    for wrong in ({"level": 9}, {"iterations": 0}, {"seconds": "soon"}, {"iterations": "many"}, {"level": "x"}):
        assert page.send("strength", wrong)[0] == 409
    assert page.send("resign", {"version": page.state()["version"]})[0] == 200
    assert page.state()["status"] == "player 0 has resigned"


def test_a_game_saved_from_the_page_is_kept_where_it_is_served(served, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = served("kuhn-poker")
    page.my_turn()
    saved = page.send("save", {})[1]["said"]
    assert saved == "saved; icarus play --resume kuhn-poker-1.txt --browser continues from here"
    again = Session.resumed(tmp_path / "kuhn-poker-1.txt")
    assert [played.action for played in again.played] == [played.action for played in page.table.session.played]


def test_who_asks_before_the_page_is_served_waits_and_is_not_refused() -> None:
    server = Server(Table(Session(games.load("kuhn-poker"), [None, QUICK], 3), QUICK, 0), 0)
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as early:
        early.sendall(f"GET /?token={server.token} HTTP/1.0\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        assert early.recv(64).startswith(b"HTTP/1.1 303")
    server.stop()
    thread.join()


def test_a_port_in_use_is_told_in_a_sentence(served) -> None:
    page = served("kuhn-poker")
    with pytest.raises(ValueError, match="--port 0 takes any free port"):
        Server(page.table, page.port)


@pytest.mark.parametrize("compiled", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_page_asked_for_as_soon_as_the_address_is_printed_is_answered(tmp_path, compiled) -> None:
    """Also with the machine code not yet compiled, and asked at once by two."""
    command = [sys.executable, "-u", "-m", "icarus", "play", "leduc-poker", "--browser", "--iterations", "20"]
    folder = {} if compiled else {"ICARUS_CACHE_DIR": str(tmp_path / "cache")}
    with child_process(command, env=environment(**folder), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = next(word for line in process.stdout for word in line.split() if word.startswith("http"))
        with httpx.Client(follow_redirects=True, timeout=60) as client:
            assert client.get(address).status_code == 200
            assert client.get(address.split("?")[0] + "state").json()["game"] == "leduc-poker"
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0


@contextlib.contextmanager
def long_searches(page: Page) -> Iterator[None]:
    """Within, agents and hints of this page would search for a minute; they are under way when it begins."""
    slow = attrs.evolve(QUICK, iterations=None, seconds=60.0)
    page.table.adviser = slow
    page.table.session.agents[:] = [agent and slow for agent in page.table.session.agents]
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 20


def until(happens: Callable[[], object]) -> None:
    """Wait until something has happened."""
    while not happens():
        time.sleep(0.01)


def test_an_address_with_a_token_wins_over_the_cookie_of_an_earlier_game(served) -> None:
    page = served("kuhn-poker")
    address = f"http://127.0.0.1:{page.port}"
    with httpx.Client(follow_redirects=True, headers={"Cookie": f"icarus-{page.port}=of-an-earlier-game"}) as client:
        assert client.get(address).status_code == 403
        answer = client.get(page.address, follow_redirects=False)
    assert answer.status_code == 303 and f"icarus-{page.port}=" in answer.headers["set-cookie"]


def test_a_hint_keeps_nobody_waiting_and_a_move_gives_it_up(served) -> None:
    page, answers = served("othello"), list[tuple[int, dict[str, Any]]]()
    page.my_turn()
    with long_searches(page):
        asking = threading.Thread(target=lambda: answers.append(page.send("hint", {})))
        asking.start()
        until(lambda: page.client.get("/live").json())
        state = page.state()
        assert state["status"] == "searching for a hint …" and state["moves"] and not state["hint"]
        assert page.send("hint", {})[1] == {"error": "a search for a hint is already running"}
        assert "[Game " in page.send("record", {})[1]["said"]
        assert page.act(state["moves"][0]["action"], state)[0] == 200
        asking.join()
        assert answers == [(409, {"error": "the search for a hint was stopped"})]
        until(lambda: page.client.get("/live").json())  # the agent searches now
        assert page.send("undo", {"version": page.state()["version"]})[0] == 200
        assert page.my_turn()["hint"]


def test_undo_and_another_strength_abandon_a_search_that_nobody_waits_for(served, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = served("othello")
    with long_searches(page):
        for _ in range(2):
            state = page.my_turn()
            page.act(state["moves"][0]["action"], state)
            until(lambda: page.client.get("/live").json())
            assert page.send("save", {})[0] == 200
            assert page.send("undo", {"version": page.state()["version"]})[1]["said"] == "1 action taken back"
            assert page.my_turn()["status"] == "it is your turn"
        page.act(state["moves"][0]["action"], page.state())
        until(lambda: page.client.get("/live").json())
        assert page.send("strength", {"iterations": 10})[0] == 200
        assert page.my_turn()["total"] == 2


def test_a_server_that_ends_waits_for_no_search(served) -> None:
    page = served("othello")
    state = page.my_turn()
    with long_searches(page):
        page.act(state["moves"][0]["action"], state)
        until(lambda: page.client.get("/live").json())
        page.table.close()
        assert not page.table._worker.thread.is_alive() and len(page.table.session.played) == 1


def test_ctrl_c_ends_a_game_amid_a_search_and_keeps_it(tmp_path) -> None:
    command = [sys.executable, "-u", "-m", "icarus", "play", "othello", "--browser", "--seconds", "60"]
    with child_process(command, env=environment(), cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = next(word for line in process.stdout for word in line.split() if word.startswith("http"))
        with httpx.Client(base_url=address.split("?")[0], follow_redirects=True, timeout=60) as client:
            client.get(address)
            state = client.get("state").json()
            client.post("act", json={"action": state["moves"][0]["action"], "version": state["version"]})
            until(lambda: client.get("live").json())
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        assert "stopped; icarus play --resume othello-1.txt continues from here" in process.stdout.read()


def test_what_fails_in_a_game_of_one_s_own_is_told_and_can_be_left(served, monkeypatch) -> None:
    """A text, a rule, and a search that fail: each is told, and one goes back or on."""
    page, failing = served("othello"), set[str]()

    def fails(name: str, function: Callable) -> Callable:
        def call(*arguments: Any, **keywords: Any) -> Any:
            if name in failing:
                raise KeyError(f"oops in my {name}")
            return function(*arguments, **keywords)

        return call

    monkeypatch.setattr(table, "drawing", fails("text", table.drawing))
    monkeypatch.setattr(Session, "apply", fails("apply", Session.apply))
    monkeypatch.setattr(Agent, "search", fails("search", Agent.search))
    state = page.my_turn()
    action = state["moves"][0]["action"]
    failing.add("text")
    assert page.act(action, state)[0] == 200
    until(lambda: len(page.table.session.played) == 2)
    state = page.state()
    assert re.fullmatch(
        r"the game cannot be shown: KeyError: 'oops in my text', in call \(.*, line \d+\)", state["status"]
    )
    assert state["undo"] and not state["moves"]
    assert "oops in my text" in page.client.get("/state", params={"at": 0}).json()["error"]
    failing.clear()
    assert page.send("undo", {"version": state["version"]})[0] == 200
    state = page.my_turn()
    failing.add("apply")
    status, answer = page.act(action, state)
    assert status == 409 and "oops in my apply" in answer["error"]
    failing.symmetric_difference_update({"apply", "search"})
    assert "oops in my search" in page.send("hint", {})[1]["error"]
    page.act(action, state)
    until(lambda: page.table.problem)
    assert page.state()["status"].startswith("the agent cannot continue: KeyError: 'oops in my search'")
    assert page.send("undo", {"version": page.state()["version"]})[0] == 200
    state = page.my_turn()
    assert state["status"] == "it is your turn"
    page.act(action, state)
    until(lambda: page.table.problem)
    failing.clear()
    assert page.send("strength", {"iterations": 10})[0] == 200  # the agent tries again
    assert page.my_turn()["total"] == 2


# ------------------------------------------------------------------------------------------------------- a real browser


def test_one_plays_by_clicking_on_the_board_and_sees_the_tree(served, page, expect, monkeypatch) -> None:
    game, may_end, search = served("othello"), threading.Event(), Agent.search
    may_end.set()

    def search_that_lasts(
        self: Agent, state: Any, seed: Any, records: Any = None, watch: Any = None, progress: Any = None
    ) -> Any:
        result = search(self, state, seed, records, watch, progress)
        may_end.wait(60)  # the page asks now and then, and a quick machine ends a search between two requests
        return result

    monkeypatch.setattr(Agent, "search", search_that_lasts)
    page.goto(game.address)
    open_squares, status = page.locator("#board [data-part].open"), page.locator("#status")
    expect(open_squares.first).to_be_visible()
    page.click('#board [data-part="a1"]', force=True)  # for who tries nevertheless
    expect(page.locator("#said")).to_contain_text("nothing can be done with a1")
    open_squares.first.click()
    expect(page.locator("#log li").nth(1)).to_be_attached()
    expect(open_squares.first).to_be_visible()
    page.click("#hint")
    page.frame_locator("#tree").locator(".row").nth(1).wait_for()
    page.click("#back")
    expect(status).to_contain_text("earlier position")
    page.click("#undo")
    expect(page.locator("#said")).to_contain_text("taken back")
    expect(status).to_contain_text("your turn")
    page.select_option("#strength", label="1,000 iterations")
    expect(page.locator("#said")).to_contain_text("BASELINE (1000 iterations)")
    may_end.clear()
    open_squares.first.click()
    expect(page.locator("#live caption")).to_contain_text("1,000 of 1,000 iterations")
    may_end.set()
    expect(status).to_contain_text("your turn")
    expect(page.locator("#live")).to_be_hidden()
    page.on("dialog", lambda dialog: dialog.accept())
    page.click("#resign")
    page.click("#review")
    expect(page.locator("#curve polyline")).to_have_count(2)
    expect(page.locator("#mistakes")).not_to_contain_text("looking")
    page.click("#record")
    expect(page.locator("#recorded")).to_contain_text('[Game "othello"]')


def test_an_earlier_position_that_comes_after_an_undo_is_not_shown(served, page, expect) -> None:
    page.goto(served("othello").address)
    page.locator("#board [data-part].open").first.click()
    expect(page.locator("#log li").nth(1)).to_be_attached()
    expect(page.locator("#status")).to_contain_text("your turn")
    page.evaluate(LATE_LOOK)
    page.click("#back")
    until(lambda: page.evaluate("() => 'release' in window"))
    page.click("#undo")
    expect(page.locator("#said")).to_contain_text("taken back")
    page.evaluate("() => { release(); return new Promise((drawn) => setTimeout(drawn, 300)); }")
    expect(page.locator("#status")).to_contain_text("your turn")


def test_in_hearts_one_sees_why_another_led_a_card_once_all_is_shown(served, page, expect) -> None:
    game = served("hearts", seed=5)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(game.address)
    for _ in range(3):  # passes three cards
        page.wait_for_selector("#moves button")
        count = page.locator("#log li").count()
        page.locator("#board [data-part].open").first.click()
        expect(page.locator("#log li").nth(count)).to_be_attached()
    expect(page.locator("#status")).to_contain_text("your turn")
    expect(page.locator("#why")).to_be_disabled()
    expect(page.locator("#log")).to_contain_text("(hidden from you)")
    page.click("#open")
    expect(page.locator("#log")).not_to_contain_text("hidden from you")
    expect(page.locator("#open")).to_be_hidden()
    searched = [i for i, move in enumerate(game.table.session.played) if move.result is not None]
    page.locator("#log button").nth(searched[-1]).click()
    page.click("#why")
    last = game.table.session.played[searched[-1]]
    expect(page.locator("#asked")).to_have_text(f"why player {last.player} played {last.text}")
    rows = page.frame_locator("#tree").locator(".row.names ~ .row[aria-level='2']")
    expect(rows.first).to_contain_text(last.text)
    assert rows.first.evaluate("row => row.getBoundingClientRect().top") < 100  # the answer comes first


def test_a_second_tab_follows_the_first_and_a_closed_one_loses_nothing(served, page, browser, expect) -> None:
    game = served("goofspiel")
    second = browser.new_page()
    for tab in (page, second):
        tab.goto(game.address)
        expect(tab.locator("#moves button").first).to_be_visible()
    page.locator("#moves button").first.click()
    expect(second.locator("#log li").nth(1)).to_be_attached()
    second.close()
    expect(page.locator("#moves button").first).to_be_visible()
    page.locator("#moves button").first.click()
    expect(page.locator("#log li").nth(3)).to_be_attached()


MOVES_BEFORE = {"lotr-confrontation": 7}  # which are sent; the next ones are made on the board
QUICKLY_PLAYED = ["dou-di-zhu", "kuhn-poker", "lotr-confrontation"]
WHOLE_GAMES = [
    "backgammon",
    "checkers",
    "goofspiel(cards=4)",
    "hearts",
    "knockout-whist",
    "leduc-poker",
    "liars-dice",
    "othello",
    "phantom-mnk",
]


@pytest.mark.parametrize(
    "name", [*QUICKLY_PLAYED, *(pytest.param(name, marks=pytest.mark.slow) for name in WHOLE_GAMES)]
)
def test_a_game_is_played_to_its_end_by_clicks_on_its_board(served, page, name: str) -> None:
    """Buttons are clicked only for what is not on the board, such as a pass, and to end a choice of cards."""
    # what a new board has replaced is not there any more, or not seen
    PlaywrightError = pytest.importorskip("playwright.sync_api").Error
    game, luck, clicks = served(name), random.Random(name), 0
    for _ in range(MOVES_BEFORE.get(name, 0)):
        state = game.my_turn()
        game.act(luck.choice(state["moves"])["action"], state)
    page.goto(game.address)
    board, buttons = page.locator("#board [data-part].open"), page.locator("#moves button")
    while not game.table.session.over:
        game.my_turn()
        page.wait_for_timeout(30)
        parts, others = board.count(), buttons.count()
        if parts and not (others and game.state()["select"] and luck.random() < 0.5):
            with contextlib.suppress(PlaywrightError):
                board.nth(luck.randrange(parts)).click(force=True, position={"x": 4, "y": 4}, timeout=2000)
                clicks += 1
        elif others:
            with contextlib.suppress(PlaywrightError):
                buttons.nth(luck.randrange(others)).click(timeout=2000)
    assert clicks or name in ("kuhn-poker", "leduc-poker", "liars-dice")


def test_a_card_game_is_played_by_the_keyboard_alone(served, page, expect) -> None:
    game = served("knockout-whist(players=2)")
    page.goto(game.address)
    expect(page.locator("#status")).to_contain_text("your turn")
    for _ in range(3):
        game.my_turn()
        expect(page.locator("#board [data-part].open").first).to_be_visible()
        before = page.locator("#log li").count()
        page.locator("#board [data-part].open").first.focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        expect(page.locator("#log li").nth(before)).to_be_attached()


def test_a_play_of_dou_di_zhu_is_a_choice_of_cards(served, page, expect) -> None:
    game = served("dou-di-zhu", seed=3)
    page.goto(game.address)
    expect(page.locator("#clicked")).to_contain_text("select cards")
    three = page.locator('#board [data-part="3"]')
    three.nth(0).click(position={"x": 4, "y": 4})
    three.nth(1).click(position={"x": 4, "y": 4})
    expect(page.locator("#moves button")).to_have_text(["3 3"])
    three.nth(0).click(position={"x": 4, "y": 4})  # taken back
    expect(page.locator("#moves button")).to_have_text(["3"])
    page.locator("#moves button").click()
    expect(page.locator("#log li").first).to_contain_text("Landlord: 3")


def test_a_page_out_of_reach_says_so_asks_seldom_and_comes_back(served, page, expect) -> None:
    game = served("othello")
    page.goto(game.address)
    expect(page.locator("#board [data-part].open").first).to_be_visible()
    requests, refused = [], {"status": 403, "json": {"error": "this address has no token"}}
    page.route("**/state*", lambda route: (requests.append(route), route.fulfill(**refused)))
    game.send("strength", {"iterations": 10})  # the request that waits is answered, and the next one refused
    expect(page.locator("#said")).to_have_text("this address has no token")
    expect(page.locator("#status")).to_have_text("out of reach")
    expect(page.locator("#board [data-part].open")).to_have_count(0)
    page.locator('#board [data-part="a1"]').click(force=True)
    expect(page.locator("#said")).to_contain_text("the game cannot be reached")
    page.wait_for_timeout(1000)
    assert len(requests) <= 2
    page.unroute("**/state*")
    expect(page.locator("#status")).to_have_text("it is your turn")
    expect(page.locator("#said")).to_be_empty()


def test_the_keyboard_and_a_reader_know_where_they_are(served, page, expect) -> None:
    game = served("checkers")
    page.goto(game.address)
    square = page.locator('#board [data-part="c3"]')
    expect(square).to_have_attribute("aria-label", "c3, black")
    expect(page.locator('#board [data-part="a1"]')).to_have_attribute("aria-disabled", "true")
    for putting_down in ("Enter", "Escape"):
        square.focus()
        page.keyboard.press("Enter")
        expect(square).to_have_attribute("aria-pressed", "true")
        expect(page.locator("#board .mark.focus")).to_have_count(1)
        page.keyboard.press(putting_down)
        expect(square).to_have_attribute("aria-pressed", "false")
    page.locator("#moves button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#log li").nth(1)).to_be_attached()
    expect(page.locator("#status")).to_have_text("it is your turn")
    assert page.evaluate("document.activeElement.tagName") != "BODY"
    assert page.locator("#news p").count() == 2
    page.click("#hint")
    expect(page.locator("#thinking")).to_be_visible()
    page.locator("#moves button").first.click()
    expect(page.locator("#log li").nth(3)).to_be_attached()
    expect(page.locator("#thinking")).to_be_hidden()


def focused(page: Any) -> str:
    """The id of the element with the keyboard, or the name of its part of the board."""
    return page.evaluate("document.activeElement.id || document.activeElement.dataset.part || ''")


def test_the_keyboard_is_not_lost_where_a_button_is_not_of_use_any_more(served, page, expect) -> None:
    game = served("checkers")
    page.add_init_script(LATE_STATES)
    page.goto(game.address)
    page.locator("#moves button").first.click()
    expect(page.locator("#log li").nth(1)).to_be_attached()
    expect(page.locator("#status")).to_have_text("it is your turn")
    page.locator("#undo").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("taken back")
    expect(page.locator("#undo")).to_be_disabled()
    assert focused(page) == "hint"
    page.keyboard.press("Enter")
    expect(page.locator("#thinking")).to_be_visible()
    assert page.evaluate("now.version") == game.table.version  # or a later state would take the keyboard away
    assert focused(page) in ("hint", "save")
    expect(page.locator("#hint")).to_be_enabled()
    page.locator("#close").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#thinking")).to_be_hidden()
    assert focused(page) == "hint"


def test_a_square_that_is_chosen_looks_so_and_a_wrong_one_has_its_name(served, page, expect) -> None:
    page.goto(served("checkers").address)
    page.locator('#board [data-part="c3"]').click()
    expect(page.locator('#board [data-part="c3"]')).to_have_attribute("aria-pressed", "true")
    page.mouse.move(0, 0)
    marks = page.locator("#board .mark")
    box = page.locator("#board .mark.chosen").bounding_box()
    boxes = [marks.nth(i).bounding_box() for i in range(marks.count())]
    assert sum(abs(each["x"] - box["x"]) + abs(each["y"] - box["y"]) < 2 for each in boxes) == 1  # no mark lies on it
    page.goto(served("backgammon", 1).address)  # points have other numbers for the second player
    expect(page.locator("#board [data-part].open").first).to_be_visible()
    barred = page.locator("#board [data-part][data-shown]:not(.open)").first
    page.evaluate("part => click(part, -1)", barred.get_attribute("data-part"))
    expect(page.locator("#said")).to_contain_text(f"with {barred.get_attribute('data-shown')} now")


@pytest.mark.parametrize(("game", "is_dimmed"), [("kuhn-poker", False), ("hearts", True)])
def test_cards_are_dimmed_where_others_can_be_played(served, page, expect, game: str, is_dimmed: bool) -> None:
    served_game = served(game)
    page.goto(served_game.address)
    for _ in range(3 * is_dimmed):  # cards to pass; then a suit is led
        state = served_game.my_turn()
        served_game.act(state["moves"][0]["action"], state)
    version = served_game.my_turn()["version"]
    while page.evaluate("now?.version ?? -1") < version:
        page.wait_for_timeout(20)
    expect(page.locator("#status")).to_have_text("it is your turn")
    card = page.locator("#board [data-part]:not(.open)").first
    assert (card.evaluate("card => getComputedStyle(card).filter") == "none") == (not is_dimmed)


def test_a_button_that_would_reveal_hidden_cards_says_so(served, page, expect) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(served("kuhn-poker").address)
    for name in ("#why", "#record"):
        expect(page.locator(name)).to_be_disabled()
        expect(page.locator(name)).to_have_attribute("title", re.compile("would reveal hidden cards"))
    page.click("#open")
    expect(page.locator("#record")).to_be_enabled()
    expect(page.locator("#record")).to_have_attribute("title", "")


def test_on_a_narrow_screen_no_text_is_cut_off(served, page, expect) -> None:
    page.set_viewport_size({"width": 400, "height": 800})
    page.goto(served("checkers").address)
    page.click("#record")
    expect(page.locator("#recorded")).to_contain_text('[Game "checkers"]')
    page.click("#table summary")
    for name in ("html", "#recorded", "#words"):
        assert page.locator(name).evaluate("text => text.scrollWidth <= text.clientWidth")


def test_a_point_of_backgammon_is_clicked_anywhere_in_its_column(served, page, expect) -> None:
    game = served("backgammon")
    page.goto(game.address)
    first, second = next(move["parts"] for move in game.my_turn()["moves"] if "black off" not in move["parts"])
    tip = {"x": 3, "y": 160} if int(first) > 12 else {"x": 3, "y": 20}  # beside the triangle, where it is narrow
    page.locator(f'#board [data-part="{first}"]').click(position=tip, timeout=5000)
    expect(page.locator(f'#board [data-part="{first}"]')).to_have_attribute("aria-pressed", "true")
    page.locator(f'#board [data-part="{second}"]').click(position={"x": 3, "y": 100}, timeout=5000)
    expect(page.locator("#log")).to_contain_text("player 0: ")


def test_a_hint_without_a_tree_is_shown_as_its_table(served, page, expect) -> None:
    game = served("kuhn-poker")
    game.table.adviser = Agent(OOS(), iterations=20)
    page.goto(game.address)
    page.click("#hint")
    expect(page.locator("#table-of-search")).to_contain_text("probability")
    assert page.is_hidden("#tree") and page.is_hidden("#whole")


def test_a_second_tab_shows_the_search_for_a_hint(served, page, expect) -> None:
    game = served("othello")
    game.my_turn()
    with long_searches(game):
        asking = threading.Thread(target=lambda: game.send("hint", {}))
        asking.start()
        until(lambda: game.client.get("/live").json())
        page.goto(game.address)
        expect(page.locator("#live caption")).to_contain_text("of 60 s")
        state = game.state()
        game.act(state["moves"][0]["action"], state)
        asking.join()


def test_what_has_been_chosen_stays_while_the_moves_do(served, page, expect) -> None:
    game = served("dou-di-zhu", seed=3)
    page.goto(game.address)
    three = page.locator('#board [data-part="3"]')
    three.nth(1).click(position={"x": 4, "y": 4})
    expect(three.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(three.nth(0)).to_have_attribute("aria-pressed", "false")
    page.select_option("#strength", label="100 iterations")
    expect(page.locator("#said")).to_contain_text("100 iterations")
    expect(page.locator("#strength")).to_have_value('{"iterations":100}')
    expect(three.nth(1)).to_have_attribute("aria-pressed", "true")
    page.select_option("#strength", label="as at the start")
    expect(page.locator("#said")).to_contain_text("20 iterations")
