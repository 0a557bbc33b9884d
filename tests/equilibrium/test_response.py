"""Local best responses: numbers by hand, those of the exact best response where they look ahead to the end, bounds where they do not."""

import time

import attrs
import numpy as np
import pytest

from icarus import Agent, PythonGame, exploitability, games, in_python
from icarus.bridges import openspiel
from icarus.engine.match import question_to
from icarus.equilibrium import CFRPlus, OOSSearch, local_best_response, response, tabulate
from icarus.equilibrium.policies import Exploitability
from icarus.equilibrium.tree import tree_of
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, below
from icarus.specs import BASELINE
from tests import toy
from tests.equilibrium.openspiel import random_probabilities

KUHN, LEDUC = games.load("kuhn-poker"), games.load("leduc-poker")
PHANTOM = games.load("phantom-mnk(columns=4, rows=1, in_a_row=2)")


@pytest.mark.parametrize("game", [KUHN, in_python(KUHN), openspiel.game("kuhn_poker")], ids=repr)
def test_who_always_passes_loses_his_ante_to_every_bet(game):
    found = local_best_response(game, lambda state: {0: 1.0}, matches=2)
    assert found.samples == ([1.0, 1.0], [1.0, 1.0])
    assert (found.lower, found.estimate, found.confidence) == (2.0, 2.0, 1.0)


@pytest.mark.parametrize("game", [LEDUC, games.load("liars-dice(faces=3)"), PHANTOM], ids=str)
def test_they_are_best_responses_if_they_look_ahead_to_the_end(game):
    asked, policy, distances = [], tabulate(tree_of(game), random_probabilities), set()
    for particles in (None, 5000):  # more than there are states
        found = local_best_response(
            game,
            lambda state: asked.append(0) or policy(state),
            depth=20,
            matches=None,
            particles=particles,
        )
        distances.add(found.nash_conv)
    assert len(distances) == 1
    assert found.nash_conv == pytest.approx(exploitability(game, policy).nash_conv, abs=1e-12)
    assert 2 * found.questions == len(asked) <= 2 * len(tree_of(game).sets)


@pytest.mark.parametrize("particles", [None, 3])
def test_they_bound_from_below_whatever_they_think_of(particles):
    near = CFRPlus(LEDUC)
    near.run(30)
    settings = {"matches": None, "particles": particles}
    shallow, deep = (
        local_best_response(LEDUC, near.average, depth=depth, **settings).nash_conv
        for depth in (1, 2)
    )
    assert max(shallow, deep) < exploitability(LEDUC, near.average).nash_conv + 1e-9
    assert particles or shallow < deep


def test_matches_drawn_have_the_mean_of_all_and_ctrl_c_keeps_them(monkeypatch):
    best = exploitability(KUHN, None).nash_conv  # one action ahead is enough
    assert local_best_response(KUHN, None, matches=2).samples == (
        [0.5] * 2,
        [pytest.approx(5 / 12)] * 2,
    )
    monkeypatch.setattr(response, "WIDTH", 1)
    some = local_best_response(KUHN, None, matches=200)
    assert some.confidence == 0.95
    assert best - 0.5 < some.lower < best < some.estimate + (some.estimate - some.lower)

    def stop(share):
        if share > 3.1 / 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt, match="in 3 matches each") as caught:
        local_best_response(KUHN, None, progress=stop)
    assert caught.value.args[0].samples == (some.samples[0][:3], some.samples[1][:3])


def test_the_limit_is_student_s_and_cut_to_what_can_be():
    def limits(*samples):
        bound = response.bound_by(KUHN, samples, False, "", "")
        return bound.lower, bound.estimate, bound.upper

    # Two degrees of freedom, of which 5 % are above 2.91998558, and a standard error of 0.1.
    step = 0.1 * 3**0.5
    assert limits([2 - step, 2.0, 2 + step], [0.0] * 3)[0] == pytest.approx(2 - 0.291998558)
    assert limits([0.0, 4.0], [-2.0, 1.0])[::2] == (0.0, 4.0)
    assert limits([-1.0, -2.0], [0.0, 0.5])[:2] == (0.0, 0.0)  # 0 is known
    assert limits([0.1] * 9, [0.1] * 9)[0] == 0  # matches that ended alike say little
    assert "at least 0, so nothing is shown (95 %; estimate 0.2)" in str(
        response.bound_by(KUHN, ([0.1] * 9,) * 2, False, "", "")
    )


# ------------------------------------------------------------------------------------ where no tree is, and more than two


def test_particles_are_drawn_anew_where_none_is_left_or_deals_are_hidden():
    agent = Agent(BASELINE, iterations=3)
    found = local_best_response(PHANTOM, agent, matches=2, particles=1)
    assert all(-1 <= gain <= 1 for each in found.samples for gain in each)
    hidden = {"initial": lambda rng: [][: below(rng, 2)], "determinize": lambda state, *_: state[:]}
    found = local_best_response(attrs.evolve(HIDDEN, **hidden), None, matches=2, particles=2)
    assert len(found.samples) == 3
    assert "of more than two players no theorem says how far" in str(found)


def test_draws_with_other_legal_actions_are_refused():
    with pytest.raises(ValueError, match="different legal actions after the same moves"):
        local_best_response(toy.CLASHES, None, matches=2, particles=2)


# Player 0 hides one of three things, player 1 may look and does not tell, player 2 guesses: whoever is right or was not found wins.
HIDDEN = PythonGame(
    name="hidden",
    players=3,
    initial=lambda rng: [],
    player=lambda state: len(state) if len(state) < 3 else TERMINAL,
    legal=lambda state: [0, 1, 2],
    apply=lambda state, action: state.append(action),
    rewards=lambda state: [
        float(state[0] not in state[1:]),
        float(state[1] == state[0]),
        float(state[2] == state[0]),
    ],
    observe=lambda state, action: [action if i == len(state) else UNSEEN for i in range(3)],
    utilities=(0.0, 9.0),
)


