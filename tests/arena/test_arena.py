"""The ledger: no state but its rows, which lose nothing when a process is killed and tell when they were changed."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from enum import StrEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any

import attrs
import msgspec
import numpy as np
import pytest

from experiments.results import is_being_written, pack
from icarus import BASELINE, Agent, games
from icarus.arena import ledger
from icarus.arena.ledger import Ledger, line_of, read_rows, write_whole
from icarus.arena.match import Match, game_row
from icarus.arena.player import ChosenAction, Entrant, PartlyRandom, RandomPlayer, read_entrant
from icarus.arena.workers import ALONE, GameFailed, Workers, workers
from icarus.equilibrium import OOS

FIELDS = ("name", "seed")
ROWS: list[dict[str, Any]] = [
    {"name": "a", "seed": [number], "score": number / 4} for number in range(6)
]


@attrs.frozen
class Square:
    """A task."""

    number: int

    @property
    def key(self) -> tuple[object, ...]:
        return "square", (self.number,)


def played(task: Square) -> dict[str, Any]:
    return {"name": "square", "seed": [task.number], "is": task.number**2}


def test_what_is_kept_is_not_played_again(tmp_path):
    path, tasks = tmp_path / "folder" / "rows.jsonl", [Square(number) for number in (3, 1, 3)]
    with Ledger(path, FIELDS) as rows:
        assert [row["is"] for row in rows.play(tasks, played)] == [9, 1, 9]
    path.write_bytes(path.read_bytes() + b'{"torn')
    # what is being written is passed over
    assert [row["is"] for row in read_rows(path, FIELDS)] == [9, 1]
    with Ledger(path, FIELDS) as rows:
        assert [row["is"] for row in rows.played([*tasks, Square(2)], played)] == [4]
    assert [row["is"] for row in read_rows(path, FIELDS)] == [9, 1, 4]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            ["seed"],
            r"the key \(0,\) has \(\(7, 0\),\) in its row, .*: seed; give that field another name",
        ),
        (["number", "seat"], r"the key \(0,\) does not have a value for each field: number, seat"),
    ],
)
def test_a_row_that_would_lose_its_key_is_refused(fields, message):
    match = Match((0,), "kuhn-poker", (Entrant(),) * 2, seed=(7, 0))
    with Ledger(None, fields) as rows, pytest.raises(ValueError, match=message):
        rows.play([match], game_row)


def test_a_ledger_takes_the_text_of_a_path_and_no_text_for_its_fields(tmp_path):
    with Ledger(str(tmp_path / "rows.jsonl"), FIELDS) as rows:
        rows.keep(ROWS[0])
    assert list(read_rows(str(tmp_path / "rows.jsonl"), FIELDS)) == ROWS[:1]
    with pytest.raises(TypeError, match="fields is 'number'; it must be a list"):
        Ledger(tmp_path / "others.jsonl", "number")


def test_numbers_of_numpy_name_a_game_as_python_s_own_do(tmp_path):
    path, one = tmp_path / "rows.jsonl", np.int64(1)
    entrants = Entrant("BASELINE", iterations=2), Entrant()
    match = Match((one, (one,)), "kuhn-poker", entrants, seed=(7, one))
    with Ledger(path, ["number", "place"]) as rows:
        assert len(list(rows.played([match], game_row))) == 1
    with Ledger(path, ["number", "place"]) as rows:
        assert not list(rows.played([attrs.evolve(match, key=(1, (1,))), match], game_row))
    with pytest.raises(TypeError, match="JSON cannot hold .1.: no number, text, list or table"):
        line_of({"is": {1}})
    assert str(OOS(delta=np.float64(0.5))) == "OOS(delta=0.5)"


class Word(StrEnum):
    """Words as a program of one's own may have them."""

    PUBLIC = "public subgame"
    PYTHON = "python"


def test_a_word_of_an_enumeration_is_written_as_python_s_own():
    assert repr(OOS(target=Word.PUBLIC)) == "OOS(target='public subgame')"
    agent = Agent(BASELINE, iterations=5, engine=Word.PYTHON)
    assert repr(agent) == "Agent(BASELINE, iterations=5, engine='python')"


