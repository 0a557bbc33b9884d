"""The protocol of a race: everything that decides what is played and what is claimed, written and hashed before the first game."""

import hashlib
import itertools
import json
import math
from pathlib import Path
from typing import Any

import attrs

from icarus.checks import count_text
from icarus.discovery.configuration import Configuration
from icarus.discovery.space import Space, read_space
from icarus.discovery.statistics import student_quantile
from icarus.row_files import packed_path, written_whole

FORMAT = 1
FILE, ROWS = "protocol.json", "games.jsonl"
SHARES = (0.6, 0.3, 0.1)  # of the games: exploration, proof, ablation
LEAST_UNITS = 20  # of a proof, for every finalist
USELESS = 0.25  # a proof that detects only larger differences proves nothing
POWER = 0.8
DIGITS = 16


@attrs.frozen
class RaceProtocol:
    """What a race will do.

    Attributes:
        game: with its parameters.
        seats: which a configuration takes in turn, on the same deal: a *unit* of games.
        space: that is searched.
        finder: "factorial", by which all races are found.
        reference: who is to be beaten; the last of the pool.
        pool: the opponents of the exploration; at half time the incumbent joins them.
        iterations, seconds: the budget of each decision; one of them is None.
        games: of the whole race, at most.
        units: of the exploration, of the proof for each finalist, and of the ablation for each factor.
        finalists: at most so many are proven, with Holm's correction.
        level: of significance.
        deviation: of a unit's score, by games that were played before: for what the proof can detect.
        seed: from which all seeds follow; the deals of the proof are a stream of their own.
        files: Python files whose enhancements and games are named, with a digest of each.
    """

    game: str
    seats: tuple[int, ...]
    space: Space = attrs.field(eq=lambda space: json.dumps(space.settings()))
    finder: str
    reference: Configuration
    pool: tuple[Configuration, ...]
    iterations: int | None
    seconds: float | None
    games: int
    units: tuple[int, int, int]
    finalists: int
    level: float
    deviation: float
    seed: int
    files: tuple[tuple[str, str], ...] = ()

    def settings(self) -> dict[str, Any]:
        """The protocol as JSON can hold it."""
        return {"format": FORMAT, **attrs.asdict(self, recurse=False)} | {
            "space": self.space.settings(),
            "reference": attrs.asdict(self.reference),
            "pool": [attrs.asdict(each) for each in self.pool],
        }

    @property
    def digest(self) -> str:
        """Names the protocol: it follows from every setting."""
        text = json.dumps(self.settings(), sort_keys=True, ensure_ascii=False)
        return hashlib.sha256(text.encode()).hexdigest()[:DIGITS]

    def detectable(self) -> float:
        """The least difference in mean reward that the proof finds with power `POWER`, for the strictest test of Holm's."""
        return detectable(self.units[1], self.deviation, self.level / self.finalists)

    def check(self, directory: Path) -> None:
        """Refuse a directory that holds something else than this race.

        Raises:
            ValueError: it has another race, a file that cannot be read, or files of another command.
        """
        path = directory / FILE
        if not path.exists():
            check_no_rows(directory)
            return
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is damaged: {error}") from None
        if not isinstance(there, dict):
            raise ValueError(f"{path} is damaged: it is not a JSON object")
        mine = json.loads(json.dumps(self._content()))
        if there != mine:
            raise ValueError(f"{directory} has another race: {_difference(there, mine)}; choose another directory")

    def write(self, directory: Path) -> None:
        """Write the protocol, where it is not written yet; errors as of `check`."""
        self.check(directory)
        directory.mkdir(parents=True, exist_ok=True)
        if not (directory / FILE).exists():
            with written_whole(directory / FILE) as file:
                file.write(json.dumps(self._content(), indent=1, ensure_ascii=False).encode())

    def _content(self) -> dict[str, Any]:
        return {**self.settings(), "digest": self.digest}


