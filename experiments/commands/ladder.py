"""The command that plays the outside ladder: its opponents among themselves, its table, planned comparisons, and what they say."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

from experiments.commands.common import argument, flag, print_table, say
from experiments.plan.definition import refusing
from experiments.plan.ladder import TABLE_SECONDS, opponents
from experiments.play import ladder as playing
from experiments.statistics import INTERVALS, interval_text
from icarus.checks import integer, real
from icarus.commands.options import value_option
from icarus.ladder.ladders import Rating, agent_of, intervals_of
from icarus.views.canvas import intervals_svg
from icarus.views.document import Table


def ladder(
    game: Annotated[str, argument("GAME", "Name of a game that has a ladder.")],
    out: Annotated[Path, value_option("DIR", "Directory for the rows; rows in it are used too.")] = Path(
        "experiments/runs/ladder"
    ),
    minutes: Annotated[float, value_option("MINUTES", "Minutes to play; 0: only fit the ratings.")] = 0,
    table: Annotated[bool, flag("--table", "Rate the table's players on the ladder.")] = False,
    timed: Annotated[
        bool, flag("--timed", f"Rate the table's players with {TABLE_SECONDS} s for each decision.")
    ] = False,
    compare: Annotated[bool, flag("--compare", "Play the planned comparisons of two players.")] = False,
    number: Annotated[int, value_option("N", "Games of each of the table's players.", "--games")] = 200,
    picture: Annotated[
        Path | None, value_option("FILE.svg", "File for a drawing of the ladder, with the players of a table.")
    ] = None,
    seed: Annotated[int, value_option("SEED", "Seed of openings, dice and deals.")] = 1,
    keep: Annotated[
        bool, flag("--keep", "Write ladder and levels into the package from the rows, and pack the rows.")
    ] = False,
) -> None:
    """Play a game's outside ladder: its opponents against each other; with --table or --timed, compositions against them; with
    --compare, planned pairs. Ctrl-C loses no finished game."""
    with refusing():
        integer("--seed", seed, 0)
        integer("--games", number, 1)
        real("--minutes", minutes, 0)
        if table + timed + compare > 1:
            raise ValueError("--table, --timed and --compare play different games; give one of them")
        kind = playing.BY_ITERATIONS if table else playing.BY_TIME if timed else None
        _refuse_unplanned(game, kind)
        deadline = time.monotonic() + 60 * minutes
        try:
            if minutes and kind is not None:
                for climb in playing.play_table(game, kind, out, number, seed, deadline):
                    say(f"{climb.name}: {climb.rating()} after {len(climb.rows)} games")
            elif minutes:
                play = playing.play_comparisons if compare else playing.play_opponents
                for row in play(game, out, seed, deadline):
                    if "void" in row:
                        say(f"void: {row['void']}")
        except KeyboardInterrupt:
            say("stopped; the games played are kept")
        ladder_of_rows = playing.fitted_ladder(game, out)
        standings = playing.table_of(game, kind, out) if kind is not None else []
        ratings = {standing.name: standing.rating for standing in standings} or ladder_of_rows.ratings()
        if kind is not None:
            print_table(_table(game, kind, standings))
        else:
            print_table(_comparisons(game, out) if compare else _ratings(game, ratings))
        if kind is None and not compare:
            levels = playing.proposed_levels(game, out)
            played = f"levels equally far apart: {', '.join(map(str, levels))} iterations"
            say(played if levels else f"no levels: {out} has no games of a baseline of {game}; --minutes 20 plays some")
        if picture is not None:
            marked = set(ratings) if kind is not None else set[str]()
            title = f"{game}: ratings in Elo, random play at 0"
            marks = intervals_of(ladder_of_rows.ratings() | ratings)
            picture.write_text(intervals_svg("Elo", marks, marked, title), "utf-8")
        if keep and not playing.keep(ladder_of_rows, out):
            say("no levels are written: eight baselines, stronger with more iterations, need more games")


def _refuse_unplanned(game: str, kind: str | None) -> None:
    """Refuse a game without a ladder, or without the table that is to be played.

    Raises:
        ValueError: it is one.
    """
    opponents(game)
    if kind is not None and game not in playing.TABLES[kind]:
        raise ValueError(f"no such table is planned for {game}; games with one: {', '.join(playing.TABLES[kind])}")


def _ratings(game: str, ratings: Mapping[str, Rating]) -> Table:
    lines = [
        [name, f"{rating.value:.0f}", f"{rating.low:.0f} … {rating.high:.0f}", str(rating.games)]
        for name, rating in ratings.items()
    ]
    return Table(f"{game}: ratings, random play at 0", ("player", "Elo", "95 %", "games"), lines)


def _table(game: str, kind: str, standings: Sequence[playing.Standing]) -> Table:
    lines = [
        [
            standing.name,
            str(standing.rating),
            "" if standing.above is None or standing.above.value == 0 else _with_sign(standing.above),
            str(standing.rating.games),
        ]
        for standing in standings
    ]
    first = agent_of(playing.TABLES[kind][game][0])
    return Table(f"{game}: Elo, 95 % intervals", ("player", "above random play", f"above {first}", "games"), lines)


def _with_sign(difference: Rating) -> str:
    return f"{difference.value:+.0f} ± {(difference.high - difference.low) / 2:.0f}"


def _comparisons(game: str, directory: Path) -> Table:
    lines = [
        [player, opponent, str(count), interval_text(score, 3), comparison.question]
        for comparison, player, opponent, count, score in playing.scores_of_comparisons(game, directory)
    ]
    return Table(
        f"{game}: score, a pair of games counting once; {INTERVALS}",
        ("player", "against", "games", "score", "question"),
        lines,
    )
