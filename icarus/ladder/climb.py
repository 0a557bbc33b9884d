"""Rating one player on a ladder: pairs of games against whoever tells most, both sides played with the same opening, dice or deal."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from icarus import games
from icarus.ladder.engines import EnginePlayer
from icarus.ladder.ladders import Ladder, Rung, scores_of
from icarus.ladder.matches import Row, next_pair, play_game
from icarus.ladder.rating import Rating, informative
from icarus.ladder.rows import append_row, read_rows

PATIENCE = 3  # failures in a row, after which an engine is left alone


class Climb:
    """The games of a player against the opponents of a ladder, and its rating.

    Args:
        ladder: the opponents; those that are not installed are passed over.
        player: an `Agent`, or another player for `icarus.play`.
        path: the file of its rows. What is there of this player is counted and not played again.
        seed: fixes openings, dice, deals and searches.
        stamp: fields that each new row gets besides.

    Attributes:
        rows: all games of this player, including void ones.
        absent: the opponents that cannot play here.

    Raises:
        ValueError: no opponent can play here.
    """

    def __init__(
        self,
        ladder: Ladder,
        player: Any,
        *,
        path: Path | None = None,
        seed: int = 0,
        stamp: Mapping[str, Any] | None = None,
    ) -> None:
        self.ladder, self.player, self._path, self._seed, self._stamp = ladder, player, path, seed, stamp or {}
        self.game = games.load(ladder.game)
        self.name = str(player)
        self.rows = [row for row in (read_rows(path) if path else []) if row["player"] == self.name]
        opponents = [rung for rung in ladder.rungs if rung.name != self.name]
        self._rungs = [rung for rung in opponents if rung.is_installed()]
        self.absent = [rung.name for rung in opponents if rung not in self._rungs]
        if not self._rungs:
            raise ValueError(f"no opponent of {ladder.game} can play here; not installed: {', '.join(self.absent)}")
        self._failures: Counter[str] = Counter()

    def rating(self) -> Rating:
        """What the games so far say, with what is known of the opponents."""
        return self.ladder.rating_of(self.name, scores_of(self.rows))

    def games(self, number: int) -> Iterator[Row]:
        """Play until there are so many games that are not void; each is kept before it is given out."""
        opponents: dict[str, Any] = {}
        try:
            while sum("score" in row for row in self.rows) < number and (rung := self._next()) is not None:
                opponent = opponents.setdefault(rung.name, rung.player())
                attempts = sum(row["opponent"] == rung.name for row in self.rows)
                for seed, side in next_pair(attempts, self._seed):
                    row = play_game(self.game, self.player, opponent, seed=seed, side=side)
                    row |= {"opponent": rung.name, **self._stamp}
                    self._count_failure(rung.name, row.get("failed"))
                    self.rows.append(row)
                    if self._path:
                        append_row(self._path, row)
                    yield row
        finally:
            for opponent in opponents.values():
                if isinstance(opponent, EnginePlayer):
                    opponent.close()

    def _count_failure(self, opponent: str, failed: str | None) -> None:
        """Note how often in a row each engine has failed."""
        for name in (self.name, opponent) if failed is None else (failed,):
            self._failures[name] = 0 if failed is None else self._failures[name] + 1

    @property
    def has_failed(self) -> bool:
        """Whether the player is an engine that failed again and again, so that no more games are played."""
        return self._failures[self.name] >= PATIENCE

    def _next(self) -> Rung | None:
        """The opponent of a pair that lacks a game, or else against whom a game tells most; None where all have failed, or the player."""
        if self.has_failed:
            return None
        counts, rating, attempts = self.games_played(), self.rating(), Counter(row["opponent"] for row in self.rows)
        opponents = [rung for rung in self._rungs if self._failures[rung.name] < PATIENCE]
        if unpaired := [rung for rung in opponents if attempts[rung.name] % 2]:
            return unpaired[0]
        return max(opponents, key=lambda rung: informative(rating, rung.rating, counts[rung.name]), default=None)

    def games_played(self) -> Counter[str]:
        """Games against each opponent that are not void."""
        return Counter(row["opponent"] for row in self.rows if "score" in row)
