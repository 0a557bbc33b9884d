"""How far the values of actions go together with those of their records elsewhere, from halves of random playouts."""

from collections.abc import Iterable, Mapping, Sequence

import attrs
import numpy as np

from experiments.plan.titles import game_title
from experiments.store.shared_values import FEWEST_ACTIONS, HALVES, KINDS, Shared
from icarus.views.document import Table

FEWEST = 20  # captures of a record elsewhere, in each half
RESAMPLED = 1000  # times, for the interval
LEAST = 0.005  # standard deviation of values below which there is nothing to be told apart

Sums = np.ndarray  # of products over the actions of a position: now × now, later × later, now × later. [3]


@attrs.frozen
class Correlation:
    """Over the actions of positions, centred within each.

    Attributes:
        positions: how many.
        now, later: standard deviations of the true values.
        value, low, high: their correlation with its 95 % interval, from positions drawn again; nan where the values hardly differ.
    """

    positions: int
    now: float
    later: float
    value: float
    low: float
    high: float


def correlation(shared: Iterable[Shared]) -> Correlation | None:
    """That of one game and one kind of record; None where no position has enough actions."""
    positions: dict[int, dict[int, dict[int, Shared]]] = {}
    for each in shared:
        positions.setdefault(each.position, {}).setdefault(each.action, {})[each.half] = each
    sums, actions = [], 0
    for by_action in positions.values():
        both = [halves for halves in by_action.values() if len(halves) == HALVES]
        captured = [halves for halves in both if min(half.count for half in halves.values()) >= FEWEST]
        if len(captured) >= FEWEST_ACTIONS:
            sums.append(_products(captured, both))
            actions += len(captured) - 1
    if not sums:
        return None
    whole = np.array(sums)
    generator = np.random.default_rng(1)
    resampled = whole[generator.integers(len(whole), size=(RESAMPLED, len(whole)))].sum(axis=1)
    now, later = np.sqrt(np.maximum(whole.sum(axis=0)[:2], 0) / actions)
    if min(now, later) < LEAST:
        return Correlation(len(whole), float(now), float(later), np.nan, np.nan, np.nan)
    low, high = np.nanquantile(_of(resampled), (0.025, 0.975))
    return Correlation(len(whole), float(now), float(later), float(_of(whole.sum(axis=0))), float(low), float(high))


def _of(sums: np.ndarray) -> np.ndarray:
    """Correlations from sums of products [..., 3]; nan where noise hides all there is."""
    now, later, together = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.clip(together / np.sqrt(np.where((now > 0) & (later > 0), now * later, np.nan)), -1, 1)


def _products(captured: Sequence[Mapping[int, Shared]], all_actions: Sequence[Mapping[int, Shared]]) -> Sums:
    """Products across halves, whose noise is independent, over the actions of a position."""
    now, later = (
        np.array([[_value(halves[half], name, all_actions) for halves in captured] for half in range(HALVES)])
        for name in ("now", "later")
    )
    now, later = (values - values.mean(axis=1, keepdims=True) for values in (now, later))
    return np.array(
        [(now[0] * now[1]).sum(), (later[0] * later[1]).sum(), (now[0] * later[1] + now[1] * later[0]).sum() / 2]
    )


def _value(shared: Shared, name: str, all_actions: Sequence[Mapping[int, Shared]]) -> float:
    """The value now, or that elsewhere less what is to be expected of playouts that begin with the other actions."""
    if name == "now":
        return shared.now
    others = [halves[shared.half].now for halves in all_actions if halves[shared.half].action != shared.action]
    return shared.later - sum(others) / len(others)


def correlation_table(shared: Sequence[Shared]) -> Table:
    """A line for each game and kind of record."""
    lines = []
    for game, role in dict.fromkeys((each.game, each.role) for each in shared):
        for kind in KINDS:
            result = correlation(each for each in shared if (each.game, each.role, each.kind) == (game, role, kind))
            title = game_title(game) + (f" ({role})" if role else "")
            lines.append([title, kind, *(_texts(result) if result else ("0", "", "", "", ""))])
    return Table(
        "Values of actions now, and of their records elsewhere in random playouts: standard deviations over the actions of a position, and "
        "their correlation, both without noise; 95 % intervals by drawing positions again.",
        ["Game", "Record", "Positions", "now", "elsewhere", "Correlation", "95 % interval"],
        lines,
    )


def _texts(result: Correlation) -> tuple[str, ...]:
    value, interval = f"{result.value:+.2f}", f"{result.low:+.2f} to {result.high:+.2f}"
    texts = ("", "") if np.isnan(result.value) else (value, interval)
    return str(result.positions), f"{result.now:.3f}", f"{result.later:.3f}", *texts
