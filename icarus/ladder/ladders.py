"""Ratings in Elo from scores between players, with their 95 % intervals, and ladders of opponents whose ratings are known.

The model of Bradley and Terry (1952): a player rated r scores 1 / (1 + 10^((s − r)/400)) against one rated s, on average. A drawn game is a
score of ½, and the shared points of a game of several players a score between 0 and 1. What is known of a rating beforehand is a normal
distribution; a player of whom nothing is known has one as wide as UNKNOWN, which weighs as much as a twentieth of an even game and keeps
the rating of who has won all games finite. Intervals follow from the curvature at the maximum, so that the uncertainty of the opponents'
ratings is in them. Opponents rated by games among themselves share most of it: what is known of them is a joint normal distribution, and
what they share does not average out over games with all of them. Games of which shares are won, or many are drawn, tell more than others: a
pair of games on one deal is the sample, and its variance is measured (quasi-likelihood: McCullagh and Nelder, 1989). (`choix` fits the
same model without draws, intervals, or opponents that are rated already.)
"""

import datetime
import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import attrs
import msgspec
import numpy as np

from icarus import checks, games
from icarus.arena.ledger import GameRow, Key, Ledger
from icarus.arena.match import Match
from icarus.arena.player import Entrant, RandomPlayer
from icarus.engine.match import Player, is_player
from icarus.kernel import AnyGame
from icarus.ladder.engines import ENGINES, EngineFailed, EnginePlayer
from icarus.load_files import digest_of
from icarus.statistics import NORMAL_95, Estimate
from icarus.version import VERSION

ELO = math.log(10) / 400
UNKNOWN = 1500.0  # Elo: standard deviation of a rating of which nothing is known
STEPS, PRECISION = 200, 1e-6
EVEN_PAIRS = 10
LONGEST_STEP = 200.0  # Elo
LEVEL_STEP = 100.0  # Elo from level to level, about: 64 % of the points

PairScore = tuple[str, str, float]  # a player, the opponent, the player's score in [0, 1]


class Rating(Estimate):
    """A rating in Elo with its 95 % interval; `count` is that of its games."""

    def __str__(self) -> str:
        return f"{round(self.value)} ± {self.half:.0f}"

    def __format__(self, form: str) -> str:
        return super().__format__(form) if form else str(self)


def expected(rating: float | np.ndarray, opponent: float | np.ndarray) -> float | np.ndarray:
    """The mean score against an opponent."""
    return 1 / (1 + np.exp(ELO * (opponent - rating)))


@attrs.frozen
class Posterior:
    """What games say of several ratings.

    Attributes:
        names: of the players.
        value: [player] the ratings.
        covariance: [player, player].
        games: [player] how many each has played.
        dispersion: the variance of a pair of games, as a share of that of two games which are won or lost.
    """

    names: tuple[str, ...]
    value: np.ndarray
    covariance: np.ndarray
    games: np.ndarray
    dispersion: float

    def ratings(self) -> dict[str, Rating]:
        """Each player's rating with its interval."""
        rows = zip(self.value, np.diag(self.covariance), self.games, strict=True)
        return {name: _rating(*row) for name, row in zip(self.names, rows, strict=True)}

    def difference(self, player: str, opponent: str) -> Rating:
        """How far a player stands above another; its interval is narrower than those of both where they have played each other."""
        sign = np.array([(name == player) - (name == opponent) for name in self.names])
        return _rating(sign @ self.value, sign @ self.covariance @ sign)


def _rating(value: float, variance: float, games: int = 0) -> Rating:
    reach = NORMAL_95 * variance**0.5
    return Rating(float(value), float(value - reach), float(value + reach), int(games))


