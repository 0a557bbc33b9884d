"""The documents: README is short, examples run as printed, and what pages name is there."""

import contextlib
import functools
import importlib
import importlib.util
import inspect
import io
import re
import runpy
import shlex
import subprocess
import sys

import attrs
import pytest

from icarus import BASELINE, games, in_python, search
from icarus.audit.lockstep import compare
from icarus.commands.cli import run
from icarus.kernel.state import State
from tests.conftest import ROOT, environment
from tests.forked import survive

DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
BLOCKS = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)


def test_the_enhancement_of_one_s_own_runs_as_printed(tmp_path, capsys):
    assert BLOCKS[0].count("\n") <= 20
    (tmp_path / "pairs.py").write_text(BLOCKS[0] + BLOCKS[1])
    runpy.run_path(str(tmp_path / "pairs.py"), run_name="__main__")
    said = capsys.readouterr()
    assert "RAVE >> (PAIRS + MAST)/2: 5000 iterations" in said.out
    assert said.err == ""


@pytest.mark.parametrize("name", ["own_pairs.py", "nim.py"])
def test_the_smallest_examples_run(name, capsys):
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    assert "5000 iterations" in capsys.readouterr().out


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_bytes()) <= 8_000


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        "Makefile",
        *sorted(f"docs/{path.name}" for path in DOCS.glob("*.md")),
    ],
)
def test_every_file_that_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    for link in re.findall(r"\]\((?!https?:|#)([^)#\s]+)", text):
        assert (ROOT / page).parent.joinpath(link).exists(), link
    for path in re.findall(r"\b(?:tests|icarus|experiments|examples)/[a-z_/0-9]+\.py", text):
        assert (ROOT / path).exists(), path


