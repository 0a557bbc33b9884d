"""The results file: what is kept, what is dropped, what is refused."""

import errno
import json
import os

import pytest

from experiments.plan.definition import Refusal
from experiments.store import rows as store
from experiments.store.rows import Damage
from tests.experiments.conftest import TRIALS, a_row, small


@pytest.fixture(scope="module")
def experiment():
    return small()


@pytest.fixture
def directory(tmp_path, experiment):
    """Three games kept."""
    with store.writer(tmp_path, experiment) as writer:
        for trial in range(3):
            writer.append(a_row(experiment.cells[0], trial))
    return tmp_path


def trials(directory, experiment):
    return [row["trial"] for row in store.rows(directory, experiment)]


def damaged(directory, line, text):
    path = directory / store.RESULTS
    lines = path.read_text().splitlines(keepends=True)
    lines[line - 1] = text
    path.write_text("".join(lines))
    return path.read_bytes()


def test_rows_are_read_back_as_they_were_written(directory, experiment):
    assert list(store.rows(directory, experiment)) == [a_row(experiment.cells[0], trial) for trial in range(3)]
    assert store.experiment_in(directory) == experiment


def test_every_row_is_in_the_file_as_soon_as_it_is_kept(directory, experiment):
    with store.writer(directory, experiment) as writer:
        writer.append(a_row(experiment.cells[1], 0))
        assert json.loads((directory / store.RESULTS).read_text().splitlines()[-1])["cell"] == experiment.cells[1].key


def test_what_is_done_is_known_when_the_run_continues(directory, experiment):
    with store.writer(directory, experiment) as writer:
        assert writer.done == {(experiment.cells[0].key, trial): True for trial in range(3)}


@pytest.mark.parametrize("keep", [1, 2, 40, -2, -1])
def test_a_torn_last_line_is_dropped_and_written_over(directory, experiment, keep):
    path = directory / store.RESULTS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:2]) + lines[2][:keep])
    assert trials(directory, experiment) == [0, 1]
    with store.writer(directory, experiment) as writer:
        assert writer.dropped == len(lines[2][:keep])
        writer.append(a_row(experiment.cells[0], 2))
    assert path.read_bytes() == b"".join(lines)


def test_a_whole_file_that_is_one_torn_line_is_started_again(directory, experiment):
    (directory / store.RESULTS).write_bytes(b'{"cell": "ab')
    with store.writer(directory, experiment) as writer:
        assert writer.done == {}
    assert (directory / store.RESULTS).read_bytes() == b""


@pytest.mark.parametrize(
    "line, text, message",
    [
        (2, '{"cell": \n', "damaged (not a JSON object)"),
        (2, "\n", "damaged (not a JSON object)"),
        (1, "\0\0\0\n", "damaged (not a JSON object)"),
        (3, "[]\n", "damaged (not a JSON object)"),
        (2, "{}\n", "damaged ('cell' is missing)"),
        (1, '{"cell": 7}\n', "damaged ('cell' is of the wrong kind)"),
    ],
)
def test_any_other_damage_is_reported_with_file_and_line_and_nothing_is_overwritten(
    directory, experiment, line, text, message
):
    before = damaged(directory, line, text)
    for reading in (lambda: trials(directory, experiment), lambda: store.writer(directory, experiment).__enter__()):
        with pytest.raises(Damage) as damage:
            reading()
        assert str(damage.value).startswith(f"{directory / store.RESULTS}, line {line}: {message}")
    assert (directory / store.RESULTS).read_bytes() == before


def test_a_game_kept_twice_is_damage(directory, experiment):
    damaged(directory, 3, json.dumps(a_row(experiment.cells[0], 1)) + "\n")
    with pytest.raises(Damage, match="line 3: the same game as in line 2"):
        trials(directory, experiment)


@pytest.mark.parametrize("changes", [{"trial": TRIALS}, {"trial": -1}, {"cell": "0123456789abcdef"}])
def test_a_game_of_another_experiment_is_damage(directory, experiment, changes):
    damaged(directory, 2, json.dumps(a_row(experiment.cells[0], 3) | changes) + "\n")
    with pytest.raises(Damage, match="line 2: not a game of this experiment"):
        trials(directory, experiment)


def refused(directory, experiment, before):
    with pytest.raises(Refusal) as refusal, store.writer(directory, experiment):
        pass
    assert {path.name: path.read_bytes() for path in directory.iterdir()} == before
    return str(refusal.value)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"trials": 5}, f"trials is {TRIALS} there and 5 here"),
        ({"seed": 3}, "seed is 0 there and 3 here"),
        ({"iterations": 21}, "iterations is 20 there and 21 here"),
    ],
)
def test_the_directory_of_other_settings_is_refused_and_left_alone(directory, changes, message):
    from experiments.plan import loading

    new_experiment = loading.load("figure5", {"games": ["othello"], "trials": TRIALS, "iterations": 20, **changes})
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert message in refused(directory, new_experiment, before)


def test_the_directory_of_another_experiment_is_refused(directory):
    from experiments.plan import loading

    new_experiment = loading.load("figure4", {"games": ["othello"], "trials": TRIALS, "iterations": 20})
    before = {path.name: path.read_bytes() for path in directory.iterdir()}
    assert "name is 'figure5' there and 'figure4' here" in refused(directory, new_experiment, before)


def test_a_directory_with_other_files_is_refused(tmp_path, experiment):
    (tmp_path / "thesis.tex").write_text("x")
    assert "thesis.tex" in refused(tmp_path, experiment, {"thesis.tex": b"x"})


def test_a_run_killed_before_its_settings_were_written_starts_again(tmp_path, experiment):
    (tmp_path / "experiment.json.new").write_text("{")
    with store.writer(tmp_path, experiment) as writer:
        assert writer.done == {}


def test_damaged_settings_are_reported(directory):
    (directory / store.EXPERIMENT).write_text('{"format": 1, "name": "figure4"}')
    with pytest.raises(Damage, match=r"experiment\.json is damaged"):
        store.experiment_in(directory)


def test_there_is_one_writer_at_a_time(directory, experiment):
    assert not store.being_written(directory)
    with store.writer(directory, experiment):
        assert store.being_written(directory)
        with pytest.raises(Refusal, match="another run is writing"), store.writer(directory, experiment):
            pass
    assert not store.being_written(directory)


def test_a_full_disk_loses_no_game_but_those_being_played(directory, experiment, monkeypatch):
    """The disk takes half a line; when there is room again, the run continues."""
    whole = (directory / store.RESULTS).read_bytes()
    with pytest.raises(store.NotKept) as failure, store.writer(directory, experiment) as writer:

        class Full:
            name = writer._file.name

            def __init__(self, file):
                self._file = file

            def write(self, data):
                if len(data) < 100:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return self._file.write(data[: len(data) // 2])

            def __getattr__(self, name):
                return getattr(self._file, name)

        monkeypatch.setattr(writer, "_file", Full(writer._file))
        writer.append(a_row(experiment.cells[1], 0))
    assert str(failure.value) == (
        f"{directory / store.RESULTS} cannot take more games (No space left on device); 3 are kept; "
        "run the same command to continue"
    )
    assert (directory / store.RESULTS).read_bytes() == whole
    with store.writer(directory, experiment) as writer:
        assert (len(writer.done), writer.dropped) == (3, 0)
        writer.append(a_row(experiment.cells[1], 0))
    assert len(trials(directory, experiment)) == 4
