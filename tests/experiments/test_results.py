"""The files of a run: what is kept, grows, is refused; damage; exact sums, runs put together, merged and queried; speed."""

import gzip
import json
import random
import re
import resource
import subprocess
import sys
from pathlib import Path

import attrs
import numpy
import pytest

from experiments import results as store
from experiments.plan.cells import difference, extends
from experiments.plan.loading import build
from experiments.report import state_of, write
from experiments.results import (
    MILLION,
    RESULTS,
    experiment_in,
    ledger_of,
    merge,
    query,
    results_of,
    rows,
)
from icarus.arena import ledger as ledgers
from icarus.arena.ledger import line_of, packed_path
from tests.experiments.conftest import (
    TRIALS,
    Invented,
    a_row,
    all_of_table_1,
    built,
    keep,
    play,
    small,
)

GAMES = 3
# of which a report is written in that time and memory
MANY_ROWS = 250_000
SECONDS = 20
GIBIBYTE = 1 << 30


@pytest.fixture(scope="module")
def experiment():
    return small()


@pytest.fixture
def directory(tmp_path, experiment):
    """Three games kept."""
    return keep(
        tmp_path / "run", experiment, [a_row(experiment.cells[0], trial) for trial in range(GAMES)]
    )


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write_unchecked(directory, change=lambda rows: None):
    """Write rows, perhaps changed, as they were kept before lines had checksums."""
    path = directory / RESULTS
    games = [json.loads(line) for line in path.read_text().splitlines()]
    for game in games:
        game.pop("check", None)
    change(games)
    path.write_text("".join(json.dumps(game) + "\n" for game in games))


def played(directory):
    return sum(tally.games for tally in results_of(directory).tallies())


# --------------------------------------------------------------------------------------------------------- what is kept


def test_rows_are_read_back_as_they_were_written_and_known_when_the_run_goes_on(
    directory, experiment
):
    assert list(rows(directory, experiment)) == [
        a_row(experiment.cells[0], trial) for trial in range(GAMES)
    ]
    assert experiment_in(directory) == experiment
    with ledger_of(directory, experiment) as ledger:
        assert ledger.outcomes == {(experiment.cells[0].key, trial): True for trial in range(GAMES)}
        with (
            pytest.raises(ValueError, match="another process is writing"),
            ledger_of(directory, experiment),
        ):
            pass


@pytest.mark.parametrize("cut", [1, 30])
def test_a_torn_last_line_does_not_count_and_is_written_over(directory, experiment, cut):
    """Even if only its end is missing, so that it could be read."""
    path = directory / RESULTS
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert played(directory) == GAMES - 1
    keep(directory, experiment, [a_row(experiment.cells[0], GAMES - 1)])
    assert path.read_bytes() == whole


@pytest.mark.parametrize("cut", [30, 200])
def test_a_query_does_not_see_a_torn_last_line(directory, cut):
    path = directory / RESULTS
    path.write_bytes(path.read_bytes()[:-cut])
    assert query(directory, "SELECT count(*), count(agent) FROM games")[1] == [(GAMES - 1,) * 2]


def with_digests(games):
    return [row | {"actions": store.digest_of_actions(row["actions"])} for row in games]


def test_a_packed_run_gives_the_same_report_and_goes_on(tmp_path, experiment, blank_pictures):
    games = list(invented(experiment, 4))
    whole = keep(tmp_path / "whole", experiment, games)
    half = keep(tmp_path / "half", experiment, games[:5])
    before = {path: path.read_bytes() for path in write(whole)[1]}
    assert len(before) > 2  # two pages and a picture
    content = with_digests(rows(whole, experiment))
    for run in (whole, half):
        store.pack(run / RESULTS)
    keep(half, experiment, games[5:])
    packed = gzip.decompress(packed_path(whole / RESULTS).read_bytes())
    assert packed == b"".join(map(line_of, content))
    assert {path: path.read_bytes() for path in write(whole)[1]} == before
    assert list(rows(whole, experiment)) == with_digests(rows(half, experiment)) == content
    assert query(half, "SELECT count(*) FROM games")[1] == [(len(games),)]


def test_a_query_counts_a_game_of_several_runs_once(tmp_path, experiment):
    games = list(invented(experiment, 4))
    keep(tmp_path / "one", experiment, games[:6])
    keep(tmp_path / "[other]", experiment, games[3:])
    other_seeds = attrs.evolve(experiment, seed=experiment.seed + 1)
    keep(tmp_path / "seed", other_seeds, games[:2])
    assert query(tmp_path, "SELECT count(*) FROM games")[1] == [(len(games) + 2,)]


