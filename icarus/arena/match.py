"""One game to be played, here or in another process."""

import functools
from collections.abc import Callable, Iterable
from typing import TypeAlias

import attrs

from icarus.arena.ledger import Key
from icarus.arena.player import Entrant, LoadedGame, load_game
from icarus.engine.match import DecisionLog, GameLog, play
from icarus.kernel import AnyGame, State
from icarus.load_files import digest_of

Files: TypeAlias = tuple[tuple[str, ...], ...]  # each of one or more Python files and the digest of all of them


@attrs.frozen
class Match:
    """One game: the same one whenever and wherever it is played, unless a budget is in seconds.

    Attributes:
        key: what its row has in the fields of its ledger.
        game: by its name, with parameters; or itself, which cannot be given to other processes.
        entrants: who plays in each seat.
        seed: fixes everything random.
        files: Python files whose enhancements and games may be named, with their digests.
    """

    key: Key
    game: str | AnyGame
    entrants: tuple[Entrant, ...]
    seed: tuple[int, ...]
    files: Files = ()

    def play(self, watch: Callable[[State, int | None, DecisionLog | None], None] | None = None) -> GameLog:
        """Play the game; `watch` as of `icarus.play`."""
        loaded = load_unedited(self.game, self.files)
        players = {entrant: entrant.player(loaded.names) for entrant in self.entrants}
        return play(loaded.game, [players[entrant] for entrant in self.entrants], seed=self.seed, watch=watch)

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.key))} in {self.game}"


@functools.lru_cache(1)  # a file that is edited while its games are played plays on as it was
def load_unedited(game: str | AnyGame, files: Files) -> LoadedGame:
    """A game with files as `load_game` loads them.

    Raises:
        ValueError: see `load_game`; or a file was edited since its digest was taken, as before another process has begun to play.
    """
    loaded = load_game(game, [path for *paths, _ in files for path in paths])
    for *paths, before in files:
        if (now := digest_of(*paths)) != before:
            raise ValueError(f"{', '.join(paths)} was edited: the digest is {now}, in the games so far {before}")
    return loaded


def work_of(decisions: Iterable[DecisionLog]) -> list[float]:
    """The iterations of some decisions, and the seconds that they took."""
    spent = [(each.iterations, each.seconds) for each in decisions]
    return [sum(iterations for iterations, _ in spent), round(sum(seconds for _, seconds in spent), 4)]
