"""Tables of the two earlier papers: the searches against all others, who gains by seeing hidden cards, and branching."""

from collections.abc import Iterator, Sequence

from experiments.analysis.ratings import ALL_SEE, SEARCHES, RoundRobin, Score, hidden_cards, round_robins
from experiments.analysis.search_claims import is_searched
from experiments.analysis.statistics import clopper_pearson, contrast, wilson
from experiments.papers.earlier import DOU_DI_ZHU, PHANTOM
from experiments.store.results import Columns
from icarus.views.document import Block, Heading, Paragraph, Table

INCREASES = {
    "player 1": 69,
    "player 2": 86,
    "player 3": 119,
    "players 2 and 3": 210,
    ALL_SEE: 127,
}  # of 1000 games: 2011
THOUSAND = 1000
CHEATING = tuple(name for name in SEARCHES.values() if name.startswith("Cheating"))


def blocks(columns: Columns) -> Iterator[Block]:
    """The tables that the results fill; nothing where all agents search as section 8's do."""
    if not is_searched(columns):
        return
    for robin in round_robins(columns):
        if robin.complete and len(robin.searches) > 1:
            yield Heading(f"Searches against all: {robin.title}, {robin.game[2]} per decision")
            yield from (strength(robin, side) for side in robin.sides)
            yield from _never_lost(robin)
    cards = {column: tallies for column, tallies in columns.items() if column.game == DOU_DI_ZHU}
    if increases := _increases(cards):
        yield Heading("Seeing hidden cards")
        yield Table(
            "More wins of 1000 games by seeing the others' cards (cheating). Published: 2011, Table 2 and the text below it.",
            ["Who sees them", "Without", "Seeing", "Increase", "95 % interval", "Published"],
            increases,
        )


def strength(robin: RoundRobin, side: str) -> Table:
    """Figs. 8 and 10 in numbers: a panel."""
    scores = {search: robin.on(side, search) for search in robin.searches}
    any_draws = any(score.draws for score in scores.values())
    caption = f"{side[0].upper()}{side[1:]}. Interval: 95 % Clopper-Pearson of the games won."
    return Table(
        caption + (" Score: a draw counts one half." if any_draws else ""),
        ["Search", "Wins", "Games", "Win rate", "95 % interval", *(["Draws", "Score"] if any_draws else [])],
        [
            [search, *_texts(score), *([str(score.draws), f"{100 * score.mean:.1f} %"] if any_draws else [])]
            for search, score in scores.items()
        ],
    )


def _texts(score: Score) -> tuple[str, ...]:
    low, high = (100 * end for end in clopper_pearson(score.wins, score.games))
    rate = f"{100 * score.wins / score.games:.1f} %"
    return str(score.wins), str(score.games), rate, f"{low:.1f} - {high:.1f} %"


def _never_lost(robin: RoundRobin) -> Iterator[Block]:
    """Section VI-B counts the games that cheating players lose in Phantom."""
    encounters = [
        (score if first in CHEATING else Score(), score.turned if second in CHEATING else Score())
        for (first, second), score in robin.scores.items()
        if first in CHEATING or second in CHEATING
    ]
    if robin.game[0] == PHANTOM and encounters:
        games = sum(max(first.games, second.games) for first, second in encounters)
        lost = sum(first.losses + second.losses for first, second in encounters)
        yield Paragraph(
            f"Searches that cheat lost {lost} of the {games} games in which one took part (published: 0 of 37880)."
        )


def _increases(columns: Columns) -> Sequence[Sequence[str]]:
    lines = []
    for who, (without, seeing) in hidden_cards(columns).items():
        more = contrast([(1.0, wilson(*seeing)), (-1.0, wilson(*without))])
        rates = (f"{wins} of {games} ({100 * wins / games:.1f} %)" for wins, games in (without, seeing))
        value, low, high = (f"{THOUSAND * each:+.0f}" for each in (more.value, more.low, more.high))
        lines.append([who, *rates, value, f"{low} to {high}", f"+{INCREASES[who]}"])
    return lines
