"""Games of a ladder: two players, each in the seats of a side; openings, and rows of what was played."""

import datetime
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np

from icarus.arena.ledger import Row, append_row, read_lines, row_of
from icarus.arena.player import RandomPlayer
from icarus.engine.algorithm import SearchResult, SeatedPlayer
from icarus.engine.match import Decision, Player, play
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State
from icarus.ladder.engines import EngineFailed, EnginePlayer
from icarus.version import version

# Random plies, half of them each player's; dice and deals vary the others by themselves.
OPENING = {"othello": 4, "checkers": 4}
FIRST_SIDE = {"dou-di-zhu": (0,)}  # the seats of the first side; elsewhere every other seat

IDENTITY = ("game", "player", "opponent", "seed", "side")  # keys that no two games share


@attrs.frozen
class PlayerWithOpening:
    """A player of one match whose first moves are random, the same whoever plays them."""

    player: SeatedPlayer
    plies: int
    preference: None = None

    def seated(self, game: AnyGame) -> "PlayerWithOpening":
        return self

    def search(self, state: State, seed: tuple[int, ...]) -> SearchResult:
        """A random decision within the opening, the player's after it."""
        return (RandomPlayer() if len(state.history) < self.plies else self.player).search(state, seed)


def next_pair(attempts: int, seed: int) -> Iterator[tuple[tuple[int, int], int]]:
    """The seed and side of the next two games between players who have tried so many, or of the one that a pair lacks."""
    for game in range(attempts, attempts + 2 - attempts % 2):
        yield (seed, game // 2), game % 2


def play_game(game: AnyGame, player: Player, opponent: Player, *, seed: tuple[int, ...], side: int) -> Row:
    """A game as a row; where an engine fails the row is void, and says why.

    Args:
        player, opponent: players for `icarus.play`; the row's score is the first one's.
        seed: fixes opening, dice and deal, and the searches.
        side: 0 if the player has the first side.
    """
    first = FIRST_SIDE.get(game.name, tuple(range(0, game.players, 2)))
    seats = [(player, opponent)[(seat not in first) ^ side] for seat in range(game.players)]
    engines = [each for each in {id(each): each for each in seats}.values() if isinstance(each, EnginePlayer)]
    plies = OPENING.get(game.name, 0)
    row: Row = {"game": str(game), "player": str(player), "opponent": str(opponent), "seed": list(seed), "side": side}
    row["icarus"], row["started"] = version(), datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")

    actions: list[int] = []

    def watch(state: State, action: int | None, decision: object) -> None:
        if action is not None:
            actions.append(action)
        for engine in engines:
            engine.observe(state, action)

    try:
        log = play(game, [PlayerWithOpening(each.seated(game), plies) for each in seats], seed=seed, watch=watch)
    except EngineFailed as error:
        return row | {"engines": _settings(engines), "void": str(error), "failed": error.name, "actions": actions}
    row["engines"] = _settings(engines)
    seconds = seconds_per_decision(decision for decision in log.decisions if seats[decision.player] is player)
    row |= {"score": side_score(log.returns, [each is player for each in seats]), "returns": list(log.returns)}
    row |= {"actions": actions, "seconds": round(log.seconds, 3)}
    return row | {"seconds_per_decision": seconds}


def seconds_per_decision(decisions: Iterable[Decision]) -> float:
    """The mean time of those decisions in which there was a choice."""
    spent = [decision.seconds for decision in decisions if decision.legal > 1]
    return round(sum(spent) / max(1, len(spent)), 5)


def _settings(engines: Sequence[EnginePlayer]) -> dict[str, list[str]]:
    """The version of each engine, as it says it, and the arguments that it was started with."""
    return {str(engine): [engine.version, " ".join(engine.engine.command[1:])] for engine in engines}


def side_score(returns: Sequence[float], is_on_side: Sequence[bool]) -> float:
    """The mean reward of a side as a share of both sides' means; ½ where nobody gets anything."""
    side = np.mean([reward for reward, inside in zip(returns, is_on_side, strict=True) if inside])
    opponents = np.mean([reward for reward, inside in zip(returns, is_on_side, strict=True) if not inside])
    return float(side / (side + opponents)) if side + opponents else 0.5


def read_rows(path: Path) -> list[Row]:
    """The games of a file, the packed ones first; none if there is no file. A game that two processes played counts once.

    Raises:
        ValueError: a complete line is not a game (the message has its number), or the packed file is damaged.
    """
    rows: dict[str, Row] = {}
    for line, place in read_lines(path):
        row = _row_of(line, place)
        rows.setdefault(str([row.get(key) for key in IDENTITY]), row)
    return list(rows.values())


def _row_of(line: bytes, place: str) -> Row:
    row = row_of(line, place, unchecked=True)
    score = row.get("score", 0)
    if not {"player", "opponent", "seed"} <= set(row) or not isinstance(score, int | float) or not 0 <= score <= 1:
        raise ValueError(f"{place}, is not a game of a ladder with a score from 0 to 1; nothing has been changed")
    return row


# -------------------------------------------------------------------------------------------------------------------------- pairs


PATIENCE = 3  # failures in a row, after which an engine is left alone


class Pairs:
    """Pairs of games between players of one game. A context manager: the engines among the players end with it.

    Args:
        players: by their names in rows.
        rows: the games so far; new ones are added.
        path: the file to which new rows are appended; None to keep none.
        seed: fixes openings, dice, deals and searches.
        stamp: fields that each new row gets besides.

    Attributes:
        failures: of each engine, in a row.
    """

    def __init__(
        self, game: AnyGame, players: Mapping[str, Player], rows: list[Row], path: Path | None, seed: int, stamp: Row
    ) -> None:
        self.rows, self.failures = rows, Counter[str]()
        self._game, self._players, self._path, self._seed, self._stamp = game, players, path, seed, stamp

    def between(self, player: str, opponent: str) -> list[Row]:
        """The games between two players, void ones included."""
        return [row for row in self.rows if {player, opponent} == {row["player"], row["opponent"]}]

    def has_failed(self, player: str) -> bool:
        """Whether a player is an engine that failed again and again, so that it plays no more."""
        return self.failures[player] >= PATIENCE

    def play(self, player: str, opponent: str) -> Iterator[Row]:
        """The next two games between two players, or the one that a pair lacks."""
        for seed, side in next_pair(len(self.between(player, opponent)), self._seed):
            row = play_game(self._game, self._players[player], self._players[opponent], seed=seed, side=side)
            row |= {"player": player, "opponent": opponent, **self._stamp}
            if "void" in row:
                self.failures[row["failed"]] += 1
            else:
                self.failures[player] = self.failures[opponent] = 0
            self.rows.append(row)
            if self._path:
                append_row(self._path, row)
            yield row

    def __enter__(self) -> "Pairs":
        return self

    def __exit__(self, *error: object) -> None:
        for player in self._players.values():
            if isinstance(player, EnginePlayer):
                player.close()
