"""What the rows of docs/discovery.md say of finders, and of winners of races taken elsewhere: to other games, other budgets, equal time.

    python -m experiments.studies.discovery finders experiments/runs/discovery/finders-*.csv
    python -m experiments.studies.discovery duels experiments/runs/discovery/{equal-time,at-5000,transfer,adaptive}/*

A finder recommends a composition after so many games on a landscape whose truth is known: the regret is what the best composition wins
more. In a duel both players have the same deals in every seat; told is the mean reward less what the opponent gets in that place against
itself, with a 99 % interval. What made these rows, the finders that the factorial model was compared with among them, is in
`finders.py` and `duels.py` at commit bd52c9ae.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import attrs
import numpy as np
import typer

from experiments.statistics import student_mean
from experiments.studies.positions import read_values
from icarus.arena.ledger import PACKED, read_rows
from icarus.commands.console import make_program, run_main
from icarus.discovery.race import KEY, PROOF, STREAMS, Difference, paired_difference


@attrs.frozen
class FinderResult:
    """What a finder came to on a landscape.

    Attributes:
        rate: the true win rate of what it recommends.
        seconds: its own.
    """

    finder: str
    seed: int
    rate: float
    regret: float
    seconds: float


Found = dict[tuple[str, int], list[FinderResult]]  # by landscape and seed, one of each finder


def summary(results: Found) -> str:
    """A line for each finder: mean rate, mean regret, what it is above that of the first finder on the same landscapes, seconds."""
    first, lines = next(iter(results.values()))[0].finder, []
    for name in dict.fromkeys(each.finder for on_one in results.values() for each in on_one):
        pairs = [({each.finder: each for each in on_one}[name], on_one[0]) for on_one in results.values()]
        rate, seconds = (
            np.mean([getattr(recommended, key) for recommended, _ in pairs]) for key in ("rate", "seconds")
        )
        line = f"{name:28} rate {rate:.3f}   regret {with_interval([recommended.regret for recommended, _ in pairs], '')}   {seconds:.1f} s"
        above = with_interval([recommended.regret - of_first.regret for recommended, of_first in pairs], "+")
        lines.append(line if name == first else f"{line}   above {first} {above}")
    return "\n".join(lines)


def with_interval(values: Sequence[float], sign: str) -> str:
    """A mean with Student's interval, 95 %."""
    mean = student_mean(values)
    return f"{mean.value:{sign}.3f} [{mean.low:{sign}.3f}, {mean.high:{sign}.3f}]"


def read_found(path: Path) -> Found:
    """The rows of a file, which is named after its landscape."""
    results: Found = {}
    for each in read_values(path, FinderResult):
        results.setdefault((path.stem, each.seed), []).append(each)
    return results


def differences_in(path: Path) -> dict[tuple[str, str], Difference]:
    """What the rows of a file say of each (player, opponent), over the deals of which all games are there.

    Raises:
        ValueError: a line is damaged.
    """
    returns = {
        (row["player"], row["opponent"], row["deal"], row["seat"]): row["returns"]
        for row in read_rows(path, KEY)
        if row["stream"] == STREAMS[PROOF]
    }
    deals, seats = (sorted({key[place] for key in returns}) for place in (2, 3))
    results = {}
    for player, opponent in dict.fromkeys((key[0], key[1]) for key in returns if key[0] != key[1]):
        won, usual = list[float](), list[float]()
        for deal in deals:
            received = [returns.get((player, opponent, deal, seat)) for seat in seats]
            alone = returns.get(
                (opponent, opponent, deal, seats[0])
            )  # its game for all seats, unless there is one of each
            if alone and all(received):
                even = [returns.get((opponent, opponent, deal, seat), alone) for seat in seats]
                for values, of in ((won, received), (usual, even)):
                    values.append(sum(each[seat] for seat, each in zip(seats, of, strict=True)) / len(seats))
        if won:
            results[player, opponent] = paired_difference(won, usual)
    return results


def finders(paths: list[Path]) -> None:
    """Print what files of rows say of finders, each and together."""
    tables = {path.stem: read_found(path) for path in paths}
    for name, results in tables.items():
        print(f"{name}\n{summary(results)}\n")
    if len(tables) > 1:
        print(
            f"all {len(tables)}\n{summary({key: results for each in tables.values() for key, results in each.items()})}"
        )


def duels(paths: Annotated[list[Path], typer.Argument(exists=True)]) -> None:
    """Print a line for each pair of players in each file."""
    for path in paths:
        plain = path.with_name(path.name.removesuffix(PACKED))
        for (player, opponent), result in differences_in(plain).items():
            print(f"{plain.stem}, {result.units} units: {result}  {player}  against {opponent}", flush=True)


app = make_program((finders, duels), "What rows of finders and of duels say.")

if __name__ == "__main__":
    run_main(app, "discovery")