def posterior(
    scores: Iterable[PairScore],
    priors: Mapping[str, Rating],
    newcomers: Iterable[str] = (),
    covariance: np.ndarray | None = None,
    dispersion: float = 1.0,
) -> Posterior:
    """The ratings of all who played, and of those known beforehand: the maximum of the posterior density, by Newton's method.

    Args:
        scores: of games between two different players.
        priors: ratings that are known with their intervals; one of width 0 is the scale's zero.
        newcomers: players of whom nothing is known and who may not have played yet.
        covariance: [prior, prior] of the priors in their order, in Elo²; without it they are independent, as wide as their intervals say.
        dispersion: see `Posterior`; `fitted` measures it.
    """
    games = list(scores)
    players = {name for player, opponent, _ in games for name in (player, opponent)}
    names = tuple(sorted(players | {*priors, *newcomers}))
    index = {name: i for i, name in enumerate(names)}
    first = [index[player] for player, _, _ in games]
    second = [index[opponent] for _, opponent, _ in games]
    # [game, player] 1 for the player and -1 for the opponent
    signs = np.zeros((len(games), len(names)))
    signs[range(len(games)), first] = 1
    signs[range(len(games)), second] = -1
    score = np.array([points for _, _, points in games], float)
    center = np.array([priors[name].value if name in priors else 0.0 for name in names])
    precision = _precision(names, priors, covariance)
    value = center
    for _ in range(STEPS):
        chance = expected(signs @ value, 0.0)
        # The gradient of the logarithm of the density, of what is known beforehand and of the games; then minus its second derivative.
        gradient = precision @ (center - value) + ELO / dispersion * (score - chance) @ signs
        weight = ELO**2 / dispersion * chance * (1 - chance)
        curvature = precision + signs.T * weight @ signs
        step = np.linalg.solve(curvature, gradient)
        # far from the maximum a step of Newton's method may go far beyond it
        value = value + np.clip(step, -LONGEST_STEP, LONGEST_STEP)
        if np.abs(step).max() < PRECISION:
            break
    games_of_each = np.bincount([*first, *second], minlength=len(names))
    return Posterior(names, value, np.linalg.inv(curvature), games_of_each, dispersion)


def fitted(rows: Sequence[GameRow], zero: str, newcomers: Iterable[str] = ()) -> Posterior:
    """The ratings by rows of games, with one player at 0, and with the dispersion of their pairs of games.

    The dispersion is measured as if there were `EVEN_PAIRS` pairs more, between equals, of games which are won or lost: it begins at 1.
    """
    first = posterior(scores_of(rows), {zero: ZERO}, newcomers)
    pairs = dict[Key, list[tuple[float, float]]]()
    values = dict(zip(first.names, first.value, strict=True))
    expectations = dict[tuple[str, str], float]()  # once for each two players: rows are many
    for row in rows:
        if "score" not in row:
            continue
        names = row["player"], row["opponent"]
        if names not in expectations:
            expectations[names] = float(expected(values[names[0]], values[names[1]]))
        chance = expectations[names]
        pair = pairs.setdefault((*names, *row["seed"]), [])
        pair.append((row["score"] - chance, chance * (1 - chance)))
    complete = [pair for pair in pairs.values() if len(pair) == 2]
    # [pair, game, gap and variance]: the sums of the two games
    gaps, variances = np.array(complete).reshape(-1, 2, 2).sum(axis=1).T
    dispersion = (EVEN_PAIRS / 2 + (gaps**2).sum()) / (EVEN_PAIRS / 2 + variances.sum())
    return posterior(scores_of(rows), {zero: ZERO}, newcomers, dispersion=float(dispersion))


def _precision(
    names: tuple[str, ...], priors: Mapping[str, Rating], covariance: np.ndarray | None
) -> np.ndarray:
    """[player, player] the inverse of the covariance of what is known beforehand."""
    variances = [priors[name].deviation ** 2 if name in priors else UNKNOWN**2 for name in names]
    prior = np.diag(variances)
    if covariance is not None:
        places = [names.index(name) for name in priors]
        prior[np.ix_(places, places)] = covariance
    # A rating of width 0 would have no inverse: it is taken as known within what Newton's method can tell.
    np.fill_diagonal(prior, np.maximum(np.diag(prior), PRECISION**2))
    return np.linalg.inv(prior)


