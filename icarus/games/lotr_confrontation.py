"""Lord of the Rings: The Confrontation (2002): Frodo's way to Mordor among nine hidden pieces a side.

Light (player 0) wins by bringing Frodo into Mordor, Dark (player 1, who moves first) by defeating him or by gathering pieces in the
Shire; a player who cannot move loses. A turn is one move forward, or an attack of the longer reach that some characters have. Where
enemies stand on the entered square they are fought one after another, each drawn at random: the characters' texts first, Light's
before Dark's, then a card from each hand, chosen at the same time, then strength.

    Mordor                              Dark's home
    Dagorlad Gondor
    Mirkwood > Fangorn > Rohan          > the Anduin, for Light only
    HighPass MistyMtns Caradhras GapOfRohan
    Rhudaur Eregion Enedwaith           Eregion leads Light through Moria to Fangorn
    Arthedain Cardolan
    Shire                               Light's home

Hidden: which enemy stands where (the numbers are public, and whoever has fought or been named is remembered until unseen moves make
it uncertain again), and a card chosen but not yet shown. The environment draws the defender (REVEAL), shows a piece that the
Balrog takes in the tunnel (VICTIM) and turns over the two chosen cards (SHOW). The two choices of a card are the game's one
simultaneous decision: Dark's comes first and stays face down, except against Gandalf. An episode is a turn.

An action of a move is piece · 256 + origin · 16 + target; the others follow below, one block for each kind.
"""
from typing import Any

import numpy as np

from icarus.game import CHANCE, CONTINUES, Game
from icarus.games._lotr_board import (
    STATE,
    actor_of,
    can_move,
    enter,
    free,
    has,
    mover_unseen,
    open_cards,
    possible_movers,
    shift,
    targets,
)
from icarus.games._lotr_facts import (
    ALL_CARDS,
    AMBUSH,
    BALROG,
    BATTLE,
    BOROMIR,
    CANCEL_CARDS,
    CAPACITY,
    CARADHRAS,
    CARD_VALUE,
    CARDS,
    CARDS_SHOWN,
    CAVE_TROLL,
    CLOAK,
    DARK,
    DARK_CARD,
    DARK_MAGIC,
    DARK_MOVES_ASIDE,
    DARK_PICKS,
    DARK_PLAYS,
    DARK_RETREAT,
    DEAD,
    DEFEATS,
    DOWN,
    DRAWN,
    EREGION,
    EYE,
    FACE_DOWN,
    FANGORN,
    FIXED_SETUP,
    FRODO,
    FRODO_ARRIVES,
    FRODO_RETREATS,
    FRODO_STAYS,
    FRODO_TEXT,
    GONDOR,
    LIGHT,
    LIGHT_CARD,
    LIGHT_MAGIC,
    LIGHT_MOVES_BACK,
    LIGHT_PICKS,
    LIGHT_PLAYS,
    LIGHT_RETREAT,
    MAGIC,
    MAX_LEGAL,
    MAX_TURNS,
    MORDOR,
    MOVE,
    NO_CARD,
    NOBLE_SACRIFICE,
    NOBODY,
    ORCS,
    OVER,
    PASS_AMBUSH,
    PIECES,
    PIPPIN,
    PIPPIN_RETREATS,
    PIPPIN_STAYS,
    PIPPIN_TEXT,
    PLAY_CARDS,
    RETREAT,
    REVEAL,
    SAM,
    SAM_ALONE,
    SAM_BOOSTED,
    SAM_STEPS_IN,
    SAM_TEXT,
    SAM_WITH_FRODO,
    SARUMAN,
    SARUMAN_TEXT,
    SHELOB,
    SHIRE,
    SHOW,
    SIDEWAYS,
    SQUARES,
    START_SQUARES,
    STRENGTH,
    TAKE_AMBUSH,
    TEAM,
    UNSEEN_PIECE,
    VICTIM,
    WARG,
)
from icarus.games._lotr_knowledge import BELIEFS, count_ways, know, lay_out, prune, sample, suspect_move
from icarus.games._lotr_text import action_text, text
from icarus.jit import helper, inlined, lowest_bit, popcount
from icarus.rng import below, shuffle


@helper
def _relocate(state: Any, piece: int, square: int) -> None:
    """Move a piece before everyone's eyes."""
    shift(state, piece, square)
    know(state, piece)


