"""Settings that section 8 leaves open, or gives after a tuning that it does not show: small experiments around each of them.

Each has the baseline, the setting that section 8's experiments are played with, and others below and above it; the games are some
where a statement hangs on the setting. A fifth of section 8's iterations: what matters is which way a setting pulls.
"""

from typing import Any

from experiments.papers.suite import EPISODES, RULES, TABLE_1

ITERATIONS, TRIALS = 1000, 150
BASELINE = TABLE_1["-"]
USUAL = 250  # RAVE's k


def _mast(rule: str) -> str:
    return f"BASELINE >> mast({rule})"


def _rave(exploration: float) -> str:
    """RAVE with another c of UCB1 over AMAF's information."""
    return f"rave_weight(k={USUAL}) * amaf(ucb1(exploration={exploration})) ^ (1 - rave_weight(k={USUAL})) * BASELINE"


def _nast(exploration: float) -> str:
    return f"BASELINE >> nast(2, ucb1(exploration={exploration}))"


def _epic(exploration: float) -> str:
    return f"BASELINE >> epic(ucb1(exploration={exploration}))"


SENSITIVITY: dict[str, dict[str, Any]] = {
    "temperature": {  # τ of MAST's Gibbs distribution; section 8: 1. With rewards from −1 to 1 instead of 0 to 1, τ = 1 is our τ = ½
        "games": ["dou-di-zhu", "othello"],
        "agents": {
            "-": BASELINE,
            **{f"τ = {number:g}": _mast(f"gibbs(temperature={number})") for number in (0.03, 0.1, 0.3, 0.5)},
            "τ = 1": RULES["Gibbs"],
            "τ = 3": _mast("gibbs(temperature=3)"),
        },
    },
    "combined-temperature": {  # the combinations of Table 1 with another τ where MAST is a part, beside all as they are
        "games": ["othello", "lotr-confrontation"],
        "agents": {
            **TABLE_1,
            **{
                f"{name}, τ = 0.1": strategy.replace("MAST", "mast(gibbs(temperature=0.1))")
                for name, strategy in TABLE_1.items()
                if "M" in name
            },
        },
    },
    "epsilon": {  # ε of MAST's ε-greedy rule, left open
        "games": ["dou-di-zhu", "othello"],
        "agents": {
            "-": BASELINE,
            **{f"ε = {number:g}": _mast(f"epsilon_greedy(epsilon={number})") for number in (0.05, 0.1)},
            "ε = 0.2": RULES["ε-greedy"],
            **{f"ε = {number:g}": _mast(f"epsilon_greedy(epsilon={number})") for number in (0.4, 0.8)},
        },
    },
    "amaf-exploration": {  # c of UCB1 over AMAF's information, left open; ours is the baseline's
        "games": ["hearts", "checkers"],
        "agents": {
            "-": BASELINE,
            **{f"c = {number:g}": _rave(number) for number in (0, 0.1, 0.35)},
            "c = 0.7": TABLE_1["R"],
            "c = 1.4": _rave(1.4),
        },
    },
    "simulation-exploration": {  # c of UCB1 over NAST's and EPIC's information; section 8: 0.7. With rewards from −1 to 1 that is our 0.35
        "games": ["lotr-confrontation", "checkers"],
        "agents": {
            "-": BASELINE,
            **{f"NAST, c = {number:g}": _nast(number) for number in (0.1, 0.35)},
            "NAST, c = 0.7": EPISODES["NAST"],
            "NAST, c = 1.4": _nast(1.4),
            **{f"EPIC, c = {number:g}": _epic(number) for number in (0.1, 0.35)},
            "EPIC, c = 0.7": EPISODES["EPIC"],
            "EPIC, c = 1.4": _epic(1.4),
        },
    },
    "strict-amaf": {  # "selection node" in (AMAF-6) read to the letter
        "games": ["hearts", "checkers", "lotr-confrontation"],
        "agents": {"-": BASELINE, "RAVE": TABLE_1["R"], "strict": "RAVE_STRICT"},
    },
    "replies": {  # (LGRF-7) with rewards from −1 to 1: whether a draw, or less than half of the points, forgets a reply
        "games": ["hearts", "checkers", "othello"],
        "agents": {"-": BASELINE, "LGRF": TABLE_1["L"], "signed": "BASELINE >> LGRF_SIGNED"},
    },
    "episodes": {  # EPIC's episodes by the rules of each game, and of a fixed length: n-grams
        "games": ["dou-di-zhu", "checkers", "othello"],
        "agents": {
            "-": BASELINE,
            "EPIC": EPISODES["EPIC"],
            "n = 2": EPISODES["NAST"],
            **{f"n = {n}": f"BASELINE >> NAST{n}" for n in (1, 3)},
        },
    },
}
