"""Spaces: what they count, which factors play a role, what they refuse."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from icarus.discovery.finders import Factorial, Features, fit
from icarus.discovery.race import LEAST_UNITS, POWER, detectable
from icarus.discovery.space import INACTIVE, Point, SearchSpace, load_space, shipped_spaces

STRATEGY, SCHEME = "{tree} >> {simulation}", "MO_ISMCTS{cutoff}"
FACTORS = {
    "tree": ("baseline({c})", "RAVE"),
    "c": (0.7, 0.35, 1.4),
    "simulation": ("MAST", "mast(epsilon_greedy({epsilon}))"),
    "epsilon": (0.1, 0.2),
    "cutoff": ("", " with cutoff=8"),
}


def small(**changes: object) -> SearchSpace:
    return SearchSpace(
        **{"strategy": STRATEGY, "scheme": SCHEME, "factors": FACTORS, "name": "small", **changes}
    )


def points_of(space: SearchSpace) -> list[Point]:
    """All points of a space, by all combinations of levels."""
    combinations = itertools.product(*(range(len(levels)) for levels in space.factors.values()))
    return [
        point for point in dict.fromkeys(map(space.canonical, combinations)) if space.allows(point)
    ]


def test_points_count_active_factors_only():
    space = small()
    points = points_of(space)
    assert space.count() == len(points) == len(set(points)) == (3 + 1) * (1 + 2) * 2
    assert {space.configuration(point) for point in points} == {
        space.configuration(point) for point in set(points)
    }
    assert len({space.configuration(point) for point in points}) == len(points)


def test_neighbours_differ_in_one_factor_and_have_defaults_in_new_ones():
    space = small()
    near = space.neighbours(space.canonical([1, 0, 0, 0, 0]))
    assert {str(space.configuration(point)) for point in near} == {
        "baseline(0.7) >> MAST",
        "RAVE >> mast(epsilon_greedy(0.1))",
        "RAVE >> MAST   [scheme = MO_ISMCTS with cutoff=8]",
    }


def test_exclusions_are_no_points():
    space = small(excluded=({"tree": "RAVE", "cutoff": " with cutoff=8"},))
    points = points_of(space)
    assert space.count() == len(points) == 21
    rng = np.random.default_rng(0)
    assert {space.sample(rng) for _ in range(500)} == set(points)
    assert all(space.allows(near) for point in points for near in space.neighbours(point))


@pytest.mark.parametrize("name", shipped_spaces())
def test_all_that_the_shipped_spaces_can_say_is_a_strategy(name):
    space = load_space(name)
    space.check()
    covered = {
        (k, level)
        for point in space.covering()
        for k, level in enumerate(point)
        if level != INACTIVE
    }
    assert covered == {
        (k, level)
        for k, levels in enumerate(space.factors.values())
        for level in range(len(levels))
    }


def test_the_general_space_is_large_and_the_paper_s_has_sixteen_points():
    assert load_space("general").count() >= 10**5
    assert load_space("sixteen").count() == 16


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"factors": {**FACTORS, "idle": (1, 2)}},
            "no template or level that uses the factor idle",
        ),
        (
            {"factors": {"tree": ("RAVE",), "simulation": ("MAST",), "cutoff": ("",)}},
            "only one point",
        ),
        (
            {"factors": {**FACTORS, "a-b": ("MAST", "NAST2")}},
            "a factor 'a-b'; its name must be of letters, digits and _",
        ),
        (
            {"factors": {**FACTORS, "tree": "RAVE"}},
            "has 'RAVE' for the levels of the factor tree; they must be a list",
        ),
        ({"strategy": "{tree} >> {simulations}"}, "{simulations}, which is not a factor"),
        ({"factors": {**FACTORS, "c": ("{epsilon}", 1), "epsilon": ("{c}", 2)}}, "in a circle"),
        ({"excluded": ({"cutoff": ""}, {"cutoff": " with cutoff=8"})}, "is empty"),
        (
            {
                "strategy": "{tree}",
                "scheme": "",
                "factors": {"tree": ("RAVE", "MAST")},
                "excluded": ({"tree": "MAST"},),
            },
            "only one point: every other combination of levels is excluded",
        ),
        ({"excluded": ({"tree": FACTORS["tree"][0], "cutoff": ""},)}, "excludes its default"),
        ({"excluded": ({"cutoff": "9"},)}, "does not have"),
        ({"factors": {**FACTORS, "c": (0.7, 0.7)}}, "one of them twice"),
        ({"factors": {**FACTORS, "c": (2, 1, 1.0)}}, "one of them twice"),
        ({"factors": {**FACTORS, "c": (1, "1")}}, "one of them twice"),
        (
            {"strategy": "{{tree}} >> {simulation}"},
            "has a brace in '{{tree}} >> {simulation}' that",
        ),
    ],
)
def test_spaces_that_make_no_sense_are_refused(changes, message):
    with pytest.raises(ValueError, match=message.replace("{", r"\{").replace("}", r"\}")):
        small(**changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"factors": {**FACTORS, "epsilon": (0.1, 7)}}, "epsilon = 7.*at most 1"),
        ({"move_decay": "x"}, "move_decay is 'x'; it must be a real number at least 0 and at most"),
    ],
)
def test_a_level_that_makes_no_agent_is_refused_with_its_point(changes, message):
    with pytest.raises(ValueError, match=f"the space small at tree = .*{message}"):
        small(**changes).check()


@pytest.mark.parametrize(
    "factors",
    [
        {"tree": ("RAVE", "MAST"), "decay": ("0", "0.0")},
        {"tree": ("RAVE", "MAST"), "decay": ("0", 0.5, "0.50")},
        {"tree": ("RAVE>>MAST", "RAVE >> MAST"), "decay": (0,)},
        {"tree": ("MAST", "(MAST)"), "decay": (0,)},
        {"tree": ("baseline({c})", "RAVE"), "c": (0.1, "1e-1"), "decay": (0,)},
    ],
)
def test_two_levels_that_make_the_same_are_refused(factors):
    with pytest.raises(ValueError, match="at tree = (.*), .*: this makes .*, and so does tree = "):
        SearchSpace("{tree}", factors, move_decay="{decay}").check()


def test_levels_that_do_not_go_together_are_refused():
    factors = {"grams": ("nast(2, {rule})", "nst(7, {rule})"), "rule": ("gibbs(1.0)", "ucb1(0.7)")}
    with pytest.raises(ValueError, match="rule = ucb1.*needs a @candidates function"):
        SearchSpace("BASELINE >> {grams}", factors).check()


def test_bad_files_are_refused(tmp_path):
    (tmp_path / "space.toml").write_text("name = \n")
    for name, message in (
        ("nothing", "there is no space and no file"),
        (5, "there is no space and no file '5'"),
        (str(tmp_path), "cannot be read: Is a directory; give the TOML file"),
        (str(tmp_path / "space.toml"), "is not valid: Invalid value"),
    ):
        with pytest.raises(ValueError, match=message):
            load_space(name)


# -------------------- Finders on landscapes whose truth is known.


SIZES = (4, 3, 3, 2)
SPACE = SearchSpace(
    " ".join(f"{{f{k}}}" for k in range(len(SIZES))),
    {f"f{k}": tuple(range(size)) for k, size in enumerate(SIZES)},
)
EFFECTS = [np.linspace(-0.12, 0.12, size) for size in SIZES]


def rate(point: Point) -> float:
    return 0.5 + sum(EFFECTS[k][level] for k, level in enumerate(point))


def recommended(seed: int, budget: int = 1200) -> float:
    finder, rng, spent = Factorial(SPACE, budget, seed), np.random.default_rng(seed + 100), 0
    while spent < budget:
        points, luck = finder.ask()[: budget - spent], rng.normal(0, 0.1)
        finder.tell(points, [float(rng.random() < rate(point)) + luck for point in points])
        spent += len(points)
    return rate(finder.finalists(1)[0])


def test_a_finder_finds_what_is_clearly_good():
    assert np.mean([recommended(seed) for seed in range(2)]) > 0.75


def test_the_same_seed_asks_the_same():
    def run() -> list[list[Point]]:
        finder, batches = Factorial(SPACE, 300, 5), []
        for _ in range(20):
            batches.append(list(finder.ask()))
            finder.tell(batches[-1], [rate(point) for point in batches[-1]])
        return batches

    assert run() == run()


def test_the_model_recovers_main_effects_through_effects_of_batches():
    rng = np.random.default_rng(3)
    points = [SPACE.sample(rng) for _ in range(1600)]
    batches = [i // 8 for i in range(len(points))]
    luck = rng.normal(0, 0.5, 200)
    scores = [
        rate(point) + luck[batch] + rng.normal(0, 0.2)
        for point, batch in zip(points, batches, strict=True)
    ]
    posterior = fit(Features(SIZES), points, batches, scores)
    everything = points_of(SPACE)
    gap = posterior.means(everything) - np.array([rate(point) for point in everything])
    assert np.std(gap) < 0.05
    assert (
        np.corrcoef(posterior.drawn(everything, 50, rng).mean(0), posterior.means(everything))[0, 1]
        > 0.98
    )


# -------------------- What a proof can find.


@pytest.mark.parametrize("level", [0.002, 0.01, 0.05])
def test_what_a_proof_detects_it_finds_with_its_power(level):
    for units in (LEAST_UNITS, 60, 200):
        shift = detectable(units, 0.4, level) / 0.4 * math.sqrt(units)
        power = stats.nct.sf(stats.t.isf(level, units - 1), units - 1, shift)
        assert power == pytest.approx(POWER, abs=0.012)
    assert detectable(1, 0.4, level) == math.inf
