"""Playing in a browser: by requests, by what they carry, and in a real one without a window."""

import contextlib
import random
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import httpx
import pytest

from icarus import BASELINE, Agent, games
from icarus.commands import conversation
from icarus.commands.cli import run
from icarus.commands.conversation import LATE, REVEALS, Conversation, Session
from icarus.commands.server import LONGEST_BODY, Server, Tables
from icarus.load_files import digest_of, load_files
from icarus.views.boards import drawing, svg
from tests.conftest import child_process, environment
from tests.views.conftest import tree_data

QUICK = Agent(BASELINE, iterations=20)
SECOND_CHANCE = Path(__file__).parents[2] / "examples" / "second_chance.py"


def client_at(address: str = "", **options: Any) -> httpx.Client:
    """Who asks a server and goes where it leads; certificates, which take 50 ms to read, are for https."""
    return httpx.Client(
        base_url=address, follow_redirects=True, timeout=300, verify=False, **options
    )


class Page:
    """What the page asks of a server, without a browser."""

    def __init__(self, server: Server) -> None:
        self.game = server.tables.games[0]
        self.session, self.viewer = self.game.session, self.game.viewers[0]
        self.address, self.port = server.address, server.server_port
        self.client = client_at(f"http://127.0.0.1:{server.server_port}")
        self.client.get(server.address)

    def state(self, **query: int) -> dict[str, Any]:
        return self.client.get("/games/0/state", params=query).json()

    def live(self) -> bool:
        return self.game.live is not None

    def say(self, line: str, at: int | None = None, **headers: str) -> dict[str, Any]:
        """The answer; a refusal as its `error`."""
        at = len(self.game.log(self.viewer)) if at is None else at
        return self.client.post("/games/0", json={"line": line, "at": at}, headers=headers).json()

    def my_turn(self) -> dict[str, Any]:
        """How the game stands when a person is asked, or it is over, or the agents cannot go on."""
        state = self.state()
        while not (state["moves"] or self.session.over or self.game.problem):
            state = self.state(since=state["version"])
        return self.state()

    def act(self, state: dict[str, Any], number: int = 0) -> dict[str, Any]:
        return self.say(state["moves"][number]["name"], state["total"])


@pytest.fixture
def served():
    """A function that serves a game to a `Page`."""
    running: list[tuple[Page, Server, threading.Thread]] = []

    def serve(game: str, seat: int | None = 0, seed: int = 3) -> Page:
        loaded = games.load(game)
        agents = [None if number == seat else QUICK for number in range(loaded.players)]
        tables = Tables()
        tables.games[next(tables.numbers)] = Conversation(Session(loaded, agents, seed), seat)
        server = Server(tables)
        thread = threading.Thread(target=server.serve, daemon=True)
        thread.start()
        running.append((Page(server), server, thread))
        return running[-1][0]

    yield serve
    for page, server, thread in running:
        page.client.close()
        server.shutdown()
        thread.join()


def test_a_late_click_and_a_wrong_one_change_nothing_and_are_told(served):
    page = served("othello")
    state = page.my_turn()
    assert page.say("d3", state["total"] + 1) == {"error": LATE}
    assert "'a1' is not legal here" in page.say("a1")["error"]
    assert not page.session.played
    assert "error" not in page.act(state)
    assert page.act(state) == {"error": LATE}  # the second of two tabs