# ----------------------------------------------------------------------------------------------- Definition 1: s₀, ρ, A, μ

def initial(state: Any, rng: np.ndarray, dark_shire_to_win: int, random_setup: int) -> None:
    """The fixed setup, or both sides' pieces shuffled over their starting squares; neither side is told the other's."""
    state.shire_needed = dark_shire_to_win
    state.winner = NOBODY
    state.side = DARK
    for side in range(2):
        state.hands[side] = ALL_CARDS
        squares = FIXED_SETUP[side].copy()
        if random_setup:
            shuffle(rng, squares, TEAM)
        for character in range(TEAM):
            enter(state, side * TEAM + character, squares[character])
            state.possible[side * TEAM + character] = START_SQUARES[side]


def player(state: Any) -> int:
    return actor_of(state)


def rewards(state: Any, out: np.ndarray) -> None:
    for side in range(2):
        out[side] = 0.5 if state.winner == DRAWN else 1.0 if state.winner == side else 0.0


@inlined
def _move_action(piece: int, origin: int, target: int) -> int:
    return (np.int64(piece) * SQUARES + np.int64(origin)) * SQUARES + np.int64(target)


@inlined
def _battle_action(attacker: int, defender: int) -> int:
    return BATTLE + np.int64(attacker) * PIECES + np.int64(defender)


@inlined
def _list(actions: np.ndarray, count: int, base: int, items: int) -> int:
    """Append base + i for each bit i of a set; the new number of actions."""
    while items:
        actions[count] = base + lowest_bit(np.uint64(items))
        count += 1
        items &= items - 1
    return count


@helper
def _list_moves(state: Any, actions: np.ndarray) -> int:
    count = 0
    for piece in range(state.side * TEAM, state.side * TEAM + TEAM):
        origin = state.pos[piece]
        if origin != DEAD:
            count = _list(actions, count, _move_action(piece, origin, 0), targets(state, piece, origin))
    return count


@helper
def _list_battles(state: Any, actions: np.ndarray) -> int:
    count, other = 0, 1 - state.side
    for defender in range(other * TEAM, other * TEAM + TEAM):
        if state.pos[defender] == state.square:
            actions[count] = _battle_action(state.fighters[state.side], defender)
            count += 1
    return count


@helper
def _list_pair(actions: np.ndarray, neutral: int, other: int, allowed: bool) -> int:
    actions[0], actions[1] = neutral, other
    return 2 if allowed else 1


@helper
def _list_frodo(state: Any, actions: np.ndarray) -> int:
    count = _list_pair(actions, FRODO_STAYS, SAM_STEPS_IN, state.pos[SAM] == state.square)
    return _list(actions, count, FRODO_RETREATS, _sideways(state, LIGHT))


@inlined
def _discards(state: Any, side: int) -> int:
    """Earlier used cards; the one in play has not left the hand yet."""
    return ALL_CARDS & ~state.hands[side]


def legal(state: Any, actions: np.ndarray) -> int:
    node = state.node
    if node == MOVE:
        return _list_moves(state, actions)
    if node == REVEAL:
        return _list_battles(state, actions)
    if node == DARK_CARD:
        return _list(actions, 0, DARK_PLAYS, state.hands[DARK])
    if node == LIGHT_CARD:
        return _list(actions, 0, LIGHT_PLAYS, state.hands[LIGHT])
    if node == SHOW:
        actions[0] = CARDS_SHOWN + np.int64(state.cards[DARK]) * CARDS + np.int64(state.cards[LIGHT])
        return 1
    if node == DARK_MAGIC:
        return _list(actions, 0, DARK_PICKS, _discards(state, DARK))
    if node == LIGHT_MAGIC:
        return _list(actions, 0, LIGHT_PICKS, _discards(state, LIGHT))
    if node == DARK_RETREAT:
        return _list(actions, 0, DARK_MOVES_ASIDE, _sideways(state, DARK))
    if node == LIGHT_RETREAT:
        return _list(actions, 0, LIGHT_MOVES_BACK, _backward(state))
    if node == FRODO_TEXT:
        return _list_frodo(state, actions)
    if node == SAM_TEXT:
        return _list_pair(actions, SAM_ALONE, SAM_BOOSTED, state.pos[FRODO] == state.square)
    if node == PIPPIN_TEXT:
        actions[0] = PIPPIN_STAYS
        return _list(actions, 1, PIPPIN_RETREATS, _backward(state))
    if node == SARUMAN_TEXT:
        return _list_pair(actions, PLAY_CARDS, CANCEL_CARDS, True)
    if node == AMBUSH:
        return _list_pair(actions, PASS_AMBUSH, TAKE_AMBUSH, state.pos[BALROG] == CARADHRAS)
    actions[0] = _battle_action(state.fighters[LIGHT], BALROG)                         # VICTIM
    return 1


