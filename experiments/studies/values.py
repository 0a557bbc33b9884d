"""The value of a game between what best responses to the average policy of CFR+ leave to each player, whatever that policy is.

python -m experiments.studies.values values.jsonl "generic-poker(ranks=4, copies=6, raises=4, sizes=4)"

Commit 8688091b has the solver of Phantom, by orders of marks.
"""

import time
from pathlib import Path

from experiments.run import provenance
from experiments.studies.public_trees import PublicCFR
from icarus import games
from icarus.arena.ledger import Ledger
from icarus.commands.console import make_program, print_note, progress_of, run_main


def value(
    out: Path,
    name: str,
    iterations: int = 1000,
    gigabytes: float = 6.0,
    keep: Path | None = None,
    power: int = 2,
) -> None:
    """Bracket the value of a game for player 0 by CFR+: a row after 1, 2, 4, … iterations, and after the last.

    Its regrets are discounted, and the average weighs iteration t by t to this power. After 200 iterations NashConv in Liar's Dice with two
    dice of four faces each is .0005 undiscounted, .0004 so, and .0001 with the power 4; in small games 2 is better.
    What is learned is kept in the file --keep, an .npz, with each row; a later run goes on from there."""
    game, started = games.load(name), time.process_time()
    cfr = PublicCFR(game, power, gigabytes)
    cfr.discounts = True
    print_note(f"{name}: {cfr.gigabytes:.2f} GB")
    if keep is not None and keep.exists():
        cfr.read(keep)
        print_note(f"{keep} has {cfr.iterations} iterations")
    with (
        Ledger(out, ("game", "iterations")) as ledger,
        progress_of("iterations", iterations) as show,
    ):
        while cfr.iterations < iterations:
            try:
                cfr.run()
            except KeyboardInterrupt:
                iterations = cfr.iterations
            show(cfr.iterations)
            if cfr.iterations == iterations or cfr.iterations.bit_count() == 1:
                gains = cfr.traverse(0, 0.0), cfr.traverse(1, 0.0)
                print_note(
                    f"after {cfr.iterations} iterations the value is from {-gains[1]:.6f} to {gains[0]:.6f}"
                )
                if keep is not None:
                    cfr.write(keep)
                ledger.keep(
                    {
                        "game": name,
                        "iterations": cfr.iterations,
                        "power": power,
                        "nash_conv": sum(gains),
                        "bracket": (-gains[1], gains[0]),
                        "seconds": round(time.process_time() - started),
                        "provenance": provenance(),
                    }
                )


app = make_program((value,), "Values of games.")

if __name__ == "__main__":
    run_main(app, "values")
