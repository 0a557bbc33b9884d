"""The experiments of the two earlier papers: who plays whom, the round robin, the pictures and the statements."""

from fractions import Fraction

import attrs
import pytest
from matplotlib.image import imread

from experiments import claims, figures
from experiments.papers import earlier
from experiments.plan import loading
from experiments.plan.definition import from_settings
from experiments.ratings import SEARCHES, RoundRobin, Score, hidden_cards, round_robins, search_name
from experiments.results import Tally
from experiments.verdicts import AGREES, DISAGREES, UNDECIDED, Interim, decide
from icarus.engine.scheme import MO_ISMCTS, SCHEMES
from tests.experiments.conftest import a_row, keep
from tests.experiments.test_figures import ink

PAPER = ["Cheating UCT", "Cheating ensemble UCT", "Determinized UCT", "SO-ISMCTS", "SO-ISMCTS + POM", "MO-ISMCTS"]


def columns_of(name, games, won, drawn=lambda cell: 0.0, **changes):
    """Results of an experiment in which each cell wins and draws the given shares."""
    experiment = loading.load(name, changes)
    columns = {}
    for tally in map(Tally, experiment.cells):
        tally.games, tally.wins, tally.draws = games, round(won(tally.cell) * games), round(drawn(tally.cell) * games)
        columns.setdefault(tally.cell.column, []).append(tally)
    return columns


def names(cell):
    return search_name(cell.spec.scheme), search_name(cell.column.opponent.scheme)


# ------------------------------------------------------------------------------------------------------- who plays whom

UCT_40 = "DeterminizedUCT(determinizations=40)"
THREE = ["Determinized UCT", "SO-ISMCTS", "MO-ISMCTS"]
OTHERS = [(one, other) for one in THREE for other in THREE if one != other]


@pytest.mark.parametrize(
    "name, pairs, trials, seats, schemes",
    [
        (
            "searches-phantom",
            [(one, other) for one in PAPER for other in PAPER],
            200,
            {("First", (0,))},
            {"CheatingUCT", "CheatingEnsembleUCT(trees=40)", UCT_40, "SO_ISMCTS", "SO_ISMCTS_POM", "MO_ISMCTS"},
        ),
        ("searches-lotr", [(one, other) for one in PAPER for other in PAPER], 750, {("Light", (0,))}, None),
        ("decision-time-phantom", OTHERS, None, None, None),
        (
            "decision-time-lotr",
            [("MO-ISMCTS", "Determinized UCT")] * 2,
            None,
            {("Light", (0,)), ("Dark", (1,))},
            {
                "MO_ISMCTS with EXP3",
                "DeterminizedUCT(determinizations=1) with EXP3",
                "DeterminizedUCT(determinizations=10) with EXP3",
            },
        ),
        (
            "hidden-cards",
            [(agent, THREE[0]) for agent in (PAPER[1], THREE[0])] * 3 + [(THREE[0], PAPER[1]), (PAPER[1], PAPER[1])],
            1000,
            {("Landlord", (0,)), ("Peasant 1", (1,)), ("Peasant 2", (2,))},
            {UCT_40, "CheatingEnsembleUCT(trees=40)"},
        ),
    ],
)
def test_who_plays_whom_is_as_published(name, pairs, trials, seats, schemes):
    changes = {"seconds": [1.0]} if name.startswith("decision-time") else {}
    experiment = loading.load(name, changes)
    assert sorted(names(cell) for cell in experiment.cells) == sorted(pairs)
    assert trials in (None, experiment.trials)
    assert seats is None or {(column.role, column.seats) for column in experiment.columns} == seats
    players = {
        (str(spec.strategy), str(spec.scheme))
        for cell in experiment.cells
        for spec in (cell.spec, cell.column.opponent)
    }
    assert {strategy for strategy, _ in players} == {"BASELINE"}
    assert schemes is None or {scheme for _, scheme in players} == schemes


