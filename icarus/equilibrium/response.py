"""Local best responses of a depth, for games too large for exact ones: lower bounds of how exploitable a policy is.

The responder holds a belief of what the game may be, by the policy that he responds to, and chooses each of his actions by expectimax over
it, a number of his own actions deep; what lies beyond is played out. With a depth of 1 this is close to the local best response of Lisý
and Bowling (2017); unlike theirs the policy is asked on the way for all that it may answer. Whatever he plays, a best response gains at
least as much, so that what he gains on fresh deals bounds it from below. Where no action is clearly better by his own estimate, he plays
what the policy itself plays, which gains nothing and loses nothing.

A search has another seed in each match, and the responder does not know it: he thinks of the mean over other seeds. So he plays against
the policy that is played, not against one frozen seed of it.

The belief is a sample: particles (Gordon, Salmond and Smith, 1993), states that agree with what he has seen, weighed by what the others
did to come there, drawn anew by the game's `determinize` where none is left. They serve for his choice alone. A match is scored by what is
to be expected: it is followed in up to `WIDTH` states at once, with all that chance and the policy of this match may do where there is
room, and a part of it drawn by its probability where there is not.
"""

import contextlib
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from icarus import checks
from icarus.compiler import address_of, array_kernel, call, copy_items, seeded
from icarus.engine.match import MOST_VISITED, PolicyLike, Question
from icarus.engine.search import check_callable
from icarus.equilibrium.deals import Deals, NotEnumerable, deals_of, dealt_state
from icarus.equilibrium.policies import CONFIDENCE, TWO_SIDED, Exploitability, questions_to
from icarus.equilibrium.walk import (
    NOT_CONSTANT,
    PLAYERS,
    TOLERANCE,
    TOO_LONG,
    UNEQUAL,
    Walk,
    play_to_end,
    refuse_as_unsound,
    refuse_unless_two_players,
    with_walk,
)
from icarus.kernel import (
    CHANCE,
    MAX_PLAYERS,
    NO_ACTION,
    TERMINAL,
    UNSEEN,
    AnyGame,
    State,
    check_game,
)
from icarus.statistics import mean_of

MASK = (1 << 63) - 1  # makes a seed of a key
Array: TypeAlias = np.ndarray
PARTICLES = 100
PLAYOUTS = 32  # of a belief at least, where the responder looks no further
MOST = 1 << 17  # states of an exact belief
# states at most that are looked at for one decision by exact beliefs: some 10 s
LOOKED_AT = 1 << 16
SEEDS = 4  # of a search, whose mean the responder thinks of
WIDTH = 64  # states in which a match is followed
ALIKE = 8  # of them, at least, for each view of the responder's, in each of which he thinks anew
PARTS = 4  # of a sampled belief: an action is clearly better if it is in each
CLEAR = 1e-9  # by how much, as a share of what may be gained
_PLAYED, _MODELLED = 1, 0  # what a search's seed is for, in a match
DECISION = None  # in place of what the responder sees: that he is to move
DIGITS = 13  # of a gain: weights that sum to 1 do so less nearly


class _Particle(NamedTuple):
    """A state that the game may be in."""

    state: State
    # of what each player knows; twice the moves are hashed, since -1 and -2 are alike to `hash`
    keys: list[int]
    weight: float


@array_kernel("playouts of particles")
def play_out(
    rules: Array, states: Array, weights: Array, player: int, players: int, longest: int, rng: Array
) -> float:
    """What a player has on average in games played from states by uniform choice, by their weights; no number if one does not end."""
    state, words = np.zeros(states.shape[1], np.int64), np.zeros(rules[0].max_legal, np.int64)
    reals = np.zeros(rules[0].max_legal + MAX_PLAYERS)
    total = weights.sum()
    gain = 0.0
    for i in range(len(states)):
        count = 1 + int(PLAYOUTS * weights[i] / total)
        for _ in range(count):
            copy_items(state, states[i])
            if not play_to_end(rules[0], state, longest, words, reals, rng):
                return np.nan
            call(rules[0].rewards, (address_of(state), address_of(reals), players))
            gain += weights[i] / count * reals[player]
    return gain


