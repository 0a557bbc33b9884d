"""Plant each mutant of the list in a copy of the repository, and run the tests of its subject until one fails.

python -m tests.mutants draw              # draw sixty anew, by the seed, after sources have changed
python -m tests.mutants run [--whole]     # results beside the list; --whole: all tests for those that the subject's tests let live
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import attrs

from tests.mutants.planting import Mutant, drawn, planted

ROOT = Path(__file__).parents[2]
LIST, RESULTS = Path(__file__).with_name("list.json"), Path(__file__).with_name("results.json")
SEED, PATIENCE = 2014, 600.0  # seconds until a mutant that hangs counts as killed
SUBJECTS: dict[str, tuple[int, list[str], list[str]]] = {  # how many, in which files, with which tests
    "specs": (14, ["icarus/specs/*.py"], ["tests/specs"]),
    "engine": (
        16,
        ["icarus/engine/loop/*.py", "icarus/engine/records/*.py", "icarus/engine/program/*.py"],
        ["tests/engine"],
    ),
    "kernel": (8, ["icarus/kernel/*.py", "icarus/algebra/*.py"], ["tests/kernel", "tests/algebra", "tests/engine"]),
    "games": (12, ["icarus/games/*.py", "icarus/games/*/*.py"], ["tests/games"]),
    "statistics": (
        5,
        ["experiments/analysis/statistics.py"],
        ["tests/experiments/test_statistics.py", "tests/experiments"],
    ),
    "equilibrium": (5, ["icarus/equilibrium/*/*.py"], ["tests/equilibrium"]),
}


def draw() -> None:
    """Write the list."""
    subjects = {}
    for name, (count, patterns, _) in SUBJECTS.items():
        files = [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]
        subjects[name] = [attrs.asdict(mutant) for mutant in drawn(files, count, ROOT, SEED)]
    LIST.write_text(json.dumps(subjects, indent=1, ensure_ascii=False) + "\n")


def killer(copy: Path, tests: list[str]) -> str:
    """The test that fails; "" where none does."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--tb=no", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    try:
        done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"no end within {PATIENCE:g} s"
    if done.returncode == 0:
        return ""
    failed = [line.split(" - ")[0] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else (done.stderr or done.stdout).strip().splitlines()[-1]


def try_all(whole: bool) -> int:
    """Try every mutant that has no result yet; how many live."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in listed.split("\n"):
            if name and not name.startswith("experiments/runs/"):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, copy / name)
        for subject, mutants in json.loads(LIST.read_text()).items():
            for fields in mutants:
                mutant = Mutant(**fields)
                key = f"{mutant.path}:{mutant.line}: {mutant.before} -> {mutant.after}"
                if results.get(key) or (key in results and not whole):
                    continue
                path, started = copy / mutant.path, time.perf_counter()
                source = path.read_text()
                path.write_text(planted(source, mutant))
                results[key] = killer(copy, SUBJECTS[subject][2]) or (killer(copy, ["tests"]) if whole else "")
                path.write_text(source)
                RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
                print(f"{key}: {results[key] or 'LIVES'} ({time.perf_counter() - started:.0f} s)", flush=True)
    return sum(not killed for killed in results.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("what", choices=["draw", "run"])
    parser.add_argument("--whole", action="store_true", help="all tests for those that the subject's tests let live")
    arguments = parser.parse_args()
    if arguments.what == "draw":
        draw()
    elif alive := try_all(arguments.whole):
        raise SystemExit(f"{alive} mutants live")
