"""Lord of the Rings: The Confrontation (2002): Frodo's way to Mordor among nine hidden pieces a side.

Light (player 0) wins by bringing Frodo into Mordor, Dark (player 1, who moves first) by defeating him or by gathering pieces in
the Shire; a player who cannot move loses. A turn is one move forward, or an attack of the longer reach that some characters have.
Where enemies stand on the entered square they are fought one after another, each drawn at random: the characters' texts first,
Light's before Dark's, then a card from each hand, chosen at the same time, then strength.

    Mordor                              Dark's home
    Dagorlad Gondor
    Mirkwood > Fangorn > Rohan          > the Anduin, for Light only
    HighPass MistyMtns Caradhras GapOfRohan
    Rhudaur Eregion Enedwaith           Eregion leads Light through Moria to Fangorn
    Arthedain Cardolan
    Shire                               Light's home

Hidden: which enemy stands where (the numbers are public, and whoever has fought or been named is remembered until unseen moves
make it uncertain again), and a card chosen but not yet shown. The environment draws the defender (REVEAL), shows a piece that the
Balrog takes in the tunnel (VICTIM) and turns over the two chosen cards (SHOW). The choices of a card (DARK_CARD, LIGHT_CARD) are
the game's one simultaneous decision: Dark's comes first and stays face down, except against Gandalf. An episode is a turn.

An action of a move is piece · 256 + origin · 16 + target; the others follow below, one block for each kind.
"""

from typing import Any

import numpy as np

