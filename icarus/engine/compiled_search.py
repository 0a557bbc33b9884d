"""A search of one tree under way, and the workspace of its loop: in machine code, or the same loop in plain Python."""

import contextlib
import ctypes
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from icarus.algebra import Enhancement
from icarus.checks import count_text
from icarus.compiler.functions import MAKES_PLAIN, python_of
from icarus.compiler.kernel import UNPLACED
from icarus.compiler.memory import WORD_BYTES, offset_of
from icarus.compiler.messages import defined_at
from icarus.compiler.plain_python import PlainKernel, PlainPython, plain_kernels
from icarus.compiler.rng import RNG_WORDS, seeded
from icarus.engine import loop
from icarus.engine.loop import NoRoom
from icarus.engine.lowering import KEYLESS, NO_PLAYER, LoweredStrategy, check_features, kinds_of, lower, widths_of
from icarus.engine.result import (
    Recommendation,
    Result,
    ReusedRecords,
    RootStatistics,
    most_visits,
    recommend,
    root_statistics,
)
from icarus.engine.scheme import EACH_PLAYER, FRESH, MO_ISMCTS, ONCE, ROOT_PLAYER, Scheme
from icarus.engine.tables import Records, RecordTable
from icarus.kernel import CHANCE, mix
from icarus.kernel.contract import MAX_EPISODE_MOVES, StateData, padded_to_words
from icarus.kernel.functions import FUNCTIONS, TOLD
from icarus.kernel.game import LONGEST, Game
from icarus.kernel.history import PHASES, PLAYOUT, STEP, UNLIMITED, episode_key, episode_record, new_root
from icarus.kernel.python_game import PythonGame
from icarus.kernel.state import State
from icarus.kernel.theta import UPDATES

_CALLED = ("player", "legal", "apply", "rewards", "observe", "chance", "determinize", "episode", "recall")
_STEPS, _UPDATES = 256, 4096  # room to begin with
_OF_ACTIONS = ("rows", "records", "values", "total", "actions", "classes")  # buffers with a place for each legal action
QUOTED_ACTIONS = 10  # in a message

# A `PythonGame` as the loop calls games: its functions as kernels that are called back by address. A state is a number that stands for an
# object of the game's. An exception of a function is kept, the playout given up, and the exception raised as itself when the loop has
# returned. The functions need Python's lock, so such a search has one thread.

_NUMBER, _FAILED = ctypes.c_int64, -1  # what compiled code takes for an exception that it hands on as it is
_ROOT, _PLAYED, _AHEAD = range(3)  # the numbers of states
ROWS = FUNCTIONS | TOLD
ROOM = 512  # legal actions that there is room for to begin with


class MoreActions(NoRoom):
    """For the legal actions of a state."""


class Callback:
    """A function of integers as a kernel of compiled code."""

    def __init__(self, function: Callable[..., int], arity: int, kept: list[BaseException]) -> None:
        def called(result: int, raised: int, *words: int) -> int:
            try:
                _NUMBER.from_address(result).value = function(*words)
            except BaseException as error:  # Ctrl-C too: here it would be lost
                kept.append(error)
                return _FAILED
            return 0

        self._called = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *[_NUMBER] * arity)(called)
        self.address: int = ctypes.cast(self._called, ctypes.c_void_p).value or 0


def _words(address: int, count: int) -> np.ndarray:
    if count == 0:
        return np.zeros(0, np.int64)
    memory: Any = (_NUMBER * int(count)).from_address(int(address))
    return np.ndarray(int(count), np.int64, memory)


