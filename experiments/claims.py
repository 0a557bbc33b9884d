"""The papers against ours: what they state, from the files of `experiments/papers`, and what the rows of any runs say to it."""

import math
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, product
from pathlib import Path
from typing import Any

import attrs

from experiments import papers, verdicts
from experiments.interims import (
    CAMPAIGN,
    GAMES_TEXT,
    INTERIM_GAMES,
    SHARES,
    count_sentence,
    states_table,
)
from experiments.plan.cells import Cell, Column, budget, game_title
from experiments.ratings import by_strategy, by_trees, hidden_cards, round_robins, search_name
from experiments.results import Columns, Results, Score, Tally
from experiments.statistics import smallest_difference
from experiments.verdicts import (
    WINS,
    Claim,
    ComparedSide,
    Contrast,
    Estimator,
    Expectation,
    Interim,
    Judgement,
    Place,
)
from icarus.arena.player import Entrant
from icarus.checks import count_text
from icarus.engine.scheme import MO_ISMCTS
from icarus.views.document import Block, Heading, Paragraph

STATEMENTS = Path(__file__).parent / "papers"
PARTS = "its parts"  # rivals: each enhancement of a combination alone
ClaimEntry = Mapping[str, Any]  # a comparison in a file of statements
# of an entry's agents, rivals and places one of each
Compare = Callable[[ClaimEntry, str, str, str], Contrast]

# --------------------------------------------------------------------------------------------- statements from files


def read_claims(file: str, compare: Compare, everywhere: Sequence[str] = ()) -> tuple[Claim, ...]:
    """The statements of a file, whose head explains it.

    Args:
        everywhere: the places of comparisons that name none.
    """
    statements = tomllib.loads((STATEMENTS / file).read_text("utf-8"))["statement"]
    return tuple(_claim(statement, compare, everywhere) for statement in statements)


def _claim(statement: ClaimEntry, compare: Compare, everywhere: Sequence[str]) -> Claim:
    """A statement: each comparison is a case, or if they hold together all those of a place and an agent are one."""
    entries: Sequence[ClaimEntry] = statement["compare"]
    cases = list[tuple[Contrast, ...]]()
    if statement.get("together"):
        for place, agent in product(everywhere, _several(entries[0].get("agents", ""))):
            case = list[Contrast]()
            for entry in entries:
                case += _unfold({**entry, "in": place, "agents": agent}, compare, ())
            cases.append(tuple(case))
    else:
        for entry in entries:
            cases += [(each,) for each in _unfold(entry, compare, everywhere)]
    share = Fraction(statement.get("share", 1))
    needed = max(1, math.ceil(share * len(cases)))
    return Claim(statement["text"], tuple(cases), needed, statement.get("quote", ""))


def _unfold(entry: ClaimEntry, compare: Compare, everywhere: Sequence[str]) -> Iterator[Contrast]:
    """The comparisons of an entry: of each of its agents with each rival in each place."""
    otherwise = dict[str, str]()  # what is expected, by place
    for expected, places in entry.get("but", {}).items():
        otherwise |= dict.fromkeys(places, expected)
    for agent in _several(entry.get("agents", "")):
        # the name of a combination has a letter for each part
        rivals = agent if entry.get("rivals") == PARTS else _several(entry.get("rivals", ""))
        for rival, place in product(rivals, _several(entry.get("in", everywhere))):
            yield compare({**entry, "is": otherwise.get(place, entry["is"])}, agent, rival, place)


def _several(texts: str | Sequence[str]) -> Sequence[str]:
    return (texts,) if isinstance(texts, str) else texts


def _expected(entry: ClaimEntry, r: float) -> Expectation:
    """What an entry expects; r is the smallest difference that its paper could have found."""
    scale = math.log if entry.get("measure") == verdicts.VISITS else float
    by = entry.get("by")
    if isinstance(by, list):
        low, high = by
        return verdicts.within(scale(low), scale(high), entry["is"])
    expectation, is_difference = verdicts.EXPECTATIONS[entry["is"]]
    if by:
        return expectation(scale(by))
    return expectation(r if is_difference else verdicts.margin(r))


@attrs.frozen
class Paper:
    """What is stated together.

    Attributes:
        source: where, in words.
        interims_of: the interim analyses of results, by budget per decision.
        only_played: whether statements of which nothing was played are left out.
    """

    heading: str
    source: str
    rule: str
    claims: tuple[Claim, ...]
    interims_of: Callable[[Results], Mapping[str, Sequence[Interim]]]
    only_played: bool

    def decisions(self, results: Results) -> dict[str, list[Judgement]]:
        """What the games say of the statements, for each budget per decision."""
        decided = dict[str, list[Judgement]]()
        for name, interims in self.interims_of(results).items():
            judged = [verdicts.decide(claim, interims) for claim in self.claims]
            if answers := [each for each in judged if each.is_estimated or not self.only_played]:
                decided[name] = answers
        return decided


