"""Lord of the Rings: The Confrontation (2002): Frodo's way to Mordor among nine hidden pieces a side.

Light (player 0) wins by bringing Frodo into Mordor, Dark (player 1, who moves first) by defeating him or by gathering pieces in
the Shire; a player who cannot move loses. A turn is one move forward, or an attack of the longer reach that some characters have.
Where enemies stand on the entered square they are fought one after another, each drawn at random: the characters' texts first,
Light's before Dark's, then a card from each hand, chosen at the same time, then strength.

    Mordor                              Dark's home
    Dagorlad Gondor
    Mirkwood > Fangorn > Rohan          > the Anduin, for Light only
    HighPass MistyMtns Caradhras GapOfRohan
    Rhudaur Eregion Enedwaith           Eregion leads Light through Moria to Fangorn
    Arthedain Cardolan
    Shire                               Light's home

Hidden: which enemy stands where (the numbers are public, and whoever has fought or been named is remembered until unseen moves
make it uncertain again), and a card chosen but not yet shown. The environment draws the defender (REVEAL), shows a piece that the
Balrog takes in the tunnel (VICTIM) and turns over the two chosen cards (SHOW). The choices of a card (DARK_CARD, LIGHT_CARD) are
the game's one simultaneous decision: Dark's comes first and stays face down, except against Gandalf. An episode is a turn.

An action of a move is piece · 256 + origin · 16 + target; the others follow below, one block for each kind.
"""

import math

import numpy as np

from icarus.checks import integer
from icarus.games import lotr_board as board
from icarus.games.lotr_board import (
    ALL_CARDS,
    AMBUSH,
    ARRIVAL,
    BALROG,
    BATTLE,
    BELIEFS,
    CANCEL_CARDS,
    CAPACITY,
    CARADHRAS,
    CARDS,
    CARDS_SHOWN,
    DARK,
    DARK_CARD,
    DARK_EFFECT,
    DARK_MAGIC,
    DARK_MOVES_ASIDE,
    DARK_PICKS,
    DARK_PLAYS,
    DARK_RETREAT,
    DEAD,
    DISCARD,
    DRAWN,
    EREGION,
    FACE_DOWN,
    FANGORN,
    FIXED_SETUP,
    FRODO,
    FRODO_ARRIVES,
    FRODO_RETREATS,
    FRODO_STAYS,
    FRODO_TEXT,
    LAPSED,
    LIGHT,
    LIGHT_CARD,
    LIGHT_EFFECT,
    LIGHT_MAGIC,
    LIGHT_MOVES_BACK,
    LIGHT_PICKS,
    LIGHT_PLAYS,
    LIGHT_REPLACEMENT,
    LIGHT_RETREAT,
    LIGHT_WITHDRAWAL,
    MAX_LEGAL,
    MAX_TURNS,
    MORDOR,
    MOVE,
    NOBODY,
    OVER,
    PASS_AMBUSH,
    PIECES,
    PIPPIN_RETREATS,
    PIPPIN_STAYS,
    PIPPIN_TEXT,
    PLAY_CARDS,
    RANGES,
    REVEAL,
    SAM,
    SAM_ALONE,
    SAM_BOOSTED,
    SAM_STEPS_IN,
    SAM_TEXT,
    SARUMAN_TEXT,
    SHIRE,
    SHOW,
    SQUARES,
    START_SQUARES,
    STATE,
    STRENGTHS,
    TAKE_AMBUSH,
    TEAM,
    TEXTS,
    TURN_END,
    UNSEEN_PIECE,
    VICTIM,
    actor_of,
    backward,
    battle_action,
    can_move,
    choose_card,
    compare,
    count_dark_card,
    count_ways,
    discard,
    discards,
    end_battle,
    enter,
    finish,
    frodo_text,
    has,
    know,
    lay_out,
    move_action,
    mover_unseen,
    open_cards,
    pippin_text,
    possible_movers,
    prune,
    relocate,
    replace_light_card,
    reveal,
    sam_text,
    sample,
    saruman_text,
    shift,
    sideways,
    suspect_move,
    targets,
    use_dark_card,
    use_light_card,
    use_texts,
    withdraw_light,
)
from icarus.kernel import CHANCE, CONTINUES, Facts, append_bits, below, helper, inlined, lowest_bit, popcount, shuffle
from icarus.kernel.contract import Integer
from icarus.kernel.game import Game

