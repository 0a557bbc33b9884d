"""The result of a race as text and as a page: the winner to paste, its proof, what each factor is worth, the course, the cost."""

import math
from html import escape
from pathlib import Path

from icarus.discovery.race import Discovery, Proof
from icarus.discovery.space import level_text
from icarus.discovery.statistics import CONFIDENCE
from icarus.views.pages import page

PAGE, TEXT = "result.html", "result.txt"
WIDTH, HEIGHT, EDGE = 640, 220, 40
SHOWN = 12  # levels in the text


def write_result(discovery: Discovery, directory: Path) -> None:
    """Write the result of a race beside its rows."""
    (directory / TEXT).write_text(text_of(discovery) + "\n", encoding="utf-8")
    (directory / PAGE).write_text(page_of(discovery), encoding="utf-8")


def text_of(discovery: Discovery) -> str:
    """The result as text."""
    return "\n\n".join(
        f"{title}\n" + "\n".join(f"  {line}".rstrip() for line in lines) for title, lines in _parts(discovery) if lines
    )


def page_of(discovery: Discovery) -> str:
    """The result as a page that needs no network."""
    parts = "".join(
        f"<h2>{escape(title)}</h2><pre tabindex='0'>{escape(chr(10).join(lines))}</pre>"
        for title, lines in _parts(discovery)
        if lines
    )
    return page(
        "document",
        f"Discovered for {discovery.protocol.game}",
        sections=f"{parts}<h2>The race</h2><div class='pictures'>{picture_of(discovery)}</div>",
    )


def _parts(discovery: Discovery) -> list[tuple[str, list[str]]]:
    protocol = discovery.protocol
    budget = f"{protocol.iterations} iterations" if protocol.iterations else f"{protocol.seconds:g} s"
    return [
        (f"{protocol.game}, {budget} for each decision", _verdict(discovery)),
        (
            f"Proof: mean reward less the reference's in its place, against the reference, {CONFIDENCE:.0%} interval",
            [_proof(each, protocol.level) for each in discovery.proofs],
        ),
        (
            "What the best finalist loses with one factor back at its default",
            [f"{each.difference}   {each.factor} = {level_text(each.level)}" for each in discovery.ablations],
        ),
        ("What levels are worth, by the model of the exploration: mean, standard deviation", _effects(discovery)),
        (
            "The incumbent of the exploration: after so many units, expected mean reward",
            [
                f"{unit:6}  {'' if math.isnan(mean) else f'{mean:.3f}'}  {configuration}"
                for unit, configuration, mean in discovery.course
            ],
        ),
        (
            "Protocol",
            [
                f"digest {protocol.digest}, seed {protocol.seed}, finder {protocol.finder}",
                f"space {protocol.space.name} of {protocol.space.count():,} points",
                f"pool: {'; '.join(map(str, protocol.pool))}; at half time the incumbent",
                f"units of {len(protocol.seats)} games: {protocol.units[0]} to explore, {protocol.units[1]} to prove each finalist",
                f"a difference of {protocol.detectable():.3f} or more is found with 80 % power at the strictest level of Holm's tests",
            ],
        ),
        ("Cost", [f"{discovery.games:,} games, {discovery.seconds / 3600:.2f} processor hours"]),
    ]


def _verdict(discovery: Discovery) -> list[str]:
    protocol, winner = discovery.protocol, discovery.winner
    if winner is not None:
        low, high = winner.difference.interval()
        return [
            str(winner.configuration),
            "",
            f"is better than {protocol.reference}",
            f"by {winner.difference.mean:.3f} in mean reward [{low:.3f}, {high:.3f}], {_p_text(winner.p)} after Holm,",
            f"on {winner.difference.units} units that it was not chosen by",
            f"iterations per second as a share of the reference's: {_rate_text(winner)}",
        ]
    most = max(each.difference.interval()[1] for each in discovery.proofs)
    return [
        f"Nothing was proven better than {protocol.reference}.",
        f"None of the finalists is better by more than {most:.3f} in mean reward ({CONFIDENCE:.0%}, each by itself).",
    ]


def _p_text(p: float) -> str:
    return f"p = {p:.2g}" if p > 0 else "p < 1e-300"


def _rate_text(proof: Proof) -> str:
    """Iterations per second as a share of the reference's; games of a few milliseconds do not show it."""
    return "not measured" if math.isnan(proof.rate) else f"{proof.rate:.0%}"


def _proof(proof: Proof, level: float) -> str:
    word = "better" if proof.p < level else "not proven"
    return f"{proof.difference}  {_p_text(proof.p)}  {word:10}  speed {_rate_text(proof)}  {proof.configuration}"


def _effects(discovery: Discovery) -> list[str]:
    effects = [each for each in discovery.effects if abs(each.mean) > 1e-9]
    ranked = sorted(effects, key=lambda each: -abs(each.mean) / each.deviation)
    return [
        f"{each.mean:+.3f} ± {each.deviation:.3f}  {each.factor} = {level_text(each.level)}" for each in ranked[:SHOWN]
    ]


def picture_of(discovery: Discovery) -> str:
    """The race as a picture: what the incumbent was expected to get, by units."""
    course = [(unit, mean) for unit, _, mean in discovery.course if not math.isnan(mean)]
    if len(course) < 2:
        return ""
    total = discovery.protocol.units[0]
    low, high = min(mean for _, mean in course) - 0.02, max(mean for _, mean in course) + 0.02
    across = [EDGE + (WIDTH - EDGE) * unit / total for unit, _ in [*course, (total, 0.0)]]
    up = [HEIGHT - EDGE - (HEIGHT - EDGE) * (mean - low) / (high - low) for _, mean in course]
    steps = " ".join(
        f"{x:.1f},{y:.1f} {following:.1f},{y:.1f}" for x, following, y in zip(across, across[1:], up, strict=False)
    )
    words = f'<text x="{EDGE}" y="{HEIGHT - 12}">0</text><text x="{WIDTH}" y="{HEIGHT - 12}" text-anchor="end">{total} units</text>'
    words += f'<text x="0" y="{HEIGHT - EDGE}">{low:.2f}</text><text x="0" y="12">{high:.2f}</text>'
    line = f'<polyline points="{steps}" fill="none" stroke="currentColor" stroke-width="2"/>'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="The race" font-size="11" fill="currentColor">{words}{line}</svg>'
