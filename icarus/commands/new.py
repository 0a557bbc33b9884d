"""`icarus new` writes a first game, and `icarus check` says what is wrong with a game."""

import contextlib
import hashlib
import importlib.util
import keyword
import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from icarus import games
from icarus.arena.ledger import new_file, write_whole
from icarus.audit import GAMES, PLAIN_GAMES, AuditReport, audit
from icarus.audit.lockstep import ADVICE_ON_LUCK, compare
from icarus.bridges.seats import game_of, seen_by
from icarus.commands import options
from icarus.commands.console import print_note, print_text, progress_of
from icarus.commands.options import FAILED, UNCHECKED, integer_option, value_option
from icarus.compiler.functions import DEBUG
from icarus.compiler.kernel import cache_folder
from icarus.engine.search import search
from icarus.kernel import CHANCE, LONGEST, AnyGame, Game, State, read_evaluation
from icarus.learning.report import lines_on
from icarus.load_files import METHODS, digest_of, game_classes, games_in, load_file, load_files
from icarus.specs import BASELINE

SKELETONS = Path(__file__).with_name("skeletons")
LOCKSTEP = 1000  # games beside a reference
ITERATIONS = 2000  # of the search that measures a rate
PYTHON_HELP = "Of plain Python functions: nothing is compiled, searches are slow."
CHECKED_HELP = f"{options.GAME_HELP} Or one with a class that has OpenSpiel's methods."
REFERENCE_HELP = "The same game as a class in plain Python with OpenSpiel's methods; both are played in lock-step."
KEPT = "the audit is kept; run the same command to continue"
NUMBER_HELP = (
    f"Random games; by default {GAMES}, {PLAIN_GAMES} in plain Python, {LOCKSTEP} in lock-step."
)


def new_command(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of the game and of its file, such as mygame."),
    ],
    python: Annotated[bool, typer.Option("--python", help=PYTHON_HELP)] = False,
) -> None:
    """Write a small game with hidden cards and its test into this folder, to begin your own with."""
    _check_name(name)
    files = {Path(f"{name}.py"): "python" if python else "hidden", Path(f"test_{name}.py"): "test"}
    for path in files:
        new_file(path)
    for path, skeleton in files.items():
        text = (SKELETONS / f"{skeleton}.py.txt").read_text("utf-8").replace("MODULE", name)
        path.write_text(re.sub("NAME|second-chance", name.replace("_", "-"), text), "utf-8")
    print_text(f"{name}.py has a game that plays; put your rules in its place. Then:\n")
    print_text(f"  icarus check {name}.py\n  icarus play {name}.py\n  icarus describe {name}.py")


def _check_name(name: str) -> None:
    """Refuse what cannot be the name of a game's file, or would hide another module or game."""
    if not name.isidentifier() or name != name.lower() or not name[0].isalpha():
        reason = "use lower-case letters, digits and _, with a letter first, such as mygame"
    elif keyword.iskeyword(name):
        reason = f"it is a word of Python; use my_{name}"
    elif _is_module(name):
        reason = f"there is a module of that name; use my_{name}"
    elif name.replace("_", "-") in games.LIBRARY:
        reason = f"there is a game of that name; use my_{name}"
    else:
        return
    raise ValueError(f"{name!r} cannot be the name of a game and its file; {reason}")


def _is_module(name: str) -> bool:
    """Whether a module has this name that is no file or folder in the current folder."""
    if Path(f"{name}.py").exists():
        return False
    module = importlib.util.find_spec(name)
    return module is not None and module.origin is not None  # a folder has no origin


def check_command(
    game: Annotated[str, typer.Argument(metavar="GAME", help=CHECKED_HELP)],
    against: Annotated[Path | None, value_option("REFERENCE.py", REFERENCE_HELP)] = None,
    number: Annotated[int | None, integer_option(NUMBER_HELP, "--games")] = None,
    determinizations: Annotated[
        int | None, integer_option("Determinizations to draw at each decision.")
    ] = None,
    seed: Annotated[int, integer_option("Seed of the games and of the draws.", min=0)] = 0,
    files: options.With = None,
    evaluation: options.Learned = None,
) -> None:
    """Find the mistakes in a game: in its rules and in its hidden information.

    Does it agree with a reference, if there is one? Does it keep its contract? Do determinizations agree with all that a player has
    observed, and depend on nothing else?

    Exit code 0: every check passed. 1: one failed. 3: none failed, but one was not made.
    """
    reference = None if against is None else reference_in(against)
    sources = [*(files or []), *filter(Path.is_file, [Path(game)])]
    if evaluation is not None:  # the audit sees it in place of the game's own heuristic
        sources.append(evaluation)
    codes = list[int]()
    for each in _games_of(game, files):
        if evaluation is not None:
            each = each.with_evaluation(evaluation)
        agrees = True
        if reference is not None:
            with progress_of("games", number or LOCKSTEP) as show:
                comparison = compare(
                    each, reference, games=number or LOCKSTEP, seed=seed, progress=show
                )
            print_text(f"rules: {comparison}")
            agrees = comparison.passed
        report = audited(each, sources, seed, number, determinizations, once=False)
        advice = advice_on(each) if report.passed else ()
        print_text("\n".join([str(report), *advice]))
        if not agrees:
            print_text("failed: the game and the reference differ (see rules)")
        if evaluation is not None:
            print_text("\n".join(lines_on(each, read_evaluation(evaluation), seed)))
        if report.failed or not agrees:
            codes.append(FAILED)
        elif report.unchecked:
            codes.append(UNCHECKED)
    for code in (FAILED, UNCHECKED):
        if code in codes:
            raise typer.Exit(code)


