"""OpenSpiel's games, searched by icarus with any composition and scheme.

    from icarus import RAVE, MAST, search
    from icarus.bridges import openspiel

    game = openspiel.game("leduc_poker(players=3)")
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    print(search(state, RAVE >> MAST, iterations=1000))

`openspiel.state(s)` takes up a state of OpenSpiel's as it stands. The search is icarus's loop in plain Python; docs/bridges.md has
its iterations a second.

A player sees of an action what it changes in his information state string (in his observation string, where a game has no other), so
that his information sets are the game's own. Where he can be told more simply what others do, `observe=public_actions` is quicker, and
n-grams and replies are shared between more positions. Rewards are scaled from [min_utility, max_utility] to [0, 1].

Hidden information is redrawn by OpenSpiel's `resample_from_infostate`, which few games have, or by a function of yours; whether it leaks or
contradicts is told by `icarus.audit`. Players who decide at once take turns and do not see what was chosen; where
nothing else is hidden, that is redrawn without help.
"""

import difflib
from collections.abc import Callable, Sequence

import numpy as np
import pyspiel

from icarus.bridges.seats import difference, draw_outcome, read_view
from icarus.kernel import CHANCE, TERMINAL, uniform
from icarus.kernel.data import Beliefs
from icarus.kernel.python_game import PythonGame, PythonState

Determinize = Callable[["pyspiel.State", int, Callable[[], float]], "pyspiel.State"]
Observe = Callable[["pyspiel.State", int], Sequence[int]]


def game(
    source: "str | pyspiel.Game", *, determinize: Determinize | None = None, observe: Observe | None = None
) -> PythonGame:
    """A game of OpenSpiel's as icarus's.

    Args:
        source: its name with parameters, as `pyspiel.load_game` takes it, or the game.
        determinize: `determinize(state, player, random) -> state`, a pyspiel.State drawn from the player's information set, with
            `random()` real numbers in [0, 1). Absent: `state.resample_from_infostate(player, random)`.
        observe: `observe(state, action) -> moves`, how each player sees an action that is about to be done. Absent: as the
            information states tell it; `public_actions` where all see what players do.

    Raises:
        TypeError: neither a name nor a game of OpenSpiel's.
        ValueError: no such game; no decisions of players in turn; no bounds of its utilities; hidden information that nobody can redraw
            or nobody is told of.
    """
    original = _load(source)
    loaded = _in_turns(original)
    determinize = determinize or (_round_redrawn if _only_choices_hidden(original) else None)
    kind, lowest, highest = loaded.get_type(), loaded.min_utility(), loaded.max_utility()
    if not (np.isfinite([lowest, highest]).all() and lowest < highest):
        raise ValueError(f"{loaded} has utilities from {lowest} to {highest}; they cannot be scaled to [0, 1]")
    hidden = kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION
    if hidden and determinize is None:
        _check_resampler(loaded)
    if hidden and observe is None and not (kind.provides_information_state_string or kind.provides_observation_string):
        raise ValueError(f"{loaded} gives players no observations of its hidden information; give your own observe=…")
    return PythonGame(
        name=str(loaded),
        players=loaded.num_players(),
        initial=lambda rng: loaded.new_initial_state(),
        player=lambda state: TERMINAL if state.is_terminal() else state.current_player(),
        legal=lambda state: state.legal_actions(),
        apply=lambda state, action: state.apply_action(action),
        rewards=lambda state: _scale(state.returns(), lowest, highest),
        copy=lambda state: state.clone(),
        text=str,
        action_text=lambda state, action: state.action_to_string(state.current_player(), action),
        observe=(observe or _differences) if hidden else None,
        chance=lambda state: [probability for _, probability in state.chance_outcomes()],
        determinize=_redrawn_by(determinize or pyspiel.State.resample_from_infostate) if hidden else None,
        observation=read_view if hidden else None,
        multiplicity=_chance_of if hidden else None,
        utilities=(lowest, highest),
        actions=max(loaded.num_distinct_actions(), loaded.max_chance_outcomes()),
    )


def state(source: "pyspiel.State", of: PythonGame | None = None) -> PythonState:
    """A state of OpenSpiel's as it stands, to be searched; it is left alone.

    Args:
        of: the `game` that it belongs to, with functions of yours. Absent: `game(source.get_game())`.

    Raises:
        TypeError: not a state of OpenSpiel's. ValueError: players decide simultaneously; or as of `game`.
    """
    if not isinstance(source, pyspiel.State):
        raise TypeError(f"a state must be one of OpenSpiel's, such as its game.new_initial_state(), not {source!r}")
    if source.get_game().get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        raise ValueError(
            f"in {source.get_game()} players decide simultaneously; start with pyspiel.convert_to_turn_based(game).new_initial_state()"
        )
    return PythonState(of or game(source.get_game()), source.clone())


