"""Every command that a page prints runs as a reader would copy it: in order, in one directory, with fewer games and iterations."""

import contextlib
import io
import re
import shlex
import textwrap

import pytest

from icarus.audit import audit
from icarus.bridges.seats import game_of
from icarus.commands import server
from icarus.commands.cli import run
from icarus.load_files import game_classes, load_file
from tests.conftest import ROOT

PAGES = ["README.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md")))]
FEWER = {"--games": "1", "--iterations": "40", "--minutes": "0.1", "--seeds": "2"}
LEAST_GAMES = {
    "discover": 1500,
    "learn": 40,
}  # that a race needs to prove anything, and a round of learning
ADDED = {
    "describe": ["--minutes"],
    "match": ["--games", "--iterations"],
    "search": ["--iterations"],
    "play": ["--iterations"],
    "check": ["--games"],
    "exploitability": ["--iterations", "--seeds"],
}
LONG = (  # to be compiled, to be played, or limited by the clock
    "icarus discover",
    "icarus ladder",
    "icarus describe",
    "icarus learn",
    "describe-mygame",
    "mygame.npz",
    "leduc-poker",
    "liars-dice",
    "icarus match hearts",
)
RESUMED = "icarus play --resume saved.txt"


def files_of(page: str) -> dict[str, str]:
    """The Python files that a page shows, by name."""
    text = (ROOT / page).read_text("utf-8")
    files = re.findall(r"^    # (\w+\.py)\n((?:    .*\n)+)", text, re.MULTILINE)
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    shown = {name: textwrap.dedent(lines) for name, lines in files}
    return shown | ({"pairs.py": "".join(blocks[:2])} if page == "README.md" else {})


def commands_of(page: str) -> list[str]:
    lines = re.findall(
        r"^(?:    )?(icarus [a-z]+ .*)$", (ROOT / page).read_text("utf-8"), re.MULTILINE
    )
    parts = [part.strip() for line in lines for part in re.split("  +#", line)[0].split("&&")]
    return [part for part in parts if not part.startswith("icarus follows")]


def shortened(command: str) -> list[str]:
    """The arguments of a command, with fewer games and iterations."""
    _, name, *rest = shlex.split(command)
    fewer = dict(FEWER)
    if name in LEAST_GAMES and "--games" in rest:
        printed = int(rest[rest.index("--games") + 1])
        fewer |= {"--games": str(min(printed, LEAST_GAMES[name])), "--iterations": "5"}
    rest = [fewer.get(before, word) for before, word in zip([name, *rest], rest, strict=False)]
    # a table without a game asks for the budget of its agents
    has_budget = {"--level", "--resume"} & {*rest} or rest == ["--browser"]
    is_exact = name == "exploitability" and "--strategy" not in rest
    missing = (
        [] if has_budget or is_exact else [each for each in ADDED.get(name, []) if each not in rest]
    )
    return [name, *rest, *(word for option in missing for word in (option, FEWER[option]))]


@pytest.mark.parametrize("all_of_them", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_every_printed_command_runs(all_of_them, tmp_path, monkeypatch, few_ways, few_deals):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server.Server, "serve", server.Server.server_close)
    for folder in ("examples", "experiments"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    ran = set[str]()
    for page in PAGES:
        for name, text in files_of(page).items():
            (tmp_path / name).write_text(text, "utf-8")
        commands = commands_of(page)
        for command in commands:
            if command in ran or not all_of_them and any(part in command for part in LONG):
                continue
            said = io.StringIO()
            typed = "save saved.txt\nquit\n" if RESUMED in commands else "quit\n"
            monkeypatch.setattr("sys.stdin", io.StringIO(typed))
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = run(shortened(command))
            assert code == 0, f"{page}: {command}: {said.getvalue()}"
            ran.add(command)
    assert len(ran) >= (29 if all_of_them else 15)


def test_the_class_on_the_page_on_plain_python_passes_the_check(tmp_path, few_deals):
    text = (ROOT / "docs/plain-python.md").read_text("utf-8")
    (source,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (tmp_path / "swap.py").write_text(source)
    (swap,) = game_classes(load_file(tmp_path / "swap.py"))
    game = game_of(swap)
    assert game.players == 2
    assert audit(game, games=2).passed


def test_what_a_page_installs_is_an_extra_of_the_project():
    extras = (ROOT / "pyproject.toml").read_text()
    for page in PAGES:
        for names in re.findall(r"pip install '\.\[([\w,]+)\]'", (ROOT / page).read_text("utf-8")):
            assert all(f"\n{name} = [" in extras for name in names.split(",")), page
        # no index has it
        assert "pip install 'icarus-mcts" not in (ROOT / page).read_text("utf-8"), page