def _games_of(game: str, files: list[Path] | None) -> list[AnyGame]:
    """All games of a file, or the one of a name."""
    path = Path(game)
    if path.suffix != ".py":
        return [options.chosen_game(game, files).game]
    load_files(files or [])
    module = load_file(path)
    games_of_file = list(games_in(module)) or [game_of(each) for each in game_classes(module)]
    if not games_of_file:
        raise ValueError(
            f"{game!r} has no Game, and no class with the methods {', '.join(METHODS)}; give the game that a function makes by its name, "
            f"and the file by --with {game}; icarus new writes a first one"
        )
    return games_of_file


def audited(
    game: AnyGame,
    files: Sequence[str | Path],
    seed: int,
    number: int | None = None,
    determinizations: int | None = None,
    *,
    once: bool = True,
) -> AuditReport:
    """The audit of a game, with a bar of progress.

    It is kept beside the machine code, by the content of the game's files: an audit that was stopped goes on.

    Args:
        number, determinizations: see `audit`.
        once: whether the report of an audit that has ended is given again.
    """
    total = number or (GAMES if isinstance(game, Game) else PLAIN_GAMES)
    what = f"audit of {game}"
    key = f"{game} {digest_of(*files)} {seed} {(number, determinizations)}".encode()
    folder = cache_folder() or Path(os.devnull)  # which takes nothing
    path = folder / f"audit-{hashlib.sha256(key).hexdigest()[:24]}.json"
    if once:
        with contextlib.suppress(OSError, ValueError):  # there is no report, or it cannot be read
            return msgspec.json.decode(path.read_bytes(), type=AuditReport)
    if isinstance(game, Game):
        game.kernels()  # what cannot be compiled is refused, and told once
    done, part = 0, path.with_suffix(".part")
    try:
        with progress_of(f"{what}: games", total) as show:

            def count(games: int, draws: int) -> None:
                nonlocal done
                done = games
                show(games, description=f"{what}: {draws:,} determinizations, games")

            report = audit(
                game,
                games=number,
                determinizations=determinizations,
                seed=seed,
                progress=count,
                file=part,
            )
    except KeyboardInterrupt as stop:
        where = f", {stop}" if str(stop) else ""
        goes_on = "goes on from there" if part.exists() else "begins anew"
        raise KeyboardInterrupt(
            f"the {what} was stopped after {done} of {total} games{where}; the same command {goes_on}"
        ) from None
    with contextlib.suppress(OSError):
        write_whole(path, msgspec.json.encode(report))
    return report


def require_promises(game: str, files: Sequence[Path], source: str, consequence: str = "") -> None:
    """Refuse a game of one's own that fails its audit, before work that rests on its rules.

    Args:
        source: the file that names it.
        consequence: what would be wrong with that work, for the message.

    Raises:
        ValueError: the game fails.
    """
    if not audited(options.chosen_game(game, files).game, files, 0).passed:
        raise ValueError(
            f"{game} does not keep its promises{consequence}; icarus check {source} says more"
        )
    print_note(f"{game} passes icarus check")


def reference_in(path: Path) -> Callable[[State], Any]:
    """The function that makes a reference for an initial state: the file's own `reference(state)`, or one that calls its only class.

    Raises:
        ValueError: there is neither, or more than one class with OpenSpiel's methods.
    """
    module = load_file(path)
    make = getattr(module, "reference", None)
    if callable(make):
        return make
    classes = game_classes(module)
    if len(classes) != 1:
        raise ValueError(
            f"{str(path)!r} has {len(classes)} classes with the methods {', '.join(METHODS)}; it must have one, or a function "
            "reference(state)"
        )

    def make_one(state: State) -> Any:
        try:
            return classes[0]()
        except TypeError as error:  # the class draws its deal itself, such as __init__(self, rng)
            raise ValueError(
                f"the reference in {str(path)!r} cannot be made: {error}; {ADVICE_ON_LUCK}"
            ) from error

    return make_one


def advice_on(game: AnyGame) -> Iterator[str]:
    """What each player sees at first, how fast a search is, and what would make the game better."""
    state = game.new_initial_state(seed=0)
    while state.current_player() == CHANCE:
        state.apply_action(state.chance_outcomes()[0][0])
    if game.determinize is not None:
        for player in range(game.players):
            text = seen_by(state, player).replace("\n", "\n  ")
            yield f"player {player} sees at first:\n  {text}"
    if isinstance(game, Game) and not state.is_terminal():
        search(state, BASELINE, iterations=10)  # compiles it
        rate = ITERATIONS / search(state, BASELINE, iterations=ITERATIONS).seconds
        yield f"speed: {rate:,.0f} iterations a second from the first decision"
    yield from (f"hint: {hint}" for hint in hints(game))


def hints(game: AnyGame) -> Iterator[str]:
    """What would make the game safer, or more useful to a search."""
    if game.max_length == LONGEST:
        yield "max_length is not given: a game that never ends is found late; give the greatest number of actions of a game"
    if not isinstance(game, Game):
        return
    if not DEBUG:
        yield "indices were checked in few games; ICARUS_DEBUG=1 icarus check FILE.py checks each, and names the function of a wrong one"
    if not game.ranges:
        yield "ranges are not given: state data that you set are not checked; give the least and greatest value of each field"
    if game.determinize is not None and game.episode is None:
        yield "there is no episode: EPIC treats the whole game as one episode; return a label where a trick or round begins"
