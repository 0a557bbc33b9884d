"""A search of one tree under way, and the workspace of its loop: in machine code, or the same loop in plain Python."""

import contextlib
import ctypes
import functools
import re
import struct
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from icarus.algebra import Enhancement
from icarus.checks import count_text
from icarus.compiler import (
    MAKES_PLAIN,
    RNG_WORDS,
    WORD_BYTES,
    defined_at,
    offset_of,
    python_of,
    seeded,
)
from icarus.compiler.digest import kernel_cache
from icarus.compiler.kernel import UNPLACED, CompiledFunction, call_compiled
from icarus.compiler.memory import array_at, call, copy_items
from icarus.compiler.plain_python import PlainKernel, PlainPython, plain_kernels
from icarus.compiler.rng import below, next_word
from icarus.engine import loop
from icarus.engine.loop import NoRoom
from icarus.engine.lowering import (
    KEYLESS,
    MOST,
    NO_PLAYER,
    LoweredStrategy,
    check_features,
    kinds_of,
    lower,
    widths_of,
)
from icarus.engine.result import (
    Recommendation,
    Result,
    ReusedRecords,
    RootStatistics,
    most_visits,
    recommend,
)
from icarus.engine.scheme import EACH_PLAYER, FRESH, MO_ISMCTS, ONCE, ROOT_PLAYER, Scheme
from icarus.engine.tables import Records, RecordTable, address_in
from icarus.kernel import (
    CHANCE,
    LONGEST,
    MAX_EPISODE_MOVES,
    ROWS,
    TERMINAL,
    AnyGame,
    Game,
    PythonGame,
    State,
    StateData,
    mix,
)
from icarus.kernel.evaluation import rules_of
from icarus.kernel.history import PHASES, STEP, UNLIMITED, episode_key, episode_record, new_root

_CALLED = (
    "player",
    "legal",
    "apply",
    "rewards",
    "observe",
    "chance",
    "determinize",
    "episode",
    "recall",
)
_INT, _OF_SEARCH = np.dtype(np.int64), ("root", "composition", "counts", "playout")
_STEPS, _UPDATES = 128, 1024  # room to begin with
_OF_ACTIONS = tuple(
    f"buffers.{name}" for name in ("rows", "records", "values", "total", "actions", "classes")
)
_first_root = functools.cache(new_root)
QUOTED_ACTIONS = 10  # in a message

# A `PythonGame` as the loop calls games: its functions as kernels that are called back by address. A state is a number that stands for an
# object of the game's. An exception of a function is kept, the playout given up, and the exception raised as itself when the loop has
# returned. The functions need Python's lock, so such a search has one thread.

_NUMBER = ctypes.c_int64
_FAILED = -1  # what compiled code takes for an exception that it hands on
_ROOT, _PLAYED, _AHEAD = range(3)  # the numbers of states
MANY = 10_000  # lists of legal actions that are remembered
ROOM = 512  # legal actions that there is room for to begin with


class MoreActions(NoRoom):
    """For the legal actions of a state."""


class Addressed(dict[int, Any]):
    """Values of a type of C by their addresses. They are kept, since to make one takes longer than to read it; addresses are few."""

    def __init__(self, kind: Any = _NUMBER) -> None:
        super().__init__()
        self._kind = kind

    def __missing__(self, address: int) -> Any:
        cell = self[address] = self._kind.from_address(int(address))
        return cell


class Callback:
    """A function of integers as a kernel of compiled code; its exception is kept."""

    def __init__(self, function: Callable[..., int], arity: int, kept: list[BaseException]) -> None:
        cells = Addressed()

        def called(result: int, raised: int, *words: int) -> int:
            try:
                cells[result].value = function(*words)
            except BaseException as error:  # Ctrl-C too: here it would be lost
                kept.append(error)
                return _FAILED
            return 0

        self._called = ctypes.CFUNCTYPE(
            ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[_NUMBER] * arity
        )(called)
        self.address: int = ctypes.cast(self._called, ctypes.c_void_p).value or 0


def words_at(address: int, count: int) -> np.ndarray:
    """So many words of memory at an address, as an array."""
    if count == 0:
        return np.zeros(0, np.int64)
    memory: Any = (_NUMBER * int(count)).from_address(int(address))
    return np.ndarray(int(count), np.int64, memory)


