"""The Confrontation in words: the board as players draw it, and the actions in their notation."""

from icarus.games.lotr_confrontation.board import actor_of, has, mover_unseen
from icarus.games.lotr_confrontation.facts import (
    ARTHEDAIN,
    BATTLE,
    CANCEL_CARDS,
    CARADHRAS,
    CARD_NAMES,
    CARDOLAN,
    CARDS,
    CARDS_SHOWN,
    DAGORLAD,
    DARK,
    DARK_MOVES_ASIDE,
    DARK_PICKS,
    DARK_PLAYS,
    DEAD,
    DRAWN,
    ENEDWAITH,
    EREGION,
    FANGORN,
    FRODO_RETREATS,
    FRODO_STAYS,
    GAP_OF_ROHAN,
    GONDOR,
    HIGH_PASS,
    LIGHT,
    LIGHT_MOVES_BACK,
    LIGHT_PICKS,
    LIGHT_PLAYS,
    MIRKWOOD,
    MISTY_MOUNTAINS,
    MORDOR,
    MOVE,
    NOBODY,
    NODE_NAMES,
    OVER,
    PASS_AMBUSH,
    PIECE_NAMES,
    PIECES,
    PIPPIN_RETREATS,
    PIPPIN_STAYS,
    PLAY_CARDS,
    REVEAL,
    RHUDAUR,
    ROHAN,
    SAM_ALONE,
    SAM_BOOSTED,
    SAM_STEPS_IN,
    SHIRE,
    SIDE_NAMES,
    SQUARE_NAMES,
    SQUARES,
    TAKE_AMBUSH,
    TEAM,
)
from icarus.kernel import CHANCE, Facts

ROWS = (
    (MORDOR,),
    (DAGORLAD, GONDOR),
    (MIRKWOOD, FANGORN, ROHAN),
    (HIGH_PASS, MISTY_MOUNTAINS, CARADHRAS, GAP_OF_ROHAN),
    (RHUDAUR, EREGION, ENEDWAITH),
    (ARTHEDAIN, CARDOLAN),
    (SHIRE,),
)
CELL = 24  # characters across one square


def _row(cells: list[str]) -> str:
    return "".join(cell.center(CELL) for cell in cells).center(4 * CELL).rstrip()


def _cards(cards: int, side: int) -> str:
    return ", ".join(name.removeprefix("card ") for card, name in enumerate(CARD_NAMES[side]) if cards >> card & 1)


def text(state: Facts) -> str:
    """The board with Mordor at the top, Dark's pieces in capitals, the dead, the hands, and the decision to be made."""
    squares, bitboards = state.pos.tolist(), state.held  # a field of a record is slow to read

    def pieces(square: int, side: int) -> str:
        names = [PIECE_NAMES[piece] for piece in range(side * TEAM, side * TEAM + TEAM) if squares[piece] == square]
        return " ".join(name.upper() if side == DARK else name for name in names)

    lines = []
    for row in ROWS:
        lines.append(_row([f"[{SQUARE_NAMES[square]}]" for square in row]))
        for side in (DARK, LIGHT):
            if any(has(bitboards[side], square) for square in row):
                lines.append(_row([pieces(square, side) for square in row]))
    for side in (DARK, LIGHT):
        lines.append(
            f"{SIDE_NAMES[side]}: cards {_cards(int(state.hands[side]), side)}; dead: {pieces(DEAD, side) or 'none'}"
        )
    return "\n".join([*lines, _situation(state)])


def _situation(state: Facts) -> str:
    if state.node == OVER:
        ends = {DRAWN: "drawn", NOBODY: "nobody has won"}
        return ends.get(int(state.winner)) or f"{SIDE_NAMES[state.winner]} has won"
    actor = actor_of(state)
    decision = f"{'the environment' if actor == CHANCE else SIDE_NAMES[actor]} {NODE_NAMES[state.node]}"
    if state.node == MOVE:
        return decision
    route = f"{PIECE_NAMES[state.fighters[state.side]]} {SQUARE_NAMES[state.origin]}-{SQUARE_NAMES[state.square]}"
    against = "" if mover_unseen(state) or state.node == REVEAL else f" v {PIECE_NAMES[state.fighters[1 - state.side]]}"
    return f"{route}{against}: {decision}"


_PLAIN = {
    PASS_AMBUSH: "pass",
    TAKE_AMBUSH: "ambush",
    FRODO_STAYS: "stay",
    SAM_STEPS_IN: "Sam steps in",
    SAM_ALONE: "alone",
    SAM_BOOSTED: "with Frodo",
    PIPPIN_STAYS: "stay",
    PLAY_CARDS: "play cards",
    CANCEL_CARDS: "no cards",
}
_CARD_ACTIONS = ((DARK_PLAYS, DARK), (LIGHT_PLAYS, LIGHT), (DARK_PICKS, DARK), (LIGHT_PICKS, LIGHT))
_RETREATS = (FRODO_RETREATS, PIPPIN_RETREATS, DARK_MOVES_ASIDE, LIGHT_MOVES_BACK)


def action_text(state: Facts, action: int) -> str:
    """As in "Aragorn Eregion-Fangorn", "Orcs v Sam", "Noble Sacrifice", "to Rhudaur", "ambush"."""
    if action in _PLAIN:
        return _PLAIN[action]
    if action < PASS_AMBUSH:
        piece, squares = divmod(action, SQUARES * SQUARES)
        return f"{PIECE_NAMES[piece]} {SQUARE_NAMES[squares // SQUARES]}-{SQUARE_NAMES[squares % SQUARES]}"
    if BATTLE <= action < FRODO_STAYS:
        attacker, defender = divmod(action - BATTLE, PIECES)
        return f"{PIECE_NAMES[attacker]} v {PIECE_NAMES[defender]}"
    if CARDS_SHOWN <= action < DARK_PICKS:
        dark, light = divmod(action - CARDS_SHOWN, CARDS)
        return f"{CARD_NAMES[DARK][dark]} v {CARD_NAMES[LIGHT][light]}"
    for base, side in _CARD_ACTIONS:
        if base <= action < base + CARDS:
            return CARD_NAMES[side][action - base]
    base = max(base for base in _RETREATS if base <= action)
    return f"to {SQUARE_NAMES[action - base]}"
