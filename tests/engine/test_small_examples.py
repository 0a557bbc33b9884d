"""The small examples of Cowling, Powley and Whitehouse (2012) by name: their figures' trees, and what their text says happens there."""

import pytest

import icarus
from icarus.engine.result import Result
from icarus.engine.scheme import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
    Scheme,
)
from icarus.kernel import CHANCE
from icarus.kernel.state import State
from icarus.specs import BASELINE
from tests.test_toy import after
from tests.toy import A1, A2, A3, A4, B1, B2, B3, BLIND_STATES, FUSION, PENNIES, SOMETHING, STAY, THREE_STATES

X, Y, Z = 0, 1, 2  # the initial states of the figures
E_X3, E_X4, E_Y3, E_Y4 = 103, 104, 203, 204  # environment actions of Figure 1
E_X23, E_X24, E_Y23, E_Y24 = 123, 124, 223, 224  # and of Figure 3
INFORMATION_SETS = [SO_ISMCTS, SO_ISMCTS_POM, MO_ISMCTS]
ONE_STATE = [DeterminizedUCT(1), DeterminizedUCT(10), CheatingUCT, CheatingEnsembleUCT(10)]
by_seed = pytest.mark.parametrize("seed", range(3))


def searched(state: State, scheme: Scheme, seed: int = 0, iterations: int = 20_000) -> Result:
    return icarus.search(state, BASELINE, iterations=iterations, seed=seed, scheme=scheme)


def node(result: Result, player: int, *moves: int) -> tuple[float, int, int]:
    """The mean reward of player 0, the visits and the availability of a node."""
    row = result.records["BASELINE"][player, moves]
    return float(row["reward"][0]) / int(row["visits"]), int(row["visits"]), int(row["availability"])


def holds_exactly(result: Result, *histories: tuple) -> bool:
    """Whether the tree has these nodes, (mover, moves), and the root, and no others."""
    records = result.records["BASELINE"]
    return set(records) == {records.key(()), *map(records.key, histories)}


def value(result: Result, action: int) -> float:
    return float(result.values[list(result.actions).index(action)])


# --------------------------------------------------------------------------------------------------------- Figures 1 and 2


@by_seed
@pytest.mark.parametrize("scheme", INFORMATION_SETS, ids=str)
def test_figure_1_a_search_of_information_sets_finds_the_optimal_action(scheme: Scheme, seed: int) -> None:
    result = searched(after(FUSION), scheme, seed)
    assert result.action == A2
    assert value(result, A2) == STAY
    assert value(result, A1) == pytest.approx(0.5, abs=0.2)  # 0 in the paper's scale; few visits, 0 or 1 each


@by_seed
@pytest.mark.parametrize("scheme", ONE_STATE, ids=str)
def test_figure_1_a_search_of_single_states_believes_a1_to_be_optimal(scheme: Scheme, seed: int) -> None:
    for deal in (X, Y):
        result = searched(after(FUSION, deal=deal), scheme, seed)
        assert result.action == A1
        assert value(result, A1) > 0.98  # +1 in each state
        assert value(result, A2) == STAY


@pytest.mark.parametrize("scheme", INFORMATION_SETS, ids=str)
def test_figure_2_each_environment_node_is_worth_the_expected_value(scheme: Scheme) -> None:
    result = searched(after(FUSION, A1), scheme)
    assert node(result, 0, A3)[0] == pytest.approx(0.5, abs=0.03)
    assert node(result, 0, A4)[0] == pytest.approx(0.5, abs=0.03)
    assert result.value == pytest.approx(0.5, abs=0.03)


FIGURE_2 = [
    (0, (A1,)),
    (0, (A2,)),
    (0, (A1, A3)),
    (0, (A1, A4)),
    (CHANCE, (A1, A3, E_X3)),
    (CHANCE, (A1, A3, E_Y3)),
    (CHANCE, (A1, A4, E_X4)),
    (CHANCE, (A1, A4, E_Y4)),
]


@pytest.mark.parametrize("scheme", INFORMATION_SETS, ids=str)
def test_figure_2_each_node_is_an_information_set(scheme: Scheme) -> None:
    trees = [
        searched(after(FUSION), scheme, seed).records["BASELINE"] for seed in range(4)
    ]  # a₁ is visited rarely: one may not do
    assert set.union(*map(set, trees)) == {trees[0].key(record) for record in [(), *FIGURE_2]}


