"""What search always checks, since it costs nothing: a wrong game ends in a sentence, never in a wrong result."""

from collections.abc import Callable
from typing import Any

import attrs
import pytest

from icarus import BASELINE, SO_ISMCTS, DeterminizedUCT, Game, search
from tests.commands import test_contract as slips
from tests.commands.test_contract import COIN, NIM, SECRET

REWARDS = "the rewards function of a game did not write a number from 0 to 1 for each player"
TOO_MANY = "more legal actions than its max_legal"
MOVED = "a determinization changed the player to move, or ended the game"
PLAINLY = {  # what plain Python says instead
    REWARDS: r"the rewards of nim7 are \[.*\]; each player's must be in \[0, 1\]",
    TOO_MANY: f"{TOO_MANY}|index 3 is out of bounds for axis 0 with size 3",
}
WAYS: dict[str, dict[str, Any]] = {
    "compiled": {},
    "python": {"engine": "python"},
    "two threads": {"threads": 2},
    "shared records": {"threads": 2, "sharing": "records"},
    "SO-ISMCTS": {"scheme": SO_ISMCTS},
    "determinized UCT": {"scheme": DeterminizedUCT(2)},
}


def legal_of_four(state: Any, actions: slips.np.ndarray) -> int:
    """One more than max_legal, after the root."""
    count = 3 if state.left == 7 else 4
    for i in range(count):
        actions[i] = i + 1
    return count


def legal_of_a_million(state: Any, actions: slips.np.ndarray) -> int:
    """As many are claimed, after the root."""
    for i in range(3):
        actions[i] = i + 1
    return 3 if state.left == 7 else 1_000_000


@pytest.mark.parametrize(
    ("game", "slip", "told"),
    [
        (NIM, {"rewards": slips.rewards_of_one}, REWARDS),
        (NIM, {"rewards": slips.rewards_nan}, REWARDS),
        (NIM, {"rewards": slips.rewards_of_two}, REWARDS),
        (NIM, {"player": slips.player_seven}, "gave a number that is no player"),
        (NIM, {"legal": slips.legal_none}, "no legal action at a state that is not terminal"),
        (NIM, {"legal": legal_of_four}, TOO_MANY),
        (NIM, {"legal": legal_of_a_million}, TOO_MANY),
        (SECRET, {"determinize": slips.determinize_the_mover}, MOVED),
        (SECRET, {"determinize": slips.determinize_the_end}, MOVED),
    ],
    ids=lambda given: getattr(next(iter(given.values())), "__name__", "") if isinstance(given, dict) else "",
)
@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_a_search_of_a_wrong_game_ends_in_a_sentence(
    game: Game, slip: dict[str, Callable], told: str, way: dict[str, Any]
) -> None:
    state = attrs.evolve(game, **slip).new_initial_state(1)
    if game is SECRET:
        state.apply_action(2)
    with pytest.raises((ValueError, IndexError), match=PLAINLY.get(told, told) if "engine" in way else told):
        search(state, BASELINE, iterations=200, **way)


def toss_in_the_middle(state: Any, action: int) -> None:
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
