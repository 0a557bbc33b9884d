"""The command `python -m experiments`: run, watch, report and check experiments."""

import sys

from experiments.commands.main import main

if __name__ == "__main__":
    sys.exit(main())
