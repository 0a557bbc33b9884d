"""A variable that is bound anew after a search, or whose array is written to: the next search uses what it is now, in both engines."""

import types
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import BASELINE, MAST, argmax, capture, search, values
from icarus.kernel import child, helper, record, update
from tests.commands.test_contract import NIM

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


def key_by_global(history: Any, updates: Any) -> None:
    update(updates, record(OFFSET), history.steps[0].player)


def key_by_helper(history: Any, updates: Any) -> None:
    update(updates, record(tenfold(1)), history.steps[0].player)


def key_by_function(history: Any, updates: Any) -> None:
    update(updates, record(shift(1)), history.steps[0].player)


def key_by_array(history: Any, updates: Any) -> None:
    update(updates, record(WEIGHTS[0]), history.steps[0].player)


def key_by_module(history: Any, updates: Any) -> None:
    update(updates, record(settings.OFFSET), history.steps[0].player)  # type: ignore[attr-defined]


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
    ("slot", "space", "name", "value"),
    [
        (key_by_global, globals(), "OFFSET", 1000),
        (key_by_helper, globals(), "TENFOLD", 1000),
        (key_by_function, globals(), "shift", thousandfold),
        (key_by_array, globals(), "WEIGHTS", np.array([1000])),
        (key_by_module, vars(settings), "OFFSET", 1000),
    ],
)
def test_a_slot_uses_what_a_global_is_bound_to_when_a_search_starts(
    monkeypatch: pytest.MonkeyPatch, slot: Callable, space: dict[str, Any], name: str, value: Any
) -> None:
    engines = ("compiled", "python")
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


BASE = np.arange(10, 16)
MATRIX, BYTES = np.arange(10, 16).reshape(2, 3), bytearray(np.arange(10, 16).tobytes())
OWNED = np.arange(10, 16)
HEAD, TURNED, FLAT, BUFFER = BASE[:3], MATRIX.T, MATRIX.reshape(6), np.frombuffer(BYTES, np.int64)
SIBLING = OWNED[:1]
RECORDS = np.zeros(2, [("weight", np.int64)])
PAIR, FIELD = (BASE[:3], 1), RECORDS["weight"]


@helper
def head(i: int) -> int:
    """What `key_by_view_in_a_helper` calls."""
    return int(HEAD[i])


def key_by_view(history: Any, updates: Any) -> None:
    update(updates, record(HEAD[0]), history.steps[0].player)


def key_by_view_in_a_helper(history: Any, updates: Any) -> None:
    update(updates, record(head(0)), history.steps[0].player)


def key_by_transposed(history: Any, updates: Any) -> None:
    update(updates, record(TURNED[0, 0]), history.steps[0].player)


def key_by_reshaped(history: Any, updates: Any) -> None:
    update(updates, record(FLAT[0]), history.steps[0].player)


def key_by_buffer(history: Any, updates: Any) -> None:
    update(updates, record(BUFFER[0]), history.steps[0].player)


def key_by_owner(history: Any, updates: Any) -> None:
    update(updates, record(OWNED[0]), history.steps[0].player)


def key_by_tuple(history: Any, updates: Any) -> None:
    update(updates, record(PAIR[0][0]), history.steps[0].player)


def key_by_field(history: Any, updates: Any) -> None:
    update(updates, record(FIELD[0]), history.steps[0].player)


def key_by_closure() -> Callable:
    weights = BASE[:3]

    def key(history: Any, updates: Any) -> None:
        update(updates, record(weights[0]), history.steps[0].player)

    return key


def write_bytes() -> None:
    BYTES[0] = 99


VIEWS: dict[str, tuple[Callable, Callable[[], None]]] = {  # a slot, and how what it reads is written to
    "a part": (key_by_view, lambda: BASE.put(0, 77)),
    "in a helper": (key_by_view_in_a_helper, lambda: BASE.put(0, 78)),
    "transposed": (key_by_transposed, lambda: MATRIX.put(0, 79)),
    "reshaped": (key_by_reshaped, lambda: MATRIX.put(0, 80)),
    "a buffer": (key_by_buffer, write_bytes),
    "another view of it": (key_by_owner, lambda: SIBLING.put(0, 81)),
    "in a tuple": (key_by_tuple, lambda: BASE.put(0, 82)),
    "a field": (key_by_field, lambda: RECORDS.__setitem__(0, (83,))),
    "in a closure": (key_by_closure(), lambda: BASE.put(0, 84)),
}


@pytest.mark.parametrize("kind", VIEWS)
def test_an_array_that_is_written_to_is_read_anew_by_the_next_search(kind: str) -> None:
    slot, write = VIEWS[kind]
    before = [keys(slot, engine) for engine in ("compiled", "python")]
    write()
    after = [keys(slot, engine) for engine in ("compiled", "python")]
    assert before[0] == before[1] != after[0] == after[1]


def test_a_new_game_reads_an_array_anew(tmp_path: Any) -> None:
    file = np.memmap(tmp_path / "limit", np.int64, "w+", shape=2)
    limit = file[1:]

    def legal(state: Any, actions: np.ndarray) -> int:
        actions[0] = limit[0]
        return 1

    game = attrs.evolve(NIM, name="mapped", legal=legal)
    assert game.new_initial_state(1).legal_actions() == [0]
    file[1] = 2
    assert game.new_initial_state(1).legal_actions() == [2]
