"""The Confrontation's state data, and where each piece may go: forward, or further to attack."""

import numpy as np

from icarus.games.lotr_confrontation.facts import (
    ACTORS,
    ALL_CARDS,
    AMBUSH,
    ARAGORN,
    AROUND,
    BIT,
    BLACK_RIDER,
    CAPACITY,
    CARDS,
    DARK,
    DEAD,
    DRAWN,
    FORWARD,
    FRODO,
    GANDALF,
    LIGHT,
    LIGHT_MOVES_BACK,
    LONGEST_TURN,
    MAX_TURNS,
    MORDOR,
    MOVE,
    MOVER,
    NAZGUL,
    NO_CARD,
    NOBODY,
    OVER,
    PIECES,
    REVEAL,
    SIDEWAYS,
    SQUARES,
    TEAM,
    UP,
    VICTIM,
    WARG,
    WITCH_KING,
)
from icarus.games.lotr_confrontation.knowledge import LAPSED
from icarus.kernel import Facts, helper, inlined
from icarus.kernel.structures import Integer

STATE = np.dtype(
    [
        ("pos", np.int8, (PIECES,)),  # the square of each piece, DEAD included
        ("count", np.int8, (2, SQUARES + 1)),  # pieces of each side per square, the dead included
        ("held", np.int32, (2,)),  # the squares where a side has pieces
        ("full", np.int32, (2,)),  # the squares where it has no room for more
        ("possible", np.int32, (PIECES,)),  # the squares where the other side may suspect each piece
        ("turn", np.int32),  # turns completed
        ("hands", np.int16, (2,)),  # the cards of each side; all others lie face up beside it
        ("cards", np.int8, (2,)),  # chosen in this battle
        ("effects", np.int8, (2,)),  # the cards that count in it: replaced, cancelled or NO_CARD
        ("fighters", np.int8, (2,)),  # the mover and, once revealed, the piece it fights, by side
        ("side", np.int8),  # whose turn it is
        ("node", np.int8),  # the decision to be made
        ("origin", np.int8),  # where the mover came from
        ("square", np.int8),  # where it went: the square of the battle
        ("first_battle", np.int8),  # of this turn, not yet fought out
        ("boosted", np.int8),  # Sam fights with Frodo's strength behind him
        ("winner", np.int8),  # NOBODY while the game goes on
        ("searching", np.int8),  # inside a simulation: knowledge is not kept up
        ("shire_needed", np.int8),  # Dark pieces in the Shire that win the game
        ("acted", np.int8),  # actions of this turn so far
        ("actions", np.int16, (LONGEST_TURN,)),  # of this turn
    ],
    align=True,
)
RANGES = {
    "pos": (0, DEAD),
    "count": (0, TEAM),
    **dict.fromkeys(("held", "full", "possible"), (0, (1 << SQUARES + 1) - 1)),
    "turn": (0, MAX_TURNS),
    "hands": (0, ALL_CARDS),
    "cards": (0, CARDS - 1),
    "effects": (0, NO_CARD),
    "fighters": (NOBODY, PIECES - 1),
    "node": (MOVE, OVER),
    **dict.fromkeys(("origin", "square"), (0, SQUARES - 1)),
    **dict.fromkeys(("side", "first_battle", "boosted"), (0, 1)),
    "winner": (NOBODY, DRAWN),
    "searching": (0, LAPSED),
    "acted": (0, LONGEST_TURN),
    "actions": (0, LIGHT_MOVES_BACK + SQUARES - 1),
}  # of all fields but `shire_needed`


@inlined
def enter(state: Facts, piece: int, square: int) -> None:
    side = piece // TEAM
    state.pos[piece] = square
    state.count[side, square] += 1
    state.held[side] |= BIT[square]
    if state.count[side, square] >= CAPACITY[square]:
        state.full[side] |= BIT[square]


@helper
def shift(state: Facts, piece: int, square: int) -> None:
    """Move a piece; nothing is said about who sees it."""
    side, origin = piece // TEAM, state.pos[piece]
    state.count[side, origin] -= 1
    state.full[side] &= ~BIT[origin]
    if state.count[side, origin] == 0:
        state.held[side] &= ~BIT[origin]
    enter(state, piece, square)


@inlined
def has(squares: int, square: int) -> bool:
    return squares & BIT[square] != 0


@inlined
def free(state: Facts, side: int) -> int:
    """Squares where a piece of this side can go without a fight."""
    return ~(state.full[side] | state.held[1 - side])


@helper
def lone(state: Facts, side: int) -> int:
    """Squares where this side has exactly one piece."""
    squares = 0
    for character in range(TEAM):
        square = state.pos[side * TEAM + character]
        if state.count[side, square] == 1:
            squares |= BIT[square]
    return squares & ~BIT[DEAD]


@helper
def ridden_to(state: Facts, square: int) -> int:
    """Squares with Light pieces that the Black Rider reaches downwards, through squares with room for him and no Light piece."""
    passable, squares = BIT[square], 0
    for lower in range(square - 1, -1, -1):
        if UP[lower] & passable:
            if has(state.held[LIGHT], lower):
                squares |= BIT[lower]
            elif not has(state.full[DARK], lower):
                passable |= BIT[lower]
    return squares


@helper
def targets(state: Facts, piece: int, square: int) -> int:
    """Where this piece may go from this square: forward where there is room, or further to attack."""
    side = piece // TEAM
    squares = FORWARD[side, square] & ~state.full[side]
    if piece == ARAGORN:
        squares |= AROUND[square] & state.held[DARK]
    elif piece == WITCH_KING:
        squares |= SIDEWAYS[square] & state.held[LIGHT]
    elif piece == NAZGUL:
        squares |= lone(state, LIGHT)
    elif piece == BLACK_RIDER:
        squares |= ridden_to(state, square)
    return squares


@helper
def can_move(state: Facts, side: int) -> bool:
    for piece in range(side * TEAM, side * TEAM + TEAM):
        if state.pos[piece] != DEAD and targets(state, piece, state.pos[piece]):
            return True
    return False


@helper
def possible_movers(state: Facts) -> int:
    """The characters that could have made the move from origin to square and left the game going: a bit per character."""
    characters = 0
    for character in range(TEAM):
        piece = state.side * TEAM + character
        wins = piece == FRODO and state.square == MORDOR
        if not wins and has(targets(state, piece, state.origin), state.square):
            characters |= 1 << character
    return characters


@inlined
def open_cards(light: Integer, dark: Integer) -> bool:
    """Gandalf's text: Dark plays first, face up."""
    return light == GANDALF and dark != WARG


@inlined
def mover_unseen(state: Facts) -> bool:
    """Whether the turn's mover is still standing unseen at its origin."""
    return state.node == AMBUSH or state.node == VICTIM or (state.node == REVEAL and state.first_battle != 0)


@inlined
def actor_of(state: Facts) -> int:
    """ρ: who makes the decision of the state's node."""
    actor = ACTORS[state.node]
    return state.side if actor == MOVER else actor