# ------------------------------------------------------------------------------------------------- the move (sections 4, 7)

@helper
def _finish(state: Any, winner: int) -> None:
    state.winner = winner
    state.node = OVER


@helper
def _move(state: Any, action: int) -> None:
    piece, target = action // (SQUARES * SQUARES), action % SQUARES
    state.fighters[state.side] = piece
    state.origin, state.square = state.pos[piece], target
    state.first_battle = 1
    if piece == FRODO and target == MORDOR:
        _relocate(state, FRODO, MORDOR)
        _finish(state, LIGHT)
        return
    tunnel = state.side == LIGHT and state.origin == EREGION and target == FANGORN
    if tunnel and has(state.held[DARK], CARADHRAS) and state.pos[BALROG] != DEAD:
        state.node = AMBUSH
    else:
        _arrive(state)


@helper
def _arrive(state: Any) -> None:
    """The mover attacks, and stays unseen at its origin until the defender is revealed; or it moves unseen."""
    side = state.side
    if has(state.held[1 - side], state.square):
        state.node = REVEAL
        return
    if not state.searching:
        suspect_move(state, side, state.origin, state.square)
    shift(state, state.fighters[side], state.square)
    if not state.searching:
        prune(state, side)
    _end_turn(state)


@helper
def _ambush(state: Any, action: int) -> None:
    if action == TAKE_AMBUSH:
        know(state, BALROG)
        state.node = VICTIM
    else:
        _arrive(state)


@helper
def _take_victim(state: Any) -> None:
    _relocate(state, state.fighters[LIGHT], DEAD)
    if state.fighters[LIGHT] == FRODO:
        _finish(state, DARK)
    else:
        _end_turn(state)


@helper
def _end_turn(state: Any) -> None:
    if state.side == DARK and state.count[DARK, SHIRE] >= state.shire_needed:
        _finish(state, DARK)
        return
    state.side = 1 - state.side
    state.turn += 1
    if not can_move(state, state.side):
        _finish(state, 1 - state.side)
    elif state.turn >= MAX_TURNS:
        _finish(state, DRAWN)
    else:
        state.node = MOVE
        state.acted = 0
        state.fighters[LIGHT] = state.fighters[DARK] = NOBODY                          # who moved stays hidden


# ------------------------------------------------------------------------------------------ the battle (section 5: B0 to B6)

@inlined
def _sideways(state: Any, side: int) -> int:
    """Retreat squares of Frodo's text and of Dark's card."""
    return SIDEWAYS[state.square] & free(state, side)


@inlined
def _backward(state: Any) -> int:
    """Retreat squares of Pippin's text and of Light's card."""
    return DOWN[state.square] & free(state, LIGHT)


@helper
def _reveal(state: Any, action: int) -> None:                                          # B0
    attacker, defender = state.fighters[state.side], (action - BATTLE) % PIECES
    if state.first_battle:
        _relocate(state, attacker, state.square)
    know(state, defender)
    state.fighters[1 - state.side] = defender
    state.node = _light_option(state)
    if state.node == MOVE:
        _use_texts(state)


@helper
def _light_option(state: Any) -> int:                                                  # B1, what Light may decide
    """The node of Light's optional text, MOVE for none: as far as both can see there is something to choose."""
    light = state.fighters[LIGHT]
    if state.fighters[DARK] == WARG:
        return MOVE
    if light == PIPPIN and state.side == LIGHT and _backward(state):
        return PIPPIN_TEXT
    in_company = state.side == DARK and state.count[LIGHT, state.square] > 1
    if light == SAM and in_company:
        return SAM_TEXT
    if light == FRODO and state.side == DARK and (_sideways(state, LIGHT) or (in_company and state.pos[SAM] != DEAD)):
        return FRODO_TEXT
    return MOVE


