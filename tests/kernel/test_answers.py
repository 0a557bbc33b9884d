"""What the plain functions of a `PythonGame` may not answer: each is told with the game, the function, its line and what would be right."""

import functools
import pickle
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import BASELINE, EPIC, PythonGame, in_python, search
from icarus.kernel import CHANCE, CONTINUES, TERMINAL, below
from tests.audit.test_contract import NIM


def initial(rng: np.ndarray) -> dict:
    return {"cards": [below(rng, 4), below(rng, 4), below(rng, 4)], "said": [], "coin": None}


def player(state: dict) -> int:
    return TERMINAL if state["coin"] is not None else CHANCE if len(state["said"]) == 3 else len(state["said"])


def legal(state: dict) -> list[int]:
    return [0, 1]


def apply(state: dict, action: int) -> None:
    if len(state["said"]) == 3:
        state["coin"] = action
    else:
        state["said"].append(action)


def rewards(state: dict) -> list[float]:
    return [float(said == (card > 1)) for said, card in zip(state["said"], state["cards"], strict=True)]


def determinize(state: dict, observer: int, beliefs: None, rng: np.ndarray) -> dict:
    cards = [card if seat == observer else below(rng, 4) for seat, card in enumerate(state["cards"])]
    return state | {"cards": cards, "said": list(state["said"])}


HILO = PythonGame(
    name="hilo",
    players=3,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    rewards=rewards,
    chance=lambda state: [0.5, 0.5],
    observe=lambda state, action: (action, action, action),
    determinize=determinize,
    episode=lambda state: CONTINUES,
    recall=lambda state, perspective: state["said"],
)


def test_a_game_of_functions_that_have_names_goes_to_another_process() -> None:
    functions = (initial, player, legal, apply, rewards, determinize)
    game = PythonGame(name="hilo", players=3, **{function.__name__: function for function in functions})
    state = pickle.loads(pickle.dumps(game.new_initial_state(3)))
    assert str(state) == str(game.new_initial_state(3)) and state.action_to_string(1) == "1"
    assert state.game.ask("legal", {"said": [], "coin": None}) == [0, 1]


def returned_anew(state: dict, action: int) -> dict:
    after = state | {"said": [*state["said"], action]}
    return after


def redrawn_in_place(state: dict, observer: int, beliefs: None, rng: np.ndarray) -> dict:
    state["cards"] = [below(rng, 4)] * 3
    return state


PLAYERS = "it must be a player from 0 to 2, CHANCE or TERMINAL"
LEGAL = "it must be a list of different integers of at least 0, one at least before the end"
REWARDS = "it must be 3 numbers from 0 to 1, one for each player"
CHANCES = "it must be 2 probabilities that sum to 1, one for each legal action"


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("initial", lambda rng: None, "returned None; it must return a new state"),
        ("player", lambda state: None, f"returned None; {PLAYERS}"),
        ("player", lambda state: 3, f"returned 3; {PLAYERS}"),
        ("player", lambda state: "0", f"returned '0'; {PLAYERS}"),
        ("legal", lambda state: None, f"returned None; {LEGAL}"),
        ("legal", lambda state: [], f"returned []; {LEGAL}"),
        ("legal", lambda state: (0, 1.5, 3), f"returned (0, 1.5, 3); {LEGAL}"),
        ("legal", lambda state: [0, 0], f"returned [0, 0]; {LEGAL}"),
        ("legal", lambda state: [-1, 0], f"returned [-1, 0]; {LEGAL}"),
        ("legal", lambda state: [1 << 64, 1], f"returned [18446744073709551616, 1]; {LEGAL}"),
        ("apply", returned_anew, "it must change the state that it is given and return None"),
        ("rewards", lambda state: [1.0, 0.0], f"returned [1.0, 0.0]; {REWARDS}"),
        ("rewards", lambda state: {0: 1.0, 1: 0.0, 2: 0.0}, f"returned {{0: 1.0, 1: 0.0, 2: 0.0}}; {REWARDS}"),
        ("rewards", lambda state: None, f"returned None; {REWARDS}"),
        ("rewards", lambda state: [22, 4, 15], f"returned [22, 4, 15]; {REWARDS}"),
        ("chance", lambda state: [1.0], f"returned [1.0]; {CHANCES}"),
        ("chance", lambda state: [0.5, 0.6], f"returned [0.5, 0.6]; {CHANCES}"),
        ("chance", lambda state: [(0, 0.5), (1, 0.5)], f"; {CHANCES}"),
        ("copy", lambda state: state, "returned the state that it was given; it must return a copy"),
        ("observe", lambda state, action: [action], "; it must be 3 integers, the move that each player sees"),
        ("observe", lambda state, action: None, "; it must be 3 integers, the move that each player sees"),
        ("determinize", lambda *arguments: None, "returned None; it must leave that alone and return a changed copy"),
        (
            "determinize",
            redrawn_in_place,
            "returned the state that it was given; it must leave that alone and return a changed copy",
        ),
        ("episode", lambda state: None, "returned None; it must be a label of at least 0, or CONTINUES"),
        ("recall", lambda state, perspective: 1, "returned 1; it must be a list of integers"),
    ],
)
def test_a_wrong_answer_is_told_with_its_function_and_line(name: str, function: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        search(attrs.evolve(HILO, **{name: function}).new_initial_state(1), BASELINE >> EPIC, iterations=20)
    sentence, line = str(caught.value), function.__code__.co_firstlineno
    assert sentence.startswith(f"{name} of hilo ({__file__}, line {line}) returned ") and message in sentence


def test_answers_that_make_sense_in_another_form_are_taken() -> None:
    functions: dict[str, Any] = {
        "legal": lambda state: np.arange(2),
        "player": lambda state: np.int8(player(state)),
        "rewards": lambda state: np.array(rewards(state), np.float32),
        "chance": lambda state: (probability for probability in (0.25, 0.75)),
    }
    game = attrs.evolve(HILO, **functions)
    assert search(game.new_initial_state(1), BASELINE, iterations=20).iterations == 20
    state = game.new_initial_state(1)
    assert [type(action) for action in state.legal_actions()] == [int, int]


def test_at_the_end_no_action_is_legal() -> None:
    game = attrs.evolve(HILO, legal=lambda state: [] if state["coin"] is not None else [0, 1])
    assert game.ask("legal", {"cards": [0, 1, 2], "said": [0, 0, 0], "coin": 1}) == []


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("initial", lambda: {}, r"initial of hilo takes \(\); it must take \(rng\)"),
        ("legal", lambda state, actions: 2, r"legal of hilo takes \(state, actions\); it must take \(state\)"),
        ("apply", lambda state: None, r"apply of hilo takes \(state\); it must take \(state, action\)"),
        ("determinize", lambda state, observer, rng: state, r"it must take \(state, observer, beliefs, rng\)"),
        ("prepare", lambda state: None, r"it must take \(state, observer\)"),
    ],
)
def test_a_function_that_takes_something_else_is_refused_where_the_game_is_made(
    name: str, function: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=rf"{message} \(.*test_answers.py, line \d+\)$"):
        attrs.evolve(HILO, **{name: function})


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("initial", lambda state: None, r"initial of nim7 takes \(state\); it must take \(state, rng\)"),
        ("initial", lambda: None, r"initial of nim7 takes \(\); it must take \(state, rng\)"),
        ("apply", lambda state: None, r"apply of nim7 takes \(state\); it must take \(state, action\)"),
        ("apply", lambda state, action: (yield action), "apply of nim7 has a yield; it must be a plain function"),
    ],
)
def test_a_function_that_a_compiled_game_cannot_have_is_refused_where_the_game_is_made(
    name: str, function: Any, message: str
) -> None:
    with pytest.raises(TypeError, match=rf"{message} \(.*test_answers.py, line \d+\)$"):
        attrs.evolve(NIM, **{name: function})


