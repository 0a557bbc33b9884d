"""Which block of the campaign is played next.

A block is a cell from one interim analysis to the next. First every cell is taken to its first interim analysis, game by game. Then
comes the block that promises the most decisions for a core-hour. The promise of a block is a sum over the undecided comparisons of
undecided statements: the chance that the next interim analysis decides the comparison, divided equally among the blocks that this
analysis needs. The cost of a block follows from the cell's games so far. The rule reads rows alone, so a campaign that is stopped and
continued plays the same blocks.
"""

from collections.abc import Mapping, Sequence

import attrs

from experiments.analysis import claims
from experiments.analysis.comparisons import UNDECIDED, Comparison, Place, place_of
from experiments.analysis.verdicts import Claim, Decision, Interim, confidences, decide
from experiments.plan.campaign import FIRST, INTERIM_GAMES, SHARES, Sizes
from experiments.plan.definition import Cell
from experiments.store.results import Results

Key = tuple[Place, str]  # place and strategy


@attrs.frozen
class Block:
    """The games of cells up to an interim analysis.

    Attributes:
        trials: of each of the cells, from the first; those already played need not be played again.
        promise: decisions that are hoped for in a core-hour; None before the first interim analysis.
    """

    cells: tuple[Cell, ...]
    trials: int
    promise: float | None = None


@attrs.frozen
class State:
    """What the rows say.

    Attributes:
        games: of each cell so far, without gaps from the first trial.
        seconds: of a game of each cell, on average over those of its interim analyses.
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
    at_looks = {size: results.tallies(size) for each in sizes.values() for size in each}
    seconds = {
        tally.cell: tally.seconds / tally.games
        for size in sorted(at_looks)
        for tally in at_looks[size]
        if tally.games == size and size in sizes[place_of(tally.cell)]
    }
    return State(games, seconds, [decide(claim, interims) for claim in claims.CLAIMS], interims)


def next_block(state: State, sizes: Sizes = INTERIM_GAMES) -> Block | None:
    """The block that is to be played; None where all statements are decided or nothing is left to be played."""
    if first := first_block(state.games, sizes):
        return first
    return next(iter(blocks_by_promise(state, sizes)), None)


def blocks_by_promise(state: State, sizes: Sizes = INTERIM_GAMES) -> list[Block]:
    """The blocks that promise a decision when all cells have come to their first interim analysis, the best first."""
    interims = {cell: interims_taken(games, sizes[place_of(cell)]) for cell, games in state.games.items()}
    promises = _promises(state, interims)
    open_cells = [cell for cell in interims if interims[cell] < len(SHARES) and promises.get(_key(cell), 0.0) > 0]

    def rate(cell: Cell) -> float:
        ahead = sizes[place_of(cell)][interims[cell]] - sizes[place_of(cell)][interims[cell] - 1]
        return promises[_key(cell)] / (ahead * state.seconds[cell] / 3600)

    ordered = sorted(open_cells, key=lambda cell: (rate(cell), cell.key), reverse=True)
    return [Block((cell,), sizes[place_of(cell)][interims[cell]], rate(cell)) for cell in ordered]


def interims_taken(games: int, interims: Sequence[int]) -> int:
    """How many interim analyses so many games are enough for."""
    return sum(games >= interim for interim in interims)


def _key(cell: Cell) -> Key:
    return place_of(cell), cell.spec.text


def _promises(state: State, interims: Mapping[Cell, int]) -> dict[Key, float]:
    """The decisions that the next block of each cell promises, before what it costs."""
    taken_by = {_key(cell): count for cell, count in interims.items()}
    promises: dict[Key, float] = {}
    for decision in state.decisions:
        if decision.verdict != UNDECIDED:
            continue
        for claim_case, case in zip(decision.claim.cases, decision.cases, strict=True):
            for outcome in case:
                cells = outcome.comparison.cells
                number = min(taken_by.get(key, 0) for key in cells)
                if outcome.verdict != UNDECIDED or not 0 < number < len(SHARES):
                    continue
                needed = [key for key in cells if taken_by[key] == number]
                chance = _chance(outcome.comparison, decision.claim, claim_case, state.interims, number)
                for key in needed:
                    promises[key] = promises.get(key, 0.0) + chance / len(needed)
    return promises


def _chance(
    comparison: Comparison, claim: Claim, case: Sequence[Comparison], interims: Sequence[Interim], number: int
) -> float:
    """The chance that the next interim analysis decides a comparison, if all that is known is its estimate at the last one.

    The next estimate varies around today's by what the added games can change; it decides if the interval around it fits a region.
    """
    from scipy.special import ndtr, ndtri

    interim = interims[number - 1]
    level = confidences(comparison, claim.levels(case), Interim(interim.estimator, SHARES[number]))[0]
    estimate = interim.estimator.estimate(comparison, level)
    if estimate is None:
        return 0.0
    share = INTERIM_GROWTH[number - 1]  # of the games of the next interim analysis that are played
    half_width = max(estimate.value - estimate.low, estimate.high - estimate.value)
    error = half_width / float(ndtri((1 + level) / 2))
    spread = error * (1 - share) ** 0.5
    regions = (*comparison.expected.agree, *comparison.expected.contradict)
    ahead = half_width * share**0.5
    chances = [
        float(ndtr((high - ahead - estimate.value) / spread) - ndtr((low + ahead - estimate.value) / spread))
        for low, high in regions
        if high - low > 2 * ahead
    ]
    return min(1.0, max(0.0, sum(chances)))


_USUAL = next(iter(INTERIM_GAMES.values()))
INTERIM_GROWTH = [now / later for now, later in zip(_USUAL, _USUAL[1:], strict=False)]
