"""Slips of a user of `icarus.equilibrium`, each made on purpose: a sentence, not another number, a hang or the end of the process."""

import copy
import pickle
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import (
    BASELINE,
    MAST,
    RAVE,
    Agent,
    best_response,
    exploitability,
    games,
    rave_weight,
    search,
)
from icarus.engine.inspect import search_tree
from icarus.equilibrium import (
    CFR,
    OOS,
    GameTree,
    NearEquilibrium,
    OOSSearch,
    TabularPolicy,
    Uniform,
    deals_of,
    information_state,
    local_best_response,
    near_equilibrium,
    stitch,
    tabulate,
)
from icarus.equilibrium.tree import refuse_unless_walkable, tree_of
from tests.equilibrium.test_python_games import heap
from tests.forked import survive

KUHN, LEDUC = games.load("kuhn-poker"), games.load("leduc-poker")
AGENT = Agent(RAVE, iterations=5)
STAKE = 1.0  # bound anew by a test


def staked_rewards(state, out):
    gain = STAKE * (state.paid[1] if state.cards[0] > state.cards[1] else -state.paid[0])
    out[0], out[1] = (gain + 4) / 8, (4 - gain) / 8


@pytest.mark.parametrize("kind", [CFR, OOSSearch])
def test_a_copy_goes_on_as_the_solver_in_this_and_in_another_process(kind):
    solver = kind(KUHN)
    solver.make(20)
    twins = [copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))]
    before = solver.average.probabilities
    solver.make(20)
    survive(1, lambda _: twins[1].make(20), 60)
    for twin in twins:
        assert (twin.average.probabilities == before).all()
        twin.make(20)
        after = twin.average.probabilities
        assert (after == solver.average.probabilities).all()
        assert (after != before).any()


def test_a_tree_is_grown_anew_after_a_global_of_the_game_is_bound_anew(monkeypatch):
    game = attrs.evolve(KUHN, name="staked-kuhn", rewards=staked_rewards, utilities=(-4, 4))
    before, tree = exploitability(game, None).nash_conv, tree_of(game)
    assert tree_of(game) is tree
    monkeypatch.setitem(globals(), "STAKE", 2.0)
    assert exploitability(game, None).nash_conv == pytest.approx(2 * before)
    assert tree_of(game) is not tree


def test_a_tree_of_its_own_size_is_measured_and_no_other_is_grown(monkeypatch):
    for limit in ("SMALL", "LARGEST_IN_PYTHON"):
        monkeypatch.setattr(f"icarus.equilibrium.tree.{limit}", 5)
    tree = GameTree(heap(4), largest=100)
    assert near_equilibrium(tree, 0.1).tree is tree
    with pytest.raises(ValueError, match="heap is too large"):
        tree_of(tree.game)


def test_an_error_of_a_policy_has_a_note_where_it_was_asked():
    def policy(state):
        player = state.current_player()
        state.apply_action(0)  # the state is the policy's own
        return [1 / (1 - player), 0]

    with pytest.raises(ZeroDivisionError) as caught:
        exploitability(KUHN, policy)
    assert caught.value.__notes__ == ["the policy was asked in kuhn-poker after 'pass'"]


# ------------------------------------------------------------------------------------------------------------ refusals


def knowing(state, actions):
    actions[0], actions[1] = 0, 1
    return 1 if state.cards[1] == 2 else 2


def generous(state, out):
    out[0], out[1] = 1.0, 1.0


def kuhn(**changes):
    return attrs.evolve(KUHN, **changes)


def played(*actions: int):
    state = KUHN.new_initial_state(seed=1)
    for action in actions:
        state.apply_action(action)
    return state


def by_oos():
    return Agent(OOS(), iterations=5).search(played(), 0)


def policy(probabilities):
    return lambda: TabularPolicy(
        tree_of(KUHN), probabilities(tabulate(tree_of(KUHN), None).probabilities)
    )


def test_a_policy_is_that_of_its_array_when_it_was_made():
    numbers = tabulate(tree_of(KUHN), None).probabilities.copy()
    uniform = TabularPolicy(tree_of(KUHN), numbers)
    numbers[:] = 2
    assert exploitability(KUHN, uniform).nash_conv == pytest.approx(11 / 12)


def measured(policy, **settings):
    return lambda: exploitability(KUHN, policy, **settings)


