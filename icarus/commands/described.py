"""The games of a description of a game, played in rounds, so that every question has had its share; and what they come to."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus import games
from icarus.arena.ledger import Row
from icarus.arena.match import work_of
from icarus.arena.player import Entrant, read_configuration
from icarus.discovery.race import KEY, Discovery, difference
from icarus.engine.algorithm import SearchResult, SeatedPlayer
from icarus.engine.match import Decision, Player, play
from icarus.engine.result import Result
from icarus.kernel.game import AnyGame, seat_name
from icarus.kernel.state import State
from icarus.ladder.ladders import ZERO, Posterior, level_rows, play_game, posterior, seconds_per_decision, side_score
from icarus.load_files import digest_of, load_files
from icarus.views.boards import drawing

KINDS = ("random play", "search against itself", "levels", "strategies", "commented", "composition")
RANDOM, EVEN, LEVELS, STRATEGIES, COMMENTED, COMPOSITION = KINDS
SHARES = tuple(2.0**step for step in range(-5, 3))  # of the iterations: the players of the levels, beside random play
LEAST_ITERATIONS = round(1 / SHARES[0])  # so that the first level has one
RATED_AT = (1.0, 4.0)  # of the levels: whom the composition that won a race plays
POOL = ("RAVE", "GRAVE", "PROGRESSIVE_HISTORY", "BASELINE >> MAST", "BASELINE >> NAST2", "BASELINE >> LGRF")
REFERENCE = "BASELINE"
RANDOM_GAMES, EVEN_GAMES = 5, 2  # of a round
TRIED, FEWEST, MOST = 64, 64, 1000  # iterations: of the game that is timed, and of the others
SECONDS = 0.25  # that a game is to take


def entrant(strategy: str, iterations: int) -> Entrant:
    """Who plays by a text of `icarus.arena.player`, with so many iterations for each decision."""
    return Entrant(read_configuration(strategy), iterations)


RANDOM_ENTRANT = Entrant()


@attrs.frozen
class Task:
    """One game to be played.

    Attributes:
        kind: one of KINDS.
        player, opponent: who sits on which side; the same in games of one player with himself.
        number: of the deal. Both sides are played with the same one.
        side: of the player, 0 or 1.
    """

    kind: str
    player: Entrant
    opponent: Entrant
    number: int
    side: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """Of the row."""
        return self.kind, str(self.player), str(self.opponent), self.number, self.side


@attrs.frozen
class Plan:
    """What a report plays; each of its games follows from it.

    Attributes:
        game: with its parameters.
        files: the file of the game, if it has one.
        digest: of that file: games by other rules do not count.
        iterations: of each decision in even games and of strategies.
        strategies: each is compared with REFERENCE.
        seed: from which all games follow.
    """

    game: str
    files: tuple[str, ...]
    digest: str
    iterations: int
    strategies: tuple[str, ...]
    seed: int

    def entrants(self) -> list[Entrant]:
        """The players of the levels, the weakest first."""
        return [RANDOM_ENTRANT, *(entrant(REFERENCE, round(self.iterations * share)) for share in SHARES)]

    def round(self, number: int, winner: str | None) -> list[Task]:
        """The games of a round; with those of the composition that won a race, if one did."""
        even, levels = entrant(REFERENCE, self.iterations), self.entrants()
        tasks = [Task(RANDOM, RANDOM_ENTRANT, RANDOM_ENTRANT, number * RANDOM_GAMES + i) for i in range(RANDOM_GAMES)]
        tasks += [Task(EVEN, even, even, number * EVEN_GAMES + i) for i in range(EVEN_GAMES)]
        pairs = [(LEVELS, strong, weak) for weak, strong in itertools.pairwise(levels)]
        pairs += [(STRATEGIES, entrant(each, self.iterations), even) for each in self.strategies]
        rivals = [] if winner is None else [levels[1 + SHARES.index(share)] for share in RATED_AT]
        pairs += [(COMPOSITION, entrant(str(winner), self.iterations), rival) for rival in rivals]
        tasks += [Task(*pair, number, side) for pair in pairs for side in (0, 1)]
        return tasks if number else [*tasks, Task(COMMENTED, levels[-1], levels[-1], 0)]

    def play(self, task: Task) -> Row:
        """Play a game: the same one whenever and wherever."""
        names, game = load_files([Path(file) for file in self.files]), games.load(self.game)
        seed = self.seed, KINDS.index(task.kind), task.number
        player = task.player.player(names)
        row: Row = dict(zip(KEY, task.key, strict=True))
        if task.kind == COMMENTED:
            return row | commented_game(game, Observed(player.seated(game)), seed)
        if task.kind in (RANDOM, EVEN):
            return row | self_play(game, Observed(player.seated(game)), seed)
        if game.players == 1:
            return row | play_alone(game, player, task.opponent.player(names), (*seed, task.side))
        result = play_game(game, player, task.opponent.player(names), seed=seed, side=task.side)
        return row | {key: result[key] for key in ("score", "returns", "seconds_per_decision")}


def play_alone(game: AnyGame, player: Player, opponent: Player, seed: tuple[int, ...]) -> Row:
    """A game of one player, played by each of two with the same chance: the score is the first one's share of both rewards."""
    logs = [play(game, [each], seed=seed) for each in (player, opponent)]
    returns = [log.returns[0] for log in logs]
    seconds = seconds_per_decision(logs[0].decisions)
    return {"score": side_score(returns, (True, False)), "returns": returns, "seconds_per_decision": seconds}


