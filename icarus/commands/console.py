"""Where the command `icarus` writes: results on stdout, notes on stderr."""

import contextlib
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence

from icarus.compiler.cache.disk import cache_folder, on_compile
from icarus.load_files import without_modules

try:
    from rich import progress
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table
    from rich.text import Text
except ModuleNotFoundError as missing:
    raise SystemExit(f"the command icarus needs {missing.name}: pip install 'icarus-mcts[cli]'") from None

out, notes = Console(highlight=False), Console(stderr=True, highlight=False)

NOTHING = "-"  # in a cell that has no value, so that every row has as many words as columns where it is piped
GAP = 2  # spaces between columns


def print_text(text: str) -> None:
    """Print text as it is: nothing in it is markup. On a terminal, prose is folded between words, rows of tables are not."""
    out.print(_fold(text, out), markup=False, soft_wrap=True)


def line_width() -> int:
    """Characters of a line on the terminal; as many as there may be in a file or a pipe."""
    return out.width if out.is_terminal else UNFOLDED


def print_note(text: str) -> None:
    """Print a note on stderr, as `print_text` prints."""
    notes.print(_fold(text, notes), markup=False, soft_wrap=True)


def _fold(text: str, console: Console) -> str:
    """A text whose prose fits a terminal: of lines with columns, which have several spaces in a row, and of files none is folded."""
    if not console.is_terminal:
        return text
    fold = textwrap.TextWrapper(console.width, break_long_words=False, break_on_hyphens=False).fill
    return "\n".join(line if "  " in line.strip() else fold(line) for line in text.split("\n"))


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table without rules: numbers to the right, a row in one line.

    On a terminal that is too narrow the last column goes on below itself; into a file or a pipe every row is one line.
    """
    cells = [[str(cell) or NOTHING for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), collapse_padding=True)
    for place, name in enumerate(header):
        numbers = all(_is_number(row[place]) for row in cells)
        last = place == len(header) - 1 and not numbers
        table.add_column(Text(name), justify="right" if numbers else "left", no_wrap=not last, overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))
    whole = Measurement.get(out, out.options.update(width=UNFOLDED), table).maximum
    width = out.width if out.is_terminal else whole
    for line in out.render_lines(table, out.options.update(width=min(width, whole)), pad=False):
        out.print(Text("".join(segment.text for segment in line).rstrip()), soft_wrap=True)


UNFOLDED = 10_000  # characters: no table is wider


def _is_number(cell: str) -> bool:
    return cell == NOTHING or cell.rstrip(" %").replace(",", "").replace(".", "", 1).isdigit()


def progress_bar(*, remaining: bool = False, disable: bool = False) -> progress.Progress:
    """A bar on a terminal that vanishes when the work is done; with the time that is left, where it can be told."""
    disable = disable or notes.is_dumb_terminal or not notes.is_terminal  # it would leave an empty line
    columns = [progress.TextColumn("{task.description}"), progress.BarColumn(), progress.MofNCompleteColumn()]
    columns += [progress.TimeElapsedColumn(), *([progress.TimeRemainingColumn()] if remaining else [])]
    return progress.Progress(*columns, console=notes, transient=True, disable=disable)


@contextlib.contextmanager
def progress_of(
    what: str, total: int | None, *, done: int = 0, remaining: bool = True, disable: bool = False
) -> Iterator[Callable[..., None]]:
    """A bar of one task, see `progress_bar`; what it gives is called with how many are done, and with `description=` if that changes."""
    with progress_bar(remaining=remaining, disable=disable) as bar:
        task = bar.add_task(what, total=total, completed=done)
        yield lambda completed, **changes: bar.update(task, completed=completed, **changes)


@contextlib.contextmanager
def show_compilation() -> Iterator[Callable[[str], contextlib.AbstractContextManager[None]]]:
    """Show on stderr what is being compiled, while it is; it happens once for each version.

    What it gives shows another text in the same place, as long as a block lasts.
    """
    if notes.is_dumb_terminal:  # what is written there cannot be taken back
        yield lambda text: contextlib.nullcontext()
        return
    with notes.status("") as status, contextlib.ExitStack() as stack:
        status.stop()

        def show(name: str) -> None:
            status.update(f"compiling {without_modules(name)} (once; kept in {cache_folder() or 'memory only'})")
            status.start()

        @contextlib.contextmanager
        def status_of(text: str) -> Iterator[None]:
            status.update(text)
            with status:
                yield

        stack.callback(on_compile(show))
        yield status_of