def test_one_process_writes_at_a_time(tmp_path, monkeypatch):
    path = tmp_path / "rows.jsonl"
    assert not is_being_written(path)
    with Ledger(path, FIELDS):
        assert is_being_written(path)
        with pytest.raises(ValueError, match=r"another process is writing to .*rows\.jsonl"):
            Ledger(path, FIELDS)
    path.write_bytes(b'{"damaged":0}\n')
    with pytest.raises(ValueError, match="line 1: damaged"):
        Ledger(path, FIELDS)
    path.unlink()
    with Ledger(path, FIELDS):  # the lock has gone with who held it
        monkeypatch.setattr(ledger, "fcntl", None)
        with Ledger(path, FIELDS) as second:
            assert second.rows == {}


# -------------------- Files that are no ledger, given by mistake: refused, and left as they are.

NO_LEDGERS = {
    "JSON of one line": b'{"name":"settings","seed":[1]}',
    "cut JSON of one line": b'{"title": "settings", "seed": [1',
    "JSON of several lines": b'{\n "name": "settings",\n "seed": [1]\n}',
    "a list": b"[1, 2, 3]",
    "notes": b"first line\nlast line",
    "a note of one line": b"remember",
    "UTF-16": '{"name":"settings"}'.encode("utf-16"),
    "UTF-16 with line ends": '{"name":"settings"}\n'.encode("utf-16"),
    "packed rows under another name": gzip.compress(b"".join(map(line_of, ROWS))),
    "rows of another ledger": line_of({"game": "othello", "seed": [1]}) + b'{"game":',
    "rows and a note": b"".join(map(line_of, ROWS)) + b"remember",
    "an empty line": b"\n",
}


@pytest.mark.parametrize("content", NO_LEDGERS.values(), ids=NO_LEDGERS)
def test_a_file_that_is_no_ledger_is_refused_and_left_as_it_is(content, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"rows\.jsonl.*(damaged|the last line has no end and is not a row)"
    ):
        Ledger(path, FIELDS)
    assert path.read_bytes() == content


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no such device")
def test_a_device_keeps_no_rows():
    """The first line of /dev/full never ends."""
    with pytest.raises(ValueError, match="^/dev/full is a device or a pipe, which keeps no rows"):
        Ledger("/dev/full", FIELDS)


def test_a_packed_file_given_by_its_name_is_refused_and_left_as_it_is(tmp_path):
    packed, content = tmp_path / "rows.jsonl.gz", gzip.compress(b"".join(map(line_of, ROWS)))
    packed.write_bytes(content)
    with pytest.raises(
        ValueError, match=r"rows\.jsonl\.gz is packed and cannot go on; give .*rows\.jsonl, which"
    ):
        Ledger(packed, FIELDS)
    assert packed.read_bytes() == content
    packed.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"rows\.jsonl\.gz is damaged"):
        Ledger(tmp_path / "rows.jsonl", FIELDS)
    assert list(tmp_path.iterdir()) == [packed]


@pytest.mark.parametrize("whole", [0, 1, 3])
@pytest.mark.parametrize("kept", [12, 30, -1, "zeros"])
def test_what_a_killed_process_left_of_a_row_is_cut_off(whole, kept, tmp_path):
    path, rows = tmp_path / "rows.jsonl", b"".join(map(line_of, ROWS[:whole]))
    left = bytes(40) if isinstance(kept, str) else line_of(ROWS[whole])[:kept]
    path.write_bytes(rows + left)
    if whole or any(left):
        with Ledger(path, FIELDS) as ledger:
            assert list(ledger.rows.values()) == ROWS[:whole]
        assert path.read_bytes() == rows
    else:  # which may be anything
        with pytest.raises(ValueError, match="the last line has no end"):
            Ledger(path, FIELDS)


