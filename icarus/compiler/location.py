"""Where a line of an author's code stands, in the words of messages."""

import os
import sys


def location(file: str, line: int | str | None) -> str:
    """ "mine.py, line 3"; of a notebook's cell "Cell In[5], line 3", as its own tracebacks call it."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = shell and shell.compile.format_code_name(os.path.abspath(file))
    return f"{' '.join(cell) if cell else file}, line {line}"
