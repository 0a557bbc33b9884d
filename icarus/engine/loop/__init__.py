"""Algorithm 1, lines 5-17, compiled: playouts, choices, and what they work on."""
