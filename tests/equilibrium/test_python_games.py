"""Games in plain Python: their trees are those of their compiled twins, and what makes no sense in them gets one sentence."""

import attrs
import numpy as np
import pyspiel
import pytest

from icarus import BASELINE, RAVE, Agent, PythonGame, games, in_python
from icarus.bridges import openspiel
from icarus.equilibrium import (
    CFR,
    OOS,
    CFRPlus,
    GameTree,
    NearEquilibrium,
    OOSSearch,
    best_response,
    deals_of,
    exploitability,
    information_state,
    stitch,
    tabulate,
)
from icarus.equilibrium.tree import tree_of
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, below

KUHN, LEDUC = games.load("kuhn-poker"), games.load("leduc-poker")
SMALL = [
    games.load(name)
    for name in ("goofspiel(cards=3)", "liars-dice(faces=2)", "goofspiel(cards=3, descending=1)")
]
PYTHON = {game: in_python(game) for game in (KUHN, LEDUC, *SMALL)}
twins = pytest.mark.parametrize("game", PYTHON, ids=str)


@twins
def test_the_tree_of_a_game_in_python_is_that_of_its_compiled_twin(game):
    tree, plain = tree_of(game), tree_of(PYTHON[game])
    for name in ("nodes", "sets", "slots", "views", "ends"):
        ours, same = getattr(plain, name), getattr(tree, name)
        for field in ours.dtype.names or [...]:
            assert ours[field].tolist() == same[field].tolist(), (name, field)
    assert (tree.depth, repr(tree)) == (plain.depth, repr(plain))
    assert list(tree.information_states()) == list(plain.information_states())
    assert str(exploitability(tree, None)) == str(exploitability(PYTHON[game], None))


@twins
def test_its_states_are_found_in_its_information_sets(game):
    tree = tree_of(PYTHON[game])
    for number, key in zip(tree.decisions.tolist(), tree.information_states(), strict=True):
        state = tree.state_of(number)
        assert state.game is PYTHON[game]
        assert tuple(state.legal_actions()) == tree.actions(number)
        assert tree.set_at(state) == number
        assert information_state(state) == key


@pytest.mark.parametrize("solver", [CFR, CFRPlus], ids=["CFR", "CFR+"])
def test_solvers_learn_the_same_to_the_last_bit(solver):
    compiled, plain = solver(LEDUC), solver(PYTHON[LEDUC])
    compiled.run(100), plain.run(100)
    assert (compiled.sums == plain.sums).all()
    assert (compiled.regrets == plain.regrets).all()


@pytest.mark.parametrize(
    "algorithm", [OOS(), OOS(target="public subgame"), NearEquilibrium(0.1)], ids=str
)
def test_online_searches_find_the_same_policy(algorithm):
    compiled, plain = (game.new_initial_state(seed=5) for game in (LEDUC, PYTHON[LEDUC]))
    for state in (compiled, plain):
        state.apply_action(state.legal_actions()[-1])
    results = [Agent(algorithm, iterations=300).search(state, 1) for state in (compiled, plain)]
    assert results[0].policy.tolist() == results[1].policy.tolist()
    assert results[0].action == results[1].action
    assert results[1].state.game is PYTHON[LEDUC]


def test_searches_by_either_engine_are_as_exploitable():
    agent = Agent(RAVE, iterations=12)
    compiled, plain = (
        exploitability(game, agent, seed=2, seeds=4) for game in (KUHN, PYTHON[KUHN])
    )
    assert str(compiled) == str(plain)
    agent = Agent(BASELINE, iterations=5)
    assert (stitch(KUHN, agent).probabilities == stitch(PYTHON[KUHN], agent).probabilities).all()


# ---------------------------------------------------------------------------------------------------- games of OpenSpiel's


def test_outcome_sampling_comes_near_an_equilibrium_in_a_game_of_openspiel():
    search = OOSSearch(openspiel.game("kuhn_poker"), seed=1)
    search.make(3000)
    assert search.exploitability().nash_conv < 0.3  # that of uniform choice is .92


