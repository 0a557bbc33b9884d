"""Functions of games and slots that are wrong on purpose, one after the other, each in a process of its own: see test_debug.py.

The line that is wrong ends in `# slip`: it is the one to be told. `python -m tests.engine.wrong_functions` forks for each, and prints a
line of JSON: the name, the exit status as of os.waitpid, the error and what it says, or what was written to stderr.
"""

import ctypes
import inspect
import json
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any

import attrs
import numba
import numpy as np

from icarus import (
    BASELINE,
    EPIC,
    MAST,
    RAVE,
    Game,
    argmax,
    backpropagation,
    candidates,
    capture,
    gibbs,
    search,
    values,
    weight,
)
from icarus.algebra import Enhancement
from icarus.kernel import TERMINAL, append_bits, below, child, find, helper, legal_at, record, shuffle, update
from tests.commands.test_contract import HIDDEN_MOVE, NIM, SECRET

WILD = 10**9
BELIEFS = np.dtype([("suits", np.int64, (2,))], align=True)
TABLE = np.arange(12).reshape(3, 4)
HERE = (1, 2, 3)
CASES: dict[
    str, tuple[Callable | tuple[Callable, ...], Callable[[], Any]]
] = {}  # by name: what is to be told (or one of several), and what runs it


def searched(game: Game, strategy: Enhancement = BASELINE >> MAST) -> Any:
    state = game.new_initial_state(1)
    if game.determinize is not None:
        state.apply_action(2)
    return search(state, strategy, iterations=60)


def game(base: Game, **others: Any) -> Callable[[Callable], Callable]:
    """Use a function, named as in Game and something more, in place of the game's own."""

    def add(function: Callable) -> Callable:
        field = function.__name__.partition("_")[0]
        strategy = others.pop("strategy", BASELINE >> MAST)
        CASES[function.__name__] = (
            function,
            lambda: searched(attrs.evolve(base, **{field: function}, **others), strategy),
        )
        return function

    return add


def slot(kind: Callable, **declared: Any) -> Callable[[Callable], Callable]:
    """Use a function as a slot of MAST."""

    def add(function: Callable) -> Callable:
        made = kind(**declared)(function) if declared else kind(function)
        if kind in (values, candidates):
            changed: dict[str, Any] = {"policy": (argmax() if kind is values else gibbs()).over(made)}
        else:
            changed = {kind.__name__: made}
        strategy = BASELINE >> attrs.evolve(MAST, name="SLIP", **changed)
        CASES[function.__name__] = function, lambda: searched(NIM, strategy)
        return function

    return add


# ----------------------------------------------------------------------------------------------------------------- games


@game(NIM)
def apply_beyond_the_state(state: Any, action: int) -> None:
    state.taken[100 + action] = 1  # slip
    state.left -= action


@game(NIM)
def apply_far_beyond(state: Any, action: int) -> None:
    state.taken[WILD + action] = 1  # slip
    state.left -= action


@game(NIM)
def apply_before_the_state(state: Any, action: int) -> None:
    state.taken[-action - WILD] = 1  # slip


@game(NIM)
def legal_beyond_its_room(state: Any, actions: np.ndarray) -> int:
    for i in range(WILD):
        actions[i] = i + 1  # slip
    return 1


@game(NIM)
def legal_below_nothing(state: Any, actions: np.ndarray) -> int:
    actions[0] = 1
    return 1 if state.left == 7 else -WILD  # slip


@game(NIM)
def legal_of_wild_number(state: Any, actions: np.ndarray) -> int:
    actions[0] = 1
    return 1 if state.left == 7 else WILD  # slip


def apply_by_table(state: Any, action: int) -> None:
    state.left -= TABLE[0, action]  # slip
    state.mover = 1 - state.mover


def legal_of_wild_actions(state: Any, actions: np.ndarray) -> int:
    actions[0] = WILD
    return 1


CASES["legal_of_wild_actions"] = (
    apply_by_table,
    lambda: searched(attrs.evolve(NIM, legal=legal_of_wild_actions, apply=apply_by_table)),
)


