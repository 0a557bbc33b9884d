"""The two earlier papers against ours: what they say of searches, as data, and what the rows of any runs say to it."""

from collections.abc import Iterator
from functools import partial

from experiments.papers.earlier import BALANCE, DETERMINIZATIONS, DOU_DI_ZHU, LOTR, PHANTOM, TREES
from experiments.plan.definition import AgentSpec, Cell, Column, Label, budget, game_title
from experiments.ratings import ALL_SEE, Score, by_trees, hidden_cards, round_robins, search_name
from experiments.statistics import smallest_difference
from experiments.store.results import Columns, Results, Tally
from experiments.verdicts import (
    SCORE,
    WINS,
    Claim,
    Comparison,
    Decision,
    Estimator,
    Expectation,
    Interim,
    Place,
    Term,
    all_of,
    decide,
    details_table,
    higher,
    margin,
    rule,
    same,
    summary_table,
    tally_sentence,
)
from icarus.checks import count_text
from icarus.engine.scheme import MO_ISMCTS
from icarus.views.document import Block, Heading, Paragraph

SOURCE = "the papers of 2011 and 2012"
LIGHT, DARK = "Light", "Dark"
FIRST, SECOND, BOTH = "player 1", "player 2", "players 1 + 2"
CHEATING, ENSEMBLE, DETERMINIZED, SO, POM, MO = (
    "Cheating UCT",
    "Cheating ensemble UCT",
    "Determinized UCT",
    "SO-ISMCTS",
    "SO-ISMCTS + POM",
    "MO-ISMCTS",
)
EQUAL = "trees as large as theirs"  # as the opponents', of 250 iterations
EQUAL_TREES = f"Landlord, {EQUAL}"
AS_MANY = "as many trees as theirs"  # as the opponents': 40
MANY_TREES = f"Landlord, {AS_MANY}"
LEAST, LEVEL, MOST = (
    25,
    300,
    1000,
)  # iterations of a tree in Fig. 3 of 2011: the first point, where strength levels off, the last
SEEING, BLIND = "seeing", "not seeing"
LOTR_GAMES = 6 * 750  # of a search in a role of LOTR:C: six opponents
PHANTOM_GAMES = 6 * 37_880 // 20  # … in a seat of Phantom; 20 of the 36 pairs have a cheating player
ROLE, SEAT, SEATS = map(smallest_difference, (LOTR_GAMES, PHANTOM_GAMES, 2 * PHANTOM_GAMES))
CELL_2012, CELL_2011 = smallest_difference(750), smallest_difference(1000)
RULE = rule(
    "LOTR:C: 2.1 % for two searches in a role; Phantom: 0.9 % in both seats, 1.3 % in one; 5.1 % and 4.4 % for two players of 750 "
    "games in LOTR:C and of 1000 in Dou Di Zhu"
)
RULE += " In a round robin a cell is a search against all. Where nothing else is said, a draw counts one half."


def trees_text(number: int) -> str:
    return count_text(number, "determinization")


def size_text(iterations: int) -> str:
    return f"{iterations} iterations of each"


def _versus(game: str, side: str, search: str, expected: Expectation, rival: str, measure: str = SCORE) -> Comparison:
    terms = Term(1.0, (game, side), (search,)), Term(-1.0, (game, side), (rival,))
    what = f"{search} {expected.text} {rival}" + (" (games won)" if measure == WINS else "")
    return Comparison(f"{game_title(game)}, {side}", what, terms, expected, measure)


def _sees(who: str) -> Comparison:
    return _versus(DOU_DI_ZHU, who, SEEING, higher(CELL_2011), BLIND)


_ORDER = (ENSEMBLE, CHEATING, MO, DETERMINIZED, SO, POM)
_VARIANTS = (SO, POM, MO)


