"""Enhancements that read what a game tells: their formulas by hand, and the compiled engine and the plain one against naive twins."""

import math
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import BASELINE, Enhancement, games, parse, search
from icarus.algebra import gibbs
from icarus.kernel import CHANCE, EXPANSION, MAX_PLAYERS, SIMULATION, VISIT
from icarus.specs import (
    DECISIVE,
    FAST,
    IMPLICIT_MINIMAX,
    PAST,
    PROGRESSIVE_BIAS,
    PROGRESSIVE_UNPRUNING,
    PROGRESSIVE_WIDENING,
    PUCT,
    anti_decisive,
)
from icarus.specs.knowledge import FIRST_VALUE, PRUNED, UNIT
from icarus.testing import Decision, HistoryExample, backpropagate
from tests import naive, toy
from tests import naive_knowledge as twins
from tests.conftest import Toys
from tests.engine import test_schemes_twin as schemes
from tests.engine.test_twin import agree, starts
from tests.marks import slow_after, slow_variants

ALL = [PROGRESSIVE_BIAS, PROGRESSIVE_UNPRUNING, PROGRESSIVE_WIDENING, PUCT, IMPLICIT_MINIMAX]
LOOKAHEAD = {4: (0.25, 0.75), 5: (0.5, 0.5), 6: (0.375, 0.625)}
OPEN = HistoryExample([Decision(0, (4, 5, 6), lookahead=LOOKAHEAD)], players=2)
FOUR, FIVE, SIX = ((0, (action,)) for action in (4, 5, 6))


def uct(mean: float, n: int, m: int, c: float = 0.7) -> float:
    return mean + c * math.sqrt(math.log(m) / n)


def ucb_stats(mean: float, n: int, m: int) -> dict[str, Any]:
    return {"reward": (mean * n, 0.0), "visits": n, "availability": m}


@pytest.mark.parametrize("strategy", ALL, ids=str)
def test_simulation_is_uniform_where_the_enhancement_is_of_the_tree(strategy: Enhancement) -> None:
    simulated = HistoryExample([Decision(0, (4, 5, 6), phase=SIMULATION, lookahead=LOOKAHEAD)], players=2)
    assert simulated.values(strategy, {FOUR: {"reward": (1.0, 1.0), "visits": 2, "availability": 3}}) == [math.inf] * 3


def test_pb_4_adds_the_heuristic_over_one_more_than_the_visits() -> None:
    theta = {FOUR: ucb_stats(0.5, 4, 9), SIX: ucb_stats(0.75, 8, 9)}
    expected = [uct(0.5, 4, 9) + 0.25 / 5, math.inf, uct(0.75, 8, 9) + 0.375 / 9]
    assert OPEN.values(PROGRESSIVE_BIAS, theta) == pytest.approx(expected)
    assert OPEN.values(PROGRESSIVE_BIAS(8.0, 0.0), theta)[0] == pytest.approx(0.5 + 8 * 0.25 / 5)


def test_pu_4_leaves_all_open_up_to_t_visits_then_the_best() -> None:
    some = {(): {"visits": 30}, FIVE: ucb_stats(0.5, 9, 30)}
    assert OPEN.values(PROGRESSIVE_UNPRUNING(30, 2), some) == [math.inf] * 3
    more = {**some, (): {"visits": 31}}
    assert OPEN.values(PROGRESSIVE_UNPRUNING(30, 2), more) == pytest.approx([PRUNED, uct(0.5, 9, 30), math.inf])
    assert OPEN.values(PROGRESSIVE_UNPRUNING(30, 1), more) == pytest.approx([PRUNED, uct(0.5, 9, 30), PRUNED])


@pytest.mark.parametrize(("visits", "width"), [(31, 1), (50, 1), (51, 2), (65, 2), (66, 3)])
def test_pu_4_opens_one_more_whenever_the_visits_exceed_a_b_to_the_power(visits: int, width: int) -> None:
    values = OPEN.values(PROGRESSIVE_UNPRUNING(30, 1, 50.0, 1.3), {(): {"visits": visits}})  # 50, 65, 84.5
    assert sum(value == math.inf for value in values) == width


