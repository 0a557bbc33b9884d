"""The naive twins of the catalogue: each enhancement once more on tuples, written from its paper, for `tests.naive` to run.

The readings are those told at the heads of the files in icarus/specs. Records and information:
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
    bounded-…            records of a selection, and (mover, moves, player); its information and the bounds of what the player is sure of
    regret-matching      histories; (q, n, m, R); and (mover, moves, what the others chose at once…); (q, n, m, 0)
    relative-bonus       histories; (q, n, m, 0, 0); and (player,); (no rewards, wins, 0, sum of lengths, sum of their squares)
"""

import math
from typing import Any

from icarus.kernel import CHANCE, uniform
from tests import naive
from tests.naive import AVAIL, SIMULATION, VISIT, Leaf, Playout, Rule, Theta, added

ARGMAX, FIRST, ANYWHERE, LENGTH = Rule("argmax"), "first", "anywhere", "length"


def in_simulation(h: Playout) -> bool:
    return h.phases[h.t] == SIMULATION


class Twin:
    """One enhancement: the four of its slots that compute."""

    def initial(self, leaf: Leaf, players: int):
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

    def backpropagation(self, leaf: Leaf, information, context, rewards: tuple[float, ...]):
        q, n, m = information
        return (added(q, rewards), n + 1, m + 1) if context == VISIT else (q, n, m + 1)


class PlayersMean(Twin):
    """Records (q, n): the sum of one player's rewards and their number; a context is the player."""

    def initial(self, leaf, players):
        return 0.0, 0

    def backpropagation(self, leaf, information, context, rewards):
        q, n = information
        return q + rewards[context], n + 1


class Weight(Twin):
    """Records (w,); a context is what is added."""

    def initial(self, leaf, players):
        return (0.0,)

    def backpropagation(self, leaf, information, context, rewards):
        return (information[0] + context,)


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
        variance = s[player] / n - mean**2 + leaf.rule.parameter * math.sqrt(math.log(m) / n)
        return mean + math.sqrt(math.log(m) / n * max(0.0, min(1 / 4, variance)))

    def backpropagation(self, leaf, information, context, rewards):
        q, s, n, m = information
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
        decisions = zip(h.actions, h.players, strict=False)
        return naive.capture_histories(leaf, h) + [
            ((a, p), VISIT) for a, p in decisions if p != CHANCE
        ]


class Grave(Twin):
    def initial(self, leaf, players):
        return (0.0,) * players, 0, (0.0,) * players, 0

    def value(self, leaf, theta, h, player, a):
        least, bias, c = leaf.rule.parameter
        enough = [i for i in range(h.t + 1) if theta[h.history(i)][1] > least]
        q, n, _, _ = theta[h.extended(h.t, a)]
        _, _, first, many = theta[player, (*h.seen_by(player, max(enough, default=0)), a)]
        if n == many == 0:
            return math.inf
        beta = many / (many + n + bias * many * n)
        mean = (1 - beta) * (q[player] / n if n else 0.0) + beta * (
            first[player] / many if many else 0.0
        )
        trials = sum(theta[h.extended(h.t, b)][1] for b in h.legals[h.t])
        return mean + c * math.sqrt(math.log(max(trials, 1)) / max(n, 1))

    def capture(self, leaf, h, theta):
        captured: list[tuple[tuple, Any]] = [(h.history(i), VISIT) for i in range(h.t_e + 1)]
        for i in range(h.t_e + 1):
            later = dict.fromkeys(
                (p, a) for p, a in list(zip(h.players, h.actions, strict=False))[i:] if p != CHANCE
            )
            captured += [((p, (*h.seen_by(p, i), a)), FIRST) for p, a in later]
        return captured

    def backpropagation(self, leaf, information, context, rewards):
        q, n, first, many = information
        return (
            (added(q, rewards), n + 1, first, many)
            if context == VISIT
            else (q, n, added(first, rewards), many + 1)
        )


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
        replies = [(i, (h.actions[i], h.players[i])) for i in range(h.t) if h.players[i] != CHANCE]
        return [(moves, reply) for i, reply in replies for moves in self.moves(h, i)]

    def backpropagation(self, leaf, reply, context, rewards):
        new, player = context
        if rewards[player] > 0:
            return new
        return None if reply == new else reply


