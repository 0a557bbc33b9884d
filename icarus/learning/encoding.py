"""What a state becomes for learning: the facts of its data as fields, by their types, their ranges and the numbers met in games."""

import functools
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from icarus.compiler import offset_of, seeded
from icarus.kernel import CHANCE, AnyGame, Evaluation, Game, random_action
from icarus.kernel.evaluation import (
    ACTIONS,
    BITS,
    COUNT,
    FIELD,
    INTERVALS,
    LENGTH,
    REAL,
    VALUES,
    LearnedNetwork,
    facts_in,
    numbers_in,
    rules_of,
)
from icarus.learning.selfplay import LONGEST_GAME

SAMPLED = 60  # random games whose states say which facts vary
REDRAWN = 1 / 4  # of their states
DEALS = 0  # the stream of their random numbers
MOST_VALUES = 64  # of a fact that has an input for each
MOST_INTERVALS = 16
MOST_LEGAL = 32  # legal actions that are told apart by number
MOST_ACTIONS = 512  # that are told apart by themselves
MOST_INPUTS = 4096
COIN = 3.0  # six standard deviations of the share of heads in one toss


def empty_evaluation(game: AnyGame, seed: int) -> Evaluation:
    """An evaluation without weights: random games show which facts vary, and so which inputs there are.

    Each input has a row of its own for each player to move, and for CHANCE.

    Raises:
        ValueError: a game does not end, or nothing varies.
    """
    states = list[Any]()
    sums = set[float]()  # of the rewards of a game
    for number in range(SAMPLED):
        state = game.new_initial_state((seed, DEALS, number))
        luck = random.Random(seed * SAMPLED + number)
        while not state.is_terminal():
            if len(state.history) >= LONGEST_GAME:
                raise ValueError(
                    f"a random game of {game} did not end within {LONGEST_GAME} actions: nothing can be learned"
                )
            states.append(game.ask("copy", state.data))
            player = state.current_player()
            if player != CHANCE and game.determinize is not None and luck.random() < REDRAWN:
                generator = seeded(luck.randrange(1 << 60))
                states.append(state.redraw(player, state.beliefs(player), generator))
            state.apply_action(random_action(state, luck))
        sums.add(round(sum(state.returns()), 6))
    names = names_of(game, states)
    fields, limits = fields_of(game, facts_in(game, states, names), names)
    rows = np.arange((game.players + 1) * fields["size"].sum(), dtype=np.int32)
    outputs = 1 if game.players == 2 and sums == {1.0} else game.players
    zeros = functools.partial(np.zeros, dtype=np.float32)
    network = LearnedNetwork(
        fields,
        limits,
        rows,
        hidden=zeros((len(rows), 1)),
        bias=zeros(1),
        output=zeros((1, outputs)),
        base=zeros(outputs),
    )
    return Evaluation(network, game.players, str(game), rules_of(game, features=True), names)


def names_of(game: AnyGame, states: Sequence[Any]) -> tuple[str, ...]:
    """The names of the facts of a `PythonGame`: its features, or those of `numbers_in` in states of its first games.

    In a list whose length varies equal items are counted; in another list each item is told by its place.
    """
    if isinstance(game, Game):
        return ()
    if game.features is not None:
        return game.feature_names
    values = defaultdict[str, set[float]](set)
    for state in states:
        for name, number in numbers_in(state).items():
            values[name].add(number)
    # `.hand[0]` is an item by its place, `.hand#7` the number of items that are 7: of each list one of the two is left out
    left_out = tuple(
        name.removeprefix(LENGTH) + ("[" if len(lengths) > 1 else "#")
        for name, lengths in values.items()
        if name.startswith(LENGTH)
    )
    return tuple(name for name in values if not name.startswith(left_out))