def test_only_who_knows_the_token_is_answered_and_only_to_this_page(served):
    page = served("othello")
    address = f"http://127.0.0.1:{page.port}"
    paths = "/ /games/0 /games/0/state /games/0/tree /choices /?token=wrong"
    with client_at(address) as stranger:
        for path in paths.split():
            assert stranger.get(path).status_code == 403
        assert stranger.post("/games/0", json={"line": "save", "at": 0}).status_code == 403
    for headers in (
        {"Host": "elsewhere.example"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
    ):
        assert re.search("page|machine", page.say("undo", **headers)["error"])
    # than the host's
    assert "another page" in page.say("undo", Origin=f"http://localhost:{page.port}")["error"]
    assert not page.session.over
    assert page.client.get("/").headers["content-security-policy"].startswith("default-src 'none'")
    assert page.client.get("/nowhere/at/all").json() == {
        "error": "there is no page /nowhere/at/all"
    }


def test_the_token_leaves_the_address_for_a_cookie_that_no_script_reads_and_wins_over_an_earlier_one(
    served,
):
    page = served("kuhn-poker")
    with client_at(headers={"Cookie": f"icarus-{page.port}=of-an-earlier-game"}) as client:
        assert client.get(f"http://127.0.0.1:{page.port}").status_code == 403
        answer = client.get(page.address, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/games/0"
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]


@pytest.mark.parametrize(
    "other", ['x={"a": 1, "b": 2}', "user[name]=max", "a b=x y z", "a/b=é", "a"]
)
def test_cookies_of_other_servers_on_the_machine_are_passed_over(served, other):
    page = served("kuhn-poker")
    name = f"icarus-{page.port}"
    cookies = f"{other}; {name}={page.client.cookies[name]}".encode()
    with client_at(f"http://127.0.0.1:{page.port}", headers={"Cookie": cookies}) as client:
        assert client.get("/games/0/state").status_code == 200


def test_the_token_is_asked_for_before_a_byte_of_the_body_is_read_and_a_long_body_is_not_read(
    served,
):
    page = served("othello")
    for head, status in (
        (b"", b"403"),
        (
            f"Cookie: icarus-{page.port}={page.client.cookies[f'icarus-{page.port}']}\r\n".encode(),
            b"413",
        ),
    ):
        with socket.create_connection(("127.0.0.1", page.port), timeout=30) as connection:
            sent = b"POST /games/0 HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n%bContent-Length: %d\r\n\r\n"
            connection.sendall(sent % (page.port, head, LONGEST_BODY + 1))  # and nothing follows
            assert connection.recv(100).startswith(b"HTTP/1.1 " + status)


def test_games_are_chosen_and_begun_on_the_page_each_with_its_agents(served):
    page = served("kuhn-poker")
    names = page.client.get("/choices").json()
    choices = {name: page.client.get(f"/choices/{name}").json() for name in names}
    assert {*choices} >= {"othello", "hearts"}
    assert len(choices["othello"]["elo"]) > 3
    assert choices["kuhn-poker"]["length"] in (2, 3)
    for each in choices.values():
        assert each["picture"].startswith("<svg ")
    number = page.client.post("/games", json={"game": "kuhn-poker", "seat": 1, "seed": 2}).json()[
        "number"
    ]
    told = page.client.get(f"/games/{number}/state").json()
    assert told["seat"] == 1
    assert told["who"].startswith("Bot, ")
    assert "you" in told["who"]
    # the game of the command line, with its opponents
    own = {"game": "kuhn-poker", "like": 0, "seat": 1}
    number = page.client.post("/games", json=own).json()["number"]
    session = page.client.get(f"/games/{number}/state").json()
    assert session["who"] == f"Bot, {QUICK}; you"
    for body in (
        {"game": "chess"},
        {"game": "kuhn-poker", "seat": 2},
        {"game": "othello", "level": 99},
        {"seat": 0},
    ):
        assert page.client.post("/games", json=body).json()["error"]
    assert page.client.get("/games/77/state").status_code == 403


def test_two_persons_at_a_table_see_each_his_own_cards(served):
    page = served("othello")
    number = page.client.post(
        "/games", json={"game": "knockout-whist(players=2)", "persons": 2, "seed": 4}
    ).json()["number"]
    host = page.client.get(f"/games/{number}/state").json()
    with client_at(f"http://127.0.0.1:{page.port}") as other:
        assert other.get(f"/games/{number}/state").status_code == 403
        assert other.get(host["links"][0]).status_code == 200
        guest = other.get(f"/games/{number}/state").json()
        assert other.get("/games/0/state").status_code == 403  # which is another's
        hands = [re.findall(r"player \d|you.*: (.*)", told["text"]) for told in (host, guest)]
        assert hands[0] != hands[1]
        assert all("7 face down" in told["text"] for told in (host, guest))
        assert guest["links"] == []  # with the host's he would have the host's seat
        assert [bool(told["moves"]) for told in (host, guest)] in ([True, False], [False, True])
        clients = (page.client, other) if host["moves"] else (other, page.client)
        mine = host if host["moves"] else guest
        assert clients[0].post(f"/games/{number}", json={"line": "hint"}).json()["tree"]
        trees = [client.get(f"/games/{number}/tree") for client in clients]
        assert [tree.status_code for tree in trees] == [200, 404]  # it has the cards of who asked
        line = {"line": mine["moves"][0]["name"]}
        assert "not your turn" in clients[1].post(f"/games/{number}", json=line).json()["error"]
        assert "error" not in clients[0].post(f"/games/{number}", json=line).json()
        for word in ("undo", "open"):
            assert (
                "two persons"
                in clients[0].post(f"/games/{number}", json={"line": word}).json()["error"]
            )


def test_a_new_game_has_as_many_persons_as_the_one_before(served):
    page = served("othello")
    begun = {"game": "kuhn-poker", "persons": 2}
    for seat in range(2):
        number = page.client.post("/games", json=begun).json()["number"]
        told = page.client.get(f"/games/{number}/state").json()
        assert "Bot" not in told["who"]
        assert [told["seat"], len(told["links"])] == [seat, 1]
        begun = {"game": "kuhn-poker", "like": number, "seat": 1}
    watched = served("kuhn-poker", None)
    number = watched.client.post("/games", json={"game": "kuhn-poker", "like": 0}).json()["number"]
    assert watched.client.get(f"/games/{number}/state").json()["seat"] is None


@pytest.mark.parametrize("name", ["localhost", "LocalHost"])
def test_a_local_network_is_served_by_the_name_that_was_given_and_by_no_other(name):
    server = Server(Tables(), name)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        assert server.address.startswith(f"http://localhost:{server.server_port}/?token=")
        with client_at() as client:
            assert "Choose a game" in client.get(server.address).text
            refused = client.get(server.address.replace("localhost", "127.0.0.1"))
        assert refused.status_code == 403
        assert "by the name that was given" in refused.json()["error"]
    finally:
        server.shutdown()
        thread.join()


def test_a_finished_game_is_looked_back_at_decision_by_decision(served):
    page = served("kuhn-poker")
    judge = "/games/0/judge"
    assert page.client.get(judge, params={"at": 0}).json() == {"error": "the game is not over"}
    while (state := page.my_turn())["moves"]:
        page.act(state)
    told = [page.client.get(judge, params={"at": at}).json() for at in range(page.state()["total"])]
    assert len(told) >= 2
    for each in told:
        assert 0 <= each["value"] <= 1 >= each["best"]
        assert re.fullmatch(
            r".* instead of .* is worth -?\d\.\d points, not -?\d\.\d points", each["words"]
        )
    assert page.state()["status"].startswith(("you win", "you lose"))


@pytest.mark.parametrize("game", ["hearts", "knockout-whist", "goofspiel"])
def test_nothing_that_the_seat_may_not_see_is_sent(served, game):
    """All answers stay as they are, byte by byte, where hidden facts are other ones: a determinization takes the place of the truth."""
    page = served(game, seed=5)
    state = page.my_turn()
    # nothing is hidden before the first bids, or where only one card fits
    for _ in range(2 * (game == "goofspiel")):
        page.act(state, 2)
        state = page.my_turn()
    shown, truth = None, page.session.state
    for seed in range(30):
        determinization = truth.determinize(0, seed=seed)
        if (determinization.data == truth.data).all():
            continue
        page.session.state = determinization
        shown = page.state(at=state["total"])
        assert {**shown, "version": 0} == {**state, "version": 0}
    assert shown is not None, "nothing was hidden"
    page.session.state = truth
    assert page.say("why") == {"error": REVEALS}


def test_a_move_that_a_seat_does_not_notice_is_neither_listed_nor_counted(served):
    hidden = 0
    for seed in range(2):  # in which an agent of 20 iterations often tries a square that is taken
        page = served("phantom-mnk", seed=seed)
        session = page.session
        while (state := page.my_turn())["moves"]:
            noticed = sum(played.text_for(0) is not None for played in session.played)
            assert state["total"] == len(state["log"]) == noticed
            hidden += len(session.played) - noticed
            page.act(state, min(seed, len(state["moves"]) - 1))
        # all is open at the end
        assert state["total"] == len(session.played)
        assert state["over"]
    assert hidden > 0


NO_PLACES = {
    "state?at=-1": "at is -1; it must be an integer of at least 0",
    "state?since=x": "the request cannot be understood: Expected `int`, got `str`",
    "state?viewer=1": "the request cannot be understood: Invalid enum value 'viewer'",
    "judge": "at is None; it must be an integer from 0 to ",
    "judge?at=9999": "at is 9999; it must be an integer from 0 to ",
}


def test_the_past_is_looked_at_without_changing_the_present(served):
    page = served("othello", None)
    state = page.my_turn()
    boards = [page.state(at=at)["board"] for at in range(state["total"] + 1)]
    assert boards[-1] == state["board"]
    assert len(set(boards)) > state["total"] / 2
    assert page.state(at=9999)["at"] == state["total"]
    for query, said in NO_PLACES.items():
        assert said in page.client.get(f"/games/0/{query}").json()["error"]
    assert "iterations" in page.say("why")["table"]
    assert page.client.get("/games/0/tree").text.startswith("<!doctype html>")


def test_a_hint_never_shows_the_cards_of_others(served):
    page = served("knockout-whist")
    state, hint = page.my_turn(), page.say("hint")
    assert hint["tree"]
    assert re.match(rf"hint: {hint['move']}. It is worth \d+ of 100 wins from here", hint["said"])
    assert hint["move"] in [move["name"] for move in state["moves"]]
    boards = tree_data(page.client.get("/games/0/tree").text)["boards"]
    assert boards
    assert svg(drawing(page.session.state)) not in boards


@contextlib.contextmanager
def long_searches(page: Page) -> Iterator[None]:
    """Within, agents and hints of this page would search for ten minutes; they are under way when it begins."""
    slow = attrs.evolve(QUICK, iterations=None, seconds=600.0)
    page.game.adviser = slow
    page.session.agents[:] = [agent and slow for agent in page.session.agents]
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 200


def until(happens: Callable[[], object]) -> None:
    """Wait until something has happened."""
    while not happens():
        time.sleep(0.01)


def test_a_hint_keeps_nobody_waiting_and_a_move_gives_it_up(served):
    page, answers = served("othello"), list[dict[str, Any]]()
    page.my_turn()
    with long_searches(page):
        asking = threading.Thread(target=lambda: answers.append(page.say("hint")))
        asking.start()
        until(page.live)
        state = page.state()
        assert state["status"] == "searching for a hint …"
        assert state["moves"]
        assert page.say("hint") == {"error": "a search is already running"}
        assert "error" not in page.act(state)
        asking.join()
        assert answers == [{"error": "the search was stopped"}]
        until(page.live)  # the agent searches now
        assert page.say("undo")["said"] == "1 action taken back"
        assert page.my_turn()["status"] == "it is your turn"


@pytest.mark.parametrize("compiled", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_a_page_is_there_as_soon_as_the_address_is_printed_and_ctrl_c_amid_a_search_keeps_the_game(
    tmp_path, compiled
):
    words = "-u -m icarus play othello --browser --seconds 600"
    command = [sys.executable, *words.split()]
    folder = {} if compiled else {"ICARUS_CACHE_DIR": str(tmp_path / "cache")}
    with child_process(
        command, env=environment(**folder), cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        address = next(
            word for line in process.stdout for word in line.split() if word.startswith("http")
        )
        with client_at(address.split("games")[0]) as client:
            assert client.get(address).status_code == 200
            state = client.get("games/0/state").json()
            client.post("games/0", json={"line": state["moves"][0]["name"], "at": 0})
            client.post("games", json={"game": "goofspiel"})  # whose game is kept, too
            until(lambda: client.get("games/1/state").json()["moves"])
            assert "error" not in client.post("games/1", json={"line": "1"}).json()
            until(lambda: "is thinking" in client.get("games/0/state").json()["status"])
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        told = process.stdout.read()
        for name in ("othello", "goofspiel"):
            assert f"stopped; icarus play --resume {name}-1.txt continues from here" in told


def test_a_new_game_of_one_s_own_is_kept_with_its_file(tmp_path):
    words = f"-u -m icarus play {SECOND_CHANCE} --browser --iterations 20"
    with child_process(
        [sys.executable, *words.split()],
        env=environment(),
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().split()[2]
        with client_at(address.split("games")[0]) as client:
            client.get(address)
            client.post("games", json={"game": "second-chance", "like": 0})
            assert "error" not in client.post("games/1", json={"line": "keep"}).json()
            saved = client.post("games/1", json={"line": "save"}).json()["said"]
            assert f"--with {SECOND_CHANCE}" in saved
            kept = (tmp_path / "second-chance-1.txt").read_text()
            assert "error" not in client.post("saved", content=kept).json()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


@pytest.mark.parametrize("words", ["", "kuhn-poker --iterations 5", "--resume saved.txt"])
def test_a_saved_game_whose_agents_are_of_one_s_own_is_taken_up_at_the_page(
    words, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    own, saved, tables = Path("own.py"), Path("saved.txt"), list[Tables]()
    own.write_text(
        "import attrs\nfrom icarus import MAST\nMINE = attrs.evolve(MAST, name='MINE')\n"
    )
    agent = Agent(load_files([own])["MINE"], iterations=5)
    files = {own: digest_of(own)}
    Session(games.load("kuhn-poker"), [None, agent], files=files).save(saved)
    monkeypatch.setattr("icarus.commands.play._serve", lambda each, host: tables.append(each))
    assert run(["play", *words.split(), "--browser", "--with", "own.py"]) == 0
    server = Server(*tables)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    with client_at(f"http://127.0.0.1:{server.server_port}") as client:
        client.get(server.address)
        number = client.post("/saved", content=saved.read_bytes()).json()["number"]
        assert "MINE" in client.get(f"/games/{number}/state").json()["who"]
    server.shutdown()
    thread.join()


def test_what_fails_in_a_game_of_one_s_own_is_told_and_can_be_left(served, monkeypatch):
    """A text, a rule, and a search that fail: each is told, and one goes back or on."""
    page, failing = served("othello"), set[str]()

    def fails(name: str, function: Callable) -> Callable:
        def call(*arguments, **keywords):
            if name in failing:
                raise KeyError(f"oops in my {name}")
            return function(*arguments, **keywords)

        return call

    monkeypatch.setattr(conversation, "drawing", fails("text", conversation.drawing))
    monkeypatch.setattr(Session, "apply", fails("apply", Session.apply))
    monkeypatch.setattr(Agent, "search", fails("search", Agent.search))
    state = page.my_turn()
    failing.add("text")
    page.act(state)
    until(lambda: len(page.session.played) == 2)
    until(lambda: "the game cannot be shown: KeyError('oops in my text')" in page.state()["status"])
    assert "oops in my text" in page.client.get("/games/0/state", params={"at": 0}).json()["error"]
    failing.clear()
    assert "error" not in page.say("undo")
    state = page.my_turn()
    failing.add("apply")
    assert "oops in my apply" in page.act(state)["error"]
    failing.symmetric_difference_update({"apply", "search"})
    assert "oops in my search" in page.say("hint")["error"]
    page.act(state)
    until(lambda: page.game.problem)
    assert page.state()["status"].startswith(
        "the agent cannot continue: KeyError('oops in my search'"
    )
    failing.clear()
    assert "error" not in page.say("undo")  # the agents try again
    page.act(page.my_turn())
    assert page.my_turn()["total"] == 2


# ------------------------------------------------------------------------------------------------------- a real browser


def test_one_plays_by_clicking_on_the_board_and_sees_the_tree(served, page, expect, monkeypatch):
    game, may_end, search = served("othello"), threading.Event(), Agent.search
    may_end.set()

    def search_that_lasts(self: Agent, *arguments, **keywords):
        result = search(self, *arguments, **keywords)
        may_end.wait(60)
        return result

    monkeypatch.setattr(Agent, "search", search_that_lasts)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(game.address)
    open_squares, status = page.locator("#board [data-part].open"), page.locator("#status")
    expect(open_squares.first).to_be_visible()
    page.click('#board [data-part="a1"]', force=True)  # for who tries nevertheless
    expect(page.locator("#said")).to_contain_text("nothing can be done with a1")
    open_squares.first.click()
    expect(page.locator("#log li").nth(1)).to_be_attached()
    expect(open_squares.first).to_be_visible()
    page.click("[data-say=hint]")
    expect(page.locator("#said")).to_contain_text("hint: ")
    expect(page.locator("#board .mark.hint")).to_have_count(1)
    page.click("#more")
    page.frame_locator("#tree").locator(".row").nth(1).wait_for()
    page.click("[data-look='-1']")
    expect(status).to_contain_text("earlier position")
    page.click("[data-say=undo]")
    expect(page.locator("#said")).to_contain_text("taken back")
    expect(status).to_contain_text("your turn")
    may_end.clear()
    open_squares.first.click()
    expect(status).to_have_text("Bot is thinking …")
    expect(status).to_have_class("busy")
    may_end.set()
    expect(status).to_contain_text("your turn")


QUICKLY_PLAYED = ["dou-di-zhu", "phantom-mnk"]
WHOLE_GAMES = ["checkers", "hearts", "knockout-whist", "othello"]


@pytest.mark.parametrize(
    "name", [*QUICKLY_PLAYED, *(pytest.param(name, marks=pytest.mark.slow) for name in WHOLE_GAMES)]
)
def test_a_game_is_played_to_its_end_by_clicks_on_its_board(served, page, name):
    """Buttons are clicked for what is not on the board, such as a pass, to end a choice of cards, and now and then beside."""
    # what a new board has replaced is not there any more, or not seen
    PlaywrightError = pytest.importorskip("playwright.sync_api").Error
    game, luck, clicks = served(name), random.Random(name), 0
    while (
        name == "dou-di-zhu" and len(game.session.played) < 24
    ):  # the rest of a long game is enough
        game.act(game.my_turn())
    page.goto(game.address)
    board, buttons = page.locator("#board [data-part].open"), page.locator("#moves button")
    while not game.session.over:
        game.my_turn()
        page.wait_for_timeout(30)
        parts, others = board.count(), buttons.count()
        if parts and not (others and luck.random() < (0.5 if game.state()["select"] else 0.1)):
            with contextlib.suppress(PlaywrightError):
                board.nth(luck.randrange(parts)).click(
                    force=True, position={"x": 4, "y": 4}, timeout=2000
                )
                clicks += 1
        elif others:
            with contextlib.suppress(PlaywrightError):
                buttons.nth(luck.randrange(others)).click(timeout=2000)
    assert clicks


def test_games_are_played_by_the_keyboard_alone_and_a_reader_knows_where_it_is(
    served, page, expect
):
    game = served("knockout-whist(players=2)")
    page.goto(game.address)
    for _ in range(2):
        game.my_turn()
        expect(page.locator("#status")).to_have_text("it is your turn")
        before = page.locator("#log li").count()
        while not page.evaluate("document.activeElement.matches('#board .open')"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        expect(page.locator("#log li").nth(before)).to_be_attached()
        expect(page.locator("#board [data-part].open:focus")).to_have_count(1)
    page.goto(served("checkers").address)
    square = page.locator('#board [data-part="c3"]')
    expect(square).to_have_attribute("aria-label", "c3, black")
    expect(page.locator('#board [data-part="a1"]')).to_have_attribute("aria-disabled", "true")
    for putting_down in ("Enter", "Escape"):
        square.focus()
        page.keyboard.press("Enter")
        expect(square).to_have_attribute("aria-pressed", "true")
        page.keyboard.press(putting_down)
        expect(square).to_have_attribute("aria-pressed", "false")
    page.locator("#moves button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#log li").nth(1)).to_be_attached()
    expect(page.locator("#status")).to_have_text("it is your turn")
    assert page.evaluate("document.activeElement.tagName") != "BODY"
    assert page.locator("#news p").count() == 2
    page.click("[data-say=hint]")
    page.click("#more")
    expect(page.locator("#shown")).to_be_visible()
    page.locator("#close").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#shown")).to_be_hidden()
    assert page.evaluate("document.activeElement.dataset.say") == "hint"


def test_each_game_of_the_table_has_its_rules_and_levels_in_the_words_of_a_player(
    served, page, expect
):
    told = list[str]()
    page.on("console", lambda message: told.append(message.text))
    page.goto(served("kuhn-poker").address.replace("/games/0", ""))
    expect(page.locator("#games button")).to_have_count(len(games.names()))
    for button in page.locator("#games button").all():
        button.click()
        expect(page.locator("#name")).to_contain_text(f"{button.inner_text()}, ")
        rules = page.locator("#rules").inner_text()
        assert len(rules) > 200
        # of how a program plays, a person is told nothing
        assert not re.search("`|action is|player 0", rules)
    page.click("#games button:has-text('othello')")
    expect(page.locator("#rules p").first).to_contain_text("Othello")
    expect(page.locator("#seat option")).to_have_text(["black", "white"])
    assert not told  # all that the page asks for is there
    second = page.locator("#level option").nth(1)
    expect(second).to_have_text(
        re.compile(r"level 2 of \d: wins \d\d of 100 games against level 1")
    )


def test_a_game_saved_on_its_page_is_continued_from_the_table(
    served, page, expect, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    page.goto(served("othello").address)
    page.click("#board .open >> nth=0")
    expect(page.locator("#log li")).to_have_count(2)
    page.click("[data-say=save]")
    expect(page.locator("#said")).to_contain_text("othello-1.txt")
    page.click("text=all games")
    page.set_input_files("#saved", "othello-1.txt")
    page.wait_for_url("**/games/1")
    expect(page.locator("#log li")).to_have_count(2)


def test_a_game_without_hints_is_chosen_at_the_table_and_the_next_one_has_none_either(
    served, page, expect
):
    game = served("kuhn-poker")
    page.goto(game.address)
    expect(page.locator("[data-say=hint]")).to_be_visible()
    page.click("text=all games")
    page.click("#games button:has-text('kuhn-poker')")
    page.uncheck("#hints")
    page.click("#begin")
    for number in (1, 2):
        page.wait_for_url(f"**/games/{number}#no-hints")
        expect(page.locator("[data-say=undo]")).to_be_visible()
        expect(page.locator("[data-say=hint]")).to_be_hidden()
        page.click("#again")


def test_one_plays_again_against_stronger_and_weaker_opponents(served, page, expect):
    page.goto(served("othello").address)
    page.click("text=all games")
    page.click("#games button:has-text('othello')")
    levels = page.locator("#level option")
    expect(levels.nth(1)).to_be_attached()
    highest = str(levels.count())
    page.select_option("#level", highest)
    page.click("#begin")
    page.wait_for_url("**/games/1")
    expect(page.locator("#who")).to_contain_text(f"level {highest}")
    expect(page.locator("#stronger")).to_be_disabled()
    page.click("#weaker")
    page.wait_for_url("**/games/2")
    expect(page.locator("#who")).to_contain_text(f"level {int(highest) - 1}")
    page.click("#stronger")
    page.wait_for_url("**/games/3")
    expect(page.locator("#who")).to_contain_text(f"level {highest}")


def test_a_game_of_three_is_looked_back_at_without_a_line_of_even_games(served, page, expect):
    for name, middles in (("kuhn-poker", 1), ("knockout-whist(players=3)", 0)):
        game = served(name)
        while (state := game.my_turn())["moves"]:
            game.act(state)
        page.goto(game.address)
        page.click("#judge")
        total = state["total"]
        expect(page.locator("#judged")).to_contain_text(f"{total} of {total} actions looked at")
        expect(page.locator("#judged")).to_contain_text("ahead" if middles else "the higher")
        expect(page.locator("#curve path")).to_have_count(middles)
        expect(page.locator("#curve polyline")).to_have_count(1)


def test_looking_back_marks_on_the_board_what_would_have_been_better(served, page, expect):
    game = served("phantom-mnk")
    while (state := game.my_turn())["moves"]:
        game.act(state, -1)
    page.goto(game.address)
    page.click("#judge")
    expect(page.locator("#judged")).to_contain_text(f"{state['total']} of {state['total']} actions")
    costly = page.locator("#costly button").first
    better = re.search(r" instead of (\w+) is worth", costly.inner_text())
    costly.click()
    expect(page.locator("#frames")).to_contain_text("violet: what was better")
    assert better is not None
    mark, square = (
        page.locator(each).bounding_box()
        for each in ("#board .mark.hint", f'#board [data-part="{better[1]}"]')
    )
    assert mark["x"] >= square["x"] - 2
    assert mark["y"] >= square["y"] - 2
    assert mark["x"] + mark["width"] <= square["x"] + square["width"] + 2


def test_the_second_person_is_led_from_the_old_game_to_the_new_one(
    served, page, expect, monkeypatch
):
    monkeypatch.setattr(conversation, "WAIT", 0.2)
    host = served("othello").client
    number = host.post("/games", json={"game": "kuhn-poker", "persons": 2}).json()["number"]
    (link,) = host.get(f"/games/{number}/state").json()["links"]
    page.goto(f"{str(host.base_url).rstrip('/')}{link}")
    expect(page.locator("#who")).to_contain_text("the other person; you")
    expect(page.locator("#invite")).to_be_empty()
    body = {"game": "kuhn-poker", "like": number, "seat": 1}
    number = host.post("/games", json=body).json()["number"]
    page.click("text=a new game has begun")
    page.wait_for_url(f"**/games/{number}")
    expect(page.locator("#who")).to_contain_text("you; the other person")
    told = host.get(f"/games/{number}/state").json()
    assert told["seat"] == 1
    with client_at(host.base_url) as guest:
        guest.get(link)  # who has no seat in the new game, and does not go on from it
        guest.post("/games", json=body | {"like": number})
    assert host.get(f"/games/{number}/state").json() == told


def test_an_earlier_position_is_only_looked_at_and_a_move_is_played_once(served, page, expect):
    game = served("othello")
    page.goto(game.address)
    squares = page.locator("#board [data-part].open")
    squares.first.click()
    expect(page.locator("#status")).to_have_text("it is your turn")
    square = squares.first.get_attribute("data-part")
    page.click("[data-look='-1']")
    expect(page.locator("#status")).to_contain_text("earlier position")
    page.click(f'#board [data-part="{square}"]', force=True)
    expect(page.locator("#said")).to_contain_text("this is an earlier position")
    assert len(game.session.played) == 2
    page.click("[data-look='Infinity']")
    page.evaluate(
        "() => { const [move] = now.moves; act(move); click(byId('board').querySelector(`[data-part=${move.name}]`)); }"
    )
    expect(page.locator("#log li").nth(3)).to_be_attached()
    expect(page.locator("#said")).not_to_contain_text("changed")


HINTS = "rgb(123, 63, 181)"  # violet


@pytest.mark.parametrize("name", ["knockout-whist(players=2)", "liars-dice", "goofspiel"])
def test_the_card_that_a_hint_advises_has_an_edge_of_its_own(served, page, expect, name):
    game = served(name)
    game.my_turn()
    page.goto(game.address)
    page.click("[data-say=hint]")
    expect(page.locator("#frames")).to_contain_text("violet: the hint")
    edge = page.locator("#board .advised > rect:first-child, #board .mark.hint")
    expect(edge.first).to_have_css("stroke", HINTS)


def test_a_play_of_dou_di_zhu_is_a_choice_of_cards_that_stays_while_the_moves_do(
    served, page, expect
):
    page.goto(served("dou-di-zhu", seed=3).address)
    expect(page.locator("#clicked")).to_contain_text("select cards")
    three = page.locator('#board [data-part="3"]')
    three.nth(0).click(position={"x": 4, "y": 4})
    three.nth(1).click(position={"x": 4, "y": 4})
    expect(page.locator("#moves button")).to_have_text(["33"])
    three.nth(0).click(position={"x": 4, "y": 4})  # taken back
    expect(page.locator("#moves button")).to_have_text(["3"])
    expect(three.nth(1)).to_have_attribute("aria-pressed", "true")
    expect(three.nth(0)).to_have_attribute("aria-pressed", "false")
    page.locator("#moves button").click()
    expect(page.locator("#log li").first).to_contain_text("you: 3")
