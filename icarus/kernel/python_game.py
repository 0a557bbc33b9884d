"""Games whose functions are plain Python on a state of any type, searched by the compiled loop: for a draft, a game under a debugger.

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
import math
from collections.abc import Callable, Iterable, Mapping, Set
from operator import index
from typing import Any

import attrs
import numpy as np

from icarus.checks import excerpt
from icarus.compiler.functions import python_of
from icarus.compiler.messages import defined_at
from icarus.compiler.plain_python import plain_kernels
from icarus.kernel.contract import CHANCE, CONTINUES, TERMINAL, StateData, facts_of
from icarus.kernel.features import KINDS, checked_numbers
from icarus.kernel.functions import DEALING, FUNCTIONS, OF_PYTHON_GAMES, TOLD, check_arguments
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.state import State

SHOWN = 120  # characters of an answer in a message
LEAST, MOST = -(1 << 63), (1 << 63) - 1  # of integers
TOLERANCE = 1e-9  # of the sum of probabilities


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
        ValueError: where a function is asked, by whomever: it answers what makes no sense.
    """

    copy: Callable = copy.deepcopy
    text: Callable = str
    action_text: Callable = _number_text
    observation: Callable | None = None
    multiplicity: Callable | None = None

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        takes = {name: row.inputs for name, row in (FUNCTIONS | TOLD).items()}
        check_arguments(self, takes | OF_PYTHON_GAMES, is_compiled=False)

    def ask(self, name: str, *inputs: Any) -> Any:
        function = getattr(self, name)
        if function is None:
            return self.ask("copy", *inputs[:1]) if name == "determinize" else None
        answer = function(*inputs) if name not in DEALING else function(*inputs, **self.parameters)
        if name in KINDS:
            return checked_numbers(self, name, answer)
        convert, is_right, right = _ANSWERS[name]
        try:
            converted = convert(answer)
            if is_right(self, converted, *inputs):
                return converted
        except (TypeError, ValueError):
            pass
        count = len(self.ask("legal", *inputs)) if name == "chance" else self.players - (name == "player")
        text = "the state that it was given" if inputs and answer is inputs[0] else repr(answer)
        raise self._refusal(name, text, right.format(count))

    def _refusal(self, name: str, answer: str, right: str) -> ValueError:
        """What is wrong with an answer: "legal of trek (trek.py, line 24) returned None; it must be a list of integers"."""
        place = defined_at(getattr(self, name))
        return ValueError(f"{name} of {self}{place} returned {excerpt(answer, SHOWN)}; it must {right}")

    def facts_of(self, data: StateData) -> StateData:
        return data

    def check_data(self, data: StateData) -> None:
        """An object of any kind will do."""

    def changed_data(self, data: StateData, fields: Mapping[str, Any]) -> StateData:
        raise TypeError(f"a state of {self} is an object of the game's own; change a copy of it, for State(game, copy)")


def _same(answer: Any) -> Any:
    return answer


def _state(answer: StateData) -> StateData:
    if answer is None:
        raise TypeError
    return answer


def _items(answer: Any) -> list:
    """In an order of their own, which sets have not."""
    if not isinstance(answer, Iterable) or isinstance(answer, Mapping | Set | str):
        raise TypeError
    return list(answer)


def _integer(answer: Any) -> int:
    number = index(answer)
    if not LEAST <= number <= MOST:
        raise ValueError
    return number


def _integers(answer: Any) -> list[int]:
    numbers = list(map(index, _items(answer)))
    if numbers and not (LEAST <= min(numbers) and max(numbers) <= MOST):
        raise ValueError
    return numbers


def _reals(answer: Any) -> list[float]:
    return list(map(_real, _items(answer)))


def _real(answer: Any) -> float:
    if isinstance(answer, str):
        raise TypeError
    return float(answer)


def _deal(answer: Any) -> tuple[StateData, float] | None:
    if answer is None:
        return None
    state, probability = answer
    return _state(state), _real(probability)


def _is_player(game: AnyGame, player: int, state: StateData) -> bool:
    return 0 <= player < game.players or player in (CHANCE, TERMINAL)


def _are_legal(game: AnyGame, actions: list[int], state: StateData) -> bool:
    if not actions:
        return game.ask("player", state) == TERMINAL
    return min(actions) >= 0 and len(set(actions)) == len(actions)


