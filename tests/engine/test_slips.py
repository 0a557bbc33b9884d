"""Slips inside slots, each made on purpose: a sentence before anything runs, not another result."""

import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from scipy import stats

from icarus import SearchExhausted, games, search
from icarus.algebra import (
    ACTION,
    COUNT,
    ESTIMATES,
    REAL,
    REWARD,
    Enhancement,
    Space,
    backpropagation,
    candidates,
    capture,
    information,
    initial,
    initial_information,
    values,
    weight,
)
from icarus.compiler import CompilationError, PlainPython
from icarus.engine.loop import check_actions
from icarus.engine.lowering import lower
from icarus.engine.scheme import DeterminizedUCT
from icarus.kernel import CHANCE, facts_of, find, helper, record, update
from icarus.specs import (
    AMAF,
    BASELINE,
    EPIC,
    LGRF2,
    MAST,
    NAST2,
    argmax,
    gibbs,
    parse,
    roulette,
    ucb1,
)
from tests import toy
from tests.audit import test_contract as slips
from tests.audit.test_contract import COIN, NIM, SECRET
from tests.conftest import child_process, environment
from tests.games.scenes import first_decision
from tests.marks import both_engines
from tests.test_toy import after


def state():
    return games.load("othello").new_initial_state()


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (
            lambda: attrs.evolve(MAST, initial=initial(visits=1.5)),
            "MAST sets visits to 1.5; it must be an integer",
        ),
        (
            lambda: attrs.evolve(MAST, initial=initial(reward=math.nan)),
            "sets reward to nan; it must be a number",
        ),
        (
            lambda: attrs.evolve(MAST, initial=initial(reward=(0.5, 0.5))),
            r"MAST sets reward to \(0.5, 0.5\); it must be a number$",
        ),
        (lambda: attrs.evolve(MAST, initial=initial(reward="3")), "reward to '3'; it must be a nu"),
        (
            lambda: attrs.evolve(MAST, initial=initial(visits=True)),
            "to True; it must be an integer",
        ),
        (
            lambda: attrs.evolve(AMAF, initial=initial(reward="x")),
            "AMAF sets reward to 'x'; it must be a number, or one for each player",
        ),
        (
            lambda: search(
                state(),
                attrs.evolve(AMAF, name="X", initial=initial(reward=(0, 1, 2))),
                iterations=5,
            ),
            r"X sets reward to \(0, 1, 2\); the game has 2 players",
        ),
        (lambda: information(record=REWARD), "a field of an information is called record"),
        (lambda: with_prior(MAST, (3, 0.5)), r"is given for \(3, 0.5\), no record of A × "),
        (lambda: with_prior(AMAF, (0, 4)), r"is given for \(0, 4\), no record of M\*"),
        (lambda: with_prior(EPIC, (0, (4, 5))), "no record of E × M"),
        (
            lambda: attrs.evolve(LGRF2, initial=initial({(1, 2, 3, 4): {"reply": 3}})),
            "no record of M.2",
        ),
        (lambda: initial({(1, 0): 3}), r"given is {\(1, 0\): 3}; it must be {parts: {field: "),
    ],
)
def test_initial_information_that_makes_no_sense_is_refused_when_it_is_declared(slip, message):
    with pytest.raises((TypeError, ValueError), match=message):
        slip()


@weight
def no_number(rewards, visits, availability):
    return "a"


@weight
def of_feature(rewards, visits, availability, feature="attacked"):
    return 0.5


def order_slipped():
    @candidates
    def named(history, theta, legal, records): ...


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (
            lambda: search(state(), MAST, iterations=5, progress=3),
            "^progress is 3; it must be a function of",
        ),
        (
            lambda: no_number * MAST + (1 - no_number) * NAST2,
            "no_number returned 'a'; it must return a number from 0",
        ),
        (
            lambda: of_feature * MAST + (1 - of_feature) * NAST2,
            "of_feature asks for the feature 'attacked'; only a function that is given a history",
        ),
        (lambda: ACTION * 3, r"^\(A\) \* 3: a Space is multiplied by a Space"),
        (lambda: Space("abc"), "^factors is 'abc'; it must be a tuple"),
        (order_slipped, "^parameter records of named needs a default"),
        (lambda: math.nan * MAST, "^nan is not a weight: it must be a finite number"),
    ],
)
def test_a_value_of_another_kind_is_refused_with_what_would_be_right(slip, message):
    with pytest.raises(TypeError, match=message):
        slip()


def with_prior(enhancement: Enhancement, parts) -> Enhancement:
    return attrs.evolve(enhancement, initial=initial(given={parts: {"visits": 1}}))


@capture
def capture_by_place(history, updates):
    """⟨(the last move, 0)⟩, read by its place"""
    moves = history[1]
    update(updates, record(moves[-1, 0], 0), 0)


