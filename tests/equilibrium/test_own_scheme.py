"""Searches that are schemes of their own stand where a strategy does: in `search`, `Agent` and matches."""

import pytest

from icarus import MO_ISMCTS, SO_ISMCTS, Agent, exploitability, games, play, search
from icarus.equilibrium import ISMCTS, OOS, ISMCTSAgent, NearEquilibrium, OOSAgent
from icarus.specs import BASELINE

KUHN = games.load("kuhn-poker")
SCHEMES = [OOS(target="public subgame"), ISMCTS(selection="EXP3"), NearEquilibrium(epsilon=0.1)]
every = pytest.mark.parametrize("scheme", SCHEMES, ids=str)


@every
def test_search_takes_it_for_a_strategy(scheme):
    state = KUHN.new_initial_state(seed=4)
    found, again = (search(state, scheme, iterations=200, seed=7) for _ in range(2))
    assert found.scheme == scheme and found.actions == tuple(state.legal_actions())
    assert found.policy.sum() == pytest.approx(1) and (found.policy == again.policy).all()
    assert (found.policy == scheme.as_player(iterations=200).search(state, 7).policy).all()


def test_search_tells_how_far_it_has_come():
    told = []
    search(KUHN.new_initial_state(), OOS(), seconds=0.2, progress=lambda made, seconds: told.append(made))
    assert told and sorted(told) == told


@every
def test_an_agent_plays_by_it_as_its_own_player_does(scheme):
    agent, player = Agent(scheme, iterations=60), scheme.as_player(iterations=60)
    logs = [play(KUHN, [each, Agent(BASELINE, iterations=60)], seed=3) for each in (agent, player)]
    assert logs[0].actions == logs[1].actions
    assert str(agent) == f"{scheme} (60 iterations)"
    assert agent.search(KUHN.new_initial_state(1), 2).scheme == scheme


def test_an_agent_remembers_within_a_match():
    seated = Agent(OOS(), iterations=50).seated(KUHN)
    state = KUHN.new_initial_state(seed=1)
    assert seated.search(state, 1).iterations == seated.search(state, 2).iterations == 50
    assert seated.memory.iterations == 100


def test_its_exploitability_is_that_of_its_player():
    one, other = (exploitability(KUHN, each) for each in (Agent(OOS(), iterations=90), OOSAgent(iterations=90)))
    assert one.nash_conv == other.nash_conv


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"threads": 2}, "takes no threads=2"),
        ({"scheme": SO_ISMCTS}, "takes no scheme=SO_ISMCTS"),
        ({"cutoff": 4}, "cutoff"),
        ({"move_decay": 0.5}, "takes no move_decay=0.5"),
    ],
)
def test_settings_of_the_loop_are_refused(given, told):
    with pytest.raises(ValueError, match=told):
        Agent(OOS(), iterations=5, **given)
    if "move_decay" not in given:
        with pytest.raises(ValueError, match=told):
            search(KUHN.new_initial_state(), OOS(), iterations=5, **given)


def test_plain_python_does_not_search_by_it():
    with pytest.raises(ValueError, match="takes no engine=python"):
        search(KUHN.new_initial_state(), OOS(), iterations=5, engine="python")


@pytest.mark.parametrize("wrong", [KUHN, OOS], ids=["a game", "a class"])
def test_what_only_looks_like_one_is_no_strategy(wrong):
    with pytest.raises(TypeError, match="the strategy of an agent is an Enhancement"):
        Agent(wrong, iterations=5)
    with pytest.raises(TypeError, match="a strategy is an Enhancement"):
        search(KUHN.new_initial_state(), wrong, iterations=5)


def test_its_player_is_of_its_kind():
    assert OOS().as_player(iterations=3) == OOSAgent(iterations=3)
    assert ISMCTS().as_player(seconds=1.0) == ISMCTSAgent(seconds=1.0)
    assert Agent(OOS(), iterations=3).scheme == MO_ISMCTS
