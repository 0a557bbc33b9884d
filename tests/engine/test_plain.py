"""The engine in plain Python: equal to the compiled one to the last number; and games and slots that no compiler takes."""

import math
import random
import re
import warnings
from collections.abc import Callable

import attrs
import numpy as np
import pytest

from examples.sequential_halving import HALVING
from icarus import (
    Agent,
    PythonGame,
    Result,
    SearchInterrupted,
    games,
    in_python,
    play,
    search,
    show_playout,
)
from icarus.algebra import Enhancement, argmax, values
from icarus.compiler import PlainPython, next_word, plain_next_word, seeded
from icarus.engine.inspect import ONLY, inspect_playout
from icarus.engine.result import leads_to
from icarus.engine.scheme import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
)
from icarus.kernel import CHANCE, TERMINAL, below, lowest_bit, popcount, record, shuffle, uniform
from icarus.specs import BASELINE, EPIC, LGRF, MAST, NAST2, RAVE, parse
from tests.engine.test_twin import composition, starts
from tests.marks import by_players, slow_after
from tests.toy import ALL_TOYS, BRANCHES, CLASHES, WHISPERS

WHOLE = [
    "knockout-whist(players=2)",
    "lotr-confrontation",
    "checkers",
    "goofspiel",
    "othello",
    "backgammon",
    "hearts",
    "dou-di-zhu",
]
WHOLE += ["phantom-mnk", "liars-dice", "kuhn-poker"]
SCHEMES = [
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingUCT,
    DeterminizedUCT(3),
    CheatingEnsembleUCT(2),
]


def same(first: Result, second: Result) -> None:
    """Two results are the same but for the clock."""
    assert first.action == second.action
    assert first.visits.tolist() == second.visits.tolist()
    assert first.values.tolist() == pytest.approx(second.values.tolist(), abs=0, nan_ok=True)
    assert (first.iterations, first.depth) == (second.iterations, second.depth)
    assert dict(first.phase_steps) == dict(second.phase_steps)
    assert list(first.records) == list(second.records)
    for name, table in first.records.items():
        rows, second_rows = table.rows, second.records[name].rows
        if name == "EXP3":  # quotients of exponentials: the last bit is the compiler's
            assert (rows["record"] == second_rows["record"]).all()
            assert (rows["visits"] == second_rows["visits"]).all()
            assert rows["reward"] == pytest.approx(second_rows["reward"], rel=1e-12)
        else:
            assert (rows == second_rows).all(), name
    for part, second_part in zip(first.parts, second.parts, strict=True):
        same(part, second_part)


def both(state, strategy: Enhancement, iterations: int, seed: int, **how) -> None:
    compiled, plain = (
        search(state, strategy, iterations=iterations, seed=seed, engine=engine, **how)
        for engine in ("compiled", "python")
    )
    same(compiled, plain)


@by_players
@pytest.mark.parametrize("number", slow_after(1, range(12)))
def test_both_engines_find_the_same_in_every_toy_game(number, players):
    strategy, _ = composition(random.Random(number), 3)
    for game in ALL_TOYS:
        if game.players in players:
            both(starts(game, number), strategy, 25, seed=number)


@pytest.mark.parametrize("name", slow_after(5, WHOLE))
@pytest.mark.parametrize("number", slow_after(1, range(2)))
def test_both_engines_find_the_same_in_whole_games(name, number):
    strategy, _ = composition(random.Random(500 + number), 2)
    both(starts(games.load(name), number), strategy, 3, seed=number)


@pytest.mark.parametrize(
    "scheme", [*SCHEMES, *slow_after(1, [scheme.with_exp3() for scheme in SCHEMES])], ids=str
)
def test_both_engines_find_the_same_under_every_scheme(scheme):
    for number, game in enumerate((WHISPERS, CLASHES, games.load("goofspiel"))):
        strategy, _ = composition(random.Random(number), 2)
        both(starts(game, number), strategy, 12, seed=number, scheme=scheme)


