"""The commands, as people type them."""

import csv
import datetime
import gzip
import io
import json
import shutil

import pytest

from experiments import results as store
from experiments.report import state_of
from experiments.results import results_of
from icarus.arena.ledger import line_of, packed_path
from tests.experiments.conftest import SMALL, TRIALS, a_row, all_of_table_1, keep, small


@pytest.fixture
def copy(played, tmp_path):
    """A run that may be changed."""
    return shutil.copytree(played, tmp_path / "run")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("run", "figur4", "--out", "x"), "no experiment is called 'figur4'; did you mean figure4"),
        (
            ("run", "figure4", "--games", "otello", "--out", "x"),
            "no game is called 'otello'; did you mean othello",
        ),
        (("run", *SMALL[:3], "--trials", 0, "--out", "x"), "Expected `int` >= 1 - at `$.trials`"),
        (
            ("run", *SMALL[:3], "--workers", 0, "--out", "x"),
            "workers is 0; it must be an integer of at least 1",
        ),
        (("run", *SMALL[:3], "--trials", "many", "--out", "x"), "--trials"),
        (("run", *SMALL[:3], "--part", "3/2", "--out", "x"), "part: '3/2' is not a share"),
        (("run", *SMALL[:3]), "--out"),
        (("run", "nowhere.toml", "--out", "x"), "nowhere.toml cannot be read"),
        (("status", "nowhere"), "nowhere has no experiment"),
        (("report", "nowhere"), "nowhere has no experiment"),
        (("pack", "nowhere"), "nowhere has no rows of games"),
        (("plan", 0.5, 0.5), "no number of games finds a difference of 0"),
        (("rnu",), "No such command 'rnu'"),
    ],
)
def test_bad_input_is_refused_in_one_sentence_with_exit_code_2(
    call, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    code, out, errors = call(*arguments)
    assert (code, out) == (2, "")
    assert message in errors
    assert errors.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_foreign_directory_is_refused_with_exit_code_2(call, copy):
    code, _, errors = call("run", *SMALL[:-1], 21, "--out", copy)
    assert code == 2
    assert (
        errors
        == f"experiments: {copy} belongs to another run: iterations is 20 there and 21 here; choose another directory\n"
    )


def test_damage_is_told_with_file_and_line_and_exit_code_2(call, copy):
    path = copy / store.RESULTS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines[:6], lines[6][:50] + "\n", *lines[7:]]))
    before = path.read_bytes()
    for arguments in (
        ("run", *SMALL, "--out", copy),
        ("report", copy),
        ("status", copy),
        ("query", copy, "SELECT 1"),
    ):
        code, _, errors = call(*arguments)
        assert code == 2
        assert (
            errors
            == f"experiments: {path}, line 7: damaged (no row of a game, or changed since it was written)\n"
        )
    assert path.read_bytes() == before


def test_the_table_of_a_report_holds_every_agent_with_its_interval(call, copy, no_pictures):
    code, out, _ = call("report", copy)
    assert code == 0
    rows = {
        line.split()[0]: line for line in out.splitlines() if "%" in line and "interval" not in line
    }
    wins = {}
    for row in store.rows(copy, small()):
        wins[row["agent"]] = wins.get(row["agent"], 0) + row["win"]
    assert list(rows) == ["Baseline", "EPIC", "NAST"]
    assert {agent: int(line.split()[1]) for agent, line in rows.items()} == wins


