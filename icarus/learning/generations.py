"""Generations: rounds of games without searches and of fits to them; then a match of searches that says whether it plays better.

Nothing but the settings decides what is played, so that the same settings and generations give the same evaluation, whoever plays. What is
kept, in a directory, are the rows of all matches and the evaluation of each generation; the same call goes on from there.
"""

import contextlib
import importlib.util
import itertools
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import attrs
import msgspec
import numpy as np

from icarus import checks
from icarus.arena.ledger import Ledger, check_settings, write_settings, write_whole
from icarus.arena.match import Files, Match, game_row, load_unedited
from icarus.arena.player import Entrant, read_entrant
from icarus.arena.workers import Workers, workers as start_workers
from icarus.compiler import seeded
from icarus.discovery.race import KEY, mean_reward
from icarus.engine.scheme import MO_ISMCTS
from icarus.engine.search import check_callable
from icarus.kernel import (
    CHANCE,
    AnyGame,
    Evaluation,
    Game,
    check_game,
    random_action,
    read_evaluation,
)
from icarus.kernel.evaluation import LearnedNetwork, facts_in, rules_of
from icarus.learning.curve import Generation, write_curve
from icarus.learning.encoding import fields_of, names_of
from icarus.learning.fitting import fitted, with_random_weights
from icarus.learning.selfplay import LONGEST_GAME, Positions, games_played, inputs_of
from icarus.load_files import digest_of
from icarus.statistics import Estimate, paired_difference

SETTINGS, ROWS = "learning.json", "games.jsonl"
NOBODY = -1  # the seat of a generation in games of its opponent against himself
LEAST = {"generations": 1, "games": 40, "rounds": 1, "iterations": 1, "deals": 2, "seed": 0}
COMPILED, PLAIN = (5000, 100), (500, 25)  # games of a round, at most; iterations in a match
DEALS, ROUNDS, MATCHES = range(3)  # streams of random numbers
SAMPLED = 60  # random games whose states say which facts vary
REDRAWN = 1 / 4  # of their states
CHUNKS = 8  # of the games of a round, whoever plays them
UNITS = 64  # hidden
CLEARLY = 0.99  # of the error: few weights are taken only if so much better on branches held out
RATE, SLOWER, LEAST_RATE = 1e-3, 0.95, 2e-4  # of learning, in each round
DEFAULT_MINUTES = 10.0
REFERENCE = Entrant("BASELINE >> NAST2")
JUDGE = Entrant("PUCT >> BASELINE", str(MO_ISMCTS.with_cutoff(0)))


@attrs.frozen(kw_only=True)
class LearningSettings:
    """How an evaluation is learned.

    Attributes:
        minutes: by the clock; a generation that would not end by then is not begun.
        generations: so many in all instead, however long they take.
        games: of a round, as long as there is room for their positions; 5,000 if not given, of a `PythonGame` 500.
        rounds: of a generation.
        judge: who plays with each evaluation in the matches, a strategy or an `Entrant`.
        reference: against whom, without evaluation, beside the generation before; the same.
        iterations: of its searches, 100 if not given, of a `PythonGame` 25; deals: of a match.
        seed: from which all seeds follow.
        files: Python files whose games are named.
    """

    minutes: float = DEFAULT_MINUTES
    generations: int | None = None
    games: int | None = None
    rounds: int = 5
    judge: Entrant = attrs.field(default=JUDGE, converter=read_entrant)
    reference: Entrant = attrs.field(default=REFERENCE, converter=read_entrant)
    iterations: int | None = None
    deals: int = 20
    seed: int = 0
    files: Sequence[str | Path] = ()

    def __attrs_post_init__(self) -> None:
        checks.positive("minutes", self.minutes)
        for name, least in LEAST.items():
            if getattr(self, name) is not None:
                checks.integer(name, getattr(self, name), least)

    def lasting(self) -> dict[str, Any]:
        """Those that decide what is played, as JSON can hold them."""
        table: dict[str, Any] = msgspec.to_builtins(attrs.evolve(self, files=()))
        for name in ("minutes", "generations", "files"):
            del table[name]
        return table


