"""Slips of a user of `icarus.equilibrium`, each made on purpose: a sentence, not another number, a hang or the end of the process."""

import copy
import pickle
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import BASELINE, MAST, RAVE, Agent, best_response, exploitability, games, play
from icarus.engine.result import Result
from icarus.equilibrium import (
    CFR,
    OOS,
    Aggregate,
    GameTree,
    NearEquilibrium,
    OOSSearch,
    Stitching,
    TabularPolicy,
    deals_of,
    information_state,
    near_equilibrium,
    online_search,
    parse_algorithm,
    stitch,
    tabulate,
)
from icarus.equilibrium.tree import tree_of
from tests.forked import survive

KUHN, LEDUC = games.load("kuhn-poker"), games.load("leduc-poker")
AGENT = Agent(RAVE, iterations=5)
UNIFORM = 11 / 12  # NashConv of uniform choice in Kuhn poker
STAKE = 1.0  # bound anew by a test


def staked_rewards(state: Any, out: Any) -> None:
    gain = STAKE * (state.paid[1] if state.cards[0] > state.cards[1] else -state.paid[0])
    out[0], out[1] = (gain + 4) / 8, (4 - gain) / 8


def played(*actions: int) -> Any:
    state = KUHN.new_initial_state(seed=1)
    for action in actions:
        state.apply_action(action)
    return state


# ------------------------------------------------------------------------------------------------- in another process


@pytest.mark.parametrize("kind", [CFR, OOSSearch])
def test_a_solver_of_another_process_goes_on(kind):
    solver, same = kind(KUHN), kind(KUHN)
    solver.make(3)
    moved = pickle.loads(pickle.dumps(solver))

    def go_on(_: int) -> None:
        moved.make(2)
        same.make(5)
        assert (moved.sums == same.sums).all()

    survive(1, go_on, 60)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda solver: pickle.loads(pickle.dumps(solver))])
@pytest.mark.parametrize("kind", [CFR, OOSSearch])
def test_a_copy_of_a_solver_goes_on_as_the_solver(kind, copied):
    solver = kind(KUHN)
    solver.make(20)
    twin = copied(solver)
    before = solver.sums.copy()
    twin.make(20)
    assert (solver.sums == before).all()
    solver.make(20)
    assert (twin.sums == solver.sums).all() and (twin.sums != before).any()


# ------------------------------------------------------------------------------------------------------ a global bound anew


def test_a_tree_is_grown_anew_after_a_global_of_the_game_is_bound_anew(monkeypatch):
    game = attrs.evolve(KUHN, name="staked-kuhn", rewards=staked_rewards, utilities=(-4, 4))
    before, tree = exploitability(game, None).nash_conv, tree_of(game)
    player = Agent(NearEquilibrium(0.01), iterations=1).seated(game)
    assert tree_of(game) is tree
    monkeypatch.setitem(globals(), "STAKE", 2.0)
    assert exploitability(game, None).nash_conv == pytest.approx(2 * before)
    assert tree_of(game) is not tree
    assert Agent(NearEquilibrium(0.01), iterations=1).seated(game).policy.tree is tree_of(game)
    assert player.policy.tree is tree


# ------------------------------------------------------------------------------------------------------------- policies


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda uniform: uniform[:3], r"have the shape \(3,\); it must be \(30,\)"),
        (lambda uniform: uniform + np.nan, "sum to nan in information set 0; they must be at least 0 and sum to 1"),
        (lambda uniform: 2 * uniform, "sum to 2 in information set 0"),
        (lambda uniform: uniform + np.tile([2, -2], 15), "are negative somewhere"),
    ],
)
def test_a_table_by_slots_holds_probabilities(changed, message):
    tree = tree_of(KUHN)
    uniform = tabulate(tree, None).probabilities
    with pytest.raises(ValueError, match=f"the probabilities of a policy in kuhn-poker {message}"):
        TabularPolicy(tree, changed(uniform))


def test_a_table_may_be_a_list_or_a_strided_array():
    tree = tree_of(KUHN)
    uniform = tabulate(tree, None).probabilities
    for same in (uniform.tolist(), np.repeat(uniform, 2)[::2]):
        assert exploitability(tree, TabularPolicy(tree, same)).nash_conv == pytest.approx(UNIFORM)


