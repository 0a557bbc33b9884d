"""`icarus search` and `icarus match`: what a search of one position finds, and games between strategies."""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from icarus.algebra import Enhancement
from icarus.arena.ledger import new_file
from icarus.checks import bare, count_text, range_text
from icarus.commands import options
from icarus.commands.console import print_note, print_table, print_text, progress_of
from icarus.commands.options import DECAY_HELP, each_of, integer_option, value_option
from icarus.engine.lowering import components_of
from icarus.engine.match import (
    MOST_VISITED,
    Agent,
    Player,
    SeatedAgent,
    play as play_game,
    question_to,
)
from icarus.engine.result import unknown_component
from icarus.engine.search import SearchInterrupted
from icarus.kernel import AnyGame, State, draw_outcome, seat_name
from icarus.statistics import mean_of
from icarus.views.shown import show_records
from icarus.views.tree_page import write_tree_page

MOVES_HELP = 'Moves to play before the search, in the notation of the game: "d3 c5".'
RECORDS_HELP = (
    "Print what this component of the strategy has learned: its records with the most updates, with several threads those of the first. "
    "Repeatable."
)


def search_command(
    game: options.GameName,
    strategy: Annotated[
        str, value_option("STRATEGY", 'Such as "RAVE >> (MAST + NAST2)/2".')
    ] = "BASELINE",
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    seed: options.Seed = 0,
    moves: Annotated[str, value_option("MOVES", MOVES_HELP)] = "",
    scheme: options.SchemeText = options.DEFAULT_SCHEME,
    cutoff: options.Cutoff = None,
    threads: options.Threads = 1,
    html: Annotated[
        Path | None, value_option("FILE", "Write the tree to this new file, as an HTML page.")
    ] = None,
    records: Annotated[list[str] | None, value_option("NAME", RECORDS_HELP)] = None,
    files: options.With = None,
    evaluation: options.Learned = None,
) -> None:
    """Search one position."""
    if html is not None:
        new_file(html)
    loaded = options.chosen_game(game, files, evaluation)
    agent = loaded.agent(
        strategy, scheme, cutoff, iterations=iterations, seconds=seconds, threads=threads
    )
    if agent.move_decay:
        raise ValueError(
            "icarus search searches one position: leave out move_decay; icarus match can reuse records"
        )
    records = records or []
    if isinstance(agent.strategy, Enhancement):
        uses_exp3 = agent.scheme.uses_exp3(loaded.game)
        _, components = components_of(agent.strategy, uses_exp3)
        existing = list(map(str, components))
        for name in records:
            if name not in existing:
                raise ValueError(unknown_component(name, existing))
    elif html or records:
        raise ValueError(
            f"{strategy} keeps no tree and no records that could be shown; a composition of enhancements does"
        )
    state = state_after(loaded.game, seed, moves)
    for hint in loaded.hints([agent]):
        print_note(hint)
    print_text(str(state))
    try:
        with progress_of("iterations", agent.iterations) as show:
            result = agent.search(state, seed, progress=lambda done, _: show(done))
    except SearchInterrupted as interrupted:
        print_text(str(interrupted.result))
        print_note(f"icarus: {interrupted}")
        raise typer.Exit(options.INTERRUPTED) from None
    texts = [result, *(show_records(result, name) for name in records)]
    print_text("\n\n".join(map(str, texts)))
    if html is not None:
        write_tree_page(result, html)
        print_text(f"tree: {html}")


_NUMBERED = re.compile(r"^\d+\.+")  # the number of a move, before it


def state_after(game: AnyGame, seed: int, moves: str) -> State:
    """The state after some moves; chance that is due there is drawn by the seed.

    Args:
        moves: in the notation of the game, with spaces between them; a move may have spaces of its own. If no legal move is written as the
            next words, numbers of moves, such as "1.", capitals, separators and missing spaces are overlooked.

    Raises:
        ValueError: a move is not legal.
    """
    state, words = game.new_initial_state(seed=seed), moves.split()
    while words:
        texts = list(filter(str.strip, map(state.action_to_string, state.legal_actions())))
        exact = [text for text in texts if text.split() == words[: len(text.split())]]
        if exact:
            move = max(exact, key=len)
            words = words[len(move.split()) :]
        else:
            word = _NUMBERED.sub("", words.pop(0))
            beginnings = [text for text in texts if bare(word).startswith(bare(text))]
            move = max(beginnings, key=len, default=word)
            if sum(bare(text) == bare(move) for text in texts) > 1:
                move = word  # which is refused: two moves differ in capitals or separators alone
            rest = bare(word)[len(bare(move)) :]
            if rest:  # moves without a space between them
                words.insert(0, rest)
        if move:  # "" where the word was only a number
            state.apply_action(state.string_to_action(move))
    rng = np.random.default_rng(seed)
    while state.is_chance_node():
        state.apply_action(draw_outcome(state, rng))
    return state


Rewards = Sequence[float]  # of each seat in a game
STRATEGIES_HELP = "Strategy of each seat, at least two. The last takes all other seats."
GAMES_HELP = "Games to play. The strategies change seats after each."
SCHEMES_HELP = f"Search scheme of all strategies, or repeated, of each. {options.SCHEMES_HELP}"
STRENGTH_HELP = f"Add an agent of this strength after the strategies: {options.LEVEL_HELP}"


