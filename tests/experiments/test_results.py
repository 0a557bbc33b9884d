"""The table of games in memory: exact sums, runs put together, packed rows, and its speed."""

import gzip
import json
import random
import resource
import subprocess
import sys
import time

import pytest

from experiments.plan import loading
from experiments.plan.definition import Refusal
from experiments.store import rows as store
from experiments.store.results import MILLION, results_of
from icarus.arena.ledger import UNFINISHED
from tests.experiments.conftest import TRIALS, a_row, all_of_table_1, keep, small

ROWS, MANY_ROWS = 8_000, 1_000_000
RATE = 10_000  # rows that are to be stored per second
SLACK = 3  # for the normal test, on machines that have other things to do
SECONDS, GIBIBYTE = 20, 1 << 30  # in which, and with which, a report of many rows is written on two processors


def searches(generator):
    return {
        "agent": {
            "decisions": 9,
            "visits": round(generator.uniform(1, 20), 6),
            "value": round(generator.random(), 6),
            "depth": round(generator.uniform(1, 9), 6),
            "iterations": 20.0,
            "seconds": 0.1,
        },
        "opponents": {},
    }


def invented(experiment, trials, seed=1):
    generator = random.Random(seed)
    for trial in range(trials):
        for cell in experiment.cells:
            win = generator.random() < 0.5
            yield a_row(
                cell,
                trial,
                win=win,
                statistics=searches(generator),
                seconds=round(generator.uniform(0, 9), 6),
                actions=[[i % 2, generator.randrange(65)] for i in range(60)],
            )


def test_the_sums_are_those_of_the_rows_whatever_their_order(tmp_path):
    experiment = small()
    rows = list(invented(experiment, TRIALS))
    keep(tmp_path / "one", experiment, rows)
    keep(tmp_path / "other", experiment, random.Random(2).sample(rows, len(rows)))
    tallies = []
    for name in ("one", "other"):
        with results_of(tmp_path / name) as results:
            tallies.append(results.tallies())
    assert tallies[0] == tallies[1]
    for tally in tallies[0]:
        mine = [row for row in rows if row["cell"] == tally.cell.key]
        assert (tally.games, tally.wins) == (len(mine), sum(row["win"] for row in mine))
        assert tally.millionths == sum(round(row["seconds"] * MILLION) for row in mine)
        for name in ("visits", "value", "depth"):
            values = [round(row["statistics"]["agent"][name] * MILLION) for row in mine]
            assert (tally.moments[name].total, tally.moments[name].squares) == (
                sum(values),
                sum(value**2 for value in values),
            )


def test_mean_and_error_are_those_of_the_textbook(tmp_path):
    import numpy

    experiment = small()
    rows = list(invented(experiment, TRIALS))
    with results_of(keep(tmp_path, experiment, rows)) as results:
        depth = results.tallies()[0].moments["depth"]
    values = [row["statistics"]["agent"]["depth"] for row in rows if row["cell"] == experiment.cells[0].key]
    assert depth.mean == pytest.approx(numpy.mean(values))
    assert depth.error == pytest.approx(numpy.std(values, ddof=1) / numpy.sqrt(len(values)))


def test_searches_without_a_choice_count_in_no_mean(tmp_path):
    experiment = small()
    nothing = {
        "agent": {"decisions": 0, "visits": None, "value": None, "depth": None, "iterations": None},
        "opponents": {},
    }
    rows = [a_row(experiment.cells[0], 0, statistics=nothing), a_row(experiment.cells[0], 1)]
    with results_of(keep(tmp_path, experiment, rows)) as results:
        tally = results.tallies()[0]
    assert (tally.games, tally.moments["visits"].count, tally.moments["visits"].mean) == (2, 1, 10.0)


@pytest.mark.parametrize("cut", [1, 30])
def test_a_torn_last_line_does_not_count(tmp_path, cut):
    """Even if only its end is missing, so that it could be read."""
    experiment = small()
    path = keep(tmp_path, experiment, invented(experiment, 2)) / store.RESULTS
    path.write_bytes(path.read_bytes()[:-cut])
    with results_of(tmp_path) as results:
        assert sum(tally.games for tally in results.tallies()) == 5


