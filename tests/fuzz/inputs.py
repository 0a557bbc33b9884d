"""What is drawn: strategies as texts and as values, command lines, tables of experiments, damage to files."""

import functools
import socket
import threading
from typing import Any

import attrs
from hypothesis import strategies as st

from icarus import BASELINE, Agent, games
from icarus.commands.conversation import Conversation, Session
from icarus.commands.server import Server
from icarus.engine.scheme import MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingEnsembleUCT, CheatingUCT, DeterminizedUCT
from icarus.specs import SPECIFICATIONS
from tests.algebra.test_algebra import compositions
from tests.toy import ALL_TOYS

WHOLE = ("kuhn-poker", "phantom-mnk(columns=3,rows=3,in_a_row=3)", "goofspiel", "liars-dice", "othello")
PLAIN_SCHEMES = (MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(2), CheatingEnsembleUCT(2))

schemes = st.tuples(st.sampled_from(PLAIN_SCHEMES), st.booleans()).map(
    lambda drawn: drawn[0].with_exp3() if drawn[1] else drawn[0]
)
played_games = st.one_of(st.sampled_from(ALL_TOYS), st.sampled_from(ALL_TOYS), st.sampled_from(WHOLE).map(games.load))
seeds = st.integers(0, 1 << 40)

# ------------------------------------------------------------------------------------------------------ strategies as texts

_words = st.sampled_from(
    [
        *SPECIFICATIONS,
        *["mast", "nast", "rave", "gibbs", "ucb1", "rave_weight", "k", "n", "policy", "temperature", "x", "__import__"],
    ]
)
_numbers = st.sampled_from(["0", "1", "2", "3", "-1", "0.5", "1e9", "1e309", "nan", "inf", "00", "1_0", "9" * 40])
_signs = st.sampled_from(list(">+/^*-(),=. \n\t\"'\\\0é]#%") + [">>"])
soup = st.lists(st.one_of(_words, _numbers, _signs), max_size=14).map(" ".join)


@st.composite
def mangled(draw: st.DrawFn) -> str:
    """The text of a strategy with a few letters changed."""
    text = str(draw(compositions))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        text = (
            text[:place]
            + draw(st.one_of(_signs, _numbers, _words, st.just("")))
            + text[place + draw(st.integers(0, 3)) :]
        )
    return text


texts = st.one_of(mangled(), soup, st.text(max_size=40))

# ------------------------------------------------------------------------------------------------------------ command lines

_integers = st.sampled_from(["0", "1", "2", "7", "-1", "1.5", "x", "", "nan", "٣", str(1 << 70)])
_some = st.sampled_from(["1", "3", "20"])  # of what takes time
_games = st.sampled_from(
    [
        "kuhn-poker",
        "othello",
        "goofspiel",
        "Othello",
        "nim",
        "othello(",
        "hearts(players=3)",
        "",
        "knockout-whist(players=9)",
    ]
)
_strategies = st.one_of(st.sampled_from(["BASELINE", "RAVE >> MAST", "MAST"]), texts)
_files = st.sampled_from(["examples/nim.py", "examples/own_pairs.py", "README.md", "nowhere.py", "/", "tests"])


def _option(name: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.one_of(st.just([]), st.just([]), values.map(lambda value: [name, value]), st.just([name]))


def _line(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[list[str]]:
    return st.tuples(*parts).map(
        lambda values: [word for part in values for word in ([part] if isinstance(part, str) else part)]
    )


_budget = st.one_of(_some.map(lambda number: ["--iterations", number]), st.just(["--seconds", "0.01"]))
_search = _line(
    st.just("search"), _games, _option("--strategy", _strategies), _option("--seed", _integers), _option("--moves", st.text(max_size=8)),
    _option("--scheme", st.one_of(st.sampled_from(["SO_ISMCTS", "DeterminizedUCT(2)", "MO_ISMCTS with EXP3"]), soup)),
    _option("--with", _files), _option("--threads", st.sampled_from(["1", "2", "0", "-3", "x"])), _budget,
)  # fmt: skip
_match = _line(
    st.just("match"),
    st.just("kuhn-poker"),
    _strategies,
    _option("--seed", _integers),
    st.just(["--games", "1"]),
    _budget,
)
_audit = _line(
    st.just("check"), _games, _option("--seed", _integers), st.just(["--games", "1", "--determinizations", "3"])
)
_lists = _line(
    st.sampled_from(["games", "specs", "--help", "serch", "--version", "play"]),
    st.lists(st.one_of(_games, soup), max_size=2),
)
command_lines = st.one_of(_search, _match, _audit, _lists)

# -------------------------------------------------------------------------------------------------------------- experiments

_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-2, 5),
        st.floats(),
        st.sampled_from(["othello", "kuhn-poker", "rotate", "BASELINE", ""]),
        texts,
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.sampled_from(["a", "strategy", "iterations", "scheme", "agent"]), inner, max_size=3),
    ),
    max_leaves=4,
)
_right: dict[str, Any] = {
    "name": "fuzzed", "games": "kuhn-poker", "agents": {"one": "MAST", "two": "BASELINE"}, "iterations": 20, "trials": 2
}  # fmt: skip
_keys = st.sampled_from([*_right, "seconds", "opponent", "seats", "roles", "seed", "paired", "sprt", "pictures", "x"])


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """The table of an experiment, with some of its keys changed, added or missing."""
    changed = draw(st.dictionaries(_keys, _values, max_size=3))
    missing = draw(st.sets(st.sampled_from(list(_right)), max_size=1))
    return {key: value for key, value in {**_right, **changed}.items() if key not in missing}


