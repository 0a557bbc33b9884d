"""Cells, seats, seeds, and the tables from which experiments are built."""

import hashlib
import json
from pathlib import Path

import pytest

from experiments import results as store
from experiments.papers import COMBINATIONS, GROUPS, SECTION_8, TABLE_1
from experiments.plan import loading
from experiments.plan.cells import from_settings, title
from experiments.plan.loading import ExperimentTable, build, load
from experiments.plan.refusal import Refusal
from experiments.report import measures_of, state_of
from experiments.results import results_of
from experiments.run import match_of, trial_row
from icarus import games, parse
from icarus.arena.workers import workers
from tests.experiments.conftest import a_row, built, keep


def base(column):
    return column.game.partition("(")[0]


def test_figure_4_plays_section_8s_seven_columns_and_seats_with_sixteen_combinations_each():
    experiment = loading.load("figure4", {})
    assert [(base(column), column.role, column.seats) for column in experiment.columns] == [
        ("dou-di-zhu", "Landlord", (0,)),
        ("hearts", "", (0, 1, 2, 3)),
        ("lotr-confrontation", "Light", (0,)),
        ("lotr-confrontation", "Dark", (1,)),
        ("checkers", "", (0, 1)),
        ("othello", "", (0, 1)),
        ("backgammon", "", (0, 1)),
    ]
    assert len(experiment.cells) == 7 * 16
    assert experiment.trials == 1000
    assert {column.iterations for column in experiment.columns} == {5000}
    assert {str(column.opponent.strategy) for column in experiment.columns} == {"BASELINE"}


def test_a_cell_has_the_same_seeds_whatever_else_is_in_the_experiment():
    alone = built(agents={"r": "RAVE"})
    among = built(agents={"m": "BASELINE >> MAST", "rave": "RAVE"}, trials=99, iterations=[5, 100])
    same = [
        cell
        for cell in among.cells
        if str(cell.spec.strategy) == "RAVE" and cell.column.iterations == 100
    ]
    assert [among.game_seed(cell, 2) for cell in same] == [alone.game_seed(alone.cells[0], 2)]


def test_different_games_have_different_seeds():
    experiments = [
        built(agents=["RAVE", "BASELINE"], iterations=[10, 20], seed=seed) for seed in (0, 1)
    ]
    seeds = [
        experiment.game_seed(cell, trial)
        for experiment in experiments
        for cell, trial in experiment.games()
    ]
    assert len(set(seeds)) == len(seeds) == 2 * 4 * 4


