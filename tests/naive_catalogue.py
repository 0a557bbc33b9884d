"""The naive twins of the catalogue: each enhancement once more on tuples, written from its paper, for `tests.naive` to run.

The readings are those told at the heads of the files in icarus/specs. Records and information:
    fpu, kl-ucb          histories as the baseline's; (q, n, m)
    ucb1-tuned           histories; (q, s, n, m), s the squares
    progressive-history  histories and (action, player); (q, n, m)
    grave                histories; (q, n, q̃, ñ)
    lgrf2                (move, move, player) and (move, player); the stored reply
    nst                  (n moves…, player), n = 1, 2, 3; (q, n)
"""

import math
from typing import Any

from icarus.kernel import CHANCE, uniform
from tests import naive
from tests.naive import AVAIL, SIMULATION, VISIT, Leaf, Playout, Rule, Theta, added

ARGMAX, FIRST = Rule("argmax"), "first"


def in_simulation(h: Playout) -> bool:
    return h.phases[h.t] == SIMULATION


class Twin:
    """One enhancement: the four of its slots that compute."""

    def initial(self, leaf: Leaf, players: int) -> Any:
        return (0.0,) * players, 0, 0

    def values(self, leaf: Leaf, theta: Theta, h: Playout) -> list[float]:
        i, player = h.t, h.players[h.t]
        if in_simulation(h):
            return [math.inf for _ in h.legals[i]]
        return [self.value(leaf, theta, h, player, a) for a in h.legals[i]]

    def value(self, leaf: Leaf, theta: Theta, h: Playout, player: int, a: int) -> float:
        raise NotImplementedError

    def capture(self, leaf: Leaf, h: Playout, theta: Theta) -> list[tuple[tuple, Any]]:
        return naive.capture_histories(leaf, h)

    def backpropagation(self, leaf: Leaf, known: Any, context: Any, rewards: tuple[float, ...]) -> Any:
        q, n, m = known
        return (added(q, rewards), n + 1, m + 1) if context == VISIT else (q, n, m + 1)


class FirstPlayUrgency(Twin):
    def value(self, leaf, theta, h, player, a):
        c, urgency = leaf.rule.parameter
        q, n, m = theta[h.extended(h.t, a)]
        return q[player] / n + c * math.sqrt(math.log(m) / n) if n > 0 else urgency


class Tuned(Twin):
    def initial(self, leaf, players):
        return (0.0,) * players, (0.0,) * players, 0, 0

    def value(self, leaf, theta, h, player, a):
        q, s, n, m = theta[h.extended(h.t, a)]
        if n == 0:
            return math.inf
        mean = q[player] / n
        variance = s[player] / n - mean**2 + math.sqrt(2 * (math.log(m) / n))
        return mean + math.sqrt(math.log(m) / n * max(0.0, min(1 / 4, variance)))

    def backpropagation(self, leaf, known, context, rewards):
        q, s, n, m = known
        if context == AVAIL:
            return q, s, n, m + 1
        return added(q, rewards), added(s, tuple(reward**2 for reward in rewards)), n + 1, m + 1


class KullbackLeibler(Twin):
    def value(self, leaf, theta, h, player, a):
        q, n, m = theta[h.extended(h.t, a)]
        if n == 0:
            return math.inf
        p = q[player] / n

        def divergence(x: float) -> float:
            return sum(u * math.log(u / v) for u, v in ((p, x), (1 - p, 1 - x)) if u > 0)

        low, high = p, 1.0
        while low < (middle := (low + high) / 2) < high:
            low, high = (middle, high) if n * divergence(middle) <= math.log(m) else (low, middle)
        return low


class ProgressiveHistory(Twin):
    def value(self, leaf, theta, h, player, a):
        c, w = leaf.rule.parameter
        q, n, m = theta[h.extended(h.t, a)]
        if n == 0:
            return math.inf
        everywhere, times, _ = theta[a, player]
        bias = everywhere[player] / times * w / (n - q[player] + 1)
        return q[player] / n + c * math.sqrt(math.log(m) / n) + bias

    def capture(self, leaf, h, theta):
        made = zip(h.actions, h.players, strict=False)
        return naive.capture_histories(leaf, h) + [((a, p), VISIT) for a, p in made if p != CHANCE]


class Grave(Twin):
    def initial(self, leaf, players):
        return (0.0,) * players, 0, (0.0,) * players, 0

    def value(self, leaf, theta, h, player, a):
        least, bias = leaf.rule.parameter
        enough = [i for i in range(h.t + 1) if theta[h.history(i)][1] > least]
        q, n, _, _ = theta[h.extended(h.t, a)]
        _, _, first, many = theta[player, (*h.seen_by(player, max(enough, default=0)), a)]
        if n == many == 0:
            return math.inf
        beta = many / (many + n + bias * many * n)
        return (1 - beta) * (q[player] / n if n else 0.0) + beta * (first[player] / many if many else 0.0)

    def capture(self, leaf, h, theta):
        captured: list[tuple[tuple, Any]] = [(h.history(i), VISIT) for i in range(h.t_e + 1)]
        for i in range(h.t_e + 1):
            later = dict.fromkeys((p, a) for p, a in list(zip(h.players, h.actions, strict=False))[i:] if p != CHANCE)
            captured += [((p, (*h.seen_by(p, i), a)), FIRST) for p, a in later]
        return captured

    def backpropagation(self, leaf, known, context, rewards):
        q, n, first, many = known
        return (added(q, rewards), n + 1, first, many) if context == VISIT else (q, n, added(first, rewards), many + 1)


