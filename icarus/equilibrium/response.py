"""Local best responses of a depth, for games too large for exact ones: lower bounds of how exploitable a policy is.

The responder holds a belief of what the game may be, by the policy that he responds to, and chooses each of his actions by expectimax over
it, a number of his own actions deep; what lies beyond is played out. With a depth of 1 this is close to the local best response of Lisý
and Bowling (2017); unlike theirs the policy is asked on the way for all that it may answer. Whatever he plays, a best response gains at
least as much, so that what he gains on fresh deals bounds it from below.

The belief is a sample: particles (Gordon, Salmond and Smith, 1993), states that agree with what he has seen, weighed by what the others
did to come there, drawn anew by the game's `determinize` where none is left. They serve for his choice alone: he plays the game itself
against the policy, and what he has at its end is what counts. Where all states are few, they are the belief, and a match is scored by
what is to be expected of all that look the same to him.
"""

import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

import attrs
import numpy as np

from icarus import checks
from icarus.compiler import seeded
from icarus.compiler.memory import address_of, call, copy_items
from icarus.equilibrium import walk
from icarus.equilibrium.deals import Deals, NotEnumerable, deals_of, dealt_state
from icarus.equilibrium.policies import PolicyLike, policies_of, question_to
from icarus.kernel import (
    CHANCE,
    MAX_PLAYERS,
    NO_ACTION,
    TERMINAL,
    UNSEEN,
    AnyGame,
    Game,
    State,
    check_game,
)

MASK = (1 << 63) - 1  # makes a seed of a key
Array: TypeAlias = np.ndarray
PARTICLES = 100
PLAYOUTS = 32  # of a belief at least, where the responder looks no further
MOST = 1 << 17  # states of an exact belief
DECISION = None  # in place of what the responder sees: that he is to move
DIGITS = 13  # of a gain: weights that sum to 1 do so less nearly
TAIL = 0.025  # of an interval, to either side


@attrs.frozen
class LocalBestResponse:
    """What local best responses gain, and the bound that they set.

    Attributes:
        game: in which.
        depth: of the responder's own actions that he looks ahead.
        particles: that stand for a belief; None for exact beliefs.
        gains: of each player by responding, in each of his matches: with exact beliefs expected, given what he saw. Of more than two
            players less what he has by the policy itself after the same deal. [players, matches]
        questions: how often the policy was asked.
    """

    game: AnyGame
    depth: int
    particles: int | None
    gains: tuple[list[float], ...] = attrs.field(repr=False)
    questions: int

    @property
    def nash_conv(self) -> float:
        """The estimate of a lower bound of NashConv, the sum of what all players gain by responding."""
        return sum(map(statistics.fmean, self.gains)) - (
            sum(self.game.utilities) if len(self.gains) == 2 else 0
        )

    @property
    def half(self) -> float:
        """Half of its 95 % interval, by Student's distribution; 0 also where all matches ended alike, which tells nothing."""
        return _half(*self.gains)

    def __str__(self) -> str:
        belief = "" if self.particles is None else f" and {self.particles} particles"
        matches, questions = len(self.gains[0]), f"{self.questions:,} questions"
        how = f"by local best responses of depth {self.depth}{belief}, in {matches} matches each, with {questions}"
        means = [statistics.fmean(each) for each in self.gains]
        if len(means) == 2:
            gains = f"player 0 has {means[0]:.4g} and player 1 {means[1]:.4g} {how}"
            if matches > 1 and not self.half:
                return f"NashConv is not bounded, since all matches ended alike; play more of them: {gains}"
            return f"NashConv at least {self.nash_conv:.4g}{_interval(*self.gains)}: {gains}"
        seats = (
            f"player {i} gains {mean:.4g}{_interval(self.gains[i])}" for i, mean in enumerate(means)
        )
        return f"{', '.join(seats)} {how}; of more than two players no theorem says how far that is from an equilibrium"


def _half(*gains: list[float]) -> float:
    """Half of the interval of a sum of means, with the degrees of freedom of Welch and Satterthwaite."""
    from scipy.special import stdtrit

    errors = [statistics.variance(each) / len(each) for each in gains if len(each) > 1]
    if not any(errors):
        return 0.0
    freedom = sum(errors) ** 2 * (len(gains[0]) - 1) / sum(error**2 for error in errors)
    return -float(stdtrit(freedom, TAIL)) * math.sqrt(sum(errors))


def _interval(*gains: list[float]) -> str:
    if half := _half(*gains):
        return f" ± {half:.2g} (95 %)"
    return "" if len(gains[0]) == 1 else " (no interval: all matches ended alike)"


