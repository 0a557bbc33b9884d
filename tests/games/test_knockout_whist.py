"""Knockout Whist: hand-made positions, a second set of rules on lists in lock-step, and deals against brute-force enumeration."""

import itertools
import math
import random
from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

from icarus.compiler import as_compiled, interpret, rng
from icarus.games import cards as _cards
from icarus.games.cards import card_text, cards_in
from icarus.games.knockout_whist import CHOOSE, DEAL, HAND_SEEN, NO_CARD, ROUNDS, knockout_whist
from icarus.kernel import CHANCE, State
from tests.games.scenes import UNLIKELY, apply_texts, card_named, draws, legal_texts
from tests.marks import slow_after

ALL_PLAYERS = range(2, 8)
SUITS = "♣♦♠♥"


def game(players):
    return knockout_whist(players)


def cards(text):
    """A set of cards written like "A♣ 10♦"."""
    return sum(1 << card_named(name) for name in text.split())


def written(each):
    """Cards as `cards` reads them."""
    return " ".join(map(card_text, each))


def position(
    hands, *, trumps="♠", tricks=None, hand_size=None, played="", voids=None, turn_up=NO_CARD
):
    """A round in progress, player 0 to lead; a player whose hand is "out" is out."""
    data = np.zeros(1, game(len(hands)).state)
    facts = data.view(np.recarray)[0]
    for player, hand in enumerate(hands):
        facts.hands[player] = 0 if hand == "out" else cards(hand)
        facts.alive |= (hand != "out") << player
        facts.tricks[player] = tricks[player] if tricks else 0
    for player, suits in (voids or {}).items():
        facts.voids[player] = sum(1 << SUITS.index(suit) for suit in suits)
    facts.played = cards(played)
    facts.deals[:] = rng.seeded(len(hands))
    facts.players = len(hands)
    facts.hand_size = hand_size or len(hands[0].split())
    facts.trumps, facts.turn_up = SUITS.index(trumps), turn_up
    return State(game(len(hands)), data)


def play(state, text):
    """Play the actions written so, each a legal one."""
    apply_texts(state, *text.split(", "))


def held_hands(state):
    """Each player's hand, as an integer."""
    return [int(hand) for hand in state.facts.hands[: state.game.players]]


# ------------------------------------------------------------------------------------------------------------- the rules


@pytest.mark.parametrize("players", ALL_PLAYERS)
def test_each_player_is_dealt_seven_cards_and_the_next_card_names_trumps(players):
    state = game(players).new_initial_state(seed=players)
    facts, hands = state.facts, [cards_in(hand) for hand in held_hands(state)]
    assert [len(hand) for hand in hands] == [7] * players
    assert len({*sum(hands, []), int(facts.turn_up)}) == 7 * players + 1
    assert facts.trumps == facts.turn_up // 13


def test_a_player_without_the_suit_led_may_play_anything_and_has_shown_a_void():
    state = position(["2♣ A♠", "3♦ K♥ 4♠", "5♣ 6♣"])
    play(state, "2♣")
    assert legal_texts(state) == {"3♦", "K♥", "4♠"}
    play(state, "3♦, 6♣")
    assert state.facts.voids[:3].tolist() == [0, 1 << SUITS.index("♣"), 0]


def test_the_winner_of_most_tricks_sees_his_new_hand_and_names_trumps_and_leads():
    state = position(["2♣", "A♣", "3♣"], tricks=[1, 1, 1], hand_size=4)
    play(state, "2♣, A♣, 3♣, deal")
    assert state.current_player() == 1
    assert legal_texts(state) == {"♣ trumps", "♦ trumps", "♠ trumps", "♥ trumps"}
    play(state, "♥ trumps")
    assert state.current_player() == 1
    assert state.facts.trumps == SUITS.index("♥")
    assert set(state.legal_actions()) == set(cards_in(state.facts.hands[1]))


def test_where_trumps_are_named_each_player_is_shown_his_own_hand_and_who_sees_all_each_hand():
    state = position(["2♣", "A♣", "3♣"], tricks=[1, 1, 1], hand_size=4)
    play(state, "2♣, A♣, 3♣, deal")
    assert state.facts.stage == CHOOSE
    hands = [{card_text(card) for card in cards_in(hand)} for hand in held_hands(state)]

    def shown_to(seat):
        rows = state.game.board.scene(state.facts, seat).rows
        return [None if row.items is None else set(row.items) for row in rows]

    assert shown_to(None) == hands
    for seat in range(3):
        assert shown_to(seat) == [hands[i] if i == seat else None for i in range(3)]


