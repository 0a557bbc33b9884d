"""The audit: it passes games whose determinizations are right, and names what is wrong with those that are not."""

import random
import re
from collections.abc import Callable
from types import SimpleNamespace

import attrs
import numpy as np
import pytest
from typer.testing import CliRunner

from icarus import Game, games
from icarus.audit import HIDDEN, AuditReport, Check, audit
from icarus.audit.draws import OFTEN, Redraws
from icarus.audit.subjects import view_of
from icarus.commands.cli import app
from icarus.compiler.rng import next_word
from icarus.games.knockout_whist import knockout_whist
from icarus.kernel import CHANCE, below, helper
from icarus.load_files import games_in
from tests import toy
from tests.audit.passing import CARDS, PASSING, STOCK
from tests.marks import slow_after
from tests.stock import STOCK_GAME, peeping, redrawing_for_chance
from tests.test_documents import example
from tests.toy import ALIKE, ALIKE_SPANS, CARD, CHILDREN, KUHN, ROWS, SECRETS, padded

pytestmark = pytest.mark.usefixtures("few_ways")
STEP_CLAIMS = ("unseen", "seen", "sees all")
SECRETIVE = [game for game in toy.ALL_TOYS if game.determinize is not None]
# What is dealt, moves, and choices made at once by three.
SECRETIVE.sort(key=lambda game: game not in (CARD, SECRETS, toy.CLASHES))
by_game = pytest.mark.parametrize("game", slow_after(2, SECRETIVE), ids=lambda game: game.name)

DEAL_OF = np.array([row.deal for row in ROWS], np.int16)
# rows of one tree that the same actions lead to, whatever was dealt
BY_ACTIONS: dict[tuple, list[int]] = {}
BY_DEPTH: dict[tuple, list[int]] = {}  # rows of one tree after as many actions
for k, row in enumerate(ROWS):
    BY_ACTIONS.setdefault((row.tree, row.actions()), []).append(k)
    BY_DEPTH.setdefault((row.tree, len(row.path)), []).append(k)
# The same actions after every deal, in the small card games.
BESIDE = [BY_ACTIONS[row.tree, row.actions()] if row.tree < 3 else [] for row in ROWS]
BESIDE_COUNTS = np.array([len(rows) for rows in BESIDE], np.int16)
BESIDE_ROWS = padded(BESIDE, max(map(len, BESIDE)), np.int16)
# As many of the secret choices made, whichever.
COUSINS = [BY_DEPTH[row.tree, len(row.path)] if row.tree == 4 else [] for row in ROWS]
COUSIN_COUNTS = np.array([len(rows) for rows in COUSINS], np.int16)
COUSIN_ROWS = padded(COUSINS, max(map(len, COUSINS)), np.int16)


def audited(game: Game, broken: Callable | None = None, games: int = 4, **changes) -> AuditReport:
    """The report on a game, without choices made at once: those of toy-clashes are in wild places, which an audit refuses."""
    changes |= {"simultaneous": None, **({"determinize": broken} if broken else {})}
    return audit(attrs.evolve(game, **changes), games=games, determinizations=400)


@pytest.mark.slow
def test_the_games_of_the_phantom_environment_pass():
    for game in games_in(example("phantom_environment")):
        report = audit(game, games=1, determinizations=60)
        assert report.passed, report


def test_numbers_of_choices_at_once_in_wild_places_are_found():
    (wild,) = [game for game in SECRETIVE if game.name == "toy-clashes"]
    assert audit(wild, games=2, determinizations=30).failed == ("at once",)


# ------------------------------------------------------------------------------------------------------ games that are right


@by_game
def test_toys_with_hidden_information_pass_every_check(game):
    report = audited(game)
    assert report.passed
    # in games without a hidden move, or of one decision
    absent = {name for name in STEP_CLAIMS if report[name].absent}
    assert [name for name in HIDDEN if report[name].passed] == [
        name for name in HIDDEN if name not in absent
    ]


def test_a_game_of_perfect_information_has_nothing_to_determinize():
    report = audit(toy.BRANCHES)
    assert report.passed
    assert "games, no `determinize`: every player sees everything, " in str(report)
    assert not any(check.name in HIDDEN for check in report.checks)
    assert all(
        report[name].passed
        for name in ("mover", "choices", "notation", "repeat", "rewards", "end", "memory", "board")
    )


def test_the_same_seed_gives_the_same_audit():
    first, second, third = (
        audit(CARD, games=3, determinizations=200, seed=seed) for seed in (4, 4, 5)
    )
    assert attrs.evolve(first, seconds=0) == attrs.evolve(second, seconds=0)
    assert first["uniform"].p_values != third["uniform"].p_values


# ----------------------------------------------------------------------------------------------------- games that are broken


def first_twice_as_likely(state, observer, beliefs, rng):
    if observer == CHANCE:
        return
    start, count = ALIKE_SPANS[state.row, observer, 0], ALIKE_SPANS[state.row, observer, 1]
    state.row = ALIKE[start + below(rng, count + 1) % count]


