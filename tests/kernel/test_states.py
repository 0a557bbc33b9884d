"""States: what is determinized, changed by hand or wrongly given is what it says, or is refused in a sentence."""

import copy
import functools
import pickle
import random
import re
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import BASELINE, EPIC, Game, PythonGame, games, in_python, search
from icarus.compiler import CompilationError, seeded
from icarus.games.dou_di_zhu import hand_of
from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    UNLABELLED,
    State,
    below,
    functions_of,
    helper,
    seat_name,
    seat_names,
)
from icarus.kernel.python_game import deep_copy, state_text
from tests import toy
from tests.audit.test_contract import NIM
from tests.forked import survive
from tests.games.scenes import first_decision
from tests.marks import slow_after
from tests.toy import CARD, EPISODES, KUHN, SECRETS

HIDDEN = ["knockout-whist", "phantom-mnk", "goofspiel"]


def played_on(state: State, luck: random.Random, actions: int) -> State:
    for _ in range(actions):
        if state.is_terminal():
            break
        state.apply_action(luck.choice(state.legal_actions()))
    return state


def test_where_a_history_stands_is_told_again_without_a_replay_until_it_grows(monkeypatch):
    replays = list[int]()
    state = played_on(games.load("backgammon").new_initial_state(0), random.Random(0), 2)
    replay = State.replay
    monkeypatch.setattr(
        State, "replay", lambda self: replays.append(len(self.history)) or replay(self)
    )
    position = state.position_in_episode()
    assert state.clone().position_in_episode() is position
    assert replays == [2]
    after = played_on(state.clone(), random.Random(0), 1)
    assert after.position_in_episode() != position
    assert state.position_in_episode() is position
    assert replays == [2, 3]


@pytest.mark.parametrize("seed", range(3))
def test_a_determinized_state_that_is_played_on_is_searched_as_the_state_itself(seed):
    """In Backgammon nothing is hidden, so that a determinization is the state itself, with its episodes."""
    state = played_on(games.load("backgammon").new_initial_state(seed), random.Random(seed), 6)
    determinization = state.determinize(
        CHANCE if state.is_chance_node() else state.current_player(), seed
    )
    for which in (state, determinization):
        played_on(which, random.Random(seed + 1), 3 + seed)
    while state.is_chance_node():
        action = state.legal_actions()[0]
        state.apply_action(action)
        determinization.apply_action(action)
    assert determinization.position_in_episode() == state.position_in_episode()
    result, result_of_determinization = (
        search(which, EPIC, iterations=200, seed=1) for which in (state, determinization)
    )
    assert result.visits.tolist() == result_of_determinization.visits.tolist()


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("seed", range(2))
def test_the_position_of_a_determinized_state_goes_on_with_its_moves(name, seed):
    """What each perspective has seen of the episode is what the data recalls, after every further action."""
    luck = random.Random(f"{name} {seed}")
    state = played_on(games.load(name).new_initial_state(seed), luck, 4)
    if state.is_terminal() or state.is_chance_node():
        return
    determinization = state.determinize(state.current_player(), seed)
    recall = state.game.kernels().recall
    room = np.zeros(5000, np.int64)
    while not determinization.is_terminal():
        for perspective, moves in enumerate(determinization.position_in_episode().moves):
            count = recall(
                determinization.data.ctypes.data, perspective, room.ctypes.data, len(room)
            )
            assert moves == tuple(room[:count].tolist())
        played_on(determinization, luck, 1)


def test_the_history_of_a_determinized_state_begins_with_it():
    state = games.load("knockout-whist").new_initial_state(3)
    played_on(state, random.Random(1), 3)
    determinization = state.determinize(state.current_player(), 5)
    assert determinization.history == []
    assert determinization.history_str() == ""
    assert determinization.start.tobytes() == determinization.data.tobytes()
    action = determinization.legal_actions()[0]
    text = determinization.action_to_string(action)
    determinization.apply_action(action)
    assert determinization.history_str() == text
    with pytest.raises(ValueError, match="a determinized state has no history of its own"):
        determinization.moves(0)
    assert len(state.history) == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            np.zeros(1, np.int64),
            r"is an array \[1\] of int64; it must be an array \[1\] of its dtype",
        ),
        (np.zeros((), toy.STATE), r"is an array \[\] of"),
        (None, "is None; it must be an array"),
        (b"12", "is b'12'"),
    ],
    ids=repr,
)
def test_data_of_another_kind_is_refused(data, message):
    with pytest.raises(TypeError, match=message):
        State(CARD, data)


