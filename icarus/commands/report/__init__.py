"""`icarus report`: what a game is like, as one page."""
