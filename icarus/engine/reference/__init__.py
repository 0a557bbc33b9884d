"""The reference engine: the same search in plain Python."""
