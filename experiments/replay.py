"""Games of runs, races, duels, ladders and generations played again and compared with their rows; what outcome sampling learned, too."""

import itertools
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import msgspec

from experiments import ladder, results
from experiments.plan.refusal import Refusal
from experiments.races import is_race, read_protocol, rows_of as rows_of_race
from experiments.run import match_of, provenance, trial_row
from icarus import exploitability, games
from icarus.arena.ledger import PACKED, GameRow, key_of, read_rows
from icarus.arena.match import Files, Match, game_row, load_unedited, refuse_edited, seated
from icarus.arena.player import read_entrant
from icarus.discovery.race import KEY, STREAMS, RaceGames, race_row
from icarus.equilibrium import OOSSearch
from icarus.ladder import ladders
from icarus.learning import generations

NOTHING_TO_REPLAY = (
    "there are no games that can be played again (those with a time budget depend on the clock)"
)


@attrs.frozen
class Kept:
    """A row that is kept, and how it is made again.

    Attributes:
        name: of the game.
        again: makes the row.
        compared: the fields that must be the same.
    """

    name: str
    row: GameRow
    again: Callable[[GameRow], GameRow]
    compared: tuple[str, ...]


# what was found of a game, and whether it was the same; None where it cannot be played any more
Finding: TypeAlias = tuple[str, bool | None]


def audit(
    directory: Path, sample: int, seed: int, agent: str | None = None, trial: int | None = None
) -> Iterator[Finding]:
    """Each game of a random sample of a directory played again.

    Args:
        agent, trial: those of a run that are meant, where they are given.

    Raises:
        ValueError: no games can be compared.
    """
    for holds, games_in in KINDS:
        if holds(directory):
            if agent is not None or trial is not None:
                raise Refusal(
                    f"{directory} has games without agents and trials; leave out --agent and --trial"
                )
            return replayed(games_in(directory), sample, seed)
    if any(directory.glob("*.jsonl*")) and not (directory / results.EXPERIMENT).exists():
        raise Refusal(
            f"{directory}: {NOTHING_TO_REPLAY}; those of icarus ladder and icarus describe are not read here"
        )
    return replayed(of_run(directory, agent, trial), sample, seed)


def replayed(games_kept: Iterable[Kept], sample: int, seed: int) -> Iterator[Finding]:
    """Each of a uniform sample (by a reservoir) made again, as `audit`."""
    generator, sampled = random.Random(seed), list[Kept]()
    for count, each in enumerate(games_kept):
        if count < sample:
            sampled.append(each)
            continue
        place = generator.randrange(count + 1)
        if place < sample:
            sampled[place] = each
    if not sampled:
        raise ValueError(NOTHING_TO_REPLAY)
    for each in sampled:
        yield compare(each)


def compare(game: Kept) -> Finding:
    """A row made again."""
    try:
        again = game.again(game.row)
    except Refusal:
        raise
    except ValueError as error:  # a strategy or a scheme is no more
        return f"{game.name}: not played again: {error}", None
    for name in game.compared:
        before, now = game.row[name], again[name]
        if name == "actions" and isinstance(before, str):
            now = results.digest_of_actions(now)
        if before != now:
            return f"{game.name}: {_difference(name, before, now)}{_versions(game.row)}", False
    size = f"{len(again['actions'])} actions, " if "actions" in again else ""
    return f"{game.name}: {size}the same", True


def _difference(name: str, before: Any, now: Any) -> str:
    """In which way something is not the same."""
    if name == "actions" and isinstance(before, list):
        for number, (action, action_now) in enumerate(zip(before, now, strict=False), 1):
            if action != action_now:
                return f"action {number} was {action}, now {action_now}"
        return f"{len(before)} actions were kept, now there are {len(now)}"
    return f"{name} was {before}, now {now}"


def _versions(row: GameRow) -> str:
    """The end of a message: what played the game then and now, where that differs."""
    now = provenance()
    changed = [
        f"{key} was {value} and is {now.get(key)}"
        for key, value in row.get("provenance", {}).items()
        if value != now.get(key)
    ]
    return f" ({'; '.join(changed)})" if changed else ""


# -------------------- Runs.


