"""Dou Di Zhu against its rules by brute force, published averages, OpenSpiel, and small deals enumerated by hand.

The referee here, `described` and `beats`, is written from the rules alone: it tells for any cards whether they make a play.
"""

import itertools
import random
from collections import Counter
from collections.abc import Iterable
from functools import cache
from operator import mul
from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy import stats

from icarus.compiler import address_of, array_kernel, call
from icarus.compiler.rng import seeded
from icarus.games.dou_di_zhu import DOU_DI_ZHU
from icarus.kernel import State
from tests.games.scenes import UNLIKELY, apply_texts, draws, legal_texts
from tests.marks import slow_after

NAMES = "3456789TJQKA2BR"
ACE, BLACK_JOKER, RED_JOKER = NAMES.index("A"), NAMES.index("B"), NAMES.index("R")
IN_DECK = [4] * 13 + [1, 1]

# ------------------------------------------------------------------------------------------------------- the rules, once more


class Described(NamedTuple):
    """A whole play: its category with the kind of its kickers, and its base and kickers as players write them."""

    category: str
    length: int
    rank: int
    base: str
    kickers: str = ""


def described(counts: Iterable[int]) -> Described | None:
    """The play that these cards (a number for each rank) make, if any. No cards make two different plays."""
    counts = list(counts)
    ones, twos, threes, fours = (
        [rank for rank, count in enumerate(counts) if count == copies] for copies in (1, 2, 3, 4)
    )
    match len(ones), len(twos), len(threes), len(fours):
        case 2, 0, 0, 0 if ones == [BLACK_JOKER, RED_JOKER]:
            return Described("nuke", 1, 0, "BR")
        case 0, 0, 0, 1:
            return Described("bomb", 1, fours[0], NAMES[fours[0]] * 4)
        case n, 0, 0, 0 if n == 1 or n >= 5 and in_a_row(ones):
            return Described("solo", n, ones[0], spelled(ones, 1))
        case 0, n, 0, 0 if n == 1 or n >= 3 and in_a_row(twos):
            return Described("pair", n, twos[0], spelled(twos, 2))
        case 0, 0, n, 0 if in_a_row(threes):
            return Described("trio", n, threes[0], spelled(threes, 3))
        case k, 0, n, 0 if (
            k == n and in_a_row(threes) and not {BLACK_JOKER, RED_JOKER} <= set(ones)
        ):
            return Described(
                "trio+solo", n, threes[0], spelled(threes, 3) + "+1" * n, kickers(ones, 1)
            )
        case 0, k, n, 0 if k == n and in_a_row(threes):
            return Described(
                "trio+pair", n, threes[0], spelled(threes, 3) + "+2" * n, kickers(twos, 2)
            )
        case 2, 0, 0, 1 if ones != [BLACK_JOKER, RED_JOKER]:
            return Described("four+solo", 1, fours[0], spelled(fours, 4) + "+1+1", kickers(ones, 1))
        case 0, 2, 0, 1:
            return Described("four+pair", 1, fours[0], spelled(fours, 4) + "+2+2", kickers(twos, 2))
    return None


def in_a_row(ranks: list[int]) -> bool:
    return (
        len(ranks) == 1
        or len(ranks) > 1
        and ranks[-1] <= ACE
        and ranks[-1] - ranks[0] == len(ranks) - 1
    )


def spelled(ranks: list[int], copies: int) -> str:
    return "".join(NAMES[rank] * copies for rank in ranks)


def kickers(ranks: list[int], copies: int) -> str:
    return "+" + " ".join(NAMES[rank] * copies for rank in ranks)


def beats(play: Described, previous: Described) -> bool:
    if "nuke" in (play.category, previous.category):
        return previous.category != "nuke"
    if "bomb" in (play.category, previous.category):
        return play.category == "bomb" and (
            previous.category != "bomb" or play.rank > previous.rank
        )
    return (play.category, play.length) == (
        previous.category,
        previous.length,
    ) and play.rank > previous.rank


