"""The paper against ours: what section 8 states, as data, and what the rows of any runs say to it."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from experiments.interims import CAMPAIGN, INTERIM_GAMES, SHARES, Sizes, count_sentence, sizes_text, states_table
from experiments.papers.combinations import COMBINATIONS, Combination
from experiments.papers.suite import EPISODES, RULES, SUITE, TABLE_1
from experiments.plan.definition import budget
from experiments.statistics import smallest_difference
from experiments.store.results import Results, Tally
from experiments.verdicts import (
    DEPTH,
    VALUE,
    VISITS,
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
    different,
    higher,
    lower,
    margin,
    not_higher,
    not_lower,
    place_of,
    place_title,
    rule,
    same,
    summary_table,
    tally_sentence,
    within,
)
from icarus.views.document import Block, Heading, Paragraph

LANDLORD, HEARTS, LIGHT, DARK, CHECKERS, OTHELLO, BACKGAMMON = PLACES = tuple(INTERIM_GAMES)
STRATEGIES = {**TABLE_1, "EPIC": EPISODES["EPIC"], **RULES}
TRIALS = 1000  # games of a combination in the paper, at least
CELL, AVERAGE = smallest_difference(TRIALS), smallest_difference(8 * TRIALS)
CELLS, AVERAGES = (r / math.sqrt(len(PLACES)) for r in (CELL, AVERAGE))  # … over all games
TENTH, THIRD = math.log(1.1), math.log(1.3)  # "often 10–30%"
VISITED = math.log(1.02)  # a difference in visits found with the games of two combinations
MARKED = 0.02  # of a reward; the paper gives no size
HALF_A_PLY = 0.5  # "one ply deeper"
SLIGHT = 0.1  # of win rate: rules of reuse further apart are "terribly marked"
OFTEN, GENERALLY = 1 / 3, 1 / 2  # of all cases at least, and more than: no size is given
SOURCE = "section 8"
RULE = rule(
    "4.4 % for two combinations of 1000 games, 1.5 % for the averages of 8000, less for averages over all games; m is 7.9 %, 2.8 % and "
    "less"
)
INTERIM_RULE = (
    "The games are analysed after {} of each cell. Each interim analysis but the last has 1/6 of the 5 %, the last has one half. An "
    "interim analysis counts the first games of each cell only. The first that decides a comparison decides it for good. So the order in "
    "which games are played, and when one stops, cannot make a verdict wrong more often."
)
ANALYSIS = 0.999  # the level of the analysis of variance


def versus(place: Place, agent: str, expected: Expectation, rival: str, measure: str = WINS) -> Comparison:
    """Two agents in a game."""
    terms = Term(1.0, place, (STRATEGIES[agent],)), Term(-1.0, place, (STRATEGIES[rival],))
    return Comparison(place_title(place), _sides(agent, expected, rival, measure), terms, expected, measure)


def average(
    enhancement: str, place: Place, expected: Expectation, among: Sequence[Combination] = COMBINATIONS
) -> Comparison:
    """Figure 3: the combinations with an enhancement and those without; eight each, where it is among all."""
    terms = _averages(enhancement, [place], among)
    return Comparison(place_title(place), _with_and_without(enhancement, expected), terms, expected)


def overall(agent: str, expected: Expectation, rival: str, measure: str = WINS) -> Comparison:
    """Two agents over all games, each game with the same weight."""
    terms = _over_all([(1.0, (STRATEGIES[agent],)), (-1.0, (STRATEGIES[rival],))])
    return Comparison("all games", _sides(agent, expected, rival, measure), terms, expected, measure)


def average_overall(enhancement: str, expected: Expectation, among: Sequence[Combination] = COMBINATIONS) -> Comparison:
    """The same over all games, each game with the same weight."""
    terms = _averages(enhancement, PLACES, among)
    return Comparison("all games", _with_and_without(enhancement, expected), terms, expected)


def analysis(enhancement: str) -> Comparison:
    """The effect of an enhancement in the analysis of variance over all results."""
    expected = higher(AVERAGES)
    terms = _averages(enhancement, PLACES, COMBINATIONS)
    return Comparison(
        "all games", _with_and_without(enhancement, expected), terms, expected, confidence=ANALYSIS, pooled=True
    )


def combined_overall(name: str, expected: Expectation) -> Comparison:
    """All combinations with an enhancement and others, against the enhancement alone, over all games."""
    more = tuple(c.strategy for c in COMBINATIONS if name in c.name and c.name != name)
    terms = _over_all([(1.0, more), (-1.0, (STRATEGIES[name],))])
    return Comparison("all games", f"combinations with {name} {expected.text} {name}", terms, expected)


def _over_all(sides: Sequence[tuple[float, tuple[str, ...]]]) -> tuple[Term, ...]:
    return tuple(Term(sign / len(PLACES), place, strategies) for place in PLACES for sign, strategies in sides)


def _with_and_without(enhancement: str, expected: Expectation) -> str:
    return f"with {enhancement} {expected.text} without"


def _averages(enhancement: str, places: Sequence[Place], among: Sequence[Combination]) -> tuple[Term, ...]:
    sides = {
        sign: tuple(c.strategy for c in among if (enhancement in c.enhancements) == featured)
        for sign, featured in ((1.0, True), (-1.0, False))
    }
    return tuple(Term(sign / len(places), place, strategies) for place in places for sign, strategies in sides.items())


def _gain_over(place: Place, compared: Place) -> Comparison:
    """Whether EPIC gains more over the baseline in one game than in another."""
    terms = tuple(
        Term(weight * sign, where, (STRATEGIES[name],))
        for sign, where in ((1.0, place), (-1.0, compared))
        for weight, name in ((1.0, "EPIC"), (-1.0, "-"))
    )
    return Comparison(place_title(place), f"gain of EPIC higher than in {place_title(compared)}", terms, higher(CELL))


def _sides(agent: str, expected: Expectation, rival: str, measure: str) -> str:
    return ("" if measure == WINS else f"{measure}: ") + f"{_text(agent)} {expected.text} {_text(rival)}"


def _text(agent: str) -> str:
    return "the baseline" if agent == "-" else agent


def _several(text: str, cases: Iterable[tuple[Comparison, ...]], share: float, quote: str) -> Claim:
    """A statement that needs at least a share of its cases, and at least one."""
    all_cases = tuple(cases)
    return Claim(text, all_cases, max(1, math.ceil(share * len(all_cases))), quote)


def _beats(place: Place, combination: str) -> tuple[Comparison, ...]:
    """A combination against each of its parts alone."""
    return tuple(versus(place, combination, higher(CELL), part) for part in combination)


_some = partial(_several, share=0.0)
_IMPERFECT = (LANDLORD, HEARTS, LIGHT, DARK)
_TREES = ("-", "L", "R", "M")
_LINEAR = tuple(c.name for c in COMBINATIONS if "/" in c.strategy)  # linear combinations in the simulation
_visits, _value, _depth = (partial(versus, measure=measure) for measure in (VISITS, VALUE, DEPTH))

CLAIMS = (
    all_of(
        "NAST is a significant improvement in all games but LOTR:C as Light and Checkers, where it makes no such difference.",
        [
            average("NAST", place, same(margin(AVERAGE)) if place in (LIGHT, CHECKERS) else higher(AVERAGE))
            for place in PLACES
        ],
        "NAST provides a significant improvement for almost all games (the exceptions being LOTR:C as Light and Checkers, where there is "
        "no significant difference between players with and without NAST).",
    ),
    all_of(
        "Analysis of variance over all results: NAST is an improvement significant at the 99.9 % level.",
        [analysis("NAST")],
        "Analysis of variance (ANOVA) over all results shows that NAST yields an improvement significant at the 99.9% level.",
    ),
    _some(
        "In some game NAST is an improvement and LGRF is not.",
        [
            (average("NAST", place, higher(AVERAGE)), average("LGRF", place, not_higher(margin(AVERAGE))))
            for place in PLACES
        ],
        quote="NAST provides an improvement even in cases where LGRF does not",
    ),
    all_of(
        "RAVE is detrimental in Hearts and in LOTR:C as Dark.",
        [average("RAVE", place, lower(AVERAGE)) for place in (HEARTS, DARK)],
        "It is actually detrimental to performance in Hearts, and as the Dark player in LOTR:C",
    ),
    all_of(
        "RAVE makes no significant difference in Dou Di Zhu and in LOTR:C as Light.",
        [average("RAVE", place, same(margin(AVERAGE))) for place in (LANDLORD, LIGHT)],
        "For Dou Di Zhu and LOTR:C as the Light player, RAVE did not make matters worse, but nor did it significantly improve playing "
        "strength.",
    ),
    all_of(
        "RAVE is significantly beneficial in Checkers, and in no other game.",
        [
            average("RAVE", place, higher(AVERAGE) if place == CHECKERS else not_higher(margin(AVERAGE)))
            for place in PLACES
        ],
        "The only game where RAVE is significantly beneficial in our experiments is Checkers.",
    ),
    *(
        all_of(
            f"{name} is never detrimental to a significant degree.",
            [average(name, place, not_lower(margin(AVERAGE))) for place in PLACES],
            "MAST, LGRF and NAST are more robust enhancements than RAVE: they are … never detrimental to a statistically significant "
            "degree.",
        )
        for name in ("MAST", "LGRF", "NAST")
    ),
    *(
        _some(
            f"{name} is beneficial in some game.",
            [(average(name, place, higher(AVERAGE)),) for place in PLACES],
            quote="MAST, LGRF and NAST are more robust enhancements than RAVE: they are sometimes beneficial",
        )
        for name in ("MAST", "LGRF", "NAST")
    ),
    all_of(
        "Over all games, ε-greedy and UCB1 are stronger rules of reuse for MAST than Gibbs, and not weaker than the roulette wheel.",
        [
            overall(agent, expected, rival)
            for agent in ("ε-greedy", "UCB1")
            for rival, expected in (("Gibbs", higher(CELLS)), ("Roulette", not_lower(margin(CELLS))))
        ],
        "We observed that ϵ-greedy and UCB1 offered the most consistently strong simulation policy",
    ),
    all_of(
        "Over all games, the Gibbs rule of MAST is worse than each of the others.",
        [overall("Gibbs", lower(CELLS), rival) for rival in ("ε-greedy", "UCB1", "Roulette")],
        "the Gibbs sampling approach which is standard in MAST is generally slightly worse than the other methods",
    ),
    all_of(
        "Over all games, no two of the four rules of reuse differ by more than 10 %.",
        [overall(agent, same(SLIGHT), rival) for i, agent in enumerate(RULES) for rival in list(RULES)[i + 1 :]],
        "although sensitivity to the sampling method is not terribly marked.",
    ),
    all_of(
        "LGRF alone is over all games no better than the baseline by more than the margin.",
        [overall("L", not_higher(margin(CELLS)), "-")],
        "LGRF produced limited improvements on its own",
    ),
    all_of(
        "NL beats N and L in Dou Di Zhu, although L is significantly worse than the baseline.",
        [*_beats(LANDLORD, "NL"), versus(LANDLORD, "L", lower(CELL), "-")],
        "consider NL beat both N and L for Dou Di Zhu, despite L being significantly worse than -",
    ),
    all_of(
        "ML beats M and L in LOTR:C as Dark, although L is no different from the baseline.",
        [*_beats(DARK, "ML"), versus(DARK, "L", same(margin(CELL)), "-")],
        "ML beat both M and L for LOTR:C as Dark despite no significant difference between - and L",
    ),
    _several(
        "Linear combinations beat each of their parts in at least a third of all cases (a case: a combination in a game).",
        [_beats(place, combination) for place in PLACES for combination in _LINEAR],
        OFTEN,
        "linear combinations of the enhancements are often greater than the sum of their parts.",
    ),
    all_of(
        "Over all games, the combinations with MAST are better than those without.",
        [average_overall("MAST", higher(AVERAGES))],
        "MAST was generally effective across all games",
    ),
    all_of(
        "Over all games, the combinations of MAST with others are better than MAST alone.",
        [combined_overall("M", higher(CELLS))],
        "but proved even more effective in combination",
    ),
    all_of(
        "RML beats R, M and L in LOTR:C as Light.",
        _beats(LIGHT, "RML"),
        "RML beat all of R, M and L for LOTR:C as Light",
    ),
    all_of(
        "NRL beats N, R and L in LOTR:C as Light.", _beats(LIGHT, "NRL"), "LOTR:C as Light (NRL beat all of N, R and L)"
    ),
    all_of(
        "N is better than the baseline in every game.",
        [versus(place, "N", higher(CELL), "-") for place in PLACES],
        "NAST performed strongly across all games",
    ),
    all_of(
        "In every game the chosen action has significantly more visits with NAST than for the baseline, LGRF, RAVE and MAST.",
        [_visits(place, "N", higher(VISITED), rival) for rival in _TREES for place in PLACES],
        "the final number of visits for the chosen action is significantly … higher for NAST than for the baseline and LGRF, RAVE or MAST.",
    ),
    _several(
        "In at least a third of all cases (a case: another tree in a game), these are 10–30 % more.",
        [
            (_visits(place, "N", within(TENTH, THIRD, "10-30 % higher than"), rival),)
            for rival in _TREES
            for place in PLACES
        ],
        OFTEN,
        "(often 10–30%)",
    ),
    _several(
        "In most games the reward that NAST assigns to the chosen action differs by more than 0.02 from that with RAVE, MAST and LGRF.",
        [tuple(_value(place, "N", different(MARKED), rival) for rival in ("R", "M", "L")) for place in PLACES],
        GENERALLY,
        "The average reward assigned by NAST to the chosen action is also markedly different from that in trees using other enhancements",
    ),
    all_of(
        "Over all games, RAVE's deepest node is one ply (± ½) deeper than with the baseline, NAST, MAST and LGRF.",
        [
            overall("R", within(HALF_A_PLY, 3 * HALF_A_PLY, "one ply (± ½) deeper than"), rival, DEPTH)
            for rival in ("-", "N", "M", "L")
        ],
        "RAVE tends to construct deeper trees, with the deepest node being on average one ply deeper than for the other algorithms.",
    ),
    all_of(
        "Of the enhancements only RAVE changes the depth of the tree by more than half a ply.",
        [
            *(_depth(place, "R", different(HALF_A_PLY), "-") for place in PLACES),
            *(_depth(place, rival, same(HALF_A_PLY), "-") for rival in ("N", "M", "L") for place in PLACES),
        ],
        "Of the enhancements tested here, only RAVE has a significant impact on the depth of the MCTS tree.",
    ),
    all_of(
        "With RAVE the visits of the chosen action are within 10 % of those without.",
        [_visits(place, "R", same(TENTH), "-") for place in PLACES],
        "the degree of exploitation at the root is the same as without RAVE",
    ),
    all_of(
        "NAST is significantly better than EPIC in Othello.",
        [versus(OTHELLO, "N", higher(CELL), "EPIC")],
        "In Othello we find that NAST is significantly better than EPIC",
    ),
    all_of(
        "In all other games NAST and EPIC perform the same.",
        [versus(place, "EPIC", same(margin(CELL)), "N") for place in PLACES if place != OTHELLO],
        "in all other cases, NAST and EPIC have the same performance within 95% significance.",
    ),
    all_of(
        "EPIC is in no game worse than the baseline (robust: where no clear benefit, not detrimental).",
        [versus(place, "EPIC", not_lower(margin(CELL)), "-") for place in PLACES],
        "we can conclude that EPIC is at least as robust as NAST for the games studied",
    ),
    all_of(
        "EPIC significantly outperforms the baseline even in Othello.",
        [versus(OTHELLO, "EPIC", higher(CELL), "-")],
        "(even in the case of Othello, EPIC significantly outperforms the baseline player).",
    ),
    all_of(
        "EPIC is a significant improvement in Dou Di Zhu, Hearts, LOTR:C and Backgammon.",
        [versus(place, "EPIC", higher(CELL), "-") for place in (*_IMPERFECT, BACKGAMMON)],
        "so that the improvements due to EPIC, while significant, are not so marked.",
    ),
    all_of(
        "EPIC works in Checkers and Othello too.",
        [versus(place, "EPIC", higher(CELL), "-") for place in (CHECKERS, OTHELLO)],
        "This works in both games, but for Othello proves less effective than simply fixing the episode length to 2 (i.e. using NAST).",
    ),
    all_of(
        "EPIC's improvement is more marked in Dou Di Zhu than in Hearts, LOTR:C and Backgammon.",
        [_gain_over(LANDLORD, rival) for rival in (HEARTS, LIGHT, DARK, BACKGAMMON)],
        "The effectiveness of EPIC is particularly marked for Dou Di Zhu, which has a strongly episodic nature",
    ),
)


def decisions(results: Results) -> dict[str, list[Decision]]:
    """All claims, for each budget per decision with which one of the paper's games was played against the baseline."""
    return {name: [decide(claim, interims) for claim in CLAIMS] for name, interims in interims_of(results).items()}


