"""A playout as text and as a page: who decided what by which alternative, what was captured, what became of it."""

from collections.abc import Sequence
from pathlib import Path

import attrs

from icarus.algebra import Enhancement
from icarus.algebra.information import FieldValue
from icarus.checks import count_text
from icarus.engine.inspect import Choice, InspectedPlayout, Update, inspect_playout
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.kernel.game import seat_name
from icarus.kernel.state import State
from icarus.views.boards import drawing
from icarus.views.document import (
    Block,
    Heading,
    Paragraph,
    Picture,
    Preformatted,
    Table,
    html,
    in_notebook,
    text_of,
    write_new,
)

SHOWN = 12, 3  # of a component's updates and of a decision's values, so many are shown as text
DRAWN = 300  # boards in a page


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
        return text_of(_blocks(self.playout, *SHOWN))

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


def playout_page(playout: InspectedPlayout) -> str:
    """A playout as an HTML page, with the board before each decision."""
    steps = zip(playout.states[:DRAWN], [*playout.choices, None], strict=False)
    boards = [
        Picture(drawing(state).svg(), f"{t}: before {choice.action}" if choice else "the end")
        for t, (state, choice) in enumerate(steps)
    ]
    return html(f"{playout.state.game}: playout {playout.iteration:,}", [*_blocks(playout), Heading("boards"), *boards])


def _blocks(playout: InspectedPlayout, updates: int | None = None, values: int | None = None) -> list[Block]:
    """What happened; at most so many updates of a component, and so many values of a decision."""
    strategy, length = playout.scheme.label(playout.strategy), count_text(len(playout.choices), "action")
    name = f"playout {playout.iteration} of {strategy}, {playout.state.game}, seed {playout.seed}: {length}"
    decisions = [
        [
            str(t),
            choice.phase,
            seat_name(playout.state.game, choice.player).removeprefix("player "),
            choice.action,
            decider(choice),
            _values(choice, values),
        ]
        for t, choice in enumerate(playout.choices)
    ]
    blocks: list[Block] = [Heading(name)]
    blocks += [Heading("begun at a state drawn for the root"), Preformatted(playout.start)]
    blocks += [Heading("decisions"), Table("", ["t", "phase", "player", "action", "decided by", "values"], decisions)]
    blocks += [Heading("ended at"), Preformatted(playout.end), Paragraph(f"rewards: {rewards_text(playout)}")]
    for component, changes in playout.updates.items():
        rows = [[each.record, f"context {each.context}", change(each)] for each in changes[:updates]]
        blocks += [Heading(f"{component} captured {counted(changes)}")]
        blocks += [Table("", ["record", "context", "information"], rows)] if rows else []
        blocks += [Paragraph(f"and {len(changes) - len(rows)} more")] if len(rows) < len(changes) else []
    return blocks


def _values(choice: Choice, most: int | None) -> str:
    """The highest values, and always that of the action chosen."""
    ranked = sorted(choice.values.items(), key=lambda item: -item[1])
    top = [item for i, item in enumerate(ranked) if most is None or i < most or item[0] == choice.action]
    more = ", …" if len(top) < len(ranked) else ""
    return ", ".join(f"{action} {number_text(value)}" for action, value in top) + more


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
