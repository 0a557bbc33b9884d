"""Algorithms that play: Online Outcome Sampling (Lanctot, Lisý and Bowling, 2015), and drawing from an equilibrium; uniform choice."""

import functools
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.arena.player import AlgorithmSettings, register
from icarus.compiler import plain_uniform, seeded
from icarus.engine.match import question_to
from icarus.engine.result import Result, RootStatistics
from icarus.engine.search import (
    PROGRESS,
    Algorithm,
    SearchInterrupted,
    check_budget,
    check_callable,
    run_within,
)
from icarus.equilibrium import sampling
from icarus.equilibrium.beliefs import StoredPolicy, key_of, keys_of
from icarus.equilibrium.cfr import Learner, near_equilibrium
from icarus.equilibrium.deals import deals_of, information_state
from icarus.equilibrium.policies import TabularPolicy
from icarus.equilibrium.sampling import Sampling, Store
from icarus.equilibrium.tree import refuse_unless_walkable, tree_of
from icarus.equilibrium.walk import (
    COMPLETE,
    MORE_ROOM,
    PLAYERS,
    Walk,
    refuse_as_unsound,
    refuse_unless_two_players,
    with_walk,
)
from icarus.kernel import CHANCE, TERMINAL, AnyGame, State, check_is_state


def result_of(
    algorithm: Algorithm, state: State, policy: np.ndarray, rng: np.ndarray, **found: Any
) -> Result:
    """A result without records, whose action is drawn from a policy.

    Args:
        policy: the probabilities of the legal actions.
        found: other fields of the `Result`.
    """
    actions = tuple(state.legal_actions())
    nothing = np.zeros(len(policy))
    index = int(np.searchsorted(np.cumsum(policy), plain_uniform(rng), side="right"))
    found.setdefault("visits", nothing.astype(np.int64))
    return Result(
        action=actions[min(index, len(actions) - 1)],
        actions=actions,
        # nothing is known of the actions but that rewards lie between 0 and 1
        statistics=RootStatistics(
            actions,
            visits=nothing,
            rewards=nothing,
            playouts=nothing,
            lower=nothing,
            upper=nothing + 1,
        ),
        policy=policy,
        state=state.clone(),
        strategy=algorithm,  # type: ignore[arg-type]  # a search of enhancements has enhancements here
        **found,
    )


def _check_decision(state: State) -> None:
    """Refuse all but a state in which a player is to move."""
    check_is_state("search", state)
    if state.current_player() in (CHANCE, TERMINAL):
        raise ValueError("there is no decision to search for: no player is to move here")


@attrs.frozen(kw_only=True, repr=False)
class OOS(AlgorithmSettings):
    """How Online Outcome Sampling searches (Lanctot, Lisý and Bowling, 2015).

    Attributes:
        target: "information set" (IST): what agrees with all that the searching player knows; or "public subgame" (PST): what agrees
            with the actions that everybody saw.
        delta: δ, the probability that an iteration aims at the target. With 1 convergence is lost.
        exploration: ε of the sampling.
        regret_exploration: γ, the share of the uniform policy in regret matching.

    Raises:
        ValueError: a setting has an invalid value.
    """

    target: str = sampling.INFORMATION_SET
    delta: float = 0.9
    exploration: float = 0.4
    regret_exploration: float = 0.01

    def __attrs_post_init__(self) -> None:
        target = checks.one_of("target", self.target, sampling.TARGETS)
        object.__setattr__(self, "target", target)
        checks.real("delta", self.delta, 0, 1)
        checks.real("exploration", self.exploration, 0, 1, above=True)
        checks.real("regret_exploration", self.regret_exploration, 0, 1)

    def seated(
        self, game: AnyGame, *, iterations: int | None = None, seconds: float | None = None
    ) -> "OOSSearch":
        """The player of one match, with a memory.

        Raises:
            ValueError: no positive budget, or as for an `OOSSearch`.
        """
        search = self.begin(game)
        search.budget = check_budget(iterations, seconds)
        return search

    def begin(self, game: AnyGame, seed: int | Sequence[int] = 0) -> "OOSSearch":
        """A search that has learned nothing yet."""
        return OOSSearch(game, self, seed=seed)

    def check_playable(self, game: AnyGame) -> None:
        """Refuse what is not for two players, or is dealt in secret."""
        refuse_unless_two_players(game)
        deals_of(game)