def test_rows_that_are_being_written_are_not_packed(tmp_path, experiment, monkeypatch):
    games = list(invented(experiment, 3))
    run = keep(tmp_path, experiment, games[:2])
    with (
        store.RunLedger(run, experiment) as ledger,
        pytest.raises(ValueError, match="another process is writing to"),
    ):
        store.pack(run / RESULTS)
    write_whole, begun = ledgers.write_whole, list[store.RunLedger]()

    def begin_to_write(path, content):
        write_whole(path, content)
        if not begun:  # another process comes while the first of two files is new
            begun.append(store.RunLedger(run, experiment))

    monkeypatch.setattr(ledgers, "write_whole", begin_to_write)
    with pytest.raises(ValueError, match="another process is writing to"):
        store.pack(run / RESULTS)
    with begun[0] as ledger:
        for game in games[2:]:
            ledger.keep(game)
    assert played(run) == len(games)


@pytest.mark.parametrize(
    "damaged", [b"", b"no gzip", gzip.compress(b'{"cell":"x","check":"00000000"}\n')]
)
def test_what_is_damaged_is_not_packed_and_stays_as_it_is(tmp_path, experiment, damaged):
    run = keep(tmp_path, experiment, invented(experiment, 2))
    store.pack(run / RESULTS)
    packed_path(run / RESULTS).write_bytes(damaged)
    before = {path: path.read_bytes() for path in run.iterdir()}
    with pytest.raises(ValueError, match=f"{RESULTS}.gz(, line 1)?(: damaged| is damaged)"):
        store.pack(run / RESULTS)
    assert {path: path.read_bytes() for path in run.iterdir()} == before


def test_a_game_counts_once_where_packing_was_killed(tmp_path, experiment, monkeypatch):
    run = keep(tmp_path, experiment, invented(experiment, 2))
    count = played(run)

    def kill(path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Path, "unlink", kill)
        store.pack(run / RESULTS)
    assert packed_path(run / RESULTS).exists()
    assert (run / RESULTS).exists()
    assert played(run) == count
    assert query(run, "SELECT count(*) FROM games")[1] == [(count,)]


# -------------------------------------------------------------------------------------------------------------- growing

RAVE, MAST = {"RAVE": "RAVE"}, {"MAST": "BASELINE >> MAST"}
GROWN = {
    "trials": {"trials": 6},
    "agents": {"agents": MAST | RAVE},
    "games": {"games": ["knockout-whist", "othello"]},
    "all": {"trials": 6, "agents": MAST | RAVE, "games": ["knockout-whist", "othello"]},
}


def growing(**changes):
    return build(
        {
            "name": "mine",
            "games": ["othello"],
            "trials": 4,
            "iterations": 20,
            "agents": RAVE,
            **changes,
        }
    )


@pytest.mark.parametrize("changes", GROWN.values(), ids=GROWN)
@pytest.mark.parametrize("packed", [False, True])
def test_a_run_that_grows_keeps_its_rows_and_plays_what_is_new(tmp_path, changes, packed):
    before, after, grown = Invented(), Invented(), growing(**changes)
    play(growing(), tmp_path, before)
    first = list(rows(tmp_path, growing()))
    if packed:
        store.pack(tmp_path / RESULTS)
        first = with_digests(first)
    play(grown, tmp_path, after)
    assert not set(before.played) & set(after.played)
    assert {*before.played, *after.played} == {(cell.key, trial) for cell, trial in grown.games()}
    assert list(rows(tmp_path, grown))[: len(first)] == first
    assert experiment_in(tmp_path) == grown
    assert played(tmp_path) == len(before.played) + len(after.played)
    assert all(grown.game_seed(cell, 0) == growing().game_seed(cell, 0) for cell in growing().cells)


