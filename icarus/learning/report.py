"""What is told of an evaluation: its learning curve, as a table, a picture and a page; and its error, range, sum and rate."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from timeit import timeit
from typing import Any

import attrs
import msgspec
import numpy as np

from icarus.arena.ledger import write_whole
from icarus.kernel import AnyGame, Evaluation, Game
from icarus.learning.fitting import judged
from icarus.learning.selfplay import CHUNKS, games_played
from icarus.statistics import CONFIDENCE, Estimate
from icarus.views.boards import FAINT, INK, PAPER, frame, words
from icarus.views.document import Block, Heading, Paragraph, Picture, Table, html

PAGE, PICTURE = "curve.html", "curve.svg"
WIDTH, HEIGHT, MARGIN = 480, 240, 40
GAMES = 200  # against itself, that an evaluation is judged by
TIMED = 2000  # calls


@attrs.frozen
class Generation:
    """A generation and how well it plays.

    Attributes:
        number: from 1.
        error: mean squared, of the values of positions held out; variance: of the rewards there, which is the error of knowing nothing.
        against_reference, against_before: differences in mean reward, in the same places on the same deals.
        is_taken: whether it is better than the one before.
    """

    number: int
    error: float
    variance: float
    against_reference: Estimate
    against_before: Estimate | None
    is_taken: bool


def generations_of(evaluation: Evaluation) -> list[Generation]:
    """The generations of the learning that gave an evaluation, as its file has them."""
    return msgspec.convert(evaluation.about["generations"], list[Generation])


def write_curve(evaluation: Evaluation, directory: Path) -> None:
    """Write the page and the picture into a directory; errors as of `write_whole`."""
    write_whole(
        directory / PAGE, html(f"An evaluation of {evaluation.game}", list(blocks_of(evaluation)))
    )
    write_whole(directory / PICTURE, curve_svg(generations_of(evaluation)))


def blocks_of(evaluation: Evaluation) -> Iterator[Block]:
    """The document on an evaluation: its learning curve as a picture and a table, and how it was learned."""
    generations = generations_of(evaluation)
    about = evaluation.about
    latest = [each for each in generations if each.is_taken][-1]
    yield Heading(f"{evaluation.game}, {evaluation}")
    yield Picture(curve_svg(generations), "the learning curve")
    judge, reference = about["judge"]["strategy"], about["reference"]["strategy"]
    caption = f"Mean reward of {judge} at {about['iterations']} iterations, less the opponent's in its place, {CONFIDENCE:.0%}:"
    header = [
        "generation",
        "error",
        "variance of rewards",
        f"against {reference}",
        "against the one before",
        "taken",
    ]
    yield Table(caption, header, [_row(each) for each in generations])
    # all chunks of a round have the same number of games
    games = -(-about["games"] // CHUNKS) * CHUNKS * about["rounds"]
    yield Paragraph(
        f"The file has generation {latest.number}: up to {games:,} games each, seed {about['seed']}."
    )
    if latest.error and latest.error >= latest.variance:
        yield Paragraph(
            "Its values are no nearer to the rewards than the mean reward is: give more games (--games), or generations."
        )


def _row(generation: Generation) -> list[str]:
    # both are 0 where all games held out ended alike
    errors = generation.error, generation.variance
    differences = generation.against_reference, generation.against_before
    cells = [f"{each:.4f}" if each else "-" for each in errors]
    cells += [f"{each:+.3f}" if each else "-" for each in differences]
    return [str(generation.number), *cells, "yes" if generation.is_taken else "no"]


def curve_svg(generations: Sequence[Generation]) -> str:
    """The strength of each generation against the reference, with its interval; one that was not taken is hollow."""
    strengths = [each.against_reference for each in generations]
    low = min(0.0, *(each.low for each in strengths))
    high = max(0.0, *(each.high for each in strengths))

    def y(value: float) -> float:
        return float(np.interp(value, (low, high), (HEIGHT - MARGIN, MARGIN)))

    parts = [f'<path d="M{MARGIN} {y(0):.1f}H{WIDTH - MARGIN}" stroke="{FAINT}"/>']
    parts += [
        words(MARGIN - 4, y(value) + 4, f"{value:+.2f}", 11, "end") for value in {low, 0.0, high}
    ]
    points = list[str]()
    places = np.linspace(MARGIN, WIDTH - MARGIN, len(generations))
    for generation, strength, x in zip(generations, strengths, places, strict=True):
        points.append(f"{x:.1f} {y(strength.value):.1f}")
        fill = INK if generation.is_taken else PAPER
        parts += [
            f'<path d="M{x:.1f} {y(strength.low):.1f}V{y(strength.high):.1f}" stroke="{FAINT}"/>',
            f'<circle cx="{x:.1f}" cy="{y(strength.value):.1f}" r="3.5" fill="{fill}" stroke="{INK}"/>',
            words(x, HEIGHT - MARGIN / 2, str(generation.number), 11, "middle"),
        ]
    # the line comes first, so that the circles hide it
    parts.insert(0, f'<path d="M{"L".join(points)}" fill="none" stroke="{INK}"/>')
    return frame(
        WIDTH, HEIGHT, parts, PAPER, "mean reward less the reference's, by generation", "curve"
    )


def lines_on(game: AnyGame, evaluation: Evaluation, seed: int) -> Iterator[str]:
    """Sentences on an evaluation, by new games against itself.

    Raises:
        ValueError: it is of another game.
    """
    evaluation.check(game)
    positions = games_played(game, evaluation, GAMES, (seed, *evaluation.digest.encode()))
    values, error, variance = judged(evaluation, positions.inputs, positions.rewards)
    yield f"evaluation: mean squared error {error:.4f} in {GAMES} games against itself, where knowing nothing has {variance:.4f}"
    sums = values.sum(axis=1)
    yield f"its values are from {values.min():.3f} to {values.max():.3f}, and sum to {sums.min():.3f} to {sums.max():.3f}"
    if isinstance(game, Game):
        heuristic: Any = game.with_evaluation(evaluation).kernels().heuristic
        data = game.new_initial_state(seed).data
        out = np.zeros(game.players)
        addresses = data.ctypes.data, out.ctypes.data
        heuristic(*addresses)  # compiles it
        seconds = timeit(lambda: heuristic(*addresses), number=TIMED)
        yield f"one takes {seconds / TIMED * 1e6:.1f} µs, called from Python"