def test_a_tie_for_most_tricks_is_drawn_between_the_tied_players_only():
    state = position(["A♣", "2♣", "3♣", "4♣"], tricks=[1, 2, 1, 2], hand_size=7)
    play(state, "A♣, 2♣, 3♣, 4♣")
    assert state.is_chance_node()
    named = {
        state.action_to_string(action): probability
        for action, probability in state.chance_outcomes()
    }
    assert named == {f"player {player} chooses": pytest.approx(1 / 3) for player in (0, 1, 3)}
    play(state, "player 3 chooses")
    assert state.chance_outcomes() == [(DEAL, 1.0)]
    play(state, "deal")
    assert state.current_player() == 3


@pytest.mark.parametrize("players", [1, 8, 0, -3, 2.5, "4", True, None])
def test_other_numbers_of_players_are_refused(players):
    with pytest.raises(ValueError, match=r"from 2 to 7") as refusal:
        game(players)
    assert repr(players) in str(refusal.value)


# -------------------------------------------------------------------------------------------- a second set of rules, on lists


class Table:
    """Knockout Whist once more, written from the rules on lists and names of cards, told the hands at each deal."""

    def __init__(self, hands, trumps):
        self.hands, self.trumps, self.seats = hands, trumps, list(range(len(hands)))
        self.size = ROUNDS
        self.turn = 0
        self.trick = []
        self.taken = Counter()
        self.waiting = "card"

    def choices(self):
        if self.waiting == "draw":
            return {f"player {player} chooses" for player in self.tied()}
        if self.waiting != "card":
            return {"deal"} if self.waiting == "deal" else {f"{suit} trumps" for suit in SUITS}
        hand = self.hands[self.turn]
        follow = [card for card in hand if self.trick and card[-1] == self.trick[0][1][-1]]
        return set(follow or hand)

    def tied(self):
        return [player for player, count in self.taken.items() if count == max(self.taken.values())]

    def do(self, text, hands):
        if self.waiting == "draw":
            self.turn, self.waiting = int(text.split()[1]), "deal"
        elif self.waiting == "deal":
            self.hands, self.taken, self.waiting = hands, Counter(), "trumps"
        elif self.waiting == "trumps":
            self.trumps, self.waiting = text[0], "card"
        else:
            self.card(text)

    def card(self, card):
        self.hands[self.turn].remove(card)
        self.trick.append((self.turn, card))
        self.turn = self.seats[(self.seats.index(self.turn) + 1) % len(self.seats)]
        if len(self.trick) == len(self.seats):
            led = self.trick[0][1][-1]
            order = ["2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"]
            self.turn = max(
                self.trick,
                key=lambda p: (p[1][-1] == self.trumps, p[1][-1] == led, order.index(p[1][:-1])),
            )[0]
            self.taken[self.turn] += 1
            self.trick = []
            if not self.hands[self.turn]:
                self.round_over()

    def round_over(self):
        self.seats = [player for player in self.seats if self.taken[player]]
        self.size -= 1
        self.turn = self.tied()[0]
        self.waiting = "end" if len(self.seats) == 1 else "draw" if len(self.tied()) > 1 else "deal"


def named_hands(state):
    return [[card_text(card) for card in cards_in(hand)] for hand in held_hands(state)]


@pytest.mark.parametrize("games", slow_after(1, [10, 200]))
@pytest.mark.parametrize("players", slow_after(3, [2, 4, 7, 3, 5, 6]))
def test_random_games_agree_with_the_rules_on_lists(players, games):
    rounds = set()
    for seed in range(games):
        choose, state = random.Random(seed), game(players).new_initial_state(seed)
        table = Table(named_hands(state), card_text(int(state.facts.turn_up))[-1])
        while not state.is_terminal():
            rounds.add(table.size)
            assert legal_texts(state) == table.choices()
            assert len(state.legal_actions()) == len(table.choices()) <= state.game.max_legal
            assert state.current_player() == (
                CHANCE if table.waiting in ("draw", "deal") else table.turn
            )
            if table.waiting in ("trumps", "card"):
                assert [set(hand) for hand in named_hands(state)] == [
                    set(hand) for hand in table.hands
                ]
            action = choose.choice(state.legal_actions())
            text = state.action_to_string(action)
            state.apply_action(action)
            table.do(text, named_hands(state))
        assert table.waiting == "end"
        assert state.returns() == [float(player in table.seats) for player in range(players)]
    assert min(rounds) <= 2, "some games go nearly to the end"