SHAPES = (
    {(n, 0, 0, 0) for n in range(1, 13)}
    | {(0, n, 0, 0) for n in range(1, 11)}
    | {(0, 0, n, 0) for n in range(1, 7)}
)
SHAPES |= (
    {(n, 0, n, 0) for n in range(1, 6)}
    | {(0, n, n, 0) for n in range(1, 5)}
    | {(2, 0, 0, 1), (0, 2, 0, 1), (0, 0, 0, 1)}
)
SHAPE_CODES = [sum(n * 16**i for i, n in enumerate(shape)) for shape in SHAPES]


def plays_of(counts: np.ndarray) -> list[Described]:
    """Every play that a hand (a number for each rank) contains: all its subsets, those kept that make a play."""
    subsets = np.indices(counts + 1, np.int8).reshape(len(counts), -1)
    codes = sum((subsets == copies).sum(0) * 16**i for i, copies in enumerate((1, 2, 3, 4)))
    plays = (described(subset) for subset in subsets[:, np.isin(codes, SHAPE_CODES)].T)
    return [play for play in plays if play]


# ----------------------------------------------------------------------------------------------------------- states and moves


def counted(cards: str) -> np.ndarray:
    return np.array([cards.count(name) for name in NAMES])


def hand(counts: Iterable[int]) -> int:
    """The hand in lanes: bit r of lane k (16 bits each) for more than k cards of rank r."""
    return sum(
        1 << (16 * lane + rank) for rank, count in enumerate(counts) for lane in range(count)
    )


def counts_of(bits: int) -> tuple[int, ...]:
    return tuple(
        sum(int(bits) >> (16 * lane + rank) & 1 for lane in range(4)) for rank in range(15)
    )


def position(*hands: str, player: int = 0) -> State:
    """A state in which a player leads with these hands on the table."""
    return dealt([counted(cards) for cards in hands], player)


def dealt(hands: list[np.ndarray], player: int = 0) -> State:
    record = np.zeros(1, DOU_DI_ZHU.state)
    record["hands"][0] = [hand(counts) for counts in hands]
    record["player"] = player
    return State(DOU_DI_ZHU, record)


def full_moves(state: State) -> dict[tuple[str, str], tuple[int, ...]]:
    """Base and kickers together, as written: the actions of each."""
    moves: dict[tuple[str, str], tuple[int, ...]] = {}
    for action in state.legal_actions():
        base = written(action)
        if "+" not in base:
            moves[base, ""] = (action,)
            continue
        after = State(state.game, state.data.copy())
        after.game.kernels().apply(after.data.ctypes.data, action)
        moves.update({(base, written(added)): (action, added) for added in after.legal_actions()})
    return moves


@cache
def written(action: int) -> str:
    return DOU_DI_ZHU.action_text(None, action)


def random_counts(rng: np.random.Generator, cards: int) -> np.ndarray:
    return np.bincount(rng.permutation(np.repeat(np.arange(15), IN_DECK))[:cards], minlength=15)


# ---------------------------------------------------------------------------------------------------------------------- plays


@pytest.mark.parametrize(("cards", "hands"), [(5, 30), (9, 30), (13, 30)])
def test_the_leading_plays_are_the_subsets_that_make_a_play(cards, hands):
    rng = np.random.default_rng(cards)
    for _ in range(hands):
        counts = random_counts(rng, cards)
        expected = plays_of(counts)
        moves = full_moves(dealt([counts, counted(""), counted("")]))
        assert len(expected) == len(moves)
        assert {(play.base, play.kickers) for play in expected} == moves.keys()


@pytest.mark.parametrize(
    "cards",
    [
        "3334445556667778889",
        "33334444555566667777",
        "333444555666777BR",
        "AAAA2222BR33445566",
        "QQQKKKAAA222BR345678",
        "3334445556667892BR",
        "33344455566677889922",
        "3456789TJQKA2BR",
        "333344445555BR",
        "BR",
        "3333",
        "333BR",
        "3333BR",
        "33344BR",
    ],
)
def test_the_leading_plays_of_extreme_hands_are_the_subsets_that_make_a_play(cards):
    moves = full_moves(position(cards, "", ""))
    assert {(play.base, play.kickers) for play in plays_of(counted(cards))} == moves.keys()