@attrs.frozen
class LearningProgress:
    """How far a generation is.

    Attributes:
        generation: its number.
        stage: "rounds" or "match"; done, total: rounds, or games of the match.
        error: on positions held out, by the last fit; None before the first.
        last: the generation before; None before the first.
        minutes: that all rounds of the generation take, as the first ones tell; 0 before.
    """

    generation: int
    stage: str
    done: int
    total: int
    error: float | None
    last: Generation | None
    minutes: float

    def __str__(self) -> str:
        parts = [f"generation {self.generation}"]
        if self.minutes >= 1:
            parts.append(f"about {self.minutes:.0f} min")
        if self.error is not None:
            parts.append(f"error {self.error:.3f}")
        if self.last is not None:
            parts.append(f"strength {self.last.against_reference.value:+.2f}")
        return ", ".join([*parts, self.stage])


Report = Callable[[LearningProgress], None]


@attrs.frozen
class Chunk:
    """Some games of a round, for any process, which finds the game by its name, or itself, and the files that it needs."""

    game: str | AnyGame
    files: Files
    evaluation: Evaluation
    games: int
    seed: tuple[int, ...]

    def __str__(self) -> str:
        return f"round {self.seed[2]} of {self.evaluation.game}"


def play_chunk(chunk: Chunk) -> tuple[tuple[int, ...], Positions]:
    """Play some games; returns their seed and their positions."""
    game = load_unedited(chunk.game, chunk.files).game
    return chunk.seed, games_played(game, chunk.evaluation, chunk.games, chunk.seed)


def learn(
    game: AnyGame | str,
    *,
    out: str | Path | None = None,
    workers: int = 1,
    cluster: str | None = None,
    report: Report = lambda report: None,
    **settings: Any,
) -> Evaluation:
    """Learn an evaluation of a game from its rules alone.

        learn("checkers", out="checkers.npz", minutes=10)

    Args:
        out: a file for the evaluation; beside it a directory with all that was played, where the same call goes on. Without it nothing is
            kept.
        workers: processes; only for a game that is given by its name.
        cluster: the address of a dask scheduler, whose processes play instead; or "local", for a cluster of `workers` on this machine.
        report: called before each round and after each game of a match.
        settings: the fields of `LearningSettings`.

    Raises:
        TypeError: an argument of another kind.
        ValueError: before the first game: a number out of its range, a game of which nothing can be learned or that does not end, a
            directory of another learning; scikit-learn is not installed.
    """
    check_callable("report", report, "a function of a LearningProgress")
    checks.integer("workers", workers, least=1)
    chosen, started = LearningSettings(**settings), time.monotonic()
    if importlib.util.find_spec("sklearn") is None:
        raise ValueError("learning needs scikit-learn: pip install 'icarus-mcts[learn]'")
    files = tuple((path, digest_of(path)) for path in map(str, chosen.files))
    loaded_game = load_unedited(game, files)
    loaded = loaded_game.game
    check_game("learn", loaded)
    for player in (chosen.judge, chosen.reference):
        player.agent(loaded_game.names, iterations=1)
    empty = empty_evaluation(loaded, chosen.seed)
    with contextlib.ExitStack() as stack:
        directory = (
            Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if out is None
            else directory_of(out)
        )
        games, iterations = COMPILED if isinstance(loaded, Game) else PLAIN
        chosen = attrs.evolve(
            chosen, games=chosen.games or games, iterations=chosen.iterations or iterations
        )
        plan = {"game": str(loaded), "rules": empty.rules} | chosen.lasting() | {"files": files}
        check_settings(directory / SETTINGS, plan, "learning", directory / ROWS)
        write_settings(directory / SETTINGS, plan)
        playing = stack.enter_context(start_workers(workers, cluster))
        ledger = stack.enter_context(Ledger(directory / ROWS, KEY))
        source = str(loaded) if isinstance(game, str) else game
        learning = Learning(source, files, chosen, empty, directory, ledger, playing, report)
        while True:
            learning.add_generation()
            if out is not None:
                write_whole(Path(out), learning.result.to_bytes())
                write_curve(learning.result, directory)
            is_done = (
                time.monotonic() - started + learning.took > 60 * chosen.minutes
                if chosen.generations is None
                else len(learning.generations) >= chosen.generations
            )
            if is_done:
                return learning.result


