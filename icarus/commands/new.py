"""`icarus new` writes the skeleton of a game, and `icarus check` says what is wrong with a game."""

import importlib.util
import keyword
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer

from icarus import games
from icarus.audit import GAMES, audit
from icarus.audit.lockstep import ADVICE_ON_LUCK, TWINS, Reference, compare, face_of
from icarus.audit.plain import audit_plain
from icarus.audit.report import AuditReport
from icarus.audit.resampler import GAMES as CLASS_GAMES
from icarus.audit.resampler import audit_class
from icarus.commands.console import print_text, progress_of, show_compilation
from icarus.commands.options import FAILED, integer_option, value_option
from icarus.compiler.functions import DEBUG
from icarus.engine.search import search
from icarus.kernel import CHANCE
from icarus.kernel.game import LONGEST, AnyGame, Game
from icarus.kernel.python_game import PythonGame
from icarus.kernel.state import State
from icarus.load_files import METHODS, game_classes, games_in, lacking_methods, load_file, own_games
from icarus.specs import BASELINE

SKELETONS = Path(__file__).with_name("skeletons")
KINDS, PLAIN = ("perfect", "chance", "hidden"), "python"
LIBRARY = frozenset(games.GAMES)  # before a file has brought its own
CHECKED = "indices were checked in a few games of plain Python"
UNCHECKED = "no index was checked, because the game did not run in plain Python (see indices)"
INDICES = "ICARUS_DEBUG=1 icarus check FILE.py checks each, and names the function of a wrong one"
NO_LENGTH = (
    "max_length is not given: a game that never ends is found late; give the greatest number of actions of a game"
)
NO_OBSERVATION = (
    "there is no observation(state, player): only moves and legal actions tell what a player knows, and a determinization that "
    "redraws his own cards can pass"
)
ITERATIONS = 2000  # of the search that measures a rate


def new_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the game and of its file, such as mygame.")],
    chance: Annotated[
        bool, typer.Option("--chance", help="The game has dice, or cards that are turned up during play.")
    ] = False,
    hidden: Annotated[bool, typer.Option("--hidden", help="The game has hidden information.")] = False,
    perfect: Annotated[bool, typer.Option("--perfect", help="The game has neither.")] = False,
    python: Annotated[
        bool,
        typer.Option(
            "--python", help="A game with both, of plain Python functions: nothing is compiled, searches are slow."
        ),
    ] = False,
) -> None:
    """Write a small game with its test, to begin your own with.

    Both files are written into this folder; without an option, the command asks which kind of game.
    """
    check_name(name)
    if chance + hidden + perfect + python > 1:
        raise ValueError(
            "take one of --perfect, --chance, --hidden and --python; for a game with both begin with --hidden, and add dice as the "
            "skeleton of --chance has them: CHANCE in `player`, and a function `chance`"
        )
    if not chance and not hidden and not perfect and not python and sys.stdin.isatty():
        hidden = typer.confirm("Is anything hidden from a player?", default=False)
        chance = not hidden and typer.confirm("Are dice rolled, or cards turned up, during the game?", default=False)
    kind = PLAIN if python else "hidden" if hidden else "chance" if chance else "perfect"
    test = "test_python.py.txt" if python else "test.py.txt"
    files = {Path(f"{name}.py"): f"{kind}.py.txt", Path(f"test_{name}.py"): test}
    for path in files:
        if path.exists():
            raise ValueError(f"{str(path)!r} exists and is not overwritten")
    for path, skeleton in files.items():
        text = (SKELETONS / skeleton).read_text("utf-8")
        path.write_text(text.replace("NAME", name.replace("_", "-")).replace("MODULE", name), "utf-8")
    print_text(f"{name}.py has a game that plays; put your rules in its place. Then:\n")
    last = "search" if python else "report"
    print_text(f"  icarus check {name}.py\n  icarus play {name}.py\n  icarus {last} {name}.py")


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a game's file, or would stand in the way of another module or game."""
    if not name.isidentifier() or name != name.lower():
        reason = "use lower-case letters, digits and _, with a letter first, such as mygame"
    elif keyword.iskeyword(name) or is_module(name):
        reason = f"Python has a {'keyword' if keyword.iskeyword(name) else 'module'} of that name; use my_{name}"
    elif name.replace("_", "-") in LIBRARY:
        reason = f"the library has a game of that name; use my_{name}"
    else:
        return
    raise ValueError(f"{name!r} cannot be the name of a game and its file; {reason}")


def is_module(name: str) -> bool:
    """Whether a module of this name could be imported, not counting a file or a folder that stands here."""
    spec = None if Path(f"{name}.py").exists() else importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None


def check_command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.py", help="Python file with a Game or PythonGame, or with a class with OpenSpiel's methods."
        ),
    ],
    against: Annotated[
        Path | None,
        value_option(
            "REFERENCE.py",
            "The same game as a class in plain Python with OpenSpiel's methods; both are played in lock-step.",
        ),
    ] = None,
    number: Annotated[int, integer_option("Games to play in lock-step.", "--games")] = 1000,
    seed: Annotated[int, integer_option("Seed of the games.")] = 0,
) -> None:
    """Find the mistakes in a game's file.

    In this order: its rules, in lock-step with a reference if there is one; its hidden information; its speed.
    """
    if not file.exists() and str(file).partition("(")[0] in LIBRARY:
        raise ValueError(f"icarus check takes a file; for a game of the library: icarus audit {str(file)!r}")
    module = load_file(file)
    games_of_file = games_in(module)
    classes = game_classes(module) if against is None else []
    if games_of_file:
        reference = None if against is None else reference_in(against)
        passed = [check(game, reference, number, seed) for game in games_of_file]
    elif classes:
        passed = [_audit(audit_class, each, seed) for each in classes]
    else:
        audits = [
            f"{name} is made by a function: icarus audit {name} --with {file}" for name in own_games(module, file)
        ]
        advice = lacking_methods(module) or (audits[0] if audits else "icarus new writes a first one")
        raise ValueError(f"{str(file)!r} has no Game; {advice}")
    if not all(passed):
        raise typer.Exit(FAILED)