@pytest.mark.parametrize(
    "changes, message",
    [
        ({"trials": 3}, "trials is 4 there and 3 here"),
        ({"name": "other"}, "name is 'mine' there and 'other' here"),
        ({"trials": 9, "seed": 1}, "seed is 0 there and 1 here"),
        ({"trials": 9, "paired": True}, "paired is False there and True here"),
        ({"games": ["knockout-whist"]}, "game is othello there and knockout-whist here"),
        ({"iterations": 21}, "iterations is 20 there and 21 here"),
        ({"agents": MAST, "trials": 9}, "its agents are different"),
    ],
)
def test_what_does_not_extend_a_run_is_refused_and_changes_nothing(tmp_path, changes, message):
    play(growing(), tmp_path, Invented())
    before = contents(tmp_path)
    with pytest.raises(
        ValueError, match=f"belongs to another run: {message}; choose another directory"
    ):
        play(growing(**changes), tmp_path, Invented())
    assert contents(tmp_path) == before


def test_a_sequential_test_has_its_trials_once_and_for_all():
    both = {"agents": {**RAVE, "even": "BASELINE"}, "sprt": True}
    less, grown = growing(**both), growing(**both, trials=8)
    assert not extends(grown, less)
    assert difference(less, grown) == "trials is 4 there and 8 here"
    assert extends(growing(**both | {"agents": both["agents"] | MAST}), less)


def test_where_a_python_file_lies_is_no_part_of_a_run_but_what_it_holds_is(tmp_path):
    def elsewhere(folder: str, digest: str = "3f"):
        cells = [
            attrs.evolve(
                cell, module=f"{folder}/mine.py", source=digest, imports=((f"{folder}/b.py", "7a"),)
            )
            for cell in growing().cells
        ]
        return attrs.evolve(growing(), cells=tuple(cells))

    here, there = tmp_path / "here", tmp_path / "there"
    keep(here, elsewhere("/a"), [a_row(growing().cells[0], 0)])
    keep(there, elsewhere("/moved/a"), [a_row(growing().cells[0], 1)])
    assert merge(tmp_path / "both", [here, there]) == (2, 2)
    assert not extends(elsewhere("/a"), elsewhere("/a", "4f"))
    assert not extends(attrs.evolve(elsewhere("/a"), seed=3), elsewhere("/a"))


def test_runs_are_merged_with_what_has_grown(tmp_path):
    old, new, out = tmp_path / "old", tmp_path / "new", tmp_path / "out"
    play(growing(), old, Invented())
    play(growing(**GROWN["agents"]), new, Invented())
    write_unchecked(old)
    assert merge(out, [old, new]) == (8, 8)
    both = results_of(old, out)  # a game of both counts once
    assert sum(count for _, count in both.provenance) == both.most == 8
    play(growing(**GROWN["all"]), out, Invented())
    assert merge(out, [old]) == (0, 24)
    assert store.count_unchecked(out) == 0  # they are written anew
    keep(tmp_path / "other", attrs.evolve(growing(), seed=3), [])
    with pytest.raises(
        ValueError,
        match="other is a run of another experiment: seed is 3 there and 0 in those before",
    ):
        merge(out, [old, tmp_path / "other"])
    write_unchecked(old, lambda games: games[2]["actions"][0].reverse())
    with pytest.raises(
        ValueError, match="trial 2 of RAVE in othello was played differently in .*new and in .*old"
    ):
        merge(tmp_path / "none", [new, old])
    assert not (tmp_path / "none").exists()


# --------------------------------------------------------------------------------------------------------------- damage


def reads_of(directory, experiment):
    return (
        lambda: list(rows(directory, experiment)),
        lambda: keep(directory, experiment, []),
        lambda: played(directory),
    )


DAMAGED = {
    "no object": '{"cell": ',
    "empty": "",
    "zeros": "\0\0\0",
    "list": "[]",
    "deep": "[" * 100_000,
    "no field": "{}",
    "seconds": lambda row: row.update(seconds=1e308),
    "no number": lambda row: row.update(seconds=float("nan")),
    "depth": lambda row: row["statistics"]["agent"].update(depth=1e308),
    "reward": lambda row: row.update(reward=7.0),
    "returns": lambda row: row.update(returns=[1e308, 0.0]),
    "started": lambda row: row.update(started="yesterday"),
    "unknown field": lambda row: row.update(colour="red"),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_damage_is_told_with_file_and_line_and_nothing_is_overwritten(
    directory, experiment, damage
):
    path = directory / RESULTS
    if callable(damage):
        write_unchecked(directory, lambda games: damage(games[1]))
    else:
        lines = path.read_text().splitlines()
        path.write_text("\n".join([lines[0], damage, lines[2], ""]))
    before = path.read_bytes()
    for reading in reads_of(directory, experiment):
        with pytest.raises(ValueError, match=re.escape(f"{path}, line 2: damaged")):
            reading()
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "changes", [{"trial": TRIALS}, {"trial": -1}, {"cell": "0123456789abcdef"}]
)
def test_a_game_of_another_experiment_is_damage(directory, experiment, changes):
    write_unchecked(directory, lambda games: games[1].update(changes))
    for reading in reads_of(directory, experiment):
        with pytest.raises(ValueError, match="not a game of this experiment"):
            reading()


