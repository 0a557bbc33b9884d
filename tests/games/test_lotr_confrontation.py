"""The Confrontation: hand-made positions with known outcomes (T1 … T32), what players can know (K1 … K5), random play."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import chisquare

from icarus.compiler.rng import seeded
from icarus.games.lotr_board import (
    ALL_CARDS,
    ARAGORN,
    ARTHEDAIN,
    BALROG,
    BATTLE,
    BLACK_RIDER,
    BOROMIR,
    CAPACITY,
    CARADHRAS,
    CARD_VALUE,
    CARDOLAN,
    CARDS,
    CARDS_SHOWN,
    CAVE_TROLL,
    CLOAK,
    DAGORLAD,
    DARK,
    DARK_MOVES_ASIDE,
    DARK_PICKS,
    DARK_PLAYS,
    DEAD,
    ENEDWAITH,
    EREGION,
    EYE,
    FACE_DOWN,
    FANGORN,
    FRODO,
    FRODO_ARRIVES,
    GANDALF,
    GAP_OF_ROHAN,
    GIMLI,
    GONDOR,
    HIGH_PASS,
    LEGOLAS,
    LIGHT,
    LIGHT_CARD,
    LIGHT_PLAYS,
    LONGEST_TURN,
    MAGIC,
    MAX_LEGAL,
    MAX_TURNS,
    MERRY,
    MIRKWOOD,
    MISTY_MOUNTAINS,
    MORDOR,
    MOVE,
    NAZGUL,
    NOBLE_SACRIFICE,
    ORCS,
    PIECE_NAMES,
    PIECES,
    PIPPIN,
    RETREAT,
    REVEAL,
    RHUDAUR,
    ROHAN,
    SAM,
    SARUMAN,
    SHELOB,
    SHIRE,
    SHOW,
    SQUARE_NAMES,
    SQUARES,
    TEAM,
    UNSEEN_PIECE,
    WARG,
    WITCH_KING,
    mover_unseen,
)
from icarus.games.lotr_confrontation import lotr_confrontation, simultaneous
from icarus.kernel import CHANCE, TERMINAL, below, helper
from icarus.kernel.state import State

GAME = lotr_confrontation()
SIDES = (LIGHT, DARK)
NUMBERS = [
    {CARD_VALUE[side, card]: card for card in range(CARDS)} for side in (LIGHT, DARK)
]  # the card with a number, by side


# ------------------------------------------------------------------------------------------------ positions and how to play them


def position(side, pieces, used=((), ()), possible=None, shire=4):
    """The start of a turn: `pieces` {character: square}, all others dead; all squares known but those in `possible`."""
    state = lotr_confrontation(dark_shire_to_win=shire).new_initial_state()
    facts = state.facts
    facts.side = side
    for piece in range(PIECES):
        square = pieces.get(piece, DEAD)
        facts.pos[piece] = square
        facts.possible[piece] = 1 << square
    for piece, squares in (possible or {}).items():
        facts.possible[piece] = sum(1 << square for square in squares)
    for owner in SIDES:
        facts.hands[owner] = ALL_CARDS & ~sum(1 << card for card in used[owner])
        facts.held[owner] = facts.full[owner] = 0
        for square in range(DEAD + 1):
            count = sum(facts.pos[piece] == square for piece in range(owner * TEAM, owner * TEAM + TEAM))
            facts.count[owner, square] = count
            facts.held[owner] |= (count > 0) << square
            facts.full[owner] |= (count >= CAPACITY[square]) << square
    return State(state.game, state.data)


def play(state, *steps):
    """Play actions by their texts; what the environment does alone is not written unless there is a choice."""
    remaining = list(steps)
    while remaining:
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        if remaining[0] in texts:
            state.apply_action(state.string_to_action(remaining.pop(0)))
        elif state.is_chance_node() and len(texts) == 1:
            state.apply_action(state.legal_actions()[0])
        else:
            raise AssertionError(f"{remaining[0]!r} is not among {texts} in\n{state}")
    while state.is_chance_node() and len(state.legal_actions()) == 1:
        state.apply_action(state.legal_actions()[0])
    return state


def options(state):
    return {state.action_to_string(action) for action in state.legal_actions()}


def targets(state, piece):
    """The squares to which a piece may move now."""
    return {action % SQUARES for action in state.legal_actions() if action // SQUARES**2 == piece}


def where(state, *pieces):
    return [int(state.facts.pos[piece]) for piece in pieces]


def hand(state, side):
    return {card for card in range(CARDS) if state.facts.hands[side] >> card & 1}


def winner(state):
    assert state.is_terminal()
    return {(1.0, 0.0): LIGHT, (0.0, 1.0): DARK}[tuple(state.returns())]


def light_to_move(state):
    return not state.is_terminal() and state.facts.node == MOVE and state.current_player() == LIGHT


def dark_to_move(state):
    return not state.is_terminal() and state.facts.node == MOVE and state.current_player() == DARK


D6, D2, D1 = NUMBERS[DARK][6], NUMBERS[DARK][2], NUMBERS[DARK][1]
L5, L1 = NUMBERS[LIGHT][5], NUMBERS[LIGHT][1]
HOME = {FRODO: SHIRE, BALROG: MORDOR}  # bystanders that keep the game going


# -------------------------------------------------------------------------------------------------------------------- T1: setups


def test_t1_every_setup_has_four_at_home_and_one_in_each_other_starting_square():
    game, squares_of_pieces = lotr_confrontation(random_setup=1), [set() for _ in range(PIECES)]
    for seed in range(300):
        facts = game.new_initial_state(seed=seed).facts
        for side, home in ((LIGHT, SHIRE), (DARK, MORDOR)):
            squares = sorted(facts.pos[side * TEAM :][:TEAM].tolist())
            others = [1, 2, 3, 4, 5] if side == LIGHT else [10, 11, 12, 13, 14]
            assert squares == sorted([home] * 4 + others)
        for piece in range(PIECES):
            squares_of_pieces[piece].add(int(facts.pos[piece]))
    assert all(len(squares) == 6 for squares in squares_of_pieces)


def test_random_setups_are_uniform_over_the_squares():
    game = lotr_confrontation(random_setup=1)
    at_home = np.zeros(PIECES)
    for seed in range(2000):
        facts = game.new_initial_state(seed=seed).facts
        at_home += np.isin(facts.pos, (SHIRE, MORDOR))
    assert at_home.sum() == 2000 * 8
    for side in SIDES:
        assert chisquare(at_home[side * TEAM :][:TEAM]).pvalue > 1e-4


def test_the_fixed_setup_gives_26_first_moves_to_dark_and_19_to_light():
    state = GAME.new_initial_state()
    assert state.current_player() == DARK and len(state.legal_actions()) == 26
    state.facts.side = LIGHT
    assert len(state.legal_actions()) == 19


# -------------------------------------------------------------------------------------------------------- moves: T2, T3, T25-T28


def test_t2_a_full_square_is_closed_to_its_owner():
    state = position(LIGHT, {FRODO: SHIRE, MERRY: ARTHEDAIN, GIMLI: ARTHEDAIN, BALROG: MORDOR})
    assert targets(state, FRODO) == {CARDOLAN}


def test_t3_the_anduin_carries_light_downstream_only():
    state = position(LIGHT, {FRODO: SHIRE, MERRY: MIRKWOOD, GIMLI: FANGORN, LEGOLAS: ROHAN, BALROG: MORDOR})
    assert targets(state, MERRY) == {DAGORLAD, FANGORN}
    assert targets(state, GIMLI) == {DAGORLAD, GONDOR, ROHAN}
    assert targets(state, LEGOLAS) == {GONDOR}


@pytest.mark.parametrize("piece", [piece for piece in range(ORCS, PIECES) if piece != NAZGUL])
def test_t3_a_dark_piece_in_rohan_never_moves_to_an_empty_fangorn(piece):
    state = position(DARK, {FRODO: SHIRE, piece: ROHAN})
    assert {CARADHRAS, GAP_OF_ROHAN} <= targets(state, piece) <= {CARADHRAS, GAP_OF_ROHAN, SHIRE}


def test_t25_the_nazgul_flies_to_lone_pieces_anywhere():
    state = position(DARK, {NAZGUL: MISTY_MOUNTAINS, GIMLI: CARADHRAS, MERRY: GONDOR, FRODO: SHIRE, SAM: SHIRE})
    assert targets(state, NAZGUL) == {CARADHRAS, GONDOR, RHUDAUR, EREGION}


def test_t25_the_nazgul_dies_to_legolas():
    state = position(DARK, {NAZGUL: MISTY_MOUNTAINS, LEGOLAS: CARADHRAS, FRODO: SHIRE, BALROG: MORDOR})
    play(state, "Nazgul MistyMtns-Caradhras")
    assert where(state, NAZGUL, LEGOLAS) == [DEAD, CARADHRAS] and light_to_move(state)


def test_the_nazgul_flies_from_the_shire():
    state = position(DARK, {NAZGUL: SHIRE, GIMLI: CARADHRAS, FRODO: GONDOR})
    assert targets(state, NAZGUL) == {CARADHRAS, GONDOR}


def test_t26_the_rider_attacks_along_free_squares():
    pieces = {
        BLACK_RIDER: MORDOR,
        ORCS: HIGH_PASS,
        WARG: MISTY_MOUNTAINS,
        MERRY: RHUDAUR,
        GIMLI: ENEDWAITH,
        FRODO: SHIRE,
    }
    state = position(DARK, pieces)
    assert targets(state, BLACK_RIDER) == {DAGORLAD, GONDOR, ENEDWAITH, SHIRE}


def test_t27_the_witch_king_attacks_sideways_and_the_square_he_left_is_free():
    state = position(DARK, {WITCH_KING: MIRKWOOD, FRODO: FANGORN, ORCS: ROHAN})
    assert targets(state, WITCH_KING) == {FANGORN, HIGH_PASS, MISTY_MOUNTAINS}
    play(state, "Witch King Mirkwood-Fangorn")
    assert options(state) == {"stay", "to Mirkwood"}


def test_t27_mountains_have_no_sides():
    state = position(DARK, {WITCH_KING: HIGH_PASS, FRODO: MISTY_MOUNTAINS})
    assert targets(state, WITCH_KING) == {RHUDAUR}


def test_t28_aragorn_attacks_any_neighbour():
    state = position(LIGHT, {FRODO: SHIRE, ARAGORN: EREGION, ORCS: CARDOLAN, WARG: RHUDAUR, BALROG: ENEDWAITH})
    assert targets(state, ARAGORN) == {MISTY_MOUNTAINS, CARADHRAS, FANGORN, CARDOLAN, RHUDAUR, ENEDWAITH}


def test_t28_aragorn_in_the_mountains_attacks_no_mountain():
    state = position(
        LIGHT, {FRODO: SHIRE, ARAGORN: CARADHRAS, ORCS: MISTY_MOUNTAINS, WARG: GAP_OF_ROHAN, BALROG: EREGION}
    )
    assert targets(state, ARAGORN) == {FANGORN, ROHAN, EREGION}


def test_aragorn_does_not_attack_backwards_through_the_tunnel():
    state = position(LIGHT, {FRODO: SHIRE, ARAGORN: FANGORN, ORCS: EREGION, WARG: MIRKWOOD})
    assert targets(state, ARAGORN) == {DAGORLAD, GONDOR, ROHAN, MIRKWOOD}


# ----------------------------------------------------------------------------------------------------------- the tunnel: T4, T29

TUNNEL = {FRODO: SHIRE, MERRY: EREGION, BALROG: CARADHRAS, ORCS: FANGORN, WARG: MORDOR}


def test_t4a_the_balrog_takes_the_mover_and_reveals_no_one_else():
    hidden = {ORCS: (FANGORN, MORDOR), WARG: (FANGORN, MORDOR)}
    state = play(position(LIGHT, TUNNEL, possible=hidden), "Merry Eregion-Fangorn", "ambush")
    assert where(state, MERRY, ORCS) == [DEAD, FANGORN] and dark_to_move(state)
    assert possible_squares(state, ORCS) == {FANGORN, MORDOR} and possible_squares(state, BALROG) == {CARADHRAS}


def test_t4a_the_victim_is_shown_to_dark():
    state = play(position(LIGHT, TUNNEL), "Merry Eregion-Fangorn", "ambush")
    assert state.moves(DARK)[-1] == BATTLE + MERRY * PIECES + BALROG


def test_t4b_the_balrog_may_let_them_pass():
    pieces = {**TUNNEL, GIMLI: EREGION}
    state = play(position(LIGHT, pieces), "Gimli Eregion-Fangorn", "pass")
    assert where(state, GIMLI, ORCS, BALROG) == [FANGORN, DEAD, CARADHRAS] and dark_to_move(state)


def test_t4c_only_the_balrog_ambushes():
    pieces = {**TUNNEL, BALROG: MORDOR, WARG: CARADHRAS}
    state = play(position(LIGHT, pieces), "Merry Eregion-Fangorn")
    assert state.current_player() == DARK and options(state) == {"pass"}


def test_t4d_frodo_falls_to_the_ambush():
    pieces = {**TUNNEL, FRODO: EREGION}
    assert winner(play(position(LIGHT, pieces), "Frodo Eregion-Fangorn", "ambush")) == DARK


def test_boromir_does_not_take_the_balrog_along_in_the_tunnel():
    pieces = {**TUNNEL, BOROMIR: EREGION}
    assert where(play(position(LIGHT, pieces), "Boromir Eregion-Fangorn", "ambush"), BOROMIR, BALROG) == [
        DEAD,
        CARADHRAS,
    ]


def test_a_walk_to_fangorn_over_the_mountains_is_not_ambushed():
    pieces = {**TUNNEL, MERRY: MISTY_MOUNTAINS}
    state = play(position(LIGHT, pieces), "Merry MistyMtns-Fangorn")
    assert simultaneous_cards(state) and where(state, MERRY) == [FANGORN]


def test_t29_pippin_retreats_from_the_tunnel_into_the_mountains():
    state = play(
        position(LIGHT, {FRODO: SHIRE, PIPPIN: EREGION, ORCS: FANGORN, BALROG: MORDOR}), "Pippin Eregion-Fangorn"
    )
    assert options(state) == {"stay", "to MistyMtns", "to Caradhras"}
    play(state, "to Caradhras")
    assert where(state, PIPPIN, ORCS) == [CARADHRAS, FANGORN] and dark_to_move(state) and len(hand(state, LIGHT)) == 9


def test_t29_a_mountain_with_dark_pieces_is_no_retreat():
    pieces = {FRODO: SHIRE, PIPPIN: EREGION, ORCS: FANGORN, WARG: CARADHRAS, BALROG: MORDOR}
    state = play(position(LIGHT, pieces), "Pippin Eregion-Fangorn", "pass")
    assert options(state) == {"stay", "to MistyMtns"}


# ------------------------------------------------------------------------------------------------------- characters: T5-T14, T24


def test_t5_frodo_in_mordor_wins_at_once():
    pieces = {FRODO: DAGORLAD, ORCS: MORDOR, WARG: MORDOR, BALROG: MORDOR, CAVE_TROLL: MORDOR}
    state = play(position(LIGHT, pieces), "Frodo Dagorlad-Mordor")
    assert winner(state) == LIGHT and len(state.history) == 1
    assert state.moves(DARK) == (FRODO_ARRIVES + DAGORLAD * SQUARES + MORDOR,)


@pytest.mark.parametrize(("side", "move"), [(DARK, "Witch King MistyMtns-Eregion"), (LIGHT, "Merry Eregion-MistyMtns")])
def test_t6_merry_defeats_the_witch_king_without_cards(side, move):
    state = play(position(side, {**HOME, WITCH_KING: MISTY_MOUNTAINS, MERRY: EREGION}), move)
    assert where(state, WITCH_KING) == [DEAD] and where(state, MERRY) != [DEAD]
    assert len(hand(state, LIGHT)) == len(hand(state, DARK)) == 9


def test_t7_the_orcs_defeat_their_first_opponent_only():
    pieces = {ORCS: MISTY_MOUNTAINS, SAM: EREGION, FRODO: EREGION, BALROG: MORDOR}
    state = play(position(DARK, pieces), "Orcs MistyMtns-Eregion", "Orcs v Sam", "with Frodo")
    assert where(state, SAM, ORCS) == [DEAD, EREGION]
    assert state.current_player() == LIGHT and options(state) == {"stay", "to Rhudaur", "to Enedwaith"}
    play(state, "stay")
    assert simultaneous_cards(state)


def test_t8_frodo_escapes_the_orcs():
    pieces = {ORCS: MISTY_MOUNTAINS, FRODO: EREGION, BALROG: MORDOR}
    state = play(position(DARK, pieces), "Orcs MistyMtns-Eregion", "to Enedwaith")
    assert where(state, FRODO, ORCS) == [ENEDWAITH, EREGION] and light_to_move(state)


def test_t9_sam_dies_for_frodo():
    pieces = {ORCS: MISTY_MOUNTAINS, SAM: EREGION, FRODO: EREGION, BALROG: MORDOR}
    state = play(position(DARK, pieces), "Orcs MistyMtns-Eregion", "Orcs v Frodo", "Sam steps in")
    assert where(state, SAM, FRODO) == [DEAD, EREGION]
    assert winner(play(state, "stay", "card 6", "card 1")) == DARK


def test_t10_boromir_takes_the_attacking_orcs_along():
    state = play(position(DARK, {**HOME, ORCS: MISTY_MOUNTAINS, BOROMIR: EREGION}), "Orcs MistyMtns-Eregion")
    assert where(state, ORCS, BOROMIR) == [DEAD, DEAD]


def test_t11_the_warg_ignores_boromir():
    state = play(
        position(DARK, {**HOME, WARG: MISTY_MOUNTAINS, BOROMIR: EREGION}), "Warg MistyMtns-Eregion", "card 1", "card 4"
    )
    assert where(state, WARG, BOROMIR) == [DEAD, EREGION]


def test_t12_the_warg_ignores_frodo_and_sam():
    pieces = {WARG: MISTY_MOUNTAINS, FRODO: EREGION, SAM: EREGION, BALROG: MORDOR}
    state = play(position(DARK, pieces), "Warg MistyMtns-Eregion", "Warg v Frodo")
    assert simultaneous_cards(state)
    assert winner(play(state, "card 1", "card 2")) == DARK
    assert where(state, WARG, FRODO) == [DEAD, DEAD]


def test_the_warg_ignores_sam_pippin_and_gandalf():
    for light, side in ((SAM, DARK), (GANDALF, DARK), (PIPPIN, LIGHT)):
        pieces = {FRODO: EREGION, light: EREGION, WARG: MISTY_MOUNTAINS, BALROG: MORDOR}
        state = position(side, pieces)
        name = PIECE_NAMES[light]
        play(state, *(("Warg MistyMtns-Eregion", f"Warg v {name}") if side == DARK else (f"{name} Eregion-MistyMtns",)))
        assert simultaneous_cards(state)


def test_t13_sam_steps_in_with_strength_five():
    pieces = {BALROG: EREGION, FRODO: CARDOLAN, SAM: CARDOLAN, ORCS: MORDOR}
    state = play(
        position(DARK, pieces), "Balrog Eregion-Cardolan", "Balrog v Frodo", "Sam steps in", "card 2", "card 3"
    )
    assert where(state, BALROG, SAM, FRODO) == [DEAD, CARDOLAN, CARDOLAN] and light_to_move(state)


def test_t14_sam_without_frodo_is_two():
    pieces = {BALROG: MISTY_MOUNTAINS, FRODO: EREGION, SAM: EREGION, ORCS: MORDOR}
    state = play(position(DARK, pieces), "Balrog MistyMtns-Eregion", "Balrog v Frodo", "to Rhudaur", "card 1", "card 1")
    assert where(state, SAM, FRODO, BALROG) == [DEAD, RHUDAUR, EREGION] and light_to_move(state)


def test_sam_alone_fights_at_two_where_frodo_is_not_shown():
    pieces = {BLACK_RIDER: MISTY_MOUNTAINS, FRODO: EREGION, SAM: EREGION, ORCS: MORDOR}
    state = play(
        position(DARK, pieces), "Black Rider MistyMtns-Eregion", "Black Rider v Sam", "alone", "card 1", "card 1"
    )
    assert where(state, SAM, BLACK_RIDER) == [DEAD, EREGION]


def test_sams_strength_does_not_outlast_the_battle():
    pieces = {CAVE_TROLL: MISTY_MOUNTAINS, FRODO: EREGION, SAM: EREGION, ORCS: MORDOR}
    state = play(
        position(DARK, pieces), "Cave Troll MistyMtns-Eregion", "Cave Troll v Sam", "with Frodo", "card 1", "card 1"
    )
    play(state, "stay")
    assert where(state, SAM) == [DEAD]
    assert winner(play(state, "card 2", "card 5")) == DARK  # 9 v 1 + 5, not v 5 + 5


def test_a_friend_who_may_be_frodo_gives_sam_the_question_but_not_the_strength():
    pieces = {BALROG: MISTY_MOUNTAINS, GIMLI: EREGION, SAM: EREGION, FRODO: SHIRE, ORCS: MORDOR}
    state = play(position(DARK, pieces), "Balrog MistyMtns-Eregion", "Balrog v Sam")
    assert options(state) == {"alone"}


@pytest.mark.parametrize(
    ("crowd", "home"), [((), GONDOR), ((SARUMAN,), GONDOR), ((SARUMAN, WARG), DEAD), ((GIMLI,), DEAD)]
)
def test_t24_shelob_goes_home_after_a_victory(crowd, home):
    pieces = {**HOME, SHELOB: CARADHRAS, MERRY: EREGION, PIPPIN: EREGION, **dict.fromkeys(crowd, GONDOR)}
    state = play(position(DARK, pieces), "Shelob Caradhras-Eregion", "Shelob v Merry", "card 1", "card 1")
    assert where(state, MERRY, SHELOB, PIPPIN) == [DEAD, home, EREGION] and light_to_move(state)


def test_t24_a_defending_shelob_goes_home_too():
    state = play(
        position(LIGHT, {**HOME, MERRY: EREGION, SHELOB: CARADHRAS}), "Merry Eregion-Caradhras", "card 1", "card 1"
    )
    assert where(state, MERRY, SHELOB) == [DEAD, GONDOR] and dark_to_move(state)


def test_t24_shelob_stays_in_gondor():
    state = play(position(LIGHT, {**HOME, MERRY: FANGORN, SHELOB: GONDOR}), "Merry Fangorn-Gondor", "card 1", "card 1")
    assert where(state, MERRY, SHELOB) == [DEAD, GONDOR]


def test_t24_an_attacking_shelob_in_gondor_fights_on():
    pieces = {**HOME, MERRY: GONDOR, GIMLI: GONDOR, SHELOB: MORDOR}
    state = play(
        position(DARK, pieces), "Shelob Mordor-Gondor", "Shelob v Merry", "card 1", "card 1", "card 2", "card 2"
    )
    assert where(state, MERRY, GIMLI, SHELOB) == [DEAD, DEAD, GONDOR]


def test_shelob_who_dies_with_her_opponent_does_not_go_home():
    state = play(
        position(LIGHT, {**HOME, GIMLI: EREGION, SHELOB: CARADHRAS}), "Gimli Eregion-Caradhras", "card 1", "card 3"
    )
    assert where(state, GIMLI, SHELOB) == [DEAD, DEAD]


def test_shelob_without_a_home_may_be_the_last_dark_piece():
    pieces = {FRODO: SHIRE, SHELOB: CARADHRAS, MERRY: EREGION, GIMLI: GONDOR}
    assert winner(play(position(DARK, pieces), "Shelob Caradhras-Eregion", "card 1", "card 1")) == LIGHT


# ------------------------------------------------------------------------------------------------------ cards: T15-T23, T31, T32

GANDALF_ATTACKED = {**HOME, BALROG: MISTY_MOUNTAINS, GANDALF: EREGION, ORCS: MORDOR}


def test_t15_gandalf_sees_darks_card_first():
    state = play(position(DARK, GANDALF_ATTACKED), "Balrog MistyMtns-Eregion", "card 6")
    assert state.current_player() == LIGHT and state.moves(LIGHT)[-1] == DARK_PLAYS + D6
    assert not simultaneous_cards(state)
    for seed in range(30):
        assert state.determinize(LIGHT, seed).facts.cards[DARK] == D6
    play(state, "Elven Cloak")
    assert where(state, GANDALF, BALROG) == [DEAD, DEAD]
    assert hand(state, LIGHT) == set(range(CARDS)) - {CLOAK} and hand(state, DARK) == set(range(CARDS)) - {D6}


def test_t16_darks_magic_is_complete_before_gandalf_chooses():
    used = ((NOBLE_SACRIFICE, L1), (D6, D1))
    state = play(position(DARK, GANDALF_ATTACKED, used), "Balrog MistyMtns-Eregion", "Magic")
    assert state.current_player() == DARK and options(state) == {"card 6", "card 1"}
    play(state, "card 6")
    assert state.current_player() == LIGHT and len(options(state)) == 7
    play(state, "Magic")
    assert options(state) == {"Noble Sacrifice", "card 1"}
    play(state, "Noble Sacrifice")
    assert where(state, GANDALF, BALROG) == [DEAD, DEAD]


def test_t17_the_eye_cancels_a_text_card():
    pieces = {**HOME, SARUMAN: MISTY_MOUNTAINS, LEGOLAS: EREGION}
    state = play(position(DARK, pieces), "Saruman MistyMtns-Eregion", "play cards", "Eye of Sauron", "Noble Sacrifice")
    assert where(state, LEGOLAS, SARUMAN) == [DEAD, EREGION]


def test_the_eye_has_no_effect_on_a_number():
    pieces = {**HOME, SARUMAN: MISTY_MOUNTAINS, LEGOLAS: EREGION}
    state = play(position(DARK, pieces), "Saruman MistyMtns-Eregion", "play cards", "Eye of Sauron", "card 2")
    assert where(state, LEGOLAS, SARUMAN) == [EREGION, DEAD]


def test_t18_saruman_cancels_the_cards():
    pieces = {SARUMAN: MISTY_MOUNTAINS, SAM: EREGION, FRODO: EREGION, ORCS: MORDOR}
    state = play(position(DARK, pieces), "Saruman MistyMtns-Eregion", "Saruman v Sam", "with Frodo", "no cards")
    assert where(state, SARUMAN, SAM) == [DEAD, EREGION]
    assert len(hand(state, LIGHT)) == len(hand(state, DARK)) == 9


def test_saruman_has_no_say_against_boromir():
    state = play(position(DARK, {**HOME, SARUMAN: MISTY_MOUNTAINS, BOROMIR: EREGION}), "Saruman MistyMtns-Eregion")
    assert where(state, SARUMAN, BOROMIR) == [DEAD, DEAD]


def test_saruman_without_cards_takes_gandalfs_text_away():
    state = play(
        position(DARK, {**HOME, SARUMAN: MISTY_MOUNTAINS, GANDALF: EREGION}), "Saruman MistyMtns-Eregion", "no cards"
    )
    assert where(state, SARUMAN, GANDALF) == [DEAD, EREGION]


ROHAN_ATTACKED = {**HOME, LEGOLAS: CARADHRAS, BLACK_RIDER: ROHAN}


def test_t19_darks_retreat_saves_from_the_sacrifice():
    state = play(position(LIGHT, ROHAN_ATTACKED), "Legolas Caradhras-Rohan", "Retreat", "Noble Sacrifice")
    assert where(state, BLACK_RIDER, LEGOLAS) == [FANGORN, ROHAN] and dark_to_move(state)
    assert RETREAT not in hand(state, DARK) and NOBLE_SACRIFICE not in hand(state, LIGHT)


def test_t19_both_may_retreat():
    state = play(position(LIGHT, ROHAN_ATTACKED), "Legolas Caradhras-Rohan", "Retreat", "Retreat")
    assert state.current_player() == LIGHT and options(state) == {"to Caradhras", "to GapOfRohan"}
    play(state, "to GapOfRohan")
    assert where(state, BLACK_RIDER, LEGOLAS) == [FANGORN, GAP_OF_ROHAN] and dark_to_move(state)


def test_dark_chooses_between_two_sideways_squares():
    pieces = {**HOME, LEGOLAS: CARADHRAS, BLACK_RIDER: FANGORN}
    state = play(position(LIGHT, pieces), "Legolas Caradhras-Fangorn", "Retreat", "card 1")
    assert state.current_player() == DARK and options(state) == {"to Mirkwood", "to Rohan"}
    play(state, "to Mirkwood")
    assert where(state, BLACK_RIDER, LEGOLAS) == [MIRKWOOD, FANGORN]


def test_an_attacker_fights_the_next_defender_after_a_retreat():
    pieces = {**HOME, LEGOLAS: CARADHRAS, BLACK_RIDER: ROHAN, ORCS: ROHAN}
    state = play(position(LIGHT, pieces), "Legolas Caradhras-Rohan", "Legolas v Black Rider", "Retreat", "card 1")
    assert where(state, BLACK_RIDER) == [FANGORN] and simultaneous_cards(state)
    play(state, "card 1", "card 2")
    assert where(state, ORCS, LEGOLAS) == [DEAD, ROHAN]


def test_t20_no_retreat_sideways_in_the_mountains():
    pieces = {**HOME, LEGOLAS: ENEDWAITH, BLACK_RIDER: CARADHRAS}
    state = play(position(LIGHT, pieces), "Legolas Enedwaith-Caradhras", "Retreat", "Noble Sacrifice")
    assert where(state, BLACK_RIDER, LEGOLAS) == [DEAD, DEAD]


def test_t21_a_retreat_to_a_full_square_fails():
    pieces = {**ROHAN_ATTACKED, ORCS: FANGORN, WARG: FANGORN}
    state = play(position(LIGHT, pieces), "Legolas Caradhras-Rohan", "Retreat", "card 1")
    assert where(state, BLACK_RIDER, LEGOLAS) == [DEAD, ROHAN]


@pytest.mark.parametrize(
    ("used", "steps"),
    [
        (((), ()), ("Magic", "Magic")),
        (((L5,), (D1,)), ("Eye of Sauron", "Magic")),
        (((CLOAK, L5), (D6, D1)), ("Magic", "Magic", "card 6", "Elven Cloak")),
        (((L5, L1), (EYE, D1)), ("Magic", "Noble Sacrifice", "Eye of Sauron")),
    ],
    ids="abcd",
)
def test_t22_magic_against_magic_and_the_eye(used, steps):
    state = position(DARK, {**HOME, BLACK_RIDER: MISTY_MOUNTAINS, LEGOLAS: EREGION}, used)
    play(state, "Black Rider MistyMtns-Eregion", *steps)
    assert where(state, BLACK_RIDER, LEGOLAS) == [DEAD, DEAD] and light_to_move(state)
    assert len(hand(state, LIGHT)) == len(hand(state, DARK)) == 8 - len(used[LIGHT])


def test_t22_dark_picks_first():
    state = position(DARK, {**HOME, BLACK_RIDER: MISTY_MOUNTAINS, LEGOLAS: EREGION}, ((CLOAK, L5), (D6, D1)))
    play(state, "Black Rider MistyMtns-Eregion", "Magic", "Magic")
    assert state.current_player() == DARK and options(state) == {"card 6", "card 1"}
    play(state, "card 6")
    assert state.current_player() == LIGHT and options(state) == {"Elven Cloak", "card 5"}


def test_t23_the_troll_is_nine_whatever_dark_plays():
    pieces = {**HOME, GANDALF: CARADHRAS, CAVE_TROLL: ROHAN}
    state = play(position(LIGHT, pieces), "Gandalf Caradhras-Rohan", "card 6", "card 5")
    assert where(state, GANDALF, CAVE_TROLL) == [ROHAN, DEAD] and D6 not in hand(state, DARK)


def test_t23_the_trolls_retreat_does_not_save_it_from_the_sacrifice():
    pieces = {**HOME, CAVE_TROLL: CARADHRAS, MERRY: EREGION}
    state = play(position(DARK, pieces), "Cave Troll Caradhras-Eregion", "Retreat", "Noble Sacrifice")
    assert where(state, MERRY, CAVE_TROLL) == [DEAD, DEAD]


def test_the_trolls_magic_asks_nothing():
    pieces = {**HOME, CAVE_TROLL: CARADHRAS, MERRY: EREGION}
    state = play(position(DARK, pieces, ((L1,), (D1,))), "Cave Troll Caradhras-Eregion", "Magic", "card 5")
    assert where(state, MERRY, CAVE_TROLL) == [DEAD, EREGION]


def test_t31_all_cards_come_back_after_the_ninth():
    used = (set(range(CARDS)) - {L5}, set(range(CARDS)) - {MAGIC})
    state = position(DARK, {**HOME, BLACK_RIDER: MISTY_MOUNTAINS, LEGOLAS: EREGION}, used)
    play(state, "Black Rider MistyMtns-Eregion", "Magic", "card 5", "card 6")
    assert where(state, LEGOLAS, BLACK_RIDER) == [DEAD, EREGION]
    assert hand(state, LIGHT) == hand(state, DARK) == set(range(CARDS))


def test_t31_the_cards_are_back_before_a_second_battle_of_the_turn():
    used = (set(range(CARDS)) - {L1}, set(range(CARDS)) - {D6})
    pieces = {**HOME, BALROG: MISTY_MOUNTAINS, LEGOLAS: EREGION, GIMLI: EREGION}
    state = play(position(DARK, pieces, used), "Balrog MistyMtns-Eregion", "Balrog v Legolas", "card 6", "card 1")
    assert simultaneous_cards(state) and len(state.legal_actions()) == 9


def test_t32_a_retreat_may_lead_to_any_backward_square():
    pieces = {**HOME, MERRY: MIRKWOOD, ORCS: DAGORLAD}
    state = play(position(LIGHT, pieces), "Merry Mirkwood-Dagorlad", "card 6", "Retreat")
    assert options(state) == {"to Fangorn", "to Mirkwood"}
    play(state, "to Fangorn")
    assert where(state, MERRY, ORCS) == [FANGORN, DAGORLAD] and dark_to_move(state)


def test_t32_the_puzzle_ends_with_dark_unable_to_move():
    pieces = {
        MERRY: FANGORN,
        LEGOLAS: CARDOLAN,
        FRODO: ARTHEDAIN,
        BALROG: EREGION,
        CAVE_TROLL: SHIRE,
        BLACK_RIDER: SHIRE,
    }
    state = position(DARK, pieces, ((NOBLE_SACRIFICE, RETREAT), (D1, D2)))
    play(state, "Balrog Eregion-Cardolan", "Retreat", "Magic", "Noble Sacrifice")
    assert where(state, BALROG, LEGOLAS) == [DEAD, DEAD] and light_to_move(state)
    assert winner(play(state, "Merry Fangorn-Gondor")) == LIGHT


# ------------------------------------------------------------------------------------------------------------------ the end: T30


def test_t30a_dark_without_a_move_loses():
    state = position(LIGHT, {FRODO: RHUDAUR, ORCS: SHIRE, WARG: SHIRE})
    assert winner(play(state, "Frodo Rhudaur-HighPass")) == LIGHT


@pytest.mark.parametrize(("there", "needed", "over"), [(3, 4, True), (2, 4, False), (2, 3, True), (1, 3, False)])
def test_t30b_dark_wins_with_enough_pieces_in_the_shire(there, needed, over):
    crowd = dict.fromkeys((ORCS, WARG, SARUMAN)[:there], SHIRE)
    pieces = {FRODO: FANGORN, BALROG: ARTHEDAIN, SHELOB: MORDOR, **crowd}
    state = play(position(DARK, pieces, shire=needed), "Balrog Arthedain-Shire")
    assert (winner(state) == DARK) if over else light_to_move(state)


def test_t30b_the_shire_is_counted_after_the_battles():
    pieces = {FRODO: FANGORN, GIMLI: SHIRE, BALROG: ARTHEDAIN, ORCS: MORDOR}
    state = position(DARK, pieces, shire=1)
    assert light_to_move(play(state, "Balrog Arthedain-Shire", "card 1", "card 5"))


def test_t30c_light_wins_when_no_dark_piece_is_left():
    assert (
        winner(play(position(LIGHT, {FRODO: SHIRE, GIMLI: EREGION, ORCS: CARADHRAS}), "Gimli Eregion-Caradhras"))
        == LIGHT
    )


def test_t30d_frodo_and_the_last_dark_piece_falling_together_is_darks_win():
    state = play(position(LIGHT, {FRODO: EREGION, ORCS: CARADHRAS}), "Frodo Eregion-Caradhras", "card 1", "card 2")
    assert where(state, FRODO, ORCS) == [DEAD, DEAD] and winner(state) == DARK


def test_t30e_light_without_a_move_loses():
    pieces = {LEGOLAS: GONDOR, GANDALF: GONDOR, FRODO: ROHAN, ORCS: HIGH_PASS}
    state = play(
        position(DARK, {**dict.fromkeys((SAM, PIPPIN, MERRY, GIMLI), MORDOR), **pieces}), "Orcs HighPass-Rhudaur"
    )
    assert winner(state) == DARK and state.legal_actions() == []


def test_a_game_of_five_hundred_turns_is_shared():
    state = position(LIGHT, {FRODO: SHIRE, BALROG: MORDOR})
    state.facts.turn = MAX_TURNS - 1
    assert play(state, "Frodo Shire-Arthedain").returns() == [0.5, 0.5]


@pytest.mark.parametrize("bad", [0, 5, -1, "4", 3.5, True, None])
def test_an_impossible_shire_count_is_refused(bad):
    with pytest.raises(ValueError, match="dark_shire_to_win"):
        lotr_confrontation(dark_shire_to_win=bad)


@pytest.mark.parametrize("bad", [2, -1, "yes"])
def test_an_unknown_setup_is_refused(bad):
    with pytest.raises(ValueError, match="random_setup"):
        lotr_confrontation(random_setup=bad)


# ------------------------------------------------------------------------------------------------------------ knowledge: K1 … K4


def simultaneous_cards(state):
    return bool(simultaneous(state.facts))


def possible_squares(state, piece):
    """P[c]: the squares where the other side suspects a piece."""
    return {square for square in range(DEAD + 1) if state.facts.possible[piece] >> square & 1}


def assignments(state, side):
    """Every way to place a side's pieces that fits the public numbers and the sets, by brute force: tuples of squares."""
    room = [int(n) for n in state.facts.count[side]]
    sets = [sorted(possible_squares(state, piece)) for piece in range(side * TEAM, side * TEAM + TEAM)]
    ways = [((), tuple(room))]
    for squares in sets:
        ways = [
            ((*placed, square), (*remaining[:square], remaining[square] - 1, *remaining[square + 1 :]))
            for placed, remaining in ways
            for square in squares
            if remaining[square]
        ]
    return [placed for placed, _ in ways]


