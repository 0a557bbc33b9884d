"""What the commands have in common."""

from collections.abc import Mapping
from pathlib import Path

import typer

from experiments.plan.definition import refusing
from icarus.arena.ledger import written_whole
from icarus.commands import console
from icarus.commands.console import print_note as say
from icarus.views.document import Table, fill_places

__all__ = ["argument", "flag", "print_table", "refresh", "say"]


def argument(metavar: str, help: str) -> typer.models.ArgumentInfo:
    """An argument, for which `metavar` stands in the help."""
    return typer.Argument(metavar=metavar, help=help)


def flag(name: str, help: str) -> typer.models.OptionInfo:
    """An option that takes no value, and has no opposite."""
    return typer.Option(name, help=help)


def print_table(table: Table) -> None:
    console.print_table(table.header, table.rows, table.caption)


def refresh(page: Path, texts: Mapping[str, str]) -> None:
    """Give the places of a page (`fill_places`) their new texts."""
    with refusing():
        text = fill_places(page.read_text("utf-8"), texts)
    with written_whole(page) as file:
        file.write(text.encode())
