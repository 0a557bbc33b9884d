"""Searches that keep a whole game tree: OOS and ISMCTS."""
