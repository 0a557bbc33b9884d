"""Audit of a game's hidden information: is a determinization all that the observer knows, and nothing that he does not know?

Random games are played; at each decision of each player many determinizations are drawn by his eyes, and each check of CHECKS is
made, on all of them or on a sample. Nothing is known of the game but its functions.

Two states are the same to the audit when all that everyone together can see of them is the same: their text, and the
actions of the episode as the environment recalls them. So generators of coming deals and other bookkeeping count for nothing.
What a text leaves out is not compared; each text must hide equally many facts, or the draws would not look uniform.

An information set is *small* where there were at least DRAWS_PER_STATE draws for each state found in it: a state is then missed
with a probability of e^-25, so what is not found is excluded, and the counts can be compared with the uniform distribution.

Deals are what is equally likely. Where a record says less than the deal (ranks without their suits), `multiplicity(state)` must
tell how many deals it stands for, up to a common factor.
"""

import functools
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
from numba import types

from icarus.checks import integer
from icarus.checks import seed as checked_seed
from icarus.compiler.entries import compiled
from icarus.compiler.pointers import array_at, call1, call2, call4, record_at
from icarus.compiler.rng import seeded
from icarus.engine.arena import RECALLED
from icarus.engine.search import Result, search
from icarus.kernel import CHANCE, TERMINAL, UNSEEN
from icarus.kernel.game import Game, State, in_words
from icarus.specs import EPIC, MAST, NAST2

GAMES, DETERMINIZATIONS = 10, 1500  # random games; draws at each decision
DRAWS_PER_STATE = 25  # at least, in a small information set
FEWEST_DRAWS = 200  # to compare, however small the set is
PROBED = 30  # where these are all different, the set is large
FEWEST_EXPECTED = 10  # draws of a state that enters a chi-square test
FALSE_ALARM = 1e-6  # the p-value below which draws are not uniform
GAMES_PER_DEAL = 2  # so that different actions after the same deal can look alike
REPLAYED = 2  # determinizations replayed at each decision
SWAPPED = 100  # determinizations drawn from another one, taken as the truth, at each decision
SEARCHES_PER_GAME, ITERATIONS = 3, 60
BEFORE_SEARCH = (
    "player",
    "actions",
    "legal",
)  # who fails these is not searched: compiled code trusts a game to keep its rules
ROOM = 16  # times max_legal: a wrong state may have more legal actions than any right one
STRATEGY = EPIC >> (MAST + NAST2) / 2  # reads histories, episodes, actions and n-grams
EXAMPLES = 2  # failures told in full for each check
LAST_ACTIONS = 10  # of the history, told in an example

CHECKS = {
    "player": "the same player is about to act in every determinization",
    "actions": "he has the same legal actions, in the same order",
    "view": "he sees the same episode label and the same moves of the episode",
    "legal": "an initial record and legal actions lead to the determinization",
    "history": "on that way the observer sees the moves that he has seen",
    "again": "a determinization can be determinized, and all of this holds again",
    "swap": "hidden facts change no draw: where a determinization is the truth, the same random numbers draw the same",
    "search": "hidden facts change no search: where a determinization is the truth, the same seed finds the same records",
    "truth": "the truth, and whatever looks like it to the observer after the same deal, is among the draws",
    "others": "a determinization is among the draws of another player to whom it were the truth",
    "uniform": "all states of an information set are equally likely",
}
_NO_SMALL_SET = "no information set was small enough for the number of draws"
_UNCHECKED = {
    "swap": "nothing was hidden at any decision",
    "search": "nothing was hidden at any decision with a choice",
    "again": "nothing was hidden at any decision",
    "truth": _NO_SMALL_SET,
    "others": _NO_SMALL_SET,
    "uniform": "no information set of several states was small enough for the number of draws",
}


# ------------------------------------------------------------------------------------------------------------ the report


