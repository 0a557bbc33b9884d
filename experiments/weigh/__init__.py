"""Statistics, and the statements of the papers weighed against rows."""
