"""Documents written as pages: one self-contained HTML file, or Markdown."""

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from experiments.analysis.document import Block, Heading, Paragraph, Picture, Table
from icarus.views.pages import asset

LONG_TEXT = 50  # letters; longer texts in tables are broken into lines
# Emphasis, code, links, columns; tags and entities; underscores that do not stand inside a word.
SPECIAL = re.compile(r"[\\`*\[|]|<(?=[a-zA-Z/!?])|&(?=#?\w+;)|(?<!\w)_|_(?!\w)|^#|^[-+](?= )|~(?=~)")
PLACE = re.compile(r"(<!-- (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)  # of a text that is made from rows
MARKED = {"agrees": "good", "above": "good", "disagrees": "bad", "below": "bad"}

STYLE = (
    asset("colours.css")
    + """\
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); max-width: 68rem; margin: 2rem auto;
       padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
figure { margin: 2rem 0; } figcaption { font-weight: 600; }
img { display: block; max-width: 100%; margin: .5rem 0 1rem; }
.wide { overflow-x: auto; margin: 1rem 0 1.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); font-size: .87rem; padding-bottom: .3rem; }
th, td { padding: .2rem .7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { padding: 0; border-bottom: 1.5px solid var(--ink); }
th button { all: unset; cursor: pointer; padding: .25rem .7rem; font-weight: 600; }
th button:focus-visible { outline: 2px solid var(--focus); }
th[aria-sort=ascending] button::after { content: " \\25B4"; } th[aria-sort=descending] button::after { content: " \\25BE"; }
td.number { text-align: right; }
td.long { white-space: normal; min-width: 22rem; }
td.good { color: var(--focus); } td.bad { color: var(--wrong); }
"""
)
SCRIPT = """
for (const button of document.querySelectorAll("th button")) button.onclick = () => {
  const head = button.parentElement, body = head.closest("table").tBodies[0], column = head.cellIndex;
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  const key = row => row.cells[column].textContent.trim();
  const compared = (a, b) => {
    const x = parseFloat(a.replace(/^<\\s*/, "")), y = parseFloat(b.replace(/^<\\s*/, ""));
    if (a === "" || b === "") return a === b ? 0 : a === "" ? 1 : -1;
    return isNaN(x) || isNaN(y) ? a.localeCompare(b) : x - y;
  };
  [...body.rows].sort((a, b) => (down ? -1 : 1) * compared(key(a), key(b))).forEach(row => body.append(row));
};
"""


def write_pages(directory: Path, title: str, blocks: Sequence[Block]) -> list[Path]:
    """Write a document into a directory as report.html and report.md."""
    pages = {"report.html": html(title, blocks), "report.md": markdown(title, blocks, directory)}
    for name, page in pages.items():
        (directory / name).write_text(page, encoding="utf-8")
    return [directory / name for name in pages]


def html(title: str, blocks: Sequence[Block]) -> str:
    """A page that needs no other file; a click on a column's head sorts its table."""
    content = "\n".join(_html(block) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{escape(title)}</h1>\n{content}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading(text):
            return f"<h2>{escape(text)}</h2>"
        case Paragraph(text):
            return f"<p>{escape(text)}</p>"
        case Picture(path, text):
            data = base64.b64encode(path.with_suffix(".svg").read_bytes()).decode()
            image = f'<img alt="{escape(text)}" src="data:image/svg+xml;base64,{data}">'
            return f"<figure><figcaption>{escape(text)}</figcaption>{image}</figure>" if text else image
        case Table(caption, header, rows):
            head = "".join(f'<th scope="col"><button type="button">{escape(name)}</button></th>' for name in header)
            body = "\n".join("<tr>" + "".join(_cell(text) for text in row) + "</tr>" for row in rows)
            return (
                f'<div class="wide"><table>{f"<caption>{escape(caption)}</caption>" if caption else ""}'
                f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>"
            )


def _cell(text: str) -> str:
    number = text[:1].isdecimal() or text[:1] in ("<", ">", "+", "-") and any(letter.isdecimal() for letter in text)
    kind = "number" if number else "long" if len(text) > LONG_TEXT else MARKED.get(text)
    return f'<td class="{kind}">{escape(text)}</td>' if kind else f"<td>{escape(text)}</td>"


def markdown(title: str, blocks: Sequence[Block], directory: Path) -> str:
    """The same as Markdown; pictures are linked relative to `directory`."""
    return "\n\n".join([f"# {_plain(title)}", *(_markdown(block, directory) for block in blocks)]) + "\n"


def _markdown(block: Block, directory: Path) -> str:
    match block:
        case Heading(text):
            return f"## {_plain(text)}"
        case Paragraph(text):
            return _plain(text)
        case Picture(path, text):
            return f"![{_plain(text)}]({path.relative_to(directory).as_posix()})"
        case Table(caption):
            table = markdown_table(block)
            return f"{_plain(caption)}\n\n{table}" if caption else table


def markdown_table(table: Table) -> str:
    """The lines of a table without its caption."""
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    return "\n".join("| " + " | ".join(map(_plain, line)) + " |" for line in lines)


def fill_places(page: str, texts: Mapping[str, str]) -> str:
    """A page of Markdown with new texts at its places: a place named `root` is between the lines `<!-- root -->` and `<!-- end -->`.

    Raises:
        ValueError: a place has a name without a text.
    """
    if unknown := [name for _, name, _, _ in PLACE.findall(page) if name not in texts]:
        raise ValueError(f"there is no table {unknown[0]!r}; there are {', '.join(texts)}")
    return PLACE.sub(lambda place: place[1] + texts[place[2]] + place[4], page)


def _plain(text: str) -> str:
    """A text that Markdown shows letter by letter, in one line."""
    return SPECIAL.sub(r"\\\g<0>", " ".join(text.splitlines()))
