"""Documents as values (headings, texts, tables, pictures), written as HTML, Markdown or text; and what interactive pages are made of.

Every page is one file that needs no network.
"""

import base64
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

import attrs

from icarus.checks import text_columns


@attrs.frozen
class Heading:
    """The title of a part."""

    text: str


@attrs.frozen
class Paragraph:
    """Sentences."""

    text: str


@attrs.frozen
class Preformatted:
    """Lines that are shown letter by letter, such as the board of a game or a command.

    Attributes:
        summary: what is read instead until the reader unfolds them; in a terminal always.
    """

    text: str
    summary: str = ""


@attrs.frozen
class Table:
    """Texts in rows; each row is as long as the header. A table that is `folded` shows its caption until the reader unfolds it."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False


@attrs.frozen
class Picture:
    """A PNG file with an SVG of the same name beside it; or the text of an SVG, which Markdown and text leave out.

    One that is `folded` shows its text until the reader unfolds it.
    """

    source: Path | str
    text: str
    folded: bool = False


Block = Heading | Paragraph | Preformatted | Table | Picture


# ------------------------------------------------------------------------------------------------------------ documents


def html(title: str, blocks: Sequence[Block]) -> str:
    """A document as a page; a click on a column's head sorts its table."""
    body = "\n".join([f"<h1>{escape(title)}</h1>", *map(_html, blocks)])
    return _filled(title, body, "document")


def _html(block: Block) -> str:
    match block:
        case Heading(text):
            return f"<h2>{escape(text)}</h2>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Preformatted(text, summary):
            lines = f'<div class="wide" tabindex="0"><pre>{escape(text)}</pre></div>'
            return _folded(summary, lines) if summary else lines
        case Picture(source, text, folded):
            svg = (
                source.encode()
                if isinstance(source, str)
                else source.with_suffix(".svg").read_bytes()
            )
            image = f'<img alt="{escape(text)}" src="data:image/svg+xml;base64,{base64.b64encode(svg).decode()}">'
            if folded:
                return _folded(text, image)
            caption = f"<figcaption>{escape(text)}</figcaption>"
            return f"<figure>{caption}{image}</figure>" if text else image
        case Table(caption, header, rows, folded):
            title = f"<caption>{escape(caption)}</caption>" if caption and not folded else ""
            head = "".join(
                f'<th scope="col"><button type="button">{escape(name)}</button></th>'
                for name in header
            )
            cells = ("".join(f"<td>{escape(text)}</td>" for text in row) for row in rows)
            body = "\n".join(f"<tr>{line}</tr>" for line in cells)
            content = f"{title}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>"
            table = f'<div class="wide"><table>{content}</table></div>'
            return _folded(caption, table) if folded else table


def _folded(summary: str, page: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{page}</details>"


def text_of(blocks: Sequence[Block]) -> str:
    """A document for a terminal or a file of text: what stands below a heading is indented."""
    lines: list[str] = []
    for block in blocks:
        match block:
            case Heading(text):
                if lines:
                    lines.append("")
                lines.append(text)
            case Paragraph(text) | Preformatted(text, "") | Preformatted(_, text):
                lines += [f"  {line}" for line in text.split("\n")]
            case Table(caption, header, rows):
                table = [*filter(None, [caption]), *text_columns([header, *rows])]
                lines += [f"  {line}" for line in table]
    return "\n".join(line.rstrip() for line in lines)


# ---------------------------------------------------------------------------------------------------- interactive pages


def asset(name: str, **parts: str) -> str:
    """The text of a file that pages are made of, a page with its $places filled in."""
    text = files("icarus.views").joinpath("assets", name).read_text("utf-8")
    return Template(text).substitute(parts) if parts else text


def page(name: str, title: str, **parts: str) -> str:
    """A page with a script: the body `name`.html with its places filled in, `name`.css, and `name`.js.

    Args:
        title: of the page; the body may have it too, as $title.
        parts: what comes into the other places, as HTML.
    """
    body = asset(f"{name}.html", title=escape(title), **parts)
    return _filled(title, body, "page", name)


def _filled(title: str, body: str, *names: str) -> str:
    """A page with this body, and the styles and scripts of these names."""
    style = "".join(asset(f"{name}.css") for name in ("colours", *names))
    script = "".join(asset(f"{name}.js") for name in names)
    # an empty icon, so that a server is not asked for one
    icon = '<link rel="icon" href="data:,">\n' if "page" in names else ""
    return asset("page.html", title=escape(title), icon=icon, style=style, body=body, script=script)


def in_notebook(page: str, title: str) -> str:
    """A page in a frame of its own, for a notebook."""
    style = "width:100%;height:560px;border:1px solid #8884;border-radius:6px"
    text, title = escape(page, quote=True), escape(title, quote=True)
    return (
        f'<iframe title="{title}" sandbox="allow-scripts" srcdoc="{text}" style="{style}"></iframe>'
    )
