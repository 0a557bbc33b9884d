"""The generator of compiled code, against its published algorithm and against uniformity."""

import itertools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.stats import chisquare

from icarus.compiler.rng import next_word, seeded
from icarus.kernel import below, shuffle, uniform

WORD = (1 << 64) - 1
FALSE_ALARM = 1e-4
# The first outputs of the authors' C program from the state 1, 2, 3, 4.
PUBLISHED = [
    41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
    14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
]  # fmt: skip


def rotated(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & WORD


def xoshiro(state: list[int]) -> Iterator[int]:
    """xoshiro256++ 1.0, line by line as Blackman and Vigna publish it."""
    s = list(state)
    while True:
        yield (rotated((s[0] + s[3]) & WORD, 23) + s[0]) & WORD
        t = (s[1] << 17) & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = rotated(s[3], 45)


def lemire(words: Iterator[int], bound: int) -> int:
    """Lemire's algorithm 5 with 32-bit words: the upper halves of the generator's."""
    while True:
        product = (next(words) >> 32) * bound
        if product % 2**32 >= 2**32 % bound:
            return product >> 32


def before(word: int) -> np.ndarray:
    """A generator whose next word is this one."""
    return np.array([0, 0xDEADBEEF, 0xC0FFEE, rotated(word, 64 - 23)], np.uint64)  # s0 = 0: the word is rotl(s3, 23)


def test_the_reference_of_this_file_gives_the_published_numbers() -> None:
    assert list(itertools.islice(xoshiro([1, 2, 3, 4]), 10)) == PUBLISHED


@pytest.mark.parametrize("state", [[1, 2, 3, 4], [WORD, WORD, 0, WORD], [0, 0, 0, 1 << 63], seeded(5).tolist()])
def test_the_words_are_those_of_xoshiro256plusplus(state: list[int]) -> None:
    rng, words = np.array(state, np.uint64), xoshiro(state)
    assert [int(next_word(rng)) for _ in range(500)] == list(itertools.islice(words, 500))


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 7, 52, 1000, (1 << 31) + 1, 3 << 30, (1 << 32) - 1])
def test_below_is_lemires_algorithm_on_the_upper_halves(bound: int) -> None:
    rng, words = seeded(bound), xoshiro(seeded(bound).tolist())
    drawn = [int(below(rng, bound)) for _ in range(400)]
    assert drawn == [lemire(words, bound) for _ in range(400)]
    assert all(0 <= number < bound for number in drawn)


def test_uniform_takes_the_upper_53_bits() -> None:
    rng, words = seeded(8), xoshiro(seeded(8).tolist())
    assert [float(uniform(rng)) for _ in range(2000)] == [(next(words) >> 11) / 2**53 for _ in range(2000)]
    assert uniform(before(WORD)) == 1 - 2**-53 and uniform(before(0)) == 0


def test_shuffle_makes_every_order_equally_likely() -> None:
    rng, items = seeded(9), np.arange(4)
    counts: Counter[tuple[int, ...]] = Counter()
    for _ in range(12_000):
        items[:] = range(4)
        shuffle(rng, items, 4)
        counts[tuple(items.tolist())] += 1
    assert len(counts) == 24
    assert chisquare(list(counts.values())).pvalue > FALSE_ALARM


def test_a_seed_fixes_the_generator_and_keys_are_independent() -> None:
    assert seeded(3).tolist() == seeded([3]).tolist() == seeded((3,)).tolist()
    keys: list[int | tuple[int, ...]] = [0, 1, (0, 1), (1, 1), (0, 0, 1), (0, 1, 1), 1 << 70]
    assert len({tuple(seeded(key).tolist()) for key in keys}) == len(keys)
    assert all(seeded(key).any() for key in keys)  # a state of zeros would stay zero
