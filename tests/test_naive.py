"""The naive twin where the engine is asked nothing by hand: EXP3, whole searches counted through, episodes, and eyes of the root player.

Its captures, values, updates and draws are those of the engine, record by record, in `tests/engine/test_twin.py`; what the engine's
are is worked out by hand in `tests/specs/test_specs.py`, and of rules and mixtures in `tests/algebra`.
"""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from icarus import State
from icarus.engine.scheme import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingUCT,
    DeterminizedUCT,
    Scheme,
)
from icarus.kernel import CHANCE, CONTINUES, UNLABELLED, UNSEEN
from tests import naive, toy
from tests.naive import EXPANSION, SELECTION, SIMULATION, Playout
from tests.naive_catalogue import read
from tests.test_toy import after

EVERYTHING = read("rave(20) >> (MAST + LGRF + NAST + EPIC + to_mast(ucb1(0.7)))/5")


# ------------------------------------------------------------------------------------------------------------------ EXP3


def test_exp3_mixes_the_uniform_draw_with_one_by_exponentials_of_rewards():
    # K = 2, n = 4: γ = sqrt(2 log 2 / (4 (e - 1))) = sqrt(1.386294 / 6.873127) = 0.449108, η = γ/2 = 0.224554.
    # p of s = 1 against 0: 0.224554 + 0.550892 / (1 + e^-0.224554) = 0.224554 + 0.550892 / 1.798872 = 0.530797.
    assert naive.exp3_probabilities([(1.0, 1), (0.0, 3)]) == pytest.approx(
        [0.530797, 0.469203], abs=1e-6
    )
    # K = 3, n = 12: γ = sqrt(3.295837 / 20.619382) = 0.399802, η = 0.133267; e^η = 1.142555, e^2η = 1.305433.
    # The middle one: 0.133267 + 0.600198 / (1.142555 + 1 + 0.875231) = 0.133267 + 0.600198 / 3.017786 = 0.332154.
    assert naive.exp3_probabilities([(2.0, 4), (1.0, 4), (0.0, 4)])[1] == pytest.approx(
        0.332154, abs=1e-6
    )


def at_once(number: int = 2) -> Playout:
    """Player 0 chooses 4, which player 1 sees as 90; then player 1 is asked, both at once, after an open 1."""
    h = Playout((UNLABELLED, None, ()), UNLABELLED, ((), (), ()))
    h.decide(1, (1, 2))
    h.extend(1, (1, 1, 1))
    h.decide(0, (4, 5), number=1)
    h.extend(4, (4, 90, 4))
    h.decide(1, (6, 7), number)
    return h


def test_no_record_of_a_choice_depends_on_another_made_at_once():
    h = at_once()
    assert h.choice(1, 4) == (0, (1, 4))
    assert h.choice(2, 6) == (1, (1, 6))  # without the 90 between them
    assert at_once(number=1).choice(2, 6) == (1, (1, 90, 6))  # a choice of its own
    assert at_once(number=3).choice(2, 6) == (1, (1, 90, 6))  # 3 does not follow 1
    h.extend(6, (6, 6, 6))
    h.decide(0, (8,), number=3)
    assert h.choice(3, 8) == (0, (1, 8))
    first = Playout((UNLABELLED, None, ()), UNLABELLED, ((), (), ()))
    first.decide(1, (6, 7), number=2)
    assert first.choice(0, 6) == (1, (6,))  # never before the root


def test_exp3_draws_by_its_probabilities(monkeypatch):
    theta = naive.Theta(naive.EXP3.initial(players=2))
    theta.update({(1, (1, 6)): ((9.0, 1.0), 1), (1, (1, 7)): ((9.0, 0.0), 3)})
    for u, action in ((0.5307, 6), (0.5309, 7)):  # 0.530797 as above
        monkeypatch.setattr(naive, "uniform", lambda rng, u=u: u)
        h = at_once()
        assert naive.draw_by_exp3(theta, h, np.zeros(4, np.uint64)) == action
    assert h.probabilities == {2: pytest.approx(0.469203, abs=1e-6)}


