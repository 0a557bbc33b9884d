"""Engines that were written elsewhere: programs that speak the Go Text Protocol, version 2, and Python modules (see `modules`).

A command of the protocol is a line. The answer begins with "=", or with "?" where the engine refuses, and ends with an empty line.
"""

import contextlib
import functools
import importlib
import os
import re
import selectors
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from typing import Any

import attrs

from icarus.arena.player import ChosenAction
from icarus.kernel import AnyGame, State

# --------------------------------------------------------------------------------------------------- a process that answers lines

LAST_WORDS = 3  # lines of standard error that a message quotes
LONGEST_WORDS = 200  # characters of them
FULL_SECONDS = 0.02  # after which it is tried again to write to an engine that does not read
GRACE = 2.0  # seconds that an engine has to end by itself
# in which its last words are read, if somebody whom it has started goes on writing
LAST_SECONDS = 0.1
LONGEST = 100_000  # bytes of an answer
COLOURS = ("black", "white")  # how GTP calls the players
_ANSWER = re.compile(rb"\s*(\S.*?\n)[^\S\n]*\n", re.DOTALL)  # to the first empty line


class EngineFailed(ValueError):
    """An engine is missing, has died, hangs, or plays an illegal move; the message is one sentence.

    Attributes:
        name: of the engine.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(name, what)
        self.name = name

    def __str__(self) -> str:
        return " ".join(self.args)


class GtpEngine:
    """A running program that is told by GTP what has been played since its last move.

    Args:
        name: how messages call it.
        command: the program and its arguments.
        seconds: the time limit of each answer.
        installation: how to install the program, for the message where it is missing.

    Raises:
        EngineFailed: there is no such program.
    """

    def __init__(
        self, name: str, command: Sequence[str], seconds: float, installation: str = ""
    ) -> None:
        self.name, self.seconds = name, seconds
        self.answer = ""  # its last move, as it says it
        self._told = 0  # actions of the game
        pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        try:
            self._child: Any = subprocess.Popen(
                list(command), bufsize=0, start_new_session=True, **pipes
            )  # type: ignore[call-overload]
        except OSError as error:
            hint = f"; {installation}" if installation else ""
            raise EngineFailed(
                name, f"cannot be started: {command[0]}: {error.strerror}{hint}"
            ) from None
        os.set_blocking(self._child.stdin.fileno(), False)
        self._content: dict[Any, bytes] = {self._child.stdout: b"", self._child.stderr: b""}
        self._selector = selectors.DefaultSelector()
        for stream in self._content:
            self._selector.register(stream, selectors.EVENT_READ)

    def _read(self, seconds: float) -> bool:
        """Take what the engine writes next, of each stream the last; False where nothing comes in time."""
        ready = self._selector.select(seconds)
        for stream in [key.fileobj for key, _ in ready]:
            content = os.read(stream.fileno(), LONGEST)  # type: ignore[union-attr]
            self._content[stream] = (self._content[stream] + content)[-LONGEST:]
            if not content:
                self._selector.unregister(stream)
        return bool(ready)

    def ask(self, *commands: str) -> str:
        """The answer to the last of some commands, which are sent at once, without its mark.

        Raises:
            EngineFailed: to one of them no answer in time, none at all, or a refusal; the process is ended then.
        """
        self._send("".join(f"{command}\n" for command in commands).encode(), commands[0].split()[0])
        return [self._answer(command.split()[0]) for command in commands][-1]

    def _send(self, content: bytes, command: str) -> None:
        """Write to the engine, and take what it writes meanwhile, which it may have to be rid of before it reads on."""
        deadline = time.monotonic() + self.seconds
        while content:
            try:
                written = os.write(self._child.stdin.fileno(), content)
                content = content[written:]
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise self._failure(
                        f"did not read {command} within {self.seconds:g} s"
                    ) from None
                self._read(FULL_SECONDS)
            except OSError:
                raise self._failure(f"died before {command}") from None

    def _answer(self, command: str) -> str:
        """The next answer, without its mark; errors as of `ask`."""
        deadline = time.monotonic() + self.seconds
        stream = self._child.stdout
        while not (match := _ANSWER.match(self._content[stream])):
            remaining = deadline - time.monotonic()
            if len(self._content[stream]) == LONGEST:
                raise self._failure(f"answered {command} with more than {LONGEST:,} characters")
            if remaining <= 0:
                what = f"did not answer {command} within {self.seconds:g} s"
                if text := self._content[stream].decode(errors="replace").strip():
                    what += f": {text[-LONGEST_WORDS:]!r} came without the empty line that ends an answer"
                raise self._failure(what)
            if stream not in self._selector.get_map():
                raise self._failure(f"died at {command}")
            self._read(remaining)
        self._content[stream] = self._content[stream][match.end() :]
        answer = "\n".join(map(str.strip, match[1].decode(errors="replace").splitlines()))
        if answer.startswith("?"):
            raise self._failure(f"refused {command}: {' '.join(answer[1:].split())}")
        if not answer.startswith("="):
            raise self._failure(
                f"answered {answer.splitlines()[0]!r} to {command}; an answer begins with = or ?"
            )
        return answer[1:].strip()

    def _failure(self, what: str) -> EngineFailed:
        """End the process; returns the error that says what happened, with the engine's last words."""
        self.close(grace=0)
        output = self._content[self._child.stderr].decode(errors="replace")
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        last = " / ".join(lines[-LAST_WORDS:])[-LONGEST_WORDS:]
        return EngineFailed(self.name, f"{what}; its last output: {last}" if last else what)

    @functools.cached_property
    def version(self) -> str:
        """Which engine it says that it is; errors as of `ask`."""
        return f"{self.ask('name')} {self.ask('version')}"

    def new_game(self, state: State) -> None:
        """The next move is the first of a game."""
        self._told = 0

    def choose(self, state: State) -> int | None:
        """The engine's move; who cannot move is passed over, and no engine is told.

        Raises:
            EngineFailed: see `ask`.
        """
        # at the beginning of a game; both games of GTP_GAMES have 8 × 8 squares
        commands = [] if self._told else ["boardsize 8", "clear_board"]
        before = earlier_state(state, self._told)
        for player, action in state.history[self._told :]:
            text = before.action_to_string(action)
            before.apply_action(action)
            if text != "pass":
                commands.append(f"play {COLOURS[player]} {text}")
        self.answer = self.ask(*commands, f"genmove {COLOURS[state.current_player()]}")
        self._told = len(state.history) + 1  # with its own move, which it has made on its board
        actions = {state.action_to_string(action): action for action in state.legal_actions()}
        return actions.get(self.answer.lower())

    def close(self, grace: float = GRACE) -> None:
        """End the engine: by `quit` where it listens, by force where it does not."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if grace and self._child.poll() is None:
                self._child.stdin.write(b"quit\n")
                self._child.wait(grace)
        with contextlib.suppress(OSError):  # the engine, and what it has started
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        # What it wrote last is still in the pipes, for the message to quote.
        until = time.monotonic() + LAST_SECONDS
        while self._read(0.0) and time.monotonic() < until:
            pass
        self._selector.close()
        for stream in (self._child.stdin, *self._content):
            stream.close()


# ------------------------------------------------------------------------------------------------------------------------ engines

SECONDS = 60.0  # for each answer: imports and compilation come with the first
GTP_GAMES = ("othello", "checkers")  # of two colours, without anything hidden or random
MODULES = "icarus.ladder.modules"


@attrs.frozen
class Engine:
    """An engine as it is started: a program, or a Python module.

    Attributes:
        name: what it is called in rows and ladders, with its settings: "grhino depth 2".
        game: the name of the game that it plays.
        command: the program and its arguments; the settings of a module.
        installation: how to install it, as a sentence says it.
        module: the Python module that it is; empty for a program.
        seconds: the time limit of each answer of a program.
    """

    name: str
    game: str
    command: tuple[str, ...]
    installation: str = ""
    module: str = ""
    seconds: float = SECONDS

    def start(self) -> Any:
        """The engine: a program in a process of its own, or an object of a module.

        Either has a `version`, as it says it itself, with its name; `new_game(state)`, which begins a game; and `choose(state)`, an action
        of the player to move by what that player sees, or None where what it says is no action.

        Raises:
            EngineFailed: it cannot be started.
        """
        if not self.module:
            return GtpEngine(self.name, self.command, self.seconds, self.installation)
        try:
            return importlib.import_module(f"{MODULES}.{self.game.replace('-', '_')}").ENGINE(
                *self.command
            )
        except ImportError as error:
            raise EngineFailed(
                self.name, f"cannot be started: {error}; {self.installation}"
            ) from None

    def is_installed(self) -> bool:
        """Whether the program or the module is there; nothing is started."""
        if self.module:
            return find_spec(self.module) is not None
        return shutil.which(self.command[0]) is not None


def earlier_state(state: State, number: int) -> State:
    """The state in which the history had so many actions."""
    earlier = State(state.game, state.start)
    for _, action in state.history[:number]:
        earlier.apply_action(action)
    return earlier


class EnginePlayer:
    """An engine at the table, in one seat or in several: a player for `icarus.play`. It is started when it is first to move."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._running: Any = None
        self._is_new = True
        self.version = ""  # what the running engine says of itself

    def seated(self, game: AnyGame) -> "EnginePlayer":
        self._is_new = True
        return self

    def start(self) -> Any:
        """The engine, which is started where it does not run.

        Raises:
            EngineFailed: it cannot be started.
        """
        if self._running is None:
            self._running = self.engine.start()
            with self._ended_by_failure():
                self.version = self._running.version
        return self._running

    @contextlib.contextmanager
    def _ended_by_failure(self) -> Iterator[None]:
        """The engine runs no more if it fails within, or Ctrl-C comes: its answer would be taken for that to the next question."""
        try:
            yield
        except EngineFailed:
            self._running = None  # it has been ended
            raise
        except BaseException:
            self.close()
            raise

    def search(self, state: State, seed: object = 0) -> ChosenAction:
        """The engine's move.

        Raises:
            EngineFailed: it died, hangs, or plays an illegal move; it is started again for the next game.
        """
        started = time.perf_counter()
        try:
            with self._ended_by_failure():
                running = self.start()
                if self._is_new:
                    running.new_game(state)
                self._is_new = False
                action = running.choose(state)
        except EngineFailed:
            raise
        except Exception as error:  # of a module
            raise EngineFailed(
                self.engine.name, f"failed: {type(error).__name__}: {error}"
            ) from None
        legal = state.legal_actions()
        if action not in legal:
            answer = getattr(running, "answer", str(action))
            self.close()
            names = ", ".join(map(state.action_to_string, legal))
            what = f"plays {answer!r}, which is not legal here; legal: {names}"
            if answer.lower() == "resign":
                what = "resigns, so that its game is void and not lost; start it so that it plays to the end"
            raise EngineFailed(self.engine.name, what)
        return ChosenAction(int(action), time.perf_counter() - started)

    def close(self) -> None:
        """End the engine's process."""
        if isinstance(self._running, GtpEngine):
            self._running.close()
        self._running = None

    def __str__(self) -> str:
        return self.engine.name