from icarus.checks import integer
from icarus.games.lotr_confrontation.board import (
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
from icarus.games.lotr_confrontation.facts import (
    ALL_CARDS,
    AMBUSH,
    ARRIVAL,
    BALROG,
    BATTLE,
    BATTLE_END,
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
    DARK_EFFECT,
    DARK_MAGIC,
    DARK_MOVES_ASIDE,
    DARK_PICKS,
    DARK_PLAYS,
    DARK_RETREAT,
    DEAD,
    DEFEATS,
    DISCARD,
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
    LIGHT_EFFECT,
    LIGHT_MAGIC,
    LIGHT_MOVES_BACK,
    LIGHT_PICKS,
    LIGHT_PLAYS,
    LIGHT_REPLACEMENT,
    LIGHT_RETREAT,
    LIGHT_WITHDRAWAL,
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
    STRENGTHS,
    TAKE_AMBUSH,
    TEAM,
    TEXTS,
    TURN_END,
    UNSEEN_PIECE,
    VICTIM,
    WARG,
)
from icarus.games.lotr_confrontation.knowledge import BELIEFS, count_ways, know, lay_out, prune, sample, suspect_move
from icarus.games.lotr_confrontation.text import action_text, text
from icarus.kernel import CHANCE, CONTINUES, append_bits, below, helper, inlined, lowest_bit, popcount, shuffle
from icarus.kernel.game import Game


@helper
def _relocate(state: Any, piece: int, square: int) -> None:
    """Move a piece before everyone's eyes."""
    shift(state, piece, square)
    know(state, piece)


# ----------------------------------------------------------------------------------------------- Definition 1: s₀, ρ, A, μ


def initial(state: Any, rng: np.ndarray, dark_shire_to_win: int, random_setup: int) -> None:
    """The fixed setup, or both sides' pieces shuffled over their starting squares; neither side is told the other's."""
    state.shire_needed = dark_shire_to_win
    state.winner = state.fighters[LIGHT] = state.fighters[DARK] = NOBODY
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
    return (np.int64(piece) * SQUARES + np.int64(origin)) * SQUARES + np.int64(target)  # type: ignore[return-value]


@inlined
def _battle_action(attacker: int, defender: int) -> int:
    return BATTLE + np.int64(attacker) * PIECES + np.int64(defender)  # type: ignore[return-value]


@helper
def _list_moves(state: Any, actions: np.ndarray) -> int:
    count = 0
    for piece in range(state.side * TEAM, state.side * TEAM + TEAM):
        origin = state.pos[piece]
        if origin != DEAD:
            count = append_bits(actions, count, _move_action(piece, origin, 0), targets(state, piece, origin))
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
    return append_bits(actions, count, FRODO_RETREATS, _sideways(state, LIGHT))


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
        return append_bits(actions, 0, DARK_PLAYS, state.hands[DARK])
    if node == LIGHT_CARD:
        return append_bits(actions, 0, LIGHT_PLAYS, state.hands[LIGHT])
    if node == SHOW:
        actions[0] = CARDS_SHOWN + np.int64(state.cards[DARK]) * CARDS + np.int64(state.cards[LIGHT])
        return 1
    if node == DARK_MAGIC:
        return append_bits(actions, 0, DARK_PICKS, _discards(state, DARK))
    if node == LIGHT_MAGIC:
        return append_bits(actions, 0, LIGHT_PICKS, _discards(state, LIGHT))
    if node == DARK_RETREAT:
        return append_bits(actions, 0, DARK_MOVES_ASIDE, _sideways(state, DARK))
    if node == LIGHT_RETREAT:
        return append_bits(actions, 0, LIGHT_MOVES_BACK, _backward(state))
    if node == FRODO_TEXT:
        return _list_frodo(state, actions)
    if node == SAM_TEXT:
        return _list_pair(actions, SAM_ALONE, SAM_BOOSTED, state.pos[FRODO] == state.square)
    if node == PIPPIN_TEXT:
        actions[0] = PIPPIN_STAYS
        return append_bits(actions, 1, PIPPIN_RETREATS, _backward(state))
    if node == SARUMAN_TEXT:
        return _list_pair(actions, PLAY_CARDS, CANCEL_CARDS, True)
    if node == AMBUSH:
        return _list_pair(actions, PASS_AMBUSH, TAKE_AMBUSH, state.pos[BALROG] == CARADHRAS)
    actions[0] = _battle_action(state.fighters[LIGHT], BALROG)  # VICTIM
    return 1


# ------------------------------------------------------------------------------------------------- the move (sections 4, 7)
# Each function below returns what comes next: a node, or a step that follows by itself.


@helper
def _finish(state: Any, winner: int) -> int:
    state.winner = winner
    return OVER


@helper
def _move(state: Any, action: int) -> int:
    piece, target = action // (SQUARES * SQUARES), action % SQUARES
    state.fighters[state.side] = piece
    state.origin, state.square = state.pos[piece], target
    state.first_battle = 1
    if piece == FRODO and target == MORDOR:
        _relocate(state, FRODO, MORDOR)
        return _finish(state, LIGHT)
    tunnel = state.side == LIGHT and state.origin == EREGION and target == FANGORN
    if tunnel and has(state.held[DARK], CARADHRAS) and state.pos[BALROG] != DEAD:
        return AMBUSH
    return ARRIVAL


@helper
def _ambush(state: Any, action: int) -> int:
    if action == PASS_AMBUSH:
        return ARRIVAL
    know(state, BALROG)
    return VICTIM


@helper
def _take_victim(state: Any) -> int:
    victim = state.fighters[LIGHT]
    _relocate(state, victim, DEAD)
    return _finish(state, DARK) if victim == FRODO else TURN_END


@helper
def _arrive(state: Any) -> int:
    """The mover attacks, and stays unseen at its origin until the defender is revealed; or it moves unseen."""
    side = state.side
    if has(state.held[1 - side], state.square):
        return REVEAL
    if not state.searching:
        suspect_move(state, side, state.origin, state.square)
    shift(state, state.fighters[side], state.square)
    if not state.searching:
        prune(state, side)
    return TURN_END


@helper
def _end_turn(state: Any) -> int:
    if state.side == DARK and state.count[DARK, SHIRE] >= state.shire_needed:
        return _finish(state, DARK)
    state.side = 1 - state.side
    state.turn += 1
    if not can_move(state, state.side):
        return _finish(state, 1 - state.side)
    if state.turn >= MAX_TURNS:
        return _finish(state, DRAWN)
    state.acted = 0
    state.fighters[LIGHT] = state.fighters[DARK] = NOBODY  # who moved stays hidden
    return MOVE


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
def _reveal(state: Any, action: int) -> int:  # B0
    defender = (action - BATTLE) % PIECES
    if state.first_battle:
        _relocate(state, state.fighters[state.side], state.square)
    know(state, defender)
    state.fighters[1 - state.side] = defender
    return _light_option(state)


@helper
def _light_option(state: Any) -> int:  # B1, what Light may decide
    """Light's optional text, if as far as both can see there is something to choose."""
    light = state.fighters[LIGHT]
    if state.fighters[DARK] == WARG:
        return TEXTS
    if state.side == LIGHT:
        return PIPPIN_TEXT if light == PIPPIN and _backward(state) else TEXTS
    in_company = state.count[LIGHT, state.square] > 1
    if light == SAM and in_company:
        return SAM_TEXT
    if light == FRODO and (_sideways(state, LIGHT) or (in_company and state.pos[SAM] != DEAD)):
        return FRODO_TEXT
    return TEXTS


@helper
def _frodo_text(state: Any, action: int) -> int:
    if action >= FRODO_RETREATS:
        _relocate(state, FRODO, action - FRODO_RETREATS)
        return BATTLE_END
    if action == SAM_STEPS_IN:
        state.fighters[LIGHT] = SAM
        state.boosted = 1
        know(state, SAM)
    return TEXTS


@helper
def _sam_text(state: Any, action: int) -> int:
    if action == SAM_BOOSTED:
        state.boosted = 1
        know(state, FRODO)
    return TEXTS


@helper
def _pippin_text(state: Any, action: int) -> int:
    if action == PIPPIN_STAYS:
        return TEXTS
    _relocate(state, PIPPIN, action - PIPPIN_RETREATS)
    return BATTLE_END


@helper
def _use_texts(state: Any) -> int:  # B1, what happens by itself, and B2
    light, dark = state.fighters[LIGHT], state.fighters[DARK]
    boromir = light == BOROMIR and dark != WARG
    if boromir or DEFEATS[light] == dark:
        return _defeat(state, boromir, True)
    if dark == ORCS and state.side == DARK and state.first_battle:
        return _defeat(state, True, False)
    return SARUMAN_TEXT if dark == SARUMAN else DARK_CARD


@helper
def _saruman_text(state: Any, action: int) -> int:
    if action == PLAY_CARDS:
        return DARK_CARD
    state.effects[LIGHT] = state.effects[DARK] = NO_CARD
    return STRENGTHS


@helper
def _choose_card(state: Any, side: int, card: int) -> int:  # B3
    state.cards[side] = card
    if open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        return DARK_EFFECT if side == DARK else LIGHT_EFFECT
    return LIGHT_CARD if side == DARK else SHOW


@helper
def _use_dark_card(state: Any) -> int:  # B4, D_eff
    card = state.cards[DARK]
    if state.fighters[DARK] == CAVE_TROLL:
        card = NO_CARD
    elif card == MAGIC:
        if _discards(state, DARK):
            return DARK_MAGIC
        card = NO_CARD
    return _count_dark_card(state, card)


@helper
def _count_dark_card(state: Any, card: int) -> int:
    state.effects[DARK] = card
    return LIGHT_CARD if open_cards(state.fighters[LIGHT], state.fighters[DARK]) else LIGHT_EFFECT


@helper
def _use_light_card(state: Any) -> int:  # B4, the Eye and Dark's Retreat
    card, dark_card = state.cards[LIGHT], state.effects[DARK]
    cancelled = dark_card == EYE and CARD_VALUE[LIGHT, card] == 0
    state.effects[LIGHT] = NO_CARD if cancelled else card
    if dark_card == RETREAT:
        squares = _sideways(state, DARK)
        if squares & (squares - 1):
            return DARK_RETREAT
        if squares:
            _relocate(state, state.fighters[DARK], lowest_bit(np.uint64(squares)))
    return LIGHT_REPLACEMENT


@helper
def _replace_light_card(state: Any) -> int:  # B4, Light's Magic
    if state.effects[LIGHT] == MAGIC:
        if _discards(state, LIGHT):
            return LIGHT_MAGIC
        state.effects[LIGHT] = NO_CARD
    return LIGHT_WITHDRAWAL


@helper
def _withdraw_light(state: Any) -> int:  # B4, Light's Retreat
    if state.effects[LIGHT] == RETREAT:
        squares = _backward(state)
        if squares & (squares - 1):
            return LIGHT_RETREAT
        if squares:
            _relocate(state, state.fighters[LIGHT], lowest_bit(np.uint64(squares)))
    return DISCARD


@helper
def _discard(state: Any) -> int:  # B4, the end of the cards
    for side in range(2):
        state.hands[side] &= ~(1 << np.int64(state.cards[side]))
    if state.hands[LIGHT] == 0:
        state.hands[LIGHT] = state.hands[DARK] = ALL_CARDS
    if state.pos[state.fighters[LIGHT]] != state.square or state.pos[state.fighters[DARK]] != state.square:
        return BATTLE_END
    return STRENGTHS


@helper
def _compare(state: Any) -> int:  # B4, the Sacrifice, and B5
    light = SAM_WITH_FRODO if state.boosted else STRENGTH[state.fighters[LIGHT]]
    light += CARD_VALUE[LIGHT, state.effects[LIGHT]]
    dark = STRENGTH[state.fighters[DARK]]
    if state.effects[LIGHT] != CLOAK:
        dark += CARD_VALUE[DARK, state.effects[DARK]]
    sacrifice = state.effects[LIGHT] == NOBLE_SACRIFICE
    return _defeat(state, sacrifice or light <= dark, sacrifice or dark <= light)


@helper
def _defeat(state: Any, light_falls: bool, dark_falls: bool) -> int:  # B6 and the ends of the game
    light, dark = state.fighters[LIGHT], state.fighters[DARK]
    if light_falls:
        _relocate(state, light, DEAD)
    if dark_falls:
        _relocate(state, dark, DEAD)
    elif dark == SHELOB and state.square != GONDOR:
        has_room = not has(state.held[LIGHT] | state.full[DARK], GONDOR)
        _relocate(state, SHELOB, GONDOR if has_room else DEAD)
    if light_falls and light == FRODO:
        return _finish(state, DARK)
    if state.count[DARK, DEAD] == TEAM:
        return _finish(state, LIGHT)
    return BATTLE_END


@helper
def _end_battle(state: Any) -> int:
    """The next battle where the attacker still faces enemies, or the end of the turn."""
    state.first_battle = state.boosted = 0
    attacker = state.fighters[state.side]
    faces_enemies = state.pos[attacker] == state.square and has(state.held[1 - state.side], state.square)
    return REVEAL if faces_enemies else TURN_END


@helper
def _decide(state: Any, action: int) -> int:
    """Carry out the decision of a node."""
    node = state.node
    if node == MOVE:
        return _move(state, action)
    if node == REVEAL:
        return _reveal(state, action)
    if node == DARK_CARD:
        return _choose_card(state, DARK, action - DARK_PLAYS)
    if node == LIGHT_CARD:
        return _choose_card(state, LIGHT, action - LIGHT_PLAYS)
    if node == SHOW:
        return DARK_EFFECT
    if node == DARK_MAGIC:
        return _count_dark_card(state, action - DARK_PICKS)
    if node == LIGHT_MAGIC:
        state.effects[LIGHT] = action - LIGHT_PICKS
        return LIGHT_WITHDRAWAL
    if node == DARK_RETREAT:
        _relocate(state, state.fighters[DARK], action - DARK_MOVES_ASIDE)
        return LIGHT_REPLACEMENT
    if node == LIGHT_RETREAT:
        _relocate(state, state.fighters[LIGHT], action - LIGHT_MOVES_BACK)
        return DISCARD
    if node == FRODO_TEXT:
        return _frodo_text(state, action)
    if node == SAM_TEXT:
        return _sam_text(state, action)
    if node == PIPPIN_TEXT:
        return _pippin_text(state, action)
    if node == SARUMAN_TEXT:
        return _saruman_text(state, action)
    if node == AMBUSH:
        return _ambush(state, action)
    return _take_victim(state)  # VICTIM


@helper
def _follow(state: Any, step: int) -> int:
    """Carry out a step that follows by itself."""
    if step == TURN_END:
        return _end_turn(state)
    if step == ARRIVAL:
        return _arrive(state)
    if step == TEXTS:
        return _use_texts(state)
    if step == DARK_EFFECT:
        return _use_dark_card(state)
    if step == LIGHT_EFFECT:
        return _use_light_card(state)
    if step == LIGHT_REPLACEMENT:
        return _replace_light_card(state)
    if step == LIGHT_WITHDRAWAL:
        return _withdraw_light(state)
    if step == DISCARD:
        return _discard(state)
    if step == STRENGTHS:
        return _compare(state)
    return _end_battle(state)  # BATTLE_END


def apply(state: Any, action: int) -> None:
    state.actions[state.acted] = action
    state.acted += 1
    step = _decide(state, action)
    while step > OVER:
        step = _follow(state, step)
    state.node = step


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
    return state.acted


def simultaneous(state: Any) -> int:
    """1 or 2 where Dark or Light chooses a card without knowing the other's; 0 elsewhere."""
    number = 1 if state.node == DARK_CARD else 2 if state.node == LIGHT_CARD else 0
    return number if number > 0 and not open_cards(state.fighters[LIGHT], state.fighters[DARK]) else 0


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
        first = sample(state, hidden, beliefs, rng)  # the game would have ended
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
    return state.side if state.node == MOVE else CONTINUES


DARK_SHIRE_TO_WIN = 4  # pieces together in the Shire; 3 in the published rules


def lotr_confrontation(dark_shire_to_win: int = DARK_SHIRE_TO_WIN, random_setup: int = 0) -> Game:
    """The Confrontation.

    Args:
        dark_shire_to_win: Dark pieces in the Shire together that win for Dark: 4 in the papers, 3 in the published rules.
        random_setup: 1 to shuffle both sides' pieces over their starting squares, 0 for the fixed setup.

    Raises:
        ValueError: a count other than 1 to 4 (the Shire's capacity), or a setup other than 0 or 1.
    """
    dark_shire_to_win = integer("dark_shire_to_win", dark_shire_to_win, 1, int(CAPACITY[SHIRE]))
    random_setup = integer("random_setup", random_setup, 0, 1)
    return Game(
        name="lotr-confrontation",
        players=2,
        state=STATE,
        initial=initial,
        player=player,
        legal=legal,
        apply=apply,
        rewards=rewards,
        max_legal=MAX_LEGAL,
        text=text,
        action_text=action_text,
        observe=observe,
        determinize=determinize,
        beliefs=BELIEFS,
        prepare=prepare,
        episode=episode,
        recall=recall,
        simultaneous=simultaneous,
        parameters={"dark_shire_to_win": int(dark_shire_to_win), "random_setup": int(random_setup)},
        defaults={"dark_shire_to_win": DARK_SHIRE_TO_WIN, "random_setup": 0},
        seat_names=("Light", "Dark"),
    )
