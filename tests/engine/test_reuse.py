"""Records that live on from search to search: against the twin, counted by hand, and refused where they do not fit."""

import importlib
import random
import sys
from collections import deque
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import SO_ISMCTS_POM, SPECIFICATIONS, Game, PythonGame, Scheme, State, games, search
from icarus.algebra import Enhancement, Kind, initial
from icarus.engine import result
from icarus.engine.inspect import search_tree
from icarus.engine.scheme import (
    MO_ISMCTS,
    ROOT_PLAYER,
    SO_ISMCTS,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
)
from icarus.engine.tables import RecordTable
from icarus.kernel import CHANCE, TERMINAL, below, mix
from icarus.specs import (
    BASELINE,
    BOUNDED_GRAVE,
    DISCOUNTED_HISTORY,
    DISCOUNTED_UCB,
    GRAVE,
    LGRF,
    MAST,
    MAST_BATCH_DECAY,
    MCTS_SOLVER,
    PROGRESSIVE_HISTORY,
    RAVE,
)
from icarus.specs.at_once import EXP3
from tests import naive, toy
from tests.engine.test_twin import (
    compared as is_compared,
    composition,
    keyed,
    named_information,
    same_information,
)
from tests.games.scenes import after_action
from tests.marks import slow_after

OTHELLO = games.load("othello")
TOYS = [toy.DICE, toy.SECRETS, toy.THREE, toy.CHAIN, toy.THICKETS[0]]


def walked(state: State, rng: random.Random, actions: int = 1) -> State | None:
    """The state after some random actions and those of chance; None where the game has ended."""
    state = state.clone()
    while not state.is_terminal() and (actions > 0 or state.is_chance_node()):
        actions -= not state.is_chance_node()
        state.apply_action(rng.choice(state.legal_actions()))
    return None if state.is_terminal() else state


def decided(game: Game, seed: int) -> State:
    """An initial state in which a player is about to act."""
    return walked(game.new_initial_state(seed), random.Random(seed), 0) or pytest.skip(
        "the game is over at once"
    )


def held_in(table) -> dict[int, Any]:
    return {int(row["record"]): named_information(row) for row in table.rows}


class Compared:
    """The records of an engine and of the twin, component by component; those that the engine has elsewhere than below the root apart."""

    def __init__(
        self, engine, parts: dict, inherited: dict[naive.Twin, naive.Theta] | None
    ) -> None:
        self.engine, self.parts = engine, parts
        self.elsewhere: dict[naive.Twin, dict[int, Any]] = {}
        for leaf, theta in (inherited or {}).items():
            held = held_in(self.table(leaf))
            below = keyed(theta, self.table(leaf))
            self.elsewhere[leaf] = {
                key: information for key, information in held.items() if key not in below
            }

    def table(self, leaf: naive.Twin):
        return self.engine.records()[
            str(self.parts.get(leaf, EXP3 if leaf == naive.EXP3 else BASELINE))
        ]

    def same(self, outcome: naive.Outcome) -> None:
        """The engine's records are the twin's, and those elsewhere are as they were."""
        for leaf, theta in outcome.records.items():
            expected = keyed(theta, self.table(leaf))
            held = held_in(self.table(leaf))
            elsewhere = self.elsewhere.get(leaf, {})
            assert {key: held.pop(key) for key in elsewhere} == elsewhere
            assert same_information(leaf, held, expected), leaf


def go_on(
    state: State, strategy: Enhancement, twin, scheme: Scheme, decay: float, seed: int
) -> None:
    """Search along a random game, each search with the records of the one before, engine and twin side by side.

    Where other than two play it is the engine in plain Python: `test_plain` finds the compiled one equal, and nothing is compiled anew.
    """
    engine = "compiled" if state.game.players == 2 else "python"
    rng, before, inherited = random.Random(seed), None, None
    parts = dict(zip(naive.leaves(twin), strategy.components, strict=True))
    for number in range(4):
        records = None if before is None else before.decayed(decay)
        running = toy.begun(
            state, strategy, (seed, number), scheme=scheme, engine=engine, records=records
        )
        compared = Compared(running, parts, inherited and inherited[0])
        for iteration, outcome in enumerate(
            naive.stepwise(state, twin, 25, (seed, number), scheme, inherited), start=1
        ):
            if is_compared(iteration, 25):
                running.run(iteration)
                compared.same(outcome)
        before = running.result()
        assert dict(zip(before.actions, before.visits.tolist(), strict=True)) == outcome.selections
        after = walked(state, rng, rng.choice([0, 1, 1, 2, 3]))
        while (
            after is not None
            and scheme.observer == ROOT_PLAYER
            and after.current_player() != state.current_player()
        ):
            after = walked(after, rng)  # to where the eyes are those of the same player
        if after is None:
            return
        inherited = [naive.living(outcome, state, after, scheme, decay)]
        state = after