class Nst(PlayersMean):
    def gram(self, h: Playout, i: int, n: int, a: int) -> tuple | None:
        pair = h.gram(n, i, a)
        return None if pair is None else (*pair[0], pair[1])

    def values(self, leaf, theta, h):
        v = []
        for a in h.legals[h.t]:
            statistics = [
                (n, theta[gram]) for n in (1, 2, 3) if (gram := self.gram(h, h.t, n, a)) is not None
            ]
            means = [q / n for length, (q, n) in statistics if n >= (1 if length == 1 else leaf.n)]
            v.append(sum(means) / len(means) if means else 1.0)
        return v

    def capture(self, leaf, h, theta):
        windows = [(i, n) for i in range(h.t) if h.players[i] != CHANCE for n in (1, 2, 3)]
        grams = [(self.gram(h, i, n, h.actions[i]), h.players[i]) for i, n in windows]
        return [(gram, player) for gram, player in grams if gram is not None]


class Thompson(Twin):
    def value(self, leaf, theta, h, player, a):
        q, n, _ = theta[h.extended(h.t, a)]
        won, lost = self.gamma(h.rng, 1 + q[player]), self.gamma(h.rng, 1 + max(0.0, n - q[player]))
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


class PlayoutPolicyAdaptation(Weight):
    def probabilities(self, theta: Theta, legal: tuple[int, ...], player: int) -> dict[int, float]:
        z = sum(math.exp(theta[m, player][0]) for m in legal)
        return {m: math.exp(theta[m, player][0]) / z for m in legal}

    def values(self, leaf, theta, h):
        return [theta[a, h.players[h.t]][0] for a in h.legals[h.t]]

    def capture(self, leaf, h, theta):
        alpha, captured = leaf.n, []
        for played, player, legal in zip(h.actions, h.players, h.legals, strict=False):
            if player != CHANCE and len(legal) > 1 and h.rewards[player] > 1 / 2:
                p = self.probabilities(theta, legal, player)
                captured += [((m, player), alpha * ((m == played) - p[m])) for m in legal]
        return captured


class SimulationDecay(Twin):
    def initial(self, leaf, players):
        return 0.0, 0.0, 0

    def values(self, leaf, theta, h):
        information = [theta[a, h.players[h.t]] for a in h.legals[h.t]]
        return [q / n if n > 0 else 1.0 for q, n, _ in information]

    def capture(self, leaf, h, theta):
        decisions = zip(h.actions, h.players, strict=False)
        return [((a, player), (player, h.iteration)) for a, player in decisions if player != CHANCE]

    def backpropagation(self, leaf, information, context, rewards):
        q, n, _ = information
        decay, player = leaf.n, context[0]
        return decay * q + rewards[player], decay * n + 1, 0


class BatchDecay(SimulationDecay):
    def backpropagation(self, leaf, information, context, rewards):
        q, n, batch = information
        (decay, size), (player, iteration) = leaf.n, context
        now = iteration // size
        for _ in range(now - batch):
            q, n = decay * q, decay * n
        return q + rewards[player], n + 1, now


class ContextualMonteCarlo(PlayersMean):
    def own_actions(self, h: Playout, player: int) -> list[int]:
        return [a for a, p in zip(h.actions, h.players, strict=False) if p == player]

    def values(self, leaf, theta, h):
        actions, bound = self.own_actions(h, h.players[h.t]), leaf.n
        if not actions:
            return [0.0 for _ in h.legals[h.t]]
        information = [theta[*sorted((actions[-1], a)), h.players[h.t]] for a in h.legals[h.t]]
        return [q / n if n > 0 and q / n > bound else 0.0 for q, n in information]

    def capture(self, leaf, h, theta):
        captured = []
        for j, player in enumerate(h.players[: h.t]):
            before = [h.actions[i] for i in range(j) if h.players[i] == player != CHANCE]
            captured += [
                ((*sorted((a, h.actions[j])), player), player) for a in before if a != h.actions[j]
            ]
        return captured


