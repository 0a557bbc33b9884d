"""The functions of a game as entries: what the playout loop calls by address."""

import functools
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from icarus.compiler.entries import Entry
from icarus.compiler.functions import helper
from icarus.compiler.pointers import array_at, struct_at, unpack_parameters
from icarus.compiler.rng import RNG_WORDS

_INT, _WORD, _REAL = np.dtype(np.int64), np.dtype(np.uint64), np.dtype(np.float64)


@attrs.frozen
class Entries:
    """The compiled functions of a game. All take addresses and integers; absent ones are None."""

    initial: Entry
    player: Entry
    legal: Entry
    apply: Entry
    rewards: Entry
    observe: Entry | None
    chance: Entry | None
    determinize: Entry | None
    prepare: Entry | None
    episode: Entry | None
    recall: Entry | None
    simultaneous: Entry | None
    deal: Entry | None
    seen: Entry | None

    def address(self, name: str) -> int:
        """The address of a function for compiled code; 0 where it is absent."""
        entry = getattr(self, name)
        return 0 if entry is None else entry.address


@functools.cache
def entries_of(
    state_type: np.dtype,
    beliefs_type: np.dtype,
    max_legal: int,
    parameters: int,
    initial: Callable,
    player: Callable,
    legal: Callable,
    apply: Callable,
    rewards: Callable,
    *optional: Callable,
) -> Entries:
    """The entries of these functions of a game; compiled or loaded on first use, kept for all games that share them."""
    observe, chance, determinize, prepare, episode, recall, simultaneous, deal, seen = (
        _dispatcher(function) for function in optional
    )
    initial, player, legal, apply, rewards = (_dispatcher(f) for f in (initial, player, legal, apply, rewards))
    unpack = unpack_parameters((int,) * parameters)

    def initial_entry(state: int, rng: int, values: int) -> int:
        initial(struct_at(state, state_type), array_at(rng, RNG_WORDS, _WORD), *unpack(values))
        return 0

    def player_entry(state: int) -> int:
        return player(struct_at(state, state_type))

    def legal_entry(state: int, actions: int) -> int:
        return legal(struct_at(state, state_type), array_at(actions, max_legal, _INT))

    def apply_entry(state: int, action: int) -> int:
        apply(struct_at(state, state_type), action)
        return 0

    def rewards_entry(state: int, out: int, players: int) -> int:
        rewards(struct_at(state, state_type), array_at(out, players, _REAL))
        return 0

    def observe_entry(state: int, action: int, moves: int, players: int) -> int:
        observe(struct_at(state, state_type), action, array_at(moves, players, _INT))
        return 0

    def chance_entry(state: int, probabilities: int) -> int:
        chance(struct_at(state, state_type), array_at(probabilities, max_legal, _REAL))
        return 0

    def determinize_entry(state: int, observer: int, beliefs: int, rng: int) -> int:
        determinize(
            struct_at(state, state_type), observer, struct_at(beliefs, beliefs_type), array_at(rng, RNG_WORDS, _WORD)
        )
        return 0

    def prepare_entry(state: int, observer: int, beliefs: int) -> int:
        prepare(struct_at(state, state_type), observer, struct_at(beliefs, beliefs_type))
        return 0

    def episode_entry(state: int) -> int:
        return episode(struct_at(state, state_type))

    def recall_entry(state: int, viewer: int, moves: int, room: int) -> int:
        return recall(struct_at(state, state_type), viewer, array_at(moves, room, _INT))

    def simultaneous_entry(state: int) -> int:
        return simultaneous(struct_at(state, state_type))

    def deal_entry(state: int, index: int, probability: int, values: int) -> int:
        array_at(probability, 1, _REAL)[0] = deal(struct_at(state, state_type), index, *unpack(values))
        return 0

    def seen_entry(state: int, viewer: int) -> int:
        return seen(struct_at(state, state_type), viewer)

    def entry(function: Callable | None, trampoline: Callable, arity: int) -> Any:
        if function is None:
            return None
        original = getattr(function, "py_func", function)
        return Entry(trampoline, arity, f"{original.__module__}.{original.__qualname__}")

    return Entries(
        initial=entry(initial, initial_entry, 3),
        player=entry(player, player_entry, 1),
        legal=entry(legal, legal_entry, 2),
        apply=entry(apply, apply_entry, 2),
        rewards=entry(rewards, rewards_entry, 3),
        observe=entry(observe, observe_entry, 4),
        chance=entry(chance, chance_entry, 2),
        determinize=entry(determinize, determinize_entry, 4),
        prepare=entry(prepare, prepare_entry, 3),
        episode=entry(episode, episode_entry, 1),
        recall=entry(recall, recall_entry, 4),
        simultaneous=entry(simultaneous, simultaneous_entry, 1),
        deal=entry(deal, deal_entry, 4),
        seen=entry(seen, seen_entry, 2),
    )


def _dispatcher(function: Callable | None) -> Any:
    return function if function is None or hasattr(function, "py_func") else helper(function)