GOOFSPIEL = (
    "turn_based_simultaneous_game(game=goofspiel(imp_info=True,num_cards=3,returns_type=win_loss))"
)
THEIRS = ["kuhn_poker", "leduc_poker(suit_isomorphism=True)", "liars_dice(dice_sides=2)", GOOFSPIEL]


@pytest.mark.parametrize("name", THEIRS)
def test_a_game_of_openspiel_has_openspiel_s_nash_conv(name):
    theirs, mixtures = pyspiel.load_game(name), {}

    def mixture(state):
        key = state.data.information_state_string(state.current_player())
        if key not in mixtures:
            probabilities = np.random.default_rng(len(mixtures)).dirichlet(
                np.ones(len(state.legal_actions()))
            )
            mixtures[key] = list(zip(state.legal_actions(), probabilities.tolist(), strict=True))
        return dict(mixtures[key])

    tree = tree_of(openspiel.game(theirs))  # OpenSpiel need not redraw it
    # those too where nobody is asked, since only one action is legal
    for number in tree.decisions.tolist():
        mixture(tree.state_of(number))
    assert len(mixtures) == len(tree.decisions)
    ours = exploitability(tree, mixture)
    assert ours.nash_conv == pytest.approx(
        pyspiel.nash_conv(theirs, pyspiel.TabularPolicy(mixtures)), abs=1e-9
    )


# ------------------------------------------------------------------------------------------------------------ deals


def toss(coin=None):
    return {"coin": coin, "calls": []}


def call(state, action):
    state["calls"].append(action)


def guessed(state):
    won = state["calls"][-1] == state["coin"]
    return float(won), float(not won)


COIN = PythonGame(
    name="coin",
    players=2,
    initial=lambda rng: toss(below(rng, 2)),
    deal=lambda index: (toss(index), (0.75, 0.25)[index]) if index < 2 else None,
    deal_observation=lambda state, player: state["coin"] if player == 1 else -1,
    player=lambda state: (1, 0, TERMINAL)[len(state["calls"])],
    legal=lambda state: [0, 1],
    apply=call,
    rewards=guessed,
    utilities=(-10, 10),
)


def test_a_game_in_python_lists_its_deals():
    deals = deals_of(COIN)
    assert [state["coin"] for state in deals.states] == [0, 1]
    assert deals.observations.tolist() == [[-1, 0], [-1, 1]]
    assert deals.probabilities.tolist() == [0.75, 0.25]
    assert best_response(COIN, None, 0).value == 5  # he guesses 0: right three times in four
    assert best_response(COIN, lambda state: {state.data["coin"]: 1.0}, 0).value == 10
    state = COIN.new_initial_state(3)
    assert information_state(state) == (1, state.data["coin"], ())


# ------------------------------------------------------------------------------------------------------- wrong games


def heap(sticks, **changes):
    """Whoever takes the last stick wins; one or two at a time."""
    functions = {
        "player": lambda state: (
            sum(state) < sticks and len(state) % 2 or (TERMINAL if sum(state) >= sticks else 0)
        ),
        "legal": lambda state: [1, 2],
        "apply": lambda state, action: state.append(action),
        "rewards": lambda state: (1, 0) if len(state) % 2 else (0, 1),
    }
    return PythonGame(name="heap", players=2, initial=lambda rng: [], **{**functions, **changes})


def unseen_by_the_other(state, action):
    return [action, UNSEEN] if len(state) % 2 == 0 else [UNSEEN, action]


