"""Phantom (4,4,4) as Cowling, Powley and Whitehouse (2012) put it: "each player action is followed by an environment action specifying
whether the move is valid or invalid". In icarus' own `phantom-mnk` the result of a try is seen without one.

    icarus check phantom-environment --with examples/phantom_environment.py
    python -m experiments run examples/phantom_environment.py --out results/phantom-environment

The game is the same, and everybody knows as much; but a tree has two levels for each try, so that as many iterations see half as far.

What is asked, before a game was played: are SO-ISMCTS and MO-ISMCTS on a par as player 1 then, as the paper finds them, and does
SO-ISMCTS + POM outperform SO-ISMCTS as player 2? In `phantom-mnk` (`searches-phantom`) the first is 17 % below, and the second 13 %.
"""

import attrs
import numpy as np

from icarus.games.phantom import NOWHERE, phantom
from icarus.kernel import CHANCE, CONTINUES, UNSEEN, Facts, helper, inlined

VALID, INVALID = 20, 21  # the environment's actions; squares are below them

_usual = phantom()
STATE = np.dtype([*((name, _usual.state[name]) for name in _usual.state.names or ()), ("tried", np.int8)], align=True)
begin, place, whose_turn, squares = map(helper, (_usual.initial, _usual.apply, _usual.player, _usual.legal))
redraw, look_ahead, failed_tries = map(helper, (_usual.determinize, _usual.prepare, _usual.recall))


def initial(state: Facts, rng: np.ndarray, columns: int, rows: int, in_a_row: int) -> None:
    begin(state, rng, columns, rows, in_a_row)
    state.tried = NOWHERE


@inlined
def _waits(state: Facts) -> bool:
    """Whether a try waits for the environment's answer."""
    return state.tried != NOWHERE


@inlined
def _answer(state: Facts) -> int:
    square = np.uint64(1) << np.uint64(state.tried)
    return VALID if state.marks[1 - state.player] & square == np.uint64(0) else INVALID


def player(state: Facts) -> int:
    return CHANCE if _waits(state) else whose_turn(state)


def legal(state: Facts, actions: np.ndarray) -> int:
    if not _waits(state):
        return squares(state, actions)
    actions[0] = _answer(state)
    return 1


def apply(state: Facts, action: int) -> None:
    if _waits(state):
        square = state.tried
        state.tried = NOWHERE
        place(state, square)
    else:
        state.tried = action


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    """Of the other's tries nothing is seen; of the environment's answers to them, that a mark was made."""
    if not _waits(state) or action == INVALID:
        moves[1 - state.player] = UNSEEN


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    if not _waits(state):
        redraw(state, observer, beliefs, rng)


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    if not _waits(state):
        look_ahead(state, observer, beliefs)


def episode(state: Facts) -> int:
    return CONTINUES if _waits(state) or state.failed > 0 else state.player


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """The failed tries of this turn and their answers, which the other player does not notice."""
    number = failed_tries(state, observer, moves)
    for i in range(number - 1, -1, -1):
        moves[2 * i], moves[2 * i + 1] = moves[i], INVALID
    if not _waits(state) or observer == 1 - state.player:
        return 2 * number
    moves[2 * number] = state.tried
    return 2 * number + 1


def text(state: Facts) -> str:
    waits = f", who has tried {_usual.action_text(state, state.tried)}" if _waits(state) else ""
    return _usual.text(state) + waits


def action_text(state: Facts, action: int) -> str:
    return {VALID: "valid", INVALID: "invalid"}.get(action) or _usual.action_text(state, action)


PHANTOM = attrs.evolve(
    _usual,
    name="phantom-environment",
    state=STATE,
    ranges={**_usual.ranges, "tried": (NOWHERE, VALID - 1)},
    actions=INVALID + 1,
    initial=initial,
    player=player,
    legal=legal,
    apply=apply,
    observe=observe,
    prepare=prepare,
    determinize=determinize,
    episode=episode,
    recall=recall,
    retrace=None,
    text=text,
    action_text=action_text,
)

_SEARCHES = {
    "Cheating UCT": "CheatingUCT",
    "Cheating ensemble UCT": "CheatingEnsembleUCT(40)",
    "Determinized UCT": "DeterminizedUCT(40)",
    "SO-ISMCTS": "SO_ISMCTS",
    "SO-ISMCTS + POM": "SO_ISMCTS_POM",
    "MO-ISMCTS": "MO_ISMCTS",
}
_AGENTS = {name: {"scheme": scheme} for name, scheme in _SEARCHES.items()}

EXPERIMENT = {
    "games": "phantom-environment",
    "roles": "First",
    "iterations": 10_000,
    "trials": 60,
    "agents": _AGENTS,
    "opponent": list(_AGENTS.values()),
    "pictures": ["heat-map", "strength"],
}