def informative(rating: Rating, opponent: Rating, games: int) -> float:
    """What the next game against an opponent is worth to a rating: the information in its outcome.

    Averaged over what the rating may be; it falls with the games already played where the opponent's own rating is uncertain.
    """
    possible = rating.value + rating.deviation * np.linspace(-1.5, 1.5, 7)
    chance = expected(possible, opponent.value)
    information = float(np.mean(ELO**2 * chance * (1 - chance)))
    return information / (1 + games * information * opponent.deviation**2) ** 2


# ---------------------------------------------------------------------------------------------------------------- ladders


DATA = Path(__file__).with_name("data")
RANDOM = "random"
ZERO = Rating(0.0, 0.0, 0.0)


@attrs.frozen
class Rung:
    """An opponent with its rating.

    Attributes:
        name: random play, an engine, or a text for an agent of this library.
        agent: who such an agent is; None for the others.
    """

    name: str
    rating: Rating
    agent: Entrant | None = None

    @property
    def is_certain(self) -> bool:
        """Whether the opponent is the same whenever it plays: it is no engine, and no clock ends its search."""
        return self.name == RANDOM or (self.agent is not None and self.agent.iterations is not None)

    def player(self) -> Player:
        """The opponent at the table."""
        if self.name == RANDOM:
            return RandomPlayer()
        return self.agent.player() if self.agent else EnginePlayer(ENGINES[self.name])

    def is_installed(self) -> bool:
        """Whether the opponent can play here."""
        return self.name == RANDOM or bool(self.agent) or ENGINES[self.name].is_installed()


@attrs.frozen
class Ladder:
    """The opponents of a game, the weakest first.

    Attributes:
        covariance: [rung, rung] of the ratings, in Elo²; if not given, that of ratings which are independent of each other.
        dispersion: of pairs of games, see `Posterior`.
    """

    game: str
    rungs: tuple[Rung, ...]
    covariance: np.ndarray = attrs.field(eq=attrs.cmp_using(eq=np.array_equal))
    dispersion: float = 1.0

    @covariance.default
    def _independent(self) -> np.ndarray:
        return np.diag([rung.rating.deviation**2 for rung in self.rungs])

    def ratings(self) -> dict[str, Rating]:
        """The ratings by name."""
        return {rung.name: rung.rating for rung in self.rungs}

    def rating_of(self, player: str, scores: Iterable[PairScore]) -> Rating:
        """The rating of a player by games with the opponents alone; an opponent with the same name is a different player."""
        places = [place for place, rung in enumerate(self.rungs) if rung.name != player]
        opponents = {self.rungs[place].name: self.rungs[place].rating for place in places}
        covariance = self.covariance[np.ix_(places, places)]
        return posterior(scores, opponents, [player], covariance, self.dispersion).ratings()[player]


def read_ladder(game: str | AnyGame) -> Ladder:
    """The ladder of a game.

    Raises:
        ValueError: the game has none, or not with these parameters.
    """
    name = game if isinstance(game, str) else game.name
    path = DATA / f"{name}.json"
    if not path.exists():
        names = ", ".join(sorted(path.stem for path in DATA.glob("*.json")))
        raise ValueError(f"there is no ladder of {name}; games with a ladder: {names}")
    if str(game) != name:
        raise ValueError(
            f"there is no ladder of {game}; the opponents' ratings are those of {name}"
        )
    content = msgspec.json.decode(path.read_bytes())
    rungs = list[Rung]()
    for rung in content["rungs"]:
        player = rung["name"]
        agent = rung.get("agent")
        rating = Rating(rung["value"], rung["low"], rung["high"], rung["games"])
        rungs.append(Rung(player, rating, None if agent is None else Entrant(**agent)))
    # the file has the rows of the lower triangle, each as far as the diagonal
    lower = np.zeros((len(rungs), len(rungs)))
    lower[np.tril_indices(len(rungs))] = np.concatenate(content["covariance"])
    return Ladder(name, tuple(rungs), lower + np.tril(lower, -1).T, content["dispersion"])


