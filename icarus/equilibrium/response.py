"""Local best responses of a depth, for games too large for exact ones: lower bounds of how exploitable a policy is.

The responder holds the exact belief of what the game may be, by the policy that he responds to, and chooses each of his actions by
expectimax over it, a number of his own actions deep; what lies beyond is played out. With a depth of 1 this is close to the local best
response of Lisý and Bowling (2017); unlike theirs the policy is asked on the way for all that it may answer. Whatever he plays, a best
response gains at least as much, so that what he gains on fresh deals bounds it from below.
"""

import math
import statistics
from collections.abc import Callable

import attrs
import numpy as np

from icarus import checks
from icarus.compiler import python_of, seeded
from icarus.equilibrium import beliefs, sampling, walk
from icarus.equilibrium.beliefs import ASK, CHOOSE, CHOSEN, DECIDES, DONE, NO_ACTION, OBSERVED, ResponseWalk
from icarus.equilibrium.deals import dealt_state
from icarus.equilibrium.policies import PolicyLike, pair_of, question_to
from icarus.kernel import AnyGame, Game

place_of = python_of(walk.place_of)
MASK = (1 << 63) - 1  # makes a seed of a key
NINETY_FIVE = 1.96  # standard errors to either side


@attrs.frozen
class LocalBestResponse:
    """What local best responses gain, and the bound that they set.

    Attributes:
        game: in which.
        depth: of the responder's own actions that he looks ahead.
        gains: of each player by responding, in each of his matches: expected, given what he saw. [players, matches]
        questions: how often the policy was asked.
    """

    game: Game
    depth: int
    gains: tuple[list[float], list[float]] = attrs.field(repr=False)
    questions: int

    @property
    def nash_conv(self) -> float:
        """The estimate of a lower bound of NashConv: what both gain, less what they have together."""
        return sum(map(statistics.fmean, self.gains)) - sum(self.game.utilities)

    @property
    def half(self) -> float:
        """Half of its 95 % interval."""
        errors = (statistics.variance(each) / len(each) for each in self.gains if len(each) > 1)
        return NINETY_FIVE * math.sqrt(sum(errors))

    def __str__(self) -> str:
        first, second = map(statistics.fmean, self.gains)
        how = f"by local best responses of depth {self.depth}, in {len(self.gains[0])} matches each, with {self.questions:,} questions"
        gains = f"player 0 has {first:.4g} and player 1 {second:.4g} {how}"
        return f"NashConv at least {self.nash_conv:.4g} ± {self.half:.2g} (95 %): {gains}"


class _Responder(ResponseWalk):
    """A responder in matches against a policy that is asked where it is needed, and kept."""

    def __init__(self, game: Game, player: int, policy: PolicyLike, seed: int, depth: int, epsilon: float) -> None:
        self._ask, self._seed, self._store, self.questions = question_to(policy), seed, sampling.larger_store(), 0
        super().__init__(game, player, self._store.policy)
        self._fixed[-1], self._looked_at = seeded((seed, player)), beliefs.FIRST
        self.status["limit"], self.status["epsilon"], self.status["longest"] = depth, epsilon, game.max_length
        _, self._entries, self._frames, _ = self._growing
        self._frames["next"][0], self._frames["action"][0] = self.status["used"][0], beliefs.LOOKING
        self._dealt, self._first = self._entries[: self.status["used"][0]].copy(), self._frames[:1].copy()

    def play(self, luck: np.random.Generator | None) -> float:
        """What the responder gains in a match: expected, given what he sees, in one way drawn; or, without luck, in all."""
        self._entries[: len(self._dealt)] = self._dealt
        self._frames[:1] = self._first
        self._go_to(0, len(self._dealt))
        return self._rest(luck)

    def _go_to(self, depth: int, used: int) -> None:
        self.status["depth"], self.status["played"], self.status["used"] = depth, depth, used

    def _rest(self, luck: np.random.Generator | None) -> float:
        """What he gains in what follows on the last view of the match."""
        self._run_to(CHOOSE)
        at, used, frames = int(self.status["depth"][0]), int(self.status["used"][0]), self._frames
        first, gain, kind = int(frames["first"][at]), float(frames["value"][at]), OBSERVED
        if luck is not None:
            _draw(self._entries[first:used], luck)
        while kind == OBSERVED:
            kinds = self._entries["kind"][first:used].tolist()
            kind = OBSERVED if OBSERVED in kinds else DECIDES
            if kind not in kinds:
                break
            frames["next"][at], frames["action"][at] = first, beliefs.OBSERVING if kind == OBSERVED else 0
            if kind == DECIDES and frames["count"][at] > 1:
                self._run_to(CHOSEN)
                frames["action"][at] = frames["chosen"][at]
            self.status["played"] = at + 1
            gain += self._rest(luck)
            self._go_to(at, used)
        return gain

    def _run_to(self, goal: int) -> None:
        while (ending := self.step()) != goal:
            if ending == ASK:
                self._keep_answer(int(self._frames["next"][self.status["depth"][0]]))

    def _keep_answer(self, entry: int) -> None:
        """Ask for the policy in a state."""
        key, actions = int(self._entries["key"][entry]), []
        while entry != walk.NOTHING:
            entry, action = divmod(int(self._entries["origin"][entry]), 1 << 32)
            actions += [action] * (action != NO_ACTION)
        state = dealt_state(self.game, self.deals, actions.pop(), reversed(actions))
        count = len(state.legal_actions())
        answer = self._ask(state, (self._seed, key & MASK)) if count > 1 else np.ones(1)
        self.questions += count > 1
        store = self._store
        while 2 * store.used[0] >= len(store.keys) or store.used[1] + count > len(store.sums):
            self._store = store = sampling.larger_store(store)
        place, slot = place_of(store.keys, key), int(store.used[1])
        store.keys[place], store.first[place], store.sums[slot : slot + count] = key, slot, answer
        store.used[:] += 1, count
        self._policy = self._store.policy


