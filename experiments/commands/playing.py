"""Commands that play: run, estimate."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import attrs

from experiments.commands.common import INTERRUPTED, argument, flag, print_tables, say
from experiments.papers import catalogue, earlier, sensitivity, suite
from experiments.plan import loading
from experiments.plan.checks import positive
from experiments.plan.definition import Experiment, Refusal
from experiments.play import estimate as estimates
from experiments.play import running
from experiments.play.cluster import Cluster
from experiments.play.pool import ProcessPool
from experiments.play.progress import ProgressBar
from experiments.report import figures
from experiments.store import rows as store
from experiments.store.results import results_of
from icarus.commands.options import split_names, value_option
from icarus.row_files import naming_file

NAMED = (
    f"Name of an experiment, or the path of your own as a .toml or .py file. Section 8: {', '.join(suite.SUITE)} (all of them). "
    f"Earlier papers on Information Set MCTS and determinization: {', '.join(earlier.EARLIER)}. "
    f"Settings that section 8 leaves open: {', '.join(sensitivity.SENSITIVITY)}. "
    f"Other enhancements: {', '.join(catalogue.CATALOGUE)}."
)
With = Annotated[Path | None, value_option("FILE.py", "Python file with enhancements or games of your own.", "--with")]
Workers = Annotated[int | None, value_option("N", "Number of processes; default: the number of processors.")]


def processors() -> int:
    """How many processes this machine runs at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def run(
    experiment: Annotated[str, argument("EXPERIMENT", NAMED)],
    out: Annotated[Path, value_option("DIR", "Directory for the results; run the same command to continue a run.")],
    games: Annotated[
        str | None, value_option("GAMES", "Games, separated by commas, such as othello,knockout-whist(players=3).")
    ] = None,
    trials: Annotated[int | None, value_option("N", "Games per cell (section 8: 1000).")] = None,
    iterations: Annotated[
        int | None, value_option("N", "Iterations per decision (section 8: 5000, earlier papers: 10000).")
    ] = None,
    seconds: Annotated[
        str | None, value_option("SECONDS", "Seconds per decision instead, separated by commas, such as 0.1,1.")
    ] = None,
    workers: Workers = None,
    seed: Annotated[int | None, value_option("SEED", "Seed of the experiment.")] = None,
    paired: Annotated[bool, flag("--paired", "Use the same deals and chance for all agents of a game.")] = False,
    sprt: Annotated[
        bool, flag("--sprt", "Stop an agent's games when a sequential test against the baseline decides.")
    ] = False,
    part: Annotated[str, value_option("K/N", "Part of the trials to play, such as 2/3; see merge.")] = "1/1",
    cluster: Annotated[
        str | None, value_option("ADDRESS", "Dask cluster to play on: the address of its scheduler, or local.")
    ] = None,
    file: With = None,
) -> int:
    """Play an experiment, or the rest of it; then print its table and draw its figures.

    Every game is kept in DIR/results.jsonl as it ends. A run may be stopped or killed at any time: run the same command to continue.
    No game is lost or played twice. The games do not depend on the number of processes.
    """
    selection = _choose(
        experiment,
        games,
        file,
        trials=trials,
        iterations=iterations,
        seconds=_numbers("seconds", seconds),
        seed=seed,
        paired=paired or None,
        sprt=sprt or None,
    )
    share, size = running.part(part), _size(workers)

    def whole() -> None:
        _play(selection, out, size, cluster, share)
        _show(out)

    return _interruptible(selection, out, whole)


def estimate(
    experiment: Annotated[str, argument("EXPERIMENT", NAMED)],
    games: Annotated[str | None, value_option("GAMES", "Games, separated by commas.")] = None,
    trials: Annotated[int | None, value_option("N", "Games per cell.")] = None,
    iterations: Annotated[int | None, value_option("N", "Iterations per decision.")] = None,
    seconds: Annotated[
        str | None, value_option("SECONDS", "Seconds per decision instead, separated by commas.")
    ] = None,
    workers: Workers = None,
    file: With = None,
) -> None:
    """Estimate how long an experiment will take, from a few short games of every agent (some minutes for all of section 8)."""
    changes = {"trials": trials, "iterations": iterations, "seconds": _numbers("seconds", seconds)}
    _estimate(_choose(experiment, games, file, **changes), _size(workers))


def _choose(experiment: str, games: str | None, file: Path | None, **changes: object) -> Experiment:
    changed = {"games": None if games is None else split_names(games), **changes}
    return loading.load(experiment, {key: value for key, value in changed.items() if value is not None}, file)


def _numbers(name: str, text: str | None) -> list[float] | None:
    """Numbers separated by commas."""
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise Refusal(f"{name}: {text!r} are not numbers separated by commas") from None


def _size(workers: int | None) -> int:
    return processors() if workers is None else positive("workers", workers)


def _interruptible(experiment: Experiment, out: Path, work: Callable[[], object]) -> int:
    try:
        work()
    except KeyboardInterrupt:
        stored = sum(1 for _ in store.rows(out, experiment)) if store.results_in(out).exists() else 0
        total = len(experiment.cells) * experiment.trials
        say(f"Stopped; {stored} of {total} games are kept in {out}. Run the same command to continue.")
        return INTERRUPTED
    return 0


def _estimate(experiment: Experiment, workers: int) -> None:
    paces = estimates.measure_paces(experiment, say)
    trials, iterations = loading.published_size(experiment)
    for size, full in ((experiment, None), (attrs.evolve(experiment, trials=trials), iterations)):
        seconds = estimates.core_seconds(size, paces, full)
        print("\n".join(estimates.describe(size, seconds, workers, full)), flush=True)


def _play(experiment: Experiment, out: Path, workers: int, cluster: str | None, share: running.Part) -> None:
    pool: ProcessPool | Cluster = ProcessPool(workers) if cluster is None else Cluster(cluster, workers)
    with contextlib.ExitStack() as stack:
        stack.enter_context(pool)
        bars: list[ProgressBar] = []

        def started(writer: store.Writer, remaining: int) -> None:
            if writer.dropped:
                torn = f"The last line of {out / store.RESULTS} was torn ({writer.dropped} bytes)"
                say(f"{torn}; its game is played again.")
            done = len(writer.done)
            bars.append(stack.enter_context(ProgressBar(experiment.name, done, done + remaining)))

        running.run(experiment, out, pool, share, started=started, ended=lambda row: bars[0].advance())


def _show(directory: Path) -> None:
    with results_of(directory) as results:
        columns, pictures = results.columns(), results.runs[0].experiment.pictures
    print_tables(columns)
    folder = directory / "figures"
    with naming_file(folder):
        for path in figures.draw(columns, folder, pictures):
            say(f"{path} and {path.with_suffix('.svg').name}")
