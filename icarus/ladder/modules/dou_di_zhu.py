"""Dou Di Zhu by RLCard's rule agent, version 1.

RLCard's play is one string of ranks with its kickers; ours is a base play and then its kickers. Where the agent names what is not a legal
play of ours, it passes, or leads its lowest card.
"""

import random
from collections import defaultdict
from collections.abc import Iterable
from importlib.metadata import version

import numpy as np
from rlcard.games.doudizhu.utils import CARD_TYPE
from rlcard.models.doudizhu_rule_models import DouDizhuRuleAgentV1

from icarus.games.dou_di_zhu import RANK_NAMES, SOLO_KICKERS, cards_of, cards_played
from icarus.kernel.state import State

SEED = 0


class RlcardRules:
    """The agent; the trace of plays that it is shown; and kickers that it has decided."""

    def __init__(self, kind: str = "rules") -> None:
        self.version = f"RLCard doudizhu-rule-v1 {version('rlcard')}"
        self._agent, self._kickers = DouDizhuRuleAgentV1(), list[int]()

    def new_game(self, state: State) -> None:
        random.seed(SEED)
        np.random.seed(SEED)
        self._kickers = []

    def choose(self, state: State) -> int:
        """The base play of the agent's choice, or the kickers to the one before."""
        if self._kickers:
            return self._kickers.pop()
        plays = complete_plays(state)
        # those that RLCard's table has
        readable = [text for text in plays if text == "pass" or text in CARD_TYPE[0]]
        chosen = self._agent.step({"raw_obs": observation(state, readable)})
        if chosen not in plays:
            chosen = "pass" if "pass" in plays else _lowest_of(plays)
        action, *self._kickers = plays[chosen]
        return action


def _lowest_of(plays: Iterable[str]) -> str:
    """The play of the fewest cards, and of those with as many the lowest."""
    return min(plays, key=lambda text: (len(text), ranks_of(text)))


def ranks_of(text: str) -> list[int]:
    """The ranks of a play."""
    return [RANK_NAMES.index(rank) for rank in text]


def text_of(cards: list[int]) -> str:
    """Ranks as RLCard writes them, rising."""
    return "".join(RANK_NAMES[rank] for rank in sorted(cards))


def complete_plays(state: State) -> dict[str, list[int]]:
    """Every legal play with its kickers, by RLCard's string, as one or two of our actions."""
    plays: dict[str, list[int]] = {}
    for base in state.legal_actions():
        after = state.clone()
        after.apply_action(base)
        if after.facts.kickers_due:
            for kickers in after.legal_actions():
                plays[text_of(cards_played(base) + cards_played(kickers))] = [base, kickers]
        else:
            plays[text_of(cards_played(base)) or "pass"] = [base]
    return plays


def observation(state: State, actions: list[str]) -> dict[str, object]:
    """What RLCard's agent reads of a state: own hand, the plays so far, the legal ones."""
    player = int(state.facts.player)
    return {
        "current_hand": text_of(cards_of(state.facts.hands[player])),
        "trace": trace(state),
        "actions": actions,
        "landlord": 0,
        "self": player,
    }


def trace(state: State) -> list[tuple[int, str]]:
    """(player, play) of every play so far, kickers with their base."""
    cards, players = defaultdict[int, list[int]](list), list[int]()
    for player, action in state.history:
        if action < SOLO_KICKERS:
            players.append(player)
        cards[len(players) - 1] += cards_played(action)
    return [(player, text_of(cards[i]) or "pass") for i, player in enumerate(players)]


ENGINE = RlcardRules
