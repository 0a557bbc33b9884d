"""What a game tells of states and actions, where slots read it: engine, plain engine and naive twin; and what is refused."""

import math
import random

import attrs
import numpy as np
import pytest

from icarus import games, information, initial, initial_information, search, values
from icarus.algebra import (
    ACTION,
    COUNT,
    PLAYER,
    REAL,
    REWARD,
    Enhancement,
    Space,
    backpropagation,
    candidates,
    capture,
)
from icarus.compiler.digest import attributes_read
from icarus.compiler.functions import CompilationError
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.lowering import lower
from icarus.engine.scheme import MO_ISMCTS, SO_ISMCTS_POM
from icarus.kernel import (
    CHANCE,
    MAX_PLAYERS,
    SELECTION,
    SIMULATION,
    action_features_at,
    child,
    endings_at,
    find,
    helper,
    legal_at,
    lookahead_at,
    record,
    uniform,
    update,
)
from icarus.kernel.features import ACTION_FEATURES, ENDINGS, FEATURES, TABLES
from icarus.specs import BASELINE, MAST, NAST2, argmax, gibbs, parse, ucb1
from icarus.specs.baseline import children
from icarus.testing import Decision, HistoryExample
from tests import naive, toy
from tests.audit import test_contract as contract
from tests.engine.test_twin import Pair, agree, starts
from tests.marks import both_engines
from tests.naive_catalogue import read
from tests.test_documents import example
from tests.test_toy import after

NIBBLES = 16  # of a context: the weight, then the player


@values
def informed(history, theta, legal, out, state="seventh", action="fifth"):
    """q/n + f_state/7 + f_action + heuristic, 9 for an action that wins at once"""
    present, player = len(history.steps) - 1, history.steps[-1].player
    for i in range(len(legal)):
        stats = find(theta, record(legal[i], player))
        out[i] = stats.reward / stats.visits if stats.visits > 0 else 0.0
        out[i] += history.features[-1, state] / 7 + action_features_at(history, present)[i, action]
        out[i] += lookahead_at(history, present)[i, player]
        if endings_at(history, present)[i, player] == 1.0:
            out[i] = 9.0


@capture
def capture_told(history, updates, state="seventh", action="fifth"):
    """⟨((a_i, ρ_i), (f_state(s_i) + 4 f_action + f_state(s_t), ρ_i))⟩"""
    end = int(history.features[-1, state])
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            weight = int(history.features[i, state]) + end
            for k in range(step.count):
                if legal_at(history, i)[k] == step.action:
                    weight += int(4 * action_features_at(history, i)[k, action])
            update(updates, record(step.action, step.player), weight * NIBBLES + step.player)


@backpropagation
def backpropagate_told(stats, context, rewards):
    """(q + μ_ρ, n + 1, w + weight)"""
    stats.reward += rewards[context % NIBBLES]
    stats.visits += 1
    stats.weight += context // NIBBLES


INFORMED = Enhancement(
    name="INFORMED",
    records=ACTION * PLAYER,
    information=information(reward=REWARD, visits=COUNT, weight=REAL),
    initial=initial(),
    policy=argmax().over(informed),
    contexts=Space(("ℕ₀",)) * PLAYER,
    capture=capture_told,
    backpropagation=backpropagate_told,
)


class Informed(naive.PlayersMean):
    """The naive twin."""

    def initial(self, players):
        return 0.0, 0, 0.0

    def values(self, theta, h):
        i, v = h.t, []
        for a in h.legal:
            q, n, _ = theta[a, h.player]
            value = (q / n if n else 0.0) + (
                h.features(i, "seventh") / 7 + h.action_feature(i, a, "fifth")
            )
            value += h.lookahead(i, a)[h.player]
            v.append(9.0 if h.endings(i, a)[h.player] == 1.0 else value)
        return v

    def capture(self, h, theta):
        updates = []
        for i, (a, player) in enumerate(zip(h.actions, h.players, strict=True)):
            if player != CHANCE:
                weight = (
                    h.features(i, "seventh")
                    + h.features(h.t, "seventh")
                    + int(4 * h.action_feature(i, a, "fifth"))
                )
                updates.append(((a, player), (player, weight)))
        return updates

    def backpropagation(self, information, context, rewards):
        q, n, w = information
        player, weight = context
        return q + rewards[player], n + 1, w + weight


