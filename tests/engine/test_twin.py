"""Engine against naive twin: the same random draws must give the same records with the same information."""

import random
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest

import icarus
from icarus import Game, Scheme, games, weight
from icarus.algebra import Enhancement
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.scheme import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
)
from icarus.engine.tables import Records
from icarus.kernel import CHANCE, NO_ACTION, TERMINAL, below, helper
from icarus.specs import BASELINE, parse
from tests import naive, toy
from tests.marks import by_players, slow_after, slow_if
from tests.naive_catalogue import read
from tests.toy import ALL_TOYS, BLIND_STATES, CLASHES, PENNIES, THICKETS, WHISPERS

COMPOSITIONS = 36
ITERATIONS = {"toy": 50, "whole": 15}
LAST_BITS = 1e-12  # relative, and of sums that cancel
Pair = tuple[Enhancement, Any]  # of the engine and of the twin


@weight
def half_visited(rewards, visits, availability, k=4):
    """A weight that depends on visits and availability."""
    return k / (visits + availability + 2 * k)


def pair(text: str) -> Pair:
    """What a text describes: to the engine, and to the twin."""
    naive_half = naive.Weight(lambda q, n, m: 4 / (n + m + 8))
    return parse(text, half_visited=half_visited), read(text, half_visited=naive_half)


RULES = ["gibbs(0.5)", "epsilon_greedy(0.3)", "roulette()", "ucb1(0.9)", "gibbs(1.0)"]


def leaf(rng: random.Random, maximising: bool) -> str:
    """A random enhancement."""
    bandit = f"ucb1({rng.choice([0.4, 0.7, 1.5])})"
    rule = rng.choice(RULES)
    n = rng.choice([1, 2, 3])
    choices = [
        "BASELINE",
        "AMAF",
        f"mast({bandit})",
        f"to_mast({bandit})",
        f"nast({n}, {bandit})",
        f"epic({bandit})",
    ]
    if not maximising:
        choices += ["LGR", "LGRF", "LGRF_SIGNED"]
        choices += [f"mast({rule})", f"to_mast({rule})", f"nast({n}, {rule})"]
    return rng.choice(choices)


def composition_text(rng: random.Random, depth: int, maximising: bool = False) -> str:
    """A random composition of at most `depth` levels, in brackets where it is one of several."""
    kind = (
        rng.choice(["leaf", "leaf", "sequential", "linear", "maxilinear", "majority"])
        if depth
        else "leaf"
    )
    if kind in ("linear", "majority") and maximising:
        kind = "maxilinear"
    if kind == "leaf":
        return leaf(rng, maximising)
    if kind == "sequential":
        first, second = (composition_text(rng, depth - 1, maximising) for _ in range(2))
        return f"({first} >> {second})"
    if kind == "majority":
        members = [composition_text(rng, depth - 1) for _ in range(rng.choice([2, 3]))]
        return f"({' & '.join(members)})"
    inside = maximising or kind == "maxilinear"
    first, second = (composition_text(rng, depth - 1, inside) for _ in range(2))
    constant = rng.choice([0.25, 0.5])
    weight = rng.choice([str(constant), "half_visited", "rave_weight(k=10)"])
    remainder = 1 - constant if weight == str(constant) else f"(1 - {weight})"
    operator = "+" if kind == "linear" else "^"
    return f"({weight} * {first} {operator} {remainder} * {second})"


def composition(rng: random.Random, depth: int) -> Pair:
    """A random composition with its twin."""
    return pair(composition_text(rng, depth))


def named_information(row):
    """A row of the engine as the twin's tuple."""
    names = [name for name in row.dtype.names if name != "record"]
    if names == ["reply"]:
        return None if row["reply"] == NO_ACTION else int(row["reply"])
    values = [tuple(row[name].tolist()) if row[name].ndim else row[name].item() for name in names]
    return tuple(values)


# The keys of the twin's records, by the table of a search: they are compared again and again while both search.
KEYS: WeakKeyDictionary[Any, dict[tuple, int]] = WeakKeyDictionary()


