"""Audit of a `PythonGame`: are its functions what they promise, and do its determinizations keep what a player knows?

    from icarus.audit.plain import audit_plain
    print(audit_plain(GAME))

Its states take the form of a class in plain Python (`PlainState`), of which `audit_class` asks all that it asks of any class. What a
player knows is made of what the game says: the moves that he has seen, by `observe`; his legal actions and their texts; the label of the
episode and what `recall` tells; and `observation`, where the game has it. Without that, nobody but the author knows what was dealt to him.

Facts are what a state is made of, down to numbers and texts: the items of a dictionary, the attributes of an object.
"""

import random
import re
import time
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from typing import Any

import attrs
import numpy as np

from icarus.audit.lockstep import random_action
from icarus.audit.report import AuditReport, Check
from icarus.audit.resampler import GAMES, audit_class
from icarus.audit.uniformity import DRAWS_PER_STATE
from icarus.checks import count_text, integer
from icarus.compiler.rng import seeded
from icarus.kernel import CHANCE, TERMINAL, UNSEEN
from icarus.kernel.data import StateData
from icarus.kernel.python_game import PythonGame

PLAIN_CLAIMS = {
    "repeat": "the same seed and the same actions lead to the same state",
    "reads": "functions that are only asked leave a state as it was, and so does an action done to a copy",
    "notation": "legal actions have different texts",
    "truth": "where few states can be drawn, the truth is one of them, by its facts or its text",
}
# what audit_class says of a class, as it is said of a game in plain functions
SAID = {
    "view": "the player knows the same: moves seen, actions and their texts, and what `observation` tells",
    "original": "`determinize` leaves its state as it was",
}
LOOKED = 30  # games whose states are looked at one by one
MOST_STATES = 400  # of each of them
DECISIONS = 3  # of a game, at which states are drawn
FEW_STATES = 20  # so few that can be drawn must each have come up, when drawn often enough
DEEPEST = 12  # levels of a state that are told
SEED_BITS = 62


class PlainState:
    """A state of a `PythonGame` as a class in plain Python has it, for `audit_class`; `vars(state)` are its facts."""

    __slots__ = ("_length", "_seen", "_stamp", "_vars", "data", "game")

    def __init__(self, game: PythonGame, data: StateData, moves: Sequence[Sequence[int]] | None, length: int) -> None:
        self.game, self.data, self._vars = game, data, _facts_of(data)
        # the moves that each player has seen, and the number of actions
        self._seen, self._length = [list(each) for each in moves or [()] * game.players], length
        self._stamp: str | None = None

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        return self._vars

    def __deepcopy__(self, memo: dict) -> "PlainState":
        copy = type(self)(self.game, self.game.copy(self.data), self._seen, self._length)
        copy._stamp = str(copy)
        return copy

    def __str__(self) -> str:
        return facts_text(self._vars)

    __repr__ = __str__

    def num_players(self) -> int:
        return self.game.players

    def is_terminal(self) -> bool:
        return self.current_player() == TERMINAL

    def current_player(self) -> int:
        player: int = self.game.player(self.data)
        return player

    def legal_actions(self) -> list[int]:
        return [] if self.is_terminal() else self.game.legal(self.data)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        actions = self.legal_actions()
        chance = [1 / len(actions)] * len(actions) if self.game.chance is None else self.game.chance(self.data)
        return list(zip(actions, chance, strict=True))

    def returns(self) -> list[float]:
        return self.game.rewards(self.data) if self.is_terminal() else [0.0] * self.game.players

    def apply_action(self, action: int) -> None:
        if self._length == self.game.max_length:
            raise ValueError(f"{self.game} goes on after {self._length} actions, its max_length")
        mover, moves = self.current_player(), self.game.observed_moves(self.data, action)
        for player, moves_seen in enumerate(self._seen):
            move = action if player == mover or len(moves) == 1 else moves[player]
            if move != UNSEEN:
                moves_seen.append(move)
        self.game.apply(self.data, action)
        self._vars, self._length, self._stamp = _facts_of(self.data), self._length + 1, None

    def known(self, player: int) -> tuple[Hashable, ...]:
        """What a player knows, as far as the game says it."""
        game, acts = self.game, self.current_player() == player
        texts = [(action, game.action_text_of(self.data, action)) for action in self.legal_actions()] if acts else []
        label = None if game.episode is None else game.episode(self.data)
        recalled = () if game.recall is None else tuple(game.recall(self.data, game.perspective(player)))
        observation = "" if game.observation is None else facts_text(game.observation(self.data, player))
        return tuple(self._seen[player]), tuple(texts), label, recalled, observation