class CalledBack:
    """The functions of a game for one search, by name and address, and the objects that its states are.

    Attributes:
        room: for how many legal actions the search has room.
        kept: the exception that a function has raised.
        ahead: the address of the state in which the loop looks ahead.
    """

    def __init__(self, game: PythonGame, room: int = ROOM) -> None:
        self.game: Any = game  # a function is asked only where the game has it
        self.room, self.ahead = room, 0
        self.kept: list[BaseException] = []
        self._objects: dict[int, StateData] = {}
        self._beliefs: object = None
        names = [name for name in ROWS if getattr(game, name, None) is not None or name == "determinize"]
        self._kernels = {name: self._kernel(name) for name in names}

    def _kernel(self, name: str) -> PlainKernel | Callback:
        function = getattr(self, f"_{name}", None) or self._asked(name)
        if MAKES_PLAIN.get() is not None:
            return PlainKernel(function, name)
        return Callback(function, len(ROWS[name].words), self.kept)

    def address(self, name: str) -> int:
        """The address of a function; 0 where it is absent."""
        return self._kernels[name].address if name in self._kernels else 0

    def begin(self, root: StateData, beliefs: object) -> None:
        """Take a state for the root, and what `determinize` is given there."""
        self._objects[_ROOT], self._beliefs = root, beliefs

    def state(self, address: int) -> StateData:
        """The object that the number at an address stands for."""
        return self._objects[_NUMBER.from_address(int(address)).value]

    def hold(self, address: int, state: StateData, number: int = _PLAYED) -> None:
        """Let the number at an address stand for an object."""
        self._objects[number] = state
        _NUMBER.from_address(int(address)).value = number

    # ------------------------------------------------------------------------------------ the functions, as kernels are called

    def _asked(self, name: str) -> Callable[..., int]:
        """What asks a function that is given a state and integers: it answers an integer, or has its answers written."""
        row, ask = ROWS[name], self.game.ask
        inputs, is_real = len(row.inputs) - 1, row.arguments[-1] in ("out", "probabilities")

        def asked(state: int, *words: int) -> int:
            answer = ask(name, self.state(state), *map(int, words[:inputs]))
            if inputs == len(words):
                return answer
            count = min(len(answer), words[-1]) if name == "recall" else len(answer)
            if name == "legal" and count > self.room:
                self.room = 2 * count
                raise MoreActions
            room = _words(words[inputs], count)
            (room.view(float) if is_real else room)[:] = answer[:count]
            return len(answer)

        return asked

    def _apply(self, state: int, action: int) -> int:
        if state == self.ahead:
            self.hold(state, self.game.ask("copy", self.state(state)), _AHEAD)
        self.game.ask("apply", self.state(state), int(action))
        return 0

    def _determinize(self, state: int, observer: int, beliefs: int, rng: int) -> int:
        generator = _words(rng, RNG_WORDS).view(np.uint64)
        self.hold(state, self.game.ask("determinize", self.state(state), int(observer), self._beliefs, generator))
        return 0


# ------------------------------------------------------------ a search under way


