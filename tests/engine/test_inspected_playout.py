"""An inspected playout: it is the search's own, on a toy by hand and in games by the records that the search has after it."""

import pytest

from icarus import BASELINE, MAST, SO_ISMCTS_POM, DeterminizedUCT, games, in_python, parse, search, show_playout
from icarus.engine.inspect.playout import ONLY, inspect_playout
from tests.toy import BRANCHES

REWARDS = {  # of toy-branches, by all that can be played
    ("0", "0"): (1, 0),
    ("0", "1", "1"): (0, 1),
    ("0", "1", "2"): (1, 0),
    ("1", "0"): (0.5, 0.5),
    ("1", "2", "0"): (0, 1),
    ("1", "2", "1"): (1, 0),
    ("1", "2", "3"): (0.5, 0.5),
    ("2",): (0, 1),
}
PLAYERS = {"0": (0, 1, 0), "1": (0, 0, 1), "2": (0,)}  # by the first action


@pytest.mark.parametrize("seed", range(8))
def test_the_first_playout_of_a_toy_is_simulated_and_captured_as_by_hand(seed: int) -> None:
    playout = inspect_playout(BRANCHES.new_initial_state(), BASELINE >> MAST, seed)
    path = tuple(choice.action for choice in playout.choices)
    players = PLAYERS[path[0]][: len(path)]
    assert playout.iteration == 1 and playout.rewards == REWARDS[path]
    assert [(choice.player, choice.phase) for choice in playout.choices] == [
        (player, "simulation") for player in players
    ]
    assert {choice.by for choice in playout.choices} == {"MAST"}
    assert all(value == 1 for choice in playout.choices for value in choice.values.values())  # unvisited: MAST-4
    (root,) = [update for update in playout.updates["BASELINE"] if update.context == 0]
    assert root.record == "⟨⟩" and root.before is None
    assert root.after["visits"] == 1 and root.after["reward"] == list(REWARDS[path])
    counts: dict[str, int] = {}
    for action, player, update in zip(path, players, playout.updates["MAST"], strict=True):
        record = f"({action}, player {player})"
        n = counts[record] = counts.get(record, 0) + 1
        assert (update.record, update.context) == (record, player)
        assert update.after == {"reward": n * REWARDS[path][player], "visits": n}
        assert update.before == (None if n == 1 else {"reward": (n - 1) * REWARDS[path][player], "visits": n - 1})


@pytest.mark.parametrize(
    ("game", "strategy", "scheme"),
    [
        ("othello", "RAVE >> (MAST + NAST2)/2", None),
        ("knockout-whist", "EPIC >> LGRF", None),
        ("goofspiel", "MAST", SO_ISMCTS_POM),
        ("kuhn-poker", "BASELINE >> (0.25 * MAST + 0.75 * LGRF)", None),
    ],
)
def test_after_it_the_records_are_those_of_a_search_one_iteration_longer(game, strategy, scheme) -> None:
    state, options = games.load(game).new_initial_state(seed=3), {} if scheme is None else {"scheme": scheme}
    playout = inspect_playout(state, parse(strategy), 5, 40, **options)
    result = search(state, parse(strategy), iterations=41, seed=5, **options)
    assert playout.iteration == 41 and list(playout.updates) == list(result.records)
    for name, updates in playout.updates.items():
        for key, update in {update.key: update for update in updates}.items():
            row = result.records[name][key]
            assert update.after == {field: row[field].tolist() for field in update.after}
    assert not any("key" in update.record for update in playout.updates["BASELINE"])


def test_each_alternative_of_a_mixture_decides_with_its_weight() -> None:
    playout = inspect_playout(
        games.load("othello").new_initial_state(), parse("BASELINE >> (0.25*MAST + 0.75*LGRF)"), 2, 20
    )
    simulated = [choice for choice in playout.choices if choice.phase == "simulation" and choice.by != ONLY]
    assert {(choice.by, choice.weight) for choice in simulated} == {("MAST", 0.25), ("LGRF", 0.75)}
    assert all(len(choice.values) == choice.legal for choice in simulated)


def test_a_game_in_plain_python_shows_the_same_playout() -> None:
    game, strategy = games.load("kuhn-poker"), parse("MAST")
    shown, plain = (
        show_playout(variant.new_initial_state(seed=2), strategy, 1, 15) for variant in (game, in_python(game))
    )
    assert str(shown) == str(plain)
    assert "MAST captured" in str(shown) and "decided by" in str(shown)
    assert shown._repr_html_().startswith("<iframe ")


def test_what_cannot_be_inspected_is_refused_in_a_sentence() -> None:
    state = games.load("kuhn-poker").new_initial_state(seed=2)
    with pytest.raises(ValueError, match="which grows several trees"):
        inspect_playout(state, BASELINE, scheme=DeterminizedUCT(4))
    with pytest.raises(ValueError, match="after is -1"):
        inspect_playout(state, BASELINE, after=-1)
