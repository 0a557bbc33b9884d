"""Running an experiment: every game that its directory does not hold yet, once, by processes here or on a dask cluster.

Each process plays one match at a time. One that dies is replaced.

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
from collections.abc import Callable, Container, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Protocol

import attrs

from experiments.plan.definition import Cell, Experiment, Refusal, refusing
from experiments.play.matches import Match, compare_with_replay, row
from experiments.play.sequential import Progress
from experiments.store import rows as store
from experiments.store.rows import Row
from icarus.arena.workers import connection as cluster_connection
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


# -------------------- Games played on a dask cluster: the processes of this machine or of several.


AHEAD = 2  # games handed out for each thread of the cluster, so that none waits for work


class Cluster:
    """A dask cluster, see `icarus.arena.workers.connection`. A context manager: the connection ends with it.

    Args:
        address, workers: as there. All machines need the repository, in whose folder `experiments` lies.

    Raises:
        Refusal: no scheduler answers there, or dask is not installed.
    """

    def __init__(self, address: str, workers: int) -> None:
        self._address, self._workers, self._stack = address, workers, contextlib.ExitStack()

    def __enter__(self) -> "Cluster":
        with refusing():
            self._client = self._stack.enter_context(cluster_connection(self._address, self._workers))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def play(self, matches: Iterable[Match]) -> Iterator[Row]:
        """The row of each match, in the order in which they end.

        Raises:
            MatchFailed: a match raised an error, or its processes died again and again.
        """
        from distributed import as_completed

        queue = iter(matches)
        threads = max(1, sum(self._client.nthreads().values()))
        pending = {self._submit(match): match for match in itertools.islice(queue, AHEAD * threads)}
        if not pending:
            return
        completed = as_completed(list(pending))
        for future in completed:
            match = pending.pop(future)
            if future.status == "error":
                error = future.exception()
                raise MatchFailed(f"{describe_match(match)} failed: {sentence_of(error) or repr(error)}")
            if future.status != "finished":
                raise self._gone(match, future.status)
            try:
                result = future.result()
            except OSError:  # on the way here; an error of the game itself is a status
                raise self._gone(match, "on its way here") from None
            if (following := next(queue, None)) is not None:
                submitted = self._submit(following)
                pending[submitted] = following
                completed.add(submitted)
            yield result

    def _gone(self, match: Match, status: str) -> MatchFailed:
        return MatchFailed(
            f"the dask scheduler at {self._address!r} does not answer any more ({describe_match(match)} was {status}); "
            "finished games are kept; run the same command to continue"
        )

    def _submit(self, match: Match) -> "object":
        """Under a name that says all of what is played, since the runs of a scheduler share what has the same name."""
        name = "-".join(
            map(str, (match.cell.key, match.trial, *match.seed, match.cell.source, *sum(match.cell.imports, ())))
        )
        return self._client.submit(row, match, key=name, pure=False)


# -------------------- Running an experiment: every game that its directory does not hold yet, once, by any number of processes.


class Pool(Protocol):
    """Whoever plays the games: processes of this machine (`pool.ProcessPool`) or of several (`cluster.Cluster`)."""

    def play(self, games: Iterable[Match]) -> Iterator[Row]: ...


@attrs.frozen
class Part:
    """A share of an experiment's trials, so that several machines can divide them: part `number` (from 1) of `of`."""

    number: int = 1
    of: int = 1

    def __contains__(self, trial: int) -> bool:
        return trial % self.of == self.number - 1


WHOLE = Part()


def part(text: str) -> Part:
    """A share as people write it: "2/3".

    Raises:
        Refusal: it is not one.
    """
    number, slash, of = text.partition("/")
    if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of)):
        raise Refusal(f"part: {text!r} is not a share such as 1/3, 2/3 or 3/3")
    return Part(int(number), int(of))


def games_left(experiment: Experiment, done: Container[tuple[str, int]], share: Part = WHOLE) -> Iterator[Match]:
    """The games of a share still to be played, all cells side by side."""
    return _missing_matches(experiment, ((cell, trial) for cell, trial in experiment.games() if trial in share), done)


def _missing_matches(
    experiment: Experiment, games: Iterable[tuple[Cell, int]], done: Container[tuple[str, int]]
) -> Iterator[Match]:
    return (
        Match(cell, trial, experiment.game_seed(cell, trial)) for cell, trial in games if (cell.key, trial) not in done
    )


@contextlib.contextmanager
def _writer(directory: Path, experiment: Experiment) -> Iterator[store.Writer]:
    """The directory's results; a run that began before digests were kept is continued if its games come out the same.

    Raises:
        Refusal: they do not, or their time was up by the clock.
    """
    with contextlib.ExitStack() as stack:
        try:
            writer = stack.enter_context(store.writer(directory, experiment))
        except store.Unknown as unknown:
            _play_again(directory, experiment, str(unknown))
            store.adopt(directory, experiment)
            writer = stack.enter_context(store.writer(directory, experiment))
        yield writer


def _play_again(directory: Path, experiment: Experiment, why: str) -> None:
    """Play the first game of each agent again."""
    first: dict[str, Row] = {}
    for each in store.rows(directory, experiment):
        first.setdefault(each["agent"], each)
    cells = {cell.key: cell for cell in experiment.cells}
    for each in first.values():
        if each["iterations"] is None:
            raise Refusal(f"{why}, and games with a time budget cannot be compared; choose another directory")
        message, same = compare_with_replay(
            each, Match(cells[each["cell"]], each["trial"], tuple(each["seed"])), experiment
        )
        if not same:
            raise Refusal(f"{why}, and its games are different now ({message}); choose another directory")


def run(
    experiment: Experiment,
    directory: Path,
    pool: Pool,
    share: Part = WHOLE,
    *,
    started: Callable[[store.Writer, int], None] = lambda writer, games: None,
    ended: Callable[[Row], None] = lambda row: None,
) -> None:
    """Play what is missing; each game is kept as it ends.

    Args:
        share: the part of the trials to be played here.
        started: called once, before the first game, with the writer and the number of games to be played (with a sequential test,
            at most).
        ended: called with each row after it has been kept.

    Raises:
        Refusal, Damage: see `store.writer`; or a share of a sequential test.
        pool.MatchFailed: a game could not be played.
    """
    if experiment.sprt and share != WHOLE:
        raise Refusal(
            "part: a sequential test cannot be divided, because later games depend on the results of earlier ones"
        )
    with _writer(directory, experiment) as writer:
        started(writer, sum(1 for _ in games_left(experiment, writer.done, share)))
        if experiment.sprt is None:
            rounds: Iterable[Iterable[Match]] = [games_left(experiment, writer.done, share)]
        else:
            rounds = (
                _missing_matches(experiment, games, writer.done) for games in Progress(experiment).rounds(writer.done)
            )
        for games in rounds:
            for game in pool.play(games):
                writer.append(game)
                ended(game)
