"""The campaign: section 8 at the paper's size, analysed at interim analyses that were fixed before the first game.

How far its runs are, and the state of each statement: the interim analysis that decided it and its part of the 5 %, or what it waits for.
"""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs
import numpy as np

from experiments import verdicts
from experiments.results import Columns, Results, Tally
from icarus.views.document import Block, Heading, Paragraph, Table

CAMPAIGN = "campaign"  # the name of its experiments, one for each game
# games of a cell at each interim analysis
USUAL = (200, 400, 700, 1000)
BACKGAMMON = (100, 150, 200, 250)
INTERIM_GAMES: Mapping[verdicts.Place, Sequence[int]] = {
    ("dou-di-zhu", "Landlord"): USUAL,
    ("hearts", ""): USUAL,
    ("lotr-confrontation", "Light"): USUAL,
    ("lotr-confrontation", "Dark"): USUAL,
    ("checkers", ""): USUAL,
    ("othello", ""): USUAL,
    ("backgammon", ""): BACKGAMMON,
}
# the same in words
GAMES_TEXT = f"{', '.join(map(str, USUAL))}; in Backgammon {', '.join(map(str, BACKGAMMON))}"
SHARES = (1 / 6, 1 / 6, 1 / 6, 1 / 2)  # of α, spent at each interim analysis
# the order up to the first interim analysis
FIRST = ("dou-di-zhu", "othello", "lotr-confrontation", "checkers", "hearts", "backgammon")
HOUR = 3600
WAITS, USED_UP = "waits", "games used up"
ONLY_AGREES, ONLY_DISAGREES = "can only agree", "can only disagree"
Games = Mapping[tuple[verdicts.Place, str], int]  # of each agent in each place
NO_VERDICTS = (
    "Pictures and tables of games show all games so far. They are no verdicts. Statements are tested at interim analyses alone, by the "
    "rule that was fixed before the first game (docs/reproduction-rule.md). A game in which a cell has not come to its first one says so."
)
HOURS = (
    "Core-hours: the seconds of games by the clock, at the lowest priority beside whatever else the machine did. What is left are those of "
    "a free processor: the lower quartile of a cell's games so far."
)


def state(decision: verdicts.Judgement) -> str:
    """The verdict; where there is none, whether any interim analysis was taken, and which verdicts those to come can still bring."""
    if decision.verdict != verdicts.UNDECIDED:
        return decision.verdict
    if decision.interim == 0:
        return WAITS
    match _can_come(decision, verdicts.AGREES), _can_come(decision, verdicts.DISAGREES):
        case True, True:
            return verdicts.UNDECIDED
        case True, False:
            return ONLY_AGREES
        case False, True:
            return ONLY_DISAGREES
        case _:
            return USED_UP


def _can_come(decision: verdicts.Judgement, verdict: str) -> bool:
    """Whether a statement comes to a verdict if every comparison does that has an interim analysis left."""

    def sign(outcome: verdicts.Outcome) -> np.ndarray:
        is_open = outcome.verdict == verdicts.UNDECIDED and outcome.interim < len(SHARES)
        return np.array(verdicts.SIGNS[verdict if is_open else outcome.verdict])

    signs = [[sign(outcome) for outcome in case] for case in decision.cases]
    return int(verdicts.combine_signs(decision.claim, signs)) == verdicts.SIGNS[verdict]


def count_sentence(decisions: Sequence[verdicts.Judgement]) -> str:
    """How many statements are in which state, in words."""
    numbers = Counter(map(state, decisions))
    endings = {
        verdicts.AGREES: "agree",
        verdicts.DISAGREES: "disagree",
        verdicts.UNDECIDED: "are undecided after an interim analysis",
        ONLY_AGREES: "can only agree",
        ONLY_DISAGREES: "can only disagree",
        USED_UP: "undecided with all games played",
        WAITS: "wait for a first one",
    }
    parts = [f"{numbers[name]} {ending}" for name, ending in endings.items() if numbers[name]]
    beginning = f"{', '.join(parts[:-1])} and " if len(parts) > 1 else ""
    return f"Of {len(decisions)} statements {beginning}{parts[-1]}."


def alpha_spent(decision: verdicts.Judgement) -> float:
    """The part of the chance of a wrong verdict, of 5 % or less, that a statement's interim analyses so far have used."""
    confidence = max(comparison.confidence for comparison in decision.claim.comparisons)
    return (1 - confidence) * sum(SHARES[: decision.interim])


def games_to_next_interim(decision: verdicts.Judgement, games: Games) -> dict[verdicts.Place, int]:
    """The games that are missing, by place, until every comparison that can still count has had its next interim analysis.

    None can in a case in which one comparison disagrees: the others do not change that.
    """
    if decision.verdict != verdicts.UNDECIDED:
        return {}
    targets = Counter[tuple[verdicts.Place, str]]()
    for case in decision.cases:
        if any(outcome.verdict == verdicts.DISAGREES for outcome in case):
            continue
        for outcome in case:
            if outcome.verdict == verdicts.UNDECIDED and outcome.interim < len(SHARES):
                for cell in outcome.comparison.cells:
                    place, _ = cell
                    due = INTERIM_GAMES[place][outcome.interim]
                    targets[cell] = max(due, targets[cell])
    missing = Counter[verdicts.Place]()
    for cell, due in targets.items():
        place, _ = cell
        missing[place] += max(0, due - games.get(cell, 0))
    return {place: missing[place] for place in INTERIM_GAMES if missing[place]}


