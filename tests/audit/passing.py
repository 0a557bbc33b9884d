"""Each of three passes a card to his left, unseen by the third; then they play two tricks, and must follow suit. A card lies open."""

from collections.abc import Callable

import numpy as np

from icarus import Game
from icarus.kernel import CHANCE, CONTINUES, TERMINAL, below, helper, shuffle

CARDS, HAND, SUIT, NONE = 12, 3, 4, -1
STOCK, PLAYED, OPEN = 3, 4, 7  # a place: a hand, the stock, PLAYED + player, beside the stock
PASSES, END = 3, 9  # turns
PASSED = 90  # how the third player sees a pass
STATE = np.dtype(
    [
        ("place", np.int8, (CARDS,)),
        ("passed", np.int8, (3,)),
        ("voids", np.int8, (3, 3)),
        ("lead", np.int8),
        ("open", np.int8),  # the card at the place OPEN, again
        ("taken", np.int8, (3,)),
        ("best", np.int8),
        ("turn", np.int8),
    ],
    align=True,
)


def initial(state, rng):
    cards = np.arange(CARDS)
    shuffle(rng, cards, CARDS)
    for i in range(CARDS):
        state.place[cards[i]] = i // HAND
    state.passed[:] = NONE
    state.lead = state.best = NONE
    state.open = cards[CARDS - 1]
    state.place[state.open] = OPEN


def player(state):
    return TERMINAL if state.turn == END else state.turn % 3


@helper
def has_suit(state, mover, suit):
    for card in range(SUIT * suit, SUIT * suit + SUIT):
        if state.place[card] == mover:
            return True
    return False


def legal(state, actions):
    mover, count = state.turn % 3, 0
    bound = state.turn % 3 > 0 and state.turn > PASSES and has_suit(state, mover, state.lead)
    for card in range(CARDS):
        if state.place[card] == mover and (not bound or card // SUIT == state.lead):
            actions[count] = card
            count += 1
    return count


def apply(state, action):
    mover = state.turn % 3
    if state.turn < PASSES:
        state.passed[mover] = action
        if state.turn == PASSES - 1:
            for i in range(3):
                state.place[state.passed[i]] = (i + 1) % 3
    else:
        if mover == 0:
            state.lead, state.best = action // SUIT, action
        elif action // SUIT != state.lead:
            state.voids[mover, state.lead] = 1
        elif action > state.best:
            state.best = action
        state.place[action] = PLAYED + mover
        if mover == 2:
            state.taken[state.place[state.best] - PLAYED] += 1
    state.turn += 1


def rewards(state, out):
    for i in range(3):
        out[i] = state.taken[i] / 2


def observe(state, action, moves):
    if state.turn < PASSES:
        moves[(state.turn + 2) % 3] = PASSED


def episode(state):
    return state.turn if state.turn <= PASSES else CONTINUES


def sampler(voids: bool = True, own: bool = True, third: bool = False) -> Callable:
    """A determinization that remembers who could not follow suit, one's own passed card, and a pass among others if it was seen."""

    def determinize(state, observer, beliefs, rng):
        if observer == CHANCE:
            return
        left, right = (observer + 1) % 3, (observer + 2) % 3
        is_over = state.turn >= PASSES
        known = np.zeros(CARDS, np.bool_)
        for card in range(CARDS):
            known[card] = state.place[card] == observer or state.place[card] >= PLAYED
        if state.passed[right] >= 0:
            known[state.passed[right]] = True
        if own and is_over:
            known[state.passed[observer]] = True
        if third and state.passed[left] >= 0:
            known[state.passed[left]] = True
        cards, counts, count = np.empty(CARDS, np.int64), np.zeros(STOCK + 1, np.int64), 0
        for card in range(CARDS):
            if not known[card]:
                cards[count] = card
                counts[state.place[card]] += 1
                count += 1
        while True:
            shuffle(rng, cards, count)
            place, fits = 0, True
            dealt = np.zeros(STOCK + 1, np.int64)
            for i in range(count):
                while dealt[place] == counts[place]:
                    place += 1
                dealt[place] += 1
                state.place[cards[i]] = place
                fits &= place == STOCK or not voids or not state.voids[place, cards[i] // SUIT]
            if fits:
                break
        for giver in range(3):
            holder = (giver + 1) % 3 if is_over else giver
            if giver == left and not third or giver == observer and not own and is_over:
                count = 0
                for card in range(CARDS):
                    if state.place[card] == holder or state.place[card] == PLAYED + holder:
                        cards[count] = card
                        count += 1
                if state.passed[giver] >= 0:
                    state.passed[giver] = cards[below(rng, count)]

    return determinize


def retrace(state, data: np.ndarray) -> tuple[np.ndarray, list[int]]:
    start = data.copy()
    place, passed = start["place"][0], data["passed"][0]
    place[(place >= PLAYED) & (place < OPEN)] -= PLAYED
    if data["turn"][0] >= PASSES:
        place[passed] = range(3)
    actions = [action for _, action in state.history]
    for name in ("voids", "taken", "turn"):
        start[name] = 0
    for name in ("passed", "lead", "best"):
        start[name] = NONE
    count = min(len(actions), PASSES)
    return start, [*map(int, passed[:count]), *actions[count:]]


def observation(state, player):
    """All but the passed cards, which both have seen as moves; the open card is named, and not told by its place."""
    places = [int(p) if PLAYED <= p < OPEN or p == player else NONE for p in state.place]
    return places, state.open, state.voids, state.lead, state.taken, state.best, state.turn


def text(state):
    """All numbers of the state."""
    return " ".join(str(number) for field in state for number in np.ravel(field))


PASSING = Game(
    name="passing",
    players=3,
    state=STATE,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    rewards=rewards,
    observe=observe,
    episode=episode,
    determinize=sampler(),
    observation=observation,
    retrace=retrace,
    text=text,
    action_text=lambda state, action: f"c{action}",
    max_legal=4,
    max_length=END,
    actions=CARDS,
)
