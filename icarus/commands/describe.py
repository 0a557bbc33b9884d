"""`icarus describe`: one page on what a game is like, its audit included. The games are kept, and the same command goes on.

The games are played in rounds, so that every question has had its share.
"""

import itertools
import json
import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import attrs
import numpy as np
import typer

from icarus.algebra.parsing import Operand
from icarus.arena.ledger import GameRow, Ledger, check_settings, write_settings, write_whole
from icarus.arena.match import Match, load_unedited
from icarus.arena.player import EVALUATION, Entrant, read_entrant
from icarus.arena.workers import workers as start_workers
from icarus.audit import AuditReport
from icarus.checks import count_text, real
from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of
from icarus.commands.new import KEPT, audited
from icarus.commands.options import integer_option, value_option
from icarus.discovery.race import KEY
from icarus.engine.match import FILE as LEVEL_FILE, Agent, conditions_of, play
from icarus.kernel.game import AnyGame, Game, seat_name
from icarus.ladder.ladders import (
    EVEN_PAIRS,
    LEVEL_STEP,
    OPENING,
    Rating,
    expected,
    fitted,
    level_rows,
    on_side,
    score_of,
    side_score,
)
from icarus.learning.generations import JUDGE
from icarus.load_files import digest_of
from icarus.statistics import CONFIDENCE, Estimate, mean_of
from icarus.views.document import Block, Heading, Paragraph, Preformatted, Table, html, text_of

PLAN = "plan.json"
GAMES = "games.jsonl"
PAGE = "report.html"
JSON = "report.json"
AUDITED, PLAIN_AUDITED = 4, 10  # games of the audit; of one in plain Python
# of the whole audit, about; and for each decision
DRAWS = 12_000
FEWEST_DRAWS = 50
MOST_DRAWS = 600
BATCH = 4  # games of a worker between two looks at the clock
KINDS = ("random play", "search against itself", "levels", "strategies")
RANDOM, EVEN, LEVELS, STRATEGIES = KINDS
# of the iterations: the players of the levels, beside random play
SHARES = tuple(2.0**step for step in range(-5, 3))
LEAST_ITERATIONS = round(1 / SHARES[0])  # so that the first level has one
POOL = (
    "RAVE",
    "GRAVE",
    "PROGRESSIVE_HISTORY",
    "BASELINE >> MAST",
    "BASELINE >> NAST2",
    "BASELINE >> LGRF",
)
REFERENCE = "BASELINE"
RANDOM_GAMES, EVEN_GAMES = 5, 2  # of a round
STRATEGY_HELP = (
    "Strategy to compare with BASELINE. Repeatable; a few from the catalogue if not given."
)
DIRECTORY_HELP = "Directory of the games and the page, where the same command continues; describe-GAME if not given."
NOTE = (
    "Searches make {:,} iterations for each decision where nothing is said. The seat that is first gets a point; if several are first, "
    "they share it. A strategy plays both sides of each deal. The intervals of all seats hold at once, and so do those of all strategies. "
    "A unit is a game; of a strategy, a deal."
)
Measures = dict[str, Any]