@helper
def _use_texts(state: Any) -> None:                                                    # B1, what happens by itself, and B2
    light, dark = state.fighters[LIGHT], state.fighters[DARK]
    if dark != WARG and DEFEATS[light] == dark:
        _defeat(state, False, True)
    elif dark != WARG and light == BOROMIR:
        _defeat(state, True, True)
    elif dark == ORCS and state.side == DARK and state.first_battle:
        _defeat(state, True, False)
    else:
        state.node = SARUMAN_TEXT if dark == SARUMAN else DARK_CARD


@helper
def _frodo_text(state: Any, action: int) -> None:
    if action >= FRODO_RETREATS:
        _relocate(state, FRODO, action - FRODO_RETREATS)
        _after_battle(state)
        return
    if action == SAM_STEPS_IN:
        state.fighters[LIGHT] = SAM
        state.boosted = 1
        know(state, SAM)
    _use_texts(state)


@helper
def _sam_text(state: Any, action: int) -> None:
    if action == SAM_BOOSTED:
        state.boosted = 1
        know(state, FRODO)
    _use_texts(state)


@helper
def _pippin_text(state: Any, action: int) -> None:
    if action == PIPPIN_STAYS:
        _use_texts(state)
    else:
        _relocate(state, PIPPIN, action - PIPPIN_RETREATS)
        _after_battle(state)


@helper
def _saruman_text(state: Any, action: int) -> None:
    if action == PLAY_CARDS:
        state.node = DARK_CARD
    else:
        state.effects[LIGHT] = state.effects[DARK] = NO_CARD
        _compare(state)


@helper
def _dark_card(state: Any, card: int) -> None:                                         # B3
    state.cards[DARK] = card
    if open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        _dark_effect(state)
    else:
        state.node = LIGHT_CARD


@helper
def _light_card(state: Any, card: int) -> None:                                        # B3
    state.cards[LIGHT] = card
    if open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        _light_effect(state)
    else:
        state.node = SHOW


@helper
def _dark_effect(state: Any) -> None:                                                  # B4, D_eff
    card = state.cards[DARK]
    if state.fighters[DARK] == CAVE_TROLL:
        _use_dark_card(state, NO_CARD)
    elif card != MAGIC:
        _use_dark_card(state, card)
    elif _discards(state, DARK):
        state.node = DARK_MAGIC
    else:
        _use_dark_card(state, NO_CARD)


@helper
def _use_dark_card(state: Any, card: int) -> None:
    state.effects[DARK] = card
    if open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        state.node = LIGHT_CARD
    else:
        _light_effect(state)


@helper
def _light_effect(state: Any) -> None:                                                 # B4, the Eye and Dark's Retreat
    card, dark_card = state.cards[LIGHT], state.effects[DARK]
    cancelled = dark_card == EYE and CARD_VALUE[LIGHT, card] == 0
    state.effects[LIGHT] = NO_CARD if cancelled else card
    if dark_card == RETREAT:
        squares = _sideways(state, DARK)
        if squares & (squares - 1):
            state.node = DARK_RETREAT
            return
        if squares:
            _relocate(state, state.fighters[DARK], lowest_bit(np.uint64(squares)))
    _light_magic(state)


@helper
def _light_magic(state: Any) -> None:                                                  # B4, Light's Magic
    if state.effects[LIGHT] == MAGIC:
        if _discards(state, LIGHT):
            state.node = LIGHT_MAGIC
            return
        state.effects[LIGHT] = NO_CARD
    _light_retreat(state)


@helper
def _light_retreat(state: Any) -> None:                                                # B4, Light's Retreat
    if state.effects[LIGHT] == RETREAT:
        squares = _backward(state)
        if squares & (squares - 1):
            state.node = LIGHT_RETREAT
            return
        if squares:
            _relocate(state, state.fighters[LIGHT], lowest_bit(np.uint64(squares)))
    _settle(state)


@helper
def _settle(state: Any) -> None:                                                       # B4, the end of the cards
    for side in range(2):
        state.hands[side] &= ~(1 << np.int64(state.cards[side]))
    if state.hands[LIGHT] == 0:
        state.hands[LIGHT] = state.hands[DARK] = ALL_CARDS
    if state.pos[state.fighters[LIGHT]] != state.square or state.pos[state.fighters[DARK]] != state.square:
        _after_battle(state)
    elif state.effects[LIGHT] == NOBLE_SACRIFICE:
        _defeat(state, True, True)
    else:
        _compare(state)