K1 = {FRODO: SHIRE, SARUMAN: ROHAN, WARG: GONDOR, ORCS: MORDOR, GIMLI: EREGION, MERRY: RHUDAUR}
K1_SETS = {WARG: (GONDOR, MORDOR), ORCS: (GONDOR, MORDOR)}


def test_k1_unseen_moves_make_known_pieces_uncertain_and_a_battle_settles_it():
    state = position(DARK, K1, possible=K1_SETS)
    assert len(assignments(state, DARK)) == 2
    play(state, "Warg Gondor-Rohan")
    assert possible_squares(state, SARUMAN) == {ROHAN} and possible_squares(state, WARG) == {ROHAN, MORDOR}
    assert len(assignments(state, DARK)) == 2
    play(state, "Merry Rhudaur-HighPass", "Warg Rohan-Caradhras")
    assert possible_squares(state, SARUMAN) == {ROHAN, CARADHRAS} and len(assignments(state, DARK)) == 4
    play(state, "Gimli Eregion-Caradhras")
    assert len(assignments(state, DARK)) == 1
    assert [possible_squares(state, piece) for piece in (WARG, SARUMAN, ORCS)] == [{CARADHRAS}, {ROHAN}, {MORDOR}]


def test_k2_at_the_start_all_15120_setups_are_possible():
    for game in (GAME, lotr_confrontation(random_setup=1)):
        state = game.new_initial_state(seed=3)
        for side in SIDES:
            expected = {placed for placed in assignments(state, side)}
            assert len(expected) == 15120 == math.factorial(9) // math.factorial(4)
            assert tuple(state.facts.pos[side * TEAM :][:TEAM].tolist()) in expected
            assert state.beliefs(1 - side)[0]["ways"][0] == 15120 * math.factorial(4)


