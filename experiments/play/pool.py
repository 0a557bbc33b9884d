"""Processes that play matches. Each plays one match at a time. One that dies is replaced.

A process ends as soon as the process that started it has ended.
"""

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait

from experiments.play.matches import Match, row
from experiments.store.rows import Row
from icarus.load_files import sentence_of

MAX_DEATHS = 3  # a match over which this many processes have died is not tried again
_SPAWN = multiprocessing.get_context("spawn")


class MatchFailed(Exception):
    """A match that could not be played to its end."""


def serve(connection: Connection) -> None:
    """The work of a process: receive matches, play them, send back rows."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator decides when to stop
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            match = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Row | str = row(match)
        except Exception as error:
            answer = sentence_of(error) or f"\n{traceback.format_exc()}"
        connection.send(answer)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class Worker:
    """One process, seen from the coordinator."""

    def __init__(self) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=serve, args=(theirs,), daemon=True)
        with _interrupt_held_back():
            self.process.start()
        theirs.close()
        self.match: Match | None = None

    def give(self, match: Match) -> None:
        self.match = match
        with contextlib.suppress(BrokenPipeError):  # it has died meanwhile: `answer` will tell
            self.connection.send(match)

    def answer(self) -> Row | str | None:
        """What it sent back; None if it died instead."""
        try:
            return self.connection.recv()
        except (EOFError, ConnectionResetError):
            return None

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.connection.close()


@contextlib.contextmanager
def _interrupt_held_back() -> Iterator[None]:
    """A child started within inherits a blocked Ctrl-C; the coordinator gets its own afterwards."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessPool:
    """Some processes on this machine. A context manager: they end with it."""

    def __init__(self, workers: int) -> None:
        self._workers: list[Worker] = []
        self._size = workers

    def __enter__(self) -> "ProcessPool":
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._workers:
            each.end()

    def play(self, matches: Iterable[Match]) -> Iterator[Row]:
        """The row of each match, in the order in which they end.

        Raises:
            MatchFailed: a match raised an error or killed several processes.
        """
        queue, again, deaths = iter(matches), deque[Match](), Counter[Match]()

        def employ(worker: Worker) -> None:
            match = again.popleft() if again else next(queue, None)
            if match is not None:
                worker.give(match)

        for number, match in enumerate(itertools.islice(queue, self._size)):
            if number == len(self._workers):
                self._workers.append(Worker())
            self._workers[number].give(match)
        while busy := {worker.connection: worker for worker in self._workers if worker.match is not None}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]
                assert worker.match is not None
                match, answer, worker.match = worker.match, worker.answer(), None
                if isinstance(answer, str):
                    raise MatchFailed(f"{describe_match(match)} failed: {answer}")
                if answer is None:
                    deaths[match] += 1
                    if deaths[match] == MAX_DEATHS:
                        raise MatchFailed(f"{MAX_DEATHS} processes died while playing {describe_match(match)}")
                    again.append(match)
                    worker = self._replace(worker)
                employ(worker)
                if answer is not None:
                    yield answer

    def _replace(self, dead: Worker) -> Worker:
        dead.end()
        fresh = Worker()
        self._workers[self._workers.index(dead)] = fresh
        return fresh


def describe_match(match: Match) -> str:
    """A match in words, with all that is needed to play it again."""
    cell = match.cell
    return f"trial {match.trial} of {cell.agent} ({cell.spec.text}) in {cell.column.game}, seed {match.seed}"
