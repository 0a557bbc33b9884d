"""Algorithm 1: a game and a composition lowered to arrays, the compiled loop that runs them, and searches around it."""
