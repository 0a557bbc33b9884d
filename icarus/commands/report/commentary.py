"""A game with comments: what a strong search thought of each decision, and the positions that mattered most."""

from typing import Any

import numpy as np

from icarus.discovery.matches import Row
from icarus.engine.algorithm import SearchResult, SeatedPlayer
from icarus.engine.match import Decision, play
from icarus.engine.result import Result
from icarus.kernel.game import AnyGame
from icarus.kernel.seats import seat_name
from icarus.kernel.state import State
from icarus.views.boards import drawing

PICTURES = 4  # of the decisions that mattered most, beside the end
CLOSE = 0.15  # of the visits: two actions that differ by less are both good
STAKE, SWING = 0.15, 0.1  # of reward: from there a decision matters, and prospects have changed


class Observed:
    """A player whose last search is kept, so that more is known of it than `play` notes."""

    preference = None

    def __init__(self, player: SeatedPlayer) -> None:
        self.player = player
        self.result: Result | None = None

    def seated(self, game: AnyGame) -> "Observed":
        return self

    def search(self, state: State, seed: tuple[int, ...]) -> SearchResult:
        self.result = result = self.player.search(state, seed)
        return result

    def stake(self) -> float:
        """How much the last decision mattered: the value of what was chosen less the mean of all that was legal."""
        assert self.result is not None
        return float(self.result.value - np.nanmean(self.result.values))


def commented_game(game: AnyGame, player: Observed, seed: tuple[int, ...]) -> Row:
    """A game of a player with himself, as steps with comments, and pictures of some positions, everything open."""
    steps: list[dict[str, Any]] = []
    pictures: list[str] = []
    prospects: dict[int, float] = {}

    def watch(state: State, action: int | None, decision: Decision | None) -> None:
        pictures.append(drawing(state).svg())
        if action is None:
            return
        seat = state.current_player()
        step: dict[str, Any] = {"player": seat_name(game, seat), "action": state.action_to_string(action)}
        if decision is not None and decision.iterations:
            assert player.result is not None
            stake, before = player.stake(), prospects.get(seat)
            comments = list(_comments(player.result, stake, before))
            step |= {"value": round(decision.value, 3), "stake": round(stake, 3), "comment": "; ".join(comments)}
            prospects[seat] = decision.value
        elif decision is not None:
            step["comment"] = "the only action"
        steps.append(step)

    log = play(game, [player] * game.players, seed=seed, watch=watch)
    stakes = np.array([step.get("stake", -1.0) for step in steps])
    chosen = [int(i) for i in np.argsort(-stakes, kind="stable")[:PICTURES] if stakes[i] >= 0]
    drawings = {str(i): pictures[i] for i in sorted({*chosen, len(steps)})}
    return {"steps": steps, "pictures": drawings, "returns": list(log.returns)}


def _comments(result: Result, stake: float, before: float | None) -> list[str]:
    """What there is to say of a decision."""
    order = np.argsort(-result.visits, kind="stable")
    comments = []
    if len(order) > 1 and result.policy[order[0]] - result.policy[order[1]] < CLOSE:
        second = result.state.action_to_string(result.actions[order[1]])
        comments.append(f"{second} is about as good")
    if stake >= STAKE:
        comments.append(f"a decision that matters: the average action is worth {stake:.2f} less")
    if before is not None and abs(result.value - before) >= SWING:
        change = "rise" if result.value > before else "fall"
        comments.append(f"prospects {change} from {before:.2f} to {result.value:.2f}")
    return comments
