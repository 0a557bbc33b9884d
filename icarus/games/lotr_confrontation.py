"""Lord of the Rings: The Confrontation (2002): Frodo's way to Mordor among nine hidden pieces a side.

Light wins by bringing Frodo into Mordor, Dark, who moves first, by defeating him or by gathering pieces in
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
make it uncertain again), and a card chosen but not yet shown. Cards are chosen at the same time: Dark's comes first and stays face
down, except against Gandalf.

An action of a move is piece · 256 + origin · 16 + target; the others follow below, one block for each kind. The environment draws
the defender (REVEAL), shows a piece that the Balrog takes in the tunnel (VICTIM) and turns over the two chosen cards (SHOW). The
choices of a card (DARK_CARD, LIGHT_CARD) are the game's one simultaneous decision. Light is player 0. An episode is a turn.
"""

import itertools
import math

import numpy as np

from icarus.checks import integer
from icarus.compiler.plain_python import interpret
from icarus.games.cards import choose_filler, count_ways
from icarus.kernel import append_bits, below, helper, inlined, lowest_bit, popcount, shuffle
from icarus.kernel.contract import CHANCE, CONTINUES, TERMINAL, Facts, Integer
from icarus.kernel.game import Game, aligned, functions_of
from icarus.kernel.scene import Drawing, Hand, Piece, Scene, Spot

# A set of squares is an integer with a bit per square; a set of cards, one with a bit per card of a side's nine. The dead lie
# on a square of their own that no path leads to.

LIGHT, DARK = range(2)
SIDE_NAMES = ("Light", "Dark")

# ------------------------------------------------------------------------------------------------------------- squares

(
    SHIRE,
    ARTHEDAIN,
    CARDOLAN,
    RHUDAUR,
    EREGION,
    ENEDWAITH,
    HIGH_PASS,
    MISTY_MOUNTAINS,
    CARADHRAS,
    GAP_OF_ROHAN,
) = range(10)
MIRKWOOD, FANGORN, ROHAN, DAGORLAD, GONDOR, MORDOR, DEAD = range(10, 17)
SQUARE_NAMES = (
    *("Shire", "Arthedain", "Cardolan", "Rhudaur", "Eregion", "Enedwaith"),
    *("HighPass", "MistyMtns", "Caradhras", "GapOfRohan"),
    *("Mirkwood", "Fangorn", "Rohan", "Dagorlad", "Gondor", "Mordor", "dead"),
)
SQUARES = 16  # on the board; with the dead, one more
BIT = 1 << np.arange(SQUARES + 1)  # the set of one square
# own pieces in one square
CAPACITY = np.array([4, 2, 2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 18], np.int64)

# The rows of the map, Light's home at the bottom. A row stands between the gaps of the next, so each region touches one or two of it.
_WIDTHS = (1, 2, 3, 4, 3, 2, 1)
ROWS = [range(sum(_WIDTHS[:k]), sum(_WIDTHS[: k + 1])) for k in reversed(range(len(_WIDTHS)))]
_RIVER = {MIRKWOOD: FANGORN, FANGORN: ROHAN}  # the Anduin, downstream: forward for Light
_TUNNEL = {EREGION: FANGORN}  # Moria: forward for Light


def _table(pairs: list[tuple[int, int]]) -> np.ndarray:
    """[square] the set of squares to which the pairs (origin, target) lead from it."""
    table = np.zeros(SQUARES + 1, np.int64)
    for origin, target in pairs:
        table[origin] |= 1 << target
    return table


# how far right of the row's middle
_middle = {square: square - sum(row) / len(row) for row in ROWS for square in row}
_up_pairs = [
    (a, b)
    for above, row in itertools.pairwise(ROWS)
    for a in row
    for b in above
    if abs(_middle[a] - _middle[b]) < 1
]
_side_pairs = [
    (a, b) for row in ROWS if HIGH_PASS not in row for a in row for b in row if abs(a - b) == 1
]
UP = _table(_up_pairs)
DOWN = _table([(target, origin) for origin, target in _up_pairs])
SIDEWAYS = _table(_side_pairs)  # none in the mountains
AROUND = UP | DOWN | SIDEWAYS
# [side, square]
FORWARD = np.stack([_table([*_up_pairs, *_RIVER.items(), *_TUNNEL.items()]), DOWN])

# ---------------------------------------------------------------------------------------------------------- characters

TEAM = 9  # characters of a side
PIECES = 2 * TEAM
FRODO, SAM, PIPPIN, MERRY, GANDALF, ARAGORN, LEGOLAS, GIMLI, BOROMIR = range(TEAM)
ORCS, SHELOB, SARUMAN, NAZGUL, BLACK_RIDER, WITCH_KING, BALROG, WARG, CAVE_TROLL = range(
    TEAM, PIECES
)
PIECE_NAMES = (
    *("Frodo", "Sam", "Pippin", "Merry", "Gandalf", "Aragorn", "Legolas", "Gimli", "Boromir"),
    *(
        "Orcs",
        "Shelob",
        "Saruman",
        "Nazgul",
        "Black Rider",
        "Witch King",
        "Balrog",
        "Warg",
        "Cave Troll",
    ),
)
STRENGTH = np.array([1, 2, 1, 2, 5, 4, 3, 3, 0, 2, 5, 4, 3, 3, 5, 5, 2, 9], np.int64)
SAM_WITH_FRODO = 5  # his strength where he fights for Frodo
NOBODY = -1
DEFEATS = np.full(TEAM, NOBODY, np.int64)  # whom a Light character's text defeats without cards
DEFEATS[MERRY], DEFEATS[LEGOLAS], DEFEATS[GIMLI] = WITCH_KING, NAZGUL, ORCS

