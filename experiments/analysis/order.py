"""Which block of the campaign is played next.

A block is a cell from one interim analysis to the next. First every cell is taken to its first interim analysis, game by game. From then
on there are plans. A plan takes the cells of some undecided comparisons of a statement to one of their later interim analyses. What
counts is how many statements it decides for a core-hour, on average over posterior predictive simulations (`predictive`). The first block
of the best plan is played, and all plans are made anew. The rule reads the games of complete interim analyses alone, so a campaign that is
stopped and continued plays the same blocks.
"""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from experiments.analysis import claims
from experiments.analysis.comparisons import DISAGREES, UNDECIDED, place_of
from experiments.analysis.predictive import Key, PredictivePower, predicted_interims
from experiments.analysis.verdicts import Decision, Interim, decide
from experiments.plan.campaign import FIRST, INTERIM_GAMES, SHARES, Sizes
from experiments.plan.definition import Cell
from experiments.store.results import Results

HOUR = 3600


@attrs.frozen
class Block:
    """The games of cells up to an interim analysis: `trials` of each cell from the first; those already played need not be played again."""

    cells: tuple[Cell, ...]
    trials: int


@attrs.frozen
class Plan:
    """Cells taken to an interim analysis, for a statement.

    Attributes:
        statement: its number in the list of statements, from 1.
        interim: the number of the interim analysis, from 1.
        cells: those that have not come to it.
        hours: core-hours that they need.
        chance: that its statement is decided then.
        decided: how many statements, this and others, are decided then, on average.
    """

    statement: int
    interim: int
    cells: tuple[Cell, ...]
    hours: float
    chance: float
    decided: float

    @property
    def decided_per_hour(self) -> float:
        """Statements decided in a core-hour."""
        return self.decided / self.hours


@attrs.frozen
class State:
    """What the rows say.

    Attributes:
        games: of each cell so far, without gaps from the first trial.
        seconds: of a game of each cell on a free processor.
        decisions: the statements, at all interim analyses that are complete.
        interims: these interim analyses.
    """

    games: Mapping[Cell, int]
    seconds: Mapping[Cell, float]
    decisions: Sequence[Decision]
    interims: Sequence[Interim]


def first_block(games: Mapping[Cell, int], sizes: Sizes = INTERIM_GAMES) -> Block | None:
    """The game whose cells are to be taken to their first interim analysis, side by side; None where all are there."""
    for name in FIRST:
        cells = tuple(cell for cell in games if cell.column.game == name)
        behind = [cell for cell in cells if games[cell] < sizes[place_of(cell)][0]]
        if behind:
            return Block(cells, sizes[place_of(behind[0])][0])
    return None


def first_blocks(games: Mapping[Cell, int], sizes: Sizes = INTERIM_GAMES) -> list[Block]:
    """All that is to be played before the first choice, in its order."""
    blocks, ahead = [], dict(games)
    while block := first_block(ahead, sizes):
        blocks.append(block)
        ahead |= {cell: max(ahead[cell], block.trials) for cell in block.cells}
    return blocks


def state_of(results: Results, games: Mapping[Cell, int], sizes: Sizes = INTERIM_GAMES) -> State:
    """What the rows of a campaign say.

    Args:
        games: of each cell, without gaps from the first trial.
    """
    games = dict(
        sorted(games.items(), key=lambda item: FIRST.index(item[0].column.game))
    )  # random numbers follow the order
    by_budget = claims.interims_of(results, sizes)
    interims = next(iter(by_budget.values())) if by_budget else []
    seconds = results.free_seconds({cell: sizes[place_of(cell)][0] for cell in games})
    return State(games, seconds, [decide(claim, interims) for claim in claims.CLAIMS], interims)


def next_block(state: State, sizes: Sizes = INTERIM_GAMES) -> Block | None:
    """The block that is to be played; None where all statements are decided or nothing is left to be played."""
    if first := first_block(state.games, sizes):
        return first
    best = next(iter(plans(state, sizes)), None)
    return None if best is None else first_block_of(best, state, sizes)


def first_block_of(plan: Plan, state: State, sizes: Sizes = INTERIM_GAMES) -> Block:
    """The first cell of a plan up to its next interim analysis."""
    cell = plan.cells[0]
    interims = sizes[place_of(cell)]
    return Block((cell,), interims[interims_taken(state.games[cell], interims)])


