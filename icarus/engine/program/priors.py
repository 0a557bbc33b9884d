"""Priors: θ_initial by a function, which writes the information of a record when a policy first asks about it."""

from collections.abc import Callable

import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.slots import InitialInformation
from icarus.compiler.digest import kernel_cache
from icarus.compiler.kernel import Kernel
from icarus.compiler.memory import WORD_BYTES, array_at, read_only_array_at, struct_at, unpack_parameters
from icarus.engine.program.slots import checked_if_foreign, slot_kernel
from icarus.kernel import NO_RECORD
from icarus.kernel.history import history_at
from icarus.kernel.theta import TABLE, entry_of, has_room_for, index_at, write_initial

_INT = np.dtype(np.int64)


def prior_kernel(part: Enhancement, players: int) -> Kernel:
    """The compiled kernel of what a policy asks about into the table of an enhancement whose initial information a function tells."""
    prior, source = part.initial.function, part.policy.source
    assert prior is not None
    row = part.information.row(players)
    return _entry(prior.function, prior.kinds(), source.function, source.kinds(), row, prior.label())


@kernel_cache
def _entry(
    prior: Callable,
    kinds: tuple[type, ...],
    candidates: Callable,
    candidate_kinds: tuple[type, ...],
    row: np.dtype,
    label: str,
) -> Kernel:
    """Compile: kernel(playout, table, legal, count, records, parameters of the candidates function, parameters).

    Where there is no room it enters nothing and returns 1; the playout is then made again.
    """
    write_prior, unpack, words = checked_if_foreign(prior), unpack_parameters(kinds), row.itemsize // WORD_BYTES
    name_records, unpack_candidates = checked_if_foreign(candidates), unpack_parameters(candidate_kinds)

    def kernel(
        playout: int, table: int, legal: int, count: int, records: int, candidate_parameters: int, parameters: int
    ) -> int:
        history, keys, descriptor = history_at(playout), array_at(records, count, _INT), struct_at(table, TABLE)
        name_records(history, read_only_array_at(legal, count, _INT), keys, *unpack_candidates(candidate_parameters))
        if not has_room_for(descriptor.used + count, descriptor.capacity):
            return 1
        rows, index = array_at(descriptor.rows, descriptor.capacity, row), index_at(descriptor)
        words_of_rows = array_at(descriptor.rows, descriptor.capacity * words, _INT)
        for k in range(count):
            e = entry_of(index, rows["record"], keys[k])
            if index[e] == 0 and keys[k] != NO_RECORD:
                i = descriptor.used + 1
                write_initial(words_of_rows, words, i)
                words_of_rows[i * words] = NO_RECORD
                write_prior(history, k, rows[i], *unpack(parameters))
                words_of_rows[i * words] = keys[k]
                index[e] = i
                descriptor.used = i
        return 0

    return slot_kernel(kernel, 7, label, write_prior, InitialInformation)
