"""What searches cost besides time: tables, memory, first contact; long searches, misses of the cache, several threads."""

import itertools
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import attrs
import numpy as np

from icarus.algebra import Enhancement
from icarus.bench.speed import opening
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.records.tables import Table
from icarus.engine.search import start_search
from icarus.load_files import load_files
from icarus.specs import BASELINE, parse

COUNTED = 50  # iterations whose updates are counted


# ------------------------------------------------------------------------------------------------------- the use of tables


@attrs.frozen
class TableUse:
    """What a search makes of the tables of its components.

    Attributes:
        game, subject: what was run.
        updates: of records in an iteration, the mean of the last ones.
        records: in all tables, for each iteration.
        bytes: of all tables, for each record.
        probes: entries that are looked at to find a record, the mean over all of them.
    """

    game: str
    subject: str
    updates: float
    records: float
    bytes: float
    probes: float


def use_of_tables(name: str, strategy: Enhancement, iterations: int) -> TableUse:
    """What is in the tables after a search, and what its last iterations changed there."""
    search, updates = CompiledSearch(opening(name), strategy, 0), 0
    for iteration in range(max(0, iterations - COUNTED), iterations):
        search.run(iteration + 1)
        updates += int(search.program.component["count"].sum())
    used = sum(table.used for table in search.tables)
    return TableUse(
        game=name,
        subject=str(strategy),
        updates=updates / min(COUNTED, iterations),
        records=used / iterations,
        bytes=sum(table.nbytes for table in search.tables) / used,
        probes=float(np.concatenate([probes(table) for table in search.tables]).mean()),
    )


def probes(table: Table) -> np.ndarray:
    """The number of entries from where a record's search begins to where it is, both included, for each record."""
    places = np.flatnonzero(table.entries)
    keys = table.rows["record"][table.entries[places]]
    return ((places - keys) & (table.capacity - 1)) + 1


# ------------------------------------------------------------------------------------------- memory and starts, in processes


def memory(name: str, iterations: int, files: Sequence[Path] = ()) -> float:
    """Megabytes (10⁶ bytes) of resident memory that a baseline search adds to the imported, compiled library; in a process of its own."""
    command = _searching(name, "BASELINE", iterations, files)
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _searching(name: str, strategy: str, iterations: int, files: Sequence[Path]) -> list[str]:
    """The command of a process that makes a search of so many iterations, and tells what memory that took."""
    return [sys.executable, "-m", "icarus.bench.costs", name, strategy, *map(str, files), str(iterations)]


FIRST_SEARCH = """
import sys, time
started = time.process_time()
import icarus
imported = time.process_time()
name, *files = sys.argv[1:]
if files:
    from pathlib import Path
    from icarus.load_files import load_files
    load_files(map(Path, files))
state = icarus.games.load(name).new_initial_state(seed=1)
while state.is_chance_node():
    state.apply_action(state.legal_actions()[0])
icarus.search(state, icarus.parse('BASELINE'), iterations=10)
print(imported - started, time.process_time() - started)
"""


@attrs.frozen
class Start:
    """Seconds of processor time of a process of its own: to import the library, and to the end of a first small search.

    Attributes:
        imported: `import icarus`.
        warm: import and search, where all machine code is on the disk.
        cold: the same where nothing is, and all of it is compiled.
    """

    imported: float
    warm: float
    cold: float


def start(name: str, files: Sequence[Path] = ()) -> Start:
    """The first search by the baseline in a game, in a cache of machine code of its own: cold, and then warm."""
    command = [sys.executable, "-c", FIRST_SEARCH, name, *map(str, files)]

    def seconds() -> tuple[float, ...]:
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        return tuple(map(float, done.stdout.split()))

    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "ICARUS_CACHE_DIR": cache}
        (_, cold), (imported, warm) = seconds(), seconds()
    return Start(imported, warm, cold)


