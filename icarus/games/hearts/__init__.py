"""Hearts: the rules, its determinization, and the table of rounds to come."""
