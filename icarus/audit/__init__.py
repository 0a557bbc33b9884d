"""The audit of a game: does it keep the contract of `Game`, and are its determinizations all that an observer knows and no more?"""

import contextlib
import io
import pickle
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import attrs

from icarus import checks
from icarus.arena.ledger import write_whole
from icarus.audit.contract import CONTRACT, Contract
from icarus.audit.hidden import HIDDEN, Hidden
from icarus.audit.replay import check_replay
from icarus.audit.report import AuditReport, Check
from icarus.audit.watch import DoesNotReturnError, watched
from icarus.compiler.digest import rules_digest
from icarus.kernel import AnyGame, Facts, Game, check_game

GAMES = 10  # whose determinizations are looked at
DETERMINIZATIONS = 1500  # at each decision
GAMES_FOR_EACH = 5  # played for the contract, for each whose determinizations are looked at
# the same of a game in plain Python
PLAIN_GAMES = 40
PLAIN_DETERMINIZATIONS = 500
PLAIN_FOR_EACH = 2
CHECKS = {**CONTRACT, **HIDDEN}
# what the audit cannot know of a game that lacks a function
MISSING = {
    "observation": "which cards a player holds",
    "retrace": "whether a draw contradicts what he saw some moves earlier",
}


def audit(
    game: AnyGame,
    *,
    games: int | None = None,
    determinizations: int | None = None,
    seed: int | Sequence[int] = 0,
    multiplicity: Callable[[Facts], float] | None = None,
    progress: Callable[[int, int], None] | None = None,
    file: str | Path | None = None,
) -> AuditReport:
    """Check that a game keeps the contract of `Game`, and that its determinizations agree with all that the observer knows and do not
    depend on facts that he does not know.

    Args:
        games: random games whose determinizations are checked; several times as many are played for the contract. By default 10, and
            40 of a game in plain Python. There a few decisions of each are looked at. The first game that breaks its
            contract is the last; after one with wrong draws the others are played for the contract alone.
        determinizations: draws at each decision, by default 1500, and 500 in plain Python. A test of uniformity needs 25 for each
            state of an information set.
        seed: an integer ≥ 0, or several as a key. It fixes everything except the clock.
        multiplicity: `multiplicity(state)`, the number of deals of state data, or its weight; by default the game's own function, or 1.
        progress: called after every game with the games checked and the determinizations drawn so far.
        file: in which the audit is kept after every game, until it ends: with the same file, game and arguments it goes on from there,
            with others it begins anew. One whose states cannot be pickled is not kept.

    Raises:
        TypeError: `game` is not a game, or `multiplicity` no function. ValueError: `games` or `determinizations` is not a positive
            integer, or `seed` is not a seed.
    """
    check_game("an audit", game)
    if multiplicity is not None and not callable(multiplicity):
        raise TypeError(
            f"multiplicity of an audit is {multiplicity!r}; it must be a function of the state"
        )
    path = None if file is None else Path(file)
    compiled = isinstance(game, Game)
    for_each = GAMES_FOR_EACH if compiled else PLAIN_FOR_EACH
    if games is None:
        games = GAMES if compiled else PLAIN_GAMES
    if determinizations is None:
        determinizations = DETERMINIZATIONS if compiled else PLAIN_DETERMINIZATIONS
    games = checks.integer("games", games, least=1)
    determinizations = checks.integer("determinizations", determinizations, least=1)
    start = time.perf_counter()
    key = checks.seed_key(seed)
    contract = Contract(game, key, games * for_each)
    hidden = Hidden(
        game, determinizations, key, multiplicity or game.multiplicity, contract.checks["errors"]
    )
    if isinstance(game, Game):
        game.kernels()  # compiled ahead of the process of the audit, in which only the game takes time
    try:
        looked, results = watched(
            game,
            partial(_played, contract, hidden, games, for_each, path),
            progress or (lambda *_: None),
        )
    except DoesNotReturnError as error:
        looked = 0, 0, 0
        results = _results(contract, hidden)
        for check in results:
            check.note = "the audit ended before"
            check.absent = False
        contract.checks["end"].note = ""
        contract.checks["end"].count(str(error))
    with contextlib.suppress(OSError):
        if path is not None:
            path.unlink()
    perfect = game.determinize is None
    lacks = {}
    if not perfect:
        # games in plain Python have no field `retrace`, and lack none
        lacks = {name: what for name, what in MISSING.items() if getattr(game, name, what) is None}
    return AuditReport(str(game), *looked, perfect, results, time.perf_counter() - start, lacks)


