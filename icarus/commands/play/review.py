"""A game looked back at: what each decision was worth by a search, and where one could have done better."""

import math

import attrs
import numpy as np

from icarus.algebra import Enhancement
from icarus.commands.play.session import Played, Progress, Session
from icarus.engine.match import Agent
from icarus.engine.result import Result
from icarus.kernel import CHANCE
from icarus.kernel.state import State

LEAST = 0.05  # of reward: a smaller loss is not a mistake
REVIEW_STREAM = 3
ERRORS = 2.0  # standard errors of a value that a loss must exceed


@attrs.frozen
class Entry:
    """A decision as a search sees it.

    Attributes:
        index: of the action in the game.
        seat: who decided.
        value: what the search expects for this player, from 0 to 1.
        loss: by how much what was played is worth less than `better`; 0 where it does not show.
        better: what the search prefers, where something was lost; otherwise empty.
    """

    index: int
    seat: int
    value: float
    loss: float
    better: str


class Review:
    """The review of a game that is over, a decision at a time: of a person's by the adviser in that seat, of an agent's by its own search.

    Attributes:
        entries: so far, of decisions to which a search gives a value.

    Raises:
        ValueError: the adviser does not search a tree with values.
    """

    def __init__(self, session: Session, adviser: Agent) -> None:
        if not isinstance(adviser.strategy, Enhancement):
            raise ValueError(f"{adviser} gives no values, so the game cannot be reviewed")
        self._adviser, self._people, self._key = adviser, session.people, (session.seed, REVIEW_STREAM)
        self.entries: list[Entry] = []
        decided = [
            (index, session.at(index), played) for index, played in enumerate(session.played) if played.player != CHANCE
        ]
        self._waiting = [each for each in decided if self._is_judged(*each)]

    def _is_judged(self, index: int, state: State, played: Played) -> bool:
        if played.player in self._people:
            return len(state.legal_actions()) > 1
        return isinstance(played.result, Result)

    @property
    def done(self) -> bool:
        return not self._waiting

    def step(self, progress: Progress | None = None) -> None:
        """Look at the next decision; `progress` as in `Agent.search`."""
        index, state, played = self._waiting[0]
        mine = played.player in self._people
        result = None if mine else played.result
        if result is None:
            result = self._adviser.search(state, (*self._key, index), progress=progress)
        if not math.isnan(result.value):  # after very few iterations the move may have no visit
            loss = loss_of(result, played.action) if mine else 0.0
            better = state.action_to_string(result.action) if loss else ""
            self.entries.append(Entry(index, played.player, round(result.value, 3), round(loss, 3), better))
        self._waiting.pop(0)


def loss_of(result: Result, action: int) -> float:
    """By how much an action is worth less than the one that a search prefers; 0 where that is little or does not show."""
    i = result.actions.index(action)
    visits, value = int(result.visits[i]), float(result.values[i])
    if visits == 0 or np.isnan(value):
        return 0.0
    error = math.sqrt(max(value * (1 - value), 0.25 / visits) / visits)
    loss = result.value - value
    return loss if loss >= max(LEAST, ERRORS * error) else 0.0