def test_in_lotr_determinized_uct_has_one_tree_as_light_and_ten_as_dark_and_exp3_chooses_cards():
    cells = loading.load("searches-lotr", {}).cells
    light, dark = {str(cell.spec.scheme) for cell in cells}, {str(cell.column.opponent.scheme) for cell in cells}
    assert all(scheme.endswith(" with EXP3") for scheme in light | dark)
    assert "DeterminizedUCT(determinizations=1) with EXP3" in light
    assert "DeterminizedUCT(determinizations=10) with EXP3" in dark
    assert "CheatingEnsembleUCT(trees=10) with EXP3" in light & dark


def test_determinizations_vary_at_a_fixed_total_and_at_a_fixed_size_and_other_totals_keep_the_proportions():
    lotr = loading.load("determinizations-lotr", {})  # Figure 6
    assert [(column.role, str(column.opponent.scheme)) for column in lotr.columns] == [
        (role, f"{UCT_40} with EXP3") for role in ("Light", "Dark")
    ]
    assert {cell.iterations for cell in lotr.cells} == {10_000}
    assert {"1 × 10000", "40 × 250"} <= {cell.agent for cell in lotr.cells}
    experiment = loading.load("determinizations-dou-di-zhu", {})  # Figs. 2 to 4 of 2011
    (column,) = experiment.columns
    assert (str(column.opponent.scheme), column.iterations, column.seats) == (UCT_40, 10_000, (0,))
    assert (experiment.trials, experiment.paired) == (1000, True)
    assert len({experiment.game_seed(cell, 7) for cell in experiment.cells}) == 1
    played = {cell.agent: cell for cell in experiment.cells}
    expected = {f"{number} × {each}" for number in (1, 100) for each in (50, 100, 250, 500)}  # Fig. 2
    expected |= {f"{number} × {each}" for number in (5, 10, 25, 40) for each in (25, 1000)}  # Fig. 3
    # Fig. 4: ⌊2500/75⌋ = 33, ⌊15000/75⌋ = 200
    assert expected | {"1 × 2500", "75 × 33", "75 × 200", "40 × 375", "100 × 150"} <= set(played)
    assert played["75 × 33"].iterations == 2475
    assert str(played["75 × 33"].spec.scheme) == "DeterminizedUCT(determinizations=75)"
    tenth = {cell.agent: cell for cell in loading.load("determinizations-dou-di-zhu", {"iterations": 1000}).cells}
    assert {cell.column.iterations for cell in tenth.values()} == {1000}
    assert {"100 × 50", "40 × 100", "75 × 3"} <= set(tenth)  # 500, 1000 and ⌊2500/75⌋, a tenth of each first


@pytest.mark.parametrize("name", earlier.EARLIER)
def test_an_experiment_is_read_back_and_its_games_are_different(name):
    experiment = loading.load(name, {"trials": 2})
    assert from_settings(experiment.settings()) == experiment
    assert len({cell.key for cell in experiment.cells}) == len(experiment.cells)


# ------------------------------------------------------------------------------------------------------- round robin

ROBIN = RoundRobin(
    ("phantom-mnk", "", "9 s"),
    {
        ("Cheating UCT", "Cheating UCT"): Score(wins=1, draws=8, games=10),
        ("Cheating UCT", "MO-ISMCTS"): Score(7, 1, 10),
        ("MO-ISMCTS", "Cheating UCT"): Score(2, 2, 10),
        ("MO-ISMCTS", "MO-ISMCTS"): Score(5, 1, 10),
    },
)


def test_scores_of_a_side_are_added_over_all_opponents_where_all_have_met():
    assert ROBIN.first("Cheating UCT") == Score(1 + 7, 8 + 1, 20)
    assert ROBIN.second("Cheating UCT") == Score(1 + 6, 8 + 2, 20)  # 10 - 1 - 8 and 10 - 2 - 2 lost by the first seat
    assert ROBIN.both("Cheating UCT") == Score(15, 19, 40)
    assert ROBIN.both("Cheating UCT").mean == (15 + 19 / 2) / 40
    some = {pair: score for pair, score in ROBIN.scores.items() if pair[0] != pair[1]}
    assert ROBIN.complete and not RoundRobin(ROBIN.game, some).complete


