"""The games of a report. They come in rounds: whenever time is up, every question has had its share."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np

from icarus import games
from icarus.algebra.parsing import Operand
from icarus.commands.report.commentary import Observed, commented_game
from icarus.discovery.configuration import read_configuration
from icarus.discovery.matches import KEY, Row, work_of
from icarus.engine.match import Agent, Decision, play
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State
from icarus.ladder.matches import RandomPlayer, play_game, seconds_per_decision, side_score
from icarus.load_files import digest_of, load_files

KINDS = ("random play", "search against itself", "levels", "strategies", "commented", "composition")
RANDOM, EVEN, LEVELS, STRATEGIES, COMMENTED, COMPOSITION = KINDS
SHARES = tuple(2.0**step for step in range(-5, 3))  # of the iterations: the players of the levels, beside random play
LEAST_ITERATIONS = round(1 / SHARES[0])  # so that the first level has one
RATED_AT = (1.0, 4.0)  # of the levels: whom the composition that won a race plays
POOL = ("RAVE", "GRAVE", "PROGRESSIVE_HISTORY", "BASELINE >> MAST", "BASELINE >> NAST2", "BASELINE >> LGRF")
REFERENCE = "BASELINE"
RANDOM_GAMES, EVEN_GAMES = 5, 2  # of a round
TRIED, FEWEST, MOST = 64, 64, 1000  # iterations: of the game that is timed, and of the others
SECONDS = 0.25  # that a game is to take


@attrs.frozen
class Entrant:
    """Who plays: a strategy (see `icarus.discovery.configuration`) with its iterations for each decision, or random play with 0."""

    strategy: str
    iterations: int

    def player(self, names: Mapping[str, Operand]) -> Agent | RandomPlayer:
        """The player for `icarus.play`; `names` as for `icarus.parse`."""
        return read_configuration(self.strategy).agent(self.iterations, **names) if self.iterations else RandomPlayer()

    def __str__(self) -> str:
        return f"{self.strategy}, {self.iterations} iterations" if self.iterations else RANDOM


RANDOM_ENTRANT = Entrant(RANDOM, 0)


@attrs.frozen
class Task:
    """One game to be played.

    Attributes:
        kind: one of KINDS.
        player, opponent: who sits on which side; the same in games of one player with himself.
        number: of the deal. Both sides are played with the same one.
        side: of the player, 0 or 1.
    """

    kind: str
    player: Entrant
    opponent: Entrant
    number: int
    side: int = 0

    @property
    def key(self) -> tuple[object, ...]:
        """See `icarus.discovery.matches.key_of`."""
        return self.kind, str(self.player), str(self.opponent), self.number, self.side


@attrs.frozen
class Plan:
    """What a report plays; each of its games follows from it.

    Attributes:
        game: with its parameters.
        files: the file of the game, if it has one.
        digest: of that file: games by other rules do not count.
        iterations: of each decision in even games and of strategies.
        strategies: each is compared with REFERENCE.
        seed: from which all games follow.
    """

    game: str
    files: tuple[str, ...]
    digest: str
    iterations: int
    strategies: tuple[str, ...]
    seed: int

    def entrants(self) -> list[Entrant]:
        """The players of the levels, the weakest first."""
        return [RANDOM_ENTRANT, *(Entrant(REFERENCE, round(self.iterations * share)) for share in SHARES)]

    def round(self, number: int, winner: str | None) -> list[Task]:
        """The games of a round; with those of the composition that won a race, if one did."""
        even, levels = Entrant(REFERENCE, self.iterations), self.entrants()
        tasks = [Task(RANDOM, RANDOM_ENTRANT, RANDOM_ENTRANT, number * RANDOM_GAMES + i) for i in range(RANDOM_GAMES)]
        tasks += [Task(EVEN, even, even, number * EVEN_GAMES + i) for i in range(EVEN_GAMES)]
        pairs = [(LEVELS, strong, weak) for weak, strong in itertools.pairwise(levels)]
        pairs += [(STRATEGIES, Entrant(each, self.iterations), even) for each in self.strategies]
        rivals = [] if winner is None else [levels[1 + SHARES.index(share)] for share in RATED_AT]
        pairs += [(COMPOSITION, Entrant(str(winner), self.iterations), rival) for rival in rivals]
        tasks += [Task(*pair, number, side) for pair in pairs for side in (0, 1)]
        return tasks if number else [*tasks, Task(COMMENTED, levels[-1], levels[-1], 0)]

    def play(self, task: Task) -> Row:
        """Play a game: the same one whenever and wherever."""
        names, game = load_files([Path(file) for file in self.files]), games.load(self.game)
        seed = self.seed, KINDS.index(task.kind), task.number
        player = task.player.player(names)
        row: Row = dict(zip(KEY, task.key, strict=True))
        if task.kind == COMMENTED:
            return row | commented_game(game, Observed(player), seed)
        if task.kind in (RANDOM, EVEN):
            return row | self_play(game, Observed(player), seed)
        if game.players == 1:
            return row | play_alone(game, player, task.opponent.player(names), (*seed, task.side))
        result = play_game(game, player, task.opponent.player(names), seed=seed, side=task.side)
        return row | {key: result[key] for key in ("score", "returns", "seconds_per_decision")}


def play_alone(
    game: AnyGame, player: Agent | RandomPlayer, opponent: Agent | RandomPlayer, seed: tuple[int, ...]
) -> Row:
    """A game of one player, played by each of two with the same chance: the score is the first one's share of both rewards."""
    logs = [play(game, [each], seed=seed) for each in (player, opponent)]
    returns = [log.returns[0] for log in logs]
    seconds = seconds_per_decision(logs[0].decisions)
    return {"score": side_score(returns, (True, False)), "returns": returns, "seconds_per_decision": seconds}


def self_play(game: AnyGame, player: Observed, seed: tuple[int, ...]) -> Row:
    """A game of a player with himself: of each decision who made it, after how many actions, among how many, its value and its stake."""
    decisions: list[list[float | None]] = []

    def watch(state: State, action: int | None, decision: Decision | None) -> None:
        if decision is not None:
            estimate = [round(decision.value, 4), round(player.stake(), 4)] if decision.iterations else [None, None]
            decisions.append([decision.player, len(state.history), decision.legal, *estimate])

    log = play(game, [player] * game.players, seed=seed, watch=watch)
    work = work_of(each for each in log.decisions if each.iterations)
    return {"returns": list(log.returns), "length": len(log.actions), "decisions": decisions, "work": work}


def make_plan(
    game: AnyGame, files: tuple[str, ...], iterations: int | None, strategies: tuple[str, ...], seed: int
) -> Plan:
    """The plan of a report; as many iterations as a game of SECONDS allows, where they are not given.

    Raises:
        ValueError: a strategy cannot be read, or cannot play this game.
    """
    names = load_files([Path(file) for file in files])
    chosen = strategies or (*POOL, *(["BASELINE >> EPIC"] if game.episode is not None else []))
    for strategy in chosen:  # compiles what is needed, and refuses what does not fit
        play(game, [Entrant(strategy, 4).player(names)] * game.players)
    if iterations is None:
        log = play(game, [Entrant(REFERENCE, TRIED).player(names)] * game.players, seed=seed)
        iterations = int(np.clip(TRIED * SECONDS / max(log.seconds, 1e-6), FEWEST, MOST))
    return Plan(str(game), files, digest_of(*files), iterations, chosen, seed)
