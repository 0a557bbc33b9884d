"""Toy games with numbers that one can do by hand: small trees, written out below, each a real `Game`.

All trees grow in one forest of tables, so that all toys share the same few compiled functions; the state of a toy is a row.

    toy-branches   two players, perfect information, unequal branching, player 0 twice in a row under action 1
    toy-card       player 1 holds one of three cards, and what he may do depends on it
    toy-kuhn       Kuhn's poker, rewards (u + 2) / 4
    toy-dice       chance with unequal probabilities, and once with a single outcome
    toy-secrets    actions that the other sees only as SOMETHING or not at all, inside episodes
    toy-three      three players, a reward each
    toy-episodes   the same position-in-episode in several places, as in Figure 1, and twice on one path
    toy-chain      one player, forced passes, the same actions again and again, no episode label at the start
    toy-fusion     Figure 1 of Cowling, Powley and Whitehouse (2012): strategy fusion
    toy-three-states, toy-blind-states
                   their Figure 3, with every action seen, and with the partially observable moves of their Figure 5
    toy-pennies    matching pennies twice, two choices made at once each time
    toy-whispers   of five actions two go unnoticed, two look alike and one is open, twice in a row
    toy-draw       chance that one of the players does not see
    toy-thicket-2, toy-thicket-3, toy-thicket-4
                   all of the first eight at once in wild trees for two to four players: nothing for the hand
    toy-clashes    such a tree with choices made at once in wild places
"""

import itertools
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from icarus.algebra import Enhancement
from icarus.compiler import interpret, memory
from icarus.engine import loop as loop_playout
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.loop import IN_SIMULATION, WORKSPACE
from icarus.engine.result import Result
from icarus.engine.search import RunningSearch, Search
from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    UNSEEN,
    Game,
    State,
    below,
    functions_of,
    helper,
)
from icarus.kernel.history import PLAYOUT, UNLIMITED

SOMETHING = 90  # what is seen of an action that is noticed but not recognised
PASS = 9


Sight = dict[int, dict[int, int]]  # what others see: {action: {player: move}}


# --------------------------------------------------------------------------------------------------- how a tree is written


@dataclass(frozen=True)
class Node:
    """A state: who acts, where each action leads, what others see of it, e, and its number among choices made at once."""

    player: int
    children: dict[int, "Node"] = field(default_factory=dict)
    observations: Sight = field(default_factory=dict)
    label: int = CONTINUES
    probabilities: tuple[float, ...] = ()
    rewards: tuple[float, ...] = ()
    number: int = 0


@dataclass(frozen=True)
class Tree:
    """A toy: equally likely deals, each with what every player knows of it and the node it leads to."""

    name: str
    players: int
    deals: tuple[tuple[tuple, Node], ...]


def turn(
    player: int,
    children: dict[int, Node],
    label: int = CONTINUES,
    observations: Sight | None = None,
    number: int = 0,
) -> Node:
    return Node(player, children, observations or {}, label, number=number)


def nature(
    outcomes: dict[int, tuple[float, Node]],
    label: int = CONTINUES,
    observations: Sight | None = None,
) -> Node:
    return Node(
        CHANCE,
        {action: child for action, (_, child) in outcomes.items()},
        observations or {},
        label,
        tuple(probability for probability, _ in outcomes.values()),
    )


def end(*rewards: float) -> Node:
    return Node(TERMINAL, rewards=rewards)


def open_tree(name: str, players: int, root: Node) -> Tree:
    """A toy where nothing is dealt."""
    return Tree(name, players, (((None,) * players, root),))


# --------------------------------------------------------------------------------------------------------------- the trees


def branches() -> Tree:
    """Actions 1 and 2 come back below the root for player 0, which is what AMAF looks for."""
    third = turn(0, {1: end(0, 1), 2: end(1, 0)})
    fourth = turn(1, {0: end(0, 1), 1: end(1, 0), 3: end(0.5, 0.5)})
    return open_tree(
        "toy-branches",
        2,
        turn(
            0,
            {
                0: turn(1, {0: end(1, 0), 1: third}),
                1: turn(0, {0: end(0.5, 0.5), 2: fourth}),
                2: end(0, 1),
            },
        ),
    )


