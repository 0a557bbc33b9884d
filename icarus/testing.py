"""Histories made by hand, and questions to the slots of an enhancement about them: for the tests of one's own specifications.

    example = HistoryExample([Decision(0, (4, 5), 4), Decision(1, (5, 6), 5, phase=SIMULATION)])
    example.capture(MAST)                              # [(key of a record, context), …]
    example.prefix(1).values(MAST, {(5, 1): {"reward": 1, "visits": 4}})      # v of 5 and of 6
    example.prefix(1).probabilities(MAST, {(5, 1): {"reward": 1, "visits": 4}})   # with which the policy plays 5 and 6
    backpropagate(MAST, 1, rewards=[0, 1], reward=2, visits=4)            # {"reward": 3.0, "visits": 5}

All runs in plain Python, so that a breakpoint or a print in a slot works; nothing is compiled and no game is needed.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from operator import index
from typing import Any, cast

import attrs
import numpy as np

from icarus.algebra import (
    PLAYER,
    Candidates,
    Composition,
    Enhancement,
    FieldValue,
    FieldValues,
    Parts,
    Slot,
)
from icarus.algebra.policy import RULE_GIBBS, RULE_REPLY, RULE_ROULETTE, Rule, rule_values
from icarus.checks import count_text, integer, is_integer, one_of, real, seed as checked_seed
from icarus.compiler import as_compiled, interpret, seeded
from icarus.engine.lowering import refusing
from icarus.kernel import (
    ENTRY,
    EXPANSION,
    SELECTION,
    SIMULATION,
    AnyGame,
    Row,
    Theta,
    Updates,
    entry_of,
    extended,
    find,
    mix,
)
from icarus.kernel.contract import CHANCE, MAX_PLAYERS, TERMINAL, UNLABELLED, UNSEEN, read_only
from icarus.kernel.history import (
    EMPTY_HISTORY,
    STEP,
    UNLIMITED,
    History,
    episode_key,
    episode_record,
    new_root,
)

MOST_UPDATES = 4096  # of a playout for which there is room at first


def _listed(actions: Any) -> Any:
    """Actions that are an array as a list; others as they are."""
    return actions.tolist() if isinstance(actions, np.ndarray) else actions


@attrs.frozen
class Decision:
    """A decision of a history made by hand.

    Attributes:
        player: the player who decides; CHANCE for the environment.
        legal: the legal actions.
        action: the action played; None if it is still open, in the last decision only.
        phase: SELECTION, EXPANSION or SIMULATION.
        seen: by which move a player sees the action, {player: move}, where not as it is; UNSEEN if he notices nothing.
        label: of the episode that begins with the state in which he decides; None where none begins.
        features: the features of the state, {name: number}; others are 0.
        action_features: the features of actions, {action: {name: number}}.
        lookahead, endings: the expected rewards after an action, and the rewards of an action that ends the game: {action: [number]}.

    Raises:
        ValueError: an action that is not legal, no integer, or twice among the legal ones; a phase or a label that is none; or the mover
            or the environment sees another action.
    """

    player: int
    legal: Sequence[int] = attrs.field(converter=_listed)
    action: int | None = None
    phase: int = SELECTION
    seen: Mapping[int, int] = attrs.field(factory=dict)
    label: int | None = None
    features: Mapping[str, float] = attrs.field(factory=dict)
    action_features: Mapping[int, Mapping[str, float]] = attrs.field(factory=dict)
    lookahead: Mapping[int, Sequence[float]] = attrs.field(factory=dict)
    endings: Mapping[int, Sequence[float]] = attrs.field(factory=dict)

    def __attrs_post_init__(self) -> None:
        if not self.legal or self.action not in (None, *self.legal):
            raise ValueError(
                f"the action {self.action!r} of a decision is not among the legal ones, {self.legal!r}"
            )
        for action in self.legal:
            integer("a legal action of a decision", action)
        if len(set(self.legal)) < len(self.legal):
            raise ValueError(
                f"the legal actions of a decision are {self.legal!r}; each stands once"
            )
        for name in ("action_features", "lookahead", "endings"):
            for action in getattr(self, name):
                if action not in self.legal:
                    raise ValueError(
                        f"{name} of a decision are of {action!r}, not among the legal actions, {self.legal!r}"
                    )
        if self.label is not None:
            integer("the label of an episode", self.label, least=0)
        one_of("the phase of a decision", self.phase, (SELECTION, EXPANSION, SIMULATION))
        for player in {self.player, CHANCE} & {*self.seen}:
            if self.action not in (None, self.seen[player]):
                raise ValueError(
                    f"seen of a decision of player {self.player} is {self.seen!r}; he and the environment see the action as it is"
                )


class HistoryExample:
    """A history made by hand: decisions one after the other, then the end of the game or a decision still open.

    Args:
        decisions: the decisions; the last one may be open (`action=None`): then policies can be called for it.
        players: κ; by default the number of players in the decisions. Each of them has his own perspective.
        label: of the episode in which the history begins.
        rewards: μ of the finished playout, for captures that read it; none while the last decision is open.
        iteration, seed: what slots read as `history.iteration`, and draw from `history.rng`.

    Raises:
        ValueError: an open decision that is not the last, a player that does not exist, or rewards, also of `lookahead` and `endings`,
            that are not one for each player; a reward outside 0 to 1; rewards of a history whose last decision is open; a label, an
            iteration or a seed that is none.
    """

    def __init__(
        self,
        decisions: Sequence[Decision],
        players: int | None = None,
        label: int = 0,
        rewards: Sequence[float] = (),
        iteration: int = 0,
        seed: int | Sequence[int] = 0,
    ) -> None:
        named = [player for decision in decisions for player in (decision.player, *decision.seen)]
        if players is not None:
            players = integer("the number of players", players, least=1, most=MAX_PLAYERS)
        for player in named:
            most = (players or MAX_PLAYERS) - 1
            integer("a player who decides or observes", player, CHANCE, most)
        self.players = players or max([0, *named]) + 1
        self.decisions = tuple(decisions)
        if label != UNLABELLED:
            integer("the label of an episode", label, least=0)
        self.label = label
        if any(decision.action is None for decision in decisions[:-1]):
            raise ValueError("only the last decision of a history can be open")
        if len(rewards) not in (0, self.players) or (self.is_open and len(rewards) > 0):
            raise ValueError(
                f"the rewards of a history are {rewards!r}; a finished playout needs one for each player, and an open decision none"
            )
        for number in rewards:
            real("a reward of a history", number, 0, 1)
        for decision in decisions:
            for name in ("lookahead", "endings"):
                for action, numbers in getattr(decision, name).items():
                    if len(numbers) != self.players:
                        count = count_text(self.players, "number")
                        raise ValueError(
                            f"{name} of the action {action} is {numbers!r}; it must be {count}, one for each player"
                        )
                    for number in numbers:
                        real(f"a reward in {name}", number, 0, 1)
        self.iteration = integer("the iteration of a history", iteration, least=0)
        self.seed = checked_seed(seed)
        features = [decision.features for decision in decisions]
        of_actions = chain(*[decision.action_features.values() for decision in decisions])
        # each name once, in the order in which they are met
        self.feature_names = tuple(dict.fromkeys(chain(*features)))
        self.action_feature_names = tuple(dict.fromkeys(chain(*of_actions)))
        self.history = self._made(np.array(rewards, float))

    def _made(self, rewards: np.ndarray) -> History:
        """The history that slots are given: a step for each decision, and one for the end."""
        count = len(self.decisions)
        if not self.is_open:
            count += 1
        perspectives = self.players + 1
        steps: Any = as_compiled(np.zeros(count, STEP))
        moves, keys, episodes = (np.full((count, perspectives), UNSEEN) for _ in range(3))
        keys[0] = new_root(perspectives).keys
        episodes[0] = self._beginning(self.label)
        steps.record[0] = EMPTY_HISTORY
        steps.episode[0] = episode_record(self.label, 0, 0, ())
        for i, decision in enumerate(self.decisions):
            step = steps[i]
            if decision.label is not None:
                episodes[i] = self._beginning(decision.label)
            step.player = decision.player
            step.perspective = self.perspective(decision.player)
            step.first = sum(len(before.legal) for before in self.decisions[:i])
            step.count = len(decision.legal)
            step.phase = decision.phase
            step.probability = 1.0
            if decision.action is not None:
                step.action = decision.action
                moves[i + 1] = [
                    decision.seen.get(player, decision.action)
                    for player in [*range(self.players), CHANCE]
                ]
                # Each perspective's key grows by the move that it sees. The record of the next step is that of the mover, by his action.
                for field, table in (("record", keys), ("episode", episodes)):
                    pairs = zip(table[i], moves[i + 1], strict=True)
                    table[i + 1] = [
                        key if move == UNSEEN else mix(key, move) for key, move in pairs
                    ]
                    seen_so_far = table[i, step.perspective]
                    steps[field][i + 1] = interpret(extended)(
                        seen_so_far, decision.player, decision.action
                    )
        if not self.is_open:
            steps[-1].player = TERMINAL
        legal = np.array([action for d in self.decisions for action in d.legal], np.int64)
        arrays: Any = map(read_only, (steps, moves, keys, episodes, legal, rewards))
        tables = map(read_only, self._tables())
        return History._make([*arrays, seeded(self.seed), self.iteration, UNLIMITED, *tables])

    def _beginning(self, label: int) -> list[int]:
        """The keys of the position at the start of an episode, for each perspective."""
        return [interpret(episode_key)(label, i) for i in range(self.players + 1)]

    def _tables(self) -> list[np.ndarray]:
        """The features of states and of actions, lookahead and endings: in each table a row for a step, or for a legal action."""

        def table(width: int, rows: list) -> np.ndarray:
            return np.array(rows, float).reshape(len(rows), width)

        def named(names: Sequence[str], rows: list[Mapping]) -> np.ndarray:
            return table(len(names), [[row.get(name, 0.0) for name in names] for row in rows])

        actions = [(decision, action) for decision in self.decisions for action in decision.legal]
        features: list[Mapping] = [decision.features for decision in self.decisions]
        if not self.is_open:
            features.append({})  # of the step for the end
        of_actions: list[Mapping] = [d.action_features.get(action, {}) for d, action in actions]
        nothing = [0.0] * self.players
        no_end = [np.nan] * self.players
        return [
            named(self.feature_names, features),
            named(self.action_feature_names, of_actions),
            table(self.players, [d.lookahead.get(action, nothing) for d, action in actions]),
            table(self.players, [d.endings.get(action, no_end) for d, action in actions]),
        ]

    @property
    def is_open(self) -> bool:
        """Whether the last decision is still to be made."""
        return bool(self.decisions) and self.decisions[-1].action is None

    def perspective(self, player: int) -> int:
        """The column of a player's perspective; the environment's is the last."""
        return self.players if player == CHANCE else player

    def prefix(self, i: int) -> "HistoryExample":
        """The history after i actions, with the decision that was made there still open.

        Raises:
            ValueError: there is no decision after i actions.
        """
        integer("the number of actions of a prefix", i, 0, len(self.decisions) - 1)
        open_one = attrs.evolve(self.decisions[i], action=None)
        before = [*self.decisions[:i], open_one]
        return HistoryExample(before, self.players, self.label, (), self.iteration, self.seed)

    def key(self, enhancement: Enhancement, *parts: Parts) -> int:
        """The key of a record: (action, player), for example, or (player, moves) of a history; see `Space.key` for the parts."""
        # a key needs only the perspectives of a game
        return enhancement.records.key(cast(AnyGame, self), parts)

    def capture(
        self, enhancement: Enhancement, known: Mapping[Parts, FieldValues] | None = None
    ) -> list[tuple[int, int]]:
        """ξ: the (key, context) pairs that a finished playout asks to update, in order.

        Args:
            known: θ, as in `values`, for a capture function that reads it.

        Raises:
            TypeError: a key or a context that is not an integer. ValueError: the last decision is open.
        """
        if self.is_open:
            raise ValueError(
                "a capture function needs a finished playout; the last decision of this one is open"
            )
        luck = self.history.rng.copy()
        pairs, total = self._captured(enhancement, known, MOST_UPDATES)
        if total > MOST_UPDATES:  # once more with room for all, as a search does
            self.history.rng[:] = luck
            pairs, _ = self._captured(enhancement, known, total)
        return pairs

    def _captured(
        self, enhancement: Enhancement, known: Mapping[Parts, FieldValues] | None, room: int
    ) -> tuple[list[tuple[int, int]], int]:
        """The updates that a capture function asks for, as far as there is room, and the number of all that it asks for."""
        records, contexts = np.zeros((2, room), np.int64)
        updates = Updates(records, contexts, [0])
        slot = _single(enhancement).capture
        if slot.reads_theta:
            self._called(slot, self._theta(enhancement, known), updates)
        else:
            self._called(slot, updates)
        total = updates.total[0]
        return list(zip(records.tolist(), contexts.tolist(), strict=True))[:total], total

    def priors(self, enhancement: Enhancement) -> list[dict[str, FieldValue]]:
        """θ_initial of the records of the legal actions of the open decision, field by field.

        Raises:
            ValueError: no decision is open, or a function wrote NaN or a negative count.
        """
        count = len(self._open().legal)
        if isinstance(_single(enhancement).policy.source, Candidates):
            rows = self._candidate_rows(enhancement, self._theta(enhancement, None))
        else:
            rows = _rows(enhancement, self.players, count)
        return [_information(enhancement, rows[i]) for i in range(count)]

    def _candidate_rows(self, enhancement: Enhancement, theta: Theta) -> list[Any]:
        """The rows of the records of the legal actions; for a record that is not known, the function of the initial information writes
        one, once if several actions have this record.
        """
        keys = self.candidates(enhancement)
        function = enhancement.initial.function
        rows = dict[int, Any]()
        for i, key in enumerate(keys):
            if key in rows:
                continue
            row = interpret(find)(theta, key)
            if key != row.record and function is not None:
                new = _rows(enhancement, self.players, 1)
                row = new[0]
                self._called(function, i, row)
                _refuse_wrong(function, new)
            rows[key] = row
        return [rows[key] for key in keys]

    def candidates(self, enhancement: Enhancement) -> list[int]:
        """The keys of the records of the legal actions of the open decision, by a @candidates function.

        Raises:
            TypeError: the policy uses a @values function, or a key is no integer. ValueError: no decision is open.
        """
        source = _single(enhancement).policy.source
        legal = self._open().legal
        if not isinstance(source, Candidates):
            raise TypeError(f"{source.label()} names no records; call values() for its values")
        keys = np.full(len(legal), None, object)
        self._called(source, np.array(legal), keys)
        return list(map(index, keys))

    def values(
        self, enhancement: Enhancement, known: Mapping[Parts, FieldValues] | None = None
    ) -> list[float]:
        """v of each legal action of the open decision.

        Args:
            known: θ: {the parts of a record, or its key: {field: value}}; all others hold the initial information.

        Raises:
            ValueError: no decision is open, or a value is NaN or was not written.
        """
        decision = self._open()
        theta = self._theta(_single(enhancement), known)
        policy = enhancement.policy
        out = np.full(len(decision.legal), np.nan)
        source = policy.source
        author = source.label()
        if isinstance(source, Candidates):
            author = f"the rule {policy.rule}"
            rows: Any = self._candidate_rows(enhancement, theta)
            rule = interpret(rule_values(policy, enhancement.information))
            # It reads rows by their numbers: those of the candidates, in order.
            rule(
                Theta(rows, theta.entries),
                np.arange(len(out)),
                decision.player,
                out,
                *policy.rule_parameters(),
            )
        elif source.uniform_in_simulation and decision.phase == SIMULATION:
            out[:] = np.inf
        else:
            self._called(source, theta, np.array(decision.legal), out)
        if np.isnan(out).any():
            action = decision.legal[int(np.argmax(np.isnan(out)))]
            raise ValueError(f"{author} wrote NaN or no value for the legal action {action}")
        return out.tolist()

    def probabilities(
        self, enhancement: Enhancement, known: Mapping[Parts, FieldValues] | None = None
    ) -> list[float]:
        """The probability with which the policy plays each legal action of the open decision.

        Args:
            known: θ, as in `values`.

        Raises:
            ValueError: as of `values`, or roulette() met a negative value.
        """
        return _probabilities(
            enhancement.policy.rule, np.array(self.values(enhancement, known))
        ).tolist()

    def _theta(
        self, enhancement: Enhancement, information: Mapping[Parts, FieldValues] | None
    ) -> Theta:
        known: dict[Parts, FieldValues] = {
            parts: dict(fields) for parts, fields in enhancement.initial.given
        }
        known.update(information or {})
        size = 4 << len(known).bit_length()  # a power of two, of which at most a fourth is used
        theta = Theta(_rows(enhancement, self.players, 1 + len(known)), np.zeros(size, ENTRY))
        for i, (parts, fields) in enumerate(known.items(), start=1):
            key = parts if is_integer(parts) else self.key(enhancement, *parts)
            theta.entries[interpret(entry_of)(theta.entries, theta.rows["record"], key)] = i
            _write(enhancement, theta.rows[i], fields)
            theta.rows["record"][i] = key
        return theta

    def _open(self) -> Decision:
        if not self.is_open:
            raise ValueError(
                "a policy needs an open decision; give the last decision no action, or call prefix(i)"
            )
        return self.decisions[-1]

    def _called(self, slot: Slot, *arguments: object) -> None:
        """Call a slot's function about this history as plain Python, its parameters appended."""
        values = slot.values(self)
        slot.refuse_result(interpret(slot.function)(self.history, *arguments, *values))

    def __repr__(self) -> str:
        return "this history"


