"""Modules that are slow to load and not always needed: loaded when something of them is first asked for."""

import importlib
import os
import sys
import threading
from typing import Any

# Held while anything of the compiler is loaded or extended: its modules import each other in circles, in which two threads meet. Who
# holds the compiler's own lock may take this one, never the other way round.
LOADING = threading.RLock()
if hasattr(os, "register_at_fork"):  # a child has no thread that would load the rest
    os.register_at_fork(before=LOADING.acquire, after_in_parent=LOADING.release, after_in_child=LOADING.release)


def is_loaded(module: str) -> bool:
    """Whether a module has been loaded, as a whole."""
    loaded = sys.modules.get(module)
    return loaded is not None and not getattr(loaded.__spec__, "_initializing", False)


class Lazy:
    """Stands for a module: `types = Lazy("numba.core.types")`, of which `types.int64` is the first that loads anything."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python itself asks of all objects
            raise AttributeError(name)
        if not is_loaded(self.module):
            with LOADING:
                importlib.import_module(self.module.partition(".")[0])
                importlib.import_module(self.module)
        return getattr(sys.modules[self.module], name)


numba = Lazy("numba")
types = Lazy("numba.core.types")
