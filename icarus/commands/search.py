"""`icarus search` and `icarus match`: what a search of one position finds, and games between strategies."""

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

import attrs
import numpy as np
import typer

from icarus.algebra import Enhancement
from icarus.arena.player import read_scheme
from icarus.checks import count_text, range_text
from icarus.commands import options
from icarus.commands.console import out, print_note, print_table, print_text, progress_of, show_compilation
from icarus.commands.options import agent_settings, integer_option, real_option, value_option
from icarus.discovery.race import difference
from icarus.engine.lowering import components_of
from icarus.engine.match import Agent, Decision, GameLog, SeatedAgent, play
from icarus.engine.result import SearchInterrupted, read_recommendation, unknown_component
from icarus.engine.search import Algorithm, check_cutoff
from icarus.equilibrium.search import check_trees
from icarus.kernel.game import AnyGame, seat_name
from icarus.kernel.state import State
from icarus.specs import parse
from icarus.views.document import check_new_file
from icarus.views.shown import show_playout, show_records
from icarus.views.tree_page import write_comparison, write_tree_page


def search_command(
    game: options.GameName,
    strategy: Annotated[str, value_option("STRATEGY", 'Such as "RAVE >> (MAST + NAST2)/2".')] = "BASELINE",
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    seed: options.Seed = 0,
    moves: Annotated[
        str, value_option("MOVES", 'Moves to play before the search, in the notation of the game: "d3 c5".')
    ] = "",
    scheme: options.Scheme = options.DEFAULT_SCHEME,
    cutoff: options.Cutoff = None,
    recommendation: options.Recommendation = options.DEFAULT_RECOMMENDATION,
    threads: options.Threads = 1,
    html: Annotated[Path | None, value_option("FILE", "Write the tree to this new file, as an HTML page.")] = None,
    playout: Annotated[
        bool, typer.Option("--playout", help="Print one more playout step by step. With --html it is part of the page.")
    ] = False,
    records: Annotated[
        list[str] | None,
        value_option(
            "NAME",
            "Print what this component of the strategy has learned: its records with the most updates. Repeatable.",
        ),
    ] = None,
    beside: Annotated[
        list[str] | None, value_option("STRATEGY", "Another strategy for the same position, side by side. Repeatable.")
    ] = None,
    files: options.With = None,
) -> None:
    """Search one position."""
    if html is not None:
        check_new_file(html)
    loaded, names, _ = options.load_game(game, files)
    agent = Agent(
        **agent_settings(strategy, names, read_scheme(scheme).with_cutoff(cutoff)),
        iterations=options.default_iterations(iterations, seconds),
        seconds=seconds,
        threads=threads,
        recommendation=read_recommendation(recommendation),
    )
    if isinstance(agent.strategy, Algorithm) and (html or playout or records or beside):
        raise ValueError(
            f"{strategy} keeps no tree and no records that could be shown; a composition of enhancements does"
        )
    if beside and (playout or records):
        raise ValueError("--beside shows results and trees: leave out --playout and --records")
    if playout and (threads > 1 or agent.scheme.tree_parameter):
        raise ValueError("--playout shows a search of one tree in one thread")
    check_trees(loaded, [agent])
    if isinstance(agent.strategy, Enhancement):
        check_cutoff(loaded, agent.scheme)
        existing = [*map(str, components_of(agent.strategy, agent.scheme.uses_exp3(loaded))[1])]
        for name in records or []:
            if name not in existing:
                raise ValueError(unknown_component(name, existing))
    with show_compilation():
        state = state_after(loaded, seed, moves)
        print_text(str(state))
        if beside:
            strategies = [agent.strategy, *(parse(text, **names) for text in beside)]
            results = [attrs.evolve(agent, strategy=each).search(state, seed) for each in strategies]
            print_text("\n\n".join(map(str, results)))
            if html is not None:
                write_comparison(results, html)
                print_text(f"trees: {html}")
            return
        with _shown_progress(agent.iterations) as progress:
            result = agent.search(state, seed, progress=progress)
    page = None
    if playout and isinstance(agent.strategy, Enhancement):
        page = show_playout(state, agent.strategy, seed, result.iterations, agent.scheme)
    if html is not None:
        write_tree_page(result, html, playout=page.playout if page else None)
    print_text("\n\n".join([str(result), *(str(show_records(result, name)) for name in records or [])]))
    if html is not None:
        print_text(f"{'tree and playout' if page else 'tree'}: {html}")
    elif page is not None:
        print_text(f"\n{page}")


