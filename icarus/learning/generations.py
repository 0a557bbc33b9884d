"""Generations: rounds of games without searches and of fits to them; then a match of searches that says whether it plays better.

Nothing but the settings decides what is played, so that the same settings and generations give the same evaluation, whoever plays. What is
kept, in a directory, are the rows of all matches and the evaluation of each generation; the same call goes on from there.
"""

import importlib.util
import itertools
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
from icarus.arena.match import Files, Match, game_row, load_unedited, seated
from icarus.arena.player import Entrant, read_entrant, with_digest
from icarus.arena.workers import Workers, check_processes, workers as start_workers
from icarus.discovery.race import KEY, mean_reward
from icarus.engine.lowering import reads_heuristic
from icarus.engine.search import check_callable
from icarus.kernel import AnyGame, Evaluation, Game, check_game, read_evaluation
from icarus.learning.encoding import empty_evaluation
from icarus.learning.fitting import fitted, with_random_weights
from icarus.learning.report import Generation, write_curve
from icarus.learning.selfplay import CHUNKS, LONGEST_BRANCH, Positions, games_played, inputs_of
from icarus.load_files import digest_of
from icarus.statistics import Estimate, paired_difference

SETTINGS, ROWS = "learning.json", "games.jsonl"
_KEPT = ".learning"  # the end of the name of a directory with all that was played
NOBODY = -1  # the seat of a generation in games of its opponent against himself
LEAST = {"games": 40, "rounds": 1, "iterations": 1, "deals": 2, "seed": 0}
COMPILED = {"games": 5000, "iterations": 100}
PLAIN = {"games": 500, "iterations": 25}  # of a game in plain Python
ROUNDS, MATCHES = 1, 2  # streams of random numbers; 0 is that of the states that are encoded
UNITS = 64  # hidden
CLEARLY = 0.99  # of the error: few weights are taken only if so much better on branches held out
RATE = 1e-3  # of learning, in the first round
SLOWER = 0.95  # the factor by which it falls from round to round
LEAST_RATE = 2e-4
DEFAULT_MINUTES = 10.0
REFERENCE = Entrant("BASELINE >> NAST2")
JUDGE = read_entrant("PUCT >> BASELINE [scheme = MO_ISMCTS with cutoff=0]")


@attrs.frozen(kw_only=True)
class LearningSettings:
    """How an evaluation is learned.

    Attributes:
        minutes: by the clock; a generation that would not end by then is not begun, as those tell that the same call has made: its first
            one is, if there is time left.
        generations: so many in all instead, however long they take.
        games: of a round, rounded up to a multiple of eight, as long as there is room for their positions; 5,000 if not given, of a
            `PythonGame` 500.
        rounds: of a generation.
        judge: who plays with each evaluation in the matches, a strategy or an `Entrant`; he must read it.
        reference: against whom, without evaluation, beside the generation before; the same.
        iterations: of its searches, 100 if not given, of a `PythonGame` 25; deals: of a match.
        seed: from which all seeds follow.
    """

    minutes: float = DEFAULT_MINUTES
    generations: int | None = None
    games: int
    rounds: int = 5
    judge: Entrant = attrs.field(default=JUDGE, converter=read_entrant)
    reference: Entrant = attrs.field(default=REFERENCE, converter=read_entrant)
    iterations: int
    deals: int = 20
    seed: int = 0

    def __attrs_post_init__(self) -> None:
        checks.positive("minutes", self.minutes)
        if self.generations is not None:
            checks.integer("generations", self.generations, least=1)
        for name, least in LEAST.items():
            checks.integer(name, getattr(self, name), least)

    def lasting(self) -> dict[str, Any]:
        """The settings that decide what is played, as JSON can hold them."""
        table: dict[str, Any] = msgspec.to_builtins(self)
        del table["minutes"], table["generations"]
        return table


