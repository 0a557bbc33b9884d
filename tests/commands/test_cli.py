"""The command `icarus`: what it prints, what it refuses, and Ctrl-C."""

import itertools
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from icarus import PythonGame, games, parse
from icarus.algebra.parsing import LONGEST
from icarus.arena.player import DEFAULT_ITERATIONS, load_game
from icarus.commands import cli, console, exploitability as measuring, search as searching
from icarus.commands.search import state_after
from icarus.engine.match import Agent, play
from icarus.engine.scheme import MO_ISMCTS, SO_ISMCTS, DeterminizedUCT
from icarus.kernel import CHANCE, TERMINAL
from icarus.specs import MAST
from tests.conftest import ROOT, TIMEOUT, child_process, environment

Call = Callable[..., tuple[int, str, str]]


@pytest.fixture
def icarus(capsys, monkeypatch):
    """Run the command in this process: (exit code, standard output, standard error)."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["icarus", *map(str, arguments)])
        with pytest.raises(SystemExit) as ending:
            cli.main()
        code = ending.value.code
        return (code if isinstance(code, int) else 0 if code is None else 1, *capsys.readouterr())

    return call


def refused(outcome: tuple[int, str, str]) -> str:
    """The single sentence with which something was refused; a progress bar that was under way leaves an empty line."""
    code, _, errors = outcome
    errors = errors.lstrip("\n")
    assert code == 2, outcome
    assert errors.startswith("icarus: "), errors
    assert errors.endswith("\n"), errors
    assert errors.count("\n") == 1, errors
    assert "Traceback" not in errors
    return errors.removeprefix("icarus: ").rstrip("\n")


# ------------------------------------------------------------------------------------------------------- games and specs


def test_what_is_printed_names_no_emoji(capsys, monkeypatch):
    for name in ("out", "notes"):
        monkeypatch.setattr(console, name, Console(highlight=False))
    console.print_text("row:a:1 [bold]")
    console.print_note("x:o:x")
    assert capsys.readouterr().out == "row:a:1 [bold]\nx:o:x\n"


def test_games_lists_every_game_with_players_and_information(icarus):
    rows = {line.split()[0]: line for line in icarus("games")[1].splitlines()}
    assert set(games.names()) <= set(rows)
    assert " 3  hidden  " in rows["dou-di-zhu"]
    assert " 2  perfect  " in rows["othello"]
    assert " 2  perfect, chance  " in rows["backgammon"]


def test_specs_shows_one_as_the_paper_lays_it_out(icarus):
    name = "RAVE >> (MAST + NAST2)/2"
    assert icarus("specs", name)[:2] == (0, parse(name).specification() + "\n")


# ---------------------------------------------------------------------------------------------------------------- tables

LISTS = ("games", "specs")
RULES = re.compile("[\u2500-\u257f]")  # with which boxes are drawn


@pytest.mark.parametrize("command", LISTS)
def test_a_piped_table_has_a_line_for_each_row_and_no_rules(icarus, command):
    code, output, _ = icarus(command)
    assert code == 0
    assert not RULES.search(output)
    columns = [len(re.split(r"  +", line)) for line in output.splitlines()]
    assert set(columns) == {4}
    assert not [line for line in output.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize(("term", "command"), [*itertools.product(("xterm", "dumb"), LISTS)])
def test_a_terminal_of_80_columns_is_not_exceeded_and_no_word_is_broken(
    icarus, monkeypatch, command, term
):
    _, whole, _ = icarus(command)
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(console, "out", Console(force_terminal=True, width=80, highlight=False))
    code, output, _ = icarus(command)
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in output.splitlines()]
    assert code == 0
    assert max(map(len, lines)) <= 80
    assert not RULES.search(output)
    assert {*"\n".join(lines).split()} == {*whole.split()}  # no word is broken or left out


# ---------------------------------------------------------------------------------------------------------------- search


def test_search_prints_the_position_and_what_was_found_for_each_action(icarus):
    code, output, _ = icarus(
        "search", "othello", "--strategy", "RAVE >> MAST", "--iterations", 60, "--seed", 2
    )
    assert code == 0
    assert "X to move" in output
    assert "othello, player 0, RAVE >> MAST: 60 iterations" in output
    rows = re.findall(r"^(\w\d)( \*)? +(\d+) ", output, re.MULTILINE)
    assert {name for name, _, _ in rows} == {"d3", "c4", "f5", "e6"}
    assert sum(int(visits) for _, _, visits in rows) == 60
    assert [name for name, mark, _ in rows if mark] == [rows[0][0]]


OPTIONS = {
    "search othello --moves d3 --threads 2": "othello, player 1, BASELINE, 2 threads: 30 iterations",
    "search leduc-poker --strategy OOS(delta=0.5)": "leduc-poker, player 0, OOS(delta=0.5): 30 iterations",
    "match kuhn-poker MAST MAST --games 1 --move-decay 1 --move-decay 0.5": "MAST (30 iterations, move decay 0.5)",
    "match kuhn-poker MAST MAST --games 1 --move-decay 0.12345671 --move-decay 0.12345672": "] MAST (30 iterations, move decay 0.12345672)",
    "match kuhn-poker BASELINE MAST --games 1 --game-decay 0.5": "BASELINE (30 iterations, game decay 0.5)",
    "exploitability kuhn-poker --strategy MAST --depth 2 --matches 2 --particles 0": "iterations), most visited: NashConv at least ",
    "exploitability liars-dice(first=2,second=2) --strategy MAST --matches 2 --particles 2": "MAST (30 iterations), most visited: "
    "NashConv at least ",
    "match othello BASELINE --games 1 --level 1": "BASELINE (6 iterations)",
    "exploitability kuhn-poker --strategy OOS(delta=0.5) --seeds 4": "OOS(delta=0.5) (30 iterations), most visited: NashConv ",
    "exploitability kuhn-poker --strategy MAST --play visit~shares --seeds 4": "at most",
    "match kuhn-poker MAST Uniform() --games 1": "Uniform() (30 iterations)",
}


@pytest.mark.parametrize("line", OPTIONS)
def test_options_of_a_search_are_taken_and_told(icarus, line):
    code, output, errors = icarus(
        *(word.replace("~", " ") for word in line.split()), "--iterations", 30
    )
    assert code == 0, (output, errors)
    assert OPTIONS[line] in " ".join(output.split()), (output, errors)


def test_the_uniform_policy_of_kuhn_poker_is_as_far_as_is_known(icarus):
    said = icarus("exploitability", "kuhn-poker")[1]
    assert said.startswith("uniform choice: NashConv 0.916667 (exploitability 0.458333, its half)")


def test_what_many_searches_take_is_told_first(icarus, monkeypatch):
    monkeypatch.setattr(measuring, "LONG", -1.0)
    _, said, errors = icarus(
        "exploitability", "liars-dice(faces=2)", "--strategy", "MAST", "--iterations", 5
    )
    assert said.startswith("MAST (5 iterations), most visited: NashConv ")
    # lines of progress may follow on a busy machine
    assert re.match(r"512 searches take about 0 s, the tree [0-9,]+ bytes\n", errors)


@pytest.mark.parametrize("moves", ["F5 d6 C3", "f5d6c3", "1. f5 d6 2. c3", "1.F5 d6 2.c3"])
def test_moves_are_read_without_regard_to_capitals_numbers_and_spaces(moves):
    othello = games.load("othello")
    assert state_after(othello, 0, moves).history == state_after(othello, 0, "f5 d6 c3").history
    with pytest.raises(ValueError, match="'c9' is not legal here"):
        state_after(othello, 0, f"{moves}c9".replace("c3c9", "c9").replace("C3c9", "c9"))


@pytest.mark.parametrize("moves", ["11-15 23-19", "1. 11-15 23-19", "c3d4 D6xC5", "C3:D4d6-c5"])
def test_moves_of_checkers_are_read_by_the_numbers_of_squares_and_without_separators(moves):
    checkers = games.load("checkers")
    assert state_after(checkers, 0, moves).history_str() == "c3-d4 d6-c5"
    with pytest.raises(ValueError, match="'11-14' is not legal here; legal: c3-b4, e3-d4, "):
        state_after(checkers, 0, "11-14")


def of_texts(name, *texts):
    """A game of one player whose actions, always legal, are written as these texts."""
    return PythonGame(
        name=name,
        players=1,
        initial=lambda rng: [],
        player=lambda state: 0,
        legal=lambda state: list(range(len(texts))),
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [0.5],
        action_text=lambda state, action: texts[action],
    )


def test_a_name_is_read_as_it_is_where_several_are_alike():
    cards = of_texts("cards-alike", "10♠", "10♥", "a", "A", "a b", "ab")
    state = cards.new_initial_state()
    assert [state.string_to_action(text) for text in ("10♥", "a", "A")] == [1, 2, 3]
    for text in ("10", "10♣", "♠"):
        with pytest.raises(ValueError, match=f"'{text}' is not legal here"):
            state.string_to_action(text)
    with pytest.raises(ValueError, match="'A-B' may be 'a b' or 'ab' here; write the one"):
        state.string_to_action("A-B")


def test_an_action_that_is_written_as_nothing_is_no_move():
    blank = of_texts("blank", "", "raise")
    assert state_after(blank, 0, "raise").history == [(0, 1)]
    with pytest.raises(ValueError, match="'zz' is not legal here"):
        state_after(blank, 0, "raise zz")


def test_each_chance_event_before_a_search_is_drawn_for_itself():
    coins = PythonGame(
        name="coins",
        players=1,
        initial=lambda rng: [],
        player=lambda state: CHANCE if len(state) < 6 else TERMINAL if len(state) > 6 else 0,
        legal=lambda state: [0, 1],
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [1.0],
        chance=lambda state: [0.5, 0.5],
    )
    flips = [tuple(state_after(coins, seed, "").history) for seed in range(20)]
    assert all(len(each) == 6 for each in flips)
    assert len(set(flips)) > 10


# ----------------------------------------------------------------------------------------------------------------- match


# Of each seat: agents sit one seat further on in the second game.
POINTS = [(0.75, 0.125, 0.125), (0.25, 0.5, 0.25), (0.25, 0.25, 0.5), (0.625, 0.25, 0.125)]


def results_of(
    monkeypatch, icarus: Call, returns: list[tuple[float, ...]], *agents: str
) -> list[str]:
    """The lines of a match of three whose games came out so."""
    games = iter(returns)
    monkeypatch.setattr(
        searching, "play_game", lambda *_, **how: SimpleNamespace(returns=next(games))
    )
    code, output, errors = icarus(
        "match", "knockout-whist(players=3)", *agents, "--games", len(returns), "--iterations", 2
    )
    assert code == 0, errors
    return output.splitlines()


def test_graded_rewards_are_compared_by_their_mean_alone(monkeypatch, icarus):
    """By hand: of .75, .5, .5, .625 the mean is .594, the standard error .060, and t of three degrees of freedom 3.182."""
    header, mast, rest = results_of(monkeypatch, icarus, POINTS, "MAST", "BASELINE")
    assert re.split(r"  +", header) == ["games", "seats", "mean reward", "95 % interval", "agent"]
    assert re.split(r"  +", mast.strip()) == [
        "4",
        "1",
        "0.594",
        "[0.403, 0.784]",
        "MAST (2 iterations)",
    ]
    assert re.split(r"  +", rest.strip()) == [
        "4",
        "2",
        "0.203",
        "[0.108, 0.298]",
        "BASELINE (2 iterations)",
    ]


def test_an_agent_against_itself_has_a_line_for_each_seat(monkeypatch, icarus):
    lines = results_of(monkeypatch, icarus, [(1, 0, 0), (1, 0, 0), (0, 0, 1)], "MAST", "MAST")
    rows = [re.split(r"  +", line.strip()) for line in lines[1:]]
    assert [row[:3] for row in rows] == [
        ["3", "1", "0.667"],
        ["3", "1", "0.000"],
        ["3", "1", "0.333"],
    ]
    assert [row[-1] for row in rows] == [f"player {i}, MAST (2 iterations)" for i in range(3)]


# ---------------------------------------------------------------------------------------------------------- one's own file

ENHANCEMENT = '''
"""An enhancement of one's own."""
import attrs
from icarus import weight
from icarus import epsilon_greedy
from icarus.specs import MAST
from icarus.specs.mast import actions

