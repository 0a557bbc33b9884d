"""Backgammon: 24 points, the bar and the dice."""

import attrs

from icarus.games.backgammon import BAR, OFF, POINTS, ROLL
from icarus.games.backgammon import text as board_text
from icarus.kernel import Facts
from icarus.views.drawing import EDGE, INK, PAPER, box, disc, in_colours, part, svg, words

COLOURS = ("#1d1f23", "#fbf8f0")  # of X and O
NAMES = ("black", "white")
AREA = "transparent"  # of what takes clicks beside a triangle or a text
SIDE, HEIGHT, MARGIN = 30.0, 160.0, 20.0


@attrs.frozen
class Points:
    """The board from the side of X.

    Attributes:
        points: (owner, checkers) of the points 1 … 24 as X numbers them.
        bar, off: checkers of each player beside the board.
        dice: still to be played.
        words: the board in text.
        seat: whose numbers the points have; each player counts them towards his own home.
    """

    points: tuple[tuple[int, int], ...]
    bar: tuple[int, int]
    off: tuple[int, int]
    dice: tuple[int, ...]
    words: str
    seat: int | None = None

    def text(self) -> str:
        return self.words

    def svg(self) -> str:
        width = 2 * MARGIN + 13 * SIDE + 40
        parts = [box(MARGIN, 24, 13 * SIDE, 2 * HEIGHT + 40, "#d8c3a0", EDGE)]
        parts.append(box(MARGIN + 6 * SIDE, 24, SIDE, 2 * HEIGHT + 40, "#b59b72"))
        parts += [self._point(point) for point in range(1, 25)]
        parts += [self._bar(owner) for owner in range(2) if self.bar[owner]]  # what is empty cannot be clicked
        for owner in range(2):
            x, y = MARGIN + 13 * SIDE + 10, 60.0 + 250 * (1 - owner)
            inside = box(x - 6, y - 25, 54, 40, AREA), words(x, y, f"{self.off[owner]} off", 12)
            holds = f"{self.off[owner]} {NAMES[owner]}"
            parts.append(part(f"{NAMES[owner]} off", *inside, label="off", holds=holds))
        for i, die in enumerate(self.dice):
            x = MARGIN + 7.6 * SIDE + 36 * i
            parts.append(box(x, 24 + HEIGHT + 6, 28, 28, "#fffdf8", INK, 5))
            parts.append(words(x + 14, HEIGHT + 50, str(die), 17, "middle", bold=True))
        counts = f"; points as {NAMES[self.seat or 0]} counts them"
        footer = in_colours(self.words.rsplit("\n", 1)[1]) + counts
        return svg(width, 2 * HEIGHT + 112, [*parts, words(MARGIN, 2 * HEIGHT + 100, footer, 13)], PAPER, footer)

    def _point(self, point: int) -> str:
        upper = point > 12
        column = point - 13 if upper else 12 - point
        x = MARGIN + SIDE * (column + (column > 5))
        foot, tip = (24.0, 24 + HEIGHT * 0.9) if upper else (64 + 2 * HEIGHT, 64 + HEIGHT * 1.1)
        fill = "#a4713f" if point % 2 else "#8c8f7a"
        label, (owner, count) = str(BAR - point if self.seat == 1 else point), self.points[point - 1]
        inside = [f'<path d="M{x:g} {foot:g}h{SIDE:g}L{x + SIDE / 2:g} {tip:g}z" fill="{fill}"/>']
        inside.append(box(x, 6 if upper else tip, SIDE, tip - 6 if upper else foot + 20 - tip, AREA))  # with the number
        inside.append(words(x + SIDE / 2, 17 if upper else foot + 15, label, 11, "middle", "#6b6f76"))
        step = min(2 * 13.0, (HEIGHT - 20) / max(1, count))
        for i in range(count):
            y = foot + (14 + step * i) * (1 if upper else -1)
            inside.append(disc(x + SIDE / 2, y, 13, COLOURS[owner]))
        holds = f"{count} {NAMES[owner]}" if count else ""
        return part(str(point), *inside, label=label if self.seat == 1 else "", holds=holds)

    def _bar(self, owner: int) -> str:
        x, count = MARGIN + 6.5 * SIDE, self.bar[owner]
        inside = [
            disc(x, 24 + HEIGHT + (50 + 20 * i) * (1 if owner else -1) + 20, 12, COLOURS[owner]) for i in range(count)
        ]
        return part(f"{NAMES[owner]} bar", *inside, label="bar", holds=f"{count} {NAMES[owner]}")


def backgammon(state: Facts, seat: int | None) -> Points:
    """The board and the dice; both players see all of it."""
    points = []
    for point in range(1, 25):
        count, opposing = int(state.points[0, point]), int(state.points[1, BAR - point])
        points.append((0, count) if count else (1, opposing))
    dice = [int(die) for die in state.dice if die] if state.actor >= 0 else []
    if len(dice) == 1:
        dice *= int(state.left)
    bar, off = ((int(state.points[0, place]), int(state.points[1, place])) for place in (BAR, OFF))
    return Points(tuple(points), bar, off, tuple(dice), board_text(state), seat)


def backgammon_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The point left, as X numbers it, and the point reached; bar and home of who moves."""
    if action >= ROLL:
        return ()
    die, source = action // POINTS + 1, action % POINTS
    target = max(source - die, OFF)
    places = [place if state.player == 0 or place in (BAR, OFF) else BAR - place for place in (source, target)]
    name = NAMES[state.player]
    return tuple(f"{name} bar" if place == BAR else f"{name} off" if place == OFF else str(place) for place in places)
