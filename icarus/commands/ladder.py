"""`icarus ladder`: where a strategy stands among opponents whose ratings are known."""

import itertools
import math
import time
from pathlib import Path
from typing import Annotated

import typer

from icarus.arena.player import read_scheme
from icarus.checks import count_text
from icarus.commands import options
from icarus.commands.console import print_note, print_table, print_text, progress_of, show_compilation
from icarus.commands.options import agent_settings, integer_option, real_option, value_option
from icarus.engine.match import Agent
from icarus.ladder.engines import ENGINES, EnginePlayer, engine_of
from icarus.ladder.ladders import Climb, intervals_of, rated_games, read_ladder, scores_of
from icarus.views.canvas import intervals_svg

OF_A_SEARCH = ("iterations", "seconds", "scheme", "cutoff")
MINUTES_HELP = "Stop after this many minutes, even with fewer games."


def ladder_command(
    context: typer.Context,
    game: options.GameName,
    strategy: Annotated[
        str | None, typer.Argument(metavar="STRATEGY", help="Strategy to rate; none with --engine.")
    ] = None,
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    number: Annotated[
        int, integer_option("Games to play, in pairs: an odd number plays one more.", "--games", min=1)
    ] = 100,
    minutes: Annotated[float | None, real_option("MINUTES", MINUTES_HELP, min=0)] = None,
    rows: Annotated[
        Path | None,
        typer.Option(metavar="FILE", dir_okay=False, help="File to keep the games in; the same command continues it."),
    ] = None,
    engine: Annotated[
        str | None,
        value_option("ENGINE", f"Rate a GTP engine instead: its command line, or one of {', '.join(ENGINES)}."),
    ] = None,
    picture: Annotated[Path | None, value_option("FILE.svg", "Draw the ladder.")] = None,
    scheme: options.Scheme = options.DEFAULT_SCHEME,
    cutoff: options.Cutoff = None,
    seed: options.Seed = 0,
    files: options.With = None,
) -> None:
    """Rate a strategy against engines written elsewhere.

    The engines' ratings are known, in Elo above random play. With --rows Ctrl-C loses nothing.
    """
    loaded, names, loaded_files = options.load_game(game, files)
    if picture is not None:
        options.check_picture(picture, ".svg")
    if (strategy is None) == (engine is None):
        raise ValueError("name either a strategy to rate, or an engine with --engine")
    if engine is not None:
        options.refuse_options(context, OF_A_SEARCH, "an engine of --engine searches in its own way")
    player: Agent | EnginePlayer
    if strategy is not None:
        by, iterations = read_scheme(scheme).with_cutoff(cutoff), options.default_iterations(iterations, seconds)
        player = Agent(**agent_settings(strategy, names, by), iterations=iterations, seconds=seconds)
    else:
        assert engine is not None
        player = EnginePlayer(engine_of(loaded, engine, "" if engine in ENGINES else engine))
        player.start()
    ladder = read_ladder(loaded)
    with rated_games(rows) as ledger:
        climb = Climb(ladder, player, ledger=ledger, seed=seed, files=loaded_files)
        for installation, engines in itertools.groupby(sorted(climb.absent, key=_installation), _installation):
            print_note(f"not installed: {', '.join(engines)}; {installation}")
        stopped = _play(climb, number, minutes)
    _print_climb(climb)
    if picture is not None and scores_of(climb.rows):
        ratings = ladder.ratings() | {climb.name: climb.rating()}
        title = f"{loaded}: ratings in Elo, random play at 0"
        picture.write_text(intervals_svg("Elo", intervals_of(ratings), {climb.name}, title), "utf-8")
    if stopped:
        raise typer.Exit(options.INTERRUPTED)
    if climb.has_failed or not scores_of(climb.rows):
        raise typer.Exit(options.FAILED)


def _installation(name: str) -> str:
    return ENGINES[name].installation


def _play(climb: Climb, number: int, minutes: float | None) -> bool:
    """Play the games with a bar of progress, until there are enough, the time has come, or Ctrl-C; whether that was what ended it."""
    deadline = math.inf if minutes is None else time.monotonic() + 60 * minutes
    try:
        done = sum(climb.games_played().values())
        with show_compilation(), progress_of("games", number, done=done) as show:
            for row in climb.games(number):
                if "void" in row:
                    print_note(f"void: {row['void']}")
                show(sum(climb.games_played().values()), description=f"{climb.rating()} Elo, games")
                if time.monotonic() > deadline:
                    break
    except KeyboardInterrupt:
        print_note(f"stopped after {sum(climb.games_played().values())} of {number} games")
        return True
    finally:
        if isinstance(climb.player, EnginePlayer):
            climb.player.close()
    return False


def _print_climb(climb: Climb) -> None:
    """A table of the scores against each opponent, and the rating."""
    games, lines = scores_of(climb.rows), []
    for rung in climb.ladder.rungs:
        if scores := [score for _, opponent, score in games if opponent == rung.name]:
            lines.append((len(scores), f"{sum(scores) / len(scores):.3f}", str(rung.rating), rung.name))
    if lines:
        print_table(("games", "score", "opponent's Elo", "opponent"), lines)
    if climb.has_failed:
        print_text(f"{climb.name} failed repeatedly and is not used again")
    rating, voids = climb.rating(), sum("void" in row for row in climb.rows)
    if voids:
        print_text(f"{count_text(voids, 'game')} {'is' if voids == 1 else 'are'} void")
    if lines:
        print_text(f"{climb.name}: {rating.value:.0f} Elo, 95 % interval {rating.low:.0f} … {rating.high:.0f}")
    else:
        print_text(f"{climb.name} has no rating: no game was finished")
