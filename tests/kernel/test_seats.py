"""What people call the players."""

from icarus import games
from icarus.kernel import CHANCE, TERMINAL
from icarus.kernel.game import seat_name, seat_names


def test_seats_are_called_by_their_names_where_they_have_some():
    assert seat_names(games.load("lotr-confrontation")) == ["Light", "Dark"]
    assert seat_names(games.load("othello")) == ["player 0", "player 1"]


def test_numbers_that_a_record_holds_in_place_of_a_player_have_no_seat():
    game = games.load("lotr-confrontation")
    assert [seat_name(game, number) for number in (CHANCE, 1, 2, TERMINAL)] == [
        "chance",
        "Dark",
        "player 2",
        "player -4",
    ]
