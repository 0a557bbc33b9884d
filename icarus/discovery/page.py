"""The result of a race as text and as a page: the winner to paste, its proof, what each factor is worth, the course, the cost."""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from icarus.discovery.race import CONFIDENCE, Discovery, Proof
from icarus.discovery.space import level_text
from icarus.views.canvas import intervals_svg
from icarus.views.document import Block, Heading, Paragraph, Picture, Preformatted, Table, html
from icarus.views.document import text_of as text_of_blocks

PAGE, TEXT = "result.html", "result.txt"
SHOWN = 12  # levels


def write_result(discovery: Discovery, directory: Path) -> None:
    """Write the result of a race beside its rows."""
    (directory / TEXT).write_text(text_of(discovery) + "\n", encoding="utf-8")
    (directory / PAGE).write_text(page_of(discovery), encoding="utf-8")


def text_of(discovery: Discovery) -> str:
    """The result as text."""
    return text_of_blocks(list(_blocks(discovery)))


def page_of(discovery: Discovery) -> str:
    """The result as a page that needs no network, with pictures of the differences."""
    pictures = {
        "less the reference": {str(each.configuration): each.difference for each in discovery.proofs},
        "lost with a factor at its default": {
            f"{each.factor} = {level_text(each.level)}": each.difference for each in discovery.ablations
        },
    }
    marks = {
        name: {label: (each.mean, *each.interval()) for label, each in of.items()} for name, of in pictures.items()
    }
    drawings = [Picture(intervals_svg(name, rows), name) for name, rows in marks.items() if rows]
    return html(f"Discovered for {discovery.protocol.game}", [*_blocks(discovery), Heading("Pictures"), *drawings])


def _blocks(discovery: Discovery) -> Iterator[Block]:
    protocol = discovery.protocol
    budget = f"{protocol.iterations} iterations" if protocol.iterations else f"{protocol.seconds:g} s"
    yield Heading(f"{protocol.game}, {budget} for each decision")
    yield Preformatted("\n".join(_verdict(discovery)))
    if discovery.proofs:
        yield Heading(f"Proof: mean reward less the reference's in its place, {CONFIDENCE:.0%} interval")
        yield Table(
            "",
            ["difference", "after Holm", "", "speed", "finalist"],
            [_proof(discovery, each) for each in discovery.proofs],
        )
    if discovery.ablations:
        yield Heading("What the best finalist loses with one factor back at its default")
        rows = [[str(each.difference), f"{each.factor} = {level_text(each.level)}"] for each in discovery.ablations]
        yield Table("", ["difference", "factor"], rows)
    effects = [each for each in discovery.effects if abs(each.mean) > 1e-9]
    if effects:
        yield Heading("What levels are worth, by the model of the exploration: mean, standard deviation")
        ranked = sorted(effects, key=lambda each: -abs(each.mean) / each.deviation)[:SHOWN]
        rows = [
            [f"{each.mean:+.3f} ± {each.deviation:.3f}", f"{each.factor} = {level_text(each.level)}"] for each in ranked
        ]
        yield Table("", ["worth", "level"], rows)
    if discovery.course:
        yield Heading("The incumbent of the exploration: after so many units, expected mean reward")
        rows = [
            [str(unit), "" if math.isnan(mean) else f"{mean:.3f}", str(name)] for unit, name, mean in discovery.course
        ]
        yield Table("", ["units", "mean reward", "incumbent"], rows)
    yield Heading("Protocol")
    yield Preformatted(
        f"digest {protocol.digest}, seed {protocol.seed}, finder {protocol.finder}\n"
        f"space {protocol.space.name} of {protocol.space.count():,} points\n"
        f"pool: {'; '.join(map(str, protocol.pool))}; at half time the incumbent\n"
        f"units of {len(protocol.seats)} games: {protocol.units[0]} to explore, {protocol.units[1]} to prove each finalist\n"
        f"a difference of {protocol.detectable():.3f} or more is found with 80 % power at the strictest level of Holm's tests"
    )
    yield Heading("Cost")
    yield Paragraph(f"{discovery.games:,} games, {discovery.seconds / 3600:.2f} processor hours")


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


def _proof(discovery: Discovery, proof: Proof) -> Sequence[str]:
    """A finalist against the reference."""
    word = "better" if proof.p < discovery.protocol.level else "not proven"
    return str(proof.difference), _p_text(proof.p), word, f"speed {_rate_text(proof)}", str(proof.configuration)
