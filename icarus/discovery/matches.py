"""The games of a race: who plays, as text; games by keys of their own, kept as rows, so that a killed race goes on; who plays them."""

import contextlib
import logging
import re
import signal
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import attrs

from icarus import games
from icarus.algebra.parsing import Operand
from icarus.engine.match import Agent, Decision, play
from icarus.engine.scheme import MO_ISMCTS, parse_scheme
from icarus.kernel.game import AnyGame
from icarus.load_files import load_files
from icarus.row_files import line_of, naming_file, open_to_append, read_lines, row_of
from icarus.specs import parse


@attrs.frozen
class Configuration:
    """Who plays: a strategy, and how it searches; all as text, so that rows can hold it.

    Attributes:
        strategy: as `icarus.parse` reads it.
        scheme: as `icarus.parse_scheme` reads it, with its cut-off.
        move_decay: see `icarus.Agent`.
    """

    strategy: str
    scheme: str = str(MO_ISMCTS)
    move_decay: float = 0.0

    def agent(self, iterations: int | None = None, seconds: float | None = None, **names: Operand) -> Agent:
        """The player of a match.

        Args:
            names: enhancements that the strategy may name, see `icarus.parse`.

        Raises:
            ValueError: the strategy or the scheme cannot be read.
        """
        scheme, strategy = parse_scheme(self.scheme), parse(self.strategy, **names)
        return Agent(strategy, iterations=iterations, seconds=seconds, scheme=scheme, move_decay=self.move_decay)

    def __str__(self) -> str:
        usual = Configuration(self.strategy)
        changed = [f"{name} = {value}" for name, value in attrs.asdict(self).items() if value != getattr(usual, name)]
        return self.strategy + (f"   [{', '.join(changed)}]" if changed else "")


_TEXT = re.compile(
    r"(?P<strategy>.+?)(\s+\[(scheme = (?P<scheme>.+?))?(, )?(move_decay = (?P<decay>[0-9.]+(e-[0-9]+)?))?\])?"
)


def read_configuration(text: str) -> Configuration:
    """The configuration that a text of `str(configuration)` stands for.

    Raises:
        ValueError: `text` is not a configuration. TypeError: it is no text.
    """
    if not isinstance(text, str):
        raise TypeError(f"a configuration must be a Configuration or a str, such as 'RAVE >> MAST', not {text!r}")
    match = _TEXT.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a configuration")
    return Configuration(match["strategy"], match["scheme"] or str(MO_ISMCTS), float(match["decay"] or 0))


# ------------------------------------------------------------------------------------------------------------------------ matches


CALIBRATION, EXPLORATION, PROOF, ABLATION = range(4)  # streams of random numbers: no deal of one is a deal of another
STREAMS = ("calibration", "exploration", "proof", "ablation")
KEY = ("stream", "player", "opponent", "deal", "seat")  # of a row: which match it is of
Row = dict[str, Any]


@attrs.frozen
class Match:
    """One game to be played.

    Attributes:
        stream: what it is for; decides, with the race's seed and the deal, everything random.
        player: who is judged, in `seat`.
        opponent: who sits in all other seats.
    """

    stream: int
    player: Configuration
    opponent: Configuration
    deal: int
    seat: int

    @property
    def key(self) -> tuple[object, ...]:
        """What a row must agree in to be this game's."""
        return STREAMS[self.stream], str(self.player), str(self.opponent), self.deal, self.seat


