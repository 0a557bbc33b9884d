"""Specifications 1-7: what their files declare, what they learn where one can work it out by hand, and that all run in all games.

The chain toy after ⟨0, pass⟩ is: b of 0, 1, 2, then pass, then 1, with the rewards 0, ½, 1 for b. After b
nothing is free.
"""

import pickle
import random
import re
from collections import Counter
from typing import Any

import attrs
import numpy as np
import pytest

import icarus
from icarus import *
from icarus.algebra import SLOTS, Candidates
from icarus.compiler.digest import attributes_read
from icarus.compiler.kernel import CompiledFunction, MachineCode
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.lowering import NEEDED, tables_among
from icarus.engine.search import Search
from icarus.kernel import *
from icarus.kernel.history import PHASES
from icarus.specs import NAMES
from icarus.testing import Decision, HistoryExample, backpropagate
from tests import toy
from tests.conftest import ROOT
from tests.games.scenes import first_decision
from tests.marks import both_engines, is_put_together, slow_after, slow_if, slow_if_put_together
from tests.test_toy import after

SPECS = ROOT / "icarus" / "specs"
# for which other machine code is made
OF_OTHER_LAYOUTS = ["dou-di-zhu", "hearts", "lotr-confrontation"]
PASS = toy.PASS
TAGS = """Base-1234567 AMAF-1234567 MAST-1234567 LGR-1234567 NAST-1234567 EPIC-1234567 GRAVE-1234567 SB-1234567 Bounded-1234567
    PPA-1234567 TO-MAST-6 LGRF-7 LGRF-2-146 NST-146 FPU-4 UCB1-Tuned-247 KL-UCB-4 Thompson-4 D-UCB-247 PH-146 DH-2567
    RB-124567 RM-124567 PB-4 PU-4 PW-4 PUCT-4 IM-24567 Decisive-4 MCTS-Solver-4 MAST-Decay-247 CMC-146 PAST-146 FAST-146"""


def searched(root: State, strategy: Enhancement, iterations: int, seed: int = 1) -> CompiledSearch:
    running = CompiledSearch(root, strategy, seed)
    running.run(iterations)
    return running


def same_records(first, second) -> bool:
    """Whether two results hold the same records of the same components with the same information."""
    return list(first) == list(second) and all(
        np.array_equal(first[part].rows, second[part].rows) for part in first
    )


def information_of(running: CompiledSearch, strategy: Enhancement, parts) -> tuple:
    """The information of a record, as a tuple; () where there is none."""
    row = running.records()[str(strategy)].get(parts)
    if row is None:
        return ()
    return tuple(row[name].tolist() for name in row.dtype.names if name != "record")


# -------------------------------------------------------------------------------------------------------------- the files


def test_each_line_of_a_specification_carries_its_tag_once():
    lines = [line for path in SPECS.glob("*.py") for line in path.read_text().splitlines()]
    tagged = [
        (match[1], line) for line in lines if (match := re.search(r"=.*# ([A-Za-z]\S*-\d)$", line))
    ]
    expected = [
        f"{name}-{number}"
        for name, numbers in (tag.rsplit("-", 1) for tag in TAGS.split())
        for number in numbers
    ]
    assert sorted(tag for tag, _ in tagged) == sorted(expected)
    assert all(f"{SLOTS[int(tag[-1]) - 1]}=" in line for tag, line in tagged)


# ------------------------------------------------------------------------------------------ everything forced: k playouts

FORCED = (0, PASS, 2)  # left: pass, then 1; the reward is 1


@pytest.mark.parametrize("k", [1, 2, 3, 4, 9])
def test_the_baseline_expands_one_history_in_each_playout(k):
    running = searched(after(toy.CHAIN, *FORCED), BASELINE, k)
    for depth, parts in enumerate([(), (0, (PASS,)), (0, (PASS, 1))]):
        visits = k - depth
        assert information_of(running, BASELINE, parts) == (
            ([float(visits)], visits, visits) if visits > 0 else ()
        )