def test_figure_1_a_determinization_has_the_tree_of_one_state() -> None:
    in_x, in_y = (
        ((0, (A1,)), (0, (A2,)), (0, (A1, A3)), (0, (A1, A4)), (CHANCE, (A1, A3, third)), (CHANCE, (A1, A4, fourth)))
        for third, fourth in ((E_X3, E_X4), (E_Y3, E_Y4))
    )
    assert holds_exactly(searched(after(FUSION, deal=X), CheatingUCT), *in_x)
    assert holds_exactly(searched(after(FUSION, deal=Y), CheatingUCT), *in_y)
    drawn = [searched(after(FUSION), DeterminizedUCT(1), seed, iterations=2000) for seed in range(20)]
    assert all(holds_exactly(tree, *in_x) != holds_exactly(tree, *in_y) for tree in drawn)
    assert {holds_exactly(tree, *in_x) for tree in drawn} == {True, False}


# --------------------------------------------------------------------------------------------------------- Figures 3 and 4

REPLIES = [(0, (A1, b, a)) for b in (B1, B2, B3) for a in (A3, A4)]
TOLD = [
    (CHANCE, (A1, B2, A3, E_X23)),
    (CHANCE, (A1, B2, A3, E_Y23)),
    (CHANCE, (A1, B2, A4, E_X24)),
    (CHANCE, (A1, B2, A4, E_Y24)),
]
FIGURE_4 = [(0, (A1,)), (0, (A2,)), *((1, (A1, b)) for b in (B1, B2, B3)), *REPLIES, *TOLD]


@pytest.mark.parametrize("scheme", INFORMATION_SETS, ids=str)
def test_figure_4_there_is_a_branch_for_every_action_that_can_be_available(scheme: Scheme) -> None:
    assert holds_exactly(searched(after(THREE_STATES), scheme), *FIGURE_4)


@by_seed
def test_figure_4_branches_are_available_as_often_as_a_determinization_allows_them(seed: int) -> None:
    result = searched(after(THREE_STATES), SO_ISMCTS, seed)
    decisions = node(result, 0, A1)[1] - 1  # the first visit expands a₁ and simulates the rest
    _, visits, available = zip(*(node(result, 1, A1, b) for b in (B1, B2, B3)), strict=True)
    assert sum(visits) == decisions
    assert sum(available) == 2 * decisions  # two of the three are legal in each state
    assert list(available) == pytest.approx([2 / 3 * decisions] * 3, rel=0.02)
    for mover, moves in TOLD:
        _, n, m = node(result, mover, *moves)
        assert n == m  # the outcome of the other state is never a sibling


def test_figure_4b_in_state_x_the_tree_is_restricted_to_b1_and_b2() -> None:
    restricted = [
        (mover, moves) for mover, moves in FIGURE_4 if B3 not in moves and E_Y23 not in moves and E_Y24 not in moves
    ]
    assert len(restricted) == 10
    result = searched(after(THREE_STATES, deal=X), CheatingUCT)
    assert holds_exactly(result, *restricted)
    decisions = node(result, 0, A1)[1] - 1
    assert [node(result, 1, A1, b)[2] for b in (B1, B2)] == [decisions, decisions]


@by_seed
@pytest.mark.parametrize("scheme", INFORMATION_SETS, ids=str)
def test_figure_3_replies_that_do_not_depend_on_the_state_are_found(scheme: Scheme, seed: int) -> None:
    result = searched(after(THREE_STATES), scheme, seed)
    assert result.action == A1
    assert value(result, A1) == pytest.approx(2 / 3, abs=0.03)  # ½ in x and in y, 1 in z
    assert node(result, 0, A1, B1, A3)[1] > 9 * node(result, 0, A1, B1, A4)[1]
    assert node(result, 0, A1, B3, A4)[1] > 9 * node(result, 0, A1, B3, A3)[1]


# ---------------------------------------------------------------------------------------------------------------- Figure 5


def test_figure_5a_moves_that_player_1_cannot_tell_apart_share_a_single_branch() -> None:
    result = searched(after(BLIND_STATES), SO_ISMCTS_POM)
    nodes_seen = {(CHANCE, (A1, SOMETHING, *moves[2:])) for _, moves in TOLD}
    assert holds_exactly(
        result,
        (0, (A1,)),
        (0, (A2,)),
        (1, (A1, SOMETHING)),
        (0, (A1, SOMETHING, A3)),
        (0, (A1, SOMETHING, A4)),
        *nodes_seen,
    )
    decisions = node(result, 0, A1)[1] - 1
    assert node(result, 1, A1, SOMETHING)[1:] == (decisions, decisions)


