"""Hearts by OpenSpiel's ISMCTSBot with random rollouts, at a time for each decision. It plays each round for its points alone.

The bot cannot pass cards: OpenSpiel (2.0.2) dies where it redraws hidden cards before the exchange. Here it passes its highest ones.
"""

from importlib.metadata import version

import pyspiel

from icarus.games.cards import CARDS, RANKS
from icarus.games.hearts import DEAL, EXCHANGE, OFFSETS, PASS, PLAYERS
from icarus.kernel.state import State
from icarus.ladder.engines import earlier_state

EXPLORATION = 18.0  # 0.7 of the 26 points between best and worst
WORLDS = -1  # a new determinization for each iteration
SEED = 1
UNLIMITED = 10_000_000  # iterations
SUITS = (0, 1, 3, 2)  # of ♣ ♦ ♠ ♥, OpenSpiel's numbers


class OpenSpielIsmcts:
    """The bot, and the round as OpenSpiel has it."""

    def __init__(self, seconds: str) -> None:
        self.version = f"OpenSpiel ISMCTSBot {seconds} s {version('open_spiel')}"
        self._game = pyspiel.load_game("hearts")
        self._seconds = float(seconds)
        self._games = 0

    def new_game(self, state: State) -> None:
        self._games += 1
        evaluator = pyspiel.RandomRolloutEvaluator(1, SEED + self._games)
        self._bot = pyspiel.ISMCTSBot(
            SEED + self._games,
            evaluator,
            EXPLORATION,
            UNLIMITED,
            WORLDS,
            max_wall_clock_time=self._seconds,
        )

    def choose(self, state: State) -> int:
        """The bot's card to play, or the highest to pass."""
        legal = state.legal_actions()
        if legal[0] >= PASS:
            return max(legal, key=lambda action: (action - PASS) % RANKS)
        return from_openspiel(self._bot.step(round_of(state, self._game)))


def to_openspiel(card: int) -> int:
    """OpenSpiel's number of a card: by ranks, then suits."""
    return card % RANKS * len(SUITS) + SUITS[card // RANKS]


def from_openspiel(card: int) -> int:
    """Our number of OpenSpiel's card."""
    return SUITS.index(card % len(SUITS)) * RANKS + card // len(SUITS)


def round_of(state: State, game: pyspiel.Game) -> pyspiel.State:
    """The round under way as a state of OpenSpiel's."""
    actions = [action for _, action in state.history]
    # how many of them were before the round
    first = max((number for number, action in enumerate(actions, 1) if action == DEAL), default=0)
    started = earlier_state(state, first)
    copy = game.new_initial_state()
    # As many seats on as OpenSpiel's outcome says.
    copy.apply_action(OFFSETS[int(started.facts.round_number) % PLAYERS])
    hands = [
        [card for card in range(CARDS) if int(hand) >> card & 1] for hand in started.facts.held
    ]
    for number in range(CARDS):  # one card after another, to each seat in turn
        copy.apply_action(to_openspiel(hands[number % PLAYERS][number // PLAYERS]))
    for action in actions[first:]:
        if action != EXCHANGE:
            copy.apply_action(to_openspiel(action % CARDS))  # also of PASS + card
    return copy


ENGINE = OpenSpielIsmcts