# ------------------------------------------------------------------------------------------------------- plain functions


def test_plain_bits_and_random_numbers_are_those_of_compiled_code():
    rng, second_rng = seeded(7), seeded(7)
    assert [int(next_word(rng)) for _ in range(200)] == [
        int(plain_next_word(second_rng)) for _ in range(200)
    ]
    interpret = PlainPython()
    assert [interpret(below)(rng, 10**9) for _ in range(50)] == [
        below(second_rng, 10**9) for _ in range(50)
    ]
    assert [interpret(uniform)(rng) for _ in range(50)] == [uniform(second_rng) for _ in range(50)]
    first, second = np.arange(30), np.arange(30)
    interpret(shuffle)(rng, first, 30)
    shuffle(second_rng, second, 30)
    assert first.tolist() == second.tolist()
    assert [interpret(popcount)(n) for n in (0, 5, -1)] == [0, 2, 64]
    assert [interpret(lowest_bit)(n) for n in (0, 6, -(1 << 63))] == [64, 1, 63]


def test_a_helper_in_a_closure_or_a_module_is_plain_as_well():
    from icarus import kernel

    def drawn(rng: np.ndarray) -> int:
        return kernel.below(rng, 100) + below(rng, 100)

    plain = PlainPython()(drawn)
    assert plain.__code__ is drawn.__code__
    assert plain(seeded(1)) == drawn(seeded(1))
    assert plain.__closure__[0].cell_contents.below is not kernel.below


# -------------------------------------------------------------------------------------------- mistakes that make no sense


def test_an_engine_that_is_none_and_threads_in_python_are_refused():
    state = starts(games.load("othello"), 1)
    with pytest.raises(ValueError, match="it must be 'compiled' or 'python'"):
        search(state, BASELINE, iterations=3, engine="fast")
    with pytest.raises(ValueError, match="the engine 'python' searches in one"):
        search(state, BASELINE, iterations=3, engine="python", threads=2)
    with pytest.raises(
        ValueError, match=r"heap\(sticks=10\) is a PythonGame, whose functions run in one thread"
    ):
        search(nim().new_initial_state(), BASELINE, iterations=3, threads=2)


# ------------------------------------------------------------------------------------------------ games of Python objects


class Heap:
    """Nim with one heap, as a Python object."""

    def __init__(self, sticks: int) -> None:
        self.sticks, self.moves = sticks, []

    def take(self, count: int) -> None:
        self.sticks -= count
        self.moves.append(count)


def nim(**changes: Callable) -> PythonGame:
    """Whoever takes the last stick wins; one to three at a time."""
    return PythonGame(
        name="heap",
        players=2,
        initial=lambda rng, sticks: Heap(sticks),
        player=lambda heap: len(heap.moves) % 2 if heap.sticks else TERMINAL,
        legal=lambda heap: range(1, min(3, heap.sticks) + 1),
        apply=lambda heap, action: heap.take(action),
        rewards=lambda heap: (1, 0) if len(heap.moves) % 2 else (0, 1),
        parameters={"sticks": 10},
        **changes,
    )