def test_a_fact_outside_its_range_is_named():
    state = games.load("goofspiel").new_initial_state(1)
    for value in (-1, 7):
        data = state.data.copy()
        data["bids"][0, 0, 3] = value
        with pytest.raises(
            ValueError,
            match=rf"in a state of goofspiel bids\[0, 3\] is {value}; it must be from 0 to 6$",
        ):
            State(state.game, data)
        with pytest.raises(ValueError, match=r"goofspiel bids\[0, 3\]"):
            state.with_facts(bids=data["bids"][0])


def test_seats_are_called_by_their_names_and_other_numbers_have_none():
    game = games.load("lotr-confrontation")
    names = [seat_name(game, number) for number in (CHANCE, 0, 1, 2, TERMINAL)]
    assert names == ["chance", "Light", "Dark", "player 2", "player -4"]
    assert seat_names(games.load("othello")) == ["player 0", "player 1"]


ONCE_CRASHED = ["goofspiel", "hearts", "phantom-mnk"]
TRIALS = 40
FEW = (1, 1, 2, 4, 50)  # facts that are changed


@pytest.mark.parametrize(
    "name", [*ONCE_CRASHED, *slow_after(0, sorted({*games.names()} - {*ONCE_CRASHED}))]
)
def test_any_facts_within_their_ranges_are_told_and_searched_or_refused_in_a_sentence(name):
    """In a process of its own, whose end by a signal is what is looked for."""
    game = games.load(name)
    search(first_decision(game.new_initial_state(0)), EPIC, iterations=2)  # compiles
    survive(TRIALS, lambda trial: change_and_ask(game, trial), seconds=60)


def change_and_ask(game: Game, trial: int) -> None:
    """Give some facts any values within their ranges; show and search the state."""
    luck = np.random.default_rng(trial)
    state = first_decision(game.new_initial_state(trial))
    played_on(state, random.Random(trial), int(luck.integers(20)))
    data = state.data.copy()
    for _ in range(luck.choice(FEW)):
        field = str(luck.choice(list(game.ranges)))
        least, most = game.ranges[field]
        kind = np.uint64 if most > np.iinfo(np.int64).max // 2 else np.int64
        values = data[field].reshape(-1)
        values[luck.integers(len(values))] = luck.integers(least, most, endpoint=True, dtype=kind)
    assert "\n" not in told_of(lambda: State(game, data))
    assert "\n" not in told_of(
        lambda: state.with_facts(**{name: data[name][0] for name in game.ranges})
    )


def told_of(make: Callable[[], State]) -> str:
    """The sentence that refuses a state; "" if it is made, shown and searched."""
    try:
        state = make()
        str(state)
        if state.current_player() >= 0:
            search(state, EPIC, iterations=50)
    except ValueError as error:
        assert str(error)
        return str(error)
    return ""


def test_data_that_are_changed_in_place_have_other_answers():
    state = games.load("othello").new_initial_state()
    after = games.load("othello").new_initial_state()
    after.apply_action(after.legal_actions()[0])
    assert (state.current_player(), after.current_player()) == (0, 1)
    state.data[:] = after.data
    assert state.current_player() == 1
    assert state.legal_actions() == after.legal_actions()


def test_other_facts_begin_a_history_whose_episode_is_that_of_the_data():
    state = EPISODES.new_initial_state(0)
    played_on(state, random.Random(2), 2)
    tree = toy.ALL_TOYS.index(EPISODES)
    # where an episode begins
    row = next(i for i, row in enumerate(toy.ROWS) if row.tree == tree and row.node.label == 3)
    changed = state.with_facts(row=row)
    assert len(state.history) == 2
    assert state.facts.row != row
    assert (
        changed.position_in_episode() == State(EPISODES, changed.data.copy()).position_in_episode()
    )
    assert changed.position_in_episode().label == 3
    assert changed.history == []
    assert changed.start["row"][0] == row
    action = changed.legal_actions()[0]
    changed.apply_action(action)
    assert changed.history == [(toy.ROWS[row].node.player, action)]
    assert changed.clone().position_in_episode() == changed.position_in_episode()


