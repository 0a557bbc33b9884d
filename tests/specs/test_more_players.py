"""Enhancements where three or four play, in plain Python, for which nothing is compiled, against naive twins.

The machine code of a slot is that of its Python source: `tests/engine/test_plain.py` and `tests/engine/test_twin.py` compare the two for
any number of players.
"""

import pytest

from icarus import Enhancement, search
from tests import naive, toy
from tests.engine.test_twin import same_records, starts
from tests.marks import slow_variants
from tests.specs import test_catalogue, test_knowledge, test_score_bounds

PLACES = [toy.THREE, toy.CLASHES, toy.THICKETS[2]]
PAIRS = [*test_catalogue.PAIRS, *test_knowledge.PAIRS, *test_knowledge.TOYS_ONLY, *test_score_bounds.PAIRS]


@pytest.mark.parametrize(
    ("strategy", "twin"), slow_variants(PAIRS), ids=lambda x: str(x) if isinstance(x, Enhancement) else ""
)
def test_engine_and_twin_agree(strategy: Enhancement, twin: naive.Leaf) -> None:
    proves = any(part.capture.proves for part in strategy.components)
    for number, game in enumerate(PLACES):
        if proves and game not in test_score_bounds.OPEN_TOYS:
            continue
        state = starts(game, number)
        result = search(state, strategy, iterations=15, seed=number, engine="python")
        outcome = naive.search(state, twin, 15, number)
        same_records(result.records, strategy, twin, outcome, (str(game),))
        assert dict(zip(result.actions, result.visits.tolist(), strict=True)) == outcome.selections
        assert proves or result.action == outcome.action
