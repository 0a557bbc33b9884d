"""Documents as HTML and Markdown files, and pages of Markdown whose tables are made from rows."""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs

from experiments.plan.cells import slug
from icarus.arena.ledger import write_whole
from icarus.views.document import Block, Heading, Paragraph, Picture, Preformatted, Table, html

# Of Markdown: emphasis, code, links, columns; tags and entities; underscores that do not stand inside a word.
SPECIAL = re.compile(
    r"[\\`*\[|]|<(?=[a-zA-Z/!?])|&(?=#?\w+;)|(?<!\w)_|_(?!\w)|^#|^[-+](?= )|~(?=~)"
)
TEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "<": "$<$",
    ">": "$>$",
    "≫": "$\\gg$",
    "±": "$\\pm$",
    "†": "$^\\dagger$",
    "‡": "$^\\ddagger$",
    "\N{MINUS SIGN}": "$-$",
    "\N{EN DASH}": "--",
}
# of a number; dates, names and exponents keep their hyphens
MINUS = re.compile(r"(?<![\w.)-])-(?=\d)")
RANGE = re.compile(r"(?<=\d) - (?=\d)")
# the beginning of a cell that LaTeX sets to the right
NUMBER = re.compile(r"[<>+\N{MINUS SIGN}]? ?\d")
FOLDED = "<details><summary>{}</summary>\n\n{}\n\n</details>"
# of a text that is made from rows
PLACE = re.compile(r"(<!-- (\S+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def write_pages(directory: Path, title: str, blocks: Sequence[Block]) -> list[Path]:
    """Write a document into a directory as report.html and report.md."""
    blocks = [typeset(block) for block in blocks]
    pages = {"report.html": html(title, blocks), "report.md": markdown(title, blocks, directory)}
    for name, text in pages.items():
        write_whole(directory / name, text)
    return [directory / name for name in pages]


def typeset(block: Block) -> Block:
    """The same with real minus signs and dashes of ranges, as people read them; programs read CSV, which has neither."""
    match block:
        case Paragraph(text):
            return Paragraph(_typeset(text))
        case Table():
            return typeset_table(block)
    return block


def typeset_table(table: Table) -> Table:
    return attrs.evolve(table, rows=[[_typeset(cell) for cell in row] for row in table.rows])


def _typeset(text: str) -> str:
    return MINUS.sub("\N{MINUS SIGN}", RANGE.sub("\N{EN DASH}", text))


def write_table(directory: Path, table: Table) -> list[Path]:
    """Write one table into a directory, as table.md and for LaTeX as table.tex."""
    texts = {
        "table.md": f"{table.caption}\n\n{markdown_table(typeset_table(table))}\n",
        "table.tex": latex_table(table),
    }
    for name, text in texts.items():
        write_whole(directory / name, text)
    return [directory / name for name in texts]


def markdown(title: str, blocks: Sequence[Block], directory: Path) -> str:
    """The same as Markdown; pictures are linked relative to `directory`."""
    texts = [_markdown(block, directory) for block in blocks]
    return "\n\n".join([f"# {_plain(title)}", *filter(None, texts)]) + "\n"


def _markdown(block: Block, directory: Path) -> str:
    match block:
        case Heading(text):
            return f"## {_plain(text)}"
        case Paragraph(text):
            return _plain(text)
        case Preformatted(text, summary):
            lines = f"```\n{text}\n```"
            return FOLDED.format(summary, lines) if summary else lines
        case Picture(Path() as path, text):
            return f"![{_plain(text)}]({path.relative_to(directory).as_posix()})"
        case Picture():
            return ""
        case Table(caption, folded=True):
            return FOLDED.format(_plain(caption), markdown_table(block))
        case Table(caption):
            lines = markdown_table(block)
            return f"{_plain(caption)}\n\n{lines}" if caption else lines


def markdown_table(table: Table) -> str:
    """The lines of a table without its caption."""
    lines = [table.header, ["---"] * len(table.header), *table.rows]
    return "\n".join("| " + " | ".join(map(_plain, line)) + " |" for line in lines)


def write_tables(directory: Path, blocks: Sequence[Block]) -> list[Path]:
    """Write each table of a document as a CSV file, and as one of LaTeX (booktabs), named by its place and the heading above it.

    Those that were written before are removed: their places, and so their names, may be others now.
    """
    directory.mkdir(exist_ok=True)
    for path in directory.glob("[0-9][0-9]-*"):
        if path.suffix in (".csv", ".tex"):
            path.unlink()
    heading = ""
    paths = list[Path]()
    for block in blocks:
        if isinstance(block, Heading):
            heading = block.text
        elif isinstance(block, Table):
            paths.append(directory / f"{len(paths) + 1:02}-{slug(heading)}.csv")
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows([block.header, *block.rows])
            write_whole(paths[-1], text.getvalue())
            write_whole(paths[-1].with_suffix(".tex"), latex_table(block))
    return paths


def latex_table(table: Table) -> str:
    """A table for LaTeX with the package booktabs; its caption is a comment."""
    table = typeset_table(table)
    letters = str.maketrans(TEX)
    lines = []
    for row in (table.header, *table.rows):
        cells = [cell.replace(">>", "≫").translate(letters) for cell in row]
        lines.append(" & ".join(cells) + " \\\\")
    head, *body = lines
    alignment = ""
    for place in range(len(table.header)):
        cells = [row[place] for row in table.rows if row[place]]
        alignment += "r" if cells and all(map(NUMBER.match, cells)) else "l"
    begin = f"% {table.caption}\n\\begin{{tabular}}{{{alignment}}}"
    return (
        "\n".join([begin, "\\toprule", head, "\\midrule", *body, "\\bottomrule", "\\end{tabular}"])
        + "\n"
    )


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