@pytest.mark.parametrize(("strategy", "before"), [(AMAF, 1), (AMAF_STRICT, 4)])
def test_amaf_counts_every_occurrence_with_the_reward_of_its_playout(strategy, before):
    # At the root b is free; the first playout simulates, the next three expand; from the fifth on the root is a selection node.
    # Each playout ends with action 1, which is legal at the root: one update for ⟨1⟩, and another where b = 1.
    k = 60
    running = searched(after(toy.CHAIN, 0, PASS), BASELINE(3.0) >> strategy, k)
    expanded = 1 if strategy is AMAF_STRICT else 0  # each b once
    chosen = [information_of(running, BASELINE, (0, (b,)))[1] - expanded for b in (0, 1, 2)]
    assert sum(chosen) == k - before
    assert information_of(running, strategy, (0, (0,)))[1:] == (chosen[0],)
    assert information_of(running, strategy, (0, (2,))) == ([float(chosen[2])], chosen[2])
    reward = chosen[1] * 2 * 0.5 + chosen[2] * 1.0
    assert information_of(running, strategy, (0, (1,))) == ([reward], k - before + chosen[1])


def test_lgr_keeps_a_reply_that_loses_later_and_lgrf_forgets_it():
    # Pass is answered by b and by 1, in this order; so a playout with a positive reward leaves 1 as the reply to pass. A playout
    # with b = 0 gets nothing: the reply 1, which it played too, is forgotten; b itself was not the stored reply.
    at_random = MAST(epsilon_greedy(1.0))
    lgr, lgrf = (
        CompiledSearch(after(toy.CHAIN, 0), at_random >> strategy, 4) for strategy in (LGR, LGRF)
    )
    good, outcomes = False, Counter[bool]()
    before = {lgr: 0.0, lgrf: 0.0}
    for k in range(1, 60):
        for running, strategy in ((lgr, LGR), (lgrf, LGRF)):
            running.run(k)
            total = information_of(running, BASELINE, ())[0][0]
            won = total > before[running]
            before[running] = total
            if strategy is LGRF:
                assert information_of(running, LGRF, (PASS, 0)) == ((1,) if won else (NO_ACTION,))
                outcomes[won] += 1
            else:
                good = good or won
                assert information_of(running, LGR, (PASS, 0)) == ((1,) if good else (NO_ACTION,))
    assert min(outcomes.values()) > 3


@pytest.mark.parametrize(
    "name", slow_after(3, ["checkers", "othello", "backgammon", *OF_OTHER_LAYOUTS])
)
def test_rave_tries_every_action_of_the_root_as_soon_as_the_baseline_does(name):
    # The first playout is simulation; each of the next expands one of the actions that are left.
    state = with_choice(games.load(name).new_initial_state(seed=3), actions=5)
    trials = 1 + len(state.legal_actions())
    for strategy in (BASELINE, RAVE):
        assert min(searched(state, strategy, trials).result().visits) >= 1, strategy
    assert min(searched(state, RAVE_STRICT, trials).result().visits) == 0


def with_choice(state, actions):
    """The first state after it, playing at random, in which a player has at least so many actions."""
    random = np.random.default_rng(5)
    while state.current_player() < 0 or len(state.legal_actions()) < actions:
        state.apply_action(int(random.choice(state.legal_actions())))
    return state