@contextlib.contextmanager
def _shown_progress(iterations: int | None) -> Iterator[Callable[[int, float], None]]:
    """The `progress` of a search within; one that is interrupted prints its result so far, and ends the command."""
    try:
        with progress_of("iterations", iterations, remaining=False) as show:
            yield lambda iterations, _: show(iterations)
    except SearchInterrupted as interrupted:
        print_text(str(interrupted.result))
        print_note(f"icarus: {interrupted}")
        raise typer.Exit(options.INTERRUPTED) from None


def state_after(game: AnyGame, seed: int, moves: str) -> State:
    """The state after some moves; chance that is due there is drawn by the seed.

    Args:
        moves: in the notation of the game, with spaces between them; a move may have spaces of its own.

    Raises:
        ValueError: a move is not legal.
    """
    state, words = game.new_initial_state(seed=seed), moves.split()
    while words:
        texts = [text.split() for text in map(state.action_to_string, state.legal_actions())]
        move = max((text for text in texts if text == words[: len(text)]), key=len, default=words[:1])
        state.apply_action(state.string_to_action(" ".join(move)))
        words = words[len(move) :]
    rng = np.random.default_rng(seed)
    while state.is_chance_node():
        outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(int(rng.choice(outcomes, p=probabilities)))
    return state


T = TypeVar("T")
Rewards = Sequence[float]  # of each seat in a game
CONFIDENCE = 0.95


def match_command(
    game: options.GameName,
    strategies: Annotated[
        list[str],
        typer.Argument(metavar="A B …", help="Strategy of each seat, at least two. The last takes all other seats."),
    ],
    number: Annotated[
        int, integer_option("Games to play. The strategies change seats after each.", "--games", min=1)
    ] = 10,
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    seed: options.Seed = 0,
    recommendation: options.Recommendation = options.DEFAULT_RECOMMENDATION,
    threads: options.Threads = 1,
    schemes: Annotated[
        list[str] | None,
        value_option(
            "SCHEME", f"Search scheme of all strategies, or repeated, of each. {options.SCHEMES_HELP}", "--scheme"
        ),
    ] = None,
    cutoff: options.Cutoff = None,
    move_decays: Annotated[list[float] | None, real_option("REAL", options.MOVE_DECAY_HELP, "--move-decay")] = None,
    game_decays: Annotated[list[float] | None, real_option("REAL", options.GAME_DECAY_HELP, "--game-decay")] = None,
    level: Annotated[
        int | None, integer_option(f"Add an agent of this strength after the strategies: {options.LEVEL_HELP}")
    ] = None,
    levels: options.Levels = None,
    show: Annotated[bool, typer.Option("--show", help="Print every state and every decision.")] = False,
    files: options.With = None,
) -> None:
    """Play games between strategies.

    The table has a line for each strategy, with its mean reward over all seats that it takes; for a strategy against itself, a line for
    each seat.
    """
    loaded, names, _ = options.load_game(game, files)
    _check_seats(strategies, loaded, level)
    options.check_levels(level, levels)
    settings = zip(
        strategies,
        _each("--scheme", [read_scheme(text) for text in schemes or [options.DEFAULT_SCHEME]], strategies),
        _each("--move-decay", move_decays or [0.0], strategies),
        _each("--game-decay", game_decays or [0.0], strategies),
        strict=True,
    )
    budget: dict[str, Any] = {
        "iterations": options.default_iterations(iterations, seconds),
        "seconds": seconds,
        "threads": threads,
        "recommendation": read_recommendation(recommendation),
    }
    agents = [
        Agent(**agent_settings(text, names, by.with_cutoff(cutoff), move), game_decay=game, **budget)
        for text, by, move, game in settings
    ]
    agents += [] if level is None else [Agent.at_level(loaded, level, levels)]
    agents += [agents[-1]] * (loaded.players - len(agents))
    check_trees(loaded, agents)
    players = [SeatedAgent(agent, loaded) if agent.remembers else agent for agent in agents]
    rewards: list[Rewards] = []
    try:
        with show_compilation(), progress_of("games", number, disable=show) as show_progress:
            for trial in range(number):
                rewards.append(_play_trial(loaded, players, (seed, trial), show))
                show_progress(trial + 1)
    except KeyboardInterrupt:
        raise typer.Exit(options.INTERRUPTED) from None
    finally:  # what has been played is not lost
        if rewards:
            print_table(*_results(loaded, agents, rewards))
        if len(rewards) < number:
            print_note(f"stopped after {len(rewards)} of {number} games")