def test_rows_of_one_game_that_differ_are_refused_where_a_ledger_is_strict(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(line_of(ROWS[0]) + line_of(ROWS[1]) + line_of(ROWS[0]))
    with Ledger(path, FIELDS, strict=True) as ledger:
        assert [*ledger.rows.values()] == ROWS[:2]
    path.write_bytes(line_of(ROWS[0]) + line_of({**ROWS[0], "score": 1.0}))
    assert list(read_rows(path, FIELDS)) == ROWS[:1]
    with pytest.raises(
        ValueError, match="line 2: damaged; a line above is another row of the same game"
    ):
        Ledger(path, FIELDS, strict=True)


def test_a_line_that_was_changed_is_told_by_its_number(tmp_path):
    path, lines = tmp_path / "rows.jsonl", [line_of(row) for row in ROWS]
    content = json.dumps(ROWS[1]).encode()
    # as some were written once
    lines[1] = b'%s,"check":"%08x"}\n' % (content[:-1], zlib.crc32(content))
    path.write_bytes(b"".join(lines))
    assert list(read_rows(path, FIELDS)) == ROWS
    unchecked = b'{"name":"b","seed":[0]}\n'
    for line in (
        lines[2].replace(b"0.5", b"0.6"),
        lines[2].replace(b"check", b"chech"),
        b"[]\n",
        b"nothing\n",
        unchecked,
    ):
        path.write_bytes(lines[0] + lines[1] + line)
        with pytest.raises(ValueError, match=r"rows\.jsonl, line 3: damaged"):
            list(read_rows(path, FIELDS))
    assert len(list(read_rows(path, FIELDS, unchecked=True))) == 3


def test_a_row_of_another_shape_is_told(tmp_path):
    class Scored(msgspec.Struct):
        score: Annotated[float, msgspec.Meta(le=1)]

    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(map(line_of, ROWS)))
    with pytest.raises(ValueError, match=r"line 6: damaged \(Expected `float` <= 1"):
        list(read_rows(path, FIELDS, Scored))
    for value in ({"a": 1}, [[1]], [{}]):
        path.write_bytes(line_of({"name": "a", "seed": value}))
        with pytest.raises(ValueError, match=r"line 1: damaged \(a field that names its game"):
            list(read_rows(path, FIELDS))


def test_rows_go_on_after_they_are_packed_and_packing_that_is_killed_counts_no_game_twice(
    tmp_path, monkeypatch
):
    path = tmp_path / "rows.jsonl"

    def killed(self: Path, missing_ok: bool = False) -> None:
        raise KeyboardInterrupt

    for number, row in enumerate(ROWS):
        with Ledger(path, FIELDS) as rows:
            assert list(rows.rows.values()) == ROWS[:number]
            rows.keep(row)
        if number == 1:
            pack(path)
            assert not path.exists()
        if number == 3:
            with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
                patch.setattr(Path, "unlink", killed)
                pack(path)  # the rows 2 and 3 are in both files
    pack(path)
    packed = path.with_name("rows.jsonl.gz")
    content = packed.read_bytes()
    assert gzip.decompress(content) == b"".join(map(line_of, ROWS))
    path.write_bytes(b'{"torn')
    pack(path)
    assert packed.read_bytes() == content
    for damaged in (content[:-9], b"no archive", b""):
        packed.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"rows\.jsonl\.gz is damaged: "):
            list(read_rows(path, FIELDS))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_file_for_which_there_is_no_room_is_told(tmp_path):
    (tmp_path / "page.html.new").symlink_to("/dev/full")
    with pytest.raises(OSError, match="page.html'"):
        write_whole(tmp_path / "page.html", "text")
    with Ledger(path := tmp_path / "rows.jsonl", FIELDS) as full:
        full.__exit__()
        full._file = open("/dev/full", "ab", buffering=0)  # noqa: SIM115
        with pytest.raises(OSError, match=f"'{path}'"):
            full.keep(ROWS[0])