def _phantom(measure: str) -> tuple[Claim, ...]:
    """Section VI-B, which does not say what a draw counts: one half, or nothing."""
    reading = "a draw one half" if measure == SCORE else "games won only"
    on = partial(_versus, PHANTOM, measure=measure)
    return (
        all_of(
            f"Phantom (4,4,4), {reading}; from best to worst: cheating ensemble UCT, cheating UCT, MO-ISMCTS, determinized UCT, "
            "SO-ISMCTS, SO-ISMCTS + POM; each difference is significant.",
            [on(BOTH, search, higher(SEATS), rival) for search, rival in zip(_ORDER, _ORDER[1:], strict=False)],
        ),
        all_of(
            f"Phantom (4,4,4), player 1, {reading}: SO-ISMCTS and MO-ISMCTS are on a par while SO-ISMCTS + POM underperforms.",
            [on(FIRST, SO, same(margin(SEAT)), MO), on(FIRST, SO, higher(SEAT), POM), on(FIRST, MO, higher(SEAT), POM)],
        ),
        all_of(
            f"Phantom (4,4,4), player 2, {reading}: SO-ISMCTS is outperformed by SO-ISMCTS + POM, which is outperformed by "
            "MO-ISMCTS.",
            [on(SECOND, POM, higher(SEAT), SO), on(SECOND, MO, higher(SEAT), POM)],
        ),
    )


CLAIMS = (
    *_phantom(SCORE),
    *_phantom(WINS),
    all_of(
        "LOTR:C: cheating single-tree UCT outperforms the other searches by a large margin.",
        [
            _versus(LOTR, side, CHEATING, higher(ROLE), rival)
            for side in (LIGHT, DARK)
            for rival in (ENSEMBLE, MO, SO, POM, DETERMINIZED)
        ],
    ),
    all_of(
        "LOTR:C as Dark: cheating ensemble UCT outperforms ISMCTS.",
        [_versus(LOTR, DARK, ENSEMBLE, higher(ROLE), rival) for rival in _VARIANTS],
    ),
    all_of(
        "LOTR:C as Light: cheating ensemble UCT and ISMCTS are on a par.",
        [_versus(LOTR, LIGHT, ENSEMBLE, same(margin(ROLE)), rival) for rival in _VARIANTS],
    ),
    all_of(
        "LOTR:C as Dark: determinized UCT is outperformed by all three ISMCTS variants.",
        [_versus(LOTR, DARK, rival, higher(ROLE), DETERMINIZED) for rival in _VARIANTS],
    ),
    all_of(
        "LOTR:C as Light: MO-ISMCTS is better than determinized UCT (by 4.4 %).",
        [_versus(LOTR, LIGHT, MO, higher(ROLE), DETERMINIZED)],
    ),
    all_of(
        "LOTR:C: there is no significant difference between the variants of ISMCTS.",
        [
            _versus(LOTR, side, agent, same(margin(ROLE)), rival)
            for side in (LIGHT, DARK)
            for agent, rival in ((MO, SO), (MO, POM), (SO, POM))
        ],
    ),
    all_of(
        "LOTR:C as Light: at a fixed total a single determinization outperforms 40 (by 22.9 %).",
        [_versus(LOTR, f"{LIGHT}, trees", trees_text(1), higher(CELL_2012), trees_text(TREES))],
    ),
    all_of(
        "Dou Di Zhu: with 250 iterations of each, strength increases rapidly with the determinizations up to 20.",
        [_versus(DOU_DI_ZHU, EQUAL_TREES, trees_text(20), higher(CELL_2011), trees_text(1))],
    ),
    all_of(
        "Dou Di Zhu: with 40 determinizations, strength increases with the iterations of each up to 300 ...",
        [_versus(DOU_DI_ZHU, MANY_TREES, size_text(LEVEL), higher(CELL_2011), size_text(LEAST))],
    ),
    all_of(
        "... and levels off beyond 300.",
        [_versus(DOU_DI_ZHU, MANY_TREES, size_text(MOST), same(margin(CELL_2011)), size_text(LEVEL))],
    ),
    all_of(
        "Dou Di Zhu: at a fixed total, strength increases with the determinizations up to about 20 ...",
        [_versus(DOU_DI_ZHU, "Landlord, trees", trees_text(20), higher(CELL_2011), trees_text(1))],
    ),
    all_of(
        "... and beyond 20 more of them make no significant difference.",
        [_versus(DOU_DI_ZHU, "Landlord, trees", trees_text(TREES), same(margin(CELL_2011)), trees_text(20))],
    ),
    all_of(
        "Dou Di Zhu: whoever sees the others' cards wins more (of 1000 games, player 1: 69, player 2: 86, player 3: 119, both: 210).",
        map(_sees, ("player 1", "player 2", "player 3", "players 2 and 3")),
    ),
    all_of("Dou Di Zhu: if all three see all cards, the peasants win more (127 of 1000 games).", [_sees(ALL_SEE)]),
)