def level_rows(
    agents: Mapping[str, Entrant], estimate: Posterior, zero: str
) -> list[dict[str, Any]]:
    """Levels as `icarus.engine.match` reads them: each one's Elo, and by how much it stands above the one below.

    The levels are those players whose steps, from one to the next, have the least sum of fourth powers of their distance from LEVEL_STEP.
    The interval of each step is above 0. Up to the highest player who can be reached by such steps; there may be none.

    Args:
        agents: players by their names, the weakest first; the last is the highest level.
        zero: the player at 0, above whom the first level stands.
    """
    values = estimate.ratings()
    # The cheapest way up to each player who can be reached: the sum for its steps, and the players on it.
    ways = {zero: (0.0, list[str]())}
    for name in agents:
        longer = list[tuple[float, list[str]]]()
        for below, (cost, names) in ways.items():
            if estimate.difference(name, below).low > 0:
                step = values[name].value - values[below].value
                longer.append((cost + (step - LEVEL_STEP) ** 4, [*names, name]))
        if longer:
            ways[name] = min(longer)
    _, levels = list(ways.values())[-1]
    content = list[dict[str, Any]]()
    for number, (below, name) in enumerate(itertools.pairwise([zero, *levels]), 1):
        rating = values[name]
        step_up = _interval(estimate.difference(name, below))
        level = {"level": number, **_interval(rating), "games": rating.count, "step": step_up}
        content.append(level | {"agent": agents[name].settings()})
    return content


def _interval(rating: Rating) -> dict[str, int]:
    return {"elo": round(rating.value), "low": round(rating.low), "high": round(rating.high)}


def scores_of(rows: Iterable[GameRow]) -> list[PairScore]:
    """The scores of the games that are not void."""
    return [(row["player"], row["opponent"], row["score"]) for row in rows if "score" in row]


# -------------------------------------------------------------------------------------------------------------------------- games

# Random plies, half of them each player's; dice and deals vary the others by themselves.
OPENING = {"othello": 4, "checkers": 4}
FIRST_SIDE = {"dou-di-zhu": (0,)}  # the seats of the first side; elsewhere every other seat
FIELDS = ("game", "player", "opponent", "seed", "side")  # of a row, that name its game


class RatedGame(msgspec.Struct):
    """What a row must have: a game that is not void has a score."""

    player: str
    opponent: str
    seed: list[int]
    score: Annotated[float, msgspec.Meta(ge=0, le=1)] | msgspec.UnsetType = msgspec.UNSET


def rated_games(path: str | Path | None) -> Ledger:
    """The games of a file, which may go on; without a path none are kept. A context manager, see `Ledger`."""
    return Ledger(path, FIELDS, RatedGame, unchecked=True)


def on_side(game: AnyGame, side: int) -> list[bool]:
    """Of each seat, whether it is on this side: 0 for the first side, 1 for the other."""
    first = FIRST_SIDE.get(game.name, range(0, game.players, 2))
    return [(seat in first) == (side == 0) for seat in range(game.players)]


def rated_match(
    game: AnyGame, pair: Sequence[tuple[str, Player]], seed: tuple[int, ...], side: int
) -> Match:
    """A game between two players.

    Args:
        pair: the player and the opponent, with their names.
        seed: fixes opening, dice and deal, and the searches.
        side: 0 if the player, whose score the row has, has the first side.
    """
    (name, player), (other_name, opponent) = pair
    entrants = tuple(player if is_player else opponent for is_player in on_side(game, side))
    key = str(game), name, other_name, seed, side
    return Match(key, game, entrants, seed, opening=OPENING.get(game.name, 0))