def card() -> Tree:
    """Low must fold (2), middle folds or raises (4), high calls (3) or raises; only a high card beats player 0's stay (6)."""

    def answer(stay: Node) -> Node:
        return turn(0, {5: end(0.5, 0.5), 6: stay})

    held = {
        "low": turn(1, {2: end(1, 0)}),
        "middle": turn(1, {2: end(1, 0), 4: answer(end(1, 0))}),
        "high": turn(1, {3: end(0, 1), 4: answer(end(0, 1))}),
    }
    return Tree(
        "toy-card",
        2,
        tuple(
            ((None, name), turn(0, {0: end(0.5, 0.5), 1: below})) for name, below in held.items()
        ),
    )


def kuhn() -> Tree:
    """0 passes, 1 bets; the antes are 1, a bet is 1 more."""

    def won(stake: int, winner: int) -> Node:
        gain = stake / 4
        return end(0.5 + gain, 0.5 - gain) if winner == 0 else end(0.5 - gain, 0.5 + gain)

    def deal(cards: tuple[int, int]) -> Node:
        higher = 0 if cards[0] > cards[1] else 1
        return turn(
            0,
            {
                0: turn(1, {0: won(1, higher), 1: turn(0, {0: won(1, 1), 1: won(2, higher)})}),
                1: turn(1, {0: won(1, 0), 1: won(2, higher)}),
            },
        )

    return Tree(
        "toy-kuhn", 2, tuple((cards, deal(cards)) for cards in itertools.permutations(range(3), 2))
    )


def dice() -> Tree:
    """Action 0 rolls a die (7, 8, 9 with 0.2, 0.5, 0.3; again after a 9), action 1 one that always shows 7; player 1 answers."""

    def answer(*wins: float) -> Node:
        return turn(1, {2 + i: end(win, 1 - win) for i, win in enumerate(wins)})

    again = nature({7: (0.25, answer(0, 0)), 8: (0.75, end(0.5, 0.5))})
    return open_tree(
        "toy-dice",
        2,
        turn(
            0,
            {
                0: nature({7: (0.2, answer(1, 1)), 8: (0.5, answer(0, 1)), 9: (0.3, again)}),
                1: nature({7: (1.0, answer(0.5, 1))}),
            },
            label=0,
        ),
    )


def secrets() -> Tree:
    """Six binary choices a … f. a (player 0) is SOMETHING to the other; b is open and begins an episode; c (player 1) goes
    unnoticed; d (player 0) is SOMETHING; e (player 1) is open; f (player 0) is open and a new episode. Player 0 wins where the
    choices other than b, each counted 0 or 1, have an even sum.
    """

    def choice(chosen: tuple[int, ...]) -> Node:
        if len(chosen) == 6:
            a, _, c, d, e, f = chosen
            win = float((a + c + d + e + f) % 2 == 0)
            return end(win, 1 - win)
        player, actions, label, sight = (
            (0, (0, 1), CONTINUES, SOMETHING),
            (1, (2, 3), 0, None),
            (1, (4, 5), CONTINUES, UNSEEN),
            (0, (6, 7), CONTINUES, SOMETHING),
            (1, (2, 3), CONTINUES, None),
            (0, (2, 3), 0, None),
        )[len(chosen)]
        observations = {} if sight is None else {action: {1 - player: sight} for action in actions}
        return turn(
            player,
            {action: choice((*chosen, i)) for i, action in enumerate(actions)},
            label,
            observations,
        )

    return open_tree("toy-secrets", 2, choice(()))


def three() -> Tree:
    """Each would rather have 1 than ½ than 0."""
    return open_tree(
        "toy-three",
        3,
        turn(
            0,
            {
                0: turn(
                    1,
                    {
                        0: turn(2, {0: end(1, 0.5, 0), 1: end(0.5, 0, 1)}),
                        1: turn(2, {0: end(0, 1, 0.5), 1: end(0.5, 1, 0)}),
                    },
                ),
                1: turn(
                    1, {0: end(0.5, 0.5, 0.5), 1: turn(2, {1: end(1, 0, 0.5), 2: end(0, 0.5, 1)})}
                ),
            },
        ),
    )


