"""A game of one's own: Nim. Take any number from one heap; who takes the last one wins.

I  III  IIIII   player 0 to move        heaps of 1, 3 and 5
"""

import numpy as np

from icarus import BASELINE, MAST, Game, search
from icarus.kernel import TERMINAL

HEAPS, LARGEST = 3, 5

STATE = np.dtype(
    [
        ("heaps", np.int8, (HEAPS,)),  # what is left of each
        ("player", np.int8),  # about to move
    ],
    align=True,
)


def initial(state, rng):
    for heap in range(HEAPS):
        state.heaps[heap] = 2 * heap + 1


def player(state):
    left = 0
    for heap in range(HEAPS):
        left += state.heaps[heap]
    return TERMINAL if left == 0 else state.player


def legal(state, actions):
    count = 0
    for heap in range(HEAPS):
        for taken in range(1, state.heaps[heap] + 1):
            actions[count] = heap * (LARGEST + 1) + taken
            count += 1
    return count


def apply(state, action):
    state.heaps[action // (LARGEST + 1)] -= action % (LARGEST + 1)
    state.player = 1 - state.player


def rewards(state, out):
    out[state.player], out[1 - state.player] = 0.0, 1.0


def text(state):
    return "  ".join("I" * int(heap) or "-" for heap in state.heaps) + f"   player {state.player} to move"


def action_text(state, action):
    return f"{action % (LARGEST + 1)} from heap {action // (LARGEST + 1) + 1}"


NIM = Game(
    name="nim",
    players=2,
    state=STATE,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    rewards=rewards,
    max_legal=HEAPS * LARGEST,
    text=text,
    action_text=action_text,
)

if __name__ == "__main__":
    print(search(NIM.new_initial_state(), BASELINE >> MAST, iterations=5000, seed=1))
