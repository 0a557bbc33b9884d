"""Compilation: what Numba is asked for, machine code on disk, addresses and random numbers."""