@attrs.frozen
class LearningProgress:
    """How far a generation is.

    Attributes:
        generation: its number.
        stage: "rounds" or "match"; done, total: rounds, or games of the match.
        last: the generation before; None before the first.
        error: on positions held out, by the last fit; None in a match.
        minutes: that all rounds of the generation take, as the first ones tell; 0 before.
    """

    generation: int
    stage: str
    done: int
    total: int
    last: Generation | None
    error: float | None = None
    minutes: float = 0.0

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
    """Some games of a round, with all that a process needs to play them."""

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
    files: Sequence[str | Path] = (),
    workers: int = 1,
    cluster: str | None = None,
    report: Report | None = None,
    **settings: Any,
) -> Evaluation:
    """Learn an evaluation of a game from its rules alone.

        learn("checkers", out="checkers.npz", minutes=10)

    Args:
        out: a file for the evaluation; beside it a directory with all that was played, where the same call goes on. Without it nothing is
            kept.
        files: Python files whose games are named.
        workers: processes; for a game that is given by its name, or whose functions other processes can import. Each begins by running
            the script that calls: call below `if __name__ == "__main__":`.
        cluster: the address of a dask scheduler, whose processes play instead; or "local", for a cluster of `workers` on this machine.
        report: called before each round; of a match before the first game that is missing, and after each game.
        settings: the fields of `LearningSettings`.

    Raises:
        TypeError: an argument of another kind.
        ValueError: before the first game: a number out of its range, a game of which nothing can be learned or that does not end, a
            directory of another learning, or one in place of the file; a judge that reads no evaluation, or has its own; a game that
            other processes cannot be given; scikit-learn is not installed.
    """
    started = time.monotonic()
    check_callable("report", report, "a function of a LearningProgress")
    report = report or (lambda progress: None)
    check_processes(workers, cluster, game)
    if importlib.util.find_spec("sklearn") is None:
        raise ValueError("learning needs scikit-learn: pip install 'icarus-mcts[learn]'")
    if isinstance(files, str):
        raise TypeError(f"files is {files!r}; it must be a list")
    digests = tuple((str(path), digest_of(path)) for path in map(Path, files))
    loaded = load_unedited(game, digests)
    check_game("learn", loaded.game)
    defaults = COMPILED if isinstance(loaded.game, Game) else PLAIN
    # rows and files hold Python's own numbers
    numbers = {name: checks.own_number(value) for name, value in settings.items()}
    chosen = LearningSettings(**defaults | numbers)
    # a strategy that there is not is refused before anything is played
    judge = chosen.judge.agent(loaded.names, iterations=chosen.iterations)
    chosen.reference.agent(loaded.names, iterations=chosen.iterations)
    if judge.evaluation is not None:
        raise ValueError(
            f"judge is {str(chosen.judge)!r}, but it plays with the evaluation of each generation; leave out its own"
        )
    if not reads_heuristic(judge.strategy, judge.scheme):
        raise ValueError(
            f"judge is {str(chosen.judge)!r}, which reads no evaluation: no playout is cut off, and no slot reads a heuristic; "
            f"give one such as {str(JUDGE)!r}"
        )
    empty = empty_evaluation(loaded.game, chosen.seed)
    plan = {"game": empty.game, "rules": empty.rules, **chosen.lasting(), "files": digests}
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(out or f"{temporary}/evaluation.npz")
        directory = directory_of(out)
        evaluations = [*directory.glob("generation-*.npz")]
        check_settings(directory / SETTINGS, plan, "learning", directory / ROWS, *evaluations)
        write_settings(directory / SETTINGS, plan)
        # other processes may have begun in another directory
        full = tuple((str(Path(file).resolve()), digest) for file, digest in digests)
        with start_workers(workers, cluster) as playing, Ledger(directory / ROWS, KEY) as ledger:
            learning = Learning(game, full, chosen, empty, directory, ledger, playing, report)
            while True:
                began = time.monotonic()
                learning.add_generation()
                result = learning.result
                write_whole(out, result.to_bytes())
                write_curve(result, directory)
                took = time.monotonic() - began
                number = len(learning.generations)
                # what is kept, from generation 0 on, is read whatever the time
                is_read = number >= len(evaluations) - 1
                is_late = time.monotonic() + took > started + 60 * chosen.minutes
                is_last = number == chosen.generations
                if is_last or (chosen.generations is None and is_read and is_late):
                    return result


def directory_of(out: Path) -> Path:
    """The directory, beside the file of an evaluation, of the games that it was learned from.

    Raises:
        ValueError: `out` cannot be a file.
    """
    if out.is_dir() or out.suffix == _KEPT:
        raise ValueError(
            f"out is {str(out)!r}, the name of a directory; it must be that of a file, such as othello.npz"
        )
    return out.with_suffix(_KEPT)


