"""States drawn for a seat: a picture and a text in which nothing can be read that the seat may not see.

What is drawn is not the state but a determinization of it for the seat, with hidden things face down: even a mistake in a drawing could
only show what the seat knows, or a guess.
"""

import os
from collections.abc import Callable, Sequence

from icarus.checks import indices_text
from icarus.compiler.rng import seeded
from icarus.kernel import Facts
from icarus.kernel.state import State
from icarus.views import cards, squares
from icarus.views.cards import CardTable
from icarus.views.drawing import Drawing, Lines

Parts = Callable[[Facts, int], tuple[str, ...]]


# Of each game with a picture, `draw(facts, seat)`, where seat None sees all, and `parts(facts, action)`, what one clicks to
# take an action. The others are shown in words.
BOARDS: dict[str, tuple[Callable[[Facts, int | None], Drawing], Parts]] = {
    "othello": (squares.othello, squares.othello_parts),
    "checkers": (squares.checkers, squares.checkers_parts),
    "backgammon": (squares.backgammon, squares.backgammon_parts),
    "dou-di-zhu": (cards.dou_di_zhu, cards.dou_di_zhu_parts),
    "hearts": (cards.hearts, cards.card_parts),
    "lotr-confrontation": (squares.lotr_confrontation, squares.lotr_parts),
    "knockout-whist": (cards.knockout_whist, cards.whist_parts),
    "phantom-mnk": (squares.phantom, squares.phantom_parts),
}
# Where an action is a set of cards: its parts are clicked in any order.
SELECTED = {"dou-di-zhu"}
# Of a game in which a seat sees where something was done and not what: `marks(facts, action)`, the parts that everybody sees.
MARKS: dict[str, Parts] = {"lotr-confrontation": squares.lotr_marks}
# What players' pieces look like, where their seats have no such names.
COLOURS = dict.fromkeys(("othello", "checkers", "backgammon"), ("black", "white")) | {"phantom-mnk": ("X", "O")}
LABELS: dict[str, Callable[[int], str]] = {"dou-di-zhu": cards.dou_di_zhu_label}
HIDDEN = "?"  # stands for what a seat does not know, in the text of a game without a picture
DRAWS = 100  # determinizations, of which such a text is made


def drawing(state: State, seat: int | None = None, *, drawn_for: bool = False, player: int | None = None) -> Drawing:
    """A state as a seat may see it; as the environment sees it, everything open, for None.

    A game without a picture is shown by its text; where it hides information, to a seat only what it has observed.

    Args:
        drawn_for: whether the state comes from a determinization for this seat; it is not drawn again then (in a search, games
            need not keep up what players know).
        player: whose hand of cards is played from, where all are open.

    Raises:
        ValueError: no such seat.
    """
    game = state.game
    if seat is not None and not 0 <= seat < game.players:
        raise ValueError(f"{game} has {indices_text('seat', game.players)}, not {seat!r}")
    view = state
    if seat is not None and not drawn_for and game.determinize is not None and not state.is_terminal():
        view = state.determinize(seat, seed=0)
    board = BOARDS.get(game.name)
    if board is not None:
        picture = board[0](view.facts, seat)
        if seat is None and player is not None and isinstance(picture, CardTable):
            return picture.played_from(player)
        return picture
    if seat is None or game.determinize is None or state.is_terminal() or drawn_for:
        return Lines(tuple(str(state).split("\n")))
    return _common(state, seat)


def _common(state: State, seat: int) -> Lines:
    """The text of a state without what differs between states that the seat holds for possible.

    What agrees in all of them by chance is a guess, and gives nothing away: each is drawn from what the seat knows.
    """
    beliefs, generator = state.beliefs(seat), seeded(0)
    drawn = [state.from_data(state.game, state.redraw(seat, beliefs, generator)) for _ in range(DRAWS)]
    return Lines(tuple(_agreed([str(each).split("\n") for each in drawn], _agreed_line)))


def _agreed(variants: Sequence[list[str]], of_one: Callable[[Sequence[str]], str]) -> list[str]:
    """What lists have in common, place by place; of different lengths, what they have at the beginning and at the end."""
    if len({len(variant) for variant in variants}) == 1:
        return [of_one(place) for place in zip(*variants, strict=True)]
    before = os.path.commonprefix(variants)  # of any lists, not of paths alone
    after = os.path.commonprefix([variant[len(before) :][::-1] for variant in variants])
    return [*before, HIDDEN, *reversed(after)]


def _agreed_line(lines: Sequence[str]) -> str:
    return " ".join(_agreed([line.split(" ") for line in lines], _agreed_word))


def _agreed_word(words: Sequence[str]) -> str:
    """What words of one length have in common, letter by letter."""
    if len({len(word) for word in words}) > 1:
        return HIDDEN
    return "".join(letters[0] if len({*letters}) == 1 else HIDDEN for letters in zip(*words, strict=True))


def parts(state: State, action: int) -> tuple[str, ...]:
    """What one clicks, in order, to take an action: parts of the drawing; () where only a button does it."""
    board = BOARDS.get(state.game.name)
    return board[1](state.facts, action) if board is not None else ()


def marks(state: State, action: int, in_view: bool = True) -> tuple[str, ...]:
    """The parts of the drawing in which an action shows; where it is not in full view, those that everybody sees.

    Args:
        state: before the action.
        in_view: whether the seat sees which action it is.
    """
    find = MARKS.get(state.game.name)
    if find is not None:
        return find(state.facts, action)
    return parts(state, action) if in_view else ()


def label(state: State, action: int) -> str:
    """An action in words for a button."""
    write = LABELS.get(state.game.name)
    return write(action) if write is not None else state.action_to_string(action)
