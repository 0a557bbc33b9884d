"""Games by an evaluation against itself, without searches: who is to move looks one action ahead, and plays the best for himself.

Some moves are random, and values have some noise, so that games differ. Games go on in the true state; now and then a *branch* leaves it,
a state drawn from what the player to move knows, and is played to its end. Positions of branches are what is learned from: they look as
states do in a search. Each has a target (TD(λ): Sutton, 1988), computed backwards from the end of its branch:

    target = (1 - λ) · value after the best action + λ · target of the next position      after the best action
             value after the best action                                                  after a random one
             (1 - λ) · value of the next position + λ · its target                        where there was no choice, or chance acted

and the rewards at the end. Compiled once, the loop plays every game by the addresses of its functions; a `PythonGame` is called back.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from icarus.compiler import (
    RNG_WORDS,
    WORD_BYTES,
    address_of,
    array_kernel,
    below,
    call,
    call_compiled,
    copy_items,
    helper,
    seeded,
    uniform,
)
from icarus.engine.compiled_search import CalledBack, MoreActions, words_at
from icarus.equilibrium.walk import draw, player_of, write_chance, write_legal
from icarus.kernel import CHANCE, SPARE_LEGAL, TERMINAL, AnyGame, Evaluation, Game
from icarus.kernel.evaluation import LearnedNetwork, read_state, with_facts, write_values

CHUNKS = 8  # of the games of a round, whoever plays them
NOISE = 0.02  # of values
SHARE = 0.1  # of random moves
REST = 0.7  # λ of the targets, which is 1 without weights
BRANCHES = 1 / 16  # share of the decisions at which a branch begins
MOST_AHEAD = 48  # actions that are looked at in a position
LONGEST_BRANCH = 2000  # positions
LONGEST_GAME = 5000  # actions
ROOM_FOR = 40_000  # positions
ROWS = 64  # of weights, of a position in the mean
FUNCTIONS = ("player", "legal", "apply", "rewards", "chance", "initial", "prepare", "determinize")
GAME = np.dtype([(name, np.int64) for name in (*FUNCTIONS, "facts", "players", "is_learned")])
GREEDY, RANDOM, FORCED = range(3)  # how the action in a position was chosen


class SelfPlay(NamedTuple):
    """A game, its evaluation, and room to play it in.

    Attributes:
        game: [1] GAME: addresses of functions, the number of players, and whether there are weights yet.
        rows: int32, of weights, those of a position after those of the one before.
        active: rows of a state ahead; sums: see `write_values`.
        parameters: of the game's `initial`.
        true, branch, ahead: states, in words.
        beliefs: of the player who draws a branch, in words.
        facts: of a `PythonGame`'s state.
        actions, others: legal actions of the state that is played, and of one ahead.
        chances: probabilities of chance's outcomes.
        values, best: of each player after one action, and after the best. [players]
        starts: [positions + 1] where the rows of each begin, and those of all end.
        branches: [positions] the number of a position's branch.
        how: the action in a position was chosen: GREEDY, RANDOM or FORCED. [positions]
        usual, after: of each player in each position, and after its best action. [positions, players]
        targets, rewards: see `Positions`.
    """

    game: np.ndarray
    network: LearnedNetwork
    rows: np.ndarray
    active: np.ndarray
    sums: np.ndarray
    parameters: np.ndarray
    rng: np.ndarray
    true: np.ndarray
    branch: np.ndarray
    ahead: np.ndarray
    beliefs: np.ndarray
    facts: np.ndarray
    actions: np.ndarray
    others: np.ndarray
    starts: np.ndarray
    branches: np.ndarray
    how: np.ndarray
    chances: np.ndarray
    values: np.ndarray
    best: np.ndarray
    usual: np.ndarray
    after: np.ndarray
    targets: np.ndarray
    rewards: np.ndarray


class Positions(NamedTuple):
    """Positions of branches with their targets, in the order in which they were played.

    Attributes:
        inputs: those that are 1, a sparse matrix [positions, rows of weights].
        branches: [positions] how many have begun since the position before.
        targets: [positions, players].
        rewards: of the end of a position's branch. [positions, players]
    """

    inputs: Any
    branches: np.ndarray
    targets: np.ndarray
    rewards: np.ndarray


@helper
def value_of(
    table: SelfPlay,
    state: np.ndarray,
    mover: int,
    actions: np.ndarray,
    count: int,
    active: np.ndarray,
    out: np.ndarray,
) -> int:
    """Write the rows of a state, and its value for each player; returns the number of the rows."""
    game = table.game[0]
    address = address_of(state)
    # a `PythonGame` writes its facts into their room first
    if game.facts != 0:
        call(game.facts, (address, address_of(table.facts)))
        address = address_of(table.facts)
    rows = read_state(table.network, address, mover, game.players, actions, count, active)
    write_values(table.network, active, rows, table.sums, out)
    return rows


@helper
def choose(table: SelfPlay, state: np.ndarray, mover: int, count: int) -> int:
    """The index of the action that the evaluation takes for best, among at most `MOST_AHEAD`; the values after it are in `best`."""
    game = table.game[0]
    choice = 0
    top = -np.inf
    # Of more actions every step-th is looked at, beginning with a random one of the first.
    step = -(-count // MOST_AHEAD)
    for i in range(below(table.rng, step), count, step):
        copy_items(table.ahead, state)
        call(game.apply, (address_of(table.ahead), table.actions[i]))
        following = player_of(game, table.ahead)
        if following == TERMINAL:
            call(game.rewards, (address_of(table.ahead), address_of(table.values), game.players))
        else:
            legal = write_legal(game, table.ahead, table.others)
            value_of(table, table.ahead, following, table.others, legal, table.active, table.values)
        value = table.values[mover] + NOISE * uniform(table.rng)
        if value > top:
            choice, top = i, value
            copy_items(table.best, table.values)
    return choice


@helper
def act(table: SelfPlay, state: np.ndarray, mover: int, count: int) -> int:
    """Do an action of whoever moves; returns how it was chosen."""
    game = table.game[0]
    how, choice = FORCED, 0
    if mover == CHANCE:
        write_chance(game, state, count, table.chances)
        choice = draw(table.chances, count, uniform(table.rng))
    elif count > 1 and game.is_learned == 0:
        choice = below(table.rng, count)
    elif count > 1:
        how = GREEDY
        choice = choose(table, state, mover, count)
        if uniform(table.rng) < SHARE:
            random = below(table.rng, count)
            if random != choice:
                how, choice = RANDOM, random
    call(game.apply, (address_of(state), table.actions[choice]))
    return how


@helper
def write_targets(table: SelfPlay, first: int, end: int, rest: float) -> None:
    """Write the target of each position of a branch, whose rewards are in `values`; λ is `rest`.

    It is (1 − λ) times the value after the action that is best by the evaluation, plus λ times the target of the next position.
    """
    value = following = table.values
    for i in range(end - 1, first - 1, -1):
        # where no action was looked at beforehand, the next position's own value is that after it
        if table.how[i] != FORCED:
            value = table.after[i]
        # what follows a random action says nothing of the best one
        share = 0.0 if table.how[i] == RANDOM else rest
        copy_items(table.rewards[i], table.values)
        for p in range(len(value)):
            table.targets[i, p] = (1.0 - share) * value[p] + share * following[p]
        value, following = table.usual[i], table.targets[i]


@helper
def play_branch(table: SelfPlay, first: int, number: int) -> int:
    """Play a branch to its end, with its targets; returns the number of all positions.

    Args:
        first: the position where the branch begins, which is returned if it is too long; -1 is if there is no room for it.
    """
    game = table.game[0]
    i = first
    mover = player_of(game, table.branch)
    while mover != TERMINAL:
        start = table.starts[i]
        left = len(table.rows) - start
        if i == ROOM_FOR or left < len(table.active):
            return -1
        if i == first + LONGEST_BRANCH:
            return first
        count = write_legal(game, table.branch, table.actions)
        rows = value_of(
            table, table.branch, mover, table.actions, count, table.rows[start:], table.usual[i]
        )
        table.starts[i + 1], table.branches[i] = start + rows, number
        table.how[i] = act(table, table.branch, mover, count)
        copy_items(table.after[i], table.best)
        mover = player_of(game, table.branch)
        i += 1
    call(game.rewards, (address_of(table.branch), address_of(table.values), game.players))
    write_targets(table, first, i, REST if game.is_learned != 0 else 1.0)
    return i


@helper
def begin_branch(table: SelfPlay, mover: int) -> None:
    """Draw a state from what the player to move knows."""
    game = table.game[0]
    branch = address_of(table.branch)
    copy_items(table.branch, table.true)
    if game.determinize != 0:
        if game.prepare != 0:
            call(game.prepare, (branch, mover, address_of(table.beliefs)))
        call(game.determinize, (branch, mover, address_of(table.beliefs), address_of(table.rng)))


@array_kernel("self-play")
def play_games(table: SelfPlay, games: int) -> int:
    """Play so many games, as long as there is room; returns how many positions there are."""
    game = table.game[0]
    end = 0
    number = 0
    for _ in range(games):
        table.true[:] = 0
        call(
            game.initial,
            (address_of(table.true), address_of(table.rng), address_of(table.parameters)),
        )
        is_new = True
        for _ in range(LONGEST_GAME):
            mover = player_of(game, table.true)
            if mover == TERMINAL:
                break
            if mover != CHANCE and (is_new or uniform(table.rng) < BRANCHES):
                is_new = False
                begin_branch(table, mover)
                next_end = play_branch(table, end, number)
                if next_end < 0:
                    return end
                end = next_end
                number += 1
                if game.determinize == 0:  # the branch was the game
                    break
            count = write_legal(game, table.true, table.actions)
            act(table, table.true, mover, count)
    return end


# --------------------------------------------------------------------------------------------------------- a chunk of games


class DealsCalledBack(CalledBack):
    """A `PythonGame` called back, with its deals and what it prepares."""

    def _initial(self, state: int, rng: int, parameters: int) -> int:
        generator = words_at(rng, RNG_WORDS).view(np.uint64)
        self.hold(state, self.game.ask("initial", generator), 0)
        return 0

    def _prepare(self, state: int, observer: int, beliefs: int) -> int:
        self._beliefs = self.game.ask("prepare", self.state(state), int(observer))
        return 0


def games_played(
    game: AnyGame, evaluation: Evaluation, games: int, seed: Sequence[int]
) -> Positions:
    """Positions of games by an evaluation against itself; without weights it plays at random."""
    called: Any = game
    if not isinstance(game, Game):
        called = DealsCalledBack(with_facts(game, tuple(evaluation.names)))
    while True:
        table = _table(game, evaluation, called, seed)
        try:
            count = call_compiled(getattr(called, "kept", []), play_games, table, games)
            break
        except MoreActions:
            pass  # `called.max_legal` is larger by now, so that the next attempt has room
    starts = table.starts[: count + 1]
    inputs = inputs_of(evaluation, table.rows[: starts[-1]], starts)
    branches = np.diff(table.branches[:count], prepend=-1)
    return Positions(inputs, branches, table.targets[:count], table.rewards[:count])


def inputs_of(evaluation: Evaluation, rows: np.ndarray, starts: np.ndarray) -> Any:
    """The inputs of positions as a sparse matrix [positions, rows of weights].

    Args:
        rows: of all positions, -1 for none; `starts` says where those of each begin, and all end.
    """
    from scipy.sparse import csr_matrix

    is_there = rows >= 0
    # the same places where only rows that are there count
    starts = np.r_[0, np.cumsum(is_there)][starts]
    shape = len(starts) - 1, len(evaluation.network.hidden)
    return csr_matrix((np.ones(starts[-1], np.float32), rows[is_there], starts), shape)


def _table(game: AnyGame, evaluation: Evaluation, called: Any, seed: Sequence[int]) -> SelfPlay:
    """Self-play that is about to begin: the rules, room for states, and room for what is recorded.

    Args:
        called: what has the addresses of the game's functions.
    """
    network = evaluation.network
    players = game.players
    rules = np.zeros(1, GAME)
    rules["players"] = players
    rules["is_learned"] = network.hidden.any()
    for name in FUNCTIONS:
        rules[name] = called.address(name)
    if game.determinize is None:  # a `PythonGame` has an address for it in any case
        rules["determinize"] = 0
    # a state of a `PythonGame` is a number here, and so are its beliefs
    words = beliefs = 1
    parameters = np.zeros(1, np.int64)
    if isinstance(game, Game):
        words = -(-game.state.itemsize // WORD_BYTES)
        beliefs = -(-game.beliefs.itemsize // WORD_BYTES)
        parameters = game.initial_arguments()
    legal = called.max_legal + SPARE_LEGAL
    integers = {
        "true": words,
        "branch": words,
        "ahead": words,
        "beliefs": beliefs,
        "facts": len(evaluation.names),
        "actions": legal,
        "others": legal,
        "starts": ROOM_FOR + 1,
        "branches": ROOM_FOR,
        "how": ROOM_FOR,
    }
    reals = {
        "chances": legal,
        "values": players,
        "best": players,
        "usual": (ROOM_FOR, players),
        "after": (ROOM_FOR, players),
        "targets": (ROOM_FOR, players),
        "rewards": (ROOM_FOR, players),
    }
    rooms = {name: np.zeros(size, np.int64) for name, size in integers.items()}
    rooms |= {name: np.zeros(size) for name, size in reals.items()}
    table = SelfPlay(
        game=rules,
        network=network,
        rows=np.zeros(ROOM_FOR * ROWS, np.int32),
        active=np.zeros(evaluation.room, np.int32),
        sums=np.zeros(len(network.bias), np.float32),
        parameters=parameters,
        rng=seeded(seed),
        **rooms,
    )
    # A `PythonGame` writes its facts itself, and must know in which state the loop looks ahead. `table.game` is this array of rules.
    if isinstance(called, CalledBack):
        rules["facts"] = called.address("features")
        called.ahead = table.ahead.ctypes.data
    return table
