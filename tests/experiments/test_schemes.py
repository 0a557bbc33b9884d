"""Agents and opponents with schemes: keys, tables, rows, and how cheating is told."""

import hashlib
import json

from experiments.plan import loading
from experiments.plan.definition import from_settings, title
from experiments.report import measures_of, state_of
from experiments.results import results_of
from experiments.run import row, trial_of
from tests.experiments.conftest import a_row, built, keep


def digest(*parts):
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def test_the_key_of_a_cell_without_a_scheme_is_that_of_rows_that_exist():
    key = digest("othello", 0, 1, "RAVE", "BASELINE", 100, None)
    assert built().cells[0].key == key
    assert (
        built(agents={"a": {"strategy": "RAVE", "scheme": "MO_ISMCTS"}}, opponent={"scheme": "MO_ISMCTS"}).cells[0].key
        == key
    )
    # … as section 8's first games have it, played before there were schemes
    assert (
        loading.load("section8", {}).cells[0].key
        == digest("dou-di-zhu", 0, "BASELINE", "BASELINE", 5000, None)
        == "2ac70aaf6c53a070"
    )


def test_the_scheme_of_either_side_and_iterations_of_ones_own_are_parts_of_the_key():
    cells = [
        built(agents={"a": agent}, opponent=opponent).cells[0]
        for agent in (
            "RAVE",
            {"strategy": "RAVE", "scheme": "SO_ISMCTS"},
            {"strategy": "RAVE", "iterations": 50},
            {"strategy": "RAVE", "scheme": "SO_ISMCTS with EXP3"},
        )
        for opponent in ("BASELINE", {"scheme": "DeterminizedUCT(4)"}, {"scheme": "DeterminizedUCT(5)"})
    ]
    assert len({cell.key for cell in cells}) == 12


def test_iterations_of_ones_own_that_are_the_same_as_all_others_are_no_difference():
    explicit, plain = (built(agents={"a": agent}).cells[0] for agent in ({"iterations": 100}, "BASELINE"))
    assert explicit == plain
    assert explicit.is_opponent
    assert not built(agents={"a": {"iterations": 99}}).cells[0].is_opponent


def test_settings_without_schemes_are_as_they_were_before():
    cell = built().settings()["cells"][0]
    assert list(cell) == ["column", "agent", "strategy", "module"]
    assert list(cell["column"]) == ["game", "variant", "role", "seats", "opponent", "iterations", "seconds"]


def test_settings_with_schemes_are_read_back():
    agents = {"a": {"scheme": "DeterminizedUCT(4) with EXP3", "iterations": 7}, "b": "RAVE"}
    experiment = built(agents=agents, opponent=[{"scheme": "CheatingUCT"}, "BASELINE"])
    assert from_settings(json.loads(json.dumps(experiment.settings()))) == experiment
    assert {str(cell.spec.scheme) for cell in experiment.cells} == {
        "DeterminizedUCT(determinizations=4) with EXP3",
        "MO_ISMCTS",
    }