@capture
def capture_of_another_name(h, updates):
    """⟨(the last move, 0)⟩, read by its place from an argument of another name"""
    update(updates, record(h[1][-1, 0], 0), 0)


@pytest.mark.parametrize("slot", [capture_by_place, capture_of_another_name])
def test_a_part_of_a_history_taken_by_its_place_is_refused(slot):
    strategy = attrs.evolve(MAST, name="BY_PLACE", capture=slot)
    message = f"{slot.name} reads a field of the history by its index; read it by its name, as in history.moves"
    with pytest.raises(CompilationError, match=message):
        search(state(), BASELINE >> strategy, iterations=10)


@capture
def capture_a_key_of_a_real(history, updates):
    """A part of a key that is not an integer, which compiled code would cut down to 0."""
    update(updates, record(history.steps[0].action, 0.5), 0)


@capture
def capture_a_key_of_reals(history, updates):
    update(updates, record(0.5, 1.5), 0)


@both_engines
@pytest.mark.parametrize("slot", [capture_a_key_of_a_real, capture_a_key_of_reals])
def test_a_key_of_a_real_is_refused(slot, engine):
    strategy = attrs.evolve(MAST, name="REAL_KEY", capture=slot)
    with pytest.raises(
        TypeError,
        match="makes a key from integers, not from (0.5|float64); a float would be truncated",
    ):
        search(state(), BASELINE >> strategy, iterations=10, engine=engine)


def test_what_is_known_to_begin_with_is_read_in_simulation_too():
    prior = attrs.evolve(AMAF, name="PRIOR", initial=initial(visits=1, reward=[0.5, 0.5]))
    strategy = BASELINE >> (0.5 * prior ^ 0.5 * NAST2)
    compiled, reference = (
        search(state(), strategy, iterations=15, seed=2, engine=engine)
        for engine in ("compiled", "python")
    )
    assert compiled.visits.tolist() == reference.visits.tolist()
    plain = search(state(), BASELINE, iterations=15, seed=2)
    assert compiled.visits.tolist() != plain.visits.tolist()
    program = lower(games.load("othello"), strategy)
    assert not program.leaf["uniform"][-2:].any()
    assert lower(games.load("othello"), BASELINE >> (0.5 * AMAF ^ 0.5 * NAST2)).leaf["uniform"][-2]


def test_gibbs_weighs_means_above_1_that_were_given():
    generous = attrs.evolve(
        MAST, name="GENEROUS", initial=initial(given={(0, 0): {"reward": 3.0, "visits": 1}})
    )
    drawn = toy.choices_of(generous, after(toy.BRANCHES), 3000, seed=1)
    weight = np.exp([3.0, 1.0, 1.0])
    expected = 3000 * weight / weight.sum()
    assert stats.chisquare(np.bincount(drawn, minlength=3), expected).pvalue > 0.001
    compiled, plain = (
        search(after(toy.BRANCHES), generous, iterations=40, seed=3, engine=e)
        for e in ("compiled", "python")
    )
    assert compiled.visits.tolist() == plain.visits.tolist()


# ------------------------------------------------------------------------------------------ found when compiled, or when met


@values
def half_written(history, theta, legal, out):
    out[0] = 0.5


@values
def not_a_number(history, theta, legal, out):
    for i in range(len(legal)):
        stats = find(theta, record(legal[i], 0))
        out[i] = 0.0 if stats.visits > 0 else np.nan


@values
def negative(history, theta, legal, out):
    for i in range(len(legal)):
        out[i] = -1.0


@helper
def forget(stats):
    stats.visits = 0


@values
def writes_by_a_helper(history, theta, legal, out):
    for i in range(len(legal)):
        forget(find(theta, record(legal[i], 0)))
        out[i] = 0.5


@capture
def capture_for_chance(history, updates):
    update(updates, record(history.steps[0].action, 0), CHANCE)


@backpropagation
def reward_of_a_ninth_player(stats, player, rewards):
    stats.reward += rewards[8]
    stats.visits += 1


@values
def beyond_the_last(history, theta, legal, out):
    out[:] = 0.5
    out[len(legal)] = 0.5


@capture
def yields_updates(history, updates):
    yield update(updates, record(history.steps[0].action, 0), 0)


@values
def returns_a_value(history, theta, legal, out):
    return 0.5


@backpropagation
def takes_a_visit(stats, player, rewards):
    stats.visits -= 1


@capture
def capture_without_a_context(history, updates):
    update(updates, record(1, 0))


@capture
def capture_by_a_misspelt_name(history, updates):
    update(updates, record(int(math.sqrtt(4.0)), 0), 0)


