"""The race: explore a space, freeze a few finalists, prove them on deals never met before, ablate the winner.

A race has no state but its rows: it runs from the beginning each time, and games that are kept are not played again. So one that was
killed goes on where it was and ends alike, and the same protocol gives the same race (with a budget in seconds: the same but for what
the clock decides).
"""

import math
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from icarus.discovery.configuration import Configuration
from icarus.discovery.finders import Factorial
from icarus.discovery.matches import ABLATION, EXPLORATION, PROOF, Games
from icarus.discovery.protocol import RaceProtocol
from icarus.discovery.space import INACTIVE, Point
from icarus.discovery.statistics import Difference, difference, holm

BLOCK = 8  # units between two reports
HALF_TIME = 0.5  # of the exploration, when the incumbent joins the pool


@attrs.frozen
class RaceProgress:
    """How far a race is.

    Attributes:
        stage: "check", "explore", "prove" or "ablate".
        done, total: units; while the space is checked, configurations.
        text: what there is to say.
    """

    stage: str
    done: int
    total: int
    text: str


Report = Callable[[RaceProgress], None]


@attrs.frozen
class Proof:
    """What a finalist proved.

    Attributes:
        difference: to the reference, in the same deals and seats, against the reference.
        p: after Holm's correction over the finalists.
        rate: iterations per second, as a share of the reference's; the clock's affair, and no part of what makes two races equal.
    """

    configuration: Configuration
    point: Point
    difference: Difference
    p: float
    rate: float = attrs.field(eq=False)


@attrs.frozen
class Ablation:
    """What the winner loses with one factor back at its default.

    Attributes:
        factor: its name; level: the winner's.
        difference: of the winner to the configuration without it, against the reference.
    """

    factor: str
    level: str
    configuration: Configuration
    difference: Difference


@attrs.frozen
class Effect:
    """What a level of a factor is worth, by the model of the exploration.

    Attributes:
        mean: against the mean of the factor's levels.
        deviation: of that difference; what all levels have in common is known less well, and no part of it.
    """

    factor: str
    level: str
    mean: float
    deviation: float


@attrs.frozen(repr=False)
class Discovery:
    """The result of a race.

    Attributes:
        proofs: of the finalists, the best first.
        ablations: of the winner.
        effects: of all levels.
        course: the incumbent of the exploration by units: (unit, configuration, its estimated mean reward).
        games, seconds: what all of it cost.
    """

    protocol: RaceProtocol
    proofs: tuple[Proof, ...]
    ablations: tuple[Ablation, ...]
    effects: tuple[Effect, ...]
    course: tuple[tuple[int, Configuration, float], ...]
    games: int
    seconds: float

    @property
    def winner(self) -> Proof | None:
        """The best finalist that is proven better than the reference; None where none is."""
        proven = [proof for proof in self.proofs if proof.p < self.protocol.level and proof.difference.mean > 0]
        return proven[0] if proven else None

    @property
    def excluded(self) -> float:
        """The lead over the reference that no finalist exceeds, by its interval."""
        return max(proof.difference.interval()[1] for proof in self.proofs)

    def __repr__(self) -> str:
        best = "nothing" if self.winner is None else repr(str(self.winner.configuration))
        return f"<race in {self.protocol.game}: {best} proven better than {str(self.protocol.reference)!r}, {self.games} games>"


def run(protocol: RaceProtocol, games: Games, report: Report = lambda report: None) -> Discovery:
    """Run a race, or what is left of it."""
    finder, course = explore(protocol, games, report)
    frozen = finder.finalists(protocol.finalists)
    proofs = prove(protocol, games, frozen, report)
    ablations = ablate(protocol, games, proofs[0].point, report)
    effects, rows = effects_of(protocol, finder), games.rows.values()
    seconds = sum(float(row["seconds"]) for row in rows)
    return Discovery(protocol, proofs, ablations, effects, course, len(rows), seconds)


# ------------------------------------------------------------------------------------------------------------------ explore


def explore(
    protocol: RaceProtocol, games: Games, report: Report
) -> tuple[Factorial, tuple[tuple[int, Configuration, float], ...]]:
    """The finder when the exploration has ended, and its incumbents on the way."""
    space, total = protocol.space, protocol.units[0]
    finder = Factorial(space, total, (protocol.seed, EXPLORATION))
    pool, spent, deal = list(protocol.pool), 0, 0
    course: list[tuple[int, Configuration, float]] = []
    while spent < total:
        points = finder.ask()[: total - spent]
        opponent = pool[deal % len(pool)]
        pairs = [(space.configuration(point), opponent) for point in points]
        scores = games.scores(EXPLORATION, pairs, [deal] * len(pairs))
        finder.tell(points, scores)
        spent, deal = spent + len(points), deal + 1
        if spent >= total * HALF_TIME and len(pool) == len(protocol.pool):
            pool.append(space.configuration(finder.incumbent))
        incumbent = space.configuration(finder.incumbent)
        if not course or course[-1][1] != incumbent:
            course.append((spent, incumbent, estimate(finder)))
        report(RaceProgress("explore", spent, total, str(incumbent)))
    return finder, tuple(course)