def _check_seats(strategies: list[str], game: AnyGame, level: int | None) -> None:
    """Refuse strategies, and an agent of a level after them, that do not fit a game's seats."""
    beside = 0 if level is None else 1
    least, most = min(2, game.players) - beside, game.players - beside
    if least <= len(strategies) <= most:
        return
    numbers = range_text(least, most)
    noun = "strategy" if numbers == "1" else "strategies"
    rest = " (the last one takes all other seats)" if least < most else ""
    raise ValueError(
        f"{game} has {count_text(game.players, 'seat')}; give {numbers} {noun}{' beside --level' * beside}, not {len(strategies)}{rest}"
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


def _play_trial(game: AnyGame, agents: Sequence[Agent | SeatedAgent], seed: tuple[int, int], show: bool) -> Rewards:
    """What each seat gets in a game in which agents sit as many seats further on as its number says."""
    _, trial = seed
    seats = [agents[(seat - trial) % len(agents)] for seat in range(len(agents))]
    log = play(game, seats, seed=seed, watch=functools.partial(_print_decision, seats) if show else None)
    if show:
        _print_end(game, log)
    return log.returns


def _results(game: AnyGame, agents: list[Agent], rewards: list[Rewards]) -> tuple[list[str], list[list[object]]]:
    """Header and rows of the table: a row for each agent, with the mean over the seats that it takes; for each seat, if one takes them all.

    Wins are rewards of 1. They are not counted where rewards are graded, such as points or money.
    """
    distinct = [agent for i, agent in enumerate(agents) if agent not in agents[:i]]
    if len(distinct) > 1:
        lines = [(str(each), [i for i, agent in enumerate(agents) if agent == each], 1) for each in distinct]
    else:
        lines = [(f"{seat_name(game, seat)}, {agents[seat]}", [seat], 0) for seat in range(len(agents))]
    header = ["games", "seats", "wins", "mean reward", "95 % interval", "agent"]
    rows = [[len(rewards), len(seats), *_reward_texts(rewards, seats, shift), text] for text, seats, shift in lines]
    absent = [] if any(len(seats) > 1 for _, seats, _ in lines) else ["seats"]
    absent += [] if {reward for of_seats in rewards for reward in of_seats} <= {0.0, 0.5, 1.0} else ["wins"]
    columns = [i for i, name in enumerate(header) if name not in absent]
    return [header[i] for i in columns], [[row[i] for i in columns] for row in rows]


def _reward_texts(rewards: list[Rewards], seats: list[int], shift: int) -> tuple[int, str, str]:
    """Wins, mean reward and its interval in seats that are so many further on in each game than in the one before."""
    outcomes = [[game[(seat + shift * trial) % len(game)] for seat in seats] for trial, game in enumerate(rewards)]
    estimate = difference([sum(game) / len(game) for game in outcomes])
    low, high = estimate.interval(CONFIDENCE)
    wins = sum(reward == 1 for game in outcomes for reward in game)
    return wins, f"{estimate.mean:.3f}", f"[{max(0.0, low):.3f}, {high:.3f}]"


def _print_decision(
    seats: Sequence[Agent | SeatedAgent], state: State, action: int | None, decision: Decision | None
) -> None:
    print_text(str(state))
    if action is not None:
        player = state.current_player()
        line = f"{seat_name(state.game, player)}: {state.action_to_string(action)}"
        if decision is not None and decision.iterations:
            line += f"   ({decision.visits} of {decision.iterations} visits, value {decision.value:.3f}, {seats[player].strategy})"
        print_text(line)
    out.print()


def _print_end(game: AnyGame, log: GameLog) -> None:
    rewards = ", ".join(f"{seat_name(game, seat)} {reward:g}" for seat, reward in enumerate(log.returns))
    print_text(f"result: {rewards}   ({count_text(len(log.actions), 'action')}, {log.seconds:.1f} s)")