@attrs.define
class Check:
    """One claim about a game, how often it was checked, and how often it failed.

    Attributes:
        name, claim: a key of CHECKS, and what it says.
        checked, failed: how often.
        examples: the first failures in the game's notation.
        note: why it could not be checked, or what was found beyond passing.
        p_values: of the chi-square tests, one for each information set.
    """

    name: str
    claim: str
    checked: int = 0
    failed: int = 0
    examples: list[str] = attrs.field(factory=list)
    note: str = ""
    p_values: list[float] = attrs.field(factory=list, repr=False)

    @property
    def passed(self) -> bool:
        """Checked, and never failed; what could not be checked has not passed."""
        return self.checked > 0 and self.failed == 0

    def count(self, checked: int, failed: int, example: Callable[[], str]) -> None:
        self.checked += checked
        self.failed += failed
        if failed and len(self.examples) < EXAMPLES:
            self.examples.append(example())

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED" if self.failed else "not checkable"
        times = f"{self.failed:,} of {self.checked:,}" if self.failed else f"{self.checked:,}"
        line = f"  {self.name:<8} {verdict:<13} {times if self.checked else '-':>15}  {self.claim}"
        note = [f"    {self.note}"] if self.note else []
        return "\n".join([line, *note, *("    " + example.replace("\n", "\n    ") for example in self.examples)])


