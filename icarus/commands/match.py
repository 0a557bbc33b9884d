"""`icarus match`: games between strategies, and what they come to."""

from collections.abc import Callable
from typing import Annotated, Any

import typer

from icarus import games
from icarus.checks import integer
from icarus.checks import seed as check_seed
from icarus.commands.console import notes, out, print_table, print_text, progress_bar, show_compilation
from icarus.commands.exploitability import agent_of
from icarus.commands.options import (
    DEFAULT_SCHEME,
    DEFAULT_SHARING,
    INTERRUPTED,
    SCHEMES_HELP,
    Cutoff,
    GameName,
    Iterations,
    Seconds,
    Seed,
    Sharing,
    Threads,
    With,
    default_iterations,
    read_integer,
)
from icarus.commands.own_files import load_files
from icarus.engine.match import Decision, GameLog, play
from icarus.engine.scheme import Scheme, parse_scheme
from icarus.kernel import CHANCE
from icarus.kernel.game import Game
from icarus.kernel.state import State

Watch = Callable[[State, int | None, Decision | None], None]


def match_command(
    game: GameName,
    strategies: Annotated[
        list[str], typer.Argument(metavar="A B …", help="A strategy for each seat; the last takes those left over.")
    ],
    number: Annotated[
        int,
        typer.Option(
            "--games",
            parser=read_integer,
            metavar="INTEGER",
            help="How many games; the strategies change seats after each.",
        ),
    ] = 10,
    iterations: Iterations = None,
    seconds: Seconds = None,
    seed: Seed = 0,
    threads: Threads = 1,
    sharing: Sharing = DEFAULT_SHARING,
    schemes: Annotated[
        list[str] | None, typer.Option("--scheme", help=f"The search of all strategies, or repeated. {SCHEMES_HELP}")
    ] = None,
    cutoff: Cutoff = None,
    show: Annotated[bool, typer.Option("--show", help="Print every state and decision.")] = False,
    files: With = None,
) -> None:
    """Play games between strategies and count the results."""
    own = load_files(files or [])
    integer("--games", number, 1)
    iterations = default_iterations(iterations, seconds)
    check_seed(seed)
    loaded = games.load(game)
    agents = [
        agent_of(
            text,
            own,
            iterations=iterations,
            seconds=seconds,
            threads=threads,
            sharing=sharing,
            scheme=by.with_cutoff(cutoff),
        )
        for text, by in zip(strategies, _schemes_of(strategies, schemes, loaded), strict=True)
    ]
    agents += [agents[-1]] * (loaded.players - len(agents))
    rewards: list[list[float]] = [[] for _ in agents]
    stopped = False
    with show_compilation(), progress_bar(left=True, disable=show) as bar:
        task = bar.add_task("games", total=number)
        try:
            for trial in range(number):
                _play_trial(loaded, agents, (seed, trial), rewards, show)
                bar.advance(task)
        except KeyboardInterrupt:
            stopped = True
    if rewards[0]:
        _print_results(agents, rewards)
    if stopped:
        notes.print(f"stopped after {len(rewards[0])} of {number} games")
        raise typer.Exit(INTERRUPTED)


def _schemes_of(strategies: list[str], schemes: list[str] | None, game: Game) -> list[Scheme]:
    """The scheme of each strategy.

    Raises:
        ValueError: the strategies do not fit the game's seats, or the schemes not the strategies.
    """
    if len(strategies) > game.players or (len(strategies) < 2 <= game.players):
        raise ValueError(f"{game} has {game.players} seats; {len(strategies)} strategies do not fit")
    parsed = [parse_scheme(text) for text in schemes or [DEFAULT_SCHEME]]
    if len(parsed) not in (1, len(strategies)):
        raise ValueError(
            f"--scheme is given {len(parsed)} times for {len(strategies)} strategies; give it once or for each"
        )
    return parsed * (len(strategies) // len(parsed))


def _play_trial(game: Game, agents: list[Any], seed: tuple[int, int], rewards: list[list[float]], show: bool) -> None:
    """Play one game, in which agents sit as many seats further on as its number says, and note their rewards."""
    _, trial = seed
    seats = [agents[(seat - trial) % len(agents)] for seat in range(len(agents))]
    log = play(game, seats, seed=seed, watch=_watcher(seats) if show else None)
    for seat, reward in enumerate(log.returns):
        rewards[(seat - trial) % len(agents)].append(reward)
    if show:
        _print_end(log)


def _print_results(agents: list[Any], rewards: list[list[float]]) -> None:
    rows = []
    for agent, received in zip(agents, rewards, strict=True):
        mean = sum(received) / len(received)
        deviation = (sum((reward - mean) ** 2 for reward in received) / max(1, len(received) - 1)) ** 0.5
        wins = sum(reward == 1 for reward in received)
        rows.append((len(received), wins, f"{mean:.3f}", f"{deviation / len(received) ** 0.5:.3f}", agent))
    print_table(("games", "wins", "mean reward", "standard error", "agent"), rows)


def _watcher(seats: list[Any]) -> Watch:
    def watch(state: State, action: int | None, decision: Decision | None) -> None:
        print_text(str(state))
        if action is not None:
            player = state.current_player()
            line = f"{'chance' if player == CHANCE else f'player {player}'}: {state.action_to_string(action)}"
            if decision is not None and decision.iterations:
                line += f"   ({decision.visits} of {decision.iterations} visits, value {decision.value:.3f}, {seats[player].strategy})"
            print_text(line)
        out.print()

    return watch


def _print_end(log: GameLog) -> None:
    rewards = ", ".join(f"player {seat} {reward:g}" for seat, reward in enumerate(log.returns))
    print_text(f"result: {rewards}   ({len(log.actions)} actions, {log.seconds:.1f} s)")
