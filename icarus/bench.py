"""Speed: iterations per second of every game and strategy, beside OpenSpiel's C++ in the same run.

A time on a shared machine means little; a ratio to something else measured in the same run means more. So the runs of all
subjects alternate, and what is reported is the median over the repeats, with the spread between the quartiles.
"""

import importlib.util
import random
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import attrs
import numpy as np

from icarus import games
from icarus.algebra import Enhancement
from icarus.engine.compiled_search import CompiledSearch
from icarus.kernel.state import State
from icarus.specs import BASELINE

if TYPE_CHECKING:
    import pyspiel

STRATEGIES = (
    "BASELINE",
    "BASELINE >> MAST",
    "BASELINE >> NAST2",
    "BASELINE >> LGRF",
    "BASELINE >> EPIC",
    "RAVE",
    "RAVE >> (MAST + LGRF + NAST2)/3",
)
RAW = "random playouts"
PEER, PEER_RAW = "OpenSpiel", "OpenSpiel's rollouts"
COUNTERPARTS = dict(othello="othello", checkers="checkers", backgammon="backgammon", hearts="hearts(pass_cards=False)")
COUNTERPARTS["dou-di-zhu"] = "dou_dizhu"
SECONDS = 0.4  # of a single run: long beside what disturbs it, and slow peers do not take minutes
ROLLOUTS = 100  # of the peer's evaluator, to time rollouts alone
OPENING_SEED = 5

Run = Callable[[int], float]  # by a seed: how many a second


@attrs.frozen
class Measurement:
    """One subject's speed in one game: `rates` are iterations (or playouts) per second of each repeat."""

    game: str
    subject: str
    rates: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rates)

    @property
    def quartiles(self) -> tuple[float, float]:
        low, _, high = np.percentile(self.rates, (25, 50, 75)).tolist()
        return low, high


def opening(name: str) -> State:
    """The state to search: after the deals, the first decision with more than one legal action."""
    state, rng = games.load(name).new_initial_state(seed=OPENING_SEED), random.Random(OPENING_SEED)
    while state.is_chance_node() or len(state.legal_actions()) == 1 or _is_passing(state):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def _is_passing(state: State) -> bool:
    """Whether Hearts' cards are still being passed: its peer cannot search there."""
    return state.game.name == "hearts" and len(state.history) < 13


def _ours(state: State, strategy: Enhancement, iterations: int, raw: bool = False) -> Run:
    """A run of new searches, or raw of random playouts, one after another for SECONDS.

    Searches that take longer to begin than to make so few iterations go on for twice that long, their beginnings included.
    """

    def make(search: CompiledSearch, count: int) -> None:
        if raw:
            search.run_raw(count)
        else:
            search.run(count)

    def run(seed: int) -> float:
        seconds, count, end = 0.0, 0, time.perf_counter() + 2 * SECONDS
        while seconds < SECONDS and (count == 0 or time.perf_counter() < end):
            search = CompiledSearch(state, strategy, (seed, count))
            started = time.perf_counter()
            make(search, iterations)
            seconds, count = seconds + time.perf_counter() - started, count + iterations
        return count / seconds

    make(CompiledSearch(state, strategy, 0), 2)  # compiles it
    return run


def _peer_state(name: str) -> "pyspiel.State | None":
    """The corresponding state of OpenSpiel, or None where it does not have the game."""
    import pyspiel

    if name not in COUNTERPARTS:
        return None
    state, rng = pyspiel.load_game(COUNTERPARTS[name]).new_initial_state(), random.Random(OPENING_SEED)
    if name == "dou-di-zhu":
        state.apply_action(0)  # the first chance outcome seats the first bidder: player 0
    while state.is_chance_node():
        state.apply_action(rng.choice(state.legal_actions()))
    if name == "dou-di-zhu":
        state.apply_action(max(state.legal_actions()))  # he bids most, and is the landlord
    while len(state.legal_actions()) == 1:
        state.apply_action(state.legal_actions()[0])
    return state


def _peer(name: str, iterations: int, rollouts: int = 1) -> Run | None:
    """OpenSpiel's C++ search with random rollouts: MCTS (cheating, in Dou Di Zhu), and IS-MCTS in Hearts."""
    state = _peer_state(name)
    if state is None:
        return None
    import pyspiel

    def step(simulations: int, seed: int) -> float:
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
        if name == "hearts":
            policy = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
            bot = pyspiel.ISMCTSBot(seed, evaluator, 0.7, simulations, -1, policy, False, False)
        else:
            bot = pyspiel.MCTSBot(state.get_game(), evaluator, 0.7, simulations, 1000, False, seed, False)
        started = time.perf_counter()
        bot.step(state)
        return time.perf_counter() - started

    trial = max(1, min(iterations, 200 // rollouts))
    simulations = int(min(iterations, max(trial, trial * 10 * SECONDS / step(trial, 1))))

    return lambda seed: simulations * rollouts / step(simulations, seed + 1)


def measure(
    names: list[str],
    strategies: Sequence[Enhancement],
    *,
    iterations: int = 5000,
    repeats: int = 5,
    peer: bool = True,
    progress: Callable[[str], None] = lambda text: None,
) -> list[Measurement]:
    """Measure each game's subjects, alternating: random playouts, every strategy, and OpenSpiel where it is installed and has the game."""
    measurements = []
    for name in names:
        progress(f"{name}: getting ready")
        state = opening(name)
        subjects: dict[str, Run | None] = {RAW: _ours(state, BASELINE, iterations, raw=True)}
        subjects.update({str(strategy): _ours(state, strategy, iterations) for strategy in strategies})
        if peer and importlib.util.find_spec("pyspiel") is not None:
            subjects[PEER], subjects[PEER_RAW] = _peer(name, iterations), _peer(name, ROLLOUTS, ROLLOUTS)
        running = {subject: run for subject, run in subjects.items() if run is not None}
        samples: dict[str, list[float]] = {subject: [] for subject in running}
        for repeat in range(repeats):
            for subject, run in running.items():
                progress(f"{name}: {subject}, run {repeat + 1} of {repeats}")
                samples[subject].append(run(repeat))
        measurements += [Measurement(name, subject, tuple(rates)) for subject, rates in samples.items()]
    return measurements


def ratios(measured: Sequence[Measurement]) -> dict[tuple[str, str], float]:
    """Each of our medians over the peer's in the same game: playouts over rollouts, iterations over iterations."""
    medians = {(each.game, each.subject): each.median for each in measured}
    peers = {key: medians.get((key[0], PEER_RAW if key[1] == RAW else PEER)) for key in medians}
    return {key: medians[key] / peer for key, peer in peers.items() if peer and key[1] not in (PEER, PEER_RAW)}
