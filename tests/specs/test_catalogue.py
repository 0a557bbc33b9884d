"""The catalogue of enhancements: against naive twins, which read the papers by themselves; by hand where these are slow to come."""

import math

import pytest
from scipy import stats

from icarus import *
from icarus.kernel import *
from icarus.testing import Decision, HistoryExample
from tests import naive, toy
from tests.engine.test_twin import ONE_TREE, agree, pair, same_records, starts
from tests.marks import slow_after, slow_variants
from tests.specs import test_score_bounds

EXAMPLE = HistoryExample(
    [
        Decision(0, (4, 5), 4),
        Decision(1, (5, 6), 5),
        Decision(0, (4, 5), 4, phase=EXPANSION),
        Decision(1, (5, 7), 5, phase=SIMULATION),
    ]
)
THIRD = EXAMPLE.prefix(2)  # player 0, who saw 4 and 5, may play 4 or 5
IN_SIMULATION = EXAMPLE.prefix(3)
CHILD = (0, (4, 5, 4))


OF_THE_TREE = [BASELINE, FPU, UCB1_TUNED, KL_UCB, THOMPSON, PROGRESSIVE_HISTORY, GRAVE]
OF_THE_TREE += [DISCOUNTED_UCB, DISCOUNTED_HISTORY, RELATIVE_BONUS]
WITH_A_HEURISTIC = [
    PROGRESSIVE_BIAS,
    PROGRESSIVE_UNPRUNING,
    PROGRESSIVE_WIDENING,
    PUCT,
    IMPLICIT_MINIMAX,
]


@pytest.mark.parametrize("strategy", OF_THE_TREE + WITH_A_HEURISTIC, ids=str)
def test_simulation_is_uniform_where_a_selection_is_of_the_tree(strategy):
    assert IN_SIMULATION.values(
        strategy, {(1, (4, 5, 5)): {"reward": (1.0, 1.0), "visits": 2}}
    ) == [math.inf, math.inf]


@pytest.mark.parametrize(
    ("q", "n", "m"), [(3.0, 4, 9), (0.0, 5, 20), (1.0, 2, 2), (49.5, 50, 1000)]
)
def test_kl_ucb_4_is_where_the_divergence_reaches_the_logarithm(q, n, m):
    bound = THIRD.values(KL_UCB, {CHILD: {"reward": (q, 0.0), "visits": n, "availability": m}})[0]
    p = q / n
    divergence = sum(u * math.log(u / v) for u, v in ((p, bound), (1 - p, 1 - bound)) if u > 0)
    assert p < bound < 1
    assert n * divergence == pytest.approx(math.log(m))


def test_grave_4_weighs_amaf_of_the_closest_ancestor_with_enough_visits():
    theta = {
        (): {"visits": 90},
        (0, (4,)): {"visits": 60},
        (1, (4, 5)): {"visits": 50},  # not more than 50: its parent is asked
        CHILD: {"reward": (1.0, 0.0), "visits": 4},
        # [h' # 4]~0 with h' = ⟨4⟩
        (0, (4, 4)): {"reward_as_first": (30.0, 0.0), "visits_as_first": 40},
    }
    beta = 40 / (40 + 4 + 1e-5 * 40 * 4)
    assert THIRD.values(GRAVE, theta) == pytest.approx(
        [(1 - beta) * 1 / 4 + beta * 30 / 40, math.inf]
    )
    closer = {**theta, (0, (4, 5, 5)): {"reward_as_first": (1.0, 0.0), "visits_as_first": 2}}
    # now the history itself is asked
    assert THIRD.values(GRAVE(least=49), closer) == pytest.approx([1 / 4, 1 / 2])


def test_thompson_4_draws_from_the_beta_of_what_is_known():
    theta = {CHILD: {"reward": (3.0, 1.0), "visits": 4}}
    by_seed = [
        HistoryExample(THIRD.decisions, seed=seed).values(THOMPSON, theta) for seed in range(600)
    ]
    values, unvisited = zip(*by_seed, strict=True)
    assert stats.kstest(values, stats.beta(4, 2).cdf).pvalue > 0.001  # 1 + 3, 1 + 4 − 3
    assert stats.kstest(unvisited, stats.uniform.cdf).pvalue > 0.001  # Beta(1, 1)


LOOKAHEAD = {4: (0.25, 0.75), 5: (0.5, 0.5), 6: (0.375, 0.625)}
OPEN = HistoryExample([Decision(0, (4, 5, 6), lookahead=LOOKAHEAD)], players=2)
FOUR, FIVE, SIX = ((0, (action,)) for action in (4, 5, 6))


@pytest.mark.parametrize(("visits", "width"), [(31, 1), (50, 1), (51, 2), (65, 2), (66, 3)])
def test_pu_4_opens_one_more_whenever_the_visits_exceed_a_b_to_the_power(visits, width):
    # 50, 65, 84.5
    values = OPEN.values(PROGRESSIVE_UNPRUNING(30, 1, 50.0, 1.3), {(): {"visits": visits}})
    assert sum(value == math.inf for value in values) == width


