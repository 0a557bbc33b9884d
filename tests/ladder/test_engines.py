"""Engines in processes of their own: whoever dies, hangs or cheats costs one game, told in one sentence."""

import pickle
import random
import re
import runpy
import shlex
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from icarus import Agent, State, games, parse, play
from icarus.arena.ledger import GameRow
from icarus.arena.player import RandomPlayer
from icarus.engine.match import Player
from icarus.games.backgammon import survey
from icarus.kernel import CHANCE, AnyGame, facts_of
from icarus.ladder.engines import ENGINES, Engine, EngineFailed, EnginePlayer, GtpEngine
from icarus.ladder.ladders import rated_match, rated_row
from tests.conftest import ROOT

OTHELLO = games.load("othello")
FAKE = str(Path(__file__).with_name("fake_engine.py"))


def fake(mode: str, *more: str, seconds: float = 60) -> EnginePlayer:
    return EnginePlayer(
        Engine(f"fake {mode}", "othello", (sys.executable, FAKE, mode, *more), seconds=seconds)
    )


def played(game: AnyGame, player: Player, opponent: Player, side: int) -> GameRow:
    return rated_row(rated_match(game, [("one", player), ("other", opponent)], (1, 0), side))


def test_an_engine_plays_whole_games_with_both_sides():
    engine = fake("good")
    for side in range(2):
        row = played(OTHELLO, RandomPlayer(), engine, side)
        assert row["score"] == row["returns"][side]
        assert row["engines"] == {"fake good": ["Fake 1.0", f"{FAKE} good"]}
        assert (
            row["actions"][:4] == played(OTHELLO, RandomPlayer(), RandomPlayer(), 0)["actions"][:4]
        )
    engine.close()


def texts_after(actions: list[int]) -> list[str]:
    """What may be played after some actions."""
    state = OTHELLO.new_initial_state()
    for action in actions:
        state.apply_action(action)
    return list(map(state.action_to_string, state.legal_actions()))


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("dies", "fake dies died at genmove; its last output: the table is on fire"),
        ("hangs", "fake hangs did not answer genmove within 5 s"),
        ("illegal", "fake illegal plays 'a9', which is not legal here; legal: "),
        ("refuses", "fake refuses refused genmove: cannot think"),
        (
            "resigns",
            "fake resigns resigns, so that its game is void and not lost; start it so that it plays to the end",
        ),
    ],
)
def test_a_game_whose_engine_fails_is_void_and_the_next_one_is_played(mode, sentence, tmp_path):
    # which a busy machine keeps to
    engine = fake(mode, str(tmp_path / "once"), seconds=5 if mode == "hangs" else 60)
    void = played(OTHELLO, RandomPlayer(), engine, 0)
    legal = ", ".join(texts_after(void["actions"])) if mode == "illegal" else ""
    assert void["void"] == sentence + legal
    assert "score" not in void
    assert played(OTHELLO, RandomPlayer(), engine, 1)["score"] in (0, 0.5, 1)
    engine.close()


def test_an_engine_that_is_missing_is_told_with_how_to_install_it():
    missing = Engine("nobody", "othello", ("/no/such/engine",), installation="build it")
    assert not missing.is_installed()
    assert not Engine(
        "nobody", "othello", (sys.executable,), module="no_such_module"
    ).is_installed()
    with pytest.raises(
        EngineFailed,
        match=r"^nobody cannot be started: /no/such/engine: No such file or directory; build it$",
    ):
        missing.start()


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("Welcome\n\n= Fake\n\n", "fake answered 'Welcome' to name; an answer begins with = or ?"),
        (
            "= Fake\n",
            "fake did not answer name within 5 s: '= Fake' came without the empty line that ends an answer",
        ),
        ("= F" + "a" * 110_000, "fake answered name with more than 100,000 characters"),
    ],
)
def test_a_program_that_does_not_keep_to_the_protocol_is_told_how(output, sentence):
    program = f"printf %s {shlex.quote(output)}; exec sleep 60"
    process = GtpEngine("fake", ("/bin/sh", "-c", program), 5.0)
    with pytest.raises(EngineFailed, match=re.escape(sentence)) as failed:
        process.ask("name")
    read = pickle.loads(pickle.dumps(failed.value))
    assert (read.name, str(read)) == ("fake", str(failed.value))


