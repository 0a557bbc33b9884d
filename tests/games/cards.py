"""Cards by their names, for the tests of card games."""

from icarus.games.cards import CARDS, card_text

BY_NAME = {card_text(card): card for card in range(CARDS)}


def card_named(text: str) -> int:
    """The card that `card_text` writes so."""
    return BY_NAME[text]