def _module(game: str, module: str, name: str, *settings: str, extra: str = "ladder") -> Engine:
    return Engine(name, game, settings, f"pip install 'icarus-mcts[{extra}]'", module)


def _grhino(depth: int) -> Engine:
    program = (
        shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games") or "gtp-rhino"
    )
    depths = [text for option in ("-m", "-e", "-w") for text in (option, str(depth))]
    return Engine(
        f"grhino depth {depth}", "othello", (program, "-b", "0", *depths), "apt-get install grhino"
    )


_ENGINES = [
    *(_grhino(depth) for depth in (1, 2, 3, 4, 5, 6, 8)),
    *(
        _module("othello", "rust_reversi", f"rust-reversi {kind} {depth}", kind, str(depth))
        for kind, depth in (
            ("matrix", 2),
            ("matrix", 4),
            ("mobility", 2),
            ("mobility", 4),
            ("mcts", 5000),
        )
    ),
    _module("backgammon", "gnubg_nn", "pubeval", "pubeval"),
    # DMP is double match point, where a gammon is a win like any other.
    *(
        _module("backgammon", "gnubg_nn", f"gnubg {ply}-ply DMP", "gnubg", str(ply))
        for ply in range(3)
    ),
    *(
        _module("hearts", "pyspiel", f"OpenSpiel ISMCTS {seconds} s", seconds, extra="openspiel")
        for seconds in ("0.01", "0.05", "0.2")
    ),
    _module("dou-di-zhu", "rlcard", "RLCard rules", "rules"),
    *(
        _module("checkers", "draughts", f"py-draughts depth {depth}", str(depth))
        for depth in (1, 3, 5)
    ),
]
ENGINES = {engine.name: engine for engine in _ENGINES}


def engine_of(game: AnyGame, name: str) -> Engine:
    """An engine by its name, or a GTP engine by its command line.

    Raises:
        ValueError: no engine of this game has this name, or the game is not one of `GTP_GAMES`, or a quotation does not end.
    """
    names = [engine.name for engine in ENGINES.values() if engine.game == game.name]
    if game.name in GTP_GAMES and name not in ENGINES and (words := shlex.split(name)):
        # said if there is no such program
        hint = f"give the path of a program, or an engine: {', '.join(names)}"
        return Engine(name, game.name, tuple(words), installation=hint)
    if name not in names:
        problem = (
            f"no engine of {game.name} is called {name!r}; known: {', '.join(names) or 'none'}"
        )
        if game.name not in GTP_GAMES:
            problem += f"; programs that speak GTP play {' and '.join(GTP_GAMES)} only"
        raise ValueError(problem)
    return ENGINES[name]
