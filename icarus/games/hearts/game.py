"""Hearts: four players, 13 tricks a round, every ♥ costs 1 point and ♠Q 13; who has the fewest when someone reaches 50 wins.

Each round the 52 cards are dealt and three are passed: left, right, across, not at all, in turn. Player 0 passes his three one
at a time, then 1, 2 and 3; the receivers see them when all have passed. ♣2 leads; follow suit if able. The first trick takes no
points from a hand that has anything else, and ♥ is not led before a point card has been played, unless nothing else is held. Who
takes all 26 points has 0 of them and the others 26 each. Rewards: lowest score 1, highest 0, otherwise ½; equal scores share the
better value.

    round 3, pass across; scores 9 21 9 13
    0   0 points  A♣ 5♣ 3♣ 4♦ A♠ 7♠ Q♥ 6♥ 5♥ 4♥
    1   0 points  K♣ Q♣ 9♣ J♦ 8♦ 10♠ 9♠ 4♠ 3♠ A♥
    2   0 points  7♣ K♦ Q♦ 8♠ 5♠ J♥ 8♥ 7♥ 3♥
    3   0 points  10♣ 6♣ 9♦ 2♦ Q♠ K♥ 10♥ 9♥ 2♥
    trick: 2 led 3♦, 3 5♦; 0 to play

A player does not see the others' hands, nor which cards pass between others, nor what he is given until all have passed.

A determinized state ends with the round (section 7.2): whole rounds are then drawn from `rounds.npy`, seats permuted at
each draw, until the threshold is reached, and the rewards follow from that. All draws follow from the state's `fate`, so that
rewards are a function of the state. A search that looks at the true state gets the same from `determinize` by the environment,
which sees every card: it sets `searching` and draws a `fate`, and redeals nothing. In real play `fate` decides the deals to come.

An action is a card to play (suit × 13 + rank), PASS + a card to pass, or one of the environment's: EXCHANGE, when all have
passed, and DEAL, when a new round begins; what those show a player is a move of his own: the cards that he picks up, who leads.
"""

import itertools
from pathlib import Path

import numpy as np

from icarus.checks import integer
from icarus.compiler.rng import RNG_WORDS, next_word
from icarus.games.cards import CARDS, PACK, RANKS, card_text, cards_text, list_cards, suit_cards
from icarus.games.hearts.facts import (
    ALL_PASSES,
    ALL_POINTS,
    BELIEFS,
    CLUB_TWO,
    DEAL,
    DEAL_LABEL,
    DEALING,
    ENDED,
    EXCHANGE,
    EXCHANGING,
    HAND,
    HEART_CARDS,
    MAX_THRESHOLD,
    NONE,
    PASS,
    PASSED_CARDS,
    PASSING,
    PASSINGS,
    PLAYERS,
    PLAYING,
    POINT_CARDS,
    QUEEN_POINTS,
    SPADE_QUEEN,
    STATE,
    THRESHOLD,
    added_score,
    card_bit,
    deal,
    giver,
    offset,
    passed_by,
)
from icarus.games.hearts.heuristic import heuristic
from icarus.games.hearts.hidden import determinize, observe, prepare, recall, retrace
from icarus.kernel import CHANCE, CONTINUES, TERMINAL, Facts, below, helper, inlined, popcount
from icarus.kernel.game import Game

ROUND_SCORES = np.load(Path(__file__).with_name("rounds.npy"))  # int8 [rounds, seat]
SEATINGS = np.array(list(itertools.permutations(range(PLAYERS))), np.int8)


