"""What a report is made of, as values: headings, paragraphs, tables and pictures."""

from collections.abc import Sequence
from pathlib import Path

import attrs


@attrs.frozen
class Heading:
    text: str


@attrs.frozen
class Paragraph:
    text: str


@attrs.frozen
class Table:
    """Texts in rows; each row is as long as the header."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@attrs.frozen
class Picture:
    """A PNG file with an SVG of the same name beside it."""

    path: Path
    text: str


Block = Heading | Paragraph | Table | Picture
