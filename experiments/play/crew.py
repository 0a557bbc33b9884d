"""Processes that play games: each is handed one game at a time, and is replaced if it dies.

A process learns at once when the one that started it is gone, and ends with it.
"""

import contextlib
import itertools
import multiprocessing
import os
import signal
import threading
import traceback
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from types import TracebackType
from typing import Any

from experiments.plan.definition import Refusal
from experiments.play import playing
from experiments.play.playing import Game
from experiments.store.rows import Row

MAX_DEATHS = 3  # a game over which this many processes have died is not tried again
_SPAWN = multiprocessing.get_context("spawn")


class GameFailed(Exception):
    """A game that could not be played to its end."""


def worker(connection: Connection) -> None:
    """The life of a process: play what is sent, send back rows."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the coordinator decides when to stop
    threading.Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            game = connection.recv()
        except (EOFError, OSError):
            return
        try:
            answer: Row | str = playing.row(game)
        except Refusal as error:
            answer = str(error)
        except Exception:
            answer = traceback.format_exc()
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
        self.process = _SPAWN.Process(target=worker, args=(theirs,), daemon=True)
        with _interrupt_held_back():
            self.process.start()
        theirs.close()
        self.game: Game | None = None

    def give(self, game: Game) -> None:
        self.game = game
        with contextlib.suppress(BrokenPipeError):  # it has died meanwhile: `answer` will tell
            self.connection.send(game)

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


class Crew:
    """Some processes on this machine. A context manager: they end with it."""

    def __init__(self, workers: int) -> None:
        self._workers: list[Worker] = []
        self._size = workers

    def __enter__(self) -> "Crew":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._workers:
            each.end()

    def play(self, games: Iterable[Game]) -> Iterator[Row]:
        """The row of each game, in the order in which they end.

        Raises:
            GameFailed: a game raised an error or killed several processes.
        """
        queue, again, deaths = iter(games), deque[Game](), dict[Game, int]()

        def employ(one: Worker) -> None:
            game = again.popleft() if again else next(queue, None)
            if game is not None:
                one.give(game)

        for number, game in enumerate(itertools.islice(queue, self._size)):
            if number == len(self._workers):
                self._workers.append(Worker())
            self._workers[number].give(game)
        while busy := {one.connection: one for one in self._workers if one.game is not None}:
            for ready in wait(list(busy)):
                one = busy[ready]  # type: ignore[index]
                assert one.game is not None
                game, answer, one.game = one.game, one.answer(), None
                if isinstance(answer, str):
                    raise GameFailed(f"{described(game)} failed:\n{answer}")
                if answer is None:
                    deaths[game] = deaths.get(game, 0) + 1
                    if deaths[game] == MAX_DEATHS:
                        raise GameFailed(f"{MAX_DEATHS} processes died while playing {described(game)}")
                    again.append(game)
                    one = self._replaced(one)
                employ(one)
                if answer is not None:
                    yield answer

    def _replaced(self, dead: Worker) -> Worker:
        dead.end()
        new = Worker()
        self._workers[self._workers.index(dead)] = new
        return new


def described(game: Game) -> str:
    """A game in words, with all that is needed to play it again."""
    cell: Any = game.cell
    return f"trial {game.trial} of {cell.agent} ({cell.player.text}) in {cell.column.game}, seed {game.seed}"
