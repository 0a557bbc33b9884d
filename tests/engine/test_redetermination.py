"""RIS_ISMCTS: each other player decides, in the tree, by what he can know himself."""

import random
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import (
    BASELINE,
    MAST,
    MO_ISMCTS,
    RAVE,
    RIS_ISMCTS,
    Agent,
    CheatingUCT,
    Game,
    SearchInterrupted,
    games,
    in_python,
    parse,
    parse_scheme,
    search,
    with_belief,
)
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.inspect.playout import inspect_playout
from icarus.engine.result import Result
from icarus.engine.scheme import Scheme
from icarus.kernel import TERMINAL, below, helper
from icarus.kernel.state import State
from tests import naive
from tests.engine.test_schemes_twin import SECRET_ORDER, agree, compositions
from tests.engine.test_twin import starts

SAFE, DARE, ATTACK, WAIT, COUNTER = 1, 2, 3, 4, 5
WEAK, STRONG = 10, 11  # an attack as player 0 sees it
DEALS = 4  # of which one is strong

AMBUSH_STATE = np.dtype([("deal", np.int64), ("last", np.int64), ("over", np.int64)], align=True)


def hide(state: Any, rng: np.ndarray) -> None:
    state.deal = below(rng, DEALS)


def mover(state: Any) -> int:
    return TERMINAL if state.over else 1 if state.last == DARE else 0


@helper
def options(state: Any, actions: np.ndarray) -> int:
    if state.last == ATTACK:
        actions[0] = COUNTER
        return 1
    first = ATTACK if state.last == DARE else SAFE
    actions[0], actions[1] = first, first + 1 if first == ATTACK else DARE
    return 2


def do(state: Any, action: int) -> None:
    state.last = action
    state.over = 0 if action == DARE else 1


def pay(state: Any, out: np.ndarray) -> None:
    """Player 0 wants to be attacked whatever he hides; player 1 wants to attack what is weak."""
    out[0] = 0.5 if state.last == SAFE else 1.0 if state.last == ATTACK else 0.0
    out[1] = 0.5 if state.last != ATTACK else 0.0 if state.deal == 0 else 1.0


def show(state: Any, action: int, moves: np.ndarray) -> None:
    if action == ATTACK:
        moves[0] = STRONG if state.deal == 0 else WEAK


