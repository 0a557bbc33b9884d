"""What games tell of states and actions, against positions reckoned by hand; and in random play, by compiled and plain functions."""

import random
from collections.abc import Iterator

import numpy as np
import pytest

from icarus import games
from icarus.compiler.plain_python import interpret
from icarus.games.backgammon import CHECKERS, DICE, FACES, OUTPUT
from icarus.games.dou_di_zhu import hand_of
from icarus.games.othello import FIRST, LENGTHS, MOST_MOVES, READINGS, TUPLES, read_tuples
from icarus.kernel import State, facts_of
from tests.games.scenes import after_action, random_walk
from tests.games.test_backgammon import position as backgammon_position
from tests.games.test_checkers import position as checkers_position
from tests.games.test_othello import position as othello_position

TELLING = ["othello", "checkers", "backgammon"]


EMPTY_ROWS = "\n" + "........\n" * 4


def test_othello_counts_corners_moves_and_discs():
    board = "X.OXO... ........ ..O..... ...O...." + EMPTY_ROWS
    state = othello_position(board)  # X may play b1 and f1, O may play nothing
    assert state.features() == {"corners": 1, "mobility": 2, "discs": -2}
    facts_of(state.data).player = 1
    assert state.features() == {"corners": -1, "mobility": -2, "discs": 2}


def test_an_x_square_of_othello_is_one_beside_an_empty_corner():
    board = ".OX..... ........ ..O..... ...X...." + EMPTY_ROWS
    state = othello_position(board)
    a1, b2 = state.string_to_action("a1"), state.string_to_action("b2")
    assert state.action_features(a1) == {"corner": 1, "x_square": 0}
    assert state.action_features(b2) == {"corner": 0, "x_square": 1}
    taken = othello_position(board.replace(".", "X", 1))
    assert taken.action_features(b2) == {"corner": 0, "x_square": 0}


def test_checkers_tells_captures_and_crownings():
    state = checkers_position("Black: b c3, b a7, w d4, w h8")
    assert [state.action_to_string(action) for action in state.legal_actions()] == ["c3xe5"]
    assert state.action_features(state.legal_actions()[0]) == {"captures": 1, "crowns": 0}
    state = checkers_position("Black: b a7, B c5, w h8")
    features = {
        state.action_to_string(action): state.action_features(action)
        for action in state.legal_actions()
    }
    assert features.pop("a7-b8") == {"captures": 0, "crowns": 1}
    assert set(features) == {"c5-b6", "c5-d6", "c5-b4", "c5-d4"}
    assert all(values == {"captures": 0, "crowns": 0} for values in features.values())


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
def test_backgammon_tells_the_chances_of_who_is_to_roll(mover, opponent, chance):
    chances = backgammon_position(mover, opponent).heuristic()
    assert chances[0] == pytest.approx(chance, abs=0.04)
    assert sum(chances) == pytest.approx(1.0)
    assert backgammon_position(mover, opponent, to_roll=1).heuristic() == chances[::-1]


@pytest.mark.parametrize("name", TELLING)
def test_compiled_and_plain_functions_tell_the_same_all_game_long(name):
    game, rng = games.load(name), random.Random(3)
    out = np.zeros(8)
    state = game.new_initial_state(seed=0)
    while not state.is_terminal():
        game.kernels().features(state.data.ctypes.data, out.ctypes.data)
        assert out[: len(game.feature_names)].tolist() == list(state.features().values())
        game.kernels().heuristic(state.data.ctypes.data, out.ctypes.data)
        assert out[:2].tolist() == pytest.approx(state.heuristic(), rel=1e-12)
        if game.action_features is not None and not state.is_chance_node():
            for action in state.legal_actions():
                game.kernels().action_features(state.data.ctypes.data, action, out.ctypes.data)
                assert out[: len(game.action_feature_names)].tolist() == list(
                    state.action_features(action).values()
                )
        state.apply_action(rng.choice(state.legal_actions()))


# -------------------- Heuristics: chances in [0, 1] wherever a game may be cut off, and positions that anybody can judge.


WITH_HEURISTIC = [
    "backgammon",
    "checkers",
    "othello",
    "hearts(threshold=30)",
    "dou-di-zhu",
    "knockout-whist",
    "lotr-confrontation",
]


@pytest.mark.parametrize("name", WITH_HEURISTIC)
def test_every_position_of_random_games_has_chances(name):
    for seed in range(3):
        for state in random_walk(games.load(name).new_initial_state(seed), seed):
            chances = state.heuristic()
            assert all(0 <= chance <= 1 for chance in chances), state
            if state.game.players == 2:
                assert sum(chances) == pytest.approx(1)