def pair(text: str) -> Pair:
    """What a text describes, to the engine and to the twin, with the enhancements of this file."""
    mine = {"INFORMED": INFORMED, "NUDGED": NUDGED, "SURPRISES": SURPRISES}
    twins = {"INFORMED": Informed(), "NUDGED": Nudged(), "SURPRISES": Surprises()}
    return parse(text, **mine), read(text, **twins)


@pytest.mark.parametrize(
    ("number", "text"),
    list(enumerate(["INFORMED", "INFORMED >> BASELINE", "BASELINE >> INFORMED"])),
)
def test_engine_and_twin_agree_on_what_the_game_tells(number, text, toys):
    for place, game in toys:
        agree(starts(game, place), *pair(text), 25, seed=number)


def test_a_policy_reads_features_by_name_in_a_history_made_by_hand():
    example = HistoryExample(
        [
            Decision(
                0,
                (4, 5, 6),
                features={"seventh": 3.5},
                action_features={5: {"fifth": 0.25}},
                lookahead={4: (0.5, 0.5), 5: (0.125, 1.0)},
                endings={6: (1.0, 0.0)},
            )
        ],
        players=2,
    )
    assert example.values(INFORMED) == [0.5 + 0.5, 0.5 + 0.25 + 0.125, 9.0]


def test_what_nobody_reads_is_not_told():
    state = starts(toy.BRANCHES, 1)
    program = CompiledSearch(state, BASELINE >> MAST).program
    assert (program.reads["features_in_tree"], program.reads["features_in_simulation"]) == (0, 0)
    program = CompiledSearch(state, INFORMED >> BASELINE).program
    assert program.reads["features_in_tree"] == sum(TABLES)
    # what the capture looks at
    assert program.reads["features_in_simulation"] == FEATURES | ACTION_FEATURES
    assert (
        CompiledSearch(
            state, BASELINE >> attrs.evolve(MAST, name="A", capture=ends_only)
        ).program.reads["features_in_tree"]
        == ENDINGS
    )


@capture(reads_simulation=False)
def ends_only(history, updates):
    """of the tree: actions that end the game"""
    for i in range(len(history.steps) - 1):
        if history.steps[i].phase != SIMULATION and endings_at(history, i)[0, 0] == 1.0:
            update(updates, record(history.steps[i].action, history.steps[i].player), 0)


@both_engines
@pytest.mark.parametrize(
    ("table", "needed"),
    [("features", "features"), ("action_features", "action_features"), ("lookahead", "heuristic")],
)
def test_a_game_without_what_a_slot_reads_is_refused_in_a_sentence(table, needed, engine):
    names = {} if needed == "heuristic" else {f"{needed.removesuffix('s')}_names": ()}
    bare = attrs.evolve(toy.BRANCHES, **{needed: None}, **names)
    message = rf"informed of INFORMED reads history.{table}, but .* has no {needed}; give Game\({needed}=…\)"
    with pytest.raises(ValueError, match=message):
        search(bare.new_initial_state(), INFORMED, iterations=5, engine=engine)


@both_engines
def test_a_feature_that_the_game_has_not_is_refused_with_those_that_it_has(engine):
    mistaken = attrs.evolve(INFORMED, policy=argmax().over(informed(state="corners")))
    with pytest.raises(
        ValueError, match="has no feature 'corners'; it has seventh, branching, fifth"
    ):
        search(toy.BRANCHES.new_initial_state(), mistaken, iterations=5, engine=engine)


def nan_features(state, out):
    out[0] = out[1] = math.nan


def unwritten_features(state, out):
    out[0] = 1.0


def infinite_features(state, action, out):
    out[0] = math.inf


def large_heuristic(state, out):
    out[:] = 1.5


@both_engines
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"features": nan_features}, "the features function .*nan_features did not write"),
        (
            {"features": unwritten_features},
            "the features function .*unwritten_features did not write",
        ),
        (
            {"action_features": infinite_features},
            "the action_features function .*infinite_features did not write",
        ),
        (
            {"heuristic": large_heuristic},
            "the heuristic function .*large_heuristic did not write a number",
        ),
    ],
    ids=["not a number", "unwritten", "infinite", "above 1"],
)
def test_what_a_game_tells_must_make_sense(changed, message, engine):
    game = attrs.evolve(toy.BRANCHES, **changed)
    with pytest.raises(ValueError, match=message):
        search(game.new_initial_state(), INFORMED, iterations=5, engine=engine)


