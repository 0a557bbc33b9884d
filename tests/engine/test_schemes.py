"""Schemes as values, and what each promises whatever is searched."""

import random

import numpy as np
import pytest

from icarus import (
    MO_ISMCTS,
    SO_ISMCTS,
    SO_ISMCTS_POM,
    Agent,
    CheatingEnsembleUCT,
    CheatingUCT,
    DeterminizedUCT,
    Game,
    PythonGame,
    State,
    games,
    parse,
    parse_scheme,
    search,
)
from icarus.engine.scheme import SCHEMES, Scheme
from icarus.kernel import CHANCE, TERMINAL
from icarus.specs import BASELINE

EVERYTHING = parse("RAVE >> (MAST + LGRF + NAST2 + EPIC)/4")
# Fields in which even the environment meets something new: the luck to come, and the mark of a search.
NOT_SEEN = {"hearts": {"fate", "searching"}, "knockout-whist": {"deals"}, "lotr-confrontation": {"searching"}}
every_scheme = pytest.mark.parametrize("scheme", SCHEMES.values(), ids=str)
HIDDEN = [game for game in map(games.load, games.names()) if game.determinize is not None]


def states(game: Game, seed: int) -> list[State]:
    """The states of a random game, chance included."""
    rng, path = random.Random(seed), [game.new_initial_state(seed=seed)]
    while not path[-1].is_terminal():
        path.append(path[-1].clone())
        path[-1].apply_action(rng.choice(path[-1].legal_actions()))
    return path


def choice(name: str, seed: int) -> State:
    """A state of a random game in which a player has a choice."""
    return next(
        state
        for state in states(games.load(name), seed)[3:]
        if state.current_player() >= 0 and len(state.legal_actions()) > 3
    )


def phantom(*squares: str) -> State:
    state = games.load("phantom-mnk").new_initial_state(seed=1)
    for square in squares:
        state.apply_action(state.string_to_action(square))
    return state


@every_scheme
def test_a_scheme_is_read_back_from_its_text(scheme: Scheme) -> None:
    assert parse_scheme(str(scheme)) == scheme != scheme.with_exp3() == parse_scheme(str(scheme.with_exp3()))


def test_the_number_of_trees_may_be_given() -> None:
    assert (
        parse_scheme("DeterminizedUCT(7)") == parse_scheme("DeterminizedUCT(determinizations=7)") == DeterminizedUCT(7)
    )
    assert DeterminizedUCT(7) != DeterminizedUCT() == parse_scheme("DeterminizedUCT")
    assert parse_scheme("CheatingEnsembleUCT(trees=3)").trees == 3


@pytest.mark.parametrize(
    "text", ["", "UCT", "MO_ISMCTS(3)", "DeterminizedUCT(trees=3)", "DeterminizedUCT(0)", "CheatingUCT with"]
)
def test_what_is_no_scheme_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="scheme|at least 1|from 1 to"):
        parse_scheme(text)


def test_only_two_schemes_cheat_and_their_results_say_so() -> None:
    assert [str(scheme) for scheme in SCHEMES.values() if scheme.cheats] == [
        "CheatingUCT",
        "CheatingEnsembleUCT(trees=40)",
    ]
    for scheme in SCHEMES.values():
        texts = [
            str(search(phantom(), BASELINE, iterations=40, scheme=scheme)),
            str(Agent(BASELINE, iterations=40, scheme=scheme)),
        ]
        assert all(("cheating" in text) == scheme.cheats for text in texts)


@pytest.mark.parametrize("game", HIDDEN, ids=str)
def test_the_environment_sees_everything_but_the_luck_to_come(game: Game) -> None:
    fields = [name for name in game.state.names or () if name not in NOT_SEEN.get(game.name, ())]
    for state in states(game, seed=5)[::7]:
        world = state.determinize(CHANCE, seed=3)
        for name in fields:
            assert np.array_equal(world.data[name], state.data[name]), name


