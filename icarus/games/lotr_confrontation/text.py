"""The Confrontation in words: the board as players draw it, and the actions in their notation."""

from icarus.games.lotr_confrontation import facts
from icarus.games.lotr_confrontation.board import actor_of, has, mover_unseen
from icarus.kernel import CHANCE, Facts

ROWS = (
    (facts.MORDOR,),
    (facts.DAGORLAD, facts.GONDOR),
    (facts.MIRKWOOD, facts.FANGORN, facts.ROHAN),
    (facts.HIGH_PASS, facts.MISTY_MOUNTAINS, facts.CARADHRAS, facts.GAP_OF_ROHAN),
    (facts.RHUDAUR, facts.EREGION, facts.ENEDWAITH),
    (facts.ARTHEDAIN, facts.CARDOLAN),
    (facts.SHIRE,),
)
CELL = 24  # characters across one square


def _row(cells: list[str]) -> str:
    return "".join(cell.center(CELL) for cell in cells).center(4 * CELL).rstrip()


def held_cards(state: Facts, side: int) -> str:
    """The cards in a side's hand."""
    cards = int(state.hands[side])
    return ", ".join(name.removeprefix("card ") for i, name in enumerate(facts.CARD_NAMES[side]) if cards >> i & 1)


def text(state: Facts) -> str:
    """The board with Mordor at the top, Dark's pieces in capitals, the dead, the hands, and the decision to be made."""
    squares, bitboards = state.pos.tolist(), state.held  # a field of a record is slow to read

    def pieces(square: int, side: int) -> str:
        team = range(side * facts.TEAM, side * facts.TEAM + facts.TEAM)
        names = [facts.PIECE_NAMES[piece] for piece in team if squares[piece] == square]
        return " ".join(name.upper() if side == facts.DARK else name for name in names)

    lines = []
    for row in ROWS:
        lines.append(_row([f"[{facts.SQUARE_NAMES[square]}]" for square in row]))
        for side in (facts.DARK, facts.LIGHT):
            if any(has(bitboards[side], square) for square in row):
                lines.append(_row([pieces(square, side) for square in row]))
    for side in (facts.DARK, facts.LIGHT):
        lines.append(
            f"{facts.SIDE_NAMES[side]}: cards {held_cards(state, side)}; dead: {pieces(facts.DEAD, side) or 'none'}"
        )
    return "\n".join([*lines, _situation(state)])


def _situation(state: Facts) -> str:
    if state.node == facts.OVER:
        ends = {facts.DRAWN: "drawn", facts.NOBODY: "nobody has won"}
        return ends.get(int(state.winner)) or f"{facts.SIDE_NAMES[state.winner]} has won"
    actor = actor_of(state)
    decision = f"{'the environment' if actor == CHANCE else facts.SIDE_NAMES[actor]} {facts.NODE_NAMES[state.node]}"
    if state.node == facts.MOVE:
        return decision
    pieces, squares = facts.PIECE_NAMES, facts.SQUARE_NAMES
    route = f"{pieces[state.fighters[state.side]]} {squares[state.origin]}-{squares[state.square]}"
    against = (
        "" if mover_unseen(state) or state.node == facts.REVEAL else f" v {pieces[state.fighters[1 - state.side]]}"
    )
    return f"{route}{against}: {decision}"


_PLAIN = {
    facts.PASS_AMBUSH: "pass",
    facts.TAKE_AMBUSH: "ambush",
    facts.FRODO_STAYS: "stay",
    facts.SAM_STEPS_IN: "Sam steps in",
    facts.SAM_ALONE: "alone",
    facts.SAM_BOOSTED: "with Frodo",
    facts.PIPPIN_STAYS: "stay",
    facts.PLAY_CARDS: "play cards",
    facts.CANCEL_CARDS: "no cards",
}
_CARD_ACTIONS = (
    (facts.DARK_PLAYS, facts.DARK),
    (facts.LIGHT_PLAYS, facts.LIGHT),
    (facts.DARK_PICKS, facts.DARK),
    (facts.LIGHT_PICKS, facts.LIGHT),
)
_RETREATS = (facts.FRODO_RETREATS, facts.PIPPIN_RETREATS, facts.DARK_MOVES_ASIDE, facts.LIGHT_MOVES_BACK)


def action_text(state: Facts, action: int) -> str:
    """As in "Aragorn Eregion-Fangorn", "Orcs v Sam", "Noble Sacrifice", "to Rhudaur", "ambush"."""
    if action in _PLAIN:
        return _PLAIN[action]
    if action < facts.PASS_AMBUSH:
        piece, squares = divmod(action, facts.SQUARES * facts.SQUARES)
        return f"{facts.PIECE_NAMES[piece]} {facts.SQUARE_NAMES[squares // facts.SQUARES]}-{facts.SQUARE_NAMES[squares % facts.SQUARES]}"
    if facts.BATTLE <= action < facts.FRODO_STAYS:
        attacker, defender = divmod(action - facts.BATTLE, facts.PIECES)
        return f"{facts.PIECE_NAMES[attacker]} v {facts.PIECE_NAMES[defender]}"
    if facts.CARDS_SHOWN <= action < facts.DARK_PICKS:
        dark, light = divmod(action - facts.CARDS_SHOWN, facts.CARDS)
        return f"{facts.CARD_NAMES[facts.DARK][dark]} v {facts.CARD_NAMES[facts.LIGHT][light]}"
    for base, side in _CARD_ACTIONS:
        if base <= action < base + facts.CARDS:
            return facts.CARD_NAMES[side][action - base]
    base = max(base for base in _RETREATS if base <= action)
    return f"to {facts.SQUARE_NAMES[action - base]}"
