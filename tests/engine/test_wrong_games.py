"""What search always checks, since it costs nothing: a wrong game ends in a sentence, never in a wrong result."""

from collections.abc import Callable

import attrs
import pytest

from icarus import BASELINE, Game, search
from tests.commands import test_contract as slips
from tests.commands.test_contract import COIN, NIM, SECRET

REWARDS = "the rewards function of a game did not write a number from 0 to 1 for each player"
MOVED = "a determinization changed the player to move, or ended the game"


@pytest.mark.parametrize(
    ("game", "slip", "told"),
    [
        (NIM, {"rewards": slips.rewards_of_one}, REWARDS),
        (NIM, {"rewards": slips.rewards_nan}, REWARDS),
        (NIM, {"rewards": slips.rewards_of_two}, REWARDS),
        (NIM, {"player": slips.player_seven}, "gave a number that is no player"),
        (NIM, {"legal": slips.legal_none}, "no legal action at a state that is not terminal"),
        (SECRET, {"determinize": slips.determinize_the_mover}, MOVED),
        (SECRET, {"determinize": slips.determinize_the_end}, MOVED),
    ],
    ids=lambda given: getattr(next(iter(given.values())), "__name__", "") if isinstance(given, dict) else "",
)
def test_a_search_of_a_wrong_game_ends_in_a_sentence(game: Game, slip: dict[str, Callable], told: str) -> None:
    state = attrs.evolve(game, **slip).new_initial_state(1)
    if game is SECRET:
        state.apply_action(2)
    with pytest.raises(ValueError, match=told):
        search(state, BASELINE, iterations=200)


def toss_in_the_middle(state: slips.Any, action: int) -> None:
    """After the first choice a coin says who goes on."""
    if state.mover == -1:
        state.mover = action
    else:
        state.left -= action
        state.mover = -1 if state.left == 4 else 1 - state.mover


def test_probabilities_that_do_not_sum_to_1_end_a_search() -> None:
    game = attrs.evolve(COIN, initial=slips.initial, apply=toss_in_the_middle)
    assert search(game.new_initial_state(1), BASELINE, iterations=200).iterations == 200
    with pytest.raises(ValueError, match="chance outcomes do not sum to 1"):
        search(attrs.evolve(game, chance=slips.chance_of_nine_tenths).new_initial_state(1), BASELINE, iterations=200)


def legal_of_four(state: slips.Any, actions: slips.np.ndarray) -> int:
    """One more than max_legal, after the root."""
    count = 3 if state.left == 7 else 4
    for i in range(count):
        actions[i] = i + 1
    return count


def test_more_legal_actions_than_max_legal_end_a_search() -> None:
    state = attrs.evolve(NIM, legal=legal_of_four).new_initial_state(1)
    with pytest.raises(ValueError, match="more legal actions than its max_legal"):
        search(state, BASELINE, iterations=200)