def test_an_engine_that_reads_nothing_is_ended_and_one_that_must_write_first_is_read():
    deaf = GtpEngine("deaf", (sys.executable, "-c", "import time; time.sleep(60)"), 1.0)
    with pytest.raises(EngineFailed, match="deaf did not read set_position within 1 s"):
        deaf.ask("set_position " + "x" * 1_000_000)
    echo = "import sys\nfor line in sys.stdin: sys.stdout.write('= ' + 'y' * 80_000 + chr(10) * 2); sys.stdout.flush()"
    process = GtpEngine("echo", (sys.executable, "-c", echo), 20.0)
    assert process.ask("name " + "x" * 200_000).startswith("y")
    process.close()


def test_an_engine_that_drips_and_left_a_child_behind_is_ended_with_it():
    program = """import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(120)"])
print("=", child.pid)
while True: print("thinking", flush=True); time.sleep(0.2)"""
    process, started = GtpEngine("fake", (sys.executable, "-c", program), 2.0), time.monotonic()
    with pytest.raises(EngineFailed, match="fake did not answer name within 2 s"):
        process.ask("name")
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("answers", [0, 2], ids=["at its name", "at a move"])
def test_ctrl_c_ends_an_engine_that_is_asked(answers, monkeypatch):
    program = "printf '" + answers * r"= x\n\n" + "'; exec sleep 60"
    engine, children = EnginePlayer(Engine("sleeper", "othello", ("/bin/sh", "-c", program))), []
    answer = GtpEngine._answer

    def interrupted(self, command):
        children.append(self._child)
        if len(children) > answers:
            raise KeyboardInterrupt
        return answer(self, command)

    monkeypatch.setattr(GtpEngine, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt):
        engine.search(OTHELLO.new_initial_state())
    assert children[-1].poll() is not None


def test_an_engine_is_a_player_for_any_match():
    engine = fake("good")
    agents = [Agent(parse("BASELINE"), iterations=10), engine]
    log = play(OTHELLO, agents)
    assert log.agents == ("BASELINE (10 iterations)", "fake good")
    engine.close()


@pytest.mark.parametrize(
    "name",
    [
        *(
            "grhino depth 1",
            "rust-reversi matrix 2",
            "py-draughts depth 1",
            "pubeval",
            "RLCard rules",
        ),
        pytest.param("OpenSpiel ISMCTS 0.01 s", marks=pytest.mark.slow),
    ],
)
def test_an_installed_engine_plays_two_games_without_a_void_one(name):
    engine = ENGINES[name]
    if not engine.is_installed():
        pytest.skip(f"{name} is not installed: {engine.installation}")
    player = EnginePlayer(engine)
    game = games.load("hearts(threshold=20)" if engine.game == "hearts" else engine.game)
    rows = [played(game, RandomPlayer(), player, side) for side in range(2)]
    player.close()
    assert not [row["void"] for row in rows if "void" in row]


# -------------------- The rules of outside engines in lock-step with ours, in random games.


def counts(few: int, many: int) -> pytest.MarkDecorator:
    """Random games of a test: few, and with --slow many."""
    return pytest.mark.parametrize("number", [few, pytest.param(many, marks=pytest.mark.slow)])


def decisions(name: str, number: int) -> Iterator[State]:
    """The decisions of random games."""
    luck = random.Random(1)
    for seed in range(number):
        state = games.load(name).new_initial_state(seed)
        while not state.is_terminal():
            if not state.is_chance_node():
                yield state
            state.apply_action(luck.choice(state.legal_actions()))


@counts(10, 1000)
def test_rust_reversi_knows_the_same_moves(number):
    pytest.importorskip("rust_reversi", reason="rust-reversi is not installed")
    from icarus.ladder.modules.othello import PASS, board_of

    for state in decisions("othello", number):
        assert (sorted(board_of(state).get_legal_moves_vec()) or [PASS]) == sorted(
            state.legal_actions()
        )


