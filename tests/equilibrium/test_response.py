"""Local best responses: numbers by hand, those of the exact best response where they look ahead to the end, bounds where they do not."""

import pytest

from icarus import exploitability, games
from icarus.equilibrium import local_best_response, tabulate
from icarus.equilibrium.tree import tree_of
from tests.equilibrium.openspiel import random_probabilities

KUHN, LEDUC = games.load("kuhn-poker"), games.load("leduc-poker")


def test_who_always_passes_loses_his_ante_to_every_bet():
    found = local_best_response(KUHN, lambda state: {0: 1.0}, matches=2)
    assert (found.gains, found.nash_conv, found.half) == (([1.0, 1.0], [1.0, 1.0]), 2.0, 0.0)
    assert found.questions == 6 + 6  # of each player with each of three cards


@pytest.mark.parametrize("name", ["leduc-poker", "liars-dice(faces=3)", "phantom-mnk(columns=2, rows=3, in_a_row=2)"])
def test_they_are_best_responses_if_they_look_ahead_to_the_end(name):
    game, asked = games.load(name), []
    policy = tabulate(tree_of(game), random_probabilities)
    found = local_best_response(
        game, lambda state: asked.append(0) or policy(state), depth=20, matches=None, particles=None
    )
    assert found.nash_conv == pytest.approx(exploitability(game, policy).nash_conv, abs=1e-12)
    assert found.questions == len(asked) <= len(tree_of(game).sets)


def test_they_search_again_at_each_decision_and_bound_from_below():
    best = exploitability(LEDUC, None).nash_conv
    shallow, deep = (
        local_best_response(LEDUC, None, depth=depth, matches=None, particles=None).nash_conv for depth in (1, 3)
    )
    assert 0.8 * best < shallow < deep <= best + 1e-9  # 0.45 of it if nothing is asked after the first action


def test_matches_drawn_have_the_mean_of_all_and_ctrl_c_keeps_them():
    every, some = (local_best_response(LEDUC, None, particles=None, matches=matches) for matches in (None, 900))
    assert abs(some.nash_conv - every.nash_conv) < 2 * some.half < 1

    def stop(matches):
        if matches == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="in 3 matches each") as caught:
        local_best_response(LEDUC, None, particles=None, progress=stop)
    assert caught.value.args[0].gains == (some.gains[0][:3], some.gains[1][:3])
