"""The draws of an audit: many determinizations for an observer, each with its faults; how even they are, and what they redraw."""

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.audit.report import EXAMPLES, Check
from icarus.audit.subjects import facts_in, stamp
from icarus.compiler.kernel import Kernel
from icarus.compiler.memory import array_at, call, struct_at
from icarus.kernel.contract import RECALLED, Address, StateData, facts_of, in_words, structure
from icarus.kernel.game import Game
from icarus.kernel.state import State

Face: TypeAlias = tuple[object, ...]  # all that can be seen of a state by everyone together
Word: TypeAlias = tuple[str, str]  # of what is told of a state, with where it stands
DRAWS_PER_STATE = 25  # at least, in a small information set
FEWEST_EXPECTED = 10  # draws of a state that enters a chi-square test
SHOWN = 20  # legal actions, told in an example
OFTEN = 20  # decisions at which another player's facts were redrawn, or could be seen not to be, for "never" to mean something
ROOM = 16  # times max_legal: a wrong state may have more legal actions than any right one

OTHER_PLAYER, OTHER_ACTIONS, OTHER_VIEW = 1, 2, 4  # faults of a determinization, a bit for each
FAULTS = {"player": OTHER_PLAYER, "actions": OTHER_ACTIONS, "view": OTHER_VIEW}


class Job:
    """What is drawn, and with what; functions by their addresses, 0 where the game has none."""

    determinize: Address
    player: Address
    legal: Address
    episode: Address
    recall: Address
    observer: int
    beliefs: Address
    rng: Address
    truth: Address  # of data, [words] of 8 bytes
    words: int
    mover: int  # what every determinization must have: the player about to act,
    label: int  # e(s),
    actions: Address  # his legal actions,
    action_count: int
    moves: Address  # the moves that the observer recalls
    move_count: int
    listed: Address  # room to write a determinization's own into
    recalled: Address
    count: int
    draws: Address  # the draws [count, words] and their faults [count]
    faults: Address


JOB = structure(Job)
_INT = np.dtype(np.int64)


def draw(job: int) -> int:
    """Draw the determinizations of a JOB and note the faults of each."""
    j = struct_at(job, JOB)
    truth, faults = array_at(j.truth, j.words, _INT), array_at(j.faults, j.count, _INT)
    actions, moves = array_at(j.actions, j.action_count, _INT), array_at(j.moves, j.move_count, _INT)
    listed, recalled = array_at(j.listed, j.action_count, _INT), array_at(j.recalled, j.move_count, _INT)
    for k in range(j.count):
        address = j.draws + 8 * k * j.words
        state = array_at(address, j.words, _INT)
        for i in range(j.words):
            state[i] = truth[i]
        call(j.determinize, (address, j.observer, j.beliefs, j.rng))
        if call(j.player, (address,)) != j.mover:
            faults[k] |= OTHER_PLAYER
        elif j.mover == j.observer:
            same = call(j.legal, (address, j.listed)) == j.action_count
            for i in range(j.action_count):
                same = same and listed[i] == actions[i]
            if not same:
                faults[k] |= OTHER_ACTIONS
        same = j.episode == 0 or call(j.episode, (address,)) == j.label
        if j.recall != 0:
            same = same and call(j.recall, (address, j.observer, j.recalled, RECALLED)) == j.move_count
            for i in range(j.move_count):
                same = same and recalled[i] == moves[i]
        if not same:
            faults[k] |= OTHER_VIEW
    return 0


