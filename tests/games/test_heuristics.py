"""Heuristics: chances in [0, 1] wherever a game may be cut off, and positions that anybody can judge."""

import numpy as np
import pytest

from icarus import State, games
from icarus.games.backgammon import survey
from icarus.games.dou_di_zhu import hand_of
from icarus.kernel.contract import facts_of

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
def test_every_position_of_random_games_has_chances(name: str) -> None:
    luck = np.random.default_rng(1)
    for seed in range(3):
        state = games.load(name).new_initial_state(seed)
        while not state.is_terminal():
            chances = state.heuristic()
            assert all(0 <= chance <= 1 for chance in chances), state
            if state.game.players == 2:
                assert sum(chances) == pytest.approx(1)
            state.apply_action(int(luck.choice(state.legal_actions())))


def initial_state(name: str) -> State:
    return games.load(name).new_initial_state(1)


def test_a_hand_with_points_is_worse_and_high_cards_take_more() -> None:
    state = initial_state("hearts")
    facts_of(state.data).phase = 2
    facts_of(state.data).held[:] = [0x3F, 0x3F << 6, 0x3F << 20, 0x3F << 26]
    even = state.heuristic()
    assert even[0] > even[1]  # ♣2 … ♣7 against ♣8 … ♣K
    facts_of(state.data).points[0] = 13
    assert state.heuristic()[0] < even[0] and state.heuristic()[1] > even[1]


def test_who_is_out_of_knockout_whist_hopes_for_nothing_and_tricks_give_hope() -> None:
    state = initial_state("knockout-whist")
    assert state.heuristic() == pytest.approx([0.25] * 4)
    facts_of(state.data).tricks[2] = 3
    facts_of(state.data).alive = 0b0111
    hopes = state.heuristic()
    assert hopes[3] == 0 and hopes[2] > hopes[1] == hopes[0] and sum(hopes) == pytest.approx(1)


def test_fewer_plays_and_controls_help_a_side_of_dou_di_zhu() -> None:
    state = initial_state("dou-di-zhu")

    def landlord(hand: list[int], peasants: list[int]) -> float:
        facts_of(state.data).hands[:] = [hand_of(hand), hand_of(peasants), hand_of(peasants)]
        return state.heuristic()[0]

    assert landlord([0, 1], [0, 1, 2, 3]) > 0.5 > landlord([0, 1, 2, 3], [0, 1])
    assert landlord([0, 1, 12], [0, 1, 2]) > landlord([0, 1, 3], [0, 1, 2])  # a 2 among them
    assert landlord([0, 0, 0], [3]) > landlord([0, 1, 2], [3])  # a trio is one play
    assert state.heuristic()[1] == state.heuristic()[2] == 1 - state.heuristic()[0]


def test_light_gains_by_frodo_s_way_and_dark_by_pieces() -> None:
    state = initial_state("lotr-confrontation")
    assert state.heuristic() == [0.5, 0.5]
    facts_of(state.data).pos[0] = 13  # Frodo in Dagorlad
    assert state.heuristic()[0] > 0.6
    facts_of(state.data).count[0, 16] = 4  # four of Light's are dead
    assert state.heuristic()[0] < 0.5


def backgammon(mover: dict[int, int], opponent: dict[int, int]) -> State:
    """X to roll, with the checkers of each on their own points."""
    state = initial_state("backgammon")
    facts_of(state.data).points[:] = 0
    for owner, side in enumerate((mover, opponent)):
        for point, count in side.items():
            facts_of(state.data).points[owner, point] = count
        facts_of(state.data).points[owner, 0] = 15 - sum(side.values())
    facts_of(state.data).player, facts_of(state.data).actor, facts_of(state.data).dice[:], facts_of(state.data).left = (
        0,
        -1,
        0,
        0,
    )
    survey.py_func(facts_of(state.data))
    return state


def test_with_contact_a_prime_is_good_and_the_bar_is_bad() -> None:
    start = {24: 2, 13: 5, 8: 3, 6: 5}
    assert 0.5 < backgammon(start, start).heuristic()[0] < 0.58  # it is worth a little to be on roll
    primed = {8: 2, 7: 2, 6: 3, 5: 3, 4: 3, 3: 2}
    assert backgammon(primed, {24: 2, 13: 5, 8: 3, 6: 5}).heuristic()[0] > 0.7
    assert backgammon({25: 2, 13: 5, 8: 3, 6: 5}, start).heuristic()[0] < backgammon(start, start).heuristic()[0]