def test_whole_hands_lead_their_plays_and_follow_with_those_that_beat_the_lead():
    rng, tried = np.random.default_rng(1), Counter()
    for _ in range(8):
        deck = rng.permutation(np.repeat(np.arange(15), IN_DECK))
        counts = [np.bincount(part, minlength=15) for part in (deck[:20], deck[20:37], deck[37:])]
        leads, answers = plays_of(counts[0]), plays_of(counts[1])
        for moves, plays in (
            (full_moves(dealt(counts)), leads),
            (full_moves(dealt(counts, 1)), answers),
        ):
            assert {(play.base, play.kickers) for play in plays} == moves.keys()
        for lead in {play.base: play for play in leads}.values():
            state = apply_texts(dealt(counts), *filter(None, (lead.base, lead.kickers)))
            beating = {(answer.base, answer.kickers) for answer in answers if beats(answer, lead)}
            assert full_moves(state).keys() == beating | {("pass", "")}
            tried[lead.category] += 1
    assert set(tried) == {
        "solo",
        "pair",
        "trio",
        "trio+solo",
        "trio+pair",
        "four+solo",
        "four+pair",
        "bomb",
        "nuke",
    }


@array_kernel("plays of Dou Di Zhu")
def _count_plays(
    rules: np.ndarray,
    start: np.ndarray,
    state: np.ndarray,
    after: np.ndarray,
    parameters: np.ndarray,
    rng: np.ndarray,
    deals: int,
    actions: np.ndarray,
    kickers: np.ndarray,
    plays: np.ndarray,
) -> int:
    """Sum the leading plays of each player, base and kickers together, over random deals."""
    initial, legal, apply = rules[0], rules[1], rules[2]
    address, address_after = address_of(state), address_of(after)
    for _ in range(deals):
        state[0] = start[0]  # as before a game
        call(initial, (address, address_of(rng), address_of(parameters)))
        for seat in range(3):
            state[0].player = seat
            for i in range(call(legal, (address, address_of(actions)))):
                after[0] = state[0]
                call(apply, (address_after, actions[i]))
                is_whole = not after[0].kickers_due
                plays[seat] += 1 if is_whole else call(legal, (address_after, address_of(kickers)))
    return deals


def test_random_hands_have_as_many_leading_plays_as_published():
    """44.0 for 17 cards (87.7 for both peasants: Table II of Cowling, Powley, Whitehouse 2012), 78.4 for 20."""
    deals, plays, room = 15_000, np.zeros(3, np.int64), DOU_DI_ZHU.max_legal
    _count_plays(
        np.array([DOU_DI_ZHU.address(name) for name in ("initial", "legal", "apply")]),
        *np.zeros((3, 1), DOU_DI_ZHU.state),
        DOU_DI_ZHU.initial_arguments(),
        seeded(2012),
        deals,
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        plays,
    )
    landlord, *peasants = plays / deals
    assert landlord == pytest.approx(78.4, abs=1)
    assert sum(peasants) / 2 == pytest.approx(44.0, abs=0.5)
    assert sum(peasants) == pytest.approx(87.7, abs=0.5)


# -------------------------------------------------------------------------------------------------------- hand-made positions


def test_the_deal_gives_all_54_cards_and_the_lead_to_the_landlord():
    for seed in range(200):
        state = DOU_DI_ZHU.new_initial_state(seed=seed)
        hands = [counts_of(bits) for bits in state.facts.hands]
        assert [sum(counts) for counts in hands] == [20, 17, 17]
        assert np.sum(hands, axis=0).tolist() == IN_DECK
        assert state.current_player() == 0
        assert "pass" not in legal_texts(state)


def test_the_peasants_win_together():
    assert apply_texts(position("3 4", "5", "6 7"), "3", "5").returns() == [0, 1, 1]
    assert apply_texts(position("3 4", "5 6", "7"), "3", "pass", "7").returns() == [0, 1, 1]
    assert apply_texts(position("3", "4", "5"), "3").returns() == [1, 0, 0]


# ------------------------------------------------------------------------------------------------------------ determinization


