"""θ_initial by a function: records enter their table when a policy first asks about them, with what is known of them by then."""

import functools
from collections.abc import Callable

import numpy as np

from icarus.algebra import Enhancement
from icarus.compiler.kernels.functions import embedded
from icarus.compiler.kernels.kernel import Kernel
from icarus.compiler.kernels.pointers import WORD_BYTES, array_at, struct_at, unpack_parameters
from icarus.compiler.writes import refuse_cuts
from icarus.kernel import NO_RECORD
from icarus.kernel.history import history_at
from icarus.kernel.theta import TABLE, has_room_for, index_of, write_initial

_INT = np.dtype(np.int64)


def prior_kernel(part: Enhancement, players: int) -> Kernel:
    """The compiled kernel of what a policy asks about into the table of an enhancement whose initial information a function tells."""
    begins, source = part.initial.function, part.policy.source
    assert begins is not None
    row = part.information.row(players)
    return _entry(begins.function, begins.kinds(), source.function, source.kinds(), row, begins.label())


@functools.cache
def _entry(
    begins: Callable, kinds: tuple[type, ...], candidates: Callable, asked: tuple[type, ...], row: np.dtype, label: str
) -> Kernel:
    """Compile: kernel(playout, table, legal, count, records, parameters of the candidates function, parameters).

    Where there is no room the table is marked to be short of it, and the playout is made again.
    """
    inner, unpack, words = embedded(begins), unpack_parameters(kinds), row.itemsize // WORD_BYTES
    name_records, unpack_asked = embedded(candidates), unpack_parameters(asked)

    def kernel(playout: int, table: int, legal: int, count: int, records: int, given: int, parameters: int) -> int:
        history, keys, place = history_at(playout), array_at(records, count, _INT), struct_at(table, TABLE)
        name_records(history, array_at(legal, count, _INT), keys, *unpack_asked(given))
        if not has_room_for(place.used + count, place.capacity):
            place.short = 1
            return 0
        rows = array_at(place.rows, place.capacity + 1, row)
        plain = array_at(place.rows, (place.capacity + 1) * words, _INT)
        for k in range(count):
            i = index_of(rows["record"], keys[k])
            if rows[i].record == NO_RECORD and keys[k] != NO_RECORD:
                write_initial(plain, words, i)
                inner(history, k, rows[i], *unpack(parameters))
                plain[i * words] = keys[k]
                place.used += 1
        return 0

    return refuse_cuts(Kernel(kernel, 7, label), inner, label)
