"""`make faults`: 282 faults, each against the rows of a run that nothing disturbs. Without --slow a few, in this process."""

import functools
import gzip
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from experiments import results as store
from icarus.arena.ledger import line_of, packed_path, row_of
from icarus.compiler import kernel as cache
from tests.faults import processes
from tests.faults.harness import Bench, Wrong, play

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
    content[place : place + size] = bytes(size) if bench.random.random() < 0.5 else bench.random.randbytes(size)
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
    content[place] = bench.random.choice([digit for digit in b"0123456789" if digit != content[place]])
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
    packed_path(directory / store.RESULTS).write_bytes(gzip.compress(path.read_bytes()))
    bench.resume(directory)


def put_foreign_file(bench: Bench) -> None:
    """The directory holds somebody's file, or another's experiment.json."""
    directory = bench.fresh()
    directory.mkdir()
    name = bench.random.choice(["notes.txt", "thesis.pdf", store.RESULTS, store.EXPERIMENT])
    content = bench.random.choice([b"{}", b"[1]", b"\x00\xff", b'{"format": 99}', b'{"format": 1}', b"precious"])
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


def flip_bit(bench: Bench) -> None:
    """One bit of a file of machine code is another: it is not run."""
    content, path = bytearray(bench.random.choice(_machine_code()).read_bytes()), bench.folder / "code.bin"
    for is_whole in (True, False):
        path.write_bytes(bytes(content))
        if (cache.load(path, 1) is not None) != is_whole:
            raise Wrong(f"a file of machine code was {'not ' * is_whole}taken")
        place = bench.random.randrange(8 * len(content))
        content[place // 8] ^= 1 << place % 8


def change_setting(bench: Bench) -> None:
    """The run of other settings is not continued."""
    directory = bench.incomplete_copy()
    before = (directory / store.RESULTS).read_bytes()
    change: dict[str, Any] = bench.random.choice([{"seed": 1}, {"trials": 2}, {"paired": True}, {"name": "other"}])
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
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.create(tmp_path_factory.mktemp("faults"), seed=1)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_ends_in_equal_rows_or_one_sentence(
    bench: Bench, fault: Callable[[Bench], None], request: pytest.FixtureRequest
) -> None:
    for _ in range(FAULTS[fault] if request.config.getoption("--slow") else 2):
        fault(bench)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fault for fault, times in processes.FAULTS.items() for _ in range(times)])
def test_a_fault_of_a_process_ends_in_equal_rows_or_one_sentence(bench: Bench, fault: Callable[[Bench], None]) -> None:
    fault(bench)
