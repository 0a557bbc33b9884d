"""Boards of squares: Othello, Checkers and the phantom m,n,k-games."""

from collections.abc import Callable

from icarus.games.checkers import SQUARES, square_text
from icarus.games.checkers import text as checkers_text
from icarus.games.othello import PASS, SIZE
from icarus.games.othello import action_text as othello_square
from icarus.games.othello import text as othello_text
from icarus.games.phantom import action_text as phantom_square
from icarus.games.phantom import text as phantom_text
from icarus.kernel import Facts
from icarus.views.drawing import DISCS, INK, Drawing, Grid, disc, in_colours, words

BLACK, WHITE = "#1d1f23", "#fbf8f0"
CHECKERS = {"b": "black", "w": "white", "B": "black king", "W": "white king"}
Drawn = Callable[[float, float, float], str]


def _disc(fill: str, letter: str = "") -> Drawn:
    contrast = WHITE if fill == BLACK else INK

    def draw(x: float, y: float, side: float) -> str:
        crown = words(x, y + side * 0.16, letter, side * 0.45, "middle", contrast, bold=True) if letter else ""
        return disc(x, y, side * 0.38, fill) + crown

    return draw


def _bits(squares: int) -> list[int]:
    return [square for square in range(64) if int(squares) >> square & 1]


def othello(state: Facts, seat: int | None) -> Drawing:
    """The board, a1 at the upper left; the last disc is pointed out."""
    pieces = {
        (square % SIZE, square // SIZE): ("XO"[player], _disc((BLACK, WHITE)[player]))
        for player in range(2)
        for square in _bits(state.discs[player])
    }
    last = int(state.last)
    marked = frozenset({(last % SIZE, last // SIZE)}) if last < PASS else frozenset()
    footer = othello_text(state).rsplit("\n", 1)[1]
    caption = in_colours(footer)
    return Grid(
        SIZE, SIZE, pieces, lambda column, row: "#5b8c6a", footer, marked, top_down=True, caption=caption, names=DISCS
    )


def checkers(state: Facts, seat: int | None) -> Drawing:
    """The board from Black's side."""
    pieces = {}
    for player in range(2):
        for square in _bits(state.pieces[player]):
            king = int(state.kings) >> square & 1
            letter = "bw"[player].upper() if king else "bw"[player]
            pieces[square % 8, square // 8] = (letter, _disc((BLACK, WHITE)[player], "K" if king else ""))
    footer = checkers_text(state).rsplit("\n", 1)[1]
    return Grid(
        8, 8, pieces, lambda column, row: "#b88a5b" if (column + row) % 2 == 0 else "#efe0c4", footer, names=CHECKERS
    )


def phantom(state: Facts, seat: int | None) -> Drawing:
    """The seat's own marks, and the other's that it has found; the whole board at the end."""
    looks = None if state.ended else seat
    pieces: dict[tuple[int, int], tuple[str, Drawn]] = {}
    for player in range(2):
        for square in _bits(state.marks[player]):
            row, column = divmod(square, int(state.columns) + 1)
            if looks in (None, player) or not int(state.open[looks]) >> square & 1:
                pieces[column, row] = ("XO"[player], _mark("X○"[player]))
    footer = phantom_text(state).rsplit("\n", 1)[1]
    if looks is not None and state.player != looks:
        footer = footer.split(",", 1)[0]
    return Grid(int(state.columns), int(state.rows), pieces, lambda column, row: "#f7f4ea", footer)


def _mark(letter: str) -> Drawn:
    fill = "#1f5fa8" if letter == "X" else "#b3501e"
    return lambda x, y, side: words(x, y + side * 0.22, letter, side * 0.62, "middle", fill, bold=True)


def othello_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The square where the disc goes."""
    return () if action == PASS else (othello_square(state, action),)


def checkers_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The square left, and the square reached."""
    return tuple(map(square_text, divmod(action, SQUARES)))


def phantom_parts(state: Facts, action: int) -> tuple[str, ...]:
    """The square that is tried."""
    return (phantom_square(state, action),)
