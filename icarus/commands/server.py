"""Games under way, and their pages: served to this machine, or to a named network, by tokens, as Jupyter serves a notebook."""

import contextlib
import functools
import itertools
import secrets
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, unquote, urlsplit

import attrs
import msgspec

from icarus import games
from icarus.algebra.parsing import Operand
from icarus.arena.player import RandomPlayer
from icarus.checks import integer
from icarus.commands.conversation import USUAL, Conversation, Natural, Session, colours_of
from icarus.engine.match import Agent, levels_of, play
from icarus.kernel import AnyGame, Game, seat_names
from icarus.load_files import sentence_of
from icarus.views.boards import drawing, svg
from icarus.views.document import page
from icarus.views.tree_page import tree_page

HOST = "127.0.0.1"
LONGEST_BODY, SHOWN = 100_000, 40  # bytes of a request; characters of what is refused
MOST_GAMES, LONGEST_SEARCH = 500, 5.0  # games under way, seconds of a search
# Inline styles are those of SVG and of widths; scripts need the nonce of their page.
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data: 'self'; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "Connection": "close",
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class NewGame(msgspec.Struct, forbid_unknown_fields=True):
    """The game that a page asks for.

    Attributes:
        game: its name.
        like: the number of a game under way; the new one has its rules and number of persons, and its agents if they have this level.
        seat: of the person who asks.
        level: of the agents; 0 for a short search.
        persons: how many play.
        moves: that have been played already.
    """

    game: str
    like: int = -1
    seat: Natural = 0
    level: Natural = 0
    persons: Literal[1, 2] = 1
    moves: list[str] = []
    seed: Natural = msgspec.field(default_factory=lambda: secrets.randbits(31))


