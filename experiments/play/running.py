"""Running an experiment: every game that its directory does not hold yet, once, by any number of processes."""

import contextlib
from collections.abc import Callable, Container, Iterable, Iterator
from pathlib import Path
from typing import Protocol

import attrs

from experiments.plan.definition import Cell, Experiment, Refusal
from experiments.play.matches import Match
from experiments.play.replay import compare_with_replay
from experiments.play.sequential import Progress
from experiments.store import rows as store
from experiments.store.rows import Row


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
    for row in store.rows(directory, experiment):
        first.setdefault(row["agent"], row)
    cells = {cell.key: cell for cell in experiment.cells}
    for row in first.values():
        if row["iterations"] is None:
            raise Refusal(f"{why}, and games with a time budget cannot be compared; choose another directory")
        message, same = compare_with_replay(
            row, Match(cells[row["cell"]], row["trial"], tuple(row["seed"])), experiment
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
            for row in pool.play(games):
                writer.append(row)
                ended(row)