# ------------------------------------------------------------------------------------------------ relations between them


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (lambda: icarus.CMC(epsilon=0.1), "the rule of CMC follows from its share and bound"),
        (lambda: NAST(0), "n of nast2 is 0; it must be an integer from 1 to 1000"),
        (lambda: NAST(2.0), "n of nast2 is 2.0; it must be an integer"),
        (lambda: NAST(True), "True is not a rule of reuse"),
        (
            lambda: MAST(1),
            r"mast\(rule\) has no place for \(1,\); by name it takes last_phase, temperature",
        ),
        (lambda: EPIC(5), r"epic\(rule\) has no place for \(5,\)"),
        (lambda: MAST(last_phase=3), "last_phase of mast is 3; it must be an integer from 0 to 2"),
        # whose records of the simulation would be made and never read
        (lambda: AMAF(last_phase=2), "last_phase of amaf is 2; it must be an integer from 0 to 1"),
        (lambda: EPIC(None), "None is not a rule of reuse"),
        (lambda: MAST(gibbs), "is not a rule of reuse"),
        (lambda: MAST(gibbs(), gibbs()), "has no place for"),
        (lambda: MAST(gibbs(), rule=gibbs()), "the parameter rule of mast is given twice"),
        (
            lambda: MAST(exploration=0.5),
            "mast has no parameter 'exploration'; it has rule, last_phase, temperature",
        ),
        (
            lambda: MAST(ucb1(), temperature=0.5),
            "mast with ucb1 has no parameter 'temperature'; it has rule, last_phase, exploration",
        ),
        (lambda: BASELINE(gibbs(0.5), exploration=2), "baseline with gibbs has no parameter"),
        (lambda: BASELINE(gibbs(0.5))(2), "baseline has no parameter 'exploration'"),
        (lambda: RAVE(x=3), "rave has no parameter 'x'; it has k"),
        (lambda: RAVE(k=0), "k of rave is 0; it must be an integer from 1 to"),
        (lambda: (MAST >> NAST)(n=3), "has no parameter 'n'"),
        (lambda: attrs.evolve(MAST, name="MINE")(temperature=-1), "temperature of gibbs is -1"),
    ],
)
def test_a_call_refuses_what_is_no_parameter(refused, message):
    with pytest.raises((ValueError, TypeError), match=message):
        refused()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (MAST(temperature=0.1), "mast(gibbs(temperature=0.1))"),
        (MAST(gibbs(0.1))(epsilon_greedy(0.2)), "mast(epsilon_greedy(epsilon=0.2))"),
        (MAST(ucb1())(gibbs(0.1)), "mast(gibbs(temperature=0.1))"),
        (MAST(ucb1(), exploration=2), "mast(ucb1(exploration=2.0))"),
        (NST(2, 0.5), "nst(2, epsilon_greedy(epsilon=0.5))"),
        (MAST(gibbs(0.1), last_phase=1), "mast(gibbs(temperature=0.1), last_phase=1)"),
        (NAST(3), "NAST3"),
        (NAST(4), "nast(4)"),
        (NAST3(gibbs(0.1)), "nast(3, gibbs(temperature=0.1))"),
        (RAVE(k=500), "rave(k=500)"),
        (RAVE(k=250), "RAVE"),
        (icarus.PUCT(exploration=1.5), "puct(1.5, 0.1)"),
        (icarus.PUCT(1.5, least=1), "puct(1.5, 0.1, least=1)"),
        (icarus.BOUNDED_GRAVE(least=5), "bounded_grave(5, 1e-05, 0.0)"),
        (icarus.CMC(share=0.3)(bound=0.2), "cmc(0.3, 0.2)"),
    ],
)
def test_a_variant_is_printed_as_the_rows_of_experiments_have_it_and_parses_back(made, text):
    assert str(made) == text
    assert parse(text) == made


OUT_OF_RANGE = """
    fpu(urgency=-1.0) grave(least=-1) grave(least=2.5) nst(least=0) progressive_history(influence=1e17) ppa(rate=-1.0) cmc(share=2.0)
    mast_simulation_decay(decay=1.5) mast_batch_decay(batch=0) discounted_ucb(discount=0.0) discounted_history(discount=1.5)
    relative_bonus(bonus=-1.0) regret_matching(share=1.5) progressive_bias(weight=-1.0) progressive_unpruning(first=0)
    progressive_unpruning(growth=1.0) progressive_widening(pace=0.0) puct(temperature=0.0) implicit_minimax(alpha=1.5) fast(rate=-0.1)
    fast(trace=1.5) past(least=0) score_bounds(optimism=-1.0) bounded_grave(bias=-1.0)
"""


@pytest.mark.parametrize("text", OUT_OF_RANGE.split())
def test_a_parameter_that_makes_no_sense_is_refused_by_name(text):
    family, parameter = re.split(r"[(=]", text)[:2]
    with pytest.raises(ValueError, match=f"{parameter} of {family} is"):
        parse(text)


