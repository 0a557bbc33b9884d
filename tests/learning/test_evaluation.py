"""Learned evaluations: what a state becomes, one compiled function beside sums of rows, files that are refused, and who uses them."""

import contextlib
import dataclasses
import enum
import pickle
import random
from array import array
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import cache, partial
from typing import NamedTuple

import attrs
import numpy as np
import pytest
from numba import vectorize

from icarus import BASELINE, Agent, PythonGame, games, in_python, search
from icarus.arena.player import Entrant, read_entrant
from icarus.audit.draws import make_like, replaced
from icarus.audit.subjects import stamp
from icarus.compiler import offset_of
from icarus.kernel import (
    CHANCE,
    TERMINAL,
    AnyGame,
    Evaluation,
    Game,
    State,
    aligned,
    helper,
    read_evaluation,
)
from icarus.kernel.evaluation import (
    ACTIONS,
    BITS,
    COUNT,
    INTERVALS,
    REAL,
    VALUES,
    LearnedNetwork,
    attributes_of,
    facts_in,
    numbers_in,
    read_state,
    rules_of,
)  # fmt: skip
from icarus.kernel.python_game import state_text
from icarus.learning import encoding
from icarus.learning.encoding import empty_evaluation, fields_of, names_of
from icarus.learning.fitting import fitted, with_random_weights
from icarus.learning.selfplay import ROOM_FOR, games_played
from icarus.load_files import load_file
from tests.conftest import ROOT

KUHN = games.load("kuhn-poker")
LEARNED = ROOT / "experiments" / "runs" / "learned"


def with_weights(empty: Evaluation, units: int = 3, seed: int = 0) -> Evaluation:
    """An evaluation with random weights."""
    network, random = empty.network, np.random.default_rng(seed)
    fields, outputs = network.fields.copy(), len(network.base)
    fields["units"] = units
    shapes = (len(network.rows), units), units, (units, outputs), outputs
    hidden, bias, output, base = (random.normal(size=shape).astype(np.float32) for shape in shapes)
    new = LearnedNetwork(fields, network.limits, network.rows, hidden, bias, output, base)
    return attrs.evolve(empty, network=new)


def rows_of(
    evaluation: Evaluation, facts: np.ndarray, mover: int, legal: Sequence[int]
) -> list[int]:
    """What `read_state` writes."""
    active = np.zeros(evaluation.room, np.int32)
    state = facts.ctypes.data, mover, evaluation.players, np.array(legal), len(legal)
    return active[: read_state(evaluation.network, *state, active)].tolist()


def values_by_sums(
    evaluation: Evaluation, facts: np.ndarray, states: Sequence[State]
) -> np.ndarray:
    """The value of each state for each player, by sums of rows."""
    rows = [
        rows_of(evaluation, each, state.current_player(), state.legal_actions())
        for each, state in zip(facts, states, strict=True)
    ]
    return evaluation.of_sums(np.array([evaluation.network.hidden[each].sum(0) for each in rows]))


@pytest.fixture(scope="module")
def kuhn():
    return with_weights(empty_evaluation(KUHN, 0))


@pytest.fixture
def file(kuhn, tmp_path):
    path = tmp_path / "kuhn.npz"
    path.write_bytes(kuhn.to_bytes())
    return path


def toy(**changes: object) -> Game:
    """A game whose states have a fact of each kind."""
    kinds = [("mask", "u8"), ("few", "i1", (2,)), ("many", "i2"), ("same", "i1"), ("height", "f8")]
    return attrs.evolve(
        KUHN,
        state=np.dtype(kinds, align=True),
        ranges={"few": (-1, 2), "many": (0, 999)},
        **changes,
    )


