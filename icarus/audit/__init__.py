"""The audit of a game: does it keep the contract of `Game`, and are its determinizations all that an observer knows and no more?

A belief model (`audit_belief`) need not be uniform, so its draws are not counted. The game's own determinization is trusted: audit it
first. It tells whether a draw is of the observer's information set: the same random numbers then draw the same from it as from the truth.
"""

import functools
import random
import time
from collections.abc import Callable, Sequence

from icarus import checks
from icarus.audit.contract import CONTRACT, Contract
from icarus.audit.hidden import HIDDEN, Hidden
from icarus.audit.lockstep import random_action
from icarus.audit.report import AuditReport, Check
from icarus.engine.belief import BelievingState, with_belief
from icarus.kernel import Facts
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import check_game
from icarus.kernel.state import State

GAMES, DETERMINIZATIONS = 10, 1500  # random games; draws at each decision
GAMES_FOR_EACH = 5  # random games for the contract for each that is looked at for its determinizations
PLAIN_GAMES, PLAIN_DETERMINIZATIONS, PLAIN_FOR_EACH = 40, 500, 2  # of a game in plain Python
BELIEF_GAMES, BELIEF_DRAWS = 10, 20
CHECKS = {**CONTRACT, **HIDDEN}
BELIEF = {
    "actions": "the same player is about to act in every draw, with the same legal actions",
    "set": "every draw is of the observer's information set",
    "hidden": "hidden facts change no draw: if a draw is the true state, the same random numbers draw the same",
}


def audit(
    game: AnyGame,
    *,
    games: int | None = None,
    determinizations: int | None = None,
    seed: int | Sequence[int] = 0,
    multiplicity: Callable[[Facts], float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AuditReport:
    """Check that a game keeps the contract of `Game`, and that its determinizations agree with all that the observer knows and do not
    depend on facts that he does not know.

    Args:
        games: random games whose determinizations are checked; several times as many are played for the contract. By default 10, and
            40 of a game in plain Python. There a few decisions of each are looked at, and the first wrong game is the last.
        determinizations: draws at each decision, by default 1500, and 500 in plain Python. A test of uniformity needs 25 for each
            state of an information set.
        seed: an integer ≥ 0, or several as a key. It fixes everything except the clock.
        multiplicity: `multiplicity(state)`, the number of deals of state data, or its weight; by default the game's own function, or 1.
        progress: called after every game with the games checked and the determinizations drawn so far.

    Raises:
        TypeError: `game` is not a game. ValueError: `games` or `determinizations` is not a positive integer, or `seed` is not a seed.
    """
    check_game("an audit", game)
    compiled = isinstance(game, Game)
    if games is None:
        games = GAMES if compiled else PLAIN_GAMES
    if determinizations is None:
        determinizations = DETERMINIZATIONS if compiled else PLAIN_DETERMINIZATIONS
    for name, number in (("games", games), ("determinizations", determinizations)):
        checks.integer(name, number, least=1)
    started, key = time.perf_counter(), checks.seed_key(seed)
    for_each = GAMES_FOR_EACH if compiled else PLAIN_FOR_EACH
    contract = Contract(game, key, games * for_each)
    multiplicity = multiplicity or getattr(game, "multiplicity", None)
    hidden = Hidden(game, determinizations, key, multiplicity)
    if compiled:
        contract.check_indices()
    for number in range(games):
        for extra in range(for_each):
            contract.play(for_each * number + extra)
        if game.determinize is not None and not contract.broken:
            hidden.play(number)
            if not hidden.broken:
                contract.play_determinized(number)
        if progress is not None:
            progress(number + 1, hidden.draw_count)
        if not compiled and (contract.broken or hidden.broken):
            games = number + 1
            break
    contract.finish()
    if game.determinize is not None and not compiled and not (contract.broken or hidden.broken):
        hidden.look_at_deals()
    hidden.finish(contract.broken)
    perfect, results = game.determinize is None, tuple(contract.checks.values())
    results += () if perfect else tuple(hidden.checks.values())
    seconds = time.perf_counter() - started
    return AuditReport(str(game), games, hidden.decisions, hidden.draw_count, perfect, results, seconds)


def audit_belief(
    game: Game,
    determinize: Callable,
    *,
    games: int = BELIEF_GAMES,
    draws: int = BELIEF_DRAWS,
    seed: int | Sequence[int] = 0,
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
                _look_at_belief(state, determinize, draws, (*key, number, decisions), results)
            state.apply_action(random_action(state, luck))
    seconds = time.perf_counter() - started
    return AuditReport(str(game), games, decisions, decisions * draws, False, tuple(results.values()), seconds)


def _look_at_belief(
    state: State, determinize: Callable, draws: int, seed: tuple[int, ...], results: dict[str, Check]
) -> None:
    """Make every check on the draws at one decision."""
    observer, believing = state.current_player(), with_belief(state, determinize)
    assert isinstance(believing, BelievingState)
    legal = state.legal_actions()
    for k in range(draws):
        draw = believing.determinize(observer, (*seed, k, 0))
        same = draw.current_player() == observer and draw.legal_actions() == legal
        example = functools.partial("player {} in\n{}\ndraws\n{}".format, observer, state, draw)
        results["actions"].count(1, not same, example)
        if not same:
            continue
        plain_draw, swapped = state.from_determinization(draw.data), believing.from_determinization(draw.data)
        assert isinstance(swapped, BelievingState)
        swapped.observations = believing.observations
        for name, truth, alternative in (("set", state, plain_draw), ("hidden", believing, swapped)):
            pair = [str(each.determinize(observer, (*seed, k, 1))) for each in (truth, alternative)]
            results[name].count(1, pair[0] != pair[1], example)


__all__ = ["CHECKS", "CONTRACT", "HIDDEN", "AuditReport", "Check", "audit", "audit_belief"]