@helper
def _generator(fate: np.uint64) -> np.ndarray:
    """A generator seeded from one word (SplitMix64, as the authors of xoshiro seed it)."""
    generator = np.empty(RNG_WORDS, np.uint64)
    for k in range(RNG_WORDS):
        fate += np.uint64(0x9E3779B97F4A7C15)
        word = (fate ^ (fate >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        generator[k] = word ^ (word >> np.uint64(31))
    return generator


def initial(state: Facts, rng: np.ndarray, threshold: int) -> None:
    state.threshold = threshold
    deal(state, rng)
    state.fate = next_word(rng)


def player(state: Facts) -> int:
    return state.player


def legal(state: Facts, actions: np.ndarray) -> int:
    if state.phase != PLAYING and state.phase != PASSING:
        actions[0] = DEAL if state.phase == DEALING else EXCHANGE
        return 1
    cards, base = state.held[state.player], PASS
    if state.phase == PLAYING:
        cards, base = _playable(state, cards & ~state.played), 0
    return list_cards(actions, base, cards)


@inlined
def _playable(state: Facts, hand: np.uint64) -> np.uint64:
    """The cards of a hand that may be played to the trick."""
    if state.count == 0:
        if state.played == NONE:
            return CLUB_TWO
        allowed = hand if state.broken else hand & ~HEART_CARDS
    else:
        allowed = hand & suit_cards(state.trick[0] // RANKS)
        if allowed == NONE and popcount(state.played) < PLAYERS:
            allowed = hand & ~POINT_CARDS
    return allowed if allowed else hand


def apply(state: Facts, action: int) -> None:
    if state.phase == PLAYING:
        _play(state, action)
    elif state.phase == PASSING:
        _pass(state, action - PASS)
    elif state.phase == EXCHANGING:
        for i in range(PLAYERS):
            state.held[i] |= passed_by(state, giver(state, i))
        _begin_tricks(state)
    elif offset(state) == 0:
        _begin_tricks(state)
    else:
        state.phase, state.player = PASSING, 0


@inlined
def _pass(state: Facts, card: int) -> None:
    state.held[state.player] ^= card_bit(card)
    state.passed[state.player, state.passes % PASSED_CARDS] = card
    state.passes += 1
    state.player = state.passes // PASSED_CARDS
    if state.passes == ALL_PASSES:
        state.phase, state.player = EXCHANGING, CHANCE


@inlined
def _begin_tricks(state: Facts) -> None:
    state.phase = PLAYING
    for i in range(PLAYERS):
        if state.held[i] & CLUB_TWO:
            state.player = i


@inlined
def _play(state: Facts, card: int) -> None:
    bit = card_bit(card)
    _exclude(state, card, bit)
    state.trick[state.count] = card
    state.played |= bit
    state.count += 1
    if bit & POINT_CARDS:
        state.broken = 1
    if state.count < PLAYERS:
        state.player = (state.player + 1) & 3
    else:
        _end_trick(state)


@inlined
def _exclude(state: Facts, card: int, bit: np.uint64) -> None:
    """Note what a play shows its player not to hold: whatever would have had to be played instead."""
    if state.count == 0:
        if bit & HEART_CARDS and not state.broken:
            state.excluded[state.player] |= ~HEART_CARDS
    elif card // RANKS != state.trick[0] // RANKS:
        state.excluded[state.player] |= suit_cards(state.trick[0] // RANKS)
        if bit & POINT_CARDS and popcount(state.played) < PLAYERS:
            state.excluded[state.player] |= ~POINT_CARDS


@inlined
def _end_trick(state: Facts) -> None:
    """Give the trick to the highest card of the suit led; its winner leads, or the round ends."""
    leader = state.player + 1  # three have played after him
    best, winner, points = state.trick[0], 0, 0
    for k in range(PLAYERS):
        card = state.trick[k]
        if card > best and card // RANKS == best // RANKS:
            best, winner = card, k
        if card_bit(card) & HEART_CARDS:
            points += 1
        elif card_bit(card) == SPADE_QUEEN:
            points += QUEEN_POINTS
    state.player = (leader + winner) & 3
    state.points[state.player] += points
    if state.played == PACK:
        _end_round(state)
    else:
        state.count = 0


@helper
def _end_round(state: Facts) -> None:
    reached = False
    for i in range(PLAYERS):
        state.scores[i] += added_score(state, i)
        reached = reached or state.scores[i] >= state.threshold
    if reached or state.searching:
        state.phase, state.player = ENDED, TERMINAL
    else:
        _shuffle_deck(state)


@helper
def _shuffle_deck(state: Facts) -> None:
    """Lay out the cards of the next round, face down until DEAL."""
    generator = _generator(state.fate)
    deal(state, generator)
    state.fate = next_word(generator)
    state.phase, state.player = DEALING, CHANCE
    state.round_number += 1
    state.played = NONE
    state.passes, state.count, state.broken = 0, 0, 0
    for i in range(PLAYERS):
        state.excluded[i] = NONE
        state.trick[i], state.points[i] = 0, 0
        for k in range(PASSED_CARDS):
            state.passed[i, k] = 0


def rewards(state: Facts, out: np.ndarray) -> None:
    highest = 0
    for i in range(PLAYERS):
        out[i] = state.scores[i]
        highest = max(highest, state.scores[i])
    if highest < state.threshold:
        _draw_rounds(state, out)
    _place(out)


@helper
def _draw_rounds(state: Facts, totals: np.ndarray) -> None:
    """Add whole rounds, drawn with their seats permuted, until someone reaches the threshold."""
    generator = _generator(state.fate)
    highest = 0.0
    while highest < state.threshold:
        row, seating = below(generator, len(ROUND_SCORES)), below(generator, len(SEATINGS))
        for i in range(PLAYERS):
            totals[i] += ROUND_SCORES[row, SEATINGS[seating, i]]
            highest = max(highest, totals[i])


@inlined
def _place(out: np.ndarray) -> None:
    """Turn scores into rewards: 1 for the first place, 0 for the fourth, else ½; equal scores share the better place."""
    lowest, highest = min(min(out[0], out[1]), min(out[2], out[3])), max(max(out[0], out[1]), max(out[2], out[3]))
    last = 0
    for i in range(PLAYERS):
        last += out[i] == highest
    for i in range(PLAYERS):
        out[i] = 1.0 if out[i] == lowest else 0.0 if out[i] == highest and last == 1 else 0.5


def episode(state: Facts) -> int:
    """Eq. (19): D at the deal, the first included, and player i where he begins a trick."""
    if state.phase == PLAYING:
        return state.player if state.count == 0 else CONTINUES
    if state.phase == DEALING or (state.phase == PASSING and state.passes == 0 and state.round_number == 0):
        return DEAL_LABEL
    return CONTINUES


def text(state: Facts) -> str:
    """The scores, what each player has taken in this round and what he holds, and what is to be done."""
    passing, scores = PASSINGS[state.round_number % 4], " ".join(str(score) for score in state.scores)
    rows = [f"round {state.round_number + 1}, {passing}; scores {scores}"]
    for i in range(PLAYERS):
        rows.append(f"{i}  {state.points[i]:2} points  {cards_text(state.held[i] & ~state.played)}")
    return "\n".join([*rows, doing(state)])


def doing(state: Facts) -> str:
    """What is to be done."""
    if state.phase == ENDED:
        return "the round has ended" if max(state.scores) < state.threshold else "the game has ended"
    if state.phase == DEALING:
        return "to be dealt"
    if state.phase != PLAYING:
        passed = [f"{i} {cards_text(passed_by(state, i))}" for i in range(PLAYERS) if state.passes > PASSED_CARDS * i]
        waiting = "to be exchanged" if state.phase == EXCHANGING else f"{state.player} to pass"
        return f"passed: {', '.join(passed) or 'nothing'}; {waiting}"
    leader = (state.player - state.count) % PLAYERS
    lines = [
        f"{(leader + k) % PLAYERS} {'led ' if k == 0 else ''}{card_text(int(state.trick[k]))}"
        for k in range(state.count)
    ]
    return f"trick: {', '.join(lines)}; {state.player} to play" if lines else f"{state.player} to lead"


def action_text(state: Facts, action: int) -> str:
    if action < PASS:
        return card_text(action)
    if action < EXCHANGE:
        return f"pass {card_text(action - PASS)}"
    return "exchange" if action == EXCHANGE else "deal"


def hearts(threshold: int = THRESHOLD) -> Game:
    """Hearts until someone has `threshold` points or more.

    Raises:
        ValueError: a threshold outside 1 … 10,000.
    """
    threshold = integer("the threshold of hearts", threshold, 1, MAX_THRESHOLD)
    return Game(
        name="hearts",
        players=PLAYERS,
        state=STATE,
        initial=initial,
        player=player,
        legal=legal,
        apply=apply,
        rewards=rewards,
        ranges={
            **dict.fromkeys(("held", "played"), (0, int(PACK))),
            "scores": (0, threshold + ALL_POINTS),
            "threshold": (threshold, threshold),
            **dict.fromkeys(("passed", "trick"), (0, CARDS - 1)),
            "points": (0, ALL_POINTS),
            "phase": (PASSING, ENDED),
            "player": (TERMINAL, PLAYERS - 1),
            "passes": (0, ALL_PASSES),
            "count": (0, PLAYERS),
            **dict.fromkeys(("broken", "searching"), (0, 1)),
        },
        max_legal=HAND,
        actions=DEAL + 1,
        observe=observe,
        determinize=determinize,
        beliefs=BELIEFS,
        prepare=prepare,
        episode=episode,
        recall=recall,
        retrace=retrace,
        heuristic=heuristic,
        text=text,
        action_text=action_text,
        parameters={"threshold": threshold},
        defaults={"threshold": THRESHOLD},
    )


HEARTS = hearts()
