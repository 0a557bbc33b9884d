"""The draws of an audit: determinizations for an observer, each with its fault; how even they are, and what they redraw."""

import contextlib
import copy
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial, reduce
from typing import Any, TypeAlias

import attrs
import numpy as np

from icarus.audit.report import EXAMPLES, Check, both_texts
from icarus.audit.subjects import (
    DEEPEST,
    SCALARS,
    Stream,
    below,
    facts_in,
    fingerprint,
    have_texts,
    key_of,
    stamp,
    view_of,
)
from icarus.kernel import Game, State, StateData, random_action
from icarus.kernel.evaluation import attributes_of
from icarus.kernel.functions import AUTHOR_ERRORS

Face: TypeAlias = tuple[object, ...]  # all that can be seen of a state by everyone together
Word: TypeAlias = tuple[str, str]  # of what is told of a state, with where it stands
DRAWS_PER_STATE = 25  # at least, in a small information set
FEWEST_EXPECTED = 10  # draws of a state that enters a chi-square test
PAIRED = 300  # states whose facts are paired
STRANGE = 30  # of these, with a pair of facts that other states never have, are no chance
DEVIATIONS = 6  # of a difference that chance does not explain
# decisions, or deals, in which a fact was not redrawn, for "never" to mean something
OFTEN = 20
DEALS_KEPT = 4
LEARNED = 8  # random games that tell whether the order of lists matters
TRIED = 4  # states of each where it is tried, about
ITEMS = 64  # of a list that are looked at one by one
MOST_FACTS = 400  # of a state, likewise
OTHERS = 4  # values that are tried in place of one
KINDS = 16  # values of a list in a compiled game, such as the places of cards
MOST_MET = 2000  # decisions whose facts are kept, to find those that others choose unseen
FAULTS = ("player", "actions", "view")  # of a determinization


class Draws:
    """The determinizations of a decision for an observer: what must be alike in all of them, and the draws themselves."""

    def __init__(self, state: State, observer: int) -> None:
        self.state = state
        self.observer = observer
        self._mover = state.current_player()
        self._legal = state.legal_actions()
        self._known = facts_known(state, observer)

    def draw(self, data: StateData, count: int, rng: np.ndarray) -> list[StateData]:
        """So many determinizations of data for the observer."""
        state = self.state.from_data(self.state.game, data)
        beliefs = state.beliefs(self.observer)
        return [state.redraw(self.observer, beliefs, rng) for _ in range(count)]

    def faults(self, worlds: Sequence[StateData]) -> list[tuple[str, str]]:
        """The fault of each draw, one of `FAULTS`, and how it differs from the truth, in words; "" where there is none."""
        keys = [stamp(world) for world in worlds]
        different_worlds = dict(zip(keys, worlds, strict=True))
        faults = {key: self._fault(world) for key, world in different_worlds.items()}
        return [faults[key] for key in keys]

    def _fault(self, world: StateData) -> tuple[str, str]:
        draw = self.state.from_data(self.state.game, world)
        player = draw.current_player()
        if player != self._mover:
            return "player", f"player {player} is about to act in this one:"
        legal = _legal_in(draw) if player == self.observer else self._legal
        if legal != self._legal:
            his, theirs = both_texts(self._legal, legal)
            return "actions", f"his legal actions are {his}, and in this one {theirs}:"
        if facts_known(draw, self.observer) != self._known:
            return "view", "he knows or has seen something else in this one:"
        return "", ""


def _legal_in(state: State) -> list[int] | str:
    """The legal actions of a state; why it has none, where that is wrong."""
    try:
        return state.legal_actions()
    except ValueError as error:
        return str(error)


def facts_known(state: State, observer: int) -> tuple[object, ...]:
    """What the game says that a player knows of a state: label, moves of the episode, the texts of his actions, observation."""
    game = state.game
    label = state._label(state.data)
    recalled = _recalled(game, state.data, game.perspective(observer))
    acts = state.current_player() == observer and not isinstance(game, Game)
    texts = [state._action_text(action) for action in state.legal_actions()] if acts else []
    return label, recalled, tuple(texts), view_of(game, state.data, observer)


def _recalled(game: Any, data: StateData, perspective: int) -> tuple[int, ...]:
    return () if game.recall is None else tuple(game.ask("recall", data, perspective))


