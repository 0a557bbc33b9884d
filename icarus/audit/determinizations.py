"""Audit of a game's hidden information: is a determinization all that the observer knows, and nothing that he does not know?

Random games are played; at each decision of each player many determinizations are drawn for him, and each check of HIDDEN is
made, on all of them or on a sample. Nothing is known of the game but its functions.

Two states are the same to the audit when all that everyone together can see of them is the same: their text, and the
actions of the episode as the environment recalls them. So generators of coming deals and other bookkeeping count for nothing.
What a text leaves out is not compared; each text must hide equally many facts, or the draws would not look uniform.

An information set is *small* where there were at least DRAWS_PER_STATE draws for each state found in it: a state is then missed
with a probability of e^-25, so what is not found is excluded, and the counts can be compared with the uniform distribution.

Deals are what is equally likely. Where data says less than the deal (ranks without their suits), or the rules make some data likelier,
`multiplicity(state)` must tell how many deals it stands for, or how likely it is, up to a common factor.
"""

import random
from collections.abc import Callable, Sequence

import numpy as np

from icarus.audit.claims import HIDDEN, NO_RETRACE, UNCHECKED_NOTES
from icarus.audit.differences import differences
from icarus.audit.draws import FAULTS, ROOM, ObserverDraws, differing, fault_of
from icarus.audit.lockstep import random_action
from icarus.audit.redraws import Redraws, redrawn_fields
from icarus.audit.report import Check
from icarus.audit.steps import STEP_ABSENT, Steps
from icarus.audit.uniformity import DRAWS_PER_STATE, Face, Tally, chi_square_tail, chi_square_test, uneven
from icarus.compiler.rng import seeded
from icarus.engine.search import search
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, Facts
from icarus.kernel.constants import RECALLED
from icarus.kernel.data import facts_of
from icarus.kernel.game import Game
from icarus.kernel.state import State
from icarus.specs import EPIC, MAST, NAST2

FEWEST_DRAWS = 200  # to compare, however small the set is
PROBED = 30  # where these are all different, the set is large
FALSE_ALARM = 1e-6  # the p-value below which draws are not uniform
GAMES_PER_DEAL = 2  # so that different actions after the same deal can look alike
REPLAYED = 2  # determinizations replayed at each decision
SWAPPED = 100  # determinizations drawn from another one, taken as the truth, at each decision
FOR_CHANCE = 4  # at every fourth decision is drawn for CHANCE, too
SEARCHES_PER_GAME, ITERATIONS = 3, 60
# who fails these is not searched: compiled code trusts a game to keep its rules
BEFORE_SEARCH = ("player", "actions", "legal")
STRATEGY = EPIC >> (MAST + NAST2) / 2  # reads histories, episodes, actions and n-grams
LAST_ACTIONS = 10  # of the history, told in an example
HIDING = (
    "; but different data have the same text here: if they are different deals, the text hides what makes them differ "
    "(suits, say), and the alarm is false: show it, or give the game multiplicity(state), the number of deals of these data"
)
WEIGHING = "; if the rules make some likelier than others, give the game multiplicity(state)"


