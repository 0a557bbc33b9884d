"""θ in memory: growth, initial information, and looking records up by their parts."""

import re
from collections.abc import Iterable
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from icarus import ACTION, HISTORY, MOVE, PLAYER, Enhancement, SearchExhausted, games, search
from icarus.algebra import initial
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.tables import SMALLEST, RecordTable, parts_of
from icarus.kernel import NO_ACTION, record
from icarus.kernel.history import history_record, mix
from icarus.kernel.theta import FILTER_BYTES, FULLEST
from icarus.specs import BASELINE, EPIC, LGR, MAST, NAST, NAST2, ucb1
from icarus.specs.baseline import children
from tests import toy
from tests.test_toy import after


def numbered_rows(table: RecordTable, keys: Iterable[int]) -> np.ndarray:
    """Rows of these keys, each with information that tells it from others."""
    rows = np.zeros(len(list(keys)), table.dtype)
    rows["record"], rows["visits"], rows["reward"] = list(keys), range(len(rows)), np.arange(len(rows)) / 8
    return rows


def held(table: RecordTable) -> dict[int, tuple]:
    return {int(row["record"]): (float(row["reward"]), int(row["visits"])) for row in table.records()}


# ---------------------------------------------------------------------------------------------------------------- growth


@settings(max_examples=30, deadline=None)
@given(st.sets(st.integers(-(2**63), 2**63 - 1).filter(bool), min_size=1, max_size=300), st.integers(0, 5000))
def test_growth_keeps_every_record_and_every_mark(keys: set[int], room: int) -> None:
    table = RecordTable(MAST, toy.BRANCHES)
    table.insert_rows(numbered_rows(table, sorted(keys)))
    table.filter_visits()
    assert not table.visit_filter.any()
    table.visit_filter[[key & (FILTER_BYTES * table.capacity - 1) for key in keys]] = 1
    share, before = table.visit_filter.mean(), table.capacity
    table.grow(room)
    assert held(table) == {key: (i / 8, i) for i, key in enumerate(sorted(keys))}
    assert table.used == len(keys) and table.rows["record"][1:].tolist() == sorted(keys)  # without gaps
    assert table.capacity >= 2 * before and table.capacity & (table.capacity - 1) == 0
    assert table.used + room <= FULLEST * table.capacity
    assert len(table.visit_filter) == FILTER_BYTES * table.capacity and table.visit_filter.mean() == share
    assert table.descriptor["visit_filter"] == table.visit_filter.ctypes.data
    assert table.visit_filter[[key & (len(table.visit_filter) - 1) for key in keys]].all()
    assert table.nbytes <= table.rows.nbytes + table.entries.nbytes + FILTER_BYTES * table.capacity


def test_records_of_one_place_of_the_index_are_all_found() -> None:
    table, keys = RecordTable(MAST, toy.BRANCHES), [key << 20 for key in range(1, 1000)]
    for key in keys[:3]:
        table.insert_rows(numbered_rows(table, [key]))
    table.insert_rows(numbered_rows(table, keys))
    assert all(table.find(key)["visits"] == i for i, key in enumerate(keys)) and table.find(1 << 62) is None
    assert table.used == len(keys) and table.capacity == 4096


@pytest.mark.parametrize("room", [1 << 32, 1 << 62])
def test_a_table_that_would_not_fit_is_refused_at_once_and_stays_as_it_was(room: int) -> None:
    table = RecordTable(MAST, games.load("othello"))
    table.insert_rows(numbered_rows(table, range(1, 200)))
    before = table.records()
    with pytest.raises(MemoryError, match="a table has 4294967295 rows at most"):
        table.grow(room)
    assert table.capacity == SMALLEST and (table.records() == before).all()


def test_memory_that_runs_out_ends_a_search_and_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def limited(table: RecordTable, capacity: int) -> Any:
        if capacity > 1 << 14:
            raise MemoryError
        return empty(table, capacity)

    empty = RecordTable._empty
    monkeypatch.setattr(RecordTable, "_empty", limited)
    with pytest.raises(SearchExhausted, match="memory has run out") as ended:
        search(games.load("othello").new_initial_state(), BASELINE, iterations=10**6, seed=1)
    assert ended.value.result.visits.sum() == ended.value.result.iterations > 100


# --------------------------------------------------------------------------------------------------- initial information


def after_one(strategy: Enhancement, *actions: int, game: Any = toy.CHAIN, iterations: int = 1) -> CompiledSearch:
    search = CompiledSearch(after(game, *actions), strategy, 3)
    search.run(iterations)
    return search


def test_a_record_starts_from_the_common_initial_information() -> None:
    # Below ⟨0, pass, 2⟩ all is forced and the reward is 1: one playout adds 1 to q and to n of (pass, 0) and of (1, 0).
    optimist = attrs.evolve(MAST, name="OPTIMIST", initial=initial(reward=3, visits=4))
    records = after_one(optimist, 0, toy.PASS, 2).records()["OPTIMIST"]
    assert {(row["reward"], row["visits"]) for row in records.rows} == {(4.0, 5)}
    assert len(records) == 2
    assert (records.initial["reward"], records.initial["visits"]) == (3.0, 4)


def test_given_records_start_from_their_own_information_before_anything_is_updated() -> None:
    hints = {(1, 0): {"reward": 8, "visits": 9}, (7, 0): {"reward": 2}}
    prepared = attrs.evolve(MAST, name="PREPARED", initial=initial(hints, visits=1))
    records = after_one(prepared, 0, toy.PASS, 2).records()["PREPARED"]
    stats = {parts: (records[parts]["reward"], records[parts]["visits"]) for parts in [(1, 0), (7, 0), (toy.PASS, 0)]}
    # (1, 0): 8 + 1 of 9 + 1. (7, 0) never happens and its other field is the common one. (pass, 0): 0 + 1 of 1 + 1.
    assert stats == {(1, 0): (9.0, 10), (7, 0): (2.0, 1), (toy.PASS, 0): (1.0, 2)}
    assert len(records) == 3


