"""All checks of what `search` and `Agent` are given. Each raises one sentence: what was wrong, where, what would be right."""

import re
from collections.abc import Mapping

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement, Sum
from icarus.compiler.functions import DISABLED
from icarus.compiler.kernel import UNPLACED
from icarus.compiler.messages import defined_at
from icarus.engine.algorithm import Algorithm
from icarus.engine.lowering import LoweredStrategy, components_of, storage_of
from icarus.engine.result import Result
from icarus.engine.reuse import leads_to
from icarus.engine.scheme import FRESH, GONE, ROOT_PLAYER, Scheme
from icarus.engine.slot_kernels import A_CAPTURE, NO_PLAYER, context_message, with_capture
from icarus.kernel.contract import CHANCE, TERMINAL
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.history import UNLIMITED
from icarus.kernel.python_game import check_is_state
from icarus.kernel.state import State

COMPILED, PYTHON = "compiled", "python"
ENGINES = (COMPILED, PYTHON)
MOST_THREADS = 1024
PROGRESS = "a function of (iterations made, seconds elapsed)"


def check_state(state: State) -> None:
    """Refuse what is not a state, a state of a game that does not redraw what it hides, and one in which no player is to move.

    Raises:
        TypeError: `state` is not a State. ValueError: the game has ended, or chance is to act.
    """
    check_is_state("search", state)
    if state.game.observe is not None and state.game.determinize is None:
        raise ValueError(
            f"{state.game} has observe but no determinize, so that a search would see what observe hides: give it "
            "determinize(state, observer, beliefs, rng), or no observe where nothing is hidden"
        )
    player = state.current_player()
    if player in (CHANCE, TERMINAL):
        reason = "the game has ended" if player == TERMINAL else "chance acts here: apply one of chance_outcomes()"
        raise ValueError(f"there is no decision to search for: {reason}")


def check_weights(strategy: object) -> None:
    """Refuse a sum whose weights make no strategy.

    Raises:
        ValueError: it is one.
    """
    if isinstance(strategy, Sum):
        raise ValueError(f"the weights of the strategy ({strategy}) {strategy.refusal}")


def check_strategy(strategy: object) -> None:
    """Refuse what is not a strategy.

    Raises:
        TypeError: `strategy` is not an enhancement. ValueError: the weights of a sum do not sum to 1.
    """
    check_weights(strategy)
    if isinstance(strategy, Algorithm):
        raise TypeError(
            f"{strategy} is another algorithm, not a strategy of search(): call "
            f"icarus.equilibrium.online_search(state, {strategy}, iterations=…)"
        )
    if not isinstance(strategy, Enhancement):
        raise TypeError(
            f"a strategy must be an Enhancement, such as RAVE >> MAST or parse('RAVE >> MAST'), not {strategy!r}"
        )


def check_budget(iterations: object, seconds: object) -> None:
    """Refuse a budget that is missing, not a number, or not positive.

    Raises:
        ValueError: neither is given, or one is not a positive number.
    """
    if iterations is None and seconds is None:
        raise ValueError("a search needs a budget: iterations=5000 or seconds=1.0")
    if iterations is not None:
        checks.integer("iterations", iterations, least=1)
        checks.integer("iterations", iterations, most=UNLIMITED)
    if seconds is not None:
        checks.positive("seconds", seconds)


def check_threads(threads: object) -> None:
    """Refuse an invalid number of threads.

    Raises:
        ValueError: `threads` is not an integer from 1 to MOST_THREADS.
    """
    checks.integer("threads", threads, least=1, most=MOST_THREADS)


def check_scheme(scheme: object, iterations: int | None) -> None:
    """Refuse what is not a scheme of today, and fewer iterations than it has trees.

    Raises:
        TypeError: `scheme` is not a Scheme. ValueError: it is gone, or there are fewer iterations than trees.
    """
    if not isinstance(scheme, Scheme):
        raise TypeError(f"a scheme must be a Scheme, such as SO_ISMCTS or parse_scheme('SO_ISMCTS'), not {scheme!r}")
    if scheme.root == GONE:
        raise ValueError(f"{scheme} is gone, since it played worse in every game: see docs/schemes.md")
    if iterations is not None and iterations < scheme.trees:
        raise ValueError(
            f"iterations is {iterations!r}; {scheme} needs at least one for each of its {scheme.trees} trees"
        )


