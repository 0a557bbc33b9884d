"""The audit of classes in plain Python: it passes the games of examples/adopted, and finds each fault of a sampler planted in them."""

import copy
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from icarus.audit import resampler
from icarus.audit.report import UNCHECKED
from icarus.audit.resampler import CLAIMS, audit_class
from icarus.commands import cli
from tests.test_adopted_games import FAULTS, FOLDER, NAMES, game_class

HIDDEN = [name for name in NAMES if hasattr(game_class(name), "resample")]
CLAIM_OF = ["unseen", "view", "view", "view", "swap", "facts", "view", "uniform", "facts", "swap"]  # fault by fault
GAMES = {"facts": 2500, "uniform": 20}  # that it takes; these are slow
COMMON = 200  # games, where nothing is said


class Coins:
    """Each player has a coin, hidden from the other; both may be turned, and who has heads wins."""

    def __init__(self, rng: random.Random) -> None:
        self.coins, self.player, self.turned = [rng.randrange(2), rng.randrange(2)], 0, [False, False]

    def is_terminal(self) -> bool:
        return self.player == 2

    def current_player(self) -> int:
        return -4 if self.is_terminal() else self.player

    def legal_actions(self) -> list[int]:
        return [0, 1]

    def apply_action(self, action: int) -> None:
        if action:
            self.coins[self.player] = 1 - self.coins[self.player]
            self.turned[self.player] = True
        self.player += 1

    def returns(self) -> list[int]:
        return [self.coins[0] - self.coins[1], self.coins[1] - self.coins[0]]

    def copied(self) -> "Coins":
        copy = type(self)(random.Random(0))
        copy.coins, copy.player, copy.turned = list(self.coins), self.player, list(self.turned)
        return copy

    def resample(self, player: int, rng: random.Random) -> "Coins":
        copy = self.copied()
        copy.coins[1 - player] = rng.randrange(2)
        return copy

    def observation(self, player: int) -> tuple[int, int, bool, bool]:
        return (self.coins[player], self.player, *self.turned)

    def __str__(self) -> str:
        return f"{self.coins}, {self.turned}, player {self.player}"


def with_sampler(draw: Callable[[Coins, Coins, int, random.Random], None]) -> type[Coins]:
    """Coins whose sampler changes a copy: `draw(state, copy, player, rng)`."""

    class Faulty(Coins):
        def resample(self, player: int, rng: random.Random) -> Coins:
            copy = self.copied()
            draw(self, copy, player, rng)
            return copy

    return Faulty


def turned(state: Coins, copy: Coins, player: int, rng: random.Random) -> None:
    """The truth shows through the random numbers."""
    copy.coins[1 - player] = state.coins[1 - player] ^ rng.randrange(2)


def biased(state: Coins, copy: Coins, player: int, rng: random.Random) -> None:
    copy.coins[1 - player] = int(rng.random() < 0.9)


def changing(state: Coins, copy: Coins, player: int, rng: random.Random) -> None:
    state.coins[1 - player] = copy.coins[1 - player] = rng.randrange(2)


def impatient(state: Coins, copy: Coins, player: int, rng: random.Random) -> None:
    copy.player += 1


SAMPLERS = [
    ("redraw", lambda state, copy, player, rng: None),
    ("view", lambda state, copy, player, rng: copy.coins.__setitem__(player, rng.randrange(2))),
    ("swap", turned),
    ("uniform", biased),
    ("original", changing),
    ("player", impatient),
]


def test_a_sampler_that_does_what_it_should_passes_every_claim() -> None:
    report = audit_class(Coins, games=200)
    assert report.passed and not report.unchecked, report
    assert (report.game, report.games, report.decisions) == ("Coins", 200, 200)


@pytest.mark.parametrize(("claim", "draw"), SAMPLERS, ids=[claim for claim, _ in SAMPLERS])
def test_each_claim_fails_by_a_sampler_that_breaks_it(claim: str, draw: Any) -> None:
    report = audit_class(with_sampler(draw), games=300)
    assert claim in report.failed and report[claim].examples


class Three:
    """Each of three has a card of seven, and says whether it is the highest; player 1 may see player 0's, and `blind` is never redrawn."""

    sees, blind, dealt = False, None, 7

    def __init__(self, rng: random.Random) -> None:
        self.cards, self.said = rng.sample(range(self.dealt), 3), list[int]()

    def is_terminal(self) -> bool:
        return len(self.said) == 3

    def current_player(self) -> int:
        return -4 if self.is_terminal() else len(self.said)

    def legal_actions(self) -> list[int]:
        return [0, 1]

    def apply_action(self, action: int) -> None:
        self.said.append(action)

    def returns(self) -> list[int]:
        return [int(card == max(self.cards)) for card in self.cards]

    def resample(self, player: int, rng: random.Random) -> "Three":
        copy = type(self)(random.Random(0))
        fixed = {player, *([self.blind] if self.blind is not None else []), *([0] if self.sees and player == 1 else [])}
        free_cards = sorted(set(range(self.dealt)) - {self.cards[i] for i in fixed})
        fresh = rng.sample(free_cards, 3 - len(fixed))
        copy.cards = [card if i in fixed else fresh.pop() for i, card in enumerate(self.cards)]
        copy.said = list(self.said)
        return copy

    def observation(self, player: int) -> tuple[object, ...]:
        return player, self.cards[player], self.sees and player == 1 and self.cards[0], tuple(self.said)

    def __str__(self) -> str:
        return f"{self.cards}, {self.said}"