class DiscountedBound(FirstPlayUrgency):
    def initial(self, leaf, players):
        return (0.0,) * players, 0.0, 0.0

    def backpropagation(self, leaf, information, context, rewards):
        (q, n, m), gamma = information, leaf.n
        q, n, m = tuple(gamma * total for total in q), gamma * n, gamma * m
        return (added(q, rewards), n + 1, m + 1) if context == VISIT else (q, n, m + 1)


class DiscountedHistory(ProgressiveHistory):
    def capture(self, leaf, h, theta):
        decisions = zip(h.actions, h.players, strict=False)
        return naive.capture_histories(leaf, h) + [
            ((a, p), ANYWHERE) for a, p in decisions if p != CHANCE
        ]

    def backpropagation(self, leaf, information, context, rewards):
        q, n, m = information
        if context == AVAIL:
            return q, n, m + 1
        factor = leaf.n if context == ANYWHERE else 1
        return added(tuple(factor * total for total in q), rewards), factor * n + 1, m + 1


class RelativeBonus(FirstPlayUrgency):
    def initial(self, leaf, players):
        return (0.0,) * players, 0, 0, 0.0, 0.0

    def value(self, leaf, theta, h, player, a):
        return super().value(
            leaf, {h.extended(h.t, a): theta[h.extended(h.t, a)][:3]}, h, player, a
        )

    def capture(self, leaf, h, theta):
        winner = next((player for player, reward in enumerate(h.rewards) if reward > 1 / 2), None)
        b = self.bonus(theta, winner, h.t, leaf.n[1])
        captured = [(record, (context, b)) for record, context in naive.capture_histories(leaf, h)]
        return captured if winner is None else [*captured, ((winner,), (LENGTH, h.t))]

    def bonus(self, theta: Theta, winner: int | None, t: int, k: float) -> float:
        _, n, _, lengths, squares = theta[(winner,)] if winner is not None else theta.initial
        if n < 50:
            return 0.0
        mean = lengths / n
        variance = squares / n - mean**2
        return (
            -1 + 2 / (1 + math.exp(-k * (mean - t) / math.sqrt(variance))) if variance > 0 else 0.0
        )

    def backpropagation(self, leaf, information, context, rewards):
        (q, n, m, lengths, squares), (kind, x) = information, context
        if kind == AVAIL:
            return q, n, m + 1, lengths, squares
        if kind == LENGTH:
            return q, n + 1, m, lengths + x, squares + x**2
        alpha = leaf.n[0]
        scaled = [2 * reward - 1 for reward in rewards]  # from −1 to 1
        altered = [r + alpha * x * ((r > 0) - (r < 0)) for r in scaled]
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


class ScoreBounds(FirstPlayUrgency):
    """What players are sure of; `leaf.n` is (γ, δ), or "solver"."""

    def initial(self, leaf, players):
        return (0.0,) * players, 0, 0, 0.0, 1.0

    def bounds(self, theta: Theta, player: int, action: int) -> tuple[float, float]:
        """Of the root's player after his action."""
        return theta[player, (action,), player][3:]

    def values(self, leaf, theta, h):
        i, player = h.t, h.players[h.t]
        if in_simulation(h):
            return [math.inf for _ in h.legals[i]]
        bounds = {a: theta[(*h.extended(i, a), player)][3:] for a in h.legals[i]}
        sure = max(low for low, _ in bounds.values())
        most = max(high for _, high in bounds.values())
        if sure == most:  # there is an action that is proved to be best
            return [math.inf if low == sure else -1.0 for low, _ in bounds.values()]
        v = []
        for a, (low, high) in bounds.items():
            bound = super().value(
                leaf, {h.extended(i, a): theta[h.extended(i, a)][:3]}, h, player, a
            )
            gamma, delta = (0, 0) if leaf.n == "solver" else leaf.n
            out = low == high if leaf.n == "solver" else high <= sure
            v.append(-1.0 if out else bound + gamma * low + delta * high)
        return v

    def capture(self, leaf, h, theta):
        return naive.capture_histories(leaf, h) + proofs(h, theta)

    def backpropagation(self, leaf, information, context, rewards):
        q, n, m, low, high = information
        if context in (VISIT, AVAIL):
            return (*super().backpropagation(leaf, (q, n, m), context, rewards), low, high)
        return (q, n, m, context[1], high) if context[0] == "low" else (q, n, m, low, context[1])


