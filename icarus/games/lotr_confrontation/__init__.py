"""Lord of the Rings: The Confrontation: facts, board, what a player knows, texts, rules."""