# ------------------------------------------------------------------------------------------------- what each player sees


def test_each_player_sees_the_deal_as_his_own_hand_and_the_environment_as_the_action():
    state = position(["2♣", "A♣", "3♣"], tricks=[1, 1, 0], hand_size=4)
    play(state, "2♣, A♣, 3♣, deal")
    hands = held_hands(state)
    assert [state.moves(player)[-1] for player in range(3)] == [HAND_SEEN | hand for hand in hands]
    assert hands[2] == 0, "who is out sees no cards"
    assert state.moves(CHANCE)[-1] == DEAL
    assert max(DEAL, *cards_in(_cards.PACK)) < HAND_SEEN, "no hand looks like an action"
    assert HAND_SEEN & int(_cards.PACK) == 0, "no hand looks like an action"


# ------------------------------------------------------------------------------------------------------- determinization


def drawn_hands(state, observer, number, seed):
    """How often each tuple of hands is drawn in `number` determinizations."""
    hands = draws(state, observer, number, seed)["hands"][:, : state.game.players]
    return Counter(map(tuple, hands.tolist()))


def deals(unseen, sizes, barred):
    """Every way to give hands of these sizes from the cards `unseen` (a list), card `c` never to hand h where barred(h, c)."""
    if not sizes:
        yield ()
        return
    for hand in itertools.combinations([card for card in unseen if not barred(0, card)], sizes[0]):
        rest = [card for card in unseen if card not in hand]
        for others in deals(rest, sizes[1:], lambda h, c: barred(h + 1, c)):
            yield (sum(1 << card for card in hand), *others)


UNEVEN = ["5♣ 6♦", "2♣ 3♣", "2♠ 3♠", "2♥ 3♦"]  # observer 0; four other cards are in the stock
UNEVEN_STOCK = "4♣ 7♦ 4♠ 4♥"


def uneven_position():
    """Six cards in three hidden hands and four in the stock: player 1 has shown voids in ♠ and ♦, 2 in ♥, 3 in ♣."""
    rest = set(range(52)) - set(cards_in(cards(" ".join([*UNEVEN, UNEVEN_STOCK]))))
    return position(UNEVEN, played=" ".join(map(card_text, rest)), voids={1: "♠♦", 2: "♥", 3: "♣"})