def check_recommendation(rule: object) -> None:
    """Refuse what is not a rule of line 18.

    Raises:
        TypeError: `rule` cannot be called.
    """
    if not callable(rule):
        raise TypeError(
            f"recommendation is {rule!r}; it must be a function that gives each action a score, such as icarus.most_visits"
        )


def check_callable(name: str, value: object, expected: str) -> None:
    """Refuse what is neither None nor a function.

    Raises:
        TypeError: so; the message begins with `name`.
    """
    if value is not None and not callable(value):
        raise TypeError(f"{name} is {value!r}; it must be {expected}")


def check_cutoff(game: AnyGame, scheme: Scheme) -> None:
    """Refuse a cut-off in a game that has no heuristic for the rewards.

    Raises:
        ValueError: the scheme has a cut-off, and the game has no heuristic.
    """
    if scheme.cutoff is not None and game.heuristic is None:
        raise ValueError(
            f"cutoff is {scheme.cutoff}, but {game} has no heuristic to end playouts with; give Game(heuristic=…)"
        )


def check_belief(believes: bool, scheme: Scheme) -> None:
    """Refuse a belief model, which draws once in each iteration, where the scheme draws otherwise.

    Raises:
        ValueError: the scheme does not draw a state for each iteration.
    """
    if believes and scheme.root != FRESH:
        raise ValueError(f"determinize draws a state for each iteration, which {scheme} does not")


def check_records(records: object, state: State, strategy: Enhancement, scheme: Scheme, trees: int) -> None:
    """Refuse what is not a result of an earlier search, and one whose records do not fit.

    Args:
        trees: how many searches with records of their own there will be.

    Raises:
        TypeError: `records` is not a Result. ValueError: they are of another game, scheme, number of trees or strategy, or of a
            search whose state does not lead to this state.
    """
    if not isinstance(records, Result):
        raise TypeError(f"records is {records!r}; it must be the Result of an earlier search")
    if str(records.state.game) != str(state.game):
        raise ValueError(f"records are of the game {records.state.game}, and the state is of {state.game}")
    if records.scheme != attrs.evolve(scheme, cutoff=records.scheme.cutoff):
        raise ValueError(f"records are of a search by {records.scheme}; its histories are not those of {scheme}")
    before = len(records.parts) or 1
    if before != trees:
        raise ValueError(f"records are of {before} trees, each with records of its own; this search grows {trees}")
    components, _ = components_of(strategy, scheme.uses_exp3(state.game))
    stored = [storage_of(part.enhancement) for part in records.records.values()]
    for part in components:
        if storage_of(part) not in stored:
            raise ValueError(
                f"records have none of {part} as it is in {strategy}; they are of {', '.join(records.records)}"
            )
    if records.root is not None:
        _check_root(records, state, scheme)


def _check_root(records: Result, state: State, scheme: Scheme) -> None:
    """Refuse records of histories that do not lead to a state."""
    if not leads_to(records.state, state):
        raise ValueError(
            "records are of a search whose state does not lead to this state; records.without_histories() fits every state"
        )
    if scheme.observer == ROOT_PLAYER and records.state.current_player() != state.current_player():
        raise ValueError(
            f"records are of what player {records.state.current_player()} saw, and under {scheme} player "
            f"{state.current_player()} is the only observer; records.without_histories() fits"
        )


def checked_engine(engine: str | None, game: AnyGame, threads: int) -> str:
    """The engine that is to search, by name.

    Args:
        engine: one of ENGINES; None for the compiled one, where anything may be compiled.

    Raises:
        ValueError: no such engine, or one that cannot do what is asked.
    """
    if engine is not None:
        checks.one_of("engine", engine, ENGINES)
    engine = engine or (PYTHON if DISABLED else COMPILED)
    if threads > 1 and engine == PYTHON:
        raise ValueError(f"threads is {threads!r}; the engine {PYTHON!r} searches in one thread")
    if threads > 1 and not isinstance(game, Game):
        raise ValueError(f"threads is {threads!r}; {game} is a PythonGame, whose functions run in one thread")
    return engine


# ---------------------------------------------------------------------------------------------------- answers refused


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
        player = state.game.ask("player", state.data)
        return "" if player in (CHANCE, TERMINAL) or 0 <= player < state.game.players else str(player)
    if name == "rewards":
        rewards = state.game.ask("rewards", state.data)
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
    probabilities = state.game.ask("chance", state.data)[: max(0, count)]
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
