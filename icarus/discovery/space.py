"""A space of configurations: factors with levels, and templates that make a strategy of them.

    name = "mine"
    strategy = "{tree} >> {simulation}"
    scheme = "{scheme}{cutoff}"               # these two may be left out
    move_decay = "0.5"

    [factors]                                 # the first level is the default
    tree = ["baseline({c})", "RAVE"]
    c = [0.7, 0.35, 1.4]
    simulation = ["MAST", "mast(epsilon_greedy({epsilon}))", "NAST2"]
    epsilon = [0.1, 0.2, 0.4]
    scheme = ["MO_ISMCTS", "SO_ISMCTS"]
    cutoff = ["", " with cutoff=8", " with cutoff=20"]

    [[excluded]]                              # combinations that make no sense
    tree = "RAVE"
    scheme = "SO_ISMCTS"

A level may name factors itself. A factor is active where the text names it, so RAVE switches `c` off: conditions are not written down
twice. Two points that differ in inactive factors only are one point.
"""

import contextlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import numpy as np

from icarus import checks
from icarus.algebra.parsing import Operand
from icarus.arena.player import Configuration
from icarus.engine.scheme import MO_ISMCTS

INACTIVE = -1
TEMPLATES = ("strategy", "scheme", "move_decay")
KEYS = ("name", *TEMPLATES, "factors", "excluded")
ATTEMPTS = 1000  # at a point that is not excluded
CHECKED = 1000  # random points that are read before the first game
_FIELD = re.compile(r"\{(\w+)\}")

Point = tuple[int, ...]  # a level of each factor, INACTIVE where it is switched off
Level = str | float


class SpaceError(ValueError):
    """A space that cannot be searched, in one sentence."""


def level_text(level: Level) -> str:
    """A level as people read it; an empty one, which leaves something out of a template, has no text of its own."""
    return str(level).strip() or "none"