def test_variants_of_old_texts_parse_back():
    texts = """fpu(0.6); grave(3); nst(2); nst(2, gibbs(0.5)); progressive_history(2); FPU >> LGRF2; rave(500) >> nast(3, gibbs(0.1));
        progressive_bias(2); progressive_unpruning(10, 3); progressive_widening(20); puct(2, 0.5); implicit_minimax(0.2);
        fast(0.1, 0.5, epsilon_greedy(0.1)); 0.5 * PROGRESSIVE_BIAS ^ 0.5 * IMPLICIT_MINIMAX; to_mast(ucb1(0.7));
        ppa(0.5); mast_simulation_decay(0.9); mast_batch_decay(0.5, 10, roulette()); cmc(0.5, 0.5); discounted_ucb(0.9);
        discounted_history(0.9, 2); relative_bonus(0.5, 2); regret_matching(0.1)"""
    for text in texts.split(";"):
        assert parse(str(parse(text))) == parse(text)


# ----------------------------------------------------------------------------------------------------------- conformance

ITERATIONS = 60
PLACES = {
    "othello": lambda: games.load("othello").new_initial_state(),
    "whist": lambda: games.load("knockout-whist(players=2)").new_initial_state(3),
    **{
        game.name: (lambda game=game: after(game))
        for game in (toy.BRANCHES, toy.CARD, toy.SECRETS, toy.EPISODES, toy.THICKETS[0])
    },
}
every_specification = pytest.mark.parametrize("name", SPECIFICATIONS)


@pytest.mark.parametrize(
    ("name", "place"),
    [  # each in one place in turn, and everywhere with --slow; the twins play in whole games
        pytest.param(name, place, marks=slow_if((i + j) % len(PLACES) > 0 or is_put_together(name)))
        for j, place in enumerate(PLACES)
        for i, name in enumerate(SPECIFICATIONS)
    ],
)
def test_every_specification_runs_in_every_game_and_repeats_itself(name, place):
    strategy, root = SPECIFICATIONS[name], first_decision(PLACES[place]())
    told_so = refusal(strategy, root.game)
    if told_so:
        with pytest.raises(ValueError, match=told_so):
            search(root, strategy, iterations=ITERATIONS, seed=5)
        return
    result, again = (search(root, strategy, iterations=ITERATIONS, seed=5) for _ in range(2))
    assert (result.action, result.visits.tolist(), result.depth) == (
        again.action,
        again.visits.tolist(),
        again.depth,
    )
    assert same_records(result.records, again.records)
    consistent(result, root)


@pytest.mark.parametrize("name", slow_if_put_together(SPECIFICATIONS))
def test_no_specification_needs_the_compiler_when_it_runs(name):
    """`out.max()`, say, or an array assigned to a part of another raise what they met: they are compiled twice, and load the compiler."""
    program = CompiledSearch(first_decision(PLACES["othello"]()), SPECIFICATIONS[name], 0).program
    kernels = [kernel for kernel in program.kept_alive if isinstance(kernel, CompiledFunction)]
    assert kernels
    assert all(isinstance(kernel._code, MachineCode) for kernel in kernels)


def proves(strategy: Enhancement) -> bool:
    return any(part.capture.proves for part in strategy.components)


def refusal(strategy: Enhancement, game: Game) -> str:
    """What is said where a strategy makes no sense in a game; "" where it does."""
    slots = [
        slot
        for part in strategy.components
        for slot in (part.policy.source, part.capture, part.initial.function)
    ]
    tables = tables_among(
        frozenset().union(*(attributes_read(slot.function) for slot in slots if slot is not None))
    )
    lacking = [
        kind for table, kind in NEEDED.items() if tables & table and getattr(game, kind) is None
    ]
    if lacking:
        return f"{re.escape(str(game))} has no {lacking[0]}"
    hidden = any(part is not None for part in (game.determinize, game.observe, game.simultaneous))
    return (
        f"proves .* needs a game of perfect information; {re.escape(str(game))}"
        if proves(strategy) and hidden
        else ""
    )


