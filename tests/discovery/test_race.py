"""Races: the same seed, the same race; a killed one goes on and ends alike; no deal of the proof is met before the freeze."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import attrs
import msgspec
import numpy as np
import pytest

from experiments import races, replay
from experiments.commands import main
from experiments.plan.refusal import Refusal
from experiments.races import read_protocol
from icarus import BASELINE, games, in_python, load_files
from icarus.arena.ledger import key_of, line_of, read_rows
from icarus.arena.player import Entrant
from icarus.discovery.discover import (
    check_strategies,
    discover,
    discovered,
    plan_race,
    proven_configurations,
)
from icarus.discovery.finders import Factorial
from icarus.discovery.race import (
    KEY,
    PROOF,
    USELESS,
    Discovery,
    RaceGames,
    detectable,
    explore,
    plan_units,
    text_of,
)
from icarus.discovery.space import SearchSpace
from icarus.load_files import digest_of
from icarus.statistics import Estimate

FACTORS = {"tree": ("baseline({c})", "RAVE"), "c": (0.7, 2.0), "simulation": ("MAST", "NAST2")}
SPACE = SearchSpace("{tree} >> {simulation}", FACTORS, "small")
SETTINGS: dict[str, Any] = {
    "space": SPACE,
    "games": 340,
    "iterations": 4,
    "finalists": 2,
    "against": ("BASELINE", "baseline(2.0) >> NAST2"),
    "level": 0.05,
}


def race(to: Path | None = None, **changes) -> Discovery:
    return discover("kuhn-poker", to=to, **{**SETTINGS, **changes})


@pytest.fixture(scope="module")
def finished_race(tmp_path_factory):
    directory = tmp_path_factory.mktemp("race") / "whole"
    return race(directory), directory


@pytest.mark.slow
def test_the_same_seed_gives_the_same_race(finished_race):
    discovery, _ = finished_race
    again = race()
    assert again.proofs == discovery.proofs
    assert again.ablations == discovery.ablations
    assert race(seed=1).protocol.digest != discovery.protocol.digest


def test_a_killed_race_goes_on_and_ends_alike(finished_race, tmp_path, monkeypatch):
    discovery, whole = finished_race
    keep, directory, played = RaceGames.keep, tmp_path / "killed", 0

    def kill(self: RaceGames, row) -> None:
        nonlocal played
        keep(self, row)
        played += 1
        if played == 280:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(RaceGames, "keep", kill)
        race(directory)
    with (directory / "games.jsonl").open("ab") as file:
        file.write(b'{"stream":"explo')  # the end of a line that was being written
    assert race(directory).proofs == discovery.proofs
    assert [row["returns"] for row in read_rows(directory / "games.jsonl", KEY)] == [
        row["returns"] for row in read_rows(whole / "games.jsonl", KEY)
    ]
    # no proof before the freeze
    streams = [row["stream"] for row in read_rows(whole / "games.jsonl", KEY)]
    assert streams == sorted(streams, key=["exploration", "proof", "ablation"].index)
    assert {"exploration", "proof"} <= set(streams)


def test_the_protocol_is_written_and_hashed_before_the_first_game(tmp_path, monkeypatch):
    def refuse(match: object) -> None:
        assert read_protocol(tmp_path / "race").digest
        raise LookupError

    monkeypatch.setattr("icarus.discovery.race.race_row", refuse)
    with pytest.raises(LookupError):
        race(tmp_path / "race")


def test_a_race_need_not_report(finished_race):
    discovery, directory = finished_race
    assert race(directory, report=None).proofs == discovery.proofs


def test_a_file_in_place_of_the_directory_is_refused_before_anything_is_searched(tmp_path):
    reports: list[object] = []
    file = tmp_path / "file"
    file.touch()
    for directory in (file, file / "race"):
        with pytest.raises(ValueError, match=f"cannot be a directory, since {file} is a file"):
            race(directory, report=reports.append)
    assert not reports


def test_another_race_in_the_directory_is_refused(finished_race, tmp_path):
    _, directory = finished_race
    with pytest.raises(ValueError, match="another race: games is 340 there and 500 here"):
        race(directory, games=500)
    in_another_order = msgspec.structs.replace(SPACE, factors=dict(reversed(FACTORS.items())))
    with pytest.raises(
        ValueError, match="another race: the order of factors is tree, c, simulation there;"
    ):
        race(directory, space=in_another_order)
    text = (directory / "protocol.json").read_text()
    (tmp_path / "protocol.json").write_text(text.replace('"seed": 0', '"seed": 1'))
    with pytest.raises(ValueError, match="changed after the race had started"):
        read_protocol(tmp_path)
    (tmp_path / "protocol.json").unlink()
    (tmp_path / "games.jsonl").touch()
    with pytest.raises(
        ValueError, match=r"has games of another command: there is no protocol\.json in it"
    ):
        race(tmp_path)
    (tmp_path / "protocol.json").write_text(text[:100])
    with pytest.raises(ValueError, match="protocol.json is damaged"):
        race(tmp_path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (None, "is damaged: Expected `object`, got `array`"),
        ({"later": None}, "another race: later is None there and UNSET here"),
    ],
)
def test_a_protocol_that_holds_something_else_is_refused(finished_race, change, message, tmp_path):
    discovery, directory = finished_race
    content = json.loads((directory / "protocol.json").read_text())
    (tmp_path / "protocol.json").write_text(json.dumps([] if change is None else content | change))
    with pytest.raises(ValueError, match=message):
        discovery.protocol.check(tmp_path)
    with pytest.raises(ValueError, match="is damaged|was changed"):
        read_protocol(tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("others", [{"workers": 2}, {"workers": 1, "cluster": "local"}], ids=str)
def test_other_processes_play_the_same_race(finished_race, others):
    discovery, _ = finished_race
    assert discover("kuhn-poker", **others, **SETTINGS).proofs == discovery.proofs


def test_other_processes_find_the_files_wherever_they_have_begun(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("from icarus import MAST as MINE\n")
    protocol = plan_race("kuhn-poker", **SETTINGS, files=["mine.py"])
    learned = Entrant("MAST", evaluation="learned.npz@1f0c2b9a6e55")
    match = RaceGames(protocol, "kuhn-poker").match(PROOF, (Entrant("MINE"), learned), 0, 0)
    assert match.files == ((str(tmp_path / "mine.py"), digest_of("mine.py")),)
    assert [each.evaluation for each in match.entrants] == [
        "",
        str(tmp_path / "learned.npz@1f0c2b9a6e55"),
    ]
    assert match.key[1:3] == ("MINE", str(learned))


def test_the_reference_has_no_difference_to_itself(finished_race):
    reference = Entrant("BASELINE >> MAST")
    with RaceGames(finished_race[0].protocol, "kuhn-poker") as games:
        scores = games.scores(PROOF, [(reference, reference)] * 5, range(5))
        assert scores == [0.5] * 5
        assert len(games.rows) == 5


def test_all_games_prove_a_candidate_that_is_named(finished_race):
    discovery = race(candidate="RAVE   [move_decay = 0.5]", games=120, space="general")
    assert [str(proof.configuration) for proof in discovery.proofs] == ["RAVE   [move_decay = 0.5]"]
    assert discovery.protocol.units == (0, 40, 0)
    assert discovery.proofs[0].difference.count == 40
    assert discovery.games == 120
    assert not discovery.ablations
    assert "reference baseline(2.0) >> NAST2, no exploration" in text_of(discovery)
    assert "pool: BASELINE; baseline(2.0) >> NAST2; at half" in text_of(finished_race[0])
    with pytest.raises(ValueError, match="is the reference that it is to beat"):
        race(candidate="baseline(2.0) >> NAST2")


def test_random_play_and_a_scheme_of_many_trees_are_raced():
    forest = "BASELINE [scheme = DeterminizedUCT(determinizations=60)]"
    for against in ([Entrant()], ["random play"]):
        protocol = plan_race("kuhn-poker", games=120, against=against, candidate=forest)
        check_strategies("kuhn-poker", protocol, lambda report: None)
    discovery = discover(
        "kuhn-poker", games=60, iterations=60, level=0.4, against=[Entrant()], candidate=forest
    )
    assert str(discovery.proofs[0].configuration).split() == forest.split()
    assert discovery.games == 60


def test_the_reference_is_no_finalist_but_in_races_of_the_first_format(finished_race, monkeypatch):
    protocol, games = finished_race[0].protocol, RaceGames(finished_race[0].protocol, "kuhn-poker")
    games.rows |= {key_of(row, KEY): row for row in races.rows_of(finished_race[1])}
    reference, *others = [(0, 1, 1), (0, 0, 0), (0, 0, 1)]
    assert SPACE.configuration(reference) == protocol.reference
    monkeypatch.setattr(Factorial, "finalists", lambda self, number: [reference, *others][:number])
    assert explore(protocol, games, lambda report: None) == others
    written_otherwise = attrs.evolve(protocol, reference=Entrant("baseline(2) >> (NAST2)"))
    assert explore(written_otherwise, games, lambda report: None) == others
    assert explore(attrs.evolve(protocol, format=1), games, lambda report: None) == [
        reference,
        others[0],
    ]


def test_a_second_race_has_deals_of_its_own_and_the_first_races_still_have_theirs():
    protocols = [
        plan_race("kuhn-poker", **{**SETTINGS, "against": [name]}) for name in ("RAVE", "MAST")
    ]
    protocols.append(attrs.evolve(protocols[0], format=1))
    match = (PROOF, (Entrant("MAST"),) * 2, 0, 0)
    first, second, old = (RaceGames(each, "kuhn-poker").match(*match).seed for each in protocols)
    assert first != second
    assert first[:3] == old == (0, PROOF, 0)
    assert [same for _, same in replay.audit(Path("experiments/runs/discovery/othello"), 1, 0)] == [
        True
    ]


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        (
            {"games": 60},
            "proves nothing: each of .* needs .*; give [0-9,]+ games, or fewer finalists",
        ),
        ({"games": 60, "finalists": 1}, "proves nothing: each of .* needs .*; give [0-9,]+ games$"),
        ({"against": ()}, "no opponent"),
        ({"against": ("NOBODY",)}, "no enhancement is called 'NOBODY'"),
        ({"seats": (2,)}, "seats"),
        ({"seats": (0, 0)}, "a seat twice"),
        ({"iterations": 0}, "iterations is 0; it must be an integer of at least 1"),
        ({"iterations": None, "seconds": -1}, "seconds is -1; it must be a real number above 0"),
        ({"space": SearchSpace("BASELINE >> {a}", {"a": ("MAST", "PUCT")}, "bad")}, "PUCT"),
        ({"seconds": 0.1}, "either iterations or seconds"),
        ({"against": [Entrant("BASELINE", iterations=50)]}, "'BASELINE, 50 iterations' has a"),
        (
            {"against": ["MAST [random_moves = 0.5]"], "candidate": "MAST"},
            r"the candidate MAST is the reference MAST   \[random_moves = 0.5\] without its",
        ),
        ({"candidate": "baseline(2)>>NAST2"}, "this makes .*, and so does strategy = baseline"),
        ({"candidate": "RAVE [seconds = 1]"}, "'RAVE, 1.0 s' has a budget of its own"),
    ],
)
def test_what_makes_no_sense_is_refused_before_the_first_game(
    changes, pattern, tmp_path, monkeypatch
):
    monkeypatch.setattr(
        "icarus.discovery.race.race_row", lambda match: pytest.fail("a game was played")
    )
    with pytest.raises(ValueError, match=pattern):
        race(tmp_path / "race", **changes)
    assert not (tmp_path / "race").exists()


def test_numbers_of_numpy_make_the_protocol_that_python_s_own_make():
    own, of_numpy = (
        plan_race(
            "kuhn-poker",
            games=number(8000),
            seconds=real(0.5),
            seats=[number(0), number(1)],
            space=SearchSpace("baseline({c})", {"c": (real(0.7), number(1))}, "s"),
            against=[Entrant("MAST", move_decay=real(0.5), random_moves=real(0.5))],
        )
        for number, real in ((int, float), (np.int64, np.float64))
    )
    assert own.settings() == of_numpy.settings()


@pytest.mark.parametrize("games", [402, 2000])
def test_no_more_games_are_planned_than_are_given(games):
    units = plan_units(games, 3, 1, 27, 0.3, 0.5, 3)
    assert units.exploration * 3 + units.proof * 6 + units.ablation * 28 * 3 <= games
    assert bool(units.ablation) == (games == 2000)


@pytest.mark.parametrize("finalists", [1, 3, 5])
@pytest.mark.parametrize("deviation", [0.2, 0.5, 2.0])
def test_a_budget_that_is_refused_is_told_which_one_would_do(finalists, deviation):
    def planned(games: int) -> tuple[int, int, int]:
        return plan_units(games, 2, finalists, 6, deviation, 0.01, 1)

    with pytest.raises(ValueError, match="proves nothing: each of .*and has 0 units;") as refusal:
        planned(1)
    enough = int(re.search(r"give ([0-9,]+) games", str(refusal.value))[1].replace(",", ""))
    assert detectable(planned(enough)[1], deviation, 0.01 / finalists) <= USELESS
    with pytest.raises(ValueError, match=f"give {enough:,} games"):
        planned(enough - 5)


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        ({"report": True}, "report is True; it must be a function of a RaceProgress"),
        ({"against": "BASELINE"}, "against is 'BASELINE'; it must be a list"),
        (
            {"against": [BASELINE]},
            "who plays must be an Entrant or a str, such as .*, not BASELINE",
        ),
    ],
)
def test_settings_of_another_kind_are_refused_in_a_sentence(changes, pattern):
    with pytest.raises(TypeError, match=pattern):
        race(**changes)


def test_a_game_that_other_processes_cannot_be_given_is_refused_before_it_is_played():
    game = attrs.evolve(in_python(games.load("kuhn-poker")), text=lambda state: "cards")
    with pytest.raises(
        ValueError, match=r"^other processes cannot be given kuhn-poker: .*workers=1$"
    ):
        discover(game, workers=2, **SETTINGS)


@pytest.mark.parametrize(
    ("changes", "pattern"),
    [
        (
            {
                "space": SearchSpace(
                    "{tree} >> {simulation}", FACTORS | {"simulation": ("MAST", "LGRFF")}
                )
            },
            "simulation = LGRFF: .*'LGRFF'",
        ),
        ({"against": ("BASELINE", "BASELIN")}, "no enhancement is called 'BASELIN'"),
        (
            {"against": ("BASELINE", "BASELINE [scheme = DeterminizedUCT(8)]")},
            r"iterations is 4; DeterminizedUCT\(determinizations=8\) needs at least one for each",
        ),
        (
            {
                "space": SearchSpace(
                    "BASELINE", {"s": ("MO_ISMCTS", "DeterminizedUCT(8)")}, scheme="{s}"
                )
            },
            r"the space of one's own at s = DeterminizedUCT\(8\): iterations is 4; .* needs at least",
        ),
        ({"against": ("BASELINE", "BASELINE [scheme = SO_ISMCT]")}, "'SO_ISMCT' is not a scheme"),
    ],
)
def test_what_cannot_be_read_is_refused_before_anything_is_searched(changes, pattern):
    reports: list[object] = []
    with pytest.raises(ValueError, match=pattern):
        race(**changes, report=reports.append)
    assert not reports


def test_everything_in_the_table_can_be_played():
    for line in proven_configurations().values():
        assert str(line.configuration.agent(iterations=1000).strategy)
        assert line.low > 0
        assert line.p < 0.01
    with pytest.raises(ValueError, match="no race has proved anything for 'chess'"):
        discovered("chess")
    with pytest.raises(
        TypeError,
        match="discovered needs the name of a game, such as 'othello', not <game othello>",
    ):
        discovered(games.load("othello"))


def test_kept_races_tell_how_far_they_are_and_are_played_again_from_their_rows(
    finished_race, capsys
):
    discovery, directory = finished_race
    assert main(["status", str(directory)]) == 0
    assert f"{discovery.games} of at most 340 games" in capsys.readouterr().out
    assert races.result_of(directory).proofs == discovery.proofs
    assert main(["verify", str(directory), "--sample", "10"]) == 0
    assert capsys.readouterr().out.count("the same") == 10
    assert main(["verify", str(directory), "--trial", "1"]) == 2
    assert "has games without agents and trials" in capsys.readouterr().err


def test_a_race_is_kept_in_the_table_beside_those_of_other_games(
    finished_race, tmp_path, monkeypatch, capsys
):
    discovery, directory = finished_race
    table = Path(races.discovery.__file__).parent / races.TABLE
    before = json.loads(table.read_text())
    monkeypatch.setattr(races.discovery, "__file__", str(tmp_path / "__init__.py"))
    (tmp_path / races.TABLE).write_text(table.read_text())
    proven = attrs.evolve(discovery.proofs[0], p=0.001, difference=Estimate(0.1, 0.05, 0.15, 20))
    monkeypatch.setattr(races, "result_of", lambda _: attrs.evolve(discovery, proofs=(proven,)))
    assert main(["races", str(directory), "--keep"]) == 0
    after = json.loads((tmp_path / races.TABLE).read_text())
    assert after.pop(discovery.protocol.game)["units"] == 20
    assert after == before


def test_a_game_that_is_not_what_was_kept_is_told(finished_race, tmp_path):
    _, directory = finished_race
    (tmp_path / "protocol.json").write_bytes((directory / "protocol.json").read_bytes())
    row = next(read_rows(directory / "games.jsonl", KEY))
    line = line_of({**row, "moves": row["moves"] + 1})
    (tmp_path / "games.jsonl.gz").write_bytes(gzip.compress(line))
    assert [same for _, same in replay.audit(tmp_path, 1, 0)] == [False]
    with pytest.raises(Refusal, match="not finished"):
        races.result_of(tmp_path)


def test_a_race_with_a_file_that_has_changed_or_is_elsewhere_is_not_played_again(
    finished_race, tmp_path, monkeypatch
):
    discovery, whole = finished_race
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text("from icarus import MAST as MINE\n")
    attrs.evolve(discovery.protocol, files=(("mine.py", digest_of("mine.py")),)).write(Path("kept"))
    Path("kept/games.jsonl").write_bytes((whole / "games.jsonl").read_bytes())
    assert all(same for _, same in replay.audit(Path("kept"), 2, 0))
    Path("mine.py").write_text("from icarus import NAST2 as MINE\n")
    with pytest.raises(
        ValueError, match=r"mine\.py was edited: the digest is .*, in the games so far"
    ):
        list(replay.audit(Path("kept"), 2, 0))
    assert races.result_of(Path("kept")).proofs == discovery.proofs  # from rows alone
    monkeypatch.chdir("kept")
    with pytest.raises(FileNotFoundError, match=r"mine\.py"):
        list(replay.audit(Path(), 2, 0))


def test_a_race_whose_imported_rules_were_edited_is_another(tmp_path, monkeypatch):
    own, imported = tmp_path / "own.py", tmp_path / "rules_of_own_race.py"
    own.write_text(
        "import attrs\nimport rules_of_own_race\nfrom icarus import MAST\nMINE = attrs.evolve(MAST, name='MINE')\n"
    )
    imported.write_text("STONES = 7\n")
    settings = {**SETTINGS, "files": [str(own)]}
    plan_race("kuhn-poker", **settings).write(tmp_path / "race")
    imported.write_text("STONES = 8\n")
    monkeypatch.setattr(load_files, "_in_memory", {})  # as in another process
    with pytest.raises(ValueError, match="another race: files is"):
        race(tmp_path / "race", files=[str(own)])