class _Particle(NamedTuple):
    """A state that the game may be in."""

    state: State
    keys: list[
        int
    ]  # of what each player knows; twice the moves are hashed, since -1 and -2 are alike to `hash`
    weight: float


@walk.kernel("playouts of particles")
def play_out(
    rules: Array, states: Array, weights: Array, player: int, players: int, longest: int, rng: Array
) -> float:
    """What a player has on average in games played from states by uniform choice, by their weights; no number if one does not end."""
    state, words = np.zeros(states.shape[1], np.int64), np.zeros(rules[0].max_legal, np.int64)
    reals, total, gain = np.zeros(rules[0].max_legal + MAX_PLAYERS), weights.sum(), 0.0
    for i in range(len(states)):
        count = 1 + int(PLAYOUTS * weights[i] / total)
        for _ in range(count):
            copy_items(state, states[i])
            mover = call(rules[0].player, (address_of(state),))
            if walk.play_to_end(rules[0], state, mover, longest, words, reals, rng) != TERMINAL:
                return np.nan
            call(rules[0].rewards, (address_of(state), address_of(reals), players))
            gain += weights[i] / count * reals[player]
    return gain


class _Responder:
    """A responder in real play, who thinks of particles."""

    def __init__(
        self,
        game: AnyGame,
        player: int,
        policies: Sequence[PolicyLike],
        seed: int,
        depth: int,
        count: int | None,
    ) -> None:
        self._game = game
        self._player = player
        self._seed = seed
        self._depth = depth
        self._most = count or sys.maxsize
        self._ask = [*map(question_to, policies)]
        self._answers = dict[int, tuple[list, list]]()
        self.questions = 0
        self._deals = list[_Particle]()
        self._redraws = all(hasattr(policy, "search") for policy in policies)
        try:
            deals = deals_of(game)
        except NotEnumerable:
            self._redraws = True
            return
        for k in np.flatnonzero(deals.probabilities).tolist():
            keys = [hash((i, 2 * move)) for i, move in enumerate(deals.observations[k].tolist())]
            self._deals.append(
                _Particle(dealt_state(game, deals, k), keys, float(deals.probabilities[k]))
            )

    def play(self, luck: np.random.Generator | None) -> float:
        """What the responder has at the end of a match; or, without luck, on average; of more than two players, beyond what he has there
        by the policy."""
        self._luck = luck or np.random.default_rng(self._seed)
        most = 1 if luck else sys.maxsize
        self._rng = seeded(int(self._luck.integers(MASK)))
        gain = 0.0
        views = defaultdict[int, list[_Particle]](list)
        if not self._deals:
            self._answers.clear()
        for deal in self._deals or [
            self._unknown(self._game.new_initial_state(int(self._luck.integers(MASK))))
        ]:
            views[deal.keys[self._player]].append(deal)
        for group in (self._one(views) if luck else views).values():
            gain += self._rest(
                group, NO_ACTION, group if self._deals else self._redrawn(group), most
            )
            if self._game.players > walk.PLAYERS:
                gain -= self._follow([(truth, NO_ACTION) for truth in group], most, responds=False)[
                    0
                ]
        return round(gain, DIGITS)

    def _one(self, views: dict[Any, list[_Particle]]) -> dict[Any, list[_Particle]]:
        """One of the views, drawn by its weight; it weighs as much as all."""
        weights = np.array([sum(particle.weight for particle in group) for group in views.values()])
        total = float(weights.sum())
        index = int(self._luck.choice(len(weights), p=weights / total))
        sight, scale = [*views][index], total / float(weights[index])
        return {
            sight: [particle._replace(weight=scale * particle.weight) for particle in views[sight]]
        }

    def _rest(
        self, truths: list[_Particle], action: int, belief: list[_Particle], most: int
    ) -> float:
        """What he gains after an action in all that the game may be and he has seen, if he thinks of a belief.

        As long as they are the same, all that may be is the belief; then the game is one of these states, and a sample is the belief.
        """
        if truths is belief and len(belief) > self._most:
            truths = [
                truth for truth, _ in self._thinned([(each, NO_ACTION) for each in belief], most)
            ]
        is_all = truths is belief
        gain, views = self._follow(
            [(truth, action) for truth in truths], sys.maxsize if is_all else most
        )
        for sight, group in (self._one(views) if views and is_all and most == 1 else views).items():
            after, chosen = group, NO_ACTION
            if not is_all:
                after = self._follow([(each, action) for each in belief], self._most, (sight,))[1][
                    sight
                ]
            if sight is DECISION:
                after = after or self._redrawn(group)
                chosen = self._chosen(after, group[0].state.legal_actions())
            gain += self._rest(group, chosen, after, most)
        return gain

    def _unknown(self, state: State) -> _Particle:
        """A particle of which no key is known: its questions are its own."""
        return _Particle(state, self._luck.integers(MASK, size=self._game.players).tolist(), 1.0)

    def _redrawn(self, group: list[_Particle]) -> list[_Particle]:
        """Particles of all that the responder knows, whatever others would do; none if a policy may ask what came before."""
        if not self._redraws:
            return []
        state = group[0].state
        return [
            self._unknown(state.determinized(self._player, self._rng)) for _ in range(self._most)
        ]

    def _thinned(self, moves: list[Any], most: int) -> list[Any]:
        """So many moves at most, drawn by their weights, which stay what they were on average."""
        if len(moves) <= most:
            return moves
        weights = np.array([move[0].weight for move in moves])
        total = float(weights.sum())
        counts = self._luck.multinomial(most, weights / total).tolist()
        return [
            (p._replace(weight=total * n / most), *rest)
            for n, (p, *rest) in zip(counts, moves, strict=True)
            if n
        ]

    def _follow(
        self,
        moves: list[tuple[_Particle, int]],
        most: int,
        goal: tuple[int | None, ...] = (),
        responds: bool = True,
    ) -> tuple[float, dict[int | None, list[_Particle]]]:
        """Make moves, and whatever others may do until the responder sees something or is to move.

        Args:
            most: moves at once.
            goal: what he does see, where that is known: what shows something else is left out.
            responds: whether he does not play by the policy himself.

        Returns:
            what he gains where the game ends before, and particles by what he sees.
        """
        gain, views = 0.0, defaultdict[int | None, list[_Particle]](list)
        while moves:
            if min(most, len(moves)) > MOST:
                what = f"a player must think of {len(moves):,} states at once; the limit is {MOST:,}, and particles={PARTICLES} would fit"
                raise NotEnumerable(f"{self._game} is too large for exact beliefs: {what}")
            candidates = [
                (*move, self._shown(*move))
                for move in (moves if goal else self._thinned(moves, most))
            ]
            candidates = [
                each for each in candidates if not goal or each[2][0] in (DECISION, *goal)
            ]
            moves = []
            for (state, _, weight), action, (sight, keys) in self._thinned(candidates, most):
                if action != NO_ACTION:
                    state = state.clone()
                    state.apply_action(action)
                if len(state.history) > self._game.max_length:
                    walk.refuse_as_unsound(self._game, walk.TOO_LONG)
                after = _Particle(state, keys, weight)
                mover = state.current_player()
                if sight is not None and responds:
                    views[sight].append(after)
                elif mover == TERMINAL:
                    gain += weight * self._worth(state.returns())
                elif mover == self._player and responds:
                    views[DECISION].append(after)
                else:
                    moves += [
                        (after._replace(weight=weight * p), each)
                        for each, p in self._answer(after, mover)
                        if p
                    ]
        return gain, views

    def _shown(self, particle: _Particle, action: int) -> tuple[int | None, list[int]]:
        """What the responder sees of an action, and the keys of what the players know after it."""
        keys = list(particle.keys)
        if action == NO_ACTION:
            return None, keys
        mover, moves, sight = particle.state.current_player(), particle.state.observed(action), None
        for i, key in enumerate(keys):
            move = moves[self._game.perspective(i)]
            key = hash((key, 1, 2 * action)) if i == mover else key
            if move != UNSEEN and (i != mover or move != action):
                key = hash((key, 0, 2 * move))
                sight = move if i == self._player else sight
            keys[i] = key
        return sight, keys

    def _answer(self, particle: _Particle, mover: int) -> Iterable[tuple[int, float]]:
        """The actions of who is to move, and their probabilities."""
        if mover == CHANCE:
            return particle.state.chance_outcomes()
        actions, key = particle.state.legal_actions(), particle.keys[mover]
        if len(actions) == 1:
            return [(actions[0], 1.0)]
        if key not in self._answers:
            self._answers[key] = (
                actions,
                self._ask[mover](particle.state, (self._seed, key & MASK)).tolist(),
            )
            self.questions += 1
        legal, probabilities = self._answers[key]
        if legal != actions:
            walk.refuse_as_unsound(self._game, walk.UNEQUAL, mover)
        return zip(actions, probabilities, strict=True)

    def _worth(self, rewards: Sequence[float]) -> float:
        """What the responder has at an end."""
        low, high = self._game.utilities
        if len(rewards) == walk.PLAYERS and abs(sum(rewards) - 1) >= walk.TOLERANCE:
            walk.refuse_as_unsound(self._game, walk.NOT_CONSTANT)
        return low + (high - low) * rewards[self._player]

    def _chosen(self, belief: list[_Particle], actions: list[int]) -> int:
        """The responder's action."""
        if not belief or len(actions) == 1:
            return int(self._luck.choice(actions))
        return actions[int(np.argmax(self._values(belief, self._depth)))]

    def _values(self, belief: list[_Particle], left: int) -> list[float]:
        """What he gains by each action, if he looks so many ahead, itself among them."""
        actions, *others = [particle.state.legal_actions() for particle in belief]
        if any(each != actions for each in others):
            walk.refuse_as_unsound(self._game, walk.UNEQUAL, self._player)
        return [
            self._value([(each, action) for each in belief], left - 1, self._most)
            for action in actions
        ]

    def _value(self, moves: list[tuple[_Particle, int]], left: int, most: int) -> float:
        """What he gains after moves by looking so many of his actions ahead; so many states are shared by all that he may see before."""
        gain, views = self._follow(moves, most)
        weights = {
            sight: sum(particle.weight for particle in belief) for sight, belief in views.items()
        }
        total = sum(weights.values())
        for sight, belief in views.items():
            if sight is not DECISION:
                share = most if most == sys.maxsize else math.ceil(most * weights[sight] / total)
                gain += self._value(
                    [(each, NO_ACTION) for each in belief], left, max(share, len(belief))
                )
            elif left > 0:
                gain += max(self._values(belief, left))
            else:
                gain += self._played_out(belief)
        return gain

    def _played_out(self, belief: list[_Particle]) -> float:
        """What he gains by uniform choice."""
        game = self._game
        weights = np.array([particle.weight for particle in belief])
        low, high = self._game.utilities
        data = [particle.state.data for particle in belief]
        roots = Deals(np.concatenate(data) if isinstance(game, Game) else data, weights, weights)

        def play(rules: walk.Walk) -> float:
            numbers = self._player, game.players, game.max_length
            return rules.call(play_out, rules.settings, rules.dealt, weights, *numbers, self._rng)

        if (rewards := walk.with_walk(game, roots, play)) != rewards:
            walk.refuse_as_unsound(game, walk.TOO_LONG)
        return float(low * weights.sum() + (high - low) * rewards)


