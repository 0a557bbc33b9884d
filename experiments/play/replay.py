"""Playing games again and comparing them with what was kept."""

import random
from collections.abc import Iterable, Iterator

from experiments.plan.definition import Experiment, Refusal
from experiments.play import matches
from experiments.play.matches import Match
from experiments.store.rows import Row

NOTHING_TO_REPLAY = "there are no games that can be played again (those with a time budget depend on the clock)"
CLOCKS = ("seconds",)  # statistics that the clock decides


def audit(experiment: Experiment, rows: Iterable[Row], sample: int, seed: int) -> Iterator[tuple[str, bool]]:
    """Each game of a random sample played again: (what was found, whether it was the same).

    Raises:
        Refusal: no games can be compared.
    """
    cells = {cell.key: cell for cell in experiment.cells}
    sampled = _sample((row for row in rows if row["iterations"] is not None), sample, seed)
    if not sampled:
        raise Refusal(NOTHING_TO_REPLAY)
    for row in sampled:
        match = Match(cells[row["cell"]], row["trial"], tuple(row["seed"]))
        yield compare_with_replay(row, match, experiment)


def _sample(rows: Iterable[Row], size: int, seed: int) -> list[Row]:
    """A uniform sample of a stream, without holding it."""
    generator, sampled = random.Random(seed), list[Row]()
    for count, row in enumerate(rows):
        if count < size:
            sampled.append(row)
        elif (place := generator.randrange(count + 1)) < size:
            sampled[place] = row
    return sampled


def compare_with_replay(row: Row, match: Match, experiment: Experiment) -> tuple[str, bool]:
    """A game played again: what was found, and whether it was the same."""
    name = f"{row['agent']} in {row['game']}, trial {row['trial']}"
    seed, seat = experiment.game_seed(match.cell, match.trial), match.cell.seat(match.trial)
    if (match.seed, row["seat"]) != (seed, seat):
        row_text = f"kept with seed {match.seed} and seat {row['seat']}"
        return f"{name}: {row_text}, but the experiment gives {seed}, {seat}", False
    result = matches.play_match(match)
    now = [[int(player), int(action)] for player, action in result.actions]
    for number, (before, new) in enumerate(zip(row["actions"], now, strict=False), 1):
        if before != new:
            change = f"action {number} was {before[1]} of player {before[0]}, now {new[1]} of player {new[0]}"
            return f"{name}: {change}{_versions(row)}", False
    if len(now) != len(row["actions"]):
        return f"{name}: {len(row['actions'])} actions were kept, now there are {len(now)}{_versions(row)}", False
    returns = [float(value) for value in result.returns]
    is_same = returns == row["returns"] and row["reward"] == returns[row["seat"]]
    if not is_same or row["win"] != (row["reward"] >= matches.WIN):
        return f"{name}: returns were {row['returns']} and win {row['win']}, now {returns}{_versions(row)}", False
    decisions = [decision for decision in result.decisions if decision.player == row["seat"]]
    statistics = {key: value for key, value in matches.statistics(decisions).items() if key not in CLOCKS}
    for key, value in statistics.items():
        if row["statistics"]["agent"].get(key) != value:
            before = row["statistics"]["agent"].get(key)
            return f"{name}: {key} of its searches was {before} on average, now {value}{_versions(row)}", False
    return f"{name}: {len(now)} actions, the same", True


def _versions(row: Row) -> str:
    """The end of a message: what played the game then and now, where that differs."""
    now = matches.provenance()
    changed = [
        f"{key} was {value} and is {now.get(key)}" for key, value in row["provenance"].items() if value != now.get(key)
    ]
    return f" ({'; '.join(changed)})" if changed else ""
