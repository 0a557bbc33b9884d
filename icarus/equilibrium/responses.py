"""Best responses and exploitability, exact: walks over what a responder has seen, not over histories.

What a player must have done to reach a terminal history follows from what he has seen of it (perfect recall). So the others' share in
the probability of every end is a product along one path of his views; and a best response is found from the last views to the first:
where the responder moves, the best action; where he sees something, the sum. No history in between is looked at.
"""

import attrs
import numpy as np

from icarus.checks import is_integer
from icarus.equilibrium.arrays import NOTHING, PLAYERS, PlayerView, kernel
from icarus.equilibrium.policies import Policy, TabularPolicy, tabulate
from icarus.equilibrium.tree import GameOrTree, GameTree, tree_of
from icarus.kernel import inlined


@inlined
def reach(views: np.ndarray, policy: np.ndarray, out: np.ndarray) -> None:
    """The probability that a player does his part to reach each of his views."""
    for i in range(len(views)):
        view = views[i]
        if view.parent == NOTHING:
            out[i] = 1.0
        else:
            out[i] = out[view.parent] * (policy[view.slot] if view.slot != NOTHING else 1.0)


@inlined
def gather_utilities(ends: np.ndarray, reach_probabilities: np.ndarray, player: int, out: np.ndarray) -> None:
    """Add what ends at each view of a player is worth to him, weighed by the other's and chance's part."""
    sign = 1.0 if player == 0 else -1.0
    for i in range(len(ends)):
        end = ends[i]
        out[end.views[player]] += sign * reach_probabilities[end.views[1 - player]] * end.chance_reach * end.utility


@inlined
def pass_up(view: PlayerView, value: float, values: np.ndarray, actions: np.ndarray) -> None:
    """Tell the view before, or the action that led here, what this view is worth."""
    if view.slot != NOTHING:
        actions[view.slot] = value
    elif view.parent != NOTHING:
        values[view.parent] += value


@kernel("best responses")
def respond(
    views: np.ndarray,
    sets: np.ndarray,
    ends: np.ndarray,
    policy: np.ndarray,
    best: np.ndarray,
    by_view: np.ndarray,
    by_slot: np.ndarray,
    out: np.ndarray,
) -> int:
    """Both players' best responses.

    Args:
        policy: [slots] to respond to.
        best: [slots], set to 1 at the actions of the best responses and to 0 elsewhere.
        by_view, by_slot: zeros to work with. [3, views], [2, slots]
        out: [4]: the best responses' values for each player, then the policy's own.
    """
    count = len(views)
    reach_probabilities, values, policy_values = by_view[0], by_view[1], by_view[2]
    actions, expected = by_slot[0], by_slot[1]
    reach(views, policy, reach_probabilities)
    for player in range(PLAYERS):
        gather_utilities(ends, reach_probabilities, player, values)
    for i in range(count):
        policy_values[i] = values[i]
    for i in range(count - 1, -1, -1):
        view = views[i]
        if view.set != NOTHING:
            info_set = sets[view.set]
            chosen, policy_value = info_set.slot, 0.0
            for slot in range(info_set.slot, info_set.slot + info_set.count):
                best[slot] = 0.0
                policy_value += policy[slot] * expected[slot]
                if actions[slot] > actions[chosen]:
                    chosen = slot
            best[chosen] = 1.0
            values[i] += actions[chosen]
            policy_values[i] += policy_value
        pass_up(view, values[i], values, actions)
        pass_up(view, policy_values[i], policy_values, expected)
    for player in range(PLAYERS):
        out[player], out[PLAYERS + player] = values[player], policy_values[player]
    return 0


