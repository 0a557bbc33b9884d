"""Cells, seats, seeds, and the tables from which experiments are built."""

import json
import pickle
from pathlib import Path

import pytest

from experiments.papers import sensitivity, suite
from experiments.plan import loading
from experiments.plan.definition import Label, Refusal, from_settings, title
from experiments.run import Trial
from experiments.run import row as play_row
from icarus.arena.workers import workers
from tests.experiments.conftest import built


def base(column):
    return column.game.partition("(")[0]


def test_figure_4_plays_section_8s_seven_columns_with_sixteen_combinations_each():
    experiment = loading.load("figure4", {})
    assert [(base(column), column.role) for column in experiment.columns] == [
        ("dou-di-zhu", "Landlord"),
        ("hearts", ""),
        ("lotr-confrontation", "Light"),
        ("lotr-confrontation", "Dark"),
        ("checkers", ""),
        ("othello", ""),
        ("backgammon", ""),
    ]
    assert len(experiment.cells) == 7 * 16
    assert experiment.trials == 1000
    assert {column.iterations for column in experiment.columns} == {5000}
    assert {str(column.opponent.strategy) for column in experiment.columns} == {"BASELINE"}


def test_the_seats_are_those_of_section_8():
    seats = {(base(column), column.role): column.seats for column in loading.load("figure4", {}).columns}
    assert seats["dou-di-zhu", "Landlord"] == (0,)
    assert seats["lotr-confrontation", "Light"] == (0,)
    assert seats["lotr-confrontation", "Dark"] == (1,)
    assert seats["hearts", ""] == (0, 1, 2, 3)
    assert seats["checkers", ""] == seats["othello", ""] == seats["backgammon", ""] == (0, 1)


def test_half_the_games_of_a_two_player_game_are_played_in_each_seat():
    cell = built().cells[0]
    assert [cell.seat(trial) for trial in range(4)] == [0, 1, 0, 1]


def test_figure_3_plays_the_same_games_as_figure_4():
    figure3, figure4 = (loading.load(name, {"games": ["othello"]}) for name in ("figure3", "figure4"))
    assert figure3.cells == figure4.cells
    assert [figure3.game_seed(cell, 3) for cell in figure3.cells] == [
        figure4.game_seed(cell, 3) for cell in figure4.cells
    ]


def test_figure_5_compares_the_baseline_epic_and_nast():
    assert [str(cell.spec.strategy) for cell in loading.load("figure5", {"games": ["othello"]}).cells] == [
        "BASELINE",
        "BASELINE >> EPIC",
        "BASELINE >> NAST2",
    ]


def test_a_cell_has_the_same_seeds_whatever_else_is_in_the_experiment():
    alone = built(agents={"r": "RAVE"})
    among = built(agents={"m": "BASELINE >> MAST", "rave": "RAVE"}, trials=99, iterations=[5, 100])
    same = [cell for cell in among.cells if str(cell.spec.strategy) == "RAVE" and cell.column.iterations == 100]
    assert [among.game_seed(cell, 2) for cell in same] == [alone.game_seed(alone.cells[0], 2)]


def test_different_games_have_different_seeds():
    experiments = [built(agents=["RAVE", "BASELINE"], iterations=[10, 20], seed=seed) for seed in (0, 1)]
    seeds = [experiment.game_seed(cell, trial) for experiment in experiments for cell, trial in experiment.games()]
    assert len(set(seeds)) == len(seeds) == 2 * 4 * 4


def test_lists_mean_a_grid():
    experiment = built(
        games=["othello"], iterations=[10, 20], opponent=["BASELINE", "RAVE"], agents=["RAVE", "BASELINE >> MAST"]
    )
    assert len(experiment.columns) == 4
    assert len(experiment.cells) == 8


def test_an_experiment_is_read_back_from_its_settings():
    experiment = built(seconds=0.5, iterations=None, seats=[1, 0])
    assert from_settings(experiment.settings()) == experiment


def test_only_unusual_parameters_are_in_a_title():
    experiment = built(games=["knockout-whist", "knockout-whist(players=3)", "lotr-confrontation"])
    assert [title(column, experiment.columns) for column in experiment.columns] == [
        "Knockout Whist",
        "Knockout Whist (players = 3)",
        "LOTR:C (Light)",
        "LOTR:C (Dark)",
    ]
    assert [column.game for column in experiment.columns[:2]] == ["knockout-whist", "knockout-whist(players=3)"]