TYPE_ERRORS: list[tuple[Any, str]] = [
    (lambda: exploitability("kuhn-poker", None), "a game must be a Game"),
    (
        measured("BASELINE"),
        "'BASELINE' is not a policy; it must be a TabularPolicy, an Agent, a function",
    ),
    *(
        (
            measured(strategy),
            f"{text} is not a policy; it must be a TabularPolicy, an Agent, a function",
        )
        for strategy, text in (
            (BASELINE, "BASELINE"),
            (BASELINE >> MAST, "BASELINE >> MAST"),
            (rave_weight, "rave_weight.*"),
        )
    ),
    (measured(CFR), "is a class, not a policy; it must be made first"),
    (lambda: local_best_response(3, None), "local_best_response needs a Game, such as "),
    (
        lambda: Agent(OOS(), iterations=5).search(played(), 0, progress=3),
        "progress is 3; it must be a function of ",
    ),
    *(
        (
            lambda use=use, policy=policy: use(KUHN, policy, progress=3),
            "progress is 3; it must be a function of ",
        )
        for use in (exploitability, local_best_response, tabulate)
        for policy in (None, AGENT)
    ),
    (
        lambda: stitch(KUHN, OOS()),
        r"OOS\(\) has no budget; it must be made first, such as .* Agent\(strategy, iterations=…\)",
    ),
    (lambda: Uniform().search(3, 0), "search needs a State, such as"),
    (lambda: search(played(), OOS(), iterations=5), "is another algorithm, .*: call icarus.Agent"),
]
VALUE_ERRORS: list[tuple[Any, str]] = [
    # games
    (lambda: Agent(OOS(), iterations=5).search(played(), 0, records=3), "another algorithm, which takes no records; .*`seated` keeps"),
    (lambda: by_oos().decayed(0.5), r"^OOS\(\) is another algorithm, whose results have no records$"),
    (lambda: search_tree(by_oos()), r"^OOS\(\) is another algorithm, whose results have no records$"),
    (lambda: GameTree(games.load("knockout-whist(players=3)")), r"has 3 players: best responses .* two-player zero-sum"),
    (lambda: GameTree(kuhn(rewards=generous)), "do not always sum to 1"),
    (lambda: GameTree(kuhn(legal=knowing)), "player 0 of kuhn-poker has different legal actions after the same moves"),
    (lambda: GameTree(LEDUC, largest=500), r"too large for a complete walk: it has more than the limit"),
    (lambda: GameTree(heap(33)), r"heap is too large .* it has about \de\+07 histories; the limit is 1,000,000"),
    (lambda: refuse_unless_walkable(games.load("checkers")), r"checkers is too large .* about \de\+\d+ histories"),
    (lambda: OOSSearch(kuhn(rewards=generous)).make(9), "the rewards of kuhn-poker do not always sum to 1"),
    (lambda: OOSSearch(kuhn(max_length=1)).make(9), "kuhn-poker continues beyond its max_length of "),
    # deals
    (lambda: deals_of(kuhn(deal=None, deal_observation=None)), r"kuhn-poker has hidden deals: .*deal\(state, index, "),
    (lambda: deals_of(kuhn(deal=lambda state, index: 0.3 if index < 3 else -1.0)), "the 3 deals of kuhn-poker sum to 0.8999"),
    (lambda: deals_of(kuhn(deal=lambda state, index: 0.3 if index < 1 else -1.0)), "the 1 deal of kuhn-poker sum to 0.3"),
    (lambda: deals_of(kuhn(deal=lambda state, index: np.nan)), "deal of kuhn-poker .* it must be a probability, or NO_DEAL"),
    # policies
    (lambda: local_best_response(KUHN, (None,)), "1 policies for the 2 players of kuhn-poker"),
    (lambda: local_best_response(KUHN, None, depth=0), "depth is 0; it must be an integer of at least 1"),
    (measured((None,)), "1 policies for the 2 players of kuhn-poker"),
    *((measured(lambda state, answer=answer: answer), r"plays .* after 'the deal'; it must be probabilities")
      for answer in ([1.0], [2.0, -1.0], [np.nan, 1.0], "ab", [[1], [2, 3]], {0: "x", 1: 1.0}, iter([0.5, 0.5]))),
    (lambda: exploitability(KUHN, tabulate(tree_of(LEDUC), None)), "of leduc-poker> is not a policy in kuhn-poker"),
    (lambda: exploitability(KUHN, OOSSearch(LEDUC)), r"<OOS\(\) in leduc-poker after 0 iterations> is not a policy in kuhn-poker"),
    *((lambda use=use: use(KUHN, (OOSSearch(LEDUC), None)), "is not a state of leduc-poker")
      for use in (exploitability, local_best_response, stitch)),
    (policy(lambda uniform: 2 * uniform), "sum to 2 in information set 0; they must be at least 0 and sum to 1"),
    (policy(lambda uniform: uniform + np.tile([2, -2], 12)), "are negative somewhere"),
    *((lambda use=use: use(KUHN, None, play="x"), "play is 'x'; it must be 'most visited' or 'visit shares'")
      for use in (exploitability, local_best_response, tabulate)),
    (measured(AGENT, seed=-1), "seed is -1; it must be an integer of at least 0"),
    *((lambda player=player: best_response(KUHN, None, player), "it must be 0 or 1") for player in (2, True, 1.0, "0")),
    # searches
    (lambda: tree_of(KUHN).set_at(LEDUC.new_initial_state(1)), "is not a state of kuhn-poker"),
    *((lambda player=player: player.seated(KUHN, iterations=5).search(played(0, 0), 0), "there is no decision to search for")
      for player in (OOS(), NearEquilibrium(), Uniform())),
    (lambda: information_state(played(0, 0)), "no player is to move in <kuhn-poker after 2 actions>"),
    (lambda: CFR(KUHN).run(0), "iterations is 0; it must be an integer of at least 1"),
    (lambda: near_equilibrium(KUHN, 1e-9, most=1), r"after 1 iteration of CFR\+ in kuhn-poker NashConv is 0\.\d+, not 1e-09"),
    (lambda: OOS(target="history"), "target is 'history'; it must be 'information set' or 'public subgame'"),
    (lambda: Agent(OOS(), iterations=5, threads=2), "takes no threads=2"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("error", "call", "pattern"),
    [(TypeError, *case) for case in TYPE_ERRORS] + [(ValueError, *case) for case in VALUE_ERRORS],
)
def test_a_slip_is_refused_in_a_sentence(error, call, pattern):
    with pytest.raises(error, match=pattern):
        call()
