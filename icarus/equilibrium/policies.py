"""Policies of both players, written out: a probability for every action in every information set; best responses, exploitability."""

from collections import defaultdict
from collections.abc import Callable, Sequence

import attrs
import numpy as np

from icarus.checks import count_text, exact_text, integer, is_integer, one_of, seed_key
from icarus.compiler import array_kernel
from icarus.engine.match import (
    MOST_VISITED,
    PLAYS,
    TOLERANCE,
    PolicyLike,
    Question,
    is_player,
    question_to,
)
from icarus.engine.scheme import Scheme
from icarus.engine.search import check_callable
from icarus.equilibrium.beliefs import UNIFORM, ResponseWalk, StoredPolicy
from icarus.equilibrium.deals import InformationState
from icarus.equilibrium.tree import Arrays, GameOrTree, GameTree, PlayerView, tree_of
from icarus.equilibrium.walk import NOTHING, PLAYERS
from icarus.kernel import AnyGame, Game, State, inlined
from icarus.statistics import mean_of

SEEDS = 32  # of a search: from here to 64 the estimate falls by 3 % in Leduc poker and by 4 % in Goofspiel with four cards
CONFIDENCE = 0.95  # of each limit
TWO_SIDED = 2 * CONFIDENCE - 1  # of an interval between two such limits


class TabularPolicy:
    """A policy of both players in a game: `policy(state)` gives the probability of each legal action, in the game's order.

    Attributes:
        tree: of the game.
        probabilities: of every action, by its slot in the tree. [slots]

    Raises:
        ValueError: there is not a number ≥ 0 for each slot, or those of an information set do not sum to 1.
    """

    def __init__(self, tree: GameTree, probabilities: np.ndarray) -> None:
        self.tree = tree
        self.probabilities = np.array(probabilities, float, order="C")
        what = f"the probabilities of a policy in {tree.game}"
        shape = self.probabilities.shape
        if shape != tree.slots.shape:
            raise ValueError(f"{what} have the shape {shape}; it must be {tree.slots.shape}")
        sums = np.add.reduceat(self.probabilities, tree.sets["slot"])
        is_wrong = ~(np.abs(sums - 1) < TOLERANCE)  # also of a sum that is no number
        mistake = ""
        if is_wrong.any():
            number = is_wrong.argmax()
            mistake = f"sum to {exact_text(sums[number])} in information set {number}"
        elif not (self.probabilities >= 0).all():
            mistake = "are negative somewhere"
        if mistake:
            raise ValueError(
                f"{what} {mistake}; they must be at least 0 and sum to 1 in each information set"
            )

    def at(self, number: int) -> np.ndarray:
        """The probabilities in an information set, by its number."""
        return self.probabilities[self.tree.slots_of(number)]

    def __call__(self, state: State) -> np.ndarray:
        return self.at(self.tree.set_at(state)).copy()

    def table(self) -> dict[InformationState, dict[int, float]]:
        """The policy as a dictionary of dictionaries: by information state, then by action."""
        tree = self.tree
        return {
            state: dict(zip(tree.actions(number), self.at(number).tolist(), strict=True))
            for number, state in enumerate(tree.information_states())
        }

    def __repr__(self) -> str:
        return f"<policy in {count_text(len(self.tree.decisions), 'information set')} of {self.tree.game}>"


def normalise(tree: GameTree, weights: np.ndarray) -> TabularPolicy:
    """The policy in proportion to weights of the slots; uniform in an information set where all are 0."""
    counts = tree.sets["count"]
    totals = np.repeat(np.add.reduceat(weights, tree.sets["slot"]), counts)
    even = np.repeat(1 / counts, counts)
    return TabularPolicy(tree, np.divide(weights, totals, out=even, where=totals > 0))


def uniform_policy(tree: GameTree) -> TabularPolicy:
    """Every legal action with the same probability."""
    return normalise(tree, np.zeros(len(tree.slots)))


def own_predecessors(tree: GameTree) -> np.ndarray:
    """For each information set the one in which the same player last moved before, or NOTHING. [sets]"""
    parents, set_of_view = tree.views["parent"], tree.views["set"]
    rows = parents[tree.sets["last_view"]]
    while True:
        passive = (rows != NOTHING) & (set_of_view[rows] == NOTHING)
        if not passive.any():
            return np.where(rows == NOTHING, NOTHING, set_of_view[rows])
        rows = np.where(passive, parents[rows], rows)