def test_exp3_adds_the_reward_divided_by_the_probability_it_was_earned_with():
    h, theta = at_once(), naive.Theta(naive.EXP3.initial(players=2))
    h.extend(6, (90, 6, 6))
    h.probabilities, h.rewards = {1: 0.25, 2: 0.5}, (0.75, 0.25)
    naive.update({naive.EXP3: theta}, h)
    assert theta == {(0, (1, 4)): ((3.0, 1.0), 1), (1, (1, 6)): ((1.5, 0.5), 1)}
    naive.update({naive.EXP3: theta}, h)
    assert theta == {(0, (1, 4)): ((6.0, 2.0), 2), (1, (1, 6)): ((3.0, 1.0), 2)}


# -------------------------------------------------------------------------------------------------------- whole searches


def records_of(
    leaf: naive.Twin, state: State, iterations: int, seed: int, scheme: Scheme = MO_ISMCTS
) -> naive.Theta:
    """What an enhancement that simulates has learnt by a search."""
    simulated = naive.Baseline() >> leaf
    return naive.search(state, simulated, iterations, seed, scheme).records[leaf]


def test_the_first_iterations_on_a_chain_whatever_is_drawn():
    # First only the empty history is visited; then one of the two actions is expanded; then the other, of which nothing is known.
    # In the fourth iteration the root is a selection node, and the pass below the selected action is expanded.
    for seed in range(5):
        counts = []
        steps = naive.stepwise(toy.CHAIN.new_initial_state(), naive.Baseline(), 4, seed)
        for outcome in steps:
            theta = outcome.records[naive.Baseline()]
            counts.append({record: (n, m) for record, (_, n, m) in theta.items()})
        first, chosen = (outcome.playouts[i].actions[0] for i in (1, 3))
        assert counts == [
            {(): (1, 1)},
            {(): (2, 2), (0, (first,)): (1, 1), (0, (1 - first,)): (0, 1)},
            {(): (3, 3), (0, (0,)): (1, 2), (0, (1,)): (1, 2)},
            {
                (): (4, 4),
                (0, (chosen,)): (2, 3),
                (0, (1 - chosen,)): (1, 3),
                (0, (chosen, toy.PASS)): (1, 1),
            },
        ]
        assert [play.phases[:3] for play in outcome.playouts] == [
            (SIMULATION, SIMULATION, SIMULATION),
            (EXPANSION, SIMULATION, SIMULATION),
            (EXPANSION, SIMULATION, SIMULATION),
            (SELECTION, EXPANSION, SIMULATION),
        ]
        # the very first playout counts as well
        selected = Counter(play.actions[0] for play in outcome.playouts)
        assert outcome.selections == selected
        assert selected[outcome.action] == max(selected.values())


@pytest.mark.parametrize("game", toy.ALL_TOYS, ids=lambda game: game.name)
def test_an_iteration_expands_at_most_one_history_and_counts_agree_with_what_was_played(game):
    iterations, expanded = 60, 0
    state = game.new_initial_state(seed=2)
    for outcome in naive.stepwise(state, EVERYTHING, iterations, seed=11):
        base, before = outcome.records[outcome.base], expanded
        expanded = sum(n > 0 for _, n, _ in base.values())
        assert before <= expanded <= before + 1
        simulated = [phase == SIMULATION for phase in outcome.playouts[-1].phases]
        assert simulated == sorted(simulated)  # once left, the tree is not entered again
    assert base[()][1:] == (iterations, iterations)
    assert sum(outcome.selections.values()) == iterations
    assert outcome.selections[outcome.action] == max(outcome.selections.values())
    assert all(n <= m for _, n, m in base.values())
    played = Counter(
        (action, player)
        for play in outcome.playouts
        for player, action in zip(play.players, play.actions, strict=True)
        if player != CHANCE
    )
    assert {record: n for record, (_, n) in outcome.records[naive.Mast()].items()} == played
    in_tree = Counter(
        (action, player)
        for play in outcome.playouts
        for player, action, phase in zip(play.players, play.actions, play.phases, strict=True)
        if player != CHANCE and phase != SIMULATION
    )
    by_ucb1 = outcome.records[naive.ToMast(naive.ucb1())]
    assert {record: n for record, (_, n, _) in by_ucb1.items() if n > 0} == in_tree
    lengths = sum(len(play.actions) for play in outcome.playouts)
    assert sum(n for _, n, _ in outcome.records[naive.Epic()].values()) == lengths + iterations


