"""A playout as one page that needs no network: its decisions with their values, the board before each, and what was captured."""

import math
from html import escape
from typing import Any

from icarus.checks import count_text
from icarus.engine.inspect.playout import Choice, InspectedPlayout
from icarus.kernel.seats import seat_name
from icarus.views.boards import drawing
from icarus.views.document import pack, page
from icarus.views.playout_words import change, counted, decider, rewards_text

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