def self_play(game: AnyGame, player: "Observed", seed: tuple[int, ...]) -> Row:
    """A game of a player with himself: of each decision who made it, after how many actions, among how many, its value and its stake."""
    decisions: list[list[float | None]] = []

    def watch(state: State, action: int | None, decision: Decision | None) -> None:
        if decision is not None:
            estimate = [round(decision.value, 4), round(player.stake(), 4)] if decision.iterations else [None, None]
            decisions.append([decision.player, len(state.history), decision.legal, *estimate])

    log = play(game, [player] * game.players, seed=seed, watch=watch)
    work = work_of(each for each in log.decisions if each.iterations)
    return {"returns": list(log.returns), "length": len(log.actions), "decisions": decisions, "work": work}


def make_plan(
    game: AnyGame, files: tuple[str, ...], iterations: int | None, strategies: tuple[str, ...], seed: int
) -> Plan:
    """The plan of a report; as many iterations as a game of SECONDS allows, where they are not given.

    Raises:
        ValueError: a strategy cannot be read, or cannot play this game.
    """
    names = load_files([Path(file) for file in files])
    chosen = strategies or (*POOL, *(["BASELINE >> EPIC"] if game.episode is not None else []))
    for strategy in chosen:  # compiles what is needed, and refuses what does not fit
        play(game, [entrant(strategy, 4).player(names)] * game.players)
    if iterations is None:
        log = play(game, [entrant(REFERENCE, TRIED).player(names)] * game.players, seed=seed)
        iterations = int(np.clip(TRIED * SECONDS / max(log.seconds, 1e-6), FEWEST, MOST))
    return Plan(str(game), files, digest_of(*files), iterations, chosen, seed)


# ---------------------------------------------------------------------------------------------------- a game with comments


PICTURES = 4  # of the decisions that mattered most, beside the end
CLOSE = 0.15  # of the visits: two actions that differ by less are both good
STAKE, SWING = 0.15, 0.1  # of reward: from there a decision matters, and prospects have changed


class Observed:
    """A player whose last search is kept, so that more is known of it than `play` notes."""

    preference = None

    def __init__(self, player: SeatedPlayer) -> None:
        self.player = player
        self.result: Result | None = None

    def seated(self, game: AnyGame) -> "Observed":
        return self

    def search(self, state: State, seed: tuple[int, ...]) -> SearchResult:
        self.result = result = self.player.search(state, seed)
        return result

    def stake(self) -> float:
        """How much the last decision mattered: the value of what was chosen less the mean of all that was legal."""
        assert self.result is not None
        return float(self.result.value - np.nanmean(self.result.values))