@pytest.mark.parametrize("ends", [int, float])
def test_a_state_becomes_inputs_by_types_and_ranges(ends):
    few = (ends(-1), ends(2))
    game = toy(actions=4)
    game = attrs.evolve(game, ranges={**game.ranges, "few": few})
    states = np.zeros(16, game.state)
    states["mask"][1], states["mask"][2] = 5, 2
    states["few"][:, 0], states["few"][:, 1] = np.arange(16) % 4 - 1, 1
    states["many"], states["height"], states["same"] = np.arange(16) * 10, np.arange(16) / 2, 7
    facts = facts_in(game, [states], ())
    fields, limits = fields_of(game, facts, ())
    # few[1] and `same` never vary; three bits, four values, sixteen intervals of each larger fact, 33 numbers of actions, four actions
    assert fields[["kind", "width", "size", "first"]].tolist() == [
        (BITS, 8, 3, 0), (VALUES, -1, 4, 3), (INTERVALS, -2, 16, 7), (INTERVALS, REAL, 16, 23), (COUNT, 0, 33, 39), (ACTIONS, 0, 4, 72)
    ]  # fmt: skip
    rows = np.arange(3 * 76, dtype=np.int32)
    zero = np.zeros(1, np.float32)
    network = LearnedNetwork(
        fields, limits, rows, np.zeros((228, 1), np.float32), zero, zero[None], zero
    )
    evaluation = Evaluation(network, 2, "toy", "")
    # State 0: the value -1, the first intervals, two actions, 0 and 3. State 1, where chance acts: bits 0 and 2, the value 0, the second.
    assert rows_of(evaluation, facts[0], 0, [0, 3]) == [3, 7, 23, 39 + 2, 72, 75]
    by_chance = [0, 2, 4, 8, 24, 39 + 3, 73, 74]
    assert rows_of(evaluation, facts[1], CHANCE, [1, 9, 2]) == [2 * 76 + i for i in by_chance]


