"""Lord of the Rings: The Confrontation: facts, board, what a player knows, texts, rules."""

from icarus.games.lotr_confrontation.game import lotr_confrontation

__all__ = ["lotr_confrontation"]
