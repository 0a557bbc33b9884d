"""Knockout Whist: what a player sees of an action, and how all that he cannot know is drawn anew."""

import numpy as np

from icarus.compiler.memory import copy_items
from icarus.compiler.rng import RNG_WORDS, next_word
from icarus.games.cards import CARDS, PACK, draw_deal, prepare_deal, suits_cards
from icarus.games.knockout_whist.facts import (
    CHOOSE,
    DEAL,
    DRAW,
    FACE_DOWN,
    HAND_SEEN,
    MOST,
    NO_CARD,
    OVER,
    PLAY,
    STOCK,
    TRUMPS,
)
from icarus.kernel import CHANCE, CONTINUES, Facts, below, helper, inlined, popcount
from icarus.kernel.state import State


@inlined
def draw_cards(rng: np.ndarray, count: int, dealt: np.uint64) -> np.uint64:
    """Draw cards that are not dealt yet; a set of them."""
    cards = np.uint64(0)
    while count > 0:
        card = np.uint64(1) << np.uint64(below(rng, CARDS))
        if (dealt | cards) & card == np.uint64(0):
            cards |= card
            count -= 1
    return cards


@helper
def deal_hands(state: Facts) -> np.uint64:
    """Give each player who is not out a new hand; returns all cards dealt."""
    dealt = np.uint64(0)
    for player in range(MOST):
        hand = draw_cards(state.deals, state.hand_size, dealt) if state.alive >> player & 1 else np.uint64(0)
        state.hands[player] = hand
        dealt |= hand
    return dealt


@helper
def lay_next_hands(state: Facts) -> None:
    """Deal the next round face down, as arranged beforehand or at random."""
    state.hand_size -= 1
    state.played = np.uint64(0)
    state.turn_up = NO_CARD
    for player in range(MOST):
        state.voids[player] = 0
    if state.arranged == state.hand_size:
        copy_items(state.hands, state.arranged_hands)
        copy_items(state.deals, state.arranged_deals)
        _forget_arranged(state)
    else:
        deal_hands(state)


@helper
def _forget_arranged(state: Facts) -> None:
    state.arranged = 0
    state.arranged_hands[:] = np.uint64(0)
    state.arranged_deals[:] = np.uint64(0)


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    """Of DEAL, each player sees his own hand (none, if he is out)."""
    if action == DEAL:
        for player in range(state.players):
            moves[player] = HAND_SEEN | np.int64(state.hands[player])


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    if state.stage > CHOOSE or observer == CHANCE:
        return
    visible = state.hands[observer] | state.played
    if state.turn_up != NO_CARD:
        visible |= np.uint64(1) << np.uint64(state.turn_up)
    beliefs.unseen = PACK & ~visible
    stock = popcount(beliefs.unseen)
    for player in range(MOST):
        beliefs.sizes[player] = 0 if player == observer else popcount(state.hands[player])
        beliefs.barred[player] = suits_cards(state.voids[player])
        stock -= beliefs.sizes[player]
    beliefs.sizes[STOCK] = stock
    prepare_deal(beliefs)


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """Redraw the coming deals, and the hands that the observer does not see; the environment sees all."""
    for i in range(RNG_WORDS):
        state.deals[i] = next_word(rng)
    _forget_arranged(state)
    if observer == CHANCE:
        return
    if state.stage <= CHOOSE:
        draw_deal(beliefs, rng)
        for player in range(MOST):
            if player != observer:
                state.hands[player] = beliefs.dealt[player]
    elif state.stage != OVER:
        deal_hands(state)


def episode(state: Facts) -> int:
    """The leader of a new trick; κ where the cards of a new round are about to be handed out."""
    if state.stage == FACE_DOWN:
        return state.players
    return state.player if state.stage == PLAY and state.count == 0 else CONTINUES


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """The cards of the current trick; where trumps are about to be named, the DEAL."""
    if state.stage == CHOOSE:
        moves[0] = DEAL if observer == state.players else HAND_SEEN | np.int64(state.hands[observer])
        return 1
    for i in range(state.count):
        moves[i] = state.trick[i]
    return state.count


def retrace(state: State, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """An initial data with the hands of `data` in the round that it belongs to, and the actions that lead there."""
    world, start = data.view(np.recarray)[0], state.start.copy()
    facts = start.view(np.recarray)[0]
    actions = [action for _, action in state.history]
    hands = [int(hand) for hand in world.hands]
    if world.stage not in (DRAW, FACE_DOWN):
        since = len(actions) - actions[::-1].index(DEAL) if DEAL in actions else 0
        for player, action in state.history[since:]:
            if action < TRUMPS:
                hands[player] |= 1 << action
    if world.hand_size == facts.hand_size:
        facts.hands[:], facts.deals[:] = hands, world.deals
    else:
        facts.arranged = world.hand_size
        facts.arranged_hands[:], facts.arranged_deals[:] = hands, world.deals
    return start, actions