def commented_game(game: AnyGame, player: "Observed", seed: tuple[int, ...]) -> Row:
    """A game of a player with himself, as steps with comments, and pictures of some positions, everything open."""
    steps: list[dict[str, Any]] = []
    pictures: list[str] = []
    prospects: dict[int, float] = {}

    def watch(state: State, action: int | None, decision: Decision | None) -> None:
        pictures.append(drawing(state).svg())
        if action is None:
            return
        seat = state.current_player()
        step: dict[str, Any] = {"player": seat_name(game, seat), "action": state.action_to_string(action)}
        if decision is not None and decision.iterations:
            assert player.result is not None
            stake, before = player.stake(), prospects.get(seat)
            comments = list(_comments(player.result, stake, before))
            step |= {"value": round(decision.value, 3), "stake": round(stake, 3), "comment": "; ".join(comments)}
            prospects[seat] = decision.value
        elif decision is not None:
            step["comment"] = "the only action"
        steps.append(step)

    log = play(game, [player] * game.players, seed=seed, watch=watch)
    stakes = np.array([step.get("stake", -1.0) for step in steps])
    chosen = [int(i) for i in np.argsort(-stakes, kind="stable")[:PICTURES] if stakes[i] >= 0]
    drawings = {str(i): pictures[i] for i in sorted({*chosen, len(steps)})}
    return {"steps": steps, "pictures": drawings, "returns": list(log.returns)}


def _comments(result: Result, stake: float, before: float | None) -> list[str]:
    """What there is to say of a decision."""
    order = np.argsort(-result.visits, kind="stable")
    comments = []
    if len(order) > 1 and result.policy[order[0]] - result.policy[order[1]] < CLOSE:
        second = result.state.action_to_string(result.actions[order[1]])
        comments.append(f"{second} is about as good")
    if stake >= STAKE:
        comments.append(f"a decision that matters: the average action is worth {stake:.2f} less")
    if before is not None and abs(result.value - before) >= SWING:
        change = "rise" if result.value > before else "fall"
        comments.append(f"prospects {change} from {before:.2f} to {result.value:.2f}")
    return comments


# ---------------------------------------------------------------------------------------------------- what the games come to


CONFIDENCE = 0.95
PARTS = 10  # of a game's course
AHEAD = 0.05  # of reward: who expects so much more than the leader takes the lead
Measures = dict[str, Any]


@attrs.frozen
class Estimate:
    """A mean with its interval, which allows for as many comparisons as it is one of.

    Attributes:
        number: of values.
    """

    mean: float
    low: float
    high: float
    number: int

    def __str__(self) -> str:
        return f"{self.mean:.3f} [{self.low:.3f}, {self.high:.3f}]"


def estimate(values: Iterable[float], comparisons: int = 1, least: float = -1, most: float = 1) -> Estimate | None:
    """The mean of values from 0 to 1, of their differences, or of counts, with an interval from `least` to `most`; None of none."""
    listed = list(values)
    if not listed:
        return None
    margin = difference(listed)
    low, high = margin.interval(1 - (1 - CONFIDENCE) / comparisons, most)
    return Estimate(margin.mean, max(low, least), high, margin.units)


def measures_of(plan: Plan, game: AnyGame, rows: Iterable[Row], race: Discovery | None) -> Measures:
    """All measures, as JSON can hold them once `attrs.asdict` has seen the estimates."""
    games = defaultdict[str, list[Row]](list)
    for row in rows:
        games[row["stream"]].append(row)
    even, compared = games[EVEN], games[STRATEGIES]
    rated = rated_players(plan, games[LEVELS] + games[COMPOSITION])
    return {
        "plan": attrs.asdict(plan),
        "course": {kind: course(game, games[kind]) for kind in (RANDOM, EVEN)},
        "tension": tension(game.players, even),
        "skill": skill(plan, games[LEVELS]),
        "levels": levels(plan, rated),
        "composition": None if race is None else composition(plan, race, rated),
        "strategies": strategies(plan, compared),
        "rates": rates(plan, even, compared),
        "commented": next(iter(games[COMMENTED]), None),
    }


