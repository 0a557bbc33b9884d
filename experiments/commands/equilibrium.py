"""The commands that measure how exploitable players are, and how they fare against each other."""

from pathlib import Path
from typing import Annotated

from experiments.analysis.best_responses import best_response_table
from experiments.analysis.enhancement_effects import effects_table, measured_cells, ranking_table
from experiments.analysis.exploitability import exploitability_table
from experiments.analysis.head_to_head import head_to_head_table
from experiments.commands.common import argument, print_table, refresh, require_file, say
from experiments.plan.checks import refusing
from experiments.plan.definition import Refusal
from experiments.plan.equilibrium import IST, PLANS, PST, SIXTEEN, Plan
from experiments.play.best_responses import COUNTERPARTS, compare_best_responses
from experiments.play.exploitability import measure
from experiments.play.head_to_head import play_pairing
from experiments.report.equilibrium_figures import draw
from experiments.report.equilibrium_tables import tables
from experiments.store.measurements import EXPLOITABILITY, HEAD_TO_HEAD, Measurement
from icarus.checks import integer
from icarus.commands.options import value_option
from icarus.equilibrium.measures import STITCHING
from icarus.equilibrium.policies import UNIFORM

Kept = Annotated[Path, value_option("DIR", "Directory for the rows; measurements in it are not repeated.")]


def exploitability(
    out: Kept,
    names: Annotated[str, value_option("GAMES", "Games, separated by spaces.", "--games")] = "kuhn-poker leduc-poker",
    players: Annotated[
        list[str] | None,
        value_option(
            "STRATEGY",
            'A strategy, "OOS(…)" or "ISMCTS(…)"; repeatable; default: the sixteen of Table 1, IST and PST.',
            "--player",
        ),
    ] = None,
    iterations: Annotated[
        list[int] | None, value_option("N", "Iterations of each search; repeatable; default: 100 and 1000.")
    ] = None,
    seeds: Annotated[int, value_option("N", "Seeds of each measurement.")] = 3,
    method: Annotated[
        str,
        value_option("METHOD", '"stitching", "aggregate", "aggregate-aamas", or "root" (one search from the deal).'),
    ] = STITCHING,
    matches: Annotated[int, value_option("N", "Matches of an aggregate method.")] = 100,
    missing: Annotated[
        str, value_option("POLICY", 'Policy where no search was made: "uniform" or "a fixed random action".')
    ] = UNIFORM,
) -> None:
    """Measure how far searches are from equilibrium (Lanctot, Lisý and Bowling, 2015)."""
    budgets = tuple(iterations or (100, 1000))
    with refusing():
        for budget in budgets:
            integer("iterations", budget, least=1)
        integer("seeds", seeds, least=1)
        integer("matches", matches, least=1)
    agents = tuple(players or (*SIXTEEN, IST, PST))
    plan = Plan(tuple(names.split()), agents, budgets, seeds, method, matches, missing)
    print_table(exploitability_table(measure(plan, out, _log)))


def equilibrium(
    names: Annotated[list[str], argument("PLAN", f"Plans: {', '.join(PLANS)}; or all.")], out: Kept
) -> None:
    """Make the measurements of the papers on Online Outcome Sampling, or the rest of them; see docs/equilibrium.md."""
    plans = list(PLANS) if names == ["all"] else names
    for name in plans:
        if name not in PLANS:
            raise Refusal(f"{name!r} is not a plan; known plans: {', '.join(PLANS)}; or all")
    for name in plans:
        for plan in PLANS[name]:
            if isinstance(plan, Plan):
                print_table(exploitability_table(measure(plan, out, _log)))
            else:
                print_table(head_to_head_table(play_pairing(plan, out, _log)))


Rows = Annotated[Path, argument("DIR", "Directory of the rows.")]


def equilibrium_effects(directory: Rows) -> None:
    """Rank the sixteen combinations by exploitability, and print what each enhancement adds, from the rows of a directory."""
    _refuse_unless_there(directory)
    cells = measured_cells(EXPLOITABILITY.read(directory).values())
    if not cells:
        raise Refusal(
            f"{str(directory)!r} has no game in which all sixteen combinations were measured by full stitching"
        )
    print_table(ranking_table(cells))
    print_table(effects_table(cells))


def equilibrium_figures(
    directory: Rows,
    into: Annotated[Path, value_option("DIR", "Directory for the pictures, PNG and SVG.")],
    page: Annotated[Path | None, value_option("FILE", "Page whose tables are made again: docs/equilibrium.md.")] = None,
) -> None:
    """Draw the figures of the papers on Online Outcome Sampling from the rows of a directory, also if some rows are missing."""
    _refuse_unless_there(directory)
    if page is not None:
        require_file(page)
        rows, blocks = (list(ledger.read(directory).values()) for ledger in (EXPLOITABILITY, HEAD_TO_HEAD))
        refresh(page, tables(rows, blocks))
    for path in draw(directory, into):
        say(str(path))


def best_response(
    names: Annotated[str, value_option("GAMES", "Games, separated by spaces.", "--games")] = " ".join(COUNTERPARTS),
    repeats: Annotated[int, value_option("N", "Runs of each program, alternating; medians are shown.")] = 1,
) -> None:
    """Compare time and memory of the exploitability of uniform choice with OpenSpiel's C++, which needs minutes for Goofspiel(6)."""
    with refusing():
        integer("repeats", repeats, least=1)
    print_table(best_response_table([compare_best_responses(name, repeats, say) for name in names.split()]))


def _refuse_unless_there(directory: Path) -> None:
    if not directory.is_dir():
        raise Refusal(f"there is no directory {str(directory)!r}")


def _log(done: int, total: int, row: Measurement) -> None:
    who = row["player"] if "player" in row else f"{row['one']} against {row['other']}"
    which = f"seed {row['seed']}" if "seed" in row else f"block {row['block']}"
    say(f"{done} of {total}; now {who} in {row['game']}, {row['iterations']} iterations, {which}")