def estimate(finder: Factorial) -> float:
    """What the model expects of the incumbent; nan before it is fitted."""
    if finder.posterior is not None:
        return float(finder.posterior.means([finder.incumbent])[0])
    return math.nan


def effects_of(protocol: RaceProtocol, finder: Factorial) -> tuple[Effect, ...]:
    """What each level of each factor is worth, by the model."""
    posterior, features, effects = finder.refit(), finder.features, list[Effect]()
    first = 1
    for (name, levels), size in zip(protocol.space.factors.items(), features.sizes, strict=True):
        columns = range(first, first + len(levels))
        for column, level in zip(columns, levels, strict=True):
            centred = {each: float(each == column) - 1 / len(levels) for each in columns}
            effects.append(Effect(name, str(level), *posterior.contrast(centred)))
        first += size
    return tuple(effects)


# -------------------------------------------------------------------------------------------------------------------- prove


def prove(protocol: RaceProtocol, games: Games, finalists: Sequence[Point], report: Report) -> tuple[Proof, ...]:
    """What the finalists prove against the reference on deals of their own, the best first."""
    configurations = [protocol.space.configuration(point) for point in finalists]
    units, pairs = protocol.units[1], [(configuration, protocol.reference) for configuration in configurations]
    gains = differences(games, PROOF, pairs, units, lambda done, text: report(RaceProgress("prove", done, units, text)))
    adjusted = holm([gain.p for gain in gains])
    proofs = [
        Proof(configuration, point, gain, p, rate_of(games, configuration, protocol.reference))
        for configuration, point, gain, p in zip(configurations, finalists, gains, adjusted, strict=True)
    ]
    return tuple(sorted(proofs, key=lambda proof: -proof.difference.mean))


Pair = tuple[Configuration, Configuration]  # who is judged, and against whom


def differences(
    games: Games,
    stream: int,
    pairs: Sequence[Pair],
    units: int,
    report: Callable[[int, str], None] = lambda done, text: None,
) -> list[Difference]:
    """How much better each player is than its opponent in its place, on the same deals, against that opponent.

    Args:
        report: called after each block of units, with how many are done and the means so far.
    """
    scores: list[list[float]] = [[] for _ in pairs]
    for start in range(0, units, BLOCK):
        deals = list(range(start, min(start + BLOCK, units)))
        for gains, (player, opponent) in zip(scores, pairs, strict=True):
            even = games.scores(stream, [(opponent, opponent)] * len(deals), deals)
            received = games.scores(stream, [(player, opponent)] * len(deals), deals)
            gains += [score - base for score, base in zip(received, even, strict=True)]
        report(deals[-1] + 1, "   ".join(f"{np.mean(gains):+.3f}" for gains in scores))
    return [difference(gains) for gains in scores]


def rate_of(games: Games, configuration: Configuration, reference: Configuration) -> float:
    """Iterations per second of a configuration's searches, as a share of the reference's in the same games: the median over games, nan
    where there are none."""
    names, rates = (str(configuration), str(reference)), list[float]()
    for row in games.rows.values():
        (iterations, seconds), (made_by_others, seconds_of_others) = row["work"], row["work_of_others"]
        if (row["player"], row["opponent"]) == names and made_by_others and seconds and seconds_of_others:
            rates.append(iterations / seconds / (made_by_others / seconds_of_others))
    return float(np.median(rates)) if rates else math.nan


# ------------------------------------------------------------------------------------------------------------------- ablate


def ablate(protocol: RaceProtocol, games: Games, winner: Point, report: Report) -> tuple[Ablation, ...]:
    """What the winner loses with each factor back at its default, on deals of their own."""
    space, without = protocol.space, dict[str, Point]()
    for k, name in enumerate(space.names):
        if winner[k] not in (INACTIVE, 0):
            point = space.canonical(winner[:k] + (0,) + winner[k + 1 :])
            if space.allows(point):
                without[name] = point
    if not without:
        return ()
    configurations = [space.configuration(point) for point in (winner, *without.values())]
    seats = len(protocol.seats)
    units = max(1, protocol.units[2] * (len(space.names) + 1) * seats // (len(configurations) * seats + 1))
    winner_scores, *reduced_scores = paired_scores(protocol, games, configurations, units, report)
    ablations = []
    for name, configuration, scores in zip(without, configurations[1:], reduced_scores, strict=True):
        level = str(space.factors[name][winner[space.names.index(name)]])
        losses = [score - lower for score, lower in zip(winner_scores, scores, strict=True)]
        ablations.append(Ablation(name, level, configuration, difference(losses)))
    return tuple(ablations)


def paired_scores(
    protocol: RaceProtocol, games: Games, configurations: Sequence[Configuration], units: int, report: Report
) -> list[list[float]]:
    """What each gets against the reference on the same deals."""
    scores = [list[float]() for _ in configurations]
    for start in range(0, units, BLOCK):
        deals = list(range(start, min(start + BLOCK, units)))
        for score, configuration in zip(scores, configurations, strict=True):
            score += games.scores(ABLATION, [(configuration, protocol.reference)] * len(deals), deals)
        report(RaceProgress("ablate", deals[-1] + 1, units, "   ".join(f"{np.mean(score):.3f}" for score in scores)))
    return scores