def test_a_file_that_cannot_be_written_is_named_and_leaves_nothing(tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    for name in ("missing/page.html", "file/page.html", "folder"):
        with pytest.raises(OSError, match=f"'{tmp_path / name}'$"):
            write_whole(tmp_path / name, "text")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


# -------------------- Workers: a process that dies is replaced, every task comes once, and failures are told in a sentence.


@pytest.fixture(scope="module")
def two():
    with workers(2) as playing:
        yield playing


def squared(number: int) -> int:
    return number**2


def dying_once(task: tuple[str, int]) -> int:
    """Kills its process unless the file of the task is there; leaves the file."""
    path = Path(task[0])
    if task[1] == 3 and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return task[1]


def failing(number: int) -> int:
    if number == 2:
        raise ValueError("it is two")
    return number


def actions(match: Match) -> tuple[tuple[int, int], ...]:
    return match.play().actions


def test_every_match_is_played_once_and_alike_wherever(two):
    entrants = Entrant("BASELINE", iterations=4), Entrant()
    matches = [Match((number,), "kuhn-poker", entrants, (1, number)) for number in range(5)]
    assert sorted(two.results(actions, matches)) == sorted(ALONE.results(actions, matches))


def test_matches_are_played_into_a_ledger_and_again_alike(two, tmp_path):
    entrants = Entrant("RAVE", iterations=4), Entrant("BASELINE", iterations=4, random_moves=0.5)
    matches = [
        Match((i,), "othello", entrants, (7, i), opening=4 * (i % 2), labels={"is_opened": i % 2})
        for i in range(4)
    ]
    with Ledger(tmp_path / "rows.jsonl", ["number"]) as ledger:
        rows = ledger.play(matches, game_row, two)
        assert [row["number"] for row in rows] == [0, 1, 2, 3]
        assert [row["is_opened"] for row in rows] == [0, 1, 0, 1]
        assert ledger.play(matches, game_row) == rows  # not played again
    for row, match in zip(rows, matches, strict=True):
        again = game_row(match)
        assert all(again[name] == row[name] for name in ("seed", "returns", "actions"))


@pytest.mark.parametrize("plies", [0, 6])
def test_a_share_of_moves_and_those_of_an_opening_are_random(plies):
    """A player who always takes the first action shows which moves were not his."""

    class First:
        def seated(self, game: object) -> "First":
            return self

        def search(self, state, seed: object) -> ChosenAction:
            return ChosenAction(state.legal_actions()[0])

    game, firsts, others = games.load("othello"), 0, 0
    for seed in range(30):
        state = game.new_initial_state(seed=seed)
        player = PartlyRandom(First(), plies, share=0.25).seated(game)
        while not state.is_terminal():
            legal = state.legal_actions()
            action = player.search(state, (seed, len(state.history))).action
            if len(legal) > 4 and len(state.history) >= plies:
                firsts, others = firsts + (action == legal[0]), others + (action != legal[0])
            state.apply_action(action)
        if plies:
            opening = [action for _, action in state.history[:plies]]
            assert opening == [action for _, action in opened(seed, plies)]
    assert 0.17 < others / (firsts + others) < 0.25  # of a quarter, some are the first by chance


def opened(seed: int, plies: int) -> list[tuple[int, int]]:
    """The random opening alone."""
    state = games.load("othello").new_initial_state(seed=seed)
    while len(state.history) < plies:
        state.apply_action(RandomPlayer().search(state, (seed, len(state.history))).action)
    return list(state.history)


@pytest.mark.parametrize(
    ("entrant", "text"),
    [
        (Entrant(), "random play"),
        (Entrant("RAVE >> MAST"), "RAVE >> MAST"),
        (Entrant("MAST", seconds=0.5), "MAST, 0.5 s"),
        (
            Entrant("MAST", move_decay=1e-05, iterations=8),
            "MAST   [move_decay = 1e-05], 8 iterations",
        ),
        (
            Entrant("X", "RIS_ISMCTS with EXP3", 0.5, random_moves=0.1),
            "X   [scheme = RIS_ISMCTS with EXP3, move_decay = 0.5, random_moves = 0.1]",
        ),
    ],
)
def test_who_plays_is_written_and_read(entrant, text):
    assert str(entrant) == text
    assert Entrant(**json.loads(json.dumps(entrant.settings()))) == entrant
    without_budget = attrs.evolve(entrant, iterations=None, seconds=None)
    assert read_entrant(str(without_budget)) == without_budget
    if entrant != without_budget:
        for each in (entrant, text):
            with pytest.raises(ValueError, match="has a budget of its own; leave it out"):
                read_entrant(each)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "does not say who plays"),
        ("MAST   [move_decay = much]", "does not say who plays"),
        ("MAST [iterations = 50]", "'MAST, 50 iterations' has a budget of its own"),
        ("MAST [scheme = SO_ISMCTS], 50 iterations, 2.5 s", "has a budget of its own"),
    ],
)
def test_a_text_that_does_not_say_who_plays_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        read_entrant(text)


