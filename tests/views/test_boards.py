"""Boards and card tables: that they show what is there, and to a seat nothing that it may not see."""

import itertools
import re
from collections.abc import Sequence
from xml.etree import ElementTree

import attrs
import numpy as np
import pytest

from icarus import BASELINE, audit, games, search
from icarus.compiler import functions
from icarus.engine.inspect import search_tree
from icarus.games.cards import card_text
from icarus.kernel import TERMINAL, PythonGame, State, below, shuffle
from icarus.kernel.scene import Drawing, Hand, Piece, Scene, Spot, grid, held_by
from icarus.views import boards
from icarus.views.boards import drawing, parts, svg

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


def compiles(helper: functions.Helper, *_: object) -> None:
    """What words and pictures must not do: each process would compile the helper anew, for a second at its start."""
    pytest.fail(f"{helper.py_func.__name__} is called from Python")


@pytest.mark.parametrize("game", SHIPPED)
def test_pictures_are_whole_at_every_state_for_every_seat(game, monkeypatch):
    monkeypatch.setattr(functions.Helper, "__call__", compiles)
    for state in random_states(game, range(1), every=13):
        texts = [str(state), *map(state.action_to_string, state.legal_actions())]
        assert all(texts)
        for seat in (None, *range(state.game.players)):
            picture = drawing(state, seat)
            root = ElementTree.fromstring(svg(picture))
            assert root.tag == f"{SVG}svg"
            assert "NaN" not in svg(picture)
            assert picture.text().strip()
            assert max(map(len, picture.text().split("\n"))) <= 120


@pytest.mark.parametrize(
    "game", [name for name in SHIPPED if games.load(name).determinize is not None]
)
def test_two_states_that_a_seat_cannot_tell_apart_look_the_same_to_it(game):
    looked, hidden = 0, 0
    for state in random_states(game, range(2), every=19 if game in LONG else 9):
        if state.is_terminal() or state.is_chance_node():
            continue
        for seat in range(state.game.players):
            shown, open_ = drawing(state, seat), drawing(state)
            for seed in range(1, 4):
                determinization = state.determinize(seat, seed=seed)
                assert svg(drawing(determinization, seat, drawn_for=True)) == svg(shown)
                assert drawing(determinization, seat, drawn_for=True).text() == shown.text()
                hidden += drawing(determinization, drawn_for=True).text() != open_.text()
            looked += 1
    assert looked > 2
    assert hidden > 0


def test_in_hearts_a_seat_reads_its_own_cards_and_those_on_the_table_and_no_others():
    state = games.load("hearts").new_initial_state(seed=5)
    luck = np.random.default_rng(1)
    for _ in range(12 + 1 + 22):
        state.apply_action(int(luck.choice(state.legal_actions())))
    facts, seat = state.facts, 2
    hand = {
        card_text(card)
        for card in range(52)
        if (int(facts.held[seat]) & ~int(facts.played)) >> card & 1
    }
    table = {card_text(int(card)) for card in facts.trick[: facts.count]}
    assert set(re.findall(r"\d+[♣♦♠♥]|[JQKA][♣♦♠♥]", drawing(state, seat).text())) == hand | table


BY_BUTTONS = ("kuhn-poker", "leduc-poker", "generic-poker")


@pytest.mark.parametrize(
    "game", [name for name in SHIPPED if name not in (*BY_BUTTONS, "dou-di-zhu")]
)
def test_what_one_clicks_to_play_is_in_the_picture(game):
    """The parts of no two actions are the same, and each action of a game that has parts has some, but for a few words."""
    clicked = 0
    for state in random_states(game, range(2), every=5):
        if state.is_terminal() or state.is_chance_node():
            continue
        scene = drawing(state, seat := state.current_player())
        picture = svg(scene)
        ways = [parts(state, action, scene, seat) for action in state.legal_actions()]
        assert len({way for way in ways if way}) == sum(map(bool, ways))
        for way in ways:
            assert all(f'data-part="{name}"' in picture for name in way)
            clicked += bool(way)
    assert clicked > 10