def test_any_digit_or_bit_that_flips_is_told_with_its_line_or_changes_nothing(
    directory, experiment
):
    path, generator = directory / RESULTS, random.Random(5)
    whole, games = path.read_bytes(), list(rows(directory, experiment))
    digits = [i for i, letter in enumerate(whole) if letter in b"0123456789"]
    for place in generator.sample(digits, 60):
        digit = generator.choice([digit for digit in b"0123456789" if digit != whole[place]])
        path.write_bytes(whole[:place] + bytes([digit]) + whole[place + 1 :])
        with pytest.raises(ValueError, match=f"line {whole[:place].count(10) + 1}: "):
            list(rows(directory, experiment))
    for _ in range(100):
        content = bytearray(whole)
        content[generator.randrange(len(content) - 1)] ^= 1 << generator.randrange(8)
        path.write_bytes(content)
        try:
            assert list(rows(directory, experiment)) == games
        except ValueError as error:
            assert "damaged" in str(error)


def test_games_from_before_checksums_are_read_and_counted(directory, experiment, call):
    games = list(rows(directory, experiment))
    write_unchecked(directory)
    assert list(rows(directory, experiment)) == games
    keep(directory, experiment, [a_row(experiment.cells[0], GAMES)])
    assert store.count_unchecked(directory) == GAMES
    sentence = f"{GAMES} games have no checksum, because they are older than the checksums"
    assert sentence in state_of(results_of(directory), running=False)
    assert sentence in call("verify", directory, "--sample", 1)[2]


@pytest.mark.parametrize(
    "text",
    [
        '{"format": 1, "name": "figure4"}',
        '{"format": 2}',
        "[]",
        "",
        '{"format": 1, "seed": Infinity}',
    ],
)
def test_damaged_settings_are_told_in_one_sentence(directory, call, text):
    (directory / store.EXPERIMENT).write_text(text)
    code, _, errors = call("status", directory)
    assert code == 2
    assert errors.count("\n") == 1
    assert errors.startswith(f"experiments: {directory / store.EXPERIMENT} is damaged: ")


# ---------------------------------------------------------------------------------------------------------------- sums


def searches(generator):
    means = {"visits": 20, "value": 1, "depth": 9}
    agent = {name: round(generator.uniform(0, most), 6) for name, most in means.items()}
    return {"agent": {"decisions": 9, **agent, "iterations": 20.0, "seconds": 0.1}, "opponents": {}}


def invented(experiment, trials, seed=1):
    generator = random.Random(seed)
    for trial in range(trials):
        for cell in experiment.cells:
            yield a_row(
                cell,
                trial,
                win=generator.random() < 0.5,
                statistics=searches(generator),
                seconds=round(generator.uniform(0, 9), 6),
                actions=[[i % 2, generator.randrange(65)] for i in range(60)],
            )


def test_the_sums_are_those_of_the_rows_whatever_their_order(tmp_path, experiment):
    games = list(invented(experiment, TRIALS))
    one = keep(tmp_path / "one", experiment, games)
    other = keep(tmp_path / "other", experiment, random.Random(2).sample(games, len(games)))
    tallies = results_of(one).tallies()
    assert tallies == results_of(other).tallies() == results_of(one, other).tallies()
    for tally in tallies:
        mine = [row for row in games if row["cell"] == tally.cell.key]
        assert (tally.games, tally.wins) == (len(mine), sum(row["win"] for row in mine))
        assert tally.seconds == sum(round(row["seconds"] * MILLION) for row in mine) / MILLION
        for name in ("visits", "value", "depth"):
            values = [row["statistics"]["agent"][name] for row in mine]
            moments = tally.moments[name]
            assert moments.total == sum(round(value * MILLION) for value in values)
            assert moments.mean == pytest.approx(numpy.mean(values))
            assert moments.error == pytest.approx(
                numpy.std(values, ddof=1) / numpy.sqrt(len(values))
            )


