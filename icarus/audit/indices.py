"""Whether a game reads or writes beside an array, or writes what does not fit: its functions as plain Python, where numpy checks.

Compiled code checks neither, unless ICARUS_DEBUG=1 has it compiled so that it checks each index: a wrong index reads whatever lies beside
the array, and of a number that is too large for its field the lowest bits are written.
"""

import random
import re
import traceback
from pathlib import Path

from icarus.audit.report import Check
from icarus.compiler.digest import PACKAGE
from icarus.compiler.messages import location
from icarus.compiler.rng import seeded
from icarus.kernel.constants import CHANCE, TERMINAL
from icarus.kernel.features import KINDS
from icarus.kernel.game import Game
from icarus.kernel.python_game import PythonState, in_python

GAMES, ACTIONS = 5, 300  # random games, and the most actions of each
DRAWN = 8  # decisions of a game, about, at which is determinized
UNFIT = re.compile(r"out of bounds for u?int(8|16|32)$")  # numpy's words for a number that a field cannot hold


def check_indices(game: Game, seed: tuple[int, ...], check: Check) -> None:
    """Play a few games in plain Python until an index lies outside of its array, or a number does not fit into its field."""
    plain = in_python(game)
    for number in range(GAMES):
        luck = random.Random(f"{seed} {number} in Python")
        key, done = (*seed, 2, number), [""]
        try:
            _play(plain.new_initial_state(key), luck, number, done)
        except Exception as error:
            if isinstance(error, IndexError) or UNFIT.search(str(error)):
                after = f"{max(len(done) - 2, 0)} actions in plain Python"
                check.examples.append(
                    f"new_initial_state(seed={key}), after {after}: {_place(error)}: {error}{done[-1]}"
                )
                check.checked, check.failed = check.checked + 1, 1
            else:  # it does not run as plain Python, or breaks a promise that is checked elsewhere
                check.note = f"the game did not run to its end in plain Python: {type(error).__name__}: {error}"
                check.absent = not check.checked
            return
        check.checked += 1


def _play(state: PythonState, luck: random.Random, number: int, texts: list[str]) -> None:
    """A random game in which every function is asked; the text of each state is added to the list."""
    game = state.game
    for length in range(ACTIONS):
        texts.append("\n  " + str(state).replace("\n", "\n  "))
        player = state.current_player()
        if player == TERMINAL:
            state.returns()
            return
        legal = state.legal_actions()
        for kind in KINDS:
            if getattr(game, kind) is not None and (kind != "action_features" or player != CHANCE):
                game.tell(kind, state.data, *legal[:1] if kind == "action_features" else ())
        if game.determinize is not None and player != CHANCE and luck.random() * (length + 1) < DRAWN:
            game.redraw(state.data, player, state.beliefs(player), seeded((number, length)))
        if game.recall is not None:
            for perspective in range(game.perspectives):
                game.recall(state.data, perspective)
        if game.simultaneous is not None:
            game.simultaneous(state.data)
        if player == CHANCE:
            state.chance_outcomes()
        action = luck.choice(legal)
        state.observed(action)
        state._advance(state.data, action)
        if game.episode is not None:
            game.episode(state.data)


def _place(error: Exception) -> str:
    """The function and the line of a game in which an index or a number was wrong."""
    frames = traceback.extract_tb(error.__traceback__)
    folders = PACKAGE / "kernel", PACKAGE / "audit"
    of_game = [frame for frame in frames if not any(map(Path(frame.filename).is_relative_to, folders))]
    frame = (of_game or frames)[-1]
    return f"{frame.name} ({location(frame.filename, frame.lineno)})"
