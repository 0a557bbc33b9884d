"""Games as plain Python functions on states of any kind, for `search(…, engine="python")`.

A `PythonGame` has the letters of Definition 1 like a `Game`, but its states are whatever Python objects one likes, its functions may do
whatever Python can, and nothing is compiled: a bridge to another library, a first draft, a game under a debugger.

    game = PythonGame(
        name="pick", players=2,
        initial=lambda rng: [0, 0],                  # a new state; draw by below(rng, n) and uniform(rng) of icarus.kernel
        player=lambda state: …,                      # ρ: 0 … κ−1, CHANCE or TERMINAL
        legal=lambda state: [0, 1, 2],               # A(s)
        apply=lambda state, action: …,               # f: changes the state
        rewards=lambda state: (1.0, 0.0),            # μ, in [0, 1]
    )
    search(game.new_initial_state(seed=1), RAVE >> MAST, iterations=1000)

`in_python(game)` is the same game made of the plain Python of a `Game`: it plays the same deals by the same seeds.
"""

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.compiler.messages import defined_at
from icarus.compiler.plain_python import Interpreter, as_compiled
from icarus.compiler.rng import seeded
from icarus.kernel.answers import GAVE, answering, check_signatures, unchecked
from icarus.kernel.contract import CONTINUES, NO_DEAL, RECALLED, Beliefs, Facts, StateData, copy_data, facts_of
from icarus.kernel.features import KINDS, checked_numbers, written_by
from icarus.kernel.game import FUNCTIONS, AnyGame, Game
from icarus.kernel.state import State


def _number_text(state: StateData, action: int) -> str:
    """What an action is called where a game does not say; by this name other processes find it."""
    return str(action)


@attrs.frozen(kw_only=True, eq=False, repr=False)
class PythonGame(AnyGame):
    """A game (Definition 1) as plain Python functions; in a function's arguments, `state` is what `initial` made, of any type.

    Required:
        name, players: as in `Game`.
        initial: `initial(rng, **parameters) -> state`: a new state s₀, deal included. `rng` is for `below`, `uniform` and `shuffle`
            of `icarus.kernel`; the seed does not fix other randomness.
        player: `player(state) -> int`, ρ: who is about to act, CHANCE or TERMINAL.
        legal: `legal(state) -> [int, …]`, A(s): distinct non-negative integers, in the same order for the same state; at least one.
        apply: `apply(state, action)`, f: changes the state.
        rewards: `rewards(state) -> [float, …]`, μ: one in [0, 1] for each player, at a terminal state.

    Optional:
        copy: `copy(state) -> state`: one that can be changed without changing the first. Absent: copy.deepcopy.
        text, action_text: `text(state)` and `action_text(state, action)` as people write them. Absent: str.
        observe: `observe(state, action) -> [int, …]`, the ⌣ᵢ, asked before `apply`: the move that each player sees, any integer, or
            UNSEEN for nothing at all; the mover's own is the action. Absent: everyone sees every action.
        chance: `chance(state) -> [float, …]`, π₀: one probability for each legal action of a chance state. Absent: equal ones.
        determinize: `determinize(state, observer, beliefs, rng) -> state`: a new state, drawn uniformly from the observer's information
            set; the given state is not changed. For CHANCE, who sees everything, a copy. Absent: perfect information.
        prepare: `prepare(state, observer) -> beliefs`, asked once before a search. Absent: None.
        episode: `episode(state) -> int`, e: a label ≥ 0, or CONTINUES.
        recall: `recall(state, perspective) -> [int, …]`: as in `Game`.
        simultaneous: `simultaneous(state) -> int`: as in `Game`.
        features: `features(state) -> [float, …]`, action_features: `action_features(state, action) -> [float, …]`, heuristic:
            `heuristic(state) -> [float, …]`, and feature_names, action_feature_names: as in `Game`.
        deal: `deal(index, **parameters) -> (state, probability)`: a new initial state, that after deal number `index` = 0, 1, …, and how
            likely it is; None where there are no so many. deal_observation: as in `Game`. For solvers, where `initial` draws.
        observation: `observation(state, player)`, for audits: all that a player may know of a state, as something that can be compared.
        multiplicity: `multiplicity(state) -> float`, for audits: as in `Game`.
        parameters, defaults, seat_names, max_length, actions, utilities: as in `Game`.

    Raises:
        TypeError: a function that cannot be called with what it is given.
        ValueError: where a function is called, by whomever: it answers what makes no sense (`icarus.kernel.answers`).
    """

    copy: Callable = copy.deepcopy
    text: Callable = str
    action_text: Callable = _number_text
    observation: Callable | None = None
    multiplicity: Callable | None = None

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        check_signatures(self)
        for name, function in answering(self).items():
            object.__setattr__(self, name, function)

    def new_initial_state(self, seed: int | Sequence[int] = 0) -> "PythonState":
        """A fresh game. Everything that chance decides before the first action (the deal) follows from the seed."""
        return PythonState(self, self.initial(seeded(checks.seed(seed)), **self.parameters))

    def tell(self, kind: str, *arguments: object) -> np.ndarray:
        """What "features" or "heuristic" of a state, or "action_features" of a state and an action, are.

        Raises:
            ValueError: not a number for each name or player, or numbers that make no sense.
        """
        return checked_numbers(self, kind, getattr(self, kind)(*arguments))

    def observed_moves(self, state: StateData, action: int) -> tuple[int, ...]:
        """The move by which each perspective sees an action that is about to be done."""
        if self.observe is None:
            return (action,)
        return (*self.observe(state, action), action)

    def believed(self, state: StateData, observer: int) -> Beliefs:
        """What `determinize` is given of what can be computed ahead."""
        return None if self.prepare is None else self.prepare(state, observer)

    def redraw(self, state: StateData, observer: int, beliefs: Beliefs, rng: np.ndarray) -> StateData:
        """A new state from the information set of an observer."""
        return self.copy(state) if self.determinize is None else self.determinize(state, observer, beliefs, rng)