def tabulate(
    game: GameOrTree,
    policy: PolicyLike,
    seed: int | Sequence[int] = 0,
    *,
    play: str = MOST_VISITED,
    progress: Callable[[int, int], None] | None = None,
) -> TabularPolicy:
    """A policy of any kind as a table over a tree. That of a search, with one seed, is found by full stitching.

    Full stitching (Lanctot, Lisý and Bowling, 2015) searches in every information set. Each search comes after those in the sets of the
    same player that lead there, and what a player has learned in them is kept for those below alone, as in a match.

    Args:
        policy: as in `exploitability`.
        seed: of the searches; each information set has a stream of its own.
        play: how a search is played, see `exploitability`.
        progress: called with (parts done, parts in all); a part is what follows on one of a player's first information sets.

    Raises:
        ValueError, TypeError: as for a `GameTree`, and as in `exploitability`.
    """
    one_of("play", play, PLAYS)
    check_callable("progress", progress, "a function of (parts done, parts in all)")
    tree = tree_of(game)
    key = seed_key(seed)
    result = uniform_policy(tree)
    searches = dict[int, PolicyLike]()
    for player, each in enumerate(policies_of(tree.game, policy)):
        # a CFR has a table already
        table = getattr(each, "average", each) if hasattr(each, "tree") else each
        if isinstance(table, TabularPolicy):
            is_same = np.array_equal(table.tree.sets, tree.sets)
            if str(table.tree.game) != str(tree.game) or not is_same:
                raise ValueError(f"{table!r} is not a policy in {tree.game}")
            result.probabilities = _mixed(tree, player, table.probabilities, result.probabilities)
        elif each is not None:
            searches[player] = each
    if not searches:
        return result
    followers = defaultdict[int, list[int]](list)
    for number, before in enumerate(own_predecessors(tree).tolist()):
        followers[before].append(number)

    def search_from(number: int, ask: Question) -> None:
        if tree.sets[number]["count"] > 1:
            result.at(number)[:] = ask(tree.state_of(number), (*key, number))
        below = followers[number]
        learned = None
        if len(below) > 1 and hasattr(ask.policy, "recall"):
            learned = ask.policy.memory()
        for i, follower in enumerate(below):
            # What was learned here holds for each set below. The first begins with it; for the others it is put back.
            if learned is not None and i > 0:
                ask.policy.recall(learned)
            search_from(follower, ask)

    parts = [part for part in followers[NOTHING] if tree.sets[part]["player"] in searches]
    for done, part in enumerate(parts):
        if progress is not None:
            progress(done, len(parts))
        searcher = searches[tree.sets[part]["player"]]
        sits_down = is_player(searcher)
        if sits_down:
            searcher = searcher.seated(tree.game)
        search_from(part, question_to(searcher, play, learns=sits_down))
    if progress is not None:
        progress(len(parts), len(parts))
    return result


stitch = tabulate  # as the papers call it


def policies_of(game: AnyGame, policy: PolicyLike) -> Sequence[PolicyLike]:
    """The policy of each player, by one for all of them, or a tuple or list of one for each.

    Raises:
        ValueError: another number of policies than of players, or a search that sees what the game hides.
    """
    is_each = isinstance(policy, tuple | list) and not hasattr(policy, "policy_at")
    policies = policy if is_each else [policy] * game.players
    if len(policies) != game.players:
        raise ValueError(f"{len(policies)} policies for the {game.players} players of {game}")
    for each in policies:
        scheme = getattr(each, "scheme", None)
        if isinstance(scheme, Scheme) and scheme.cheats and game.determinize is not None:
            raise ValueError(
                f"{each} has no policy in the information sets of {game}: what it plays depends on what is hidden; take another scheme"
            )
    return policies


def questions_to(game: AnyGame, policy: PolicyLike, play: str) -> tuple[list[Question], str]:
    """How the policy of each player is asked; and a text of what is measured, for the result."""
    questions = [question_to(each, play) for each in policies_of(game, policy)]
    texts = [f"{each}, {play}" if each.has_luck else str(each) for each in questions]
    return questions, " against ".join(dict.fromkeys(texts))


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
        out[i] = out[view.parent] if view.parent != NOTHING else 1.0
        if view.slot != NOTHING:
            out[i] *= policy[view.slot]


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