FIXED_SETUP = np.array(  # [side, character]: a square
    [
        [SHIRE, SHIRE, EREGION, ARTHEDAIN, CARDOLAN, RHUDAUR, SHIRE, SHIRE, ENEDWAITH],
        [MIRKWOOD, ROHAN, DAGORLAD, MORDOR, MORDOR, MORDOR, MORDOR, GONDOR, FANGORN],
    ],
    np.int64,
)
START_SQUARES = np.bitwise_or.reduce(BIT[FIXED_SETUP], axis=1)  # [side]: a set

# --------------------------------------------------------------------------------------------------------------- cards

CARDS = 9  # of a side
ALL_CARDS = (1 << CARDS) - 1
MAGIC, RETREAT = range(2)  # both sides own one
CLOAK, NOBLE_SACRIFICE = 2, 3  # Light's
EYE = 2  # Dark's
NO_CARD = CARDS
# Text cards and none count 0.
CARD_VALUE = np.array([[0, 0, 0, 0, 1, 2, 3, 4, 5, 0], [0, 0, 0, 1, 2, 3, 4, 5, 6, 0]], np.int64)
CARD_NAMES = (
    (
        "Magic",
        "Retreat",
        "Elven Cloak",
        "Noble Sacrifice",
        "card 1",
        "card 2",
        "card 3",
        "card 4",
        "card 5",
    ),
    (
        "Magic",
        "Retreat",
        "Eye of Sauron",
        "card 1",
        "card 2",
        "card 3",
        "card 4",
        "card 5",
        "card 6",
    ),
)

# ------------------------------------------------------------------------------------------------ nodes and actions

# The decision nodes, in the order in which a turn may meet them.
MOVE, AMBUSH, VICTIM, REVEAL, FRODO_TEXT, SAM_TEXT, PIPPIN_TEXT, SARUMAN_TEXT = range(8)
DARK_CARD, LIGHT_CARD, SHOW, DARK_MAGIC, DARK_RETREAT, LIGHT_MAGIC, LIGHT_RETREAT, OVER = range(
    8, 16
)
# What follows by itself, in the order in which a battle goes through it.
ARRIVAL, TEXTS, DARK_EFFECT, LIGHT_EFFECT, LIGHT_REPLACEMENT, LIGHT_WITHDRAWAL = range(
    OVER + 1, OVER + 7
)
DISCARD, STRENGTHS, BATTLE_END, TURN_END = range(OVER + 7, OVER + 11)
MOVER = 2  # in ACTORS: the side whose turn it is
ACTORS = np.array(
    [
        MOVER,
        DARK,
        CHANCE,
        CHANCE,
        LIGHT,
        LIGHT,
        LIGHT,
        DARK,
        DARK,
        LIGHT,
        CHANCE,
        DARK,
        DARK,
        LIGHT,
        LIGHT,
        TERMINAL,
    ],
    np.int64,
)
NODE_NAMES = (
    *("to move", "may ambush", "shows the victim", "reveals a defender"),
    *("uses Frodo's text", "uses Sam's text", "uses Pippin's text", "uses Saruman's text"),
    *(
        "chooses a card",
        "chooses a card",
        "shows the cards",
        "uses Magic",
        "retreats",
        "uses Magic",
        "retreats",
    ),
)

# The actions: the first integer of each kind.
PASS_AMBUSH = PIECES * SQUARES * SQUARES
TAKE_AMBUSH = PASS_AMBUSH + 1
BATTLE = TAKE_AMBUSH + 1  # + attacker · 18 + defender
FRODO_STAYS = BATTLE + PIECES * PIECES
SAM_STEPS_IN = FRODO_STAYS + 1
FRODO_RETREATS = SAM_STEPS_IN + 1  # + square
SAM_ALONE = FRODO_RETREATS + SQUARES
SAM_BOOSTED = SAM_ALONE + 1
PIPPIN_STAYS = SAM_BOOSTED + 1
PIPPIN_RETREATS = PIPPIN_STAYS + 1  # + square
PLAY_CARDS = PIPPIN_RETREATS + SQUARES
CANCEL_CARDS = PLAY_CARDS + 1
DARK_PLAYS = CANCEL_CARDS + 1  # + card
LIGHT_PLAYS = DARK_PLAYS + CARDS  # + card
CARDS_SHOWN = LIGHT_PLAYS + CARDS  # + Dark's card · 9 + Light's card
DARK_PICKS = CARDS_SHOWN + CARDS * CARDS  # + card
DARK_MOVES_ASIDE = DARK_PICKS + CARDS  # + square
LIGHT_PICKS = DARK_MOVES_ASIDE + SQUARES  # + card
LIGHT_MOVES_BACK = LIGHT_PICKS + CARDS  # + square