def consistent(result, root: State) -> None:
    """Sums that must agree whatever was played."""
    k, players = result.iterations, root.game.players
    assert k == ITERATIONS == result.visits.sum()
    assert result.action in root.legal_actions()
    # what is proved to be worse is not played, however often it was visited
    if not proves(result.strategy):
        assert result.visits[result.actions.index(result.action)] == result.visits.max()
    base, mover = result.records["BASELINE"], root.current_player()
    assert base[()]["visits"] == base[()]["availability"] == k
    children = [base.get((mover, (action,))) for action in result.actions]
    # the first playout expands the root
    assert sum(child["visits"] for child in children if child is not None) == k - 1
    for name, records in result.records.items():
        rows = records.rows
        if name == "RELATIVE_BONUS" or not {"reward", "visits"} <= set(rows.dtype.names):
            continue
        assert (rows["visits"] >= 0).all()
        rewards = rows["reward"] if rows["reward"].ndim == 2 else rows["reward"][:, None]
        assert (rewards >= 0).all()
        assert (rewards <= rows["visits"][:, None] + 1e-9).all()
        assert rewards.shape[1] in (1, players)
        if "availability" in rows.dtype.names:
            assert (rows["availability"] >= rows["visits"]).all()
            assert rows["availability"].max() > 0


@pytest.mark.parametrize(
    "place", ["othello", "toy-branches", "toy-card", "toy-secrets", "toy-episodes"]
)
def test_the_visits_of_all_records_add_up_to_the_decisions_that_were_captured(place):
    strategy = (MAST + TO_MAST + NAST1 + NAST2 + EPIC + MAST(ucb1(0.7))) / 6
    result = search(first_decision(PLACES[place]()), strategy, iterations=ITERATIONS, seed=8)
    steps = dict(result.phase_steps)
    assert tuple(steps) == PHASES
    visits = {part: int(records.rows["visits"].sum()) for part, records in result.records.items()}
    decisions = sum(steps.values())
    assert visits["MAST"] == visits["NAST1"] == visits[str(MAST(ucb1(0.7)))] == decisions
    assert visits["TO_MAST"] == steps["selection"] + steps["expansion"]
    assert visits["EPIC"] == decisions + ITERATIONS  # t + 1 positions in each playout
    if place in ("othello", "toy-branches", "toy-episodes"):  # every move is seen by all
        assert visits["NAST2"] == decisions - ITERATIONS
    else:
        assert visits["NAST2"] <= decisions - ITERATIONS


def test_the_environments_actions_are_no_ones_to_learn():
    result = search(after(toy.DICE), MAST >> NAST1, iterations=200, seed=2)
    keys = set(result.records["MAST"].rows["record"].tolist())
    assert keys <= {record(action, player) for action in range(10) for player in (0, 1)}
    assert not keys & {record(action, CHANCE) for action in range(10)}


@every_specification
def test_every_specification_prints_seven_tags(name):
    strategy = SPECIFICATIONS[name]
    for part in strategy.specification().split("\n\nEnhancement ")[-len(strategy.components) :]:
        tags = re.findall(r"\((\S+)-(\d)\)$", part, re.MULTILINE)
        assert [int(number) for _, number in tags] == list(range(1, 8))
        assert len({tag for tag, _ in tags}) == 1


@every_specification
def test_every_specification_is_a_value_that_pickles_and_parses_back(name):
    strategy = SPECIFICATIONS[name]
    again = pickle.loads(pickle.dumps(strategy))
    assert again == strategy == parse(name) == parse(str(strategy))
    assert hash(again) == hash(strategy)


# --------------------------------------------------------------------------------- the slots, asked about a history by hand

A, B, CH = 0, 1, CHANCE
BY_HAND = HistoryExample(
    [
        Decision(A, (4, 5, 6), 4, seen={B: 90}),
        Decision(CH, (7, 8), 7),
        Decision(B, (4, 5), 5, phase=EXPANSION, seen={A: UNSEEN}),
        Decision(A, (5, 6), 5, phase=SIMULATION, label=2),
        Decision(A, (4,), 4, phase=SIMULATION),
        Decision(B, (5, 9), 5, phase=SIMULATION),
    ],
    label=1,
)
FOURTH = BY_HAND.prefix(3)  # player 0, who saw 4 and 7, may play 5 or 6