def test_lists_mean_a_grid():
    experiment = built(
        games=["othello"],
        iterations=[10, 20],
        opponent=["BASELINE", "RAVE"],
        agents=["RAVE", "BASELINE >> MAST"],
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
    assert [column.game for column in experiment.columns[:2]] == [
        "knockout-whist",
        "knockout-whist(players=3)",
    ]


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"trails": 3}, "Object contains unknown field `trails`"),
        ({"iterations": [10, -1]}, "Expected `int` >= 1 - at `$.iterations[1]`"),
        ({"seconds": 1.0}, "iterations: give either iterations or seconds"),
        ({"iterations": None}, "iterations: give either iterations or seconds"),
        (
            {"games": ["othello", "otello"]},
            "games[1]: no game is called 'otello'; did you mean othello",
        ),
        (
            {"games": ["mine.py"]},
            "games[0]: no game is called 'mine.py'; for a game of your own, name its file in a TOML file",
        ),
        ({"games": "mygame"}, "goofspiel; for a game of your own, name its file in a TOML file"),
        ({"games": None}, "Object missing required field `games`"),
        ({"games": ["othello", "othello"]}, "is in the experiment twice"),
        ({"agents": {"good": "RAVE", "bad": "RAVE >> MSAT"}}, "agents.bad: "),
        ({"agents": ["RAVE", "RAVE >>"]}, "agents[1]: "),
        ({"agents": {"a": "RAVE", "b": "RAVE"}}, "agents.b: "),
        ({"agents": {"a": 3}}, "agents.a: '3' is not an enhancement"),
        ({"opponent": "NOBODY"}, "opponent: "),
        ({"opponent": ("RAVE", "NOBODY")}, "opponent[1]: "),
        ({"opponent": []}, "opponent: the list is empty"),
        ({"seats": 2}, "seats: 2 is not"),
        ({"seats": ["rotate"]}, "seats[0]: 'rotate' is not"),
        ({"pictures": ["figure6"]}, "pictures[0]: 'figure6' is unknown"),
        (
            {"agents": {"a": {"scheme": "DeterminisedUCT"}}},
            "agents.a.scheme: 'DeterminisedUCT' is not a scheme; known schemes: MO_ISMCTS",
        ),
        ({"agents": {"a": {"strategy": "RAVE >>"}}}, "agents.a.strategy: "),
        (
            {"agents": {"a": {"schema": "SO_ISMCTS"}}},
            "agents.a: Object contains unknown field `schema`",
        ),
        ({"agents": ["RAVE", "MAST", "RAVE"]}, "agents[2]: RAVE is in the list twice"),
        ({"agents": ["RAVE", {"scheme": "MO"}]}, "agents[1].scheme: 'MO' is not a scheme"),
        ({"opponent": {"scheme": "DeterminizedUCT(0)"}}, "opponent.scheme: "),
        (
            {"opponent": ["RAVE", {"iterations": 4}]},
            "opponent[1]: Object contains unknown field `iterations`",
        ),
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
        (
            {"games": "lotr-confrontation", "roles": "Lihgt"},
            "roles: 'Lihgt' is unknown; did you mean Light",
        ),
        (
            {"games": "lotr-confrontation", "roles": "Light", "seats": 0},
            "roles: give either roles or seats, not both",
        ),
        ({"pictures": ["heat-map"]}, "seats: heat-map needs agents that keep to one seat"),
        (
            {
                "pictures": ["heat-map"],
                "seats": 0,
                "agents": [{"scheme": "DeterminizedUCT(4)"}, {"scheme": "DeterminizedUCT(8)"}],
            },
            "names searches without their parameters, and 2 in seat 0 are DeterminizedUCT",
        ),
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


def test_a_game_of_ones_own_is_played_by_its_name_in_another_process(tmp_path):
    nim = (Path(__file__).parents[2] / "examples" / "nim.py").read_text()
    path = tmp_path / "sticks.py"
    path.write_text(
        nim
        + "\nEXPERIMENT = {'games': 'nim', 'agents': ['BASELINE'], 'iterations': 5, 'trials': 1}\n"
    )
    experiment = loading.load(str(path), {})
    with workers(2) as two:
        (row,) = two.results(trial_row, [match_of(experiment, experiment.cells[0], 0)])
    assert (row["game"], row["strategy"]) == ("nim", "BASELINE")
    assert 3 <= row["moves"] <= 9


def test_settings_are_read_without_running_anybody_s_file_and_played_with_it(tmp_path):
    path = tmp_path / "sharp.py"
    path.write_text(OWN)
    experiment = loading.load(str(path), {})
    cell = experiment.cells[1]
    path.rename(tmp_path / "away.py")
    copy = from_settings(json.loads(json.dumps(experiment.settings())))
    assert copy == experiment
    assert [each.key for each in copy.cells] == [each.key for each in experiment.cells]
    (tmp_path / "away.py").rename(path)
    original_actions, copied_actions = (
        trial_row(match_of(experiment, each, 0))["actions"] for each in (cell, copy.cells[1])
    )
    assert original_actions == copied_actions


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
        (
            "",
            "BASELINE >> HOT",
            '"BASELINE >> MAST" names another strategy than the one that is given',
        ),
        (
            "",
            'with_alias(RAVE >> MAST, "RAVE")',
            '"RAVE" names another strategy than the one that is given',
        ),
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
def test_a_changed_enhancement_under_a_name_of_the_library_is_refused(
    tmp_path, first, agent, message
):
    path = tmp_path / "changed.py"
    path.write_text(CHANGED.format(first=first, agent=agent))
    with pytest.raises(Refusal) as refused:
        loading.load(str(path), {})
    assert f"agents.a: {message}" in str(refused.value)


