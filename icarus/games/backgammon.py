"""Backgammon without the doubling cube: the first to bear off fifteen checkers wins, a gammon is a win like any other.

   13 14 15 16 17 18 | 19 20 21 22 23 24
   5X  .  .  . 3O  . | 5O  .  .  .  . 2X        X (player 0) moves towards his point 1, numbered as shown
    .  .  .  .  .  . |  .  .  .  .  .  .        O (player 1) the other way: his point is 25 minus the one shown
   5O  .  .  . 3X  . | 5X  .  .  .  . 2O
   12 11 10  9  8  7 |  6  5  4  3  2  1

The opening roll, one die each and no doubles, decides who begins with those dice: 30 outcomes; any other roll has 21. Then
each die is a decision of its own (four on a double), in any order, under the law of the whole turn: both dice if possible; if
only one can be played, the larger if possible; as many of a double as possible. A player who can play nothing more has no
decision: the next roll follows at once. Checkers on the bar enter first; two checkers hold a point, one alone is hit. With all
checkers on points 1-6 they are borne off, by a die larger than needed only from the highest point held. The law asks for both dice
even where one would bear off the last checker: then the other is played first. The winner is the same.

The dice are random, all else is seen by both.

An action is POINTS · (die − 1) + (point left), by the numbers of the player who moves; ROLL + … a roll, OPENING + … the opening roll.
"""

import math
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    Facts,
    Integer,
    append_bits,
    helper,
    inlined,
    lowest_bit,
)
from icarus.kernel.game import Game, aligned, functions_of
from icarus.kernel.scene import Drawing, Hand, Piece, Scene, Spot

# -------------------------------------------------------------------------------------------------- who wins a position


CHECKERS_EACH = 15
FACES = 6
OFF, BAR = 0, 25  # places of a checker beside the points 1 … 24
POINTS = BAR + 1
NOBODY = -1  # whose turn it is before the opening roll
INPUTS = 4  # of a place: one checker there, two, three, and each one more
# Which dice are left: the larger, 0 where it is played; and the smaller, or FACES + how many there are of one number.
DICE_LEFT = (FACES + 1, FACES + 5)
WEIGHTS = np.load(Path(__file__).with_name("backgammon_weights.npy")).astype(float)  # [row, unit]
UNITS = WEIGHTS.shape[1]
# the mover's checkers, and the other's
CHECKERS = WEIGHTS[: 2 * POINTS * INPUTS].reshape(2, POINTS, INPUTS, UNITS)
DICE = WEIGHTS[2 * POINTS * INPUTS : -1].reshape(*DICE_LEFT, UNITS)
OUTPUT = WEIGHTS[-1]


@helper
def pips(state: Facts, owner: int) -> int:
    """How many points a player's checkers have to go until all are off."""
    total = 0
    for point in range(1, POINTS):
        total += point * int(state.points[owner, point])
    return total


@helper
def _chance(state: Facts, mover: int) -> float:
    """The chance to win of who is to roll, or still has dice to play."""
    smaller = int(state.dice[1])
    sums = DICE[state.dice[0], smaller if smaller > 0 else FACES + state.left].copy()
    for side in range(2):
        owner = mover if side == 0 else 1 - mover
        for place in range(POINTS):
            count = int(state.points[owner, place])
            if count > 0:
                _add(sums, CHECKERS[side, place, min(count, INPUTS - 1) - 1], 1)
            if count >= INPUTS:
                _add(sums, CHECKERS[side, place, INPUTS - 1], count - INPUTS + 1)
    total = 0.0
    for unit in range(UNITS):
        total += OUTPUT[unit] * sums[unit] / (1.0 + abs(sums[unit]))
    return 1.0 / (1.0 + math.exp(-total))


@helper
def _add(sums: np.ndarray, weights: np.ndarray, times: int) -> None:
    """Add weights to the sums, so many times: in a loop, as an expression of arrays makes a call take six times as long."""
    for unit in range(UNITS):
        sums[unit] += times * weights[unit]


