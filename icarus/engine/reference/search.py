"""Algorithm 1 in plain Python: `search(…, engine="python")`, in which a breakpoint or a print in a slot or a game works.

The same draws from the same generator in the same order as the compiled loop makes, and so the same records and the same result for the
same seed; the same functions of slots, rules and games, by their Python source. Slow and without cleverness: all of a history is
kept, also where no slot reads it. Values, keys, contexts and rewards out of range are refused, which the compiled loop has no time for.
"""

import copy
from collections.abc import Sequence
from functools import partial

import numpy as np

from icarus.algebra import PLAYER, Enhancement
from icarus.compiler.messages import home
from icarus.compiler.reference import interpret
from icarus.compiler.rng import seeded
from icarus.engine.arena import ANY, IN_SIMULATION, SIMULTANEOUS, TREE
from icarus.engine.belief import BelievingState
from icarus.engine.choice import WeightError
from icarus.engine.choice import pick_outcome as compiled_pick_outcome
from icarus.engine.loop import observation_classes
from icarus.engine.lowering import refuse_unseeded_rules, tables_of
from icarus.engine.recommendation import Recommendation, most_visits
from icarus.engine.reference.choice import Decision, ReferenceProgram
from icarus.engine.reference.features import FeatureEvaluator
from icarus.engine.reference.history import Moves, Playout
from icarus.engine.reference.table import ReferenceTable
from icarus.engine.result import Result
from icarus.engine.reuse import ReusedRecords
from icarus.engine.root_episode import root_episode
from icarus.engine.root_statistics import RootStatistics, root_statistics
from icarus.engine.running_search import result_of, too_long_message
from icarus.engine.scheme import FRESH, MO_ISMCTS, ONCE, ROOT_PLAYER, Scheme
from icarus.engine.slot_kernels import context_message
from icarus.engine.tables import Records
from icarus.kernel import CHANCE, EXPANSION, SELECTION, SIMULATION, TERMINAL, Updates
from icarus.kernel import below as compiled_below
from icarus.kernel import extended as compiled_extended
from icarus.kernel.answers import author
from icarus.kernel.constants import CONTINUES
from icarus.kernel.data import StateData
from icarus.kernel.game import Game
from icarus.kernel.history import UNLIMITED, new_root
from icarus.kernel.python_game import PythonGame, in_python
from icarus.kernel.state import State
from icarus.kernel.theta import IntegerList

below, pick_outcome, extended = map(interpret, (compiled_below, compiled_pick_outcome, compiled_extended))


def not_a_determinization(game: PythonGame, changed: str) -> ValueError:
    """What is raised where a determinization is not one of the state that it was drawn from."""
    assert game.determinize is not None
    return ValueError(f"a determinization changed {changed}, {home(author(game.determinize))}")


