"""Games played on a dask cluster: the processes of this machine or of several."""

import itertools
import logging
from collections.abc import Iterable, Iterator
from types import TracebackType

from experiments.plan.definition import Refusal
from experiments.play.matches import Match, row
from experiments.play.pool import MatchFailed, described
from experiments.store.rows import Row

LOCAL = "local"
AHEAD = 2  # games handed out for each thread of the cluster, so that none waits for work
PATIENCE = 10  # seconds in which a scheduler must answer


class Cluster:
    """A dask cluster. A context manager: the connection, or the local cluster, ends with it.

    Args:
        address: of a running scheduler, such as tcp://host:8786, or "local". All machines need the
            repository, in whose folder `experiments` lies.
        workers: how many processes a local cluster has.

    Raises:
        Refusal: no scheduler answers there, or dask is not installed.
    """

    def __init__(self, address: str, workers: int) -> None:
        self._address, self._workers = address, workers

    def __enter__(self) -> "Cluster":
        try:
            from distributed import Client, LocalCluster
        except ImportError:
            raise Refusal("a cluster needs dask: pip install 'icarus-mcts[cluster]'") from None
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what goes wrong is told in a sentence
        self._local = None
        if self._address == LOCAL:
            self._local = LocalCluster(n_workers=self._workers, threads_per_worker=1, dashboard_address=None)
        try:
            self._client = Client(self._local or self._address, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise Refusal(f"no dask scheduler answers at {self._address!r}: {error}") from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()
        if self._local is not None:
            self._local.close()

    def play(self, matches: Iterable[Match]) -> Iterator[Row]:
        """The row of each match, in the order in which they end.

        Raises:
            MatchFailed: a match raised an error, or its processes died again and again.
        """
        from distributed import as_completed

        queue = iter(matches)
        threads = max(1, sum(self._client.nthreads().values()))
        pending = {self._submitted(match): match for match in itertools.islice(queue, AHEAD * threads)}
        if not pending:
            return
        completed = as_completed(list(pending))
        for future in completed:
            match = pending.pop(future)
            if future.status == "error":
                raise MatchFailed(f"{described(match)} failed: {future.exception()!r}")
            if future.status != "finished":
                raise MatchFailed(
                    f"the dask scheduler at {self._address!r} has gone ({described(match)} was {future.status}); "
                    "what has ended is kept, the same command continues"
                )
            if (following := next(queue, None)) is not None:
                submitted = self._submitted(following)
                pending[submitted] = following
                completed.add(submitted)
            yield future.result()

    def _submitted(self, match: Match) -> "object":
        """Under a name that says all of what is played, since the runs of a scheduler share what has the same name."""
        name = "-".join(
            map(str, (match.cell.key, match.trial, *match.seed, match.cell.source, *sum(match.cell.imports, ())))
        )
        return self._client.submit(row, match, key=name, pure=False)
