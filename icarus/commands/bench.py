"""`icarus bench`: how fast searches are, as tables."""

import itertools
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated

import typer

from icarus import games
from icarus.algebra import Enhancement
from icarus.algebra.parsing import Operand
from icarus.bench import costs, speed
from icarus.checks import integer
from icarus.commands.console import notes, out, print_note, print_table, print_text, show_compilation
from icarus.commands.options import (
    DEFAULT_ITERATIONS,
    With,
    check_picture,
    game_and_files,
    integer_option,
    split_names,
    value_option,
)
from icarus.engine.validation import COMPILED, check_budget, checked_engine
from icarus.load_files import load_files
from icarus.specs import parse
from icarus.views.document import check_new_file

GROWTH = (3, 7)  # the least and the greatest power of ten that --growth takes


def bench_command(
    names: Annotated[
        str | None,
        value_option("GAMES", "Games or FILE.py with a game, separated by commas; all if not given.", "--games"),
    ] = None,
    strategies: Annotated[
        str | None, value_option("STRATEGIES", "Strategies, separated by commas; a typical seven if not given.")
    ] = None,
    iterations: Annotated[int, integer_option("Iterations of a search.")] = DEFAULT_ITERATIONS,
    repeats: Annotated[int, integer_option("Runs of each, in alternation; the median is shown.")] = 5,
    peer: Annotated[bool, typer.Option(help="Also run OpenSpiel, where it is installed and has the game.")] = True,
    memory: Annotated[
        int, integer_option("Also measure the memory of a BASELINE search of this many iterations. 0: no.")
    ] = 0,
    growth: Annotated[
        int, integer_option("Also measure time and memory up to 10^N iterations, N from 3 to 7. 0: no.")
    ] = 0,
    starts: Annotated[
        bool, typer.Option(help="Also measure the first search, with cached machine code and with none.")
    ] = False,
    threads: Annotated[int, integer_option("Also measure the speed-up by this many threads, 2 or more. 0: no.")] = 0,
    misses: Annotated[
        bool, typer.Option("--cache-misses", help="Also count cache misses of the processor, where perf can.")
    ] = False,
    into: Annotated[Path | None, value_option("FILE", "Write all figures to this new file.", "--json")] = None,
    picture: Annotated[
        Path | None, value_option("FILE", "Draw growth (needs --growth) and threads, as PNG or SVG.")
    ] = None,
    files: With = None,
) -> None:
    """Measure iterations per second.

    OpenSpiel's C++ is measured in the same run: on a shared machine only ratios count.
    """
    chosen, files, own_names = _load_games(names, files)
    parsed = [
        parse(text, **own_names) for text in (speed.STRATEGIES if strategies is None else split_names(strategies))
    ]
    pairs = list(itertools.product(chosen, parsed))
    check_budget(iterations, None)
    integer("--repeats", repeats, 1)
    integer("--memory", memory, 0)
    if growth != 0:
        integer("--growth", growth, *GROWTH)
    elif picture is not None:
        raise ValueError("--picture draws the growth; it needs --growth 6 or so")
    if picture is not None:
        check_picture(picture, ".png", ".svg")
    if threads != 0:
        integer("--threads", threads, 2)
    if into is not None:
        check_new_file(into)
    with show_compilation(), notes.status("") as status:
        measured = speed.measure(
            chosen, parsed, iterations=iterations, repeats=repeats, peer=peer, progress=status.update
        )
        used = []
        for name, strategy in pairs:
            status.update(f"{name}: {strategy}, tables")
            used.append(costs.use_of_tables(name, strategy, iterations))
        gains = []
        for name, strategy in pairs if threads else ():
            status.update(f"{name}: {strategy}, {threads} threads")
            gains.append(costs.gain(name, strategy, threads, iterations, repeats))
        status.update("memory, starts, growth")
        megabytes = {name: costs.memory(name, memory, files) for name in chosen} if memory else {}
        started_up = {name: costs.start(name, files) for name in chosen} if starts else {}
        counts = tuple(10**power for power in range(GROWTH[0], growth + 1))
        grown = {name: costs.growth(name, counts) for name in chosen} if growth else {}
        missed = _misses(pairs, iterations, files) if misses else {}
    if into is not None:
        report = {"tables": used, "threads": gains, "memory": megabytes, "start": started_up, "growth": grown}
        speed.save(into, measured, cache_misses=[[*pair, count] for pair, count in missed.items()], **report)
    print_rates(measured)
    print_use(used)
    print_others(megabytes, started_up, gains, threads, missed, grown)
    if picture is not None:
        costs.draw(picture, grown, gains, threads)
        print_text(f"picture: {picture}")


