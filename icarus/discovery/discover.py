"""Discovery from Python: settings, checks before the first game, and the race they ask for; and what was proven so far."""

import random
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs
import msgspec

from icarus import checks
from icarus.arena.match import load_unedited
from icarus.arena.player import Entrant, load_game, read_entrant
from icarus.arena.workers import check_processes, workers as start_workers
from icarus.discovery import race
from icarus.discovery.race import (
    PROOF_ONLY,
    SHARES,
    Discovery,
    RaceGames,
    RaceProgress,
    RaceProtocol,
    Report,
    plan_units,
)  # fmt: skip
from icarus.discovery.space import Point, SearchSpace, load_space
from icarus.engine.search import check_callable
from icarus.kernel import AnyGame, State, check_game, random_action
from icarus.load_files import digest_of

REFERENCE = "BASELINE >> NAST2"  # of the paper's sixteen the best over the games of its Figure 4
POOL = ("BASELINE", REFERENCE)
DEFAULT_ITERATIONS = 1000
TRIED = 50  # iterations, or one for each tree, of a search that shows that a configuration can be played
ROLES = {"dou-di-zhu": (0,)}  # seats that the paper judges by themselves (section 8): the landlord


def discover(
    game: AnyGame | str,
    *,
    to: str | Path | None = None,
    workers: int = 1,
    cluster: str | None = None,
    report: Report | None = None,
    **settings: Any,
) -> Discovery:
    """Find the composition that plays a game best, and prove it on new games.

        discover("knockout-whist", games=4000, iterations=1000, to="whist")

    Args:
        to: a directory for protocol, rows and page; the same call continues a race in it. Without it nothing is kept.
        workers: processes; for a game that is given by its name, or whose functions other processes can import. Each begins by running
            the script that calls: call below `if __name__ == "__main__":`.
        cluster: the address of a dask scheduler, whose processes play instead; or "local", for a cluster of `workers` on this machine.
        report: called after each batch.
        settings: of the race, see `plan_race`.

    Raises:
        TypeError: an argument of another kind.
        ValueError: before the first game: an invalid space, opponent or budget, a directory of another race or one that
            another process writes to, a file in its place, or no cluster; later: the processes that play have ended.
    """
    check_callable("report", report, "a function of a RaceProgress")
    report = report or (lambda progress: None)
    check_processes(workers, cluster, game)
    protocol = plan_race(game, **settings)
    game = protocol.game if isinstance(game, str) else game
    directory = None if to is None else Path(to)
    if directory is not None:
        protocol.check(directory)
    check_strategies(game, protocol, report)
    if directory is not None:
        protocol.write(directory)
    with (
        start_workers(workers, cluster) as playing,
        RaceGames(protocol, game, directory / race.ROWS if directory else None, playing) as games,
    ):
        return race.run(protocol, games, report)


def plan_race(
    game: AnyGame | str,
    *,
    games: int,
    space: SearchSpace | str | Path = "general",
    iterations: int | None = None,
    seconds: float | None = None,
    against: Sequence[str | Entrant] = POOL,
    candidate: str | Entrant | None = None,
    finalists: int = 5,
    level: float = 0.01,
    seats: Sequence[int] | None = None,
    seed: int = 0,
    files: Sequence[str | Path] = (),
) -> RaceProtocol:
    """The protocol of a race. Nothing is played.

    Args:
        games: the greatest number of games of the race.
        space: a `SearchSpace`, the name of a shipped one, or the path of a TOML file.
        iterations, seconds: the budget of each decision; 1,000 iterations if neither is given.
        against: the opponents, strategies or `Entrant`s; the last is the reference, which must be beaten.
        candidate: who alone is to be proven, in all games, in place of a space; a strategy or an `Entrant`.
        finalists: the greatest number of finalists.
        level: of significance, after Holm.
        seats: the seats that a configuration takes in turn; by default all, except in games of which the paper judges one role.
        seed: the seed of the race.
        files: Python files with further enhancements and games.

    Raises:
        ValueError: settings that make no race: no such game, seat or space, a number out of its range, no opponent, or so few games
            that they could prove nothing. TypeError: it is not a game, or no list where there must be one.
    """
    for name, value in {"against": against, "seats": seats, "files": files}.items():
        if value is not None and (isinstance(value, str) or not isinstance(value, Sequence)):
            raise TypeError(f"{name} is {value!r}; it must be a list")
    own_files = tuple((str(path), digest_of(path)) for path in map(Path, files))
    loaded = load_game(game, files).game
    check_game("discover", loaded)
    chosen = ROLES.get(loaded.name, range(loaded.players)) if seats is None else seats
    seats = tuple(checks.integer("seats", seat, 0, loaded.players - 1) for seat in chosen)
    if not seats or len(set(seats)) < len(seats):
        raise ValueError(
            f"seats: {seats} is empty or has a seat twice; each seat is played once on every deal"
        )
    if iterations is not None and seconds is not None:
        raise ValueError("give either iterations or seconds for each decision, not both")
    if seconds is not None:
        checks.positive("seconds", seconds)
    else:
        iterations = checks.integer(
            "iterations", DEFAULT_ITERATIONS if iterations is None else iterations, least=1
        )
    games = checks.integer("games", games, least=1)
    finalists = checks.integer("finalists", finalists, least=1, most=20)
    level = checks.real("level", level, 0, 0.5, above=True)
    seed = checks.integer("seed", seed, least=0)
    if not isinstance(space, SearchSpace):
        space = load_space(space)
    pool = tuple(map(read_entrant, against))
    if not pool:
        raise ValueError("against: no opponent is given; the last opponent is the reference")
    shares = SHARES
    if candidate is not None:
        space = candidate_space(candidate, pool[-1])
        finalists = 1
        shares = PROOF_ONLY
    # A reward deviates by ½ at most. The reference's score, from which the difference is taken, varies as much; not so if all seats are
    # taken, as it is then the mean reward of all players.
    deviation = 0.5 / len(seats) ** 0.5 * (2**0.5 if len(seats) < loaded.players else 1)
    reference_games = 1 if seconds is None else len(seats)
    units = plan_units(
        games, len(seats), finalists, len(space.factors), deviation, level, reference_games, shares
    )
    return RaceProtocol(
        game=str(loaded),
        seats=seats,
        space=space,
        finder="factorial",
        reference=pool[-1],
        pool=pool,
        iterations=iterations,
        seconds=seconds,
        games=games,
        units=units,
        finalists=finalists,
        level=level,
        deviation=deviation,
        seed=seed,
        files=own_files,
    )


