"""The opponents of each game's ladder, the players of the table, and comparisons of two players, written down before they are played."""

import attrs

from experiments.papers.combinations import COMBINATIONS
from icarus.ladder.engines import ENGINES
from icarus.ladder.ladders import RANDOM, ZERO, Ladder, Rung, Settings, agent_of


def search(strategy: str, iterations: int, **settings: object) -> Settings:
    """The settings of an agent."""
    return {"strategy": strategy, "iterations": iterations, **settings}


# Iterations of the baseline: the levels of the game, about as far apart as `experiments.statistics` proposes by the rows.
BASELINES = {
    "othello": (3, 10, 17, 30, 55, 110, 300, 1000),
    "backgammon": (10, 30, 60, 100, 200, 350, 600, 1000),
    "dou-di-zhu": (2, 5, 12, 30, 75, 190, 480, 1200),
    "knockout-whist": (5, 8, 14, 32, 60, 110, 256, 640),
    "checkers": (4, 8, 16, 32, 64, 128, 256, 512),
    "hearts": (2, 5, 12, 30, 75, 190, 480, 1200),
    "lotr-confrontation": (8, 14, 24, 45, 100, 240, 600, 1500),
}
OUTSIDE = {
    "othello": (*(f"grhino depth {depth}" for depth in (1, 2, 3, 4, 6)), "rust-reversi matrix 4"),
    "backgammon": ("pubeval", "gnubg 0-ply DMP"),
    "dou-di-zhu": ("RLCard rules",),
    "checkers": ("py-draughts depth 1", "py-draughts depth 3"),
    "hearts": ("OpenSpiel ISMCTS 0.05 s",),
}
STEP = 100.0  # Elo from level to level, or an eighth of what the iterations of BASELINES reach
TABLE_ITERATIONS, TABLE_SECONDS = 5000, 0.2
COMPOSED = (
    "BASELINE",
    "BASELINE >> MAST",
    "BASELINE >> NAST2",
    "RAVE",
    "RAVE >> MAST",
    "RAVE >> (MAST + LGRF + NAST2)/3",
)
BY_HEURISTIC = "IMPLICIT_MINIMAX >> mast(epsilon_greedy(0.2))"
CUTOFFS = {
    "othello": 0,
    "dou-di-zhu": 8,
    "backgammon": 0,
    "checkers": 8,
    "hearts": 8,
}  # actions in simulation before the heuristic
DISCOVERED = {  # what `icarus.discovered` said before it knew of the networks
    "othello": search("baseline(0.35) >> NAST2", TABLE_ITERATIONS, move_decay=0.75),
    "dou-di-zhu": search("RAVE >> NAST2", TABLE_ITERATIONS, cutoff=32),
    "backgammon": search(BY_HEURISTIC, TABLE_ITERATIONS, cutoff=32),
    "checkers": search("PUCT >> NAST2", TABLE_ITERATIONS, cutoff=16),
    "hearts": search(BY_HEURISTIC, TABLE_ITERATIONS, cutoff=16),
}
BY_NETWORK = {  # the strongest of pilots that ask the networks of these games, and what races with them found
    "othello": tuple(
        search(strategy, TABLE_ITERATIONS, cutoff=0) for strategy in ("implicit_minimax(0.8, 0.2)", "PUCT >> BASELINE")
    ),
    "backgammon": (search("baseline(0.05)", TABLE_ITERATIONS, cutoff=0),),
}
SIXTEEN = tuple(combination.strategy for combination in COMBINATIONS)  # the paper's Table 1


def _players(game: str, strategies: tuple[str, ...]) -> tuple[Settings, ...]:
    """Compositions, searches that are cut off, and what was discovered."""
    return (
        *(search(strategy, TABLE_ITERATIONS) for strategy in strategies),
        *(search(strategy, TABLE_ITERATIONS, cutoff=CUTOFFS[game]) for strategy in ("BASELINE", "IMPLICIT_MINIMAX")),
        *BY_NETWORK.get(game, ()),
        DISCOVERED[game],
    )