GREEDY = attrs.evolve(MAST, name="GREEDY", policy=epsilon_greedy(0.1).over(actions))

@weight
def halfway(rewards, visits, availability):
    """one half"""
    return 0.5
'''

# take one, two or three; who takes the last wins
STONES = Path(__file__).with_name("stones.txt").read_text("utf-8")


def test_a_file_of_ones_own_brings_games_enhancements_and_weights(icarus, tmp_path):
    mine, brief = tmp_path / "mine.py", tmp_path / "brief.py"
    mine.write_text(ENHANCEMENT)
    brief.write_text(STONES)
    files = ("--with", brief, "--with", mine, "--seed", 1)
    strategy = "BASELINE >> halfway*GREEDY + (1 - halfway)*MAST"
    searched = ("--strategy", strategy, "--iterations", 3000, "--moves", "take 3 " * 5)
    code, output, errors = icarus("search", "stones", *files, *searched)
    assert code == 0, errors
    assert output.startswith("6 stones, player 1 to move\n")
    # which leaves 4, whatever the other takes
    assert re.search(r"^take 2 \* ", output, re.MULTILINE)
    code, output, _ = icarus(
        "match", "stones", "GREEDY", "BASELINE", "--games", 2, "--iterations", 20, *files
    )
    assert code == 0
    assert "GREEDY (20 iterations)" in output
    code, output, _ = icarus("specs", "GREEDY", "--with", mine)
    assert code == 0
    assert "Enhancement GREEDY" in output
    assert "ε = 0.1" in output
    assert re.search("^GREEDY +", icarus("specs", "--with", mine)[1], re.MULTILINE)


NIM = ROOT / "examples" / "nim.py"


def test_a_file_without_a_game_or_with_several_is_refused(icarus, tmp_path):
    said = refused(icarus("search", ROOT / "examples" / "own_pairs.py"))
    assert (
        "own_pairs.py' has no Game(…) or PythonGame(…); give a game that a function makes by its name"
        in said
    )
    two = tmp_path / "two.py"
    two.write_text(NIM.read_text() + "\nimport attrs\nSECOND = attrs.evolve(NIM, name='nim-two')\n")
    assert "has 2 games (nim, nim-two); give the name of one, and the file by --with" in refused(
        icarus("search", two)
    )
    library = tmp_path / "library.py"
    library.write_text("from icarus import games\nOTHELLO = SAME = games.load('othello')\n")
    said = refused(icarus("search", library))
    assert "library.py' has games of the library alone (othello); give the name of one" in said


# ---------------------------------------------------------------------------------------------------------------- Ctrl-C


def test_the_rules_and_parameters_of_a_game_are_printed(icarus):
    code, output, _ = icarus("games", "knockout-whist(players=3)")
    assert code == 0
    assert output.startswith("Knockout Whist")
    assert "parameter: players=3" in output


@pytest.mark.parametrize("name", games.names())
def test_the_parameters_that_are_printed_are_those_that_are_taken(name, icarus):
    _, output, _ = icarus("games", name)
    lines = [line for line in output.splitlines() if line.startswith("parameter: ")]
    settings = ", ".join(line.removeprefix("parameter: ") for line in lines)
    assert games.load(f"{name}({settings})").parameters == games.load(name).parameters
    assert bool(lines) == callable(games.GAMES[name])


def test_ctrl_c_during_a_search_prints_what_was_found(icarus):
    icarus("search", "othello", "--iterations", 20)  # compiles what is not in the cache yet
    command = [sys.executable, "-m", "icarus", "search", "othello", "--seconds", "120"]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with child_process(
        command, cwd=ROOT, env=environment(), start_new_session=True, **pipes
    ) as process:
        next(line for line in process.stdout if "to move" in line)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=TIMEOUT)
    summary = re.search(r"BASELINE: (\d+) iterations in [01]\.\d+ s", output)
    assert process.returncode == 130
    assert summary
    assert int(summary[1]) > 0
    assert {"d3", "c4", "f5", "e6"} <= set(output.split())
    assert "Traceback" not in errors


@pytest.mark.parametrize(("error", "code"), [(ValueError("a wrong game"), 2), (MemoryError(), 1)])
def test_a_match_that_cannot_go_on_prints_the_games_so_far(icarus, monkeypatch, error, code):
    played = []

    def play_two(*arguments, **how):
        if len(played) == 2:
            raise error
        played.append(play(*arguments, **how))
        return played[-1]

    monkeypatch.setattr(searching, "play_game", play_two)
    exit_code, output, errors = icarus(
        "match", "kuhn-poker", "BASELINE", "MAST", "--games", 5, "--iterations", 3
    )
    assert exit_code == code
    assert len(re.findall(r"^ +2 .* \(3 iterations\)$", output, re.MULTILINE)) == 2
    assert "stopped after 2 of 5 games" in errors


def test_output_that_is_not_utf_8_is_written_with_escapes_and_after_the_files(python, tmp_path):
    script = (
        "import sys; sys.stdout.reconfigure(encoding='ascii'); sys.argv[:] = ['icarus', 'search', 'hearts', '--iterations', '5', "
        f"'--html', {str(tmp_path / 'tree.html')!r}]; from icarus.commands.cli import main; main()"
    )
    result = python(script)
    assert result.returncode == 0, result.stderr
    assert "\\u2660" in result.stdout, result.stderr
    assert (tmp_path / "tree.html").exists(), result.stderr


# ---------------------------------------------------------------------------------------------------------- what is refused


TWO, FIVE = "match othello MAST MAST", "kuhn-poker --iterations 5"
REFUSED = {
    "search otello": "no game is called 'otello'; did you mean othello?",
    "search mine.py(stones=3)": "a file takes no parameters; give the name of its game with the parameters, and the file",
    "search othello(size=6)": "othello has no parameter 'size'; it takes none",
    "search knockout-whist(players=9)": "9",
    "search knockout-whist(players": "is not a game's name; write it like knockout-whist(players=3)",
    "search othello --strategy 'RAVE >> (MSAT + NAST2)/2'": "at position 10: no enhancement is called 'MSAT'; did you",
    "search othello --strategy 'MAST >>'": "cannot be read at position 8; write it like RAVE >> (MAST + NAST2)/2",
    "search othello --strategy 'MAST + NAST2'": "sum to 2, not to 1; did you mean (MAST + NAST2)/2?",
    "search othello --strategy 'nast(0)'": "n of nast2 is 0; it must be an integer from 1 to 1000",
    "search othello --strategy MAST --records MATS": "no component of the strategy is called MATS; its components: ",
    "search othello --iterations 0": "'--iterations': ",
    "search othello --seconds 0": "seconds is 0.0; it must be a real number above 0",
    "search othello --seed -1": "'--seed': ",
    "search othello --moves 'd3 d3'": "'d3' is not legal here; legal: ",
    "search othello --with nowhere.py": "there is no file 'nowhere.py'",
    "search othello --with .": "'.' is not a Python file",
    "search othello --html .": "'.' exists and is not overwritten",
    f"search {FIVE} --cutoff 2": "kuhn-poker has no heuristic to end playouts with",
    f"search {FIVE} --scheme OOS()": "'OOS()' is not a scheme",
    f"search {FIVE} --strategy OOS --html no.html": "OOS keeps no tree and no records that could be shown",
    f"search {FIVE} --strategy OOS --threads 2": "OOS() is another algorithm, which searches in one thread",
    "search hearts --strategy OOS": "hearts has 4 players: best responses bound the distance from an equilibrium",
    "search": "Missing argument 'GAME'",
    "serch": "No such command 'serch'",
    "match mine.py MAST MAST": "there is no file 'mine.py'",
    "match hearts OOS RAVE RAVE MAST": "hearts has 4 players: best responses bound the distance",
    "match othello MAST": "othello has 2 seats; give 2 of A B …, not 1",
    f"{TWO} --level 2": "othello has 2 seats; give 1 of A B … beside --level, not 2",
    "match hearts MAST": "hearts has 4 seats; give 2 to 4 of A B …, not 1; the last one takes all other seats",
    f"{TWO} --scheme X": "each may be followed by 'with EXP3'",
    f"{TWO} --game-decay 1 --game-decay 1 --game-decay 1": "--game-decay is given 3 times; give it once, or for each of 2",
    f"{TWO} --games 0": "'--games': ",
    "match kuhn-poker 'MAST [scheme = NONE]' MAST": "'NONE' is not a scheme",
    "match kuhn-poker 'MAST [decay = 1]' MAST": "the strategy 'MAST [decay = 1]' cannot be read",
    "match kuhn-poker MAST MAST --levels .": "--levels says whose levels --level takes: give both",
    "match kuhn-poker MAST --levels . --level 2": "the levels in levels.json cannot be read: No such file or directory",
    "describe kuhn-poker --strategy FOO": "the strategy 'FOO', at position 1: no enhancement is called 'FOO'",
    "describe kuhn-poker --strategy RAVE --strategy BASELINE": "--strategy BASELINE is what each strategy is compared with; leave",
    "describe kuhn-poker --strategy RAVE --strategy (RAVE)": "--strategy (RAVE) is given twice; leave it out",
    "describe kuhn-poker --strategy 'MAST [scheme = DeterminizedUCT(200)]'": "iterations is 128; DeterminizedUCT(",
    "describe kuhn-poker --minutes inf": "--minutes is inf; it must be a finite number at least 0",
    "learn nothing.py --minutes 0": "--minutes is 0.0; it must be a real number above 0",
    "discover kuhn-poker": "Missing option '--games'",
    f"discover othello --games 4000 --to {__file__}": "is a file",
    "discover kuhn-poker --games 50 --space sixteen": "proves nothing",
    "discover kuhn-poker --games 500 --space no.toml": "there is no space and no file 'no.toml'; ",
    "discover kuhn-poker --games 9 --candidate RAVE --space general": "names the one strategy to be proven: leave out --space",
    "discover kuhn-poker --games 200 --finalists 1": "needs 23 units for its proof, and has 20 units; give 232 games",
    f"exploitability {FIVE}": "these need a search, by --strategy: leave out --iterations",
    "exploitability kuhn-poker --strategy OOS(depth=1)": "is not a search; write Online Outcome Sampling as OOS",
    "exploitability kuhn-poker --strategy OOS(delta=0.5,delta=0.6)": "is not a search; write Online Outcome Sampling as OOS",
    "exploitability kuhn-poker --strategy 'MAST [move_decay = 1]'": "each decision is searched anew",
    "exploitability kuhn-poker --strategy MAST --scheme CheatingUCT": "what it plays depends on what is hidden; take another scheme",
    "exploitability kuhn-poker --seeds 3": "these need a search, by --strategy: leave out --seeds",
    "exploitability kuhn-poker --matches 3": "these need --depth: leave out --matches",
    "exploitability kuhn-poker --strategy MAST --play often": "play is 'often'; it must be 'most visited' or 'visit shares'",
    "match kuhn-poker MAST MAST --play often": "play is 'often'; it must be 'most visited' or 'visit shares'",
    "match kuhn-poker MAST MAST --play 'visit shares' --move-decay 1": "remembers its searches, and each decision is searched anew",
    "specs MSAT": "no enhancement is called 'MSAT'; did you mean MAST",
    "match othello MAST RAVE --iterations 3 --iterations 30": "--iterations is given 2 times; give it once",
    "ladder othello": "name either a strategy to rate, or an engine",
    "ladder othello MAST --engine x": "name either a strategy to rate, or an engine",
    "ladder othello --engine x --seconds 1 --cutoff 3": "searches in its own way: leave out --seconds, --cutoff",
    "ladder othello --engine pubeval": "no engine of othello is called 'pubeval'; known: grhino depth 1,",
    "ladder othello --engine '/no/such/engine --gtp'": "cannot be started",
    "ladder kuhn-poker MAST": "there is no ladder of kuhn-poker; games with a ladder: ",
    "play": "give a game, as in icarus play othello",
    "play --browser --evaluation othello.npz": "--evaluation and --levels are of one game: give GAME",
    "play --browser --watch --against NOSUCH": "without GAME the page asks for the game and its agents: leave out --watch, --against",
    "play --browser --level 3": "without GAME the page asks for the game and its agents: leave out --level",
    "play --resume nothing.txt --levels .": "brings seats, agents and seed of its own: leave out --levels",
    "play hearts --seat 4": "--seat is 4; it must be an integer from 0 to 3",
    "play hearts --against MAST --against MAST": "--against is given 2 times; give it once, or for each of 3",
    "search kuhn-poker --strategy 'MAST [move_decay = 1]'": "icarus search searches one position: leave out",
    "play kuhn-poker --against 'MAST [move_decay = 1]'": "icarus play searches each position anew",
    "play othello --level 3 --against MAST": "--level sets the others' strategy and budget: leave out --against",
    "play --resume nothing.txt": "'nothing.txt' cannot be used: no such file",
    "play --resume nothing.txt --seat 1 --seed 9": "leave out --seat, --seed",
    "play othello --resume nothing.txt": "leave out --resume",
}


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_refused_in_one_sentence_with_exit_code_2(icarus, tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)
    assert REFUSED[line] in refused(icarus(*shlex.split(line)))
    assert list(tmp_path.iterdir()) == []


STRATEGIES = {
    "rave(k=0)": "at position 1: k of rave is 0; it must be an integer from 1 to",
    "rave(k=1e400)": "k of rave is inf",
    "rave(k=1, k=2)": "a parameter is given twice",
    "rave(250, k=3)": "the parameter k of rave is given twice",
    "1/0*MAST": "division by zero",
    "(" * 5000 + "MAST" + ")" * 5000: "cannot be read at position",
    "-" * 9000 + "1*MAST": "has too many nested operators",
    "rave(k=" * 201 + "1" + ")" * 201: "cannot be read at position",
    "1" + "0" * 5000 + "*MAST": "cannot be read at position",
    "MAST\x00": "cannot be read at position",
    "MAST >> \udcff": "cannot be read at position 9;",
    "MAST ^ " * 20_000
    + "MAST": f"the strategy has 140,004 characters; at most {LONGEST:,} are allowed",
}
GAMES = {
    "knockout-whist(players=3, players=4)": "the parameter players of knockout-whist is given twice",
    "knockout-whist("
    + "(" * 5000
    + ")": "is not a game's name; write it like knockout-whist(players=3)",
    "hearts(threshold=" + "-" * 5000 + "3)": "is not a game's name",
    "hearts(threshold=9**9**9)": "is not a game's name",
    "hearts(**{'a': 1})": "is not a game's name",
    "hearts(3)": "is not a game's name",
    "hearts(pass_cards=false)": "is not a game's name; write False for false",
    "hearts(threshold=1e400)": "the threshold of hearts is inf; it must be an integer from 1 to 10000",
    "hearts(threshold=True)": "the threshold of hearts is True",
    "hearts(limit=3)": "hearts has no parameter 'limit'; it takes threshold",
}


@pytest.mark.parametrize("text", [*STRATEGIES, *GAMES], ids=lambda text: text[:20])
def test_a_text_that_means_nothing_is_refused_in_a_short_sentence(text):
    with pytest.raises(ValueError, match=re.escape((STRATEGIES | GAMES)[text])) as told:
        parse(text) if text in STRATEGIES else games.load(text)
    assert len(str(told.value)) < 2000


def test_an_agent_by_a_text_alone_has_the_usual_iterations():
    assert load_game("othello", []).agent("MAST").iterations == DEFAULT_ITERATIONS


@pytest.mark.parametrize(
    ("text", "cutoff", "scheme", "decay"),
    [
        ("MAST", None, SO_ISMCTS, 0.25),  # by the options
        ("MAST", 3, SO_ISMCTS.with_cutoff(3), 0.25),
        ("MAST   [move_decay = 0.5]", 3, SO_ISMCTS.with_cutoff(3), 0.5),
        (
            "MAST [scheme = MO_ISMCTS with cutoff=4, move_decay = 1.0]",
            3,
            MO_ISMCTS.with_cutoff(4),
            1.0,
        ),
        ("MAST [scheme = DeterminizedUCT(2)]", None, DeterminizedUCT(2), 0.25),
        ("MAST [scheme = DeterminizedUCT(2)]", 3, DeterminizedUCT(2).with_cutoff(3), 0.25),
    ],
)
def test_what_a_race_prints_behind_its_winner_goes_before_the_options(text, cutoff, scheme, decay):
    agent = load_game("othello", []).agent(
        text, "SO_ISMCTS", cutoff, move_decay=0.25, iterations=9, seconds=None
    )
    assert agent == Agent(MAST, iterations=9, scheme=scheme, move_decay=decay)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("iterations = 50", "'MAST, 50 iterations' has a budget of its own"),
        (
            "random_moves = 0.5",
            "is to play at random, which no search does; leave out random_moves",
        ),
    ],
)
def test_a_setting_in_a_text_that_an_agent_does_not_take_is_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        load_game("othello", []).agent(f"MAST [{setting}]")


def test_a_text_is_printed_as_it_is(capsys):
    text = "row:a:0 [bold]:x:"
    console.print_text(text)
    console.print_note(text)
    assert capsys.readouterr() == (f"{text}\n", f"{text}\n")