def test_a_seat_gains_what_is_to_be_gained_by_hand():
    hide = [0.5, 0.3, 0.2]
    policies = [lambda state: hide, None, lambda state: [1.0, 0.0, 0.0]]
    found = local_best_response(HIDDEN, policies, matches=None, particles=None)
    # player 0 hides 1 or 2, which one in three finds: 6 and not 3; player 1 says 0: 4.5 and not 3; player 2 does so already
    assert found.samples == (pytest.approx([3.0]), pytest.approx([1.5]), pytest.approx([0.0]))
    assert found.nash_conv == pytest.approx(4.5)
    assert found.improvements == found.best_responses
    assert found.method.endswith(", in 1 match each")
    assert "player 0 gains 3, player 1 gains 1.5, player 2 gains 0 by" in str(found)


@pytest.mark.parametrize(
    ("name", "settings", "sentence"),
    [
        (
            "goofspiel(cards=7)",
            {"particles": None},
            r"must think of [0-9,]+ states at once; .* particles=100 would fit",
        ),
        ("dou-di-zhu", {"particles": None}, "has hidden deals"),
        ("kuhn-poker", {"particles": 0}, "particles is 0; it must be an integer of at least 1"),
    ],
)
def test_what_cannot_be_thought_of_is_refused(monkeypatch, name, settings, sentence):
    monkeypatch.setattr(response, "MOST", 100)
    with pytest.raises(ValueError, match=sentence):
        local_best_response(games.load(name), None, matches=2, **settings)


@pytest.mark.parametrize(
    ("name", "depth", "begin"),
    [
        ("liars-dice(first=2, second=2)", 2, lambda game: OOSSearch(game).policy_at),
        ("goofspiel(cards=10)", 1, lambda game: None),
    ],
)
def test_a_belief_that_takes_long_is_refused_within_seconds(name, depth, begin, monkeypatch):
    """A sixteenth of the states that are looked at takes a sixteenth of some 10 s."""
    monkeypatch.setattr(response, "LOOKED_AT", response.LOOKED_AT // 16)
    game = games.load(name)
    policy, started = begin(game), time.process_time()
    with pytest.raises(
        ValueError, match=r"must think of \d,\d{3} states for one decision; the limit is 4,096, "
    ):
        local_best_response(game, policy, depth=depth, matches=2, particles=None)
    assert time.process_time() - started < 15


def test_a_long_match_tells_within_seconds_how_much_of_it_is_done():
    shares, started = [], time.process_time()

    def stop(share):
        shares.append(share)
        if share > 1e-6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        local_best_response(games.load("goofspiel(cards=10)"), None, matches=2, progress=stop)
    assert 0 < shares[-1] < 1 / 4
    assert time.process_time() - started < 30


def test_what_has_ended_is_told_up_to_the_whole():
    shares = []
    local_best_response(KUHN, None, matches=3, progress=shares.append)
    assert shares == pytest.approx(sorted(shares))
    assert shares[-1] == pytest.approx(1)
    assert len({*shares}) > 3 * 2


def test_all_that_may_be_seen_until_the_responder_is_to_move_shares_the_particles(monkeypatch):
    answered, answer = [], response._Answers.at

    def counted_answer(self, *question):
        answered.append(question)
        return answer(self, *question)

    monkeypatch.setattr(response._Answers, "at", counted_answer)
    game = attrs.evolve(
        HIDDEN,
        name="open",
        players=5,
        player=lambda state: len(state) if len(state) < 5 else TERMINAL,
        rewards=lambda state: [float(state.count(action) == 1) for action in state],
        observe=None,
    )
    model = response._Answers([question_to(None)] * 5, seed=(0,), seeds=1)
    responder = response._Responder(game, player=0, model=model, seed=0, depth=1, count=9)
    responder._luck = np.random.default_rng(0)
    responder._values(responder._deals, left=1, most=9)
    # Of players 1 to 4, after an action of player 0: one for each history, but not 27 of player 4, because there are 9 particles.
    questions = [1, 3, 9, 9]
    assert len(answered) == 3 * sum(questions)


@pytest.mark.parametrize("unequal", [[1, 0], [0, 2]])
def test_what_a_player_may_do_follows_from_what_he_sees(unequal):
    """Chance decides what is legal, or in which order, and shows nobody."""
    game = attrs.evolve(
        HIDDEN,
        players=2,
        player=lambda state: (CHANCE, 0, 1, TERMINAL)[len(state)],
        legal=lambda state: unequal if len(state) == 2 and state[0] else [0, 1],
        rewards=lambda state: [float(state[2] == state[0]), 1.0 - (state[2] == state[0])],
        observe=lambda state, action: [action, action] if state else [UNSEEN, UNSEEN],
    )
    with pytest.raises(
        ValueError, match="player 1 of hidden has different legal actions after the same moves"
    ):
        local_best_response(game, None, matches=None, particles=None)


def test_what_rounding_leaves_of_nothing_is_shown_as_nothing():
    found = Exploitability(0.0, 0.0, 0.0, 1.0, "", "", (1e-17, -1e-17), (-5.6e-17, 5.6e-17))
    assert str(found).endswith("; player 0 expects 0")
    some = attrs.evolve(found, values=())
    assert str(some).startswith(
        "NashConv at least 0, so nothing is shown: player 0 has 0, player 1 has 0 by"
    )
