"""`make faults`: 282 faults, each against the rows of a run that nothing disturbs. Without --slow a few, in this process."""

from collections.abc import Callable

import pytest

from tests.faults import files, processes
from tests.faults.harness import Bench


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench.create(tmp_path_factory.mktemp("faults"), seed=1)


@pytest.mark.parametrize("fault", files.FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_ends_in_equal_rows_or_one_sentence(
    bench: Bench, fault: Callable[[Bench], None], request: pytest.FixtureRequest
) -> None:
    for _ in range(files.FAULTS[fault] if request.config.getoption("--slow") else 2):
        fault(bench)


@pytest.mark.slow
@pytest.mark.parametrize("fault", [fault for fault, times in processes.FAULTS.items() for _ in range(times)])
def test_a_fault_of_a_process_ends_in_equal_rows_or_one_sentence(bench: Bench, fault: Callable[[Bench], None]) -> None:
    fault(bench)
