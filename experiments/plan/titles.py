"""Games, columns, budgets and times in the words in which people read them."""

import re
from collections.abc import Iterable

from experiments.plan.cells import Column
from icarus.checks import count_text

NAMES = {  # of games in the papers, where they are others than ours
    "dou-di-zhu": "Dou Di Zhu",
    "lotr-confrontation": "LOTR:C",
    "phantom-mnk": "Phantom (4,4,4)",
}
VARIED = {"phantom-mnk": "Phantom m,n,k"}  # the same with other parameters


def game_title(game: str, variant: str = "") -> str:
    """A game's name as the papers write it, with those of its parameters that are not the usual ones."""
    name = game.partition("(")[0]
    usual = NAMES.get(name, name.replace("-", " ").title())
    return f"{VARIED.get(name, usual)} ({variant})" if variant else usual


def title(column: Column, among: Iterable[Column] = ()) -> str:
    """A column's name: the game, the role, and whatever else its fellows differ in."""
    text = game_title(column.game, column.variant) + (f" ({column.role})" if column.role else "")
    fellows = list(among)
    if len({(fellow.iterations, fellow.seconds) for fellow in fellows}) > 1:
        text += f", {budget(column)}"
    cheats = column.opponent.caption != column.opponent.text
    if cheats or len({fellow.opponent.text for fellow in fellows}) > 1:
        text += f", against {column.opponent.caption}"
    return text


def budget(column: Column) -> str:
    """What a decision may cost, in words."""
    if column.iterations is not None:
        return count_text(column.iterations, "iteration")
    return f"{column.seconds:g} s"


def slug(text: str) -> str:
    """A title as part of a file's name."""
    return "-".join(re.findall(r"[^\W_]+", text.lower()))


def duration(seconds: float) -> str:
    """A time in words: "3 h 5 min"."""
    whole = round(seconds)
    days, hours, minutes = whole // 86400, whole // 3600 % 24, whole // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"
