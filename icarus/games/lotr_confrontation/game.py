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

import numpy as np

from icarus.checks import integer
from icarus.games.lotr_confrontation.battle import (
    backward,
    battle_action,
    choose_card,
    compare,
    count_dark_card,
    discard,
    discards,
    end_battle,
    finish,
    frodo_text,
    move_action,
    pippin_text,
    relocate,
    replace_light_card,
    reveal,
    sam_text,
    saruman_text,
    sideways,
    use_dark_card,
    use_light_card,
    use_texts,
    withdraw_light,
)
from icarus.games.lotr_confrontation.board import RANGES, STATE, actor_of, can_move, enter, has, shift, targets
from icarus.games.lotr_confrontation.facts import (
    ALL_CARDS,
    AMBUSH,
    ARRIVAL,
    BALROG,
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
    FANGORN,
    FIXED_SETUP,
    FRODO,
    FRODO_RETREATS,
    FRODO_STAYS,
    FRODO_TEXT,
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
    PIPPIN_RETREATS,
    PIPPIN_STAYS,
    PIPPIN_TEXT,
    PLAY_CARDS,
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
    STRENGTHS,
    TAKE_AMBUSH,
    TEAM,
    TEXTS,
    TURN_END,
    VICTIM,
)
from icarus.games.lotr_confrontation.heuristic import heuristic
from icarus.games.lotr_confrontation.hidden import determinize, episode, observe, prepare, recall, simultaneous
from icarus.games.lotr_confrontation.knowledge import BELIEFS, LAPSED, know, prune, suspect_move
from icarus.games.lotr_confrontation.text import action_text, text
from icarus.kernel import Facts, append_bits, helper, shuffle
from icarus.kernel.game import Game


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
