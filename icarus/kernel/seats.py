"""What people call the players of a game."""

from icarus.kernel.constants import CHANCE
from icarus.kernel.game import AnyGame


def seat_name(game: AnyGame, player: int) -> str:
    """The name of a player's seat, "player 2" where there is none by that number or seats have no names, or "chance"."""
    if player == CHANCE:
        return "chance"
    return game.seat_names[player] if player in range(len(game.seat_names)) else f"player {player}"


def seat_names(game: AnyGame) -> list[str]:
    """The names of all seats, in the order of the players."""
    return [seat_name(game, player) for player in range(game.players)]
