"""How far a campaign is: the games of each cell by interim analyses, core-hours spent and left, and the blocks that come next."""

import statistics
from collections.abc import Iterator, Mapping, Sequence

import attrs

from experiments.analysis import order, states
from experiments.analysis.comparisons import Place, place_of, place_title
from experiments.plan.campaign import FIRST, INTERIM_GAMES, Sizes
from experiments.plan.definition import Cell
from experiments.store.results import Results
from experiments.store.summary import Columns, Tally
from icarus.views.document import Block, Heading, Paragraph, Table

NAMED = 3  # agents or places that a line names; of more it tells the number
NO_VERDICTS = (
    "Pictures and tables of games show all games so far. They are no verdicts. Statements are tested at interim analyses alone, by the "
    "rule that was fixed before the first game (docs/reproduction-rule.md). A game in which a cell has not come to its first one says so."
)
HOURS = (
    "Core-hours: the seconds of games by the clock, at the lowest priority beside whatever else the machine did. What is left are those of "
    "a free processor: the lower quartile of a cell's games so far."
)


@attrs.frozen
class Progress:
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

    place: Place
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
        return first * self.free_seconds / order.HOUR, last * self.free_seconds / order.HOUR


def progress(results: Results, sizes: Sizes = INTERIM_GAMES) -> list[Progress]:
    """The games of a campaign that there are runs of, in the order in which they come to their first interim analysis."""
    games, tallies = results.unbroken(), results.tallies()
    free_seconds = results.free_seconds({cell: sizes[place_of(cell)][0] for cell in games})
    lines, places = [], list(sizes)
    for place in sorted({place_of(cell) for cell in games}, key=lambda at: (FIRST.index(at[0]), places.index(at))):
        cells, interims = [cell for cell in games if place_of(cell) == place], sizes[place]
        here = [tally for tally in tallies if place_of(tally.cell) == place]
        lines.append(
            Progress(
                place=place,
                cells=len(cells),
                idle=sum(not tally.games for tally in here),
                games=sum(tally.games for tally in here),
                missing=(_missing(games, cells, interims[0]), _missing(games, cells, interims[-1])),
                interims=tuple(sum(games[cell] >= interim for cell in cells) for interim in interims),
                seconds=sum(tally.seconds for tally in here),
                free_seconds=statistics.fmean([free_seconds[cell] for cell in cells if cell in free_seconds] or [0.0]),
            )
        )
    return lines


def _missing(games: Mapping[Cell, int], cells: Sequence[Cell], due: int) -> int:
    return sum(max(0, due - games[cell]) for cell in cells)


def progress_table(games_of: Sequence[Progress], sizes: Sizes = INTERIM_GAMES) -> Table:
    """A line for each game, and their sum."""
    lines = [_progress_line(each, sizes) for each in games_of]
    games, spent = sum(each.games for each in games_of), sum(each.seconds for each in games_of) / order.HOUR
    totals = (sum(hours) for hours in zip(*(each.hours_left for each in games_of), strict=True))
    lines.append(["all", str(games), "", "", f"{spent:.1f}", "", *(f"{hours:.1f}" for hours in totals)])
    header = ["Game", "Games", "First interim analysis", "Interim analyses", "Core-hours", "seconds a game"]
    return Table(
        f"Games so far. Interim analyses: how many of a game's cells have come to the first, second, third and last. {HOURS}",
        [*header, *(f"left to {which} interim analyses" for which in ("first", "last"))],
        lines,
    )


def _progress_line(each: Progress, sizes: Sizes) -> list[str]:
    spent, interims = f"{each.seconds / order.HOUR:.1f}", ", ".join(map(str, each.interims))
    times = [each.seconds / each.games, *each.hours_left] if each.games else []
    texts = [f"{time:.1f}" for time in times] or [""] * 3
    return [place_title(each.place), str(each.games), _share(each, sizes), interims, spent, *texts]


def _share(each: Progress, sizes: Sizes) -> str:
    """How much of the games up to the first interim analysis there is."""
    due = each.cells * sizes[each.place][0]
    return "complete" if not each.missing[0] else f"{min(99, round(100 * (1 - each.missing[0] / due)))} % of {due}"


def next_table(results: Results, sizes: Sizes = INTERIM_GAMES) -> Table:
    """What comes next: the blocks up to the first interim analyses; after these, for each statement its best plan."""
    games = results.unbroken()
    if blocks := order.first_blocks(games, sizes):
        caption = "What is played next, in this order. After that the rows themselves choose."
        return Table(caption, ["Block", "Games"], [_block_line(block, games) for block in blocks])
    caption = (
        "For each statement that games can still decide, the plan that decides most for a core-hour by the games so far: cells taken to a "
        "later interim analysis, the chance that the statement is decided then (its predictive power), and the statements that are, this "
        "and others, on average and for a core-hour. The first block of the first plan is played next, then all are computed again."
    )
    header = ["No.", "Cells", "in", "Interim analysis", "Core-hours", "Chance", "Decided", "For a core-hour"]
    plans = order.plans(order.state_of(results, games, sizes), sizes)
    return Table(caption, header, [_plan_line(plan) for plan in plans])


def _block_line(block: order.Block, games: Mapping[Cell, int]) -> list[str]:
    missing = sum(max(0, block.trials - games[cell]) for cell in block.cells)
    places = " and ".join(dict.fromkeys(place_title(place_of(cell)) for cell in block.cells))
    return [f"{places}, {len(block.cells)} cells to {block.trials} games", str(missing)]


def _plan_line(plan: order.Plan) -> list[str]:
    agents = list(dict.fromkeys(cell.agent for cell in plan.cells))
    places = dict.fromkeys(place_title(place_of(cell)) for cell in plan.cells)
    return [
        str(plan.statement),
        ", ".join(agents) if len(agents) <= NAMED else f"{len(plan.cells)} cells",
        ", ".join(places) if len(places) <= NAMED else f"{len(places)} places",
        str(plan.interim),
        f"{plan.hours:.1f}",
        f"{100 * plan.chance:.0f} %",
        f"{plan.decided:.2f}",
        f"{plan.decided_per_hour:.2g}",
    ]


def blocks(results: Results) -> Iterator[Block]:
    """The beginning of a campaign's report."""
    lines = progress(results)
    games, hardly = sum(each.games for each in lines), [place_title(each.place) for each in lines if each.idle]
    yield Paragraph(f"{games} games played, of {results.most} if every cell goes to its last interim analysis.")
    yield Paragraph(NO_VERDICTS)
    if hardly:
        yield Paragraph(f"Left out of pictures and tables, because some cells have no games yet: {', '.join(hardly)}.")
    yield Heading("How far it is")
    yield progress_table(lines)
    yield next_table(results)


def describe_campaign(results: Results, running: bool) -> Iterator[Table | str]:
    """What `status` tells."""
    lines = progress(results)
    games = sum(each.games for each in lines)
    yield f"campaign: {games} games, {'running' if running else 'not running'}"
    yield progress_table(lines)
    yield next_table(results)
    yield states.count_sentence(order.state_of(results, results.unbroken()).decisions)


def with_due_games(columns: Columns, sizes: Sizes = INTERIM_GAMES) -> Columns:
    """The columns of which every cell has games, each cell with the games that its first interim analysis needs."""

    def due(tally: Tally) -> Tally:
        return attrs.evolve(tally, due=sizes[place_of(tally.cell)][0])

    return {
        column: [due(tally) for tally in tallies]
        for column, tallies in columns.items()
        if all(tally.games for tally in tallies)
    }