def test_figure_5_both_players_trees_are_searched_at_once() -> None:
    # The environment sees everything, so that its nodes are those of Figure 4.
    by_player_1 = [(0, (A1,)), (0, (A2,)), (0, (A1, SOMETHING, A3)), (0, (A1, SOMETHING, A4))]
    by_player_2 = [(1, (SOMETHING, b)) for b in (B1, B2, B3)]
    assert holds_exactly(searched(after(BLIND_STATES), MO_ISMCTS), *by_player_1, *by_player_2, *TOLD)


def test_a_single_observer_treats_partially_observable_moves_as_fully_observable() -> None:
    blind, seeing = (searched(after(game), SO_ISMCTS, seed=5) for game in (BLIND_STATES, THREE_STATES))
    assert holds_exactly(blind, *FIGURE_4)
    assert (blind.records["BASELINE"].rows == seeing.records["BASELINE"].rows).all()  # it does not know the difference
    assert blind.visits.tolist() == seeing.visits.tolist()


@by_seed
def test_different_actions_are_taken_in_response_to_what_cannot_be_told_apart(seed: int) -> None:
    # To a player who sees which b it was a₁ is worth 2/3, more than the 0.6 of a₂; to one who does not, ½.
    fused = searched(after(BLIND_STATES), SO_ISMCTS, seed)
    assert fused.action == A1
    assert value(fused, A1) == pytest.approx(2 / 3, abs=0.03)
    assert node(fused, 0, A1, B1, A3)[1] > 9 * node(fused, 0, A1, B1, A4)[1]
    assert node(fused, 0, A1, B3, A4)[1] > 9 * node(fused, 0, A1, B3, A3)[1]


@by_seed
@pytest.mark.parametrize("scheme", [SO_ISMCTS_POM, MO_ISMCTS], ids=str)
def test_observing_moves_avoids_strategy_fusion(scheme: Scheme, seed: int) -> None:
    result = searched(after(BLIND_STATES), scheme, seed)
    assert result.action == A2
    assert value(result, A1) < 0.6


@by_seed
def test_a_single_observer_of_moves_models_an_opponent_who_chooses_at_random(seed: int) -> None:
    # After a₁ player 2 would meet a₃ with b₃ where he can (y, z: player 1 gets 1/3) and the like; at random he leaves ½.
    result = searched(after(BLIND_STATES, A1, B2, deal=X), SO_ISMCTS_POM, seed)
    assert value(result, A3) == pytest.approx(0.5, abs=0.05)
    assert value(result, A4) == pytest.approx(0.5, abs=0.05)


# ------------------------------------------------------------------------------------------ section III-C1: choices at once


@by_seed
@pytest.mark.parametrize("scheme", [SO_ISMCTS, DeterminizedUCT(10)], ids=str)
def test_without_exp3_the_first_chooser_is_pessimistic_and_the_second_optimistic(scheme: Scheme, seed: int) -> None:
    # Each player expects half of the two coins; one whose coin is seen none, and one who sees the other's all.
    assert searched(after(PENNIES), scheme, seed).value < 0.1
    if scheme is not SO_ISMCTS:  # only a tree of one state fixes the first choice
        assert searched(after(PENNIES, 0), scheme, seed).value > 0.9


@by_seed
@pytest.mark.parametrize("scheme", [MO_ISMCTS, SO_ISMCTS, CheatingUCT], ids=str)
def test_exp3_mixes_both_coins_evenly(scheme: Scheme, seed: int) -> None:
    result = searched(after(PENNIES), scheme.with_exp3(), seed, iterations=60_000)
    assert result.visits[0] / result.visits.sum() == pytest.approx(0.5, abs=0.05)
    assert result.value == pytest.approx(0.5, abs=0.03)
    visits = [
        int(result.records["EXP3"][1, (coin,)]["visits"]) for coin in (0, 1)
    ]  # no record of the second depends on the first's
    assert visits[0] / sum(visits) == pytest.approx(0.5, abs=0.05)


# ------------------------------------------------------------------------------------------------------ the schemes at large
