"""Lowering: a game and a composition become a few small arrays of addresses and numbers, which the playout loop runs.

Only one policy of a sequence is active in a phase, so a composition is two *mixtures*: one for the tree (selection and expansion) and one
for simulation; a third decides where choices are simultaneous, if the scheme has EXP3 do so. These are the roles of a policy. A mixture is
one of linear *terms*; a term is a maxilinear mixture of *leaves*, usually just one; a leaf is the policy of one component. Or a term is
a majority vote, and its voters are mixtures themselves.
"""

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any

import attrs
import numpy as np

from icarus.algebra import (
    PLAYER,
    SLOTS,
    TOLERANCE,
    Composition,
    Enhancement,
    Weight,
    WeightFunction,
)
from icarus.algebra.policy import (
    RULE_ARGMAX,
    RULE_GIBBS,
    RULE_GIBBS_OF_MEANS,
    RULE_UNIFORM,
    RULE_VOTE,
    rule_values,
)
from icarus.algebra.slots import (
    Backpropagation,
    Candidates,
    Capture,
    InitialInformation,
    Slot,
    Values,
    result_message,
)
from icarus.compiler import (
    DEBUG,
    CompiledFunction,
    defined_at,
    inlined_once,
    offset_of,
    python_of,
    refuse_slips,
)
from icarus.compiler.digest import (
    attributes_read,
    kernel_cache,
    renew_rebound,
    unseeded_source,
    variables_of,
)
from icarus.compiler.memory import (
    WORD_BYTES,
    array_at,
    pack_parameters,
    prefetch,
    read_only_array_at,
    struct_at,
    unlikely,
    unpack_parameters,
)
from icarus.engine import loop
from icarus.engine.loop import MoreRows, is_checked
from icarus.engine.scheme import FRESH, MO_ISMCTS, ROOT_PLAYER, Scheme
from icarus.kernel import (
    AHEAD,
    FUNCTIONS,
    NO_RECORD,
    SIMULATION,
    Address,
    History,
    State,
    Theta,
    find,
    helper,
    inlined,
)
from icarus.kernel.features import (
    ACTION_FEATURES,
    ENDINGS,
    FEATURES,
    KINDS,
    LOOKAHEAD,
    NAMES,
    TABLES,
    column_of,
)
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.history import history_at
from icarus.kernel.theta import (
    ENTRY,
    TABLE,
    HashTable,
    entry_of,
    has_room_for,
    index_at,
    row_index,
    updates_at,
    write_initial,
)
from icarus.specs import AMAF, BASELINE
from icarus.specs.at_once import EXP3
from icarus.specs.epic import EPIC

ENTRY_BYTES = ENTRY.itemsize
VOTERS = 3  # the first mixture of voters
MOST = 256  # strategies that are kept
_OF_ACTIONS = ACTION_FEATURES | LOOKAHEAD | ENDINGS  # the tables with a row for each legal action
# the function that a game must have where a slot reads one of these tables
NEEDED = {FEATURES: "features", ACTION_FEATURES: "action_features", LOOKAHEAD: "heuristic"}

# --------------------------------------------------------------- the slots of an enhancement as machine code: kernels


# Of a capture function, whose name the loop puts before it.
KEYLESS = "names the record 0, which is not a key; make keys with record(action, …), not from an action alone"
NO_PLAYER = "gives a context that is not a player, though its Ψ is PLAYER"

_INT, _REAL = np.dtype(np.int64), np.dtype(np.float64)
UNWRITTEN = -(1 << 62) - 5  # what no author writes for a record


def slot_kernel(function: Callable, arity: int, *slots: tuple[Slot, Callable]) -> CompiledFunction:
    """A kernel that calls the functions of these slots, and has the name of the first.

    Args:
        slots: each with its function as the kernel calls it.

    Raises:
        CompilationError: one writes to its history, cuts a float, reads a field by its place, or returns a value.
    """

    def check() -> None:
        for slot, inner in slots:
            refuse_slips(inner, slot.label(), History, result_message(slot.label(), slot.DOES))

    return CompiledFunction(function, arity, slots[0][0].label(), check=check)


@functools.cache
def theta_of(row: np.dtype) -> Callable:
    """A function for compiled code: from the address of a table with rows of this dtype to θ."""

    @helper
    def theta_at(address: int) -> Theta:
        table = struct_at(address, TABLE)
        return Theta(
            read_only_array_at(table.rows, table.capacity, row),
            read_only_array_at(table.index, table.capacity, ENTRY),
        )

    return theta_at


@inlined
def _has_unwritten(items: np.ndarray, content: float) -> bool:
    """Whether an item is still what each was filled with, or NaN: a helper, which is compiled once and not in each kernel anew."""
    for item in items:
        if item == content or item != item:
            return True
    return False