class PythonState(State):
    """A state of a `PythonGame`; `data` and `facts` are the game's own object."""

    game: PythonGame

    @property
    def facts(self) -> StateData:
        return self.data

    def _player(self) -> int:
        return self.game.player(self.data)

    def beliefs(self, observer: int) -> Beliefs:
        return self.game.believed(self.data, observer)

    def redraw(self, observer: int, beliefs: Beliefs, generator: np.ndarray) -> StateData:
        return self.game.redraw(self.data, observer, beliefs, generator)

    def _check(self) -> None:
        """A data of any kind will do."""

    def _check_ranges(self) -> None:
        """An object of any kind says itself what it takes."""

    def _stamp(self) -> None:
        """Of an object of any kind it is not known whether it was changed."""

    def _copy(self, data: StateData) -> StateData:
        return self.game.copy(data)

    def _legal(self) -> list[int]:
        return self.game.legal(self.data)

    def _probabilities(self) -> list[float]:
        return self.game.chance(self.data)  # type: ignore[misc]  # asked only where the game has it

    def _advance(self, data: StateData, action: int) -> None:
        self.game.apply(data, action)

    def _rewards(self) -> list[float]:
        return self.game.rewards(self.data)

    def _label(self, data: StateData) -> int:
        return CONTINUES if self.game.episode is None else self.game.episode(data)

    def _moves_of(self, data: StateData, action: int) -> list[int]:
        return list(self.game.observed_moves(data, action))

    def _recall(self, perspective: int) -> tuple[int, ...]:
        return tuple(self.game.recall(self.data, perspective))  # type: ignore[misc]

    def _evaluate(self, kind: str, *actions: int) -> np.ndarray:
        return self.game.tell(kind, self.data, *actions)


def check_game(reader: str, game: object) -> None:
    """Refuse what is not a game.

    Raises:
        TypeError: it is not; the message begins with `reader`, which needs one.
    """
    if not isinstance(game, AnyGame):
        raise TypeError(f"{reader} needs a Game, such as games.load('othello'), not {game!r}")


def check_is_state(reader: str, state: object) -> None:
    """Refuse what is not a state.

    Raises:
        TypeError: it is not; the message begins with `reader`, which needs one.
    """
    if not isinstance(state, State):
        raise TypeError(f"{reader} needs a State, such as games.load('hearts').new_initial_state(), not {state!r}")


# --------------------------------------------------------------------------------------------- a compiled game in Python


def in_python(game: AnyGame) -> PythonGame:
    """The same game, by the plain Python of its functions; its states are records [1] of `game.state`.

    Raises:
        TypeError: it is no game.
    """
    check_game("in_python", game)
    if isinstance(game, PythonGame):
        return game
    assert isinstance(game, Game)
    texts: dict[str, Callable] = {  # which may ask compiled helpers, and so are given numpy's own records
        "text": lambda data: game.text_of(facts_of(data)),
        "action_text": lambda data, action: game.action_text_of(facts_of(data), action),
    }
    if (multiplicity := game.multiplicity) is not None:
        texts["multiplicity"] = lambda data: multiplicity(facts_of(data))
    names = [field.name for field in attrs.fields(AnyGame) if field.name not in (*FUNCTIONS, *KINDS)]
    same: dict[str, Any] = {name: getattr(game, name) for name in names}
    return PythonGame(copy=copy_data, **same | texts | _Adapter(game).functions())