def test_on_the_same_deals_enhancements_are_compared_deal_by_deal(tmp_path, no_pictures):
    """Of the third deal one agent has not played."""
    experiment = all_of_table_1(paired=True)
    last = experiment.cells[-1]
    games = [
        (cell, trial)
        for cell in experiment.cells
        for trial in range(3)
        if (cell, trial) != (last, 2)
    ]
    wins = (a_row(cell, trial, win=trial == 0 or "NAST" in cell.spec.text) for cell, trial in games)
    write(keep(tmp_path, experiment, wins))
    page = (tmp_path / "report.md").read_text()
    # by t of one degree of freedom, 12.706, seven times as wide
    assert "| Othello | NAST | +50.0 % | −100.0 % to +100.0 % | 2 |" in page
    assert "| Othello | RAVE | +0.0 % | −84.2 % to +84.2 % | 2 |" in page
    assert "The agents on the same deals" not in page  # 120 pairs


def test_mcnemar_s_test_detects_differences_of_the_deals_that_both_played(tmp_path, no_pictures):
    """Of two agents that win all the one has 100 games: of 4 deals 2.8 (1 / 4) is 70.0 %."""
    experiment = built(agents=["BASELINE", "RAVE"], trials=100, paired=True)
    games = (
        a_row(cell, trial)
        for cell, trial in experiment.games()
        if trial < 4 or not cell.is_opponent
    )
    write(keep(tmp_path, experiment, games))
    assert "| RAVE | 0 | 0 | 1.0000 | 70.0 % |" in (tmp_path / "report.md").read_text()


def test_the_averages_of_figure_3_are_told_and_all_tables_written_for_papers(
    tmp_path, call, no_pictures
):
    """By hand: of 32 games each the six of MAST alone are won besides those with NAST; 24 % is 1.96 (1 / 64)^(1/2)."""
    experiment = all_of_table_1()
    wins = (a_row(cell, trial, win="NAST" in cell.spec.text) for cell, trial in experiment.games())
    code, out, _ = call("report", keep(tmp_path, experiment, wins), "--tables")
    words = " ".join(out.split())
    assert code == 0
    assert "Othello NAST 0 of 32 (0.0 %) 32 of 32 (100.0 %)" in words
    assert words.count(" are won in") == 1
    assert (
        "With NAST +100 % of the games are won in Othello (95 % interval +85 to +100 %)." in words
    )
    assert "With 32 games a side an effect below 24 % is not seen. Agent Strategy" in words
    header, first, *_ = (
        next((tmp_path / "tables").glob("*-averages-over-*.csv")).read_text().splitlines()
    )
    assert header == "Game,Enhancement,without,with,more"
    assert first == "Othello,NAST,0 of 32 (0.0 %),32 of 32 (100.0 %),+100 % (+85 to +100)"
    table = min((tmp_path / "tables").glob("*-othello.tex")).read_text()
    assert "\\begin{tabular}{llrrrrrr}" in table
    assert "N & BASELINE $\\gg$ NAST2 & 4 & 4 & 100.0 \\% & " in table
    names = set((tmp_path / "tables").iterdir())
    (tmp_path / "tables/99-of-before.csv").touch()
    call("report", tmp_path, "--tables")
    assert set((tmp_path / "tables").iterdir()) == names


def test_findings_stand_first_by_size_and_what_is_not_found_says_how_large_it_would_be(
    tmp_path, no_pictures
):
    """By hand: of 40 games N wins all, R 6 and the others 20 each, who are no findings.

    Their rate is 1/2; 15 comparisons have z = 2.935, a chance of 80 % 0.842, and 3.777 (0.5 / 40)^(1/2) is 42.2 %. Searches of N take
    twice the time; in the first game something is compiled.
    """
    experiment = all_of_table_1(40)
    wins = {"BASELINE >> NAST2": 40, "RAVE": 6}
    side = {"visits": 1, "value": 0.5}
    side |= {"depth": 3, "iterations": 20, "decisions": 4}
    rows = []
    for cell, trial in experiment.games():
        seconds = 60 if trial == 0 else 1.0 if cell.agent == "N" else 0.5
        searches = {"agent": side | {"seconds": seconds}, "opponents": {}}
        is_won = trial < wins.get(cell.spec.text, 20)
        rows.append(a_row(cell, trial, win=is_won, statistics=searches))
    write(keep(tmp_path, experiment, rows), table=True)
    page = (tmp_path / "report.md").read_text()
    findings = page.split("## Findings")[1].split("\n## ")[0]
    assert findings.index("| Othello | N | +50.0 % of games won |") < findings.index(
        "| Othello | R | −35.0 %"
    )
    assert "| Othello | M |" not in findings
    assert "Of the other 13 none shows a difference" in findings
    lines = page.splitlines()
    assert next(line for line in lines if line.startswith("| M | ")).endswith(
        "| 1.0000 | 42.2 % | 100 % |"
    )
    assert next(line for line in lines if line.startswith("| N | ")).endswith(
        "| < 0.0001 |  | 50 % |"
    )
    shown = (tmp_path / "table.md").read_text()
    assert "† p < 0.05, ‡ p < 0.001. p: Fisher's exact test against BASELINE itself" in shown
    assert "| Agent | Othello |" in shown
    assert "| BASELINE | 50.0 (34–66) |" in shown
    assert "| BASELINE >> NAST2 | 100.0 (91–100)‡ |" in shown
    assert "RAVE & 15.0 (6--30)$^\\dagger$ \\\\" in (tmp_path / "table.tex").read_text()