@kernel_cache
def values_kernel(slot: Values, row: np.dtype) -> CompiledFunction:
    """Compile a values function: kernel(playout, table, legal, count, records, out, parameters).

    Where it leaves a value unwritten, or writes NaN, in an iteration that is checked, the search ends with a ValueError.
    """
    inner, unpack = inlined_once(slot.function, boundscheck=True), unpack_parameters(slot.kinds())
    theta_at = theta_of(row)
    uniform = slot.uniform_in_simulation
    unwritten = (
        f"{slot.label()} wrote NaN or no value for a legal action; it must write every out[i]"
    )

    def kernel(
        playout: int, table: int, legal: int, count: int, records: int, out: int, parameters: int
    ) -> int:
        values, history = array_at(out, count, _REAL), history_at(playout)
        if uniform and history.steps[-1].phase == SIMULATION:
            values[:] = np.inf
            return 0
        checked = unlikely(is_checked(history.iteration))
        if checked:
            values[:] = np.nan
        inner(
            history,
            theta_at(table),
            read_only_array_at(legal, count, _INT),
            values,
            *unpack(parameters),
        )
        if checked and _has_unwritten(values, np.nan):
            raise ValueError(unwritten)
        return 0

    return slot_kernel(kernel, 7, (slot, inner))


def checked_if_foreign(function: Callable) -> Callable:
    """A function with one caller, whose indices are checked if it is not the library's own.

    The check takes up to 4 % of a search; the tests of the library's own functions check their indices.
    """
    is_foreign = not (python_of(function).__module__ or "").startswith("icarus.")
    return inlined_once(function, boundscheck=DEBUG or is_foreign)


@inlined
def enter_none(history: History, table: Address, keys: np.ndarray, parameters: Address) -> None:
    """Enter no records: most enhancements have no function for their initial information."""


@inlined
def new_row(table: HashTable, e: int, words: int, key: int) -> int:
    """The number of a new row, of so many words: of a record with this key and the initial information, at an entry of the index."""
    plain, index = array_at(table.rows, table.capacity * words, _INT), index_at(table)
    i = table.used + 1
    write_initial(plain, words, i)
    plain[i * words] = key
    index[np.uint64(e)] = i
    table.used = i
    return i


_COUNT = np.dtype(np.int32)
FULL = np.iinfo(_COUNT).max
COUNT_OVERFLOW = f"a count has reached {FULL}, the largest that a record can hold"