CASES = [(0, 1.0), (1, 0.5), (2, 0.5), (3, 1.0)]  # compositions and decays


@pytest.mark.parametrize("case", slow_after(2, CASES), ids=str)
def test_engine_and_twin_hold_the_same_records_in_every_toy_game(case):
    number, decay = case
    strategy, twin = composition(random.Random(number), 2)
    for game in TOYS:
        go_on(decided(game, number), strategy, twin, MO_ISMCTS, decay, number)


@pytest.mark.parametrize(
    "scheme", slow_after(2, [MO_ISMCTS.with_exp3(), SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT]), ids=str
)
def test_engine_and_twin_hold_the_same_records_under_every_scheme(scheme):
    for number in range(2):
        strategy, twin = composition(random.Random(number), 2)
        for game in [toy.SECRETS, toy.CLASHES, toy.THREE, toy.THICKETS[0]][number::2]:
            go_on(decided(game, number), strategy, twin, scheme, 1.0, number)


@pytest.mark.parametrize(
    ("name", "compositions"),
    [
        ("othello", 1),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in [("knockout-whist(players=3)", 1), ("othello", 4), ("backgammon", 2)]
        ),
    ],
)
def test_engine_and_twin_hold_the_same_records_in_whole_games(name, compositions):
    for number in range(compositions):  # the twin takes its time in Backgammon
        strategy, twin = composition(random.Random(90 + number), 2)
        go_on(decided(games.load(name), number), strategy, twin, MO_ISMCTS, 1.0, number)


def test_proven_bounds_are_those_of_the_moves_that_were_played():
    state = toy.EPISODES.new_initial_state()
    first = search(state, MCTS_SOLVER, iterations=60, seed=1)
    for action in first.actions:
        after = after_action(state, action)
        if after.is_terminal() or after.is_chance_node():
            continue
        second = toy.begun(after, MCTS_SOLVER, records=first).result().records["MCTS_SOLVER"]
        player, mover = state.current_player(), after.current_player()
        for reply in after.legal_actions():
            before = first.records["MCTS_SOLVER"].get((mover, (action, reply), player))
            now = second.get((mover, (reply,), player))
            assert (now is None) == (before is None)
            assert now is None or now["lower"] == before["lower"]


# ------------------------------------------------------------------------------------------------------------ by the hand


def test_records_below_the_moves_played_live_on_and_no_others_of_histories():
    state = OTHELLO.new_initial_state()
    first = search(state, RAVE >> MAST, iterations=300, seed=1)
    after = after_action(state, first.action)
    reply = after.legal_actions()[0]
    after.apply_action(reply)
    second = toy.begun(after, RAVE >> MAST, records=first).result()
    player, opponent = state.current_player(), 1 - state.current_player()
    for name in ("BASELINE", "AMAF"):
        before, now = first.records[name], second.records[name]
        for action in after.legal_actions():
            row = now.get((player, (action,)))
            old = before.get((player, (first.action, reply, action)))
            assert (row is None) == (old is None)
            assert row is None or (row["reward"] == old["reward"]).all()
        assert len(now) == len(before)
    assert (
        second.records["BASELINE"][()]["visits"]
        == first.records["BASELINE"][opponent, (first.action, reply)]["visits"]
    )
    assert (second.records["MAST"].rows == first.records["MAST"].rows).all()


def test_trees_of_determinizations_drawn_once_begin_anew_and_the_rest_stays():
    whist = games.load("knockout-whist(players=2)")
    state = decided(whist, 2)
    first = search(state, BASELINE >> MAST, iterations=60, seed=1, scheme=DeterminizedUCT(3))
    after = walked(state, random.Random(3), 2)
    second = toy.begun(after, BASELINE >> MAST, scheme=DeterminizedUCT(3), records=first).result()
    assert [len(part.records["BASELINE"]) for part in second.parts] == [0, 0, 0]
    assert [len(part.records["MAST"]) for part in second.parts] == [
        len(part.records["MAST"]) for part in first.parts
    ]
    ensemble = search(state, BASELINE, iterations=60, seed=1, scheme=CheatingEnsembleUCT(3))
    after = walked(state, random.Random(3), 1)
    second = toy.begun(after, BASELINE, scheme=CheatingEnsembleUCT(3), records=ensemble).result()
    assert all(0 < len(part.records["BASELINE"]) for part in second.parts)


