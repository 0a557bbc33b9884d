"""Faults of others: rules edited between two games, engines that drip, files and outputs of other code pages, outputs without room.

Each is drawn from the habits of its kind, and `KINDS` has for each a change of the library with which it must be noticed.
"""

import contextlib
import io
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import attrs

from experiments import results as store
from experiments.plan import loading
from experiments.races import read_protocol
from experiments.run import run
from icarus import BASELINE, Agent, games
from icarus.arena.ledger import Ledger, check_settings, read_rows, write_settings
from icarus.arena.player import Entrant
from icarus.arena.workers import ALONE
from icarus.commands import cli, console, describe, options
from icarus.commands.conversation import Session
from icarus.discovery import race
from icarus.discovery.discover import plan_race
from icarus.discovery.space import SHIPPED, load_space
from icarus.engine.match import levels_of
from icarus.ladder import engines
from icarus.ladder.engines import EngineFailed, GtpEngine
from icarus.ladder.ladders import ZERO, Climb, Ladder, Rung, rated_games
from icarus.load_files import digest_of, load_file, load_files
from tests.faults.harness import Bench, Wrong, timeless
from tests.forked import survive

FEW, MOST = 3, 6  # games before and after the edit
SECONDS = 60  # for what is done in a process of its own

# -------------------- Rules that are edited, or imported ones, while rows are continued, by each command that continues rows.

RULES = {
    "own.py": """
import attrs
from icarus import MAST, PythonGame, gibbs
from icarus.kernel import TERMINAL
from rules import MOST, TAU
MINE = attrs.evolve(MAST(gibbs(TAU)), name="MINE")
LEAST = 1
def apply(state, action):
    state[:] = [state[0] - action, 1 - state[1]]
GAME = PythonGame(
    name="stones", players=2, initial=lambda rng: [30, 0], player=lambda state: TERMINAL if state[0] <= 0 else state[1],
    legal=lambda state: list(range(LEAST, MOST + 1)), apply=apply, rewards=lambda state: [float(state[1]), 1.0 - state[1]])
EXPERIMENT = {"games": "kuhn-poker", "iterations": 2, "trials": 3, "agents": {"mine": "MINE"}}
""",
    "rules.py": "from deeper import MOST\nTAU = 1.0\n",
    "deeper/__init__.py": "from .numbers import MOST\n",
    "deeper/numbers.py": "MOST = 3\n",
}
EDITS = {
    "own.py": ("LEAST = 1", "LEAST = 2"),
    "rules.py": ("TAU = 1.0", "TAU = 9.0"),
    "deeper/numbers.py": ("3", "7"),
}
LADDER = Ladder(
    "othello", (Rung("random", ZERO), Rung("other", ZERO, Entrant("BASELINE", iterations=2)))
)
Between = Callable[[], object]


def _after_few(rows: Iterable[Any], between: Between) -> None:
    for number, _ in enumerate(rows, 1):
        if number == FEW:
            between()


def _race(own: Path, directory: Path, between: Between) -> None:
    protocol = plan_race("stones", games=4000, iterations=2, files=[str(own)])
    protocol.write(directory)
    pair = Entrant("MINE"), Entrant("BASELINE")
    with race.RaceGames(protocol, protocol.game, directory / race.ROWS) as played:
        played.scores(race.PROOF, [pair] * FEW, range(FEW))
        between()
        played.scores(race.PROOF, [pair] * MOST, range(MOST))


def _report(own: Path, directory: Path, between: Between) -> None:
    load_file(own)
    plan = describe.Plan("stones", (str(own),), digest_of(own), 2, ("MINE",), 0)
    check_settings(
        directory / describe.PLAN, attrs.asdict(plan), "report", directory / describe.GAMES
    )
    write_settings(directory / describe.PLAN, attrs.asdict(plan))
    with Ledger(directory / describe.GAMES, describe.KEY) as ledger:
        _after_few(
            ledger.played(plan.round(0)[:MOST] + plan.round(0)[-MOST:], describe.report_row),
            between,
        )


def _rating(own: Path, directory: Path, between: Between) -> None:
    agent = Agent(load_files([own])["MINE"], iterations=1)
    with rated_games(directory / "rows.jsonl") as ledger:
        _after_few(Climb(LADDER, agent, ledger=ledger, files=[own]).games(MOST), between)


def _experiment(own: Path, directory: Path, between: Between) -> None:
    _after_few(run(loading.load(str(own), {}), directory, ALONE), between)