def _draw(view: np.ndarray, luck: np.random.Generator) -> None:
    """Let one of the observations, or that the responder decides, stand for all of a view, as often as it has weight."""
    weights = np.where(np.isin(view["kind"], (OBSERVED, DECIDES)), view["weight"], 0.0)
    if (total := weights.sum()) > 0:
        entry = view[min(np.searchsorted(np.cumsum(weights), luck.random() * total, "right"), len(view) - 1)]
        same = (view["kind"] == entry["kind"]) & (view["observed"] == entry["observed"])
        view["kind"][~same] = DONE
        view["weight"][same] *= total / weights[same].sum()


def local_best_response(
    game: AnyGame,
    policy: PolicyLike,
    *,
    depth: int = 1,
    matches: int | None = 20,
    seed: int = 0,
    epsilon: float = 0.001,
    progress: Callable[[int], None] | None = None,
) -> LocalBestResponse:
    """A lower bound of NashConv by local best responses, in a game of any size whose deals can be listed.

    Args:
        policy: as in `exploitability`; it is asked once in an information set, where a responder comes to think of it.
        depth: how many of his own actions the responder looks ahead; then his choice is uniform.
        matches: of each player; None for all that can happen, which leaves no luck in what he gains.
        seed: an integer ≥ 0, of the searches of an agent, of the responder and of the matches.
        epsilon: a state ahead whose probability, as a share of that of what he has seen, is below this is looked at by chance.
        progress: called with the matches played by each player.

    Raises:
        ValueError: not a two-player zero-sum game, hidden deals, too large a belief, invalid probabilities, or a setting is out of range.
        TypeError: no `Game`, or no policy.
        KeyboardInterrupt: with a LocalBestResponse of the matches played, if there are two of each player.
    """
    if not isinstance(game, Game):
        raise TypeError(f"a local best response needs a Game, such as games.load('liars-dice'), not {game!r}")
    depth, seed = checks.integer("depth", depth, 1), checks.integer("seed", seed, 0)
    checks.integer("matches", 2 if matches is None else matches, 2)
    checks.real("epsilon", epsilon, 0, 1)
    both = [_Responder(game, 1 - i, each, seed, depth, epsilon) for i, each in enumerate(pair_of(game, policy))][::-1]
    gains: tuple[list[float], list[float]] = ([], [])

    def result() -> LocalBestResponse:
        return LocalBestResponse(game, depth, gains, sum(each.questions for each in both))

    try:
        for match in range(matches or 1):
            for player, responder in enumerate(both):
                gains[player].append(responder.play(np.random.default_rng((seed, match, player)) if matches else None))
            if progress is not None:
                progress(match + 1)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(*[result()] * (len(gains[1]) > 1)) from None
    return result()