def by_hand(strategy: Enhancement, *named: tuple) -> list[tuple[int, int]]:
    """(key, context) pairs from (parts of a record, context) pairs."""
    return [(BY_HAND.key(strategy, *parts), context) for parts, context in named]


def test_base_6_captures_histories_by_the_eyes_of_their_last_movers_up_to_t_e():
    visits = [(), (A, (4,)), (CH, (4, 7)), (B, (90, 7, 5))]  # t_e = 3; player 1 saw 90 for the 4
    available = [(A, (5,)), (A, (6,)), (CH, (4, 8)), (B, (90, 7, 4))]
    assert BY_HAND.capture(BASELINE) == by_hand(
        BASELINE,
        *[(parts, VISIT) for parts in visits],
        *[(parts, AVAILABLE) for parts in available],
    )


def test_amaf_6_captures_later_actions_where_they_were_legal():
    # Below the root player 0 plays 4, 5 and 4 again, all legal there; below the environment's node only its own 7; below the
    # expansion node player 1 plays 5 and 5 again.
    selected = by_hand(AMAF, ((A, (4,)), 0), ((A, (5,)), 0), ((A, (4,)), 0), ((CH, (4, 7)), 0))
    assert BY_HAND.capture(AMAF_STRICT) == selected
    assert BY_HAND.capture(AMAF) == selected + 2 * by_hand(AMAF, ((B, (90, 7, 5)), 0))


def test_mast_6_captures_every_action_of_a_player_and_to_mast_6_those_decided_in_the_tree():
    assert BY_HAND.capture(MAST) == by_hand(
        MAST, *[((a, p), p) for a, p in [(4, A), (5, B), (5, A), (4, A), (5, B)]]
    )
    assert BY_HAND.capture(TO_MAST) == by_hand(MAST, ((4, A), A), ((5, B), B))
    available = [(4, A, A), (5, A, -1), (6, A, -1), (4, B, -1), (5, B, B)]
    available += [(5, A, A), (6, A, -1), (4, A, A), (5, B, B), (9, B, -1)]
    assert BY_HAND.capture(MAST(ucb1(0.7))) == by_hand(
        MAST, *[((a, p), context) for a, p, context in available]
    )


def test_lgr_6_captures_the_reply_to_the_last_move_that_the_replying_player_observed():
    replies = [
        ((7, B), 5, B),
        ((7, A), 5, A),
        ((5, A), 4, A),
        ((4, B), 5, B),
    ]  # player 0 did not notice the first 5
    assert BY_HAND.capture(LGR) == BY_HAND.capture(LGRF)
    assert BY_HAND.capture(LGR) == by_hand(
        LGR, *[(move, a * MAX_PLAYERS + p) for move, a, p in replies]
    )


def test_nast_6_captures_the_moves_as_the_acting_player_saw_them():
    assert BY_HAND.capture(NAST2) == by_hand(NAST2, *[((*gram, p), p) for *gram, p in PAIRS])
    assert BY_HAND.capture(NAST1) == BY_HAND.capture(MAST)
    triples = [(90, 7, 5, B), (4, 7, 5, A), (7, 5, 4, A), (5, 4, 5, B)]
    assert BY_HAND.capture(NAST3) == by_hand(NAST3, *[((*gram, p), p) for *gram, p in triples])


PAIRS = [(7, 5, B), (7, 5, A), (5, 4, A), (4, 5, B)]


def test_epic_6_captures_an_action_in_the_episode_that_it_ends():
    visits = [
        (1, A, (4,)),
        (1, CH, (4, 7)),
        (1, B, (90, 7, 5)),
        (2, A, (5,)),
        (2, A, (5, 4)),
        (2, B, (5, 4, 5)),
    ]
    available = [
        (1, A, (5,)),
        (1, A, (6,)),
        (1, CH, (4, 8)),
        (1, B, (90, 7, 4)),
        (2, A, (6,)),
        (2, B, (5, 4, 9)),
    ]
    assert BY_HAND.capture(EPIC) == by_hand(
        EPIC,
        ((1, A, ()), VISIT),
        *[(p, VISIT) for p in visits],
        *[(p, AVAILABLE) for p in available],
    )


