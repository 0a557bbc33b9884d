"""Algorithms that keep the tree of a game have a search and a result of their own, and play where an agent does."""

import pytest

from icarus import Agent, games, play
from icarus.equilibrium import OOS, NearEquilibrium, online_search
from icarus.specs import BASELINE

KUHN = games.load("kuhn-poker")
ALGORITHMS = [OOS(target="public subgame"), NearEquilibrium(epsilon=0.1)]
every = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)


@every
def test_one_decision_is_searched_with_an_empty_memory(algorithm):
    state = KUHN.new_initial_state(seed=4)
    result, again = (online_search(state, algorithm, iterations=200, seed=7) for _ in range(2))
    assert result.strategy == algorithm and result.actions == tuple(state.legal_actions())
    assert result.policy.sum() == pytest.approx(1) and (result.policy == again.policy).all()
    assert (result.policy == Agent(algorithm, iterations=200).search(state, 7).policy).all()
    assert not any(array.flags.writeable for array in (result.policy, result.visits, result.values))
    text = str(result)
    result.state.apply_action(result.action)
    assert str(result) == text


@every
def test_an_agent_plays_by_it(algorithm):
    agent = Agent(algorithm, iterations=60)
    logs = [play(KUHN, [agent, Agent(BASELINE, iterations=60)], seed=3) for _ in range(2)]
    assert logs[0].actions == logs[1].actions
    assert str(agent) == f"{algorithm} (60 iterations)"
