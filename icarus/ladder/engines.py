"""Engines in processes of their own: what is started, how a game is told to it, and what it answers by the Go Text Protocol, version 2.

A command is a line. The answer begins with "=", or with "?" where the engine refuses, and ends with an empty line.
"""

import contextlib
import difflib
import os
import queue
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from importlib.util import find_spec
from typing import IO

import attrs

from icarus.arena.player import ChosenAction
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State

# --------------------------------------------------------------------------------------------------- a process that answers lines

LAST_WORDS = 3  # lines of standard error that a message quotes
LONGEST_WORDS = 200  # characters of them
GRACE = 2.0  # seconds that an engine has to end by itself
LONGEST, MOST = 100_000, 1000  # characters of an answer; lines that wait to be read


class EngineFailed(Exception):
    """An engine is missing, has died, hangs, or plays an illegal move; the message is one sentence.

    Attributes:
        name: of the engine.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"{name} {what}")
        self.name = name


class Process:
    """A running engine.

    Args:
        name: how messages call it.
        command: the program and its arguments.
        seconds: the time limit of each answer.
        installation: how to install the program, for the message where it is missing.

    Raises:
        EngineFailed: there is no such program.
    """

    def __init__(self, name: str, command: Sequence[str], seconds: float, installation: str = "") -> None:
        self.name, self.seconds = name, seconds
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        try:
            self._child = subprocess.Popen(  # type: ignore[call-overload]
                list(command), text=True, errors="replace", start_new_session=True, **pipes
            )
        except OSError as error:
            hint = f"; {installation}" if installation else ""
            raise EngineFailed(name, f"cannot be started: {command[0]}: {error.strerror}{hint}") from None
        self._answers: queue.Queue[str | None] = queue.Queue(MOST)
        self._words: deque[str] = deque(maxlen=LAST_WORDS)
        self._threads = [
            threading.Thread(target=self._read, args=(self._child.stdout,), daemon=True),
            threading.Thread(target=self._listen, args=(self._child.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: IO[str]) -> None:
        while line := stream.readline(LONGEST):
            self._answers.put(line.rstrip("\r\n"))
        self._answers.put(None)

    def _listen(self, stream: IO[str]) -> None:
        while line := stream.readline(LONGEST):
            if line.strip():
                self._words.append(line.strip())

    def ask(self, *commands: str) -> str:
        """The answer to the last of some commands, which are sent at once, without its mark.

        Raises:
            EngineFailed: to one of them no answer in time, none at all, or a refusal; the process is ended then.
        """
        try:
            self._child.stdin.write("".join(f"{command}\n" for command in commands))
            self._child.stdin.flush()
        except OSError:
            raise self._failure(f"died before {commands[0].split()[0]}") from None
        return [self._answer(command.split()[0]) for command in commands][-1]

    def _answer(self, command: str) -> str:
        lines, deadline = list[str](), time.monotonic() + self.seconds
        while True:
            try:
                line = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                unended = f": {lines[-1]!r} came without the empty line that ends an answer" if lines else ""
                raise self._failure(f"did not answer {command} within {self.seconds:g} s{unended}") from None
            if line is None:
                raise self._failure(f"died at {command}")
            if line.strip():
                lines.append(line)
            elif lines:
                break
            if sum(map(len, lines)) >= LONGEST:
                raise self._failure(f"answered {command} with more than {LONGEST:,} characters")
        answer = "\n".join(lines)
        if answer.startswith("?"):
            raise self._failure(f"refused {command}: {answer.lstrip('? ')}")
        if not answer.startswith("="):
            raise self._failure(f"answered {lines[0]!r} to {command}; an answer begins with = or ?")
        return answer[1:].strip()

    def _failure(self, what: str) -> EngineFailed:
        """End the process; the error that says what happened, with the engine's last words."""
        self.close(grace=0)
        words = " / ".join(self._words)[-LONGEST_WORDS:]
        return EngineFailed(self.name, what + (f"; its last output: {words}" if words else ""))

    def close(self, grace: float = GRACE) -> None:
        """End the engine: by `quit` where it listens, by force where it does not."""
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            if grace and self._child.poll() is None:
                self._child.stdin.write("quit\n")
                self._child.stdin.flush()
                self._child.wait(grace)
        with contextlib.suppress(OSError):  # the engine, and what it has started
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        for thread in self._threads:
            thread.join(GRACE)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            with contextlib.suppress(OSError):  # what was never sent cannot be flushed to who is dead
                if not any(thread.is_alive() for thread in self._threads):  # who still reads would be waited for
                    stream.close()