@array_kernel("best responses")
def respond(tree: Arrays, policy: np.ndarray, best: np.ndarray, values: np.ndarray) -> float:
    """Both players' best responses; returns what player 0 has by the policy itself.

    Args:
        policy: [slots] to respond to.
        best: [slots] zeros; on the way room for what actions are worth. At the end 1 at the actions of the best responses, 0 elsewhere.
        values: [views] zeros, set to what best responses expect where a player has seen so much, times the others' part in coming there.
    """
    reached, expected = np.empty(len(tree.views)), 0.0
    reach(tree.views, policy, reached)
    for i in range(len(tree.ends)):
        end = tree.ends[i]
        expected += reached[end.views[0]] * reached[end.views[1]] * end.chance_reach * end.utility
    for player in range(PLAYERS):
        gather_utilities(tree.ends, reached, player, values)
    for i in range(len(tree.views) - 1, -1, -1):
        view = tree.views[i]
        if view.set != NOTHING:
            info_set = tree.sets[view.set]
            # what each action is worth, as the views below have passed it up
            actions = best[info_set.slot : info_set.slot + info_set.count]
            chosen = actions.argmax()
            values[i] += actions[chosen]
            actions[:] = 0.0
            actions[chosen] = 1.0
        pass_up(view, values[i], values, best)
    return expected


@attrs.frozen
class Exploitability:
    """How far a policy of all players is from an equilibrium, in the units of the game's utilities.

    Attributes:
        lower, estimate, upper: of NashConv, the sum of what all players gain by best responses. They are the same where nothing is left
            to chance.
        confidence: of either limit for itself; 1 where nothing is left to chance.
        method: how it was measured.
        policy: of whom.
        best_responses: what each player expects by responding. Of more than two players, above what he has by the policy.
        values: what each player expects if all follow the policy; empty where that is not known.
        samples: what each player gained by responding, in each match of local best responses. [players, matches]
        questions: how often the policy was asked by local best responses.
    """

    lower: float
    estimate: float
    upper: float
    confidence: float
    method: str = attrs.field(eq=False)
    policy: str = attrs.field(eq=False)
    best_responses: tuple[float, ...]
    values: tuple[float, ...] = ()
    samples: tuple[list[float], ...] = attrs.field(default=(), repr=False)
    questions: int = 0

    @property
    def nash_conv(self) -> float:
        """The estimate, the exploitability ε_σ of Lanctot, Lisý and Bowling (2015)."""
        return self.estimate

    @property
    def exploitability(self) -> float:
        """Half of `nash_conv`: what a best responder wins on average over both seats, above the value of the game."""
        return self.nash_conv / 2

    @property
    def improvements(self) -> tuple[float, ...]:
        """The gain of each player by his best response; of two players by local best responses not known."""
        if len(self.best_responses) > PLAYERS:
            return self.best_responses
        if not self.values:
            return ()
        pairs = zip(self.best_responses, self.values, strict=True)
        # a best response never loses by more than rounding
        return tuple(max(0.0, best - value) for best, value in pairs)

    def __str__(self) -> str:
        percent = f"{100 * self.confidence:.0f} %"
        if self.values:
            limits = ""
            if self.lower < self.upper:
                limits = f" ({percent}: at least {self.lower:.4g}, at most {self.upper:.4g}; {self.method})"
            first, second = self.improvements
            return (
                f"NashConv {self.estimate:.6g}{limits} (exploitability {self.exploitability:.6g}, its half): player 0 gains {first:.6g} "
                f"and player 1 {second:.6g} by a best response; player 0 expects {_rounded(self.values[0]):.6g}"
            )
        of_two = len(self.best_responses) == PLAYERS
        verb = "has" if of_two else "gains"
        gains = ", ".join(
            f"player {i} {verb} {_rounded(x):.4g}" for i, x in enumerate(self.best_responses)
        )
        how = f"{gains} by {self.method}, with {self.questions:,} questions"
        if not of_two:
            return f"{how}; of more than two players no theorem says how far that is from an equilibrium"
        nothing = "" if self.lower else ", so nothing is shown"
        certain = "" if self.confidence == 1 else f" ({percent}; estimate {self.estimate:.4g})"
        return f"NashConv at least {self.lower:.4g}{nothing}{certain}: {how}"


