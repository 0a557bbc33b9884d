"""Modules that are slow to load and not always needed: loaded when something of them is first asked for."""

import importlib
from typing import Any


class Lazy:
    """Stands for a module: `types = Lazy("numba.core.types")`, of which `types.int64` is the first that loads anything."""

    def __init__(self, module: str) -> None:
        self.module = module

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what Python itself asks of all objects
            raise AttributeError(name)
        return getattr(importlib.import_module(self.module), name)


numba = Lazy("numba")
types = Lazy("numba.core.types")
