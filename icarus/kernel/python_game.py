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
import reprlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import numpy as np

from icarus.compiler import interpret_rebound, plain_kernels, python_of, without_modules
from icarus.kernel.contract import StateData, facts_of
from icarus.kernel.evaluation import attributes_of
from icarus.kernel.features import KINDS
from icarus.kernel.functions import DEALING, FUNCTIONS, OF_PYTHON_GAMES, ROWS, check_arguments
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.state import State


class _Values(reprlib.Repr):
    """A `repr` that also tells what objects hold; in full, to a depth of six levels."""

    def __init__(self) -> None:
        super().__init__()
        for name in vars(self):
            if name.startswith("max") and name != "maxlevel":
                setattr(self, name, sys.maxsize)

    def repr_instance(self, x: Any, level: int) -> str:
        text = repr(x)
        if " object at 0x" not in text or level <= 0:
            return without_modules(text)
        values = (
            f"{name}={self.repr1(getattr(x, name, None), level - 1)}" for name in attributes_of(x)
        )
        return f"{type(x).__name__}({', '.join(values)})"


def value_text(value: object) -> str:
    """A value in words: what its objects hold, and what sets and dictionaries have in one order."""
    return _Values().repr(value)


def state_text(state: StateData) -> str:
    """`str` of a state; if its class has no `__str__`, the class and what the state holds."""
    text = str(state)
    return value_text(state) if " object at 0x" in text else text


def number_text(state: StateData, action: int) -> str:
    """The number of an action as its text; a function with a name, which can be pickled with the game."""
    return str(action)


_ATOMS = {int, float, str, bool, type(None)}
_NESTED = 3  # levels of a state at which lists of atoms are looked for


def _copy_lists(value: Any, depth: int, copies: dict[int, Any]) -> None:
    """Add copies of the lists of atoms to the memo of `copy.deepcopy`, which itself copies item by item and takes twice as long."""
    if depth == 0 or type(value) not in (list, tuple, dict):
        return
    items = value.values() if isinstance(value, dict) else value
    if not _ATOMS.issuperset(map(type, items)):
        for item in items:
            _copy_lists(item, depth - 1, copies)
    elif isinstance(value, list):
        copies[id(value)] = value[:]


def deep_copy(state: StateData) -> StateData:
    """A copy by `copy.deepcopy`.

    Raises:
        TypeError: the state has a part that cannot be copied, such as a generator.
    """
    copies: dict[int, Any] = {}
    _copy_lists(getattr(state, "__dict__", state), _NESTED, copies)
    try:
        copied = copy.deepcopy(state, copies)
    except TypeError as error:
        raise TypeError(
            f"a state cannot be copied ({error}); give PythonGame(copy=…), a function that can"
        ) from None
    if copied is state:
        raise TypeError(
            f"a state is {state!r}, which nothing can change; make it a list, a dictionary or an object"
        )
    return copied


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
        text, action_text: `text(state)` and `action_text(state, action)` as people write them. Absent: str; of a class without
            `__str__`, its name and values.
        observe: `observe(state, action) -> [int, …]`, the ⌣ᵢ, asked before `apply`: the move that each player sees, any integer, or
            UNSEEN for nothing at all; the mover's own is the action, or a number for it and what it shows him. Absent: everyone sees
            every action.
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
        observation: `observation(state, player)`, multiplicity: `multiplicity(state) -> float`, for audits: as in `Game`.
        move_text: `move_text(move) -> str`, parameters, defaults, seat_names, max_length, actions, utilities: as in `Game`.

    Raises:
        TypeError: a function that cannot be called with what it is given.
        ValueError: where a function is asked, by whomever: it answers what makes no sense.
    """

    copy: Callable = deep_copy
    text: Callable = state_text
    action_text: Callable = number_text

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        takes = {name: row.inputs for name, row in ROWS.items()}
        check_arguments(self, takes | OF_PYTHON_GAMES, is_compiled=False)

    def answer(self, name: str, *inputs: Any) -> Any:
        function = getattr(self, name)
        if function is None and name == "determinize":
            return self.ask("copy", inputs[0])
        if function is None:
            return None
        if name not in DEALING:
            return function(*inputs)
        # A copy: what is dealt may have parts, such as a list of the module, that the next game would find as this one left them.
        dealt = self.checked(name, function(*inputs, **self.parameters), *inputs)
        if name == "initial":
            return self.ask("copy", dealt)
        return None if dealt is None else (self.ask("copy", dealt[0]), dealt[1])

    @property
    def is_interpreted(self) -> bool:
        """Whether its functions are copies in plain Python, as those of `in_python` are."""
        return hasattr(self.apply, "py_func")

    def changed_data(self, data: StateData, fields: Mapping[str, Any]) -> StateData:
        raise TypeError(
            f"a state of {self} is an object of the game's own; change a copy of it, for State(game, copy)"
        )


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
        raise TypeError(
            f"{reader} needs a State, such as games.load('hearts').new_initial_state(), not {state!r}"
        )


def in_python(game: AnyGame) -> PythonGame:
    """The same game, by the plain Python of its functions; its states are records [1] of `game.state`.

    Raises:
        TypeError: it is no game.
    """
    check_game("in_python", game)
    if isinstance(game, PythonGame):
        return game
    assert isinstance(game, Game)
    names = [
        name
        for name in (*FUNCTIONS, *KINDS)
        if getattr(game, name) is not None or name == "prepare"
    ]
    interpret_rebound()
    with plain_kernels():
        kernels = game.kernels()
        rules = {name: _in_python(game, name, getattr(kernels, name)) for name in names}
    weigh = game.multiplicity
    view = game.observation
    # These may call compiled helpers, and so are given numpy's own records, not the structures that the rules are given.
    by_facts: dict[str, Any] = {
        "text": lambda data: game.text_of(facts_of(data)),
        "action_text": lambda data, action: game.action_text_of(facts_of(data), action),
    }
    if weigh is not None:
        by_facts["multiplicity"] = lambda data: weigh(facts_of(data))
    if view is not None:
        by_facts["observation"] = lambda data, player: view(facts_of(data), player)
    same = {field.name: getattr(game, field.name) for field in attrs.fields(AnyGame)}
    same["board"] = None  # it draws records, not the arrays of them that are the states here
    return PythonGame(copy=functools.partial(game.ask, "copy"), **same | rules | by_facts)


def _in_python(game: Game, name: str, kernel: Any) -> Callable:
    """A plain function that gives the answers of a game's function by its kernel; messages name the latter."""

    @np.errstate(over="ignore")  # as compiled code does
    def asked(*inputs: Any, **parameters: int) -> Any:
        if name in DEALING:
            interpret_rebound()
        return game.ask_kernel(kernel, name, *inputs)

    original = getattr(game, name)
    if original is not None:
        asked.py_func = python_of(original)  # type: ignore[attr-defined]
    return asked
