"""What agents are compared by, as texts."""

from experiments.analysis.rewards import strengths
from experiments.analysis.statistics import Estimate
from experiments.store.summary import Tally, any_graded, baseline

SMALLEST_P = 1e-4  # smaller ones are written as such


def measures_of(tallies: list[Tally]) -> tuple[list[str], list[list[str]]]:
    """Headings and texts of what agents are compared by, and of the band: wins, or where rewards are graded the mean rewards.

    Where games were drawn, a column counts them, and the next one has the score, in which a draw counts one half.
    """
    estimates, even = strengths(tallies), baseline(tallies)
    bands = [_band(each, estimates[tallies.index(even)] if even else None) for each in estimates]
    if any_graded(tallies):
        return ["Games", "Mean reward", "95 % interval", "Band"], [
            [str(tally.games), *_texts(each, is_reward=True), band]
            for tally, each, band in zip(tallies, estimates, bands, strict=True)
        ]
    any_draws = any(tally.draws for tally in tallies)
    return ["Wins", "Games", "Win rate", "95 % interval", *(["Draws", "Score"] * any_draws), "Band"], [
        [str(tally.wins), str(tally.games), *_texts(each, is_reward=False), *(_draw_texts(tally) * any_draws), band]
        for tally, each, band in zip(tallies, estimates, bands, strict=True)
    ]


def _texts(estimate: Estimate | None, is_reward: bool) -> tuple[str, str]:
    """A mean reward, or in percent a win rate, with its interval as texts."""
    if estimate is None:
        return "", ""
    if is_reward:
        return f"{estimate.value:.3f}", f"{estimate.low:.3f} - {estimate.high:.3f}"
    return f"{100 * estimate.value:.1f} %", f"{100 * estimate.low:.1f} - {100 * estimate.high:.1f} %"


def _draw_texts(tally: Tally) -> list[str]:
    """How many games were drawn, and the score, in which a draw counts one half."""
    return [str(tally.draws), "" if tally.score is None else f"{100 * tally.score:.1f} %"]


def _band(estimate: Estimate | None, even: Estimate | None) -> str:
    """Where an agent lies against the interval of evenly matched players: "above", "below" or nothing."""
    if even is None or estimate is None:
        return ""
    return "above" if estimate.value > even.high else "below" if estimate.value < even.low else ""


def p_text(value: float) -> str:
    """A p-value as text."""
    return f"< {SMALLEST_P:.4f}" if value < SMALLEST_P else f"{value:.4f}"