@values
def sorts_legal(history, theta, legal, out):
    legal.sort()
    out[:] = 0.5


@capture
def adds_to_rewards(history, updates):
    mine = history.rewards
    mine += 1.0


@backpropagation
def half_a_visit(stats, player, rewards):
    stats.reward += rewards[player]
    stats.visits += 0.5


@backpropagation(bounded_mean=True)
def two_rewards(stats, player, rewards):
    stats.reward += 2.0
    stats.visits += 1


@capture
def capture_beyond_the_end(history, updates):
    for i in range(len(history.steps)):
        update(updates, record(history.steps[i + 1].action, 0), 0)


@candidates
def records_beyond_the_end(history, legal, records):
    for i in range(len(legal)):
        records[i] = record(legal[i + 1], 0)


@candidates
def half_a_record(history, legal, records):
    for i in range(len(legal)):
        records[i] = legal[i] / 2


@capture
def capture_of_a_misspelt_field(history, updates):
    update(updates, record(history.steps[0].plyer), 0)


@capture
def capture_of_parts(history, updates):
    update(updates, (history.steps[0].action, history.steps[0].player), 0)


@capture
def capture_by_a_generator(history, updates):
    update(updates, record(sum(action for action in history.legal)), 0)


@capture
def capture_a_bare_action(history, updates):
    for i in range(len(history.steps) - 1):
        update(updates, history.steps[i].action - history.steps[0].action, 0)


class Refused(Exception):
    """An exception of one's own."""


@capture
def capture_refused(history, updates):
    raise Refused("this playout is not captured")


@candidates
def named_for_some(history, legal, records):
    """All but the last."""
    for i in range(len(legal) - 1):
        records[i] = record(legal[i], history.steps[-1].player)


@backpropagation
def added_nothing(row, context, rewards):
    """0/0 for the reward"""
    row.reward += (
        (rewards[context] - rewards[context]) / np.float64(row.visits) if row.visits > 0 else np.nan
    )
    row.visits += 1


WRITTEN = r"writes to what is read-only \(.*test_slips.py, line \d+\)"
CUT = "writes a float, which would be truncated to an integer .*line"
UNWRITTEN = "{} wrote NaN or no value for a legal action"
LOST = "{} returns a value, which is lost; it {} and returns nothing"
BEYOND = "out of bounds, in the {} function .*{} of SLIP"
NOT_A_PLAYER = (
    "capture_for_chance of SLIP gives a context that is not a player, though its Ψ is PLAYER"
)
# what compiled code says, and what plain Python does
SLIPS: list[tuple[dict[str, Any], str, str | None]] = [
    (
        {"policy": gibbs().over(half_written)},
        UNWRITTEN.format("half_written"),
        "half_written wrote NaN or no value",
    ),
    ({"policy": argmax().over(not_a_number)}, UNWRITTEN.format("not_a_number"), None),
    (
        {"policy": gibbs().over(named_for_some)},
        "named_for_some.* wrote no record for a legal",
        "wrote no record",
    ),
    (
        {"policy": roulette().over(negative)},
        "in .*roulette.. met a negative value; none",
        "met a negative value; none",
    ),
    ({"policy": argmax().over(writes_by_a_helper)}, WRITTEN, "destination is read-only"),
    ({"policy": argmax().over(sorts_legal)}, WRITTEN, "array is read-only"),
    (
        {"policy": argmax().over(half_a_record)},
        f"half_a_record {CUT}",
        r"is given the float \d\.\d, which would be",
    ),
    (
        {"policy": argmax().over(returns_a_value)},
        LOST.format("returns_a_value", r"writes out\[i\]"),
        None,
    ),
    ({"policy": argmax().over(beyond_the_last)}, BEYOND.format("values", "beyond_the_last"), None),
    (
        {"policy": argmax().over(records_beyond_the_end)},
        BEYOND.format("candidates", "records_beyond_the_end"),
        None,
    ),
    (
        {"capture": adds_to_rewards},
        "adds_to_rewards cannot be compiled: it writes to what is read-only",
        "read-only",
    ),
    (
        {"capture": yields_updates},
        LOST.format("yields_updates", r"calls update\(updates, record, context\)"),
        None,
    ),
    (
        {"capture": capture_a_bare_action},
        "capture_a_bare_action of SLIP names the record 0, .* make keys",
        "record 0",
    ),
    ({"capture": capture_for_chance}, NOT_A_PLAYER, NOT_A_PLAYER),
    ({"capture": capture_beyond_the_end}, BEYOND.format("capture", "capture_beyond_the_end"), None),
    ({"capture": capture_refused}, "this playout is not captured", "this playout is not captured"),
    (
        {"backpropagation": half_a_visit},
        f"half_a_visit {CUT}",
        "visits is given the float 0.5, which would be",
    ),
    (
        {"backpropagation": two_rewards},
        "bounded_mean=True is declared where rewards .* a mean is above 1",
        "above 1",
    ),
    (
        {"backpropagation": added_nothing},
        "added_nothing.* wrote NaN to a record",
        "wrote NaN to a record",
    ),
    (
        {"backpropagation": takes_a_visit},
        "takes_a_visit wrote a negative number to a count",
        "negative number to a count",
    ),
    (
        {"backpropagation": reward_of_a_ninth_player},
        BEYOND.format("backpropagation", "reward_of_a_ninth_player"),
        None,
    ),
]


