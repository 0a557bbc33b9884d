"""Audit of a class in plain Python: does it keep OpenSpiel's protocol, and does its `resample` draw what a player cannot know?

    from icarus.audit.resampler import audit_class
    print(audit_class(Schnapsen))

The class has `current_player()`, `legal_actions()`, `apply_action(action)`, `is_terminal()`, `returns()` and, where there is chance,
`chance_outcomes()`. Where something is hidden, `resample(player, rng)` returns a state that the player cannot tell from this one, and
`observation(player)` what he may know of a state, as something that can be compared. Its text, `str(state)`, shows all facts.

Random games are played, and at a decision of each states are drawn by the eyes of a player. A sampler that contradicts what was learnt
earlier is found by its facts: two of them stand together in many draws, and never in a state that was played to. Facts are the values of
attributes and of the items of lists, the items that a list has, and what two lists of the same length have at the same place.
"""

import contextlib
import copy
import inspect
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, Protocol

from icarus.audit.lockstep import Reference, random_action
from icarus.audit.redraws import Redraws
from icarus.audit.report import AuditReport, Check
from icarus.audit.uniformity import DRAWS_PER_STATE, chi_square_functions, uneven
from icarus.checks import integer
from icarus.kernel.constants import CHANCE

CLAIMS = {
    "actions": "legal actions are different integers of at least 0, at least one, and the same in a second call",
    "end": "a random game ends, with a return for each player",
    "player": "the same player is about to act in every draw",
    "choices": "he has the same legal actions",
    "view": "`observation` of the player is the same",
    "original": "`resample` leaves its state unchanged",
    "swap": "hidden facts change no draw: if a draw is the true state, the same random numbers draw the same",
    "onwards": "games continued from a draw satisfy the first two claims",
    "facts": "two facts that occur together in draws also occur together in states of play",
    "uniform": "all states that the player cannot tell apart are equally likely",
    "redraw": "the hidden facts of each other player are drawn again",
}
RULES = ("actions", "end")
MOST_ACTIONS = 20_000  # of a game that is taken to end
GAMES = 2500
THOROUGH, DRAWS = 100, 8  # decisions at which so many states are drawn; at all others one is, for the facts
FEWEST = 30  # draws with two facts that never stand together in play
FEWEST_OF_SEVERAL, SEVERAL = 5, 20  # draws with each of so many such pairs
TOO_MANY = 5  # times as many such pairs as the other way round, in play and in no draw
FEW_STATES = 20  # that an information set may have to be tested for uniformity
TESTED = 25  # information sets that are
FALSE_ALARM = 1e-6  # the p-value below which draws are not uniform
LONGEST_LIST = 128  # items whose values are facts one by one


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
        ValueError: no positive number of games, or there is `resample` and no `observation`.
    """
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
        self.checks = {name: Check(name, claim) for name, claim in CLAIMS.items() if self.hides or name in RULES}
        self.decisions = self.draw_count = 0
        self.redraws = Redraws(len(first.returns()) if self.hides else 0, fewest=DRAWS)
        # by name, observer and player: another game's item of a list with one for each player; whether the observer never sees his
        self.items: dict[tuple[str, int, int], object] = {}
        self.hidden: dict[tuple[str, int, int], bool] = {}
        self.played: Counter = Counter()
        self.drawn: Counter = Counter()
        self.p_values: list[float] = []
        self.chi_square = chi_square_functions()[0]

    def report(self, progress: Callable[[int], None]) -> AuditReport:
        """The random games, and what they came to."""
        started, number = time.perf_counter(), 0
        while number < self.games and not any(check.failed for check in self.checks.values()):
            luck = random.Random(f"{self.seed} {number}")
            with contextlib.suppress(_Wrong):
                decision = self._played(self.make(luck), luck, f"game {number}")
                if self.hides and decision is not None:
                    self._look(*decision, luck)
            number += 1
            progress(number)
        if self.hides:
            self._finish()
        seconds, checks = time.perf_counter() - started, tuple(self.checks.values())
        return AuditReport(self.name, number, self.decisions, self.draw_count, not self.hides, checks, seconds)

    # ------------------------------------------------------------------------------------------------------------- the rules

    def _played(self, state: Any, luck: random.Random, where: str, claim: str | None = None) -> tuple[Any, str] | None:
        """Play to the end; returns a decision of the game, each with the same chance, and where it was."""
        chosen, count = None, 0
        for length in range(MOST_ACTIONS):
            if state.is_terminal():
                good = len(state.returns()) > 0
                self._require(claim or "end", good, f"{where}, at its end: the game has no returns")
                return chosen
            place = f"{where}, after {length} action{'s' * (length != 1)}"
            action = self._action(state, luck, place, claim or "actions")
            if state.current_player() != CHANCE:
                count += 1
                if self.hides and claim is None and luck.random() * count < 1:
                    chosen = copy.deepcopy(state), place
            try:
                state.apply_action(action)
            except Exception as error:  # whatever a class stumbles over is what there is to tell
                self._require(claim or "actions", False, f"{place}: action {action} raises {error!r}")
        self._require(claim or "end", False, f"{where}: the game has not ended after {MOST_ACTIONS:,} actions")
        return None

    def _action(self, state: Any, luck: random.Random, place: str, claim: str) -> int:
        """A random action, or outcome of chance by its probability."""
        actions = list(state.legal_actions())
        good = bool(actions) and len(set(actions)) == len(actions) and min(actions) >= 0
        good = good and actions == list(state.legal_actions())
        self._require(claim, good, f"{place}: the legal actions are {actions[:20]}")
        return random_action(state, luck)

    def _require(self, claim: str, good: bool, example: str) -> None:
        self.checks[claim].count(1, not good, lambda: example)
        if not good:
            raise _Wrong

    # ------------------------------------------------------------------------------------------------------------- the draws

    def _look(self, state: Any, place: str, luck: random.Random) -> None:
        """Draw at a decision by the eyes of a player, mostly of the one about to act."""
        self.decisions += 1
        player = state.current_player() if luck.random() < 0.5 else luck.randrange(len(state.returns()))
        place = f"{place}, for player {player}"
        seeds = [luck.getrandbits(32) for _ in range(DRAWS if self.decisions <= THOROUGH else 1)]
        before = repr(vars(state))
        draws = self._draws(state, player, seeds)
        self._count("original", [repr(vars(state)) != before], place)
        acts = state.current_player() == player
        self._count("player", [draw.current_player() != state.current_player() for draw in draws], place)
        if acts:
            legal = list(state.legal_actions())
            self._count("choices", [list(draw.legal_actions()) != legal for draw in draws], place)
        self._count("view", [draw.observation(player) != state.observation(player) for draw in draws], place)
        if any(self.checks[name].failed for name in ("original", "player", "choices", "view")):
            raise _Wrong
        self.played.update(_pairs(state))
        self.drawn.update(_pairs(draws[0]))
        self._compare(state, player, seeds, draws, place)
        self._note_redraws(state, player, draws)
        self._played(copy.deepcopy(draws[0]), luck, f"{place}, from a draw", "onwards")

    def _draws(self, state: Any, player: int, seeds: Sequence[int]) -> list[Any]:
        self.draw_count += len(seeds)
        return [state.resample(player, random.Random(seed)) for seed in seeds]

    def _count(self, claim: str, wrong: Sequence[bool], place: str) -> None:
        self.checks[claim].count(
            len(wrong), sum(wrong), lambda: f"{place}: this does not hold for draw {wrong.index(True) + 1}"
        )

    def _compare(self, state: Any, player: int, seeds: Sequence[int], draws: Sequence[Any], place: str) -> None:
        """Draw from a draw as if it were the truth; and where few states can be drawn, count them."""
        faces = [_face(draw) for draw in draws]
        alternative = next((draw for draw, face in zip(draws, faces, strict=True) if face != _face(state)), None)
        if alternative is not None:
            again = [_face(draw) for draw in self._draws(alternative, player, seeds)]
            self._count("swap", [first != second for first, second in zip(faces, again, strict=True)], place)
        if self.chi_square is None or len(self.p_values) == TESTED or len(set(faces)) in (1, len(faces)):
            return
        luck = random.Random(f"{self.seed} {place}")
        seeds = [luck.getrandbits(32) for _ in range(FEW_STATES * DRAWS_PER_STATE)]
        counts = Counter(map(_face, self._draws(state, player, seeds)))
        if len(counts) > FEW_STATES:
            return
        observed, expected = list(counts.values()), [len(seeds) / len(counts)] * len(counts)
        self.p_values.append(float(self.chi_square(observed, expected)[1]))
        biased = self.p_values[-1] * TESTED < FALSE_ALARM
        self.checks["uniform"].count(1, biased, lambda: f"{place}: {uneven(observed, expected)}")

    def _note_redraws(self, state: Any, player: int, draws: Sequence[Any]) -> None:
        """Count whose items of lists are redrawn; and find out by items of another game whether the player sees those that are not."""
        redrawn: dict[str, list[bool]] = {}
        for name, items in vars(state).items():
            if not isinstance(items, list | tuple) or len(items) != len(state.returns()):
                continue
            places = [slice(i, i + 1) for i in range(len(items))]  # a draw may have fewer
            redrawn[name] = [any(vars(draw)[name][place] != items[place] for draw in draws) for place in places]
            for i, item in enumerate(items):
                size = len(item) if isinstance(item, list | tuple | set) else 0
                foreign = self.items.setdefault((name, i, size), item)
                if foreign != item and not redrawn[name][i]:
                    where = name, player, i
                    self.hidden[where] = self.hidden.get(where, True) and self._is_unseen(state, *where, foreign)
        self.redraws.note(player, any(_face(draw) != _face(state) for draw in draws), redrawn)

    def _is_unseen(self, state: Any, name: str, observer: int, player: int, item: object) -> bool:
        """Whether an observer knows the same where a player's item is another one; False where the class cannot say it."""
        changed, items = copy.deepcopy(state), vars(state)[name]
        vars(changed)[name] = type(items)([*items[:player], copy.deepcopy(item), *items[player + 1 :]])
        try:
            return bool(changed.observation(observer) == state.observation(observer))
        except Exception:  # an impossible state may be more than it bears
            return False

    def _finish(self) -> None:
        """What only all draws together can tell."""
        self.redraws.judge(self.checks["redraw"], lambda *where: self.hidden.get(where, False))
        often = [pair for pair, count in self.drawn.items() if count >= FEWEST_OF_SEVERAL]
        never_played = sorted(
            (pair for pair in often if not self.played[pair]), key=lambda pair: (self.drawn[pair], pair)
        )
        never_drawn = [
            pair for pair, count in self.played.items() if count >= FEWEST_OF_SEVERAL and not self.drawn[pair]
        ]
        several = len(never_played) >= max(SEVERAL, TOO_MANY * len(never_drawn))
        wrong = len(never_played) if several else sum(self.drawn[pair] >= FEWEST for pair in never_played)
        self.checks["facts"].count(
            len(often),
            wrong,
            lambda: (
                f"in {self.drawn[never_played[-1]]} draws, but in no state of play: {' and '.join(never_played[-1])}"
            ),
        )


