"""The 72 variants of Ludii that the Kaggle competition on Monte Carlo tree search compared, declared by the algebra."""

import pytest

from experiments.papers import tables
from experiments.plan import loading
from icarus import *
from tests import toy
from tests.engine.test_twin import agree, pair, starts
from tests.marks import is_put_together, slow_if

VARIANTS = tables("ludii")[0]["agents"]
EXPLORATIONS = ("0.1", "0.6", "1.41421356237")
OF_SELECTIONS = {
    "UCB1": ("baseline({c})", "score_bounds(0.0, 0.0, {c})"),
    "UCB1GRAVE": ("grave(100, 1e-05, {c})", "bounded_grave(100, 1e-05, {c})"),
    "ProgressiveHistory": (
        "progressive_history(3.0, {c})",
        "bounded_progressive_history(3.0, {c})",
    ),
    "UCB1Tuned": ("ucb1_tuned({c})", "bounded_ucb1_tuned({c})"),
}
OF_PLAYOUTS = {
    "Random200": "BASELINE",
    "MAST": "mast(epsilon_greedy(0.1))",
    "NST": "nst(1, epsilon_greedy(0.1))",
}
TEXTS = {  # by their names in the competition
    f"{selection} {c} {playout} {bounds}": f"{first.format(c=c)} >> {second}"
    for selection, with_or_without in OF_SELECTIONS.items()
    for c in EXPLORATIONS
    for playout, second in OF_PLAYOUTS.items()
    for bounds, first in zip(("without", "with bounds"), with_or_without, strict=True)
}


def test_all_72_variants_of_selection_exploration_playout_and_score_bounds_are_different_compositions():
    variants = {parse(text) for text in VARIANTS.values()}
    assert len(VARIANTS) == len(variants) == 72
    assert {parse(str(variant)) for variant in variants} == variants
    assert VARIANTS == TEXTS


def toy_of(name: str) -> Game:
    """A toy game of two in which a variant makes sense, one after the other."""
    some = [
        game
        for game in (toy.OPEN if name.endswith("with bounds") else toy.ALL_TOYS)
        if game.players == 2
    ]
    return some[list(VARIANTS).index(name) % len(some)]


@pytest.mark.parametrize(
    "name",
    [  # each with one exploration; the others are other numbers of the same slots
        pytest.param(name, marks=slow_if(EXPLORATIONS[1] not in name or is_put_together(text)))
        for name, text in VARIANTS.items()
    ],
)
def test_a_variant_agrees_with_its_twin(name):
    agree(starts(toy_of(name), 3), *pair(VARIANTS[name]), 25, seed=3)


def test_their_experiment_plays_all_of_them_against_the_baseline():
    experiment = loading.load("ludii", {})
    assert {cell.spec.text for cell in experiment.cells} == {
        str(parse(text)) for text in VARIANTS.values()
    }
    assert {cell.column.opponent.strategy for cell in experiment.cells} == {str(BASELINE)}
    assert experiment.trials >= 400
