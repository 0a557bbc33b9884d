"""What an audit found: each claim about a game, how often it was checked and how often it failed."""

from collections.abc import Callable

import attrs

EXAMPLES = 2  # failures told in full for each check


@attrs.define
class Check:
    """One claim about a game, how often it was checked, and how often it failed.

    Attributes:
        name, claim: a key of CHECKS, and what it says.
        checked, failed: how often.
        examples: the first failures in the game's notation.
        note: why it could not be checked, or what was found beyond passing.
        p_values: of the chi-square tests, one for each information set.
    """

    name: str
    claim: str
    checked: int = 0
    failed: int = 0
    examples: list[str] = attrs.field(factory=list)
    note: str = ""
    p_values: list[float] = attrs.field(factory=list, repr=False)

    @property
    def passed(self) -> bool:
        """Checked, and never failed; what could not be checked has not passed."""
        return self.checked > 0 and self.failed == 0

    def count(self, checked: int, failed: int, example: Callable[[], str]) -> None:
        self.checked += checked
        self.failed += failed
        if failed and len(self.examples) < EXAMPLES:
            self.examples.append(example())

    def __str__(self) -> str:
        verdict = "passed" if self.passed else "FAILED" if self.failed else "not checkable"
        times = f"{self.failed:,} of {self.checked:,}" if self.failed else f"{self.checked:,}"
        line = f"  {self.name:<9}{verdict:<13} {times if self.checked else '-':>15}  {self.claim}"
        note = [f"    {self.note}"] if self.note else []
        return "\n".join([line, *note, *("    " + example.replace("\n", "\n    ") for example in self.examples)])


@attrs.frozen
class AuditReport:
    """What an audit found.

    Attributes:
        game: its name with parameters.
        games, decisions, determinizations: how many were looked at.
        perfect: whether everyone sees everything.
        checks: in the order of CHECKS; those of determinizations only where something is hidden.
        seconds: wall-clock time.
    """

    game: str
    games: int
    decisions: int
    determinizations: int
    perfect: bool
    checks: tuple[Check, ...]
    seconds: float

    @property
    def passed(self) -> bool:
        """No check failed."""
        return not self.failed

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return tuple(check.name for check in self.checks if check.failed)

    def __getitem__(self, name: str) -> Check:
        return next(check for check in self.checks if check.name == name)

    def __str__(self) -> str:
        unchecked = [check.name for check in self.checks if not check.checked]
        verdict = "passed" if self.passed else f"FAILED: {', '.join(self.failed)}"
        missing = f" (not checkable: {', '.join(unchecked)})" if unchecked else ""
        looked = f"{self.decisions:,} decisions, {self.determinizations:,} determinizations"
        looked = "perfect information, nothing to determinize" if self.perfect else looked
        head = f"audit of {self.game}: {self.games:,} games, {looked}, {self.seconds:.1f} s"
        return "\n".join([head, *map(str, self.checks), f"{verdict}{missing}"])
