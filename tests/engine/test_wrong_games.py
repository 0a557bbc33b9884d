"""What search always checks, since it costs nothing: a wrong game ends in a sentence, never in a wrong result."""

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import (
    BASELINE,
    MAST,
    SO_ISMCTS,
    DeterminizedUCT,
    Game,
    argmax,
    backpropagation,
    candidates,
    gibbs,
    search,
    values,
)
from icarus.compiler.functions import CompilationError
from icarus.compiler.plain_python import Interpreter
from icarus.engine.loop import check_actions
from icarus.kernel import record
from tests.audit import test_contract as slips
from tests.audit.test_contract import COIN, NIM, SECRET

REWARDS = r"the rewards function of \S+ did not write a number from 0 to 1 for each player"
TOO_MANY = "more legal actions than its max_legal"
MOVED = "a determinization changed the player to move, or ended the game"
SOMEBODY = "the player function of nim7 gave a number that is not a player, "
NOTHING = "the legal function of nim7 gave no legal action at a state that is not terminal"
PLAINLY = {  # what plain Python says instead
    TOO_MANY: f"{TOO_MANY}|index 3 is out of bounds for axis 0 with size 3"
}
WAYS: dict[str, dict[str, Any]] = {
    "compiled": {},
    "python": {"engine": "python"},
    "two threads": {"threads": 2},
    "SO-ISMCTS": {"scheme": SO_ISMCTS},
    "determinized UCT": {"scheme": DeterminizedUCT(2)},
}


def legal_of_four(state: Any, actions: slips.np.ndarray) -> int:
    """One more than max_legal, after the root."""
    count = 3 if state.left == 7 else 4
    for i in range(count):
        actions[i] = i + 1
    return count


def legal_of_a_million(state: Any, actions: slips.np.ndarray) -> int:
    """As many are claimed, after the root."""
    for i in range(3):
        actions[i] = i + 1
    return 3 if state.left == 7 else 1_000_000


@pytest.mark.parametrize(
    ("game", "slip", "message"),
    [
        (NIM, {"rewards": slips.rewards_of_one}, REWARDS),
        (NIM, {"rewards": slips.rewards_nan}, REWARDS),
        (NIM, {"rewards": slips.rewards_of_two}, REWARDS),
        (NIM, {"player": slips.player_seven}, SOMEBODY),
        (NIM, {"legal": slips.legal_none}, NOTHING),
        (NIM, {"legal": legal_of_four}, TOO_MANY),
        (NIM, {"legal": legal_of_a_million}, TOO_MANY),
        (SECRET, {"determinize": slips.determinize_the_mover}, MOVED),
        (SECRET, {"determinize": slips.determinize_the_end}, MOVED),
    ],
    ids=lambda argument: getattr(next(iter(argument.values())), "__name__", "") if isinstance(argument, dict) else "",
)
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_search_of_a_wrong_game_ends_in_a_sentence(
    game: Game, slip: dict[str, Callable], message: str, way: dict[str, Any]
) -> None:
    state = attrs.evolve(game, **slip).new_initial_state(1)
    if game is SECRET:
        state.apply_action(2)
    with pytest.raises((ValueError, IndexError), match=PLAINLY.get(message, message) if "engine" in way else message):
        search(state, BASELINE, iterations=200, **way)


def legal_forgotten(state: Any, actions: slips.np.ndarray) -> Any:
    """Nothing is returned after the root."""
    for i in range(3):
        actions[i] = i + 1
    if state.left == 7:
        return 3
    return None


def test_a_function_that_returns_nothing_on_some_ways_is_not_compiled() -> None:
    message = "legal_forgotten cannot be compiled: it returns nothing on some ways; it must return how"
    with pytest.raises(
        CompilationError, match=rf"{message} many actions it has written \(.*test_wrong_games.py, line \d+\)"
    ):
        attrs.evolve(NIM, legal=legal_forgotten).new_initial_state(1).legal_actions()


@pytest.mark.parametrize(
    ("name", "function", "right"),
    [
        ("player", lambda state: state.mover / 1, "a player, CHANCE or TERMINAL"),
        ("legal", lambda state, actions: np.sqrt(4.0), "how many actions it has written"),
        ("episode", lambda state: 0.5, "a label, or CONTINUES"),
    ],
)
def test_a_float_in_place_of_an_integer_is_not_compiled(name: str, function: Callable, right: str) -> None:
    message = rf"cannot be compiled: it returns a float; it must return {right} \(.*test_wrong_games.py, line \d+\)"
    with pytest.raises(CompilationError, match=message):
        search(attrs.evolve(NIM, **{name: function}).new_initial_state(1), BASELINE, iterations=10)


def toss_in_the_middle(state: Any, action: int) -> None:
    """After the first choice a coin says who goes on."""
    if state.mover == -1:
        state.mover = action
    else:
        state.left -= action
        state.mover = -1 if state.left == 4 else 1 - state.mover


def test_probabilities_that_do_not_sum_to_1_end_a_search() -> None:
    game = attrs.evolve(COIN, initial=slips.initial, apply=toss_in_the_middle)
    assert search(game.new_initial_state(1), BASELINE, iterations=200).iterations == 200
    with pytest.raises(ValueError, match=r"the chance function of \S+ gave probabilities that do not sum to 1 \("):
        search(attrs.evolve(game, chance=slips.chance_of_nine_tenths).new_initial_state(1), BASELINE, iterations=200)


# ------------------------------------------------------------------------------ checked in the first iterations and every 16th