@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8"])
def test_a_signed_integer_may_have_almost_all_of_its_values(kind):
    game = attrs.evolve(KUHN, state=np.dtype([("score", kind)], align=True), ranges={})
    states = np.zeros(64, game.state)
    states["score"] = np.linspace(0.9, -0.9, 64) * np.iinfo(kind).max
    fields, _ = fields_of(game, facts_in(game, [states], ()), ())
    assert fields[["kind", "size"]].tolist()[0] == (INTERVALS, 16)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_is_rare_has_an_interval_of_its_own_at_either_end(sign):
    kinds = np.dtype([("share", "f8")], align=True)
    game = attrs.evolve(KUHN, state=kinds, ranges={})
    states = np.zeros(100, game.state)
    states["share"] = sign * np.repeat([-1.5, 0.0, 1.5], [5, 90, 5])
    fields, limits = fields_of(game, facts_in(game, [states], ()), ())
    assert fields[["kind", "size"]].tolist()[0] == (INTERVALS, 3)
    assert np.searchsorted(limits[:2], [-1.5, 0.0, 1.5]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(("most", "share"), [(1, 0.25), (127, 1)])
def test_a_real_number_from_0_to_what_a_mask_may_be_has_intervals(most, share):
    kinds = np.dtype([("share", "f8")], align=True)
    game = attrs.evolve(KUHN, state=kinds, ranges={"share": (0, most)})
    states = np.zeros(4, game.state)
    states["share"] = np.arange(4) * share
    fields, _ = fields_of(game, facts_in(game, [states], ()), ())
    assert fields["kind"].tolist()[0] == INTERVALS


class Suit(enum.Enum):
    CLUBS, SPADES = 1, 2


@dataclasses.dataclass
class Table:
    hands: list
    trumps: Suit
    scores: dict
    board: str
    seen: set
    who: str | None = None


def test_numbers_are_found_in_objects_of_python():
    found = numbers_in(Table([[7, 7], []], Suit.SPADES, {"a": 2.5}, "X..O", {3}))
    assert found == {
        "len .hands": 2, "len .hands[0]": 2, ".hands[0][0]": 7, ".hands[0][1]": 7, ".hands[0]#7": 2, "len .hands[1]": 0,
        ".hands#[0]7,[1]7": 1, ".hands#": 1, ".trumps=SPADES": 1, ".scores[a]": 2.5,
        "len .board": 4, ".board[0]=X": 1, ".board[1]=.": 1, ".board[2]=.": 1, ".board[3]=O": 1, ".board#=X1": 1, ".board#=.1": 2,
        ".board#=O1": 1, "len .seen": 1, ".seen#3": 1, ".who=None": 1,
    }  # fmt: skip


class Card(NamedTuple):
    suit: int
    rank: int


class Pile:
    __slots__ = "stones"

    def __init__(self, stones):
        self.stones = stones


class Heap(Pile):
    __slots__ = ("mover",)

    def __init__(self, stones, mover):
        super().__init__(stones)
        self.mover = mover


def test_slots_of_base_classes_are_attributes_and_states_that_differ_there_are_two():
    assert attributes_of(Heap(5, 0)) == ["mover", "stones"]
    assert numbers_in(Heap(5, 0)) == {".mover": 0, ".stones": 5}
    assert stamp(Heap(5, 0)) != stamp(Heap(4, 0))
    assert state_text(Heap(5, 0)) == "Heap(mover=0, stones=5)"


def test_numbers_that_differ_beyond_six_digits_are_two_and_an_array_of_none_is_a_number():
    assert numbers_in([1000001, 1000002]).items() >= {"#1000001.0": 1, "#1000002.0": 1}.items()
    assert numbers_in({"a": np.array(5)}) == {"[a]": 5}


def test_the_bits_of_a_board_beyond_the_numbers_that_are_told_apart_are_found():
    assert numbers_in({"b": 1 << 63 | 1}) == {"[b]": 2.0**53, "[b]#0": 1, "[b]#63": 1}
    assert numbers_in(np.uint64(1 << 60))["#60"] == numbers_in(-(10**400))["#400"] == 1
    assert numbers_in({"b": 5}, ("[b]#0", "[b]#63")) == {"[b]": 5, "[b]#0": 1, "[b]#2": 1}
    assert numbers_in([1 << 60]) != numbers_in([1 << 61])


def test_sets_and_boards_within_sets_are_equal_where_their_items_are():
    for first, second in ((frozenset({1}), frozenset({2})), (1 << 60, 1 << 61)):
        assert numbers_in({first}) != numbers_in({second})
    assert numbers_in([{1, 2}, {2, 1}])["##11,#21"] == 2


@pytest.mark.parametrize("board", (b"\2\1", bytearray(b"\2\1"), array("i", [2, 1]), 2 + 1j))
def test_bytes_arrays_and_complex_numbers_have_items(board):
    assert numbers_in({"a": board}) == numbers_in({"a": [2, 1]})
    assert numbers_in(Decimal("1.5")) == {"": 1.5}


def test_generators_are_no_facts_and_a_module_that_begins_like_theirs_is(monkeypatch):
    assert numbers_in({"numpy": np.random.default_rng(1), "python": random.Random(1)}) == {}
    monkeypatch.setattr(Pile, "__module__", "random_nim")
    assert numbers_in(Pile(5)) == {".stones": 5}


def test_a_named_tuple_stays_one_where_a_part_of_it_is_replaced():
    assert replaced([Card(1, 2)], (0, 1), 5) == [Card(1, 5)]
    assert type(replaced([Card(1, 2)], (0, 1), 5)[0]) is Card
    assert make_like(Card(1, 2), [3, 4]) == Card(3, 4)
    assert make_like((1, 2), [3]) == (3,)
    assert make_like([1, 2], [3]) == [3]


def test_a_reader_of_wanted_names_finds_the_same_numbers_and_walks_nowhere_else():
    class Unread:
        @property
        def __dict__(self) -> dict:
            raise AssertionError("walked through")

    table = Table([[7, 7], []], Suit.SPADES, {"a": 2.5, "b": [1]}, "X..O", {3})
    everything = numbers_in(table)
    table.who = Unread()
    for name in everything:
        if name != ".who=None":
            assert numbers_in(table, (name,))[name] == everything[name]
    found = numbers_in(table, (".hands[0][1]", "len .board", ".seen#3"))
    assert {".hands[0][1]", "len .board", ".seen#3"} <= set(found)
    assert not {".hands[0][0]", ".board#=X1", ".trumps=SPADES", ".scores[a]"} & set(found)
    with pytest.raises(AssertionError, match="walked through"):
        numbers_in(table)


def test_a_list_of_varying_length_is_counted_and_another_one_is_read_by_places():
    game = attrs.evolve(in_python(KUHN))
    names = names_of(game, [([1, 2], [3]), ([2, 1], [3, 4])])
    assert {"[0][0]", "[0][1]", "[1]#3", "[1]#4", "len [1]"} <= set(names)
    assert not {"[0]#1", "[1][0]"} & set(names)


def states_of(game: AnyGame) -> list:
    """The states of a few games, those in which chance acts included."""
    states = []
    for seed in range(4):
        state = game.new_initial_state(seed)
        while not state.is_terminal():
            states.append(state.clone())
            state.apply_action(state.legal_actions()[seed % len(state.legal_actions())])
    return states


def apply_and_mark(state, action):
    """As in Kuhn poker; the last action is kept as a truth value."""
    apply_kuhn(state, action)
    state.has_bet = action == 1


apply_kuhn = helper(KUHN.apply)
FLAGGED = attrs.evolve(
    KUHN,
    state=aligned(*((name, KUHN.state[name]) for name in KUHN.state.names), ("has_bet", np.bool_)),
    apply=apply_and_mark,
)


def test_a_truth_value_is_an_input():
    network = empty_evaluation(FLAGGED, 0).network
    place = offset_of(FLAGGED.state, "has_bet")
    assert network.fields["size"][network.fields["place"] == place].tolist() == [2]


def test_a_field_of_which_nothing_can_be_learned_is_refused():
    state = aligned(*((name, KUHN.state[name]) for name in KUHN.state.names), ("weight", "f4"))
    with pytest.raises(ValueError, match="field 'weight' in the states of kuhn-poker is float32, "):
        empty_evaluation(attrs.evolve(KUHN, state=state), 0)


@pytest.mark.parametrize("game", (KUHN, FLAGGED))
def test_compiled_code_plain_python_and_values_by_sums_agree(game):
    evaluation = with_weights(empty_evaluation(game, 0))
    game = game.with_evaluation(evaluation)
    states = states_of(game)
    facts = facts_in(game, [state.data for state in states], ())
    expected = values_by_sums(evaluation, facts, states)
    for state, values in zip(states, expected, strict=True):
        out = np.zeros(2)
        game.kernels().heuristic(state.data.ctypes.data, out.ctypes.data)
        assert out == pytest.approx(values, abs=1e-6)
        assert sum(out) == 1
        assert state.heuristic() == pytest.approx(values, abs=1e-6)


def test_a_python_game_is_read_by_its_numbers():
    game = in_python(KUHN)
    evaluation = with_weights(empty_evaluation(game, 0))
    assert evaluation.names
    state = game.with_evaluation(evaluation).new_initial_state(1)
    assert 0 < state.heuristic()[0] < 1
    assert search(state, BASELINE, iterations=20, cutoff=0).iterations == 20


# --------------------------------------------------------------------------------------------------------------------- files


def test_a_file_reads_back_and_is_the_same_each_time(kuhn, file):
    read = read_evaluation(file)
    assert read.to_bytes() == kuhn.to_bytes()
    assert read.digest == kuhn.digest
    assert KUHN.with_evaluation(file) is KUHN.with_evaluation(str(file))


def test_files_that_are_no_evaluation_are_refused(file, kuhn, monkeypatch):
    content = file.read_bytes()
    for wrong in (b"", b"no archive", content[:-40], b"\0" * (1 << 20) + content):
        file.write_bytes(wrong)
        with pytest.raises(ValueError, match="is not an evaluation"):
            read_evaluation(file)
    file.write_bytes(with_weights(kuhn, seed=5).to_bytes())
    monkeypatch.setattr("icarus.kernel.evaluation.FORMAT", 2)
    with pytest.raises(ValueError, match="another version"):
        read_evaluation(file)
    with pytest.raises(FileNotFoundError):
        read_evaluation(file.with_name("absent.npz"))


@pytest.mark.parametrize(
    "misuse",
    [
        read_evaluation,
        KUHN.with_evaluation,
        lambda value: Agent(BASELINE, iterations=5, evaluation=value),
    ],
)
def test_what_is_neither_an_evaluation_nor_a_file_is_refused(misuse):
    with pytest.raises(
        TypeError, match="^an evaluation is 3; it must be an Evaluation, or the file"
    ):
        misuse(3)


def test_of_a_damaged_file_no_error_of_its_archive_comes_through(kuhn, file):
    content, luck = kuhn.to_bytes(), random.Random(0)
    for _ in range(200):
        damaged = bytearray(content)
        damaged[luck.randrange(len(content))] ^= luck.randrange(1, 256)
        file.write_bytes(damaged)
        with contextlib.suppress(ValueError):  # a byte that nobody reads may be any
            read_evaluation(file)


def other_legal(state, actions):
    """Other rules."""
    actions[0], actions[1] = 1, 0
    return 2


def test_an_evaluation_of_another_game_or_of_edited_rules_is_refused(kuhn):
    with pytest.raises(ValueError, match="of the game kuhn-poker, not of othello"):
        games.load("othello").with_evaluation(kuhn)
    with pytest.raises(
        ValueError, match="by other rules or features of kuhn-poker than it has now"
    ):
        attrs.evolve(KUHN, legal=other_legal).with_evaluation(kuhn)


def sticks(state: list[int]) -> list[float]:
    return [float(state[0]), float(state[1])]


def sticks_times_ten(state: list[int]) -> list[float]:
    return [10.0 * state[0], float(state[1])]


@pytest.mark.parametrize(
    ("features", "names"),
    [
        (sticks_times_ten, ("sticks", "turn")),
        (sticks, ("turn", "sticks")),
        (lambda state: sticks(state)[:1], ("sticks",)),
        (None, ()),
    ],
)
def test_an_evaluation_of_other_features_is_refused(features, names):
    game = PythonGame(
        name="sticks",
        players=2,
        initial=lambda rng: [5, 0],
        player=lambda state: state[1] % 2 if state[0] else TERMINAL,
        legal=lambda state: [1, 2][: state[0]],
        apply=lambda state, action: state.__setitem__(slice(2), [state[0] - action, state[1] + 1]),
        rewards=lambda state: [1.0, 0.0] if state[1] % 2 else [0.0, 1.0],
        features=sticks,
        feature_names=("sticks", "turn"),
    )
    evaluation = with_weights(empty_evaluation(game, 0))
    # as it was called before, when features did not count
    former = attrs.evolve(evaluation, rules=rules_of(game))
    assert game.with_evaluation(evaluation).heuristic([4, 1])
    assert game.with_evaluation(former).heuristic([4, 1])
    other = attrs.evolve(game, features=features, feature_names=names)
    with pytest.raises(ValueError, match="by other rules or features of sticks than it has now"):
        other.with_evaluation(evaluation)
    if features is sticks:
        with pytest.raises(ValueError, match="by other rules or features"):
            other.with_evaluation(former)


def test_the_digest_of_rules_does_not_see_comments_and_heuristics():
    namespaces = []
    for comment in ("", "# a comment\n    "):
        space: dict = {"TERMINAL": TERMINAL}
        exec(f"def rewards(state):\n    {comment}return [1.0, 0.0]\n", space)
        namespaces.append(space)
    assert rules_of(KUHN) == rules_of(
        attrs.evolve(KUHN, heuristic=lambda state, out: None, features=None)
    )
    assert rules_of(KUHN) != rules_of(attrs.evolve(KUHN, legal=other_legal))
    plain = [
        PythonGame(
            name="x",
            players=2,
            initial=list,
            player=len,
            legal=list,
            apply=max,
            rewards=each["rewards"],
        )
        for each in namespaces
    ]
    assert rules_of(plain[0]) == rules_of(plain[1])


class AddsModulo:
    """Rules with a number in them."""

    def __init__(self, modulus: int) -> None:
        self.modulus = modulus

    def apply(self, state: list, action: int) -> None:
        add_modulo(state, action, self.modulus)

    def __call__(self, state: list, action: int) -> None:
        self.apply(state, action)


class Counts:
    """Rules that count their calls, which is no rule."""

    def __init__(self) -> None:
        self.calls = 0

    def apply(self, state: list, action: int) -> None:
        self.calls += 1
        state.append(action)


def add_modulo(state: list, action: int, modulus: int) -> None:
    state[:] = [*state, (sum(state) + action) % modulus]


class Base2:
    def take(self, action):
        return action % 2


class Base3:
    def take(self, action):
        return action % 3


def taken_by(base: type) -> Callable:
    board = type("Board", (base,), {})
    return lambda state, action: state.append(board().take(action))


def decorated(decorator: Callable, modulus: int) -> Callable:
    @decorator
    def take(action):
        return action % modulus

    return lambda state, action: state.append(take(action))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (partial(add_modulo, modulus=2), partial(add_modulo, modulus=3)),
        (AddsModulo(2).apply, AddsModulo(3).apply),
        (AddsModulo(2), AddsModulo(3)),
        (taken_by(Base2), taken_by(Base3)),
        (decorated(cache, 2), decorated(cache, 3)),
        (decorated(vectorize, 2), decorated(vectorize, 3)),
    ],
    ids=["partial", "method", "callable", "base class", "@cache", "@vectorize"],
)
def test_rules_differ_where_what_they_are_made_of_does(first, second):
    game = PythonGame(
        name="g", players=2, initial=list, player=len, legal=list, apply=first, rewards=list
    )
    assert rules_of(game) == rules_of(attrs.evolve(game))
    assert rules_of(game) != rules_of(attrs.evolve(game, apply=second))
    # as kept files have it from before, when what they are made of did not count
    former = [
        rules_of(each, opens_objects=False) for each in (game, attrs.evolve(game, apply=second))
    ]
    assert former[0] == former[1] != rules_of(game)


