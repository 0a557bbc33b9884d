"""Where the command `icarus` writes: results on stdout, notes on stderr."""

import contextlib
from collections.abc import Iterator

from icarus.compiler.cache import cache_folder, on_compile

try:
    from rich.console import Console
except ModuleNotFoundError as missing:
    raise SystemExit(f"the command icarus needs {missing.name}: pip install 'icarus[cli]'") from None

out, notes = Console(highlight=False), Console(stderr=True, highlight=False)


@contextlib.contextmanager
def show_compilation() -> Iterator[None]:
    """Tell on stderr what is being compiled, while it is; it happens once for each version."""
    with notes.status("") as status:
        status.stop()

        def show(name: str) -> None:
            status.update(f"compiling {name} (once; kept in {cache_folder() or 'memory only'})")
            status.start()

        end = on_compile(show)
        try:
            yield
        finally:
            end()