def test_a_report_needs_no_other_file(call, tmp_path, blank_pictures):
    copy = keep(tmp_path, all_of_table_1(), (a_row(cell, 0) for cell in all_of_table_1().cells))
    call("report", copy)
    page = (copy / "report.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 3  # Figures 4 and 3, trees
    assert 'src="http' not in page
    assert "<link" not in page
    assert "BASELINE &gt;&gt; (MAST + LGRF + NAST2)/3" in page
    assert "Analysis of variance" in page
    assert all_of_table_1().cells[0].column.game in page
    text = (copy / "report.md").read_text()
    for path in ("figures/figure4-othello.png", "figures/figure3.png", "figures/tree.png"):
        assert f"]({path})" in text
        assert (copy / path).exists()


def test_status_tells_how_far_a_run_is_and_when_it_will_end(tmp_path):
    """Two workers, 10 seconds a game: 16 games of 64 are done after 80 seconds, so 240 are left."""
    experiment = all_of_table_1()
    start = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    rows = [
        a_row(
            cell,
            0,
            started=(start + datetime.timedelta(seconds=i // 2 * 10 + i % 2 * 5)).isoformat(),
            seconds=10.0,
        )
        for i, cell in enumerate(experiment.cells)
    ]
    keep(tmp_path, experiment, rows)
    results = results_of(tmp_path)
    status = state_of(results, running=True, now=start + datetime.timedelta(seconds=80))
    assert "16 of 64 games (25.0 %), running" in status
    assert "Othello: 16 of 64" in status
    assert "4 min 0 s left" in status


def test_a_query_is_answered_from_the_file(call, played):
    sql = "SELECT agent, count(*) AS n, sum(win::INT) FROM games GROUP BY agent ORDER BY agent"
    code, out, _ = call("query", "--csv", played, sql)
    assert code == 0
    lines = list(csv.reader(io.StringIO(out)))
    assert lines[0][:2] == ["agent", "n"]
    assert [line[1] for line in lines[1:]] == [str(TRIALS)] * 3
    sql = "SELECT NULL AS one, 'a' || chr(10) || 'b' AS two LIMIT 1"
    assert call("query", played, sql)[1] == "one  two\n  -  a b\n"  # a row in a line


def test_a_query_over_a_folder_of_runs_sees_the_games_of_all_once(call, played, tmp_path):
    lines = (played / store.RESULTS).read_text().splitlines(keepends=True)
    for name, part in ("one", lines[:3]), ("other", lines[2:]):
        shutil.copytree(played, tmp_path / name)
        (tmp_path / name / store.RESULTS).write_text("".join(part))
    counted = [
        int(call("query", "--csv", where, "SELECT count(*) FROM games")[1].split()[1])
        for where in (played, tmp_path)
    ]
    assert counted[1] == counted[0] == len(lines)


@pytest.mark.parametrize("sql", ["", " -- count(*)"])
def test_a_query_that_asks_nothing_is_refused(call, played, sql):
    code, _, errors = call("query", played, sql)
    assert code == 2
    assert "the query is empty" in errors


def test_a_wrong_query_is_refused_in_one_sentence(call, played):
    code, _, errors = call("query", played, "SELECT nothing FROM games")
    assert code == 2
    assert 'column "nothing" not found' in errors
    assert errors.count("\n") == 1


def test_games_played_again_are_the_same(call, played):
    code, out, _ = call("verify", played, "--sample", 5)
    assert code == 0
    assert out.count("actions, the same") == 5


def test_one_game_is_played_again_by_its_agent_and_number(call, played):
    row = next(row for row in store.rows(played, small()) if row["trial"] == 1)
    code, out, _ = call("verify", played, "--agent", row["agent"], "--trial", 1)
    assert code == 0
    assert out == f"{row['agent']} in {row['game']}, trial 1: {row['moves']} actions, the same\n"


def write_unchecked(path, rows):
    """Keep rows as they were kept before lines had checksums."""
    path.write_text(
        "".join(json.dumps({key: row[key] for key in row if key != "check"}) + "\n" for row in rows)
    )


def test_a_row_that_was_tampered_with_is_found(call, copy):
    path = copy / store.RESULTS
    rows = [json.loads(line) for line in path.read_text().splitlines()[:6]]
    rows[0]["actions"][4][1] += 1
    rows[1]["win"] = not rows[1]["win"]
    write_unchecked(path, rows)
    code, out, _ = call("verify", copy, "--sample", len(rows))
    assert code == 1
    assert out.count("action 5 was") == 1
    assert out.count("win was") == 1
    assert out.count("the same") == len(rows) - 2


def test_packed_games_are_played_again_and_a_changed_one_is_found(call, copy):
    path = copy / store.RESULTS
    rows = [json.loads(line) for line in path.read_text().splitlines()[:4]]
    rows[0]["actions"][4][1] += 1
    write_unchecked(path, rows[:2])
    with path.open("ab") as file:
        file.writelines(
            line_of({key: row[key] for key in row if key != "check"}) for row in rows[2:]
        )
    assert call("pack", copy)[0] == 0
    packed = packed_path(path).read_bytes()
    assert not path.exists()
    # what is left of packing that was killed is no file of rows
    (copy / f"{store.RESULTS}.gz.new").write_bytes(packed[:100])
    assert b"[[" not in gzip.decompress(packed)
    assert call("pack", copy)[0] == 0
    assert packed_path(path).read_bytes() == packed
    assert store.count_unchecked(copy) == 2
    code, out, _ = call("verify", copy, "--sample", len(rows))
    assert code == 1
    assert out.count("actions was sha256:") == 1
    assert out.count("the same") == len(rows) - 1


def test_commands_need_no_home(played, command):
    command.environment = {
        key: value
        for key, value in command.environment.items()
        if key not in ("HOME", "XDG_CACHE_HOME")
    }
    done = command("status", played)
    assert done.returncode == 0
    assert not done.stderr


@pytest.mark.parametrize("missing", ["matplotlib", "duckdb"])
def test_without_its_extra_the_command_says_what_to_install(python, missing):
    done = python(
        f"import sys, runpy; sys.modules[{missing!r}] = None; runpy.run_module('experiments', run_name='__main__')"
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr
        == f"the command experiments needs {missing}: pip install 'icarus-mcts[experiments]'\n"
    )