def test_a_table_of_a_game_of_the_same_name_is_refused():
    other = attrs.evolve(LEDUC, name="kuhn-poker")
    with pytest.raises(ValueError, match="is not a policy in kuhn-poker"):
        exploitability(KUHN, tabulate(GameTree(other), None))


@pytest.mark.parametrize(
    "answer", ["ab", [[1], [2, 3]], [0.5 + 0j, 0.5], {0: "x", 1: 1.0}, iter([0.5, 0.5]), {1: 0.5}.values()]
)
def test_what_are_no_numbers_is_refused_as_other_probabilities_are(answer):
    with pytest.raises(ValueError, match=r"player 0 of kuhn-poker plays .* after 'the deal'; it must be probabilities"):
        exploitability(KUHN, lambda state: answer)


def test_an_error_of_a_policy_has_a_note_where_it_was_asked():
    def policy(state: Any) -> list[float]:
        player = state.current_player()
        state.apply_action(0)  # the state is the policy's own
        return [1 / (1 - player), 0]

    with pytest.raises(ZeroDivisionError) as caught:
        exploitability(KUHN, policy)
    assert caught.value.__notes__ == ["the policy was asked in kuhn-poker after 'pass'"]


@pytest.mark.parametrize("policy", [CFR, Agent, TabularPolicy, OOS])
def test_a_class_is_not_a_policy(policy):
    with pytest.raises(TypeError, match="is a class, not a policy; it must be made first"):
        exploitability(KUHN, policy)


@pytest.mark.parametrize("seed", [-1, 1.5, (1, 2), None, True])
def test_a_bad_seed_is_named_as_it_was_given(seed):
    for policy in (None, AGENT):
        with pytest.raises(ValueError, match="seed is .*; it must be an integer of at least 0") as caught:
            exploitability(KUHN, policy, seed=seed)
        assert str(caught.value).startswith(f"seed is {seed!r};")


@pytest.mark.parametrize("key", [(0, 2.7, ()), (0.0, 2, ()), (0, 2, ((True, 0.0), (False, 1)))])
def test_an_information_state_is_of_integers(key):
    with pytest.raises(ValueError, match="is not an information state of kuhn-poker"):
        exploitability(KUHN, {key: [0.5, 0.5]})


@pytest.mark.parametrize("player", [1.0, np.True_, None, np.array([0, 1])])
def test_a_player_is_an_integer(player):
    with pytest.raises(ValueError, match="it must be 0 or 1"):
        best_response(KUHN, None, player)


# -------------------------------------------------------------------------------------------------------------- solvers


@pytest.mark.parametrize("iterations", [0, -1, 1.5, 1e3, "10", None])
@pytest.mark.parametrize("kind", [CFR, OOSSearch])
def test_iterations_are_a_positive_integer(kind, iterations):
    with pytest.raises(ValueError, match="iterations is .*; it must be an integer of at least 1"):
        kind(KUHN).make(iterations)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", (), None])
def test_a_bad_seed_of_sampling_is_refused(seed):
    with pytest.raises(ValueError, match="seed is .*; it must be an integer of at least 0, or a sequence"):
        OOSSearch(KUHN, seed=seed)


@pytest.mark.parametrize("largest", [0, -1, "5", 2.5])
def test_the_largest_tree_is_a_positive_integer(largest):
    with pytest.raises(ValueError, match="largest is .*; it must be an integer of at least 1"):
        GameTree(KUHN, largest=largest)


# -------------------------------------------------------------------------------------------------------- online search


@pytest.mark.parametrize("state", ["kuhn-poker", KUHN, None])
def test_what_is_no_state_is_refused(state):
    calls = [
        lambda: online_search(state, OOS(), iterations=5),
        lambda: OOSSearch(KUHN).run(state, iterations=5),
        lambda: Agent(OOS(), iterations=5).search(state, 0),
        lambda: tabulate(tree_of(KUHN), None)(state),
        lambda: information_state(state),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="needs a State, such as .*, not "):
            call()