# What is seen of a hidden action.
UNSEEN_PIECE = LIGHT_MOVES_BACK + SQUARES  # + origin · 16 + target
FRODO_ARRIVES = UNSEEN_PIECE + SQUARES * SQUARES  # + origin · 16 + target: the move that wins
FACE_DOWN = FRODO_ARRIVES + SQUARES * SQUARES

DRAWN = 2  # "winner" of a game that reached MAX_TURNS
MAX_TURNS = 500
LONGEST_TURN = 42  # a move, the ambush, four battles of at most ten actions
MAX_LEGAL = 38  # Dark: two each for nine, nine by flight, nine by ride, two aside


# -------------------------------------------------------------------------------------------- what each player can know


EVERYONE = (1 << TEAM) - 1
LAPSED = 2  # `searching` once something was seen that is not kept up

BELIEFS = aligned(
    ("places", np.int8, (TEAM,)),  # the square of each place
    ("candidates", np.int32, (TEAM,)),  # a bit per character that may stand there
    # per set of characters that fill the first places; at most 9!
    ("ways", np.int32, (EVERYONE + 1,)),
)


@helper
def suspects(state: Facts, side: int, square: int) -> int:
    """The characters of a side that may be in a square, to its opponent's knowledge: a bit per character."""
    characters = 0
    for character in range(TEAM):
        characters |= ((state.possible[side * TEAM + character] >> square) & 1) << character
    return characters


@helper
def lay_out(
    state: Facts, side: int, movers: int, places: np.ndarray, candidates: np.ndarray
) -> int:
    """List where a side's pieces stand, and which characters may be each of them; returns how many pieces there are.

    `movers` are the characters that may have made a move not yet seen: its mover comes first, at its origin. 0 without such a move.
    """
    used = 0
    if movers:
        places[0], candidates[0] = state.origin, movers & suspects(state, side, state.origin)
        used = 1
    for square in range(DEAD + 1):
        pieces = state.count[side, square]
        if movers and square == state.origin:
            pieces -= 1
        if pieces > 0:
            characters = suspects(state, side, square)
            for i in range(used, min(used + pieces, TEAM)):
                places[i], candidates[i] = square, characters
            used += pieces
    return used


@helper
def sample(state: Facts, side: int, beliefs: Facts, rng: np.ndarray) -> int:
    """Put the pieces of a side where a uniformly drawn assignment has them; returns the piece in the first place."""
    rank = below(rng, beliefs.ways[0])
    mask, first = 0, 0
    for i in range(TEAM):
        bit, rank = choose_filler(beliefs.candidates[i], mask, beliefs.ways, rank)
        piece = side * TEAM + lowest_bit(np.uint64(bit))
        state.pos[piece] = beliefs.places[i]
        mask |= bit
        if i == 0:
            first = piece
    return first


@helper
def prune(state: Facts, side: int) -> None:
    """Keep of each character of a side only the possible squares that some assignment of the characters to the places has."""
    places, candidates = np.zeros(TEAM, np.int64), np.zeros(TEAM, np.int64)
    ways = np.zeros(EVERYONE + 1, np.int64)
    lay_out(state, side, 0, places, candidates)
    count_ways(candidates, TEAM, ways)
    # reached[mask]: the characters of `mask` can fill the first places; ways[mask]: the other places can then be filled too
    reached, possible = np.zeros(EVERYONE + 1, np.bool_), np.zeros(TEAM, np.int64)
    reached[0] = True
    for mask in range(EVERYONE):
        if reached[mask]:
            place = popcount(np.uint64(mask))
            rest = candidates[place] & ~mask
            while rest:
                bit = rest & -rest
                if ways[mask | bit]:
                    reached[mask | bit] = True
                    possible[lowest_bit(np.uint64(bit))] |= BIT[places[place]]
                rest ^= bit
    for character in range(TEAM):
        state.possible[side * TEAM + character] = possible[character]


@helper
def know(state: Facts, piece: int) -> None:
    """Both players have seen which piece stands where it stands now."""
    if state.searching:
        state.searching = LAPSED
    else:
        state.possible[piece] = BIT[state.pos[piece]]
        prune(state, piece // TEAM)


@helper
def suspect_move(state: Facts, side: int, origin: int, target: int) -> None:
    """Some piece is about to go from one square to another without a fight: whoever may have been there may have gone.

    Called before the numbers of pieces change, `prune` afterwards. Frodo did not go to Mordor, or the game would be over.
    """
    for character in range(TEAM):
        piece = side * TEAM + character
        if (state.possible[piece] >> origin) & 1:
            if not (piece == FRODO and target == MORDOR):
                state.possible[piece] |= BIT[target]
            if state.count[side, origin] == 1:
                state.possible[piece] &= ~BIT[origin]


# ---------------------------------------------------------------------------------- state data, and where pieces may go


STATE = aligned(
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
)
# of all fields but `shire_needed`
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
}


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
    # a row further down has lower numbers, so a square comes after all from which it can be reached
    for lower in range(square - 1, -1, -1):
        if UP[lower] & passable:
            if has(state.held[LIGHT], lower):
                squares |= BIT[lower]
            elif not has(state.full[DARK], lower):
                passable |= BIT[lower]
    return squares