def _rounded(value: float) -> float:
    """A value without what sums of real numbers leave of 0, nor a sign of that."""
    return round(value, 12) + 0.0


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
    seeds: int = SEEDS,
    play: str = MOST_VISITED,
    seed: int = 0,
    progress: Callable[[float], None] | None = None,
) -> Exploitability:
    """How far a policy of both players is from an equilibrium: NashConv, its half, and each player's share.

        >>> game = icarus.games.load("leduc-poker")
        >>> print(icarus.exploitability(game, None).nash_conv)
        4.747222222222225
        >>> result = icarus.exploitability(game, icarus.Agent(icarus.RAVE, iterations=200))
        >>> result.lower, result.estimate, result.upper, result.improvements, result.best_responses, result.values

    It is exact for a policy without luck. A search has another seed in each decision of a match, so that the policy it plays is the mean
    over seeds. That is estimated by the mean policy of so many searches in each information set. Its NashConv is the estimate: NashConv is
    convex in a player's policy, so the estimate is too high on average, by less the more seeds there are. For the lower limit best
    responses to the mean of one half of the seeds are valued on each of the other half, whom they do not know: on average at most the
    NashConv of the policy played. The upper limit adds to the estimate what the values of its best responses vary by over all seeds. Both
    are one-sided limits of 95 % by Student's distribution, cut to what NashConv can be; seeds that all agree do not show that the next one
    would. With fewer than four seeds nothing is shown.

    Args:
        game: a two-player zero-sum game, or its `icarus.equilibrium.GameTree`, which saves time in several calls.
        policy: the policy of both players. One of
            None: every legal action with the same probability;
            a function policy(state) that returns the probabilities of state.legal_actions(), as a sequence or as {action: probability};
            it is called once in each information set, and must depend only on what the player to move knows;
            an Agent, or another player with `seated` and `search`: a search in each information set, by full stitching (see
            `icarus.equilibrium.stitch`); not one whose scheme cheats; one who learns in a match must have `memory` and `recall`, as an
            OOSSearch has; a search that is seated already, whose memory is the same after each question;
            what has learned a policy or holds one: CFR, CFRPlus, OOSSearch, StoredPolicy, TabularPolicy;
            a policy or a bot of pyspiel, in a game of `icarus.bridges.openspiel`;
            or a pair of these, one for each player.
        seeds: how many searches of an Agent in each information set.
        play: "most visited": an Agent takes the action that his search recommends, as in a match; "visit shares": each action as often as
            his search visits it. OOS draws from its policy in either case.
        seed: an integer ≥ 0, of an Agent's searches.
        progress: called with the share that is done.

    Returns:
        an `Exploitability`: numbers in the units of the game's utilities.

    Raises:
        ValueError: not a two-player zero-sum game, hidden deals, too large, invalid probabilities, a search that sees what is hidden,
            or a bad setting.
        TypeError: no game or no policy.
        KeyboardInterrupt: with the result of the seeds that were done, if there are two.
    """
    integer("seeds", seeds, 1)
    integer("seed", seed, 0)
    one_of("play", play, PLAYS)
    check_callable("progress", progress, "a function of the share that is done")
    if isinstance(game, Game):
        stored = _stored(game, policy)
        if stored is not None:
            return _by_walks(game, policy, stored, progress)
    tree = tree_of(game)
    written = list[np.ndarray]()  # the probabilities of each seed that is done
    questions, what = questions_to(tree.game, policy, play)
    has_luck = any(question.has_luck for question in questions)
    count = seeds if has_luck else 1

    def tell(done: int, parts: int) -> None:
        # the end of a seed is told when it is written, so that it is not lost
        if progress is not None and done < parts:
            progress((len(written) + done / parts) / count)

    try:
        for k in range(count):
            by_seed = tabulate(tree, policy, (seed, k), play=play, progress=tell)
            written.append(by_seed.probabilities)
            tell(0, 1)
    except KeyboardInterrupt:
        if len(written) > 1:
            raise KeyboardInterrupt(_measured(tree, written, what)) from None
        raise KeyboardInterrupt from None
    return _measured(tree, written, what, has_luck=has_luck)


def _stored(game: Game, policy: PolicyLike) -> StoredPolicy | None:
    """The policy as it is stored, or None: one of another kind, or that of a search with a budget, which goes on.

    Raises:
        ValueError: the policy is that of a search in another game.
    """
    if policy is None:
        return UNIFORM
    has_budget = getattr(policy, "budget", (None, None)) != (None, None)
    stored = getattr(policy, "stored_policy", policy)
    if not isinstance(stored, StoredPolicy) or has_budget:
        return None
    # information sets of two games may have the same keys
    if str(getattr(policy, "game", game)) != str(game):
        raise ValueError(f"{policy!r} is not a policy in {game}")
    return stored