def _columns_of(row: np.dtype, number: np.dtype) -> np.ndarray:
    """The places of the numbers of one dtype in a row, also of those in arrays, counted in such numbers."""
    columns = list[int]()
    for name in row.names or ():
        if row[name].base == number:
            first = offset_of(row, name) // number.itemsize
            columns += range(first, first + row[name].itemsize // number.itemsize)
    return np.array(columns, np.int64)


@functools.cache
def refusing(label: str, row: np.dtype) -> Callable:
    """A function for compiled code: from the address of a row that a slot of this label has written to, to an error if it is wrong."""
    not_a_number = f"{label} wrote NaN to a record"
    negative = f"{label} wrote a negative number to a count of a record; a count is at least 0"
    words: Any = np.int64(row.itemsize // WORD_BYTES)  # as below
    reals, counts = _columns_of(row, _REAL), _columns_of(row, _COUNT)

    @inlined
    def refuse_wrong(address: Address) -> None:
        real, count = array_at(address, words, _REAL), array_at(address, 2 * words, _COUNT)
        for column in reals:
            if unlikely(real[column] != real[column]):
                raise ValueError(not_a_number)
        for column in counts:
            # Python's own, as plain Python reads it, cannot be negative and unsigned
            number = np.int64(count[column])
            if unlikely(np.uint32(number) >= np.uint32(FULL)):  # beyond it counts are negative
                if -FULL // 2 < count[column] < 0:  # not so far that it would have come from beyond
                    raise ValueError(negative)
                count[column] = FULL
                raise OverflowError(COUNT_OVERFLOW)

    return refuse_wrong


@functools.cache
def entering(prior: Callable, kinds: tuple[type, ...], row: np.dtype, label: str) -> Callable:
    """A function that enters the records a policy asks about for the first time, with initial information by `prior`."""
    unpack, refuse_wrong = unpack_parameters(kinds), refusing(label, row)
    # not Python's own, for each of which the compiler would make a helper anew
    words: Any = np.int64(row.itemsize // WORD_BYTES)

    @helper
    def enter_new(history: History, table: Address, keys: np.ndarray, parameters: Address) -> None:
        descriptor = struct_at(table, TABLE)
        if not has_room_for(descriptor.used + len(keys), descriptor.capacity):
            raise MoreRows
        rows, index = array_at(descriptor.rows, descriptor.capacity, row), index_at(descriptor)
        for k in range(len(keys)):
            e = entry_of(index, rows["record"], keys[k])
            if index[e] == 0 and keys[k] != NO_RECORD:
                i = new_row(descriptor, e, words, NO_RECORD)
                prior(history, k, rows[i], *unpack(parameters))
                refuse_wrong(descriptor.rows + WORD_BYTES * words * i)
                rows["record"][i] = keys[k]

    return enter_new


@kernel_cache
def candidates_kernel(
    source: Candidates,
    prior: InitialInformation | None,
    rule: Callable,
    rule_kinds: tuple[type, ...],
    row: np.dtype,
    of_one: bool,
) -> CompiledFunction:
    """Compile a candidates function, the prior of its records, and a rule for their values, with the arguments of `values_kernel`.

    The parameters are those of the rule, then of the candidates function, then of the prior.

    Args:
        of_one: whether the kernel is asked about one action at a time, so that its loops can be left out.
    """
    inner = checked_if_foreign(source.function)
    unpack = unpack_parameters(source.kinds())
    theta_at = theta_of(row)
    unwritten = (
        f"{source.label()} wrote no record for a legal action; it must write every records[i]"
    )
    unpack_rule = unpack_parameters(rule_kinds)
    # where the parameters of the source and of the prior begin, behind those of the rule
    of_source = WORD_BYTES * len(rule_kinds)
    of_prior = of_source + WORD_BYTES * len(source.kinds())
    enter = enter_none
    priors: list[tuple[Slot, Callable]] = []
    if prior is not None:
        priors = [(prior, checked_if_foreign(prior.function))]
        enter = entering(priors[0][1], prior.kinds(), row, prior.label())

    def kernel(
        playout: int, table: int, legal: int, many: int, records: int, out: int, parameters: int
    ) -> int:
        history = history_at(playout)
        count = 1 if of_one else many
        keys, values = array_at(records, count, _INT), array_at(out, count, _REAL)
        checked = unlikely(is_checked(history.iteration))
        if checked:
            keys[:] = UNWRITTEN
        actions = read_only_array_at(legal, count, _INT)
        inner(history, actions, keys, *unpack(parameters + of_source))
        if checked and _has_unwritten(keys, UNWRITTEN):
            raise ValueError(unwritten)
        enter(history, table, keys, parameters + of_prior)
        theta, places = theta_at(table), keys  # each key makes room for the number of its row
        for i in range(count):
            places[i] = row_index(theta.entries, theta.rows["record"], keys[i])
        rule(theta, places, history.steps[-1].player, values, *unpack_rule(parameters))
        return 0

    return slot_kernel(kernel, 7, (source, inner), *priors)


@kernel_cache
def rows_kernel(
    rule: Callable, rule_kinds: tuple[type, ...], row: np.dtype, label: str
) -> CompiledFunction:
    """Compile a rule for the values of records whose rows are known: the arguments of `values_kernel`, with rows for records."""
    unpack_rule, theta_at = unpack_parameters(rule_kinds), theta_of(row)

    def kernel(
        playout: int, table: int, legal: int, count: int, rows: int, out: int, parameters: int
    ) -> int:
        player = history_at(playout).steps[-1].player
        rule(
            theta_at(table),
            array_at(rows, count, _INT),
            player,
            array_at(out, count, _REAL),
            *unpack_rule(parameters),
        )
        return 0

    return CompiledFunction(kernel, 7, label)


@kernel_cache
def capture_kernel(slot: Capture, row: np.dtype | None) -> CompiledFunction:
    """Compile a capture function: kernel(playout, table, updates, parameters).

    Args:
        row: of the table, where the function reads θ.
    """
    inner, unpack = checked_if_foreign(slot.function), unpack_parameters(slot.kinds())
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


@kernel_cache
def backpropagation_kernel(
    slot: Backpropagation, row: np.dtype, by_player: bool = False
) -> CompiledFunction:
    """Compile a backpropagation function over a run of updates: kernel(table, records, contexts, count, rewards, players, parameters).

    Records not yet in the table enter it with the initial information. The table must have room.

    Args:
        by_player: whether Ψ is PLAYER: then a context that is not a player is refused.
    """
    inner, unpack = inlined_once(slot.function, boundscheck=True), unpack_parameters(slot.kinds())
    refuse_wrong = refusing(slot.label(), row)
    words: Any = np.int64(row.itemsize // WORD_BYTES)  # as above

    def kernel(
        table: int,
        records: int,
        contexts: int,
        count: int,
        rewards: int,
        players: int,
        parameters: int,
    ) -> int:
        descriptor = struct_at(table, TABLE)
        rows, index = array_at(descriptor.rows, descriptor.capacity, row), index_at(descriptor)
        keys, psi = array_at(records, count, _INT), array_at(contexts, count, _INT)
        mu = read_only_array_at(rewards, players, _REAL)
        for j in range(count):
            prefetch(
                descriptor.index
                + ENTRY_BYTES * (keys[min(j + AHEAD, count - 1)] & (descriptor.capacity - 1))
            )
            e = entry_of(index, rows["record"], keys[j])
            i = int(index[np.uint64(e)])
            if i == 0:
                if unlikely(keys[j] == NO_RECORD):
                    raise ValueError(KEYLESS)
                i = new_row(descriptor, e, words, keys[j])
            if by_player and unlikely(not 0 <= psi[j] < players):
                raise ValueError(NO_PLAYER)
            inner(rows[i], psi[j], mu, *unpack(parameters))
            refuse_wrong(descriptor.rows + WORD_BYTES * words * i)
        return 0

    return slot_kernel(kernel, 7, (slot, inner))


@kernel_cache
def weight_kernel(slot: WeightFunction, players: int) -> CompiledFunction:
    """Compile a weight function of the baseline's information: kernel(table, record, out, parameters)."""
    inner, unpack = checked_if_foreign(slot.function), unpack_parameters(slot.kinds())
    theta_at = theta_of(BASELINE.information.row(players))

    def kernel(table: int, record: int, out: int, parameters: int) -> int:
        stats = find(theta_at(table), record)
        array_at(out, 1, _REAL)[0] = inner(
            stats.reward, stats.visits, stats.availability, *unpack(parameters)
        )
        return 0

    return CompiledFunction(kernel, 4, slot.label())


# ---------------------------------------------------------------------------------------- compositions as small arrays


def lower(game: AnyGame, strategy: Enhancement, scheme: Scheme = MO_ISMCTS) -> "LoweredStrategy":
    """A strategy for the loop. Compiles, or loads, what has not been used yet, and anew what has changed.

    Args:
        game: as the scheme sees it (`Scheme.view`).

    Raises:
        CompilationError: the compiler refuses a slot.
    """
    key = ByIdentity(strategy)
    renew_rebound(_lower(game, key, scheme).variables)
    return _lower(game, key, scheme)  # lowered anew if a variable has changed


@attrs.frozen
class ByIdentity:
    """An enhancement as a key of a cache: only the same object is equal, since 1 and 1.0 are equal, but may lower differently."""

    value: Enhancement = attrs.field(eq=id)


@functools.partial(kernel_cache, most=MOST)
def _lower(game: AnyGame, strategy: ByIdentity, scheme: Scheme) -> "LoweredStrategy":
    """`lower`, whose result is kept for the next decisions of a match: lowering takes as long as dozens of iterations."""
    renew_rebound()  # the strategy may share helpers with what was compiled before
    return LoweredStrategy(game, strategy.value, scheme)


def storage_of(enhancement: Enhancement) -> tuple[object, ...]:
    """What decides an enhancement's records: every slot but the policy."""
    return tuple(getattr(enhancement, slot) for slot in SLOTS if slot != "policy")


def components_of(
    strategy: Enhancement, uses_exp3: bool
) -> tuple[list[Enhancement], dict[Enhancement, int]]:
    """The enhancements that have a table of their own in a search, the baseline first, and the index of each enhancement's table.

    Args:
        uses_exp3: whether EXP3 decides where choices are simultaneous.

    Raises:
        ValueError: a slot draws from np.random, whose numbers no seed of a search fixes; a component with
            records of its own has the name of the baseline or of EXP3.
    """
    for part in strategy.components:
        slots = part.policy.source, part.capture, part.backpropagation, part.initial.function
        for slot in filter(None, slots):
            refuse_unseeded(slot)
    components: dict[tuple[object, ...], Enhancement] = {}
    parts = [BASELINE, *strategy.components]
    if uses_exp3:
        parts.append(EXP3)
    for part in parts:
        components.setdefault(storage_of(part), part)
    names = [part.name for part in components.values()]
    if doubled := [name for name in names if names.count(name) > 1]:
        raise ValueError(
            f"{doubled[0]} of {strategy} is not the {doubled[0]} that the search itself has; rename it"
        )
    places = {storage: index for index, storage in enumerate(components)}
    return list(components.values()), {part: places[storage_of(part)] for part in parts}


def names_read(captures: Iterable[Capture]) -> set[str]:
    """What capture functions read of a history, by its names."""
    return {name for capture in captures for name in attributes_read(capture.function)}


class LoweredStrategy:
    """A strategy lowered for a game: arrays for the loop, and what their addresses refer to.

    Attributes:
        components: what has a table of its own, the baseline first; enhancements that differ in their policy only share one.
        table_of: the index of each enhancement's table.
        component, mixture, term, leaf, weight: the arrays; the mixtures of voters follow those of the decisions.
        votes: whether any term is a majority vote.
        reads: what slots read of a playout, by the names of the workspace's `LoweredArrays`.
        choices: whether a rule reads which decisions are simultaneous.
        kept_alive: what stands at the addresses.
        variables: of users, that are compiled in.
        used: how many records each table of the latest search had.
    """

    def __init__(self, game: AnyGame, strategy: Enhancement, scheme: Scheme) -> None:
        self.game, self.scheme = game, scheme
        uses_exp3 = scheme.uses_exp3(game)
        if isinstance(game, Game):
            refuse_unseeded(game)
        refuse_unknown(game, strategy)
        self.components, self.table_of = components_of(strategy, uses_exp3)
        refuse_hidden(self.components, game)
        self.terms: list[loop.Term] = []
        self.voters: list[loop.Mixture] = []
        self.leaves: list[loop.Leaf] = []
        self.weights: list[loop.WeightFactor] = []
        self.kept_alive: list[CompiledFunction | np.ndarray] = []
        self.read_in_simulation: set[str] = set()
        self.read: set[str] = set()
        self.used = [0] * len(self.components)
        by_role = [strategy, strategy]
        if uses_exp3:
            by_role.append(EXP3)
        mixtures = [self.lower_mixture(role, each) for role, each in enumerate(by_role)]
        if not uses_exp3:
            mixtures.append(mixtures[loop.TREE])
        self.component = self.lower_components()
        self.mixture = np.array(mixtures + self.voters, loop.MIXTURE)
        self.term = np.array(self.terms, loop.TERM)
        self.leaf = np.array(self.leaves, loop.LEAF)
        self.weight = np.array(self.weights, loop.WEIGHT)
        self.votes = bool(self.voters)
        self._find_reads(self.is_uniform_mixture(mixtures[loop.IN_SIMULATION]))
        of_slots = [each.function for each in self.kept_alive if isinstance(each, CompiledFunction)]
        self.variables = [*game.variables(), *variables_of(*of_slots)]

    def _find_reads(self, is_uniform: bool) -> None:
        """Find what slots read of a playout, in the tree or also in simulation: `reads` and `choices`.

        Args:
            is_uniform: whether all choices of simulation are uniform by definition.
        """
        captures = [component.capture for component in self.components]
        of_simulation = [capture for capture in captures if capture.reads_simulation]
        anywhere = self.read | names_read(captures)
        in_simulation = self.read_in_simulation | names_read(of_simulation)
        keys_in_simulation = self.read_in_simulation | names_read(
            capture for capture in of_simulation if capture.writes_simulation
        )
        self.reads = {
            # For the root player's eyes even uniform choices are among moves, which only the steps hold.
            "steps_in_simulation": bool(of_simulation)
            or self.scheme.observer == ROOT_PLAYER
            or not is_uniform,
            "moves_in_simulation": "moves" in in_simulation,
            "keys_in_simulation": "keys" in keys_in_simulation,
            "episodes": bool({"episodes", "episode"} & (self.read | in_simulation)),
            "features_in_tree": tables_among(anywhere),
            "features_in_simulation": tables_among(in_simulation),
        }
        self.choices = "choice" in anywhere

    def lower_components(self) -> np.ndarray:
        """A COMPONENT for each component, with its kernels and their parameters."""
        rows = np.zeros(len(self.components), loop.COMPONENT)
        for row, component in zip(rows, self.components, strict=True):
            capture, backpropagation = component.capture, component.backpropagation
            information = component.information.row(self.game.players)
            theta = information if capture.reads_theta else None
            row["capture"] = self.address(capture_kernel(capture, theta))
            row["capture_parameters"] = self.parameters(capture.values(self.game))
            kernel = backpropagation_kernel(
                backpropagation, information, component.contexts == PLAYER
            )
            row["backpropagation"] = self.address(kernel)
            row["backpropagation_parameters"] = self.parameters(backpropagation.values(self.game))
        return rows

    # ------------------------------------------------------------------------------------------- mixtures, terms, leaves

    def is_uniform_mixture(self, mixture: loop.Mixture) -> bool:
        """Whether a mixture chooses uniformly by definition. One of several terms does not count: to draw a term takes random numbers."""
        return mixture.terms == 1 and self.terms[mixture.first_term].rule == RULE_UNIFORM

    def lower_mixture(self, role: int, strategy: Enhancement, votes: bool = False) -> loop.Mixture:
        """The mixture of a strategy; its terms are appended to `self.terms`.

        Args:
            votes: whether the strategy is a voter.
        """
        mixed = list(terms_of(strategy, role))
        terms = [
            self.lower_vote(role, weight, parts)
            if isinstance(parts, Vote)
            else self.lower_term(role, weight, parts, votes)
            for weight, parts in mixed
        ]
        self.terms += terms
        constant = not any(weight.functions for weight, _ in mixed)
        return loop.Mixture(
            first_term=len(self.terms) - len(terms), terms=len(terms), constant=constant
        )

    def lower_vote(self, role: int, weight: Weight, vote: "Vote") -> loop.Term:
        """The term of a majority vote; the mixtures of its voters are appended to `self.voters`."""
        voters = [self.lower_mixture(role, member, votes=True) for member in vote.members]
        first = VOTERS + len(self.voters)
        self.voters += voters
        uniform = all(map(self.is_uniform_mixture, voters)) or self.simulates_uniformly(role, vote)
        rule = RULE_UNIFORM if uniform else RULE_VOTE
        return loop.Term(
            *self.factors(role, weight), first, len(voters), rule, parameter=0.0, new=loop.NOWHERE
        )

    def lower_term(
        self, role: int, weight: Weight, parts: list[tuple[Weight, Enhancement]], votes: bool
    ) -> loop.Term:
        """The term of a maxilinear mixture; its leaves are appended to `self.leaves`."""
        first_leaf = len(self.leaves)
        uniform_values = [self.has_uniform_values(role, part) for _, part in parts]
        is_uniform = all(uniform_values)
        first = parts[0][1]
        rule = first.policy.rule
        # A voter needs all values, since it abstains where they are equal.
        of_one = draws_from_means(first) and not (votes or is_uniform)
        code = rule.code
        if is_uniform:
            code = RULE_UNIFORM
        elif of_one:
            code = RULE_GIBBS_OF_MEANS
        parameter = rule.parameters[0][1] if rule.parameters else 0.0
        # The weights of a uniform term are not computed: they read no keys in simulation.
        weight_role = loop.TREE if is_uniform else role
        for (leaf_weight, part), uniform in zip(parts, uniform_values, strict=True):
            values = self.values(role, part, uniform, of_one)
            self.leaves.append(loop.Leaf(*self.factors(weight_role, leaf_weight), *values))
        new = loop.NOWHERE if is_uniform else self.where_new(role, [part for _, part in parts])
        # a little below e^(-1/τ), however that is rounded
        least = (1.0 - TOLERANCE) * math.exp(-1.0 / parameter) if of_one else 0.0
        return loop.Term(
            *self.factors(role, weight), first_leaf, len(parts), code, parameter, new, least
        )

    def where_new(self, role: int, parts: list[Enhancement]) -> int:
        """The table whose filter tells where nobody has decided, so that all values of a term are +∞; NOWHERE if none does."""
        if all(
            self.is_unvisited_by_definition(role, part) or self.is_of_tree(role, part)
            for part in parts
        ):
            return 0
        return self.table_of[parts[0]] if all(map(asks_positions, parts)) else loop.NOWHERE

    def is_unvisited_by_definition(self, role: int, part: Enhancement) -> bool:
        """Whether an arg max is over the baseline's values in simulation: children beyond the tree have no visits, so all are +∞."""
        return (
            role == loop.IN_SIMULATION
            and self.table_of[part] == 0
            and asks_like(part, BASELINE, AMAF)
        )

    def has_uniform_values(self, role: int, part: Enhancement) -> bool:
        """Whether the values of an arg max in the simulation phase are +∞ for every action, whatever was learned.

        They are for the baseline by definition, and for what is declared so. Where nothing is hidden, they are also for records of the
        tree's histories and their children: all histories below a new one are new. Where something is hidden, an unseen move would
        leave a history as it is, and hidden facts may say who moves next, so that one history has records of several players.
        """
        if self.is_unvisited_by_definition(role, part):
            return True
        if self.scheme.observer == ROOT_PLAYER:
            return False
        nothing_hidden = self.game.determinize is None or self.scheme.root != FRESH
        new_below_new = nothing_hidden and self.game.perspectives == 1
        return (new_below_new and self.is_of_tree(role, part)) or is_declared_uniform(role, part)

    def simulates_uniformly(self, role: int, vote: "Vote") -> bool:
        """Whether every term of every voter is the baseline, in simulation."""
        for member in vote.members:
            for _, parts in terms_of(member, role):
                if isinstance(parts, Vote):
                    uniform = self.simulates_uniformly(role, parts)
                else:
                    uniform = all(self.is_unvisited_by_definition(role, part) for _, part in parts)
                if not uniform:
                    return False
        return True

    def is_of_tree(self, role: int, part: Enhancement) -> bool:
        """Whether an arg max in simulation has records only of the tree's histories and their children; elsewhere its values are equal."""
        near_tree = not part.capture.writes_simulation and not part.initial.is_given
        return role == loop.IN_SIMULATION and near_tree and asks_like(part, BASELINE, AMAF)

    def takes_rows(self, role: int, part: Enhancement) -> bool:
        """Whether a policy reads just the records that the loop looks up to tell the phase: the baseline's, in the tree."""
        return (
            role == loop.TREE
            and self.table_of[part] == 0
            and part.policy.source == BASELINE.policy.source
        )

    def values(
        self, role: int, part: Enhancement, uniform: bool, of_one: bool
    ) -> tuple[int, int, int, bool, bool]:
        """The fields of a leaf behind its weights: kernel, component, parameters, uniform, by_row.

        Args:
            of_one: whether the kernel is asked about one action at a time.
        """
        if uniform:
            return (0, 0, 0, True, False)
        policy = part.policy
        source = policy.source
        slots = list(filter(None, (source, part.initial.function)))
        names = {name for slot in slots for name in attributes_read(slot.function)}
        self.read |= names
        if role == loop.IN_SIMULATION and not is_declared_uniform(role, part):
            self.read_in_simulation |= names
        parameters = policy.rule_parameters()
        row = part.information.row(self.game.players)
        by_row = self.takes_rows(role, part)
        if isinstance(source, Values):
            kernel = values_kernel(source, row)
        else:
            rule = rule_values(policy, part.information)
            kinds = (float,) * len(parameters)
            kernel = (
                rows_kernel(rule, kinds, row, f"the rule {policy.rule.name} over the tree")
                if by_row
                else candidates_kernel(source, part.initial.function, rule, kinds, row, of_one)
            )
        parameters += tuple(value for slot in slots for value in slot.values(self.game))
        address, place = self.address(kernel), self.parameters(parameters)
        return (address, self.table_of[part], place, False, by_row)

    # ------------------------------------------------------------------------------------------------- weights, addresses

    def factors(self, role: int, weight: Weight) -> tuple[int, int]:
        """The index of the first of a weight's factors, which are appended to `self.weights`, and their number."""
        first = len(self.weights)
        if weight.constant != 1.0:
            self.weights.append(loop.WeightFactor(weight.constant, 0, 0, 0))
        for function, complement in weight.functions:
            if role == loop.IN_SIMULATION:
                self.read_in_simulation.add("keys")
            kernel = self.address(weight_kernel(function, self.game.players))
            self.weights.append(
                loop.WeightFactor(1.0, kernel, self.parameters(function.values()), complement)
            )
        return first, len(self.weights) - first

    def address(self, kernel: CompiledFunction) -> int:
        self.kept_alive.append(kernel)
        return kernel.address

    def parameters(self, values: tuple[float, ...]) -> int:
        """The address of parameters laid out in 8 bytes each, integers as integers."""
        block = pack_parameters(values)
        self.kept_alive.append(block)
        return int(block.ctypes.data)


# ------------------------------------------------------------------------------ a composition taken apart for one of its roles


@attrs.frozen
class Vote:
    """A majority vote, as a term of a mixture."""

    members: tuple[Enhancement, ...]

    def __str__(self) -> str:
        return " & ".join(map(str, self.members))


def terms_of(
    strategy: Enhancement, role: int
) -> Iterator[tuple[Weight, Vote | list[tuple[Weight, Enhancement]]]]:
    """The terms of a mixture: nested linear mixtures flattened, left to right."""
    for weight, part in _flattened(strategy, role, "+"):
        if isinstance(part, Composition) and part.operator == "&":
            yield weight, Vote(tuple(member for _, member in part.terms))
        else:
            yield weight, list(_flattened(part, role, "^"))


def _active(strategy: Enhancement, role: int) -> Enhancement:
    """The operand of a sequence that is active in a phase (COMB▷-4)."""
    while isinstance(strategy, Composition) and strategy.operator == ">>":
        strategy = strategy.terms[0 if role == loop.TREE else -1][1]
    return strategy


def _flattened(
    strategy: Enhancement, role: int, operator: str
) -> Iterator[tuple[Weight, Enhancement]]:
    """The parts of nested compositions by one operator, left to right."""
    strategy = _active(strategy, role)
    if isinstance(strategy, Composition) and strategy.operator == operator:
        for weight, part in strategy.terms:
            for inner, leaf in _flattened(part, role, operator):
                yield weight.times(inner), leaf
    else:
        yield Weight(), strategy


def asks_like(part: Enhancement, *others: Enhancement) -> bool:
    """Whether a policy is an arg max of UCB1's values, +∞ without visits, of the records that one of the others asks about."""
    rule = part.policy.rule
    sources = [each.policy.source for each in others]
    return rule.code == RULE_ARGMAX and rule.bandit and part.policy.source in sources


def asks_positions(part: Enhancement) -> bool:
    """Whether a policy is an arg max of UCB1's values of records that exist only after a decision at this position-in-episode."""
    return (
        asks_like(part, EPIC)
        and part.capture.function is EPIC.capture.function
        and not part.initial.is_given
    )


def is_declared_uniform(role: int, part: Enhancement) -> bool:
    """Whether a policy is an arg max of values that their author has declared to be +∞ in simulation."""
    source = part.policy.source
    declared = isinstance(source, Values) and source.uniform_in_simulation
    return role == loop.IN_SIMULATION and declared and part.policy.rule.code == RULE_ARGMAX


def draws_from_means(part: Enhancement) -> bool:
    """Whether a policy draws by Gibbs from mean rewards of single actions, none above 1, as initial information could be."""
    return (
        part.policy.rule.code == RULE_GIBBS
        and isinstance(part.policy.source, Candidates)
        and part.policy.source.independent
        and part.backpropagation.bounded_mean
        and not part.initial.is_given
    )


# ------------------------------------------- what slots read, found by the names in their code, and what no slot may read


def tables_among(names: Set[str]) -> int:
    """The tables of a history whose names are among these, as bits."""
    return sum(table for table, name in zip(TABLES, NAMES, strict=True) if name in names)


def widths_of(game: AnyGame, tables: int) -> dict[str, int]:
    """How many numbers a row of each table has, by the table's name; 0 for a table that no slot reads."""
    widths = (*map(game.width, KINDS), game.players)  # in the order of `TABLES`
    return {
        name: width if tables & table else 0
        for table, name, width in zip(TABLES, NAMES, widths, strict=True)
    }


def kinds_of(tables: int, cut: bool = False) -> list[str]:
    """The functions of a game that tell these tables, by name.

    Args:
        cut: whether the heuristic is also needed for playouts that are cut off.
    """
    kinds = {kind for table, kind in NEEDED.items() if tables & table}
    if cut:
        kinds.add("heuristic")
    return sorted(kinds)


def check_features(state: State, tables: int) -> None:
    """Ask a game once, in plain Python, for what these tables hold: compiled code would not notice that it gives too many numbers.

    Raises:
        ValueError: its answers make no sense.
    """
    if tables & FEATURES:
        state.features()
    if tables & ACTION_FEATURES:
        state.action_features(state.legal_actions()[0])
    if tables & LOOKAHEAD:
        state.heuristic()


def refuse_hidden(components: Sequence[Enhancement], game: AnyGame) -> None:
    """Refuse enhancements that prove what players are sure to get, in a game in which something is hidden.

    Raises:
        ValueError: there is one, and the game has secrets, or choices made at once.
    """
    hidden = any(part is not None for part in (game.determinize, game.observe, game.simultaneous))
    for component in components:
        if component.capture.proves and hidden:
            raise ValueError(
                f"{component} proves bounds of rewards, which needs a game of perfect information; {game} is not one"
            )


def refuse_unknown(game: AnyGame, strategy: Enhancement) -> None:
    """Refuse a strategy that reads features or values which a game does not have.

    Raises:
        ValueError: it does, or its function is asked about single actions, whose places in a table it cannot know.
    """
    for part in strategy.components:
        for slot in _slots_with_history(part):
            _refuse_slot(game, slot, f"{slot.label()} of {part.name}")
        for name in part.backpropagation.features:
            column_of(game, name)


def reads_heuristic(strategy: object, scheme: Scheme) -> bool:
    """Whether a search reads the game's heuristic: for playouts that are cut off, or in a slot; another algorithm does not."""
    if scheme.cutoff is not None:
        return True
    parts = strategy.components if isinstance(strategy, Enhancement) else ()
    slots = (slot for part in parts for slot in _slots_with_history(part))
    return any(_tables_of(slot) & LOOKAHEAD for slot in slots)


def _slots_with_history(part: Enhancement) -> Iterator[Slot]:
    """The slots whose functions are given a history."""
    return filter(None, (part.policy.source, part.capture, part.initial.function))


def _tables_of(slot: Slot) -> int:
    """The tables of a history that a slot reads."""
    return tables_among(attributes_read(slot.function))


def _refuse_slot(game: AnyGame, slot: Slot, label: str) -> None:
    tables = _tables_of(slot)
    for table, needed in NEEDED.items():
        if tables & table and getattr(game, needed) is None:
            name = NAMES[TABLES.index(table)]
            raise ValueError(
                f"{label} reads history.{name}, but {game} has no {needed}; give Game({needed}=…)"
            )
    for name in slot.features:
        column_of(game, name)
    if isinstance(slot, Candidates) and slot.independent and tables & _OF_ACTIONS:
        raise ValueError(
            f"{label} is declared independent, but reads features of all legal actions; remove independent=True"
        )


def unseeded_sources(game: AnyGame) -> dict[str, str]:
    """The generator that each function of a game draws from though no seed fixes it, by the function's name; "" for none."""
    functions = {name: getattr(game, name) for name in (*FUNCTIONS, *KINDS)}
    return {
        name: unseeded_source(python_of(function))
        for name, function in functions.items()
        if function is not None
    }


@kernel_cache
def refuse_unseeded(drawing: Slot | Game) -> None:
    """Refuse a slot, or a compiled game, of which a function draws from a generator that the seed of a search does not fix.

    Raises:
        ValueError: it does; the sentence says where from, and what to draw from instead.
    """
    if isinstance(drawing, Slot):
        sources = {drawing.label(): unseeded_source(drawing.function)}
    else:
        sources = {
            f"{name} of {drawing.name}{defined_at(getattr(drawing, name))}": source
            for name, source in unseeded_sources(drawing).items()
        }
    for label, source in sources.items():
        if source:
            raise ValueError(
                f"{label} draws from {source}, which no seed fixes; draw from the generator that it is given, uniform(rng) or "
                "below(rng, n) of icarus.kernel with history.rng or the rng of initial and determinize"
            )
