"""The naive twins of the catalogue: each enhancement once more on tuples, written from its paper, for `tests.naive` to run.

What is not said is the baseline's. The readings are those told at the heads of the files in icarus/specs. Records and information:
    fpu, kl-ucb          histories as the baseline's; (q, n, m)
    ucb1-tuned           histories; (q, s, n, m), s the squares
    progressive-history  histories and (action, player); (q, n, m)
    grave                histories; (q, n, q̃, ñ)
    lgrf2                (move, move, player) and (move, player); the stored reply
    nst                  (n moves…, player), n = 1, 2, 3; (q, n)
    ppa                  (action, player); (w,)
    simulation-decay     (action, player); (q, n, 0)
    batch-decay          (action, player); (q, n, the batch of the last update)
    cmc                  (action, action, player), the smaller action first; (q, n)
    discounted-ucb       histories; (q, n, m)
    discounted-history   histories and (action, player); (q, n, m)
    score-bounds         histories; (q, n, m, 0, 1); and (mover, moves, player); (no rewards, 0, 0, bounds of what the player is sure of)
    bounded …            records of a selection, and (mover, moves, player); its information and the bounds of what the player is sure of
    regret-matching      histories; (q, n, m, R); and (mover, moves, what the others chose at once…); (q, n, m, 0)
    relative-bonus       histories; (q, n, m, 0, 0); and (player,); (no rewards, wins, 0, sum of lengths, sum of their squares)
    implicit-minimax     histories; (q, n, m, v), with v a tuple of κ values in units of 2^-40
    past                 (action, player) and (feature, value, action, player); (q, n)
    fast                 (feature of actions, player); (w,)
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from icarus.kernel import CHANCE, uniform
from tests.naive import (
    AVAIL,
    REPLY,
    SIMULATION,
    VISIT,
    Amaf,
    AmafStrict,
    Baseline,
    Epic,
    Lgr,
    Lgrf,
    LgrfSigned,
    Mast,
    Nast,
    PlayersMean,
    Playout,
    Rule,
    Theta,
    ToMast,
    Twin,
    added,
    epsilon_greedy,
    gibbs,
    mean,
    rave,
    rave_weight,
    roulette,
    ucb1,
)

FIRST, ANYWHERE, LENGTH = "first", "anywhere", "length"
UNIT = 2**40


class Weight(PlayersMean):
    """Records (w,) of actions; a context is what is added."""

    def initial(self, players):
        return (0.0,)

    def values(self, theta, h):
        return [theta[a, h.player][0] for a in h.legal]

    def backpropagation(self, information, context, rewards):
        return (information[0] + context,)


@dataclass(frozen=True)
class FirstPlayUrgency(Twin):
    urgency: float = 1.0
    c: float = 0.7


@dataclass(frozen=True)
class Tuned(Twin):
    c: float = math.sqrt(2)

    def initial(self, players):
        return (0.0,) * players, (0.0,) * players, 0, 0

    def value(self, theta, h, a):
        q, s, n, m = theta[h.extended(h.t, a)][:4]
        if n == 0:
            return math.inf
        mean = q[h.player] / n
        variance = s[h.player] / n - mean**2 + self.c * math.sqrt(math.log(m) / n)
        return mean + math.sqrt(math.log(m) / n * max(0.0, min(1 / 4, variance)))

    def backpropagation(self, information, context, rewards):
        q, s, n, m = information
        if context == AVAIL:
            return q, s, n, m + 1
        return added(q, rewards), added(s, tuple(reward**2 for reward in rewards)), n + 1, m + 1


class KullbackLeibler(Twin):
    def value(self, theta, h, a):
        q, n, m = theta[h.extended(h.t, a)]
        if n == 0:
            return math.inf
        p = q[h.player] / n

        def divergence(x: float) -> float:
            return sum(u * math.log(u / v) for u, v in ((p, x), (1 - p, 1 - x)) if u > 0)

        low, high = p, 1.0
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if n * divergence(middle) <= math.log(m) else (low, middle)
        return low


@dataclass(frozen=True)
class ProgressiveHistory(Twin):
    w: float = 5.0
    c: float = 0.7
    everywhere = VISIT  # the context of an action wherever it was played

    def value(self, theta, h, a):
        q, n = theta[h.extended(h.t, a)][:2]
        if n == 0:
            return math.inf
        of_action, times = theta[a, h.player][:2]
        bias = of_action[h.player] / times * self.w / (n - q[h.player] + 1)
        return super().value(theta, h, a) + bias

    def capture(self, h, theta):
        decisions = zip(h.actions, h.players, strict=False)
        actions = [((a, p), self.everywhere) for a, p in decisions if p != CHANCE]
        return super().capture(h, theta) + actions


@dataclass(frozen=True)
class Grave(Twin):
    least: int = 50
    bias: float = 1e-5
    c: float = 0.0

    def initial(self, players):
        return (0.0,) * players, 0, (0.0,) * players, 0

    def value(self, theta, h, a):
        player = h.player
        enough = [i for i in range(h.t + 1) if theta[h.history(i)][1] > self.least]
        q, n = theta[h.extended(h.t, a)][:2]
        ancestor = (player, (*h.seen_by(player, max(enough, default=0)), a))
        first, many = theta[ancestor][2:4]
        if n == many == 0:
            return math.inf
        beta = many / (many + n + self.bias * many * n)
        mean = (1 - beta) * (q[player] / n if n else 0.0) + beta * (
            first[player] / many if many else 0.0
        )
        trials = sum(theta[h.extended(h.t, b)][1] for b in h.legal)
        return mean + self.c * math.sqrt(math.log(max(trials, 1)) / max(n, 1))

    def capture(self, h, theta):
        captured: list[tuple[tuple, Any]] = [(h.history(i), VISIT) for i in range(h.t_e + 1)]
        for i in range(h.t_e + 1):
            later = dict.fromkeys(
                (p, a) for p, a in list(zip(h.players, h.actions, strict=False))[i:] if p != CHANCE
            )
            captured += [((p, (*h.seen_by(p, i), a)), FIRST) for p, a in later]
        return captured

    def backpropagation(self, information, context, rewards):
        q, n, first, many = information
        if context == VISIT:
            return added(q, rewards), n + 1, first, many
        return q, n, added(first, rewards), many + 1


class LastGoodReplyToTwo(Twin):
    rule = REPLY

    def initial(self, players):
        return None

    def moves(self, h: Playout, i: int) -> list[tuple]:
        """What there is to reply to: the last two moves, and the last one."""
        before, player = h.seen_by(h.players[i], i), h.players[i]
        return [(*before[len(before) - k :], player) for k in (2, 1) if len(before) >= k]

    def values(self, theta, h):
        replies = [theta[moves] for moves in self.moves(h, h.t)]
        good = next((reply for reply in replies if reply in h.legal), None)
        return [1.0 if a == good else 0.0 for a in h.legal]

    def capture(self, h, theta):
        replies = [(i, (h.actions[i], h.players[i])) for i in range(h.t) if h.players[i] != CHANCE]
        return [(moves, reply) for i, reply in replies for moves in self.moves(h, i)]

    def backpropagation(self, information, context, rewards):
        new, player = context
        if rewards[player] > 0:
            return new
        return None if information == new else information


@dataclass(frozen=True)
class Nst(PlayersMean):
    least: int = 7
    rule: Rule = epsilon_greedy(0.2)

    def values(self, theta, h):
        v = []
        for a in h.legal:
            grams = {n: h.gram(n, h.t, a) for n in (1, 2, 3)}
            statistics = [(n, theta[gram]) for n, gram in grams.items() if gram is not None]
            means = [
                q / n for length, (q, n) in statistics if n >= (1 if length == 1 else self.least)
            ]
            v.append(sum(means) / len(means) if means else 1.0)
        return v

    def capture(self, h, theta):
        windows = [(i, n) for i in range(h.t) if h.players[i] != CHANCE for n in (1, 2, 3)]
        grams = [(h.gram(n, i, h.actions[i]), h.players[i]) for i, n in windows]
        return [(gram, player) for gram, player in grams if gram is not None]


class Thompson(Twin):
    def value(self, theta, h, a):
        q, n, _ = theta[h.extended(h.t, a)]
        won = self.gamma(h.rng, 1 + q[h.player])
        lost = self.gamma(h.rng, 1 + max(0.0, n - q[h.player]))
        return won / (won + lost)

    def gamma(self, rng, shape: float) -> float:
        """Marsaglia and Tsang's method, for shapes of at least 1."""
        d = shape - 1 / 3
        while True:
            x, s = 0.0, 1.0
            while not 0 < s < 1:
                x, y = 2 * uniform(rng) - 1, 2 * uniform(rng) - 1
                s = x * x + y * y
            x *= math.sqrt(-2 * math.log(s) / s)
            v = (1 + x / math.sqrt(9 * d)) ** 3
            if v > 0 and math.log(1 - uniform(rng)) < x * x / 2 + d - d * v + d * math.log(v):
                return d * v