def _saved_game(own: Path, directory: Path, between: Between) -> None:
    names, path = load_files([own]), directory / "saved.txt"
    files = {own: digest_of(own)}
    if path.exists():
        session = Session.resumed(path.read_bytes(), files, names, path)
    else:
        session = Session(games.load("stones"), [None, Agent(BASELINE, iterations=2)], 1, files)
    while not session.over:
        waits = session.waits_for is not None
        session.apply(session.state.legal_actions()[-1] if waits else session.choose()[0])
        if len(session.played) == FEW:
            path.parent.mkdir(exist_ok=True)
            session.save(path)
            between()
    (directory / "whole.txt").write_text(str([played.action for played in session.played]))


COMMANDS = {  # who continues rows, and where they are
    _race: race.ROWS,
    _report: describe.GAMES,
    _rating: "rows.jsonl",
    _experiment: store.RESULTS,
    _saved_game: "whole.txt",
}
TOLD_BY = (
    "returns",
    "moves",
    "score",
    "actions",
    "length",
    "choices",
    "statistics",
)  # without clocks


def edit_rules(bench: Bench) -> None:
    """A file, or one that it imports, is edited between two games: the rows are those of the rules with which they were begun, or none is
    added to them; later the same command refuses to go on. When the edit is undone, it goes on to equal rows."""
    command, folder = bench.random.choice([*COMMANDS]), bench.fresh()
    (folder / "deeper").mkdir(parents=True)
    for name, content in RULES.items():
        (folder / name).write_text(content)
    name = bench.random.choice([*EDITS])
    edited, old, new = folder / name, *EDITS[name]
    directory, own = folder / "run", folder / "own.py"

    def edit(old: str, new: str) -> None:
        content = edited.read_text()
        assert old in content
        edited.write_text(content.replace(old, new))

    def go(directory: Path, between: Between = lambda: None) -> str:
        return _outcome(bench, lambda: command(own, directory, between))

    if said := go(folder / "whole"):
        raise Wrong(f"nothing was edited, but {said}")
    whole = _told(folder / "whole" / COMMANDS[command], command)
    if (
        not go(directory, lambda: edit(old, new))
        and _told(directory / COMMANDS[command], command) != whole
    ):
        raise Wrong(
            f"{command.__name__}: after an edit of {edited.name} the rows go on by other rules"
        )
    if not (said := go(directory)) or "\n" in said:
        raise Wrong(f"{command.__name__}: the edit of {edited.name} was not told: {said!r}")
    edit(new, old)
    if (said := go(directory)) or _told(directory / COMMANDS[command], command) != whole:
        raise Wrong(f"{command.__name__}: after the edit was undone the rows are others: {said}")


def _outcome(bench: Bench, work: Callable[[], object]) -> str:
    """What refuses work in a process of its own that has loaded nothing; empty if it was done."""
    said = bench.fresh()

    def trial(_: int) -> None:
        try:
            work()
        except ValueError as error:
            said.write_text(str(error) or "nothing is said")

    survive(1, trial, SECONDS)
    return said.read_text() if said.exists() else ""


def _told(path: Path, command: Callable) -> object:
    if command is _saved_game:
        return path.read_text()
    key = (
        ("seed", "side")
        if command is _rating
        else ("cell", "trial")
        if command is _experiment
        else race.KEY
    )
    rows = read_rows(path, describe.KEY if command is _report else key)
    return sorted(
        str([(name, timeless(row[name])) for name in TOLD_BY if name in row]) for row in rows
    )


# -------------------- Engines that drip, flood, fall silent, and leave children behind.

LIMIT = 0.4  # seconds for an answer
GROWTH = 150 << 20  # bytes by which this process may grow meanwhile
BEFORE = [
    "",
    "",
    "sleep 30 &",
    "setsid sleep 30 &",
    "trap '' TERM HUP PIPE;",
    "yes >&2 &",
    "echo words >&2;",
]
ANSWERS = {  # shell text, and what the answer is; empty where it must fail
    "printf '= ok\\n\\n'": "ok",
    "printf '\\n\\n= o'; sleep .05; printf 'k\\n'; sleep .05; echo": "ok",
    "while :; do echo '= info'; sleep .1; done": "",
    "while :; do printf '= a'; sleep .02; done": "",
    "printf '= '; cat /dev/zero": "",
    "yes '= yes'": "",
    "printf '= ok\\n'; exec sleep 30": "",
    "exec 1>&-; sleep 30": "",
    "printf '\\377\\376'; sleep 30": "",
    "exit 3": "",
    "printf '? no\\n\\n'": "",
}


