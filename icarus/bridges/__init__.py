"""Bridges to other libraries: their games searched by icarus, its games and agents used by them. Each needs an extra."""