def test_agents_in_the_second_seat_are_turned_round():
    experiment = loading.load("searches-phantom", {"iterations": 50})
    cell = next(cell for cell in experiment.cells if names(cell) == ("SO-ISMCTS", "MO-ISMCTS"))
    turned = attrs.evolve(cell, column=attrs.evolve(cell.column, seats=(1,)))
    (robin,) = round_robins({turned.column: [Tally(turned, games=10, wins=6, draws=1)]})
    assert robin.scores == {("MO-ISMCTS", "SO-ISMCTS"): Score(wins=3, draws=1, games=10)}


def test_every_scheme_has_the_name_of_its_paper():
    assert set(SEARCHES) == {*SCHEMES, "RIS_ISMCTS"}  # which rows still name
    assert list(SEARCHES.values()) == [*PAPER, "RIS-ISMCTS"]
    assert search_name(MO_ISMCTS) == "MO-ISMCTS"


# ---------------------------------------------------------------------------------------------------------- pictures


ORDERED = ["SO-ISMCTS + POM", "SO-ISMCTS", "Determinized UCT", "MO-ISMCTS", "Cheating UCT", "Cheating ensemble UCT"]
strength_of = ORDERED.index  # a replication in which the paper's order of Phantom holds, by far


def as_published(cell):
    player, opponent = names(cell)
    return 0.4 + 0.06 * (strength_of(player) - strength_of(opponent))


@pytest.mark.parametrize(
    "name",
    [
        "searches-phantom",
        "hidden-cards",
        "decision-time-phantom",
        *(  # pictures of the same kinds
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("searches-lotr", "determinizations-lotr", "determinizations-dou-di-zhu", "decision-time-lotr")
        ),
    ],
)
def test_each_experiment_has_its_pictures_with_a_caption(tmp_path, name):
    experiment = loading.load(name, {})
    columns = columns_of(name, 40, lambda cell: 0.5)
    drawn = figures.draw(columns, tmp_path, experiment.pictures)
    assert [path.name for path in drawn] == [f"{picture}.png" for picture in experiment.pictures]
    for path in drawn:
        assert 0.01 < ink(path)[0] < 0.95
        assert "20" in figures.caption(path, experiment)
        assert path.with_suffix(".svg").read_text().rstrip().endswith("</svg>")


def test_the_heat_map_is_white_where_the_first_seat_wins_all_and_black_where_the_second_does(tmp_path):
    def shades(rate):
        """The shares of black and of white in a picture."""
        columns = columns_of("searches-phantom", 50, lambda cell: rate)
        image = imread(figures.draw(columns, tmp_path / str(rate), ["heat-map"])[0])[:, :, :3].mean(axis=2)
        return float((image < 0.02).mean()), float((image > 0.98).mean())

    lost, even, won = map(shades, (0.0, 0.5, 1.0))
    assert lost[0] > even[0] + 0.4 and won[1] > even[1] + 0.4
    assert abs(lost[1] - even[1]) < 0.05 and abs(won[0] - even[0]) < 0.05


def test_half_of_the_draws_stands_on_top_of_the_wins():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    figures._score_bars(axes, [Score(3, 4, 10), Score(1, 0, 10)])
    bars = [(round(bar.get_y(), 9), round(bar.get_height(), 9)) for bar in axes.patches]
    assert bars == [(0, 0.3), (0, 0.1), (0.3, 0.2), (0.1, 0)]


def test_pictures_of_a_run_without_games_are_left_out(tmp_path):
    for name in earlier.EARLIER:
        experiment = loading.load(name, {})
        assert figures.draw(columns_of(name, 0, lambda cell: 0), tmp_path, experiment.pictures) == []


