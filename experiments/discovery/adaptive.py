"""What adaptive shares are worth: against the fixed equal mixture of the same members, and against each member alone.

    python -m experiments.discovery.adaptive goofspiel phantom-mnk --iterations 1000 --units 200 --to DIRECTORY

Each pair plays mirrored units: the same deal in every seat, the adaptive one against the other in all other seats. What is told is the
mean reward less what the other gets in that place against itself, with a 99 % interval.
"""

import argparse
from pathlib import Path

from experiments.discovery.duels import duel, match_settings_of, print_duels
from icarus.discovery.configuration import Configuration

SEED = 0  # of the deals
MEMBERS = ("mast(epsilon_greedy(0.2))", "NAST2", "BASELINE")


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
    pairs = [(adaptive, rival) for rival in rivals().values()]
    # The rows tell neither the budget nor the seed; the file's name does.
    path = directory / f"{name}-{iterations}-iterations-seed-{SEED}.jsonl"
    results = duel(match_settings_of(name, iterations, None, SEED), pairs, units, path)
    print_duels(name, f"{iterations} iterations", [f"against {rival}" for rival in rivals()], results)


def main() -> None:
    """The command, see the head of this file."""
    parser = argparse.ArgumentParser(description="Measure adaptive shares.")
    parser.add_argument("games", nargs="+")
    parser.add_argument("--iterations", type=int, default=1000)
    parser.add_argument("--units", type=int, default=200)
    parser.add_argument("--to", type=Path, required=True)
    arguments = parser.parse_args()
    for name in arguments.games:
        measure(name, arguments.iterations, arguments.units, arguments.to)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:  # a race that another process plays
        raise SystemExit(str(error)) from None
