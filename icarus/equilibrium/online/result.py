"""What an online search found."""

from collections.abc import Sequence

import attrs
import numpy as np

from icarus.checks import count_text
from icarus.compiler.kernels.rng import uniform
from icarus.engine.algorithm import Algorithm
from icarus.kernel.data import read_only
from icarus.kernel.seats import seat_name
from icarus.kernel.state import State


@attrs.frozen(eq=False, repr=False)
class OnlineResult:
    """What an algorithm other than Algorithm 1 found in the information set of a state; its arrays can be read only.

    Attributes:
        action: drawn from `policy`.
        actions: the legal ones, in the game's order.
        policy: the probability of each. [actions]
        visits: samples of this search that passed here, by their action. [actions]
        values: mean rewards after each where the search estimates any, else nan (counterfactual values are none). [actions]
        iterations: made in this search; of Online Outcome Sampling each is a pair of traversals.
        depth: actions to the end of the longest history gone through in the tree.
        information_sets: in memory.
        seconds: wall-clock time.
        state, algorithm, seed: the arguments of the search; `state` is a copy each time, which may be played on.
    """

    action: int
    actions: tuple[int, ...]
    policy: np.ndarray = attrs.field(converter=read_only)
    visits: np.ndarray = attrs.field(converter=read_only)
    values: np.ndarray = attrs.field(converter=read_only)
    iterations: int
    depth: int
    information_sets: int
    seconds: float
    _state: State
    algorithm: Algorithm
    seed: int | Sequence[int] | None

    @property
    def state(self) -> State:
        return self._state.clone()

    def __str__(self) -> str:
        texts = [self.state.action_to_string(action) for action in self.actions]
        width = max(len("action"), *map(len, texts)) + 2
        lines = [f"{'action':<{width}}  probability    visits"]
        for i in np.argsort(-self.policy, kind="stable"):
            mark = " *" if self.actions[i] == self.action else ""
            lines.append(f"{texts[i] + mark:<{width}}  {self.policy[i]:>11.3f}  {self.visits[i]:>8}")
        rate = self.iterations / self.seconds if self.seconds > 0 else 0.0
        player = seat_name(self.state.game, self.state.current_player())
        iterations, sets = (
            count_text(self.iterations, "iteration"),
            count_text(self.information_sets, "information set"),
        )
        title = f"{self.state.game}, {player}, {self.algorithm}: {iterations} in {self.seconds:.2f} s ({rate:,.0f}/s), {sets}"
        return "\n".join([title, *lines])

    def __repr__(self) -> str:
        return f"<search result: {self.state.action_to_string(self.action)} after {count_text(self.iterations, 'iteration')}>"


def draw(actions: tuple[int, ...], policy: np.ndarray, rng: np.ndarray) -> int:
    """An action drawn by its probability."""
    index = int(np.searchsorted(np.cumsum(policy), uniform(rng), side="right"))
    return actions[min(index, len(actions) - 1)]