def positions_in_episode(tree: int) -> set[tuple]:
    """η of every state of a toy by the eyes of the last mover, from the tree itself."""
    positions = set()
    for row in (row for row in toy.ROWS if row.tree == tree and row.path):
        node, _ = row.path[-1]
        perspective = toy.TREES[tree].players if node.player == CHANCE else node.player
        before = toy.ROWS[toy.index_of(tree, row.deal, *row.actions()[:-1])]
        began = before.episode_start()
        label = row.path[began][0].label
        moves = row.moves(perspective, began)
        positions.add((UNLABELLED if label == CONTINUES else label, node.player, moves))
    return positions


@pytest.mark.parametrize("tree", range(len(toy.TREES)), ids=lambda tree: toy.TREES[tree].name)
def test_epic_keys_a_search_from_the_middle_as_one_from_the_start(tree):
    possible = positions_in_episode(tree)
    state = toy.ALL_TOYS[tree].new_initial_state(seed=1)
    empty = (state.position_in_episode().label, None, ())
    generator = np.random.default_rng(8)
    while not state.is_terminal():
        if not state.is_chance_node():
            records = records_of(naive.Epic(), state, 25, seed=3)
            # Where another's action has just ended an episode.
            unplaced = {(state.position_in_episode().label, None, ())}
            assert set(records) <= possible | {empty} | unplaced
        state.apply_action(int(generator.choice(state.legal_actions())))


def test_moves_hidden_inside_an_episode_follow_the_determinization():
    # Player 0 chooses d (6 or 7) without having noticed whether player 1 did 4 or 5 in the running episode; both must be
    # tried, and player 1's next records begin with what he himself saw: b = 2, then 4 or 5, then SOMETHING.
    records = records_of(naive.Epic(), after(toy.SECRETS, 0, 2, 4), 60, seed=3)
    prefixes = {
        moves[:3] for label, mover, moves in records if (label, mover) == (0, 1) and len(moves) == 4
    }
    assert prefixes == {(2, 4, toy.SOMETHING), (2, 5, toy.SOMETHING)}


# --------------------------------------------------------------------------------------------------------------- schemes


def by_mover(records: naive.Theta, player: int) -> set[tuple[int, ...]]:
    """The moves of the histories that end with an action of a player, or of the environment."""
    return {moves for mover, moves in records.keys() - {()} if mover == player}


def test_the_root_players_eyes_see_moves():
    # Player 1 whispers 0 or 1 (unnoticed), 2 or 3 (SOMETHING) or 4, twice. What was not noticed leaves the history as it is, so the
    # second whisper after an unnoticed first stands where the first stood.
    records = records_of(naive.Baseline(), after(toy.WHISPERS), 600, 2, SO_ISMCTS_POM)
    observable = (UNSEEN, toy.SOMETHING, 4)
    assert by_mover(records, 1) == {(8, first) for first in observable} | {
        (8, first, second) for first in observable[1:] for second in observable
    }
    guesses = {moves[:-1] for moves in by_mover(records, 0) if moves[-1] in (6, 7)}
    assert guesses == {(8,)} | {(8, a) for a in observable[1:]} | {
        (8, a, b) for a in observable[1:] for b in observable[1:]
    }
    visited, guessed = records[1, (8, UNSEEN)][1], sum(records[0, (8, a)][1] for a in (6, 7))
    assert guessed < visited  # two unnoticed ones in a playout visit the record twice


