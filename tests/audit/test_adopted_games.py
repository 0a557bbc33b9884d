"""The classes of examples/adopted: as games they pass the audit, and the twenty faults planted in them are found."""

import copy
import tomllib
import types
from pathlib import Path
from typing import Any

import pytest

from icarus import audit
from icarus.audit.lockstep import compare
from icarus.bridges.seats import game_of

FOLDER = Path(__file__).parents[2] / "examples" / "adopted"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
FAULTS = tomllib.loads((FOLDER / "faults.toml").read_text())
CLAIM_OF = ["unseen", "view", "view", "view", "swap", "seen", "view", "uniform", "seen", "swap"]  # fault by fault
SLOW = ("battleship",)  # whose `resample` takes long


def game_class(name: str, text: str | None = None, fault: str = "") -> Any:
    """The class of a game's file, with one text of it replaced."""
    source = (FOLDER / f"{name}.py").read_text()
    if text is not None:
        assert source.count(text) == 1, f"{text!r} occurs {source.count(text)} times in {name}.py"
        source = source.replace(text, fault)
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    return next(value for value in vars(module).values() if isinstance(value, type))


def slowly(name: str, always: bool = False) -> list[pytest.MarkDecorator]:
    return [pytest.mark.slow] * (always or name in SLOW)


@pytest.mark.parametrize("name", [pytest.param(name, marks=slowly(name)) for name in NAMES])
def test_the_games_pass(name: str) -> None:
    report = audit(game_of(game_class(name)), games=1, determinizations=200)
    assert report.passed, report
    assert report.perfect != hasattr(game_class(name), "resample")


@pytest.mark.parametrize("fault", FAULTS["rules"], ids=lambda fault: f"{fault['game']}: {fault['wrong']}")
def test_a_fault_of_the_rules_shows_in_lock_step(fault: dict[str, str]) -> None:
    wrong = game_class(fault["game"], fault["text"], fault["fault"])

    def reference(state: Any) -> Any:
        faulty = wrong.__new__(wrong)
        vars(faulty).update(copy.deepcopy(vars(state.data)))
        return faulty

    assert not compare(game_of(game_class(fault["game"])), reference).passed


@pytest.mark.parametrize(
    ("fault", "claim"),
    [
        pytest.param(
            fault, claim, id=f"{fault['game']}: {fault['wrong']}", marks=slowly(fault["game"], claim == "seen")
        )
        for fault, claim in zip(FAULTS["samplers"], CLAIM_OF, strict=True)
    ],
)
def test_a_planted_fault_of_a_sampler_is_found(fault: dict[str, str], claim: str) -> None:
    report = audit(game_of(game_class(fault["game"], fault["text"], fault["fault"])), seed=4)
    assert claim in report.failed, report