def keyed(theta: naive.Theta, table: Records) -> dict[int, Any]:
    """A twin's records by the engine's keys; where nobody has moved, the engine writes player 0."""
    keys = KEYS.setdefault(table._table, {})
    for record in theta.keys() - keys.keys():
        keys[record] = table.key(tuple(0 if part is None else part for part in record))
    return {keys[record]: information for record, information in theta.items()}


def same_information(leaf: naive.Twin, held: dict[int, Any], expected: dict[int, Any]) -> bool:
    """Whether engine and twin hold the same records with the same information."""
    if held == expected or not leaf.is_rounded:
        return held == expected
    return held.keys() == expected.keys() and all(
        np.allclose(np.hstack(held[key]), np.hstack(information), rtol=LAST_BITS, atol=LAST_BITS)
        for key, information in expected.items()
        if held[key] != information
    )


def starts(game: Game, seed: int):
    """A random state of a game in which a player is about to act."""
    rng = random.Random(seed)
    state = game.new_initial_state(seed=seed)
    start, wanted = None, rng.randrange(12)
    while not state.is_terminal() and (start is None or len(state.history) <= wanted):
        if state.current_player() != CHANCE:
            start = state.clone()
        state.apply_action(rng.choice(state.legal_actions()))
    return start


def compared(iteration: int, iterations: int) -> bool:
    """Whether records are compared after so many iterations: what differs goes on differing, so a look at some finds it as well."""
    return iteration <= 5 or iteration % 10 == 0 or iteration == iterations


def same_records(
    records: Mapping[str, Any], strategy: Enhancement, twin, outcome: naive.Outcome, where: tuple
) -> None:
    """Every record of every enhancement, and EXP3's, holds the same information in engine and twin."""
    parts = dict(zip(naive.leaves(twin), map(str, strategy.components), strict=True))
    parts |= {naive.EXP3: "EXP3"}
    assert ("EXP3" in records) == (naive.EXP3 in outcome.records)
    for kind, theta in outcome.records.items():
        table = records[parts.get(kind, str(BASELINE))]
        held = {int(row["record"]): named_information(row) for row in table.rows}
        assert same_information(kind, held, keyed(theta, table)), (str(strategy), kind, *where)


def agree(
    state,
    strategy: Enhancement,
    twin,
    iterations: int,
    seed: int | tuple[int, ...],
    scheme: Scheme = MO_ISMCTS,
) -> None:
    """After some of the iterations, for the schemes of one tree."""
    engine = CompiledSearch(state, strategy, seed, scheme=scheme)
    for iteration, outcome in enumerate(
        naive.stepwise(state, twin, iterations, seed, scheme), start=1
    ):
        if not compared(iteration, iterations):
            continue
        engine.run(iteration)
        same_records(
            engine.records(), strategy, twin, outcome, (str(state.game), str(scheme), iteration)
        )
        assert (
            dict(zip(engine.actions, engine.result().visits.tolist(), strict=True))
            == outcome.selections
        )
    assert engine.result().action == outcome.action


@by_players
@pytest.mark.parametrize("number", slow_after(3, range(COMPOSITIONS)))
def test_engine_and_twin_hold_the_same_records_in_every_toy_game(number, players):
    rng = random.Random(number)
    strategy, twin = composition(rng, 3)
    for game in ALL_TOYS:
        if game.players in players:
            agree(starts(game, number), strategy, twin, ITERATIONS["toy"], seed=number)


@pytest.mark.parametrize("name", ["othello", "knockout-whist(players=2)"])
@pytest.mark.parametrize("number", slow_after(3, range(COMPOSITIONS)))
def test_engine_and_twin_hold_the_same_records_in_whole_games(name, number):
    rng = random.Random(1000 + number)
    strategy, twin = composition(rng, 3)
    agree(starts(games.load(name), number), strategy, twin, ITERATIONS["whole"], seed=number)


@pytest.mark.parametrize("number", slow_after(1, range(12)))
def test_engine_and_twin_agree_on_majority_votes(number, toys):
    rng = random.Random(500 + number)
    first, second, third = (composition_text(rng, 2) for _ in range(3))
    vote = f"(0.5 * ({first} & {second}) + 0.5 * {third}) & {second} & {third}"
    for _, game in toys:
        agree(starts(game, number), *pair(vote), ITERATIONS["toy"], seed=number)
    othello = starts(games.load("othello"), number)
    agree(othello, *pair(f"BASELINE >> ({vote})"), 25, number)


