"""Search: Algorithm 1, lines 1-4 and 18, around the compiled playout loop."""

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement, Sum
from icarus.compiler.functions import plain
from icarus.compiler.pointers import WORD_BYTES, offset_of
from icarus.compiler.rng import RNG_WORDS, seeded
from icarus.engine.arena import ARENA, DONE, INTERRUPTED, MORE_ROWS, MORE_STEPS, TOO_LONG
from icarus.engine.choice import WeightError
from icarus.engine.interrupts import RINGS, listening
from icarus.engine.loop import loop, raw_loop, tie_break
from icarus.engine.lowering import Program, lowered
from icarus.engine.parallel import RECORDS, ROOTS, Roots, Shared, SharedRecords, check_threads, mean_rewards
from icarus.engine.result import Result, SearchExhausted, SearchInterrupted
from icarus.engine.scheme import FRESH, MO_ISMCTS, ONCE, OWN, ROOT, Scheme
from icarus.engine.tables import Records, Table
from icarus.kernel import CHANCE, TERMINAL, mix
from icarus.kernel.constants import RECALLED
from icarus.kernel.functions import Entries
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.history import PHASES, PLAYOUT, STEP, episode_key, episode_record
from icarus.kernel.state import EpisodePosition, State, in_words
from icarus.kernel.theta import UPDATES

COMPILED, PYTHON = "compiled", "python"
ENGINES = (COMPILED, PYTHON)
SLICE = 0.05  # seconds of compiled work between two looks at the clock and at Ctrl-C
FIRST_SLICE = 8  # iterations before the first look
FUNCTIONS = ("player", "legal", "apply", "rewards", "observe", "chance", "determinize", "episode", "recall")
_STEPS, _UPDATES = 256, 4096  # room to begin with
_TOLD = 10  # actions that a message names


def search(
    state: State,
    strategy: Enhancement,
    *,
    iterations: int | None = None,
    seconds: float | None = None,
    seed: int | Sequence[int] = 0,
    progress: Callable[[int, float], None] | None = None,
    threads: int = 1,
    sharing: str = ROOTS,
    scheme: Scheme = MO_ISMCTS,
    engine: str | None = None,
) -> Result:
    """Algorithm 1: choose an action for the player to move by MO-ISMCTS with a strategy of information capture and reuse.

    Args:
        state: a state in which a player is about to act.
        strategy: an enhancement or a composition.
        iterations: how many playouts to make; or
        seconds: for how long (wall clock); with both, whichever ends first.
        seed: an integer ≥ 0, or several as a key. Fixes everything but the clock.
        progress: called with (iterations made, seconds elapsed) about twenty times a second.
        threads: how many search at once; the iterations are those of all together.
        sharing: what several threads share. "roots": each searches on its own, with a seed made of the seed and its number, and
            the visits of the root's actions are summed; the seed and the number of threads fix the result. "records": all work
            on the same records, section 9 of the paper. No update is lost and no record is entered twice, but a policy may
            read a record that is just being updated, new rewards with the old count, say; and which thread comes first is the
            clock's affair, so the result can NOT be reproduced, whatever the seed. With one thread it says nothing.
        scheme: another search of the information-set family: SO_ISMCTS, SO_ISMCTS_POM, DeterminizedUCT(40), or, to measure what hidden
            information is worth, one that cheats: CheatingUCT, CheatingEnsembleUCT(40). Several trees have the iterations and the
            threads of all together.
        engine: "compiled", or "python": the same search by the plain Python of all slots and of the game, hundreds of times slower, in
            which breakpoints and prints work; same seed, same records, same result. A `PythonGame` knows only the latter.

    Raises:
        ValueError: no positive budget, a terminal or chance state, a bad seed, weights that do not sum to 1, no such sharing, fewer
            iterations than trees; no such engine, several threads in Python.
        TypeError: something that is no state, no enhancement or no scheme.
        SearchInterrupted: a KeyboardInterrupt that carries the result so far. SearchExhausted: memory has run out, or a count is full;
            it carries the result so far too. ValueError also: a playout of more than the game's `max_length` actions.
    """
    _check(state, strategy, iterations, seconds, seed)
    check_threads(threads, sharing)
    check_scheme(scheme, iterations, threads, sharing)
    engine = checked_engine(engine, state.game, threads)
    running = begun(state, strategy, seed, threads, sharing, scheme, engine)
    started = time.perf_counter()
    try:
        with contextlib.closing(running), listening():
            spend(running, iterations, seconds, started, progress)
    except KeyboardInterrupt:
        if running.iterations == 0:
            raise
        raise SearchInterrupted(running.result(time.perf_counter() - started, copied=False)) from None
    except (MemoryError, OverflowError) as error:
        if running.iterations == 0:
            raise
        raise SearchExhausted(running.result(time.perf_counter() - started, copied=False), error) from None
    return running.result(time.perf_counter() - started, copied=False)


