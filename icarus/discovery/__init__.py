"""Discovery: which enhancements for this game? A space of compositions, a race through it, and a proof on held-out games."""