def test_what_looks_alike_to_the_root_player_is_learnt_of_as_one_move():
    # Of five actions two go unnoticed and two look alike: a policy sees three moves, and MAST counts moves.
    records = records_of(naive.Mast(), after(toy.WHISPERS), 60, 7, SO_ISMCTS_POM)
    assert {move for move, player in records if player == 1} == {UNSEEN, toy.SOMETHING, 4}


def test_chance_keeps_its_probabilities_where_its_outcomes_look_alike():
    # 5 and 6 go unnoticed; 7 (½) and 8 (¼) are SOMETHING, 9 (¼) is open.
    records = records_of(naive.Baseline(), after(toy.DRAW), 600, 7, SO_ISMCTS_POM)
    assert by_mover(records, CHANCE) == {(0, UNSEEN), (0, toy.SOMETHING), (0, 9)}
    drawn = [records[CHANCE, (0, move)][1] for move in (toy.SOMETHING, 9)]
    assert chisquare(drawn, sum(drawn) * np.array([0.75, 0.25])).pvalue > 1e-4
    assert records[CHANCE, (0, 9)][2] == sum(drawn)  # available whenever chance was in the tree
    of_all = records_of(naive.Baseline(), after(toy.DRAW), 120, 7)
    assert by_mover(of_all, CHANCE) == {(0, 5), (0, 6)} | {
        (0, a, b) for a in (5, 6) for b in (7, 8, 9)
    }


@pytest.mark.parametrize(
    "scheme", [SO_ISMCTS, SO_ISMCTS_POM, DeterminizedUCT(1), CheatingUCT], ids=str
)
def test_the_root_stands_in_its_episode_as_the_root_player_knows_it(scheme):
    # b = 2 began the episode; c = 4 went unnoticed by player 0, who is to choose d.
    records = records_of(naive.Epic(), after(toy.SECRETS, 0, 2, 4), 80, 3, scheme)
    assert records[0, 1, (2,)][1] == 80  # the root: player 1 made the last move of ⟨2⟩
    assert {record for record in records if record[:2] == (0, 0) and len(record[2]) == 2} == {
        (0, 0, (2, 6)),
        (0, 0, (2, 7)),
    }
    # a = 0 is SOMETHING to player 1, who is to begin an episode
    ended = after(toy.SECRETS, 0)
    records = records_of(naive.Epic(), ended, 20, 3, scheme)
    assert records[ended.position_in_episode().label, None, ()][1] == 20


@pytest.mark.parametrize(
    "expression", [naive.Baseline(), EVERYTHING], ids=["baseline", "everything"]
)
@pytest.mark.parametrize("scheme", [MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT], ids=str)
def test_exp3_counts_every_choice_made_at_once_in_the_tree(scheme, expression):
    outcome = naive.search(after(toy.PENNIES), expression, 40, 9, scheme.with_exp3())
    decisions = sum(
        phase != SIMULATION and player != CHANCE
        for play in outcome.playouts
        for player, phase in zip(play.players, play.phases, strict=True)
    )
    theta = outcome.records[naive.EXP3]
    # every player's decision of the game is one
    assert sum(n for _, n in theta.values()) == decisions
    answers = {moves for player, moves in theta if player == 1 and len(moves) == 1}
    assert answers == ({(toy.SOMETHING,)} if scheme is SO_ISMCTS_POM else {(0,), (1,)})


@pytest.mark.parametrize(
    ("game", "scheme"), [(toy.PENNIES, MO_ISMCTS), (toy.KUHN, MO_ISMCTS.with_exp3())], ids=str
)
def test_exp3_learns_only_where_it_is_asked_for_and_choices_are_made_at_once(game, scheme):
    assert naive.EXP3 not in naive.search(after(game), naive.Baseline(), 2, 9, scheme).records