def _results(contract: Contract, hidden: Hidden) -> tuple[Check, ...]:
    results = [*contract.checks.values()]
    if contract.game.determinize is not None:
        results += hidden.checks.values()
    return tuple(results)


def _played(
    contract: Contract,
    hidden: Hidden,
    games: int,
    for_each: int,
    file: Path | None,
    progress: Callable[[int, int], None],
) -> tuple[tuple[int, int, int], tuple[Check, ...]]:
    """The numbers of games, decisions and draws of an audit, and its checks, after all games are played."""
    game = contract.game
    compiled = contract.compiled
    first = 0
    if file is not None:
        key = _key(contract, hidden)
        first, contract, hidden = _read(file, key, contract, hidden)
        progress(first, hidden.draw_count)
    if compiled and first == 0:  # else it was done before the first game
        contract.check_indices()
    for number in range(first, games):
        for extra in range(for_each):
            contract.play(for_each * number + extra)
        if game.determinize is not None and not contract.broken and (compiled or not hidden.broken):
            if contract.checks["recall"].failed:
                # all else can be looked at without it
                hidden.game = attrs.evolve(game, recall=None)
            hidden.play(number)
            if not hidden.broken:
                contract.play_determinized(number)
        if file is not None and not contract.broken:
            _keep(file, key, number + 1, contract, hidden)
        progress(number + 1, hidden.draw_count)
        if not compiled and contract.broken:
            games = number + 1
            break
    if not (compiled or contract.broken or hidden.broken):
        check_replay(contract)
    contract.finish()
    if game.determinize is not None and not (contract.broken or hidden.broken):
        hidden.look_at_deals()
    hidden.finish(contract.broken)
    return (games, hidden.decisions, hidden.draw_count), _results(contract, hidden)


def _subjects(contract: Contract, hidden: Hidden) -> tuple[object, ...]:
    """The games and functions that an audit asks; one that goes on is given them again."""
    return contract.game, contract.asked.game, hidden.game, hidden.multiplicity


def _key(contract: Contract, hidden: Hidden) -> tuple[object, ...]:
    """What a kept audit must have in common with this one, which goes on from it: the game, with all its functions, and the arguments."""
    parts = attrs.asdict(contract.game, recurse=False)
    # the board only draws
    parts |= {"board": None, "multiplicity": hidden.multiplicity}
    functions = [part for part in parts.values() if callable(part)]
    others = [part for part in parts.values() if not callable(part)]
    digest = rules_digest(functions, others)
    return digest, contract.seed, contract.games, hidden.determinizations


def _keep(
    file: Path, key: tuple[object, ...], number: int, contract: Contract, hidden: Hidden
) -> None:
    """Keep an audit after so many games, without its subjects."""
    subjects = _subjects(contract, hidden)
    # a subject is kept as its place among them, by which `_read` has it again
    places = {id(subject): place for place, subject in enumerate(subjects)}
    content = io.BytesIO()
    pickler = pickle.Pickler(content)
    pickler.persistent_id = lambda value: places.get(id(value))  # type: ignore[method-assign]
    with contextlib.suppress(Exception):  # of states that cannot be pickled, or of a full disk
        pickler.dump((key, number, contract, hidden))
        write_whole(file, content.getvalue())


def _read(
    file: Path, key: tuple[object, ...], contract: Contract, hidden: Hidden
) -> tuple[int, Contract, Hidden]:
    """The audit that was kept by the same key, with the number of its games; else the given one, before its first game."""
    with contextlib.suppress(Exception):  # of no file, or one that cannot be read
        unpickler = pickle.Unpickler(io.BytesIO(file.read_bytes()))
        unpickler.persistent_load = _subjects(contract, hidden).__getitem__  # type: ignore[method-assign]
        key_there, number, contract_there, hidden_there = unpickler.load()
        if key_there == key:
            return number, contract_there, hidden_there
    return 0, contract, hidden


__all__ = ["CHECKS", "CONTRACT", "HIDDEN", "AuditReport", "Check", "audit"]
