"""Learned evaluations: a game's heuristic as a file of numbers, which is read by one compiled function in all games.

A state is *facts*, numbers that stand in its data: the fields of a `Game`; what `numbers_in` finds in a state of a `PythonGame`, or its
features. A *field* says how a fact becomes inputs of a network, which are 0 or 1: a mask has an input for each bit, a fact of few values
one for each value, another one for each of some intervals. The number of legal actions and these themselves are inputs too. All inputs
are apart for each player who is to move, and for chance. Few of them are 1, and only their rows of weights are read:

    sums   = bias + Σ rows of the inputs that are 1
    scores = base + max(sums, 0) · output
    values = 1 / (1 + e^-scores)      of each player; of two whose rewards always sum to 1, the first one's
"""

import functools
import hashlib
import io
import json
import math
from array import array
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from enum import Enum
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import attrs
import numpy as np

from icarus.checks import exact_text
from icarus.compiler import array_at, helper, inlined, intrinsic, lowest_bit, python_of, types
from icarus.compiler.digest import rules_digest
from icarus.kernel.contract import SPARE_LEGAL

FORMAT = 1
DIGITS = 12  # of the digest of a file
LARGEST = 1 << 20  # bytes of a file
# kinds of fields; the last two are of the legal actions
BITS, VALUES, INTERVALS, COUNT, ACTIONS = range(5)
CLASSES = 1000  # of which it is kept which slots they have
REAL = 0  # in place of the width of an integer: 64 bits of a floating-point number
FIELD = np.dtype(
    [
        ("kind", np.int64),
        ("place", np.int64),  # where the fact begins in the data, in bytes
        ("width", np.int64),  # bytes of an integer, negative where it has a sign; or REAL
        ("low", np.int64),  # the first value; of intervals, where their limits begin in `limits`
        ("size", np.int64),  # inputs
        ("first", np.int64),  # of them
        # of a row of weights: a compiler that knows them unrolls a loop, and then adds one by one
        ("units", np.int64),
    ]
)
RULES = (
    "initial",
    "player",
    "legal",
    "apply",
    "rewards",
    "chance",
    "observe",
    "determinize",
    "simultaneous",
)


class LearnedNetwork(NamedTuple):
    """Inputs and weights.

    Attributes:
        fields: [fields] FIELD.
        limits: between intervals: a number that is greater than i of them is in interval i.
        rows: [(players + 1) · inputs] of each input, by the player to move: its row of `hidden`, or -1.
        hidden: [rows, units]; bias: [units]; output: [units, outputs]; base: [outputs]; float32.
    """

    fields: np.ndarray
    limits: np.ndarray
    rows: np.ndarray
    hidden: np.ndarray
    bias: np.ndarray
    output: np.ndarray
    base: np.ndarray


# ------------------------------------------------------------------------------------------------------ one function for all games


