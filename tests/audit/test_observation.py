"""What players know: leaks planted in games that say it are found, and right games of the same kind pass."""

import copy
import random
import re
from typing import Any

import attrs
import numpy as np
import pytest

from icarus import PythonGame, audit, games
from icarus.audit import hidden
from icarus.audit.draws import Draws, Redraws
from icarus.audit.report import Check
from icarus.audit.subjects import view_of
from icarus.commands.new import SKELETONS
from icarus.compiler import seeded
from icarus.kernel import CHANCE, TERMINAL, UNSEEN, below, random_action
from tests.audit.passing import PASSING, sampler

pytestmark = pytest.mark.usefixtures("few_ways")
OWN = "    if i == observer:\n        return True\n"  # of `knows` in the game that `icarus new` writes


def written(line: str, **changes):
    """The game that `icarus new` writes, with something else that a player knows."""
    source = (SKELETONS / "hidden.py.txt").read_text("utf-8").replace("NAME", "swap")
    assert source.count(OWN) == 1
    path = SKELETONS / "hidden.py.txt"
    space: dict[str, Any] = {"__name__": "swap"}
    exec(
        compile(
            source.replace(OWN, line and f"    if {line}:\n        return True\n"),
            str(path),
            "exec",
        ),
        space,
    )
    return attrs.evolve(space["GAME"], **changes)


@pytest.mark.parametrize(
    ("line", "failed"),
    [
        ("i == observer", ()),
        ("", ("view", "history", "again")),  # his own card is drawn again
        ("i < 2", ("redraw",)),  # the other's true card is kept
        ("i == observer or i == 4", ("redraw",)),  # the bottom card is never redrawn
        ("i == observer or i >= TOP", ("redraw",)),  # nor is the stock
    ],
)
def test_what_a_draw_keeps_or_changes_wrongly_is_found_by_the_observation(line, failed):
    report = audit(written(line), games=6, determinizations=30)
    assert report.failed == failed, report


@pytest.mark.parametrize("line", ["i < 2", ""])
def test_without_an_observation_the_first_line_says_what_is_not_known(line):
    report = audit(written(line, observation=None), games=2, determinizations=20)
    assert report.outcome == "not checked"
    assert {"view", "redraw"} <= {*report.unchecked}
    assert (
        "without `observation` it cannot know which cards a player holds"
        in str(report).splitlines()[0]
    )
    assert str(report).endswith("; write `observation`")


@pytest.mark.parametrize("changes", [{}, {"observation": None}], ids=["told", "not told"])
def test_an_open_card_and_one_that_was_passed_to_its_observer_are_no_alarms(changes):
    report = audit(attrs.evolve(PASSING, **changes), games=2, determinizations=20)
    assert not report.failed, report
    assert report["redraw"].passed == (not changes)
    assert report["history"].passed


FORGOTTEN = {
    "who could not follow suit": (
        {"determinize": sampler(voids=False)},
        "legal",
        r"player \d could not have played c\d+:\n  ",
    ),
    "one's own passed card": (
        {"determinize": sampler(own=False)},
        "history",
        "he has seen the moves",
    ),
    "a pass that a third player sees": ({"observe": None}, "history", "he has seen the moves"),
}


@pytest.mark.parametrize("what", FORGOTTEN)
def test_what_a_sampler_forgets_is_found_by_retrace(what):
    changes, check, pattern = FORGOTTEN[what]
    report = audit(attrs.evolve(PASSING, **changes), games=2, determinizations=20)
    assert report.failed == (check,)
    assert re.search(pattern, report[check].examples[0])


def test_without_retrace_nothing_has_passed_of_what_a_sampler_forgets():
    game = attrs.evolve(PASSING, determinize=sampler(own=False), retrace=None)
    report = audit(game, games=2, determinizations=20)
    assert report.outcome == "not checked", report
    assert str(report).endswith("; write `retrace`")


# ---------------------------------------------------------------------------------------- games in plain Python

CARDS, HAND, GO = 52, 6, 100


def luck(rng: np.ndarray) -> random.Random:
    return random.Random(int(below(rng, 1 << 32)))


def fits(card: int, last: int) -> bool:
    return abs(card % 13 - last) <= 2


def dealt(rng: np.ndarray) -> dict[str, Any]:
    deck = luck(rng).sample(range(CARDS), CARDS)
    hands = [sorted(deck[i * HAND : (i + 1) * HAND]) for i in range(3)]
    return {
        "hands": hands,
        "rest": sorted(deck[3 * HAND :]),
        "played": [],
        "said": [[], [], []],
        "last": 5,
        "moves": 0,
    }


def legal(state):
    return [card for card in state["hands"][state["moves"] % 3] if fits(card, state["last"])] or [
        GO
    ]