class HidingState(PlainState):
    """A state of a game that hides something."""

    __slots__ = ()

    def observation(self, player: int) -> Hashable:
        """What a player knows; refused of facts that an audit has put in, where the game does not tell what he knows of them."""
        if self.game.observation is None and self._stamp not in (None, str(self)):
            raise ValueError("nobody knows who sees what was changed")
        return self.known(player)

    def multiplicity(self) -> float:
        """How likely the state is among those that the player cannot tell apart, up to a common factor."""
        return 1.0 if self.game.multiplicity is None else self.game.multiplicity(self.data)

    def resample(self, player: int, rng: random.Random) -> "HidingState":
        generator, beliefs = seeded(rng.getrandbits(SEED_BITS)), self.game.believed(self.data, player)
        return type(self)(self.game, self.game.redraw(self.data, player, beliefs, generator), self._seen, self._length)


def audit_plain(
    game: PythonGame, *, games: int = GAMES, seed: int = 0, progress: Callable[[int], None] | None = None
) -> AuditReport:
    """Check a `PythonGame` by random games until something is wrong: what can be told without the memory of compiled functions.

    Args:
        games: how many.
        seed: fixes games and draws.
        progress: called after each game with the number played.

    Raises:
        TypeError: not a `PythonGame`.
        ValueError: no positive number of games; a function of the game answers what makes no sense, or raises an error.
    """
    if not isinstance(game, PythonGame):
        raise TypeError(f"audit_plain needs a PythonGame, not {game!r}; audit checks a Game, and audit_class a class")
    integer("games", games, least=1)
    integer("seed", seed, least=0)
    started, base = time.perf_counter(), PlainState if game.determinize is None else HidingState
    form = type(str(game), (base,), {"__slots__": ()})

    def make(luck: random.Random) -> PlainState:
        return form(game, game.new_initial_state(luck.getrandbits(SEED_BITS)).data, None, 0)

    look, looked = _Look(game), min(games, LOOKED)
    for number in range(looked):
        look.play(make, f"{seed} {number}", f"game {number}")
    checks, perfect = tuple(look.checks.values()), game.determinize is None
    report = AuditReport(str(game), looked, look.decisions, look.draw_count, perfect, checks, 0.0)
    if report.passed:
        whole = audit_class(make, games=games, seed=seed, progress=progress)
        renamed = tuple(attrs.evolve(check, claim=SAID.get(check.name, check.claim)) for check in whole.checks)
        draw_count = whole.determinizations + look.draw_count
        report = attrs.evolve(whole, checks=(*renamed, *checks), determinizations=draw_count)
    return attrs.evolve(report, seconds=time.perf_counter() - started)