def drip(bench: Bench) -> None:
    """An engine misbehaves: the answer, or a sentence within the limit, of a process that does not grow; and nothing of it goes on."""
    answer = bench.random.choice([*ANSWERS])
    text = f"{bench.random.choice(BEFORE)} read line; {answer}; sleep 30"
    before, started = _memory(), time.monotonic()
    process = GtpEngine("fake", ("/bin/sh", "-c", text), LIMIT if not ANSWERS[answer] else SECONDS)
    try:
        said = process.ask("name")
        process.close(grace=0)
    except EngineFailed as error:
        said = ""
        if not str(error).startswith("fake ") or "\n" in str(error) or len(str(error)) > 1000:
            raise Wrong(f"told in other than one line: {error}") from None
    if said != ANSWERS[answer]:
        raise Wrong(f"the answer of {text} is {said!r}")
    if time.monotonic() - started > LIMIT + 3 * engines.GRACE or _memory() - before > GROWTH:
        raise Wrong(
            f"{text} took {time.monotonic() - started:.1f} s and {_memory() - before:,} bytes"
        )
    until = time.monotonic() + engines.GRACE  # who is killed dies soon
    while (goes_on := _goes_on(process._child.pid)) and time.monotonic() < until:
        time.sleep(0.05)
    if goes_on:
        raise Wrong(f"{text} goes on")


def _goes_on(group: int) -> bool:
    """Whether a process of a group runs, which one that nobody has waited for does not."""
    listed = subprocess.run(
        ["ps", "-eo", "pgid=,stat="], capture_output=True, text=True, check=True
    ).stdout
    return any(
        int(number) == group and state[0] != "Z"
        for number, state in map(str.split, listed.splitlines())
    )


def _memory() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


# -------------------- Files of other code pages, with byte order marks and other ends of lines.

SPACE = (SHIPPED / "knowledge.toml").read_text("utf-8")
TABLE = 'name = "Prüfung π"\ngames = "kuhn-poker"\nagents = ["MAST"]\niterations = 5\n'
PYTHON = "# Öffnung\nfrom icarus import MAST\nMINE = MAST\nTITLE = 'Spiel für zwei π'\n"
LEVELS = (Path(levels_of.__code__.co_filename).parent / "levels.json").read_text("utf-8")
CODE_PAGES = [
    "utf-8",
    "utf-8-sig",
    "utf-16",
    "utf-16-le",
    "utf-32",
    "cp1252",
    "latin-1",
    "shift_jis",
    "cp037",
]
READERS: dict[str, tuple[str, Callable[[Path], object]]] = {
    "space.toml": (f"# Räume π\n{SPACE}", load_space),
    "table.toml": (TABLE, lambda path: loading.load(str(path), {}).name),
    "own.py": (PYTHON, lambda path: getattr(load_file(path), "TITLE", "")),
    "levels.json": (
        LEVELS.replace("{", '{"Größe π": 1, ', 1),
        lambda path: levels_of("othello", path),
    ),
    "saved.txt": (
        "",
        lambda path: [
            played.text for played in Session.resumed(path.read_bytes(), file=path).played
        ],
    ),
    "settings.json": (
        '{"name": "mine"}',
        lambda path: check_settings(path, {"name": "mine"}, "race", path),
    ),
    "protocol.json": ("", lambda path: read_protocol(path.parent)),
    "experiment.json": ("", lambda path: store.experiment_in(path.parent)),
}
WRITTEN = ("settings.json", "protocol.json", "experiment.json")  # by the library alone


def _text_of(name: str, bench: Bench) -> str:
    """The text of a file that a reader reads; those that the library writes are written by it."""
    folder = bench.fresh()
    if name == "saved.txt":
        session = Session(games.load("othello"), [None, Agent(BASELINE, iterations=2)], 1)
        session.apply(session.state.legal_actions()[0])
        folder.mkdir()
        session.save(folder / name)
    elif name == "protocol.json":
        plan_race("kuhn-poker", games=4000).write(folder)
    elif name == "experiment.json":
        folder = bench.whole
    return READERS[name][0] or (folder / name).read_text("utf-8")


def recode(bench: Bench) -> None:
    """A file is saved by another editor: it reads as the same, or a sentence names it."""
    name, page = bench.random.choice([*READERS]), bench.random.choice(CODE_PAGES)
    (folder := bench.fresh()).mkdir()
    path, other = folder / name, folder / "other" / name
    other.parent.mkdir()
    text = _text_of(name, bench).encode(page, "ignore").decode(page)  # whose letters the page has
    path.write_bytes(text.encode())
    ends = bench.random.choice(["\n", "\r\n"])
    other.write_bytes(text.replace("\n", ends).encode(page))
    told = READERS[name][1](path)
    try:
        recoded = READERS[name][1](other)
    except ValueError as error:
        # What the library writes itself it need not read with the mark that editors of Windows put first.
        must_be_read = ("utf-8",) if name in WRITTEN else ("utf-8", "utf-8-sig")
        names_the_file = str(other) in str(error) and "\n" not in str(error)
        if page in must_be_read or not names_the_file:
            raise Wrong(f"{name} as {page}: {error}") from None
    else:
        if recoded != told:
            raise Wrong(f"{name} as {page} reads as {recoded}, not {told}")


