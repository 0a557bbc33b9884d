"""The draws of an audit: determinizations for an observer, each with its fault; how even they are, and what they redraw."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.audit.report import EXAMPLES, Check
from icarus.audit.subjects import facts_in, stamp
from icarus.kernel import Game, State, StateData

Face: TypeAlias = tuple[object, ...]  # all that can be seen of a state by everyone together
Word: TypeAlias = tuple[str, str]  # of what is told of a state, with where it stands
DRAWS_PER_STATE = 25  # at least, in a small information set
FEWEST_EXPECTED = 10  # draws of a state that enters a chi-square test
SHOWN = 20  # legal actions, told in an example
OFTEN = 20  # decisions at which another player's facts were redrawn, or could be seen not to be, for "never" to mean something
KINDS = 16  # values of a list in a compiled game, such as the places of cards
FAULTS = ("player", "actions", "view")  # of a determinization


class Draws:
    """The determinizations of a decision for an observer: what must be alike in all of them, and the draws themselves."""

    def __init__(self, state: State, observer: int) -> None:
        self.state, self.observer, self._mover = state, observer, state.current_player()
        self._legal, self._known = state.legal_actions(), facts_known(state, observer)

    def draw(self, data: StateData, count: int, rng: np.ndarray) -> list[StateData]:
        """Determinizations of data."""
        state = self.state.from_data(self.state.game, data)
        beliefs = state.beliefs(self.observer)
        return [state.redraw(self.observer, beliefs, rng) for _ in range(count)]

    def faults(self, worlds: Sequence[StateData]) -> list[str]:
        """The fault of each draw; "" where there is none."""
        keys = [stamp(world) for world in worlds]
        faults = {key: self._fault(world) for key, world in dict(zip(keys, worlds, strict=True)).items()}
        return [faults[key] for key in keys]

    def _fault(self, world: StateData) -> str:
        draw = self.state.from_data(self.state.game, world)
        if draw.current_player() != self._mover:
            return "player"
        if self._mover == self.observer and _legal_in(draw) != self._legal:
            return "actions"
        return "view" if facts_known(draw, self.observer) != self._known else ""

    def words_of(self, world: StateData, fault: str) -> str:
        """What a draw has otherwise than the truth, in words."""
        draw = self.state.from_data(self.state.game, world)
        if fault == "player":
            return f"player {draw.current_player()} is about to act in this one:"
        if fault == "actions":
            theirs = _legal_in(draw)
            actions = theirs if isinstance(theirs, str) else theirs[:SHOWN]
            return f"his legal actions are {self._legal[:SHOWN]}, and in this one {actions}:"
        return "he knows or has seen something else in this one:"


def _legal_in(state: State) -> list[int] | str:
    """The legal actions of a state; why it has none, where that is wrong."""
    try:
        return state.legal_actions()
    except ValueError as error:
        return str(error)


def facts_known(state: State, observer: int) -> tuple[object, ...]:
    """What a player knows of a state, as far as it says so: label, moves of the episode, observation, the texts of his actions."""
    game, label = state.game, state._label(state.data)
    recalled = () if game.recall is None else tuple(game.ask("recall", state.data, game.perspective(observer)))
    if isinstance(game, Game):
        return label, recalled
    acts = state.current_player() == observer
    texts = [state._action_text(action) for action in state.legal_actions()] if acts else []
    observation = () if game.observation is None or observer < 0 else facts_in(game.observation(state.data, observer))
    return label, recalled, tuple(texts), tuple(observation)


class Faces:
    """What can be seen of states by everyone together: facts, and the moves of the episode as the environment recalls them.

    Of a compiled game the facts are the words of its text; of one in plain Python, all that its states are made of. There a list of
    numbers or texts that is longer at some times than at others, such as a hand, tells no order.
    """

    def __init__(self, game: Any) -> None:
        self._game, self._known = game, dict[bytes, Face]()
        self._compiled = isinstance(game, Game)
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
            recalled = [] if self._game.recall is None else self._game.ask("recall", data, self._game.players)
            self._known[key] = self.text(data), *recalled
        return self._known[key]

    def text(self, data: StateData) -> str:
        """The facts as people write them."""
        return self._game.text_of(self._game.facts_of(data))

    def words(self, data: StateData) -> set[Word]:
        """The single facts."""
        facts = [("", self.text(data))] if self._compiled else facts_in(data, self._tells_order)
        return {word for where, text in facts for word in _words(where, text)}

    def has(self, data: StateData, worlds: Sequence[StateData]) -> bool:
        """Whether a state in plain Python is one of the draws, if no list tells an order, or by its text."""
        faces = ({tuple(facts_in(each, lambda *_: False)), self.text(each)} for each in worlds)
        faces_of_data = {tuple(facts_in(data, lambda *_: False)), self.text(data)}
        return not self._compiled and any(faces_of_data & face for face in faces)


def _words(where: str, text: str) -> list[Word]:
    """The words of a text, each with the part of the text in which it stands."""
    parts = re.split(r"[;\n]", text)
    return [(f"{where} {i}", word.strip(",:()")) for i, part in enumerate(parts) for word in part.split()]


# ------------------------------------------------------------------------------------------------------- even counts


@attrs.define
class Drawn:
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


# ------------------------------------------------------------------------------------------------------ what is redrawn


class Redraws:
    """Which facts differ from the truth in any draw, counted by decisions: by name, with items where there is one for each player.

    A compiled game is taken to hide all of another's facts, and where a list of integers, such as the places of cards, has each of its
    values; what all see, such as a trump, is expected in a field of its own. A game in plain Python with an `observation` says who sees a
    fact: not he whose observation stays the same with that of another game.
    """

    def __init__(self, game: Any) -> None:
        self._game, self._compiled = game, isinstance(game, Game)
        self._decisions = self._different = 0
        self._redrawn, self._hidden = Counter[tuple[str, int]](), Counter[tuple[str, int]]()  # by fact and observer
        self._visible = set[tuple[str, int]]()
        self._foreign: dict[str, tuple[object, object]] = {}  # of each fact one that was met: told, and as it is
        self._first: dict[str, object] = {}  # the facts of the first deal
        self._dealt = set[str]()  # those that another deal has changed

    def begin(self, state: State) -> None:
        """A new game, as it was dealt."""
        facts = {name: value for name, value, _ in self._facts(state.data)}
        self._first = self._first or facts
        self._dealt.update(name for name, value in facts.items() if self._first.get(name) != value)

    def note(self, state: State, observer: int, draws: list[StateData]) -> None:
        """Count a decision of an observer, by its draws."""
        self._decisions += 1
        self._different += any(stamp(draw) != stamp(state.data) for draw in draws)
        facts_of_draws = [{name: value for name, value, _ in self._facts(draw)} for draw in draws]
        for name, value, item in self._facts(state.data):
            self._redrawn[name, observer] += any(draw.get(name) != value for draw in facts_of_draws)
            if self._compiled:
                self._hidden[name, observer] += 1
            elif self._game.observation is not None:
                self._ask_observers(state.data, name, value, item)

    def _facts(self, data: StateData) -> Iterator[tuple[str, object, Any]]:
        """The facts of a state, by name, as they are told and as they are; with the items of those that have one for each player."""
        players = self._game.players
        for name, value in _fields(data).items():
            items = value[0] if self._compiled else value
            yield name, stamp(value), value
            if isinstance(items, np.ndarray) and items.size > players and items.dtype.kind in "iu":
                yield from (
                    (f"where {name} is {kind}", stamp(items == kind), None) for kind in np.unique(items)[:KINDS]
                )
            if isinstance(items, np.ndarray if self._compiled else list | tuple) and len(items) == players:
                yield from ((f"{name}[{i}]", stamp(item), item) for i, item in enumerate(items))

    def _ask_observers(self, data: StateData, name: str, value: object, item: object) -> None:
        """Whether each player's observation is the same where a fact is another one."""
        size = len(item) if isinstance(item, list | tuple | set) else 0
        other_value, foreign = self._foreign.setdefault(f"{name} {size}", (value, item))
        if other_value == value:
            return
        changed, (field, _, place) = self._game.ask("copy", data), name.partition("[")
        if place:
            old = _fields(changed)[field]
            foreign = type(old)([foreign if f"{i}]" == place else each for i, each in enumerate(old)])
        _set_field(changed, field, foreign)
        for player in range(self._game.players):
            try:
                before, after = (facts_in(self._game.observation(each, player)) for each in (data, changed))
            except Exception:  # an impossible state may be more than it bears
                before, after = [], None
            self._hidden[name, player] += before == after
            if before != after:
                self._visible.add((name, player))

    def judge(self, check: Check) -> None:
        """Say what is never redrawn, although it is hidden."""
        players, names = range(self._game.players), dict.fromkeys(name for name, _ in self._redrawn)
        blind = self._decisions > 0 and not self._different
        wrong = ["no draw at any decision differs from the true state"] * blind
        for observer in players:
            for field in names:
                items = [f"{field}[{i}]" for i in players if i != observer]
                never = [each for each in items if self._is_never_redrawn(each, observer)]
                if never and max(self._redrawn[each, observer] for each in items) >= OFTEN:
                    wrong.append(f"for player {observer}, {never[0]} is never redrawn, while those of others are")
        advice = "what all see of it belongs into a field of its own" if self._compiled else "nobody sees it"
        for name in sorted(self._dealt & set(names)):
            may_be_open = self._compiled and not name.startswith("where ")
            if not may_be_open and all(self._is_never_redrawn(name, player, OFTEN) for player in players):
                wrong.append(f"{name} differs from deal to deal, and it is never redrawn; {advice}")
        check.checked, check.examples = self._decisions, wrong[:EXAMPLES]
        check.failed = len(wrong)

    def _is_never_redrawn(self, name: str, observer: int, often: int = 1) -> bool:
        fact = name, observer
        return not self._redrawn[fact] and self._hidden[fact] >= often and fact not in self._visible


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