damages = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.sampled_from(["cut", "flip", "insert", "drop", "repeat"]), st.integers(0, 255)),
    min_size=1, max_size=3,
)  # fmt: skip


# -------------------- Requests to a served game that its page would never send

SOON = 30.0  # seconds
_names = st.sampled_from(["say", "act", "new", "state", "tree", "", "?token=", "..", "%00"])
_bodies = st.sampled_from(
    [b"{}", b'{"line": "d3", "at": 0}', b'{"line": "undo", "at": 0}', b"[" * 9, b"\xff", b'"undo"', b""]
)


@attrs.frozen
class Request:
    """A request as bytes, and another in its body.

    Attributes:
        foreign: what is foreign about it; "nothing" knows the token and comes from the page.
        length: how the length of its body is given.
        inner: of the request in its body, if there is one: it knows the token and comes from the page.
    """

    method: str
    name: str
    foreign: str
    length: str
    body: bytes
    inner: "Request | None" = None

    def __bytes__(self) -> bytes:
        port, token = served().port, served().token
        hosts = {"host": "elsewhere.example", "no host": None, "port": "127.0.0.1:1"}
        host = hosts.get(self.foreign, f"127.0.0.1:{port}")
        origins = {"origin": "http://elsewhere.example", "null": "null", "localhost": f"http://localhost:{port}"}
        origin = origins.get(self.foreign, f"http://127.0.0.1:{port}")
        cookie = {"token": "wrong", "no token": None}.get(self.foreign, token)
        body = self.body + (bytes(self.inner) if self.inner else b"")
        headers = {
            "Host": host,
            "Origin": origin,
            "Cookie": cookie and f"icarus-{port}={cookie}",
            "Content-Type": "application/json" if self.foreign != "form" else "text/plain",
            **_framing(self.length, len(body)),
        }
        lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
        head = "\r\n".join([f"{self.method} /{self.name} HTTP/1.1", *lines, "", ""])
        return head.encode() + (b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if self.length == "chunked" else body)


def _framing(length: str, size: int) -> dict[str, Any]:
    if length == "chunked":
        return {"Transfer-Encoding": "chunked"}
    return {"Content-Length": {"right": size, "none": None, "zero": 0, "short": size // 2, "negative": -1}[length]}


FOREIGN = ("host", "no host", "port", "origin", "null", "localhost", "token", "no token")
_lengths = st.sampled_from(["right", "chunked"])
_inner = st.builds(
    Request,
    st.just("POST"),
    st.just("say"),
    st.just("nothing"),
    st.just("right"),
    st.sampled_from([b'{"line": "d3", "at": 0}', b'{"line": "undo", "at": 0}']),
)
foreign_requests = st.builds(
    Request, st.sampled_from(["GET", "POST", "PUT", "HEAD"]), _names, st.sampled_from(FOREIGN), _lengths, _bodies,
    st.one_of(st.none(), _inner),
)  # fmt: skip


@functools.cache
def served() -> Server:
    """A game that is served as long as this process lives; the person at the page is to move."""
    agents = [None, Agent(BASELINE, iterations=5)]
    server = Server(Conversation(Session(games.load("othello"), agents, 3), 0))
    threading.Thread(target=server.serve, daemon=True).start()
    return server


def answers(request: Request) -> list[int]:
    """The status of each answer to a request, until the server closes the connection."""
    content = b""
    with socket.create_connection(("127.0.0.1", served().port), timeout=SOON) as connection:
        connection.sendall(bytes(request))
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 16):
            content += piece
    heads = content.split(b"HTTP/1.1 ")[1:]
    return [int(head[:3]) for head in heads]