@candidates(independent=True)
def by_feature(history, legal, records, action="fifth"):
    """the record of a feature"""
    for i in range(len(legal)):
        records[i] = record(
            int(4 * action_features_at(history, len(history.steps) - 1)[i, action]), 1
        )


def test_a_function_asked_about_single_actions_cannot_read_a_table_of_all():
    strategy = attrs.evolve(MAST, name="BY_FEATURE", policy=gibbs(1.0).over(by_feature))
    with pytest.raises(
        ValueError,
        match="by_feature of BY_FEATURE is declared independent, but reads .* of all legal",
    ):
        search(toy.BRANCHES.new_initial_state(), strategy, iterations=5)


def test_a_state_tells_its_features_and_heuristic():
    state = toy.BRANCHES.new_initial_state()
    row = int(state.facts.row)
    assert state.features() == {
        "seventh": row % 7,
        "branching": float(len(state.legal_actions()) > 2),
    }
    action = state.legal_actions()[0]
    assert state.action_features(action) == {"fifth": (row + 2 * action) % 5 / 4}
    assert state.heuristic() == [7 * row % 11 / 10, (7 * row + 3) % 11 / 10]
    while not state.is_terminal():
        state.apply_action(state.legal_actions()[0])
    assert state.heuristic() == state.returns()
    with pytest.raises(ValueError, match="has no heuristic"):
        attrs.evolve(toy.BRANCHES, heuristic=None).new_initial_state().heuristic()


# ------------------------------------------------------------------------------------------------------------- cut-offs


@pytest.mark.parametrize(
    ("text", "cutoff"),
    [
        pytest.param(text, cutoff, marks=[] if number == place else pytest.mark.slow)
        for number, text in enumerate(["BASELINE", "BASELINE >> MAST", "INFORMED"])
        for place, cutoff in enumerate([0, 1, 3])
    ],
)
def test_engine_and_twin_agree_on_playouts_that_are_cut_off(text, cutoff, toys):
    for scheme in (MO_ISMCTS, SO_ISMCTS_POM):
        for place, game in toys:
            agree(starts(game, place), *pair(text), 20, place, scheme.with_cutoff(cutoff))


def test_a_cut_off_playout_counts_so_many_actions_of_simulation_and_no_more():
    state = toy.THICKETS[0].new_initial_state()
    for cutoff in (0, 1, 2):
        result = search(state, BASELINE, iterations=50, seed=1, cutoff=cutoff)
        # the root's action is always played
        assert result.phase_steps["simulation"] <= 50 * cutoff + (cutoff == 0)
        assert result.scheme.cutoff == cutoff


@both_engines
def test_a_cut_off_without_a_heuristic_is_refused_in_a_sentence(engine):
    state = attrs.evolve(toy.BRANCHES, heuristic=None).new_initial_state()
    with pytest.raises(
        ValueError, match="cutoff is 3, but .* has no heuristic to end playouts with"
    ):
        search(state, BASELINE, iterations=5, cutoff=3, engine=engine)


# --------------------------------------- θ_initial told by a function of the state in which a policy first asks about a record


WORTH = 4  # visits that the heuristic is worth


@initial_information
def nudge(history, i, stats, visits=WORTH):
    """(n lookahead of a, n, n) for [h # a]~"""
    lookahead = lookahead_at(history, len(history.steps) - 1)
    for player in range(len(stats.reward)):
        stats.reward[player] = visits * lookahead[i, player]
    stats.visits = visits
    stats.availability = visits


NUDGED = attrs.evolve(
    BASELINE, name="NUDGED", initial=initial(nudge), policy=ucb1(0.5).over(children)
)

SOFT = attrs.evolve(NUDGED, name="SOFT", policy=gibbs().over(children))


