"""A game of one's own with hidden cards and a hidden move: Nest egg.

From nine cards, worth 1 to 9, each of two players is dealt four; one stays in the stock. Each lays one card aside, face down. Then
three tricks: one leads, the other answers with any card, the higher card takes both and leads again. A player's points are
the cards of his tricks and the card that he laid aside; who has more wins.

    player 0: 2 5 9, aside 7, 0 points; player 1: 1 3 6, aside 8, 0 points
"""

import numpy as np

from icarus import BASELINE, MAST, Game, search
from icarus.kernel import CHANCE, CONTINUES, TERMINAL, helper, shuffle

CARDS, HAND = 9, 4
STOCK, ASIDE, OPEN = 2, 3, 5  # where a card is: 0 and 1 are the hands; 3 and 4 lie before their players; 5 was played
FACE_DOWN = CARDS  # what the other player sees of a card laid aside

STATE = np.dtype(
    [
        ("place", np.int8, (CARDS,)),  # where each card is; card c is worth c + 1
        ("points", np.int8, (2,)),  # of the tricks
        ("led", np.int8),  # the worth of the card led to this trick; 0 if none is
        ("player", np.int8),  # about to move
        ("count", np.int8),  # cards laid aside or played so far
    ],
    align=True,
)


def initial(state, rng):
    cards = np.arange(CARDS)
    shuffle(rng, cards, CARDS)
    for i in range(CARDS):
        state.place[cards[i]] = min(i // HAND, STOCK)


def player(state):
    return TERMINAL if state.count == 2 * HAND else state.player


def legal(state, actions):
    count = 0
    for card in range(CARDS):
        if state.place[card] == state.player:
            actions[count] = card
            count += 1
    return count


def apply(state, action):
    mover, worth = state.player, action + 1
    state.player = 1 - mover
    if state.count < 2:
        state.place[action] = ASIDE + mover
    else:
        state.place[action] = OPEN
        if state.led == 0:
            state.led = worth
        else:
            taker = mover if worth > state.led else 1 - mover
            state.points[taker] += state.led + worth
            state.led, state.player = 0, taker
    state.count += 1


@helper
def card_at(state, place):
    """The card that lies at a place of which there is one."""
    for card in range(CARDS):
        if state.place[card] == place:
            return card
    return FACE_DOWN


def rewards(state, out):
    """1 to who has more points with the card that he laid aside, half each if they are even."""
    difference = state.points[0] + card_at(state, ASIDE) - state.points[1] - card_at(state, ASIDE + 1)
    out[0] = 0.5 if difference == 0 else 1.0 if difference > 0 else 0.0
    out[1] = 1.0 - out[0]


def observe(state, action, moves):
    if state.count < 2:
        moves[1 - state.player] = FACE_DOWN


def determinize(state, observer, beliefs, rng):
    """Deal the cards that the observer has not seen: as many as the other player laid aside and holds, and the rest."""
    if observer == CHANCE:
        return
    other, unseen = 1 - observer, np.empty(CARDS, np.int64)
    count, aside, held = 0, 0, 0
    for card in range(CARDS):
        place = state.place[card]
        if place in (other, ASIDE + other, STOCK):
            unseen[count] = card
            count += 1
            aside += place == ASIDE + other
            held += place == other
    shuffle(rng, unseen, count)
    for i in range(count):
        state.place[unseen[i]] = ASIDE + other if i < aside else other if i < aside + held else STOCK


def observation(state, player):
    """Where the cards lie that a player has seen, and all that lies open: for `icarus check`."""
    places = [int(place) if place in (player, ASIDE + player, OPEN) else None for place in state.place]
    return places, [int(points) for points in state.points], int(state.led), int(state.player), int(state.count)


def episode(state):
    """A new episode when both have laid a card aside, and after each trick."""
    return CONTINUES if state.count % 2 else state.count


def recall(state, perspective, moves):
    """The one card that the episode has seen so far, if any: laid aside by player 0, or led."""
    if state.count == 1:
        moves[0] = FACE_DOWN if perspective == 1 else card_at(state, ASIDE)
    elif state.count % 2:
        moves[0] = state.led - 1
    return state.count % 2


def retrace(state, data):
    """The deal that the data's cards came from, and what was played, the cards laid aside being the data's."""
    start, actions = state.start.copy(), [action for _, action in state.history]
    start["place"] = data["place"]
    for i, (mover, _) in enumerate(state.history):
        if i < 2:
            actions[i] = int(np.flatnonzero(data["place"][0] == ASIDE + mover)[0])
        start["place"][0, actions[i]] = mover
    return start, actions


def text(state):
    def cards(place):
        return " ".join(str(card + 1) for card in range(CARDS) if state.place[card] == place) or "-"

    hands = (f"player {i}: {cards(i)}, aside {cards(ASIDE + i)}, {state.points[i]} points" for i in range(2))
    return "; ".join(hands) + (f"; {state.led} was led" if state.led else "")


def action_text(state, action):
    return f"{action + 1} aside" if state.count < 2 else str(action + 1)


NEST_EGG = Game(
    name="nest-egg",
    players=2,
    state=STATE,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    rewards=rewards,
    observe=observe,
    determinize=determinize,
    episode=episode,
    recall=recall,
    observation=observation,
    retrace=retrace,
    max_legal=HAND,
    ranges={"place": (0, OPEN), "points": (0, 45), "led": (0, CARDS), "player": (0, 1), "count": (0, 2 * HAND)},
    text=text,
    action_text=action_text,
)

if __name__ == "__main__":
    print(search(NEST_EGG.new_initial_state(4), BASELINE >> MAST, iterations=5000))