def rated_row(match: Match) -> GameRow:
    """Play a game between two players; where an engine fails its row is void, and says why."""
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    row: GameRow = {"icarus": VERSION, "started": started, "engines": {}, **match.labels}
    actions: list[Any] = []
    try:
        log = match.play(watch=lambda state, action, decision: actions.append(action))
        row |= {"score": score_of(match, log.returns), "returns": list(log.returns)}
        # `watch` has been called once more at the end of the game, without an action.
        row |= {"actions": actions[:-1], "seconds": round(log.seconds, 3)}
    except EngineFailed as error:
        row |= {"void": str(error), "failed": error.name, "actions": actions}
    # the version of each engine, as it says it, and the arguments that it was started with
    for each in match.entrants:
        if isinstance(each, EnginePlayer):
            row["engines"][str(each)] = [each.version, " ".join(each.engine.command[1:])]
    return row


def score_of(match: Match, returns: Sequence[float]) -> float:
    """The player's score in a match whose key ends with his side."""
    return side_score(returns, on_side(match.loaded.game, match.key[-1]))


def side_score(returns: Sequence[float], is_on_side: Sequence[bool]) -> float:
    """The mean reward of a side as a share of both sides' means; ½ where nobody gets anything."""
    rewards, inside = np.array(returns), np.array(is_on_side)
    side, opponents = rewards[inside].mean(), rewards[~inside].mean()
    return float(side / (side + opponents)) if side + opponents else 0.5


PATIENCE = 3  # failures in a row, after which an engine is left alone


