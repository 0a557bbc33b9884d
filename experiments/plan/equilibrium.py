"""Plans of what is measured about equilibria, and those of the papers: Lanctot, Lisý and Bowling (2015), at AAAI's workshop and at AAMAS.

Seconds of 2015 say nothing here: budgets are iterations, and each measurement tells how long its searches took.
"""

import functools
import itertools

import attrs

from experiments.papers.combinations import COMBINATIONS
from experiments.plan.checks import refusing
from experiments.plan.definition import Refusal
from icarus import games
from icarus.checks import one_of
from icarus.engine.match import Agent
from icarus.equilibrium.measures import AGGREGATE, AGGREGATE_AAMAS, AGGREGATES, STITCHING
from icarus.equilibrium.policies import FIXED, MISSING, UNIFORM
from icarus.equilibrium.search import OnlineAlgorithm, parse_strategy
from icarus.kernel.game import AnyGame

Identity = dict[str, str | int]  # what says which measurement is meant
ROOT = "root"  # one search from the deal, which aims at nothing
METHODS = (STITCHING, *AGGREGATES, ROOT)


@attrs.frozen
class Plan:
    """What is to be measured: every player in every game with every budget, so many times.

    Attributes:
        games, players: as texts.
        iterations: of each search.
        seeds: 0, 1, … for each.
        method: "stitching", "aggregate", "aggregate-aamas" or "root".
        matches: of an aggregate method.
        missing: what is played where no search has been: "uniform" or "a fixed random action".
    """

    games: tuple[str, ...]
    players: tuple[str, ...]
    iterations: tuple[int, ...]
    seeds: int = 1
    method: str = STITCHING
    matches: int = 100
    missing: str = UNIFORM

    @property
    def description(self) -> str:
        """The method, with its matches and what it takes for granted."""
        name = self.method if self.method not in AGGREGATES else f"{self.method} of {self.matches} matches"
        return name if self.missing == UNIFORM else f"{name}, {self.missing} elsewhere"

    def rows(self) -> list[Identity]:
        """What identifies each measurement, cheapest budgets first.

        Raises:
            Refusal: no such method, game or player.
        """
        self._check()
        with refusing(kinds=(TypeError, ValueError)):
            names = [str(games.load(name)) for name in self.games]
            for iterations in self.iterations:
                agents = [agent(text, iterations) for text in self.players]
        for each in agents:
            if self.method == ROOT and not isinstance(each.strategy, OnlineAlgorithm):
                raise Refusal(
                    f"{each.strategy} starts at a decision of a player; --method {ROOT} is for OOS(…) and ISMCTS(…), "
                    "which start at the deal"
                )
        return [
            {
                "game": game,
                "player": str(each.strategy),
                "method": self.description,
                "iterations": iterations,
                "seed": seed,
            }
            for iterations in self.iterations
            for seed in range(self.seeds)
            for game in names
            for each in agents
        ]

    def _check(self) -> None:
        with refusing():
            one_of("--method", self.method, METHODS)
            one_of("--missing", self.missing, MISSING)
        if self.missing != UNIFORM and self.method == STITCHING:
            raise Refusal(f"--missing is {self.missing!r}, but {STITCHING} searches everywhere")


@functools.lru_cache(maxsize=4)
def game_of(name: str) -> AnyGame:
    """The game of that name, the same whenever it is asked for: what is known of its tree is kept with it."""
    return games.load(name)


def agent(text: str, iterations: int) -> Agent:
    """The player that a text describes."""
    return Agent(parse_strategy(text, {}), iterations=iterations)


HALF = 25  # games of a block in each seat


