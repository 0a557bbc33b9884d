"""`make fuzz`: random inputs until the time is up; exit code 1 if a claim does not hold, with the smallest input that shows it.

First come the seeds that have failed before (corpus/seeds.txt); one that fails now is added to them.
"""

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator

from tests.fuzz.claims import CLAIMS
from tests.fuzz.running import SEEDS, failed_before, fuzz

EXAMPLES = 40  # of one claim by one seed


def main() -> int:
    """Fuzz, tell a line for each claim and a line for all."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="for how long")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), help="the first of the seeds; the clock, if none is given"
    )
    parser.add_argument("--only", help="a part of a claim's name")
    options = parser.parse_args()
    until, counts, failed = time.monotonic() + 60 * options.minutes, Counter[str](), Counter[str]()
    for claim, seed, regression in _rounds(options.seed, options.only or ""):
        if time.monotonic() > until and not regression:
            break
        try:
            counts[claim.__name__] += fuzz(claim, EXAMPLES, seed)
        except Exception:
            failed[claim.__name__] += 1
            print(f"{claim.__name__}, seed {seed}:\n{traceback.format_exc()}", flush=True)
            if not regression:
                with SEEDS.open("a", encoding="utf-8") as file:
                    file.write(f"{claim.__name__} {seed}\n")
    for name, count in counts.items():
        print(f"{name}: {count} inputs, {failed[name]} seeds failed")
    print(f"fuzz: {sum(counts.values())} inputs, {sum(failed.values())} seeds failed (from seed {options.seed})")
    return 1 if failed or not counts else 0


def _rounds(seed: int, only: str) -> Iterator[tuple[Callable[..., None], int, bool]]:
    """A claim, a seed, and whether it has failed before; without end."""
    wanted = {claim.__name__: claim for claim in CLAIMS if only in claim.__name__}
    for name, old_seed in failed_before():
        if name in wanted:
            yield wanted[name], old_seed, True
    while wanted:
        for claim in wanted.values():
            yield claim, seed, False
        seed += 1


if __name__ == "__main__":
    sys.exit(main())
