"""Algorithms that keep the tree of a game have a search and a result of their own, and play where an agent does."""

import pytest

from icarus import MO_ISMCTS, SO_ISMCTS, Agent, exploitability, games, play, search
from icarus.equilibrium import OOS, NearEquilibrium, OnlineResult, OOSSearch, online_search
from icarus.specs import BASELINE

KUHN = games.load("kuhn-poker")
ALGORITHMS = [OOS(target="public subgame"), NearEquilibrium(epsilon=0.1)]
every = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)


@every
def test_one_decision_is_searched_with_an_empty_memory(algorithm):
    state = KUHN.new_initial_state(seed=4)
    result, again = (online_search(state, algorithm, iterations=200, seed=7) for _ in range(2))
    assert isinstance(result, OnlineResult)
    assert result.algorithm == algorithm and result.actions == tuple(state.legal_actions())
    assert result.policy.sum() == pytest.approx(1) and (result.policy == again.policy).all()
    assert (result.policy == Agent(algorithm, iterations=200).search(state, 7).policy).all()
    assert not any(array.flags.writeable for array in (result.policy, result.visits, result.values))
    text = str(result)
    result.state.apply_action(result.action)
    assert str(result) == text


def test_progress_is_reported():
    reports = []
    online_search(
        KUHN.new_initial_state(), OOS(), seconds=0.2, progress=lambda iterations, seconds: reports.append(iterations)
    )
    assert reports and sorted(reports) == reports


@every
def test_an_agent_plays_by_it(algorithm):
    agent = Agent(algorithm, iterations=60)
    logs = [play(KUHN, [agent, Agent(BASELINE, iterations=60)], seed=3) for _ in range(2)]
    assert logs[0].actions == logs[1].actions
    assert str(agent) == f"{algorithm} (60 iterations)"


def test_an_agent_remembers_within_a_match():
    seated = Agent(OOS(), iterations=50).seated(KUHN)
    state = KUHN.new_initial_state(seed=1)
    assert seated.search(state, 1).iterations == seated.search(state, 2).iterations == 50
    assert seated.memory.iterations == 100


def test_the_exploitability_of_an_agent_is_that_of_its_searches():
    by_search = exploitability(KUHN, lambda state: OOSSearch(KUHN).run(state, iterations=90, seed=0).policy)
    by_agent = exploitability(KUHN, Agent(OOS(), iterations=90))
    assert by_agent.nash_conv != by_search.nash_conv  # each information set has a stream of its own
    assert by_agent == exploitability(KUHN, Agent(OOS(), iterations=90))


@every
def test_search_says_what_to_call(algorithm):
    with pytest.raises(
        TypeError, match=r"is another algorithm, not a strategy of search\(\): call icarus.equilibrium.online_search"
    ):
        search(KUHN.new_initial_state(), algorithm, iterations=5)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"threads": 2}, "takes no threads=2"),
        ({"scheme": SO_ISMCTS}, "takes no scheme=SO_ISMCTS"),
        ({"cutoff": 4}, "takes no scheme=.*cutoff"),
        ({"move_decay": 0.5}, "takes no move_decay=0.5"),
        ({"preference": len}, "takes no preference="),
    ],
)
def test_settings_of_search_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Agent(OOS(), iterations=5, **settings)


@pytest.mark.parametrize("wrong", [KUHN, OOS, Agent(BASELINE, iterations=5)], ids=["game", "class", "agent"])
def test_what_only_looks_like_an_algorithm_is_refused(wrong):
    with pytest.raises(TypeError, match="the strategy of an agent must be an Enhancement"):
        Agent(wrong, iterations=5)
    with pytest.raises(TypeError, match="a strategy must be an Enhancement"):
        search(KUHN.new_initial_state(), wrong, iterations=5)
    with pytest.raises(TypeError, match=r"an algorithm must be OOS\(…\)"):
        online_search(KUHN.new_initial_state(), wrong, iterations=5)


def test_an_online_search_needs_a_budget():
    with pytest.raises(ValueError, match="needs a budget"):
        online_search(KUHN.new_initial_state(), OOS())
    assert Agent(OOS(), iterations=3).scheme == MO_ISMCTS
