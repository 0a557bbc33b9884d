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
from typing import Annotated, Any

import pandas
import typer

from experiments.studies.positions import read_values
from icarus.arena.ledger import PACKED, read_rows
from icarus.commands.console import make_program, run_main
from icarus.discovery.race import CONFIDENCE, KEY, PROOF, STREAMS, mean_reward
from icarus.statistics import Estimate, mean_of, paired_difference

# The true rate and the regret are those of what a finder recommends; the seconds are its own.
FINDER_RESULTS = {"finder": str, "seed": int, "rate": float, "regret": float, "seconds": float}


def summary(results: Any) -> str:
    """A line for each finder: mean rate, mean regret, what it is above that of the first finder on the same landscapes, seconds.

    Args:
        results: a data frame with the columns `FINDER_RESULTS`, and the name of the landscape in `landscape`.
    """
    regrets = results.pivot(index=["landscape", "seed"], columns="finder", values="regret")
    lines = []
    names = results["finder"].unique()
    first = names[0]
    for name in names:
        of_finder = results[results["finder"] == name]
        rate, seconds = of_finder[["rate", "seconds"]].to_numpy().mean(axis=0)
        line = f"{name:28} rate {rate:.3f}   regret {with_interval(regrets[name], '')}   {seconds:.1f} s"
        above = with_interval(regrets[name] - regrets[first], "+")
        lines.append(line if name == first else f"{line}   above {first} {above}")
    return "\n".join(lines)


def with_interval(values: Sequence[float], sign: str) -> str:
    """A mean with Student's interval, 95 %."""
    return f"{mean_of(values):{sign}.3f}"


def differences_in(path: Path) -> dict[tuple[str, str], Estimate]:
    """What the rows of a file say of each (player, opponent), over the deals of which all games are there.

    Raises:
        ValueError: a line is damaged.
    """
    rows = {
        (row["player"], row["opponent"], row["deal"], row["seat"]): row
        for row in read_rows(path, KEY)
        if row["stream"] == STREAMS[PROOF]
    }
    deals = sorted({row["deal"] for row in rows.values()})
    seats = sorted({row["seat"] for row in rows.values()})
    results = {}
    for player, opponent in dict.fromkeys(key[:2] for key in rows):
        if player == opponent:
            continue
        won, usual = list[float](), list[float]()
        for deal in deals:
            keys = [(player, opponent, deal, seat) for seat in seats]
            # the opponent's game against itself stands for all seats in which there is none
            alone = rows.get((opponent, opponent, deal, seats[0]))
            if alone and all(key in rows for key in keys):
                even = [rows.get((opponent, opponent, deal, seat), alone) for seat in seats]
                won.append(mean_reward([rows[key] for key in keys], seats))
                usual.append(mean_reward(even, seats))
        if won:
            results[player, opponent] = paired_difference(won, usual, CONFIDENCE)
    return results


def finders(paths: list[Path]) -> None:
    """Print what files of rows say of finders, each and together."""
    results = pandas.concat(
        [read_values(path, FINDER_RESULTS).assign(landscape=path.stem) for path in paths]
    )
    for name, of_landscape in results.groupby("landscape", sort=False):
        print(f"{name}\n{summary(of_landscape)}\n")
    if len(paths) > 1:
        print(f"all {len(paths)}\n{summary(results)}")


def duels(paths: Annotated[list[Path], typer.Argument(exists=True)]) -> None:
    """Print a line for each pair of players in each file."""
    for path in paths:
        plain = path.with_name(path.name.removesuffix(PACKED))
        for (player, opponent), result in differences_in(plain).items():
            print(
                f"{plain.stem}, {result.count} units: {result:+.3f}  {player}  against {opponent}",
                flush=True,
            )


app = make_program((finders, duels), "What rows of finders and of duels say.")

if __name__ == "__main__":
    run_main(app, "discovery")