def test_who_sees_hidden_cards_is_compared_with_the_same_player_not_seeing():
    """Wins of 1000 as in the paper: 433 for the landlord among equals, and Table 2's increases."""
    blind, seeing = "Determinized UCT", "Cheating ensemble UCT"
    wins = {(0, blind, seeing): 433 - 210, (0, seeing, seeing): 433 - 127}
    for seat, (equal, increase) in enumerate(((433, 69), (567, 86), (567, 119))):
        wins |= {(seat, blind, blind): equal, (seat, seeing, blind): equal + increase}
    comparisons = hidden_cards(
        columns_of("hidden-cards", 1000, lambda cell: Fraction(wins[cell.column.seats[0], *names(cell)], 1000))
    )
    assert [sees[0] - without[0] for without, sees in comparisons.values()] == [69, 86, 119, 210, 127]
    assert {games for pair in comparisons.values() for _, games in pair} == {1000}


# --------------------------------------------------------------------------------------------------------- statements


def verdicts(columns):
    (estimator,) = claims.estimators(columns).values()
    return {claim.text: decide(claim, [Interim(estimator)]) for claim in claims.SEARCH_CLAIMS}


ORDER, FIRST_PLAYER, _, ORDER_OF_WINS, *_ = (claim.text for claim in claims.SEARCH_CLAIMS)


def test_the_order_of_phantom_agrees_where_the_intervals_separate():
    decisions = verdicts(columns_of("searches-phantom", 10_000, as_published))
    assert decisions[ORDER].verdict == AGREES
    assert decisions[FIRST_PLAYER].verdict == DISAGREES  # in this replication SO-ISMCTS and MO-ISMCTS are not on a par
    few = verdicts(columns_of("searches-phantom", 4, as_published))[ORDER]
    assert few.verdict == UNDECIDED
    assert few.more > 0


def test_the_order_of_phantom_disagrees_if_two_are_the_other_way_round():
    swapped = {"MO-ISMCTS": 2, "Determinized UCT": 3}

    def rate(cell):
        strength, opponent_strength = (swapped.get(name, strength_of(name)) for name in names(cell))
        return 0.4 + 0.06 * (strength - opponent_strength)

    decision = verdicts(columns_of("searches-phantom", 10_000, rate))[ORDER]
    assert decision.verdict == DISAGREES
    assert [outcome.verdict for outcome in decision.outcomes] == [AGREES, AGREES, DISAGREES, AGREES, AGREES]


def test_what_a_draw_counts_is_told_apart():
    """Cheating players who draw whatever they do not win are the strongest if a draw is half a win, and not if it is nothing."""

    def won(cell):
        player, opponent = names(cell)
        return 0.1 if "Cheating" in player + opponent else as_published(cell)

    drawn = {"Cheating ensemble UCT": 0.85, "Cheating UCT": 0.7}
    decisions = verdicts(columns_of("searches-phantom", 10_000, won, lambda cell: drawn.get(names(cell)[0], 0)))
    half, nothing = (decisions[text].outcomes[1] for text in (ORDER, ORDER_OF_WINS))  # cheating UCT against MO-ISMCTS
    assert half.comparison.what == "Cheating UCT higher than MO-ISMCTS"
    assert nothing.comparison.what == "Cheating UCT higher than MO-ISMCTS (games won)"
    assert half.estimate.value > nothing.estimate.value + 0.1
    assert nothing.verdict == DISAGREES


def test_lotr_as_the_paper_tells_it_agrees():
    """As Light cheating ensemble UCT is on a par with ISMCTS and determinized UCT 4.4 % worse; as Dark these three are apart."""
    light = {"Cheating UCT": 0.25, "Determinized UCT": -0.044}
    dark = {"Cheating UCT": 0.25, "Cheating ensemble UCT": 0.1, "Determinized UCT": -0.15}
    decisions = verdicts(
        columns_of(
            "searches-lotr", 20_000, lambda cell: 0.5 + light.get(names(cell)[0], 0) - dark.get(names(cell)[1], 0)
        )
    )
    played = {text: decision.verdict for text, decision in decisions.items() if decision.outcomes[0].estimate}
    assert len(played) == 6
    assert set(played.values()) == {AGREES}
    (mine,) = (decision for text, decision in decisions.items() if "by 4.4 %" in text)
    assert mine.outcomes[0].estimate.value == pytest.approx(0.044)


