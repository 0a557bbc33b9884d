"""What an audit found: each claim about a game, how often it was checked and how often it failed."""

from collections.abc import Collection, Mapping, Sequence

import attrs

from icarus.checks import differing

# the outcomes of a check
PASSED = "passed"
FAILED = "FAILED"
UNCHECKED = "not checked"
ABSENT = "-"
EXAMPLES = 2  # failures told in full for each check
QUOTED = 200  # characters of an answer


def indented(headline: str, board: str) -> str:
    """A line, and below it the text of a state."""
    return f"{headline}\n  " + board.replace("\n", "\n  ")


def last_of(texts: Sequence[str], most: int) -> str:
    """The last actions of a game, by their texts, for an example."""
    last = " ".join(texts[-most:]) or "nothing"
    return f"… {last}" if len(texts) > most else last


def both_texts(first: object, second: object) -> list[str]:
    """Two different answers for an example; of long ones the part where they differ."""
    return differing(str(first), str(second), QUOTED)


@attrs.define
class Check:
    """One claim about a game, how often it was checked, and how often it failed.

    Attributes:
        name, claim: a key of CHECKS, and its text.
        checked, failed: how often.
        examples: the first failures in the game's notation.
        note: why it could not be checked, or a further result.
        absent: whether the claim does not apply to the game.
        p_values: of the chi-square tests, one for each information set.
    """

    name: str
    claim: str
    checked: int = 0
    failed: int = 0
    examples: list[str] = attrs.field(factory=list)
    note: str = ""
    absent: bool = False
    p_values: list[float] = attrs.field(factory=list, repr=False)

    @property
    def passed(self) -> bool:
        """Checked, and never failed; what could not be checked has not passed."""
        return self.outcome == PASSED

    @property
    def outcome(self) -> str:
        """PASSED, FAILED or UNCHECKED; ABSENT if there was nothing to check."""
        if self.failed:
            return FAILED
        if self.checked:
            return PASSED
        return ABSENT if self.absent else UNCHECKED

    def count(self, example: str, checked: int = 1, failed: int = 1) -> None:
        """Count the claim as checked; as failed, too, where an example says what is wrong."""
        self.checked += checked
        if example:
            self.failed += failed
            self.examples = [*self.examples, example][:EXAMPLES]

    def __str__(self) -> str:
        """The check, its note and its examples, a line each."""
        times = f"{self.failed:,} of {self.checked:,}" if self.failed else f"{self.checked:,}"
        line = (
            f"  {self.name:<9}{self.outcome:<15} {times if self.checked else '-':>15}  {self.claim}"
        )
        below = [self.note, *self.examples] if self.note else self.examples
        return "\n".join([line, *("    " + each.replace("\n", "\n    ") for each in below)])


def checks_of(claims: Mapping[str, str], left_out: Collection[str]) -> dict[str, Check]:
    """A check of each claim, by name, without those that are left out."""
    return {name: Check(name, claim) for name, claim in claims.items() if name not in left_out}


def note_unchecked(
    checks: Mapping[str, Check], notes: Mapping[str, str], absent: Collection[str], otherwise: str
) -> None:
    """Note why checks were not made.

    Args:
        absent: the names of checks for which a game may have nothing to check.
        otherwise: the note of a check that `notes` does not have.
    """
    for name, check in checks.items():
        if not check.checked:
            check.note = check.note or notes.get(name, otherwise)
            check.absent = name in absent


@attrs.frozen(repr=False)
class AuditReport:
    """The result of an audit.

    Attributes:
        game: its name with parameters.
        games, decisions, determinizations: how many were checked.
        perfect: whether everyone sees everything.
        checks: in the order of CHECKS; those of determinizations only if something is hidden.
        seconds: wall-clock time.
        missing: what the audit cannot know without functions that the game lacks, by their names.
    """

    game: str
    games: int
    decisions: int
    determinizations: int
    perfect: bool
    checks: tuple[Check, ...]
    seconds: float
    missing: dict[str, str] = attrs.field(factory=dict)

    @property
    def outcome(self) -> str:
        """FAILED if a check failed, UNCHECKED if one could not be made, else PASSED."""
        if self.failed:
            return FAILED
        return UNCHECKED if self.unchecked else PASSED

    @property
    def passed(self) -> bool:
        """No check failed."""
        return not self.failed

    @property
    def unchecked(self) -> tuple[str, ...]:
        """The names of the checks that could not be made, although there is something to check."""
        return tuple(check.name for check in self.checks if check.outcome == UNCHECKED)

    @property
    def failed(self) -> tuple[str, ...]:
        """The names of the checks that failed."""
        return tuple(check.name for check in self.checks if check.failed)

    def __getitem__(self, name: str) -> Check:
        checks = {check.name: check for check in self.checks}
        if name not in checks:
            raise KeyError(f"the audit has no check {name!r}; its checks: {', '.join(checks)}")
        return checks[name]

    @property
    def _verdict(self) -> str:
        unchecked = f"{UNCHECKED}: {', '.join(self.unchecked)}"
        if self.missing and not self.failed:
            return f"{unchecked}; write {' and '.join(f'`{name}`' for name in self.missing)}"
        verdict = f"{FAILED}: {', '.join(self.failed)}" if self.failed else PASSED
        return verdict + (f" ({unchecked})" if self.unchecked else "")

    def __repr__(self) -> str:
        return f"<audit of {self.game}: {self._verdict}>"

    def __str__(self) -> str:
        looked = (
            "no `determinize`: every player sees everything"
            if self.perfect
            else f"{self.decisions:,} decisions, {self.determinizations:,} determinizations"
        )
        head = f"audit of {self.game}: {self.games:,} games, {looked}, {self.seconds:.1f} s"
        head += "".join(
            f"; without `{name}` it cannot know {what}" for name, what in self.missing.items()
        )
        return "\n".join([head, *map(str, self.checks), self._verdict])
