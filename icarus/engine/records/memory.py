"""How much memory is left: whoever asks for more is refused, before the system ends the process and all that the search knows is lost.

Linux hands out memory that it does not have, and kills who writes to it; a container's limit is not told when memory is asked for.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

LARGE = 1 << 26  # bytes; less than that is not checked
_GROUPS = {  # of control groups, by version: where they are, the limit, what is used, and what of it can be had back at once
    2: ("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    1: ("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}


def check_memory(size: int, root: Path = Path("/")) -> None:
    """Refuse so many more bytes than there are.

    Raises:
        MemoryError: there are fewer.
    """
    if size >= LARGE and size > memory_left(root):
        raise MemoryError(f"{size} bytes more than available are needed")


def memory_left(root: Path = Path("/")) -> int:
    """Bytes that can still be had, of the machine and of the process's control groups; `sys.maxsize` where that is not known."""
    sizes = [sys.maxsize, *_groups(root)]
    machine = _numbers(root / "proc/meminfo")
    if "MemAvailable:" in machine:
        sizes.append(1024 * (machine["MemAvailable:"] + machine.get("SwapFree:", 0)))
    return max(0, min(sizes))


def _groups(root: Path) -> Iterator[int]:
    """What each control group of the process has left."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, path = line.split(":", 2)
        if number == "0" or "memory" in controllers.split(","):
            mount, limit, used, idle = _GROUPS[2 if number == "0" else 1]
            inner = root / mount / path.strip("/")
            for folder in (inner, *inner.parents):  # in a container the path may be that of the host
                most, now = _text(folder / limit).strip(), _text(folder / used).strip()
                if most.isdigit() and now.isdigit():
                    yield int(most) - int(now) + _numbers(folder / "memory.stat").get(idle, 0)
                if folder == root / mount:
                    break


def _numbers(path: Path) -> dict[str, int]:
    """The first number of each line of a file, by the word before it."""
    words = [line.split() for line in _text(path).splitlines()]
    return {line[0]: int(line[1]) for line in words if len(line) > 1 and line[1].isdigit()}


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