@pytest.mark.parametrize(
    "game", slow_after(1, [KUHN, SECRETS, *toy.THICKETS]), ids=lambda game: game.name
)
def test_draws_that_are_not_uniform_are_found(game):
    report = audit(
        attrs.evolve(game, determinize=first_twice_as_likely), games=8, determinizations=1000
    )
    # facts that are drawn too seldom may be missed among some draws, too
    assert report.failed in (("uniform",), ("uniform", "seen"))
    pattern = r"of \d+ states one was drawn \d+ times instead of \d+ and one \d+ times instead of \d+ \(p = \d"
    example = report["uniform"].examples[0]
    assert re.search(pattern, example)
    assert example.endswith(
        "if the rules make some likelier than others, give the game multiplicity(state)"
    )


def counted_from_the_truth(state, observer, beliefs, rng):
    """Uniform, but which state a random number stands for depends on which is true."""
    if observer == CHANCE:
        return
    start, count = ALIKE_SPANS[state.row, observer, 0], ALIKE_SPANS[state.row, observer, 1]
    place = 0
    while ALIKE[start + place] != state.row:
        place += 1
    state.row = ALIKE[start + (place + below(rng, count)) % count]


@by_game
def test_draws_that_read_a_hidden_fact_are_found(game):
    report = audited(game, counted_from_the_truth)
    assert [name for name in report.failed if name != "unseen"] == ["swap"]


@pytest.mark.parametrize(
    ("changes", "failed", "pattern"),
    [
        ({}, (), ""),
        (
            {"determinize": peeping},
            ("unseen",),
            "is another one where this is the truth, which he cannot tell from it",
        ),
        (
            {"determinize": redrawing_for_chance},
            ("sees all",),
            "the player knows 'c.*', which a draw for CHANCE lacks",
        ),
        (
            {"observe": None},
            ("seen",),
            "draws for player . say what no other way to there says, such as",
        ),
    ],
    ids=["right", "the stock is left as it is", "redrawn for chance", "a drawn card is not hidden"],
)
def test_draws_that_peep_at_a_hidden_step_or_forget_one_that_was_seen_are_found(
    changes, failed, pattern
):
    report = audit(attrs.evolve(STOCK_GAME, **changes), games=2, determinizations=60)
    assert report.failed == failed, report
    assert all(re.search(pattern, report[name].examples[0]) for name in failed)
    assert all("no retrace(state, data)" in report[name].note for name in ("legal", "history"))


def anything_but_the_truth(state, observer, beliefs, rng):
    start, count = ALIKE_SPANS[state.row, observer, 0], ALIKE_SPANS[state.row, observer, 1]
    true = state.row
    while count > 1 and state.row == true:
        state.row = ALIKE[start + below(rng, count)]


def nothing_but_the_truth(state, observer, beliefs, rng):
    return


@by_game
def test_draws_that_exclude_the_truth_are_found(game):
    report = audited(game, anything_but_the_truth)
    assert "truth" in report.failed
    assert (
        f"never drawn, although he cannot tell it from the true state:\n  {game.name}"
        in report["truth"].examples[0]
    )
    assert report["actions"].passed
    assert report["legal"].passed
    assert report["history"].passed


def any_deal(state, observer, beliefs, rng):
    state.row = BESIDE_ROWS[state.row, below(rng, BESIDE_COUNTS[state.row])]


def any_choices(state, observer, beliefs, rng):
    state.row = COUSIN_ROWS[state.row, below(rng, COUSIN_COUNTS[state.row])]


def the_next_player(state, observer, beliefs, rng):
    # of the module `toy` the function of this name would be reached, too, and all its tables be compared at each search
    state.row = CHILDREN[state.row, 0]


@pytest.mark.parametrize(
    ("game", "broken", "failed", "pattern"),
    [
        (
            SECRETS,
            nothing_but_the_truth,
            ("redraw", "truth", "unseen"),
            "no draw at any decision differs",
        ),
        (CARD, any_deal, ("actions",), "toy-card, deal"),
        (SECRETS, any_choices, ("history", "view"), "he has seen the moves ["),
        (KUHN, the_next_player, ("player", "history"), "toy-kuhn, deal"),
    ],
    ids=lambda each: getattr(each, "__name__", None),
)
def test_draws_of_what_he_knows_otherwise_are_found(game, broken, failed, pattern):
    report = audited(game, broken, games=8 if game is CARD else 2)
    assert set(failed) <= set(report.failed)
    assert pattern in report[failed[0]].examples[0]


draw_passing = helper(PASSING.determinize)


def with_more_cards(state, observer, beliefs, rng):
    draw_passing(state, observer, beliefs, rng)
    for card in range(CARDS):
        if state.place[card] == STOCK:
            state.place[card] = (observer + 1) % 3