def fields_of(
    game: AnyGame, facts: np.ndarray, names: Sequence[str]
) -> tuple[np.ndarray, np.ndarray]:
    """The fields of a game's states, [fields] FIELD, and the limits of their intervals.

    Args:
        facts: [states, bytes] of the first games; what never varies there is left out.
        names: of the facts of a `PythonGame`.

    Raises:
        ValueError: nothing varies, or too much does.
    """
    fields = list[tuple[int, ...]]()
    limits = list[float]()
    inputs = 0

    def add(kind: int, place: int, width: int, low: int, size: int) -> None:
        nonlocal inputs
        # with one hidden unit, until there are weights
        fields.append((kind, place, width, low, size, inputs, 1))
        inputs += size

    for place, width, limits_of_fact, numbers in _facts_of(game, facts, names):
        # Python's own numbers: the difference of two small integers of NumPy wraps
        low, high = numbers.min().item(), numbers.max().item()
        if low == high or is_luck(numbers):
            continue
        is_whole = width != REAL or not (numbers % 1).any()
        least, most = limits_of_fact or (low, high)
        if width != REAL:
            least, most = int(least), int(most)  # a range may be given in real numbers
        has_few = is_whole and most - least < MOST_VALUES
        # a set by its range: an integer that is said to be from 0 to 2^n - 1
        is_named_mask = (
            width != REAL and limits_of_fact is not None and least == 0 and most & (most + 1) == 0
        )
        # A number of 8 bytes without a sign is a set, too, unless it is said to have few values.
        if has_few and (width != 8 or limits_of_fact is not None):
            add(VALUES, place, width, low=int(least), size=int(most - least) + 1)
        elif width == 8 or is_named_mask:
            bits = int(np.bitwise_or.reduce(numbers)).bit_length()
            add(BITS, place, width, low=0, size=bits)
        else:
            between = _limits_between(numbers.astype(float))
            # `low` is where they begin in `limits`
            add(INTERVALS, place, width, low=len(limits), size=len(between) + 1)
            limits += between.tolist()
    if not fields:
        raise ValueError(
            f"no fact of {game} varies in its first games: there is nothing to learn from"
        )
    add(COUNT, 0, 0, low=0, size=MOST_LEGAL + 1)
    if game.actions is not None and game.actions <= MOST_ACTIONS:
        add(ACTIONS, 0, 0, low=0, size=game.actions)
    if inputs > MOST_INPUTS:
        raise ValueError(
            f"the states of {game} make {inputs} inputs, of {MOST_INPUTS} at most; give it features that say what matters"
        )
    return np.array(fields, FIELD), np.array([*limits, 0.0])


def _limits_between(numbers: np.ndarray) -> np.ndarray:
    """The limits between intervals that hold about equally many numbers."""
    shares = np.linspace(0, 1, MOST_INTERVALS + 1)[1:-1]
    limits, counts = np.unique(np.quantile(numbers, shares), return_counts=True)
    # A number so frequent that it is several limits is kept apart from the rare ones below it, by one more limit.
    lower = [numbers[numbers < limit] for limit in limits[counts > 1]]
    return np.union1d(limits, [each.max() for each in lower if each.size])


def is_luck(words: np.ndarray) -> bool:
    """Whether words look like those of a generator of random numbers, which tell nothing: every bit is 1 in about half of them."""
    if words.dtype != np.uint64:
        return False
    different = np.unique(words)
    if len(different) <= MOST_VALUES:
        return False
    bits = np.unpackbits(different.view(np.uint8).reshape(-1, words.itemsize), axis=1)
    return bool((abs(bits.mean(axis=0) - 0.5) < COIN / np.sqrt(len(different))).all())


def _facts_of(
    game: AnyGame, facts: np.ndarray, names: Sequence[str]
) -> Iterator[tuple[int, int, tuple[int, int] | None, np.ndarray]]:
    """Each fact: its place and width (see FIELD), the least and the greatest value that it is given, and the numbers that were met."""
    if names:
        for i, column in enumerate(facts.view(float).T):
            yield i * column.itemsize, REAL, None, column
        return
    assert isinstance(game, Game)
    data = np.ascontiguousarray(facts).view(game.state)[:, 0]
    for name in game.state.names or ():
        kind = game.state[name].base
        offset = offset_of(game.state, name)
        columns = data[name].reshape(len(data), -1).T
        width = kind.itemsize
        if kind == np.bool_:
            columns = columns.astype(np.uint8)
        elif kind == np.float64:
            width = REAL
        elif kind.kind == "i":
            width = -kind.itemsize
        elif kind.kind != "u":
            raise ValueError(
                f"field {name!r} in the states of {game} is {kind}, of which nothing can be learned; use an integer, np.float64 or np.bool_"
            )
        for i, column in enumerate(columns):
            yield offset + i * kind.itemsize, width, game.ranges.get(name), column
