"""Games played on a dask cluster: the processes of this machine or of several."""

import contextlib
import itertools
from collections.abc import Iterable, Iterator

from experiments.plan.checks import refusing
from experiments.play.matches import Match, row
from experiments.play.pool import MatchFailed, describe_match
from experiments.store.rows import Row
from icarus.discovery.matches import connection
from icarus.load_files import sentence_of

AHEAD = 2  # games handed out for each thread of the cluster, so that none waits for work


class Cluster:
    """A dask cluster, see `icarus.discovery.matches.connection`. A context manager: the connection ends with it.

    Args:
        address, workers: as there. All machines need the repository, in whose folder `experiments` lies.

    Raises:
        Refusal: no scheduler answers there, or dask is not installed.
    """

    def __init__(self, address: str, workers: int) -> None:
        self._address, self._workers, self._stack = address, workers, contextlib.ExitStack()

    def __enter__(self) -> "Cluster":
        with refusing():
            self._client = self._stack.enter_context(connection(self._address, self._workers))
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
