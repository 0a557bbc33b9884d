"""The opponents of each game's ladder, and the players whose ratings the table shows."""

from typing import Any

from icarus.ladder.engines import ENGINES
from icarus.ladder.ladders import RANDOM, ZERO, Ladder, Rung, agent_of

Settings = dict[str, Any]


def search(strategy: str, iterations: int, **settings: Any) -> Settings:
    """The settings of an agent."""
    return {"strategy": strategy, "iterations": iterations, **settings}


BASELINES = {  # iterations of the baseline, between the engines
    "othello": (3, 6, 10, 13, 17, 27, 30, 55, 100, 110, 230, 300, 480, 1000),
    "backgammon": (10, 100, 1000),
    "dou-di-zhu": (2, 5, 12, 20, 30, 75, 100, 190, 480, 500, 1200),
    "knockout-whist": (3, 10, 30, 100, 300, 1000, 3000),
    "checkers": (3, 10, 30, 100, 300),
    "hearts": (10, 100, 1000),
    "lotr-confrontation": (10, 100, 1000),
}
OUTSIDE = {
    "othello": ("grhino depth 1", "grhino depth 2", "grhino depth 3", "grhino depth 4", "rust-reversi matrix 4"),
    "backgammon": ("pubeval", "gnubg 0-ply"),
    "dou-di-zhu": ("RLCard rules",),
    "checkers": ("py-draughts depth 1", "py-draughts depth 3"),
    "hearts": ("OpenSpiel ISMCTS 0.05 s",),
}
ITERATIONS = 5000
TABLE: dict[str, tuple[Settings, ...]] = {
    game: (
        *(search(strategy, ITERATIONS) for strategy in ("BASELINE", "NAST2", "RAVE", "RAVE >> NAST2", "RAVE >> MAST")),
        *(search(strategy, ITERATIONS, cutoff=8) for strategy in cut_off),
    )
    for game, cut_off in {
        "othello": ("BASELINE", "NAST2", "IMPLICIT_MINIMAX"),
        "backgammon": ("BASELINE", "NAST2", "IMPLICIT_MINIMAX"),
        "dou-di-zhu": (),
        "knockout-whist": (),
        "checkers": ("BASELINE", "IMPLICIT_MINIMAX"),
        "hearts": (),
    }.items()
}


def opponents(game: str) -> Ladder:
    """The opponents of a game, not yet rated.

    Raises:
        ValueError: no ladder is planned for the game.
    """
    if game not in BASELINES:
        raise ValueError(f"no ladder is planned for {game}; there are {', '.join(BASELINES)}")
    agents = [search("BASELINE", iterations) for iterations in BASELINES[game]]
    rungs = [Rung(RANDOM, ZERO)]
    rungs += [Rung(str(agent_of(settings)), ZERO, settings) for settings in agents]
    rungs += [Rung(ENGINES[name].name, ZERO) for name in OUTSIDE.get(game, ())]
    return Ladder(game, tuple(rungs))
