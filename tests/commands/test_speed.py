"""The bench's own measurements, against numbers that one can do by hand."""

import subprocess
from typing import Any

import pytest

from icarus.commands import speed
from icarus.engine.tables import SMALLEST, Table
from icarus.specs import MAST
from tests import toy


def test_the_first_two_iterations_of_othello_change_what_base_6_says() -> None:
    use = speed.use_of_tables("othello", "BASELINE", 2)
    # ⟨⟩ in the first; in the second ⟨⟩, the action selected and the three that were available
    assert (use.updates, use.records) == ((1 + 5) / 2, (1 + 4) / 2)
    assert use.bytes == (SMALLEST + 1) * 32 / 5


def test_a_record_takes_one_probe_more_for_each_that_was_in_its_way() -> None:
    table = Table(MAST, toy.BRANCHES)
    for key in (1 << 20, 2 << 20, 3 << 20, 7):  # three that belong in row 0, and one in row 7
        table._enter(key, {})
    assert sorted(speed.probes(table).tolist()) == [1, 1, 2, 3]


def test_a_start_is_measured_cold_and_warm_in_a_cache_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    caches, told = [], iter(["0.5 9.0\n", "0.3 0.4\n"])

    def run(command: Any, *, env: dict[str, str], **options: Any) -> Any:
        caches.append(env["ICARUS_CACHE_DIR"])
        return subprocess.CompletedProcess(command, 0, stdout=next(told))

    monkeypatch.setattr(speed.subprocess, "run", run)
    assert speed.start("othello", "BASELINE") == speed.Start(imported=0.3, warm=0.4, cold=9.0)
    assert caches[0] == caches[1]
