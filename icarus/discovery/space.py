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
import functools
import graphlib
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy as np

from icarus import checks
from icarus.algebra.parsing import Operand
from icarus.arena.player import Entrant
from icarus.engine.match import Player
from icarus.engine.scheme import MO_ISMCTS, MOST_TREES
from icarus.specs import NAMES

INACTIVE = -1
ATTEMPTS = 1000  # at a point that is not excluded
CHECKED = 1000  # random points that are read before the first game
_FIELD = re.compile(r"\{(\w+)\}")

Point = tuple[int, ...]  # a level of each factor, INACTIVE where it is switched off
Level = str | int | float


def level_text(level: Level) -> str:
    """A level as people read it; an empty one, which leaves something out of a template, has no text of its own."""
    return str(level).strip() or "none"


class SearchSpace(
    msgspec.Struct, frozen=True, dict=True, omit_defaults=True, forbid_unknown_fields=True
):
    """Factors with levels, and templates that make a configuration of them; see the head of this file.

    Attributes:
        strategy, scheme, move_decay: the templates, with "{factor}" where a level is to stand.
        factors: the levels of each factor; the first is the default.
        name: of the space.
        excluded: combinations of levels, {factor: level}, that are not points.

    Raises:
        ValueError: no factor has two levels, one has no proper name or no list of levels, a factor is named and not there, or there and
            not named, factors name one another in a circle, or everything is excluded, or the default.
    """

    strategy: str
    factors: dict[str, tuple[Level, ...]]
    name: str = "of one's own"
    scheme: str = ""
    move_decay: str | float = ""
    excluded: tuple[dict[str, Level], ...] = ()

    def __post_init__(self) -> None:
        if problem := self._problem():
            raise ValueError(f"the space {self.name} {problem}")

    @property
    def names(self) -> tuple[str, ...]:
        """The factors' names, in the order of a point's levels."""
        return tuple(self.factors)

    def _problem(self) -> str:
        """Why nothing can be searched; "" if it can."""
        for name, levels in self.factors.items():
            if not re.fullmatch(r"\w+", name):
                return f"has a factor {name!r}; its name must be of letters, digits and _"
            if isinstance(levels, str):
                return f"has {levels!r} for the levels of the factor {name}; they must be a list"
            # 1 and "1" are written alike, 1 and 1.0 are equal
            different = min(len(set(map(str, levels))), len(set(levels)))
            if not levels or different < len(levels):
                return f"has no levels of the factor {name}, or one of them twice"
        texts = [
            *self._templates,
            *(str(level) for levels in self.factors.values() for level in levels),
        ]
        for text in texts:
            if re.search("[{}]", _FIELD.sub("", text)):
                return f"has a brace in {text!r} that does not stand before or after the name of a factor"
        fields = {field for text in texts for field in _FIELD.findall(text)}
        if unknown := fields - set(self.factors):
            return f"names {{{min(unknown)}}}, which is not a factor; factors: {', '.join(self.factors)}"
        if idle := set(self.factors) - fields:
            return f"has no template or level that uses the factor {min(idle)}; write {{{min(idle)}}} in one"
        if not any(len(levels) > 1 for levels in self.factors.values()):
            return "has only one point: no factor has two levels"
        for name, level in (item for forbidden in self.excluded for item in forbidden.items()):
            if level not in self.factors.get(name, ()):
                return f"excludes a factor or a level that it does not have: {name} = {level_text(level)}"
        try:
            points = self.count()
        except graphlib.CycleError:
            return "has factors that refer to each other in a circle"
        if points == 0:
            return "is empty: every combination of levels is excluded"
        if points == 1:
            return "has only one point: every other combination of levels is excluded"
        if not self.allows(self.default):
            return "excludes its default, the first levels of all factors"
        return ""

    # ------------------------------------------------------------------------------------------------------------- points

    @property
    def default(self) -> Point:
        """The point of all first levels."""
        return self.canonical([0] * len(self.factors))

    def canonical(self, levels: Sequence[int]) -> Point:
        """The point with these levels: INACTIVE for a factor that nothing names; the first level for one that was INACTIVE and is named."""
        active = self._named_by_templates
        point = [INACTIVE] * len(levels)
        for k in self._order:
            if k in active:
                point[k] = max(levels[k], 0)
                active = active | self._named_by_levels[k][point[k]]
        return tuple(point)

    def allows(self, point: Point) -> bool:
        """Whether no exclusion forbids a point."""
        return not any(
            all(point[k] == level for k, level in forbidden.items())
            for forbidden in self._forbidden
        )

    def count(self) -> int:
        """How many different points there are."""
        mentioned = {k for forbidden in self._forbidden for k in forbidden}
        # Points are counted, not listed, factor by factor (dynamic programming). Partial points count together if the same factors are
        # active and they agree in the factors that an exclusion mentions: `ways` has their number by these factors and levels.
        ways = Counter({(self._named_by_templates, (INACTIVE,) * len(self.factors)): 1})
        for k in self._order:
            following: Counter[tuple[frozenset[int], Point]] = Counter()
            size = len(self.factors[self.names[k]])
            for (active, levels), number in ways.items():
                for level in range(size) if k in active else (INACTIVE,):
                    chosen = levels[:k] + (level,) + levels[k + 1 :] if k in mentioned else levels
                    named = self._named_by_levels[k][level] if level != INACTIVE else frozenset()
                    following[active | named, chosen] += number
            ways = following
        return sum(number for (_, levels), number in ways.items() if self.allows(levels))

    def sample(self, rng: np.random.Generator) -> Point:
        """A random point: each active factor takes each of its levels equally often.

        Raises:
            ValueError: in `ATTEMPTS` attempts all points were excluded.
        """
        for _ in range(ATTEMPTS):
            point = self.canonical(rng.integers(self._sizes).tolist())
            if self.allows(point):
                return point
        raise ValueError(f"all of {ATTEMPTS} random points of the space {self.name} are excluded")

    def neighbours(self, point: Point) -> list[Point]:
        """The points that differ in the level of one active factor; a factor that becomes active by that has its first level."""
        changed = list[Point]()
        for k, levels in enumerate(self.factors.values()):
            if point[k] != INACTIVE:
                others = [level for level in range(len(levels)) if level != point[k]]
                changed += [self.canonical(point[:k] + (each,) + point[k + 1 :]) for each in others]
        return [each for each in changed if self.allows(each)]

    # ------------------------------------------------------------------------------------------------------ configurations

    def configuration(self, point: Point) -> Entrant:
        """What plays at a point.

        Raises:
            ValueError: a decay that is not a number.
        """
        strategy, scheme, decay = (self._expand(text, point) for text in self._templates)
        try:
            number = float(decay or 0.0)
        except ValueError:
            number = checks.real("move_decay", decay, 0, 1)  # which is refused
        return Entrant(strategy, scheme or str(MO_ISMCTS), number)

    def _expand(self, text: str, point: Point) -> str:
        """A template with the levels of a point in place of the factors; a level may name further ones."""
        while match := _FIELD.search(text):
            level = point[self.names.index(match[1])]
            text = text.replace(match[0], str(self.factors[match[1]][level]))
        return text

    def check(
        self,
        names: Mapping[str, Operand] = NAMES,
        iterations: int | None = MOST_TREES,
        seconds: float | None = None,
    ) -> None:
        """Refuse a space in which something makes nothing that can be read: each level of each factor once, and random points.

        Two levels that make the same are refused, too: a race would judge one configuration twice.

        Args:
            names: enhancements that strategies may name.
            iterations, seconds: the budget of each decision; by default so many iterations that each scheme can do with them.

        Raises:
            ValueError: with the point, and what is wrong there.
        """
        rng = np.random.default_rng(0)
        covering = self.covering()
        for point in dict.fromkeys([*covering, *(self.sample(rng) for _ in range(CHECKED))]):
            with self.refusing(point):
                self.configuration(point).player(names, iterations=iterations, seconds=seconds)
        points = dict[Player, Point]()
        near = (neighbour for point in covering for neighbour in self.neighbours(point))
        for point in (*covering, *near):
            with self.refusing(point):
                configuration = self.configuration(point)
                player = configuration.player(names, iterations=iterations, seconds=seconds)
                first = points.setdefault(player, point)
                if first != point:
                    raise ValueError(
                        f"this makes {configuration}, and so does {self.describe(first)}; leave out one of the two"
                    )

    @contextlib.contextmanager
    def refusing(self, point: Point | None) -> Iterator[None]:
        """An error within names the point, if there is one."""
        try:
            yield
        except (ValueError, TypeError) as error:
            if point is None:
                raise
            raise ValueError(f"the space {self.name} at {self.describe(point)}: {error}") from None

    def covering(self) -> list[Point]:
        """Points that have the levels of all factors, as far as the default and `CHECKED` random points have them."""
        rng = np.random.default_rng(0)
        missing = {
            (k, i) for k, levels in enumerate(self.factors.values()) for i in range(len(levels))
        }
        points = list[Point]()
        for point in (self.default, *(self.sample(rng) for _ in range(CHECKED))):
            new = missing & set(enumerate(point))
            if new:
                missing -= new
                points.append(point)
        return points

    def describe(self, point: Point) -> str:
        """The levels of a point's active factors, as text."""
        pairs = zip(self.factors.items(), point, strict=True)
        return ", ".join(
            f"{name} = {level_text(each[level])}"
            for (name, each), level in pairs
            if level != INACTIVE
        )

    # ------------------------------------------------------------------------------------------------- factors by their places

    @property
    def _templates(self) -> tuple[str, str, str]:
        return self.strategy, self.scheme, str(self.move_decay)

    @functools.cached_property
    def _forbidden(self) -> list[dict[int, int]]:
        """The exclusions by places of factors and levels."""
        return [
            {
                self.names.index(name): self.factors[name].index(level)
                for name, level in forbidden.items()
            }
            for forbidden in self.excluded
        ]

    @functools.cached_property
    def _order(self) -> tuple[int, ...]:
        """The factors so that each comes after those whose levels name it.

        Raises:
            CycleError: there is none.
        """
        named_by = dict(enumerate(frozenset().union(*named) for named in self._named_by_levels))
        # the sorter has first those that are named
        return tuple(graphlib.TopologicalSorter(named_by).static_order())[::-1]

    @functools.cached_property
    def _sizes(self) -> np.ndarray:
        """How many levels each factor has."""
        return np.array([len(levels) for levels in self.factors.values()])

    @functools.cached_property
    def _named_by_templates(self) -> frozenset[int]:
        return self._factors_in(" ".join(self._templates))

    @functools.cached_property
    def _named_by_levels(self) -> list[list[frozenset[int]]]:
        """The factors that each level of each factor names."""
        return [
            [self._factors_in(str(level)) for level in levels] for levels in self.factors.values()
        ]

    def _factors_in(self, text: str) -> frozenset[int]:
        return frozenset(self.names.index(field) for field in _FIELD.findall(text))


SHIPPED = Path(__file__).parent / "spaces"


def shipped_spaces() -> tuple[str, ...]:
    """The names of the spaces that come with the package."""
    return tuple(sorted(path.stem for path in SHIPPED.glob("*.toml")))


def load_space(name: str | Path) -> SearchSpace:
    """A shipped space by its name, or one of a TOML file.

    Raises:
        ValueError: there is no such space, or it cannot be read.
    """
    path = SHIPPED / f"{name}.toml" if str(name) in shipped_spaces() else Path(str(name))
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8-sig")), SearchSpace)
    except (IsADirectoryError, PermissionError) as error:
        raise ValueError(
            f"{str(name)!r} cannot be read: {error.strerror}; give the TOML file of a space"
        ) from None
    except OSError:
        raise ValueError(
            f"there is no space and no file {str(name)!r}; the library's spaces: {', '.join(shipped_spaces())}; or give a TOML file"
        ) from None
    except (ValueError, RecursionError) as error:  # of TOML, codecs and msgspec
        raise ValueError(f"{checks.excerpt(str(path), 200)} is not valid: {error}") from None