class WithoutBounds:
    """θ of an enhancement as it is without score bounds."""

    def __init__(self, theta: Theta) -> None:
        self.theta = theta

    def __getitem__(self, record: tuple):
        return self.theta[record][:-2]


class Bounded(Twin):
    """Another selection with score bounds: what is known without them, and the two of them behind it."""

    def __init__(self, selection: Twin) -> None:
        self.selection = selection

    def initial(self, leaf, players):
        return (*self.selection.initial(leaf, players), 0.0, 1.0)

    def values(self, leaf, theta, h):
        i, player = h.t, h.players[h.t]
        if in_simulation(h):
            return [math.inf for _ in h.legals[i]]
        bounds = {a: theta[(*h.extended(i, a), player)][-2:] for a in h.legals[i]}
        sure = max(low for low, _ in bounds.values())
        most = max(high for _, high in bounds.values())
        if sure == most:
            return [math.inf if low == sure else -1.0 for low, _ in bounds.values()]
        v = {a: self.selection.value(leaf, WithoutBounds(theta), h, player, a) for a in bounds}
        return [-1.0 if high <= sure else v[a] for a, (_, high) in bounds.items()]

    def capture(self, leaf, h, theta):
        return self.selection.capture(leaf, h, WithoutBounds(theta)) + proofs(h, theta)

    def backpropagation(self, leaf, information, context, rewards):
        *others, low, high = information
        if context[0] == "low":
            return (*others, context[1], high)
        if context[0] == "high":
            return (*others, low, context[1])
        return (*self.selection.backpropagation(leaf, tuple(others), context, rewards), low, high)


class RegretMatching(FirstPlayUrgency):
    """`leaf.n` is γ."""

    def initial(self, leaf, players):
        return (0.0,) * players, 0, 0, 0.0

    def values(self, leaf, theta, h):
        i, legal, gamma = h.t, h.legals[h.t], leaf.n
        if in_simulation(h):
            return [1.0 for _ in legal]
        if h.numbers[i] > 0:
            regrets = [max(0.0, theta[h.choice(i, a)][3]) for a in legal]
            total = sum(regrets)
            return [
                gamma / len(legal) + (1 - gamma) * (r / total if total else 1 / len(legal))
                for r in regrets
            ]
        statistics = {h.extended(i, a): theta[h.extended(i, a)][:3] for a in legal}
        v = [self.value(leaf, statistics, h, h.players[i], a) for a in legal]
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

    def capture(self, leaf, h, theta):
        captured = naive.capture_histories(leaf, h)
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

    def backpropagation(self, leaf, information, context, rewards):
        q, n, m, regret = information
        if context in (VISIT, AVAIL):
            return (*super().backpropagation(leaf, (q, n, m), context, rewards), regret)
        return q, n, m, regret + context


class Surprises(Twin):
    """No published enhancement: (a, ρ) holds the sum of |μ_ρ − q/n| · (iteration + 1), what was known when it was captured."""

    def initial(self, leaf, players):
        return 0.0, 0, 0

    def values(self, leaf, theta, h):
        information = [theta[a, h.players[h.t]] for a in h.legals[h.t]]
        return [uniform(h.rng) + (q / n if n else 0.0) for q, n, _ in information]

    def capture(self, leaf, h, theta):
        captured = []
        for a, player in zip(h.actions, h.players, strict=False):
            if player != CHANCE:
                q, n, _ = theta[a, player]
                far = abs(h.rewards[player] - (q / n if n else 0.5)) > 0.25
                captured.append(((a, player), (player, (h.iteration + 1) * far)))
        return captured

    def backpropagation(self, leaf, information, context, rewards):
        q, n, surprise = information
        player, weight = context
        return q + rewards[player], n + 1, surprise + weight


