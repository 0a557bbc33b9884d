"""Schemes as values, and what each promises whatever is searched."""

import attrs
import numpy as np
import pytest

import icarus
from icarus import (
    SO_ISMCTS_POM,
    Agent,
    Game,
    PythonGame,
    Scheme,
    State,
    games,
    parse_scheme,
    search,
)
from icarus.engine.inspect import search_tree
from icarus.engine.result import Result
from icarus.engine.scheme import (
    MO_ISMCTS,
    SCHEMES,
    SO_ISMCTS,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
)
from icarus.kernel import CHANCE, TERMINAL
from icarus.specs import BASELINE, MAST, parse
from tests.games.scenes import apply_texts, random_walk
from tests.marks import slow_if
from tests.test_toy import after
from tests.toy import (
    A1,
    A2,
    A3,
    A4,
    B1,
    B2,
    B3,
    BLIND_STATES,
    FUSION,
    PENNIES,
    SOMETHING,
    STAY,
    THREE_STATES,
)

EVERYTHING = parse("RAVE >> (MAST + LGRF + NAST2 + EPIC)/4")
# Fields in which even the environment meets something new: the luck to come, and the mark of a search.
NOT_SEEN = {
    "hearts": {"fate", "searching"},
    "knockout-whist": {"deals"},
    "lotr-confrontation": {"searching"},
}
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=str)
HIDDEN = [game for game in map(games.load, games.names()) if game.determinize is not None]


def states(game: Game, seed: int) -> list[State]:
    """The states of a random game, chance included."""
    return [state.clone() for state in random_walk(game.new_initial_state(seed=seed), seed)]


def choice(name: str, seed: int) -> State:
    """A state of a random game in which a player has a choice."""
    return next(
        state
        for state in states(games.load(name), seed)[3:]
        if state.current_player() >= 0 and len(state.legal_actions()) > 3
    )


def phantom(*squares: str) -> State:
    return apply_texts(games.load("phantom-mnk").new_initial_state(seed=1), *squares)


@every_scheme
def test_a_scheme_is_read_back_from_its_text(scheme):
    assert (
        parse_scheme(str(scheme))
        == scheme
        != scheme.with_exp3()
        == parse_scheme(str(scheme.with_exp3()))
    )


def test_the_number_of_trees_may_be_given():
    assert (
        parse_scheme("DeterminizedUCT(7)")
        == parse_scheme("DeterminizedUCT(determinizations=7)")
        == DeterminizedUCT(7)
    )
    assert DeterminizedUCT(7) != DeterminizedUCT() == parse_scheme("DeterminizedUCT")
    assert parse_scheme("CheatingEnsembleUCT(trees=3)").trees == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "UCT",
        "MO_ISMCTS(3)",
        "DeterminizedUCT(trees=3)",
        "DeterminizedUCT(0)",
        "CheatingUCT with",
        "MO_ISMCTS with cutoff=" + "9" * 5000,
        "DeterminizedUCT(" + "9" * 5000 + ")",
    ],
)
def test_what_is_no_scheme_is_refused(text):
    with pytest.raises(ValueError, match="is not a scheme|at least 1|from 1 to"):
        parse_scheme(text)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"root": "the true stat"}, "the root of a scheme is 'the true stat'; it must be"),
        ({"observer": "each playr"}, "the observer of a scheme is 'each playr'; it must be"),
        ({"trees": 5}, "trees of a scheme is 5; a scheme of several trees names by tree_parameter"),
    ],
)
def test_a_slip_in_a_scheme_of_one_s_own_is_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        attrs.evolve(MO_ISMCTS, **fields)


def test_only_two_schemes_cheat_and_their_results_say_so():
    assert [str(scheme) for scheme in SCHEMES.values() if scheme.cheats] == [
        "CheatingUCT",
        "CheatingEnsembleUCT(trees=40)",
    ]
    for scheme in SCHEMES.values():
        texts = [
            str(search(phantom(), BASELINE, iterations=40, scheme=scheme)),
            str(Agent(BASELINE, iterations=40, scheme=scheme)),
        ]
        assert all(("cheating" in text) == scheme.cheats for text in texts)


@pytest.mark.parametrize("game", HIDDEN, ids=str)
def test_the_environment_sees_everything_but_the_luck_to_come(game):
    fields = [name for name in game.state.names or () if name not in NOT_SEEN.get(game.name, ())]
    for state in states(game, seed=5)[::7]:
        world = state.determinize(CHANCE, seed=3)
        for name in fields:
            assert np.array_equal(world.data[name], state.data[name]), name


