"""Playing in a browser: a page served to this machine only, which is told nothing that the seat may not see."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from icarus.commands.play.session import Session
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.kernel import CHANCE
from icarus.views.boards import drawing, parts
from icarus.views.pages import asset, filled
from icarus.views.tree_page import tree_page

HOST, WAIT = "127.0.0.1", 20.0  # seconds that a page waits for news before it asks again
LONGEST = 1 << 16  # bytes that a page may send
LATE = "the game has gone on since; this is how it stands"


class Table:
    """A game, the thread in which its agents think, and what is told of it.

    Attributes:
        eyes: the seat whose eyes the page looks with; None where everything is open.
        version: goes up whenever anything changes; a click on an older one is late.
        shown: the searches that the page may see the tree of, by name.
    """

    def __init__(self, session: Session, adviser: Agent, eyes: int | None) -> None:
        self.session, self.adviser, self.eyes = session, adviser, eyes
        self.version, self.problem, self.shown = 0, "", dict[str, Result]()
        self._changed, self._thinking, self._closed = threading.Condition(), False, False
        self._log, self._heard_by = list[str](), eyes
        self._thread = threading.Thread(target=self._let_agents_act, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Let nothing more happen; a search under way is waited for."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join()

    def _let_agents_act(self) -> None:
        while True:
            with self._changed:
                while not self._closed and (self.problem or self.session.over or self.session.waits_for is not None):
                    self._changed.wait()
                if self._closed:
                    return
                self._thinking = True
            problem = ""
            try:
                self.session.step()
            except Exception as error:  # an agent's slot or a game of the user's own: told, and nothing is lost
                problem = f"the agent cannot go on: {error}"
            with self._changed:
                self._thinking, self.problem = False, problem
                self._news()

    def _news(self) -> None:
        self.version += 1
        self._changed.notify_all()

    # ----------------------------------------------------------------------------------------------------- what is told

    def describe(self, since: int, at: int | None) -> dict[str, Any]:
        """How the game stands, as the seat may know it; waits a while where nothing is new.

        Args:
            since: the version that the page has.
            at: after how many actions; None for now.
        """
        with self._changed:
            self._changed.wait_for(lambda: self.version != since or self._closed, WAIT if at is None else 0)
            session, total, version = self.session, len(self.session.played), self.version
            waits, over, resigned = session.waits_for if not self._thinking else None, session.over, session.resigned
            place = total if at is None else max(0, min(at, total))
            state, eyes = session.at(place), None if over else self.eyes
            return {
                "version": version,
                "game": str(session.game),
                "who": self._who(),
                "seat": session.people[0] if session.people else None,
                "hidden": eyes is not None and session.game.determinize is not None,
                "at": place,
                "total": total,
                "board": drawing(state, eyes).svg(),
                "text": drawing(state, eyes).text(),
                "moves": self._moves(state) if waits is not None and place == total else [],
                "log": self._heard(total, eyes),
                "status": self.problem or self._status(state, waits, over, resigned),
                "over": over,
                "people": bool(session.people),
                "why": self._may_ask_why(),
            }

    def _moves(self, state: Any) -> list[dict[str, Any]]:
        return [
            {"action": action, "text": state.action_to_string(action), "parts": list(parts(state, action))}
            for action in state.legal_actions()
        ]

    def _heard(self, total: int, eyes: int | None) -> list[str]:
        if eyes != self._heard_by:
            self._log, self._heard_by = [], eyes
        del self._log[total:]
        for index in range(len(self._log), total):
            player = self.session.played[index].player
            who = "chance" if player == CHANCE else f"player {player}"
            self._log.append(f"{who}: {self.session.heard(eyes, index) or '(hidden from you)'}")
        return self._log

    def _status(self, state: Any, waits: int | None, over: bool, resigned: int | None) -> str:
        if resigned is not None:
            return f"player {resigned} has resigned"
        if over:
            return _ended(self.session.state.returns(), self.session.people)
        if waits is not None:
            return "it is your turn"
        player = self.session.state.current_player()
        return "the cards are dealt, or dice rolled …" if player == CHANCE else f"player {player} is thinking …"

    def _who(self) -> str:
        """Who plays, in a line."""
        seats: dict[str, list[int]] = {}
        for seat, agent in enumerate(self.session.agents):
            seats.setdefault("you" if agent is None else str(agent.scheme.label(agent.strategy)), []).append(seat)
        return "; ".join(
            f"{name}: player {', '.join(map(str, numbers))}"
            for name, numbers in sorted(seats.items(), key=lambda one: one[0] != "you")
        )

    def _may_ask_why(self) -> bool:
        searched = any(one.result is not None for one in self.session.played)
        return searched and (self.eyes is None or self.session.game.determinize is None or self.session.over)

    # -------------------------------------------------------------------------------------------------- what is asked for

    def asked(self, what: str, given: dict[str, Any]) -> dict[str, Any]:
        """Do what the page asks for.

        Raises:
            ValueError: it cannot be done now, or not at all.
        """
        deeds: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "act": self._act,
            "undo": self._undo,
            "resign": self._resign,
            "hint": self._hint,
            "why": self._why,
            "open": self._open,
            "save": self._save,
        }
        if what not in deeds:
            raise ValueError(f"nobody can {what!r} here")
        with self._changed:
            if self._thinking and what != "why":
                raise ValueError("another player is thinking; wait for it")
            if what in ("act", "undo", "resign") and given.get("version") != self.version:
                raise ValueError(LATE)
            return deeds[what](given)

    def _act(self, given: dict[str, Any]) -> dict[str, Any]:
        action = given.get("action")
        if isinstance(action, bool) or not isinstance(action, int):
            raise ValueError(f"{action!r} is no action")
        self.session.act(action)
        self._news()
        return {}

    def _undo(self, given: dict[str, Any]) -> dict[str, Any]:
        taken = self.session.undo()
        self._log.clear()
        self._news()
        return {"said": f"{taken} action{'s' if taken > 1 else ''} taken back"}

    def _resign(self, given: dict[str, Any]) -> dict[str, Any]:
        if self.session.waits_for is None:
            raise ValueError("it is not your turn")
        self.session.resign(self.session.waits_for)
        self._news()
        return {}

    def _hint(self, given: dict[str, Any]) -> dict[str, Any]:
        self.shown["hint"] = self.session.hint(self.adviser)
        title = "what a search finds in your place"
        return {"title": title, "said": str(self.shown["hint"]), "tree": "/tree/hint"}

    def _save(self, given: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"said": f"saved; icarus play --resume {self.session.keep()} --browser goes on from here"}
        except OSError as error:
            raise ValueError(f"the game cannot be saved: {error.strerror}") from None

    def _open(self, given: dict[str, Any]) -> dict[str, Any]:
        self.eyes = None
        self._news()
        return {"said": "everything is shown from now on"}

    def _why(self, given: dict[str, Any]) -> dict[str, Any]:
        if not self._may_ask_why():
            raise ValueError("nobody has searched yet, or it would show hidden cards or pieces; show all turns them up")
        upto = given.get("at")
        searched = [one for one in self.session.played[: upto if isinstance(upto, int) else None] if one.result]
        if not searched:
            raise ValueError("nobody had searched by then")
        last = searched[-1]
        assert last.result is not None
        self.shown["why"] = last.result
        title = f"why player {last.player} played {last.text}"
        return {"title": title, "said": str(last.result), "tree": "/tree/why"}


def _ended(rewards: list[float], people: list[int]) -> str:
    """How a game has ended, first for whoever plays."""
    all_of_them = ", ".join(f"player {i}: {reward:g}" for i, reward in enumerate(rewards))
    if len(people) != 1:
        return f"the game is over; rewards of {all_of_them}"
    own = rewards[people[0]]
    told = "you have won" if own == 1 else "you have lost" if own == 0 else f"the game is over; your reward is {own:g}"
    return f"{told}; rewards of {all_of_them}"


# ------------------------------------------------------------------------------------------------------------- the server


class _Handler(BaseHTTPRequestHandler):
    """One request of a page."""

    server: "Server"
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        asked = urlsplit(self.path)
        if not self._is_from_here():
            return
        if asked.path == "/":
            self._send(200, page(), "text/html")
        elif asked.path == "/state":
            query = parse_qs(asked.query)
            since, at = (_whole(query.get(name, [""])[0]) for name in ("since", "at"))
            self._send_json(200, self.server.table.describe(-1 if since is None else since, at))
        elif asked.path.startswith("/tree/") and (found := self.server.table.shown.get(asked.path[6:])) is not None:
            self._send(200, tree_page(found), "text/html")
        else:
            self._send_json(404, {"error": f"there is nothing at {asked.path}"})

    def do_POST(self) -> None:
        if not self._is_from_here():
            return
        length = _whole(self.headers.get("Content-Length", "")) or 0
        if length > LONGEST or self.headers.get("Content-Type") != "application/json":
            self.close_connection = True
            self._send_json(400, {"error": "a short text of JSON is expected"})
            return
        try:
            given = json.loads(self.rfile.read(length) or b"{}")
            if not isinstance(given, dict):
                raise ValueError("a JSON object is expected")
            self._send_json(200, self.server.table.asked(self.path.lstrip("/"), given))
        except ValueError as error:
            self._send_json(409, {"error": str(error)})

    def _is_from_here(self) -> bool:
        """Refuse pages of other places that have a name of theirs lead here."""
        name = self.headers.get("Host", "").rsplit(":", 1)[0]
        if name not in (HOST, "localhost"):
            self._send_json(403, {"error": "this game is only for the machine that it runs on"})
        return name in (HOST, "localhost")

    def _send_json(self, status: int, found: dict[str, Any]) -> None:
        self._send(status, json.dumps(found), "application/json")

    def _send(self, status: int, text: str, kind: str) -> None:
        body = text.encode()
        try:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)
        except ConnectionError:
            self.close_connection = True  # the tab was closed; the game goes on

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not told of."""


class Server(ThreadingHTTPServer):
    """The game's address on this machine.

    Raises:
        ValueError: the port is in use, or may not be used.
    """

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, table: Table, port: int) -> None:
        self.table = table
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            raise ValueError(f"port {port} cannot be had ({error.strerror}); --port 0 takes any that is free") from None

    @property
    def address(self) -> str:
        """What to type into a browser."""
        return f"http://{HOST}:{self.server_address[1]}/"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that broke off is none of the game's business."""


def page() -> str:
    """The page itself; the game comes to it afterwards."""
    return filled("play.html", style=asset("page.css") + asset("play.css"), script=asset("play.js"))


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 10 else None
