"""Liar's Dice, LD(D1, D2): the first player rolls D1 dice, the second D2, with faces 1 to 5 and a star; neither sees the other's.

Dice may have fewer or more faces; the last is the star.

The first player begins. A bid says that among all dice so many show a face, stars counting as any; a bid on stars counts only these. Each
bid raises the last one: to a larger number with any face, or to a higher face (the star is the highest) with the same number.
Instead of raising, a player may call the other a liar: the dice are shown, and if the bid holds, the bidder wins, otherwise the
caller. The highest possible bid can only be called. One round is the whole game.

          3 × 2: the last bid
    player 0: 2 ★
    player 1: 2
    player 1 has bid 3 × 2, player 0 to act         if he calls, he loses
"""

import numpy as np

from icarus.checks import integer
from icarus.games import kuhn_poker
from icarus.kernel import (
    CHANCE,
    NO_DEAL,
    TERMINAL,
    Facts,
    Game,
    Integer,
    aligned,
    below,
    functions_of,
    helper,
)
from icarus.kernel.scene import Drawing, Piece, Scene, Spot, held_by

FACES = 6  # of a die, where no number is given: 1 … 5 are 0 … 4, the star is the last
FEWEST_FACES, MOST_FACES = 2, 10
FACE_NAMES = "123456789"
DICE = 1  # of a player, where no number is given
MOST = 8  # and at most
LIAR = 2 * MOST * MOST_FACES  # actions: (number - 1) * sides + face bids, LIAR calls
NO_BID = -1

STATE = aligned(
    ("faces", np.int8, (2, MOST)),  # of each player's dice
    ("dice", np.int8, (2,)),  # how many each has
    ("sides", np.int8),  # faces of each die
    ("bid", np.int16),  # the last, or NO_BID
    ("player", np.int8),  # about to act; after a call, the bidder
    ("called", np.int8),  # whether the bid has been called
)


def initial(state: Facts, rng: np.ndarray, first: int, second: int, faces: int) -> None:
    _begin(state, first, second, faces)
    _roll(state, 0, rng)
    _roll(state, 1, rng)


@helper
def _begin(state: Facts, first: int, second: int, faces: int) -> None:
    state.dice[0], state.dice[1], state.sides, state.bid = first, second, faces, NO_BID


@helper
def _roll(state: Facts, roller: int, rng: np.ndarray) -> None:
    for i in range(state.dice[roller]):
        state.faces[roller, i] = below(rng, state.sides)