@dataclass(frozen=True)
class PlayoutPolicyAdaptation(Weight):
    alpha: float = 0.32
    temperature: float = 1.0
    is_rounded = True

    @property
    def rule(self) -> Rule:
        return gibbs(self.temperature)

    def probabilities(self, theta: Theta, legal: tuple[int, ...], player: int) -> dict[int, float]:
        z = sum(math.exp(theta[m, player][0]) for m in legal)
        return {m: math.exp(theta[m, player][0]) / z for m in legal}

    def capture(self, h, theta):
        captured = []
        for played, player, legal in zip(h.actions, h.players, h.legals, strict=False):
            if player != CHANCE and len(legal) > 1 and h.rewards[player] > 1 / 2:
                p = self.probabilities(theta, legal, player)
                captured += [((m, player), self.alpha * ((m == played) - p[m])) for m in legal]
        return captured


class Decayed(PlayersMean):
    """Records (q, n, batch) with n a real number."""

    def initial(self, players):
        return 0.0, 0.0, 0

    def values(self, theta, h):
        information = [theta[a, h.player] for a in h.legal]
        return [q / n if n > 0 else 1.0 for q, n, _ in information]


@dataclass(frozen=True)
class SimulationDecay(Decayed):
    decay: float = 0.95
    rule: Rule = gibbs()

    def backpropagation(self, information, context, rewards):
        q, n, _ = information
        return self.decay * q + rewards[context], self.decay * n + 1, 0