def chance_negative(state: Any, probabilities: slips.np.ndarray) -> None:
    """They sum to 1."""
    probabilities[0], probabilities[1] = -0.5, 1.5


def legal_negative(state: Any, actions: slips.np.ndarray) -> int:
    """After the root."""
    actions[0], actions[1] = 1, 2 if state.left == 7 else -2
    return 2


def legal_twice(state: Any, actions: slips.np.ndarray) -> int:
    """After the root."""
    actions[0], actions[1], actions[2] = 2, 1, 3 if state.left == 7 else 2
    return 3


@candidates
def named_for_some(history: Any, legal: slips.np.ndarray, records: slips.np.ndarray) -> None:
    """All but the last."""
    for i in range(len(legal) - 1):
        records[i] = record(legal[i], history.steps[-1].player)


@values
def sorted_away(history: Any, theta: Any, legal: slips.np.ndarray, out: slips.np.ndarray) -> None:
    """0, and all actions become the first."""
    actions = legal
    for i in range(len(legal)):
        actions[i] = legal[0]
        out[i] = 0.0


@backpropagation
def added_nothing(row: Any, context: int, rewards: slips.np.ndarray) -> None:
    """0/0 for the reward"""
    row.reward += (
        (rewards[context] - rewards[context]) / slips.np.float64(row.visits) if row.visits > 0 else slips.np.nan
    )
    row.visits += 1


def with_mast(**changes: Any) -> Any:
    return BASELINE >> attrs.evolve(MAST, name="SLIP", **changes)


ENGINES = pytest.mark.parametrize("engine", ["compiled", "python"])


@ENGINES
@pytest.mark.parametrize(
    ("slip", "message"),
    [
        ({"legal": legal_negative}, r"the legal function of \S+ gave a negative action|legal of .* gave \[1, -2\]"),
        ({"legal": legal_twice}, r"the legal function of \S+ gave an action twice|legal of .* gave \[2, 1, 2\]"),
        ({"max_length": 3}, "a playout of nim7 has not ended after 3 actions, its max_length"),
    ],
    ids=["negative", "twice", "too long"],
)
@pytest.mark.parametrize("strategy", [BASELINE, BASELINE >> MAST], ids=str)
def test_wrong_actions_end_a_search(slip: dict[str, Any], message: str, strategy: Any, engine: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(attrs.evolve(NIM, **slip).new_initial_state(1), strategy, iterations=200, engine=engine)


@ENGINES
def test_a_negative_probability_ends_a_search(engine: str) -> None:
    game = attrs.evolve(COIN, initial=slips.initial, apply=toss_in_the_middle, chance=chance_negative)
    with pytest.raises(
        ValueError, match=r"the chance function of \S+ gave a negative probability|chance of .* gave \[-0.5, 1.5\]"
    ):
        search(game.new_initial_state(1), BASELINE, iterations=200, engine=engine)


@ENGINES
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"policy": gibbs().over(named_for_some)},
            "named_for_some.* wrote no.* for a legal action|wrote nothing for the legal",
        ),
        (
            {"policy": argmax().over(sorted_away)},
            r"sorted_away .* writes to what is read-only: actions\[i\]|destination is read-only",
        ),
        ({"backpropagation": added_nothing}, "added_nothing.* wrote NaN to a record"),
    ],
    ids=["keys", "legal", "NaN"],
)
def test_a_wrong_slot_is_named(changes: dict[str, Any], message: str, engine: str) -> None:
    with pytest.raises((ValueError, CompilationError), match=message):
        search(NIM.new_initial_state(1), with_mast(**changes), iterations=200, engine=engine)


def test_exactly_actions_that_are_negative_or_twice_are_wrong() -> None:
    """Lists of all orders, with numbers beyond 64 too, against what a set says."""
    luck, check = np.random.default_rng(22), Interpreter()(check_actions)
    for _ in range(2000):
        actions = luck.integers(luck.choice([-1, 0]), luck.choice([5, 70, 5000]), luck.integers(1, 9))
        right = actions.min() >= 0 and len(set(actions.tolist())) == len(actions)
        if right:
            check(actions, len(actions))
        else:
            with pytest.raises(ValueError, match="gave a negative action|gave an action twice"):
                check(actions, len(actions))


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        ({"player": slips.player_seven}, "the player function of nim7 gave a number that is not a player"),
        ({"rewards": slips.rewards_of_two}, "the rewards function of nim7 did not write "),
        ({"legal": legal_negative}, "the legal function of .* gave a negative action"),
        ({"legal": legal_of_four}, "the legal function of .* gave more legal actions than its max_legal"),
    ],
)
def test_the_game_the_answer_and_the_line_are_told(slip: dict[str, Any], message: str) -> None:
    line = next(iter(slip.values())).__code__.co_firstlineno
    with pytest.raises(ValueError, match=rf"{message}.* \(.*\.py, line {line}\)$"):
        search(attrs.evolve(NIM, **slip).new_initial_state(seed=0), BASELINE, iterations=40)


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_rules_that_draw_as_no_seed_fixes_are_refused(engine: str) -> None:
    game = attrs.evolve(NIM, name="unseeded-nim", rewards=slips.rewards_by_luck)
    sentence = (
        r"rewards of unseeded-nim draws from np\.random, which no seed fixes; .* \(.*test_contract\.py, line \d+\)"
    )
    with pytest.raises(ValueError, match=sentence):
        search(game.new_initial_state(), BASELINE, iterations=10, engine=engine)