def describe_command(
    game: options.GameName,
    minutes: Annotated[
        float, value_option("MINUTES", "Minutes to play games for, this time.", min=0)
    ] = 5.0,
    rounds: Annotated[int, integer_option("Deals of each pair of players, at most.")] = 200,
    iterations: Annotated[
        int, integer_option("Iterations per decision.", min=LEAST_ITERATIONS)
    ] = 128,
    strategies: Annotated[
        list[str] | None, value_option("STRATEGY", STRATEGY_HELP, "--strategy")
    ] = None,
    seed: options.Seed = 0,
    workers: options.Processes = 1,
    to: Annotated[Path | None, value_option("DIR", DIRECTORY_HELP, file_okay=False)] = None,
    own_files: options.With = None,
    evaluation: options.Learned = None,
) -> None:
    """Describe a game on one page, from games played by agents.

    Length, choices, seats, levels and enhancements. The games are kept: Ctrl-C loses nothing, and the same command continues.
    """
    real("--minutes", minutes, 0)
    source = options.chosen_game(game, own_files, evaluation)
    loaded, files = source.game, tuple(map(str, source.files))
    directory = to or Path(f"describe-{loaded.name}")
    if not strategies:
        strategies = [*POOL]
        if loaded.episode is not None:
            strategies.append("BASELINE >> EPIC")
    plan = Plan(str(loaded), files, digest_of(*files), iterations, tuple(strategies), seed)
    check_settings(directory / PLAN, attrs.asdict(plan), "report", directory / GAMES)
    # what cannot be read or searched is refused before the audit, what cannot play here after it
    agents = _agents(strategies, source.names, iterations)
    began = time.monotonic()
    report = _audit(loaded, files, seed)
    measures, interrupted = None, False
    print_note(f"the audit took {time.monotonic() - began:.0f} s of the {minutes:g} minutes")
    if report.passed:
        try:
            with progress_of("strategies that are tried", len(agents)) as show:
                for number, agent in enumerate(agents):
                    show(number)
                    brief = attrs.evolve(agent, iterations=max(4, agent.scheme.trees))
                    play(loaded, [brief] * loaded.players)
        except KeyboardInterrupt:
            print_note(f"stopped before the first game; {KEPT}")
            raise typer.Exit(options.INTERRUPTED) from None
        write_settings(directory / PLAN, attrs.asdict(plan))
        rows, interrupted, pace = _play(plan, directory, rounds, began + 60 * minutes, workers)
        measures = measures_of(plan, loaded, rows, pace)
        (directory / LEVEL_FILE).unlink(missing_ok=True)
        if measures["levels"]:
            levels_there = {plan.game: measures["levels"]}
            measured = {"games": levels_there, "measured_with": conditions_of(loaded)}
            write_whole(directory / LEVEL_FILE, _json(measured))
    directory.mkdir(parents=True, exist_ok=True)
    checks = {check.name: check.outcome for check in report.checks}
    blocks = list(page_of(report, measures))
    write_whole(directory / PAGE, html(f"{loaded}: what the game is like", blocks))
    write_whole(
        directory / JSON,
        _json({"audit": {"outcome": report.outcome, "checks": checks}, **(measures or {})}),
    )
    print_text(text_of(blocks))
    print_note(f"{directory / PAGE}{'; run the same command to continue' if report.passed else ''}")
    if interrupted:
        raise typer.Exit(options.INTERRUPTED)
    if not report.passed:
        raise typer.Exit(options.FAILED)


def _agents(
    strategies: Iterable[str], names: Mapping[str, Operand], iterations: int
) -> list[Agent]:
    """The agents of the strategies.

    Raises:
        ValueError: one cannot be read, has too few iterations, is given twice, or is the reference.
    """
    agents = list[Agent]()
    reasons = {REFERENCE: "what each strategy is compared with"}
    for entrant in map(read_entrant, strategies):
        agent = entrant.agent(names, iterations=iterations)
        written = attrs.evolve(entrant, strategy=str(agent.strategy), scheme=str(agent.scheme))
        if why := reasons.get(str(written)):
            raise ValueError(f"--strategy {entrant} is {why}; leave it out")
        reasons[str(written)] = "given twice"
        agents.append(agent)
    return agents


def _audit(game: AnyGame, files: Sequence[str], seed: int) -> AuditReport:
    """A short audit of a game; of a compiled one with about `DRAWS` determinizations."""
    if not isinstance(game, Game):
        return audited(game, files, seed, PLAIN_AUDITED)
    draws = DRAWS // (AUDITED * game.max_length)
    return audited(game, files, seed, AUDITED, min(MOST_DRAWS, max(FEWEST_DRAWS, draws)))


def _play(
    plan: "Plan", directory: Path, rounds: int, deadline: float, workers: int
) -> tuple[list[GameRow], bool, float]:
    """Play until the time or the rounds are up, or Ctrl-C, at least once.

    Returns:
        The rows of all games, also of earlier calls; whether Ctrl-C has ended it; the seconds of a round, 0 if no game was played.
    """
    began, interrupted = time.monotonic(), False
    seconds = round(max(0.0, deadline - began))
    with (
        start_workers(workers) as playing,
        Ledger(directory / GAMES, KEY) as ledger,
        progress_of("seconds", seconds) as show,
    ):
        earlier = len(ledger.rows)
        try:
            games = ((number, match) for number in range(rounds) for match in plan.round(number))
            while batch := list(itertools.islice(games, BATCH * workers)):
                ledger.play([match for _, match in batch], report_row, playing)
                now = time.monotonic()
                description = f"round {batch[-1][0] + 1}, {len(ledger.rows)} games; seconds"
                show(round(now - began), description=description)
                if now > deadline:
                    break
        except KeyboardInterrupt:
            print_note(f"stopped after {len(ledger.rows)} games; run the same command to continue")
            interrupted = True
        new_rounds = (len(ledger.rows) - earlier) / len(plan.round(0))
        pace = (time.monotonic() - began) / new_rounds if new_rounds else 0.0
        return list(ledger.rows.values()), interrupted, pace


