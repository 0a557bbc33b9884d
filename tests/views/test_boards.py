"""Boards and card tables: that they show what is there, and to a seat nothing that it may not see."""

import itertools
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence

import attrs
import numpy as np
import pytest

from icarus import BASELINE, games, search
from icarus.engine.inspect import search_tree
from icarus.games.cards import card_text
from icarus.kernel import PythonGame, State, shuffle
from icarus.views import boards
from icarus.views.boards import BOARDS, drawing, parts

SVG = "{http://www.w3.org/2000/svg}"


def random_states(game: str, seeds: range, every: int = 3):
    """States along random games."""
    for seed in seeds:
        state, luck = games.load(game).new_initial_state(seed=seed), np.random.default_rng(seed)
        while not state.is_terminal() and len(state.history) < 120:
            if len(state.history) % every == 0:
                yield state
            state.apply_action(int(luck.choice(state.legal_actions())))
        yield state


LONG = ("hearts", "knockout-whist", "lotr-confrontation")
SHIPPED = games.names()  # before a test brings games of its own


@pytest.mark.parametrize("game", SHIPPED)
def test_pictures_are_whole_at_every_state_for_every_seat(game: str) -> None:
    for state in random_states(game, range(1), every=13):
        for seat in (None, *range(state.game.players)):
            picture = drawing(state, seat)
            root = ElementTree.fromstring(picture.svg())
            assert root.tag == f"{SVG}svg" and "NaN" not in picture.svg()
            assert picture.text().strip() and max(map(len, picture.text().split("\n"))) <= 100


@pytest.mark.parametrize("game", [name for name in BOARDS if games.load(name).determinize is not None])
def test_two_states_that_a_seat_cannot_tell_apart_look_the_same_to_it(game: str) -> None:
    looked, hidden = 0, 0
    for state in random_states(game, range(2), every=19 if game in LONG else 9):
        if state.is_terminal() or state.is_chance_node():
            continue
        for seat in range(state.game.players):
            shown, open_ = drawing(state, seat), drawing(state)
            for seed in range(1, 4):
                determinization = state.determinize(seat, seed=seed)
                assert drawing(determinization, seat, drawn_for=True).svg() == shown.svg()
                assert drawing(determinization, seat, drawn_for=True).text() == shown.text()
                hidden += drawing(determinization, drawn_for=True).text() != open_.text()
            looked += 1
    assert looked > 2 and hidden > 0


def test_in_hearts_a_seat_reads_its_own_cards_and_those_on_the_table_and_no_others() -> None:
    state = games.load("hearts").new_initial_state(seed=5)
    luck = np.random.default_rng(1)
    for _ in range(12 + 1 + 22):
        state.apply_action(int(luck.choice(state.legal_actions())))
    facts, seat = state.facts, 2
    hand = {card_text(card) for card in range(52) if (int(facts.held[seat]) & ~int(facts.played)) >> card & 1}
    table = {card_text(int(card)) for card in facts.trick[: facts.count]}
    assert set(re.findall(r"\d+[♣♦♠♥]|[JQKA][♣♦♠♥]", drawing(state, seat).text())) == hand | table


@pytest.mark.parametrize("game", ["othello", "checkers", "hearts"])
def test_what_one_clicks_to_play_is_in_the_picture(game: str) -> None:
    clicked = 0
    for state in random_states(game, range(2), every=5):
        if state.is_terminal() or state.is_chance_node():
            continue
        picture = drawing(state, state.current_player()).svg()
        ways = [parts(state, action) for action in state.legal_actions()]
        assert len({way for way in ways if way}) == sum(map(bool, ways))
        for way in ways:
            assert all(f'data-part="{name}"' in picture for name in way)
            clicked += bool(way)
    assert clicked > 20


def test_a_state_inside_a_search_is_drawn_without_being_dealt_anew() -> None:
    state = games.load("lotr-confrontation").new_initial_state(seed=1)
    tree = search_tree(search(state, BASELINE, iterations=200, seed=1))
    for node in range(0, len(tree), 29):
        assert "?" in drawing(tree.state(node), 1, drawn_for=True).text()


def dealt(names: Sequence[str]) -> PythonGame:
    """Ten cards: three for each of two players, who see their own, and a deck; the text names all of them."""

    def redealt(cards: list[int], rng: np.ndarray, seat: int) -> list[int]:
        hand = slice(3 * seat, 3 * seat + 3)
        others = np.array([card for card in range(10) if card not in cards[hand]])
        shuffle(rng, others, 7)
        drawn = others.tolist()
        return cards[hand] + drawn if seat == 0 else drawn[:3] + cards[hand] + drawn[3:]

    def text(cards: list[int]) -> str:
        hands = [" ".join(names[card] for card in sorted(cards[i : i + 3])) for i in (0, 3)]
        deck = " ".join(names[card] for card in sorted(cards[6:]))
        return f"hands: {hands[0]} ; {hands[1]} ; deck: {deck} ; to move 0"

    return PythonGame(
        name="dealt",
        players=2,
        initial=lambda rng: list(range(10)),
        player=lambda cards: 0,
        legal=lambda cards: [0],
        apply=lambda cards, action: None,
        rewards=lambda cards: (0.5, 0.5),
        text=text,
        observation=lambda cards, seat: cards[3 * seat : 3 * seat + 3],
        determinize=lambda cards, observer, beliefs, rng: redealt(cards, rng, observer),
    )


def state_of(game: PythonGame, cards: Sequence[int]) -> State:
    return State(game, list(cards))


CARDS = [colour + str(value) for colour in "RB" for value in range(1, 6)]


def test_a_game_without_a_picture_shows_a_seat_what_is_certain_and_nothing_else() -> None:
    luck, game = np.random.default_rng(3), dealt(CARDS)
    for _ in range(40):
        order = luck.permutation(10).tolist()
        rest = set(order[3:])
        possible = [game.text([*order[:3], *hand, *(rest - set(hand))]) for hand in itertools.combinations(rest, 3)]
        words = zip(*(text.split(" ") for text in possible), strict=True)
        certain = " ".join(each[0] if len(set(each)) == 1 else "?" for each in words)
        assert drawing(state_of(game, order), 0).text() == certain


def test_a_view_without_an_observation_says_that_it_is_estimated() -> None:
    game = attrs.evolve(dealt(CARDS), observation=None)
    assert drawing(state_of(game, range(10)), 0).text().endswith("\n" + boards.ESTIMATED)


def test_where_a_determinization_takes_long_a_text_is_made_of_a_few(monkeypatch: pytest.MonkeyPatch) -> None:
    game, seconds, draws = dealt(CARDS), itertools.count(), list[int]()
    counted = attrs.evolve(game, determinize=lambda *given: draws.append(1) or game.determinize(*given))
    monkeypatch.setattr(boards.time, "monotonic", lambda: next(seconds))
    assert drawing(state_of(counted, range(10)), 0).text().startswith("hands: R1 R2 R3 ; ")
    assert len(draws) == 1 + boards.FEWEST  # one to be drawn from


def test_what_is_certain_of_a_hidden_card_is_shown() -> None:
    names = [*CARDS[:5], "B1", "B1", "B1", "B1", "B1"]
    shown = drawing(state_of(dealt(names), [0, 1, 2, 3, 5, 6, 4, 7, 8, 9]), 0).text()
    assert shown == "hands: R1 R2 R3 ; ? ? B1 ; deck: ? ? B1 B1 ; to move 0"
