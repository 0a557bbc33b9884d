"""What every game must keep: the games of the list, some with other parameters, and the toys. Listing a game tests it."""

import functools
import json
import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import Game, State, games
from icarus.audit import audit
from icarus.compiler.kernel import MachineCode
from icarus.compiler.rng import seeded
from icarus.games.dou_di_zhu import cards_of
from icarus.kernel import CHANCE, CONTINUES, TERMINAL
from icarus.kernel.functions import FUNCTIONS
from tests import toy

VARIANTS = [
    "knockout-whist(players=2)",
    "knockout-whist(players=7)",
    "lotr-confrontation(random_setup=1)",
    "hearts(threshold=1)",
]
WHOLE = {str(game): game for game in map(games.load, [*games.names(), *VARIANTS])}
TOYS = {str(game): game for game in toy.ALL_TOYS}
LISTED = {**WHOLE, **TOYS}

MOST_ACTIONS = 20_000  # of any random game
LARGEST_ACTION = 1 << 56  # actions share a 64-bit word with a player
ROOM = 4096  # more moves than any episode has
WHOLE_GAMES, TOY_GAMES = 1, 8  # random games looked at
LOOKED_AT = 25  # states of a game where a check costs a replay of its history
PLAIN_STEPS = 60  # actions of a game that plain Python repeats
PLAIN_DRAWS = 4  # of its states where plain Python determinizes

each_game = pytest.mark.parametrize("game", LISTED.values(), ids=str)
# What is audited with --slow alone runs the same code as hearts(threshold=1), knockout-whist, lotr-confrontation and toy-thicket-4.
LONG = {"hearts", VARIANTS[0], VARIANTS[2], *(str(game) for game in toy.THICKETS[:-1])}
each_audited_game = pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.slow] * (name in LONG)) for name, game in LISTED.items()], ids=LISTED
)


def equal_deals(state: Any) -> float:
    """Deals of single cards, among those to the three hands, that a state of Dou Di Zhu with its mere ranks stands for."""
    return 1 / math.prod(math.factorial(count) for hand in state.hands for count in Counter(cards_of(hand)).values())


MULTIPLICITY: dict[str, Callable[[Any], float]] = {"dou-di-zhu": equal_deals}


# -------------------------------------------------------------------------------------------------------------- random games


@functools.cache
def played(game: Game) -> list[list[State]]:
    """Random games, each as all of its states."""
    trajectories = []
    for seed in range(TOY_GAMES if str(game) in TOYS else WHOLE_GAMES):
        luck, state = random.Random(seed), game.new_initial_state(seed)
        states = [state]
        while not state.is_terminal() and len(states) <= MOST_ACTIONS:
            state = state.clone()
            state.apply_action(luck.choice(state.legal_actions()))
            states.append(state)
        trajectories.append(states)
    return trajectories


def everywhere(game: Game) -> list[State]:
    return [state for states in played(game) for state in states]


def here_and_there(game: Game) -> list[State]:
    """Some states of each random game, the first and the last among them."""
    chosen = []
    for states in played(game):
        some = random.Random(len(states)).sample(states, min(LOOKED_AT, len(states)))
        chosen += [states[0], *some, states[-1]]
    return chosen


def undecided(states: list[State]) -> list[State]:
    return [state for state in states if not state.is_terminal()]


# ------------------------------------------------------------------------------------------------------------ Definition 1


@each_game
def test_random_games_end_with_a_reward_from_0_to_1_for_each_player(game: Game) -> None:
    for states in played(game):
        assert states[-1].is_terminal(), f"no end after {MOST_ACTIONS} actions"
        rewards = states[-1].returns()
        assert len(rewards) == game.players
        assert all(0 <= reward <= 1 for reward in rewards)


@each_game
def test_no_function_of_a_game_needs_the_compiler_when_it_runs(game: Game) -> None:
    """It would be compiled twice, and each process that plays would load the compiler."""
    kernels = [kernel for name in FUNCTIONS if (kernel := getattr(game.kernels(), name)) is not None]
    assert len(kernels) >= 5 and all(isinstance(kernel._code, MachineCode) for kernel in kernels)


