"""The Confrontation's board, characters, cards, decisions and actions as tables.

A set of squares is an integer with a bit per square; a set of cards, one with a bit per card of a side's nine. The dead lie on a
square of their own that no path leads to.
"""

import numpy as np

from icarus.kernel import CHANCE, TERMINAL

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
    MIRKWOOD,
    FANGORN,
    ROHAN,
    DAGORLAD,
    GONDOR,
    MORDOR,
    DEAD,
) = range(17)
SQUARE_NAMES = (
    "Shire",
    "Arthedain",
    "Cardolan",
    "Rhudaur",
    "Eregion",
    "Enedwaith",
    "HighPass",
    "MistyMtns",
    "Caradhras",
    "GapOfRohan",
    "Mirkwood",
    "Fangorn",
    "Rohan",
    "Dagorlad",
    "Gondor",
    "Mordor",
    "dead",
)
SQUARES = 16  # on the board; with the dead, one more
BIT = 1 << np.arange(SQUARES + 1)  # the set of one square
CAPACITY = np.array([4, 2, 2, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 2, 2, 4, 18], np.int64)  # own pieces in one square

_UP = {  # forward for Light, backward for Dark
    SHIRE: (ARTHEDAIN, CARDOLAN),
    ARTHEDAIN: (RHUDAUR, EREGION),
    CARDOLAN: (EREGION, ENEDWAITH),
    RHUDAUR: (HIGH_PASS, MISTY_MOUNTAINS),
    EREGION: (MISTY_MOUNTAINS, CARADHRAS),
    ENEDWAITH: (CARADHRAS, GAP_OF_ROHAN),
    HIGH_PASS: (MIRKWOOD,),
    MISTY_MOUNTAINS: (MIRKWOOD, FANGORN),
    CARADHRAS: (FANGORN, ROHAN),
    GAP_OF_ROHAN: (ROHAN,),
    MIRKWOOD: (DAGORLAD,),
    FANGORN: (DAGORLAD, GONDOR),
    ROHAN: (GONDOR,),
    DAGORLAD: (MORDOR,),
    GONDOR: (MORDOR,),
}
_RIVER = {MIRKWOOD: FANGORN, FANGORN: ROHAN}  # the Anduin, downstream: forward for Light
_TUNNEL = {EREGION: FANGORN}  # Moria: forward for Light
_ROWS_WITH_SIDES = (
    (ARTHEDAIN, CARDOLAN),
    (RHUDAUR, EREGION, ENEDWAITH),
    (MIRKWOOD, FANGORN, ROHAN),
    (DAGORLAD, GONDOR),
)


def _table(pairs: list[tuple[int, int]]) -> np.ndarray:
    """Sets of squares, int64 [17]: where each (from, to) leads."""
    table = np.zeros(SQUARES + 1, np.int64)
    for origin, target in pairs:
        table[origin] |= 1 << target
    return table


_up_pairs = [(origin, target) for origin, targets in _UP.items() for target in targets]
_side_pairs = [
    pair for row in _ROWS_WITH_SIDES for a, b in zip(row, row[1:], strict=False) for pair in ((a, b), (b, a))
]
UP = _table(_up_pairs)
DOWN = _table([(target, origin) for origin, target in _up_pairs])
SIDEWAYS = _table(_side_pairs)  # none in the mountains
AROUND = UP | DOWN | SIDEWAYS
FORWARD = np.stack([_table([*_up_pairs, *_RIVER.items(), *_TUNNEL.items()]), DOWN])  # [side, square]

# ---------------------------------------------------------------------------------------------------------- characters