def _weight(belief: Iterable[_Particle]) -> float:
    return sum(each.weight for each in belief)


class _Answers:
    """The answers of the players' policies, each question asked once; of a search the mean over some seeds."""

    def __init__(self, asks: Sequence[Question], seed: tuple[int, ...], seeds: int) -> None:
        self.asks, self._seed, self._seeds = asks, seed, seeds
        self._known = dict[int, tuple[list, list]]()
        self.questions = 0
        self.has_luck = any(ask.has_luck for ask in asks)

    def forget(self, *seed: int) -> None:
        """Forget all answers; searches have another seed from now on."""
        self._known, self._seed = {}, seed

    def at(self, particle: "_Particle", mover: int) -> Iterable[tuple[int, float]]:
        """The actions of the player to move, or of chance, with their probabilities."""
        if mover == CHANCE:
            return particle.state.chance_outcomes()
        actions = particle.state.legal_actions()
        if len(actions) == 1:
            return [(actions[0], 1.0)]
        key = particle.keys[mover]
        if key not in self._known:
            ask = self.asks[mover]
            count = self._seeds if ask.has_luck else 1
            answers = [ask(particle.state, (*self._seed, k, key & MASK)) for k in range(count)]
            self._known[key] = actions, np.mean(answers, 0).tolist()
            self.questions += count
        legal, probabilities = self._known[key]
        if legal != actions:
            refuse_as_unsound(particle.state.game, UNEQUAL, mover)
        return zip(actions, probabilities, strict=True)


