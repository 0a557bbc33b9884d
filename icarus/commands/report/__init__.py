"""`icarus describe`: what a game is like, as one page."""
