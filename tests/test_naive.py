"""The naive twin against numbers worked out by hand from the paper's specifications."""

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from icarus.engine.scheme import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
)
from icarus.kernel import CHANCE, CONTINUES, UNLABELLED, UNSEEN, State, facts_of
from tests import naive, toy
from tests.naive import (
    AVAIL,
    EXPANSION,
    SELECTION,
    SIMULATION,
    VISIT,
    Linear,
    Maxilinear,
    Playout,
    Sequential,
)

ORIGIN = (UNLABELLED, None, ())
EVERYTHING = Sequential(
    naive.rave(k=20),
    Linear(
        [
            (0.2, naive.mast()),
            (0.2, naive.lgrf()),
            (0.2, naive.nast(2)),
            (0.2, naive.epic()),
            (0.2, naive.to_mast(naive.ucb1())),
        ]
    ),
)


def start(
    perspectives: int = 3,
    origin: tuple = ORIGIN,
    label: int = UNLABELLED,
    episode: tuple | None = None,
) -> Playout:
    return Playout(origin, label, episode or ((),) * perspectives)


def decide(
    h: Playout, player: int, legal: tuple[int, ...], phase: str = SELECTION, number: int = 0
) -> Playout:
    """The decision that is about to be made."""
    h.decide(player, legal, number)
    h.phases.append(phase)
    return h


def step(
    h: Playout,
    player: int,
    action: int,
    legal: tuple[int, ...],
    phase: str,
    label: int = CONTINUES,
    number: int = 0,
    **views: int,
) -> None:
    """One decision made; seen by all as the action itself, except by perspectives named v0, v1, …"""
    decide(h, player, legal, phase, number)
    h.extend(
        action,
        tuple(views.get(f"v{perspective}", action) for perspective in range(len(h.views[0]))),
        label,
    )


def open_playout() -> Playout:
    """Players 0 and 1 and the environment, who see everything; t = 6, and the third history is the expanded one, t_e = 3."""
    h = start()
    step(h, 0, 4, (4, 5, 6), SELECTION)
    step(h, CHANCE, 7, (7, 8), SELECTION)
    step(h, 1, 5, (4, 5), EXPANSION)
    step(h, 0, 5, (5, 6), SIMULATION)
    step(h, 0, 6, (6,), SIMULATION)
    step(h, 1, 5, (5, 9), SIMULATION)
    h.rewards = (0.75, 0.25)
    return h


def secret_playout() -> Playout:
    """Player 1 sees what player 0 does first as 90; player 0 does not notice what player 1 does next; a 3 begins episode 1."""
    h = start()
    step(h, 0, 1, (0, 1), SELECTION, v1=90)
    step(h, 1, 5, (4, 5), SELECTION, v0=UNSEEN)
    step(h, 1, 3, (2, 3), EXPANSION, label=1)
    step(h, 0, 1, (0, 1), SIMULATION, v1=90)
    step(h, 1, 5, (4, 5), SIMULATION, v0=UNSEEN)
    step(h, 0, 0, (0, 1), SIMULATION)
    h.rewards = (1.0, 0.0)
    return h


def after(leaf: naive.Leaf, *playouts: Playout, players: int = 2) -> naive.Theta:
    """θ after backpropagating some playouts."""
    thetas = {leaf: naive.Theta(naive.initial_information(leaf, players))}
    for h in playouts:
        naive.update(thetas, h)
    return thetas[leaf]


def theta_of(leaf: naive.Leaf, information: dict, players: int = 2) -> naive.Theta:
    theta = naive.Theta(naive.initial_information(leaf, players))
    theta.update(information)
    return theta