def test_other_facts_within_an_episode_have_the_moves_that_the_record_recalls():
    tree = toy.ALL_TOYS.index(SECRETS)
    row = next(
        i
        for i, row in enumerate(toy.ROWS)
        if row.tree == tree and len(row.path) - row.episode_start() == 2  # actions of the episode
    )
    position = SECRETS.new_initial_state(0).with_facts(row=row).position_in_episode()
    assert position.moves == tuple(
        toy.ROWS[row].moves(perspective, toy.ROWS[row].episode_start()) for perspective in range(3)
    )
    assert position.label == UNLABELLED


def test_facts_are_read_only_and_what_follows_from_other_ones_is_derived():
    state = games.load("checkers").new_initial_state()
    with pytest.raises(ValueError, match="read-only"):
        state.facts.player = 1
    with pytest.raises(ValueError, match="read-only"):
        state.facts.movers[0] = 0
    white = state.with_facts(player=1)
    squares = {action // 64 for action in white.legal_actions()}
    assert squares
    assert all(int(white.facts.pieces[1]) >> square & 1 for square in squares)


@pytest.mark.parametrize(
    ("name", "facts", "error", "message"),
    [
        (
            "checkers",
            {"colour": 1},
            TypeError,
            "the states of checkers have no fact 'colour'; they have pieces, kings",
        ),
        (
            "checkers",
            {"player": 0.5},
            TypeError,
            "player of checkers is 0.5; it must be of the type int8",
        ),
        (
            "checkers",
            {"pieces": [1, 2, 3]},
            ValueError,
            r"pieces of checkers is \[1, 2, 3\], of the shape \(3,\); it must have the shape \(2,\)",
        ),
        (
            "kuhn-poker",
            {"cards": 1},
            ValueError,
            r"cards of kuhn-poker is 1, of the shape \(\); it",
        ),
        (
            "kuhn-poker",
            {"cards": 10**5000},
            TypeError,
            "cards of kuhn-poker is an integer of thousands",
        ),
        ("kuhn-poker", {"cards": [[1], 0]}, TypeError, r"cards of kuhn-poker is \[\[1\], 0\]; it"),
        (
            "kuhn-poker",
            {"cards": np.array([258, 0])},
            ValueError,
            r"cards\[0\] is 258; it must be from",
        ),
        ("hearts", {"scores": np.array([65546, 0, 0, 0])}, ValueError, r"scores\[0\] is 65546; it"),
        (
            "hearts",
            {"held": [-1, 0, 0, 0]},
            ValueError,
            r"in a state of hearts held\[0\] is -1; it",
        ),
        ("othello", {"discs": [3, 1]}, ValueError, "a1 has two discs"),
        ("othello", {"discs": [1 << 63, -1]}, ValueError, r"discs\[1\] is -1; it must be from 0"),
        ("othello", {"discs": [1 << 63, 1.0]}, TypeError, "discs of othello is"),
        ("checkers", {"pieces": [2, 2]}, ValueError, "b1 has two pieces"),
        ("checkers", {"kings": 1 << 40}, ValueError, "a6 has a king only"),
        ("phantom-mnk", {"marks": [1, 1]}, ValueError, "a1 has two marks"),
        ("backgammon", {"points": np.eye(2, 26, 1)}, TypeError, "points of backgammon is"),
        (
            "backgammon",
            {"points": [[0, *[1] * 24, 0]] * 2},
            ValueError,
            "point 1 has checkers of both players",
        ),
        ("checkers", {"chained": 1}, ValueError, "`movers` has no single piece that can go on"),
        (
            "backgammon",
            {"points": [[14, *[0] * 25], [15, *[0] * 25]]},
            ValueError,
            "^player 0 has 14 checkers of backgammon; it must be 15$",
        ),
        (
            "goofspiel",
            {"rounds": 2, "bids": [[1, 1, *[0] * 11], [3, 4, *[0] * 11]]},
            ValueError,
            "^player 0 has no card 1 in goofspiel to bid here$",
        ),
        (
            "kuhn-poker",
            {"cards": [1, 1]},
            ValueError,
            "both players have the same card of kuhn-poker",
        ),
        (
            "leduc-poker",
            {"cards": [1, 1], "table": 1},
            ValueError,
            "^3 cards of the rank 2 are dealt, of 2 at most$",
        ),
        ("liars-dice", {"called": 1}, ValueError, "called of liars-dice is 1, but there is no bid"),
        (
            "lotr-confrontation",
            {"pos": [14, 0, 4, 1, 2, 3, 0, 0, 5, 10, 12, 13, 15, 15, 15, 15, 14, 11]},
            ValueError,
            "^Frodo cannot be in Gondor by `possible` of lotr-confrontation$",
        ),
        (
            "lotr-confrontation",
            {"possible": [(1 << 17) - 1] * 18, "pos": [*range(9), 4, *[16] * 8]},
            ValueError,
            "^Eregion has pieces of both sides in lotr-confrontation, and there is no battle$",
        ),
        (
            "lotr-confrontation",
            {"possible": [(1 << 17) - 1] * 18, "pos": [*[6] * 9, *[16] * 9]},
            ValueError,
            "^HighPass has 9 pieces of Light in lotr-confrontation, of 1 at most$",
        ),
        (
            "dou-di-zhu",
            {"hands": [hand_of([0] * 4), hand_of([0]), hand_of([1])]},
            ValueError,
            "^the hands of dou-di-zhu have 5 cards 3, of 4 at most$",
        ),
        ("dou-di-zhu", {"hands": [1 << 16, 1, 1]}, ValueError, "^65536 is no hand of dou-di-zhu"),
        ("hearts", {"held": [1, 2, 6, 8]}, ValueError, "^3♣ of hearts is in two places$"),
        (
            "knockout-whist(players=2)",
            {"hands": [1, 2, 0, 0, 0, 0, 0], "played": 2},
            ValueError,
            "^3♣ of knockout-whist is in two places$",
        ),
        (
            "dou-di-zhu",
            {"play": 0, "hands": [0, 1, 1]},
            ValueError,
            r"legal of dou-di-zhu .* returned \[\]; it must",
        ),
    ],
)
def test_facts_that_make_no_state_are_refused(name, facts, error, message):
    state = games.load(name).new_initial_state(1)
    with pytest.raises(error, match=message):
        state.with_facts(**facts)


@pytest.mark.parametrize("corner", [1 << 63, np.uint64(1 << 63)])
def test_a_set_with_the_last_of_64_bits_stands_beside_one_without(corner):
    state = games.load("othello").new_initial_state()
    assert state.with_facts(discs=[corner, 1]).facts.discs.tolist() == [1 << 63, 1]


def test_the_bids_of_goofspiel_set_the_hands_and_the_lead():
    bids = np.zeros((2, 13), int)
    bids[:, :3] = [[2, 3, 1], [1, 4, 0]]
    facts = (
        games.load("goofspiel").new_initial_state().with_facts(rounds=2, player=1, bids=bids).facts
    )
    assert facts.hands.tolist() == [0b111000, 0b110110]
    assert facts.lead == 1 - 2


@pytest.mark.parametrize(
    ("dice", "left", "derived"),
    [
        ([5, 6], 0, [6, 5, 2]),
        ([3, 3], 1, [3, 0, 4]),
        ([3, 0], 0, [3, 0, 1]),
        ([3, 0], 4, [3, 0, 4]),
        ([0, 5], 2, [0, 5, 1]),
    ],
)
def test_dice_of_backgammon_are_ordered_and_counted(dice, left, derived):
    state = games.load("backgammon").new_initial_state()
    facts = state.with_facts(player=0, actor=0, dice=dice, left=left).facts
    assert [*facts.dice, facts.left] == derived


def test_whose_turn_it_is_in_backgammon_decides_who_acts():
    state = games.load("backgammon").new_initial_state()
    state.apply_action(state.string_to_action("opening roll 61"))
    other = state.with_facts(player=1)
    assert other.current_player() == 1
    other.apply_action(other.legal_actions()[0])
    assert other.history[0][0] == 1
    assert state.with_facts(player=-1).is_chance_node()


def test_the_dead_of_the_confrontation_are_counted():
    state = games.load("lotr-confrontation").new_initial_state()
    pos, possible = state.facts.pos.copy(), state.facts.possible.copy()
    pos[1], possible[1] = 16, 1 << 16
    facts = state.with_facts(pos=pos, possible=possible).facts
    assert facts.count[0, [0, 16]].tolist() == [3, 1]
    assert facts.held[0] >> 16 & 1
    assert not facts.full[0] & 1


@pytest.mark.parametrize("name", games.names())
def test_derived_facts_are_those_of_play(name):
    state, luck = games.load(name).new_initial_state(2), random.Random(name)
    while not state.is_terminal() and len(state.history) < 60:
        if not state.is_chance_node():
            assert state.with_facts().data.tobytes() == state.data.tobytes()
        played_on(state, luck, 1)


def all_refuse(message, *asks):
    for ask in asks:
        with pytest.raises(ValueError, match=re.escape(message)):
            ask()


@pytest.mark.parametrize("seed", [None, True, 1.5, -1, "1", (1, True), ()])
def test_seeds_are_checked_everywhere_alike(seed):
    state = KUHN.new_initial_state(np.int64(3))
    all_refuse(
        f"seed is {seed!r}; it must be an integer of at least 0",
        lambda: KUHN.new_initial_state(seed),
        lambda: state.determinize(0, seed),
        lambda: search(state, EPIC, iterations=1, seed=seed),
    )


@pytest.mark.parametrize("player", [None, True, 1.5, 2, -2, "0"])
def test_observers_are_checked(player):
    state = KUHN.new_initial_state(0)
    all_refuse(
        f"toy-kuhn(tree=2) has players 0 to 1, not {player!r}",
        lambda: state.determinize(player),
        lambda: state.beliefs(player),
        lambda: state.redraw(player, state.beliefs(0), seeded(0)),
        lambda: state.moves(player),
    )


@pytest.mark.parametrize("action", [None, True, 1.0, 99, -1, "p"])
def test_actions_are_checked_and_what_is_none_has_no_text(action):
    state = CARD.new_initial_state(0)
    all_refuse(
        f"action {action!r} is not legal here; legal: ",
        lambda: state.apply_action(action),
        lambda: state.action_to_string(action),
    )
    with pytest.raises(TypeError, match=r"^the text of an action is 5; it must be a str$"):
        state.string_to_action(5)  # type: ignore[arg-type]
    assert state.action_to_string(np.int64(state.legal_actions()[0])) == str(
        state.legal_actions()[0]
    )


@pytest.mark.parametrize("rewards", [[1.5, 0.0], [-0.5, 0.5], [float("nan"), 1.0]])
def test_returns_outside_their_range_are_refused(rewards, monkeypatch):
    state = played_on(KUHN.new_initial_state(0), random.Random(1), 9)
    monkeypatch.setattr(
        Game,
        "answer",
        lambda self, name, *given, of=Game.answer: (
            rewards if name == "rewards" else of(self, name, *given)
        ),
    )
    with pytest.raises(
        ValueError, match=r"rewards of toy-kuhn.* returned .*; it must be 2 numbers from 0 to 1"
    ):
        state.returns()


def begun_with_its_data(state: State) -> State:
    return State(state.game, state.data)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, State.clone, begun_with_its_data])