@helper
def targets(state: Facts, piece: int, square: int) -> int:
    """Where this piece may go from this square: forward where there is room; some may attack elsewhere, too."""
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
    return (
        state.node == AMBUSH
        or state.node == VICTIM
        or (state.node == REVEAL and state.first_battle != 0)
    )


@inlined
def actor_of(state: Facts) -> int:
    """ρ: who makes the decision of the state's node."""
    actor = ACTORS[state.node]
    return state.side if actor == MOVER else actor


# ------------------------------------------------------------------------------------------------------------- a battle


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
def choose_text(state: Facts, action: int) -> int:
    """Light's choices, to retreat, to have Sam step in or fight with more strength; and Saruman's, whether cards are played at all."""
    if action == CANCEL_CARDS:
        state.effects[LIGHT] = state.effects[DARK] = NO_CARD
        return STRENGTHS
    if FRODO_RETREATS <= action < SAM_ALONE:
        relocate(state, FRODO, action - FRODO_RETREATS)
        return BATTLE_END
    if PIPPIN_RETREATS <= action < PLAY_CARDS:
        relocate(state, PIPPIN, action - PIPPIN_RETREATS)
        return BATTLE_END
    if action == SAM_STEPS_IN:
        state.fighters[LIGHT] = SAM
        state.boosted = 1
        know(state, SAM)
    elif action == SAM_BOOSTED:
        state.boosted = 1
        know(state, FRODO)
    return DARK_CARD if action == PLAY_CARDS else TEXTS


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
    """B4, the end of the cards: both are discarded, and the hands, which have as many cards each, are refilled if they are empty."""
    for side in range(2):
        state.hands[side] &= ~(1 << np.int64(state.cards[side]))
    if state.hands[LIGHT] == 0:
        state.hands[LIGHT] = state.hands[DARK] = ALL_CARDS
    if (
        state.pos[state.fighters[LIGHT]] != state.square
        or state.pos[state.fighters[DARK]] != state.square
    ):
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
def _defeat(state: Facts, light_falls: bool, dark_falls: bool) -> int:  # B6
    """B6, and the ends of the game: who falls is dead; Shelob goes back to Gondor if she has not fallen, and is dead if it has no room."""
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
    faces_enemies = state.pos[attacker] == state.square and has(
        state.held[1 - state.side], state.square
    )
    return REVEAL if faces_enemies else TURN_END


# --------------------------------------------------------------------------------------------- what a position promises


# Of each square, from the Shire to Mordor.
ROW = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 0], np.int64)
PIECE, ROW_OF_FRODO, IN_SHIRE = 0.3, 0.15, 0.6  # what they add to the logarithm of the odds


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-s}) for Light: s rises with Dark's dead and Frodo's row, and falls with Light's dead and Dark's pieces in the Shire."""
    score = PIECE * (int(state.count[DARK, DEAD]) - int(state.count[LIGHT, DEAD]))
    score += ROW_OF_FRODO * ROW[state.pos[FRODO]] - IN_SHIRE * int(state.count[DARK, SHIRE])
    out[LIGHT] = 1.0 / (1.0 + math.exp(-score))
    out[DARK] = 1.0 - out[LIGHT]


# ------------------------------------------------------------------------------ what a player sees, and determinization


_DRAWS = 1_000_000  # before it is said that there is no such placement


@inlined
def _seen_move(action: Integer) -> int:
    """A move as the other side sees it."""
    squares = action % (SQUARES * SQUARES)
    wins = action // (SQUARES * SQUARES) == FRODO and action % SQUARES == MORDOR
    return (FRODO_ARRIVES if wins else UNSEEN_PIECE) + squares


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    if state.node == MOVE:
        moves[1 - state.side] = _seen_move(action)
    elif DARK_CARD <= state.node <= LIGHT_CARD and not open_cards(
        state.fighters[LIGHT], state.fighters[DARK]
    ):
        moves[1 - actor_of(state)] = FACE_DOWN


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """The turn so far as an observer has seen it."""
    face_up = False
    for i in range(state.acted):
        action = np.int64(state.actions[i])
        moves[i] = action
        if action < PASS_AMBUSH:
            mover = action // (TEAM * SQUARES * SQUARES)
            if observer == 1 - mover:
                moves[i] = _seen_move(action)
        elif BATTLE <= action < FRODO_STAYS:
            first, second = (action - BATTLE) // PIECES, (action - BATTLE) % PIECES
            # Light's pieces have the lower numbers, whoever attacks
            face_up = open_cards(min(first, second), max(first, second))
        elif DARK_PLAYS <= action < CARDS_SHOWN and not face_up:
            owner = DARK if action < LIGHT_PLAYS else LIGHT
            if observer == 1 - owner:
                moves[i] = FACE_DOWN
    return state.acted


def simultaneous(state: Facts) -> int:
    """1 or 2 where Dark or Light chooses a card without knowing the other's; 0 elsewhere."""
    number = 1 if state.node == DARK_CARD else 2 if state.node == LIGHT_CARD else 0
    return (
        number if number > 0 and not open_cards(state.fighters[LIGHT], state.fighters[DARK]) else 0
    )


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    """Count the assignments of the pieces that the observer does not see."""
    if observer == CHANCE:
        return
    if state.searching == LAPSED:
        raise ValueError(
            "a game continued from a determinization of lotr-confrontation does not record what each side has seen; "
            "determinize or search states of the original game"
        )
    hidden = 1 - observer
    movers = possible_movers(state) if hidden == state.side and mover_unseen(state) else 0
    if lay_out(state, hidden, movers, beliefs.places, beliefs.candidates) != TEAM:
        raise ValueError(
            "`count` of lotr-confrontation, how many pieces stand in each square, does not sum to the nine of a side"
        )
    count_ways(beliefs.candidates, TEAM, beliefs.ways)
    if beliefs.ways[0] == 0:
        raise ValueError(
            "no placement of the hidden pieces of lotr-confrontation agrees with both `possible`, where each piece may be, "
            "and `count`, how many pieces stand in each square"
        )


