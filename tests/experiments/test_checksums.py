"""Each line of a run has a checksum: a digit that flips is told; lines from before there were any are read as they are."""

import json
import random
from pathlib import Path

import attrs
import pytest

from experiments.plan import loading
from experiments.play import matches, running
from experiments.play.matches import Match
from experiments.report import state_of
from experiments.store import rows as store
from experiments.store.export import merge
from experiments.store.results import results_of
from tests.experiments.conftest import Call, a_row, keep, small
from tests.experiments.test_slips import OWN

GAMES = 6


@pytest.fixture
def run_directory(tmp_path: Path) -> Path:
    """A run of some invented games."""
    experiment = small()
    return keep(tmp_path / "run", experiment, [a_row(experiment.cells[0], trial) for trial in range(GAMES)])


def _without_checksums(directory: Path) -> Path:
    """A run as it was kept before lines had checksums."""
    path = directory / store.RESULTS
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    for row in rows:
        del row[store.FIELD]
    path.write_text("".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in rows))
    return directory


def test_a_row_is_read_as_it_was_written_without_its_checksum(run_directory: Path) -> None:
    experiment = small()
    assert list(store.rows(run_directory, experiment)) == [a_row(experiment.cells[0], trial) for trial in range(GAMES)]
    assert store.count_unchecked(run_directory) == 0


def test_any_digit_that_flips_is_told_with_its_line_by_whoever_reads(run_directory: Path) -> None:
    experiment, path, generator = small(), run_directory / store.RESULTS, random.Random(5)
    whole = path.read_bytes()
    digits = [i for i, letter in enumerate(whole) if letter in b"0123456789"]
    for number, place in enumerate(generator.sample(digits, 120)):
        replacement = generator.choice([digit for digit in b"0123456789" if digit != whole[place]])
        path.write_bytes(whole[:place] + bytes([replacement]) + whole[place + 1 :])
        line = whole[:place].count(b"\n") + 1
        with pytest.raises(store.Damage, match=f"line {line}: "):
            list(store.rows(run_directory, experiment))
        if number % 6 == 0:
            with pytest.raises(store.Damage, match=f"line {line}: "), results_of(run_directory):
                pass


def test_a_bit_that_flips_is_told_or_changes_nothing_that_is_read(run_directory: Path) -> None:
    experiment, path, generator = small(), run_directory / store.RESULTS, random.Random(6)
    whole, rows = path.read_bytes(), list(store.rows(run_directory, small()))
    for _ in range(200):
        content = bytearray(whole)
        content[generator.randrange(len(content) - 1)] ^= 1 << generator.randrange(8)
        path.write_bytes(content)
        try:
            rows_after = list(store.rows(run_directory, experiment))
        except store.Damage:
            continue
        assert rows_after == rows


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((b'"check"', b'"c eck"'), (b'"moves":2', b'"moves":3')),
        ((b'","check":"', b'","check": "'), (b"[1.0,", b"[0.5,")),
        ((b'"agent":', b'"ag nt":'),) * 2,
    ],
    ids=["name of the checksum", "checksum", "name of a field"],
)
def test_two_damages_of_which_one_hides_the_other_are_told(
    run_directory: Path, first: tuple[bytes, bytes], second: tuple[bytes, bytes]
) -> None:
    path = run_directory / store.RESULTS
    path.write_bytes(path.read_bytes().replace(*first, 1).replace(*second, 1))
    with pytest.raises(store.Damage, match="line 1: damaged"):
        list(store.rows(run_directory, small()))


def test_games_from_before_checksums_are_read_and_counted(run_directory: Path, tmp_path: Path) -> None:
    experiment = small()
    rows = list(store.rows(run_directory, experiment))
    _without_checksums(run_directory)
    assert list(store.rows(run_directory, experiment)) == rows
    assert store.count_unchecked(run_directory) == GAMES
    with store.writer(run_directory, experiment) as writer:
        writer.append(a_row(experiment.cells[0], GAMES))
    assert store.count_unchecked(run_directory) == GAMES
    with results_of(run_directory) as results:
        assert f"{GAMES} games have no checksum, because they are older than the checksums" in state_of(results, False)
    merge(tmp_path / "merged", [run_directory])
    assert store.count_unchecked(tmp_path / "merged") == 0  # they are written anew
    with results_of(tmp_path / "merged") as results:
        assert "checksum" not in state_of(results, False)
    assert list(store.rows(tmp_path / "merged", experiment)) == list(store.rows(run_directory, experiment))


def test_a_packed_run_keeps_its_checksums(run_directory: Path) -> None:
    store.pack(run_directory)
    assert store.count_unchecked(run_directory) == 0
    assert len(list(store.rows(run_directory, small()))) == GAMES


# ------------------------------------------------------------------- runs that have not kept what their Python file held


def _begun_before_digests(tmp_path: Path) -> tuple[Path, Path]:
    """A Python file, and a run of it that has one real game and does not know what the file held."""
    path = tmp_path / "own.py"
    path.write_text(OWN.replace("TAU", "1.0"))
    experiment = loading.load(str(path), {"trials": 1})
    unknown = attrs.evolve(experiment, cells=tuple(attrs.evolve(cell, source="") for cell in experiment.cells))
    cell = unknown.cells[0]
    row = matches.row(Match(cell, 0, unknown.game_seed(cell, 0)))
    return path, keep(tmp_path / "run", unknown, [row])


class Nobody:
    """Plays nothing."""

    def play(self, games: object) -> list[store.Row]:
        return [matches.row(game) for game in games]  # type: ignore[attr-defined]


def test_a_run_that_kept_no_digest_goes_on_where_its_games_come_out_the_same(tmp_path: Path) -> None:
    path, run = _begun_before_digests(tmp_path)
    experiment = loading.load(str(path), {"trials": 1})
    running.run(experiment, run, Nobody())
    assert store.experiment_in(run).cells[0].source == experiment.cells[0].source != ""


def test_a_run_that_kept_no_digest_is_refused_where_they_do_not(tmp_path: Path) -> None:
    path, run = _begun_before_digests(tmp_path)
    before = (run / store.EXPERIMENT).read_bytes()
    path.write_text(OWN.replace("TAU", "0.001"))
    matches.agent_of.cache_clear()  # another process would not have it
    experiment = loading.load(str(path), {"trials": 1})
    with pytest.raises(store.Refusal, match="did not keep a digest of .* when it started, and its games are different"):
        running.run(experiment, run, Nobody())
    assert (run / store.EXPERIMENT).read_bytes() == before


def test_verify_says_how_many_games_have_no_checksum(run_directory: Path, call: Call) -> None:
    _, _, errors = call("verify", _without_checksums(run_directory), "--sample", 1)
    assert f"{GAMES} games have no checksum" in errors