def test_what_another_has_seen_in_secret_is_not_found_in_his_records():
    # Phantom's stones are hidden: whatever the other has played, what the searching player inherits is the same.
    state = games.load("phantom-mnk").new_initial_state(seed=1)
    first = search(state, BASELINE, iterations=400, seed=1)
    after = after_action(state, first.action)
    inherited = []
    for action in after.legal_actions()[:12]:
        reply = after_action(after, action)
        if reply.current_player() == state.current_player() and reply.moves(0) == (
            first.action,
            reply.moves(0)[-1],
        ):
            inherited.append(
                toy.begun(reply, BASELINE, records=first).result().records["BASELINE"].rows
            )
    assert len(inherited) > 5
    assert all(
        len(rows) == len(inherited[0]) and (rows == inherited[0]).all() for rows in inherited
    )


@pytest.mark.parametrize("name", ["hearts", "phantom-mnk", "lotr-confrontation"])
def test_the_functions_of_a_game_tell_what_it_says_if_it_is_asked(name, monkeypatch):
    state = walked(games.load(name).new_initial_state(3), random.Random(3))
    action, player = state.legal_actions()[0], state.current_player()
    observers = range(state.game.players)
    called = [list(result._possible_moves(state, player, action, each)) for each in observers]
    monkeypatch.setattr(result, "_drawn_by_kernels", result._drawn_by_states)
    asked = [list(result._possible_moves(state, player, action, each)) for each in observers]
    assert called == asked
    assert all(len(seen) == result.DRAWS for seen in asked)


def test_rows_are_found_where_keys_begin_at_the_same_entry():
    table = RecordTable(BASELINE, OTHELLO)
    keys = np.array([1, 2, 3, 1 << 40, 1 << 41, (1 << 40) + 1, (1 << 41) + 3, -5, -5 - (1 << 40)])
    rows = np.zeros(len(keys), table.dtype)
    rows["record"] = keys
    table.insert_rows(rows[:4])
    table.insert_rows(rows[4:])
    asked = np.concatenate([keys, keys + (1 << 50)])
    assert table.places(asked).tolist() == [*range(1, len(keys) + 1), *[0] * len(keys)]
    assert table.rows["record"][1:].tolist() == keys.tolist()


# ---------------------------------------------------------------------------------------------------------------- decay


def test_decay_goes_back_to_the_initial_information_and_keeps_replies():
    hopeful = attrs.evolve(MAST, name="HOPEFUL", initial=initial(reward=3, visits=4))
    first = search(
        OTHELLO.new_initial_state(), BASELINE >> (hopeful + LGRF) / 2, iterations=50, seed=1
    )
    decayed = first.decayed(0.3)
    for row in first.records["HOPEFUL"].rows:
        now = decayed.records["HOPEFUL"].get(int(row["record"]), decayed.records["HOPEFUL"].initial)
        assert now["visits"] == 4 + int(0.3 * (row["visits"] - 4))
    replies = first.records["LGRF"].rows
    assert (decayed.records["LGRF"].rows == replies[replies["reply"] >= 0]).all()


@pytest.mark.parametrize("name", slow_after(8, list(SPECIFICATIONS)[::4]))
def test_decay_shrinks_sums_and_counts_together_and_nothing_else(name):
    result = search(
        toy.BRANCHES.new_initial_state(),
        SPECIFICATIONS[name],
        iterations=20,
        seed=1,
        engine="python",
    )
    half = result.decayed(0.5)
    for part, records in result.records.items():
        fields = records.enhancement.information.fields
        counts = [field for field, domain in fields if domain.kind == Kind.COUNT]
        for row in records.rows:
            first, now = records.initial, half.records[part].get(int(row["record"]))
            now = first if now is None else now
            for field, domain in fields:
                change = np.asarray(row[field] - first[field])
                remaining = np.asarray(now[field] - first[field])
                if domain.kind == Kind.COUNT:
                    assert remaining == (
                        change // 2 if domain.type.kind == "i" else pytest.approx(change / 2)
                    )
                elif domain.kind == Kind.SUM:
                    gained = {count: row[count] - first[count] for count in counts}
                    shares = [
                        (now[count] - first[count]) / gained[count]
                        for count in counts
                        if gained[count]
                    ] or [0.5]
                    assert any(remaining == pytest.approx(share * change) for share in shares)
                else:  # a mean, a bound or a label
                    forgotten = domain.kind != Kind.BOUND and counts and now is first
                    assert (remaining == change).all() or forgotten


