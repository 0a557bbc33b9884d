"""Games and policies of OpenSpiel beside ours: the same histories, walked together."""

import numpy as np
import pyspiel

from icarus import games
from icarus.equilibrium.deals import information_state
from icarus.games.liars_dice import LIAR
from icarus.kernel import State, facts_of
from tests.games.scenes import after_action

COUNTERPARTS = {
    "kuhn-poker": "kuhn_poker",
    "leduc-poker": "leduc_poker",
    "liars-dice": "liars_dice",
    "liars-dice(faces=3)": "liars_dice(dice_sides=3)",
    **{
        f"goofspiel(cards={cards}{ours})": "turn_based_simultaneous_game(game=goofspiel(imp_info=True,"
        f"num_cards={cards},points_order={order},returns_type=win_loss))"
        for cards in (3, 4, 5, 6)
        for ours, order in (("", "ascending"), (", descending=1", "descending"))
    },
}


def referee(name):
    """OpenSpiel's game of the same rules."""
    return pyspiel.load_game(COUNTERPARTS[name])


def pairs(name):
    """(our state, OpenSpiel's) at every decision of a player, along every history of OpenSpiel's game."""
    game = games.load(name)
    for theirs, dealt in after_the_deal(referee(name).new_initial_state(), []):
        ours = game.new_initial_state()
        if game.name == "liars-dice":
            facts_of(ours.data).faces[:, 0] = dealt
        elif "poker" in game.name:
            facts_of(ours.data).cards[:] = [
                card // (2 if game.name == "leduc-poker" else 1) for card in dealt
            ]
        yield from below(State(game, ours.data), theirs)


def after_the_deal(theirs, dealt):
    if not theirs.is_chance_node():
        yield theirs, dealt
        return
    for outcome, _ in theirs.chance_outcomes():
        yield from after_the_deal(theirs.child(outcome), [*dealt, outcome])


def below(ours, theirs):
    if theirs.is_terminal():
        return
    if not theirs.is_chance_node():
        yield ours, theirs
    for action in theirs.legal_actions():
        child = after_action(ours, ours_of(ours, action, theirs))
        yield from below(child, theirs.child(action))


def ours_of(ours, action, theirs):
    """Our name for one of OpenSpiel's actions."""
    name = ours.game.name
    if (
        name == "liars-dice"
        and action == theirs.legal_actions()[-1]
        and LIAR in ours.legal_actions()
    ):
        return LIAR
    if name == "leduc-poker" and theirs.is_chance_node():
        return action // 2
    return action + 1 if name == "goofspiel" else action


def random_probabilities(state):
    """A random mixture that depends on the information state alone."""
    player, observation, moves = information_state(state)
    seed = np.random.SeedSequence([player, observation, *(move + 1 for _, move in moves)])
    return np.random.default_rng(seed).dirichlet(np.ones(len(state.legal_actions())))


def their_random_policy(name):
    """The same mixtures in OpenSpiel's table."""
    table = {}
    for ours, theirs in pairs(name):
        if theirs.information_state_string() in table:
            continue
        probabilities = dict(
            zip(ours.legal_actions(), random_probabilities(ours).tolist(), strict=True)
        )
        table[theirs.information_state_string()] = [
            (action, probabilities[ours_of(ours, action, theirs)])
            for action in theirs.legal_actions()
        ]
    return pyspiel.TabularPolicy(table)
