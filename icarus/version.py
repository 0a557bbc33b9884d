"""Which version this is."""

import importlib

IN_PLACE = "0.2.0"  # the sources used in place, not installed


def version() -> str:
    """The version of the package. What finds it is slow to load, and is loaded when it is first asked for."""
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version("icarus-mcts"))
    except metadata.PackageNotFoundError:
        return IN_PLACE