def match_command(
    game: options.GameName,
    strategies: Annotated[list[str], typer.Argument(metavar="A B …", help=STRATEGIES_HELP)],
    number: Annotated[int, integer_option(GAMES_HELP, "--games")] = 10,
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    seed: options.Seed = 0,
    threads: options.Threads = 1,
    schemes: Annotated[list[str] | None, value_option("SCHEME", SCHEMES_HELP, "--scheme")] = None,
    cutoff: options.Cutoff = None,
    play: options.PlayedBy = MOST_VISITED,
    move_decays: Annotated[
        list[float] | None,
        value_option("REAL", DECAY_HELP.format("search of a game"), "--move-decay"),
    ] = None,
    game_decays: Annotated[
        list[float] | None, value_option("REAL", DECAY_HELP.format("game"), "--game-decay")
    ] = None,
    level: Annotated[int | None, integer_option(STRENGTH_HELP, min=None)] = None,
    levels: options.Levels = None,
    files: options.With = None,
    evaluation: options.Learned = None,
) -> None:
    """Play games between strategies.

    The table has a line for each strategy, with its mean reward over all seats that it takes; for a strategy against itself, a line for
    each seat.
    """
    loaded = options.chosen_game(game, files, evaluation)
    players = loaded.game.players
    _check_seats(strategies, loaded.game, level)
    settings = zip(
        strategies,
        each_of("--scheme", schemes or [options.DEFAULT_SCHEME], len(strategies)),
        each_of("--move-decay", move_decays or [0.0], len(strategies)),
        each_of("--game-decay", game_decays or [0.0], len(strategies)),
        strict=True,
    )
    agents = [
        loaded.agent(
            text,
            scheme,
            cutoff,
            move_decay,
            game_decay=game_decay,
            iterations=iterations,
            seconds=seconds,
            threads=threads,
        )
        for text, scheme, move_decay, game_decay in settings
    ]
    agents += options.level_agents(loaded.game, level, levels)
    for hint in loaded.hints(agents):
        print_note(hint)
    agents += [agents[-1]] * (players - len(agents))
    seated = [_at_the_table(agent, loaded.game, play) for agent in agents]
    rewards: list[Rewards] = []
    try:
        with progress_of("games", number) as show:
            for trial in range(number):
                # In each game all agents sit one seat further on.
                seats = [seated[(seat - trial) % players] for seat in range(players)]
                rewards.append(play_game(loaded.game, seats, seed=(seed, trial)).returns)
                show(trial + 1)
    except KeyboardInterrupt:
        raise typer.Exit(options.INTERRUPTED) from None
    finally:  # what has been played is not lost
        if rewards:
            print_table(
                ("games", "seats", "mean reward", "95 % interval", "agent"),
                _results(loaded.game, agents, rewards),
            )
        if len(rewards) < number:
            print_note(f"stopped after {len(rewards)} of {number} games")


def _at_the_table(agent: Agent, game: AnyGame, play: str) -> Player:
    """The player that acts for an agent: itself, unless it remembers its searches or draws an action by its visits."""
    if play == MOST_VISITED:
        return SeatedAgent(agent, game) if agent.remembers else agent
    question = question_to(agent, play)  # this also checks `play`
    # an algorithm draws from its policy in either way of playing
    return question if isinstance(agent.strategy, Enhancement) else agent


def _check_seats(strategies: list[str], game: AnyGame, level: int | None) -> None:
    """Refuse strategies, and an agent of a level after them, that do not fit a game's seats."""
    least = min(2, game.players)
    most = game.players
    beside = ""
    if level is not None:
        least -= 1
        most -= 1
        beside = " beside --level"
    if not least <= len(strategies) <= most:
        raise ValueError(
            f"{game} has {count_text(game.players, 'seat')}; give {range_text(least, most)} of A B …{beside}, "
            f"not {len(strategies)}; the last one takes all other seats"
        )


def _results(game: AnyGame, agents: list[Agent], rewards: list[Rewards]) -> list[list[object]]:
    """A row for each agent, with the mean over its seats; a row for each seat, if one agent has them all."""
    seats_of = defaultdict[Agent, list[int]](list)
    for seat, agent in enumerate(agents):
        seats_of[agent].append(seat)
    if len(seats_of) == 1:
        return [
            _row(rewards, [seat], 0, f"{seat_name(game, seat)}, {agents[0]}")
            for seat in range(len(agents))
        ]
    return [_row(rewards, seats, 1, str(agent)) for agent, seats in seats_of.items()]


def _row(rewards: list[Rewards], seats: list[int], shift: int, agent: str) -> list[object]:
    """A row of the table: the mean reward in some seats, with its interval.

    Args:
        seats: of the agent in the first game.
        shift: by how many seats all agents move on from one game to the next.
    """
    means = [
        sum(game[(seat + shift * trial) % len(game)] for seat in seats) / len(seats)
        for trial, game in enumerate(rewards)
    ]
    mean = mean_of(means, 0.0)
    return [
        len(rewards),
        len(seats),
        f"{mean.value:.3f}",
        f"[{mean.low:.3f}, {mean.high:.3f}]",
        agent,
    ]