@dataclass(frozen=True)
class BatchDecay(Decayed):
    decay: float = 0.8
    size: int = 1000
    rule: Rule = gibbs()
    is_rounded = True

    def capture(self, h, theta):
        return [(record, (player, h.iteration)) for record, player in super().capture(h, theta)]

    def backpropagation(self, information, context, rewards):
        (q, n, batch), (player, iteration) = information, context
        now = iteration // self.size
        for _ in range(now - batch):
            q, n = self.decay * q, self.decay * n
        return q + rewards[player], n + 1, now


@dataclass(frozen=True)
class ContextualMonteCarlo(PlayersMean):
    share: float = 0.35
    bound: float = 0.6

    @property
    def rule(self) -> Rule:
        return epsilon_greedy(1 - self.share)

    def values(self, theta, h):
        own = [a for a, p in zip(h.actions, h.players, strict=False) if p == h.player]
        if not own:
            return [0.0 for _ in h.legal]
        information = [theta[*sorted((own[-1], a)), h.player] for a in h.legal]
        return [q / n if n > 0 and q / n > self.bound else 0.0 for q, n in information]

    def capture(self, h, theta):
        captured = []
        for j, player in enumerate(h.players[: h.t]):
            before = [h.actions[i] for i in range(j) if h.players[i] == player != CHANCE]
            captured += [
                ((*sorted((a, h.actions[j])), player), player) for a in before if a != h.actions[j]
            ]
        return captured


@dataclass(frozen=True)
class DiscountedBound(Twin):
    discount: float = 0.999
    c: float = 0.7

    def initial(self, players):
        return (0.0,) * players, 0.0, 0.0

    def backpropagation(self, information, context, rewards):
        (q, n, m), gamma = information, self.discount
        less = tuple(gamma * total for total in q), gamma * n, gamma * m
        return super().backpropagation(less, context, rewards)


