"""What games tell of states and actions, against positions reckoned by hand; and in random play, by compiled and plain functions."""

import random

import numpy as np
import pytest

from icarus import games
from icarus.games.backgammon import survey
from icarus.games.checkers import begin_turn
from icarus.kernel import CHANCE
from icarus.kernel.contract import facts_of
from icarus.kernel.state import State

TELLING = ["othello", "checkers", "backgammon", "leduc-poker", "generic-poker(ranks=5, copies=2, sizes=3)"]


def othello(board: str, player: int = 0) -> State:
    """A state from eight rows of X, O and dots."""
    state, squares = games.load("othello").new_initial_state(), "".join(board.split())
    for mark, seat in (("X", 0), ("O", 1)):
        facts_of(state.data).discs[seat] = np.uint64(sum(1 << i for i, c in enumerate(squares) if c == mark))
    facts_of(state.data).player = player
    return state


EMPTY_ROWS = "\n" + "........\n" * 4


def test_othello_begins_equal() -> None:
    state = games.load("othello").new_initial_state()
    assert state.features() == {"corners": 0, "mobility": 0, "discs": 0}
    assert state.heuristic() == pytest.approx([0.5, 0.5], abs=0.05)


def test_othello_counts_corners_moves_and_discs() -> None:
    board = "X.OXO... ........ ..O..... ...O...." + EMPTY_ROWS
    state = othello(board)  # X may play b1 and f1, O may play nothing
    assert state.features() == {"corners": 1, "mobility": 2, "discs": -2}
    facts_of(state.data).player = 1
    assert state.features() == {"corners": -1, "mobility": -2, "discs": 2}


def test_an_x_square_of_othello_is_one_beside_an_empty_corner() -> None:
    board = ".OX..... ........ ..O..... ...X...." + EMPTY_ROWS
    state = othello(board)
    a1, b2 = state.string_to_action("a1"), state.string_to_action("b2")
    assert state.action_features(a1) == {"corner": 1, "x_square": 0}
    assert state.action_features(b2) == {"corner": 0, "x_square": 1}
    taken = othello(board.replace(".", "X", 1))
    assert taken.action_features(b2) == {"corner": 0, "x_square": 0}


def checkers(black: str, white: str, kings: str = "", player: int = 0) -> State:
    """A state from the squares of both sides."""
    state = games.load("checkers").new_initial_state()

    def bits(squares: str) -> np.uint64:
        return np.uint64(sum(1 << ("abcdefgh".index(s[0]) + 8 * (int(s[1]) - 1)) for s in squares.split()))

    facts_of(state.data).pieces[0], facts_of(state.data).pieces[1], facts_of(state.data).kings = (
        bits(black),
        bits(white),
        bits(kings),
    )
    facts_of(state.data).player = player
    begin_turn.py_func(facts_of(state.data))
    return state


def test_checkers_counts_a_king_three_where_a_man_counts_two() -> None:
    assert games.load("checkers").new_initial_state().heuristic() == [0.5, 0.5]
    state = checkers("a1 c1 d4", "e7 f6", kings="d4")  # 2 men and a king are 7, two men are 4
    assert state.heuristic() == pytest.approx([7 / 11, 4 / 11])
    assert state.features() == {"men": 0, "kings": 1, "back_row": 2}
    state = checkers("a1 c1 d4", "e7 f6", kings="d4", player=1)
    assert state.features() == {"men": 0, "kings": -1, "back_row": -2}


def test_checkers_tells_captures_and_crownings() -> None:
    state = checkers("c3 a7", "d4 h8")
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["c3xe5"]
    assert state.action_features(state.legal_actions()[0]) == {"captures": 1, "crowns": 0}
    state = checkers("a7 c5", "h8", kings="c5")
    features = {state.action_to_string(action): state.action_features(action) for action in state.legal_actions()}
    assert features.pop("a7-b8") == {"captures": 0, "crowns": 1}
    assert set(features) == {"c5-b6", "c5-d6", "c5-b4", "c5-d4"}
    assert all(values == {"captures": 0, "crowns": 0} for values in features.values())


def race(mover: dict[int, int], opponent: dict[int, int]) -> State:
    """X is to roll; the checkers of both on their own points."""
    game = games.load("backgammon")
    state = game.new_initial_state()
    facts_of(state.data).points[:] = 0
    for seat, placed in enumerate((mover, opponent)):
        for point, checkers in placed.items():
            facts_of(state.data).points[seat, point] = checkers
        facts_of(state.data).points[seat, 0] = 15 - sum(placed.values())
    facts_of(state.data).player, facts_of(state.data).actor = 0, CHANCE
    survey.py_func(facts_of(state.data))
    return state


def swapped(state: State) -> State:
    """The same position with the players' names exchanged."""
    mirror = state.clone()
    facts_of(mirror.data).points[:] = state.facts.points[::-1]
    facts_of(mirror.data).player = 1 - state.facts.player
    if mirror.facts.actor != CHANCE:
        facts_of(mirror.data).actor = mirror.facts.player
    survey.py_func(facts_of(mirror.data))
    return mirror


HOME = dict.fromkeys(range(1, 7), 2)
OPENING = {24: 2, 13: 5, 8: 3, 6: 5}
PRIME = {8: 2, 7: 2, 6: 3, 5: 3, 4: 3, 3: 2}