TEAM = 9  # characters of a side
PIECES = 2 * TEAM
(
    FRODO,
    SAM,
    PIPPIN,
    MERRY,
    GANDALF,
    ARAGORN,
    LEGOLAS,
    GIMLI,
    BOROMIR,
    ORCS,
    SHELOB,
    SARUMAN,
    NAZGUL,
    BLACK_RIDER,
    WITCH_KING,
    BALROG,
    WARG,
    CAVE_TROLL,
) = range(PIECES)
PIECE_NAMES = (
    "Frodo",
    "Sam",
    "Pippin",
    "Merry",
    "Gandalf",
    "Aragorn",
    "Legolas",
    "Gimli",
    "Boromir",
    "Orcs",
    "Shelob",
    "Saruman",
    "Nazgul",
    "Black Rider",
    "Witch King",
    "Balrog",
    "Warg",
    "Cave Troll",
)
STRENGTH = np.array([1, 2, 1, 2, 5, 4, 3, 3, 0, 2, 5, 4, 3, 3, 5, 5, 2, 9], np.int64)
SAM_WITH_FRODO = 5  # his strength where he fights for Frodo
NOBODY = -1
DEFEATS = np.full(TEAM, NOBODY, np.int64)  # whom a Light character's text defeats without cards
DEFEATS[MERRY], DEFEATS[LEGOLAS], DEFEATS[GIMLI] = WITCH_KING, NAZGUL, ORCS

_SETUP = {
    SHIRE: (FRODO, SAM, GIMLI, LEGOLAS),
    ARTHEDAIN: (MERRY,),
    CARDOLAN: (GANDALF,),
    RHUDAUR: (ARAGORN,),
    EREGION: (PIPPIN,),
    ENEDWAITH: (BOROMIR,),
    MORDOR: (BALROG, BLACK_RIDER, NAZGUL, WITCH_KING),
    DAGORLAD: (SARUMAN,),
    GONDOR: (WARG,),
    MIRKWOOD: (ORCS,),
    FANGORN: (CAVE_TROLL,),
    ROHAN: (SHELOB,),
}
FIXED_SETUP = np.zeros((2, TEAM), np.int64)  # [side, character]: a square
for _square, _pieces in _SETUP.items():
    for _piece in _pieces:
        FIXED_SETUP[_piece // TEAM, _piece % TEAM] = _square
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
    ("Magic", "Retreat", "Elven Cloak", "Noble Sacrifice", "card 1", "card 2", "card 3", "card 4", "card 5"),
    ("Magic", "Retreat", "Eye of Sauron", "card 1", "card 2", "card 3", "card 4", "card 5", "card 6"),
)

# ------------------------------------------------------------------------------------------------ nodes and actions

# The decision nodes, in the order in which a turn may meet them.
(
    MOVE,
    AMBUSH,
    VICTIM,
    REVEAL,
    FRODO_TEXT,
    SAM_TEXT,
    PIPPIN_TEXT,
    SARUMAN_TEXT,
    DARK_CARD,
    LIGHT_CARD,
    SHOW,
    DARK_MAGIC,
    DARK_RETREAT,
    LIGHT_MAGIC,
    LIGHT_RETREAT,
    OVER,
) = range(16)
# What follows by itself, in the order in which a battle goes through it.
(
    ARRIVAL,
    TEXTS,
    DARK_EFFECT,
    LIGHT_EFFECT,
    LIGHT_REPLACEMENT,
    LIGHT_WITHDRAWAL,
    DISCARD,
    STRENGTHS,
    BATTLE_END,
    TURN_END,
) = range(OVER + 1, OVER + 11)
MOVER = 2  # in ACTORS: the side whose turn it is
ACTORS = np.array(
    [MOVER, DARK, CHANCE, CHANCE, LIGHT, LIGHT, LIGHT, DARK, DARK, LIGHT, CHANCE, DARK, DARK, LIGHT, LIGHT, TERMINAL],
    np.int64,
)
NODE_NAMES = (
    "to move",
    "may ambush",
    "shows the victim",
    "reveals a defender",
    "uses Frodo's text",
    "uses Sam's text",
    "uses Pippin's text",
    "uses Saruman's text",
    "chooses a card",
    "chooses a card",
    "shows the cards",
    "uses Magic",
    "retreats",
    "uses Magic",
    "retreats",
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