@pytest.mark.parametrize(
    ("name", "scheme"),
    [  # each scheme in three of the games, and in all with --slow
        pytest.param(name, scheme, marks=slow_if((i + j) % 2))
        for i, scheme in enumerate(SCHEMES.values())
        for j, name in enumerate(
            ["othello", "hearts", "lotr-confrontation", "phantom-mnk", "goofspiel", "backgammon"]
        )
    ],
    ids=str,
)
def test_every_scheme_runs_every_composition_and_repeats_itself(name, scheme):
    state = choice(name, seed=2)
    first, second = (
        search(state, EVERYTHING, iterations=45, seed=6, scheme=scheme.with_exp3())
        for _ in range(2)
    )
    assert first.iterations == first.visits.sum() == 45
    assert first.action == second.action
    assert np.array_equal(first.visits, second.visits)


@pytest.mark.parametrize("scheme", [DeterminizedUCT(5), CheatingEnsembleUCT(5)], ids=str)
def test_trees_have_equal_shares_and_records_of_their_own(scheme):
    result = search(phantom(), BASELINE, iterations=203, seed=4, scheme=scheme)
    assert [part.iterations for part in result.parts] == [41, 41, 41, 40, 40]
    assert [part.records["BASELINE"][()]["visits"] for part in result.parts] == [41, 41, 41, 40, 40]
    assert np.array_equal(result.visits, np.sum([part.visits for part in result.parts], axis=0))
    assert result.threads == 1


@pytest.mark.parametrize("strategy", [BASELINE, EVERYTHING], ids=["BASELINE", "everything"])
def test_with_perfect_information_all_schemes_of_one_tree_are_one(strategy):
    state = games.load("othello").new_initial_state()
    results = [
        search(state, parse(str(strategy)), iterations=300, seed=8, scheme=scheme)
        for scheme in (MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT)
    ]
    for result in results[1:]:
        assert np.array_equal(results[0].visits, result.visits)
        assert results[0].phase_steps == result.phase_steps


def test_a_cheat_sees_the_mark_that_is_hidden():
    # 4,4,4: player 0 holds three of the first row; player 1, who is to move and has seen none of it, must take the fourth.
    state = phantom("a1", "a2", "b1", "b3", "c1")
    assert state.current_player() == 1
    cheating = search(state, BASELINE, iterations=4000, seed=1, scheme=CheatingUCT)
    assert state.action_to_string(cheating.action) == "d1"
    honest = search(state, BASELINE, iterations=4000, seed=1)
    assert honest.policy.max() < 0.5


def test_fewer_iterations_than_trees_are_refused():
    with pytest.raises(
        ValueError,
        match=r"is 39; DeterminizedUCT\(determinizations=40\) needs at least one for each of its 40 trees",
    ):
        search(phantom(), BASELINE, iterations=39, scheme=DeterminizedUCT())
    with pytest.raises(ValueError, match="iterations is 39"):
        Agent(BASELINE, iterations=39, scheme=DeterminizedUCT())


HIDES_THREE = PythonGame(
    name="hides-three",
    players=2,
    initial=lambda rng: [],
    player=lambda state: (0, 1, TERMINAL)[len(state)],
    legal=lambda state: [1, 2, 3, 4] if state else [0],
    apply=lambda state, action: state.append(action),
    rewards=lambda state: (float(state[1] == 4), 0.0),
    observe=lambda state, action: [9 if state and action < 4 else action, action],
    determinize=lambda state, observer, beliefs, rng: list(state),
)


@pytest.mark.parametrize("strategy", [BASELINE, BASELINE >> MAST], ids=str)
def test_who_knows_nothing_is_uniform_over_the_moves_that_the_root_player_sees(strategy):
    """Three actions look alike, one does not: each move is as likely, whatever policy simulates."""
    state, plays = HIDES_THREE.new_initial_state(), 400
    results = [
        search(state, strategy, iterations=1, seed=seed, scheme=SO_ISMCTS_POM)
        for seed in range(plays)
    ]
    share = sum(result.records["BASELINE"].rows["reward"][0, 0] for result in results) / plays
    # five standard errors; over actions it would be 1/4
    assert share == pytest.approx(1 / 2, abs=5 * 0.025)