@pytest.mark.parametrize("number", slow_after(1, range(4)))
def test_engine_and_twin_agree_on_both_readings_of_amaf(number, toys):
    for reading in ("AMAF", "AMAF_STRICT"):
        rave = pair(f"rave_weight(k=10) * {reading} ^ (1 - rave_weight(k=10)) * BASELINE")
        for _, game in toys:
            agree(starts(game, number), *rave, ITERATIONS["toy"], seed=number)


# -------------------- Engine against naive twin in every scheme: the same draws must give the same records and information.


SCHEMED = 6
SHORT = {"toy": 30, "whole": 12, "tree": 20}
ONE_TREE = [SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT, DeterminizedUCT(1)]
SEVERAL_TREES = [DeterminizedUCT(1), DeterminizedUCT(3), CheatingEnsembleUCT(3)]
REAL_GAMES = [
    "knockout-whist(players=2)",
    "phantom-mnk",
    "kuhn-poker",
    "goofspiel",
    "lotr-confrontation",
]
by_scheme = pytest.mark.parametrize("scheme", ONE_TREE, ids=str)


def agree_in_all_trees(
    state, strategy: Enhancement, twin, iterations: int, seed: int, scheme: Scheme
) -> None:
    """At the end, tree by tree."""
    whole = naive.search(state, twin, iterations, seed, scheme)
    engine = toy.begun(state, strategy, seed, scheme=scheme)
    engine.run(iterations)
    trees = whole.trees or [whole]
    for i, (part, outcome) in enumerate(zip(engine.searches, trees, strict=True)):
        same_records(part.records(), strategy, twin, outcome, (str(state.game), str(scheme), i))
    result = engine.result()
    assert (dict(zip(whole.selections, result.visits.tolist(), strict=True)), result.action) == (
        whole.selections,
        whole.action,
    )


def compositions(seed: int) -> Pair:
    return composition(random.Random(seed), 3)


@by_scheme
@pytest.mark.parametrize("number", slow_after(1, range(SCHEMED)))
def test_engine_and_twin_agree_by_every_scheme(number, scheme, toys):
    strategy, twin = compositions(2000 + number)
    for _, game in toys:
        agree(starts(game, number), strategy, twin, SHORT["toy"], (number, 7), scheme)


@pytest.mark.parametrize(
    "text",
    [  # that come to the baseline in simulation, in several ways
        "0.5 * BASELINE ^ 0.5 * BASELINE",
        "0.5 * (AMAF >> BASELINE) ^ 0.5 * BASELINE",
        "AMAF >> (BASELINE + LGR)/2",
        "0.25 * (0.5 * AMAF ^ 0.5 * BASELINE) + 0.75 * (AMAF >> BASELINE)",
    ],
)
def test_engine_and_twin_agree_on_what_is_uniform_by_definition(text):
    for game in (BLIND_STATES, WHISPERS, CLASHES):
        agree(starts(game, 1), *pair(text), SHORT["toy"], 3, SO_ISMCTS_POM)


SINGLE = ["BASELINE", "AMAF", "MAST", "TO_MAST", "LGR", "LGRF", "EPIC"]
SINGLE += [f"mast({rule})" for rule in ("ucb1(0.7)", "gibbs(0.25)", "roulette()")]
SINGLE += [f"nast({n}, ucb1(0.7))" for n in (1, 2, 3)]


@pytest.mark.parametrize("text", SINGLE)
@pytest.mark.parametrize("game", slow_after(1, [THICKETS[0], WHISPERS, *THICKETS[1:]]), ids=str)
def test_engine_and_twin_agree_on_every_enhancement_where_moves_go_unnoticed(game, text):
    for scheme in (SO_ISMCTS, SO_ISMCTS_POM):
        agree(starts(game, 1), *pair(text), SHORT["toy"], 1, scheme)


def test_engine_and_twin_break_the_ties_of_all_trees_alike():
    tied = 0
    for seed in range(30):
        whole = naive.search(
            PENNIES.new_initial_state(), naive.Baseline(), 4, seed, CheatingEnsembleUCT(2)
        )
        result = icarus.search(
            PENNIES.new_initial_state(),
            BASELINE,
            iterations=4,
            seed=seed,
            scheme=CheatingEnsembleUCT(2),
        )
        assert result.action == whole.action
        tied += len(set(whole.selections.values())) == 1
    assert tied > 5


