"""A game and a composition lowered to arrays: what the playout loop runs."""