def test_what_is_no_setting_in_a_text_is_a_part_of_its_strategy_which_is_then_none():
    for text in ("MAST [depth = 3]", "MAST [strategy = RAVE]"):
        assert read_entrant(text).strategy == text
    with pytest.raises(ValueError, match="the strategy is empty: random play does not search"):
        read_entrant("random play").agent(iterations=1)


def test_a_process_that_dies_is_replaced(two, tmp_path):
    assert sorted(two.results(dying_once, [(str(tmp_path / "died"), i) for i in range(8)])) == list(
        range(8)
    )


def test_a_task_that_fails_or_kills_is_named(two):
    with pytest.raises(GameFailed, match="2 failed: it is two"):
        list(two.results(failing, [1, 2]))
    with pytest.raises(GameFailed, match="oops failed: (.|\n)*SystemExit: oops"):
        list(two.results(sys.exit, ["oops"]))


class Unlucky(Executor):
    """Its processes die over the number 1, and all that is handed out then is lost."""

    def submit(self, function, play, number: int) -> Future:
        future: Future = Future()
        future.set_exception(BrokenExecutor()) if number == 1 else future.set_result(
            function(play, number)
        )
        return future


class Breaking(Executor):
    """Its processes die over each of two tasks three times: over both at once, and then twice over each alone."""

    def __init__(self) -> None:
        self.deaths = 0

    def submit(self, function, play, number: int) -> Future:
        future: Future = Future()
        if self.deaths < 2 * 3:
            self.deaths += 1
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(function(play, number))
        return future


def test_a_death_counts_against_a_task_that_was_handed_out_alone(monkeypatch):
    """Two tasks are lost together and come back one after the other: also the second was not alone."""

    def wait_for_one(pending, **_):
        return SimpleNamespace(done=[next(iter(pending))])

    monkeypatch.setattr("icarus.arena.workers.wait", wait_for_one)
    assert sorted(Workers(1, Breaking).results(squared, range(2))) == [0, 1]


class Gone(Executor):
    """A cluster whose scheduler has ended."""

    def submit(self, function, *arguments, **options) -> Future:
        future: Future = Future()
        future.set_exception(CancelledError())
        return future


@pytest.mark.parametrize(
    ("executor", "message"),
    [
        (Unlucky, "3 processes died while playing 1"),
        (
            Gone,
            "does not answer any more, while [0-3] was being played; .* run the same command to continue",
        ),
    ],
)
def test_a_task_that_kills_and_a_cluster_that_has_gone_are_told(executor, message):
    with pytest.raises(GameFailed, match=message):
        list(Workers(2, executor).results(squared, range(4)))


def test_a_script_that_each_process_runs_again_is_told_of_once(tmp_path):
    program = tmp_path / "unguarded.py"
    program.write_text(
        "from icarus.arena.workers import check_processes, workers\n"
        "check_processes(2, None, 'nim')\n"
        "with workers(2) as playing:\n    list(playing.results(abs, [1]))\n"
    )
    process = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert process.stderr.count("Traceback") == 1, process.stderr
    assert 'let the script call below `if __name__ == "__main__":`' in process.stderr


def test_processes_end_with_the_one_that_started_them(tmp_path):
    program = tmp_path / "parent.py"
    program.write_text(
        "import os, signal, time\nfrom pathlib import Path\nfrom icarus.arena.workers import workers\n"
        "def note(path):\n    Path(path).write_text(str(os.getpid()))\n    time.sleep(60)\n"
        "if __name__ == '__main__':\n"
        "    with workers(2) as playing:\n        list(playing.results(note, [os.environ['NOTE']]))\n"
    )
    note = tmp_path / "child"
    parent = subprocess.Popen([sys.executable, str(program)], env={**os.environ, "NOTE": str(note)})
    while not (note.exists() and note.read_text()):
        assert parent.poll() is None
        time.sleep(0.05)
    parent.kill()
    parent.wait()
    child = int(note.read_text())
    deadline = time.monotonic() + 60
    while Path(f"/proc/{child}").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not Path(f"/proc/{child}").exists()