async def apply_later(state: Any, action: int) -> None:
    """Nothing is done before it is awaited."""


@pytest.mark.parametrize("game", [HILO, NIM])
@pytest.mark.parametrize(
    ("changes", "message"),
    [({"apply": apply_later}, "apply of .* is <function apply_later .*>; it must be a plain function")],
)
def test_what_only_looks_like_a_part_of_a_game_is_refused(game: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        attrs.evolve(game, **changes)


@pytest.mark.parametrize("game", [HILO, NIM])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        *(
            ({"name": name}, "the name of a game is .*; it must be one line without /")
            for name in (3, "", "hi\nlo", "hi/lo", "hi\\lo")
        ),
        ({"utilities": (1, -1)}, r"utilities of .* are \(1, -1\); they must be \(least, most\)"),
        ({"utilities": (0, 0)}, r"utilities of .* are \(0, 0\); they must be"),
        ({"utilities": 2.0}, "utilities of .* are 2.0; they must be"),
        ({"utilities": (0, float("inf"))}, r"utilities of .* are \(0, inf\); they must be"),
    ],
)
def test_names_and_utilities_that_mean_nothing_are_refused(game: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attrs.evolve(game, **changes)


@pytest.mark.parametrize("function", [max, functools.partial(rewards), functools.cache(rewards)])
def test_what_can_be_called_but_not_compiled_is_refused(function: Any) -> None:
    kind = type(function).__name__
    with pytest.raises(TypeError, match=f"rewards of nim7 is a {kind}; to be compiled it must be a function of Python"):
        attrs.evolve(NIM, rewards=function)


def test_initial_takes_the_parameters() -> None:
    with pytest.raises(TypeError, match=r"initial of hilo\(cards=3\) takes \(rng\); it must take \(rng, cards\)"):
        attrs.evolve(HILO, parameters={"cards": 3})
    assert attrs.evolve(HILO, initial=lambda rng, cards: initial(rng), parameters={"cards": 3}).players == 3


def forgetful(state: Any, actions: np.ndarray) -> None:
    actions[0] = 1


def short_by_one(state: Any, actions: np.ndarray) -> int:
    actions[0] = 1
    return 2


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (forgetful, "forgetful returned None; it must return how many actions it has written"),
        (
            short_by_one,
            r"legal of nim7 \(.*, line \d+\) returned \[1, -1\]; it must be a list of different integers of at",
        ),
    ],
)
def test_a_compiled_game_in_plain_python_is_told_by_its_own_function(slip: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        search(in_python(attrs.evolve(NIM, legal=slip)).new_initial_state(1), BASELINE, iterations=5)
