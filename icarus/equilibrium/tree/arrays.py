"""A game tree as compact arrays: histories, information sets, what players have seen, and ends."""

import numpy as np

NODE = np.dtype(
    [  # a history; its children follow one another, in the order of the legal actions
        ("set", np.int32),  # the information set that it is in, or END
        ("child", np.int32),  # its first child; of an end, its row among the ends
    ]
)
SET = np.dtype(
    [  # histories that the player to move cannot tell apart; chance's are those with the same outcomes
        ("player", np.int32),  # 0, 1 or CHANCE
        ("count", np.int32),  # of actions
        ("slot", np.int32),  # of the first action; those of the others follow
        ("last_view", np.int32),  # of the player, or NOTHING for chance
        ("node", np.int32),  # the first history found in it
    ]
)
SLOT = np.dtype(
    [  # an action in an information set
        ("action", np.int64),
        ("probability", np.float64),  # of an outcome of chance; 0 of a player's action
    ]
)
VIEW = np.dtype(
    [  # all that a player has seen: the view before, and one move more
        ("parent", np.int32),  # an earlier row, or NOTHING
        ("slot", np.int32),  # of the action, where the move is the player's own; else NOTHING
        ("set", np.int32),  # in which the player is to move with this view, or NOTHING
        ("player", np.int32),  # whose view it is
        ("move", np.int64),  # the last one seen; after the root, what the player saw of the deal
    ]
)
END = np.dtype(
    [  # a terminal history
        ("views", np.int32, (2,)),  # the last of each player
        ("utility", np.float64),  # of player 0, in the units of the game
        ("chance_reach", np.float64),  # the probability of all that chance did
    ]
)
NOTHING = -1
END_SET = -1  # in place of an information set, of an end
