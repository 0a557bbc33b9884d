"""The contract between an enhancement, a game and the search: what each slot is given, and what it writes.

A search repeats four stages. A policy (`@candidates` or `@values`) chooses actions in selection, expansion and simulation. When the
playout has ended, a `@capture` function names the records to update. A `@backpropagation` function updates each of them. The loop
calls the functions with arguments by position, shapes in brackets below, t the actions so far.

    policy           history, theta            -> values of the legal actions
    capture          history of a playout      -> updates (record, context)
    backpropagation  row, context, rewards     -> the row, changed

Players are 0 … κ−1, CHANCE is −1. Rewards are in [0, 1].
"""

from collections.abc import Mapping, Sequence
from typing import (
    Annotated,
    Any,
    NamedTuple,
    Protocol,
    TypeAlias,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

# ----------------------------------------------------------------------- Numbers that stand for something in every game


CHANCE = -1  # ρ(s) where the environment acts (the paper's player 0)
TERMINAL = -4  # ρ(s) at the end of the game
CONTINUES = -1  # the continuation label: e(s) inside an episode
UNLABELLED = -2  # the label of an initial position that the episode function leaves unlabelled
# A move of which an observer notices nothing; times MAX_PLAYERS it is still a 64-bit integer.
UNSEEN = -(1 << 60)
MAX_PLAYERS = 8
MAX_EPISODE_MOVES = 4096  # no episode has more moves than this
NO_DEAL = -1.0  # in place of a probability: the deals are exhausted
SPARE_LEGAL = 256  # legal actions than max_legal, which are refused, and until then harm nobody


# ----------------------------------------------------------------------------------------------- structures that Python shares


Address: TypeAlias = int  # of the first byte of something in memory; 0 is nothing
Short: TypeAlias = Annotated[int, np.int32]  # an integer of 32 bits
Integer: TypeAlias = int | np.integer  # of any width
Array: TypeAlias = np.ndarray


def structure(fields: type) -> np.dtype:
    """The dtype of a class whose annotations are its fields.

    An `int` or `Address` takes 64 bits, a `float` too; `Annotated[type, dtype]` says another dtype, `Annotated[np.ndarray, dtype, count]`
    is an array, and a class is a structure within.
    """
    hints = get_type_hints(fields, include_extras=True)
    return np.dtype([(name, *_layout(kind)) for name, kind in hints.items()], align=True)


def _layout(kind: type) -> tuple[object, ...]:
    if get_origin(kind) is Annotated:
        return get_args(kind)[1:]
    return ({int: np.int64, float: np.float64}.get(kind) or structure(kind),)


# ------------------------------------------------------------------------------------------------- what a slot is given


class Fields(Protocol):
    """A value whose named fields are numbers or arrays of numbers, read and written as attributes."""

    def __getattr__(self, name: str) -> Any: ...

    def __setattr__(self, name: str, value: Any, /) -> None: ...


class Row(Fields, Protocol):
    """θ(r): the information of one record, with the fields that Θ declares, such as `reward` and `visits`.

    A field of domain REWARDS is an array [players]. Policies and captures read rows; only a backpropagation function writes to one.
    """


class Facts(Fields, Protocol):
    """The data of a state with the fields of `Game.state`, of any shapes; functions of a game read and write them."""


class Step:
    """A decision of a playout: step i is made after i actions."""

    player: int  # ρ_i: who acts here
    action: int  # a_{i+1}: what he plays
    record: int  # the record of [h_i]~ (up to the expanded history)
    episode: int  # the record of the position-in-episode of [h_i]~
    probability: float  # of a simultaneous decision, when it was made in the tree
    first: Short  # where the legal actions start in `legal`
    count: Short  # how many there are
    perspective: Short  # the column of his view in moves, keys and episodes
    phase: Short  # SELECTION, EXPANSION or SIMULATION
    choice: Short  # the number of a decision in or just after the tree among those made at once; 0 where it is none, or nobody asks


class History(NamedTuple):
    """A move history ⟨a₁, …, a_t⟩ with its steps.

    Attributes:
        steps: [t + 1], `steps[-1]` the present one: a decision still to be made, or the terminal state.
        moves: [t + 1, perspectives]: the move by which a perspective saw a_i, at row i ≥ 1; UNSEEN if he noticed nothing.
        keys: [t + 1, perspectives]: the key of [⟨a₁, …, a_i⟩]~v. In the simulation phase it is kept only
            for a policy that reads it, and for a capture that may name records there.
        episodes: [t + 1, perspectives]: the key of the position-in-episode of [⟨a₁, …, a_i⟩]~v.
        legal: the legal actions of all steps; those of step i start at steps[i].first.
        rewards: [players]: μ of a finished playout, for captures; empty as long as it goes on.
        rng: the generator of the search, for policies with randomness of their own: `uniform(history.rng)`, `below(history.rng, n)`.
        iteration: how many iterations the search has made before this one (a tree of its own, where there are several).
        budget: how many iterations the search is to make in all (a tree of its own, where there are several): as given, or, where a time is
            given, as the clock lets expect by now; UNLIMITED where neither is known yet.
        features: [t + 1, features] of the states: `features[-1]` of the present one, in which the choice is made, or in which a
            finished playout has ended.
        action_features: [len(legal), features of actions] of each legal action, before it is done; those of step i are
            `action_features_at(history, i)`. 0 at chance states.
        lookahead: [len(legal), players]: the heuristic of the state that each legal action leads to; μ where it ends the game.
        endings: [len(legal), players]: μ where a legal action ends the game; NaN elsewhere.
    """

    steps: Sequence[Step]
    moves: np.ndarray
    keys: np.ndarray
    episodes: np.ndarray
    legal: np.ndarray
    rewards: np.ndarray
    rng: np.ndarray
    iteration: int
    budget: int
    features: np.ndarray
    action_features: np.ndarray
    lookahead: np.ndarray
    endings: np.ndarray


class Theta(NamedTuple):
    """θ of one enhancement as slots read it, by `find(theta, record)`.

    Attributes:
        rows: of `Information.row`; the first one is the initial information.
        entries: [capacity] of its index, which lead to the rows.
    """

    rows: np.ndarray
    entries: np.ndarray


class Updates(NamedTuple):
    """The (record, context) pairs of one playout, in order; written by `update(updates, record, context)`.

    Attributes:
        records, contexts: [capacity] integers.
        total: [1]: how many updates were asked for.
    """

    records: Any
    contexts: Any
    total: Any


# -------------------------------------------------------------------------------------------------- state data as a whole


# Where the game is a `PythonGame`, both are what its `initial` and `prepare` made, of any type.
StateData: TypeAlias = Any  # an array [1] of `Game.state`
Beliefs: TypeAlias = Any  # an array [1] of `Game.beliefs`


def copy_data(data: np.ndarray) -> np.ndarray:
    """A copy of a state data to the last byte; numpy's own leaves the bytes between the fields undefined."""
    return data.view(np.uint8).copy().view(data.dtype)


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of an array that nobody can write to."""
    view = array.view()
    view.flags.writeable = False
    return view


def facts_of(data: np.ndarray) -> Facts:
    """A state data with its fields as attributes."""
    return data.view(np.recarray)[0]


def padded_to_words(data: np.ndarray) -> np.ndarray:
    """A copy of a state data as compiled code copies it, in whole words of 8 bytes."""
    words = np.zeros(-(-data.nbytes // 8), np.int64)
    words.view(np.uint8)[: data.nbytes] = data.view(np.uint8)
    return words


def out_of_range(ranges: Mapping[str, tuple[int, int]], data: np.ndarray) -> str | None:
    """What field of a state data is outside its range, and how; None if none is."""
    for name, (least, most) in ranges.items():
        values = data[name][0]
        if not (least <= values.min() and values.max() <= most):
            index = next(
                index for index in np.ndindex(values.shape) if not least <= values[index] <= most
            )
            which = f"{name}[{', '.join(map(str, index))}]" if index else name
            return f"{which} is {values[index]}; it must be from {least} to {most}"
    return None