def test_k3_a_piece_that_went_to_mordor_is_not_frodo():
    pieces = {FRODO: GONDOR, SAM: GONDOR, MERRY: DAGORLAD, ORCS: HIGH_PASS}
    unsure = dict.fromkeys((FRODO, SAM, MERRY), (GONDOR, DAGORLAD))
    state = play(position(LIGHT, pieces, possible=unsure), "Sam Gondor-Mordor")
    assert MORDOR not in possible_squares(state, FRODO)
    assert possible_squares(state, SAM) == possible_squares(state, MERRY) == {
        GONDOR,
        DAGORLAD,
        MORDOR,
    } and possible_squares(state, FRODO) == {GONDOR, DAGORLAD}


def test_k4_an_attack_names_only_the_attacker_and_the_defender():
    pieces = {**HOME, GIMLI: EREGION, MERRY: EREGION, SAM: RHUDAUR, PIPPIN: CARDOLAN, SARUMAN: CARADHRAS}
    unsure = {
        GIMLI: (EREGION, RHUDAUR, CARDOLAN),
        PIPPIN: (EREGION, CARDOLAN),
        **dict.fromkeys((MERRY, SAM), (EREGION, RHUDAUR)),
    }
    state = play(position(LIGHT, pieces, possible=unsure), "Gimli Eregion-Caradhras")
    assert possible_squares(state, GIMLI) == {CARADHRAS} and possible_squares(state, SARUMAN) == {CARADHRAS}
    assert possible_squares(state, MERRY) == {EREGION, RHUDAUR} and possible_squares(state, SAM) == {EREGION, RHUDAUR}
    assert possible_squares(state, PIPPIN) == {CARDOLAN}  # with Gimli gone the other squares are Merry's and Sam's