SEARCHES = "{} of its searches"
# what the clock does not decide
OF_RUN = ("seed", "seat", "actions", "returns", "reward", "win") + tuple(
    SEARCHES.format(name) for name in ("decisions", *results.STATISTICS)
)


def of_run(directory: Path, agent: str | None = None, trial: int | None = None) -> Iterator[Kept]:
    """The games of a run by iterations; those of an agent and of a number, where these are given.

    Raises:
        Refusal: there are none of these.
    """
    experiment = results.experiment_in(directory)
    cells = {cell.key: cell for cell in experiment.cells}
    agents = set[str]()
    is_there = False

    def again(row: GameRow) -> GameRow:
        return with_searches(trial_row(match_of(experiment, cells[row["cell"]], row["trial"])))

    for row in results.rows(directory, experiment):
        agents.add(row["agent"])
        if agent is not None and agent != row["agent"]:
            continue
        if trial is not None and trial != row["trial"]:
            continue
        is_there = True
        if row["iterations"] is not None:
            name = f"{row['agent']} in {row['game']}, trial {row['trial']}"
            yield Kept(name, with_searches(row), again, OF_RUN)
    if agents and not is_there:
        which = {"of the agent": agent, "with the number": trial}
        game = " and ".join(
            f"{words} {value!r}" for words, value in which.items() if value is not None
        )
        raise Refusal(f"there is no game {game}; agents: {', '.join(sorted(agents))}")


def with_searches(row: GameRow) -> GameRow:
    """A row with fields for what the agent's searches came to."""
    of_agent = row["statistics"]["agent"]
    return row | {SEARCHES.format(name): value for name, value in of_agent.items()}


# -------------------- Races, and duels of what they found.


def of_race(directory: Path) -> Iterator[Kept]:
    """The games of a race.

    Raises:
        Refusal: the clock decided the games of this race. ValueError, OSError: a file that it names is not here as it was.
    """
    protocol = read_protocol(directory)
    if protocol.iterations is None:
        raise Refusal(NOTHING_TO_REPLAY)
    refuse_edited(protocol.files)
    games_of_race = RaceGames(protocol, protocol.game)

    def again(row: GameRow) -> GameRow:
        pair = read_entrant(row["player"]), read_entrant(row["opponent"])
        stream = STREAMS.index(row["stream"])
        return race_row(games_of_race.match(stream, pair, row["deal"], row["seat"]))

    for row in rows_of_race(directory):
        yield _of_pair(row, again)


def _match_of_pair(
    row: GameRow,
    game: str,
    iterations: int,
    seed: tuple[int, ...],
    files: Files = (),
    folder: Path | None = None,
) -> Match:
    """The match of two by iterations that a row is of; their evaluations may be in a folder."""
    pair = read_entrant(row["player"], folder), read_entrant(row["opponent"], folder)
    players = load_unedited(game, files).game.players
    entrants = seated(pair, row["seat"], players, iterations=iterations)
    return Match(key_of(row, KEY), game, entrants, seed, files)


def _of_pair(
    row: GameRow,
    again: Callable[[GameRow], GameRow],
    where: str = "",
    compared: tuple[str, ...] = ("returns", "moves"),
) -> Kept:
    name = f"{where}{row['player']} against {row['opponent']}, {row['stream']} {row['deal']}, seat {row['seat']}"
    return Kept(name, row, again, compared)


DUELS = re.compile(r"(?P<game>.+)-(?P<iterations>\d+)-iterations(-seed-(?P<seed>\d+))?")
# of those whose file names none: not a race's, so that no deal of a race is met again
DUEL_SEED = "1"


def duels_in(directory: Path) -> dict[Path, re.Match[str]]:
    """The files of a directory that hold duels by iterations, with the parts of their names: game, iterations and seed."""
    duels = {}
    for path in sorted(directory.glob("*.jsonl*")):
        rows = path.with_name(path.name.removesuffix(PACKED))
        match = DUELS.fullmatch(rows.stem)
        if match and rows.suffix == ".jsonl":
            duels[rows] = match
    return duels


def of_duels(directory: Path) -> Iterator[Kept]:
    """The games of duels."""
    for path, parts in duels_in(directory).items():
        for row in read_rows(path, KEY):
            yield _of_pair(row, partial(duel_again, parts), f"{parts['game']}: ")


