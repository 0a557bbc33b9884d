"""The slots of an enhancement as machine code: what the playout loop calls by address."""

import functools
from collections.abc import Callable

import numpy as np

from icarus.algebra import Enhancement
from icarus.algebra.enhancement import member_of
from icarus.algebra.policy import rule_values
from icarus.algebra.slots import Backpropagation, Candidates, Capture, InitialInformation, Slot, Values, result_message
from icarus.algebra.weights import WeightFunction
from icarus.compiler.digest import kernel_cache
from icarus.compiler.functions import DEBUG, MAKES_PLAIN, inlined_once, python_of
from icarus.compiler.kernel import CompiledFunction
from icarus.compiler.memory import (
    WORD_BYTES,
    array_at,
    prefetch,
    read_only_array_at,
    struct_at,
    unlikely,
    unpack_parameters,
)
from icarus.compiler.messages import refuse_slips
from icarus.kernel import NO_RECORD, SIMULATION, History, Theta, find, helper, inlined
from icarus.kernel.contract import Address
from icarus.kernel.history import history_at
from icarus.kernel.theta import (
    ENTRY,
    ENTRY_BYTES,
    TABLE,
    entry_of,
    has_room_for,
    index_at,
    row_index,
    updates_at,
    write_initial,
)
from icarus.specs import BASELINE

# Of a capture function, whose name the loop puts before it.
KEYLESS = "names the record 0, which is not a key; make keys with record(action, …), not from an action alone"
NO_PLAYER = "gives a context that is not a player, though its Ψ is PLAYER"

FIRST, INTERVAL = 100, 16  # a search checks in its first iterations, and in every 16th


@inlined
def is_checked(iteration: int) -> bool:
    """Whether what a game and slots give is checked in this iteration, at little cost in the mean."""
    return iteration < FIRST or iteration % INTERVAL == 0


_INT, _REAL = np.dtype(np.int64), np.dtype(np.float64)
AHEAD = 12  # updates; their entries of the index are fetched meanwhile
UNWRITTEN = -(1 << 62) - 5  # what no author writes for a record


def slot_kernel(function: Callable, arity: int, *slots: tuple[Slot, Callable]) -> CompiledFunction:
    """The kernel of a slot, by whose name it goes, and of others that it calls, each with its own function.

    Raises:
        CompilationError: one writes to its history, cuts a float, reads a field by its place, or returns a value.
    """

    def check() -> None:
        for slot, inner in slots:
            refuse_slips(inner, slot.label(), History, result_message(slot.label(), slot.DOES))

    return CompiledFunction(function, arity, slots[0][0].label(), check=check)


@functools.cache
def theta_of(row: np.dtype) -> Callable:
    """What compiled code calls for θ in the table at an address, whose rows are of this dtype."""

    @helper
    def theta_at(address: int) -> Theta:
        table = struct_at(address, TABLE)
        return Theta(
            read_only_array_at(table.rows, table.capacity, row), read_only_array_at(table.index, table.capacity, ENTRY)
        )

    return theta_at


@kernel_cache
def values_kernel(slot: Values, row: np.dtype) -> CompiledFunction:
    """Compile a values function: kernel(playout, table, legal, count, records, out, parameters).

    Where it leaves a value unwritten, or writes NaN, the search ends with a ValueError.
    """
    inner, unpack, theta_at = (
        in_kernel(slot, inlined_once(slot.function, boundscheck=True)),
        unpack_parameters(slot.kinds()),
        theta_of(row),
    )
    label, uniform = slot.label(), slot.uniform_in_simulation
    unwritten = f"{label} wrote NaN or no value for a legal action; it must write every out[i]"

    def kernel(playout: int, table: int, legal: int, count: int, records: int, out: int, parameters: int) -> int:
        values = array_at(out, count, _REAL)
        if uniform and history_at(playout).steps[-1].phase == SIMULATION:
            values[:] = np.inf
            return 0
        for i in range(count):
            values[i] = np.nan
        inner(history_at(playout), theta_at(table), read_only_array_at(legal, count, _INT), values, *unpack(parameters))
        wrong = False
        for i in range(count):
            wrong |= values[i] != values[i]
        if unlikely(wrong):
            raise ValueError(unwritten)
        return 0

    return slot_kernel(kernel, 7, (slot, inner))