def test_before_the_reveal_an_attacker_is_anonymous():
    pieces = {**HOME, GIMLI: EREGION, MERRY: EREGION, SARUMAN: CARADHRAS}
    unsure = {GIMLI: (EREGION, SHIRE), MERRY: (EREGION, SHIRE), FRODO: (EREGION, SHIRE)}
    state = position(LIGHT, pieces, possible=unsure)
    state.apply_action(state.string_to_action("Gimli Eregion-Caradhras"))
    assert state.is_chance_node()
    assert state.moves(DARK) == (UNSEEN_PIECE + EREGION * SQUARES + CARADHRAS,)
    movers = {int(state.determinize(DARK, seed).facts.fighters[LIGHT]) for seed in range(60)}
    assert movers == {GIMLI, MERRY, FRODO}


def test_sam_and_frodo_are_known_after_standing_together():
    for steps in (("Balrog v Sam", "with Frodo"), ("Balrog v Frodo", "Sam steps in")):
        pieces = {BALROG: MISTY_MOUNTAINS, FRODO: EREGION, SAM: EREGION, GIMLI: RHUDAUR, ORCS: MORDOR}
        unsure = dict.fromkeys((FRODO, SAM, GIMLI), (EREGION, RHUDAUR))
        state = play(position(DARK, pieces, possible=unsure), "Balrog MistyMtns-Eregion", *steps)
        assert [possible_squares(state, piece) for piece in (FRODO, SAM, GIMLI)] == [{EREGION}, {EREGION}, {RHUDAUR}]