@attrs.define
class Learning:
    """Generations that are made one after the other, each from the last one that was taken.

    Attributes:
        empty: the evaluation without weights.
        generations: so far, those that a call before has made included.
        latest: the number of the last one that was taken; 0 before the first.
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
    latest: int = 0

    def _file(self, number: int) -> Path:
        return self.directory / f"generation-{number}.npz"

    def evaluation(self, number: int) -> Evaluation:
        """The evaluation of a generation, which is made where its file is not there yet; number 0 is learned from random games alone."""
        file = self._file(number)
        if not file.exists():
            new = self._next() if number else self._first()
            write_whole(file, new.to_bytes())
        return read_evaluation(file)

    def _play(self, evaluation: Evaluation, number: int) -> Positions:
        """The positions of a round, those of all chunks in the order of their seeds."""
        from scipy.sparse import vstack

        games = -(-self.settings.games // CHUNKS)
        key = self.settings.seed, ROUNDS, number
        chunks = (Chunk(self.game, self.files, evaluation, games, (*key, i)) for i in range(CHUNKS))
        parts = [positions for _, positions in sorted(self.playing.results(play_chunk, chunks))]
        inputs, *arrays = zip(*parts, strict=True)
        positions = Positions(vstack(inputs), *map(np.concatenate, arrays))
        if positions.branches.sum() < 2:  # the first one is held out
            raise ValueError(
                f"the games of a round of {evaluation.game} have too few positions to learn from: nobody has to decide, "
                f"or they do not end within {LONGEST_BRANCH} positions; give more games"
            )
        return positions

    def _first(self) -> Evaluation:
        """The first evaluation, fitted to random games twice: with weights of its own for each player to move, and with the same for all.

        The second is taken if its error is clearly smaller.
        """
        positions = self._play(self.empty, 0)

        def fit(is_apart: bool) -> Evaluation:
            new = with_random_weights(self.empty, positions, UNITS, self.settings.seed, is_apart)
            # The positions have rows of the evaluation without weights, one for each input; these become rows of the new one, -1 for none.
            rows = new.network.rows[positions.inputs.indices]
            inputs = inputs_of(new, rows, positions.inputs.indptr)
            return fitted(new, positions._replace(inputs=inputs), RATE, self.settings.seed)

        apart = fit(True)
        shared = fit(False)
        return shared if shared.about["error"] < CLEARLY * apart.about["error"] else apart

    def _next(self) -> Evaluation:
        """The evaluation after the rounds of a generation."""
        evaluation = self.evaluation(self.latest)
        rounds = self.settings.rounds
        began = time.monotonic()
        for i in range(rounds):
            minutes = (time.monotonic() - began) / max(i, 1) * rounds / 60
            self._tell("rounds", i, rounds, error=evaluation.about["error"], minutes=minutes)
            turn = len(self.generations) * rounds + i + 1
            rate = max(RATE * SLOWER**turn, LEAST_RATE)
            positions = self._play(evaluation, turn)
            evaluation = fitted(evaluation, positions, rate, self.settings.seed + turn)
        return evaluation

    def _tell(self, stage: str, done: int, total: int, **more: Any) -> None:
        last = self.generations[-1] if self.generations else None
        number = len(self.generations) + 1
        self.report(LearningProgress(number, stage, done, total, last, **more))

    def add_generation(self) -> None:
        """Make a generation, or read it, and judge it."""
        number = len(self.generations) + 1
        fit = self.evaluation(number).about
        against_reference = self._difference(number, self.settings.reference)
        against_before = None
        if self.latest:
            against_before = self._difference(number, self._player(self.latest))
        is_taken = against_before is None or against_before.value > 0
        self.generations.append(
            Generation(
                number, fit["error"], fit["variance"], against_reference, against_before, is_taken
            )
        )
        if is_taken:
            self.latest = number

    def _player(self, number: int) -> Entrant:
        return attrs.evolve(self.settings.judge, evaluation=with_digest(str(self._file(number))))

    def _name(self, player: Entrant) -> str:
        """Who plays, as rows have it: files of the directory by their names alone, so that it may be moved."""
        file = player.evaluation.removeprefix(f"{self.directory}/")
        return str(attrs.evolve(player, evaluation=file))

    def _difference(self, number: int, opponent: Entrant) -> Estimate:
        """How much more a generation gets than an opponent in the same seats, on the same deals.

        Of each deal there is a game with the generation in each seat, and one with the opponent in all.
        """
        settings = self.settings
        player = self._player(number)
        seats = range(self.empty.players)
        places = (*seats, NOBODY)
        matches = []
        for deal, seat in itertools.product(range(settings.deals), places):
            key = f"generation {number}", self._name(player), self._name(opponent), deal, seat
            entrants = seated((player, opponent), seat, len(seats), iterations=settings.iterations)
            seed = settings.seed, MATCHES, number, deal
            matches.append(Match(key, self.game, entrants, seed, self.files))
        before = sum(match.key in self.ledger.rows for match in matches)
        self._tell("match", before, len(matches))
        for done, _ in enumerate(self.ledger.played(matches, game_row, self.playing), before + 1):
            self._tell("match", done, len(matches))
        rows = [self.ledger.rows[match.key] for match in matches]
        scores = list[float]()
        without = list[float]()
        for first in range(0, len(rows), len(places)):
            *of_seats, of_nobody = rows[first : first + len(places)]
            scores.append(mean_reward(of_seats, seats))
            without.append(mean_reward([of_nobody], seats))
        return paired_difference(scores, without)

    @property
    def result(self) -> Evaluation:
        """What is learned so far, read anew; its file tells how."""
        curve = msgspec.to_builtins(self.generations)
        about = self.settings.lasting() | {"generations": curve}
        return attrs.evolve(self.evaluation(self.latest), about=about)
