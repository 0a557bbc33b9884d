"""OpenSpiel's games searched by icarus, and the audit of their samplers."""

import pickle
import random
import re
import subprocess
import sys

import attrs
import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots, ismcts, mcts

from examples.nim import NIM
from icarus import (
    BASELINE,
    EPIC,
    MAST,
    NAST2,
    RAVE,
    SO_ISMCTS,
    Agent,
    DeterminizedUCT,
    audit,
    games,
    in_python,
    search,
)
from icarus.bridges import openspiel, pettingzoo
from icarus.bridges.openspiel import Bot, register_game, register_games
from icarus.bridges.seats import chance_in, game_of
from icarus.kernel import TERMINAL
from tests.audit.test_contract import COIN
from tests.marks import slow_after


def dealt(game):
    """The state of the first decision."""
    state, luck = game.new_initial_state(), random.Random(1)
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(luck.choices(outcomes, chances)[0])
    return state


GAMES = [
    "kuhn_poker",
    "leduc_poker(players=3)",
    "tic_tac_toe",
    "oh_hell(num_suits=3,num_cards_per_suit=4)",
    "blackjack",
    "pig",
]


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("scheme", [None, SO_ISMCTS, DeterminizedUCT(2)])
def test_a_game_of_openspiel_is_searched_by_compositions_and_schemes(name, scheme):
    state = dealt(openspiel.game(name))
    options = {} if scheme is None else {"scheme": scheme}
    result = search(state, RAVE >> (MAST + NAST2) / 2, iterations=12, seed=1, **options)
    assert result.iterations == 12
    assert result.visits.sum() == 12
    assert result.action in state.legal_actions()


@pytest.mark.parametrize("name", GAMES)
def test_a_game_goes_as_openspiel_s_own_after_pickling_too(name):
    luck, loaded = random.Random(3), pyspiel.load_game(name)
    game = pickle.loads(pickle.dumps(openspiel.game(name)))
    state, original = game.new_initial_state(), loaded.new_initial_state()
    while not original.is_terminal():
        assert state.current_player() == original.current_player()
        assert state.legal_actions() == original.legal_actions()
        action = luck.choice(original.legal_actions())
        assert state.action_to_string(action) == original.action_to_string(
            original.current_player(), action
        )
        state.apply_action(action), original.apply_action(action)
    assert state.is_terminal()
    lowest, highest = loaded.min_utility(), loaded.max_utility()
    assert np.allclose(np.array(state.returns()) * (highest - lowest) + lowest, original.returns())


def test_a_state_of_openspiel_is_taken_up_as_it_stands_and_left_alone():
    original = pyspiel.load_game("tic_tac_toe").new_initial_state()
    for action in (0, 3, 1, 4):
        original.apply_action(action)
    assert search(openspiel.state(original), EPIC, iterations=150, seed=1).action == 2
    assert original.history() == [0, 3, 1, 4]


def test_moves_of_different_information_states_differ():
    """Along random games, what a player has seen and what he knows tell the same states apart."""
    game, texts = openspiel.game("leduc_poker"), {}
    for seed in range(60):
        luck, state = random.Random(seed), game.new_initial_state()
        while not state.is_terminal():
            for player in range(2):
                text = state.data.information_state_string(player)
                assert texts.setdefault((player, state.moves(player)), text) == text
            state.apply_action(luck.choice(state.legal_actions()))
    assert len(set(texts.values())) == len({(player, text) for (player, _), text in texts.items()})


@pytest.mark.parametrize("name", ["matrix_pd", "goofspiel(num_cards=3,points_order=descending)"])
def test_players_who_decide_at_once_take_turns_and_do_not_see_each_other(name):
    game = openspiel.game(name)
    state = game.new_initial_state()
    assert state.current_player() == 0
    # all look alike to player 1
    assert (
        len({game.observed_moves(state.data, action)[1] for action in state.legal_actions()}) == 1
    )
    state.apply_action(state.legal_actions()[0])
    drawn = {state.determinize(1, seed=seed).data.history_str() for seed in range(40)}
    # player 0 may have chosen anything
    assert len(drawn) == len(game.new_initial_state().legal_actions())
    assert search(state, BASELINE, iterations=20, seed=1).visits.sum() == 20


