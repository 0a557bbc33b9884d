"""The race: explore a space, freeze a few finalists, prove them on deals never met before, ablate the winner.

Its protocol, which decides everything that is played and claimed, is written and hashed before the first game. A race has no state but
its rows: it runs from the beginning each time, and games that are kept are not played again. So one that was killed goes on where it was
and ends alike, and the same protocol gives the same race (with a budget in seconds: the same but for what the clock decides).
"""

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import attrs
import msgspec
import numpy as np

from icarus.arena.ledger import (
    GameRow,
    Key,
    Ledger,
    check_settings,
    python_number,
    write_settings,
    write_whole,
)
from icarus.arena.match import Match, load_unedited, seated, work_of
from icarus.arena.player import Entrant
from icarus.arena.workers import ALONE, Workers
from icarus.checks import count_text
from icarus.discovery.finders import Factorial
from icarus.discovery.space import INACTIVE, Point, SearchSpace, level_text
from icarus.kernel.game import AnyGame
from icarus.statistics import Estimate, holm, paired_difference, sign_flip, student_quantile
from icarus.views import document
from icarus.views.document import Block, Heading, Paragraph, Preformatted, Table

CONFIDENCE = 0.99  # of what is proven

# ----------------------------------------------------------------------------------------------------------------------- protocol


FILE, ROWS = "protocol.json", "games.jsonl"
SHARES = (0.6, 0.3, 0.1)  # of the games: exploration, proof, ablation
PROOF_ONLY = (0.0, 1.0, 0.0)
LEAST_UNITS = 20  # of a proof, for every finalist
USELESS = 0.25  # a proof that detects only larger differences proves nothing
POWER = 0.8
DIGITS = 16


class Units(NamedTuple):
    """The units of a race's stages: of the exploration, of the proof for each finalist, and of the ablation for each factor."""

    exploration: int
    proof: int
    ablation: int


@attrs.frozen
class RaceProtocol:
    """What a race will do.

    Attributes:
        game: with its parameters.
        seats: which a configuration takes in turn, on the same deal: a *unit* of games.
        space: that is searched.
        finder: "factorial", by which all races are found.
        reference: who is to be beaten; the last of the pool.
        pool: the opponents of the exploration; at half time the incumbent joins them.
        iterations, seconds: the budget of each decision; one of them is None.
        games: of the whole race, at most.
        units: of its stages.
        finalists: at most so many are proven, with Holm's correction.
        level: of significance.
        deviation: of a unit's score, by games that were played before: for what the proof can detect.
        seed: from which all seeds follow; the deals of the proof are a stream of their own.
        files: Python files whose enhancements and games are named, with a digest of each.
        format: 2 of new races. In one of format 1 all deals follow from the seed alone, so that another race with this seed has the same,
            and the reference may be a finalist.
    """

    game: str
    seats: tuple[int, ...]
    space: SearchSpace
    finder: Literal["factorial"]
    reference: Entrant
    pool: tuple[Entrant, ...]
    iterations: int | None
    seconds: float | None
    games: int
    units: Units
    finalists: int
    level: float
    deviation: float
    seed: int
    files: tuple[tuple[str, str], ...] = ()
    format: Literal[1, 2] = 2

    def settings(self) -> dict[str, Any]:
        """The protocol as JSON can hold it, with its digest, which names it: it follows from every setting but the order of factors."""
        fields = msgspec.to_builtins(self, enc_hook=python_number)
        space = {"name": self.space.name, **fields["space"]}  # also a name that is the default
        players = {"reference": plain(self.reference), "pool": [plain(each) for each in self.pool]}
        # written and read, so that it is equal to what is read from a file: a tuple is a list there
        content = msgspec.json.encode({**fields, "space": space, **players}, enc_hook=python_number)
        table = msgspec.json.decode(content)
        text = json.dumps(table, sort_keys=True, ensure_ascii=False)
        return table | {"digest": hashlib.sha256(text.encode()).hexdigest()[:DIGITS]}

    @property
    def budget(self) -> dict[str, Any]:
        """The budget of each decision, as keywords of an entrant."""
        return {"iterations": self.iterations, "seconds": self.seconds}

    @property
    def lead(self) -> float:
        """The least lead in mean reward with which a finalist is proven better four times of five (`POWER`)."""
        return detectable(self.units.proof, self.deviation, self.level / self.finalists)

    @property
    def digest(self) -> str:
        """See `settings`."""
        return str(self.settings()["digest"])

    def check(self, directory: Path) -> None:
        """Refuse a directory that holds something else than this race.

        Raises:
            ValueError: it has another race, a file that cannot be read, or files of another command.
        """
        path = directory / FILE
        check_settings(path, self.settings(), "race", directory / ROWS)
        if path.exists():
            # The order of the factors, by which a space is explored, is in no digest.
            there = msgspec.json.decode(path.read_bytes())["space"]["factors"]
            if list(there) != list(self.space.factors):
                raise ValueError(
                    f"{directory} has another race: the order of factors is {', '.join(there)} there; choose another directory"
                )

    def write(self, directory: Path) -> None:
        """Write the protocol, where it is not written yet; errors as of `check`."""
        self.check(directory)
        write_settings(directory / FILE, self.settings())