def directory_of(out: str | Path) -> Path:
    """The directory beside an evaluation's file in which its games are."""
    return Path(out).with_suffix(".learning")


def empty_evaluation(game: AnyGame, seed: int) -> Evaluation:
    """An evaluation without weights, in which every input has a row for each player to move, by random games.

    Raises:
        ValueError: a game does not end, or nothing varies.
    """
    states, sums = list[Any](), set[float]()
    for number in range(SAMPLED):
        state = game.new_initial_state((seed, DEALS, number))
        luck = random.Random(seed * SAMPLED + number)
        while not state.is_terminal():
            if len(state.history) >= LONGEST_GAME:
                raise ValueError(
                    f"a random game of {game} did not end within {LONGEST_GAME} actions: nothing can be learned"
                )
            states.append(game.ask("copy", state.data))
            player = state.current_player()
            if player != CHANCE and game.determinize is not None and luck.random() < REDRAWN:
                states.append(
                    state.redraw(player, state.beliefs(player), seeded(luck.randrange(1 << 60)))
                )
            state.apply_action(random_action(state, luck))
        sums.add(round(sum(state.returns()), 6))
    names = names_of(game, states)
    fields, limits = fields_of(game, facts_in(game, states, names), names)
    fields["units"] = 1
    rows = np.arange((game.players + 1) * fields["size"].sum(), dtype=np.int32)
    outputs = 1 if game.players == 2 and sums == {1.0} else game.players
    shapes = (len(rows), 1), 1, (1, outputs), outputs
    weights = (np.zeros(shape, np.float32) for shape in shapes)
    network = LearnedNetwork(fields, limits, rows, *weights)
    return Evaluation(network, game.players, str(game), rules_of(game), names)