def heuristic(state: Facts, out: np.ndarray) -> None:
    """The chance to win by a network that was fitted to a stronger player's chances; `docs/ladder.md` names the program.

    Its inputs are the checkers on each place, seen by whose turn it is, and the dice that he has yet to play. Before the opening roll both
    are equal.
    """
    if state.player == NOBODY:
        out[0] = out[1] = 0.5
        return
    mover = int(state.player)
    out[mover] = _chance(state, mover)
    out[1 - mover] = 1.0 - out[mover]


OUTSIDE_HOME = ~0 << (FACES + 1)  # points 7 … 24 and the bar
START = ((24, 2), (13, 5), (8, 3), (6, 5))  # (point, checkers) of each player
ROLL = POINTS * FACES  # + FACES · (larger − 1) + (smaller − 1)
OPENING = ROLL + FACES * FACES  # + FACES · (die of X − 1) + (die of O − 1)
OPENINGS = FACES * (FACES - 1)
ROLLS = FACES * (FACES + 1) // 2
DICE_ARE_ROLLED = 0  # the label R of eq. (23)

STATE = aligned(
    ("points", np.int8, (2, POINTS)),  # checkers of each player on his own points; OFF and BAR too
    ("held", np.int32, (2,)),  # a bit per own point (or BAR) where a player has checkers
    ("blocked", np.int32, (2,)),  # a bit per own point that the opponent holds with two or more
    ("sources", np.int32, (2,)),  # the points from which each die may be played now
    # not yet played, the larger first; 0 where played; a double stands first
    ("dice", np.int8, (2,)),
    ("left", np.int8),  # dice still to be played
    ("player", np.int8),  # whose turn it is; the winner in the end
    ("actor", np.int8),  # that player, CHANCE or TERMINAL
)


@helper
def survey(state: Facts) -> None:
    """Set what follows from the checkers on the points: `held` and `blocked`."""
    for owner in range(2):
        state.held[owner] = state.blocked[1 - owner] = 0
        for point in range(1, POINTS):
            if state.points[owner, point] > 0:
                state.held[owner] |= 1 << point
            if state.points[owner, point] > 1 and point != BAR:
                state.blocked[1 - owner] |= 1 << (BAR - point)


@inlined
def _highest(points: Integer) -> Integer:
    """The highest of some points in the home board, as a bit."""
    # every bit below the highest one is set, too
    points |= points >> 1
    points |= points >> 2
    points |= points >> 4
    return points ^ (points >> 1)


@inlined
def _playable(points: Integer, blocked: Integer, die: Integer) -> Integer:
    """The points from which one die can be played, whatever is to come after it."""
    if points >> BAR:
        return 0 if blocked >> (BAR - die) & 1 else 1 << BAR
    beyond = points >> (die + 1) << (die + 1)  # the points above the die
    playable = beyond & ~(blocked << die)
    if points & OUTSIDE_HOME:
        return playable
    # from the point of the die a checker is borne off; with none there or above, from the highest point
    return playable | (points & 1 << die) if beyond else _highest(points)


@inlined
def _followed(
    state: Facts, sources: Integer, die: Integer, other_die: Integer, other_sources: Integer
) -> Integer:
    """Those of the `sources` of a die after which the other die, now playable from `other_sources`, can be played too.

    What the opponent blocks is the same all turn long: only blots are hit.
    """
    points, blocked = np.int64(state.held[state.player]), np.int64(state.blocked[state.player])
    if other_sources & (other_sources - 1):
        return sources  # a move spoils no other checker's move, so one of two remains
    followed = 0
    while sources:
        source = lowest_bit(np.uint64(sources))
        after = points
        if state.points[state.player, source] == 1:
            after ^= 1 << source
        if source > die:
            after |= 1 << (source - die)
        if _playable(after, blocked, other_die):
            followed |= 1 << source
        sources &= sources - 1
    return followed


