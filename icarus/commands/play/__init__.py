"""`icarus play`: in the terminal and in a browser."""
