"""Games of the ladder's opponents against each other, and of the table's players against them."""

import itertools
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from experiments.plan.ladder import TABLE, opponents
from icarus import games
from icarus.ladder.climb import PATIENCE, Climb
from icarus.ladder.engines import EnginePlayer
from icarus.ladder.ladders import RANDOM, ZERO, Ladder, agent_of, fit, read_ladder, scores_of
from icarus.ladder.matches import Row, play_game
from icarus.ladder.rating import Rating, posterior, ratings
from icarus.ladder.rows import append_row, read_rows

SHORTEST, USUAL = 0.2, 1.0  # seconds of a game: what the least counts as, and one never played
BETWEEN, TABLE_ROWS = "opponents", "table"  # the two files of rows of a game


def rows_of(directory: Path, game: str, kind: str) -> Path:
    """The file of a game's rows."""
    return directory / f"{game}-{kind}.jsonl"


def play_opponents(game: str, directory: Path, seed: int, deadline: float) -> Iterator[Row]:
    """Pairs of games between those opponents whose next outcome tells most, until the time has come."""
    ladder, path, loaded = opponents(game), rows_of(directory, game, BETWEEN), games.load(game)
    players = {rung.name: rung.player() for rung in ladder.rungs if rung.is_installed()}
    rows, failures = read_rows(path), Counter[tuple[str, str]]()
    try:
        while time.monotonic() < deadline:
            pairs = [pair for pair in itertools.combinations(players, 2) if failures[pair] < PATIENCE]
            one, other = _most_telling(pairs, rows)
            number = sum({one, other} == {row["player"], row["opponent"]} for row in rows)
            for trial in range(number, number + 2 - number % 2):
                row = play_game(loaded, players[one], players[other], seed=(seed, trial // 2), side=trial % 2)
                failures[one, other] += "void" in row
                rows.append(row)
                append_row(path, row)
                yield row
    finally:
        for player in players.values():
            if isinstance(player, EnginePlayer):
                player.close()


def _most_telling(pairs: list[tuple[str, str]], rows: list[Row]) -> tuple[str, str]:
    """The pair whose next game tells most for the time that it takes."""
    found = posterior(scores_of(rows), {RANDOM: ZERO}, {name for pair in pairs for name in pair})
    times: dict[frozenset[str], list[float]] = {}
    for row in rows:
        times.setdefault(frozenset((row["player"], row["opponent"])), []).append(row.get("seconds", SHORTEST))

    def telling(pair: tuple[str, str]) -> float:
        taken = times.get(frozenset(pair), [USUAL])
        return found.gain(*pair) / max(SHORTEST, sum(taken) / len(taken))

    return max(pairs, key=telling)


def fitted(game: str, directory: Path) -> Ladder:
    """The ladder that the rows of a directory say."""
    return fit(opponents(game), read_rows(rows_of(directory, game, BETWEEN)))


def play_table(game: str, directory: Path, number: int, seed: int, deadline: float) -> Iterator[Climb]:
    """Games of each of the table's players on the ladder, up to so many each, until the time has come; yields the climb after each game."""
    for settings in TABLE[game]:
        climb = Climb(read_ladder(game), agent_of(settings), path=rows_of(directory, game, TABLE_ROWS), seed=seed)
        for _ in climb.games(number):
            yield climb
            if time.monotonic() > deadline:
                return


def table_of(game: str, directory: Path) -> dict[str, Rating]:
    """The ratings of the players whose games on the ladder a directory has, the strongest first."""
    rows = read_rows(rows_of(directory, game, TABLE_ROWS))
    names = {row["player"] for row in rows}
    found = ratings(scores_of(rows), read_ladder(game).known())
    return dict(sorted(((name, found[name]) for name in names if name in found), key=lambda item: -item[1].value))
