"""Rows of games on disk, and what is counted from them."""
