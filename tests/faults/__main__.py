"""`make faults`: more than 200 faults, each against the rows of a run that nothing disturbs; exit code 1 if one ends otherwise."""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.faults import files, processes
from tests.faults.harness import Bench, Wrong

FAULTS = {**files.FAULTS, **processes.FAULTS}


def main() -> int:
    """Do the faults, tell a line for each kind, and a line for all."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--times", type=int, default=1, help="so many times the usual number of each kind")
    parser.add_argument("--seed", type=int, default=0, help="another seed draws other faults")
    parser.add_argument("--only", help="one kind, such as kill_run")
    options = parser.parse_args()
    began, done, wrong = time.monotonic(), 0, 0
    with tempfile.TemporaryDirectory(prefix="icarus-faults-") as folder:
        bench = Bench.create(Path(folder), options.seed)
        for fault, usual in FAULTS.items():
            if options.only not in (None, fault.__name__):
                continue
            number, failed = options.times * usual, 0
            for i in range(number):
                try:
                    fault(bench)
                except Exception as error:
                    failed += 1
                    kind = "" if isinstance(error, Wrong) else f"{type(error).__name__}: "
                    print(f"{fault.__name__} {i + 1}: {kind}{error}", flush=True)
            print(f"{fault.__name__}: {number - failed} of {number} ended as they should", flush=True)
            done, wrong = done + number, wrong + failed
    seconds = time.monotonic() - began
    print(
        f"faults: {done - wrong} of {done} ended in equal rows or one sentence ({seconds:.0f} s, seed {options.seed})"
    )
    return 1 if wrong or not done else 0


if __name__ == "__main__":
    sys.exit(main())