# -------------------- Outputs of other code pages, and outputs without room.

OUTPUTS = ["ascii", "cp1252", "cp437", "latin-1", "shift_jis", "utf-16", "koi8-r"]
LINES = [
    ["specs"],
    ["specs", "RAVE >> (MAST + NAST2)/2"],
    ["games"],
    [
        "search",
        "othello",
        "--iterations",
        "20",
        "--html",
        "page.html",
        "--records",
        "MAST",
        "--strategy",
        "MAST",
    ],
    ["search", "kuhn-poker", "--iterations", "20", "--html", "page.html"],
    ["match", "kuhn-poker", "BASELINE", "MAST", "--games", "1", "--iterations", "5"],
    ["check", "kuhn-poker", "--games", "1", "--determinizations", "3"],
]


@contextlib.contextmanager
def _output(stream: io.TextIOWrapper) -> Iterator[None]:
    """Within, what is printed goes into a stream."""
    before = sys.stdout, console.out.quiet
    sys.stdout = stream
    try:
        yield
    finally:
        sys.stdout, console.out.quiet = before


def _ran(line: list[str], stream: io.TextIOWrapper) -> tuple[int, str]:
    """The exit code of a command as a process runs it, and what it says on stderr."""
    errors, arguments = io.StringIO(), sys.argv
    sys.argv = ["icarus", *line]
    try:
        with _output(stream), contextlib.redirect_stderr(errors):
            console.run_main(cli.app, "icarus")
    except SystemExit as ending:
        return int(ending.code or 0), errors.getvalue()
    finally:
        sys.argv = arguments
    raise AssertionError("a program ends by SystemExit")


def write_code_page(bench: Bench) -> None:
    """The output has no letters for what is printed: it is written with escapes, and files are what they always are."""
    page, line, printed = bench.random.choice(OUTPUTS), bench.random.choice(LINES), list[str]()
    for encoding in ("utf-8", page):
        (folder := bench.fresh()).mkdir()
        content = io.BytesIO()
        stream = io.TextIOWrapper(content, encoding, write_through=True)
        with contextlib.chdir(folder):
            code, errors = _ran(line, stream)
        if code not in (0, options.UNCHECKED) or "Traceback" in errors:
            raise Wrong(f"{line} with {encoding} ends with {code}: {errors}")
        files = [file.read_text("utf-8") for file in folder.iterdir()]
        text = content.getvalue().decode(encoding)
        printed.append("\n".join([text.encode(page, "backslashreplace").decode(page), *files]))
    if _without_clocks(printed[0]) != _without_clocks(printed[1]):
        raise Wrong(f"{line} with {page} prints {printed[1]!r}, not {printed[0]!r}")


def _without_clocks(text: str) -> list[str]:
    """Lines in which no clock is told."""
    return [line for line in text.splitlines() if " s" not in line and "second" not in line]


def fill_output(bench: Bench) -> None:
    """No room for a file, or for what is printed: a sentence names which, and no half of a file is left."""
    line = bench.random.choice([line for line in LINES if "--html" in line])
    (folder := bench.fresh()).mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with contextlib.chdir(folder), io.TextIOWrapper(io.BytesIO(), "utf-8") as stream:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bench.random.randrange(0, 5000), before[1]))
        try:
            code, errors = _ran(line, stream)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    if code != 2 or "'page.html" not in errors or errors.count("\n") != 1 or [*folder.iterdir()]:
        raise Wrong(f"{line} ends with {code}, leaves {[*folder.iterdir()]}: {errors}")


# How many of each by default; and what must be noticed: a part of the library that is taken away, and what stands in its place.
KINDS: dict[Callable[[Bench], None], tuple[int, str, object]] = {
    edit_rules: (30, "icarus.load_files.imports_of", lambda path: ()),
    drip: (
        40,
        "icarus.ladder.engines.os",
        SimpleNamespace(killpg=os.kill, read=os.read, set_blocking=os.set_blocking, write=os.write),
    ),
    recode: (
        60,
        "pathlib.Path.read_text",
        lambda path, encoding=None: path.read_bytes().decode("utf-8"),
    ),
    write_code_page: (30, "icarus.commands.console.io", SimpleNamespace(TextIOWrapper=bytes)),
    fill_output: (
        8,
        "icarus.views.tree_page.write_whole",
        lambda path, text: path.write_text(text),
    ),
}
