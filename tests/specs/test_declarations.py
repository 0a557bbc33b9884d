"""What slots of the catalogue declare of themselves, held against what they do."""

import random

import attrs
import numpy as np
import pytest

from icarus import games, search
from icarus.algebra import Enhancement
from icarus.algebra.slots import Candidates
from icarus.engine.search import Search
from icarus.kernel.state import State
from icarus.specs import SPECIFICATIONS
from icarus.testing import Decision, HistoryExample

PARTS = {part.name: part for strategy in SPECIFICATIONS.values() for part in strategy.components}
BY_CAPTURE = {part.capture.function: part for part in PARTS.values()}
CAPTURES = [
    part for part in BY_CAPTURE.values() if not (part.capture.reads_simulation and part.capture.writes_simulation)
]
OPENINGS = [games.load(name).new_initial_state(1) for name in ("othello", "goofspiel", "phantom-mnk")]
INDEPENDENT = [
    part for part in PARTS.values() if isinstance(part.policy.source, Candidates) and part.policy.source.independent
]


def fits(state: State, part: Enhancement) -> bool:
    """Whether a search of the game may use it."""
    try:
        Search(part, iterations=1).begin(state)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("part", CAPTURES, ids=str)
def test_a_search_that_relies_on_no_declaration_finds_the_same(part: Enhancement) -> None:
    assert any(fits(state, part) for state in OPENINGS)
    cautious = attrs.evolve(part.capture, reads_simulation=True, writes_simulation=True)
    for state in filter(lambda state: fits(state, part), OPENINGS):
        expected, result = (
            search(state, attrs.evolve(part, name="TRIED", capture=capture), iterations=60, seed=3)
            for capture in (part.capture, cautious)
        )
        assert (expected.visits == result.visits).all()
        rows = [each.records["TRIED"].rows for each in (expected, result)]
        assert np.array_equal(*rows)


@pytest.mark.parametrize("part", INDEPENDENT, ids=str)
def test_a_record_declared_independent_is_that_of_the_action_alone(part: Enhancement) -> None:
    luck = random.Random(4)
    for _ in range(20):
        legal = tuple(luck.sample(range(9), 4))
        played = [Decision(i % 2, legal, luck.choice(legal)) for i in range(6)]
        together = HistoryExample([*played, Decision(0, legal)]).candidates(part)
        alone = [HistoryExample([*played, Decision(0, (action,))]).candidates(part)[0] for action in legal]
        assert together == alone