class OOSSearch(Learner):
    """Online Outcome Sampling in one match: `search` may be called at each decision, and what was learned stays.

    Memory begins empty: the first information set of a match enters it with the first sample, and an iteration adds two at most. `make`
    without a `search` before it is outcome sampling of the whole game, which may be of any size.

    Attributes:
        game: that is searched.
        algorithm: the settings.
        iterations: made so far in all, each a pair of traversals.
        store: what was learned.

    Raises:
        ValueError, TypeError: not a two-player game, or its deals cannot be listed (see `deals_of`); no settings. While it samples: the
            rewards do not sum to 1, or a game does not end.
    """

    algorithm: OOS

    # iterations and seconds where a search is not told
    budget: tuple[int | None, float | None] = (None, None)

    def __init__(
        self, game: AnyGame, algorithm: OOS | None = None, *, seed: int | Sequence[int] = 0
    ) -> None:
        algorithm = OOS() if algorithm is None else algorithm
        if not isinstance(algorithm, OOS):
            raise TypeError(f"the settings must be OOS(target=…, delta=…, …), not {algorithm!r}")
        refuse_unless_two_players(game)
        super().__init__(game)
        self.algorithm = algorithm
        self._rng = seeded(checks.seed(seed))
        self._visits = np.zeros(0, np.int64)
        self._deals = deals_of(game)
        self._deal_keys = keys_of(self._deals)
        self.store = sampling.empty_store()
        self._sampler = np.zeros(1, sampling.SAMPLER)
        self._path = np.zeros(game.max_length, sampling.STEP)
        for name in ("delta", "exploration", "regret_exploration"):
            self._sampler[name] = getattr(algorithm, name)
        self._sampler["max_length"] = game.max_length
        self._aim_at(sampling.EVERYBODY, [], True)
        self.sample(0)  # compiled before a clock runs

    def memory(self) -> tuple[np.ndarray, ...]:
        """A copy of all that was learned; `recall` brings it back."""
        return tuple(array.copy() for array in (self._progress, self._rng, *self.store))

    def recall(self, memory: tuple[np.ndarray, ...]) -> None:
        """Go back to where the search was when `memory` was taken."""
        self._progress, self._rng, *store = (array.copy() for array in memory)
        self.store = Store._make(store)

    def aim(self, state: State) -> None:
        """Aim at the target that a state of the match has for the player to move.

        Raises:
            ValueError: a state of another game.
        """
        self._refuse_other_game(state)
        information = information_state(state)
        self._sampler["target_set"] = key_of(information)
        if self.algorithm.target == sampling.PUBLIC_SUBGAME:
            public_moves = []
            for (_, action), (_, moves, _) in zip(state.history, state.replay(), strict=True):
                if set(moves) == {action}:  # everybody has seen it
                    public_moves.append((True, action))
            self._aim_at(sampling.EVERYBODY, public_moves, True)
            return
        player, observation, own_moves = information
        fits = self._deals.observations[:, player] == observation
        if (self._deals.probabilities * fits).any():
            self._aim_at(player, own_moves, fits)
        else:  # a state after a deal that never comes: there is nothing to aim at
            self._aim_at(sampling.EVERYBODY, [], True)

    def _refuse_other_game(self, state: State) -> None:
        """Refuse a state of another game, whose information sets may have the same keys."""
        if str(state.game) != str(self.game):
            raise ValueError(f"{state!r} is not a state of {self.game}")

    def _aim_at(
        self, observer: int, moves: Sequence[tuple[bool, int]], fits: np.ndarray | bool
    ) -> None:
        """Aim at all histories with these moves, as an observer sees them.

        Args:
            fits: whether each deal is among theirs; True for all. [deals]
        """
        probabilities = np.stack([self._deals.probabilities, self._deals.probabilities * fits])
        probabilities[1] /= probabilities[1].sum()
        sums = np.cumsum(probabilities, 1)
        self._chances = np.concatenate([probabilities, sums / sums[:, -1:]])
        self._sampler["observer"], self._sampler["goal"] = observer, len(moves)
        self._target = np.array([*moves, (0, 0)], np.int64)
        self._dead = np.zeros(sampling.DEAD, np.int64)

    def search(
        self,
        state: State,
        seed: int | Sequence[int] | None = None,
        progress: Callable[[int, float], None] | None = None,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
    ) -> Result:
        """Search for the player to move in a state of the match.

        Args:
            seed: of the sampling from here on; None to go on with the generator as it is.
            progress: called with (iterations made, seconds elapsed) about twenty times a second.
            iterations: how many to make; or
            seconds: the wall-clock time; with both, the search ends at the first limit. With neither, those of the match.

        Raises:
            ValueError: no positive budget, a terminal or chance state, one of another game, a bad seed.
            TypeError: `state` is not a state, or `progress` no function.
            SearchInterrupted: a KeyboardInterrupt that carries the result so far.
        """
        if iterations is None and seconds is None:
            iterations, seconds = self.budget
        check_budget(iterations, seconds)
        _check_decision(state)
        check_callable("progress", progress, PROGRESS)
        if seed is not None:
            self._rng = seeded(checks.seed(seed))
        started = time.perf_counter()
        self.aim(state)
        self._visits = np.zeros(len(state.legal_actions()), np.int64)
        before, is_interrupted = self.iterations, False
        limit = None if iterations is None else before + iterations
        report = progress and (lambda made, passed: progress(made - before, passed))
        try:
            run_within(self, limit, seconds, started, report)
        except KeyboardInterrupt:
            if self.iterations == before:
                raise
            is_interrupted = True
        result = result_of(
            self.algorithm,
            state,
            self.policy_at(state),
            self._rng,
            visits=self._visits.copy(),
            iterations=self.iterations - before,
            depth=int(self._progress["depth"][0]),
            seconds=time.perf_counter() - started,
            memory=sum(array.nbytes for array in self.store),
            seed=() if seed is None else seed,
        )
        if is_interrupted:
            raise SearchInterrupted(result)
        return result

    def policy_at(self, state: State) -> np.ndarray:
        """The average policy in the information set of a state; uniform where nothing is known. [actions]

        Raises:
            ValueError: a state of another game.
        """
        self._refuse_other_game(state)
        return self.stored_policy.policy_at(state)

    @property
    def stored_policy(self) -> StoredPolicy:
        """The average policy as it is kept, in a game of any size."""
        return StoredPolicy(self.store.keys, self.store.first, self.store.sums)

    def sample(self, iterations: int) -> None:
        """Make more iterations. If the store is full, the compiled loop stops, and goes on from there with a larger one."""
        goal = self.iterations + iterations

        def loop(walk: Walk) -> int:
            return self.iterate(walk, goal - self.iterations)

        while (status := with_walk(self.game, self._deals, loop)) == MORE_ROOM:
            self.store = sampling.larger_store(self.store)
        if status != COMPLETE:
            refuse_as_unsound(self.game, status)

    def iterate(self, walk: Walk, count: int) -> int:
        """Make `count` iterations in compiled code; returns COMPLETE, or what has ended them before."""
        return walk.call(sampling.sample_online, self.sampling(walk), self._progress, count)

    def sampling(self, walk: Walk, forced: Sequence[int] = ()) -> Sampling:
        """The arrays that compiled code works with.

        Args:
            forced: the indices of the actions that a sample takes, from the deal to an end; empty where they are drawn.
        """
        integers = [
            np.zeros(size, np.int64)
            for size in (walk.dealt.shape[1], walk.room, walk.room, PLAYERS, PLAYERS)
        ]
        reals = [np.zeros(size) for size in (walk.room, walk.room, PLAYERS)]
        return Sampling(
            self.store,
            walk.settings,
            self._sampler,
            walk.dealt,
            self._deal_keys,
            self._chances,
            self._target,
            self._dead,
            self._visits,
            self._rng,
            np.array(forced, np.int64),
            self._path,
            *integers,
            *reals,
        )


