"""Discovery from Python: settings, checks before the first game, and the race they ask for."""

import itertools
import json
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus import checks, games
from icarus.algebra import Enhancement
from icarus.arena.player import Configuration, read_configuration
from icarus.arena.workers import workers as start_workers
from icarus.discovery.matches import CALIBRATION, Games, MatchSettings, race_row, usual_seats
from icarus.discovery.race import (
    FILE,
    ROWS,
    Discovery,
    RaceProgress,
    RaceProtocol,
    Report,
    check_no_rows,
    plan_units,
    read_protocol,
    run,
)
from icarus.discovery.space import LEAST_ITERATIONS, Space, SpaceError, load_space
from icarus.engine.validation import check_callable
from icarus.kernel.game import AnyGame
from icarus.kernel.python_game import check_game
from icarus.kernel.state import State
from icarus.load_files import digest_of, load_files
from icarus.specs import parse

REFERENCE = "BASELINE >> NAST2"  # of the paper's sixteen the best over the games of its Figure 4
POOL = ("BASELINE", REFERENCE)
RANDOM_GAMES = 20  # whose rewards must not always be equal
WARM, TIMED = 1, 2  # games before --hours is turned into a number of games
MARGIN = 0.8  # share of the hours that is planned


@attrs.frozen(kw_only=True)
class Settings:
    """The settings of a race.

    Attributes:
        space: a `Space`, the name of a shipped one, or the path of a TOML file.
        games: the greatest number of games of the race; or
        hours: its greatest duration, with all workers.
        iterations, seconds: the budget of each decision; 1,000 iterations if neither is given.
        against: the opponents, strategies or `Configuration`s; the last is the reference, which must be beaten.
        finalists: the greatest number of finalists.
        level: of significance, after Holm.
        seats: the seats that a configuration takes in turn; by default all, except in games of which the paper judges one role.
        seed: the seed of the race.
        files: Python files with further enhancements and games.
    """

    space: Space | str | Path = "general"
    games: int | None = None
    hours: float | None = None
    iterations: int | None = None
    seconds: float | None = None
    against: Sequence[str | Configuration] = POOL
    finalists: int = 5
    level: float = 0.01
    seats: Sequence[int] | None = None
    seed: int = 0
    files: Sequence[str | Path] = ()


def discover(
    game: AnyGame | str,
    settings: Settings | None = None,
    *,
    to: str | Path | None = None,
    workers: int = 1,
    cluster: str | None = None,
    report: Report = lambda report: None,
    **changes: Any,
) -> Discovery:
    """Find the composition that plays a game best, and prove it on new games.

        discover("knockout-whist", games=4000, iterations=1000, to="whist")

    Args:
        settings: see `Settings`; `changes` are fields of it.
        to: a directory for protocol, rows and page; the same call continues a race in it. Without it nothing is kept.
        workers: processes; only for a game that is given by its name.
        cluster: the address of a dask scheduler, whose processes play instead; or "local", for a cluster of `workers` on this machine.
        report: called after each batch.

    Raises:
        TypeError: an argument of another kind.
        ValueError: before the first game: an invalid space, opponent or budget, a directory of another race or one that
            another process writes to, or no cluster; later: the processes that play have ended.
    """
    if not isinstance(settings, Settings | None):
        raise TypeError(f"settings is {settings!r}; it must be Settings(games=4000), or write discover(…, games=4000)")
    check_callable("report", report, "a function of a RaceProgress")
    chosen = attrs.evolve(settings or Settings(), **changes)
    checks.integer("workers", workers, least=1)
    match_settings = match_settings_of(game, chosen)
    directory = None if to is None else Path(to)
    with start_workers(workers, cluster) as playing:
        protocol = protocol_of(match_settings, chosen, playing.count, directory, report)
        if directory is not None:
            protocol.write(directory)
        with Games(match_settings, directory / ROWS if directory else None, playing) as games_played:
            return run(protocol, games_played, report)