def test_the_last_player_sees_the_cards_of_which_the_game_writes_nothing():
    """Toys write the move of each player; Hearts only what it hides, so that all see each card that is played."""
    state = next(
        each for each in states(games.load("hearts"), 1)[20:] if each.current_player() == 3
    )
    tree = search_tree(search(state, BASELINE, iterations=100, scheme=SO_ISMCTS_POM))
    # all cards of a reply would be one node if the last player did not see them
    replies = [np.flatnonzero(tree.parent == node) for node in np.flatnonzero(tree.parent == 0)]
    assert max(map(len, replies)) > 3


# -------------------- The small examples of Cowling, Powley and Whitehouse (2012) by name: their figures' trees, and what their text says


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
    return (
        float(row["reward"][0]) / int(row["visits"]),
        int(row["visits"]),
        int(row["availability"]),
    )


def holds_exactly(result: Result, *histories: tuple) -> bool:
    """Whether the tree has these nodes, (mover, moves), and the root, and no others."""
    records = result.records["BASELINE"]
    return set(records) == {records.key(()), *map(records.key, histories)}


def value(result: Result, action: int) -> float:
    return float(result.values[list(result.actions).index(action)])


# --------------------------------------------------------------------------------------------------------- Figures 1 and 2


@by_seed
@pytest.mark.parametrize("scheme", INFORMATION_SETS, ids=str)
def test_figure_1_a_search_of_information_sets_finds_the_optimal_action(scheme, seed):
    result = searched(after(FUSION), scheme, seed)
    assert result.action == A2
    assert value(result, A2) == STAY
    # 0 in the paper's scale; few visits, 0 or 1 each
    assert value(result, A1) == pytest.approx(0.5, abs=0.2)


@by_seed
@pytest.mark.parametrize("scheme", ONE_STATE, ids=str)
def test_figure_1_a_search_of_single_states_believes_a1_to_be_optimal(scheme, seed):
    for deal in (X, Y):
        result = searched(after(FUSION, deal=deal), scheme, seed)
        assert result.action == A1
        assert value(result, A1) > 0.98  # +1 in each state
        assert value(result, A2) == STAY


@pytest.mark.parametrize("scheme", INFORMATION_SETS, ids=str)
def test_figure_2_each_environment_node_is_worth_the_expected_value(scheme):
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
def test_figure_2_each_node_is_an_information_set(scheme):
    # Action a₁ is visited rarely: one may not do.
    trees = [searched(after(FUSION), scheme, seed).records["BASELINE"] for seed in range(4)]
    assert set.union(*map(set, trees)) == {trees[0].key(record) for record in [(), *FIGURE_2]}


def test_figure_1_a_determinization_has_the_tree_of_one_state():
    in_x, in_y = (
        (*FIGURE_2[:4], (CHANCE, (A1, A3, third)), (CHANCE, (A1, A4, fourth)))
        for third, fourth in ((E_X3, E_X4), (E_Y3, E_Y4))
    )
    assert holds_exactly(searched(after(FUSION, deal=X), CheatingUCT), *in_x)
    assert holds_exactly(searched(after(FUSION, deal=Y), CheatingUCT), *in_y)
    cheats = searched(after(FUSION, deal=X), CheatingEnsembleUCT(2)).parts
    assert all(holds_exactly(tree, *in_x) for tree in cheats)
    drawn = [
        searched(after(FUSION), DeterminizedUCT(1), seed, iterations=2000) for seed in range(20)
    ]
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
def test_figure_4_there_is_a_branch_for_every_action_that_can_be_available(scheme):
    assert holds_exactly(searched(after(THREE_STATES), scheme), *FIGURE_4)


@by_seed
def test_figure_4_branches_are_available_as_often_as_a_determinization_allows_them(seed):
    result = searched(after(THREE_STATES), SO_ISMCTS, seed)
    decisions = node(result, 0, A1)[1] - 1  # the first visit expands a₁ and simulates the rest
    _, visits, available = zip(*(node(result, 1, A1, b) for b in (B1, B2, B3)), strict=True)
    assert sum(visits) == decisions
    assert sum(available) == 2 * decisions  # two of the three are legal in each state
    assert list(available) == pytest.approx([2 / 3 * decisions] * 3, rel=0.02)
    for mover, moves in TOLD:
        _, n, m = node(result, mover, *moves)
        assert n == m  # the outcome of the other state is never a sibling


def test_figure_4b_in_state_x_the_tree_is_restricted_to_b1_and_b2():
    restricted = [
        (mover, moves)
        for mover, moves in FIGURE_4
        if B3 not in moves and E_Y23 not in moves and E_Y24 not in moves
    ]
    assert len(restricted) == 10
    result = searched(after(THREE_STATES, deal=X), CheatingUCT)
    assert holds_exactly(result, *restricted)
    decisions = node(result, 0, A1)[1] - 1
    assert [node(result, 1, A1, b)[2] for b in (B1, B2)] == [decisions, decisions]