def ways(unseen: str, held: int) -> Counter[str]:
    """How many sets of actual cards give each hand (sorted) of so many of the unseen cards."""
    return Counter(
        "".join(sorted(dealt)) for dealt in itertools.combinations(unseen.replace(" ", ""), held)
    )


def drawn_hands(state: State, observer: int, owner: int, number: int) -> Counter[str]:
    drawn = Counter(draws(state, observer, number)["hands"][:, owner].tolist())
    return Counter(
        {"".join(sorted(map(mul, NAMES, counts_of(bits)))): times for bits, times in drawn.items()}
    )


def assert_proportional(counts: Counter[str], weights: Counter[str]) -> None:
    assert counts.keys() <= weights.keys()
    draws, total = sum(counts.values()), sum(weights.values())
    expected = [weight * draws / total for weight in weights.values()]
    assert stats.chisquare([counts[text] for text in weights], expected).pvalue > UNLIKELY


def test_every_deal_of_actual_cards_is_equally_likely():
    state = position("3 3", "4 4 5", "4 5 6 B")
    assert_proportional(drawn_hands(state, observer=0, owner=1, number=4000), ways("444 55 6 B", 3))
    assert_proportional(drawn_hands(state, observer=2, owner=0, number=4000), ways("33 44 5", 2))
    assert_proportional(drawn_hands(state, observer=1, owner=2, number=4000), ways("33 4 5 6 B", 4))


@pytest.mark.parametrize("observer", [0, 2])
def test_who_announces_kickers_is_known_to_have_them(observer):
    """333+2 tells that a pair other than threes is left; 5555+1+1 that two single cards are, and not both jokers."""
    hand = "8 8 9"

    def announced(mover: str, third: str, base: str) -> State:
        return apply_texts(
            position(*((hand, mover, third) if observer == 0 else (third, mover, hand)), player=1),
            base,
        )

    completed = Counter(
        {
            text: n
            for text, n in ways("3 444 4 555 T", 4).items()
            if any(text.count(name) >= 2 for name in text if name != "3")
        }
    )
    assert_proportional(
        drawn_hands(announced("333 3 4 5 5", "444 5 T", "333+2"), observer, owner=1, number=2000),
        completed,
    )
    completed = Counter(
        {text: n for text, n in ways("B 66 7 R", 2).items() if text not in ("66", "BR")}
    )
    assert_proportional(
        drawn_hands(announced("5555 7 R", "B 6 6", "5555+1+1"), observer, owner=1, number=2000),
        completed,
    )


# ------------------------------------------------------------------------------------------------------------------ OpenSpiel

# Plays that it does not know.
FOUR_WITH_TWO, RUN_FROM_FOUR = ("four with two kickers", "bare run from a rank held four times")
# that the rules do not
KICKERS_OF_ONE_RANK = "kickers of one rank"
BOMB_ON_NUKE = "bomb on the nuke"
DIFFERENCES = {FOUR_WITH_TWO, RUN_FROM_FOUR, KICKERS_OF_ONE_RANK, BOMB_ON_NUKE}


def translated(text: str) -> tuple[str, str]:
    """A whole play as OpenSpiel writes it, as (base, kickers) in our notation."""
    text = plain(text)
    main, dash, rest = text.partition("-")
    # a single trio and its kicker, sorted together
    if not dash and sorted(Counter(text).values()) in ([1, 3], [2, 3]):
        trio = max(text, key=text.count)
        main, rest = trio * 3, text.replace(trio, "")
    if not rest:
        return ("pass" if text == "Pass" else text), ""
    size, cards = len(rest) * 3 // len(main), sorted(rest, key=NAMES.index)
    return main + f"+{size}" * (len(main) // 3), "+" + " ".join(
        "".join(cards[i : i + size]) for i in range(0, len(cards), size)
    )


def plain(text: str) -> str:
    return text.replace("(BWJ)", "B").replace("(CJ)", "R")


def known_to_us_alone(move: tuple[str, str], held: tuple[int, ...]) -> str | None:
    """Which of OpenSpiel's omissions a play of ours falls under: four with two, or a bare run from a rank held four times."""
    base, added = move
    if added and base.startswith(base[0] * 4):
        return FOUR_WITH_TWO
    if (
        not added
        and len(set(base)) > 1
        and base not in ("pass", "BR")
        and held[NAMES.index(base[0])] == 4
    ):
        return RUN_FROM_FOUR
    return None


