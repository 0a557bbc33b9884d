"""The board of Othello as two words of 64 bits, the discs of who is to move and the other's: moves and flips, and the board turned."""

import numpy as np

from icarus.kernel import inlined

INNER_COLUMNS = np.uint64(0x7E7E7E7E7E7E7E7E)  # a line of flips that runs sideways must not wrap around the board
EVEN_ROWS = np.uint64(0x00FF00FF00FF00FF)
EVEN_PAIRS = np.uint64(0x0000FFFF0000FFFF)  # of rows


@inlined
def _flanked(mine: np.uint64, theirs: np.uint64, step: np.uint64) -> np.uint64:
    """Squares next to a line of the other's discs that starts at an own disc, along one axis, both ways."""
    double = step + step
    left = theirs & (mine << step)
    left |= theirs & (left << step)
    pair = theirs & (theirs << step)
    left |= pair & (left << double)
    left |= pair & (left << double)
    right = theirs & (mine >> step)
    right |= theirs & (right >> step)
    pair = theirs & (theirs >> step)
    right |= pair & (right >> double)
    right |= pair & (right >> double)
    return (left << step) | (right >> step)


@inlined
def moves(mine: np.uint64, theirs: np.uint64) -> np.uint64:
    """The squares where a disc flips something."""
    inner = theirs & INNER_COLUMNS
    reached = _flanked(mine, inner, np.uint64(1)) | _flanked(mine, theirs, np.uint64(8))
    reached |= _flanked(mine, inner, np.uint64(7)) | _flanked(mine, inner, np.uint64(9))
    return reached & ~(mine | theirs)


@inlined
def _flips_along(mine: np.uint64, theirs: np.uint64, disc: np.uint64, step: np.uint64) -> np.uint64:
    """The discs flipped along one axis by a new disc."""
    left = theirs & (disc << step)
    right = theirs & (disc >> step)
    for _ in range(5):  # a line has at most six discs between its ends
        left |= theirs & (left << step)
        right |= theirs & (right >> step)
    flipped = np.uint64(0)
    if (left << step) & mine:
        flipped |= left
    if (right >> step) & mine:
        flipped |= right
    return flipped


@inlined
def flips(mine: np.uint64, theirs: np.uint64, disc: np.uint64) -> np.uint64:
    """The discs flipped by a new disc."""
    inner = theirs & INNER_COLUMNS
    flipped = _flips_along(mine, inner, disc, np.uint64(1)) | _flips_along(mine, theirs, disc, np.uint64(8))
    return flipped | _flips_along(mine, inner, disc, np.uint64(7)) | _flips_along(mine, inner, disc, np.uint64(9))


@inlined
def quarter_turn(board: np.uint64) -> np.uint64:
    """The board seen from the next side: transposed (Warren, Hacker's Delight, 7-3), and its rows in reverse order."""
    swapped = (board ^ (board >> np.uint64(7))) & np.uint64(0x00AA00AA00AA00AA)
    board = board ^ swapped ^ (swapped << np.uint64(7))
    swapped = (board ^ (board >> np.uint64(14))) & np.uint64(0x0000CCCC0000CCCC)
    board = board ^ swapped ^ (swapped << np.uint64(14))
    swapped = (board ^ (board >> np.uint64(28))) & np.uint64(0x00000000F0F0F0F0)
    board = board ^ swapped ^ (swapped << np.uint64(28))
    board = ((board >> np.uint64(8)) & EVEN_ROWS) | ((board & EVEN_ROWS) << np.uint64(8))
    board = ((board >> np.uint64(16)) & EVEN_PAIRS) | ((board & EVEN_PAIRS) << np.uint64(16))
    return (board >> np.uint64(32)) | (board << np.uint64(32))
