"""Lost Cities in plain Python: the rules of a class as a `PythonGame`, which copies faster and says what its state is.

Both players see every action. A card that is drawn from the deck is no action: who draws sees it in his hand.
"""

import random

from adopted.lost_cities import CARDS, COLOURS, LostCities

from icarus import PythonGame
from icarus.kernel import CHANCE, TERMINAL, below

HANDS, LAID, PILE, DECK = 0, 2, 4, 5  # where a card is; a hand, or what is laid, + the player


def luck(rng):
    return random.Random(int(below(rng, 1 << 32)))


def copy(state):
    new = object.__new__(LostCities)
    new.__dict__.update(state.__dict__)
    new.hands = [hand[:] for hand in state.hands]
    new.deck = state.deck[:]
    new.piles = [pile[:] for pile in state.piles]
    new.laid = [side[:] for side in state.laid]
    new.last = [side[:] for side in state.last]
    new.taken = state.taken[:]
    return new


def determinize(state, observer, beliefs, rng):
    if observer == CHANCE:
        return copy(state)
    other, new = 1 - observer, copy(state)
    known = [card for card in state.hands[other] if state.taken[card]]
    unknown = sorted(state.deck + [card for card in state.hands[other] if not state.taken[card]])
    luck(rng).shuffle(unknown)
    count = len(state.hands[other]) - len(known)
    new.hands[other], new.deck = known + unknown[:count], unknown[count:]
    return new


def features(state):
    """Where each card is, and what else the state says."""
    place = [DECK] * CARDS
    for i in range(2):
        for card in state.hands[i]:
            place[card] = HANDS + i
        for card in range(CARDS):
            if state.laid[i][card]:
                place[card] = LAID + i
    for pile in state.piles:
        for card in pile:
            place[card] = PILE
    tops = [pile[-1] if pile else -1 for pile in state.piles]
    return [*place, *tops, *state.last[0], *state.last[1], state.drawing, len(state.deck), state.just_discarded]


LOST_CITIES = PythonGame(
    name="lost-cities",
    players=2,
    initial=lambda rng: LostCities(luck(rng)),
    player=lambda state: TERMINAL if state.is_terminal() else state.player,
    legal=lambda state: state.legal_actions(),
    apply=lambda state, action: state.apply_action(action),
    rewards=lambda state: [(each + 1) / 2 for each in state.returns()],
    determinize=determinize,
    observation=lambda state, player: state.observation(player),
    action_text=lambda state, action: state.action_to_string(action),
    copy=copy,
    features=features,
    feature_names=[
        *(f"place of {card}" for card in range(CARDS)),
        *(f"top of pile {i}" for i in range(COLOURS)),
        *(f"last of {player}, {i}" for player in range(2) for i in range(COLOURS)),
        *("drawing", "deck", "just discarded"),
    ],
)