def test_what_a_method_changes_while_it_is_played_is_no_rule():
    rules = Counts()
    game = PythonGame(
        name="g", players=2, initial=list, player=len, legal=list, apply=rules.apply, rewards=list
    )
    before = rules_of(game)
    rules.apply([], 1)
    assert rules_of(attrs.evolve(game)) == before


def test_the_rules_of_a_game_of_the_library_are_called_as_they_were():
    """By this name evaluations that are kept know their game."""
    kept = {file.stem: read_evaluation(file) for file in LEARNED.glob("*.npz")}
    for name in ("othello", "hearts", "backgammon"):
        assert rules_of(games.load(name)) == kept[name].rules


def test_the_rules_of_a_loaded_file_are_those_that_were_loaded(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    file, beside = tmp_path / "edited_game.py", tmp_path / "edited_beside.py"
    beside.write_text("def legal(state):\n    return [0, 1]\n")
    file.write_text(
        "from icarus import PythonGame\nfrom edited_beside import legal\n\f\n"  # a form feed ends no line
        "def apply(state, action):\n    state.append(action)\n"
        "GAME = PythonGame(name='edited', players=2, initial=list, player=len, legal=legal, apply=apply, rewards=list)\n"
    )
    module = load_file(file)
    before = rules_of(module.GAME)
    for each in (file, beside):
        each.write_text(
            "# a line\n" + each.read_text().replace("append", "extend").replace("1]", "2]")
        )
    assert rules_of(attrs.evolve(module.GAME)) == before
    beside.write_text(beside.read_text().removeprefix("# a line\n").replace("2]", "1]"))
    assert rules_of(load_file(file).GAME) != before


TABLES = """
from icarus import PythonGame

VALUES = {"ace": 11}  # a comment
for _rank in range(2, 11):
    VALUES[_rank] = _rank
MEMORY = {}
ORDER = {"ace", 2}
OPEN = frozenset({1})

def note():
    '''
    ORDER: a text'''

def apply(state, action):
    MEMORY[action] = VALUES[2]
    state.append(action in ORDER or action in OPEN)

PAGE = dict(order=ORDER, shown={"w": 1})
GAME = PythonGame(name="tables", players=2, initial=list, player=len, legal=list, apply=apply, rewards=list)
"""


@pytest.mark.parametrize(
    ("old", "new", "is_other"),
    [
        ("a comment", "another one", False),
        ('"ace": 11', '"ace": 1', True),
        ("range(2, 11)", "range(2, 10)", True),
        ("VALUES[_rank] = _rank", "VALUES[_rank] = 10", True),
        ('{"ace", 2}', '{"ace", 3}', True),
        ("a text", "another text", False),
        ("frozenset({1})", "frozenset({1, 2})", True),
        ('shown={"w": 1}', 'shown={"w": 2}', False),
    ],
)
def test_rules_differ_where_their_tables_are_written_otherwise(tmp_path, old, new, is_other):
    file = tmp_path / "tables.py"
    file.write_text(TABLES)
    game = load_file(file).GAME
    before = rules_of(game)
    game.apply([], 1)  # what is remembered in play is no rule
    assert rules_of(attrs.evolve(game)) == before
    file.write_text(TABLES.replace(old, new))
    assert (rules_of(load_file(file).GAME) != before) == is_other


@pytest.mark.parametrize(
    ("old", "new", "reads"),
    [
        ("VALUES = {1: 2}", "VALUES = {1: 3}", "from {} import VALUES"),
        ("A = VALUES = {1: 2}", "A = VALUES = {1: 3}", "import {} as beside; VALUES = beside.A"),
        (
            "VALUES = {}\nVALUES.update(a=2)",
            "VALUES = {}\nVALUES.update(a=3)",
            "from {} import VALUES",
        ),
    ],
)
def test_tables_of_another_module_are_told_apart_too(tmp_path, monkeypatch, old, new, reads):
    monkeypatch.syspath_prepend(tmp_path)
    digests = set()
    for number, text in enumerate((old, new)):
        beside = f"{tmp_path.name}_{number}"
        (tmp_path / f"{beside}.py").write_text(text)
        file = tmp_path / f"rules_{number}.py"
        file.write_text(
            f"{reads.format(beside)}\nfrom icarus import PythonGame\n"
            "def apply(state, action):\n    state.append(VALUES[1])\n"
            "GAME = PythonGame(name='tables', players=2, initial=list, player=len, legal=list, apply=apply, rewards=list)\n"
        )
        digests.add(rules_of(load_file(file).GAME))
    assert len(digests) == 2


# ---------------------------------------------------------------------------------------------------------------- who uses it


def test_a_result_names_the_evaluation_of_its_game(kuhn):
    state = KUHN.with_evaluation(kuhn).new_initial_state(1)
    assert str(kuhn) in str(search(state, BASELINE, iterations=5, cutoff=0)).split("\n")[0]


def test_an_agent_s_searches_have_its_evaluation_whatever_the_game_has(file):
    agent = Agent(BASELINE, iterations=50, cutoff=0, evaluation=str(file))
    state = KUHN.new_initial_state(1)
    with_it = search(state.with_evaluation(file), BASELINE, iterations=50, cutoff=0, seed=3)
    assert agent.search(state, 3).values.tolist() == with_it.values.tolist()
    with pytest.raises(ValueError, match="has no heuristic"):
        search(state, BASELINE, iterations=50, cutoff=0)


def test_what_has_an_evaluation_is_pickled_with_it(file):
    agent = Agent(BASELINE, iterations=50, cutoff=0, evaluation=file)
    result = agent.search(KUHN.new_initial_state(1), 3)
    read, now = pickle.loads(pickle.dumps((agent, result)))
    assert (read, hash(read), repr(read)) == (agent, hash(agent), repr(agent))
    assert str(now.state.game) == str(KUHN)
    before = agent.search(result.state, 4, result)
    after = read.search(now.state, 4, now)
    assert before.values.tolist() == after.values.tolist()


def test_an_entrant_names_the_file_with_its_digest(kuhn, tmp_path):
    file = tmp_path / "me@host" / "k@1.npz"
    file.parent.mkdir()
    file.write_bytes(kuhn.to_bytes())
    entrant = read_entrant(f"BASELINE [scheme = MO_ISMCTS with cutoff=0, evaluation = {file}]")
    assert entrant.evaluation == f"{file}@{kuhn.digest}"
    assert read_entrant(str(entrant)) == entrant
    assert read_entrant(attrs.evolve(entrant, evaluation=str(file))) == entrant
    assert entrant.agent(iterations=5).evaluation is read_evaluation(file)
    file.write_bytes(with_weights(kuhn, seed=1).to_bytes())
    with pytest.raises(ValueError, match="is another evaluation by now"):
        Entrant("BASELINE", evaluation=entrant.evaluation).agent(iterations=5)
    with pytest.raises(ValueError, match="is another evaluation by now"):
        read_entrant(entrant)


def test_words_of_a_generator_of_random_numbers_are_no_inputs():
    luck = np.random.default_rng(0).integers(1 << 63, size=(300, 2), dtype=np.uint64)
    luck[:, 0] = luck[:, 0] << np.uint64(1) | luck[:, 1] & np.uint64(1)  # all 64 bits are drawn
    game = attrs.evolve(
        KUHN, state=np.dtype([("luck", "u8"), ("cards", "u8")], align=True), ranges={}
    )
    states = np.zeros(300, game.state)
    states["luck"] = luck[:, 0]
    states["cards"] = luck[:, 0] & np.uint64((1 << 52) - 1)  # twelve bits are never set
    fields, _ = fields_of(game, facts_in(game, [states], ()), ())
    assert fields["place"][fields["kind"] == BITS].tolist() == [8]
    states["luck"] %= np.uint64(60)  # so few different words say something
    fields, _ = fields_of(game, facts_in(game, [states], ()), ())
    assert 0 in fields["place"][np.isin(fields["kind"], (VALUES, BITS))]


def test_no_game_is_played_for_which_there_is_no_room():
    positions = games_played(KUHN, empty_evaluation(KUHN, 0), 10**15, (0,))
    assert ROOM_FOR - 3 < len(positions.targets) <= ROOM_FOR


def test_an_input_may_have_the_same_row_for_all_who_are_to_move():
    empty = empty_evaluation(KUHN, 0)
    positions = games_played(KUHN, empty, 100, (0,))
    for is_apart in (True, False):
        network = with_random_weights(empty, positions, 4, 0, is_apart).network
        rows = network.rows.reshape(KUHN.players + 1, -1)
        assert sorted(set(rows.ravel().tolist()) - {-1}) == list(range(len(network.hidden)))
        assert bool((rows == rows[0]).all()) is not is_apart


def test_a_fit_takes_any_seed():
    empty = empty_evaluation(KUHN, 0)
    positions = games_played(KUHN, empty, 100, (0,))
    start = with_weights(empty)
    first, other = (fitted(start, positions, 0.001, seed) for seed in (7, (1 << 70) + 7))
    assert first.digest == other.digest


def test_the_second_player_has_an_output_once_rewards_do_not_sum_to_1():
    empty = empty_evaluation(KUHN, 0)
    positions = games_played(KUHN, empty, 100, (0,))
    start = with_weights(empty)
    same = fitted(start, positions, 0.001, 0)
    assert len(same.network.base) == 1
    both = np.ones_like(positions.rewards)
    shared = positions._replace(targets=both, rewards=both)
    still = fitted(start, shared, 1e-9, 0)  # learns nothing
    sums = positions.inputs @ start.network.hidden
    assert len(still.network.base) == 2
    assert still.of_sums(sums) == pytest.approx(start.of_sums(sums), abs=1e-6)
    after = start
    for seed in range(20):
        after = fitted(after, shared, 0.01, seed)
    assert after.of_sums(positions.inputs @ after.network.hidden).sum(axis=1).min() > 1.1


def test_a_game_of_many_inputs_has_fewer_hidden_units_so_that_its_file_can_be_read(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(encoding, "SAMPLED", 12)
    game = games.load("hearts")
    empty = empty_evaluation(game, 0)
    positions = games_played(game, empty, 200, (0,))
    evaluation = with_random_weights(empty, positions, 64, 0)
    units = len(evaluation.network.bias)
    assert len(evaluation.network.hidden) > 4096
    assert 32 <= units < 64
    (tmp_path / "hearts.npz").write_bytes(evaluation.to_bytes())
    assert len(read_evaluation(tmp_path / "hearts.npz").network.bias) == units


def test_the_heuristic_of_a_game_in_plain_python_is_what_sums_say():
    game = in_python(KUHN)
    states = [state for state in states_of(game) if not state.is_chance_node()]
    evaluation = with_weights(empty_evaluation(game, 0), units=5)
    data = [state.data for state in states]
    values = values_by_sums(evaluation, facts_in(game, data, evaluation.names), states)
    heuristic = evaluation.heuristic(game)
    assert len({tuple(each) for each in values.tolist()}) > 1
    np.testing.assert_allclose([heuristic(each) for each in data], values, atol=1e-5)