def test_seats_can_be_chosen():
    assert built(seats=1).columns[0].seats == (1,)
    assert built(seats=[1, 1, 0]).columns[0].seats == (1, 1, 0)
    assert built(seats="rotate").columns[0].seats == (0, 1)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"trails": 3}, "trails: no such key; did you mean trials"),
        ({"trials": 0}, "trials is 0; it must be an integer of at least 1"),
        ({"trials": True}, "trials is True; it must be an integer"),
        ({"iterations": [10, -1]}, "iterations[1] is -1; it must be an integer of at least 1"),
        ({"seconds": 1.0}, "iterations: give either iterations or seconds"),
        ({"iterations": None}, "iterations: give either iterations or seconds"),
        ({"iterations": None, "seconds": 0}, "seconds is 0; it must be a real number above 0"),
        ({"games": ["othello", "otello"]}, "games[1]: no game is called 'otello'; did you mean othello"),
        (
            {"games": ["mine.py"]},
            "games[0]: no game is called 'mine.py'; for a game of your own, name its file in a TOML file",
        ),
        ({"games": "mygame"}, "goofspiel; for a game of your own, name its file in a TOML file"),
        ({"games": []}, "games: the list is empty"),
        ({"games": None}, "games: missing; docs/experiments.md has the keys"),
        ({"games": ["othello", "othello"]}, "is in the experiment twice"),
        ({"agents": {"good": "RAVE", "bad": "RAVE >> MSAT"}}, "agents.bad: "),
        ({"agents": ["RAVE", "RAVE >>"]}, "agents[1]: "),
        ({"agents": {"a": "RAVE", "b": "RAVE"}}, "agents.b: "),
        ({"agents": {"a": 3}}, "agents.a: 3 is not a string"),
        ({"opponent": "NOBODY"}, "opponent: "),
        ({"seats": 2}, "seats: 2 is not"),
        ({"seats": ["rotate"]}, "seats[0]: 'rotate' is not"),
        ({"seed": -1}, "seed is -1; it must be an integer from 0"),
        ({"pictures": ["figure6"]}, "pictures[0]: 'figure6' is unknown"),
        (
            {"agents": {"a": {"scheme": "DeterminisedUCT"}}},
            "agents.a.scheme: 'DeterminisedUCT' is not a scheme; known schemes: MO_ISMCTS",
        ),
        ({"agents": {"a": {"scheme": 4}}}, "agents.a.scheme: 4 is not a string"),
        ({"agents": {"a": {"strategy": "RAVE >>"}}}, "agents.a.strategy: "),
        ({"agents": {"a": {"schema": "SO_ISMCTS"}}}, "agents.a.schema: no such key; did you mean scheme"),
        ({"agents": {"a": {}}}, "agents.a: the table is empty"),
        ({"agents": ["RAVE", "MAST", "RAVE"]}, "agents[2]: RAVE is in the list twice"),
        ({"agents": {}}, "agents: the table is empty; write a line such as mast ="),
        ({"agents": {"a": {"iterations": 0}}}, "agents.a.iterations is 0; it must be an integer of at least 1"),
        ({"agents": ["RAVE", {"scheme": "MO"}]}, "agents[1].scheme: 'MO' is not a scheme"),
        ({"opponent": {"scheme": "DeterminizedUCT(0)"}}, "opponent.scheme: "),
        ({"opponent": ["RAVE", {"iterations": 4}]}, "opponent[1].iterations: no such key"),
        (
            {"agents": {"a": {"scheme": "DeterminizedUCT(101)"}}},
            "iterations: 100 are fewer than the 101 trees of DeterminizedUCT",
        ),
        (
            {"agents": {"a": {"scheme": "DeterminizedUCT(20)", "iterations": 19}}},
            "agents.a.iterations: 19 are fewer than the 20 trees",
        ),
        (
            {"opponent": {"scheme": "CheatingEnsembleUCT(101)"}},
            "iterations: 100 are fewer than the 101 trees of CheatingEnsembleUCT",
        ),
        (
            {"iterations": None, "seconds": 1, "agents": {"a": {"iterations": 4}}},
            "agents: an agent can have iterations of its own only",
        ),
        (
            {"agents": {"a": "RAVE", "b": {"strategy": "RAVE"}}},
            "agents.b: b (RAVE) in othello is in the experiment twice",
        ),
        ({"roles": "Light"}, "roles: the seats of othello have no names"),
        ({"games": "lotr-confrontation", "roles": "Lihgt"}, "roles: 'Lihgt' is unknown; did you mean Light"),
        ({"games": "lotr-confrontation", "roles": "Light", "seats": 0}, "roles: give either roles or seats, not both"),
        ({"pictures": ["heat-map"]}, "seats: heat-map needs agents that keep to one seat"),
        (
            {"games": "dou-di-zhu", "pictures": ["strength"]},
            "pictures: strength shows games of two players, which dou-di-zhu is not",
        ),
    ],
)
def test_a_wrong_table_is_refused_with_the_path_of_the_mistake(changes, message):
    with pytest.raises(Refusal) as refused:
        built(**changes)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_strategy_that_cannot_be_read_is_refused_with_the_position():
    with pytest.raises(Refusal, match="position"):
        built(agents={"a": "BASELINE >> MSAT"})


