"""The 72 variants of Ludii that the Kaggle competition on Monte Carlo tree search compared, declared by the algebra."""

import itertools
from typing import Any

import pytest

from experiments.papers import tables
from experiments.plan import loading
from icarus import *
from tests import naive, naive_catalogue as twins, toy
from tests.engine.test_twin import agree, starts

VARIANTS = tables("ludii")[0]["agents"]
EXPLORATIONS = ("0.1", "0.6", "1.41421356237")
OPEN = [
    game for game in toy.ALL_TOYS if game.determinize is game.observe is game.simultaneous is None
]
OF_SELECTIONS: dict[str, Any] = {
    "UCB1": lambda c: naive.baseline(c),
    "UCB1GRAVE": lambda c: twins.grave(100, 1e-05, c),
    "ProgressiveHistory": lambda c: twins.progressive_history(3.0, c),
    "UCB1Tuned": lambda c: twins.ucb1_tuned(c),
}
OF_PLAYOUTS = {
    "Random200": naive.baseline(),
    "MAST": naive.mast(naive.epsilon_greedy(0.1)),
    "NST": twins.nst(1, naive.epsilon_greedy(0.1)),
}


def twin_of(selection: str, c: float, playout: str, bounds: bool):
    """The naive twin of a variant."""
    first = OF_SELECTIONS[selection](c)
    if bounds:
        first = twins.score_bounds(0.0, 0.0, c) if selection == "UCB1" else twins.bounded(first)
    return naive.Sequential(first, OF_PLAYOUTS[playout])


TWINS = {
    " ".join((selection, c, playout, "with bounds" if bounds else "without")): twin_of(
        selection, float(c), playout, bounds
    )
    for selection, c, playout, bounds in itertools.product(
        OF_SELECTIONS, EXPLORATIONS, OF_PLAYOUTS, (False, True)
    )
}


def test_all_72_variants_of_selection_exploration_playout_and_score_bounds_are_different_compositions():
    assert len(VARIANTS) == 72
    assert len({parse(text) for text in VARIANTS.values()}) == 72
    assert list(TWINS) == list(VARIANTS)


@pytest.mark.parametrize("text", VARIANTS.values())
def test_a_variant_is_declared_by_the_algebra_and_reads_back(text):
    variant = parse(text)
    assert isinstance(variant, Enhancement)
    assert parse(str(variant)) == variant


def toy_of(name: str) -> Game:
    """A toy game of two in which a variant makes sense, one after the other."""
    some = [
        game
        for game in (OPEN if name.endswith("with bounds") else toy.ALL_TOYS)
        if game.players == 2
    ]
    return some[list(VARIANTS).index(name) % len(some)]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_agrees_with_its_twin(name):
    agree(starts(toy_of(name), 3), parse(VARIANTS[name]), TWINS[name], 40, seed=3)


def test_their_experiment_plays_all_of_them_against_the_baseline():
    experiment = loading.load("ludii", {})
    assert {cell.spec.text for cell in experiment.cells} == {
        str(parse(text)) for text in VARIANTS.values()
    }
    assert {cell.column.opponent.strategy for cell in experiment.cells} == {str(BASELINE)}
    assert experiment.trials >= 400