def test_a_game_of_one_s_own_is_drawn_by_the_same_renderer_and_clicked_as_its_texts_say():
    def scene(cards: list[int], seat: int | None) -> Scene:
        hands = [
            held_by(seat, i, tuple(str(card) for card in sorted(cards[3 * i : 3 * i + 3])))
            for i in range(2)
        ]
        return Scene("three cards", rows=tuple(hands), footer="player 0 to move")

    names = {0: "lay 4", 1: "pass"}
    game = attrs.evolve(
        dealt(CARDS),
        board=Drawing(scene),
        legal=lambda cards: [0, 1],
        action_text=lambda _, a: names[a],
    )
    state = state_of(game, [0, 1, 4, 2, 3, *range(5, 10)])
    own, other = drawing(state, 0), drawing(state, 1)
    assert [parts(state, action, own, 0) for action in (0, 1)] == [("4",), ()]
    assert svg(own).count('data-part="') == 3
    assert 'data-part="4"' in svg(own)
    assert 'data-part="4"' not in svg(other)
    assert (
        own.text() == "three cards\nplayer 0 (you): 0 1 4\nplayer 1: 3 face down\nplayer 0 to move"
    )


def test_letters_of_pieces_are_put_into_words_at_once_whatever_stands_for_a_piece():
    pieces = {"+": Piece("a cross"), "a": Piece("an ant"), "x": Piece("a x")}
    board = grid(["  a b", "1 + x"], pieces, ("green", "green"), "x to move, + is out")
    assert board.footer == "a x to move, + is out"


@pytest.mark.parametrize(
    "scene",
    [
        *(
            Scene(rows=(Hand("me", ("",), kind=kind),))
            for kind in ("card", "die", "stake", "plate")
        ),
        Scene(middle=(("turned up", ""),)),
        Scene(places=(Spot("a", 0, 0, pieces=(Piece("a stone", is_long=True),)),)),
    ],
)
def test_an_empty_text_is_drawn_and_named_nowhere(scene):
    assert ElementTree.fromstring(svg(scene)).tag == f"{SVG}svg"
    assert scene.names_in("to b") == ()


def test_a_picture_of_a_text_in_colours_of_a_terminal_is_that_of_the_text():
    coloured = Scene(words=("\x1b[31mred\x1b[0m to move\0", "\x1b[1;31m" + "a b " * 11))
    picture = svg(coloured)
    assert picture == svg(Scene(words=("red to move", "a b " * 11)))
    assert ElementTree.fromstring(picture).find(f".//{SVG}text").text == "red to move"


def test_wide_letters_have_room():
    wide, narrow = (ElementTree.fromstring(svg(Scene(words=(s * 40,)))) for s in ("🟥", "x"))
    assert float(wide.get("width")) - 28 == 2 * (float(narrow.get("width")) - 28)


def test_in_backgammon_each_seat_counts_its_own_points_and_sees_where_the_other_moved():
    state = games.load("backgammon").new_initial_state(seed=1)
    state.apply_action(state.string_to_action("opening roll 61"))
    action = state.string_to_action("13/7")
    for seat, clicks, holds in ((0, ("13", "7"), "5 black"), (1, ("12", "18"), "5 white")):
        scene = drawing(state, seat)
        assert parts(state, action, scene, seat) == clicks
        assert [place.holds() for place in scene.places if place.name == "13"] == [holds]
    ending = state.with_facts(
        points=[[13] + [0] * 2 + [2] + [0] * 22, [0] * 6 + [15] + [0] * 19],
        dice=[5, 4],
        left=2,
        player=0,
        actor=0,
    )
    ways = [parts(ending, each, drawing(ending, 0), 0) for each in ending.legal_actions()]
    assert sorted(ways) == [("3", "off", "4"), ("3", "off", "5")]
    ending = ending.with_facts(points=[[13] + [0] * 5 + [2] + [0] * 19, [0] * 6 + [15] + [0] * 19])
    ending = ending.with_facts(dice=[6, 1])
    ways = [parts(ending, each, drawing(ending, 0), 0) for each in ending.legal_actions()]
    assert sorted(ways) == [("6", "5"), ("6", "off")]  # the 1 bears nothing off


def test_a_state_inside_a_search_is_drawn_without_being_dealt_anew():
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


def test_a_game_without_a_picture_shows_a_seat_what_is_certain_and_nothing_else():
    luck, game = np.random.default_rng(3), dealt(CARDS)
    for _ in range(40):
        order = luck.permutation(10).tolist()
        rest = set(order[3:])
        possible = [
            game.text([*order[:3], *hand, *(rest - set(hand))])
            for hand in itertools.combinations(rest, 3)
        ]
        words = zip(*(text.split(" ") for text in possible), strict=True)
        certain = " ".join(same[0] if len(set(same)) == 1 else "?" for same in words)
        assert drawing(state_of(game, order), 0).text() == certain