class CalledBack:
    """The functions of a game in plain Python as kernels for one search, and the objects of its states.

    Attributes:
        max_legal: for how many legal actions the search has room.
        kept: the exception that a function has raised.
        ahead: the address of the state in which the loop looks ahead.
    """

    def __init__(self, game: PythonGame, max_legal: int = ROOM) -> None:
        self.game: Any = game  # a function is asked only where the game has it
        self.max_legal, self.ahead = max_legal, 0
        self.kept: list[BaseException] = []
        self._objects: dict[int, StateData] = {}
        self._numbers = Addressed()  # of states
        self._beliefs: object = None
        names = [
            name for name in ROWS if getattr(game, name, None) is not None or name == "determinize"
        ]
        self._kernels: dict[str, Any] = {name: self._kernel(name) for name in names}

    def _kernel(self, name: str, arity: int = 0) -> PlainKernel | Callback:
        function = self._function(name)
        if MAKES_PLAIN.get() is not None:
            return PlainKernel(function, name)
        return Callback(function, arity or len(ROWS[name].words), self.kept)

    def _function(self, name: str) -> Callable[..., int]:
        """The function of this name as a kernel calls it: with the address of a state, and integers."""
        return getattr(self, f"_{name}", None) or self._asked(name)

    def address(self, name: str) -> int:
        """The address of a function; 0 where it is absent."""
        return self._kernels[name].address if name in self._kernels else 0

    def begin(self, root: StateData, beliefs: object) -> None:
        """Take a state for the root, and what `determinize` is given there."""
        self._objects[_ROOT], self._beliefs = root, beliefs

    def words(self) -> list[int]:
        """The words of the root state."""
        return [_ROOT] * STATE_WORDS

    def state(self, address: int) -> StateData:
        """The object that the number at an address stands for."""
        return self._objects[self._numbers[address].value]

    def hold(self, address: int, state: StateData, number: int = _PLAYED) -> None:
        """Let the number at an address stand for an object."""
        self._objects[number] = state
        self._numbers[address].value = number

    # ------------------------------------------------------------------------------------ the functions, as kernels are called

    def _asked(self, name: str) -> Callable[..., int]:
        """A kernel that returns the function's answer; if that is a list, it writes the list where it is told and returns the length."""
        row = ROWS[name]
        ask = self.game.ask
        inputs = len(row.inputs) - 1  # without the state
        is_real = row.arguments[-1] in ("out", "probabilities")

        def asked(state: int, *words: int) -> int:
            answer = ask(name, self.state(state), *map(int, words[:inputs]))
            if inputs == len(words):
                return answer
            count = min(len(answer), words[-1]) if name == "recall" else len(answer)
            if name == "legal":
                self.need_room(count)
            out = words_at(words[inputs], count)
            if is_real:
                out = out.view(float)
            out[:] = answer[:count]
            return len(answer)

        return asked

    def _apply(self, state: int, action: int) -> int:
        # The loop has copied the number of the state that is played: to look ahead must not change its object.
        if state == self.ahead:
            self.hold(state, self.game.ask("copy", self.state(state)), _AHEAD)
        self.game.ask("apply", self.state(state), int(action))
        return 0

    def _determinize(self, state: int, observer: int, beliefs: int, rng: int) -> int:
        generator = words_at(rng, RNG_WORDS).view(np.uint64)
        self.hold(
            state,
            self.game.ask(
                "determinize", self.state(state), int(observer), self._beliefs, generator
            ),
        )
        return 0

    def need_room(self, count: int) -> None:
        """Ask for more room if there are more legal actions than there is room for."""
        if count > self.max_legal:
            self.max_legal = 2 * count
            raise MoreActions


# A search in machine code calls back once for each step: `apply` and `determinize` write into the words of a state who is about to act and
# what is legal, and small kernels read that. For a uniform simulation that no slot reads it calls back once, with random numbers for
# some steps. The words of a state are
# - 0: the number of its object
# - _PLAYER: who acts
# - _COUNT, _ACTIONS: how many actions are legal, 0 where that is to be asked, and the address of them
# - _ASKING, _SIMULATING: the addresses of the kernels that ask what is legal, and that simulate
# - _LUCK: the address of random numbers: how many of them were used, the numbers, and the generator as it is after them
_PLAYER, _COUNT, _ACTIONS, _ASKING, _SIMULATING, _LUCK, STATE_WORDS = range(1, 8)
# so many random numbers; no step begins with fewer than the spare ones, since a choice may take several; the bits of each
_NUMBERS, _SPARE, _BITS = 40, 8, 32
_HIGHEST, _GENERATOR, _UNSIGNED = (1 << _BITS) - 1, _NUMBERS + 1, np.dtype(np.uint64)


