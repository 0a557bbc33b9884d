"""The campaign: section 8 at the paper's size, analysed at interim analyses that were fixed before the first game.

How far its runs are, and the state of each statement: the interim analysis that decided it and its part of the 5 %, or what it waits for.
"""

import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import attrs
import numpy as np

from experiments import verdicts
from experiments.plan.cells import Cell
from experiments.results import Columns, Results, Tally
from icarus.views.document import Block, Heading, Paragraph, Table

CAMPAIGN = "campaign"  # the name of its experiments, one for each game
# games of a cell at each interim analysis
USUAL = (200, 400, 700, 1000)
BACKGAMMON = (100, 150, 200, 250)
# games of a cell at each interim analysis, by game and role
Sizes = Mapping[tuple[str, str], Sequence[int]]
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

    return (
        int(
            verdicts.combine_signs(
                decision.claim, [[sign(outcome) for outcome in case] for case in decision.cases]
            )
        )
        == verdicts.SIGNS[verdict]
    )


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


def games_to_next_interim(
    decision: verdicts.Judgement, games: Games, sizes: Sizes
) -> dict[verdicts.Place, int]:
    """The games that are missing, by place, until every comparison that can still count has had its next interim analysis.

    In a case that disagrees already none can.
    """
    targets: dict[tuple[verdicts.Place, str], int] = {}
    for case in decision.cases if decision.verdict == verdicts.UNDECIDED else ():
        if any(outcome.verdict == verdicts.DISAGREES for outcome in case):
            continue
        for outcome in case:
            if outcome.verdict == verdicts.UNDECIDED and outcome.interim < len(SHARES):
                for cell in outcome.comparison.cells:
                    due = sizes[cell[0]][outcome.interim]
                    targets[cell] = max(due, targets.get(cell, 0))
    missing = Counter[verdicts.Place]()
    for cell, due in targets.items():
        missing[cell[0]] += max(0, due - games.get(cell, 0))
    return {place: missing[place] for place in sizes if missing[place]}


def states_table(decisions: Sequence[verdicts.Judgement], games: Games, sizes: Sizes) -> Table:
    """A line for each statement."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        missing = games_to_next_interim(decision, games, sizes)
        lines.append(
            [
                str(number),
                decision.claim.text,
                state(decision),
                f"{decision.interim} of {len(SHARES)}",
                f"{100 * alpha_spent(decision):.2g} %",
                str(sum(missing.values())) if missing else "",
                "all games"
                if missing.keys() == set(sizes)
                else ", ".join(map(verdicts.place_title, missing)),
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
        cells: how many it has.
        idle: how many of them have no games yet.
        games: of all of them.
        missing: games until all cells have had their first interim analysis, and until all have had their last.
        interims: how many cells have come to each interim analysis.
        seconds: of all games so far, by the clock.
        free_seconds: of a game on a free processor; 0 before any game.
    """

    place: verdicts.Place
    cells: int
    idle: int
    games: int
    missing: tuple[int, int]
    interims: tuple[int, ...]
    seconds: float
    free_seconds: float

    @property
    def hours_left(self) -> tuple[float, float]:
        """Core-hours until all cells have had their first interim analysis, and until all have had their last."""
        first, last = self.missing
        return first * self.free_seconds / HOUR, last * self.free_seconds / HOUR


def progress(results: Results, sizes: Sizes = INTERIM_GAMES) -> list[GameProgress]:
    """The games of a campaign that there are runs of, in the order in which they come to their first interim analysis."""
    games, tallies = results.unbroken(), results.tallies()
    free_seconds = results.free_seconds({cell: sizes[verdicts.place_of(cell)][0] for cell in games})
    lines = []
    places = list(sizes)
    for place in sorted(
        {verdicts.place_of(cell) for cell in games},
        key=lambda at: (FIRST.index(at[0]), places.index(at)),
    ):
        cells = [cell for cell in games if verdicts.place_of(cell) == place]
        interims = sizes[place]
        here = [tally for tally in tallies if verdicts.place_of(tally.cell) == place]
        lines.append(
            GameProgress(
                place=place,
                cells=len(cells),
                idle=sum(not tally.games for tally in here),
                games=sum(tally.games for tally in here),
                missing=(_missing(games, cells, interims[0]), _missing(games, cells, interims[-1])),
                interims=tuple(
                    sum(games[cell] >= interim for cell in cells) for interim in interims
                ),
                seconds=sum(tally.seconds for tally in here),
                free_seconds=statistics.fmean(
                    [free_seconds[cell] for cell in cells if cell in free_seconds] or [0.0]
                ),
            )
        )
    return lines


def _missing(games: Mapping[Cell, int], cells: Sequence[Cell], due: int) -> int:
    return sum(max(0, due - games[cell]) for cell in cells)


def progress_table(games_of: Sequence[GameProgress], sizes: Sizes = INTERIM_GAMES) -> Table:
    """A line for each game, and their sum."""
    lines = [_progress_line(each, sizes) for each in games_of]
    games = sum(each.games for each in games_of)
    spent = sum(each.seconds for each in games_of) / HOUR
    totals = (sum(hours) for hours in zip(*(each.hours_left for each in games_of), strict=True))
    lines.append(
        ["all", str(games), "", "", f"{spent:.1f}", "", *(f"{hours:.1f}" for hours in totals)]
    )
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
        lines,
    )


def _progress_line(each: GameProgress, sizes: Sizes) -> list[str]:
    spent = f"{each.seconds / HOUR:.1f}"
    interims = ", ".join(map(str, each.interims))
    times = [each.seconds / each.games, *each.hours_left] if each.games else []
    texts = [f"{time:.1f}" for time in times] or [""] * 3
    return [
        verdicts.place_title(each.place),
        str(each.games),
        _share(each, sizes),
        interims,
        spent,
        *texts,
    ]


def _share(each: GameProgress, sizes: Sizes) -> str:
    """How much of the games up to the first interim analysis there is."""
    due = each.cells * sizes[each.place][0]
    return (
        "complete"
        if not each.missing[0]
        else f"{min(99, round(100 * (1 - each.missing[0] / due)))} % of {due}"
    )


def blocks(results: Results) -> Iterator[Block]:
    """The beginning of a campaign's report."""
    lines = progress(results)
    games = sum(each.games for each in lines)
    hardly = [verdicts.place_title(each.place) for each in lines if each.idle]
    yield Paragraph(
        f"{games} games played, of {results.most} if every cell goes to its last interim analysis."
    )
    yield Paragraph(NO_VERDICTS)
    if hardly:
        yield Paragraph(
            f"Left out of pictures and tables, because some cells have no games yet: {', '.join(hardly)}."
        )
    yield Heading("How far it is")
    yield progress_table(lines)


def with_due_games(columns: Columns, sizes: Sizes = INTERIM_GAMES) -> Columns:
    """The columns of which every cell has games, each cell with the games that its first interim analysis needs."""

    def due(tally: Tally) -> Tally:
        return attrs.evolve(tally, due=sizes[verdicts.place_of(tally.cell)][0])

    return {
        column: [due(tally) for tally in tallies]
        for column, tallies in columns.items()
        if all(tally.games for tally in tallies)
    }


def sizes_text(sizes: Sizes = INTERIM_GAMES) -> str:
    """The games of a cell at each interim analysis, in words."""
    usual = next(iter(sizes.values()))
    texts = [", ".join(map(str, usual))]
    texts += [
        f"in {place[0].title()} {', '.join(map(str, its_sizes))}"
        for place, its_sizes in sizes.items()
        if its_sizes != usual
    ]
    return "; ".join(texts)
