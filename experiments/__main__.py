"""The command `python -m experiments`: run, watch, report and check experiments."""

from importlib.util import find_spec

import icarus.starting  # noqa: F401  (the first of all)

NEEDED = ("duckdb", "matplotlib", "pandas", "pytz", "statsmodels")  # of the extra

if missing := [name for name in NEEDED if find_spec(name) is None]:
    raise SystemExit(
        f"the command experiments needs {missing[0]}: pip install 'icarus-mcts[experiments]'"
    )

try:
    from experiments.commands import app  # (needs all of them)
except ValueError as error:  # a table of the package that was edited
    raise SystemExit(f"experiments: {error}") from None
from icarus.commands.console import run_main  # noqa: E402

if __name__ == "__main__":
    run_main(app, "experiments")
