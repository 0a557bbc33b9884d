"""`icarus describe`: one page on what a game is like, its audit included. The games are kept, and the same command goes on.

The games are played in rounds, so that every question has had its share.
"""

import contextlib
import itertools
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import attrs
import msgspec
import numpy as np
import typer

from icarus.arena.ledger import Ledger, Row, check_settings, write_settings, written_whole
from icarus.arena.match import load_game, names_in, work_of
from icarus.arena.player import Configuration, Entrant, read_configuration
from icarus.arena.workers import workers as start_workers
from icarus.audit import AuditReport, audit
from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of, show_compilation
from icarus.commands.options import directory_option, integer_option, real_option, value_option
from icarus.discovery.race import KEY, difference
from icarus.engine.match import FILE as LEVEL_FILE
from icarus.engine.match import Decision, Player, play
from icarus.engine.result import Result
from icarus.engine.search import SearchResult, SeatedPlayer
from icarus.kernel.game import AnyGame, seat_name
from icarus.kernel.python_game import PythonGame
from icarus.kernel.state import State
from icarus.ladder.ladders import ZERO, Rating, level_rows, play_game, posterior, seconds_per_decision, side_score
from icarus.load_files import digest_of
from icarus.views.boards import drawing
from icarus.views.canvas import intervals_svg
from icarus.views.document import Block, Heading, Paragraph, Picture, Preformatted, Table, html

AUDIT, PLAN, GAMES, PAGE, JSON = "audit.json", "plan.json", "games.jsonl", "report.html", "report.json"
AUDITED, PLAIN_AUDITED = 4, 10  # games of the audit; of one in plain Python
DRAWS, FEWEST_DRAWS, MOST_DRAWS = 12_000, 50, 600  # of the whole audit, about; and for each decision
BATCH = 4  # games of a worker between two looks at the clock
KINDS = ("random play", "search against itself", "levels", "strategies", "commented")
RANDOM, EVEN, LEVELS, STRATEGIES, COMMENTED = KINDS
SHARES = tuple(2.0**step for step in range(-5, 3))  # of the iterations: the players of the levels, beside random play
LEAST_ITERATIONS = round(1 / SHARES[0])  # so that the first level has one
POOL = ("RAVE", "GRAVE", "PROGRESSIVE_HISTORY", "BASELINE >> MAST", "BASELINE >> NAST2", "BASELINE >> LGRF")
REFERENCE = "BASELINE"
RANDOM_GAMES, EVEN_GAMES = 5, 2  # of a round
TRIED, FEWEST, MOST = 64, 64, 1000  # iterations: of the game that is timed, and of the others
SECONDS = 0.25  # that a game is to take
STRATEGY_HELP = "Strategy to compare with BASELINE. Repeatable; a few from the catalogue if not given."
Measures = dict[str, Any]