@helper
def _redraw_card(state: Facts, side: int, place: int, base: int, rng: np.ndarray) -> None:
    """Exchange a card that lies face down for any of the hand; `place` is where the turn's actions have it."""
    cards = np.int64(state.hands[side])
    # the lowest cards are dropped, as many as are drawn; the lowest that is left is taken
    for _ in range(below(rng, popcount(np.uint64(cards)))):
        cards &= cards - 1
    state.cards[side] = lowest_bit(np.uint64(cards))
    state.actions[place] = base + np.int64(state.cards[side])


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    state.searching = 1
    if observer == CHANCE:
        return
    hidden = 1 - observer
    unseen = hidden == state.side and mover_unseen(state)
    first = sample(state, hidden, beliefs, rng)
    draws = 0
    while state.node == MOVE and hidden == state.side and not can_move(state, hidden):
        # The side to move has a legal action, or the game would have ended.
        first = sample(state, hidden, beliefs, rng)
        draws += 1
        if draws == _DRAWS:
            raise ValueError(
                "the side to move has no legal action in any of a million placements that agree with `possible` of lotr-confrontation"
            )
    if unseen:
        state.fighters[hidden] = first
        state.actions[0] = move_action(first, state.origin, state.square)
    if not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        if hidden == DARK and (state.node == LIGHT_CARD or state.node == SHOW):
            # the last action, or at SHOW the one before Light's
            _redraw_card(
                state, DARK, state.acted - (1 if state.node == LIGHT_CARD else 2), DARK_PLAYS, rng
            )
        elif hidden == LIGHT and state.node == SHOW:
            _redraw_card(state, LIGHT, state.acted - 1, LIGHT_PLAYS, rng)


def observation(state: Facts, player: int) -> tuple:
    """His own pieces, how many there are in each place, and the cards that have not been played."""
    pieces = state.pos[player * TEAM : (player + 1) * TEAM]
    return (
        pieces,
        state.count,
        state.hands,
        state.turn,
        state.side,
        state.node,
        state.square,
        state.winner,
    )


def _move_text(move: int) -> str:
    return "plays a card face down" if move == FACE_DOWN else ""


def episode(state: Facts) -> int:
    """Eq. (20): the side that is about to move, no battle being in progress."""
    return state.side if state.node == MOVE else CONTINUES


# ----------------------------------------------------------------------------------- the board and the actions in words


CELL = 24  # characters across one square


def _row(cells: list[str]) -> str:
    return "".join(cell.center(CELL) for cell in cells).center(4 * CELL).rstrip()


def held_cards(state: Facts, side: int) -> tuple[str, ...]:
    """The cards in a side's hand."""
    cards = int(state.hands[side])
    return tuple(name for i, name in enumerate(CARD_NAMES[side]) if cards >> i & 1)


def text(state: Facts) -> str:
    """The board with Mordor at the top, Dark's pieces in capitals, the dead, the hands, and the decision to be made."""
    squares = state.pos.tolist()
    occupied_squares = state.held  # a field of a record is slow to read

    def pieces(square: int, side: int) -> str:
        team = range(side * TEAM, side * TEAM + TEAM)
        names = [PIECE_NAMES[piece] for piece in team if squares[piece] == square]
        return " ".join(name.upper() if side == DARK else name for name in names)

    lines = []
    for row in ROWS:
        lines.append(_row([f"[{SQUARE_NAMES[square]}]" for square in row]))
        for side in (DARK, LIGHT):
            if any(interpret(has)(occupied_squares[side], square) for square in row):
                lines.append(_row([pieces(square, side) for square in row]))
    for side in (DARK, LIGHT):
        cards = ", ".join(held_cards(state, side)).replace("card ", "")
        lines.append(f"{SIDE_NAMES[side]}: cards {cards}; dead: {pieces(DEAD, side) or 'none'}")
    return "\n".join([*lines, _situation(state)])