def episodes() -> Tree:
    """Label 1 at the root; episodes labelled 2 begin under 0, under 1 4 and once more inside the first; 3 ends two of them."""

    def final(win: float) -> Node:
        return turn(0, {0: end(win, 1 - win), 1: end(1 - win, win)}, label=3)

    def second(win: float, again: Node) -> Node:
        return turn(
            1, {2: turn(0, {5: again, 6: end(win, 1 - win)}), 3: end(1 - win, win)}, label=2
        )

    return open_tree(
        "toy-episodes",
        2,
        turn(
            0,
            {
                0: second(1, second(0, final(1))),
                1: turn(1, {2: end(0.5, 0.5), 4: second(0.5, final(0))}),
            },
            label=1,
        ),
    )


def chain() -> Tree:
    """Two free choices between passes; label 0 where the second begins."""

    def last(*wins: float) -> Node:
        ends = {action: turn(0, {PASS: turn(0, {1: end(win)})}) for action, win in enumerate(wins)}
        return turn(0, {PASS: turn(0, ends, label=0)})

    return open_tree("toy-chain", 1, turn(0, {0: last(0, 0.5, 1), 1: last(0.5, 0)}))


A1, A2, A3, A4, B1, B2, B3 = 1, 2, 3, 4, 11, 12, 13  # the actions of the figures
STAY = 0.75  # the reward of a₂ in Figure 1, +½


def revealed(action: int, win: float, *others: float) -> Node:
    """An environment action e that tells how it stood."""
    return nature({action: (1.0, end(win, *others))})


def fusion() -> Tree:
    """In x action a₃ is wrong and a₄ is right, in y the other way round; rewards −1, +½, +1 are 0, ¾, 1 here. e_{x,3} is 103."""

    def state(reveals: int, third: float) -> Node:
        return turn(
            0,
            {
                A1: turn(
                    0, {A3: revealed(reveals + 3, third), A4: revealed(reveals + 4, 1 - third)}
                ),
                A2: end(STAY),
            },
        )

    return Tree("toy-fusion", 1, (((None,), state(100, 0)), ((None,), state(200, 1))))


def three_states(blind: bool = False) -> Tree:
    """Player 1 has b₁ b₂ in state x, b₂ b₃ in y, b₁ b₃ in z, which only he knows. Player 0 then does well with a₃ after b₁, with a₄
    after b₃, and after b₂ with the one in x and with the other in y, where the environment tells it (e_{x,2,3} is 123).

    The numbers at the leaves are not those printed in the figure, but do what its text says: rewards after b₁ and b₃ do not depend on
    the state, rewards after b₂ do. Against the best play of player 1, a₁ is worth 2/3 to a player 0 who saw which b it was (½, ½
    and 1 in the three states) and ½ to one who did not; a₂ is between the two.
    """

    def reply(third: float, reveals: int = 0) -> Node:
        leaf = {A3: third, A4: 1 - third}
        return turn(
            0,
            {
                a: revealed(reveals + a, win, 1 - win) if reveals else end(win, 1 - win)
                for a, win in leaf.items()
            },
            observations={A3: {1: SOMETHING}, A4: {1: SOMETHING}} if blind else None,
        )

    def state(*answers: tuple[int, Node]) -> Node:
        observations = {b: {0: SOMETHING} for b, _ in answers} if blind else None
        return turn(
            0,
            {A1: turn(1, dict(answers), observations=observations), A2: end(0.6, 0.4)},
            observations={A1: {1: SOMETHING}, A2: {1: SOMETHING}} if blind else None,
        )

    first, third = (B1, reply(1)), (B3, reply(0))
    x = state(first, (B2, reply(1, 120)))
    y = state((B2, reply(0, 220)), third)
    z = state(first, third)
    return Tree(
        "toy-blind-states" if blind else "toy-three-states",
        2,
        (((None, "x"), x), ((None, "y"), y), ((None, "z"), z)),
    )


def pennies() -> Tree:
    """Both lay a coin (0 or 1) at once, the environment uncovers them (10 + 2a + b), and once more: player 0 gets ½ for each match."""

    def coins(won: float, last: bool) -> Node:
        def uncovered(a: int, b: int) -> Node:
            total = won + (0.5 if a == b else 0)
            return nature(
                {10 + 2 * a + b: (1.0, end(total, 1 - total) if last else coins(total, True))}
            )

        return turn(
            0,
            {
                a: turn(
                    1,
                    {b: uncovered(a, b) for b in (0, 1)},
                    observations={b: {0: SOMETHING} for b in (0, 1)},
                    number=2,
                )
                for a in (0, 1)
            },
            label=0,
            observations={a: {1: SOMETHING} for a in (0, 1)},
            number=1,
        )

    return open_tree("toy-pennies", 2, coins(0, False))


