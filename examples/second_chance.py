"""second-chance: a game with hidden cards and chance, in plain Python.

From six cards, worth 1 to 6, each of two players is dealt one, which he alone sees. In turn, each keeps his card, or lays it open and draws
another from the deck, which again he alone sees. The higher card wins.

    cards 2 5, open -, deck 1 3 4 6; player 0 to move
"""

import random

from icarus import BASELINE, MAST, PythonGame, search
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, below

PLAYERS, CARDS = 2, 6
KEEP, SWAP = 0, 10  # actions of a player; the outcomes of chance are the cards of the deck
LAID = 20  # and the card: what the others see of SWAP


# A state is any object of Python. The functions may do whatever Python can.
def initial(rng):
    """A new state, dealt; all luck comes from rng."""
    cards = list(range(1, CARDS + 1))
    luck(rng).shuffle(cards)
    return {"cards": cards[:PLAYERS], "deck": sorted(cards[PLAYERS:]), "open": [], "turn": 0, "drawing": False}


def luck(rng):
    """A generator of Python's own, which follows from rng; below(rng, n) is one of 0 … n−1."""
    return random.Random(int(below(rng, 1 << 32)))


def player(state):
    """Who is about to act: a player from 0, CHANCE where a card is drawn, TERMINAL where the game is over."""
    if state["turn"] == PLAYERS:
        return TERMINAL
    return CHANCE if state["drawing"] else state["turn"]


def legal(state):
    """The legal actions, or the outcomes of chance: different integers of at least 0, always in the same order."""
    return list(state["deck"]) if state["drawing"] else [KEEP, SWAP]


def chance(state):
    """Where chance acts: the probability of each outcome that `legal` lists. Without this function, all are equally likely."""
    return [1 / len(state["deck"])] * len(state["deck"])


def apply(state, action):
    """Change the state, and return nothing."""
    mover = state["turn"]
    if action == SWAP:
        state["open"].append(state["cards"][mover])
        state["drawing"] = True
        return
    if state["drawing"]:
        state["cards"][mover] = action
        state["deck"].remove(action)
        state["drawing"] = False
    state["turn"] += 1


def rewards(state):
    """What each player gets at the end, from 0 to 1."""
    first, second = state["cards"]
    return [float(first > second), float(second > first)]


# What is hidden: these three are not needed where everybody sees everything.
def observe(state, action):
    """What each player sees of an action that is about to be done: any integers, UNSEEN for nothing. Who acts sees his action."""
    mover, others = state["turn"], action
    if state["drawing"]:
        others = UNSEEN  # the card that is drawn
    elif action == SWAP:
        others = LAID + state["cards"][mover]
    return [action if each == mover else others for each in range(PLAYERS)]


def determinize(state, observer, beliefs, rng):
    """A new state, in which all that `observer` cannot know is drawn again, uniformly. The state given stays as it is."""
    drawn = {**state, "cards": list(state["cards"]), "open": list(state["open"])}
    if observer == CHANCE:  # who sees everything
        return drawn | {"deck": list(state["deck"])}
    other = 1 - observer
    unknown = sorted([state["cards"][other], *state["deck"]])  # sorted, so that nothing depends on where the truth lies
    luck(rng).shuffle(unknown)
    drawn["cards"][other] = unknown.pop()
    return drawn | {"deck": sorted(unknown)}


def observation(state, player):
    """For icarus check: all that a player may know of a state. A determinization must not change it."""
    return state["cards"][player], state["open"], state["turn"], state["drawing"]


# For people. The text says all that is to be known.
def text(state):
    cards, laid, deck = (" ".join(map(str, state[name])) or "-" for name in ("cards", "open", "deck"))
    todo = f"player {state['turn']} {'draws' if state['drawing'] else 'to move'}"
    if state["turn"] == PLAYERS:
        todo = "the end"
    return f"cards {cards}, open {laid}, deck {deck}; {todo}"


def action_text(state, action):
    return {KEEP: "keep", SWAP: "swap"}.get(action, f"card {action}")


def move_text(move):
    """What the others are told of a move that `observe` makes of an action."""
    return f"swap, lays {move - LAID} open"


GAME = PythonGame(
    name="second-chance",
    players=PLAYERS,
    initial=initial,
    player=player,
    legal=legal,
    chance=chance,
    apply=apply,
    rewards=rewards,
    observe=observe,
    determinize=determinize,
    observation=observation,
    text=text,
    action_text=action_text,
    move_text=move_text,
    max_length=2 * PLAYERS,  # no game has more actions, those of chance included
)

if __name__ == "__main__":
    print(search(GAME.new_initial_state(seed=1), BASELINE >> MAST, iterations=1000, seed=1))