def match_settings_of(game: AnyGame | str, settings: Settings) -> MatchSettings:
    """Where the games of a race are played.

    Raises:
        ValueError: no such game or seat, or no budget of a decision. TypeError: it is not a game, or no list where there must be one.
    """
    for name in ("against", "seats", "files"):
        value = getattr(settings, name)
        if value is not None and (isinstance(value, str) or not isinstance(value, Sequence)):
            raise TypeError(f"{name} is {value!r}; it must be a list")
    files = tuple(str(file) for file in settings.files)
    load_files([Path(file) for file in files])
    loaded = games.load(game) if isinstance(game, str) else game
    check_game("discover", loaded)
    seats = settings.seats if settings.seats is not None else usual_seats(loaded)
    places = tuple(checks.integer("seats", seat, 0, loaded.players - 1) for seat in seats)
    if not places:
        raise ValueError(f"seats: the list is empty; {loaded} has the {checks.indices_text('seat', loaded.players)}")
    if len(set(places)) < len(places):
        raise ValueError(f"seats: {places} has a seat twice; each seat is played once on every deal")
    if settings.iterations is not None and settings.seconds is not None:
        raise ValueError("give either iterations or seconds for each decision, not both")
    iterations, seconds = settings.iterations, settings.seconds
    if seconds is not None:
        seconds = checks.positive("seconds", seconds)
    else:
        iterations = checks.integer("iterations", DEFAULT_ITERATIONS if iterations is None else iterations, least=1)
    seed = checks.integer("seed", settings.seed, least=0)
    return MatchSettings(str(loaded) if isinstance(game, str) else loaded, places, iterations, seconds, seed, files)


DEFAULT_ITERATIONS = 1000


def protocol_of(
    match_settings: MatchSettings, settings: Settings, workers: int, directory: Path | None, report: Report
) -> RaceProtocol:
    """The protocol of a race, after all checks that can be made before the first game: the cheap ones first.

    Raises:
        ValueError: see `discover`.
    """
    space, pool = space_and_pool(settings)
    number = settings.games
    if number is None and directory is not None and (directory / FILE).exists():
        number = read_protocol(directory).games
    protocol = None if number is None else plan_race(match_settings, settings, number)
    if directory is not None and protocol is not None:
        protocol.check(directory)
    elif directory is not None:
        check_no_rows(directory)
    check_readable(match_settings, space, pool)
    refuse_equal_rewards(match_settings.loaded(), match_settings.seed)
    check_playable(match_settings, space, pool, report)
    return protocol or plan_race(match_settings, settings, games_of(match_settings, settings, pool, workers))


def space_and_pool(settings: Settings) -> tuple[Space, tuple[Configuration, ...]]:
    """What is searched, and the opponents.

    Raises:
        ValueError: settings that make no race: a number out of its range, no budget, or no opponent.
    """
    checks.integer("finalists", settings.finalists, least=1, most=20)
    checks.real("level", settings.level, 0, 0.5, above=True)
    if (settings.games is None) == (settings.hours is None):
        raise ValueError("a race needs a budget: give either games=4000 or hours=2 (--games, --hours)")
    if settings.hours is not None:
        checks.positive("hours", settings.hours)
    if settings.games is not None:
        checks.integer("games", settings.games, least=1)
    space = settings.space if isinstance(settings.space, Space) else load_space(settings.space)
    pool = tuple(each if isinstance(each, Configuration) else read_configuration(each) for each in settings.against)
    if not pool:
        raise ValueError("against: no opponent is given; the last opponent is the reference")
    return space, pool


def plan_race(match_settings: MatchSettings, settings: Settings, number: int) -> RaceProtocol:
    """The protocol of a race of so many games. Nothing is played.

    Raises:
        ValueError: settings that make no race, or so few games that they could prove nothing.
    """
    space, pool = space_and_pool(settings)
    seats, players = len(match_settings.seats), match_settings.loaded().players
    deviation = 0.5 / seats**0.5 * (2**0.5 if seats < players else 1)
    reference_games = 1 if match_settings.seconds is None else seats
    finalists, factors = settings.finalists, len(space.factors)
    return RaceProtocol(
        str(match_settings.game),
        match_settings.seats,
        space,
        "factorial",
        pool[-1],
        pool,
        match_settings.iterations,
        match_settings.seconds,
        number,
        plan_units(number, seats, finalists, factors, deviation, settings.level, reference_games),
        finalists,
        settings.level,
        deviation,
        match_settings.seed,
        tuple((file, digest_of(file)) for file in match_settings.files),
    )


def check_readable(match_settings: MatchSettings, space: Space, pool: Sequence[Configuration]) -> None:
    """Read each opponent, and what each level of each factor makes. Nothing is played or compiled.

    Raises:
        ValueError: one is no strategy or scheme.
    """
    for configuration in pool:
        configuration.agent(iterations=LEAST_ITERATIONS, **match_settings.names())
    space.check(match_settings.names())