def test_progress_that_is_no_function_is_refused_before_the_search():
    state = played()
    calls = [
        lambda: online_search(state, OOS(), iterations=5, progress=3),
        lambda: online_search(state, NearEquilibrium(), iterations=5, progress=3),
        lambda: OOSSearch(KUHN).run(state, iterations=5, progress=3),
        lambda: Agent(OOS(), iterations=5).search(state, 0, progress=3),
        lambda: AGENT.search(state, 0, progress=3),
        lambda: stitch(KUHN, AGENT, progress=3),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="progress is 3; it must be a function of "):
            call()
    with pytest.raises(TypeError, match="watch is 3; it must be a function of the result so far"):
        AGENT.search(state, 0, watch=3)


def test_who_watches_an_agent_sees_its_results():
    watched: list[Result] = []
    AGENT.search(played(), 0, watch=watched.append)
    assert watched[-1].iterations == 5


@pytest.mark.parametrize("actions", [(0, 0), (1, 1)])
def test_a_state_in_which_nobody_moves_has_no_information_state(actions):
    with pytest.raises(ValueError, match="no player is to move in <kuhn-poker after 2 actions>"):
        information_state(played(*actions))


def test_what_is_no_text_of_an_algorithm_is_refused():
    with pytest.raises(ValueError, match="5 is not an algorithm; known algorithms: OOS"):
        parse_algorithm(5)


def test_what_is_no_game_has_no_deals():
    with pytest.raises(TypeError, match="deals_of needs a Game, such as .*, not 'kuhn-poker'"):
        deals_of("kuhn-poker")


def test_one_iteration_is_told_in_the_singular():
    solver, search = CFR(KUHN), OOSSearch(KUHN)
    solver.run(1)
    result = search.run(played(), iterations=1)
    assert repr(solver) == "<CFR in kuhn-poker after 1 iteration>"
    assert repr(search) == "<OOS() in kuhn-poker after 1 iteration>"
    assert repr(result).endswith(" after 1 iteration>")
    assert str(result).startswith("kuhn-poker, player 0, OOS(): 1 iteration in ")
    with pytest.raises(ValueError, match="after 1 iteration of CFR"):
        near_equilibrium(KUHN, 1e-9, most=1)


# ------------------------------------------------------------------------------------------------------------- measures


@pytest.mark.parametrize("agent", [OOS(), Agent])
def test_settings_without_a_budget_are_no_agent(agent):
    for measure in (stitch, Stitching, Aggregate):
        with pytest.raises(TypeError, match="cannot search; it must be an Agent, such as Agent"):
            measure(KUHN, agent)
    with pytest.raises(TypeError, match="an agent must be an Agent"):
        play(KUHN, [agent, agent])


@pytest.mark.parametrize("part", [99, -1, "x", 0])
def test_a_part_is_one_of_the_parts(part):
    with pytest.raises(ValueError, match="part is .*; it must be one of `parts`, which begin with 1"):
        Stitching(KUHN, AGENT).search(part)


@pytest.mark.parametrize(
    ("entered", "message"),
    [
        ({1: [0.5, 9]}, r"plays \[0.5, 9\] after 'the deal'; it must be probabilities"),
        ({1000: [0.5, 0.5]}, "1000 is not the number of an information set of a player in kuhn-poker"),
        ({-1: [0.5, 0.5]}, "-1 is not the number of an information set"),
        ({0: [1, 0, 0, 0, 0, 0]}, "0 is not the number of an information set of a player"),
    ],
)
def test_what_is_entered_are_probabilities_of_a_player(entered, message):
    with pytest.raises(ValueError, match=message):
        Stitching(KUHN, AGENT).enter(entered)


@pytest.mark.parametrize("version", ["AAAI", "AAMAS"])
@pytest.mark.parametrize("algorithm", [BASELINE >> MAST, OOS()])
def test_a_match_that_is_interrupted_counts_nothing(version, algorithm, monkeypatch):
    whole, stopped = (Aggregate(KUHN, Agent(algorithm, iterations=20), version=version) for _ in range(2))
    whole.play(4)
    add, added = Aggregate._add, []

    def interrupted(*arguments: Any) -> None:
        add(*arguments)
        added.append(arguments)
        if len(added) in (1, 4):
            raise KeyboardInterrupt

    monkeypatch.setattr(Aggregate, "_add", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            stopped.play(4 - stopped.matches)
    stopped.play(4 - stopped.matches)
    assert (stopped.matches, stopped.searches) == (whole.matches, whole.searches)
    assert (stopped.weights == whole.weights).all()