@attrs.frozen(eq=False)
class Space:
    """Factors with levels, and templates that make a configuration of them; see the head of this file.

    Attributes:
        name: of the space.
        templates: the text of each of `TEMPLATES` that is given, with "{factor}" where a level is to stand.
        factors: the levels of each factor; the first is the default.
        excluded: combinations of levels, {factor: level}, that are not points.

    Raises:
        SpaceError: no factor has two levels, a factor is named and not there, or there and not named, factors name one another in a
            circle, or everything is excluded.
    """

    name: str
    templates: Mapping[str, str]
    factors: Mapping[str, tuple[Level, ...]]
    excluded: tuple[Mapping[str, Level], ...] = ()
    _order: tuple[int, ...] = attrs.field(init=False, default=())

    def __attrs_post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "_order", self._sort())
        if self.count() == 0:
            raise SpaceError(f"the space {self.name} is empty: every combination of levels is excluded")

    @property
    def names(self) -> tuple[str, ...]:
        """The factors' names, in the order of a point's levels."""
        return tuple(self.factors)

    # ------------------------------------------------------------------------------------------------------------- points

    @property
    def default(self) -> Point:
        """The point of all first levels."""
        return self.point({})

    def point(self, levels: Mapping[str, Level]) -> Point:
        """The point with these levels, and the default where a factor is not mentioned.

        Raises:
            SpaceError: no such factor or level.
        """
        for name, level in levels.items():
            if name not in self.factors or level not in self.factors[name]:
                choices = f"factors: {', '.join(self.names)}"
                if name in self.factors:
                    choices = f"{name} has the levels {', '.join(map(level_text, self.factors[name]))}"
                raise SpaceError(f"{name} = {level_text(level)} is not a level of the space {self.name}; {choices}")
        return self.canonical(
            [each.index(levels[name]) if name in levels else 0 for name, each in self.factors.items()]
        )

    def canonical(self, levels: Sequence[int]) -> Point:
        """The point with these levels, INACTIVE for those that nothing names; the default for those that something names newly."""
        active, point = self._named_by_templates(), [INACTIVE] * len(levels)
        for k in self._order:
            if k in active:
                point[k] = max(levels[k], 0)
                active = active | self._named_by_level(k, point[k])
        return tuple(point)

    def allows(self, point: Point) -> bool:
        """Whether no exclusion forbids a point."""
        return not any(all(point[k] == level for k, level in forbidden.items()) for forbidden in self._forbidden())

    def count(self) -> int:
        """How many different points there are."""
        mentioned = {k for forbidden in self._forbidden() for k in forbidden}
        ways = Counter({(self._named_by_templates(), (INACTIVE,) * len(self.factors)): 1})
        for k in self._order:
            following: Counter[tuple[frozenset[int], Point]] = Counter()
            for (active, levels), number in ways.items():
                for level in range(len(self.factors[self.names[k]])) if k in active else (INACTIVE,):
                    new = active | self._named_by_level(k, level)
                    chosen = levels[:k] + (level,) + levels[k + 1 :] if k in mentioned else levels
                    following[new, chosen] += number
            ways = following
        return sum(number for (_, levels), number in ways.items() if self.allows(levels))

    def sample(self, rng: np.random.Generator) -> Point:
        """A random point: each active factor takes each of its levels equally often.

        Raises:
            SpaceError: in `ATTEMPTS` attempts all points were excluded.
        """
        sizes = np.array([len(levels) for levels in self.factors.values()])
        for _ in range(ATTEMPTS):
            point = self.canonical(tuple(int(level) for level in rng.integers(sizes)))
            if self.allows(point):
                return point
        raise SpaceError(f"all of {ATTEMPTS} random points of the space {self.name} are excluded")

    def neighbours(self, point: Point) -> list[Point]:
        """The points that differ in the level of one active factor; what that names newly has its default."""
        return [changed for changed in self._change(point) if self.allows(changed)]

    # ------------------------------------------------------------------------------------------------------ configurations

    def configuration(self, point: Point) -> Configuration:
        """What plays at a point.

        Raises:
            SpaceError: a decay that is not a number.
        """
        texts = {name: self._expand(text, point) for name, text in self.templates.items()}
        try:
            decay = float(texts.get("move_decay", 0.0))
        except ValueError as error:
            raise SpaceError(f"the space {self.name} at {self.describe(point)}: {error}") from None
        return Configuration(texts["strategy"], texts.get("scheme", str(MO_ISMCTS)), decay)

    def _expand(self, text: str, point: Point) -> str:
        while match := _FIELD.search(text):
            k = self.names.index(match[1])
            text = text[: match.start()] + str(self.factors[match[1]][point[k]]) + text[match.end() :]
        return text

    def check(self, names: Mapping[str, Operand] | None = None) -> None:
        """Refuse a space in which something makes nothing that can be read: each level of each factor once, and random points.

        Args:
            names: enhancements that strategies may name.

        Raises:
            SpaceError: with the point, and what is wrong there.
        """
        rng = np.random.default_rng(0)
        for point in dict.fromkeys([*self.covering(), *(self.sample(rng) for _ in range(CHECKED))]):
            with self.refusing(point):
                self.configuration(point).agent(iterations=LEAST_ITERATIONS, **(names or {}))

    @contextlib.contextmanager
    def refusing(self, point: Point) -> Iterator[None]:
        """An error within becomes a `SpaceError` that names the point."""
        try:
            yield
        except SpaceError:
            raise
        except (ValueError, TypeError) as error:
            raise SpaceError(f"the space {self.name} at {self.describe(point)}: {error}") from None

    def covering(self) -> list[Point]:
        """Points in which every level of every factor that can be active is found, each once at least where it is not excluded."""
        points, queue, queued_points, excluded_count = list[Point](), [self.default], {self.default}, 0
        missing = {(k, i) for k, levels in enumerate(self.factors.values()) for i in range(len(levels))}
        while queue and missing and excluded_count < ATTEMPTS:
            point = queue.pop(0)
            if missing.isdisjoint(enumerate(point)):
                continue
            if self.allows(point):
                missing -= set(enumerate(point))
                points.append(point)
            else:  # its neighbours may be allowed
                excluded_count += 1
            near = [changed for changed in self._change(point) if changed not in queued_points]
            queued_points.update(near)
            queue += near
        return points

    def _change(self, point: Point) -> Iterator[Point]:
        for k, level in enumerate(point):
            for alternative in range(len(self.factors[self.names[k]])) if level != INACTIVE else ():
                if alternative != level:
                    yield self.canonical(point[:k] + (alternative,) + point[k + 1 :])

    def describe(self, point: Point) -> str:
        """The levels of a point's active factors, as text."""
        pairs = zip(self.factors.items(), point, strict=True)
        texts = [f"{name} = {level_text(each[level])}" for (name, each), level in pairs if level != INACTIVE]
        return ", ".join(texts)

    # ---------------------------------------------------------------------------------------------------- reading, checking

    def settings(self) -> dict[str, Any]:
        """The space as a table of JSON or TOML; `read_space` reads it back."""
        table: dict[str, Any] = {"name": self.name, **self.templates}
        table["factors"] = {name: list(levels) for name, levels in self.factors.items()}
        return table | ({"excluded": [dict(forbidden) for forbidden in self.excluded]} if self.excluded else {})

    def __str__(self) -> str:
        lines = [f"space {self.name}: {self.count():,} points"]
        lines += [f"  {name} = {text}" for name, text in self.templates.items()]
        lines += [f"    {name}: {', '.join(map(str, levels))}" for name, levels in self.factors.items()]
        return "\n".join(lines)

    def _check(self) -> None:
        for key in (key for key in self.templates if key not in TEMPLATES):
            raise SpaceError(
                f"{key} of the space {self.name}: no such template; known templates: {', '.join(TEMPLATES)}"
            )
        if "strategy" not in self.templates:
            raise SpaceError(
                f'the space {self.name} has no strategy; write one like strategy = "BASELINE >> {{simulation}}"'
            )
        if not any(len(levels) > 1 for levels in self.factors.values()):
            raise SpaceError(f"the space {self.name} has only one point: no factor has two levels")
        texts = [*self.templates.values(), *(str(level) for levels in self.factors.values() for level in levels)]
        fields = {field for text in texts for field in _FIELD.findall(text)}
        for name in fields - set(self.factors):
            raise SpaceError(
                f"the space {self.name} names {{{name}}}, which is not a factor; factors: {', '.join(self.factors)}"
            )
        for name in set(self.factors) - fields:
            raise SpaceError(
                f"no template or level uses the factor {name} of the space {self.name}; write {{{name}}} in one"
            )
        for name, levels in self.factors.items():
            if not levels or len(set(map(str, levels))) < len(levels):
                raise SpaceError(f"the factor {name} of the space {self.name} has no levels, or one of them twice")
        self._forbidden()

    def _forbidden(self) -> list[dict[int, int]]:
        """The exclusions by places of factors and levels."""
        try:
            return [
                {self.names.index(name): self.factors[name].index(level) for name, level in forbidden.items()}
                for forbidden in self.excluded
            ]
        except (ValueError, KeyError):
            raise SpaceError(f"the space {self.name} excludes a factor or a level that it does not have") from None

    def _sort(self) -> tuple[int, ...]:
        """The factors so that each comes after those whose levels name it."""
        names, order = self.names, list[int]()
        named_by = [self._factors_in(" ".join(map(str, levels))) for levels in self.factors.values()]
        parents = [{j for j, named in enumerate(named_by) if k in named} for k in range(len(names))]
        while len(order) < len(names):
            ready = [k for k in range(len(names)) if k not in order and parents[k] <= set(order)]
            if not ready:
                circle = ", ".join(names[k] for k in range(len(names)) if k not in order)
                raise SpaceError(f"factors of the space {self.name} refer to each other in a circle: {circle}")
            order += ready
        return tuple(order)

    def _named_by_templates(self) -> frozenset[int]:
        return self._factors_in(" ".join(self.templates.values()))

    def _named_by_level(self, k: int, level: int) -> frozenset[int]:
        return self._factors_in(str(self.factors[self.names[k]][level])) if level != INACTIVE else frozenset()

    def _factors_in(self, text: str) -> frozenset[int]:
        return frozenset(self.names.index(field) for field in _FIELD.findall(text))