class ObserverDraws:
    """The determinizations of a decision for an observer: what must be alike in all of them, and the draws themselves."""

    def __init__(self, state: State, observer: int) -> None:
        game, kernels = state.game, state.game.kernels()
        address = state.data.ctypes.data
        self.game, self._job = game, np.zeros(1, JOB)
        actions = np.array(state.legal_actions(), np.int64)
        moves, recalled = np.zeros(RECALLED, np.int64), np.zeros(RECALLED, np.int64)
        listed = np.zeros(ROOM * game.max_legal, np.int64)
        self._arrays = {"actions": actions, "moves": moves, "recalled": recalled, "listed": listed}
        for name in ("determinize", "player", "legal", "episode", "recall"):
            self._job[name] = kernels.address(name)
        for name, array in self._arrays.items():
            self._job[name] = array.ctypes.data
        self._job["observer"], self._job["words"] = observer, len(in_words(state.data))
        self._job["action_count"] = len(actions)
        self._job["mover"] = state.current_player()
        self._job["label"] = 0 if kernels.episode is None else kernels.episode(address)
        if kernels.recall is not None:
            self._job["move_count"] = kernels.recall(address, observer, moves.ctypes.data, RECALLED)

    def draw(self, data: np.ndarray, count: int, rng: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
        """Determinizations of data, each [1] of game.state, and the faults of each, [count]."""
        truth = in_words(data)
        draws, faults = np.zeros((count, len(truth)), np.int64), np.zeros(count, np.int64)
        beliefs = State.from_data(self.game, data).beliefs(int(self._job["observer"][0]))
        for name, array in (("truth", truth), ("draws", draws), ("faults", faults), ("beliefs", beliefs), ("rng", rng)):
            self._job[name] = array.ctypes.data
        self._job["count"] = count
        _draw()(self._job.ctypes.data)
        data = np.ascontiguousarray(draws.view(np.uint8)[:, : self.game.state.itemsize])
        states = data.view(self.game.state)[:, 0]
        return [states[k : k + 1] for k in range(count)], faults


class PlainDraws:
    """As `ObserverDraws`, of a game in plain Python."""

    def __init__(self, state: State, observer: int) -> None:
        self._observer, self._mover = observer, state.current_player()
        self._legal, self._known = state.legal_actions(), known(state, observer)
        self._of = state

    def draw(self, data: StateData, count: int, rng: np.ndarray) -> tuple[list[StateData], np.ndarray]:
        """Determinizations of data, and the faults of each, [count]."""
        state = self._of.from_data(self._of.game, data)
        beliefs = state.beliefs(self._observer)
        draws = [state.redraw(self._observer, beliefs, rng) for _ in range(count)]
        return draws, np.array([self._faults_of(self._of.from_data(self._of.game, draw)) for draw in draws], np.int64)

    def _faults_of(self, draw: State) -> int:
        if draw.current_player() != self._mover:
            return OTHER_PLAYER
        if self._mover == self._observer and draw.legal_actions() != self._legal:
            return OTHER_ACTIONS
        return OTHER_VIEW if known(draw, self._observer) != self._known else 0


def draws_for(state: State, observer: int) -> ObserverDraws | PlainDraws:
    """What draws determinizations of a state for an observer."""
    return (ObserverDraws if isinstance(state.game, Game) else PlainDraws)(state, observer)


def known(state: State, observer: int) -> tuple[object, ...]:
    """What a player knows of a state, as far as it says so: label, moves of the episode, observation, the texts of his actions."""
    game, label = state.game, state._label(state.data)
    recalled = () if game.recall is None else tuple(game.ask("recall", state.data, game.perspective(observer)))
    if isinstance(game, Game):
        return label, recalled
    acts = state.current_player() == observer
    texts = [state._action_text(action) for action in state.legal_actions()] if acts else []
    observation = () if game.observation is None or observer < 0 else facts_in(game.observation(state.data, observer))
    return label, recalled, tuple(texts), tuple(observation)


@functools.cache
def _draw() -> Kernel:
    return Kernel(draw, 1, "the draws of an audit")


class Faces:
    """What can be seen of states by everyone together: facts, and the moves of the episode as the environment recalls them.

    Of a compiled game the facts are the words of its text; of one in plain Python, all that its states are made of. There a list of
    numbers or texts that is longer at some times than at others, such as a hand, tells no order.
    """

    def __init__(self, game: Any) -> None:
        self._game, self._known = game, dict[bytes, Face]()
        self._compiled, self._recalled = isinstance(game, Game), np.zeros(RECALLED, np.int64)
        self._lengths = dict[str, int]()
        self._growing = set[str]()

    def clear(self) -> None:
        self._known.clear()

    def note(self, data: StateData) -> None:
        """A state of play: find out which lists grow."""
        if not self._compiled:
            facts_in(data, self._tells_order)

    def _tells_order(self, where: str, length: int) -> bool:
        if self._lengths.setdefault(where, length) != length:
            self._growing.add(where)
        return where not in self._growing

    def __call__(self, data: StateData) -> Face:
        if not self._compiled:
            return tuple(facts_in(data, self._tells_order))
        key = data.tobytes()
        if key not in self._known:
            recall, actions = self._game.kernels().recall, 0
            if recall is not None:
                actions = recall(data.ctypes.data, self._game.players, self._recalled.ctypes.data, RECALLED)
            self._known[key] = self._game.text_of(facts_of(data)), self._recalled[:actions].tobytes()
        return self._known[key]

    def text(self, data: StateData) -> str:
        """The facts as people write them."""
        return self._game.text_of(facts_of(data) if self._compiled else data)

    def words(self, data: StateData) -> set[Word]:
        """The single facts."""
        facts = [("", self.text(data))] if self._compiled else facts_in(data, self._tells_order)
        return {word for where, text in facts for word in _words(where, text)}

    def has(self, data: StateData, worlds: Sequence[StateData]) -> bool:
        """Whether a state in plain Python is one of the draws, if no list tells an order, or by its text."""
        faces = ({tuple(facts_in(each, lambda *_: False)), self.text(each)} for each in worlds)
        faces_of_data = {tuple(facts_in(data, lambda *_: False)), self.text(data)}
        return not self._compiled and any(faces_of_data & face for face in faces)

    def differing(self, first: Sequence[StateData], second: Sequence[StateData]) -> list[int]:
        """The places of the draws that are not the same in both, as far as can be seen."""
        return [i for i, (a, b) in enumerate(zip(first, second, strict=True)) if self(a) != self(b)]


def _words(where: str, text: str) -> list[Word]:
    """The words of a text, each with the part of the text in which it stands."""
    parts = re.split(r"[;\n]", text)
    return [(f"{where} {i}", word.strip(",:()")) for i, part in enumerate(parts) for word in part.split()]


def fault_of(name: str, state: State, draw: State) -> str:
    """What a determinization has otherwise than the truth, in words, by the name of its fault."""
    if name == "player":
        return f"player {draw.game.ask('player', draw.data)} is about to act in this one:"
    if name == "actions":
        try:
            legal, theirs = state.legal_actions(), draw.legal_actions()
        except ValueError as error:
            return f"{error}:"
        if legal != theirs:
            return f"his legal actions are {legal[:SHOWN]}, and in this one {theirs[:SHOWN]}:"
    if name == "view":
        label, other_label = state._label(state.data), draw._label(draw.data)
        if label != other_label:
            return f"the episode label is {label}, and in this one {other_label}:"
        return "he knows or has seen something else in this one:"
    return "this does not hold for:"


# ------------------------------------------------------------------------------------------------------- even counts


@attrs.define
class Tally:
    """How often each state of a small information set was drawn, and how many deals each stands for."""

    counts: Counter = attrs.field(factory=Counter)
    deals: dict[Face, float] = attrs.field(factory=dict)
    data: dict[Face, set[object]] = attrs.field(factory=dict)

    def add(self, face: Face, data: object) -> None:
        self.counts[face] += 1
        self.data.setdefault(face, set()).add(data)

    @property
    def merged(self) -> int:
        """How many states look like another one: the records that were drawn beyond one for each face."""
        return sum(map(len, self.data.values())) - len(self.data)

    def expected(self, deals: float) -> float:
        """How often a state of so many deals should have been drawn."""
        return self.counts.total() * deals / sum(self.deals.values())

    def excludes(self, face: Face, deals: float) -> bool:
        """Whether a state was never drawn that should have been."""
        return face not in self.counts and self.expected(deals) >= DRAWS_PER_STATE

    def compared(self) -> tuple[list[int], list[float]]:
        """Counts, and the draws to be expected of each, of the states that are likely enough for a chi-square test."""
        likely = [face for face, deals in self.deals.items() if self.expected(deals) >= FEWEST_EXPECTED]
        counts, deals = [self.counts[face] for face in likely], [self.deals[face] for face in likely]
        return counts, [sum(counts) * part / sum(deals) for part in deals]


def uneven(counts: list[int], expected: list[float]) -> str:
    """The states that were drawn least and most often, in words."""
    order = sorted(range(len(counts)), key=lambda i: counts[i] / expected[i])
    least, most = (f"{counts[i]} times instead of {expected[i]:.0f}" for i in (order[0], order[-1]))
    return f"of {len(counts)} states one was drawn {least} and one {most}"


def chi_square_test(counts: list[int], expected: list[float]) -> tuple[float, float]:
    """The chi-square statistic of counts, and its p-value."""
    from scipy.stats import chisquare

    statistic, p = chisquare(counts, expected)
    return float(statistic), float(p)


def chi_square_tail(statistic: float, freedom: float) -> float:
    """The probability of a larger chi-square statistic."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, statistic))


# ------------------------------------------------------------------------------------------------------ what is redrawn


class Redraws:
    """Which facts differ from the truth in any draw, counted by decisions: by name where there is an element for each player.

    A game in plain Python with an `observation` says who sees a fact: nobody whose observation stays the same with that of another game.
    """

    def __init__(self, game: Any) -> None:
        self._game, self._players = game, game.players
        # of a name, by observer and by player
        self._counts: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((self._players, self._players), np.int64))
        self._decisions = self._different = 0
        self._observes = not isinstance(game, Game) and getattr(game, "observation", None) is not None
        self._foreign: dict[str, tuple[object, object]] = {}
        self._hidden: dict[
            tuple[str, int], int
        ] = {}  # by fact and observer: how often he did not see another one; -1 where he did once
        self._changed = set[str]()  # facts that a draw has changed
        self._deal: dict[str, object] = {}  # the facts of the first deal
        self._dealt = set[str]()  # those that another deal has changed

    def begin(self, state: State) -> None:
        """A new game, as it was dealt."""
        facts = dict(self._facts(state.data))
        self._deal = self._deal or facts
        self._dealt.update(name for name, value in facts.items() if self._deal.get(name) != value)

    def note(self, state: State, observer: int, draws: list[StateData]) -> None:
        """Count a decision of an observer, by its draws."""
        self._decisions += 1
        self._different += any(stamp(draw) != stamp(state.data) for draw in draws)
        facts, facts_of_draws = dict(self._facts(state.data)), [dict(self._facts(draw)) for draw in draws]
        for name, value in facts.items():
            if any(draw.get(name) != value for draw in facts_of_draws):
                self._changed.add(name)
        for name in {name.partition("[")[0] for name in facts if name.endswith("]")}:
            items = [f"{name}[{player}]" for player in range(self._players)]
            self._counts[name][observer] += [any(draw.get(i) != facts[i] for draw in facts_of_draws) for i in items]
        if self._observes:
            self._note_seen(state.data, facts)

    def _facts(self, data: StateData) -> Iterator[tuple[str, object]]:
        """The facts of a state by name, with the items of those that have one for each player."""
        for name, value in _fields(data).items():
            if isinstance(value, np.ndarray) and isinstance(self._game, Game):
                yield name, value.tobytes()
                if value.shape[1:2] == (self._players,):
                    yield from ((f"{name}[{i}]", value[0, i].tobytes()) for i in range(self._players))
            else:
                yield name, tuple(facts_in(value))
                if isinstance(value, list | tuple) and len(value) == self._players:
                    yield from ((f"{name}[{i}]", tuple(facts_in(item))) for i, item in enumerate(value))

    def _note_seen(self, data: StateData, facts: Mapping[str, object]) -> None:
        """Find out by facts of another game which of a state's facts nobody sees."""
        fields = _fields(data)
        for name, value in fields.items():
            items: list[tuple[str, int | None, Any]] = [(name, None, value)]
            if f"{name}[0]" in facts:
                items += [(f"{name}[{i}]", i, item) for i, item in enumerate(value)]
            for key, place, item in items:
                size = len(item) if isinstance(item, list | tuple | set) else 0
                foreign = self._foreign.setdefault(f"{key} {size}", (facts[key], item))
                if foreign[0] != facts[key]:
                    self._ask_observers(data, key, name, place, foreign[1])

    def _ask_observers(self, data: StateData, key: str, name: str, place: int | None, item: object) -> None:
        """Whether each player's observation is the same where a fact is another one."""
        observers = [player for player in range(self._players) if self._hidden.get((key, player), 0) >= 0]
        changed = self._game.ask("copy", data)
        value = item
        if place is not None:
            old = _fields(changed)[name]
            value = type(old)([*old[:place], item, *old[place + 1 :]])
        _set_field(changed, name, value)
        for player in observers:
            try:
                before, after = (tuple(facts_in(self._game.observation(each, player))) for each in (data, changed))
                same = before == after
            except Exception:  # an impossible state may be more than it bears
                same = False
            self._hidden[key, player] = self._hidden.get((key, player), 0) + 1 if same else -1

    def judge(self, check: Check) -> None:
        """Say what is never redrawn, although it is hidden."""
        wrong = (
            [] if self._different or not self._decisions else ["no draw at any decision differs from the true state"]
        )
        for name, counts in self._counts.items():
            for observer, redrawn in enumerate(counts):
                others = [player for player in range(self._players) if player != observer]
                never = [i for i in others if not redrawn[i] and self._hides(f"{name}[{i}]", observer)]
                if never and max(redrawn[others]) >= OFTEN:
                    wrong.append(
                        f"for player {observer}, {name}[{never[0]}] is never redrawn, while those of others are"
                    )
        for name in dict.fromkeys(name for name, _ in self._hidden):
            unseen = all(self._hidden.get((name, player), 0) >= OFTEN for player in range(self._players))
            if unseen and name in self._dealt and name not in self._changed:
                wrong.append(f"{name} differs from deal to deal, nobody sees it, and it is never redrawn")
        check.checked, check.examples = self._decisions, wrong[:EXAMPLES]
        check.failed = len(wrong) if self._decisions else 0

    def _hides(self, name: str, observer: int) -> bool:
        """Whether the observer is taken not to see a fact; a compiled game, which does not say what he sees, is taken to hide it."""
        return self._hidden.get((name, observer), 0) > 0 if self._observes else isinstance(self._game, Game)


def _fields(data: StateData) -> Mapping[str, Any]:
    """What a state is made of, by name."""
    if isinstance(data, np.ndarray) and data.dtype.names:
        return {name: data[name] for name in data.dtype.names}
    if isinstance(data, list):
        return {f"{i}": item for i, item in enumerate(data)}
    facts = data if isinstance(data, dict) else getattr(data, "__dict__", {})
    return facts if all(isinstance(name, str) for name in facts) else {}


def _set_field(data: StateData, name: str, value: object) -> None:
    if isinstance(data, np.ndarray | dict):
        data[name] = value
    elif isinstance(data, list):
        data[int(name)] = value
    else:
        setattr(data, name, value)
