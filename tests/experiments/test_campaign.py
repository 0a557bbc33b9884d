"""The campaign: which block comes next, and that no game is lost or played by other sources than the tag's."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import attrs
import numpy as np
import pytest

from experiments.analysis import claims, order, simulation
from experiments.analysis.comparisons import AGREES, UNDECIDED, Estimator, higher, place_of
from experiments.analysis.predictive import PredictivePower, predicted_interims
from experiments.analysis.verdicts import Interim, all_of, decide
from experiments.plan import loading
from experiments.plan.campaign import BACKGAMMON, CAMPAIGN, FIRST, INTERIM_GAMES, SHARES, USUAL
from experiments.plan.definition import Refusal
from experiments.play import campaign as at_work
from experiments.play.campaign import Campaign, clone, pack, restore, sizes_of
from experiments.store import rows as store
from experiments.store.results import results_of
from experiments.store.summary import MILLION, STATISTICS, Moments
from tests.conftest import child_process
from tests.experiments.conftest import a_row

SMALL = dict.fromkeys(INTERIM_GAMES, (2, 3, 4, 5))


class Inventing:
    """Players whose games take no time; some stop in the middle."""

    def __init__(self, stop_after=None, win=lambda game: game.trial % 2 == 0):
        self.left, self.win, self.games = stop_after, win, []

    def play(self, games):
        for game in games:
            if self.left == 0:
                raise KeyboardInterrupt
            self.left = None if self.left is None else self.left - 1
            self.games.append((game.cell.key, game.trial))
            yield a_row(game.cell, game.trial, seed=list(game.seed), win=self.win(game))


def small(tmp_path: Path, name: str = "rows") -> Campaign:
    return Campaign(tmp_path / name, tmp_path / "kept", iterations=5, sizes=SMALL)


def test_the_campaign_is_section_8_at_the_papers_size():
    campaign = Campaign(Path("rows"), Path("kept"))
    cells = [cell for game in FIRST for cell in campaign.experiment(game).cells]
    assert len(cells) == 140 and {cell.column.iterations for cell in cells} == {5000}
    assert {cell.key for cell in cells} == {cell.key for cell in loading.load("section8", {}).cells}
    assert campaign.experiment("othello").trials == 1000 and campaign.experiment("backgammon").trials == 250
    assert {place_of(cell) for cell in cells} == set(INTERIM_GAMES)
    assert (USUAL[0], BACKGAMMON[0]) == (200, 100)


def test_first_every_cell_is_taken_to_its_first_look_game_by_game():
    cells = [cell for game in FIRST for cell in Campaign(Path("r"), Path("k")).experiment(game).cells]
    games = dict.fromkeys(cells, 0)
    for name in FIRST:
        block = order.first_block(games)
        assert {cell.column.game for cell in block.cells} == {name}
        assert block.trials == (100 if name == "backgammon" else 200)
        games |= dict.fromkeys(block.cells, block.trials)
    assert order.first_block(games) is None


def state_of(rate, claim, seconds=lambda cell: 60.0):
    """A campaign at its first interim analysis."""
    tallies = []
    for cell, place, agent in simulation.agents():
        size = INTERIM_GAMES[place][0]
        tally = claims.Tally(cell, size, round(rate(place, agent) * size))
        tallies.append(tally)
    interims = [Interim(Estimator([] if number else tallies), share) for number, share in enumerate(SHARES)]
    games = {tally.cell: tally.games for tally in tallies}
    return order.State(games, {cell: seconds(cell) for cell in games}, [decide(claim, interims)], interims)


def test_the_plan_that_decides_most_for_a_core_hour_comes_next():
    othello, checkers = claims.OTHELLO, claims.CHECKERS
    othello_claim, checkers_claim = (
        all_of("", [claims.versus(place, "N", higher(claims.CELL), "-")]) for place in (othello, checkers)
    )

    def rate(place, agent):
        return 0.5 + (0.1 if agent == "N" else 0.0)

    def state(seconds):
        states = [state_of(rate, claim, seconds) for claim in (othello_claim, checkers_claim)]
        return attrs.evolve(states[0], decisions=[each.decisions[0] for each in states])

    for slow, place in (("othello", checkers), ("checkers", othello)):
        block = order.next_block(state(lambda cell, slow=slow: 600.0 if cell.column.game == slow else 60.0))
        (cell,) = block.cells
        assert place_of(cell) == place and cell.agent in ("N", "-") and block.trials == 400


def test_a_plan_counts_all_statements_that_it_decides():
    """Two statements of the same cells decide twice as many as one, and so come before a cheaper third."""
    othello, checkers = claims.OTHELLO, claims.CHECKERS
    claim = all_of("", [claims.versus(othello, "N", higher(claims.CELL), "-")])
    third = all_of("", [claims.versus(checkers, "N", higher(claims.CELL), "-")])

    def state(*listed):
        states = [
            state_of(
                lambda place, agent: 0.6 if agent == "N" else 0.5,
                claim,
                lambda cell: 60.0 if cell.column.game == "othello" else 40.0,
            )
            for claim in listed
        ]
        return attrs.evolve(states[0], decisions=[each.decisions[0] for each in states])

    assert place_of(order.next_block(state(claim, third)).cells[0]) == checkers
    first, *_ = order.plans(state(claim, claim, third))
    assert {place_of(cell) for cell in first.cells} == {othello} and first.decided == pytest.approx(2 * first.chance)


def test_one_case_of_several_may_be_played_by_itself():
    """A statement that one contradiction is enough against needs no games where none is to be expected."""
    places = (claims.OTHELLO, claims.CHECKERS)
    claim = all_of("", [claims.versus(place, "N", higher(claims.CELL), "-") for place in places])

    def rate(place, agent):
        return 0.5 if agent == "-" else 0.46 if place == claims.CHECKERS else 0.55

    (plan,) = order.plans(state_of(rate, claim))
    assert {place_of(cell) for cell in plan.cells} == {claims.CHECKERS}


def test_a_statement_that_is_decided_needs_no_more_games():
    claim = all_of("", [claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-")])
    state = state_of(lambda place, agent: 0.8 if agent == "N" else 0.5, claim)
    assert state.decisions[0].verdict == AGREES and order.next_block(state) is None


@pytest.mark.parametrize("interim", [2, 3, 4])
def test_the_chance_of_a_decision_is_that_of_playing_on(interim):
    """A comparison that stands at 9 % after 200 games: the share of repetitions in which it is decided by a later interim analysis."""
    comparison = claims.versus(claims.OTHELLO, "N", higher(claims.CELL), "-")
    claim = all_of("", [comparison])
    state = state_of(lambda place, agent: 0.59 if agent == "N" else 0.5, claim)
    counts = {(place_of(cell), cell.spec.text): 1 for cell in state.games}
    power = PredictivePower([claim], predicted_interims(counts, state.interims, INTERIM_GAMES))
    random, decided = np.random.default_rng(1), 0
    cells = {agent: cell for cell, place, agent in simulation.agents() if place == claims.OTHELLO and agent in "N-"}
    for _ in range(500):
        rates = {agent: random.beta(wins + 0.5, 200.5 - wins) for agent, wins in (("N", 118), ("-", 100))}
        wins, games, played = {"N": 118, "-": 100}, 200, [state.interims[0]]
        for size, share in zip(USUAL[1:interim], SHARES[1:interim], strict=True):
            wins = {agent: count + random.binomial(size - games, rates[agent]) for agent, count in wins.items()}
            games = size
            tallies = [claims.Tally(cells[agent], size, count) for agent, count in wins.items()]
            played.append(Interim(Estimator(tallies), share))
        decided += decide(claim, played).verdict != UNDECIDED
    assert power.chance(1, [interim]) == pytest.approx(decided / 500, abs=0.08)


def test_what_is_drawn_of_the_searches_continues_their_statistics():
    """Means of later interim analyses lie around those so far, as far as these are known."""
    cell = next(cell for cell, place, agent in simulation.agents() if place == claims.OTHELLO and agent == "N")
    depth = Moments(200, round(200 * 8.0 * MILLION), round(200 * (8.0**2 + 1.0) * MILLION**2))
    tally = claims.Tally(cell, 200, 118, moments={name: depth for name in STATISTICS})
    state = [Interim(Estimator([tally] if number == 0 else []), share) for number, share in enumerate(SHARES)]
    interims = predicted_interims({(claims.OTHELLO, cell.spec.text): 1}, state, INTERIM_GAMES)
    last = interims[-1].estimator.tally(claims.OTHELLO, cell.spec.text)
    means = last.moments["depth"].mean
    assert last.games == 1000 and np.mean(means) == pytest.approx(8.0, abs=0.02)
    assert np.std(means) == pytest.approx((0.8**2 / 200 + 800 / 1000**2) ** 0.5, rel=0.15)


def test_stopped_and_continued_elsewhere_the_campaign_plays_the_same_games_in_the_same_order(tmp_path, monkeypatch):
    """Stopped in the middle of a game's first interim analysis, and of the first block that the rows choose."""
    monkeypatch.setattr(claims, "CLAIMS", claims.CLAIMS[6:8])  # plans for 37 statements take seconds
    sizes = dict.fromkeys(INTERIM_GAMES, (2, 4, 5, 6))
    firsts = 2 * 20 * len(INTERIM_GAMES)
    whole, players = Inventing(), [Inventing(stop_after=101), Inventing(stop_after=firsts + 1 - 101), Inventing()]
    at_work.run(attrs.evolve(small(tmp_path / "whole"), sizes=sizes), whole, blocks=len(FIRST) + 2)
    for number, player in enumerate(players):
        campaign = attrs.evolve(small(tmp_path, f"machine {number}"), sizes=sizes)
        with pytest.raises(KeyboardInterrupt) if player.left else contextlib.nullcontext():
            at_work.run(campaign, player, blocks=2 if number == 2 else None)
    together = [game for player in players for game in player.games]
    assert len(whole.games) == firsts + 4 and together == whole.games
    with results_of(*(tmp_path / "kept" / game for game in FIRST)) as results:
        assert sum(tally.games for tally in results.tallies()) == len(together)