@functools.cache
def _word_of(part: str, name: str) -> int:
    """Which word of a workspace holds a field of one of its parts."""
    return (offset_of(loop.WORKSPACE, part) + offset_of(loop.WORKSPACE[part], name)) // WORD_BYTES


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
        self.state, self.strategy, self.seed, self.scheme, self._plain = state.clone(), strategy, seed, scheme, plain
        self.game = scheme.view(state.game)
        with self._kernels():
            self.program: LoweredStrategy = lower(self.game, strategy, scheme)
            self.root_keys = new_root(self.game.perspectives) if reuse is None else reuse.root
            self.tables = [RecordTable(component, self.game, self.root_keys) for component in self.program.components]
            self.actions, self._observer = tuple(state.legal_actions()), state.current_player()
            self.functions = state.game if isinstance(state.game, Game) else CalledBack(state.game)
            self._loop = loop.compiled_loop()
            self._workspace = np.zeros(1, loop.WORKSPACE)
            self._words = self._workspace.view(np.int64)
            self._arrays: dict[str, np.ndarray] = {}
            self._playout, self._updates = np.zeros(1, PLAYOUT), np.zeros(1, UPDATES)
            self.expect(UNLIMITED)
            self._reused_visits = np.zeros(len(self.actions), np.int64)
            if reuse is not None:
                for table, rows in zip(self.tables, reuse.rows, strict=True):
                    table.insert_rows(rows)
            self._set_up(reuse is not None)
            if reuse is not None:
                self._reused_visits = self.root().playouts.astype(np.int64)
                self._workspace["counts"]["earlier_iterations"] = reuse.iterations

    def _kernels(self) -> contextlib.AbstractContextManager[None]:
        """Within, kernels are as this search has them."""
        return contextlib.nullcontext() if self._plain is None else plain_kernels(self._plain)

    def _address(self, name: str) -> int:
        """The address of a function of the game, as the scheme sees it; 0 where there is none."""
        return 0 if getattr(self.game, name) is None and name != "determinize" else self.functions.address(name)

    def _set_up(self, reuses: bool) -> None:
        game, program, workspace = self.game, self.program, self._workspace["game"]
        for name in _CALLED:
            workspace[name] = self._address(name)
        workspace["players"], workspace["perspectives"], workspace["max_length"] = (
            game.players,
            game.perspectives,
            game.max_length,
        )
        workspace["cutoff"] = loop.NEVER if self.scheme.cutoff is None else self.scheme.cutoff
        workspace["observe_for_root"] = self.functions.address("observe") if self.scheme.observer == ROOT_PLAYER else 0
        workspace["simultaneous"] = self._address("simultaneous") if self.scheme.exp3 or program.choices else 0
        self._keep("buffers", "rng", seeded(self.seed))
        self._write_root()
        self._write_composition()
        self._write_features()
        if program.term["of_tree_only"].any():
            self.tables[0].filter_visits(everywhere=reuses)
        sizes = {
            **dict.fromkeys(("reward", "observed"), game.players),
            "weight": 1,
            "rng_before": RNG_WORDS,
            "recalled": MAX_EPISODE_MOVES,
            "ahead": len(self._arrays["root.state"]),
            "evaluation": max(game.players, len(game.action_feature_names)),
        }
        for name, size in sizes.items():
            self._keep("buffers", name, np.zeros(size, np.int64))
        if isinstance(self.functions, CalledBack):
            self.functions.ahead = self._arrays["buffers.ahead"].ctypes.data
        self._keep("buffers", "playout", self._playout)
        for name, buffer in (("rewards", "reward"), ("rng", "rng")):
            self._playout[name] = self._arrays[f"buffers.{buffer}"].ctypes.data
        self._keep("buffers", "updates", self._updates)
        if program.reads["episodes"]:
            self._write_episodes()
        self._allocate_actions()
        self._allocate_steps(_STEPS)
        self._allocate_updates(_UPDATES)

    def _keep(self, part: str, name: str, array: np.ndarray) -> None:
        """Keep an array alive, and its address in a part of the workspace."""
        self._arrays[f"{part}.{name}"] = array
        self._words[_word_of(part, name)] = array.ctypes.data

    def _write_root(self) -> None:
        """The state that iterations begin with, and for whom it is determinized; the environment knows it all."""
        root, perspective, part = self.state, self._observer, self._workspace["root"]
        if self.scheme.root == ONCE:
            root = root.determinized(perspective, self._arrays["buffers.rng"])
        if self.scheme.root != FRESH:
            perspective = CHANCE
        words, beliefs = np.zeros(1, np.int64), root.beliefs(perspective)
        if isinstance(self.functions, CalledBack):
            self.functions.begin(root.data, beliefs)
        else:
            words = padded_to_words(root.data)
            self._keep("root", "beliefs", beliefs)
        self._keep("root", "state", words)
        self._keep("buffers", "state", words.copy())
        self._keep("root", "actions", np.array(self.actions, np.int64))
        self._keep("root", "visits", np.zeros(len(self.actions), np.int64))
        self._keep("root", "keys", np.array(self.root_keys.keys, np.int64))
        part["record"] = self.root_keys.record
        self._keep("root", "episodes", np.zeros(self.game.perspectives, np.int64))
        part["state_words"], part["observer"], part["player"] = len(words), perspective, self._observer
        part["count"] = len(self.actions)

    def _write_composition(self) -> None:
        """The program, with the tables of its components."""
        program, part, row = self.program, self._workspace["composition"], self.tables[0].dtype
        for name in ("component", "mixture", "term", "leaf", "weight"):
            self._keep("composition", name, getattr(program, name))
        program.component["table"] = [table.descriptor.ctypes.data for table in self.tables]
        part["components"] = len(program.components)
        for name, reading in program.reads.items():
            part[name] = reading
        part["vote"], part["workspace"] = (
            loop.vote_kernel().address if program.votes else 0,
            self._workspace.ctypes.data,
        )
        part["row_words"] = row.itemsize // WORD_BYTES
        part["visits_column"] = offset_of(row, "visits") // row["visits"].itemsize

    def _write_features(self) -> None:
        """The features that slots read of states and actions, and how wide their tables are."""
        tables = self.program.reads["features_in_tree"] | self.program.reads["features_in_simulation"]
        check_features(self.state, tables)
        for name in kinds_of(tables, self.scheme.cutoff is not None):
            self._workspace["game"][name] = self.functions.address(name)
        self._widths = widths_of(self.game, tables)
        for name, width in self._widths.items():
            self._playout[f"{name}_width"] = width

    def _write_episodes(self) -> None:
        """The root's position-in-episode (section 5.1): where its perspectives are not the players, as the root player saw it."""
        observer, position, root = self._observer, self.state.position_in_episode(), self._workspace["root"]
        moves, (label, before), last = position.moves, position.seen_before(observer), position.last or 0
        if self.scheme.observer != EACH_PLAYER and len(moves) > 1:
            moves = (moves[observer],)
            label, before = position.previous if position.last in (None, observer) else (position.label, moves[0])
        keys, perspective = self._arrays["root.episodes"], self.game.perspective(last)
        for i, each in enumerate(moves):
            keys[i] = functools.reduce(mix, each, python_of(episode_key)(position.label, i))
        root["label"], root["episode"] = position.label, episode_record(label, perspective, last, before)
        root["last"], root["last_perspective"], root["last_recalled"] = last, perspective, last != observer

    @property
    def _most_actions(self) -> int:
        """For how many legal actions there is room."""
        return self.functions.max_legal if isinstance(self.functions, Game) else self.functions.room

    def _allocate_actions(self) -> None:
        """Room for as many legal actions as the game has, as far as that is known."""
        self._workspace["game"]["max_legal"] = self._most_actions
        for name in _OF_ACTIONS:
            self._keep("buffers", name, np.zeros(self._most_actions, np.int64))
        self._keep("buffers", "votes", np.zeros(len(self.program.term) * self._most_actions * self.program.votes))

    def _allocate_steps(self, steps: int, legal: int = 0) -> None:
        """Room for playouts of so many steps, and of so many legal actions at all of them or more."""
        perspectives, legal = self.game.perspectives, max(legal, steps * 8 + 4 * self._most_actions)
        self._workspace["buffers"]["step_capacity"], self._workspace["buffers"]["legal_capacity"] = steps, legal
        parts = {"steps": np.zeros(steps + 1, STEP), "legal": np.zeros(legal, np.int64)}
        parts.update({name: np.zeros((steps + 1) * perspectives, np.int64) for name in ("moves", "keys", "episodes")})
        for name, width in self._widths.items():
            parts[name] = np.zeros((steps + 1 if name == "features" else legal) * width)
        for name, array in parts.items():
            self._arrays[f"playout.{name}"] = array
            self._playout[name] = array.ctypes.data
        self._playout["perspectives"] = perspectives

    def _allocate_updates(self, count: int) -> None:
        """Room for so many updates of one playout."""
        for name in ("records", "contexts"):
            self._arrays[f"updates.{name}"] = np.zeros(count, np.int64)
            self._updates[name] = self._arrays[f"updates.{name}"].ctypes.data
        self._updates["capacity"] = count

    @property
    def rng(self) -> np.ndarray:
        """The generator, as it stands."""
        return self._arrays["buffers.rng"]

    @property
    def iterations(self) -> int:
        """Playouts made so far."""
        return int(self._workspace["counts"]["iterations"][0])

    def expect(self, iterations: int) -> None:
        """Tell slots how many playouts there will be in all."""
        self._playout["budget"] = iterations

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
        raised = [] if isinstance(self.functions, Game) else self.functions.kept
        raised.clear()
        try:
            try:
                self._loop(self._workspace.ctypes.data, iterations)
            except SystemError:
                if not raised:
                    raise
            if raised:  # where a compiled function was called back, it does not say so itself
                raise raised[0]
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
        sentence, part = str(error), self.program.components[int(self._workspace["running_component"][0])]
        running = int(self._workspace["running"][0])
        label = next((kernel.name for kernel in self.program.kernels if kernel.address == running), "")
        named = re.match(r"the (\w+) function of a game ", sentence)
        if named is not None and isinstance(self.game, Game):
            sentence = sentence.replace("of a game", f"of {self.game}", 1) + defined_at(getattr(self.game, named[1]))
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
        steps, legal = (int(self._workspace["buffers"][name][0]) for name in ("step_capacity", "legal_capacity"))
        self.rng[:], self._workspace["running"] = self._arrays["buffers.rng_before"], 0
        if isinstance(lack, MoreActions):
            self._allocate_actions()
            self._allocate_steps(steps, legal)
        elif isinstance(lack, loop.MoreRows):
            full = int(self._workspace["running_component"][0])
            self.tables[full].grow(int(self.program.component["count"][full]))
        elif not isinstance(lack, loop.MoreSteps):
            self._allocate_updates(2 * int(self._updates["count"][0]))
        elif self._playout["legal_length"][0] + self._most_actions > legal:
            self._allocate_steps(steps, 2 * legal)
        else:
            self._allocate_steps(min(2 * steps, self.game.max_length + 2), legal)

    def _endless(self) -> str:
        """The message about the playout under way, which does not end."""
        game, history = self.game, self.state.history
        length = min(int(self._playout["length"][0]), game.max_length, QUOTED_ACTIONS)
        first = " ".join(map(str, self._arrays["playout.steps"]["action"][:length].tolist()))
        before = " ".join(str(action) for _, action in history[-QUOTED_ACTIONS:])
        unlimited = game.max_length == LONGEST
        limit = "and it has no max_length, which would say how long a game can be" if unlimited else "its max_length"
        return (
            f"a playout of {game} has not ended after {game.max_length} actions, {limit}; "
            f"after {count_text(len(history), 'action')} of the game (the last: {before or 'none'}) it started with {first} …"
        )

    def take_over(self, search: "CompiledSearch") -> None:
        """Go on where another search of the same state, strategy, seed and scheme stands; it is left alone."""
        self.rng[:] = search.rng
        self._workspace["counts"] = search._workspace["counts"]
        self._arrays["root.visits"][:] = search._arrays["root.visits"]
        with self._kernels():
            for table, source in zip(self.tables, search.tables, strict=True):
                table.insert_rows(source.inserted_rows())
            if self.program.term["of_tree_only"].any():
                self.tables[0].filter_visits(everywhere=True)

    def record_simulation(self) -> None:
        """Keep the steps and keys of the simulation phase, as if a slot read them."""
        for name in ("steps_in_simulation", "keys_in_simulation"):
            self._workspace["composition"][name] = 1

    def updates(self) -> tuple[np.ndarray, np.ndarray]:
        """The records and contexts that the playout under way has captured."""
        return self._arrays["updates.records"], self._arrays["updates.contexts"]

    def world(self) -> State:
        """A copy of the state that the playout under way has reached."""
        address, game = self._arrays["buffers.state"].ctypes.data, self.state.game
        if isinstance(self.functions, CalledBack):
            return State.from_data(game, game.ask("copy", self.functions.state(address)))
        words = self._arrays["buffers.state"].view(np.uint8)[: game.state.itemsize]
        return State.from_data(game, words.copy().view(game.state))

    def records(self, copied: bool = True) -> dict[str, Records]:
        """The records of every component of the strategy and of the baseline, by name.

        Args:
            copied: whether they are to stay as they are when the search goes on.
        """
        tables = [table.with_rows(table.rows[1:]) if copied else table for table in self.tables]
        return {str(part): Records(part, self.game, tables[index]) for part, index in self.program.table_of.items()}

    @property
    def depth(self) -> int:
        """Actions from the root to the deepest history in the tree."""
        return int(self._workspace["counts"]["depth"][0])

    @property
    def memory(self) -> int:
        """Bytes of the tables at the capacity that their records need."""
        return sum(table.nbytes for table in self.tables)

    def phase_steps(self) -> np.ndarray:
        """Decisions made in each phase."""
        return self._workspace["counts"]["phase_steps"][0].copy()

    def root(self) -> RootStatistics:
        """What is known of the actions at the root."""
        return root_statistics(
            self._observer, self.actions, self._arrays["root.visits"] + self._reused_visits, self.tables
        )

    def result(self, seconds: float = 0.0, copied: bool = True, recommendation: Recommendation = most_visits) -> Result:
        """What the search has found so far, the action by `recommendation`; `copied` as in `records`."""
        root = self.root()
        return Result(
            action=recommend(root, recommendation, self.rng),
            actions=root.actions,
            visits=root.visits,
            values=root.values,
            policy=root.policy,
            iterations=self.iterations,
            earlier_iterations=int(self._workspace["counts"]["earlier_iterations"][0]),
            records=self.records(copied),
            depth=self.depth,
            phase_steps=dict(zip(PHASES, self.phase_steps().tolist(), strict=True)),
            seconds=seconds,
            memory=self.memory,
            state=self.state,
            strategy=self.strategy,
            seed=self.seed,
            scheme=self.scheme,
            recommendation=recommendation,
            root=self.root_keys,
        )