@pytest.mark.parametrize("strategy", [BASELINE, RAVE >> (MAST + NAST2) / 2, EPIC >> LGRF], ids=str)
def test_a_game_of_python_objects_is_searched_by_any_composition(strategy):
    state = nim().new_initial_state()
    result = search(state, strategy, iterations=300, seed=1)
    assert result.action == 2  # leaves 8, a multiple of 4
    assert state.data.moves == [], "the searched state was changed"
    assert result.records["BASELINE"][0, (2,)]["visits"] == result.visits[1]


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_an_overflow_of_a_game_s_function_comes_as_itself(engine):
    """A count that is full ends a search with its result; this one does not."""
    rewards = iter([(1, 0)] * 5)

    def run_over(heap: Heap):
        return next(rewards, None) or (math.exp(1000), 0)

    game = attrs.evolve(nim(), rewards=run_over)
    with pytest.raises(OverflowError, match="math range error"):
        search(game.new_initial_state(), BASELINE, iterations=90, engine=engine)


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_reply_has_room_for_actions_below_2_to_the_60th(engine):
    first = 1 << 60
    game = attrs.evolve(
        nim(),
        legal=lambda heap: [first + i for i in range(1, min(3, heap.sticks) + 1)],
        apply=lambda heap, action: heap.take(action - first),
    )
    with pytest.raises(ValueError, match=r"a reply is an action of 2\*\*60 or more"):
        search(game.new_initial_state(), BASELINE >> LGRF, iterations=9, engine=engine)


def test_states_that_hold_arrays_are_compared_with_them():
    game = attrs.evolve(nim(), initial=lambda rng, sticks: {"heaps": np.array([sticks, 3])})
    first, again = (game.new_initial_state() for _ in range(2))
    other = attrs.evolve(game, parameters={"sticks": 9}).new_initial_state()
    assert leads_to(first, again)
    assert not leads_to(first, other)


def test_a_simulation_in_one_call_is_drawn_as_step_by_step():
    game = attrs.evolve(  # more choices in a playout than numbers are drawn for at once
        nim(),
        parameters={"sticks": 200},
        legal=lambda heap: list(range(1, min(3, heap.sticks) + 1)),
    )
    both(game.new_initial_state(), BASELINE, 12, seed=4)
    hidden = hidden_coin().new_initial_state()
    hidden.apply_action(1)
    both(hidden, BASELINE, 40, seed=4)


@pytest.mark.parametrize("answer", [(1.0, True, 0.0), (1.0,), (0.5, 1.5), (math.nan, 0.5), "ab"])
def test_wrong_rewards_are_refused_after_right_ones(answer):
    answers = iter([(1.0, 0.0), [0, 1], answer])
    game = attrs.evolve(nim(), rewards=lambda heap: next(answers))
    with pytest.raises(ValueError, match=r"rewards of heap.* returned .*; it must be 2 numbers"):
        search(game.new_initial_state(), BASELINE, iterations=9)


def test_a_game_of_more_players_than_there_may_be_is_refused():
    with pytest.raises(
        ValueError, match="players of a game is 9; it must be an integer from 1 to 8"
    ):
        attrs.evolve(nim(), players=9)


def hidden_coin() -> PythonGame:
    """Nature tosses a coin that only player 0 sees; he bets or passes, player 1 guesses."""

    def determinize(state, observer, beliefs, rng):
        return (
            {**state, "coin": below(rng, 2)} if observer == 1 and "coin" in state else dict(state)
        )

    def observe(state, action):
        return [action, 7 if state["turn"] == 0 else action]

    def apply(state, action):
        state[("coin", "bet", "guess")[state["turn"]]] = action
        state["turn"] += 1

    return PythonGame(
        name="coin",
        players=2,
        initial=lambda rng: {"turn": 0},
        player=lambda state: (CHANCE, 0, 1, TERMINAL)[state["turn"]],
        legal=lambda state: [0, 1],
        apply=apply,
        rewards=lambda state: (
            float(state["coin"] != state["guess"]),
            float(state["coin"] == state["guess"]),
        ),
        copy=dict,
        observe=observe,
        determinize=determinize,
        chance=lambda state: [0.25, 0.75],
    )


@pytest.mark.parametrize(
    "answer",
    [[True, 2], {1, 2}, [1.0, 2.0], [1.0, 3.0], [[1], [2]], [1, 2**63], [2, 2], "12", None],
)
def test_a_wrong_list_is_refused_after_right_ones_and_asked_for_once(answer):
    asked = []

    def legal(heap: Heap):
        if heap.sticks > 4:
            return [1, 2]
        asked.append(heap.sticks)
        return answer

    game = attrs.evolve(nim(), legal=legal)
    with pytest.raises(
        ValueError, match="legal of heap.* returned .*; it must be a list of different integers"
    ):
        search(game.new_initial_state(), BASELINE, iterations=9)
    assert len(asked) == 1