def test_the_packed_rows_can_be_read_while_the_campaign_goes_on(tmp_path):
    campaign = small(tmp_path)
    at_work.run(campaign, Inventing(), blocks=1)
    experiment = store.experiment_in(campaign.copies / "dou-di-zhu")
    assert experiment.name == CAMPAIGN and len(list(store.rows(campaign.copies / "dou-di-zhu", experiment))) == 40
    before = (campaign.copies / "dou-di-zhu" / store.PACKED).read_bytes()
    with results_of(campaign.copies / "dou-di-zhu") as results:
        (decisions,) = claims.decisions(results).values()
    assert {outcome.estimate for each in decisions for outcome in each.outcomes} == {
        None
    }  # no cell has come to an interim analysis
    pack(campaign)
    assert (campaign.copies / "dou-di-zhu" / store.PACKED).read_bytes() == before
    assert restore(small(tmp_path, "other")) == 40 and restore(campaign) == 0


def test_looks_that_are_none_are_refused():
    assert sizes_of("") == INTERIM_GAMES and set(sizes_of("2,3,4,5").values()) == {(2, 3, 4, 5)}
    for interims in ("2,3", "5,4,3,2", "2,2,3,4", "a,b,c,d", "2,3,4,5,oops", "0,1,2,3"):
        with pytest.raises(Refusal, match="increasing numbers"):
            sizes_of(interims)