def _facts(data: np.ndarray) -> Facts:
    return as_compiled(data[0])


INTEGERS = ("player", "episode", "simultaneous", "deal_observation")  # they return an integer and write nothing


class _Adapter:
    """The functions of a `Game` in the manner of a `PythonGame`: values are returned, not written to arrays."""

    def __init__(self, game: Game) -> None:
        interpret = Interpreter()
        self.game = game
        functions = {name: getattr(game, name) for name in FUNCTIONS}
        self.plain = {name: interpret(function) for name, function in functions.items() if function is not None}

    def functions(self) -> dict[str, Callable]:
        """Those that there are, by name."""
        functions = {
            name: self._integer(name) if name in INTEGERS else getattr(self, name) for name in {*self.plain, "prepare"}
        }
        functions |= {kind: self.teller(kind) for kind in KINDS if getattr(self.game, kind) is not None}
        return {name: self._answering(name, function) for name, function in functions.items()}

    def _answering(self, name: str, function: Callable) -> Callable:
        """A function that messages know by the one that it stands for."""
        answers: Any = np.errstate(over="ignore")(function)  # as compiled code does
        original = unchecked(getattr(self.game, name))
        if original is not None:
            functools.update_wrapper(answers, original, updated=())
        answers.verb = GAVE
        return answers

    def _integer(self, name: str) -> Callable:
        """A function that only returns an integer."""
        function = self.plain[name]
        return lambda data, *arguments: int(function(_facts(data), *arguments))

    def initial(self, rng: np.ndarray, **parameters: int) -> np.ndarray:
        data = np.zeros(1, self.game.state)
        self.plain["initial"](_facts(data), rng, **parameters)
        return data

    def legal(self, data: np.ndarray) -> list[int]:
        actions = np.full(self.game.max_legal, -1)  # no action: what is left unwritten is refused
        count, place = self.plain["legal"](_facts(data), actions), defined_at(self.game.legal)
        if not checks.is_integer(count):
            raise ValueError(
                f"legal of {self.game}{place} returned {count!r}; it must return how many actions it has written"
            )
        if count > self.game.max_legal:
            raise ValueError(
                f"legal of {self.game}{place} returned {count}, more legal actions than its max_legal, {len(actions)}"
            )
        return actions[:count].tolist()

    def apply(self, data: np.ndarray, action: int) -> None:
        self.plain["apply"](_facts(data), action)

    def rewards(self, data: np.ndarray) -> list[float]:
        out = np.full(self.game.players, np.nan)
        self.plain["rewards"](_facts(data), out)
        return out.tolist()

    def observe(self, data: np.ndarray, action: int) -> list[int]:
        moves = np.full(self.game.players, action, np.int64)
        self.plain["observe"](_facts(data), action, moves)
        return moves.tolist()

    def chance(self, data: np.ndarray) -> list[float]:
        probabilities = np.zeros(self.game.max_legal)
        self.plain["chance"](_facts(data), probabilities)
        return probabilities[: len(self.legal(data))].tolist()

    def prepare(self, data: np.ndarray, observer: int) -> np.ndarray:
        beliefs = np.zeros(1, self.game.beliefs)
        if "prepare" in self.plain:
            self.plain["prepare"](_facts(data), observer, _facts(beliefs))
        return beliefs

    def determinize(self, data: np.ndarray, observer: int, beliefs: np.ndarray, rng: np.ndarray) -> np.ndarray:
        return self._redrawn("determinize", data, observer, beliefs, rng)

    def _redrawn(self, name: str, data: np.ndarray, observer: int, beliefs: np.ndarray, rng: np.ndarray) -> np.ndarray:
        redrawn = copy_data(data)
        self.plain[name](_facts(redrawn), observer, _facts(beliefs), rng)
        return redrawn

    def recall(self, data: np.ndarray, perspective: int) -> list[int]:
        moves = np.empty(RECALLED, np.int64)
        count = self.plain["recall"](_facts(data), perspective, moves)
        return moves[:count].tolist()

    def deal(self, index: int, **parameters: int) -> tuple[np.ndarray, float] | None:
        data = np.zeros(1, self.game.state)
        probability = float(self.plain["deal"](_facts(data), index, **parameters))
        return None if probability == NO_DEAL else (data, probability)

    def teller(self, kind: str) -> Callable:
        """What tells features or the heuristic, known by the name of the game's own function."""

        @functools.wraps(getattr(self.game, kind))
        def tell(data: np.ndarray, *actions: int) -> np.ndarray:
            return written_by(self.game, kind, _facts(data), *actions)

        return tell
