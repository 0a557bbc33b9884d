"""Games in the notations of other programs: games that others have played read with their results, and all is read back."""

import random
from pathlib import Path

import pytest

from icarus import BASELINE, Agent, games
from icarus.commands.play.notation import notation_of
from icarus.commands.play.session import Session

# Two games of the Generic Game Server, in the notation of its archive: one with an evaluation and a time after each move,
# one in which Black passes twice.
GGS = """1 (;GM[Othello]PC[GGS/os]DT[2010.10.17_05:23:05.MDT]PB[hercule]PW[scorp+]RB[2082.33]RW[1669.67]TI[10:00//02:00]TY[8]RE[+6.000]BO[8
-------- -------- -------- ---O*--- ---*O--- -------- -------- -------- *]B[D3//3.95]W[c5/-18.40/0.10]B[E6//2.30]W[d2/-2.42/0.04]
B[C3//2.48]W[e3/0.46]B[F3//2.03]W[f5/2.46]B[F6//2.91]W[c2/0.46]B[F4//2.61]W[c4/-10.46]B[D6//4.02]W[g4/-10.49]B[G3//3.60]W[c6/16.49]
B[B5//2.50]W[e2/0.49]B[B4//3.08]W[g5/-4.49]B[F2//3.18]W[h3/-4.56]B[H6//2.90]W[e7/-4.56]B[F7//3.07]W[c7/-4.56]B[D1//3.68]W[b6/-2.56]
B[E8//3.37]W[d7/-2.56]B[G6//14.23]W[h5/0.30/0.01]B[C1//21.32]W[e1/0.76/0.01]B[C8//5.11]W[a3/-1.36]B[A4//3.36]W[a5/-1.43]B[D8//3.72]
W[b7/-3.46]B[H4//3.05]W[b3/-3.42]B[H2//3.28]W[b1/-0.25]B[B2//3.29]W[h7/-6.00/0.02]B[H8//2.95]W[g2/-6.00]B[G1//3.37]W[g8/-6.00]
B[F8//2.83]W[g7/-6.00]B[A7//3.00]W[a8/-6.00]B[B8//2.26]W[a6/-6.00]B[A2//2.76]W[a1/-6.00]B[H1//2.54]W[f1];)"""
PASSES = """e6f4d3c4c3d6f6c6f5g5g4f7h6g6e7f8d8e2c5b5e3h5h4f3h7f2d2b3c2c7d7e8g8e1c1g3g1f1d1g2a4b7b4a5c8a3h1b6a6b2a1b8a8a7a2b1h2h3
{0}h8{0}g7"""
# The trunk of the Glasgow, as books on draughts have had it since the 19th century; with comments as files have them.
GLASGOW = """[Event "Glasgow"]
[Black "?"]
[White "?"]
[Result "*"]

1. 11-15 23-19 2. 8-11 22-17 3. 11-16 {the Glasgow} 24-20 4. 16x23 27x11 5. 7x16 20x11
6. 3-7 28-24 (6... 25-22 7. 7x16) 7. 7x16 24-20! 8. 16-19 25-22 $1 *
"""


def read(game: str, text: str) -> list[int]:
    loaded = games.load(game)
    return notation_of(loaded).read(loaded, text)


def after(game: str, actions: list[int]):
    state = games.load(game).new_initial_state()
    for action in actions:
        state.apply_action(action)
    return state


def played_at_random(game: str, seed: int) -> list[int]:
    luck, state, actions = random.Random(seed), games.load(game).new_initial_state(), list[int]()
    while not state.is_terminal():
        actions.append(luck.choice(state.legal_actions()))
        state.apply_action(actions[-1])
    return actions


def margin(state) -> int:
    black, white = (int(discs).bit_count() for discs in state.facts.discs)
    return black - white


def test_games_of_a_server_end_with_the_results_that_it_says() -> None:
    state = after("othello", read("othello", GGS))
    assert state.is_terminal() and margin(state) == 6
    written_with, left_out = (read("othello", PASSES.format(text)) for text in ("pass", ""))
    assert written_with == left_out
    state = after("othello", left_out)
    assert state.is_terminal() and margin(state) == 0


def test_an_opening_of_the_books_is_read_with_its_captures_and_comments() -> None:
    actions = read("checkers", GLASGOW)
    state = after("checkers", actions)
    assert len(actions) == 17  # 27x11 is two jumps
    assert [int(pieces).bit_count() for pieces in state.facts.pieces] == [9, 9]
    assert read("checkers", GLASGOW.replace("27x11", "27x18x11")) == actions
    assert read("checkers", GLASGOW.replace("27x11", "27x18 18x11")) == actions


@pytest.mark.parametrize("game", ["othello", "checkers"])
def test_what_is_written_is_read_back(game: str) -> None:
    loaded = games.load(game)
    for seed in range(8):
        actions = played_at_random(game, seed)
        for part in (actions, actions[: seed + 3]):
            text = notation_of(loaded).write(loaded, part, ["Ann [1]", 'Bob "B"'])
            assert read(game, text) == part
    assert ("RE[" if game == "othello" else '[Result "') in text


@pytest.mark.parametrize(
    ("game", "text", "sentence"),
    [
        ("othello", "d3c5z9", "'z9' is not a move of a transcript such as d3c5f6"),
        ("othello", "d3d3", "move 2, 'd3', is not legal"),
        ("othello", "(;GM[Othello]B[d3];)(;GM[Othello]B[d3];)", "the file has 2 games; it must have one"),
        ("othello", f"(;GM[Othello]BO[8 {'-' * 64} *];)", "does not start from the standard position"),
        ("othello", "(;GM[Amazons]B[D1-D7-G7];)", "another game than Othello"),
        ("checkers", "1. 11-15 11-15", "move 2, '11-15', is not legal"),
        ("checkers", "1. e4 e5", "'e4' is not a move of PDN such as 11-15"),
        ("checkers", '[FEN "W:W18:B1"]\n', "does not start from the standard position"),
        ("checkers", "1. 11-15 *\n1. 11-16 *", "the file has 2 games"),
    ],
)
def test_what_is_no_game_is_refused_with_what_is_wrong(game: str, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence.replace(".", r"\.")):
        read(game, text)


def test_a_session_is_saved_by_the_suffix_of_the_file_and_taken_up_again(tmp_path: Path) -> None:
    agent = Agent(BASELINE, iterations=10)
    session = Session(games.load("checkers"), [None, agent])
    (tmp_path / "glasgow.pdn").write_text(GLASGOW)
    session.follow(tmp_path / "glasgow.pdn")
    session.act(session.state.legal_actions()[0])
    session.save(tmp_path / "mine.pdn")
    text = (tmp_path / "mine.pdn").read_text()
    assert '[Black "a person"]' in text and "16x23 27x18x11" in text and text.endswith("\n*\n")
    again = Session(games.load("checkers"), [None, agent])
    again.follow(tmp_path / "mine.pdn")
    assert str(again.state) == str(session.state)
    with pytest.raises(ValueError, match=r"checkers is saved as a \.pdn file, not as \.ggf"):
        session.save(tmp_path / "mine.ggf")
    with pytest.raises(ValueError, match="'.*mine.pdn' is not a game of othello in GGF, or a transcript: "):
        Session(games.load("othello"), [None, agent]).follow(tmp_path / "mine.pdn")
    with pytest.raises(ValueError, match=r"files of other programs can be read for othello \(GGF.*, not for hearts"):
        Session(games.load("hearts"), [agent] * 4).follow(tmp_path / "mine.pdn")
