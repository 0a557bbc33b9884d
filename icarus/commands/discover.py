"""`icarus discover`: find the composition that plays a game best, and prove it."""

from pathlib import Path
from typing import Annotated, Any

import typer

from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of
from icarus.commands.new import KEPT, require_promises
from icarus.commands.options import integer_option, iterations_option, value_option
from icarus.discovery.discover import DEFAULT_ITERATIONS, POOL, discover, plan_race
from icarus.discovery.race import FILE, PAGE, RaceProgress, text_of, write_result
from icarus.discovery.space import shipped_spaces

SPACE_HELP = f"Search space: {', '.join(shipped_spaces())}, or a TOML file of your own; general if not given, knowledge with --evaluation."
CANDIDATE_HELP = "Prove this one alone, in all games, in place of a space; a strategy, or the result of a race as printed."
AGAINST_HELP = (
    "Opponent: a strategy, or the result of a race as printed. Repeatable; the last is the one to beat. "
    f"{' and '.join(POOL)} if not given."
)
SEAT_HELP = "Seat to find a strategy for. Repeatable; all if not given."
_LEAD = (
    "is the lead in mean reward that would be proven, four times of five; smaller ones more seldom"
)
DIRECTORY_HELP = "Directory of protocol, games and page, where the same command continues; discovery-GAME-SEED if not given."


def discover_command(
    context: typer.Context,
    game: options.GameName,
    number: Annotated[int, integer_option("Games of the whole race.", "--games")],
    iterations: Annotated[int | None, iterations_option(DEFAULT_ITERATIONS)] = None,
    seconds: options.Seconds = None,
    space: Annotated[str | None, value_option("SPACE", SPACE_HELP)] = None,
    candidate: Annotated[str | None, value_option("STRATEGY", CANDIDATE_HELP)] = None,
    against: Annotated[list[str] | None, value_option("STRATEGY", AGAINST_HELP)] = None,
    finalists: Annotated[int, integer_option("Finalists to be proven, at most.")] = 5,
    seats: Annotated[list[int] | None, integer_option(SEAT_HELP, "--seat", min=None)] = None,
    seed: options.Seed = 0,
    workers: options.Processes = 1,
    cluster: options.Cluster = None,
    to: Annotated[Path | None, value_option("DIR", DIRECTORY_HELP, file_okay=False)] = None,
    files: options.With = None,
    evaluation: options.Learned = None,
) -> None:
    """Find the strategy that plays a game best, and prove it.

    A game of your own is checked first. Compositions of enhancements race. The winner is proven on games that were not used to choose it.
    """
    if candidate is not None:
        options.refuse_options(
            context, ("space", "finalists"), "--candidate names the one strategy to be proven"
        )
    source = game
    game, files = options.game_and_files(game, files, evaluation)
    directory = to or Path(f"discovery-{game}-{seed}")
    space = space or ("general" if evaluation is None else "knowledge")
    settings: dict[str, Any] = {
        "games": number,
        "space": space,
        "iterations": iterations,
        "seconds": seconds,
        "files": files,
        "candidate": candidate,
        "against": against or POOL,
        "finalists": finalists,
        "seats": seats or None,
        "seed": seed,
    }
    # what is refused is refused before the audit
    lead = plan_race(game, **settings).lead
    if source.endswith(".py") and not (directory / FILE).exists():
        rules = [each for each in files if each != evaluation]
        require_promises(game, rules, source, ", and a race would measure that")
    with progress_of("", None) as progress:
        has_told = False

        def show(report: RaceProgress) -> None:
            nonlocal has_told
            progress(report.done, total=report.total, description=report.stage)
            if report.hours >= 0 and not has_told:
                has_told = True
                print_note(f"about {_time_text(report.hours)} here; {lead:.2f} {_LEAD}")

        try:
            discovery = discover(
                game, to=directory, report=show, workers=workers, cluster=cluster, **settings
            )
        except KeyboardInterrupt:
            print_note(
                f"stopped; the games played are kept in {directory}; run the same command to continue"
                if (directory / FILE).exists()
                else f"stopped before the first game; {KEPT}"
            )
            raise typer.Exit(options.INTERRUPTED) from None
    write_result(discovery, directory)
    print_text(text_of(discovery))
    print_note(f"kept in {directory}, with {PAGE}; run the same command to continue")


def _time_text(hours: float) -> str:
    return f"{hours:.1f} hours" if hours >= 1 else f"{60 * hours:.0f} minutes"