def test_an_experiment_is_read_from_a_file(tmp_path):
    path = tmp_path / "rave-k.toml"
    path.write_text('games = "othello"\nagents = ["RAVE"]\nseconds = 0.5\ntrials = 7\n')
    experiment = loading.load(str(path), {"iterations": 30})
    assert (experiment.name, experiment.trials) == ("rave-k", 7)
    assert (experiment.columns[0].iterations, experiment.columns[0].seconds) == (30, None)


def test_a_file_that_is_not_toml_is_refused_in_one_sentence(tmp_path):
    path = tmp_path / "bad.toml"
    path.write_text("games = [")
    with pytest.raises(Refusal, match=r"bad\.toml: "):
        loading.load(str(path), {})


OWN = """
import attrs
from icarus.specs import BASELINE, MAST, NAST2, epsilon_greedy
SHARP = attrs.evolve(MAST(epsilon_greedy(0.05)), name="SHARP")
AGENTS = {"plain": BASELINE, "sharp": BASELINE >> SHARP, "text": "BASELINE >> (SHARP + NAST2)/2"}
EXPERIMENT = {"games": "othello", "agents": AGENTS, "iterations": [4, 8], "trials": 2}
"""


def test_an_experiment_is_read_from_a_python_file_with_enhancements_of_its_own(tmp_path):
    path = tmp_path / "sharp.py"
    path.write_text(OWN)
    experiment = loading.load(str(path), {"trials": 3})
    assert (experiment.name, experiment.trials, len(experiment.cells)) == ("sharp", 3, 6)
    assert [str(cell.spec.strategy) for cell in experiment.cells[:3]] == [
        "BASELINE",
        "BASELINE >> SHARP",
        "BASELINE >> (SHARP + NAST2)/2",
    ]
    assert {cell.module for cell in experiment.cells} == {str(path)}
    assert from_settings(experiment.settings()) == experiment


def test_games_of_an_enhancement_of_ones_own_are_played_and_name_its_file(tmp_path):
    path = tmp_path / "sharp.py"
    path.write_text(OWN)
    cell = loading.load(str(path), {}).cells[1]
    row = play_row(Trial(cell, 0, (1, 2)))
    assert row["strategy"] == "BASELINE >> SHARP"
    assert row["moves"] > 50
    assert len(row["provenance"]["module"]) == 12


def test_a_game_of_ones_own_is_played_by_its_name_in_another_process(tmp_path):
    nim = (Path(__file__).parents[2] / "examples" / "nim.py").read_text()
    path = tmp_path / "sticks.py"
    path.write_text(nim + "\nEXPERIMENT = {'games': 'nim', 'agents': ['BASELINE'], 'iterations': 5, 'trials': 1}\n")
    cell = loading.load(str(path), {}).cells[0]
    with workers(2) as two:
        (row,) = two.results(play_row, [Trial(cell, 0, (1, 2))])
    assert (row["game"], row["strategy"]) == ("nim", "BASELINE")
    assert 3 <= row["moves"] <= 9


def test_settings_are_read_without_running_anybody_s_file_and_played_with_it(tmp_path):
    path = tmp_path / "sharp.py"
    path.write_text(OWN)
    experiment = loading.load(str(path), {})
    cell = experiment.cells[1]
    path.rename(tmp_path / "away.py")
    copy = from_settings(json.loads(json.dumps(experiment.settings())))
    assert copy == experiment and [each.key for each in copy.cells] == [each.key for each in experiment.cells]
    assert isinstance(copy.cells[1].spec.strategy, Label)
    assert not isinstance(copy.cells[0].spec.strategy, Label)
    (tmp_path / "away.py").rename(path)
    original_actions, copied_actions = (play_row(Trial(each, 0, (1, 2)))["actions"] for each in (cell, copy.cells[1]))
    assert original_actions == copied_actions