@intrinsic
def place_of(typingctx: Any, record: Any) -> Any:
    """The address of a structure, as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Sequence[Any]) -> Any:
        return builder.ptrtoint(arguments[0], context.get_value_type(types.int64))

    return types.int64(record), codegen


# The bytes of a structure of `plain_python` are those of the record that it holds.
place_of.py_func = lambda structure: np.frombuffer(structure._data, np.uint8).ctypes.data
_BYTE, _REAL = np.dtype(np.uint8), np.dtype(np.float64)


@helper
def word_at(address: int, width: int) -> np.uint64:
    """An integer of |width| bytes, the lowest first, as a word of 64 bits; below 0 the integer has a sign, which is extended."""
    data, word = array_at(address, abs(width), _BYTE), np.uint64(0)
    for i in range(abs(width)):
        word |= np.uint64(data[i]) << np.uint64(8 * i)
    if width < 0 and data[-width - 1] >= 128:
        for i in range(-width, 8):
            word |= np.uint64(255) << np.uint64(8 * i)
    return word


@inlined
def append_row(active: np.ndarray, count: int, row: int) -> int:
    """Append a row of weights, if there is one, to so many; returns their new number."""
    active[count] = row
    return count + (row >= 0)


@helper
def read_state(
    network: LearnedNetwork,
    address: int,
    mover: int,
    players: int,
    actions: np.ndarray,
    legal: int,
    active: np.ndarray,
) -> int:
    """Write the rows of the inputs that are 1; returns their number.

    Args:
        address: of the state's data.
        mover: the player to move, or CHANCE.
        actions: of which the first `legal` are the legal ones.
        active: with room for one more than all inputs.
    """
    first = (mover if mover >= 0 else players) * (len(network.rows) // (players + 1))
    count = 0
    for k in range(len(network.fields)):
        field = network.fields[k]
        rows = network.rows[first + field.first : first + field.first + field.size]
        if field.kind == ACTIONS:
            for i in range(legal):
                if actions[i] < field.size:
                    count = append_row(active, count, rows[actions[i]])
            continue
        if field.kind == COUNT:
            count = append_row(active, count, rows[min(legal, field.size - 1)])
            continue
        if field.width == REAL:
            value = array_at(address + field.place, 1, _REAL)[0]
            word = np.uint64(np.int64(value))
        else:
            word = word_at(address + field.place, field.width)
            value = float(np.int64(word))
        if field.kind == BITS:
            while word != np.uint64(0) and lowest_bit(word) < field.size:
                count = append_row(active, count, rows[lowest_bit(word)])
                word &= word - np.uint64(1)
        elif field.kind == VALUES:
            count = append_row(
                active, count, rows[min(max(np.int64(word) - field.low, 0), field.size - 1)]
            )
        else:
            i = 0
            while i < field.size - 1 and value > network.limits[field.low + i]:
                i += 1
            count = append_row(active, count, rows[i])
    return count


@inlined
def add_row(sums: np.ndarray, row: np.ndarray, units: int) -> None:
    """Add a row of so many units to the sums."""
    for j in range(units):
        sums[j] += row[j]


@helper
def write_values(
    network: LearnedNetwork, active: np.ndarray, count: int, sums: np.ndarray, out: np.ndarray
) -> None:
    """Write the value for each player of the state with these rows; `sums` is room for the hidden units."""
    # Every field has the same units. The place is computed so that the compiler does not know their number: it would unroll the
    # loops over them, and then add one by one.
    units = network.fields[count % len(network.fields)].units
    for j in range(units):
        sums[j] = network.bias[j]
    for i in range(count):
        add_row(sums, network.hidden[active[i]], units)
    for p in range(len(network.base)):
        score = network.base[p]
        for j in range(units):
            score += max(sums[j], np.float32(0)) * network.output[j, p]
        out[p] = 1.0 / (1.0 + math.exp(-score))
    if len(network.base) < len(out):
        out[1] = 1.0 - out[0]


# ------------------------------------------------------------------------------------------------------ numbers in objects of Python

WORD_LETTERS = 3  # a text of more is read letter by letter, as a board
DEEPEST = 12  # objects within objects
LARGEST_FACT = 2.0**53  # up to here integers are told apart
LENGTH = "len "  # begins the name of the length of a list


def attributes_of(value: object) -> list[str]:
    """The names of an object's attributes, also of those in slots that its class inherits."""
    kind: Any = type(value)
    names = dict.fromkeys([*_slots_of(kind), *getattr(value, "__dict__", ())])
    return [name for name in names if not name.startswith("__")]


@functools.lru_cache(CLASSES)
def _slots_of(kind: type) -> list[str]:
    slots = list[str]()
    for base in kind.__mro__:
        named = vars(base).get("__slots__", ())
        slots += [named] if isinstance(named, str) else named
    return slots


def numbers_in(state: object, names: tuple[str, ...] | None = None) -> dict[str, float]:
    """The numbers that are found in an object of Python's, by where they stand.

    Attributes (also of slots), items of lists, tuples, arrays and bytes by their places, and of dictionaries by their keys, are followed;
    what begins with an underscore too, functions and generators of random numbers not. A number and a truth value count as they are, a
    complex number as a list of two; of an integer beyond 2^53, such as a board, the bits that are 1 count, too (`.board#60`). A text of
    at most three letters, an enumeration's member and None are 1 under their own names (`.suit=SPADES`), a longer text is read by
    letters. In lists and sets the number of equal items is counted as well (`.hand#7`), and how many there are (`len .hand`).

    Args:
        names: all that somebody asks for; only what leads to one of them is walked through.
    """
    facts: dict[str, float] = {}
    _walk(state, "", facts, 0, None if names is None else _beginnings_of(names))
    return facts


