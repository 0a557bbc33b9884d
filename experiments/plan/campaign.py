"""The campaign: section 8 at the paper's size, in interim analyses. All is fixed before the first game (`docs/reproduction-rule.md`)."""

from collections.abc import Mapping, Sequence

CAMPAIGN = "campaign"  # the name of its experiments, one for each game
TAG = "campaign-2"  # the commit that plays it
COMMIT = "160d990f3641821628b5421003469322c0fe87a4"  # the same, where a clone has come without its tags
ITERATIONS = 5000
SEED = 12
USUAL, BACKGAMMON = (200, 400, 700, 1000), (100, 150, 200, 250)  # games of a cell at each interim analysis
Sizes = Mapping[tuple[str, str], Sequence[int]]  # games of a cell at each interim analysis, by game and role
INTERIM_GAMES: Sizes = {
    ("dou-di-zhu", "Landlord"): USUAL,
    ("hearts", ""): USUAL,
    ("lotr-confrontation", "Light"): USUAL,
    ("lotr-confrontation", "Dark"): USUAL,
    ("checkers", ""): USUAL,
    ("othello", ""): USUAL,
    ("backgammon", ""): BACKGAMMON,
}
SHARES = (1 / 6, 1 / 6, 1 / 6, 1 / 2)  # of α, spent at each interim analysis
FIRST = (
    "dou-di-zhu",
    "othello",
    "lotr-confrontation",
    "checkers",
    "hearts",
    "backgammon",
)  # the order up to the first interim analysis