def test_declining_tells_nothing():
    pieces = {BALROG: MISTY_MOUNTAINS, FRODO: RHUDAUR, SAM: EREGION, GIMLI: EREGION, ORCS: MORDOR}
    unsure = dict.fromkeys((FRODO, SAM, GIMLI), (EREGION, RHUDAUR))
    state = play(position(DARK, pieces, possible=unsure), "Balrog MistyMtns-Eregion", "Balrog v Sam", "alone")
    assert possible_squares(state, FRODO) == possible_squares(state, GIMLI) == {EREGION, RHUDAUR}


# -------------------------------------------------------------------------------------------------- random play, determinization


def random_states(seed, games, every=1):
    """States of random games, terminal ones included, with their history."""
    generator = np.random.default_rng(seed)
    game = lotr_confrontation(random_setup=1)
    for i in range(games):
        state, step = game.new_initial_state(seed=seed + i), 0
        while not state.is_terminal():
            if step % every == 0:
                yield state
            state.apply_action(int(generator.choice(state.legal_actions())))
            step += 1
        yield state


def own_and_public(state, observer):
    """What a determinization must leave as it is, as bytes."""
    pieces = slice(observer * TEAM, observer * TEAM + TEAM)
    facts = state.facts
    names = (
        "count",
        "held",
        "full",
        "possible",
        "hands",
        "side",
        "node",
        "origin",
        "square",
        "first_battle",
        "boosted",
        "winner",
        "turn",
        "acted",
        "effects",
    )
    return (facts.pos[pieces].tobytes(), *(state.data[0][name].tobytes() for name in names))