@dataclass(frozen=True)
class DiscountedHistory(ProgressiveHistory):
    discount: float = 0.99
    w: float = 5.0
    c: float = 0.7
    everywhere = ANYWHERE

    def backpropagation(self, information, context, rewards):
        q, n, m = information
        if context == AVAIL:
            return q, n, m + 1
        factor = self.discount if context == ANYWHERE else 1
        return added(tuple(factor * total for total in q), rewards), factor * n + 1, m + 1


@dataclass(frozen=True)
class RelativeBonus(Twin):
    alpha: float = 0.25
    k: float = 1.0
    c: float = 0.7
    is_rounded = True

    def initial(self, players):
        return (0.0,) * players, 0, 0, 0.0, 0.0

    def capture(self, h, theta):
        winner = next((player for player, reward in enumerate(h.rewards) if reward > 1 / 2), None)
        b = self.bonus(theta, winner, h.t)
        captured = [(record, (context, b)) for record, context in super().capture(h, theta)]
        return captured if winner is None else [*captured, ((winner,), (LENGTH, h.t))]

    def bonus(self, theta: Theta, winner: int | None, t: int) -> float:
        _, n, _, lengths, squares = theta[(winner,)] if winner is not None else theta.initial
        if n < 50:
            return 0.0
        mean = lengths / n
        variance = squares / n - mean**2
        if variance <= 0:
            return 0.0
        return -1 + 2 / (1 + math.exp(-self.k * (mean - t) / math.sqrt(variance)))

    def backpropagation(self, information, context, rewards):
        (q, n, m, lengths, squares), (kind, x) = information, context
        if kind == AVAIL:
            return q, n, m + 1, lengths, squares
        if kind == LENGTH:
            return q, n + 1, m, lengths + x, squares + x**2
        scaled = [2 * reward - 1 for reward in rewards]  # from −1 to 1
        altered = [r + self.alpha * x * ((r > 0) - (r < 0)) for r in scaled]
        return added(q, tuple((r + 1) / 2 for r in altered)), n + 1, m + 1, lengths, squares


def proofs(h: Playout, theta: Theta) -> list[tuple[tuple, Any]]:
    """What a playout that ended in the tree proves; bounds are the last two of the information."""
    captured: list[tuple[tuple, Any]] = []
    for player in range(len(h.rewards) if h.t_e == h.t else 0):
        low = high = h.rewards[player]
        for i in range(h.t, -1, -1):
            if i < h.t:
                others = [
                    theta[(*h.extended(i, a), player)][-2:]
                    for a in h.legals[i]
                    if a != h.actions[i]
                ]
                best = max if h.players[i] == player else min
                low = best([low, *(x for x, _ in others)])
                high = best([high, *(y for _, y in others)])
            record = (*(h.history(i) or (0, ())), player)
            before = theta[record][-2:]
            captured += [(record, ("low", low))] if low != before[0] else []
            captured += [(record, ("high", high))] if high != before[1] else []
    return captured


@dataclass(frozen=True)
class Bounded(Twin):
    """A selection with score bounds: what is known without them, and behind it the two of what players are sure of."""

    selection: Twin

    def initial(self, players):
        return (*self.selection.initial(players), 0.0, 1.0)

    def values(self, theta, h):
        if h.phases[h.t] == SIMULATION:
            return [math.inf for _ in h.legal]
        bounds = {a: theta[(*h.extended(h.t, a), h.player)][-2:] for a in h.legal}
        sure = max(low for low, _ in bounds.values())
        most = max(high for _, high in bounds.values())
        if sure == most:  # there is an action that is proved to be best
            return [math.inf if low == sure else -1.0 for low, _ in bounds.values()]
        return [
            -1.0
            if self.is_left_out(low, high, sure)
            else self.selection.value(theta, h, a) + self.optimism(low, high)
            for a, (low, high) in bounds.items()
        ]

    def is_left_out(self, low: float, high: float, sure: float) -> bool:
        return high <= sure

    def optimism(self, low: float, high: float) -> float:
        return 0.0

    def capture(self, h, theta):
        return self.selection.capture(h, theta) + proofs(h, theta)

    def backpropagation(self, information, context, rewards):
        *others, low, high = information
        if context[0] == "low":
            return (*others, context[1], high)
        if context[0] == "high":
            return (*others, low, context[1])
        return (*self.selection.backpropagation(tuple(others), context, rewards), low, high)

    def bounds(self, theta: Theta, player: int, action: int) -> tuple[float, float]:
        """Of the root's player after his action."""
        return theta[player, (action,), player][-2:]


