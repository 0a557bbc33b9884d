"""Plant each mutant of the list in a copy of the repository, and run the tests of its subject until one fails.

python -m tests.mutants run [--whole] [--subject specs] [--minutes 40]
    # those without a result; --whole: all tests for those that live

`results.json` says by which test each is killed, or "" where it lives; why one that lives changes nothing is written there by hand.
"""

import argparse
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

import attrs

ROOT = Path(__file__).parents[2]
LIST, RESULTS = Path(__file__).with_name("list.json"), Path(__file__).with_name("results.json")
# Processor seconds for the tests of a subject, and for all; a mutant that needs more hangs.
PATIENCE = {False: 150, True: 1200}


TESTS = {  # of each subject, that should notice its mutants, the fastest first
    "specs": ["tests/specs", "tests/engine"],
    "engine": ["tests/engine"],
    "kernel": ["tests/algebra", "tests/kernel", "tests/specs", "tests/engine"],
    "games": ["tests/games"],
    "statistics": ["tests/experiments"],
    "equilibrium": ["tests/equilibrium"],
}


@attrs.frozen
class Mutant:
    """A change of one line, which is known by its text: it may move in its file.

    Attributes:
        path: of the file, from the root of the repository.
        line: the text of the line.
        number: which of the equal lines of the file it is, from 0.
        mutant: the text that stands in its place.
    """

    path: str
    line: str
    number: int
    mutant: str

    def __str__(self) -> str:
        which = f" ({self.number + 1})" if self.number else ""
        return f"{self.path}: {self.line}{which} -> {self.mutant}"


def planted(source: str, mutant: Mutant) -> str:
    """The source with the mutant in its place, and nothing else changed.

    Raises:
        ValueError: the line has changed, and the mutant has no place in the source.
    """
    lines = source.splitlines(keepends=True)
    places = [i for i, line in enumerate(lines) if line.strip() == mutant.line]
    if len(places) <= mutant.number:
        raise ValueError(f"{mutant.path} has no line {mutant.line!r}")
    place = places[mutant.number]
    lines[place] = lines[place].replace(mutant.line, mutant.mutant)
    return "".join(lines)


def listed(subject: str | None) -> Iterator[tuple[str, Mutant]]:
    """The mutants of a subject, or of the whole list, one of each subject after the other."""
    subjects = json.loads(LIST.read_text())
    if subject is not None:
        subjects = {subject: subjects[subject]}
    for row in zip_longest(*subjects.values()):
        for name, fields in zip(subjects, row, strict=True):
            if fields is not None:
                yield name, Mutant(**fields)


def tests_of(subject: str, path: str) -> list[str]:
    """The tests of a subject; those with the name of the mutant's file or folder come first."""
    names = sorted({Path(path).stem, Path(path).parent.name})
    near = [f"{folder}/test_{name}.py" for folder in TESTS[subject] for name in names]
    return [*(test for test in near if (ROOT / test).exists()), *TESTS[subject]]


def killer(copy: Path, tests: list[str], seconds: int) -> str:
    """The test that fails; "" where none does."""
    # Without --keep-duplicates, pytest 9 runs a file of a folder in the folder's order.
    options = ("-q", "-x", "-p", "no:cacheprovider", "--tb=no", "--keep-duplicates")
    command = [sys.executable, "-m", "pytest", *options, *tests]
    try:
        done = subprocess.run(
            command,
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
            timeout=20 * seconds,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
        )
    except subprocess.TimeoutExpired:
        return "no end"
    if done.returncode == -signal.SIGXCPU:
        return f"no end within {seconds} s of processor time"
    if done.returncode < 0:
        return f"ended by {signal.Signals(-done.returncode).name}"
    if done.returncode == 0:
        return ""
    failed = [
        line.split(" - ")[0].partition(" ")[2]
        for line in done.stdout.splitlines()
        if line.startswith(("FAILED", "ERROR"))
    ]
    return (
        failed[0]
        if failed
        else ((done.stderr or done.stdout).strip().splitlines() or [f"exit {done.returncode}"])[-1]
    )


def processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def try_all(only: str | None, whole: bool, minutes: float) -> list[str]:
    """Try every mutant that has no result yet while the time lasts; those that live."""
    results: dict[str, str] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        listing = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        for name in listing.splitlines():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, copy / name)
        for subject, mutant in listed(only):
            key, started = str(mutant), processor_seconds()
            if results.get(key) or (key in results and not whole) or started > 60 * minutes:
                continue
            path = copy / mutant.path
            source = path.read_text()
            try:
                path.write_text(planted(source, mutant))
            except ValueError as error:  # somebody has edited the file since the list was drawn
                print(error, flush=True)
                continue
            tests = ["tests"] if whole else tests_of(subject, mutant.path)
            results[key] = killer(copy, tests, PATIENCE[whole])
            path.write_text(source)
            RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
            print(
                f"{key}: {results[key] or 'LIVES'} ({processor_seconds() - started:.0f} s)",
                flush=True,
            )
    return [key for key, killed in results.items() if not killed]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("what", choices=["run"])
    parser.add_argument(
        "--whole", action="store_true", help="all tests for those that the subject's tests let live"
    )
    parser.add_argument("--subject", choices=list(TESTS), help="only its mutants")
    parser.add_argument(
        "--minutes", type=float, default=600, help="of processor time, after which none is begun"
    )
    arguments = parser.parse_args()
    if alive := try_all(arguments.subject, arguments.whole, arguments.minutes):
        raise SystemExit(f"{len(alive)} mutants live")
