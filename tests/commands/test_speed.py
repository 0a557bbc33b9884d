"""The bench's own measurements, against numbers that one can do by hand."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import icarus
from icarus.bench import costs, speed
from icarus.engine.records.tables import SMALLEST, Table
from icarus.specs import BASELINE, MAST
from tests import toy


def test_the_first_two_iterations_of_othello_change_what_base_6_says() -> None:
    use = costs.use_of_tables("othello", BASELINE, 2)
    # ⟨⟩ in the first; in the second ⟨⟩, the action selected and the three that were available
    assert (use.updates, use.records) == ((1 + 5) / 2, (1 + 4) / 2)
    assert use.bytes == (4 * SMALLEST + (5 + 1) * 32) / 5


def test_a_record_takes_one_probe_more_for_each_that_was_in_its_way() -> None:
    table = Table(MAST, toy.BRANCHES)
    for key in (1 << 20, 2 << 20, 3 << 20, 7):  # three that belong in entry 0, and one in entry 7
        table._enter(key, {})
    assert sorted(costs.probes(table).tolist()) == [1, 1, 2, 3]


def test_a_start_is_measured_cold_and_warm_in_a_cache_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    caches, outputs = [], iter(["0.5 9.0\n", "0.3 0.4\n"])

    def run(command: Any, *, env: dict[str, str], **options: Any) -> Any:
        caches.append(env["ICARUS_CACHE_DIR"])
        return subprocess.CompletedProcess(command, 0, stdout=next(outputs))

    monkeypatch.setattr(costs.subprocess, "run", run)
    assert costs.start("othello") == costs.Start(imported=0.3, warm=0.4, cold=9.0)
    assert caches[0] == caches[1]


def test_a_file_of_rates_names_its_machine_and_is_not_written_over(tmp_path: Path) -> None:
    path, measured = tmp_path / "rates.json", [speed.Measurement("othello", "BASELINE", (3.0, 1.0, 2.0))]
    speed.save(path, measured)
    content = json.loads(path.read_text())
    assert content["machine"]["cores"] >= 1 and content["machine"]["icarus"] == icarus.__version__
    assert content["measurements"][0]["median"] == 2.0
    with pytest.raises(FileExistsError):
        speed.save(path, measured)


def test_threads_gain_what_the_clock_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of search makes as many iterations for each thread; here all of them take a second for 100."""
    clock, starts = [0.0], []

    class Team:
        def __init__(self, *arguments: Any, **others: Any) -> None:
            starts.append(arguments[3:5])

        def run(self, iterations: int) -> None:
            clock[0] += iterations / 100

        def close(self) -> None:
            pass

    monkeypatch.setattr(costs, "start_search", Team)
    monkeypatch.setattr(costs.time, "perf_counter", lambda: clock[0])
    assert costs.gain("othello", BASELINE, 2, 500, 3) == costs.Gain("othello", "BASELINE", 1.0)
    assert set(starts) == {(1, "roots"), (2, "roots"), (2, "records")}


@pytest.mark.parametrize(
    ("counters", "why"),
    [("12,,cache-misses:u,1,100.00,,", None), ("<not supported>,,cache-misses:u,0,100.00,,", "has no counter")],
)
def test_misses_of_the_cache_are_counted_or_it_is_said_why_not(
    counters: str, why: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: list[str], **options: Any) -> Any:
        iterations = int(command[-1])
        with open(command[command.index("-o") + 1], "w") as file:
            file.write(counters.replace("12", str(1000 + 7 * iterations)))
        return subprocess.CompletedProcess(command, 0, stdout="", stderr="")

    monkeypatch.setattr(costs.subprocess, "run", run)
    monkeypatch.setattr(costs.shutil, "which", lambda name: name)
    if why is None:
        assert costs.cache_misses("othello", BASELINE, 100) == 7
    else:
        with pytest.raises(costs.NoCounts, match=why):
            costs.cache_misses("othello", BASELINE, 100)
    monkeypatch.setattr(costs.shutil, "which", lambda name: None)
    with pytest.raises(costs.NoCounts, match="perf is not installed"):
        costs.cache_misses("othello", BASELINE, 100)