def test_a_copy_of_a_state_is_played_on_alone(copied):
    state = games.load("othello").new_initial_state()
    other = copied(state)
    other.apply_action(other.legal_actions()[0])
    assert other.game is state.game
    assert len(state.history) == 0
    assert (
        state.data.tobytes()
        == state.game.new_initial_state().data.tobytes()
        != other.data.tobytes()
    )


# --------------------- What a function of a game may not answer: told with the game, the function, its line and what would be right.


def initial(rng: np.ndarray) -> dict:
    return {"cards": [below(rng, 4), below(rng, 4), below(rng, 4)], "said": [], "coin": None}


def player(state):
    return (
        TERMINAL
        if state["coin"] is not None
        else CHANCE
        if len(state["said"]) == 3
        else len(state["said"])
    )


def legal(state):
    return [0, 1]


def apply(state, action):
    if len(state["said"]) == 3:
        state["coin"] = action
    else:
        state["said"].append(action)


def rewards(state):
    return [
        float(said == (card > 1)) for said, card in zip(state["said"], state["cards"], strict=True)
    ]


def determinize(state, observer, beliefs, rng):
    cards = [
        card if seat == observer else below(rng, 4) for seat, card in enumerate(state["cards"])
    ]
    return state | {"cards": cards, "said": list(state["said"])}


