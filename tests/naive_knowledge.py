"""The naive twins of the enhancements that read what a game tells, for `tests.naive` to run; records and information as the baseline's,

but of implicit-minimax, whose information is (q, n, m, v), with v a tuple of κ values in units of 2^-40; and of past, whose records are
(action, player) and (feature, value, action, player), and whose information is (q, n); and of fast, whose records are
(feature of actions, player), and whose information is (w,).
"""

import math

from icarus.kernel import CHANCE
from tests import naive
from tests.naive import AVAIL, VISIT, Leaf, Playout, Rule, Theta
from tests.naive_catalogue import PlayersMean, Twin, Weight, in_simulation

UNIT = 2**40


def upper(q: float, n: int, m: int, c: float) -> float:
    return q / n + c * math.sqrt(math.log(m) / n) if n > 0 else math.inf


class ProgressiveBias(Twin):
    def value(self, leaf, theta, h, player, a):
        weight, c = leaf.rule.parameter
        q, n, m = theta[h.extended(h.t, a)]
        return upper(q[player], n, m, c) + weight * h.lookahead(h.t, a)[player] / (n + 1)


class ProgressiveUnpruning(Twin):
    """The width is that of Chaslot et al."""

    def values(self, leaf: Leaf, theta: Theta, h: Playout) -> list[float]:
        i, player, c = h.t, h.players[h.t], leaf.rule.parameter[-1]
        if in_simulation(h):
            return [math.inf for _ in h.legals[i]]
        times = theta[h.history(i)][1]
        width = self.width(times, *leaf.rule.parameter[:-1])
        if width is None:
            return [math.inf for _ in h.legals[i]]
        best = sorted(h.legals[i], key=lambda a: -h.lookahead(i, a)[player])[:width]
        information = {a: theta[h.extended(i, a)] for a in best}
        return [
            upper(information[a][0][player], *information[a][1:], c) if a in information else -1e9
            for a in h.legals[i]
        ]

    def width(self, times: int, after: int, first: int, pace: float, growth: float) -> int | None:
        if times <= after:
            return None
        k = first
        while times > pace * growth ** (k - first) and k < 1000:
            k += 1
        return k


class ProgressiveWidening(ProgressiveUnpruning):
    """The width is that of Coulom."""

    def width(self, times: int, pace: float, growth: float) -> int | None:
        t = [0.0]
        while times >= t[-1] and len(t) < 1000:
            t.append(t[-1] + pace * growth ** (len(t) - 1))
        return len(t) - 1


class Puct(Twin):
    def values(self, leaf: Leaf, theta: Theta, h: Playout) -> list[float]:
        i, player, (c, temperature) = h.t, h.players[h.t], leaf.rule.parameter
        if in_simulation(h):
            return [math.inf for _ in h.legals[i]]
        lookahead = [h.lookahead(i, a)[player] for a in h.legals[i]]
        weights = [math.exp((prospect - max(lookahead)) / temperature) for prospect in lookahead]
        total, v = 0.0, []
        for weight in weights:
            total += weight
        for a, weight in zip(h.legals[i], weights, strict=True):
            q, n, m = theta[h.extended(i, a)]
            v.append((q[player] / n if n else 0.5) + c * (weight / total) * math.sqrt(m) / (1 + n))
        return v


class ImplicitMinimax(Twin):
    def initial(self, leaf, players):
        return (0.0,) * players, 0, 0, (0.0,) * players

    def value(self, leaf, theta, h, player, a):
        alpha, c = leaf.rule.parameter
        q, n, m, v = theta[h.extended(h.t, a)]
        if n == 0:
            return math.inf
        return (1 - alpha) * (q[player] / n) + alpha * v[player] + c * math.sqrt(math.log(m) / n)

    def capture(self, leaf, h, theta):
        captured, worth = naive.capture_histories(leaf, h), None
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
        return max(
            (v for _, v in children), key=lambda v: v[h.players[i]]
        )  # the first of equal ones

    def backpropagation(self, leaf, information, context, rewards):
        q, n, m, v = information
        if context in (VISIT, AVAIL):
            return (*super().backpropagation(leaf, (q, n, m), context, rewards), v)
        return q, n, m, tuple(int(number * UNIT + 0.5) / UNIT for number in context)


class Decisive(Twin):
    def values(self, leaf: Leaf, theta: Theta, h: Playout) -> list[float]:
        i, player, legal = h.t, h.players[h.t], h.legals[h.t]
        urgent = [a for a in legal if h.endings(i, a)[player] == 1]
        information = {a: theta[h.extended(i, a)] for a in legal}
        c = leaf.rule.parameter[0]
        bounds = {
            a: math.inf if in_simulation(h) else upper(q[player], n, m, c)
            for a, (q, n, m) in information.items()
        }
        return [bounds[a] if a in (urgent or legal) else -1.0 for a in legal]