@game(NIM)
def rewards_of_too_many(state: Any, out: np.ndarray) -> None:
    out[0] = out[1] = 0.5
    out[2] = 0.5  # slip


@game(NIM)
def rewards_without_end(state: Any, out: np.ndarray) -> None:
    out[0], out[1] = np.inf, -np.inf  # slip


@game(NIM)
def rewards_by_zero(state: Any, out: np.ndarray) -> None:
    out[0] = out[1] = state.mover / state.left  # slip


@game(NIM)
def player_by_zero(state: Any) -> int:
    return TERMINAL if state.left == 0 else state.mover // (state.left - 4)  # slip


@game(NIM)
def player_of_wild_number(state: Any) -> int:
    return TERMINAL if state.left == 0 else state.mover if state.left > 4 else WILD  # slip


@game(SECRET)
def observe_for_a_third(state: Any, action: int, moves: np.ndarray) -> None:
    moves[2] = HIDDEN_MOVE  # slip


def player_tossing(state: Any) -> int:
    return TERMINAL if state.left == 0 else -1 if state.left == 4 else state.mover


def legal_tossing(state: Any, actions: np.ndarray) -> int:
    actions[0], actions[1] = 1, 2
    return 2 if state.left > 1 else 1


@game(NIM, player=player_tossing, legal=legal_tossing)
def chance_beyond_its_room(state: Any, probabilities: np.ndarray) -> None:
    probabilities[7] = 1.0  # slip


@game(NIM, player=player_tossing, legal=legal_tossing)
def chance_of_nothing(state: Any, probabilities: np.ndarray) -> None:
    probabilities[:2] = np.nan  # slip


