"""Policies of both players, written out: a probability for every action in every information set; best responses, exploitability."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.checks import count_text, integer, is_integer
from icarus.equilibrium.beliefs import UNIFORM, ResponseWalk, StoredPolicy
from icarus.equilibrium.deals import InformationState
from icarus.equilibrium.tree import Arrays, GameOrTree, GameTree, PlayerView, tree_of
from icarus.equilibrium.walk import NOTHING, PLAYERS, kernel
from icarus.kernel import AnyGame, Game, State, inlined

TOLERANCE = 1e-6  # how near to 1 the probabilities of a policy must sum
# A TabularPolicy, a function of states, an Agent, or a pair of these, one for each player.
PolicyLike: TypeAlias = Any
# By action, or in the order of the actions.
Probabilities: TypeAlias = Mapping[int, float] | Sequence[float] | np.ndarray


class TabularPolicy:
    """A policy of both players in a game: `policy(state)` gives the probability of each legal action, in the game's order.

    Attributes:
        tree: of the game.
        probabilities: of every action, by its slot in the tree. [slots]

    Raises:
        ValueError: there is not a number ≥ 0 for each slot, or those of an information set do not sum to 1.
    """

    def __init__(self, tree: GameTree, probabilities: np.ndarray) -> None:
        self.tree, self.probabilities = tree, np.ascontiguousarray(probabilities, float)
        shape, what = self.probabilities.shape, f"the probabilities of a policy in {tree.game}"
        if shape != tree.slots.shape:
            raise ValueError(f"{what} have the shape {shape}; it must be {tree.slots.shape}")
        sums, where = _sums(tree, self.probabilities), ""
        for number in np.flatnonzero(~(np.abs(sums - 1) < TOLERANCE))[:1]:
            where = f"sum to {sums[number]:g} in information set {number}"
        if where or not (self.probabilities >= 0).all():
            where = where or "are negative somewhere"
            raise ValueError(
                f"{what} {where}; they must be at least 0 and sum to 1 in each information set"
            )

    def at(self, number: int) -> np.ndarray:
        """The probabilities in an information set, by its number."""
        return self.probabilities[self.tree.slots_of(number)]

    def __call__(self, state: State) -> np.ndarray:
        return self.at(self.tree.set_at(state)).copy()

    def table(self) -> dict[InformationState, dict[int, float]]:
        """The policy as a dictionary of dictionaries: by information state, then by action."""
        tree, numbers = self.tree, self.tree.decisions
        policies = (
            dict(zip(tree.actions(number), self.at(number).tolist(), strict=True))
            for number in numbers
        )
        return dict(zip(tree.information_states(), policies, strict=True))

    def __repr__(self) -> str:
        return f"<policy in {count_text(len(self.tree.decisions), 'information set')} of {self.tree.game}>"


def _sums(tree: GameTree, values: np.ndarray) -> np.ndarray:
    """Of each information set. [sets]"""
    return np.add.reduceat(values, tree.sets["slot"]) if len(tree.sets) > 0 else np.zeros(0)


def normalise(tree: GameTree, weights: np.ndarray) -> TabularPolicy:
    """The policy in proportion to weights of the slots; uniform in an information set where all are 0."""
    counts = tree.sets["count"]
    totals, even = np.repeat(_sums(tree, weights), counts), np.repeat(1 / counts, counts)
    with np.errstate(invalid="ignore"):
        return TabularPolicy(tree, np.where(totals > 0, weights / totals, even))


def uniform_policy(tree: GameTree) -> TabularPolicy:
    """Every legal action with the same probability."""
    return normalise(tree, np.zeros(len(tree.slots)))


def tabulate(tree: GameTree, policy: PolicyLike, seed: int = 0) -> TabularPolicy:
    """A policy of any kind written out over a tree.

    Args:
        policy: a TabularPolicy of the same game; a function `policy(state)` that returns probabilities, {action: probability} or a
            sequence in the game's order, asked once for each information set and to depend on nothing else; an Agent, who plays each
            action as often as his search visits it, or by the policy that his algorithm finds, each search with an empty memory; what
            has learned a policy, such as a CFR or an OOSSearch, which stands for its average; None for the uniform one; or a pair of
            these, one for each player.
        seed: an integer ≥ 0, of the searches of agents; each information set has a stream of its own.

    Raises:
        TypeError: none of these, or no tree. ValueError: invalid probabilities, by information set and player; a bad seed.
    """
    if not isinstance(tree, GameTree):
        raise TypeError(
            f"tabulate needs the GameTree of a game, such as GameTree(game), not {tree!r}"
        )
    seed = integer("seed", seed, 0)
    if isinstance(policy, tuple | list):
        first, second = (
            tabulate(tree, each, seed).probabilities for each in policies_of(tree.game, policy)
        )
        of_second = np.repeat(tree.sets["player"] == 1, tree.sets["count"])
        return TabularPolicy(tree, np.where(of_second, second, first))
    if policy is None:
        return uniform_policy(tree)
    if isinstance(policy, TabularPolicy):
        is_same = str(policy.tree.game) == str(tree.game) and np.array_equal(
            policy.tree.sets, tree.sets
        )
        if policy.tree is not tree and not is_same:
            raise ValueError(f"{policy!r} is not a policy in {tree.game}")
        return TabularPolicy(tree, policy.probabilities)
    learned = getattr(policy, "average", None)
    if isinstance(learned, TabularPolicy):
        return tabulate(tree, learned)
    ask, result = question_to(policy), uniform_policy(tree)
    for number in tree.decisions.tolist():
        if tree.sets[number]["count"] > 1:
            result.at(number)[:] = ask(tree.state_of(number), (seed, number))
    return result


def _uniform(state: State, seed: tuple[int, int]) -> np.ndarray:
    count = len(state.legal_actions())
    return np.full(count, 1 / count)


def question_to(policy: PolicyLike) -> Callable[[State, tuple[int, int]], np.ndarray]:
    """What tells a policy's probabilities in the information set of a state, in the order of its actions; a search has the seed given.

    Raises:
        TypeError: an agent or a function is needed. ValueError: what is told are no probabilities; when it is asked.
    """
    if policy is None:
        return _uniform
    search = getattr(policy, "search", None)
    if isinstance(policy, type) or not (callable(search) or callable(policy)):
        kind = "is a class, not a policy; it must be made first, such as CFR(game) or Agent(strategy, iterations=…)"
        wrong = "is not a policy; it must be a TabularPolicy, an Agent, a function policy(state) of probabilities, or a pair of these"
        raise TypeError(f"{policy!r} {kind if isinstance(policy, type) else wrong}")

    def ask(state: State, seed: tuple[int, int]) -> np.ndarray:
        try:
            answer = (
                search(state.clone(), seed).policy if callable(search) else policy(state.clone())
            )
        except Exception as error:
            error.add_note(
                f"the policy was asked in {state.game} after {state.history_str() or 'the deal'!r}"
            )
            raise
        return checked_probabilities(state, answer)

    return ask


def policies_of(game: AnyGame, policy: PolicyLike) -> Sequence[PolicyLike]:
    """The policy of each player."""
    policies = policy if isinstance(policy, tuple | list) else [policy] * game.players
    if len(policies) != game.players:
        raise ValueError(f"{len(policies)} policies for the {game.players} players of {game}")
    return policies


def checked_probabilities(state: State, answer: Probabilities) -> np.ndarray:
    """The probabilities in the information set of a state in the order of its actions. [actions]

    Raises:
        ValueError: they are not numbers ≥ 0 that sum to 1, one for each action.
    """
    actions = state.legal_actions()
    in_order = answer
    if isinstance(answer, Mapping):
        wrong = [action for action in answer if action not in actions]
        in_order = [] if wrong else [answer.get(action, 0.0) for action in actions]
    try:
        values = np.asarray(in_order, float)
    except (TypeError, ValueError):  # texts, lists of unequal lengths, a generator
        values = np.zeros(0)
    fits = values.shape == (len(actions),) and (values >= 0).all()
    if not fits or not abs(values.sum() - 1) < TOLERANCE:
        where = f"player {state.current_player()} of {state.game} plays {answer!r} after {state.history_str() or 'the deal'!r}"
        raise ValueError(
            f"{where}; it must be probabilities of the actions {actions} that sum to 1"
        )
    return values


# -------------------------------------------------------------------------------------------------------- best responses

# Exact, by walks over what a responder has seen, not over histories: what a player must have done to reach a terminal history follows
# from what he has seen of it (perfect recall). So the others' share in the probability of every end is a product along one path of his
# views; and a best response is found from the last views to the first: where the responder moves, the best action; where he sees
# something, the sum.


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
def gather_utilities(
    ends: np.ndarray, reach_probabilities: np.ndarray, player: int, out: np.ndarray
) -> None:
    """Add what ends at each view of a player is worth to him, weighed by the other's and chance's part."""
    sign = 1.0 if player == 0 else -1.0
    for i in range(len(ends)):
        end = ends[i]
        out[end.views[player]] += (
            sign * reach_probabilities[end.views[1 - player]] * end.chance_reach * end.utility
        )


@inlined
def pass_up(view: PlayerView, value: float, values: np.ndarray, actions: np.ndarray) -> None:
    """Tell the view before, or the action that led here, what this view is worth."""
    if view.slot != NOTHING:
        actions[view.slot] = value
    elif view.parent != NOTHING:
        values[view.parent] += value


@kernel("best responses")
def respond(
    tree: Arrays,
    policy: np.ndarray,
    best: np.ndarray,
    reached: np.ndarray,
    values: np.ndarray,
    out: np.ndarray,
) -> int:
    """Both players' best responses.

    Args:
        policy: [slots] to respond to.
        best: [slots], set to 1 at the actions of the best responses and to 0 elsewhere.
        reached, values: room, and zeros. [views]
        out: [3] zeros: the best responses' values for each player, and the policy's own for player 0.
    """
    reach(tree.views, policy, reached)
    for i in range(len(tree.ends)):
        end = tree.ends[i]
        out[2] += reached[end.views[0]] * reached[end.views[1]] * end.chance_reach * end.utility
    for player in range(PLAYERS):
        gather_utilities(tree.ends, reached, player, values)
    for i in range(len(tree.views) - 1, -1, -1):
        view = tree.views[i]
        if view.set != NOTHING:
            info_set = tree.sets[view.set]
            chosen = info_set.slot
            for slot in range(info_set.slot, info_set.slot + info_set.count):
                if best[slot] > best[chosen]:
                    chosen = slot
            values[i] += best[chosen]
            for slot in range(info_set.slot, info_set.slot + info_set.count):
                best[slot] = 1.0 if slot == chosen else 0.0
        pass_up(view, values[i], values, best)
    for player in range(PLAYERS):
        out[player] = values[player]
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
        first, second = (
            best - value for best, value in zip(self.best_responses, self.values, strict=True)
        )
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


def exploitability(
    game: GameOrTree,
    policy: PolicyLike,
    *,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Exploitability:
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
            an Agent, who plays each action as often as his search visits it; of `Agent(OOS(…), …)` the policy that is found, each search
            with an empty memory (for that within a match see `icarus.equilibrium.stitch`);
            a solver or search with an average policy: CFR, CFRPlus, OOSSearch; a TabularPolicy;
            or a pair of these, one for each player.
        seed: an integer ≥ 0, of an Agent's searches.
        progress: called with the share that is done, where no tree is grown: best responses to a uniform or a stored policy in a compiled
            game need none, and it may be much larger.

    Returns:
        an `Exploitability`: numbers in the units of the game's utilities.

    Raises:
        ValueError: not a two-player zero-sum game, hidden deals, too large, invalid probabilities, or a bad seed.
        TypeError: no game or no policy.
    """
    stored = UNIFORM if policy is None else getattr(policy, "stored_policy", None)
    if not (isinstance(game, Game) and isinstance(stored, StoredPolicy)):
        return _responses(tree_of(game), policy, seed)[1]
    gains = []
    for player in range(PLAYERS):
        tell = (
            None
            if progress is None
            else lambda share, player=player: progress((player + share) / PLAYERS)
        )
        gains.append(ResponseWalk(game, player, stored).run(tell))
    best, expected = zip(*gains, strict=True)
    return Exploitability(expected, best)


