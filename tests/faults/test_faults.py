"""`make faults`: 440 faults, each against the rows of a run that nothing disturbs. Without --slow a few, in this process."""

import contextlib
import functools
import gc
import gzip
import io
import os
import resource
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest

from experiments import commands, results as store
from experiments.plan import loading
from experiments.studies import discovery, equilibrium_2015, positions
from icarus import BASELINE, Agent, State, audit, in_python
from icarus.arena.ledger import check_settings, line_of, packed_path, row_of, write_settings
from icarus.commands import cli, console
from icarus.commands.console import make_program, run_program
from icarus.commands.options import CLOSED, INTERRUPTED, REFUSED
from icarus.compiler import kernel as cache
from icarus.discovery.space import SHIPPED, load_space
from icarus.kernel.python_game import deep_copy
from tests.faults import others, processes
from tests.faults.harness import Bench, Wrong, play
from tests.forked import survive
from tests.test_documents import example

# -------------------- Faults of files: torn, overwritten, cut, foreign; disks that are full; machine code with flipped bits.


def tear(bench: Bench) -> None:
    """The last line is torn anywhere, as by a kill in the middle of a write."""
    directory = bench.copy()
    path = directory / store.RESULTS
    content = path.read_bytes()
    last = content.rindex(b"\n", 0, len(content) - 1) + 1
    path.write_bytes(content[: bench.random.randrange(last, len(content))])
    bench.resume(directory)


def overwrite(bench: Bench) -> None:
    """A stretch of the file is lost: zeros or noise over some bytes."""
    directory = bench.copy()
    path = directory / store.RESULTS
    content = bytearray(path.read_bytes())
    size = bench.random.randrange(16, 600)
    place = bench.random.randrange(0, len(content) - size - 1)
    content[place : place + size] = (
        bytes(size) if bench.random.random() < 0.5 else bench.random.randbytes(size)
    )
    path.write_bytes(content)
    message = bench.refused(ValueError, lambda: play(bench.experiment, directory))
    if "line" not in message or path.read_bytes() != content:
        raise Wrong(f"the line is not told, or the file was changed: {message}")


def flip_digit(bench: Bench) -> None:
    """One digit is another: nobody could tell but for the checksum of its line."""
    directory = bench.copy()
    path = directory / store.RESULTS
    content = bytearray(path.read_bytes())
    place = bench.random.choice([i for i, letter in enumerate(content) if letter in b"0123456789"])
    content[place] = bench.random.choice(
        [digit for digit in b"0123456789" if digit != content[place]]
    )
    path.write_bytes(content)
    message = bench.refused(ValueError, lambda: play(bench.experiment, directory))
    if f"line {content[:place].count(10) + 1}" not in message or path.read_bytes() != content:
        raise Wrong(f"the line is not told, or the file was changed: {message}")


def cut_packed(bench: Bench) -> None:
    """A packed file is cut short anywhere."""
    directory = bench.copy()
    store.pack(directory / store.RESULTS)
    packed = packed_path(directory / store.RESULTS)
    content = packed.read_bytes()
    packed.write_bytes(content[: bench.random.randrange(1, len(content) - 1)])
    archive = packed.read_bytes()
    bench.refused(ValueError, lambda: play(bench.experiment, directory))
    if packed.read_bytes() != archive:
        raise Wrong("the packed file was changed")


def stop_packing(bench: Bench) -> None:
    """A kill between packing and deleting leaves both files."""
    directory = bench.incomplete_copy()
    path = directory / store.RESULTS
    store.pack(path)
    path.write_bytes(gzip.decompress(packed_path(path).read_bytes()))
    bench.resume(directory)


def put_foreign_file(bench: Bench) -> None:
    """The directory holds somebody's file, or another's experiment.json."""
    directory = bench.fresh()
    directory.mkdir()
    name = bench.random.choice(["notes.txt", "thesis.pdf", store.RESULTS, store.EXPERIMENT])
    content = bench.random.choice(
        [b"{}", b"[1]", b"\x00\xff", b'{"format": 99}', b'{"format": 1}', b"precious"]
    )
    (directory / name).write_bytes(content)
    bench.refused(ValueError, lambda: play(bench.experiment, directory))
    if [(path.name, path.read_bytes()) for path in directory.iterdir()] != [(name, content)]:
        raise Wrong(f"{name} was not left alone")


def repeat_line(bench: Bench) -> None:
    """A line is there twice, as after a careless `cat`: its game counts once; as another row of its game it is refused."""
    directory = bench.copy()
    path = directory / store.RESULTS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, bench.random.choice(lines)]))
    bench.resume(directory)
    other = {**row_of(bench.random.choice(lines), "here"), "seconds": 1e9}
    path.write_bytes(b"".join([*lines, line_of(other)]))
    bench.refused(ValueError, lambda: play(bench.experiment, directory))


