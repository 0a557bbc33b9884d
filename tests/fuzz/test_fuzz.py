"""What holds whatever is drawn: a few inputs of each kind, and with `make fuzz` as many as there is time for."""

import contextlib
import functools
import io
import json
import re
import shlex
import tempfile
import unittest.mock
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings, strategies as st
from hypothesis.database import DirectoryBasedExampleDatabase

from experiments import results as store
from experiments.plan import loading as building
from experiments.plan.cells import from_settings
from experiments.plan.refusal import Refusal
from experiments.results import results_of
from icarus import Enhancement, audit, parse, search
from icarus.arena import ledger
from icarus.audit.contract import Contract
from icarus.commands import cli, options
from icarus.compiler import digest
from icarus.ladder import engines
from icarus.ladder.engines import EngineFailed, GtpEngine
from tests.algebra.test_algebra import compositions
from tests.compiler.test_compiler import keys
from tests.engine.test_plain import same
from tests.engine.test_twin import starts
from tests.experiments.conftest import a_row, keep, small
from tests.faults.others import OUTPUTS, READERS
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
    assert message, repr(message)
    assert "\n" not in message.strip(), repr(message)
    assert len(message) < 2000, repr(message)


@tried(25)
@given(text=inputs.texts)
def test_a_text_is_a_strategy_that_reads_back_or_is_refused(text):
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
def test_both_engines_find_the_same(game, strategy, scheme, seed, iterations):
    outcomes = [
        _outcome(
            lambda engine=engine: search(
                starts(game, seed),
                strategy,
                iterations=iterations,
                seed=seed,
                scheme=scheme,
                engine=engine,
            )
        )
        for engine in ("compiled", "python")
    ]
    compiled, reference = outcomes
    assert isinstance(compiled, str) == isinstance(reference, str), outcomes
    if not isinstance(compiled, str):
        same(compiled, reference)


@tried(2)
@given(
    game=inputs.played_games,
    strategy=compositions,
    scheme=inputs.schemes,
    seed=inputs.seeds,
    iterations=st.integers(2, 300),
    threads=st.integers(1, 5),
)
def test_threads_find_the_same_twice(game, strategy, scheme, seed, iterations, threads):
    def once():
        how: dict[str, Any] = {"threads": threads, "scheme": scheme}
        return search(starts(game, seed), strategy, iterations=iterations, seed=seed, **how)

    first, second = _outcome(once), _outcome(once)
    assert isinstance(first, str) == isinstance(second, str), (first, second)
    if isinstance(first, str):
        return
    assert first.visits.sum() == first.iterations == second.iterations == iterations
    # each begins with a playout whose first action has no record yet
    searches = max(1, len(first.parts))
    assert (
        (0 <= first.values) & (first.values <= 1)
        | (np.isnan(first.values) & (first.visits <= searches))
    ).all()
    same(attrs.evolve(first, seconds=0.0), attrs.evolve(second, seconds=0.0))


def _outcome(work: Callable[[], Any]):
    """A result, or the sentence that refuses."""
    try:
        return work()
    except ValueError as error:
        one_sentence(error)
        return str(error)


@tried(8)
@given(arguments=inputs.command_lines, page=st.sampled_from(["utf-8", *OUTPUTS]))
def test_a_command_ends_in_output_or_one_sentence(arguments, page):
    errors, output = io.StringIO(), io.TextIOWrapper(io.BytesIO(), page, "backslashreplace")
    no_input = unittest.mock.patch("sys.stdin", io.StringIO(""))
    with (
        contextlib.chdir(ROOT),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(errors),
        no_input,
    ):
        code = cli.run(list(arguments))
    assert code in (0, options.FAILED, options.REFUSED, options.UNCHECKED), (arguments, code)
    assert "Traceback" not in errors.getvalue(), arguments


@tried(60)
@given(table=inputs.tables())
def test_a_table_is_an_experiment_that_reads_back_or_is_refused(table):
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
            Path(folder) / "run",
            experiment,
            [a_row(experiment.cells[0], trial) for trial in range(GAMES)],
        )
        return (directory / store.RESULTS).read_bytes(), list(store.rows(directory, experiment))


@tried(60)
@given(damage=inputs.damages)
def test_a_damaged_run_is_told_or_gives_games_that_were_played(damage):
    content, rows = _whole()
    for where, what, number in damage:
        place = int(where * len(content))
        content = _damaged(content, place, what, number)
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


def _damaged(content: bytes, place: int, what: str, number: int) -> bytes:
    """The content after a damage at a place; the number is that of a byte's value, or of so many bytes."""
    if what == "cut":
        return content[:place]
    if what == "flip":
        return content[:place] + bytes([number]) + content[place + 1 :]
    if what == "insert":
        return content[:place] + bytes([number]) * 3 + content[place:]
    if what == "drop":
        return content[:place] + content[place + number :]
    # "repeat": the last bytes before the place come twice.
    return content[:place] + content[max(0, place - number) :]


