"""`icarus learn`: an evaluation of a game from its rules alone."""

from pathlib import Path
from typing import Annotated

import typer

from icarus.checks import positive
from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of
from icarus.commands.new import require_promises
from icarus.commands.options import integer_option, value_option
from icarus.kernel import read_evaluation
from icarus.learning.generations import (
    DEFAULT_MINUTES,
    LEAST,
    LearningProgress,
    directory_of,
    learn,
)
from icarus.learning.report import PAGE, blocks_of
from icarus.views.document import text_of

OUT_HELP = "File for the evaluation. In the directory beside it the same command continues. GAME.npz if not given."
GAMES_HELP = "Games of a round; 5000 if not given, 500 of a game in plain Python."


def learn_command(
    game: options.GameName,
    minutes: Annotated[
        float, value_option("MINUTES", "Minutes to learn for, this time.")
    ] = DEFAULT_MINUTES,
    out: Annotated[Path | None, value_option("FILE.npz", OUT_HELP, dir_okay=False)] = None,
    generations: Annotated[
        int | None, integer_option("Generations in all, however long they take.")
    ] = None,
    number: Annotated[int | None, integer_option(GAMES_HELP, "--games", min=LEAST["games"])] = None,
    seed: options.Seed = 0,
    workers: options.Processes = 1,
    cluster: options.Cluster = None,
    files: options.With = None,
) -> None:
    """Learn an evaluation of a game from its rules alone.

    It plays against itself, and a match judges each generation. Ctrl-C loses no generation, and the same command continues.
    """
    positive("--minutes", minutes)
    source = game
    game, files = options.game_and_files(game, files)
    out = out or Path(f"{game}.npz")
    if out.suffix != options.EVALUATION:
        raise ValueError(
            f"--out is {str(out)!r}; it must end with {options.EVALUATION}, as {out.stem}.npz does"
        )
    directory = directory_of(out)
    if source.endswith(".py") and not directory.exists():
        require_promises(game, files, source)
    with progress_of("random play, round", 1) as progress:

        def show(report: LearningProgress) -> None:
            progress(report.done, total=report.total, description=str(report))
            if generations is None and report.done == 1 and report.minutes > minutes:
                print_note(
                    f"a generation takes about {report.minutes:.0f} minutes here, more than --minutes {minutes:g}; "
                    "this one goes on to its end; --games makes it shorter"
                )

        settings = {} if number is None else {"games": number}
        is_interrupted = False
        try:
            learn(
                game,
                out=out,
                report=show,
                workers=workers,
                cluster=cluster,
                minutes=minutes,
                generations=generations,
                files=files,
                seed=seed,
                **settings,
            )
        except KeyboardInterrupt:
            is_interrupted = True
            if not out.exists():
                raise
    print_text(text_of(list(blocks_of(read_evaluation(out)))))
    print_note(
        f"kept in {directory}, with {PAGE}; run the same command to continue; {out} is for --evaluation"
    )
    if is_interrupted:
        raise typer.Exit(options.INTERRUPTED)