class Dealt:
    """Random numbers that the test has chosen."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *numbers: float) -> None:
        self.remaining = list(numbers)
        monkeypatch.setattr(naive, "uniform", lambda rng: self.remaining.pop(0))
        monkeypatch.setattr(naive, "below", self.below)

    def below(self, rng: np.ndarray, bound: int) -> int:
        number = self.remaining.pop(0)
        assert isinstance(number, int)
        assert number < bound
        return number


# -------------------------------------------------------------------------------------------------------------- baseline


def test_the_baseline_visits_histories_up_to_the_expanded_one_and_marks_their_siblings_available():
    assert naive.capture(naive.baseline(), open_playout(), {}) == [
        ((), VISIT),
        ((0, (4,)), VISIT),
        ((CHANCE, (4, 7)), VISIT),
        ((1, (4, 7, 5)), VISIT),  # 0 <= i <= 3
        ((0, (5,)), AVAIL),
        ((0, (6,)), AVAIL),
        ((CHANCE, (4, 8)), AVAIL),
        ((1, (4, 7, 4)), AVAIL),
    ]  # 0 < i <= 3


def test_the_baseline_sees_each_history_through_the_eyes_of_its_last_mover():
    assert naive.capture(naive.baseline(), secret_playout(), {}) == [
        ((), VISIT),
        ((0, (1,)), VISIT),
        ((1, (90, 5)), VISIT),
        ((1, (90, 5, 3)), VISIT),
        ((0, (0,)), AVAIL),
        ((1, (90, 4)), AVAIL),
        ((1, (90, 5, 2)), AVAIL),
    ]


def test_a_visit_adds_the_rewards_and_counts_and_availability_counts_only():
    theta = after(naive.baseline(), open_playout(), open_playout())
    assert theta[()] == ((1.5, 0.5), 2, 2)
    assert theta[0, (4,)] == ((1.5, 0.5), 2, 2)
    assert theta[0, (5,)] == ((0.0, 0.0), 0, 2)
    assert theta[1, (4, 7, 4)] == ((0.0, 0.0), 0, 2)
    # behind the expanded history: as it was initially
    assert theta[0, (4, 7, 5, 5)] == ((0.0, 0.0), 0, 0)
    assert len(theta) == 8


def test_the_baseline_values_are_ucb1_with_availability_for_the_player_about_to_act():
    # Player 1 after ⟨4⟩: action 5 has q = (1, 3), n = 4, m = 6: 3/4 + 0.7 sqrt(log 6 / 4) = 0.75 + 0.7 sqrt(0.447940) = 1.218498.
    # Action 6 has q = (2, 0), n = 2, m = 2: 0/2 + 0.7 sqrt(0.346574) = 0.412093. Action 7 has n = 0: infinite.
    leaf = naive.baseline()
    h = start()
    step(h, 0, 4, (4, 5), SELECTION)
    decide(h, 1, (5, 6, 7), EXPANSION)
    theta = theta_of(
        leaf,
        {
            (1, (4, 5)): ((1.0, 3.0), 4, 6),
            (1, (4, 6)): ((2.0, 0.0), 2, 2),
            (1, (4, 7)): ((0.0, 0.0), 0, 5),
        },
    )
    assert naive.values(leaf, theta, h) == pytest.approx([1.218498, 0.412093, math.inf], abs=1e-6)


# ---------------------------------------------------------------------------------------------------------- AMAF and RAVE


def test_amaf_updates_every_later_occurrence_by_the_same_player_below_nodes_of_the_tree():
    # h_0 is a selection node of player 0, who plays 4, 5 and 6, all legal there; player 1's two 5s are not his.
    # h_1 is a selection node of the environment, which plays 7 only. h_2 is an expansion node of player 1, who plays 5 and
    # once more 5, legal there; below it all is simulation.
    selected = [((0, (4,)), None), ((0, (5,)), None), ((0, (6,)), None), ((CHANCE, (4, 7)), None)]
    assert naive.capture(naive.amaf(), open_playout(), {}) == [
        *selected,
        ((1, (4, 7, 5)), None),
        ((1, (4, 7, 5)), None),
    ]
    assert naive.capture(naive.amaf(strict=True), open_playout(), {}) == selected


def test_in_a_maxilinear_sum_no_weight_takes_nothing_of_infinity_and_any_weight_all():
    h = decide(start(), 0, (4, 5), SIMULATION)
    amaf, baseline = naive.amaf(), naive.baseline()
    thetas = {
        amaf: theta_of(amaf, {(0, (4,)): ((1.0, 0.0), 1), (0, (5,)): ((0.0, 0.0), 1)}),
        baseline: theta_of(baseline, {}),
    }
    # 2 trials: 1 + 0.7 sqrt(log 2) = 1.582788 and 0.582788.
    none = Maxilinear([(1.0, amaf), (0.0, baseline)])
    some = Maxilinear([(0.999, amaf), (0.001, baseline)])
    assert naive.maxilinear_values(none, thetas, h, ()) == pytest.approx(
        [1.582788, 0.582788], abs=1e-6
    )
    assert naive.maxilinear_values(some, thetas, h, ()) == [math.inf, math.inf]


# ------------------------------------------------------------------------------------------------------------------ MAST


def test_mast_updates_each_action_under_the_player_who_played_it():
    assert naive.capture(naive.mast(), open_playout(), {}) == [
        ((4, 0), 0),
        ((5, 1), 1),
        ((5, 0), 0),
        ((6, 0), 0),
        ((5, 1), 1),
    ]
    assert after(naive.mast(), open_playout()) == {
        (4, 0): (0.75, 1),
        (5, 1): (0.5, 2),
        (5, 0): (0.75, 1),
        (6, 0): (0.75, 1),
    }
    assert after(naive.mast(), open_playout(), open_playout())[5, 1] == (1.0, 4)


def test_tree_only_mast_updates_selection_and_expansion_decisions():
    assert after(naive.to_mast(), open_playout()) == {(4, 0): (0.75, 1), (5, 1): (0.25, 1)}


def test_mast_by_ucb1_counts_availability_as_well():
    # Player 0 had 4 5 6 (chose 4), 5 6 (chose 5) and 6; player 1 had 4 5 (chose 5) and 5 9 (chose 5).
    leaf = naive.mast(naive.ucb1())
    assert after(leaf, open_playout()) == {
        (4, 0): (0.75, 1, 1),
        (5, 0): (0.75, 1, 2),
        (6, 0): (0.75, 1, 3),
        (4, 1): (0.0, 0, 1),
        (5, 1): (0.5, 2, 2),
        (9, 1): (0.0, 0, 1),
    }
    assert after(naive.to_mast(naive.ucb1()), open_playout()) == {
        (4, 0): (0.75, 1, 1),
        (5, 0): (0.0, 0, 1),
        (6, 0): (0.0, 0, 1),
        (4, 1): (0.0, 0, 1),
        (5, 1): (0.25, 1, 1),
    }
    # 0.75 / 1 + 0.7 sqrt(log 2 / 1) = 1.332788 and 0.75 + 0.7 sqrt(log 3) = 1.483703.
    h = decide(start(), 0, (5, 6, 8), SIMULATION)
    assert naive.values(leaf, after(leaf, open_playout()), h) == pytest.approx(
        [1.332788, 1.483703, math.inf], abs=1e-6
    )


# ------------------------------------------------------------------------------------------------------------ LGR, LGRF


def test_a_reply_is_captured_under_the_move_that_the_replying_player_saw():
    assert naive.capture(naive.lgr(), open_playout(), {}) == [
        ((7, 1), (5, 1)),
        ((5, 0), (5, 0)),
        ((5, 0), (6, 0)),
        ((6, 1), (5, 1)),
    ]
    # Player 0 does not notice either 5: the last move that he saw before his own 0 was his own 1.
    assert naive.capture(naive.lgr(), secret_playout(), {}) == [
        ((90, 1), (5, 1)),
        ((5, 1), (3, 1)),
        ((3, 0), (1, 0)),
        ((90, 1), (5, 1)),
        ((1, 0), (0, 0)),
    ]


def test_any_reward_above_nothing_keeps_the_last_reply_and_none_keeps_the_old_one():
    h = open_playout()
    # 6 came after 5 in reply to 5
    assert after(naive.lgr(), h) == {(7, 1): 5, (5, 0): 6, (6, 1): 5}
    lost = open_playout()
    lost.actions[2], lost.rewards = 4, (1.0, 0.0)  # player 1 replies 4 to 7 and loses
    assert after(naive.lgr(), h, lost)[7, 1] == 5
    assert after(naive.lgr(), lost)[7, 1] is None


def test_forgetting_deletes_a_reply_only_where_that_very_reply_lost():
    won, lost_same, lost_other = open_playout(), open_playout(), open_playout()
    lost_same.rewards = lost_other.rewards = (1.0, 0.0)
    lost_other.actions[2] = 4
    leaf = naive.lgrf()
    assert after(leaf, won)[7, 1] == 5
    assert after(leaf, won, lost_other)[7, 1] == 5
    assert after(leaf, won, lost_same)[7, 1] is None
    assert after(leaf, won, lost_same)[5, 0] == 6


# ------------------------------------------------------------------------------------------------------------------ NAST


def test_n_grams_end_in_a_players_action_and_hold_what_he_observed():
    assert naive.capture(naive.nast(2), open_playout(), {}) == [
        (((7, 5), 1), 1),
        (((5, 5), 0), 0),
        (((5, 6), 0), 0),
        (((6, 5), 1), 1),
    ]
    assert naive.capture(naive.nast(3), open_playout(), {}) == [
        (((4, 7, 5), 1), 1),
        (((7, 5, 5), 0), 0),
        (((5, 5, 6), 0), 0),
        (((5, 6, 5), 1), 1),
    ]
    # Player 0 has noticed 1, 3, 1 before his last decision, player 1 has noticed 90, 5, 3, 90 before his.
    assert naive.capture(naive.nast(3), secret_playout(), {}) == [
        (((90, 5, 3), 1), 1),
        (((1, 3, 1), 0), 0),
        (((3, 90, 5), 1), 1),
        (((3, 1, 0), 0), 0),
    ]


# ------------------------------------------------------------------------------------------------------------------ EPIC


def test_epic_visits_the_whole_playout_by_position_in_episode():
    # The label 1 comes with the 3, which still ends the episode before; from then on moves are counted anew.
    before, label = UNLABELLED, 1
    assert naive.capture(naive.epic(), secret_playout(), {}) == [
        (ORIGIN, VISIT),
        ((before, 0, (1,)), VISIT),
        ((before, 1, (90, 5)), VISIT),
        ((before, 1, (90, 5, 3)), VISIT),
        ((label, 0, (1,)), VISIT),
        ((label, 1, (90, 5)), VISIT),
        ((label, 0, (1, 0)), VISIT),
        ((before, 0, (0,)), AVAIL),
        ((before, 1, (90, 4)), AVAIL),
        ((before, 1, (90, 5, 2)), AVAIL),
        ((label, 0, (0,)), AVAIL),
        ((label, 1, (90, 4)), AVAIL),
        ((label, 0, (1, 1)), AVAIL),
    ]


# ---------------------------------------------------------------------------------------------------------------- phases


def test_a_node_is_selection_expansion_or_simulation_by_the_baselines_visits():
    base = theta_of(
        naive.baseline(),
        {(): ((0.0, 0.0), 2, 2), (0, (4,)): ((0.0, 0.0), 1, 2), (0, (5,)): ((0.0, 0.0), 0, 2)},
    )

    def phase(legal: tuple[int, ...], *before: int) -> str:
        h = start()
        for action in before:
            step(h, 0, action, (action,), SELECTION)
        h.decide(0, legal)
        return naive.phase_of(base, h)

    assert phase((4,)) == SELECTION
    assert phase((4, 5)) == EXPANSION
    assert phase((5,)) == EXPANSION
    assert phase((6, 7), 4) == EXPANSION
    assert phase((6, 7), 5) == SIMULATION


def test_below_the_expanded_history_all_is_simulation_even_where_a_record_has_visits():
    base = theta_of(
        naive.baseline(), {(0, (4, 5)): ((0.0, 0.0), 3, 3), (0, (4, 5, 6)): ((0.0, 0.0), 3, 3)}
    )
    h = start()
    step(h, 0, 4, (4,), EXPANSION)
    step(h, 0, 5, (5,), SIMULATION)
    h.decide(0, (6,))
    assert naive.phase_of(base, h) == SIMULATION


# ----------------------------------------------------------------------------------------------------------- compositions


def test_a_sequence_uses_the_second_policy_in_simulation_only_and_mixtures_multiply_their_weights():
    mast, lgr, nast = naive.mast(), naive.lgr(), naive.nast(2)
    nested = Linear([(0.5, mast), (0.5, Linear([(0.25, lgr), (0.75, nast)]))])
    whole = Sequential(naive.rave(), nested)
    assert (
        naive.alternatives(whole, SELECTION, ())
        == naive.alternatives(whole, EXPANSION, ())
        == [(1.0, whole.first)]
    )
    assert naive.alternatives(whole, SIMULATION, ()) == [(0.5, mast), (0.125, lgr), (0.375, nast)]


def test_weights_may_follow_the_baseline_information():
    mast, lgr = naive.mast(), naive.lgr()
    mixture = Linear([(lambda q, n, m: n / m, mast), (lambda q, n, m: 1 - n / m, lgr)])
    assert naive.alternatives(mixture, SELECTION, ((0.0,), 1, 4)) == [(0.25, mast), (0.75, lgr)]


def test_equal_enhancements_are_kept_once_and_different_parameters_apart():
    expression = Sequential(
        naive.rave(), Linear([(0.5, naive.nast(2)), (0.25, naive.nast(3)), (0.25, naive.nast(2))])
    )
    assert naive.leaves(expression) == [
        naive.amaf(),
        naive.baseline(),
        naive.nast(2),
        naive.nast(3),
    ]


# ----------------------------------------------------------------------------------------------------------------- draws


def choice(
    monkeypatch: pytest.MonkeyPatch, expression: object, thetas: dict, h: Playout, *numbers: float
) -> int:
    """The action that is drawn where every action is an edge of its own."""
    return h.legals[-1][chosen(monkeypatch, expression, thetas, h, h.legals[-1], *numbers)]


def chosen(
    monkeypatch: pytest.MonkeyPatch,
    expression: object,
    thetas: dict,
    h: Playout,
    edges: tuple,
    *numbers: float,
) -> int:
    dealt = Dealt(monkeypatch, *numbers)
    k = naive.choose(expression, thetas, h, ((0.0, 0.0), 1, 1), np.zeros(4, np.uint64), edges)
    assert dealt.remaining == []
    return k


def test_an_arg_max_draws_only_between_ties(monkeypatch):
    h, leaf = decide(start(), 0, (4, 5, 6), SIMULATION), naive.nast(1)
    apart = theta_of(leaf, {((4,), 0): (0.0, 2), ((5,), 0): (2.0, 2), ((6,), 0): (0.0, 2)})
    tied = theta_of(leaf, {((4,), 0): (2.0, 2), ((5,), 0): (0.0, 2), ((6,), 0): (2.0, 2)})
    assert choice(monkeypatch, leaf, {leaf: apart}, h) == 5
    assert choice(monkeypatch, leaf, {leaf: tied}, h, 0) == 4
    assert choice(monkeypatch, leaf, {leaf: tied}, h, 1) == 6


def test_the_baseline_simulates_uniformly(monkeypatch):
    h, leaf = decide(start(), 0, (4, 5, 6), SIMULATION), naive.baseline()
    theta = theta_of(leaf, {(0, (4,)): ((9.0, 9.0), 9, 9)})
    assert [choice(monkeypatch, leaf, {leaf: theta}, h, i) for i in range(3)] == [4, 5, 6]


def test_gibbs_accepts_an_action_drawn_uniformly_by_its_distance_to_the_greatest_mean(monkeypatch):
    # v = 0 and 1, temperature 1/2: the first action is accepted with e^-2 = 0.135335, the second always.
    h, leaf = decide(start(), 0, (4, 5), SIMULATION), naive.mast(naive.gibbs(0.5))
    theta = theta_of(leaf, {(4, 0): (0.0, 3)})
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0, 0.1353) == 4
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0, 0.1354, 1, 0.999) == 5
    # Refused twice: the weights 1 and e² are drawn from, so the first action has probability 1 / (1 + e²) = 0.119203.
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0, 0.5, 0, 0.5, 0.1192) == 4
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0, 0.5, 0, 0.5, 0.1193) == 5


def test_the_roulette_draws_in_proportion_to_values_and_uniformly_where_all_are_nothing(
    monkeypatch,
):
    h, leaf = decide(start(), 0, (4, 5), SIMULATION), naive.mast(naive.roulette())
    theta = theta_of(leaf, {(4, 0): (1.0, 4)})  # 1/4 against 1: a share of 1/5
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0.199) == 4
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0.201) == 5
    # nothing is not a share
    assert choice(monkeypatch, leaf, {leaf: theta_of(leaf, {(4, 0): (0.0, 4)})}, h, 0.0) == 5
    nothing = theta_of(leaf, {(4, 0): (0.0, 4), (5, 0): (0.0, 1)})
    assert [choice(monkeypatch, leaf, {leaf: nothing}, h, i) for i in range(2)] == [4, 5]


def test_epsilon_greedy_explores_with_probability_epsilon(monkeypatch):
    h, leaf = decide(start(), 0, (4, 5), SIMULATION), naive.mast(naive.epsilon_greedy(0.2))
    theta = theta_of(leaf, {(4, 0): (1.0, 4)})
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0.19, 0) == 4
    assert choice(monkeypatch, leaf, {leaf: theta}, h, 0.2) == 5


def test_a_stored_legal_reply_is_played_without_a_draw(monkeypatch):
    h, leaf = start(), naive.lgrf()
    step(h, 1, 3, (3, 4), SIMULATION)
    decide(h, 0, (5, 6), SIMULATION)
    assert choice(monkeypatch, leaf, {leaf: theta_of(leaf, {(3, 0): 6})}, h) == 6
    assert choice(monkeypatch, leaf, {leaf: theta_of(leaf, {(3, 0): 7})}, h, 0) == 5
    assert choice(monkeypatch, leaf, {leaf: theta_of(leaf, {(3, 1): 6})}, h, 0) == 5
    assert (
        choice(
            monkeypatch, leaf, {leaf: theta_of(leaf, {})}, decide(start(), 0, (5, 6), SIMULATION), 1
        )
        == 6
    )


def test_a_mixture_draws_the_alternative_first(monkeypatch):
    h = decide(start(), 0, (4, 5), SIMULATION)
    mast, nast = naive.mast(naive.epsilon_greedy(0.5)), naive.nast(1)
    thetas = {
        mast: theta_of(mast, {(5, 0): (0.0, 1)}),
        nast: theta_of(nast, {((4,), 0): (0.0, 1), ((5,), 0): (1.0, 1)}),
    }
    mixture = Linear([(0.25, mast), (0.75, nast)])
    # MAST's best is 4, of which nothing is known
    assert choice(monkeypatch, mixture, thetas, h, 0.24, 0.9) == 4
    assert choice(monkeypatch, mixture, thetas, h, 0.25) == 5  # NAST's best


def test_chance_follows_its_probabilities(monkeypatch):
    state = toy.DICE.new_initial_state()
    state.apply_action(0)
    drawn = []
    for u in (0.0, 0.199, 0.2, 0.699, 0.7, 0.999):
        Dealt(monkeypatch, u)
        drawn.append(state.legal_actions()[naive.by_nature(state, np.zeros(4, np.uint64))])
    assert drawn == [7, 7, 8, 8, 9, 9]
    certain = toy.DICE.new_initial_state()
    certain.apply_action(1)
    Dealt(monkeypatch)
    assert naive.by_nature(certain, np.zeros(4, np.uint64)) == 0


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
    """Player 0 chooses 4, hidden, then player 1 is asked, both at once, after an open 1."""
    h = start()
    step(h, 1, 1, (1, 2), SELECTION)
    step(h, 0, 4, (4, 5), SELECTION, number=1, v1=90)
    return decide(h, 1, (6, 7), EXPANSION, number)


def test_no_record_of_a_choice_depends_on_another_made_at_once():
    h = at_once()
    assert h.choice(1, 4) == (0, (1, 4))
    assert h.choice(2, 6) == (1, (1, 6))  # without the 90 between them
    assert at_once(number=1).choice(2, 6) == (1, (1, 90, 6))  # a choice of its own
    assert at_once(number=3).choice(2, 6) == (1, (1, 90, 6))  # 3 does not follow 1
    third = at_once()
    third.extend(6, (6, 6, 6))
    decide(third, 0, (8,), EXPANSION, number=3)
    assert third.choice(3, 8) == (0, (1, 8))
    # never before the root
    assert decide(start(), 1, (6, 7), SELECTION, number=2).choice(0, 6) == (1, (6,))


def test_exp3_draws_by_its_probabilities_in_the_tree_only(monkeypatch):
    exp3 = theta_of(naive.EXP3, {(1, (1, 6)): ((9.0, 1.0), 1), (1, (1, 7)): ((9.0, 0.0), 3)})
    thetas = {naive.lgr(): theta_of(naive.lgr(), {(90, 1): 7}), naive.EXP3: exp3}
    for u, action in ((0.5307, 6), (0.5309, 7)):  # 0.530797 as above
        h = at_once()
        assert choice(monkeypatch, naive.lgr(), thetas, h, u) == action
    assert h.probabilities == {2: pytest.approx(0.469203, abs=1e-6)}
    simulated = at_once()
    simulated.phases[-1] = SIMULATION
    assert choice(monkeypatch, naive.lgr(), thetas, simulated) == 7  # the stored reply
    assert simulated.probabilities == {}
    alone = decide(start(), 1, (6,), SELECTION, number=1)
    assert choice(monkeypatch, naive.lgr(), thetas, alone) == 6
    assert alone.probabilities == {0: 1.0}


def test_exp3_adds_the_reward_divided_by_the_probability_it_was_earned_with():
    h = at_once()
    h.extend(6, (90, 6, 6))
    h.probabilities, h.rewards = {1: 0.25, 2: 0.5}, (0.75, 0.25)
    assert naive.capture(naive.EXP3, h, {}) == [((0, (1, 4)), 0.25), ((1, (1, 6)), 0.5)]
    assert after(naive.EXP3, h) == {(0, (1, 4)): ((3.0, 1.0), 1), (1, (1, 6)): ((1.5, 0.5), 1)}
    assert after(naive.EXP3, h, h) == {(0, (1, 4)): ((6.0, 2.0), 2), (1, (1, 6)): ((3.0, 1.0), 2)}


# ----------------------------------------------------------------------------------------------- moves of several actions


def test_an_action_is_drawn_inside_the_move_that_was_chosen(monkeypatch):
    # Four actions, seen as 90, nothing, 90 and 3: three moves. LGR replies with 90, which is the first or the third action.
    h, leaf, edges = start(), naive.lgr(), (90, UNSEEN, 90, 3)
    step(h, 0, 8, (8,), SELECTION)
    decide(h, 1, (90, UNSEEN, 3), SELECTION)
    thetas = {leaf: theta_of(leaf, {(8, 1): 90})}
    assert chosen(monkeypatch, leaf, thetas, h, edges, 0) == 0
    assert chosen(monkeypatch, leaf, thetas, h, edges, 1) == 2
    assert chosen(monkeypatch, leaf, {leaf: theta_of(leaf, {(8, 1): 3})}, h, edges) == 3
    assert chosen(monkeypatch, leaf, {leaf: theta_of(leaf, {(8, 1): UNSEEN})}, h, edges) == 1
    # a move of three, an action of two
    assert chosen(monkeypatch, leaf, {leaf: theta_of(leaf, {})}, h, edges, 0, 1) == 2


def test_a_single_move_asks_no_policy_but_its_action_is_drawn(monkeypatch):
    h = decide(start(), 1, (UNSEEN,), SELECTION)
    assert chosen(monkeypatch, naive.mast(), {}, h, (UNSEEN,) * 3, 2) == 2
    clash = decide(start(), 1, (UNSEEN,), SELECTION, number=1)
    assert (
        chosen(
            monkeypatch,
            naive.mast(),
            {naive.EXP3: theta_of(naive.EXP3, {})},
            clash,
            (UNSEEN,) * 3,
            2,
        )
        == 2
    )
    assert clash.probabilities == {0: 1.0}


def test_the_baseline_simulates_uniformly_over_moves_then_over_the_actions_of_one(monkeypatch):
    h, leaf, edges = decide(start(), 1, (90, 3), SIMULATION), naive.baseline(), (90, 90, 90, 3)
    thetas = {
        leaf: theta_of(leaf, {}),
        naive.amaf(): theta_of(naive.amaf(), {}),
        naive.mast(): theta_of(naive.mast(), {}),
    }
    assert [chosen(monkeypatch, leaf, thetas, h, edges, 0, i) for i in range(3)] == [0, 1, 2]
    assert chosen(monkeypatch, leaf, thetas, h, edges, 1) == 3
    mixed = Linear([(0.5, naive.mast()), (0.5, leaf)])
    assert chosen(monkeypatch, mixed, thetas, h, edges, 0.6, 1) == 3  # the alternative first
    twice = Maxilinear([(0.5, leaf), (0.5, naive.baseline(0.3))])
    assert (
        chosen(
            monkeypatch, twice, {**thetas, naive.baseline(0.3): theta_of(leaf, {})}, h, edges, 0, 2
        )
        == 2
    )
    # not the baseline alone: a move, then an action of it
    rave = Maxilinear([(0.5, naive.amaf()), (0.5, leaf)])
    assert chosen(monkeypatch, rave, thetas, h, edges, 0, 1) == 1
    h.phases[-1] = EXPANSION  # in the tree all are alike
    assert chosen(monkeypatch, leaf, thetas, h, edges, 0, 2) == 2


# -------------------------------------------------------------------------------------------------------- whole searches


def visits(outcome: naive.Outcome, leaf: naive.Leaf) -> dict[tuple, tuple[int, int]]:
    return {record: (n, m) for record, (_, n, m) in outcome.records[leaf].items()}


def test_the_first_iterations_on_a_chain_whatever_is_drawn():
    # First only the empty history is visited; then one of the two actions is expanded; then the other, of which nothing is known.
    # In the fourth iteration the root is a selection node, and the pass below the selected action is expanded.
    for seed in range(5):
        steps = naive.stepwise(toy.CHAIN.new_initial_state(), naive.baseline(), 4, seed)
        outcome = next(steps)
        assert visits(outcome, naive.baseline()) == {(): (1, 1)}
        outcome = next(steps)
        first = outcome.playouts[1].actions[0]
        assert visits(outcome, naive.baseline()) == {
            (): (2, 2),
            (0, (first,)): (1, 1),
            (0, (1 - first,)): (0, 1),
        }
        outcome = next(steps)
        assert visits(outcome, naive.baseline()) == {
            (): (3, 3),
            (0, (0,)): (1, 2),
            (0, (1,)): (1, 2),
        }
        assert [play.phases[:2] for play in outcome.playouts] == [
            (SIMULATION, SIMULATION),
            (EXPANSION, SIMULATION),
            (EXPANSION, SIMULATION),
        ]
        outcome = next(steps)
        chosen = outcome.playouts[3].actions[0]
        assert visits(outcome, naive.baseline()) == {
            (): (4, 4),
            (0, (chosen,)): (2, 3),
            (0, (1 - chosen,)): (1, 3),
            (0, (chosen, toy.PASS)): (1, 1),
        }
        assert outcome.playouts[3].phases[:3] == (SELECTION, EXPANSION, SIMULATION)
        # the very first playout counts as well
        selected = Counter(play.actions[0] for play in outcome.playouts)
        assert outcome.selections == selected
        assert selected[outcome.action] == max(selected.values())


def test_availability_counts_only_the_determinizations_in_which_an_action_is_legal():
    state = toy.CARD.new_initial_state(seed=3)
    facts_of(state.data).row = toy.index_of(1, 1)  # any deal: player 0 cannot tell them apart
    outcome = naive.search(state, naive.baseline(), 400, seed=5)
    folds, calls, raises = (
        visits(outcome, naive.baseline())[1, (1, answer)] for answer in (2, 3, 4)
    )
    dared = [
        play for play in outcome.playouts if play.actions[0] == 1 and play.phases[0] != SIMULATION
    ]
    dared = dared[1:]  # the first expands ⟨1⟩, and all behind it is simulation
    # 2 is legal with two of the three cards, so are 4 (two) and, with one, 3; together five legal answers in three deals.
    assert folds[0] + calls[0] + raises[0] == len(dared)
    assert len(dared) < folds[1] + calls[1] + raises[1] < 2 * len(dared)
    assert folds[1] == pytest.approx(2 / 3 * len(dared), rel=0.2)
    assert calls[1] == pytest.approx(1 / 3 * len(dared), rel=0.3)


def conformance(game: toy.Game, iterations: int = 60) -> naive.Outcome:
    return naive.search(game.new_initial_state(seed=2), EVERYTHING, iterations, seed=11)


@pytest.mark.parametrize("game", toy.ALL_TOYS, ids=lambda game: game.name)
def test_counts_agree_with_what_was_played(game):
    outcome = conformance(game)
    iterations = len(outcome.playouts)
    base = outcome.records[outcome.base]
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
    assert {record: n for record, (_, n) in outcome.records[naive.mast()].items()} == played
    in_tree = Counter(
        (action, player)
        for play in outcome.playouts
        for player, action, phase in zip(play.players, play.actions, play.phases, strict=True)
        if player != CHANCE and phase != SIMULATION
    )
    by_ucb1 = outcome.records[naive.to_mast(naive.ucb1())]
    assert {record: n for record, (_, n, _) in by_ucb1.items() if n > 0} == in_tree
    lengths = sum(len(play.actions) for play in outcome.playouts)
    assert sum(n for _, n, _ in outcome.records[naive.epic()].values()) == lengths + iterations


@pytest.mark.parametrize("game", toy.ALL_TOYS, ids=lambda game: game.name)
def test_an_iteration_expands_at_most_one_history(game):
    expanded = 0
    for outcome in naive.stepwise(game.new_initial_state(seed=2), EVERYTHING, 40, seed=4):
        before = expanded
        expanded = sum(n > 0 for _, n, _ in outcome.records[outcome.base].values())
        assert before <= expanded <= before + 1
        simulated = [phase == SIMULATION for phase in outcome.playouts[-1].phases]
        assert simulated == sorted(simulated)  # once left, the tree is not entered again


def test_the_same_seed_gives_the_same_search_and_pausing_changes_nothing():
    for game in toy.ALL_TOYS:
        whole = conformance(game, 30)
        *_, paused = naive.stepwise(game.new_initial_state(seed=2), EVERYTHING, 30, seed=11)
        assert whole == paused
    assert (
        conformance(toy.EPISODES, 30).playouts
        != naive.search(toy.EPISODES.new_initial_state(), EVERYTHING, 30, 12).playouts
    )


def positions_in_episode(tree: int) -> set[tuple]:
    """η of every state of a toy by the eyes of the last mover, from the tree itself."""
    positions = set()
    for row in (row for row in toy.ROWS if row.tree == tree and row.path):
        node, _ = row.path[-1]
        perspective = toy.TREES[tree].players if node.player == CHANCE else node.player
        nodes = [node for node, _ in row.path]
        began = max((i for i, node in enumerate(nodes) if node.label != CONTINUES), default=0)
        label = nodes[began].label
        positions.add(
            (
                UNLABELLED if label == CONTINUES else label,
                node.player,
                row.moves(perspective, began),
            )
        )
    return positions


@pytest.mark.parametrize("tree", range(len(toy.TREES)), ids=lambda tree: toy.TREES[tree].name)
def test_epic_keys_a_search_from_the_middle_as_one_from_the_start(tree):
    possible = positions_in_episode(tree)
    state = toy.ALL_TOYS[tree].new_initial_state(seed=1)
    empty = (state.position_in_episode().label, None, ())
    generator = np.random.default_rng(8)
    while not state.is_terminal():
        if not state.is_chance_node():
            records = naive.search(
                state, Sequential(naive.baseline(), naive.epic()), 50, seed=3
            ).records[naive.epic()]
            # Where another's action has just ended an episode.
            unplaced = {(state.position_in_episode().label, None, ())}
            assert set(records) <= possible | {empty} | unplaced
        state.apply_action(int(generator.choice(state.legal_actions())))


def test_moves_hidden_inside_an_episode_follow_the_determinization():
    # Player 0 chooses d (6 or 7) without having noticed whether player 1 did 4 or 5 in the running episode; both must be
    # tried, and player 1's next records begin with what he himself saw: b = 2, then 4 or 5, then SOMETHING.
    state = toy.SECRETS.new_initial_state()
    for action in (0, 2, 4):
        state.apply_action(action)
    records = naive.search(state, Sequential(naive.baseline(), naive.epic()), 60, seed=3).records[
        naive.epic()
    ]
    prefixes = {
        moves[:3] for label, mover, moves in records if (label, mover) == (0, 1) and len(moves) == 4
    }
    assert prefixes == {(2, 4, toy.SOMETHING), (2, 5, toy.SOMETHING)}


def test_a_search_where_no_player_acts_is_refused():
    state = toy.DICE.new_initial_state()
    state.apply_action(0)
    with pytest.raises(ValueError, match="decision of one of the players"):
        naive.search(state, naive.baseline(), 10, seed=1)
    with pytest.raises(ValueError, match="at least 1"):
        naive.search(toy.DICE.new_initial_state(), naive.baseline(), 0, seed=1)


# --------------------------------------------------------------------------------------------------------------- schemes


def from_deal(game: toy.Game, deal: int, *actions: int) -> State:
    record = np.zeros(1, toy.STATE)
    record["row"] = toy.index_of(toy.ALL_TOYS.index(game), deal)
    state = State(game, record)
    for action in actions:
        state.apply_action(action)
    return state


def after_raise(outcome: naive.Outcome) -> set[int]:
    """What player 1 was ever able to answer to a 1 in the card game."""
    return {
        moves[1] for mover, moves in outcome.records[naive.baseline()].keys() - {()} if mover == 1
    }


def test_one_determinization_is_drawn_for_each_tree():
    # Player 1 may answer 2, or 2 and 4, or 3 and 4: by his card.
    determinizations = set()
    for seed in range(20):
        outcome = naive.search(
            from_deal(toy.CARD, 0), naive.baseline(), 60, seed, DeterminizedUCT(1)
        )
        determinizations.add(frozenset(after_raise(outcome)))
    assert determinizations == {frozenset({2}), frozenset({2, 4}), frozenset({3, 4})}
    trees = naive.search(
        from_deal(toy.CARD, 0), naive.baseline(), 600, 1, DeterminizedUCT(10)
    ).trees
    assert {frozenset(after_raise(tree)) for tree in trees} == determinizations
    assert after_raise(naive.search(from_deal(toy.CARD, 0), naive.baseline(), 100, 1)) == {2, 3, 4}


@pytest.mark.parametrize(("deal", "answers"), [(0, {2}), (1, {2, 4}), (2, {3, 4})])
def test_cheats_see_the_true_card(deal, answers):
    for seed in range(3):
        assert (
            after_raise(
                naive.search(from_deal(toy.CARD, deal), naive.baseline(), 60, seed, CheatingUCT)
            )
            == answers
        )
        assert {
            frozenset(after_raise(tree))
            for tree in naive.search(
                from_deal(toy.CARD, deal), naive.baseline(), 100, seed, CheatingEnsembleUCT(2)
            ).trees
        } == {frozenset(answers)}


def test_the_root_players_eyes_see_moves():
    # Player 1 whispers 0 or 1 (unnoticed), 2 or 3 (SOMETHING) or 4, twice. What was not noticed leaves the history as it is, so the
    # second whisper after an unnoticed first stands where the first stood.
    records = naive.search(
        toy.WHISPERS.new_initial_state(), naive.baseline(), 600, 2, SO_ISMCTS_POM
    ).records[naive.baseline()]
    by_whispers = {moves for mover, moves in records.keys() - {()} if mover == 1}
    observable = (UNSEEN, toy.SOMETHING, 4)
    assert by_whispers == {(8, first) for first in observable} | {
        (8, first, second) for first in observable[1:] for second in observable
    }
    guesses = {
        moves[:-1] for mover, moves in records.keys() - {()} if mover == 0 and moves[-1] in (6, 7)
    }
    assert guesses == {(8,)} | {(8, a) for a in observable[1:]} | {
        (8, a, b) for a in observable[1:] for b in observable[1:]
    }
    visited, guessed = records[1, (8, UNSEEN)][1], sum(records[0, (8, a)][1] for a in (6, 7))
    assert guessed < visited  # two unnoticed ones in a playout visit the record twice


def test_moves_are_chosen_and_actions_inside_them_uniform():
    # Of five actions two go unnoticed and two look alike: a policy sees three moves, and MAST counts moves.
    expression = Sequential(naive.mast(naive.ucb1()), naive.baseline())
    outcome = naive.search(toy.WHISPERS.new_initial_state(), expression, 400, 7, SO_ISMCTS_POM)
    counted = {
        action for action, player in outcome.records[naive.mast(naive.ucb1())] if player == 1
    }
    assert counted == {UNSEEN, toy.SOMETHING, 4}
    simulated = Counter(
        action
        for play in outcome.playouts
        for player, action, phase in zip(play.players, play.actions, play.phases, strict=True)
        if player == 1 and phase == SIMULATION
    )
    assert (
        chisquare(
            [simulated[move] for move in (UNSEEN, toy.SOMETHING, 4)],
            sum(simulated.values()) * np.array([0.4, 0.4, 0.2]),
        ).pvalue
        > 1e-4
    )


def test_chance_keeps_its_probabilities_where_its_outcomes_look_alike():
    # 5 and 6 go unnoticed; 7 (½) and 8 (¼) are SOMETHING, 9 (¼) is open.
    records = naive.search(
        toy.DRAW.new_initial_state(), naive.baseline(), 600, 7, SO_ISMCTS_POM
    ).records[naive.baseline()]
    by_chance = {
        moves: n
        for (mover, moves), (_, n, _) in ((k, v) for k, v in records.items() if k)
        if mover == CHANCE
    }
    assert set(by_chance) == {(0, UNSEEN), (0, toy.SOMETHING), (0, 9)}
    drawn = [by_chance[0, toy.SOMETHING], by_chance[0, 9]]
    assert chisquare(drawn, sum(drawn) * np.array([0.75, 0.25])).pvalue > 1e-4
    assert records[CHANCE, (0, 9)][2] == sum(drawn)  # available whenever chance was in the tree
    theta = naive.search(toy.DRAW.new_initial_state(), naive.baseline(), 300, 7).records[
        naive.baseline()
    ]
    assert {moves for mover, moves in theta.keys() - {()} if mover == CHANCE} == {
        (0, a) for a in (5, 6)
    } | {(0, a, b) for a in (5, 6) for b in (7, 8, 9)}


@pytest.mark.parametrize(
    "scheme", [SO_ISMCTS, SO_ISMCTS_POM, DeterminizedUCT(1), CheatingUCT], ids=str
)
def test_the_root_stands_in_its_episode_as_the_root_player_knows_it(scheme):
    # b = 2 began the episode; c = 4 went unnoticed by player 0, who is to choose d.
    state = from_deal(toy.SECRETS, 0, 0, 2, 4)
    records = naive.search(
        state, Sequential(naive.baseline(), naive.epic()), 80, 3, scheme
    ).records[naive.epic()]
    assert records[0, 1, (2,)][1] == 80  # the root: player 1 made the last move of ⟨2⟩
    assert {record for record in records if record[:2] == (0, 0) and len(record[2]) == 2} == {
        (0, 0, (2, 6)),
        (0, 0, (2, 7)),
    }
    # a = 0 is SOMETHING to player 1, who is to begin an episode
    ended = from_deal(toy.SECRETS, 0, 0)
    records = naive.search(
        ended, Sequential(naive.baseline(), naive.epic()), 20, 3, scheme
    ).records[naive.epic()]
    assert records[ended.position_in_episode().label, None, ()][1] == 20


EXPRESSIONS = [naive.baseline(), EVERYTHING]


@pytest.mark.parametrize("scheme", [MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT], ids=str)
def test_exp3_counts_every_choice_made_at_once_in_the_tree(scheme):
    for expression in EXPRESSIONS:
        outcome = naive.search(
            toy.PENNIES.new_initial_state(), expression, 100, 9, scheme.with_exp3()
        )
        decisions = sum(
            phase != SIMULATION and player != CHANCE
            for play in outcome.playouts
            for player, phase in zip(play.players, play.phases, strict=True)
        )
        theta = outcome.records[naive.EXP3]
        # every player's decision of the game is one
        assert sum(n for _, n in theta.values()) == decisions
        answers = {moves for player, moves in theta if player == 1 and len(moves) == 1}
        assert answers == {(0,), (1,)} or scheme is SO_ISMCTS_POM and answers == {(toy.SOMETHING,)}
        assert (
            naive.EXP3
            not in naive.search(toy.PENNIES.new_initial_state(), expression, 2, 9, scheme).records
        )
        one_by_one = naive.search(
            toy.KUHN.new_initial_state(), expression, 2, 9, scheme.with_exp3()
        )
        assert naive.EXP3 not in one_by_one.records