def best_response(
    game: GameOrTree, policy: PolicyLike, player: int, *, seed: int = 0
) -> BestResponse:
    """The best response of a player to the other's policy; arguments as in `exploitability`.

    Raises:
        ValueError, TypeError: as in `exploitability`, and a player who is neither 0 nor 1.
    """
    if not is_integer(player) or player not in range(PLAYERS):
        raise ValueError(f"player is {player!r}; it must be 0 or 1")
    tree = tree_of(game)
    responses, distance = _responses(tree, policy, seed)
    of_player = np.repeat(tree.sets["player"] == player, tree.sets["count"])
    response = TabularPolicy(tree, np.where(of_player, responses[1], responses[0]))
    return BestResponse(int(player), distance.best_responses[player], response)


def _responses(
    tree: GameTree, policy: PolicyLike, seed: int
) -> tuple[tuple[np.ndarray, np.ndarray], Exploitability]:
    """((the policy, the best responses) by slot, their values)."""
    probabilities = tabulate(tree, policy, seed).probabilities
    best, out = np.zeros(len(probabilities)), np.zeros(PLAYERS + 1)
    respond(
        tree.arrays, probabilities, best, np.zeros(len(tree.views)), np.zeros(len(tree.views)), out
    )
    total = sum(tree.game.utilities)  # what both gain together; `respond` takes it for 0
    first, second, value = out.tolist()
    return (probabilities, best), Exploitability((value, total - value), (first, second + total))