class Nudged(naive.Twin):
    """The naive twin: a record holds its lookahead as soon as a policy asks about it."""

    c = 0.5

    def values(self, theta, h):
        for a in h.legal:
            record, lookahead = h.extended(h.t, a), h.lookahead(h.t, a)
            if record not in theta:
                theta[record] = tuple(WORTH * prospect for prospect in lookahead), WORTH, WORTH
        return [self.value(theta, h, a) for a in h.legal]


@pytest.mark.parametrize("text", ["NUDGED", "NUDGED >> MAST"])
def test_engine_and_twin_agree_where_records_begin_with_the_lookahead(text, toys):
    for number, game in toys:
        agree(starts(game, number), *pair(text), 40, seed=number)


def test_initial_information_by_hand():
    lookahead = {4: (0.25, 0.75), 5: (1.0, 0.0)}
    example = HistoryExample([Decision(0, (4, 5), lookahead=lookahead)], players=2)
    assert example.priors(NUDGED) == [
        {"reward": [1.0, 3.0], "visits": 4, "availability": 4},
        {"reward": [4.0, 0.0], "visits": 4, "availability": 4},
    ]
    assert example.priors(BASELINE)[0] == {"reward": [0.0, 0.0], "visits": 0, "availability": 0}
    assert example.values(SOFT) == [0.25, 1.0]
    known = {example.candidates(SOFT)[0]: {"reward": (1, 0), "visits": 2}}
    assert example.values(SOFT, known) == [0.5, 1.0]


@pytest.mark.parametrize("strategy", [NUDGED, BASELINE >> (SOFT + NUDGED) / 2], ids=str)
def test_a_playout_that_finds_no_room_leaves_no_record_that_it_would_not_have_asked_about(strategy):
    small, large = (
        CompiledSearch(games.load("othello").new_initial_state(), strategy, 7) for _ in range(2)
    )
    for table in large.tables:
        table.grow(20_000)
    for running in (small, large):
        running.run(20)
    for name, records in small.records().items():
        assert np.array_equal(records.rows, large.records()[name].rows)


@values
def flat(history, theta, legal, out):
    """all 0"""
    out[:] = 0.0


def test_a_policy_over_values_or_single_actions_is_refused():
    with pytest.raises(
        ValueError,
        match="information of X is a function: its policy must use a @candidates function",
    ):
        attrs.evolve(BASELINE, name="X", initial=initial(nudge), policy=argmax().over(flat))
    with pytest.raises(ValueError, match="asked about all legal actions at once"):
        attrs.evolve(MAST, name="X", initial=initial(nudge))


def test_a_game_without_a_heuristic_is_refused():
    with pytest.raises(
        ValueError, match="nudge of NUDGED reads history.lookahead, but .* has no heuristic"
    ):
        search(
            attrs.evolve(toy.BRANCHES, heuristic=None).new_initial_state(), NUDGED, iterations=10
        )


# -------------------- What slots of one's own may read: θ and μ in captures, the iteration, the search's own generator; and what is refused


@values
def drawn(history, theta, legal, out):
    """u + q/n with u from the search's own generator"""
    player = history.steps[-1].player
    for i in range(len(legal)):
        stats = find(theta, record(legal[i], player))
        out[i] = uniform(history.rng) + (stats.reward / stats.visits if stats.visits > 0 else 0.0)


@capture
def capture_surprises(history, theta, updates):
    """⟨((a_i, ρ_i), (ρ_i, iteration + 1 if μ is far from q/n, else 0))⟩"""
    for i in range(len(history.steps) - 1):
        step = history.steps[i]
        if step.player != CHANCE:
            stats = find(theta, record(step.action, step.player))
            expected = stats.reward / stats.visits if stats.visits > 0 else 0.5
            weight = (
                history.iteration + 1 if abs(history.rewards[step.player] - expected) > 0.25 else 0
            )
            update(updates, record(step.action, step.player), weight * MAX_PLAYERS + step.player)


@backpropagation
def backpropagate_surprises(stats, context, rewards):
    """(q + μ_ρ, n + 1, s + weight)"""
    stats.reward += rewards[context % MAX_PLAYERS]
    stats.visits += 1
    stats.surprise += context // MAX_PLAYERS


SURPRISES = attrs.evolve(
    INFORMED,
    name="SURPRISES",
    information=information(reward=REWARD, visits=COUNT, surprise=COUNT),
    policy=argmax().over(drawn),
    capture=capture_surprises,
    backpropagation=backpropagate_surprises,
)


