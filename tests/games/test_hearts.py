"""Hearts: the rules by hand-made rounds and against OpenSpiel, and determinizations against a brute-force oracle.

The oracle is plain Python: sets of cards, the rules once more, and all deals of the unseen cards that make the whole
round, as the observer saw it, legal.
"""

import collections
import functools
import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pyspiel
import pytest
import scipy.stats

from icarus.games.hearts import (
    CARD_PASSED,
    DEAL,
    DEALING,
    ENDED,
    EXCHANGE,
    HEARTS,
    PASS,
    PLAYING,
    hearts,
)
from icarus.kernel import CHANCE, State, facts_of
from tests.games.scenes import UNLIKELY, card_named, draws
from tests.marks import slow_after

ALL = set(range(52))
SUIT_HEARTS = {card for card in ALL if card // 13 == 3}
QUEEN = card_named("Q♠")
POINT_CARDS = SUIT_HEARTS | {QUEEN}
LEFT, RIGHT, ACROSS, NO_PASS = range(4)  # round numbers of the four kinds
RECEIVER = (1, 3, 2, 0)  # seats from the passer


def cards(text: str) -> set[int]:
    return {card_named(name) for name in text.split()}


def bits(held: set[int]) -> np.uint64:
    return np.uint64(sum(1 << card for card in held))


def members(word: int) -> set[int]:
    return {card for card in range(52) if int(word) >> card & 1}


def suit(symbol: str) -> set[int]:
    return {card for card in ALL if card // 13 == "♣♦♠♥".index(symbol)}


def new_round(
    hands: list[set[int]],
    number: int = NO_PASS,
    scores: tuple[int, ...] = (0, 0, 0, 0),
    threshold: int = 50,
) -> State:
    """A round about to be dealt, with these hands and scores; the first round begins with the passes."""
    assert set().union(*hands) == ALL
    assert all(len(hand) == 13 for hand in hands)
    record = HEARTS.new_initial_state(seed=1).data.copy()
    facts = record.view(np.recarray)[0]
    facts.held, facts.scores, facts.threshold = [bits(hand) for hand in hands], scores, threshold
    facts.round_number = number
    if number > 0:
        facts.phase, facts.player = DEALING, CHANCE
    return State(HEARTS, record)


def dealt(hands: list[set[int]], **rest: object) -> State:
    """A round without passing, at ♣2's lead."""
    state = new_round(hands, **rest)
    state.apply_action(DEAL)
    return state


def filled(*hands: set[int]) -> list[set[int]]:
    """Four hands of 13, filled up in order with the cards that nobody holds."""
    rest = sorted(ALL - set().union(*hands))
    complete = []
    for hand in (*hands, *[set()] * (4 - len(hands))):
        missing = 13 - len(hand)
        complete.append(hand | set(rest[:missing]))
        rest = rest[missing:]
    return complete


def shuffled(random: np.random.Generator, lumps: bool) -> list[set[int]]:
    """Four random hands; `lumps`: almost whole suits, so that rare rules come into play."""
    if lumps:
        deck = list(
            itertools.chain.from_iterable(
                random.permutation([sorted(suit(symbol)) for symbol in "♣♦♠♥"]).tolist()
            )
        )
        for _ in range(int(random.integers(8))):
            i, j = random.integers(52, size=2)
            deck[i], deck[j] = deck[j], deck[i]
    else:
        deck = random.permutation(52).tolist()
    return [set(deck[13 * i : 13 * i + 13]) for i in range(4)]


def play(state: State, text: str) -> None:
    for name in text.split():
        state.apply_action(card_named(name))


def act_at_random(state: State, random: np.random.Generator) -> None:
    state.apply_action(int(random.choice(state.legal_actions())))


def at_random(state: State, random: np.random.Generator, plays: int) -> State:
    """Go on at random until so many cards are played in this round."""
    while int(state.facts.played).bit_count() < plays:
        act_at_random(state, random)
    return state


def to_the_end(state: State, random: np.random.Generator) -> State:
    """Go on at random until the round has ended."""
    while state.facts.phase not in (DEALING, ENDED):
        act_at_random(state, random)
    return state


# ------------------------------------------------------------------------------------------------ the rules, once more


def allowed(hand: set[int], trick: list[int], first_trick: bool, broken: bool) -> set[int]:
    """The cards that the rules let a player play."""
    if first_trick and not trick:
        return hand & {card_named("2♣")}
    if not trick:
        return hand if broken else hand - SUIT_HEARTS or hand
    following = {card for card in hand if card // 13 == trick[0] // 13}
    return following or (hand - POINT_CARDS if first_trick else hand) or hand


def following(hand: set[int], trick: list[int], first_trick: bool, broken: bool) -> set[int]:
    """What would be allowed if suits had to be followed and nothing else."""
    return {card for card in hand if trick and card // 13 == trick[0] // 13} or hand


def lawful(hands: list[set[int]], plays: list[tuple[int, int]], rule: Callable = allowed) -> bool:
    """Whether these hands at the first lead allow these plays, (player, card), one after the other."""
    hands, trick, broken = [set(hand) for hand in hands], [], False
    for number, (player, card) in enumerate(plays):
        if card not in rule(hands[player], trick, number < 4, broken):
            return False
        hands[player].remove(card)
        broken = broken or card in POINT_CARDS
        trick = [*trick, card] if len(trick) < 3 else []
    return True


class Knowledge:
    """What a player knows of the round under way, from his own cards and the history of actions alone."""

    def __init__(self, state: State, observer: int) -> None:
        facts, self.observer = state.facts, observer
        since = max(
            (n + 1 for n, (_, action) in enumerate(state.history) if action == DEAL), default=0
        )
        self.offset = RECEIVER[int(facts.round_number) % 4]
        done = state.history[since:]
        self.plays = [(player, action) for player, action in done if action < PASS]
        self.passed = {
            action - PASS
            for player, action in done
            if player == observer and PASS <= action < EXCHANGE
        }
        played = {card for _, card in self.plays}
        self.hand = members(facts.held[observer] & ~facts.played)
        self.unseen = ALL - played - self.hand
        self.others = [(observer + k) % 4 for k in (1, 2, 3)]
        self.sizes = [
            13 - sum(player == opponent for player, _ in self.plays) for opponent in self.others
        ]
        self.shown = [{card for player, card in self.plays if player == i} for i in range(4)]

    def agrees(self, hidden: list[set[int]], rule: Callable = allowed) -> bool:
        """Whether these hands of the three others, now, agree with all that was seen."""
        held = [set(), set(), set(), set()]
        held[self.observer] = self.hand | self.shown[self.observer]
        for opponent, hand in zip(self.others, hidden, strict=True):
            held[opponent] = hand | self.shown[opponent]
        receiver = (self.observer + self.offset) % 4
        return self.passed <= held[receiver] and lawful(held, self.plays, rule)

    def deals(self, rule: Callable = allowed) -> Iterator[tuple[frozenset[int], ...]]:
        """All hands of the three others that agree."""
        for a in itertools.combinations(sorted(self.unseen), self.sizes[0]):
            rest = self.unseen - set(a)
            for b in itertools.combinations(sorted(rest), self.sizes[1]):
                hidden = [set(a), set(b), rest - set(b)]
                if self.agrees(hidden, rule):
                    yield tuple(map(frozenset, hidden))


def p_value(counted: collections.Counter, cells: int) -> float:
    """Of a chi-square test that all cells are equally likely."""
    observed = [*counted.values(), *[0] * (cells - len(counted))]
    return scipy.stats.chisquare(observed).pvalue


# ------------------------------------------------------------------------------------------------------- deal and passes


def test_a_game_begins_with_thirteen_cards_each_and_player_0_passing():
    state = HEARTS.new_initial_state(seed=5)
    hands = [members(word) for word in state.facts.held]
    assert [len(hand) for hand in hands] == [13] * 4
    assert set().union(*hands) == ALL
    assert state.current_player() == 0
    assert set(state.legal_actions()) == {PASS + card for card in hands[0]}


@pytest.mark.parametrize(
    "number, offset", [(LEFT, 1), (RIGHT, 3), (ACROSS, 2), (NO_PASS + 1, 1), (NO_PASS + 2, 3)]
)
def test_three_cards_go_left_right_and_across_in_turn(number, offset):
    random = np.random.default_rng(number)
    hands = shuffled(random, lumps=False)
    state = new_round(hands, number)
    if number > 0:
        assert state.legal_actions() == [DEAL]
        state.apply_action(DEAL)
    passed: list[set[int]] = [set() for _ in range(4)]
    for passer in [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]:
        assert state.current_player() == passer
        assert set(state.legal_actions()) == {
            PASS + card for card in hands[passer] - passed[passer]
        }
        act_at_random(state, random)
        passed[passer].add(state.history[-1][1] - PASS)
    assert state.is_chance_node()
    assert state.legal_actions() == [EXCHANGE]
    assert state.chance_outcomes() == [(EXCHANGE, 1.0)]
    state.apply_action(EXCHANGE)
    for i in range(4):
        assert members(state.facts.held[i]) == hands[i] - passed[i] | passed[(i - offset) % 4]
    assert card_named("2♣") in members(state.facts.held[state.current_player()])


# ---------------------------------------------------------------------------------------------------------------- tricks


def two_and_two() -> State:
    """0 holds the clubs but A♣ Q♣, with 3♦ A♦; 1 the other diamonds and A♣ Q♣; 2 the spades; 3 the hearts."""
    return dealt(
        [
            suit("♣") - cards("A♣ Q♣") | cards("3♦ A♦"),
            suit("♦") - cards("3♦ A♦") | cards("A♣ Q♣"),
            suit("♠"),
            suit("♥"),
        ]
    )


def test_the_highest_card_of_the_suit_led_takes_the_trick_and_leads():
    state = two_and_two()
    play(state, "2♣ Q♣ A♠ A♥")
    assert state.current_player() == 1
    assert state.facts.points.tolist() == [0, 1, 0, 0]
    play(state, "2♦ Q♠ K♥ 3♦")
    assert state.current_player() == 0
    assert state.facts.points.tolist() == [14, 1, 0, 0]


# ---------------------------------------------------------------------------------------------------------------- scores


def whole_suits(scores: tuple[int, ...] = (0, 0, 0, 0)) -> State:
    """Player 0 holds the clubs: all tricks are his."""
    return dealt([suit("♣"), suit("♦"), suit("♥"), suit("♠")], scores=scores)


def test_who_takes_all_26_points_gives_26_to_each_of_the_others():
    state = at_random(whole_suits(), np.random.default_rng(1), 51)
    assert state.facts.points[0] < 26
    act_at_random(state, np.random.default_rng(1))
    assert state.facts.phase == DEALING
    assert state.facts.scores.tolist() == [0, 26, 26, 26]


@pytest.mark.parametrize(
    "scores, final, rewards",
    [
        ((30, 30, 0, 20), [30, 56, 26, 46], [0.5, 0.0, 1.0, 0.5]),
        ((40, 40, 0, 0), [40, 66, 26, 26], [0.5, 0.0, 1.0, 1.0]),
        ((0, 24, 24, 20), [0, 50, 50, 46], [1.0, 0.5, 0.5, 0.5]),
    ],
)
def test_the_game_ends_when_someone_reaches_the_threshold(scores, final, rewards):
    state = to_the_end(whole_suits(scores), np.random.default_rng(2))
    assert state.is_terminal()
    assert state.facts.scores.tolist() == final
    assert state.returns() == rewards


def test_the_game_goes_on_while_all_are_below_the_threshold():
    state = to_the_end(whole_suits((49, 23, 23, 23)), np.random.default_rng(2))
    assert state.facts.scores.tolist() == [49, 49, 49, 49]
    assert not state.is_terminal()


def placed(scores: list[int]) -> list[float]:
    """The rewards: by the better of the places that equal scores share."""
    places = [1 + sum(rival < score for rival in scores) for score in scores]
    return [{1: 1.0, 4: 0.0}.get(place, 0.5) for place in places]


@pytest.mark.parametrize(
    "scores, rewards",
    [
        ((50, 40, 30, 20), [0.0, 0.5, 0.5, 1.0]),
        ((50, 20, 20, 30), [0.0, 1.0, 1.0, 0.5]),
        ((50, 50, 20, 30), [0.5, 0.5, 1.0, 0.5]),
        ((50, 50, 50, 30), [0.5, 0.5, 0.5, 1.0]),
        ((60, 50, 50, 50), [0.0, 1.0, 1.0, 1.0]),
        ((55, 55, 55, 55), [1.0, 1.0, 1.0, 1.0]),
    ],
)
def test_equal_scores_share_the_better_place(scores, rewards):
    state = HEARTS.new_initial_state()
    facts_of(state.data).phase = ENDED
    facts_of(state.data).player = -4
    facts_of(state.data).scores = scores
    assert state.returns() == rewards == placed(list(scores))


def test_the_threshold_is_a_parameter():
    game = hearts(threshold=100)
    assert str(game) == "hearts(threshold=100)"
    assert game.new_initial_state().facts.threshold == 100
    random = np.random.default_rng(3)
    state = game.new_initial_state(seed=3)
    while not state.is_terminal():
        highest = max(state.facts.scores)
        assert highest < 100
        act_at_random(state, random)
    assert max(state.facts.scores) >= 100


@pytest.mark.parametrize("threshold", [0, -1, 10_001, "50", 50.0])
def test_a_threshold_that_makes_no_sense_is_refused(threshold):
    with pytest.raises(ValueError, match="threshold"):
        hearts(threshold)


# ------------------------------------------------------------------------------------------------------------- OpenSpiel


@functools.cache
def openspiel() -> tuple[pyspiel.Game, dict[int, int]]:
    """Their game, and our card for each of theirs, by name. All of its parameters at their defaults are our rules."""
    game = pyspiel.load_game("hearts")
    state = game.new_initial_state()
    state.apply_action(0)
    symbols = dict(zip("CDSH", "♣♦♠♥", strict=True))
    ours = {}
    for action in state.legal_actions():
        name = state.action_to_string(action)
        ours[action] = card_named(name[0].replace("T", "10") + symbols[name[1]])
    return game, ours


def lock_step(random: np.random.Generator, number: int, lumps: bool) -> None:
    """One round in both games: same player, same legal cards at every decision, same points."""
    game, ours = openspiel()
    theirs = {card: action for action, card in ours.items()}
    hands = shuffled(random, lumps)
    state, referee = new_round(hands, number), game.new_initial_state()
    referee.apply_action(RECEIVER[number])
    for card in itertools.chain.from_iterable(zip(*map(sorted, hands), strict=True)):
        referee.apply_action(theirs[card])
    while not referee.is_terminal():
        if state.is_chance_node():
            state.apply_action(state.legal_actions()[0])
            continue
        legal = state.legal_actions()
        assert state.current_player() == referee.current_player()
        assert sorted(action % PASS for action in legal) == sorted(
            ours[action] for action in referee.legal_actions()
        )
        action = int(random.choice(legal))
        state.apply_action(action)
        referee.apply_action(theirs[action % PASS])
    assert state.facts.phase == DEALING
    assert state.facts.scores.tolist() == [26 - value for value in referee.returns()]


@pytest.mark.parametrize("rounds", slow_after(1, [20, 1000]))
@pytest.mark.parametrize("lumps", [False, True], ids=["random deals", "almost whole suits"])
@pytest.mark.parametrize("number", [LEFT, RIGHT, ACROSS, NO_PASS])
def test_rounds_in_lock_step_with_openspiel(number, lumps, rounds):
    random = np.random.default_rng((number, lumps))
    for _ in range(rounds):
        lock_step(random, number, lumps)


# ----------------------------------------------------------------------------------------------------- what players see


def test_a_pass_shows_the_others_only_that_a_card_was_passed():
    state = HEARTS.new_initial_state(seed=2)
    act_at_random(state, np.random.default_rng(2))
    ((_, action),) = state.history
    assert state.moves(0) == (action,) == state.moves(CHANCE)
    assert all(state.moves(i) == (CARD_PASSED,) for i in (1, 2, 3))


def test_the_exchange_shows_each_player_what_he_receives():
    """Two histories differ for a player exactly if his own cards, his passes, what he got or the leader differ."""
    random, hands = np.random.default_rng(3), filled()
    views: dict[tuple, set] = collections.defaultdict(set)
    for _ in range(120):
        state = new_round(hands, LEFT)
        while state.facts.phase != PLAYING:
            state.apply_action(int(random.choice(state.legal_actions()[-4:])))
        for i in range(4):
            actions = tuple(action for player, action in state.history if player == i)
            information = (actions, int(state.facts.held[i]), state.current_player())
            views[i, information].add(state.moves(i))
    moves = [sequence for sequences in views.values() for sequence in sequences]
    assert all(len(sequences) == 1 for sequences in views.values())
    assert len(views) > 200
    by_player = collections.Counter(
        (i, next(iter(sequences))) for (i, _), sequences in views.items()
    )
    assert max(by_player.values()) == 1
    assert all(min(sequence) < 0 for sequence in moves)


STATES = 290  # of five rounds


def positions(random: np.random.Generator) -> Iterator[State]:
    """Every state of the first rounds of random play: of each way to pass, and of none."""
    state = HEARTS.new_initial_state(seed=int(random.integers(1 << 31)))
    for _ in range(STATES):
        yield state
        if state.is_terminal():
            return
        act_at_random(state, random)


# -------------------------------------------------------------------------------------------------------- determinization


ENDINGS = 16
MOST_DEALS = 900


@pytest.mark.parametrize(
    "lumps", slow_after(1, [True, False]), ids=["almost whole suits", "random deals"]
)
def test_in_endings_all_deals_that_agree_are_equally_likely(lumps):
    random, p_values = np.random.default_rng((14, lumps)), []
    while len(p_values) < ENDINGS:
        state = new_round(shuffled(random, lumps), len(p_values) % 4)
        at_random(state, random, int(random.integers(38, 46)))
        observer = int(random.integers(4))
        knowledge = Knowledge(state, observer)
        deals = set(knowledge.deals())
        if not 1 < len(deals) <= MOST_DEALS:
            continue
        drawn = draws(state, observer, 30 * len(deals), seed=len(p_values))
        hands = drawn["held"] & ~drawn["played"][:, None]
        counted = collections.Counter(tuple(map(int, hand[knowledge.others])) for hand in hands)
        assert set(counted) <= {tuple(int(bits(set(hand))) for hand in deal) for deal in deals}
        p_values.append(p_value(counted, len(deals)))
    assert min(p_values) > UNLIKELY
    assert scipy.stats.kstest(p_values, "uniform").pvalue > UNLIKELY


def led_unbroken(seed: int) -> State:
    """A round, without points as long as possible, until a heart is led unbroken."""
    random = np.random.default_rng(seed)
    state = dealt(shuffled(random, lumps=False))
    while not state.facts.broken:
        legal = state.legal_actions()
        state.apply_action(
            int(random.choice([card for card in legal if card not in POINT_CARDS] or legal))
        )
    assert state.facts.count == 1
    assert state.facts.trick[0] in SUIT_HEARTS
    return state


def after(hands: list[set[int]], opening: str) -> State:
    state = dealt(hands)
    play(state, opening)
    return state


ONLY_POINTS = filled(cards("2♣"), cards("Q♠") | SUIT_HEARTS - cards("A♥"))


@pytest.mark.parametrize(
    "start, shower, plays",
    [
        (lambda: after(ONLY_POINTS, "2♣ 2♥"), 1, 40),
        (lambda: after(ONLY_POINTS, "2♣ Q♠"), 1, 40),
        (lambda: led_unbroken(10), 3, 41),
    ],
    ids=["a heart in the first trick", "♠Q in the first trick", "a heart led unbroken"],
)
@pytest.mark.parametrize("place", [1, 2, 3])
def test_what_a_forced_play_shows_beyond_voids_is_used(start, shower, plays, place):
    state = at_random(start(), np.random.default_rng(2), plays)
    observer = (shower + place) % 4
    knowledge = Knowledge(state, observer)
    deals = set(knowledge.deals())
    assert 0 < len(deals) < len(set(knowledge.deals(rule=following)))
    counted = collections.Counter(
        tuple(map(int, held[knowledge.others] & ~state.facts.played))
        for held in draws(state, observer, 40 * len(deals))["held"]
    )
    assert set(counted) == {tuple(int(bits(set(hand))) for hand in deal) for deal in deals}
    assert len(deals) == 1 or p_value(counted, len(deals)) > UNLIKELY


def test_cards_given_and_received_are_known():
    random = np.random.default_rng(15)
    for number in (LEFT, RIGHT, ACROSS):
        state = new_round(shuffled(random, lumps=False), number)
        at_random(state, random, 1)
        giver, receiver = (3 * RECEIVER[number] + 1) % 4, (RECEIVER[number] + 1) % 4
        for record in draws(state, 1, 200):
            assert record["passed"][1].tolist() == state.facts.passed[1].tolist()
            assert set(record["passed"][giver]) == set(state.facts.passed[giver]) or giver == 1
            assert set(record["passed"][1].tolist()) <= members(record["held"][receiver])


# ---------------------------------------------------------------------------------------------------- rounds to come


def test_a_determinized_state_ends_with_the_round_and_its_rewards_are_a_function_of_it():
    random = np.random.default_rng(18)
    for seed in range(20):
        state = at_random(HEARTS.new_initial_state(seed=seed), random, int(random.integers(40)))
        search = state.determinize(max(state.current_player(), 0), seed=seed)
        while not search.is_terminal():
            act_at_random(search, random)
        assert search.facts.phase == ENDED
        assert max(search.facts.scores) < 50
        assert sum(search.facts.scores) in (26, 78)
        assert search.returns() == search.returns() == search.clone().returns()
        assert max(search.returns()) == 1.0
