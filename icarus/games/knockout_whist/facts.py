"""Knockout Whist: rounds, actions, stages, and the state data."""

import numpy as np

from icarus.compiler.rng import RNG_WORDS
from icarus.games.cards import CARDS, SUITS, deal_fields

ROUNDS = 7  # the first is of 7 cards
FEWEST, MOST = 2, 7  # players
PLAYERS = 4  # unless something else is said
NO_CARD = -1
TRUMPS = CARDS  # actions: 0 … 51 play a card, 52 … 55 name a suit trumps,
CHOOSER = TRUMPS + SUITS  # 56 … 62 let one of the players with most tricks choose,
DEAL = CHOOSER + MOST  # 63 hands out the cards of a new round
HAND_SEEN = 1 << CARDS  # DEAL as a player sees it is this and his own hand
PLAY, CHOOSE, DRAW, FACE_DOWN, OVER = range(5)  # stages: who is about to do what
STATE = np.dtype(
    [
        ("hands", np.uint64, (MOST,)),  # cards held; in stages DRAW and FACE_DOWN those of the next round
        ("played", np.uint64),  # cards played in this round
        ("deals", np.uint64, (RNG_WORDS,)),  # the generator of the coming deals
        ("arranged_hands", np.uint64, (MOST,)),  # of a coming round, where they are laid out beforehand
        ("arranged_deals", np.uint64, (RNG_WORDS,)),  # the generator after that round's deal
        ("tricks", np.int8, (MOST,)),  # taken in this round
        ("voids", np.int8, (MOST,)),  # suits that a player has failed to follow in this round, a bit for each
        ("trick", np.int8, (MOST,)),  # cards played to the current trick, in order
        ("count", np.int8),  # how many of these
        ("players", np.int8),  # seats in use; one dtype serves any number of players, compiled once
        ("alive", np.int8),  # players not out, a bit for each
        ("player", np.int8),  # about to play or to choose; in stage FACE_DOWN he who will choose
        ("best", np.int8),  # the card that is taking the trick
        ("taker", np.int8),  # who played it
        ("hand_size", np.int8),  # cards dealt to each in this round
        ("trumps", np.int8),  # suit
        ("turn_up", np.int8),  # card; NO_CARD after the first round
        ("stage", np.int8),
        ("arranged", np.int8),  # the hand size of the round laid out beforehand; 0 for none
    ],
    align=True,
)
STOCK = MOST  # the hidden hand after the players', in the constrained deal
BELIEFS = np.dtype(deal_fields(MOST + 1), align=True)