@attrs.frozen
class MatchSettings:
    """How matches are played.

    Attributes:
        game: by its name, or itself; only a name can be given to other processes.
        seats: which the player who is judged takes in turn, on the same deal.
        iterations, seconds: the budget of each decision; one of them is None.
        seed: of the race.
        files: Python files whose enhancements and games may be named.
    """

    game: str | AnyGame
    seats: tuple[int, ...]
    iterations: int | None
    seconds: float | None
    seed: int
    files: tuple[str, ...] = ()

    def loaded(self) -> AnyGame:
        """The game itself."""
        self.names()
        return games.load(self.game) if isinstance(self.game, str) else self.game

    def names(self) -> Mapping[str, Operand]:
        """What strategies may name besides the catalogue."""
        return load_files([Path(file) for file in self.files])

    def play(self, match: Match) -> Row:
        """Play a match; the same one whenever and wherever, unless its budget is in seconds."""
        game, agent, opponent = self.loaded(), self.agent(match.player), self.agent(match.opponent)
        agents = [agent if seat == match.seat else opponent for seat in range(game.players)]
        log = play(game, agents, seed=(self.seed, match.stream, match.deal))
        choices = [each for each in log.decisions if each.legal > 1]
        return dict(zip(KEY, match.key, strict=True)) | {
            "returns": [round(float(reward), 9) for reward in log.returns],
            "moves": len(log.actions),
            "work": work_of(each for each in choices if each.player == match.seat),
            "work_of_others": work_of(each for each in choices if each.player != match.seat),
            "seconds": round(log.seconds, 4),
        }

    def agent(self, configuration: Configuration) -> Agent:
        """Who plays as a configuration says."""
        return configuration.agent(self.iterations, self.seconds, **self.names())


class Keyed(Protocol):
    """What is played once."""

    @property
    def key(self) -> tuple[object, ...]:
        """What a row must agree in to be this game's (see `key_of`)."""


class Playing(Protocol):
    """Who plays matches; what is given to other processes."""

    def play(self, match: Any) -> Row:
        """Play a match, whose row agrees with its key."""


def work_of(decisions: Iterable[Decision]) -> list[float]:
    """The iterations of some decisions, and the seconds that they took."""
    spent = [(each.iterations, each.seconds) for each in decisions]
    return [sum(iterations for iterations, _ in spent), round(sum(seconds for _, seconds in spent), 4)]


def key_of(row: Row) -> tuple[object, ...]:
    """Which match a row is of; see `Match.key`."""
    return tuple(row[name] for name in KEY)


class Rows:
    """Rows of games, kept in memory and, where a path is given, in a file of a line each, which no other process may write to meanwhile.

    Args:
        executor: hands games to other processes, see `icarus.discovery.matches`.

    Raises:
        ValueError: another process writes to the file, or a line is damaged.

    Attributes:
        rows: of the games played, by their keys, in the order in which they were.
    """

    def __init__(self, settings: Playing, path: Path | None = None, executor: Executor | None = None) -> None:
        self.settings, self.path, self._executor = settings, path, executor
        self._file = open_to_append(path) if path else None
        try:
            self.rows: dict[tuple[object, ...], Row] = {key_of(row): row for row in read_rows(path)} if path else {}
        except ValueError:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def play(self, matches: Iterable[Keyed]) -> Iterator[Row]:
        """The rows of matches in their order; those that are not kept yet are played.

        Raises:
            ValueError: the processes that play, or the scheduler of a cluster, have gone.
        """
        pending = list(matches)
        new = list({match.key: match for match in pending if match.key not in self.rows}.values())
        try:
            for row in self._executor.map(self.settings.play, new) if self._executor else map(self.settings.play, new):
                self._keep(row)
        except (BrokenExecutor, CancelledError):
            advice = "finished games are kept; run the same command to continue"
            rest = advice if self.path else "nothing is kept without a path"
            raise ValueError(f"the processes that play have ended; {rest}") from None
        return (self.rows[match.key] for match in pending)

    def _keep(self, row: Row) -> None:
        self.rows[key_of(row)] = row
        if self.path is not None and self._file is not None:
            with naming_file(self.path):
                self._file.write(line_of(row))
                self._file.flush()


