"""What a function of a game or a slot has answered that a search refuses: the loop knows neither names nor values."""

import re
from collections.abc import Mapping

import numpy as np

from icarus.compiler.kernel import UNPLACED
from icarus.compiler.messages import defined_at
from icarus.engine.lowering import LoweredStrategy
from icarus.engine.slot_kernels import A_CAPTURE, NO_PLAYER, context_message, with_capture
from icarus.kernel.constants import CHANCE, TERMINAL
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.state import State

ROOM = 64  # times max_legal: for one that writes too many
SHOWN = 8  # probabilities in a message


def with_answer(sentence: str, game: AnyGame, words: np.ndarray) -> str:
    """The loop's sentence about "the … function of a game", with the game's name, the wrong answer and where the function is defined.

    Args:
        words: the state that it was asked about, as the loop keeps it.
    """
    named = re.match(r"the (\w+) function of a game ", sentence)
    function = getattr(game, named[1], None) if named else None
    if named is None or function is None or not isinstance(game, Game):
        return sentence
    data = words.view(np.uint8)[: game.state.itemsize].view(game.state)
    answer = _wrong_answer(named[1], State.from_data(game, data.copy()))
    return f"{sentence.replace('of a game', f'of {game}', 1)}{f': {answer}' if answer else ''}{defined_at(function)}"


def _wrong_answer(name: str, state: State) -> str:
    """What a function answers about a state, where that is wrong; "" where it is right, or cannot be checked."""
    if name == "player":
        player = state._player()
        return "" if player in (CHANCE, TERMINAL) or 0 <= player < state.game.players else str(player)
    if name == "rewards":
        rewards = state._rewards()
        return "" if all(0 <= reward <= 1 for reward in rewards) else ", ".join(f"{reward:g}" for reward in rewards)
    if name == "legal":
        return _wrong_actions(state)
    return _wrong_probabilities(state) if name == "chance" else ""


def _wrong_actions(state: State) -> str:
    """What is wrong with the legal actions: their number, that some of it were not written, or the first that may not be."""
    most, answers = state.game.max_legal, [_written_actions(state, unwritten) for unwritten in (-1, -2)]
    count, actions = answers[0]
    if not 1 <= count <= most:
        return f"{count}, and max_legal is {most}" if count > most else ""
    written = sum(first == second for first, second in zip(actions, answers[1][1], strict=True))
    if written < count:
        return f"it returned {count} and wrote {written}"
    wrong = [action for i, action in enumerate(actions) if action < 0 or action in actions[:i]]
    return str(wrong[0]) if wrong else ""


def _written_actions(state: State, unwritten: int) -> tuple[int, list[int]]:
    """The number of legal actions that `legal` returns, and as many as may be of what it writes over a number."""
    actions = np.full(ROOM * state.game.max_legal, unwritten)
    count = state.game.kernels().legal(state.data.ctypes.data, actions.ctypes.data)
    return count, actions[: max(0, min(count, state.game.max_legal))].tolist()


def _wrong_probabilities(state: State) -> str:
    """Probabilities of chance that are negative, or do not sum to 1."""
    count, _ = _written_actions(state, 0)
    probabilities = state._probabilities()[: max(0, count)]
    negative = [probability for probability in probabilities if probability < 0]
    if negative:
        return f"{negative[0]:g}"
    first = ", ".join(f"{probability:g}" for probability in probabilities[:SHOWN])
    return f"{first}{', …' if count > SHOWN else ''}, in all {sum(probabilities):g}"


def error_with_names(
    error: Exception, game: AnyGame, program: LoweredStrategy, arena: np.ndarray, arrays: Mapping[str, np.ndarray]
) -> Exception:
    """An error of the loop, with the names that the loop does not know: the game's, the component's and its slot's.

    Args:
        arrays: of the arena, by part and name.
    """
    sentence = _with_slot(error, game, program, arena, arrays["updates.contexts"])
    sentence = with_answer(sentence, game, arrays["buffers.state"])
    if sentence == str(error):
        return error
    message = type(error)(sentence)
    for note in getattr(error, "__notes__", ()):
        message.add_note(note)
    return message


def _with_slot(
    error: Exception, game: AnyGame, program: LoweredStrategy, arena: np.ndarray, contexts: np.ndarray
) -> str:
    """The sentence of an error, with the name of the slot that ran, where nothing else tells the place."""
    index = int(arena["running_component"][0])
    part = program.components[index]
    if str(error) == NO_PLAYER:
        first, count = (int(program.component[name][index]) for name in ("first", "count"))
        captured = contexts[first : first + count]
        wrong = captured[(captured < 0) | (captured >= game.players)]
        return context_message(part.capture.label(), part.name, int(wrong[0]), game.players)
    if str(error).startswith(A_CAPTURE):
        return with_capture(str(error), part.capture.label(), part.name)
    label = next((kernel.name for kernel in program.kernels if kernel.address == int(arena["running"][0])), "")
    if not label or UNPLACED not in getattr(error, "__notes__", ()):
        return str(error)
    return f"{error}, in {label} of {part.name}"
