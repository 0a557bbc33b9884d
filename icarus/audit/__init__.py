"""The audit of a game: does it keep the contract of `Game`, and are its determinizations all that an observer knows and no more?"""

import time
from collections.abc import Callable, Sequence

from icarus.audit.belief import audit_belief
from icarus.audit.claims import HIDDEN
from icarus.audit.contract import CONTRACT, GAMES_FOR_EACH, Contract
from icarus.audit.determinizations import Determinizations
from icarus.audit.differences import differences
from icarus.audit.indices import check_indices
from icarus.audit.report import AuditReport, Check
from icarus.checks import integer, seed_key
from icarus.kernel import Facts
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.python_game import PythonGame

GAMES, DETERMINIZATIONS = 10, 1500  # random games; draws at each decision
CHECKS = {**CONTRACT, **HIDDEN}


def audit(
    game: AnyGame,
    *,
    games: int = GAMES,
    determinizations: int = DETERMINIZATIONS,
    seed: int | Sequence[int] = 0,
    multiplicity: Callable[[Facts], float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AuditReport:
    """Check that a game keeps the contract of `Game`, and that its determinizations agree with all that the observer knows and do not
    depend on facts that he does not know.

    Args:
        games: random games whose determinizations are checked; five times as many are played for the contract.
        determinizations: draws at each decision. A test of uniformity needs 25 for each state of an information set.
        seed: an integer ≥ 0, or several as a key. It fixes everything except the clock.
        multiplicity: `multiplicity(state)`, the number of deals of state data, or its weight; by default the game's own function, or 1.
        progress: called after every game with the games checked and the determinizations drawn so far.

    Raises:
        TypeError: `game` is not a Game. ValueError: `games` or `determinizations` is not a positive integer, or `seed` is not a seed.
    """
    if isinstance(game, PythonGame):
        raise TypeError(
            f"{game} is a PythonGame; an audit checks the memory that the functions of a Game write to: icarus check FILE.py, or "
            "icarus.audit.plain.audit_plain, checks the rest"
        )
    if not isinstance(game, Game):
        raise TypeError(f"an audit needs a Game, such as games.load('knockout-whist'), not {game!r}")
    for name, number in (("games", games), ("determinizations", determinizations)):
        integer(name, number, least=1)
    started, key = time.perf_counter(), seed_key(seed)
    contract = Contract(game, key, games * GAMES_FOR_EACH)
    multiplicity = multiplicity or game.multiplicity
    hidden = Determinizations(game, determinizations, key, multiplicity)
    check_indices(game, key, contract.checks["indices"])
    for number in range(games):
        for extra in range(GAMES_FOR_EACH):
            contract.play(GAMES_FOR_EACH * number + extra)
        if game.determinize is not None and not contract.broken:
            hidden.play(number)
            if not hidden.broken:
                contract.play_determinized(number)
        if progress is not None:
            progress(number + 1, hidden.draw_count)
    contract.finish()
    hidden.finish(contract.broken)
    perfect, checks = game.determinize is None, tuple(contract.checks.values())
    checks += () if perfect else tuple(hidden.checks.values())
    seconds = time.perf_counter() - started
    return AuditReport(str(game), games, hidden.decisions, hidden.draw_count, perfect, checks, seconds)


__all__ = ["CHECKS", "CONTRACT", "HIDDEN", "AuditReport", "Check", "audit", "audit_belief", "differences"]