HILO = PythonGame(
    **functions_of(globals()),
    name="hilo",
    players=3,
    chance=lambda state: [0.5, 0.5],
    observe=lambda state, action: (action, action, action),
    episode=lambda state: CONTINUES,
    recall=lambda state, perspective: state["said"],
)


def test_a_game_of_functions_that_have_names_goes_to_another_process():
    functions = (initial, player, legal, apply, rewards, determinize)
    game = PythonGame(
        name="hilo", players=3, **{function.__name__: function for function in functions}
    )
    state = pickle.loads(pickle.dumps(game.new_initial_state(3)))
    assert str(state) == str(game.new_initial_state(3))
    assert state.action_to_string(1) == "1"
    assert state.game.ask("legal", {"said": [], "coin": None}) == [0, 1]


def returned_anew(state, action):
    return state | {"said": [*state["said"], action]}


def redrawn_in_place(state, observer, beliefs, rng):
    state["cards"] = [below(rng, 4)] * 3
    return state


PLAYERS = "it must be a player from 0 to 2, CHANCE or TERMINAL"
LEGAL = "it must be a list of different integers of at least 0, one at least before the end"
REWARDS = "it must be 3 numbers from 0 to 1, one for each player"
CHANCES = "it must be 2 probabilities that sum to 1, one for each legal action"