# ------------------------------------------------------------------------------------------------------------------------ engines

SECONDS = 60.0  # for each answer: imports and compilation come with the first
COLOURS = ("black", "white")  # how GTP calls the players
GTP_GAMES = ("othello", "checkers")  # of two colours, without anything hidden or random
SERVER = "icarus.ladder.server"


@attrs.frozen
class Engine:
    """An engine as it is started.

    Attributes:
        name: what it is called in rows and ladders, with its settings: "grhino depth 2".
        game: the name of the game that it plays.
        command: the program and its arguments.
        notation: how a game is told to it, one of NOTATIONS.
        installation: how to install it, as a sentence says it.
        module: the Python module that it is; empty for a program.
        seconds: the time limit of each answer.
    """

    name: str
    game: str
    command: tuple[str, ...]
    notation: str = "gtp"
    installation: str = ""
    module: str = ""
    seconds: float = SECONDS

    def start(self) -> Process:
        """The engine in a process of its own.

        Raises:
            EngineFailed: it cannot be started.
        """
        return Process(self.name, self.command, self.seconds, self.installation)

    def is_installed(self) -> bool:
        """Whether the program or the module is there; nothing is started."""
        return find_spec(self.module) is not None if self.module else shutil.which(self.command[0]) is not None

    def version(self) -> str:
        """What the engine says of itself.

        Raises:
            EngineFailed: it cannot be started, or says nothing.
        """
        process = self.start()
        try:
            return f"{process.ask('name')} {process.ask('version')}"
        finally:
            process.close()


class GtpNotation:
    """Othello by GTP: squares by their names; who cannot move is passed over, and no engine is told."""

    def new_game(self, state: State) -> list[str]:
        return ["boardsize 8", "clear_board"]

    def play(self, state: State, action: int) -> list[str]:
        text = state.action_to_string(action)
        return [] if text == "pass" else [f"play {COLOURS[state.current_player()]} {text}"]

    def genmove(self, state: State) -> str:
        return f"genmove {COLOURS[state.current_player()]}"

    def action(self, state: State, answer: str) -> int | None:
        legal = {state.action_to_string(action): action for action in state.legal_actions()}
        return legal.get(answer.lower())


class IntegerNotation:
    """The servers of this package: a game by the data it begins with, actions by their integers."""

    def new_game(self, state: State) -> list[str]:
        return [f"new_game {state.start.tobytes().hex()} {state.game}"]

    def play(self, state: State, action: int) -> list[str]:
        return [f"play {state.current_player()} {action}"]

    def genmove(self, state: State) -> str:
        return f"genmove {state.current_player()}"

    def action(self, state: State, answer: str) -> int | None:
        return int(answer) if answer.isdigit() and int(answer) in state.legal_actions() else None


NOTATIONS: dict[str, GtpNotation | IntegerNotation] = {"gtp": GtpNotation(), "integers": IntegerNotation()}