def test_section_8_at_once_plays_every_strategy_of_its_experiments_once():
    whole = [cell.key for cell in loading.load("section8", {}).cells]
    parts = {
        cell.key
        for name in ("figure3", "figure4", "figure5", "reuse", "tree")
        for cell in loading.load(name, {}).cells
    }
    assert len(whole) == len(set(whole)) == 7 * 20
    assert set(whole) == parts


def test_an_unknown_experiment_is_refused_with_the_nearest_names():
    with pytest.raises(Refusal, match="did you mean figure"):
        loading.load("figur4", {})


@pytest.mark.parametrize("name", GROUPS["sensitivity"])
def test_an_experiment_on_a_setting_holds_the_baseline_section_8s_own_setting_and_others(name):
    experiment = loading.load(name, {})
    assert experiment.name == name
    assert experiment.pictures == ("agents",)
    for column in experiment.columns:
        texts = {cell.spec.text for cell in experiment.cells if cell.column == column}
        section8 = texts & set(SECTION_8.values())
        assert "BASELINE" in section8
        assert len(section8) > 1
        assert texts - section8


# -------------------- Table 1, as printed.


TABLE = """
-     | ....  | BASELINE
N     | N...  | BASELINE >> NAST2
R     | .R..  | RAVE
NR    | NR..  | RAVE >> NAST2
M     | ..M.  | BASELINE >> MAST
NM    | N.M.  | BASELINE >> (MAST + NAST2)/2
RM    | .RM.  | RAVE >> MAST
NRM   | NRM.  | RAVE >> (MAST + NAST2)/2
L     | ...L  | BASELINE >> LGRF
NL    | N..L  | BASELINE >> (LGRF + NAST2)/2
RL    | .R.L  | RAVE >> LGRF
NRL   | NR.L  | RAVE >> (LGRF + NAST2)/2
ML    | ..ML  | BASELINE >> (MAST + LGRF)/2
NML   | N.ML  | BASELINE >> (MAST + LGRF + NAST2)/3
RML   | .RML  | RAVE >> (MAST + LGRF)/2
NRML  | NRML  | RAVE >> (MAST + LGRF + NAST2)/3
"""
LETTERS = {"N": "NAST", "R": "RAVE", "M": "MAST", "L": "LGRF"}
PRINTED = [[part.strip() for part in line.split("|")] for line in TABLE.strip().splitlines()]


def test_the_sixteen_combinations_are_those_of_table_1_in_its_order():
    assert [(c.name, c.strategy) for c in COMBINATIONS] == [
        (name, strategy) for name, _, strategy in PRINTED
    ]


def test_the_bullets_of_table_1_are_right():
    assert [c.enhancements for c in COMBINATIONS] == [
        {LETTERS[mark] for mark in marks if mark != "."} for _, marks, _ in PRINTED
    ]


def test_the_strategies_of_table_1_are_understood_written_back_and_all_different():
    strategies = [parse(strategy) for strategy in TABLE_1.values()]
    assert [parse(str(strategy)) for strategy in strategies] == strategies
    assert len(set(map(str, strategies))) == 16


# -------------------- Online Outcome Sampling and its like in experiments: who plays, and where they cannot.


def table(**changes):
    settings = {
        "name": "n",
        "games": ["kuhn-poker"],
        "iterations": 40,
        "seats": 0,
        "agents": {"oos": "OOS(delta=0.5)"},
        **changes,
    }
    return build(settings)