def _rows(enhancement: Enhancement, players: int, count: int) -> Any:
    """So many rows with the initial information of a record."""
    rows = as_compiled(np.zeros(count, enhancement.information.row(players)))
    for name, value in enhancement.initial.common:
        rows[name] = value
    return rows


def _write(enhancement: Enhancement, row: Any, fields: Mapping[str, FieldValue]) -> None:
    """Write values of fields into a row; a ValueError for a field that the information of the enhancement has not."""
    names = enhancement.information.names
    for name, value in fields.items():
        if name not in names:
            raise ValueError(
                f"the information of {enhancement} has no {name!r}; it has {', '.join(names)}"
            )
        row[name] = value


def _information(enhancement: Enhancement, row: Row) -> dict[str, FieldValue]:
    return {name: np.asarray(getattr(row, name)).tolist() for name in enhancement.information.names}


def _probabilities(rule: Rule, values: np.ndarray) -> np.ndarray:
    """The probabilities of actions by a rule and by their values."""
    parameter = dict(rule.parameters)
    best = values == values.max()
    if rule.code == RULE_ROULETTE and values.min() < 0:
        raise ValueError(f"roulette() met the value {values.min()}; none may be negative")
    # of infinite values the best alone count
    weights = best.astype(float)
    is_finite = abs(values.max()) < np.inf
    if rule.code == RULE_GIBBS and is_finite:
        weights = np.exp((values - values.max()) / parameter["temperature"])
    elif rule.code == RULE_ROULETTE and is_finite:
        weights = values
    elif rule.code == RULE_REPLY:
        weights = (values > 0) & (np.cumsum(values > 0) == 1)  # the first reply
    total = weights.sum()
    shares = weights / total if total else np.full(len(values), 1 / len(values))
    epsilon = parameter.get("epsilon", 0.0)
    return epsilon / len(values) + (1 - epsilon) * shares


