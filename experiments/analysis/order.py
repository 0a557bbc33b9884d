"""Which block of the campaign is played next.

A block is a cell from one interim analysis to the next. First every cell is taken to its first interim analysis, game by game. From then
on there are plans. A plan takes the cells of some undecided comparisons of a statement to one of their later interim analyses; it promises
the number of statements that it decides, on average over many futures (`futures`). The plan that promises most for a core-hour is chosen,
its first block is played, and all plans are made anew. The rule reads the games of complete interim analyses alone, so a campaign that is
stopped and continued plays the same blocks.
"""

from collections.abc import Iterator, Mapping, Sequence

import attrs

from experiments.analysis import claims
from experiments.analysis.comparisons import DISAGREES, UNDECIDED, Place, place_of
from experiments.analysis.futures import Prospects, interims_ahead
from experiments.analysis.verdicts import Decision, Interim, decide
from experiments.plan.campaign import FIRST, INTERIM_GAMES, SHARES, Sizes
from experiments.plan.definition import Cell
from experiments.store.results import Results

Key = tuple[Place, str]  # place and strategy
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
    def promise(self) -> float:
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
    """For each undecided statement the plan that promises most, when all cells have come to their first interim analysis; the best first.

    The same cells may serve several statements: they are a plan for the one whose chance is best.
    """
    taken = {cell: interims_taken(games, sizes[place_of(cell)]) for cell, games in state.games.items()}
    prospects = Prospects(
        [decision.claim for decision in state.decisions], interims_ahead(taken, state.interims, sizes)
    )
    best: dict[tuple[tuple[Cell, ...], int], Plan] = {}
    for number in _undecided(state):
        for plan in _plans(state, number, taken, prospects, sizes):
            key = plan.cells, plan.interim
            if plan.chance > 0 and (key not in best or plan.chance > best[key].chance):
                best[key] = plan
    ordered = sorted(best.values(), key=lambda plan: (-plan.promise, plan.statement, plan.interim))
    first: dict[int, Plan] = {}
    for plan in ordered:
        first.setdefault(plan.statement, plan)
    return list(first.values())


def interims_taken(games: int, interims: Sequence[int]) -> int:
    """How many interim analyses so many games are enough for."""
    return sum(games >= interim for interim in interims)


def _undecided(state: State) -> list[int]:
    """The numbers of undecided statements, from 1."""
    return [number for number, decision in enumerate(state.decisions, 1) if decision.verdict == UNDECIDED]


def _plans(state: State, number: int, taken: Mapping[Cell, int], prospects: Prospects, sizes: Sizes) -> Iterator[Plan]:
    """All plans for a statement: each group of comparisons that are played together, to each interim analysis ahead."""
    cells_of = {_key(cell): cell for cell in taken}
    today = {_key(cell): count for cell, count in taken.items()}
    for group in _groups(state.decisions[number - 1]):
        cells = sorted((cells_of[key] for key in group), key=lambda cell: (FIRST.index(cell.column.game), cell.key))
        for interim in range(1 + min(taken[cell] for cell in cells), len(SHARES) + 1):
            behind = tuple(cell for cell in cells if taken[cell] < interim)
            ahead = today | dict.fromkeys(map(_key, behind), interim)
            chances = {each: _chance(state, each, ahead, prospects) for each in _undecided(state)}
            seconds = sum(
                (sizes[place_of(cell)][interim - 1] - sizes[place_of(cell)][taken[cell] - 1]) * state.seconds[cell]
                for cell in behind
            )
            yield Plan(number, interim, behind, seconds / HOUR, chances[number], sum(chances.values()))


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


def _chance(state: State, number: int, taken: Mapping[Key, int], prospects: Prospects) -> float:
    """The chance that a statement is decided when each cell has had so many interim analyses."""
    comparisons = state.decisions[number - 1].claim.comparisons
    return prospects.chance(number, [min(taken[key] for key in comparison.cells) for comparison in comparisons])
