"""A small Clue for two: four suspects, four weapons and four rooms. Suggest, look at the card that disproves it, and accuse.

Cards 0 to 3 are suspects, 4 to 7 weapons, 8 to 11 rooms. One of each kind is the solution, each player holds three, and
three stay in the box.
"""

import copy
import random


class Clue:
    KINDS = 3
    EACH = 4
    CARDS = KINDS * EACH
    HAND = 3
    SOLUTION, BOX = 2, 3
    ACCUSE = EACH**KINDS  # suggestions are 0 to 63, accusations 64 to 127
    SHOW = 2 * ACCUSE  # + card
    NOTHING = SHOW + CARDS
    MAX_TURNS = 40

    def __init__(self, rng=random):
        self.place = [self.BOX] * self.CARDS  # 0 or 1: the player who holds the card
        for kind in range(self.KINDS):
            self.place[kind * self.EACH + rng.randrange(self.EACH)] = self.SOLUTION
        rest = [card for card in range(self.CARDS) if self.place[card] == self.BOX]
        rng.shuffle(rest)
        for i in range(2 * self.HAND):
            self.place[rest[i]] = i // self.HAND
        self.shown = [False] * self.CARDS  # the holder has shown it to the other
        self.lacks = [[False] * self.CARDS for _ in range(2)]  # the player could not show it
        self.suggestion = -1  # to be answered
        self.player = 0
        self.turns = 0
        self.winner = -1

    def num_players(self):
        return 2

    def is_terminal(self):
        return self.winner >= 0 or self.turns >= self.MAX_TURNS

    def current_player(self):
        return -4 if self.is_terminal() else self.player

    def named(self, action):
        """The three cards of a suggestion or accusation."""
        code = action % self.ACCUSE
        return [code // 16, self.EACH + code // 4 % 4, 2 * self.EACH + code % 4]

    def legal_actions(self):
        if self.suggestion >= 0:
            cards = [card for card in self.named(self.suggestion) if self.place[card] == self.player]
            return [self.SHOW + card for card in cards] or [self.NOTHING]
        return list(range(2 * self.ACCUSE))

    def apply_action(self, action):
        if action < self.ACCUSE:
            self.suggestion = action
            self.player = 1 - self.player
            return
        if action < self.SHOW:
            correct = all(self.place[card] == self.SOLUTION for card in self.named(action))
            self.winner = self.player if correct else 1 - self.player
            return
        if action == self.NOTHING:
            for card in self.named(self.suggestion):
                self.lacks[self.player][card] = True
        else:
            self.shown[action - self.SHOW] = True
        self.suggestion = -1  # who has answered is the next to suggest
        self.turns += 1

    def returns(self):
        if self.winner < 0:
            return [0.0, 0.0]
        return [1.0 if player == self.winner else -1.0 for player in range(2)]

    def possible(self, place, opponent):
        """One card of each kind is the solution, and the opponent holds no card that could not be shown."""
        for kind in range(self.KINDS):
            cards = place[kind * self.EACH : (kind + 1) * self.EACH]
            if cards.count(self.SOLUTION) != 1:
                return False
        return not any(place[card] == opponent and self.lacks[opponent][card] for card in range(self.CARDS))

    def resample(self, player, rng):
        """Deal the cards that the player has not seen until the deal agrees with all answers."""
        opponent = 1 - player
        unseen = []
        held = self.HAND
        for card in range(self.CARDS):
            if self.place[card] == opponent and self.shown[card]:
                held -= 1
            elif self.place[card] != player:
                unseen.append(card)
        other = self.clone()
        while True:
            rng.shuffle(unseen)
            for i, card in enumerate(unseen):
                if i < held:
                    other.place[card] = opponent
                elif i < held + self.KINDS:
                    other.place[card] = self.SOLUTION
                else:
                    other.place[card] = self.BOX
            if self.possible(other.place, opponent):
                return other

    def observation(self, player):
        """Everything but the places of the cards that the player has not seen."""
        seen = []
        for card in range(self.CARDS):
            if self.place[card] == player or (self.place[card] == 1 - player and self.shown[card]):
                seen.append((card, self.place[card], self.shown[card]))
        answers = tuple(tuple(row) for row in self.lacks)
        return tuple(seen), answers, self.suggestion, self.player, self.turns, self.winner

    def clone(self):
        return copy.deepcopy(self)

    def action_to_string(self, action):
        if action == self.NOTHING:
            return "nothing to show"
        if action >= self.SHOW:
            return f"show {action - self.SHOW}"
        suspect, weapon, room = self.named(action)
        return ("suggest " if action < self.ACCUSE else "accuse ") + f"{suspect} {weapon} {room}"

    def __str__(self):
        names = ["player 0", "player 1", "solution", "box"]
        lines = []
        for place, name in enumerate(names):
            cards = [f"{c}{'*' if self.shown[c] else ''}" for c in range(self.CARDS) if self.place[c] == place]
            lines.append(name + ": " + " ".join(cards))
        for player in range(2):
            lines.append(f"player {player} lacks " + " ".join(str(c) for c in range(12) if self.lacks[player][c]))
        lines.append(f"suggestion {self.suggestion}, player {self.player}, turn {self.turns}, winner {self.winner}")
        return "\n".join(lines)