def backpropagate(
    enhancement: Enhancement, context: int, rewards: Sequence[float], **information: FieldValue
) -> dict[str, FieldValue]:
    """ω: the information of a record after one update.

    Args:
        context: ψ, as the capture function gave it.
        rewards: μ, one for each player.
        information: what was known of the record before, field by field; the initial information where it is not given.

    Raises:
        ValueError: a field that the information has not, a reward outside 0 to 1, a context that is no player where it should be one,
            or ω wrote NaN, or a negative count.
        OverflowError: a count is full.
    """
    enhancement = _single(enhancement)
    for number in rewards:
        real("a reward", number, 0, 1)
    if enhancement.contexts == PLAYER:
        integer(f"the context of {enhancement}, a player,", context, 0, len(rewards) - 1)
    rows = _rows(enhancement, len(rewards), 1)
    _write(enhancement, rows[0], information)
    slot = enhancement.backpropagation
    mu = read_only(np.array(rewards, float))
    slot.refuse_result(interpret(slot.function)(rows[0], context, mu, *slot.values()))
    _refuse_wrong(slot, rows)
    return _information(enhancement, rows[0])


def _refuse_wrong(slot: Slot, rows: Any) -> None:
    """Refuse what a slot has written to the only one of these rows, as a search does."""
    interpret(refusing(slot.label(), rows.dtype))(rows.ctypes.data)


def _single(enhancement: Enhancement) -> Enhancement:
    if isinstance(enhancement, Composition) or not isinstance(enhancement, Enhancement):
        raise TypeError(
            f"{enhancement!r} is not a single enhancement; use its components one by one"
        )
    return enhancement
