"""Whole game trees in memory: growth, size, deals, and policies over them."""
