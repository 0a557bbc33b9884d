"""`python -m icarus` is the command `icarus`."""

from icarus.commands.cli import main

main()