def test_experiments_have_it_for_an_agent_or_an_opponent():
    experiment = table(
        opponent="NearEquilibrium()",
        agents={"oos": "OOS(delta=0.5)", "own": {"strategy": "OOS"}, "r": "RAVE"},
    )
    assert [cell.spec.text for cell in experiment.cells] == ["OOS(delta=0.5)", "OOS()", "RAVE"]
    assert from_settings(experiment.settings()) == experiment
    for cell in experiment.cells:
        game = trial_row(match_of(experiment, cell, 0))
        assert (game["strategy"], game["opponent"]) == (cell.spec.text, "NearEquilibrium()")
        assert game["statistics"]["agent"]["iterations"] == 40


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        ({"games": ["hearts"]}, r"games: OOS\(delta=0.5\) cannot play here: hearts has 4 players"),
        (
            {"opponent": "NearEquilibrium", "games": ["phantom-mnk"]},
            "phantom-mnk is too large for a complete walk: it has",
        ),
        ({"agents": {"a": "OOS(depth=1)"}}, "agents.a: 'OOS\\(depth=1\\)' is not a search"),
        (
            {"agents": {"a": {"strategy": "OOS", "scheme": "SO_ISMCTS"}}},
            "takes no scheme=SO_ISMCTS",
        ),
        ({"agents": {"a": {"scheme": "OOS()"}}}, "'OOS\\(\\)' is not a scheme"),
        (
            {"agents": {"a": {"scheme": "MO_ISMCTS with cutoff=2"}}},
            "cannot play here: cutoff is 2, but kuhn-poker has no heuristic",
        ),
        (
            {"agents": {"a": "RAVE"}, "opponent": "OOS", "games": ["hearts"]},
            "cannot play here: hearts",
        ),
    ],
)
def test_experiments_refuse_it_where_it_cannot_be(changes, pattern):
    with pytest.raises(Refusal, match=pattern):
        table(**changes)


# -------------------- Agents and opponents with schemes: keys, tables, rows, and how cheating is trial_row.


def digest(*parts):
    return hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:16]


def test_the_key_of_a_cell_without_a_scheme_is_that_of_rows_that_exist():
    key = digest("othello", 0, 1, "RAVE", "BASELINE", 100, None)
    assert built().cells[0].key == key
    assert (
        built(
            agents={"a": {"strategy": "RAVE", "scheme": "MO_ISMCTS"}},
            opponent={"scheme": "MO_ISMCTS"},
        )
        .cells[0]
        .key
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
        for opponent in (
            "BASELINE",
            {"scheme": "DeterminizedUCT(4)"},
            {"scheme": "DeterminizedUCT(5)"},
        )
    ]
    assert len({cell.key for cell in cells}) == 12


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
    assert (str(plain.spec.strategy), str(plain.spec.scheme), plain.iterations) == (
        "RAVE",
        "MO_ISMCTS",
        50,
    )
    assert (str(determinized.spec.strategy), determinized.iterations) == ("BASELINE >> MAST", 20)
    assert determinized.spec.text == "BASELINE >> MAST by DeterminizedUCT(determinizations=10)"
    assert plain.column.opponent.text == "BASELINE by SO_ISMCTS"


def test_a_game_is_played_by_these_searches_with_their_own_iterations():
    agents = {"a": {"scheme": "DeterminizedUCT(4)", "iterations": 24}}
    experiment = built(
        games="kuhn-poker", agents=agents, opponent={"scheme": "CheatingUCT"}, iterations=9, seats=0
    )
    cell = experiment.cells[0]
    game = trial_row(match_of(experiment, cell, 0))
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
    assert title(column).endswith(
        "against BASELINE by CheatingUCT (cheating: it sees what is hidden)"
    )
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
    assert (tally.wins, tally.draws, tally.games, tally.mean) == (1, 2, 4, 0.5)
    assert measures_of([tally])[0][4:6] == ["Draws", "Score"]


# -------------------- Experiments of one's own: their report has their own titles, and no statements of the paper.


N = {
    "name": "mine",
    "games": "othello",
    "trials": 3,
    "iterations": 5,
    "agents": {"N": "BASELINE >> NAST2", "-": "BASELINE"},
}


@pytest.fixture
def run(tmp_path):
    """An agent called N in a game of the paper, against the baseline."""
    experiment = build(N)
    return keep(tmp_path, experiment, [a_row(cell, trial) for cell, trial in experiment.games()])


OWN_ENHANCEMENT = """
import attrs
from icarus import MAST, games, gibbs
SHARP = attrs.evolve(MAST(gibbs(0.1)), name="SHARP")
MINE = attrs.evolve(games.load("kuhn-poker"), name="mine")
"""