def describe_command(
    game: options.GameName,
    minutes: Annotated[float, real_option("MINUTES", "Minutes to play games for, this time.", min=0)] = 5.0,
    rounds: Annotated[int, integer_option("Deals of each pair of players, at most.", min=1)] = 200,
    iterations: Annotated[
        int | None,
        integer_option(
            "Iterations per decision; by default, so many that a game takes a quarter of a second.",
            min=LEAST_ITERATIONS,
        ),
    ] = None,
    strategies: Annotated[list[str] | None, value_option("STRATEGY", STRATEGY_HELP, "--strategy")] = None,
    seed: options.Seed = 0,
    workers: Annotated[int, integer_option("Processes to play games in.", min=1)] = 1,
    to: Annotated[
        Path | None,
        directory_option(
            "DIR", "Directory of the games and the page, where the same command continues; report-GAME if not given."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print all measures as JSON.")] = False,
    own_files: options.With = None,
) -> None:
    """Describe a game on one page, from games played by agents.

    Length, choices, seats, skill, eight levels, enhancements, and a game with comments. The games are kept: Ctrl-C loses nothing, and
    the same command continues.
    """
    loaded, _, own_files = options.load_game(game, own_files)
    files = tuple(map(str, own_files))
    directory = to or Path(f"report-{loaded.name}")
    chosen = tuple(strategies or (*POOL, *(["BASELINE >> EPIC"] if loaded.episode is not None else [])))
    number = iterations or _iterations_of(directory)
    plan = Plan(str(loaded), files, digest_of(*files), number, chosen, seed)
    check_settings(directory / PLAN, attrs.asdict(plan), "report", directory / GAMES)
    report = _audit_once(loaded, directory, plan)
    measures, interrupted = None, False
    if report.passed:
        with show_compilation():
            plan = plan.tried(loaded)
        check_settings(directory / PLAN, attrs.asdict(plan), "report", directory / GAMES)
        write_settings(directory / PLAN, attrs.asdict(plan))
        rows, interrupted = _play(plan, directory, rounds, 60 * minutes, workers)
        measures = measures_of(plan, loaded, rows)
        if measures["levels"]:
            _write(directory / LEVEL_FILE, _json({"games": {plan.game: measures["levels"]}}))
    checks = {check.name: check.outcome for check in report.checks}
    content = _json({"audit": {"outcome": report.outcome, "checks": checks}, **(measures or {})})
    _write(directory / PAGE, html(f"{loaded}: what the game is like", list(page_of(report, measures))))
    _write(directory / JSON, content)
    print_text(content if as_json else "\n".join(sentences(report, measures)))
    print_note(f"{directory / PAGE}{'; run the same command to continue' if report.passed else ''}")
    if interrupted or not report.passed:
        raise typer.Exit(options.INTERRUPTED if interrupted else options.FAILED)


def _iterations_of(directory: Path) -> int:
    """The iterations of the report in a directory; 0 where there is none, or none that can be read."""
    with contextlib.suppress(OSError, ValueError):
        return msgspec.json.decode((directory / PLAN).read_bytes(), type=Plan).iterations
    return 0


def _audit_once(game: AnyGame, directory: Path, plan: "Plan") -> AuditReport:
    """The audit of a game; that of an earlier call where the file of the game and the seed are the same."""
    path, origin = directory / AUDIT, {"game": plan.game, "digest": plan.digest, "seed": plan.seed}
    with contextlib.suppress(OSError, ValueError, KeyError):  # there is none, or none that can be read
        content = msgspec.json.decode(path.read_bytes(), type=dict[str, Any])
        if content["of"] == origin:
            return msgspec.convert(content["report"], AuditReport)
    report = _audit(game, plan.seed)
    directory.mkdir(parents=True, exist_ok=True)
    _write(path, _json({"of": origin, "report": report}))
    return report


def _audit(game: AnyGame, seed: int) -> AuditReport:
    is_plain = isinstance(game, PythonGame)
    games, draws = PLAIN_AUDITED if is_plain else AUDITED, dict[str, Any]()
    with show_compilation(), progress_of("audit", games) as show:
        if not is_plain:
            decisions = audit(game, games=1, determinizations=1, seed=seed).decisions
            draws["determinizations"] = min(MOST_DRAWS, max(FEWEST_DRAWS, DRAWS // (AUDITED * max(1, decisions))))
        return audit(game, games=games, seed=seed, progress=lambda number, _: show(number), **draws)


def _play(plan: "Plan", directory: Path, rounds: int, seconds: float, workers: int) -> tuple[list[Row], bool]:
    """Play until the time or the rounds are up, or Ctrl-C; the rows of all games, those of earlier calls too, and whether it was Ctrl-C."""
    deadline, interrupted = time.monotonic() + seconds, False
    with (
        start_workers(workers) as playing,
        Ledger(directory / GAMES, KEY) as ledger,
        show_compilation(),
        progress_of("seconds", round(seconds)) as show,
    ):
        try:
            tasks = ((number, task) for number in range(rounds) for task in plan.round(number))
            while batch := list(itertools.islice(tasks, BATCH * workers)):
                ledger.play([task for _, task in batch], plan.play, playing)
                remaining = deadline - time.monotonic()
                description = f"round {batch[-1][0] + 1}, {len(ledger.rows)} games; seconds"
                show(round(seconds - remaining), description=description)
                if remaining < 0:
                    break
        except KeyboardInterrupt:
            print_note(f"stopped after {len(ledger.rows)} games; run the same command to continue")
            interrupted = True
        return list(ledger.rows.values()), interrupted


def _write(path: Path, text: str) -> None:
    with written_whole(path) as file:
        file.write(text.encode())


def _json(content: object) -> str:
    return json.dumps(content, default=attrs.asdict, ensure_ascii=False, indent=1) + "\n"


# -------------------------------------------------------------------------------------------------------------------- games


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
        iterations: of each decision in even games and of strategies; 0 until a game has been timed.
        strategies: each is compared with REFERENCE.
        seed: from which all games follow.
    """

    game: str
    files: tuple[str, ...]
    digest: str
    iterations: int
    strategies: tuple[str, ...]
    seed: int

    def tried(self, game: AnyGame) -> "Plan":
        """The plan, of which a game was tried with each strategy; with as many iterations as a game of SECONDS allows, if it has none.

        Raises:
            ValueError: a strategy cannot be read, or cannot play this game.
        """
        names = names_in(self.files)
        for strategy in self.strategies:  # compiles what is needed, and refuses what does not fit
            play(game, [Entrant(read_configuration(strategy), 4).player(names)] * game.players)
        if self.iterations:
            return self
        player = Entrant(Configuration(REFERENCE), TRIED).player(names)
        log = play(game, [player] * game.players, seed=self.seed)
        return attrs.evolve(self, iterations=int(np.clip(TRIED * SECONDS / max(log.seconds, 1e-6), FEWEST, MOST)))

    def entrants(self) -> list[Entrant]:
        """The players of the levels, the weakest first."""
        return [Entrant(), *(Entrant(Configuration(REFERENCE), round(self.iterations * share)) for share in SHARES)]

    def round(self, number: int) -> list[Task]:
        """The games of a round."""
        even, levels = Entrant(Configuration(REFERENCE), self.iterations), self.entrants()
        tasks = [Task(RANDOM, Entrant(), Entrant(), number * RANDOM_GAMES + i) for i in range(RANDOM_GAMES)]
        tasks += [Task(EVEN, even, even, number * EVEN_GAMES + i) for i in range(EVEN_GAMES)]
        pairs = [(LEVELS, strong, weak) for weak, strong in itertools.pairwise(levels)]
        pairs += [(STRATEGIES, Entrant(read_configuration(each), self.iterations), even) for each in self.strategies]
        tasks += [Task(*pair, number, side) for pair in pairs for side in (0, 1)]
        return tasks if number else [*tasks, Task(COMMENTED, levels[-1], levels[-1], 0)]

    def play(self, task: Task) -> Row:
        """Play a game: the same one whenever and wherever."""
        names, game = names_in(self.files), load_game(self.game, self.files)
        seed = self.seed, KINDS.index(task.kind), task.number
        player, opponent = task.player.player(names), task.opponent.player(names)
        row: Row = dict(zip(KEY, task.key, strict=True))
        if task.kind in (RANDOM, EVEN, COMMENTED):
            played = commented_game if task.kind == COMMENTED else self_play
            return row | played(game, Observed(player.seated(game)), seed)
        if game.players == 1:
            return row | play_alone(game, player, opponent, (*seed, task.side))
        result = play_game(game, player, opponent, seed=seed, side=task.side)
        return row | {key: result[key] for key in ("score", "returns", "seconds_per_decision")}


class Observed:
    """A player whose last search is kept, so that more is known of it than `play` notes."""

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


def play_alone(game: AnyGame, player: Player, opponent: Player, seed: tuple[int, ...]) -> Row:
    """A game of one player, played by each of two with the same chance: the score is the first one's share of both rewards."""
    logs = [play(game, [each], seed=seed) for each in (player, opponent)]
    returns = [log.returns[0] for log in logs]
    seconds = seconds_per_decision(logs[0].decisions)
    return {"score": side_score(returns, (True, False)), "returns": returns, "seconds_per_decision": seconds}


def self_play(game: AnyGame, player: Observed, seed: tuple[int, ...]) -> Row:
    """A game of a player with himself: of each decision who made it, after how many actions, among how many, its value and its stake."""
    decisions: list[list[float | None]] = []

    def watch(state: State, action: int | None, decision: Decision | None) -> None:
        if decision is not None:
            estimate = [round(decision.value, 4), round(player.stake(), 4)] if decision.iterations else [None, None]
            decisions.append([decision.player, len(state.history), decision.legal, *estimate])

    log = play(game, [player] * game.players, seed=seed, watch=watch)
    work = work_of(each for each in log.decisions if each.iterations)
    return {"returns": list(log.returns), "length": len(log.actions), "decisions": decisions, "work": work}


PICTURES = 4  # of the decisions that mattered most, beside the end
CLOSE = 0.15  # of the visits: two actions that differ by less are both good
STAKE, SWING = 0.15, 0.1  # of reward: from there a decision matters, and prospects have changed


def commented_game(game: AnyGame, player: Observed, seed: tuple[int, ...]) -> Row:
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
            stake, comments = player.stake(), list(_comments(player.result, player.stake(), prospects.get(seat)))
            step |= {"value": round(decision.value, 3), "stake": round(stake, 3), "comment": "; ".join(comments)}
            prospects[seat] = decision.value
        steps.append(step)

    log = play(game, [player] * game.players, seed=seed, watch=watch)
    stakes = np.array([step.get("stake", -1.0) for step in steps])
    most = [int(i) for i in np.argsort(-stakes, kind="stable")[:PICTURES] if stakes[i] >= 0]
    drawings = {str(i): pictures[i] for i in sorted({*most, len(steps)})}
    return {"steps": steps, "pictures": drawings, "returns": list(log.returns)}


def _comments(result: Result, stake: float, before: float | None) -> Iterator[str]:
    """What there is to say of a decision."""
    order = np.argsort(-result.visits, kind="stable")
    if len(order) > 1 and result.policy[order[0]] - result.policy[order[1]] < CLOSE:
        yield f"{result.state.action_to_string(result.actions[order[1]])} is about as good"
    if stake >= STAKE:
        yield f"a decision that matters: the average action is worth {stake:.2f} less"
    if before is not None and abs(result.value - before) >= SWING:
        change = "rise" if result.value > before else "fall"
        yield f"prospects {change} from {before:.2f} to {result.value:.2f}"


# ---------------------------------------------------------------------------------------------------- what the games come to


CONFIDENCE = 0.95
PARTS = 10  # of a game's course
AHEAD = 0.05  # of reward: who expects so much more than the leader takes the lead


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


def measures_of(plan: Plan, game: AnyGame, rows: Sequence[Row]) -> Measures:
    """All measures, as JSON can hold them once `attrs.asdict` has met the estimates."""
    games = {kind: [row for row in rows if row["stream"] == kind] for kind in KINDS}
    *_, weaker, stronger = plan.entrants()
    scores = _by_deal(row for row in games[LEVELS] if row["player"] == str(stronger))
    return {
        "plan": attrs.asdict(plan),
        "course": {kind: course(game, games[kind]) for kind in (RANDOM, EVEN)},
        "tension": tension(game.players, games[EVEN]),
        "skill": {"player": str(stronger), "opponent": str(weaker), "score": estimate(scores)},
        "levels": levels(plan, games[LEVELS]),
        "strategies": strategies(plan, games[STRATEGIES]),
        "rates": rates(plan, games[EVEN], games[STRATEGIES]),
        "commented": next(iter(games[COMMENTED]), None),
    }


def course(game: AnyGame, rows: Sequence[Row]) -> Measures:
    """How games go: length, choices, draws, and what each seat gets."""
    if not rows:
        return {"games": 0}
    lengths, several = np.array([row["length"] for row in rows]), game.players > 1
    choices = np.array([decision[2] for row in rows for decision in row["decisions"]] or [1])
    returns = np.array([row["returns"] for row in rows])
    best = returns == returns.max(1, keepdims=True)
    draws = best.all(1)
    return {
        "games": len(rows),
        "length": {"mean": float(lengths.mean()), "deviation": float(lengths.std())},
        "shortest": int(lengths.min()),
        "longest": int(lengths.max()),
        "decisions": len(choices) / len(rows),
        "choices": {"mean": float(choices.mean()), "median": float(np.median(choices)), "most": int(choices.max())},
        "choices_by_part": by_part(rows, 2),
        "forced": float((choices == 1).mean()),
        "tree": float(np.log10(choices).sum() / len(rows)),
        "draws": estimate(draws.astype(float)) if several else None,
        "seats": [
            {
                "name": seat_name(game, seat),
                "reward": estimate(returns[:, seat], game.players),
                "best": estimate((best[:, seat] & ~draws).astype(float), game.players) if several else None,
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
    points = [known_from(row, lead) for row, lead in courses if row["returns"].count(max(row["returns"])) == 1]
    stakes = [[decision[4] for decision in row["decisions"] if decision[4] is not None] for row in rows]
    quartiles = np.quantile(points, (0.25, 0.5, 0.75)).tolist() if points else []
    return {
        "changes": estimate([max(0, len(lead) - 1) for _, lead in courses], least=0, most=math.inf),
        "known": {"quartiles": quartiles, "games": len(points)} if points else None,
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


def levels(plan: Plan, rows: Sequence[Row]) -> list[Measures]:
    """The levels of the game, see `icarus.engine.match`; none without games."""
    if not rows:
        return []
    zero, *players = plan.entrants()
    scores = [(row["player"], row["opponent"], row["score"]) for row in rows]
    agents = {str(each): {"strategy": str(each.configuration), "iterations": each.iterations} for each in players}
    return level_rows(agents, posterior(scores, {str(zero): ZERO}, map(str, players)), str(zero))


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
    player = str(Entrant(read_configuration(strategy), plan.iterations))
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


# ------------------------------------------------------------------------------------- a page that needs no network, and sentences


NO_GAMES = Paragraph("No game has been played yet.")


def sentences(report: AuditReport, measures: Measures | None) -> list[str]:
    """The report in short; without measures, of a game that the audit refuses."""
    if measures is None:
        failed = ", ".join(report.failed)
        return [f"The audit failed ({failed}). Nothing was played: correct the game first; run icarus check."]
    unchecked = f"; not checked: {', '.join(report.unchecked)}" if report.unchecked else ""
    return [f"The audit passed{unchecked}.", *_of_course(measures["course"][EVEN]), *_of_skill(measures)]


def _of_course(game: Measures) -> Iterator[str]:
    if not game["games"]:
        return
    seats = game["seats"]
    yield (
        f"A game has {game['length']['mean']:.1f} actions ({game['shortest']} to {game['longest']}) and {game['decisions']:.1f} decisions, "
        f"with {game['choices']['mean']:.1f} choices each; {game['forced']:.0%} of them are forced."
    )
    if game["draws"] is None:  # of one player
        yield f"The mean reward is {seats[0]['reward']}."
        return
    yield f"{percent(game['draws'])} of the games are drawn."
    mean = float(np.mean([seat["reward"].mean for seat in seats]))
    unequal = [seat for seat in seats if not seat["reward"].low <= mean <= seat["reward"].high]
    for seat in unequal:
        word = "an advantage" if seat["reward"].mean > mean else "a disadvantage"
        yield f"The seat of {seat['name']} is {word}: a mean reward of {seat['reward']}."
    if not unequal:
        most = max(max(seat["reward"].high - mean, mean - seat["reward"].low) for seat in seats)
        yield f"No seat has a significant advantage; one of {most:.2f} in mean reward would be significant."


def _of_skill(measures: Measures) -> Iterator[str]:
    tension, skill, score = measures["tension"], measures["skill"], measures["skill"]["score"]
    if tension["known"]:
        yield f"In half of the games the winner takes the final lead before {tension['known']['quartiles'][1]:.0%} of the game."
    if tension["changes"]:
        yield f"The lead changes {tension['changes']} times in a game."
    if tension["stake"]:
        yield f"A decision is worth {tension['stake']} of reward: the value of the chosen action minus the mean value of the legal actions."
    if score:
        word = "Longer searches play better" if score.low > 0.5 else "Longer searches are not shown to play better"
        yield f"{word}: {skill['player']} score {percent(score)} against {skill['opponent']}."
    better = [each for each in measures["strategies"] if each["gain"].low > 0]
    names = ", ".join(f"{each['strategy']} ({each['gain'].mean:+.3f})" for each in better)
    if measures["strategies"]:
        none = f"No enhancement is shown to be better than {REFERENCE}."
        yield f"Better than {REFERENCE}: {names}." if names else none
    if REFERENCE in measures["rates"]:
        yield f"A search makes {measures['rates'][REFERENCE]:,.0f} iterations a second."


def percent(estimate: Estimate | None) -> str:
    """A share with its interval, in percent."""
    if estimate is None:
        return "–"
    return f"{estimate.mean:.0%} [{max(0, estimate.low):.0%}, {min(1, estimate.high):.0%}]"


def page_of(report: AuditReport, measures: Measures | None) -> Iterator[Block]:
    """The page."""
    yield Heading("In short")
    yield from map(Paragraph, sentences(report, measures))
    sections: dict[str, Callable[[Measures], Iterator[Block]]] = {
        "How games go": _course,
        "Levels": _levels,
        "Enhancements": _strategies,
        "A game with comments": _commented,
    }
    for title, part in sections.items() if measures is not None else ():
        yield Heading(title)
        yield from list(part(measures or {})) or [NO_GAMES]
    yield Heading("Audit")
    yield Preformatted(str(report))


def _course(measures: Measures) -> Iterator[Block]:
    """How long games are, how much there is to choose, and what seats get: in random play and where a search plays itself."""
    games = {kind: game for kind, game in measures["course"].items() if game["games"]}
    if not games:
        return
    columns = [_cells_of(game) for game in games.values()]
    yield Table("", ["measure", *games], [[name, *(cells[name] for cells in columns)] for name in columns[0]])
    courses = {f"choices, {kind}": game["choices_by_part"] for kind, game in games.items()}
    courses["reward that a decision is worth"] = measures["tension"]["stake_by_part"]
    header = ["by tenths of the game", *(f"– {part + 1}0 %" for part in range(PARTS))]
    rows = [[name, *("" if mean is None else f"{mean:.3g}" for mean in each)] for name, each in courses.items()]
    yield Table("", header, rows)
    yield Paragraph(
        "The searches of the players decide who leads, each by what its player may observe: the leader expects the highest "
        f"reward, and a player who expects {AHEAD} more takes the lead."
    )


def _cells_of(game: Measures) -> dict[str, str]:
    """What the table says of games of one kind, by the names of its rows."""
    cells = {
        "games": f"{game['games']:,}",
        "actions": f"{game['length']['mean']:.1f} ± {game['length']['deviation']:.1f}",
        "decisions": f"{game['decisions']:.1f}",
        "choices of a decision, mean": f"{game['choices']['mean']:.1f}",
        "the most choices": str(game["choices"]["most"]),
        "forced decisions": f"{game['forced']:.0%}",
        "size of the game tree, about": f"10^{game['tree']:.0f}",
        "drawn games": percent(game["draws"]),
    }
    for seat in game["seats"]:
        cells |= {f"mean reward of {seat['name']}": str(seat["reward"]), f"{seat['name']} wins": percent(seat["best"])}
    return cells


def _levels(measures: Measures) -> Iterator[Block]:
    levels, plan = measures["levels"], measures["plan"]
    if not levels:
        return
    names = [f"level {level['level']}: {level['agent']['iterations']:,} iterations" for level in levels]
    yield Paragraph(
        f"Each level is {REFERENCE} with twice the iterations of the one below; the first stands above random play. "
        "To play against a level, where DIR is the directory of this page:"
    )
    name = plan["files"][-1] if plan["files"] else plan["game"]
    yield Preformatted(f"icarus play {name} --level 3 --levels DIR")
    ratings = [Rating(level["elo"], level["low"], level["high"]) for level in levels]
    steps = [Rating(level["step"]["elo"], level["step"]["low"], level["step"]["high"]) for level in levels]
    games = [str(level["games"]) for level in levels]
    rows = [list(map(str, row)) for row in zip(names, ratings, steps, games, strict=True)]
    yield Table("", ["level", "Elo", "above the one below", "games"], rows)
    marks = {name: (each.value, each.low, each.high) for name, each in zip(names, ratings, strict=True)}
    picture = intervals_svg("rating in Elo, random play at 0", dict(reversed(marks.items())))
    yield Picture(picture, f"Levels, {names[0]} to {names[-1]}")


def _strategies(measures: Measures) -> Iterator[Block]:
    results, rates, plan = measures["strategies"], measures["rates"], measures["plan"]
    if not results:
        return
    alone = len(measures["course"][EVEN].get("seats", ())) == 1
    how = "is compared with {}, each alone and with the same chance" if alone else "plays {}, both sides of each deal"
    budget = f"{plan['iterations']:,} iterations for each decision"
    yield Paragraph(f"Each {how.format(REFERENCE)}, with {budget}. The intervals are simultaneous.")
    rows = [
        [each["strategy"], str(each["gain"]), str(2 * each["gain"].number), f"{rates.get(each['strategy'], 0):,.0f}"]
        for each in results
    ]
    rows.append([REFERENCE, "0", "–", f"{rates.get(REFERENCE, 0):,.0f}"])
    yield Table("", ["strategy", "score above ½", "games", "iterations a second"], rows)
    marks = {each["strategy"]: (each["gain"].mean, each["gain"].low, each["gain"].high) for each in results}
    yield Picture(intervals_svg("score above ½", marks), f"Score above ½ against {REFERENCE}")


def _commented(measures: Measures) -> Iterator[Block]:
    game = measures["commented"]
    if game is None:
        return
    rows = [
        [str(number), *(str(step.get(name, "")) for name in ("player", "action", "value", "comment"))]
        for number, step in enumerate(game["steps"], 1)
    ]
    yield Table("", ["no.", "player", "action", "value", "comment"], rows)
    yield Paragraph(f"Rewards: {', '.join(f'{reward:g}' for reward in game['returns'])}.")
    for index, svg in game["pictures"].items():
        step = game["steps"][int(index)] if int(index) < len(game["steps"]) else None
        yield Picture(svg, f"before {int(index) + 1}: {step['player']} plays {step['action']}" if step else "the end")