def states_table(decisions: Sequence[verdicts.Judgement], games: Games) -> Table:
    """A line for each statement."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        missing = games_to_next_interim(decision, games)
        where = ", ".join(map(verdicts.place_title, missing))
        if missing.keys() == INTERIM_GAMES.keys():
            where = "all games"
        lines.append(
            [
                str(number),
                decision.claim.text,
                state(decision),
                f"{decision.interim} of {len(SHARES)}",
                f"{100 * alpha_spent(decision):.2g} %",
                str(sum(missing.values())) if missing else "",
                where,
                verdicts.more_text(decision.more),
            ]
        )
    return Table(
        "The state of each statement. Spent: the part of its chance of a wrong verdict that its interim analyses have used. More games: "
        "how many each cell needs besides those it has, if the differences stay as they are; known after an interim analysis.",
        [
            "No.",
            "As tested",
            "State",
            "Interim analyses",
            "Spent",
            "Games to the next interim analysis",
            "in",
            "More games",
        ],
        lines,
    )


@attrs.frozen
class GameProgress:
    """How far a game is, in one role.

    Attributes:
        tallies: of its cells.
        unbroken: how many games each of them has from its first trial on, without gaps.
        free_seconds: of a game on a free processor; 0 before any game.
    """

    place: verdicts.Place
    tallies: Sequence[Tally]
    unbroken: Sequence[int]
    free_seconds: float

    @property
    def sizes(self) -> Sequence[int]:
        """Games of a cell at each interim analysis."""
        return INTERIM_GAMES[self.place]

    @property
    def games(self) -> int:
        return sum(tally.games for tally in self.tallies)

    @property
    def hours(self) -> float:
        """Core-hours of all games so far, by the clock."""
        return sum(tally.seconds for tally in self.tallies) / HOUR

    @property
    def hours_left(self) -> list[float]:
        """Core-hours until all cells have had their first interim analysis, and until all have had their last."""
        return [
            self.missing(due) * self.free_seconds / HOUR for due in (self.sizes[0], self.sizes[-1])
        ]

    def missing(self, due: int) -> int:
        """Games until all cells have so many."""
        return sum(max(0, due - games) for games in self.unbroken)

    def texts(self) -> list[str]:
        """Its line of a table."""
        first, games = self.sizes[0], self.games
        due = first * len(self.tallies)
        share = f"{min(99, round(100 * (1 - self.missing(first) / due)))} % of {due}"
        interims = [sum(number >= size for number in self.unbroken) for size in self.sizes]
        times = ["", "", ""]
        if games:
            seconds = HOUR * self.hours / games
            times = [f"{time:.1f}" for time in (seconds, *self.hours_left)]
        return [
            verdicts.place_title(self.place),
            str(games),
            share if self.missing(first) else "complete",
            ", ".join(map(str, interims)),
            f"{self.hours:.1f}",
            *times,
        ]


def progress(results: Results) -> list[GameProgress]:
    """The games of a campaign that there are runs of, in the order in which they come to their first interim analysis."""
    by_place: dict[verdicts.Place, list[Tally]] = {}
    for tally in results.tallies():
        by_place.setdefault(verdicts.place_of(tally.cell), []).append(tally)
    unbroken, lines = results.unbroken(), list[GameProgress]()
    for place in sorted(INTERIM_GAMES, key=lambda at: FIRST.index(at[0])):
        if place not in by_place:
            continue
        tallies, quickest = by_place[place], list[float]()
        for tally in tallies:
            games = results.games[tally.cell.key]
            first = [game.seconds for game in games if game.trial < INTERIM_GAMES[place][0]]
            if first:
                quickest.append(np.quantile(first, 0.25, method="inverted_cdf"))
        games_of = [unbroken[each.cell] for each in tallies]
        mean = statistics.fmean(quickest or [0.0])
        lines.append(GameProgress(place, tallies, games_of, mean))
    return lines


def progress_table(games_of: Sequence[GameProgress]) -> Table:
    """A line for each game, and their sum."""
    games = sum(each.games for each in games_of)
    spent = sum(each.hours for each in games_of)
    left = [sum(each.hours_left[i] for each in games_of) for i in (0, 1)]
    sums = ["all", str(games), "", "", f"{spent:.1f}", "", *(f"{hours:.1f}" for hours in left)]
    header = [
        "Game",
        "Games",
        "First interim analysis",
        "Interim analyses",
        "Core-hours",
        "seconds a game",
    ]
    return Table(
        f"Games so far. Interim analyses: how many of a game's cells have come to the first, second, third and last. {HOURS}",
        [*header, *(f"left to {which} interim analyses" for which in ("first", "last"))],
        [*(each.texts() for each in games_of), sums],
    )


def blocks(results: Results) -> Iterator[Block]:
    """The beginning of a campaign's report."""
    lines = progress(results)
    games = sum(each.games for each in lines)
    left_out = [
        verdicts.place_title(each.place)
        for each in lines
        if not all(tally.games for tally in each.tallies)
    ]
    yield Paragraph(
        f"{games} games played, of {results.most} if every cell goes to its last interim analysis."
    )
    yield Paragraph(NO_VERDICTS)
    if left_out:
        yield Paragraph(
            f"Left out of pictures and tables, because some cells have no games yet: {', '.join(left_out)}."
        )
    yield Heading("How far it is")
    yield progress_table(lines)


def with_due_games(columns: Columns) -> Columns:
    """The columns of which every cell has games, each cell with the games that its first interim analysis needs."""
    return {
        column: [
            attrs.evolve(tally, due=INTERIM_GAMES[verdicts.place_of(tally.cell)][0])
            for tally in tallies
        ]
        for column, tallies in columns.items()
        if all(tally.games for tally in tallies)
    }
