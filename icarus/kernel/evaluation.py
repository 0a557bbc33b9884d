"""Learned evaluations: a game's heuristic as a file of numbers, which is read by one compiled function in all games.

A state is *facts*, numbers that stand in its data: the fields of a `Game`; what `numbers_in` finds in a state of a `PythonGame`, or its
features. A *field* says how one fact becomes inputs of a network: a mask gives an input for each bit that is set, a fact of few values
an input for each value, another one a scaled number. Several fields may be digits of one input, which stands for a tuple of their values.
A state has few inputs that are not 0, and only their weights are read:

    sums   = bias + Σ value of the input · its row of `hidden`
    scores = base + output · max(sums, 0)      of each player; without hidden units the sums themselves
    value  = 1 / (1 + e^-score)                scaled to the sum of all rewards where that never varies

Where a game's arrays have a place for each player, they may be read from the seat of the player to move on, and so are the values.
"""

import functools
import hashlib
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import attrs
import numpy as np

from icarus.compiler import array_at, helper, inlined, intrinsic, lowest_bit, python_of, types
from icarus.compiler.digest import rules_digest

FORMAT = 1
DIGITS = 12  # of the digest of a file
LARGEST = 1 << 20  # bytes of a file
BITS, VALUES, NUMBER, DIGIT, LAST_DIGIT = range(5)  # kinds of fields
REAL = 0  # in place of the width of an integer: 64 bits of a floating-point number
FIELD = np.dtype(
    [
        ("place", np.int64),  # where the fact begins in the data, in bytes
        ("step", np.int64),  # bytes from one player's fact to the next one's, where it is read from the seat of the player to move on
        ("seat", np.int64),  # whose it is, counted from the player to move
        ("width", np.int64),  # bytes of an integer, negative where it has a sign; or REAL
        ("kind", np.int64),
        ("low", np.int64),  # the value of the first input; of a digit of a mask, the number of its bit
        ("size", np.int64),  # inputs, or values
        ("mask", np.uint64),  # the bits that count
        ("stride", np.int64),  # of a digit
        ("first", np.int64),  # input
        ("units", np.int64),  # of a row: a compiler that knew how many unrolls the loop, and then adds one by one
    ]
)
ARRAYS = ("fields", "hidden", "bias", "output", "base")
RULES = ("initial", "player", "legal", "apply", "rewards", "chance", "observe", "determinize", "simultaneous")


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
    """An integer of so many bytes, as a word of 64 bits with its sign."""
    data, word = array_at(address, abs(width), _BYTE), np.uint64(0)
    for i in range(abs(width)):
        word |= np.uint64(data[i]) << np.uint64(8 * i)
    if width < 0 and data[-width - 1] >= 128:
        for i in range(-width, 8):
            word |= np.uint64(255) << np.uint64(8 * i)
    return word


@inlined
def add_row(sums: np.ndarray, row: np.ndarray, units: int, value: float) -> None:
    """Add a multiple of the first so many items of a row to the sums."""
    factor = np.float32(value)
    for j in range(units):
        sums[j] += factor * row[j]