def test_agents_that_differ_in_their_iterations_alone_are_not_mixed_up(tmp_path, call, no_pictures):
    agents = {"usual": "RAVE", "few": {"strategy": "RAVE", "iterations": 2}}
    experiment = built(agents=agents, iterations=20)
    games = (a_row(cell, trial, win=cell.agent == "usual") for cell, trial in experiment.games())
    code, out, _ = call("report", keep(tmp_path, experiment, games), "--table")
    assert code == 0
    assert "few RAVE (2 iterations)" in " ".join(out.split())
    shown = (tmp_path / "table.md").read_text()
    assert "| RAVE | 100.0 (40–100) |" in shown
    assert "| RAVE (2 iterations) | 0.0 (0–60) |" in shown


@pytest.mark.slow
def test_a_report_of_many_rows_needs_little_time_and_memory(tmp_path):
    experiment = all_of_table_1(MANY_ROWS // 16)
    lines = [json.dumps(row, separators=(",", ":")) for row in invented(experiment, 64)]
    with (keep(tmp_path, experiment, []) / RESULTS).open("w") as file:
        for i in range(MANY_ROWS):
            line = i % len(lines)
            file.write(
                lines[line].replace(f'"trial":{line // 16},', f'"trial":{i // 16},', 1) + "\n"
            )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    call = [sys.executable, "-m", "experiments", "report", tmp_path]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # of the processor: other work shares the machine
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    kibibytes = after.ru_maxrss
    print(f"\n{seconds:.1f} s, {kibibytes / 1024:.0f} MiB")
    assert done.returncode == 0, done.stderr
    assert f"{MANY_ROWS} of {MANY_ROWS} games played." in (tmp_path / "report.md").read_text()
    assert seconds < SECONDS
    assert kibibytes * 1024 < GIBIBYTE


# --------------------------------------------------------------------------------------------------------------- queries


@pytest.mark.parametrize("name", ["run[1]", "run*", "run?", "run{1,2}", "it's"])
def test_a_directory_with_brackets_in_its_name_is_itself(tmp_path, experiment, name):
    keep(tmp_path / "run1", experiment, [a_row(experiment.cells[0], trial) for trial in range(3)])
    keep(tmp_path / name, experiment, [a_row(experiment.cells[0], trial) for trial in range(7)])
    assert played(tmp_path / name) == 7
    assert query(tmp_path / name, "SELECT count(*) FROM games")[1] == [(7,)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{secret}', header = false)",
        "SELECT * FROM '{secret}'",
        "COPY games TO '{out}'",
        "COPY (SELECT 1) TO '{rows}'",
        "ATTACH '{out}' AS other",
        "EXPORT DATABASE '{out}'",
        "SET enable_external_access = true",
        "INSTALL httpfs",
        "SELECT * FROM content",
    ],
)
def test_a_query_sees_nothing_but_the_games(directory, tmp_path, sql):
    secret, out = tmp_path / "secret.csv", tmp_path / "out"
    secret.write_text("password\n")
    before = contents(directory)
    content = [("of", "this process")]  # a name that a query may not see either
    with pytest.raises(ValueError):
        query(directory, sql.format(secret=secret, out=out, rows=directory / RESULTS))
    assert contents(directory) == before
    assert not out.exists()
    assert content
