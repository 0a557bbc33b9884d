"""The games of a race: who plays whom on which deals, and what they score."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from icarus.algebra.parsing import Operand
from icarus.arena.ledger import Ledger, Row
from icarus.arena.match import Match, load_game, names_in, work_of
from icarus.arena.player import Configuration, Entrant
from icarus.arena.workers import ALONE, Workers
from icarus.kernel.game import AnyGame

CALIBRATION, EXPLORATION, PROOF, ABLATION = range(4)  # streams of random numbers: no deal of one is a deal of another
STREAMS = ("calibration", "exploration", "proof", "ablation")
KEY = ("stream", "player", "opponent", "deal", "seat")  # the fields of a row that name its game
Pair = tuple[Configuration, Configuration]  # who is judged, and against whom


@attrs.frozen
class MatchSettings:
    """How matches are played.

    Attributes:
        game: by its name, or itself; only a name can be given to other processes.
        seats: which the player who is judged takes in turn, on the same deal.
        iterations, seconds: the budget of each decision; one of them is None.
        seed: of the race.
        files: Python files whose enhancements and games may be named.
    """

    game: str | AnyGame
    seats: tuple[int, ...]
    iterations: int | None
    seconds: float | None
    seed: int
    files: tuple[str, ...] = ()

    def loaded(self) -> AnyGame:
        """The game itself."""
        return load_game(self.game, self.files)

    def names(self) -> Mapping[str, Operand]:
        """What strategies may name besides the catalogue."""
        return names_in(self.files)

    def match(self, stream: int, pair: Pair, deal: int, seat: int) -> Match:
        """One game: the first of a pair in a seat, and the second in all others.

        Args:
            stream: what it is for; decides, with the race's seed and the deal, everything random.
        """
        player, opponent = (Entrant(each, self.iterations, self.seconds) for each in pair)
        entrants = tuple(player if each == seat else opponent for each in range(self.loaded().players))
        key = STREAMS[stream], str(pair[0]), str(pair[1]), deal, seat
        return Match(key, self.game, entrants, (self.seed, stream, deal), self.files)


def race_row(match: Match) -> Row:
    """Play a match of a race."""
    log, seat = match.play(), match.key[KEY.index("seat")]
    choices = [each for each in log.decisions if each.legal > 1]
    return dict(zip(KEY, match.key, strict=True)) | {
        "returns": [round(float(reward), 9) for reward in log.returns],
        "moves": len(log.actions),
        "work": work_of(each for each in choices if each.player == seat),
        "work_of_others": work_of(each for each in choices if each.player != seat),
        "seconds": round(log.seconds, 4),
    }


class Games(Ledger):
    """The games of a race: their ledger, and who plays those that it lacks."""

    def __init__(self, settings: MatchSettings, path: Path | None = None, workers: Workers = ALONE) -> None:
        super().__init__(path, KEY)
        self.settings, self._workers = settings, workers

    def scores(self, stream: int, pairs: Sequence[Pair], deals: Sequence[int]) -> list[float]:
        """What each player gets on each deal, in the mean over the seats that he takes in turn.

        Args:
            pairs: (player, opponent); who plays against himself is played once, for all seats.
            deals: of each pair.
        """
        seats, matches = self.settings.seats, list[list[Match]]()
        for pair, deal in zip(pairs, deals, strict=True):
            alone = pair[0] == pair[1] and self.settings.seconds is None
            matches.append([self.settings.match(stream, pair, deal, seat) for seat in (seats[:1] if alone else seats)])
        self.play(sum(matches, []), race_row, self._workers)
        return [mean_reward([self.rows[match.key] for match in each], seats) for each in matches]


def mean_reward(rows: Sequence[Row], seats: Sequence[int]) -> float:
    """What a player gets in the mean over seats, by the row of each; one row is that of a game against himself, for all seats."""
    each = zip(rows if len(rows) == len(seats) else [rows[0]] * len(seats), seats, strict=True)
    return sum(float(row["returns"][seat]) for row, seat in each) / len(seats)


ROLES = {"dou-di-zhu": (0,)}  # that the paper judges by themselves: the landlord


def usual_seats(game: AnyGame) -> tuple[int, ...]:
    """The seats that a player takes in turn: all, but for games of which the paper judges one role (section 8)."""
    return ROLES.get(game.name, tuple(range(game.players)))
