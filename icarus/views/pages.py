"""What pages are made of: files of the package with their places filled in, and data packed into them."""

import base64
import json
import re
import zlib
from html import escape
from importlib.resources import files
from pathlib import Path


def check_new_file(path: Path) -> None:
    """Refuse a file that exists, or whose directory does not exist.

    Raises:
        ValueError: one of these.
    """
    if path.is_dir():
        raise ValueError(f"{str(path)!r} is a directory; give a new file")
    if path.exists():
        raise ValueError(f"{str(path)!r} exists and is not overwritten")
    if not path.parent.is_dir():
        raise ValueError(f"{str(path)!r} cannot be written: there is no directory {str(path.parent)!r}")


def write_new(path: Path, text: str) -> None:
    """Write a text into a new file; errors as of `check_new_file`."""
    check_new_file(path)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def asset(name: str) -> str:
    """The text of a file that pages are made of."""
    return files("icarus.views").joinpath("assets", name).read_text("utf-8")


def fill(name: str, **parts: str) -> str:
    """A page with its {places} filled in; what is filled in is not looked into again."""
    return re.sub(r"\{(\w+)\}", lambda place: parts.get(place[1], place[0]), asset(name))


def page(name: str, title: str, **parts: str) -> str:
    """A whole page: the body `name`.html with its places filled in, `name`.css, and `name`.js where there is one.

    Args:
        title: of the page; the body may have it too, as {title}.
        parts: what comes into the other places, as HTML.
    """
    title = escape(title)
    has_script = files("icarus.views").joinpath("assets", f"{name}.js").is_file()
    return fill(
        "page.html",
        title=title,
        style="".join(map(asset, ("colours.css", "page.css", f"{name}.css"))),
        body=fill(f"{name}.html", title=title, **parts),
        script=asset("page.js") + asset(f"{name}.js") if has_script else "",
    )


def pack(data: object) -> str:
    """Data as a page unpacks them."""
    return base64.b64encode(zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 6)).decode()
