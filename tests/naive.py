"""The naive twin: Algorithm 1, Specifications 1-7 and the schemes of search once more, slow and obvious, on dicts and tuples.

Written from the papers, never from the engine; the tags at the ends of lines are those of Powley, Cowling and Whitehouse (2014), in
brackets with a year before them those of Cowling, Powley and Whitehouse (2012). Given the same seed, twin and engine draw the same
numbers in the same order and so must hold the same records with the same information after every iteration.

Records are plain tuples. Players are 0 … κ−1, the environment is CHANCE (−1); moves are what the named player observed.
    baseline, AMAF   () for the empty history, else (mover, moves): moves of the whole history, the last one the mover's own
    EPIC             (label, mover, moves): moves since the episode began; mover is None before the game's first action
    MAST, TO-MAST    (action, player)
    LGR, LGRF        (move, player)
    NAST             (n moves…, player)
    EXP3             (mover, moves): moves up to the simultaneous choice, and the mover's own
Information is (q, n, m), (q, n), (s, n) or the stored reply, with q a tuple of κ rewards where the paper has a vector, and s too.

Readings, where the paper leaves a choice:
 1. R and Ψ of MAST, LGR and NAST speak of players 1 … κ, so none of them captures the environment's decisions; but what the
    environment did may be replied to and may stand inside an n-gram. Base-6, AMAF-6 and EPIC-6 range over all i, the
    environment's actions and the outcomes that it did not choose included.
 2. The empty history has n = 0 before the first iteration: t_e is then 0 and the whole first playout is simulation.
 3. The most recent moves of a player (LGR, NAST) are those he has noticed since the root; fewer than n − 1 make no record.
 4. Only the baseline knows that simulation is uniform: every other policy reads its records in all phases.
 4a. In a majority vote (section 9), too, a policy that is uniform because it knows nothing has no say: values all the same, no vote.
 5. Availability (MAST by UCB1) counts each legal action of each captured decision once, the chosen one with its visit.
 6. Nested mixtures flatten: the weights on the way down are multiplied, outermost first.
 7. Line 18 counts the first action of every iteration, also of the very first.
 8. The root's own EPIC record is keyed as a search begun earlier would have keyed it, by the eyes of whoever acted last, as far
    as the root player may know them: in the determinization's terms inside an episode; where another's action, perhaps hidden, has
    just ended an episode, the root's position stands for itself.

Of the schemes:
 9. Eyes that see EVERY_ACTION: every history is the sequence of actions. Eyes of the ROOT_PLAYER player: every history is what he observed,
    and A_i holds the distinct moves that he would observe, in the order of the actions that look so first. An edge is an
    element of A_i; all that the specifications say of a_{i+1} is then said of the edge.
10. Of the actions inside a move one is drawn uniformly, after the move, whatever policy decided; to be uniform is to be uniform over moves,
    which are what A_i holds. The environment's draw alone, by π₀, is of an action from the start, and the move follows.
11. A move that the root player does not notice leaves his history as it is, but has a record, the history extended by UNSEEN, of the
    mover's: just as the mover of an unseen action has one in MO-ISMCTS. It is not an observed move (LGR, NAST), but may be a reply.
12. With eyes other than EACH_PLAYER, a root inside an episode is there after the moves that the root player observed of it.
13. The true state is passed through `determinize` for the environment, who sees all that has been decided.
14. Several trees share the iterations as evenly as can be, the first ones having the odd ones; line 18 sums over them.
15. EXP3 replaces whatever policy the composition has at a simultaneous decision in the tree. The records of all choosers begin with the
    history before the first choice, so that none depends on another's. γ is 1 where nothing is known (n = 0) or chosen (K = 1).
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from icarus.compiler.rng import seeded
from icarus.engine.scheme import EACH_PLAYER, EVERY_ACTION, FRESH, MO_ISMCTS, ONCE, TRUE, Scheme
from icarus.kernel import (
    CHANCE,
    CONTINUES,
    TERMINAL,
    UNSEEN,
    EpisodePosition,
    State,
    below,
    uniform,
)

SELECTION, EXPANSION, SIMULATION = "selection", "expansion", "simulation"
VISIT, AVAIL = "visit", "avail"  # ψ_visit, ψ_avail
ROOM = 4096  # more moves than any episode has


# ---------------------------------------------------------------------------------------------------------- expressions


@dataclass(frozen=True)
class Rule:
    """A form of the policy function α: how values become a choice."""

    name: str
    parameter: float = 0.0


def ucb1(c: float = 0.7) -> Rule:
    return Rule("ucb1", c)


def gibbs(temperature: float = 1.0) -> Rule:
    return Rule("gibbs", temperature)


def epsilon_greedy(epsilon: float) -> Rule:
    return Rule("epsilon-greedy", epsilon)


def roulette() -> Rule:
    return Rule("roulette")


ARGMAX, REPLY = Rule("argmax"), Rule("reply")


class Expression:
    """What the operators of the algebra compose."""

    def __rshift__(self, second: "Expression") -> "Expression":
        return Sequential(self, second)

    def __rmul__(self, weight: Any) -> "Expression":
        return Linear([(weight, self)])

    def __truediv__(self, divisor: float) -> "Expression":
        return Linear([(weight / divisor, part) for weight, part in weighted(self)])

    def __add__(self, other: "Expression") -> "Expression":
        return Linear(weighted(self) + weighted(other))

    def __xor__(self, other: "Expression") -> "Expression":
        return Maxilinear(weighted(self) + weighted(other))

    def __and__(self, other: "Expression") -> "Expression":
        return Vote(votes(self) + votes(other))


@dataclass(frozen=True)
class Sequential(Expression):
    """first ▷ second."""

    first: Any
    second: Any


@dataclass(frozen=True)
class Linear(Expression):
    """Σ λ x over parts (λ, x); a λ is a number or a function of the baseline information q, n, m of the history."""

    parts: list


@dataclass(frozen=True)
class Maxilinear(Expression):
    """⊕ λ x over parts (λ, x), with weights as in `Linear`."""

    parts: list


@dataclass(frozen=True)
class Vote(Expression):
    """A majority vote of parts, one vote each."""

    parts: list


def weighted(expression: Expression) -> list:
    """The summands of an expression with their weights; one that is no sum has the weight 1."""
    return expression.parts if isinstance(expression, Linear) else [(1, expression)]


def votes(expression: Expression) -> list:
    """The voters of a vote; an expression that is no vote is one."""
    return expression.parts if isinstance(expression, Vote) else [expression]


@dataclass(frozen=True)
class Weight:
    """A λ that is a function of q, n, m."""

    function: Callable

    def __call__(self, q: tuple[float, ...], n: int, m: int) -> float:
        return self.function(q, n, m)

    def __rsub__(self, one: float) -> "Weight":
        return Weight(lambda q, n, m: one - self(q, n, m))


def rave_weight(k: float = 250) -> Weight:
    """λ_RAVE."""
    return Weight(lambda q, n, m: math.sqrt(k / (3 * n + k)))  # (15)


def leaves(expression) -> list["Twin"]:
    """The enhancements of an expression from left to right, equal ones once."""  # COMB-1, COMB-6
    if isinstance(expression, Twin):
        return [expression]
    inside = (
        [expression.first, expression.second]
        if isinstance(expression, Sequential)
        else expression.parts
        if isinstance(expression, Vote)
        else [x for _, x in expression.parts]
    )
    return list(dict.fromkeys(leaf for part in inside for leaf in leaves(part)))


# -------------------------------------------------------------------------------------------------------------- playouts


class Playout:
    """A history h = ⟨a_1, …, a_t⟩ from the root; lists are indexed so that item i belongs to the state after i actions.

    Attributes:
        players, legals, phases: ρ_i, A_i and the phase of the decision in the state after ⟨a_1, …, a_i⟩.
        numbers: which of the choices made at once the decision is; 0 where it is none.
        probabilities: with which EXP3 chose at a decision.
        actions: actions[i] is a_{i+1}, the edge taken there.
        views: views[i][p] is the move history of perspective p, [a_1, …, a_i]~p; the last perspective is the environment.
        labels, episodes: the current episode's label, and like views the moves since that episode began.
        origin: position-in-episode of the root itself, (label, mover, moves).
        rewards: μ, once it is finished.
        rng, iteration: the generator of the search, and how many iterations it has made before.
        worlds: the state in which each decision is made, with the edge of each legal action; then the state at the end.
    """

    def __init__(
        self,
        origin: tuple,
        label: int,
        episode: tuple[tuple[int, ...], ...],
        rng=None,
        iteration: int = 0,
    ) -> None:
        self.players: list[int] = []
        self.legals: list[tuple[int, ...]] = []
        self.phases: list[str] = []
        self.numbers: list[int] = []
        self.probabilities: dict[int, float] = {}
        self.actions: list[int] = []
        self.views: list[tuple[tuple[int, ...], ...]] = [tuple(() for _ in episode)]
        self.origin = origin
        self.labels = [label]
        self.episodes = [episode]
        self.rewards: tuple[float, ...] = ()
        self.worlds: list[tuple[State, dict[int, int]]] = []
        self.rng = rng
        self.iteration = iteration

    def decide(self, player: int, legal: tuple[int, ...], number: int = 0) -> None:
        """The decision that is about to be made; its phase follows."""
        self.players.append(player)
        self.legals.append(legal)
        self.numbers.append(number)

    def extend(self, action: int, observation: tuple[int, ...], label: int = CONTINUES) -> None:
        """h # a, with what each perspective sees of a, and e of the state that it leads to."""

        def appended(moves: tuple[tuple[int, ...], ...]) -> tuple[tuple[int, ...], ...]:
            return tuple(
                old if move == UNSEEN else (*old, move)
                for old, move in zip(moves, observation, strict=True)
            )

        self.actions.append(action)
        self.views.append(appended(self.views[-1]))
        self.labels.append(self.labels[-1] if label == CONTINUES else label)
        self.episodes.append(
            appended(self.episodes[-1]) if label == CONTINUES else tuple(() for _ in observation)
        )

    @property
    def t(self) -> int:
        return len(self.actions)

    @property
    def player(self) -> int:
        """Who is about to act."""
        return self.players[self.t]

    @property
    def legal(self) -> tuple[int, ...]:
        """What he may do."""
        return self.legals[self.t]

    @property
    def t_e(self) -> int:
        """The first i with n = 0 for [a_1, …, a_i]~, or t: as many decisions as were in the tree."""  # Base-6
        return sum(phase != SIMULATION for phase in self.phases)

    def features(self, i: int, name: str) -> float:
        """What the game tells of the state after ⟨a_1, …, a_i⟩."""
        return self.worlds[i][0].features()[name]

    def action_feature(self, i: int, a: int, name: str) -> float:
        """What it tells of an edge: the mean over the actions that look so; 0 of what the environment may do."""
        world, edges = self.worlds[i]
        if self.players[i] == CHANCE:
            return 0.0
        features_of_actions = [
            world.action_features(action)[name] for action, edge in edges.items() if edge == a
        ]
        return sum(features_of_actions) / len(features_of_actions)

    def lookahead(self, i: int, a: int) -> tuple[float, ...]:
        """What each player may expect after an edge, by the heuristic, or has where it ends the game: the mean likewise."""
        return self._after(i, a, lambda world: world.heuristic())

    def endings(self, i: int, a: int) -> tuple[float, ...]:
        """What each player has where an edge ends the game; NaN where it does not."""
        return self._after(
            i,
            a,
            lambda world: (
                world.returns() if world.is_terminal() else [math.nan] * world.game.players
            ),
        )

    def _after(self, i: int, a: int, evaluate: Callable[[State], list[float]]) -> tuple[float, ...]:
        world, edges = self.worlds[i]
        evaluations = []
        for action in [action for action, edge in edges.items() if edge == a]:
            after = world.clone()
            after.apply_action(action)
            evaluations.append(evaluate(after))
        return tuple(sum(numbers) / len(evaluations) for numbers in zip(*evaluations, strict=True))

    def seen_by(self, player: int, i: int) -> tuple[int, ...]:
        """[a_1, …, a_i]~player."""
        return self.views[i][len(self.views[i]) - 1 if player == CHANCE else player]

    def history(self, i: int) -> tuple:
        """[a_1, …, a_i]~ by the eyes of whoever made the last action."""  # Base-1, AMAF-1
        return self.extended(i - 1, self.actions[i - 1]) if i > 0 else ()

    def extended(self, i: int, a: int) -> tuple:
        """[a_1, …, a_i, a]~ by the eyes of the player about to act."""
        return self.players[i], (*self.seen_by(self.players[i], i), a)

    def position_extended(self, i: int, a: int) -> tuple:
        """η([a_1, …, a_i, a]~): the episode running at h, extended by a."""  # (17), EPIC-1
        moves = self.episodes[i][
            len(self.episodes[i]) - 1 if self.players[i] == CHANCE else self.players[i]
        ]
        return self.labels[i], self.players[i], (*moves, a)

    def position(self, i: int) -> tuple:
        """η([a_1, …, a_i]~)."""
        return self.position_extended(i - 1, self.actions[i - 1]) if i > 0 else self.origin

    def gram(self, n: int, i: int, a: int) -> tuple | None:
        """The last n − 1 moves that the player about to act has observed, and a; None where there are too few."""  # NAST-1
        before = self.seen_by(self.players[i], i)
        if len(before) < n - 1:
            return None
        return (*before[len(before) - (n - 1) :], a, self.players[i])

    def choice(self, i: int, a: int) -> tuple:
        """[a_1, …, a_i0]~ extended by a, for the first h_i0 of the choices made at once with the one at h_i."""  # (2012, III-C1)
        first = i
        while (
            self.numbers[first] > 1
            and first > 0
            and self.numbers[first - 1] == self.numbers[first] - 1
        ):
            first -= 1
        return self.players[i], (*self.seen_by(self.players[i], first), a)

    def previous(self, i: int) -> tuple | None:
        """The most recent move that the player about to act has observed; None where there is none."""  # LGR-1
        before = self.seen_by(self.players[i], i)
        return (before[-1], self.players[i]) if before else None