class Surprises(naive.PlayersMean):
    """The naive twin: (a, ρ) holds the sum of |μ_ρ − q/n| · (iteration + 1), what was known when it was captured."""

    def initial(self, players):
        return 0.0, 0, 0

    def values(self, theta, h):
        information = [theta[a, h.player] for a in h.legal]
        return [uniform(h.rng) + (q / n if n else 0.0) for q, n, _ in information]

    def capture(self, h, theta):
        captured = []
        for (a, player), _ in super().capture(h, theta):
            q, n, _ = theta[a, player]
            far = abs(h.rewards[player] - (q / n if n else 0.5)) > 0.25
            captured.append(((a, player), (player, (h.iteration + 1) * far)))
        return captured

    def backpropagation(self, information, context, rewards):
        q, n, surprise = information
        player, weight = context
        return q + rewards[player], n + 1, surprise + weight


def test_a_capture_reads_theta_rewards_and_the_iteration_by_hand():
    example = HistoryExample(
        [Decision(0, (4, 5), 4), Decision(1, (6,), 6)], rewards=(1.0, 0.5), iteration=6
    )
    records = {(4, 0): {"reward": 9.0, "visits": 10}}
    # as expected, and ½ where nothing is known
    assert example.capture(SURPRISES, records) == [(record(4, 0), 0), (record(6, 1), 1)]
    assert example.capture(SURPRISES) == [(record(4, 0), 7 * MAX_PLAYERS), (record(6, 1), 1)]
    assert capture_surprises.reads_theta
    assert not MAST.capture.reads_theta


def test_draws_of_a_policy_are_fixed_by_the_seed():
    example = HistoryExample([Decision(0, (4, 5, 6))], seed=3)
    same = HistoryExample([Decision(0, (4, 5, 6))], seed=3)
    different = HistoryExample([Decision(0, (4, 5, 6))], seed=4)
    first = example.values(SURPRISES)
    assert first == same.values(SURPRISES) != different.values(SURPRISES)
    assert example.values(SURPRISES) != first  # the next three numbers
    state = games.load("othello").new_initial_state()
    first_result, second_result = (
        search(state, SURPRISES >> BASELINE, iterations=300, seed=5) for _ in range(2)
    )
    assert first_result.visits.tolist() == second_result.visits.tolist()


@pytest.mark.parametrize(
    ("number", "text"),
    list(enumerate(["SURPRISES", "BASELINE >> SURPRISES", "(MAST + SURPRISES)/2"])),
)
def test_engine_and_twin_agree_on_what_slots_may_read(number, text, toys):
    for place, game in toys:
        agree(starts(game, place), *pair(text), 40, seed=number)


@helper
def tossed():
    return np.random.random()


def a_function_that_draws(how: str):
    """A values function of numbers that no seed of a search fixes."""
    if how == "np.random":

        def noisy(history, theta, legal: np.ndarray, out: np.ndarray) -> None:
            for i in range(len(legal)):
                out[i] = np.random.random()
    elif how == "a helper":

        def noisy(history, theta, legal: np.ndarray, out: np.ndarray) -> None:
            for i in range(len(legal)):
                out[i] = tossed()
    else:

        def noisy(history, theta, legal: np.ndarray, out: np.ndarray) -> None:
            for i in range(len(legal)):
                out[i] = random.random()

    return values(noisy)


@both_engines
@pytest.mark.parametrize("how", ["np.random", "a helper", "random"])
def test_a_slot_that_draws_from_elsewhere_is_refused(how, engine):
    strategy = attrs.evolve(MAST, name="NOISY", policy=argmax().over(a_function_that_draws(how)))
    message = "noisy draws from (np.)?random, which no seed fixes; .* uniform\\(rng\\)"
    with pytest.raises(ValueError, match=message):
        search(
            games.load("othello").new_initial_state(),
            BASELINE >> strategy,
            iterations=10,
            engine=engine,
        )


@candidates
def at_root(history, legal, records):
    """The record of each action at the root"""
    for i in range(len(legal)):
        records[i] = child(history, 0, legal[i])


