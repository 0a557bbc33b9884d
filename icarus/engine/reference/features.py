"""What the game tells of the states and actions of a playout, in plain Python."""

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np
import numpy.typing as npt

from icarus.engine.lowering import widths_of
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.data import StateData
from icarus.kernel.features import ACTION_FEATURES, ENDINGS, FEATURES, LOOKAHEAD
from icarus.kernel.python_game import PythonGame


class FeatureEvaluator:
    """What a game tells, as far as slots read it.

    Attributes:
        widths: how many numbers the tables have in a row, by their names.
    """

    def __init__(self, game: PythonGame, tables: int) -> None:
        self.game, self.tables, self.widths = game, tables, widths_of(game, tables)

    def evaluate_state(self, tables: dict[str, list[npt.ArrayLike]], world: StateData) -> None:
        """Append the features of a state."""
        if self.tables & FEATURES:
            tables["features"].append(self.game.tell("features", world))

    def evaluate_step(
        self,
        tables: dict[str, list[npt.ArrayLike]],
        world: StateData,
        player: int,
        actions: Sequence[int],
        edges: Sequence[int],
    ) -> None:
        """Append what is told of a state and of its legal actions: a row for each edge, the mean over the actions that look so.

        Args:
            edges: the place of each action among the edges of the history.
        """
        self.evaluate_state(tables, world)
        evaluators: dict[str, tuple[int, Callable[[StateData, int], np.ndarray]]] = {
            "action_features": (ACTION_FEATURES, self._features_of(player)),
            "lookahead": (LOOKAHEAD, self.lookahead),
            "endings": (ENDINGS, self.ending),
        }
        for name, (table, function) in evaluators.items():
            if self.tables & table:
                rows = [function(world, action) for action in actions]
                for edge in range(max(edges) + 1):
                    group = [row for row, edge_of_row in zip(rows, edges, strict=True) if edge_of_row == edge]
                    tables[name].append(reduce(np.add, group) / len(group))

    def _features_of(self, player: int) -> Callable[[StateData, int], np.ndarray]:
        if player == CHANCE:
            return lambda world, action: np.zeros(self.widths["action_features"])
        return lambda world, action: self.game.tell("action_features", world, action)

    def lookahead(self, world: StateData, action: int) -> np.ndarray:
        """The heuristic of the state that an action leads to, for each player; μ where it ends the game."""
        after = self._after(world, action)
        return self.rewards(after) if self._ends(after) else self.game.tell("heuristic", after)

    def ending(self, world: StateData, action: int) -> np.ndarray:
        """μ where an action ends the game, NaN where it does not."""
        after = self._after(world, action)
        return self.rewards(after) if self._ends(after) else np.full(self.game.players, np.nan)

    def rewards(self, world: StateData) -> np.ndarray:
        """μ of a terminal state."""
        return np.array(self.game.rewards(world), float)

    def _ends(self, world: StateData) -> bool:
        return self.game.player(world) == TERMINAL

    def _after(self, world: StateData, action: int) -> StateData:
        after = self.game.copy(world)
        self.game.apply(after, action)
        return after