class Theta(dict):
    """θ: records to information; a record never updated holds θ_initial."""

    def __init__(self, initial) -> None:
        super().__init__()
        self.initial = initial

    def __missing__(self, record: tuple):
        return self.initial


# ---------------------------------------------------------------------------------------------------------- enhancements


def upper_confidence(q: float, n: float, trials: float, c: float) -> float:
    """The UCB1 value; +∞ where nothing is known."""
    return q / n + c * math.sqrt(math.log(max(trials, 1)) / n) if n > 0 and trials > 0 else math.inf


def mean(q: float, n: int) -> float:
    """The mean reward, 1 where nothing is known."""
    return q / n if n > 0 else 1.0  # MAST-4


def added(q: tuple[float, ...], rewards: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(total + reward for total, reward in zip(q, rewards, strict=True))


def available(h: Playout, extended: Callable, steps: int) -> list[tuple[tuple, Any]]:
    """The other actions of the first steps, by their records."""
    return [(extended(i, a), AVAIL) for i in range(steps) for a in h.legals[i] if a != h.actions[i]]


@dataclass(frozen=True)
class Twin(Expression):
    """An enhancement, whose parameters are its fields: equal ones share their records. By itself it is the baseline."""

    rule = ARGMAX
    c, urgency = 0.7, math.inf  # of UCB1, and what is worth of which nothing is known
    bounded_mean = False  # whether values are means of rewards, none of them above 1
    is_rounded = False  # whether information is made of quotients and exponentials: its last bits are the compiler's

    def initial(self, players: int) -> Any:
        """θ_initial."""
        return (0.0,) * players, 0, 0  # Base-3

    def values(self, theta: Theta, h: Playout) -> list[float]:
        """v of each legal action at the end of an unfinished playout, in legal order."""
        if h.phases[h.t] == SIMULATION:
            return [math.inf for _ in h.legal]
        return [self.value(theta, h, a) for a in h.legal]

    def value(self, theta: Theta, h: Playout, a: int) -> float:
        q, n, m = theta[h.extended(h.t, a)][:3]
        return upper_confidence(q[h.player], n, m, self.c) if n > 0 else self.urgency  # Base-4

    def capture(self, h: Playout, theta: Theta) -> list[tuple[tuple, Any]]:
        """ξ: the (record, context) pairs to be updated after a finished playout, in the paper's order."""
        visits = [(h.history(i), VISIT) for i in range(0, h.t_e + 1)]
        return visits + available(h, h.extended, h.t_e)  # Base-6

    def backpropagation(self, information: Any, context: Any, rewards: tuple[float, ...]) -> Any:
        """ω: the new information of a record."""
        q, n, m = information
        return (added(q, rewards), n + 1, m + 1) if context == VISIT else (q, n, m + 1)  # Base-7


@dataclass(frozen=True)
class Baseline(Twin):
    c: float = 0.7


@dataclass(frozen=True)
class Amaf(Twin):
    c: float = 0.7
    captured = (SELECTION, EXPANSION)

    def initial(self, players):
        return (0.0,) * players, 0  # AMAF-3

    def values(self, theta, h):
        information = [theta[h.extended(h.t, a)] for a in h.legal]
        trials = sum(n for _, n in information)
        return [upper_confidence(q[h.player], n, trials, self.c) for q, n in information]  # AMAF-4

    def capture(self, h, theta):
        """⟨a_1, …, a_i, a_j⟩, by the prose: a_j at every node of the tree where it could have been played, the one where it was included.

        The printed ⟨a_1, …, a_{i−1}, a_j⟩ would begin with a_0. At an expansion node as at a selection node an action is chosen by its
        statistics; the strict reading leaves the former out.
        """
        return [
            (h.extended(i, h.actions[j - 1]), None)
            for i in range(0, h.t)
            if h.phases[i] in self.captured
            for j in range(i + 1, h.t + 1)
            if h.actions[j - 1] in h.legals[i] and h.players[j - 1] == h.players[i]
        ]  # AMAF-6

    def backpropagation(self, information, context, rewards):
        q, n = information
        return added(q, rewards), n + 1  # AMAF-7


class AmafStrict(Amaf):
    """AMAF that captures at selection nodes only."""

    captured = (SELECTION,)


def rave(k: float = 250) -> Expression:
    """I_RAVE."""
    return rave_weight(k) * Amaf() ^ (1 - rave_weight(k)) * Baseline()  # (14)


class PlayersMean(Twin):
    """Records (q, n): the sum of one player's rewards and their number; a context is the player."""

    def initial(self, players):
        return 0.0, 0  # MAST-3, NAST-3

    def values(self, theta, h):
        return [mean(*theta[a, h.player]) for a in h.legal]

    def capture(self, h, theta):
        decisions = zip(h.actions, h.players, strict=False)
        return [((a, player), player) for a, player in decisions if player != CHANCE]  # MAST-6

    def backpropagation(self, information, context, rewards):
        q, n = information
        return q + rewards[context], n + 1  # MAST-7, NAST-7


@dataclass(frozen=True)
class Mast(PlayersMean):
    rule: Rule = gibbs()
    captured = (SELECTION, EXPANSION, SIMULATION)
    bounded_mean = True

    @property
    def counts_availability(self) -> bool:
        """By UCB1 (the end of section 4.3.2)."""
        return self.rule.name == "ucb1"

    def initial(self, players):
        return (0.0, 0, 0) if self.counts_availability else (0.0, 0)

    def values(self, theta, h):
        if not self.counts_availability:
            return super().values(theta, h)
        information = [theta[a, h.player] for a in h.legal]
        return [upper_confidence(q, n, m, self.rule.parameter) for q, n, m in information]

    def capture(self, h, theta):
        decisions = [
            (h.actions[i], h.players[i], h.legals[i])
            for i in range(h.t)
            if h.players[i] != CHANCE and h.phases[i] in self.captured
        ]  # MAST-6, TO-MAST-6
        if not self.counts_availability:
            return [((a, player), player) for a, player, _ in decisions]
        visits = [((a, player), (VISIT, player)) for a, player, _ in decisions]
        others = [
            ((b, player), (AVAIL, player))
            for a, player, legal in decisions
            for b in legal
            if b != a
        ]
        return visits + others

    def backpropagation(self, information, context, rewards):
        if not self.counts_availability:
            return super().backpropagation(information, context, rewards)
        (q, n, m), (kind, player) = information, context
        return (q + rewards[player], n + 1, m + 1) if kind == VISIT else (q, n, m + 1)


class ToMast(Mast):
    captured = (SELECTION, EXPANSION)


class Lgr(Twin):
    rule = REPLY

    def initial(self, players):
        return None  # LGR-3

    def values(self, theta, h):
        reply = theta[h.previous(h.t)]
        return [float(a == reply) for a in h.legal]  # LGR-4

    def capture(self, h, theta):
        decisions = [i for i in range(1, h.t) if h.players[i] != CHANCE]
        replies = [(h.previous(i), (h.actions[i], h.players[i])) for i in decisions]
        return [(record, context) for record, context in replies if record is not None]  # LGR-6

    def backpropagation(self, information, context, rewards):
        new, player = context
        return new if self.gain(rewards[player]) > 0 else self.remainder(information, new)  # LGR-7

    def gain(self, reward: float) -> float:
        return reward

    def remainder(self, reply: int | None, lost: int) -> int | None:
        """What is left of a stored reply where one has lost."""
        return reply


class Lgrf(Lgr):
    def remainder(self, reply, lost):
        return None if reply == lost else reply  # LGRF-7


class LgrfSigned(Lgrf):
    """LGRF where a reward below ½ is a loss."""

    def gain(self, reward):
        return 2 * reward - 1


@dataclass(frozen=True)
class Nast(PlayersMean):
    n: int = 2
    rule: Rule = ucb1()
    bounded_mean = True

    def values(self, theta, h):
        information = [theta[h.gram(self.n, h.t, a)] for a in h.legal]
        if self.rule.name == "ucb1":
            trials, c = sum(n for _, n in information), self.rule.parameter
            return [upper_confidence(q, n, trials, c) for q, n in information]  # NAST-4
        return [mean(q, n) for q, n in information]

    def capture(self, h, theta):
        decisions = [i for i in range(0, h.t) if h.players[i] != CHANCE]
        grams = [(h.gram(self.n, i, h.actions[i]), h.players[i]) for i in decisions]
        return [(gram, player) for gram, player in grams if gram is not None]  # NAST-6


@dataclass(frozen=True)
class Epic(Twin):
    rule: Rule = ucb1()

    def values(self, theta, h):
        information = [theta[h.position_extended(h.t, a)] for a in h.legal]
        c = self.rule.parameter
        return [upper_confidence(q[h.player], n, m, c) for q, n, m in information]  # EPIC-4

    def capture(self, h, theta):
        visits = [(h.position(i), VISIT) for i in range(0, h.t + 1)]
        return visits + available(h, h.position_extended, h.t)  # EPIC-6


class Exp3(Twin):
    """No part of an expression: a scheme asks for it."""

    is_rounded = True

    def initial(self, players):
        return (0.0,) * players, 0

    def capture(self, h, theta):
        return [(h.choice(i, h.actions[i]), p) for i, p in h.probabilities.items()]

    def backpropagation(self, information, context, rewards):
        s, n = information
        return added(s, tuple(reward / context for reward in rewards)), n + 1  # (2012, 4)


EXP3 = Exp3()


def exponential(x: float) -> float:
    """e^x; +∞ where it is too large."""
    return math.exp(x) if x < 709 else math.inf


def exp3_probabilities(statistics: list[tuple[float, int]]) -> list[float]:
    """p of each arm, from its (s, n)."""
    arms, trials = len(statistics), sum(n for _, n in statistics)
    gamma = 1.0
    if trials > 0 and arms > 1:
        gamma = min(1.0, math.sqrt(arms * math.log(arms) / ((math.e - 1) * trials)))  # (2012, 5)
    eta = gamma / arms  # (2012, 6)
    p = []
    for reward, _ in statistics:
        total = 0.0
        for rival_reward, _ in statistics:
            total += exponential((rival_reward - reward) * eta)
        p.append(gamma / arms + (1 - gamma) / total)  # (2012, 4)
    return p


def update(thetas: dict[Twin, Theta], playout: Playout) -> None:
    """Lines 15-17 of Algorithm 1, enhancement by enhancement."""  # COMB-6, COMB-7
    for leaf, theta in thetas.items():
        for record, context in leaf.capture(playout, theta):
            theta[record] = leaf.backpropagation(theta[record], context, playout.rewards)


# -------------------------------------------------------------------------------------------------------------- policies


def is_simulated(base: Theta, playout: Playout) -> bool:
    """Whether the decision that comes next is in the simulation phase."""
    return SIMULATION in playout.phases or base[playout.history(playout.t)][1] == 0


def phase_of(base: Theta, playout: Playout) -> str:
    """The kind of node that the end of an unfinished playout is; below the expanded history all is simulation."""
    if is_simulated(base, playout):
        return SIMULATION
    visited = [base[playout.extended(playout.t, a)][1] > 0 for a in playout.legal]
    return SELECTION if all(visited) else EXPANSION


def weights(parts: list, information: tuple) -> list[tuple[float, Any]]:
    """The parts with their λ(θ^base([h]~))."""
    return [(weight(*information) if callable(weight) else weight, part) for weight, part in parts]


def alternatives(
    policy, phase: str, information: tuple, outer: float = 1.0, mixture: type = Linear
) -> list[tuple[float, Any]]:
    """What a linear mixture draws from in this phase, or a maxilinear one sums up: nested ones flattened, with their weights."""
    if isinstance(policy, Sequential):
        active = policy.second if phase == SIMULATION else policy.first  # COMB▷-4
        return alternatives(active, phase, information, outer, mixture)
    if isinstance(policy, mixture):
        return [
            alternative
            for weight, part in weights(policy.parts, information)
            for alternative in alternatives(part, phase, information, outer * weight, mixture)
        ]  # COMB+-4
    return [(outer, policy)]


def maxilinear_values(
    policy: Maxilinear, thetas: dict[Twin, Theta], playout: Playout, information: tuple
) -> list[float]:
    """Σ λ v of each legal action, summed from left to right; 0·∞ is 0."""  # COMB⊕-4
    totals = [0.0 for _ in playout.legal]
    for weight, leaf in alternatives(policy, playout.phases[-1], information, mixture=Maxilinear):
        of_leaf = leaf.values(thetas[leaf], playout)
        totals = [
            total + (weight * v if weight > 0 else 0.0)
            for total, v in zip(totals, of_leaf, strict=True)
        ]
    return totals


def draw_by_weight(rng: np.ndarray, probabilities: list[float]) -> int:
    """An index with probabilities that sum to 1."""
    u, reached = uniform(rng), 0.0
    for i, weight in enumerate(probabilities):
        reached += weight
        if u < reached:
            return i
    return len(probabilities) - 1


def draw_in_proportion(rng: np.ndarray, shares: list[float]) -> int:
    """An index with probability in proportion to weights of any sum; uniform where all are 0."""
    total = 0.0
    for weight in shares:
        total += weight
    if total == 0:
        return below(rng, len(shares))
    x = uniform(rng) * total
    for i, weight in enumerate(shares):
        x -= weight
        if x < 0:
            return i
    return len(shares) - 1


def draw_by_gibbs(rng: np.ndarray, means: list[float], temperature: float) -> int:
    """An index with probability in proportion to e^{v/τ}, for means of rewards.

    No mean is above 1, so an index drawn uniformly and accepted with e^{(v - 1)/τ} has this distribution; after as many
    refusals as there are values, the rest of the probability is drawn from all at once.
    """
    for _ in means:
        i = below(rng, len(means))
        if uniform(rng) < math.exp((means[i] - 1) / temperature):
            return i
    return draw_in_proportion(rng, [math.exp((v - max(means)) / temperature) for v in means])


def draw_best(rng: np.ndarray, scores: list[float]) -> int:
    """U[arg max]: the index of the greatest, ties broken uniformly."""  # (13)
    best = [i for i, v in enumerate(scores) if v == max(scores)]
    return best[below(rng, len(best))] if len(best) > 1 else best[0]


def drawn_alternative(expression, phase: str, information: tuple, rng: np.ndarray):
    """One alternative of a mixture, by the weights."""
    mixture = alternatives(expression, phase, information)
    return mixture[
        draw_by_weight(rng, [weight for weight, _ in mixture]) if len(mixture) > 1 else 0
    ][1]


def draw_by_vote(
    policy: Vote, thetas: dict[Twin, Theta], playout: Playout, information: tuple, rng: np.ndarray
) -> int | None:
    """The index of a legal action of most votes; None where nobody has a vote, for each voter's policy is uniform."""
    cast = [0 for _ in playout.legal]
    for part in policy.parts:
        voter = drawn_alternative(part, playout.phases[-1], information, rng)
        if isinstance(voter, Vote):
            index = draw_by_vote(voter, thetas, playout, information, rng)
        else:
            v = opinion(voter, thetas, playout, information)
            index = None
            if any(x != v[0] for x in v):
                index = draw(voter, thetas, playout, information, rng, is_vote=True)
        if index is not None:
            cast[index] += 1
    return draw_best(rng, cast) if any(cast) else None


def opinion(policy, thetas: dict[Twin, Theta], playout: Playout, information: tuple) -> list[float]:
    """The values by which an alternative chooses; where they are all the same, it chooses uniformly."""
    if isinstance(policy, Maxilinear):
        return maxilinear_values(policy, thetas, playout, information)
    return policy.values(thetas[policy], playout)


def draw(
    policy,
    thetas: dict[Twin, Theta],
    playout: Playout,
    information: tuple,
    rng: np.ndarray,
    is_vote: bool = False,
) -> int:
    """The index of the legal action that one alternative of a mixture chooses."""
    legal = playout.legal
    if isinstance(policy, Vote):
        index = draw_by_vote(policy, thetas, playout, information, rng)
        return below(rng, len(legal)) if index is None else index
    v = opinion(policy, thetas, playout, information)
    if isinstance(policy, Maxilinear):
        return draw_best(rng, v)
    rule = policy.rule
    if rule.name == "reply":
        return v.index(1.0) if 1.0 in v else below(rng, len(legal))  # LGR-4
    if rule.name == "gibbs" and policy.bounded_mean and not is_vote:
        return draw_by_gibbs(rng, v, rule.parameter)  # MAST-4
    if rule.name == "gibbs":
        return draw_in_proportion(rng, [math.exp((x - max(v)) / rule.parameter) for x in v])
    if rule.name == "roulette":
        return draw_in_proportion(rng, v)  # MAST-Roulette-4
    if rule.name == "epsilon-greedy" and uniform(rng) < rule.parameter:
        return below(rng, len(legal))  # MAST-ε-greedy-4
    return draw_best(rng, v)


def simulates_uniformly(policy, phase: str, information: tuple) -> bool:
    """Whether one alternative of a mixture is the baseline in simulation and nothing else."""  # Base-4
    if phase != SIMULATION:
        return False
    if isinstance(policy, Vote):
        voters = [
            voter for part in policy.parts for _, voter in alternatives(part, phase, information)
        ]
        return all(simulates_uniformly(voter, phase, information) for voter in voters)
    parts = (
        [leaf for _, leaf in alternatives(policy, phase, information, mixture=Maxilinear)]
        if isinstance(policy, Maxilinear)
        else [policy]
    )
    return all(isinstance(leaf, Baseline) for leaf in parts)


def draw_by_exp3(theta: Theta, playout: Playout, rng: np.ndarray) -> int:
    """An edge drawn by EXP3 at a simultaneous decision, its probability noted."""
    i, legal = playout.t, playout.legal
    information = [theta[playout.choice(i, a)] for a in legal]
    p = exp3_probabilities([(s[playout.players[i]], n) for s, n in information])
    drawn = draw_in_proportion(rng, p) if len(legal) > 1 else 0
    playout.probabilities[i] = p[drawn]
    return legal[drawn]


def choose(
    expression,
    thetas: dict[Twin, Theta],
    playout: Playout,
    information: tuple,
    rng: np.ndarray,
    edges: tuple[int, ...],
) -> int:
    """Line 11 of Algorithm 1 for a player: the index of an action drawn from α; edges[k] is the edge of the action k."""
    legal, phase = playout.legal, playout.phases[-1]
    chosen = legal[0]
    if EXP3 in thetas and playout.numbers[-1] > 0 and phase != SIMULATION:
        chosen = draw_by_exp3(thetas[EXP3], playout, rng)
    elif len(legal) > 1:
        policy = drawn_alternative(expression, phase, information, rng)
        at_random = simulates_uniformly(policy, phase, information)
        chosen = legal[
            below(rng, len(legal)) if at_random else draw(policy, thetas, playout, information, rng)
        ]
    alike = [k for k, edge in enumerate(edges) if edge == chosen]
    return (
        alike[below(rng, len(alike))] if len(alike) > 1 else alike[0]
    )  # (2012, appendix B, 4 and 11)


# ------------------------------------------------------------------------------------------------------------ Algorithm 1


@dataclass
class Trace:
    """What happened in one iteration: an item for each decision."""

    players: tuple[int, ...]
    actions: tuple[int, ...]
    phases: tuple[str, ...]


@dataclass
class Outcome:
    """The state of a search, or of one tree of it, after some iterations; `action`, line 18, is set after the last of all."""

    records: dict[Twin, Theta]
    base: Twin  # whose records hold the baseline statistics
    playouts: list[Trace] = field(default_factory=list)
    # of the root's legal actions, in legal order
    selections: dict[int, int] = field(default_factory=dict)
    action: int | None = None
    # of a whole search with several trees: the records are theirs
    trees: list["Outcome"] = field(default_factory=list)


def observed(state: State, action: int) -> tuple[int, ...]:
    """What each player, and last the environment, sees of an action that is about to be done."""
    players, observe = state.game.players, state.game.kernels().observe
    if observe is None:
        return (action,) * (players + 1)
    moves = np.full(players + 1, action, np.int64)
    observe(state.data.ctypes.data, action, moves.ctypes.data, players)
    return tuple(moves.tolist())


def label_of(state: State) -> int:
    """e(s)."""
    episode = state.game.kernels().episode
    return CONTINUES if episode is None else episode(state.data.ctypes.data)


def seen_through(eyes: str, observer: int, state: State, action: int) -> tuple[int, ...]:
    """What each perspective of a scheme sees of an action that is about to be done; the mover's entry is its edge."""
    moves = observed(state, action)
    if eyes == EACH_PLAYER:
        return moves
    return (action if eyes == EVERY_ACTION else moves[observer],) * len(moves)


def number_of(state: State) -> int:
    """Which of the choices made at once a decision is."""
    simultaneous = state.game.kernels().simultaneous
    return (
        0
        if simultaneous is None or state.is_chance_node()
        else simultaneous(state.data.ctypes.data)
    )


def episode_moves(
    root: State, position: EpisodePosition, world: State, eyes: str
) -> tuple[tuple[int, ...], ...]:
    """For each player, and last the environment: the moves since the episode began in which the root stands, at a position."""
    game, perspectives = root.game, (*range(root.game.players), CHANCE)
    recall = game.kernels().recall
    if recall is None or eyes != EACH_PLAYER:
        moves = position.moves
        return tuple(
            moves[game.perspective(perspective if eyes == EACH_PLAYER else root.current_player())]
            for perspective in perspectives
        )
    recalled = []
    for perspective in range(game.players + 1):
        room = np.empty(ROOM, np.int64)
        count = recall(world.data.ctypes.data, perspective, room.ctypes.data, ROOM)
        recalled.append(tuple(room[:count].tolist()))
    return tuple(recalled)


def origin_of(
    root: State, position: EpisodePosition, recalled: tuple[tuple[int, ...], ...], eyes: str
) -> tuple:
    """Position-in-episode of the root, as far as the root player may know it; `recalled` as `episode_moves` has it."""
    observer, last = root.current_player(), position.last
    if root.game.perspectives > 1 and last not in (None, observer):  # what `last` saw may be hidden
        if not any(position.moves):
            return position.label, None, ()
        if root.game.recall is not None or eyes != EACH_PLAYER:
            return position.label, last, recalled[last]  # CHANCE, −1, is the last one
    return position.previous[0], last, position.previous[1]


def is_cut(base: Theta, playout: Playout, cutoff: int | None) -> bool:
    """Whether a playout that has its first action has as many of simulation as it may have."""
    if cutoff is None or playout.t == 0:
        return False
    return is_simulated(base, playout) and playout.t - playout.t_e >= cutoff


def play(
    root: State,
    world: State,
    expression,
    outcome: Outcome,
    rng: np.ndarray,
    scheme: Scheme = MO_ISMCTS,
) -> Playout:
    """Lines 6-14 of Algorithm 1, from a root state `world` of an iteration."""
    eyes, cutoff = scheme.observer, scheme.cutoff
    observer, position = root.current_player(), root.position_in_episode()
    recalled = episode_moves(root, position, world, eyes)
    playout = Playout(
        origin_of(root, position, recalled, eyes),
        position.label,
        recalled,
        rng,
        len(outcome.playouts),
    )
    base = outcome.records[outcome.base]
    while True:
        if (player := world.current_player()) == TERMINAL or is_cut(base, playout, cutoff):
            break
        actions = world.legal_actions()
        sights = [seen_through(eyes, observer, world, action) for action in actions]
        edges = tuple(sight[player] for sight in sights)  # CHANCE, −1, is the last one
        legal = tuple(dict.fromkeys(edges))
        playout.decide(player, legal, number_of(world))
        playout.worlds.append(
            (State.from_data(world.game, world.data.copy()), dict(zip(actions, edges, strict=True)))
        )
        playout.phases.append(phase_of(base, playout))
        if player == CHANCE:
            k = by_nature(world, rng)
        else:
            k = choose(
                expression, outcome.records, playout, base[playout.history(playout.t)], rng, edges
            )
        world.apply_action(actions[k])
        playout.extend(edges[k], sights[k], CONTINUES if world.is_terminal() else label_of(world))
    playout.worlds.append((world, {}))
    playout.rewards = tuple(world.heuristic())
    return playout


def by_nature(world: State, rng: np.ndarray) -> int:
    """The index of an outcome drawn from π₀."""
    outcomes = world.chance_outcomes()
    return draw_by_weight(rng, [p for _, p in outcomes]) if len(outcomes) > 1 else 0


def determinized(state: State, observer: int, beliefs: np.ndarray, rng: np.ndarray) -> State:
    """A state drawn uniformly from the information set of an observer."""
    world, determinize = State(state.game, state.data.copy()), state.game.kernels().determinize
    if determinize is not None:
        determinize(world.data.ctypes.data, observer, beliefs.ctypes.data, rng.ctypes.data)
    return world


def root_states(state: State, scheme: Scheme, rng: np.ndarray) -> Iterator[State]:
    """The root state of each iteration of a tree."""  # line 8; (2012, IV-C, IV-D)
    observer = state.current_player()
    if scheme.root == ONCE:
        state = determinized(state, observer, state.beliefs(observer), rng)
    perspective = observer if scheme.root == FRESH else CHANCE
    beliefs = state.beliefs(perspective)
    while True:
        yield determinized(state, perspective, beliefs, rng)


def grown(
    state: State,
    expression,
    rng: np.ndarray,
    scheme: Scheme,
    inherited: dict[Twin, Theta] | None = None,
) -> Iterator[Outcome]:
    """One tree of Algorithm 1 without end, line 18 left out; always the same `Outcome`.

    Args:
        inherited: what `living` has left of an earlier search.
    """
    base = next((leaf for leaf in leaves(expression) if isinstance(leaf, Baseline)), Baseline())
    bandits = [EXP3] if scheme.exp3 and state.game.kernels().simultaneous is not None else []
    components = dict.fromkeys([base, *leaves(expression), *bandits])
    outcome = Outcome(
        {leaf: Theta(leaf.initial(state.game.players)) for leaf in components}, base
    )  # lines 2-4
    outcome.selections = dict.fromkeys(state.legal_actions(), 0)
    if inherited is not None:
        for leaf in components:
            outcome.records[leaf].update(inherited[leaf])
        player, theta = state.current_player(), outcome.records[base]
        outcome.selections = {action: theta[player, (action,)][1] for action in outcome.selections}
    for world in root_states(state, scheme, rng):
        playout = play(state, world, expression, outcome, rng, scheme)
        update(outcome.records, playout)
        outcome.playouts.append(
            Trace(tuple(playout.players), tuple(playout.actions), tuple(playout.phases))
        )
        outcome.selections[playout.actions[0]] += 1
        yield outcome


# ---------------------------------------------------------------------------------------------------- records that live on

ASKED = 200  # determinizations that tell what another can have seen


def moves_as_observed(
    replay: State, player: int, action: int, scheme: Scheme, observer: int
) -> list[int | None]:
    """What each player, and last the environment, sees of an action, as far as the observer can tell."""
    true = observed(replay, action)
    if (
        replay.game.observe is None
        or scheme.root == TRUE
        or scheme.observer not in (EACH_PLAYER, EVERY_ACTION)
    ):
        return list(seen_through(scheme.observer, observer, replay, action))
    beliefs = replay.beliefs(observer)
    rng = seeded((7, len(replay.history)))
    possible = [set() for _ in true]
    for _ in range(ASKED):
        world = determinized(replay, observer, beliefs, rng)
        for alternative in world.legal_actions():
            if (player == observer and alternative == action) or (
                player != observer and observed(world, alternative)[observer] == true[observer]
            ):
                for options, move in zip(
                    possible,
                    seen_through(scheme.observer, observer, world, alternative),
                    strict=True,
                ):
                    options.add(move)
    moves = [options.pop() if len(options) == 1 else None for options in possible]
    if scheme.observer == EACH_PLAYER:
        moves[observer] = true[observer]
    return moves


def way_to(
    earlier: State, state: State, scheme: Scheme
) -> tuple[list[tuple[int, ...] | None], tuple | None]:
    """The moves from an earlier root to a state in the eyes of each player and of the environment, and the record of that history."""
    replay, observer = earlier.clone(), state.current_player()
    ways: list[tuple[int, ...] | None] = [()] * (state.game.players + 1)
    if scheme.root == ONCE:
        return [None] * len(ways), None
    record: tuple | None = ()
    for player, action in state.history[len(earlier.history) :]:
        moves = moves_as_observed(replay, player, action, scheme, observer)
        observable = (
            ways[player] is not None and moves[player] is not None
        )  # CHANCE, −1, is the last one
        record = (player, (*ways[player], moves[player])) if observable else None
        ways = [
            None if way is None or move is None else way if move == UNSEEN else (*way, move)
            for way, move in zip(ways, moves, strict=True)
        ]
        replay.apply_action(action)
    return ways, record


def is_history(record: tuple) -> bool:
    """Whether a record is a history, and not an action with its player."""
    return record == () or isinstance(record[1], tuple)


def living(
    outcome: Outcome, earlier: State, state: State, scheme: Scheme = MO_ISMCTS, decay: float = 1.0
) -> dict[Twin, Theta]:
    """What is left of the records of an earlier search, or of one tree of it, when the root has moved on to a state.

    A record of a history lives on if the history leads on from the new root, and the baseline has it too; where everybody sees every
    action, it must continue a history with visits. All other records stay as they are.
    """
    players = state.game.players
    remainder: dict[Twin, Theta] = {}
    for leaf, theta in outcome.records.items():
        remainder[leaf] = Theta(theta.initial)
        for record, information in theta.items():
            remaining = decayed(information, theta.initial, decay)
            if decay == 1 or (decay > 0 and remaining != theta.initial):
                remainder[leaf][record] = remaining
    ways, root = way_to(earlier, state, scheme)
    base = Theta(remainder[outcome.base].initial)
    one_view = state.game.observe is None or scheme.observer == EVERY_ACTION
    base.update(remainder[outcome.base])

    def renamed(record: tuple) -> tuple | None:
        if record == root:
            return ()
        if record == () or ways[record[0]] is None or record not in base:
            return None
        moves, way = record[1], ways[record[0]]
        if len(moves) <= len(way) or moves[: len(way)] != way:
            return None
        if one_view:
            before = [
                [(player, moves[:k]) for player in range(-1, players)]
                for k in range(len(way) + 1, len(moves))
            ]
            for histories in [[root], *before]:
                if not any(base[history][1] > 0 for history in histories if history is not None):
                    return None
        return record[0], moves[len(way) :]

    if one_view and (root is None or base[root][1] == 0):
        root, ways = None, [None] * len(ways)
    for theta in remainder.values():
        moved = {
            (renamed(record) if is_history(record) else record): theta[record] for record in theta
        }
        moved.pop(None, None)
        theta.clear()
        theta.update(moved)
    return remainder


def decayed(information, initial, decay: float):
    """Counts cut down to ⌊decay · n⌋ beyond the initial ones, and each sum in proportion to the next count; a reply stays."""
    if decay == 1 or not isinstance(information, tuple):
        return information
    parts, share = [], (decay, 1)
    for value, first in zip(reversed(information), reversed(initial), strict=True):
        if isinstance(value, int):
            share = (math.floor(decay * (value - first)), value - first)
            parts.append(first + share[0])
        elif isinstance(value, tuple):
            parts.append(
                tuple(
                    b + (a - b) * share[0] / share[1] if share[1] else b
                    for a, b in zip(value, first, strict=True)
                )
            )
        else:
            parts.append(first + (value - first) * share[0] / share[1] if share[1] else first)
    return tuple(reversed(parts))


def summed(trees: list[Outcome]) -> dict[int, int]:
    """The selections of the root's legal actions in all trees."""
    return {
        action: sum(tree.selections[action] for tree in trees) for action in trees[0].selections
    }


def undominated(trees: list[Outcome], player: int) -> dict[int, int]:
    """The selections of the root's actions but for those that another is proved to be at least as good as, and perhaps better."""
    selections, bounds = summed(trees), {}
    for action in selections:
        proofs = [
            leaf.bounds(theta, player, action)
            for tree in trees
            for leaf, theta in tree.records.items()
            if hasattr(leaf, "bounds")
        ]
        bounds[action] = (
            max((low for low, _ in proofs), default=0.0),
            min((high for _, high in proofs), default=1.0),
        )

    def beaten(action: int) -> bool:
        low, high = bounds[action]
        return any(
            other_low >= high and other_high > low for other_low, other_high in bounds.values()
        )

    return {action: selected for action, selected in selections.items() if not beaten(action)}


def stepwise(
    state: State,
    expression,
    iterations: int,
    seed: int | tuple[int, ...],
    scheme: Scheme = MO_ISMCTS,
    inherited: list[dict[Twin, Theta]] | None = None,
) -> Iterator[Outcome]:
    """Algorithm 1, pausing after each iteration, tree after tree; always the same `Outcome` of a tree, growing.

    Args:
        inherited: for each tree, what `living` has left of an earlier search.
    """
    key = seed if isinstance(seed, tuple) else (seed,)
    generators = (
        [seeded((*key, i)) for i in range(scheme.trees)] if scheme.tree_parameter else [seeded(key)]
    )
    trees: list[Outcome] = []
    for i, rng in enumerate(generators):
        share = iterations // scheme.trees + (i < iterations % scheme.trees)
        records = None if inherited is None else inherited[i]
        for iteration, outcome in enumerate(
            islice(grown(state, expression, rng, scheme, records), share), start=1
        ):
            if iteration == 1:
                trees.append(outcome)
            if iteration == share and len(trees) == scheme.trees:
                selections = undominated(trees, state.current_player())
                outcome.action = list(selections)[
                    draw_best(generators[0].copy(), list(selections.values()))
                ]  # line 18
            yield outcome


def search(
    state: State,
    expression,
    iterations: int,
    seed: int | tuple[int, ...],
    scheme: Scheme = MO_ISMCTS,
) -> Outcome:
    """The whole of Algorithm 1."""
    trees: list[Outcome] = []
    for outcome in stepwise(state, expression, iterations, seed, scheme):
        if not trees or outcome is not trees[-1]:
            trees.append(outcome)
    last = trees[-1]
    if len(trees) == 1:
        return last
    return Outcome(
        {},
        last.base,
        [trace for tree in trees for trace in tree.playouts],
        summed(trees),
        last.action,
        trees,
    )
