"""What determinizations redraw: something at least, and of one other player as of another."""

import numpy as np

from icarus.audit.report import EXAMPLES, Check
from icarus.kernel.game import Game
from icarus.kernel.state import State

OFTEN = 20  # decisions at which another player's facts were redrawn, for "never" to mean something


class Redraws:
    """Which facts differ from the truth in any draw, counted by decisions: field by field where there is an element for each player."""

    def __init__(self, game: Game) -> None:
        players = self._players = game.players
        self._fields = [name for name in game.state.names or () if game.state[name].shape[:1] == (players,)]
        self._counts = np.zeros(
            (len(self._fields), players, players), np.int64
        )  # of a field, by observer and by player
        self._decisions = self._different = 0

    def note(self, state: State, observer: int, worlds: np.ndarray) -> None:
        """Count a decision of an observer, by its draws."""
        self._decisions += 1
        self._different += bool((worlds != state.data).any())
        for counts, name in zip(self._counts, self._fields, strict=True):
            differs = (worlds[name] != state.data[name]).reshape(len(worlds), self._players, -1)
            counts[observer] += differs.any(axis=(0, 2))

    def judge(self, check: Check) -> None:
        """Say what is never redrawn, although it is hidden."""
        wrong = ["no draw at any decision differs from the truth"] if not self._different else []
        for counts, name in zip(self._counts, self._fields, strict=True):
            for observer, redrawn in enumerate(counts):
                others = [player for player in range(self._players) if player != observer]
                never = [player for player in others if not redrawn[player]]
                if never and max(redrawn[others]) >= OFTEN:
                    wrong.append(
                        f"for player {observer}, {name}[{never[0]}] is never redrawn, while those of others are"
                    )
        check.checked, check.failed, check.examples = (
            self._decisions,
            len(wrong) if self._decisions else 0,
            wrong[:EXAMPLES],
        )
