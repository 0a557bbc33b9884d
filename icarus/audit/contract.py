"""The contract of a game: each promise that the docstring of `Game` asks for, tested in random games."""

import contextlib
import math
import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

import numpy as np

from icarus.audit.fences import UNWRITTEN, BrokenPromise, GuardedGame
from icarus.audit.report import Check
from icarus.checks import range_text
from icarus.compiler.rng import seeded
from icarus.engine.lowering import unseeded_sources
from icarus.kernel import CHANCE, CONTINUES, TERMINAL, UNSEEN
from icarus.kernel.data import facts_of, out_of_range
from icarus.kernel.features import KINDS, checked_numbers, written_by
from icarus.kernel.game import Game, TextError

T = TypeVar("T")
GAMES_FOR_EACH = 5  # random games for each that is looked at for its determinizations
MOST_ACTIONS = 20_000  # of a game that is taken to end
TOLERANCE = 1e-9  # of a sum of probabilities
LAST_ACTIONS = 200  # of the history, told in an example

CONTRACT = {
    "mover": "the player about to act is one of the players, CHANCE or TERMINAL",
    "choices": "1 to max_legal legal actions, different, not negative and below `actions`, the same in a second call and in a copy",
    "notation": "legal actions have different texts",
    "chances": "the outcomes of chance have probabilities from 0 to 1 that sum to 1",
    "moves": "observe leaves the mover's own entry as it is",
    "episodes": "an episode label is at least 0 or CONTINUES; the number of a simultaneous choice is at least 0",
    "recall": "recall returns what each perspective has seen of the episode; a game that hides moves in an episode has recall",
    "repeat": "the same seed gives the same deal and determinization, the same action changes equal states equally, and a second call "
    "gives the same answer",
    "ranges": "every field of the state data stays within its range, in determinizations too",
    "rewards": "at the end a reward from 0 to 1 is written for each player",
    "end": f"a random game ends within {MOST_ACTIONS:,} actions, and within max_length",
    "hidden": "a game whose observe hides a move has determinize",
    "at once": "simultaneous choices have the numbers 1, 2, …, each of another player, and each is hidden from the next player",
    "features": "features are finite numbers, one for each name; the heuristic is a number from 0 to 1 for each player",
    "luck": "all randomness comes from the generator that a function is given",
    "memory": "functions write only to what they are given; all but initial, apply and determinize leave the state unchanged",
    "indices": "no index lies outside its array and no number outside its field, in games of plain Python; compiled code checks neither",
    "board": "states with the same text have the same player about to act, legal actions or rewards",
}
_ABSENT = {
    "chances": "the games had no chance nodes",
    "moves": "everyone sees every action",
    "episodes": "the game has neither episodes nor simultaneous choices",
    "recall": "nothing is hidden in episodes",
    "ranges": "the game names no ranges",
    "hidden": "everyone sees every action",
    "at once": "no simultaneous choices were met",
    "features": "the game has neither features nor a heuristic",
}


