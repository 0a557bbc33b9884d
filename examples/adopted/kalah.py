"""Kalah with six pits and four seeds each: sow, capture, and have more seeds in the store at the end."""


class Kalah:
    """Pits 0 to 5 and store 6 are the first player's; pits 7 to 12 and store 13 the second player's."""

    PITS = 6
    SEEDS = 4

    def __init__(self):
        self.board = ([self.SEEDS] * self.PITS + [0]) * 2
        self.player = 0
        self.over = False

    def num_players(self):
        return 2

    def store(self, player):
        return player * (self.PITS + 1) + self.PITS

    def pits(self, player):
        first = player * (self.PITS + 1)
        return range(first, first + self.PITS)

    def is_terminal(self):
        return self.over

    def current_player(self):
        return -4 if self.over else self.player

    def legal_actions(self):
        if self.over:
            return []
        return [pit for pit in self.pits(self.player) if self.board[pit] > 0]

    def apply_action(self, pit):
        opponent = 1 - self.player
        seeds = self.board[pit]
        self.board[pit] = 0
        position = pit
        while seeds > 0:
            position = (position + 1) % len(self.board)
            if position == self.store(opponent):
                continue
            self.board[position] += 1
            seeds -= 1

        if position in self.pits(self.player) and self.board[position] == 1:
            opposite = 2 * self.PITS - position
            if self.board[opposite] > 0:
                self.board[self.store(self.player)] += self.board[opposite] + 1
                self.board[opposite] = 0
                self.board[position] = 0

        if position != self.store(self.player):
            self.player = opponent
        self.finish_if_empty()

    def finish_if_empty(self):
        """When one side is empty, the other player takes the seeds that are left."""
        left = [sum(self.board[pit] for pit in self.pits(player)) for player in range(2)]
        if min(left) == 0:
            self.over = True
            for player in range(2):
                self.board[self.store(player)] += left[player]
                for pit in self.pits(player):
                    self.board[pit] = 0

    def returns(self):
        if not self.over:
            return [0.0, 0.0]
        difference = self.board[self.store(0)] - self.board[self.store(1)]
        if difference > 0:
            return [1.0, -1.0]
        if difference < 0:
            return [-1.0, 1.0]
        return [0.0, 0.0]

    def clone(self):
        other = Kalah()
        other.board = list(self.board)
        other.player = self.player
        other.over = self.over
        return other

    def __deepcopy__(self, memo):
        return self.clone()

    def action_to_string(self, action):
        return "abcdef"[action] if action < self.PITS else "ABCDEF"[action - self.PITS - 1]

    def __str__(self):
        upper = " ".join(f"{self.board[pit]:2}" for pit in reversed(self.pits(1)))
        lower = " ".join(f"{self.board[pit]:2}" for pit in self.pits(0))
        stores = f"{self.board[self.store(1)]:2}{' ' * 17}{self.board[self.store(0)]:2}"
        return f"  {upper}\n{stores}\n  {lower}\nplayer {self.player}{' (over)' if self.over else ''}"