# ------------------------------------------------------------------------------------------------------------ section 8

LANDLORD, HEARTS, LIGHT, DARK, CHECKERS, OTHELLO, BACKGAMMON = PLACES = tuple(INTERIM_GAMES)
NAMED = {  # by the names that statements have for them
    "Landlord": LANDLORD,
    "Hearts": HEARTS,
    "Light": LIGHT,
    "Dark": DARK,
    "Checkers": CHECKERS,
    "Othello": OTHELLO,
    "Backgammon": BACKGAMMON,
}
STRATEGIES = {**papers.TABLE_1, "EPIC": papers.EPISODES["EPIC"], **papers.RULES}
SIDES = {  # of comparisons, by the names that statements have for them
    **{name: (strategy,) for name, strategy in STRATEGIES.items()},
    "combinations with M": tuple(
        c.strategy for c in papers.COMBINATIONS if "M" in c.name and c.name != "M"
    ),
}
TRIALS = 1000  # games of a combination in the paper, at least
CELL = smallest_difference(TRIALS)
ANALYSIS = 0.999  # the level of the analysis of variance
INTERIM_RULE = (
    "The games are analysed after {} of each cell. Each interim analysis but the last has 1/6 of the 5 %, the last has one half. An "
    "interim analysis counts the first games of each cell only. The first that decides a comparison decides it for good. So the order in "
    "which games are played, and when one stops, cannot make a verdict wrong more often."
)


def halves(
    enhancement: str, among: Sequence[papers.Combination] = papers.COMBINATIONS
) -> list[tuple[str, ...]]:
    """Figure 3: the combinations with an enhancement and those without; eight each, where it is among all."""
    return [
        tuple(c.strategy for c in among if (enhancement in c.enhancements) == featured)
        for featured in (True, False)
    ]


def versus(
    place: Place | None, agent: str, expected: Expectation, rival: str, measure: str = WINS
) -> Contrast:
    """Two of the `SIDES` in a game, or over all games."""
    names = ["the baseline" if name == "-" else name for name in (agent, rival)]
    what = ("" if measure == WINS else f"{measure}: ") + f"{names[0]} {expected.text} {names[1]}"
    return compare(place, [SIDES[agent], SIDES[rival]], what, expected, measure)


def compare(
    place: Place | None,
    sides: Sequence[tuple[str, ...]],
    what: str,
    expected: Expectation,
    measure: str = WINS,
) -> Contrast:
    """Of two sides in a game, or over all games, each game with the same weight."""
    places = PLACES if place is None else (place,)
    terms = [
        ComparedSide(sign / len(places), at, side)
        for at in places
        for sign, side in zip((1.0, -1.0), sides, strict=True)
    ]
    where = "all games" if place is None else verdicts.place_title(place)
    return Contrast(where, what, tuple(terms), expected, measure)


def _gain_over(name: str, place: Place, compared: Place) -> Contrast:
    """Whether an agent gains more over the baseline in one game than in another."""
    agent, baseline = (STRATEGIES[name],), (STRATEGIES["-"],)
    terms = (
        ComparedSide(1.0, place, agent),
        ComparedSide(-1.0, place, baseline),
        ComparedSide(-1.0, compared, agent),
        ComparedSide(1.0, compared, baseline),
    )
    what = f"gain of {name} higher than in {verdicts.place_title(compared)}"
    return Contrast(verdicts.place_title(place), what, terms, verdicts.higher(CELL))


def _in_section_8(entry: ClaimEntry, agent: str, rival: str, where: str) -> Contrast:
    """A comparison of section 8.

    Args:
        rival: whom the agent is compared with; of a gain the game with which it is compared.
        where: a game, by its name in the file, or all games.
    """
    place = NAMED.get(where)
    if place and "gain" in entry:
        return _gain_over(entry["gain"], place, NAMED[rival])
    # "with" compares the eight combinations that have an enhancement with the eight others
    games = 8 * TRIALS if "with" in entry else TRIALS
    smallest = smallest_difference(games)
    if place is None:  # the error of a mean over all places is smaller
        smallest /= math.sqrt(len(PLACES))
    expected = _expected(entry, smallest)
    if "with" not in entry:
        return versus(place, agent, expected, rival, entry.get("measure", WINS))
    what = f"with {entry['with']} {expected.text} without"
    comparison = compare(place, halves(entry["with"]), what, expected)
    if entry.get("analysed"):
        return attrs.evolve(comparison, confidence=ANALYSIS, pooled=True)
    return comparison


