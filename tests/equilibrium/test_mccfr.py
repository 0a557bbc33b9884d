"""Monte Carlo CFR: unbiased regrets, convergence, seeds, refusals."""

import numpy as np
import pytest

from icarus import games
from icarus.equilibrium.solvers.cfr import CFR
from icarus.equilibrium.solvers.mccfr import EXTERNAL, MCCFR, OUTCOME
from icarus.equilibrium.tree.tree import tree_of

each_sampling = pytest.mark.parametrize("sampling", [EXTERNAL, OUTCOME])
by_seed = pytest.mark.parametrize("seed", range(3))


@each_sampling
@pytest.mark.parametrize("name", ["kuhn-poker", "leduc-poker", "goofspiel(cards=3)"])
def test_the_first_sampled_regrets_are_on_average_those_of_cfr(name, sampling):
    tree = tree_of(games.load(name))
    exact = CFR(tree)
    exact.run(1)
    first = np.repeat(tree.sets["player"] == 0, tree.sets["count"])  # who is updated first, against uniform play
    trials = 4_000
    drawn = np.zeros((trials, int(first.sum())))
    for seed in range(trials):
        sampled = MCCFR(tree, sampling, seed=seed)
        sampled.run(1)
        drawn[seed] = sampled.regrets[first]
    often = (drawn != 0).sum(0) > 500  # of what is met more rarely the spread is not known
    deviations = (drawn.mean(0) - exact.regrets[first])[often] / (drawn.std(0)[often] / np.sqrt(trials))
    assert often.sum() >= 6 and np.abs(deviations).max() < 5


NEAR = {  # NashConv after so many iterations, by sampling
    ("kuhn-poker", EXTERNAL): (100_000, 0.01),
    ("kuhn-poker", OUTCOME): (300_000, 0.015),
    ("leduc-poker", EXTERNAL): (50_000, 0.2),
    ("leduc-poker", OUTCOME): (1_000_000, 0.35),
    ("goofspiel(cards=3)", OUTCOME): (100_000, 0.05),
}


@by_seed
@pytest.mark.parametrize(("name", "sampling"), NEAR)
def test_the_average_policy_comes_near_an_equilibrium(name, sampling, seed):
    iterations, near = NEAR[name, sampling]
    solver = MCCFR(games.load(name), sampling, seed=seed)
    solver.run(iterations)
    assert solver.exploitability().nash_conv < near


@each_sampling
def test_the_seed_fixes_everything_and_going_on_is_going_through(sampling):
    game = games.load("leduc-poker")
    first, same, second = (MCCFR(game, sampling, seed=seed) for seed in (7, 7, 8))
    first.run(500)
    for part in (1, 99, 400):
        same.run(part)
    second.run(500)
    assert (first.regrets == same.regrets).all() and (first.sums == same.sums).all()
    assert (first.regrets != second.regrets).any()
    assert repr(first) == f"<MCCFR by {sampling} sampling in leduc-poker after 500 iterations>"


def test_what_cannot_be_sampled_is_refused():
    game = games.load("kuhn-poker")
    with pytest.raises(ValueError, match="sampling is 'average'; it must be 'external' or 'outcome'"):
        MCCFR(game, "average")
    for exploration in (0, -0.1, 1.1, True):
        with pytest.raises(ValueError, match="exploration is"):
            MCCFR(game, OUTCOME, exploration=exploration)
    with pytest.raises(ValueError, match="iterations is 0"):
        MCCFR(game).run(0)
