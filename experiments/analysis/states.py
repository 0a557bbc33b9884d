"""The state of each statement of a campaign: the interim analysis that decided it and its part of the 5 %, or what it waits for."""

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from experiments.analysis.comparisons import AGREES, DISAGREES, UNDECIDED, Place, place_title
from experiments.analysis.verdicts import SIGNS, Decision, Outcome, combine_signs, more_text
from experiments.plan.campaign import SHARES, Sizes
from icarus.views.document import Table

WAITS, USED_UP = "waits", "games used up"
ONLY_AGREES, ONLY_DISAGREES = "can only agree", "can only disagree"
Games = Mapping[tuple[Place, str], int]  # of each agent in each place


def state(decision: Decision) -> str:
    """The verdict; where there is none, whether any interim analysis was taken, and which verdicts those to come can still bring."""
    if decision.verdict != UNDECIDED:
        return decision.verdict
    if decision.interim == 0:
        return WAITS
    match _can_come(decision, AGREES), _can_come(decision, DISAGREES):
        case True, True:
            return UNDECIDED
        case True, False:
            return ONLY_AGREES
        case False, True:
            return ONLY_DISAGREES
        case _:
            return USED_UP


def _can_come(decision: Decision, verdict: str) -> bool:
    """Whether a statement comes to a verdict if every comparison does that has an interim analysis left."""

    def sign(outcome: Outcome) -> np.ndarray:
        is_open = outcome.verdict == UNDECIDED and outcome.interim < len(SHARES)
        return np.array(SIGNS[verdict if is_open else outcome.verdict])

    return (
        int(combine_signs(decision.claim, [[sign(outcome) for outcome in case] for case in decision.cases]))
        == SIGNS[verdict]
    )


def count_sentence(decisions: Sequence[Decision]) -> str:
    """How many statements are in which state, in words."""
    numbers = Counter(map(state, decisions))
    endings = {
        AGREES: "agree",
        DISAGREES: "disagree",
        UNDECIDED: "are undecided after an interim analysis",
        ONLY_AGREES: "can only agree",
        ONLY_DISAGREES: "can only disagree",
        USED_UP: "undecided with all games played",
        WAITS: "wait for a first one",
    }
    parts = [f"{numbers[name]} {ending}" for name, ending in endings.items() if numbers[name]]
    return f"Of {len(decisions)} statements {', '.join(parts[:-1])}{' and ' * (len(parts) > 1)}{parts[-1]}."


def alpha_spent(decision: Decision) -> float:
    """The part of the chance of a wrong verdict, of 5 % or less, that a statement's interim analyses so far have used."""
    confidence = max(comparison.confidence for comparison in decision.claim.comparisons)
    return (1 - confidence) * sum(SHARES[: decision.interim])


def games_to_next_interim(decision: Decision, games: Games, sizes: Sizes) -> dict[Place, int]:
    """The games that are missing, by place, until every comparison that can still count has had its next interim analysis.

    In a case that disagrees already none can.
    """
    targets: dict[tuple[Place, str], int] = {}
    is_open = [all(outcome.verdict != DISAGREES for outcome in case) for case in decision.cases]
    for outcome in itertools.chain.from_iterable(itertools.compress(decision.cases, is_open)):
        if decision.verdict == UNDECIDED and outcome.verdict == UNDECIDED and outcome.interim < len(SHARES):
            for place, strategy in outcome.comparison.cells:
                due = sizes[place][outcome.interim]
                targets[place, strategy] = max(due, targets.get((place, strategy), 0))
    missing: dict[Place, int] = {}
    for (place, strategy), due in targets.items():
        if (short := due - games.get((place, strategy), 0)) > 0:
            missing[place] = missing.get(place, 0) + short
    return {place: missing[place] for place in sizes if place in missing}


def states_table(decisions: Sequence[Decision], games: Games, sizes: Sizes) -> Table:
    """A line for each statement."""
    lines = []
    for number, decision in enumerate(decisions, 1):
        missing = games_to_next_interim(decision, games, sizes)
        lines.append(
            [
                str(number),
                decision.claim.text,
                state(decision),
                f"{decision.interim} of {len(SHARES)}",
                f"{100 * alpha_spent(decision):.2g} %",
                str(sum(missing.values())) if missing else "",
                "all games" if missing.keys() == set(sizes) else ", ".join(map(place_title, missing)),
                more_text(decision.more),
            ]
        )
    return Table(
        "The state of each statement. Spent: the part of its chance of a wrong verdict that its interim analyses have used. More games: "
        "how many each cell needs besides those it has, if the differences stay as they are; known after an interim analysis.",
        [
            "No.",
            "As tested",
            "State",
            "Interim analyses",
            "Spent",
            "Games to the next interim analysis",
            "in",
            "More games",
        ],
        lines,
    )