def test_a_policy_reads_the_initial_information_of_records_it_has_never_seen() -> None:
    # The given mean of action 1 is 1 where every other action starts with 0: the first playout takes it.
    biased = attrs.evolve(
        MAST,
        name="BIASED",
        policy=ucb1(0).over(MAST.policy.source),
        initial=initial({(1, 0): {"reward": 5, "visits": 5}}, visits=5),
    )
    for seed in range(8):
        search = CompiledSearch(after(toy.BRANCHES), biased, seed)
        search.run(1)
        assert search.result().action == 1


def test_given_records_of_every_space_are_keyed_as_the_search_keys_them() -> None:
    hints = {
        "BASE": attrs.evolve(BASELINE, name="BASE", initial=initial({(): {"visits": 10}, (0, (9,)): {"visits": 20}})),
        "POSITION": attrs.evolve(EPIC, name="POSITION", initial=initial({(0, 0, (0, 9)): {"visits": 30}})),
        "GRAM": attrs.evolve(NAST2, name="GRAM", initial=initial({(9, 1, 0): {"visits": 40}})),
        "REPLY": attrs.evolve(LGR, name="REPLY", initial=initial({(9, 0): {"reply": 5}}, reply=NO_ACTION)),
    }
    # ⟨0, pass, 0⟩ of the chain: pass, 1 and the reward 0; the second playout expands ⟨pass⟩.
    tables = {}
    for name, strategy in hints.items():
        search = after_one(strategy, 0, toy.PASS, 0, iterations=2)
        tables[name] = search.records()[name]
    assert tables["BASE"][()]["visits"] == 12 and tables["BASE"][(0, (9,))]["visits"] == 21
    assert tables["POSITION"][(0, 0, (0, 9))]["visits"] == 32
    assert tables["GRAM"][(9, 1, 0)]["visits"] == 42
    assert tables["REPLY"][(9, 0)]["reply"] == 5


# -------------------------------------------------------------------------------------------------- records by their parts


def test_records_of_every_kind_are_looked_up_by_their_parts() -> None:
    # ⟨0, pass, 2⟩ of the chain, then pass and 1: everything is forced and the reward is 1.
    search = after_one((BASELINE >> MAST) >> (NAST2 >> LGR) >> EPIC, 0, toy.PASS, 2, iterations=3)
    records = search.records()
    assert records["BASELINE"][()]["visits"] == 3
    assert records["BASELINE"][(0, (9,))]["visits"] == 2
    assert records["BASELINE"][(0, (9, 1))]["visits"] == 1
    assert records["MAST"][(9, 0)]["reward"] == 3.0
    assert records["NAST2"][(9, 1, 0)]["visits"] == 3
    assert records["LGR"][(9, 0)]["reply"] == 1
    assert records["EPIC"][(0, 0, (2,))]["visits"] == 3
    assert records["EPIC"][(0, 0, (2, 9, 1))]["availability"] == 3


@pytest.mark.parametrize(
    ("strategy", "absent"),
    [
        (BASELINE, (0, (8,))),
        (MAST, (8, 0)),
        (MAST, (9, 1)),
        (NAST2, (1, 9, 0)),
        (LGR, (1, 0)),
        (EPIC(ucb1()), (1, 0, (2,))),
        (NAST(3), (2, 9, 1, 0)),
    ],
)
def test_an_absent_record_is_a_key_error(strategy: Enhancement, absent: Any) -> None:
    records = after_one(strategy, 0, toy.PASS, 2).records()[str(strategy)]
    with pytest.raises(KeyError, match="has no record .*: the search has not updated it"):
        records[absent]
    assert records.get(absent) is None
    assert absent not in records and (1, 2, 3, 4, 5) not in records and "x" not in records


@pytest.mark.parametrize(
    ("strategy", "parts"),
    [(MAST, (9, 0, 1)), (MAST, (9,)), (MAST, "e6"), (BASELINE, (9, 0)), (EPIC(ucb1()), (0, (2,)))],
)
def test_parts_of_no_record_are_refused(strategy: Enhancement, parts: Any) -> None:
    records = after_one(strategy, 0, toy.PASS, 2).records()[str(strategy)]
    with pytest.raises(ValueError, match=f"is not a record of {re.escape(str(strategy.records))}"):
        records[parts]


def test_components_that_differ_in_their_policy_only_share_a_table() -> None:
    greedy = attrs.evolve(BASELINE, name="GREEDY", policy=ucb1(0.0).over(children))
    search = after_one(BASELINE >> greedy, 0, toy.PASS, 2, iterations=5)
    assert len(search.tables) == 1
    records = search.records()
    assert np.array_equal(records["GREEDY"].rows, records["BASELINE"].rows)


def test_the_parts_of_records_of_moves_and_a_player_are_found_by_their_keys() -> None:
    made_of = {ACTION * PLAYER: (7, 3), MOVE**2 * PLAYER: (64, -1, 0), MOVE**3 * PLAYER: (0, 5, 5, -1)}
    others = [history_record(0, 1, (5,)), mix(record(7, 3), 70), 12345]
    keys = np.array([record(*parts) for parts in made_of.values()] + others)
    for space, parts in made_of.items():
        assert parts_of(keys, space, 4, range(65)) == {record(*parts): parts}
    assert parts_of(keys, HISTORY | ACTION * PLAYER, 4, range(65)) == {record(7, 3): (7, 3)}