class EnginePlayer:
    """An engine at the table, in one seat or in several: a player for `icarus.play`.

    `observe` must be told every action before it is played (the `watch` of `play`). The engine hears of them when it is to move, of
    all at once: on a busy machine each message costs a turn of the processor.
    """

    preference = None

    def __init__(self, engine: Engine) -> None:
        self.engine, self._notation = engine, NOTATIONS[engine.notation]
        self._process: Process | None = None
        self._began = self._generated = False
        self._pending_commands: list[str] = []  # commands that the engine gets before its next move
        self.version = ""  # what the running engine says of itself

    def seated(self, game: AnyGame) -> "EnginePlayer":
        self._began = False
        return self

    def observe(self, state: State, action: int | None, decision: object = None) -> None:
        """Tell the engine of an action that is about to be played; of its own it knows."""
        if action is None:
            return
        self._begin(state)
        if not self._generated:
            self._pending_commands += self._notation.play(state, action)
        self._generated = False

    def search(self, state: State, seed: object = 0) -> ChosenAction:
        """The engine's move.

        Raises:
            EngineFailed: it died, hangs, or plays an illegal move; it is started again for the next game.
        """
        self._begin(state)
        started = time.perf_counter()
        answer = self._ask(*self._pending_commands, self._notation.genmove(state))
        self._pending_commands = []
        action = self._notation.action(state, answer)
        if action is None:
            self.close()
            legal = ", ".join(map(state.action_to_string, state.legal_actions()))
            raise EngineFailed(self.engine.name, f"plays {answer!r}, which is not legal here; legal: {legal}")
        self._generated = True
        return ChosenAction(action, time.perf_counter() - started)

    def _begin(self, state: State) -> None:
        if self._began:
            return
        if self._process is None:
            self._process = self.engine.start()
            self.version = f"{self._ask('name')} {self._ask('version')}"
        self._pending_commands = self._notation.new_game(state)
        self._began, self._generated = True, False

    def _ask(self, *commands: str) -> str:
        assert self._process is not None
        try:
            return self._process.ask(*commands)
        except EngineFailed:
            self._process = None  # it has been ended
            raise

    def close(self) -> None:
        """End the engine's process."""
        if self._process is not None:
            self._process.close()
            self._process = None

    def __str__(self) -> str:
        return self.engine.name


def _server(game: str, name: str, *settings: str, module: str, extra: str = "ladder") -> Engine:
    command = (sys.executable, "-m", SERVER, game, *settings)
    return Engine(name, game, command, "integers", f"pip install 'icarus-mcts[{extra}]'", module)


def _grhino(depth: int) -> Engine:
    program = shutil.which("gtp-rhino") or shutil.which("gtp-rhino", path="/usr/games") or "gtp-rhino"
    depths = [text for option in ("-m", "-e", "-w") for text in (option, str(depth))]
    command = (program, "-b", "0", *depths)
    return Engine(f"grhino depth {depth}", "othello", command, installation="apt-get install grhino")


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        *(_grhino(depth) for depth in (1, 2, 3, 4, 5, 6, 8)),
        *(
            _server("othello", f"rust-reversi {kind} {depth}", kind, str(depth), module="rust_reversi")
            for kind, depth in (("matrix", 2), ("matrix", 4), ("mobility", 2), ("mobility", 4), ("mcts", 5000))
        ),
        _server("backgammon", "pubeval", "pubeval", module="gnubg_nn"),
        *(
            _server("backgammon", f"gnubg {ply}-ply DMP", "gnubg", str(ply), module="gnubg_nn")
            for ply in range(3)  # DMP is double match point, where a gammon is a win like any other
        ),
        *(
            _server("hearts", f"OpenSpiel ISMCTS {seconds} s", seconds, module="pyspiel", extra="openspiel")
            for seconds in ("0.01", "0.05", "0.2")
        ),
        _server("dou-di-zhu", "RLCard rules", "rules", module="rlcard"),
        *(_server("checkers", f"py-draughts depth {depth}", str(depth), module="draughts") for depth in (1, 3, 5)),
    )
}


def engine_of(game: AnyGame, name: str, command: str = "") -> Engine:
    """An engine by its name, or a GTP engine by its command line.

    Raises:
        ValueError: no engine of this game has this name, or the game is not one of `GTP_GAMES`.
    """
    names = [engine.name for engine in ENGINES.values() if engine.game == game.name]
    if game.name in GTP_GAMES and (words := _split_command(command)):
        near = difflib.get_close_matches(command, names, n=1)
        hint = f"did you mean {near[0]}?" if near else f"give the path of a program, or an engine: {', '.join(names)}"
        return Engine(name, game.name, words, installation=hint)
    if name not in names:
        only = "" if game.name in GTP_GAMES else f"; programs that speak GTP play {' and '.join(GTP_GAMES)} only"
        raise ValueError(f"no engine of {game.name} is called {name!r}; known: {', '.join(names) or 'none'}{only}")
    return ENGINES[name]


def _split_command(command: str) -> tuple[str, ...]:
    """The words of a command line.

    Raises:
        ValueError: a quotation in it does not end.
    """
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise ValueError(f"the command line {command!r} cannot be read: {str(error).lower()}") from None