def hide_again(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    if observer == 1:
        state.deal = below(rng, DEALS)


def tell(state: Any) -> str:
    return f"deal {state.deal} after {state.last}"


AMBUSH = Game(
    name="ambush",
    players=2,
    state=AMBUSH_STATE,
    initial=hide,
    player=mover,
    legal=options,
    apply=do,
    rewards=pay,
    max_legal=2,
    observe=show,
    determinize=hide_again,
    text=tell,
    action_text=lambda state, action: str(action),
)
"""Player 0 knows what he hides, with 1/4 something strong. He takes 0.5 or dares; player 1 then attacks or waits, which is worth 0.5 to
him. The attack is worth 3/4 to player 1, who knows nothing: he attacks, and to dare is worth 1."""


def strong(game: Game = AMBUSH) -> State:
    """What is hidden is strong."""
    return next(state for state in (game.new_initial_state(seed=seed) for seed in range(99)) if state.facts.deal == 0)


def worth(result: Result, player: int, *moves: int) -> float:
    """The mean reward of the player who made the last of these moves."""
    row = result.records["BASELINE"][player, moves]
    return float(row["reward"][player]) / int(row["visits"])


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_the_other_player_does_not_learn_by_his_outcomes_what_the_root_player_hides(engine: str) -> None:
    iterations = {"compiled": 8_000, "python": 1000}[engine]
    leaking, blind = (
        search(strong(), BASELINE, iterations=iterations, seed=1, scheme=scheme, engine=engine)
        for scheme in (MO_ISMCTS, RIS_ISMCTS)
    )
    assert leaking.action == SAFE  # since he believes that nobody attacks what is strong
    assert worth(leaking, 1, DARE, ATTACK) == 0.0
    assert worth(leaking, 0, DARE) < 0.3
    assert blind.action == DARE
    assert worth(blind, 1, DARE, ATTACK) == pytest.approx(3 / 4, abs=0.05)
    assert worth(blind, 1, DARE, WAIT) == 0.5
    assert worth(blind, 0, DARE) > 0.9


def test_an_iteration_goes_on_in_the_master_but_after_a_shift() -> None:
    """As a playout shows it: what was hidden at the root, in the world of player 1, and at the end."""
    strong_in = set()
    for after in [*range(7, 40), *range(300, 330)]:
        playout = inspect_playout(strong(), BASELINE, seed=1, after=after, scheme=RIS_ISMCTS)
        if len(playout.choices) == 2:
            root, world, final = (state.facts.deal == 0 for state in playout.states)
            strong_in.add((playout.choices[1].action, root, world, final, playout.rewards))
    assert strong_in == {
        (str(ATTACK), True, True, True, (1.0, 0.0)),
        (str(ATTACK), True, False, False, (1.0, 1.0)),
        (str(WAIT), True, True, True, (0.0, 0.5)),
        (str(WAIT), True, False, True, (0.0, 0.5)),
    }


def test_what_nobody_sees_before_the_end_leaks_still() -> None:
    """Where the outcome is not observed, two ends of the game are not told apart by their rewards."""
    unseen = attrs.evolve(AMBUSH, observe=None)
    results = [
        search(strong(unseen), BASELINE, iterations=2000, seed=1, scheme=scheme) for scheme in (MO_ISMCTS, RIS_ISMCTS)
    ]
    assert [worth(result, 1, DARE, ATTACK) for result in results] == [0.0, 0.0]


def another_turn(state: Any, action: int) -> None:
    """Who meets something strong is countered: player 0 acts once more."""
    state.last = action
    state.over = 0 if action == DARE or (action == ATTACK and state.deal == 0) else 1


def test_who_is_to_move_next_tells_two_states_apart() -> None:
    countered = attrs.evolve(AMBUSH, observe=None, apply=another_turn)
    result = search(strong(countered), BASELINE, iterations=4000, seed=1, scheme=RIS_ISMCTS)
    assert worth(result, 1, DARE, ATTACK) == pytest.approx(3 / 4 + 1 / 4 * 0.5, abs=0.05)


def where_it_lies(state: Any) -> int:
    return TERMINAL if state.over else 1 if state.last >= DARE else 0


def lever(state: Any, actions: np.ndarray) -> int:
    """After an attack player 1 may go on by an action of what he has met."""
    if state.last == ATTACK:
        actions[0] = COUNTER if state.deal == 0 else COUNTER + 1
        return 1
    return options(state, actions)


def go_on(state: Any, action: int) -> None:
    state.last = action
    state.over = 0 if action in (DARE, ATTACK) else 1


def paid(state: Any, out: np.ndarray) -> None:
    out[0] = 0.5
    out[1] = 0.5 if state.last < COUNTER else 0.0 if state.last == COUNTER else 1.0


def test_what_he_may_do_next_tells_the_mover_two_states_apart() -> None:
    lever_game = attrs.evolve(
        AMBUSH, observe=None, player=where_it_lies, legal=lever, apply=go_on, rewards=paid, determinize=hide_earlier
    )
    result = search(strong(lever_game), BASELINE, iterations=4000, seed=1, scheme=RIS_ISMCTS)
    assert worth(result, 1, DARE, ATTACK) == pytest.approx(3 / 4, abs=0.1)


def hide_earlier(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    """Before an attack all is possible; after it player 1 knows whether it is strong."""
    if observer == 1 and state.last != ATTACK:
        state.deal = below(rng, DEALS)


# ---------------------------------------------------------------------------------------------- where it is MO_ISMCTS


def hide_own(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    """Player 1 knows everything, and to draw nothing takes no number of the generator."""
    if observer == 0:
        state.deal = below(rng, DEALS)


@pytest.mark.parametrize("strategy", ["BASELINE", "RAVE >> MAST"])
def test_where_nothing_is_hidden_from_the_others_it_is_mo_ismcts_to_the_last_record(strategy: str) -> None:
    informed = attrs.evolve(AMBUSH, determinize=hide_own)
    plain, again = (
        search(strong(informed), parse(strategy), iterations=500, seed=2, scheme=scheme)
        for scheme in (MO_ISMCTS, RIS_ISMCTS)
    )
    for name, records in plain.records.items():
        assert (records.rows == again.records[name].rows).all(), name


def test_where_nothing_hidden_decides_it_is_mo_ismcts_in_distribution() -> None:
    state, runs = starts(games.load("knockout-whist(players=3)"), 4), 150
    shares = [
        np.array([search(state, BASELINE, iterations=60, seed=(9, i), scheme=scheme).policy for i in range(runs)])
        for scheme in (MO_ISMCTS, RIS_ISMCTS)
    ]
    means, spread = [share.mean(axis=0) for share in shares], np.sqrt(sum(share.var(axis=0) for share in shares) / runs)
    assert (abs(means[0] - means[1]) < 4.5 * spread + 1e-9).all()


def test_where_a_try_meets_what_is_hidden_it_is_another_search() -> None:
    state = games.load("phantom-mnk").new_initial_state()
    plain, again = (
        search(state, BASELINE, iterations=400, seed=2, scheme=scheme) for scheme in (MO_ISMCTS, RIS_ISMCTS)
    )
    assert not np.array_equal(plain.visits, again.visits)


# ---------------------------------------------------------------------------------------------------- whatever is searched


@pytest.mark.parametrize("game", [AMBUSH, SECRET_ORDER], ids=str)
def test_engine_and_twin_agree(game: Game) -> None:
    for number in range(2):
        strategy, twin = compositions(7000 + number)
        agree(starts(game, number), strategy, twin, 60, number, RIS_ISMCTS)


@pytest.mark.parametrize("name", ["hearts", "liars-dice", "phantom-mnk(columns=3,rows=3,in_a_row=3)"])
def test_engine_and_twin_agree_where_cards_dice_and_stones_are_hidden(name: str) -> None:
    agree(starts(games.load(name), 1), BASELINE, naive.baseline(), 60, 3, RIS_ISMCTS)


def among_attacks(seed: int, length: int) -> State:
    """A state of a random game of The Confrontation with few moves, so that the tree is deep: in it attacks reveal pieces."""
    rng, state = random.Random(seed), games.load("lotr-confrontation").new_initial_state(seed=seed)
    for _ in range(length):
        state.apply_action(rng.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("scheme", [RIS_ISMCTS, RIS_ISMCTS.with_exp3(), RIS_ISMCTS.with_cutoff(2)], ids=str)
def test_engine_and_twin_agree_among_attacks_of_the_confrontation(scheme: Scheme) -> None:
    agree(among_attacks(6, 61), BASELINE, naive.baseline(), 30, 3, scheme)
    agree(among_attacks(40, 56), RAVE >> MAST, naive.Sequential(naive.rave(), naive.mast()), 30, 4, scheme)


def test_a_playout_that_runs_out_of_room_leaves_no_master_behind() -> None:
    state = games.load("phantom-mnk(columns=3,rows=3,in_a_row=3)").new_initial_state()
    searches = [CompiledSearch(state, BASELINE, 5, RIS_ISMCTS) for _ in range(2)]
    for steps in range(3, 9):
        searches[0]._allocate_steps(steps)
        for each in searches:
            each.run(100 * steps)
    assert np.array_equal(searches[0].result().visits, searches[1].result().visits)


def test_threads_and_inherited_records_go_with_it() -> None:
    state = games.load("phantom-mnk").new_initial_state(seed=1)
    for sharing in ("roots", "records"):
        first = search(state, BASELINE, iterations=300, seed=1, scheme=RIS_ISMCTS, threads=2, sharing=sharing)
        assert first.iterations == first.visits.sum() == 300
    first = search(state, BASELINE, iterations=300, seed=1, scheme=RIS_ISMCTS)
    again = search(state, BASELINE, iterations=300, seed=2, scheme=RIS_ISMCTS, records=first)
    assert again.visits.sum() > 550
    with pytest.raises(ValueError, match="its histories are not those of MO_ISMCTS"):
        search(state, BASELINE, iterations=300, records=first)


def test_it_is_interrupted_like_every_search() -> None:
    def interrupt(iterations: int, elapsed: float) -> None:
        if iterations > 100:
            raise KeyboardInterrupt

    with pytest.raises(SearchInterrupted) as caught:
        search(
            games.load("phantom-mnk").new_initial_state(), BASELINE, seconds=60, progress=interrupt, scheme=RIS_ISMCTS
        )
    assert caught.value.result.iterations > 100


def test_its_text_says_what_it_is() -> None:
    scheme = parse_scheme("RIS_ISMCTS with EXP3 with cutoff=9")
    assert scheme == RIS_ISMCTS.with_exp3().with_cutoff(9) and str(scheme) == "RIS_ISMCTS with EXP3 with cutoff=9"
    assert str(Agent(BASELINE, iterations=9, scheme=RIS_ISMCTS)) == "BASELINE by RIS_ISMCTS (9 iterations)"


@pytest.mark.parametrize("python", [False, True])
def test_a_belief_model_draws_for_one_player_and_is_refused(python: bool) -> None:
    game = in_python(AMBUSH) if python else AMBUSH
    draw = (lambda state, observer, observed, rng: state) if python else (lambda state, observer, observed, rng: None)
    believing = with_belief(game.new_initial_state(), draw)
    with pytest.raises(ValueError, match="draws for the player to move only; RIS_ISMCTS draws for every player"):
        search(believing, BASELINE, iterations=9, scheme=RIS_ISMCTS)
    with pytest.raises(ValueError, match="draws for every player"):
        inspect_playout(believing, BASELINE, scheme=RIS_ISMCTS)
    with pytest.raises(ValueError, match="draws for every player"):
        Agent(BASELINE, iterations=9, scheme=RIS_ISMCTS, determinize=draw)
    with pytest.raises(ValueError, match="which CheatingUCT does not"):
        search(believing, BASELINE, iterations=9, scheme=CheatingUCT)


def wrong_world(state: Any, observer: int, beliefs: Any, rng: np.ndarray) -> None:
    if observer == 1:
        state.over = 1


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_world_that_is_none_of_the_player_s_information_set_is_refused(engine: str) -> None:
    broken = attrs.evolve(AMBUSH, determinize=wrong_world)
    with pytest.raises(ValueError, match="a determinization changed the player to move, or ended the game"):
        search(strong(broken), BASELINE, iterations=50, scheme=RIS_ISMCTS, engine=engine)