class LastGoodReplyToTwo(Twin):
    def initial(self, leaf, players):
        return None

    def moves(self, h: Playout, i: int) -> list[tuple]:
        """What there is to reply to: the last two moves, and the last one."""
        before, player = h.seen_by(h.players[i], i), h.players[i]
        return [(*before[len(before) - k :], player) for k in (2, 1) if len(before) >= k]

    def values(self, leaf, theta, h):
        replies = [theta[moves] for moves in self.moves(h, h.t)]
        good = next((reply for reply in replies if reply in h.legals[h.t]), None)
        return [1.0 if a == good else 0.0 for a in h.legals[h.t]]

    def capture(self, leaf, h, theta):
        made = [(i, (h.actions[i], h.players[i])) for i in range(h.t) if h.players[i] != CHANCE]
        return [(moves, reply) for i, reply in made for moves in self.moves(h, i)]

    def backpropagation(self, leaf, known, context, rewards):
        new, player = context
        if rewards[player] > 0:
            return new
        return None if known == new else known


class Nst(Twin):
    def initial(self, leaf, players):
        return 0.0, 0

    def gram(self, h: Playout, i: int, n: int, a: int) -> tuple | None:
        found = h.gram(n, i, a)
        return None if found is None else (*found[0], found[1])

    def values(self, leaf, theta, h):
        v = []
        for a in h.legals[h.t]:
            known = [(n, theta[gram]) for n in (1, 2, 3) if (gram := self.gram(h, h.t, n, a)) is not None]
            means = [q / n for length, (q, n) in known if n >= (1 if length == 1 else leaf.n)]
            v.append(sum(means) / len(means) if means else 1.0)
        return v

    def capture(self, leaf, h, theta):
        made = [(i, n) for i in range(h.t) if h.players[i] != CHANCE for n in (1, 2, 3)]
        grams = [(self.gram(h, i, n, h.actions[i]), h.players[i]) for i, n in made]
        return [(gram, player) for gram, player in grams if gram is not None]

    def backpropagation(self, leaf, known, context, rewards):
        q, n = known
        return q + rewards[context], n + 1


class Thompson(Twin):
    def value(self, leaf, theta, h, player, a):
        q, n, _ = theta[h.extended(h.t, a)]
        won, lost = self.gamma(h.rng, 1 + q[player]), self.gamma(h.rng, 1 + max(0.0, n - q[player]))
        return won / (won + lost)

    def gamma(self, rng: Any, shape: float) -> float:
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


class Surprises(Twin):
    """No published enhancement: (a, ρ) holds the sum of |μ_ρ − q/n| · (iteration + 1), what was known when it was captured."""

    def initial(self, leaf, players):
        return 0.0, 0, 0

    def values(self, leaf, theta, h):
        known = [theta[a, h.players[h.t]] for a in h.legals[h.t]]
        return [uniform(h.rng) + (q / n if n else 0.0) for q, n, _ in known]

    def capture(self, leaf, h, theta):
        captured = []
        for a, player in zip(h.actions, h.players, strict=False):
            if player != CHANCE:
                q, n, _ = theta[a, player]
                far = abs(h.rewards[player] - (q / n if n else 0.5)) > 0.25
                captured.append(((a, player), (player, (h.iteration + 1) * far)))
        return captured

    def backpropagation(self, leaf, known, context, rewards):
        q, n, surprise = known
        player, weight = context
        return q + rewards[player], n + 1, surprise + weight


naive.CATALOGUE.update(
    {
        "fpu": FirstPlayUrgency(),
        "ucb1-tuned": Tuned(),
        "kl-ucb": KullbackLeibler(),
        "progressive-history": ProgressiveHistory(),
        "grave": Grave(),
        "lgrf2": LastGoodReplyToTwo(),
        "nst": Nst(),
        "thompson": Thompson(),
        "surprises": Surprises(),
    }
)


def fpu(urgency: float = 1.0, c: float = 0.7) -> Leaf:
    return Leaf("fpu", Rule("argmax", (c, urgency)))


def ucb1_tuned() -> Leaf:
    return Leaf("ucb1-tuned", ARGMAX)


def kl_ucb() -> Leaf:
    return Leaf("kl-ucb", ARGMAX)


def progressive_history(w: float = 5.0, c: float = 0.7) -> Leaf:
    return Leaf("progressive-history", Rule("argmax", (c, w)))


def grave(least: int = 50, bias: float = 1e-5) -> Leaf:
    return Leaf("grave", Rule("argmax", (least, bias)))


def lgrf2() -> Leaf:
    return Leaf("lgrf2", Rule("reply"))


def nst(k: int = 7, rule: Rule | None = None) -> Leaf:
    return Leaf("nst", rule or naive.epsilon_greedy(0.2), k)


def thompson() -> Leaf:
    return Leaf("thompson", ARGMAX)


def surprises() -> Leaf:
    return Leaf("surprises", ARGMAX)
