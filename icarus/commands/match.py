"""`icarus match`: games between strategies, and what they come to."""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import typer

from icarus import games
from icarus.checks import integer
from icarus.checks import seed as check_seed
from icarus.commands import options
from icarus.commands.console import out, print_note, print_table, print_text, progress_of, show_compilation
from icarus.engine.match import Agent, Decision, GameLog, play
from icarus.engine.recommendation import read_recommendation
from icarus.equilibrium.online.parsing import check_trees, parse_strategy, read_scheme
from icarus.kernel import CHANCE
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State
from icarus.load_files import load_files

T = TypeVar("T")
Watch = Callable[[State, int | None, Decision | None], None]


def match_command(
    game: options.GameName,
    strategies: Annotated[
        list[str],
        typer.Argument(metavar="A B …", help="Strategy of each seat, at least two. The last takes all other seats."),
    ],
    number: Annotated[
        int, options.integer_option("Games to play. The strategies change seats after each.", "--games")
    ] = 10,
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    seed: options.Seed = 0,
    recommendation: options.Recommendation = options.DEFAULT_RECOMMENDATION,
    threads: options.Threads = 1,
    sharing: options.Sharing = options.DEFAULT_SHARING,
    schemes: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme",
            metavar="SCHEME",
            help=f"Search scheme of all strategies, or repeated, of each. {options.SCHEMES_HELP}",
        ),
    ] = None,
    cutoff: options.Cutoff = None,
    move_decays: Annotated[
        list[float] | None,
        typer.Option("--move-decay", parser=options.read_real, metavar="REAL", help=options.MOVE_DECAY_HELP),
    ] = None,
    game_decays: Annotated[
        list[float] | None,
        typer.Option("--game-decay", parser=options.read_real, metavar="REAL", help=options.GAME_DECAY_HELP),
    ] = None,
    level: Annotated[
        int | None, options.integer_option(f"Add an agent of this strength after the strategies: {options.LEVEL_HELP}")
    ] = None,
    show: Annotated[bool, typer.Option("--show", help="Print every state and every decision.")] = False,
    files: options.With = None,
) -> None:
    """Play games between strategies."""
    game, files = options.game_and_files(game, files)
    names = load_files(files)
    integer("--games", number, 1)
    iterations = options.default_iterations(iterations, seconds)
    check_seed(seed)
    loaded = games.load(game)
    _check_seats(strategies, loaded, level)
    settings = zip(
        strategies,
        _each("--scheme", [read_scheme(text) for text in schemes or [options.DEFAULT_SCHEME]], strategies),
        _each("--move-decay", move_decays or [0.0], strategies),
        _each("--game-decay", game_decays or [0.0], strategies),
        strict=True,
    )
    budget: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "threads": threads, "sharing": sharing}
    budget["recommendation"] = read_recommendation(recommendation)
    agents = [
        Agent(parse_strategy(text, names), scheme=by.with_cutoff(cutoff), move_decay=move, game_decay=game, **budget)
        for text, by, move, game in settings
    ]
    agents += [] if level is None else [Agent.at_level(loaded, level)]
    agents += [agents[-1]] * (loaded.players - len(agents))
    check_trees(loaded, agents)
    players = [agent.seated(loaded) if agent.remembers else agent for agent in agents]
    rewards: list[list[float]] = [[] for _ in agents]
    try:
        with show_compilation(), progress_of("games", number, disable=show) as show_progress:
            for trial in range(number):
                _play_trial(loaded, players, (seed, trial), rewards, show)
                show_progress(trial + 1)
    except KeyboardInterrupt:
        _print_results(agents, rewards, number)
        raise typer.Exit(options.INTERRUPTED) from None
    except Exception:  # told by whoever called; what has been played is not lost
        if rewards[0]:
            _print_results(agents, rewards, number)
        raise
    _print_results(agents, rewards, number)


def _check_seats(strategies: list[str], game: AnyGame, level: int | None) -> None:
    """Refuse strategies, and an agent of a level after them, that do not fit a game's seats."""
    beside = 0 if level is None else 1
    least, most = min(2, game.players) - beside, game.players - beside
    if least <= len(strategies) <= most:
        return
    numbers = f"{most}" if least == most else f"{least} to {most}"
    noun = "strategy" if numbers == "1" else "strategies"
    rest = " (the last one takes all other seats)" if least < most else ""
    raise ValueError(
        f"{game} has {game.players} seats; give {numbers} {noun}{' beside --level' * beside}, not {len(strategies)}{rest}"
    )


def _each(option: str, values: list[T], strategies: list[str]) -> list[T]:
    """What is given once for all strategies, or for each.

    Raises:
        ValueError: neither.
    """
    if len(values) not in (1, len(strategies)):
        raise ValueError(
            f"{option} is given {len(values)} times for {len(strategies)} strategies; give it once, or once for each"
        )
    return values * (len(strategies) // len(values))


def _play_trial(
    game: AnyGame, agents: Sequence[Any], seed: tuple[int, int], rewards: list[list[float]], show: bool
) -> None:
    """Play one game, in which agents sit as many seats further on as its number says, and note their rewards."""
    _, trial = seed
    seats = [agents[(seat - trial) % len(agents)] for seat in range(len(agents))]
    log = play(game, seats, seed=seed, watch=_watcher(seats) if show else None)
    for seat, reward in enumerate(log.returns):
        rewards[(seat - trial) % len(agents)].append(reward)
    if show:
        _print_end(log)


def _print_results(agents: list[Agent], rewards: list[list[float]], number: int) -> None:
    """A table of what each agent got in the games that were played, of so many."""
    games = len(rewards[0])
    if games:
        rows = [_row(agent, received) for agent, received in zip(agents, rewards, strict=True)]
        print_table(("games", "wins", "mean reward", "standard error", "agent"), rows)
    if games < number:
        print_note(f"stopped after {games} of {number} games")


def _row(agent: Agent, received: list[float]) -> tuple[object, ...]:
    mean = sum(received) / len(received)
    deviation = (sum((reward - mean) ** 2 for reward in received) / max(1, len(received) - 1)) ** 0.5
    wins = sum(reward == 1 for reward in received)
    return len(received), wins, f"{mean:.3f}", f"{deviation / len(received) ** 0.5:.3f}", agent


def _watcher(seats: Sequence[Any]) -> Watch:
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