def test_packed_rows_give_the_same_report_byte_for_byte(tmp_path):
    from experiments.report import write

    experiment = small()
    keep(tmp_path, experiment, invented(experiment, 4))
    before = {path: path.read_bytes() for path in write(tmp_path)[1]}
    content = (tmp_path / store.RESULTS).read_bytes()
    packed = store.pack(tmp_path)
    assert gzip.decompress(packed.read_bytes()) == content
    assert not (tmp_path / store.RESULTS).exists()
    assert {path: path.read_bytes() for path in write(tmp_path)[1]} == before
    assert len(before) > 2  # two pages and a picture
    assert [row["trial"] for row in store.rows(tmp_path, experiment)] == [
        trial for trial in range(4) for _ in experiment.cells
    ]


def test_a_packed_run_continues_and_packs_to_the_same_file(tmp_path):
    experiment = small()
    rows = list(invented(experiment, 4))
    keep(tmp_path / "one", experiment, rows)
    keep(tmp_path / "other", experiment, rows[:5])
    store.pack(tmp_path / "other")
    keep(tmp_path / "other", experiment, rows[5:])
    assert not (tmp_path / "other" / store.PACKED).exists()
    assert (tmp_path / "other" / store.RESULTS).read_bytes() == (tmp_path / "one" / store.RESULTS).read_bytes()
    assert store.pack(tmp_path / "one").read_bytes() == store.pack(tmp_path / "other").read_bytes()


def test_a_run_killed_while_it_was_packed_loses_nothing(tmp_path):
    experiment = small()
    path = keep(tmp_path, experiment, invented(experiment, 2)) / store.RESULTS
    content = path.read_bytes()
    (tmp_path / (store.PACKED + UNFINISHED)).write_bytes(b"half")
    with results_of(tmp_path) as results:
        assert sum(tally.games for tally in results.tallies()) == 6
    store.pack(tmp_path)
    path.write_bytes(content)  # as if killed just before the plain file went
    with store.writer(tmp_path, experiment) as writer:
        assert len(writer.done) == 6
    assert path.read_bytes() == content


def test_packed_rows_are_not_replaced_by_others(tmp_path):
    experiment = small()
    rows = list(invented(experiment, 2))
    keep(tmp_path, experiment, rows)
    before = store.pack(tmp_path).read_bytes()
    keep(tmp_path / "other", experiment, rows[1:2])
    (tmp_path / "other" / store.RESULTS).rename(tmp_path / store.RESULTS)
    with pytest.raises(store.Damage, match="the first does not continue the second"):
        store.pack(tmp_path)
    assert (tmp_path / store.PACKED).read_bytes() == before and (tmp_path / store.RESULTS).exists()


def test_a_run_that_is_going_on_is_not_packed(tmp_path):
    with store.writer(tmp_path, small()), pytest.raises(Refusal, match="another run is writing"):
        store.pack(tmp_path)


def test_damage_in_packed_rows_is_told_with_its_line(tmp_path):
    experiment = small()
    path = keep(tmp_path, experiment, invented(experiment, 2)) / store.RESULTS
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], b"{}\n", *lines[3:]]))
    store.pack(tmp_path)
    with (
        pytest.raises(store.Damage, match=r"results\.jsonl\.gz, line 3: damaged \('cell' is missing\)"),
        results_of(tmp_path),
    ):
        pass


def test_on_the_same_deals_it_is_counted_who_won_alone(tmp_path):
    experiment = small()
    even, epic, _ = experiment.cells
    wins = {even: [True, True, False, False, False], epic: [True, False, True, True, False]}
    keep(
        tmp_path,
        experiment,
        (a_row(cell, trial, win=win) for cell, each in wins.items() for trial, win in enumerate(each)),
    )
    with results_of(tmp_path) as results:
        assert results.discordant() == {epic: (2, 1)}
    keep(tmp_path / "again", experiment, (a_row(even, trial, win=win) for trial, win in enumerate(wins[even])))
    with results_of(tmp_path / "again", tmp_path) as results:  # the opponent's games are there twice
        assert results.discordant() == {epic: (2, 1)}