class PredicateAverages(PlayersMean):
    """`leaf.n` is the number of visits from which a predicate counts."""

    def true_at(self, h: Playout, i: int) -> list[tuple[int, int]]:
        names = h.worlds[i][0].game.feature_names
        return [(k, math.floor(h.features(i, name))) for k, name in enumerate(names)]

    def values(self, leaf: Leaf, theta: Theta, h: Playout) -> list[float]:
        i, player, v = h.t, h.players[h.t], []
        for a in h.legals[i]:
            information = [theta[(*true, a, player)] for true in self.true_at(h, i)]
            means = [q / n for q, n in information if n >= leaf.n]
            v.append(max([naive.mean(*theta[a, player]), *means]))
        return v

    def capture(self, leaf, h, theta):
        captured = []
        for i, (a, player) in enumerate(zip(h.actions, h.players, strict=False)):
            if player != CHANCE:
                captured.append(((a, player), player))
                captured += [((*true, a, player), player) for true in self.true_at(h, i)]
        return captured


class FeaturesToActions(Weight):
    """`leaf.n` is (α, λ); θ[k, ρ] = (w,)."""

    def action_features(self, h: Playout, i: int, a: int) -> list[float]:
        return [h.action_feature(i, a, name) for name in h.worlds[i][0].game.action_feature_names]

    def worth(self, theta: Theta, h: Playout, i: int, a: int) -> float:
        return sum(
            theta[k, h.players[i]][0] * x for k, x in enumerate(self.action_features(h, i, a))
        )

    def values(self, leaf: Leaf, theta: Theta, h: Playout) -> list[float]:
        return [self.worth(theta, h, h.t, a) for a in h.legals[h.t]]

    def capture(self, leaf, h, theta):
        (alpha, trace), captured = leaf.n, []
        for player, reward in enumerate(h.rewards):
            decisions = [i for i in range(h.t) if h.players[i] == player]
            q = [self.worth(theta, h, i, h.actions[i]) for i in decisions]
            m = len(decisions) - 1
            changes = [0.0 for _ in h.worlds[0][0].game.action_feature_names]
            for j, i in enumerate(decisions):
                later = sum((1 - trace) * trace ** (n - 1) * q[j + n] for n in range(1, m - j + 1))
                wanted = later + trace ** (m - j) * (2 * reward - 1)  # the λ-return
                for k, x in enumerate(self.action_features(h, i, h.actions[i])):
                    changes[k] += alpha * (wanted - q[j]) * x
            captured += [((k, player), change) for k, change in enumerate(changes)]
        return captured


naive.ROUNDED |= {"fast"}
naive.CATALOGUE.update(
    {
        "fast": FeaturesToActions(),
        "decisive": Decisive(),
        "past": PredicateAverages(),
        "progressive-bias": ProgressiveBias(),
        "progressive-unpruning": ProgressiveUnpruning(),
        "progressive-widening": ProgressiveWidening(),
        "puct": Puct(),
        "implicit-minimax": ImplicitMinimax(),
    }
)


def decisive(c: float = 0.7) -> Leaf:
    return leaf("decisive", c)


def past(least: int = 3, temperature: float = 1.0) -> Leaf:
    return Leaf("past", Rule("softmax", temperature), least)


def fast(alpha: float = 0.01, trace: float = 0.99, temperature: float = 1.0) -> Leaf:
    return Leaf("fast", Rule("softmax", temperature), (alpha, trace))


def leaf(kind: str, *parameters) -> Leaf:
    return Leaf(kind, Rule("argmax", parameters))


def progressive_bias(weight: float = 1.0, c: float = 0.7) -> Leaf:
    return leaf("progressive-bias", weight, c)


def progressive_unpruning(
    after: int = 30, first: int = 5, pace: float = 50.0, growth: float = 1.3, c: float = 0.7
) -> Leaf:
    return leaf("progressive-unpruning", after, first, pace, growth, c)


def progressive_widening(pace: float = 40.0, growth: float = 1.4, c: float = 0.7) -> Leaf:
    return leaf("progressive-widening", pace, growth, c)


def puct(c: float = 0.625, temperature: float = 0.1) -> Leaf:
    return leaf("puct", c, temperature)


def implicit_minimax(alpha: float = 0.4, c: float = 0.7) -> Leaf:
    return leaf("implicit-minimax", alpha, c)
