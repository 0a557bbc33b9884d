"""One game to be played, here or in another process."""

from collections.abc import Callable, Iterable

import attrs

from icarus.arena.ledger import Key
from icarus.arena.player import Entrant, load_game
from icarus.engine.match import DecisionLog, GameLog, play
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State


@attrs.frozen
class Match:
    """One game: the same one whenever and wherever it is played, unless a budget is in seconds.

    Attributes:
        key: what its row has in the fields of its ledger.
        game: by its name, with parameters; or itself, which cannot be given to other processes.
        entrants: who plays in each seat.
        seed: fixes everything random.
        files: Python files whose enhancements and games may be named.
    """

    key: Key
    game: str | AnyGame
    entrants: tuple[Entrant, ...]
    seed: tuple[int, ...]
    files: tuple[str, ...] = ()

    def play(self, watch: Callable[[State, int | None, DecisionLog | None], None] | None = None) -> GameLog:
        """Play the game; `watch` as of `icarus.play`."""
        loaded = load_game(self.game, self.files)
        players = {entrant: entrant.player(loaded.names) for entrant in self.entrants}
        return play(loaded.game, [players[entrant] for entrant in self.entrants], seed=self.seed, watch=watch)

    def __str__(self) -> str:
        return f"{', '.join(map(str, self.key))} in {self.game}"


def work_of(decisions: Iterable[DecisionLog]) -> list[float]:
    """The iterations of some decisions, and the seconds that they took."""
    spent = [(each.iterations, each.seconds) for each in decisions]
    return [sum(iterations for iterations, _ in spent), round(sum(seconds for _, seconds in spent), 4)]