class _Look:
    """A look at each state of some games."""

    def __init__(self, game: PythonGame) -> None:
        self.game, self.draw_count, self.decisions = game, 0, 0
        hides = game.determinize is not None
        self.checks = {name: Check(name, claim) for name, claim in PLAIN_CLAIMS.items() if hides or name != "truth"}

    def play(self, make: Callable[[random.Random], PlainState], key: str, where: str) -> None:
        """Play a random game, twice at once."""
        luck = random.Random(key)
        state, twin = make(random.Random(key)), make(random.Random(key))
        decisions, length = 0, 0
        while self._is_same(state, twin, f"{where}, after {length} actions") and length < MOST_STATES:
            if state.is_terminal():
                return
            place = f"{where}, after {count_text(length, 'action')}"
            self._ask(state, place)
            if state.current_player() != CHANCE and isinstance(state, HidingState) and decisions < DECISIONS:
                decisions += 1
                self._seek_truth(state, luck, place)
            action = random_action(state, luck)
            for each in (state, twin):
                each.apply_action(action)
            length += 1

    def _is_same(self, state: PlainState, twin: PlainState, place: str) -> bool:
        first, second = str(state), str(twin)
        self.checks["repeat"].count(1, first != second, lambda: f"{place}:\n  {first}\n  {second}")
        return first == second

    def _ask(self, state: PlainState, place: str) -> None:
        """Ask all functions that may only read, and do each action to a copy."""
        before = str(state)
        legal = state.legal_actions()
        texts = [self.game.action_text_of(state.data, action) for action in legal]
        twice = [text for i, text in enumerate(texts) if text in texts[:i]]
        self.checks["notation"].count(
            1, bool(twice), lambda: f"{place}: {texts.count(twice[0])} are called {twice[0]!r}"
        )
        self.game.text_of(state.data)
        if state.current_player() == CHANCE:
            state.chance_outcomes()
        for player in range(self.game.players):
            state.known(player)
        for action in legal:
            self.game.observed_moves(state.data, action)
            self.game.apply(self.game.copy(state.data), action)
        if isinstance(state, HidingState) and state.current_player() != CHANCE:
            state.resample(state.current_player(), random.Random(place))
        after = str(state)
        self.checks["reads"].count(1, before != after, lambda: f"{place}, before and after:\n  {before}\n  {after}")

    def _seek_truth(self, state: HidingState, luck: random.Random, place: str) -> None:
        """Draw for the player to move, and look for the truth among few states."""
        player, faces, texts = state.current_player(), set[str](), set[str]()
        self.decisions += 1
        for _ in range(FEW_STATES * DRAWS_PER_STATE):
            draw = state.resample(player, luck)
            faces.add(self._face(draw))
            texts.add(self.game.text_of(draw.data))
            self.draw_count += 1
            if len(faces) > FEW_STATES:
                return
        truth, example = self._face(state), min(faces)
        self.checks["truth"].count(
            1,
            truth not in faces and self.game.text_of(state.data) not in texts,
            lambda: (
                f"{place}, for player {player}: {truth}\n  is not among the {len(faces)} states that are drawn, such as\n  {example}"
            ),
        )

    def _face(self, state: PlainState) -> str:
        """The facts of a state; in what order some lie, who are not one for each player, says nothing."""
        return facts_text(vars(state), self.game.players)


def _facts_of(data: StateData) -> dict[str, Any]:
    """The facts that a state is made of, by name."""
    facts = data if isinstance(data, dict) else getattr(data, "__dict__", None)
    named = isinstance(facts, dict) and bool(facts) and all(isinstance(name, str) for name in facts)
    return facts if named and facts is not None else {"state": data}


def facts_text(value: object, players: int | None = None, depth: int = 0) -> str:
    """All that a value is made of, in words that are the same for equal values.

    Args:
        players: where it is given, a list of numbers or texts is told in its order only if it has so many.
    """

    def tell(item: object) -> str:
        return facts_text(item, players, depth + 1)

    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        return repr(value)
    if depth == DEEPEST:
        return "…"
    if isinstance(value, np.ndarray | np.generic):
        return tell(value.tolist())
    if isinstance(value, Mapping):
        return f"{{{', '.join(sorted(f'{tell(key)}: {tell(item)}' for key, item in value.items()))}}}"
    if isinstance(value, Set):
        return f"{{{', '.join(sorted(map(tell, value)))}}}"
    if isinstance(value, Sequence):
        texts = [tell(item) for item in value]
        loose = players is not None and len(texts) != players and not any(text[0] in "[{" for text in texts)
        return f"[{', '.join(sorted(texts) if loose else texts)}]"
    names = [*getattr(value, "__dict__", ()), *getattr(type(value), "__slots__", ())]
    if names and not callable(value):
        return f"{type(value).__name__}({', '.join(f'{name}={tell(getattr(value, name, None))}' for name in names)})"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
