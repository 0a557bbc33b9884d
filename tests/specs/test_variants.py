"""The variants of Ludii that the Kaggle competition on Monte Carlo tree search compared, declared by the algebra."""

import itertools

import pytest

from icarus import Enhancement, games, parse, search
from icarus.testing import Decision, Played

SELECTIONS = {
    "UCB1": "baseline({c})",
    "UCB1GRAVE": "grave(100, 1e-05, {c})",
    "ProgressiveHistory": "progressive_history(3.0, {c})",
    "UCB1Tuned": "ucb1_tuned({c})",
}
EXPLORATIONS = ("0.1", "0.6", "1.41421356237")
PLAYOUTS = {"Random200": "BASELINE", "MAST": "mast(epsilon_greedy(0.1))", "NST": "nst(1, epsilon_greedy(0.1))"}
VARIANTS = [
    f"{selection.format(c=c)} >> {playout}"
    for selection, c, playout in itertools.product(SELECTIONS.values(), EXPLORATIONS, PLAYOUTS.values())
]


def test_all_variants_of_selection_exploration_and_playout_are_different_compositions() -> None:
    assert len({parse(text) for text in VARIANTS}) == 4 * 3 * 3


@pytest.mark.parametrize("text", VARIANTS)
def test_a_variant_is_declared_by_the_algebra_and_reads_back(text: str) -> None:
    variant = parse(text)
    assert isinstance(variant, Enhancement) and parse(str(variant)) == variant


@pytest.mark.parametrize("selection", [text for name, text in SELECTIONS.items() if name != "UCB1"])
def test_exploration_raises_the_value_of_an_action_of_few_visits(selection: str) -> None:
    opening = Played([Decision(0, (4, 5))], players=2)
    few, many = (0, (5,)), (0, (4,))
    known = {(): {"visits": 6}, many: {"reward": (3.0, 1.0), "visits": 4}, few: {"reward": (1.0, 1.0), "visits": 2}}
    little, much = (parse(selection.format(c=c)) for c in (EXPLORATIONS[0], EXPLORATIONS[2]))
    if "availability" in little.information.names:
        known = {parts: {**fields, "availability": 6} for parts, fields in known.items()}
    if "squares" in little.information.names:
        known[few]["squares"] = (0.5, 0.5)  # of two draws: no variance
    if "progressive" in selection:
        known |= {(action, 0): {"reward": (1.0, 0.0), "visits": 2} for action in (4, 5)}
    assert opening.values(little, known)[1] < opening.values(much, known)[1]


@pytest.mark.parametrize("text", VARIANTS[::7])
def test_a_variant_searches(text: str) -> None:
    assert search(games.load("othello").new_initial_state(), parse(text), iterations=50, seed=1).iterations == 50