def test_a_policy_over_the_baseline_s_records_is_asked_in_simulation():
    rooted = attrs.evolve(BASELINE, name="ROOTED", policy=ucb1(0.7).over(at_root))
    state = games.load("othello").new_initial_state()
    results = [
        search(state, strategy, iterations=100, seed=1)
        for strategy in (BASELINE, BASELINE >> rooted)
    ]
    assert results[0].values.tolist() != results[1].values.tolist()


take, list_legal = helper(contract.apply), helper(contract.legal)
ANOTHER_PILE = np.zeros(1, contract.STATE)[0]


@capture
def capture_on_own_states(history, updates):
    """Plays on a state that it makes, and looks at one that its module made."""
    actions, states = np.zeros(8, np.int64), np.zeros(2, contract.STATE)
    state = states[1]
    state.left = 5
    take(state, 3)
    update(updates, record(list_legal(states[1], actions), list_legal(ANOTHER_PILE, actions)), 0)


def test_a_slot_may_call_a_game_s_functions_on_states_of_its_own_in_both_engines():
    state = contract.NIM.new_initial_state(1)
    strategy = attrs.evolve(MAST, name="PLAYS", capture=capture_on_own_states)
    keys = [
        search(state, strategy, iterations=3, engine=engine)
        .records["PLAYS"]
        .rows["record"]
        .tolist()
        for engine in ("compiled", "python")
    ]
    assert keys[0] == keys[1] == [record(2, 0)]


# -------------------- Slots that call other slots by their names: compiled and in plain Python the same, and a sentence where it cannot be.


BIASED = example("biased").BIASED
capture_mast, add_mast, capture_nast2 = MAST.capture, MAST.backpropagation, NAST2.capture


@capture
def capture_again(history, updates):
    """ξ_MAST(h)"""
    capture_mast(history, updates)


@backpropagation(bounded_mean=True)
def add_again(stats, context, rewards):
    """as MAST's"""
    add_mast(stats, context, rewards)


AGAIN = attrs.evolve(MAST, name="AGAIN", capture=capture_again, backpropagation=add_again)


def result_of(strategy: Enhancement, iterations: int = 40):
    return search(after(toy.THICKETS[0]), BASELINE >> strategy, iterations=iterations, seed=2)


def test_an_enhancement_made_of_the_slots_of_another_is_the_other():
    result, expected = result_of(AGAIN), result_of(MAST)
    assert (result.visits == expected.visits).all()
    assert (result.records["AGAIN"].rows == expected.records["MAST"].rows).all()
    assert len(result.records["AGAIN"]) > 3


def test_the_values_of_another_are_over_the_records_of_whoever_asks():
    example = HistoryExample(
        [Decision(0, (4, 5), 4, phase=SELECTION), Decision(1, (5, 6), None)], players=2
    )
    records = {
        (1, (4, 5)): {"reward": [1, 3], "visits": 4, "availability": 9},
        (1, (4, 6)): {"reward": [2, 2], "visits": 4, "availability": 9},
    }
    alone = example.values(BASELINE, records)
    assert alone[0] == pytest.approx(3 / 4 + 0.7 * (2.1972246 / 4) ** 0.5)
    assert example.values(BIASED, records) == alone
    biased = example.values(BIASED, {**records, (6, 1): {"reward": [0, 3], "visits": 6}})
    assert biased == [alone[0], pytest.approx(alone[1] + 0.5 * 3 / 6 / (4 + 1))]


@capture
def capture_grams(history, updates):
    """ξ_NAST2(h)"""
    capture_nast2(history, updates)


def test_what_a_called_slot_reads_is_read_by_the_one_that_calls():
    assert {"steps", "player"} <= attributes_read(capture_again.function)
    assert "keys" in attributes_read(BIASED.policy.source.function)
    program = lower(games.load("othello"), BASELINE >> attrs.evolve(NAST2, capture=capture_grams))
    assert program.reads["moves_in_simulation"]


@capture
def capture_by_enhancement(history, updates):
    """none"""
    MAST.capture(history, updates)


def test_a_slot_is_not_called_as_a_part_of_its_enhancement():
    with pytest.raises(CompilationError) as refused:
        result_of(attrs.evolve(MAST, name="WRONG", capture=capture_by_enhancement))
    assert "MAST is a Enhancement" in str(refused.value)
    assert "\n" not in str(refused.value)
