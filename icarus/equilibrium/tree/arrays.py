"""A game tree as compact arrays: histories, information sets, the players' views, and ends."""

from typing import Annotated, TypeAlias

import numpy as np

from icarus.kernel.structures import Short, structure

PLAYERS = 2
ForEach: TypeAlias = Annotated[np.ndarray, np.int32, PLAYERS]  # a number for each player


class Node:
    """A history; its children follow one another, in the order of the legal actions."""

    set: Short  # the information set that it is in, or END_SET
    child: Short  # its first child; of an end, its row among the ends


class InfoSet:
    """Histories that the player to move cannot tell apart; chance's are those with the same outcomes."""

    player: Short  # 0, 1 or CHANCE
    count: Short  # of actions
    slot: Short  # of the first action; those of the others follow
    last_view: Short  # of the player, or NOTHING for chance
    node: Short  # the first history found in it


class Slot:
    """An action in an information set."""

    action: int
    probability: float  # of an outcome of chance; 0 of a player's action


class View:
    """All that a player has observed: the view before, and one move more."""

    parent: Short  # an earlier row, or NOTHING
    slot: Short  # of the action, where the move is the player's own; else NOTHING
    set: Short  # in which the player is to move with this view, or NOTHING
    player: Short  # whose view it is
    move: int  # the last one observed; after the root, what the player observes of the deal


class End:
    """A terminal history."""

    views: ForEach  # the last of each player
    utility: float  # of player 0, in the units of the game
    chance_reach: float  # the probability of all that chance did


NODE, SET, SLOT, VIEW, END = map(structure, (Node, InfoSet, Slot, View, End))
NOTHING = -1
END_SET = -1  # in place of an information set, of an end
