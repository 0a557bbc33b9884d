"""What is drawn: strategies as texts and as values, command lines, tables of experiments, damage to files; views of arrays, answers of
engines, nests of brackets, and games of luck."""

import array
import functools
import random
import socket
import threading
import types
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
from hypothesis import strategies as st

from icarus import BASELINE, Agent, Game, PythonGame, games
from icarus.commands.conversation import Conversation, Session
from icarus.commands.server import Server, Tables
from icarus.engine.scheme import SCHEMES
from icarus.kernel import CHANCE, TERMINAL, below, shuffle
from icarus.specs import SPECIFICATIONS
from tests.algebra.test_algebra import compositions
from tests.toy import ALL_TOYS

WHOLE = (
    "kuhn-poker",
    "phantom-mnk(columns=3,rows=3,in_a_row=3)",
    "goofspiel",
    "liars-dice",
    "othello",
)
PLAIN_SCHEMES = [attrs.evolve(each, trees=min(each.trees, 2)) for each in SCHEMES.values()]

schemes = st.tuples(st.sampled_from(PLAIN_SCHEMES), st.booleans()).map(
    lambda drawn: drawn[0].with_exp3() if drawn[1] else drawn[0]
)
played_games = st.one_of(
    st.sampled_from(ALL_TOYS), st.sampled_from(ALL_TOYS), st.sampled_from(WHOLE).map(games.load)
)
seeds = st.integers(0, 1 << 40)

# ------------------------------------------------------------------------------------------------------ strategies as texts

_words = st.sampled_from(
    [
        *SPECIFICATIONS,
        *[
            "mast",
            "nast",
            "rave",
            "gibbs",
            "ucb1",
            "rave_weight",
            "k",
            "n",
            "policy",
            "temperature",
            "x",
            "__import__",
        ],
    ]
)
_numbers = st.sampled_from(
    ["0", "1", "2", "3", "-1", "0.5", "1e9", "1e309", "nan", "inf", "00", "1_0", "9" * 40]
)
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
_files = st.sampled_from(
    ["examples/nim.py", "examples/own_pairs.py", "README.md", "nowhere.py", "/", "tests"]
)


def _option(name: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.one_of(
        st.just([]), st.just([]), values.map(lambda value: [name, value]), st.just([name])
    )


def _line(*parts: st.SearchStrategy[Any]) -> st.SearchStrategy[list[str]]:
    return st.tuples(*parts).map(
        lambda values: [
            word for part in values for word in ([part] if isinstance(part, str) else part)
        ]
    )


_budget = st.one_of(
    _some.map(lambda number: ["--iterations", number]), st.just(["--seconds", "0.01"])
)
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
    st.just("check"),
    _games,
    _option("--seed", _integers),
    st.just(["--games", "1", "--determinizations", "3"]),
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
        st.dictionaries(
            st.sampled_from(["a", "strategy", "iterations", "scheme", "agent"]), inner, max_size=3
        ),
    ),
    max_leaves=4,
)
_right: dict[str, Any] = {
    "name": "fuzzed", "games": "kuhn-poker", "agents": {"one": "MAST", "two": "BASELINE"}, "iterations": 20, "trials": 2
}  # fmt: skip
_keys = st.sampled_from(
    [*_right, "seconds", "opponent", "seats", "roles", "seed", "paired", "sprt", "pictures", "x"]
)


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
VISITOR = "who-sits-at-seat-0"  # the cookie of the page