@pytest.mark.parametrize(
    ("name", "scheme"),
    [  # each scheme in three of the games, and in all with --slow
        pytest.param(name, scheme, marks=[pytest.mark.slow] * ((i + j) % 2))
        for i, scheme in enumerate(SCHEMES.values())
        for j, name in enumerate(["othello", "hearts", "lotr-confrontation", "phantom-mnk", "goofspiel", "backgammon"])
    ],
    ids=str,
)
def test_every_scheme_runs_every_composition_and_repeats_itself(name: str, scheme: Scheme) -> None:
    state = choice(name, seed=2)
    first, second = (search(state, EVERYTHING, iterations=45, seed=6, scheme=scheme.with_exp3()) for _ in range(2))
    assert first.iterations == first.visits.sum() == 45 and first.action == second.action
    assert np.array_equal(first.visits, second.visits)


@pytest.mark.parametrize("scheme", [DeterminizedUCT(5), CheatingEnsembleUCT(5)], ids=str)
def test_trees_have_equal_shares_and_records_of_their_own(scheme: Scheme) -> None:
    result = search(phantom(), BASELINE, iterations=203, seed=4, scheme=scheme)
    assert [part.iterations for part in result.parts] == [41, 41, 41, 40, 40]
    assert [part.records["BASELINE"][()]["visits"] for part in result.parts] == [41, 41, 41, 40, 40]
    assert np.array_equal(result.visits, np.sum([part.visits for part in result.parts], axis=0))
    assert result.threads == 1


@pytest.mark.parametrize("strategy", [BASELINE, EVERYTHING], ids=["BASELINE", "everything"])
def test_with_perfect_information_all_schemes_of_one_tree_are_one(strategy: object) -> None:
    state = games.load("othello").new_initial_state()
    results = [
        search(state, parse(str(strategy)), iterations=300, seed=8, scheme=scheme)
        for scheme in (MO_ISMCTS, SO_ISMCTS, SO_ISMCTS_POM, CheatingUCT)
    ]
    for result in results[1:]:
        assert np.array_equal(results[0].visits, result.visits) and results[0].phase_steps == result.phase_steps


def test_a_cheat_sees_the_mark_that_is_hidden() -> None:
    # 4,4,4: player 0 holds three of the first row; player 1, who is to move and has seen none of it, must take the fourth.
    state = phantom("a1", "a2", "b1", "b3", "c1")
    assert state.current_player() == 1
    cheating = search(state, BASELINE, iterations=4000, seed=1, scheme=CheatingUCT)
    assert state.action_to_string(cheating.action) == "d1"
    honest = search(state, BASELINE, iterations=4000, seed=1)
    assert honest.policy.max() < 0.5


def test_fewer_iterations_than_trees_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"is 39; DeterminizedUCT\(determinizations=40\) needs at least one for each of its 40 trees"
    ):
        search(phantom(), BASELINE, iterations=39, scheme=DeterminizedUCT())
    with pytest.raises(ValueError, match="iterations is 39"):
        Agent(BASELINE, iterations=39, scheme=DeterminizedUCT())


HIDES_THREE = PythonGame(
    name="hides-three",
    players=2,
    initial=lambda rng: [],
    player=lambda state: (0, 1, TERMINAL)[len(state)],
    legal=lambda state: [1, 2, 3, 4] if state else [0],
    apply=lambda state, action: state.append(action),
    rewards=lambda state: (float(state[1] == 4), 0.0),
    observe=lambda state, action: [9 if state and action < 4 else action, action],
    determinize=lambda state, observer, beliefs, rng: list(state),
)


@pytest.mark.parametrize("strategy", ["BASELINE", "BASELINE >> MAST"])
def test_who_knows_nothing_is_uniform_over_the_moves_that_the_root_player_sees(strategy: str) -> None:
    """Three actions look alike, one does not: each move is as likely, whatever policy simulates."""
    state, plays = HIDES_THREE.new_initial_state(), 400
    results = [search(state, parse(strategy), iterations=1, seed=seed, scheme=SO_ISMCTS_POM) for seed in range(plays)]
    share = sum(result.records["BASELINE"].rows["reward"][0, 0] for result in results) / plays
    assert share == pytest.approx(1 / 2, abs=5 * 0.025)  # five standard errors; over actions it would be 1/4