@pytest.mark.parametrize(("visits", "width"), [(0, 1), (39, 1), (40, 2), (95, 2), (96, 3)])
def test_pw_4_opens_the_next_after_t_visits(visits: int, width: int) -> None:
    values = OPEN.values(PROGRESSIVE_WIDENING, {(): {"visits": visits}})  # t = 40, 40 + 56
    assert sum(value == math.inf for value in values) == width
    assert values[1] == math.inf  # the best prospect


def test_pu_4_takes_equal_heuristics_in_the_order_of_the_game() -> None:
    alike = HistoryExample([Decision(0, (4, 5, 6), lookahead=dict.fromkeys((4, 5, 6), (0.5, 0.5)))], players=2)
    assert alike.values(PROGRESSIVE_WIDENING(), {(): {"visits": 50}}) == [math.inf, math.inf, PRUNED]


def test_puct_4_explores_in_proportion_to_the_prediction() -> None:
    theta = {FOUR: ucb_stats(0.75, 3, 16), FIVE: {"availability": 16}, SIX: {"availability": 16}}
    weights = [math.exp(prospect / 0.1) for prospect in (0.25, 0.5, 0.375)]
    p = [weight / sum(weights) for weight in weights]
    expected = [0.75 + 0.625 * p[0] * 4 / 4, 0.5 + 0.625 * p[1] * 4, 0.5 + 0.625 * p[2] * 4]
    assert OPEN.values(PUCT, theta) == pytest.approx(expected)
    even = OPEN.values(PUCT(1.0, 1e9), theta)
    assert even == pytest.approx([0.75 + 4 / 4 / 3, 0.5 + 4 / 3, 0.5 + 4 / 3])


def test_puct_4_does_not_overflow_at_low_temperatures() -> None:
    values = OPEN.values(PUCT(1.0, 1e-9), {FIVE: {"availability": 4}, FOUR: {"availability": 4}})
    assert values == pytest.approx([0.5, 0.5 + 2.0, 0.5])


# ------------------------------------------------------------------------------------------------------- implicit minimax

# player 0 plays 4, player 1 answers 8 (of 7 and 8), and the next history is expanded
BACKED = HistoryExample(
    [
        Decision(0, (4, 5), 4, lookahead={4: (0.5, 0.5), 5: (0.25, 0.75)}),
        Decision(1, (7, 8), 8, phase=EXPANSION, lookahead={7: (0.875, 0.125), 8: (0.75, 0.25)}),
        Decision(0, (9,), 9, phase=SIMULATION),
    ],
    rewards=(1.0, 0.0),
)


def worth_updates(example: HistoryExample, history: tuple, worth: tuple[float, ...]) -> list[tuple[int, int]]:
    key = example.key(IMPLICIT_MINIMAX, *history)
    return [(key, FIRST_VALUE + player + MAX_PLAYERS * int(value * UNIT)) for player, value in enumerate(worth)]


def test_im_4_mixes_the_mean_reward_with_what_is_backed_up() -> None:
    theta = {FOUR: {**ucb_stats(0.5, 4, 9), "worth": (0.875, 0.125)}}
    expected = 0.6 * 0.5 + 0.4 * 0.875 + 0.7 * math.sqrt(math.log(9) / 4)
    assert OPEN.values(IMPLICIT_MINIMAX, theta) == pytest.approx([expected, math.inf, math.inf])
    assert OPEN.values(IMPLICIT_MINIMAX(1.0, 0.0), theta)[0] == 0.875


def test_im_6_backs_up_the_best_of_the_player_who_acts() -> None:
    after = BACKED.capture(IMPLICIT_MINIMAX)[len(BACKED.capture(BASELINE)) :]
    # 8 is worth (¾, ¼) and is player 1's best, for 7 has (⅞, ⅛): so 4 is worth (¾, ¼) too
    assert after == worth_updates(BACKED, (1, (4, 8)), (0.75, 0.25)) + worth_updates(BACKED, (0, (4,)), (0.75, 0.25))


def test_im_6_prefers_what_the_tree_knows_of_a_child_to_its_heuristic() -> None:
    seven = {(1, (4, 7)): {"visits": 2, "worth": (0.125, 0.875)}}
    after = BACKED.capture(IMPLICIT_MINIMAX, seven)[len(BACKED.capture(BASELINE)) :]
    assert after == worth_updates(BACKED, (1, (4, 8)), (0.75, 0.25)) + worth_updates(BACKED, (0, (4,)), (0.125, 0.875))


