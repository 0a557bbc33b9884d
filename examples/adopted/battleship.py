"""Battleship, small: each player hides two ships on five by five squares, then both shoot in turn. Only hit or miss is said."""

import copy


class Battleship:
    SIZE = 5
    LENGTHS = [3, 2]
    PLACES = 2 * SIZE * SIZE  # a place is 2 * square, and one more for an upright ship

    def __init__(self):
        self.ships = [[-1, -1], [-1, -1]]  # the place of each ship, by player
        self.shot = [[False] * (self.SIZE * self.SIZE) for _ in range(2)]  # squares of a player that were shot at
        self.player = 0

    def num_players(self):
        return 2

    def squares(self, place, length):
        """The squares of a ship, or none if it would leave the board."""
        square, upright = place // 2, place % 2 == 1
        row, column = square // self.SIZE, square % self.SIZE
        if upright:
            if row + length > self.SIZE:
                return []
            return [square + i * self.SIZE for i in range(length)]
        if column + length > self.SIZE:
            return []
        return [square + i for i in range(length)]

    def fleet(self, player):
        """For each square whether a ship of the player is there."""
        occupied = [False] * (self.SIZE * self.SIZE)
        for ship in range(2):
            if self.ships[player][ship] >= 0:
                for square in self.squares(self.ships[player][ship], self.LENGTHS[ship]):
                    occupied[square] = True
        return occupied

    def sunk(self, player):
        fleet = self.fleet(player)
        return all(self.shot[player][square] for square in range(self.SIZE * self.SIZE) if fleet[square])

    def placing(self):
        return self.ships[1][1] == -1

    def is_terminal(self):
        return not self.placing() and (self.sunk(0) or self.sunk(1))

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def legal_actions(self):
        if self.placing():
            ship = 0 if self.ships[self.player][0] == -1 else 1
            fleet = self.fleet(self.player)
            actions = []
            for place in range(self.PLACES):
                squares = self.squares(place, self.LENGTHS[ship])
                if len(squares) > 0 and not any(fleet[square] for square in squares):
                    actions.append(place)
            return actions
        target = self.shot[1 - self.player]
        return [self.PLACES + square for square in range(self.SIZE * self.SIZE) if not target[square]]

    def apply_action(self, action):
        if action < self.PLACES:
            if self.ships[self.player][0] == -1:
                self.ships[self.player][0] = action
            else:
                self.ships[self.player][1] = action
                self.player = 1 - self.player
        else:
            self.shot[1 - self.player][action - self.PLACES] = True
            self.player = 1 - self.player

    def returns(self):
        if not self.is_terminal():
            return [0, 0]
        return [-1, 1] if self.sunk(0) else [1, -1]

    def fits(self, places, hits, player):
        """Could the ships of the player lie there, after the shots and with these hits?"""
        occupied = [False] * (self.SIZE * self.SIZE)
        for ship in range(2):
            if places[ship] >= 0:
                squares = self.squares(places[ship], self.LENGTHS[ship])
                if len(squares) == 0:
                    return False
                for square in squares:
                    if occupied[square]:
                        return False
                    occupied[square] = True
        for square in range(self.SIZE * self.SIZE):
            if self.shot[player][square] and occupied[square] != hits[square]:
                return False
        return True

    def resample(self, player, rng):
        """The opponent's ships lie anywhere that agrees with hits and misses, each place equally likely."""
        state = copy.deepcopy(self)
        opponent = 1 - player
        hits = self.fleet(opponent)
        first = range(self.PLACES) if self.ships[opponent][0] >= 0 else [-1]
        second = range(self.PLACES) if self.ships[opponent][1] >= 0 else [-1]
        candidates = []
        for a in first:
            for b in second:
                if self.fits([a, b], hits, opponent):
                    candidates.append((a, b))
        a, b = rng.choice(candidates)
        state.ships[opponent] = [a, b]
        return state

    def observation(self, player):
        """The own ships, how many the opponent has placed, and all shots with hit or miss."""
        shots = []
        for target in range(2):
            fleet = self.fleet(target)
            for square in range(self.SIZE * self.SIZE):
                if self.shot[target][square]:
                    shots.append((target, square, fleet[square]))
        placed = sum(1 for place in self.ships[1 - player] if place >= 0)
        return tuple(self.ships[player]), placed, tuple(shots), self.player

    def clone(self):
        return copy.deepcopy(self)

    def __str__(self):
        lines = []
        for player in range(2):
            fleet = self.fleet(player)
            for row in range(self.SIZE):
                line = ""
                for square in range(row * self.SIZE, (row + 1) * self.SIZE):
                    line += (
                        ("X" if fleet[square] else "o") if self.shot[player][square] else "S" if fleet[square] else "."
                    )
                lines.append(line)
            lines.append(f"places {self.ships[player]}")
        return "\n".join(lines) + f"\nplayer {self.player} to act"
