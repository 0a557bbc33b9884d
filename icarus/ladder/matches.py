"""Games of a ladder: two players, each in the seats of a side; openings, and rows of what was played."""

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus.engine.algorithm import SearchResult, SeatedPlayer
from icarus.engine.match import Decision, Player, play
from icarus.kernel.game import AnyGame
from icarus.kernel.state import State
from icarus.ladder.engines import EngineAnswer, EnginePlayer
from icarus.ladder.process import EngineFailed
from icarus.row_files import read_lines
from icarus.version import version

# Random plies, half of them each player's; dice and deals vary the others by themselves.
OPENING = {"othello": 4, "checkers": 4}
FIRST_SIDE = {"dou-di-zhu": (0,)}  # the seats of the first side; elsewhere every other seat

Row = dict[str, Any]
IDENTITY = ("game", "player", "opponent", "seed", "side")  # keys that no two games share


class RandomPlayer:
    """Plays any legal action, each as likely: the zero of every ladder."""

    preference = None

    def seated(self, game: AnyGame) -> "RandomPlayer":
        return self

    def search(self, state: State, seed: Sequence[int]) -> EngineAnswer:
        return EngineAnswer(int(np.random.default_rng(seed).choice(state.legal_actions())), 0.0)

    def __str__(self) -> str:
        return "random"


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
    for line, place in read_lines(path).items():
        row = _row_of(line, place)
        rows.setdefault(str([row.get(key) for key in IDENTITY]), row)
    return list(rows.values())


def _row_of(line: bytes, place: str) -> Row:
    try:
        row = json.loads(line)
        return {**row, "player": row["player"], "opponent": row["opponent"], "seed": row["seed"]}
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{place}, is not a game of a ladder; nothing has been changed") from None