@helper
def evaluate(
    address: int, mover: int, about: np.ndarray, fields: np.ndarray, hidden: np.ndarray, bias: np.ndarray,
    output: np.ndarray, base: np.ndarray, total: float, out: np.ndarray
) -> None:  # fmt: skip
    """Write the value of a state for each player.

    Args:
        address: of the state's data.
        mover: the player to move, or CHANCE.
        about: [blocks of inputs by the player to move, or 1; whether arrays are read from his seat on]
        fields: [fields] FIELD.
        hidden: [blocks · inputs, units] float32; bias: [units]; output: [units, players]; base: [players].
        total: the sum of all rewards; 0 where it varies.
    """
    players, sums, index = len(out), bias.copy(), 0
    seat = mover if mover >= 0 else 0
    first = (mover if mover >= 0 else players) * (len(hidden) // about[0]) if about[0] > 1 else 0
    for k in range(len(fields)):
        field = fields[k]
        place = address + field.place + field.step * ((field.seat + seat) % players)
        if field.width == REAL:
            value = array_at(place, 1, _REAL)[0]
            word = np.uint64(np.int64(value))
        else:
            word = word_at(place, field.width)
            value = float(np.int64(word))
        if field.kind == BITS:
            word &= field.mask
            while word != np.uint64(0):
                add_row(sums, hidden[first + field.first + lowest_bit(word)], field.units, 1.0)
                word &= word - np.uint64(1)
            continue
        number, factor = first + field.first, 1.0
        digit = min(max(np.int64(word) - field.low, 0), field.size - 1)
        if field.kind == NUMBER:
            factor = (value - field.low) / field.size
        elif field.kind == VALUES:
            number += digit
        else:
            if field.mask != np.uint64(0):
                digit = np.int64((word >> np.uint64(field.low)) & np.uint64(1))
            index += field.stride * digit
            if field.kind == DIGIT:
                continue
            number, index = number + index, 0
        add_row(sums, hidden[number], field.units, factor)
    write_values(sums, output, base, seat * about[1], total, out)


@helper
def write_values(
    sums: np.ndarray, output: np.ndarray, base: np.ndarray, shift: int, total: float, out: np.ndarray
) -> None:
    """Write the value for each player that the sums of the hidden units come to, the first for the player with the number `shift`."""
    players, all_values = len(out), 0.0
    for p in range(players):
        score = base[p]
        if len(output) == 0:
            score += sums[p]
        for j in range(len(output)):
            score += output[j, p] * max(sums[j], np.float32(0))
        value = 1.0 / (1.0 + math.exp(-score))
        out[(p + shift) % players] = value
        all_values += value
    if total > 0.0:
        for p in range(players):
            out[p] = min(out[p] * (total / all_values), 1.0)


# ------------------------------------------------------------------------------------------------------ numbers in objects of Python

WORD_LETTERS = 3  # a text of more is read letter by letter, as a board
DEEPEST = 12  # objects within objects
LENGTH = "len "  # begins the name of the length of a list
_SKIPPED = ("random", "numpy.random")  # modules whose objects are no facts


def numbers_in(state: object) -> dict[str, float]:
    """The numbers that are found in an object of Python's, by where they stand.

    Attributes (also of slots), items of lists, tuples and arrays by their places, and of dictionaries by their keys, are followed; what
    begins with an underscore too, functions and generators of random numbers not. A number and a truth value count as they are; a text of
    at most three letters, an enumeration's member and None are 1 under their own names (`.suit=SPADES`), a longer text is read by
    letters. In lists and sets the number of equal items is counted as well (`.hand#7`), and how many there are (`len .hand`).
    """
    found: dict[str, float] = {}
    _walk(state, "", found, 0)
    return found


def _walk(value: object, path: str, found: dict[str, float], depth: int) -> None:
    if depth > DEEPEST or callable(value) or type(value).__module__.startswith(_SKIPPED):
        return
    if isinstance(value, Enum):
        found[f"{path}={value.name}"] = 1.0
    elif isinstance(value, bool | int | float | np.number | np.bool_):
        found[path] = min(max(float(value), -1e300), 1e300) if abs(value) < 1e300 else 0.0
    elif value is None or isinstance(value, str) and len(value) <= WORD_LETTERS:
        found[f"{path}={value}"] = 1.0
    elif isinstance(value, str | list | tuple | set | frozenset | np.ndarray) or hasattr(value, "popleft"):
        _walk_items(value, path, found, depth)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            _walk(item, f"{path}[{key}]", found, depth + 1)
    elif isinstance(value, np.void):
        for name in value.dtype.names or ():
            _walk(value[name], f"{path}.{name}", found, depth + 1)
    else:
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        for name in dict.fromkeys([*slots, *getattr(value, "__dict__", ())]):
            if not name.startswith("__") and hasattr(value, name):
                _walk(getattr(value, name), f"{path}.{name}", found, depth + 1)


def _walk_items(items: Any, path: str, found: dict[str, float], depth: int) -> None:
    found[f"{LENGTH}{path}"] = float(len(items))
    is_ordered = not isinstance(items, set | frozenset)
    for i, item in enumerate(items):
        inside: dict[str, float] = {}
        _walk(item, "", inside, depth + 1)
        name = ",".join(f"{key}{number:g}" for key, number in sorted(inside.items()) if not key.startswith(LENGTH))
        found[f"{path}#{name}"] = found.get(f"{path}#{name}", 0.0) + 1.0
        if is_ordered:
            found |= {_below(f"{path}[{i}]", key): number for key, number in inside.items()}


def _below(path: str, key: str) -> str:
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
    if game.features is not None:
        rows = [game.ask("features", state) for state in states]
    else:
        found = map(numbers_in, states)
        rows = [[numbers.get(name, 0.0) for name in names] for numbers in found]
    return np.array(rows, float).reshape(len(rows), len(names)).view(np.uint8)


@attrs.frozen(eq=False, repr=False)
class Evaluation:
    """A learned evaluation of a game.

    Attributes:
        fields: [fields] FIELD, how a state becomes inputs.
        hidden, bias, output, base: the weights, see `evaluate`.
        blocks: of inputs, by the player to move: one, or one for each player and for chance.
        turned: whether arrays are read from the seat of the player to move on.
        total: the sum of all rewards; 0 where it varies.
        names: of the facts, of a `PythonGame`.
        game: with its parameters.
        rules: a digest of the game's rules.
        about: what else the file says of how it was learned: its seed, its curve.
    """

    fields: np.ndarray
    hidden: np.ndarray
    bias: np.ndarray
    output: np.ndarray
    base: np.ndarray
    game: str
    rules: str
    blocks: int = 1
    turned: bool = False
    total: float = 0.0
    names: tuple[str, ...] = attrs.field(default=(), converter=tuple)
    about: Mapping[str, Any] = attrs.field(factory=dict)

    def __str__(self) -> str:
        return f"evaluation {self.digest}"

    @property
    def inputs(self) -> int:
        """How many inputs there are, without their blocks."""
        return len(self.hidden) // self.blocks

    def active(self, facts: np.ndarray, movers: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The inputs that are not 0: the number of the state, that of the input, and its value.

        Args:
            facts: [states, bytes] as of `facts_in`.
            movers: [states] players to move, or CHANCE.
        """
        fields, (words, reals) = self.fields, self._read(facts, movers)
        kinds, low, size, first = (fields[name] for name in ("kind", "low", "size", "first"))
        digits, scaled, inputs = np.clip(words - low, 0, size - 1), (reals - low) / size, first + 0 * words
        parts = [
            _masked(words[:, kinds == BITS], fields[kinds == BITS]),
            _filled((inputs + digits)[:, kinds == VALUES]),
            _filled(inputs[:, kinds == NUMBER], scaled[:, kinds == NUMBER]),
            _filled(_tuples(words, digits, fields)),
        ]
        rows, inputs, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        if self.blocks > 1:
            inputs = inputs + (np.where(movers >= 0, movers, len(self.base)) * self.inputs)[rows]
        return rows, inputs, values

    def _read(self, facts: np.ndarray, movers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What stands in each field, as integers and as reals [states, fields]."""
        fields, count = self.fields, len(facts)
        places = fields["place"] + fields["step"] * ((fields["seat"] + np.maximum(movers, 0)[:, None]) % len(self.base))
        words, reals = np.zeros((count, len(fields)), np.int64), np.zeros((count, len(fields)))
        for width in np.unique(fields["width"]):
            which, length = fields["width"] == width, abs(int(width)) or np.dtype(float).itemsize
            found = facts[np.arange(count)[:, None, None], places[:, which, None] + np.arange(length)]
            numbers = found.view(f"<{'f' if width == REAL else 'i' if width < 0 else 'u'}{length}")[..., 0]
            reals[:, which], words[:, which] = numbers, numbers.astype(np.int64)
        return words, reals

    def values(self, facts: np.ndarray, movers: np.ndarray) -> np.ndarray:
        """The value of each state for each player, [states, players]: what `evaluate` writes, by numpy; arguments as of `active`."""
        rows, inputs, numbers = self.active(facts, movers)
        sums = np.tile(self.bias, (len(facts), 1))
        np.add.at(sums, rows, numbers[:, None] * self.hidden[inputs])
        scores = self.base + (np.maximum(sums, 0) @ self.output if len(self.output) else sums)
        values = 1 / (1 + np.exp(-scores.astype(float)))
        if self.turned:
            seats = np.arange(values.shape[1]) - np.maximum(movers, 0)[:, None]
            values = np.take_along_axis(values, seats % values.shape[1], axis=1)
        if self.total > 0:
            values = np.minimum(values * (self.total / values.sum(axis=1, keepdims=True)), 1)
        return values

    # ------------------------------------------------------------------------------------------------- a game that has it

    def check(self, game: Any) -> None:
        """Refuse a game that is not the one that was learned.

        Raises:
            ValueError: it has another name, or other rules.
        """
        if self.game != str(game):
            raise ValueError(f"the evaluation is of the game {self.game}, not of {game}")
        if self.rules != rules_of(game):
            raise ValueError(f"the evaluation was learned by other rules of {game} than it has now; learn it again")

    def heuristic(self, game: Any) -> Callable:
        """The heuristic of a game: of a `Game` a function to be compiled, of a `PythonGame` one of plain Python."""
        if self.names:
            return self._in_python(game)
        about = np.array([self.blocks, self.turned], np.int64)
        fields, hidden, bias, output, base = (getattr(self, name) for name in ARRAYS)
        total, player = self.total, helper(python_of(game.player))

        def heuristic(state: Any, out: np.ndarray) -> None:
            mover = player(state)
            evaluate(place_of(state), mover, about, fields, hidden, bias, output, base, total, out)

        return heuristic

    def _in_python(self, game: Any) -> Callable:
        def heuristic(state: object) -> list[float]:
            mover = game.ask("player", state)
            return self.values(facts_in(game, [state], self.names), np.array([mover]))[0].tolist()

        return heuristic

    # ------------------------------------------------------------------------------------------------------------- the file

    def to_bytes(self) -> bytes:
        """What a file of it holds, always the same: arrays without pickles, and one of letters."""
        names = [field.name for field in attrs.fields(Evaluation) if field.name not in ARRAYS]
        text = json.dumps({"format": FORMAT} | {name: getattr(self, name) for name in names}, ensure_ascii=False)
        arrays: dict[str, Any] = {name: getattr(self, name) for name in ARRAYS}
        buffer = io.BytesIO()
        np.savez_compressed(buffer, evaluation=np.frombuffer(text.encode(), np.uint8), **arrays)
        return buffer.getvalue()

    @functools.cached_property
    def digest(self) -> str:
        """Of its file."""
        return hashlib.sha256(self.to_bytes()).hexdigest()[:DIGITS]


def _filled(inputs: np.ndarray, values: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Inputs [states, any] of which every one counts, as `active` gives them."""
    rows = np.repeat(np.arange(len(inputs)), inputs.shape[1])
    return rows, inputs.ravel(), (np.ones(inputs.shape) if values is None else values).astype(np.float32).ravel()


def _masked(words: np.ndarray, fields: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The inputs of the bits that are set, as `active` gives them."""
    masked = words.view(np.uint64) & fields["mask"]
    rows, bits = np.nonzero(np.unpackbits(np.ascontiguousarray(masked).view(np.uint8), axis=1, bitorder="little"))
    return rows, fields["first"][bits // 64] + bits % 64, np.ones(len(rows), np.float32)


def _tuples(words: np.ndarray, digits: np.ndarray, fields: np.ndarray) -> np.ndarray:
    """The input of each tuple, [states, tuples]."""
    which = fields["kind"] >= DIGIT
    fields, words, digits = fields[which], words[:, which], digits[:, which]
    last = np.flatnonzero(fields["kind"] == LAST_DIGIT)
    if not len(last):
        return np.zeros((len(words), 0), np.int64)
    bits = (words >> np.where(fields["mask"] > 0, fields["low"], 0)) & 1
    parts = np.where(fields["mask"] > 0, bits, digits) * fields["stride"]
    return np.add.reduceat(parts, np.r_[0, last[:-1] + 1], axis=1) + fields["first"][last]


@functools.lru_cache(64)
def rules_of(game: Any) -> str:
    """A digest of a game's rules: of the functions that say how it is played, and of what its states are made of."""
    functions = [getattr(game, name) for name in RULES]
    state = getattr(game, "state", None)
    return rules_digest(functions, str(game), game.players, None if state is None else state.descr)


@functools.lru_cache(16)
def _read(content: bytes) -> Evaluation:
    with np.load(io.BytesIO(content), allow_pickle=False) as file:
        table = json.loads(bytes(file["evaluation"]))
        if table.pop("format") != FORMAT:
            raise ValueError("it is of another version of icarus; learn it again")
        return Evaluation(**{name: file[name] for name in ARRAYS}, **table)


def read_evaluation(file: str | Path) -> Evaluation:
    """The evaluation in a file; the same object for the same content.

    Raises:
        OSError: it cannot be read. ValueError: it is no evaluation, or one of another version.
    """
    content = Path(file).read_bytes()
    try:
        if len(content) > LARGEST:
            raise ValueError("it is larger than any")
        return _read(content)
    except (ValueError, KeyError, TypeError, AttributeError, EOFError, OSError, BadZipFile, RecursionError) as error:
        reason = error if str(error).startswith("it is") else "icarus learn writes such files"
        raise ValueError(f"{str(file)!r} is not an evaluation: {reason}") from None


@functools.lru_cache(64)  # the same game for the same evaluation, so that what is kept for it serves again
def with_evaluation(game: Any, evaluation: Evaluation) -> Any:
    """The game with an evaluation as its heuristic; errors as of `Evaluation.check`."""
    evaluation.check(game)
    return attrs.evolve(game, heuristic=evaluation.heuristic(game))