def local_best_response(
    game: AnyGame,
    policy: PolicyLike,
    *,
    depth: int = 1,
    matches: int | None = 20,
    seed: int = 0,
    particles: int | None = PARTICLES,
    progress: Callable[[int], None] | None = None,
) -> LocalBestResponse:
    """A lower bound of NashConv by local best responses, in a game of any size; of more than two players, what each gains.

    Args:
        policy: as in `exploitability`, or one for each player. It is asked once in an information set, where a responder comes to think of
            it; if deals are hidden, in each state for itself.
        depth: how many of his own actions the responder looks ahead; then his choice is uniform.
        matches: of each player; None for all that can happen, which leaves no luck in what he meets.
        seed: an integer ≥ 0, of the searches of an agent, of the responder and of the matches.
        particles: how many states at most he thinks of at once; None for all of them.
        progress: called with the matches played by each player.

    Raises:
        ValueError: a single player; of two, rewards that do not sum to 1; without a number of matches or of particles hidden deals, or too
            large a belief; invalid probabilities; a setting out of range.
        TypeError: no game, or no policy.
        KeyboardInterrupt: with a LocalBestResponse of the matches played, if there are two of each player.
    """
    check_game("local_best_response", game)
    depth, seed = checks.integer("depth", depth, 1), checks.integer("seed", seed, 0)
    for name, value, least in (("matches", matches, 2), ("particles", particles, 1)):
        if value is None:
            deals_of(game)
        else:
            checks.integer(name, value, least)
    if game.players < walk.PLAYERS:
        walk.refuse_unless_two_players(game)
    policies = policies_of(game, policy)
    responders = [
        _Responder(game, player, policies, seed, depth, particles) for player in range(game.players)
    ]
    gains: tuple[list[float], ...] = tuple([] for _ in responders)

    def result() -> LocalBestResponse:
        return LocalBestResponse(
            game, depth, particles, gains, sum(each.questions for each in responders)
        )

    try:
        for match in range(matches or 1):
            for player, responder in enumerate(responders):
                gains[player].append(
                    responder.play(
                        np.random.default_rng((seed, match, player)) if matches else None
                    )
                )
            if progress is not None:
                progress(match + 1)
    except KeyboardInterrupt:
        if len(gains[-1]) > 1:
            raise KeyboardInterrupt(result()) from None
        raise KeyboardInterrupt from None
    return result()
