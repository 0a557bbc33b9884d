"""Where each statement of a campaign stands: decided at which look and for how much of its 5 %, or what it waits for."""

from collections import Counter
from collections.abc import Mapping, Sequence

from experiments.plan.campaign import SHARES, Sizes
from experiments.weigh.document import Table
from experiments.weigh.evidence import AGREES, DISAGREES, UNDECIDED, Place, place_title
from experiments.weigh.statistics import CONFIDENCE
from experiments.weigh.verdicts import Judgement, more_text

WAITS, USED_UP = "waits", "games used up"
Games = Mapping[tuple[Place, str], int]  # of each agent in each place


def state(judgement: Judgement) -> str:
    """The verdict; where there is none, whether any look was taken, and whether one is left."""
    if judgement.verdict != UNDECIDED:
        return judgement.verdict
    if judgement.look == 0:
        return WAITS
    open_looks = [finding.look for finding in judgement.findings if finding.verdict == UNDECIDED]
    return USED_UP if min(open_looks) == len(SHARES) else UNDECIDED


def counted(judged: Sequence[Judgement]) -> str:
    """How many statements are in which state, in words."""
    numbers = Counter(map(state, judged))
    return (
        f"Of {len(judged)} statements {numbers[AGREES]} agree, {numbers[DISAGREES]} disagree, {numbers[UNDECIDED]} are undecided "
        f"after a look, {numbers[USED_UP]} have used up their games undecided, and {numbers[WAITS]} wait for a first look."
    )


def spent(judgement: Judgement) -> float:
    """The part of the chance of a wrong verdict that a statement's looks have used: of 5 %, that of the looks taken."""
    return (1 - CONFIDENCE) * sum(SHARES[: judgement.look])


def ahead(judgement: Judgement, games: Games, sizes: Sizes) -> dict[Place, int]:
    """The games that are missing, by place, until every undecided comparison of a statement has had its next look."""
    targets: dict[tuple[Place, str], int] = {}
    for finding in judgement.findings:
        if judgement.verdict == UNDECIDED and finding.verdict == UNDECIDED and finding.look < len(SHARES):
            for place, strategy in finding.comparison.cells:
                wanted = sizes[place][finding.look]
                targets[place, strategy] = max(wanted, targets.get((place, strategy), 0))
    missing: dict[Place, int] = {}
    for (place, strategy), wanted in targets.items():
        if (short := wanted - games.get((place, strategy), 0)) > 0:
            missing[place] = missing.get(place, 0) + short
    return {place: missing[place] for place in sizes if place in missing}


def states_table(judged: Sequence[Judgement], games: Games, sizes: Sizes) -> Table:
    """A line for each statement."""
    lines = []
    for number, judgement in enumerate(judged, 1):
        missing = ahead(judgement, games, sizes)
        lines.append(
            [
                str(number),
                judgement.claim.text,
                state(judgement),
                f"{judgement.look} of {len(SHARES)}",
                f"{100 * spent(judgement):.2g} %",
                str(sum(missing.values())) if missing else "",
                "all games" if missing.keys() == set(sizes) else ", ".join(map(place_title, missing)),
                more_text(judgement.more),
            ]
        )
    return Table(
        "The state of each statement. Spent: of the 5 % in which it may be wrong, what its looks so far have used. More games: how many "
        "each cell needs besides those it has, if the differences stay as they are; known after a look.",
        ["No.", "As judged", "State", "Looks", "Spent", "Games to the next look", "in", "More games"],
        lines,
    )