def test_a_game_with_more_legal_actions_than_there_is_room_for_is_searched():
    game = attrs.evolve(
        nim(), legal=lambda heap: list(range(1, heap.sticks + 1)), parameters={"sticks": 2000}
    )
    result = search(game.new_initial_state(), BASELINE, iterations=3, seed=1)
    assert result.iterations == 3
    assert len(result.visits) == 2000


def test_hidden_information_and_chance_of_python_objects_are_searched():
    state = hidden_coin().new_initial_state()
    assert state.chance_outcomes() == [(0, 0.25), (1, 0.75)]
    state.apply_action(1)
    assert state.moves(1) == (7,)
    state.apply_action(0)
    result = search(state, BASELINE, iterations=800, seed=2)
    # determinized uniformly, whatever the coin shows
    assert result.values == pytest.approx([0.5, 0.5], abs=0.1)
    cheating = search(state, BASELINE, iterations=100, seed=2, scheme=CheatingUCT)
    assert cheating.action == 1
    assert cheating.value == 1.0
    assert {state.determinize(1, seed).data["coin"] for seed in range(20)} == {0, 1}


UNCOMPILED = """
import warnings
warnings.simplefilter("error")
from icarus import in_python, games, search, RAVE, MAST
state = in_python(games.load("lotr-confrontation")).new_initial_state(seed=1)
print(search(state, RAVE >> MAST, iterations=5, seed=5, engine="python").visits.tolist())
"""


def test_nothing_is_compiled_for_a_search_in_python(python, capsys):
    plain = python(UNCOMPILED, NUMBA_DISABLE_JIT="1")
    assert plain.returncode == 0, plain.stderr
    with warnings.catch_warnings():
        exec(UNCOMPILED.replace(', engine="python"', ""), {})
    assert plain.stdout == capsys.readouterr().out
    assert plain.stdout.count("[") == 1


def test_a_command_that_would_compile_without_a_compiler_says_so(python):
    refused = python(None, "-m", "icarus", "search", "kuhn-poker", NUMBA_DISABLE_JIT="1")
    assert refused.returncode == 2
    assert refused.stderr.startswith("icarus: NUMBA_DISABLE_JIT is set; unset it, or")


IN_THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from icarus import BASELINE, MAST, games, search, show_playout
sys.setswitchinterval(1e-5)
state = games.load("kuhn-poker").new_initial_state(seed=1)
def visits(_):
    return search(state, MAST, iterations=5, seed=1, engine="python").visits.tolist()
def shown(seed):
    return str(show_playout(state, BASELINE >> MAST, seed=seed))
with ThreadPoolExecutor(4) as pool:
    found, pages = [*pool.map(visits, range(4))], [*pool.map(shown, range(12))]