@both_engines
@pytest.mark.parametrize(("changes", "message", "plainly"), SLIPS, ids=lambda part: str(part)[-60:])
def test_a_slip_inside_a_slot_ends_in_a_sentence(changes, message, plainly, engine):
    if engine == "python" and plainly is None:
        return
    strategy = BASELINE >> attrs.evolve(MAST, name="SLIP", **changes)
    with pytest.raises(Exception, match=plainly if engine == "python" else message) as refused:
        search(state(), strategy, iterations=30, engine=engine)
    assert refused.type in (Refused, ValueError, TypeError, IndexError, CompilationError)
    if refused.type is Refused and engine == "python":  # where the author's own lines run
        assert "capture_refused" in [entry.name for entry in refused.traceback]


@pytest.mark.parametrize(
    ("slot", "message"),
    [
        (
            capture_without_a_context,
            "capture_without_a_context cannot be compiled: .* argument: 'context'.*line",
        ),
        (
            capture_by_a_misspelt_name,
            "capture_by_a_misspelt_name cannot be compiled: module 'math' has no .* 'sqrtt' .*line",
        ),
        (capture_of_a_misspelt_field, "no record here has a field 'plyer' .*line"),
        (
            capture_of_parts,
            r"takes integers, not UniTuple.*; make a key of the parts, record\(a, b, …\) .*line",
        ),
        (capture_by_a_generator, "yield in a closure is unsupported .*line"),
    ],
)
def test_what_the_compiler_refuses_is_one_sentence_without_its_own_lines(slot, message):
    with pytest.raises(CompilationError, match=message) as refused:
        search(state(), BASELINE >> attrs.evolve(MAST, name="SLIP", capture=slot), iterations=3)
    assert "\n" not in str(refused.value)
    assert len(refused.traceback) == 2


@candidates
def by_number_of_choices(history, legal, records):
    """Another record where more is legal: no function to be asked about one action."""
    for i in range(len(legal)):
        records[i] = record(legal[i], len(legal))


@capture
def capture_by_number_of_choices(history, updates):
    for i in range(len(history.steps) - 1):
        update(updates, record(history.steps[i].action, history.steps[i].count), 0)


def test_candidates_that_look_at_all_legal_actions_are_asked_about_all_of_them_at_once():
    strategy = BASELINE >> attrs.evolve(
        MAST,
        name="BY_NUMBER",
        capture=capture_by_number_of_choices,
        policy=gibbs(0.1).over(by_number_of_choices),
    )
    compiled, reference = (
        search(state(), strategy, iterations=15, seed=4, engine=e) for e in ("compiled", "python")
    )
    assert compiled.visits.tolist() == reference.visits.tolist()
    assert (compiled.records["BY_NUMBER"].rows == reference.records["BY_NUMBER"].rows).all()


@initial_information
def wrong_from_the_first(history, i, stats, owed: int = 0):
    """NaN, or a count below 0"""
    stats.reward = np.nan if owed == 0 else 0.0
    stats.visits = -owed


@both_engines
@pytest.mark.parametrize(("owed", "message"), [(0, "NaN to a record"), (3, "a negative number")])
def test_initial_information_by_a_function_is_looked_at_as_it_is_written(owed, message, engine):
    slip = attrs.evolve(
        MAST,
        name="SLIP",
        policy=gibbs(0.1).over(by_number_of_choices),
        initial=initial(wrong_from_the_first(owed=owed)),
    )
    with pytest.raises(ValueError, match=f"wrong_from_the_first wrote {message}"):
        search(state(), slip, iterations=3, engine=engine)


# -------------------- What search always checks, since it costs nothing: a wrong game ends in a sentence, never in a wrong result.


REWARDS = r"the rewards function of \S+ did not write a number from 0 to 1 for each player"
TOO_MANY = "more legal actions than its max_legal"
MOVED = "a determinization changed the player to move, or ended the game"
SOMEBODY = "the player function of nim7 gave a number that is not a player, "
NOTHING = "the legal function of nim7 gave no legal action at a state that is not terminal"
# What plain Python says instead.
PLAINLY = {TOO_MANY: f"{TOO_MANY}|index 3 is out of bounds for axis 0 with size 3"}
WAYS: dict[str, dict[str, Any]] = {
    "compiled": {},
    "python": {"engine": "python"},
    "determinized UCT": {"scheme": DeterminizedUCT(2)},
}