def whispers() -> Tree:
    """Player 1 whispers twice; player 0, who hears little of it, wins by telling whether the sum of the two is even (6) or odd (7)."""

    def guess(total: int) -> Node:
        return turn(
            0, {6 + i: end(win, 1 - win) for i, win in enumerate((1 - total % 2, total % 2))}
        )

    def whisper(total: int, again: bool) -> Node:
        return turn(
            1,
            {a: whisper(total + a, False) if again else guess(total + a) for a in range(5)},
            observations={0: {0: UNSEEN}, 1: {0: UNSEEN}, 2: {0: SOMETHING}, 3: {0: SOMETHING}},
        )

    return open_tree("toy-whispers", 2, turn(0, {8: whisper(0, True), 9: end(0.5, 0.5)}))


def draw() -> Tree:
    """Player 0 goes on (0) or ends the game (1). If he goes on, chance draws twice.

    First 5 or 6 (½ each), which nobody notices. Then a card for player 1: 7 (½) or 8 (¼), which player 0 cannot tell apart, or 9 (¼),
    which he sees. Player 1 passes (2) or raises (3); after a raise player 0 folds (0) or calls (1). The first draw matters only if he
    calls an 8: after a 6 he then loses twice as much.
    """

    def card_drawn(card: int, doubled: bool) -> Node:
        win = {7: 0.75, 8: 0.0 if doubled else 0.25, 9: 0.5}[card]
        return turn(1, {2: end(0.5, 0.5), 3: turn(0, {0: end(0.375, 0.625), 1: end(win, 1 - win)})})

    def drawn(doubled: bool) -> Node:
        return nature(
            {
                card: (chance, card_drawn(card, doubled))
                for card, chance in ((7, 0.5), (8, 0.25), (9, 0.25))
            },
            observations={7: {0: SOMETHING}, 8: {0: SOMETHING}},
        )

    unnoticed = nature(
        {5: (0.5, drawn(False)), 6: (0.5, drawn(True))},
        observations={a: {0: UNSEEN, 1: UNSEEN} for a in (5, 6)},
    )
    return open_tree("toy-draw", 2, turn(0, {0: unnoticed, 1: end(0.4, 0.6)}))


def thicket(players: int, deals: int = 3, depth: int = 6, clashes: bool = False) -> Tree:
    """A tree drawn once and for all; the deals differ in rewards and in some of the legal actions below the root."""
    name = "toy-clashes" if clashes else f"toy-thicket-{players}"
    sights = (
        None,
        None,
        None,
        SOMETHING,
        UNSEEN,
    )  # what another player sees of an action; None is the action itself

    def grow(deal: int, path: tuple[int, ...], before: int = 0) -> Node:
        common, deal_rng = random.Random(f"{name} {path}"), random.Random(f"{name} {deal} {path}")
        number = (
            random.Random(f"{name} {path} at once").choice((0, 1, 2, before + 1, before + 1))
            if clashes
            else 0
        )
        if len(path) == depth or (len(path) > 2 and common.random() < 0.15):
            return end(*(deal_rng.choice((0, 0.5, 1)) for _ in range(players)))
        actions = common.sample(range(8), common.choice((1, 2, 3, 3)) if path else 3)
        label = common.choice((0, 1, CONTINUES, CONTINUES, CONTINUES))
        observations = {
            action: {
                player: move
                for player in range(players)
                if (move := common.choice(sights)) is not None
            }
            for action in actions
        }
        if path and common.random() < 0.2:
            shares = [common.randint(1, 5) for _ in actions]
            chances = {
                action: share / sum(shares) for action, share in zip(actions, shares, strict=True)
            }
            return nature(
                {action: (share, grow(deal, (*path, action))) for action, share in chances.items()},
                label,
                observations,
            )
        if path and len(actions) > 1 and deal_rng.random() < 0.3:
            actions.pop(deal_rng.randrange(len(actions)))
        player = common.randrange(players)
        for others in observations.values():
            others.pop(player, None)
        return turn(
            player,
            {action: grow(deal, (*path, action), number) for action in actions},
            label,
            observations,
            number,
        )

    return Tree(
        name,
        players,
        tuple(((None,) * (players - 1) + (deal,), grow(deal, ())) for deal in range(deals)),
    )