TABLE = {game: _players(game, SIXTEEN if game in ("othello", "dou-di-zhu") else COMPOSED) for game in CUTOFFS}
TIMED: dict[str, tuple[Settings, ...]] = {
    game: tuple({**player, "iterations": None, "seconds": TABLE_SECONDS} for player in _players(game, COMPOSED))
    for game in CUTOFFS
}


@attrs.frozen
class Comparison:
    """Two players, how many games they play, half of them with either side, and what is asked.

    Attributes:
        player, opponent: an engine's name, or the settings of an agent.
    """

    player: Settings | str
    opponent: Settings | str
    games: int
    question: str


WHOLE = "is a cut-off by the game's heuristic worth more than whole playouts?"
TARGET = "is it stronger than the engine?"


def _by_heuristic(iterations: int, cutoff: int, games: int) -> Comparison:
    return Comparison(search("BASELINE", iterations, cutoff=cutoff), search("BASELINE", iterations), games, WHOLE)


COMPARISONS: dict[str, tuple[Comparison, ...]] = {
    "othello": (
        _by_heuristic(300, 8, 46),  # by an earlier heuristic, the weights of the squares: no more games of this name
        _by_heuristic(300, 0, 400),
        Comparison(search("BASELINE", 5000, cutoff=0), search("RAVE >> NAST2", 5000), 100, WHOLE),
        *(
            Comparison(search(strategy, 5000, **settings), "grhino depth 4", games, TARGET)
            for strategy, settings, games in (
                ("RAVE >> NAST2", {}, 400),
                ("BASELINE", {"cutoff": 0}, 1000),
                ("implicit_minimax(0.8, 0.2)", {"cutoff": 0}, 200),
            )
        ),
    ),
    "backgammon": (
        Comparison("gnubg 0-ply DMP", "pubeval", 1000, "is the bridge right? Published: .719 of 1,000 (Higgins, 2012)"),
        _by_heuristic(300, 4, 100),
        Comparison(search(BY_HEURISTIC, 1000, cutoff=32), "pubeval", 1000, TARGET),
        Comparison(search("baseline(0.05)", 5000, cutoff=0), "pubeval", 1000, TARGET),
        Comparison(search("BASELINE >> NAST2", 5000), "pubeval", 400, "what does a search without knowledge reach?"),
    ),
    "dou-di-zhu": (_by_heuristic(300, 8, 400), Comparison(search("BASELINE", 1000), "RLCard rules", 2000, TARGET)),
    "knockout-whist": (_by_heuristic(300, 8, 400),),
    "checkers": (_by_heuristic(300, 8, 200),),
    "hearts": (
        _by_heuristic(300, 8, 60),
        *(
            Comparison({"strategy": strategy, "seconds": 0.05, **settings}, "OpenSpiel ISMCTS 0.05 s", 200, TARGET)
            for strategy, settings in (("BASELINE >> NAST2", {}), (BY_HEURISTIC, {"cutoff": 16}))
        ),
    ),
    "lotr-confrontation": (_by_heuristic(300, 8, 400),),
}


def opponents(game: str) -> Ladder:
    """The opponents of a game, not yet rated.

    Raises:
        ValueError: no ladder is planned for the game.
    """
    if game not in BASELINES:
        raise ValueError(f"no ladder is planned for {game}; games with a plan: {', '.join(BASELINES)}")
    planned: list[Settings | str] = [search("BASELINE", iterations) for iterations in BASELINES[game]]
    return Ladder(game, (Rung(RANDOM, ZERO), *map(rung_of, [*planned, *OUTSIDE.get(game, ())])))


def rung_of(player: Settings | str) -> Rung:
    """An engine by its name, or an agent by its settings, not yet rated."""
    if isinstance(player, str):
        return Rung(ENGINES[player].name, ZERO)
    return Rung(str(agent_of(player)), ZERO, player)