def _are_rewards(game: AnyGame, rewards: list[float], state: StateData) -> bool:
    return len(rewards) == game.players and all(0 <= reward <= 1 for reward in rewards)


def _are_chances(game: AnyGame, chances: list[float], state: StateData) -> bool:
    all_given = len(chances) == len(game.ask("legal", state)) and all(chance >= 0 for chance in chances)
    return all_given and abs(sum(chances) - 1) <= TOLERANCE


def _are_moves(game: AnyGame, moves: list[int], state: StateData, action: int) -> bool:
    return len(moves) == game.players


def _is_deal(game: AnyGame, dealt: tuple[StateData, float] | None, index: int) -> bool:
    return dealt is None or 0 <= dealt[1] < math.inf


def _is_new(game: AnyGame, answer: StateData, state: StateData, *_: object) -> bool:
    return answer is not state


def _is_unused(game: AnyGame, answer: object, state: StateData, action: int) -> bool:
    return answer is None or answer is state or type(answer) is not type(state)


def _is_any(*_: object) -> bool:
    return True


# What makes Python's own numbers of an answer, whether they make sense, and what would be right.
_ANSWERS: dict[str, tuple[Callable[[Any], Any], Callable[..., bool], str]] = {
    "initial": (_state, _is_any, "return a new state"),
    "copy": (_state, _is_new, "return a copy that can be changed without changing that"),
    "determinize": (_state, _is_new, "leave that alone and return a changed copy"),
    "prepare": (_same, _is_any, ""),
    "apply": (_same, _is_unused, "change the state that it is given and return None"),
    "player": (_integer, _is_player, "be a player from 0 to {}, CHANCE or TERMINAL"),
    "legal": (_integers, _are_legal, "be a list of different integers of at least 0, one at least before the end"),
    "rewards": (_reals, _are_rewards, "be {} numbers from 0 to 1, one for each player"),
    "chance": (_reals, _are_chances, "be {} probabilities that sum to 1, one for each legal action"),
    "observe": (_integers, _are_moves, "be {} integers, the move that each player sees"),
    "episode": (_integer, lambda game, label, _: label >= CONTINUES, "be a label of at least 0, or CONTINUES"),
    "recall": (_integers, _is_any, "be a list of integers, the moves seen since the episode began"),
    "simultaneous": (_integer, lambda game, number, _: number >= 0, "be 0, or the number of the choice"),
    "deal": (_deal, _is_deal, "be (state, probability), or None after the last deal"),
    "deal_observation": (_integer, _is_any, "be an integer, what the player observes of the deal"),
}


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


def in_python(game: AnyGame) -> PythonGame:
    """The same game, by the plain Python of its functions; its states are records [1] of `game.state`.

    Raises:
        TypeError: it is no game.
    """
    check_game("in_python", game)
    if isinstance(game, PythonGame):
        return game
    assert isinstance(game, Game)
    with plain_kernels():
        kernels = game.kernels()
    rules = {
        name: _in_python(game, name, getattr(kernels, name, None))
        for name in (*FUNCTIONS, *KINDS)
        if getattr(game, name) is not None or name == "prepare"
    }
    texts: dict[str, Callable] = {  # which may ask compiled helpers, and so are given numpy's own records
        "text": lambda data: game.text_of(facts_of(data)),
        "action_text": lambda data, action: game.action_text_of(facts_of(data), action),
    }
    if (multiplicity := game.multiplicity) is not None:
        texts["multiplicity"] = lambda data: multiplicity(facts_of(data))
    same = {field.name: getattr(game, field.name) for field in attrs.fields(AnyGame)}
    return PythonGame(copy=functools.partial(game.ask, "copy"), **same | rules | texts)


def _in_python(game: Game, name: str, kernel: Any) -> Callable:
    """A function of a game, which messages know by the one that it stands for."""

    @np.errstate(over="ignore")  # as compiled code does
    def asked(*inputs: Any, **parameters: int) -> Any:
        return game.ask(name, *inputs) if name in KINDS else game.ask_kernel(kernel, name, *inputs)

    if (original := getattr(game, name)) is not None:
        asked.py_func = python_of(original)  # type: ignore[attr-defined]
    return asked
