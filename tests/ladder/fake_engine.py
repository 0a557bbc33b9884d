"""A GTP engine of Othello that plays the first legal square and misbehaves as it is asked to: python fake_engine.py MODE [FLAG FILE].

It knows the rules by itself, so that it starts at once.
"""

import sys
import time
from pathlib import Path

MODE = sys.argv[1]
# with a file: misbehave only while it does not exist
ONCE = Path(sys.argv[2]) if len(sys.argv) > 2 else None
WIDTH = 10  # of a board with an empty edge
SQUARES = {
    f"{letter}{row}": WIDTH * row + column
    for row in range(1, 9)
    for column, letter in enumerate("abcdefgh", 1)
}
STEPS = [
    row + column for row in (-WIDTH, 0, WIDTH) for column in (-1, 0, 1) if (row, column) != (0, 0)
]


def misbehaves() -> bool:
    """Whether it is time to: at a genmove, the first time or always."""
    if ONCE is None:
        return True
    first = not ONCE.exists()
    ONCE.touch()
    return first


def flipped(board: dict[int, int], square: int, player: int) -> list[int]:
    """The discs that a player turns over by one more."""
    discs: list[int] = []
    for step in STEPS:
        line, place = [], square + step
        while board.get(place) == 1 - player:
            line.append(place)
            place += step
        if board.get(place) == player:
            discs += line
    return discs


def main() -> None:
    board: dict[int, int] = {}
    for line in sys.stdin:
        command, *words = line.split()
        answer = ""
        if command == "clear_board":
            board = {SQUARES["d4"]: 1, SQUARES["e4"]: 0, SQUARES["d5"]: 0, SQUARES["e5"]: 1}
        elif command == "name":
            answer = "Fake"
        elif command == "version":
            answer = "1.0"
        elif command in ("play", "genmove"):
            player = ("black", "white").index(words[0])
            if command == "genmove" and MODE != "good" and misbehaves():
                if MODE == "dies":
                    sys.exit("the table is on fire")
                if MODE == "hangs":
                    time.sleep(60)
                answers = {"illegal": "= a9", "refuses": "? cannot think", "resigns": "= resign"}
                print(answers[MODE], end="\n\n", flush=True)
                continue
            legal = [
                text
                for text, square in SQUARES.items()
                if square not in board and flipped(board, square, player)
            ]
            text = words[1] if command == "play" else legal[0]
            square = SQUARES[text]
            for disc in (square, *flipped(board, square, player)):
                board[disc] = player
            answer = text.upper() if command == "genmove" else ""
        elif command == "quit":
            return
        print(f"= {answer}", end="\n\n", flush=True)


if __name__ == "__main__":
    main()
