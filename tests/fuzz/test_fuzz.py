"""What holds whatever is drawn: a few inputs of each kind, and with `make fuzz` as many as there is time for."""

import contextlib
import functools
import io
import json
import tempfile
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from experiments import results as store
from experiments.plan import loading as building
from experiments.plan.definition import Refusal, from_settings
from experiments.results import results_of
from icarus import Enhancement, parse, search
from icarus.commands import cli, options
from tests.algebra.test_algebra import compositions
from tests.engine.test_plain import same
from tests.engine.test_twin import starts
from tests.experiments.conftest import a_row, keep, small
from tests.fuzz import inputs

ROOT = Path(__file__).parent.parent.parent
GAMES = 5
SEARCHES: dict[str, Any] = {
    "game": inputs.played_games, "strategy": compositions, "scheme": inputs.schemes, "seed": inputs.seeds
}  # fmt: skip


def tried(examples: int) -> settings:
    """So many inputs in a test; the profile of `make fuzz` has ten times as many. What fails is kept and tried first."""
    return settings(
        max_examples=examples * settings.default.max_examples // 100,
        suppress_health_check=list(HealthCheck),
        database=DirectoryBasedExampleDatabase(Path(__file__).parent / "corpus"),
        print_blob=False,
    )


def one_sentence(error: BaseException) -> None:
    """What a refusal must be."""
    message = str(error)
    assert message and "\n" not in message.strip() and len(message) < 2000, repr(message)


@tried(25)
@given(text=inputs.texts)
def test_a_text_is_a_strategy_that_reads_back_or_is_refused(text: str) -> None:
    try:
        strategy = parse(text)
    except ValueError as error:
        one_sentence(error)
    else:
        assert isinstance(strategy, Enhancement) or hasattr(strategy, "terms")
        if isinstance(strategy, Enhancement):
            assert parse(str(strategy)) == strategy


@tried(2)
@given(**SEARCHES, iterations=st.integers(2, 40))
def test_both_engines_find_the_same(game: Any, strategy: Enhancement, scheme: Any, seed: int, iterations: int) -> None:
    outcomes = [
        _outcome(
            lambda engine=engine: search(
                starts(game, seed), strategy, iterations=iterations, seed=seed, scheme=scheme, engine=engine
            )
        )
        for engine in ("compiled", "python")
    ]
    compiled, reference = outcomes
    assert isinstance(compiled, str) == isinstance(reference, str), outcomes
    if not isinstance(compiled, str):
        same(compiled, reference)


@tried(3)
@given(
    game=inputs.played_games,
    strategy=compositions,
    scheme=inputs.schemes,
    seed=inputs.seeds,
    iterations=st.integers(2, 300),
    threads=st.integers(1, 5),
)
def test_threads_find_the_same_twice(
    game: Any, strategy: Enhancement, scheme: Any, seed: int, iterations: int, threads: int
) -> None:
    def once() -> Any:
        how: dict[str, Any] = {"threads": threads, "scheme": scheme}
        return search(starts(game, seed), strategy, iterations=iterations, seed=seed, **how)

    first, second = _outcome(once), _outcome(once)
    assert isinstance(first, str) == isinstance(second, str), (first, second)
    if isinstance(first, str):
        return
    assert first.visits.sum() == first.iterations == second.iterations == iterations
    searches = max(1, len(first.parts))  # each begins with a playout whose first action has no record yet
    assert ((0 <= first.values) & (first.values <= 1) | (np.isnan(first.values) & (first.visits <= searches))).all()
    same(attrs.evolve(first, seconds=0.0), attrs.evolve(second, seconds=0.0))


def _outcome(work: Callable[[], Any]) -> Any:
    """A result, or the sentence that refuses."""
    try:
        return work()
    except ValueError as error:
        one_sentence(error)
        return str(error)


@tried(8)
@given(arguments=inputs.command_lines)
def test_a_command_ends_in_output_or_one_sentence(arguments: list[str]) -> None:
    errors = io.StringIO()
    no_input = unittest.mock.patch("sys.stdin", io.StringIO(""))
    with (
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(errors),
        no_input,
    ):
        code = cli.run(list(arguments))
    assert code in (0, options.FAILED, options.REFUSED, options.UNCHECKED), (arguments, code)
    assert "Traceback" not in errors.getvalue(), arguments


@tried(60)
@given(table=inputs.tables())
def test_a_table_is_an_experiment_that_reads_back_or_is_refused(table: dict[str, Any]) -> None:
    try:
        experiment = building.build(table)
    except Refusal as error:
        one_sentence(error)
    else:
        assert from_settings(json.loads(json.dumps(experiment.settings()))) == experiment


@functools.cache
def _whole() -> tuple[bytes, list[Any]]:
    with tempfile.TemporaryDirectory() as folder:
        experiment = small()
        directory = keep(
            Path(folder) / "run", experiment, [a_row(experiment.cells[0], trial) for trial in range(GAMES)]
        )
        return (directory / store.RESULTS).read_bytes(), list(store.rows(directory, experiment))


@tried(60)
@given(damage=inputs.damages)
def test_a_damaged_run_is_told_or_gives_games_that_were_played(damage: list[tuple[float, str, int]]) -> None:
    content, rows = _whole()
    for where, what, byte in damage:
        place = int(where * len(content))
        content = _damaged(content, place, what, byte)
    with tempfile.TemporaryDirectory() as folder:
        experiment = small()
        directory = keep(Path(folder) / "run", experiment, [])
        (directory / store.RESULTS).write_bytes(content)
        rows_read = []
        try:
            rows_read = list(store.rows(directory, experiment))
            results = results_of(directory)
            assert sum(map(len, results.games.values())) == len(rows_read)
        except ValueError as error:
            one_sentence(error)
        assert all({key: row[key] for key in rows[0]} in rows for row in rows_read)


def _damaged(content: bytes, place: int, what: str, byte: int) -> bytes:
    if what == "cut":
        return content[:place]
    if what == "flip":
        return content[:place] + bytes([byte]) + content[place + 1 :]
    if what == "insert":
        return content[:place] + bytes([byte]) * 3 + content[place:]
    if what == "drop":
        return content[:place] + content[place + byte :]
    return content[:place] + content[max(0, place - byte) :]


@tried(60)
@given(foreign=inputs.foreign_requests)
def test_a_foreign_request_is_refused_and_changes_nothing(foreign: inputs.Request) -> None:
    """So is whatever stands in its body: one answer, and the connection is closed."""
    game = inputs.served().conversation
    before = game.version, list(game.session.played)
    statuses = inputs.answers(foreign)
    assert len(statuses) == 1 and statuses[0] >= 400, (statuses, bytes(foreign))
    assert (game.version, game.session.played) == before, bytes(foreign)