def _situation(state: Facts) -> str:
    if state.node == OVER:
        ends = {DRAWN: "drawn", NOBODY: "nobody has won"}
        return ends.get(int(state.winner)) or f"{SIDE_NAMES[state.winner]} has won"
    actor = interpret(actor_of)(state)
    decision = (
        f"{'the environment' if actor == CHANCE else SIDE_NAMES[actor]} {NODE_NAMES[state.node]}"
    )
    if state.node == MOVE:
        return decision
    mover = PIECE_NAMES[state.fighters[state.side]]
    route = f"{mover} {SQUARE_NAMES[state.origin]}-{SQUARE_NAMES[state.square]}"
    if interpret(mover_unseen)(state) or state.node == REVEAL:
        return f"{route}: {decision}"
    return f"{route} v {PIECE_NAMES[state.fighters[1 - state.side]]}: {decision}"


_PLAIN = {
    PASS_AMBUSH: "pass",
    TAKE_AMBUSH: "ambush",
    FRODO_STAYS: "stay",
    SAM_STEPS_IN: "Sam steps in",
    SAM_ALONE: "alone",
    SAM_BOOSTED: "with Frodo",
    PIPPIN_STAYS: "stay",
    PLAY_CARDS: "play cards",
    CANCEL_CARDS: "no cards",
}
_CARD_ACTIONS = ((DARK_PLAYS, DARK), (LIGHT_PLAYS, LIGHT), (DARK_PICKS, DARK), (LIGHT_PICKS, LIGHT))
_RETREATS = (FRODO_RETREATS, PIPPIN_RETREATS, DARK_MOVES_ASIDE, LIGHT_MOVES_BACK)


def action_text(state: Facts, action: int) -> str:
    """As in "Aragorn Eregion-Fangorn", "Orcs v Sam", "Noble Sacrifice", "to Rhudaur", "ambush"."""
    if action in _PLAIN:
        return _PLAIN[action]
    if action < PASS_AMBUSH:
        piece, squares = divmod(action, SQUARES * SQUARES)
        return f"{PIECE_NAMES[piece]} {SQUARE_NAMES[squares // SQUARES]}-{SQUARE_NAMES[squares % SQUARES]}"
    if BATTLE <= action < FRODO_STAYS:
        attacker, defender = divmod(action - BATTLE, PIECES)
        return f"{PIECE_NAMES[attacker]} v {PIECE_NAMES[defender]}"
    if CARDS_SHOWN <= action < DARK_PICKS:
        dark, light = divmod(action - CARDS_SHOWN, CARDS)
        return f"{CARD_NAMES[DARK][dark]} v {CARD_NAMES[LIGHT][light]}"
    for base, side in _CARD_ACTIONS:
        if base <= action < base + CARDS:
            return CARD_NAMES[side][action - base]
    base = max(base for base in _RETREATS if base <= action)
    return f"to {SQUARE_NAMES[action - base]}"


def initial(state: Facts, rng: np.ndarray, dark_shire_to_win: int, random_setup: int) -> None:
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


def player(state: Facts) -> int:
    return actor_of(state)


def rewards(state: Facts, out: np.ndarray) -> None:
    for side in range(2):
        out[side] = 0.5 if state.winner == DRAWN else 1.0 if state.winner == side else 0.0


@helper
def _list_moves(state: Facts, actions: np.ndarray) -> int:
    count = 0
    for piece in range(state.side * TEAM, state.side * TEAM + TEAM):
        origin = state.pos[piece]
        if origin != DEAD:
            count = append_bits(
                actions, count, move_action(piece, origin, 0), targets(state, piece, origin)
            )
    return count


@helper
def _list_battles(state: Facts, actions: np.ndarray) -> int:
    count, opponent = 0, 1 - state.side
    for defender in range(opponent * TEAM, opponent * TEAM + TEAM):
        if state.pos[defender] == state.square:
            actions[count] = battle_action(state.fighters[state.side], defender)
            count += 1
    return count


@helper
def _list_pair(actions: np.ndarray, neutral: int, alternative: int, allowed: bool) -> int:
    """List an action that is always legal, and one that may be; returns how many are legal."""
    actions[0], actions[1] = neutral, alternative
    return 2 if allowed else 1


def legal(state: Facts, actions: np.ndarray) -> int:
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
        actions[0] = (
            CARDS_SHOWN + np.int64(state.cards[DARK]) * CARDS + np.int64(state.cards[LIGHT])
        )
        return 1
    if node == DARK_MAGIC:
        return append_bits(actions, 0, DARK_PICKS, discards(state, DARK))
    if node == LIGHT_MAGIC:
        return append_bits(actions, 0, LIGHT_PICKS, discards(state, LIGHT))
    if node == DARK_RETREAT:
        return append_bits(actions, 0, DARK_MOVES_ASIDE, sideways(state, DARK))
    if node == LIGHT_RETREAT:
        return append_bits(actions, 0, LIGHT_MOVES_BACK, backward(state))
    if node == FRODO_TEXT:
        count = _list_pair(actions, FRODO_STAYS, SAM_STEPS_IN, state.pos[SAM] == state.square)
        return append_bits(actions, count, FRODO_RETREATS, sideways(state, LIGHT))
    if node == SAM_TEXT:
        return _list_pair(actions, SAM_ALONE, SAM_BOOSTED, state.pos[FRODO] == state.square)
    if node == PIPPIN_TEXT:
        actions[0] = PIPPIN_STAYS
        return append_bits(actions, 1, PIPPIN_RETREATS, backward(state))
    if node == SARUMAN_TEXT:
        return _list_pair(actions, PLAY_CARDS, CANCEL_CARDS, True)
    if node == AMBUSH:
        return _list_pair(actions, PASS_AMBUSH, TAKE_AMBUSH, state.pos[BALROG] == CARADHRAS)
    actions[0] = battle_action(state.fighters[LIGHT], BALROG)  # VICTIM
    return 1


