"""Numbers that stand for something in every game."""

CHANCE = -1  # ρ(s) where the environment acts (the paper's player 0)
TERMINAL = -4  # ρ(s) at the end of the game
CONTINUES = -1  # the continuation label: e(s) inside an episode
UNLABELLED = -2  # the label of an initial position that the episode function leaves unlabelled
UNSEEN = -(1 << 60)  # a move of which an observer notices nothing; times MAX_PLAYERS it is still a 64-bit integer
MAX_PLAYERS = 8
RECALLED = 4096  # no episode has more moves than this
NO_DEAL = -1.0  # in place of a probability: the deals are exhausted
MORE = 256  # legal actions than max_legal, which are refused, and until then harm nobody