def test_dou_di_zhu_as_the_paper_tells_it_agrees():
    increase = {"Landlord": 0.069, "Peasant 1": 0.086, "Peasant 2": 0.119}

    def rate(cell):
        player, others = names(cell)
        if others == "Cheating ensemble UCT":
            return 0.433 - (0.21 if player == "Determinized UCT" else 0.127)
        return (0.433 if cell.column.role == "Landlord" else 0.567) + (
            increase[cell.column.role] if player != others else 0
        )

    decisions = verdicts(columns_of("hidden-cards", 100_000, rate))
    played = {text: decision for text, decision in decisions.items() if decision.outcomes[0].estimate}
    assert [decision.verdict for decision in played.values()] == [AGREES, AGREES]
    assert [outcome.estimate.value for decision in played.values() for outcome in decision.outcomes] == pytest.approx(
        [0.069, 0.086, 0.119, 0.21, 0.127]
    )


def test_determinizations_are_compared_at_the_whole_total_and_at_the_size_of_the_opponents():
    """1 worse than 20 at 10,000 in all, and at 250 each; 20 and 40 alike at 10,000 in all; 40 of 25 worse than 40 of 300 and more."""

    def rate(cell):
        number, each = map(int, cell.agent.split(" × "))
        if number == 40 and each != 250:
            return 0.2 if each == 25 else 0.6
        if 9_900 < number * each <= 10_000:
            return 0.35 if number == 1 else 0.45
        return (0.1 if number == 1 else 0.3) if each == 250 else 0.9

    by_statement = verdicts(columns_of("determinizations-dou-di-zhu", 100_000, rate))
    played = [decision for decision in by_statement.values() if decision.outcomes[0].estimate]
    assert [decision.verdict for decision in played] == [AGREES] * 5
    assert [decision.outcomes[0].estimate.value for decision in played] == pytest.approx([0.2, 0.4, 0.0, 0.1, 0.0])
    by_statement = verdicts(
        columns_of("determinizations-lotr", 10_000, lambda cell: 0.73 if cell.agent.startswith("1 ") else 0.5)
    )
    decisions = [decision for decision in by_statement.values() if decision.outcomes[0].estimate]
    assert [decision.verdict for decision in decisions] == [AGREES]
    assert decisions[0].outcomes[0].estimate.value == pytest.approx(0.23)


def test_the_report_of_a_round_robin_holds_tables_pictures_statements_and_the_games_lost_by_cheating(tmp_path, call):
    experiment = loading.load("searches-phantom", {"trials": 4, "iterations": 100})
    outcomes = [(1.0, 0.0), (0.5, 0.5), (1.0, 0.0), (0.0, 1.0)]
    rows = (
        a_row(cell, trial, reward=outcomes[trial][0], returns=list(outcomes[trial]), win=outcomes[trial][0] == 1.0)
        for cell in experiment.cells
        for trial in range(4)
    )
    directory = keep(tmp_path / "run", experiment, rows)
    assert call("report", directory)[0] == 0
    report = (directory / "report.md").read_text()
    assert (
        "| Cheating UCT | 12 | 24 | 50.0 % | 29.1 - 70.9 % | 6 | 62.5 % |" in report
    )  # as player 1: 2 wins and a draw each
    # A cheating first seat (12 pairs) loses 1 of 4, a cheating second (12 pairs) 2 of 4; one of the two cheats in 20 pairs.
    assert "Searches that cheat lost 36 of the 80 games in which one took part (published: 0 of 37880)." in report
    assert "](figures/heat-map.png)" in report
    assert "](figures/strength.png)" in report
    assert "Papers against ours: 100 iterations per decision" in report
    assert report.count("cheating: it sees what is hidden") > 4
    assert "statements of the papers of 2011 and 2012" in call("claims", directory)[1]


def test_the_parts_of_an_experiment_have_deals_of_their_own():
    experiment = loading.load("hidden-cards", {"trials": 3})
    seeds = [
        {experiment.game_seed(cell, 0) for cell in experiment.cells if cell.column == column}
        for column in experiment.columns
    ]
    assert [len(column_seeds) for column_seeds in seeds] == [1, 1, 1, 1]  # the same deals for both agents of a column
    assert len(set.union(*seeds)) == 4