def course(game: AnyGame, rows: Sequence[Row]) -> Measures:
    """How games go: length, choices, draws, and what each seat gets."""
    if not rows:
        return {"games": 0}
    lengths = np.array([row["length"] for row in rows])
    choices = np.array([decision[2] for row in rows for decision in row["decisions"]] or [1])
    returns = np.array([row["returns"] for row in rows])
    best = returns == returns.max(1, keepdims=True)
    draws = best.all(1)
    return {
        "games": len(rows),
        "length": {"mean": float(lengths.mean()), "deviation": float(lengths.std()), "all": lengths.tolist()},
        "decisions": len(choices) / len(rows),
        "choices": {"mean": float(choices.mean()), "median": float(np.median(choices)), "most": int(choices.max())},
        "choices_by_part": by_part(rows, 2),
        "forced": float((choices == 1).mean()),
        "tree": float(np.log10(choices).sum() / len(rows)),
        "draws": estimate(draws.astype(float)) if game.players > 1 else None,
        "seats": [
            {
                "name": seat_name(game, seat),
                "reward": estimate(returns[:, seat], game.players),
                "best": estimate((best[:, seat] & ~draws).astype(float), game.players) if game.players > 1 else None,
            }
            for seat in range(game.players)
        ],
    }


def by_part(rows: Sequence[Row], column: int) -> list[float | None]:
    """The mean of a column of decisions in each part of the game, from its beginning to its end."""
    values: list[list[float]] = [[] for _ in range(PARTS)]
    for row in rows:
        for decision in row["decisions"]:
            if decision[column] is not None:
                values[min(PARTS - 1, PARTS * decision[1] // max(1, row["length"]))].append(decision[column])
    return [float(np.mean(part)) if part else None for part in values]


def tension(players: int, rows: Sequence[Row]) -> Measures:
    """How early the winner is known, how often the lead changes, and how much decisions matter, as the search of each player sees it.

    A game of one player has neither winner nor lead.
    """
    courses = [(row, leads(players, row)) for row in rows] if players > 1 else []
    won = [(row, lead) for row, lead in courses if row["returns"].count(max(row["returns"])) == 1]
    points = [known_from(row, lead) for row, lead in won]
    stakes = [[decision[4] for decision in row["decisions"] if decision[4] is not None] for row in rows]
    quartiles = np.quantile(points, (0.25, 0.5, 0.75)).tolist() if points else []
    return {
        "changes": estimate([max(0, len(lead) - 1) for _, lead in courses], least=0, most=math.inf),
        "known": {"quartiles": quartiles, "games": len(points)} if points else None,
        "right_by_part": [
            float(np.mean([right(players, row, lead, (part + 0.5) / PARTS) for row, lead in won])) if won else None
            for part in range(PARTS)
        ],
        "stake": estimate([float(np.mean(each)) for each in stakes if each]),
        "stake_by_part": by_part(rows, 4),
    }


def leads(players: int, row: Row) -> list[tuple[float, int]]:
    """Who led from which share of a game on: whose last own estimate was the highest, by AHEAD more than the former leader's."""
    prospects: dict[int, float] = {}
    changes: list[tuple[float, int]] = []
    for player, at, _, value, _ in row["decisions"]:
        if value is None:
            continue
        prospects[player] = value
        if len(prospects) < players:
            continue
        best = max(prospects, key=lambda seat: prospects[seat])
        former = changes[-1][1] if changes else None
        rival = sorted(prospects.values())[-2] if players > 1 else 0.0
        least = rival if former is None else prospects[former]
        if best != former and prospects[best] >= least + AHEAD:
            changes.append((at / row["length"], best))
    return changes


def known_from(row: Row, lead: list[tuple[float, int]]) -> float:
    """From which share of a game on its winner led; 1 if not before the end."""
    winner = row["returns"].index(max(row["returns"]))
    return lead[-1][0] if lead and lead[-1][1] == winner else 1.0


def right(players: int, row: Row, lead: list[tuple[float, int]], share: float) -> float:
    """Whether the leader at a share of the game has won it; where nobody leads, as often as a guess is right."""
    leader = next((seat for since, seat in reversed(lead) if since <= share), None)
    if leader is None:
        return 1 / players
    return float(row["returns"][leader] == max(row["returns"]))


def skill(plan: Plan, rows: Sequence[Row]) -> Measures:
    """What the strongest player scores against the next one."""
    *_, weaker, stronger = plan.entrants()
    scores = _by_deal(row for row in rows if row["player"] == str(stronger))
    return {"player": str(stronger), "opponent": str(weaker), "score": estimate(scores)}


def rated_players(plan: Plan, rows: Sequence[Row]) -> Posterior | None:
    """What games of the levels, and of a composition against them, say of the ratings; None without games."""
    scores = [(row["player"], row["opponent"], row["score"]) for row in rows]
    zero, *players = map(str, plan.entrants())
    return posterior(scores, {zero: ZERO}, players) if scores else None


def levels(plan: Plan, rated: Posterior | None) -> list[Measures]:
    """The levels of the game, see `icarus.engine.match`; none without games."""
    zero, *players = plan.entrants()
    agents = {
        str(player): {"strategy": str(player.configuration), "iterations": player.iterations} for player in players
    }
    return level_rows(agents, rated, str(zero)) if rated else []


def composition(plan: Plan, race: Discovery, rated: Posterior | None) -> Measures:
    """What a race proved, or excluded; and the rating of its winner among the levels, once it has played them."""
    reference, units = str(race.protocol.reference), race.protocol.units[1]
    content: Measures = {"games": race.games, "reference": reference, "units": units, "winner": None}
    if race.winner is None:
        return content | {"excluded": race.excluded}
    winner, gain = str(race.winner.configuration), race.winner.difference
    name = str(entrant(winner, plan.iterations))
    return content | {
        "winner": winner,
        "gain": Estimate(gain.mean, *gain.interval(), gain.units),
        "p": race.winner.p,
        "rating": rated.ratings()[name] if rated and name in rated.names else None,
    }


def strategies(plan: Plan, rows: Sequence[Row]) -> list[Measures]:
    """What each strategy scores above ½ against the reference, the best first; the intervals hold all at once."""
    comparisons = []
    for strategy in plan.strategies:
        scores = _by_deal(_games_of(strategy, plan, rows))
        gain = estimate([score - 0.5 for score in scores], len(plan.strategies))
        if gain is not None:
            comparisons.append({"strategy": strategy, "gain": gain})
    return sorted(comparisons, key=lambda each: -each["gain"].mean)


def _games_of(strategy: str, plan: Plan, rows: Iterable[Row]) -> list[Row]:
    """The games of a strategy with the plan's iterations."""
    player = str(entrant(strategy, plan.iterations))
    return [row for row in rows if row["player"] == player]


def _by_deal(rows: Iterable[Row]) -> list[float]:
    """The mean score of both sides of each deal."""
    scores: dict[int, list[float]] = {}
    for row in rows:
        scores.setdefault(row["deal"], []).append(row["score"])
    return [float(np.mean(each)) for each in scores.values() if len(each) == 2]


def rates(plan: Plan, even: Sequence[Row], rows: Sequence[Row]) -> dict[str, float]:
    """Iterations a second of each strategy, in the mean over its decisions."""
    iterations, seconds = (sum(row["work"][i] for row in even) for i in (0, 1))
    rate_of = {REFERENCE: iterations / seconds} if seconds else {}
    for strategy in plan.strategies:
        spent = [row["seconds_per_decision"] for row in _games_of(strategy, plan, rows)]
        if sum(spent):
            rate_of[strategy] = plan.iterations * len(spent) / sum(spent)
    return rate_of