def _misses(
    pairs: Iterable[tuple[str, Enhancement]], iterations: int, files: Sequence[Path]
) -> dict[tuple[str, str], float]:
    """Misses of the cache in an iteration, by game and strategy; none, and a sentence why, where they cannot be counted."""
    try:
        return {(name, str(each)): costs.cache_misses(name, each, iterations, files) for name, each in pairs}
    except costs.NoCounts as error:
        print_note(f"icarus: no cache misses: {error}")
        return {}


def _load_games(names: str | None, files: list[Path] | None) -> tuple[list[str], list[Path], dict[str, Operand]]:
    """The names of the games, which can be compiled; the files, those of games among them; and what they define for strategies."""
    chosen, all_files = list[str](), list(files or ())
    for game in games.names() if names is None else split_names(names):
        name, all_files = game_and_files(game, all_files)
        chosen.append(name)
    own_names = load_files(all_files)
    for name in chosen:
        checked_engine(COMPILED, games.load(name), threads=1)
    return chosen, all_files, own_names


RATES = ("subject", "per second", "spread", "ns/step", "× peer", "× base")


def print_rates(measured: list[speed.Measurement]) -> None:
    """A row for each game and subject: under the name of its game on a terminal, which is narrow, with it elsewhere.

    The columns are the median rate, the distance of its quartiles as a share of it, the time of a step of a playout, and the
    rate as a multiple of OpenSpiel's and of BASELINE's.
    """
    ratios = speed.ratios(measured)
    baselines = {m.game: m.median for m in measured if m.subject == "BASELINE"}
    rows = [
        (
            m.game,
            m.subject,
            f"{m.median:,.0f}",
            f"{(m.quartiles[1] - m.quartiles[0]) / m.median:.0%}",
            "" if math.isnan(m.step_nanoseconds) else f"{m.step_nanoseconds:.0f}",
            f"{ratios[m.game, m.subject]:.1f}" if ratios.get((m.game, m.subject)) else "",
            f"{m.median / baselines[m.game]:.2f}" if m.game in baselines else "",
        )
        for m in measured
    ]
    _print_by_game(RATES, rows, f"spread: from quartile to quartile; peer: {speed.PEER}; base: BASELINE")


def _print_by_game(columns: Sequence[str], rows: Iterable[Sequence[str]], legend: str) -> None:
    """Rows that begin with a game: on a terminal a table for each game, with a legend; elsewhere one table."""
    if not out.is_terminal:
        print_table(("game", *columns), rows)
        return
    for game, of_game in itertools.groupby(rows, key=lambda row: row[0]):
        out.print(f"\n[bold]{game}[/bold]")
        print_table(columns, [row[1:] for row in of_game])
    print_text(f"\n{legend}")


def print_use(used: Iterable[costs.TableUse]) -> None:
    """What each strategy makes of its tables in each game, a row for each."""
    out.print()
    rows = [
        (use.game, use.subject, f"{use.updates:.0f}", f"{use.records:.1f}", f"{use.bytes:.0f}", f"{use.probes:.2f}")
        for use in used
    ]
    columns = ("subject", "updates", "records", "bytes", "probes")
    _print_by_game(columns, rows, "updates, records: for each iteration; bytes, probes: for each record")


def print_others(
    megabytes: dict[str, float],
    started_up: dict[str, costs.Start],
    gains: Iterable[costs.Gain],
    threads: int,
    missed: dict[tuple[str, str], float],
    grown: dict[str, list[costs.Length]],
) -> None:
    """A table for each other thing that was measured.

    Memory is above that of the imported library; starts are processor time of the import, and from there to the end of a first search;
    gains say how many times the iterations of one thread several make; misses are of the last cache, in an iteration.
    """
    starts = [(game, f"{s.imported:.2f}", f"{s.warm:.2f}", f"{s.cold:.1f}") for game, s in started_up.items()]
    lengths = [
        (game, f"{at.iterations:,}", f"{at.microseconds:.1f}", f"{at.bytes / 1e6:.1f}", f"{at.bytes / at.records:.0f}")
        for game, of_game in grown.items()
        for at in of_game
    ]
    for columns, rows in (
        (("game", "memory, MB"), [(game, f"{cost:.2f}") for game, cost in megabytes.items()]),
        (("game", "import, s", "first search, s", "compiling all, s"), starts),
        (("game", "subject", f"{threads} threads"), [(gain.game, gain.subject, f"{gain.times:.2f}") for gain in gains]),
        (("game", "subject", "cache misses"), [(*pair, f"{count:.1f}") for pair, count in missed.items()]),
        (("game", "iterations", "µs each", "tables, MB", "bytes a record"), lengths),
    ):
        if rows:
            out.print()
            print_table(columns, rows)
