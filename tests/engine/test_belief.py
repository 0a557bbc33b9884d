"""Belief models: what they are given, that both engines draw by them, and what a search by a right belief is worth."""

from typing import Any

import numpy as np
import pytest

from icarus import BASELINE, MAST, Agent, CheatingUCT, PythonGame, games, in_python, play, search, with_belief
from icarus.audit import audit_belief
from icarus.kernel import below
from icarus.kernel.state import State

KUHN = games.load("kuhn-poker")
JACK, QUEEN, KING = range(3)
PASS, BET = 0, 1


def as_dealt(state: Any, observer: int, observed: Any, rng: np.ndarray) -> None:
    """The game's own, uniform over the two other cards."""
    state.cards[1 - observer] = (state.cards[observer] + 1 + below(rng, 2)) % 3


def fears_bets(state: Any, observer: int, observed: Any, rng: np.ndarray) -> None:
    """Who has bet holds the best card that the observer does not; who has passed holds the worst."""
    opponent, card, bet = 1 - observer, state.cards[observer], False
    for i in range(observed.count):
        bet = bet or (observed.player[i] == opponent and observed.move[i] == BET)
    state.cards[opponent] = (KING if card != KING else QUEEN) if bet else (JACK if card != JACK else QUEEN)


def queen_after(action: int) -> State:
    """Player 1, who holds a queen, after player 0 has acted."""
    state = KUHN.new_initial_state(
        seed=next(s for s in range(99) if KUHN.new_initial_state(seed=s).facts.cards[1] == QUEEN)
    )
    state.apply_action(action)
    return state


@pytest.mark.parametrize("action", [PASS, BET])
def test_a_belief_that_is_the_game_s_own_changes_nothing(action: int) -> None:
    state = queen_after(action)
    for engine in ("compiled", "python"):
        plain = search(state, BASELINE >> MAST, iterations=80, seed=3, engine=engine)
        believed = search(with_belief(state, as_dealt), BASELINE >> MAST, iterations=80, seed=3, engine=engine)
        assert (plain.visits == believed.visits).all() and np.array_equal(plain.values, believed.values)


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_search_believes_what_the_observed_moves_say(engine: str) -> None:
    result = search(with_belief(queen_after(BET), fears_bets), BASELINE, iterations=200, seed=1, engine=engine)
    assert result.state.action_to_string(result.action) == "fold"
    assert result.values.tolist() == [
        0.25,
        0.0,
    ]  # a king is believed: fold and lose the ante, or call and lose twice as much
    result = search(with_belief(queen_after(PASS), fears_bets), BASELINE, iterations=200, seed=1, engine=engine)
    assert (result.values[0], result.action) == (
        0.75,
        BET,
    )  # a jack: a pass wins the ante, and a bet may win twice as much


def test_a_python_game_is_given_the_same_observations() -> None:
    observations: list[Any] = []

    def notes(state: Any, observer: int, observed: Any, rng: np.ndarray) -> Any:
        pairs = zip(observed.player[: observed.count].tolist(), observed.move[: observed.count].tolist(), strict=True)
        observations.append((observer, *pairs))
        return state.copy()

    game: PythonGame = in_python(KUHN)
    state = game.new_initial_state(seed=2)
    state.apply_action(BET)
    search(with_belief(state, notes), BASELINE, iterations=3, seed=1)
    assert set(observations) == {(1, (0, BET))}


def test_an_agent_plays_by_its_belief_and_says_so() -> None:
    agent = Agent(BASELINE, iterations=30, determinize=fears_bets)
    assert str(agent) == "BASELINE (30 iterations, determinize fears_bets)"
    log = play(KUHN, [agent, agent], seed=4)
    assert log == play(KUHN, [agent, agent], seed=4) or log.actions == play(KUHN, [agent, agent], seed=4).actions


def test_wrong_beliefs_are_refused() -> None:
    with pytest.raises(ValueError, match="nothing is hidden in othello"):
        with_belief(games.load("othello").new_initial_state(), as_dealt)
    with pytest.raises(
        TypeError, match=r"with_belief needs a State, such as games\.load\('hearts'\)\.new_initial_state\(\), not "
    ):
        with_belief(KUHN, as_dealt)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="determinize is 3; it must be a function"):
        with_belief(queen_after(BET), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="determinize draws a state for each iteration, which CheatingUCT does not"):
        Agent(BASELINE, iterations=3, scheme=CheatingUCT, determinize=as_dealt)


def peeps(state: Any, observer: int, observed: Any, rng: np.ndarray) -> None:
    """It draws the card that the other really holds more often."""
    if below(rng, 2) == 0:
        state.cards[1 - observer] = (state.cards[observer] + 1 + below(rng, 2)) % 3


def changes_its_own_card(state: Any, observer: int, observed: Any, rng: np.ndarray) -> None:
    state.cards[observer], state.cards[1 - observer] = state.cards[1 - observer], state.cards[observer]


@pytest.mark.parametrize(
    ("belief", "failed"),
    [(as_dealt, ()), (fears_bets, ()), (peeps, ("hidden",)), (changes_its_own_card, ("set", "hidden"))],
)
def test_a_belief_is_audited_as_a_belief(belief: Any, failed: tuple[str, ...]) -> None:
    report = audit_belief(KUHN, belief, games=20, draws=10)
    assert report.failed == failed and report.decisions > 20
    assert report["set"].checked == report.determinizations
    if failed:
        assert "draws" in report[failed[0]].examples[0]