def interims_of(results: Results, sizes: Sizes = INTERIM_GAMES) -> dict[str, list[Interim]]:
    """The interim analyses of each budget: those planned for the games of a campaign, else a single one of all games."""
    if not has_interims(results):
        return {name: [Interim(Estimator(tallies))] for name, tallies in _by_budget(results.tallies()).items()}
    interims: dict[str, list[Interim]] = {name: [] for name in _by_budget(results.tallies())}
    for number, share in enumerate(SHARES):
        whole: list[Tally] = []
        for games in sorted({games_of_cell[number] for games_of_cell in sizes.values()}):
            whole += [
                tally
                for tally in results.tallies(games)
                if tally.games == games == sizes.get(place_of(tally.cell), (0,) * len(SHARES))[number]
            ]
        complete = _by_budget(whole)
        for name, of_budget in interims.items():
            of_budget.append(Interim(Estimator(complete.get(name, [])), share))
    return interims


def _by_budget(tallies: Iterable[Tally]) -> dict[str, list[Tally]]:
    """Those of the paper's games, against the baseline."""
    groups: dict[str, list[Tally]] = {}
    for tally in tallies:
        column = tally.cell.column
        usual = place_of(tally.cell) in PLACES and not column.variant
        if tally.games and usual and column.opponent.text == TABLE_1["-"]:
            groups.setdefault(budget(column), []).append(tally)
    return groups