def _json(content: object) -> str:
    return json.dumps(content, default=attrs.asdict, ensure_ascii=False, indent=1) + "\n"


# -------------------------------------------------------------------------------------------------------------------- games


@attrs.frozen
class Plan:
    """What a report plays; each of its games follows from it.

    Attributes:
        game: with its parameters.
        own_files: the file of the game, and that of an evaluation, if there are any.
        digest: of these files: games by other rules do not count.
        iterations: of each decision in even games and of strategies.
        strategies: each is compared with REFERENCE.
        seed: from which all games follow.
    """

    game: str
    own_files: tuple[str, ...]
    digest: str
    iterations: int
    strategies: tuple[str, ...]
    seed: int

    @property
    def leveled(self) -> Entrant:
        """The player whose strengths the levels are: the reference, or with a learned evaluation the player that reads it."""
        is_learned = any(file.endswith(EVALUATION) for file in self.own_files)
        return JUDGE if is_learned else Entrant(REFERENCE)

    def entrants(self) -> list[Entrant]:
        """The players of the levels, the weakest first."""
        return [
            Entrant(),
            *(attrs.evolve(self.leveled, iterations=round(self.iterations * s)) for s in SHARES),
        ]

    def entrant(self, strategy: str) -> Entrant:
        """The player of a strategy."""
        return attrs.evolve(read_entrant(strategy), iterations=self.iterations)

    def round(self, number: int) -> list[Match]:
        """The games of a round."""
        even, levels = self.entrant(REFERENCE), self.entrants()
        matches = [
            self.match(RANDOM, Entrant(), Entrant(), number * RANDOM_GAMES + i)
            for i in range(RANDOM_GAMES)
        ]
        matches += [
            self.match(EVEN, even, even, number * EVEN_GAMES + i) for i in range(EVEN_GAMES)
        ]
        pairs = [(LEVELS, strong, weak) for weak, strong in itertools.pairwise(levels)]
        pairs += [(STRATEGIES, self.entrant(each), even) for each in self.strategies]
        return matches + [self.match(*pair, number, side) for pair in pairs for side in (0, 1)]

    def match(
        self, kind: str, player: Entrant, opponent: Entrant, deal: int, side: int = 0
    ) -> Match:
        """One game.

        Args:
            kind: one of KINDS.
            player, opponent: who sits on which side; the same in games of one player with himself.
            deal: its number; both sides are played with the same deal.
            side: of the player, 0 or 1.
        """
        key = (kind, str(player), str(opponent), deal, side)
        files = ((*self.own_files, self.digest),)
        game = load_unedited(self.game, files).game
        seed = self.seed, KINDS.index(kind), deal
        if game.players == 1:
            # Two players play alone, one after the other, and their rewards are compared.
            if player == opponent:
                return Match(key, self.game, (player,), seed, files)
            return Match(key, self.game, (player, opponent), (*seed, side), files)
        entrants = tuple(player if is_player else opponent for is_player in on_side(game, side))
        opening = 0 if kind in (RANDOM, EVEN) else OPENING.get(game.name, 0)
        return Match(key, self.game, entrants, seed, files, opening)


def report_row(match: Match) -> GameRow:
    """Play a game: its part of the row beside the key."""
    if match.key[0] in (RANDOM, EVEN):
        log = match.play()
        choices = [each.legal for each in log.decisions]
        return {"returns": list(log.returns), "length": len(log.actions), "choices": choices}
    if match.loaded.game.players == 1:
        alone = [attrs.evolve(match, entrants=(each,)).play().returns[0] for each in match.entrants]
        return {"score": side_score(alone, (True, False))}
    return {"score": score_of(match, match.play().returns)}


# ---------------------------------------------------------------------------------------------------- what the games come to