def test_on_the_same_deals_enhancements_are_compared_deal_by_deal(tmp_path):
    """Of the third deal one agent has not played."""
    from experiments.report import write

    experiment = all_of_table_1(paired=True)
    last = experiment.cells[-1]
    games = [(cell, trial) for cell in experiment.cells for trial in range(3) if (cell, trial) != (last, 2)]
    keep(
        tmp_path, experiment, (a_row(cell, trial, win=trial == 0 or "NAST" in cell.spec.text) for cell, trial in games)
    )
    write(tmp_path)
    page = (tmp_path / "report.md").read_text()
    assert "| Othello | NAST | +50.0 % | -585.3 % to +685.3 % | 2 |" in page  # t of one degree of freedom: 12.706
    assert "| Othello | RAVE | +0.0 % | +0.0 % to +0.0 % | 2 |" in page
    assert "The agents on the same deals" not in page  # 120 pairs
    plain = all_of_table_1()
    keep(tmp_path / "plain", plain, (a_row(cell, trial) for cell in plain.cells for trial in range(2)))
    write(tmp_path / "plain")
    assert "on the same deals" not in (tmp_path / "plain" / "report.md").read_text()


def test_few_agents_on_the_same_deals_are_compared_with_each_other(tmp_path):
    """NAST wins two deals of three and EPIC none; the fourth deal only NAST has played."""
    from experiments.report import write

    experiment = loading.load("figure5", {"games": ["othello"], "trials": 4, "iterations": 20, "paired": True})
    cells = {cell.agent: cell for cell in experiment.cells}
    games = [(cells["NAST"], 3)] + [(cells[agent], trial) for agent in ("NAST", "EPIC") for trial in range(3)]
    keep(tmp_path, experiment, (a_row(cell, trial, win=cell.agent == "NAST" and trial != 1) for cell, trial in games))
    write(tmp_path)
    _, section = (tmp_path / "report.md").read_text().split("## The agents on the same deals")
    # by hand: the mean 2/3 has the standard error 1/3, and t of two degrees of freedom is 4.303
    assert "| Othello | NAST | EPIC | +66.7 % | -76.8 % to +210.1 % | 3 |" in section
    assert "Baseline" not in section.split("##")[0]  # it has not played


def test_rows_are_stored_and_read_fast(tmp_path):
    """Processor time, so that other work on the machine does not matter much."""
    experiment = all_of_table_1(ROWS // 16)
    rows = list(invented(experiment, ROWS // 16))
    with store.writer(tmp_path, experiment) as writer:
        start = time.process_time()
        for row in rows:
            writer.append(row)
        stored = time.process_time() - start
    assert len(rows) / stored > RATE / SLACK
    start = time.process_time()
    with results_of(tmp_path) as results:
        assert sum(tally.games for tally in results.tallies()) == ROWS
    assert ROWS / (time.process_time() - start) > MANY_ROWS / SECONDS / 2 / SLACK


@pytest.mark.slow
def test_a_million_rows_are_reported_in_20_seconds_and_one_gibibyte(tmp_path):
    experiment = all_of_table_1(MANY_ROWS // 16)
    lines = [json.dumps(row, separators=(",", ":")) for row in invented(experiment, 64)]
    with store.writer(tmp_path, experiment):
        pass
    with (tmp_path / store.RESULTS).open("w") as file:
        for i in range(MANY_ROWS):
            line = i % len(lines)
            file.write(lines[line].replace(f'"trial":{line // 16},', f'"trial":{i // 16},', 1) + "\n")
    start = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "experiments", "report", tmp_path], capture_output=True, text=True, check=False
    )
    seconds, kibibytes = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(
        f"\n{seconds:.1f} s, {kibibytes / 1024:.0f} MiB, {(tmp_path / store.RESULTS).stat().st_size / MILLION:.0f} MB of rows"
    )
    assert done.returncode == 0, done.stderr
    assert f"{MANY_ROWS} of {MANY_ROWS} games played." in (tmp_path / "report.md").read_text()
    assert seconds < SECONDS
    assert kibibytes * 1024 < GIBIBYTE
