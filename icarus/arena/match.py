"""The unit of play: one game, which is played here or in another process, and kept as one row of a ledger.

A list of matches is played into a ledger so; those that it has already, by their keys, are not played again:

    entrants = Entrant("RAVE >> MAST", iterations=100), Entrant("BASELINE", iterations=100, random_moves=0.1)
    matches = [Match((number,), "othello", entrants, seed=(7, number)) for number in range(100)]
    with Ledger(Path("games.jsonl"), ["number"]) as ledger, workers(2) as playing:
        rows = ledger.play(matches, game_row, playing)

`game_row` plays a match and says what its row has beside the key; any such function will do that other processes can import by its name.
A row is the same whoever plays it, and whenever: to play one again, make its match again and compare.
"""

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import attrs

from icarus.arena.ledger import GameRow, Key
from icarus.arena.player import Entrant, LoadedGame, PartlyRandom, game_with
from icarus.engine.match import DecisionLog, GameLog, Player, play
from icarus.kernel import AnyGame, State
from icarus.load_files import digest_of, names_in

# each of one or more files and the digest of all of them
Files: TypeAlias = tuple[tuple[str, ...], ...]


@attrs.frozen
class Match:
    """One game: the same one whenever and wherever it is played, unless a budget is in seconds.

    Attributes:
        key: what its row has in the fields of its ledger.
        game: by its name, with parameters; or itself, which cannot be given to other processes.
        entrants: who plays in each seat; or players themselves, which cannot be given to other processes either.
        seed: fixes everything random.
        files: Python files whose enhancements and games may be named, and other files that entrants use, with their digests.
        opening: so many actions at the beginning are random, the same whoever plays.
        labels: what else its row says of it, whatever happens in it.
    """

    key: Key
    game: str | AnyGame
    entrants: tuple[Entrant | Player, ...]
    seed: tuple[int, ...]
    files: Files = ()
    opening: int = 0
    labels: Mapping[str, Any] = attrs.field(factory=dict)

    @property
    def loaded(self) -> LoadedGame:
        """The game, and what the files define; errors as of `load_unedited`."""
        return load_unedited(self.game, self.files)

    def play(
        self, watch: Callable[[State, int | None, DecisionLog | None], None] | None = None
    ) -> GameLog:
        """Play the game; `watch` as of `icarus.play`."""
        loaded = self.loaded
        players: list[Player] = []
        for entrant in self.entrants:
            player = entrant.player(loaded.names) if isinstance(entrant, Entrant) else entrant
            players.append(PartlyRandom(player, self.opening) if self.opening else player)
        return play(loaded.game, players, seed=self.seed, watch=watch)

    def __str__(self) -> str:
        return f"{' against '.join(dict.fromkeys(map(str, self.entrants)))} in {self.game}, seed {self.seed}"


def seated(
    pair: tuple[Entrant, Entrant], seat: int, players: int, **budget: Any
) -> tuple[Entrant, ...]:
    """The first of a pair in a seat, and the second in all others, each with this budget.

    Their evaluations have full paths, as other processes may have begun in another directory.
    """
    player, opponent = (
        attrs.evolve(each, evaluation=_full(each.evaluation), **budget) for each in pair
    )
    return tuple(player if each == seat else opponent for each in range(players))


def _full(path: str) -> str:
    return str(Path(path).resolve()) if path else ""


def game_row(match: Match, log: GameLog | None = None) -> GameRow:
    """Play a match, if its log is not given, and tell its course: labels, seed, returns, actions with their players, seconds."""
    log = log or match.play()
    return {
        **match.labels,
        "seed": list(match.seed),
        "returns": [float(reward) for reward in log.returns],
        "actions": [[int(player), int(action)] for player, action in log.actions],
        "seconds": round(log.seconds, 6),
    }


@functools.lru_cache(32)  # a file that is edited while its games are played plays on as it was
def load_unedited(game: str | AnyGame, files: Files) -> LoadedGame:
    """A game with files as `load_game` loads them, which are not checked again.

    Raises:
        ValueError: see `load_file` and `games.load`; or a file was edited since its digest was taken, perhaps before another process
            began to play.
    """
    paths = [Path(path) for *group, _digest in files for path in group]
    names = names_in(path for path in paths if path.suffix == ".py")
    refuse_edited(files)
    return LoadedGame(game_with(game, paths), names, paths)


def refuse_edited(files: Files) -> None:
    """Refuse files that are not what they were.

    Raises:
        ValueError: one was edited since its digest was taken. OSError: one cannot be read.
    """
    for *paths, before in files:
        if (now := digest_of(*paths)) != before:
            raise ValueError(
                f"{', '.join(paths)} was edited: the digest is {now}, in the games so far {before}"
            )


def work_of(decisions: Iterable[DecisionLog]) -> list[float]:
    """The iterations of some decisions, and the seconds that they took."""
    logs = list(decisions)
    iterations = sum(each.iterations for each in logs)
    seconds = sum(each.seconds for each in logs)
    return [iterations, round(seconds, 4)]
