"""What the commands have in common: exit codes, and what is printed."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from experiments.plan.checks import refusing
from experiments.plan.definition import Column, Refusal
from experiments.play.progress import console
from experiments.report import terminal
from experiments.store.summary import Tally
from icarus.row_files import written_whole
from icarus.views.document import Table, fill_places

INTERRUPTED = 130  # the exit code of a command stopped by Ctrl-C
REFUSED = 2  # … of one that was given bad input
FAILED = 1  # … of one that found something wrong
TABLE_WIDTH = 80  # characters of a table of results where the output is a file


def argument(metavar: str, help: str) -> typer.models.ArgumentInfo:
    """An argument, for which `metavar` stands in the help."""
    return typer.Argument(metavar=metavar, help=help)


Directory = Annotated[Path, argument("DIR", "Directory of a run (its --out).")]


def flag(name: str, help: str) -> typer.models.OptionInfo:
    """An option that takes no value, and has no opposite."""
    return typer.Option(name, help=help)


def say(text: str) -> None:
    print(text, file=sys.stderr)


def print_tables(columns: dict[Column, list[Tally]]) -> None:
    page = console()
    for column, tallies in columns.items():
        table, width = terminal.results_table(column, tallies, list(columns)), None if page.is_terminal else TABLE_WIDTH
        page.print(table.title, style="bold", width=width)  # above the table, which may be narrower
        table.title = None
        page.print(table, "", width=width)


def print_table(table: Table) -> None:
    console().print(terminal.plain_table(table.header, table.rows, table.caption))


def require_file(page: Path) -> Path:
    """A file that must be there."""
    if not page.is_file():
        raise Refusal(f"there is no file {str(page)!r}")
    return page


def refresh(page: Path, texts: Mapping[str, str]) -> None:
    """Give the places of a page (`fill_places`) their new texts."""
    with refusing():
        text = fill_places(page.read_text("utf-8"), texts)
    with written_whole(page) as file:
        file.write(text.encode())
