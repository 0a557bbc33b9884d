"""icarus's games, and with its bridge OpenSpiel's, as environments of PettingZoo (AEC), and its agents as policies.

    from icarus import Agent, RAVE
    from icarus.bridges import openspiel, pettingzoo

    env = pettingzoo.env("hearts")                            # or pettingzoo.env(openspiel.game("leduc_poker"))
    policy = pettingzoo.policy(Agent(RAVE, iterations=500))   # or Agent.at_level("hearts", 3)
    env.reset(seed=1)
    for name in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        env.step(None if terminated or truncated else policy(env))

An observation is what the seat may see: in words, as bytes of UTF-8 (`info["text"]` of who is to act has it as text), or what your
`encode` says, such as a tensor of a game of OpenSpiel's, whose state is `state.data`. With it comes the mask of legal actions, in the
observation and in `info`. A game is never truncated. A copy of a running game goes on as the game itself.
"""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv

from icarus import games
from icarus.bridges.seats import action_count, check_agent, numbered_actions, seen_by
from icarus.checks import integer
from icarus.engine.match import Agent
from icarus.engine.search import check_callable
from icarus.kernel import AnyGame, State, check_game, draw_outcome

BYTES = 4096  # of an observation in words; what is longer ends there


class GameEnv(AECEnv):
    """A game under way; `state_of_game` is icarus's own state. See `env`."""

    def __init__(
        self,
        game: AnyGame,
        encode: Callable[[State, int], np.ndarray] | None,
        space: spaces.Space | None,
    ) -> None:
        super().__init__()
        self.game = game
        self.render_mode = "ansi"
        self.metadata = {
            "name": f"icarus_{game.name}_v0",
            "render_modes": ["ansi"],
            "is_parallelizable": False,
        }
        self.possible_agents = [f"player_{seat}" for seat in range(game.players)]
        self._encode = encode or _words
        count = action_count(game)
        observation = space or spaces.Box(0, 255, (BYTES,), np.uint8)
        mask = spaces.Box(0, 1, (count,), np.int8)
        parts = {"observation": observation, "action_mask": mask}
        self.observation_spaces = {
            name: spaces.Dict(copy.deepcopy(parts)) for name in self.possible_agents
        }
        self.action_spaces = {name: spaces.Discrete(count) for name in self.possible_agents}
        self.agents: list[str] = []
        self.state_of_game: State | None = None

    def observation_space(self, agent: str) -> spaces.Space:
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space:
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict | None = None) -> None:
        """Begin a new game: the deal and all chance follow from the seed; without one they are new each time.

        Raises:
            ValueError: `seed` is not an integer ≥ 0.
        """
        self._luck = np.random.default_rng(None if seed is None else integer("seed", seed, 0))
        self.state_of_game = self.game.new_initial_state(int(self._luck.integers(1 << 62)))
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict(self.rewards)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.agent_selection = self.agents[0]
        self._to_next_player()
        # chance may have ended the game before the first action
        self._accumulate_rewards()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, object]]:
        """What the agent that is to act sees, its reward since it last acted, whether its game is over or cut short, and its `info`.

        Raises:
            ValueError: there is no game, or all agents are gone.
        """
        self._acting_state()
        return super().last(observe)

    def step(self, action: int | None) -> None:
        """Play an action, or None for an agent whose game is over.

        Raises:
            ValueError: there is no game, all agents are gone, or the action is not legal.
        """
        state = self._acting_state()
        if self.terminations[self.agent_selection]:
            self._was_dead_step(action)
            return
        if action is None:
            raise ValueError(
                f"{self.agent_selection} is to act: None is for agents whose game is over"
            )
        self._cumulative_rewards[self.agent_selection] = 0.0
        # A number of NumPy or of a tensor becomes Python's as it is: int() would take 2.7 for 2, which is refused.
        state.apply_action(np.asarray(action).item())
        self._to_next_player()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What an agent sees, and its legal actions: none while another is to act."""
        seat = self.possible_agents.index(agent)
        observation = self._encode(self.running_state(), seat)
        return {"observation": observation, "action_mask": self._mask(agent)}

    def render(self) -> str:
        return str(self.running_state())

    def close(self) -> None:
        """There is nothing to close."""

    def running_state(self) -> State:
        """The state of the game.

        Raises:
            ValueError: there is no game yet.
        """
        if self.state_of_game is None:
            raise ValueError("there is no game yet: call reset first")
        return self.state_of_game

    def _acting_state(self) -> State:
        """The state of the game, where an agent is to act or to leave.

        Raises:
            ValueError: there is none.
        """
        state = self.running_state()
        if not self.agents:
            raise ValueError("the game is over for all agents: call reset for another")
        return state

    def _to_next_player(self) -> None:
        """Let chance act, and see whose turn it is."""
        state = self.running_state()
        while state.is_chance_node():
            state.apply_action(draw_outcome(state, self._luck))
        if state.is_terminal():
            self.rewards = dict(zip(self.possible_agents, state.returns(), strict=True))
            self.terminations = dict.fromkeys(self.agents, True)
        else:
            self.agent_selection = self.possible_agents[state.current_player()]
        self.infos: dict[str, dict[str, object]] = {}
        for seat, name in enumerate(self.possible_agents):
            self.infos[name] = {"action_mask": self._mask(name)}
            if state.is_terminal() or name == self.agent_selection:
                self.infos[name]["text"] = seen_by(state, seat)

    def _mask(self, agent: str) -> np.ndarray:
        state = self.running_state()
        mask = np.zeros(self.action_spaces[agent].n, np.int8)
        if agent == self.agent_selection and not state.is_terminal():
            mask[numbered_actions(state)] = 1
        return mask

    def __deepcopy__(self, memo: dict) -> "GameEnv":
        env = object.__new__(type(self))
        # the copy has the same game and the same `encode`
        memo |= {id(shared): shared for shared in (self.game, self._encode)}
        env.__dict__.update(copy.deepcopy(vars(self), memo))
        return env


def _words(state: State, seat: int) -> np.ndarray:
    """What a seat sees, in words, as bytes; 0 after their end."""
    numbers = np.zeros(BYTES, np.uint8)
    text = seen_by(state, seat).encode()[:BYTES]
    numbers[: len(text)] = np.frombuffer(text, np.uint8)
    return numbers


def env(
    game: str | AnyGame,
    *,
    encode: Callable[[State, int], np.ndarray] | None = None,
    space: spaces.Space | None = None,
) -> GameEnv:
    """A game as an environment, version 0.

    Args:
        game: its name, as `icarus.games.load` takes it, or the game, with its `actions`; one of OpenSpiel's by
            `icarus.bridges.openspiel.game`.
        encode: `encode(state, seat) -> array`, what a seat observes, an element of `space`; make sure that the seat may see all of it.
            Absent: words.

    Raises:
        TypeError: it is not a game, or `encode` is no function.
        ValueError: no such game, one that does not say how far its actions are numbered, or only one of `encode` and `space`.
    """
    check_callable("encode", encode, "a function of a state and a seat")
    if (encode is None) != (space is None):
        raise ValueError("give both encode and space, or neither")
    loaded = games.load(game) if isinstance(game, str) else game
    check_game("an environment", loaded)
    return GameEnv(loaded, encode, space)


def policy(agent: Agent, *, seed: int = 0) -> Callable[[AECEnv], int]:
    """An agent as a policy: `policy(env)` is what it plays for the agent that is to act; it sees no more than that seat.

    Args:
        agent: who searches each decision anew, or one that is `seated`, with its memory of the game.
        seed: an integer ≥ 0, of its searches.

    Raises:
        TypeError: it is not an agent; from `policy(env)`, no environment of `env`.
        ValueError: a bad seed, or an agent that remembers and is not seated; from `policy(env)`, `reset` has not been called.
    """
    check_agent(agent)
    integer("seed", seed, 0)

    def act(running: AECEnv) -> int:
        base = getattr(running, "unwrapped", None)
        if not isinstance(base, GameEnv):
            raise TypeError(
                f"the policy of an agent needs an environment of icarus.bridges.pettingzoo.env, not {running!r}"
            )
        state = base.running_state()
        legal = state.legal_actions()
        if len(legal) == 1:
            return legal[0]
        return agent.search(state, (seed, len(state.history))).action

    return act
