"""A state of a game in Python, in OpenSpiel's protocol, with the history that led to it."""

import bisect
import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np
import numpy.typing as npt

from icarus import checks
from icarus.compiler import defined_at, seeded
from icarus.kernel.contract import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    UNLABELLED,
    UNSEEN,
    Beliefs,
    StateData,
)

# ------------------------------------------------------------------ Where a history stands in its episode (section 5.1)


@attrs.frozen
class EpisodePosition:
    """η of a history since the start of the game (eq. 17), as each perspective saw it.

    Attributes:
        label: the label of the current episode.
        moves: for each perspective (players in order, then the environment; a single entry where everyone sees every action) the moves
            observed since the episode began.
        last: the player who made the last action of the game so far; None before the first.
        previous: (label, moves) of the history itself by the eyes of `last`: the episode that was running when that
            action was chosen, the action included, also where it ended that episode. (initial label, ()) before the first.
    """

    label: int
    moves: tuple[tuple[int, ...], ...]
    last: int | None
    previous: tuple[int, tuple[int, ...]]

    def seen_before(self, observer: int) -> tuple[int, tuple[int, ...]]:
        """`previous`, as far as a search for `observer` may know it.

        Where moves can be hidden, and another player's (or chance's) action ended the episode, what he saw of that episode is not for
        the observer to know: the position then stands for itself, at the start of its own episode.
        """
        sees_all = len(self.moves) == 1 or self.last in (None, observer)
        goes_on = any(self.moves)
        return self.previous if sees_all or goes_on else (self.label, ())


GameOfState: TypeAlias = Any  # a `Game` or a `PythonGame`, whose modules import this one