@kernel_cache
def prepared_kernel(name: str) -> CompiledFunction:
    """`player` or `legal`, which read the words of a state, or `simulate`, which does uniform actions and returns how many."""

    def player(state: int) -> int:
        return array_at(state, STATE_WORDS, _INT)[_PLAYER]

    def legal(state: int, room: int) -> int:
        words = array_at(state, STATE_WORDS, _INT)
        count = words[_COUNT]
        if count == 0:
            return call(words[_ASKING], (state, room))
        copy_items(array_at(room, count, _INT), array_at(words[_ACTIONS], count, _INT))
        return count

    def simulate(state: int, rng: int, most: int) -> int:
        words, steps = array_at(state, STATE_WORDS, _INT), 0
        generator, used = array_at(rng, RNG_WORDS, _UNSIGNED), array_at(words[_LUCK], 1, _INT)
        luck = array_at(words[_LUCK], _GENERATOR + RNG_WORDS, _UNSIGNED)
        while words[_PLAYER] >= 0 and steps < most:
            count, index = words[_COUNT], 0
            if count > 1:
                index = below(generator, count)
            action = array_at(words[_ACTIONS], count, _INT)[index]
            copy_items(luck[_GENERATOR:], generator)
            for i in range(_NUMBERS):
                luck[1 + i] = next_word(luck[_GENERATOR:]) >> np.uint64(_BITS)
            steps += 1 + call(words[_SIMULATING], (state, action, most - steps - 1))
            for _ in range(used[0]):
                next_word(generator)
        return steps

    kernels: dict[str, tuple[Callable, int]] = {
        "player": (player, 1),
        "legal": (legal, 2),
        "simulate": (simulate, 3),
    }
    return CompiledFunction(*kernels[name], f"{name} of a game in plain Python")


