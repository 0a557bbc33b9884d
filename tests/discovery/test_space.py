"""Spaces: what they count, which factors play a role, what they refuse."""

import itertools
from pathlib import Path

import numpy as np
import pytest

from icarus.arena.player import Configuration
from icarus.discovery.space import INACTIVE, Point, Space, SpaceError, load_space, read_space, shipped_spaces

TEMPLATES = {"strategy": "{tree} >> {simulation}", "scheme": "MO_ISMCTS{cutoff}"}
FACTORS = {
    "tree": ("baseline({c})", "RAVE"),
    "c": (0.7, 0.35, 1.4),
    "simulation": ("MAST", "mast(epsilon_greedy({epsilon}))"),
    "epsilon": (0.1, 0.2),
    "cutoff": ("", " with cutoff=8"),
}


def small(**changes: object) -> Space:
    return Space(**{"name": "small", "templates": TEMPLATES, "factors": FACTORS, **changes})  # type: ignore[arg-type]


def points_of(space: Space) -> list[Point]:
    """All points of a space, by all combinations of levels."""
    combinations = itertools.product(*(range(len(levels)) for levels in space.factors.values()))
    return [point for point in dict.fromkeys(map(space.canonical, combinations)) if space.allows(point)]


def test_points_count_active_factors_only() -> None:
    space = small()
    points = points_of(space)
    assert space.count() == len(points) == len(set(points)) == (3 + 1) * (1 + 2) * 2
    assert {space.configuration(point) for point in points} == {space.configuration(point) for point in set(points)}
    assert len({space.configuration(point) for point in points}) == len(points)


def test_a_level_switches_factors_off() -> None:
    space = small()
    point = space.point({"tree": "RAVE", "c": 1.4})
    assert point == space.point({"tree": "RAVE"})
    assert point == (1, INACTIVE, 0, INACTIVE, 0)


def test_neighbours_differ_in_one_factor_and_have_defaults_in_new_ones() -> None:
    space = small()
    near = space.neighbours(space.point({"tree": "RAVE"}))
    assert {str(space.configuration(point)) for point in near} == {
        "baseline(0.7) >> MAST",
        "RAVE >> mast(epsilon_greedy(0.1))",
        "RAVE >> MAST   [scheme = MO_ISMCTS with cutoff=8]",
    }


def test_exclusions_are_no_points() -> None:
    space = small(excluded=({"tree": "RAVE", "cutoff": " with cutoff=8"},))
    points = points_of(space)
    assert space.count() == len(points) == 21
    rng = np.random.default_rng(0)
    assert {space.sample(rng) for _ in range(500)} == set(points)
    assert all(space.allows(near) for point in points for near in space.neighbours(point))


def test_a_space_reads_back_from_its_table() -> None:
    space = small(excluded=({"tree": "RAVE", "cutoff": ""},))
    assert read_space(space.settings()).settings() == space.settings()


@pytest.mark.parametrize("name", shipped_spaces())
def test_all_that_the_shipped_spaces_can_say_is_a_strategy(name: str) -> None:
    space = load_space(name)
    space.check()
    covered = {(k, level) for point in space.covering() for k, level in enumerate(point) if level != INACTIVE}
    assert covered == {(k, level) for k, levels in enumerate(space.factors.values()) for level in range(len(levels))}


def test_a_level_whose_first_point_is_excluded_is_covered_by_another() -> None:
    """b = 1 is met first beside the default of a, where it is excluded."""
    factors = {"a": ("MAST", "NAST2"), "b": ("BASELINE", "RAVE")}
    space = Space("small", {"strategy": "{b} >> {a}"}, factors, ({"a": "MAST", "b": "RAVE"},))
    assert space.covering() == [(0, 0), (1, 0), (1, 1)]


def test_the_general_space_is_large_and_the_paper_s_has_sixteen_points() -> None:
    assert load_space("general").count() >= 10**5
    assert load_space("sixteen").count() == 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factors": {**FACTORS, "idle": (1, 2)}}, "no template or level uses the factor idle"),
        ({"factors": {"tree": ("RAVE",), "simulation": ("MAST",), "cutoff": ("",)}}, "only one point"),
        ({"templates": {"strategy": "{tree} >> {simulations}"}}, "{simulations}, which is not a factor"),
        ({"factors": {**FACTORS, "c": ("{epsilon}", 1), "epsilon": ("{c}", 2)}}, "in a circle"),
        ({"excluded": ({"cutoff": ""}, {"cutoff": " with cutoff=8"})}, "is empty"),
        ({"excluded": ({"cutoff": "9"},)}, "does not have"),
        ({"templates": {"scheme": "SO_ISMCTS"}}, "no strategy"),
        ({"factors": {**FACTORS, "c": (0.7, 0.7)}}, "one of them twice"),
    ],
)
def test_spaces_that_make_no_sense_are_refused(changes: dict, message: str) -> None:
    with pytest.raises(SpaceError, match=message.replace("{", r"\{").replace("}", r"\}")):
        small(**changes)


def test_a_level_that_makes_no_strategy_is_refused_with_its_point() -> None:
    space = small(factors={**FACTORS, "epsilon": (0.1, 7)})
    with pytest.raises(SpaceError, match="epsilon = 7.*at most 1"):
        space.check()


def test_levels_that_do_not_go_together_are_refused() -> None:
    factors = {"grams": ("nast(2, {rule})", "nst(7, {rule})"), "rule": ("gibbs(1.0)", "ucb1(0.7)")}
    with pytest.raises(SpaceError, match="rule = ucb1.*use argmax"):
        Space("pairs", {"strategy": "BASELINE >> {grams}"}, factors).check()


def test_bad_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "space.toml").write_text("name = \n")
    for name, message in (
        ("nothing", "there is no space and no file"),
        (str(tmp_path / "space.toml"), "is not valid TOML"),
    ):
        with pytest.raises(SpaceError, match=message):
            load_space(name)


def test_a_configuration_says_what_is_not_usual() -> None:
    assert str(Configuration("RAVE")) == "RAVE"
    assert str(Configuration("RAVE", move_decay=0.5)) == "RAVE   [move_decay = 0.5]"
    agent = Configuration("RAVE >> MAST", "SO_ISMCTS with cutoff=3").agent(iterations=10)
    assert str(agent.scheme) == "SO_ISMCTS with cutoff=3"