@dataclass(frozen=True)
class ScoreBounds(Bounded):
    gamma: float = 0.0
    delta: float = 0.0

    def optimism(self, low, high):
        return self.gamma * low + self.delta * high


class MctsSolver(Bounded):
    """It leaves out what is solved, and nothing that is merely at most as good."""

    def is_left_out(self, low, high, sure):
        return low == high


def score_bounds(gamma: float = 0.0, delta: float = 0.0, c: float = 0.7) -> Twin:
    return ScoreBounds(Baseline(c), gamma, delta)


def mcts_solver(c: float = 0.7) -> Twin:
    return MctsSolver(Baseline(c))


@dataclass(frozen=True)
class RegretMatching(Twin):
    gamma: float = 0.2
    c: float = 0.7
    rule = roulette()
    is_rounded = True

    def initial(self, players):
        return (0.0,) * players, 0, 0, 0.0

    def values(self, theta, h):
        i, legal, gamma = h.t, h.legal, self.gamma
        if h.phases[i] == SIMULATION:
            return [1.0 for _ in legal]
        if h.numbers[i] > 0:
            regrets = [max(0.0, theta[h.choice(i, a)][3]) for a in legal]
            total = sum(regrets)
            return [
                gamma / len(legal) + (1 - gamma) * (r / total if total else 1 / len(legal))
                for r in regrets
            ]
        v = super().values(theta, h)
        return [1.0 if x == max(v) else 0.0 for x in v]

    def groups(self, h: Playout) -> list[list[int]]:
        """The decisions that were made at once, those of one and the same moment together."""
        groups: list[list[int]] = []
        for i, number in enumerate(h.numbers):
            if number > 0 and groups and groups[-1][-1] == i - 1 and h.numbers[i - 1] == number - 1:
                groups[-1].append(i)
            elif number > 0:
                groups.append([i])
        return [group for group in groups if all(h.phases[i] != SIMULATION for i in group)]

    def capture(self, h, theta):
        captured = super().capture(h, theta)
        for group in self.groups(h):
            for i in group:
                player, others = h.players[i], tuple(h.actions[j] for j in group if j != i)
                for a in h.legals[i]:
                    if a != h.actions[i]:
                        q, n, _, _ = theta[(*h.choice(i, a), *others)]
                        regret = (q[player] / n if n else 0.5) - h.rewards[player]
                        captured += [(h.choice(i, a), regret)] if regret != 0 else []
                    elif others:
                        captured.append(((*h.choice(i, a), *others), VISIT))
        return captured

    def backpropagation(self, information, context, rewards):
        q, n, m, regret = information
        if context in (VISIT, AVAIL):
            return (*super().backpropagation((q, n, m), context, rewards), regret)
        return q, n, m, regret + context


# ------------------------------------------------------------------------------------------ what reads what a game tells


@dataclass(frozen=True)
class ProgressiveBias(Twin):
    weight: float = 1.0
    c: float = 0.7

    def value(self, theta, h, a):
        n = theta[h.extended(h.t, a)][1]
        bias = self.weight * h.lookahead(h.t, a)[h.player] / (n + 1)
        return super().value(theta, h, a) + bias


class OfWidth(Twin):
    """Only the best by the heuristic are chosen from, so many as the width says: all where it is None."""

    def values(self, theta, h):
        if h.phases[h.t] == SIMULATION:
            return [math.inf for _ in h.legal]
        width = self.width(theta[h.history(h.t)][1])
        if width is None:
            return [math.inf for _ in h.legal]
        best = sorted(h.legal, key=lambda a: -h.lookahead(h.t, a)[h.player])[:width]
        return [self.value(theta, h, a) if a in best else -1e9 for a in h.legal]

    def width(self, times: int) -> int | None:
        raise NotImplementedError