def luck(state):
    return CHANCE if not state else TERMINAL


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"player": lambda state: 2},
            r"player of heap .* returned 2; it must be a player from 0 to 1.*\nin heap after the actions \[\]",
        ),
        (
            {"apply": lambda state, action: None, "max_length": 99},
            r"after 100 actions, the last of them \[1, 1, .* heap continues",
        ),
        (
            {"rewards": lambda state: (1, -1)},
            r"rewards of heap .* returned \(1, -1\); .*\nin heap after the actions \[1, 1, 1\]",
        ),
        ({"rewards": lambda state: (1, 1)}, "the rewards of heap do not always sum to 1"),
        (
            {"player": luck, "chance": lambda state: [0.5, 0.6]},
            r"chance of heap .* returned \[0.5, 0.6\]; it must be 2",
        ),
        (
            {
                "observe": unseen_by_the_other,
                "legal": lambda state: [1, 2] if sum(state) < 2 else [1],
            },
            r"player 1 of heap has different legal actions after the same moves, .* first found after: '1'",
        ),
    ],
)
def test_an_answer_that_makes_no_sense_is_told_with_the_actions_before_it(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        GameTree(heap(3, **changes))


def test_what_a_game_raises_is_raised_with_the_actions_before_it():
    def apply(state, action):
        state.append({1: 1, 2: 2}[action] if len(state) < 2 else [][action])

    with pytest.raises(IndexError, match="list index out of range") as caught:
        GameTree(heap(3, apply=apply))
    assert caught.value.__notes__ == ["in heap after the actions [1, 1]"]
    assert caught.traceback[-1].name == "apply"


def test_ctrl_c_in_a_game_ends_the_growth():
    def interrupted(state):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        GameTree(heap(3, rewards=interrupted))


def test_a_player_s_own_action_is_told_from_the_other_s_of_the_same_number():
    # a hidden coin says who calls first; then player 0 guesses it: his own first call tells it, whatever was called
    game = attrs.evolve(
        COIN,
        deal=lambda index: (toss(index), 0.5) if index < 2 else None,
        deal_observation=lambda state, player: 0,
        player=lambda state: (state["coin"], 0, TERMINAL)[len(state["calls"])],
        utilities=(-1, 1),
    )
    tree = GameTree(game)
    best = best_response(tree, None, 0)
    assert best.value == 1.0
    table = best.policy.table()
    again = tabulate(tree, lambda state: table[information_state(state)])
    assert exploitability(tree, (again, None)).values[0] == 1.0  # it was -0.5
    assert len(table) == len(tree.decisions) == len(set(tree.information_states()))
    assert [tree.set_at(tree.state_of(k)) for k in tree.decisions] == tree.decisions.tolist()


def test_a_mover_knows_what_he_did_and_what_he_is_shown_of_it():
    # the coin is shown to player 0 as his first call is made, and then he calls again
    game = attrs.evolve(
        COIN,
        deal_observation=lambda state, player: 0,
        player=lambda state: TERMINAL if len(state["calls"]) == 2 else 0,
        observe=lambda state, action: [UNSEEN if state["calls"] else 10 + state["coin"], UNSEEN],
    )
    tree = GameTree(game)
    assert best_response(tree, None, 0).value == 10
    assert [tree.set_at(tree.state_of(k)) for k in tree.decisions] == tree.decisions.tolist()
    assert set(tree.information_states()) == {
        (0, 0, ()),
        *((0, 0, ((True, k % 2), (False, 10 + k // 2))) for k in range(4)),
    }


def test_a_game_may_have_more_actions_than_room_was_thought_of():
    wide = heap(3, legal=lambda state: range(1, 601))
    search = OOSSearch(wide)
    search.make(50)
    assert search.iterations == 50
    assert GameTree(wide).histories == 2 + 600 + 2 * 600 + 600


@pytest.mark.parametrize(
    ("choices", "most", "said"),
    [
        (2, 100_000, "is too large for a complete walk"),
        (1, 2000, "continues beyond its max_length of 2000 actions"),
    ],
)
def test_a_game_that_never_ends_is_refused_before_a_tree_is_grown(choices, most, said):
    endless = PythonGame(
        name="endless",
        players=2,
        initial=lambda rng: [0],
        player=lambda state: state[0] % 2,
        legal=lambda state: list(range(choices)),
        apply=lambda state, action: state.__setitem__(0, state[0] + 1),
        rewards=lambda state: (1, 0),
        max_length=most,
    )
    with pytest.raises(ValueError, match=f"endless .*{said}"):
        GameTree(endless)
