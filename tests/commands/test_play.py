"""Playing against agents: a session's way forward and back, and the conversation in the terminal."""

import io
import re
from collections.abc import Mapping
from pathlib import Path

import attrs
import numpy as np
import pytest

from icarus import BASELINE, MO_ISMCTS, Agent, CheatingUCT, games, parse
from icarus.arena.ledger import write_whole
from icarus.commands.conversation import CARD, HELP, Conversation, Session, ending_of
from icarus.commands.play import talk
from icarus.kernel import CHANCE, TERMINAL, PythonGame, State, below
from icarus.kernel.scene import Drawing, Hand, Scene
from icarus.load_files import digest_of, games_in, load_file
from icarus.views.boards import svg
from tests import toy
from tests.commands.test_cli import icarus
from tests.conftest import ROOT

__all__ = ["icarus"]

QUICK = Agent(BASELINE, iterations=20)


def session_of(game: str, seat: int | None = 0, agent: Agent = QUICK, seed: int = 3) -> Session:
    loaded = games.load(game)
    return Session(
        loaded, [None if number == seat else agent for number in range(loaded.players)], seed
    )


def act_others(session: Session) -> None:
    """Let chance and agents act until a person is asked or the game is over."""
    while not session.over and session.waits_for is None:
        session.apply(*session.choose())


def played_on(session: Session, decisions: int, seed: int = 0) -> Session:
    """The session after some random decisions of its people."""
    luck = np.random.default_rng(seed)
    for _ in range(decisions):
        act_others(session)
        if not session.over:
            session.apply(int(luck.choice(session.state.legal_actions())))
    act_others(session)
    return session


def resumed(file: Path, files: Mapping[Path, str] = {}) -> Session:
    return Session.resumed(file.read_bytes(), files, file=file)


def actions(session: Session) -> list[tuple[int, int]]:
    return [(played.player, played.action) for played in session.played]


def talked(session: Session, lines: list[str], seat: int | None = 0) -> list[str]:
    """What the terminal says to these lines of a person."""
    said, remaining = list[str](), iter(lines)

    def ask(prompt: str) -> str:
        line = next(remaining, "quit")
        said.append(prompt + line)
        return line

    talk(Conversation(session, seat), ask, said.append)
    return said


QUICK_GAMES = ("othello", "hearts", "kuhn-poker", "goofspiel")
OTHERS = [
    pytest.param(name, marks=pytest.mark.slow) for name in games.names() if name not in QUICK_GAMES
]