class Pairs:
    """Pairs of games between players of one game. A context manager: the engines among the players end with it.

    Args:
        players: by their names in rows.
        ledger: of the games so far, see `rated_games`; new ones are kept there.
        seed: fixes openings, dice, deals and searches.
        stamp: fields that each new row gets besides.

    Attributes:
        failures: of each engine, in a row.
    """

    def __init__(
        self,
        game: AnyGame,
        players: Mapping[str, Player],
        ledger: Ledger,
        seed: int,
        stamp: GameRow,
    ) -> None:
        self.ledger = ledger
        self.failures = Counter[str]()
        self._game, self._players, self._seed, self._stamp = game, players, seed, stamp

    def between(self, player: str, opponent: str) -> list[GameRow]:
        """The games between two players, void ones included."""
        return [
            row
            for row in self.ledger.rows.values()
            if {player, opponent} == {row["player"], row["opponent"]}
            and row.get("game") == str(self._game)
        ]

    def has_failed(self, player: str) -> bool:
        """Whether a player is an engine that failed again and again, so that it plays no more."""
        return self.failures[player] >= PATIENCE

    def play(self, player: str, opponent: str) -> Iterator[GameRow]:
        """The next two games between two players, or the one that a pair lacks."""
        for _ in range(2 - len(self.between(player, opponent)) % 2):
            for row in self.ledger.played([self._next_match(player, opponent)], rated_row):
                if "void" in row:
                    self.failures[row["failed"]] += 1
                else:
                    self.failures[player] = self.failures[opponent] = 0
                yield row

    def _next_match(self, player: str, opponent: str) -> Match:
        """The next game: the last that a pair lacks, whatever its seed; else its number is that of the rows so far, or, if rows were taken
        out of the file, the last that is missing."""
        rows = self.between(player, opponent)
        # seeds and sides: the other halves of all pairs, and then new ones
        halves = [
            (tuple(row["seed"]), 1 - row["side"])
            for row in reversed(rows)
            if row["player"] == player and "side" in row
        ]
        for number in range(len(rows), -1, -1):
            halves.append(((self._seed, number // 2), number % 2))
        pair = [(name, self._players[name]) for name in (player, opponent)]
        matches = (rated_match(self._game, pair, seed, side) for seed, side in halves)
        match = next(each for each in matches if each.key not in self.ledger.rows)
        return attrs.evolve(match, labels=self._stamp)

    def __enter__(self) -> "Pairs":
        return self

    def __exit__(self, *error: object) -> None:
        for player in self._players.values():
            if isinstance(player, EnginePlayer):
                player.close()


# ----------------------------------------------------------------------------------------------------------------------- climbing


class Climb:
    """The games of a player against the opponents of a ladder, and its rating.

    Args:
        ladder: the opponents; those that are not installed are passed over.
        player: an `Agent`, or another player for `icarus.play`.
        ledger: of its games, see `rated_games`. What is there of this player in this game is counted and not played again.
        seed: fixes openings, dice, deals and searches.
        stamp: fields that each new row gets besides.
        files: Python files that define the player; each new row gets their digests, files of one name one digest.

    Attributes:
        absent: the opponents that cannot play here.

    Raises:
        ValueError: no opponent can play here, a file of games that are counted was edited or is not given, or a bad seed. TypeError: no
            player.
    """

    def __init__(
        self,
        ladder: Ladder,
        player: Player,
        *,
        ledger: Ledger | None = None,
        seed: int = 0,
        stamp: GameRow | None = None,
        files: Sequence[str | Path] = (),
    ) -> None:
        if not is_player(player):
            raise TypeError(
                f"a climb needs a player, such as Agent(strategy, iterations=…), not {player!r}"
            )
        self.ladder = ladder
        self.name = str(player)
        self._ledger = ledger or rated_games(None)
        named = defaultdict[str, list[Path]](list)
        for path in map(Path, files):
            named[path.name].append(path)
        digests = {name: digest_of(*paths) for name, paths in named.items()}
        self._refuse_edited(digests)
        opponents = [rung for rung in ladder.rungs if rung.name != self.name]
        self._rungs = [rung for rung in opponents if rung.is_installed()]
        self.absent = [rung.name for rung in opponents if rung not in self._rungs]
        if not self._rungs:
            raise ValueError(
                f"no opponent of {ladder.game} can play here; not installed: {', '.join(self.absent)}"
            )
        players: dict[str, Player] = {rung.name: rung.player() for rung in self._rungs}
        game = games.load(ladder.game)
        stamp = (stamp or {}) | ({"files": digests} if digests else {})
        seed = checks.integer("seed", seed, 0)
        self._pairs = Pairs(game, players | {self.name: player}, self._ledger, seed, stamp)

    @property
    def rows(self) -> list[GameRow]:
        """All games of this player, including void ones."""
        rows = self._ledger.rows.values()
        return [
            row for row in rows if (row.get("game"), row["player"]) == (self.ladder.game, self.name)
        ]

    def _refuse_edited(self, digests: Mapping[str, str]) -> None:
        for row in self.rows:
            for file, before in row.get("files", {}).items():
                # A file of any name that holds the same will do; without one, the player may be another of this name.
                if before in digests.values():
                    continue
                if file not in digests:
                    raise ValueError(
                        f"{file}, with which earlier games of {self.name} were played, is not among the files; "
                        "give it, or keep the games in another file"
                    )
                raise ValueError(
                    f"{file} was edited: its digest is {digests[file]}, in earlier games of {self.name} {before}; "
                    "undo the edit, or keep the games in another file"
                )

    def rating(self) -> Rating:
        """What the games so far say, with what is known of the opponents."""
        return self.ladder.rating_of(self.name, scores_of(self.rows))

    def games(self, number: int) -> Iterator[GameRow]:
        """Play until there are so many games that are not void; each is kept before it is given out."""
        checks.integer("games", number, 0)
        with self._pairs as pairs:
            while sum("score" in row for row in self.rows) < number:
                rung = self._next()
                if rung is None:
                    return
                yield from pairs.play(self.name, rung.name)

    @property
    def has_failed(self) -> bool:
        """Whether the player is an engine that failed again and again, so that no more games are played."""
        return self._pairs.has_failed(self.name)

    def _next(self) -> Rung | None:
        """The opponent of a pair that lacks a game, or else against whom a game tells most; None where all have failed, or the player."""
        if self.has_failed:
            return None
        rating, attempts = self.rating(), Counter(row["opponent"] for row in self.rows)
        counts = Counter(row["opponent"] for row in self.rows if "score" in row)

        def worth(rung: Rung) -> tuple[int, float]:
            # a pair that lacks a game comes first
            return attempts[rung.name] % 2, informative(rating, rung.rating, counts[rung.name])

        opponents = [rung for rung in self._rungs if not self._pairs.has_failed(rung.name)]
        return max(opponents, key=worth, default=None)