class Prepared(CalledBack):
    """The functions of a game for a search in machine code. Answers of plain types are used as they are, all others are checked."""

    def __init__(self, game: PythonGame, max_legal: int) -> None:
        self._records = Addressed(_NUMBER * STATE_WORDS)
        self._luck: Any = (_NUMBER * (_GENERATOR + RNG_WORDS))()
        self._listed: Any = None  # legal actions of the state that is played, kept from being freed
        super().__init__(game, max_legal)
        self._asking = self._kernels["legal"], self._kernel("apply", 3)
        self._kernels |= {name: prepared_kernel(name) for name in ("player", "legal", "simulate")}

    def words(self) -> list[int]:
        """The words of the root state."""
        addresses = [kernel.address for kernel in self._asking]
        return [_ROOT, 0, 0, 0, *addresses, ctypes.addressof(self._luck)]

    def _function(self, name: str) -> Callable[..., int]:
        return self._functions.get(name) or super()._function(name)

    def _playing(self) -> Callable[..., int]:
        """A function that does actions; what it needs stands in its closure, for speed."""
        game, objects, luck = self.game, self._objects, self._luck
        ask_player, ask_legal, do = game.player, game.legal, game.apply
        actors = {*range(game.players), CHANCE, TERMINAL}
        known_lists = dict[tuple, Any]()

        def are_plain(actions: Any) -> bool:
            return (
                type(actions) is list
                and {*map(type, actions)} == {int}
                and 0 <= min(actions) <= max(actions) < 1 << 63
                and len({*actions}) == len(actions)
            )

        def play(record: Any, action: int | None, most: int, lists: bool = True) -> int:
            """Do an action, if any, and up to `most` random ones of players after it; write who acts then, and what is legal.

            Returns how many random actions were done.
            """
            data, steps, used = objects[record[0]], 0, 1
            try:
                while True:
                    if action is not None:
                        running = "apply"
                        answer = do(data, action)
                        if answer is not None:
                            game.checked(running, answer, data, action)
                    running = "player"
                    player = ask_player(data)
                    if type(player) is not int or player not in actors:
                        player = game.checked(running, player, data)
                    if player == TERMINAL or not lists:
                        record[_COUNT] = 0
                        break
                    running = "legal"
                    actions = ask_legal(data)
                    listed = None
                    # 1.0 and True would find the list of 1
                    if type(actions) is list and {*map(type, actions)} == {int}:
                        listed = known_lists.get(tuple(actions))
                    if listed is None:
                        if not are_plain(actions):
                            actions = game.checked(running, actions, data)
                        self.need_room(len(actions))
                        listed = array("q", actions)
                        if len(known_lists) < MANY:
                            known_lists[tuple(actions)] = listed
                    count, index = len(listed), 0
                    if steps >= most or player < 0 or used > _NUMBERS - _SPARE:
                        self._listed = listed
                        record[_COUNT], record[_ACTIONS] = count, listed.buffer_info()[0]
                        break
                    steps += 1
                    if count > 1:  # as `below` draws
                        product = luck[used] * count
                        used += 1
                        if product & _HIGHEST < count:
                            while product & _HIGHEST < (1 << _BITS) % count:
                                product = luck[used] * count
                                used += 1
                        index = product >> _BITS
                    action = listed[index]
            except KeyboardInterrupt as stop:
                raise game.interrupted(running, stop) from None
            record[_PLAYER], luck[0] = player, used - 1
            return steps

        return play

    @functools.cached_property
    def _functions(self) -> dict[str, Callable[..., int]]:
        """The functions that the loop calls most, by name."""
        game, objects, records, play = self.game, self._objects, self._records, self._playing()
        rows = Addressed(ctypes.c_double * game.players)
        generators = Addressed(_NUMBER * RNG_WORDS)

        def apply(state: int, action: int, most: int = 0) -> int:
            if state == self.ahead:
                objects[_AHEAD] = game.ask("copy", self.state(state))
                records[state][0] = _AHEAD
            return play(records[state], action, most, state != self.ahead)

        moves = Addressed(_NUMBER * game.players)
        write_moves = struct.Struct(f"{game.players}q").pack_into
        drawing = "copy" if game.determinize is None else "determinize"

        def asked(name: str, *inputs: Any) -> Any:
            try:
                return getattr(game, name)(*inputs)
            except KeyboardInterrupt as stop:
                raise game.interrupted(name, stop) from None

        def determinize(state: int, observer: int, beliefs: int, rng: int) -> int:
            record = records[state]
            inputs: tuple = (objects[record[0]],)
            if drawing == "determinize":
                inputs += observer, self._beliefs, np.frombuffer(generators[rng], np.uint64)
            answer = asked(drawing, *inputs)
            if answer is None or answer is inputs[0]:
                game.checked(drawing, answer, *inputs)
            objects[_PLAYED], record[0] = answer, _PLAYED
            return play(record, None, 0)

        def rewards(state: int, out: int, players: int) -> int:
            data = objects[records[state][0]]
            answer = asked("rewards", data)
            # what most games return is taken as it is: the checks take time
            is_plain = (
                type(answer) in (list, tuple)
                and len(answer) == players
                and all(type(each) in (float, int) and 0 <= each <= 1 for each in answer)
            )
            rows[out][:] = answer if is_plain else game.checked("rewards", answer, data)
            return players

        def observe(state: int, action: int, out: int, players: int) -> int:
            data = objects[records[state][0]]
            answer = asked("observe", data, action)
            try:
                if type(answer) is not list:
                    raise struct.error
                write_moves(moves[out], 0, *answer)
            except struct.error:  # not one for each player, or not all integers of 64 bits
                moves[out][:] = game.checked("observe", answer, data, action)
            return players

        return {"apply": apply, "determinize": determinize, "rewards": rewards, "observe": observe}


# ------------------------------------------------------------ the memory of a search


class Room(NamedTuple):
    """For how much at once a search has room.

    Attributes:
        actions: legal ones of a state.
        steps: of a playout.
        updates: of a playout.
        legal: legal actions of all steps of a playout; a layout may have room for more.
    """

    actions: int
    steps: int
    updates: int
    legal: int = 0


