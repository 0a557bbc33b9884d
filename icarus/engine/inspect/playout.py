"""One playout of a search with all that happened in it: who decided what by which values, what was captured, what was updated.

The search runs as far as one likes, compiled where it can be; the playout that comes next is made by plain Python, in which every
decision, every captured record and every updated row passes by and is noted. It is the playout that the search itself would have made.
"""

import functools
from collections.abc import Sequence
from typing import Any, cast

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.information import HISTORY, POSITION, FieldValue
from icarus.algebra.policy import RULE_GIBBS_OF_MEANS, RULE_UNIFORM
from icarus.compiler.functions import plain
from icarus.compiler.reference import Interpreter
from icarus.engine import validation
from icarus.engine.belief import has_belief
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.reference.choice import Decision, ReferenceProgram, Term
from icarus.engine.reference.history import Playout, ReferenceHistory
from icarus.engine.reference.search import ReferenceSearch
from icarus.engine.reference.table import ReferenceTable
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.engine.tables import part_text
from icarus.kernel import CHANCE, UNSEEN, extended, mix
from icarus.kernel.data import StateData
from icarus.kernel.game import AnyGame
from icarus.kernel.history import PHASES
from icarus.kernel.state import State

ONLY, ENVIRONMENT = "the only action", "the environment"


@attrs.frozen
class Choice:
    """A decision of a playout.

    Attributes:
        player: who acted; CHANCE for the environment.
        phase: selection, expansion or simulation.
        action: as players write it.
        legal: how many actions there were.
        by: the component, or the mixture of components, whose values decided; ENVIRONMENT, or ONLY where nothing had to be decided.
        weight: with which this alternative of a linear mixture was drawn; 1 where there is one alternative.
        uniform: whether the choice was uniform by definition.
        values: what the alternative said of each legal action, by its text; empty where nothing was asked.
    """

    player: int
    phase: str
    action: str
    legal: int
    by: str
    weight: float = 1.0
    uniform: bool = False
    values: dict[str, float] = attrs.field(factory=dict)


@attrs.frozen
class Update:
    """A record captured by one component, with its context, and its information before and after the backpropagation.

    Attributes:
        record: what the record is made of, as text.
        key: the key that looks it up in `result.records`.
        before: None where the record is new.
    """

    record: str
    key: int
    context: int
    before: dict[str, FieldValue] | None
    after: dict[str, FieldValue]


@attrs.frozen
class InspectedPlayout:
    """A playout with all that happened in it.

    Attributes:
        state, strategy, seed, scheme: what was searched, how.
        iteration: the number of the playout, counted from 1.
        start, end: the state that was drawn for the root, and the terminal state, as text; both may show what is hidden.
        states: those in which the decisions were made, and the terminal one; they show what is hidden.
        choices: the decisions in order.
        rewards: of each player.
        updates: for each component, by name, what it captured and what became of it.
    """

    state: State
    strategy: Enhancement
    seed: int | Sequence[int]
    scheme: Scheme
    iteration: int
    start: str
    end: str
    states: tuple[State, ...]
    choices: tuple[Choice, ...]
    rewards: tuple[float, ...]
    updates: dict[str, tuple[Update, ...]]


def inspect_playout(
    state: State, strategy: Enhancement, seed: int | Sequence[int] = 0, after: int = 0, scheme: Scheme = MO_ISMCTS
) -> InspectedPlayout:
    """The playout that a search makes after `after` others.

    Raises:
        TypeError, ValueError: as `search` does; a scheme of several trees.
    """
    validation.check_state(state)
    validation.check_strategy(strategy)
    checks.seed(seed)
    checks.integer("after", after, least=0)
    validation.check_scheme(scheme, None)
    validation.check_cutoff(state.game, scheme)
    validation.check_belief(has_belief(state), scheme)
    if scheme.tree_parameter:
        raise ValueError(
            f"scheme is {scheme}, which grows several trees; a playout is inspected in a search of one tree"
        )
    inspector = PlayoutInspector(state, strategy, seed, scheme)
    if validation.checked_engine(None, state.game, 1) == validation.COMPILED and after:
        compiled = CompiledSearch(state, strategy, seed, scheme)
        compiled.run(after)
        inspector.take_over(compiled)
    inspector.run(after)
    return inspector.playout()