class Line(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a `Conversation`: an action or a word, after how many actions, and the seconds that agents may think from now on."""

    line: str
    at: int | None = None
    seconds: Annotated[float, msgspec.Meta(gt=0, le=LONGEST_SEARCH)] | None = None


@attrs.frozen
class Tables:
    """Games under way, by number: those of a page, or of a service.

    Attributes:
        files: of one's own games, with digests of what they hold.
        levels: where those of one's own games are, by their names.
        names: enhancements of one's own that strategies of saved games may name.
    """

    files: Mapping[Path, str] = {}
    levels: dict[str, Path | None] = attrs.field(factory=dict)
    names: Mapping[str, Operand] = {}
    numbers: Iterator[int] = attrs.field(factory=itertools.count)
    games: dict[int, Conversation] = attrs.field(factory=dict)

    def begin(self, body: bytes, seats: "Seats") -> int:
        """Begin the game that a request asks for, and return its number.

        Args:
            body: of the request, a `NewGame`.
            seats: of the person who asks; a new game can be like another only if he has a seat in that.

        Raises:
            ValueError: the request cannot be fulfilled; nothing has been done.
        """
        request = msgspec.json.decode(body, type=NewGame)
        before = self.games[request.like] if request.like in seats else None
        like = before.session if before else None
        game = like.game if like else self.game(request.game)
        seat = integer(f"a seat of {game}", request.seat, 0, game.players - 1)
        persons = len(like.people) if like else min(request.persons, game.players)
        people = [(seat + i) % game.players for i in range(persons)]
        level = request.level or None
        if like and level == like.level:
            others = list(filter(None, like.agents))
        elif level:
            others = [Agent.at_level(game, level, self.levels.get(str(game)))]
        else:
            others = [USUAL]
        more_agents = itertools.cycle(others)
        agents = [None if each in people else next(more_agents) for each in range(game.players)]
        session = Session(game, agents, request.seed, self.files, level)
        for move in request.moves:
            session.apply(session.state.string_to_action(move))
        number = self.add(session, *people)
        if before:
            before.next = self.games[number]
        return number

    def game(self, name: str) -> AnyGame:
        """A game by its name: that of a game on the table, which may have an evaluation, or else as `games.load` has it."""
        at_table = (table.session.game for table in self.games.values())
        return next((game for game in at_table if str(game) == name), None) or games.load(name)

    def add(self, session: Session, *people: int) -> int:
        """Lay a game on the table, and return its number.

        Args:
            people: the seats of persons, that of who has begun the game first; by default as the session has them.
        """
        if len(self.games) >= MOST_GAMES:
            raise ValueError(f"there are {MOST_GAMES} games already; begin the server again")
        number = next(self.numbers)
        self.games[number] = Conversation(session, *(people or session.people))
        return number

    def say(self, number: int, body: bytes, viewer: int | None) -> dict[str, Any]:
        """Answer a line in a game, see `Conversation.say`.

        Args:
            body: of a request, a `Line`.

        Raises:
            ValueError: the line is wrong, or it cannot be done now; nothing has been played. KeyError: there is no such game.
        """
        line = msgspec.json.decode(body, type=Line)
        table = self.games[number]
        table.session.seconds = line.seconds
        return table.say(line.line, line.at, viewer)


@functools.cache
def choice(game: AnyGame, directory: Path | None) -> dict[str, Any]:
    """What a person must know of a game to choose it: rules, seats, how many decisions a random game has, and how strong its levels are."""
    state = game.new_initial_state(seed=2)
    levels = list[Any]()
    with contextlib.suppress(ValueError):  # none were measured
        levels = levels_of(game, directory)
    players = [RandomPlayer()] * game.players
    # a game in plain Python may take long
    decisions = play(game, players).decisions if isinstance(game, Game) else ()
    return {
        "seats": colours_of(game) or seat_names(game),
        "elo": [level["elo"] for level in levels],
        "rules": games.rules_of(game),
        "length": sum(each.legal > 1 for each in decisions),
        "picture": svg(drawing(state, None if state.is_chance_node() else 0)),
    }


Seats = dict[int, int | None]  # by the number of a game; None sees everything


class Refused(Exception):
    """Raised for a request that is not answered: the status, a sentence, and headers, if there are any."""


class Server(ThreadingHTTPServer):
    """The address of games.

    Attributes:
        server_port: any free one.
        name, cookie: of the server, with its port; and of its cookies.
        address: what to type into a browser, for the first person of a game, or for the table.
        invitations: the seats that each token gives. A visitor comes by an address with a token, and gets a cookie of his own.
        visitors: the seats that each visitor has, by his cookie.
    """

    request_queue_size = 64

    def __init__(self, tables: Tables, host: str = HOST) -> None:
        # from now on requests wait for `serve`, and are not refused
        super().__init__((host, 0), Handler)
        self.tables = tables
        self.name = f"{host}:{self.server_port}".lower()  # as browsers write it
        self.cookie = f"icarus-{self.server_port}"
        self.visitors = dict[str, Seats]()
        token = _secret()
        self.invitations: dict[str, Seats] = {token: {}}
        link = f"/?token={token}"
        for number, table in tables.games.items():
            self.start(number)
            link = table.links[0]
        self.address = f"http://{self.name}{link}"

    def start(self, number: int) -> None:
        """Let the agents of a game act, and make an invitation for each seat of a person."""
        table = self.tables.games[number]
        threading.Thread(target=table.run, daemon=True).start()
        for viewer in table.viewers:
            token = _secret()
            self.invitations[token] = {number: viewer}
            table.links.append(f"/games/{number}?token={token}")

    def serve(self) -> None:
        """Serve until `shutdown` is called, or until Ctrl-C."""
        with contextlib.suppress(KeyboardInterrupt), self:
            self.serve_forever(poll_interval=0.1)
        for table in self.tables.games.values():
            table.close()  # requests that wait for news are answered then


def _secret() -> str:
    return secrets.token_urlsafe(16)


class Handler(BaseHTTPRequestHandler):
    """A request and its answer. A connection carries one request: the unread rest of one that is refused is not taken for the next."""

    server: Server
    protocol_version, server_version, timeout = "HTTP/1.1", "icarus", 10.0

    def log_message(self, *arguments: Any) -> None:
        """Nothing is logged."""

    def do_GET(self) -> None:
        """The table, a game's page, how it stands, or the tree of the last search shown; a new game, or a line in one."""
        try:
            self._send(self._answer())
        except Refused as refusal:
            status, sentence, *headers = refusal.args
            self._send({"error": sentence}, status, *headers)
        except msgspec.DecodeError as error:
            self._send({"error": f"the request cannot be understood: {error}"}, 400)
        # the request cannot be fulfilled now, or a function of the user's own game has failed
        except Exception as error:
            self._send({"error": sentence_of(error) or repr(error)}, 409)

    do_POST = do_GET

    def _answer(self) -> Any:
        """A page as text, or what is sent as JSON."""
        address, tables = urlsplit(self.path), self.server.tables
        query = dict(parse_qsl(address.query))
        seats = self._seats(address.path, query.get("token"))
        length = self.headers.get("Content-Length", "0")
        # the body is read only of a request whose sender is known
        if not (length.isdecimal() and int(length) <= LONGEST_BODY):
            raise Refused(
                413, f"a request has at most {LONGEST_BODY:,} bytes, not {length[:SHOWN]}"
            )
        body = self.rfile.read(int(length))
        match [self.command, *address.path.strip("/").split("/")]:
            case ["GET", ""]:
                return page("table", "icarus")
            case ["GET", "choices"]:
                return games.names()
            case ["GET", "choices", name]:
                game = tables.game(unquote(name))
                return choice(game, tables.levels.get(str(game)))
            case ["POST", "games" | "saved" as which]:
                number = (
                    tables.begin(body, seats)
                    if which == "games"
                    else tables.add(Session.resumed(body, tables.files, tables.names))
                )
                self.server.start(number)
                seats[number] = tables.games[number].viewers[0]
                return {"number": number}
            case [method, "games", text, *rest] if text.isdecimal():
                number = int(text)
                if number not in seats:
                    raise Refused(403, "this game is another's, or there is none of this number")
                table, viewer = tables.games[number], seats[number]
                places = msgspec.convert(query, dict[Literal["since", "at"], int], strict=False)
                match [method, *rest]:
                    case ["GET"]:
                        return page("play", "icarus play")
                    case ["GET", "state"]:
                        # The first person passes the link of the other's seat on. After `next` was begun, the other finds his link there.
                        links = table.links[1:] if viewer == table.viewers[0] else []
                        if table.next:
                            links = table.next.links[1:]
                        return {**table.describe(viewer, **places), "links": links}
                    case ["GET", "tree"] if (result := table.shown.get(viewer)) and result.records:
                        return tree_page(result)
                    case ["GET", "judge"]:
                        return table.judge(places.get("at"), viewer)
                    case ["POST"]:
                        return tables.say(number, body, viewer)
        raise Refused(404, f"there is no page {address.path}")

    def _seats(self, path: str, token: str | None) -> Seats:
        """The seats of the visitor who sends the request.

        Raises:
            Refused: the request names another host, comes from another page, or from nobody who is known. Or it has a token: then the
                visitor gets a cookie with its seats, and is sent to the address without it, so that no history and no log has the token.
        """
        server, host = self.server, self.headers.get("Host", "").lower()
        if host != server.name:
            raise Refused(
                403,
                "these games can be played only on the machine that they run on, or by the name that was given",
            )
        if self.headers.get("Origin", f"http://{host}").lower() != f"http://{host}":
            raise Refused(
                403, "this request comes from another page; only the page of the game may send it"
            )
        # Browsers send the cookies of all servers on this machine, which may hold anything.
        cookies = (
            each.strip().partition("=") for each in self.headers.get("Cookie", "").split(";")
        )
        visitor = next((value for name, _, value in cookies if name == server.cookie), "")
        seats = server.visitors.get(visitor)
        if token is None and seats is not None:
            return seats
        if token not in server.invitations:
            raise Refused(
                403,
                "this address has no token, or another; open the address that icarus play printed",
            )
        if seats is None:
            visitor = _secret()
            seats = server.visitors[visitor] = {}
        seats.update(server.invitations[token])
        cookie = f"{server.cookie}={visitor}; HttpOnly; SameSite=strict; Path=/"
        raise Refused(
            303,
            "the page is at the address without the token",
            {"Location": path, "Set-Cookie": cookie},
        )

    def _send(self, answer: Any, status: int = 200, headers: dict[str, str] = HEADERS) -> None:
        """Send a text as a page whose own scripts, and no others, may run; everything else as JSON."""
        kind, nonce = "application/json", _secret()
        if isinstance(answer, str):
            kind = "text/html; charset=utf-8"
            content = answer.replace("<script>", f'<script nonce="{nonce}">').encode()
        else:
            content = msgspec.json.encode(answer)
        answer_headers = {
            "Content-Type": kind,
            "Content-Length": str(len(content)),
            "Content-Security-Policy": POLICY.format(nonce=nonce),
        }
        self.send_response(status)
        for name, value in (HEADERS | answer_headers | headers).items():
            self.send_header(name, value)
        with contextlib.suppress(OSError):  # nobody reads it any more
            self.end_headers()
            self.wfile.write(content)