@attrs.frozen
class Pairing:
    """Players, each against every opponent, with every budget.

    Attributes:
        game, players, opponents: as texts.
        iterations: of every search.
        games: of each pair; made up to whole blocks.
        times: how many times as many iterations the opponents have.
    """

    game: str
    players: tuple[str, ...]
    opponents: tuple[str, ...]
    iterations: tuple[int, ...]
    games: int = 500
    times: int = 1

    def rows(self) -> list[Identity]:
        """What identifies each block.

        Raises:
            Refusal: no such game or player.
        """
        with refusing(kinds=(TypeError, ValueError)):
            name = str(games.load(self.game))
            pairs = [
                {"one": str(agent(player, iterations).strategy), "other": str(agent(opponent, iterations).strategy)}
                | {"iterations": iterations}
                for iterations, player, opponent in itertools.product(self.iterations, self.players, self.opponents)
            ]
        more = {} if self.times == 1 else {"times": self.times}
        return [
            {"game": name, **pair, **more, "block": block}
            for pair in pairs
            for block in range(-(-self.games // (2 * HALF)))
        ]


IST, PST = "OOS()", "OOS(target='public subgame')"
UCT, RM, EXP3 = "ISMCTS()", "ISMCTS(selection='regret matching')", "ISMCTS(selection='EXP3')"
UCT_WITH_C = tuple(f"ISMCTS(exploration={c!r})" for c in (0.5, 2.0, 4.0))
NEAR = "NearEquilibrium()"
DICE, GOOFSPIEL, POKER = (
    "liars-dice",
    "goofspiel(cards=6,lowest=0)",
    "generic-poker",
)  # LD(1,1), II-GS(6) of 2015, GP(3,3,2,2)
GAMES = (DICE, GOOFSPIEL, POKER)
DESCENDING = "goofspiel(cards=6,lowest=0,descending=1)"
KUHN, LEDUC = "kuhn-poker", "leduc-poker"
FOUR_FACES = "liars-dice(faces=4)"
SIXTEEN = tuple(combination.strategy for combination in COMBINATIONS)
DELTAS = (0.0, 0.1, 0.5, 0.8, 0.9, 0.95, 0.99, 1.0)


def oos(target: str, delta: float) -> str:
    """Online Outcome Sampling with another δ."""
    return f"OOS(target={target!r}, delta={delta!r})"


def deltas(targets: tuple[str, ...]) -> tuple[str, ...]:
    """Players for every target and each of `DELTAS`."""
    return tuple(oos(target, delta) for target in targets for delta in DELTAS)


TARGETS = ("information set", "public subgame")
EVERYONE = (IST, PST, UCT, RM, EXP3)
FROM_THE_DEAL = (IST, UCT, RM, EXP3)  # nothing is aimed at, so that IST and PST are the same
OOS_AAMAS = "OOS(delta=0.5, compensation=True)"  # of the figures by the aggregate method
OTHER_OOS_AAMAS = (
    "OOS(delta=1.0, compensation=True)",
    "OOS(target='public subgame', delta=0.5, compensation=True)",
    "OOS(target='public subgame', delta=1.0, compensation=True)",
)
SEEDS = 10  # of a claim
PLANS: dict[str, tuple[Plan | Pairing, ...]] = {  # of each the cheaper part first
    "head-to-head": (
        Pairing(DICE, (IST, PST), (UCT, NEAR), (1000,)),
        Pairing(DICE, (UCT, "BASELINE"), (NEAR,), (1000,)),
        Pairing(DICE, (IST, PST), (UCT, NEAR), (10_000,)),
        Pairing(DICE, (IST, PST), (UCT,), (1000, 10_000), times=10),  # about equal time
        Pairing(GOOFSPIEL, (IST,), (UCT, NEAR), (1000, 10_000)),
        Pairing(DICE, (IST, PST), ("BASELINE",), (1000, 10_000)),
        Pairing(GOOFSPIEL, (UCT, "BASELINE"), (NEAR,), (1000, 10_000)),
    ),
    "aggregate": (  # AAMAS, Figure 3, right
        Plan((DICE,), (OOS_AAMAS, UCT, RM), (2000, 20_000), SEEDS, AGGREGATE_AAMAS, 500, FIXED),
        Plan((DICE,), OTHER_OOS_AAMAS, (20_000,), 1, AGGREGATE_AAMAS, 500, FIXED),
        Plan((DICE,), EVERYONE, (1000, 10_000), 1, AGGREGATE, 500, FIXED),
        Plan((GOOFSPIEL, POKER), (OOS_AAMAS, UCT, RM), (2000, 20_000), 1, AGGREGATE_AAMAS, 500, FIXED),
        Plan(GAMES, (OOS_AAMAS, UCT, RM), (40_000, 80_000, 160_000, 320_000), 1, AGGREGATE_AAMAS, 500, FIXED),
    ),
    "root": (  # AAMAS, Figure 3, left: one search from the deal
        Plan((KUHN, LEDUC), FROM_THE_DEAL, (1000, 10_000, 100_000, 1_000_000), SEEDS, ROOT, missing=FIXED),
        Plan(GAMES, FROM_THE_DEAL, (1000, 10_000, 100_000, 1_000_000), SEEDS, ROOT, missing=FIXED),
        Plan((DICE,), (UCT, EXP3), (1_000_000, 10_000_000), 2 * SEEDS, ROOT, missing=FIXED),
        Plan(GAMES, FROM_THE_DEAL, (10_000_000,), SEEDS, ROOT, missing=FIXED),
        Plan((GOOFSPIEL, DICE), (UCT,), (100_000_000,), SEEDS, ROOT, missing=FIXED),
    ),
    "goofspiel": (  # does c, or the order of the points, explain why II-Goofspiel(6) is more exploitable here than in print?
        Plan((GOOFSPIEL, DESCENDING), (UCT, *UCT_WITH_C), (100_000, 1_000_000), SEEDS, ROOT, missing=FIXED),
        Plan((GOOFSPIEL, DESCENDING), (UCT, *UCT_WITH_C[1:]), (10_000_000,), SEEDS, ROOT, missing=FIXED),
    ),
    "figure-2": (  # AAAI: δ, by the aggregate method and head to head
        Plan((DICE,), deltas(TARGETS), (1000,), 1, AGGREGATE, 500, FIXED),
        Plan((DICE,), (UCT, *deltas(TARGETS)), (10_000,), 1, AGGREGATE, 500, FIXED),
        Pairing(DICE, deltas(TARGETS), (UCT, NEAR), (1000,)),
        Plan(("goofspiel",), (UCT, *deltas(TARGETS[:1])), (1000, 10_000), 1, AGGREGATE, 500, FIXED),
        Pairing(DICE, deltas(TARGETS), (UCT, NEAR), (10_000,)),
    ),
    "table-1": (  # AAAI: full stitching; ISMCTS has ten times the iterations for about the same time
        Plan((FOUR_FACES,), (IST, PST, "BASELINE"), (300, 3000, 30_000), SEEDS),
        Plan((FOUR_FACES,), (UCT,), (3000, 30_000, 300_000), SEEDS),
        Plan(("goofspiel(cards=4)",), (UCT, IST, PST, "BASELINE"), (300, 3000), SEEDS),
        Plan((DICE,), (UCT, IST, PST), (1000,), SEEDS),
        Plan((DICE,), (UCT, IST, PST), (10_000,)),
        Plan((DICE,), (UCT, IST, PST), (30_000,)),
        Plan((DICE,), (UCT, IST, PST), (100_000,)),
    ),
    "sixteen": (  # which enhancement makes ISMCTS less exploitable?
        Plan(("kuhn-poker",), (*SIXTEEN, IST, PST, UCT), (100, 1000, 10_000), 10),
        Plan(("leduc-poker",), (*SIXTEEN, IST, PST, UCT), (100, 1000), 3),
        Plan(("goofspiel(cards=5)",), (*SIXTEEN, IST, PST, UCT), (1000,)),
        Plan((DICE,), (*SIXTEEN, IST, PST, UCT), (1000,)),
        Plan(("leduc-poker",), (*SIXTEEN, IST, PST, UCT), (1000,), 10),
        Plan(("goofspiel(cards=5)",), (*SIXTEEN, IST, PST, UCT), (1000,), 3),
        Plan((DICE,), (*SIXTEEN, IST, PST, UCT), (1000,), 3),
        Plan(("leduc-poker",), (*SIXTEEN, IST, PST, UCT), (10_000,), 3),
    ),
}