class PolicyPlayer(AlgorithmSettings):
    """A player who draws from a policy. It searches nothing, whatever its budget, and remembers nothing of a match."""

    __slots__ = ()

    def policy_in(self, game: AnyGame) -> TabularPolicy | None:
        """The policy; None for uniform choice."""

    def seated(
        self, game: AnyGame, *, iterations: int | None = None, seconds: float | None = None
    ) -> "PolicyPlayer":
        """The same player; the policy is computed before the match begins."""
        self.policy_in(game)
        return self

    def search(self, state: State, seed: int | Sequence[int], progress: object = None) -> Result:
        """A result with an action drawn from the policy; `progress` is not called.

        Raises:
            ValueError: a terminal or chance state, a bad seed. TypeError: `state` is not a state.
        """
        _check_decision(state)
        policy, rng = self.policy_in(state.game), seeded(checks.seed(seed))
        memory = policy.tree.nbytes if policy else 0
        chances = question_to(policy)(state, ())
        return result_of(self, state, chances, rng, memory=memory, seed=seed)

    def check_playable(self, game: AnyGame) -> None:
        """It plays any game."""


@attrs.frozen(repr=False)
class NearEquilibrium(PolicyPlayer):
    """A player who draws from an ε-equilibrium, found by CFR+ when he first sits down to a game. He searches nothing, whatever his budget.

    Attributes:
        epsilon: its NashConv at most, in the units of the game's utilities.

    Raises:
        ValueError: epsilon is not positive.
    """

    epsilon: float = 0.001

    def __attrs_post_init__(self) -> None:
        checks.real("epsilon", self.epsilon, 0, above=True)

    def policy_in(self, game: AnyGame) -> TabularPolicy:
        """The equilibrium, which is kept."""
        return _near(tree_of(game), self.epsilon)

    def check_playable(self, game: AnyGame) -> None:
        """Refuse what is not for two players, is dealt in secret, or is too large."""
        refuse_unless_walkable(game)


_near = functools.lru_cache(maxsize=4)(near_equilibrium)


@attrs.frozen(repr=False)
class Uniform(PolicyPlayer):
    """A player by uniform choice, against whom the papers' programs play. It searches nothing, whatever its budget."""


register(OOS, "Online Outcome Sampling")
register(NearEquilibrium, "a player near an equilibrium")
register(Uniform, "uniform choice")
