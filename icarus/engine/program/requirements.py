"""What slots read, found by the names in their code: features and the heuristic, which the game must have, and what no slot may read."""

from collections.abc import Iterable, Sequence

from icarus.algebra import Enhancement
from icarus.algebra.slots import Candidates, Slot
from icarus.compiler.digest import attributes_read, kernel_cache, unseeded_source
from icarus.compiler.functions import plain
from icarus.compiler.kernel import Kernel
from icarus.compiler.messages import defined_at
from icarus.kernel.features import (
    ACTION_FEATURES,
    ENDINGS,
    FEATURES,
    KINDS,
    LOOKAHEAD,
    NAMES,
    TABLES,
    HasFeatures,
    column_of,
)
from icarus.kernel.functions import FUNCTIONS
from icarus.kernel.game import AnyGame, Game
from icarus.kernel.state import State

OF_ACTIONS = ACTION_FEATURES | LOOKAHEAD | ENDINGS
NEEDED = {FEATURES: "features", ACTION_FEATURES: "action_features", LOOKAHEAD: "heuristic"}  # of a game, to tell these


def tables_among(names: Iterable[str]) -> int:
    """The tables of a history that are among some names, as bits."""
    features = frozenset(names)
    return sum(table for table, name in zip(TABLES, NAMES, strict=True) if name in features)


def tables_of(strategy: Enhancement) -> int:
    """The tables that any slot of a composition reads."""
    slots = [slot for part in strategy.components for slot in _readers(part)]
    return tables_among(name for slot in slots for name in attributes_read(slot.function))


def _readers(part: Enhancement) -> list[Slot]:
    """The slots of an enhancement that are given a history."""
    return [slot for slot in (part.policy.source, part.capture, part.initial.function) if slot is not None]


def widths_of(game: HasFeatures, tables: int) -> dict[str, int]:
    """How many numbers the tables have in a row, by their names; 0 where no slot reads one."""
    widths = len(game.feature_names), len(game.action_feature_names), game.players, game.players
    return {name: width * bool(tables & table) for table, name, width in zip(TABLES, NAMES, widths, strict=True)}


def feature_kernels(game: Game, tables: int, cut: bool = False) -> dict[str, Kernel]:
    """The compiled functions that tell these tables, by name.

    Args:
        cut: whether the heuristic is also needed for playouts that are cut off.
    """
    needed = {kind for table, kind in NEEDED.items() if tables & table} | ({"heuristic"} if cut else set())
    return {kind: game.teller(kind) for kind in sorted(needed)}


def check_features(state: State, tables: int) -> None:
    """Ask the game once, in plain Python, what it tells of a state: there too much that is told is noticed too.

    Raises:
        ValueError: what is told makes no sense.
    """
    if tables & FEATURES:
        state.features()
    if tables & ACTION_FEATURES:
        state.action_features(state.legal_actions()[0])
    if tables & LOOKAHEAD:
        state.heuristic()


def refuse_hidden(components: Sequence[Enhancement], game: AnyGame) -> None:
    """Refuse enhancements that prove what players are sure to get, in a game in which something is hidden.

    Raises:
        ValueError: there is one, and the game has secrets, or choices made at once.
    """
    hidden = [part for part in (game.determinize, game.observe, game.simultaneous) if part is not None]
    for component in components:
        if component.capture.proves and hidden:
            raise ValueError(
                f"{component} proves bounds of rewards, which needs a game of perfect information; {game} is not one"
            )


def refuse_unknown(game: AnyGame, strategy: Enhancement) -> None:
    """Refuse a strategy that reads features or values which a game does not have.

    Raises:
        ValueError: it does, or its function is asked about single actions, whose places in a table it cannot know.
    """
    for part in strategy.components:
        for slot in _readers(part):
            _refuse_slot(game, slot, f"{slot.label()} of {part.name}")
        for name in part.backpropagation.features:
            column_of(game, name)


def _refuse_slot(game: AnyGame, slot: Slot, label: str) -> None:
    tables = tables_among(attributes_read(slot.function))
    for table, needed in NEEDED.items():
        if tables & table and getattr(game, needed) is None:
            name = NAMES[TABLES.index(table)]
            raise ValueError(f"{label} reads history.{name}, but {game} has no {needed}; give Game({needed}=…)")
    for name in slot.features:
        column_of(game, name)
    if isinstance(slot, Candidates) and slot.independent and tables & OF_ACTIONS:
        raise ValueError(
            f"{label} is declared independent, but reads features of all legal actions; remove independent=True"
        )


@kernel_cache
def refuse_unseeded(slot: Slot) -> None:
    """Refuse a slot that draws from a generator which the seed of a search does not fix.

    Raises:
        ValueError: it does; the sentence says where from, and what to draw from instead.
    """
    source = unseeded_source(slot.function)
    if source:
        raise ValueError(
            f"{slot.label()} draws from {source}, which the seed of a search does not fix; draw from the search's own generator, "
            f"uniform(history.rng) or below(history.rng, n) of icarus.kernel"
        )


def unseeded_sources(game: Game) -> dict[str, str]:
    """Where each function of a game draws from, by its name: a generator that no seed fixes, or "" for none."""
    functions = {name: getattr(game, name) for name in (*FUNCTIONS, *KINDS)}
    return {name: unseeded_source(plain(function)) for name, function in functions.items() if function is not None}


@kernel_cache
def refuse_unseeded_rules(game: Game) -> None:
    """Refuse a compiled game of which a function draws from a generator that no seed fixes.

    Raises:
        ValueError: it does; the sentence says where from, and what to draw from instead.
    """
    for name, source in unseeded_sources(game).items():
        if source:
            raise ValueError(
                f"{name} of {game.name} draws from {source}, which no seed fixes; list chances in `chance`, or draw from the rng "
                f"of initial and determinize, uniform(rng) or below(rng, n) of icarus.kernel{defined_at(getattr(game, name))}"
            )