@attrs.frozen
class Exploitability:
    """How far a policy of both players is from an equilibrium, in the units of the game's utilities.

    Attributes:
        values: the expected gain of each player if both follow the policy.
        best_responses: the greatest expected gain of each player against the other's policy.
    """

    values: tuple[float, float]
    best_responses: tuple[float, float]

    @property
    def improvements(self) -> tuple[float, float]:
        """The gain of each player by his best response."""
        first, second = (best - value for best, value in zip(self.best_responses, self.values, strict=True))
        return first, second

    @property
    def nash_conv(self) -> float:
        """The sum of the improvements: the exploitability ε_σ of Lanctot, Lisý and Bowling (2015)."""
        return sum(self.improvements)

    @property
    def exploitability(self) -> float:
        """Half of `nash_conv`: what a best responder wins on average over both seats, above the value of the game."""
        return self.nash_conv / 2

    def __str__(self) -> str:
        first, second = self.improvements
        return (
            f"NashConv {self.nash_conv:.6g} (exploitability {self.exploitability:.6g}, its half): player 0 gains {first:.6g} and "
            f"player 1 {second:.6g} by a best response; player 0 expects {self.values[0]:.6g}"
        )


@attrs.frozen(eq=False)
class BestResponse:
    """The greatest expected gain of a player against the other's policy, and a policy that has it.

    Attributes:
        player: the responder.
        value: his expected gain.
        policy: a pure policy of his that gets it; for the other player, the policy responded to.
    """

    player: int
    value: float
    policy: TabularPolicy = attrs.field(repr=False)


def exploitability(game: GameOrTree, policy: Policy, *, seed: int = 0) -> Exploitability:
    """How far a policy of both players is from an equilibrium: NashConv, its half, and each player's share, exact.

        >>> game = icarus.games.load("leduc-poker")
        >>> print(icarus.exploitability(game, None).nash_conv)
        4.747222222222225
        >>> found = icarus.exploitability(game, icarus.Agent(icarus.RAVE, iterations=200))
        >>> found.nash_conv, found.exploitability, found.improvements, found.best_responses, found.values

    Args:
        game: a two-player zero-sum game, or its `icarus.equilibrium.GameTree`, which saves time in several calls.
        policy: the policy of both players. One of
            None: every legal action with the same probability;
            a function policy(state) that returns the probabilities of state.legal_actions(), as a sequence or as {action: probability};
            it is called once in each information set, and must depend only on what the player to move knows;
            a dictionary by `icarus.equilibrium.information_state(state)` of such probabilities, uniform where it has no entry;
            an Agent, who plays each action as often as his search visits it; of `Agent(OOS(…), …)` the policy that is found, each search
            with an empty memory (for that within a match see `icarus.equilibrium.stitch`);
            a solver or search with an average policy: CFR, CFRPlus, OOSSearch; a TabularPolicy;
            or a pair of these, one for each player.
        seed: an integer ≥ 0, of an Agent's searches.

    Returns:
        an `Exploitability`: numbers in the units of the game's utilities.

    Raises:
        ValueError: not a two-player zero-sum game, hidden deals, too large, invalid probabilities, or a bad seed.
        TypeError: no game or no policy.
    """
    _, out = _responses(tree_of(game), policy, seed)
    return Exploitability((float(out[2]), float(out[3])), (float(out[0]), float(out[1])))


def best_response(game: GameOrTree, policy: Policy, player: int, *, seed: int = 0) -> BestResponse:
    """The best response of a player to the other's policy; arguments as in `exploitability`.

    Raises:
        ValueError, TypeError: as in `exploitability`, and a player who is neither 0 nor 1.
    """
    if not is_integer(player) or player not in range(PLAYERS):
        raise ValueError(f"player is {player!r}; it must be 0 or 1")
    tree = tree_of(game)
    responses, out = _responses(tree, policy, seed)
    of_player = np.repeat(tree.sets["player"] == player, tree.sets["count"])
    response = TabularPolicy(tree, np.where(of_player, responses[1], responses[0]))
    return BestResponse(int(player), float(out[player]), response)


def _responses(tree: GameTree, policy: Policy, seed: int) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """((the policy, the best responses) by slot, the four values)."""
    probabilities = tabulate(tree, policy, seed).probabilities
    best, out = np.zeros(len(probabilities)), np.zeros(2 * PLAYERS)
    by_view, by_slot = np.zeros((3, len(tree.views))), np.zeros((2, len(probabilities)))
    respond(tree.views, tree.sets, tree.ends, probabilities, best, by_view, by_slot, out)
    out[1::PLAYERS] += sum(tree.game.utilities)  # what both gain together; `respond` takes it for 0
    return (probabilities, best), out