class Faces:
    """What can be seen of states by everyone together: facts, and the moves of the episode as the environment recalls them.

    Of a compiled game the facts are the words of its text; of one in plain Python, all that its states are made of. There a list of
    numbers or texts that is longer at some times than at others, such as a hand, tells no order, unless a game goes otherwise if two items
    change places.
    """

    def __init__(self, game: Any) -> None:
        self._game = game
        self._known = dict[object, Face]()
        self._compiled = isinstance(game, Game)
        self._lengths = dict[str, set[int]]()
        self._ordered = set[str]()

    def clear(self) -> None:
        """Forget the faces so far, which are kept only so that none is worked out twice."""
        self._known.clear()

    def learn(self, seed: Sequence[int]) -> None:
        """Find out in random games which lists grow, and whether their order matters."""
        for number in range(LEARNED):
            luck = random.Random(f"{seed} order {number}")
            state = self._game.new_initial_state((*seed, Stream.ORDERS, number))
            while not state.is_terminal():
                facts_in(state.data, self._note_length)
                if luck.random() < TRIED / (1 + len(state.history)):
                    self._try_orders(state, luck)
                state.apply_action(random_action(state, luck))

    def _note_length(self, where: str, length: int) -> bool:
        self._lengths.setdefault(where, set()).add(length)
        return True

    def tells_order(self, where: str, length: int = 0) -> bool:
        """Whether the order of a list tells something; its length does not decide it."""
        return where in self._ordered or len(self._lengths.get(where, ())) < 2

    def _try_orders(self, state: State, luck: random.Random) -> None:
        """Exchange two items of each list that grows, and play on."""
        for name, items in itertools.islice(parts_of(state.data), MOST_FACTS):
            where = place_of(name)
            is_list = isinstance(items, list | tuple) and where in self._lengths
            if not is_list or self.tells_order(where):
                continue
            pairs = [
                (i, j)
                for i, j in itertools.combinations(range(len(items)), 2)
                if items[i] != items[j]
            ]
            if pairs:
                i, j = luck.choice(pairs)
                data = exchanged(self._game.ask("copy", state.data), name, i, j)
                swapped = State.from_data(self._game, data)
                if _go_apart(state.clone(), swapped, luck):
                    self._ordered.add(where)

    def __call__(self, data: StateData) -> Face:
        key = stamp(data)
        if key not in self._known:
            if self._compiled:
                recalled = _recalled(self._game, data, self._game.players)
                self._known[key] = self.text(data), *recalled
            else:
                self._known[key] = tuple(facts_in(data, self.tells_order))
        return self._known[key]

    def text(self, data: StateData) -> str:
        """The facts as people write them."""
        return self._game.text_of(self._game.facts_of(data))

    def words(self, data: StateData) -> set[Word]:
        """The single facts."""
        facts: Any = [("", self.text(data))] if self._compiled else self(data)
        return {word for where, text in facts for word in _words(where, text)}

    def words_in_order(self, data: StateData) -> set[Word]:
        """The words of the text of a compiled game's state, each with its number; none in plain Python, where facts have their places."""
        texts = self.text(data).split() if self._compiled else []
        return {(f"word {number}:", text) for number, text in enumerate(texts, 1)}

    def has(self, data: StateData, worlds: Sequence[StateData]) -> bool:
        """Whether a state in plain Python is one of the draws: one has the same text, or the same facts if no list tells an order."""
        if self._compiled:
            return False
        facts, *facts_of_draws = (facts_in(each, lambda *_: False) for each in (data, *worlds))
        return facts in facts_of_draws or self.text(data) in map(self.text, worlds)


def _go_apart(state: State, swapped: State, luck: random.Random) -> bool:
    """Whether two states are told apart while the same random actions are played in both."""
    while True:
        try:
            player, legal = state.current_player(), state.legal_actions()
            if player != swapped.current_player() or {*legal} != {*swapped.legal_actions()}:
                return True
            if state.is_terminal():
                return state.returns() != swapped.returns()
            action = random_action(state, luck)
            if state.observed(action) != swapped.observed(action):
                return True
            state.apply_action(action)
            swapped.apply_action(action)
        except AUTHOR_ERRORS:  # where the other stumbles, the order matters to it
            return True


@lru_cache(10_000)
def _words(where: str, text: str) -> list[Word]:
    """The words of a text, each with the part of the text in which it stands."""
    parts = re.split(r"[;\n]", text)
    return [
        (f"{where} {i}", word.strip(",:()"))
        for i, part in enumerate(parts)
        for word in part.split()
    ]