def _face(state: Any) -> str:
    """All facts of a state: its text, or its attributes where it has none."""
    has_text = any("__str__" in vars(each) for each in type(state).__mro__[:-1])
    return str(state) if has_text else repr(vars(state))


def _pairs(state: Any) -> Iterator[tuple[str, str]]:
    """The pairs of facts of a state, each once."""
    facts: set[str] = set()
    lists: dict[str, Sequence[object]] = {}
    for name, value in vars(state).items():
        for where, item in _parts(name, value):
            if isinstance(item, list | tuple):
                lists[where] = item
                facts.update(f"{each!r} in {where}" for each in item if isinstance(each, int))
            else:
                facts.add(f"{where} is {item!r}")
    yield from itertools.combinations(sorted(facts), 2)
    for (first, items), (second, others) in itertools.combinations(sorted(lists.items()), 2):
        if len(items) == len(others) > 1:
            for a, b in {(repr(a), repr(b)) for a, b in zip(items, others, strict=True)}:
                yield f"{first}[i] is {a}", f"{second}[i] is {b}"


def _parts(where: str, value: object) -> Iterator[tuple[str, object]]:
    """Numbers and lists of numbers, with the names under which they are found in an attribute."""
    if isinstance(value, int | float | str | None):
        yield where, value
    elif isinstance(value, list | tuple) and len(value) <= LONGEST_LIST:
        if all(isinstance(item, int | float | str | None) for item in value):
            yield where, value
            if all(isinstance(item, bool) for item in value):
                yield from ((f"{where}[{i}]", item) for i, item in enumerate(value))
        else:
            for i, item in enumerate(value):
                yield from _parts(f"{where}[{i}]", item)