@game(SECRET)
def determinize_beyond_the_state(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    state.taken[observer + WILD] = 1  # slip


@game(SECRET)
def determinize_from_nothing(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    state.taken[0] = 1 + below(rng, state.left - 7)  # slip


@game(SECRET)
def determinize_from_less_than_nothing(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    state.taken[0] = 1 + below(rng, state.left - 10)  # slip


@game(SECRET)
def determinize_shuffling_too_many(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    shuffle(rng, state.taken, 50)  # slip


@game(SECRET)  # slip
def determinize_the_other_player(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    state.mover = 1 - state.mover


@game(SECRET, beliefs=BELIEFS)
def prepare_beyond_beliefs(state: Any, observer: int, beliefs: Any) -> None:
    beliefs.suits[2 + observer] = 1  # slip


@game(SECRET, strategy=BASELINE >> EPIC)
def recall_beyond_its_room(state: Any, perspective: int, moves: np.ndarray) -> int:
    moves[len(moves)] = 1  # slip
    return 1


@game(SECRET, strategy=BASELINE >> EPIC)
def recall_of_wild_number(state: Any, perspective: int, moves: np.ndarray) -> int:
    return WILD  # slip


@game(SECRET, strategy=BASELINE >> EPIC)
def episode_beyond_the_state(state: Any) -> int:
    return state.taken[4]  # slip


def initial_by_zero(state: Any, rng: np.ndarray, heaps: int = 0) -> None:
    state.left = 7 // heaps  # slip


CASES["initial_by_zero"] = (initial_by_zero, lambda: attrs.evolve(NIM, initial=initial_by_zero).new_initial_state(1))


@helper
def count_down(number: int) -> int:
    if number == WILD * WILD:  # slip
        return 0
    return 1 + count_down(number + 1)


@game(NIM)
def apply_calling_itself(state: Any, action: int) -> None:
    state.left -= action + count_down(0)


CASES["apply_calling_itself"] = (count_down.py_func, CASES["apply_calling_itself"][1])


@helper
def is_even(number: int) -> bool:
    if number == -1:  # slip
        return True
    return is_odd(number + 1)


@helper
def is_odd(number: int) -> bool:
    if number == -1:  # slip
        return False
    return is_even(number + 1)


def legal_of_each_other(state: Any, actions: np.ndarray) -> int:
    actions[0] = 1
    return 1 if is_even(1) else 2


CASES["legal_of_each_other"] = (
    (is_even.py_func, is_odd.py_func),
    lambda: searched(attrs.evolve(NIM, legal=legal_of_each_other)),
)


class Slip(Exception):
    """A user's own."""


@game(NIM)
def apply_raising(state: Any, action: int) -> None:
    if state.left < 5:
        raise Slip("no such heap")  # slip
    state.left -= action
    state.mover = 1 - state.mover


@game(NIM)
def apply_asserting(state: Any, action: int) -> None:
    assert state.left > 4  # slip
    state.left -= action
    state.mover = 1 - state.mover


@game(NIM)
def apply_past_a_tuple(state: Any, action: int) -> None:
    state.left -= HERE[state.left]  # slip


@game(NIM)
def apply_past_a_list(state: Any, action: int) -> None:
    heaps = [1, 2, 3]
    state.left -= heaps[state.left]  # slip


@game(NIM)
def apply_past_the_second_axis(state: Any, action: int) -> None:
    state.left -= TABLE[action - 1, state.left]  # slip


@game(NIM)
def apply_by_a_list_of_places(state: Any, action: int) -> None:
    places = np.array([0, 1, WILD])
    state.left -= TABLE[0][places].sum()  # slip


@game(NIM)
def apply_of_another_length(state: Any, action: int) -> None:
    state.taken[:] = np.arange(7)  # slip


@game(NIM)
def apply_with_too_many_bits(state: Any, action: int) -> None:
    append_bits(state.taken, 0, 0, (1 << 40) - 1)  # slip


@numba.njit
def handed_over(taken: np.ndarray, i: int) -> int:
    return taken[i]  # slip


@game(NIM)
def apply_by_the_compilers_own(state: Any, action: int) -> None:
    state.left -= handed_over(state.taken, WILD)


CASES["apply_by_the_compilers_own"] = (handed_over.py_func, CASES["apply_by_the_compilers_own"][1])


@game(NIM)
def apply_through_a_wild_view(state: Any, action: int) -> None:
    far = np.lib.stride_tricks.as_strided(state.taken, (WILD,), (1 << 20,))
    far[WILD - 1] = 1  # slip


def apply_without_end(state: Any, action: int) -> None:
    while state.left >= 0:  # slip
        pass


def interrupted(game: Game) -> Any:
    """A search that Ctrl-C is to end a moment later."""
    state = game.new_initial_state(1)
    state.game.entries()  # compiled
    threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT)).start()
    return search(state, BASELINE >> MAST, iterations=60)


CASES["apply_without_end"] = apply_without_end, lambda: interrupted(attrs.evolve(NIM, apply=apply_without_end))


free = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(16)  # no function is there


@game(NIM)
def apply_calling_nothing(state: Any, action: int) -> None:
    state.left -= free(action)  # slip


# ----------------------------------------------------------------------------------------------------------------- slots


@slot(capture)
def reads_beyond_the_steps(history: Any, updates: Any) -> None:
    update(updates, record(history.steps[len(history.steps) + 5].action, 0), 0)  # slip


@slot(capture)
def reads_before_the_moves(history: Any, updates: Any) -> None:
    update(updates, record(history.moves[-WILD, 0], 0), 0)  # slip


@slot(capture)
def reads_another_perspectives_keys(history: Any, updates: Any) -> None:
    update(updates, history.keys[0, 7], 0)  # slip


@slot(capture)
def asks_what_was_legal_nowhere(history: Any, updates: Any) -> None:
    for action in legal_at(history, WILD):  # slip
        update(updates, record(action, 0), 0)


@slot(capture)
def names_a_child_of_nothing(history: Any, updates: Any) -> None:
    update(updates, child(history, WILD, 1), 0)  # slip


@slot(capture)
def names_no_record(history: Any, updates: Any) -> None:
    update(updates, 0, 0)  # slip


@slot(capture)
def takes_updates_back(history: Any, updates: Any) -> None:
    updates.asked[0] = -WILD  # slip


@helper
def overwrite(anything: np.ndarray) -> None:
    anything[:] = 77


@slot(capture)
def changes_history_by_a_helper(history: Any, updates: Any) -> None:
    overwrite(history.legal)  # slip


@helper
def renumber(steps: np.ndarray) -> None:
    steps[0].first = WILD  # slip


@slot(capture)
def changes_steps_by_a_helper(history: Any, updates: Any) -> None:
    renumber(history.steps)


CASES["changes_steps_by_a_helper"] = (renumber.py_func, CASES["changes_steps_by_a_helper"][1])


@slot(capture)
def captures_for_ever(history: Any, updates: Any) -> None:
    update(updates, record(count_down(1), 0), 0)


CASES["captures_for_ever"] = (count_down.py_func, CASES["captures_for_ever"][1])


@slot(values)
def values_beyond_its_room(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
    out[:] = 0.0
    out[len(legal)] = 1.0  # slip


@slot(values)
def values_of_nothing(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
    out[:] = 0.0
    out[0] = np.nan  # slip


@slot(values)
def values_by_zero(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(legal)):
        seen = find(theta, record(legal[i], WILD))
        out[i] = seen.reward / seen.visits  # slip


@slot(values)
def values_far_beyond_theta(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
    out[:] = theta.rows[WILD].visits  # slip


@slot(candidates)
def candidates_beyond_their_room(history: Any, legal: np.ndarray, records: np.ndarray) -> None:
    for i in range(len(legal) + 9):
        records[i] = record(1, i)  # slip


@slot(candidates)
def candidates_of_wild_actions(history: Any, legal: np.ndarray, records: np.ndarray) -> None:
    records[:] = record(TABLE[0, 9 - legal[0]], 0)  # slip


@slot(backpropagation)
def rewards_a_wild_player(row: Any, context: int, rewards: np.ndarray) -> None:
    row.reward += rewards[context + WILD]  # slip


@slot(backpropagation)
def renames_its_record(row: Any, context: int, rewards: np.ndarray) -> None:
    row.visits += 1
    row.record = 12  # slip


@slot(backpropagation)
def divides_by_no_visits(row: Any, context: int, rewards: np.ndarray) -> None:
    row.reward = row.reward / row.visits  # slip


@weight
def half_but_at_five(rewards: Any, visits: int, availability: int) -> float:
    return 0.5 + 0 * (1 // (visits - 5))  # slip


CASES["half_but_at_five"] = (
    half_but_at_five.function,
    lambda: searched(NIM, half_but_at_five * BASELINE + (1 - half_but_at_five) * RAVE),
)


# ------------------------------------------------------------------------------------------------------------- each by itself


def places(name: str) -> list[str]:
    """What is to be told of a case: a function, its file, and the line that is wrong; or of one of several functions."""
    told, _ = CASES[name]
    return [_place(inspect.unwrap(function)) for function in (told if isinstance(told, tuple) else (told,))]


def _place(function: Callable) -> str:
    lines, first = inspect.getsourcelines(function)
    wrong = next(i for i, line in enumerate(lines) if line.rstrip().endswith("# slip"))
    return f"{function.__name__} ({function.__code__.co_filename}, line {first + wrong})"


def done_apart(name: str) -> dict[str, Any]:
    """Run a case in a process of its own."""
    with tempfile.TemporaryFile() as told:
        child = os.fork()
        if child == 0:
            os.dup2(told.fileno(), 2)
            try:
                CASES[name][1]()
                said = {"error": "", "told": "nothing was wrong"}
            except (Exception, KeyboardInterrupt) as error:
                said = {"error": type(error).__name__, "told": str(error)}
            os.write(2, json.dumps(said).encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        told.seek(0)
        written = told.read().decode(errors="replace")
    ended = json.loads(written) if written.startswith("{") else {"error": "", "told": written}
    return {"name": name, "status": status, **ended}


def main() -> None:
    """Run those that are named, or all."""
    searched(NIM)  # what all of them need is compiled once
    searched(NIM, BASELINE >> attrs.evolve(MAST, name="SLIP"))
    searched(SECRET, BASELINE >> EPIC)
    for case in sys.argv[1:] or CASES:
        print(json.dumps(done_apart(case)), flush=True)


if __name__ == "__main__":
    main()
