"""Slips of a user of `icarus.equilibrium`, each made on purpose: a sentence, not another number, a hang or the end of the process."""

import copy
from typing import Any

import attrs
import pytest

from icarus import RAVE, Agent, exploitability, games
from icarus.equilibrium import CFR, MCCFR, NearEquilibrium, OOSSearch
from icarus.equilibrium.tree.tree import tree_of
from tests.forked import survive

KUHN, LEDUC = games.load("kuhn-poker"), games.load("leduc-poker")
AGENT = Agent(RAVE, iterations=5)
UNIFORM = 11 / 12  # NashConv of uniform choice in Kuhn poker
STAKE = 1.0  # bound anew by a test


def staked_rewards(state: Any, out: Any) -> None:
    gain = STAKE * (state.paid[1] if state.cards[0] > state.cards[1] else -state.paid[0])
    out[0], out[1] = (gain + 4) / 8, (4 - gain) / 8


def played(*actions: int) -> Any:
    state = KUHN.new_initial_state(seed=1)
    for action in actions:
        state.apply_action(action)
    return state


# ------------------------------------------------------------------------------------------------- in another process


@pytest.mark.parametrize("kind", [CFR, MCCFR, OOSSearch])
def test_a_solver_of_another_process_goes_on(kind):
    solver, same = kind(KUHN), kind(KUHN)
    solver.make(3)
    moved = copy.deepcopy(solver)
    moved._control["interrupt_flag"] = 8  # as an address of another process

    def go_on(_: int) -> None:
        moved.make(2)
        same.make(5)
        assert (moved.sums == same.sums).all()

    survive(1, go_on, 60)


# ------------------------------------------------------------------------------------------------------ a global bound anew


def test_a_tree_is_grown_anew_after_a_global_of_the_game_is_bound_anew(monkeypatch):
    game = attrs.evolve(KUHN, name="staked-kuhn", rewards=staked_rewards, utilities=(-4, 4))
    before, tree = exploitability(game, None).nash_conv, tree_of(game)
    player = Agent(NearEquilibrium(0.01), iterations=1).seated(game)
    assert tree_of(game) is tree
    monkeypatch.setitem(globals(), "STAKE", 2.0)
    assert exploitability(game, None).nash_conv == pytest.approx(2 * before)
    assert tree_of(game) is not tree
    assert Agent(NearEquilibrium(0.01), iterations=1).seated(game).policy.tree is tree_of(game)
    assert player.policy.tree is tree
