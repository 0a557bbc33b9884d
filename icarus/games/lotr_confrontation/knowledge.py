"""What each player of the Confrontation can know of the other's pieces: sets of squares, and uniform draws from them.

For each character c the set `possible[c]` holds the squares where the other side, which remembers everything, may still suspect
it; the number of pieces per square is public. An *assignment* puts every character of a side on a square of its set so that all
the numbers are right. Places are laid out in a row, one per piece; `ways[mask]` counts how to fill the places after the first
|mask| ones with the characters outside `mask` (a bit per character). Places of one square are interchangeable, and each
assignment fills them in equally many orders, so a uniformly drawn filling is a uniformly drawn assignment.
"""

import numpy as np

from icarus.games.lotr_confrontation.facts import BIT, DEAD, FRODO, MORDOR, TEAM
from icarus.kernel import Facts, below, helper, lowest_bit, popcount

EVERYONE = (1 << TEAM) - 1
LAPSED = 2  # `searching` once something was seen that is not kept up

BELIEFS = np.dtype(
    [
        ("places", np.int8, (TEAM,)),  # the square of each place
        ("candidates", np.int32, (TEAM,)),  # a bit per character that may stand there
        ("ways", np.int32, (EVERYONE + 1,)),  # per set of characters that fill the first places; at most 9!
    ],
    align=True,
)


@helper
def suspects(state: Facts, side: int, square: int) -> int:
    """The characters of a side that may be in a square, to its opponent's knowledge: a bit per character."""
    characters = 0
    for character in range(TEAM):
        characters |= ((state.possible[side * TEAM + character] >> square) & 1) << character
    return characters


@helper
def lay_out(state: Facts, side: int, movers: int, places: np.ndarray, candidates: np.ndarray) -> int:
    """The places of a side's pieces; the first is the unseen mover's where `movers` tells who it may be. Returns how many there are."""
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
def count_ways(candidates: np.ndarray, ways: np.ndarray) -> None:
    """ways[mask]: how many fillings complete one in which the characters of `mask` fill the first places."""
    ways[EVERYONE] = 1
    for mask in range(EVERYONE - 1, -1, -1):
        rest = candidates[popcount(np.uint64(mask))] & ~mask
        total = 0
        while rest:
            total += ways[mask | (rest & -rest)]
            rest &= rest - 1
        ways[mask] = total


@helper
def sample(state: Facts, side: int, beliefs: Facts, rng: np.ndarray) -> int:
    """Put the pieces of a side where a uniformly drawn assignment has them; returns the piece in the first place."""
    rank = below(rng, beliefs.ways[0])
    mask, first = 0, 0
    for i in range(TEAM):
        rest = beliefs.candidates[i] & ~mask
        bit = rest & -rest
        while rank >= beliefs.ways[mask | bit]:
            rank -= beliefs.ways[mask | bit]
            rest ^= bit
            bit = rest & -rest
        piece = side * TEAM + lowest_bit(np.uint64(bit))
        state.pos[piece] = beliefs.places[i]
        mask |= bit
        if i == 0:
            first = piece
    return first


@helper
def prune(state: Facts, side: int) -> None:
    """Drop every square of every character of a side that belongs to no assignment."""
    places, candidates = np.zeros(TEAM, np.int64), np.zeros(TEAM, np.int64)
    ways = np.zeros(EVERYONE + 1, np.int64)
    lay_out(state, side, 0, places, candidates)
    count_ways(candidates, ways)
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
