"""`icarus describe`: one page on what a game is like, its audit included. The games are kept, and the same command goes on."""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import attrs
import numpy as np
import typer

from icarus.arena.ledger import Ledger, Row, written_whole
from icarus.arena.workers import workers as start_workers
from icarus.audit import AuditReport, Check, audit
from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of, show_compilation
from icarus.commands.described import (
    AHEAD,
    EVEN,
    LEAST_ITERATIONS,
    REFERENCE,
    Estimate,
    Measures,
    Plan,
    Task,
    make_plan,
    measures_of,
)
from icarus.commands.discover import run_race
from icarus.commands.options import directory_option, integer_option, real_option, value_option
from icarus.discovery.discover import Settings, plan_race
from icarus.discovery.race import CONFIDENCE, KEY, Discovery, read_protocol
from icarus.discovery.race import FILE as PROTOCOL
from icarus.engine.match import FILE as LEVELS
from icarus.kernel.game import AnyGame
from icarus.kernel.python_game import PythonGame
from icarus.ladder.ladders import Rating
from icarus.load_files import digest_of
from icarus.views.canvas import BETTER, WORSE, intervals_svg, svg_of
from icarus.views.document import Block, Heading, Paragraph, Picture, Preformatted, Table, html

AUDIT, PLAN, GAMES, PAGE, JSON = "audit.json", "plan.json", "games.jsonl", "report.html", "report.json"
RACE = "race"  # the directory of the race in that of the report
FINALISTS = 2
SCALE = "Elo, random play at 0; low and high are the 95 % interval, step is how far a level stands above the one below."
AUDITED, PLAIN_AUDITED = 4, 10  # games of the audit; of one in plain Python
DRAWS, FEWEST_DRAWS, MOST_DRAWS = 12_000, 50, 600  # of the whole audit, about; and for each decision
BATCH = 4  # games of a worker between two looks at the clock
STRATEGY_HELP = "Strategy to compare with BASELINE. Repeatable; a few from the catalogue if not given."


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
    race: Annotated[
        int | None,
        integer_option(
            "Games of a race for the best composition, played first; see icarus discover. No race if not given.", min=1
        ),
    ] = None,
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

    Length, choices, seats, skill, eight levels, enhancements, the best composition, and a game with comments. The games are kept: Ctrl-C
    loses nothing, and the same command continues.
    """
    loaded, _, own_files = options.load_game(game, own_files)
    files = tuple(map(str, own_files))
    directory = to or Path(f"report-{loaded.name}")
    stored = _stored_plan(directory, files)
    if stored is not None:
        _check_same(attrs.evolve(stored, game=str(loaded), digest=digest_of(*files), seed=seed), stored, directory)
    if race is not None:
        _check_race(loaded, files, race, seed)
    report = _audit_once(loaded, directory, digest_of(*files), seed)
    measures, interrupted = None, False
    if report.passed:
        chosen = tuple(strategies or ())
        if stored is not None:
            iterations, chosen = iterations or stored.iterations, chosen or stored.strategies
        with show_compilation():
            plan = make_plan(loaded, files, iterations, chosen, seed)
        if stored is not None:
            _check_same(plan, stored, directory)
        _write(directory / PLAN, json.dumps(attrs.asdict(plan), indent=1) + "\n")
        discovery = _race(plan, loaded, directory / RACE, race, workers)
        winner = str(discovery.winner.configuration) if discovery and discovery.winner else None
        rows, interrupted = _play(plan, winner, directory, rounds, 60 * minutes, workers)
        measures = measures_of(plan, loaded, rows, discovery)
        if measures["levels"]:
            levels = {"scale": SCALE, "games": {plan.game: measures["levels"]}}
            _write(directory / LEVELS, json.dumps(levels, indent=1, ensure_ascii=False) + "\n")
    _write(directory / PAGE, page_of(str(loaded), report, measures))
    _write(directory / JSON, _json(report, measures))
    print_text(_json(report, measures) if as_json else "\n".join(sentences(report, measures)))
    print_note(f"{directory / PAGE}{'; run the same command to continue' if report.passed else ''}")
    if interrupted or not report.passed:
        raise typer.Exit(options.INTERRUPTED if interrupted else options.FAILED)


def _audit_once(game: AnyGame, directory: Path, digest: str, seed: int) -> AuditReport:
    """The audit of a game; that of an earlier call where the file of the game and the seed are the same."""
    path, origin = directory / AUDIT, {"game": str(game), "digest": digest, "seed": seed}
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # there is none, or none that can be read
        previous = json.loads(path.read_text("utf-8"))
        if previous["of"] == origin:
            checks = tuple(Check(**check) for check in previous["report"].pop("checks"))
            return AuditReport(**previous["report"], checks=checks)
    report = _audit(game, seed)
    directory.mkdir(parents=True, exist_ok=True)
    _write(path, json.dumps({"of": origin, "report": attrs.asdict(report)}) + "\n")
    return report


def _audit(game: AnyGame, seed: int) -> AuditReport:
    if isinstance(game, PythonGame):
        with progress_of("audit", PLAIN_AUDITED) as show:
            return audit(game, games=PLAIN_AUDITED, seed=seed, progress=lambda games, draws: show(games))
    with show_compilation(), progress_of("audit", AUDITED) as show:
        decisions = audit(game, games=1, determinizations=1, seed=seed).decisions
        draws = min(MOST_DRAWS, max(FEWEST_DRAWS, DRAWS // (AUDITED * max(1, decisions))))
        return audit(game, games=AUDITED, determinizations=draws, seed=seed, progress=lambda games, draws: show(games))


def _stored_plan(directory: Path, files: tuple[str, ...]) -> Plan | None:
    """The plan of the report in a directory, if there is one.

    Raises:
        ValueError: the plan is damaged, or the directory has files of another command.
    """
    path = directory / PLAN
    if not path.exists():
        if (directory / GAMES).exists():
            raise ValueError(f"{directory} has games of another command; choose another directory with --to")
        return None
    try:
        table = json.loads(path.read_text("utf-8"))
        return Plan(**{**table, "files": files, "strategies": tuple(table["strategies"])})
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is damaged; choose another directory with --to") from None


def _check_same(plan: Plan, stored: Plan, directory: Path) -> None:
    """Refuse a plan by other rules, or of other games, than the one whose games a directory has.

    Raises:
        ValueError: it is another.
    """
    changed = [field.name for field in attrs.fields(Plan) if getattr(plan, field.name) != getattr(stored, field.name)]
    if changed:
        was = f"{changed[0]} was {getattr(stored, changed[0])}"
        what = "the file of the game has changed" if changed[0] == "digest" else was
        raise ValueError(f"{directory} has the games of another report: {what}; choose another directory with --to")


def _race_settings(game: AnyGame, files: Sequence[str], number: int, seed: int, iterations: int | None) -> Settings:
    space = "reuse" if game.heuristic is None else "knowledge"
    return Settings(space=space, games=number, iterations=iterations, finalists=FINALISTS, seed=seed, files=files)


def _check_race(game: AnyGame, files: Sequence[str], number: int, seed: int) -> None:
    """Refuse a race of too few games before anything is played.

    Raises:
        ValueError: they could prove nothing.
    """
    settings = _race_settings(game, files, number, seed, None)
    plan_race(str(game), settings)


def _race(plan: Plan, game: AnyGame, directory: Path, number: int | None, workers: int) -> Discovery | None:
    """The race of a report, or what is left of it; that of an earlier call where no number of games is given."""
    if number is None and not (directory / PROTOCOL).exists():
        return None
    number = read_protocol(directory).games if number is None else number
    settings = _race_settings(game, plan.files, number, plan.seed, plan.iterations)
    return run_race(plan.game, directory, workers=workers, settings=settings)


def _play(
    plan: Plan, winner: str | None, directory: Path, rounds: int, seconds: float, workers: int
) -> tuple[list[Row], bool]:
    """Play until the time or the rounds are up, or Ctrl-C; the rows of all games, those of earlier calls too, and whether it was Ctrl-C."""
    deadline, interrupted = time.monotonic() + seconds, False
    with contextlib.ExitStack() as stack:
        playing = stack.enter_context(start_workers(workers))
        rows = stack.enter_context(Ledger(directory / GAMES, KEY))
        stack.enter_context(show_compilation())
        show = stack.enter_context(progress_of("seconds", round(seconds)))
        try:
            for number, batch in _batches(plan, winner, rounds, BATCH * workers):
                rows.play(batch, plan.play, playing)
                remaining = deadline - time.monotonic()
                show(round(seconds - remaining), description=f"round {number + 1}, {len(rows.rows)} games; seconds")
                if remaining < 0:
                    break
        except KeyboardInterrupt:
            print_note(f"stopped after {len(rows.rows)} games; run the same command to continue")
            interrupted = True
        return list(rows.rows.values()), interrupted


def _batches(plan: Plan, winner: str | None, rounds: int, size: int) -> Iterator[tuple[int, list[Task]]]:
    """The games of each round in turn, so many at a time, with the number of the round."""
    for number in range(rounds):
        tasks = plan.round(number, winner)
        for start in range(0, len(tasks), size):
            yield number, tasks[start : start + size]


def _write(path: Path, text: str) -> None:
    with written_whole(path) as file:
        file.write(text.encode())


def _json(report: AuditReport, measures: Measures | None) -> str:
    """All that the report says, as JSON."""
    checks = {check.name: check.outcome for check in report.checks}
    content = {"audit": {"outcome": report.outcome, "checks": checks}, **(measures or {})}
    return json.dumps(content, default=attrs.asdict, ensure_ascii=False, indent=1) + "\n"


# -------------------- A report as a page that needs no network, and as sentences.


if TYPE_CHECKING:
    from matplotlib.axes import Axes

NONE = "–"
PROOF = f"{100 * CONFIDENCE:g} %"  # of the intervals of a race
NO_GAMES = Paragraph("No game has been played yet.")
SERIES = BETTER, WORSE
BINS = 30


def page_of(game: str, report: AuditReport, measures: Measures | None) -> str:
    """The page; without measures, of a game that the audit refuses."""
    blocks: list[Block] = [Heading("In short"), *map(Paragraph, sentences(report, measures))]
    if measures is not None:
        for title, part in (
            ("How games go", _course),
            ("When the winner is known", _tension),
            ("Skill and levels", _levels),
            ("Enhancements", _strategies),
            ("The best composition", _composition),
            ("A game with comments", _comments),
        ):
            blocks += [Heading(title), *part(measures)]
    blocks += [Heading("Audit"), Preformatted(str(report))]
    return html(f"{game}: what the game is like", blocks)


def sentences(report: AuditReport, measures: Measures | None) -> list[str]:
    """The report in short."""
    if measures is None:
        return [
            f"The audit failed ({', '.join(report.failed)}). Nothing was played: correct the game first; run icarus check."
        ]
    unseen = f"; not checked: {', '.join(report.unchecked)}" if report.unchecked else ""
    return [f"The audit passed{unseen}.", *_of_course(measures), *_of_tension(measures), *_of_skill(measures)]


def _of_course(measures: Measures) -> Iterator[str]:
    game = measures["course"][EVEN]
    if not game["games"]:
        return
    lengths = game["length"]["all"]
    yield (
        f"A game has {game['length']['mean']:.1f} actions ({min(lengths)} to {max(lengths)}) and {game['decisions']:.1f} decisions, "
        f"with {game['choices']['mean']:.1f} choices each; {game['forced']:.0%} of them are forced."
    )
    if game["draws"] is None:  # of one player
        yield f"The mean reward is {game['seats'][0]['reward']}."
        return
    yield f"{percent(game['draws'])} of the games are drawn."
    unequal = [seat for seat in game["seats"] if not seat["reward"].low <= _mean_reward(game) <= seat["reward"].high]
    for seat in unequal:
        word = "an advantage" if seat["reward"].mean > _mean_reward(game) else "a disadvantage"
        yield f"The seat of {seat['name']} is {word}: a mean reward of {seat['reward']}."
    if not unequal:
        mean, rewards = _mean_reward(game), [seat["reward"] for seat in game["seats"]]
        most = max(max(reward.high - mean, mean - reward.low) for reward in rewards)
        yield f"No seat has a significant advantage; one of {most:.2f} in mean reward would be significant."


def _of_tension(measures: Measures) -> Iterator[str]:
    tension = measures["tension"]
    if tension["known"]:
        yield f"In half of the games the winner takes the final lead before {tension['known']['quartiles'][1]:.0%} of the game."
    if tension["changes"]:
        yield f"The lead changes {tension['changes']} times in a game."
    if tension["stake"]:
        yield f"A decision is worth {tension['stake']} of reward: the value of the chosen action minus the mean value of the legal actions."


def _of_skill(measures: Measures) -> Iterator[str]:
    skill = measures["skill"]["score"]
    if skill:
        word = "Longer searches play better" if skill.low > 0.5 else "Longer searches are not shown to play better"
        yield f"{word}: {measures['skill']['player']} score {percent(skill)} against {measures['skill']['opponent']}."
    better = [each for each in measures["strategies"] if each["gain"].low > 0]
    names = ", ".join(f"{each['strategy']} ({each['gain'].mean:+.3f})" for each in better)
    if measures["strategies"]:
        yield (
            f"Better than {REFERENCE}: {names}." if names else f"No enhancement is shown to be better than {REFERENCE}."
        )
    if measures["composition"]:
        yield from _of_composition(measures)
    if REFERENCE in measures["rates"]:
        yield f"A search makes {measures['rates'][REFERENCE]:,.0f} iterations a second."


def _of_composition(measures: Measures) -> Iterator[str]:
    """What a race proved, and where its winner stands among the levels."""
    race = measures["composition"]
    games, reference = f"{race['games']:,} games", race["reference"]
    if race["winner"] is None:
        excluded = f"a lead of more than {race['excluded']:.3f} in mean reward is excluded ({PROOF})"
        yield f"A race of {games} proved no composition better than {reference}; for its finalists {excluded}."
        return
    yield (
        f"The best composition is {race['winner']}, proven by a race of {games}: better than {reference} by {race['gain']} in mean reward "
        f"({PROOF}), on {race['gain'].number} units of new deals."
    )
    if race["rating"]:
        place = place_of(race["rating"], measures["levels"])
        yield f"With {measures['plan']['iterations']:,} iterations it has {race['rating']} Elo, {place}."


def place_of(rating: Rating, levels: list[Measures]) -> str:
    """Where a rating stands among those of the levels."""
    weaker = sum(level["elo"] <= rating.value for level in levels)
    if weaker == 0:
        return "less than level 1"
    return f"more than level {weaker}" if weaker == len(levels) else f"between levels {weaker} and {weaker + 1}"


def _mean_reward(game: Measures) -> float:
    return float(np.mean([seat["reward"].mean for seat in game["seats"]]))


def percent(estimate: Estimate | None) -> str:
    """A share with its interval, in percent."""
    if estimate is None:
        return NONE
    return f"{estimate.mean:.0%} [{max(0, estimate.low):.0%}, {min(1, estimate.high):.0%}]"


# ---------------------------------------------------------------------------------------------------------------- sections


def _course(measures: Measures) -> Iterator[Block]:
    """How long games are, how much there is to choose, and what seats get: in random play and where a search plays itself."""
    games = {kind: game for kind, game in measures["course"].items() if game["games"]}
    if not games:
        yield NO_GAMES
        return
    columns = [_cells_of(game) for game in games.values()]
    yield Table("", ["measure", *games], [[name, *(cells[name] for cells in columns)] for name in columns[0]])
    yield _histogram("actions of a game", {kind: game["length"]["all"] for kind, game in games.items()})
    yield _curves("choices", {kind: game["choices_by_part"] for kind, game in games.items()}, 0)


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


def _tension(measures: Measures) -> Iterator[Block]:
    tension = measures["tension"]
    if not tension["stake"]:
        yield NO_GAMES
        return
    if tension["known"]:
        low, middle, high = tension["known"]["quartiles"]
        yield Paragraph(
            f"The winner takes the final lead before {middle:.0%} of the game (median; quartiles {low:.0%} and {high:.0%}; "
            f"{tension['known']['games']} games). The lead changes {tension['changes']} times."
        )
    else:
        yield Paragraph("No game had a single winner." if tension["changes"] else "Nobody wins against another.")
    yield Paragraph(
        "The searches of the players decide who leads, each by what its player may observe: the leader expects the highest "
        f"reward, and a player who expects {AHEAD} more takes the lead. Where no player leads, a guess is counted. The worth of "
        "a decision is the value of the chosen action minus the mean of all legal ones."
    )
    if tension["known"]:
        shares = [None if share is None else 100 * share for share in tension["right_by_part"]]
        yield _curves("% of games that the leader wins", {"": shares})
    yield _curves("reward that a decision is worth", {"": tension["stake_by_part"]}, 0)


def _levels(measures: Measures) -> Iterator[Block]:
    skill, levels = measures["skill"], measures["levels"]
    if not levels:
        yield NO_GAMES
        return
    names = [f"level {level['level']}: {_iterations(level['agent']['iterations'])}" for level in levels]
    longer = f"{skill['player']} score {percent(skill['score'])} against {skill['opponent']}: ½ would show no skill."
    yield Paragraph(
        f"Each level is {REFERENCE} with twice the iterations of the one below; the first stands above random play. {longer} "
        "To play against a level, where DIR is the directory of this page:"
    )
    yield Preformatted(f"icarus play {_file_or_game(measures)} --level 3 --levels DIR")
    rows = [
        [name, str(_rating(level)), str(_rating(level["step"])), str(level["games"])]
        for name, level in zip(names, levels, strict=True)
    ]
    yield Table("", ["level", "Elo", "above the one below", "games"], rows)
    ratings = dict(zip(names, map(_rating, levels), strict=True))
    if measures["composition"] and measures["composition"].get("rating"):
        ratings[f"best composition: {_iterations(measures['plan']['iterations'])}"] = measures["composition"]["rating"]
    marks = {name: (rating.value, rating.low, rating.high) for name, rating in reversed(ratings.items())}
    yield Picture(intervals_svg("rating in Elo, random play at 0", marks), f"Levels, {names[0]} to {list(ratings)[-1]}")


def _iterations(number: int) -> str:
    return f"{number:,} iteration{'s' if number > 1 else ''}"


def _rating(level: Measures) -> Rating:
    return Rating(level["elo"], level["low"], level["high"])


def _composition(measures: Measures) -> Iterator[Block]:
    if measures["composition"] is None:
        yield Paragraph(
            "No race was run. This searches for the best composition, proves it, and rates it among the levels:"
        )
        yield Preformatted(f"icarus describe {_file_or_game(measures)} --race 4000")
        return
    yield from map(Paragraph, _of_composition(measures))
    yield Paragraph("The race has a page of its own, race/result.html beside this one.")


def _file_or_game(measures: Measures) -> str:
    """What a command names the game by."""
    plan = measures["plan"]
    return str(plan["files"][-1] if plan["files"] else plan["game"])


def _strategies(measures: Measures) -> Iterator[Block]:
    results, rates, plan = measures["strategies"], measures["rates"], measures["plan"]
    if not results:
        yield NO_GAMES
        return
    alone = len(measures["course"][EVEN].get("seats", ())) == 1
    how = (
        "is compared with {}, {}, each alone and with the same chance"
        if alone
        else "plays {}, {}, both sides of each deal"
    )
    budget = f"both with {plan['iterations']:,} iterations for a decision"
    yield Paragraph(f"Each {how.format(REFERENCE, budget)}. The intervals are simultaneous.")
    rows = [
        [each["strategy"], str(each["gain"]), str(2 * each["gain"].number), f"{rates.get(each['strategy'], 0):,.0f}"]
        for each in results
    ]
    rows.append([REFERENCE, "0", NONE, f"{rates.get(REFERENCE, 0):,.0f}"])
    yield Table("", ["strategy", "score above ½", "games", "iterations a second"], rows)
    marks = {each["strategy"]: (each["gain"].mean, each["gain"].low, each["gain"].high) for each in results}
    yield Picture(intervals_svg("score above ½", marks), f"Score above ½ against {REFERENCE}")


def _comments(measures: Measures) -> Iterator[Block]:
    game = measures["commented"]
    if game is None:
        yield NO_GAMES
        return
    rows = [
        [
            str(number),
            step["player"],
            step["action"],
            f"{step['value']:.2f}" if "value" in step else "",
            step.get("comment", ""),
        ]
        for number, step in enumerate(game["steps"], 1)
    ]
    yield Table("", ["no.", "player", "action", "value", "comment"], rows)
    yield Paragraph(f"Rewards: {', '.join(f'{reward:g}' for reward in game['returns'])}.")
    for index, svg in game["pictures"].items():
        step = game["steps"][int(index)] if int(index) < len(game["steps"]) else None
        yield Picture(svg, f"before {int(index) + 1}: {step['player']} plays {step['action']}" if step else "the end")


# ---------------------------------------------------------------------------------------------------------------- pictures


def _histogram(name: str, values: Mapping[str, Sequence[int]]) -> Picture:
    """How often whole numbers occur, for one or two series, as shares."""
    samples = {label: np.array(each) for label, each in values.items() if len(each)}
    low, high = min(each.min() for each in samples.values()), max(each.max() for each in samples.values())
    bins = np.arange(low, high + 2) - 0.5 if high - low < BINS else np.linspace(low - 0.5, high + 0.5, BINS)

    def draw(axes: "Axes") -> None:
        for (label, each), colour in zip(samples.items(), SERIES, strict=False):
            weights = np.full(len(each), 100 / len(each))
            axes.hist(each, bins.tolist(), weights=weights, histtype="step", linewidth=1.8, color=colour, label=label)
        axes.set(xlabel=name, ylabel="% of the games")
        axes.legend(frameon=False)

    return Picture(svg_of(draw), name)


def _curves(name: str, values: Mapping[str, Sequence[float | None]], floor: float | None = None) -> Picture:
    """Means over the parts of a game, from its beginning to its end."""

    def draw(axes: "Axes") -> None:
        for (label, each), colour in zip(values.items(), SERIES, strict=False):
            points = [(100 * (i + 0.5) / len(each), value) for i, value in enumerate(each) if value is not None]
            axes.plot(*zip(*points, strict=True), marker="o", markersize=4, color=colour, label=label)
        axes.set(xlabel="% of the game", ylabel=name, xlim=(0, 100))
        axes.set_ylim(bottom=floor)
        if len(values) > 1:
            axes.legend(frameon=False)

    return Picture(svg_of(draw), name)
