"""A game played again at the end of an audit, here and in a new process: what its functions keep from one game to the next shows."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from icarus import games
from icarus.audit.contract import Contract
from icarus.audit.report import both_texts
from icarus.kernel import AnyGame, PythonGame
from icarus.load_files import file_of_game, load_file

SECONDS = 60  # for a game in a new process, which here took no time to speak of
SEED = "PYTHONHASHSEED"  # from which the order of sets of strings follows
END = "the end"
_ADVICE = (
    "Something outlives a game, such as a variable of the module or a memo, or depends on the process, such as the order of a set of "
    "strings, hash() or the clock"
)
_TELL = "import sys; from icarus.audit.replay import tell; tell(*sys.argv[1:])"


def check_replay(contract: Contract) -> None:
    """Play the first game again in this process and the last one alone in a new one, and compare what all functions answer."""
    game = contract.game
    assert isinstance(game, PythonGame)
    first, last = contract.told[0], contract.told[contract.games - 1]
    _compare(
        contract, "at the end of the audit", first, _told(game, contract.seed, contract.games, 0)
    )
    path = file_of_game(game)
    if path is not None:
        _compare(contract, "in a new process", last, _told_by_another(contract, path))


def _compare(contract: Contract, where: str, before: Sequence[str], after: Sequence[str]) -> None:
    """Count whether a game gave the same answers again; an example has the first that differ."""
    # where one game is shorter, its end stands beside an answer of the other one
    pairs = zip([*before, END], [*after, END], strict=False)
    then, now = next((pair for pair in pairs if pair[0] != pair[1]), (END, END))
    # answers of the same function
    if then.partition(" ")[0] == now.partition(" ")[0]:
        then, now = both_texts(then, now)
    wrong = f"a game played again {where} is another one: {now}; before: {then}. {_ADVICE}"
    contract.checks["repeat"].count("" if before == after else wrong)


def _told(game: AnyGame, seed: tuple[int, ...], games: int, number: int) -> list[str]:
    """The answers of the functions of a game in a random game, and the broken promise that ended it."""
    contract = Contract(game, seed, games)
    broken = contract.play(number)
    return contract.told[number] if broken is None else [*contract.told[number], broken.message]


def _told_by_another(contract: Contract, path: Path) -> list[str]:
    """The same of the last game of an audit, in a new process, in which sets have another order."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "told"
        request = json.dumps([str(contract.game), contract.seed, contract.games])
        environment = os.environ | {SEED: "2" if os.environ.get(SEED) == "1" else "1"}
        environment["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, sys.path))
        command = [sys.executable, "-c", _TELL, str(path), request, str(out)]
        try:
            done = subprocess.run(
                command,
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [f"the game has not ended after {SECONDS} s"]
        lines = done.stderr.strip().splitlines() or [
            f"the process ended with code {done.returncode}"
        ]
        return lines[-1:] if done.returncode else json.loads(out.read_text("utf-8"))


def tell(path: str, request: str, out: str) -> None:
    """Write what the functions of a game in a file answer in the last game of an audit."""
    load_file(Path(path))
    name, seed, number = json.loads(request)
    Path(out).write_text(
        json.dumps(_told(games.load(name), tuple(seed), number, number - 1)), "utf-8"
    )