@pytest.mark.parametrize(
    ("mover", "opponent", "chance"),
    [
        ({1: 1}, {6: 2}, 1.0),  # any roll bears it off
        ({6: 2}, {1: 1}, 4 / 36),  # only 33, 44, 55 and 66 bear both off
        ({6: 2, 5: 3, 4: 3}, {1: 2}, 0.0),
        (HOME, HOME, 0.657),  # by gnubg-nn at 0 plies, as the next ones
        (OPENING, OPENING, 0.521),
        ({24: 1, 23: 1, 13: 5, 8: 3, 6: 5}, PRIME, 0.126),
        (PRIME, OPENING, 0.819),
    ],
)
def test_backgammon_tells_the_chances_of_who_is_to_roll(
    mover: dict[int, int], opponent: dict[int, int], chance: float
) -> None:
    chances = race(mover, opponent).heuristic()
    assert chances[0] == pytest.approx(chance, abs=0.04)
    assert sum(chances) == pytest.approx(1.0)
    assert swapped(race(mover, opponent)).heuristic() == chances[::-1]


def test_backgammon_reckons_dice_to_be_played() -> None:
    state = games.load("backgammon").new_initial_state()
    assert state.heuristic() == [0.5, 0.5]
    assert state.features() == {"pips": 0, "on_bar": 0, "blots": 0, "points": 0}
    state.apply_action(state.string_to_action("opening roll 65"))
    state.apply_action(state.string_to_action("24/18"))
    assert state.features() == {"pips": -6, "on_bar": 0, "blots": 2, "points": -1}
    assert state.action_features(state.string_to_action("18/13")) == {"hits": 0, "bears_off": 0, "makes_point": 0}


def test_in_backgammon_a_roll_that_wins_is_worth_more_before_it_is_played() -> None:
    def after(roll: str) -> float:
        state = race({6: 2}, {1: 1})  # O bears his last checker off by any roll
        state.apply_action(state.string_to_action(roll))
        assert swapped(state).heuristic() == state.heuristic()[::-1]
        return state.heuristic()[0]

    assert after("roll 66") > 0.7 and after("roll 33") > 0.4 and after("roll 65") < 0.15  # 1, 1 and 0


def written(state: State) -> list[str]:
    return [state.action_to_string(action) for action in state.legal_actions()]


def test_backgammon_tells_hits_points_and_checkers_borne_off() -> None:
    state = race({6: 1, 5: 1, 2: 1}, {24: 1, 20: 2})  # O's blot is on X's point 1
    state.apply_action(state.string_to_action("roll 41"))
    features = {text: state.action_features(state.string_to_action(text)) for text in written(state)}
    assert features["2/1*"] == {"hits": 1, "bears_off": 0, "makes_point": 0}
    assert features["6/2"] == {"hits": 0, "bears_off": 0, "makes_point": 1}
    state = race({4: 1, 1: 1}, {5: 2})
    state.apply_action(state.string_to_action("roll 41"))
    assert {text: state.action_features(state.string_to_action(text))["bears_off"] for text in written(state)}[
        "4/off"
    ] == 1


def leduc(cards: tuple[int, int], table: int = -1, paid: tuple[int, int] = (1, 1)) -> State:
    state = games.load("leduc-poker").new_initial_state()
    facts_of(state.data).cards[:], facts_of(state.data).table, facts_of(state.data).paid[:] = cards, table, paid
    facts_of(state.data).stage = 0 if table < 0 else 1
    return state


@pytest.mark.parametrize(
    ("card", "table", "strength"),
    [
        (2, -1, 4.5 / 5),  # a king: four lower cards, and the other king to share with
        (1, -1, 2.5 / 5),
        (0, -1, 0.5 / 5),
        (0, 0, 1.0),  # a pair: nobody else can have it
        (2, 0, 2.5 / 4),  # loses to the other jack, beats two queens, shares with the other king
        (1, 2, 2.5 / 4 - 0.0),  # loses to the other king; beats two jacks, shares with the other queen
    ],
)
def test_poker_tells_the_strength_of_a_hand(card: int, table: int, strength: float) -> None:
    opponent_card = 1 if card != 1 else 0
    state = leduc((card, opponent_card), table)
    assert state.features() == {"strength": pytest.approx(strength), "pair": float(card == table), "owed": 0}
    assert state.heuristic()[0] == pytest.approx((13 + (2 * strength - 1) * 1) / 26)
    hidden = leduc((card, 2 if card != 2 else 0), table) if table != card else state
    assert hidden.heuristic()[0] == state.heuristic()[0]  # what he may not see does not count


def test_poker_tells_bets_folds_and_what_is_owed() -> None:
    state = leduc((2, 0), paid=(1, 3))
    assert state.features()["owed"] == 2 / 4
    assert state.heuristic()[0] == pytest.approx((13 + 0.8 * 1) / 26)  # of the two only 1 is at stake so far
    features = {text: state.action_features(state.string_to_action(text)) for text in written(state)}
    assert features["fold"] == {"bets": 0, "folds": 1} and features["call"] == {"bets": 0, "folds": 0}
    assert features["raise 2"] == {"bets": 1, "folds": 0}


@pytest.mark.parametrize("name", TELLING)
def test_compiled_and_plain_functions_tell_the_same_all_game_long(name: str) -> None:
    game, rng = games.load(name), random.Random(3)
    out = np.zeros(8)
    for seed in range(2):
        state = game.new_initial_state(seed=seed)
        while not state.is_terminal():
            game.kernels().features(state.data.ctypes.data, out.ctypes.data)
            assert out[: len(game.feature_names)].tolist() == list(state.features().values())
            game.kernels().heuristic(state.data.ctypes.data, out.ctypes.data)
            assert out[:2].tolist() == pytest.approx(state.heuristic(), rel=1e-12)
            if not state.is_chance_node():
                for action in state.legal_actions():
                    game.kernels().action_features(state.data.ctypes.data, action, out.ctypes.data)
                    assert out[: len(game.action_feature_names)].tolist() == list(
                        state.action_features(action).values()
                    )
            state.apply_action(rng.choice(state.legal_actions()))