def uneven_deals():
    barred = {0: (1, 2), 1: (3,), 2: (0,)}
    unseen = sorted(cards_in(cards(" ".join([*UNEVEN[1:], UNEVEN_STOCK]))))
    own_hand = cards(UNEVEN[0])
    return [
        (own_hand, *hands)
        for hands in deals(unseen, [2, 2, 2], lambda hand, card: card // 13 in barred[hand])
    ]


def test_determinizations_are_uniform_where_dealing_hand_by_hand_is_not():
    expected = uneven_deals()
    drawn = drawn_hands(uneven_position(), 0, 30 * len(expected), seed=3)
    assert set(drawn) == set(expected)
    assert chisquare([drawn[hands] for hands in expected]).pvalue > UNLIKELY

    choose, naive = random.Random(3), Counter()
    for _ in range(10 * len(expected)):
        remaining = cards_in(cards(" ".join([*UNEVEN[1:], UNEVEN_STOCK])))
        hands = [cards(UNEVEN[0])]
        for suits in ((1, 2), (3,), (0,)):
            held = choose.sample([card for card in remaining if card // 13 not in suits], 2)
            remaining = [card for card in remaining if card not in held]
            hands.append(sum(1 << card for card in held))
        naive[tuple(hands)] += 1
    assert chisquare([naive[hands] for hands in expected]).pvalue < 1e-9, (
        "the position tells the two apart"
    )


# ------------------------------------------------------------------------------------------------------ constrained deals


def random_position(seed):
    """Up to four hidden hands of up to three cards, suits barred at random, a stock, and the deals that agree with what player 0 sees."""
    choose = random.Random(seed)
    sizes = [choose.randint(0, 3) for _ in range(choose.randint(1, 4))]
    own, turn_up, *unseen = choose.sample(range(52), 2 + sum(sizes) + choose.randint(0, 2))
    rest = iter(unseen)
    hidden = [written(itertools.islice(rest, size)) for size in sizes]
    voids = {1 + i: [suit for suit in SUITS if choose.random() < 0.3] for i in range(len(sizes))}
    played = written(set(range(52)) - {own, turn_up, *unseen})
    state = position([card_text(own), *hidden], played=played, voids=voids, turn_up=turn_up)
    agreeing = deals(
        sorted(unseen), sizes, lambda hand, card: card_text(card)[-1] in voids[1 + hand]
    )
    return state, ((1 << own, *hands) for hands in agreeing), len(unseen)


def test_deals_are_uniform_for_any_sizes_and_voids():
    several = impossible = 0
    for seed in range(150):
        state, agreeing, hidden = random_position(seed)
        if hidden > 8:
            continue
        expected = list(agreeing)
        if not expected:
            impossible += 1
            with pytest.raises(ValueError, match="no deal agrees"):
                state.beliefs(0)
        elif len(expected) < 500:
            drawn = drawn_hands(state, 0, 12 * len(expected), seed)
            assert set(drawn) == set(expected)
            assert (
                len(expected) == 1
                or chisquare([drawn[hands] for hands in expected]).pvalue > UNLIKELY
            )
            several += len(expected) > 1
    assert several > 30
    assert impossible > 10


def test_a_single_card_may_be_barred():
    deal = np.zeros(1, np.dtype(_cards.deal_fields(2), align=True))
    facts = deal.view(np.recarray)[0]
    facts.unseen, facts.sizes[:], facts.barred[0] = cards("2♣ 3♣ 4♣ 5♦"), 2, cards("3♣")
    generator, drawn = rng.seeded(1), Counter()
    with np.errstate(over="ignore"):
        interpret(_cards.prepare_deal)(as_compiled(deal[0]))
        for _ in range(90):
            interpret(_cards.draw_deal)(as_compiled(deal[0]), generator)
            drawn[int(facts.dealt[0])] += 1
    assert set(drawn) == {cards("2♣ 4♣"), cards("2♣ 5♦"), cards("4♣ 5♦")}
    assert chisquare([*drawn.values()]).pvalue > UNLIKELY


def splits(size, room, barred):
    """Every way to take `size` cards from suits with this much room, none from the barred suits."""
    for taken in itertools.product(
        *(range(1 if suit in barred else most + 1) for suit, most in zip(SUITS, room, strict=True))
    ):
        if sum(taken) == size:
            yield taken


@pytest.mark.parametrize("barred", [["", "", ""], ["♣", "", ""], ["♣", "♦", ""], ["♣♦", "♦", "♠"]])
def test_the_ways_of_a_large_deal_are_counted_exactly(barred):
    """39 cards to three hands of 13, suits barred, in exact integers: products of binomials over all splits into suits."""
    unseen = [card for card in range(52) if card % 4]
    room = [sum(card // 13 == suit for card in unseen) for suit in range(4)]
    exact = 0
    for first in splits(13, room, barred[0]):
        remaining = [n - taken for n, taken in zip(room, first, strict=True)]
        for second in splits(13, remaining, barred[1]):
            if not any(
                n > taken and suit in barred[2]
                for suit, n, taken in zip(SUITS, remaining, second, strict=True)
            ):
                exact += math.prod(map(math.comb, room, first)) * math.prod(
                    map(math.comb, remaining, second)
                )
    state = position(
        [written(range(0, 52, 4)), *(written(unseen[13 * i :][:13]) for i in range(3))],
        voids=dict(enumerate(barred, 1)),
        hand_size=ROUNDS,
    )
    (deal,) = state.beliefs(0)
    merged = [int(size) for size in deal["group_sizes"][: deal["groups"]]]
    # A group is split among its hands afterwards.
    within = math.prod(map(math.factorial, merged)) // math.factorial(13) ** 3
    assert deal["total"] * within == pytest.approx(exact, rel=1e-13)