class State:
    """A state of a game with the history that led to it, in OpenSpiel's protocol.

    Rewards are the game's own, in [0, 1]; players are 0 … κ−1; `CHANCE` (−1) acts at chance states and `TERMINAL` (−4) is the
    current player of a finished game.

    A history begins at `start`: the initial state; the determinization, for a state that was drawn; and the data that a state was made
    of, of which it has a copy.

    Attributes:
        game: the game.
        data: [1] of game.state, the facts; of a `PythonGame` the object that its `initial` makes.
        history: (player, action) of every action since `start`.
        start: the data with which the history begins.

    Raises:
        TypeError: data that is not [1] of the game's state.
        ValueError: a fact outside its range.
    """

    def __init__(self, game: GameOfState, data: StateData) -> None:
        game.check_data(data)
        self._begin(game, game.ask("copy", data))

    @classmethod
    def from_data(cls, game: GameOfState, data: StateData) -> "State":
        """A state from data that the game's own functions made: they are not checked."""
        state = object.__new__(cls)
        state._begin(game, data)
        return state

    def _begin(self, game: GameOfState, data: StateData) -> None:
        """Let the history begin here."""
        self.game = game
        self.data = data
        self.start = game.ask("copy", data)
        self.history: list[tuple[int, int]] = []
        self._is_drawn = False
        # the position of `start`, once it is known
        self._origin: EpisodePosition | None = None
        # the history whose position was asked for last, and this position
        self._reached: tuple[list[tuple[int, int]], EpisodePosition] | None = None
        # by the name of a function, the data for which it was asked last, and its answer
        self._answers: dict[str, tuple[bytes, Any]] = {}

    @property
    def facts(self) -> Any:
        """The state data with attribute access, to be read only; of a `PythonGame` the object itself."""
        return self.game.facts_of(self.data)

    def with_facts(self, **fields: npt.ArrayLike) -> "State":
        """Another state, with these facts instead of its own, which begins a history; the game derives what follows from them.

        Raises:
            TypeError: the game has no such fact, or it takes another kind of value.
            ValueError: a fact outside its range, or facts of which the functions of the game make no sense.
        """
        state = State(self.game, self.game.changed_data(self.data, fields))
        # every answer is checked
        if state.is_terminal():
            state.returns()
        for action in state.legal_actions():
            after = state.clone()
            after.apply_action(action)
            after.current_player()
        return state

    def current_player(self) -> int:
        """ρ: who is about to act, CHANCE or TERMINAL."""
        return self._answer("player")

    def _answer(self, name: str) -> Any:
        """The answer of the game for the data, kept where the same data always get the same answer."""
        if not self.game.is_fixed:
            return self.game.ask(name, self.data)
        data = self.data.tobytes()  # somebody may have changed them
        if name not in self._answers or self._answers[name][0] != data:
            self._answers[name] = data, self.game.ask(name, self.data)
        return self._answers[name][1]

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def is_chance_node(self) -> bool:
        return self.current_player() == CHANCE

    def legal_actions(self) -> list[int]:
        """A(s), in the game's order; empty at a terminal state."""
        return [] if self.is_terminal() else list(self._answer("legal"))

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """(action, probability) of each outcome of a chance state (π₀).

        Raises:
            ValueError: not a chance state.
        """
        if not self.is_chance_node():
            raise ValueError(
                f"there are no chance outcomes: player {self.current_player()} is about to act in this state of {self.game}"
            )
        actions = self.legal_actions()
        if self.game.chance is None:
            return [(action, 1 / len(actions)) for action in actions]
        return list(zip(actions, self.game.ask("chance", self.data), strict=True))

    def apply_action(self, action: int) -> None:
        """f(s, a): play a legal action.

        Raises:
            ValueError: the action is not legal here.
        """
        action = self._playable(action)
        player = self.current_player()
        self.game.ask("apply", self.data, action)
        self.history.append((player, action))

    def _playable(self, action: int) -> int:
        legal = self.legal_actions()
        if not checks.is_integer(action) or action not in legal:
            choices = self._choices([f"{each} ({self._action_text(each)})" for each in legal])
            raise ValueError(f"action {checks.quoted(action)} is not legal here; {choices}")
        return int(action)

    def _choices(self, texts: Sequence[str]) -> str:
        if not texts:
            return f"this game of {self.game} has ended"
        more = f" and {len(texts) - 20} more" if len(texts) > 20 else ""
        return f"legal: {', '.join(texts[:20])}{more}"

    def returns(self) -> list[float]:
        """μ: each player's reward in [0, 1].

        Raises:
            ValueError: the game has not ended, or a reward is outside [0, 1].
        """
        if not self.is_terminal():
            raise ValueError(
                f"there are no rewards yet: player {self.current_player()} is about to act in this state of {self.game}"
            )
        return self.game.ask("rewards", self.data)

    def features(self) -> dict[str, float]:
        """The features of this state by their names; empty if the game has none.

        Raises:
            ValueError: a feature of the game is invalid.
        """
        if self.game.features is None:
            return {}
        return dict(zip(self.game.feature_names, self.game.ask("features", self.data), strict=True))

    def action_features(self, action: int) -> dict[str, float]:
        """The features of a legal action of the player to move, by their names.

        Raises:
            ValueError: the action is not legal here, or a feature of the game is invalid.
        """
        action = self._playable(action)
        if self.game.action_features is None:
            return {}
        numbers = self.game.ask("action_features", self.data, action)
        return dict(zip(self.game.action_feature_names, numbers, strict=True))

    def heuristic(self) -> list[float]:
        """The expected reward of each player, in [0, 1]: the game's heuristic, or the rewards of a terminal state.

        Raises:
            ValueError: the game has no heuristic, or an invalid one.
        """
        if self.is_terminal():
            return self.returns()
        if self.game.heuristic is None:
            raise ValueError(f"{self.game} has no heuristic")
        return self.game.ask("heuristic", self.data)

    def with_evaluation(self, evaluation: Any) -> "State":
        """The same state of the game with a learned evaluation; arguments and errors as of `AnyGame.with_evaluation`."""
        state = self.clone()
        state.game = self.game.with_evaluation(evaluation)
        return state

    def clone(self) -> "State":
        state = object.__new__(type(self))
        vars(state).update(
            vars(self),
            data=self.game.ask("copy", self.data),
            history=list(self.history),
            # its own: what the clone answers after an action would else take the place of what is known here
            _answers=dict(self._answers),
        )
        return state

    __copy__ = clone

    def __deepcopy__(self, memo: dict) -> "State":
        return self.clone()

    def determinize(self, observer: int, seed: int | Sequence[int] = 0) -> "State":
        """A state drawn uniformly from the information set of `observer`; this state is not changed.

        Raises:
            ValueError: no such player, or a bad seed.
        """
        return self.determinized(observer, seeded(checks.seed(seed)))

    def determinized(self, observer: int, generator: np.ndarray) -> "State":
        """A state drawn as by `determinize`, with the next numbers of a generator of `icarus.compiler.rng`."""
        return self.from_determinization(self.redraw(observer, self.beliefs(observer), generator))

    def redraw(self, observer: int, beliefs: Beliefs, generator: np.ndarray) -> StateData:
        """The data of a state drawn from the information set of `observer`, whose `beliefs` may be reused."""
        player = self._check_player(observer)
        return self.game.ask("determinize", self.data, player, beliefs, generator)

    def from_determinization(self, data: StateData) -> "State":
        """The state that data drawn from an information set of this one describes; its history begins there."""
        state = self.from_data(self.game, data)
        state._origin = state.recalled(self.position_in_episode())
        state._is_drawn = True
        return state

    def recalled(self, position: EpisodePosition) -> EpisodePosition:
        """A position in this episode with the moves that the game's `recall` tells of these data; as it is without `recall`."""
        if self.game.recall is None:
            return position
        moves = tuple(
            tuple(self.game.ask("recall", self.data, perspective))
            for perspective in range(self.game.perspectives)
        )
        previous = position.previous
        # a position without moves is after an action that ended another episode, to which `previous` belongs
        if position.last is not None and any(position.moves):
            moves_of_last = moves[self.game.perspective(position.last)]
            if moves_of_last:
                previous = position.label, moves_of_last
        return attrs.evolve(position, moves=moves, previous=previous)

    def observed(self, action: int) -> list[int]:
        """The move that each perspective sees of an action about to be played: the players, then the environment, or one for all."""
        return self.game.observed_moves(self.data, action)

    def beliefs(self, observer: int) -> Beliefs:
        """What `determinize` may compute ahead for `observer`: [1] of game.beliefs.

        Raises:
            ValueError: no such player.
        """
        return self.game.ask("prepare", self.data, self._check_player(observer))

    def moves(self, player: int) -> tuple[int, ...]:
        """The moves that a player (or CHANCE, who sees everything) has observed since the start of the game.

        Raises:
            ValueError: no such player, or a determinized state, which has no history of its own.
        """
        column = self.game.perspective(self._check_player(player))
        if self._is_drawn:
            raise ValueError(
                "a determinized state has no history of its own; use the state it was drawn from"
            )
        return tuple(moves[column] for _, moves, _ in self.replay() if moves[column] != UNSEEN)

    def position_in_episode(self) -> EpisodePosition:
        """Where this state stands in its episode (section 5.1), counted from the start of the game.

        The data with which the history begins define the episode there: its label, and the moves of `recall`.
        """
        if self._reached is not None and self._reached[0] == self.history and self.game.is_fixed:
            return self._reached[1]
        if self._origin is None:
            self._origin = self._position_at_start()
        position = self._origin
        label = position.label
        moves = list(position.moves)
        last = position.last
        previous = position.previous
        for player, observed, data in self.replay():
            moves = [
                old if move == UNSEEN else (*old, move)
                for old, move in zip(moves, observed, strict=True)
            ]
            last = player
            previous = label, moves[self.game.perspective(player)]
            new_label = self._label(data)
            if new_label != CONTINUES:
                label = new_label
                moves = [()] * self.game.perspectives
        position = EpisodePosition(label, tuple(moves), last, previous)
        self._reached = list(self.history), position
        return position

    def _position_at_start(self) -> EpisodePosition:
        label = self._label(self.start)
        label = UNLABELLED if label == CONTINUES else label
        position = EpisodePosition(label, ((),) * self.game.perspectives, None, (label, ()))
        return self.from_data(self.game, self.start).recalled(position)

    def _label(self, data: StateData) -> int:
        return CONTINUES if self.game.episode is None else self.game.ask("episode", data)

    def replay(self) -> Iterator[tuple[int, list[int], StateData]]:
        """Each action of the history as (player, the move that each perspective saw, the state data after it)."""
        data = self.game.ask("copy", self.start)
        for player, action in self.history:
            moves = self.game.observed_moves(data, action)
            self.game.ask("apply", data, action)
            yield player, moves, data

    def _check_player(self, player: int) -> int:
        if checks.is_integer(player) and (player == CHANCE or 0 <= player < self.game.players):
            return int(player)
        raise ValueError(
            f"{self.game} has {checks.indices_text('player', self.game.players)}, not {checks.quoted(player)}"
        )

    def action_to_string(self, action: int) -> str:
        """A legal action in the notation of the game.

        Raises:
            ValueError: the action is not legal here.
        """
        return self._action_text(self._playable(action))

    def _action_text(self, action: int) -> str:
        return self.game.action_text_of(self.facts, action)

    def string_to_action(self, text: str) -> int:
        """The legal action with this text, or the only one that differs from it in capitals and separators.

        Raises:
            TypeError: `text` is not a str.
            ValueError: no legal action has this text, and the message lists the legal ones; or several have it, or differ from it so.
        """
        if not isinstance(text, str):
            raise TypeError(f"the text of an action is {checks.quoted(text)}; it must be a str")
        legal = self.legal_actions()
        texts = list(map(self._action_text, legal))
        if text not in texts:
            board = self.game.board
            name = checks.bare(board.reading(text) if board else text)
            different = list(dict.fromkeys(texts))
            names = [each for each in different if checks.bare(each) == name]
            if len(names) > 1:
                meanings = " or ".join(map(repr, names))
                raise ValueError(f"{text!r} may be {meanings} here; write the one that is meant")
            if not names:
                raise ValueError(
                    f"{checks.quoted(text)} is not legal here; {self._choices(different)}"
                )
            text = names[0]
        if texts.count(text) > 1:
            raise ValueError(
                f"{texts.count(text)} legal actions are called {text!r} here; action_text of {self.game} must tell them apart"
                f"{defined_at(self.game.action_text)}"
            )
        return legal[texts.index(text)]

    def history_str(self) -> str:
        """The actions since `start` in the notation of the game."""
        state = self.from_data(self.game, self.game.ask("copy", self.start))
        texts = []
        for _, action in self.history:
            texts.append(state.action_to_string(action))
            state.apply_action(action)
        return " ".join(texts)

    def __str__(self) -> str:
        return self.game.text_of(self.facts)

    def __repr__(self) -> str:
        return f"<{self.game} after {checks.count_text(len(self.history), 'action')}>"


def draw_outcome(state: Any, luck: np.random.Generator | random.Random) -> int:
    """An outcome of a chance state, of a `State` or another with OpenSpiel's methods, by its probability."""
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    index = bisect.bisect(list(itertools.accumulate(probabilities)), luck.random())
    return int(outcomes[min(index, len(outcomes) - 1)])


def random_action(state: Any, luck: random.Random) -> int:
    """A random legal action, or an outcome of chance by its probability, of a `State` or another with OpenSpiel's methods."""
    if state.current_player() != CHANCE or not hasattr(state, "chance_outcomes"):
        return int(luck.choice(list(state.legal_actions())))
    return draw_outcome(state, luck)
