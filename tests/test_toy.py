"""The toys: that they are what their trees say, and that their numbers are those found by hand."""

import functools
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pyspiel
import pytest
from scipy.stats import chisquare

from icarus.kernel import CHANCE, CONTINUES, UNLABELLED, UNSEEN, Game, State
from tests import toy
from tests.games.scenes import UNLIKELY, after_action, draws, every_state
from tests.naive import label_of, observed

DRAWS = 800  # determinizations for a test of uniformity


def each(games: list[Game]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("game", games, ids=lambda game: game.name)


each_toy = each(toy.ALL_TOYS)


def everything(game: Game) -> Iterator[State]:
    """All states of a toy, deal by deal."""
    tree = toy.ALL_TOYS.index(game)
    for deal in range(len(toy.TREES[tree].deals)):
        yield from every_state(dealt(game, deal))


def dealt(game: Game, deal: int) -> State:
    record = np.zeros(1, toy.STATE)
    record["row"] = toy.index_of(toy.ALL_TOYS.index(game), deal)
    return State(game, record)


def after(game: Game, *actions: int, deal: int = 0) -> State:
    state = dealt(game, deal)
    for action in actions:
        state.apply_action(action)
    return state


def best(state: State) -> tuple[float, ...]:
    """The rewards where everyone plays for his own (maxⁿ, the first of equal actions) and chance is averaged."""
    if state.is_terminal():
        return tuple(state.returns())
    below = [best(after_action(state, action)) for action in state.legal_actions()]
    if state.is_chance_node():
        shares = [share for _, share in state.chance_outcomes()]
        return tuple(
            sum(share * rewards[i] for share, rewards in zip(shares, below, strict=True))
            for i in range(len(below[0]))
        )
    return max(below, key=lambda rewards: rewards[state.current_player()])


# ---------------------------------------------------------------------------------------------------------- every toy


@each_toy
def test_every_state_has_choices_or_rewards(game):
    for state in everything(game):
        legal = state.legal_actions()
        if state.is_terminal():
            assert legal == []
            assert len(state.returns()) == game.players
            assert all(0 <= reward <= 1 for reward in state.returns())
            continue
        assert 1 <= len(legal) == len(set(legal)) <= game.max_legal
        assert all(action >= 0 for action in legal)
        assert state.current_player() == CHANCE or 0 <= state.current_player() < game.players
        if state.is_chance_node():
            assert [action for action, _ in state.chance_outcomes()] == legal
            assert sum(share for _, share in state.chance_outcomes()) == pytest.approx(1)


@functools.cache
def retraced(game: Game, row: int) -> State:
    """The state of a row, played from its deal."""
    data = np.zeros(1, toy.STATE)
    data["row"] = row
    start, actions = game.retrace(None, data)
    state = State(game, start)
    for action in actions:
        state.apply_action(action)
    assert state.data == data
    return state


@each_toy
def test_what_a_player_cannot_tell_apart_looks_alike_to_him(game):
    for state in everything(game):
        player = state.current_player()
        if player < 0:
            continue
        seen = state.moves(player), state.position_in_episode().label
        determinization = state.determinize(player, 1)
        if game.retrace is None:
            assert determinization.data == state.data
            continue
        assert (determinization.current_player(), determinization.legal_actions()) == (
            player,
            state.legal_actions(),
        )
        alike = retraced(game, int(determinization.facts.row))
        assert (alike.moves(player), alike.position_in_episode().label) == seen


@each([game for game in toy.ALL_TOYS if game.determinize])
def test_determinization_is_uniform_over_what_looks_alike(game):
    groups: dict[tuple, list[State]] = {}
    for state in everything(game):
        if state.current_player() >= 0:
            groups.setdefault(known_to_the_mover(state), []).append(state)
    alike = max(groups.values(), key=len)
    rows = [int(state.facts.row) for state in alike]
    drawn = Counter(draws(alike[0], alike[0].current_player(), DRAWS)["row"].tolist())
    assert len(rows) > 1
    assert set(drawn) == set(rows)
    assert chisquare([drawn[row] for row in rows]).pvalue > UNLIKELY


def known_to_the_mover(state: State) -> tuple:
    """His share of the deal, the moves that he saw with the beginnings of episodes between them, and what he may do."""
    game, player = state.game, state.current_player()
    row = toy.ROWS[int(state.facts.row)]
    replayed, noticed = dealt(game, row.deal), []
    for _, action in state.history:
        noticed += [("episode", label_of(replayed)), ("move", observed(replayed, action)[player])]
        replayed.apply_action(action)
    noticed.append(("episode", label_of(state)))
    noticed = [item for item in noticed if item not in (("episode", CONTINUES), ("move", UNSEEN))]
    return (
        player,
        toy.TREES[row.tree].deals[row.deal][0][player],
        tuple(noticed),
        tuple(state.legal_actions()),
    )


def test_each_kind_of_game_is_there():
    assert {game.name.removeprefix("toy-"): game.players for game in toy.ALL_TOYS} == {
        "branches": 2,
        "card": 2,
        "kuhn": 2,
        "dice": 2,
        "secrets": 2,
        "three": 3,
        "episodes": 2,
        "chain": 1,
        "fusion": 1,
        "three-states": 2,
        "blind-states": 2,
        "pennies": 2,
        "whispers": 2,
        "draw": 2,
        "thicket-2": 2,
        "thicket-3": 3,
        "thicket-4": 4,
        "clashes": 3,
    }
    for thicket in (*toy.THICKETS, toy.CLASHES):
        assert None not in (
            thicket.observe,
            thicket.chance,
            thicket.determinize,
            thicket.episode,
            thicket.recall,
        )
        sights = {
            move
            for row in toy.ROWS
            if row.tree == toy.ALL_TOYS.index(thicket)
            for of_action in row.node.observations.values()
            for move in of_action.values()
        }
        assert sights == {toy.SOMETHING, toy.UNSEEN}
    assert [game.name for game in toy.ALL_TOYS if game.simultaneous is not None] == [
        "toy-pennies",
        "toy-clashes",
    ]


# ------------------------------------------------------------------------------------------------------------ by the hand


def test_a_raise_tells_that_the_card_is_not_low():
    state = after(toy.CARD, 1, 4, deal=1)
    assert {toy.ROWS[int(state.determinize(0, seed).facts.row)].deal for seed in range(50)} == {
        1,
        2,
    }
    assert {toy.ROWS[int(state.determinize(1, seed).facts.row)].deal for seed in range(50)} == {1}


def test_kuhns_poker_agrees_with_openspiel():
    referee = pyspiel.load_game("kuhn_poker")
    for deal, (cards, _) in enumerate(toy.TREES[toy.ALL_TOYS.index(toy.KUHN)].deals):
        for state in every_state(dealt(toy.KUHN, deal)):
            judged = referee.new_initial_state()
            for action in (*cards, *(action for _, action in state.history)):
                judged.apply_action(action)
            assert judged.is_terminal() == state.is_terminal()
            if state.is_terminal():
                assert state.returns() == [(chips + 2) / 4 for chips in judged.returns()]
            else:
                assert (judged.current_player(), judged.legal_actions()) == (
                    state.current_player(),
                    state.legal_actions(),
                )


def test_secrets_are_seen_by_their_owner_only():
    state = after(toy.SECRETS, 1, 2, 4, 7, 3)
    assert state.moves(0) == (1, 2, 7, 3)  # nothing of the 4
    assert state.moves(1) == (toy.SOMETHING, 2, 4, toy.SOMETHING, 3)
    assert state.moves(CHANCE) == (1, 2, 4, 7, 3)


def test_episodes_of_the_secrets_begin_before_the_second_and_the_last_choice():
    position = after(toy.SECRETS, 1, 2, 4, 7).position_in_episode()
    assert (position.label, position.moves) == (0, ((2, 7), (2, 4, toy.SOMETHING), (2, 4, 7)))
    assert position.previous == (0, (2, 7))
    episode = after(toy.SECRETS, 1, 2, 4, 7, 3).position_in_episode()
    assert (episode.label, episode.moves, episode.last) == (0, ((), (), ()), 1)
    assert episode.previous == (0, (2, 4, toy.SOMETHING, 3))
    assert after(toy.SECRETS, 1).position_in_episode().previous == (UNLABELLED, (1,))


def test_each_player_is_unsure_of_exactly_what_he_did_not_see():
    state = after(toy.SECRETS, 1, 2, 4)  # player 0 to choose d; c may have been 4 or 5
    paths = {toy.ROWS[int(state.determinize(0, seed).facts.row)].actions() for seed in range(50)}
    assert paths == {(1, 2, 4), (1, 2, 5)}
    state = after(toy.SECRETS, 1, 2, 4, 7)  # player 1 to choose e; a and d are secret
    paths = {toy.ROWS[int(state.determinize(1, seed).facts.row)].actions() for seed in range(100)}
    assert paths == {(a, 2, 4, d) for a in (0, 1) for d in (6, 7)}


def test_three_players_each_maximise_their_own_reward():
    # player 1 takes 1, then player 2 has ½ rather than 0
    assert best(after(toy.THREE, 0)) == (0, 1, 0.5)
    assert best(after(toy.THREE, 1, 1)) == (0, 0.5, 1)
    assert best(after(toy.THREE, 1))[1] == 0.5  # both actions of player 1 give him ½


def test_the_same_position_in_episode_occurs_in_several_places():
    places = [
        state
        for state in everything(toy.EPISODES)
        if state.position_in_episode().previous == (2, (2, 5))
    ]
    histories = [[action for _, action in state.history] for state in places]
    assert histories == [[0, 2, 5], [0, 2, 5, 2, 5], [1, 4, 2, 5]]
    assert [state.position_in_episode().label for state in places] == [2, 3, 3]


def test_the_chain_begins_without_a_label_and_passes_are_forced():
    state = toy.CHAIN.new_initial_state()
    assert state.position_in_episode().label == UNLABELLED
    assert after(toy.CHAIN, 0).legal_actions() == [toy.PASS]
    assert after(toy.CHAIN, 0, toy.PASS).position_in_episode().label == 0
    assert after(toy.CHAIN, 0, toy.PASS, 2).legal_actions() == [toy.PASS]
    assert best(state) == (1,)
    assert best(after(toy.CHAIN, 1)) == (0.5,)


def test_in_figure_1_a1_needs_the_right_reply_in_each_state():
    # the determinizer's belief
    assert best(after(toy.FUSION, deal=0)) == best(after(toy.FUSION, deal=1)) == (1,)
    assert after(toy.FUSION, toy.A2, deal=1).returns() == [0.75]  # +½
    for deal in range(2):
        assert best(after(toy.FUSION, toy.A1, (toy.A4, toy.A3)[deal], deal=deal)) == (1,)  # +1
        assert best(after(toy.FUSION, toy.A1, (toy.A3, toy.A4)[deal], deal=deal)) == (0,)  # −1
    replies = {
        after(toy.FUSION, toy.A1, a, deal=deal).legal_actions()[0]
        for a in (toy.A3, toy.A4)
        for deal in (0, 1)
    }
    assert len(replies) == 4  # e_{x,3}, e_{x,4}, e_{y,3}, e_{y,4}


@each([toy.THREE_STATES, toy.BLIND_STATES])
def test_in_figure_3_rewards_depend_on_the_state_after_b2_only(game):
    legal = [after(game, toy.A1, deal=deal).legal_actions() for deal in range(3)]
    assert legal == [[toy.B1, toy.B2], [toy.B2, toy.B3], [toy.B1, toy.B3]]

    def worth(deal: int, b: int) -> list[tuple]:
        return [best(after(game, toy.A1, b, a, deal=deal)) for a in (toy.A3, toy.A4)]

    assert worth(0, toy.B1) == worth(2, toy.B1) == [(1, 0), (0, 1)]
    assert worth(1, toy.B3) == worth(2, toy.B3) == [(0, 1), (1, 0)]
    assert worth(0, toy.B2) == [(1, 0), (0, 1)]
    assert worth(1, toy.B2) == [(0, 1), (1, 0)]
    assert after(game, toy.A1, toy.B2, toy.A3).is_chance_node()
    assert after(game, toy.A1, toy.B1, toy.A3).is_terminal()


def test_a1_of_figure_3_is_worth_two_thirds_to_one_who_sees_and_half_to_one_who_does_not():
    # Player 1 knows state and mixture: he takes the smaller of his two answers; q[b] is the share of a₃ in reply to b.
    thirds = [
        {
            b: best(after(toy.THREE_STATES, toy.A1, b, toy.A3, deal=deal))[0]
            for b in after(toy.THREE_STATES, toy.A1, deal=deal).legal_actions()
        }
        for deal in range(3)
    ]

    def worth(q: dict[int, float]) -> float:
        return (
            sum(
                min(q[b] * third + (1 - q[b]) * (1 - third) for b, third in of.items())
                for of in thirds
            )
            / 3
        )

    shares = [i / 10 for i in range(11)]
    seeing = [
        worth({toy.B1: first, toy.B2: second, toy.B3: third})
        for first in shares
        for second in shares
        for third in shares
    ]
    assert max(seeing) == pytest.approx(2 / 3)
    assert max(worth(dict.fromkeys((toy.B1, toy.B2, toy.B3), q)) for q in shares) == pytest.approx(
        1 / 2
    )
    stay = after(toy.THREE_STATES, toy.A2).returns()[0]
    assert 1 / 2 < stay < 2 / 3


def test_the_moves_of_figure_5_cannot_be_told_apart():
    state = after(toy.BLIND_STATES, toy.A1, toy.B2, toy.A3)
    assert state.moves(0) == (toy.A1, toy.SOMETHING, toy.A3)
    assert state.moves(1) == (toy.SOMETHING, toy.B2, toy.SOMETHING)
    answers = {
        toy.ROWS[
            int(after(toy.BLIND_STATES, toy.A1, toy.B2).determinize(0, seed).facts.row)
        ].actions()[1]
        for seed in range(50)
    }
    assert answers == {toy.B1, toy.B2, toy.B3}


def test_coins_are_laid_at_once():
    def number(*actions: int) -> int:
        state = after(toy.PENNIES, *actions)
        return toy.PENNIES.kernels().simultaneous(state.data.ctypes.data)

    assert [number(), number(0), number(0, 1), number(0, 1, 11), number(0, 1, 11, 1)] == [
        1,
        2,
        0,
        1,
        2,
    ]
    assert after(toy.PENNIES, 1, 0, 12).moves(0) == (1, toy.SOMETHING, 12)
    assert after(toy.PENNIES, 1).moves(1) == (toy.SOMETHING,)
    assert after(toy.PENNIES, 1, 1, 13, 0, 1, 11).returns() == [0.5, 0.5]
    assert after(toy.PENNIES, 1, 1, 13, 0, 0, 10).returns() == [1, 0]


def test_player_0_does_not_see_what_is_drawn():
    assert after(toy.DRAW, 0, 5).chance_outcomes() == [(7, 0.5), (8, 0.25), (9, 0.25)]
    assert [after(toy.DRAW, 0, 6, card).moves(0) for card in (7, 8, 9)] == [
        (0, toy.SOMETHING),
        (0, toy.SOMETHING),
        (0, 9),
    ]
    assert after(toy.DRAW, 0, 6, 8).moves(1) == (0, 8)
    assert [after(toy.DRAW, 0, a, 8, 3, 1).returns() for a in (5, 6)] == [[0.25, 0.75], [0, 1]]