def fields_of(strategy: Enhancement) -> frozenset[tuple[Kind, str]]:
    """The kinds of fields that its records have, by which they decay: counts, whole or real, sums, means, bounds, labels."""
    return frozenset(
        (domain.kind, domain.type.base.kind)
        for part in strategy.components
        for _, domain in part.information.fields
    )


# Of each kind of records the first; all strategies with --slow.
FIRST_OF_KIND = {
    fields_of(strategy): name for name, strategy in reversed(SPECIFICATIONS.items())
}.values()


@pytest.mark.parametrize(
    "name",
    [
        name if name in FIRST_OF_KIND else pytest.param(name, marks=pytest.mark.slow)
        for name in SPECIFICATIONS
    ],
)
def test_every_strategy_searches_on_with_records_that_have_decayed(name):
    strategy = SPECIFICATIONS[name]
    proves = strategy.components[0].capture.proves
    for game, decay in [(toy.BRANCHES, 0.1), (toy.EPISODES if proves else toy.PENNIES, 0.5)]:
        state = decided(game, 1)
        result = search(state, strategy, iterations=40, seed=1)
        for seed in range(2, 5):
            before = result.decayed(decay)
            result = search(state, strategy, iterations=40, seed=seed, records=before)
            assert 0 <= result.value <= 1
            assert result.earlier_iterations == 40 * (seed - 1)


def test_a_discounted_count_below_one_adds_no_exploration():
    state = toy.BRANCHES.new_initial_state()
    first = search(state, DISCOUNTED_UCB, iterations=3, seed=1).decayed(0.1)
    rows = first.records["DISCOUNTED_UCB"].rows
    assert ((0 < rows["availability"]) & (rows["availability"] < 1)).any()
    twice = [
        search(state, DISCOUNTED_UCB, iterations=9, seed=2, records=first, engine=e)
        for e in (None, "python")
    ]
    assert (
        twice[0].records["DISCOUNTED_UCB"].rows == twice[1].records["DISCOUNTED_UCB"].rows
    ).all()


@pytest.mark.parametrize("scheme", [MO_ISMCTS, SO_ISMCTS_POM])
def test_the_root_is_in_the_tree_also_where_who_acts_sees_more_than_his_action(scheme):
    game = PythonGame(
        name="three-choices",
        players=1,
        initial=lambda rng: [],
        player=lambda state: 0 if len(state) < 3 else TERMINAL,
        legal=lambda state: [0, 1],
        apply=lambda state, action: state.append(action),
        rewards=lambda state: [sum(state) / 3],
        observe=lambda state, action: [100 + 10 * len(state) + action],
        determinize=lambda state, observer, beliefs, rng: list(state),
    )
    state = game.new_initial_state()
    found = search(state, BASELINE, iterations=60, seed=1, scheme=scheme)
    state.apply_action(1)
    again = search(state, BASELINE, iterations=5, seed=1, records=found, scheme=scheme)
    assert again.phase_steps == {"selection": 10, "expansion": 0, "simulation": 0}


def test_decay_leaves_the_batch_of_mast_and_its_search_goes_on_counting_iterations():
    strategy = BASELINE >> MAST_BATCH_DECAY(0.5, 20)
    first = search(toy.BRANCHES.new_initial_state(), strategy, iterations=100, seed=1)
    second = search(first.state, strategy, iterations=40, seed=2, records=first.decayed(0.9))
    name = str(MAST_BATCH_DECAY(0.5, 20))
    assert first.records[name].rows["batch"].max() == 4
    assert second.earlier_iterations == 100
    assert set(second.records[name].rows["batch"]) <= set(range(7))
    assert 6 in second.records[name].rows["batch"]
    again = search(
        first.state, strategy, iterations=40, seed=2, records=first.decayed(0.9), engine="python"
    )
    assert all(
        (again.records[name][int(row["record"])] == row).all() for row in second.records[name].rows
    )


