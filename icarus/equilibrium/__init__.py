"""Game theory: deals in the open."""