@by_seed
@pytest.mark.parametrize(
    ("game", "scheme"),
    [*((THREE_STATES, scheme) for scheme in INFORMATION_SETS), (BLIND_STATES, SO_ISMCTS)],
    ids=str,
)
def test_figure_3_replies_that_do_not_depend_on_the_state_are_found(game, scheme, seed):
    """In the blind states they are fused: to a player who sees which b it was a₁ is worth 2/3, more than the 0.6 of a₂; else ½."""
    result = searched(after(game), scheme, seed)
    assert result.action == A1
    assert value(result, A1) == pytest.approx(2 / 3, abs=0.03)  # ½ in x and in y, 1 in z
    assert node(result, 0, A1, B1, A3)[1] > 9 * node(result, 0, A1, B1, A4)[1]
    assert node(result, 0, A1, B3, A4)[1] > 9 * node(result, 0, A1, B3, A3)[1]


# ---------------------------------------------------------------------------------------------------------------- Figure 5


def test_figure_5a_moves_that_player_1_cannot_tell_apart_share_a_single_branch():
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


def test_figure_5_both_players_trees_are_searched_at_once():
    # The environment sees everything, so that its nodes are those of Figure 4.
    by_player_1 = [(0, (A1,)), (0, (A2,)), (0, (A1, SOMETHING, A3)), (0, (A1, SOMETHING, A4))]
    by_player_2 = [(1, (SOMETHING, b)) for b in (B1, B2, B3)]
    assert holds_exactly(
        searched(after(BLIND_STATES), MO_ISMCTS), *by_player_1, *by_player_2, *TOLD
    )


def test_a_single_observer_treats_partially_observable_moves_as_fully_observable():
    blind, seeing = (
        searched(after(game), SO_ISMCTS, seed=5) for game in (BLIND_STATES, THREE_STATES)
    )
    assert holds_exactly(blind, *FIGURE_4)
    # it does not know the difference
    assert (blind.records["BASELINE"].rows == seeing.records["BASELINE"].rows).all()
    assert blind.visits.tolist() == seeing.visits.tolist()


@by_seed
@pytest.mark.parametrize("scheme", [SO_ISMCTS_POM, MO_ISMCTS], ids=str)
def test_observing_moves_avoids_strategy_fusion(scheme, seed):
    result = searched(after(BLIND_STATES), scheme, seed)
    assert result.action == A2
    assert value(result, A1) < 0.6


@by_seed
def test_a_single_observer_of_moves_models_an_opponent_who_chooses_at_random(seed):
    # After a₁ player 2 would meet a₃ with b₃ where he can (y, z: player 1 gets 1/3) and the like; at random he leaves ½.
    result = searched(after(BLIND_STATES, A1, B2, deal=X), SO_ISMCTS_POM, seed)
    assert value(result, A3) == pytest.approx(0.5, abs=0.05)
    assert value(result, A4) == pytest.approx(0.5, abs=0.05)


# ------------------------------------------------------------------------------------------ section III-C1: choices at once


@by_seed
@pytest.mark.parametrize("scheme", [SO_ISMCTS, DeterminizedUCT(10)], ids=str)
def test_without_exp3_the_first_chooser_is_pessimistic_and_the_second_optimistic(scheme, seed):
    # Each player expects half of the two coins; one whose coin is seen none, and one who sees the other's all.
    assert searched(after(PENNIES), scheme, seed).value < 0.1
    if scheme is not SO_ISMCTS:  # only a tree of one state fixes the first choice
        assert searched(after(PENNIES, 0), scheme, seed).value > 0.9


@by_seed
@pytest.mark.parametrize("scheme", [MO_ISMCTS, SO_ISMCTS, CheatingUCT], ids=str)
def test_exp3_mixes_both_coins_evenly(scheme, seed):
    result = searched(after(PENNIES), scheme.with_exp3(), seed, iterations=60_000)
    assert result.visits[0] / result.visits.sum() == pytest.approx(0.5, abs=0.05)
    assert result.value == pytest.approx(0.5, abs=0.03)
    # No record of the second depends on the first's.
    visits = [int(result.records["EXP3"][1, (coin,)]["visits"]) for coin in (0, 1)]
    assert visits[0] / sum(visits) == pytest.approx(0.5, abs=0.05)