def in_kernel(slot: Slot, inner: Callable) -> Callable:
    """A slot's function with its one caller; in plain Python what it returns is refused when it does, elsewhere when it is compiled."""
    if MAKES_PLAIN.get() is None:
        return inner
    refuse_result = slot.refuse_result

    @helper
    def called(*arguments: object) -> None:
        refuse_result(inner(*arguments))

    return called


def checked_if_foreign(function: Callable) -> Callable:
    """A function with one caller, whose indices are checked if it is not the library's own.

    The check takes up to 4 % of a search; the tests of the library's own functions check their indices.
    """
    is_foreign = not (python_of(function).__module__ or "").startswith("icarus.")
    return inlined_once(function, boundscheck=DEBUG or is_foreign)


@inlined
def enter_none(history: History, table: Address, keys: np.ndarray, parameters: Address) -> bool:
    """Of most enhancements no function says what is known of a record at first."""
    return True


@functools.cache
def entering(prior: Callable, kinds: tuple[type, ...], row: np.dtype) -> Callable:
    """What enters the records that a policy asks about for the first time with what is known of them by the state; False without room."""
    unpack, words = unpack_parameters(kinds), row.itemsize // WORD_BYTES

    @helper
    def enter_new(history: History, table: Address, keys: np.ndarray, parameters: Address) -> bool:
        descriptor = struct_at(table, TABLE)
        if not has_room_for(descriptor.used + len(keys), descriptor.capacity):
            return False
        rows, index = array_at(descriptor.rows, descriptor.capacity, row), index_at(descriptor)
        words_of_rows = array_at(descriptor.rows, descriptor.capacity * words, _INT)
        for k in range(len(keys)):
            e = entry_of(index, rows["record"], keys[k])
            if index[e] == 0 and keys[k] != NO_RECORD:
                i = descriptor.used + 1
                write_initial(words_of_rows, words, i)
                words_of_rows[i * words] = NO_RECORD
                prior(history, k, rows[i], *unpack(parameters))
                words_of_rows[i * words] = keys[k]
                index[e] = i
                descriptor.used = i
        return True

    return enter_new


@kernel_cache
def candidates_kernel(
    source: Candidates, prior: InitialInformation | None, rule: Callable, rule_kinds: tuple[type, ...], row: np.dtype
) -> CompiledFunction:
    """Compile a candidates function with the value of a record: the same arguments, and parameters of the rule, the function, the prior.

    It returns 1, with values of no meaning, where the table has no room for records with priors: the playout is made again.
    """
    inner, unpack, theta_at = (
        in_kernel(source, checked_if_foreign(source.function)),
        unpack_parameters(source.kinds()),
        theta_of(row),
    )
    unwritten = f"{source.label()} wrote no record for a legal action; it must write every records[i]"
    unpack_rule, offset = unpack_parameters(rule_kinds), WORD_BYTES * len(rule_kinds)
    of_prior, enter = offset + WORD_BYTES * len(source.kinds()), enter_none
    priors: list[tuple[Slot, Callable]] = []
    if prior is not None:
        priors = [(prior, in_kernel(prior, checked_if_foreign(prior.function)))]
        enter = entering(priors[0][1], prior.kinds(), row)

    def kernel(playout: int, table: int, legal: int, count: int, records: int, out: int, parameters: int) -> int:
        history = history_at(playout)
        keys, values = array_at(records, count, _INT), array_at(out, count, _REAL)
        checked = unlikely(is_checked(history.iteration))
        if checked:
            keys[:] = UNWRITTEN
        inner(history, read_only_array_at(legal, count, _INT), keys, *unpack(parameters + offset))
        if checked:
            for i in range(count):
                if keys[i] == UNWRITTEN:
                    raise ValueError(unwritten)
        if not enter(history, table, keys, parameters + of_prior):
            for i in range(count):
                values[i] = 1.0
            return 1
        theta = theta_at(table)
        for i in range(count):
            keys[i] = row_index(theta.entries, theta.rows["record"], keys[i])
        rule(theta, keys, history.steps[-1].player, values, *unpack_rule(parameters))
        return 0

    return slot_kernel(kernel, 7, (source, inner), *priors)


