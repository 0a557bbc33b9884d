"""The contract of a game: each promise that the docstring of `Game` asks for, tested in random games."""

import contextlib
import os
import random
import re
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus.audit.report import both_texts, checks_of, indented, last_of, note_unchecked
from icarus.audit.subjects import (
    AskedGame,
    BrokenPromise,
    Stream,
    fingerprint,
    key_of,
    remembers_all,
    stamp,
)
from icarus.checks import count_text
from icarus.compiler import location, seeded
from icarus.compiler.digest import PACKAGE
from icarus.engine.lowering import unseeded_sources
from icarus.kernel import (
    CHANCE,
    KINDS,
    TERMINAL,
    UNSEEN,
    AnyGame,
    Game,
    State,
    StateData,
    TextError,
    in_python,
    out_of_range,
    random_action,
)
from icarus.kernel.functions import AUTHOR_ERRORS

MOST_NUMBER = 1 << 63  # below it are all actions
MOST_ACTIONS = 20_000  # of a game that is taken to end
LAST_ACTIONS = 200  # of the history, told in an example
# of a compiled game in plain Python, where numpy checks each index
PLAIN_GAMES = 5
PLAIN_ACTIONS = 300
RESULTS = 3  # one of so many actions is done in a draw, too, and what comes of it is compared
MERGED = (
    "in his tree one node stands for all that may come of it, and whether that is meant is not checked; with a move for each result from "
    "observe there are as many nodes"
)
# At the first actions of a game in plain Python, so many, is always determinized; after n actions with a probability of PLAIN_DRAWN / n.
PLAIN_DRAWN = 8
# of a number that a field cannot hold
UNFIT = re.compile(r"out of bounds for u?int\d+$|truncated to an integer$")

CONTRACT = {
    "mover": "the player about to act is one of the players, CHANCE or TERMINAL",
    "choices": "1 to max_legal legal actions, different, not negative and below `actions`, the same in a second call and in a copy",
    "errors": "no function raises an error, and each returns what it should",
    "notation": "legal actions have different texts, and none is empty",
    "chances": "the outcomes of chance have probabilities from 0 to 1 that sum to 1",
    "moves": "the mover sees his action, in plain Python perhaps more; what observe hides no observation tells, what it tells none hides",
    "episodes": "an episode label is at least 0 or CONTINUES; the number of a simultaneous choice is at least 0",
    "recall": "recall returns what each perspective has seen of the episode; a game that hides moves in an episode has recall",
    "repeat": "the same seed gives the same deal and determinization, the same action changes equal states equally, and a second call "
    "gives the same answer; a game of plain Python is the same at the end of the audit, and alone in a new process",
    "ranges": "every field of the state data stays within its range, in determinizations too",
    "rewards": "at the end a reward from 0 to 1 is written for each player",
    "end": f"a random game ends within {MOST_ACTIONS:,} actions, and within max_length; every function returns",
    "hidden": "a game whose observe hides a move has determinize",
    "at once": "simultaneous choices have the numbers 1, 2, …, each of another player, and each is hidden from the next player",
    "features": "features are finite numbers, one for each name; the heuristic is a number from 0 to 1 for each player",
    "luck": "all randomness comes from the generator that a function is given, or from chance: where everyone sees everything, an action "
    "leads to the same from states that look the same",
    "memory": "functions write only to what they are given; all but initial, apply and determinize leave the state unchanged",
    "indices": "in games of plain Python no index lies outside its array, no number outside its field, and nothing is read from np.empty "
    "before it is written; compiled code checks nothing of that",
    "board": "states with the same text have the same player about to act, legal actions or rewards",
}
_ABSENT = {
    "chances": "the games had no chance nodes",
    "moves": "everyone sees every action",
    "episodes": "the game has neither episodes nor simultaneous choices",
    "recall": "nothing is hidden in episodes",
    "ranges": "the game names no ranges",
    "luck": "no two games came to states that look the same",
    "hidden": "everyone sees every action",
    "at once": "no simultaneous choices were met",
    "features": "the game has neither features nor a heuristic",
    "board": "in plain Python nobody sees all of a state in which something is hidden, or that cannot be looked into",
}