def act(state, action):
    mover = state["moves"] % 3
    if action == GO:
        state["said"][mover].append(state["last"])
    else:
        state["hands"][mover].remove(action)
        state["played"].append(action)
        state["last"] = action % 13
    state["moves"] += 1


def going(remembers: bool) -> PythonGame:
    """Who has no card that fits the last one says "go", which a sampler may forget."""

    def determinize(state, observer, beliefs, rng):
        drawn = copy.deepcopy(state)
        if observer == CHANCE:
            return drawn
        others = [i for i in range(3) if i != observer]
        unseen = sorted(state["rest"] + [card for i in others for card in state["hands"][i]])
        luck(rng).shuffle(unseen)
        for i in others:
            said = state["said"][i] if remembers else []
            # those that he may have first
            unseen.sort(key=lambda card, said=said: any(fits(card, last) for last in said))
            count = len(state["hands"][i])
            drawn["hands"][i], unseen = sorted(unseen[:count]), unseen[count:]
        return drawn | {"rest": sorted(unseen)}

    return PythonGame(
        name="go",
        players=3,
        initial=dealt,
        player=lambda state: TERMINAL if state["moves"] == 12 else state["moves"] % 3,
        legal=legal,
        apply=act,
        rewards=lambda state: [float(len(hand) <= HAND - 3) for hand in state["hands"]],
        determinize=determinize,
        observation=lambda state, player: (
            state["hands"][player],
            state["played"],
            state["said"],
            state["moves"],
        ),
        max_length=12,
    )


@pytest.mark.parametrize("remembers", [True, False])
def test_a_sampler_that_forgets_what_a_pass_tells_is_found_with_many_cards(remembers, few_deals):
    report = audit(going(remembers), games=1 if remembers else 2, determinizations=40)
    assert report.failed == (() if remembers else ("legal",)), report
    assert report["legal"].checked


def test_draws_that_like_one_card_are_found_however_many_states_there_are(monkeypatch):
    # of 130 draws the card is taken away, four deviations more than it takes
    monkeypatch.setattr(hidden, "DEALS", 400)
    game = going(remembers=True)

    def determinize(state, observer, beliefs, rng):
        drawn = game.determinize(state, observer, beliefs, rng)
        if observer != CHANCE and 0 in drawn["rest"] and below(rng, 2):  # the next player gets it
            hand = drawn["hands"][(observer + 1) % 3]
            drawn["rest"] = sorted({*drawn["rest"], hand[-1]} - {0})
            drawn["hands"][(observer + 1) % 3] = [0, *hand[:-1]]
        return drawn

    report = audit(attrs.evolve(game, determinize=determinize), games=1, determinizations=40)
    assert "uniform" in report.failed, report
    assert re.search(
        r"\d+ say \.rest\[0\] .*0, and \d+ of the deals", report["uniform"].examples[0]
    )


def picking(only: int = 2) -> PythonGame:
    """Three pick a side at once; the picks are a list that grows."""

    def determinize(state, observer, beliefs, rng):
        picks = state["picks"]
        return {
            "picks": [
                p if observer in (i, CHANCE) else int(below(rng, only)) for i, p in enumerate(picks)
            ]
        }

    return PythonGame(
        name="picks",
        players=3,
        initial=lambda rng: {"picks": []},
        player=lambda s: len(s["picks"]) if len(s["picks"]) < 3 else TERMINAL,
        legal=lambda s: [0, 1],
        apply=lambda s, a: s["picks"].append(a),
        rewards=lambda s: [float(s["picks"].count(p) == 1) for p in s["picks"]],
        observe=lambda s, a: [a if p == len(s["picks"]) else UNSEEN for p in range(3)],
        determinize=determinize,
        max_length=3,
        observation=lambda s, p: (len(s["picks"]), s["picks"][p : p + 1]),
        simultaneous=lambda s: len(s["picks"]) + 1,
    )


def test_the_order_of_a_list_that_grows_counts_where_the_game_depends_on_it(few_deals):
    report = audit(picking(), games=8, determinizations=250)
    assert report.passed, report
    assert report["uniform"].checked, report
    assert "truth" in audit(picking(only=1), games=8, determinizations=250).failed