def test_the_worth_of_a_second_thread_can_be_measured(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["two_threads.py", "othello", "20", "4"])
    runpy.run_path(str(EXAMPLES / "two_threads.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith(
        "othello: two threads, 40 iterations, against one with 20: mean reward"
    )


# -------------------- The cells of the tutorials run from any folder, with fewer games and iterations.


FEWER = {
    "--games 100": "--games 1",
    "--games 30": "--games 1",
    "--games 5": "--games 1",
    "--iterations 500": "--iterations 5",
    "games=3, determinizations=600": "games=1, determinizations=60",
}
COMMAND = "!python -m icarus "


def run_cell(cell: str, names: dict[str, object]) -> None:
    """Run a cell: Python, or a command, in this process if no pipe leads to it."""
    if cell.startswith(COMMAND):
        assert run(shlex.split(cell.removeprefix(COMMAND).format(**names))) == 0
    elif cell.startswith("!"):
        line = cell[1:].replace("python", sys.executable)
        subprocess.run(line, shell=True, check=True, env=environment())
    else:
        exec(compile(cell, "a cell", "exec"), names)


PAGES = {
    "tutorial-enhancement": 6,
    "tutorial-game": 6,
    "opponent": 4,
    "reuse": 3,
    "views": 5,
    "index": 2,
}  # and cells


@pytest.mark.parametrize(("page", "least"), PAGES.items())
def test_the_cells_of_a_page_run_from_any_folder(page, least, tmp_path, monkeypatch, few_ways):
    text = (DOCS / f"{page}.md").read_text()
    for full, short in FEWER.items():
        text = text.replace(full, short)
    cells = re.findall(r"```\{code-cell\}\n(?::.*\n)*(.*?)```", text, re.DOTALL)
    assert len(cells) >= least
    monkeypatch.chdir(tmp_path)

    def run_cells(number):
        names = dict[str, object]()
        with contextlib.redirect_stdout(io.StringIO()) as said:
            for cell in cells:
                run_cell(cell, names)
        if page == "opponent":  # whoever cannot see the cards chooses the same, whichever they are
            assert re.findall("True|False", said.getvalue()) == ["True", "True"]
        if page == "tutorial-game":  # whose last attempt passes, by the command
            assert "\nrecall: " in said.getvalue()

    survive(1, run_cells, 600)


# -------------------- The examples that the documentation builds step by step: they run, and the audit tells right from wrong.


@functools.cache
def example(name):
    """The module of an example, which is the same for all tests: what it defines is found again by its name."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


nest_egg, second_chance, staged = example("nest_egg"), example("second_chance"), example("staged")
PLAIN_PAGE = (DOCS / "plain-python.md").read_text()


def test_points_are_those_of_the_tricks_and_the_card_laid_aside():
    state = nest_egg.NEST_EGG.new_initial_state(4)  # 4 5 6 8 against 1 2 7 9
    for worth in (
        8,
        9,
        6,
        7,
        1,
        4,
        5,
        2,
    ):  # 8 and 9 are laid aside; 7 takes 6; 4 takes 1; 5 takes 2
        state.apply_action(worth - 1)
    assert state.facts.points.tolist() == [4 + 1 + 5 + 2, 6 + 7]
    assert state.returns() == [0.0, 1.0]  # 12 + 8 against 13 + 9


def test_second_chance_is_played_by_its_rules_and_each_sees_his_own_card():
    state = second_chance.GAME.new_initial_state(1)
    first, second = state.data["cards"]
    state.apply_action(state.string_to_action("swap"))
    drawn = state.legal_actions()[0]
    assert state.is_chance_node()
    assert first not in state.legal_actions()
    assert len(state.legal_actions()) == 4
    state.apply_action(drawn)
    assert state.moves(0) == (second_chance.SWAP, drawn)
    assert state.moves(1) == (second_chance.LAID + first,)
    assert {tuple(state.determinize(1, seed).data["cards"])[1] for seed in range(9)} == {second}
    state.apply_action(second_chance.KEEP)
    assert state.returns() == [float(drawn > second), float(second > drawn)]


def test_the_page_on_plain_python_shows_the_example_and_its_lines():
    assert "```{literalinclude} ../examples/second_chance.py" in PLAIN_PAGE
    game = attrs.evolve(second_chance.GAME, legal=lambda state: None)
    line = second_chance.legal.__code__.co_firstlineno
    assert (
        f"legal of second-chance (examples/second_chance.py, line {line}) returned None; it must be a list"
        in PLAIN_PAGE
    )
    with pytest.raises(ValueError, match="returned None; it must be a list of different integers"):
        game.new_initial_state().legal_actions()
    for command in re.findall(r"icarus (?:search|match|play|check|discover) (\S+\.py)", PLAIN_PAGE):
        assert command in ("mygame.py", "FILE.py") or (ROOT / command).exists(), command


def test_a_plain_game_can_be_the_referee_of_a_compiled_one():
    nim = example("nim").NIM
    assert compare(nim, lambda state: State(in_python(nim), state.data.copy()), games=5).passed


def test_stages_are_records_of_their_own():
    state = games.load("othello").new_initial_state()
    single = search(
        state, BASELINE >> staged.staged_mast("STAGED", width=1000), iterations=30, seed=1
    )
    many = search(state, BASELINE >> staged.staged_mast("STAGED", width=1), iterations=30, seed=1)
    assert len(many.records["STAGED"]) > len(single.records["STAGED"])


def test_the_server_keeps_games_apart_and_tells_each_player_what_he_sees():
    client = pytest.importorskip("starlette.testclient").TestClient(example("service").app)

    def ask(path: str = "/games", **body: object) -> dict:
        return client.post(path, json=body).json()

    othello = ask(game="othello", level=1, moves=["d3", "c5"])
    hearts = ask(game="hearts", level=1, seat=2)
    assert othello["text"].endswith("black to move")
    assert othello["seen"] == [19, 34]
    assert hearts["text"].count("face down") == 3
    assert len(hearts["moves"]) == 13
    assert set(hearts["seen"]) == {106}
    after = ask(f"/games/{othello['number']}", line=othello["moves"][0], seconds=0.01)
    assert len(after["seen"]) == 4
    assert after["returns"] is None
    assert "is not legal here; legal: " in ask(f"/games/{othello['number']}", line="a1")["error"]
    assert "missing required field `game`" in ask(level=3)["error"]


WRONG_BODIES = [
    *(
        "",
        "null",
        "[]",
        "{}",
        "3",
        '"othello"',
        "{",
        "{'game': 'othello'}",
        '{"game": null}',
        '{"game": 3}',
        '{"game": "chess"}',
    ),
    *(
        f'{{"game": "othello", {more}}}'
        for more in (
            '"seat": "0"',
            '"seat": -1',
            '"seat": 2',
            '"seat": 1.5',
            '"seat": null',
            '"level": "3"',
            '"level": 99',
            '"level": null',
            '"moves": "d3"',
            '"moves": [3]',
            '"moves": ["a1"]',
            '"moves": {}',
            '"moves": null',
            '"other": 1',
            '"persons": 3',
        )
    ),
    '{"game": "othello(x=1)"}',
    "\\xff",
    "[" * 100_000,
    " " * 200_000,
]
WRONG_MOVES = [
    *(
        '{"line": "a1"}',
        '{"line": 3}',
        '{"line": null}',
        "null",
        "[]",
        "{}",
        '{"line": "d3", "seconds": -1}',
    ),
    *(
        f'{{"line": "d3", "seconds": {seconds}}}'
        for seconds in ("0", '"1"', "NaN", "1e999", "100", "true", "[]")
    ),
]


def test_the_server_refuses_wrong_requests_in_a_sentence_and_leaves_games_as_they_are():
    service = example("service")
    service.tables.games.clear()  # of other tests
    client = pytest.importorskip("starlette.testclient").TestClient(service.app)
    for body in WRONG_BODIES:
        answer = client.post("/games", content=body)
        assert 400 <= answer.status_code < 500, body[:80]
        assert answer.json()["error"], body[:80]
    assert not service.tables.games
    number = client.post("/games", json={"game": "othello", "level": 1}).json()["number"]
    for body in WRONG_MOVES:
        answer = client.post(f"/games/{number}", content=body)
        assert 400 <= answer.status_code < 500, body
        assert answer.json()["error"], body
        assert not service.tables.games[number].session.played, body
    assert client.post("/games/99", json={"line": "d3"}).status_code == 404


# -------------------- Every public name is on a page of the API, and every name there is public.


PAGES = (DOCS / "api.md").read_text() + (DOCS / "catalogue.md").read_text()
PACKAGES = (
    "icarus",
    "icarus.algebra",
    "icarus.audit",
    "icarus.equilibrium",
    "icarus.games",
    "icarus.kernel",
    "icarus.ladder",
)
MODULES = ("icarus.bridges.openspiel", "icarus.bridges.pettingzoo", "icarus.testing")


def public_names(name: str) -> list[str]:
    """What `__all__` lists, or else the functions and classes of a module that are its own."""
    module = importlib.import_module(name)
    if hasattr(module, "__all__"):
        return list(module.__all__)
    candidates = [
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", "") == name and key[0] != "_" and key != "main"
    ]
    return [
        key
        for key in candidates
        if inspect.isfunction(vars(module)[key]) or inspect.isclass(vars(module)[key])
    ]


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_every_public_name_is_on_a_page(name):
    words = set(re.findall(r"\w+", PAGES))
    assert [public for public in public_names(name) if public not in words] == []


def test_every_name_on_the_page_is_there():
    current = ""
    for line in (DOCS / "api.md").read_text().splitlines():
        directive, _, target = line.removeprefix(".. auto").partition(":: ")
        if line.startswith(".. currentmodule:: "):
            current = line.partition(":: ")[2]
        elif line.startswith(".. auto") and directive != "module":
            path, _, name = (target if "." in target else f"{current}.{target}").rpartition(".")
            assert hasattr(importlib.import_module(path), name), line
