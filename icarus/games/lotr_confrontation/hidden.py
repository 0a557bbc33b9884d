"""What a player sees of an action, and how all that he cannot know is drawn anew."""

import numpy as np

from icarus.games.lotr_confrontation.battle import move_action
from icarus.games.lotr_confrontation.board import can_move, mover_unseen, open_cards, possible_movers
from icarus.games.lotr_confrontation.facts import (
    BATTLE,
    CARDS_SHOWN,
    DARK,
    DARK_CARD,
    DARK_PLAYS,
    FACE_DOWN,
    FRODO,
    FRODO_ARRIVES,
    FRODO_STAYS,
    LIGHT,
    LIGHT_CARD,
    LIGHT_PLAYS,
    MORDOR,
    MOVE,
    PASS_AMBUSH,
    PIECES,
    SHOW,
    SQUARES,
    TEAM,
    UNSEEN_PIECE,
)
from icarus.games.lotr_confrontation.knowledge import LAPSED, count_ways, lay_out, sample
from icarus.kernel import CHANCE, CONTINUES, Facts, below, helper, inlined, lowest_bit, popcount
from icarus.kernel.structures import Integer

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
    elif state.node == DARK_CARD and not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        moves[LIGHT] = FACE_DOWN
    elif state.node == LIGHT_CARD and not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        moves[DARK] = FACE_DOWN


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
            face_up = open_cards(min(first, second), max(first, second))
        elif DARK_PLAYS <= action < CARDS_SHOWN and not face_up:
            owner = DARK if action < LIGHT_PLAYS else LIGHT
            if observer == 1 - owner:
                moves[i] = FACE_DOWN
    return state.acted


def simultaneous(state: Facts) -> int:
    """1 or 2 where Dark or Light chooses a card without knowing the other's; 0 elsewhere."""
    number = 1 if state.node == DARK_CARD else 2 if state.node == LIGHT_CARD else 0
    return number if number > 0 and not open_cards(state.fighters[LIGHT], state.fighters[DARK]) else 0


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
    count_ways(beliefs.candidates, beliefs.ways)
    if beliefs.ways[0] == 0:
        raise ValueError(
            "no placement of the hidden pieces of lotr-confrontation agrees with both `possible`, where each piece may be, "
            "and `count`, how many pieces stand in each square"
        )


@helper
def _redraw_card(state: Facts, side: int, place: int, base: int, rng: np.ndarray) -> None:
    """Exchange a card that lies face down for any of the hand; `place` is where the turn's actions have it."""
    cards = np.int64(state.hands[side])
    for _ in range(below(rng, popcount(np.uint64(cards)))):
        cards &= cards - 1
    state.cards[side] = lowest_bit(np.uint64(cards))
    state.actions[place] = base + np.int64(state.cards[side])


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    redraw(state, observer, beliefs, rng)
    state.searching = 1


@helper
def redraw(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """`determinize`, but for the mark of a search."""
    if observer == CHANCE:
        return
    hidden = 1 - observer
    unseen = hidden == state.side and mover_unseen(state)
    first = sample(state, hidden, beliefs, rng)
    draws = 0
    while state.node == MOVE and hidden == state.side and not can_move(state, hidden):
        first = sample(state, hidden, beliefs, rng)  # the game would have ended
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
            _redraw_card(state, DARK, state.acted - (1 if state.node == LIGHT_CARD else 2), DARK_PLAYS, rng)
        elif hidden == LIGHT and state.node == SHOW:
            _redraw_card(state, LIGHT, state.acted - 1, LIGHT_PLAYS, rng)


def episode(state: Facts) -> int:
    """Eq. (20): the side that is about to move, no battle being in progress."""
    return state.side if state.node == MOVE else CONTINUES
