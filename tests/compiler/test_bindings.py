"""A variable that is bound anew after a search, or whose array is written to: the next search uses what it is now, in both engines."""

import types
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import BASELINE, MAST, argmax, capture, search, values
from icarus.kernel import child, helper, record, update  # noqa: F401  # the slots of `key_of` name them
from tests.audit.test_contract import NIM

OFFSET = 10
TENFOLD = 10
WEIGHTS = np.array([10])
settings = types.ModuleType("settings")
settings.OFFSET = 10  # type: ignore[attr-defined]


@helper
def tenfold(action: int) -> int:
    """What `key_by_helper` calls."""
    return TENFOLD * action


@helper
def thousandfold(action: int) -> int:
    """Another such function."""
    return 1000 * action


shift = tenfold


def key_of(expression: str, **closure: Any) -> Callable:
    """A slot that makes a key of what it reads."""
    made: dict[str, Any] = {}
    body = f"update(updates, record({expression}), history.steps[0].player)"
    make = f"def make({', '.join(closure)}):\n def key(history, updates):\n  {body}\n return key"
    exec(make, globals(), made)
    return made["make"](**closure)


def rewards_by_global(state: Any, out: np.ndarray) -> None:
    """As in nim, but who wins gets a tenth of OFFSET."""
    out[:] = 0.0
    out[1 - state.mover] = OFFSET / 1000


def keys(slot: Callable, engine: str) -> set[int]:
    """The first parts of the records of a search."""
    strategy = attrs.evolve(MAST, name="OWN", capture=capture(slot))
    result = search(NIM.new_initial_state(1), strategy, iterations=3, engine=engine)
    return set(result.records["OWN"].rows["record"].tolist())


@pytest.mark.parametrize(
    ("expression", "space", "name", "value"),
    [
        ("OFFSET", globals(), "OFFSET", 1000),
        ("tenfold(1)", globals(), "TENFOLD", 1000),
        ("shift(1)", globals(), "shift", thousandfold),
        ("WEIGHTS[0]", globals(), "WEIGHTS", np.array([1000])),
        ("settings.OFFSET", vars(settings), "OFFSET", 1000),
    ],
)
def test_a_slot_uses_what_a_global_is_bound_to_when_a_search_starts(
    monkeypatch: pytest.MonkeyPatch, expression: str, space: dict[str, Any], name: str, value: Any
) -> None:
    engines, slot = ("compiled", "python"), key_of(expression)
    before = [keys(slot, engine) for engine in engines]
    monkeypatch.setitem(space, name, value)
    after = [keys(slot, engine) for engine in engines]
    monkeypatch.undo()
    assert before[0] == before[1] != after[0] == after[1]
    assert [keys(slot, engine) for engine in engines] == before


@helper
def no_value(history: Any, action: int) -> float:
    """What `values_by_helper` calls."""
    return 0.0


@helper
def value_by_key(history: Any, action: int) -> float:
    """Another such function, which reads what the first does not."""
    return float(child(history, len(history.steps) - 1, action) % 5)


judge = no_value


def values_by_helper(history: Any, theta: Any, legal: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(legal)):
        out[i] = judge(history, legal[i])


def test_what_a_slot_reads_is_found_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    strategy = BASELINE >> attrs.evolve(MAST, name="OWN", policy=argmax().over(values(values_by_helper)))

    def visits() -> list[list[int]]:
        results = (search(NIM.new_initial_state(1), strategy, iterations=60, engine=e) for e in ("compiled", "python"))
        return [result.records["BASELINE"].rows["visits"].tolist() for result in results]

    before = visits()
    monkeypatch.setitem(globals(), "judge", value_by_key)
    after = visits()
    assert before[0] == before[1] != after[0] == after[1]


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_game_uses_what_a_global_is_bound_to(monkeypatch: pytest.MonkeyPatch, engine: str) -> None:
    state = attrs.evolve(NIM, name="rebound", rewards=rewards_by_global).new_initial_state(1)
    best = [max(search(state, MAST, iterations=50, engine=engine).values)]
    monkeypatch.setitem(globals(), "OFFSET", 1000)
    best.append(max(search(state, MAST, iterations=50, engine=engine).values))
    assert best[0] <= 0.01 and best[1] > 0.3


BASE, RECORDS = np.arange(10, 16), np.zeros(2, [("weight", np.int64)])
HEAD, PAIR, FIELD = BASE[:3], (BASE[:3], 1), RECORDS["weight"]


@helper
def head(i: int) -> int:
    """What a slot calls that reads a view by a helper."""
    return int(HEAD[i])


VIEWS: dict[str, tuple[Callable, Callable[[], None]]] = {  # a slot, and how what it reads is written to
    "in a helper": (key_of("head(0)"), lambda: BASE.put(0, 78)),
    "in a tuple": (key_of("PAIR[0][0]"), lambda: BASE.put(0, 82)),
    "a field": (key_of("FIELD[0]"), lambda: RECORDS.__setitem__(0, (83,))),
    "in a closure": (key_of("weights[0]", weights=BASE[:3]), lambda: BASE.put(0, 84)),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_an_array_that_is_written_to_is_read_anew_by_the_next_search(kind: str) -> None:
    slot, write = VIEWS[kind]
    before = [keys(slot, engine) for engine in ("compiled", "python")]
    write()
    after = [keys(slot, engine) for engine in ("compiled", "python")]
    assert before[0] == before[1] != after[0] == after[1]