def public_actions(state: "pyspiel.State", action: int) -> list[int]:
    """How players see actions where they all see what players do: by its number; what chance does, by what it tells them."""
    if not state.is_chance_node():
        return [action] * state.num_players()
    return _differences(state, action)


def _load(source: "str | pyspiel.Game") -> "pyspiel.Game":
    if isinstance(source, pyspiel.Game):
        return source
    if not isinstance(source, str):
        raise TypeError(f"a game must be one of OpenSpiel's, or its name, such as 'leduc_poker', not {source!r}")
    try:
        return pyspiel.load_game(source)
    except pyspiel.SpielError as error:
        name, names = source.split("(")[0], pyspiel.registered_names()
        near = [] if name in names else difflib.get_close_matches(name, names, n=1)
        reason = str(error).splitlines()[0][:200].removesuffix(" Available games are:")
        hint = f"did you mean {near[0]}?" if near else reason
        raise ValueError(f"OpenSpiel cannot load {source!r}: {hint}") from None


def _in_turns(loaded: "pyspiel.Game") -> "pyspiel.Game":
    dynamics = loaded.get_type().dynamics
    if dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        return pyspiel.convert_to_turn_based(loaded)
    if dynamics != pyspiel.GameType.Dynamics.SEQUENTIAL:
        raise ValueError(f"{loaded} is a mean field game; icarus searches games of players who take turns")
    return loaded


def _only_choices_hidden(loaded: "pyspiel.Game") -> bool:
    """Whether all that is hidden is what others have chosen at once, where players decide at once."""
    kind, hides = loaded.get_type(), pyspiel.GameType.Information.IMPERFECT_INFORMATION
    return kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS and kind.information != hides


def _round_redrawn(state: "pyspiel.State", player: int, random: Callable[[], float]) -> "pyspiel.State":
    """A state of a game in turns in which those who have chosen in this round have chosen anything."""
    done, choosers = state.full_history(), 0
    while done and 0 <= done[-1].player < player:
        player, choosers = done.pop().player, choosers + 1
    redrawn = state.get_game().new_initial_state()
    for step in done:
        redrawn.apply_action(step.action)
    for _ in range(choosers):
        legal = redrawn.legal_actions()
        redrawn.apply_action(legal[int(len(legal) * random())])
    return redrawn


def _check_resampler(loaded: "pyspiel.Game") -> None:
    """Refuse a game without `resample_from_infostate` before a search begins; its first decision shows it."""
    state, luck = loaded.new_initial_state(), np.random.default_rng(0)
    while state.is_chance_node():
        state.apply_action(draw_outcome(state, luck))
    try:
        if not state.is_terminal():
            state.resample_from_infostate(state.current_player(), luck.random)
    except pyspiel.SpielError as error:
        why = str(error).strip().splitlines()[-1][-120:]
        raise ValueError(
            f"{loaded} hides information that OpenSpiel cannot redraw ({why}); "
            "give determinize=f with f(state, player, random) -> state"
        ) from None


def _scale(returns: Sequence[float], lowest: float, highest: float) -> list[float]:
    return [min(1.0, max(0.0, (utility - lowest) / (highest - lowest))) for utility in returns]


def _redrawn_by(determinize: Determinize) -> Callable:
    def redrawn(state: "pyspiel.State", observer: int, beliefs: Beliefs, rng: np.ndarray) -> "pyspiel.State":
        return state.clone() if observer == CHANCE else determinize(state, observer, lambda: float(uniform(rng)))

    return redrawn


def _differences(state: "pyspiel.State", action: int) -> list[int]:
    after, players, mover = state.child(action), range(state.num_players()), state.current_player()
    views = [difference(read_view(state, player), read_view(after, player)) for player in players]
    return [action if player == mover else move for player, move in enumerate(views)]


def _chance_of(state: "pyspiel.State") -> float:
    """The probability that chance contributes to a state."""
    start, product = state.get_game().new_initial_state(), 1.0
    for action in state.history():
        if start.is_chance_node():
            product *= dict(start.chance_outcomes())[action]
        start.apply_action(action)
    return product
