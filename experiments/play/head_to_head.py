"""Games of one player against another, in blocks in which each sits first as often."""

from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.plan.equilibrium import HALF, Pairing, agent, game_of
from experiments.play.matches import provenance
from experiments.store.measurements import HEAD_TO_HEAD, Measurement
from icarus.engine.match import play

STREAM = 15  # of the seeds, apart from those of other experiments


def play_block(row: Measurement) -> Measurement:
    """A block of games: the rewards of the one player, where he sits first and where he sits second."""
    game = game_of(row["game"])
    player = agent(row["one"], row["iterations"])
    opponent = agent(row["other"], row["iterations"] * row.get("times", 1))
    first = [play(game, (player, opponent), seed=(STREAM, row["block"], 0, i)).returns[0] for i in range(HALF)]
    second = [play(game, (opponent, player), seed=(STREAM, row["block"], 1, i)).returns[1] for i in range(HALF)]
    return {**row, "first": first, "second": second, "provenance": provenance()}


def play_pairing(plan: Pairing, directory: Path, log: Callable[[int, int, Measurement], None]) -> Sequence[Measurement]:
    """Play what a directory lacks of the games; returns all blocks.

    Raises:
        Refusal: a plan or a directory that cannot be understood.
    """
    return HEAD_TO_HEAD.fill(directory, plan.rows(), play_block, log)
