"""Knockout Whist: the rules, and what is hidden from whom."""

from icarus.games.knockout_whist.game import knockout_whist

__all__ = ["knockout_whist"]