naive.ROUNDED |= {"ppa", "batch-decay", "relative-bonus", "regret-matching"}


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
        "ppa": PlayoutPolicyAdaptation(),
        "simulation-decay": SimulationDecay(),
        "batch-decay": BatchDecay(),
        "cmc": ContextualMonteCarlo(),
        "discounted-ucb": DiscountedBound(),
        "discounted-history": DiscountedHistory(),
        "relative-bonus": RelativeBonus(),
        "score-bounds": ScoreBounds(),
        "bounded-ucb1-tuned": Bounded(Tuned()),
        "bounded-progressive-history": Bounded(ProgressiveHistory()),
        "bounded-grave": Bounded(Grave()),
        "regret-matching": RegretMatching(),
        "surprises": Surprises(),
    }
)


def fpu(urgency: float = 1.0, c: float = 0.7) -> Leaf:
    return Leaf("fpu", Rule("argmax", (c, urgency)))


def ucb1_tuned(c: float = math.sqrt(2)) -> Leaf:
    return Leaf("ucb1-tuned", Rule("argmax", c))


def kl_ucb() -> Leaf:
    return Leaf("kl-ucb", ARGMAX)


def progressive_history(w: float = 5.0, c: float = 0.7) -> Leaf:
    return Leaf("progressive-history", Rule("argmax", (c, w)))


def grave(least: int = 50, bias: float = 1e-5, c: float = 0.0) -> Leaf:
    return Leaf("grave", Rule("argmax", (least, bias, c)))


def lgrf2() -> Leaf:
    return Leaf("lgrf2", Rule("reply"))


def nst(k: int = 7, rule: Rule | None = None) -> Leaf:
    return Leaf("nst", rule or naive.epsilon_greedy(0.2), k)


def thompson() -> Leaf:
    return Leaf("thompson", ARGMAX)


def softmax(temperature: float = 1.0) -> Rule:
    return Rule("softmax", temperature)


def ppa(alpha: float = 0.32, temperature: float = 1.0) -> Leaf:
    return Leaf("ppa", softmax(temperature), alpha)


def simulation_decay(decay: float = 0.95, rule: Rule | None = None) -> Leaf:
    return Leaf("simulation-decay", rule or softmax(), decay)


def batch_decay(decay: float = 0.8, size: int = 1000, rule: Rule | None = None) -> Leaf:
    return Leaf("batch-decay", rule or softmax(), (decay, size))


def cmc(share: float = 0.35, bound: float = 0.6) -> Leaf:
    return Leaf("cmc", naive.epsilon_greedy(1 - share), bound)


def discounted_ucb(discount: float = 0.999, c: float = 0.7) -> Leaf:
    return Leaf("discounted-ucb", Rule("argmax", (c, math.inf)), discount)


def discounted_history(discount: float = 0.99, w: float = 5.0, c: float = 0.7) -> Leaf:
    return Leaf("discounted-history", Rule("argmax", (c, w)), discount)


def relative_bonus(alpha: float = 0.25, k: float = 1.0, c: float = 0.7) -> Leaf:
    return Leaf("relative-bonus", Rule("argmax", (c, math.inf)), (alpha, k))


def score_bounds(gamma: float = 0.0, delta: float = 0.0, c: float = 0.7) -> Leaf:
    return Leaf("score-bounds", Rule("argmax", (c, math.inf)), (gamma, delta))


def mcts_solver(c: float = 0.7) -> Leaf:
    return Leaf("score-bounds", Rule("argmax", (c, math.inf)), "solver")


def bounded(selection: Leaf) -> Leaf:
    """UCB1-Tuned, progressive history or GRAVE with score bounds."""
    return Leaf(f"bounded-{selection.kind}", selection.rule, selection.n)


def regret_matching(gamma: float = 0.2, c: float = 0.7) -> Leaf:
    return Leaf("regret-matching", Rule("roulette", (c, math.inf)), gamma)


def surprises() -> Leaf:
    return Leaf("surprises", ARGMAX)
