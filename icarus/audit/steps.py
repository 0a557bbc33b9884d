"""Audit of the draws after a step: nothing that the observer has not seen of it changes them, and they keep what he has seen.

A step leads from a decision to the next one, by an action and the outcomes of chance after it. Another way is one that the observer cannot
tell from it: it begins in the truth or in a draw for him, of each of its actions he sees the same move, and at its end the same player
acts, with the same label and, if he is the observer, with the same legal actions. All these ways end in one information set.

What is known of such an information set without a search through it: from any of its states the same random numbers draw the same; and what
the texts of many of these ways' ends all say, and that of the beginning did not, the texts of draws say too. The second is asked of the
player about to act alone: nobody else's draws begin a search.
"""

import random
import re
from collections.abc import Callable
from typing import TypeAlias

import attrs
import numpy as np

from icarus.audit.draws import ObserverDraws, differing
from icarus.audit.report import Check
from icarus.kernel.constants import CHANCE
from icarus.kernel.state import State

Word: TypeAlias = tuple[int, str]  # of a text, with the part of the text in which it stands
STEP_CLAIMS = {
    "unseen": "what the observer has not seen of a step changes no draw after it: the same random numbers draw the same",
    "seen": "what he has seen of a step holds in the draws after it",
    "sees all": "a draw for CHANCE, who sees everything, changes at most the luck to come: nothing that a player knows",
}
STEP_ABSENT = {
    "unseen": "no step was met that a player cannot tell from another",
    "seen": "no step showed what its draws could lack",
}
COMPARED = 20  # draws after each of two ways
STEPS = 5  # of a game that are looked at for what was seen
WAYS = DRAWS = 100  # ends of other ways, and draws, whose texts are compared
STARTS, HOPELESS = 2000, 200  # draws that other ways begin in; after so many without a tenth of WAYS no more are tried
KNOWN = 30  # draws: what the texts of all of them say, a player knows
OFTEN = 1 / 3  # of the draws lack what no other way's end lacks


@attrs.frozen
class Step:
    """A step of a random game.

    Attributes:
        before, after: the decisions between which it leads.
        actions: the action, and the outcomes of chance.
        texts: of all actions up to there.
    """

    before: State
    actions: tuple[int, ...]
    after: State
    texts: tuple[str, ...]