def test_im_6_takes_the_mean_where_chance_acts() -> None:
    example = HistoryExample(
        [
            Decision(0, (4, 5), 4),
            Decision(CHANCE, (1, 2), 1, phase=EXPANSION, lookahead={1: (0.5, 0.5), 2: (1.0, 0.0)}),
            Decision(0, (9,), 9, phase=SIMULATION),
        ],
        players=2,
        rewards=(1.0, 0.0),
    )
    met = {(CHANCE, (4, 2)): {"visits": 3, "worth": (1.0, 0.0)}}
    after = example.capture(IMPLICIT_MINIMAX, met)[len(example.capture(BASELINE)) :]
    mean = (0.5 + 3 * 1.0) / 4
    assert after == worth_updates(example, (CHANCE, (4, 1)), (0.5, 0.5)) + worth_updates(
        example, (0, (4,)), (mean, 1 - mean)
    )


def test_im_7_keeps_rewards_and_values_apart() -> None:
    before = {"reward": (1.0, 0.0), "visits": 2, "availability": 5, "worth": (0.25, 0.75)}
    assert backpropagate(IMPLICIT_MINIMAX, VISIT, [0.5, 0.5], **before) == {
        "reward": [1.5, 0.5],
        "visits": 3,
        "availability": 6,
        "worth": [0.25, 0.75],
    }
    told_one = FIRST_VALUE + 1 + MAX_PLAYERS * (UNIT // 8)
    assert backpropagate(IMPLICIT_MINIMAX, told_one, [0.5, 0.5], **before)["worth"] == [0.25, 0.125]
    assert backpropagate(IMPLICIT_MINIMAX, told_one, [0.5, 0.5], **before)["visits"] == 2


WINNING = HistoryExample([Decision(0, (4, 5, 6), endings={5: (1.0, 0.0), 6: (0.5, 0.5)})], players=2)


def test_decisive_4_wins_at_once_in_the_tree_and_in_the_simulation() -> None:
    assert WINNING.values(DECISIVE) == [-1.0, math.inf, -1.0]
    assert WINNING.values(DECISIVE, {FIVE: ucb_stats(0.5, 4, 9)}) == [-1.0, pytest.approx(uct(0.5, 4, 9)), -1.0]
    simulated = HistoryExample([Decision(0, (4, 5), phase=SIMULATION, endings={5: (1.0, 0.0)})], players=2)
    assert simulated.values(DECISIVE) == [-1.0, math.inf]


def test_decisive_4_is_ucb1_where_nobody_wins_at_once() -> None:
    for endings in ({}, {5: (0.0, 1.0), 6: (0.5, 0.5)}):
        quiet = HistoryExample([Decision(0, (4, 5, 6), endings=endings)], players=2)
        assert quiet.values(DECISIVE, {FOUR: ucb_stats(0.5, 4, 9)}) == [
            pytest.approx(uct(0.5, 4, 9)),
            math.inf,
            math.inf,
        ]


def test_anti_decisive_moves_come_after_decisive_ones() -> None:
    blocks = {4: {"blocks": 1.0}, 5: {"blocks": 0.0}, 6: {"blocks": 0.0}}
    threatened = HistoryExample([Decision(0, (4, 5, 6), action_features=blocks)], players=2)
    assert threatened.values(anti_decisive("blocks")) == [math.inf, -1.0, -1.0]
    winning = HistoryExample([Decision(0, (4, 5, 6), action_features=blocks, endings={5: (1.0, 0.0)})], players=2)
    assert winning.values(anti_decisive("blocks")) == [-1.0, math.inf, -1.0]
    assert parse(str(anti_decisive("blocks"))) == anti_decisive("blocks")


CORNERS = HistoryExample(
    [
        Decision(0, (4, 5), 4, features={"corners": 1.5, "discs": -2.0}),
        Decision(1, (4, 5), 5, features={"corners": 2.0, "discs": -0.5}),
        Decision(0, (4, 5), features={"corners": 1.0, "discs": 3.0}),
    ]
)


def test_past_4_takes_the_best_of_what_was_true_where_the_action_was_played() -> None:
    learned = {
        (4, 0): {"reward": 2.0, "visits": 8},
        (0, 1, 4, 0): {"reward": 3.0, "visits": 4},  # the first feature was at least 1 and below 2
        (1, 3, 4, 0): {"reward": 2.0, "visits": 2},  # a visit too few
        (1, -2, 4, 0): {"reward": 9.0, "visits": 9},  # not true now
    }
    assert CORNERS.values(PAST, learned) == [0.75, 1.0]
    assert CORNERS.values(PAST(2), learned) == [1.0, 1.0]
    assert CORNERS.values(PAST(5), learned) == [0.25, 1.0]


def test_past_6_captures_each_action_with_all_that_was_true() -> None:
    ended = HistoryExample([*CORNERS.decisions[:2]], rewards=(1.0, 0.0))
    parts = [(4, 0), (0, 1, 4, 0), (1, -2, 4, 0), (5, 1), (0, 2, 5, 1), (1, -1, 5, 1)]
    assert ended.capture(PAST) == [(ended.key(PAST, *record), record[-1]) for record in parts]


def test_past_needs_features() -> None:
    with pytest.raises(ValueError, match="knockout-whist has no features"):
        search(games.load("knockout-whist").new_initial_state(), BASELINE >> PAST, iterations=5)


# player 0 decides twice, player 1 once; the first feature of actions is "takes", the second "far"
WEIGHED = HistoryExample(
    [
        Decision(0, (4, 5), 4, action_features={4: {"takes": 1.0, "far": 0.0}, 5: {"far": 3.0}}),
        Decision(1, (4, 5), 5, phase=EXPANSION, action_features={5: {"far": 1.0}}),
        Decision(0, (4, 5), 5, phase=SIMULATION, action_features={5: {"takes": 1.0, "far": 0.5}}),
    ],
    rewards=(1.0, 0.0),
)
WEIGHTS = {(0, 0): {"weight": 0.5}, (1, 0): {"weight": -0.2}, (1, 1): {"weight": 0.1}}


def test_fast_4_weighs_the_features_of_an_action_with_the_weights_of_the_player() -> None:
    assert WEIGHED.prefix(0).values(FAST, WEIGHTS) == pytest.approx([0.5, 3 * -0.2])
    assert WEIGHED.prefix(1).values(FAST, WEIGHTS) == pytest.approx([0.0, 0.1])
    assert WEIGHED.prefix(2).values(FAST) == [0.0, 0.0]


def test_fast_6_moves_weights_towards_lambda_returns() -> None:
    # Player 0 thought 0.5 of his first action and 0.5 − 0.2/2 = 0.4 of his second, and got 1: λ-returns ½ · 0.4 + ½ · 1 = 0.7 and 1.
    # Player 1 thought 0.1 of his only one and got −1.
    changes = {(0, 0): 0.1 * (0.2 + 0.6), (1, 0): 0.1 * 0.6 * 0.5, (0, 1): 0.0, (1, 1): 0.1 * -1.1}
    captured = WEIGHED.capture(FAST(0.1, 0.5), WEIGHTS)
    assert [key for key, _ in captured] == [WEIGHED.key(FAST, *parts) for parts in changes]
    actual = [float(np.int64(context).view(np.float64)) for _, context in captured]
    assert actual == pytest.approx(list(changes.values()))
    assert backpropagate(FAST, captured[0][1], [1.0, 0.0], weight=0.5)["weight"] == pytest.approx(0.58)


def test_fast_6_with_lambda_1_looks_at_the_result_alone_and_with_0_at_the_next_decision_alone() -> None:
    def change(trace: float) -> float:
        return float(np.int64(WEIGHED.capture(FAST(1.0, trace), WEIGHTS)[0][1]).view(np.float64))

    assert change(1.0) == pytest.approx((1 - 0.5) + (1 - 0.4))
    assert change(0.0) == pytest.approx((0.4 - 0.5) + (1 - 0.4))


def test_fast_learns_that_a_corner_is_worth_more_than_a_square_beside_it() -> None:
    result = search(games.load("othello").new_initial_state(), BASELINE >> FAST, iterations=3000, seed=1)
    corner, x_square = ([result.records["FAST"][feature, player]["weight"] for player in (0, 1)] for feature in (0, 1))
    assert min(corner) > 0.1 and min(corner) > max(x_square)


def test_fast_needs_features_of_actions() -> None:
    with pytest.raises(ValueError, match="knockout-whist has no action_features"):
        search(games.load("knockout-whist").new_initial_state(), BASELINE >> FAST, iterations=5)


# -------------------------------------------------------------------------------------------------------- against the twins

PAIRS: list[tuple[Enhancement, naive.Leaf]] = [
    (PROGRESSIVE_BIAS, twins.progressive_bias()),
    (PROGRESSIVE_UNPRUNING(3, 2, 6.0, 1.2), twins.progressive_unpruning(3, 2, 6.0, 1.2)),
    (PROGRESSIVE_WIDENING(3.0, 1.25), twins.progressive_widening(3.0, 1.25)),
    (PUCT, twins.puct()),
    (IMPLICIT_MINIMAX, twins.implicit_minimax()),
    (DECISIVE, twins.decisive()),
    (PAST, twins.past()),
    (FAST, twins.fast()),
    (FAST(0.2, 0.5, gibbs(0.1)), twins.fast(0.2, 0.5, 0.1)),
]
TOYS_ONLY: list[tuple[Enhancement, naive.Leaf]] = [
    (anti_decisive("fifth", 0.4), twins.decisive("fifth", 0.4)),
    (DECISIVE(0.2), twins.decisive(None, 0.2)),
    (PAST(1, gibbs(0.2)), twins.past(1, 0.2)),
]
every_pair = pytest.mark.parametrize(
    ("strategy", "twin"), slow_variants(PAIRS), ids=lambda x: str(x) if isinstance(x, Enhancement) else ""
)


@pytest.mark.parametrize(
    ("strategy", "twin"),
    slow_variants([*PAIRS, *TOYS_ONLY]),
    ids=lambda x: str(x) if isinstance(x, Enhancement) else "",
)
def test_engine_and_twin_agree_in_every_toy_game(strategy: Enhancement, twin: naive.Leaf, toys: Toys) -> None:
    for number, game in toys:
        agree(starts(game, number), strategy, twin, 25, seed=number)


@every_pair
@pytest.mark.parametrize("name", slow_after(1, ["leduc-poker", "othello", "backgammon"]))
def test_engine_and_twin_agree_in_whole_games(strategy: Enhancement, twin: naive.Leaf, name: str) -> None:
    agree(starts(games.load(name), 7), strategy, twin, 8 if name == "backgammon" else 25, seed=7)


@every_pair
@pytest.mark.parametrize("every", slow_after(1, [3, 1]))
def test_engine_and_twin_agree_in_every_scheme(strategy: Enhancement, twin: naive.Leaf, every: int, toys: Toys) -> None:
    """Every third toy, another third for the next scheme; or every one."""
    for i, scheme in enumerate(schemes.ONE_TREE):
        for number, game in toys[i % every :: every]:
            schemes.agree(starts(game, number), strategy, twin, 18, number, scheme)


@every_pair
@pytest.mark.parametrize("every", slow_after(1, [3, 1]))
def test_the_engine_in_plain_python_agrees(strategy: Enhancement, twin: naive.Leaf, every: int) -> None:
    for number, game in [(number, game) for number, game in enumerate(toy.ALL_TOYS) if game.players == 2][::every]:
        compiled, reference = (
            search(starts(game, number), strategy, iterations=30, seed=number, engine=engine)
            for engine in ("compiled", "python")
        )
        assert compiled.visits.tolist() == reference.visits.tolist()
        assert np.array_equal(compiled.records[str(strategy)].rows, reference.records[str(strategy)].rows)


@pytest.mark.parametrize("strategy", ALL, ids=str)
def test_a_game_without_a_heuristic_is_refused(strategy: Enhancement) -> None:
    with pytest.raises(ValueError, match=f"of {strategy} reads history.lookahead, but toy-branches.* has no heuristic"):
        search(attrs.evolve(toy.BRANCHES, heuristic=None).new_initial_state(), strategy, iterations=5)


def test_puct_starts_with_the_child_that_the_prior_prefers_where_it_is_asked_to() -> None:
    example = HistoryExample([Decision(0, (4, 5), lookahead={4: (0.2, 0.8), 5: (0.6, 0.4)})], players=2)
    first, second = example.values(PUCT, {})
    assert first == second == 0.5  # √0: drawn uniformly
    low, high = example.values(PUCT(least=1), {})
    assert 0.5 < low < high and parse(str(PUCT(least=1))) == PUCT(least=1) and str(PUCT()) == "puct(0.625, 0.1)"