def begun(
    state: State,
    strategy: Enhancement,
    seed: int | Sequence[int] = 0,
    threads: int = 1,
    sharing: str = ROOTS,
    scheme: Scheme = MO_ISMCTS,
    engine: str = COMPILED,
) -> "Search | Roots | SharedRecords":
    """A search that has made no playout yet: by itself, or of several trees or threads; arguments as in `search`."""
    if engine == PYTHON:
        from icarus.engine.plain import begun_in_python  # which builds on this file

        return begun_in_python(state, strategy, seed, scheme)
    if threads == 1 and not scheme.counted:
        return Search(state, strategy, seed, scheme)
    key = tuple(seed) if isinstance(seed, Sequence) else (seed,)
    seeds = [(*key, i) for i in range(scheme.trees if scheme.counted else threads)]
    if scheme.counted or sharing == ROOTS:
        return Roots([Search(state, strategy, own, scheme) for own in seeds], seed, threads)
    shared = Shared(scheme.seen(state.game), strategy, scheme)
    return SharedRecords([Search(state, strategy, own, scheme, shared) for own in seeds], seed, threads, shared)


def spend(
    running: "Search | Roots | SharedRecords",
    iterations: int | None,
    seconds: float | None,
    started: float,
    progress: Callable[[int, float], None] | None,
) -> None:
    """Run until a budget is used up, in slices between which Ctrl-C, the clock and `progress` get their due."""
    limit = iterations if iterations is not None else 1 << 62
    deadline = started + seconds if seconds is not None else None
    target, rate = max(FIRST_SLICE, len(getattr(running, "searches", ()))), 0.0
    while running.iterations < limit:
        before, made = time.perf_counter(), running.iterations
        running.run(min(target, limit))
        now = time.perf_counter()
        rate = (running.iterations - made) / max(now - before, 1e-9)
        if progress is not None:
            progress(running.iterations, now - started)
        if deadline is not None and now >= deadline:
            break
        left = SLICE if deadline is None else min(SLICE, deadline - now)
        target = running.iterations + max(1, min(int(rate * left), 8 * (running.iterations - made)))


def _check(state: Any, strategy: Any, iterations: Any, seconds: Any, seed: Any) -> None:
    if not isinstance(state, State):
        raise TypeError(f"search looks at a State, such as games.load('othello').new_initial_state(), not at {state!r}")
    if isinstance(strategy, Sum):
        raise ValueError(
            f"the weights of ({strategy}) do not sum to 1: it is no strategy yet; divide it by {len(strategy.terms)}"
        )
    if not isinstance(strategy, Enhancement):
        raise TypeError(
            f"a strategy is an Enhancement, such as RAVE >> MAST or parse('RAVE >> MAST'), not {strategy!r}"
        )
    check_budget(iterations, seconds)
    checks.seed(seed)
    player = state.current_player()
    if player in (CHANCE, TERMINAL):
        told = "the game has ended" if player == TERMINAL else "chance acts here: apply one of chance_outcomes()"
        raise ValueError(f"there is no decision to search for: {told}")


def checked_engine(engine: Any, game: AnyGame, threads: int) -> str:
    """The engine that is to search, by name; refuses what is none, and what it cannot do."""
    if engine not in (None, *ENGINES):
        raise ValueError(f"engine is {engine!r}; it must be {' or '.join(map(repr, ENGINES))}")
    compilable = isinstance(game, Game)
    if engine == COMPILED and not compilable:
        raise ValueError(f"{game} is a PythonGame, which nobody can compile; its engine is {PYTHON!r}")
    if (engine == PYTHON or not compilable) and threads > 1:
        raise ValueError(f"threads is {threads!r}; the engine {PYTHON!r} searches in one")
    return engine or (COMPILED if compilable else PYTHON)