@each_game
def test_a_player_or_chance_is_about_to_act_and_rewards_wait_for_the_end(game: Game) -> None:
    for state in undecided(everywhere(game)):
        assert state.current_player() == CHANCE or 0 <= state.current_player() < game.players
    for state in undecided(here_and_there(game)):
        with pytest.raises(ValueError, match="no rewards yet"):
            state.returns()


@each_game
def test_legal_actions_are_distinct_integers_in_a_fixed_order_and_fit_their_room(game: Game) -> None:
    actions = np.full(16 * game.max_legal, -1, np.int64)
    for state in undecided(everywhere(game)):
        count = game.kernels().legal(state.data.ctypes.data, actions.ctypes.data)
        legal = actions[:count].tolist()
        assert 1 <= len(set(legal)) == count <= game.max_legal
        assert all(0 <= action < LARGEST_ACTION for action in legal)
        assert state.legal_actions() == legal == state.clone().legal_actions()
    assert all(states[-1].legal_actions() == [] for states in played(game))


@each_game
def test_listing_actions_and_asking_who_acts_change_nothing(game: Game) -> None:
    for state in undecided(everywhere(game)):
        before = state.data.copy()
        state.legal_actions()
        state.current_player()
        if game.episode is not None:
            game.kernels().episode(state.data.ctypes.data)
        assert (state.data == before).all()


@each_game
def test_an_action_that_is_not_legal_is_refused_and_the_legal_ones_are_named(game: Game) -> None:
    for state in undecided(here_and_there(game)):
        legal, before = state.legal_actions(), state.data.copy()
        with pytest.raises(ValueError, match="is not legal here") as refused:
            state.apply_action(max(legal) + 1)
        assert str(max(legal) + 1) in str(refused.value)
        assert f"{legal[0]} ({state.action_to_string(legal[0])})" in str(refused.value)
        assert (state.data == before).all()
    end = played(game)[0][-1]
    with pytest.raises(ValueError, match="has ended"):
        end.apply_action(0)


@each_game
def test_chance_outcomes_are_its_legal_actions_with_probabilities_that_sum_to_1(game: Game) -> None:
    for state in undecided(everywhere(game)):
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert [action for action, _ in outcomes] == state.legal_actions()
            assert all(0 < probability <= 1 for _, probability in outcomes)
            assert sum(probability for _, probability in outcomes) == pytest.approx(1, abs=1e-12)
    with pytest.raises(ValueError, match="no chance outcomes"):
        played(game)[0][-1].chance_outcomes()


# ---------------------------------------------------------------------------------------------------------- states and texts


@each_game
def test_a_clone_lives_its_own_life(game: Game) -> None:
    for state in undecided(here_and_there(game)):
        record, history = state.data.copy(), list(state.history)
        clone = state.clone()
        clone.apply_action(clone.legal_actions()[-1])
        assert (state.data == record).all() and state.history == history
        second_clone = state.clone()
        second_clone.data[:] = 0
        assert (state.data == record).all()
        assert len(clone.history) == len(history) + 1


@each_game
def test_a_history_played_again_leads_to_the_same_state(game: Game) -> None:
    for seed, states in enumerate(played(game)):
        again = game.new_initial_state(seed)
        assert (again.data == states[0].data).all()
        for state in states[1:]:
            again.apply_action(state.history[-1][1])
            assert (again.data == state.data).all()
            assert again.history == state.history
        assert again.history_str() == states[-1].history_str()


@each_game
def test_actions_are_written_distinctly_and_read_back(game: Game) -> None:
    for state in undecided(here_and_there(game)):
        legal = state.legal_actions()
        written = [state.action_to_string(action) for action in legal]
        assert len(set(written)) == len(legal)
        assert [state.string_to_action(text) for text in written] == legal
        assert all(text == text.strip() != "" for text in written)
        with pytest.raises(ValueError, match="is not legal here"):
            state.string_to_action("no such action")


@each_game
def test_every_state_can_be_drawn(game: Game) -> None:
    for state in here_and_there(game):
        assert str(state).strip()
        assert str(state) == str(state.clone())


# ------------------------------------------------------------------------------------------------------------ what is seen


