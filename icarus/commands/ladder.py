"""`icarus ladder`: where a strategy stands among opponents whose ratings are known."""

import itertools
from pathlib import Path
from typing import Annotated, Any

import typer

from icarus.checks import count_text
from icarus.commands import options
from icarus.commands.console import print_note, print_table, print_text, progress_of
from icarus.commands.options import integer_option, value_option
from icarus.engine.match import Agent
from icarus.ladder.engines import ENGINES, EnginePlayer, engine_of
from icarus.ladder.ladders import Climb, rated_games, read_ladder, scores_of

OF_A_SEARCH = ("iterations", "seconds", "scheme", "cutoff", "evaluation")
STRATEGY_HELP = "Strategy to rate; none with --engine."
GAMES_HELP = "Games to play, in pairs: an odd number plays one more."
ENGINE_HELP = f"Rate a GTP engine instead: its command line, or one of {', '.join(ENGINES)}."
ROWS_HELP = "File to keep the games in; the same command continues it."


def ladder_command(
    context: typer.Context,
    game: options.GameName,
    strategy: Annotated[str | None, typer.Argument(metavar="STRATEGY", help=STRATEGY_HELP)] = None,
    iterations: options.Iterations = None,
    seconds: options.Seconds = None,
    number: Annotated[int, integer_option(GAMES_HELP, "--games")] = 100,
    rows: Annotated[Path | None, value_option("FILE", ROWS_HELP, dir_okay=False)] = None,
    engine: Annotated[str | None, value_option("ENGINE", ENGINE_HELP)] = None,
    scheme: options.SchemeText = options.DEFAULT_SCHEME,
    cutoff: options.Cutoff = None,
    seed: options.Seed = 0,
    files: options.With = None,
    evaluation: options.Learned = None,
) -> None:
    """Rate a strategy against engines written elsewhere.

    The engines' ratings are known, in Elo above random play. With --rows Ctrl-C loses nothing.
    """
    loaded = options.chosen_game(game, files, evaluation)
    player: Agent | EnginePlayer
    if strategy is not None and engine is None:
        settings: dict[str, Any] = {"iterations": iterations, "seconds": seconds}
        if evaluation:
            # It is the agent's: opponents that have a heuristic are rated with the game's own.
            settings["evaluation"] = str(evaluation)
        player = loaded.agent(strategy, scheme, cutoff, **settings)
        for hint in loaded.hints([player]):
            print_note(hint)
    elif engine is not None and strategy is None:
        options.refuse_options(
            context, OF_A_SEARCH, "an engine of --engine searches in its own way"
        )
        player = EnginePlayer(engine_of(loaded.game, engine))
        player.start()
    else:
        raise ValueError("name either a strategy to rate, or an engine with --engine")
    try:
        with rated_games(rows) as ledger:
            climb = Climb(
                read_ladder(loaded.game), player, ledger=ledger, seed=seed, files=loaded.files
            )
            for installation, engines in itertools.groupby(
                sorted(climb.absent, key=_installation), _installation
            ):
                print_note(f"not installed: {', '.join(engines)}; {installation}")
            is_interrupted = _play(climb, number)
    finally:
        if isinstance(player, EnginePlayer):
            player.close()
    _print_climb(climb)
    if is_interrupted:
        raise typer.Exit(options.INTERRUPTED)
    if climb.has_failed or not scores_of(climb.rows):
        raise typer.Exit(options.FAILED)


def _installation(name: str) -> str:
    return ENGINES[name].installation


def _play(climb: Climb, number: int) -> bool:
    """Play until there are enough games, with a bar of progress; returns whether Ctrl-C has ended it before."""
    try:
        done = climb.rating().count
        with progress_of("games", number, done=done) as show:
            for row in climb.games(number):
                if "void" in row:
                    print_note(f"void: {row['void']}")
                show(climb.rating().count, description=f"{climb.rating()} Elo, games")
    except KeyboardInterrupt:
        print_note(f"stopped after {climb.rating().count} of {number} games")
        return True
    return False


def _print_climb(climb: Climb) -> None:
    """A table of the scores against each opponent, and the rating."""
    games = scores_of(climb.rows)
    lines = []
    for rung in climb.ladder.rungs:
        scores = [score for _, opponent, score in games if opponent == rung.name]
        if scores:
            mean = f"{sum(scores) / len(scores):.3f}"
            lines.append((len(scores), mean, str(rung.rating), rung.name))
    if climb.has_failed:
        print_text(f"{climb.name} failed repeatedly and is not used again")
    if voids := sum("void" in row for row in climb.rows):
        print_text(f"{count_text(voids, 'game')} {'is' if voids == 1 else 'are'} void")
    if not lines:
        print_text(f"{climb.name} has no rating: no game was finished")
        return
    print_table(("games", "score", "opponent's Elo", "opponent"), lines)
    rating = climb.rating()
    print_text(
        f"{climb.name}: {rating.value:.0f} Elo, 95 % interval {rating.low:.0f} … {rating.high:.0f}"
    )