@attrs.frozen
class _Choice:
    """A decision, for the one after it, which may be made at once with it.

    Attributes:
        number: among those made at once, from 1; 0 for one by itself.
        player: who makes it.
        is_visible: whether another player sees what is chosen.
    """

    number: int = 0
    player: int = TERMINAL
    is_visible: bool = False


class Contract:
    """The contract of a game under test, in one random game after another."""

    def __init__(
        self, game: AnyGame, seed: tuple[int, ...], games: int, most_actions: int | None = None
    ) -> None:
        self.game = game
        self.asked = AskedGame(game)
        self.compiled = isinstance(game, Game)
        self.seed = seed
        self.games = games
        self.most_actions = most_actions or MOST_ACTIONS
        self.checks = checks_of(CONTRACT, () if self.compiled else ("ranges", "indices"))
        # What functions have answered in the first and in the last game, which are played again at the end.
        self.told: dict[int, list[str]] = {} if self.compiled else {0: [], games - 1: []}
        # True states, with who acts and where that is; `play_determinized` goes on from draws of them.
        self.states_to_determinize: list[tuple[StateData, int, str]] = []
        # how often each player has acted in all games
        self._acted = Counter[int]()
        # the lengths of the games that came to their ends
        self._lengths = list[int]()
        # by all that is seen of a state, who acts in it, with which actions
        self._boards: dict[bytes, tuple] = {}
        # by all that is seen of a state, and an action, what it has led to
        self._followers: dict[bytes, tuple[str, object, str]] = {}
        # the game under way: its number, in words, its actions, and its present state
        self._number = 0
        self._place = ""
        self._texts = list[str]()
        self._data: StateData = None
        # the decision before the present one
        self._earlier = _Choice()
        # whether the game goes on from a determinization, in which nothing is determinized
        self._in_playout = False
        # the moves that each perspective has seen since the episode began; None where they are not known
        self._observed: list[list[int]] | None = None

    @property
    def broken(self) -> bool:
        """Whether a promise is broken that draws depend on; on `recall` depends only what learns in episodes."""
        return any(check.failed for check in self.checks.values() if check.name != "recall")

    def play(self, number: int) -> BrokenPromise | None:
        """Test the contract in a random game; the promise that is broken in it."""
        seed = (*self.seed, Stream.GAMES, number)
        self._number = number
        self.asked.told = self.told.get(number)
        place = (
            f"game {number + 1} of {self.games} for the contract, new_initial_state(seed={seed})"
        )
        try:
            return self._until_broken(place, f"{seed}", partial(self._deal, seed))
        finally:
            self.asked.told = None

    def play_determinized(self, number: int) -> None:
        """Test the contract in a random game that goes on from a determinization, as a playout does."""
        if not self.states_to_determinize:
            return
        luck = random.Random(f"{self.seed} at {number}")
        data, observer, where = luck.choice(self.states_to_determinize)
        place = f"{where}, then in a determinization for player {observer}"
        seed = (*self.seed, Stream.PLAYOUTS, number)
        play = partial(self._go_on_from_draw, data, observer, seed)
        self._until_broken(place, f"{self.seed} from {number}", play)

    def finish(self) -> None:
        """Count what only all games together tell, and note why some promises were not checked."""
        if isinstance(self.game, Game):
            sources = unseeded_sources(self.game)
            wrong = [
                f"{name} draws from {source}, which no seed fixes"
                for name, source in sources.items()
                if source
            ]
            example = wrong[0] if wrong else ""
            self.checks["luck"].count(example, len(sources), len(wrong))
        if self._lengths and not any(self._lengths):
            games = count_text(len(self._lengths), "game")
            self.checks["end"].count(f"each of {games} is over before its first action")
        idle = [player for player in range(self.game.players) if not self._acted[player]]
        if idle and any(self._lengths):
            note = f"player {idle[0]} never acted in {count_text(len(self._lengths), 'game')}"
            self.checks["mover"].note = note
        otherwise = "no game came so far: each ended where another promise was broken"
        note_unchecked(self.checks, _ABSENT, _ABSENT, otherwise)

    def check_indices(self) -> None:
        """Play a few games in plain Python until an index lies outside of its array, or a number does not fit into its field.

        Compiled code checks neither, unless ICARUS_DEBUG=1 has it compiled so that it checks each index.
        """
        check = self.checks["indices"]
        plain = Contract(in_python(self.game), self.seed, PLAIN_GAMES, PLAIN_ACTIONS)
        plain.told = {}  # nobody plays them again, and beliefs take long to write
        for number in range(PLAIN_GAMES):
            broken = plain.play(number)
            if broken is None or broken.promise == "end":  # a longer game is cut off
                check.checked += 1
                continue
            error = broken.__cause__ or broken
            if isinstance(error, IndexError) or UNFIT.search(str(error)):
                check.count(plain._example(f"in plain Python, {function_of(error)}: {error}"))
            else:  # it does not run as plain Python, or breaks a promise that is checked elsewhere
                check.note = f"the game did not run to its end in plain Python: {type(error).__name__}: {error}"
            return

    # ------------------------------------------------------------------------------------------------------------ a game

    def _until_broken(
        self, place: str, seed_text: str, play: Callable[[], None]
    ) -> BrokenPromise | None:
        """Play a game, which ends where a promise is broken; the broken promise is counted as failed."""
        self._place = place
        self._texts = []
        self._data = None
        self.luck = random.Random(seed_text)
        try:
            play()
        except BrokenPromise as broken:
            self.checks[broken.promise].count(self._example(broken.message))
            return broken
        return None

    def _example(self, message: str) -> str:
        """Which game, after which actions, what is wrong, and the state."""
        moves = last_of(self._texts, LAST_ACTIONS)
        headline = f"{self._place}, after {moves}: {message}"
        if self._data is None:
            return headline
        try:
            return indented(headline, self.asked.text(self._data))
        except (TextError, BrokenPromise):  # the text may be what is broken
            return headline

    def _require(self, promise: str, is_kept: bool, message: str) -> None:
        """Count a promise as tested; the game ends if it was not kept."""
        if not is_kept:
            raise BrokenPromise(promise, message)
        self.checks[promise].checked += 1

    def _deal(self, seed: tuple[int, ...]) -> None:
        self._data, again = (self.asked.ask("initial", seeded(seed)) for _ in range(2))
        self._require(
            "repeat", _same(self._data, again), "initial makes a different state from the same seed"
        )
        self._observed = [[] for _ in range(self.game.perspectives)]
        self._in_playout = False
        self._go_on()

    def _go_on_from_draw(self, data: StateData, observer: int, seed: tuple[int, ...]) -> None:
        self._data = self._drawn(data, observer, seed)
        if not self.compiled:
            self._play_out(data, observer, seed)
        self._observed = None
        self._in_playout = True
        self._go_on()

    def _drawn(self, data: StateData, observer: int, seed: tuple[int, ...]) -> StateData:
        """A determinization for an observer, by a seed."""
        beliefs = self.asked.ask("prepare", data, observer)
        return self.asked.ask("determinize", data, observer, beliefs, seeded(seed))

    def _play_out(self, data: StateData, observer: int, seed: tuple[int, ...]) -> None:
        """Play a draw to its end, as a search does, and require that the state it was drawn from stays as it was."""
        before = stamp(data)
        draw = State.from_data(self.game, self._drawn(data, observer, seed))
        # what is wrong is told where each step is looked at
        with contextlib.suppress(*AUTHOR_ERRORS):
            for _ in range(self.most_actions):
                draw.apply_action(random_action(draw, self.luck))
        message = "determinize returns a state that shares a part, such as a list, with the one that it was given"
        self._require(
            "memory", before == stamp(data), f"{message}: what is played in it changes that"
        )

    def _go_on(self) -> None:
        """Play at random from the state to the end."""
        self._earlier = _Choice()
        self._label()
        for _ in range(self.most_actions):
            if isinstance(self.game, Game) and self.game.ranges:
                outside = out_of_range(self.game.ranges, self._data)
                self._require("ranges", outside is None, str(outside))
            player: int = self._twice("player")
            self.checks["mover"].checked += 1
            self._evaluate(player)
            if player == TERMINAL:
                self._board(player, tuple(self._twice("rewards")))
                for name in ("rewards", "end", "memory", "errors"):
                    self.checks[name].checked += 1
                self._lengths.append(len(self._texts))
                return
            self._acted[player] += 1
            actions = self._choices()
            texts = self._notation(actions)
            public = self._board(player, tuple(actions))
            weights = [1.0] * len(actions)
            if player == CHANCE:
                weights = weights if self.game.chance is None else self._twice("chance")
                self.checks["chances"].checked += 1
            possible = [each for each, weight in zip(actions, weights, strict=True) if weight > 0]
            action = self.luck.choice(possible)
            self._determinize(player)
            self._check_simultaneous(player, actions)
            self._notice(player, action, possible, texts)
            self._data, again = (self.asked.after(self._data, action) for _ in range(2))
            message = f"apply makes two different states from one by the same action {action}"
            self._require("repeat", _same(self._data, again), message)
            self._follow(public, action, texts[action])
            self._texts.append(texts[action])
            longest = self.game.max_length
            message = f"the game has lasted {longest + 1:,} actions; max_length is {longest:,}"
            self._require("end", self._in_playout or len(self._texts) <= longest, message)
            self._label()
            self._recall()
        raise BrokenPromise("end", f"the game has not ended after {self.most_actions:,} actions")

    # ------------------------------------------------------------------------------------------------------- the promises

    def _ask(self, name: str, *inputs: int) -> Any:
        return self.asked.ask(name, self._data, *inputs)

    def _twice(self, name: str, *inputs: int) -> Any:
        """The answer of a function, which must be the same when it is asked again."""
        answer, again = (self._ask(name, *inputs) for _ in range(2))
        message = f"{name} returns {answer}, then for the same state {again}"
        self._require("repeat", repr(answer) == repr(again), message)  # as texts NaN is NaN
        return answer

    def _choices(self) -> list[int]:
        actions = self._ask("legal")
        again = self._ask("legal")
        copied = self.asked.ask("legal", self._ask("copy"))
        most = MOST_NUMBER if self.game.actions is None else self.game.actions
        limit = "2**63" if self.game.actions is None else f"`actions` of the game, {most}"
        self._require(
            "choices", max(actions) < most, f"the legal action {max(actions)} is not below {limit}"
        )
        message = ""
        if again != actions:
            before, after = both_texts(actions, again)
            message = f"legal writes {before}, then for the same state {after}"
        elif copied != actions:
            before, after = both_texts(actions, copied)
            message = f"legal writes {before}, and for a copy {after}"
        self._require("choices", not message, message)
        return actions

    def _notation(self, actions: list[int]) -> dict[int, str]:
        try:
            texts = {
                action: self.game.action_text_of(self.game.facts_of(self._data), action)
                for action in actions
            }
        except TextError as error:
            raise BrokenPromise("notation", str(error)) from None
        first: dict[str, int] = {}
        for action, text in texts.items():
            if not text.strip():
                raise BrokenPromise("notation", f"the action {action} is written {text!r}")
            namesake = first.setdefault(text, action)
            message = f"the actions {namesake} and {action} are both written {text!r}"
            self._require("notation", namesake == action, message)
        return texts

    def _check_simultaneous(self, player: int, actions: list[int]) -> None:
        """Check the number that `simultaneous` gives to a decision, and keep the decision for the next one.

        0 is a decision by itself, 1 the first of those made at once. Number n > 1 follows number n - 1 of another player, who shows nobody
        what he chose. A playout that goes on from a determinization does not know the decision before it.
        """
        if self.game.simultaneous is None:
            return
        number = self._twice("simultaneous")
        self.checks["episodes"].checked += 1  # `ask` refuses a number below 0
        earlier = self._earlier
        if number > 1:
            follows = number == earlier.number + 1 and player != earlier.player
            message = f"simultaneous is {number} for player {player}, after {earlier.number} for player {earlier.player}"
            is_unknown = self._in_playout and not earlier.number
            self._require("at once", follows or is_unknown, message)
            message = f"player {player} chooses simultaneously with player {earlier.player}, whose choice is visible"
            self._require("at once", not earlier.is_visible, message)
        is_visible = False
        if len(actions) > 1:
            moves_of_actions = [self.asked.moves(self._data, action) for action in actions]
            for observer, sights in enumerate(zip(*moves_of_actions, strict=True)):
                sees_each_as_another = len({*sights}) == len(sights)
                is_visible |= observer != player and sees_each_as_another
        self._earlier = _Choice(number, player, is_visible)

    def _evaluate(self, player: int) -> None:
        """Observations, features and the heuristic of the state, and the features of its first legal action."""
        self.asked.look(self._data)
        for kind in KINDS:
            # a game need not define the others at the end, and those of actions at a chance node
            if player == TERMINAL and kind != "features":
                continue
            if player == CHANCE and kind == "action_features":
                continue
            if getattr(self.game, kind) is not None:
                inputs = self._ask("legal")[:1] if kind == "action_features" else []
                self._ask(kind, *inputs)
                self.checks["features"].checked += 1

    def _notice(self, player: int, action: int, possible: list[int], texts: dict[int, str]) -> None:
        """Check what each perspective sees of an action, and keep it for `recall`.

        Args:
            possible: the legal actions; at a chance node those with a probability above 0.
        """
        moves = [action] * self.game.players
        if self.game.observe is not None:
            moves = self._twice("observe", action)
            self._check_moves(player, moves, action, possible, texts)
        if self.game.observation is not None:
            self._check_results(moves, action, texts[action])
        if self._observed is not None:
            views = [action] if self.game.perspectives == 1 else [*moves, action]
            for observed, move in zip(self._observed, views, strict=True):
                if move != UNSEEN:
                    observed.append(move)

    def _check_moves(
        self, player: int, moves: list[int], action: int, possible: list[int], texts: dict[int, str]
    ) -> None:
        """Check what observe says of an action: the mover sees his own, observation tells the same, and who hides one can determinize."""
        hides = any(move != action for p, move in enumerate(moves) if p != player)
        message = "a move is hidden, but the game has no determinize"
        self._require("hidden", not hides or self.game.determinize is not None, message)
        # the move of the mover may tell him what his action has met
        tells_more = not self.compiled and self.game.observation
        move_of_mover = action if player == CHANCE or tells_more else moves[player]
        sees = "nothing" if move_of_mover == UNSEEN else move_of_mover
        message = f"the mover, player {player}, sees his own action {action} as {sees}"
        self._require("moves", move_of_mover == action, message)
        if self.game.observation is not None:
            # another action, which differs from turn to turn
            rival = possible[(possible.index(action) - 1 - len(self._texts)) % len(possible)]
            disagreement = self._disagreement(player, moves, action, rival)
            message = f"{disagreement} whether it is {texts[action]} or {texts[rival]}"
            self._require("moves", not disagreement, message)
        try:
            for move in {*moves} - {UNSEEN, action}:
                self.game.move_text_of(move)
        except TextError as error:
            raise BrokenPromise("notation", str(error)) from None

    def _check_results(self, moves: list[int], action: int, text: str) -> None:
        """Check that no observation tells later what came of an action that `observe` hides; where one tells it of an action that a
        player sees, note that.

        Args:
            moves: how each player sees the action, by `observe`.
        """
        for player, move in enumerate(moves):
            lookalike = self._told_by_result(player, action, move)
            if lookalike is not None:
                # hidden is that an action is done, or which of two it is
                if move == UNSEEN or lookalike != action:
                    message = f"observe hides {text} from player {player}, but his observation tells afterwards what came of it"
                    raise BrokenPromise("moves", message)
                note = f"what came of {text} is told to player {player} by his observation alone: {MERGED}"
                self.checks["moves"].note = note

    def _disagreement(self, mover: int, moves: list[int], action: int, rival: int) -> str:
        """The beginning of a message, where only one of observe and observation tells a player which of two actions is done; else ""."""
        if action == rival:
            return ""
        pairs = zip(moves, self.asked.moves(self._data, rival), strict=True)
        sees = [move != another for move, another in pairs]
        is_whole = remembers_all(self._data)
        # an observation that is not whole need not tell a move that was seen
        if all(sees) and not is_whole:
            return ""
        after = [self.asked.after(self._data, each) for each in (action, rival)]
        if not self._movers(after):
            return ""
        for player, is_seen in enumerate(sees):
            is_known = self._is_told(player, after)
            if is_known and not is_seen:
                return f"observe hides from player {player} what his observation tells afterwards,"
            if is_seen and not is_known and is_whole and player != mover:
                return f"observe shows player {player} what his observation never tells,"
        return ""

    def _is_told(self, observer: int, states: list[StateData]) -> bool:
        """Whether a player's observation tells two states apart."""
        return len({key_of(self.asked.observation(data, observer)) for data in states}) > 1

    def _movers(self, states: list[StateData]) -> set[int]:
        """Who acts in states of one episode; nobody where they are of several, or one is the end: all players see that anyway."""
        if self.game.episode is not None:
            labels = {self.asked.ask("episode", data) for data in states}
            if len(labels) > 1:
                return set()
        movers = {self.asked.ask("player", data) for data in states}
        return set() if TERMINAL in movers else movers

    def _told_by_result(self, observer: int, action: int, move: int) -> int | None:
        """An action in a draw for a player that looks to him like the one in the true state, until his observation afterwards tells the
        two apart; None where there is none.

        It is the same action, if that looks the same in the draw.

        Args:
            move: as which he sees the action in the true state.
        """
        # in each game at other actions, as those at the beginning may all be forced
        is_left_out = (self._number + len(self._texts)) % RESULTS != 0
        if self.game.determinize is None or self._in_playout or is_left_out:
            return None
        try:
            draw = self._drawn(self._data, observer, (*self.seed, Stream.RESULTS, len(self._texts)))
            if self._is_told(observer, [self._data, draw]):
                return None
            actions = sorted(self.asked.ask("legal", draw), key=lambda each: each != action)
            lookalikes = (
                each for each in actions if self.asked.moves(draw, each)[observer] == move
            )
            lookalike = next(lookalikes, None)
            if lookalike is None:
                return None
            after = [self.asked.after(self._data, action), self.asked.after(draw, lookalike)]
            is_told = len(self._movers(after)) == 1 and self._is_told(observer, after)
            return lookalike if is_told else None
        except BrokenPromise:  # by a draw, which other checks look at
            return None

    def _label(self) -> None:
        """Check the label; where an episode begins, nobody has seen a move of it."""
        if self.game.episode is None:
            return
        label = self._twice("episode")
        self.checks["episodes"].checked += 1
        if label >= 0:
            self._observed = [[] for _ in range(self.game.perspectives)]

    def _recall(self) -> None:
        """Check that `recall` returns the moves that each perspective has seen since the episode began."""
        if self._observed is None or self.game.perspectives == 1 or self._ask("player") == TERMINAL:
            return
        if self.game.recall is None:
            if not self.compiled:
                return  # its determinizations have the moves of the true state
            # Without `episode` the game is one.
            wrong = ""
            if any(observed != self._observed[-1] for observed in self._observed):
                advice = "write one, or an episode that begins after the hidden move"
                wrong = f"something is hidden in this episode, but the game has no recall: {advice}"
            self._count_recall(wrong)
            return
        for perspective, observed in enumerate(self._observed):
            try:
                recalled = self._twice("recall", perspective)
            except BrokenPromise as broken:
                self._count_recall(broken.message)
                return
            wrong = ""
            if recalled != observed:
                whose = ""
                if perspective == self.game.players:
                    whose = ", the environment's, which sees every action,"
                moves, answer = both_texts(observed, recalled)
                wrong = f"perspective {perspective}{whose} has seen {moves} of the episode, but recall returns {answer}"
            if not self._count_recall(wrong):
                return

    def _count_recall(self, wrong: str) -> bool:
        """Count a check of `recall`, and say whether nothing is wrong; else it is not checked again in this game, which goes on."""
        self.checks["recall"].count(wrong and self._example(wrong))
        if wrong:
            self._observed = None
        return not wrong

    def _board(self, player: int, following: tuple[float, ...]) -> tuple[object, ...] | None:
        """What all players together see of the state; None where that cannot be said.

        Args:
            following: the legal actions; at the end the rewards.

        Raises:
            BrokenPromise: an earlier state had the same text, but another player about to act, or other actions or rewards.
        """
        try:
            public = self.asked.seen_by_all(self._data)
        except TextError as error:
            raise BrokenPromise("board", str(error)) from error
        if public is None:
            return None
        player_there, following_there = self._boards.setdefault(
            fingerprint(public), (player, following)
        )
        message = ""
        if (player_there, following_there) != (player, following):
            there, here = both_texts([*following_there], [*following])
            message = f"another state has this text, but there {_outlook(player_there, there)} and here {_outlook(player, here)}"
        self._require("board", not message, message)
        return public

    def _follow(self, public: tuple[object, ...] | None, action: int, text: str) -> None:
        """Require that the action leads to the same as in an earlier state that looked the same, if nothing is hidden."""
        if self.game.determinize is not None or public is None:
            return
        after = self.asked.seen_by_all(self._data)
        where, outcome, board = self._followers.setdefault(
            fingerprint((public, action)), (self._place, after, self.asked.text(self._data))
        )
        message = (
            f"{text} leads to another state than in {where}, although both looked the same before: what decides it is in the state "
            "and nobody sees it. Let chance act (CHANCE in `player`), or hide it (`determinize`), or show it in `text`. There it led "
            f"to\n  {board}"
        )
        self._require("luck", outcome == after, message)

    def _determinize(self, player: int) -> None:
        """Draw two determinizations from one seed, which must be the same; `asked` looks at what the function writes.

        Some states are kept: `play_determinized` goes on from determinizations of theirs.
        """
        if player == CHANCE or self._in_playout or self.game.determinize is None:
            return
        if not self.compiled and self.luck.random() * len(self._texts) > PLAIN_DRAWN:
            return
        # The later in the game the rarer, so that a long game has only a few.
        if self.luck.random() < 1 / (1 + len(self._texts)):
            where = f"{self._place}, after {' '.join(self._texts) or 'nothing'}"
            self.states_to_determinize.append((self._ask("copy"), player, where))
        seed = (*self.seed, Stream.PAIRS, len(self._texts))
        worlds = (self._drawn(self._data, player, seed) for _ in range(2))
        self._require(
            "repeat", _same(*worlds), "determinize draws two different states from the same seed"
        )


def _same(first: StateData, second: StateData) -> bool:
    """Whether two states are equal field by field; the bytes between the fields count for nothing."""
    if stamp(first) == stamp(second):
        return True
    return isinstance(first, np.ndarray) and bool(np.all(first == second))


def function_of(error: BaseException) -> str:
    """The function and the line of a game that raised an error; "" where none of it has."""
    others = [PACKAGE / name for name in ("kernel", "audit", "compiler", "checks.py")]
    others.append(Path(os.__file__).parent)  # Python's library
    where = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if not any(map(Path(frame.filename).is_relative_to, others)):
            where = f"{frame.name} ({location(frame.filename, frame.lineno)})"
    return where


def _outlook(player: int, following: str) -> str:
    """What follows in a state, in words: the rewards, or who acts with which actions."""
    if player == TERMINAL:
        return f"the game has ended with the rewards {following}"
    return f"{'chance' if player == CHANCE else f'player {player}'} has the actions {following}"
