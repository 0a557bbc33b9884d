"""The catalogue of enhancements: their formulas by hand, and the compiled engine and the plain one against naive twins."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats

from icarus import BASELINE, MAST, Enhancement, games, search
from icarus.algebra import ACTION, HISTORY, MOVE, PLAYER, POSITION, gibbs
from icarus.engine.scheme import SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT, Scheme
from icarus.kernel import AVAILABLE, EXPANSION, MAX_PLAYERS, NONE, SIMULATION, UNSEEN, VISIT, mix
from icarus.specs import (
    CMC,
    DISCOUNTED_HISTORY,
    DISCOUNTED_UCB,
    FPU,
    GRAVE,
    KL_UCB,
    LGRF2,
    MAST_BATCH_DECAY,
    MAST_SIMULATION_DECAY,
    NST,
    PPA,
    PROGRESSIVE_HISTORY,
    REGRET_MATCHING,
    RELATIVE_BONUS,
    THOMPSON,
    UCB1_TUNED,
)
from icarus.testing import Decision, HistoryExample, backpropagate
from tests import naive, toy
from tests import naive_catalogue as twins
from tests.conftest import Toys
from tests.engine import test_schemes_twin
from tests.engine.test_twin import agree, starts
from tests.marks import slow_variants

# Player 1 does not notice the second action of player 0.
EXAMPLE = HistoryExample(
    [
        Decision(0, (4, 5), 4),
        Decision(1, (5, 6), 5),
        Decision(0, (4, 5), 4, phase=EXPANSION, seen={1: UNSEEN}),
        Decision(1, (5, 7), 5, phase=SIMULATION),
        Decision(0, (4, 6), 6, phase=SIMULATION),
    ]
)
WON, DRAWN = (
    HistoryExample(EXAMPLE.decisions, rewards=rewards, iteration=2500) for rewards in ((1.0, 0.0), (0.5, 0.5))
)
THIRD = EXAMPLE.prefix(2)  # player 0, who saw 4 and 5, may play 4 or 5
IN_SIMULATION = EXAMPLE.prefix(3)
UCT: dict[str, Any] = {"reward": (3.0, 1.0), "visits": 4, "availability": 9}
CHILD = (0, (4, 5, 4))


OF_THE_TREE = [FPU, UCB1_TUNED, KL_UCB, THOMPSON, PROGRESSIVE_HISTORY, GRAVE]
OF_THE_TREE += [DISCOUNTED_UCB, DISCOUNTED_HISTORY, RELATIVE_BONUS]


def real(context: int) -> float:
    """The real number whose bits a context is."""
    return float(np.int64(context).view(np.float64))


@pytest.mark.parametrize("strategy", OF_THE_TREE, ids=str)
def test_simulation_is_uniform_where_the_enhancement_is_of_the_tree(strategy: Enhancement) -> None:
    assert IN_SIMULATION.values(strategy, {(1, (4, 5, 5)): {"reward": (1.0, 1.0), "visits": 2}}) == [math.inf, math.inf]


def test_fpu_4_is_ucb1_but_for_untried_actions() -> None:
    tried = 3 / 4 + 0.7 * math.sqrt(math.log(9) / 4)
    assert THIRD.values(FPU, {CHILD: UCT}) == pytest.approx([tried, 1.0])
    assert THIRD.values(FPU(0.3, exploration=0.0), {CHILD: UCT}) == [3 / 4, 0.3]


def test_ucb1_tuned_4_explores_by_the_variance() -> None:
    rate = math.log(9) / 4  # so large that the variance is taken to be 1/4
    assert THIRD.values(UCB1_TUNED, {CHILD: {**UCT, "squares": (3.0, 1.0)}})[0] == pytest.approx(
        0.75 + math.sqrt(rate / 4)
    )
    many = {
        "reward": (500.0, 0.0),
        "squares": (250.0, 0.0),
        "visits": 1000,
        "availability": 1000,
    }  # always ½: no variance
    rate = math.log(1000) / 1000
    expected = 0.5 + math.sqrt(rate * math.sqrt(2 * rate))
    assert THIRD.values(UCB1_TUNED, {CHILD: many}) == pytest.approx([expected, math.inf])


def test_ucb1_tuned_7_adds_squares() -> None:
    information = {"reward": (1.0, 2.0), "squares": (1.0, 1.5), "visits": 3, "availability": 5}
    after = backpropagate(UCB1_TUNED, VISIT, [0.5, 1.0], **information)
    assert after == {"reward": [1.5, 3.0], "squares": [1.25, 2.5], "visits": 4, "availability": 6}


@pytest.mark.parametrize(("q", "n", "m"), [(3.0, 4, 9), (0.0, 5, 20), (1.0, 2, 2), (49.5, 50, 1000)])
def test_kl_ucb_4_is_where_the_divergence_reaches_the_logarithm(q: float, n: int, m: int) -> None:
    bound = THIRD.values(KL_UCB, {CHILD: {"reward": (q, 0.0), "visits": n, "availability": m}})[0]
    p = q / n
    divergence = sum(u * math.log(u / v) for u, v in ((p, bound), (1 - p, 1 - bound)) if u > 0)
    assert p < bound < 1 and n * divergence == pytest.approx(math.log(m))


def test_kl_ucb_4_at_its_ends() -> None:
    assert THIRD.values(KL_UCB, {CHILD: {"reward": (4.0, 0.0), "visits": 4, "availability": 9}}) == [1.0, math.inf]
    assert THIRD.values(KL_UCB, {CHILD: {**UCT, "availability": 4, "visits": 4}})[0] > 0.75
    none_left_out = {"reward": (0.0, 0.0), "visits": 1, "availability": 1}  # log 1 = 0: the mean itself
    assert THIRD.values(KL_UCB, {CHILD: none_left_out})[0] == 0.0


def test_ph_4_adds_the_mean_of_the_action_by_what_was_lost() -> None:
    theta = {CHILD: UCT, (4, 0): {"reward": (6.0, 0.0), "visits": 8, "availability": 8}}
    without = 3 / 4 + 0.7 * math.sqrt(math.log(9) / 4)
    assert THIRD.values(PROGRESSIVE_HISTORY, theta) == pytest.approx([without + 6 / 8 * 5 / (4 - 3 + 1), math.inf])
    assert THIRD.values(PROGRESSIVE_HISTORY(0.0), theta)[0] == pytest.approx(without)


def test_ph_4_while_another_thread_is_between_two_updates() -> None:
    """The child may have its visit before the action has one, and its reward before its visit."""
    without = 3 / 4 + 0.7 * math.sqrt(math.log(9) / 4)
    assert THIRD.values(PROGRESSIVE_HISTORY, {CHILD: UCT})[0] == pytest.approx(without)
    ahead, action = {**UCT, "reward": (5.0, 0.0)}, {"reward": (1.0, 0.0), "visits": 2, "availability": 2}
    value = 5 / 4 + 0.7 * math.sqrt(math.log(9) / 4) + 1 / 2 * 5
    assert THIRD.values(PROGRESSIVE_HISTORY, {CHILD: ahead, (4, 0): action})[0] == pytest.approx(value)


def test_ph_6_is_the_baselines_and_every_action() -> None:
    actions = [(EXAMPLE.key(MAST, a, p), VISIT) for a, p in [(4, 0), (5, 1), (4, 0), (5, 1), (6, 0)]]
    assert EXAMPLE.capture(PROGRESSIVE_HISTORY) == EXAMPLE.capture(BASELINE) + actions


def test_grave_4_weighs_amaf_of_the_closest_ancestor_with_enough_visits() -> None:
    theta = {
        (): {"visits": 90},
        (0, (4,)): {"visits": 60},
        (1, (4, 5)): {"visits": 50},  # not more than 50: its parent is asked
        CHILD: {"reward": (1.0, 0.0), "visits": 4},
        (0, (4, 4)): {"reward_as_first": (30.0, 0.0), "visits_as_first": 40},  # [h' # 4]~0 with h' = ⟨4⟩
    }
    beta = 40 / (40 + 4 + 1e-5 * 40 * 4)
    assert THIRD.values(GRAVE, theta) == pytest.approx([(1 - beta) * 1 / 4 + beta * 30 / 40, math.inf])
    closer = {**theta, (0, (4, 5, 5)): {"reward_as_first": (1.0, 0.0), "visits_as_first": 2}}
    assert THIRD.values(GRAVE(least=49), closer) == pytest.approx([1 / 4, 1 / 2])  # now the history itself is asked


def test_grave_4_explores_where_a_constant_is_given() -> None:
    theta = {CHILD: {"reward": (1.0, 0.0), "visits": 4}, (0, (4, 5, 5)): {"visits": 5}}
    plain, exploring = THIRD.values(GRAVE, theta), THIRD.values(GRAVE(exploration=0.5), theta)
    assert exploring[0] - plain[0] == pytest.approx(0.5 * math.sqrt(math.log(9) / 4))


def test_ucb1_tuned_4_takes_a_constant_for_the_root_of_two() -> None:
    many = {"reward": (500.0, 0.0), "squares": (250.0, 0.0), "visits": 1000, "availability": 1000}
    rate = math.log(1000) / 1000
    assert THIRD.values(UCB1_TUNED(0.1), {CHILD: many})[0] == pytest.approx(
        0.5 + math.sqrt(rate * 0.1 * math.sqrt(rate))
    )


def test_grave_6_counts_an_action_of_a_player_once_from_each_history_of_the_tree_on() -> None:
    def keys(*named: tuple) -> list[tuple[int, int]]:
        return [(EXAMPLE.key(GRAVE, *parts), context) for *parts, context in named]

    visits = keys((0,), (0, (4,), 0), (1, (4, 5), 0), (0, (4, 5, 4), 0))
    root = [(EXAMPLE.key(GRAVE), 0)]
    first = keys(
        (0, (4,), 1), (1, (5,), 1), (0, (6,), 1),  # from the root on: 4, 5 and 6, each once
        (1, (4, 5), 1), (0, (4, 4), 1), (0, (4, 6), 1),
        (0, (4, 5, 4), 1), (1, (4, 5, 5), 1), (0, (4, 5, 6), 1),
        (1, (4, 5, 5), 1), (0, (4, 5, 4, 6), 1),  # player 1 did not notice the second 4
    )  # fmt: skip
    assert EXAMPLE.capture(GRAVE) == root + visits[1:] + first


def test_grave_7_keeps_the_two_means_apart() -> None:
    information = {"reward": (1.0, 0.0), "visits": 2, "reward_as_first": (3.0, 1.0), "visits_as_first": 5}
    assert list(backpropagate(GRAVE, VISIT, [0.5, 0.5], **information).values()) == [[1.5, 0.5], 3, [3.0, 1.0], 5]
    assert list(backpropagate(GRAVE, 1, [0.5, 0.5], **information).values()) == [[1.0, 0.0], 2, [3.5, 1.5], 6]


def test_thompson_4_draws_from_the_beta_of_what_is_known() -> None:
    theta = {CHILD: {"reward": (3.0, 1.0), "visits": 4}}
    by_seed = [HistoryExample(THIRD.decisions, seed=seed).values(THOMPSON, theta) for seed in range(600)]
    values, unvisited = zip(*by_seed, strict=True)
    assert stats.kstest(values, stats.beta(4, 2).cdf).pvalue > 0.001  # 1 + 3, 1 + 4 − 3
    assert stats.kstest(unvisited, stats.uniform.cdf).pvalue > 0.001  # Beta(1, 1)


def test_lgrf_2_4_replies_to_two_moves_before_one() -> None:
    assert THIRD.values(LGRF2, {(4, 5, 0): {"reply": 4}, (5, 0): {"reply": 5}}) == [1.0, 0.0]
    assert THIRD.values(LGRF2, {(4, 5, 0): {"reply": 9}, (5, 0): {"reply": 5}}) == [0.0, 1.0]  # 9 is not legal
    assert THIRD.values(LGRF2, {(4, 5, 0): {"reply": NONE}}) == [0.0, 0.0]


def test_lgrf_2_6_captures_both_lengths_as_the_player_saw_them() -> None:
    replies = [((4, 1), 5, 1), ((4, 5, 0), 4, 0), ((5, 0), 4, 0), ((4, 5, 1), 5, 1), ((5, 1), 5, 1)]
    replies += [((4, 5, 0), 6, 0), ((5, 0), 6, 0)]
    assert EXAMPLE.capture(LGRF2) == [(EXAMPLE.key(LGRF2, *moves), a * 8 + p) for moves, a, p in replies]


def test_nst_4_averages_the_grams_that_are_known_well_enough() -> None:
    theta = {
        (4, 0): {"reward": 3.0, "visits": 4},
        (5, 4, 0): {"reward": 7.0, "visits": 7},
        (4, 5, 4, 0): {"reward": 0.0, "visits": 6},  # one visit too few
    }
    assert THIRD.values(NST, theta) == [(3 / 4 + 1) / 2, 1.0]
    assert THIRD.values(NST(6), theta) == pytest.approx([(3 / 4 + 1 + 0) / 3, 1.0])
    assert EXAMPLE.prefix(0).values(NST, theta) == [3 / 4, 1.0]


def test_nst_6_captures_grams_of_one_two_and_three_moves() -> None:
    grams = [(4, 0), (5, 1), (4, 5, 1), (4, 0), (5, 4, 0), (4, 5, 4, 0), (5, 1), (5, 5, 1), (4, 5, 5, 1), (6, 0)]
    grams += [(5, 6, 0), (4, 5, 6, 0)]
    captured = [(EXAMPLE.key(NST, *gram), gram[-1]) for gram in grams]
    assert EXAMPLE.capture(NST) == captured


def test_ppa_4_are_the_weights() -> None:
    assert THIRD.values(PPA, {(4, 0): {"weight": 0.5}, (5, 1): {"weight": 9}}) == [0.5, 0.0]


def test_ppa_6_moves_the_winners_weights_towards_what_he_played() -> None:
    captured = WON.capture(PPA, {(4, 0): {"weight": math.log(3)}})  # p = 3/4 for 4, 1/4 for 5 and 6
    assert [record for record, _ in captured] == [EXAMPLE.key(PPA, a, 0) for a in (4, 5, 4, 5, 4, 6)]
    changes = [0.25, -0.25, 0.25, -0.25, -0.75, 0.75]
    assert [real(context) for _, context in captured] == pytest.approx([0.32 * change for change in changes])
    assert DRAWN.capture(PPA) == []
    assert backpropagate(PPA, captured[0][1], [1, 0], weight=2.0) == {"weight": pytest.approx(2.08)}


def test_mast_decay_7_forgets_before_it_learns() -> None:
    after = backpropagate(MAST_SIMULATION_DECAY, 1, [0.0, 0.5], reward=2.0, visits=4.0)
    assert after == {"reward": pytest.approx(0.95 * 2 + 0.5), "visits": pytest.approx(0.95 * 4 + 1), "batch": 0}
    assert THIRD.values(MAST_SIMULATION_DECAY, {(4, 0): {"reward": 1.5, "visits": 2.0}}) == [0.75, 1.0]
    assert EXAMPLE.capture(MAST_SIMULATION_DECAY) == EXAMPLE.capture(MAST)


def test_mast_batch_decay_forgets_for_each_batch_that_has_passed() -> None:
    contexts = [(EXAMPLE.key(MAST, a, p), 2 * MAX_PLAYERS + p) for a, p in [(4, 0), (5, 1), (4, 0), (5, 1), (6, 0)]]
    assert WON.capture(MAST_BATCH_DECAY) == contexts  # iteration 2,500 is in the third batch of 1,000
    after = backpropagate(MAST_BATCH_DECAY, 3 * MAX_PLAYERS + 1, [0.0, 0.5], reward=2.0, visits=4.0, batch=1)
    assert after == {"reward": pytest.approx(0.64 * 2 + 0.5), "visits": pytest.approx(0.64 * 4 + 1), "batch": 3}
    behind = backpropagate(MAST_BATCH_DECAY, 2 * MAX_PLAYERS + 1, [0.0, 0.5], reward=2.0, visits=4.0, batch=3)
    assert behind == {"reward": 2.5, "visits": 5.0, "batch": 3}  # as a thread that is slower may be


def test_cmc_4_plays_what_went_well_with_the_players_previous_action() -> None:
    assert THIRD.values(CMC, {(4, 5, 0): {"reward": 7.0, "visits": 10}}) == [0.0, 0.7]
    assert THIRD.values(CMC, {(4, 5, 0): {"reward": 6.0, "visits": 10}}) == [0.0, 0.0]  # not above the bound
    assert THIRD.values(CMC(bound=0.5), {(4, 5, 0): {"reward": 6.0, "visits": 10}}) == [0.0, 0.6]
    assert EXAMPLE.prefix(0).values(CMC, {(4, 5, 0): {"reward": 7.0, "visits": 10}}) == [0.0, 0.0]


def test_cmc_6_captures_each_pair_of_actions_of_a_player() -> None:
    assert EXAMPLE.capture(CMC) == 2 * [(EXAMPLE.key(CMC, 4, 6, 0), 0)]  # 4 and 6 of 4, 4, 6; 5 with itself is none


def test_d_ucb_7_discounts_all_that_is_known_of_what_was_available() -> None:
    information = {"reward": (2.0, 1.0), "visits": 3.0, "availability": 5.0}
    strategy = DISCOUNTED_UCB(0.5)
    assert list(backpropagate(strategy, VISIT, [1.0, 0.0], **information).values()) == [[2.0, 0.5], 2.5, 3.5]
    assert list(backpropagate(strategy, AVAILABLE, [1.0, 0.0], **information).values()) == [[1.0, 0.5], 1.5, 3.5]
    assert THIRD.values(DISCOUNTED_UCB, {CHILD: UCT})[0] == pytest.approx(3 / 4 + 0.7 * math.sqrt(math.log(9) / 4))


def test_dh_7_discounts_actions_but_not_histories() -> None:
    information, strategy = {"reward": (2.0, 1.0), "visits": 3.0, "availability": 5}, DISCOUNTED_HISTORY(0.5)
    assert list(backpropagate(strategy, VISIT, [1.0, 0.0], **information).values()) == [[3.0, 1.0], 4.0, 6]
    (_, anywhere), (_, visit) = EXAMPLE.capture(strategy)[-1], EXAMPLE.capture(strategy)[0]
    assert visit == VISIT
    assert list(backpropagate(strategy, anywhere, [1.0, 0.0], **information).values()) == [[2.0, 0.5], 2.5, 6]


def test_rb_6_gives_a_bonus_by_the_length_of_the_winners_playouts() -> None:
    usual = {"visits": 50, "lengths": 300.0, "squares": 50 * (36.0 + 4.0)}  # 6 actions, with deviation 2
    captured, plain = WON.capture(RELATIVE_BONUS, {(0,): usual}), EXAMPLE.capture(BASELINE)
    assert [record for record, _ in captured] == [record for record, _ in plain] + [EXAMPLE.key(RELATIVE_BONUS, 0)]
    expected = math.tanh((6 - 5) / 2 / 2)
    after = [backpropagate(RELATIVE_BONUS, context, [1.0, 0.0]) for _, context in captured]
    for (_, context), information in zip(plain, after, strict=False):
        won = 1 + 0.25 / 2 * expected
        assert information["reward"] == (pytest.approx([won, 1 - won]) if context == VISIT else [0.0, 0.0])
        assert (information["visits"], information["availability"]) == (int(context == VISIT), 1)
    assert after[-1] == {"reward": [0.0, 0.0], "visits": 1, "availability": 0, "lengths": 5.0, "squares": 25.0}


def test_rb_6_gives_none_for_a_draw_or_where_little_is_known() -> None:
    usual = {"visits": 50, "lengths": 300.0, "squares": 50 * (36.0 + 4.0)}
    for example, theta in ((DRAWN, {(0,): usual}), (WON, {(0,): {**usual, "visits": 49}}), (WON, {(1,): usual})):
        captured = example.capture(RELATIVE_BONUS, theta)
        assert backpropagate(RELATIVE_BONUS, captured[0][1], [1.0, 0.0])["reward"] == [1.0, 0.0]
    assert len(DRAWN.capture(RELATIVE_BONUS)) == len(EXAMPLE.capture(BASELINE))


SIMULTANEOUS = [Decision(0, (0, 1), 0, choice=1, seen={1: UNSEEN}), Decision(1, (2, 3), 3, choice=2, phase=EXPANSION)]


def test_rm_4_plays_in_proportion_to_what_is_regretted_at_simultaneous_decisions_and_by_ucb1_elsewhere() -> None:
    first, second = HistoryExample(SIMULTANEOUS).prefix(0), HistoryExample(SIMULTANEOUS).prefix(1)
    assert first.values(REGRET_MATCHING) == [0.5, 0.5]
    assert first.values(REGRET_MATCHING, {(0, (0,)): {"regret": 3.0}, (0, (1,)): {"regret": 1.0}}) == pytest.approx(
        [0.1 + 0.8 * 3 / 4, 0.1 + 0.8 / 4]
    )
    lost = {(1, (2,)): {"regret": -3.0}, (1, (3,)): {"regret": 2.0}}  # player 1 at the history before both
    assert second.values(REGRET_MATCHING, lost) == pytest.approx([0.1, 0.9])
    assert second.values(REGRET_MATCHING(0.0), lost) == [0.0, 1.0]
    assert THIRD.values(REGRET_MATCHING, {CHILD: UCT, (0, (4, 5, 5)): {**UCT, "reward": (2.0, 2.0)}}) == [1.0, 0.0]
    assert IN_SIMULATION.values(REGRET_MATCHING) == [1.0, 1.0]


def test_rm_6_regrets_what_others_would_have_met() -> None:
    example = HistoryExample(SIMULTANEOUS, rewards=(0.25, 0.75))
    theta = {(1, (2,), 0): {"reward": (1.5, 0.5), "visits": 2}}  # player 1's 2 against 0: a mean of ¼ for him
    captured = example.capture(REGRET_MATCHING, theta)
    plain = example.capture(BASELINE)
    assert captured[: len(plain)] == plain
    cells, regrets = [(0, (0,), 3), (1, (3,), 0)], [((0, (1,)), 0.5 - 0.25), ((1, (2,)), 0.25 - 0.75)]
    contexts = dict(captured[len(plain) :])
    assert len(contexts) == 4
    assert [contexts[example.key(REGRET_MATCHING, *cell)] for cell in cells] == [VISIT, VISIT]
    assert [real(contexts[example.key(REGRET_MATCHING, *parts)]) for parts, _ in regrets] == [x for _, x in regrets]
    context = contexts[example.key(REGRET_MATCHING, 0, (1,))]
    assert backpropagate(REGRET_MATCHING, context, [0, 0], regret=-1.0)["regret"] == -0.75


def test_rm_6_regrets_nothing_where_the_tree_ended_between_those_who_choose_at_once() -> None:
    example = HistoryExample(
        [SIMULTANEOUS[0], Decision(1, (2, 3), 3, choice=2, phase=SIMULATION)], rewards=(0.25, 0.75)
    )
    assert example.capture(REGRET_MATCHING) == example.capture(BASELINE)


# -------------------------------------------------------------------------------------------------------- against the twins

PAIRS: list[tuple[Enhancement, naive.Leaf]] = [
    (FPU, twins.fpu()),
    (FPU(0.6), twins.fpu(0.6)),
    (UCB1_TUNED, twins.ucb1_tuned()),
    (KL_UCB, twins.kl_ucb()),
    (PROGRESSIVE_HISTORY, twins.progressive_history()),
    (GRAVE, twins.grave()),
    (GRAVE(3), twins.grave(3)),
    (GRAVE(3, exploration=0.6), twins.grave(3, c=0.6)),
    (UCB1_TUNED(0.1), twins.ucb1_tuned(0.1)),
    (THOMPSON, twins.thompson()),
    (LGRF2, twins.lgrf2()),
    (NST, twins.nst()),
    (NST(2, gibbs(0.5)), twins.nst(2, naive.Rule("softmax", 0.5))),
    (PPA, twins.ppa()),
    (PPA(2.0, 0.5), twins.ppa(2.0, 0.5)),
    (MAST_SIMULATION_DECAY, twins.simulation_decay()),
    (MAST_SIMULATION_DECAY(0.5, gibbs(0.3)), twins.simulation_decay(0.5, twins.softmax(0.3))),
    (MAST_BATCH_DECAY(0.7, 8), twins.batch_decay(0.7, 8)),
    (CMC, twins.cmc()),
    (CMC(0.9, 0.4), twins.cmc(0.9, 0.4)),
    (DISCOUNTED_UCB, twins.discounted_ucb()),
    (DISCOUNTED_UCB(0.8), twins.discounted_ucb(0.8)),
    (DISCOUNTED_HISTORY, twins.discounted_history()),
    (REGRET_MATCHING, twins.regret_matching()),
    (REGRET_MATCHING(0.5), twins.regret_matching(0.5)),
    (RELATIVE_BONUS, twins.relative_bonus()),
    (RELATIVE_BONUS(1.0, 3.0), twins.relative_bonus(1.0, 3.0)),
]
every_pair = pytest.mark.parametrize(
    ("strategy", "twin"), slow_variants(PAIRS), ids=lambda x: str(x) if isinstance(x, Enhancement) else ""
)

FIRST = [case for case in slow_variants(PAIRS) if isinstance(case, tuple) and case in PAIRS]  # of each kind


@every_pair
def test_engine_and_twin_agree_in_every_toy_game(strategy: Enhancement, twin: naive.Leaf, toys: Toys) -> None:
    for number, game in toys:
        agree(starts(game, number), strategy, twin, 60, seed=number)


@pytest.mark.parametrize(
    ("strategy", "twin", "name"),
    [
        pytest.param(*pair, name, marks=[] if pair in FIRST and (FIRST.index(pair) + j) % 2 else pytest.mark.slow)
        for pair in PAIRS
        for j, name in enumerate(["othello", "knockout-whist(players=2)"])
    ],
    ids=lambda x: "" if isinstance(x, naive.Leaf) else str(x),
)
def test_engine_and_twin_agree_in_whole_games(strategy: Enhancement, twin: naive.Leaf, name: str) -> None:
    agree(starts(games.load(name), 7), strategy, twin, 12, seed=7)


SCHEMES = [SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(1)]
THIRDS = 3


@pytest.mark.parametrize(
    ("strategy", "twin", "scheme", "thirds"),
    [  # each time every other scheme of an enhancement, the others of the next one
        pytest.param(
            *pair,
            scheme,
            thirds,
            marks=[pytest.mark.slow] * (pair not in FIRST or thirds > 1 or (FIRST.index(pair) + j) % 2),
        )
        for pair in PAIRS
        for j, scheme in enumerate(SCHEMES)
        for thirds in (1, THIRDS)
    ],
    ids=lambda x: "" if isinstance(x, naive.Leaf) else str(x),
)
def test_engine_and_twin_agree_under_every_scheme(
    strategy: Enhancement, twin: naive.Leaf, scheme: Scheme, thirds: int, toys: Toys
) -> None:
    """A third of the toys, another one for the next scheme and for the next enhancement: all meet all of the other two."""
    first = [str(member) for member, _ in PAIRS].index(str(strategy)) + SCHEMES.index(scheme)
    for third in range(first, first + thirds):
        for number, game in toys[third % THIRDS :: THIRDS]:
            start = starts(game, number)
            test_schemes_twin.agree(start, strategy, twin, 20, (number, 7), scheme)


@pytest.mark.parametrize("name", ["goofspiel", "lotr-confrontation"])
def test_regret_matching_agrees_with_its_twin_where_games_have_simultaneous_choices(name: str) -> None:
    agree(starts(games.load(name), 7), REGRET_MATCHING, twins.regret_matching(), 40, seed=7)


def test_regret_matching_mixes_where_a_game_of_matching_coins_has_to_be_mixed() -> None:
    result = search(toy.PENNIES.new_initial_state(), REGRET_MATCHING >> BASELINE, iterations=20_000, seed=3)
    assert 0.45 < result.policy[0] < 0.55 and 0.45 < result.values.mean() < 0.55


@pytest.mark.parametrize("strategy", [RELATIVE_BONUS(1.0), MAST_BATCH_DECAY(0.5, 40)], ids=str)
def test_engine_and_twin_agree_when_much_has_been_learnt(strategy: Enhancement) -> None:
    twin = twins.relative_bonus(1.0) if strategy.name.startswith("relative") else twins.batch_decay(0.5, 40)
    for number, game in enumerate((toy.THICKETS[0], toy.EPISODES)):
        agree(starts(game, number), strategy, twin, 300, seed=number)


MIXED: list[Callable[[], tuple[Enhancement, Any]]] = [
    lambda: (GRAVE >> NST, naive.Sequential(twins.grave(), twins.nst())),
    lambda: (UCB1_TUNED >> (LGRF2 + NST) / 2, naive.Sequential(
        twins.ucb1_tuned(), naive.Linear([(0.5, twins.lgrf2()), (0.5, twins.nst())]))),
    lambda: (0.25 * KL_UCB ^ 0.75 * GRAVE(5), naive.Maxilinear([(0.25, twins.kl_ucb()), (0.75, twins.grave(5))])),
    lambda: (FPU(0.4) >> MAST, naive.Sequential(twins.fpu(0.4), naive.mast())),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(MIXED)))
def test_engine_and_twin_agree_on_compositions(number: int, toys: Toys) -> None:
    strategy, twin = MIXED[number]()
    for place, game in toys:
        agree(starts(game, place), strategy, twin, 40, seed=number)


def test_a_union_of_spaces_tells_its_records_apart() -> None:
    either = HISTORY | ACTION * PLAYER
    game = games.load("othello")
    assert str(either) == "M* ⊔ A × {1, …, κ}"
    assert either.key(game, (0, (4, 5))) == HISTORY.key(game, (0, (4, 5)))
    assert either.key(game, ()) == HISTORY.key(game, ())
    assert either.key(game, (4, 0)) == (ACTION * PLAYER).key(game, (4, 0))
    with pytest.raises(ValueError, match="is not a record of M\\* ⊔ A"):
        either.key(game, (4, 0, 1))
    with pytest.raises(ValueError, match="is not a record of M × "):
        (MOVE * PLAYER | MOVE**2 * PLAYER).key(game, (0, (4,)))
    assert PLAYER * (MOVE | ACTION) == PLAYER * MOVE | PLAYER * ACTION
    assert (MOVE | ACTION) * (PLAYER | HISTORY) == MOVE * PLAYER | MOVE * HISTORY | ACTION * PLAYER | ACTION * HISTORY
    assert str(ACTION | (MOVE | HISTORY)) == str((ACTION | MOVE) | HISTORY) == "A ⊔ M ⊔ M*"


def test_a_position_in_an_episode_may_be_continued_and_a_history_stands_first() -> None:
    game = games.load("othello")
    assert (POSITION * PLAYER).key(game, (3, 0, (4, 5), 1)) == mix(POSITION.key(game, (3, 0, (4, 5))), 1)
    for space, parts in ((POSITION * PLAYER, (3, 0, 1)), (PLAYER * HISTORY, (0, 1)), (HISTORY**2, (0, (4,), 0, (5,)))):
        with pytest.raises(ValueError, match="is not a record of"):
            space.key(game, parts)
