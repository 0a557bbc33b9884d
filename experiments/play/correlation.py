"""Section 6 explains enhancements by correlation: they share information where values go together. Whether values do, measured.

In positions of kept games whoever is to move has several actions. What each is worth now is its mean reward at the root of a search whose
playouts are random throughout. What an enhancement would say of it is the mean reward of its record wherever else in these playouts it was
captured: of (action, player), which MAST keeps and AMAF uses at the root, and of the position in an episode, which EPIC keeps. Two
searches of each position tell how much of either is noise.
"""

import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from experiments.plan.building import game_of
from experiments.plan.definition import Cell, Refusal
from experiments.plan.titles import title
from experiments.store import rows as store
from experiments.store.results import runs_in
from experiments.store.rows import Row
from experiments.store.shared_values import ACTION, FEWEST_ACTIONS, HALVES, POSITION, Shared
from icarus import State, parse, search
from icarus.kernel.game import AnyGame

RANDOM_PLAYOUTS = "baseline(exploration=1000) >> (mast(epsilon_greedy(epsilon=1)) + epic(epsilon_greedy(epsilon=1)))/2"
DEAL = 0  # the stream of random numbers from which `icarus.play` deals


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