# ------------------------------------------------------------------------------------------------------- a clone of its own


def git(directory: Path, *command: str) -> None:
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", str(directory), *name, *command], check=True, capture_output=True)


def a_repository(directory: Path) -> Path:
    directory.mkdir()
    (directory / "file").write_text("as tagged")
    git(directory, "init", "--quiet")
    git(directory, "add", ".")
    git(directory, "commit", "-m", "one")
    git(directory, "tag", "played")
    (directory / "file").write_text("edited since")
    git(directory, "commit", "-am", "two")
    return directory


def test_the_clone_is_the_repository_at_the_tag(tmp_path):
    repository = a_repository(tmp_path / "repository")
    place = clone("played", tmp_path / "out", repository)
    assert (place / "file").read_text() == "as tagged" and clone("played", tmp_path / "out", repository) == place
    with pytest.raises(Refusal, match="no tag 'other'.*git tag other"):
        clone("other", tmp_path / "out", repository)
    (place / "file").write_text("edited in the clone")
    with pytest.raises(Refusal, match="is not the repository at played"):
        clone("played", tmp_path / "out", repository)


def test_the_session_that_a_campaign_is_started_from_keeps_its_priority():
    code = (
        "import os; from experiments.play import campaign as c; c.lower_session(); print(os.getsid(0) == os.getpid())"
    )
    before = at_work.AUTOGROUP.read_text() if at_work.AUTOGROUP.exists() else ""
    call = [sys.executable, "-c", code]
    done = subprocess.run(call, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"
    assert not before or at_work.AUTOGROUP.read_text() == before


@pytest.mark.slow
def test_a_campaign_that_is_killed_goes_on_without_losing_a_game(tmp_path):
    """The whole command on a tag of this repository's present commit."""
    repository = at_work.REPOSITORY
    git(repository, "tag", "--force", "campaign-of-the-tests")
    call = [
        sys.executable,
        "-m",
        "experiments",
        "campaign",
        "--tag",
        "campaign-of-the-tests",
        "--out",
        "out",
        "--copies",
        "kept",
    ]
    call += ["--iterations", "5", "--interims", "2,3,4,5", "--workers", "2"]
    environment = {**os.environ, "PYTHONPATH": str(repository)}
    rows = tmp_path / "out" / at_work.ROWS / "dou-di-zhu" / store.RESULTS
    try:
        for number, kill in ((5, signal.SIGKILL), (15, signal.SIGINT)):
            with child_process(call, cwd=tmp_path, env=environment, stderr=subprocess.PIPE) as process:
                until = time.monotonic() + 150
                while not rows.exists() or len(rows.read_bytes().splitlines()) < number:
                    assert process.poll() is None and time.monotonic() < until
                    time.sleep(0.1)
                process.send_signal(kill)
                process.communicate(timeout=60)
        done = subprocess.run(
            [*call, "--blocks", "1"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
    finally:
        git(repository, "tag", "--delete", "campaign-of-the-tests")
    assert "20 cells to 2 games each" in done.stderr
    copied_rows = list(
        store.rows(tmp_path / "kept" / "dou-di-zhu", store.experiment_in(tmp_path / "kept" / "dou-di-zhu"))
    )
    assert len(copied_rows) == 40 and len({row["provenance"]["commit"] for row in copied_rows}) == 1


def test_an_experiment_of_the_campaign_differs_from_section_8_in_name_only():
    mine = Campaign(Path("r"), Path("k")).experiment("othello")
    theirs = loading.load("section8", {"games": ["othello"], "seed": mine.seed})
    assert attrs.evolve(theirs, name=CAMPAIGN) == mine
