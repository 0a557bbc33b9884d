"""The audit of a `PythonGame`: it passes the example of the documentation, and finds what is wrong with games like it."""

import copy
import random
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import PythonGame, discover, games, in_python
from icarus.audit import audit_belief
from icarus.audit.plain import audit_plain, facts_text
from icarus.kernel import TERMINAL, below
from tests.test_documented_examples import example

second_chance = example("second_chance")
GAME = second_chance.GAME
FEW = 8  # games


def determinized(state: dict, observer: int, beliefs: None, rng: np.ndarray, **wrong: Callable) -> dict:
    """As the example, with something wrong: by name of the fact, what it is made of the one that is right."""
    drawn = second_chance.determinize(state, observer, beliefs, rng)
    for name, change in wrong.items():
        drawn[name] = change(drawn[name], state, observer, rng) if observer >= 0 else drawn[name]
    return drawn


def wrongly(**wrong: Callable) -> Callable:
    return lambda state, observer, beliefs, rng: determinized(state, observer, beliefs, rng, **wrong)


def own_redrawn(cards: list[int], state: dict, observer: int, rng: np.ndarray) -> list[int]:
    return cards[::-1] if below(rng, 2) else cards


def never_the_truth(cards: list[int], state: dict, observer: int, rng: np.ndarray) -> list[int]:
    return [*cards, 0]


def by_the_truth(state: dict, observer: int, beliefs: None, rng: np.ndarray) -> dict:
    """The unknown cards are shuffled in the order in which they truly lie."""
    drawn = copy.deepcopy(state)
    if observer >= 0:
        unknown = [state["cards"][1 - observer], *state["deck"]]
        second_chance.luck(rng).shuffle(unknown)
        drawn["cards"][1 - observer] = unknown.pop()
        drawn["deck"] = sorted(unknown)
    return drawn


def in_place(state: dict, observer: int, beliefs: None, rng: np.ndarray) -> dict:
    """The lists of the state given are changed, though another dictionary is returned."""
    drawn = second_chance.determinize(state, observer, beliefs, rng)
    state["cards"][:] = drawn["cards"]
    return drawn


def lucky(rng: np.ndarray) -> dict:
    return second_chance.initial(rng) | {"turn": random.randrange(2)}


