"""Audit of a belief model: does it draw what the observer may believe, and from nothing that he does not know?

A belief need not be uniform, so its draws are not counted. The game's own determinization is trusted: audit it first. It tells whether a
draw is of the observer's information set, because the same random numbers then draw the same from it as from the truth.
"""

import functools
import random
import time
from collections.abc import Callable, Sequence

from icarus import checks
from icarus.audit.lockstep import random_action
from icarus.audit.report import AuditReport, Check
from icarus.engine.belief import BelievingState, with_belief
from icarus.kernel.game import Game
from icarus.kernel.python_game import check_game
from icarus.kernel.state import State

BELIEF = {
    "actions": "the same player is about to act in every draw, with the same legal actions",
    "set": "every draw is of the observer's information set",
    "hidden": "hidden facts change no draw: if a draw is the true state, the same random numbers draw the same",
}
GAMES, DRAWS = 10, 20


def audit_belief(
    game: Game, determinize: Callable, *, games: int = GAMES, draws: int = DRAWS, seed: int | Sequence[int] = 0
) -> AuditReport:
    """Check that a belief model draws states of the observer's information set, and uses nothing that is hidden from him.

    Args:
        game: one in which something is hidden, and whose own determinization passes `audit`.
        determinize: see `with_belief`.
        games: random games to look at.
        draws: at each decision.
        seed: an integer ≥ 0, or several as a key. It fixes everything except the clock.

    Raises:
        TypeError: `game` is not a game, or one in plain Python, or `determinize` is not a function.
        ValueError: nothing is hidden in the game, or a number is not positive.
    """
    check_game("audit_belief", game)
    if not isinstance(game, Game):
        raise TypeError(f"audit_belief needs a compiled game; {game} is in plain Python")
    for name, number in (("games", games), ("draws", draws)):
        checks.integer(name, number, least=1)
    key, started = checks.seed_key(seed), time.perf_counter()
    results, decisions = {name: Check(name, claim) for name, claim in BELIEF.items()}, 0
    for number in range(games):
        state, luck = game.new_initial_state((*key, number)), random.Random(f"{key} {number}")
        while not state.is_terminal():
            if not state.is_chance_node():
                decisions += 1
                _look_at(state, determinize, draws, (*key, number, decisions), results)
            state.apply_action(random_action(state, luck))
    seconds = time.perf_counter() - started
    return AuditReport(str(game), games, decisions, decisions * draws, False, tuple(results.values()), seconds)


def _look_at(state: State, determinize: Callable, draws: int, seed: tuple[int, ...], results: dict[str, Check]) -> None:
    """Make every check on the draws at one decision."""
    observer, believing = state.current_player(), with_belief(state, determinize)
    assert isinstance(believing, BelievingState)
    legal = state.legal_actions()
    for k in range(draws):
        draw = believing.determinize(observer, (*seed, k, 0))
        same = draw.current_player() == observer and draw.legal_actions() == legal
        results["actions"].count(1, not same, functools.partial(_example, state, observer, draw))
        if not same:
            continue
        plain_draw, swapped = state.from_determinization(draw.data), believing.from_determinization(draw.data)
        assert isinstance(swapped, BelievingState)
        swapped.observations = believing.observations
        for name, truth, alternative in (("set", state, plain_draw), ("hidden", believing, swapped)):
            pair = [str(each.determinize(observer, (*seed, k, 1))) for each in (truth, alternative)]
            results[name].count(1, pair[0] != pair[1], functools.partial(_example, state, observer, draw))


def _example(state: State, observer: int, draw: State) -> str:
    """Where a draw is wrong, and the draw."""
    return f"player {observer} in\n{state}\ndraws\n{draw}"
