"""The root's position-in-episode (section 5.1), as a search knows it."""

from collections.abc import Callable, Sequence

import attrs

from icarus.compiler.functions import plain
from icarus.engine.scheme import EACH_PLAYER, Scheme
from icarus.kernel import mix
from icarus.kernel.game import AnyGame
from icarus.kernel.history import episode_key, episode_record
from icarus.kernel.state import EpisodePosition, State


@attrs.frozen
class RootEpisode:
    """Where the root stands in its episode.

    Attributes:
        label: of the episode.
        moves: of the episode, as each perspective of the scheme saw them. [perspectives]
        last, last_perspective: who acted last before the root, and in which column of `moves` that player stands; 0 if there is none.
        last_recalled: whether a determinization may change what that player saw.
        record: of the position, as far as the player to move may know it.
    """

    label: int
    moves: tuple[tuple[int, ...], ...]
    last: int
    last_perspective: int
    last_recalled: bool
    record: int

    def keys(self, recall: Callable[[int], Sequence[int]] | None = None) -> tuple[list[int], int]:
        """The key of the position for each perspective, and its record, at the root or at a determinization of it.

        Args:
            recall: the moves that a perspective saw in this episode, as the determinization has them.
        """
        keys, record = [], self.record
        for perspective, moves in enumerate(self.moves):
            if recall is not None:
                moves = tuple(recall(perspective))
                if self.last_recalled and perspective == self.last_perspective and moves:
                    record = episode_record(self.label, perspective, self.last, moves)
            key = plain(episode_key)(self.label, perspective)
            for move in moves:
                key = mix(key, move)
            keys.append(key)
        return keys, record


def root_episode(state: State, scheme: Scheme, game: AnyGame) -> RootEpisode:
    """The position-in-episode of a root.

    Args:
        game: as the scheme sees it.
    """
    observer = state.current_player()
    position = _as_seen(scheme, state.position_in_episode(), observer)
    last = 0 if position.last is None else position.last
    label, moves = position.seen_before(observer)
    record = episode_record(label, game.perspective(last), last, moves)
    return RootEpisode(position.label, position.moves, last, game.perspective(last), last != observer, record)


def _as_seen(scheme: Scheme, position: EpisodePosition, observer: int) -> EpisodePosition:
    """A position as the perspectives of a scheme saw it: where they are not the players themselves, as the root player saw it."""
    if scheme.observer == EACH_PLAYER or len(position.moves) == 1:
        return position
    moves = position.moves[observer]
    previous = position.previous if position.last in (None, observer) else (position.label, moves)
    return attrs.evolve(position, moves=(moves,), previous=previous)
