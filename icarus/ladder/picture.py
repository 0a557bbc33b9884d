"""A ladder as a picture: each player's rating with its 95 % interval, as SVG."""

from collections.abc import Mapping
from html import escape

from icarus.ladder.rating import Rating

PLOT, MARGIN, ROW, LETTER = 530, 40, 24, 7.2  # pixels; a letter is as wide at most on average
TICK = 200  # Elo
COLOURS = {False: "#444", True: "#c2410c"}


def ladder_svg(title: str, ratings: Mapping[str, Rating], marked: set[str] | frozenset[str] = frozenset()) -> str:
    """The picture, the strongest player on top.

    Args:
        marked: the names that stand out.
    """
    order = sorted(ratings.items(), key=lambda item: -item[1].value)
    low = min(0.0, *(rating.low for rating in ratings.values())) // TICK * TICK
    high = max(low + TICK, -(-max(rating.high for rating in ratings.values()) // TICK) * TICK)
    names = round(LETTER * max(map(len, ratings))) + MARGIN

    def x(elo: float) -> float:
        return round(names + (elo - low) * PLOT / (high - low), 1)

    width, height = names + PLOT + MARGIN, MARGIN * 2 + ROW * len(order)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{MARGIN / 2}" y="{MARGIN / 2 + 4}" font-weight="bold">{escape(title)}</text>',
    ]
    for elo in range(int(low), int(high) + 1, TICK):
        parts.append(f'<line x1="{x(elo)}" x2="{x(elo)}" y1="{MARGIN}" y2="{height - MARGIN}" stroke="#ddd"/>')
        parts.append(f'<text x="{x(elo)}" y="{height - MARGIN + 18}" text-anchor="middle" fill="#666">{elo}</text>')
    for number, (name, rating) in enumerate(order):
        y, colour = MARGIN + ROW * (number + 0.5), COLOURS[name in marked]
        parts.append(f'<text x="{names - 12}" y="{y + 4}" text-anchor="end" fill="{colour}">{escape(name)}</text>')
        parts.append(
            f'<line x1="{x(rating.low)}" x2="{x(rating.high)}" y1="{y}" y2="{y}" stroke="{colour}" stroke-width="2"/>'
        )
        parts.append(f'<circle cx="{x(rating.value)}" cy="{y}" r="4" fill="{colour}"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"