@dataclass(frozen=True)
class ProgressiveUnpruning(OfWidth):
    """The width is that of Chaslot et al."""

    after: int = 30
    first: int = 5
    pace: float = 50.0
    growth: float = 1.3
    c: float = 0.7

    def width(self, times):
        if times <= self.after:
            return None
        k = self.first
        while times > self.pace * self.growth ** (k - self.first) and k < 1000:
            k += 1
        return k


@dataclass(frozen=True)
class ProgressiveWidening(OfWidth):
    """The width is that of Coulom."""

    pace: float = 40.0
    growth: float = 1.4
    c: float = 0.7

    def width(self, times):
        t = [0.0]
        while times >= t[-1] and len(t) < 1000:
            t.append(t[-1] + self.pace * self.growth ** (len(t) - 1))
        return len(t) - 1


@dataclass(frozen=True)
class Puct(Twin):
    c: float = 0.625
    temperature: float = 0.1

    def values(self, theta, h):
        i, player = h.t, h.player
        if h.phases[i] == SIMULATION:
            return [math.inf for _ in h.legal]
        lookahead = [h.lookahead(i, a)[player] for a in h.legal]
        weights = [
            math.exp((prospect - max(lookahead)) / self.temperature) for prospect in lookahead
        ]
        total, v = 0.0, []
        for weight in weights:
            total += weight
        for a, weight in zip(h.legal, weights, strict=True):
            q, n, m = theta[h.extended(i, a)]
            exploration = self.c * (weight / total) * math.sqrt(m) / (1 + n)
            v.append((q[player] / n if n else 0.5) + exploration)
        return v


@dataclass(frozen=True)
class ImplicitMinimax(Twin):
    alpha: float = 0.4
    c: float = 0.7

    def initial(self, players):
        return (0.0,) * players, 0, 0, (0.0,) * players

    def value(self, theta, h, a):
        q, n, m, v = theta[h.extended(h.t, a)]
        if n == 0:
            return math.inf
        mixed = (1 - self.alpha) * (q[h.player] / n) + self.alpha * v[h.player]
        return mixed + self.c * math.sqrt(math.log(m) / n)

    def capture(self, h, theta):
        captured, worth = super().capture(h, theta), None
        for i in reversed(range(h.t_e)):
            if worth is None:
                worth = h.lookahead(i, h.actions[i])
            captured.append((h.history(i + 1), worth))
            worth = self.backed_up(h, theta, i, worth)
        return captured

    def backed_up(
        self, h: Playout, theta: Theta, i: int, worth: tuple[float, ...]
    ) -> tuple[float, ...]:
        children = []
        for a in h.legals[i]:
            _, n, _, v = theta[h.extended(i, a)]
            mine = worth if a == h.actions[i] else v if n else h.lookahead(i, a)
            children.append((n + (a == h.actions[i]), mine))
        if h.players[i] == CHANCE:
            total = [0.0] * len(worth)
            for times, v in children:
                total = [so_far + times * number for so_far, number in zip(total, v, strict=True)]
            return tuple(number / sum(times for times, _ in children) for number in total)
        # the first of equal ones
        return max((v for _, v in children), key=lambda v: v[h.players[i]])

    def backpropagation(self, information, context, rewards):
        q, n, m, v = information
        if context in (VISIT, AVAIL):
            return (*super().backpropagation((q, n, m), context, rewards), v)
        return q, n, m, tuple(int(number * UNIT + 0.5) / UNIT for number in context)


@dataclass(frozen=True)
class Decisive(Twin):
    c: float = 0.7

    def values(self, theta, h):
        urgent = [a for a in h.legal if h.endings(h.t, a)[h.player] == 1]
        bounds = zip(h.legal, super().values(theta, h), strict=True)
        return [bound if a in (urgent or h.legal) else -1.0 for a, bound in bounds]


@dataclass(frozen=True)
class PredicateAverages(PlayersMean):
    least: int = 3  # visits from which a predicate counts
    rule: Rule = gibbs()

    def true_at(self, h: Playout, i: int) -> list[tuple[int, int]]:
        names = h.worlds[i][0].game.feature_names
        return [(k, math.floor(h.features(i, name))) for k, name in enumerate(names)]

    def values(self, theta, h):
        v = []
        for a in h.legal:
            information = [theta[(*true, a, h.player)] for true in self.true_at(h, h.t)]
            means = [q / n for q, n in information if n >= self.least]
            v.append(max([mean(*theta[a, h.player]), *means]))
        return v

    def capture(self, h, theta):
        captured = []
        for i, (a, player) in enumerate(zip(h.actions, h.players, strict=False)):
            if player != CHANCE:
                captured.append(((a, player), player))
                captured += [((*true, a, player), player) for true in self.true_at(h, i)]
        return captured