class Games(Rows):
    """The games of a race."""

    settings: MatchSettings

    def scores(
        self, stream: int, pairs: Sequence[tuple[Configuration, Configuration]], deals: Sequence[int]
    ) -> list[float]:
        """What each player gets on each deal, in the mean over the seats that he takes in turn.

        Args:
            pairs: (player, opponent); who plays against himself is played once, for all seats.
            deals: of each pair.
        """
        seats, matches = self.settings.seats, list[Match]()
        for (player, opponent), deal in zip(pairs, deals, strict=True):
            alone = player == opponent and self.settings.seconds is None
            matches += [Match(stream, player, opponent, deal, seat) for seat in (seats[:1] if alone else seats)]
        rows = {match.key: row for match, row in zip(matches, self.play(matches), strict=True)}
        return [
            sum(reward_in(rows, Match(stream, *pair, deal, seat), seats[0]) for seat in seats) / len(seats)
            for pair, deal in zip(pairs, deals, strict=True)
        ]


def reward_in(rows: Mapping[tuple[object, ...], Row], match: Match, first: int) -> float:
    """What the player of a match gets; one who plays only itself has one game for all seats, in the first."""
    row = rows.get(match.key) or rows[attrs.evolve(match, seat=first).key]
    return float(row["returns"][match.seat])


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, the packed ones first; a last line without its end, which is being written or never was, is passed over.

    Of a game that is in both files the packed row counts.

    Raises:
        ValueError: a line is damaged, or the packed file is.
    """
    rows = dict[tuple[object, ...], Row]()
    for line, place in read_lines(path).items():
        row = row_of(line, place)
        rows.setdefault(key_of(row), row)
    return list(rows.values())


ROLES = {"dou-di-zhu": (0,)}  # that the paper judges by themselves: the landlord


def usual_seats(game: AnyGame) -> tuple[int, ...]:
    """The seats that a player takes in turn: all, but for games of which the paper judges one role (section 8)."""
    return ROLES.get(game.name, tuple(range(game.players)))


# ---------------------------------------------------------------------------------------------------------------------- processes


if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
PATIENCE = 10  # seconds in which a scheduler must answer
# Ctrl-C comes to all processes of a terminal; the first one ends the others. A local cluster's workers run this text.
IGNORE_INTERRUPTS = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"


@attrs.frozen
class Processes:
    """Who plays.

    Attributes:
        executor: hands games to other processes; None where this process plays itself.
        count: how many games are played at once.
    """

    executor: Executor | None
    count: int


@contextlib.contextmanager
def processes(number: int, cluster: str | None = None) -> Iterator[Processes]:
    """So many processes of this machine, or those of a cluster, see `connection`.

    Raises:
        ValueError: see `connection`.
    """
    if cluster is not None:
        with connection(cluster, number) as client:
            yield Processes(client.get_executor(pure=False), max(1, sum(client.nthreads().values())))
    elif number > 1:
        pool = ProcessPoolExecutor(number, get_context("spawn"), signal.signal, (signal.SIGINT, signal.SIG_IGN))
        try:
            yield Processes(pool, number)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    else:
        yield Processes(None, 1)


@contextlib.contextmanager
def connection(address: str, workers: int) -> "Iterator[Client]":
    """A client of a dask cluster; the connection, or the local cluster, ends with the block.

    Args:
        address: of a running scheduler, such as tcp://host:8786, or "local". All machines need the same packages and files.
        workers: how many processes a local cluster has.

    Raises:
        ValueError: no scheduler answers there, or dask is not installed.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise ValueError("a cluster needs dask: pip install 'icarus-mcts[cluster]'") from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what goes wrong is told in a sentence
    with contextlib.ExitStack() as stack:
        place: LocalCluster | str = address
        if address == LOCAL:
            quiet = {"dashboard_address": None, "preload": IGNORE_INTERRUPTS, "silence_logs": logging.CRITICAL}
            place = stack.enter_context(LocalCluster(n_workers=workers, threads_per_worker=1, **quiet))
        try:
            client = Client(place, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise ValueError(f"no dask scheduler answers at {address!r}: {error}") from None
        yield stack.enter_context(client)
