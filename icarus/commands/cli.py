"""The command `icarus`: look at games and specifications, search a position, play matches, audit games."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from icarus import games
from icarus.algebra import Enhancement
from icarus.checks import seed as check_seed
from icarus.commands.audit import DETERMINIZATIONS, GAMES, audit
from icarus.commands.console import notes, out, show_compilation
from icarus.commands.own_files import load_files
from icarus.commands.play import play_command
from icarus.engine.match import Agent, Decision, GameRecord, play
from icarus.engine.parallel import ROOTS, check_threads
from icarus.engine.scheme import SCHEMES, parse_scheme
from icarus.engine.search import SearchInterrupted, check_budget, check_scheme, search
from icarus.kernel import CHANCE
from icarus.kernel.game import Game
from icarus.kernel.state import State
from icarus.specs import SPECIFICATIONS, parse
from icarus.views.tree_page import check_new_file

try:
    import typer
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.table import Table
except ModuleNotFoundError as missing:
    raise SystemExit(f"the command icarus needs {missing.name}: pip install 'icarus[cli]'") from None

app = typer.Typer(
    help="Information capture and reuse strategies in Monte Carlo tree search.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

FAILED, BAD_INPUT, INTERRUPTED = 1, 2, 130

GameName = Annotated[
    str,
    typer.Argument(metavar="GAME", help='A game, see "icarus games"; with parameters: "knockout-whist(players=3)".'),
]
Iterations = Annotated[int | None, typer.Option(help="Playouts for each decision.")]
Seconds = Annotated[float | None, typer.Option(help="Wall-clock time for each decision instead.")]
Seed = Annotated[int, typer.Option(help="Fixes everything: the deal, chance and the searches.")]
Threads = Annotated[int, typer.Option(help="How many threads search at once; the playouts are those of all together.")]
Sharing = Annotated[
    str, typer.Option(help='What they share: "roots" (reproducible) or "records" (one tree; not reproducible).')
]
With = Annotated[
    list[Path] | None,
    typer.Option(
        "--with",
        metavar="FILE.py",
        help="A Python file whose enhancements, weights and games may be named here; repeatable.",
    ),
]
_SCHEMES = f'One of {", ".join(map(str, SCHEMES.values()))}; also with EXP3, "MO_ISMCTS with EXP3". Cheating ones see what is hidden.'
DEFAULT_ITERATIONS, DEFAULT_SCHEME = 5000, "MO_ISMCTS"


def _strategy(text: str, own: dict[str, Any]) -> Enhancement:
    return parse(text, **own)


@app.command("games")
def list_games() -> None:
    """List the games."""
    table = Table("game", "players", "information", "in a line")
    for name in games.names():
        game = games.load(name)
        hidden = "perfect" if game.determinize is None else "hidden"
        chance = ", chance" if game.chance is not None else ""
        table.add_row(str(game), str(game.players), hidden + chance, _first_line(game))
    out.print(table)


def _first_line(game: Game) -> str:
    return (sys.modules[game.initial.__module__].__doc__ or "").strip().split("\n")[0]


@app.command("specs")
def list_specifications(
    show: Annotated[
        str | None, typer.Option(metavar="STRATEGY", help="Print the seven slots of an enhancement or a composition.")
    ] = None,
    files: With = None,
) -> None:
    """List the enhancements, or print the specification of one as the paper lays it out."""
    if show is not None:
        out.print(_strategy(show, load_files(files or [])).specification(), markup=False, soft_wrap=True)
        return
    table = Table("name", "records R", "information Θ", "policy α")
    for name, enhancement in SPECIFICATIONS.items():
        rule = enhancement.policy.rule if len(enhancement.components) == 1 else enhancement.name
        table.add_row(name, str(enhancement.records), str(enhancement.information), str(rule))
    out.print(table)
    out.print("Compose them with >>, +, / and ^; icarus specs --show MAST prints one.")


def _state(game: Game, seed: int, moves: str) -> State:
    """The state after some moves, chance played out by the seed where the moves do not say."""
    state = game.new_initial_state(seed=seed)
    for text in moves.split():
        state.apply_action(state.string_to_action(text))
    return state


@app.command("search")
def search_command(
    game: GameName,
    strategy: Annotated[str, typer.Option(help='A strategy, such as "RAVE >> (MAST + NAST2)/2".')] = "BASELINE",
    iterations: Iterations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    moves: Annotated[str, typer.Option(help='Actions played before, in the game\'s notation: "d3 c5".')] = "",
    scheme: Annotated[str, typer.Option(help=f"The search. {_SCHEMES}")] = DEFAULT_SCHEME,
    threads: Threads = 1,
    sharing: Sharing = ROOTS,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write the tree into this new file, for a browser."),
    ] = None,
    files: With = None,
) -> None:
    """Search one position and print what was found for each action."""
    if html is not None:
        check_new_file(html)
    own = load_files(files or [])
    found = _strategy(strategy, own)
    if iterations is None and seconds is None:
        iterations = DEFAULT_ITERATIONS
    check_budget(iterations, seconds)
    check_seed(seed)
    check_threads(threads, sharing)
    by = parse_scheme(scheme)
    check_scheme(by, iterations, threads, sharing)
    loaded = games.load(game)
    with show_compilation():
        state = _state(loaded, seed, moves)
        while state.is_chance_node():
            outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(np.random.default_rng(seed).choice(outcomes, p=probabilities)))
        out.print(str(state), markup=False, soft_wrap=True)
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        with Progress(*columns, console=notes, transient=True) as bar:
            task = bar.add_task("iterations", total=iterations)
            try:
                result = search(
                    state,
                    found,
                    iterations=iterations,
                    seconds=seconds,
                    seed=seed,
                    threads=threads,
                    sharing=sharing,
                    scheme=by,
                    progress=lambda made, _: bar.update(task, completed=made),
                )
            except SearchInterrupted as interrupted:
                bar.stop()
                out.print(str(interrupted.result), markup=False, soft_wrap=True)
                raise typer.Exit(INTERRUPTED) from None
    out.print(str(result), markup=False, soft_wrap=True)
    if html is not None:
        result.to_html(html)
        out.print(f"tree: {html}", markup=False, soft_wrap=True)


@app.command("match")
def match_command(
    game: GameName,
    strategies: Annotated[
        list[str], typer.Argument(metavar="A B …", help="A strategy for each seat; the last takes those left over.")
    ],
    number: Annotated[
        int, typer.Option("--games", help="How many games; the strategies change seats after each.")
    ] = 10,
    iterations: Iterations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    threads: Threads = 1,
    sharing: Sharing = ROOTS,
    schemes: Annotated[
        list[str] | None, typer.Option("--scheme", help=f"The search of all strategies, or repeated. {_SCHEMES}")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print every state and decision.")] = False,
    files: With = None,
) -> None:
    """Play games between strategies and count the results."""
    own = load_files(files or [])
    if number < 1:
        raise ValueError(f"--games is {number}; it must be at least 1")
    if iterations is None and seconds is None:
        iterations = DEFAULT_ITERATIONS
    check_seed(seed)
    loaded = games.load(game)
    if len(strategies) > loaded.players or (len(strategies) < 2 <= loaded.players):
        raise ValueError(f"{loaded} has {loaded.players} seats; {len(strategies)} strategies do not fit")
    found = [parse_scheme(text) for text in schemes or [DEFAULT_SCHEME]]
    if len(found) not in (1, len(strategies)):
        raise ValueError(
            f"--scheme is given {len(found)} times for {len(strategies)} strategies; give it once or for each"
        )
    found *= len(strategies) // len(found)
    agents = [
        Agent(_strategy(text, own), iterations=iterations, seconds=seconds, threads=threads, sharing=sharing, scheme=by)
        for text, by in zip(strategies, found, strict=True)
    ]
    agents += [agents[-1]] * (loaded.players - len(agents))
    rewards: list[list[float]] = [[] for _ in agents]
    columns = TextColumn("games"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    stopped = False
    with show_compilation(), Progress(*columns, console=notes, transient=True, disable=show) as bar:
        task = bar.add_task("games", total=number)
        try:
            for trial in range(number):
                seats = [agents[(seat - trial) % len(agents)] for seat in range(len(agents))]
                record = play(loaded, seats, seed=(seed, trial), watch=_watcher(seats) if show else None)
                for seat, reward in enumerate(record.returns):
                    rewards[(seat - trial) % len(agents)].append(reward)
                if show:
                    _told_end(record)
                bar.advance(task)
        except KeyboardInterrupt:
            stopped = True
    if rewards[0]:
        out.print(_results(agents, rewards))
    if stopped:
        notes.print(f"stopped after {len(rewards[0])} of {number} games")
        raise typer.Exit(INTERRUPTED)


def _results(agents: list[Agent], rewards: list[list[float]]) -> Any:
    table = Table("agent", "games", "wins", "mean reward", "standard error")
    for agent, got in zip(agents, rewards, strict=True):
        mean = sum(got) / len(got)
        spread = (sum((reward - mean) ** 2 for reward in got) / max(1, len(got) - 1) / len(got)) ** 0.5
        table.add_row(
            str(agent), str(len(got)), str(sum(reward == 1 for reward in got)), f"{mean:.3f}", f"{spread:.3f}"
        )
    return table


def _watcher(seats: list[Agent]) -> Callable[[State, int | None, Decision | None], None]:
    def watch(state: State, action: int | None, decision: Decision | None) -> None:
        out.print(str(state), markup=False, soft_wrap=True)
        if action is not None:
            player = state.current_player()
            told = f"{'chance' if player == CHANCE else f'player {player}'}: {state.action_to_string(action)}"
            if decision is not None and decision.iterations:
                told += f"   ({decision.visits} of {decision.iterations} visits, value {decision.value:.3f}, {seats[player].strategy})"
            out.print(told, markup=False, soft_wrap=True)
        out.print()

    return watch


def _told_end(record: GameRecord) -> None:
    rewards = ", ".join(f"player {seat} {reward:g}" for seat, reward in enumerate(record.returns))
    out.print(f"result: {rewards}   ({len(record.actions)} actions, {record.seconds:.1f} s)", soft_wrap=True)


@app.command("bench")
def bench_command(
    names: Annotated[str, typer.Option("--games", help="Games, separated by commas; all of them if not given.")] = "",
    strategies: Annotated[
        str, typer.Option(help="Strategies, separated by commas; a representative seven if not given.")
    ] = "",
    iterations: Annotated[int, typer.Option(help="Playouts of a search.")] = DEFAULT_ITERATIONS,
    repeats: Annotated[int, typer.Option(help="Runs of each, alternating; the median is told.")] = 5,
    peer: Annotated[bool, typer.Option(help="Run OpenSpiel beside, where it is installed and has the game.")] = True,
    memory: Annotated[
        int, typer.Option(help="Also measure the memory of a baseline search of so many iterations; 0 for not.")
    ] = 0,
    growth: Annotated[int, typer.Option(help="Also measure time and memory up to 10^N iterations; 0 for not.")] = 0,
    starts: Annotated[bool, typer.Option(help="Also measure the start of a process with a warm cache.")] = False,
    into: Annotated[Path | None, typer.Option("--json", help="Keep all numbers in this new file.")] = None,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the growth (needs --growth) into this file, PNG or SVG.")
    ] = None,
) -> None:
    """Measure iterations per second, beside OpenSpiel's C++ in the same run; the ratio is what counts on a shared machine."""
    from icarus.commands import bench

    chosen = [name.strip() for name in names.split(",")] if names else games.names()
    for name in chosen:
        games.load(name)
    texts = tuple(text.strip() for text in strategies.split(",")) if strategies else bench.STRATEGIES
    for text in texts:
        parse(text)
    check_budget(iterations, None)
    if repeats < 1 or growth not in (0, *range(3, 8)) or memory < 0:
        raise ValueError("--repeats must be at least 1, --growth 0 or 3 to 7, --memory at least 0")
    if into is not None and into.exists():
        raise ValueError(f"{str(into)!r} exists and is not overwritten")
    with show_compilation(), notes.status("") as status:
        measured = bench.measure(
            chosen, texts, iterations=iterations, repeats=repeats, peer=peer, progress=status.update
        )
        status.update("memory, starts, growth")
        memories = {name: bench.memory(name, "BASELINE", memory) for name in chosen} if memory else {}
        started = {name: bench.start(name, "BASELINE") for name in chosen} if starts else {}
        counts = tuple(10**power for power in range(3, growth + 1))
        grown = {name: bench.growth(name, "BASELINE", counts) for name in chosen} if growth else {}
    out.print(_speeds(measured))
    told_of = (
        ("memory", memories, "MB above the imported library"),
        ("start", started, "s from import to a first result"),
    )
    for title, numbers, unit in told_of:
        for name, number in numbers.items():
            out.print(f"{title} {name}: {number:.2f} {unit}")
    for name, rows in grown.items():
        told = ", ".join(f"{count:,}: {micro:.1f} µs, {size / 1e6:.1f} MB" for count, micro, size in rows)
        out.print(f"growth {name}: {told}")
    if into is not None:
        bench.save(into, measured, memory=memories, start=started, growth=grown)
    if picture is not None and grown:
        bench.draw_growth(picture, grown)
        out.print(f"picture: {picture}")