@helper
def _move(state: Facts, action: int) -> int:
    piece, target = action // (SQUARES * SQUARES), action % SQUARES
    state.fighters[state.side] = piece
    state.origin, state.square = state.pos[piece], target
    state.first_battle = 1
    if piece == FRODO and target == MORDOR:
        relocate(state, FRODO, MORDOR)
        return finish(state, LIGHT)
    tunnel = state.side == LIGHT and state.origin == EREGION and target == FANGORN
    if tunnel and has(state.held[DARK], CARADHRAS) and state.pos[BALROG] != DEAD:
        return AMBUSH
    return ARRIVAL


@helper
def _arrive(state: Facts) -> int:
    """The mover attacks, and stays unseen at its origin until the defender is revealed; or it moves unseen."""
    side = state.side
    if has(state.held[1 - side], state.square):
        return REVEAL
    # A search does not keep up what each side may suspect: LAPSED says that it is out of date.
    if state.searching:
        state.searching = LAPSED
    else:
        suspect_move(state, side, state.origin, state.square)
    shift(state, state.fighters[side], state.square)
    if not state.searching:
        prune(state, side)
    return TURN_END


@helper
def _end_turn(state: Facts) -> int:
    if state.side == DARK and state.count[DARK, SHIRE] >= state.shire_needed:
        return finish(state, DARK)
    state.side = 1 - state.side
    state.turn += 1
    if not can_move(state, state.side):
        return finish(state, 1 - state.side)
    if state.turn >= MAX_TURNS:
        return finish(state, DRAWN)
    state.acted = 0
    state.fighters[LIGHT] = state.fighters[DARK] = NOBODY  # who moved stays hidden
    return MOVE


@helper
def _decide(state: Facts, action: int) -> int:
    """Carry out the decision of a node."""
    node = state.node
    if node == MOVE:
        return _move(state, action)
    if node == REVEAL:
        return reveal(state, action)
    if node == DARK_CARD:
        return choose_card(state, DARK, action - DARK_PLAYS)
    if node == LIGHT_CARD:
        return choose_card(state, LIGHT, action - LIGHT_PLAYS)
    if node == SHOW:
        return DARK_EFFECT
    if node == DARK_MAGIC:
        return count_dark_card(state, action - DARK_PICKS)
    if node == LIGHT_MAGIC:
        state.effects[LIGHT] = action - LIGHT_PICKS
        return LIGHT_WITHDRAWAL
    if node == DARK_RETREAT:
        relocate(state, state.fighters[DARK], action - DARK_MOVES_ASIDE)
        return LIGHT_REPLACEMENT
    if node == LIGHT_RETREAT:
        relocate(state, state.fighters[LIGHT], action - LIGHT_MOVES_BACK)
        return DISCARD
    if FRODO_TEXT <= node <= SARUMAN_TEXT:
        return choose_text(state, action)
    if node == AMBUSH:
        if action == TAKE_AMBUSH:
            know(state, BALROG)
        return VICTIM if action == TAKE_AMBUSH else ARRIVAL
    victim = state.fighters[LIGHT]  # VICTIM
    relocate(state, victim, DEAD)
    return finish(state, DARK) if victim == FRODO else TURN_END


@helper
def _follow(state: Facts, step: int) -> int:
    """Carry out a step that follows by itself."""
    if step == TURN_END:
        return _end_turn(state)
    if step == ARRIVAL:
        return _arrive(state)
    if step == TEXTS:
        return use_texts(state)
    if step == DARK_EFFECT:
        return use_dark_card(state)
    if step == LIGHT_EFFECT:
        return use_light_card(state)
    if step == LIGHT_REPLACEMENT:
        return replace_light_card(state)
    if step == LIGHT_WITHDRAWAL:
        return withdraw_light(state)
    if step == DISCARD:
        return discard(state)
    if step == STRENGTHS:
        return compare(state)
    return end_battle(state)  # BATTLE_END


def apply(state: Facts, action: int) -> None:
    state.actions[state.acted] = action
    state.acted += 1
    step = _decide(state, action)
    while step > OVER:
        step = _follow(state, step)
    state.node = step


DARK_SHIRE_TO_WIN = 4  # pieces together in the Shire; 3 in the published rules


