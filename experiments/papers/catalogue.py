"""Experiments on the enhancements of the catalogue that other papers than that of 2014 describe, few iterations for each decision.

Those that begin with "catalogue" measure which way each enhancement pulls against the baseline. "ludii" plays the variants of Ludii's
search that the Kaggle competition of 2024 on Monte Carlo tree search compared: {UCB1, GRAVE, progressive history, UCB1-Tuned} ×
exploration × {random, MAST, NST playouts} × score bounds. A playout of more than 200 moves is a draw there; here all are played to the
end.
"""

import itertools
from typing import Any

ITERATIONS, TRIALS = 300, 400
SELECTIONS = {  # of a search without score bounds, and with them
    "UCB1": ("baseline({c})", "score_bounds(0.0, 0.0, {c})"),
    "UCB1GRAVE": ("grave(100, 1e-05, {c})", "bounded_grave(100, 1e-05, {c})"),
    "ProgressiveHistory": ("progressive_history(3.0, {c})", "bounded_progressive_history(3.0, {c})"),
    "UCB1Tuned": ("ucb1_tuned({c})", "bounded_ucb1_tuned({c})"),
}
EXPLORATIONS = ("0.1", "0.6", "1.41421356237")
PLAYOUTS = {"Random200": "BASELINE", "MAST": "mast(epsilon_greedy(0.1))", "NST": "nst(1, epsilon_greedy(0.1))"}
VARIANTS = {
    " ".join((name, c, playout, ("without", "with bounds")[bounds])): (
        f"{selections[bounds].format(c=c)} >> {PLAYOUTS[playout]}"
    )
    for (name, selections), c, playout, bounds in itertools.product(SELECTIONS.items(), EXPLORATIONS, PLAYOUTS, (0, 1))
}
OF_BANDITS = ("FPU", "UCB1_TUNED", "KL_UCB", "THOMPSON", "DISCOUNTED_UCB")
OF_TREE = (*OF_BANDITS, "PROGRESSIVE_HISTORY", "DISCOUNTED_HISTORY", "GRAVE", "RELATIVE_BONUS", "DECISIVE")
OF_SIMULATION = ("NST", "LGRF2", "MAST_SIMULATION_DECAY", "MAST_BATCH_DECAY", "PPA", "CMC")
BY_FEATURES = ("PAST", "FAST")
BY_HEURISTIC = ("PROGRESSIVE_BIAS", "PROGRESSIVE_UNPRUNING", "PROGRESSIVE_WIDENING", "PUCT", "IMPLICIT_MINIMAX")
PROVING = ("MCTS_SOLVER", "SCORE_BOUNDS")


def _agents(*names: str) -> dict[str, str]:
    """Enhancements of selection by themselves, those of the simulation after the baseline."""
    return {name: name if name in OF_TREE + BY_HEURISTIC + PROVING else f"BASELINE >> {name}" for name in names}


CATALOGUE: dict[str, dict[str, Any]] = {
    "catalogue-playouts": {"games": ["othello"], "agents": _agents("MAST", *BY_FEATURES, "CMC")},
    "catalogue-simulation": {"games": ["othello", "checkers"], "agents": _agents("MAST", *OF_SIMULATION, *BY_FEATURES)},
    "catalogue-tree": {"games": ["othello"], "agents": _agents(*OF_TREE, *BY_HEURISTIC, *PROVING)},
    "catalogue-hidden": {"games": ["knockout-whist"], "agents": _agents(*OF_TREE, *OF_SIMULATION)},
    "catalogue-at-once": {
        "games": ["goofspiel"],
        "agents": {
            "REGRET_MATCHING": "REGRET_MATCHING",
            "EXP3": {"strategy": "BASELINE", "scheme": "MO_ISMCTS with EXP3"},
        },
    },
    "ludii": {"games": ["othello", "checkers"], "agents": VARIANTS},
}
