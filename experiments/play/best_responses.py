"""What a best response costs here and in OpenSpiel's C++: the exploitability of uniform choice, each time in a process of its own."""

import json
import subprocess
import sys
from collections.abc import Callable

from experiments.analysis.best_responses import Comparison, Cost
from experiments.plan.definition import Refusal

_GOOFSPIEL = "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards={},points_order=ascending,returns_type=win_loss))"
COUNTERPARTS = {  # OpenSpiel's games of the same rules
    "kuhn-poker": "kuhn_poker",
    "leduc-poker": "leduc_poker",
    "liars-dice": "liars_dice",
    "goofspiel(cards=4)": _GOOFSPIEL.format(4),
    "goofspiel(cards=5)": _GOOFSPIEL.format(5),
    "goofspiel(cards=6)": _GOOFSPIEL.format(6),
}
_CLOCK = """
import json, sys, time
def peak(reset=False):
    if reset:
        open("/proc/self/clear_refs", "w").write("5")
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return int(status["VmRSS" if reset else "VmHWM"].split()[0]) / 1024
def measure_cost(work, runs):
    before = peak(reset=True)
    for number in range(runs):
        started = time.process_time()
        nash_conv = work()
        seconds = time.process_time() - started
        if number == 0:
            megabytes = peak() - before
    print(json.dumps([nash_conv, seconds, megabytes]))
"""
_OURS = (  # the second run is timed: in the first, machine code is still loaded from the cache
    _CLOCK
    + """
from icarus import exploitability, games
from icarus.equilibrium import GameTree
exploitability(GameTree(games.load("kuhn-poker")), None)
game = games.load(sys.argv[1])
game.kernels()
measure_cost(lambda: exploitability(GameTree(game), None).nash_conv, 2)
"""
)
_THEIRS = (
    _CLOCK
    + """
import pyspiel
game = pyspiel.load_game(sys.argv[1])
measure_cost(lambda: pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game)), 1)
"""
)


def compare_best_responses(game: str, repeats: int, log: Callable[[str], None]) -> Comparison:
    """Measure a game here and in OpenSpiel, in turns.

    Raises:
        Refusal: OpenSpiel has no such game, or is not installed; a system without /proc.
    """
    if game not in COUNTERPARTS:
        raise Refusal(f"OpenSpiel has no counterpart of {game!r} here; games with one: {', '.join(COUNTERPARTS)}")
    ours, theirs = [], []
    for number in range(repeats):
        log(f"{game}, {number + 1} of {repeats}")
        ours.append(_cost(_OURS, game))
        theirs.append(_cost(_THEIRS, COUNTERPARTS[game]))
    return Comparison(game, ours, theirs)


def _cost(source: str, game: str) -> Cost:
    done = subprocess.run([sys.executable, "-c", source, game], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Refusal(f"{game} could not be measured: {done.stderr.strip().splitlines()[-1]}")
    return Cost(*json.loads(done.stdout.strip().splitlines()[-1]))