# --------------------------------------------------------------------------------------------- what a position promises


# Of each square, from the Shire to Mordor.
ROW = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5, 6, 0], np.int64)
PIECE, ROW_OF_FRODO, IN_SHIRE = 0.3, 0.15, 0.6  # what they add to the logarithm of the odds


def heuristic(state: Facts, out: np.ndarray) -> None:
    """1 / (1 + e^{-s}) for Light, s of the pieces that each side has lost, the row of Frodo, and Dark's pieces in the Shire."""
    score = PIECE * (int(state.count[DARK, DEAD]) - int(state.count[LIGHT, DEAD]))
    score += ROW_OF_FRODO * ROW[state.pos[FRODO]] - IN_SHIRE * int(state.count[DARK, SHIRE])
    out[LIGHT] = 1.0 / (1.0 + math.exp(-score))
    out[DARK] = 1.0 - out[LIGHT]


# ------------------------------------------------------------------------------ what a player sees, and determinization


_DRAWS = 1_000_000  # before it is said that there is no such placement


@inlined
def _seen_move(action: Integer) -> int:
    """A move as the other side sees it."""
    squares = action % (SQUARES * SQUARES)
    wins = action // (SQUARES * SQUARES) == FRODO and action % SQUARES == MORDOR
    return (FRODO_ARRIVES if wins else UNSEEN_PIECE) + squares


def observe(state: Facts, action: int, moves: np.ndarray) -> None:
    if state.node == MOVE:
        moves[1 - state.side] = _seen_move(action)
    elif state.node == DARK_CARD and not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        moves[LIGHT] = FACE_DOWN
    elif state.node == LIGHT_CARD and not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        moves[DARK] = FACE_DOWN


def recall(state: Facts, observer: int, moves: np.ndarray) -> int:
    """The turn so far as an observer has seen it."""
    face_up = False
    for i in range(state.acted):
        action = np.int64(state.actions[i])
        moves[i] = action
        if action < PASS_AMBUSH:
            mover = action // (TEAM * SQUARES * SQUARES)
            if observer == 1 - mover:
                moves[i] = _seen_move(action)
        elif BATTLE <= action < FRODO_STAYS:
            first, second = (action - BATTLE) // PIECES, (action - BATTLE) % PIECES
            face_up = open_cards(min(first, second), max(first, second))
        elif DARK_PLAYS <= action < CARDS_SHOWN and not face_up:
            owner = DARK if action < LIGHT_PLAYS else LIGHT
            if observer == 1 - owner:
                moves[i] = FACE_DOWN
    return state.acted


def simultaneous(state: Facts) -> int:
    """1 or 2 where Dark or Light chooses a card without knowing the other's; 0 elsewhere."""
    number = 1 if state.node == DARK_CARD else 2 if state.node == LIGHT_CARD else 0
    return number if number > 0 and not open_cards(state.fighters[LIGHT], state.fighters[DARK]) else 0


def prepare(state: Facts, observer: int, beliefs: Facts) -> None:
    """Count the assignments of the pieces that the observer does not see."""
    if observer == CHANCE:
        return
    if state.searching == LAPSED:
        raise ValueError(
            "a game continued from a determinization of lotr-confrontation does not record what each side has seen; "
            "determinize or search states of the original game"
        )
    hidden = 1 - observer
    movers = possible_movers(state) if hidden == state.side and mover_unseen(state) else 0
    if lay_out(state, hidden, movers, beliefs.places, beliefs.candidates) != TEAM:
        raise ValueError(
            "`count` of lotr-confrontation, how many pieces stand in each square, does not sum to the nine of a side"
        )
    count_ways(beliefs.candidates, beliefs.ways)
    if beliefs.ways[0] == 0:
        raise ValueError(
            "no placement of the hidden pieces of lotr-confrontation agrees with both `possible`, where each piece may be, "
            "and `count`, how many pieces stand in each square"
        )


@helper
def _redraw_card(state: Facts, side: int, place: int, base: int, rng: np.ndarray) -> None:
    """Exchange a card that lies face down for any of the hand; `place` is where the turn's actions have it."""
    cards = np.int64(state.hands[side])
    for _ in range(below(rng, popcount(np.uint64(cards)))):
        cards &= cards - 1
    state.cards[side] = lowest_bit(np.uint64(cards))
    state.actions[place] = base + np.int64(state.cards[side])