def fill_disk(bench: Bench) -> None:
    """No file may become larger than some size, in the middle of a row; later there is room again."""
    directory = bench.incomplete_copy()
    size = (directory / store.RESULTS).stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + bench.random.randrange(0, 300), before[1]))
    try:
        bench.refused(OSError, lambda: play(bench.experiment, directory))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    bench.resume(directory)


@functools.cache
def _machine_code() -> tuple[Path, ...]:
    folder = cache.cache_folder()
    if folder is None:
        raise Wrong("there is no cache of machine code")
    return tuple(sorted(folder.glob("*.bin")))


CHECKSUM = 32  # bytes of a file of machine code, before what it says of itself


def flip_bit(bench: Bench) -> None:
    """One bit of a file of machine code is another: it is not run."""
    original, path = bench.random.choice(_machine_code()).read_bytes(), bench.folder / "code.bin"
    content = bytearray(original)
    for is_whole in (True, False):
        path.write_bytes(bytes(content))
        name, arity, processor, *_ = original[CHECKSUM:].split(b"\0", 4)
        if (
            cache.load(path, name.decode(), int(arity), processor.decode()) is not None
        ) != is_whole:
            raise Wrong(f"a file of machine code was {'not ' * is_whole}taken")
        place = bench.random.randrange(8 * len(content))
        content[place // 8] ^= 1 << place % 8


def change_setting(bench: Bench) -> None:
    """The run of other settings is not continued."""
    directory = bench.incomplete_copy()
    before = (directory / store.RESULTS).read_bytes()
    change: dict[str, Any] = bench.random.choice(
        [{"seed": 1}, {"trials": 2}, {"paired": True}, {"name": "other"}]
    )
    experiment = attrs.evolve(bench.experiment, **change)
    bench.refused(ValueError, lambda: play(experiment, directory))
    if (directory / store.RESULTS).read_bytes() != before:
        raise Wrong("the file was changed")
    bench.resume(directory)


def grow(bench: Bench) -> None:
    """A run of fewer trials and agents, torn or packed, grows to the undisturbed one."""
    trials, cells = bench.random.randrange(1, bench.experiment.trials), bench.random.randrange(1, 3)
    smaller = attrs.evolve(bench.experiment, trials=trials, cells=bench.experiment.cells[:cells])
    keys, directory = {cell.key for cell in smaller.cells}, bench.fresh()
    with store.ledger_of(directory, smaller) as ledger:
        for row in store.rows(bench.whole, bench.experiment):
            if row["cell"] in keys and row["trial"] < trials:
                ledger.keep(row)
    if bench.random.random() < 0.5:
        store.pack(directory / store.RESULTS)
    else:
        path = directory / store.RESULTS
        path.write_bytes(path.read_bytes()[: -bench.random.randrange(1, 200)])
    bench.resume(directory)


FAULTS: dict[Callable[[Bench], None], int] = {  # how many of each by default
    tear: 50,
    overwrite: 30,
    flip_digit: 30,
    cut_packed: 20,
    stop_packing: 10,
    put_foreign_file: 15,
    repeat_line: 5,
    fill_disk: 20,
    flip_bit: 30,
    change_setting: 8,
    grow: 10,
    **{fault: times for fault, (times, *_) in others.KINDS.items()},
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory):
    return Bench.create(tmp_path_factory.mktemp("faults"), seed=1)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_ends_in_equal_rows_or_one_sentence(bench, fault, request):
    for _ in range(FAULTS[fault] if request.config.getoption("--slow") else 2):
        fault(bench)


@pytest.mark.parametrize("fault", others.KINDS, ids=lambda fault: fault.__name__)
def test_a_fault_is_noticed_where_the_library_does_nothing_against_it(bench, fault, monkeypatch):
    monkeypatch.setattr(*others.KINDS[fault][1:])
    with pytest.raises(Wrong):
        for _ in range(100):
            fault(bench)


@pytest.mark.slow
@pytest.mark.parametrize(
    "fault", [fault for fault, times in processes.FAULTS.items() for _ in range(times)]
)
def test_a_fault_of_a_process_ends_in_equal_rows_or_one_sentence(bench, fault):
    fault(bench)


# -------------------- Files of others, and numbers of others: what makes no sense is refused in a sentence that names it.

NONSENSE = [
    b'{"a":' * 99_999,
    b"a = " + b"[" * 3000,
    b"null",
    b"\xff\xfe",
    b"1" * 5000,
    b'{"files": 5}',
]


@pytest.mark.parametrize("kind", [kind for kind in others.READERS if kind != "own.py"])
@pytest.mark.parametrize("content", NONSENSE, ids=range(len(NONSENSE)))
def test_a_file_of_nonsense_is_named_in_a_sentence(kind, content, tmp_path):
    (path := tmp_path / kind).write_bytes(content + b"\n")
    with pytest.raises(ValueError, match=f"^[^\n]*{tmp_path}[^\n]*$"):
        others.READERS[kind][1](path)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    space, table = tmp_path / "space.toml", tmp_path / "one.toml"
    space.write_text((SHIPPED / "knowledge.toml").read_text(), "utf-8-sig")
    table.write_text('games = "kuhn-poker"\nagents = ["MAST"]\niterations = 5\n', "utf-8-sig")
    assert load_space(space) == load_space("knowledge")
    assert loading.load(str(table), {}).name == "one"


PLAIN = in_python(example("nim").NIM)
HUGE = 10**400


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: Agent(BASELINE, seconds=HUGE),
            "seconds is 10+…; it must be a finite number above 0",
        ),
        (
            lambda: State(attrs.evolve(PLAIN, copy=deep_copy), (x for x in "")),
            r"a state cannot be copied \(.*copy=…",
        ),
        (
            lambda: attrs.evolve(PLAIN, rewards=lambda state: [HUGE, 0]).ask("rewards", None),
            "must be 2 numbers from 0",
        ),
        (
            lambda: loading.load("figure5", {"iterations": 10**20}),
            r"`int` <= 4611686018427387904 - at `\$.iterations`",
        ),
    ],
)
def test_a_number_or_a_state_of_nonsense_is_told(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()


def test_settings_are_quoted_where_they_differ(tmp_path):
    there, here = ({"space": "x" * 500 + end} for end in ("one", "two"))
    write_settings(tmp_path / "settings", there)
    with pytest.raises(ValueError, match="space is …x+one there and …x+two here"):
        check_settings(tmp_path / "settings", here, "race", tmp_path)


# -------------------- Commands: folders that are missing, outputs that nobody reads, disks that are full.

MISSING = [
    (commands.app, "races /nonexistent", "there is no race in /nonexistent"),
    (
        commands.app,
        "ladder othello --out /nonexistent",
        "/nonexistent has no such games of othello; --minutes 20 plays",
    ),
    (positions.app, "shapes /nonexistent", "'/nonexistent' cannot be used: no such file"),
    (
        positions.app,
        "conjecture /nonexistent /nonexistent",
        "'/nonexistent' cannot be used: no such file",
    ),
    (discovery.app, "duels /nonexistent", "path '/nonexistent' does not exist"),
    (
        equilibrium_2015.app,
        "effects --rows /nonexistent",
        "/nonexistent/exploitability.jsonl has no rows",
    ),
]


@pytest.mark.parametrize(("app", "line", "said"), MISSING, ids=[line for _, line, _ in MISSING])
def test_a_folder_that_is_missing_is_named(app, line, said, capsys):
    assert run_program(app, "study", line.split()) == REFUSED
    assert said in capsys.readouterr().err


def test_an_output_that_nobody_reads_or_has_no_room_ends_a_command(capsys, monkeypatch):
    monkeypatch.setattr(console.out, "quiet", False)  # which a closed pipe changes
    reading, writing = os.pipe()
    os.close(reading)
    for file, code in ((os.open("/dev/full", os.O_WRONLY), REFUSED), (writing, CLOSED)):
        output = os.fdopen(file, "w", 1)
        with contextlib.redirect_stdout(output):
            assert cli.run(["specs"]) == code
        with contextlib.suppress(OSError):
            output.close()
    assert "the output cannot be used: no space left on device" in capsys.readouterr().err


def test_an_output_that_is_closed_is_refused_before_anything_is_done(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout", None)
    assert cli.run(["specs"]) == REFUSED
    assert "icarus: the output cannot be used: it is closed" in capsys.readouterr().err


def test_what_could_not_be_written_is_not_written_later(capsys):
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), "ascii", write_through=True)):
        assert cli.run(["specs", "MAST"]) == REFUSED
    assert cli.run(["games"]) == 0
    assert "MAST" not in capsys.readouterr().out


def test_ctrl_c_names_the_function_that_has_not_returned(capsys):
    def endless(state: object) -> list[int]:
        raise KeyboardInterrupt

    def check(games: int) -> None:
        audit(attrs.evolve(PLAIN, legal=endless), games=games)

    assert run_program(make_program([check], ""), "icarus", ["1"]) == INTERRUPTED
    said = (
        f"interrupted: in legal of nim ({__file__}, line {endless.__code__.co_firstlineno + 1})\n"
    )
    assert capsys.readouterr().err.endswith(said)


def test_the_types_of_tables_can_be_freed():
    """Interpreters free them at their end; what follows crashed in one of three."""

    def free(number: int) -> None:
        gc.freeze()  # what is there already stays
        fields = typing.get_type_hints(loading.ExperimentTable, include_extras=True).items()
        with contextlib.suppress(msgspec.ValidationError):
            msgspec.convert({}, msgspec.defstruct("Table", list(fields)))
        gc.collect()

    survive(12, free, seconds=60)
