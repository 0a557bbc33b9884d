"""The experiments of section 8 as tables."""

from typing import Any

from experiments.papers.combinations import COMBINATIONS

GAMES = ["dou-di-zhu", "hearts", "lotr-confrontation", "checkers", "othello", "backgammon"]  # section 7, in its order
ROLES = {
    "dou-di-zhu": ("Landlord",),
    "lotr-confrontation": ("Light", "Dark"),
}  # a column each; elsewhere the seat rotates
ITERATIONS = 5000  # per decision, section 8
TRIALS = 1000  # games per cell, Figure 5
TABLE_1 = {combination.name: combination.strategy for combination in COMBINATIONS}
EPISODES = {"Baseline": "BASELINE", "EPIC": "BASELINE >> EPIC", "NAST": "BASELINE >> NAST2"}
# Section 4.3.2 leaves ε open: that of Tak, Winands and Björnsson (2012), from whom the rule is taken, on this scale of rewards.
RULES = {
    "Gibbs": "BASELINE >> MAST",
    "ε-greedy": "BASELINE >> mast(epsilon_greedy(epsilon=0.2))",
    "Roulette": "BASELINE >> mast(roulette())",
    "UCB1": "BASELINE >> mast(ucb1(exploration=0.7))",
}
REUSE = {"Baseline": "BASELINE", **RULES}
TREE = {name: TABLE_1[name] for name in ("-", "N", "R", "M", "L")}
SECTION_8 = {**TABLE_1, "EPIC": EPISODES["EPIC"], **{name: RULES[name] for name in ("ε-greedy", "Roulette", "UCB1")}}
SUITE: dict[str, dict[str, Any]] = {
    "figure3": {"agents": TABLE_1, "pictures": ["figure3"]},
    "figure4": {"agents": TABLE_1, "pictures": ["figure4"]},
    "figure5": {"agents": EPISODES, "pictures": ["figure5"]},
    "reuse": {"agents": REUSE, "pictures": ["reuse"]},
    "tree": {"agents": TREE, "pictures": ["tree"]},
    "section8": {"agents": SECTION_8, "pictures": ["figure4", "figure3", "figure5", "reuse", "tree"]},
}