def test_without_histories_only_what_fits_every_root_is_left():
    first = search(
        OTHELLO.new_initial_state(),
        GRAVE >> (MAST + PROGRESSIVE_HISTORY()) / 2,
        iterations=100,
        seed=1,
    )
    general = first.without_histories()
    assert [len(general.records[name]) for name in ("BASELINE", "GRAVE")] == [0, 0]
    assert (general.records["MAST"].rows == first.records["MAST"].rows).all()
    name = str(PROGRESSIVE_HISTORY())
    pairs = {
        general.records[name].key((action, player)) for action in range(65) for player in range(2)
    }
    assert set(general.records[name]) == pairs & set(first.records[name]) < set(first.records[name])
    fresh = search(
        OTHELLO.new_initial_state(),
        BASELINE >> MAST,
        iterations=10,
        seed=1,
        records=search(
            OTHELLO.new_initial_state(), BASELINE >> MAST, iterations=100, seed=1
        ).without_histories(),
    )
    assert fresh.visits.sum() == 10


def test_a_result_that_has_forgotten_its_tree_is_shown_as_its_root():
    result = search(OTHELLO.new_initial_state(), BASELINE >> MAST, iterations=100, seed=1)
    for forgotten in (result.without_histories(), result.decayed(0)):
        assert search_tree(forgotten).principal_variation() == []
        assert "srcdoc" in forgotten._repr_html_()
    assert search_tree(result).principal_variation()


# -------------------------------------------------------------------------------------------------------------- refusals


def test_rows_of_histories_are_left_behind_whatever_stands_beside_them():
    # where something can be proved
    state = walked(OTHELLO.new_initial_state(), random.Random(1), 54)
    assert state is not None
    strategy = GRAVE >> BOUNDED_GRAVE >> DISCOUNTED_HISTORY
    first = search(state, strategy, iterations=200, seed=1)
    after = after_action(state, first.action)
    now = toy.begun(after, strategy, records=first).result().records
    tree = now["BASELINE"].rows["record"]
    proofs = {mix(int(key), player) for key in tree for player in range(2)} & set(
        first.records["BOUNDED_GRAVE"]
    )
    assert len(now["GRAVE"]) < len(first.records["GRAVE"])
    assert len(proofs) > 0
    assert set(now["BOUNDED_GRAVE"]) == set(now["GRAVE"]) | proofs
    assert len(now["DISCOUNTED_HISTORY"]) == len(first.records["DISCOUNTED_HISTORY"])
    beside = state.clone()  # a root that the tree does not have
    beside.apply_action(first.actions[0])
    start = search(beside, strategy, iterations=5, seed=1)
    for _ in range(3):
        beside.apply_action(beside.legal_actions()[-1])
    now = toy.begun(beside, strategy, records=start).result().records
    assert [len(now[name]) for name in ("BASELINE", "GRAVE", "BOUNDED_GRAVE")] == [0, 0, 0]
    assert len(now["DISCOUNTED_HISTORY"]) == len(start.records["DISCOUNTED_HISTORY"]) - len(
        start.records["BASELINE"]
    )


def split_rewards(state, out):
    out[:] = 0.5


def test_records_that_do_not_fit_are_refused_in_a_sentence():
    state = OTHELLO.new_initial_state()
    first = search(state, BASELINE >> MAST, iterations=20, seed=1)
    successor = after_action(state, state.legal_actions()[0])
    beside = after_action(state, state.legal_actions()[1])
    later = search(successor, BASELINE, iterations=5)
    hearts = walked(games.load("hearts").new_initial_state(1), random.Random(1), 0)
    refused: list[tuple[State, dict[str, Any], str]] = [
        (hearts, {"records": first}, "records are of the game othello, and the state is of hearts"),
        (
            attrs.evolve(OTHELLO, rewards=split_rewards).new_initial_state(),
            {"records": first},
            "the game othello, and the state is of one by other rules, with the same name",
        ),
        (
            state,
            {"records": first, "scheme": SO_ISMCTS},
            "by MO_ISMCTS; its histories are not those of SO_ISMCTS",
        ),
        (state, {"records": first, "threads": 2}, "records are of 1 trees"),
        (state, {"records": first, "strategy": RAVE}, "records have none of AMAF as it is in RAVE"),
        (
            state,
            {
                "records": first,
                "strategy": BASELINE >> attrs.evolve(MAST, initial=initial(visits=3)),
            },
            "none of MAST",
        ),
        (beside, {"records": later}, "does not lead to this state"),
        (state, {"records": later}, "does not lead to this state"),
    ]
    for where, options, sentence in refused:
        with pytest.raises(ValueError, match=sentence):
            search(where, **{"strategy": BASELINE, "iterations": 2, **options})
    with pytest.raises(TypeError, match="must be the Result of an earlier search"):
        search(state, BASELINE, iterations=2, records={"MAST": 1})
    search(beside, BASELINE, iterations=2, records=later.without_histories())


