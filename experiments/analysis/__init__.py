"""Statistics, and the statements of the papers tested on rows."""