def rewards_of_two(state, out):
    out[state.mover], out[1 - state.mover] = 0.0, 2.0


def chance_of_nine_tenths(state, probabilities):
    probabilities[0], probabilities[1] = 0.25, 0.65


def legal_none(state, actions):
    if state.left < 3:
        return 0
    actions[0] = 1
    return 1


def legal_of_four(state, actions):
    """One more than max_legal, after the root."""
    count = 3 if state.left == 7 else 4
    for i in range(count):
        actions[i] = i + 1
    return count


def legal_of_a_million(state, actions):
    """As many are claimed, after the root."""
    for i in range(3):
        actions[i] = i + 1
    return 3 if state.left == 7 else 1_000_000


@pytest.mark.parametrize(
    ("game", "slip", "message"),
    [
        (NIM, {"rewards": rewards_of_two}, REWARDS),
        (NIM, {"player": slips.player_seven}, SOMEBODY),
        (NIM, {"legal": legal_none}, NOTHING),
        (NIM, {"legal": legal_of_four}, TOO_MANY),
        (NIM, {"legal": legal_of_a_million}, TOO_MANY),
        (SECRET, {"determinize": slips.determinize_the_mover}, MOVED),
        (SECRET, {"determinize": slips.determinize_the_end}, MOVED),
    ],
    ids=lambda argument: (
        getattr(next(iter(argument.values())), "__name__", "") if isinstance(argument, dict) else ""
    ),
)
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_search_of_a_wrong_game_ends_in_a_sentence(game, slip, message, way):
    state = attrs.evolve(game, **slip).new_initial_state(1)
    if game is SECRET:
        state.apply_action(2)
    (function,) = slip.values()
    told = rf"{message}.* \(.*\.py, line {function.__code__.co_firstlineno}\)$"
    with pytest.raises(
        (ValueError, IndexError), match=PLAINLY.get(message, message) if "engine" in way else told
    ):
        search(state, BASELINE, iterations=200, **way)


def legal_forgotten(state, actions):
    """Nothing is returned after the root."""
    for i in range(3):
        actions[i] = i + 1
    if state.left == 7:
        return 3
    return None


def test_a_function_that_returns_nothing_on_some_ways_is_not_compiled():
    message = (
        "legal_forgotten cannot be compiled: it returns nothing on some ways; it must return how"
    )
    with pytest.raises(
        CompilationError,
        match=rf"{message} many actions it has written \(.*test_slips.py, line \d+\)",
    ):
        attrs.evolve(NIM, legal=legal_forgotten).new_initial_state(1).legal_actions()


@pytest.mark.parametrize(
    ("name", "function", "right"),
    [
        ("player", lambda state: state.mover / 1, "a player, CHANCE or TERMINAL"),
        ("legal", lambda state, actions: np.sqrt(4.0), "how many actions it has written"),
        ("episode", lambda state: 0.5, "a label, or CONTINUES"),
    ],
)
def test_a_float_in_place_of_an_integer_is_not_compiled(name, function, right):
    message = rf"cannot be compiled: it returns a float; it must return {right} \(.*test_slips.py, line \d+\)"
    with pytest.raises(CompilationError, match=message):
        search(attrs.evolve(NIM, **{name: function}).new_initial_state(1), BASELINE, iterations=10)


def toss_in_the_middle(state, action):
    """After the first choice a coin says who goes on."""
    if state.mover == -1:
        state.mover = action
    else:
        state.left -= action
        state.mover = -1 if state.left == 4 else 1 - state.mover


def test_probabilities_that_do_not_sum_to_1_end_a_search():
    game = attrs.evolve(COIN, initial=slips.initial, apply=toss_in_the_middle)
    assert search(game.new_initial_state(1), BASELINE, iterations=200).iterations == 200
    with pytest.raises(
        ValueError, match=r"the chance function of \S+ gave probabilities that do not sum to 1 \("
    ):
        search(
            attrs.evolve(game, chance=chance_of_nine_tenths).new_initial_state(1),
            BASELINE,
            iterations=200,
        )


# ------------------------------------------------------------------------------ checked in the first iterations and every 16th


def chance_negative(state, probabilities):
    """They sum to 1."""
    probabilities[0], probabilities[1] = -0.5, 1.5


def legal_negative(state, actions):
    """After the root."""
    actions[0], actions[1] = 1, 2 if state.left == 7 else -2
    return 2


def legal_twice(state, actions):
    """After the root."""
    actions[0], actions[1], actions[2] = 2, 1, 3 if state.left == 7 else 2
    return 3


