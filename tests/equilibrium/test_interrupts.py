"""Ctrl-C during iterations: it ends them at once, and what was made until then is what as many iterations make."""

import os
import signal
import threading
import time

import numpy as np
import pytest

from icarus import SearchInterrupted, games
from icarus.equilibrium import CFR, CFRPlus, OOSSearch

NEVER = 10**12  # iterations that nobody waits for
SOON = 5.0  # seconds, on a machine with other work

BEGUN = {"CFR": lambda game: CFR(game), "CFR+": lambda game: CFRPlus(game), "OOS": lambda game: OOSSearch(game, seed=3)}


def pressed_after(seconds):
    """Ctrl-C in a while, from another thread."""
    timer = threading.Timer(seconds, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    return timer


@pytest.mark.parametrize("name", BEGUN)
def test_ctrl_c_ends_a_loop_and_loses_no_iteration(name):
    game = games.load("leduc-poker")
    solver, same = BEGUN[name](game), BEGUN[name](game)
    run = getattr(solver, "run" if name in ("CFR", "CFR+") else "make")
    run(1)  # compiled before Ctrl-C comes
    started, timer = time.perf_counter(), pressed_after(0.1)
    with pytest.raises(KeyboardInterrupt):
        run(NEVER)
    assert time.perf_counter() - started < 0.1 + SOON
    timer.join()
    assert 1 < solver.iterations < NEVER
    again = getattr(same, run.__name__)
    again(1)
    again(solver.iterations - 1)
    assert (solver.sums == same.sums).all() and np.isfinite(solver.sums).all()
    run(10)  # and it goes on
    assert solver.iterations == same.iterations + 10


def test_an_interrupted_search_carries_what_it_found():
    state = games.load("leduc-poker").new_initial_state(seed=1)
    search = OOSSearch(state.game)
    search.run(state, iterations=1)
    timer = pressed_after(0.3)
    with pytest.raises(SearchInterrupted) as caught:
        search.run(state, iterations=NEVER)
    timer.join()
    result = caught.value.result
    assert result.iterations == search.iterations - 1 > 0 and result.policy.sum() == pytest.approx(1)
