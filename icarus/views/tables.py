"""Small tables as text and as HTML."""

from collections.abc import Iterable, Sequence
from html import escape


def text_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as lines, their columns side by side."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{text:<{w}}" for text, w in zip(row, widths, strict=True)).rstrip() for row in rows]


def html_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table with a line of headings."""
    head = "".join(f"<th>{escape(text)}</th>" for text in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