class ReferenceSearch:
    """A search of one tree in plain Python."""

    trees = 1
    program_type: type[ReferenceProgram] = ReferenceProgram

    def __init__(
        self,
        state: State,
        strategy: Enhancement,
        seed: int | Sequence[int] = 0,
        scheme: Scheme = MO_ISMCTS,
        reuse: ReusedRecords | None = None,
    ) -> None:
        self.state, self.strategy, self.seed, self.scheme = state.clone(), strategy, seed, scheme
        self.rng, self._budget = seeded(seed), UNLIMITED
        self.actions, self._observer = tuple(state.legal_actions()), state.current_player()
        if isinstance(state.game, Game):
            refuse_unseeded_rules(state.game)
        game: PythonGame = in_python(state.game)
        self.game, self._all_moves = scheme.view(game), game.observed_moves
        self._perspective = game.perspective(self._observer)
        self._uses_exp3 = scheme.uses_exp3(game)
        self.program = self.program_type(strategy, self._uses_exp3, self.game, self.rng)
        self.tables = self.program.tables
        self.root_keys = new_root(self.game.perspectives) if reuse is None else reuse.root
        for table in self.tables:
            table.begin_at(self.root_keys)
        self._copies_cheaply = game.copy is not copy.deepcopy
        self._features = FeatureEvaluator(self.game, tables_of(strategy))
        self.iterations, self.depth, self._phase_steps = 0, 0, np.zeros(3, np.int64)
        self.earlier_iterations = 0 if reuse is None else reuse.iterations
        self._root_visits = np.zeros(len(self.actions), np.int64)
        self._set_root()
        self._root_episode = root_episode(self.state, scheme, self.game)
        if reuse is not None:
            reuse.fill(self.tables)
            self._root_visits += self.root().playouts.astype(np.int64)

    def _set_root(self) -> None:
        """The state that iterations begin with, and for whom it is determinized; the environment knows it all."""
        root, observer = self.state.data, self._observer
        if self.scheme.root == ONCE:
            root = self.game.redraw(root, observer, self.game.believed(root, observer), self.rng)
        if self.scheme.root != FRESH:
            observer = CHANCE
        self._root, self._root_observer = root, observer
        believes = isinstance(self.state, BelievingState)
        self._beliefs = self.state.beliefs(observer) if believes else self.game.believed(root, observer)

    @property
    def memory(self) -> int:
        """Bytes of as many records in compiled code."""
        return sum(table.nbytes for table in self.tables)

    def phase_steps(self) -> np.ndarray:
        """Decisions made in each phase."""
        return self._phase_steps.copy()

    def root(self) -> RootStatistics:
        """What is known of the actions at the root."""
        return root_statistics(self.state, self._root_visits.copy(), self.tables)

    def records(self, copied: bool = True) -> dict[str, Records]:
        """The records of every component and of the baseline, by name, as they are now; they are copies whatever `copied` is."""
        tables = [table.snapshot() for table in self.tables]
        return {str(part): Records(part, self.game, tables[index]) for part, index in self.program.table_of.items()}

    def result(self, seconds: float = 0.0, copied: bool = True, recommendation: Recommendation = most_visits) -> Result:
        """What the search has found so far; the action by `recommendation`."""
        return result_of(self, seconds, copied, recommendation)

    def close(self) -> None:
        """Nothing to end: the search runs in the thread of its caller."""

    def expect(self, iterations: int) -> None:
        """Tell slots how many playouts there will be in all."""
        self._budget = iterations

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all."""
        while self.iterations < iterations:
            self.iterate()

    def iterate(self) -> None:
        """Lines 6-17: one iteration.

        Raises:
            ValueError: a slot or a game gave what makes no sense.
        """
        try:
            with np.errstate(over="ignore"):  # compiled code wraps round
                playout, world = self._play_out()
        except WeightError as error:
            raise ValueError(f"in {self.strategy}, {error}") from None
        playout.rewards = self._rewards(world)
        history, parts = playout.history(), self.program.components
        captured = [Updates(IntegerList(), IntegerList(), [0]) for _ in parts]
        for part, updates, table in zip(parts, captured, self.tables, strict=True):
            theta = [table.theta] if table.theta_is_captured else []
            self.program.call_slot(part.capture, history, *theta, updates)  # line 16
        for part, updates, table in zip(parts, captured, self.tables, strict=True):
            for record, context in zip(updates.records.integers, updates.contexts.integers, strict=True):
                self._update(part, table, record, context, history.rewards)
        self._root_visits[self.actions.index(history.steps[0].action)] += 1
        self.iterations += 1

    def _update(self, part: Enhancement, table: ReferenceTable, record: int, context: int, rewards: np.ndarray) -> None:
        """Line 17, for one record."""
        if part.contexts == PLAYER and not 0 <= context < self.game.players:
            raise ValueError(context_message(part.capture.label(), part.name, context, self.game.players))
        row = table.open(record)
        self.program.call_slot(part.backpropagation, row, context, rewards)
        table.close(row)

    def _rewards(self, world: StateData) -> np.ndarray:
        """μ of the state in which a playout has ended, or the heuristic where it was cut off."""
        ended = self.game.player(world) == TERMINAL
        return self._features.rewards(world) if ended else self.game.tell("heuristic", world)

    def _begin_playout(self) -> tuple[Playout, StateData]:
        """Lines 7-9: the empty history, at a state drawn from the root's information set."""
        world = self.game.redraw(self._root, self._root_observer, self._beliefs, self.rng)
        if self.game.determinize is not None and self.game.player(world) != self._observer:
            raise not_a_determinization(self.game, "the player to move, or ended the game")
        return self.empty_history(world), world

    def empty_history(self, world: StateData) -> Playout:
        """A playout that begins at a state of the root's information set."""
        recall = None if self.game.recall is None else partial(self.game.recall, world)
        playout = Playout(self.root_keys, *self._root_episode.keys(recall), self._features.widths)
        playout.rng, playout.budget = self.rng, self._budget
        playout.iteration = self.earlier_iterations + self.iterations
        return playout

    def _play_out(self) -> tuple[Playout, StateData]:
        """Lines 7-14: one playout, and the state that it ends in."""
        playout, world = self._begin_playout()
        in_tree = self._visits(self.root_keys.record) > 0  # the first playout of all expands the empty history
        simulated = 0
        while (player := self.game.player(world)) != TERMINAL:
            if playout.t >= self.game.max_length:
                raise ValueError(too_long_message(self.state, [step.action for step in playout.steps[:-1]]))
            if not in_tree and self._is_cut(simulated, playout.t):
                break
            simulated += not in_tree
            edge, action = self._decide(playout, world, player, in_tree)
            if playout.t == 0 and edge not in self.actions:
                raise not_a_determinization(self.game, "the legal actions of the player to move")
            self.play(playout, world, edge, action)
            if in_tree:
                self.depth = max(self.depth, playout.t)
                in_tree = self._visits(playout.steps[playout.t].record) > 0
        playout.steps[playout.t].write(player=player)
        self._features.evaluate_state(playout.features, world)
        return playout, world

    def play(self, playout: Playout, world: StateData, edge: int, action: int) -> None:
        """Play an action, which is this edge of the tree: the state changes, and the history is one longer."""
        moves = self._moves(playout, world, edge)
        self.game.apply(world, action)
        playout.extend(edge, moves)
        label = CONTINUES if self.game.episode is None else self.game.episode(world)
        if label >= 0:
            playout.begin_episode(label)

    def _moves(self, playout: Playout, world: StateData, edge: int) -> Moves:
        """How each perspective sees an action about to be played; in simulation a function of that, called where a slot reads it."""
        if self.game.observe is None or playout.steps[playout.t].phase != SIMULATION or not self._copies_cheaply:
            return self.game.observed_moves(world, edge)
        before = self.game.copy(world)
        return lambda: self.game.observed_moves(before, edge)

    def _is_cut(self, simulated: int, t: int) -> bool:
        """Whether a playout is cut off after so many actions of simulation; the root's action is always played."""
        return self.scheme.cutoff is not None and simulated >= self.scheme.cutoff and t > 0

    def _decide(self, playout: Playout, world: StateData, player: int, in_tree: bool) -> tuple[int, int]:
        """Line 11: what is played in a state, as an edge of the tree and as an action."""
        actions, edges, classes = self.begin_decision(playout, world, player)
        step, legal = playout.steps[playout.t], list(dict.fromkeys(edges))
        step.write(phase=self._phase(playout, legal) if in_tree else SIMULATION)
        self._phase_steps[step.phase] += 1
        if self.game.simultaneous is not None and player != CHANCE and self._is_near_tree(playout):
            step.write(choice=self.game.simultaneous(world), probability=1.0)
        if player == CHANCE:
            i = self._outcome(world, len(actions))
            return edges[i], actions[i]
        index = self._choose(playout, in_tree, legal) if len(legal) > 1 else 0
        index = below(self.rng, len(legal)) if index == ANY else index
        candidates = [i for i, number in enumerate(classes) if number == index]
        i = candidates[below(self.rng, len(candidates))] if len(candidates) > 1 else candidates[0]
        return edges[i], actions[i]

    def begin_decision(self, playout: Playout, world: StateData, player: int) -> tuple[list[int], list[int], list[int]]:
        """Write down among what a player decides.

        Returns:
            The legal actions, the edge of the tree that each belongs to, and the number of this edge among all of them.
        """
        actions: list[int] = self.game.legal(world)
        edges, legal, classes = actions, actions, list(range(len(actions)))
        if self.scheme.observer == ROOT_PLAYER and player != self._observer:
            edges = [self._all_moves(world, action)[self._perspective] for action in actions]
            legal, classes = observation_classes(edges)
        playout.decide(player, self.game.perspective(player), legal)
        self._features.evaluate_step(playout.features, world, player, actions, classes)
        return actions, edges, classes

    @staticmethod
    def _is_near_tree(playout: Playout) -> bool:
        """Whether the decision that comes next is in the tree, or the first after it."""
        return playout.t == 0 or playout.steps[playout.t - 1].phase != SIMULATION

    def _phase(self, playout: Playout, legal: Sequence[int]) -> int:
        step = playout.steps[playout.t]
        key = playout.keys_at(playout.t)[step.perspective]
        visited = all(self._visits(extended(key, step.player, action)) > 0 for action in legal)
        return SELECTION if visited else EXPANSION

    def _choose(self, playout: Playout, in_tree: bool, legal: list[int]) -> int:
        """The index of what the policy chooses; ANY where it is uniform by definition."""
        step = playout.steps[playout.t]
        uses_exp3 = self._uses_exp3 and in_tree and step.choice > 0
        stage = SIMULTANEOUS if uses_exp3 else TREE if in_tree else IN_SIMULATION
        decision = Decision(playout, legal)
        index = self.program.choose(stage, decision)
        if stage == SIMULTANEOUS:
            step.write(probability=float(decision.values[index]))
        return index

    def _outcome(self, world: StateData, count: int) -> int:
        """The index of an outcome of a chance state."""
        if count == 1:
            return 0
        probabilities = [1.0 / count] * count if self.game.chance is None else self.game.chance(world)
        return int(pick_outcome(probabilities, count, self.rng))

    def _visits(self, record: int) -> int:
        """n of a baseline record."""
        return self.tables[0].theta.find(record).visits