CLAIMS = read_claims("statements-2014.toml", _in_section_8, tuple(NAMED))


def interims_of(results: Results) -> dict[str, list[Interim]]:
    """The interim analyses of each budget with which one of the paper's games was played against the baseline: those planned for the
    games of a campaign, else a single one of all games."""
    budgets = _by_budget(results.tallies())
    if not has_interims(results):
        return {name: [Interim(Estimator(tallies))] for name, tallies in budgets.items()}
    interims: dict[str, list[Interim]] = {name: [] for name in budgets}
    for number, share in enumerate(SHARES):
        due = {cell: INTERIM_GAMES[verdicts.place_of(cell)][number] for cell in results.cells}
        tallies = [each for each in results.tallies(due) if each.games == due[each.cell]]
        complete = _by_budget(tallies)
        for name, of_budget in interims.items():
            of_budget.append(Interim(Estimator(complete.get(name, [])), share))
    return interims


def _by_budget(tallies: Iterable[Tally]) -> dict[str, list[Tally]]:
    """Those of the paper's games, against the baseline."""
    groups: dict[str, list[Tally]] = {}
    for tally in tallies:
        column = tally.cell.column
        usual = verdicts.place_of(tally.cell) in PLACES and not column.variant
        if tally.games and usual and column.opponent.text == papers.TABLE_1["-"]:
            groups.setdefault(budget(column), []).append(tally)
    return groups


def has_interims(results: Results) -> bool:
    """Whether the games are those of the campaign, whose statements are tested at interim analyses; an experiment of one's own may have
    its name."""
    is_named_so = all(run.name == CAMPAIGN for run in results.runs.values())
    return is_named_so and all(verdicts.place_of(cell) in INTERIM_GAMES for cell in results.cells)


# ----------------------------------------------------------------------------------------------- the two earlier papers

CELL_2012, CELL_2011 = smallest_difference(750), smallest_difference(1000)
LOTR_GAMES = 6 * 750  # of a search in a role of LOTR:C: six opponents
# … in a seat of Phantom; 20 of the 36 pairs have a cheating player
PHANTOM_GAMES = 6 * 37_880 // 20
FOUND = {  # the smallest differences of two searches, by game and side
    **{(papers.LOTR, role): smallest_difference(LOTR_GAMES) for role in ("Light", "Dark")},
    **{(papers.PHANTOM, f"player {seat}"): smallest_difference(PHANTOM_GAMES) for seat in (1, 2)},
    (papers.PHANTOM, "players 1 + 2"): smallest_difference(2 * PHANTOM_GAMES),
}


def _of_searches(entry: ClaimEntry, agent: str, rival: str, name: str) -> Contrast:
    game, _, side = name.partition(", ")
    measure = entry.get("measure", verdicts.SCORE)
    place = (game, side)
    expected = _expected(entry, FOUND.get(place, CELL_2012 if game == papers.LOTR else CELL_2011))
    what = f"{agent} {expected.text} {rival}" + (" (games won)" if measure == WINS else "")
    terms = ComparedSide(1.0, place, (agent,)), ComparedSide(-1.0, place, (rival,))
    return Contrast(f"{game_title(game)}, {side}", what, terms, expected, measure)


SEARCH_CLAIMS = read_claims("statements-2011-2012.toml", _of_searches)


def search_interims(results: Results) -> dict[str, list[Interim]]:
    """One analysis of each budget, of all games; nothing where all agents search as section 8's do."""
    columns = results.columns()
    if not is_searched(columns):
        return {}
    return {name: [Interim(each)] for name, each in estimators(columns).items()}


def estimators(columns: Columns) -> dict[str, Estimator]:
    """The results by budget per decision: of each search on each side of a round robin, where all have met, and of whatever else is
    compared. (A search's few games against the one that it is compared with count like its games against others.)"""
    usual = {column: tallies for column, tallies in columns.items() if not column.variant}
    estimators = {}
    for name, matching in by_strategy(usual).items():
        scores = chain(_of_round_robins(matching), _of_hidden_cards(matching), _of_trees(matching))
        estimators[name] = Estimator([_tally(*each) for each in scores])
    return estimators


