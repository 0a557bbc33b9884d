"""What a `PythonGame` says, with the actions after which it says it; and how large it is, estimated by asking it."""

import random
from collections.abc import Callable
from typing import Any, TypeAlias

from icarus.equilibrium.tree.arrays import PLAYERS
from icarus.equilibrium.tree.deals import Deals
from icarus.equilibrium.tree.size import COUNTLESS, WALKS
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.data import StateData
from icarus.kernel.python_game import PythonGame

Actions: TypeAlias = "tuple[Actions, int] | None"  # that of the actions before, and the last one
SHOWN = 50  # actions in a message
ENOUGH = 1 << 13  # histories after which no walk begins that is only to make the estimate better


class Questions:
    """The functions of a game of two players, as they are asked. What they raise comes with a note of the actions that led there.

    Attributes:
        path: of the actions that led to the state asked about.

    Raises:
        ValueError: an answer makes no sense (`icarus.kernel.answers`).
    """

    def __init__(self, game: PythonGame) -> None:
        self.game = game
        self.path: Actions = None

    @property
    def _place(self) -> str:
        """Where in the game this is, for messages."""
        path, actions = self.path, list[int]()
        while path is not None:
            path, action = path
            actions.append(action)
        actions.reverse()
        if len(actions) > SHOWN:
            return f"after {len(actions)} actions, the last of them {actions[-SHOWN:]}"
        return f"after the actions {actions}"

    def _ask(self, function: Callable, *arguments: object) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            error.add_note(f"in {self.game} {self._place}")
            raise

    def refuse(self, answer: str) -> None:
        """Raise what is wrong with an answer."""
        raise ValueError(f"{self._place} {self.game} {answer}")

    def player(self, state: StateData) -> int:
        """ρ."""
        return int(self._ask(self.game.player, state))

    def legal(self, state: StateData, player: int) -> list[int]:
        """A(s); nothing where the game has ended."""
        if player == TERMINAL:
            return []
        return list(self._ask(self.game.legal, state))

    def probabilities(self, state: StateData, player: int, count: int) -> list[float]:
        """π₀ of so many outcomes of chance; 0 of the actions of a player."""
        if player != CHANCE or self.game.chance is None:
            return [1 / count if player == CHANCE else 0.0] * count
        return list(self._ask(self.game.chance, state))

    def moves(self, state: StateData, action: int) -> list[int]:
        """The ⌣ᵢ."""
        if self.game.observe is None:
            return [action] * PLAYERS
        return list(self._ask(self.game.observe, state, action))

    def rewards(self, state: StateData, player: int) -> list[float]:
        """μ; 0 where the game has not ended."""
        if player != TERMINAL:
            return [0.0] * PLAYERS
        return list(self._ask(self.game.rewards, state))

    def after(self, state: StateData, action: int) -> StateData:
        """The state after an action, which is added to the path; the one given stays."""
        child = self._ask(self.game.copy, state)
        self._ask(self.game.apply, child, action)
        self.path = self.path, action
        return child


def estimate_histories(game: PythonGame, deals: Deals) -> float:
    """The number of histories of a game, estimated by walks as in `size`.

    Raises:
        ValueError: an answer of the game makes no sense.
    """
    luck, totals, visited = random.Random(0), list[float](), 0
    while not totals or (len(totals) < WALKS and visited < ENOUGH):
        total, histories = _walk(Questions(game), luck.choice(deals.states), luck)
        totals.append(total)
        visited += histories
    return len(deals) * sum(totals) / len(totals)


def _walk(questions: Questions, start: StateData, luck: random.Random) -> tuple[float, int]:
    """What a walk by strata tells of the number of histories after a deal, at most about COUNTLESS; and those that it looked at."""
    total, visited, depth = 0.0, 1, 0
    level: list[tuple[StateData, Actions, float]] = [(start, None, 1.0)]
    while level and total < COUNTLESS and depth <= questions.game.max_length:
        strata: dict[tuple[int, int], tuple[StateData, Actions, float]] = {}
        for state, path, weight in level:
            total += weight
            questions.path = path
            for action in questions.legal(state, questions.player(state)):
                questions.path = path
                child = questions.after(state, action)
                player = questions.player(child)
                stratum = player, len(questions.legal(child, player))
                chosen, path_to_it, sum_of_weights = strata.get(stratum, (child, questions.path, 0.0))
                sum_of_weights += weight
                if luck.random() * sum_of_weights < weight:
                    chosen, path_to_it = child, questions.path
                strata[stratum] = chosen, path_to_it, sum_of_weights
                visited += 1
        level, depth = list(strata.values()), depth + 1
    return total, visited