def test_the_policies_ask_about_the_records_of_the_legal_actions():
    def keys(strategy: Enhancement, *parts: tuple) -> list[int]:
        return [FOURTH.key(strategy, *of_one) for of_one in parts]

    histories = keys(AMAF, (A, (4, 7, 5)), (A, (4, 7, 6)))
    assert FOURTH.candidates(BASELINE) == FOURTH.candidates(AMAF) == histories
    assert FOURTH.candidates(MAST) == FOURTH.candidates(NAST1) == keys(MAST, (5, A), (6, A))
    assert FOURTH.candidates(NAST2) == keys(NAST2, (7, 5, A), (7, 6, A))
    assert FOURTH.candidates(EPIC) == keys(EPIC, (2, A, (5,)), (2, A, (6,)))
    assert BY_HAND.prefix(0).candidates(NAST2) == [NO_RECORD] * 3


def test_backpropagations_by_hand():
    def after_one(
        strategy: Enhancement, context: int, rewards: list[float], **information
    ) -> tuple:
        return tuple(backpropagate(strategy, context, rewards, **information).values())

    for strategy in (BASELINE, EPIC):  # Base-7, EPIC-7
        fields: dict[str, Any] = {"reward": (2.0, 3.0), "visits": 4, "availability": 9}
        assert after_one(strategy, VISIT, [1.0, 0.25], **fields) == ([3.0, 3.25], 5, 10)
        assert after_one(strategy, AVAILABLE, [1.0, 0.25], **fields) == ([2.0, 3.0], 4, 10)
    # AMAF-7
    assert after_one(AMAF, 0, [1.0, 0.25], reward=(2.0, 3.0), visits=4) == ([3.0, 3.25], 5)
    for strategy in (MAST, TO_MAST, NAST2):  # MAST-7, NAST-7
        assert after_one(strategy, 1, [1.0, 0.25], reward=2.0, visits=4) == (2.25, 5)
    by_ucb1 = MAST(ucb1(0.7))
    assert after_one(by_ucb1, 1, [1.0, 0.25], reward=2.0, visits=4, availability=5) == (2.25, 5, 6)
    assert after_one(by_ucb1, -1, [1.0, 0.25], reward=2.0, visits=4, availability=5) == (2.0, 4, 6)


@pytest.mark.parametrize(
    ("reward", "before", "lgr", "lgrf", "signed"),
    [
        (1.0, 3, 6, 6, 6),
        (0.5, 3, 6, 6, 3),
        (0.5, 6, 6, 6, NO_ACTION),
        (0.0, 3, 3, 3, 3),
        (0.0, 6, 6, NO_ACTION, NO_ACTION),
        (0.0, NO_ACTION, NO_ACTION, NO_ACTION, NO_ACTION),
    ],
)
def test_lgr_7_and_lgrf_7_by_hand(reward, before, lgr, lgrf, signed):
    context = 6 * MAX_PLAYERS + B  # player 1 played 6
    assert backpropagate(LGR, context, [1.0, reward], reply=before) == {"reply": lgr}
    assert backpropagate(LGRF, context, [1.0, reward], reply=before) == {"reply": lgrf}
    assert backpropagate(LGRF_SIGNED, context, [1.0, reward], reply=before) == {"reply": signed}


