"""Source files as their rules are read from them."""

import ast
import functools
from pathlib import Path


@functools.cache
def parsed(path: Path) -> ast.Module:
    """What a file says; read where it is first asked for, since every worker imports these tests and few run them."""
    return ast.parse(path.read_text())
