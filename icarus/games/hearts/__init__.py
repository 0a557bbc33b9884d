"""Hearts: the rules, its determinization, and the table of rounds to come."""

from icarus.games.hearts.game import HEARTS, hearts

__all__ = ["HEARTS", "hearts"]