class Line:
    """A state without `__eq__`."""

    def __init__(self) -> None:
        unknown = [float("nan"), np.array([np.nan])]  # which is not equal to itself
        self.actions, self.table = list[int](), {"limits": [np.array([3, 6])], "unknown": unknown}


def dealt_line(rng: np.ndarray) -> Line:
    line = Line()
    line.table["limits"][0][1] = below(rng, 1000)
    return line


def test_records_of_a_state_without_equality_fit_another_of_the_same_content():
    game = PythonGame(
        name="line",
        players=2,
        initial=dealt_line,
        player=lambda line: len(line.actions) % 2 if len(line.actions) < 6 else TERMINAL,
        legal=lambda line: [0, 1, 2],
        apply=lambda line, action: line.actions.append(action),
        rewards=lambda line: [sum(line.actions) % 2, 1 - sum(line.actions) % 2],
    )
    first = search(game.new_initial_state(1), BASELINE >> MAST, iterations=50)
    again = search(game.new_initial_state(1), BASELINE >> MAST, iterations=50, records=first)
    assert again.visits.sum() == 99  # the first playout expands the root
    with pytest.raises(ValueError, match="does not lead to this state"):
        search(game.new_initial_state(2), BASELINE >> MAST, iterations=50, records=first)


class Cell:
    """A cell of a board whose neighbours it holds."""

    def __init__(self, value: int) -> None:
        self.value, self.beside = value, list[Cell]()


def board_of(values: list[int]) -> list[Cell]:
    cells = [Cell(value) for value in values]
    for cell in cells:
        cell.beside = cells
    return cells


@pytest.mark.parametrize(
    "made_by",
    [
        lambda value: deque([np.array([value, 2])]),
        lambda value: np.array([np.array([value, 2]), np.zeros(3)], object),
        lambda value: {"board": board_of([1] * 30 + [value])},
        lambda value: [np.array([np.nan, value]), np.float32(np.nan), float("nan")],
    ],
    ids=["deque", "array of arrays", "objects that hold one another", "NaN"],
)
def test_states_are_equal_where_all_that_they_hold_is(made_by):
    assert result._are_equal(made_by(1), made_by(1), set())
    assert not result._are_equal(made_by(1), made_by(3), set())


def test_eyes_of_the_root_player_are_nobody_elses():
    state = decided(toy.SECRETS, 1)
    first = search(state, BASELINE, iterations=20, scheme=SO_ISMCTS_POM)
    after = state.clone()
    while not after.is_terminal() and after.current_player() in (state.current_player(), CHANCE):
        after.apply_action(after.legal_actions()[0])
    with pytest.raises(ValueError, match=r"player \d is the only observer"):
        search(after, BASELINE, iterations=2, scheme=SO_ISMCTS_POM, records=first)


def test_records_of_a_file_that_was_edited_and_loaded_anew_are_refused(tmp_path, monkeypatch):
    source = """
from icarus import PythonGame

def rewards(state):
    return [1.0, 0.0] if state[1] >= 2 else [0.0, 1.0]

def apply(state, action):
    state[:] = [state[0] + 1, state[1] + action]

def player(state):
    return state[0] % 2 if state[0] < 3 else -4

GAME = PythonGame(
    name="edited", players=2, initial=lambda rng: [0, 0], player=player, legal=lambda state: [0, 1], apply=apply, rewards=rewards
)
"""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    name = f"edited_{tmp_path.name}"
    file = tmp_path / f"{name}.py"
    file.write_text(source)
    module = importlib.import_module(name)
    records = search(module.GAME.new_initial_state(0), BASELINE, iterations=5)
    file.write_text(source.replace(">= 2", ">= 1"))
    importlib.reload(module)
    with pytest.raises(ValueError, match="the state is of one by other rules"):
        search(module.GAME.new_initial_state(0), BASELINE, iterations=5, records=records)