def duel_again(parts: re.Match[str], row: GameRow) -> GameRow:
    """A duel played again."""
    game, iterations, seed = parts.group("game", "iterations", "seed")
    stream = STREAMS.index(row["stream"])
    seed_of_row = int(seed or DUEL_SEED), stream, row["deal"]
    return race_row(_match_of_pair(row, game, int(iterations), seed_of_row))


# -------------------- Ladders.


_OF_LADDERS = (ladder.BETWEEN, ladder.COMPARED, *ladder.TABLES)


def is_ladder(directory: Path) -> bool:
    """Whether a directory has rows of a game's ladder."""
    files = itertools.product(ladder.plans(), _OF_LADDERS)
    return any(ladder.read_rows_of(directory, game, kind) for game, kind in files)


def of_ladders(directory: Path) -> Iterator[Kept]:
    """The games of ladders, but those in which somebody decides by the clock, an engine plays, or a player is planned no more."""
    for game in ladder.plans():
        rungs = {rung.name: rung for rung in ladder.planned(game) if rung.is_certain}
        for kind in _OF_LADDERS:
            for row in ladder.read_rows_of(directory, game, kind):
                if {row["player"], row["opponent"]} <= rungs.keys() and "score" in row:
                    name = f"{row['game']}: {row['player']} against {row['opponent']}, seed {row['seed']}, side {row['side']}"
                    again = partial(ladder_again, rungs)
                    yield Kept(name, row, again, ("returns", "actions", "score"))


def ladder_again(rungs: Mapping[str, ladders.Rung], row: GameRow) -> GameRow:
    """A game of a ladder played again."""
    pair = [(row[each], rungs[row[each]].player()) for each in ("player", "opponent")]
    return ladders.rated_row(
        ladders.rated_match(games.load(row["game"]), pair, tuple(row["seed"]), row["side"])
    )


# -------------------- The matches of generations of a learned evaluation.


def is_learning(directory: Path) -> bool:
    """Whether a directory has what `icarus learn` keeps."""
    return (directory / generations.SETTINGS).exists()


def of_learning(directory: Path) -> Iterator[Kept]:
    """The games between generations; a file that they name must be here as it was."""
    settings = msgspec.json.decode((directory / generations.SETTINGS).read_bytes())
    files = tuple(map(tuple, settings["files"]))
    refuse_edited(files)

    def again(row: GameRow) -> GameRow:
        game, iterations = settings["game"], settings["iterations"]
        seed = tuple(row["seed"])
        return game_row(_match_of_pair(row, game, iterations, seed, files, directory))

    for row in read_rows(directory / generations.ROWS, KEY):
        yield _of_pair(row, again, compared=("returns", "actions"))


# -------------------- What outcome sampling learned.


LEARNED = "learned.jsonl"
LEARNED_KEY = ("game", "player", "iterations", "seed")


def has_learned(directory: Path) -> bool:
    """Whether a directory has rows of what outcome sampling learned."""
    return (directory / LEARNED).exists()


def learned_by(search: OOSSearch) -> GameRow:
    """What outcome sampling has learned: exact NashConv of its average policy, the best responses' rewards, the information sets."""
    distance = exploitability(search.game, search)
    return {
        "nash_conv": distance.nash_conv,
        "best_responses": list(distance.best_responses),
        "sets": int(search.store.used[0]),
    }


def of_learned(directory: Path) -> Iterator[Kept]:
    """What outcome sampling had learned."""
    for row in read_rows(directory / LEARNED, LEARNED_KEY):
        name = f"{row['game']}, seed {row['seed']}, {row['iterations']:,} iterations"
        yield Kept(name, row, learn_again, ("nash_conv", "best_responses", "sets"))


def learn_again(row: GameRow) -> GameRow:
    """What outcome sampling learns in as many iterations with the same seed."""
    search = OOSSearch(games.load(row["game"]), seed=row["seed"])
    search.run(row["iterations"])
    return learned_by(search)


# of directories, besides those of runs
KINDS: tuple[tuple[Callable[[Path], object], Callable[[Path], Iterator[Kept]]], ...] = (
    (is_race, of_race),
    (is_ladder, of_ladders),
    (is_learning, of_learning),
    (duels_in, of_duels),
    (has_learned, of_learned),
)
