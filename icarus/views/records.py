"""The records of one component as a table: what each was made of, in the words of the game, and what is known of it."""

from collections.abc import Iterator
from html import escape

import attrs
import numpy as np

from icarus import checks
from icarus.algebra.information import HISTORY, REPLY, FieldValue, Kind
from icarus.engine.inspect import tree_of
from icarus.engine.result import Result
from icarus.engine.tables import Records, part_text, parts_of
from icarus.kernel import NONE, UNSEEN
from icarus.kernel.state import State
from icarus.views.document import html_table, text_columns
from icarus.views.playout import number_text

GAMES, LONGEST = 30, 500  # random games in which actions are met, and the most actions of each
PATIENCE = 3  # games in a row without a new text, after which no more are played
TREE = 2_000  # nodes of the tree by which histories are named


def show_records(result: Result, name: str, most: int = 20) -> "ShownRecords":
    """Show what a search has learned about one component's records, in the words of the game.

    Printed it is a text, in a notebook a table; `.records` holds them: `parts`, `text`, `fields`.

    Args:
        name: the component, as in `result.records`.
        most: how many records; those with the most updates come first, or where no field counts, those whose first number is largest.

    Raises:
        KeyError: the strategy has no component of this name. ValueError: `most` is not a positive integer.
        TypeError: no result, or a name that is not a str.
    """
    if not isinstance(result, Result) or not isinstance(name, str):
        wrong = f"result is {result!r}" if not isinstance(result, Result) else f"name is {name!r}, which is not a str"
        raise TypeError(f"{wrong}; show_records needs the Result of a search and a component's name, such as 'MAST'")
    checks.integer("most", most, least=1)
    records = result.records[name]
    texts = _Texts(result, records)
    return ShownRecords(name, records, tuple(texts.record(row) for row in _most_updated(records, most)))


@attrs.frozen
class ShownRecord:
    """A record.

    Attributes:
        key: which looks it up in `result.records`.
        parts: the integers that it was made of; None where they cannot be read from the key.
        text: the parts in the words of the game.
        fields: its information, by name.
        field_texts: the same in the words of the game, such as the text of a reply.
    """

    key: int
    parts: tuple[int, ...] | None
    text: str
    fields: dict[str, FieldValue]
    field_texts: tuple[str, ...]


@attrs.frozen(repr=False)
class ShownRecords:
    """Records to look at, those with the most updates first."""

    name: str
    all: Records
    records: tuple[ShownRecord, ...]

    def __str__(self) -> str:
        return "\n".join([self._title(), *text_columns([self._header(), *self._rows()])])

    def __repr__(self) -> str:
        return f"<{len(self.records)} of {len(self.all)} records of {self.name}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(self._title())}</p>{html_table(self._header(), self._rows())}"

    def _title(self) -> str:
        return f"{self.name}: {len(self.records)} of {len(self.all)} records, {self.all.enhancement.records}"

    def _header(self) -> tuple[str, ...]:
        return "record", *self.all.enhancement.information.names, *(["mean reward"] if self._has_means() else [])

    def _rows(self) -> Iterator[tuple[str, ...]]:
        for record in self.records:
            mean = [_mean_text(record.fields)] if self._has_means() else []
            yield record.text, *record.field_texts, *mean

    def _has_means(self) -> bool:
        return {"reward", "visits"} <= {*self.all.enhancement.information.names}


def _mean_text(fields: dict[str, FieldValue]) -> str:
    """The mean reward; of a record without a visit there is none."""
    return number_text((np.asarray(fields["reward"]) / fields["visits"]).tolist()) if fields["visits"] else "-"


def _most_updated(records: Records, most: int) -> np.ndarray:
    """Rows of the most updates, by the first field that counts.

    Or of the largest numbers, by the first field that is no label; or where all are labels, those with one.
    """
    kinds = {name: domain.kind for name, domain in records.enhancement.information.fields}
    counts = [name for name, kind in kinds.items() if kind == Kind.COUNT]
    numbers = [name for name, kind in kinds.items() if kind != Kind.LABEL]
    measure = records.rows[(counts or numbers)[0]] if numbers else records.rows[next(iter(kinds))] != NONE
    sizes = np.abs(measure.astype(float)).reshape(len(measure), -1).max(axis=1, initial=0)
    return records.rows[np.argsort(-sizes, kind="stable")[:most]]


NO_MOVES = {NONE: "⊥", UNSEEN: "unseen"}


class _Texts:
    """Records of one component in the words of the game."""

    def __init__(self, result: Result, records: Records) -> None:
        self._records, self._texts = records, move_texts(result.state)
        space = records.enhancement.records
        self._spaces = space.alternatives
        self._histories = history_texts(result) if HISTORY in self._spaces else {}

    def record(self, row: np.void) -> ShownRecord:
        """A row of the table."""
        key, enhancement = int(row["record"]), self._records.enhancement
        fields = {name: row[name].tolist() for name in enhancement.information.names}
        texts = [
            self._move(int(row[name])) if domain == REPLY else number_text(fields[name])
            for name, domain in enhancement.information.fields
        ]
        parts = parts_of(key, enhancement.records, self._records.game.players, list(self._texts))
        text = self._histories.get(key, f"key {key}") if parts is None else self._text(parts)
        return ShownRecord(key, parts, text, fields, tuple(texts))

    def _text(self, parts: tuple[int, ...]) -> str:
        factors = next(space.factors for space in self._spaces if len(space.factors) == len(parts))
        pairs = zip(parts, factors, strict=True)
        return f"({', '.join(part_text(part, factor, self._records.game, self._move) for part, factor in pairs)})"

    def _move(self, move: int) -> str:
        return self._texts.get(move, NO_MOVES.get(move, f"move {move}"))


def history_texts(result: Result) -> dict[int, str]:
    """Histories of the tree, those of most visits, as players write them, by the keys of their records."""
    tree = tree_of(result, TREE)
    texts: dict[int, str] = {}
    for node in range(len(tree)):
        if tree.record[node] >= 0:
            text = f"⟨{', '.join(tree.label[step] for step in tree.path(node))}⟩"
            texts.setdefault(int(tree.keys[tree.record[node]]), text)
    return texts


def move_texts(state: State) -> dict[int, str]:
    """Actions met in random games from a state, as players write them, and moves that are seen of them.

    An action with several names has all, such as `bet or call`.
    """
    texts: dict[int, dict[str, None]] = {}
    hidden: set[int] = set()
    rng, size, idle = np.random.default_rng(0), 0, 0
    for number in range(GAMES):
        _note_moves(state.determinize(state.current_player(), seed=number), rng, texts, hidden)
        before, size = size, len(hidden) + sum(map(len, texts.values()))
        idle = idle + 1 if size == before else 0
        if idle == PATIENCE:
            break
    numbers = {move: f"move {move}" for move in hidden}
    return numbers | {action: " or ".join(names) for action, names in texts.items()}


def _note_moves(state: State, rng: np.random.Generator, texts: dict[int, dict[str, None]], hidden: set[int]) -> None:
    """Play a random game, and note all legal actions on its way, and how the chosen ones are seen."""
    for _ in range(LONGEST):
        if state.is_terminal():
            return
        if state.is_chance_node():
            actions, probabilities = zip(*state.chance_outcomes(), strict=True)
            action = int(rng.choice(actions, p=probabilities))
        else:
            legal = state.legal_actions()
            for each in legal:
                texts.setdefault(each, {})[state.action_to_string(each)] = None
            action = int(rng.choice(legal))
        hidden.update(move for move in state.observed(action) if move not in (action, UNSEEN))
        state.apply_action(action)
