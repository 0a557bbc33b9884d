"""The papers' ISMCTS, an example of an algorithm of one's own, near what its first implementation measured; and their measures."""

import json
import re
import shlex
import statistics

import pytest

from icarus import Agent, exploitability, games
from icarus.arena.player import parse_algorithm
from icarus.commands.cli import app
from icarus.commands.console import run_program
from icarus.equilibrium import OOS, OOSSearch, stitch
from icarus.equilibrium.tree import tree_of
from icarus.load_files import load_file
from tests.conftest import ROOT

KUHN = games.load("kuhn-poker")
EXAMPLE = ROOT / "examples" / "ismcts_2015.py"
MEASURES = load_file(ROOT / "examples" / "measures_2015.py")
PAGE = (ROOT / "docs" / "equilibrium.md").read_text()
COMMANDS = re.findall(
    r"^\| [^|]+ \| `(.*)` \|$", PAGE.split("| paper | command |")[1], re.MULTILINE
)


@pytest.mark.parametrize(
    "text, half",
    [
        ("ISMCTS()", (0.11, 0.14)),
        ("ISMCTS(selection='regret matching')", (0.10, 0.22)),
        ("ISMCTS(selection='EXP3')", (0.18, 0.23)),
    ],
)
def test_bandits_from_the_deal_are_as_exploitable_as_their_first_implementation(text, half):
    load_file(EXAMPLE)
    assert str(parse_algorithm(text)) == text
    distances = []
    for seed in range(10):
        search = parse_algorithm(text).begin(KUHN, seed)
        search.make(1000)
        distances.append(exploitability(KUHN, search.average).nash_conv / 2)
    assert half[0] < statistics.fmean(distances) < half[1]


def test_weights_change_no_policy_but_that_of_the_next_search():
    load_file(EXAMPLE)
    state = KUHN.new_initial_state(seed=1)
    seated = Agent(parse_algorithm("WeightedOOS(delta=0.5)"), iterations=100).seated(KUHN)
    seated.search(state, 0)
    before = seated.policy_at(state)
    seated.aim(state)
    assert seated.policy_at(state) == pytest.approx(before)
    assert seated.scale > 1


def rows_of(path, method, players, **settings):
    MEASURES.measure(path, method, "kuhn-poker", players, **settings)
    return [*map(json.loads, path.read_text().splitlines())]


def test_root_and_stitching_are_what_the_library_says_of_these_policies(tmp_path):
    rows = rows_of(tmp_path / "rows.jsonl", "root", ["OOS()"], iterations=300, seeds=2)
    for row in rows:
        search = OOSSearch(KUHN, seed=row["seed"])
        search.run(300)
        assert row["nash_conv"] == search.exploitability().nash_conv
    [row] = rows_of(tmp_path / "more.jsonl", "stitching", ["OOS()"], iterations=30, seeds=1)
    stitched = stitch(KUHN, Agent(OOS(), iterations=30), seed=0)
    assert row["nash_conv"] == exploitability(KUHN, stitched).nash_conv
    assert row["searches"] == 12


@pytest.mark.parametrize("plays", [False, True])
def test_an_aggregate_adds_all_of_a_first_search_or_what_follows_where_it_plays(plays):
    load_file(EXAMPLE)
    tree = tree_of(KUHN)
    whole = MEASURES.Aggregate(tree, Agent(OOS(), iterations=500), plays)
    whole.play(0, seed=3)
    has_weights = [whole.weights[tree.slots_of(number)].sum() > 0 for number in tree.decisions]
    cards = {0: set(), 1: set()}
    for (player, card, _), added in zip(tree.information_states(), has_weights, strict=True):
        cards[player] |= {card} if added else set()
    assert [len(seen) for seen in cards.values()] == ([1, 1] if plays else [3, 3])


@pytest.mark.parametrize("method", ["aggregate", "aggregate-aamas"])
def test_aggregates_come_near_an_equilibrium_and_nearer_with_more_iterations(tmp_path, method):
    few, many = (
        rows_of(tmp_path / f"{n}.jsonl", method, ["OOS()"], iterations=n, seeds=1, matches=50)
        for n in (20, 2000)
    )
    assert many[0]["nash_conv"] < 0.2 < few[0]["nash_conv"]


@pytest.mark.parametrize("command", COMMANDS)
def test_each_figure_of_the_papers_has_a_command_that_runs(command, tmp_path, monkeypatch):
    """In Kuhn poker, whose tree is grown at once, with little budget."""
    monkeypatch.chdir(ROOT)
    command = re.sub(r'liars-dice|"goofspiel\(.*?\)"|generic-poker', "kuhn-poker", command)
    words = shlex.split(re.sub(r"--(games|iterations) \d+", r"--\1 2", command))
    if words[0] == "icarus":
        assert run_program(app, "icarus", words[1:]) == 0
    elif words[:3] == ["python", "-m", "examples.measures_2015"]:
        method, _, *players = words[4:]
        end = players.index("--iterations") if "--iterations" in players else len(players)
        rows = rows_of(tmp_path / words[3], method, players[:end], iterations=9, seeds=1, matches=2)
        assert len(rows) == len(players[:end])
    else:
        assert words[:4] == ["python", "-m", "experiments", "run"]
        assert (ROOT / words[4]).exists()