def deal(state: Facts, index: int, first: int, second: int, faces: int) -> float:
    """The rolls of both players; rolls that differ only in the order of the dice are one deal, as likely as all of them together."""
    rolls = _rolls(second, faces)
    if index >= _rolls(first, faces) * rolls:
        return NO_DEAL
    _begin(state, first, second, faces)
    return _put(state, 0, index // rolls) * _put(state, 1, index % rolls)


@helper
def _rolls(dice: int, faces: int) -> int:
    """How many rolls there are, the order of dice apart."""
    count = 1
    for i in range(dice):
        count = count * (faces + i) // (i + 1)
    return count


@helper
def _put(state: Facts, roller: int, rank: int) -> float:
    """Give a player the roll of this rank, lowest faces first; returns how likely it is.

    The dice rise, so that each is at least `lowest`; `repeats` is how many before it show that face.
    """
    lowest, repeats, probability = 0, 0, 1.0
    for i in range(state.dice[roller]):
        # the rolls in which this die shows `lowest`: those of the dice after it
        below_it = _rolls(state.dice[roller] - i - 1, state.sides - lowest)
        while rank >= below_it:
            rank -= below_it
            lowest, repeats = lowest + 1, 0
            below_it = _rolls(state.dice[roller] - i - 1, state.sides - lowest)
        state.faces[roller, i], repeats = lowest, repeats + 1
        probability *= (i + 1) / (repeats * state.sides)
    return probability


def deal_observation(state: Facts, observer: int) -> Integer:
    """How many dice show each face."""
    counts: Integer = 0  # a digit for each face
    for i in range(state.dice[observer]):
        counts += (MOST + 1) ** np.int64(state.faces[observer, i])
    return counts


def player(state: Facts) -> int:
    return TERMINAL if state.called else state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    count = 0
    for bid in range(state.bid + 1, state.sides * (state.dice[0] + state.dice[1])):
        actions[count] = bid
        count += 1
    if state.bid != NO_BID:
        actions[count] = LIAR
        count += 1
    return count


def apply(state: Facts, action: int) -> None:
    if action == LIAR:
        state.called = 1
    else:
        state.bid = action
    state.player = 1 - state.player


def rewards(state: Facts, out: np.ndarray) -> None:
    face, number, dice = state.bid % state.sides, state.bid // state.sides + 1, 0
    for roller in range(2):
        for i in range(state.dice[roller]):
            dice += state.faces[roller, i] == face or state.faces[roller, i] == state.sides - 1
    holds = 1.0 if dice >= number else 0.0
    out[state.player], out[1 - state.player] = holds, 1.0 - holds


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Roll the other player's dice again: no bid of his rules out any."""
    if observer != CHANCE and not state.called:
        _roll(state, 1 - observer, rng)


def observation(state: Facts, player: int) -> tuple:
    """His own dice, and the bid."""
    return state.faces[player], state.bid, state.player, state.called


def derive(state: Facts) -> None:
    """Refuse a call without a bid; nothing follows from facts that a user sets."""
    if state.called and state.bid == NO_BID:
        raise ValueError("called of liars-dice is 1, but there is no bid")


def action_text(state: Facts, action: int) -> str:
    if action == LIAR:
        return "liar"
    number, face = divmod(action, int(state.sides))  # a bid may be more than the field's type holds
    return f"{number + 1} × {face_name(state, face)}"


def face_name(state: Facts, face: int) -> str:
    """A face of a die as it is written."""
    return "★" if face == state.sides - 1 else FACE_NAMES[face]


def scene(state: Facts, seat: int | None) -> Scene:
    """Each player's dice, a place for each bid, of which those that are too low are dark, and who is to act."""
    hands, places = [], list[Spot]()
    for i in range(2):
        dice = tuple(face_name(state, face) for face in sorted(state.faces[i, : state.dice[i]]))
        hands.append(held_by(seat, i, dice, kind="die"))
    sides, last = int(state.sides), int(state.bid)  # a field of a record is slow to read
    for bid in range(sides * int(state.dice.sum())):
        name, y, x = action_text(state, bid), bid // sides, bid % sides
        standing = (Piece("the last bid"),) if bid == last else ()
        fill = "gold" if standing else "stone" if bid < last else "parchment"
        places.append(Spot(name, x * 1.3, y * 0.9, standing, fill, name, 1.25, 0.85))
    # The turn passes after a call, too: then it is again that of who has bid.
    bidder = state.player if state.called else 1 - state.player
    footer = f"player {1 - bidder} {'has called' if state.called else 'to act'}"
    if state.bid != NO_BID:
        footer = f"player {bidder} has bid {action_text(state, state.bid)}, {footer}"
    return Scene(places=tuple(places), rows=tuple(hands), footer=footer)


BOARD = Drawing(scene)


def liars_dice(first: int = DICE, second: int = DICE, faces: int = FACES) -> Game:
    """LD(first, second): so many dice for player 0 and player 1, each with so many faces, the star among them.

    Raises:
        ValueError: a number of dice that is not 1 to 8, or of faces that is not 2 to 10.
    """
    first = integer("first of liars-dice", first, 1, MOST)
    second = integer("second of liars-dice", second, 1, MOST)
    faces = integer("faces of liars-dice", faces, FEWEST_FACES, MOST_FACES)
    return Game(
        **functions_of(globals()),
        retrace=kuhn_poker.retrace,
        name="liars-dice",
        players=2,
        parameters={"first": first, "second": second, "faces": faces},
        defaults={"first": DICE, "second": DICE, "faces": FACES},
        ranges={
            "faces": (0, faces - 1),
            "dice": (min(first, second), max(first, second)),
            "sides": (faces, faces),
            "bid": (NO_BID, faces * (first + second) - 1),
            **dict.fromkeys(("player", "called"), (0, 1)),
        },
        max_legal=faces * (first + second) + 1,
        actions=LIAR + 1,
    )