def check_budget(iterations: Any, seconds: Any) -> None:
    """Refuse a budget that is missing, no number, or not positive."""
    if iterations is None and seconds is None:
        raise ValueError("a search needs a budget: iterations=5000 or seconds=1.0")
    if iterations is not None:
        checks.integer("iterations", iterations, least=1)
    if seconds is not None:
        checks.positive("seconds", seconds)


def check_scheme(scheme: Any, iterations: Any, threads: int = 1, sharing: str = ROOTS) -> None:
    """Refuse what is no scheme, fewer iterations than it has trees, and records shared between trees."""
    if not isinstance(scheme, Scheme):
        raise TypeError(f"a scheme is a Scheme, such as SO_ISMCTS or parse_scheme('SO_ISMCTS'), not {scheme!r}")
    if iterations is not None and iterations < scheme.trees:
        raise ValueError(
            f"iterations is {iterations!r}; {scheme} needs at least one for each of its {scheme.trees} trees"
        )
    if scheme.counted and threads > 1 and sharing == RECORDS:
        raise ValueError(
            f"sharing is {RECORDS!r}, but each tree of {scheme} has records of its own; it must be {ROOTS!r}"
        )


class Search:
    """A search under way: the arena that the compiled loop works in. `run` may be called as often as one likes."""

    def __init__(
        self,
        state: State,
        strategy: Enhancement,
        seed: int | Sequence[int] = 0,
        scheme: Scheme = MO_ISMCTS,
        shared: Shared | None = None,
    ) -> None:
        self.state, self.strategy, self.seed, self.scheme = state.clone(), strategy, seed, scheme
        self.game = scheme.seen(state.game)
        self.program: Program = lowered(self.game, strategy, scheme, shared is not None)
        self.tables = (
            shared.tables if shared else [Table(component, self.game) for component in self.program.components]
        )
        self.actions = tuple(state.legal_actions())
        self._loop = loop()
        self._arena = np.zeros(1, ARENA)
        self._arena["shared"] = shared.control.ctypes.data if shared else 0
        self._kept: dict[str, np.ndarray] = {}
        self.halted = False
        self._observer = self.state.current_player()
        self._playout, self._updates = np.zeros(1, PLAYOUT), np.zeros(1, UPDATES)
        self._set_up(self.game.entries())

    def _set_up(self, entries: Entries) -> None:
        game, program, arena = self.game, self.program, self._arena
        for name in FUNCTIONS:
            arena["game"][name] = entries.address(name)
        arena["game"]["players"], arena["game"]["viewers"] = game.players, game.viewers
        arena["game"]["max_legal"], arena["game"]["max_length"] = game.max_legal, game.max_length
        arena["rings"] = RINGS.ctypes.data
        arena["game"]["look"] = self.state.game.entries().address("observe") if self.scheme.eyes == ROOT else 0
        arena["game"]["simultaneous"] = entries.address("simultaneous") if self.scheme.exp3 else 0
        self._keep("buffers", "rng", seeded(self.seed))
        self._place_root()
        self._place_composition()
        if program.term["in_tree_only"].any():
            self.tables[0].mark_decisions()
        sizes = {
            **dict.fromkeys(("places", "records", "values", "total", "actions", "alike"), game.max_legal),
            **dict.fromkeys(("reward", "looks"), game.players),
            "weight": 1,
            "rng_before": RNG_WORDS,
            "recalled": RECALLED,
        }
        for name, size in sizes.items():
            self._keep("buffers", name, np.zeros(size, np.int64))
        self._keep("buffers", "playout", self._playout)
        for name, buffer in (("rewards", "reward"), ("rng", "rng")):
            self._playout[name] = self._kept[f"buffers.{buffer}"].ctypes.data
        self._keep("buffers", "updates", self._updates)
        if program.episodes:
            self._place_episodes()
        self._give_steps(_STEPS)
        self._give_updates(_UPDATES)

    def _keep(self, part: str, name: str, array: np.ndarray) -> None:
        """Keep an array alive, and its address in a part of the arena."""
        self._kept[f"{part}.{name}"] = array
        self._arena[part][name] = array.ctypes.data

    def _place_root(self) -> None:
        """The state that iterations begin with, and for whom it is determinized; the environment knows it all."""
        root, viewer, part = self.state, self._observer, self._arena["root"]
        if self.scheme.root == ONCE:
            root = root.determinized(viewer, self._kept["buffers.rng"])
        if self.scheme.root != FRESH:
            viewer = CHANCE
        words = in_words(root.record)
        self._keep("root", "state", words)
        self._keep("buffers", "state", words.copy())
        self._keep("root", "beliefs", root.beliefs(viewer))
        self._keep("root", "actions", np.array(self.actions, np.int64))
        self._keep("root", "visits", np.zeros(len(self.actions), np.int64))
        self._keep("root", "episodes", np.zeros(self.game.viewers, np.int64))
        part["state_words"], part["observer"], part["player"] = len(words), viewer, self._observer
        part["count"] = len(self.actions)

    def _place_composition(self) -> None:
        """The program, with the tables of its components."""
        program, part, row = self.program, self._arena["composition"], self.tables[0].dtype
        for name in ("component", "program", "term", "leaf", "factor"):
            self._keep("composition", name, getattr(program, name))
        program.component["table"] = [table.descriptor.ctypes.data for table in self.tables]
        part["components"] = len(program.components)
        for name in ("steps_in_simulation", "moves_in_simulation", "keys_in_simulation", "episodes"):
            part[name] = getattr(program, name)
        part["row_words"] = row.itemsize // WORD_BYTES
        part["visits_column"] = offset_of(row, "visits") // row["visits"].itemsize

    def _position(self) -> EpisodePosition:
        """The root's position-in-episode as the scheme sees it: with eyes other than the players' own, as the root player saw it."""
        position, observer = self.state.position_in_episode(), self._observer
        if self.scheme.eyes == OWN or len(position.moves) == 1:
            return position
        own = position.moves[observer]
        previous = position.previous if position.last in (None, observer) else (position.label, own)
        return attrs.evolve(position, moves=(own,), previous=previous)

    def _place_episodes(self) -> None:
        position, root = self._position(), self._arena["root"]
        for viewer in range(self.game.viewers):
            key = plain(episode_key)(position.label, viewer)
            for move in position.moves[viewer]:
                key = mix(key, move)
            self._kept["root.episodes"][viewer] = key
        label, moves = position.seen_before(self._observer)
        last = 0 if position.last is None else position.last
        root["label"], root["episode"] = position.label, episode_record(label, self.game.viewer(last), last, moves)
        root["last"], root["last_viewer"] = last, self.game.viewer(last)
        root["last_recalled"] = last != self._observer

    def _give_steps(self, steps: int) -> None:
        """Room for playouts of so many steps."""
        viewers, legal = self.game.viewers, steps * 8 + 4 * self.game.max_legal
        self._arena["buffers"]["step_capacity"], self._arena["buffers"]["legal_capacity"] = steps, legal
        parts = {"steps": np.zeros(steps + 1, STEP), "legal": np.zeros(legal, np.int64)}
        parts.update({name: np.zeros((steps + 1) * viewers, np.int64) for name in ("moves", "keys", "episodes")})
        for name, array in parts.items():
            self._kept[f"playout.{name}"] = array
            self._playout[name] = array.ctypes.data
        self._playout["viewers"] = viewers

    def _give_updates(self, count: int) -> None:
        """Room for so many updates of one playout."""
        for name in ("records", "contexts"):
            self._kept[f"updates.{name}"] = np.zeros(count, np.int64)
            self._updates[name] = self._kept[f"updates.{name}"].ctypes.data
        self._updates["capacity"] = count

    @property
    def iterations(self) -> int:
        """Playouts made so far."""
        return int(self._arena["counts"]["iterations"][0])

    def run(self, iterations: int) -> None:
        """Go on until so many playouts have been made in all, giving room as it is asked for."""
        while (status := self.advance(iterations)) != DONE:
            self.give_room(status)

    def advance(self, iterations: int) -> int:
        """Go on as `run` does, or as far as there is room and nobody halts the search; returns the loop's status."""
        self._arena["heard"] = RINGS
        if self.halted:
            return DONE
        try:
            return self._loop(self._arena.ctypes.data, iterations)
        except WeightError as error:
            raise ValueError(f"in {self.strategy}, {error}") from None

    def give_room(self, status: int) -> None:
        """Give the room that the loop asked for by its status."""
        capacity, longest = int(self._arena["buffers"]["step_capacity"][0]), self.game.max_length + 1
        if status == INTERRUPTED:
            return  # if it was Ctrl-C, Python has raised what it raises by now
        if status == TOO_LONG or (status == MORE_STEPS and capacity > longest):
            raise ValueError(self._too_long(capacity))
        if status == MORE_STEPS:
            self._give_steps(min(2 * capacity, longest + 1))
        elif status == MORE_ROWS:
            full, count = self.full_table()
            self.tables[full].grow(count)
        else:
            self._give_updates(2 * int(self._updates["count"][0]))

    def _too_long(self, capacity: int) -> str:
        """What is said of the playout under way, for whose steps there is room for so many."""
        known = min(int(self._playout["length"][0]), capacity)
        return self._unending(self._kept["playout.steps"]["action"][:known].tolist())

    def _unending(self, actions: Sequence[int]) -> str:
        """That a playout which began with these actions does not end."""
        begun = " ".join(map(str, actions[:_TOLD]))
        played = " ".join(str(action) for _, action in self.state.history[-_TOLD:])
        return (
            f"a playout of {self.game} has not ended after {self.game.max_length} actions, its max_length; "
            f"after {len(self.state.history)} actions of the game (the last: {played or 'none'}) it began with {begun} …"
        )

    def full_table(self) -> tuple[int, int]:
        """The index of the table that had no room, and for how many records."""
        full = int(self._arena["full_component"][0])
        return full, int(self.program.component["count"][full])

    def close(self) -> None:
        """Nothing to end: a search by itself runs in the thread of its caller."""

    def run_raw(self, playouts: int) -> int:
        """Make random playouts from the root without searching; returns their number of steps. For measuring speed."""
        self._arena["heard"] = RINGS
        steps = raw_loop()(self._arena.ctypes.data, playouts)
        if steps < 0:
            raise ValueError(self._too_long(0))
        return steps

    def records(self, copied: bool = True) -> dict[str, Records]:
        """The records of every component of the strategy and of the baseline, by name.

        Args:
            copied: whether they are to stay as they are when the search goes on.
        """
        tables = [table.snapshot() if copied else table for table in self.tables]
        return {str(part): Records(part, self.game, tables[index]) for part, index in self.program.table_of.items()}

    @property
    def depth(self) -> int:
        """Actions from the root to the deepest history in the tree."""
        return int(self._arena["counts"]["depth"][0])

    def phase_steps(self) -> np.ndarray:
        """Decisions made in each phase."""
        return self._arena["counts"]["phase_steps"][0].copy()

    def root_visits(self) -> np.ndarray:
        """How often each action was selected at the root."""
        return self._kept["root.visits"].copy()

    def root_rewards(self) -> np.ndarray:
        """[2, actions]: the total reward of the player to move after each action, and of how many playouts, by the baseline."""
        player, found = self.state.current_player(), np.zeros((2, len(self.actions)))
        baseline = Records(self.program.components[0], self.game, self.tables[0])
        for i, action in enumerate(self.actions):
            seen = baseline.get((player, (action,)))
            if seen is not None:
                found[:, i] = seen["reward"][player], seen["visits"]
        return found

    def most_visited(self, visits: np.ndarray) -> int:
        """The action of most visits; ties broken uniformly by the search's generator."""
        most = np.flatnonzero(visits == visits.max())
        return self.actions[
            most[0] if len(most) == 1 else most[tie_break()(self._kept["buffers.rng"].copy().ctypes.data, len(most))]
        ]

    def result(self, seconds: float = 0.0, copied: bool = True, rewards: np.ndarray | None = None) -> Result:
        """What the search has found so far; `copied` as in `records`, `rewards` what `root_rewards` has told, if it was asked."""
        visits = self.root_visits()
        values = mean_rewards(self.root_rewards() if rewards is None else rewards)
        return Result(
            action=self.most_visited(visits),
            actions=self.actions,
            visits=visits,
            values=values,
            policy=visits / max(1, visits.sum()),
            iterations=self.iterations,
            records=self.records(copied),
            depth=self.depth,
            phase_steps=dict(zip(PHASES, self.phase_steps().tolist(), strict=True)),
            seconds=seconds,
            memory=sum(table.nbytes for table in self.tables),
            state=self.state,
            strategy=self.strategy,
            seed=self.seed,
            scheme=self.scheme,
        )


__all__ = ["Records", "Result", "Search", "SearchInterrupted", "begun", "check_budget", "check_scheme", "search"]
