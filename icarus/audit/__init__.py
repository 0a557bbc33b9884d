"""The audit of a game: does it keep the contract of `Game`, and are its determinizations all that an observer knows and no more?"""

import time
from collections.abc import Callable, Sequence

from icarus import checks
from icarus.audit.contract import CONTRACT, Contract
from icarus.audit.hidden import HIDDEN, Hidden
from icarus.audit.report import AuditReport, Check
from icarus.kernel import AnyGame, Facts, Game, check_game

GAMES, DETERMINIZATIONS = 10, 1500  # random games; draws at each decision
GAMES_FOR_EACH = 5  # random games for the contract for each that is looked at for its determinizations
PLAIN_GAMES, PLAIN_DETERMINIZATIONS, PLAIN_FOR_EACH = 40, 500, 2  # of a game in plain Python
CHECKS = {**CONTRACT, **HIDDEN}


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
    few, draws = (GAMES, DETERMINIZATIONS) if compiled else (PLAIN_GAMES, PLAIN_DETERMINIZATIONS)
    games = checks.integer("games", few if games is None else games, least=1)
    determinizations = checks.integer("determinizations", draws if determinizations is None else determinizations, 1)
    start, key = time.perf_counter(), checks.seed_key(seed)
    for_each = GAMES_FOR_EACH if compiled else PLAIN_FOR_EACH
    contract = Contract(game, key, games * for_each)
    hidden = Hidden(game, determinizations, key, multiplicity or game.multiplicity)
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
    looked = games, hidden.decisions, hidden.draw_count
    return AuditReport(str(game), *looked, perfect, results, time.perf_counter() - start)


__all__ = ["CHECKS", "CONTRACT", "HIDDEN", "AuditReport", "Check", "audit"]
