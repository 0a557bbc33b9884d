"""The random numbers of compiled code: xoshiro256++ (Blackman and Vigna, 2018), exact bounded integers (Lemire, 2019).

A generator is an array of four uint64, seeded by `numpy.random.SeedSequence`. Everything random in a search is drawn
from one generator, in the order in which Algorithm 1 needs it.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from icarus.compiler.functions import DEBUG, helper, inlined

RNG_WORDS = 4  # 64-bit words of state
UNIT = 1.0 / (1 << 53)  # the distance between neighbouring draws of `uniform`
WRONG_BOUND = "below(rng, bound) draws for a bound from 1 to 2**32"
_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)
_WORD = (1 << 64) - 1


def seeded(seed: int | Sequence[int]) -> np.ndarray:
    """A generator, uint64 [4], for a seed (one integer, or several as a key)."""
    return np.random.SeedSequence(seed).generate_state(RNG_WORDS, np.uint64)


@inlined
def rotated(word: np.uint64, bits: int) -> np.uint64:
    return (word << np.uint64(bits)) | (word >> np.uint64(64 - bits))


@inlined
def next_word(rng: np.ndarray) -> np.uint64:
    """The next 64 random bits."""
    word = rotated(rng[0] + rng[3], 23) + rng[0]
    shifted = rng[1] << np.uint64(17)
    rng[2] ^= rng[0]
    rng[3] ^= rng[1]
    rng[1] ^= rng[2]
    rng[0] ^= rng[3]
    rng[2] ^= shifted
    rng[3] = rotated(rng[3], 45)
    return word


def plain_next_word(rng: np.ndarray) -> np.uint64:
    """`next_word` in plain Python, whose integers do not overflow."""
    return np.uint64(_next(rng))


def plain_below(rng: np.ndarray, bound: int) -> int:
    """`below` in plain Python."""
    size = int(bound)
    if size != bound or not 0 < size <= 1 << 32:
        raise ValueError(f"{WRONG_BOUND}, not for {bound!r}")
    product = (_next(rng) >> 32) * size
    if (product & 0xFFFFFFFF) < size:
        unfair = ((1 << 32) - size) % size
        while (product & 0xFFFFFFFF) < unfair:
            product = (_next(rng) >> 32) * size
    return product >> 32


def plain_uniform(rng: np.ndarray) -> float:
    """`uniform` in plain Python."""
    return (_next(rng) >> 11) * UNIT


def plain_shuffle(rng: np.ndarray, items: Any, count: int) -> None:
    """`shuffle` in plain Python, also of a list."""
    if isinstance(items, np.ndarray) and (items.ndim > 1 or items.dtype.names):
        raise ValueError("shuffle exchanges numbers, not rows; shuffle their places")
    for i in range(count - 1, 0, -1):
        j = plain_below(rng, i + 1)
        items[i], items[j] = items[j], items[i]


def _next(rng: np.ndarray) -> int:
    if not isinstance(rng, np.ndarray):
        raise TypeError(
            f"the generator is {rng!r}; it must be the one that the function is given, as made by seeded(1)"
        )
    a, b, c, d = rng.tolist()
    word = (_rotate((a + d) & _WORD, 23) + a) & _WORD
    c, d = c ^ a, d ^ b
    rng[:] = a ^ d, b ^ c, c ^ (b << 17 & _WORD), _rotate(d, 45)
    return word


def _rotate(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _WORD


@functools.partial(inlined, plain=plain_below)
def below(rng: np.ndarray, bound: int) -> int:
    """A uniform integer in 0 … bound−1, for bound ≤ 2**32; without bias."""
    if DEBUG and not 0 < bound <= 1 << 32:
        raise ValueError(WRONG_BOUND)
    size = np.uint64(bound)
    product = (next_word(rng) >> _32) * size
    if (product & _LOW) < size:
        unfair = (np.uint64(1 << 32) - size) % size
        while (product & _LOW) < unfair:
            product = (next_word(rng) >> _32) * size
    return np.int64(product >> _32)  # type: ignore[return-value]


@functools.partial(inlined, plain=plain_uniform)
def uniform(rng: np.ndarray) -> float:
    """A uniform real in [0, 1)."""
    return (next_word(rng) >> np.uint64(11)) * UNIT


@functools.partial(helper, plain=plain_shuffle)
def shuffle(rng: np.ndarray, items: np.ndarray, count: int) -> None:
    """Put the first `count` items, which are numbers, into a uniformly random order."""
    for i in range(count - 1, 0, -1):
        j = below(rng, i + 1)
        items[i], items[j] = items[j], items[i]
