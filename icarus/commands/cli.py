"""The command `icarus`: look at games and specifications, search a position, play matches, audit games."""

import io
import re
import sys
from collections.abc import Callable
from typing import Annotated, Any

try:
    import typer
except ModuleNotFoundError as missing:
    raise SystemExit(f"the command icarus needs {missing.name}: pip install 'icarus-mcts[cli]'") from None

from icarus.audit import DETERMINIZATIONS, GAMES, audit
from icarus.commands import options
from icarus.commands.bench import bench_command
from icarus.commands.console import line_width, print_note, print_text, progress_of, show_compilation
from icarus.commands.discover import discover_command
from icarus.commands.exploitability import exploitability_command
from icarus.commands.interrupts import end, interruptible, reporting_interrupts
from icarus.commands.ladder import ladder_command
from icarus.commands.lists import games_command, specs_command
from icarus.commands.match import match_command
from icarus.commands.new import check_command, new_command
from icarus.commands.once import Command
from icarus.commands.options import integer_option
from icarus.commands.play.terminal import play_command
from icarus.commands.report.report import report_command
from icarus.commands.search import search_command
from icarus.engine.result import SearchExhausted
from icarus.load_files import sentence_of

app = typer.Typer(
    help="Information capture and reuse strategies in Monte Carlo tree search.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def audit_command(
    game: options.GameName,
    number: Annotated[int, integer_option("Random games to play.", "--games")] = GAMES,
    determinizations: Annotated[int, integer_option("Determinizations to draw at each decision.")] = DETERMINIZATIONS,
    seed: Annotated[int, integer_option("Seed of the games and of the draws.")] = 0,
    files: options.With = None,
) -> None:
    """Check a game's rules and its hidden information.

    Does the game keep its contract? Do determinizations agree with all that a player has observed, and depend on nothing else?

    Exit code 0: every check passed. 1: one failed. 3: none failed, but one was not checked.
    """
    loaded, _, _ = options.load_game(game, files)
    with show_compilation(), progress_of("games", number) as show:
        report = audit(
            loaded,
            games=number,
            determinizations=determinizations,
            seed=seed,
            progress=lambda games, draws: show(games, description=f"{draws:,} determinizations, games"),
        )
    print_text(report.text(line_width()))
    if report.failed or report.unchecked:
        raise typer.Exit(options.FAILED if report.failed else options.UNCHECKED)


COMMANDS: dict[str, Callable[..., None]] = {  # the first line of each one's docstring stands in the list of all
    command.__name__.removesuffix("_command"): command
    for command in (
        games_command,
        specs_command,
        search_command,
        match_command,
        play_command,
        bench_command,
        ladder_command,
        new_command,
        check_command,
        report_command,
        audit_command,
        discover_command,
        exploitability_command,
    )
}
for name, command in COMMANDS.items():
    app.command(name, cls=Command)(reporting_interrupts(interruptible()(command), "icarus"))


def main() -> None:
    """Run the command; bad input is one sentence on stderr and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # of another encoding than UTF-8, such as cp1252
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    end(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run the command with these arguments, and return its exit code."""
    try:
        return app(arguments or ["--help"], prog_name="icarus", standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        print_note("icarus: interrupted")
        return options.INTERRUPTED
    except SearchExhausted as error:
        print_text(str(error.result))
        print_note(f"icarus: {error}")
        return options.FAILED
    except MemoryError:
        print_note("icarus: memory has run out")
        return options.FAILED
    except Exception as error:
        if hasattr(error, "format_message"):  # what the parser of the command line raises has it
            print_note(f"icarus: {usage_sentence(error, arguments)}")
        else:
            sentence = sentence_of(error)
            if sentence is None:
                raise
            print_note(f"icarus: {with_options(sentence, arguments)}")
    return options.REFUSED


def with_options(sentence: str, arguments: list[str]) -> str:
    """A sentence that begins with an argument of the library, with the option of the command line that gives it: "--seat is 2"."""
    if not arguments or arguments[0] not in COMMANDS:
        return sentence
    long_names: dict[str, str] = {}
    for parameter in typer.main.get_command(app).commands[arguments[0]].params:  # type: ignore[attr-defined]
        long = next((name for name in parameter.opts if name.startswith("--")), None)
        if long is not None:
            long_names |= dict.fromkeys((parameter.name, long.removeprefix("--").replace("-", "_")), long)
    named = re.match(r"(?:an? )?(\w+) is ", sentence)
    if named is None or named[1] not in long_names:
        return sentence
    return f"{long_names[named[1]]} is {sentence[named.end() :]}".removesuffix(SEVERAL)


SEVERAL = ", or a sequence of such integers"  # which no option takes


def usage_sentence(error: Any, arguments: list[str]) -> str:
    """What is wrong with a command line, in one sentence: where, what was given, what would be right."""
    wrong = " ".join(error.format_message().split()).rstrip(".?")
    wrong = wrong[0].lower() + wrong[1:]
    parameter = getattr(error, "param", None)
    if parameter is not None and not error.message and parameter.help:  # it is missing
        return f"{wrong}: {parameter.help.rstrip('.')}"
    if arguments and arguments[0] in COMMANDS:
        return f"{wrong}; icarus {arguments[0]} --help lists its arguments and options"
    return f"{wrong}; icarus --help lists the commands"