def estimators(columns: Columns) -> dict[str, Estimator]:
    """The results by budget per decision: of each search on each side of a round robin, where all have met, and of whatever else is
    compared. (Of a search's games those few against the one that it is compared with count as if they were others.)"""
    budgets: dict[str, Columns] = {}
    for column, tallies in columns.items():
        if not column.variant and (tallies := [tally for tally in tallies if tally.games]):
            budgets.setdefault(budget(column), {})[column] = tallies
    return {
        name: Estimator(
            [_tally(*count) for groups in (_of_round_robins, _of_hidden_cards, _of_trees) for count in groups(matching)]
        )
        for name, matching in budgets.items()
    }


def _tally(place: Place, player: str, score: Score) -> Tally:
    """A score as that of an agent in a column of its own."""
    column = Column(
        game=place[0], variant="", role=place[1], seats=(), opponent=AgentSpec(Label("")), iterations=None, seconds=None
    )
    return Tally(Cell(column, player, AgentSpec(Label(player))), score.games, score.wins, score.draws)


Found = Iterator[tuple[Place, str, Score]]


def _of_round_robins(columns: Columns) -> Found:
    for robin in (robin for robin in round_robins(columns) if robin.complete):
        for side in robin.sides:
            for search in robin.searches:
                yield (robin.game[0], side), search, robin.on(side, search)


def _of_hidden_cards(columns: Columns) -> Found:
    for who, sides in hidden_cards(
        {column: tallies for column, tallies in columns.items() if column.game == DOU_DI_ZHU}
    ).items():
        for player, (wins, games) in zip((BLIND, SEEING), sides, strict=True):
            yield (DOU_DI_ZHU, who), player, Score(wins, 0, games)


def _of_trees(columns: Columns) -> Found:
    for column, tallies in columns.items():
        if search_name(column.opponent.scheme) == DETERMINIZED and column.role and column.iterations:
            each = column.iterations // TREES
            whole = [tally for tally in tallies if _spends(tally.cell.iterations, column.iterations)]
            equal = [tally for tally in tallies if tally.cell.iterations == each * tally.cell.spec.scheme.trees]
            for side, group in ((f"{column.role}, trees", whole), (f"{column.role}, {EQUAL}", equal)):
                for number, tally in by_trees(group).items():
                    yield (column.game, side), trees_text(number), _score(tally)
            as_many = [tally for tally in tallies if TREES in by_trees([tally])]
            for tally in as_many:
                assert tally.cell.iterations is not None
                size = size_text(tally.cell.iterations // TREES)
                yield (column.game, f"{column.role}, {AS_MANY}"), size, _score(tally)


def _score(tally: Tally) -> Score:
    return Score(tally.wins, tally.draws, tally.games)


def _spends(iterations: int | None, total: int) -> bool:
    """Whether all iterations are spent, but for those that a division leaves over."""
    return iterations is not None and total - max(*BALANCE, *DETERMINIZATIONS) < iterations <= total


def decisions(results: Results) -> dict[str, list[Decision]]:
    """The claims of which something was played, for each budget per decision."""
    columns = results.columns()
    if not is_searched(columns):
        return {}
    decided = {
        name: [decide(claim, [Interim(estimator)]) for claim in CLAIMS]
        for name, estimator in estimators(columns).items()
    }
    estimated = {name: [decision for decision in all_ if decision.is_estimated] for name, all_ in decided.items()}
    return {name: decisions for name, decisions in estimated.items() if decisions}


def is_searched(columns: Columns) -> bool:
    """Whether any agent or opponent has another scheme than the usual one."""
    return any(
        MO_ISMCTS != tally.cell.spec.scheme or MO_ISMCTS != column.opponent.scheme
        for column, tallies in columns.items()
        for tally in tallies
    )


def blocks(results: Results) -> Iterator[Block]:
    """The table "papers against ours"; nothing where none of their searches were played."""
    for name, each in decisions(results).items():
        yield Heading(f"Papers against ours: {name} per decision")
        yield Paragraph(tally_sentence(each, SOURCE))
        yield Paragraph(RULE)
        yield summary_table(each)
        yield details_table(each)
