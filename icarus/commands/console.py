"""What programs of the command line have in common: their errors, Ctrl-C, and what they print, results on stdout, notes on stderr."""

import contextlib
import io
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import typer
from rich import progress
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand

from icarus import starting
from icarus.commands.options import CLOSED, FAILED, INTERRUPTED, REFUSED
from icarus.compiler.kernel import presses_as_one
from icarus.engine.search import SearchExhausted
from icarus.load_files import sentence_of

out = Console(highlight=False, emoji=False)
notes = Console(stderr=True, highlight=False, emoji=False)

NOTHING = "-"  # in a cell that has no value, so that every row has as many words as columns where it is piped
GAP = 2  # spaces between columns
UNFOLDED = 10_000  # characters: no table is wider
_SILENCE = 20.0  # seconds between two lines of a long work, into a file or a pipe


# ----------------------------------------------------------------------------------------------------------- programs


class _Command(TyperCommand):
    """A command in which no option has two values, of which the last one would count."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        _, _, typed = self.make_parser(ctx).parse_args(args=[*args])
        for option, times in Counter(typed).items():
            # what is no option, but an argument, has no `multiple`
            if times > 1 and option.nargs == 1 and not getattr(option, "multiple", True):
                raise ValueError(f"{option.opts[0]} is given {times} times; give it once")
        return super().parse_args(ctx, args)


def make_program(commands: Iterable[Callable[..., Any]], help: str) -> typer.Typer:
    """A program with a command for each function; `_command` at the end of its name is left out."""
    app = typer.Typer(
        help=help,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in commands:
        name = command.__name__.removesuffix("_command").replace("_", "-")
        app.command(name, cls=_Command)(command)
    return app


def run_program(app: typer.Typer, name: str, arguments: Sequence[str]) -> int:
    """Run a program with these arguments; bad input is one sentence on stderr. Returns the exit code."""
    if sys.stdout is None:  # where the process began without one, as by `>&-`
        print_note(f"{name}: the output cannot be used: it is closed")
        return REFUSED
    try:
        starting.restore_interrupts()
        with out.capture():
            pass  # this drops what an earlier program in this process could not write
        # Not by `app(…)`, which takes Ctrl-C and closed pipes for itself, and forgets what they say.
        with (
            presses_as_one(),
            typer.main.get_command(app).make_context(
                name, list(arguments or ["--help"])
            ) as context,
        ):
            code = context.command.invoke(context)
        return code if isinstance(code, int) else 0
    except typer.Exit as finish:
        return finish.exit_code
    except KeyboardInterrupt as stop:
        print_note(f"{name}: interrupted{': ' if str(stop) else ''}{stop}")
        return INTERRUPTED
    except SearchExhausted as error:
        print_text(str(error.result))
        print_note(f"{name}: {error}")
        return FAILED
    except BrokenPipeError:
        return CLOSED
    except MemoryError:
        print_note(f"{name}: memory has run out")
        return FAILED
    except (Exception, SystemExit) as error:
        # errors of the command line's parser have this method, others do not
        format_message = getattr(error, "format_message", None)
        sentence = sentence_of(error) if format_message is None else format_message()
        if sentence is None:
            if isinstance(error, SystemExit):
                return CLOSED  # rich ends so where nobody reads the output any more, as by `| head`
            raise
        print_note(f"{name}: {' '.join(sentence.split())}")
        return REFUSED


def run_main(app: typer.Typer, name: str) -> NoReturn:
    """Run a program as a process. Letters that the encoding of the output lacks, such as cp1252, are written as escapes.

    The process ends without finalizers where nobody reads its output, and after Ctrl-C: the compiler may fail to finalize a kernel that
    is half made.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    code = run_program(app, name, sys.argv[1:])
    if code in (INTERRUPTED, CLOSED):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):  # nobody reads it any more
                stream.flush()
        os._exit(code)
    raise SystemExit(code)


# -------------------------------------------------------------------------------------------------------- what is printed


def print_text(text: str) -> None:
    """Print text as it is: nothing in it is markup, or the name of an emoji. A terminal folds it between words."""
    out.print(Text(text), soft_wrap=not out.is_terminal)


def print_note(text: str) -> None:
    """Print a note on stderr, as `print_text` prints."""
    notes.print(Text(text), soft_wrap=not notes.is_terminal)


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> None:
    """Print a table without rules, below its caption: numbers to the right, a row in one line.

    On a terminal that is too narrow columns go on below themselves, between words; into a file or a pipe every row is one line.
    """
    if caption:
        out.print(Text(f"\n{caption}", style="bold"))
    cells = [[_in_a_line(cell) for cell in row] for row in rows]
    columns = [*zip(header, *cells, strict=True)]
    is_number = [all(map(_is_number, column[1:])) for column in columns]
    widths = [max(map(cell_len, column)) for column in columns]
    widest_words = [max(map(cell_len, " ".join(column).split())) for column in columns]
    room = (out.width if out.is_terminal else UNFOLDED) - GAP * (len(widths) - 1)
    foldable = [place for place in range(len(columns)) if not is_number[place]]
    while sum(widths) > room:
        foldable = [place for place in foldable if widths[place] > widest_words[place]]
        if not foldable:
            break
        widths[max(foldable, key=lambda place: widths[place])] -= 1
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), collapse_padding=True)
    for name, width, is_right in zip(header, widths, is_number, strict=True):
        table.add_column(Text(name), justify="right" if is_right else "left", width=width)
    for row in cells:
        table.add_row(*map(Text, row))
    whole = sum(widths) + GAP * len(widths)
    for line in out.render_lines(table, out.options.update(width=whole), pad=False):
        out.print(Text("".join(segment.text for segment in line).rstrip()), soft_wrap=True)


def _in_a_line(cell: object) -> str:
    """A cell's text without breaks of lines."""
    text = "" if cell is None else " ".join(str(cell).splitlines())
    return text or NOTHING


def _is_number(cell: str) -> bool:
    return cell == NOTHING or cell.rstrip(" %").replace(",", "").replace(".", "", 1).isdigit()


@contextlib.contextmanager
def progress_of(what: str, total: int | None, *, done: int = 0) -> Iterator[Callable[..., None]]:
    """A bar on a terminal, with the time that is left, until the work is done; elsewhere a line from time to time.

    The context is a function, to be called with how many are done, and with `description=` and `total=` if they change.
    """
    if notes.is_terminal and not notes.is_dumb_terminal:
        columns = [
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
        ]
        with progress.Progress(*columns, console=notes, transient=True) as bar:
            task = bar.add_task(what, total=total, completed=done)
            yield lambda completed, **changes: bar.update(task, completed=completed, **changes)
        return
    ended = threading.Event()
    now = {"description": what, "total": total, "completed": done}

    def follow() -> None:
        silence = _SILENCE / 4  # a first sign of life comes earlier
        while not ended.wait(silence):
            silence = _SILENCE
            print_note("{description} {completed} of {total}".format_map(now))

    writer = threading.Thread(target=follow, daemon=True)
    writer.start()
    try:
        yield lambda completed, **changes: now.update(completed=completed, **changes)
    finally:
        ended.set()
        writer.join()