def test_brackets_around_a_hidden_word_stay():
    texts = ["hands [1, 2] ['a'] []", "hands [1, 3] ['b'] [7]"]
    assert boards._agreed(texts) == "hands [1, ?] ['?'] [?]"
    assert boards._agreed(["it's x->1", "it's x->2"]) == "it's ?"


def test_a_seat_sees_its_observation_where_a_line_is_hidden_as_a_whole():
    game = attrs.evolve(
        dealt(CARDS),
        text=lambda cards: f"a game\n{cards[:3]} {'x ' * (cards[0] + cards[3])}",
        observation=lambda cards, seat: {"mine": {*cards[3 * seat : 3 * seat + 3]}},
    )
    shown = drawing(state_of(game, range(10)), 0).text()
    assert shown == "a game\n?\nobservation: {'mine': {0, 1, 2}}"
    shown = drawing(state_of(game, [0, 1, 2, 8, 0, 9, 3, 4, 5, 6]), 1).text()
    assert shown.endswith("observation: {'mine': {0, 8, 9}}")


def test_a_view_without_an_observation_says_that_it_is_estimated():
    game = attrs.evolve(dealt(CARDS), observation=None)
    assert drawing(state_of(game, range(10)), 0).text().endswith("\n" + boards.ESTIMATED)


def test_where_a_determinization_takes_long_a_text_is_made_of_a_few(monkeypatch):
    game, seconds, draws = dealt(CARDS), itertools.count(), list[int]()
    counted = attrs.evolve(
        game, determinize=lambda *given: draws.append(1) or game.determinize(*given)
    )
    monkeypatch.setattr(boards.time, "monotonic", lambda: next(seconds))
    assert drawing(state_of(counted, range(10)), 0).text().startswith("hands: R1 R2 R3 ; ")
    assert len(draws) == boards.FEWEST


def test_what_is_certain_of_a_hidden_card_is_shown():
    names = [*CARDS[:5], *["B1"] * 5]
    shown = drawing(state_of(dealt(names), [*range(4), 5, 6, 4, 7, 8, 9]), 0).text()
    assert re.match(
        r"hands: R1 R2 R3 ; \? \? (B1|\?) ; deck: \? \? (B1|\?) (B1|\?) ; to move 0$", shown
    )


def test_what_a_single_draw_says_is_no_fact_where_the_game_has_an_observation(monkeypatch):
    """Of seven hidden cards six are alike: one draw says nothing of where the seventh is. What is shown holds."""
    names = ["R1", "R2", "R3", *["B1"] * 6, "B9"]
    monkeypatch.setattr(boards, "FEWEST", 1)
    monkeypatch.setattr(boards, "DRAWS", 1)
    shown = drawing(state_of(dealt(names), range(10)), 0).text()
    assert shown == "hands: R1 R2 R3 ; ? B1 ? ; deck: ? B1 ? ? ; to move 0"


class Seat:
    def __init__(self, card: int) -> None:
        self.card = card


def card_of(hand: object) -> int:
    return hand.card if isinstance(hand, Seat) else hand[0]


@pytest.mark.parametrize(
    "hand",
    [lambda card: [card], Seat, lambda card: np.array([card, 0]), lambda card: {0: card}],
    ids=["list", "object", "array", "dict"],
)
def test_a_card_is_hidden_whatever_holds_it(hand):
    def initial(rng: np.ndarray) -> dict:
        return {"turn": 0, "hands": [hand(int(below(rng, 3))) for _ in range(2)]}

    def determinize(state: dict, observer: int, beliefs: object, rng: np.ndarray) -> dict:
        hands = [*state["hands"]]
        if observer >= 0:
            hands[1 - observer] = hand(int(below(rng, 3)))
        return {**state, "hands": hands}

    game = PythonGame(
        name="hands",
        players=2,
        initial=initial,
        player=lambda state: state["turn"] if state["turn"] < 2 else TERMINAL,
        legal=lambda state: [0],
        apply=lambda state, action: state.update(turn=state["turn"] + 1),
        rewards=lambda state: (0.5, 0.5),
        text=lambda state: " ".join(f"{card_of(each)}" for each in state["hands"]),
        observation=lambda state, seat: (state["hands"][seat], state["turn"]),
        determinize=determinize,
    )
    report = audit(game, games=8, determinizations=60)
    assert report.passed, report
    state = game.new_initial_state(seed=1)
    for seat in range(2):
        own = str(card_of(state.data["hands"][seat]))
        assert drawing(state, seat).text().split(" ") == ([own, "?"] if seat == 0 else ["?", own])
