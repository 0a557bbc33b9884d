"""The whole command, and what becomes of errors."""

import sys

from experiments.commands.common import FAILED, INTERRUPTED, REFUSED, say
from experiments.commands.files import export, merge, query, verify
from experiments.commands.ladder import ladder
from experiments.commands.playing import estimate, run
from experiments.commands.reports import branching, claims, correlation, picture, plan, ratings, report, status
from experiments.plan.definition import Refusal
from experiments.play.pool import MatchFailed
from experiments.store import rows as store
from icarus.commands.console import make_program

COMMANDS = (
    run,
    estimate,
    status,
    report,
    picture,
    branching,
    correlation,
    claims,
    query,
    export,
    ratings,
    merge,
    verify,
    plan,
    ladder,
)
app = make_program(
    "experiments",
    COMMANDS,
    "Run and analyse the experiments of section 8 of the ICARUS paper, of earlier papers, and your own.",
)


def main(arguments: list[str] | None = None) -> int:
    """The exit code of a command; what it refuses is told in one sentence on standard error."""
    try:
        code = app(sys.argv[1:] if arguments is None else arguments, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except Refusal as error:
        say(f"experiments: {error}")
        return REFUSED
    except (MatchFailed, store.NotKept) as error:
        say(f"experiments: {error}")
        return FAILED
    except KeyboardInterrupt:
        say("experiments: interrupted")
        return INTERRUPTED
    except OSError as error:
        say(f"experiments: {error}")
        return FAILED
    except Exception as error:
        if not hasattr(error, "format_message"):  # what the parser of the command line raises
            raise
        if message := error.format_message():
            say(f"experiments: {message}")
        return REFUSED
