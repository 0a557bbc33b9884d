"""What people type wrongly: one sentence that says what would be right, exit code 2, and nothing is written."""

import re
import shlex
from pathlib import Path

import pytest

from icarus import games, parse
from icarus.algebra.parsing import LONGEST
from icarus.commands.options import load_game
from icarus.engine.match import Agent
from icarus.engine.scheme import MO_ISMCTS, SO_ISMCTS, Scheme
from icarus.specs import MAST
from tests.commands.test_cli import Call, icarus, refused

__all__ = ["icarus"]

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
    "search othello --html .": "'.' is a directory; give a new file",
    f"search {FIVE} --cutoff 2": "kuhn-poker has no heuristic to end playouts with",
    f"search {FIVE} --recommendation best": "'best' is not a recommendation",
    f"search {FIVE} --scheme OOS()": "OOS() is an algorithm, not a scheme",
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
    f"{TWO} --game-decay 1 --game-decay 1 --game-decay 1": "--game-decay is given 3 times",
    f"{TWO} --games 0": "'--games': ",
    "match kuhn-poker 'MAST [scheme = NONE]' MAST": "'NONE' is not a scheme",
    "match kuhn-poker 'MAST [decay = 1]' MAST": "the strategy 'MAST [decay = 1]' cannot be read",
    "match kuhn-poker MAST MAST --levels .": "--levels says whose levels --level takes: give both",
    "match kuhn-poker MAST --levels . --level 2": "levels.json does not have the levels of a game, as icarus describe writes them",
    "bench --games othello --strategies 'MAST,nast(2, gibs(1))'": "no enhancement is called 'gibs'",
    "discover kuhn-poker": "Missing option '--games'",
    f"discover othello --games 4000 --to {__file__}": "is a file",
    "discover kuhn-poker --games 50 --space sixteen": "proves nothing",
    "discover kuhn-poker --games 500 --space no.toml": "there is no space and no file 'no.toml'; ",
    "discover kuhn-poker --games 200 --finalists 1": "for each of 1 finalist it could",
    f"exploitability {FIVE}": "these need a search, by --strategy: leave out --iterations",
    "exploitability kuhn-poker --strategy OOS(depth=1)": "is not a search; write Online Outcome Sampling as OOS",
    "exploitability kuhn-poker --strategy 'MAST [move_decay = 1]'": "each decision is searched anew",
    "specs --show MSAT": "no enhancement is called 'MSAT'; did you mean MAST",
    "ladder othello": "name either a strategy to rate, or an engine",
    "ladder othello MAST --engine x": "name either a strategy to rate, or an engine",
    "ladder othello --engine x --seconds 1 --cutoff 3": "searches in its own way: leave out --seconds, --cutoff",
    "ladder othello --engine pubeval": "no engine of othello is called 'pubeval'; known: grhino depth 1,",
    "ladder othello --engine '/no/such/engine --gtp'": "cannot be started",
    "ladder kuhn-poker MAST": "there is no ladder of kuhn-poker; games with a ladder: ",
    "play": "give a game, as in icarus play othello",
    "play hearts --seat 4": "--seat is 4; it must be an integer from 0 to 3",
    "play hearts --against MAST --against MAST": "hearts has 3 other seats; give it once, or once for each",
    "play kuhn-poker --against 'MAST [move_decay = 1]'": "icarus play searches each position anew",
    "play othello --level 3 --against MAST": "--level sets the others' strategy and budget: leave out --against",
    "play --resume nothing.txt": "'nothing.txt' cannot be used: no such file",
    "play --resume nothing.txt --seat 1 --seed 9": "leave out --seat, --seed",
    "play othello --resume nothing.txt": "leave out --resume",
}


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_refused_in_one_sentence_with_exit_code_2(
    icarus: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
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
    "MAST ^ " * 20_000 + "MAST": f"the strategy has 140,004 characters; at most {LONGEST:,} are allowed",
}
GAMES = {
    "knockout-whist(players=3, players=4)": "the parameter players of knockout-whist is given twice",
    "knockout-whist(" + "(" * 5000 + ")": "is not a game's name; write it like knockout-whist(players=3)",
    "hearts(threshold=" + "-" * 5000 + "3)": "is not a game's name",
    "hearts(threshold=9**9**9)": "is not a game's name",
    "hearts(**{'a': 1})": "is not a game's name",
    "hearts(3)": "is not a game's name",
    "hearts(threshold=1e400)": "the threshold of hearts is inf; it must be an integer from 1 to 10000",
    "hearts(threshold=True)": "the threshold of hearts is True",
    "hearts(limit=3)": "hearts has no parameter 'limit'; it takes threshold",
}


@pytest.mark.parametrize("text", [*STRATEGIES, *GAMES], ids=lambda text: text[:20])
def test_a_text_that_means_nothing_is_refused_in_a_short_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape((STRATEGIES | GAMES)[text])) as told:
        parse(text) if text in STRATEGIES else games.load(text)
    assert len(str(told.value)) < 2000


@pytest.mark.parametrize(
    ("text", "scheme", "decay"),
    [
        ("MAST", SO_ISMCTS, 0.25),  # by the options
        ("MAST   [move_decay = 0.5]", SO_ISMCTS, 0.5),
        ("MAST [scheme = MO_ISMCTS with cutoff=4, move_decay = 1.0]", MO_ISMCTS.with_cutoff(4), 1.0),
    ],
)
def test_what_a_race_prints_behind_its_winner_goes_before_the_options(text: str, scheme: Scheme, decay: float) -> None:
    agent = load_game("othello", []).agent(text, "SO_ISMCTS", move_decay=0.25, iterations=9, seconds=None)
    assert agent == Agent(MAST, iterations=9, scheme=scheme, move_decay=decay)