class _Responder:
    """The player who responds in matches, by a belief of particles: "he" below."""

    def __init__(
        self, game: AnyGame, player: int, model: _Answers, seed: int, depth: int, count: int | None
    ) -> None:
        self._game, self._player, self._depth = game, player, depth
        self._low, high = game.utilities
        self._range = high - self._low
        self._most = count or sys.maxsize  # particles of a belief
        self._seed = seed
        # The model is the policy that he takes the others to play. Without luck it is what they play.
        self._model = model
        self.played = _Answers(model.asks, (), 1) if model.has_luck else model
        self._deals = list[_Particle]()
        self._cuts = 0  # how often `_thinned` has drawn some of the moves
        self._looked_at = 0  # states, for the present decision
        with contextlib.suppress(NotEnumerable):
            deals = deals_of(game)
            for k in np.flatnonzero(deals.probabilities).tolist():
                observations = deals.observations[k].tolist()
                keys = [hash((i, 2 * move)) for i, move in enumerate(observations)]
                state = dealt_state(game, deals, k)
                self._deals.append(_Particle(state, keys, float(deals.probabilities[k])))
        self.is_exact = bool(self._deals) and not model.has_luck

    def play(self, match: int, most: int, progress: Callable[[float], None]) -> float:
        """His mean utility in the states in which a match is followed; of more than two players, what he gains beyond the policy's.

        Args:
            most: states in which the match is followed.
            progress: called with the probability of what has ended.
        """
        self._progress = progress
        self._ended = 0.0
        self._luck = np.random.default_rng((self._seed, match, self._player))
        self._rng = seeded(int(self._luck.integers(MASK)))
        if self._model.has_luck:
            self.played.forget(self._seed, self._player, _PLAYED, match)
        deals = self._deals
        if not deals:  # they are hidden: one is drawn for this match
            self._model.forget(self._seed, self._player, _MODELLED, match)
            deals = [
                self._with_own_keys(self._game.new_initial_state(int(self._luck.integers(MASK))))
            ]
        views = defaultdict[int, list[_Particle]](list)
        for deal in deals:
            views[deal.keys[self._player]].append(deal)
        gain = 0.0
        for sight, truths, room in self._limited(views, most):
            belief = views[sight] if self._deals else self._redrawn(truths)
            gain += self._utility_after(truths, NO_ACTION, belief, room, not self._deals)
            if self._game.players > PLAYERS:
                by_policy, _ = self._follow(truths, NO_ACTION, self.played, room, responds=False)
                gain -= by_policy
        return round(gain, DIGITS)

    def _limited(
        self, parts: dict[Any, list[_Particle]], most: int, room: int = ALIKE
    ) -> Iterator[tuple[Any, list[_Particle], int]]:
        """The parts of a match, limited to `most` states in all: if there are more, some are drawn.

        Args:
            parts: the states of each, by its name.
            room: states, at least, for each part; if there are too many parts for that, some are drawn.

        Yields:
            the name of a part, its states, and the most states that it may have from here on.
        """
        cuts = self._cuts
        wholes = [(part[0]._replace(weight=_weight(part)), name) for name, part in parts.items()]
        total = sum(whole.weight for whole, _ in wholes)
        states = []
        for whole, name in self._thinned(wholes, math.ceil(most / room)):
            scale = whole.weight / _weight(parts[name])
            states += [(each._replace(weight=scale * each.weight), name) for each in parts[name]]
        followed = defaultdict[Any, list[_Particle]](list)
        for each, name in self._thinned(states, most):
            followed[name].append(each)
        self.is_exact &= self._cuts == cuts
        for name, part in followed.items():
            yield name, part, max(len(part), int(most * _weight(part) / total))

    def _utility_after(
        self,
        truths: list[_Particle],
        action: int,
        belief: list[_Particle],
        most: int,
        is_sample: bool,
    ) -> float:
        """His utility at the ends of the match, from some of its states on, by their weights.

        The action is made in these states (`truths`) and in his belief. The truths say what he may see next. Of the belief, the particles
        that show him the same stay, and at a decision he chooses by them. If truths are left out for want of room, the utility is an
        estimate; if particles are, the belief is a sample.

        Args:
            action: the one that is due; NO_ACTION at the beginning, and after he has seen something.
            is_sample: whether the belief has not all states that the game may be in.
        """
        cuts = self._cuts
        utility, views = self._follow(truths, action, self.played, most)
        self.is_exact &= self._cuts == cuts
        # what is in no view has ended
        self._ended += _weight(truths) - sum(map(_weight, views.values()))
        self._progress(self._ended)
        for sight, group, room in self._limited(views, most):
            cuts = self._cuts
            _, beliefs = self._follow(belief, action, self._model, self._most, (sight,))
            after = beliefs[sight]
            is_sampled = is_sample or self._cuts > cuts
            if sight is not DECISION:
                utility += self._utility_after(group, NO_ACTION, after, room, is_sampled)
                continue
            if not after:
                after, is_sampled = self._redrawn(group), True
            choices = {}
            for choice, p in self._chosen(after, group[0], is_sampled):
                if p:
                    choices[choice] = [each._replace(weight=each.weight * p) for each in group]
            for choice, part, left in self._limited(choices, room, 1):
                utility += self._utility_after(part, choice, after, left, is_sampled)
        return utility

    def _with_own_keys(self, state: State) -> _Particle:
        """A particle with keys of its own, since what the players know is not followed: no answer is shared with another."""
        return _Particle(state, self._luck.integers(MASK, size=self._game.players).tolist(), 1.0)

    def _redrawn(self, group: list[_Particle]) -> list[_Particle]:
        """Particles drawn from his information set, whatever the others would do to come there.

        None if the deals are known and the policies have no luck: these may answer by the history, which a drawn state makes up.
        """
        if self._deals and not self._model.has_luck:
            return []
        state = group[0].state
        count = min(self._most, PARTICLES)  # an exact belief, too: nothing lists all its states
        return [
            self._with_own_keys(state.determinized(self._player, self._rng)) for _ in range(count)
        ]

    def _thinned(self, moves: list[Any], most: int) -> list[Any]:
        """At most `most` moves, which are tuples with a particle first. Of more, some are drawn, so that expected weights stay."""
        if len(moves) <= most:
            return moves
        self._cuts += 1
        weights = np.array([move[0].weight for move in moves])
        total = float(weights.sum())
        counts = self._luck.multinomial(most, weights / total).tolist()
        return [
            (particle._replace(weight=total * count / most), *rest)
            for count, (particle, *rest) in zip(counts, moves, strict=True)
            if count
        ]

    def _follow(
        self,
        belief: Iterable[_Particle],
        action: int,
        answers: _Answers,
        most: int,
        goal: tuple[int | None, ...] = (),
        responds: bool = True,
    ) -> tuple[float, dict[int | None, list[_Particle]]]:
        """Make an action, if any, and whatever others may do until he sees something or is to move.

        Args:
            answers: what the others do.
            most: moves at once; of more, some are drawn.
            goal: what he sees, if it is known; particles that show him something else are left out before some are drawn.
            responds: whether he responds; if not, he plays by `answers` as the others do, to the end.

        Returns:
            his utility where the game ends before, and particles by what he sees.
        """
        utility, views = 0.0, defaultdict[int | None, list[_Particle]](list)
        moves = [(each, action) for each in belief]
        while moves:
            self._looked_at += len(moves)
            self._refuse_if_too_many(len(moves), most)
            if not goal:
                moves = self._thinned(moves, most)
            candidates = []
            for particle, action in moves:
                sight, keys = self._shown(particle, action)
                if not goal or sight in (DECISION, *goal):
                    candidates.append((particle, action, sight, keys))
            if goal:
                candidates = self._thinned(candidates, most)
            moves = []
            for (state, _, weight), action, sight, keys in candidates:
                if action != NO_ACTION:
                    state = state.clone()
                    state.apply_action(action)
                if len(state.history) > self._game.max_length:
                    refuse_as_unsound(self._game, TOO_LONG)
                after = _Particle(state, keys, weight)
                mover = state.current_player()
                if sight is not None and responds:
                    views[sight].append(after)
                elif mover == TERMINAL:
                    rewards = state.returns()
                    if len(rewards) == PLAYERS and abs(sum(rewards) - 1) >= TOLERANCE:
                        refuse_as_unsound(self._game, NOT_CONSTANT)
                    utility += weight * (self._low + self._range * rewards[self._player])
                elif mover == self._player and responds:
                    views[DECISION].append(after)
                else:
                    moves += [
                        (after._replace(weight=weight * p), each)
                        for each, p in answers.at(after, mover)
                        if p
                    ]
        return utility, views

    def _shown(self, particle: _Particle, action: int) -> tuple[int | None, list[int]]:
        """What he sees of an action, None for nothing, and the keys of what the players know after it."""
        keys = list(particle.keys)
        if action == NO_ACTION:
            return None, keys
        mover, moves = particle.state.current_player(), particle.state.observed(action)
        sight = None
        for i, key in enumerate(keys):
            move = moves[self._game.perspective(i)]
            if i == mover:
                key = hash((key, 1, 2 * action))
            # what a mover sees counts if it is something else than his action
            if move != UNSEEN and (i != mover or move != action):
                key = hash((key, 0, 2 * move))
                if i == self._player:
                    sight = move
            keys[i] = key
        return sight, keys

    def _refuse_if_too_many(self, at_once: int, most: int) -> None:
        """Refuse exact beliefs that take too long; others have room for `MOST` states or fewer."""
        for count, room, limit, when in (
            (at_once, most, MOST, "at once"),
            (self._looked_at, self._most, LOOKED_AT, "for one decision"),
        ):
            if count > limit and room > MOST:
                what = f"a player must think of {count:,} states {when}; the limit is {limit:,}, and particles={PARTICLES} would fit"
                raise NotEnumerable(f"{self._game} is too large for exact beliefs: {what}")

    def _chosen(
        self, belief: list[_Particle], truth: _Particle, is_sample: bool
    ) -> list[tuple[int, float]]:
        """His actions with probabilities: the best action, if it is clearly better than the policy that is played; else this policy."""
        self._looked_at = 0
        policy = list(self.played.at(truth, self._player))
        if len(policy) == 1 or not belief:
            return policy
        self._legal([truth, belief[0]])  # refuses a game in which they differ
        count = PARTS if is_sample else 1
        parts = [belief[i::count] for i in range(min(count, len(belief)))]
        most = max(1, self._most // count)
        values = np.array([self._values(part, self._depth, most) for part in parts])
        best = int(values.sum(0).argmax())
        gains = values[:, best] - values @ [p for _, p in policy]
        least = CLEAR * self._range * np.array(list(map(_weight, parts)))
        is_clear = len(parts) == count and (gains > least).all()
        return [(policy[best][0], 1.0)] if is_clear else policy

    def _legal(self, belief: list[_Particle]) -> list[int]:
        """His legal actions, which must be the same in all particles."""
        actions, *others = [particle.state.legal_actions() for particle in belief]
        if any(each != actions for each in others):
            refuse_as_unsound(self._game, UNEQUAL, self._player)
        return actions

    def _values(self, belief: list[_Particle], left: int, most: int) -> list[float]:
        """His utility by each action, if he looks `left` of his own actions ahead, this one among them, with `most` particles."""
        return [self._value(belief, action, left - 1, most) for action in self._legal(belief)]

    def _value(self, belief: list[_Particle], action: int, left: int, most: int) -> float:
        """His utility by an action, if he then looks `left` of his own actions ahead.

        Before his next decision he may see several things. Each of them has a share, by its probability, of the `most` particles.
        """
        utility, views = self._follow(belief, action, self._model, most)
        total = sum(map(_weight, views.values()))
        for sight, after in views.items():
            if sight is not DECISION:
                share = most if most == sys.maxsize else math.ceil(most * _weight(after) / total)
                utility += self._value(after, NO_ACTION, left, max(share, len(after)))
            elif left > 0:
                utility += max(self._values(after, left, most))
            else:
                utility += self._played_out(after)
        return utility

    def _played_out(self, belief: list[_Particle]) -> float:
        """His utility if all choose uniformly from here on."""
        game = self._game
        weights = np.array([particle.weight for particle in belief])
        roots = Deals([particle.state.data for particle in belief], weights, weights)

        def play(rules: Walk) -> float:
            return rules.call(
                play_out,
                rules.settings,
                rules.dealt,
                weights,
                self._player,
                game.players,
                game.max_length,
                self._rng,
            )

        rewards = with_walk(game, roots, play)
        if math.isnan(rewards):
            refuse_as_unsound(game, TOO_LONG)
        return float(self._low * weights.sum() + self._range * rewards)


def local_best_response(
    game: AnyGame,
    policy: PolicyLike,
    *,
    depth: int = 1,
    matches: int | None = 20,
    seeds: int = SEEDS,
    play: str = MOST_VISITED,
    seed: int = 0,
    particles: int | None = PARTICLES,
    progress: Callable[[float], None] | None = None,
) -> Exploitability:
    """A lower limit of NashConv by local best responses, in a game of any size; of more than two players, what each gains.

    The limit is one-sided, by Student's distribution over the matches, and cut to what NashConv can be; where it is 0 nothing is shown.
    Where nothing is left to chance, since a policy has no luck and all that can happen is followed, it is what the responders gain.

    Args:
        policy: as in `exploitability`, or one for each player. A search is asked with a seed of each match where it plays, and with
            other seeds where a responder thinks of it; if deals are hidden, in each state for itself.
        depth: how many of his own actions the responder looks ahead; then his choice is uniform.
        matches: of each player; None for all that can happen, against a policy without luck.
        seeds: of a search, of which the responder thinks the mean.
        play: how a search is played, see `exploitability`.
        seed: an integer ≥ 0, of the searches of an agent, of the responder and of the matches.
        particles: how many states at most he thinks of at once; None for all of them. With fewer than four of a larger belief no action is
            clearly better, so that he plays by the policy itself.
        progress: called with the share that is done.

    Raises:
        ValueError: a single player; of two, rewards that do not sum to 1; without a number of matches or of particles hidden deals, or too
            large a belief; without a number of matches a search; a search that sees what is hidden; invalid probabilities; a setting out of
            range.
        TypeError: no game, or no policy.
        KeyboardInterrupt: with the result of the matches played, if there are two of each player.
    """
    check_game("local_best_response", game)
    depth = checks.integer("depth", depth, 1)
    seed = checks.integer("seed", seed, 0)
    for name, value, least in (("matches", matches, 2), ("particles", particles, 1)):
        if value is None:
            deals_of(game)
        else:
            checks.integer(name, value, least)
    checks.integer("seeds", seeds, 1)
    check_callable("progress", progress, "a function of the share that is done")
    if game.players < PLAYERS:
        refuse_unless_two_players(game)
    asks, what = questions_to(game, policy, play)
    model = _Answers(asks, (seed, 0), seeds)
    if matches is None and model.has_luck:
        raise ValueError(
            f"a search has another seed in each match: give a number of matches of {asks[0]}"
        )
    responders = [
        _Responder(game, player, model, seed, depth, particles) for player in range(game.players)
    ]
    gains: tuple[list[float], ...] = tuple([] for _ in responders)

    def result() -> Exploitability:
        belief = "" if particles is None else f" and {particles} particles"
        number = len(gains[-1])
        method = f"local best responses of depth {depth}{belief}, in {number} match{'' if number == 1 else 'es'} each"
        everyone = {model, *(each.played for each in responders)}
        questions = sum(answers.questions for answers in everyone)
        is_exact = all(each.is_exact for each in responders)
        return bound_by(game, gains, is_exact, method, what, questions)

    def tell(ended: float) -> None:
        if progress is not None:
            progress((sum(map(len, gains)) + ended) / (len(responders) * (matches or 1)))

    try:
        for match in range(matches or 1):
            for responder, his_gains in zip(responders, gains, strict=True):
                gain = responder.play(match, WIDTH if matches else sys.maxsize, tell)
                his_gains.append(gain)
    except KeyboardInterrupt:
        if len(gains[-1]) > 1:
            raise KeyboardInterrupt(result()) from None
        raise KeyboardInterrupt from None
    return result()


def bound_by(
    game: AnyGame,
    samples: tuple[list[float], ...],
    is_exact: bool,
    method: str,
    policy: str,
    questions: int = 0,
) -> Exploitability:
    """The bounds of NashConv by what responders have gained in matches.

    Args:
        samples: of each responder, what he has gained in each match.
        is_exact: whether each gain is the expected one of the responder's play.
    """
    low, high = game.utilities
    most = len(samples) * (high - low)
    gains = [sum(each) for each in zip(*samples, strict=False)]
    # Samples are utilities, which have this sum if both play the policy.
    if len(samples) == PLAYERS:
        most = high - low
        gains = [gain - (low + high) for gain in gains]
    estimate = mean_of(gains, -most, most, TWO_SIDED)
    lower = min(max(0.0, estimate.value if is_exact else estimate.low), most)
    return Exploitability(
        lower=lower,
        estimate=max(lower, min(estimate.value, most)),
        upper=most,
        confidence=1.0 if is_exact else CONFIDENCE,
        method=method,
        policy=policy,
        best_responses=tuple(map(statistics.fmean, samples)),
        samples=samples,
        questions=questions,
    )
