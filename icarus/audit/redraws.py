"""What determinizations redraw: something at least, and of one other player as of another."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from icarus.audit.report import EXAMPLES, Check
from icarus.kernel.state import State

OFTEN = 20  # decisions at which another player's facts were redrawn, for "never" to mean something


class Redraws:
    """Which facts differ from the truth in any draw, counted by decisions: by name where there is an element for each player.

    Args:
        fewest: decisions at which something should have been redrawn.
    """

    def __init__(self, players: int, fewest: int = 1) -> None:
        self._players, self._fewest = players, fewest
        # Of a name, by observer and by player.
        self._counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((players, players), np.int64))
        self._decisions = self._different = 0

    def note(self, observer: int, different: bool, redrawn: Mapping[str, Sequence[bool] | np.ndarray]) -> None:
        """Count a decision of an observer, by its draws.

        Args:
            different: whether any of them is not the truth.
            redrawn: by name, for each player, whether his element is another one in any of them.
        """
        self._decisions += 1
        self._different += different
        for name, players in redrawn.items():
            self._counts[name][observer] += players

    def judge(self, check: Check, hides: Callable[[str, int, int], bool] = lambda name, observer, player: True) -> None:
        """Say what is never redrawn, although it is hidden.

        Args:
            hides: `hides(name, observer, player)`, whether the observer is known not to see the player's element.
        """
        blind = self._decisions >= self._fewest and not self._different
        wrong = ["no draw at any decision differs from the true state"] if blind else []
        for name, counts in self._counts.items():
            for observer, redrawn in enumerate(counts):
                others = [player for player in range(self._players) if player != observer]
                never = [player for player in others if not redrawn[player] and hides(name, observer, player)]
                if never and max(redrawn[others]) >= OFTEN:
                    wrong.append(
                        f"for player {observer}, {name}[{never[0]}] is never redrawn, while those of others are"
                    )
        check.checked, check.examples = self._decisions, wrong[:EXAMPLES]
        check.failed = len(wrong) if self._decisions else 0


def redrawn_fields(state: State, worlds: np.ndarray) -> dict[str, np.ndarray]:
    """By field of the state data with an element for each player, whose elements differ in any of the determinizations. [κ]"""
    dtype, players = state.game.state, state.game.players
    names = [name for name in dtype.names or () if dtype[name].shape[:1] == (players,)]
    differs = {name: (worlds[name] != state.data[name]).reshape(len(worlds), players, -1) for name in names}
    return {name: each.any(axis=(0, 2)) for name, each in differs.items()}
