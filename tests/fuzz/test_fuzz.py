"""A little of `make fuzz`, and with --slow every seed that has failed once; inputs that have are tried first each time."""

from collections.abc import Callable

import pytest

from tests.fuzz.claims import CLAIMS
from tests.fuzz.running import failed_before, fuzz

EXAMPLES = {
    "a_text_is_a_strategy_that_reads_back_or_is_refused": 25,
    "both_engines_find_the_same": 2,
    "threads_find_the_same_twice_or_lose_nothing": 3,
    "a_command_ends_in_output_or_one_sentence": 8,
}


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_a_claim_holds_for_what_is_drawn(claim: Callable[..., None]) -> None:
    assert fuzz(claim, EXAMPLES.get(claim.__name__, 60), seed=1) > 0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "seed"), list(failed_before()))
def test_what_failed_once_holds(name: str, seed: int) -> None:
    fuzz(next(claim for claim in CLAIMS if claim.__name__ == name), 40, seed)
