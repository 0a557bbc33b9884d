"""Functions of games and slots that are wrong on purpose, one after the other: see test_debug.py.

The line that is wrong ends in `# slip`. `python -m tests.engine.wrong_functions` forks for each, and prints a line of JSON: the name, the
exit status as of os.waitpid, and what the error says.
"""

import inspect
import json
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from icarus import BASELINE, MAST, Game, argmax, candidates, capture, gibbs, search, values
from icarus.algebra import Enhancement
from icarus.kernel import helper, update
from tests.audit.test_contract import NIM

TABLE = np.arange(12).reshape(3, 4)
CASES: dict[str, tuple[Callable, Callable[[str], Any]]] = {}  # by name: the function, and what runs it in an engine


def searched(game: Game, strategy: Enhancement = BASELINE >> MAST, engine: str = "compiled") -> Any:
    state = game.new_initial_state(1)
    if game.determinize is not None:
        state.apply_action(2)
    return search(state, strategy, iterations=60, engine=engine)


def game(base: Game, **others: Any) -> Callable[[Callable], Callable]:
    """Use a function, named as in Game and something more, in place of the game's own."""

    def add(function: Callable) -> Callable:
        field = function.__name__.partition("_")[0]
        strategy = others.pop("strategy", BASELINE >> MAST)
        CASES[function.__name__] = (
            function,
            lambda engine: searched(attrs.evolve(base, **{field: function}, **others), strategy, engine),
        )
        return function

    return add


def slot(kind: Callable, **declared: Any) -> Callable[[Callable], Callable]:
    """Use a function as a slot of MAST."""

    def add(function: Callable) -> Callable:
        wrapped = kind(**declared)(function) if declared else kind(function)
        if kind in (values, candidates):
            changed: dict[str, Any] = {"policy": (argmax() if kind is values else gibbs()).over(wrapped)}
        else:
            changed = {kind.__name__: wrapped}
        strategy = BASELINE >> attrs.evolve(MAST, name="SLIP", **changed)
        CASES[function.__name__] = function, lambda engine: searched(NIM, strategy, engine)
        return function

    return add


# ----------------------------------------------------------------------------------------------------------------- games


class Slip(Exception):
    """A user's own."""


@game(NIM)
def apply_raising(state: Any, action: int) -> None:
    if state.left < 5:
        raise Slip("no such heap")  # slip
    state.left -= action
    state.mover = 1 - state.mover


# ----------------------------------------------------------------------------------------------------------------- slots


@slot(capture)
def names_no_record(history: Any, updates: Any) -> None:
    update(updates, 0, 0)  # slip


@helper
def overwrite(anything: np.ndarray) -> None:
    anything[:] = 77


# ------------------------------------------------------------------------------------------------------------- each by itself


def place(name: str) -> str:
    """The line that is wrong, as a traceback names it."""
    function = inspect.unwrap(CASES[name][0])
    lines, first = inspect.getsourcelines(function)
    wrong = next(i for i, line in enumerate(lines) if line.rstrip().endswith("# slip"))
    return f'"{function.__code__.co_filename}", line {first + wrong}, in {function.__name__}'


def run_apart(name: str) -> dict[str, Any]:
    """Run a case in a process of its own."""
    with tempfile.TemporaryFile() as output:
        child = os.fork()
        if child == 0:
            os.dup2(output.fileno(), 2)
            message = ""
            try:
                CASES[name][1]("compiled")
            except Exception as error:
                message = str(error)
            os.write(2, message.encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return {"name": name, "status": status, "message": output.read().decode(errors="replace")}


def main() -> None:
    """Run those that are named."""
    searched(NIM)  # what all of them need is compiled once
    for case in sys.argv[1:]:
        print(json.dumps(run_apart(case)), flush=True)


if __name__ == "__main__":
    main()