def test_a_cell_goes_to_another_process_as_its_settings():
    (cell,) = built(agents={"a": {"strategy": "RAVE", "scheme": "SO_ISMCTS", "iterations": 5}}).cells[:1]
    again = pickle.loads(pickle.dumps(cell))
    assert again == cell and again.key == cell.key and again.spec.scheme is not None


@pytest.mark.parametrize(
    "text, message",
    [
        ("x = 1", "the file has no dict EXPERIMENT"),
        ("1 / 0", "ZeroDivisionError in"),
        ("EXPERIMENT = [", "SyntaxError in"),
        ("EXPERIMENT = {'games': 'othello', 'agents': ['NOBODY'], 'iterations': 3}", "agents[0]: "),
    ],
)
def test_a_wrong_python_file_is_refused_in_one_sentence(tmp_path, text, message):
    path = tmp_path / "bad.py"
    path.write_text(text)
    with pytest.raises(Refusal) as refused:
        loading.load(str(path), {})
    assert str(refused.value).startswith(f"{path}: ")
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


CHANGED = """
import attrs
from icarus import BASELINE, MAST, NAST2, RAVE, gibbs
from icarus.algebra import with_alias
HOT = attrs.evolve(MAST, policy=gibbs(0.5).over(MAST.policy.source))
{first}
EXPERIMENT = {{"games": "othello", "agents": {{"a": {agent}}}, "iterations": 3}}
"""


@pytest.mark.parametrize(
    ("first", "agent", "message"),
    [
        ("", "BASELINE >> HOT", '"BASELINE >> MAST" names another strategy than the one that is given'),
        ("", 'with_alias(RAVE >> MAST, "RAVE")', '"RAVE" names another strategy than the one that is given'),
        (
            'MAST = attrs.evolve(NAST2, name="MAST")',
            '"BASELINE >> MAST"',
            'the library has another strategy "BASELINE >> MAST"',
        ),
        (
            'MAST = attrs.evolve(NAST2, name="MAST")',
            "BASELINE >> MAST",
            'the library has another strategy "BASELINE >> MAST"',
        ),
    ],
)
def test_a_changed_enhancement_under_a_name_of_the_library_is_refused(tmp_path, first, agent, message):
    path = tmp_path / "changed.py"
    path.write_text(CHANGED.format(first=first, agent=agent))
    with pytest.raises(Refusal) as refused:
        loading.load(str(path), {})
    assert f"agents.a: {message}" in str(refused.value)


def test_the_rules_of_reuse_are_section_4s_four_on_mast():
    experiment = loading.load("reuse", {"games": ["othello"]})
    assert [cell.agent for cell in experiment.cells] == ["Baseline", "Gibbs", "ε-greedy", "Roulette", "UCB1"]
    assert str(experiment.cells[1].spec.strategy) == "BASELINE >> MAST"
    assert experiment.pictures == ("reuse",)


def test_the_trees_are_those_of_the_baseline_and_of_each_enhancement_alone():
    assert [cell.agent for cell in loading.load("tree", {"games": ["othello"]}).cells] == ["-", "N", "R", "M", "L"]


def test_section_8_at_once_plays_every_strategy_of_its_experiments_once():
    whole = [cell.key for cell in loading.load("section8", {}).cells]
    parts = {
        cell.key for name in ("figure3", "figure4", "figure5", "reuse", "tree") for cell in loading.load(name, {}).cells
    }
    assert len(whole) == len(set(whole)) == 7 * 20
    assert set(whole) == parts


def test_an_unknown_experiment_is_refused_with_the_nearest_names():
    with pytest.raises(Refusal, match="did you mean figure"):
        loading.load("figur4", {})


@pytest.mark.parametrize("name", sensitivity.SENSITIVITY)
def test_an_experiment_on_a_setting_holds_the_baseline_section_8s_own_setting_and_others(name):
    experiment = loading.load(name, {})
    assert experiment.name == name and experiment.pictures == ("agents",)
    for column in experiment.columns:
        texts = {cell.spec.text for cell in experiment.cells if cell.column == column}
        section8 = texts & set(suite.SECTION_8.values())
        assert "BASELINE" in section8 and len(section8) > 1 and texts - section8