@pytest.mark.parametrize(
    ("name", "function", "message"),
    [
        ("initial", lambda rng: None, "returned None; it must return a new state"),
        ("player", lambda state: None, f"returned None; {PLAYERS}"),
        ("player", lambda state: 3, f"returned 3; {PLAYERS}"),
        ("legal", lambda state: None, f"returned None; {LEGAL}"),
        ("legal", lambda state: [], f"returned []; {LEGAL}"),
        ("legal", lambda state: [0, 0], f"returned [0, 0]; {LEGAL}"),
        ("legal", lambda state: [1 << 64, 1], f"returned [18446744073709551616, 1]; {LEGAL}"),
        ("apply", returned_anew, "it must change the state that it is given and return None"),
        ("rewards", lambda state: [1.0, 0.0], f"returned [1.0, 0.0]; {REWARDS}"),
        (
            "rewards",
            lambda state: {0: 1.0, 1: 0.0, 2: 0.0},
            f"returned {{0: 1.0, 1: 0.0, 2: 0.0}}; {REWARDS}",
        ),
        ("chance", lambda state: [0.5, 0.6], f"returned [0.5, 0.6]; {CHANCES}"),
        ("chance", lambda state: [(0, 0.5), (1, 0.5)], f"; {CHANCES}"),
        (
            "copy",
            lambda state: state,
            "returned the state that it was given; it must return a copy",
        ),
        (
            "observe",
            lambda state, action: [action],
            "; it must be 3 integers, the move that each player sees",
        ),
        (
            "determinize",
            lambda *arguments: None,
            "returned None; it must leave that alone and return a changed copy",
        ),
        (
            "determinize",
            redrawn_in_place,
            "returned the state that it was given; it must leave that alone and",
        ),
        (
            "episode",
            lambda state: None,
            "returned None; it must be a label of at least 0, or CONTINUES",
        ),
        ("recall", lambda state, perspective: 1, "returned 1; it must be a list of integers"),
    ],
)
def test_a_wrong_answer_is_told_with_its_function_and_line(name, function, message):
    with pytest.raises(ValueError) as caught:
        search(
            attrs.evolve(HILO, **{name: function}).new_initial_state(1),
            BASELINE >> EPIC,
            iterations=20,
        )
    sentence, line = str(caught.value), function.__code__.co_firstlineno
    assert sentence.startswith(f"{name} of hilo ({__file__}, line {line}) returned ")
    assert message in sentence


