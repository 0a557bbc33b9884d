"""Section 6 explains enhancements by correlation: they share information where values go together. Whether values do, measured.

In positions of kept games whoever is to move has several actions. What each is worth now is its mean reward at the root of a search whose
playouts are random throughout. What an enhancement would say of it is the mean reward of its record wherever else in these playouts it was
captured: of (action, player), which MAST keeps and AMAF uses at the root, and of the position in an episode, which EPIC keeps. Two
searches of each position tell how much of either is noise.

    python -m experiments.studies.correlation experiments/runs/rehearsal --out correlation.csv
"""

import argparse
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import attrs
import numpy as np

from experiments.commands.common import print_table, say
from experiments.plan.definition import Cell, Refusal, game_title, title
from experiments.plan.loading import game_of
from experiments.store import rows as store
from experiments.store.csv_values import read_values, write_values
from experiments.store.results import runs_in
from experiments.store.rows import Row
from icarus import State, parse, search
from icarus.kernel.game import AnyGame
from icarus.views.document import Table

ACTION, POSITION = KINDS = ("action", "position in episode")
HALVES = 2
FEWEST_ACTIONS = 3  # of a position
RANDOM_PLAYOUTS = "baseline(exploration=1000) >> (mast(epsilon_greedy(epsilon=1)) + epic(epsilon_greedy(epsilon=1)))/2"
DEAL = 0  # the stream of random numbers from which `icarus.play` deals


@attrs.frozen
class Shared:
    """What one half of the playouts says of an action in a position.

    Attributes:
        position: a number of the position.
        now: its mean reward at the root.
        later: the mean reward of its record elsewhere; how often that was captured is `count`.
    """

    game: str
    role: str
    position: int
    half: int
    kind: str
    action: int
    now: float
    later: float
    count: int


def measure_shared_values(
    directory: Path, positions: int, iterations: int, seed: int, log: Callable[[str], None] = lambda text: None
) -> Iterator[Shared]:
    """Positions of the baseline's kept games in each game and role, and what random playouts say of their actions."""
    measured_any = False
    for run in runs_in(directory):
        for cell, rows, generator in baseline_games(run, seed):
            for number, (state, row) in enumerate(positions_of(cell, rows, positions, generator)):
                if number == 0:
                    log(f"measuring {title(cell.column)}, {min(positions, len(rows))} positions …")
                measured_any = True
                yield from _shared_records(state, row, number, iterations, seed)
    if not measured_any:
        raise Refusal(f"{directory} has no games of the baseline against itself, from which the positions are taken")


def baseline_games(directory: Path, seed: int) -> Iterator[tuple[Cell, list[Row], random.Random]]:
    """The baseline's kept games against itself in each game and role, in a random order, and the generator that drew it."""
    experiment = store.experiment_in(directory)
    rows = list(store.rows(directory, experiment))
    for cell in (cell for cell in experiment.cells if cell.is_opponent):
        generator = random.Random(f"{seed} {cell.key}")
        of_cell = [row for row in rows if row["cell"] == cell.key]
        generator.shuffle(of_cell)
        yield cell, of_cell, generator


def positions_of(cell: Cell, rows: Iterable[Row], most: int, generator: random.Random) -> Iterator[tuple[State, Row]]:
    """A decision of the agent with several actions from each of so many games of a cell."""
    game, sampled = game_of(cell.column, [cell.module]), 0
    for row in rows:
        if sampled == most:
            return
        if states := _decisions(game, row):
            sampled += 1
            yield generator.choice(states), row


def _decisions(game: AnyGame, row: Row) -> list[State]:
    """The states of a kept game in which its agent has several actions.

    Raises:
        Refusal: today's rules do not lead from its deal by its actions to its returns.
    """
    state, decisions = game.new_initial_state((*row["seed"], DEAL)), []
    try:
        for player, action in row["actions"]:
            if player == row["seat"] and len(state.legal_actions()) >= FEWEST_ACTIONS:
                decisions.append(state.clone())
            state.apply_action(action)
        same = state.returns() == row["returns"]
    except ValueError:
        same = False
    if not same:
        raise Refusal(f"trial {row['trial']} of {row['agent']} in {row['game']} was played by other rules than today's")
    return decisions


def _shared_records(state: State, row: Row, position: int, iterations: int, seed: int) -> Iterator[Shared]:
    player, place = state.current_player(), state.position_in_episode()
    moves = place.moves[state.game.perspective(player)]
    for half in range(HALVES):
        result = search(state, parse(RANDOM_PLAYOUTS), iterations=iterations, seed=(seed, position, half))
        *_, by_action, by_position = result.records.values()
        for action, now, visits in zip(result.actions, result.values.tolist(), result.visits.tolist(), strict=True):
            statistics = {ACTION: by_action[action, player]} if (action, player) in by_action else {}
            key = place.label, player, (*moves, action)
            statistics |= {POSITION: by_position[key]} if key in by_position else {}
            for kind, row_of in statistics.items():
                reward = row_of["reward"] if kind == ACTION else row_of["reward"][player]
                if (count := int(row_of["visits"] - visits)) > 0:
                    later = float(reward - now * visits) / count
                    yield Shared(
                        row["game"], row["role"], position, half, kind, action, round(now, 6), round(later, 6), count
                    )