@each_game
def test_the_mover_sees_his_own_action(game: Game) -> None:
    if game.observe is None:
        pytest.skip("everyone sees every action")
    for state in undecided(everywhere(game)):
        mover = state.current_player()
        for action in state.legal_actions() if mover != CHANCE else []:
            moves, before = np.full(game.players, action, np.int64), state.data.copy()
            game.kernels().observe(state.data.ctypes.data, action, moves.ctypes.data, game.players)
            assert moves[mover] == action
            assert (state.data == before).all()


@each_game
def test_recall_repeats_what_each_perspective_has_seen_since_the_episode_began(game: Game) -> None:
    moves = np.zeros(ROOM, np.int64)
    for state in here_and_there(game):
        episode_moves = state.position_in_episode().moves
        if game.recall is None:
            assert len(set(episode_moves)) == 1, (
                "moves inside an episode are hidden from someone: the game needs recall"
            )
            continue
        for perspective in range(game.players + 1):
            count = game.kernels().recall(state.data.ctypes.data, perspective, moves.ctypes.data, ROOM)
            assert tuple(moves[:count].tolist()) == episode_moves[perspective], (perspective, state.history_str())


@each_audited_game
def test_determinizations_pass_the_audit(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["icarus.audit"], "GAMES_FOR_EACH", 1)  # whose contract is tested above, too
    if game.name == "toy-clashes":  # its choices are one after the other, and only EXP3 takes them for simultaneous
        game = attrs.evolve(game, simultaneous=None)
    few = {"games": 1, "determinizations": 10} if str(game) in WHOLE else {"games": 6, "determinizations": 100}
    report = audit(game, **few, seed=1, multiplicity=MULTIPLICITY.get(game.name))
    assert report.passed, str(report)
    assert report.perfect == (game.determinize is None)
    if not report.perfect:
        assert all(report[name].passed for name in ("player", "actions", "view", "again", "swap"))
        assert (report["legal"].passed, report["history"].passed) == (game.retrace is not None,) * 2


@pytest.mark.slow
@each_game
def test_a_hundred_thousand_determinizations_pass_the_audit(game: Game) -> None:
    if game.determinize is None:
        pytest.skip("nothing to determinize")
    report = audit(game, games=10 if str(game) in WHOLE else 100, seed=2, multiplicity=MULTIPLICITY.get(game.name))
    assert report.passed, str(report)
    assert report.determinizations >= 100_000
    assert report["truth"].passed and report["uniform"].passed, str(report)


# ------------------------------------------------------------------------------------------- compiled and as plain Python


class Compiled:
    """The functions of a game as machine code."""

    def __init__(self, game: Game, record: np.ndarray) -> None:
        self.kernels, self.parameters = game.kernels(), np.array(list(game.parameters.values()) or [0], np.int64)
        self.address = record.ctypes.data

    def initial(self, generator: np.ndarray) -> None:
        self.kernels.initial(self.address, generator.ctypes.data, self.parameters.ctypes.data)

    def number(self, name: str) -> int:
        return getattr(self.kernels, name)(self.address)

    def apply(self, action: int) -> None:
        self.kernels.apply(self.address, action)

    def listed(self, name: str, out: np.ndarray, *arguments: int) -> int | None:
        lengths = [len(out)] if name in ("rewards", "observe", "recall") else []
        return getattr(self.kernels, name)(self.address, *arguments, out.ctypes.data, *lengths)

    def determinized(self, observer: int, beliefs: np.ndarray, generator: np.ndarray) -> None:
        if self.kernels.prepare is not None:
            self.kernels.prepare(self.address, observer, beliefs.ctypes.data)
        self.kernels.determinize(self.address, observer, beliefs.ctypes.data, generator.ctypes.data)


class Plain:
    """The same functions as they are written."""

    def __init__(self, game: Game, record: np.ndarray) -> None:
        self.game, self.state = game, record.view(np.recarray)[0]

    def initial(self, generator: np.ndarray) -> None:
        self.game.initial(self.state, generator, **self.game.parameters)

    def number(self, name: str) -> int:
        return int(getattr(self.game, name)(self.state))

    def apply(self, action: int) -> None:
        self.game.apply(self.state, action)

    def listed(self, name: str, out: np.ndarray, *arguments: int) -> int | None:
        return getattr(self.game, name)(self.state, *arguments, out)

    def determinized(self, observer: int, beliefs: np.ndarray, generator: np.ndarray) -> None:
        facts = beliefs.view(np.recarray)[0]
        if self.game.prepare is not None:
            self.game.prepare(self.state, observer, facts)
        assert self.game.determinize is not None
        self.game.determinize(self.state, observer, facts, generator)