TREES = (
    branches(),
    card(),
    kuhn(),
    dice(),
    secrets(),
    three(),
    episodes(),
    chain(),
    fusion(),
    three_states(),
    three_states(blind=True),
    pennies(),
    whispers(),
    draw(),
    thicket(2),
    thicket(3),
    thicket(4),
    thicket(3, clashes=True),
)


# -------------------------------------------------------------------------------------------------------------- the tables


@dataclass(frozen=True)
class Row:
    """A node where it stands in its tree: the deal, the path to it, and what each perspective has noticed on the way."""

    node: Node
    tree: int
    deal: int
    path: tuple[tuple[Node, int], ...]

    def actions(self) -> tuple[int, ...]:
        return tuple(action for _, action in self.path)

    def moves(self, perspective: int, since: int = 0) -> tuple[int, ...]:
        """What a perspective (κ is the environment) saw of the actions of the path."""
        view = [
            node.observations.get(action, {}).get(perspective, action)
            for node, action in self.path[since:]
        ]
        return tuple(move for move in view if move != UNSEEN)

    def episode_start(self) -> int:
        """How many actions came before the current episode."""
        nodes = [node for node, _ in self.path] + [self.node]
        return max((i for i, node in enumerate(nodes) if node.label != CONTINUES), default=0)

    def information_of(self, perspective: int) -> tuple:
        """All that a player knows: his share of the deal, each move he saw, where episodes began, and what he may do now."""
        noticed: list[Any] = []
        for node, action in self.path:
            noticed.append(("label", node.label) if node.label != CONTINUES else None)
            noticed.append(node.observations.get(action, {}).get(perspective, action))
        noticed.append(("label", self.node.label) if self.node.label != CONTINUES else None)
        free = tuple(self.node.children) if self.node.player == perspective else None
        share = TREES[self.tree].deals[self.deal][0][perspective]
        return (
            self.tree,
            share,
            free,
            tuple(item for item in noticed if item is not None and item != UNSEEN),
        )


def rows_of(row: Row) -> Iterator[Row]:
    yield row
    for action, child in row.node.children.items():
        yield from rows_of(Row(child, row.tree, row.deal, (*row.path, (row.node, action))))


STARTS = [
    Row(root, tree, deal, ())
    for tree, toy in enumerate(TREES)
    for deal, (_, root) in enumerate(toy.deals)
]
ROWS = [row for start in STARTS for row in rows_of(start)]
INDEX = {(row.tree, row.deal, row.actions()): i for i, row in enumerate(ROWS)}
MAX_LEGAL = max(len(row.node.children) for row in ROWS)
MOST_PLAYERS = max(tree.players for tree in TREES)
# The tables are small, as they are compared with what was compiled in whenever a strategy is lowered, in every test that comes later.


def index_of(tree: int, deal: int, *actions: int) -> int:
    """The row that actions lead to."""
    return INDEX[tree, deal, actions]


