"""`from icarus import *` as a reader writes it: mypy, which reads this file too, must know every name in it."""

from icarus import *  # noqa: F403


def test_a_star_import_gives_games_searches_and_specifications() -> None:
    state = games.load("othello").new_initial_state()  # noqa: F405
    strategy = RAVE >> (MAST + NAST2) / 2  # noqa: F405
    assert isinstance(state, State)  # noqa: F405
    assert parse(str(strategy)) == strategy  # noqa: F405
    assert callable(search)  # noqa: F405