LEAST_ITERATIONS = 1000  # of the agents that `check` makes: each tree of a scheme needs one


def read_space(table: Mapping[str, Any]) -> Space:
    """The space that a table, as TOML has it, describes.

    Raises:
        SpaceError: a key is unknown or of the wrong kind, or see `Space`.
    """
    if unknown := [key for key in table if key not in KEYS]:
        raise SpaceError(f"{unknown[0]}: no such key of a space; known keys: {', '.join(KEYS)}")
    factors = table.get("factors", {})
    if not isinstance(factors, Mapping) or not all(
        isinstance(levels, Sequence) and not isinstance(levels, str) for levels in factors.values()
    ):
        raise SpaceError('factors: this must be a table of lists, such as simulation = ["MAST", "NAST2"]')
    excluded = table.get("excluded", ())
    if not all(isinstance(forbidden, Mapping) for forbidden in excluded):
        raise SpaceError("excluded: this must be a list of tables [[excluded]], each with a level for some factors")
    templates = {key: str(table[key]) for key in TEMPLATES if key in table}
    levels = {name: tuple(each) for name, each in factors.items()}
    return Space(str(table.get("name", "of one's own")), templates, levels, tuple(excluded))


SHIPPED = Path(__file__).parent / "spaces"


def shipped_spaces() -> tuple[str, ...]:
    """The names of the spaces that come with the package."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def load_space(name: str | Path) -> Space:
    """A shipped space by its name, or one of a TOML file.

    Raises:
        SpaceError: there is no such space, or it cannot be read. TypeError: no name and no path.
    """
    if not isinstance(name, str | Path):
        raise TypeError(f"space is {name!r}; it must be a Space, the name of one or the path of a TOML file")
    path = SHIPPED / f"{name}.toml" if str(name) in shipped_spaces() else Path(name)
    try:
        return read_space(tomllib.loads(path.read_text(encoding="utf-8")))
    except OSError:
        raise SpaceError(
            f"there is no space and no file {str(name)!r}; the library's spaces: {', '.join(shipped_spaces())}; or give a TOML file"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise SpaceError(f"{checks.excerpt(str(path), 200)} is not valid TOML: {error}") from None
