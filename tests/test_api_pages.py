"""Every public name is on a page of the API, and every name there is public."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
PAGES = (DOCS / "api.md").read_text() + (DOCS / "catalogue.md").read_text()
PACKAGES = (
    "icarus",
    "icarus.algebra",
    "icarus.audit",
    "icarus.equilibrium",
    "icarus.games",
    "icarus.kernel",
    "icarus.ladder",
)
MODULES = ("icarus.bridges.openspiel", "icarus.bridges.pettingzoo", "icarus.testing")


def public_names(name: str) -> list[str]:
    """What `__all__` lists, or else the functions and classes of a module that are its own."""
    module = importlib.import_module(name)
    if hasattr(module, "__all__"):
        return list(module.__all__)
    candidates = [
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", "") == name and key[0] != "_" and key != "main"
    ]
    return [key for key in candidates if inspect.isfunction(vars(module)[key]) or inspect.isclass(vars(module)[key])]


@pytest.mark.parametrize("name", [*PACKAGES, *MODULES])
def test_every_public_name_is_on_a_page(name: str) -> None:
    words = set(re.findall(r"\w+", PAGES))
    assert [public for public in public_names(name) if public not in words] == []


def test_every_name_on_the_page_is_there() -> None:
    current = ""
    for line in (DOCS / "api.md").read_text().splitlines():
        directive, _, target = line.removeprefix(".. auto").partition(":: ")
        if line.startswith(".. currentmodule:: "):
            current = line.partition(":: ")[2]
        elif line.startswith(".. auto") and directive != "module":
            path, _, name = (target if "." in target else f"{current}.{target}").rpartition(".")
            assert hasattr(importlib.import_module(path), name), line