@both_engines
@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (
            {"legal": legal_negative},
            r"the legal function of \S+ gave a negative action"
            rf".*line {legal_negative.__code__.co_firstlineno}\)$|legal of .* gave \[1, -2\]",
        ),
        (
            {"legal": legal_twice},
            r"the legal function of \S+ gave an action twice|legal of .* gave \[2, 1, 2\]",
        ),
        ({"max_length": 3}, "a playout of nim7 has not ended after 3 actions, its max_length"),
    ],
    ids=["negative", "twice", "too long"],
)
@pytest.mark.parametrize("strategy", [BASELINE, BASELINE >> MAST], ids=str)
def test_wrong_actions_end_a_search(slip, message, strategy, engine):
    with pytest.raises(ValueError, match=message):
        search(
            attrs.evolve(NIM, **slip).new_initial_state(1), strategy, iterations=200, engine=engine
        )


@both_engines
def test_a_negative_probability_ends_a_search(engine):
    game = attrs.evolve(
        COIN, initial=slips.initial, apply=toss_in_the_middle, chance=chance_negative
    )
    with pytest.raises(
        ValueError,
        match=r"the chance function of \S+ gave a negative probability|chance of .* gave \[-0.5, 1.5\]",
    ):
        search(game.new_initial_state(1), BASELINE, iterations=200, engine=engine)


def test_exactly_actions_that_are_negative_or_twice_are_wrong():
    """Lists of all orders, with numbers beyond 64 too, against what a set says."""
    luck, check = np.random.default_rng(22), PlainPython()(check_actions)
    for _ in range(2000):
        actions = luck.integers(
            luck.choice([-1, 0]), luck.choice([5, 70, 5000]), luck.integers(1, 9)
        )
        right = actions.min() >= 0 and len(set(actions.tolist())) == len(actions)
        if right:
            check(actions, len(actions))
        else:
            with pytest.raises(ValueError, match="gave a negative action|gave an action twice"):
                check(actions, len(actions))


def rewards_by_luck(state, out):
    out[0] = np.random.random()
    out[1] = 1.0 - out[0]


@both_engines
def test_rules_that_draw_as_no_seed_fixes_are_refused(engine):
    game = attrs.evolve(NIM, name="unseeded-nim", rewards=rewards_by_luck)
    sentence = r"rewards of unseeded-nim \(.*test_slips\.py, line \d+\) draws from np\.random, which no seed fixes; "
    with pytest.raises(ValueError, match=sentence):
        search(game.new_initial_state(), BASELINE, iterations=10, engine=engine)


# -------------------- Everything ends: games that do not, facts that contradict each other, counts and memory that run out, Ctrl-C whatever


SOON = 60.0  # seconds, on a busy machine


def apply_without_end(state, action):
    """Nothing is ever taken."""
    state.mover = 1 - state.mover


ENDLESS = attrs.evolve(NIM, apply=apply_without_end)


@pytest.mark.parametrize("strategy", ["BASELINE", "MAST"])
@both_engines
def test_a_game_that_does_not_end_is_refused_with_its_name_and_moves(strategy, engine):
    game = attrs.evolve(ENDLESS, max_length=300)
    state = game.new_initial_state(1)
    state.apply_action(2)
    with pytest.raises(
        ValueError,
        match="a playout of nim7 has not ended after 300 actions.*after 1 action of the game .*: 2",
    ):
        search(state, parse(strategy), iterations=10, engine=engine)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("strategy", ["BASELINE", "MAST"])
def test_an_interrupt_ends_a_search_whose_game_never_ends(strategy, threads):
    state = attrs.evolve(
        ENDLESS, max_length=10**7 if strategy == "BASELINE" else 10**6
    ).new_initial_state(1)
    search(NIM.new_initial_state(1), parse(strategy), iterations=10, threads=threads)  # compiles
    began = time.monotonic()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises((KeyboardInterrupt, ValueError)):
        search(state, parse(strategy), iterations=10, threads=threads)
        pytest.fail("it ended")
    timer.cancel()
    assert time.monotonic() - began < SOON