@pytest.mark.parametrize(("visits", "width"), [(0, 1), (39, 1), (40, 2), (95, 2), (96, 3)])
def test_pw_4_opens_the_next_after_t_visits(visits, width):
    values = OPEN.values(PROGRESSIVE_WIDENING, {(): {"visits": visits}})  # t = 40, 40 + 56
    assert sum(value == math.inf for value in values) == width
    assert values[1] == math.inf  # the best prospect


def test_puct_4_does_not_overflow_at_low_temperatures():
    values = OPEN.values(PUCT(1.0, 1e-9), {FIVE: {"availability": 4}, FOUR: {"availability": 4}})
    assert values == pytest.approx([0.5, 0.5 + 2.0, 0.5])


def test_fast_learns_that_a_corner_is_worth_more_than_a_square_beside_it():
    result = search(
        games.load("othello").new_initial_state(), BASELINE >> FAST, iterations=1000, seed=1
    )
    corner, x_square = (
        [result.records["FAST"][feature, player]["weight"] for player in (0, 1)]
        for feature in (0, 1)
    )
    assert min(corner) > 0.1
    assert min(corner) > max(x_square)


def test_puct_starts_with_the_child_that_the_prior_prefers_where_it_is_asked_to():
    example = HistoryExample(
        [Decision(0, (4, 5), lookahead={4: (0.2, 0.8), 5: (0.6, 0.4)})], players=2
    )
    first, second = example.values(PUCT, {})
    assert first == second == 0.5  # √0: drawn uniformly
    low, high = example.values(PUCT(least=1), {})
    assert 0.5 < low < high
    assert parse(str(PUCT(least=1))) == PUCT(least=1)
    assert str(PUCT()) == "puct(0.625, 0.1)"


# -------------------------------------------------------------------------------------------------------- against the twins

TEXTS = """FPU; fpu(0.6); UCB1_TUNED; KL_UCB; PROGRESSIVE_HISTORY; GRAVE; grave(3); grave(3, 1e-5, 0.6); ucb1_tuned(0.1); THOMPSON;
    LGRF2; NST; nst(2, gibbs(0.5)); PPA; ppa(2.0, 0.5); MAST_SIMULATION_DECAY; mast_simulation_decay(0.5, gibbs(0.3));
    mast_batch_decay(0.7, 8); CMC; cmc(0.9, 0.4); DISCOUNTED_UCB; discounted_ucb(0.8); DISCOUNTED_HISTORY; REGRET_MATCHING;
    regret_matching(0.5); RELATIVE_BONUS; relative_bonus(1.0, 3.0)"""
TEXTS_WITH_KNOWLEDGE = """PROGRESSIVE_BIAS; progressive_unpruning(3, 2, 6.0, 1.2); progressive_widening(3.0, 1.25); PUCT; IMPLICIT_MINIMAX;
    DECISIVE; PAST; FAST; fast(0.2, 0.5, gibbs(0.1)); decisive(0.2); past(1, gibbs(0.2))"""
WITHOUT_KNOWLEDGE, WITH_KNOWLEDGE = (
    [text.strip() for text in texts.split(";")] for texts in (TEXTS, TEXTS_WITH_KNOWLEDGE)
)
OF_ALL = [*WITHOUT_KNOWLEDGE, *WITH_KNOWLEDGE]
OF_GAMES = WITH_KNOWLEDGE[:-2]


def each_of(texts: list[str]) -> pytest.MarkDecorator:
    """Of each kind the first; the others with --slow."""
    return pytest.mark.parametrize("text", slow_variants(texts))


@each_of(OF_ALL)
def test_engine_and_twin_agree_in_every_toy_game(text, toys):
    """Those with knowledge in half of the toys each: their twins play all that can follow."""
    known = text in WITH_KNOWLEDGE
    for number, game in toys[OF_ALL.index(text) % 2 :: 2] if known else toys:
        agree(starts(game, number), *pair(text), 25 if known else 30, seed=number)


# of each kind
FIRST = [text for text in slow_variants(WITHOUT_KNOWLEDGE) if isinstance(text, str)]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        pytest.param(
            text,
            name,
            marks=[] if text in FIRST and (FIRST.index(text) + j) % 2 else pytest.mark.slow,
        )
        for text in WITHOUT_KNOWLEDGE
        for j, name in enumerate(["othello", "knockout-whist(players=2)"])
    ],
)
def test_engine_and_twin_agree_in_whole_games(text, name):
    agree(starts(games.load(name), 7), *pair(text), 12, seed=7)


@each_of(OF_GAMES)
@pytest.mark.parametrize("name", slow_after(1, ["checkers", "othello", "backgammon"]))
def test_engine_and_twin_agree_in_games_that_know(text, name):
    if name == "backgammon" and text.upper().startswith("FAST"):
        name = "checkers"  # moves of Backgammon have no features
    agree(starts(games.load(name), 7), *pair(text), 8, seed=7)