@dataclass(frozen=True)
class FeaturesToActions(Weight):
    """θ[k, ρ] = (w,)."""

    alpha: float = 0.01
    trace: float = 0.99
    rule: Rule = gibbs()
    is_rounded = True

    def action_features(self, h: Playout, i: int, a: int) -> list[float]:
        return [h.action_feature(i, a, name) for name in h.worlds[i][0].game.action_feature_names]

    def worth(self, theta: Theta, h: Playout, i: int, a: int) -> float:
        return sum(
            theta[k, h.players[i]][0] * x for k, x in enumerate(self.action_features(h, i, a))
        )

    def values(self, theta, h):
        return [self.worth(theta, h, h.t, a) for a in h.legal]

    def capture(self, h, theta):
        trace, captured = self.trace, []
        for player, reward in enumerate(h.rewards):
            decisions = [i for i in range(h.t) if h.players[i] == player]
            q = [self.worth(theta, h, i, h.actions[i]) for i in decisions]
            m = len(decisions) - 1
            changes = [0.0 for _ in h.worlds[0][0].game.action_feature_names]
            for j, i in enumerate(decisions):
                later = sum((1 - trace) * trace ** (n - 1) * q[j + n] for n in range(1, m - j + 1))
                target = later + trace ** (m - j) * (2 * reward - 1)  # the λ-return
                for k, x in enumerate(self.action_features(h, i, h.actions[i])):
                    changes[k] += self.alpha * (target - q[j]) * x
            captured += [((k, player), change) for k, change in enumerate(changes)]
        return captured


# --------------------------------------------------------------------------------------------------------------- texts

NAMES: dict[str, Callable] = {
    "baseline": Baseline,
    "amaf": Amaf,
    "amaf_strict": AmafStrict,
    "rave": rave,
    "mast": Mast,
    "to_mast": ToMast,
    "lgr": Lgr,
    "lgrf": Lgrf,
    "lgrf_signed": LgrfSigned,
    "nast": Nast,
    "epic": Epic,
    "fpu": FirstPlayUrgency,
    "ucb1_tuned": Tuned,
    "kl_ucb": KullbackLeibler,
    "progressive_history": ProgressiveHistory,
    "grave": Grave,
    "lgrf2": LastGoodReplyToTwo,
    "nst": Nst,
    "thompson": Thompson,
    "ppa": PlayoutPolicyAdaptation,
    "mast_simulation_decay": SimulationDecay,
    "mast_batch_decay": BatchDecay,
    "cmc": ContextualMonteCarlo,
    "discounted_ucb": DiscountedBound,
    "discounted_history": DiscountedHistory,
    "relative_bonus": RelativeBonus,
    "score_bounds": score_bounds,
    "mcts_solver": mcts_solver,
    "bounded_ucb1_tuned": lambda *of: Bounded(Tuned(*of)),
    "bounded_progressive_history": lambda *of: Bounded(ProgressiveHistory(*of)),
    "bounded_grave": lambda *of: Bounded(Grave(*of)),
    "regret_matching": RegretMatching,
    "progressive_bias": ProgressiveBias,
    "progressive_unpruning": ProgressiveUnpruning,
    "progressive_widening": ProgressiveWidening,
    "puct": Puct,
    "implicit_minimax": ImplicitMinimax,
    "decisive": Decisive,
    "past": PredicateAverages,
    "fast": FeaturesToActions,
}


def read(text: str, **names: Any) -> Any:
    """The expression that a text of the algebra describes; enhancements are in lower case with parameters, in upper case without."""
    plain = {name.upper(): make() for name, make in NAMES.items()}
    rules = {rule.__name__: rule for rule in (ucb1, gibbs, epsilon_greedy, roulette, rave_weight)}
    return eval(text, {**rules, **NAMES, **plain, **names})