EFG = """EFG 2 R "one choice" { "a" "b" }
p "" 1 1 "" { "l" "r" } 0
t "" 1 "" { 1, -1 }
t "" 2 "" { -1, 1 }
"""


@pytest.mark.parametrize(
    "name", ["laser_tag", "markov_soccer", "pathfinding", "efg_game(filename=FILE)"]
)
def test_a_name_of_many_lines_or_with_a_path_is_no_hindrance(name, tmp_path):
    (tmp_path / "one.efg").write_text(EFG)
    game = openspiel.game(name.replace("FILE", str(tmp_path / "one.efg")))
    assert game.name.isprintable()
    assert "/" not in game.name
    assert game.new_initial_state().legal_actions()


def test_outcomes_of_chance_that_are_not_legal_count_for_nothing():
    """Hearts without passing lists four directions, of which one is legal."""
    state = openspiel.game("hearts(pass_cards=false)").new_initial_state()
    assert state.data.chance_outcomes() == [(0, 0.25), (1, 0.25), (2, 0.25), (3, 0.25)]
    assert state.chance_outcomes() == [(0, 1.0)]


class Silent:
    """A state that cannot be redrawn, and does not say why."""

    def resample_from_infostate(self, *_):
        raise NotImplementedError

    def get_game(self):
        return "a game"

    def is_chance_node(self):
        return False


