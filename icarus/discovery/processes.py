"""Processes that play games: of this machine, or of a dask cluster."""

import contextlib
import logging
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import attrs

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
PATIENCE = 10  # seconds in which a scheduler must answer
# Ctrl-C comes to all processes of a terminal; the first one ends the others. A local cluster's workers run this text.
IGNORE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


@attrs.frozen
class Processes:
    """Who plays.

    Attributes:
        executor: hands games to other processes; None where this process plays itself.
        count: how many games are played at once.
    """

    executor: Executor | None
    count: int


@contextlib.contextmanager
def processes(number: int, cluster: str | None = None) -> Iterator[Processes]:
    """So many processes of this machine, or those of a cluster, see `connection`.

    Raises:
        ValueError: see `connection`.
    """
    if cluster is not None:
        with connection(cluster, number) as client:
            yield Processes(client.get_executor(pure=False), max(1, sum(client.nthreads().values())))
    elif number > 1:
        pool = ProcessPoolExecutor(number, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
        try:
            yield Processes(pool, number)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    else:
        yield Processes(None, 1)


@contextlib.contextmanager
def connection(address: str, workers: int) -> "Iterator[Client]":
    """A client of a dask cluster; the connection, or the local cluster, ends with the block.

    Args:
        address: of a running scheduler, such as tcp://host:8786, or "local". All machines need the same packages and files.
        workers: how many processes a local cluster has.

    Raises:
        ValueError: no scheduler answers there, or dask is not installed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError("a cluster needs dask: pip install 'icarus-mcts[cluster]'") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what goes wrong is told in a sentence
    with contextlib.ExitStack() as stack:
        place: LocalCluster | str = address
        if address == LOCAL:
            quiet = {"dashboard_address": None, "preload": IGNORE_INTERRUPTS, "silence_logs": logging.CRITICAL}
            place = stack.enter_context(LocalCluster(n_workers=workers, threads_per_worker=1, **quiet))
        try:
            client = Client(place, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise ValueError(f"no dask scheduler answers at {address!r}: {error}") from None
        yield stack.enter_context(client)