def recalled(state, perspective):
    moves = np.zeros(LONGEST_TURN, np.int64)
    count = GAME.kernels().recall(state.data.ctypes.data, perspective, moves.ctypes.data, LONGEST_TURN)
    return tuple(moves[:count].tolist())


def test_k5_random_self_play_never_contradicts_anything_seen():
    for number, state in enumerate(random_states(seed=11, games=4)):
        facts = state.facts
        assert all(facts.pos[piece] in possible_squares(state, piece) for piece in range(PIECES))
        assert len(hand(state, LIGHT)) == len(hand(state, DARK)) > 0
        for observer in SIDES:
            drawn = state.determinize(observer, seed=number)
            assert drawn.current_player() == state.current_player()
            assert drawn.is_terminal() or drawn.legal_actions()
            assert own_and_public(drawn, observer) == own_and_public(state, observer)
            assert recalled(drawn, observer) == recalled(state, observer)
            for side in SIDES:
                squares = drawn.facts.pos[side * TEAM :][:TEAM]
                assert np.array_equal(np.bincount(squares, minlength=DEAD + 1), facts.count[side])
            if state.current_player() == observer:
                choices = state.legal_actions()
                assert drawn.legal_actions() == choices


def test_the_turn_is_recalled_as_it_was_observed():
    for state in random_states(seed=5, games=6):
        episode = state.position_in_episode()
        if state.is_terminal():
            continue
        for perspective in range(3):
            assert recalled(state, perspective) == episode.moves[perspective]


