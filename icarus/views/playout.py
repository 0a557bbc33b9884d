"""A playout as text and as a page in a notebook: who decided what by which alternative, what was captured, what became of it."""

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

import attrs

from icarus.algebra import Enhancement
from icarus.checks import count_text
from icarus.engine.inspect.playout import Choice, InspectedPlayout, Update, inspect_playout
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.kernel.seats import seat_name
from icarus.kernel.state import State
from icarus.views.document import html_table, text_columns, write_new
from icarus.views.playout_page import playout_page
from icarus.views.playout_words import change, counted, decider, number_text, rewards_text

HEADER = ("t", "phase", "player", "action", "decided by", "values")  # of a table of decisions
UPDATES, VALUES = 12, 3  # of a component's updates and of a decision's values, so many are shown as text
LONGEST_RECORD = 44  # characters of a record; of a longer one the end is shown


def show_playout(
    state: State, strategy: Enhancement, seed: int | Sequence[int] = 0, after: int = 0, scheme: Scheme = MO_ISMCTS
) -> "Shown":
    """Show the playout that `search(state, strategy, seed=seed)` makes after `after` others, step by step.

    Printed it is a text, in a notebook a page; `.playout` holds all of it: `choices`, `updates["MAST"]`, `rewards`.

    Raises:
        ValueError, TypeError: as `search` does; a scheme of several trees.
    """
    return Shown(inspect_playout(state, strategy, seed, after, scheme))


@attrs.frozen(repr=False)
class Shown:
    """A playout to look at; `playout` is what happened."""

    playout: InspectedPlayout

    def __str__(self) -> str:
        playout = self.playout
        lines = [_title(playout), "", "begun at a state drawn for the root:", playout.start, ""]
        lines += text_columns([HEADER, *_choice_rows(playout)])
        lines += ["", "ended at:", playout.end, "rewards: " + rewards_text(playout)]
        for name, updates in playout.updates.items():
            lines += ["", _heading(name, updates)]
            lines += text_columns([_update_row(update) for update in updates[:UPDATES]])
            if len(updates) > UPDATES:
                lines.append(f"and {len(updates) - UPDATES} more")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<playout {self.playout.iteration}: {count_text(len(self.playout.choices), 'action')}>"

    def to_html(self, path: str | Path) -> None:
        """Write the playout into a new HTML file, one page that needs no network, with the board before each decision.

        Raises:
            ValueError: the file exists, or its directory does not exist.
        """
        write_new(Path(path), playout_page(self.playout))

    def _repr_html_(self) -> str:
        playout = self.playout
        parts = [f"<p>{escape(_title(playout))}; rewards {rewards_text(playout)}</p>"]
        parts.append(_details("begun at a state drawn for the root", f"<pre>{escape(playout.start)}</pre>"))
        parts.append(_details("decisions", html_table(HEADER, _choice_rows(playout)), opened=True))
        parts.append(_details("ended at", f"<pre>{escape(playout.end)}</pre>"))
        for name, updates in playout.updates.items():
            table = html_table(("record", "context", "information"), map(_update_row, updates))
            parts.append(_details(_heading(name, updates), table))
        return "\n".join(parts)


def _title(playout: InspectedPlayout) -> str:
    strategy = playout.scheme.label(playout.strategy)
    length = count_text(len(playout.choices), "action")
    return f"playout {playout.iteration} of {strategy}, {playout.state.game}, seed {playout.seed}: {length}"


def _heading(name: str, updates: Sequence[Update]) -> str:
    return f"{name} captured {counted(updates)}"


def _choice_rows(playout: InspectedPlayout) -> Iterator[tuple[str, ...]]:
    for t, choice in enumerate(playout.choices):
        player = seat_name(playout.state.game, choice.player).removeprefix("player ")
        yield str(t), choice.phase, player, choice.action, decider(choice), _values(choice)


def _values(choice: Choice) -> str:
    """The highest values, and always that of the action chosen."""
    ranked = sorted(choice.values.items(), key=lambda item: -item[1])
    top = [item for i, item in enumerate(ranked) if i < VALUES or item[0] == choice.action]
    more = ", …" if len(top) < len(ranked) else ""
    return ", ".join(f"{action} {number_text(value)}" for action, value in top) + more


def _update_row(update: Update) -> tuple[str, ...]:
    record = update.record
    if len(record) > LONGEST_RECORD:
        record = "…" + record[1 - LONGEST_RECORD :]
    return record, f"context {update.context}", change(update)


def _details(title: str, inside: str, opened: bool = False) -> str:
    return f"<details{' open' if opened else ''}><summary>{escape(title)}</summary>{inside}</details>"