def _tally(place: Place, player: str, score: Score) -> Tally:
    """A score as that of an agent in a column of its own."""
    column = Column(
        game=place[0],
        variant="",
        role=place[1],
        seats=(),
        opponent=Entrant(),
        iterations=None,
        seconds=None,
    )
    cell = Cell(column, player, Entrant(player))
    return Tally(score.wins, score.draws, score.games, cell=cell)


Found = Iterator[tuple[Place, str, Score]]


def _of_round_robins(columns: Columns) -> Found:
    for robin in round_robins(columns):
        if not robin.complete:
            continue
        for side, search in product(robin.sides, robin.searches):
            yield (robin.game[0], side), search, robin.on(side, search)


def _of_hidden_cards(columns: Columns) -> Found:
    for who, sides in hidden_cards(columns).items():
        for player, (wins, games) in zip(("not seeing", "seeing"), sides, strict=True):
            yield (papers.DOU_DI_ZHU, who), player, Score(wins, 0, games)


def _of_trees(columns: Columns) -> Found:
    for column, tallies in columns.items():
        total = column.iterations
        if search_name(column.opponent) != "Determinized UCT" or not column.role or not total:
            continue
        if len(by_trees(tallies)) != 1:  # else one name stands for several searches
            continue
        # all iterations are spent, but for those that a division among the trees leaves over
        least = total - max(*papers.BALANCE, *papers.DETERMINIZATIONS)
        whole, equal = list[Tally](), list[Tally]()
        for tally in tallies:
            search = tally.cell.spec.search
            iterations = tally.cell.own_iterations or total
            if least < iterations <= total:
                whole.append(tally)
            if iterations == total // papers.TREES * search.trees:
                equal.append(tally)
            if search.name == "DeterminizedUCT" and search.trees == papers.TREES:
                size = f"{iterations // papers.TREES} iterations of each"
                yield _side(column, "as many trees as theirs"), size, tally
        for side, group in (("trees", whole), ("trees as large as theirs", equal)):
            for by_number in by_trees(group).values():
                for number, tally in by_number.items():
                    yield _side(column, side), count_text(number, "determinization"), tally


def _side(column: Column, side: str) -> Place:
    return column.game, f"{column.role}, {side}"


def is_searched(columns: Columns) -> bool:
    """Whether any agent or opponent has another scheme than the usual one."""
    for column, tallies in columns.items():
        players = [column.opponent, *(tally.cell.spec for tally in tallies)]
        if any(player.search != MO_ISMCTS for player in players):
            return True
    return False


# ------------------------------------------------------------------------------------------------------- both together

SECTION_8 = Paper(
    "Paper against ours",
    "section 8",
    verdicts.RULE.format(
        "4.4 % for two combinations of 1000 games, 1.5 % for the averages of 8000, less for averages over all games; m is 7.9 %, 2.8 % "
        "and less"
    ),
    CLAIMS,
    interims_of,
    only_played=False,
)
EARLIER = Paper(
    "Papers against ours",
    "the papers of 2011 and 2012",
    verdicts.RULE.format(
        "LOTR:C: 2.1 % for two searches in a role; Phantom: 0.9 % in both seats, 1.3 % in one; 5.1 % and 4.4 % for two players of 750 "
        "games in LOTR:C and of 1000 in Dou Di Zhu"
    )
    + " In a round robin a cell is a search against all. Where nothing else is said, a draw counts one half.",
    SEARCH_CLAIMS,
    search_interims,
    only_played=True,
)
PAPERS = (SECTION_8, EARLIER)


def blocks(paper: Paper, results: Results) -> Iterator[Block]:
    """A paper against ours, where one of its comparisons was played.

    An experiment of one's own has agents of section 8 for reasons of its own: `claims` tells on request what they say.
    """
    if paper == SECTION_8 and not all(
        run.name in (*papers.SUITE, CAMPAIGN) for run in results.runs.values()
    ):
        return
    by_interims = paper == SECTION_8 and has_interims(results)
    for name, decisions in paper.decisions(results).items():
        is_played = any(decision.is_estimated for decision in decisions)
        if not (by_interims or is_played):
            continue
        yield Heading(f"{paper.heading}: {name} per decision")
        yield Paragraph(
            count_sentence(decisions)
            if by_interims
            else verdicts.tally_sentence(decisions, paper.source)
        )
        yield Paragraph(paper.rule)
        if by_interims:
            yield Paragraph(INTERIM_RULE.format(GAMES_TEXT))
            games = {
                (verdicts.place_of(cell), cell.text): count
                for cell, count in results.unbroken().items()
            }
            yield states_table(decisions, games)
        yield verdicts.summary_table(decisions, quoted=paper == SECTION_8)
        if is_played:
            yield verdicts.details_table(decisions)