@pytest.mark.parametrize("deal", [[0, 0], {"coin": 1, "said": 2}, {"coin": 1}, 5, (HILO, None)])
def test_a_deal_without_a_state_and_its_probability_is_refused(deal):
    game = attrs.evolve(HILO, deal=lambda index: deal, deal_observation=lambda state, player: 0)
    with pytest.raises(
        ValueError, match=r"^deal of hilo .* returned .*; it must be a probability, or"
    ):
        game.ask("deal", 0)


def test_what_a_game_was_made_with_stays_as_it_is():
    given, seats = {"n": 2}, ["A", "B", "C"]
    game = attrs.evolve(HILO, defaults=given, seat_names=seats)
    given["n"] = 7
    seats[0] = "B"
    assert (game.defaults, game.seat_names) == ({"n": 2}, ("A", "B", "C"))
    whist = games.load("knockout-whist(players=3)")
    for kept in (whist, pickle.loads(pickle.dumps(whist)), copy.deepcopy(whist)):
        assert kept.parameters == {"players": 3}
        with pytest.raises(TypeError, match="what a game was made with cannot be changed; make an"):
            kept.parameters["players"] = 4
        with pytest.raises(TypeError, match="cannot be changed"):
            kept.parameters.update(players=4)
    assert type(attrs.evolve(NIM, max_legal=np.int8(3)).max_legal) is int


def test_answers_that_make_sense_in_another_form_are_taken():
    functions: dict[str, Any] = {
        "legal": lambda state: np.arange(2),
        "player": lambda state: np.int8(player(state)),
        "rewards": lambda state: np.array(rewards(state), np.float32),
        "chance": lambda state: (probability for probability in (0.25, 0.75)),
    }
    game = attrs.evolve(HILO, **functions)
    assert search(game.new_initial_state(1), BASELINE, iterations=20).iterations == 20
    state = game.new_initial_state(1)
    assert [type(action) for action in state.legal_actions()] == [int, int]


@pytest.mark.parametrize(
    ("game", "name", "function", "message"),
    [
        (HILO, "initial", lambda: {}, r"initial of hilo takes \(\); it must take \(rng\)"),
        (
            HILO,
            "legal",
            lambda state, actions: 2,
            r"legal of hilo takes \(state, actions\); it must take \(state\)",
        ),
        (
            HILO,
            "determinize",
            lambda state, observer, rng: state,
            r"it must take \(state, observer, beliefs, rng\)",
        ),
        (NIM, "initial", lambda: None, r"initial of nim7 takes \(\); it must take \(state, rng\)"),
        (
            NIM,
            "apply",
            lambda state: None,
            r"apply of nim7 takes \(state\); it must take \(state, action\)",
        ),
        (NIM, "player", lambda state, **more: 0, r"takes \(state, more\); it must take \(state\)"),
        (
            NIM,
            "apply",
            lambda state, action: (yield action),
            "apply of nim7 has a yield; it must be a plain function",
        ),
    ],
)
def test_a_function_that_takes_something_else_is_refused_where_the_game_is_made(
    game, name, function, message
):
    with pytest.raises(TypeError, match=rf"{message} \(.*test_states.py, line \d+\)$"):
        attrs.evolve(game, **{name: function})


async def apply_later(state: Any, action: int) -> None:
    """Nothing is done before it is awaited."""


@pytest.mark.parametrize("game", [HILO, NIM])
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"apply": apply_later},
            "apply of .* is <function apply_later .*>; it must be a plain function",
        ),
        ({"name": "hi\nlo"}, "the name of a game is .*; it must be one line without /"),
        ({"name": "hi/lo"}, "the name of a game is .*; it must be one line without /"),
        ({"utilities": (1, -1)}, r"utilities of .* are \(1, -1\); they must be \(least, most\)"),
        ({"utilities": 2.0}, "utilities of .* are 2.0; they must be"),
        ({"parameters": {"n": 2.5}}, "'n' in the parameters of .* is 2.5; it must be an integer"),
        ({"parameters": {"n": True}}, "'n' in the parameters of .* is True; it must be an integer"),
        (
            {"parameters": {"n": 1 << 63}},
            "'n' in the parameters of .* is 9.*; it must be an integer",
        ),
        ({"defaults": {"n": "7"}}, "'n' in the defaults of .* is '7'; it must be an integer"),
        ({"seat_names": ("X", "X", "O"), "players": 2}, "it needs 2 different ones"),
        ({"seat_names": "AB", "players": 2}, "the seat names of .* are 'AB'; it needs 2 different"),
        ({"seat_names": {"A", "B"}, "players": 2}, "it needs 2 different ones"),
        ({"utilities": {"x": (0, 1)}}, "utilities of .* are {.*}; they must be .least, most"),
        ({"seat_names": (1, 2), "players": 2}, "it needs 2 different ones"),
        ({"seat_names": 5}, "the seat names of .* are 5; it needs"),
        ({"parameters": None}, "the parameters of .* are None; they must be a dict"),
        ({"max_length": 1 << 63}, "max_length of a game is .*; it must be an integer from 1 to"),
    ],
)
def test_what_only_looks_like_a_part_of_a_game_is_refused(game, changes, message):
    with pytest.raises((TypeError, ValueError), match=message):
        attrs.evolve(game, **changes)