def initial_state(name: str) -> State:
    return games.load(name).new_initial_state(1)


def test_a_hand_with_points_is_worse_and_high_cards_take_more():
    state = initial_state("hearts")
    facts_of(state.data).phase = 2
    facts_of(state.data).held[:] = [0x3F, 0x3F << 6, 0x3F << 20, 0x3F << 26]
    even = state.heuristic()
    assert even[0] > even[1]  # ♣2 … ♣7 against ♣8 … ♣K
    facts_of(state.data).points[0] = 13
    assert state.heuristic()[0] < even[0]
    assert state.heuristic()[1] > even[1]


def test_who_is_out_of_knockout_whist_hopes_for_nothing_and_tricks_give_hope():
    state = initial_state("knockout-whist")
    assert state.heuristic() == pytest.approx([0.25] * 4)
    facts_of(state.data).tricks[2] = 3
    facts_of(state.data).alive = 0b0111
    hopes = state.heuristic()
    assert hopes[3] == 0
    assert hopes[2] > hopes[1] == hopes[0]
    assert sum(hopes) == pytest.approx(1)


def test_fewer_plays_and_controls_help_a_side_of_dou_di_zhu():
    state = initial_state("dou-di-zhu")

    def landlord(hand: list[int], peasants: list[int]) -> float:
        facts_of(state.data).hands[:] = [hand_of(hand), hand_of(peasants), hand_of(peasants)]
        return state.heuristic()[0]

    assert landlord([0, 1], [0, 1, 2, 3]) > 0.5 > landlord([0, 1, 2, 3], [0, 1])
    assert landlord([0, 1, 12], [0, 1, 2]) > landlord([0, 1, 3], [0, 1, 2])  # a 2 among them
    assert landlord([0, 0, 0], [3]) > landlord([0, 1, 2], [3])  # a trio is one play
    assert state.heuristic()[1] == state.heuristic()[2] == 1 - state.heuristic()[0]


def test_light_gains_by_frodo_s_way_and_dark_by_pieces():
    state = initial_state("lotr-confrontation")
    assert state.heuristic() == [0.5, 0.5]
    facts_of(state.data).pos[0] = 13  # Frodo in Dagorlad
    assert state.heuristic()[0] > 0.6
    facts_of(state.data).count[0, 16] = 4  # four of Light's are dead
    assert state.heuristic()[0] < 0.5


def test_in_backgammon_it_is_worth_a_little_to_be_on_roll_and_the_bar_is_bad():
    chance = backgammon_position(OPENING, OPENING).heuristic()[0]
    assert chance > 0.5
    entering = {25 if point == 24 else point: count for point, count in OPENING.items()}
    assert backgammon_position(entering, OPENING).heuristic()[0] < chance


def test_backgammon_adds_what_each_checker_weighs_on_its_place():
    luck, state = np.random.default_rng(4), games.load("backgammon").new_initial_state(4)
    state.apply_action(int(luck.choice(state.legal_actions())))
    while not state.is_terminal():
        mover, (larger, smaller) = int(state.facts.player), state.facts.dice
        # the smaller die; where it is 0, because it has been played or both are alike, how many are left
        sums = DICE[larger, smaller or FACES + state.facts.left].copy()
        for weights, owner in zip(CHECKERS, (mover, 1 - mover), strict=True):
            for (one, two, three, each_more), count in zip(
                weights, state.facts.points[owner], strict=True
            ):
                if count:
                    sums += (one, two, three)[min(count, 3) - 1] + max(count - 3, 0) * each_more
        chance = 1 / (1 + np.exp(-(OUTPUT @ (sums / (1 + np.abs(sums))))))
        assert state.heuristic()[mover] == pytest.approx(chance, abs=1e-9)
        state.apply_action(int(luck.choice(state.legal_actions())))


# -------------------- Othello's n-tuple network: what it reads, that symmetric positions are worth the same, and that it plays.


OTHELLO = games.load("othello")
SQUARES = np.arange(64).reshape(8, 8)  # by row and column
Squares = list[int]


def symmetries(squares: np.ndarray) -> Iterator[np.ndarray]:
    """The eight boards that a board looks like from its sides, and in a mirror."""
    for board in (squares, squares.T):
        for turns in range(4):
            yield np.rot90(board, turns)


