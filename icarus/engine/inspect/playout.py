"""One playout of a search with all that happened in it: who decided what by which values, what was captured, what was updated.

The search runs as far as one likes, compiled where it can be; the playout that comes next is made by plain Python, in which every
decision, every captured record and every updated row passes by and is noted. It is the playout that the search itself would have made.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.algebra.information import HISTORY, POSITION, FieldValue
from icarus.algebra.policy import RULE_GIBBS_OF_MEANS, RULE_UNIFORM, RULE_VOTE
from icarus.compiler import memory
from icarus.compiler.functions import DISABLED, plain
from icarus.compiler.memory import WORD_BYTES
from icarus.compiler.plain_python import Interpreter
from icarus.engine import choice, loop
from icarus.engine.arena import COMPONENT, IN_SIMULATION, LEAF, LEAF_BYTES, SIMULTANEOUS, TERM, TREE, Arena
from icarus.engine.compiled_search import CompiledSearch
from icarus.engine.lowering import Vote, terms_of
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.engine.search import Search
from icarus.engine.tables import part_text
from icarus.kernel import CHANCE, UNSEEN, History, extended, mix
from icarus.kernel.game import AnyGame
from icarus.kernel.history import PHASES, UNLIMITED, Playout, Step, history_at
from icarus.kernel.state import State
from icarus.specs.trees import EXP3

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
        weight: with which this alternative of a linear mixture was drawn; 1 where there is one term.
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
    checks.seed(seed)
    checks.integer("after", after, least=0)
    Search(strategy, iterations=UNLIMITED, scheme=scheme).check(state)
    if scheme.tree_parameter:
        raise ValueError(
            f"scheme is {scheme}, which grows several trees; a playout is inspected in a search of one tree"
        )
    search = CompiledSearch(state, strategy, seed, scheme, plain=_NOTING)
    if not DISABLED and after:
        compiled = CompiledSearch(state, strategy, seed, scheme)
        compiled.run(after)
        search.take_over(compiled)
    search.record_simulation()
    _notes[:] = [_Notes(search)]
    search.run(after + 1)
    return _notes.pop().playout()


class _RecordTexts:
    """What the records of a playout are made of, as text.

    Args:
        parts_of: for each key that was mixed, of which key and which part.

    Attributes:
        actions: the texts of those that were legal in the playout.
    """

    def __init__(self, game: AnyGame, parts_of: dict[int, tuple[int, int]]) -> None:
        self._game, self._parts_of = game, parts_of
        self.actions: dict[int, str] = {}
        self.histories: Callable[[], History] | None = None

    def name_action(self, action: int, text: str) -> None:
        """Note a text of an action; one action may have several names, such as bet and call."""
        names = self.actions.get(action, text)
        self.actions[action] = names if text in names.split(" or ") else f"{names} or {text}"

    def text_of(self, part: Enhancement, key: int) -> str:
        """What a record is made of: a history as its player saw it, or the parts of any other."""
        if key in (int(self._history.steps[0].record), int(self._history.steps[0].episode)):
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
    def _history(self) -> History:
        """The history of the whole playout, which has ended when records are updated."""
        assert self.histories is not None
        return self.histories()

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


class _Notes:
    """What is noted of the playout under way; the functions of the loop of the same names call these."""

    def __init__(self, search: CompiledSearch) -> None:
        self.search, self.parts_of = search, dict[int, tuple[int, int]]()
        self._drawn: tuple[int, int, int] | None = (
            None  # the alternative that decides: its number, its role and the record
        )
        self._values = np.zeros(0)

    def mix(self, key: int, part: int) -> int:
        mixed = mix(key, part)
        self.parts_of[mixed] = int(key), int(part)
        return mixed

    def begin(self, a: Arena, rng: np.ndarray) -> None:
        self.parts_of.clear()
        _original(loop.begin)(a, rng)
        search = self.search
        self.start, self.worlds, self.choices = search.game.text_of(search.world().facts), list[State](), list[Choice]()
        self.texts = _RecordTexts(search.game, self.parts_of)
        self.updates: dict[str, list[Update]] = {part.name: [] for part in search.program.components}

    def decide(
        self, a: Arena, role: int, playout: Playout, step: Step, actions: int, rng: np.ndarray
    ) -> tuple[int, int]:
        search, world = self.search, self.search.world()
        facts = world.facts
        texts = {action: search.game.action_text_of(facts, action) for action in world.legal_actions()}
        self.worlds.append(world)
        self._drawn = None
        index, action = _original(loop.decide)(a, role, playout, step, actions, rng)
        self.texts.name_action(int(step.action), texts[int(action)])
        details: dict[str, Any] = {"by": ENVIRONMENT if step.player == CHANCE else ONLY}
        if self._drawn is not None:
            edges = _POINTS.array_at(playout.legal + WORD_BYTES * step.first, step.count, np.dtype(np.int64)).tolist()
            details = self._details(a, [texts.get(edge, str(edge)) for edge in edges], playout, step)
        self.choices.append(
            Choice(int(step.player), PHASES[step.phase], texts[int(action)], int(step.count), **details)
        )
        return index, action

    def _details(self, a: Arena, edges: list[str], playout: Playout, step: Step) -> dict[str, Any]:
        """By what a decision was made."""
        assert self._drawn is not None
        j, role, record = self._drawn
        term = _POINTS.array_at(a.composition.term, j + 1, TERM)[j]
        first = int(self.search.program.mixture[role]["first_term"])
        uses_exp3 = role == SIMULTANEOUS and self.search.scheme.uses_exp3(self.search.game)
        strategy = EXP3 if uses_exp3 else self.search.strategy
        _, parts = list(terms_of(strategy, IN_SIMULATION if role == IN_SIMULATION else TREE))[j - first]
        by = (
            " & ".join(map(str, parts.members))
            if isinstance(parts, Vote)
            else " ^ ".join(part.name for _, part in parts)
        )
        if term.rule == RULE_GIBBS_OF_MEANS and not len(self._values):  # only a few actions were asked about
            rng = self.search.rng.copy()
            leaf = _POINTS.struct_at(a.composition.leaf + term.first_leaf * LEAF_BYTES, LEAF)
            _NOTING(choice.ask_policy)(a, leaf, playout.legal + WORD_BYTES * step.first, step.count)
            self._values, self.search.rng[:] = self._buffer(a.buffers.values, step.count), rng
        elif term.rule == RULE_VOTE:
            self._values = self._buffer(a.buffers.votes + WORD_BYTES * j * a.game.max_legal, step.count)
        return {
            "by": by,
            "weight": float(_NOTING(choice.weight_of)(a, term.first_weight, term.weights, record)),
            "uniform": term.rule == RULE_UNIFORM,
            "values": dict(zip(edges, self._values.tolist(), strict=False)),
        }

    def draw_term(self, a: Arena, role: int, record: int, rng: np.ndarray) -> int:
        j = _original(choice.draw_term)(a, role, record, rng)
        if self._drawn is None:  # those after it are of voters
            self._drawn, self._values = (int(j), int(role), int(record)), np.zeros(0)
        return j

    def write_values(self, a: Arena, term: Any, legal: int, count: int, record: int) -> None:
        _original(choice.write_values)(a, term, legal, count, record)
        self._values = self._buffer(a.buffers.values, count)

    @staticmethod
    def _buffer(address: int, count: int) -> np.ndarray:
        return _POINTS.array_at(address, count, np.dtype(np.float64)).copy()

    def backpropagation(self, a: Arena) -> None:
        """Line 17, update by update; the state is the last one."""
        last = self.search.world()
        self.worlds.append(last)
        self.end = self.search.game.text_of(last.facts)
        self.rewards = tuple(self._buffer(a.buffers.reward, a.game.players).tolist())
        self.texts.histories = lambda: _NOTING(history_at)(a.buffers.playout)
        records, contexts = self.search.updates()
        for c, component in enumerate(_POINTS.array_at(a.composition.component, a.composition.components, COMPONENT)):
            part, first, count = self.search.program.components[c], int(component.first), int(component.count)
            for i in range(first, first + count):
                key, context = int(records[i]), int(contexts[i])
                before = _information(self.search.tables[c].find(key))
                component.first, component.count = i, 1
                _NOTING(loop.backpropagate)(a, component)
                after = _information(self.search.tables[c].find(key))
                assert after is not None
                self.updates[part.name].append(Update(self.texts.text_of(part, key), key, context, before, after))
            component.first, component.count = first, count

    def playout(self) -> InspectedPlayout:
        """What happened."""
        search = self.search
        return InspectedPlayout(
            state=search.state,
            strategy=search.strategy,
            seed=search.seed,
            scheme=search.scheme,
            iteration=search.iterations,
            start=self.start,
            end=self.end,
            states=tuple(self.worlds),
            choices=tuple(self.choices),
            rewards=self.rewards,
            updates={name: tuple(updates) for name, updates in self.updates.items()},
        )


_notes: list[_Notes] = []  # of the playout that is being looked at


def _noted(function: Any) -> tuple[object, Callable]:
    """A function of the loop, and what notes its calls."""
    name = plain(function).__name__
    return function, lambda *arguments: getattr(_notes[-1], name)(*arguments)


_NOTING = Interpreter(
    map(_noted, (mix, loop.begin, loop.decide, choice.draw_term, choice.write_values, loop.backpropagation))
)
_POINTS = _NOTING(memory)


def _original(function: Any) -> Callable:
    """A function of the loop itself, in which what it calls is noted."""
    return _NOTING.inside(plain(function))


def _information(row: np.void | None) -> dict[str, FieldValue] | None:
    """The fields of a row other than its key, as Python numbers and lists; None where there is no row."""
    if row is None:
        return None
    return {name: row[name].tolist() for name in row.dtype.names or () if name != "record"}
