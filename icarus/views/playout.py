"""A playout as text and as a page: who decided what by which alternative, what was captured, what became of it."""

import math
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import attrs

from icarus.algebra import Enhancement
from icarus.algebra.information import FieldValue
from icarus.checks import count_text
from icarus.engine.inspect.playout import Choice, InspectedPlayout, Update, inspect_playout
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.kernel.seats import seat_name
from icarus.kernel.state import State
from icarus.views.boards import drawing
from icarus.views.document import in_notebook, pack, page, text_columns, write_new

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
        return in_notebook(playout_page(self.playout), "the playout")


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


def rewards_text(playout: InspectedPlayout) -> str:
    """The rewards of all players."""
    return ", ".join(f"{reward:.4g}" for reward in playout.rewards)


def counted(updates: Sequence[Update]) -> str:
    """How many records were captured."""
    new = sum(update.before is None for update in updates)
    return f"{count_text(len(updates), 'record')}, {new} of them new"


def decider(choice: Choice) -> str:
    """By what an action was chosen, with its weight in the mixture."""
    share = f" ({choice.weight:.2g})" if choice.weight < 1 else ""
    return choice.by + share + (", uniform" if choice.uniform else "")


def change(update: Update) -> str:
    """What became of a record, field by field."""
    changed = [
        f"{name} {_change(update.before[name] if update.before else None, value)}"
        for name, value in update.after.items()
        if update.before is None or update.before[name] != value
    ]
    return ", ".join(changed) or "as it was"


def _change(before: FieldValue | None, after: FieldValue) -> str:
    return f"{number_text(after)}" if before is None else f"{number_text(before)} → {number_text(after)}"


def number_text(value: FieldValue) -> str:
    """A number, or several, in four digits."""
    if isinstance(value, list):
        return f"({', '.join(map(number_text, value))})"
    return "∞" if value == float("inf") else f"{value:.4g}" if isinstance(value, float) else str(value)


OPENED = 40  # of a component's updates that are shown without being asked for
DRAWN = 300  # boards


def playout_page(playout: InspectedPlayout) -> str:
    """A playout as an HTML page."""
    strategy = playout.scheme.label(playout.strategy)
    summary = f"{strategy}, seed {playout.seed}: {count_text(len(playout.choices), 'action')}, rewards {rewards_text(playout)}"
    title = f"{playout.state.game}: playout {playout.iteration:,}"
    return page("playout", title, summary=escape(summary), data=pack(_data(playout)))


def _data(playout: InspectedPlayout) -> dict[str, Any]:
    end = {"phase": "the end", "who": "", "action": "", "by": "", "why": "", "values": []}
    return {
        "rewards": rewards_text(playout),
        "steps": [*(_step(playout, choice) for choice in playout.choices), end],
        "boards": [drawing(state).svg() for state in playout.states[:DRAWN]],
        "captured": [_captured(playout, name) for name in playout.updates],
    }


def _step(playout: InspectedPlayout, choice: Choice) -> dict[str, Any]:
    ranked = sorted(choice.values.items(), key=lambda item: -item[1])
    among = f"one of {choice.legal}" if choice.legal > 1 else "the only legal action"
    return {
        "phase": choice.phase,
        "who": seat_name(playout.state.game, choice.player),
        "action": choice.action,
        "by": decider(choice),
        "why": f"{among}, by {decider(choice)}" if choice.legal > 1 else among,
        "values": [[action, value if math.isfinite(value) else None] for action, value in ranked],
    }


def _captured(playout: InspectedPlayout, name: str) -> dict[str, Any]:
    updates = playout.updates[name]
    return {
        "name": name,
        "summary": counted(updates),
        "open": len(updates) <= OPENED,
        "updates": [
            {"record": update.record, "context": update.context, "new": update.before is None, "change": change(update)}
            for update in updates
        ],
    }