def _speeds(measured: list[Any]) -> Any:
    from icarus.commands import bench

    compared = bench.ratios(measured)
    baselines = {m.game: m.median for m in measured if m.subject == "BASELINE"}
    table = Table("game", "subject", "per second", "quartiles", "ns/step", "× OpenSpiel", "× baseline")
    for m in measured:
        low, high = m.quartiles
        ratio = compared.get((m.game, m.subject))
        step = "" if m.step_nanoseconds != m.step_nanoseconds else f"{m.step_nanoseconds:.0f}"
        table.add_row(
            m.game,
            m.subject,
            f"{m.median:,.0f}",
            f"{low:,.0f} – {high:,.0f}",
            step,
            f"{ratio:.1f}" if ratio else "",
            f"{m.median / baselines[m.game]:.2f}" if m.game in baselines else "",
        )
    return table


@app.command("audit")
def audit_command(
    game: GameName,
    number: Annotated[int, typer.Option("--games", help="Random games to look at.")] = GAMES,
    determinizations: Annotated[int, typer.Option(help="Draws at each decision.")] = DETERMINIZATIONS,
    seed: Annotated[int, typer.Option(help="Fixes the games and the draws.")] = 0,
    files: With = None,
) -> None:
    """Check that determinizations agree with all that a player has seen, and use nothing else; exit code 1 if they do not."""
    load_files(files or [])
    loaded = games.load(game)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with show_compilation(), Progress(*columns, console=notes, transient=True) as bar:
        task = bar.add_task("games", total=number)

        def told(played: int, drawn: int) -> None:
            bar.update(task, completed=played, description=f"{drawn:,} determinizations, games")

        report = audit(loaded, games=number, determinizations=determinizations, seed=seed, progress=told)
    out.print(str(report), markup=False, soft_wrap=True)
    if not report.passed:
        raise typer.Exit(FAILED)


app.command("play")(play_command)


def main() -> None:
    """Run the command; bad input is one sentence on stderr and exit code 2."""
    try:
        app(standalone_mode=True)
    except (ValueError, TypeError, OSError) as error:
        notes.print(f"icarus: {error}", markup=False, soft_wrap=True)
        raise SystemExit(BAD_INPUT) from None
    except KeyboardInterrupt:
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main()
