"""A few of the faults of `make faults`: those that need no process of their own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults import files
from tests.faults.harness import Bench

TIMES = 2


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.create(tmp_path_factory.mktemp("faults"), seed=1)


@pytest.mark.parametrize("fault", files.FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_ends_in_equal_rows_or_one_sentence(bench: Bench, fault: Callable[[Bench], None]) -> None:
    for _ in range(TIMES):
        fault(bench)


def test_there_are_at_least_200_faults_by_default(tmp_path: Path) -> None:
    from tests.faults.__main__ import FAULTS

    assert sum(FAULTS.values()) >= 200
