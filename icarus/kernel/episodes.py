"""Where a history stands in its episode (section 5.1)."""

import attrs


@attrs.frozen
class EpisodePosition:
    """η of a history since the start of the game (eq. 17), as each perspective saw it.

    Attributes:
        label: the label of the current episode.
        moves: for each perspective (players in order, then the environment; a single entry where everyone sees every action) the moves
            observed since the episode began.
        last: the player who made the last action of the game so far; None before the first.
        previous: (label, moves) of the history itself by the eyes of `last`: the episode that was running when that
            action was chosen, the action included, also where it ended that episode. (initial label, ()) before the first.
    """

    label: int
    moves: tuple[tuple[int, ...], ...]
    last: int | None
    previous: tuple[int, tuple[int, ...]]

    def seen_before(self, observer: int) -> tuple[int, tuple[int, ...]]:
        """`previous`, as far as a search for `observer` may know it.

        Where moves can be hidden, and another player's (or chance's) action ended the episode, what he saw of that episode is not for
        the observer to know: the position then stands for itself, at the start of its own episode.
        """
        if len(self.moves) == 1 or self.last in (None, observer) or any(self.moves):
            return self.previous
        return self.label, ()