@attrs.define
class Learning:
    """Generations that are made one after the other.

    Attributes:
        empty: the evaluation without weights.
        generations: so far, those that a call before has made included.
        evaluation: of the last that was taken.
        started, took: when the last one began, and its seconds.
    """

    game: str | AnyGame
    files: Files
    settings: LearningSettings
    empty: Evaluation
    directory: Path
    ledger: Ledger
    playing: Workers
    report: Report
    generations: list[Generation] = attrs.field(factory=list, init=False)
    evaluation: Evaluation = attrs.field(init=False)
    started: float = 0.0
    took: float = 0.0

    def __attrs_post_init__(self) -> None:
        self.evaluation = self._kept(0, self._random)

    def _file(self, number: int) -> Path:
        return self.directory / f"generation-{number}.npz"

    def _kept(self, number: int, make: Callable[[], Evaluation]) -> Evaluation:
        """The evaluation of a generation, which is made where its file is not there yet."""
        file = self._file(number)
        if not file.exists():
            write_whole(file, make().to_bytes())
        return read_evaluation(file)

    def _play(self, evaluation: Evaluation, number: int) -> Positions:
        """The positions of a round."""
        from scipy.sparse import vstack

        games = -(-(self.settings.games or 0) // CHUNKS)
        seeds = [(self.settings.seed, ROUNDS, number, i) for i in range(CHUNKS)]
        chunks = [Chunk(self.game, self.files, evaluation, games, seed) for seed in seeds]
        played = dict(self.playing.results(play_chunk, chunks))
        inputs, *others = zip(*(played[seed] for seed in seeds), strict=True)
        return Positions(vstack(inputs), *map(np.concatenate, others))

    def _random(self) -> Evaluation:
        positions = self._play(self.empty, 0)
        fits = []
        for is_apart in (True, False):
            new = with_random_weights(self.empty, positions, UNITS, self.settings.seed, is_apart)
            fits.append(fitted(new, of_rows(positions, new), RATE, self.settings.seed))
        (apart, error, _), (shared, error_of_shared, _) = fits
        return shared if error_of_shared < CLEARLY * error else apart

    def _next(self, number: int) -> Evaluation:
        """The evaluation after the rounds of a generation."""
        evaluation, error, variance = self.evaluation, 0.0, 0.0
        count = self.settings.rounds
        for i in range(count):
            turn = (number - 1) * count + i + 1
            self._tell(number, "rounds", i, count, error or None)
            positions = self._play(evaluation, turn)
            rate = max(RATE * SLOWER**turn, LEAST_RATE)
            evaluation, error, variance = fitted(
                evaluation, positions, rate, self.settings.seed + turn
            )
        return attrs.evolve(evaluation, about={"error": error, "variance": variance})

    def _tell(self, number: int, stage: str, done: int, total: int, error: float | None) -> None:
        last = self.generations[-1] if self.generations else None
        minutes = 0.0
        if stage == "rounds" and done > 0:
            minutes = (time.monotonic() - self.started) / done * total / 60
        self.report(LearningProgress(number, stage, done, total, error, last, minutes))

    def add_generation(self) -> None:
        """Make a generation, or read it, and judge it."""
        self.started, number = time.monotonic(), len(self.generations) + 1
        new = self._kept(number, lambda: self._next(number))
        before = [each.number for each in self.generations if each.is_taken]
        pairs = [self.settings.reference, *(self._player(each) for each in before[-1:])]
        differences = [self._difference(number, pair) for pair in pairs]
        last = differences[-1] if before else None
        is_taken = last is None or last.value > 0
        self.generations.append(
            Generation(
                number, new.about["error"], new.about["variance"], differences[0], last, is_taken
            )
        )
        if is_taken:
            self.evaluation = new
        self.took = time.monotonic() - self.started

    def _player(self, number: int) -> Entrant:
        file = self._file(number)
        return attrs.evolve(
            self.settings.judge, evaluation=f"{file}@{read_evaluation(file).digest}"
        )

    def _difference(self, number: int, opponent: Entrant) -> Estimate:
        """Of a generation to an opponent in his own place, on the same deals."""
        settings, deals = self.settings, range(self.settings.deals)
        player, seats = self._player(number), range(self.evaluation.players)
        matches = {}
        for deal, seat in itertools.product(deals, (*seats, NOBODY)):
            seated = [player if each == seat else opponent for each in seats]
            entrants = [attrs.evolve(each, iterations=settings.iterations) for each in seated]
            key = f"generation {number}", str(player), str(opponent), deal, seat
            seed = settings.seed, MATCHES, number, deal
            matches[deal, seat] = Match(key, self.game, tuple(entrants), seed, self.files)
        for done, _ in enumerate(self.ledger.played(matches.values(), game_row, self.playing)):
            self._tell(number, "match", done + 1, len(matches), None)

        def rewards(*places: int) -> list[float]:
            keys = [[matches[deal, seat].key for seat in places] for deal in deals]
            return [mean_reward([self.ledger.rows[key] for key in each], seats) for each in keys]

        return paired_difference(rewards(*seats), rewards(NOBODY))

    @property
    def result(self) -> Evaluation:
        """What is learned so far; its file tells how."""
        curve = msgspec.to_builtins(self.generations)
        return attrs.evolve(self.evaluation, about=self.settings.lasting() | {"generations": curve})


def of_rows(positions: Positions, evaluation: Evaluation) -> Positions:
    """Positions whose inputs are in columns, by the rows that an evaluation has for these."""
    rows = evaluation.network.rows[positions.inputs.indices]
    starts = np.r_[0, np.cumsum(rows >= 0)][positions.inputs.indptr]
    return positions._replace(inputs=inputs_of(evaluation, rows[rows >= 0], starts))