def test_a_redrawn_turn_is_recalled_consistently():
    """The environment's view names the redrawn mover and the redrawn card, and leads to what every player has seen."""
    checked = set()
    for state in random_states(seed=21, games=6):
        if state.is_terminal() or state.facts.acted == 0:
            continue
        for observer in SIDES:
            drawn = state.determinize(observer, seed=4)
            facts, actions = drawn.facts, recalled(drawn, 2)
            if mover_unseen(facts):
                mover = facts.fighters[facts.side]
                assert actions[0] == (int(mover) * SQUARES + int(facts.origin)) * SQUARES + int(facts.square)
                assert facts.pos[mover] == facts.origin
                checked.add("mover")
            if facts.node == LIGHT_CARD:
                chosen = int(facts.cards[DARK])
                picked = DARK_PICKS <= actions[-1] < DARK_MOVES_ASIDE  # v Gandalf, after a Magic
                assert actions[-2 if picked else -1] == DARK_PLAYS + chosen and chosen in hand(drawn, DARK)
                checked.add("card")
            if facts.node == SHOW:
                assert actions[-2:] == (DARK_PLAYS + int(facts.cards[DARK]), LIGHT_PLAYS + int(facts.cards[LIGHT]))
                checked.add("cards")
    assert checked == {"mover", "card", "cards"}


def test_determinize_reads_nothing_hidden():
    """A draw from another state of the same information set is the same draw, byte for byte."""
    for number, state in enumerate(random_states(seed=31, games=3)):
        if state.is_terminal():
            continue
        for observer in SIDES:
            determinization = state.determinize(observer, seed=number)
            assert (
                determinization.determinize(observer, seed=77).data.tobytes()
                == state.determinize(observer, seed=77).data.tobytes()
            )


def test_the_state_record_has_no_gaps():
    """Records can be compared byte for byte."""
    assert sum(GAME.state[name].itemsize for name in GAME.state.names) == GAME.state.itemsize


def test_every_square_in_the_sets_belongs_to_an_assignment():
    checked = 0
    for state in random_states(seed=41, games=8, every=9):
        if state.is_terminal():
            continue
        for side in SIDES:
            if (
                math.prod(len(possible_squares(state, piece)) for piece in range(side * TEAM, side * TEAM + TEAM))
                > 3_000_000
            ):
                continue
            ways = assignments(state, side)
            for character, squares in enumerate(zip(*ways, strict=True)):
                assert set(squares) == possible_squares(state, side * TEAM + character)
            checked += 1
    assert checked > 60


DETERMINIZE, APPLY, LEGAL, PLAYER, INITIAL = (
    helper(function) for function in (GAME.determinize, GAME.apply, GAME.legal, GAME.player, GAME.initial)
)


@helper
def draw_positions(copies, raw_truth, raw_copy, observer, beliefs, rng, positions):
    """Determinize over and over; positions [draws, 20]: the square of every piece, the hidden side's fighter and card."""
    for i in range(len(positions)):
        raw_copy[:] = raw_truth
        DETERMINIZE(copies[0], observer, beliefs[0], rng)
        for piece in range(PIECES):
            positions[i, piece] = copies[0].pos[piece]
        positions[i, PIECES] = copies[0].fighters[1 - observer]
        positions[i, PIECES + 1] = copies[0].cards[1 - observer]


def draws(state, observer, count, seed=1):
    copy, positions = state.data.copy(), np.zeros((count, PIECES + 2), np.int64)
    beliefs = state.beliefs(observer)
    draw_positions(copy, state.data.view(np.uint8), copy.view(np.uint8), observer, beliefs, seeded(seed), positions)
    return positions


def uniform_over(drawn, expected):
    """The chi-square p-value of draws (rows) against a list of equally likely outcomes; every draw must be one of them."""
    place = {outcome: i for i, outcome in enumerate(expected)}
    counts = np.zeros(len(expected))
    outcomes, times = np.unique(drawn, axis=0, return_counts=True)
    for outcome, n in zip(outcomes.tolist(), times, strict=True):
        counts[place[tuple(outcome)]] = n
    return chisquare(counts).pvalue if len(expected) > 1 else 1.0


@pytest.mark.parametrize("observer", SIDES)
def test_k2_the_draws_at_the_start_are_uniform(observer):
    state, hidden = GAME.new_initial_state(), 1 - observer
    drawn = draws(state, observer, 15120 * 3)[:, hidden * TEAM : hidden * TEAM + TEAM]
    assert uniform_over(drawn, assignments(state, hidden)) > 1e-4


def test_draws_in_the_middle_of_games_are_uniform():
    tested = 0
    for state in random_states(seed=51, games=14, every=7):
        if state.is_terminal() or state.facts.node != MOVE:
            continue
        observer = state.current_player()
        hidden = 1 - observer
        if (
            math.prod(len(possible_squares(state, piece)) for piece in range(hidden * TEAM, hidden * TEAM + TEAM))
            > 500_000
        ):
            continue
        expected = assignments(state, hidden)
        if 2 <= len(expected) <= 800:
            drawn = draws(state, observer, 60 * len(expected))[:, hidden * TEAM : hidden * TEAM + TEAM]
            assert uniform_over(drawn, expected) > 1e-4
            tested += 1
    assert tested > 15


