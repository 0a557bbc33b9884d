"""Results put side by side as the earlier papers do: by the number of trees, and by who sees hidden cards."""

from collections.abc import Iterable

from experiments.analysis.round_robin import SEARCHES, search_name
from experiments.analysis.statistics import Counts
from experiments.store.summary import Columns, Tally

ALL_SEE = "players 2 and 3, all three seeing"


def by_trees(tallies: Iterable[Tally]) -> dict[int, Tally]:
    """Determinized searches by the number of their determinizations."""
    schemes = [(tally.cell.spec.scheme, tally) for tally in tallies]
    by_number = {scheme.trees: tally for scheme, tally in schemes if scheme.name == "DeterminizedUCT"}
    return dict(sorted(by_number.items()))


def hidden_cards(columns: Columns) -> dict[str, tuple[Counts, Counts]]:
    """By whom it is that sees the others' cards: wins of that side and games, when he does not and when he does.

    The peasants' games are those of the landlord, seen from the other side. Whoever has not played yet is left out.
    """
    rates: dict[tuple[int, str, str], Counts] = {}
    for column, tallies in columns.items():
        for tally in (tally for tally in tallies if tally.games and len(column.seats) == 1):
            searches = search_name(tally.cell.spec.scheme), search_name(column.opponent.scheme)
            rates[column.seats[0], *searches] = tally.wins, tally.games
    blind, seeing = SEARCHES["DeterminizedUCT"], SEARCHES["CheatingEnsembleUCT"]

    def peasants(search: str, opponent: str) -> Counts | None:
        counts = rates.get((0, search, opponent))
        return None if counts is None else (counts[1] - counts[0], counts[1])

    pairs = {
        f"player {seat + 1}": (rates.get((seat, blind, blind)), rates.get((seat, seeing, blind))) for seat in range(3)
    }
    pairs["players 2 and 3"] = peasants(blind, blind), peasants(blind, seeing)
    pairs[ALL_SEE] = peasants(blind, blind), peasants(seeing, seeing)
    return {who: (without, sees) for who, (without, sees) in pairs.items() if without and sees}
