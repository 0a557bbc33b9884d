"""Pairs of games between players, each game kept before the next begins."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

from icarus.engine.match import Player
from icarus.kernel.game import AnyGame
from icarus.ladder.engines import EnginePlayer
from icarus.ladder.matches import Row, next_pair, play_game
from icarus.row_files import append_row

PATIENCE = 3  # failures in a row, after which an engine is left alone


class Pairs:
    """Pairs of games between players of one game. A context manager: the engines among the players end with it.

    Args:
        players: by their names in rows.
        rows: the games so far; new ones are added.
        path: the file to which new rows are appended; None to keep none.
        seed: fixes openings, dice, deals and searches.
        stamp: fields that each new row gets besides.

    Attributes:
        failures: of each engine, in a row.
    """

    def __init__(
        self, game: AnyGame, players: Mapping[str, Player], rows: list[Row], path: Path | None, seed: int, stamp: Row
    ) -> None:
        self.rows, self.failures = rows, Counter[str]()
        self._game, self._players, self._path, self._seed, self._stamp = game, players, path, seed, stamp

    def between(self, player: str, opponent: str) -> list[Row]:
        """The games between two players, void ones included."""
        return [row for row in self.rows if {player, opponent} == {row["player"], row["opponent"]}]

    def has_failed(self, player: str) -> bool:
        """Whether a player is an engine that failed again and again, so that it plays no more."""
        return self.failures[player] >= PATIENCE

    def play(self, player: str, opponent: str) -> Iterator[Row]:
        """The next two games between two players, or the one that a pair lacks."""
        for seed, side in next_pair(len(self.between(player, opponent)), self._seed):
            row = play_game(self._game, self._players[player], self._players[opponent], seed=seed, side=side)
            row |= {"player": player, "opponent": opponent, **self._stamp}
            if "void" in row:
                self.failures[row["failed"]] += 1
            else:
                self.failures[player] = self.failures[opponent] = 0
            self.rows.append(row)
            if self._path:
                append_row(self._path, row)
            yield row

    def __enter__(self) -> "Pairs":
        return self

    def __exit__(self, *error: object) -> None:
        for player in self._players.values():
            if isinstance(player, EnginePlayer):
                player.close()