def _by_walks(
    game: Game, policy: PolicyLike, stored: StoredPolicy, progress: Callable[[float], None] | None
) -> Exploitability:
    """The exploitability of a stored policy, by best responses that need no tree."""
    gains = list[tuple[float, float]]()

    def tell(share: float) -> None:
        if progress is not None:
            progress((len(gains) + share) / PLAYERS)

    for player in range(PLAYERS):
        gains.append(ResponseWalk(game, player, stored).run(tell))
    best, expected = zip(*gains, strict=True)
    return _exact_result(best, expected, "uniform choice" if policy is None else str(policy))


def _exact_result(best: Sequence[float], values: Sequence[float], policy: str) -> Exploitability:
    """The exploitability of a policy without luck, by what each player has by a best response, and by the policy."""
    distance = max(0.0, sum(most - value for most, value in zip(best, values, strict=True)))
    limits = distance, distance, distance
    return Exploitability(*limits, 1.0, "best responses", policy, tuple(best), tuple(values))


def _measured(
    tree: GameTree, written: Sequence[np.ndarray], policy: str, *, has_luck: bool = True
) -> Exploitability:
    """The exploitability of the policy that is played, by the probabilities of some seeds. The text of the policy is `policy`."""
    best, result = _responses(tree, np.mean(written, 0), policy)
    count = len(written)
    if not has_luck:
        return result
    low, high = tree.game.utilities
    most = high - low
    lower = 0.0
    upper = most
    if count > 3:
        half = count // 2
        best_of_half, _ = _responses(tree, np.mean(written[:half], 0), policy)
        gains = [_gain_by(tree, best_of_half, each) for each in written[half:]]
        lower = max(0.0, mean_of(gains, -most, most, TWO_SIDED).low)
        # of the responses to the mean policy, whose gains are the estimate on average
        upper = mean_of([_gain_by(tree, best, each) for each in written], 0.0, most, TWO_SIDED).high
    return attrs.evolve(
        result,
        lower=min(lower, result.estimate),
        upper=max(upper, result.estimate),
        confidence=CONFIDENCE,
        method=f"mean policy of {count_text(count, 'seed')}",
    )


def best_response(
    game: GameOrTree, policy: PolicyLike, player: int, *, play: str = MOST_VISITED, seed: int = 0
) -> BestResponse:
    """The best response of a player to the other's policy, of a search with one seed; arguments as in `exploitability`.

    Raises:
        ValueError, TypeError: as in `exploitability`, and a player who is neither 0 nor 1.
    """
    if not is_integer(player) or player not in range(PLAYERS):
        raise ValueError(f"player is {player!r}; it must be 0 or 1")
    tree = tree_of(game)
    probabilities = tabulate(tree, policy, seed, play=play).probabilities
    # both players' best responses; the other's part gives way to his policy
    best, result = _responses(tree, probabilities, text="")
    response = TabularPolicy(tree, _mixed(tree, player, best, probabilities))
    return BestResponse(int(player), result.best_responses[player], response)


def _mixed(tree: GameTree, player: int, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The first policy for a player, the second for the other. [slots]"""
    return np.where(np.repeat(tree.sets["player"] == player, tree.sets["count"]), first, second)


def _gain_by(tree: GameTree, best: np.ndarray, policy: np.ndarray) -> float:
    """The sum of what both players gain by some responses to a policy."""
    gains = [
        _responses(tree, _mixed(tree, player, best, policy), text="")[1].values[player]
        for player in range(PLAYERS)
    ]
    return sum(gains) - sum(tree.game.utilities)


def _responses(tree: GameTree, policy: np.ndarray, text: str) -> tuple[np.ndarray, Exploitability]:
    """Both best responses to a policy, by slot, and its exploitability."""
    best, values = np.zeros(len(policy)), np.zeros(len(tree.views))
    value = respond(tree.arrays, policy, best, values)
    # What both players gain together. `respond` takes it for 0, so that it is added to what the second player has.
    total = sum(tree.game.utilities)
    first, second = values[:PLAYERS].tolist()
    return best, _exact_result((first, second + total), (value, total - value), text)
