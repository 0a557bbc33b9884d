"""Small tables as text and as HTML."""

from collections.abc import Iterable, Sequence
from html import escape


def text_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, their columns side by side."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{text:<{w}}" for text, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts with a line of headings."""
    return table_of_html(header, ([escape(text) for text in row] for row in rows))


def table_of_html(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML, with a line of headings, which are texts."""
    head = "".join(f"<th>{escape(text)}</th>" for text in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