def turning(move: int) -> PythonGame:
    """Player 0 must turn the top card; player 1 sees this move of it, and then the card."""

    def apply(state, action):
        state["turn"] += 1
        state["open"] = [*state["open"], state["deck"][state["turn"]]]

    return PythonGame(
        name="turning",
        players=2,
        initial=lambda rng: {"deck": luck(rng).sample(range(8), 8), "open": [], "turn": 0},
        player=lambda state: TERMINAL if state["turn"] == 6 else 0,
        legal=lambda state: [0],
        apply=apply,
        rewards=lambda state: [float(state["open"][-1] % 2)] * 2,
        observe=lambda state, action: [action, move],
        determinize=lambda state, observer, beliefs, rng: {
            **state,
            "deck": [
                *(top := state["deck"][: state["turn"] + 1]),
                *luck(rng).sample(rest := sorted({*state["deck"]} - {*top}), len(rest)),
            ],
        },
        observation=lambda state, player: (state["open"], state["turn"]),
        max_length=6,
    )


def test_an_action_that_is_not_noticed_but_whose_result_is_seen_is_found(few_deals):
    noticed, hidden = (audit(turning(move), games=2, determinizations=20) for move in (0, UNSEEN))
    assert "moves" not in noticed.failed
    assert "by his observation alone: in his tree one node" in noticed["moves"].note
    assert hidden.failed == ("moves",)
    assert "observe hides 0 from player 1, but his observation tells" in str(hidden)


# ------------------------------------------------------------------------------------------------- what is filed where


@pytest.mark.parametrize(
    ("observation", "what"),
    [
        (
            lambda state, player: None,
            r"observation \(.*line \d+\) returned None; it must return all",
        ),
        (lambda state, player: iter(state["picks"]), "returned <list_iterator"),
        (
            lambda state, player: state["pick"],
            r"observation raises KeyError\('pick'\) \(.*line \d+",
        ),
        (lambda state, player: 1 // (state["picks"] != [0]), "observation raises ZeroDivision"),
    ],
    ids=["no return", "an iterator", "an error", "an error after another action"],
)
def test_an_observation_that_tells_nothing_is_found_and_one_that_fails_ends_no_audit(
    observation, what
):
    report = audit(attrs.evolve(picking(), observation=observation), games=1, determinizations=20)
    assert report.failed == ("errors",), report
    assert re.search(what, report["errors"].examples[0])


def wrong_recall(state, perspective):
    raise KeyError("seen")


def test_a_broken_recall_stops_no_other_check():
    report = audit(attrs.evolve(picking(), recall=wrong_recall), games=2, determinizations=40)
    assert report.failed == ("recall",), report
    assert "KeyError('seen')" in report["recall"].examples[0], report
    assert report["view"].passed
    assert report["swap"].checked


def test_an_error_in_a_draw_s_weight_is_told_with_its_function():
    game = attrs.evolve(picking(), multiplicity=lambda state: state["pick"])
    example = audit(game, games=1, determinizations=20)["errors"].examples[0]
    assert re.search(r"<lambda> \(.*line \d+\) raises KeyError\('pick'\)", example), example


# ---------------------------------------------------------------------------------------- games of the library


def test_the_card_that_was_turned_up_is_told_as_no_draw_changes_it():
    game, check, luck = games.load("knockout-whist"), Check("redraw", ""), random.Random(1)
    redraws = Redraws(game)
    for deal in range(8):
        state = game.new_initial_state(deal)
        redraws.begin(state)
        for _ in range(3):
            player = state.current_player()
            views = [view_of(game, state.data, player)]
            draws = Draws(state, player).draw(state.data, 4, seeded(deal))
            redraws.note(state, player, draws, views)
            state.apply_action(random_action(state, luck))
    redraws.judge(check)
    assert check.checked == 24
    assert not check.failed, check.examples


# ------------------------------------------------------------------------- what a player is told by his own legal actions

FOLLOWED_BY = {"give": "take", "take": "end"}


def taking(state):
    return [0, 1, 2] if state["step"] == "give" else [10 + state["token"], 20]


def token_is_given(state, action):
    state["token" if state["step"] == "give" else "taken"] = action
    state["step"] = FOLLOWED_BY[state["step"]]


def test_what_one_s_own_legal_actions_tell_is_no_alarm():
    """One player gives the other a token unseen, who may take this one alone, and so must find it in all draws."""
    game = PythonGame(
        name="tokens",
        players=2,
        initial=lambda rng: {"token": -1, "step": "give", "taken": -1, "card": int(below(rng, 3))},
        player=lambda state: {"give": 1, "take": 0, "end": TERMINAL}[state["step"]],
        legal=taking,
        apply=token_is_given,
        rewards=lambda state: [float(state["card"] == 0), float(state["card"] != 0)],
        observe=lambda state, action: [UNSEEN, action] if state["step"] == "give" else [action] * 2,
        determinize=lambda state, observer, beliefs, rng: {**state, "card": int(below(rng, 3))},
        observation=lambda state, seat: (state["step"], state["taken"]),
        actions=30,
    )
    assert not audit(game, games=30, determinizations=100).failed