@helper
def _find_sources(state: Facts) -> bool:
    """Set from where each die may be played under the law of the turn; whether there is anything to play.

    A double needs no foresight: its moves stay possible until they are made, so every order makes equally many.
    """
    points, blocked = np.int64(state.held[state.player]), np.int64(state.blocked[state.player])
    larger, smaller = np.int64(state.dice[0]), np.int64(state.dice[1])
    by_larger = _playable(points, blocked, larger) if larger else 0
    by_smaller = _playable(points, blocked, smaller) if smaller else 0
    if larger and smaller:
        larger_first = _followed(state, by_larger, larger, smaller, by_smaller)
        smaller_first = _followed(state, by_smaller, smaller, larger, by_larger)
        if larger_first | smaller_first:
            by_larger, by_smaller = larger_first, smaller_first
        elif by_larger:
            by_smaller = 0  # only one die can be played: the larger
    state.sources[0], state.sources[1] = by_larger, by_smaller
    return (by_larger | by_smaller) != 0


@helper
def _continue_turn(state: Facts) -> None:
    """Let the player decide on the next die, or pass the turn on where no die is left or playable."""
    if state.left > 0 and _find_sources(state):
        state.actor = state.player
        return
    state.left = state.dice[0] = state.dice[1] = 0
    state.player = 1 - state.player
    state.actor = CHANCE


@helper
def derive(state: Facts) -> None:
    """Set what follows from the checkers, the dice and whose turn it is, and order the dice.

    Raises:
        ValueError: a point has checkers of both players, or a player has not fifteen.
    """
    for point in range(1, BAR):
        if state.points[0, point] and state.points[1, BAR - point]:
            raise ValueError(f"point {point} has checkers of both players of backgammon")
    for owner in range(2):
        checkers = sum(map(int, state.points[owner]))
        if checkers != CHECKERS_EACH:
            raise ValueError(
                f"player {owner} has {checkers} checkers of backgammon; it must be {CHECKERS_EACH}"
            )
    survey(state)
    if state.actor >= 0 and state.player == NOBODY:
        state.actor = CHANCE
    elif state.actor >= 0:
        state.actor = state.player
        _order_dice(state)
        _find_sources(state)


@helper
def _order_dice(state: Facts) -> None:
    """Put the larger die first, and set how many are left to play; of a single number, which may be a double's, one to four may be left."""
    first, second = state.dice[0], state.dice[1]
    if first and second:
        state.dice[0], state.dice[1] = max(first, second), min(first, second)
        state.left = 2
        if first == second:
            state.dice[1] = 0
            state.left = 4
    elif first:
        state.left = min(max(state.left, 1), 4)
    else:
        state.left = 1 if second else 0


@inlined
def _roll(state: Facts, first: int, second: int) -> None:
    state.dice[0], state.dice[1] = max(first, second), min(first, second)
    state.left = 2
    if first == second:
        state.dice[1] = 0
        state.left = 4
    _continue_turn(state)


@inlined
def _leave(state: Facts, mover: Integer, source: Integer) -> None:
    state.points[mover, source] -= 1
    if state.points[mover, source] == 0:
        state.held[mover] ^= 1 << source
    elif state.points[mover, source] == 1:
        state.blocked[1 - mover] &= ~(1 << (BAR - source))


@inlined
def _reach(state: Facts, mover: Integer, target: Integer) -> None:
    """Put a checker on a point, and the blot that it hits on the bar."""
    opponent, opposite = 1 - mover, BAR - target
    state.points[mover, target] += 1
    state.held[mover] |= 1 << target
    if state.points[mover, target] == 2:
        state.blocked[opponent] |= 1 << opposite
    if state.points[opponent, opposite]:
        state.points[opponent, opposite] = 0
        state.points[opponent, BAR] += 1
        state.held[opponent] = (state.held[opponent] ^ 1 << opposite) | 1 << BAR


def initial(state: Facts, rng: np.ndarray) -> None:
    for point, checkers in START:
        state.points[0, point] = state.points[1, point] = checkers
    survey(state)
    state.player = NOBODY
    state.actor = CHANCE


def player(state: Facts) -> int:
    return state.actor


def legal(state: Facts, actions: np.ndarray) -> int:
    if state.actor == CHANCE:
        return _rolls(state, actions)
    count = 0
    for die in range(2):
        sources, base = np.int64(state.sources[die]), POINTS * (np.int64(state.dice[die]) - 1)
        count = append_bits(actions, count, base, sources)
    return count