def _resident() -> int:
    """Bytes of this process in memory at their highest."""
    status = Path("/proc/self/status")
    if status.exists():  # the kernel's other count begins with the parent's memory
        return int(status.read_text().split("VmHWM:")[1].split()[0]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _grown(name: str, text: str, files: Sequence[Path], iterations: int) -> float:
    strategy = parse(text, **load_files(files))
    state = opening(name)
    CompiledSearch(state, strategy, 0).run(2)
    before = _resident()
    CompiledSearch(state, strategy, 0).run(iterations)
    return (_resident() - before) / 1e6


@attrs.frozen
class Length:
    """What searches of a length come to.

    Attributes:
        iterations: of the search.
        microseconds: for each iteration.
        bytes, records: of the tables.
    """

    iterations: int
    microseconds: float
    bytes: int
    records: int


def growth(name: str, counts: tuple[int, ...]) -> list[Length]:
    """What baseline searches of several lengths come to."""
    state, rows = opening(name), []
    CompiledSearch(state, BASELINE, 0).run(2)
    for count in counts:
        search = CompiledSearch(state, BASELINE, 0)
        started = time.perf_counter()
        search.run(count)
        each = (time.perf_counter() - started) / count * 1e6
        rows.append(Length(count, each, sum(t.nbytes for t in search.tables), sum(t.used for t in search.tables)))
    return rows


# ------------------------------------------------------------------------------------------------------------ several threads


@attrs.frozen
class Gain:
    """How many times the iterations of one thread several make in the same time by the clock, medians of alternating runs.

    Attributes:
        game, subject: what was run.
        times: as many.
    """

    game: str
    subject: str
    times: float


def gain(name: str, strategy: Enhancement, threads: int, iterations: int, repeats: int) -> Gain:
    """What several threads gain in searches of so many iterations for each of them."""
    state = opening(name)
    seconds: dict[int, list[float]] = {1: [], threads: []}
    for repeat in range(-1, repeats):  # the first time, what is not yet compiled is
        for count, times in seconds.items():
            running = start_search(state, strategy, repeat + 1, count)
            started = time.perf_counter()
            running.run(count * iterations if repeat >= 0 else 2 * count)
            if repeat >= 0:
                times.append((time.perf_counter() - started) / count)
            running.close()
    alone, together = (statistics.median(times) for times in seconds.values())
    return Gain(name, str(strategy), alone / together)


# ------------------------------------------------------------------------------------------------------- misses of the cache

PERF = "perf"  # Linux's own, if it is installed and may count
EVENT = "cache-misses"


class NoCounts(RuntimeError):
    """Misses of the cache cannot be counted here; the message says why."""


def cache_misses(name: str, strategy: Enhancement, iterations: int, files: Sequence[Path] = ()) -> float:
    """Misses of the last cache in an iteration: those of a process that searches, less those of one that only gets ready.

    Raises:
        NoCounts: there is no perf, or it may not count, or the processor has no counter for it.
    """
    least, most = (_count_misses(_searching(name, str(strategy), count, files)) for count in (1, iterations + 1))
    return (most - least) / iterations


def _count_misses(searching: list[str]) -> float:
    if shutil.which(PERF) is None:
        raise NoCounts(f"{PERF} is not installed; it comes with Linux")
    with tempfile.NamedTemporaryFile("r") as output:
        counting = [PERF, "stat", "-x", ",", "-e", f"{EVENT}:u", "-o", output.name, "--"]
        done = subprocess.run([*counting, *searching], capture_output=True, text=True)
        counts = [line.split(",")[0] for line in output.read().splitlines() if EVENT in line]
    if done.returncode != 0 or not counts:
        last = (done.stderr.strip() or "it prints nothing").splitlines()[-1]
        raise NoCounts(f"{PERF} is not permitted to count here: {last}")
    if not counts[0].isdigit():
        raise NoCounts(f"{PERF} reports {EVENT} as {counts[0]}: this machine has no counter for them")
    return float(counts[0])


# ------------------------------------------------------------------------------------------------------------------- pictures


def draw(path: Path, grown: dict[str, list[Length]], gains: Sequence[Gain], threads: int) -> None:
    """A picture: time per iteration and memory against iterations, a line for each game, and what threads gain if that was measured."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    panels = 3 if gains else 2
    figure, axes = pyplot.subplots(1, panels, figsize=(6 * panels, 4.5), layout="constrained")
    for (name, rows), marker in zip(grown.items(), itertools.cycle("os^vDP*X")):
        counts = [row.iterations for row in rows]
        axes[0].plot(counts, [row.microseconds for row in rows], marker=marker, label=name)
        axes[1].plot(counts, [row.bytes / row.records for row in rows], marker=marker, label=name)
    for axis, label in zip(axes, ("microseconds for an iteration", "bytes of tables for a record"), strict=False):
        axis.set(xscale="log", xlabel="iterations", ylabel=label)
        axis.set_ylim(bottom=0)
    if gains:
        labels = [f"{gain.game}\n{gain.subject}" for gain in gains]
        axes[2].barh(np.arange(len(gains)), [gain.times for gain in gains], 0.4)
        axes[2].set_yticks(np.arange(len(gains)), labels, fontsize="small")
        axes[2].set(xlabel=f"iterations of {threads} threads, times those of one", xlim=(0, threads))
        axes[2].invert_yaxis()
    for axis in axes:
        axis.grid(True, alpha=0.25)
        axis.set_axisbelow(True)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0].legend(frameon=False)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)


if __name__ == "__main__":
    name, text, *files, iterations = sys.argv[1:]
    print(_grown(name, text, [Path(file) for file in files], int(iterations)))
