"""The compiler's versions: icarus uses more of it than its documented interfaces, so one that nobody has tried is not allowed."""

import importlib.metadata
import tomllib

from packaging.requirements import Requirement

from tests.conftest import ROOT


def test_no_version_is_allowed_that_nobody_has_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (required,) = [each for each in map(Requirement, project["dependencies"]) if each.name == "numba"]
    major, minor = (int(part) for part in importlib.metadata.version("numba").split(".")[:2])
    assert required.specifier.contains(f"{major}.{minor}.99")
    assert not required.specifier.contains(f"{major}.{minor + 1}.0")