SOON = 30.0  # seconds
_names = st.sampled_from(
    ["games", "games/0", "games/0/state", "games/0/tree", "picture", "", "?token=", "..", "%00"]
)
_bodies = st.sampled_from(
    [
        b"{}",
        b'{"line": "d3", "at": 0}',
        b'{"line": "undo", "at": 0}',
        b"[" * 9,
        b"\xff",
        b'"undo"',
        b"",
    ]
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
        port = served().server_port
        hosts = {"host": "elsewhere.example", "no host": None, "port": "127.0.0.1:1"}
        host = hosts.get(self.foreign, f"127.0.0.1:{port}")
        origins = {
            "origin": "http://elsewhere.example",
            "null": "null",
            "localhost": f"http://localhost:{port}",
        }
        origin = origins.get(self.foreign, f"http://127.0.0.1:{port}")
        cookie = {"token": "wrong", "no token": None}.get(self.foreign, VISITOR)
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
        return head.encode() + (
            b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if self.length == "chunked" else body
        )


def _framing(length: str, size: int) -> dict[str, Any]:
    if length == "chunked":
        return {"Transfer-Encoding": "chunked"}
    return {
        "Content-Length": {
            "right": size,
            "none": None,
            "zero": 0,
            "short": size // 2,
            "negative": -1,
        }[length]
    }


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
    tables = Tables()
    tables.games[0] = Conversation(Session(games.load("othello"), agents, 3), 0)
    server = Server(tables)
    server.visitors[VISITOR] = {0: 0}
    threading.Thread(target=server.serve, daemon=True).start()
    return server


def answers(request: Request) -> list[int]:
    """The status of each answer to a request, until the server closes the connection."""
    content = b""
    with socket.create_connection(("127.0.0.1", served().server_port), timeout=SOON) as connection:
        connection.sendall(bytes(request))
        connection.shutdown(socket.SHUT_WR)
        while piece := connection.recv(1 << 16):
            content += piece
    heads = content.split(b"HTTP/1.1 ")[1:]
    return [int(head[:3]) for head in heads]


# -------------------- Arrays that slots read: views of others, by whatever name the slot has them.

SIZE = 24
_OWNERS: list[Callable[[np.ndarray], np.ndarray]] = [
    np.copy,
    lambda numbers: np.frombuffer(bytearray(numbers.tobytes()), np.int64),
    lambda numbers: np.frombuffer(array.array("q", numbers.tolist()), np.int64),
]
_PAIRS = [("first", "i8"), ("second", "i8")]
VIEWS: list[tuple[Callable[[np.ndarray], Any], str]] = [  # and how a slot reads the first elements
    (lambda base: base, "W[i]"),
    (lambda base: base[:4], "W[i]"),
    (lambda base: base[::-2], "W[i]"),
    (lambda base: base.reshape(4, 6).T, "W[i, i]"),
    (lambda base: base.view(np.int16), "W[4 * i]"),
    (lambda base: base.view(_PAIRS)["second"], "W[i]"),
    (lambda base: base.view(_PAIRS), 'W[i]["first"]'),
    (lambda base: np.lib.stride_tricks.sliding_window_view(base, 3), "W[i, 2]"),
    (lambda base: base[5:6].reshape(()), "W[()]"),
]
_NAMES = {  # what the module of a slot has beside it, by the array, and the name by which the slot reads it
    "a global": (lambda view: {"W": view}, "W", ""),
    "of a module": (lambda view: {"other": types.SimpleNamespace(W=view)}, "W", "W = other.W"),
    "in tuples": (lambda view: {"nested": (1, (view, 2))}, "nested[1][0]", ""),
    "of a helper": (lambda view: {"W": view}, "get(i)", "@helper\ndef get(i):\n    return {read}"),
    "a default": (
        lambda view: {"W": view},
        "get(i)",
        "@helper\ndef get(i, W=W):\n    return {read}",
    ),
}


def slot_with_view(
    base: np.ndarray, make: Callable, read: str, where: str
) -> tuple[Callable, np.ndarray, str]:
    """The capture function of a slot that reads a view, what the view is of, and where the view is."""
    space, name, before = _NAMES[where]
    reads = name if "get" in name else read.replace("W", name)
    source = f"""
from icarus.kernel import helper, record, update
{before.format(read=read)}
def read_view(history, updates):
    total = 0
    for i in range(4):
        total = (total * 100 + int({reads})) % 1000003
    update(updates, record(total), history.steps[0].player)
"""
    module = types.ModuleType("module_of_a_view")
    vars(module).update(space(make(base)))
    exec(source, vars(module))
    return vars(module)["read_view"], base, where


_numbers_in_arrays = st.lists(st.integers(0, 99), min_size=SIZE, max_size=SIZE).map(np.array)
_bases = st.tuples(st.sampled_from(_OWNERS), _numbers_in_arrays).map(
    lambda drawn: drawn[0](drawn[1])
)
slots_with_views = st.tuples(_bases, st.sampled_from(VIEWS), st.sampled_from([*_NAMES])).map(
    lambda drawn: slot_with_view(drawn[0], *drawn[1], where=drawn[2])
)


# -------------------- What an engine writes: pieces of answers, with pauses between them.

_pieces = st.sampled_from(
    ["=", "?", " ok", "\n", "\n\n", "\r\n", " ", "= a1\n\n", "words", "\\377", "\\0"]
)
engine_outputs = st.lists(_pieces, max_size=8)


def answer_in(text: str) -> str | None:
    """The answer in what an engine has written, by the protocol's own words; None where none ends."""
    lines: list[str] = []
    for line in text.split("\n")[:-1]:
        if line.strip():
            lines.append(line.strip())
        elif lines:
            return "\n".join(lines)
    return None


# -------------------- Files nested as deep as nobody writes them.


@attrs.frozen
class Nest:
    """Brackets in brackets, closed or not."""

    brackets: tuple[str, str, str]
    depth: int
    inner: str
    is_closed: bool
    encoding: str

    def __bytes__(self) -> bytes:
        before, opening, closing = self.brackets
        text = before + self.depth * opening + self.inner + self.is_closed * self.depth * closing
        return text.encode(self.encoding)


BRACKETS = [
    ("", "[", "]"),
    ("", '{"a":', "}"),
    ("a = ", "[", "]"),
    ("a = ", "{a = ", "}"),
    ("", "[[", "]]"),
]
nests = st.builds(
    Nest, st.sampled_from(BRACKETS), st.sampled_from([1, 3, 50, 900, 5_000, 60_000]), st.sampled_from(["", "1", "é"]),
    st.booleans(), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "latin-1"]),
)  # fmt: skip