assert found == [found[0]] * 4, found
assert pages == [*map(shown, range(12))]
"""


def test_threads_share_what_is_made_plain_but_not_what_they_look_at(python):
    done = python(IN_THREADS)
    assert done.returncode == 0, done.stderr


def test_ctrl_c_in_a_python_search_loses_nothing():
    counted = iter(range(10**9))

    def interrupted(heap: Heap) -> int:
        if next(counted) == 400:
            raise KeyboardInterrupt
        return len(heap.moves) % 2 if heap.sticks else TERMINAL

    with pytest.raises(SearchInterrupted) as caught:
        search(
            attrs.evolve(nim(), player=interrupted).new_initial_state(), BASELINE, iterations=10**6
        )
    result = caught.value.result
    assert result.iterations > 10
    assert result.visits.sum() == result.iterations
    assert result.records["BASELINE"][()]["visits"] == result.iterations


# ------------------------------------------------------------------------- a playout step by step, as it was searched


REWARDS = {  # of toy-branches, by all that can be played
    ("0", "0"): (1, 0),
    ("0", "1", "1"): (0, 1),
    ("0", "1", "2"): (1, 0),
    ("1", "0"): (0.5, 0.5),
    ("1", "2", "0"): (0, 1),
    ("1", "2", "1"): (1, 0),
    ("1", "2", "3"): (0.5, 0.5),
    ("2",): (0, 1),
}
PLAYERS = {"0": (0, 1, 0), "1": (0, 0, 1), "2": (0,)}  # by the first action


@pytest.mark.parametrize("seed", range(8))
def test_the_first_playout_of_a_toy_is_simulated_and_captured_as_by_hand(seed):
    playout = inspect_playout(BRANCHES.new_initial_state(), BASELINE >> MAST, seed)
    path = tuple(choice.action for choice in playout.choices)
    players = PLAYERS[path[0]][: len(path)]
    assert playout.iteration == 1
    assert playout.rewards == REWARDS[path]
    assert [(choice.player, choice.phase) for choice in playout.choices] == [
        (player, "simulation") for player in players
    ]
    assert {choice.by for choice in playout.choices} == {"MAST"}
    # unvisited: MAST-4
    assert all(value == 1 for choice in playout.choices for value in choice.values.values())
    (root,) = [update for update in playout.updates["BASELINE"] if update.context == 0]
    assert root.record == "⟨⟩"
    assert root.before is None
    assert root.after["visits"] == 1
    assert root.after["reward"] == list(REWARDS[path])
    counts: dict[str, int] = {}
    for action, player, learned in zip(path, players, playout.updates["MAST"], strict=True):
        record = f"({action}, player {player})"
        n = counts[record] = counts.get(record, 0) + 1
        assert (learned.record, learned.context) == (record, player)
        assert learned.after == {"reward": n * REWARDS[path][player], "visits": n}
        assert learned.before == (
            None if n == 1 else {"reward": (n - 1) * REWARDS[path][player], "visits": n - 1}
        )


@pytest.mark.parametrize(
    ("game", "strategy", "scheme"),
    [
        ("othello", "RAVE >> (MAST + NAST2)/2", None),
        ("knockout-whist(players=2)", "EPIC >> LGRF", None),
        ("goofspiel", "MAST", SO_ISMCTS_POM),
        ("othello", "HALVING", None),  # which reads the budget
    ],
)
def test_after_it_the_records_are_those_of_a_search_one_iteration_longer(game, strategy, scheme):
    state = games.load(game).new_initial_state(seed=3)
    options = {} if scheme is None else {"scheme": scheme}
    searched = parse(strategy, HALVING=HALVING)
    playout = inspect_playout(state, searched, 5, 40, iterations=41, **options)
    result = search(state, searched, iterations=41, seed=5, **options)
    assert playout.iteration == 41
    assert list(playout.updates) == list(result.records)
    for name, updates in playout.updates.items():
        for key, learned in {each.key: each for each in updates}.items():
            row = result.records[name][key]
            assert learned.after == {field: row[field].tolist() for field in learned.after}
    assert not any("key" in update.record for update in playout.updates["BASELINE"])


def test_each_alternative_of_a_mixture_decides_with_its_weight():
    playout = inspect_playout(
        games.load("othello").new_initial_state(),
        parse("BASELINE >> (0.25*MAST + 0.75*LGRF)"),
        2,
        20,
    )
    simulated = [
        choice for choice in playout.choices if choice.phase == "simulation" and choice.by != ONLY
    ]
    assert {(choice.by, choice.weight) for choice in simulated} == {("MAST", 0.25), ("LGRF", 0.75)}
    assert all(len(choice.values) == choice.legal for choice in simulated)
    in_tree = {choice.by for choice in playout.choices if choice.phase != "simulation"}
    assert in_tree == {"BASELINE"}


@values
def forbid_the_first(history, theta, legal, out):
    for i in range(len(legal)):
        out[i] = -math.inf if i == 0 else 0.0


NEVER_FIRST = attrs.evolve(MAST, name="NEVER_FIRST", policy=argmax().over(forbid_the_first))


@pytest.mark.parametrize("mixture", ["BASELINE ^ 0.5*NEVER_FIRST", "NEVER_FIRST ^ 0.5*BASELINE"])
def test_a_weight_on_infinity_is_infinity_beside_minus_infinity_too(mixture):
    strategy = parse(f"BASELINE >> (0.5*{mixture})", NEVER_FIRST=NEVER_FIRST)
    state = games.load("othello").new_initial_state()
    playout = inspect_playout(state, strategy, 1)
    simulated = [each for each in playout.choices[1:] if each.by != ONLY]
    assert {value for each in simulated for value in each.values.values()} == {math.inf}
    both(state, strategy, 5, seed=1)


def test_a_game_in_plain_python_shows_the_same_playout():
    game, strategy = games.load("kuhn-poker"), parse("MAST")
    shown, plain = (
        show_playout(variant.new_initial_state(seed=2), strategy, 1, 15)
        for variant in (game, in_python(game))
    )
    assert str(shown) == str(plain)
    assert "MAST captured" in str(shown)
    assert "decided by" in str(shown)
    assert shown._repr_html_().startswith("<iframe ")


def test_what_a_notebook_shows_of_states_games_enhancements_and_logs():
    game, shown = games.load("phantom-mnk"), MAST >> BASELINE
    state = game.new_initial_state(seed=2)
    frame = state._repr_html_()
    assert frame.startswith("<svg ")
    assert 'data-part="a1' in frame
    assert game._repr_html_().startswith("<pre>phantom-mnk")
    assert frame in game._repr_html_()
    assert shown._repr_html_().startswith("<pre>Composition MAST &gt;&gt; BASELINE\n")
    log = play(game, [Agent(MAST, iterations=2), Agent(RAVE, iterations=2)], seed=1)
    lines = re.sub("<.*?>", "", log._repr_html_()).split("\n")
    assert [line.split(maxsplit=1)[1] for line in lines[1:]] == [
        "agent",
        "MAST (2 iterations)",
        "RAVE (2 iterations)",
    ]


def test_what_cannot_be_inspected_is_refused_in_a_sentence():
    state = games.load("kuhn-poker").new_initial_state(seed=2)
    with pytest.raises(ValueError, match="which grows several trees"):
        inspect_playout(state, BASELINE, scheme=DeterminizedUCT(4))
    with pytest.raises(ValueError, match="after is -1"):
        inspect_playout(state, BASELINE, after=-1)
    with pytest.raises(ValueError, match="iterations is 4; it must be an integer of at least 5"):
        inspect_playout(state, BASELINE, after=4, iterations=4)


BREAKPOINT = """
import icarus
from icarus import *
from icarus.kernel import *

@capture
def stop(history, updates):
    breakpoint()
    update(updates, record(history.steps[0].action, 0), 0)

mine = MAST.__class__("MINE", MAST.records, MAST.information, MAST.initial, MAST.policy, MAST.contexts, stop, MAST.backpropagation)
state = games.load("othello").new_initial_state()
search(state, mine, iterations=2, engine="python")
print("searched")
"""


def test_the_debugger_stops_in_a_slot_and_knows_its_names(python):
    typed = "p len(history.steps) > 3\np record(1, 2)\ns\nw\nc\nc\n"
    done = python(BREAKPOINT, stdin=typed)
    assert "True" in done.stdout, done.stdout + done.stderr
    assert str(record(1, 2)) in done.stdout, done.stdout + done.stderr
    assert "searched" in done.stdout
