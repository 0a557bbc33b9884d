"""What races proved, taken elsewhere: to other games, other budgets, equal time.

    python -m experiments.studies.duels othello checkers --winners all --iterations 1000 --units 100 --to DIRECTORY
    python -m experiments.studies.duels othello --winners own --seconds 0.05 --units 200 --to DIRECTORY
    python -m experiments.studies.duels --rows DIRECTORY/*

Winners of `icarus.discovered` play mirrored units against what they beat: the same deal in every seat. What is printed is the mean
reward less what the opponent gets in that place against itself, with a 99 % interval. Games are kept, and only what is missing is
played. The third command plays nothing: it prints what files of rows hold, winners of earlier races and adaptive shares among them.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from experiments.plan.definition import Refusal
from icarus import games
from icarus.arena.ledger import PACKED, key_of, read_rows
from icarus.arena.player import Configuration
from icarus.discovery.discover import REFERENCE, first_decision, proven_configurations, try_out
from icarus.discovery.matches import KEY, PROOF, STREAMS, Games, MatchSettings, Pair, mean_reward, usual_seats
from icarus.discovery.race import Difference, difference, differences

SEED = 1  # not a race's, so that no deal of a race is met again


def duel(match_settings: MatchSettings, pairs: Sequence[Pair], units: int, path: Path) -> list[Difference]:
    """How much better each player is than its opponent in its place, on the same deals; games in the file are not played again."""
    with Games(match_settings, path) as played:
        return differences(played, PROOF, pairs, units)


def match_settings_of(game: str, iterations: int | None, seconds: float | None, seed: int = SEED) -> MatchSettings:
    """Where a game is played."""
    return MatchSettings(game, usual_seats(games.load(game)), iterations, seconds, seed)


def print_duels(game: str, budget: str, names: Iterable[str], results: Iterable[Difference]) -> None:
    """A line for each pair."""
    for name, result in zip(names, results, strict=True):
        print(f"{game:18} {budget}, {result.units} units: {result}  {name}", flush=True)


def differences_in(path: Path) -> dict[tuple[str, str], Difference]:
    """What the rows of a file say of each (player, opponent), over the deals of which all games are there.

    Raises:
        ValueError: a line is damaged.
    """
    rows = {key_of(row, KEY): row for row in read_rows(path, KEY)}
    seats = sorted({row["seat"] for row in rows.values()})
    deals = sorted({row["deal"] for row in rows.values()})
    results = dict[tuple[str, str], Difference]()
    pairs = ((row["player"], row["opponent"]) for row in rows.values() if row["player"] != row["opponent"])
    for names in dict.fromkeys(pairs):
        gains = list[float]()
        for deal in deals:
            received, even = (
                [rows[key] for seat in seats if (key := (STREAMS[PROOF], player, names[1], deal, seat)) in rows]
                for player in names
            )
            if len(received) == len(seats) and even and even[0]["seat"] == seats[0]:
                gains.append(mean_reward(received, seats) - mean_reward(even, seats))
        if gains:
            results[names] = difference(gains)
    return results


def print_rows(paths: Iterable[Path]) -> None:
    """A line for each pair of players in each file."""
    for path in paths:
        plain = path.with_name(path.name.removesuffix(PACKED))
        if not path.exists():
            raise Refusal(f"there is no file {path}")
        for (player, opponent), result in differences_in(plain).items():
            print(f"{plain.stem}, {result.units} units: {result}  {player}  against {opponent}", flush=True)


def winners_in(game: str, which: str) -> Mapping[str, Pair]:
    """The winners that play a game, by where they were proven, with their opponent: what the game's own winner beat, or the usual one.

    Raises:
        Refusal: nothing was proven for the game.
    """
    table = proven_configurations()
    if which == "own" and game not in table:
        raise Refusal(
            f"no race has proved anything for {game}; give --winners all to play the winners of other games there"
        )
    chosen = [game] if which == "own" else list(table)
    reference = table[game].reference if game in table else Configuration(REFERENCE)
    return {f"winner of {name}": (table[name].configuration, reference) for name in chosen}


def playable(match_settings: MatchSettings, pairs: Mapping[str, Pair]) -> dict[str, Pair]:
    """The pairs of which both can play this game; of each other one a sentence says why not."""
    state, able = first_decision(match_settings.loaded(), match_settings.seed), {}
    for name, pair in pairs.items():
        try:
            for configuration in pair:
                try_out(match_settings, configuration, state)
            able[name] = pair
        except ValueError as error:
            print(f"{match_settings.game:18} the {name} cannot play: {error}", flush=True)
    return able


def main(words: Sequence[str] | None = None) -> None:
    """The command, see the head of this file."""
    parser = argparse.ArgumentParser(description="Play what races proved in other games and at other budgets.")
    parser.add_argument("games", nargs="*")
    parser.add_argument(
        "--winners", choices=("own", "all"), default="own", help="the winner of the game, or the winners of all games"
    )
    budget = parser.add_mutually_exclusive_group(required=True)
    budget.add_argument("--iterations", type=int)
    budget.add_argument("--seconds", type=float)
    budget.add_argument(
        "--rows", type=Path, nargs="+", metavar="FILE", help="print what these rows say; nothing is played"
    )
    parser.add_argument("--units", type=int, default=100)
    parser.add_argument("--to", type=Path)
    arguments = parser.parse_args(words)
    if arguments.rows:
        return print_rows(arguments.rows)
    if not arguments.games or not arguments.to:
        parser.error("games are played for at least one GAME, and kept in a directory: GAME --to DIRECTORY")
    arguments.to.mkdir(parents=True, exist_ok=True)
    text = f"{arguments.iterations} iterations" if arguments.iterations else f"{arguments.seconds:g} s"
    for game in arguments.games:
        match_settings = match_settings_of(game, arguments.iterations, arguments.seconds)
        pairs = playable(match_settings, winners_in(game, arguments.winners))
        path = arguments.to / f"{game}-{text.replace(' ', '-')}.jsonl"
        print_duels(game, text, pairs, duel(match_settings, list(pairs.values()), arguments.units, path))


if __name__ == "__main__":
    try:
        main()
    except ValueError as error:  # a Refusal, or a race that another process plays
        raise SystemExit(str(error)) from None