@kernel_cache
def rows_kernel(rule: Callable, rule_kinds: tuple[type, ...], row: np.dtype, label: str) -> CompiledFunction:
    """Compile the value of records whose rows in the table are known: the same arguments, with rows for records."""
    unpack_rule, theta_at = unpack_parameters(rule_kinds), theta_of(row)

    def kernel(playout: int, table: int, legal: int, count: int, rows: int, out: int, parameters: int) -> int:
        player = history_at(playout).steps[-1].player
        rule(
            theta_at(table), array_at(rows, count, _INT), player, array_at(out, count, _REAL), *unpack_rule(parameters)
        )
        return 0

    return CompiledFunction(kernel, 7, label)


@kernel_cache
def capture_kernel(slot: Capture, row: np.dtype | None) -> CompiledFunction:
    """Compile a capture function: kernel(playout, table, updates, parameters).

    Args:
        row: of the table, where the function reads θ.
    """
    inner, unpack = in_kernel(slot, checked_if_foreign(slot.function)), unpack_parameters(slot.kinds())
    if row is None:

        def kernel(playout: int, table: int, updates: int, parameters: int) -> int:
            inner(history_at(playout), updates_at(updates), *unpack(parameters))
            return 0

        return slot_kernel(kernel, 4, (slot, inner))
    theta_at = theta_of(row)

    def reading_kernel(playout: int, table: int, updates: int, parameters: int) -> int:
        inner(history_at(playout), theta_at(table), updates_at(updates), *unpack(parameters))
        return 0

    return slot_kernel(reading_kernel, 4, (slot, inner))


_COUNT = np.dtype(np.int32)
FULL = np.iinfo(_COUNT).max
COUNT_OVERFLOW = f"a count has reached {FULL}, the largest that a record can hold"