def known_to_them_alone(move: tuple[str, str], to_beat: Described | None) -> str | None:
    """Which of OpenSpiel's liberties a play of theirs falls under: kickers that repeat a rank, or a bomb on the nuke."""
    base, added = move
    groups = added.removeprefix("+").split()
    if len({group[0] for group in groups}) < len(groups):
        return KICKERS_OF_ONE_RANK
    return BOMB_ON_NUKE if to_beat and to_beat.category == "nuke" and base != "pass" else None


def openspiel_deal(pyspiel_game, choice: random.Random) -> tuple[Any, State]:
    """A random deal in OpenSpiel with player 0 as landlord: he bids first, and bids 3. And the same deal here."""
    theirs = pyspiel_game.new_initial_state()
    theirs.apply_action(
        choice.choice([action for action, _ in theirs.chance_outcomes() if action % 3 == 0])
    )
    while theirs.is_chance_node():
        theirs.apply_action(choice.choice(theirs.chance_outcomes())[0])
    bids = {theirs.action_to_string(action): action for action in theirs.legal_actions()}
    assert theirs.current_player() == 0
    theirs.apply_action(bids["Bid 3"])
    hands = (
        plain(theirs.observation_string(seat)).split("\n")[0].removeprefix("My hand ")
        for seat in range(3)
    )
    return theirs, position(*hands)


def allowed(move: tuple[str, str], to_beat: Described | None) -> bool:
    """What the rules say of a whole play: its cards make that play and no other, and it beats what lies on the table."""
    base, added = move
    whole_play = described(counted(base.split("+")[0] + added))
    return (
        whole_play is not None
        and (whole_play.base, whole_play.kickers) == move
        and (to_beat is None or beats(whole_play, to_beat))
    )


@pytest.mark.parametrize("games", slow_after(1, [50, 3000]))
def test_random_games_agree_with_openspiel(games, record_property):
    """Whole plays, players, ends, winners. A play known to one side only has one of four reasons, and the rules decide."""
    pyspiel = pytest.importorskip("pyspiel")
    pyspiel_game, choice, differences = pyspiel.load_game("dou_dizhu"), random.Random(54), Counter()
    agreed = 0
    translation = cache(translated)
    for _ in range(games):
        theirs, ours = openspiel_deal(pyspiel_game, choice)
        to_beat, passes = None, 0
        while not theirs.is_terminal():
            assert theirs.current_player() == ours.current_player()
            their_moves = {
                translation(theirs.action_to_string(action)): action
                for action in theirs.legal_actions()
            }
            assert len(their_moves) == len(theirs.legal_actions())
            our_moves, held = full_moves(ours), counts_of(ours.facts.hands[ours.current_player()])
            for move in our_moves.keys() | their_moves.keys():
                omission = known_to_us_alone(move, held)
                liberty = known_to_them_alone(move, to_beat)
                assert (move in our_moves, move in their_moves) == (not liberty, not omission), (
                    move,
                    str(ours),
                )
                if omission or liberty:
                    assert allowed(move, to_beat) == (move in our_moves)
                    differences[omission or liberty] += 1
                agreed += move in our_moves and move in their_moves
            move = choice.choice(sorted(our_moves.keys() & their_moves.keys()))
            theirs.apply_action(their_moves[move])
            for action in our_moves[move]:
                ours.apply_action(action)
            passes = passes + 1 if move[0] == "pass" else 0
            if not passes:
                to_beat = described(counted(move[0].split("+")[0] + move[1]))
            elif passes == 2:
                to_beat, passes = None, 0
        assert ours.is_terminal()
        # its returns are stakes, doubled by bombs and by one-sided games: the winners are those who gain
        assert [stake > 0 for stake in theirs.returns()] == [
            reward == 1 for reward in ours.returns()
        ]
    assert set(differences) == DIFFERENCES
    record_property("differences", dict(differences))
    record_property("plays known to both", agreed)
