"""The plain-Python games of examples/adopted: they end, lose no card, and their faults can be seen."""

import copy
import random
import tomllib
import types
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent / "examples" / "adopted"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
FAULTS = tomllib.loads((FOLDER / "faults.toml").read_text())
CHANCE, TERMINAL = -1, -4


def game_class(name, text=None, fault=None):
    """The class of a game's file, with one text of it replaced."""
    source = (FOLDER / f"{name}.py").read_text()
    if text is not None:
        assert source.count(text) == 1, f"{text!r} occurs {source.count(text)} times in {name}.py"
        source = source.replace(text, fault)
    module = types.ModuleType(name)
    exec(compile(source, f"{name}.py", "exec"), vars(module))
    return next(value for value in vars(module).values() if isinstance(value, type))


def new(cls, seed):
    return cls() if cls.__init__.__code__.co_argcount == 1 else cls(random.Random(seed))


def drawn(state, rng):
    if state.current_player() != CHANCE:
        return rng.choice(state.legal_actions())
    outcomes, probabilities = zip(*state.chance_outcomes(), strict=True)
    assert sum(probabilities) == pytest.approx(1) and list(outcomes) == state.legal_actions()
    return rng.choices(outcomes, probabilities)[0]


def playout(state, rng):
    """The states of a random game, each before its action."""
    while not state.is_terminal():
        yield state
        state.apply_action(drawn(state, rng))
    yield state


WHOLE = {  # what every state of a game holds, sorted
    "schnapsen": lambda s: sorted([*s.hands[0], *s.hands[1], *s.stock, *(c for c in range(20) if s.played[c])]),
    "lost_cities": lambda s: sorted(
        [*s.hands[0], *s.hands[1], *s.deck, *sum(s.piles, []), *(c for c in range(27) if s.laid[0][c] or s.laid[1][c])]
    ),
    "clue": lambda s: sorted(s.place),
    "kalah": lambda s: sum(s.board),
    "twenty_one": lambda s: len(s.in_deck()) + sum(h > 0 for h in s.hidden) + sum(map(sum, s.face_up)),
    "breakthrough": lambda s: sum(s.pieces) - sum(cell > 0 for row in s.board for cell in row),
    "connect_four": lambda s: s.discs - sum(cell >= 0 for row in s.board for cell in row),
    "dots_and_boxes": lambda s: sum(s.score) - sum(cell >= 0 for row in s.owner for cell in row),
    "oh_hell": lambda s: sum(map(len, s.hands)) + sum(s.seen),
}


@pytest.mark.parametrize("name", NAMES)
def test_games_end_and_keep_what_they_hold(name):
    cls, whole = game_class(name), WHOLE.get(name, lambda state: None)
    for seed in range(10):
        rng = random.Random(seed)
        start = new(cls, seed)
        held = whole(start)
        for state in playout(start, rng):
            assert whole(state) == held
            if state.is_terminal():
                break
            actions, twin = state.legal_actions(), state.clone()
            assert len(set(actions)) == len(actions) > 0
            assert state.current_player() in range(CHANCE, state.num_players())
            twin.apply_action(actions[0])
            assert state.legal_actions() == actions and str(copy.deepcopy(state)) == str(state)
        assert state.current_player() == TERMINAL
        assert len(state.returns()) == state.num_players()


@pytest.mark.parametrize("name", [name for name in NAMES if hasattr(game_class(name), "resample")])
def test_a_player_cannot_tell_a_resampled_state_from_the_true_one(name):
    cls, whole = game_class(name), WHOLE.get(name, lambda state: None)
    differ = 0
    for seed in range(5):
        rng = random.Random(seed)
        for number, state in enumerate(playout(new(cls, seed), rng)):
            if number % 4 or state.is_terminal():
                continue
            text = str(state)
            for player in range(state.num_players()):
                alternative = state.resample(player, rng)
                assert alternative.observation(player) == state.observation(player) and whole(alternative) == whole(
                    state
                )
                if state.current_player() == player:
                    assert alternative.legal_actions() == state.legal_actions()
                differ += str(alternative) != text
            assert str(state) == text
    assert differ > 5


@pytest.mark.parametrize("fault", FAULTS["rules"], ids=lambda fault: f"{fault['game']}: {fault['wrong']}")
def test_a_fault_of_the_rules_shows_in_lock_step(fault):
    right, wrong = game_class(fault["game"]), game_class(fault["game"], fault["text"], fault["fault"])

    def faces(state):
        return state.is_terminal() or (state.current_player(), sorted(state.legal_actions()))

    for seed in range(1000):
        rng = random.Random(seed)
        state, faulty_state = new(right, seed), new(wrong, seed)
        while faces(state) == faces(faulty_state) and not state.is_terminal():
            action = drawn(state, rng)
            state.apply_action(action)
            faulty_state.apply_action(action)
        if faces(state) != faces(faulty_state) or state.returns() != faulty_state.returns():
            return
    raise AssertionError("the fault shows in no game")
