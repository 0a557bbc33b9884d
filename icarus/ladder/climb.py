"""Rating one player on a ladder: pairs of games against whoever tells most, both sides played with the same opening, dice or deal."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from icarus import games
from icarus.engine.match import Player
from icarus.ladder.ladders import Ladder, Rung, scores_of
from icarus.ladder.matches import Row, read_rows
from icarus.ladder.pairs import Pairs
from icarus.ladder.rating import Rating, informative
from icarus.load_files import digest_of


class Climb:
    """The games of a player against the opponents of a ladder, and its rating.

    Args:
        ladder: the opponents; those that are not installed are passed over.
        player: an `Agent`, or another player for `icarus.play`.
        path: the file of its rows. What is there of this player in this game is counted and not played again.
        seed: fixes openings, dice, deals and searches.
        stamp: fields that each new row gets besides.
        files: Python files that define the player; each new row gets their digests.

    Attributes:
        rows: all games of this player, including void ones.
        absent: the opponents that cannot play here.

    Raises:
        ValueError: no opponent can play here, or one of the files was edited after games that are counted.
    """

    def __init__(
        self,
        ladder: Ladder,
        player: Player,
        *,
        path: Path | None = None,
        seed: int = 0,
        stamp: Row | None = None,
        files: Sequence[Path] = (),
    ) -> None:
        self.ladder, self.player, self.name = ladder, player, str(player)
        rows = read_rows(path) if path else []
        self.rows = [row for row in rows if (row.get("game"), row["player"]) == (ladder.game, self.name)]
        digests = {file.name: digest_of(file) for file in files}
        self._refuse_edited(digests)
        opponents = [rung for rung in ladder.rungs if rung.name != self.name]
        self._rungs = [rung for rung in opponents if rung.is_installed()]
        self.absent = [rung.name for rung in opponents if rung not in self._rungs]
        if not self._rungs:
            raise ValueError(f"no opponent of {ladder.game} can play here; not installed: {', '.join(self.absent)}")
        players: dict[str, Player] = {rung.name: rung.player() for rung in self._rungs}
        game = games.load(ladder.game)
        stamp = (stamp or {}) | ({"files": digests} if digests else {})
        self._pairs = Pairs(game, players | {self.name: player}, self.rows, path, seed, stamp)

    def _refuse_edited(self, digests: Mapping[str, str]) -> None:
        for row in self.rows:
            for file, before in row.get("files", {}).items():
                if (now := digests.get(file, before)) != before:
                    raise ValueError(
                        f"{file} was edited: its digest is {now}, in earlier games of {self.name} {before}; "
                        "undo the edit, or keep the games in another file"
                    )

    def rating(self) -> Rating:
        """What the games so far say, with what is known of the opponents."""
        return self.ladder.rating_of(self.name, scores_of(self.rows))

    def games(self, number: int) -> Iterator[Row]:
        """Play until there are so many games that are not void; each is kept before it is given out."""
        with self._pairs as pairs:
            while sum("score" in row for row in self.rows) < number and (rung := self._next()) is not None:
                yield from pairs.play(self.name, rung.name)

    @property
    def has_failed(self) -> bool:
        """Whether the player is an engine that failed again and again, so that no more games are played."""
        return self._pairs.has_failed(self.name)

    def _next(self) -> Rung | None:
        """The opponent of a pair that lacks a game, or else against whom a game tells most; None where all have failed, or the player."""
        if self.has_failed:
            return None
        counts, rating, attempts = self.games_played(), self.rating(), Counter(row["opponent"] for row in self.rows)
        opponents = [rung for rung in self._rungs if not self._pairs.has_failed(rung.name)]
        if unpaired := [rung for rung in opponents if attempts[rung.name] % 2]:
            return unpaired[0]
        return max(opponents, key=lambda rung: informative(rating, rung.rating, counts[rung.name]), default=None)

    def games_played(self) -> Counter[str]:
        """Games against each opponent that are not void."""
        return Counter(row["opponent"] for row in self.rows if "score" in row)
