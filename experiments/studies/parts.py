"""Of which parts the factor consists between icarus and a search of Othello by hand: parts.cpp takes on one property after another.

It is compiled by g++ for this processor. Where no property rounds otherwise it makes the choices of icarus, which is checked.

    python -m experiments.studies.parts --out experiments/runs/bench/parts.jsonl
"""

import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from experiments.studies.rates import in_turns, show
from icarus import games, parse, search
from icarus.compiler.rng import seeded

# as parts.cpp numbers them
POLICIES = ("BASELINE >> NAST2", "BASELINE >> EPIC", "RAVE", "RAVE >> (MAST + LGRF + NAST2)/3")
PROPERTIES = ("INLINED", "NUMBERED", "MARKED", "READY", "SINGLE", "OWN", "BITS", "EIGHT")
ROUNDS_OTHERWISE = {"READY", "SINGLE"}
SOURCE = Path(__file__).with_suffix(".cpp")
FLAGS = ("-std=c++17", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno")


def subjects() -> dict[str, int]:
    """What is measured beside icarus, with its properties as bits: keys, each property alone, and two and more added to keys."""
    knows_eight = "avx512f" in Path("/proc/cpuinfo").read_text()
    names = [name for name in PROPERTIES if name != "EIGHT" or knows_eight]
    bits = {name: 1 << PROPERTIES.index(name) for name in names}
    # INLINED is a property of tables with keys, which a search by number does not have
    added = [name for name in names if name != "INLINED"]
    sums = {}
    for count in range(2, len(added) + 1):
        sums["+".join(added[:count])] = sum(bits[name] for name in added[:count])
    return {"keys": 0} | bits | sums


def run(program: str, policy: int, properties: int, iterations: int, seed: int) -> list[float]:
    """Seconds of processor time of one search in C++, and how often each action of the root was chosen."""
    line = f"{policy} {properties} {iterations} {' '.join(map(str, seeded(seed).tolist()))}"
    answer = subprocess.run([program], input=line, capture_output=True, text=True, check=True)
    return [float(number) for number in answer.stdout.split()]


def measured(program: str, policy: int, iterations: int, seed: int) -> dict[str, float]:
    """Seconds of an iteration by subject, each once.

    Raises:
        ValueError: a search made other choices than icarus.
    """
    state, strategy = games.load("othello").new_initial_state(), parse(POLICIES[policy])
    search(state, strategy, iterations=10)  # compiles and loads what it needs
    began = time.process_time()
    visits = search(state, strategy, iterations=iterations, seed=seed).visits.tolist()
    seconds = {"icarus": time.process_time() - began}
    for name, properties in subjects().items():
        seconds[name], *chosen = run(program, policy, properties, iterations, seed)
        if not ROUNDS_OTHERWISE & {*name.split("+")} and chosen != visits:
            raise ValueError(f"{name} chose {chosen} where icarus chose {visits}")
    return {name: each / iterations for name, each in seconds.items()}


def parts(
    out: Annotated[Path | None, typer.Option(help="File for all times, as JSON lines.")] = None,
    iterations: Annotated[int, typer.Option(min=100, help="Of a search.")] = 5000,
    rounds: Annotated[int, typer.Option(min=1, help="In which each subject has its turn.")] = 9,
) -> None:
    """Print how many times as fast as with keys each search is."""
    times_of = {}
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/parts"
        subprocess.run(["g++", *FLAGS, str(SOURCE), "-o", program], check=True)
        for policy, strategy in enumerate(POLICIES):
            turn = partial(measured, program, policy, iterations)
            times_of[strategy] = in_turns([turn], rounds, strategy)
    show(times_of, "strategy", ("keys",), out)


if __name__ == "__main__":
    typer.run(parts)
