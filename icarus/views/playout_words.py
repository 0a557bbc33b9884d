"""How a playout is told in words: who decided, what was captured, and what became of it."""

from collections.abc import Sequence

from icarus.algebra.information import FieldValue
from icarus.checks import count_text
from icarus.engine.inspect.playout import Choice, InspectedPlayout, Update


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