def columns_of(row: np.dtype, number: np.dtype) -> np.ndarray:
    """Where the fields of a row hold numbers of this dtype, in arrays too, counted in such numbers from its start."""
    fields = [row.fields[name][:2] for name in row.names] if row.names and row.fields else []
    starts = [(field, offset // number.itemsize) for field, offset in fields if field.base == number]
    return np.array([start + i for field, start in starts for i in range(field.itemsize // number.itemsize)], np.int64)


def check_of(row: np.dtype, label: str) -> Callable:
    """What refuses NaN in a row that a backpropagation function has written, by the row's address, and a count below 0 or full."""
    counts, reals, words = columns_of(row, _COUNT), columns_of(row, _REAL), row.itemsize // WORD_BYTES
    message = f"{label} wrote NaN to a record"
    negative = f"{label} wrote a negative number to a count of a record; a count is at least 0"

    @inlined
    def check(address: Address) -> None:
        real, count = array_at(address, words, _REAL), array_at(address, 2 * words, _COUNT)
        for column in reals:
            if unlikely(real[column] != real[column]):
                raise ValueError(message)
        for column in counts:
            if unlikely(np.uint32(count[column]) >= np.uint32(FULL)):  # beyond it counts are negative
                if -FULL // 2 < count[column] < 0:  # not so far that it would have come from beyond
                    raise ValueError(negative)
                count[column] = FULL
                raise OverflowError(COUNT_OVERFLOW)

    return check


@kernel_cache
def backpropagation_kernel(slot: Backpropagation, row: np.dtype, by_player: bool = False) -> CompiledFunction:
    """Compile a backpropagation function over a run of updates: kernel(table, records, contexts, count, rewards, players, parameters).

    Records not yet in the table enter it with the initial information. The table must have room.

    Args:
        by_player: whether Ψ is PLAYER: then a context that is not a player is refused.
    """
    inner, unpack = in_kernel(slot, inlined_once(slot.function, boundscheck=True)), unpack_parameters(slot.kinds())
    label, words = slot.label(), row.itemsize // WORD_BYTES
    check = check_of(row, label)

    def kernel(table: int, records: int, contexts: int, count: int, rewards: int, players: int, parameters: int) -> int:
        descriptor = struct_at(table, TABLE)
        rows, index = array_at(descriptor.rows, descriptor.capacity, row), index_at(descriptor)
        words_of_rows = array_at(descriptor.rows, descriptor.capacity * words, _INT)
        keys, psi = array_at(records, count, _INT), array_at(contexts, count, _INT)
        mu = read_only_array_at(rewards, players, _REAL)
        for j in range(count):
            prefetch(descriptor.index + ENTRY_BYTES * (keys[min(j + AHEAD, count - 1)] & (descriptor.capacity - 1)))
            e = entry_of(index, rows["record"], keys[j])
            i = np.int64(index[np.uint64(e)])
            if i == 0:
                if unlikely(keys[j] == NO_RECORD):
                    raise ValueError(KEYLESS)
                i = descriptor.used + 1
                write_initial(words_of_rows, words, i)
                words_of_rows[i * words] = keys[j]
                index[np.uint64(e)] = i
                descriptor.used = i
            if by_player and unlikely(psi[j] < 0 or psi[j] >= players):
                raise ValueError(NO_PLAYER)
            inner(rows[i], psi[j], mu, *unpack(parameters))
            check(descriptor.rows + WORD_BYTES * words * i)
        return 0

    return slot_kernel(kernel, 7, (slot, inner))


def policy_kernel(part: Enhancement, players: int, by_row: bool = False) -> CompiledFunction:
    """The compiled values of an enhancement's policy.

    Args:
        by_row: whether the loop itself finds the rows of the records, as it does for the baseline's children in the tree.
    """
    policy, source, row = part.policy, part.policy.source, part.information.row(players)
    if isinstance(source, Values):
        return values_kernel(source, row)
    rule = rule_values(policy, part.information)
    rule_kinds = (float,) * len(policy.rule_parameters())
    if by_row:
        return rows_kernel(rule, rule_kinds, row, f"the rule {policy.rule.name} over the tree")
    return candidates_kernel(source, part.initial.function, rule, rule_kinds, row)


@kernel_cache
def weight_kernel(slot: WeightFunction, players: int) -> CompiledFunction:
    """Compile a weight function of the baseline's information: kernel(table, record, out, parameters)."""
    inner, unpack = checked_if_foreign(slot.function), unpack_parameters(slot.kinds())
    theta_at = theta_of(BASELINE.information.row(players))

    def kernel(table: int, record: int, out: int, parameters: int) -> int:
        stats = find(theta_at(table), record)
        array_at(out, 1, _REAL)[0] = inner(stats.reward, stats.visits, stats.availability, *unpack(parameters))
        return 0

    return CompiledFunction(kernel, 4, slot.label())


@kernel_cache
def share_kernel(row: np.dtype) -> CompiledFunction:
    """Compile the weight of a member, 1 or 0, by the bandit of the player to move: kernel(table, playout, out, parameters)."""
    unpack, theta_at = unpack_parameters((int, int, float, int)), theta_of(row)

    def kernel(table: int, playout: int, out: int, parameters: int) -> int:
        members, group, exploration, member = unpack(parameters)
        player = history_at(playout).steps[-1].player
        best = member_of(theta_at(table), player, members, group, exploration)
        array_at(out, 1, _REAL)[0] = 1.0 if best == member else 0.0
        return 0

    return CompiledFunction(kernel, 4, "the share of a member")