FEWEST = 20  # captures of a record elsewhere, in each half
RESAMPLED = 1000  # times, for the interval
LEAST = 0.005  # standard deviation of values below which there is nothing to be told apart

Sums = np.ndarray  # of products over the actions of a position: now × now, later × later, now × later. [3]


@attrs.frozen
class Correlation:
    """Over the actions of positions, centred within each.

    Attributes:
        positions: how many.
        now, later: standard deviations of the true values.
        value, low, high: their correlation with its 95 % interval, from positions drawn again; nan where the values hardly differ.
    """

    positions: int
    now: float
    later: float
    value: float
    low: float
    high: float


def correlation(shared: Iterable[Shared]) -> Correlation | None:
    """That of one game and one kind of record; None where no position has enough actions."""
    positions: dict[int, dict[int, dict[int, Shared]]] = {}
    for each in shared:
        positions.setdefault(each.position, {}).setdefault(each.action, {})[each.half] = each
    sums, actions = [], 0
    for by_action in positions.values():
        both = [halves for halves in by_action.values() if len(halves) == HALVES]
        captured = [halves for halves in both if min(half.count for half in halves.values()) >= FEWEST]
        if len(captured) >= FEWEST_ACTIONS:
            sums.append(_products(captured, both))
            actions += len(captured) - 1
    if not sums:
        return None
    whole = np.array(sums)
    generator = np.random.default_rng(1)
    resampled = whole[generator.integers(len(whole), size=(RESAMPLED, len(whole)))].sum(axis=1)
    now, later = np.sqrt(np.maximum(whole.sum(axis=0)[:2], 0) / actions)
    if min(now, later) < LEAST:
        return Correlation(len(whole), float(now), float(later), np.nan, np.nan, np.nan)
    low, high = np.nanquantile(_of(resampled), (0.025, 0.975))
    return Correlation(len(whole), float(now), float(later), float(_of(whole.sum(axis=0))), float(low), float(high))


def _of(sums: np.ndarray) -> np.ndarray:
    """Correlations from sums of products [..., 3]; nan where noise hides all there is."""
    now, later, together = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(together / np.sqrt(np.where((now > 0) & (later > 0), now * later, np.nan)), -1, 1)


def _products(captured: Sequence[Mapping[int, Shared]], all_actions: Sequence[Mapping[int, Shared]]) -> Sums:
    """Products across halves, whose noise is independent, over the actions of a position."""
    now, later = (
        np.array([[_value(halves[half], name, all_actions) for halves in captured] for half in range(HALVES)])
        for name in ("now", "later")
    )
    now, later = (values - values.mean(axis=1, keepdims=True) for values in (now, later))
    return np.array(
        [(now[0] * now[1]).sum(), (later[0] * later[1]).sum(), (now[0] * later[1] + now[1] * later[0]).sum() / 2]
    )


def _value(shared: Shared, name: str, all_actions: Sequence[Mapping[int, Shared]]) -> float:
    """The value now, or that elsewhere less what is to be expected of playouts that begin with the other actions."""
    if name == "now":
        return shared.now
    others = [halves[shared.half].now for halves in all_actions if halves[shared.half].action != shared.action]
    return shared.later - sum(others) / len(others)


def correlation_table(shared: Sequence[Shared]) -> Table:
    """A line for each game and kind of record."""
    lines = []
    for game, role in dict.fromkeys((each.game, each.role) for each in shared):
        for kind in KINDS:
            result = correlation(each for each in shared if (each.game, each.role, each.kind) == (game, role, kind))
            title = game_title(game) + (f" ({role})" if role else "")
            lines.append([title, kind, *(_texts(result) if result else ("0", "", "", "", ""))])
    return Table(
        "Values of actions now, and of their records elsewhere in random playouts: standard deviations over the actions of a position, and "
        "their correlation, both without noise; 95 % intervals by drawing positions again.",
        ["Game", "Record", "Positions", "now", "elsewhere", "Correlation", "95 % interval"],
        lines,
    )


def _texts(result: Correlation) -> tuple[str, ...]:
    value, interval = f"{result.value:+.2f}", f"{result.low:+.2f} to {result.high:+.2f}"
    texts = ("", "") if np.isnan(result.value) else (value, interval)
    return str(result.positions), f"{result.now:.3f}", f"{result.later:.3f}", *texts


def main() -> None:
    """Measure, or read what was measured, and print the correlations."""
    parser = argparse.ArgumentParser(description="Whether values correlate where enhancements share information.")
    parser.add_argument("directory", type=Path, help="a run, or a folder of runs")
    parser.add_argument("--out", type=Path, required=True, help="file for the measurements; an existing file is read")
    parser.add_argument("--positions", type=int, default=60)
    parser.add_argument("--iterations", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if not arguments.out.exists():
        records = measure_shared_values(
            arguments.directory, arguments.positions, arguments.iterations, arguments.seed, say
        )
        write_values(arguments.out, Shared, list(records))
    print_table(correlation_table(read_values(arguments.out, Shared)))


if __name__ == "__main__":
    main()