class _RecordingProgram(ReferenceProgram):
    """A composition that notes each decision, and of what parts the keys of records were made."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.decision: Decision | None = None
        self.term: Term | None = None
        self.parts_of: dict[int, tuple[int, int]] = {}
        self._interpret = Interpreter([(mix, self._mix)])

    def _mix(self, key: int, part: int) -> int:
        mixed = mix(key, part)
        self.parts_of[mixed] = int(key), int(part)
        return mixed

    def choose(self, stage: int, decision: Decision) -> int:
        self.decision, index = decision, super().choose(stage, decision)
        term = self.term
        if term is not None and term.rule == RULE_GIBBS_OF_MEANS and not len(decision.values):
            rng_state = self.rng.copy()  # by acceptance: only a few actions were asked about
            decision.values = self._values_of(term.leaves[0], decision.history, decision.legal)
            self.rng[:] = rng_state
        return index

    def _draw_term(self, terms: list[Term], decision: Decision) -> Term:
        self.term = super()._draw_term(terms, decision)
        return self.term


class _RecordTexts:
    """What the records of a playout are made of, as text.

    Args:
        parts_of: for each key that was mixed, of which key and which part.

    Attributes:
        actions: the texts of those that were legal in the playout.
    """

    def __init__(self, game: AnyGame, playout: Playout, parts_of: dict[int, tuple[int, int]]) -> None:
        self._game, self._playout, self._parts_of = game, playout, parts_of
        self.actions: dict[int, str] = {}

    def name_action(self, action: int, text: str) -> None:
        """Note a text of an action; one action may have several names, such as bet and call."""
        names = self.actions.get(action, text)
        self.actions[action] = names if text in names.split(" or ") else f"{names} or {text}"

    def text_of(self, part: Enhancement, key: int) -> str:
        """What a record is made of: a history as its player saw it, or the parts of any other."""
        if key in (int(self._playout.steps[0].record), int(self._playout.steps[0].episode)):
            return "⟨⟩"
        if part.records in (HISTORY, POSITION):
            return self._history_text(key, part.records == POSITION)
        parts, factors = self._parts(key), part.records.factors
        if len(parts) != len(factors):
            factors = ("",) * len(parts)
        pairs = zip(parts, factors, strict=True)
        texts = [part_text(number, factor, self._game, self._action_text) for number, factor in pairs]
        return f"({', '.join(texts)})" if texts else f"key {key}"

    def _action_text(self, action: int) -> str:
        return self.actions.get(action, "unseen" if action == UNSEEN else f"move {action}")

    def _parts(self, key: int) -> list[int]:
        """The integers that `record` made a key of; none where the key was made otherwise."""
        parts: list[int] = []
        while key in self._parts_of:
            key, part = self._parts_of[key]
            parts.insert(0, part)
        return parts if key == 0 else []

    def _history_text(self, key: int, in_episode: bool) -> str:
        """The moves of a history, or of a position-in-episode, as the player who made the last one saw them."""
        t, perspective, action = self._histories[in_episode].get(key, (0, 0, None))
        if action is None:
            return f"key {key}"
        first = self._episode_begin(t, perspective) if in_episode else 0
        observed = self._history.moves[first + 1 : t + 1, perspective]
        moves = [*observed[observed != UNSEEN].tolist(), action]
        return f"⟨{', '.join(map(self._action_text, moves))}⟩"

    @functools.cached_property
    def _history(self) -> ReferenceHistory:
        """The history of the whole playout, which has ended when records are updated."""
        return self._playout.history()

    @functools.cached_property
    def _histories(self) -> tuple[dict[int, tuple[int, int, int]], ...]:
        """For the keys of all histories one action off the playout, and of their positions-in-episode: step, perspective and action."""
        history = self._history
        ends: tuple[dict[int, tuple[int, int, int]], ...] = {}, {}
        for t, step in enumerate(history.steps[:-1]):
            for action in history.legal[step.first : step.first + step.count].tolist():
                for by_key, keys in zip(ends, (history.keys, history.episodes), strict=True):
                    key = plain(extended)(int(keys[t, step.perspective]), int(step.player), action)
                    by_key[key] = t, int(step.perspective), action
        return ends

    def _episode_begin(self, t: int, perspective: int) -> int:
        """The step at which the episode of step t began; its keys do not go on from those before."""
        moves, keys = self._history.moves[:, perspective], self._history.episodes[:, perspective]
        while t > 0:
            before = int(keys[t - 1])
            if int(keys[t]) != (before if moves[t] == UNSEEN else mix(before, int(moves[t]))):
                break
            t -= 1
        return t


@attrs.define(eq=False)
class _Notes:
    """What is noted of the playout under way.

    Attributes:
        start: the state drawn for the root, as text.
        worlds: the states in which decisions were made, and the last one.
        end, rewards: what came out, once it has ended.
    """

    start: str
    texts: _RecordTexts
    updates: dict[str, list[Update]]
    choices: list[Choice] = attrs.field(factory=list)
    worlds: list[StateData] = attrs.field(factory=list)
    end: str = ""
    rewards: tuple[float, ...] = ()


class PlayoutInspector(ReferenceSearch):
    """A search in plain Python that notes what happens."""

    program: _RecordingProgram
    program_type = _RecordingProgram
    _notes: _Notes

    def take_over(self, search: CompiledSearch) -> None:
        """Go on where a compiled search of the same state, strategy, seed and scheme stands; it is left alone."""
        self.rng[:] = search.rng
        self.iterations, self.depth, self._phase_steps = search.iterations, search.depth, search.phase_steps()
        self._root_visits[:] = search.root().visits
        for table, compiled in zip(self.tables, search.tables, strict=True):
            table.fill(compiled)

    def _begin_playout(self) -> tuple[Playout, StateData]:
        self.program.parts_of.clear()
        playout, world = super()._begin_playout()
        updates: dict[str, list[Update]] = {part.name: [] for part in self.program.components}
        self._notes = _Notes(self.game.text_of(world), _RecordTexts(self.game, playout, self.program.parts_of), updates)
        return playout, world

    def _decide(self, playout: Playout, world: StateData, player: int, in_tree: bool) -> tuple[int, int]:
        texts = {int(action): self.game.action_text_of(world, action) for action in self.game.legal(world)}
        self._notes.worlds.append(self.game.copy(world))
        self.program.decision = self.program.term = None
        edge, action = super()._decide(playout, world, player, in_tree)
        step, decision, term = playout.steps[playout.t], self.program.decision, self.program.term
        self._notes.texts.name_action(edge, texts[action])
        details: dict[str, Any] = {"by": ENVIRONMENT if player == CHANCE else ONLY}
        if term is not None:
            labels = [texts.get(int(edge), str(edge)) for edge in decision.legal]
            values = zip(labels, decision.values.tolist(), strict=False)
            details = {
                "by": term.by,
                "weight": self.program.share(term.weight, decision),
                "uniform": term.rule == RULE_UNIFORM,
                "values": dict(values),
            }
        self._notes.choices.append(Choice(player, PHASES[step.phase], texts[action], int(step.count), **details))
        return edge, action

    def _update(self, part: Enhancement, table: ReferenceTable, record: int, context: int, rewards: np.ndarray) -> None:
        before = table.find(record)
        information = None if before is None else _information(before)
        super()._update(part, table, record, context, rewards)
        text = self._notes.texts.text_of(part, record)
        self._notes.updates[part.name].append(
            Update(text, record, context, information, _information(cast(np.void, table.find(record))))
        )

    def _rewards(self, world: StateData) -> np.ndarray:
        self._notes.end, rewards = self.game.text_of(world), super()._rewards(world)
        self._notes.worlds.append(self.game.copy(world))
        self._notes.rewards = tuple(rewards.tolist())
        return rewards

    def playout(self) -> InspectedPlayout:
        """Make the next playout, and give back what happened."""
        self.iterate()
        notes = self._notes
        return InspectedPlayout(
            state=self.state,
            strategy=self.strategy,
            seed=self.seed,
            scheme=self.scheme,
            iteration=self.iterations,
            start=notes.start,
            end=notes.end,
            states=tuple(type(self.state)(self.state.game, world) for world in notes.worlds),
            choices=tuple(notes.choices),
            rewards=notes.rewards,
            updates={name: tuple(updates) for name, updates in notes.updates.items()},
        )


def _information(row: np.void) -> dict[str, FieldValue]:
    """The fields of a row other than its key, as Python numbers and lists."""
    return {name: row[name].tolist() for name in row.dtype.names or () if name != "record"}