@functools.lru_cache(16)
def _beginnings_of(names: tuple[str, ...]) -> frozenset[str]:
    """All texts that a name begins with, itself too; of the length of a list, those of the list's name."""
    beginnings = set[str]()
    for name in names:
        place = name.removeprefix(LENGTH)
        beginnings.update(place[:end] for end in range(len(place) + 1))
    return frozenset(beginnings)


def _walk(
    value: Any, path: str, facts: dict[str, float], depth: int, places: frozenset[str] | None
) -> None:
    """Add the numbers in the value at a path to the facts; `places` are the paths to follow, None for all."""
    if places is not None and path not in places:
        return
    has_bits = places is not None and f"{path}#" in places
    if (
        type(value) in (bool, int, float)
        and -LARGEST_FACT <= value <= LARGEST_FACT
        and not has_bits
    ):
        facts[path] = float(value)  # first, as most values are such, and what follows takes time
    elif depth > DEEPEST or callable(value) or _is_generator(value):
        return
    elif isinstance(value, np.ndarray) and value.ndim == 0:
        _walk(value[()], path, facts, depth, places)
    elif isinstance(value, Enum):
        facts[f"{path}={value.name}"] = 1.0
    elif isinstance(value, complex | np.complexfloating):
        _walk([value.real, value.imag], path, facts, depth, places)
    elif isinstance(value, int | np.integer):
        number = int(value)
        facts[path] = float(max(-LARGEST_FACT, min(LARGEST_FACT, number)))
        if has_bits or places is None and abs(number) > LARGEST_FACT:
            bits = (i for i in range(number.bit_length()) if abs(number) >> i & 1)
            facts.update((f"{path}#{i}", 1.0) for i in bits)
    elif isinstance(value, float | Decimal | np.number | np.bool_):
        facts[path] = max(-LARGEST_FACT, min(LARGEST_FACT, float(value)))  # a number for nan, too
    elif value is None or isinstance(value, str) and len(value) <= WORD_LETTERS:
        facts[f"{path}={value}"] = 1.0
    elif isinstance(
        value, str | list | tuple | set | frozenset | np.ndarray | bytes | bytearray | array
    ) or hasattr(value, "popleft"):
        _walk_items(value, path, facts, depth, places)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _walk(item, f"{path}[{key}]", facts, depth + 1, places)
    elif hasattr(value, "observation_tensor"):  # a state of OpenSpiel's
        _walk(_tensors(value), path, facts, depth, places)
    elif isinstance(value, np.void):
        for name in value.dtype.names or ():
            _walk(value[name], f"{path}.{name}", facts, depth + 1, places)
    else:
        for name in attributes_of(value):
            if hasattr(value, name):
                _walk(getattr(value, name), f"{path}.{name}", facts, depth + 1, places)


def _is_generator(value: object) -> bool:
    """Whether it makes random numbers, which is no fact."""
    module = type(value).__module__
    return module == "random" or module.startswith("numpy.random.")


def _tensors(state: Any) -> list[list[float]]:
    """What all players of a state of OpenSpiel's see together; nothing where they have no tensors."""
    kind = state.get_game().get_type()
    players = range(state.num_players())
    if kind.provides_observation_tensor:
        return [state.observation_tensor(player) for player in players]
    if kind.provides_information_state_tensor:
        return [state.information_state_tensor(player) for player in players]
    return []


def _walk_items(
    items: Any, path: str, facts: dict[str, float], depth: int, places: frozenset[str] | None
) -> None:
    """Add the number of items, the numbers in each by its place, and how many items are equal."""
    facts[f"{LENGTH}{path}"] = float(len(items))
    by_place = not isinstance(items, set | frozenset) and (places is None or f"{path}[" in places)
    by_value = places is None or f"{path}#" in places
    if by_value:
        for i, item in enumerate(items):
            inside: dict[str, float] = {}
            _walk(item, "", inside, depth + 1, None)
            # An item is called by what stands at its places; a set, and the bits of a number, have none: these by their values (#).
            has_no_places = isinstance(item, set | frozenset | int | np.integer)
            left_out = LENGTH if has_no_places else (LENGTH, "#")
            parts = [
                f"{key}{exact_text(number)}"
                for key, number in sorted(inside.items())
                if not key.startswith(left_out)
            ]
            name = f"{path}#{','.join(parts)}"
            facts[name] = facts.get(name, 0.0) + 1.0
            if by_place:
                facts |= {_below(f"{path}[{i}]", key): number for key, number in inside.items()}
    elif by_place:
        for i, item in enumerate(items):
            _walk(item, f"{path}[{i}]", facts, depth + 1, places)