# -------------------- Games of cards whose luck is where it may be, or where nobody sees it.

FAIR = ("chance", "shown", "told to all", "none")
FORESEEN = ("deck", "generator", "number")


def _next(number: int) -> int:
    return (number * 6364136223846793005 + 1442695040888963407) % (1 << 64)


def luck_game(kind: str, cards: int, turns: int) -> PythonGame:
    """Two players in turn take two points, or a card from the top, until each has had so many turns."""

    def initial(rng: np.ndarray) -> dict[str, Any]:
        deck, luck = list(range(cards)), random.Random(int(below(rng, 1 << 32)))
        if kind != "none":
            luck.shuffle(deck)
        state: dict[str, Any] = {"points": [0, 0], "turn": 0, "draws": False, "told": []}
        if kind == "generator":
            return state | {"luck": luck}
        if kind == "number":
            return state | {"luck": luck.getrandbits(64)}
        return state | ({} if kind == "chance" else {"deck": deck})

    def player(state):
        return (
            TERMINAL
            if state["turn"] == 2 * turns
            else CHANCE
            if state["draws"]
            else state["turn"] % 2
        )

    def top_card(state):
        if kind == "generator":
            return state["luck"].randrange(cards)
        if kind == "number":
            state["luck"] = _next(state["luck"])
            return (state["luck"] >> 40) % cards
        return state["deck"][state["turn"] % cards]

    def apply(state, action):
        if kind == "chance" and action and not state["draws"]:
            state["draws"] = True
            return
        gain = action if state["draws"] else 2 if not action else top_card(state)
        state["points"][state["turn"] % 2] += gain
        state["told"].append(gain)
        state["turn"], state["draws"] = state["turn"] + 1, False

    def text(state):
        deck = state.get("deck") if kind in ("shown", "none") else ""
        return f"{state['points']} after {state['turn']}, {state['draws']} {deck}"

    functions: dict[str, Any] = {
        "initial": initial, "player": player, "apply": apply, "text": text,
        "observation": (lambda state, player: tuple(state["deck"])) if kind == "told to all" else None,
        "legal": lambda state: list(range(cards)) if state["draws"] else [0, 1],
        "rewards": lambda state: [float(state["points"][i] > state["points"][1 - i]) for i in range(2)],
    }  # fmt: skip
    return PythonGame(
        name=f"luck-{kind.replace(' ', '-')}", players=2, max_length=4 * turns, **functions
    )


luck_games = st.tuples(st.sampled_from(FAIR + FORESEEN), st.integers(4, 9), st.integers(2, 4))


# The same as a compiled game: with a deck, or with a number that goes on from card to card.

CARDS, TURNS = 8, 3
_FIELDS = [
    ("deck", np.int8, (CARDS,)),
    ("number", np.int64),
    ("points", np.int64, (2,)),
    ("turn", np.int64),
]
_LUCK = np.dtype(_FIELDS, align=True)


def _deal(state, rng):
    for i in range(CARDS):
        state.deck[i] = i
    shuffle(rng, state.deck, CARDS)
    state.number = below(rng, 1 << 30)


def _player(state):
    return TERMINAL if state.turn == 2 * TURNS else state.turn % 2


def _legal(state, actions):
    actions[0], actions[1] = 0, 1
    return 2


def _take_from_deck(state, action):
    state.points[state.turn % 2] += state.deck[state.turn] if action == 1 else 2
    state.turn += 1


def _take_by_number(state, action):
    state.number = (state.number * 1103515245 + 12345) % (1 << 31)
    state.points[state.turn % 2] += (state.number >> 16) % CARDS if action == 1 else 2
    state.turn += 1


def _rewards(state, out):
    for i in range(2):
        out[i] = 1.0 if state.points[i] > state.points[1 - i] else 0.0


COMPILED_LUCK = [
    Game(
        name=f"luck-{apply.__name__.replace('_', '-')}", players=2, state=_LUCK, initial=_deal, player=_player, legal=_legal,
        apply=apply, rewards=_rewards, max_legal=2, max_length=2 * TURNS,
        text=lambda state: f"{state.points.tolist()} after {state.turn}", action_text=lambda state, action: ("two", "a card")[action],
    )
    for apply in (_take_from_deck, _take_by_number)
]  # fmt: skip
