"""`icarus bench` and `icarus exploitability`: how fast searches are, and how far from an equilibrium."""

from typing import Annotated

import typer

from icarus import bench, games
from icarus.commands import options
from icarus.commands.console import notes, print_table, print_text, progress_of, show_compilation
from icarus.commands.options import game_and_files, integer_option, iterations_option, split_names, value_option
from icarus.equilibrium import GameTree, exploitability, stitch
from icarus.load_files import load_files
from icarus.specs import parse


def bench_command(
    names: Annotated[
        str | None,
        value_option("GAMES", "Games or FILE.py with a game, separated by commas; all if not given.", "--games"),
    ] = None,
    strategies: Annotated[
        str | None, value_option("STRATEGIES", "Strategies, separated by commas; a typical seven if not given.")
    ] = None,
    iterations: Annotated[int, integer_option("Iterations of a search.", min=1)] = options.DEFAULT_ITERATIONS,
    repeats: Annotated[int, integer_option("Runs of each, in alternation; the median is shown.", min=1)] = 5,
    files: options.With = None,
) -> None:
    """Measure iterations per second.

    The columns are the median rate, the distance of its quartiles as a share of it, and the rate as a multiple of OpenSpiel's C++, where
    it is installed and has the game, and of BASELINE's. All are measured in the same run: on a shared machine only ratios count.
    """
    chosen, all_files = list[str](), list(files or ())
    for game in games.names() if names is None else split_names(names):
        name, all_files = game_and_files(game, all_files)
        chosen.append(name)
    own_names = load_files(all_files)
    for name in chosen:
        games.load(name)
    texts = bench.STRATEGIES if strategies is None else split_names(strategies)
    parsed = [parse(text, **own_names) for text in texts]
    with show_compilation(), notes.status("") as status:
        speeds = bench.measure(chosen, parsed, iterations, repeats, status.update)
    medians = {(each.game, each.subject): each.median for each in speeds}
    rows = []
    for each in speeds:
        peers = [medians.get((each.game, subject)) for subject in (bench.PEER, "BASELINE")]
        ratios = [f"{each.median / peer:.2f}" if peer else "" for peer in peers]
        rows.append([each.game, f"{each.median:,.0f}", f"{each.spread:.0%}", *ratios, each.subject])
    print_table(("game", "per second", "spread", f"× {bench.PEER}", "× BASELINE", "subject"), rows)


DEFAULT_ITERATIONS = 1000
STRATEGY_HELP = (
    'A strategy, "RAVE >> MAST", or "OOS(target=\'public subgame\', delta=0.9)". The uniform policy if not given.'
)


def exploitability_command(
    context: typer.Context,
    game: options.GameName,
    strategy: Annotated[str | None, value_option("STRATEGY", STRATEGY_HELP)] = None,
    scheme: options.Scheme = options.DEFAULT_SCHEME,
    iterations: Annotated[int | None, iterations_option(DEFAULT_ITERATIONS)] = None,
    seconds: options.Seconds = None,
    seed: options.Seed = 0,
    files: options.With = None,
) -> None:
    """Measure how exploitable a search is.

    Without --strategy the uniform policy is measured."""
    loaded = options.load_game(game, files)
    agent, what = None, "uniform choice"
    if strategy is None:
        options.refuse_options(context, ("iterations", "seconds"), "these need a search, by --strategy")
    else:
        iterations = DEFAULT_ITERATIONS if iterations is None and seconds is None else iterations
        agent = loaded.agent(strategy, scheme, iterations=iterations, seconds=seconds)
        if agent.move_decay:
            raise ValueError("each decision is searched anew: leave out move_decay")
        what = f"{agent}, by stitching"
    with show_compilation():
        tree = GameTree(loaded.game)
        policy = None
        if agent is not None:
            with progress_of("parts of the game", None) as show:
                policy = stitch(tree, agent, seed=seed, progress=lambda done, parts: show(done, total=parts))
        print_text(f"{what}: {exploitability(tree, policy)}")