def test_values_by_hand():
    information = (
        {"reward": (1.0, 3.0), "visits": 4, "availability": 6},
        {"reward": (2.0, 0.0), "visits": 2, "availability": 2},
    )
    children = (A, (4, 7, 5)), (A, (4, 7, 6))
    # beside +∞ the other cannot matter
    assert FOURTH.values(BASELINE, {children[0]: information[0]}) == [0.0, np.inf]
    assert FOURTH.values(BASELINE, dict(zip(children, information, strict=True))) == pytest.approx(
        [0.25 + 0.7 * np.sqrt(np.log(6) / 4), 1 + 0.7 * np.sqrt(np.log(2) / 2)]
    )
    means = {(5, A): {"reward": 3.0, "visits": 4}}
    assert FOURTH.values(MAST, means) == [0.75, 1.0]
    means[6, A] = {"reward": 0.0, "visits": 2}
    assert FOURTH.values(NAST1, means) == pytest.approx(
        [0.75 + 0.7 * np.sqrt(np.log(6) / 4), 0.7 * np.sqrt(np.log(6) / 2)]
    )
    available = {
        (5, A): {"reward": 1.0, "visits": 2, "availability": 6},
        (6, A): {"reward": 0.0, "visits": 3, "availability": 3},
    }
    assert FOURTH.values(MAST(ucb1(0.7)), available) == pytest.approx(
        [0.5 + 0.7 * np.sqrt(np.log(6) / 2), 0.7 * np.sqrt(np.log(3) / 3)]
    )
    assert rave_weight.function(np.zeros(2), 250, 250, 250) == 0.5
    # LGR-4: the last move that player 0 observed is the 7
    assert FOURTH.values(LGR, {(7, A): {"reply": 6}}) == [0.0, 1.0]
    assert FOURTH.values(LGR, {(7, A): {"reply": 9}}) == [0.0, 0.0]  # is not legal
    assert FOURTH.values(LGR, {(7, B): {"reply": 6}}) == [0.0, 0.0]  # is the other player's
    assert BY_HAND.prefix(0).values(LGR) == [0.0, 0.0, 0.0]


def test_every_named_enhancement_and_factory_is_imported_from_icarus():
    assert all(getattr(icarus, name) is value for name, value in NAMES.items())
    assert set(NAMES) < set(icarus.__all__)
    assert parse("GRAVE") is icarus.GRAVE


@values(uniform_in_simulation=True)
def nan_in_simulation(history, theta, legal, out):
    """NaN, which is refused, where it must not be called"""
    out[:] = np.nan if history.steps[-1].phase == SIMULATION else 0.0


@both_engines
def test_a_values_function_declared_uniform_in_simulation_is_called_in_the_tree_only(engine):
    strategy = attrs.evolve(MAST, name="TREE", policy=epsilon_greedy(0.5).over(nan_in_simulation))
    assert (
        search(
            games.load("othello").new_initial_state(), strategy, iterations=20, engine=engine
        ).iterations
        == 20
    )


# -------------------- What slots of the catalogue declare of themselves, held against what they do.


PARTS = {part.name: part for strategy in SPECIFICATIONS.values() for part in strategy.components}
BY_CAPTURE = {part.capture.function: part for part in PARTS.values()}
CAPTURES = [
    part
    for part in BY_CAPTURE.values()
    if not (part.capture.reads_simulation and part.capture.writes_simulation)
]
INDEPENDENT = [
    part
    for part in PARTS.values()
    if isinstance(part.policy.source, Candidates) and part.policy.source.independent
]


def fits(state: State, part: Enhancement) -> bool:
    """Whether a search of the game may use it."""
    try:
        Search(part, iterations=1).begin(state)
    except ValueError:
        return False
    return True


@pytest.mark.parametrize("part", slow_if_put_together(CAPTURES), ids=str)
def test_a_search_that_relies_on_no_declaration_finds_the_same(part):
    openings = [
        state
        for name in ("othello", "goofspiel", "phantom-mnk")
        if fits(state := games.load(name).new_initial_state(1), part)
    ]
    assert openings
    cautious = attrs.evolve(part.capture, reads_simulation=True, writes_simulation=True)
    for state in openings:
        expected, result = (
            search(state, attrs.evolve(part, name="TRIED", capture=capture), iterations=30, seed=3)
            for capture in (part.capture, cautious)
        )
        assert (expected.visits == result.visits).all()
        rows = [each.records["TRIED"].rows for each in (expected, result)]
        assert np.array_equal(*rows)


@pytest.mark.parametrize("part", INDEPENDENT, ids=str)
def test_a_record_declared_independent_is_that_of_the_action_alone(part):
    luck = random.Random(4)
    for _ in range(20):
        legal = tuple(luck.sample(range(9), 4))
        played = [Decision(i % 2, legal, luck.choice(legal)) for i in range(6)]
        together = HistoryExample([*played, Decision(0, legal)]).candidates(part)
        alone = [
            HistoryExample([*played, Decision(0, (action,))]).candidates(part)[0]
            for action in legal
        ]
        assert together == alone
