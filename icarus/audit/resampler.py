"""Audit of a class in plain Python: does it keep OpenSpiel's protocol, and does its `resample` draw what a player cannot know?

    from icarus.audit.resampler import audit_class
    print(audit_class(Schnapsen))

The class has `current_player()`, `legal_actions()`, `apply_action(action)`, `is_terminal()`, `returns()` and, where there is chance,
`chance_outcomes()`. Where something is hidden, `resample(player, rng)` returns a state that the player cannot tell from this one, and
`observation(player)` what he may know of a state, as something that can be compared. Its text, `str(state)`, shows all facts.

Random games are played, and at a decision of each states are drawn for a player. A sampler that contradicts what was learnt
earlier is found by its facts: two of them stand together in many draws, and never in a state that was played to. Facts are the values of
attributes and of the items of lists, the items that a list has, and what two lists of the same length have at the same place.
"""

import contextlib
import copy
import inspect
import random
import time
import traceback
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from icarus.audit.answers import wrong_actions, wrong_end, wrong_outcomes, wrong_player, wrong_returns
from icarus.audit.facts import pairs_of_facts
from icarus.audit.lockstep import Reference, random_action, writes_text
from icarus.audit.redraws import Redraws
from icarus.audit.report import AuditReport, Check
from icarus.audit.uniformity import DRAWS_PER_STATE, Tally, chi_square_test, uneven
from icarus.checks import count_text, integer
from icarus.compiler.digest import PACKAGE
from icarus.kernel.constants import CHANCE, TERMINAL

CLAIMS = {
    "actions": "legal actions are different integers of at least 0, at least one, and the same in a second call; one of the players "
    "acts, or chance, with probabilities that sum to 1",
    "end": f"a random game ends, with a return for each player, and the player about to act is then {TERMINAL}",
    "player": "a draw is a state of the class, with the same player about to act",
    "choices": "he has the same legal actions",
    "view": "`observation` of the player is the same",
    "original": "`resample` leaves its state unchanged",
    "swap": "hidden facts change no draw: if a draw is the true state, the same random numbers draw the same",
    "unseen": "if a player cannot tell two actions from one another, the same random numbers draw the same after both",
    "onwards": "games continued from a draw satisfy the first two claims",
    "facts": "two facts that occur together in draws also occur together in states of play",
    "uniform": "all states that the player cannot tell apart are equally likely, or weighted by multiplicity",
    "redraw": "the hidden facts of each other player are drawn again",
}
RULES = ("actions", "end")
UNCHECKED_NOTES = {
    "unseen": "no actions were met that a player cannot tell from one another",
    "swap": "no draw differs from its state",
    "facts": "too few draws for two facts to stand together often",
    "uniform": "no information set was small enough",
}
MOST_ACTIONS = 20_000  # of a game that is taken to end
GAMES = 2500
THOROUGH, DRAWS = 100, 8  # decisions at which so many states are drawn; at all others one is, for the facts
FEWEST = 30  # draws with two facts that never stand together in play
FEWEST_OF_SEVERAL, SEVERAL = 5, 20  # draws with each of so many such pairs
TOO_MANY = 5  # times as many such pairs as the other way round, in play and in no draw
TWINS = 3  # pairs of actions at a decision, to be told from one another
FEW_STATES = 20  # that an information set may have to be tested for uniformity
SHOWN = 20  # actions, in an example
TESTED = 25  # information sets that are
FALSE_ALARM = 1e-6  # the p-value below which draws are not uniform


class Drawing(Reference, Protocol):
    """A state in plain Python with what an audit asks where something is hidden."""

    def resample(self, player: int, rng: random.Random, /) -> "Drawing": ...
    def observation(self, player: int, /) -> Hashable: ...


class _Wrong(Exception):
    """A claim about the rules that is not true; the game cannot go on."""


def audit_class(
    make: Callable[..., Any], *, games: int = GAMES, seed: int = 0, progress: Callable[[int], None] | None = None
) -> AuditReport:
    """Check a class in plain Python by random games, at one decision of each of them, until something is wrong.

    Args:
        make: makes a first state: the class, or a function. It is given a `random.Random` if it takes an argument.
        games: how many. Contradictions that few games meet need more of them.
        seed: fixes games and draws, if the class draws from the generators that it is given.
        progress: called after each game with the number played.

    Raises:
        TypeError: `make` is neither a class nor a function.
        ValueError: no positive number of games, or there is `resample` and no `observation`.
    """
    if not callable(make):
        raise TypeError(f"audit_class needs a class, or a function that makes a first state, not {make!r}")
    start = make if inspect.signature(make).parameters else lambda luck: make()
    audit = _Audit(start, integer("games", games, least=1), integer("seed", seed, least=0))
    return audit.report(progress or (lambda played: None))