def plain(entrant: Entrant) -> dict[str, Any]:
    """An entrant as files of races have it."""
    return entrant.settings("scheme", "move_decay")


def detectable(units: int, deviation: float, level: float) -> float:
    """The least mean difference that a one-sided test of so many units finds with power `POWER`; infinite for one unit.

    The noncentral distribution is taken as Student's, moved: the power is right to .012 from 20 units on.
    """
    if units < 2:
        return math.inf
    quantiles = student_quantile(level, units - 1) + student_quantile(1 - POWER, units - 1)
    return quantiles * deviation / math.sqrt(units)


def plan_units(
    games: int,
    seats: int,
    finalists: int,
    factors: int,
    deviation: float,
    level: float,
    reference_games: int,
    shares: tuple[float, float, float] = SHARES,
) -> Units:
    """The units of the three stages that a number of games allows; none of an ablation for which its share is too small.

    Args:
        seats: games of a unit.
        reference_games: of the reference against itself in each unit of the proof, beside the games of the finalists.
        shares: of the games in each stage.

    Raises:
        ValueError: the proof could not prove anything.
    """
    # These are numbers of games, not of units.
    explore, prove, ablate = (int(games * share) for share in shares)
    games_of_unit = finalists * seats + reference_games
    proof = int(prove / games_of_unit)
    least = LEAST_UNITS
    while detectable(least, deviation, level / finalists) > USELESS:
        least += 1
    if proof < least:
        # and a half, so that enough is left where a share is rounded down
        enough = math.ceil((least * games_of_unit + 0.5) / shares[1])
        fewer = ", or fewer finalists" if finalists > 1 else ""
        raise ValueError(
            f"a budget of {games} games proves nothing: each of {count_text(finalists, 'finalist')} needs {least} units for its proof, and "
            f"has {count_text(proof, 'unit')}; give {enough:,} games{fewer}"
        )
    games_of_ablation = (factors + 1) * seats  # the winner, and once without each factor
    return Units(explore // seats, proof, ablate // games_of_ablation)


# --------------------------------------------------------------------------------------------------------------------------- games


# streams of random numbers: no deal of one is a deal of another
CALIBRATION, EXPLORATION, PROOF, ABLATION = range(4)
STREAMS = ("calibration", "exploration", "proof", "ablation")
STAGES = ("check", "explore", "prove", "ablate")
KEY = ("stream", "player", "opponent", "deal", "seat")  # the fields of a row that name its game
Pair = tuple[Entrant, Entrant]  # who is judged, and against whom


def race_row(match: Match) -> GameRow:
    """Play a match of a race: its part of the row beside the key."""
    log = match.play()
    seat = match.key[KEY.index("seat")]
    choices = [each for each in log.decisions if each.legal > 1]
    return {
        "returns": [round(float(reward), 9) for reward in log.returns],
        "moves": len(log.actions),
        "work": work_of(each for each in choices if each.player == seat),
        "work_of_others": work_of(each for each in choices if each.player != seat),
        "seconds": round(log.seconds, 4),
    }


class RaceGames(Ledger):
    """The games of a race: their ledger, and who plays those that it lacks."""

    def __init__(
        self,
        protocol: RaceProtocol,
        game: str | AnyGame,
        path: Path | None = None,
        workers: Workers = ALONE,
    ) -> None:
        super().__init__(path, KEY)
        self.protocol = protocol
        self.game = game
        self._workers = workers
        # other processes may have begun in another directory
        self._files = tuple((str(Path(file).resolve()), digest) for file, digest in protocol.files)
        # A part of every seed, so that no other race has the same deals; races of the first format had none.
        self._seed_of_protocol = (
            (int(attrs.evolve(protocol, files=()).digest, 16),) if protocol.format > 1 else ()
        )

    @property
    def seconds(self) -> float:
        """How many seconds the games so far have taken, of all processes together."""
        return sum(float(row["seconds"]) for row in self.rows.values())

    @property
    def hours(self) -> float:
        """About how many hours the games that are left will take, by the time of those that were played."""
        left = self.protocol.games / len(self.rows) - 1
        return left * self.seconds / self._workers.count / 3600

    def key(self, stream: int, pair: Pair, deal: int, seat: int) -> Key:
        """The key of the game in which the first of a pair has a seat, and the second all others."""
        return STREAMS[stream], str(pair[0]), str(pair[1]), deal, seat

    def match(self, stream: int, pair: Pair, deal: int, seat: int) -> Match:
        """A game to be played.

        Args:
            stream: what it is for; decides, with the race's protocol and the deal, everything random.

        Raises:
            ValueError: a file of the race was edited.
        """
        race = self.protocol
        players = load_unedited(self.game, self._files).game.players
        entrants = seated(pair, seat, players, **race.budget)
        return Match(
            self.key(stream, pair, deal, seat),
            self.game,
            entrants,
            (race.seed, stream, deal, *self._seed_of_protocol),
            self._files,
        )

    def scores(self, stream: int, pairs: Sequence[Pair], deals: Sequence[int]) -> list[float]:
        """What each player gets on each deal, in the mean over the seats that he takes in turn; games that are not kept are played.

        Args:
            pairs: (player, opponent); who plays against himself without a clock is played once, for all seats.
            deals: of each pair.
        """
        seats = self.protocol.seats
        by_deal = list[dict[Key, int]]()
        missing = list[Match]()
        for pair, deal in zip(pairs, deals, strict=True):
            # Against himself he plays the same game in each seat; not so by the clock, where no game comes twice.
            is_same_game = pair[0] == pair[1] and self.protocol.seconds is None
            places = seats[:1] if is_same_game else seats
            games = {self.key(stream, pair, deal, seat): seat for seat in places}
            by_deal.append(games)
            for key, seat in games.items():
                if key not in self.rows:
                    missing.append(self.match(stream, pair, deal, seat))
        self.play(missing, race_row, self._workers)
        return [mean_reward([self.rows[key] for key in games], seats) for games in by_deal]


def mean_reward(rows: Sequence[GameRow], seats: Sequence[int]) -> float:
    """What a player gets in the mean over seats, by the row of each; one row is that of a game against himself, for all seats."""
    if len(rows) == 1:
        rows = [rows[0]] * len(seats)
    pairs = zip(rows, seats, strict=True)
    return sum(float(row["returns"][seat]) for row, seat in pairs) / len(seats)


# --------------------------------------------------------------------------------------------------------------------------- race


BLOCK = 8  # units between two reports
HALF_TIME = 0.5  # of the exploration, when the incumbent joins the pool


@attrs.frozen
class RaceProgress:
    """How far a race is.

    Attributes:
        stage: one of `STAGES`.
        done, total: units; while the space is checked, configurations.
        hours: that are left of the whole race, about; nan before the first game.
    """

    stage: str
    done: int
    total: int
    hours: float = math.nan


Report = Callable[[RaceProgress], None]


@attrs.frozen
class Proof:
    """What a finalist proved.

    Attributes:
        difference: to the reference, in the same deals and seats, against the reference.
        p: of the sign-flip test, after Holm's correction over the finalists.
        rate: iterations per second, as a share of the reference's; the clock's affair, and no part of what makes two races equal.
    """

    configuration: Entrant
    point: Point
    difference: Estimate
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
    configuration: Entrant
    difference: Estimate


@attrs.frozen(repr=False)
class Discovery:
    """The result of a race.

    Attributes:
        proofs: of the finalists, the best first.
        ablations: of the winner.
        games, seconds: what all of it cost.
    """

    protocol: RaceProtocol
    proofs: tuple[Proof, ...]
    ablations: tuple[Ablation, ...]
    games: int
    seconds: float

    @property
    def winner(self) -> Proof | None:
        """The best finalist that is proven better than the reference; None where none is."""
        level = self.protocol.level
        proven = (each for each in self.proofs if each.p < level and each.difference.value > 0)
        return next(proven, None)

    def __repr__(self) -> str:
        best = "nothing" if self.winner is None else repr(str(self.winner.configuration))
        return f"<race in {self.protocol.game}: {best} proven better than {str(self.protocol.reference)!r}, {self.games} games>"


def run(
    protocol: RaceProtocol, games: RaceGames, report: Report = lambda report: None
) -> Discovery:
    """Run a race, or what is left of it."""
    proofs = prove(protocol, games, explore(protocol, games, report), report)
    ablations = ablate(protocol, games, proofs[0].point, report)
    return Discovery(protocol, proofs, ablations, len(games.rows), games.seconds)


# ------------------------------------------------------------------------------------------------------------------ explore


def explore(protocol: RaceProtocol, games: RaceGames, report: Report) -> list[Point]:
    """The finalists of the exploration, the best first; without one the candidate, see `candidate_space`."""
    space = protocol.space
    total = protocol.units.exploration
    if total == 0:
        return [tuple(len(levels) - 1 for levels in space.factors.values())]
    finder = Factorial(space, total, (protocol.seed, EXPLORATION))
    pool = list(protocol.pool)
    spent = 0
    deal = 0
    while spent < total:
        points = finder.ask()[: total - spent]
        opponent = pool[deal % len(pool)]
        pairs = [(space.configuration(point), opponent) for point in points]
        scores = games.scores(EXPLORATION, pairs, [deal] * len(pairs))
        finder.tell(points, scores)
        spent, deal = spent + len(points), deal + 1
        if spent >= total * HALF_TIME and len(pool) == len(protocol.pool):
            pool.append(space.configuration(finder.incumbent))
        report(RaceProgress("explore", spent, total, games.hours))
    # one more, as the reference may be among them, which is no finalist
    finalists = finder.finalists(protocol.finalists + 1)
    if protocol.format > 1:
        finalists = [each for each in finalists if not _is_reference(protocol, each)]
    return finalists[: protocol.finalists]


def _is_reference(protocol: RaceProtocol, point: Point) -> bool:
    """Whether a point makes the reference, however that is written; enhancements of one's own are compared by what is written."""
    configuration, reference = protocol.space.configuration(point), protocol.reference
    if configuration == reference:
        return True
    try:
        return configuration.player(**protocol.budget) == reference.player(**protocol.budget)
    except (OSError, ValueError):
        return False


# -------------------------------------------------------------------------------------------------------- prove, ablate


def prove(
    protocol: RaceProtocol, games: RaceGames, finalists: Sequence[Point], report: Report
) -> tuple[Proof, ...]:
    """What the finalists prove against the reference on deals of their own, the best first."""
    reference = protocol.reference
    configurations = [protocol.space.configuration(point) for point in finalists]
    pairs = [(each, reference) for each in (reference, *configurations)]
    even, *received = scores(games, PROOF, pairs, protocol.units.proof, report)
    p_values = holm([sign_flip(np.subtract(each, even).tolist()) for each in received])
    proofs = list[Proof]()
    for i, configuration in enumerate(configurations):
        difference = paired_difference(received[i], even, CONFIDENCE)
        rate = rate_of(games, configuration, reference)
        proofs.append(Proof(configuration, finalists[i], difference, p_values[i], rate))
    return tuple(sorted(proofs, key=lambda proof: -proof.difference.value))


def scores(
    games: RaceGames, stream: int, pairs: Sequence[Pair], units: int, report: Report
) -> list[list[float]]:
    """What the first of each pair gets against the second on the same deals; reported after each block of units."""
    received: list[list[float]] = [[] for _ in pairs]
    for start in range(0, units, BLOCK):
        deals = list(range(start, min(start + BLOCK, units)))
        for each, pair in zip(received, pairs, strict=True):
            each += games.scores(stream, [pair] * len(deals), deals)
        report(RaceProgress(STAGES[stream], deals[-1] + 1, units, games.hours))
    return received


def rate_of(games: RaceGames, configuration: Entrant, reference: Entrant) -> float:
    """Iterations per second of a configuration's searches, as a share of the reference's in the same games: the median over games, nan
    where there are none."""
    names = (str(configuration), str(reference))
    rates = list[float]()
    for row in games.rows.values():
        if (row["player"], row["opponent"]) == names:
            iterations, seconds = row["work"]
            iterations_of_others, seconds_of_others = row["work_of_others"]
            if seconds and iterations_of_others and seconds_of_others:
                rates.append(iterations / seconds / (iterations_of_others / seconds_of_others))
    return float(np.median(rates)) if rates else math.nan


def ablate(
    protocol: RaceProtocol, games: RaceGames, winner: Point, report: Report
) -> tuple[Ablation, ...]:
    """What the winner loses with each factor back at its default, on deals of their own."""
    if protocol.units.ablation == 0:
        return ()
    space = protocol.space
    without = dict[str, Point]()
    for k, name in enumerate(space.names):
        if winner[k] not in (INACTIVE, 0):
            point = space.canonical(winner[:k] + (0,) + winner[k + 1 :])
            if space.allows(point):
                without[name] = point
    if not without:
        return ()
    configurations = [space.configuration(point) for point in (winner, *without.values())]
    seats = len(protocol.seats)
    # A factor that the winner has at its default, or not at all, needs no games; the others share them, and have more units.
    games_planned = protocol.units.ablation * (len(space.names) + 1) * seats
    games_of_unit = len(configurations) * seats
    # The + 1 stands for no game. It remains because the races that are kept were played with these units.
    units = max(1, games_planned // (games_of_unit + 1))
    pairs = [(each, protocol.reference) for each in configurations]
    best, *reduced = scores(games, ABLATION, pairs, units, report)
    ablations = []
    for name, configuration, lower in zip(without, configurations[1:], reduced, strict=True):
        level = str(space.factors[name][winner[space.names.index(name)]])
        ablations.append(
            Ablation(name, level, configuration, paired_difference(best, lower, CONFIDENCE))
        )
    return tuple(ablations)


# ------------------------------------------------------------------------------------------------- the result as text and as a page


PAGE = "result.html"


def write_result(discovery: Discovery, directory: Path) -> None:
    """Write the result of a race beside its rows, as a page."""
    title = f"Discovered for {discovery.protocol.game}"
    write_whole(directory / PAGE, document.html(title, list(_blocks(discovery))))


def text_of(discovery: Discovery) -> str:
    """The result as text."""
    return document.text_of(list(_blocks(discovery)))


def _blocks(discovery: Discovery) -> Iterator[Block]:
    protocol = discovery.protocol
    budget = (
        f"{protocol.iterations} iterations" if protocol.iterations else f"{protocol.seconds:g} s"
    )
    yield Heading(f"{protocol.game}, {budget} for each decision")
    yield Preformatted("\n".join(_verdict(discovery)))
    if discovery.proofs:
        yield Heading(
            f"Proof: mean reward less the reference's in its place, {CONFIDENCE:.0%} interval"
        )
        finalists = [
            (
                f"{each.difference:+.3f}",
                _p_text(each.p),
                "better" if each.p < protocol.level else "not proven",
                f"speed {_rate_text(each)}",
                str(each.configuration),
            )
            for each in discovery.proofs
        ]
        yield Table("", ["difference", "after Holm", "", "speed", "finalist"], finalists)
    if discovery.ablations:
        yield Heading("What the best finalist loses with one factor back at its default")
        rows = [
            [f"{each.difference:+.3f}", f"{each.factor} = {level_text(each.level)}"]
            for each in discovery.ablations
        ]
        yield Table("", ["difference", "factor"], rows)
    opponents = f"reference {protocol.reference}, no exploration"
    if protocol.units.exploration:
        opponents = f"pool: {'; '.join(map(str, protocol.pool))}; at half time the incumbent"
    yield Heading("Protocol")
    yield Preformatted(
        f"digest {protocol.digest}, seed {protocol.seed}, finder {protocol.finder}\n"
        f"space {protocol.space.name} of {protocol.space.count():,} points\n"
        f"{opponents}\n"
        f"units of {len(protocol.seats)} games: {protocol.units.exploration} to explore, {protocol.units.proof} to prove each finalist"
    )
    yield Heading("Cost")
    yield Paragraph(f"{discovery.games:,} games, {discovery.seconds / 3600:.2f} processor hours")


def _verdict(discovery: Discovery) -> list[str]:
    protocol, winner = discovery.protocol, discovery.winner
    if winner is not None:
        margin = winner.difference
        number = len(discovery.proofs)
        best = ""
        if number > 1:
            best = (
                f"the best of {number} finalists, for which mean and interval make no allowance, "
            )
        return [
            str(winner.configuration),
            "",
            f"is better than {protocol.reference}",
            f"by {margin.value:.3f} in mean reward [{margin.low:.3f}, {margin.high:.3f}], {_p_text(winner.p)} after Holm,",
            f"{best}on {margin.count} units that it was not found by",
            f"iterations per second as a share of the reference's: {_rate_text(winner)}",
        ]
    excluded = max(proof.difference.high for proof in discovery.proofs)
    return [
        f"Nothing was proven better than {protocol.reference}.",
        f"None of the finalists is better by more than {excluded:.3f} in mean reward ({CONFIDENCE:.0%}, each by itself).",
    ]


def _p_text(p: float) -> str:
    return f"p = {p:.2g}" if p > 0 else "p < 1e-300"


def _rate_text(proof: Proof) -> str:
    """Iterations per second as a share of the reference's; games of a few milliseconds do not show it."""
    return "not measured" if math.isnan(proof.rate) else f"{proof.rate:.0%}"