def simultaneous(values: Sequence[float], comparisons: int) -> Estimate:
    """The mean of values from 0 to 1; the intervals of `comparisons` such means hold at once."""
    return mean_of(values, 0.0, confidence=1 - (1 - CONFIDENCE) / comparisons)


def measures_of(
    plan: Plan, game: AnyGame, rows: Iterable[GameRow], seconds: float = 0.0
) -> Measures:
    """All measures of the games so far. Means are `Estimate` objects, which `_json` can write.

    Args:
        seconds: that a round takes; 0 if it is not known.
    """
    games: dict[str, list[GameRow]] = {kind: [] for kind in KINDS}
    for row in rows:
        games[row["stream"]].append(row)
    step_rows, no_levels = levels(plan, games[LEVELS], seconds)
    return {
        "plan": attrs.asdict(plan),
        "course": {kind: course(game, games[kind]) for kind in (RANDOM, EVEN) if games[kind]},
        "seats": seats(game, np.array([row["returns"] for row in games[EVEN]])),
        "levels": step_rows,
        "no_levels": no_levels,
        "strategies": strategies(plan, games[STRATEGIES]),
    }


def course(game: AnyGame, rows: Sequence[GameRow]) -> dict[str, str]:
    """How games of one kind go: length, choices, draws, and what each seat gets."""
    lengths = np.array([row["length"] for row in rows])
    returns = np.array([row["returns"] for row in rows])
    choices = np.array([legal for row in rows for legal in row["choices"]] or [1])
    cells = {
        "games": f"{len(rows):,}",
        "actions": f"{lengths.mean():.1f} ± {lengths.std():.1f}, from {lengths.min()} to {lengths.max()}",
        "decisions": f"{len(choices) / len(rows):.1f}",
        "choices of a decision": f"{choices.mean():.1f} in the mean, at most {choices.max()}",
        "forced decisions": f"{(choices == 1).mean():.0%}",
        "size of the game tree, about": f"10^{np.log10(choices).sum() / len(rows):.0f}",
    }
    for seat in range(game.players):
        cells[f"mean reward of {seat_name(game, seat)}"] = str(
            simultaneous(returns[:, seat].tolist(), game.players)
        )
    if game.players > 1:
        is_drawn = returns.max(1) == returns.min(1)
        cells["drawn games"] = f"{mean_of(is_drawn.tolist(), 0.0):.0%}"
        cells |= {
            f"{name} is first": f"{share:.0%}" for name, share in seats(game, returns).items()
        }
    return cells


def seats(game: AnyGame, returns: np.ndarray) -> dict[str, Estimate]:
    """How often each seat is first, by its name; those with the highest reward share a game, so that an equal share is even."""
    if not len(returns) or game.players == 1:
        return {}
    best = returns == returns.max(1, keepdims=True)
    shares = best / best.sum(1, keepdims=True)
    return {
        seat_name(game, i): simultaneous(shares[:, i].tolist(), game.players)
        for i in range(game.players)
    }


def levels(plan: Plan, rows: Sequence[GameRow], seconds: float) -> tuple[list[Measures], str]:
    """The levels of the game, see `icarus.engine.match`, and "", or no levels, and a sentence on how many games would tell some apart."""
    if not rows:
        return [], ""
    if all(row["score"] == 0.5 for row in rows):
        return [], "All games were even, as where rewards are shared, so that there are no levels."
    zero, *players = plan.entrants()
    agents = {str(each): each for each in players}
    # Two games on one deal are the sample; `fitted` knows them by their seed.
    played = [row | {"seed": [row["deal"]]} for row in rows]
    estimate = fitted(played, str(zero), list(agents))
    deals = len({row["deal"] for row in rows})
    if deals >= EVEN_PAIRS and (content := level_rows(agents, estimate, str(zero))):
        return content, ""
    # Half of an interval narrows with the root of the deals. Where it is less than the step, the step is told from 0.
    steps = [estimate.difference(name, str(zero)) for name in agents]
    excess = min(step.half / max(step.value, LEVEL_STEP) for step in steps)
    needed = max(EVEN_PAIRS, math.ceil(deals * excess**2))
    more = f"In {count_text(deals, 'deal')} no level is told from the one below, so that there are none"
    if needed <= deals:
        return (
            [],
            f"{more}: these searches are hardly better than random play. Try more --iterations.",
        )
    minutes = f" --minutes {math.ceil(needed * seconds / 60)}" if seconds else ""
    return [], f"{more}. About {needed} would do: --rounds {needed}{minutes}."