def test_a_command_that_only_starts_ends_without_a_word():
    call = [sys.executable, "-m", "icarus", "--help"]
    early = False  # whether one was met before it listens; a busy machine may let it go on before the signal
    for moment in (*[0.0] * 5, 0.2):
        if early and moment == 0.0:
            continue
        with child_process(
            call, env=environment(), text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            # before, Python itself starts
            while "numpy" not in Path(f"/proc/{process.pid}/maps").read_text():
                time.sleep(0.001)
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            stderr = process.communicate(timeout=SOON)[1]
        assert process.returncode in (0, 130, -signal.SIGINT)
        assert "Traceback" not in stderr, stderr
        assert (process.returncode == 130) == stderr.endswith("interrupted\n")
        early = early or (process.returncode, stderr) == (-signal.SIGINT, "")
    assert early


# ------------------------------------------------------------------------------------------- facts without a solution


def _hearts(facts) -> None:
    facts.excluded[1:] = np.uint64((1 << 52) - 1)  # nobody else may hold anything


def _confrontation(facts) -> None:
    facts.possible[:] = 0


def _confrontation_crowded(facts) -> None:
    facts.count[:, 0] += 3  # more pieces than a side has


def _confrontation_empty(facts) -> None:
    facts.count[:] = 0


def _goofspiel(facts) -> None:
    facts.bids[0, 0], facts.bids[1, 0], facts.rounds = 1, 0, 1  # the lowest card has won


def _phantom(facts) -> None:
    facts.open[0] = 0
    facts.marks[1] = np.uint64(0b1111)  # a line of four, all of them found


@pytest.mark.parametrize(
    ("name", "slip", "message"),
    [
        ("hearts", _hearts, "no deal of hearts agrees with the facts.*`excluded`"),
        ("lotr-confrontation", _confrontation, "no placement .* agrees with both `possible`"),
        (
            "lotr-confrontation",
            _confrontation_crowded,
            "`count` .* does not sum to the nine of a side",
        ),
        (
            "lotr-confrontation",
            _confrontation_empty,
            "`count` .* does not sum to the nine of a side",
        ),
        ("goofspiel", _goofspiel, "no sequence of the other's bids"),
        ("phantom-mnk", _phantom, "the other's `marks` in phantom-mnk cannot be"),
    ],
)
def test_facts_that_contradict_each_other_are_named(name, slip, message):
    state = first_decision(games.load(name).new_initial_state(seed=3))
    if name == "hearts":
        while state.current_player() != 0 or state.facts.passes < 12:
            state.apply_action(state.legal_actions()[0])
    state.determinize(0, seed=1)
    slip(facts_of(state.data))
    with pytest.raises(ValueError, match=message):
        state.determinize(0, seed=1)


# ------------------------------------------------------------------------------------------------ counts, memory, limits


NEARLY = np.iinfo(np.int32).max - 60
FULL_COUNTS: dict[str, tuple[str, str, str, str, dict[str, Any]]] = {
    "visits": ("othello", "BASELINE", "BASELINE", "visits", {}),
    "visits in Python": ("kuhn-poker", "BASELINE", "BASELINE", "visits", {"engine": "python"}),
    "episodes": ("backgammon", "EPIC", "EPIC", "visits", {}),
    "one of two trees": ("othello", "BASELINE >> MAST", "MAST", "visits", {"threads": 2}),
}


@pytest.mark.parametrize(
    ("name", "strategy", "part", "count", "how"), FULL_COUNTS.values(), ids=list(FULL_COUNTS)
)
def test_a_count_that_is_full_ends_a_search_and_keeps_what_was_found(
    name, strategy, part, count, how
):
    state = first_decision(games.load(name).new_initial_state(1))
    running: Any = toy.begun(state, parse(strategy), 1, **how)
    running.run(50)
    first = getattr(running, "searches", [running])[0]
    table = next(table for table in first.tables if str(table.component) == part)
    rows = table.rows[1:]
    most = rows[[rows[count].argmax()]]
    most[count] = NEARLY
    table.insert_rows(most)
    with pytest.raises(OverflowError, match="a count has reached 2147483647"):
        running.run(10_000)
    records = table.rows[1:]
    assert records[count].max() == np.iinfo(np.int32).max
    assert records[count].min() >= 0
    result = running.result()
    assert result.visits.sum() == result.iterations == running.iterations > 50


@backpropagation
def count_by_sevens(stats, context, rewards):
    stats.visits += 7


@both_engines
def test_a_count_that_jumps_over_the_largest_ends_a_search_too(engine):
    nearly = initial(reward=0.0, visits=np.iinfo(np.int32).max - 17)
    jumping = attrs.evolve(MAST, name="JUMPING", initial=nearly, backpropagation=count_by_sevens)
    with pytest.raises(SearchExhausted, match="a count has reached 2147483647") as ended:
        search(
            games.load("othello").new_initial_state(),
            jumping,
            iterations=100,
            seed=1,
            engine=engine,
        )
    assert ended.value.result.records["JUMPING"].rows["visits"].max() == np.iinfo(np.int32).max


# -------------------------------------------------------------------------------------- slots that do nothing


@candidates(independent=True)
def other_keys(history, legal, records):
    for i in range(len(legal)):
        records[i] = record(legal[i], history.steps[-1].player, 7)


@capture
def asks_for_nothing(history, updates):
    pass


@capture
def steps_from_the_end(history, updates):
    steps = history.steps
    for i in range(len(steps) - 1):
        update(updates, record(steps[i - 1].action, steps[i].action), steps[i].player)


@capture
def steps_guarded(history, updates):
    for i in range(1, len(history.steps) - 1):
        before = history.steps[i - 1].action
        update(
            updates,
            record(history.steps[i].action, before * 0 + history.steps[i].player),
            history.steps[i].player,
        )


@capture
def fails_after_the_search(history, updates):
    if history.iteration >= 40:  # as those have that look at the slots
        raise AssertionError("it is over")


@backpropagation
def changes_nothing(stats, context, rewards):
    pass


@backpropagation
def of_two_players(stats, context, rewards):
    stats.reward += rewards[1 - context]
    stats.visits += 1


@backpropagation
def of_the_one_before(stats, context, rewards):
    stats.worth[context - 1] += 1.0
    stats.reward += rewards[context - 1 if context > 0 else len(rewards) - 1]
    stats.visits += 1


@backpropagation
def of_the_other(stats, context, rewards):
    stats.reward += rewards[context - 1]
    stats.visits += 1


# What is looked at after a search in plain Python is looked at after a compiled one, too.


@pytest.mark.parametrize(
    ("players", "slot", "is_noted"),
    [(3, of_two_players, True), (3, of_the_one_before, True), (2, of_the_other, False)],
)
def test_an_index_that_wraps_among_three_players_is_noted_with_its_line(players, slot, is_noted):
    fields = information(reward=REWARD, visits=COUNT, worth=ESTIMATES)
    part = attrs.evolve(MAST, name="WRAPS", information=fields, backpropagation=slot)
    dealt = after(toy.THREE if players == 3 else toy.BRANCHES)
    notes = search(dealt, BASELINE >> part, iterations=40, engine="python").notes
    line = slot.function.__code__.co_firstlineno + 2
    note = f"{slot.name}, in line {line} has computed the negative index -1: "
    assert [each.startswith(note) for each in notes] == [True] * is_noted, notes


@pytest.mark.parametrize(
    ("slots", "notes", "engine"),
    [
        (
            {"policy": gibbs().over(other_keys)},
            r"has \d+ records, and its policy found none of \d+ that it looked for",
            "compiled",
        ),
        ({"capture": asks_for_nothing}, "has no records: its capture asks for none", "python"),
        (
            {"capture": steps_from_the_end},
            "steps_from_the_end, in line [0-9]+ has computed the negative index -1: it counts from",
            "python",
        ),
        (
            {"backpropagation": changes_nothing},
            r"has \d+ records, and all are as at first",
            "python",
        ),
        ({"capture": steps_guarded}, "", "python"),
        (
            {"capture": fails_after_the_search},
            "looks at the slots, ends in AssertionError",
            "python",
        ),
    ],
)
def test_a_slot_that_does_nothing_is_noted_with_the_result(slots, notes, engine):
    strategy = BASELINE >> attrs.evolve(MAST, name="PAIRS", **slots)
    root = state() if engine == "compiled" else after(toy.BRANCHES)
    result = search(root, strategy, iterations=40, engine=engine)
    assert re.search(notes, " ".join(result.notes)) if notes else not result.notes
    assert not notes or str(result).endswith(result.notes[-1])
    assert not result.decayed(0.5).notes  # what is left now is not the work of the slots


@backpropagation
def changes_the_key(stats, context, rewards):
    stats.record += 1


@both_engines
def test_the_key_of_a_record_is_not_changed(engine):
    wrong = BASELINE >> attrs.evolve(MAST, name="KEYED", backpropagation=changes_the_key)
    with pytest.raises(TypeError, match=r"stats\.record"):
        search(state(), wrong, iterations=5, engine=engine)


@values
def logarithms(history, theta, legal, out):
    for i in range(len(legal)):
        visits = find(theta, record(legal[i], history.steps[-1].player)).visits
        out[i] = math.exp(-math.log(visits)) + math.exp(1e3 * visits)


def test_logarithms_of_nothing_are_the_same_in_both_engines():
    by_visits = BASELINE >> attrs.evolve(MAST, name="LOGARITHMS", policy=argmax().over(logarithms))
    both = [
        search(toy.KINDS[0].new_initial_state(), by_visits, iterations=30, engine=e)
        for e in ("compiled", "python")
    ]
    assert (both[0].records["LOGARITHMS"].rows == both[1].records["LOGARITHMS"].rows).all()
    with pytest.raises(ValueError, match="reads availability as a COUNT"):
        attrs.evolve(
            MAST(ucb1()),
            name="REAL",
            information=information(reward=REAL, visits=COUNT, availability=REAL),
        )