@pytest.fixture
def own(tmp_path, monkeypatch):
    """The file of an enhancement and a game, beside a TOML file that names them."""
    monkeypatch.setattr(games, "GAMES", dict(games.GAMES))
    monkeypatch.chdir(tmp_path)
    Path("own.py").write_text(OWN_ENHANCEMENT)
    Path("mine.toml").write_text(
        "games = ['mine', 'kuhn-poker']\niterations = 5\ntrials = 2\nagents = ['BASELINE >> SHARP']"
    )
    return tmp_path / "own.py"


def test_an_experiment_names_what_a_file_of_with_defines_and_is_continued_with_it(
    own, call, no_pictures
):
    command = ["run", "mine.toml", "--workers", 1, "--with", "own.py", "--out", "run"]
    code, out, _ = call(*command)
    assert code == 0
    assert "Mine: 5 iterations" in out
    assert {cell.module for cell in store.experiment_in(Path("run")).cells} == {str(own)}
    assert call(*command, "--trials", 3)[0] == 0
    assert call("verify", "run")[0] == 0
    own.write_text(OWN_ENHANCEMENT.replace("0.1", "0.2"))
    code, _, errors = call(*command)
    assert code == 2
    assert "own.py was edited" in errors


def test_experiments_of_the_papers_take_a_file_too(own):
    for name in ("figure5", "temperature", "searches-phantom"):
        assert all(cell.module == str(own) for cell in load(name, {}, own).cells)
    assert {cell.column.game for cell in load("figure5", {"games": ["mine"]}, own).cells} == {
        "mine"
    }


@pytest.mark.parametrize(
    ("file", "experiment", "sentence"),
    [
        ("none.py", "mine.toml", "--with: there is no file 'none.py'"),
        ("mine.toml", "mine.toml", "--with: 'mine.toml' is not a Python file"),
        ("empty.py", "mine.toml", "--with: 'empty.py' defines no game, enhancement"),
        ("own.py", "empty.py", "a .py file imports what it uses; import own.py there"),
        (
            "own.py",
            "other.toml",
            "games: game.py is another file than that of --with; import it in own.py",
        ),
    ],
)
def test_a_file_of_with_that_cannot_be_used_is_refused(own, call, file, experiment, sentence):
    Path("empty.py").write_text("")
    Path("game.py").write_text(OWN_ENHANCEMENT)
    Path("other.toml").write_text("games = 'game.py'\niterations = 5\nagents = ['BASELINE']")
    code, _, errors = call("run", experiment, "--with", file, "--out", "run")
    assert code == 2
    assert sentence in errors
    assert not Path("run").exists()


def test_a_row_in_a_file_or_a_pipe_is_one_line_of_at_most_80_characters_where_agents_have_names(
    tmp_path, call, no_pictures
):
    agents = {"RAVE and all": "RAVE >> (MAST + LGRF + NAST2)/3", "-": "BASELINE"}
    for name, table in (("named", agents), ("listed", list(agents.values()))):
        experiment = build({**N, "agents": table})
        rows = [
            a_row(cell, trial, reward=0.5, returns=[0.5, 0.5], win=False)
            for cell, trial in experiment.games()
        ]
        code, out, _ = call("report", keep(tmp_path / name, experiment, rows))
        assert code == 0
        assert out.count("50.0 %") == 2
        assert "NAST2)/3" in out
        assert name == "listed" or max(map(len, out.splitlines())) <= 80
        assert out.startswith("\nOthello: 5 iterations per decision, against BASELINE\n")
        assert ("Strategy" in out) == (name == "named")


PAGE = (Path(__file__).parents[2] / "docs" / "experiments.md").read_text()


@pytest.mark.parametrize("key", ExperimentTable.__struct_fields__)
def test_every_key_of_a_table_has_a_line_on_its_page(key):
    assert f"\n| `{key}` | " in PAGE


def test_the_experiment_on_its_page_is_one(tmp_path):
    tables = PAGE.split("```toml\n")[1:]
    (tmp_path / "rave-k.toml").write_text("".join(text.partition("```")[0] for text in tables))
    experiment = load(str(tmp_path / "rave-k.toml"), {})
    assert experiment.name == "rave-k"
    assert len(experiment.cells) == 2 * 5
