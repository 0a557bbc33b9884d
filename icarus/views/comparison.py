"""The same position searched by several strategies, side by side: how each came to its move, and its tree; as a page and as JSON."""

import json
import time
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.algebra import Enhancement
from icarus.compiler.kernel import presses_as_one
from icarus.engine.inspect.tree import tree_of
from icarus.engine.result import Result
from icarus.engine.scheme import MO_ISMCTS, Scheme
from icarus.engine.search import start_search
from icarus.engine.validation import checked_engine
from icarus.kernel.state import State
from icarus.views.document import pack, page, write_new
from icarus.views.tree_page import tree_page

POINTS = 40  # of a course: the iterations at which a search is looked at grow by the same factor
LINES = 5  # moves whose course is drawn
NODES, DRAWN = 20_000, 100  # of a tree in the page, and its boards


@attrs.frozen(eq=False)
class Course:
    """A search, and what it had found on the way.

    Attributes:
        iterations: at which it was looked at. [points]
        visits, values: of each action of the root then; nan where it had not been tried. [points, actions]
    """

    result: Result
    iterations: np.ndarray
    visits: np.ndarray
    values: np.ndarray


def follow_search(
    state: State, strategy: Enhancement, iterations: int, seed: int | Sequence[int] = 0, scheme: Scheme = MO_ISMCTS
) -> Course:
    """Search as `icarus.search` does, with the same result, and keep its course.

    Raises:
        ValueError: see `icarus.search`.
    """
    checks.integer("iterations", iterations, least=1)
    points = np.unique(np.geomspace(1, iterations, POINTS).round().astype(int))
    visits, values, engine = [], [], checked_engine(None, state.game, 1)
    with presses_as_one():
        running, started = start_search(state, strategy, seed, scheme=scheme, engine=engine), time.perf_counter()
        running.expect(iterations)
        for point in points.tolist():
            running.run(max(point, running.trees))
            result = running.result(time.perf_counter() - started, copied=False)
            visits.append(result.visits.copy())
            values.append(result.values.copy())
    return Course(result, points, np.array(visits), np.array(values))


def write_comparison(courses: Sequence[Course], path: Path) -> None:
    """Write a page with all courses and trees, which needs no network.

    Raises:
        ValueError: the file exists, or its directory does not exist.
    """
    state = courses[0].result.state
    title, columns = f"{state.game}: {len(courses)} strategies on one position", "".join(map(_column, courses))
    write_new(path, page("comparison", title, columns=columns, data=pack([*map(_lines, courses)])))


def _column(course: Course) -> str:
    name = escape(str(course.result.strategy))
    tree = escape(tree_page(course.result, NODES, DRAWN), quote=True)
    return (
        f'<section aria-label="{name}"><h2>{name}</h2><div class="visits"></div><div class="values"></div>'
        f'<iframe title="the tree of {name}" sandbox="allow-scripts" srcdoc="{tree}"></iframe></section>'
    )


def _lines(course: Course) -> dict[str, Any]:
    """The courses of the moves that are visited most, for the page."""
    order = np.argsort(-course.result.visits, kind="stable")[:LINES].tolist()
    shares = (course.visits / np.maximum(1, course.visits.sum(1, keepdims=True))).round(4).T.tolist()
    names = [course.result.state.action_to_string(action) for action in course.result.actions]
    return {
        "iterations": course.iterations.tolist(),
        "moves": [{"name": names[i], "visits": shares[i], "values": _or_none(course.values[:, i])} for i in order],
    }


def export(courses: Sequence[Course], path: Path) -> None:
    """Write the courses and the trees into a new file, as JSON.

    Raises:
        ValueError: the file exists, or its directory does not exist.
    """
    write_new(path, json.dumps([_export(course) for course in courses], ensure_ascii=False, indent=1) + "\n")


def _export(course: Course) -> dict[str, Any]:
    result = course.result
    tree = tree_of(result)
    visited = np.where(tree.record >= 0, tree.visits[tree.record], 0)
    return {
        "game": str(result.state.game),
        "history": [action for _, action in result.state.history],
        "strategy": str(result.strategy),
        "scheme": str(result.scheme),
        "seed": result.seed,
        "iterations": result.iterations,
        "action": result.action,
        "variation": [tree.label[node] for node in tree.principal_variation()],
        "actions": [
            {"action": action, "label": result.state.action_to_string(action), "visits": int(visits), "value": value}
            for action, visits, value in zip(result.actions, result.visits, _or_none(result.values), strict=True)
        ],
        "course": {
            "iterations": course.iterations.tolist(),
            "visits": course.visits.tolist(),
            "values": [_or_none(row) for row in course.values],
        },
        "tree": {
            "parent": tree.parent.tolist(),
            "action": tree.action.tolist(),
            "label": tree.label,
            "player": tree.player.tolist(),
            "visits": visited.tolist(),
            "rewards": np.where(tree.record[:, None] >= 0, tree.rewards[tree.record], 0).tolist(),
        },
    }


def _or_none(values: np.ndarray) -> list[float | None]:
    return [None if np.isnan(value) else round(value, 4) for value in values.tolist()]