class Determinizations:
    """An audit under way, with the random game that is being played."""

    def __init__(
        self, game: Game, determinizations: int, seed: tuple[int, ...], multiplicity: Callable[[Facts], float] | None
    ) -> None:
        self.game, self.determinizations, self.seed, self.multiplicity = game, determinizations, seed, multiplicity
        self.checks = {name: Check(name, claim) for name, claim in HIDDEN.items()}
        self.decisions = self.draw_count = 0
        self._statistic = self._freedom = self._largest = 0.0
        self._least, self._least_text = 1.0, ""
        # by what an observer has noticed: the true states, and the deals of each
        self._deals_by_face: dict[int, dict[Face, float]] = {}
        self._faces: dict[bytes, Face] = {}
        self._recalled, self._listed = np.zeros(RECALLED, np.int64), np.zeros(ROOM * game.max_legal, np.int64)
        self._number, self._texts = 0, [""]
        self._noticed: list[list[tuple[str, int]]] = []
        self._redraws, self._steps = Redraws(game.players), Steps(self.checks, self._face, self._describe_step)
        self._snapshots: list[tuple[State, np.ndarray]] = []

    # --------------------------------------------------------------------------------------------------- a random game

    def play(self, number: int) -> None:
        """Play a random game and look at each decision of it."""
        self._number, self._texts, self._snapshots = number, [], []
        self._steps.begin()
        self.luck, self.rng = random.Random(f"{self.seed} {number}"), seeded((*self.seed, 1, number))
        state = self.game.new_initial_state((*self.seed, 0, number // GAMES_PER_DEAL))
        deal = state.data.tobytes()
        self._noticed = [[] for _ in range(self.game.players)]
        self._notice_label(state)
        while (player := state.current_player()) != TERMINAL:
            if player != CHANCE:
                self._decision(state, player, deal)
                self._steps.decide(state, self._texts)
            action = random_action(state, self.luck)
            self._steps.act(action)
            self._texts.append(state.action_to_string(action))
            self._notice_move(state, action)
            state.apply_action(action)
            self._notice_label(state)
        if not any(self.checks[name].failed for name in BEFORE_SEARCH):
            self._faces.clear()
            self._steps.look(random.Random(f"{self.seed} {number} steps"), seeded((*self.seed, 5, number)))
            for snapshot in self.luck.sample(self._snapshots, min(SEARCHES_PER_GAME, len(self._snapshots))):
                self._search(*snapshot)

    def _notice_label(self, state: State) -> None:
        label = state._label(state.data)
        if label >= 0:
            for noticed in self._noticed:
                noticed.append(("label", label))

    def _notice_move(self, state: State, action: int) -> None:
        moves, observe = np.full(self.game.players, action, np.int64), self.game.kernels().observe
        if observe is not None:
            observe(state.data.ctypes.data, action, moves.ctypes.data, self.game.players)
        for noticed, move in zip(self._noticed, moves.tolist(), strict=True):
            if move != UNSEEN:
                noticed.append(("move", move))

    def _describe(self, state: State, what: str, data: np.ndarray | None = None) -> str:
        """An example: where in which game, what is wrong, and the determinization that it is wrong with."""
        return self._describe_step(state, self._texts[: len(state.history)], what, data)

    def _describe_step(self, state: State, texts: Sequence[str], what: str, data: np.ndarray | None = None) -> str:
        before = f"… {' '.join(texts[-LAST_ACTIONS:])}" if len(texts) > LAST_ACTIONS else " ".join(texts) or "nothing"
        text = f"game {self._number + 1}, player {state.current_player()} after {before}: {what}"
        return text if data is None else text + "\n  " + str(State.from_data(self.game, data)).replace("\n", "\n  ")

    # ------------------------------------------------------------------------------------------------------ a decision

    def _decision(self, state: State, observer: int, deal: bytes) -> None:
        self.decisions += 1
        self._faces.clear()
        observer_draws, before = ObserverDraws(state, observer), self.rng.copy()
        worlds, faults = observer_draws.draw(state.data, self.determinizations, self.rng)
        self.draw_count += len(worlds)
        self._redraws.note(observer, bool((worlds != state.data).any()), redrawn_fields(state, worlds))
        if self.decisions % FOR_CHANCE == 1:
            self._steps.draw_for_chance(state, self._texts, seeded((*self.seed, 6, self.decisions)))
        for name, bit in FAULTS.items():
            self._count_faults(name, state, worlds, np.flatnonzero(faults & bit))
        if self.game.retrace is not None:
            for i in range(min(len(worlds), REPLAYED)):
                self._replay(state, observer, worlds[i : i + 1])
        self._count(state, observer, worlds, deal)
        truth = self._face(state.data)
        sound = np.flatnonzero(faults[:SWAPPED] == 0)
        alternative = next((worlds[i : i + 1] for i in sound if self._face(worlds[i : i + 1]) != truth), None)
        if alternative is not None and self._swap(state, observer_draws, alternative, worlds[:SWAPPED], before):
            self._ask_another(state, observer, alternative)
            if len(state.legal_actions()) > 1:
                self._snapshots.append((state.clone(), alternative))

    def _count_once(self, name: str, wrong: bool, state: State, what: str, data: np.ndarray | None = None) -> None:
        """Count a claim as tested once; where it is wrong, an example says what is."""
        self.checks[name].count(1, wrong, lambda: self._describe(state, what, data))

    def _count_faults(self, name: str, state: State, worlds: np.ndarray, wrong: np.ndarray) -> None:
        def example() -> str:
            data = worlds[wrong[0] : wrong[0] + 1]
            draw = State.from_data(self.game, data)
            fault = fault_of(name, state, draw, self._legal(draw) if name == "actions" else [])
            return self._describe(state, fault, data)

        self.checks[name].count(len(worlds), len(wrong), example)

    def _face(self, data: np.ndarray) -> Face:
        """All that can be seen of a state by everyone together."""
        key = data.tobytes()
        if key not in self._faces:
            recall, actions = self.game.kernels().recall, 0
            if recall is not None:
                actions = recall(data.ctypes.data, self.game.players, self._recalled.ctypes.data, RECALLED)
            self._faces[key] = self.game.text_of(facts_of(data)), self._recalled[:actions].tobytes()
        return self._faces[key]

    def _tally(self, worlds: np.ndarray) -> Tally | None:
        """How often each state was drawn; None where the information set is not small."""
        tally, most = Tally(), len(worlds) // DRAWS_PER_STATE
        for i in range(len(worlds)):
            face = self._face(worlds[i : i + 1])
            tally.add(face, worlds[i : i + 1].tobytes())
            if tally.counts[face] == 1:
                tally.deals[face] = self._deals(worlds[i : i + 1])
            if len(tally.counts) > most or i + 1 == len(tally.counts) == PROBED:
                return None
            if i + 1 >= max(FEWEST_DRAWS, len(tally.counts) * DRAWS_PER_STATE):
                break
        return tally

    def _deals(self, data: np.ndarray) -> float:
        return 1.0 if self.multiplicity is None else float(self.multiplicity(facts_of(data)))

    def _replay(self, state: State, observer: int, data: np.ndarray) -> None:
        """Go the way that leads to a determinization."""
        replayed, wrong = self._retrace(state, data)
        self._count_once("legal", bool(wrong), state, wrong, data)
        if replayed is not None:
            observed = [move for kind, move in self._noticed[observer] if kind == "move"]
            moves = list(replayed.moves(observer))
            differ = moves != observed[len(observed) - len(moves) :]
            what = f"he has seen the moves {observed[-LAST_ACTIONS:]}, but here {moves[-LAST_ACTIONS:]}"
            self._count_once("history", differ, state, what, data)

    def _retrace(self, state: State, data: np.ndarray) -> tuple[State | None, str]:
        """The state that the way to a determinization leads to, with its history; or what is wrong with that way."""
        assert self.game.retrace is not None
        try:
            start, actions = self.game.retrace(state, data)
            replayed = State.from_data(self.game, start.copy())
            for action in actions:
                legal = self._legal(replayed)
                if action not in legal:
                    text = self.game.action_text_of(replayed.facts, action)
                    return None, f"player {replayed.current_player()} could not have played {text}:"
                replayed.apply_action(action)
        except Exception as error:  # whatever a way back stumbles over is what there is to tell
            return None, f"retrace fails: {error!r}"
        if not (replayed.data == data).all():
            return None, f"retrace leads to another state, by {replayed.history_str()}:"
        return replayed, ""

    def _legal(self, state: State) -> list[int]:
        """Legal actions, listed with room to spare; a state with more than any right one is refused before it is played on."""
        if state.is_terminal():
            return []
        count = self.game.kernels().legal(state.data.ctypes.data, self._listed.ctypes.data)
        if count > self.game.max_legal:
            raise ValueError(f"{count} legal actions, although max_legal is {self.game.max_legal}")
        return self._listed[:count].tolist()

    def _count(self, state: State, observer: int, worlds: np.ndarray, deal: bytes) -> None:
        """Where the information set is small: nothing that can be true is excluded, and all of it is equally likely."""
        tally = self._tally(worlds)
        if tally is None:
            return
        key = hash((deal, observer, tuple(self._noticed[observer]), tuple(state.legal_actions())))
        deals_of_face = self._deals_by_face.setdefault(key, {})
        deals_of_face[self._face(state.data)] = self._deals(state.data)
        excluded = next((face[0] for face, deals in deals_of_face.items() if tally.excludes(face, deals)), None)
        text = "never drawn, although he cannot tell it from the true state:\n" + str(excluded)
        self._count_once("truth", excluded is not None, state, text.replace("\n", "\n  "))
        self._test(state, *tally.compared(), tally.merged)

    def _test(self, state: State, counts: list[int], expected: list[float], merged: int) -> None:
        if len(counts) < 2:
            return
        statistic, p = chi_square_test(counts, expected)
        self.checks["uniform"].checked += 1
        self.checks["uniform"].p_values.append(p)
        self._statistic, self._freedom = self._statistic + statistic, self._freedom + len(counts) - 1
        self._largest = max(self._largest, len(counts))
        if p < self._least:
            advice = HIDING if merged else WEIGHING if self.multiplicity is None else ""
            self._least = p
            self._least_text = self._describe(state, f"{uneven(counts, expected)} (p = {p:.2g}){advice}")

    def _redrawn(
        self, state: State, observer_draws: ObserverDraws, alternative: np.ndarray, count: int, rng: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Draws where a determinization is the truth; None if the game cannot make them."""
        try:
            return observer_draws.draw(alternative, count, rng)
        except Exception as error:  # whatever a game stumbles over is what there is to tell
            self._count_once("again", True, state, f"{error!r} when this is determinized:", alternative)
            return None

    def _swap(
        self, state: State, observer_draws: ObserverDraws, alternative: np.ndarray, draws: np.ndarray, rng: np.ndarray
    ) -> bool:
        """With a determinization as the truth, and the generator as it was, draw once more; False if that fails."""
        redrawn = self._redrawn(state, observer_draws, alternative, len(draws), rng)
        if redrawn is None:
            return False
        worlds, faults = redrawn
        self._count_faults("again", state, worlds, np.flatnonzero(faults))
        differ = differing(worlds, draws, self._face)
        what = f"draw {differ[0] + 1} differs if this is the true state:" if differ else ""
        self._count_once("swap", bool(differ), state, what, alternative)
        return not faults.any()

    def _ask_another(self, state: State, observer: int, alternative: np.ndarray) -> None:
        """Whether a determinization can be the truth for somebody else."""
        players = [player for player in range(self.game.players) if player != observer]
        if not players:
            return
        player = self.luck.choice(players)
        draws = ObserverDraws(State.from_data(self.game, alternative), player)
        redrawn = self._redrawn(state, draws, alternative, self.determinizations, self.rng)
        tally = None if redrawn is None else self._tally(redrawn[0])
        if tally is not None:
            excluded = tally.excludes(self._face(alternative), self._deals(alternative))
            what = f"never drawn for player {player} if this is the true state:"
            self._count_once("others", excluded, state, what, alternative)

    def _search(self, state: State, data: np.ndarray) -> None:
        """Search the truth, and a determinization as if it were the truth."""
        alternative = self._retrace(state, data)[0] if self.game.retrace is not None else None
        if alternative is None:
            alternative = state.from_determinization(data.copy())
        try:
            seed = (*self.seed, self._number)
            first, second = (search(root, STRATEGY, iterations=ITERATIONS, seed=seed) for root in (state, alternative))
            different = differences(first, second)
            message = f"different {', '.join(different)} if this is the true state:"
        except Exception as error:  # here, too
            different, message = ["error"], f"{error!r} if this is the true state:"
        self._count_once("search", bool(different), state, message, data)

    # ------------------------------------------------------------------------------------------------------ the report

    @property
    def broken(self) -> bool:
        """Whether what is drawn is wrong; of uniformity nothing is known before the end, and a search may fail by a broken contract."""
        return any(check.failed for name, check in self.checks.items() if name != "search")

    def finish(self, contract_broken: bool) -> None:
        """Judge uniformity, and say of what was not checked why."""
        if contract_broken:
            for check in self.checks.values():
                check.note = "not completed, because the game breaks its contract"
            return
        self._judge_uniformity()
        self._redraws.judge(self.checks["redraw"])
        for name in ("legal", "history"):
            if self.game.retrace is None:
                self.checks[name].note = NO_RETRACE
        for check in self.checks.values():
            if check.name == "search" and any(self.checks[name].failed for name in BEFORE_SEARCH):
                check.note = "no search was made, because other checks failed"
            elif not check.checked and not check.note:
                check.note = STEP_ABSENT.get(check.name) or UNCHECKED_NOTES.get(check.name, "no player had a decision")
                check.absent = check.name in STEP_ABSENT

    def _judge_uniformity(self) -> None:
        """The least p-value, corrected for the number of tests, and one for the sum of all statistics."""
        check = self.checks["uniform"]
        if check.checked:
            together = chi_square_tail(self._statistic, self._freedom)
            check.note = (
                f"sets of up to {self._largest:.0f} states; the least p of {check.checked:,} is {self._least:.2g}, "
                f"all together p = {together:.2g}"
            )
            biased = [p for p in check.p_values if p * check.checked < FALSE_ALARM]
            check.failed = max(len(biased), int(together < FALSE_ALARM))
            check.examples = [self._least_text] * bool(check.failed)