@pytest.mark.parametrize(
    ("settings", "failed"),
    [
        ({}, ()),
        ({"blind": 2}, ("redraw",)),
        ({"blind": 0}, ("redraw",)),
        ({"sees": True}, ()),  # a card that is open to one is not redrawn for him
        ({"sees": True, "dealt": 3}, ()),  # nor is one that he can infer
    ],
    ids=str,
)
def test_of_three_players_each_hidden_hand_is_redrawn_for_everybody(
    settings: dict[str, Any], failed: tuple[str, ...]
) -> None:
    report = audit_class(type("Three", (Three,), settings), games=60)
    assert report.failed == failed, report
    if failed:
        message = f"cards[{settings['blind']}] is never redrawn, while those of others are"
        assert message in report["redraw"].examples[0]


def test_two_facts_that_never_stand_together_in_play_are_told() -> None:
    class Coupled(Coins):
        """Both coins fall alike, which the sampler forgets."""

        def __init__(self, rng: random.Random) -> None:
            super().__init__(rng)
            self.coins[1] = self.coins[0]

        def legal_actions(self) -> list[int]:
            return [0]

    report = audit_class(Coupled, games=300)
    assert report.failed == ("facts",) and report["facts"].examples[0].startswith("in ")


@pytest.mark.parametrize(
    ("claim", "method", "value"),
    [
        ("actions", "legal_actions", lambda self: [1, 1]),
        ("actions", "legal_actions", lambda self: []),
        ("actions", "legal_actions", lambda self: [random.randrange(1000)]),
        ("actions", "apply_action", lambda self, action: [][0]),
        ("end", "returns", lambda self: []),
    ],
)
def test_a_class_that_breaks_the_protocol_is_told_so(claim: str, method: str, value: Any) -> None:
    report = audit_class(type("Broken", (Coins,), {method: value}), games=5)
    assert claim in report.failed and report.games < 5