@attrs.frozen
class AuditReport:
    """What an audit found.

    Attributes:
        game: its name with parameters.
        games, decisions, determinizations: how many were looked at.
        checks: in the order of CHECKS; none for a game of perfect information.
        seconds: wall-clock time.
    """

    game: str
    games: int
    decisions: int
    determinizations: int
    checks: tuple[Check, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """No check failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return tuple(check.name for check in self.checks if check.failed)

    def __getitem__(self, name: str) -> Check:
        return next(check for check in self.checks if check.name == name)

    def __str__(self) -> str:
        if not self.checks:
            return f"{self.game}: perfect information, nothing to determinize"
        unchecked = [check.name for check in self.checks if not check.checked]
        verdict = "passed" if self.passed else f"FAILED: {', '.join(self.failed)}"
        missing = f" (not checkable: {', '.join(unchecked)})" if unchecked else ""
        head = (
            f"audit of {self.game}: {self.games:,} games, {self.decisions:,} decisions, "
            f"{self.determinizations:,} determinizations, {self.seconds:.1f} s"
        )
        return "\n".join([head, *map(str, self.checks), f"{verdict}{missing}"])


# ------------------------------------------------------------------------------------------------------------- the draws

OTHER_PLAYER, OTHER_ACTIONS, OTHER_VIEW = 1, 2, 4  # faults of a determinization, a bit for each
FAULTS = {"player": OTHER_PLAYER, "actions": OTHER_ACTIONS, "view": OTHER_VIEW}

JOB = np.dtype(
    [
        ("determinize", np.int64),
        ("player", np.int64),
        ("legal", np.int64),
        ("episode", np.int64),
        ("recall", np.int64),
        ("observer", np.int64),
        ("beliefs", np.int64),
        ("rng", np.int64),
        ("truth", np.int64),
        ("words", np.int64),  # address of a record, and its length in 8 bytes
        ("mover", np.int64),
        ("label", np.int64),  # what every determinization must have: the player about to act, e(s),
        ("actions", np.int64),
        ("action_count", np.int64),  # his legal actions,
        ("moves", np.int64),
        ("move_count", np.int64),  # the moves that the observer recalls
        ("listed", np.int64),
        ("recalled", np.int64),  # room to write a determinization's own into
        ("count", np.int64),
        ("draws", np.int64),
        ("faults", np.int64),  # the draws [count, words] and their faults [count]
    ],
    align=True,
)
_INT = np.dtype(np.int64)


def draw(job: int) -> int:
    """Draw the determinizations of a JOB and note the faults of each."""
    j = record_at(job, JOB)
    truth, faults = array_at(j.truth, j.words, _INT), array_at(j.faults, j.count, _INT)
    actions, moves = array_at(j.actions, j.action_count, _INT), array_at(j.moves, j.move_count, _INT)
    listed, recalled = array_at(j.listed, j.action_count, _INT), array_at(j.recalled, j.move_count, _INT)
    for k in range(j.count):
        address = j.draws + 8 * k * j.words
        state = array_at(address, j.words, _INT)
        for i in range(j.words):
            state[i] = truth[i]
        call4(j.determinize, (address, j.observer, j.beliefs, j.rng))
        if call1(j.player, (address,)) != j.mover:
            faults[k] |= OTHER_PLAYER
        elif j.mover == j.observer:
            same = call2(j.legal, (address, j.listed)) == j.action_count
            for i in range(j.action_count):
                same = same and listed[i] == actions[i]
            if not same:
                faults[k] |= OTHER_ACTIONS
        same = j.episode == 0 or call1(j.episode, (address,)) == j.label
        if j.recall != 0:
            same = same and call4(j.recall, (address, j.observer, j.recalled, RECALLED)) == j.move_count
            for i in range(j.move_count):
                same = same and recalled[i] == moves[i]
        if not same:
            faults[k] |= OTHER_VIEW
    return 0


class _Eyes:
    """A decision by the eyes of an observer: what must be alike in all determinizations, and the draws themselves."""

    def __init__(self, state: State, observer: int) -> None:
        game, entries = state.game, state.game.entries()
        address = state.record.ctypes.data
        self.game, self._job = game, np.zeros(1, JOB)
        actions = np.array(state.legal_actions(), np.int64)
        moves, recalled = np.zeros(RECALLED, np.int64), np.zeros(RECALLED, np.int64)
        listed = np.zeros(ROOM * game.max_legal, np.int64)
        self._arrays = {"actions": actions, "moves": moves, "recalled": recalled, "listed": listed}
        for name in ("determinize", "player", "legal", "episode", "recall"):
            self._job[name] = entries.address(name)
        for name, array in self._arrays.items():
            self._job[name] = array.ctypes.data
        self._job["observer"], self._job["words"] = observer, len(in_words(state.record))
        self._job["action_count"] = len(actions)
        self._job["mover"] = state.current_player()
        self._job["label"] = 0 if entries.episode is None else entries.episode(address)
        if entries.recall is not None:
            self._job["move_count"] = entries.recall(address, observer, moves.ctypes.data, RECALLED)

    def draws(self, record: np.ndarray, count: int, rng: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Determinizations of a record, [count] of game.state, and the faults of each, [count]."""
        truth = in_words(record)
        draws, faults = np.zeros((count, len(truth)), np.int64), np.zeros(count, np.int64)
        beliefs = State(self.game, record).beliefs(int(self._job["observer"][0]))
        for name, array in (("truth", truth), ("draws", draws), ("faults", faults), ("beliefs", beliefs), ("rng", rng)):
            self._job[name] = array.ctypes.data
        self._job["count"] = count
        _draw()(self._job.ctypes.data)
        records = np.ascontiguousarray(draws.view(np.uint8)[:, : self.game.state.itemsize])
        return records.view(self.game.state)[:, 0], faults


@functools.cache
def _draw() -> Any:
    return compiled(draw, types.int64(types.int64), "the draws of an audit")


def _facts(record: np.ndarray) -> Any:
    """A state record with attribute access."""
    return record.view(np.recarray)[0]


@attrs.define
class _Tally:
    """How often each state of a small information set was drawn, and how many deals each stands for."""

    counts: Counter = attrs.field(factory=Counter)
    deals: dict[Any, float] = attrs.field(factory=dict)

    def expected(self, deals: float) -> float:
        """How often a state of so many deals should have been drawn."""
        return self.counts.total() * deals / sum(self.deals.values())

    def excludes(self, face: Any, deals: float) -> bool:
        """Whether a state was never drawn that should have been."""
        return face not in self.counts and self.expected(deals) >= DRAWS_PER_STATE

    def compared(self) -> tuple[list[int], list[float]]:
        """Counts, and the draws to be expected of each, of the states that are likely enough for a chi-square test."""
        likely = [face for face, deals in self.deals.items() if self.expected(deals) >= FEWEST_EXPECTED]
        counts, deals = [self.counts[face] for face in likely], [self.deals[face] for face in likely]
        return counts, [sum(counts) * part / sum(deals) for part in deals]


def _uneven(counts: list[int], expected: list[float]) -> str:
    """The states that were drawn least and most often, in words."""
    order = sorted(range(len(counts)), key=lambda i: counts[i] / expected[i])
    least, most = (f"{counts[i]} times instead of {expected[i]:.0f}" for i in (order[0], order[-1]))
    return f"of {len(counts)} states one was drawn {least} and one {most}"


# ------------------------------------------------------------------------------------------------------------- the audit


def audit(
    game: Game,
    *,
    games: int = GAMES,
    determinizations: int = DETERMINIZATIONS,
    seed: int | Sequence[int] = 0,
    multiplicity: Callable[[Any], float] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> AuditReport:
    """Check that the determinizations of a game agree with all that the observer knows, and use nothing that he does not know.

    Args:
        games: random games to play.
        determinizations: draws at each decision. It takes 25 for each state of an information set to tell whether it is uniform.
        seed: an integer ≥ 0, or several as a key. Fixes everything but the clock.
        multiplicity: `multiplicity(state)`, how many deals a state record stands for; the game's own, where it has one, or 1.
        progress: called after every game with the games played and the determinizations drawn so far.

    Raises:
        TypeError: something that is no game. ValueError: games, determinizations or a seed that are no positive integers.
    """
    if not isinstance(game, Game):
        raise TypeError(f"an audit looks at a Game, such as games.load('knockout-whist'), not at {game!r}")
    for name, number in (("games", games), ("determinizations", determinizations)):
        integer(name, number, least=1)
    checked_seed(seed)
    if game.determinize is None:
        return AuditReport(str(game), 0, 0, 0, (), 0.0)
    started, key = time.perf_counter(), tuple(seed) if isinstance(seed, Sequence) else (seed,)
    running = _Audit(game, determinizations, key, multiplicity or getattr(game, "multiplicity", None))
    for number in range(games):
        running.play(number)
        if progress is not None:
            progress(number + 1, running.drawn)
    return running.report(games, time.perf_counter() - started)


class _Audit:
    """An audit under way, with the random game that is being played."""

    def __init__(
        self, game: Game, determinizations: int, seed: tuple[int, ...], multiplicity: Callable[[Any], float] | None
    ) -> None:
        self.game, self.determinizations, self.seed, self.multiplicity = game, determinizations, seed, multiplicity
        self.checks = {name: Check(name, claim) for name, claim in CHECKS.items()}
        self.decisions = self.drawn = 0
        self._chi_square, self._chi_square_tail = _chi_square_functions()
        self._statistic = self._freedom = self._largest = 0.0
        self._least, self._least_told = 1.0, ""
        self._alike: dict[
            int, dict[Any, float]
        ] = {}  # by what an observer has noticed: the true states, and the deals of each
        self._faces: dict[bytes, Any] = {}
        self._recalled, self._listed = np.zeros(RECALLED, np.int64), np.zeros(ROOM * game.max_legal, np.int64)
        self._number, self._texts = 0, [""]
        self._noticed: list[list[tuple[str, int]]] = []
        self._snapshots: list[tuple[State, np.ndarray]] = []

    # --------------------------------------------------------------------------------------------------- a random game

    def play(self, number: int) -> None:
        """Play a random game and look at each decision of it."""
        self._number, self._texts, self._snapshots = number, [], []
        self.luck, self.rng = random.Random(f"{self.seed} {number}"), seeded((*self.seed, 1, number))
        state = self.game.new_initial_state((*self.seed, 0, number // GAMES_PER_DEAL))
        deal = state.record.tobytes()
        self._noticed = [[] for _ in range(self.game.players)]
        self._notice_label(state)
        while (player := state.current_player()) != TERMINAL:
            if player != CHANCE:
                self._decision(state, player, deal)
                action = self.luck.choice(state.legal_actions())
            else:
                outcomes = state.chance_outcomes()
                action = self.luck.choices([outcome for outcome, _ in outcomes], [share for _, share in outcomes])[0]
            self._texts.append(state.action_to_string(action))
            self._notice_move(state, action)
            state.apply_action(action)
            self._notice_label(state)
        if not any(self.checks[name].failed for name in BEFORE_SEARCH):
            for snapshot in self.luck.sample(self._snapshots, min(SEARCHES_PER_GAME, len(self._snapshots))):
                self._search(*snapshot)

    def _notice_label(self, state: State) -> None:
        episode = self.game.entries().episode
        label = -1 if episode is None else episode(state.record.ctypes.data)
        if label >= 0:
            for noticed in self._noticed:
                noticed.append(("label", label))

    def _notice_move(self, state: State, action: int) -> None:
        moves, observe = np.full(self.game.players, action, np.int64), self.game.entries().observe
        if observe is not None:
            observe(state.record.ctypes.data, action, moves.ctypes.data, self.game.players)
        for noticed, move in zip(self._noticed, moves.tolist(), strict=True):
            if move != UNSEEN:
                noticed.append(("move", move))

    def _told(self, state: State, what: str, record: np.ndarray | None = None) -> str:
        """An example: where in which game, what is wrong, and the determinization that it is wrong with."""
        texts = self._texts[: len(state.history)]
        before = f"… {' '.join(texts[-LAST_ACTIONS:])}" if len(texts) > LAST_ACTIONS else " ".join(texts) or "nothing"
        told = f"game {self._number + 1}, player {state.current_player()} after {before}: {what}"
        return told if record is None else told + "\n  " + str(State(self.game, record)).replace("\n", "\n  ")

    # ------------------------------------------------------------------------------------------------------ a decision

    def _decision(self, state: State, observer: int, deal: bytes) -> None:
        self.decisions += 1
        self._faces.clear()
        eyes, before = _Eyes(state, observer), self.rng.copy()
        records, faults = eyes.draws(state.record, self.determinizations, self.rng)
        self.drawn += len(records)
        for name, bit in FAULTS.items():
            self._count_faults(name, state, records, np.flatnonzero(faults & bit))
        if self.game.retrace is not None:
            for i in range(min(len(records), REPLAYED)):
                self._replay(state, observer, records[i : i + 1])
        self._count(state, observer, records, deal)
        truth = self._face(state.record)
        sound = np.flatnonzero(faults[:SWAPPED] == 0)
        other = next((records[i : i + 1] for i in sound if self._face(records[i : i + 1]) != truth), None)
        if other is not None and self._swap(state, eyes, other, records[:SWAPPED], before):
            self._ask_another(state, observer, other)
            if len(state.legal_actions()) > 1:
                self._snapshots.append((state.clone(), other))

    def _count_faults(self, name: str, state: State, records: np.ndarray, wrong: np.ndarray) -> None:
        self.checks[name].count(
            len(records), len(wrong), lambda: self._told(state, "not so in this one:", records[wrong[0] : wrong[0] + 1])
        )

    def _face(self, record: np.ndarray) -> Any:
        """All that can be seen of a state by everyone together."""
        key = record.tobytes()
        if key not in self._faces:
            recall, actions = self.game.entries().recall, 0
            if recall is not None:
                actions = recall(record.ctypes.data, self.game.players, self._recalled.ctypes.data, RECALLED)
            self._faces[key] = self.game.text(_facts(record)), self._recalled[:actions].tobytes()
        return self._faces[key]

    def _tally(self, records: np.ndarray) -> "_Tally | None":
        """How often each state was drawn; None where the information set is not small."""
        tally, most = _Tally(), len(records) // DRAWS_PER_STATE
        for i in range(len(records)):
            face = self._face(records[i : i + 1])
            tally.counts[face] += 1
            if tally.counts[face] == 1:
                tally.deals[face] = self._deals(records[i : i + 1])
            if len(tally.counts) > most or i + 1 == len(tally.counts) == PROBED:
                return None
            if i + 1 >= max(FEWEST_DRAWS, len(tally.counts) * DRAWS_PER_STATE):
                break
        return tally

    def _deals(self, record: np.ndarray) -> float:
        return 1.0 if self.multiplicity is None else float(self.multiplicity(_facts(record)))

    def _replay(self, state: State, observer: int, record: np.ndarray) -> None:
        """Go the way that leads to a determinization."""
        found, wrong = self._retraced(state, record)
        self.checks["legal"].count(1, bool(wrong), lambda: self._told(state, wrong, record))
        if found is not None:
            seen, moves = (
                [move for kind, move in self._noticed[observer] if kind == "move"],
                list(found.moves(observer)),
            )
            agrees = moves == seen[len(seen) - len(moves) :]
            self.checks["history"].count(
                1,
                not agrees,
                lambda: self._told(
                    state, f"he has seen the moves {seen[-LAST_ACTIONS:]}, but here {moves[-LAST_ACTIONS:]}", record
                ),
            )

    def _retraced(self, state: State, record: np.ndarray) -> tuple[State | None, str]:
        """The state that the way to a determinization leads to, with its history; or what is wrong with that way."""
        assert self.game.retrace is not None
        try:
            start, actions = self.game.retrace(state, record)
            found = State(self.game, start.copy())
            for action in actions:
                legal = self._legal(found)
                if action not in legal:
                    return (
                        None,
                        f"player {found.current_player()} could not have played {found.action_to_string(action)}:",
                    )
                found.apply_action(action)
        except Exception as error:  # whatever a way back stumbles over is what there is to tell
            return None, f"no way leads there: {error!r}"
        if not (found.record == record).all():
            return None, f"the way back leads elsewhere, by {found.history_str()}:"
        return found, ""

    def _legal(self, state: State) -> list[int]:
        """Legal actions, listed with room to spare; a state with more than any right one is refused before it is played on."""
        if state.is_terminal():
            return []
        count = self.game.entries().legal(state.record.ctypes.data, self._listed.ctypes.data)
        if count > self.game.max_legal:
            raise ValueError(f"{count} legal actions, although max_legal is {self.game.max_legal}")
        return self._listed[:count].tolist()

    def _count(self, state: State, observer: int, records: np.ndarray, deal: bytes) -> None:
        """Where the information set is small: nothing that can be true is excluded, and all of it is equally likely."""
        tally = self._tally(records)
        if tally is None:
            return
        known = hash((deal, observer, tuple(self._noticed[observer]), tuple(state.legal_actions())))
        alike = self._alike.setdefault(known, {})
        alike[self._face(state.record)] = self._deals(state.record)
        excluded = [face for face, deals in alike.items() if tally.excludes(face, deals)]
        self.checks["truth"].count(
            1,
            bool(excluded),
            lambda: self._told(
                state, "never drawn, although it looks the same to him:\n  " + excluded[0][0].replace("\n", "\n  ")
            ),
        )
        if self._chi_square is not None:
            self._test(state, *tally.compared())

    def _test(self, state: State, counts: list[int], expected: list[float]) -> None:
        if len(counts) < 2:
            return
        statistic, p = self._chi_square(counts, expected)
        self.checks["uniform"].checked += 1
        self.checks["uniform"].p_values.append(float(p))
        self._statistic, self._freedom = self._statistic + statistic, self._freedom + len(counts) - 1
        self._largest = max(self._largest, len(counts))
        if p < self._least:
            self._least, self._least_told = p, self._told(state, f"{_uneven(counts, expected)} (p = {p:.2g})")

    def _redrawn(
        self, state: State, eyes: _Eyes, other: np.ndarray, count: int, rng: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Draws where a determinization is the truth; None if the game cannot make them."""
        try:
            return eyes.draws(other, count, rng)
        except Exception as error:  # whatever a game stumbles over is what there is to tell
            told = self._told(state, f"{error!r} where this is determinized:", other)
            self.checks["again"].count(1, 1, lambda: told)
            return None

    def _swap(self, state: State, eyes: _Eyes, other: np.ndarray, drawn: np.ndarray, rng: np.ndarray) -> bool:
        """With a determinization as the truth, and the generator as it was, draw once more; False if that fails."""
        redrawn = self._redrawn(state, eyes, other, len(drawn), rng)
        if redrawn is None:
            return False
        records, faults = redrawn
        self._count_faults("again", state, records, np.flatnonzero(faults))
        differ = [
            i
            for i in np.flatnonzero(records != drawn)
            if self._face(records[i : i + 1]) != self._face(drawn[i : i + 1])
        ]
        self.checks["swap"].count(
            1,
            bool(differ),
            lambda: self._told(state, f"draw {differ[0] + 1} is another one where this is the truth:", other),
        )
        return not faults.any()

    def _ask_another(self, state: State, observer: int, other: np.ndarray) -> None:
        """Whether a determinization can be the truth for somebody else."""
        players = [player for player in range(self.game.players) if player != observer]
        if not players:
            return
        player = self.luck.choice(players)
        redrawn = self._redrawn(state, _Eyes(State(self.game, other), player), other, self.determinizations, self.rng)
        tally = None if redrawn is None else self._tally(redrawn[0])
        if tally is not None:
            self.checks["others"].count(
                1,
                tally.excludes(self._face(other), self._deals(other)),
                lambda: self._told(state, f"never drawn by the eyes of player {player} where it is the truth:", other),
            )

    def _search(self, state: State, record: np.ndarray) -> None:
        """Search the truth, and a determinization as if it were the truth."""
        other = self._retraced(state, record)[0] if self.game.retrace is not None else None
        if other is None:
            other = State(self.game, record.copy(), start=state, position=state.position_in_episode())
        seed = (*self.seed, self._number)
        try:
            first, second = (search(root, STRATEGY, iterations=ITERATIONS, seed=seed) for root in (state, other))
            different = differences(first, second)
            told = f"other {', '.join(different)} where this is the truth:"
        except Exception as error:  # here, too
            different, told = ["error"], f"{error!r} where this is the truth:"
        self.checks["search"].count(1, bool(different), lambda: self._told(state, told, record))

    # ------------------------------------------------------------------------------------------------------ the report

    def report(self, games: int, seconds: float) -> AuditReport:
        self._judge_uniformity()
        for name in ("legal", "history"):
            if self.game.retrace is None:
                self.checks[name].note = "the game has no retrace"
        for check in self.checks.values():
            if check.name == "search" and any(self.checks[name].failed for name in BEFORE_SEARCH):
                check.note = "no search was made after other checks had failed"
            elif not check.checked and not check.note:
                check.note = _UNCHECKED.get(check.name, "no player had a decision")
        return AuditReport(str(self.game), games, self.decisions, self.drawn, tuple(self.checks.values()), seconds)

    def _judge_uniformity(self) -> None:
        """The least p-value, corrected for the number of tests, and one for the sum of all statistics."""
        check = self.checks["uniform"]
        if self._chi_square is None:
            check.note = "scipy is missing: pip install 'icarus[experiments]'"
        elif check.checked:
            together = float(self._chi_square_tail(self._statistic, self._freedom))
            check.note = (
                f"sets of up to {self._largest:.0f} states; the least p of {check.checked:,} is {self._least:.2g}, "
                f"all together p = {together:.2g}"
            )
            biased = [p for p in check.p_values if p * check.checked < FALSE_ALARM]
            check.failed = max(len(biased), int(together < FALSE_ALARM))
            check.examples = [self._least_told] * bool(check.failed)


def _chi_square_functions() -> tuple[Any, Any]:
    """scipy's test against the uniform distribution and the tail of the chi-square distribution; None without scipy."""
    try:
        from scipy.stats import chi2, chisquare
    except ModuleNotFoundError:
        return None, None
    return chisquare, chi2.sf


def differences(first: Result, second: Result) -> list[str]:
    """The names of the fields in which two results differ, but for the clock and the states; records component by component."""
    found = []
    for name in (field.name for field in attrs.fields(Result) if field.name not in ("seconds", "state", "records")):
        one, other = getattr(first, name), getattr(second, name)
        same = (
            np.array_equal(one, other, equal_nan=one.dtype.kind == "f") if isinstance(one, np.ndarray) else one == other
        )
        found += [] if same else [name]
    names = dict.fromkeys([*first.records, *second.records])
    return found + [
        f"records of {name}"
        for name in names
        if name not in first.records
        or name not in second.records
        or not np.array_equal(first.records[name].rows, second.records[name].rows)
    ]
