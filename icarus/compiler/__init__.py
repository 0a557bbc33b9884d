"""Compilation: what Numba is asked for, machine code on disk, addresses, atomic words and random numbers."""
