"""`icarus describe`: one page on what a game is like, its audit included. The games are kept, and the same command goes on."""

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import attrs
import typer

from icarus.audit import AuditReport, Check, audit
from icarus.audit.plain import audit_plain
from icarus.checks import integer
from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of, show_compilation
from icarus.commands.discover import run_race
from icarus.commands.options import integer_option, real_option, value_option
from icarus.commands.report.matches import LEAST_ITERATIONS, Plan, Task, make_plan
from icarus.commands.report.measures import Measures, measures_of
from icarus.commands.report.page import page_of, sentences
from icarus.discovery.discover import Settings, match_settings_of, plan_race
from icarus.discovery.matches import Row, Rows
from icarus.discovery.processes import processes
from icarus.discovery.protocol import FILE as PROTOCOL
from icarus.discovery.protocol import read_protocol
from icarus.discovery.race import Discovery
from icarus.engine.levels import FILE as LEVELS
from icarus.kernel.game import AnyGame
from icarus.kernel.python_game import PythonGame
from icarus.load_files import digest_of
from icarus.row_files import written_whole

AUDIT, PLAN, GAMES, PAGE, JSON = "audit.json", "plan.json", "games.jsonl", "report.html", "report.json"
RACE = "race"  # the directory of the race in that of the report
FINALISTS = 2
SCALE = "Elo, random play at 0; low and high are the 95 % interval, step is how far a level stands above the one below."
AUDITED, PLAIN_AUDITED = 4, 250  # games of the audit; of one in plain Python, which looks at one decision of each
DRAWS, FEWEST_DRAWS, MOST_DRAWS = 12_000, 50, 600  # of the whole audit, about; and for each decision
BATCH = 4  # games of a worker between two looks at the clock
STRATEGY_HELP = "Strategy to compare with BASELINE. Repeatable; a few from the catalogue if not given."


def describe_command(
    game: options.GameName,
    minutes: Annotated[float, real_option("MINUTES", "Minutes to play games for, this time.")] = 5.0,
    rounds: Annotated[int, integer_option("Deals of each pair of players, at most.")] = 200,
    iterations: Annotated[
        int | None,
        integer_option("Iterations per decision; by default, so many that a game takes a quarter of a second."),
    ] = None,
    strategies: Annotated[list[str] | None, value_option("STRATEGY", STRATEGY_HELP, "--strategy")] = None,
    race: Annotated[
        int | None,
        integer_option(
            "Games of a race for the best composition, played first; see icarus discover. No race if not given."
        ),
    ] = None,
    seed: options.Seed = 0,
    workers: Annotated[int, integer_option("Processes to play games in.")] = 1,
    to: Annotated[
        Path | None,
        value_option(
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
    options.check_minutes(minutes)
    integer("--rounds", rounds, 1)
    integer("--workers", workers, 1)
    integer("--iterations", LEAST_ITERATIONS if iterations is None else iterations, LEAST_ITERATIONS)
    integer("--race", 1 if race is None else race, 1)
    integer("--seed", seed, 0)
    loaded, _, own_files = options.load_game(game, own_files)
    files = tuple(map(str, own_files))
    directory = to or Path(f"report-{loaded.name}")
    options.check_directory(directory)
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
    report = _audit_plain(game, seed) if isinstance(game, PythonGame) else _audit(game, seed)
    directory.mkdir(parents=True, exist_ok=True)
    _write(path, json.dumps({"of": origin, "report": attrs.asdict(report)}) + "\n")
    return report


def _audit(game: AnyGame, seed: int) -> AuditReport:
    with show_compilation(), progress_of("audit", AUDITED) as show:
        decisions = audit(game, games=1, determinizations=1, seed=seed).decisions
        draws = min(MOST_DRAWS, max(FEWEST_DRAWS, DRAWS // (AUDITED * max(1, decisions))))
        return audit(game, games=AUDITED, determinizations=draws, seed=seed, progress=lambda games, draws: show(games))


def _audit_plain(game: PythonGame, seed: int) -> AuditReport:
    with progress_of("audit", PLAIN_AUDITED) as show:
        return audit_plain(game, games=PLAIN_AUDITED, seed=seed, progress=show)


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
    plan_race(match_settings_of(str(game), settings), settings, number)


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
        playing = stack.enter_context(processes(workers))
        rows = stack.enter_context(Rows(plan, directory / GAMES, playing.executor))
        stack.enter_context(show_compilation())
        show = stack.enter_context(progress_of("seconds", round(seconds)))
        try:
            for number, batch in _batches(plan, winner, rounds, BATCH * workers):
                rows.play(batch)
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
