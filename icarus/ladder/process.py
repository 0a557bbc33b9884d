"""An engine in a process of its own, which answers lines: the Go Text Protocol, version 2.

A command is a line. The answer begins with "=", or with "?" where the engine refuses, and ends with an empty line.
"""

import contextlib
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Sequence
from typing import IO

LAST_WORDS = 3  # lines of standard error that a message quotes
LONGEST_WORDS = 200  # characters of them
GRACE = 2.0  # seconds that an engine has to end by itself


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
            self._child = subprocess.Popen(list(command), text=True, errors="replace", **pipes)  # type: ignore[call-overload]
        except OSError as error:
            hint = f"; {installation}" if installation else ""
            raise EngineFailed(name, f"cannot be started: {command[0]}: {error.strerror}{hint}") from None
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._words: deque[str] = deque(maxlen=LAST_WORDS)
        self._threads = [
            threading.Thread(target=self._read, args=(self._child.stdout,), daemon=True),
            threading.Thread(target=self._listen, args=(self._child.stderr,), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, stream: IO[str]) -> None:
        for line in stream:
            self._answers.put(line.rstrip("\r\n"))
        self._answers.put(None)

    def _listen(self, stream: IO[str]) -> None:
        for line in stream:
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
        lines: list[str] = []
        while True:
            try:
                line = self._answers.get(timeout=self.seconds)
            except queue.Empty:
                unended = f": {lines[-1]!r} came without the empty line that ends an answer" if lines else ""
                raise self._failure(f"did not answer {command} within {self.seconds:g} s{unended}") from None
            if line is None:
                raise self._failure(f"died at {command}")
            if line.strip():
                lines.append(line)
            elif lines:
                break
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
        self._child.kill()
        self._child.wait()
        for thread in self._threads:
            thread.join(GRACE)
        for stream in (self._child.stdin, self._child.stdout, self._child.stderr):
            with contextlib.suppress(OSError):  # what was never sent cannot be flushed to who is dead
                stream.close()