def ragged(lists: dict[tuple[int, int], list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Lists for [row, perspective] end to end, and where each starts and how long it is: [row, perspective, 2]."""
    spans = np.zeros((len(ROWS), MOST_PLAYERS + 1, 2), np.int16)
    items: list[int] = []
    for (row, perspective), held in lists.items():
        spans[row, perspective] = len(items), len(held)
        items.extend(held)
    return np.array(items, np.int16), spans


def information_sets() -> dict[tuple[int, int], list[int]]:
    """For each row and player, the rows that he cannot tell from it."""
    sets: dict[tuple, list[int]] = {}
    for i, row in enumerate(ROWS):
        for player in range(TREES[row.tree].players):
            sets.setdefault((player, row.information_of(player)), []).append(i)
    return {(i, player): alike for (player, _), alike in sets.items() for i in alike}


def recalled() -> dict[tuple[int, int], list[int]]:
    """For each row and perspective, the moves since the current episode began."""
    return {
        (i, perspective): list(row.moves(perspective, row.episode_start()))
        for i, row in enumerate(ROWS)
        for perspective in range(TREES[row.tree].players + 1)
    }


def padded(values: list[list[Any]], width: int, kind: type) -> np.ndarray:
    """[row, width], zeros behind the end of each list."""
    table: np.ndarray = np.zeros((len(values), width), kind)
    for i, row in enumerate(values):
        table[i, : len(row)] = row
    return table


def sights() -> np.ndarray:
    """What each player sees of each action: [row, action, player]."""
    table = np.zeros((len(ROWS), MAX_LEGAL, MOST_PLAYERS), np.int64)  # which holds UNSEEN
    for i, row in enumerate(ROWS):
        for k, action in enumerate(row.node.children):
            table[i, k] = [
                row.node.observations.get(action, {}).get(player, action)
                for player in range(MOST_PLAYERS)
            ]
    return table


PLAYERS = np.array([row.node.player for row in ROWS], np.int16)
COUNTS = np.array([len(row.node.children) for row in ROWS], np.int16)
LABELS = np.array([row.node.label for row in ROWS], np.int16)
NUMBERS = np.array([row.node.number for row in ROWS], np.int16)
ACTIONS = padded([list(row.node.children) for row in ROWS], MAX_LEGAL, np.int16)
CHILDREN = padded(
    [
        [index_of(row.tree, row.deal, *row.actions(), action) for action in row.node.children]
        for row in ROWS
    ],
    MAX_LEGAL,
    np.int16,
)
PROBABILITIES = padded([list(row.node.probabilities) for row in ROWS], MAX_LEGAL, np.float64)
REWARDS = padded([list(row.node.rewards) for row in ROWS], MOST_PLAYERS, np.float64)
SIGHTS = sights()
ALIKE, ALIKE_SPANS = ragged(information_sets())
RECALLED, RECALLED_SPANS = ragged(recalled())
DEALS = padded(
    [[index_of(tree, deal) for deal in range(len(toy.deals))] for tree, toy in enumerate(TREES)],
    max(len(toy.deals) for toy in TREES),
    np.int16,
)
DEAL_COUNTS = np.array([len(toy.deals) for toy in TREES], np.int16)

STATE = np.dtype([("row", np.int16)], align=True)


# --------------------------------------------------------------------------------------------------------- the functions


@helper
def position_of(row, action):
    """Which of a row's actions this is."""
    k = 0
    while ACTIONS[row, k] != action:
        k += 1
    return k


def initial(state, rng, tree):
    state.row = DEALS[tree, below(rng, DEAL_COUNTS[tree])]


def player(state):
    return PLAYERS[state.row]


def legal(state, actions):
    for k in range(COUNTS[state.row]):
        actions[k] = ACTIONS[state.row, k]
    return COUNTS[state.row]


def apply(state, action):
    state.row = CHILDREN[state.row, position_of(state.row, action)]


def rewards(state, out):
    for i in range(len(out)):
        out[i] = REWARDS[state.row, i]


def features(state, out):
    """What means nothing, but differs from state to state."""
    out[0] = state.row % 7
    out[1] = 1.0 if COUNTS[state.row] > 2 else 0.0


def action_features(state, action, out):
    out[0] = (state.row + 2 * action) % 5 / 4


def heuristic(state, out):
    for i in range(len(out)):
        out[i] = (7 * state.row + 3 * i) % 11 / 10


def observe(state, action, moves):
    k = position_of(state.row, action)
    for i in range(len(moves)):
        moves[i] = SIGHTS[state.row, k, i]


def chance(state, probabilities):
    for k in range(COUNTS[state.row]):
        probabilities[k] = PROBABILITIES[state.row, k]


def determinize(state, observer, beliefs, rng):
    if observer == CHANCE:
        return
    start, count = ALIKE_SPANS[state.row, observer, 0], ALIKE_SPANS[state.row, observer, 1]
    state.row = ALIKE[start + below(rng, count)]


def episode(state):
    return LABELS[state.row]


def recall(state, perspective, moves):
    start = RECALLED_SPANS[state.row, perspective, 0]
    count = RECALLED_SPANS[state.row, perspective, 1]
    for i in range(count):
        moves[i] = RECALLED[start + i]
    return count


def simultaneous(state):
    return NUMBERS[state.row]


def observation(state, player):
    """The moves of the episode as he has seen them. What he could have done at earlier decisions is no part of an information set here."""
    start, count = RECALLED_SPANS[state.row, player, 0], RECALLED_SPANS[state.row, player, 1]
    return list(RECALLED[start : start + count].tolist())


def retrace(state, record: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """The deal, and the path down to the row of a determinization."""
    row = ROWS[int(record["row"][0])]
    start = np.zeros(1, STATE)
    start["row"] = index_of(row.tree, row.deal)
    return start, list(row.actions())


def text(state):
    """The deal and the path."""
    row = ROWS[int(state.row)]
    path = " ".join(str(action) for action in row.actions()) or "nothing"
    return f"{TREES[row.tree].name}, deal {row.deal}, after {path}"


def action_text(state, action):
    return str(action)


def toy(tree: int) -> Game:
    """A tree as a game, with those of the optional functions that it needs."""
    grown = [row for row in ROWS if row.tree == tree]
    secret = any(row.node.observations for row in grown)
    labelled = any(row.node.label != CONTINUES for row in grown)
    hidden = bool((ALIKE_SPANS[[row.tree == tree for row in ROWS], :, 1] > 1).any())
    needed = {
        **dict.fromkeys(("observe", "recall"), secret),
        **dict.fromkeys(("determinize", "observation", "retrace"), hidden),
        "chance": any(row.node.player == CHANCE for row in grown),
        "episode": labelled,
        "simultaneous": any(row.node.number for row in grown),
    }
    return Game(
        **{
            name: function
            for name, function in functions_of(globals()).items()
            if needed.get(name, True)
        },
        name=TREES[tree].name,
        players=TREES[tree].players,
        max_legal=MAX_LEGAL,
        parameters={"tree": tree},
        feature_names=("seventh", "branching"),
        action_feature_names=("fifth",),
    )


ALL_TOYS = [toy(tree) for tree in range(len(TREES))]
(
    BRANCHES,
    CARD,
    KUHN,
    DICE,
    SECRETS,
    THREE,
    EPISODES,
    CHAIN,
    FUSION,
    THREE_STATES,
    BLIND_STATES,
    PENNIES,
    WHISPERS,
    DRAW,
    *THICKETS,
    CLASHES,
) = ALL_TOYS

OPEN = [  # of perfect information
    game for game in ALL_TOYS if game.determinize is game.observe is game.simultaneous is None
]

# Of each kind one, for what is no matter of the trees: perfect information, hidden facts that decide what is legal, chance, moves hidden
# within episodes, the same episode in several places, unnoticed moves, all of it, and choices made at once. All are for two players:
# another number would have every slot compiled once more, so that `tests/specs/test_catalogue.py` plays with it in plain Python.
KINDS = [BRANCHES, CARD, DICE, SECRETS, EPISODES, WHISPERS, THICKETS[0], PENNIES]


def begun(
    state: State,
    strategy: Enhancement,
    seed: int | Sequence[int] = 0,
    *,
    records: Result | None = None,
    **how,
) -> RunningSearch:
    """A search that has made no playout yet; `how` as of `icarus.search`."""
    return Search(strategy, iterations=UNLIMITED, **how).begin(state, seed, records)


def choices_of(strategy: Enhancement, state: State, draws: int, seed: int = 5) -> list[int]:
    """The places of the legal actions that a strategy chooses in the simulation phase at a root, by the loop in plain Python."""
    search = CompiledSearch(state, strategy, seed, plain=interpret)
    struct_at = interpret(memory.struct_at)
    workspace = struct_at(search.address, WORKSPACE)
    playout = struct_at(workspace.buffers.playout, PLAYOUT)
    begin, open_step, choose = map(
        interpret, (loop_playout.begin, loop_playout.open_step, loop_playout.choose)
    )
    begin(workspace, search.rng)
    open_step(workspace, playout, 0, state.current_player())
    count = len(state.legal_actions())
    with np.errstate(over="ignore"):
        return [
            int(
                choose(
                    workspace,
                    IN_SIMULATION,
                    playout.legal,
                    count,
                    workspace.root.record,
                    search.rng,
                )
            )
            for _ in range(draws)
        ]
