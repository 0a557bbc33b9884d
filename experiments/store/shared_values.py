"""What random playouts say of the actions in a position, and of their records elsewhere (see `play.correlation`)."""

import attrs

ACTION, POSITION = KINDS = ("action", "position in episode")
HALVES = 2
FEWEST_ACTIONS = 3  # of a position


@attrs.frozen
class Shared:
    """What one half of the playouts says of an action in a position.

    Attributes:
        position: a number of the position.
        now: its mean reward at the root.
        later: the mean reward of its record elsewhere; how often that was captured is `count`.
    """

    game: str
    role: str
    position: int
    half: int
    kind: str
    action: int
    now: float
    later: float
    count: int
