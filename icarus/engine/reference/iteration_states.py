"""The states that an iteration is in: one, or by re-determinizing ISMCTS a master and the worlds in which other players decide."""

import numpy as np

from icarus.compiler.messages import home
from icarus.engine.loop.redetermination import NOBODY
from icarus.engine.scheme import Scheme
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.answers import author
from icarus.kernel.data import StateData
from icarus.kernel.python_game import PythonGame


def not_a_determinization(game: PythonGame, changed: str) -> ValueError:
    """What is raised where a determinization is not one of the state that it was drawn from."""
    assert game.determinize is not None
    return ValueError(f"a determinization changed {changed}, {home(author(game.determinize))}")


class IterationStates:
    """The states of an iteration in which all decide in the same one."""

    rng: np.ndarray

    def enter(self, world: StateData, player: int) -> StateData:
        """The state in which a player, or chance, is to decide in the tree."""
        return world

    def follow(self, world: StateData, action: int) -> None:
        """Play an action, about to be played in the tree, where else it is to be played."""

    def compare(self, world: StateData) -> None:
        """Look at what the action has led to."""

    def leave(self, world: StateData) -> StateData:
        """The state in which the simulation begins, or the game has ended."""
        return world

    def master(self, world: StateData) -> StateData:
        """The state that the iteration goes on in."""
        return world

    def branch(self) -> "IterationStates":
        """The same states once more, for an iteration that goes on in another way."""
        return self


class Redetermination(IterationStates):
    """The states of an iteration in which each player decides, in the tree, in a world drawn from his information set.

    Args:
        player: the root's.
    """

    def __init__(self, game: PythonGame, player: int, rng: np.ndarray) -> None:
        self.game, self.player, self.rng = game, player, rng
        self._master: StateData = None
        self._observer = NOBODY  # for whom the world is drawn; where nobody is, it is the master

    def enter(self, world: StateData, player: int) -> StateData:
        """The master for the root player, a new world for another; chance goes on where it was met.

        Raises:
            ValueError: a world in which somebody else is to move.
        """
        if player == CHANCE:
            return world
        master = self.master(world)
        if player == self.player:
            return master
        self._master, self._observer = master, player
        world = self.game.redraw_again(master, player, self.game.believed(master, player), self.rng)
        if self.game.player(world) != player:
            raise not_a_determinization(self.game, "the player to move, or ended the game")
        return world

    def follow(self, world: StateData, action: int) -> None:
        """Play the action in the master too, if it is legal there and every player sees the same of it; else the world is the master."""
        if self._observer == NOBODY:
            return
        legal, see = action in self.game.legal(self._master), self.game.observed_moves
        if legal and see(world, action) == see(self._master, action):
            self.game.apply(self._master, action)
        else:
            self._observer = NOBODY

    def compare(self, world: StateData) -> None:
        """The world is the master if somebody else is to move there, or the player for whom it was drawn, with other actions."""
        if self._observer == NOBODY:
            return
        player = self.game.player(world)
        same = player == self.game.player(self._master)
        if same and player == self._observer:
            same = self.game.legal(world) == self.game.legal(self._master)
        if not same:
            self._observer = NOBODY

    def leave(self, world: StateData) -> StateData:
        """The master; nobody's knowledge is asked in a simulation."""
        master = self.master(world)
        if self.game.redeterminize is None or self.game.player(master) == TERMINAL:
            return master
        return self.game.redraw(master, CHANCE, self.game.believed(master, CHANCE), self.rng)

    def master(self, world: StateData) -> StateData:
        """The master, which the world of nobody is; from now on it is drawn for nobody."""
        master = world if self._observer == NOBODY else self._master
        self._observer = NOBODY
        return master

    def branch(self) -> "Redetermination":
        """The same master once more, for an iteration that goes on in another way."""
        worlds = Redetermination(self.game, self.player, self.rng)
        worlds._observer = self._observer
        worlds._master = None if self._observer == NOBODY else self.game.copy(self._master)
        return worlds


def iteration_states(scheme: Scheme, game: PythonGame, player: int, rng: np.ndarray) -> IterationStates:
    """The states of an iteration by a scheme; `player` is the root's."""
    return Redetermination(game, player, rng) if scheme.redetermines(game) else IterationStates()