def test_a_redraw_that_fails_without_a_word_is_told_by_its_error():
    with pytest.raises(
        ValueError, match=r"a game hides .* redraw \(NotImplementedError\(\)\); give"
    ):
        openspiel._resampled(Silent(), 0, random.random)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: openspiel.game("leduc"), "cannot load 'leduc': Unknown game"),
        (lambda: openspiel.game("zzzz"), "cannot load 'zzzz': Unknown game 'zzzz'.$"),
        (
            lambda: openspiel.game("leduc_poker(foo=3)"),
            r"cannot load 'leduc_poker\(foo=3\)': .*foo",
        ),
        (
            lambda: search(dealt(openspiel.game("liars_dice")), BASELINE, iterations=2),
            "cannot redraw .*; give determinize=",
        ),
        (lambda: openspiel.game("nfg_game"), "cannot load 'nfg_game': one of its parameters"),
        (lambda: openspiel.game("python_tic_tac_toe"), "after `import open_spiel.python.games`"),
        (lambda: openspiel.game("mfg_crowd_modelling"), "mean field game"),
        (
            lambda: openspiel.state(pyspiel.load_game("goofspiel").new_initial_state()),
            "convert_to_turn_based",
        ),
        (
            lambda: openspiel.game(NIM),
            "a game must be one of OpenSpiel's, or its name, such as 'leduc_poker', not <game nim>",
        ),
        (
            lambda: openspiel.state(NIM.new_initial_state()),
            "a state must be one of OpenSpiel's, such as .*, not <.*nim",
        ),
        (
            lambda: openspiel.state(pyspiel.load_game("tic_tac_toe").new_initial_state(), "chess"),
            "`of` must be a game that icarus.bridges.openspiel.game made, or absent, not 'chess'",
        ),
        (
            lambda: Bot(Agent(BASELINE, iterations=2), 0, of="chess"),
            "`of` must be a game that icarus.bridges.openspiel.game made, or absent, not 'chess'",
        ),
    ],
)
def test_what_cannot_be_searched_is_told_in_a_sentence(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()


# ------------------------------------------------------------------------------------------------------------- the audit


def truth(state, player, random_):
    return state.clone()


def peeping(state, player, random_):
    """Mostly the truth: whoever looks at the draws knows it."""
    return state.clone() if random_() < 0.5 else state.resample_from_infostate(player, random_)


def one_of_two(state, player, random_):
    return state.resample_from_infostate(player, random.Random(int(2 * random_())).random)


def keeping(state, player, random_):
    """The first cards of the next player are always those that he holds."""
    other, draw = (player + 1) % state.num_players(), state
    for _ in range(100):
        draw = state.resample_from_infostate(player, random_)
        if min(cards_of(draw, other)) == min(cards_of(state, other)):
            break
    return draw


def cards_of(state, player):
    """What was dealt in Oh Hell, after the number of tricks and the dealer."""
    dealt = [step.action for step in state.full_history() if step.player < 0][2:]
    return dealt[player :: state.num_players()]


def other_eyes(state, player, random_):
    return state.resample_from_infostate(1 - player, random_)


LARGE = "oh_hell(players=3,num_suits=3,num_cards_per_suit=4)"  # whose information sets are
SAMPLERS = [
    ("kuhn_poker", None, ()),
    ("leduc_poker", None, ()),
    ("matching_pennies_3p", None, ()),
    (LARGE, None, ()),
    ("kuhn_poker", truth, ("redraw",)),
    (LARGE, truth, ("redraw", "unseen")),
    ("leduc_poker", peeping, ("swap", "uniform")),
    (LARGE, peeping, ("swap",)),
    ("kuhn_poker", one_of_two, ("truth",)),
    (LARGE, one_of_two, ("truth",)),
    (LARGE, keeping, ("unseen",)),
    ("kuhn_poker", other_eyes, ("view",)),
]


GAMES_OF_LARGE = {
    one_of_two: 4,
    keeping: 5,
}  # in which each of twelve seeds finds them; of the others two


@pytest.mark.parametrize(("name", "determinize", "failed"), SAMPLERS)
def test_sound_samplers_pass_and_those_that_cheat_are_found(
    name, determinize, failed, few_ways, few_deals
):
    sampled = openspiel.game(name, determinize=determinize)
    report = audit(sampled, games=GAMES_OF_LARGE.get(determinize, 2) if name == LARGE else 4)
    assert set(failed) <= set(report.failed) if failed else report.passed, report


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker"])
def test_an_observe_that_shows_a_hidden_deal_is_found_and_public_actions_is_right(
    name, few_ways, few_deals
):
    def showing(state, action):
        return [action] * state.num_players()

    report = audit(openspiel.game(name, observe=showing), games=2)
    assert report.failed == ("moves",), report
    shown = "observe shows player . what his observation never tells, whether it is .* or "
    assert re.search(shown, report["moves"].examples[0])
    assert audit(openspiel.game(name, observe=openspiel.public_actions), games=2).passed


# -------------------- icarus's games as OpenSpiel's, and its agents as bots, by OpenSpiel's own tests.


SHIPPED = dict(games.GAMES)  # before a test has loaded a file with games of its own
NAMES = [f"icarus_{name.replace('-', '_')}" for name in SHIPPED]
LONG = [  # their copies are replayed, all of the game at each step
    f"icarus_{name}"
    for name in (
        "backgammon",
        "dou_di_zhu",
        "hearts",
        "knockout_whist",
        "lotr_confrontation",
        "othello",
    )
]


@pytest.fixture(scope="module", autouse=True)
def registered():
    """Not when the file is imported, which every worker does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("icarus.bridges.openspiel.GAMES", SHIPPED)
        register_games()


@pytest.mark.parametrize(
    "name", [*(name for name in NAMES if name not in LONG), *slow_after(0, LONG)]
)
def test_openspiel_s_random_simulation_passes(name):
    pyspiel.random_sim_test(pyspiel.load_game(name), num_sims=1, serialize=False, verbose=False)


@pytest.mark.parametrize("name", NAMES)
def test_a_game_is_icarus_s_own_to_its_end_and_its_history_says_everything(name):
    game, luck = pyspiel.load_game(name), random.Random(5)
    state = game.new_initial_state()
    while not state.is_terminal():
        if state.is_chance_node():
            outcomes, chances = zip(*state.chance_outcomes(), strict=True)
            assert sum(chances) == pytest.approx(1)
            action = luck.choices(outcomes, chances)[0]
            assert action < game.max_chance_outcomes()
        else:
            action = luck.choice(state.legal_actions())
            assert action < game.num_distinct_actions()
        state.apply_action(action)
    again = Bot(Agent(BASELINE, iterations=5), 0).taken_up(state)
    assert again.returns() == state.returns()
    assert min(state.returns()) >= 0
    assert max(state.returns()) <= 1


def test_exploitability_is_exact_where_a_game_lists_its_deals():
    from open_spiel.python.algorithms import exploitability
    from open_spiel.python.policy import UniformRandomPolicy

    game, original = pyspiel.load_game("icarus_kuhn_poker"), pyspiel.load_game("kuhn_poker")
    actual, expected = (
        exploitability.nash_conv(each, UniformRandomPolicy(each)) for each in (game, original)
    )
    scale = original.max_utility() - original.min_utility()  # rewards are from 0 to 1
    assert actual == pytest.approx(expected / scale, abs=1e-9)


@pytest.mark.parametrize(
    "name",
    [
        "icarus_kuhn_poker",
        "icarus_phantom_mnk(columns=3,rows=3,in_a_row=3)",
        "kuhn_poker",
        "tic_tac_toe",
    ],
)
def test_agents_play_as_bots_in_openspiel_s_evaluation(name):
    game = pickle.loads(pickle.dumps(pyspiel.load_game(name)))
    bots = [Bot(Agent(BASELINE, iterations=15), seat, seed=seat) for seat in range(2)]
    returns = evaluate_bots.evaluate_bots(game.new_initial_state(), bots, np.random.RandomState(1))
    assert sum(returns) == pytest.approx(game.utility_sum())


@pytest.mark.parametrize(
    "name", ["icarus_kuhn_poker", "icarus_phantom_mnk(columns=3,rows=2,in_a_row=2)"]
)
def test_openspiel_s_ismcts_plays_icarus_s_games(name):
    """It demands of each state drawn that the player cannot tell it from the true one."""
    game, luck = pyspiel.load_game(name), np.random.RandomState(1)
    state, evaluator = dealt(game), mcts.RandomRolloutEvaluator(1, luck)
    while not state.is_terminal():
        state.apply_action(ismcts.ISMCTSBot(game, evaluator, 1, 20, random_state=luck).step(state))
    assert sum(state.returns()) == game.utility_sum()


def test_openspiel_draws_what_determinize_draws():
    state = dealt(pyspiel.load_game("icarus_kuhn_poker"))
    state.apply_action(0)
    drawn = [state.resample_from_infostate(1, random.Random(seed).random) for seed in range(20)]
    assert {each.information_state_string(1) for each in drawn} == {
        state.information_state_string(1)
    }
    assert len({each.information_state_string(0) for each in drawn}) == 2  # the other player's card
    again = [each.resample_from_infostate(1, random.Random(1).random) for each in drawn]
    assert {str(each) for each in again} == {str(again[0])}


def test_a_bot_goes_on_from_any_state():
    state = pyspiel.load_game("icarus_goofspiel").new_initial_state()
    state.apply_action(state.legal_actions()[0])
    bot = Bot(Agent(BASELINE, iterations=50), 1)
    bot.restart_at(state), bot.inform_action(state, 0, 1)
    assert bot.step(state) == bot.step(state)
    with pytest.raises(ValueError, match="the bot plays seat 0, but player 1 is to act"):
        Bot(Agent(BASELINE, iterations=50), 0).step(state)


def test_a_bot_plays_each_game_by_its_own_rules():
    bot = Bot(Agent(BASELINE, iterations=5), 0)
    for name in ("tic_tac_toe", "kuhn_poker", "leduc_poker", "kuhn_poker(players=3)"):
        start = dealt(openspiel.game(name)).data
        assert (
            bot.taken_up(start).game.name
            == openspiel.state(start).game.name
            == str(start.get_game())
        )


@pytest.mark.parametrize("name", ["leduc_poker", "kuhn_poker(players=3)"])
def test_a_state_is_taken_up_by_functions_of_its_own_game_alone(name):
    of = openspiel.game("kuhn_poker(players=2)")
    assert openspiel.state(dealt(openspiel.game("kuhn_poker")).data, of).game is of
    with pytest.raises(
        ValueError, match=r"the state is of .*, but `of` is kuhn_poker\(players=2\)"
    ):
        openspiel.state(dealt(openspiel.game(name)).data, of)


@pytest.mark.parametrize(
    "game",
    [
        attrs.evolve(NIM, actions=18),
        attrs.evolve(COIN, actions=4),
        in_python(attrs.evolve(NIM, name="sticks", actions=18)),
    ],
    ids=["compiled", "chance", "python"],
)
def test_a_game_of_one_s_own_goes_to_openspiel(game):
    name = register_game(game, constant_sum=True)
    # told twice, the same
    assert name == "icarus_" + game.name.replace("-", "_") == register_game(game)
    loaded = pyspiel.load_game(name)
    pyspiel.random_sim_test(loaded, num_sims=3, serialize=False, verbose=False)
    anew = "import pickle, sys; print(pickle.load(sys.stdin.buffer))"
    if game.name == NIM.name:  # a process in which OpenSpiel does not know it
        process = subprocess.run(
            [sys.executable, "-c", anew], input=pickle.dumps(loaded), stdout=subprocess.PIPE
        )
        assert process.stdout.decode() == f"{loaded}\n"
    bots = [Bot(Agent(BASELINE, iterations=30), seat) for seat in range(2)]
    assert (
        sum(evaluate_bots.evaluate_bots(loaded.new_initial_state(), bots, np.random.RandomState(1)))
        == 1
    )


def test_a_game_that_does_not_number_its_actions_or_takes_another_s_name_is_refused():
    with pytest.raises(
        ValueError, match=r"nim has no upper bound of its action numbers; give Game\(actions="
    ):
        register_game(NIM)
    # The library's Goofspiel need not be registered before.
    for name in ("othello", "goofspiel"):
        with pytest.raises(ValueError, match=f"knows another game by the name icarus_{name}"):
            register_game(attrs.evolve(NIM, name=name, actions=18))
    register_games()
    for number in (0, -5):
        with pytest.raises(
            ValueError, match=f"deals is {number}; it must be an integer of at least 1"
        ):
            pyspiel.load_game(f"icarus_hearts(deals={number})")


def test_turns_of_a_game_that_has_no_name_are_taken():
    matrix = pyspiel.create_matrix_game([[1, -1], [-1, 1]], [[-1, 1], [1, -1]])
    assert openspiel.game(pyspiel.convert_to_turn_based(matrix)).players == 2


@pytest.mark.parametrize("name", ["matrix_pd", "goofspiel(num_cards=3)"])
def test_a_bot_plays_where_openspiel_makes_turns_of_simultaneous_choices(name):
    state = pyspiel.convert_to_turn_based(pyspiel.load_game(name)).new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    for player in range(2):
        action = Bot(Agent(BASELINE, iterations=10), player).step(state)
        assert action in state.legal_actions()
        state.apply_action(action)


def test_what_a_player_knows_is_in_the_string_also_where_no_text_shows_it():
    """In this text a hidden card changes how many words there are, so that all of it is hidden."""
    kuhn = in_python(games.load("kuhn-poker"))
    veiled = attrs.evolve(
        kuhn, name="veiled-poker", board=None, text=lambda data: "x " * (1 + data["cards"][0, 1])
    )
    first = pyspiel.load_game(register_game(veiled)).new_initial_state()
    cards: dict[str, set[int]] = {}
    for deal in first.legal_actions():
        state = first.child(deal)
        string = state.information_state_string(0)
        cards.setdefault(string, set()).add(state.position.data["cards"][0, 0])
    assert sorted(map(list, cards.values())) == [[0], [1], [2]]


def test_an_action_beyond_the_number_of_actions_is_refused():
    """OpenSpiel would write beyond its mask of legal actions."""
    state = pyspiel.load_game(
        register_game(attrs.evolve(NIM, name="narrow-nim", actions=3))
    ).new_initial_state()
    with pytest.raises(
        ValueError,
        match=r"narrow-nim has the legal action \d+, but `actions` is 3; give Game\(actions=",
    ):
        state.legal_actions_mask()


class Tossed:
    """Player 0 guesses a coin that was tossed before, of which his text tells nothing."""

    def __init__(self, rng: random.Random) -> None:
        self.coin, self.guesses = rng.randrange(2), list[int]()

    def num_players(self) -> int:
        return 1

    def is_terminal(self) -> bool:
        return bool(self.guesses)

    def current_player(self) -> int:
        return TERMINAL if self.guesses else 0

    def legal_actions(self) -> list[int]:
        return [0, 1]

    def apply_action(self, action: int) -> None:
        self.guesses.append(action)

    def returns(self) -> list[int]:
        return [1 if self.guesses == [self.coin] else -1]

    def __str__(self) -> str:
        return f"guessed {self.guesses}"


class Sure(Tossed):
    """The same with a coin that everybody knows, and states that have no text of their own."""

    __str__ = object.__str__

    def __init__(self) -> None:
        self.coin, self.guesses = 1, list[int]()


def test_chance_deals_and_acts_where_the_game_says_so_or_its_states_differ():
    sure = game_of(Sure)
    assert chance_in(game_of(Tossed)) == (True, True)
    assert chance_in(sure) == (False, False)
    assert chance_in(attrs.evolve(sure, chance=lambda state: [0.5, 0.5])) == (False, True)
    deal = {"deal": lambda index: None, "deal_observation": lambda state, player: 0}
    assert chance_in(attrs.evolve(sure, **deal)) == (True, True)


def test_what_is_no_game_or_no_agent_is_refused():
    with pytest.raises(
        TypeError,
        match="register_game needs a Game, such as games.load\\('othello'\\), not 'othello'",
    ):
        register_game("othello")
    for name in ("observe", "determinize"):
        with pytest.raises(TypeError, match=f"{name} is 0; it must be a function of a state"):
            openspiel.game("kuhn_poker", **{name: 0})
    for agent in (BASELINE, Agent):
        with pytest.raises(
            TypeError, match="an agent must be an Agent\\(strategy, iterations=…\\), not "
        ):
            Bot(agent, 0)


@pytest.mark.parametrize("decay", ["move_decay", "game_decay"])
@pytest.mark.parametrize("seat", [pettingzoo.policy, lambda agent: Bot(agent, 0)])
def test_an_agent_that_remembers_must_be_seated(seat, decay):
    agent = Agent(BASELINE, iterations=5, **{decay: 0.5})
    with pytest.raises(ValueError, match="remembers its searches once it is seated, agent.seated"):
        seat(agent)
    seat(agent.seated(games.load("kuhn-poker")))


@pytest.mark.parametrize("slip", [{"player": -1}, {"player": "0"}, {"seed": -1}, {"seed": (1, 2)}])
def test_a_bot_has_a_seat_and_a_seed(slip):
    with pytest.raises(
        ValueError, match=f"{next(iter(slip))} is .*; it must be an integer of at least 0"
    ):
        Bot(Agent(BASELINE, iterations=5), **{"player": 0} | slip)