def test_the_unseen_tunnel_traveller_and_the_squares_are_drawn_together_uniformly():
    pieces = {FRODO: EREGION, MERRY: EREGION, GIMLI: RHUDAUR, SAM: SHIRE, WARG: CARADHRAS, BALROG: MORDOR}
    unsure = {
        **dict.fromkeys((FRODO, GIMLI), (EREGION, RHUDAUR, SHIRE)),
        MERRY: (EREGION, RHUDAUR),
        SAM: (EREGION, SHIRE),
    }
    state = play(position(LIGHT, pieces, possible=unsure), "Merry Eregion-Fangorn")
    assert state.current_player() == DARK
    expected = [
        (*placed, mover) for placed in assignments(state, LIGHT) for mover in range(TEAM) if placed[mover] == EREGION
    ]
    drawn = draws(state, DARK, 200 * len(expected))[:, [*range(TEAM), PIECES]]
    assert len(expected) > 5 and uniform_over(drawn, expected) > 1e-4


def test_an_attack_that_only_one_character_can_make_names_it_to_the_draws():
    pieces = {**HOME, ORCS: MIRKWOOD, WITCH_KING: MIRKWOOD, SARUMAN: ROHAN, GIMLI: FANGORN, MERRY: FANGORN}
    unsure = dict.fromkeys((ORCS, WITCH_KING, SARUMAN), (MIRKWOOD, ROHAN))
    state = position(DARK, pieces, possible=unsure)
    state.apply_action(state.string_to_action("Witch King Mirkwood-Fangorn"))
    expected = [(*placed, WITCH_KING) for placed in assignments(state, DARK) if placed[WITCH_KING - TEAM] == MIRKWOOD]
    drawn = draws(state, LIGHT, 500)[:, [*range(TEAM, PIECES), PIECES]]
    assert len(expected) == 2 and uniform_over(drawn, expected) > 1e-4


def test_a_side_to_move_is_never_drawn_without_a_move():
    pieces = {FRODO: RHUDAUR, SAM: GONDOR, ORCS: SHIRE, NAZGUL: SHIRE, WARG: SHIRE}
    state = position(DARK, pieces)
    for piece in (ORCS, NAZGUL, WARG, BALROG):
        state.facts.possible[piece] = 1 << SHIRE | 1 << DEAD
    expected = [placed for placed in assignments(state, DARK) if placed[NAZGUL - TEAM] == SHIRE]
    drawn = draws(state, LIGHT, 100 * len(expected))[:, TEAM:PIECES]
    assert len(expected) == 3 and uniform_over(drawn, expected) > 1e-4


def test_a_card_that_lies_face_down_is_drawn_from_the_whole_hand():
    pieces = {**HOME, BLACK_RIDER: MISTY_MOUNTAINS, LEGOLAS: EREGION}
    state = play(position(DARK, pieces, ((L1, L5), (D1, D6))), "Black Rider MistyMtns-Eregion", "Eye of Sauron")
    assert simultaneous_cards(state) and state.current_player() == LIGHT
    drawn = draws(state, LIGHT, 7000)[:, [PIECES + 1]]
    assert uniform_over(drawn, [(card,) for card in hand(state, DARK)]) > 1e-4


def test_the_environment_and_dark_himself_know_the_card_that_lies_face_down():
    pieces = {**HOME, BLACK_RIDER: MISTY_MOUNTAINS, LEGOLAS: EREGION}
    state = play(position(DARK, pieces), "Black Rider MistyMtns-Eregion", "Eye of Sauron")
    for observer in (DARK, CHANCE):
        assert all(state.determinize(observer, seed).facts.cards[DARK] == EYE for seed in range(20))
    assert state.determinize(CHANCE).facts.pos.tolist() == state.facts.pos.tolist()


def test_cards_are_seen_face_down_until_shown_together():
    pieces = {**HOME, BLACK_RIDER: MISTY_MOUNTAINS, LEGOLAS: EREGION}
    state = play(position(DARK, pieces), "Black Rider MistyMtns-Eregion", "Eye of Sauron", "card 5")
    shown = CARDS_SHOWN + EYE * CARDS + L5
    assert state.moves(LIGHT)[-3:] == (FACE_DOWN, LIGHT_PLAYS + L5, shown)
    assert state.moves(DARK)[-3:] == (DARK_PLAYS + EYE, FACE_DOWN, shown)
    assert state.moves(CHANCE)[-3:] == (DARK_PLAYS + EYE, LIGHT_PLAYS + L5, shown)


def test_an_episode_is_a_turn_of_the_side_that_moves():
    kernels, labels = GAME.kernels(), []
    for state in itertools.islice(random_states(seed=3, games=1), 200):
        label = kernels.episode(state.data.ctypes.data)
        assert (label >= 0) == (state.facts.node == MOVE and not state.is_terminal())
        if label >= 0:
            assert label == state.current_player()
            labels.append(label)
    assert labels == [DARK, LIGHT] * (len(labels) // 2) + [DARK] * (len(labels) % 2)


def test_texts_are_distinct_and_read_back():
    for state in random_states(seed=61, games=2):
        texts = [state.action_to_string(action) for action in state.legal_actions()]
        assert len(set(texts)) == len(texts) <= GAME.max_legal
        assert all(state.string_to_action(written) in state.legal_actions() for written in texts)
        assert all(name in str(state) for name in SQUARE_NAMES[:SQUARES])


ENDINGS = FRODO_FELL, REACHED_MORDOR, DARK_STUCK, SHIRE_TAKEN, NO_DARK_LEFT, LIGHT_STUCK = range(6)


@helper
def random_games(records, raw, rng, games, shire, random_setup, endings):
    """Uniform random play; endings [6] counts them; returns (turns, battles, steps) of all games together."""
    turns, battles, steps = 0, 0, 0
    actions = np.zeros(MAX_LEGAL, np.int64)
    state = records[0]
    for _ in range(games):
        raw[:] = 0
        INITIAL(state, rng, shire, random_setup)
        state.searching = 1
        while PLAYER(state) != TERMINAL:
            action = actions[below(rng, LEGAL(state, actions))]
            turns += state.node == MOVE
            battles += state.node == REVEAL
            APPLY(state, action)
            steps += 1
        if state.pos[FRODO] == DEAD:
            endings[0] += 1
        elif state.pos[FRODO] == MORDOR:
            endings[1] += 1
        elif state.winner == LIGHT:
            endings[4 if state.count[DARK, DEAD] == TEAM else 2] += 1
        else:
            endings[3 if state.count[DARK, SHIRE] >= shire else 5] += 1
    return turns, battles, steps


@pytest.mark.parametrize(
    ("random_setup", "dark", "turns", "split"),
    [
        (
            0,
            0.820,
            29.6,
            {FRODO_FELL: 0.815, REACHED_MORDOR: 0.133, DARK_STUCK: 0.045, SHIRE_TAKEN: 0.005, NO_DARK_LEFT: 0.003},
        ),
        (1, 0.863, 25.2, {}),
    ],
)
def test_random_play_ends_as_often_as_it_should(random_setup, dark, turns, split):
    games, record, endings = 8_000, np.zeros(1, GAME.state), np.zeros(len(ENDINGS), np.int64)
    turns_played, battles, _ = random_games(
        record, record.view(np.uint8), seeded(2002), games, 4, random_setup, endings
    )
    dark_wins = (endings[FRODO_FELL] + endings[SHIRE_TAKEN] + endings[LIGHT_STUCK]) / games
    assert dark_wins == pytest.approx(dark, abs=0.015)
    assert turns_played / games == pytest.approx(turns, abs=1)
    for ending, share in split.items():
        assert endings[ending] / games == pytest.approx(share, abs=0.01)
    if not random_setup:
        assert battles / games == pytest.approx(9.0, abs=0.5)