class _Audit:
    """An audit under way."""

    def __init__(self, make: Callable[[random.Random], Any], games: int, seed: int) -> None:
        self.make, self.games, self.seed = make, games, seed
        first = make(random.Random(seed))
        self.name, self.hides = type(first).__name__, hasattr(first, "resample")
        if self.hides and not hasattr(first, "observation"):
            raise ValueError(
                f"{self.name} has resample(player, rng) but no observation(player), which returns what a player may know"
            )
        if not self.hides and hasattr(first, "observation"):
            raise ValueError(
                f"{self.name} has observation(player) and no resample(player, rng), which draws what a player cannot know; a game "
                "that hides nothing needs neither"
            )
        self.checks = {name: Check(name, claim) for name, claim in CLAIMS.items() if self.hides or name in RULES}
        self.decisions = self.draw_count = 0
        self.players: int | None = None  # until a game has ended, where the class does not say it
        if hasattr(first, "num_players"):
            self.players = integer(f"num_players() of {self.name}", first.num_players(), least=1)
        self.acted = 0  # players that have acted, by the highest number
        self.redraws: Redraws | None = None
        # by name, observer and player: another game's item of a list with one for each player; whether the observer never sees his
        self.items: dict[tuple[str, int, int], object] = {}
        self.hidden: dict[tuple[str, int, int], bool] = {}
        self.played: Counter = Counter()
        self.drawn: Counter = Counter()
        self.p_values: list[float] = []

    def report(self, progress: Callable[[int], None]) -> AuditReport:
        """The random games, and what they came to."""
        started, number = time.perf_counter(), 0
        while number < self.games and not any(check.failed for check in self.checks.values()):
            luck = random.Random(f"{self.seed} {number}")
            with contextlib.suppress(_Wrong):
                with self._reported_errors("actions", f"game {number + 1}"):
                    decision = self._play_to_end(self.make(luck), luck, f"game {number + 1}")
                if self.hides and decision is not None:
                    with self._reported_errors("player", decision[1]):
                        self._look(*decision, luck)
            number += 1
            progress(number)
        if self.hides:
            self._finish()
        failed = next((name for name, check in self.checks.items() if check.failed), None)
        for check in self.checks.values():
            if not check.checked:
                check.note = UNCHECKED_NOTES.get(check.name, "no state was met to look at")
                check.absent = not failed and check.name == "unseen"
            if not check.checked and failed:
                check.note = f"the games ended where {failed!r} failed"
        seconds, checks = time.perf_counter() - started, tuple(self.checks.values())
        return AuditReport(self.name, number, self.decisions, self.draw_count, not self.hides, checks, seconds)

    # ------------------------------------------------------------------------------------------------------------- the rules

    def _play_to_end(
        self, state: Reference, luck: random.Random, where: str, claim: str | None = None
    ) -> tuple[Any, str] | None:
        """Play to the end; returns a decision of the game, each with the same chance, and where it was."""
        chosen, count = None, 0
        for length in range(MOST_ACTIONS):
            if state.is_terminal():
                with self._reported_errors(claim or "end", f"{where}, at its end"):
                    self._end(state, f"{where}, at its end", claim or "end")
                return chosen
            place = f"{where}, after {count_text(length, 'action')}"
            action = self._action(state, luck, place, claim or "actions")
            if state.current_player() != CHANCE:
                count += 1
                if self.hides and claim is None and luck.random() * count < 1:
                    chosen = copy.deepcopy(state), place
            with self._reported_errors(claim or "actions", f"{place}, action {action}"):
                state.apply_action(action)
        self._require(claim or "end", False, f"{where}: the game has not ended after {MOST_ACTIONS:,} actions")
        return None

    def _action(self, state: Reference, luck: random.Random, place: str, claim: str) -> int:
        """A random action, or outcome of chance by its probability."""
        player, actions = state.current_player(), state.legal_actions()
        wrong = wrong_player(player, self.players) or wrong_actions(actions)
        if not wrong and list(actions) != (again := list(state.legal_actions())):
            wrong = f"the legal actions are {list(actions)[:SHOWN]}, and when asked again {again[:SHOWN]}"
        if not wrong and player == CHANCE and hasattr(state, "chance_outcomes"):
            wrong = wrong_outcomes(state.chance_outcomes(), actions)
        self._require(claim, not wrong, f"{place}: {wrong}")
        self.acted = max(self.acted, player + 1)
        return random_action(state, luck)

    def _end(self, state: Reference, place: str, claim: str) -> None:
        """The end of a game; the first one tells how many players there are, where the class does not."""
        returns = state.returns()
        players = self.players or self.acted
        if self.players is None and isinstance(returns, Sequence):
            players = max(players, len(returns))
        wrong = wrong_returns(returns, players) or wrong_end(state.current_player())
        self._require(claim, not wrong, f"{place}: {wrong}")
        if self.redraws is None:
            self.players, self.redraws = players, Redraws(players, fewest=DRAWS)

    @contextlib.contextmanager
    def _reported_errors(self, claim: str, place: str) -> Iterator[None]:
        """Where a method of the class raises an error, tell it."""
        try:
            yield
        except _Wrong:
            raise
        except Exception as error:  # whatever a class stumbles over is what there is to tell
            last = traceback.extract_tb(error.__traceback__)[-1]
            # The library's own sentences say what is wrong, and where.
            is_sentence = isinstance(error, ValueError) and Path(last.filename).is_relative_to(PACKAGE)
            what = f"{error}" if is_sentence else f"{last.name} (line {last.lineno}) raises {error!r}"
            self._require(claim, False, f"{place}: {what}")

    def _require(self, claim: str, good: bool, example: str) -> None:
        self.checks[claim].count(1, not good, lambda: example)
        if not good:
            raise _Wrong

    # ------------------------------------------------------------------------------------------------------------- the draws

    def _look(self, state: Drawing, place: str, luck: random.Random) -> None:
        """Draw at a decision for a player, mostly for the one about to act."""
        self.decisions += 1
        player = state.current_player() if luck.random() < 0.5 else luck.randrange(self._player_count())
        place = f"{place}, for player {player}"
        seeds = [luck.getrandbits(32) for _ in range(DRAWS if self.decisions <= THOROUGH else 1)]
        before = repr(vars(state))
        draws = self._draws(state, player, seeds)
        odd = next((draw for draw in draws if not isinstance(draw, type(state))), state)
        example = f"{place}: resample gives {odd!r}, which is not a state of {self.name}; does it return one?"
        self._require("player", odd is state, example)
        self._count("original", [repr(vars(state)) != before], place)
        acts = state.current_player() == player
        self._count("player", [draw.current_player() != state.current_player() for draw in draws], place)
        if acts:
            legal = list(state.legal_actions())
            self._count("choices", [list(draw.legal_actions()) != legal for draw in draws], place)
        self._count("view", [draw.observation(player) != state.observation(player) for draw in draws], place)
        if any(self.checks[name].failed for name in ("original", "player", "choices", "view")):
            raise _Wrong
        self.played.update(pairs_of_facts(state))
        self.drawn.update(pairs_of_facts(draws[0]))
        self._compare(state, player, seeds, draws, place)
        if self.decisions <= THOROUGH:
            self._compare_twins(state, luck, place)
        self._note_redraws(state, player, draws)
        self._play_to_end(copy.deepcopy(draws[0]), luck, f"{place}, from a draw", "onwards")

    def _draws(self, state: Drawing, player: int, seeds: Sequence[int]) -> list[Drawing]:
        self.draw_count += len(seeds)
        return [state.resample(player, random.Random(seed)) for seed in seeds]

    def _count(self, claim: str, wrong: Sequence[bool], place: str) -> None:
        self.checks[claim].count(
            len(wrong), sum(wrong), lambda: f"{place}: this does not hold for draw {wrong.index(True) + 1}"
        )

    def _compare(self, state: Drawing, player: int, seeds: Sequence[int], draws: Sequence[Drawing], place: str) -> None:
        """Draw from a draw as if it were the truth; and where few states can be drawn, count them."""
        faces = [_face(draw) for draw in draws]
        alternative = next((draw for draw, face in zip(draws, faces, strict=True) if face != _face(state)), None)
        if alternative is not None:
            again = [_face(draw) for draw in self._draws(alternative, player, seeds)]
            self._count("swap", [first != second for first, second in zip(faces, again, strict=True)], place)
        if len(self.p_values) == TESTED or len(set(faces)) in (1, len(faces)):
            return
        luck = random.Random(f"{self.seed} {place}")
        seeds = [luck.getrandbits(32) for _ in range(FEW_STATES * DRAWS_PER_STATE)]
        tally = Tally()
        for draw in self._draws(state, player, seeds):
            face = _face(draw)
            tally.counts[face] += 1
            tally.deals[face] = float(draw.multiplicity()) if hasattr(draw, "multiplicity") else 1.0
        observed, expected = tally.compared()
        if len(tally.counts) > FEW_STATES or len(observed) < 2:
            return
        self.p_values.append(chi_square_test(observed, expected)[1])
        biased = self.p_values[-1] * TESTED < FALSE_ALARM
        self.checks["uniform"].count(1, biased, lambda: f"{place}: {uneven(observed, expected)}")

    def _compare_twins(self, state: Drawing, luck: random.Random, place: str) -> None:
        """Draw after two actions, with the outcomes of chance after them, for each player who cannot tell them from one another."""
        for _ in range(TWINS):
            twins = [copy.deepcopy(state) for _ in range(2)]
            for twin in twins:
                twin.apply_action(luck.choice(list(twin.legal_actions())))
                while not twin.is_terminal() and twin.current_player() == CHANCE:
                    twin.apply_action(random_action(twin, luck))
            first, second = twins
            if first.is_terminal() or second.is_terminal() or _face(first) == _face(second):
                continue
            for player in range(self._player_count()):
                if self._is_alike(first, second, player):
                    seeds = [luck.getrandbits(32) for _ in range(TWINS)]
                    self._compare_draws(first, second, player, seeds, f"{place}, an action on")

    def _compare_draws(self, first: Drawing, second: Drawing, player: int, seeds: Sequence[int], place: str) -> None:
        """Draw by the same numbers from two states that a player cannot tell from one another."""
        faces, others = ([_face(draw) for draw in self._draws(twin, player, seeds)] for twin in (first, second))
        what = f"player {player} cannot tell these from one another, and their draws differ"
        self.checks["unseen"].count(1, faces != others, lambda: f"{place}: {what}:\n{first}\n{second}")

    def _is_alike(self, first: Drawing, second: Drawing, player: int) -> bool:
        """Whether a player knows the same of two states, and may do the same."""
        if first.current_player() != second.current_player() or first.observation(player) != second.observation(player):
            return False
        return first.current_player() != player or list(first.legal_actions()) == list(second.legal_actions())

    def _player_count(self) -> int:
        assert self.players is not None  # a game has ended
        return self.players

    def _note_redraws(self, state: Drawing, player: int, draws: Sequence[Drawing]) -> None:
        """Count whose items of lists are redrawn; and find out by items of another game whether the player sees those that are not."""
        redrawn: dict[str, list[bool]] = {}
        for name, items in vars(state).items():
            if not isinstance(items, list | tuple) or len(items) != self._player_count():
                continue
            places = [slice(i, i + 1) for i in range(len(items))]  # a draw may have fewer
            redrawn[name] = [any(vars(draw)[name][place] != items[place] for draw in draws) for place in places]
            for i, item in enumerate(items):
                size = len(item) if isinstance(item, list | tuple | set) else 0
                foreign = self.items.setdefault((name, i, size), item)
                if foreign != item and not redrawn[name][i]:
                    where = name, player, i
                    self.hidden[where] = self.hidden.get(where, True) and self._is_unseen(state, *where, foreign)
        assert self.redraws is not None  # a game has ended
        self.redraws.note(player, any(_face(draw) != _face(state) for draw in draws), redrawn)

    def _is_unseen(self, state: Drawing, name: str, observer: int, player: int, item: object) -> bool:
        """Whether an observer knows the same where a player's item is another one; False where the class cannot say it."""
        changed, items = copy.deepcopy(state), vars(state)[name]
        vars(changed)[name] = type(items)([*items[:player], copy.deepcopy(item), *items[player + 1 :]])
        try:
            return bool(changed.observation(observer) == state.observation(observer))
        except Exception:  # an impossible state may be more than it bears
            return False

    def _finish(self) -> None:
        """What only all draws together can tell."""
        if self.redraws is not None:
            self.redraws.judge(self.checks["redraw"], lambda *where: self.hidden.get(where, False))
        often = [pair for pair, count in self.drawn.items() if count >= FEWEST_OF_SEVERAL]
        never_played = sorted((self.drawn[pair], pair) for pair in often if not self.played[pair])
        never_drawn = sum(count >= FEWEST_OF_SEVERAL and not self.drawn[pair] for pair, count in self.played.items())
        several = len(never_played) >= max(SEVERAL, TOO_MANY * never_drawn)
        wrong = len(never_played) if several else sum(count >= FEWEST for count, _ in never_played)

        def example() -> str:
            count, pair = never_played[-1]
            return f"in {count} draws, but in no state of play: {' and '.join(pair)}"

        self.checks["facts"].count(len(often), wrong, example)


def _face(state: Drawing) -> str:
    """All facts of a state: its text, or its attributes where it has none."""
    return str(state) if writes_text(state) else repr(vars(state))