@each_of(OF_GAMES)
@pytest.mark.parametrize("every", slow_after(1, [6, 1]))
def test_enhancements_with_knowledge_agree_in_every_scheme(text, every, toys):
    """Every sixth toy, others for the next scheme; or every one."""
    for i, scheme in enumerate(ONE_TREE):
        for number, game in toys[i % every :: every]:
            agree(starts(game, number), *pair(text), 18, number, scheme)


SCHEMES = [SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(1)]
THIRDS = 3


@pytest.mark.parametrize(
    ("text", "scheme", "thirds"),
    [  # each time every other scheme of an enhancement, the others of the next one
        pytest.param(
            text,
            scheme,
            thirds,
            marks=[pytest.mark.slow]
            * (text not in FIRST or thirds > 1 or (FIRST.index(text) + j) % 2),
        )
        for text in WITHOUT_KNOWLEDGE
        for j, scheme in enumerate(SCHEMES)
        for thirds in (1, THIRDS)
    ],
    ids=str,
)
def test_engine_and_twin_agree_under_every_scheme(text, scheme, thirds, toys):
    """A third of the toys, another one for the next scheme and for the next enhancement: all meet all of the other two."""
    first = WITHOUT_KNOWLEDGE.index(text) + SCHEMES.index(scheme)
    for third in range(first, first + thirds):
        for number, game in toys[third % THIRDS :: THIRDS]:
            agree(starts(game, number), *pair(text), 20, (number, 7), scheme)


PLACES = [toy.CHAIN, toy.THREE, toy.CLASHES, toy.THICKETS[2]]


@each_of([*OF_ALL, *test_score_bounds.TEXTS])
def test_engine_and_twin_agree_where_one_plays_or_more_than_two(text):
    """In two of the games each, in plain Python, for which nothing is compiled: `tests/engine` compares both engines with any players."""
    strategy, twin = pair(text)
    proves = any(part.capture.proves for part in strategy.components)
    places = list(enumerate(PLACES))
    # REGRET_MATCHING has the half with choices made at once
    half = ([*OF_ALL, *test_score_bounds.TEXTS].index(text) + 1) % 2
    for number, game in places if proves else places[half::2]:
        if proves and game not in toy.OPEN:
            continue
        state = starts(game, number)
        result = search(state, strategy, iterations=10, seed=number, engine="python")
        outcome = naive.search(state, twin, 10, number)
        same_records(result.records, strategy, twin, outcome, (str(game),))
        assert dict(zip(result.actions, result.visits.tolist(), strict=True)) == outcome.selections
        assert proves or result.action == outcome.action


@pytest.mark.parametrize("name", ["goofspiel", "lotr-confrontation"])
def test_regret_matching_agrees_with_its_twin_where_games_have_simultaneous_choices(name):
    agree(starts(games.load(name), 7), *pair("REGRET_MATCHING"), 40, seed=7)


def test_regret_matching_mixes_where_a_game_of_matching_coins_has_to_be_mixed():
    result = search(
        toy.PENNIES.new_initial_state(), REGRET_MATCHING >> BASELINE, iterations=20_000, seed=3
    )
    assert 0.45 < result.policy[0] < 0.55
    assert 0.45 < result.values.mean() < 0.55


@pytest.mark.parametrize("text", ["relative_bonus(1.0)", "mast_batch_decay(0.5, 40)"])
def test_engine_and_twin_agree_when_much_has_been_learnt(text):
    for number, game in enumerate((toy.THICKETS[0], toy.EPISODES)):
        agree(starts(game, number), *pair(text), 160, seed=number)


@pytest.mark.parametrize(
    ("number", "text"),
    list(
        enumerate(
            [
                "GRAVE >> NST",
                "UCB1_TUNED >> (LGRF2 + NST)/2",
                "0.25 * KL_UCB ^ 0.75 * grave(5)",
                "fpu(0.4) >> MAST",
            ]
        )
    ),
)
def test_engine_and_twin_agree_on_compositions(number, text, toys):
    for place, game in toys:
        agree(starts(game, place), *pair(text), 25, seed=number)


def test_a_union_of_spaces_tells_its_records_apart():
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
    assert (MOVE | ACTION) * (
        PLAYER | HISTORY
    ) == MOVE * PLAYER | MOVE * HISTORY | ACTION * PLAYER | ACTION * HISTORY
    assert str(ACTION | (MOVE | HISTORY)) == str((ACTION | MOVE) | HISTORY) == "A ⊔ M ⊔ M*"


def test_a_position_in_an_episode_may_be_continued_and_a_history_stands_first():
    game = games.load("othello")
    assert (POSITION * PLAYER).key(game, (3, 0, (4, 5), 1)) == mix(
        POSITION.key(game, (3, 0, (4, 5))), 1
    )
    for space, parts in (
        (POSITION * PLAYER, (3, 0, 1)),
        (PLAYER * HISTORY, (0, 1)),
        (HISTORY**2, (0, (4,), 0, (5,))),
    ):
        with pytest.raises(ValueError, match="is not a record of"):
            space.key(game, parts)