class Layout:
    """Where a workspace and all that it points to stand in one block of memory, and what it holds whatever the root.

    Attributes:
        fields: the dtype of the block: the workspace; then an array for each pointer, by the names of its structure and its own.
        program: the lowered strategy.
        tables: of features, that slots read.
    """

    def __init__(self, game: AnyGame, program: LoweredStrategy, room: Room) -> None:
        self.program = program
        self._game = program.game
        self._scheme = program.scheme
        room = room._replace(legal=max(room.legal, 8 * room.steps + 4 * room.actions))
        self.tables = program.reads["features_in_tree"]  # and what is read in simulation, too
        widths = widths_of(self._game, self.tables)
        parts = {
            "workspace": (loop.WORKSPACE, 1),
            "composition.component": (loop.COMPONENT, len(self.program.components)),
            "playout.steps": (STEP, room.steps + 1),
        }
        parts |= {name: (_INT, count) for name, count in self._words(room, widths).items()}
        self.fields = np.dtype(
            [(name, dtype, (count,)) for name, (dtype, count) in parts.items()], align=True
        )
        # what each pointer points to, counted from the beginning of the block
        pointers = {name: offset_of(self.fields, name) for name in parts if name != "workspace"}
        pointers |= {"composition.workspace": 0, "playout.rng": pointers["buffers.rng"]}
        pointers |= {
            f"buffers.{name}": offset_of(loop.WORKSPACE, name) for name in ("playout", "updates")
        }
        pointers["playout.rewards"] = pointers["buffers.reward"]
        self._places = np.array(list(map(_word_of, pointers)))
        self._offsets = np.array(list(pointers.values()))
        words = self._template = np.zeros(self.fields.itemsize // WORD_BYTES, np.int64)
        block = np.ndarray((), self.fields, words)
        block["composition.component"] = self.program.component
        for name, number in self._numbers(room, widths).items():
            words[_word_of(name)] = number
        if isinstance(game, Game):
            self.write_functions(block, game)

    def _words(self, room: Room, widths: Mapping[str, int]) -> dict[str, int]:
        """How many words each array has."""
        game = self._game
        program = self.program
        steps = room.steps + 1
        state = -(-game.state.itemsize // WORD_BYTES) if isinstance(game, Game) else STATE_WORDS
        features = {f"playout.{name}": width * room.legal for name, width in widths.items()}
        return {
            **dict.fromkeys(("buffers.rng", "buffers.rng_before"), RNG_WORDS),
            **dict.fromkeys(("buffers.reward", "buffers.observed"), game.players),
            **dict.fromkeys(("root.state", "buffers.state", "buffers.ahead"), state),
            **dict.fromkeys(("root.keys", "root.episodes"), game.perspectives),
            **dict.fromkeys(("root.actions", "root.visits", *_OF_ACTIONS), room.actions),
            **dict.fromkeys(
                ("playout.moves", "playout.keys", "playout.episodes"), steps * game.perspectives
            ),
            **dict.fromkeys(("updates.records", "updates.contexts"), room.updates),
            "buffers.weight": 1,
            "buffers.recalled": MAX_EPISODE_MOVES * (game.recall is not None),
            "buffers.evaluation": max(game.players, len(game.action_feature_names)),
            "buffers.votes": len(program.term) * room.actions * program.votes,
            "playout.legal": room.legal,
            **features,
            "playout.features": widths["features"] * steps,
        }

    def _numbers(self, room: Room, widths: Mapping[str, int]) -> dict[str, int]:
        """What the fields of a workspace hold that do not depend on the root."""
        game = self._game
        program = self.program
        row = program.components[0].information.row(game.players)
        return {
            **{
                f"game.{name}": getattr(game, name)
                for name in ("players", "perspectives", "max_length")
            },
            **{
                f"composition.{name}": getattr(program, name).ctypes.data
                for name in ("mixture", "term", "leaf", "weight")
            },
            **{f"composition.{name}": reading for name, reading in program.reads.items()},
            **{f"playout.{name}_width": width for name, width in widths.items()},
            "game.cutoff": loop.NEVER if self._scheme.cutoff is None else self._scheme.cutoff,
            "game.max_legal": room.actions,
            "buffers.step_capacity": room.steps,
            "buffers.legal_capacity": room.legal,
            "updates.capacity": room.updates,
            "playout.perspectives": game.perspectives,
            "composition.components": len(program.components),
            "composition.row_words": row.itemsize // WORD_BYTES,
            "composition.visits_column": offset_of(row, "visits") // row["visits"].itemsize,
            "composition.vote": loop.vote_kernel().address if program.votes else 0,
            "root.state_words": self.fields["root.state"].shape[0],
        }

    def write_functions(self, block: np.ndarray, functions: "Game | CalledBack") -> None:
        """Write the addresses of the functions of a game, as the scheme sees it; 0 where there is none."""
        part = block["workspace"]["game"]
        called = list(_CALLED)
        if self._scheme.exp3 or self.program.choices:
            called.append("simultaneous")
        for name in called:
            # A game that is called back has `determinize` always: it copies the root state where nothing is hidden.
            is_there = getattr(self._game, name) is not None or name == "determinize"
            part[name] = functions.address(name) if is_there else 0
        for name in kinds_of(self.tables, self._scheme.cutoff is not None):
            part[name] = functions.address(name)
        if self._scheme.observer == ROOT_PLAYER:
            part["observe_for_root"] = functions.address("observe")
        if isinstance(functions, CalledBack):
            part["simulate"] = functions.address("simulate")

    def block(self, before: np.ndarray | None = None) -> tuple[np.ndarray, int]:
        """A new block, and its address.

        Args:
            before: a block with less room, whose content the new one takes over.
        """
        words = self._template.copy()
        block, address = np.ndarray((), self.fields, words), address_in(words)
        if before is not None:
            for part in _OF_SEARCH:
                block["workspace"][part] = before["workspace"][part]
            for name in (self.fields.names or ())[1:]:  # those behind the workspace
                block[name][: len(before[name])] = before[name]
        words[self._places] = self._offsets + address
        return block, address


def _word_of(name: str) -> int:
    """Which word of a workspace holds a field, by the names of the structure and of the field in it."""
    part, field = name.split(".")
    return (offset_of(loop.WORKSPACE, part) + offset_of(loop.WORKSPACE[part], field)) // WORD_BYTES


layout_of = kernel_cache(Layout, MOST)  # kept for the next decisions of a match

# ------------------------------------------------------------ a search under way


class CompiledSearch:
    """A search of one tree; `run` can be called repeatedly.

    Args:
        reuse: what the search begins with.
        plain: what makes plain Python of the loop and all that it calls; None for machine code.
    """

    trees = 1

    def __init__(
        self,
        state: State,
        strategy: Enhancement,
        seed: int | Sequence[int] = 0,
        scheme: Scheme = MO_ISMCTS,
        reuse: ReusedRecords | None = None,
        plain: PlainPython | None = None,
    ) -> None:
        self.state = state.clone()
        self.strategy = strategy
        self.seed = seed
        self.scheme = scheme
        self._plain = plain
        self.game = scheme.view(state.game)
        with self._kernels():
            self.program = lower(self.game, strategy, scheme)
            self.actions, self._observer = tuple(state.legal_actions()), state.current_player()
            is_compiled = isinstance(state.game, Game)
            called_back = Prepared if plain is None else CalledBack
            self.functions = (
                state.game if is_compiled else called_back(state.game, max(ROOM, len(self.actions)))
            )
            self._loop = loop.compiled_loop()
            self._move(Room(self.functions.max_legal, _STEPS, _UPDATES))
            self.root_keys = _first_root(self.game.perspectives) if reuse is None else reuse.root
            used = zip(self.program.components, self.program.used, strict=True)
            self.tables = [
                RecordTable(part, self.game, self.root_keys, records) for part, records in used
            ]
            self._block["composition.component"]["table"] = [table.address for table in self.tables]
            self.expect(UNLIMITED)
            self.rng[:] = seeded(seed)
            self._reused_visits = np.zeros(len(self.actions), np.int64)
            self._write_root()
            if reuse is not None:
                for table, rows in zip(self.tables, reuse.rows, strict=True):
                    table.insert_rows(rows)
                self._reused_visits = self.root().playouts.astype(np.int64)
                self._counts["earlier_iterations"] = reuse.iterations
            for index in {*self.program.term["new"].tolist()} - {loop.NOWHERE}:
                self.tables[index].filter_visits(everywhere=reuse is not None)

    def _kernels(self) -> contextlib.AbstractContextManager[None]:
        """A context in which kernels are made as this search has them: in plain Python, or in machine code."""
        return contextlib.nullcontext() if self._plain is None else plain_kernels(self._plain)

    def _move(self, room: Room, before: np.ndarray | None = None) -> None:
        """Move into a new block of memory with so much room, with all that is in the block before, if any."""
        self._room, self._layout = room, layout_of(self.state.game, self.program, room)
        self._block, self.address = self._layout.block(before)
        self._workspace = self._block["workspace"]
        self.rng = self._block["buffers.rng"].view(np.uint64)
        self._playout, self._counts = self._workspace["playout"], self._workspace["counts"]
        if isinstance(self.functions, CalledBack):
            self._layout.write_functions(self._block, self.functions)
            self.functions.ahead = self._block["buffers.ahead"].ctypes.data

    def _write_root(self) -> None:
        """Write the state that iterations begin with, and for whom it is determinized; the environment knows all of it."""
        root = self.state
        perspective = self._observer
        part = self._workspace["root"]
        block = self._block
        check_features(root, self._layout.tables)
        if self.scheme.root == ONCE:
            root = root.determinized(perspective, self.rng)
        # The root is drawn anew in each iteration, or stays as it is: a draw for CHANCE, who sees everything, changes nothing.
        if self.scheme.root != FRESH:
            perspective = CHANCE
        self._beliefs = None if self.game.determinize is None else root.beliefs(perspective)
        if isinstance(self.functions, CalledBack):
            self.functions.begin(root.data, self._beliefs)
            block["root.state"] = self.functions.words()
        else:
            ctypes.memmove(address_in(block["root.state"]), root.data.tobytes(), root.data.nbytes)
            part["beliefs"] = 0 if self._beliefs is None else self._beliefs.ctypes.data
        block["root.actions"][: len(self.actions)] = self.actions
        block["root.keys"] = self.root_keys.keys
        part["record"], part["count"] = self.root_keys.record, len(self.actions)
        part["observer"], part["player"] = perspective, self._observer
        if self.program.reads["episodes"]:
            self._write_episodes(part, block["root.episodes"])

    def _write_episodes(self, root: np.ndarray, keys: np.ndarray) -> None:
        """Write the root's position-in-episode (section 5.1), as the root player saw it where its perspectives are not the players.

        `root.before` is the key before the last move: where a determinization changes how that move looked to who made it
        (`last_recalled`), the loop extends this key by the other move.
        """
        observer, position = self._observer, self.state.position_in_episode()
        moves = position.moves
        label, before = position.seen_before(observer)
        last = position.last or 0
        if self.scheme.observer != EACH_PLAYER and len(moves) > 1:
            moves = (moves[observer],)
            label, before = position.label, moves[0]
            if position.last in (None, observer):
                label, before = position.previous
        perspective = self.game.perspective(last)
        for i, each in enumerate(moves):
            keys[i] = functools.reduce(mix, each, python_of(episode_key)(position.label, i))
        root["label"] = position.label
        root["episode"] = episode_record(label, perspective, last, before)
        root["before"] = functools.reduce(
            mix, before[:-1], python_of(episode_key)(label, perspective)
        )
        root["last"] = last
        root["last_perspective"] = perspective
        root["last_recalled"] = last != observer

    @property
    def iterations(self) -> int:
        """Playouts made so far."""
        return int(self._counts["iterations"][0])

    def expect(self, iterations: int) -> None:
        """Tell slots how many playouts there will be, with those of earlier searches whose records this one has."""
        earlier = int(self._counts["earlier_iterations"][0])
        self._playout["budget"] = min(earlier + iterations, UNLIMITED)

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all, giving room as it is asked for."""
        with self._kernels():
            while self.iterations < iterations:
                try:
                    self._call_loop(iterations)
                except loop.NoRoom as lack:
                    self.give_room(lack)

    def _call_loop(self, iterations: int) -> None:
        """Go on as far as there is room; raises what the loop, or a function of the game, has raised."""
        errors = getattr(self.functions, "kept", [])  # of a game in plain Python
        try:
            call_compiled(errors, self._loop, self.address, iterations)
        except loop.EndlessPlayout:
            raise ValueError(self._endless()) from None
        except loop.WeightError as error:
            raise ValueError(f"in {self.strategy}, {error}") from None
        except loop.DeterminizationError as error:
            raise ValueError(f"{error}{defined_at(self.game.determinize)}") from None
        except OverflowError:  # a count is full, and says so itself
            raise
        except (ArithmeticError, IndexError, ValueError) as error:
            raise self._with_names(error) from None

    def _with_names(self, error: Exception) -> Exception:
        """An error of the loop, with the names that the loop does not know: the game's, the component's and its slot's."""
        sentence = str(error)
        part = self.program.components[int(self._workspace["running_component"][0])]
        running = int(self._workspace["running"][0])
        kernels = [each for each in self.program.kept_alive if isinstance(each, CompiledFunction)]
        label = next((kernel.name for kernel in kernels if kernel.address == running), "")
        named = re.match(r"the (\w+) function of a game ", sentence)
        if named is not None and isinstance(self.game, Game):
            sentence = sentence.replace("of a game", f"of {self.game}", 1) + defined_at(
                getattr(self.game, named[1])
            )
        elif sentence in (KEYLESS, NO_PLAYER):
            sentence = f"{part.capture.label()} of {part.name} {sentence}"
        elif label and UNPLACED in getattr(error, "__notes__", ()):
            sentence = f"{sentence}, in {label} of {part.name}"
        else:
            return error
        message = type(error)(sentence)
        message.__notes__ = getattr(error, "__notes__", [])
        return message

    def give_room(self, lack: loop.NoRoom) -> None:
        """Give the room that the playout under way has not found, and go back to where it began."""
        room, legal = self._room, int(self._workspace["buffers"]["legal_capacity"][0])
        self._block["buffers.rng"] = self._block["buffers.rng_before"]
        self._workspace["running"] = 0
        if isinstance(lack, loop.MoreRows):
            full = int(self._workspace["running_component"][0])
            self.tables[full].grow(int(self._block["composition.component"]["count"][full]))
            return
        if isinstance(lack, MoreActions):
            room = room._replace(actions=self.functions.max_legal)
        elif not isinstance(lack, loop.MoreSteps):
            room = room._replace(updates=2 * int(self._workspace["updates"]["count"][0]))
        elif self._playout["legal_length"][0] + room.actions > legal:
            room = room._replace(legal=2 * legal)
        else:
            room = room._replace(steps=min(2 * room.steps, self.game.max_length + 2))
        self._move(room, self._block)

    def _endless(self) -> str:
        """The message about the playout under way, which does not end."""
        game, history = self.game, self.state.history
        length = min(int(self._playout["length"][0]), game.max_length, QUOTED_ACTIONS)
        first = " ".join(map(str, self._block["playout.steps"]["action"][:length].tolist()))
        before = " ".join(str(action) for _, action in history[-QUOTED_ACTIONS:])
        unlimited = game.max_length == LONGEST
        limit = (
            "and it has no max_length, which would say how long a game can be"
            if unlimited
            else "its max_length"
        )
        return (
            f"a playout of {game} has not ended after {game.max_length} actions, {limit}; "
            f"after {count_text(len(history), 'action')} of the game (the last: {before or 'none'}) it started with {first} …"
        )

    def record_simulation(self) -> None:
        """Keep the steps and keys of the simulation phase, as if a slot read them."""
        for name in ("steps_in_simulation", "keys_in_simulation"):
            self._workspace["composition"][name] = 1

    def updates(self) -> tuple[np.ndarray, np.ndarray]:
        """The records and contexts that the playout under way has captured."""
        return self._block["updates.records"], self._block["updates.contexts"]

    def world(self) -> State:
        """A copy of the state that the playout under way has reached."""
        words, game = self._block["buffers.state"], self.state.game
        if isinstance(self.functions, CalledBack):
            data = self.functions.state(words.ctypes.data)
        else:
            data = words.view(np.uint8)[: game.state.itemsize].view(game.state)
        return State.from_data(game, game.ask("copy", data))

    def records(self) -> dict[str, Records]:
        """The records of every component of the strategy and of the baseline, by name."""
        return {
            str(part): Records(part, self.game, self.tables[i])
            for part, i in self.program.table_of.items()
        }

    def root(self) -> RootStatistics:
        """What is known of the actions at the root; rewards and playouts as they are when one first asks for them."""
        visits = self._block["root.visits"][: len(self.actions)] + self._reused_visits
        key = self.root_keys.keys[self.game.perspective(self._observer)]
        return RootStatistics.of_tables(self._observer, self.actions, visits, self.tables, key)

    def result(self, seconds: float = 0.0, recommendation: Recommendation = most_visits) -> Result:
        """What the search has found, the action by `recommendation`; it is not to go on."""
        root = self.root()
        counts = self._counts
        _read_rules(self.state.game)
        # The next search of this program begins with so much room.
        self.program.used = [table.used for table in self.tables]
        return Result(
            action=recommend(root, recommendation, self.rng),
            actions=self.actions,
            visits=root.visits,
            statistics=root,
            iterations=self.iterations,
            earlier_iterations=int(counts["earlier_iterations"][0]),
            records=self.records(),
            depth=int(counts["depth"][0]),
            phase_steps=dict(zip(PHASES, counts["phase_steps"][0].tolist(), strict=True)),
            seconds=seconds,
            memory=sum([table.nbytes for table in self.tables]),
            state=self.state,
            strategy=self.strategy,
            seed=self.seed,
            scheme=self.scheme,
            recommendation=recommendation,
            root=self.root_keys,
        )


def _read_rules(game: AnyGame) -> None:
    """Have the rules of a user's game remembered: a search that goes on from these records compares them, if their file was edited."""
    is_ours = str(getattr(game.initial, "__module__", "")).startswith("icarus.")
    # rules that cannot be read are refused by that search
    with contextlib.suppress(Exception):
        if not is_ours:
            rules_of(game)