def candidate_space(candidate: str | Entrant, reference: Entrant) -> SearchSpace:
    """A space whose last point is the candidate, and whose first one is the reference.

    Raises:
        ValueError: the candidate is the reference, or has or lacks only a setting that no space has.
    """
    candidate = read_entrant(candidate)
    if candidate == reference:
        raise ValueError(
            f"the candidate {candidate} is the reference that it is to beat; name another one"
        )
    if candidate.evaluation or candidate.random_moves:
        raise ValueError(
            f"the candidate {candidate} has a setting of its own; give an evaluation for all by --evaluation"
        )
    if candidate == attrs.evolve(reference, evaluation="", random_moves=0.0):
        raise ValueError(
            f"the candidate {candidate} is the reference {reference} without its evaluation and random moves; name another one"
        )
    # a factor has one level if both have the same
    factors = {
        name: tuple(dict.fromkeys([getattr(reference, name), getattr(candidate, name)]))
        for name in ("strategy", "scheme", "move_decay")
    }
    return SearchSpace(
        "{strategy}", factors, "of one candidate", scheme="{scheme}", move_decay="{move_decay}"
    )


def check_strategies(game: AnyGame | str, protocol: RaceProtocol, report: Report) -> None:
    """Read each opponent and what each level of each factor makes, and search with it for an instant, which compiles what it needs.

    Raises:
        ValueError: one is no strategy or scheme, or the game or the budget of the race cannot play it.
    """
    space = protocol.space
    loaded = load_unedited(game, protocol.files)
    for each in protocol.pool:
        each.player(loaded.names, **protocol.budget)
    space.check(loaded.names, **protocol.budget)
    start = first_decision(loaded.game, protocol.seed)
    entrants: list[tuple[Point | None, Entrant]] = [(None, each) for each in protocol.pool]
    entrants += [(point, space.configuration(point)) for point in space.covering()]
    for number, (point, entrant) in enumerate(entrants, 1):
        with space.refusing(point):
            iterations = max(TRIED, entrant.search.trees)
            player = attrs.evolve(entrant, random_moves=0.0).player(
                loaded.names, iterations=iterations
            )
            player.seated(loaded.game).search(start, (protocol.seed, race.CALIBRATION))
        report(RaceProgress("check", number, len(entrants)))


def first_decision(game: AnyGame, seed: int) -> State:
    """A state of a game in which a player has a choice."""
    state, luck = game.new_initial_state((seed, race.CALIBRATION)), random.Random(seed)
    while not state.is_terminal() and (state.is_chance_node() or len(state.legal_actions()) == 1):
        state.apply_action(random_action(state, luck))
    if state.is_terminal():
        raise ValueError(f"no player ever has a choice in {game}: there is nothing to discover")
    return state


# --------------------------------------------------------------------------------- what was proven so far: a table of the package


TABLE = "proven.json"


@attrs.frozen
class ProvenConfiguration:
    """A configuration that was proven better than another.

    Attributes:
        configuration: who won; its agents play with `configuration.agent(iterations=…)`.
        iterations: of each decision, at which it was proven.
        reference: who was beaten.
        mean, low, high: the difference in mean reward, and its 99 % interval.
        units: paired units of games that the proof has.
        p: after Holm's correction.
        rate: its iterations per second as a share of the reference's.
    """

    game: str
    configuration: Entrant
    iterations: int
    reference: Entrant
    mean: float
    low: float
    high: float
    units: int
    p: float
    rate: float

    def __str__(self) -> str:
        return (
            f"{self.configuration}: better than {self.reference} by {self.mean:.3f} [{self.low:.3f}, {self.high:.3f}] in {self.game} "
            f"at {self.iterations} iterations"
        )


def proven_configurations() -> dict[str, ProvenConfiguration]:
    """The table, by game."""
    table = msgspec.json.decode(files("icarus.discovery").joinpath(TABLE).read_bytes())
    return {
        game: msgspec.convert({"game": game} | line, ProvenConfiguration)
        for game, line in table.items()
    }


def discovered(game: str) -> ProvenConfiguration:
    """The composition that was proven best for a game.

    Args:
        game: its name, such as "othello".

    Raises:
        ValueError: no race proved anything; the message names the games for which one did. TypeError: `game` is not a name.
    """
    if not isinstance(game, str):
        raise TypeError(f"discovered needs the name of a game, such as 'othello', not {game!r}")
    discoveries = proven_configurations()
    if game not in discoveries:
        raise ValueError(
            f"no race has proved anything for {game!r}; there are results for {', '.join(discoveries) or 'no game yet'}; "
            f"run icarus discover {game}"
        )
    return discoveries[game]