def test_schemes_are_read_from_a_file(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(
        'games = "kuhn-poker"\niterations = 50\nopponent = { scheme = "SO_ISMCTS" }\nagents.plain = "RAVE"\n'
        'agents.determinized = { strategy = "BASELINE >> MAST", scheme = "DeterminizedUCT(10)", iterations = 20 }\n'
    )
    plain, determinized = loading.load(str(path), {}).cells
    assert (str(plain.spec.strategy), str(plain.spec.scheme), plain.iterations) == ("RAVE", "MO_ISMCTS", 50)
    assert (str(determinized.spec.strategy), determinized.iterations) == ("BASELINE >> MAST", 20)
    assert determinized.spec.text == "BASELINE >> MAST by DeterminizedUCT(determinizations=10)"
    assert plain.column.opponent.text == "BASELINE by SO_ISMCTS"


def test_a_scheme_may_be_a_value_in_a_python_file(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(
        "from icarus import DeterminizedUCT\n"
        "EXPERIMENT = {'games': 'othello', 'agents': {'a': {'scheme': DeterminizedUCT(3)}}, 'iterations': 9}\n"
    )
    assert str(loading.load(str(path), {}).cells[0].spec.scheme) == "DeterminizedUCT(determinizations=3)"


def test_roles_choose_seats_by_their_names():
    columns = [
        column
        for game in ("dou-di-zhu", "phantom-mnk")
        for column in built(
            games=game, roles={"dou-di-zhu": ["Peasant 2", "Landlord"], "phantom-mnk": "Second"}[game]
        ).columns
    ]
    assert [(column.role, column.seats) for column in columns] == [
        ("Peasant 2", (2,)),
        ("Landlord", (0,)),
        ("Second", (1,)),
    ]


def test_a_game_is_played_by_these_searches_with_their_own_iterations():
    agents = {"a": {"scheme": "DeterminizedUCT(4)", "iterations": 24}}
    experiment = built(games="kuhn-poker", agents=agents, opponent={"scheme": "CheatingUCT"}, iterations=9, seats=0)
    cell = experiment.cells[0]
    game = row(trial_of(experiment, cell, 0))
    assert game["strategy"] == "BASELINE by DeterminizedUCT(determinizations=4)"
    assert game["opponent"] == "BASELINE by CheatingUCT"
    assert (game["iterations"], game["opponent_iterations"]) == (24, 9)
    assert game["statistics"]["agent"]["iterations"] == 24
    assert game["statistics"]["opponents"]["iterations"] == 9


def test_what_cheats_says_so_by_its_name_and_wherever_its_games_are_shown(tmp_path):
    experiment = built(
        games="phantom-mnk",
        roles="First",
        opponent={"scheme": "CheatingUCT"},
        agents={
            "best": {"scheme": "CheatingEnsembleUCT"},
            "Cheating UCT": {"scheme": "CheatingUCT"},
            "fair": "BASELINE",
        },
    )
    assert [cell.agent for cell in experiment.cells] == ["best (cheating)", "Cheating UCT", "fair"]
    column = experiment.columns[0]
    assert title(column).endswith("against BASELINE by CheatingUCT (cheating: it sees what is hidden)")
    results = results_of(keep(tmp_path, experiment, (a_row(cell, 0) for cell in experiment.cells)))
    assert "cheating" in state_of(results, running=False)
    tallies = results.tallies()
    assert "cheating" in title(column, [column])
    assert ["cheating" in tally.cell.spec.caption for tally in tallies] == [True, True, False]


def test_drawn_games_of_two_are_counted_and_worth_half(tmp_path):
    experiment = built(trials=5)
    cell = experiment.cells[0]
    outcomes = [(1.0, 0.0), (0.5, 0.5), (0.0, 1.0), (0.5, 0.5)]
    rows = [
        a_row(cell, trial, reward=reward, returns=[reward, opponent_reward], win=reward == 1.0)
        for trial, (reward, opponent_reward) in enumerate(outcomes)
    ]
    results = results_of(keep(tmp_path, experiment, rows))
    (tally,) = results.tallies()
    assert (tally.wins, tally.draws, tally.games, tally.score) == (1, 2, 4, 0.5)
    assert measures_of([tally])[0][4:6] == ["Draws", "Score"]


def test_half_a_reward_among_four_is_no_draw(tmp_path):
    experiment = built(games="hearts")
    row = a_row(experiment.cells[0], 0, reward=0.5, returns=[0.5, 0.5, 1.0, 0.0], win=False)
    results = results_of(keep(tmp_path, experiment, [row]))
    assert results.tallies()[0].draws == 0


def test_seconds_can_be_given_to_the_command(tmp_path):
    changes = {"seconds": [0.5, 1.0]}
    assert {column.seconds for column in loading.load("searches-phantom", changes).columns} == {0.5, 1.0}
    assert {column.iterations for column in loading.load("searches-phantom", changes).columns} == {None}
