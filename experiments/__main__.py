"""The command `python -m experiments`: run, watch, report and check experiments."""

import sys

import icarus.starting  # noqa: F401  (the first of all)
from experiments.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