def check_no_rows(directory: Path) -> None:
    """Refuse a directory with games, but without a protocol that says which.

    Raises:
        ValueError: it is so.
    """
    if any(path.exists() for path in (directory / ROWS, packed_path(directory / ROWS))):
        raise ValueError(
            f"{directory} has games of another command: there is no {FILE} in it; choose another directory"
        )


def read_protocol(directory: Path) -> RaceProtocol:
    """The protocol of the race in a directory.

    Raises:
        ValueError: the directory has no race, or its protocol was changed.
    """
    try:
        table = json.loads((directory / FILE).read_text(encoding="utf-8"))
        recorded = table.pop("digest")
        if table.pop("format") != FORMAT:
            raise ValueError("its format is different")
        for key in ("seats", "units"):
            table[key] = tuple(table[key])
        if table["finder"] != "factorial":
            raise ValueError(f"its finder is {table['finder']!r}; races are found by 'factorial' only")
        table["space"] = read_space(table["space"])
        table["reference"] = Configuration(**table["reference"])
        table["pool"] = tuple(Configuration(**each) for each in table["pool"])
        table["files"] = tuple((path, digest) for path, digest in table["files"])
        protocol = RaceProtocol(**table)
    except OSError:
        raise ValueError(f"{directory} has no race, because it has no {FILE}") from None
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{directory / FILE} is damaged: {error}") from None
    if protocol.digest != recorded:
        raise ValueError(
            f"{directory / FILE} was changed after the race had started: its digest is {protocol.digest}, not {recorded}"
        )
    return protocol


def detectable(units: int, deviation: float, level: float) -> float:
    """The least mean difference that a one-sided t test of so many units finds with power `POWER`; infinite for one unit.

    The noncentral distribution is taken as Student's, moved: the power is right to .012 from 20 units on.
    """
    if units < 2:
        return math.inf
    quantiles = student_quantile(level, units - 1) + student_quantile(1 - POWER, units - 1)
    return quantiles * deviation / math.sqrt(units)


def units_needed(deviation: float, level: float) -> int:
    """The fewest units, `LEAST_UNITS` at least, whose test finds a difference of `USELESS`."""
    return next(units for units in itertools.count(LEAST_UNITS) if detectable(units, deviation, level) <= USELESS)


def plan_units(
    games: int, seats: int, finalists: int, factors: int, deviation: float, level: float, confirmations: int
) -> tuple[int, int, int]:
    """The units of the three stages that a number of games allows.

    Args:
        seats: games of a unit.
        confirmations: games of a unit in which the reference plays itself, beside each of the proof.

    Raises:
        ValueError: the proof could not prove anything.
    """
    explore, prove, ablate = (int(games * share) for share in SHARES)
    units = (
        explore // seats,
        max(1, int(prove / (finalists * seats + confirmations))),
        max(1, int(ablate / ((factors + 1) * seats))),
    )
    least = detectable(units[1], deviation, level / finalists)
    of_all, or_fewer = (f"{finalists} finalists", ", or fewer finalists") if finalists > 1 else ("1 finalist", "")
    if units[1] < LEAST_UNITS or least > USELESS:
        enough = units_needed(deviation, level / finalists) * (finalists * seats + confirmations)
        what = f"a difference of {least:.2f} in mean reward or more" if least <= 1 else "no difference in mean reward"
        raise ValueError(
            f"a budget of {games} games proves nothing: with {count_text(units[1], 'unit')} for each of {of_all} it could detect {what}; "
            f"give at least {math.ceil(enough / SHARES[1]) + seats} games{or_fewer}"
        )
    return units


def _difference(there: dict[str, Any], mine: dict[str, Any]) -> str:
    key = next(key for key in {**mine, **there} if (key in there, there.get(key)) != (key in mine, mine.get(key)))
    if key == "files" and [file for file, _ in there.get(key, ())] == [file for file, _ in mine[key]]:
        changed = [file for (file, digest), (_, before) in zip(mine[key], there[key], strict=True) if digest != before]
        return f"{' and '.join(changed)} changed since it was started"
    return f"{key} is {str(there.get(key))[:100]} there and {str(mine.get(key))[:100]} here"