def test_a_hand_of_more_cards_than_were_dealt_is_found():
    game = attrs.evolve(PASSING, determinize=with_more_cards)
    report = audit(game, games=1, determinizations=10)
    assert "legal" in report.failed
    assert "legal actions, of 4 at most" in report["legal"].examples[0]


# ------------------------------------------------------------------------------------------------------- what cannot be checked


def test_without_retrace_the_way_back_is_not_checkable_and_has_not_passed():
    report = audited(KUHN, retrace=None)
    assert report.passed
    for name in ("legal", "history"):
        assert not report[name].passed
        assert "not checked" in str(report[name])
        assert "the game has no retrace" in str(report[name])
    assert re.search(r"not checked: .*legal, history; write `retrace`$", str(report))
    assert (
        "without `retrace` it cannot know whether a draw contradicts" in str(report).splitlines()[0]
    )


def some_deals_twice(state, observer, beliefs, rng):
    """Deal 0 counts twice."""
    if observer == CHANCE:
        return
    start, count = ALIKE_SPANS[state.row, observer, 0], ALIKE_SPANS[state.row, observer, 1]
    row = ALIKE[start + below(rng, count)]
    while DEAL_OF[row] != 0 and next_word(rng) & np.uint64(1):
        row = ALIKE[start + below(rng, count)]
    state.row = row


def test_states_that_stand_for_several_deals_are_likelier():
    def passes(game: Game, **settings) -> bool:
        return audit(game, games=4, determinizations=1000, **settings).passed

    game = attrs.evolve(KUHN, determinize=some_deals_twice)

    def twice(state):
        return 2 if DEAL_OF[state.row] == 0 else 1

    assert not passes(game)
    assert passes(game, multiplicity=twice)
    assert not passes(KUHN, multiplicity=twice)


# ------------------------------------------------------------------------------------------------------------------- the rest


def without_king(state, rng):
    """Player 1 is never dealt the king."""
    state.cards[1] = below(rng, 2)
    state.cards[0] = (state.cards[1] + 1 + below(rng, 2)) % 3
    state.paid[0], state.paid[1] = 1, 1


def test_draws_of_what_is_never_dealt_are_found():
    game = attrs.evolve(games.load("kuhn-poker"), initial=without_king)
    report = audit(game, games=1, determinizations=50)
    assert report.failed == ("uniform",)
    assert "one for the first player of each deal" in report["uniform"].examples[0]


def test_a_hidden_hand_that_is_never_redrawn_is_found():
    """By the draws at the first decisions alone: an audit of seven players takes 20 s."""
    game = knockout_whist(players=7)
    redraws, check, state = Redraws(game), Check("redraw", ""), game.new_initial_state(seed=1)
    luck = random.Random(1)
    redraws.begin(state)
    for decision in range(OFTEN + 10):  # the last of the seven has been another one at first
        for observer in range(7):
            draws = [state.determinize(observer, (decision, seed)).data for seed in range(5)]
            for draw in draws:
                # the hand of the next player is left as it truly is
                draw["hands"][0, (observer + 1) % 7] = state.data["hands"][0, (observer + 1) % 7]
            redraws.note(state, observer, draws, [view_of(game, state.data, observer)])
        state.apply_action(luck.choice(state.legal_actions()))
    redraws.judge(check)
    pattern = r"for player (\d), hands\[(\d)\] is never redrawn, while those of others are"
    named = [re.search(pattern, example) for example in check.examples]
    assert all(int(each[2]) == (int(each[1]) + 1) % 7 for each in named)
    assert check.failed == 7


def test_an_audit_has_three_outcomes():
    open_game = audit(games.load("othello"), games=1)
    assert (open_game.outcome, open_game.unchecked) == ("passed", ())
    few = audit(games.load("leduc-poker"), games=1, determinizations=5)
    assert few.outcome == "not checked"
    assert "uniform" in few.unchecked
    assert "small enough" in few["uniform"].note
    assert "passed (not checked: " in str(few).splitlines()[-1]
    assert (
        CliRunner()
        .invoke(app, ["check", "leduc-poker", "--games", "1", "--determinizations", "5"])
        .exit_code
        == 3
    )


def test_places_that_differ_between_deals_and_that_no_draw_changes_are_found():
    def state(*places: int):
        return SimpleNamespace(data=np.array([(places,)], [("place", np.int8, (4,))]))

    redraws, check = (
        Redraws(attrs.evolve(knockout_whist(players=2), observation=None)),
        Check("redraw", ""),
    )
    # player 0, player 1, the talon
    deals = [(state(0, 1, 2, 2), state(1, 0, 2, 2)), (state(2, 0, 1, 2), state(2, 1, 0, 2))]
    for deal, _ in deals:
        redraws.begin(deal)
    for number in range(2 * OFTEN):
        deal, draw = deals[number // OFTEN]
        redraws.note(deal, number % 2, [draw.data], [])
    redraws.judge(check)
    assert [example[:56] for example in check.examples] == [
        "for player 0, where place is 2 is never redrawn, while t"
    ]