def plans(state: State, sizes: Sizes = INTERIM_GAMES) -> list[Plan]:
    """For each undecided statement the best plan, when all cells have come to their first interim analysis; the best of all first.

    The same cells may serve several statements: they are a plan for the one whose chance is best.
    """
    planner, best = _Planner(state, sizes), dict[tuple[tuple[Cell, ...], int], Plan]()
    for number in planner.undecided:
        for plan in planner.plans(number):
            key = plan.cells, plan.interim
            if plan.chance > 0 and (key not in best or plan.chance > best[key].chance):
                best[key] = plan
    ordered = sorted(best.values(), key=lambda plan: (-plan.decided_per_hour, plan.statement, plan.interim))
    first: dict[int, Plan] = {}
    for plan in ordered:
        first.setdefault(plan.statement, plan)
    return list(first.values())


def interims_taken(games: int, interims: Sequence[int]) -> int:
    """How many interim analyses so many games are enough for."""
    return sum(games >= interim for interim in interims)


class _Planner:
    """Makes the plans for each undecided statement.

    Attributes:
        undecided: the undecided statements by their numbers, from 1.
        counts: how many interim analyses each cell has had.
    """

    def __init__(self, state: State, sizes: Sizes) -> None:
        self.undecided = {
            number: decision for number, decision in enumerate(state.decisions, 1) if decision.verdict == UNDECIDED
        }
        self.counts = {_key(cell): interims_taken(games, sizes[place_of(cell)]) for cell, games in state.games.items()}
        self._cells = {_key(cell): cell for cell in state.games}
        self._state, self._sizes = state, sizes
        self._needed = {
            number: [tuple(comparison.cells) for comparison in decision.claim.comparisons]
            for number, decision in self.undecided.items()
        }
        self._power = PredictivePower(
            [decision.claim for decision in state.decisions], predicted_interims(self.counts, state.interims, sizes)
        )

    def plans(self, number: int) -> Iterator[Plan]:
        """All plans for a statement: each group of comparisons that are played together, to each interim analysis ahead."""
        for group in _groups(self.undecided[number]):
            for interim in range(1 + min(self.counts[key] for key in group), len(SHARES) + 1):
                behind = frozenset(key for key in group if self.counts[key] < interim)
                cells = sorted(
                    (self._cells[key] for key in behind), key=lambda cell: (FIRST.index(cell.column.game), cell.key)
                )
                chances = self._chances(behind, interim)
                hours = sum(self._seconds(cell, interim) for cell in cells) / HOUR
                yield Plan(number, interim, tuple(cells), hours, chances.get(number, 0.0), sum(chances.values()))

    def _chances(self, behind: frozenset[Key], interim: int) -> dict[int, float]:
        """The chance of each statement that is concerned to be decided when some cells have come to an interim analysis."""
        ahead = self.counts | dict.fromkeys(behind, interim)
        return {
            number: self._power.chance(number, [min(ahead[key] for key in keys) for keys in needed])
            for number, needed in self._needed.items()
            if any(not behind.isdisjoint(keys) for keys in needed)
        }

    def _seconds(self, cell: Cell, interim: int) -> float:
        """What a cell's games up to an interim analysis take, from the last one that it has come to."""
        games = self._sizes[place_of(cell)]
        return (games[interim - 1] - games[self.counts[_key(cell)] - 1]) * self._state.seconds[cell]


def _key(cell: Cell) -> Key:
    return place_of(cell), cell.spec.text


def _groups(decision: Decision) -> list[frozenset[Key]]:
    """The cells of comparisons that are played together: each undecided one by itself, those of a case, those in a game, and all."""
    cases = [
        [outcome.comparison for outcome in case if outcome.verdict == UNDECIDED]
        for case in decision.cases
        if all(outcome.verdict != DISAGREES for outcome in case)
    ]
    every = [comparison for case in cases for comparison in case]
    in_games = (
        [each for each in every if each.where == where] for where in dict.fromkeys(each.where for each in every)
    )
    together = [*([each] for each in every), *cases, *in_games, every]
    cells = (frozenset(key for comparison in group for key in comparison.cells) for group in together)
    return [group for group in dict.fromkeys(cells) if group]
