"""Who plays games: this process, other processes of this machine, or those of a dask cluster."""

import contextlib
import itertools
import logging
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from importlib.machinery import PathFinder
from multiprocessing.synchronize import Event
from typing import TYPE_CHECKING, Any, TypeVar

from icarus import checks
from icarus.kernel.functions import AUTHOR_ERRORS
from icarus.load_files import OWN, sentence_of

if TYPE_CHECKING:
    from distributed import Client

_SENT = {"icarus", "experiments"}  # packages whose functions workers call
LOCAL = "local"
_SPAWN = multiprocessing.get_context("spawn")
PATIENCE = 10  # seconds in which a scheduler must answer
MAX_DEATHS = 3  # a game over which so many processes have died is not tried again
AHEAD = 2  # games handed out for each process, so that none waits for work
# Ctrl-C comes to all processes of a terminal; the first one ends the others. A local cluster's workers run this text.
_IGNORE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"

_UNGUARDED = (
    "the processes end before they play: each begins by running the script that has called for them; "
    'let the script call below `if __name__ == "__main__":`, in a file, or with workers=1'
)

T = TypeVar("T")
R = TypeVar("R")


class GameFailed(ValueError):
    """A game that could not be played to its end."""


class Workers:
    """Who plays.

    Args:
        count: how many games are played at once.
        start: makes what hands games to other processes; by default this process plays itself.
        ready: set as soon as one of them can play.
    """

    def __init__(
        self,
        count: int = 1,
        start: Callable[[], Executor] | None = None,
        ready: Event | None = None,
    ) -> None:
        self.count, self._start, self._ready = count, start, ready
        self._executor = start() if start else None

    def results(self, play: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """The results of tasks, as they end. A process that dies is replaced, and all tasks under way are tried again, one by one.

        Raises:
            GameFailed: in another process a task raised an error or killed several processes; no process has begun; or the cluster
                has gone.
        """
        if self._start is None:
            yield from map(play, tasks)
            return
        queue = ((task, 0) for task in tasks)
        pending = dict[Future, tuple[T, int]]()
        # If a process dies, all tasks under way come back, and nobody knows which of them has killed it. Each is tried again with no
        # other beside it, and a death is counted against a task that was alone.
        again = deque[tuple[T, int]]()
        while True:
            following: list[tuple[T, int]] = []
            if not again:
                following = list(itertools.islice(queue, AHEAD * self.count - len(pending)))
            elif not pending:
                following = [again.popleft()]
            pending |= {self._submit(play, task): (task, deaths) for task, deaths in following}
            if not pending:
                return
            # Only a task that was handed out with no other beside it is alone; not the last that is left of several, of which another one
            # may have killed the process before.
            is_alone = len(pending) == len(following) == 1
            for future in wait(pending, return_when="FIRST_COMPLETED").done:
                task, deaths = pending.pop(future)
                try:
                    yield self._result(future, task)
                except BrokenExecutor:
                    if self._ready is not None and not self._ready.is_set():
                        raise GameFailed(_UNGUARDED) from None
                    if is_alone:
                        deaths += 1
                    if deaths == MAX_DEATHS:
                        raise GameFailed(
                            f"{MAX_DEATHS} processes died while playing {task}"
                        ) from None
                    again.append((task, deaths))

    def _submit(self, play: Callable[[T], R], task: T) -> Future:
        assert self._start is not None and self._executor is not None
        with _interrupt_held_back():
            try:
                return self._executor.submit(_attempt, play, task)
            except BrokenExecutor:
                self._executor = self._start()
                return self._executor.submit(_attempt, play, task)

    def _result(self, future: Future, task: object) -> Any:
        try:
            result, failure = future.result()
        except BrokenExecutor:
            raise
        except (CancelledError, OSError):
            raise GameFailed(
                f"the scheduler does not answer any more, while {task} was being played; finished games are kept; "
                "run the same command to continue"
            ) from None
        except Exception as error:  # dask gives up a game over which processes have died
            failure = sentence_of(error) or repr(error)
        if failure:
            raise GameFailed(f"{task} failed: {failure}")
        return result

    def close(self) -> None:
        """End the processes, whatever they are playing."""
        if isinstance(self._executor, ProcessPoolExecutor):
            for process in list((self._executor._processes or {}).values()):
                process.kill()
            self._executor.shutdown(cancel_futures=True)
        elif self._executor is not None:
            self._executor.shutdown(wait=False)


ALONE = Workers()


def _attempt(play: Callable[[T], R], task: T) -> tuple[R | None, str]:
    """The result of a task, or why it failed: not every error can be sent from one process to another."""
    try:
        return play(task), ""
    except AUTHOR_ERRORS as error:
        return None, sentence_of(error) or f"\n{traceback.format_exc()}"


@contextlib.contextmanager
def workers(count: int, cluster: str | None = None) -> Iterator[Workers]:
    """Who plays: this process if `count` is 1, otherwise so many processes of this machine; with `cluster`, those of a dask cluster.

    Args:
        cluster: the address of a scheduler, see `connection`.

    Raises:
        ValueError: see `connection`.
    """
    with contextlib.ExitStack() as stack:
        if cluster is not None:
            client = stack.enter_context(connection(cluster, count))
            playing = Workers(
                max(1, sum(client.nthreads().values())), lambda: client.get_executor(pure=False)
            )
        elif count == 1:
            playing = ALONE
        else:
            ready = _SPAWN.Event()
            playing = Workers(count, lambda: _process_pool(count, ready), ready)
        stack.callback(playing.close)
        yield playing


def check_processes(workers: int, cluster: str | None, game: object) -> None:
    """Refuse what is no number of processes, and a game that other processes cannot be given.

    A process that begins runs the script again that has called for it. Where that calls for processes once more, it ends: `results` of
    the first one says why.
    """
    checks.integer("workers", workers, least=1)
    if workers == 1 and cluster is None:
        return
    if getattr(multiprocessing.current_process(), "_inheriting", False):  # as multiprocessing asks
        raise SystemExit
    if cluster is not None:
        return
    try:
        content = pickle.dumps(game)
        for module in (name for name in sys.modules if name.startswith(OWN)):
            if module.encode() in content and PathFinder.find_spec(module) is None:
                raise ValueError("it is of a file that was loaded here")
    except Exception as error:  # of whatever the game holds
        raise ValueError(
            f"other processes cannot be given {game}: {error}; give it by its name, with files=[…], or workers=1"
        ) from None


def _process_pool(count: int, ready: Event) -> ProcessPoolExecutor:
    """Processes that begin anew: one that is forked while another thread compiles would hang at its own first compilation."""
    return ProcessPoolExecutor(count, _SPAWN, _begin, (ready,))


def _begin(ready: Event) -> None:
    """What a process of the pool does first; it ends as soon as the process that started it has ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    ready.set()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


@contextlib.contextmanager
def _interrupt_held_back() -> Iterator[None]:
    """A process started within inherits a blocked Ctrl-C; this one gets its own afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def connection(address: str, count: int) -> "Iterator[Client]":
    """A client of a dask cluster; the connection, or the local cluster, ends with the block.

    Args:
        address: of a running scheduler, such as tcp://host:8786, or "local". All machines need the same packages and files.
        count: how many processes a local cluster has.

    Raises:
        ValueError: no scheduler answers there, a worker lacks the files, or dask is not installed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError("a cluster needs dask: pip install 'icarus-mcts[cluster]'") from None
    # what goes wrong is told in a sentence
    for logger in ("distributed.client", "tornado.application"):
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        place: LocalCluster | str = address
        if address == LOCAL:
            try:
                cluster = LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    dashboard_address=None,
                    preload=_IGNORE_INTERRUPTS,
                    silence_logs=logging.CRITICAL,
                )
            except RuntimeError as error:
                raise ValueError(f"{_UNGUARDED} ({error})") from None
            place = stack.enter_context(cluster)
        try:
            client = Client(place, timeout=PATIENCE)
        except (OSError, TypeError, ValueError) as error:
            raise ValueError(
                f"no dask scheduler answers at {address!r}, which is to be local, or such as tcp://host:8786: {error}"
            ) from None
        stack.enter_context(client)
        _check_imports(client)
        yield client


def _check_imports(client: "Client") -> None:
    """Refuse workers that lack the files of this run, before they are sent what they cannot read."""
    for name in _SENT & {*sys.modules}:
        for worker, error in client.run(exec, f"import {name}", on_error="return").items():
            if error is not None:
                raise ValueError(
                    f"the dask worker at {worker} cannot import {name} ({error}): start it with PYTHONPATH, or install this version there"
                )
