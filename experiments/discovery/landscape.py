"""A real landscape: a random sample of a space, each configuration in the same games against the same opponent.

    python -m experiments.discovery.landscape "phantom-mnk" --iterations 200 --configurations 240 --deals 200 --to DIRECTORY

`landscape.json` says what is played, `games.csv.gz` holds a line for each configuration: its levels, then its reward in each game, by
deal and seat. While it is played, `games.jsonl` keeps every game: it may be stopped, and goes on. More configurations and deals may be
asked for later; another budget or seed needs another directory.
"""

import argparse
import csv
import gzip
import itertools
import json
from pathlib import Path

import attrs
import numpy as np

from experiments.discovery.duels import match_settings_of
from experiments.plan.definition import Refusal
from experiments.store.csv_values import csv_of
from icarus.discovery.configuration import Configuration
from icarus.discovery.matches import EXPLORATION, Games, Match, MatchSettings
from icarus.discovery.space import Point, Space, load_space, read_space
from icarus.row_files import written_whole

SETTINGS, PACKED, KEPT = "landscape.json", "games.csv.gz", "games.jsonl"
OPPONENT = "BASELINE >> NAST2"


@attrs.frozen
class Landscape:
    """Configurations of a space, and what each got in the same games.

    Attributes:
        points: of the space.
        rewards: [configurations, deals, seats].
    """

    space: Space
    points: tuple[Point, ...]
    rewards: np.ndarray


def sample(space: Space, number: int, seed: int) -> list[Point]:
    """So many different random points, the default first."""
    rng, points = np.random.default_rng(seed), {space.default: None}
    while len(points) < min(number, space.count()):
        points[space.sample(rng)] = None
    return list(points)


def play_landscape(match_settings: MatchSettings, space: Space, number: int, deals: int, directory: Path) -> None:
    """Play it, deal by deal, so that what has been played when it is stopped is balanced; then pack it.

    Raises:
        Refusal: the directory has games of something else.
    """
    directory.mkdir(parents=True, exist_ok=True)
    claim(directory, settings_of(match_settings, space))
    points, opponent = sample(space, number, match_settings.seed), Configuration(OPPONENT)
    configurations = [space.configuration(point) for point in points]
    with Games(match_settings, directory / KEPT) as played:
        for deal in range(deals):
            pairs = itertools.product(configurations, match_settings.seats)
            matches = [Match(EXPLORATION, each, opponent, deal, seat) for each, seat in pairs]
            rewards = [row["returns"][row["seat"]] for row in played.play(matches)]
            print(f"deal {deal + 1} of {deals}: mean reward {np.mean(rewards):.3f}", flush=True)
        places = [(deal, seat) for deal in range(deals) for seat in match_settings.seats]
        scores = [
            [played.rows[Match(EXPLORATION, each, opponent, *place).key]["returns"][place[1]] for place in places]
            for each in configurations
        ]
    pack(directory, points, scores)


def settings_of(match_settings: MatchSettings, space: Space) -> dict[str, object]:
    """What is played: all that a row does not tell, and the opponent."""
    settings = {
        "game": str(match_settings.game),
        "seats": list(match_settings.seats),
        "iterations": match_settings.iterations,
        "seconds": match_settings.seconds,
        "seed": match_settings.seed,
        "opponent": OPPONENT,
        "space": space.settings(),
    }
    return dict(json.loads(json.dumps(settings)))  # as they are read back


def claim(directory: Path, settings: dict[str, object]) -> None:
    """Write the settings of a landscape before its first game, or check that those there are the same.

    Raises:
        Refusal: they are others, or there are games without settings.
    """
    path = directory / SETTINGS
    if path.exists():
        there = json.loads(path.read_text(encoding="utf-8"))
        for name in (name for name, value in settings.items() if there.get(name) != value):
            difference = (
                "a different space" if name == "space" else f"{name} {there.get(name)!r}, not {settings[name]!r}"
            )
            raise Refusal(f"{directory} is a landscape with {difference}; use another directory")
        return
    if (directory / KEPT).exists():
        raise Refusal(f"{directory} has games but no {SETTINGS}; use another directory")
    with written_whole(path) as file:
        file.write(json.dumps(settings, indent=1, ensure_ascii=False).encode())


def pack(directory: Path, points: list[Point], rewards: list[list[float]]) -> None:
    """Write what each point got."""
    lines = (
        (" ".join(map(str, point)), " ".join(f"{reward:g}" for reward in received))
        for point, received in zip(points, rewards, strict=True)
    )
    with written_whole(directory / PACKED) as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(csv_of(lines))


def read_landscape(directory: Path) -> Landscape:
    """A landscape that was packed."""
    settings = json.loads((directory / SETTINGS).read_text(encoding="utf-8"))
    with gzip.open(directory / PACKED, "rt", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    points = tuple(tuple(map(int, point.split())) for point, _ in lines)
    rewards = np.array([[float(reward) for reward in received.split()] for _, received in lines])
    return Landscape(read_space(settings["space"]), points, rewards.reshape(len(points), -1, len(settings["seats"])))


def main() -> None:
    """The command, see the head of this file."""
    parser = argparse.ArgumentParser(description="Play a random sample of a space in the same games.")
    parser.add_argument("game")
    parser.add_argument("--space", default="general")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--configurations", type=int, default=240)
    parser.add_argument("--deals", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--to", type=Path, required=True)
    arguments = parser.parse_args()
    match_settings = match_settings_of(arguments.game, arguments.iterations, None, arguments.seed)
    play_landscape(match_settings, load_space(arguments.space), arguments.configurations, arguments.deals, arguments.to)


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:  # a Refusal, or a race that another process plays
        raise SystemExit(str(error)) from None