class Steps:
    """The steps of a random game, and the two checks of the draws after them.

    Args:
        face: all that can be seen of a state data by everyone together.
        describe: `describe(state, texts, what, data)`, an example.
    """

    def __init__(
        self, checks: dict[str, Check], face: Callable[[np.ndarray], object], describe: Callable[..., str]
    ) -> None:
        self._unseen, self._seen, self._sees_all = (checks[name] for name in STEP_CLAIMS)
        self._face, self._describe = face, describe
        self.begin()

    def begin(self) -> None:
        """A new random game."""
        self._steps: list[Step] = []
        self._before: State | None = None
        self._actions: list[int] = []

    def decide(self, state: State, texts: list[str]) -> None:
        """The game has come to a decision."""
        if self._before is not None:
            self._steps.append(Step(self._before, tuple(self._actions), state.clone(), tuple(texts)))
        self._before, self._actions = state.clone(), []

    def draw_for_chance(self, state: State, texts: list[str], rng: np.ndarray) -> None:
        """Draw for CHANCE at a decision, and often for the player about to act."""
        draws = ObserverDraws(state, state.current_player()).draw(state.data, KNOWN, rng)[0]
        try:
            draw = State.from_data(state.game, state.redraw(CHANCE, state.beliefs(CHANCE), rng))
        except Exception as error:  # whatever a game stumbles over is what there is to tell
            example = self._describe(state, texts, f"{error!r} where determinize draws for CHANCE", None)
            self._sees_all.count(1, 1, lambda: example)
            return
        words = words_of(state, state.data)
        for k in range(KNOWN):
            words &= words_of(state, draws[k : k + 1])
        lost = [word for _, word in sorted(words - words_of(state, draw.data))]
        if not lost and draw.data.tobytes() != state.data.tobytes():
            same = draw._player() == state._player() and draw._label(draw.data) == state._label(state.data)
            same = same and draw.legal_actions() == state.legal_actions()
            lost = [] if same else ["the actions about to be done"]
        what = f"the player knows {lost[0]!r}, which a draw for CHANCE lacks:" if lost else ""
        self._sees_all.count(1, bool(lost), lambda: self._describe(state, texts, what, draw.data))

    def act(self, action: int) -> None:
        """The game goes on by an action or an outcome of chance."""
        self._actions.append(action)

    def look(self, luck: random.Random, rng: np.ndarray) -> None:
        """Make both checks on steps of the game, which has ended."""
        for step in self._steps:
            for observer in range(step.after.game.players):
                self._look_unseen(step, observer, luck, rng)
        for step in luck.sample(self._steps, min(STEPS, len(self._steps))):
            self._look_seen(step, step.after.current_player(), luck, rng)

    def _look_unseen(self, step: Step, observer: int, luck: random.Random, rng: np.ndarray) -> None:
        """Compare the draws after the step with those after another way that begins in the truth, too."""
        game, truth = step.after.game, step.after.data
        rival = _another_way(step, step.before.data, observer, _observed_moves(step, observer), luck)
        if rival is None or self._face(rival) == self._face(truth):
            return
        before = rng.copy()
        first = ObserverDraws(step.after, observer).draw(truth, COMPARED, rng)[0]
        second = ObserverDraws(State.from_data(game, rival), observer).draw(rival, COMPARED, before)[0]
        wrong = differing(first, second, self._face)
        reason = "is another one where this is the truth, which he cannot tell from it:"
        what = f"draw {wrong[0] + 1} for player {observer} {reason}" if wrong else ""
        self._unseen.count(1, bool(wrong), lambda: self._describe(step.after, step.texts, what, rival))

    def _look_seen(self, step: Step, observer: int, luck: random.Random, rng: np.ndarray) -> None:
        """Compare the texts of draws with those of the ends of other ways, which begin in draws."""
        starts = ObserverDraws(step.before, observer).draw(step.before.data, STARTS, rng)[0]
        words = words_of(step.after, step.after.data) - words_of(step.before, step.before.data)
        ways, noticed = 0, _observed_moves(step, observer)
        for k in range(STARTS):
            if ways == WAYS or not words or k == HOPELESS and ways < WAYS / 10:
                break
            end = _another_way(step, starts[k : k + 1], observer, noticed, luck)
            if end is not None:
                words, ways = words & words_of(step.after, end), ways + 1
        if ways < WAYS or not words:
            return
        draws = ObserverDraws(step.after, observer).draw(step.after.data, DRAWS, rng)[0]
        lacking = {each: list(range(DRAWS)) for each in sorted(words)}
        for k in range(DRAWS):
            for each in words & words_of(step.after, draws[k : k + 1]):
                lacking[each].remove(k)
        (_, word), wrong = max(lacking.items(), key=lambda item: len(item[1]))

        def example() -> str:
            what = f"he knows {word!r}, which {len(wrong)} of {DRAWS} draws lack:"
            return self._describe(step.after, step.texts, what, draws[wrong[0] : wrong[0] + 1])

        self._seen.count(1, len(wrong) >= OFTEN * DRAWS, example)


def words_of(state: State, data: np.ndarray) -> set[Word]:
    """What the text of a state data says."""
    parts = re.split(r"[;\n]", state.game.text_of(data.view(np.recarray)[0]))
    return {(number, word.strip(",:()")) for number, part in enumerate(parts) for word in part.split()}


def _observed_moves(step: Step, observer: int) -> list[tuple[int, int, int]]:
    """Of each action of a step, the move that the observer sees, and who is about to act after it with which label."""
    state, column, noticed = step.before.clone(), step.before.game.perspective(observer), []
    for action in step.actions:
        move = state.observed(action)[column]
        state.apply_action(action)
        noticed.append((move, state.current_player(), state._label(state.data)))
    return noticed


def _another_way(
    step: Step, start: np.ndarray, observer: int, noticed: list[tuple[int, int, int]], luck: random.Random
) -> np.ndarray | None:
    """The data at the end of a way from a start that the observer cannot tell from a step; None if none was found."""
    state = State.from_data(step.before.game, start.copy())
    column = state.game.perspective(observer)
    for move, player, label in noticed:
        if state.is_terminal():
            return None
        choices = [each for each in state.legal_actions() if state.observed(each)[column] == move]
        if not choices:
            return None
        state.apply_action(luck.choice(choices))
        if state.current_player() != player or state._label(state.data) != label:
            return None
    same = noticed[-1][1] != observer or state.legal_actions() == step.after.legal_actions()
    return state.data if same else None