def blocks(results: Results) -> Iterator[Block]:
    """The table "paper against ours" of an experiment of the paper, where one of its comparisons was played.

    An experiment of one's own has agents of the paper for reasons of its own: `claims` tells on request what they say.
    """
    if not all(run.experiment.name in (*SUITE, CAMPAIGN) for run in results.runs):
        return
    for name, interims in interims_of(results).items():
        decisions = [decide(claim, interims) for claim in CLAIMS]
        estimated = any(decision.is_estimated for decision in decisions)
        if not (has_interims(results) or estimated):
            continue
        yield Heading(f"Paper against ours: {name} per decision")
        yield Paragraph(count_sentence(decisions) if has_interims(results) else tally_sentence(decisions, SOURCE))
        yield Paragraph(RULE)
        if has_interims(results):
            yield Paragraph(INTERIM_RULE.format(sizes_text(INTERIM_GAMES)))
            games = {(place_of(cell), cell.spec.text): count for cell, count in results.unbroken().items()}
            yield states_table(decisions, games, INTERIM_GAMES)
        yield summary_table(decisions, quoted=True)
        if estimated:
            yield details_table(decisions)


def has_interims(results: Results) -> bool:
    """Whether the games are those of the campaign, whose statements are tested at interim analyses."""
    return all(run.experiment.name == CAMPAIGN for run in results.runs)
