"""What adaptive shares are worth: against the fixed equal mixture of the same members, and against each member alone.

    python -m experiments.discovery.adaptive goofspiel phantom-mnk --iterations 1000 --units 200 --to DIRECTORY

Each pair plays mirrored units: the same deal in every seat, the adaptive one against the other in all other seats. What is told is the
mean reward less what the other gets in that place against itself, with a 99 % interval.
"""

import argparse
from pathlib import Path

from icarus import games
from icarus.discovery.configuration import Configuration
from icarus.discovery.matches import PROOF, Games, Table, usual_seats
from icarus.discovery.statistics import difference

MEMBERS = ("mast(epsilon_greedy(0.2))", "NAST2", "BASELINE")
BLOCK = 20  # units of one pair before the next has its turn


def rivals() -> dict[str, Configuration]:
    """The fixed mixture and the members, by what they are called."""
    fixed = {"equal mixture": f"BASELINE >> ({' + '.join(MEMBERS)})/{len(MEMBERS)}"}
    return {
        name: Configuration(text)
        for name, text in {**fixed, **{each: f"BASELINE >> {each}" for each in MEMBERS}}.items()
    }


def measure(name: str, iterations: int, units: int, directory: Path) -> None:
    """Play what is missing in one game, and print a line for each rival."""
    directory.mkdir(parents=True, exist_ok=True)
    adaptive = Configuration(f"BASELINE >> adaptive({', '.join(MEMBERS)})")
    table = Table(name, usual_seats(games.load(name)), iterations, None, 0)
    scores: dict[str, list[float]] = {rival: [] for rival in rivals()}
    with Games(table, directory / f"{name}.jsonl") as played:
        for start in range(0, units, BLOCK):
            deals = list(range(start, min(start + BLOCK, units)))
            for rival, other in rivals().items():
                own = played.scores(PROOF, [(adaptive, other)] * len(deals), deals)
                even = played.scores(PROOF, [(other, other)] * len(deals), deals)
                scores[rival] += [score - base for score, base in zip(own, even, strict=True)]
    for rival, received in scores.items():
        print(
            f"{name:16} {iterations} iterations, {len(received)} units: {difference(received)}  against {rival}",
            flush=True,
        )


def main() -> None:
    """The command, see the head of this file."""
    parser = argparse.ArgumentParser(description="Measure adaptive shares.")
    parser.add_argument("games", nargs="+")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--units", type=int, default=200)
    parser.add_argument("--to", type=Path, required=True)
    given = parser.parse_args()
    for name in given.games:
        measure(name, given.iterations, given.units, given.to)


if __name__ == "__main__":
    main()