@helper
def _compare(state: Any) -> None:                                                      # B5
    light = SAM_WITH_FRODO if state.boosted else STRENGTH[state.fighters[LIGHT]]
    light += CARD_VALUE[LIGHT, state.effects[LIGHT]]
    dark = STRENGTH[state.fighters[DARK]]
    if state.effects[LIGHT] != CLOAK:
        dark += CARD_VALUE[DARK, state.effects[DARK]]
    _defeat(state, light <= dark, dark <= light)


@helper
def _defeat(state: Any, light_falls: bool, dark_falls: bool) -> None:                  # B6 and the ends of the game
    light, dark = state.fighters[LIGHT], state.fighters[DARK]
    if light_falls:
        _relocate(state, light, DEAD)
    if dark_falls:
        _relocate(state, dark, DEAD)
    elif dark == SHELOB and state.square != GONDOR:
        has_room = not has(state.held[LIGHT] | state.full[DARK], GONDOR)
        _relocate(state, SHELOB, GONDOR if has_room else DEAD)
    if light_falls and light == FRODO:
        _finish(state, DARK)
    elif state.count[DARK, DEAD] == TEAM:
        _finish(state, LIGHT)
    else:
        _after_battle(state)


@helper
def _after_battle(state: Any) -> None:
    """The next battle where the attacker still faces enemies, or the end of the turn."""
    state.first_battle = state.boosted = 0
    attacker = state.fighters[state.side]
    if state.pos[attacker] == state.square and has(state.held[1 - state.side], state.square):
        state.node = REVEAL
    else:
        _end_turn(state)


def apply(state: Any, action: int) -> None:
    state.actions[state.acted] = action
    state.acted += 1
    node = state.node
    if node == MOVE:
        _move(state, action)
    elif node == REVEAL:
        _reveal(state, action)
    elif node == DARK_CARD:
        _dark_card(state, action - DARK_PLAYS)
    elif node == LIGHT_CARD:
        _light_card(state, action - LIGHT_PLAYS)
    elif node == SHOW:
        _dark_effect(state)
    elif node == DARK_MAGIC:
        _use_dark_card(state, action - DARK_PICKS)
    elif node == LIGHT_MAGIC:
        state.effects[LIGHT] = action - LIGHT_PICKS
        _light_retreat(state)
    elif node == DARK_RETREAT:
        _relocate(state, state.fighters[DARK], action - DARK_MOVES_ASIDE)
        _light_magic(state)
    elif node == LIGHT_RETREAT:
        _relocate(state, state.fighters[LIGHT], action - LIGHT_MOVES_BACK)
        _settle(state)
    elif node == FRODO_TEXT:
        _frodo_text(state, action)
    elif node == SAM_TEXT:
        _sam_text(state, action)
    elif node == PIPPIN_TEXT:
        _pippin_text(state, action)
    elif node == SARUMAN_TEXT:
        _saruman_text(state, action)
    elif node == AMBUSH:
        _ambush(state, action)
    else:                                                                              # VICTIM
        _take_victim(state)


# ---------------------------------------------------------------------------------- what is seen, and what may be suspected

@inlined
def _seen_move(action: int) -> int:
    """A move as the other side sees it."""
    squares = action % (SQUARES * SQUARES)
    wins = action // (SQUARES * SQUARES) == FRODO and action % SQUARES == MORDOR
    return (FRODO_ARRIVES if wins else UNSEEN_PIECE) + squares


def observe(state: Any, action: int, moves: np.ndarray) -> None:
    if state.node == MOVE:
        moves[1 - state.side] = _seen_move(action)
    elif state.node == DARK_CARD and not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        moves[LIGHT] = FACE_DOWN
    elif state.node == LIGHT_CARD and not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        moves[DARK] = FACE_DOWN