def tuples_seen(squares: np.ndarray) -> list[Squares]:
    """The squares of each tuple, by the drawing in the docstring."""
    edge = [*squares[0], squares[1, 1], squares[1, 6]]
    rows = [list(squares[row]) for row in (1, 2, 3)]
    diagonals = [
        [squares[length - 1 - column, column] for column in range(length)] for length in range(4, 9)
    ]
    return [edge, *rows, *diagonals, list(squares[:3, :3].ravel())]


def digits_of(place: int, number: int) -> list[int]:
    """What lies on the squares of a tuple, of a place counted from the tuple's first."""
    return [place // 3**digit % 3 for digit in range(LENGTHS[number])]


def either_way(number: int, digits: list[int]) -> tuple[int, list[int]]:
    """A tuple's number and digits; of it and its mirror image, which weigh the same, the lower."""
    if number == 0:  # an edge, and the squares beside its corners
        mirror = digits[7::-1] + digits[:7:-1]
    elif number == TUPLES - 1:  # a corner
        mirror = [digits[3 * column + row] for row in range(3) for column in range(3)]
    else:
        mirror = digits[::-1]
    return number, min(digits, mirror)


def random_positions(number: int) -> Iterator[State]:
    luck = np.random.default_rng(4)
    for seed in range(number):
        state = OTHELLO.new_initial_state(seed)
        for _ in range(int(luck.integers(1, 60))):
            state.apply_action(int(luck.choice(state.legal_actions())))
            if state.is_terminal():
                break
        else:
            yield state


def contents(state: State) -> list[int]:
    """Of each square 0 where it is empty, 1 with a disc of who is to move, 2 with one of the other."""
    mine, theirs = (int(state.facts.discs[i]) for i in (state.facts.player, 1 - state.facts.player))
    return [(mine >> square & 1) + 2 * (theirs >> square & 1) for square in range(64)]


def rearranged(state: State, squares: np.ndarray) -> State:
    """The position with the disc of `squares[row, column]` on each square."""
    rearrangement = state.clone()
    for player in range(2):
        discs = int(state.facts.discs[player])
        facts_of(rearrangement.data).discs[player] = np.uint64(
            sum((discs >> int(old) & 1) << new for new, old in enumerate(squares.ravel()))
        )
    return rearrangement


def test_it_reads_the_contents_of_every_tuple_from_all_four_sides():
    for state in random_positions(20):
        discs, player, places = state.facts.discs, state.facts.player, np.empty(READINGS, np.int64)
        interpret(read_tuples)(discs[player], discs[1 - player], places)
        read, expected, content = [], [], contents(state)
        for place in places[:-1]:
            number = int(np.searchsorted(FIRST, place, side="right")) - 1
            read.append(either_way(number, digits_of(int(place - FIRST[number]), number)))
        for turns in range(4):
            for number, squares in enumerate(tuples_seen(np.rot90(SQUARES, turns))):
                expected.append(either_way(number, [content[square] for square in squares]))
        assert sorted(read) == sorted(expected)
        mobility, opponent_mobility = divmod(int(places[-1]) - int(FIRST[TUPLES]), MOST_MOVES + 1)
        assert mobility - opponent_mobility == state.features()["mobility"]


def test_the_eight_symmetries_of_a_position_are_worth_the_same():
    for state in random_positions(12):
        assert [rearranged(state, squares).heuristic() for squares in symmetries(SQUARES)] == [
            state.heuristic()
        ] * 8


def test_exchanged_colours_exchange_the_chances():
    for state in random_positions(20):
        variant = state.clone()
        facts_of(variant.data).discs[:] = state.facts.discs[::-1]
        facts_of(variant.data).player = 1 - state.facts.player
        chances = state.heuristic()
        assert variant.heuristic() == chances[::-1]
        assert sum(chances) == pytest.approx(1)
        assert 0 < min(chances)


def test_its_best_moves_win_almost_all_games_against_random_ones():
    teller = OTHELLO.kernels().heuristic
    out = np.zeros(2)
    luck = np.random.default_rng(5)
    total = 0.0
    for seed in range(10):
        state, seat = OTHELLO.new_initial_state(seed), seed % 2
        while not state.is_terminal():
            actions = state.legal_actions()
            chances = []
            for action in actions:
                following = after_action(state, action)
                teller(following.data.ctypes.data, out.ctypes.data)
                chances.append(out[seat])
            chosen = (
                int(np.argmax(chances))
                if state.current_player() == seat
                else int(luck.integers(len(actions)))
            )
            state.apply_action(actions[chosen])
        total += state.returns()[seat]
    assert total >= 9