def check_playable(match_settings: MatchSettings, space: Space, pool: Sequence[Configuration], report: Report) -> None:
    """Search with each opponent and each level of each factor for an instant, which also compiles what they need.

    Raises:
        ValueError: the game cannot play one of them.
    """
    start, points = first_decision(match_settings.loaded(), match_settings.seed), space.covering()
    numbers = itertools.count(1)

    def accept(configuration: Configuration) -> None:
        try_out(match_settings, configuration, start)
        report(RaceProgress("check", next(numbers), len(pool) + len(points), str(configuration)))

    for configuration in pool:
        accept(configuration)
    for point in points:
        with space.refusing(point):
            accept(space.configuration(point))


def games_of(match_settings: MatchSettings, settings: Settings, pool: Sequence[Configuration], workers: int) -> int:
    """The number of games that the hours allow, by the time of a few games.

    Raises:
        ValueError: the hours are not a positive number.
    """
    hours = checks.positive("hours", settings.hours)
    times = []
    for number in range(WARM + TIMED):
        started = time.perf_counter()
        race_row(match_settings.match(CALIBRATION, (pool[-1], pool[0]), number, match_settings.seats[0]))
        times.append(time.perf_counter() - started)
    return max(1, int(hours * 3600 * workers * MARGIN / float(np.mean(times[WARM:]))))


def first_decision(game: AnyGame, seed: int) -> State:
    """A state of a game in which a player has a choice."""
    state, rng = game.new_initial_state((seed, CALIBRATION)), np.random.default_rng(seed)
    while not state.is_terminal() and (state.is_chance_node() or len(state.legal_actions()) == 1):
        state.apply_action(random_action(state, rng))
    if state.is_terminal():
        raise ValueError(f"no player ever has a choice in {game}: there is nothing to discover")
    return state


def random_action(state: State, rng: np.random.Generator) -> int:
    """A legal action, or an outcome of chance."""
    if state.is_chance_node():
        outcomes = state.chance_outcomes()
        weights = np.array([probability for _, probability in outcomes])
        return int(outcomes[int(rng.choice(len(outcomes), p=weights / weights.sum()))][0])
    legal = state.legal_actions()
    return int(legal[int(rng.integers(len(legal)))])


def try_out(match_settings: MatchSettings, configuration: Configuration, state: State) -> None:
    """Search a state with a configuration for an instant: compiles what it needs, and refuses what the game cannot play.

    Raises:
        ValueError: see `icarus.search`.
    """
    agent = configuration.agent(iterations=TRIED, **match_settings.names())
    agent.search(state, (match_settings.seed, CALIBRATION))


TRIED = 50  # iterations


def refuse_equal_rewards(game: AnyGame, seed: int) -> None:
    """Refuse a game in which everybody always gets the same: there is nothing to be good at.

    Raises:
        ValueError: this is the case in a few random games.
    """
    rng, returns = np.random.default_rng(seed), set()
    for number in range(RANDOM_GAMES):
        state = game.new_initial_state((seed, CALIBRATION, number))
        while not state.is_terminal():
            state.apply_action(random_action(state, rng))
        returns |= set(state.returns())
    if len(returns) == 1:
        raise ValueError(
            f"in {RANDOM_GAMES} random games of {game} every player got {returns.pop():g}: there is nothing to discover"
        )


__all__ = ["Discovery", "Settings", "SpaceError", "discover"]


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
    configuration: Configuration
    iterations: int
    reference: Configuration
    mean: float
    low: float
    high: float
    units: int
    p: float
    rate: float

    @property
    def strategy(self) -> Enhancement:
        """The composition, without what else the configuration says."""
        return parse(self.configuration.strategy)

    def __str__(self) -> str:
        return (
            f"{self.configuration}: better than {self.reference} by {self.mean:.3f} [{self.low:.3f}, {self.high:.3f}] in {self.game} "
            f"at {self.iterations} iterations"
        )


def proven_configurations() -> dict[str, ProvenConfiguration]:
    """The table, by game."""
    table = json.loads(files("icarus.discovery").joinpath(TABLE).read_text("utf-8"))
    for line in table.values():
        for name in ("configuration", "reference"):
            line[name] = Configuration(**line[name])
    return {game: ProvenConfiguration(game, **line) for game, line in table.items()}


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