def traced(game: Game, functions: type[Compiled] | type[Plain], seed: int, actions: list[int]) -> list[dict[str, Any]]:
    """All that the functions of a game say along a random game, as JSON has it."""
    record = np.zeros(1, game.state)
    face = functions(game, record)
    face.initial(seeded(seed))
    steps = [said(game, functions, face, record, actions[0])]
    for k, action in enumerate(actions):
        face.apply(action)
        steps.append(said(game, functions, face, record, actions[k + 1] if k + 1 < len(actions) else None))
        if k % max(1, len(actions) // PLAIN_DRAWS) == 0 and game.determinize is not None and steps[-1]["player"] >= 0:
            steps[-1]["determinized"] = redrawn(game, functions, record, steps[-1]["player"], k)
    return steps


def said(game: Game, functions: Any, face: Any, record: np.ndarray, action: int | None) -> dict[str, Any]:
    """Everything that the functions say of one state, and of the action about to happen in it."""
    step: dict[str, Any] = {"record": fields(record), "player": face.number("player")}
    step["label"] = face.number("episode") if game.episode is not None else CONTINUES
    if game.recall is not None:
        for perspective in range(game.players + 1):
            moves = np.zeros(ROOM, np.int64)
            step[f"recall {perspective}"] = moves[: face.listed("recall", moves, perspective)].tolist()
    if step["player"] == TERMINAL:
        rewards = np.zeros(game.players)
        face.listed("rewards", rewards)
        return {**step, "rewards": rewards.tolist()}
    legal = np.zeros(game.max_legal, np.int64)
    step["legal"] = legal[: face.listed("legal", legal)].tolist()
    if step["player"] == CHANCE and game.chance is not None:
        probabilities = np.zeros(game.max_legal)
        face.listed("chance", probabilities)
        step["chance"] = probabilities.tolist()
    if game.observe is not None and action is not None:
        moves = np.full(game.players, action, np.int64)
        face.listed("observe", moves, action)
        step["moves"] = moves.tolist()
    return step


def redrawn(game: Game, functions: Any, record: np.ndarray, observer: int, seed: int) -> dict[str, Any]:
    copy = record.copy()
    functions(game, copy).determinized(observer, np.zeros(1, game.beliefs), seeded(seed))
    return fields(copy)


def fields(record: np.ndarray) -> dict[str, Any]:
    assert record.dtype.names is not None
    return {name: record[name][0].tolist() for name in record.dtype.names}


def repeated_plainly(requests: dict[str, list[int]]) -> dict[str, Any]:
    """The traces of plain Python, game by game; of one that fails, how it failed."""
    answers: dict[str, Any] = {}
    for name, actions in requests.items():
        try:
            with np.errstate(over="ignore"):  # 64-bit words wrap around
                answers[name] = traced(LISTED[name], Plain, 0, actions)
        except Exception as error:  # told by the test of this game
            answers[name] = f"{type(error).__name__}: {error}"
    return answers


@functools.cache
def opening(game: Game) -> list[int]:
    """The first actions of a random game; `played` would go through whole games in one more process."""
    luck, state = random.Random(0), game.new_initial_state(0)
    while not state.is_terminal() and len(state.history) < PLAIN_STEPS:
        state.apply_action(luck.choice(state.legal_actions()))
    return [action for _, action in state.history]


@pytest.fixture(scope="module")
def plain(python: Any) -> dict[str, Any]:
    """One process without the compiler for all games."""
    requests = {name: opening(game) for name, game in LISTED.items()}
    done = python(None, "-m", "tests.games.test_games", stdin=json.dumps(requests), NUMBA_DISABLE_JIT="1")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@each_game
def test_plain_python_says_what_the_machine_code_says(game: Game, plain: dict[str, Any]) -> None:
    answer, actions = plain[str(game)], opening(game)
    assert isinstance(answer, list), answer
    expected = json.loads(json.dumps(traced(game, Compiled, 0, actions)))
    assert len(answer) == len(expected) == len(actions) + 1
    for k, (actual, expected_answer) in enumerate(zip(answer, expected, strict=True)):
        assert actual == expected_answer, (k, actions[:k])


def test_a_wrong_function_would_be_told_apart() -> None:
    game = toy.KUHN
    right = traced(game, Plain, 0, [0, 0])
    wrong = traced(attrs.evolve(game, rewards=lambda state, out: None), Plain, 0, [0, 0])
    assert right[:2] == wrong[:2]
    assert right[2] != wrong[2]


if __name__ == "__main__":
    json.dump(repeated_plainly(json.load(sys.stdin)), sys.stdout)


# ------------------------------------------------------------------------------------------------------- parameters of a game


def dealt(state: Any, rng: np.ndarray, low: int, high: int, step: int = 1) -> None:
    """An initial state that shows what it was given."""
    state.row = 100 * low + 10 * high + step


def with_parameters(**parameters: int) -> Game:
    return attrs.evolve(toy.CHAIN, name="dealt", initial=dealt, parameters=parameters)


def test_parameters_are_bound_by_name_and_not_by_place() -> None:
    for parameters in ({"low": 1, "high": 2}, {"high": 2, "low": 1}, {"step": 1, "high": 2, "low": 1}):
        assert with_parameters(**parameters).new_initial_state().facts.row == 121
    assert with_parameters(step=3, low=1, high=2).new_initial_state().facts.row == 123


@pytest.mark.parametrize(
    ("ranges", "message"),
    [
        ({"lift": (0, 1)}, "ranges of toy-chain name 'lift', which is not a field of its state data"),
        ({"row": 5}, "ranges of toy-chain are 5 for row; they must be (least, most), such as (0, 1)"),
        ({"row": (5, 0)}, "ranges of toy-chain are (5, 0) for row; they must be"),
        ({"row": (0, "1")}, "ranges of toy-chain are (0, '1') for row; they must be"),
    ],
)
def test_a_range_that_is_none_is_refused(ranges: Any, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        attrs.evolve(toy.CHAIN, ranges=ranges)


@pytest.mark.parametrize(
    ("parameters", "wrong"),
    [
        ({"low": 1, "high": 2, "width": 3}, "is given the parameter 'width'"),
        ({"low": 1}, "needs the parameter 'high'"),
        ({}, "needs the parameter 'low'"),
    ],
)
def test_a_parameter_that_the_initial_function_does_not_take_is_refused(parameters: dict[str, int], wrong: str) -> None:
    with pytest.raises(ValueError, match=f"dealt {wrong}; its initial function takes low, high, step"):
        with_parameters(**parameters)


# ------------------------------------------------------------------------------------------------------------ seat names


def test_seats_have_names_where_roles_differ() -> None:
    assert games.load("lotr-confrontation").seat_names == ("Light", "Dark")
    assert games.load("dou-di-zhu").seat_names == ("Landlord", "Peasant 1", "Peasant 2")
    assert games.load("othello").seat_names == ()


@pytest.mark.parametrize("names", [("Black",), ("Black", "Black"), ("Black", "White", "Grey")])
def test_seat_names_that_do_not_tell_the_players_apart_are_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="the seat names of othello are .*; it needs 2 different ones"):
        attrs.evolve(games.load("othello"), seat_names=names)


def test_a_game_with_parameters_of_its_own_is_loaded_again_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    base = games.load("kuhn-poker")
    grown = attrs.evolve(
        base, name="garden", initial=grown_deal, deal=None, deal_observation=None, parameters={"flowers": 3}
    )
    monkeypatch.setitem(games.GAMES, "garden", grown)
    assert str(grown) == "garden(flowers=3)" and games.load(str(grown)) is grown is games.load("garden")
    with pytest.raises(ValueError, match="garden has no parameter 'flowers'"):
        games.load("garden(flowers=4)")


def grown_deal(state: Any, rng: np.ndarray, flowers: int) -> None:
    state.player = flowers