@helper
def _rolls(state: Facts, actions: np.ndarray) -> int:
    count = 0
    opening = state.player == NOBODY
    base = OPENING if opening else ROLL
    for first in range(FACES):
        for second in range(FACES if opening else first + 1):
            if not opening or first != second:
                actions[count] = base + FACES * first + second
                count += 1
    return count


def chance(state: Facts, probabilities: np.ndarray) -> None:
    if state.player == NOBODY:
        probabilities[:OPENINGS] = 1 / OPENINGS
        return
    # Rolls are listed by the larger die, so that each double comes after the other rolls with its number as the larger one.
    probabilities[:ROLLS] = 2 / FACES**2
    double = 0
    for face in range(FACES):
        double += face
        probabilities[double] = 1 / FACES**2
        double += 1


def apply(state: Facts, action: int) -> None:
    if action >= OPENING:
        die_of_x, die_of_o = (action - OPENING) // FACES + 1, (action - OPENING) % FACES + 1
        state.player = 0 if die_of_x > die_of_o else 1
        _roll(state, die_of_x, die_of_o)
        return
    if action >= ROLL:
        _roll(state, (action - ROLL) // FACES + 1, (action - ROLL) % FACES + 1)
        return
    mover, die, source = np.int64(state.player), action // POINTS + 1, action % POINTS
    _leave(state, mover, source)
    if source > die:
        _reach(state, mover, source - die)
    else:
        state.points[mover, OFF] += 1
        if state.points[mover, OFF] == CHECKERS_EACH:
            state.actor = TERMINAL
            return
    state.left -= 1
    if state.dice[1]:
        state.dice[0 if die == state.dice[0] else 1] = 0
    _continue_turn(state)


def rewards(state: Facts, out: np.ndarray) -> None:
    out[state.player] = 1.0
    out[1 - state.player] = 0.0


def episode(state: Facts) -> int:
    """Eq. (23): R, where the dice are about to be rolled."""
    return DICE_ARE_ROLLED if state.actor == CHANCE else CONTINUES


def features(state: Facts, out: np.ndarray) -> None:
    """What the player whose turn it is has more of than the other (X before the opening roll): pips, checkers on the bar, blots, points."""
    mover = int(state.player) if state.player != NOBODY else 0
    out[0] = pips(state, mover) - pips(state, 1 - mover)
    out[1] = state.points[mover, BAR] - state.points[1 - mover, BAR]
    out[2] = out[3] = 0.0
    for point in range(1, BAR):
        out[2] += int(state.points[mover, point] == 1) - int(state.points[1 - mover, point] == 1)
        out[3] += int(state.points[mover, point] > 1) - int(state.points[1 - mover, point] > 1)


def text(state: Facts) -> str:
    """The board as X sees it, with what is to be played."""

    def mark(point: int) -> str:
        mine, theirs = state.points[0, point], state.points[1, BAR - point]
        return f"{mine}X" if mine else f"{theirs}O" if theirs else "."

    def row(contents: Iterable[object]) -> str:
        cells = [f"{content!s:>2}" for content in contents]
        return "  " + " ".join([*cells[:FACES], "|", *cells[FACES:]])

    upper, lower = range(13, BAR), range(12, OFF, -1)
    rows = [
        row(upper),
        row(map(mark, upper)),
        row("." * len(upper)),
        row(map(mark, lower)),
        row(lower),
    ]
    beside = [
        f"{'XO'[i]} {state.points[i, BAR]} on the bar, {state.points[i, OFF]} off" for i in range(2)
    ]
    return "\n".join([*rows, "; ".join(beside), _situation(state)])


def _situation(state: Facts) -> str:
    if state.player == NOBODY:
        return "opening roll"
    name = "XO"[state.player]
    if state.actor == TERMINAL:
        return f"{name} has won"
    if state.actor == CHANCE:
        return f"{name} to roll"
    return f"{name} to play {' '.join(map(str, _dice_to_play(state)))}"


def action_text(state: Facts, action: int) -> str:
    """A move as "13/11", "bar/22", a hit as "13/11*", bearing off as "6/off", with a larger die as "4/off[6]".

    A roll as "roll 65"; the opening roll as "opening roll 36", the die of X first.
    """
    if action >= ROLL:
        base, name = (OPENING, "opening roll") if action >= OPENING else (ROLL, "roll")
        return f"{name} {(action - base) // FACES + 1}{(action - base) % FACES + 1}"
    die, source = action // POINTS + 1, action % POINTS
    target = source - die
    if target <= OFF:
        return f"{source}/off" if target == OFF else f"{source}/off[{die}]"
    hit = state.actor >= 0 and state.points[1 - state.player, BAR - target] == 1
    return f"{'bar' if source == BAR else source}/{target}{'*' if hit else ''}"


DISCS = (Piece("black", "black"), Piece("white", "white"))


def scene(state: Facts, seat: int | None) -> Scene:
    """The board with the points as the seat counts them, its home at the lower right."""
    me, places = seat or 0, list[Spot]()
    for point in range(1, BAR):
        is_upper = point > BAR // 2
        column = point - 13 if is_upper else 12 - point
        mine, theirs = int(state.points[me, point]), int(state.points[1 - me, BAR - point])
        standing = (DISCS[me],) * mine + (DISCS[1 - me],) * theirs
        y, shape = (0.0, "down") if is_upper else (5.2, "up")
        fill = ("wood", "sand")[point % 2]
        x = column if column < FACES else column + 1  # the bar is in the middle
        places.append(Spot(f"{point}", x, y, standing, fill, f"{point}", 1, 4.5, shape))
    for owner, whose, y in ((me, "", 5.2), (1 - me, "their ", 0.0)):
        for name, point, x in (("bar", BAR, 6), ("off", OFF, 13)):
            standing = (DISCS[owner],) * int(state.points[owner, point])
            places.append(Spot(whose + name, x, y, standing, "brown", name, 1, 4.5))
    board, footer = text(state).rsplit("\n", 1)
    footer = footer.replace("X", "black").replace("O", "white")
    dice = Hand("dice", tuple(map(str, _dice_to_play(state))), is_own=state.actor == me, kind="die")
    return Scene(places=tuple(places), rows=(dice,), footer=footer, words=tuple(board.split("\n")))


def _dice_to_play(state: Facts) -> list[int]:
    """The numbers still to be played; that of a double as often as it is left."""
    dice = [int(die) for die in state.dice if die]
    return dice * int(state.left) if len(dice) < state.left else dice


def parts(state: Facts, action: int, seat: int | None) -> tuple[str, ...]:
    """A checker's point and its target, as the seat names them; and the die, if either die would bear the checker off."""
    if action >= ROLL:
        return ()
    die, source = action // POINTS + 1, action % POINTS
    target, is_mine = max(source - die, OFF), state.player == (seat or 0)
    names = {BAR: "bar", OFF: "off"}
    clicked = []
    for point in (source, target):
        if point in names:
            clicked.append(names[point] if is_mine else f"their {names[point]}")
        else:
            clicked.append(f"{point if is_mine else BAR - point}")
    both_bear_off = all(
        source <= number and int(sources) >> source & 1
        for number, sources in zip(state.dice, state.sources, strict=True)
    )
    if both_bear_off:
        clicked.append(f"{die}")
    return tuple(clicked)


BOARD = Drawing(scene, parts, colours=("black", "white"))


BACKGAMMON = Game(
    **functions_of(globals()),
    name="backgammon",
    players=2,
    ranges={
        "points": (0, CHECKERS_EACH),
        **dict.fromkeys(("held", "blocked", "sources"), (0, (1 << POINTS) - 1)),
        **dict.fromkeys(("dice", "left"), (0, FACES)),
        "player": (NOBODY, 1),
        "actor": (TERMINAL, 1),
    },
    max_legal=2 * CHECKERS_EACH,
    actions=OPENING + FACES * FACES,
    feature_names=("pips", "on_bar", "blots", "points"),
)
