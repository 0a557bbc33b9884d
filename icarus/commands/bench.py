"""`icarus bench`: how fast searches are, as a table."""

import itertools
import math
from pathlib import Path
from typing import Annotated

import typer

from icarus import bench, games
from icarus.checks import integer
from icarus.commands.console import notes, out, print_table, print_text, show_compilation
from icarus.commands.options import DEFAULT_ITERATIONS, With, game_and_files, integer_option, split_names, value_option
from icarus.engine.validation import COMPILED, check_budget, checked_engine
from icarus.load_files import load_files
from icarus.specs import parse
from icarus.views.document import check_new_file

RATES = ("subject", "per second", "spread", "ns/step", "× peer", "× base")


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
    into: Annotated[Path | None, value_option("FILE", "Write all figures to this new file.", "--json")] = None,
    files: With = None,
) -> None:
    """Measure iterations per second.

    OpenSpiel's C++ is measured in the same run: on a shared machine only ratios count.
    """
    chosen, all_files = list[str](), list(files or ())
    for game in games.names() if names is None else split_names(names):
        name, all_files = game_and_files(game, all_files)
        chosen.append(name)
    own_names = load_files(all_files)
    for name in chosen:
        checked_engine(COMPILED, games.load(name), threads=1)
    texts = bench.STRATEGIES if strategies is None else split_names(strategies)
    parsed = [parse(text, **own_names) for text in texts]
    check_budget(iterations, None)
    integer("--repeats", repeats, 1)
    if into is not None:
        check_new_file(into)
    with show_compilation(), notes.status("") as status:
        measured = bench.measure(
            chosen, parsed, iterations=iterations, repeats=repeats, peer=peer, progress=status.update
        )
    if into is not None:
        bench.save(into, measured)
    print_rates(measured)


def print_rates(measured: list[bench.Measurement]) -> None:
    """A row for each game and subject: under the name of its game on a terminal, which is narrow, with it elsewhere.

    The columns are the median rate, the distance of its quartiles as a share of it, the time of a step of a playout, and the
    rate as a multiple of OpenSpiel's and of BASELINE's.
    """
    ratios = bench.ratios(measured)
    baselines = {m.game: m.median for m in measured if m.subject == "BASELINE"}
    rows = [
        (
            m.game,
            m.subject,
            f"{m.median:,.0f}",
            f"{(m.quartiles[1] - m.quartiles[0]) / m.median:.0%}",
            "" if math.isnan(m.step_nanoseconds) else f"{m.step_nanoseconds:.0f}",
            f"{ratios[m.game, m.subject]:.1f}" if (m.game, m.subject) in ratios else "",
            f"{m.median / baselines[m.game]:.2f}" if m.game in baselines else "",
        )
        for m in measured
    ]
    if not out.is_terminal:
        print_table(("game", *RATES), rows)
        return
    for game, of_game in itertools.groupby(rows, key=lambda row: row[0]):
        print_table(RATES, [row[1:] for row in of_game], game)
    print_text(f"\nspread: from quartile to quartile; peer: {bench.PEER}; base: BASELINE")
