"""The tree of a search as one page that needs no network: an outline to be opened, with the board of the move looked at."""

import base64
import zlib
from html import escape
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from icarus.arena.ledger import new_file, write_whole
from icarus.engine.inspect import LIMIT, Tree, search_tree
from icarus.engine.result import Result
from icarus.kernel import seat_names
from icarus.views.boards import drawing, svg
from icarus.views.document import in_notebook, page

DRAWN = 400  # boards in a page, of the nodes visited most
IN_NOTEBOOK, DRAWN_IN_NOTEBOOK = 3000, 60  # nodes, boards


def write_tree_page(result: Result, path: str | Path) -> None:
    """Write the tree of a search into a new HTML file; where it has more than LIMIT nodes, the least visited are left out.

    Raises:
        ValueError: the file exists, or its directory does not exist.
    """
    write_whole(new_file(Path(path)), tree_page(result))


def tree_page(result: Result, limit: int = LIMIT, boards: int = DRAWN) -> str:
    """The tree of a search as an HTML page."""
    tree = search_tree(result, limit)
    data = msgspec.json.encode(_data(tree, boards), enc_hook=np.ndarray.tolist)
    summary = result.summary + _left_out(tree)
    if len(result.parts) > 1:
        summary += f"; the tree is the first of {len(result.parts)}"
    return page(
        "tree",
        f"{result.state.game}: {result.state.action_to_string(result.action)}",
        summary=escape(summary),
        variation=escape(" ".join(tree.label[node] for node in tree.principal_variation()) or "–"),
        data=base64.b64encode(zlib.compress(data, 6)).decode(),
    )


def tree_frame(result: Result) -> str:
    """The page in a frame of its own, for a notebook."""
    return in_notebook(tree_page(result, IN_NOTEBOOK, DRAWN_IN_NOTEBOOK), "the tree of the search")


def _left_out(tree: Tree) -> str:
    """What the page does not show, as the end of a sentence; "" if it shows everything."""
    count = len(np.unique(tree.record[tree.record >= 0]))
    visited = np.count_nonzero(tree.rows["visits"])
    least = f"histories of at least {tree.least} visits"
    text = f"; {least} are shown" if tree.least > 1 else ""
    if count < visited:
        what = least if tree.least > 1 else "visited histories"
        text = f"; {count:,} of {visited:,} {what} are shown"
    return text


def _data(tree: Tree, boards: int) -> dict[str, Any]:
    """What the page is made of: a column for each fact of the nodes and of the records, and the boards of the nodes visited most."""
    state = tree.result.state
    shows_hidden = state.game.determinize is not None and state.game.board is None
    most_visited = np.argsort(-tree.visits, kind="stable")[:boards].tolist()
    # The page asks only which moves are alike: small numbers stand for them.
    _, views = np.unique([] if tree.moves is None else tree.moves, return_inverse=True)
    return {
        "names": seat_names(state.game),
        "root_player": state.current_player(),
        "chosen": tree.result.action,
        "parent": tree.parent,
        "action": tree.action,
        "player": tree.player,
        "label": tree.label,
        "legal": tree.legal,
        "record": tree.record,
        "visits": tree.rows["visits"],
        "availability": tree.rows["availability"],
        # in thousandths, which are short as integers
        "rewards": np.round(tree.rows["reward"] * 1000).astype(int).ravel(),
        "seen": views.ravel(),  # by each observer, of each last action
        # whether what is shown of a node is one of the states that it may be; a search that cheats shows the true one
        "guess": shows_hidden and not tree.result.scheme.cheats,
        "drawn": most_visited,
        "boards": [
            svg(drawing(tree.state(node), state.current_player(), drawn_for=True))
            for node in most_visited
        ],
    }