@pytest.mark.parametrize(
    ("scheme", "game"),
    [  # each scheme in one of the two, and in both with --slow
        pytest.param(scheme, game, marks=slow_if((i + j) % 2))
        for i, scheme in enumerate([MO_ISMCTS, *ONE_TREE])
        for j, game in enumerate([PENNIES, CLASHES])
    ],
    ids=str,
)
@pytest.mark.parametrize("number", slow_after(1, range(SCHEMED)))
def test_engine_and_twin_agree_by_exp3_in_toy_games(number, scheme, game):
    strategy, twin = compositions(3000 + number)
    for start in range(2):
        agree(
            starts(game, 10 * number + start),
            strategy,
            twin,
            SHORT["toy"],
            number,
            scheme.with_exp3(),
        )


@pytest.mark.parametrize("scheme", SEVERAL_TREES, ids=str)
@pytest.mark.parametrize("number", slow_after(1, range(SCHEMED)))
def test_engine_and_twin_agree_in_every_one_of_several_trees(number, scheme, toys):
    strategy, twin = compositions(4000 + number)
    iterations = SHORT["tree"] * scheme.trees + number % 3
    for _, game in toys:
        schemes = [scheme] if game.simultaneous is None else [scheme, scheme.with_exp3()]
        for each in schemes:
            agree_in_all_trees(starts(game, number), strategy, twin, iterations, number, each)


@by_scheme
@pytest.mark.parametrize("name", slow_after(4, REAL_GAMES))
@pytest.mark.parametrize("number", slow_after(1, range(2)))
def test_engine_and_twin_agree_in_whole_games(number, name, scheme):
    strategy, twin = compositions(5000 + number)
    agree(starts(games.load(name), number), strategy, twin, SHORT["whole"], number, scheme)


# ---------------------------------------------------------------------------------- who moves next is hidden, and all moves are seen


ORDERED = np.dtype(
    [("order", np.int64), ("actions", np.int64, (5,)), ("count", np.int64)], align=True
)


def shuffle_order(state, rng):
    state.order = below(rng, 4)


@helper
def mover_of(state):
    """Player 0 makes the first, third and fifth move; a bit of the order says who makes each of the others."""
    if state.count == 5:
        return TERMINAL
    return state.order >> state.count // 2 & 1 if state.count % 2 == 1 else 0


def in_order(state):
    return mover_of(state)


def redraw_order(state, observer, beliefs, rng):
    mover = mover_of(state)
    if observer != CHANCE:
        state.order = below(rng, 4)
        while mover_of(state) != mover:
            state.order = below(rng, 4)


def three(state, actions):
    actions[0], actions[1], actions[2] = 0, 1, 2
    return 3


def write_down(state, action):
    state.actions[state.count] = action
    state.count += 1


def winner(state, out):
    total = 0
    for i in range(5):
        total = 3 * total + state.actions[i] + state.order
    out[0] = 1.0 if total % 7 < 3 else 0.0
    out[1] = 1.0 - out[0]


SECRET_ORDER = Game(
    name="secret-order",
    players=2,
    state=ORDERED,
    initial=shuffle_order,
    player=in_order,
    legal=three,
    apply=write_down,
    rewards=winner,
    max_legal=3,
    determinize=redraw_order,
    text=lambda state: f"order {state.order}: {state.actions[: state.count]}",
    action_text=lambda state, action: str(action),
)


@pytest.mark.parametrize(
    ("game", "scheme"),
    [
        (SECRET_ORDER, MO_ISMCTS),
        (games.load("phantom-mnk(columns=3,rows=3,in_a_row=3)"), SO_ISMCTS),
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [0, 1, 39])
def test_engine_and_twin_agree_where_the_same_moves_may_be_of_other_players(game, scheme, seed):
    """A history beyond the tree, by who made its last move, may have the moves of one that is in it: AMAF has records of its children."""
    agree(starts(game, seed), *pair("AMAF"), 60, seed, scheme)
