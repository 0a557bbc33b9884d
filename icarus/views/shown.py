"""A playout step by step, and the records of one component, as text and as a page, in the words of the game."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from random import Random
from typing import Any

import attrs
import numpy as np

from icarus.algebra import HISTORY, REPLY, Enhancement, FieldValue, Kind
from icarus.arena.ledger import new_file, write_whole
from icarus.checks import count_text, integer, text_columns
from icarus.engine.inspect import (
    Choice,
    InspectedPlayout,
    Tree,
    Update,
    inspect_playout,
    search_tree,
)
from icarus.engine.match import GameLog
from icarus.engine.result import Result
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.engine.tables import Records, parts_of, parts_text
from icarus.kernel import NO_ACTION, UNLIMITED, UNSEEN, AnyGame, State, random_action, seat_name
from icarus.views.boards import drawing, svg
from icarus.views.document import (
    Block,
    Heading,
    Paragraph,
    Picture,
    Preformatted,
    Table,
    html,
    in_notebook,
    text_of,
)

SHOWN = 12, 3  # of a component's updates and of a decision's values, so many are shown as text
DRAWN = 300  # boards in a page


def show_playout(
    state: State,
    strategy: Enhancement,
    seed: int | Sequence[int] = 0,
    after: int = 0,
    scheme: Scheme = MO_ISMCTS,
    iterations: int = UNLIMITED,
) -> "Shown":
    """Show the playout that `search(state, strategy, seed=seed)` makes after `after` others, step by step.

    Printed it is a text, in a notebook a page; `.playout` holds all of it: `choices`, `updates["MAST"]`, `rewards`.

    Args:
        iterations: of the whole search, for slots that read `history.budget`.

    Raises:
        ValueError, TypeError: as `search` does; a scheme of several trees.
    """
    return Shown(inspect_playout(state, strategy, seed, after, scheme, iterations))


@attrs.frozen(repr=False)
class Shown:
    """A playout to look at; `playout` is what happened."""

    playout: InspectedPlayout

    def __repr__(self) -> str:
        return text_of(_blocks(self.playout, *SHOWN))

    def to_html(self, path: str | Path) -> None:
        """Write the playout into a new HTML file, one page that needs no network, with the board before each decision.

        Raises:
            ValueError: the file exists, or its directory does not exist.
        """
        write_whole(new_file(Path(path)), playout_page(self.playout))

    def _repr_html_(self) -> str:
        return in_notebook(playout_page(self.playout), "the playout")


def playout_page(playout: InspectedPlayout) -> str:
    """A playout as an HTML page, with the board before each decision; of a long one the first ones and the last."""
    steps = [*enumerate(zip(playout.states, [*playout.choices, None], strict=True))]
    drawn_steps = [*steps[: DRAWN - 1], steps[-1]] if len(steps) > DRAWN else steps
    boards: list[Block] = [
        Picture(
            svg(drawing(state)),
            f"{t}: before {choice.action}" if choice else "the end",
            folded=t > 0,
        )
        for t, (state, choice) in drawn_steps
    ]
    if left_out := len(steps) - len(drawn_steps):
        boards.insert(-1, Paragraph(f"{left_out:,} boards are not drawn"))
    title = f"{playout.state.game}: playout {playout.iteration:,}"
    return html(title, [*_blocks(playout), Heading("boards"), *boards])


def _blocks(
    playout: InspectedPlayout, updates: int | None = None, values: int | None = None
) -> list[Block]:
    """What happened; at most so many updates of a component, and so many values of a decision."""
    strategy = playout.scheme.label(playout.strategy)
    length = count_text(len(playout.choices), "action")
    name = f"playout {playout.iteration} of {strategy}, {playout.state.game}, seed {playout.seed}: {length}"
    decisions = [
        [
            str(t),
            choice.phase,
            seat_name(playout.state.game, choice.player).removeprefix("player "),
            choice.action,
            decider(choice),
            _values(choice, values),
        ]
        for t, choice in enumerate(playout.choices)
    ]
    blocks: list[Block] = [
        Heading(name),
        Heading("begun at a state drawn for the root"),
        Preformatted(str(playout.states[0])),
        Heading("decisions"),
        Table("", ["t", "phase", "player", "action", "decided by", "values"], decisions),
        Heading("ended at"),
        Preformatted(str(playout.states[-1])),
        Paragraph(f"rewards: {', '.join(f'{reward:.4g}' for reward in playout.rewards)}"),
    ]
    for component, changes in playout.updates.items():
        rows = [
            [each.record, f"context {each.context}", change(each)] for each in changes[:updates]
        ]
        new = sum(each.before is None for each in changes)
        count = count_text(len(changes), "record")
        blocks.append(Heading(f"{component} captured {count}, {new} of them new"))
        if rows:
            blocks.append(Table("", ["record", "context", "information"], rows))
        if len(rows) < len(changes):
            blocks.append(Paragraph(f"and {len(changes) - len(rows)} more"))
    return blocks


def _values(choice: Choice, most: int | None) -> str:
    """The highest values, and always that of the action chosen."""
    ranked = sorted(choice.values, key=lambda action: -choice.values[action])
    top = [action for action in ranked if action in (*ranked[:most], choice.action)]
    texts = [f"{action} {number_text(choice.values[action])}" for action in top]
    return ", ".join(texts) + (", …" if len(top) < len(ranked) else "")


def decider(choice: Choice) -> str:
    """By what an action was chosen, with its weight in the mixture."""
    share = f" ({choice.weight:.2g})" if choice.weight < 1 else ""
    return choice.by + share + (", uniform" if choice.uniform else "")


def change(update: Update) -> str:
    """What became of a record, field by field."""
    changes = list[str]()
    for name, value in update.after.items():
        if update.before is None:
            changes.append(f"{name} {number_text(value)}")
        elif update.before[name] != value:
            before = number_text(update.before[name])
            changes.append(f"{name} {before} → {number_text(value)}")
    return ", ".join(changes) or "as it was"


def number_text(value: FieldValue) -> str:
    """A number, or several, in four digits."""
    if isinstance(value, list):
        return f"({', '.join(map(number_text, value))})"
    if value == float("inf"):
        return "∞"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# ---------------------------------------------------------------------------------------------------------- notebooks


def _as_text(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def _log_frame(log: GameLog) -> str:
    """Who played, and what each got."""
    rows = [[f"{reward:g}", agent] for reward, agent in zip(log.returns, log.agents, strict=True)]
    return _as_text("\n".join([repr(log), *text_columns([["reward", "agent"], *rows])]))


# How values draw themselves in a notebook; states with everything open.
FRAMES: dict[type, Callable[[Any], str]] = {
    State: lambda state: svg(drawing(state)),
    AnyGame: lambda game: (
        _as_text(f"{game}: {count_text(game.players, 'player')}")
        + svg(drawing(game.new_initial_state(0)))
    ),
    Enhancement: lambda enhancement: _as_text(enhancement.specification()),
    GameLog: _log_frame,
}


# -------------------------------------------------------------------------------------------------------------- records

GAMES, LONGEST = 20, 500  # random games in which actions are met, and the most actions of each
TREE = 2_000  # nodes of the tree by which histories are named


def show_records(result: Result, name: str, most: int = 20) -> "ShownRecords":
    """Show what a search, or the first of its trees, has learned about one component's records, in the words of the game.

    Printed it is a text, `.records` holds them: `parts`, `text`, `fields`.

    Args:
        name: the component, as in `result.records`.
        most: how many records; those with the most updates come first, or where no field counts, those whose first number is largest.

    Raises:
        KeyError: the strategy has no component of this name. ValueError: `most` is not a positive integer.
    """
    integer("most", most, least=1)
    records = result.records[name]
    space, information = records.enhancement.records, records.enhancement.information
    rows = _most_updated(records, most)
    moves = move_texts(result.state) | {NO_ACTION: "⊥", UNSEEN: "unseen"}
    parts = parts_of(rows["record"], space, records.game.players, moves)

    def move_text(move: int) -> str:
        return moves.get(move, f"move {move}")

    histories = history_texts(result, move_text) if HISTORY in space.alternatives else {}
    entries = []
    for row in rows:
        key = int(row["record"])
        fields = {field: row[field].tolist() for field in information.names}
        field_texts = [
            move_text(fields[field]) if domain == REPLY else number_text(fields[field])
            for field, domain in information.fields
        ]
        text = histories.get(key, f"key {key}")
        if key in parts:
            text = parts_text(parts[key], space, records.game, move_text)
        entries.append(ShownRecord(key, parts.get(key), text, fields, tuple(field_texts)))
    return ShownRecords(name, records, tuple(entries), max(1, len(result.parts)))


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
    """Records to look at, those with the most updates first; of several trees (`Result.parts`), those of the first."""

    name: str
    all: Records
    records: tuple[ShownRecord, ...]
    trees: int = 1

    def __repr__(self) -> str:
        names = self.all.enhancement.information.names
        header = ["record", *names]
        rows = [[each.text, *each.field_texts] for each in self.records]
        if {"reward", "visits"} <= {*names}:
            header.append("mean reward")
            for row, record in zip(rows, self.records, strict=True):
                row.append(_mean_text(record.fields))
        tree = f" of the first of {self.trees} trees" if self.trees > 1 else ""
        title = f"{self.name}: {len(self.records)} of {len(self.all)} records{tree}, {self.all.enhancement.records}"
        return "\n".join([title, *text_columns([header, *rows])])


def _mean_text(fields: dict[str, FieldValue]) -> str:
    """The mean reward; of a record without a visit there is none."""
    if not fields["visits"]:
        return "-"
    return number_text((np.asarray(fields["reward"]) / fields["visits"]).tolist())


def _most_updated(records: Records, most: int) -> np.ndarray:
    """The rows with the largest numbers in one field: the first field that counts, or if there is none the first number, without its sign.

    If all fields are labels, rows that have the first one come first.
    """
    order = {Kind.COUNT: 0, Kind.LABEL: 2}  # with numbers between them
    fields = records.enhancement.information.fields
    name, domain = min(fields, key=lambda field: order.get(field[1].kind, 1))
    values = records.rows[name]
    if domain.kind == Kind.LABEL:
        values = values != NO_ACTION
    sizes = np.abs(values.astype(float))
    # a field may have several numbers
    largest = sizes.max(axis=tuple(range(1, sizes.ndim)), initial=0)
    return records.rows[np.argsort(-largest, kind="stable")[:most]]


def history_texts(result: Result, move_text: Callable[[int], str]) -> dict[int, str]:
    """Histories of the tree, those of most visits, as the players who acted last have seen them, by the keys of their records."""
    tree = search_tree(result, TREE)
    texts: dict[int, str] = {}
    for node in range(len(tree)):
        if tree.record[node] >= 0:
            steps = (_seen_text(tree, node, step, move_text) for step in tree.path(node))
            key = int(tree.rows["record"][tree.record[node]])
            texts.setdefault(key, f"⟨{', '.join(filter(None, steps))}⟩")
    return texts


def _seen_text(tree: Tree, node: int, step: int, move_text: Callable[[int], str]) -> str:
    """What the player who acted last in a node has seen of a step of its history; "" where he has noticed nothing."""
    if tree.moves is None or step == node:
        return tree.label[step]
    game = tree.result.state.game
    move = int(tree.moves[step, game.perspective(int(tree.player[node]))])
    if move == UNSEEN:
        return ""
    return tree.label[step] if move == tree.action[step] else move_text(move)


def move_texts(state: State) -> dict[int, str]:
    """Actions met in random games from a state, as players write them, and moves that are seen of them.

    An action with several names has all, such as `bet or call`.
    """
    # of each move its texts, as the keys of a dictionary, which keeps their order
    names, luck = defaultdict[int, dict[str, None]](dict), Random(0)
    players = state.game.players  # whose moves stand before those of the environment
    for number in range(GAMES):
        current = state.determinize(state.current_player(), seed=number)
        for _ in range(LONGEST):
            if current.is_terminal():
                break
            for each in current.legal_actions():
                # what chance does has words where a player sees it as it is
                if not current.is_chance_node() or each in current.observed(each)[:players]:
                    names[each][current.action_to_string(each)] = None
            action = random_action(current, luck)
            for move in current.observed(action):
                names.setdefault(move, {})
            current.apply_action(action)
    return {move: " or ".join(texts) or f"move {move}" for move, texts in names.items()}
