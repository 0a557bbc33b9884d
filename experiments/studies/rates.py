"""How fast searches are: iterations per second of games and strategies, beside OpenSpiel's C++ in the same run.

A time on a shared machine means little; a ratio to something else measured in the same run means more. So the runs alternate,
and what is reported is the median over the repeats, with the spread between the quartiles.

    python -m experiments.studies.rates --games othello,hearts --iterations 5000
"""

import importlib.util
import random
import time
from collections.abc import Callable, Sequence

import numpy as np
import typer

from experiments.commands import print_table, split_names
from icarus import games
from icarus.algebra import Enhancement
from icarus.commands.console import notes
from icarus.compiler import address_of, array_kernel, call
from icarus.engine.compiled_search import CompiledSearch
from icarus.kernel.contract import padded_to_words
from icarus.kernel.state import State
from icarus.learning.encoding import empty_evaluation
from icarus.learning.fitting import with_random_weights
from icarus.learning.generations import UNITS
from icarus.learning.selfplay import games_played
from icarus.specs import parse
from icarus.views.document import Table

STRATEGIES = (
    "BASELINE",
    "BASELINE >> MAST",
    "BASELINE >> NAST2",
    "BASELINE >> LGRF",
    "BASELINE >> EPIC",
    "RAVE",
    "RAVE >> (MAST + LGRF + NAST2)/3",
)
PEER, EVALUATION = "OpenSpiel", "a learned evaluation"
COUNTERPARTS = {
    "othello": "othello",
    "checkers": "checkers",
    "backgammon": "backgammon",
    "hearts": "hearts(pass_cards=False)",
}
EVALUATIONS = 20_000  # of a single run
SECONDS = 0.4  # of a single run: long beside what disturbs it, and slow peers do not take minutes
OPENING_SEED = 5
PASSES = 13  # actions of Hearts before a card is played: its peer cannot search there

TimedRun = Callable[[int], float]  # by a seed: how many a second
# by game and subject: iterations per second of each repeat
Rates = dict[tuple[str, str], list[float]]


def opening(name: str) -> State:
    """The state to search: after the deals, the first decision with more than one legal action."""
    state, rng = games.load(name).new_initial_state(seed=OPENING_SEED), random.Random(OPENING_SEED)
    least = PASSES if state.game.name == "hearts" else 0
    while state.is_chance_node() or len(state.legal_actions()) == 1 or len(state.history) < least:
        state.apply_action(rng.choice(state.legal_actions()))
    return state


def _ours(state: State, strategy: Enhancement, iterations: int) -> TimedRun:
    """A run of new searches, one after another for SECONDS.

    Searches that take longer to begin than to make so few iterations go on for twice that long, their beginnings included.
    """

    def run(seed: int) -> float:
        seconds = 0.0
        count = 0
        end = time.perf_counter() + 2 * SECONDS
        while seconds < SECONDS and (count == 0 or time.perf_counter() < end):
            search = CompiledSearch(state, strategy, (seed, count))
            started = time.perf_counter()
            search.run(iterations)
            seconds, count = seconds + time.perf_counter() - started, count + iterations
        return count / seconds

    CompiledSearch(state, strategy, 0).run(2)  # compiles it
    return run


def _peer(name: str, iterations: int) -> TimedRun:
    """OpenSpiel's C++ search of the corresponding state with random rollouts: MCTS, and IS-MCTS in Hearts."""
    import pyspiel

    state = pyspiel.load_game(COUNTERPARTS[name]).new_initial_state()
    rng = random.Random(OPENING_SEED)
    while state.is_chance_node() or len(state.legal_actions()) == 1:
        state.apply_action(rng.choice(state.legal_actions()))

    def step(simulations: int, seed: int) -> float:
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        if name == "hearts":
            policy = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
            bot = pyspiel.ISMCTSBot(seed, evaluator, 0.7, simulations, -1, policy, False, False)
        else:
            bot = pyspiel.MCTSBot(
                state.get_game(), evaluator, 0.7, simulations, 1000, False, seed, False
            )
        started = time.perf_counter()
        bot.step(state)
        return time.perf_counter() - started

    trial = min(iterations, 200)
    simulations = int(min(iterations, max(trial, trial * 10 * SECONDS / step(trial, 1))))
    return lambda seed: simulations / step(simulations, seed + 1)


@array_kernel("a learned evaluation, again and again")
def evaluate_often(heuristic: int, state: np.ndarray, out: np.ndarray, count: int) -> int:
    """Evaluate a state so often, by the address of its game's heuristic."""
    for _ in range(count):
        call(heuristic, (address_of(state), address_of(out)))
    return count


def _evaluations(state: State) -> TimedRun:
    """A run of a learned evaluation of 64 hidden units, with random weights, of the state."""
    empty = empty_evaluation(state.game, OPENING_SEED)
    positions = games_played(state.game, empty, 200, (OPENING_SEED,))
    game = state.game.with_evaluation(with_random_weights(empty, positions, UNITS, OPENING_SEED))
    words, out = padded_to_words(state.data), np.zeros(game.players)

    def run(seed: int) -> float:
        started = time.perf_counter()
        evaluate_often(game.address("heuristic"), words, out, EVALUATIONS)
        return EVALUATIONS / (time.perf_counter() - started)

    run(0)  # compiles it
    return run


def measure(
    names: list[str],
    strategies: Sequence[Enhancement],
    iterations: int,
    repeats: int,
    progress: Callable[[str], None],
) -> Rates:
    """Measure each game's subjects, alternating: every strategy, and OpenSpiel where it is installed and has the game."""
    rates: Rates = {}
    for name in names:
        progress(f"{name}: getting ready")
        state = opening(name)
        running = {str(strategy): _ours(state, strategy, iterations) for strategy in strategies}
        if name in COUNTERPARTS and importlib.util.find_spec("pyspiel"):
            running[PEER] = _peer(name, iterations)
        running[EVALUATION] = _evaluations(state)
        for repeat in range(repeats):
            for subject, run in running.items():
                progress(f"{name}: {subject}, run {repeat + 1} of {repeats}")
                rates.setdefault((name, subject), []).append(run(repeat))
    return rates


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def rates(
    names: str = typer.Option(",".join(games.names()), "--games", help="Separated by commas."),
    strategies: str = typer.Option(",".join(STRATEGIES), help="Separated by commas."),
    iterations: int = typer.Option(5000, min=1, help="Of a search."),
    repeats: int = typer.Option(
        5, min=1, help="Runs of each, in alternation; the median is shown."
    ),
) -> None:
    """Print the median rate, the spread of its quartiles as a share of it, and the rate as a multiple of OpenSpiel's and BASELINE's."""
    parsed = [parse(text) for text in split_names(strategies)]
    with notes.status("") as status:
        measured = measure(split_names(names), parsed, iterations, repeats, status.update)
    quartiles = {
        key: np.percentile(of_repeats, (25, 50, 75)).tolist()
        for key, of_repeats in measured.items()
    }
    rows = []
    for (game, subject), (low, median, high) in quartiles.items():
        peers = [quartiles.get((game, peer)) for peer in (PEER, "BASELINE")]
        ratios = [f"{median / peer[1]:.2f}" if peer else "" for peer in peers]
        rows.append((game, f"{median:,.0f}", f"{(high - low) / median:.0%}", *ratios, subject))
    print_table(
        Table("", ("game", "per second", "spread", f"× {PEER}", "× BASELINE", "subject"), rows)
    )


if __name__ == "__main__":
    app()