def _below(path: str, key: str) -> str:
    """The name, in the state, of a fact that is called `key` in the item at a path."""
    return f"{LENGTH}{path}{key.removeprefix(LENGTH)}" if key.startswith(LENGTH) else f"{path}{key}"


# --------------------------------------------------------------------------------------------------------------- an evaluation


def facts_in(game: Any, states: Sequence[Any], names: Sequence[str]) -> np.ndarray:
    """The facts of states, by their data, as bytes [states, bytes of the facts of one].

    Args:
        names: of the facts of a `PythonGame`, see `numbers_in`; of a `Game` there are none.
    """
    if not names:
        data = np.concatenate(states)
        return data.view(np.uint8).reshape(len(data), data.itemsize)
    game = with_facts(game, tuple(names))
    return np.array([game.ask("features", state) for state in states]).view(np.uint8)


@functools.lru_cache(16)
def with_facts(game: Any, names: tuple[str, ...]) -> Any:
    """A `PythonGame` whose features are its facts: the author's own, or the numbers of these names in a state."""
    if game.features is not None:
        return game

    def features(state: object) -> list[float]:
        numbers = numbers_in(state, names)
        return [numbers.get(name, 0.0) for name in names]

    return attrs.evolve(game, features=features, feature_names=names)


@attrs.frozen(eq=False, repr=False)
class Evaluation:
    """A learned evaluation of a game.

    Attributes:
        network: its inputs and weights.
        players: of the game.
        game: with its parameters.
        rules: a digest of the game's rules.
        names: of the facts, of a `PythonGame`.
        about: what else its file says of how it was learned: its seed, its curve.
    """

    network: LearnedNetwork
    players: int
    game: str
    rules: str
    names: Sequence[str] = ()
    about: Mapping[str, Any] = attrs.field(factory=dict)

    @staticmethod
    def of(game: Any) -> "Evaluation | None":
        """The learned evaluation that a game has as its heuristic, if it has one."""
        return getattr(game.heuristic, "evaluation", None)

    def __str__(self) -> str:
        return f"evaluation {self.digest}"

    def __repr__(self) -> str:
        return f"<{self} of {self.game}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Evaluation) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def room(self) -> int:
        """The length of the array to which `read_state` writes the rows of a state."""
        return 1 + int(self.network.fields["size"].sum())

    @property
    def asks_legal(self) -> bool:
        """Whether legal actions are inputs."""
        return bool((self.network.fields["kind"] >= COUNT).any())

    def of_sums(self, sums: np.ndarray) -> np.ndarray:
        """The values [states, players] by the sums [states, units] of the rows of each state."""
        scores = self.network.base + np.maximum(sums + self.network.bias, 0) @ self.network.output
        values = 1 / (1 + np.exp(-scores.astype(float)))
        return values if values.shape[1] == self.players else np.hstack([values, 1 - values])

    # ------------------------------------------------------------------------------------------------- a game that has it

    def check(self, game: Any) -> None:
        """Refuse a game that is not the one that was learned.

        Raises:
            ValueError: it has another name, other rules, or, in plain Python, other features.
        """
        if self.game != str(game):
            raise ValueError(f"the evaluation is of the game {self.game}, not of {game}")
        # kept ones of before, too: their digests open no objects, and lack features
        rules = rules_of(game, features=True), rules_of(game), rules_of(game, opens_objects=False)
        by_place = bool(self.names) and game.features is not None
        if self.rules not in rules or by_place and (*self.names,) != (*game.feature_names,):
            raise ValueError(
                f"the evaluation was learned by other rules or features of {game} than it has now; learn it again"
            )

    def put_into(self, game: Any) -> Any:
        """The game with its heuristic by this evaluation, of which the heuristic tells."""
        heuristic: Any = self.heuristic(game)
        heuristic.evaluation = self
        return attrs.evolve(game, heuristic=heuristic)

    def heuristic(self, game: Any) -> Callable:
        """The heuristic of a game: of a `Game` a function to be compiled, of a `PythonGame` one of plain Python."""
        if self.names:
            return self._in_python(game)
        # Each array has a name of its own: plain Python makes structures of the rows of an array that a function closes over, but not of
        # an array in a tuple.
        fields, limits, rows, hidden, bias, output, base = self.network
        players = self.players
        room = self.room
        units = len(bias)
        asks = self.asks_legal
        player, legal = helper(python_of(game.player)), helper(python_of(game.legal))
        most = game.max_legal + SPARE_LEGAL

        def heuristic(state: Any, out: np.ndarray) -> None:
            actions = np.empty(most, np.int64)
            active = np.empty(room, np.int32)
            sums = np.empty(units, np.float32)
            network = LearnedNetwork(fields, limits, rows, hidden, bias, output, base)
            count = legal(state, actions) if asks else 0
            count = read_state(
                network, place_of(state), player(state), players, actions, count, active
            )
            write_values(network, active, count, sums, out)

        return heuristic

    def _in_python(self, game: Any) -> Callable:
        room = self.room
        units = len(self.network.bias)

        def heuristic(state: object) -> list[float]:
            mover = game.ask("player", state)
            actions = np.array(game.ask("legal", state), np.int64)
            facts = facts_in(game, [state], self.names)
            active = np.empty(room, np.int32)
            sums = np.empty(units, np.float32)
            out = np.empty(self.players)
            count = read_state(
                self.network, facts.ctypes.data, mover, self.players, actions, len(actions), active
            )
            write_values(self.network, active, count, sums, out)
            return out.tolist()

        return heuristic

    # ------------------------------------------------------------------------------------------------------------- the file

    def to_bytes(self) -> bytes:
        """What a file of it holds, always the same: arrays without pickles, one of them of letters."""
        names = [field.name for field in attrs.fields(Evaluation) if field.name != "network"]
        text = json.dumps(
            {"format": FORMAT} | {name: getattr(self, name) for name in names}, ensure_ascii=False
        )
        arrays: dict[str, Any] = self.network._asdict()
        buffer = io.BytesIO()
        np.savez_compressed(buffer, evaluation=np.frombuffer(text.encode(), np.uint8), **arrays)
        return buffer.getvalue()

    @functools.cached_property
    def digest(self) -> str:
        """The digest of its file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:DIGITS]


@functools.lru_cache(64)
def rules_of(game: Any, *, opens_objects: bool = True, features: bool = False) -> str:
    """A digest of a game's rules: of the functions that say how it is played, and of what its states are made of.

    Args:
        features: whether those of a `PythonGame` count, of whose values evaluations are learned.
    """
    functions = [getattr(game, name) for name in RULES]
    state = getattr(game, "state", None)
    if features and state is None and game.features is not None:
        functions.append(game.features)
    context = str(game), game.players, None if state is None else state.descr
    return rules_digest(functions, *context, opens_objects=opens_objects)


@functools.lru_cache(16)
def _read(content: bytes) -> Evaluation:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        table = json.loads(bytes(file["evaluation"]))
        if table.pop("format") != FORMAT:
            raise ValueError("it is of another version of icarus; learn it again")
        return Evaluation(LearnedNetwork(*[file[name] for name in LearnedNetwork._fields]), **table)


def read_evaluation(file: str | Path) -> Evaluation:
    """The evaluation in a file; the same object for the same content.

    Raises:
        OSError: it cannot be read. ValueError: it is no evaluation, or one of another version. TypeError: `file` is no path.
    """
    if not isinstance(file, str | PathLike):
        raise TypeError(f"an evaluation is {file!r}; it must be an Evaluation, or the file of one")
    content = Path(file).read_bytes()
    try:
        if len(content) > LARGEST:
            raise ValueError("it is larger than any")
        return _read(content)
    except Exception as error:  # each method of compression has errors of its own for damaged data
        is_ours = str(error).startswith("it is")
        reason = error if is_ours else "icarus learn writes such files"
        raise ValueError(f"{str(file)!r} is not an evaluation: {reason}") from None


# the same game for the same evaluation, so that what is kept for it serves again
@functools.lru_cache(64)
def with_evaluation(game: Any, evaluation: Evaluation) -> Any:
    """The game with an evaluation as its heuristic; errors as of `Evaluation.check`."""
    evaluation.check(game)
    return evaluation.put_into(game)
