"""Tables of HTML, until the pages of a race and of a game are documents."""

from collections.abc import Iterable, Sequence
from html import escape


def table_of_html(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of cells that are HTML, with a line of headings, which are texts."""
    head = "".join(f"<th>{escape(text)}</th>" for text in header)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
