"""A battle: what is revealed, the texts of characters, cards, and who falls."""

import numpy as np

from icarus.games.lotr_confrontation.board import free, has, open_cards, shift
from icarus.games.lotr_confrontation.facts import (
    ALL_CARDS,
    BATTLE,
    BATTLE_END,
    BOROMIR,
    CARD_VALUE,
    CAVE_TROLL,
    CLOAK,
    DARK,
    DARK_CARD,
    DARK_EFFECT,
    DARK_MAGIC,
    DARK_RETREAT,
    DEAD,
    DEFEATS,
    DISCARD,
    DOWN,
    EYE,
    FRODO,
    FRODO_RETREATS,
    FRODO_TEXT,
    GONDOR,
    LIGHT,
    LIGHT_CARD,
    LIGHT_EFFECT,
    LIGHT_MAGIC,
    LIGHT_REPLACEMENT,
    LIGHT_RETREAT,
    LIGHT_WITHDRAWAL,
    MAGIC,
    NO_CARD,
    NOBLE_SACRIFICE,
    ORCS,
    OVER,
    PIECES,
    PIPPIN,
    PIPPIN_RETREATS,
    PIPPIN_STAYS,
    PIPPIN_TEXT,
    PLAY_CARDS,
    RETREAT,
    REVEAL,
    SAM,
    SAM_BOOSTED,
    SAM_STEPS_IN,
    SAM_TEXT,
    SAM_WITH_FRODO,
    SARUMAN,
    SARUMAN_TEXT,
    SHELOB,
    SHOW,
    SIDEWAYS,
    SQUARES,
    STRENGTH,
    STRENGTHS,
    TEAM,
    TEXTS,
    TURN_END,
    WARG,
)
from icarus.games.lotr_confrontation.knowledge import know
from icarus.kernel import Facts, helper, inlined, lowest_bit


@helper
def relocate(state: Facts, piece: int, square: int) -> None:
    """Move a piece before everyone's eyes."""
    shift(state, piece, square)
    know(state, piece)


@inlined
def move_action(piece: int, origin: int, target: int) -> int:
    """The action that moves a piece from one square to another."""
    return (np.int64(piece) * SQUARES + np.int64(origin)) * SQUARES + np.int64(target)  # type: ignore[return-value]


@inlined
def battle_action(attacker: int, defender: int) -> int:
    """The action by which a piece attacks another."""
    return BATTLE + np.int64(attacker) * PIECES + np.int64(defender)  # type: ignore[return-value]


@inlined
def discards(state: Facts, side: int) -> int:
    """Earlier used cards; the one in play has not left the hand yet."""
    return ALL_CARDS & ~state.hands[side]


# Each function below returns what comes next: a node, or a step that follows by itself.


@helper
def finish(state: Facts, winner: int) -> int:
    """End the game with this winner."""
    state.winner = winner
    return OVER


@inlined
def sideways(state: Facts, side: int) -> int:
    """Retreat squares of Frodo's text and of Dark's card."""
    return SIDEWAYS[state.square] & free(state, side)


@inlined
def backward(state: Facts) -> int:
    """Retreat squares of Pippin's text and of Light's card."""
    return DOWN[state.square] & free(state, LIGHT)


@helper
def reveal(state: Facts, action: int) -> int:  # B0
    """B0: both pieces are shown; what follows is the first option of a text, if there is one."""
    defender = (action - BATTLE) % PIECES
    if state.first_battle:
        relocate(state, state.fighters[state.side], state.square)
    know(state, defender)
    state.fighters[1 - state.side] = defender
    return _light_option(state)


@helper
def _light_option(state: Facts) -> int:  # B1, what Light may decide
    """Light's optional text, if as far as both can see there is something to choose."""
    light = state.fighters[LIGHT]
    if state.fighters[DARK] == WARG:
        return TEXTS
    if state.side == LIGHT:
        return PIPPIN_TEXT if light == PIPPIN and backward(state) else TEXTS
    in_company = state.count[LIGHT, state.square] > 1
    if light == SAM and in_company:
        return SAM_TEXT
    if light == FRODO and (sideways(state, LIGHT) or (in_company and state.pos[SAM] != DEAD)):
        return FRODO_TEXT
    return TEXTS


@helper
def frodo_text(state: Facts, action: int) -> int:
    """Frodo's choice: he retreats, Sam steps in, or he stays."""
    if action >= FRODO_RETREATS:
        relocate(state, FRODO, action - FRODO_RETREATS)
        return BATTLE_END
    if action == SAM_STEPS_IN:
        state.fighters[LIGHT] = SAM
        state.boosted = 1
        know(state, SAM)
    return TEXTS


@helper
def sam_text(state: Facts, action: int) -> int:
    """Sam's choice: whether he fights with the strength that Frodo beside him gives."""
    if action == SAM_BOOSTED:
        state.boosted = 1
        know(state, FRODO)
    return TEXTS


@helper
def pippin_text(state: Facts, action: int) -> int:
    """Pippin's choice: to stay, or to retreat to a square."""
    if action == PIPPIN_STAYS:
        return TEXTS
    relocate(state, PIPPIN, action - PIPPIN_RETREATS)
    return BATTLE_END