class Contract:
    """The contract of a game under test, in one random game after another."""

    def __init__(self, game: Game, seed: tuple[int, ...], games: int) -> None:
        self.game, self.seed, self.games = game, seed, games
        self.checks = {name: Check(name, claim) for name, claim in CONTRACT.items()}
        self._guarded_game = GuardedGame(game)
        self._boards: dict[int, tuple] = {}
        self._subject, self._texts = "", [""]
        self._in_playout = False  # where the game goes on from a determinization: nothing is determinized there
        # By each perspective since the episode began; None where that is not known.
        self._observed: list[list[int]] | None = None
        self._earlier_choice = 0, TERMINAL, False  # its number, who made it, and whether the others could see it
        self.determinizations: list[tuple[np.ndarray, int, str]] = []  # true states to determinize, with who acts

    @property
    def broken(self) -> bool:
        return any(check.failed for check in self.checks.values())

    def play(self, number: int) -> None:
        """Test the contract in a random game."""
        seed = (*self.seed, 2, number)
        self._in_playout = False
        self._begin(f"game {number + 1} of {self.games} for the contract, new_initial_state(seed={seed})", f"{seed}")
        with self._ending_where_broken():
            self._deal(seed)

    def play_determinized(self, number: int) -> None:
        """Test the contract in a random game that goes on from a determinization, as a playout does."""
        if not self.determinizations:
            return
        data, observer, where = random.Random(f"{self.seed} at {number}").choice(self.determinizations)
        self._begin(f"{where}, then in a determinization for player {observer}", f"{self.seed} from {number}")
        with self._ending_where_broken():
            self._guarded_game.place(data)
            self._guarded_game.determinize(observer, seeded((*self.seed, 3, number)))
            self._observed, self._in_playout = None, True
            self._go_on()

    def finish(self) -> None:
        """Say of what was never met that it was not."""
        self._luck()
        for name, note in _ABSENT.items():
            if not self.checks[name].checked:
                self.checks[name].note, self.checks[name].absent = note, True
        for check in self.checks.values():
            if not check.checked and not check.note:
                check.note = "no game came so far: each ended where another promise was broken"

    def _luck(self) -> None:
        """Whether a function draws from a generator that no seed fixes."""
        sources = unseeded_sources(self.game)
        wrong = [f"{name} draws from {source}, which no seed fixes" for name, source in sources.items() if source]
        self.checks["luck"].count(len(sources), len(wrong), lambda: wrong[0])

    # ------------------------------------------------------------------------------------------------------------ a game

    def _begin(self, subject: str, luck: str) -> None:
        self._subject, self._texts, self.luck = subject, [], random.Random(luck)

    @contextlib.contextmanager
    def _ending_where_broken(self) -> Iterator[None]:
        """The game within ends where a promise is broken, which is counted."""
        try:
            yield
        except BrokenPromise as broken:
            example = self._example(broken.message)
            self.checks[broken.promise].count(1, 1, lambda: example)

    def _example(self, message: str) -> str:
        """Which game, after which actions, what is wrong, and the state."""
        last = self._texts[-LAST_ACTIONS:]
        moves = ("… " if len(last) < len(self._texts) else "") + (" ".join(last) or "nothing")
        headline = f"{self._subject}, after {moves}: {message}"
        try:
            board = self.game.text_of(facts_of(self._guarded_game.data))
        except TextError:  # the text may be what is broken
            return headline
        return f"{headline}\n  " + board.replace("\n", "\n  ")

    def _require(self, promise: str, so: bool, message: str) -> None:
        """Count a promise as tested; the game ends if it was not kept."""
        if not so:
            raise BrokenPromise(promise, message)
        self.checks[promise].checked += 1

    def _deal(self, seed: tuple[int, ...]) -> None:
        self._guarded_game.initial(seeded(seed))
        first = self._guarded_game.data
        self._guarded_game.initial(seeded(seed))
        same = _same(first, self._guarded_game.data)
        self._require("repeat", same, "initial makes a different state from the same seed")
        self._observed = [[] for _ in range(self.game.perspectives)]
        self._go_on()

    def _go_on(self) -> None:
        """Play at random from the state to the end."""
        self._earlier_choice = 0, TERMINAL, False
        self._label()
        for _ in range(MOST_ACTIONS):
            self._ranges()
            self._evaluate()
            player = self._player()
            if player == TERMINAL:
                self._board(player, tuple(self._rewards()))
                self.checks["end"].checked += 1
                self.checks["memory"].checked += 1
                return
            actions = self._choices()
            texts = self._notation(actions)
            self._board(player, tuple(actions))
            weights = self._chances(len(actions)) if player == CHANCE else [1.0] * len(actions)
            k = self.luck.choice([k for k, weight in enumerate(weights) if weight > 0])
            self._determinize(player)
            self._number(player, actions)
            self._notice(player, actions[k])
            self._apply(actions[k])
            self._texts.append(texts[k])
            longest = self.game.max_length
            message = f"the game has lasted {longest + 1:,} actions; max_length is {longest:,}"
            self._require("end", self._in_playout or len(self._texts) <= longest, message)
            self._label()
            self._recall()
        raise BrokenPromise("end", f"the game has not ended after {MOST_ACTIONS:,} actions")

    # ------------------------------------------------------------------------------------------------------- the promises

    def _ranges(self) -> None:
        if self.game.ranges:
            outside = out_of_range(self.game.ranges, self._guarded_game.data)
            self._require("ranges", outside is None, str(outside))

    def _player(self) -> int:
        player, players = self._integer("player"), self.game.players
        message = f"player {player} is about to act; it must be {range_text(0, players - 1)}, CHANCE ({CHANCE}) or TERMINAL ({TERMINAL})"
        self._require("mover", player in (CHANCE, TERMINAL) or 0 <= player < players, message)
        return player

    def _twice(self, name: str, ask: Callable[[], T]) -> T:
        """What a function answers, which must be the same when it is asked again."""
        answer, again = ask(), ask()
        message = f"{name} returns {answer}, then for the same state {again}"
        self._require("repeat", repr(answer) == repr(again), message)  # as texts NaN is NaN
        return answer

    def _integer(self, name: str) -> int:
        """What a function that writes nothing returns, twice the same."""
        return self._twice(name, partial(self._guarded_game.ask, name))

    def _choices(self) -> list[int]:
        actions = self._guarded_game.legal()
        again = self._guarded_game.legal()
        self._guarded_game.place(self._guarded_game.data)
        copied = self._guarded_game.legal()
        wrong = [action for action in actions if action < 0]
        culprit = "an action that was not written" if UNWRITTEN in wrong else f"{wrong[0]}" if wrong else ""
        twice = next((action for i, action in enumerate(actions) if action in actions[:i]), None)
        self._require("choices", not wrong, f"one of {len(actions)} legal actions is {culprit}")
        self._require("choices", twice is None, f"the legal action {twice} is written twice")
        beyond = [] if self.game.actions is None else [action for action in actions if action >= self.game.actions]
        message = f"the legal action {max(actions)} is not below `actions` of the game, {self.game.actions}"
        self._require("choices", not beyond, message)
        message = f"legal writes {actions[:10]}, then for the same state {again[:10]} and for a copy {copied[:10]}"
        self._require("choices", actions == again == copied, message)
        return actions

    def _notation(self, actions: list[int]) -> list[str]:
        facts = facts_of(self._guarded_game.data)
        try:
            texts = [self.game.action_text_of(facts, action) for action in actions]
        except TextError as error:
            raise BrokenPromise("notation", str(error)) from None
        first: dict[str, int] = {}
        for action, text in zip(actions, texts, strict=True):
            namesake = first.setdefault(text, action)
            message = f"the actions {namesake} and {action} are both written {text!r}"
            self._require("notation", namesake == action, message)
        return texts

    def _chances(self, count: int) -> list[float]:
        if not self._guarded_game.knows("chance"):
            self.checks["chances"].checked += 1  # all are equally likely
            return [1.0] * count
        probabilities = self._twice("chance", lambda: self._guarded_game.probabilities(count, math.nan))
        if any(map(math.isnan, probabilities)):
            again = self._guarded_game.probabilities(count, 0.0)
            which = next(k for k, value in enumerate(probabilities) if math.isnan(value))
            fault = "is nan" if math.isnan(again[which]) else "is not written"
            raise BrokenPromise("chances", f"the probability of outcome {which + 1} of {count} {fault}")
        outside = next((value for value in probabilities if not 0 <= value <= 1), None)
        self._require("chances", outside is None, f"a probability is {outside}")
        total = math.fsum(probabilities)
        self._require("chances", abs(total - 1) <= TOLERANCE, f"the probabilities sum to {total:.12g}")
        return probabilities

    def _rewards(self) -> list[float]:
        rewards, again = self._guarded_game.rewards(math.nan), self._guarded_game.rewards(0.5)
        for player, (reward, repeat) in enumerate(zip(rewards, again, strict=True)):
            fault = "is not written" if math.isnan(reward) and not math.isnan(repeat) else f"is {reward}"
            if 0 <= reward <= 1 and reward != repeat:
                fault += f", then for the same state {repeat}"
            so = 0 <= reward <= 1 and reward == repeat
            self._require("rewards", so, f"the reward of player {player} {fault}")
        return rewards

    def _number(self, player: int, actions: list[int]) -> None:
        """The number of a decision among those made at once, which follows on that of the decision before."""
        if not self._guarded_game.knows("simultaneous"):
            return
        number = self._integer("simultaneous")
        self._require("episodes", number >= 0, f"simultaneous is {number}; it must be at least 0")
        earlier, chooser, visible = self._earlier_choice
        if number > 1:
            follows = number == earlier + 1 and player != chooser
            message = f"simultaneous is {number} for player {player}, after {earlier} for player {chooser}"
            self._require("at once", follows or not earlier and self._in_playout, message)
            message = f"player {player} chooses simultaneously with player {chooser}, whose choice is visible"
            self._require("at once", not visible, message)
        views = [tuple(self._guarded_game.moves(action)) for action in actions]
        others = [p for p in range(self.game.players) if p != player]
        self._earlier_choice = number, player, any(len({view[p] for view in views}) == len(views) > 1 for p in others)

    def _evaluate(self) -> None:
        """Features and the heuristic of the state, and the features of its first legal action."""
        data, player = self._guarded_game.data, self._guarded_game.ask("player")
        for kind in KINDS:
            over = kind != "features" and player == TERMINAL or kind == "action_features" and player == CHANCE
            if getattr(self.game, kind) is None or over:
                continue
            arguments, copied = self._guarded_game.legal()[:1] if kind == "action_features" else [], data.copy()
            try:
                checked_numbers(self.game, kind, written_by(self.game, kind, facts_of(copied), *arguments))
            except Exception as error:  # whatever it stumbles over is what there is to tell
                raise BrokenPromise("features", str(error)) from None
            self._require("memory", _same(data, copied), f"{kind} changes the state, which it may only read")
            self.checks["features"].checked += 1

    def _notice(self, player: int, action: int) -> None:
        """What each perspective sees of an action."""
        moves = self._twice("observe", lambda: self._guarded_game.moves(action))
        if self._guarded_game.knows("observe"):
            hides = any(move != action for p, move in enumerate(moves) if p != player)
            message = "a move is hidden, but the game has no determinize"
            self._require("hidden", not hides or self._guarded_game.knows("determinize"), message)
            move_of_mover = action if player == CHANCE else moves[player]
            message = f"the mover, player {player}, sees his own action {action} as {move_of_mover}"
            self._require("moves", move_of_mover == action, message)
        if self._observed is not None:
            views = [action] if self.game.perspectives == 1 else [*moves, action]
            for observed, move in zip(self._observed, views, strict=True):
                observed += [move] * (move != UNSEEN)

    def _apply(self, action: int) -> None:
        before = self._guarded_game.data
        self._guarded_game.ask("apply", action)
        after = self._guarded_game.data
        self._guarded_game.place(before)
        self._guarded_game.ask("apply", action)
        same = _same(after, self._guarded_game.data)
        self._require("repeat", same, f"apply makes two different states from one by the same action {action}")

    def _label(self) -> None:
        if not self._guarded_game.knows("episode"):
            return
        label = self._integer("episode")
        message = f"the label is {label}; it must be at least 0 or CONTINUES (-1)"
        self._require("episodes", label >= CONTINUES, message)
        if label >= 0:
            self._observed = [[] for _ in range(self.game.perspectives)]

    def _recall(self) -> None:
        if self._observed is None or self.game.perspectives == 1 or self._guarded_game.ask("player") == TERMINAL:
            return
        if not self._guarded_game.knows("recall"):
            # Without `episode` the game is one.
            hidden = any(observed != self._observed[-1] for observed in self._observed)
            advice = "write one, or an episode that begins after the hidden move"
            message = f"something is hidden in this episode, but the game has no recall: {advice}"
            self._require("recall", not hidden, message)
            return
        for perspective, observed in enumerate(self._observed):
            recalled = self._twice("recall", partial(self._guarded_game.recalled, perspective))
            whose = "" if perspective < self.game.players else ", the environment's, which sees every action,"
            message = f"perspective {perspective}{whose} has seen {observed[-10:]} of the episode, but recall returns {recalled[-10:]}"
            self._require("recall", recalled == observed, message)

    def _board(self, player: int, following: tuple[float, ...]) -> None:
        """Whether another state looks the same to everyone together, and is not."""
        try:
            text = self.game.text_of(facts_of(self._guarded_game.data))
        except TextError as error:
            raise BrokenPromise("board", str(error)) from None
        recalled = tuple(self._guarded_game.recalled(self.game.players)) if self._guarded_game.knows("recall") else ()
        outlook = self._boards.setdefault(hash((text, recalled)), (player, following))
        message = f"another state has this text, but there {_outlook(*outlook)} and here {_outlook(player, following)}"
        self._require("board", outlook == (player, following), message)

    def _determinize(self, player: int) -> None:
        """Draw a determinization, for what it writes; keep some states to play on from theirs."""
        if player == CHANCE or self._in_playout or not self._guarded_game.knows("determinize"):
            return
        data = self._guarded_game.data
        if self.luck.random() < 1 / (1 + len(self._texts)):
            self.determinizations.append((data, player, f"{self._subject}, after {' '.join(self._texts) or 'nothing'}"))
        worlds = []
        for _ in range(2):
            self._guarded_game.place(data)
            self._guarded_game.determinize(player, seeded((*self.seed, 4, len(self._texts))))
            worlds.append(self._guarded_game.data)
        self._guarded_game.place(data)
        self._require("repeat", _same(*worlds), "determinize draws two different states from the same seed")


def _same(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two states are equal field by field; the bytes between the fields count for nothing."""
    return first.tobytes() == second.tobytes() or bool((first == second).all())


def _outlook(player: int, following: tuple[float, ...]) -> str:
    if player == TERMINAL:
        return f"the game has ended with the rewards {list(following)}"
    return f"{'chance' if player == CHANCE else f'player {player}'} has the actions {list(following[:10])}"