def determinize(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    redraw(state, observer, beliefs, rng)
    state.searching = 1


@helper
def redraw(state: Facts, observer: int, beliefs: Facts, rng: np.ndarray) -> None:
    """`determinize`, but for the mark of a search."""
    if observer == CHANCE:
        return
    hidden = 1 - observer
    unseen = hidden == state.side and mover_unseen(state)
    first = sample(state, hidden, beliefs, rng)
    draws = 0
    while state.node == MOVE and hidden == state.side and not can_move(state, hidden):
        first = sample(state, hidden, beliefs, rng)  # the game would have ended
        draws += 1
        if draws == _DRAWS:
            raise ValueError(
                "the side to move has no legal action in any of a million placements that agree with `possible` of lotr-confrontation"
            )
    if unseen:
        state.fighters[hidden] = first
        state.actions[0] = move_action(first, state.origin, state.square)
    if not open_cards(state.fighters[LIGHT], state.fighters[DARK]):
        if hidden == DARK and (state.node == LIGHT_CARD or state.node == SHOW):
            _redraw_card(state, DARK, state.acted - (1 if state.node == LIGHT_CARD else 2), DARK_PLAYS, rng)
        elif hidden == LIGHT and state.node == SHOW:
            _redraw_card(state, LIGHT, state.acted - 1, LIGHT_PLAYS, rng)


def episode(state: Facts) -> int:
    """Eq. (20): the side that is about to move, no battle being in progress."""
    return state.side if state.node == MOVE else CONTINUES


# ----------------------------------------------------------------------------------- the board and the actions in words


ROWS = (
    (board.MORDOR,),
    (board.DAGORLAD, board.GONDOR),
    (board.MIRKWOOD, board.FANGORN, board.ROHAN),
    (board.HIGH_PASS, board.MISTY_MOUNTAINS, board.CARADHRAS, board.GAP_OF_ROHAN),
    (board.RHUDAUR, board.EREGION, board.ENEDWAITH),
    (board.ARTHEDAIN, board.CARDOLAN),
    (board.SHIRE,),
)
CELL = 24  # characters across one square


def _row(cells: list[str]) -> str:
    return "".join(cell.center(CELL) for cell in cells).center(4 * CELL).rstrip()


def held_cards(state: Facts, side: int) -> str:
    """The cards in a side's hand."""
    cards = int(state.hands[side])
    return ", ".join(name.removeprefix("card ") for i, name in enumerate(board.CARD_NAMES[side]) if cards >> i & 1)


def text(state: Facts) -> str:
    """The board with Mordor at the top, Dark's pieces in capitals, the dead, the hands, and the decision to be made."""
    squares, bitboards = state.pos.tolist(), state.held  # a field of a record is slow to read

    def pieces(square: int, side: int) -> str:
        team = range(side * board.TEAM, side * board.TEAM + board.TEAM)
        names = [board.PIECE_NAMES[piece] for piece in team if squares[piece] == square]
        return " ".join(name.upper() if side == board.DARK else name for name in names)

    lines = []
    for row in ROWS:
        lines.append(_row([f"[{board.SQUARE_NAMES[square]}]" for square in row]))
        for side in (board.DARK, board.LIGHT):
            if any(has(bitboards[side], square) for square in row):
                lines.append(_row([pieces(square, side) for square in row]))
    for side in (board.DARK, board.LIGHT):
        lines.append(
            f"{board.SIDE_NAMES[side]}: cards {held_cards(state, side)}; dead: {pieces(board.DEAD, side) or 'none'}"
        )
    return "\n".join([*lines, _situation(state)])


def _situation(state: Facts) -> str:
    if state.node == board.OVER:
        ends = {board.DRAWN: "drawn", board.NOBODY: "nobody has won"}
        return ends.get(int(state.winner)) or f"{board.SIDE_NAMES[state.winner]} has won"
    actor = actor_of(state)
    decision = f"{'the environment' if actor == CHANCE else board.SIDE_NAMES[actor]} {board.NODE_NAMES[state.node]}"
    if state.node == board.MOVE:
        return decision
    pieces, squares = board.PIECE_NAMES, board.SQUARE_NAMES
    route = f"{pieces[state.fighters[state.side]]} {squares[state.origin]}-{squares[state.square]}"
    against = (
        "" if mover_unseen(state) or state.node == board.REVEAL else f" v {pieces[state.fighters[1 - state.side]]}"
    )
    return f"{route}{against}: {decision}"


_PLAIN = {
    board.PASS_AMBUSH: "pass",
    board.TAKE_AMBUSH: "ambush",
    board.FRODO_STAYS: "stay",
    board.SAM_STEPS_IN: "Sam steps in",
    board.SAM_ALONE: "alone",
    board.SAM_BOOSTED: "with Frodo",
    board.PIPPIN_STAYS: "stay",
    board.PLAY_CARDS: "play cards",
    board.CANCEL_CARDS: "no cards",
}
_CARD_ACTIONS = (
    (board.DARK_PLAYS, board.DARK),
    (board.LIGHT_PLAYS, board.LIGHT),
    (board.DARK_PICKS, board.DARK),
    (board.LIGHT_PICKS, board.LIGHT),
)
_RETREATS = (board.FRODO_RETREATS, board.PIPPIN_RETREATS, board.DARK_MOVES_ASIDE, board.LIGHT_MOVES_BACK)


def action_text(state: Facts, action: int) -> str:
    """As in "Aragorn Eregion-Fangorn", "Orcs v Sam", "Noble Sacrifice", "to Rhudaur", "ambush"."""
    if action in _PLAIN:
        return _PLAIN[action]
    if action < board.PASS_AMBUSH:
        piece, squares = divmod(action, board.SQUARES * board.SQUARES)
        return f"{board.PIECE_NAMES[piece]} {board.SQUARE_NAMES[squares // board.SQUARES]}-{board.SQUARE_NAMES[squares % board.SQUARES]}"
    if board.BATTLE <= action < board.FRODO_STAYS:
        attacker, defender = divmod(action - board.BATTLE, board.PIECES)
        return f"{board.PIECE_NAMES[attacker]} v {board.PIECE_NAMES[defender]}"
    if board.CARDS_SHOWN <= action < board.DARK_PICKS:
        dark, light = divmod(action - board.CARDS_SHOWN, board.CARDS)
        return f"{board.CARD_NAMES[board.DARK][dark]} v {board.CARD_NAMES[board.LIGHT][light]}"
    for base, side in _CARD_ACTIONS:
        if base <= action < base + board.CARDS:
            return board.CARD_NAMES[side][action - base]
    base = max(base for base in _RETREATS if base <= action)
    return f"to {board.SQUARE_NAMES[action - base]}"


def initial(state: Facts, rng: np.ndarray, dark_shire_to_win: int, random_setup: int) -> None:
    """The fixed setup, or both sides' pieces shuffled over their starting squares; neither side is told the other's."""
    state.shire_needed = dark_shire_to_win
    state.winner = state.fighters[LIGHT] = state.fighters[DARK] = NOBODY
    state.side = DARK
    for side in range(2):
        state.hands[side] = ALL_CARDS
        squares = FIXED_SETUP[side].copy()
        if random_setup:
            shuffle(rng, squares, TEAM)
        for character in range(TEAM):
            enter(state, side * TEAM + character, squares[character])
            state.possible[side * TEAM + character] = START_SQUARES[side]


def player(state: Facts) -> int:
    return actor_of(state)


def rewards(state: Facts, out: np.ndarray) -> None:
    for side in range(2):
        out[side] = 0.5 if state.winner == DRAWN else 1.0 if state.winner == side else 0.0


@helper
def _list_moves(state: Facts, actions: np.ndarray) -> int:
    count = 0
    for piece in range(state.side * TEAM, state.side * TEAM + TEAM):
        origin = state.pos[piece]
        if origin != DEAD:
            count = append_bits(actions, count, move_action(piece, origin, 0), targets(state, piece, origin))
    return count


@helper
def _list_battles(state: Facts, actions: np.ndarray) -> int:
    count, opponent = 0, 1 - state.side
    for defender in range(opponent * TEAM, opponent * TEAM + TEAM):
        if state.pos[defender] == state.square:
            actions[count] = battle_action(state.fighters[state.side], defender)
            count += 1
    return count


@helper
def _list_pair(actions: np.ndarray, neutral: int, alternative: int, allowed: bool) -> int:
    actions[0], actions[1] = neutral, alternative
    return 2 if allowed else 1


@helper
def _list_frodo(state: Facts, actions: np.ndarray) -> int:
    count = _list_pair(actions, FRODO_STAYS, SAM_STEPS_IN, state.pos[SAM] == state.square)
    return append_bits(actions, count, FRODO_RETREATS, sideways(state, LIGHT))


def legal(state: Facts, actions: np.ndarray) -> int:
    node = state.node
    if node == MOVE:
        return _list_moves(state, actions)
    if node == REVEAL:
        return _list_battles(state, actions)
    if node == DARK_CARD:
        return append_bits(actions, 0, DARK_PLAYS, state.hands[DARK])
    if node == LIGHT_CARD:
        return append_bits(actions, 0, LIGHT_PLAYS, state.hands[LIGHT])
    if node == SHOW:
        actions[0] = CARDS_SHOWN + np.int64(state.cards[DARK]) * CARDS + np.int64(state.cards[LIGHT])
        return 1
    if node == DARK_MAGIC:
        return append_bits(actions, 0, DARK_PICKS, discards(state, DARK))
    if node == LIGHT_MAGIC:
        return append_bits(actions, 0, LIGHT_PICKS, discards(state, LIGHT))
    if node == DARK_RETREAT:
        return append_bits(actions, 0, DARK_MOVES_ASIDE, sideways(state, DARK))
    if node == LIGHT_RETREAT:
        return append_bits(actions, 0, LIGHT_MOVES_BACK, backward(state))
    if node == FRODO_TEXT:
        return _list_frodo(state, actions)
    if node == SAM_TEXT:
        return _list_pair(actions, SAM_ALONE, SAM_BOOSTED, state.pos[FRODO] == state.square)
    if node == PIPPIN_TEXT:
        actions[0] = PIPPIN_STAYS
        return append_bits(actions, 1, PIPPIN_RETREATS, backward(state))
    if node == SARUMAN_TEXT:
        return _list_pair(actions, PLAY_CARDS, CANCEL_CARDS, True)
    if node == AMBUSH:
        return _list_pair(actions, PASS_AMBUSH, TAKE_AMBUSH, state.pos[BALROG] == CARADHRAS)
    actions[0] = battle_action(state.fighters[LIGHT], BALROG)  # VICTIM
    return 1


@helper
def _move(state: Facts, action: int) -> int:
    piece, target = action // (SQUARES * SQUARES), action % SQUARES
    state.fighters[state.side] = piece
    state.origin, state.square = state.pos[piece], target
    state.first_battle = 1
    if piece == FRODO and target == MORDOR:
        relocate(state, FRODO, MORDOR)
        return finish(state, LIGHT)
    tunnel = state.side == LIGHT and state.origin == EREGION and target == FANGORN
    if tunnel and has(state.held[DARK], CARADHRAS) and state.pos[BALROG] != DEAD:
        return AMBUSH
    return ARRIVAL


@helper
def _ambush(state: Facts, action: int) -> int:
    if action == PASS_AMBUSH:
        return ARRIVAL
    know(state, BALROG)
    return VICTIM


@helper
def _take_victim(state: Facts) -> int:
    victim = state.fighters[LIGHT]
    relocate(state, victim, DEAD)
    return finish(state, DARK) if victim == FRODO else TURN_END


@helper
def _arrive(state: Facts) -> int:
    """The mover attacks, and stays unseen at its origin until the defender is revealed; or it moves unseen."""
    side = state.side
    if has(state.held[1 - side], state.square):
        return REVEAL
    if state.searching:
        state.searching = LAPSED
    else:
        suspect_move(state, side, state.origin, state.square)
    shift(state, state.fighters[side], state.square)
    if not state.searching:
        prune(state, side)
    return TURN_END


@helper
def _end_turn(state: Facts) -> int:
    if state.side == DARK and state.count[DARK, SHIRE] >= state.shire_needed:
        return finish(state, DARK)
    state.side = 1 - state.side
    state.turn += 1
    if not can_move(state, state.side):
        return finish(state, 1 - state.side)
    if state.turn >= MAX_TURNS:
        return finish(state, DRAWN)
    state.acted = 0
    state.fighters[LIGHT] = state.fighters[DARK] = NOBODY  # who moved stays hidden
    return MOVE


@helper
def _decide(state: Facts, action: int) -> int:
    """Carry out the decision of a node."""
    node = state.node
    if node == MOVE:
        return _move(state, action)
    if node == REVEAL:
        return reveal(state, action)
    if node == DARK_CARD:
        return choose_card(state, DARK, action - DARK_PLAYS)
    if node == LIGHT_CARD:
        return choose_card(state, LIGHT, action - LIGHT_PLAYS)
    if node == SHOW:
        return DARK_EFFECT
    if node == DARK_MAGIC:
        return count_dark_card(state, action - DARK_PICKS)
    if node == LIGHT_MAGIC:
        state.effects[LIGHT] = action - LIGHT_PICKS
        return LIGHT_WITHDRAWAL
    if node == DARK_RETREAT:
        relocate(state, state.fighters[DARK], action - DARK_MOVES_ASIDE)
        return LIGHT_REPLACEMENT
    if node == LIGHT_RETREAT:
        relocate(state, state.fighters[LIGHT], action - LIGHT_MOVES_BACK)
        return DISCARD
    if node == FRODO_TEXT:
        return frodo_text(state, action)
    if node == SAM_TEXT:
        return sam_text(state, action)
    if node == PIPPIN_TEXT:
        return pippin_text(state, action)
    if node == SARUMAN_TEXT:
        return saruman_text(state, action)
    if node == AMBUSH:
        return _ambush(state, action)
    return _take_victim(state)  # VICTIM


@helper
def _follow(state: Facts, step: int) -> int:
    """Carry out a step that follows by itself."""
    if step == TURN_END:
        return _end_turn(state)
    if step == ARRIVAL:
        return _arrive(state)
    if step == TEXTS:
        return use_texts(state)
    if step == DARK_EFFECT:
        return use_dark_card(state)
    if step == LIGHT_EFFECT:
        return use_light_card(state)
    if step == LIGHT_REPLACEMENT:
        return replace_light_card(state)
    if step == LIGHT_WITHDRAWAL:
        return withdraw_light(state)
    if step == DISCARD:
        return discard(state)
    if step == STRENGTHS:
        return compare(state)
    return end_battle(state)  # BATTLE_END


def apply(state: Facts, action: int) -> None:
    state.actions[state.acted] = action
    state.acted += 1
    step = _decide(state, action)
    while step > OVER:
        step = _follow(state, step)
    state.node = step


DARK_SHIRE_TO_WIN = 4  # pieces together in the Shire; 3 in the published rules


def lotr_confrontation(dark_shire_to_win: int = DARK_SHIRE_TO_WIN, random_setup: int = 0) -> Game:
    """The Confrontation.

    Args:
        dark_shire_to_win: Dark pieces in the Shire together that win for Dark: 4 in the papers, 3 in the published rules.
        random_setup: 1 to shuffle both sides' pieces over their starting squares, 0 for the fixed setup.

    Raises:
        ValueError: a count other than 1 to 4 (the Shire's capacity), or a setup other than 0 or 1.
    """
    dark_shire_to_win = integer("dark_shire_to_win", dark_shire_to_win, 1, int(CAPACITY[SHIRE]))
    random_setup = integer("random_setup", random_setup, 0, 1)
    return Game(
        name="lotr-confrontation",
        players=2,
        state=STATE,
        initial=initial,
        player=player,
        legal=legal,
        apply=apply,
        rewards=rewards,
        ranges={**RANGES, "shire_needed": (dark_shire_to_win, dark_shire_to_win)},
        max_legal=MAX_LEGAL,
        actions=LIGHT_MOVES_BACK + SQUARES,
        heuristic=heuristic,
        text=text,
        action_text=action_text,
        observe=observe,
        determinize=determinize,
        beliefs=BELIEFS,
        prepare=prepare,
        episode=episode,
        recall=recall,
        simultaneous=simultaneous,
        parameters={"dark_shire_to_win": int(dark_shire_to_win), "random_setup": int(random_setup)},
        defaults={"dark_shire_to_win": DARK_SHIRE_TO_WIN, "random_setup": 0},
        seat_names=("Light", "Dark"),
    )