def writing(state: dict) -> list[int]:
    state["asked"] = state.get("asked", 0) + 1
    return second_chance.legal(state)


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"determinize": wrongly(cards=own_redrawn)}, "view"),
        ({"determinize": lambda state, observer, beliefs, rng: copy.deepcopy(state)}, "unseen"),
        ({"determinize": wrongly(cards=never_the_truth), "observation": None}, "truth"),
        ({"determinize": by_the_truth}, "swap"),
        ({"determinize": in_place}, "reads"),
        ({"initial": lucky}, "repeat"),
        ({"legal": writing}, "reads"),
        ({"copy": dict}, "reads"),
        ({"action_text": lambda state, action: "go"}, "notation"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_wrong_with_a_game_is_found(changes: dict[str, Any], claim: str) -> None:
    report = audit_plain(attrs.evolve(GAME, **changes), games=FEW)
    assert claim in report.failed, report


def test_the_example_passes_with_and_without_what_a_player_observes() -> None:
    assert audit_plain(GAME, games=FEW).passed
    assert audit_plain(attrs.evolve(GAME, observation=None), games=FEW).passed


def test_a_game_beyond_its_max_length_and_a_wrong_answer_end_the_audit_in_a_sentence() -> None:
    with pytest.raises(ValueError, match="second-chance goes on after 3 actions, its max_length"):
        audit_plain(attrs.evolve(GAME, max_length=3), games=FEW)
    report = audit_plain(attrs.evolve(GAME, rewards=lambda state: [1]), games=FEW)
    assert report.failed == ("end",)
    assert ": rewards of second-chance (" in report["end"].examples[0]  # and not where the library raised this
    assert report["end"].examples[0].endswith(" returned [1.0]; it must be 2 numbers from 0 to 1, one for each player")


@pytest.mark.parametrize(
    ("call", "pattern"),
    [
        (
            lambda: audit_plain(games.load("othello")),
            "audit_plain needs a PythonGame, not <game othello>; audit checks a Game",
        ),
        (lambda: audit_plain("othello"), "audit_plain needs a PythonGame, not 'othello'; .*, and audit_class a class"),
        (lambda: audit_belief(GAME, print), "audit_belief needs a compiled game; .* is in plain Python"),
        (lambda: audit_belief("hearts", print), "audit_belief needs a Game, such as .*, not 'hearts'"),
        (lambda: in_python("hearts"), "in_python needs a Game, such as .*, not 'hearts'"),
        (lambda: discover(3), "discover needs a Game, such as .*, not 3"),
    ],
)
def test_what_is_not_such_a_game_is_refused(call: Callable, pattern: str) -> None:
    with pytest.raises(TypeError, match=pattern):
        call()


def test_a_game_of_arrays_and_one_without_secrets_pass() -> None:
    kuhn = audit_plain(in_python(games.load("kuhn-poker")), games=10)
    assert kuhn.passed and kuhn["view"].checked and kuhn["truth"].checked
    nim = audit_plain(in_python(example("nim").NIM), games=10)
    assert nim.passed and nim.perfect and {check.name for check in nim.checks} == {
        "actions", "end", "repeat", "reads", "notation"
    }  # fmt: skip


def test_facts_are_told_down_to_numbers_and_the_same_for_equal_states() -> None:
    class Heap:
        def __init__(self) -> None:
            self.sticks, self.taken = np.array([3, 4]), {2, 1}

    class Table:
        __slots__ = ("heap",)

        def __init__(self) -> None:
            self.heap = Heap()

    assert facts_text(Table()) == "Table(heap=Heap(sticks=[3, 4], taken={1, 2}))"
    assert facts_text({"b": (1,), "a": None}) == "{'a': None, 'b': [1]}"
    assert facts_text([[3, 1, 2], [2, 1]], players=2) == "[[1, 2, 3], [2, 1]]"
    assert facts_text([object()]) == "[<object object>]"
    endless: list = []
    endless.append(endless)
    assert "…" in facts_text(endless)


# ------------------------------------------------------------------------- states that are not equally likely

RANKS = (0, 0, 1)  # of the cards; a state has the rank of a card alone


def hidden_rank(**changes: Any) -> PythonGame:
    """Player 0 guesses the rank of player 1's card."""

    def drawn(state: list, observer: int, beliefs: None, rng: np.ndarray) -> list:
        return [RANKS[below(rng, len(RANKS))] if observer == 0 else state[0], state[1]]

    functions: dict[str, Any] = {
        "initial": lambda rng: [RANKS[below(rng, len(RANKS))], None],
        "player": lambda state: 0 if state[1] is None else TERMINAL,
        "legal": lambda state: [0, 1],
        "apply": lambda state, action: state.__setitem__(1, action),
        "rewards": lambda state: [float(state[0] == state[1]), float(state[0] != state[1])],
        "observation": lambda state, player: state[1] if player == 0 else state,
        "determinize": drawn,
    }
    return PythonGame(name="hidden-rank", players=2, **functions | changes)


def deals(state: list) -> int:
    return RANKS.count(state[0])


def test_draws_are_as_likely_as_the_deals_that_a_state_stands_for() -> None:
    assert audit_plain(hidden_rank(), games=FEW).failed == ("uniform",)
    report = audit_plain(hidden_rank(multiplicity=deals), games=FEW)
    assert report.passed and report["uniform"].checked


def test_draws_that_are_uniform_where_the_deals_are_not_are_found() -> None:
    def drawn(state: list, observer: int, beliefs: None, rng: np.ndarray) -> list:
        return [below(rng, 2) if observer == 0 else state[0], state[1]]

    report = audit_plain(hidden_rank(determinize=drawn, multiplicity=deals), games=FEW)
    assert report.failed == ("uniform",)


def test_a_multiplicity_that_is_no_positive_number_is_refused() -> None:
    report = audit_plain(hidden_rank(multiplicity=lambda state: 0), games=FEW)
    assert "returned 0; it must be a positive number" in str(report)


def test_a_compiled_game_in_python_keeps_its_multiplicity() -> None:
    game = games.load("generic-poker")
    state = game.new_initial_state(seed=1)
    assert in_python(game).multiplicity(state.data) == game.multiplicity(state.facts) > 0
    assert in_python(games.load("kuhn-poker")).multiplicity is None