@pytest.mark.parametrize("game", [*QUICK_GAMES, *OTHERS])
def test_every_game_can_be_played_to_its_end_by_typing_numbers(game, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = {"hearts": "hearts(threshold=5)"}.get(game, game)
    session = session_of(name, seat=1)
    said = talked(session, ["1"] * 400, seat=1)
    if session.over:
        assert said[-1].startswith(("you win", "you lose", "you come in", "the game is drawn"))
        assert "you> 1" in said
    else:  # kept, and told where
        (file,) = tmp_path.iterdir()
        assert file.name in said[-1]
    assert (
        max(len(line) for text in said for line in text.split("\n") if not line.startswith("Light"))
        <= 100
    )


@pytest.mark.parametrize("game", ["othello", "hearts"])
def test_a_game_that_goes_back_and_forward_again_goes_the_same_way(game):
    session = played_on(session_of(game), 4)
    before, state = actions(session), str(session.state)
    last = max(index for index, played in enumerate(session.played) if played.player == 0)
    session.go_back(last)
    assert actions(session) == before[:last]
    assert session.waits_for == 0
    session.apply(before[last][1])
    act_others(session)
    assert actions(session) == before
    assert str(session.state) == state


@pytest.mark.parametrize("game", ["othello", "knockout-whist(players=3)"])
def test_a_saved_game_goes_on_as_it_would_have(game, tmp_path):
    agent = Agent(parse("BASELINE >> NAST2"), iterations=20)
    session = played_on(session_of(game, agent=agent), 3)
    session.save(tmp_path / "game.txt")
    (tmp_path / "bom.txt").write_text((tmp_path / "game.txt").read_text(), encoding="utf-8-sig")
    again = resumed(tmp_path / "bom.txt")
    assert actions(again) == actions(session)
    assert str(again.state) == str(session.state)
    assert actions(played_on(again, 3, seed=1)) == actions(played_on(session, 3, seed=1))
    with pytest.raises(ValueError, match="exists and is not overwritten"):
        again.save(tmp_path / "game.txt")
    before = (tmp_path / "game.txt").read_text()
    played_on(session, 1).save()  # where it has been saved before
    assert (tmp_path / "game.txt").read_text() != before
    assert len([*tmp_path.iterdir()]) == 2


def test_the_command_that_resumes_a_game_takes_no_file_for_an_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = Path("-own.py")
    own.touch()
    session = session_of("othello")
    session.files = {own: digest_of(own)}
    assert session.save(Path("--help")) == "icarus play --resume ./--help --with ./-own.py"


def test_games_that_are_saved_at_once_have_files_of_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = (session_of("othello", seed=seed) for seed in range(2))

    def write_beside_another(path: Path, content: bytes) -> None:
        monkeypatch.setattr("icarus.commands.conversation.write_whole", write_whole)
        second.save()
        with pytest.raises(ValueError, match="exists and is not overwritten"):
            second.save(path)
        write_whole(path, content)

    monkeypatch.setattr("icarus.commands.conversation.write_whole", write_beside_another)
    first.save()
    assert (first.file, second.file) == (Path("othello-1.txt"), Path("othello-2.txt"))
    assert [resumed(session.file).seed for session in (first, second)] == [0, 1]
    monkeypatch.setattr("icarus.commands.conversation.write_whole", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        session_of("othello").save()
    assert len([*tmp_path.iterdir()]) == 2


SAVED = [
    ('"moves": []', '"moves": ["a1"]', "'a1' is not legal here"),
    ('"seed": 3', '"seed": 1e999', "Number out of range"),
    ('"files": {}', '"files": 5', "Expected `object`, got `int` - at `$.files`"),
    ('"seats": [', '"seats": [null, ', "it has 3 seats, and othello has 2"),
    ('"BASELINE', '"OWN', "the strategy 'OWN', at position 1: no enhancement"),
    ("{", "[" * 100_000, "it is no game that `save` in icarus play has written"),
    ("{", '[Event "a game of Checkers"]\n1. 11-15', "it is no game that `save` in icarus play has"),
]


def test_a_file_that_is_no_saved_game_is_refused_with_what_is_wrong(tmp_path):
    file = tmp_path / "game.txt"
    session_of("othello").save(tmp_path / "good.txt")
    good = (tmp_path / "good.txt").read_text()
    for right, wrong, reason in SAVED:
        file.write_text(good.replace(right, wrong))
        with pytest.raises(ValueError, match=re.escape(f"'{file}' cannot be resumed: {reason}")):
            resumed(file)


def test_the_terminal_answers_slips_with_a_sentence_and_asks_again(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = session_of("othello")
    slips = "d33,,99,undo,quit now,MOVES,why,help,save no/such/folder.txt,D3,quit"
    said = talked(session, slips.split(","))
    assert "'d33' is not legal here; legal: d3, c4, f5, e6" in said
    with pytest.raises(ValueError, match="^.{0,110} is not legal here; legal: "):
        Conversation(session_of("othello"), 0).say("d33 " * 4000)
    assert HELP in said
    assert "no action can be taken back, because you have not played yet" in said
    assert "no other player has searched yet" in said
    assert "'no/such/folder.txt' cannot be written: there is no directory 'no/such'" in said
    assert session.played[0].text == "d3"
    assert said[-1] == "stopped; icarus play --resume othello-1.txt continues from here"
    assert actions(resumed(Path("othello-1.txt"))) == actions(session)


def test_a_closed_standard_input_has_ended(icarus, monkeypatch):
    monkeypatch.setattr("sys.stdin", None)
    code, out, errors = icarus("play", "othello", "--iterations", "5")
    assert (code, errors) == (0, "")
    assert "black to move" in out


def test_a_person_hears_nothing_of_what_his_seat_cannot_see(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # the game that is broken off is kept
    session = session_of("hearts", seat=2)
    said = "\n".join(talked(session, ["1", "1", "1"], seat=2))
    others = [
        each
        for each in session.played
        if each.player not in (2, CHANCE) and each.text.startswith("pass")
    ]
    own_texts = {played.text for played in session.played if played.player == 2}
    assert len(others) == 9
    assert said.count("passes a card") == 9
    # what is seen of it is a move of its own, and it is the only thing that could be done
    assert "chance: exchange" in said
    assert not [
        played.text
        for played in others
        if re.search(rf"Bot {played.player + 1}: {played.text}", said)
    ]
    assert all(f"you: {text}" in said for text in own_texts)


def test_a_move_of_several_actions_is_marked_and_taken_back_as_a_whole():
    session = session_of("backgammon", seed=4)
    act_others(session)
    begun, text = len(session.played), str(session.state)
    conversation = Conversation(session, 0)
    for undone, parts in ((1, ["8", "2"]), (2, ["8", "2", "6", "2"])):
        assert conversation.status(0) == "it is your turn"
        for move in ("8/2", "6/2")[:undone]:
            conversation.say(move, viewer=0)
        assert conversation.contents[0]["last"] == parts
        assert conversation.status(0) == (
            "your move goes on" if undone == 1 else "chance is drawn …"
        )
        assert conversation.say("undo", viewer=0)["said"].startswith(f"{undone} action")
        assert len(session.played) == begun
        assert str(session.state) == text


def test_who_takes_a_trick_and_leads_to_the_next_makes_two_moves():
    session = played_on(session_of("knockout-whist(players=2)", seed=1), 8)
    leads = [  # actions of whoever has acted just before, too
        index
        for index in range(1, len(session.played))
        if session.played[index].player == session.played[index - 1].player != CHANCE
    ]
    assert leads
    assert all(session.move_of(index) == index for index in leads)


@pytest.mark.parametrize("game", ["knockout-whist(players=2)", "hearts"])
def test_a_finished_trick_stays_until_the_next_card_beside_a_card_turned_up(game):
    session, tricks = session_of(game, None), 0
    cards = list[str]()
    while tricks < 3:
        session.apply(*session.choose())
        text = session.played[-1].text
        if not CARD.fullmatch(text):
            continue
        cards.append(text)
        lying = Conversation(session).contents[None]["text"].partition("table: ")[2]
        assert [text for text in cards if text in lying.split("\n")[0]] == cards
        if len(cards) == session.game.players:
            cards.clear()
            tricks += 1


WORDED = {
    "player 0 has 3, player 1 has 4": "you have 3, Bot has 4",
    "player 1 has 3, player 2 has 4": "player 1 has 3, player 2 has 4",
    "player 12 passes": "player 12 passes",
}


@pytest.mark.parametrize("text", WORDED)
def test_players_are_named_in_a_text_that_counts_them_from_0_alone(text):
    session = Session(attrs.evolve(games.load("othello"), seat_names=()), [None, QUICK])
    assert session.worded(text, 0) == WORDED[text]


NAMED = "<B>" * 20
PICTURES = [
    (Scene(words=("player 1 leads player 0",)), Scene(words=(f"{NAMED} leads you",))),
    (Scene(words=("player 1", "player 2")), Scene(words=("player 1", "player 2"))),
    (
        Scene(
            rows=(Hand("player 1", ("player 0", "player 1"), is_own=True, kind="plate"),),
            middle=(("player 0", "3"), ("player 1", "4")),
        ),
        Scene(
            rows=(Hand(NAMED, ("player 0", "player 1"), is_own=True, kind="plate"),),
            middle=(("you", "3"), (NAMED, "4")),
        ),
    ),
]


@pytest.mark.parametrize(("scene", "shown"), PICTURES)
def test_a_picture_is_drawn_with_the_players_as_a_viewer_calls_them(scene, shown):
    """Its texts are escaped, folded and measured with their names; parts to click keep those of the moves."""
    board = Drawing(lambda facts, seat: scene)
    game = attrs.evolve(toy.CHAIN, players=2, board=board, seat_names=("A", NAMED))
    told = Conversation(Session(game, [None, QUICK]), 0).describe(0)["board"]
    assert told == svg(shown)


def test_a_person_is_told_what_he_saw_of_another_s_action():
    (game,) = games_in(load_file(ROOT / "examples" / "second_chance.py"))
    session = Session(game, [QUICK, None], 3)
    session.apply(session.state.string_to_action("swap"))
    (card,) = session.state.data["open"]
    assert Conversation(session, 1).log(1)[-1].text == f"Bot: swap, lays {card} open"


def test_the_only_action_that_looks_so_is_told_only_where_it_is_the_only_one_for_who_looks():
    """One card of three is dealt to player 0, who lays it down, face down or, if it is the highest, open."""
    game = PythonGame(
        name="laid",
        players=2,
        initial=lambda rng: [int(below(rng, 3))],
        player=lambda cards: 0,
        legal=lambda cards: [cards[0], 9],
        apply=lambda cards, action: cards.append(action),
        rewards=lambda cards: (0.5, 0.5),
        observe=lambda cards, action: [action, action if action in (2, 9) else 7],
        determinize=lambda cards, seat, beliefs, rng: (
            list(cards) if seat == 0 else [int(below(rng, 3)), *cards[1:]]
        ),
        action_text=lambda cards, action: "wait" if action == 9 else f"lay {action}",
    )
    for card, told in enumerate(("a hidden choice", "a hidden choice", "lay 2")):
        session = Session(game, [QUICK, None])
        session.state = State(game, [card])
        session.apply(9)
        session.apply(card)
        log = [entry.text for entry in Conversation(session, 1).log(1)]
        assert log == ["Bot: wait", f"Bot: {told}"]


def test_an_action_that_is_told_in_other_words_is_marked_in_no_part():
    """Both players have cards of the same names: the part that is clicked would tell which card lies face down."""
    hand = Scene(rows=(Hand("you", ("card 1", "card 2"), is_own=True),))
    game = PythonGame(
        name="face-down",
        players=2,
        initial=lambda rng: [],
        player=lambda cards: len(cards) if len(cards) < 2 else TERMINAL,
        legal=lambda cards: [1, 2],
        apply=lambda cards, action: cards.append(action),
        rewards=lambda cards: (0.5, 0.5),
        observe=lambda cards, action: [action if seat == len(cards) else 7 for seat in range(2)],
        determinize=lambda cards, seat, beliefs, rng: list(cards),
        action_text=lambda cards, action: f"card {action}",
        move_text=lambda move: "plays a card face down" if move == 7 else "",
        board=Drawing(lambda facts, seat: hand),
    )
    told = []
    for card in (1, 2):
        session = Session(game, [None, None])
        session.apply(card)
        conversation = Conversation(session, 0, 1)
        assert conversation.describe(0)["last"] == [f"card {card}"]
        told.append(conversation.describe(1))
    assert told[0] == told[1]
    assert told[0]["log"] == ["the other person: plays a card face down"]


def test_another_s_search_is_not_shown_where_it_would_show_hidden_cards():
    session = session_of("hearts", seat=2)
    said = talked(session, ["why", "open", "why"], seat=2)
    assert "that would reveal hidden cards or pieces; open reveals them from now on" in said
    assert any("player 1" in text and "visits" in text for text in said)
    assert any(
        "player 0" in text and "visits" in text
        for text in talked(session_of("hearts", 1), ["why"], None)
    )


@pytest.mark.parametrize(
    ("utilities", "worth"),
    [((-2, 2), r"-?\d\.\d points"), ((-1, 1), r"\d+ of 100 wins")],  # these are of no unit
)
def test_a_hint_does_not_take_a_share_of_the_stakes_for_games_that_are_won(utilities, worth):
    game = attrs.evolve(games.load("kuhn-poker"), utilities=utilities)
    session = Session(game, [None, QUICK])
    act_others(session)
    said = Conversation(session, 0).say("hint", viewer=0)["said"]
    assert re.fullmatch(rf"hint: \w+. It is worth {worth} from here, the next best {worth}\.", said)


def conversation_about(rewards: tuple[float, float], iterations: int = 4) -> Conversation:
    """One action of seven for each of two players, after which they have these rewards; few playouts look at it."""
    game = PythonGame(
        name="chosen",
        players=2,
        initial=lambda rng: [],
        player=lambda chosen: len(chosen) if len(chosen) < 2 else TERMINAL,
        legal=lambda chosen: list(range(7)),
        apply=lambda chosen, action: chosen.append(action),
        rewards=lambda chosen: rewards,
    )
    conversation = Conversation(Session(attrs.evolve(game, utilities=(-2, 2)), [None, None]), 0)
    conversation.adviser = Agent(BASELINE, iterations=iterations)
    return conversation


def test_an_action_that_no_playout_has_tried_has_no_value():
    answers = []
    for action in range(7):
        conversation = conversation_about((1, 0))
        for _ in range(2):
            conversation.session.apply(action)
        answers.append(conversation.judge(0, 0))
    assert len([answer for answer in answers if answer]) == 3  # the first one expands the root
    assert {answer["value"] for answer in answers if answer} == {1}
    said = conversation_about((1, 0), iterations=2).say("hint", viewer=0)["said"]
    assert re.fullmatch(r"hint: \d\. It is worth 2\.0 points from here\.", said)


@pytest.mark.parametrize(
    ("rewards", "points", "rivals"), [((0.25, 0.75), "-1.0", True), ((0.499, 0.499), "0.0", False)]
)
def test_looking_back_says_whether_one_loses_what_the_other_wins(rewards, points, rivals):
    conversation = conversation_about(rewards, iterations=9)
    for _ in range(2):
        conversation.session.apply(3)
    told = conversation.judge(0, 0)
    assert told["rivals"] == rivals
    assert told["words"].endswith(f" is worth {points} points, not {points} points")


def test_a_hint_shows_nothing_that_is_hidden_though_the_agents_cheat():
    agent, cheat = (
        Agent(BASELINE, iterations=60, scheme=scheme) for scheme in (MO_ISMCTS, CheatingUCT)
    )
    session, hints = session_of("hearts", seat=2), []
    act_others(session)
    for session.agents[0] in (agent, cheat):
        hints.append(Conversation(session, 2).say("hint", viewer=2)["table"].split("\n")[1:])
    assert hints[0] == hints[1] != []
    assert (
        agent.search(session.state, 1).visits.tolist()
        != cheat.search(session.state, 1).visits.tolist()
    )


def test_a_saved_game_is_resumed_with_the_files_that_it_was_played_with(tmp_path):
    session, path = session_of("othello"), tmp_path / "game.txt"
    session.files = {Path("own.py"): "0123"}
    assert session.save(path).endswith("--with own.py")
    with pytest.raises(ValueError, match="cannot be resumed: give --with own.py"):
        resumed(path)
    with pytest.raises(
        ValueError, match="cannot be resumed: own.py, or a file that it imports, has changed"
    ):
        resumed(path, {Path("here/own.py"): "4567"})
    assert resumed(path, {Path("renamed.py"): "0123"}).files == {Path("renamed.py"): "0123"}


def test_a_game_of_two_persons_is_not_resumed_in_the_terminal(tmp_path, icarus):
    path = tmp_path / "game.txt"
    Session(games.load("othello"), [None, None]).save(path)
    code, out, errors = icarus("play", "--resume", path)
    assert (code, out) == (2, "")
    assert errors == "icarus: two persons play this game, each at a page: add --browser\n"


def test_a_game_whose_rules_were_edited_in_an_imported_module_is_not_resumed(
    tmp_path, monkeypatch, icarus, python
):
    monkeypatch.chdir(tmp_path)
    Path("mine.py").write_text((ROOT / "examples" / "nim.py").read_text() + "\nimport stones\n")
    Path("stones.py").write_text("MOST = 3\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("save a.txt\n"))
    _, said, errors = icarus("play", "--iterations", "5", "mine.py")
    assert "continues from here" in said, errors
    Path("stones.py").write_text("MOST = 4\n")
    resume = "-m icarus play --resume a.txt --with mine.py"
    refused = python(None, *resume.split(), stdin="")
    assert refused.returncode == 2
    assert "mine.py, or a file that it imports, has changed" in refused.stderr


def test_an_agent_that_fails_ends_the_game_with_its_error_and_the_game_is_kept(
    tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    session, said = session_of("othello"), list[str]()
    monkeypatch.setattr(Agent, "search", lambda *arguments, **keywords: 1 // 0)
    with pytest.raises(ValueError, match="the agent cannot continue: .*division"):
        talk(Conversation(session, 0), lambda prompt: "1", said.append)
    assert said[-1].startswith("stopped; ")
    assert Path("othello-1.txt").exists()


def test_actions_and_help_fit_a_terminal():
    session = session_of("lotr-confrontation")
    act_others(session)
    moves = Conversation(session, 0).say("moves")["said"]
    assert max(map(len, [*moves.splitlines(), *HELP.splitlines()])) <= 80
    assert moves.count(":") > 8


def test_legal_actions_are_told_to_whose_turn_it_is_alone(tmp_path):
    """Of two persons at pages, one would else read the other's hand."""
    session = Session(games.load("kuhn-poker"), [None, None])
    act_others(session)
    table, mover = Conversation(session, None), session.waits_for
    assert table.say("moves", viewer=mover)["said"].startswith("1: ")
    with pytest.raises(ValueError, match="it is not your turn"):
        table.say("moves", viewer=1 - mover)
    assert session.save(tmp_path / "two.txt").endswith("two.txt --browser")


ENDS = {
    ((0.1, 0.2, 0.5), (-1, 1)): "you come in as number 3 of 3",
    ((0.2, 0.1, 0.5), (-1, 1)): "you come in as number 2 of 3",
    ((0.5, 0.1, 0.5), (-1, 1)): "you win with others",
    ((0.0, 0.0, 1.0), (-1, 1)): "you lose with others",
    ((0.0, 1.0, 1.0), (-1, 1)): "you lose",
    ((0.5, 0.5), (-1, 1)): "the game is drawn",
    ((1.0, 0.0), (-1, 1)): "you win",
    ((0.75, 0.25), (-2, 2)): "you win by 1 point",
    ((0.0, 1.0), (-2, 2)): "you lose by 2 points",
    ((1 / 3, 0.5), (0, 12)): "you lose by 2 points",
    ((0.5, 0.25), (-2, 2)): "you win by 1 point",
    ((0.0,), (-1, 1)): "the game has ended with a reward of 0",
    ((0.5,), (0, 2)): "the game has ended with 1 point",
    ((30 / 44,), (-30, 14)): "the game has ended with 0 points",
}


@pytest.mark.parametrize(("rewards", "utilities"), ENDS)
def test_the_end_of_a_game_of_any_number_of_players_has_words(rewards, utilities, monkeypatch):
    game = attrs.evolve(toy.CHAIN, players=len(rewards), utilities=utilities)
    session = Session(game, [None, *[Agent(BASELINE, iterations=1)] * (len(rewards) - 1)])
    monkeypatch.setattr(type(session.state), "returns", lambda self: rewards)
    assert ending_of(session, 0) == ENDS[rewards, utilities]
    assert len(rewards) > 1 or ending_of(session, None) == ENDS[rewards, utilities]


@pytest.mark.parametrize(
    ("rewards", "told"),
    [
        ((1, 0), "player 0 has won"),
        ((0, 1, 1), "player 1 and player 2 have won"),
        ((0.5, 0.5), "the game is drawn"),
    ],
)
def test_partners_who_win_are_told_so_to_who_watches(rewards, told, monkeypatch):
    session = Session(attrs.evolve(toy.CHAIN, players=len(rewards)), [QUICK] * len(rewards))
    monkeypatch.setattr(type(session.state), "returns", lambda self: rewards)
    assert ending_of(session, None) == told