# ------------------------------------------------------------------------------------------------------- even counts


@attrs.define
class Told:
    """In how many states each fact is told, and in how many of the first ones each pair of facts."""

    count: int = 0
    words: Counter[Word] = attrs.field(factory=Counter)
    pairs: Counter[tuple[Word, Word]] = attrs.field(factory=Counter)

    def add(self, words: set[Word], single_words: set[Word]) -> None:
        """Count the facts of a state.

        Args:
            single_words: those that are not paired.
        """
        self.count += 1
        self.words.update(words | single_words)
        if self.count <= PAIRED:
            self.pairs.update(itertools.combinations(sorted(words), 2))

    def keep(self, words: set[Word]) -> None:
        """Count no other facts."""
        for word in self.words.keys() - words:
            del self.words[word]
        for pair in [pair for pair in self.pairs if not words.issuperset(pair)]:
            del self.pairs[pair]

    def lacks(self, tally: "Told") -> str:
        """The pair of facts that other states tell most often, and these never, in words."""
        strange = [(count, pair) for pair, count in tally.pairs.items() if not self.pairs[pair]]
        count, facts = max(strange, default=(0, ()))
        return f"{count} say {' and '.join(map(_word_text, facts))}" if count >= STRANGE else ""

    def differs(self, tally: "Told") -> str:
        """The fact that other states tell more often or less often than these, so that chance does not explain it, in words."""
        differences = [(abs(self.words[each] - tally.words[each]), each) for each in self.words]
        widest, word = max(differences, default=(0, None))
        # Of the difference of two counts the deviation is √(n/2) at most; there are many facts.
        if word is None or widest < DEVIATIONS * (self.count / 2) ** 0.5:
            return ""
        return f"{tally.words[word]} say {_word_text(word)}, and {self.words[word]}"


def _word_text(word: Word) -> str:
    return " ".join(word).strip()


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
        """How many states look like another one: the different data that were drawn, beyond one for each face."""
        return sum(map(len, self.data.values())) - len(self.data)

    def expected(self, deals: float) -> float:
        """How often a state of so many deals should have been drawn."""
        return self.counts.total() * deals / sum(self.deals.values())

    def excludes(self, face: Face, deals: float) -> bool:
        """Whether a state was never drawn that should have been."""
        return face not in self.counts and self.expected(deals) >= DRAWS_PER_STATE

    def compared(self) -> tuple[list[int], list[float]]:
        """Counts, and the draws to be expected of each, of the states that are likely enough for a chi-square test."""
        likely = [
            face for face, deals in self.deals.items() if self.expected(deals) >= FEWEST_EXPECTED
        ]
        counts = [self.counts[face] for face in likely]
        deals = [self.deals[face] for face in likely]
        return counts, [sum(counts) * part / sum(deals) for part in deals]


def uneven(counts: list[int], expected: list[float]) -> str:
    """The states that were drawn least and most often, in words."""
    order = sorted(range(len(counts)), key=lambda i: counts[i] / expected[i])
    least, most = (f"{counts[i]} times instead of {expected[i]:.0f}" for i in (order[0], order[-1]))
    return f"of {len(counts)} states one was drawn {least} and one {most}"


# ------------------------------------------------------------------------------------------------------ what is redrawn


# of a fact: its field, and the place in it, or a value that is found there
Name: TypeAlias = tuple[Any, ...]


@attrs.frozen
class Value:
    """A number in a list, as the name of the fact where it is found."""

    number: int