@tried(60)
@given(foreign=inputs.foreign_requests)
def test_a_foreign_request_is_refused_and_changes_nothing(foreign):
    """So is whatever stands in its body: one answer, and the connection is closed."""
    games = inputs.served().tables.games
    game, numbers = games[0], list(games)
    before = dict(game.contents), list(game.session.played)
    statuses = inputs.answers(foreign)
    assert len(statuses) == 1, (statuses, bytes(foreign))
    assert statuses[0] >= 400, (statuses, bytes(foreign))
    assert (game.contents, game.session.played) == before, bytes(foreign)
    assert list(games) == numbers, bytes(foreign)


@tried(1)
@given(drawn=inputs.slots_with_views)
def test_what_a_view_is_of_may_be_written_to(drawn):
    """The next search reads it: both engines do, whatever they have read before."""
    slot, base, where = drawn
    assert keys(slot, "compiled") == keys(slot, "python"), where
    base += 1
    assert keys(slot, "compiled") == keys(slot, "python"), where


@tried(4)
@example(pieces=["?", "=", "\n", "= a1\n\n"], ends=False)  # words of a refusal in two lines
@given(pieces=inputs.engine_outputs, ends=st.booleans())
def test_an_answer_of_an_engine_is_that_of_the_protocol_or_a_sentence(pieces, ends):
    script = "; sleep .01; ".join(f"printf '%b' {shlex.quote(piece)}" for piece in pieces)
    process = GtpEngine(
        "fake",
        ("/bin/sh", "-c", f"read line; {script or ':'}; {'exit 0' if ends else 'exec sleep 9'}"),
        0.3,
    )
    text = "".join(pieces).replace("\\377", "\ufffd").replace("\\0", "\0")
    answer = inputs.answer_in(text)
    try:
        said = process.ask("name")
        process.close(grace=0)
    except EngineFailed as error:
        one_sentence(error)
        assert answer is None or not answer.startswith("="), (answer, error)
    else:
        assert answer is not None, (text, said)
        assert answer.startswith("="), (text, said)
        assert said == answer[1:].strip(), (text, said)


@tried(20)
@given(nest=inputs.nests, kind=st.sampled_from([*READERS]))
def test_a_file_of_brackets_is_read_or_named_in_a_sentence(nest, kind):
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder) / kind).write_bytes(bytes(nest))
        try:
            READERS[kind][1](path)
        except ValueError as error:
            one_sentence(error)
            assert folder in str(error), error


@tried(3)
@given(drawn=inputs.luck_games)
def test_luck_that_nobody_sees_is_found_wherever_it_lies(drawn):
    report = audit(inputs.luck_game(*drawn), games=15)
    assert report.failed == (("luck",) if drawn[0] in inputs.FORESEEN else ()), (drawn, str(report))


@tried(1)
@given(game=st.sampled_from(inputs.COMPILED_LUCK), seed=inputs.seeds)
def test_luck_in_the_state_of_a_compiled_game_is_found(game, seed):
    report = audit(game, games=3, seed=seed)
    assert report.failed == ("luck",), (game, str(report))


VIEW = inputs.slot_with_view(np.arange(inputs.SIZE), *inputs.VIEWS[1], where="of a helper")
PIECES = ["=", " ok", "\n", "words", "\n\n"]
NEST = inputs.Nest(inputs.BRACKETS[1], 60_000, "", True, "utf-8")
NOTICED: list[tuple[Callable, dict[str, Any], tuple[Any, str], object]] = [  # with what is taken from the library
    (test_what_a_view_is_of_may_be_written_to, {"drawn": VIEW},
     (digest, "_holds"), lambda bound: digest.current(bound.place) is bound.value),
    (test_an_answer_of_an_engine_is_that_of_the_protocol_or_a_sentence, {"pieces": PIECES, "ends": True},
     (engines, "_ANSWER"), re.compile(rb"(.*\n)")),
    (test_a_file_of_brackets_is_read_or_named_in_a_sentence, {"nest": NEST, "kind": "settings.json"},
     (ledger, "RecursionError"), ValueError),
    (test_luck_that_nobody_sees_is_found_wherever_it_lies, {"drawn": ("generator", 5, 2)},
     (Contract, "_follow"), lambda *arguments: None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("test", "drawn", "place", "planted"), NOTICED, ids=lambda each: getattr(each, "__name__", "")
)
def test_an_input_is_noticed_where_the_library_does_nothing_about_it(
    test, drawn, place, planted, monkeypatch
):
    monkeypatch.setattr(*place, planted, raising=False)
    with pytest.raises((AssertionError, RecursionError)):
        test.hypothesis.inner_test(**drawn)