class Drawn(Coins):
    """Coins with a stock of four cards, from which each player has drawn one that the other does not see."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.stock, self.cards, self.drawing = [0, 1, 2, 3], [-1, -1], False

    def num_players(self) -> int:
        return 2

    def current_player(self) -> int:
        return -1 if self.drawing else super().current_player()

    def legal_actions(self) -> list[int]:
        return list(self.stock) if self.drawing else [0, 1]

    def chance_outcomes(self) -> list[tuple[int, float]]:
        return [(card, 1 / len(self.stock)) for card in self.stock]

    def apply_action(self, action: int) -> None:
        if self.drawing:
            self.stock.remove(action)
            self.cards[self.player - 1] = action
        else:
            super().apply_action(action)
        self.drawing = not self.drawing

    def is_terminal(self) -> bool:
        return self.player == 2 and not self.drawing

    def resample(self, player: int, rng: random.Random) -> "Coins":
        sample = copy.deepcopy(self)
        sample.coins[1 - player] = rng.randrange(2)
        unseen = sorted([*self.stock, *[self.cards[1 - player]] * (self.cards[1 - player] >= 0)])
        rng.shuffle(unseen)
        if self.cards[1 - player] >= 0:
            sample.cards[1 - player] = unseen.pop()
        sample.stock = sorted(unseen)
        return sample

    def observation(self, player: int) -> Any:
        return super().observation(player), self.cards[player], self.drawing, len(self.stock)

    def __str__(self) -> str:
        return f"{super().__str__()}, {self.stock}, {self.cards}, {self.drawing}"


SLIPS: list[tuple[str, str, Any, str]] = [
    ("end", "returns", lambda self: "abc", "returns() is 'abc'; it must be a list of numbers"),
    ("end", "returns", lambda self: [math.nan] * 2, "nan is not a finite number"),
    ("end", "returns", lambda self: [1.0], "returns() has 1 number, and there are 2 players"),
    ("end", "returns", lambda self: 1 / 0, "raises ZeroDivisionError"),
    ("actions", "chance_outcomes", lambda self: [(card, 1) for card in self.stock], "chance_outcomes() sum to 4"),
    ("actions", "chance_outcomes", lambda self: self.stock, "it must be a list of pairs (outcome, probability)"),
    ("actions", "chance_outcomes", lambda self: [(9, 1)], "the outcome 9, which is not one of the legal actions"),
    ("actions", "num_players", lambda self: 1, "current_player() is 1; before the end it must be 0, or -1 for chance"),
    ("actions", "legal_actions", lambda self: None, "legal_actions() is None; it must be a list of integers"),
    ("actions", "legal_actions", lambda self: ["a"], "'a' is not an integer of at least 0"),
    ("end", "current_player", lambda self: -1 if self.drawing else self.player % 2, "current_player() is 0 at the end"),
    ("player", "resample", lambda self, player, rng: None, "resample gives None, which is not a state of Broken"),
    (
        "unseen",
        "resample",
        lambda self, player, rng: Coins.resample(self, player, rng),
        "cannot tell these from one another",
    ),
]


def test_a_class_with_a_hidden_stock_passes_every_claim() -> None:
    report = audit_class(Drawn, games=100)
    assert report.passed and report["unseen"].passed, report


@pytest.mark.parametrize(("claim", "method", "value", "message"), SLIPS)
def test_a_slip_of_a_class_is_told_in_a_sentence(claim: str, method: str, value: Any, message: str) -> None:
    class Copied(Drawn):
        def copied(self) -> Coins:
            return copy.deepcopy(self)

    report = audit_class(type("Broken", (Copied,), {method: value}), games=60)
    assert claim in report.failed and message in report[claim].examples[0], report
    assert all(check.note for check in report.checks if check.outcome == UNCHECKED)


def test_a_game_without_end_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampler, "MOST_ACTIONS", 50)
    report = audit_class(type("Endless", (Coins,), {"apply_action": lambda self, action: None}), games=5)
    assert "the game has not ended after 50 actions" in report["end"].examples[0]


def test_the_same_seed_finds_the_same() -> None:
    first, second = (audit_class(with_sampler(biased), games=100, seed=3) for _ in range(2))
    assert [check.examples for check in first.checks] == [check.examples for check in second.checks]


def test_a_resampler_without_an_observation_is_refused() -> None:
    without = type("Without", (Coins,), {"__getattribute__": hidden_observation})
    with pytest.raises(ValueError, match=r"Without has resample\(player, rng\) but no observation\(player\)"):
        audit_class(without)


def test_an_instance_in_place_of_its_class_is_refused() -> None:
    pattern = "audit_class needs a class, or a function that makes a first state, not <tests.test_resampler_audit.Coins"
    with pytest.raises(TypeError, match=pattern):
        audit_class(Coins(random.Random(1)))  # type: ignore[arg-type]


def test_an_observation_without_a_resampler_is_refused() -> None:
    class Seen:
        resample = property()  # which no instance has
        observation = is_terminal = returns = print

    with pytest.raises(ValueError, match=r"Seen has observation\(player\) and no resample\(player, rng\)"):
        audit_class(Seen)


def hidden_observation(self: object, name: str) -> object:
    if name == "observation":
        raise AttributeError(name)
    return object.__getattribute__(self, name)


@pytest.mark.parametrize("name", [name for name in HIDDEN if name != "battleship"])  # which takes 19 s for 4 games
def test_the_adopted_games_pass(name: str) -> None:
    report = audit_class(game_class(name), games=12)
    assert report.passed, report
    assert set(CLAIMS) == {check.name for check in report.checks}


def test_a_game_with_nothing_hidden_is_held_to_the_protocol_alone() -> None:
    report = audit_class(game_class("kalah"), games=25)
    assert report.passed and report.perfect and len(report.checks) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", HIDDEN)
def test_the_adopted_games_pass_in_as_many_games_as_the_faults_need(name: str) -> None:
    games = 20 if name == "battleship" else GAMES["facts"]  # battleship takes a second for a game
    assert audit_class(game_class(name), games=games).passed


@pytest.mark.parametrize(
    ("fault", "claim"),
    [
        pytest.param(
            fault, claim, id=f"{fault['game']}: {fault['wrong']}", marks=[pytest.mark.slow] * (claim == "facts")
        )
        for fault, claim in zip(FAULTS["samplers"], CLAIM_OF, strict=True)
    ],
)
def test_a_planted_fault_of_a_sampler_is_found(fault: dict[str, str], claim: str) -> None:
    report = audit_class(game_class(fault["game"], fault["text"], fault["fault"]), games=GAMES.get(claim, COMMON))
    assert claim in report.failed, report


def test_the_command_checks_a_file_with_a_class(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("icarus.commands.new.CLASS_GAMES", 60)
    assert cli.run(["check", str(FOLDER / "schnapsen.py")]) == 0
    assert "audit of Schnapsen: 60 games" in capsys.readouterr().out
    fault = next(fault for fault in FAULTS["samplers"] if fault["game"] == "schnapsen" and "stock" in fault["wrong"])
    wrong = tmp_path / "wrong.py"
    wrong.write_text((FOLDER / "schnapsen.py").read_text().replace(fault["text"], fault["fault"]))
    assert cli.run(["check", str(wrong)]) == 1
    assert "FAILED: view" in capsys.readouterr().out