@counts(10, 300)
def test_py_draughts_with_forced_captures_knows_the_same_moves(number):
    pytest.importorskip("draughts", reason="py-draughts is not installed")
    from icarus.ladder.modules.checkers import board_of, to_draughts

    for state in decisions("checkers", number):
        if not state.facts.chained:
            moves = {tuple(move.square_list[:2]) for move in board_of(state).legal_moves}
            assert moves == {
                (to_draughts(action // 64), to_draughts(action % 64))
                for action in state.legal_actions()
            }


def test_openspiel_s_hearts_knows_the_same_cards():
    pyspiel = pytest.importorskip("pyspiel", reason="open_spiel is not installed")
    from icarus.ladder.modules.hearts import PASS, from_openspiel, round_of

    game = pyspiel.load_game("hearts")
    for number, state in enumerate(decisions("hearts(threshold=30)", 1)):
        if number % 3 == 0:
            their_round = round_of(state, game)
            assert their_round.current_player() == state.current_player()
            base = PASS if state.legal_actions()[0] >= PASS else 0
            assert sorted(
                base + from_openspiel(card) for card in their_round.legal_actions()
            ) == sorted(state.legal_actions())


def turn_ends(state: State, mover: int) -> set[tuple[tuple[int, ...], ...]]:
    """The boards (the opponent's points, the mover's) that can end a turn."""
    from icarus.ladder.modules.backgammon import board_of

    if state.current_player() != mover:
        return {tuple(map(tuple, board_of(state, mover)))}
    ends = set()
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        ends |= turn_ends(after, mover)
    return ends


def rolls(number: int) -> Iterator[State]:
    """The first decisions after a roll in random games of Backgammon."""
    return (state for state in decisions("backgammon", number) if state.history[-1][0] == CHANCE)


@counts(3, 1000)
def test_gnubg_s_rolls_lead_to_the_same_boards(number):
    gnubg_nn = pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")
    from icarus.ladder.modules.backgammon import board_of, dice

    for state in rolls(number):
        mover = state.current_player()
        keys = gnubg_nn.moves(board_of(state, mover), *dice(state))
        assert {gnubg_nn.board_from_position_key(key) for key in keys} == turn_ends(state, mover)


def test_gnubg_and_pubeval_choose_what_they_think_best():
    """Orientation and score: the roll's best board by each one's own evaluation, but for a few that the network passes over unseen."""
    gnubg_nn = pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")
    from icarus.ladder.modules.backgammon import GnuBackgammon, board_of, checkers_after, dice

    evaluations = {
        ("gnubg", "0"): lambda opponent, player: -gnubg_nn.probabilities([player, opponent], 0)[0],
        ("pubeval",): lambda opponent, player: gnubg_nn.pub_eval_score([player, opponent]),
    }
    for settings, evaluation in evaluations.items():
        engine, best = GnuBackgammon(*settings), []
        for state in rolls(2):
            mover = state.current_player()
            boards = [
                gnubg_nn.board_from_position_key(key)
                for key in gnubg_nn.moves(board_of(state, mover), *dice(state))
            ]
            values = {
                player: evaluation(list(opponent), list(player))
                for opponent, player in boards
                if any(player)
            }
            chosen = checkers_after(state, engine._steps(state))[1:]
            if chosen in values and len(values) > 1:
                best.append(values[chosen] >= max(values.values()) - 1e-5)
        assert len(best) > 80
        assert sum(best) >= 0.95 * len(best)


def test_gnubg_s_rolls_are_played_by_legal_actions_doubles_too():
    pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")
    from icarus.ladder.modules.backgammon import GnuBackgammon

    engine, luck, doubles = GnuBackgammon("pubeval"), random.Random(1), 0
    for seed in range(2):
        state = games.load("backgammon").new_initial_state(seed)
        while not state.is_terminal():
            legal = state.legal_actions()
            forced = state.is_chance_node() or len(legal) == 1  # what nobody is asked
            doubles += not forced and state.facts.left == 4
            state.apply_action(luck.choice(legal) if forced else engine.choose(state))
    assert doubles


@pytest.mark.slow
@pytest.mark.parametrize("number", [1000])
def test_gnubg_beats_pubeval_as_often_as_published(number):
    """GNU Backgammon at 0 plies won .719 of 1,000 games against pubeval, gammons as wins (M. Higgins, Computational Backgammon, 2012)."""
    pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")
    from icarus.ladder.modules.backgammon import GnuBackgammon

    published, wins = 0.719, 0.0
    engines = GnuBackgammon("gnubg", "0"), GnuBackgammon("pubeval")
    for trial in range(number):
        luck, state = random.Random(trial // 2), games.load("backgammon").new_initial_state()
        for engine in engines:
            engine.new_game(state)
        while not state.is_terminal():
            legal = state.legal_actions()
            if state.is_chance_node():
                outcomes, chances = zip(*state.chance_outcomes(), strict=True)
                action = luck.choices(outcomes, chances)[0]
            else:
                action = (
                    legal[0]
                    if len(legal) == 1
                    else engines[state.current_player() ^ trial % 2].choose(state)
                )
            state.apply_action(action)
        wins += state.returns()[trial % 2]
    share = wins / number
    print(f"GNU Backgammon at 0 plies won {share:.3f} of {number} games against pubeval")
    assert abs(share - published) < 3 * (published * (1 - published) / number) ** 0.5


def test_rlcard_s_agent_passes_or_leads_its_lowest_card_where_it_names_no_legal_play(monkeypatch):
    agent = SimpleNamespace(step=lambda observed: "none of these")
    utils = SimpleNamespace(CARD_TYPE=[{}])
    models = SimpleNamespace(DouDizhuRuleAgentV1=lambda: agent)
    monkeypatch.setitem(sys.modules, "rlcard.games.doudizhu.utils", utils)
    monkeypatch.setitem(sys.modules, "rlcard.models.doudizhu_rule_models", models)
    monkeypatch.setattr("importlib.metadata.version", str)
    module = runpy.run_path(str(ROOT / "icarus/ladder/modules/dou_di_zhu.py"))
    engine = module["ENGINE"]()
    for state in decisions("dou-di-zhu", 1):
        if not state.facts.kickers_due:
            texts = list(map(state.action_to_string, state.legal_actions()))
            expected = "pass" if "pass" in texts else min(texts, key=len)
            assert state.action_to_string(engine.choose(state)) == expected


@counts(6, 300)
def test_rlcard_s_plays_are_ours_but_for_kickers_of_two_alike(number):
    """Leads and follows: nothing of ours is missing there, and what is theirs alone has a kicker twice."""
    pytest.importorskip("rlcard", reason="rlcard is not installed")
    from rlcard.games.doudizhu.judger import DoudizhuJudger
    from rlcard.games.doudizhu.utils import get_gt_cards

    from icarus.ladder.modules.dou_di_zhu import (
        PASS,
        cards_of,
        complete_plays,
        ranks_of,
        text_of,
        trace,
    )

    differing = {True: [0, 0], False: [0, 0]}  # leads and follows: as many of so many
    for state in decisions("dou-di-zhu", number):
        if state.facts.kickers_due:
            continue
        hand = text_of(cards_of(state.facts.hands[state.facts.player]))
        leads = state.facts.play == PASS
        if leads:
            texts = DoudizhuJudger.playable_cards_from_hand(hand)
        else:
            cards = [SimpleNamespace(rank=rank) for rank in hand]
            last = [text for _, text in trace(state) if text != "pass"][-1]
            texts = get_gt_cards(
                SimpleNamespace(current_hand=cards), SimpleNamespace(played_cards=last)
            )
        theirs = {text if text == "pass" else text_of(ranks_of(text)) for text in texts}
        mine = set(complete_plays(state))
        assert mine <= theirs, (hand, mine - theirs)
        assert all(any(count == 2 for count in map(play.count, play)) for play in theirs - mine)
        differing[leads][0] += theirs != mine
        differing[leads][1] += 1
    for some, decided in differing.values():
        assert some < decided / 5


def test_a_whole_roll_is_played_where_a_part_of_it_leads_to_the_same_checkers():
    pytest.importorskip("gnubg_nn", reason="gnubg-nn is not installed")
    from icarus.ladder.modules.backgammon import checkers_after, path_to

    state = games.load("backgammon").new_initial_state()
    facts_of(state.data).points[:] = 0
    facts_of(state.data).points[0, [0, 1, 2, 3, 4, 5]] = 3, 2, 3, 3, 3, 1
    facts_of(state.data).points[1, [24, 12]] = 2, 13
    facts_of(state.data).player, facts_of(state.data).actor = 0, -1
    survey.py_func(facts_of(state.data))
    state.apply_action(state.string_to_action("roll 61"))
    # 5/off alone would leave the 1 unplayed
    path = path_to(state, 0, checkers_after(state, [(5, 4), (4, 0)]))
    assert path is not None
    assert [state.game.action_text(state.facts, action) for action in path] == ["5/4", "4/off[6]"]
