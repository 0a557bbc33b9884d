"""What the commands have in common: exit codes, and what is printed."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from experiments.analysis.document import Table
from experiments.plan.definition import Column
from experiments.play.progress import console
from experiments.report import terminal
from experiments.store.summary import Tally

INTERRUPTED = 130  # the exit code of a command stopped by Ctrl-C
REFUSED = 2  # … of one that was given bad input
FAILED = 1  # … of one that found something wrong

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a run (its --out).")]


def say(text: str) -> None:
    print(text, file=sys.stderr)


def print_tables(columns: dict[Column, list[Tally]]) -> None:
    for column, tallies in columns.items():
        console().print(terminal.results_table(column, tallies, list(columns)))


def print_table(table: Table) -> None:
    console().print(terminal.plain_table(table.header, table.rows, table.caption))