def strategies(plan: Plan, rows: Sequence[GameRow]) -> list[Measures]:
    """What each strategy scores against the reference, the best first; the intervals hold all at once."""
    scores = {strategy: _by_deal(rows, plan.entrant(strategy)) for strategy in plan.strategies}
    comparisons: list[Measures] = [
        {"strategy": strategy, "score": simultaneous(each, len(scores))}
        for strategy, each in scores.items()
        if each
    ]
    return sorted(comparisons, key=lambda each: -each["score"].value)


def _by_deal(rows: Iterable[GameRow], player: Entrant) -> list[float]:
    """A player's mean score in both games of each deal."""
    scores: dict[int, list[float]] = {}
    for row in rows:
        if row["player"] == str(player):
            scores.setdefault(row["deal"], []).append(row["score"])
    return [sum(each) / 2 for each in scores.values() if len(each) == 2]


# -------------------------------------------------------------------------------------------------------------------- the page


def page_of(report: AuditReport, measures: Measures | None) -> Iterator[Block]:
    """The page, which needs no network; without measures, of a game that the audit refuses."""
    if measures is None:
        yield Heading("Audit")
        yield Preformatted(str(report))
        yield Paragraph("Nothing was played: correct the game first; run icarus check.")
        return
    nothing = "No game has been played yet."
    if measures["course"]:
        nothing = "Too few games have been played to say anything."
    for title, part in {"Findings": _findings, "How games go": _course, "Levels": _levels}.items():
        yield Heading(title)
        blocks = list(part(measures))
        yield from blocks or [Paragraph(nothing)]
    yield Heading("Audit")
    yield Preformatted(str(report), str(report).splitlines()[-1])


def _findings(measures: Measures) -> Iterator[Block]:
    """The points of seats, strategies and the highest level: first those whose intervals exclude the even share, by the largest effect."""
    seats, levels = measures["seats"], measures["levels"]
    effects = [
        (name, "search in all seats", 1 / len(seats), share) for name, share in seats.items()
    ]
    effects += [
        (each["strategy"], REFERENCE, 0.5, each["score"]) for each in measures["strategies"]
    ]
    if levels:
        top = levels[-1]
        mean, low, high = (float(expected(top[elo], 0.0)) for elo in ("elo", "low", "high"))
        name = str(Entrant(**top["agent"]))
        effects.append((name, RANDOM, 0.5, Estimate(mean, low, high, top["games"])))
    effects.sort(key=lambda effect: -abs(effect[3].value - effect[2]))
    for caption, is_different in {
        "Different from even, the largest effect first": True,
        "Could be even": False,
    }.items():
        rows = [
            [name, opponent, f"{share:.0%}", f"{even:.0%}", str(share.count)]
            for name, opponent, even, share in effects
            if is_different == (share.low > even or share.high < even)
        ]
        if rows:
            yield Table(
                f"{caption}:", ["who", "against", "gets of the points", "even", "units"], rows
            )
    if effects:
        yield Paragraph(NOTE.format(measures["plan"]["iterations"]))


def _course(measures: Measures) -> Iterator[Block]:
    """How long games are, how much there is to choose, and what seats get: in random play and where a search plays itself."""
    games = measures["course"]
    if games:
        names = next(iter(games.values()))
        rows = [[name, *(cells[name] for cells in games.values())] for name in names]
        yield Table("", ["measure", *games], rows)


def _levels(measures: Measures) -> Iterator[Block]:
    levels = measures["levels"]
    if not levels:
        if reason := measures.get("no_levels"):
            yield Paragraph(reason)
        return
    agent = Entrant(**(levels[0]["agent"] | {"iterations": None}))
    yield Paragraph(
        f"Each level is {agent} with more iterations than the one below, if possible 100 Elo above it. Level 1 is above random play."
    )
    rows = []
    for level in levels:
        name = f"level {level['level']}: {level['agent']['iterations']:,} iterations"
        ratings = [
            Rating(each["elo"], each["low"], each["high"]) for each in (level, level["step"])
        ]
        rows.append([name, *map(str, ratings), str(level["games"])])
    yield Table("", ["level", "Elo", "above the one below", "games"], rows)
