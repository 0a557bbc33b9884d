"""How exploitable a search is."""