@helper
def use_texts(state: Facts) -> int:  # B1, what happens by itself, and B2
    """B1, what happens by itself, and B2."""
    light, dark = state.fighters[LIGHT], state.fighters[DARK]
    boromir = light == BOROMIR and dark != WARG
    if boromir or DEFEATS[light] == dark:
        return _defeat(state, boromir, True)
    if dark == ORCS and state.side == DARK and state.first_battle:
        return _defeat(state, True, False)
    return SARUMAN_TEXT if dark == SARUMAN else DARK_CARD


@helper
def saruman_text(state: Facts, action: int) -> int:
    """Saruman's choice: whether cards are played at all."""
    if action == PLAY_CARDS:
        return DARK_CARD
    state.effects[LIGHT] = state.effects[DARK] = NO_CARD
    return STRENGTHS


@helper
def choose_card(state: Facts, side: int, card: int) -> int:  # B3
    """B3: a side lays its card down."""
    state.cards[side] = card
    if open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        return DARK_EFFECT if side == DARK else LIGHT_EFFECT
    return LIGHT_CARD if side == DARK else SHOW


@helper
def use_dark_card(state: Facts) -> int:  # B4, D_eff
    """B4: the text of Dark's card."""
    card = state.cards[DARK]
    if state.fighters[DARK] == CAVE_TROLL:
        card = NO_CARD
    elif card == MAGIC:
        if discards(state, DARK):
            return DARK_MAGIC
        card = NO_CARD
    return count_dark_card(state, card)


@helper
def count_dark_card(state: Facts, card: int) -> int:
    """The card that counts for Dark after its text."""
    state.effects[DARK] = card
    return LIGHT_CARD if open_cards(state.fighters[LIGHT], state.fighters[DARK]) else LIGHT_EFFECT


@helper
def use_light_card(state: Facts) -> int:  # B4, the Eye and Dark's Retreat
    """B4: the Eye and Dark's Retreat, then the text of Light's card."""
    card, dark_card = state.cards[LIGHT], state.effects[DARK]
    cancelled = dark_card == EYE and CARD_VALUE[LIGHT, card] == 0
    state.effects[LIGHT] = NO_CARD if cancelled else card
    if dark_card == RETREAT:
        squares = sideways(state, DARK)
        if squares & (squares - 1):
            return DARK_RETREAT
        if squares:
            relocate(state, state.fighters[DARK], lowest_bit(np.uint64(squares)))
    return LIGHT_REPLACEMENT


@helper
def replace_light_card(state: Facts) -> int:  # B4, Light's Magic
    """B4: Light's Magic takes back an earlier card."""
    if state.effects[LIGHT] == MAGIC:
        if discards(state, LIGHT):
            return LIGHT_MAGIC
        state.effects[LIGHT] = NO_CARD
    return LIGHT_WITHDRAWAL


@helper
def withdraw_light(state: Facts) -> int:  # B4, Light's Retreat
    """B4: Light's Retreat."""
    if state.effects[LIGHT] == RETREAT:
        squares = backward(state)
        if squares & (squares - 1):
            return LIGHT_RETREAT
        if squares:
            relocate(state, state.fighters[LIGHT], lowest_bit(np.uint64(squares)))
    return DISCARD


@helper
def discard(state: Facts) -> int:  # B4, the end of the cards
    """B4, the end of the cards: both are discarded, and hands are refilled where one is empty."""
    for side in range(2):
        state.hands[side] &= ~(1 << np.int64(state.cards[side]))
    if state.hands[LIGHT] == 0:
        state.hands[LIGHT] = state.hands[DARK] = ALL_CARDS
    if state.pos[state.fighters[LIGHT]] != state.square or state.pos[state.fighters[DARK]] != state.square:
        return BATTLE_END
    return STRENGTHS


@helper
def compare(state: Facts) -> int:  # B4, the Sacrifice, and B5
    """B4, the Sacrifice, and B5: strengths with cards decide who falls."""
    light = SAM_WITH_FRODO if state.boosted else STRENGTH[state.fighters[LIGHT]]
    light += CARD_VALUE[LIGHT, state.effects[LIGHT]]
    dark = STRENGTH[state.fighters[DARK]]
    if state.effects[LIGHT] != CLOAK:
        dark += CARD_VALUE[DARK, state.effects[DARK]]
    sacrifice = state.effects[LIGHT] == NOBLE_SACRIFICE
    return _defeat(state, sacrifice or light <= dark, sacrifice or dark <= light)


@helper
def _defeat(state: Facts, light_falls: bool, dark_falls: bool) -> int:  # B6 and the ends of the game
    light, dark = state.fighters[LIGHT], state.fighters[DARK]
    if light_falls:
        relocate(state, light, DEAD)
    if dark_falls:
        relocate(state, dark, DEAD)
    elif dark == SHELOB and state.square != GONDOR:
        has_room = not has(state.held[LIGHT] | state.full[DARK], GONDOR)
        relocate(state, SHELOB, GONDOR if has_room else DEAD)
    if light_falls and light == FRODO:
        return finish(state, DARK)
    if state.count[DARK, DEAD] == TEAM:
        return finish(state, LIGHT)
    return BATTLE_END


@helper
def end_battle(state: Facts) -> int:
    """The next battle where the attacker still faces enemies, or the end of the turn."""
    state.first_battle = state.boosted = 0
    attacker = state.fighters[state.side]
    faces_enemies = state.pos[attacker] == state.square and has(state.held[1 - state.side], state.square)
    return REVEAL if faces_enemies else TURN_END
