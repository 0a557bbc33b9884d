"""The result of a race as text and as a page: the winner to paste, its proof, what each factor is worth, the course, the cost."""

import math
from collections.abc import Sequence
from html import escape
from pathlib import Path

import attrs

from icarus.discovery.race import Discovery, Proof
from icarus.discovery.space import level_text
from icarus.discovery.statistics import CONFIDENCE, Difference
from icarus.views.document import page
from icarus.views.tables import table_of_html

PAGE, TEXT = "result.html", "result.txt"
WIDTH, HEIGHT, EDGE = 640, 220, 40
BAR, LINE = 180, 16  # of the picture of an interval
SHOWN = 12  # levels in the text


def write_result(discovery: Discovery, directory: Path) -> None:
    """Write the result of a race beside its rows."""
    (directory / TEXT).write_text(text_of(discovery) + "\n", encoding="utf-8")
    (directory / PAGE).write_text(page_of(discovery), encoding="utf-8")


@attrs.frozen
class Section:
    """A part of the result.

    Attributes:
        lines: as text.
        header, rows: the same as a table, of cells in HTML; a part without a header is shown as text.
    """

    title: str
    lines: list[str]
    header: tuple[str, ...] = ()
    rows: Sequence[Sequence[str]] = ()

    def html(self) -> str:
        """The part for a page."""
        text = escape("\n".join(self.lines))
        inside = table_of_html(self.header, self.rows) if self.header else f"<pre>{text}</pre>"
        return f"<h2>{escape(self.title)}</h2><div class='wide words' tabindex='0'>{inside}</div>"


def text_of(discovery: Discovery) -> str:
    """The result as text."""
    return "\n\n".join(
        "\n".join([section.title, *(f"  {line}".rstrip() for line in section.lines)])
        for section in _sections(discovery)
        if section.lines
    )


def page_of(discovery: Discovery) -> str:
    """The result as a page that needs no network."""
    parts = "".join(section.html() for section in _sections(discovery) if section.lines)
    return page(
        "sections",
        f"Discovered for {discovery.protocol.game}",
        sections=f"{parts}<h2>The race</h2><div class='pictures'>{picture_of(discovery)}</div>",
    )


def _sections(discovery: Discovery) -> list[Section]:
    protocol = discovery.protocol
    budget = f"{protocol.iterations} iterations" if protocol.iterations else f"{protocol.seconds:g} s"
    return [
        Section(f"{protocol.game}, {budget} for each decision", _verdict(discovery)),
        _proofs(discovery),
        _ablations(discovery),
        _effects(discovery),
        _course(discovery),
        Section(
            "Protocol",
            [
                f"digest {protocol.digest}, seed {protocol.seed}, finder {protocol.finder}",
                f"space {protocol.space.name} of {protocol.space.count():,} points",
                f"pool: {'; '.join(map(str, protocol.pool))}; at half time the incumbent",
                f"units of {len(protocol.seats)} games: {protocol.units[0]} to explore, {protocol.units[1]} to prove each finalist",
                f"a difference of {protocol.detectable():.3f} or more is found with 80 % power at the strictest level of Holm's tests",
            ],
        ),
        Section("Cost", [f"{discovery.games:,} games, {discovery.seconds / 3600:.2f} processor hours"]),
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
    return [
        f"Nothing was proven better than {protocol.reference}.",
        f"None of the finalists is better by more than {discovery.excluded:.3f} in mean reward ({CONFIDENCE:.0%}, each by itself).",
    ]


def _p_text(p: float) -> str:
    return f"p = {p:.2g}" if p > 0 else "p < 1e-300"


def _rate_text(proof: Proof) -> str:
    """Iterations per second as a share of the reference's; games of a few milliseconds do not show it."""
    return "not measured" if math.isnan(proof.rate) else f"{proof.rate:.0%}"


def _proofs(discovery: Discovery) -> Section:
    """Each finalist against the reference."""
    lines, rows, differences = [], [], [proof.difference for proof in discovery.proofs]
    for proof in discovery.proofs:
        word = "better" if proof.p < discovery.protocol.level else "not proven"
        name, rate = str(proof.configuration), _rate_text(proof)
        lines.append(f"{proof.difference}  {_p_text(proof.p)}  {word:10}  speed {rate}  {name}")
        bar = interval_svg(proof.difference, differences)
        rows.append((escape(name), bar, *map(_unbroken, (str(proof.difference), _p_text(proof.p), word)), rate))
    return Section(
        f"Proof: mean reward less the reference's in its place, against the reference, {CONFIDENCE:.0%} interval",
        lines,
        ("finalist", "", "difference", "after Holm", "", "speed, of the reference's"),
        rows,
    )


def _ablations(discovery: Discovery) -> Section:
    lines, rows, differences = [], [], [each.difference for each in discovery.ablations]
    for each in discovery.ablations:
        factor, level = each.factor, level_text(each.level)
        lines.append(f"{each.difference}   {factor} = {level}")
        rows.append(
            (escape(factor), escape(level), interval_svg(each.difference, differences), _unbroken(str(each.difference)))
        )
    return Section(
        "What the best finalist loses with one factor back at its default",
        lines,
        ("factor", "its level", "", "difference"),
        rows,
    )


def _effects(discovery: Discovery) -> Section:
    effects = [each for each in discovery.effects if abs(each.mean) > 1e-9]
    ranked = sorted(effects, key=lambda each: -abs(each.mean) / each.deviation)[:SHOWN]
    cells = [(f"{each.mean:+.3f} ± {each.deviation:.3f}", each.factor, level_text(each.level)) for each in ranked]
    return Section(
        "What levels are worth, by the model of the exploration: mean, standard deviation",
        [f"{worth}  {factor} = {level}" for worth, factor, level in cells],
        ("factor", "level", "worth"),
        [(escape(factor), escape(level), worth) for worth, factor, level in cells],
    )


def _course(discovery: Discovery) -> Section:
    cells = [
        (unit, "" if math.isnan(mean) else f"{mean:.3f}", str(configuration))
        for unit, configuration, mean in discovery.course
    ]
    return Section(
        "The incumbent of the exploration: after so many units, expected mean reward",
        [f"{unit:6}  {mean}  {name}" for unit, mean, name in cells],
        ("units", "mean reward", "incumbent"),
        [(str(unit), mean, escape(name)) for unit, mean, name in cells],
    )


def _unbroken(text: str) -> str:
    """A text for a cell, on one line."""
    return escape(text).replace(" ", "\N{NO-BREAK SPACE}")


def interval_svg(each: Difference, among: Sequence[Difference]) -> str:
    """A difference with its interval beside 0, to the scale of all of them."""
    reach = max(abs(end) for difference in among for end in difference.interval()) or 1.0
    low, high, mean, zero = (BAR * (0.5 + 0.48 * value / reach) for value in (*each.interval(), each.mean, 0.0))
    return (
        f'<svg viewBox="0 0 {BAR} {LINE}" style="min-width: {BAR}px; height: {LINE}px" role="img" aria-label="{each}" '
        'fill="currentColor" stroke="currentColor">'
        f'<line x1="{zero:.1f}" x2="{zero:.1f}" y1="0" y2="{LINE}" stroke-dasharray="2 2" opacity="0.6"/>'
        f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{LINE / 2}" y2="{LINE / 2}" stroke-width="2"/>'
        f'<circle cx="{mean:.1f}" cy="{LINE / 2}" r="3.5"/></svg>'
    )


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