def derive(state: Facts) -> None:
    """Set `count`, `held` and `full` by the squares of the pieces.

    Raises:
        ValueError: a piece stands where it cannot be by `possible`, a square has too many pieces, or enemies share one without a battle.
    """
    for side in range(2):
        state.held[side] = state.full[side] = 0
        state.count[side] = 0
        for piece in range(side * TEAM, side * TEAM + TEAM):
            square = state.pos[piece]
            enter(state, piece, square)
            if state.searching != LAPSED and not has(state.possible[piece], square):
                raise ValueError(
                    f"{PIECE_NAMES[piece]} cannot be in {SQUARE_NAMES[square]} by `possible` of lotr-confrontation"
                )
        for square in range(SQUARES):
            if state.count[side, square] > CAPACITY[square]:
                raise ValueError(
                    f"{SQUARE_NAMES[square]} has {state.count[side, square]} pieces of {SIDE_NAMES[side]} in lotr-confrontation, of "
                    f"{CAPACITY[square]} at most"
                )
    is_fight = state.node != MOVE and state.node != OVER
    for square in range(SQUARES):
        if has(state.held[LIGHT] & state.held[DARK], square) and not (
            is_fight and square == state.square
        ):
            raise ValueError(
                f"{SQUARE_NAMES[square]} has pieces of both sides in lotr-confrontation, and there is no battle"
            )


# of each side: its colour and that of its letters
PLATES = (("parchment", "ink"), ("purple", "parchment"))
PATHS = tuple(
    (SQUARE_NAMES[begin], SQUARE_NAMES[end])
    for begin in range(SQUARES)
    for end in range(SQUARES)
    if int(FORWARD[LIGHT, begin]) & int(BIT[end])  # in Python, so that the import compiles nothing
)


def scene(state: Facts, seat: int | None) -> Scene:
    """The map as a side knows it, with Mordor at the top: enemies are named where only one region is possible for them."""
    places, y = list[Spot](), 0.0
    for row in ROWS:
        # the homes have room for four plates below each other, in place of two
        height = 2.65 if len(row) == 1 else 1.6
        for i, square in enumerate(row):
            plates = [
                _plate(state, piece, seat) for piece in range(PIECES) if state.pos[piece] == square
            ]
            # the hidden ones last, so that their order does not tell who they are
            plates.sort(key=lambda plate: (not plate.name, plate.words))
            name, x = SQUARE_NAMES[square], 2.55 * (i + (4 - len(row)) / 2)  # rows are centred
            fill = "stone" if len(row) == 4 else "meadow"  # the mountains
            places.append(Spot(name, x, y, tuple(plates), fill, name, 2.4, height, "region"))
        y += height + 0.2
    hands, dead = [], []
    for side, side_name in enumerate(SIDE_NAMES):
        cards = held_cards(state, side)
        hands.append(Hand(f"{side_name} holds", cards, is_own=side == seat, kind="plate"))
        team = range(side * TEAM, side * TEAM + TEAM)
        names = tuple(PIECE_NAMES[piece] for piece in team if state.pos[piece] == DEAD)
        dead.append(Hand(f"{side_name}'s dead", names, kind="plate"))
    return Scene(
        places=tuple(places), paths=PATHS, rows=(*hands, *dead), footer=_situation_for(state, seat)
    )


def _plate(state: Facts, piece: int, seat: int | None) -> Piece:
    side = piece // TEAM
    is_known = (
        seat in (None, side)
        or int(state.possible[piece]).bit_count() == 1
        or state.winner != NOBODY
    )
    name, sign = "", f"{SIDE_NAMES[side]} ?"
    if is_known:
        name = PIECE_NAMES[piece]
        sign = f"{name} {STRENGTH[piece]}"
    fill, ink = PLATES[side]
    return Piece(sign, fill, sign, name, ink, is_long=True)


def _situation_for(state: Facts, seat: int | None) -> str:
    """The decision to be made; who moves unseen is named to the other side only where it could be nobody else."""
    sentence = _situation(state)
    if not interpret(mover_unseen)(state) or seat in (None, state.side):
        return sentence
    movers = interpret(possible_movers)(state)
    movers &= interpret(suspects)(state, state.side, state.origin)
    mover = PIECE_NAMES[state.fighters[state.side]]
    return sentence if movers.bit_count() == 1 else sentence.replace(mover, "a piece", 1)


def parts(state: Facts, action: int, seat: int | None) -> tuple[str, ...] | None:
    """A piece and where it goes; cards and retreats by their texts."""
    if action >= PASS_AMBUSH:
        return None
    return PIECE_NAMES[action // SQUARES**2], SQUARE_NAMES[action % SQUARES]


def seen_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The squares of a move."""
    if action >= PASS_AMBUSH:
        return ()
    return SQUARE_NAMES[action // SQUARES % SQUARES], SQUARE_NAMES[action % SQUARES]


BOARD = Drawing(scene, parts, seen_parts)


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
        **functions_of(globals()),
        move_text=_move_text,
        name="lotr-confrontation",
        players=2,
        ranges={**RANGES, "shire_needed": (dark_shire_to_win, dark_shire_to_win)},
        max_legal=MAX_LEGAL,
        actions=LIGHT_MOVES_BACK + SQUARES,
        parameters={"dark_shire_to_win": int(dark_shire_to_win), "random_setup": int(random_setup)},
        defaults={"dark_shire_to_win": DARK_SHIRE_TO_WIN, "random_setup": 0},
        seat_names=("Light", "Dark"),
    )
