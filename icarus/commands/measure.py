"""`icarus bench` and `icarus exploitability`: how fast searches are, and how far from an equilibrium."""

import itertools
from typing import Annotated

import typer

from icarus import bench, games
from icarus.arena.player import read_scheme
from icarus.checks import integer, one_of
from icarus.commands import options
from icarus.commands.console import notes, out, print_note, print_table, print_text, progress_of, show_compilation
from icarus.commands.options import (
    DEFAULT_ITERATIONS,
    With,
    agent_settings,
    game_and_files,
    integer_option,
    iterations_option,
    split_names,
    value_option,
)
from icarus.engine.match import Agent
from icarus.engine.search import check_budget
from icarus.equilibrium import Aggregate, GameTree, TabularPolicy, exploitability, stitch
from icarus.equilibrium.measures import AGGREGATE, STITCHING
from icarus.load_files import load_files
from icarus.specs import parse

RATES = ("subject", "per second", "spread", "× peer", "× base")


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
        games.load(name)
    texts = bench.STRATEGIES if strategies is None else split_names(strategies)
    parsed = [parse(text, **own_names) for text in texts]
    check_budget(iterations, None)
    integer("--repeats", repeats, 1)
    with show_compilation(), notes.status("") as status:
        measured = bench.measure(
            chosen, parsed, iterations=iterations, repeats=repeats, peer=peer, progress=status.update
        )
    print_rates(measured)


def print_rates(measured: list[bench.Measurement]) -> None:
    """A row for each game and subject: under the name of its game on a terminal, which is narrow, with it elsewhere.

    The columns are the median rate, the distance of its quartiles as a share of it, and the rate as a multiple of OpenSpiel's
    and of BASELINE's.
    """
    ratios = bench.ratios(measured)
    baselines = {m.game: m.median for m in measured if m.subject == "BASELINE"}
    rows = [
        (
            m.game,
            m.subject,
            f"{m.median:,.0f}",
            f"{(m.quartiles[1] - m.quartiles[0]) / m.median:.0%}",
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


DEFAULT_ITERATIONS, DEFAULT_MATCHES = 1000, 100


def exploitability_command(
    context: typer.Context,
    game: options.GameName,
    strategy: Annotated[
        str | None,
        value_option(
            "STRATEGY",
            'A strategy, "RAVE >> MAST", or "OOS(target=\'public subgame\', delta=0.9)". The uniform policy if not given.',
        ),
    ] = None,
    scheme: Annotated[str, value_option("SCHEME", "Search scheme of a strategy, as in icarus search.")] = (
        options.DEFAULT_SCHEME
    ),
    iterations: Annotated[int | None, iterations_option(DEFAULT_ITERATIONS)] = None,
    seconds: options.Seconds = None,
    method: Annotated[
        str,
        value_option(
            "METHOD",
            '"stitching": a search in every information set; "aggregate": the sum of the searches of many matches.',
        ),
    ] = STITCHING,
    matches: Annotated[
        int | None, integer_option(f"Matches of the aggregate method; {DEFAULT_MATCHES} if not given.", min=1)
    ] = None,
    seed: options.Seed = 0,
    files: options.With = None,
) -> None:
    """Measure how exploitable a search is.

    Without --strategy the uniform policy is measured."""
    loaded, names, _ = options.load_game(game, files)
    one_of("--method", method, (STITCHING, AGGREGATE))
    if matches is not None and method == STITCHING:
        raise ValueError(f"--matches is {matches}, but --method {STITCHING} plays no matches")
    if strategy is None:
        options.refuse_options(context, ("iterations", "seconds", "method"), "these need a search, by --strategy")
    agent = None
    if strategy is not None:
        settings = agent_settings(strategy, names, read_scheme(scheme))
        if settings["move_decay"] and method == STITCHING:
            raise ValueError(f"--method {STITCHING} searches each decision anew: leave out move_decay")
        iterations = DEFAULT_ITERATIONS if iterations is None and seconds is None else iterations
        agent = Agent(iterations=iterations, seconds=seconds, **settings)
    with show_compilation():
        tree = GameTree(loaded)
        policy = None if agent is None else _measure(tree, agent, method, matches or DEFAULT_MATCHES, seed)
        result = exploitability(tree, policy)
    what = "uniform choice" if agent is None else f"{agent}, by {method}"
    print_text(f"{what}: {result}")


def _measure(tree: GameTree, agent: Agent, method: str, matches: int, seed: int) -> TabularPolicy:
    """The whole policy of a search, by a method, with a bar of progress."""
    if method == STITCHING:
        with progress_of("parts of the game", None) as show:
            return stitch(tree, agent, seed=seed, progress=lambda done, parts: show(done, total=parts))
    aggregate = Aggregate(tree, agent, seed=seed)
    with progress_of("matches", matches) as show:
        try:
            for number in range(matches):
                aggregate.play(1)
                show(number + 1)
        except KeyboardInterrupt:
            if aggregate.matches == 0:
                raise
            print_note(f"stopped after {aggregate.matches} of {matches} matches")
        return aggregate.policy