def recall(state: Any, viewer: int, moves: np.ndarray) -> int:
    """The turn so far through the eyes of a viewer."""
    face_up = False
    for i in range(state.acted):
        action = np.int64(state.actions[i])
        moves[i] = action
        if action < PASS_AMBUSH:
            mover = action // (TEAM * SQUARES * SQUARES)
            if viewer == 1 - mover:
                moves[i] = _seen_move(action)
        elif BATTLE <= action < FRODO_STAYS:
            first, second = (action - BATTLE) // PIECES, (action - BATTLE) % PIECES
            face_up = open_cards(min(first, second), max(first, second))
        elif DARK_PLAYS <= action < CARDS_SHOWN and not face_up:
            owner = DARK if action < LIGHT_PLAYS else LIGHT
            if viewer == 1 - owner:
                moves[i] = FACE_DOWN
    return np.int64(state.acted)


def simultaneous(state: Any) -> bool:
    """Whether the decision is one half of the simultaneous choice of cards (the other side's is not known)."""
    choosing = state.node == DARK_CARD or state.node == LIGHT_CARD
    return choosing and not open_cards(state.fighters[LIGHT], state.fighters[DARK])


def prepare(state: Any, observer: int, beliefs: Any) -> None:
    """Count the assignments of the pieces that the observer does not see."""
    if observer == CHANCE:
        return
    hidden = 1 - observer
    movers = possible_movers(state) if hidden == state.side and mover_unseen(state) else 0
    lay_out(state, hidden, movers, beliefs.places, beliefs.candidates)
    count_ways(beliefs.candidates, beliefs.ways)


@helper
def _redraw_card(state: Any, side: int, place: int, base: int, rng: np.ndarray) -> None:
    """Exchange a card that lies face down for any of the hand; `place` is where the turn's actions have it."""
    cards = np.int64(state.hands[side])
    for _ in range(below(rng, popcount(np.uint64(cards)))):
        cards &= cards - 1
    state.cards[side] = lowest_bit(np.uint64(cards))
    state.actions[place] = base + np.int64(state.cards[side])


def determinize(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    state.searching = 1
    if observer == CHANCE:
        return
    hidden = 1 - observer
    unseen = hidden == state.side and mover_unseen(state)
    first = sample(state, hidden, beliefs, rng)
    while state.node == MOVE and hidden == state.side and not can_move(state, hidden):
        first = sample(state, hidden, beliefs, rng)                                    # the game would have ended
    if unseen:
        state.fighters[hidden] = first
        state.actions[0] = _move_action(first, state.origin, state.square)
    if not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        if hidden == DARK and (state.node == LIGHT_CARD or state.node == SHOW):
            _redraw_card(state, DARK, state.acted - (1 if state.node == LIGHT_CARD else 2), DARK_PLAYS, rng)
        elif hidden == LIGHT and state.node == SHOW:
            _redraw_card(state, LIGHT, state.acted - 1, LIGHT_PLAYS, rng)


def episode(state: Any) -> int:
    """Eq. (20): the side that is about to move, no battle being in progress."""
    return np.int64(state.side) if state.node == MOVE else CONTINUES


def lotr_confrontation(dark_shire_to_win: int = 4, random_setup: int = 0) -> Game:
    """The Confrontation.

    Args:
        dark_shire_to_win: Dark pieces in the Shire together that win for Dark: 4 in the papers, 3 in the published rules.
        random_setup: 1 to shuffle both sides' pieces over their starting squares, 0 for the fixed setup.

    Raises:
        ValueError: a count other than 1 to 4 (the Shire's capacity), or a setup other than 0 or 1.
    """
    if isinstance(dark_shire_to_win, bool) or dark_shire_to_win not in range(1, CAPACITY[SHIRE] + 1):
        raise ValueError(f"dark_shire_to_win is {dark_shire_to_win!r}; it must be an integer from 1 to {CAPACITY[SHIRE]}")
    if random_setup not in (0, 1):
        raise ValueError(f"random_setup is {random_setup!r}; it must be 0 (the fixed setup) or 1")
    return Game(
        name="lotr-confrontation", players=2, state=STATE, initial=initial, player=player, legal=legal, apply=apply, rewards=rewards,
        max_legal=MAX_LEGAL, observe=observe, determinize=determinize, beliefs=BELIEFS, prepare=prepare, episode=episode, recall=recall,
        text=text, action_text=action_text, parameters={"dark_shire_to_win": int(dark_shire_to_win), "random_setup": int(random_setup)},
    )
