"""Memory that is left, as the system tells it; a search that would need more ends with what it has found."""

import sys
from pathlib import Path

import pytest

from icarus import BASELINE, SearchExhausted, games, search
from icarus.engine.records import memory


def test_memory_that_would_run_out_ends_a_search_and_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "LARGE", 1 << 18)
    monkeypatch.setattr(memory, "memory_left", lambda root: 1 << 22)
    with pytest.raises(SearchExhausted, match="memory has run out") as ended:
        search(games.load("othello").new_initial_state(), BASELINE, iterations=10**6, seed=1)
    assert ended.value.result.visits.sum() == ended.value.result.iterations > 1000


MACHINE = {"proc/meminfo": "MemTotal: 64 kB\nMemAvailable:   40 kB\nSwapFree: 2 kB\n"}
SECOND = {
    "proc/self/cgroup": "0::/jobs/mine\n",
    "sys/fs/cgroup/jobs/mine/memory.max": "max\n",
    "sys/fs/cgroup/jobs/mine/memory.current": "100\n",
    "sys/fs/cgroup/jobs/memory.max": "9000\n",
    "sys/fs/cgroup/jobs/memory.current": "5000\n",
    "sys/fs/cgroup/jobs/memory.stat": "anon 7\ninactive_file 300\n",
}
FIRST = {  # seen in a container, where the path is that of the host
    "proc/self/cgroup": "9:cpu:/docker/1\n4:memory:/docker/1\n0::/\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "8000\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "6000\n",
    "sys/fs/cgroup/memory/memory.stat": "total_inactive_file 500\n",
}


@pytest.mark.parametrize(
    ("files", "remaining"),
    [
        ({}, sys.maxsize),
        (MACHINE, 42 * 1024),
        (SECOND, 4300),
        ({**MACHINE, **FIRST}, 2500),
        ({"proc/self/cgroup": FIRST["proc/self/cgroup"]}, sys.maxsize),
        ({**MACHINE, "proc/meminfo": "MemAvailable: much\n"}, sys.maxsize),
    ],
    ids=["nobody tells", "a machine", "a group of a group", "a container", "a group that nobody sees", "no number"],
)
def test_memory_that_is_left_is_what_machine_and_groups_have(
    files: dict[str, str], remaining: int, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert memory.memory_left(tmp_path) == remaining


def test_little_is_given_without_asking_and_much_is_refused_where_there_is_less(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/meminfo").write_text(f"MemAvailable: {memory.LARGE // 512} kB\n")
    memory.check_memory(2 * memory.LARGE, tmp_path)
    with pytest.raises(MemoryError, match="bytes more than available"):
        memory.check_memory(2 * memory.LARGE + 1, tmp_path)
    (tmp_path / "proc/meminfo").write_text("MemAvailable: 0 kB\n")
    memory.check_memory(memory.LARGE - 1, tmp_path)