class Redraws:
    """Which facts differ from the truth in no draw, though they are hidden: fields, items of lists, and where a list has a value.

    A game with an `observation` says who sees a fact: not he whose observation stays the same with another one. A fact that is hidden from
    him, and another one after each deal, is redrawn where others are, unless he can infer it; and so is one that was another one in another
    game, though he had seen the same in both.

    Of a compiled game without one, two kinds are taken to be hidden: of a list with an item for each player those that are dealt to others,
    and where a list of integers, such as the places of cards, has each of its values, if no other field names the same places.
    """

    def __init__(self, game: Any) -> None:
        self._game = game
        self._deal = 0
        # by observer: his decisions, and those at which a draw differs from the true state
        self._decisions, self._different = Counter[int](), Counter[int]()
        # by fact and observer
        self._redrawn = Counter[tuple[Name, int]]()
        # the deals in which it was hidden and not redrawn, though others were
        self._kept: dict[tuple[Name, int], list[int]] = {}
        # its key at his first decision, and whether it was ever another one
        self._decided: dict[tuple[Name, int], object] = {}
        self._unlike = set[tuple[Name, int]]()
        # values of each fact that were met, by their keys
        self._others: dict[Name, dict[object, Any]] = {}
        self._first: dict[Name, object] = {}  # the keys of the facts of the first deal
        self._dealt = set[Name]()  # those that another deal has changed
        # the keys of the facts in the first state to which each observer came by what he has seen
        self._met: dict[bytes, dict[Name, object]] = {}
        self._varied = set[tuple[Name, int]]()  # those that were others in a later such state
        self._met_again = Counter[tuple[Name, int]]()  # in how many later such states there were
        # the places of generators of random numbers in states: those that an action has drawn from
        self._drawn_from = set[str]()
        # by observer, those that were the same in one of his draws, and those that were others
        self._same_luck = set[tuple[str, int]]()
        self._other_luck = set[tuple[str, int]]()
        self._repeated = set[object]()  # lists of which the deal has made two items alike
        # the facts that have always said the same
        self._named: dict[tuple[Name, int], set[Name]] = {}

    def begin(self, state: State) -> None:
        """Keep of the deal of a new game which facts the first one had otherwise, and in which lists two items are equal."""
        self._deal += 1
        keys = self._keys(state.data)
        self._first = self._first or keys
        self._dealt.update(name for name, key in keys.items() if self._first.get(name) != key)
        items = Counter((name[0], key) for name, key in keys.items() if len(name) == 2)
        self._repeated = {name for (name, _), count in items.items() if count > 1}

    def note_sight(self, state: State, observer: int, sight: Sequence[object]) -> None:
        """Compare the facts of a state with those of the first one to which the observer came by what he has seen."""
        if not self._compares_sights:
            return
        keys = self._keys(state.data)
        key = fingerprint((observer, sight, state.moves(observer)))
        first = self._met.setdefault(key, keys)
        self._varied |= {(name, observer) for name in keys if first.get(name) != keys[name]}
        if first is not keys:
            self._met_again.update((name, observer) for name in keys)

    @property
    def _compares_sights(self) -> bool:
        return self._game.observation is not None and len(self._met) < MOST_MET

    def note(
        self, state: State, observer: int, draws: list[StateData], sight: Sequence[object]
    ) -> None:
        """Count a decision of an observer, by its draws and by what he has seen."""
        self._decisions[observer] += 1
        self.note_sight(state, observer, sight)
        if not isinstance(self._game, Game):
            self._compare_luck(state, observer, draws)
        keys = self._keys(state.data)
        others = {stamp(draw): draw for draw in draws}
        self._different[observer] += others.keys() != {stamp(state.data)}
        facts = dict(self._facts(self._game.ask("copy", state.data)))
        keys_of_draws = [self._keys(draw) for draw in others.values()]
        same = [
            name
            for name, key in keys.items()
            if all(each.get(name) == key for each in keys_of_draws)
        ]
        self._redrawn.update((name, observer) for name in facts.keys() - same)
        for name, key in keys.items():
            if self._decided.setdefault((name, observer), key) != key:
                self._unlike.add((name, observer))
        is_any_redrawn = len(same) < len(facts)
        if is_any_redrawn:
            for name in same:
                if self._may_be_hidden(name, observer, facts) and self._is_hidden(
                    state.data, name, facts, observer
                ):
                    self._kept.setdefault((name, observer), []).append(self._deal)
                    self._note_names(name, observer, facts, state.data)
        self._meet(facts)

    def _compare_luck(self, state: State, observer: int, draws: list[StateData]) -> None:
        """Keep which generators of random numbers in the state are the same in a draw, and which are others."""
        luck = self.luck_in(state.data)
        if not luck:
            return
        for luck_of_draw in map(self.luck_in, draws):
            for place, generator in luck.items():
                is_same = luck_of_draw.get(place) == generator
                noted = self._same_luck if is_same else self._other_luck
                noted.add((place, observer))

    def _meet(self, facts: dict[Name, Any]) -> None:
        """Keep a few values of each fact, which are tried in its place."""
        for name, value in facts.items():
            others = self._others.setdefault(name, {})
            if len(others) < OTHERS:
                others.setdefault(_key(value), value)

    def alike(
        self, data: StateData, observer: int, others: Sequence[StateData]
    ) -> Iterator[StateData]:
        """States that differ from `data` in one fact, and that the observer cannot tell from it by the game's `observation`.

        The other values of a fact are those that it has in `others`, and those that stand beside it in the same list.
        """
        for each in others:
            self._meet(dict(self._facts(each)))
        facts = dict(self._facts(self._game.ask("copy", data)))
        for name, value in facts.items():
            whole = facts.get(name[:-1], data)  # what the fact is a part of; at the top the state
            values = self._others.setdefault(name, {})  # which `_changed` tries
            if isinstance(whole, list | tuple) and not isinstance(name[-1], Value):
                for each in whole:
                    values.setdefault(_key(each), each)
            yield from self._unnoticed(data, name, value, observer)

    def _facts(self, data: StateData) -> Iterator[tuple[Name, Any]]:
        """The facts of a state: its parts, and for a list such as who holds each card, the places of each holder's cards.

        Such a list has more items than there are players, all of them integers, and one of these more than once.
        """
        for name, value in itertools.islice(parts_of(data), MOST_FACTS):
            yield name, value
            is_flat = (
                len(name) == 1
                and isinstance(value, list)
                and all(type(item) is int for item in value)
            )
            if is_flat and len(value) > self._game.players and len(value) > len({*value}):
                for kind in sorted({*value})[:KINDS]:
                    yield (*name, Value(kind)), [i for i, item in enumerate(value) if item == kind]

    def _keys(self, data: StateData) -> dict[Name, object]:
        """The facts of a state by their keys, which are equal where the facts are."""
        return {name: _key(value) for name, value in self._facts(data)}

    def _note_names(
        self, name: Name, observer: int, facts: dict[Name, Any], data: StateData
    ) -> None:
        """Keep which of the facts that the observer sees have always named the same numbers or places as this hidden one, so that he can
        infer it from them.
        """
        numbers = _named_by(facts[name])
        self._named[name, observer] = {
            each
            for each in self._named.get((name, observer), facts)
            if each[0] != name[0]
            and (len(each) == 1 or isinstance(each[-1], Value))
            and numbers & _named_by(facts.get(each))
            and not self._is_hidden(data, each, facts, observer)
        }

    def _may_be_hidden(self, name: Name, observer: int, facts: dict[Name, Any]) -> bool:
        """Whether a fact was never redrawn, though chance deals it, or others choose it unseen.

        Then it differs between deals, or between games in which the observer has seen the same, or is another player's item in a list in
        which no two items are equal.
        """
        is_dealt = self._differs(name, observer)
        if self._is_for_each(name, facts) and name[1] != observer:
            is_dealt |= name[0] not in self._repeated
        return is_dealt and not self._redrawn[name, observer]

    def _differs(self, name: Name, observer: int) -> bool:
        """Whether another deal has changed a fact, or another game in which the observer has seen the same."""
        return name in self._dealt or (name, observer) in self._varied

    def _is_for_each(self, name: Name, facts: dict[Name, Any]) -> bool:
        """Whether a fact is in a list with an item for each player."""
        items = facts[name[:1]]
        return (
            len(name) > 1 and isinstance(items, list | tuple) and len(items) == self._game.players
        )

    def _is_hidden(
        self, data: StateData, name: Name, facts: dict[Name, Any], observer: int
    ) -> bool:
        """Whether the observation is the same where a fact is another one; without `observation`, whether most games hide such a fact."""
        if self._game.observation is None:
            return isinstance(self._game, Game) and (
                isinstance(name[-1], Value) or self._is_for_each(name, facts)
            )
        return next(self._unnoticed(data, name, facts[name], observer), None) is not None

    def _unnoticed(
        self, data: StateData, name: Name, value: Any, observer: int
    ) -> Iterator[StateData]:
        """The states with another value of a fact in which the observation is the same."""
        before = view_of(self._game, data, observer)
        for changed in self._changed(data, name, value):
            # an impossible state may be more than an observation bears
            with contextlib.suppress(*AUTHOR_ERRORS):
                if view_of(self._game, changed, observer) == before:
                    yield changed

    def _changed(self, data: StateData, name: Name, value: Any) -> Iterator[StateData]:
        """The states with another value of a fact; of the places of a value in a list, one is exchanged with another place."""
        copied = partial(self._game.ask, "copy", data)
        if isinstance(name[-1], Value):
            items = part_at(data, name[:-1])
            others = [i for i, item in enumerate(items) if item != name[-1].number]
            # Two of its places are enough, each with a few of the others that lie far apart.
            step = max(1, len(others) // OTHERS)
            for i, j in itertools.product(value[:2], others[::step]):
                yield exchanged(copied(), name[:-1], i, j)
        else:
            true_key = _key(value)
            for key, another in self._others.get(name, {}).items():
                if key != true_key:
                    yield replaced(copied(), name, another)

    @staticmethod
    def luck_in(data: StateData) -> dict[str, object]:
        """What the generators of random numbers in a state in plain Python will draw, by where they lie; `facts_in` leaves it out."""
        luck: dict[str, object] = {}
        for name, part in itertools.islice(parts_of(data), MOST_FACTS):
            if isinstance(part, random.Random):
                luck[place_of(name)] = part.getstate()
            elif isinstance(part, np.random.Generator):
                luck[place_of(name)] = key_of(part.bit_generator.state)
            elif isinstance(part, np.random.RandomState):
                luck[place_of(name)] = key_of(part.get_state(legacy=False))
        return luck

    def note_luck(self, luck: Mapping[str, object], after: StateData) -> None:
        """Keep from which generators of random numbers in the state an action has drawn, by what was in them before."""
        self._drawn_from |= {
            place for place, state in self.luck_in(after).items() if luck.get(place, state) != state
        }

    def _foreseen_luck(self) -> Iterator[str]:
        """Sentences on generators in the state that are the same in each draw: a search knows their numbers before they come."""
        for place, observer in sorted(self._same_luck - self._other_luck):
            if place in self._drawn_from:
                yield (
                    f"for player {observer}, the generator {place.removeprefix('.')} in the state is never another one, though `apply` "
                    "draws from it: a search foresees its luck. Let chance act (CHANCE in `player`), or draw another one in `determinize`"
                )

    def judge(self, check: Check) -> None:
        """Fill in the check: its failures are the facts that are never redrawn, although they are hidden."""
        wrong = [*self._foreseen_luck()]
        if self._decisions and not self._different.total():
            # what was not met often enough, or is in states that nobody can look into, may be hidden
            is_met = self._deal >= OFTEN and self._unlike and not wrong
            if is_met and not any(self._is_secret(*fact) for fact in self._unlike):
                check.note = "nothing was hidden at any decision"
                return
            wrong.append("no draw at any decision differs from the true state")
        else:
            # what was another one though he had seen the same is hidden from him
            wrong += [
                f"no draw at any decision of player {observer} differs from the true state"
                for observer in sorted({observer for _, observer in self._varied})
                if not self._different[observer]
            ]
        wrong += self._kept_facts()
        check.checked = self._decisions.total()
        check.failed = len(wrong)
        check.examples = wrong[:EXAMPLES]

    def in_doubt(self) -> bool:
        """Whether the check fails for a fact that the observer may infer: he has seldom come again to what he has seen."""
        if not self._compares_sights:
            return False
        is_any_redrawn = self._different.total() > 0
        suspects = self._lasting() if is_any_redrawn else self._unlike
        return any(self._met_again[fact] < OFTEN and fact not in self._varied for fact in suspects)

    def _lasting(self) -> list[tuple[Name, int]]:
        """The facts that were hidden and never redrawn, by observer."""
        facts = sorted(self._kept, key=lambda each: len(each[0]))
        return [each for each in facts if self._is_lasting(*each)]

    def _kept_facts(self) -> Iterator[str]:
        """Sentences on facts that no draw has changed although no observation shows them.

        In a game without `observation`, the places of a value in a list count only if they are never redrawn for any player.
        """
        lasting = self._lasting()
        for name, observer in lasting:
            if self._game.observation is None and isinstance(name[-1], Value):
                all_miss_it = all((name, each) in lasting for each in range(self._game.players))
                # One sentence for all players is enough: that for player 0.
                if observer > 0 or not all_miss_it:
                    continue
            others = "those of others" if len(name) > 1 else "other facts"
            yield (
                f"for player {observer}, {_name_text(name)} is never redrawn, while {others} are; if he knows it, "
                "observation(state, player) must tell it"
            )

    def _is_lasting(self, name: Name, observer: int) -> bool:
        """Whether a fact was hidden often enough and never redrawn, though it was dealt, or others of the same list are redrawn."""
        deals = self._kept[name, observer]
        if len({*deals}) < DEALS_KEPT and len(deals) < OFTEN:
            return False
        if not self._is_secret(name, observer):
            return False
        if self._redrawn[name, observer] or self._named[name, observer]:
            return False
        is_dealt = self._game.observation is not None and self._differs(name, observer)
        return is_dealt or any(self._redrawn[each, observer] for each in self._beside(name))

    def _is_secret(self, name: Name, observer: int) -> bool:
        """Whether a fact is not the same at all his decisions, nor whenever he has seen the same, from which he can infer it."""
        fact = name, observer
        is_inferred = self._met_again[fact] >= OFTEN and fact not in self._varied
        return fact in self._unlike and not is_inferred

    def _beside(self, name: Name) -> list[Name]:
        """The facts in the same list; none of a field."""
        if len(name) == 1:
            return []
        return [each for each in self._others if each[:-1] == name[:-1]]


def _key(value: Any) -> object:
    """A key that is equal for two values made of the same; `==` does not compare arrays and objects so."""
    return value if isinstance(value, SCALARS) else stamp(value)


def _named_by(value: Any) -> set[frozenset[int]]:
    """The numbers or places that a fact may stand for: a number, the bits of a set, a list, one that is filled up with its last item."""
    readings = set[frozenset[int]]()
    if type(value) is int:
        bits = frozenset(i for i in range(64) if value >> i & 1)
        readings = {frozenset([value]), bits}
    elif isinstance(value, list) and all(type(item) is int for item in value):
        readings = {frozenset(value), frozenset(value) - {*value[-1:]}}
    return readings - {frozenset()}


def _name_text(name: Name) -> str:
    """The name of a fact as a sentence has it."""
    if isinstance(name[-1], Value):
        return f"where {_name_text(name[:-1])} is {name[-1].number}"
    return place_of(name).removeprefix(".")


# ------------------------------------------------------------------------------------------------- what lies where in a state


def names_in(value: object) -> list[Any]:
    """The names by which the parts of a value are found: places in a list, keys, attributes."""
    if isinstance(value, np.ndarray):
        return [*(value.dtype.names or range(len(value)))]
    if isinstance(value, list | tuple):
        return [*range(len(value))]
    if isinstance(value, Mapping):
        return [*value] if have_texts(value) else []
    return [] if isinstance(value, SCALARS) or callable(value) else attributes_of(value)


def part_of(value: Any, name: Any) -> Any:
    """A part of a value; of an array, of which a state of a compiled game is one, with lists in place of arrays."""
    if isinstance(value, np.ndarray) and value.dtype.names:
        return value[name][0].tolist()
    part = (
        value[name]
        if isinstance(value, list | tuple | Mapping | np.ndarray)
        else getattr(value, name, None)
    )
    return part.tolist() if isinstance(part, np.ndarray | np.generic) else part


def parts_of(value: Any, name: Name = ()) -> Iterator[tuple[Name, Any]]:
    """What a state is made of, each part by its name, and after it the parts of it."""
    names = names_in(value) if len(name) < DEEPEST else []
    if len(names) > ITEMS:
        return
    for each in names:
        part = part_of(value, each)
        yield (*name, each), part
        yield from parts_of(part, (*name, each))


def part_at(value: Any, name: Name) -> Any:
    """The part of a value that lies at a name."""
    return reduce(part_of, name, value)


def replaced(value: Any, name: Name, part: Any) -> Any:
    """A value with another part; what lies in between is copied."""
    if not name:
        return part
    first, *rest = name
    inner = replaced(part_of(value, first), tuple(rest), part)
    if isinstance(value, tuple):
        return make_like(value, [*value[:first], inner, *value[first + 1 :]])
    changed = copy.copy(value)
    if isinstance(changed, list | np.ndarray | dict):
        changed[first] = inner
    else:
        object.__setattr__(changed, first, inner)  # frozen or not
    return changed


def make_like(items: Any, others: list[Any]) -> Any:
    """Other items in a list, set or tuple of the same class, also in a named tuple."""
    make = getattr(type(items), "_make", type(items))
    return make(others)


def exchanged(value: Any, name: Name, i: int, j: int) -> Any:
    """A value in which two items of a list have changed places."""
    items = [*part_at(value, name)]
    items[i], items[j] = items[j], items[i]
    return replaced(value, name, items)


def place_of(name: Name) -> str:
    """Where a part is found, as `facts_in` writes it."""
    return reduce(below, name, "")