def check(game: AnyGame, reference: Callable[[State], Reference] | None, number: int, seed: int) -> bool:
    """Print what is wrong with a game; whether nothing is."""
    agrees = reference is None or check_rules(game, reference, number, seed)
    if isinstance(game, PythonGame):
        passed = check_plain(game, seed)
    else:
        assert isinstance(game, Game)
        passed = check_compiled(game, seed)
    if not agrees:
        print_text("failed: the game and the reference differ (see rules)")
    return agrees and passed


def check_rules(game: AnyGame, reference: Callable[[State], Reference], number: int, seed: int) -> bool:
    """Print where a game differs from its reference; whether nowhere."""
    with show_compilation(), progress_of("games", number) as show:
        comparison = compare(game, reference, games=number, seed=seed, progress=show)
    print_text(f"rules: {comparison}")
    return comparison.passed


def check_compiled(game: Game, seed: int) -> bool:
    """Print what is wrong with a compiled game, and if nothing is, how fast it is and what would make it better; whether nothing is."""
    with show_compilation(), progress_of("audit", GAMES) as show:
        report = audit(game, games=GAMES, seed=seed, progress=lambda games, draws: show(games))
    print_text(str(report))
    if not report.passed:
        return False
    print_text(rate(game))
    if not DEBUG:
        print_text(f"hint: {UNCHECKED if report['indices'].absent else CHECKED}; {INDICES}")
    for hint in hints(game):
        print_text(f"hint: {hint}")
    return True


def check_plain(game: PythonGame, seed: int) -> bool:
    """Print what is wrong with a game in plain functions; whether nothing is."""
    passed = _audit(audit_plain, game, seed)
    if passed and game.max_length == LONGEST:
        print_text(f"hint: {NO_LENGTH}")
    if passed and game.determinize is not None and game.observation is None:
        print_text(f"hint: {NO_OBSERVATION}")
    return passed


def _audit(audited_by: Callable[..., AuditReport], game: PythonGame | type, seed: int) -> bool:
    """Print what an audit in plain Python finds; whether the game passes."""
    with progress_of("games", CLASS_GAMES) as show:
        report = audited_by(game, games=CLASS_GAMES, seed=seed, progress=show)
    print_text(str(report))
    return report.passed


def reference_in(path: Path) -> Callable[[State], Reference]:
    """What makes the reference of an initial state: the file's function `reference(state)`, or its one class with the methods.

    Raises:
        ValueError: there is neither, or more than one class.
    """
    module = load_file(path)
    make = getattr(module, "reference", None)
    if callable(make):
        return make
    classes = game_classes(module)
    if len(classes) != 1:
        games = [] if classes else games_in(module)
        instead = f"the game {games[0]} and " if games else ""
        lacking = lacking_methods(module)
        raise ValueError(
            f"{str(path)!r} has {instead}{len(classes)} classes with the methods {', '.join(METHODS)}; it must have one, or a "
            f"function reference(state){f': {lacking}' if lacking else ''}"
        )
    return _without_luck(classes[0], path)


def _without_luck(game_class: type, path: Path) -> Callable[[State], Reference]:
    """A class as the reference of every initial state; one that deals is refused, because it would deal otherwise than the game."""
    try:
        faces = {face_of(game_class()) for _ in range(TWINS)}
    except TypeError as error:
        raise ValueError(
            f"{game_class.__name__}() of {str(path)!r} cannot be called without arguments ({error}); {ADVICE_ON_LUCK}"
        ) from None
    if len(faces) > 1:
        raise ValueError(
            f"{game_class.__name__} of {str(path)!r} deals cards of its own, or something else at random; {ADVICE_ON_LUCK}"
        )
    return lambda state: game_class()


def rate(game: Game) -> str:
    """How fast a search is, in a sentence."""
    state = game.new_initial_state(seed=0)
    while state.current_player() == CHANCE:
        state.apply_action(state.chance_outcomes()[0][0])
    search(state, BASELINE, iterations=10)
    started = time.perf_counter()
    search(state, BASELINE, iterations=ITERATIONS)
    return f"speed: {ITERATIONS / (time.perf_counter() - started):,.0f} iterations a second from the first decision"


def hints(game: Game) -> Iterator[str]:
    """What would make the game faster, safer, or more useful to a search."""
    if game.max_length == LONGEST:
        yield NO_LENGTH
    if not game.ranges:
        yield "ranges are not given: state data that you set are not checked; give the least and greatest value of each field"
    if game.actions is None:
        yield "actions is not given: PettingZoo and OpenSpiel need the number of all actions"
    if game.heuristic is None:
        yield "there is no heuristic: with one, playouts can be cut off (--cutoff), which helps in long games"
    if game.state.itemsize > 1024:
        yield f"a state has {game.state.itemsize:,} bytes, which are copied in every playout; smaller types are faster"
    if game.determinize is not None and game.retrace is None:
        yield (
            "there is no retrace: a determinize that contradicts what a player has seen some moves earlier may go unseen; with "
            "retrace(state, data), the way from a deal to a determinization, the audit finds it"
        )
    if game.determinize is not None and game.episode is None:
        yield "there is no episode: EPIC treats the whole game as one episode; return a label where a trick or round begins"