@pytest.mark.parametrize(
    "field",
    [("known", "?", (3,)), ("half", "f2"), ("big", ">i4"), ("inner", [("known", "?", (3,))])],
)
def test_a_field_that_compiled_code_cannot_read_is_refused(field):
    for name in ("state", "beliefs"):
        with pytest.raises(
            TypeError, match=f"field '{field[0]}' in {name} of nim7 is .* use np.int64"
        ):
            attrs.evolve(NIM, **{name: np.dtype([field], align=True)})


def test_a_range_beyond_the_type_of_its_field_is_refused():
    state = np.dtype([("n", np.int8)], align=True)
    message = r"^ranges of nim7 are \(0, 1000\) for n; its type int8 holds -128 to 127$"
    with pytest.raises(ValueError, match=message):
        attrs.evolve(NIM, state=state, ranges={"n": (0, 1000)})


@pytest.mark.parametrize("function", [max, functools.partial(rewards), functools.cache(rewards)])
def test_what_can_be_called_but_not_compiled_is_refused(function):
    kind = type(function).__name__
    with pytest.raises(
        TypeError,
        match=f"rewards of nim7 is a {kind}; to be compiled it must be a function of Python",
    ):
        attrs.evolve(NIM, rewards=function)


def test_initial_takes_the_parameters():
    with pytest.raises(
        TypeError, match=r"initial of hilo\(cards=3\) takes \(rng\); it must take \(rng, cards\)"
    ):
        attrs.evolve(HILO, parameters={"cards": 3})
    assert (
        attrs.evolve(HILO, initial=lambda rng, cards: initial(rng), parameters={"cards": 3}).players
        == 3
    )


def forgetful(state, actions):
    actions[0] = 1


def short_by_one(state, actions):
    actions[0] = 1
    return 2


@pytest.mark.parametrize(
    ("slip", "message"),
    [
        (forgetful, "forgetful returned None; it must return how many actions it has written"),
        (
            short_by_one,
            r"legal of nim7 \(.*, line \d+\) returned \[1, -1\]; it must be a list of different integers of at",
        ),
    ],
)
def test_a_compiled_game_in_plain_python_is_told_by_its_own_function(slip, message):
    with pytest.raises((TypeError, ValueError), match=message):
        search(
            in_python(attrs.evolve(NIM, legal=slip)).new_initial_state(1), BASELINE, iterations=5
        )


class Hand:
    """It says nothing of itself."""

    __slots__ = ("cards",)


def test_a_state_that_says_nothing_of_itself_is_told_by_its_values():
    hand = Hand()
    hand.cards = list(range(9))
    assert state_text([hand, 2]) == "[Hand(cards=[0, 1, 2, 3, 4, 5, 6, 7, 8]), 2]"


def test_a_state_that_nothing_can_change_is_refused():
    with pytest.raises(TypeError, match=r"a state is \(7, 0\), which nothing can change; make it"):
        deep_copy((7, 0))


def test_a_generator_of_another_kind_is_told():
    with pytest.raises(
        TypeError, match="the generator is <random.Random .*; it must be the one that"
    ):
        below(random.Random(1), 6)


@helper
def doubled(number: int) -> int:
    return 2 * number


def test_an_argument_of_another_kind_is_told_with_the_helper():
    with pytest.raises(CompilationError, match=r"doubled\(Random\) cannot be compiled"):
        doubled(random.Random(1))  # type: ignore[arg-type]
