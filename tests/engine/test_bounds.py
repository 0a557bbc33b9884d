"""Everything ends: games that do not, facts that contradict each other, counts and memory that run out, Ctrl-C whatever runs."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import MAST, SearchExhausted, backpropagation, games, initial, parse, search
from icarus.kernel.contract import facts_of
from tests import toy
from tests.audit.test_contract import NIM
from tests.conftest import child_process, environment

SOON = 60.0  # seconds, on a busy machine


def apply_without_end(state: Any, action: int) -> None:
    """Nothing is ever taken."""
    state.mover = 1 - state.mover


ENDLESS = attrs.evolve(NIM, apply=apply_without_end)


@pytest.mark.parametrize("strategy", ["BASELINE", "MAST"])
@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_game_that_does_not_end_is_refused_with_its_name_and_moves(strategy: str, engine: str) -> None:
    game = attrs.evolve(ENDLESS, max_length=300)
    state = game.new_initial_state(1)
    state.apply_action(2)
    with pytest.raises(
        ValueError, match="a playout of nim7 has not ended after 300 actions.*after 1 action of the game .*: 2"
    ):
        search(state, parse(strategy), iterations=10, engine=engine)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("strategy", ["BASELINE", "MAST"])
def test_an_interrupt_ends_a_search_whose_game_never_ends(strategy: str, threads: int) -> None:
    state = attrs.evolve(ENDLESS, max_length=10**7 if strategy == "BASELINE" else 10**6).new_initial_state(1)
    search(NIM.new_initial_state(1), parse(strategy), iterations=10, threads=threads)  # compiles
    began = time.monotonic()
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises((KeyboardInterrupt, ValueError)):
        search(state, parse(strategy), iterations=10, threads=threads)
        pytest.fail("it ended")
    timer.cancel()
    assert time.monotonic() - began < SOON


def test_a_command_that_only_starts_ends_without_a_word() -> None:
    call = [sys.executable, "-m", "icarus", "--help"]
    for moment in (0.0, 0.2):
        with child_process(
            call, env=environment(), text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        ) as process:
            while "numpy" not in Path(f"/proc/{process.pid}/maps").read_text():  # before, Python itself starts
                time.sleep(0.001)
            time.sleep(moment)
            process.send_signal(signal.SIGINT)
            stderr = process.communicate(timeout=SOON)[1]
        assert process.returncode in (0, 130, -signal.SIGINT)
        assert "Traceback" not in stderr, stderr
        assert (process.returncode == 130) == stderr.endswith("interrupted\n")
        assert moment > 0.0 or (process.returncode, stderr) == (-signal.SIGINT, "")


# ------------------------------------------------------------------------------------------- facts without a solution


def _hearts(facts: Any) -> None:
    facts.excluded[1:] = np.uint64((1 << 52) - 1)  # nobody else may hold anything


def _confrontation(facts: Any) -> None:
    facts.possible[:] = 0


def _confrontation_crowded(facts: Any) -> None:
    facts.count[:, 0] += 3  # more pieces than a side has


def _confrontation_empty(facts: Any) -> None:
    facts.count[:] = 0


def _goofspiel(facts: Any) -> None:
    facts.bids[0, 0], facts.bids[1, 0], facts.rounds = 1, 0, 1  # the lowest card has won


def _phantom(facts: Any) -> None:
    facts.open[0] = 0
    facts.marks[1] = np.uint64(0b1111)  # a line of four, all of them found


@pytest.mark.parametrize(
    ("name", "slip", "message"),
    [
        ("hearts", _hearts, "no deal of hearts agrees with the facts.*`excluded`"),
        ("lotr-confrontation", _confrontation, "no placement .* agrees with both `possible`"),
        ("lotr-confrontation", _confrontation_crowded, "`count` .* does not sum to the nine of a side"),
        ("lotr-confrontation", _confrontation_empty, "`count` .* does not sum to the nine of a side"),
        ("goofspiel", _goofspiel, "no sequence of the other's bids"),
        ("phantom-mnk", _phantom, "the other's `marks` in phantom-mnk cannot be"),
    ],
)
def test_facts_that_contradict_each_other_are_named(name: str, slip: Callable[[Any], None], message: str) -> None:
    state = games.load(name).new_initial_state(seed=3)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    if name == "hearts":
        while state.current_player() != 0 or state.facts.passes < 12:
            state.apply_action(state.legal_actions()[0])
    state.determinize(0, seed=1)
    slip(facts_of(state.data))
    with pytest.raises(ValueError, match=message):
        state.determinize(0, seed=1)


# ------------------------------------------------------------------------------------------------ counts, memory, limits


NEARLY = np.iinfo(np.int32).max - 60
FULL_COUNTS: dict[str, tuple[str, str, str, str, dict[str, Any]]] = {
    "visits": ("othello", "BASELINE", "BASELINE", "visits", {}),
    "visits in Python": ("othello", "BASELINE", "BASELINE", "visits", {"engine": "python"}),
    "episodes": ("backgammon", "EPIC", "EPIC", "visits", {}),
    "one of two trees": ("othello", "BASELINE >> MAST", "MAST", "visits", {"threads": 2}),
}


@pytest.mark.parametrize(("name", "strategy", "part", "count", "how"), FULL_COUNTS.values(), ids=list(FULL_COUNTS))
def test_a_count_that_is_full_ends_a_search_and_keeps_what_was_found(
    name: str, strategy: str, part: str, count: str, how: dict[str, Any]
) -> None:
    state = games.load(name).new_initial_state(1)
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    running: Any = toy.begun(state, parse(strategy), 1, **how)
    running.run(50)
    first = getattr(running, "searches", [running])[0]
    table = next(table for table in first.tables if str(table.component) == part)
    rows = table.records()
    most = rows[[rows[count].argmax()]]
    most[count] = NEARLY
    table.insert_rows(most)
    with pytest.raises(OverflowError, match="a count has reached 2147483647"):
        running.run(10_000)
    records = table.records()
    assert records[count].max() == np.iinfo(np.int32).max and records[count].min() >= 0
    result = running.result()
    assert result.visits.sum() == result.iterations == running.iterations > 50


@backpropagation
def count_by_sevens(stats: Any, context: int, rewards: np.ndarray) -> None:
    stats.visits += 7


@pytest.mark.parametrize("engine", ["compiled", "python"])
def test_a_count_that_jumps_over_the_largest_ends_a_search_too(engine: str) -> None:
    nearly = initial(reward=0.0, visits=np.iinfo(np.int32).max - 17)
    jumping = attrs.evolve(MAST, name="JUMPING", initial=nearly, backpropagation=count_by_sevens)
    with pytest.raises(SearchExhausted, match="a count has reached 2147483647") as ended:
        search(games.load("othello").new_initial_state(), jumping, iterations=100, seed=1, engine=engine)
    assert ended.value.result.records["JUMPING"].rows["visits"].max() == np.iinfo(np.int32).max
